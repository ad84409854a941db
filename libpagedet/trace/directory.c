/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Copies of tracefs: cpuN.raw from per_cpu/cpuN/trace_pipe_raw, header_page and
 * kmem.EVENT.format from events/, and, where they are, cpuN.stats (taken after
 * reading), kallsyms and saved_cmdlines.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"
#include "base/vec.h"
#include "trace/trace.h"

#define MOST_CPUS 65536u

static int wrong(struct pdet_env *env, int r, const char *name,
		 const char *file)
{
	errno = -r;
	return r == -EBADMSG ? pdet_fail(env, EBADMSG,
					 "cannot read %s/%s: it is damaged, or "
					 "another file", name, file) :
			       pdet_fail_errno(env, "cannot read %s/%s", name,
					       file);
}

static int read_layout(struct pdet_env *env, int dir, const char *name,
		       struct pdet_ring_layout *ret)
{
	struct pdet_text text;
	int r = pdet_slurp_at(dir, "header_page", &text, PDET_TRACE_MOST_TEXT);

	if (r == 0) {
		r = pdet_ring_layout_parse(text.data, text.len, false, ret);
		pdet_text_free(&text);
	}
	if (r == -ENOENT)
		return pdet_fail(env, ENOENT, "%s has no header_page: it is "
				 "not a directory with copies of tracefs",
				 name);
	return r < 0 ? wrong(env, r, name, "header_page") : 0;
}

static int learn(struct pdet_env *env, int dir, const char *name,
		 const char *file, struct pdet_trace *t)
{
	const bool is_kmem = !strncmp(file, "kmem.", 5);
	const bool is_ftrace = !strncmp(file, "ftrace.", 7);
	struct pdet_text text;
	int r = pdet_slurp_at(dir, file, &text, PDET_TRACE_MOST_TEXT);

	if (r == 0) {
		r = pdet_trace_learn(t, text.data, text.len,
				     is_kmem ? PDET_TRACE_KMEM : is_ftrace ?
				     PDET_TRACE_FTRACE : PDET_TRACE_ANY);
		pdet_text_free(&text);
	}
	/* Other events are not needed, and may be of any form. */
	return r < 0 && (is_kmem || r != -EBADMSG) ?
		       wrong(env, r, name, file) : 0;
}

/* Whether @file is cpuN and @suffix; sets *n. */
static bool is_of_cpu(const char *file, const char *suffix, uint64_t *n)
{
	struct pdet_scan s = { file, file + strlen(file) };

	return pdet_scan_word(&s, "cpu") && pdet_scan_dec(&s, n) &&
	       *n < MOST_CPUS && pdet_scan_is(&s, suffix);
}

static int open_cpu(struct pdet_env *env, int dir, const char *name,
		    const char *file, struct pdet_trace *t, uint16_t cpu)
{
	const int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct pdet_trace_pages *p;
	struct stat st;
	int r;

	if (fd < 0)
		return wrong(env, -errno, name, file);
	r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EBADMSG;
	if (r < 0) {
		close(fd);
		return wrong(env, r, name, file);
	}
	p = &t->pages[t->n_pages++];
	pdet_trace_pages_begin(p, env, cpu, &t->layout, t->known, fd, 0,
			       (uint64_t)st.st_size);
	return 0;
}

static void read_stats(int dir, struct pdet_trace_pages *p)
{
	struct pdet_text text;
	char file[32];

	snprintf(file, sizeof(file), "cpu%u.stats", p->s.cpu);
	if (pdet_slurp_at(dir, file, &text, PDET_TRACE_MOST_TEXT) < 0)
		return;
	pdet_trace_stats(p, text.data, text.len);
	pdet_text_free(&text);
}

