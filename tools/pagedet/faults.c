/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reports whether a program with a fault in a log still runs, and what is at
 * the address now. A pid is valid only within the same boot, and only until
 * another process gets it.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define F(name) PAGEDET_FIELD_##name
#define MOST_LOOKED 16

static bool has(const struct pagedet_page *row, uint32_t field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static int take_record(void *user, const struct pagedet_log_record *r)
{
	struct cli_faults *a = user;
	uint64_t *more;

	if (r->facility || (!memmem(r->text, r->len, "]: segfault at ", 15) &&
			    !memmem(r->text, r->len, "]: unhandled ", 13) &&
			    !memmem(r->text, r->len, "traps: ", 7)))
		return 0;
	more = realloc(a->ns, (a->n + 1) * sizeof(*a->ns));
	if (!more)
		return 1;
	a->ns = more;
	a->ns[a->n++] = r->time_ns;
	return 0;
}

/* Whether the opened kernel wrote that line, according to its own log. */
static bool is_of_kernel(struct cli_faults *a, struct pagedet *pd, uint64_t ns)
{
	uint64_t lost;
	size_t i;

	if (!a->read)
		pagedet_kernel_log(pd, take_record, a, &lost);
	a->read = true;
	for (i = 0; i < a->n; i++)
		if (a->ns[i] / 1000 == ns / 1000)
			return true;
	return false;
}

static const struct pagedet_task *find(struct cli_faults *a,
				       struct pagedet *pd, uint32_t pid)
{
	uint64_t lost;
	size_t i;

	if (!a->tasks && cli_tasks(pd, 0, &a->tasks, &a->n_tasks, &lost))
		return NULL;
	for (i = 0; i < a->n_tasks; i++)
		if (a->tasks[i].pid == pid)
			return &a->tasks[i];
	return NULL;
}

/* Writes the kind and number of one page of an address or a file. */
static void put_row(const struct cli_faults *a, struct pagedet *pd,
		    struct pagedet_query *q, const char *nothing, FILE *f)
{
	struct pagedet_page row;
	struct pagedet_iter *it;
	const char *kind;
	int n;

	q->deadline_ns = cli_deadline_left(a->job);
	if (pagedet_fields_parse(pd, "pfn,kind", q) ||
	    pagedet_query(pd, q, &it)) {
		fprintf(f, "%s\n", pagedet_error(pd));
		return;
	}
	n = pagedet_next(it, &row, 1);
	kind = n == 1 && has(&row, F(KIND)) ?
		pagedet_value_name(F(KIND), row.kind) : NULL;
	fputs(kind ? kind : nothing, f);
	if (n == 1 && has(&row, F(PFN)))
		fprintf(f, ", pfn %llu (0x%llx)", (unsigned long long)row.pfn,
			(unsigned long long)row.pfn);
	fputc('\n', f);
	pagedet_iter_free(it);
}

static void put_page(const struct cli_faults *a, struct pagedet *pd,
		     const struct pagedet_page *fault, FILE *f)
{
	struct pagedet_item item = { fault->vaddr, 1, fault->pid, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	fprintf(f, "the page at 0x%llx is ", (unsigned long long)fault->vaddr);
	put_row(a, pd, &q, "not known", f);
}

/* Writes the page of its code, if the file is known. */
static void put_code(const struct cli_faults *a, struct pagedet *pd,
		     const struct pagedet_iter *it,
		     const struct pagedet_page *fault, FILE *f)
{
	struct cli_crash *c = calloc(1, sizeof(*c));
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_item item = { 0, 1, 0, 0 };
	const char *reason;

	reason = pagedet_string(it, fault->reason, NULL);
	if (c && reason)
		cli_crash_parse(c, reason);
	if (c && reason && !c->why)
		cli_crash_find(pd, NULL, c);
	if (!c || !reason || c->why) {
		fputc('\n', f);
	} else {
		item.first = c->offset / c->page_size;
		q.target = PAGEDET_TARGET_FILE;
		q.path = c->path;
		q.items = &item;
		q.n_items = 1;
		fputs("; its code, ", f);
		cli_plain_text(f, c->path, strlen(c->path));
		fprintf(f, " page %llu, is ", (unsigned long long)item.first);
		put_row(a, pd, &q, "not cached", f);
	}
	free(c);
}

void cli_faults_alive(struct cli_faults *a, struct pagedet *pd,
		      const struct pagedet_iter *it,
		      const struct pagedet_page *row, FILE *f)
{
	const struct pagedet_task *task;
	const char *comm;
	size_t len;

	if (!has(row, F(PID)) || !has(row, F(COMM)) || !has(row, F(EVENT_NS)) ||
	    !is_of_kernel(a, pd, row->event_ns))
		return;
	comm = pagedet_string(it, row->comm, &len);
	task = find(a, pd, row->pid);
	/* Another process may have the pid by now. */
	if (!comm || !task || !(task->flags & PAGEDET_TASK_HAS_START) ||
	    task->start_ns > row->event_ns || strlen(task->comm) != len ||
	    memcmp(task->comm, comm, len)) {
		fprintf(f, "    now: it has ended");
		/* Each search covers all processes. */
		if (a->here && a->looked++ < MOST_LOOKED)
			put_code(a, pd, it, row, f);
		else
			fputc('\n', f);
		return;
	}
	fprintf(f, "    now: it still runs; ");
	if (has(row, F(VADDR)))
		put_page(a, pd, row, f);
	else
		fprintf(f, "the log does not say at which address it "
			   "faulted\n");
}

void cli_faults_free(struct cli_faults *a)
{
	free(a->ns);
	free(a->tasks);
}
