/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Lists the processes that map a file, one line for each, with the number of
 * pages. The areas of every process show which processes map the file, and the
 * page tables show which pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* What a process maps of the file, in pages. */
struct mapper {
	uint32_t pid;
	char comm[64];
	uint64_t mapped, pages, copied, swapped;
};

struct mapping {
	struct cli_job *job;
	struct pagedet *pd;
	FILE *f;
	char path[PATH_MAX];	/* in the form of /proc/PID/maps */
	uint64_t dev, inode;	/* 0: compare only the name */
	bool by_name;		/* a file on this machine */
	uint64_t page_size;
	struct mapper now;	/* this process */
	struct mapper *mappers;	/* those that map it */
	size_t processes, max;
	uint64_t gone, unread;	/* counts over all processes */
	struct cli_keys sort;
	bool stopped;		/* before all were looked at */
};

/* maps marks the name of a deleted file. */
static bool is_it(const struct mapping *m, const struct pagedet_area *area)
{
	static const char deleted[] = " (deleted)";
	const size_t len = strlen(m->path), tail = sizeof(deleted) - 1;

	/* In a container another file may have that name. */
	if (m->inode && area->inode)
		return area->inode == m->inode && area->dev == m->dev;
	if (area->len < len || memcmp(area->name, m->path, len))
		return false;
	/* Another file with that name may exist. */
	return area->len == len ||
	       (!m->inode && area->len == len + tail &&
		!memcmp(area->name + len, deleted, tail));
}

static int try_area(void *user, const struct pagedet_area *area)
{
	struct mapping *m = user;
	struct pagedet_item item = { area->start, area->end - area->start,
				     m->now.pid, 0 };

	if (!is_it(m, area))
		return 0;
	m->now.mapped += item.count;
	return cli_add_item(m->job, &item);
}

static void count(struct mapping *m, const struct pagedet_page *row)
{
	const uint32_t pte = row->pte;

	if (PAGEDET_CELL_STATE(row->cell[PAGEDET_FIELD_PTE]) != PAGEDET_HAVE)
		return;
	if (pte & PAGEDET_PTE(PAGEDET_PTE_SWAPPED))
		m->now.swapped++;
	else if (!(pte & PAGEDET_PTE(PAGEDET_PTE_PRESENT)))
		return;
	else if (pte & PAGEDET_PTE(PAGEDET_PTE_FILE) ||
		 !(row->pte_known & PAGEDET_PTE(PAGEDET_PTE_FILE)))
		m->now.pages++;
	else
		m->now.copied++;
}

static int count_pages(struct mapping *m)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct pagedet_page rows[64];
	struct pagedet_iter *it;
	int n, i;

	q.target = PAGEDET_TARGET_TASK;
	q.items = m->job->items;
	q.n_items = m->job->n_items;
	q.deadline_ns = cli_deadline_left(m->job);
	q.fields[PAGEDET_FIELD_PTE / 64] |= 1ull << PAGEDET_FIELD_PTE % 64;
	n = pagedet_query(m->pd, &q, &it);
	if (n)
		return n;
	do {
		n = pagedet_next(it, rows, CLI_COUNT(rows));
		for (i = 0; i < n; i++)
			count(m, &rows[i]);
	} while (n > 0 && !cli_must_stop(m->job));
	/* Another source knew its areas, but its pages may not be read. */
	if (n == 0 && (pagedet_coverage(it, &c) || c.tasks_denied ||
		       c.tasks_damaged))
		n = -EACCES;
	pagedet_iter_free(it);
	return n;
}

/* --- order and output --- */

enum { BY_PID, BY_COMM, BY_PAGES, BY_COPIED, BY_SWAPPED, BY_MAPPED };

const struct cli_key_name cli_mapper_keys[] = {
	{ "pid", BY_PID }, { "comm", BY_COMM }, { "pages", BY_PAGES },
	{ "bytes", BY_PAGES }, { "copied", BY_COPIED },
	{ "swapped", BY_SWAPPED }, { "mapped", BY_MAPPED },
	{ "virtual", BY_MAPPED }, { NULL, 0 },
};

static uint64_t amount_of(const struct mapper *p, int key)
{
	switch (key) {
	case BY_PAGES:
		return p->pages;
	case BY_COPIED:
		return p->copied;
	case BY_SWAPPED:
		return p->swapped;
	default:
		return p->mapped;
	}
}

/* Amounts from the largest. */
static int compare(const void *one, const void *two, int key, bool reverse)
{
	const struct mapper *a = one, *b = two;
	int order;

	if (key == BY_PID)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	else if (key == BY_COMM)
		order = strncmp(a->comm, b->comm, sizeof(a->comm));
	else
		order = (amount_of(b, key) > amount_of(a, key)) -
			(amount_of(b, key) < amount_of(a, key));
	return reverse ? -order : order;
}

static int compare_mappers(const void *a, const void *b, void *sort)
{
	const int order = cli_keys_compare(sort, a, b, compare);

	return order ? order : compare(a, b, BY_PID, false);
}