struct found {
	char **data;
	size_t n, cap;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the files, in order. */
static int list(int dir, struct found *ret)
{
	const int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	char *name;

	if (!d) {
		const int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	while ((e = readdir(d))) {
		name = strdup(e->d_name);
		if (!name || !pdet_vec_push(ret, name)) {
			free(name);
			closedir(d);
			return -ENOMEM;
		}
	}
	closedir(d);
	if (ret->n)
		qsort(ret->data, ret->n, sizeof(*ret->data), by_name);
	return 0;
}

/* Events of a processor whose file is not there. */
static void read_missing(int dir, const struct found *files,
			 struct pdet_trace *t)
{
	struct pdet_trace_pages p;
	uint64_t cpu;
	size_t i, k;

	for (i = 0; i < files->n; i++) {
		if (!is_of_cpu(files->data[i], ".stats", &cpu))
			continue;
		for (k = 0; k < t->n_pages; k++)
			if (t->pages[k].s.cpu == cpu)
				break;
		if (k < t->n_pages)
			continue;
		memset(&p, 0, sizeof(p));
		p.s.cpu = (uint16_t)cpu;
		read_stats(dir, &p);
		t->pages[0].lost += p.lost;
		t->pages[0].s.loss.lost = t->pages[0].lost;
		t->pages[0].wanted += p.wanted;
	}
}

static void free_found(struct found *f)
{
	while (f->n)
		free(f->data[--f->n]);
	pdet_vec_free(f);
}

static bool ends_with(const char *name, const char *end)
{
	const size_t n = strlen(name), m = strlen(end);

	return n >= m && !strcmp(name + n - m, end);
}

static int read_formats(struct pdet_env *env, int dir, const char *name,
			const struct found *files, struct pdet_trace *t)
{
	size_t i;
	int r = 0;

	for (i = 0; i < files->n && r == 0; i++)
		if (ends_with(files->data[i], ".format"))
			r = learn(env, dir, name, files->data[i], t);
	if (r == 0 && !t->known->n)
		r = pdet_fail(env, ENOENT, "%s has no kmem.EVENT.format: a "
			      "copy of events/kmem/EVENT/format for each event",
			      name);
	return r;
}

static int open_cpus(struct pdet_env *env, int dir, const char *name,
		     const struct found *files, struct pdet_trace *t)
{
	uint64_t cpu;
	size_t i;
	int r = 0;

	t->pages = calloc(files->n + 1, sizeof(*t->pages));
	if (!t->pages)
		return pdet_fail(env, ENOMEM, "no memory");
	for (i = 0; i < files->n && r == 0; i++) {
		if (!is_of_cpu(files->data[i], ".raw", &cpu))
			continue;
		r = open_cpu(env, dir, name, files->data[i], t,
			     (uint16_t)cpu);
		if (r == 0)
			read_stats(dir, &t->pages[t->n_pages - 1]);
	}
	if (r == 0 && !t->n_pages)
		r = pdet_fail(env, ENOENT, "%s has no cpuN.raw: a copy of "
			      "per_cpu/cpuN/trace_pipe_raw for each "
			      "processor", name);
	return r;
}

/*
 * No file says the byte order, but the length of a page is possible in one of
 * them only.
 */
static int find_byte_order(struct pdet_env *env, struct pdet_trace *t)
{
	struct pdet_ring_layout little = t->layout, big = t->layout;
	unsigned char *page = malloc(t->layout.bytes);
	bool fits;
	size_t i;

	if (!page)
		return pdet_fail(env, ENOMEM, "no memory");
	big.big_endian = true;
	for (i = 0; i < t->n_pages; i++) {
		const int of = t->pages[i].input.chunks.fd;

		if (pdet_pread(of, page, t->layout.bytes, 0) <
		    (ssize_t)t->layout.bytes)
			continue;
		fits = pdet_ring_fits(&big, page);
		if (fits == pdet_ring_fits(&little, page))
			continue;
		t->layout.big_endian = fits;
		break;
	}
	free(page);
	return 0;
}

/* Text that need not be there. */
static int read_text(struct pdet_env *env, int dir, const char *name,
		     const char *file, size_t most, struct pdet_text *ret)
{
	const int r = pdet_slurp_at(dir, file, ret, most);

	return r < 0 && r != -ENOENT ? wrong(env, r, name, file) : 0;
}

int pdet_trace_directory(struct pdet_env *env, int fd, const char *name,
			 struct pdet_trace *t)
{
	struct found files = { 0 };
	int r = list(fd, &files);

	if (r < 0)
		r = wrong(env, r, name, "");
	if (r == 0)
		r = read_layout(env, fd, name, &t->layout);
	if (r == 0)
		r = read_formats(env, fd, name, &files, t);
	if (r == 0)
		r = open_cpus(env, fd, name, &files, t);
	if (r == 0) {
		read_missing(fd, &files, t);
		r = find_byte_order(env, t);
	}
	if (r == 0)
		r = read_text(env, fd, name, "kallsyms", PDET_TRACE_MOST_NAMES,
			      &t->kallsyms);
	if (r == 0)
		r = read_text(env, fd, name, "saved_cmdlines",
			      PDET_TRACE_MOST_TEXT, &t->cmdlines);
	free_found(&files);
	return r;
}
