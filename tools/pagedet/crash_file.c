/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the file of an instruction. A log has only the last part of its name. A
 * process that maps the file has the full path; otherwise the directories of
 * programs and libraries are searched. If several different files have the
 * name, the answer stays open. Newer kernels log the offset in the file; for
 * older ones it follows from the program headers.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Limit of program headers. */
#define MOST_HEADERS 256

struct looking {
	struct cli_crash *c;
	struct stat st;		/* status of c->path */
	bool several;
};

/* --- the file --- */

static void try_path(struct looking *l, const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	if (*l->c->path) {
		l->several |= st.st_ino != l->st.st_ino ||
			      st.st_dev != l->st.st_dev;
		return;
	}
	if (strlen(path) >= sizeof(l->c->path))
		return;
	memcpy(l->c->path, path, strlen(path) + 1);
	l->st = st;
}

static int try_area(void *user, const struct pagedet_area *area)
{
	struct looking *l = user;
	const size_t len = strlen(l->c->name);
	char path[4096];

	if (area->len <= len || area->len >= sizeof(path) ||
	    *area->name != '/' || area->name[area->len - len - 1] != '/' ||
	    memcmp(area->name + area->len - len, l->c->name, len))
		return 0;
	memcpy(path, area->name, (size_t)area->len);
	path[area->len] = '\0';
	try_path(l, path);
	return l->several;
}

static void try_processes(struct looking *l, struct pagedet *pd)
{
	struct pagedet_task *tasks;
	uint64_t lost;
	size_t n, i;

	if (cli_tasks(pd, PAGEDET_TASKS_PROCESSES, &tasks, &n, &lost))
		return;
	for (i = 0; i < n && !l->several; i++)
		if (!(tasks[i].flags & PAGEDET_TASK_KTHREAD))
			pagedet_areas(pd, tasks[i].pid, try_area, l);
	free(tasks);
}

static void try_folders(struct looking *l)
{
	static const char *const folders[] = {
		"/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin",
		"/usr/lib", "/lib", "/lib64", "/usr/lib64", "/usr/local/lib",
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
	};
	char path[512];
	size_t i;

	for (i = 0; i < CLI_COUNT(folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], l->c->name);
		try_path(l, path);
	}
}

/* --- the offset --- */

/*
 * The offset of the instruction, if this part of the file is mapped as code and
 * has the length in the log. The page size of the log's machine may be unknown,
 * so each size is tried. The sizes that fit give the same offset, because they
 * round by less than a page from the same end.
 */
static bool offset_in_part(struct cli_crash *c, const Elf64_Phdr *p)
{
	static const uint64_t sizes[] = { 4096, 16384, CLI_MOST_PAGE };
	size_t i;

	if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) ||
	    p->p_filesz > UINT64_MAX / 2)
		return false;
	for (i = 0; i < CLI_COUNT(sizes); i++) {
		const uint64_t page = sizes[i], in = p->p_offset % page;

		if ((c->log_page && page != c->log_page) || c->base % page ||
		    (in + p->p_filesz + page - 1) / page * page != c->len)
			continue;
		c->offset = c->ip - c->base + (p->p_offset - in);
		return true;
	}
	return false;
}

/* Finds the offset by the program headers, if only one part fits. */
static bool offset_by_headers(struct cli_crash *c, int fd)
{
	unsigned i, found = 0;
	Elf64_Ehdr e;
	Elf64_Phdr p;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_phnum > MOST_HEADERS ||
	    e.e_phentsize != sizeof(p))
		return false;
	for (i = 0; i < e.e_phnum; i++) {
		const off_t at = (off_t)(e.e_phoff + i * sizeof(p));

		if (pread(fd, &p, sizeof(p), at) != sizeof(p))
			return false;
		found += offset_in_part(c, &p);
	}
	c->has_offset = found == 1;
	return c->has_offset;
}

/* --- the contents --- */