/* Columns of the table. */
struct widths {
	int pid, pages, bytes;
	uint32_t comm;		/* 0: no limit */
};

/* A name has 15 characters. On a narrow terminal the numbers are closer. */
static struct widths widths_for(uint32_t width)
{
	const struct widths wide = { 7, 9, 11, 0 }, narrow = { 7, 7, 9, 0 };
	struct widths l = width && width < 51 + 15 ? narrow : wide;
	const uint32_t before = (uint32_t)(l.pid + 3 * l.pages + l.bytes) + 6;

	l.comm = !width ? 0 : width > before + 4 ? width - before : 4;
	return l;
}

static void print(const struct mapping *m, struct widths l,
		  const struct mapper *p)
{
	const size_t len = strnlen(p->comm, sizeof(p->comm));
	const unsigned long long kib = m->page_size / 1024;
	char comm[sizeof(p->comm) + 1];

	if (m->job->format == PAGEDET_FORMAT_JSON) {
		fprintf(m->f, "{\"pid\":%u,", p->pid);
		cli_json_member(m->f, "comm", p->comm, len);
		fprintf(m->f, ",\"pages\":%llu,\"bytes\":%llu,\"copied\":%llu,"
			"\"swapped\":%llu,\"mapped\":%llu}\n",
			(unsigned long long)p->pages,
			(unsigned long long)(p->pages * m->page_size),
			(unsigned long long)p->copied,
			(unsigned long long)p->swapped,
			(unsigned long long)(p->mapped / m->page_size));
		return;
	}
	fprintf(m->f, "%*u %*llu %*llu %*llu %*llu  ", l.pid, p->pid, l.pages,
		(unsigned long long)p->pages, l.bytes,
		(unsigned long long)p->pages * kib, l.pages,
		(unsigned long long)(p->copied + p->swapped), l.pages,
		(unsigned long long)(p->mapped / m->page_size));
	snprintf(comm, sizeof(comm), "%.*s", (int)len, p->comm);
	cli_clipped_text(m->f, comm, l.comm);
	fputc('\n', m->f);
}

static void print_all(struct mapping *m)
{
	const struct widths l = widths_for(cli_answer_width(m->job));
	const uint64_t bound = cli_bound(m->job);
	size_t i;

	if (m->sort.n && m->processes)
		qsort_r(m->mappers, m->processes, sizeof(*m->mappers),
			compare_mappers, &m->sort);
	if (m->processes && m->job->format == PAGEDET_FORMAT_TEXT)
		fprintf(m->f, "%*s %*s %*s %*s %*s  %s\n", l.pid, "pid",
			l.pages, "pages", l.bytes, "KiB", l.pages, "copied",
			l.pages, "virtual", "comm");
	for (i = 0; i < m->processes && (!bound || i < bound); i++)
		print(m, l, &m->mappers[i]);
}

/* --- all processes --- */

static int keep(struct mapping *m)
{
	const size_t max = m->max ? 2 * m->max : 64;
	struct mapper *more;

	if (m->processes == m->max) {
		more = realloc(m->mappers, max * sizeof(*more));
		if (!more)
			return cli_fail_errno("mappers");
		m->mappers = more;
		m->max = max;
	}
	m->mappers[m->processes++] = m->now;
	return CLI_ANSWERED;
}

static int look_at(struct mapping *m, const struct pagedet_task *t)
{
	int error;

	memset(&m->now, 0, sizeof(m->now));
	m->now.pid = t->pid;
	memcpy(m->now.comm, t->comm, sizeof(m->now.comm));
	m->job->n_items = 0;
	error = pagedet_areas(m->pd, t->pid, try_area, m);
	if (!error && m->job->n_items)
		error = count_pages(m);
	if (error == -ENOMEM)
		return cli_fail(m->pd, error);
	if (error) {
		m->gone += error == -ESRCH;
		m->unread += error != -ESRCH;
		return CLI_ANSWERED;
	}
	if (!m->job->n_items)
		return CLI_ANSWERED;
	return keep(m);
}

static int look_at_all(struct mapping *m)
{
	struct pagedet_task *tasks;
	uint64_t lost;
	size_t n, i;
	int status;

	status = cli_tasks(m->pd, PAGEDET_TASKS_PROCESSES, &tasks, &n, &lost);
	if (status)
		return status;
	m->unread += lost;
	for (i = 0; i < n && !status && !m->stopped; i++) {
		if (!(tasks[i].flags & PAGEDET_TASK_KTHREAD))
			status = look_at(m, &tasks[i]);
		m->stopped = cli_must_stop(m->job);
	}
	free(tasks);
	return status;
}

/*
 * How many of the processes have the address space of one before. Each of them
 * is opened again, and nothing of it is read.
 */