/* Whether the page is cached. A direct read would put it into the cache. */
static bool ask_cached(struct pagedet *pd, const struct cli_crash *c)
{
	struct pagedet_item item = { c->offset / c->page_size, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_page row;
	struct pagedet_iter *it;
	int n;

	q.target = PAGEDET_TARGET_FILE;
	q.path = c->path;
	q.items = &item;
	q.n_items = 1;
	if (pagedet_fields_parse(pd, "pfn", &q) || pagedet_query(pd, &q, &it))
		return false;
	n = pagedet_next(it, &row, 1);
	pagedet_iter_free(it);
	return n == 1;
}

/* Works like "check disk". A dirty page is not damaged. */
static void ask_disk(struct pagedet *pd, int fd, struct cli_crash *c)
{
	struct pagedet_verdict v = { .size = sizeof(v) };
	struct pagedet_check check = PAGEDET_CHECK_INIT;
	struct pagedet_checked *checked;
	const char *why;

	c->disk = PAGEDET_CANNOT_TELL;
	check.kind = PAGEDET_CHECK_DISK;
	check.fd = fd;
	check.first = c->offset / c->page_size;
	check.pages = 1;
	if (pagedet_check(pd, &check, &checked)) {
		snprintf(c->disk_why, sizeof(c->disk_why), "%s",
			 pagedet_error(pd));
		return;
	}
	if (!pagedet_checked_next(checked, &v))
		pagedet_checked_whole(checked, &v);
	if (v.verdict != PAGEDET_VIOLATED ||
	    v.cause == PAGEDET_CAUSE_LOST_WRITE)
		c->disk = v.verdict;
	c->direct = v.cause == PAGEDET_CAUSE_ACCESS;
	why = pagedet_checked_text(checked, v.why);
	snprintf(c->disk_why, sizeof(c->disk_why), "%s", why ? why : "");
	pagedet_checked_free(checked);
}

static off_t page_at(const struct cli_crash *c)
{
	return (off_t)(c->offset - c->offset % c->page_size);
}

/* A caller without access to the device may still read the file. */
static void ask_direct(struct cli_crash *c)
{
	const int fd = open(c->path, O_RDONLY | O_CLOEXEC | O_DIRECT);
	const size_t size = c->page_size;
	void *buf;

	if (fd < 0 || posix_memalign(&buf, size, size)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	memset(buf, 0, size);
	if (pread(fd, buf, size, page_at(c)) > 0) {
		c->disk = memcmp(buf, c->page, size) ? PAGEDET_VIOLATED :
						       PAGEDET_HOLDS;
		snprintf(c->disk_why, sizeof(c->disk_why),
			 "O_DIRECT reads other bytes");
	}
	free(buf);
	close(fd);
}

/* The rest of a file's last page is zero. */
static bool read_page(int fd, struct cli_crash *c)
{
	return pread(fd, c->page, c->page_size, page_at(c)) > 0;
}

void cli_crash_find(struct pagedet *pd, const char *file, struct cli_crash *c)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct looking l = { .c = c };
	int fd;

	if (pagedet_info(pd, &info) || !info.page_size ||
	    info.page_size > sizeof(c->page)) {
		c->why = "the page size of this machine is not known";
		return;
	}
	c->page_size = info.page_size;
	if (file) {
		try_path(&l, file);
	} else {
		try_processes(&l, pd);
		try_folders(&l);
	}
	if (!*c->path || l.several) {
		c->why = l.several ? "several files have that name "
			 "(--file says which)" : "its file is not here "
			 "(--file says where)";
		*c->path = '\0';
		return;
	}
	fd = open(c->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		c->why = strerror(errno);
		return;
	}
	if (!c->has_offset && (!c->has_base || !offset_by_headers(c, fd))) {
		c->why = "the place of the instruction in its file cannot be "
			 "known";
	} else if (c->offset >= (uint64_t)l.st.st_size) {
		c->has_offset = false;
		c->why = "the file is shorter than that: it was replaced or "
			 "cut";
	}
	close(fd);
}

void cli_crash_look(struct cli_job *job, struct pagedet *pd,
		    struct cli_crash *c)
{
	int fd;

	cli_crash_find(pd, job->file, c);
	if (c->why)
		return;
	fd = open(c->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		c->why = strerror(errno);
		return;
	}
	ask_disk(pd, fd, c);
	c->cached = ask_cached(pd, c) && read_page(fd, c);
	if (c->direct && c->cached)
		ask_direct(c);
	close(fd);
}