static uint64_t count_again(const struct mapping *m)
{
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item *items;
	struct pagedet_iter *it = NULL;
	struct pagedet_page row;
	size_t i;

	items = m->processes > 1 ? calloc(m->processes, sizeof(*items)) : NULL;
	if (!items)
		return 0;
	for (i = 0; i < m->processes; i++)
		items[i] = (struct pagedet_item){ 0, 1, m->mappers[i].pid, 0 };
	q.target = PAGEDET_TARGET_TASK;
	q.items = items;
	q.n_items = m->processes;
	q.deadline_ns = cli_deadline_left(m->job);
	q.fields[PAGEDET_FIELD_PTE / 64] |= 1ull << PAGEDET_FIELD_PTE % 64;
	if (pagedet_query(m->pd, &q, &it) == 0) {
		while (pagedet_next(it, &row, 1) > 0)
			;
		pagedet_coverage(it, &c);
		pagedet_iter_free(it);
	}
	free(items);
	return c.tasks_again;
}

struct own_area {
	uint64_t address;
	struct mapping *m;
};

static int take_own(void *user, const struct pagedet_area *area)
{
	struct own_area *own = user;

	if (own->address < area->start || own->address >= area->end)
		return 0;
	own->m->dev = area->dev;
	own->m->inode = area->inode;
	return 1;
}

/*
 * Finds device and inode in the kernel's form for mappings, because stat() of
 * btrfs and overlayfs gives other numbers. For this, the file is mapped, but
 * not accessed. If that fails, the name must suffice.
 */
static void identify(struct mapping *m)
{
	int fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct own_area own = { .m = m };
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		return;
	own.address = (uintptr_t)at;
	pagedet_areas(m->pd, (uint32_t)getpid(), take_own, &own);
	munmap(at, 1);
}

/*
 * Finds the name of the file in maps. The files of a dump are not on this
 * machine.
 */
static int find_file(struct mapping *m)
{
	struct stat st;
	int n;

	if (m->job->open.n_files || m->job->open.root) {
		n = snprintf(m->path, sizeof(m->path), "%s", m->job->path);
		if ((size_t)n < sizeof(m->path))
			return CLI_ANSWERED;
		errno = ENAMETOOLONG;
		return cli_fail_errno("%s", m->job->path);
	}
	if (!realpath(m->job->path, m->path) || stat(m->path, &st))
		return cli_fail_errno("cannot find '%s'", m->job->path);
	if (S_ISDIR(st.st_mode))
		return cli_no_directory(m->job, m->job->path);
	identify(m);
	m->by_name = !m->inode;
	return CLI_ANSWERED;
}

/* Its lines are not rows of fields. */
static int check_options(const struct cli_job *job)
{
	if (job->where || job->by || job->fields ||
	    (job->summary && !job->watching) || job->runs || job->undecided ||
	    job->stacks || job->stop || job->perf_map || job->flame ||
	    job->folded)
		return cli_usage("mappers FILE takes no --where, --by, "
				 "--fields, --summary, --runs, --undecided, "
				 "--stacks, --stop, --perf-map, --flame or "
				 "--folded");
	return cli_check_format(job);
}

static int run_file_mappers(struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };
	struct mapping m = { .job = job, .pd = pd };
	struct cli_report report;
	uint64_t again;
	int status = check_options(job);

	if (!status)
		status = cli_keys_parse(job->sort, "mappers FILE",
					cli_mapper_keys, &m.sort);
	if (!status)
		status = find_file(&m);
	if (!status)
		status = cli_report_open(&report);
	if (status)
		return status;
	pagedet_info(pd, &info);
	m.page_size = info.page_size ? info.page_size : 4096;
	m.f = report.f;
	cli_interrupt_asked(true);
	status = look_at_all(&m);
	cli_interrupt_asked(job->watching);
	print_all(&m);
	again = m.stopped || job->quiet ? 0 : count_again(&m);
	free(m.mappers);
	if (!status && (m.unread || m.by_name || m.stopped))
		status = CLI_UNSURE;
	else if (!status && !m.processes)
		status = CLI_NO;
	status = cli_report_close(&report, job, status);
	if (status == CLI_NO && !job->quiet)
		cli_say("no process maps it");
	if (status <= CLI_UNSURE)
		cli_tell_more(job, m.processes, "process", "processes");
	if (again)
		cli_say("%llu of the processes ha%s the address space of "
			"another one (vfork, CLONE_VM): the kernel counts "
			"these mappings once", (unsigned long long)again,
			again == 1 ? "s" : "ve");
	if (m.by_name && !job->quiet)
		cli_say("'%s' cannot be mapped here, so files were compared by "
			"name: a container may have another file of that name",
			m.path);
	if (m.stopped && !job->quiet)
		cli_say("%s: other processes may map it", cli_stop_words());
	if (m.unread && !job->quiet)
		cli_say("%llu process%s could not be read: %s may map it, too",
			(unsigned long long)m.unread,
			m.unread == 1 ? "" : "es",
			m.unread == 1 ? "it" : "they");
	if (m.unread && !m.stopped && !job->quiet)
		cli_tell_trace(job);
	return status;
}

int cli_run_mappers(struct cli_job *job, struct pagedet *pd)
{
	return job->path ? run_file_mappers(job, pd) : cli_run_query(job, pd);
}
