/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Shared by all reports: common texts, and the output files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"

static bool stood_still(const struct agent *a)
{
	return a->vm[SOURCE].frozen == PAGEDET_YES &&
	       a->vm[DESTINATION].frozen == PAGEDET_YES && !a->n_unsteady;
}

/* An unknown result must never pass for another one. */
enum agent_status report_status(const struct agent *a)
{
	bool cause = false;
	uint64_t i;

	if (a->trouble[0] || !stood_still(a) ||
	    a->n_differences < a->n_different + a->n_lost)
		return AGENT_UNSURE;
	for (i = 0; i < a->n_differences; i++) {
		const struct pagedet_finding *f = a->differences[i].finding;

		if (!f || f->verdict == PAGEDET_VERDICT_CANNOT_TELL)
			return AGENT_UNSURE;
		cause |= f->verdict == PAGEDET_VERDICT_CAUSE;
	}
	return cause ? AGENT_DIFFERENT : AGENT_EQUAL;
}

/* By what it is known, or why it is not. */
static void say_restless(const struct agent *a, char *text, size_t size)
{
	const struct vm *vm = &a->vm[a->vm[SOURCE].frozen == PAGEDET_YES &&
				     !a->n_unsteady ? DESTINATION : SOURCE];
	const unsigned long long n = a->n_unsteady;

	if (vm->frozen == PAGEDET_DUNNO)
		snprintf(text, size, "Cannot tell: it is not known whether the "
			 "%s stood still while it was read%s%s.", vm->name,
			 vm->qmp.error[0] ? ": " : "", vm->qmp.error);
	else if (vm->frozen == PAGEDET_NO)
		snprintf(text, size, "Cannot tell: the %s did not stand still "
			 "while it was read: it %s.", vm->name,
			 vm->qmp.resumed ? "was resumed" : "runs");
	else
		snprintf(text, size, "Cannot tell: the %s did not stand still "
			 "while it was read: %llu page%s changed.", vm->name,
			 n, n == 1 ? "" : "s");
}

/* @pages: that each side has for itself. */
static void say_verdict(const struct agent *a, unsigned long long pages,
			char *text, size_t size)
{
	const unsigned long long n = a->n_different;
	const char *s = pages == 1 ? "" : "s", *differ = n == 1 ? "s" : "";

	if (a->trouble[0])
		snprintf(text, size, "Cannot tell: %s.", a->trouble);
	else if (a->vm[DESTINATION].ran)
		snprintf(text, size, "Cannot tell: the destination went on "
			 "before it could be compared; start it with -S.");
	else if (a->vm[SOURCE].ran)
		snprintf(text, size, "Cannot tell: the source went on after "
			 "the switch, and was stopped before it was compared.");
	else if (!stood_still(a))
		say_restless(a, text, size);
	else if (!a->n_differences && a->went_on && !a->n_unproven)
		snprintf(text, size, "Equal: all %llu pages that were compared "
			 "are the same on both sides; %llu of the "
			 "destination's as they were read before the switch, "
			 "and still were when it ran.", pages,
			 (unsigned long long)a->n_early);
	else if (!a->n_differences && a->went_on)
		snprintf(text, size, "Equal: all %llu pages that were compared "
			 "are the same on both sides; %llu of the "
			 "destination's as they were read before the switch. "
			 "%llu of these changed afterwards: the guest wrote "
			 "them, or they were damaged before it ran, which "
			 "cannot be told.", pages,
			 (unsigned long long)a->n_early,
			 (unsigned long long)a->n_unproven);
	else if (!a->n_differences)
		snprintf(text, size, "Equal: all %llu pages that were compared "
			 "are the same on both sides.", pages);
	else if (report_status(a) == AGENT_EQUAL)
		snprintf(text, size, "Equal: what differs between the sides is "
			 "not a fault.");
	else if (report_status(a) == AGENT_DIFFERENT)
		snprintf(text, size, "Different: %llu of %llu page%s differ%s, "
			 "and each is explained below.", n, pages, s, differ);
	else if (a->n_differences < a->n_different + a->n_lost)
		snprintf(text, size, "Different: %llu of %llu page%s differ%s; "
			 "%llu could not be read; the first %llu of these %llu "
			 "are explained.", n, pages, s, differ,
			 (unsigned long long)a->n_lost,
			 (unsigned long long)a->n_differences,
			 (unsigned long long)(a->n_different + a->n_lost));
	else
		snprintf(text, size, "Different: %llu of %llu page%s differ%s; "
			 "%llu could not be read; not all of it can be "
			 "explained.", n, pages, s, differ,
			 (unsigned long long)a->n_lost);
}

void report_verdict(const struct agent *a, char *text, size_t size)
{
	const unsigned long long one = join_one_pages(a);
	size_t len;

	say_verdict(a, a->pages - one, text, size);
	len = strlen(text);
	/* Then nothing is said of memory. */
	if (!one || a->trouble[0] || !stood_still(a))
		return;
	snprintf(text + len, size - len, " The other %llu page%s not compared: "
		 "both sides map the same memory there, so that harm done to "
		 "it is done to both, and nothing here shows it.", one,
		 one == 1 ? " was" : "s were");
}

/* --- advice --- */

static struct report_advice neither(const char *text)
{
	return (struct report_advice){ text, NEITHER };
}

static struct report_advice lets(int side, const char *text)
{
	return (struct report_advice){ text, side };
}

/* Since postcopy began, each side has only a part of the guest. */
static const char *todo_split(const struct agent *a)
{
	if (a->vm[SOURCE].dead)
		return "The source is lost, and the destination lacks what had "
		       "not come yet: start from a backup.";
	if (a->vm[DESTINATION].dead)
		return "The destination is lost, and with it what the guest "
		       "did there. If it was never let go on there, the source "
		       "still has all of its memory; else start from a backup.";
	return "The guest is in two parts: it belongs to the destination since "
	       "postcopy began, but what this one lacks is at the source only. "
	       "End neither of them, and do not let the source go on: connect "
	       "them again (migrate-recover at the destination, then migrate "
	       "with resume at the source). If that fails, start from a "
	       "backup.";
}

/* The guest may have written more than either side can be trusted with. */
static const char *todo_went_on(const struct agent *a)
{
	return report_status(a) == AGENT_DIFFERENT ?
	       "The destination runs with memory that is not the source's: stop "
	       "it, and do what is said with each finding. Since it went on, "
	       "what the guest did there is at the destination only." :
	       "Do not trust the destination, which runs: it is not known yet "
	       "why memory differs. Keep the source stopped until it is.";
}

/* Whether the side is proven right for every differing page. */
static bool is_intact(const struct agent *a, unsigned side)
{
	uint64_t i;

	for (i = 0; i < a->n_differences; i++) {
		const struct pagedet_finding *f = a->differences[i].finding;

		if (!f || (side == SOURCE ? f->here_intact : f->peer_intact) !=
				  PAGEDET_YES)
			return false;
	}
	return true;
}

/* Advice must never let a side continue that may be damaged, or behind. */
static struct report_advice todo_different(const struct agent *a)
{
	if (a->o.blocks)
		return neither("Do not let either side go on yet: it was not "
			"seen whether one of them ran after the switch. What "
			"the guest did there would be at that side only. What "
			"is said with a finding is about its pages alone.");
	if (is_intact(a, SOURCE))
		return lets(SOURCE, "Do not let the destination go on. What "
			"the source has of these pages is right: let that go "
			"on, and do what is said with each finding before "
			"trying again.");
	if (is_intact(a, DESTINATION))
		return lets(DESTINATION, "Do not let the source go on. What "
			"the destination has of these pages is what the source "
			"had when it stopped: let that go on, and do what is "
			"said with each finding.");
	return neither("Do not let either side go on yet: neither is proven to "
		"have all of these pages right. What is said with a finding is "
		"about its pages alone; a backup that is older than the "
		"migration is safe.");
}

static const char *todo_unsure(const struct agent *a)
{
	if (a->trouble[0] && !a->vm[SOURCE].dead)
		return "Do not trust the destination. Look at what went wrong; "
		       "nothing here speaks for or against the source's "
		       "memory, which was not compared.";
	if (a->vm[SOURCE].dead && a->n_equal + a->n_different + a->n_lost == 0)
		return "The source is lost, and the destination may lack some "
		       "of its memory: start from a backup.";
	if (a->vm[SOURCE].dead)
		return "The source is lost. Compare what the destination has "
		       "with a backup before it goes on.";
	return "Do not let the destination go on before it is known. Freeze "
	       "both, and compare again; what is missing is named with each "
	       "finding.";
}

struct report_advice report_todo(const struct agent *a)
{
	const enum agent_status status = report_status(a);

	if (a->split)
		return neither(todo_split(a));
	if (a->went_on && status != AGENT_EQUAL)
		return neither(todo_went_on(a));
	if (a->vm[DESTINATION].goes_on)
		return neither("The destination runs again, as it did when it "
			"was found: what it has is its own by now. To compare, "
			"migrate to one that was started with -S.");
	if (status == AGENT_EQUAL)
		return lets(DESTINATION, a->went_on ?
			"The destination goes on." :
			"Let the destination go on.");
	return status == AGENT_DIFFERENT ? todo_different(a) :
					   neither(todo_unsure(a));
}

/* The destination stood still when it was read, and has run since. */
static bool would_lose(const struct agent *a, const struct pagedet_finding *f)
{
	return a->went_on && f->lets_run == PAGEDET_SIDE_HERE;
}

const char *report_advice_of(const struct agent *a,
			     const struct pagedet_finding *f)
{
	return would_lose(a, f) ?
	       "stop the destination, and keep both sides: the source has this "
	       "page right, but what the guest did since it went on is at the "
	       "destination only" : f->advice;
}

int report_lets_run(const struct agent *a, const struct pagedet_finding *f)
{
	return f->lets_run == PAGEDET_SIDE_BOTH || would_lose(a, f) ? NEITHER :
	       f->lets_run == PAGEDET_SIDE_PEER ? DESTINATION : SOURCE;
}

/* --- texts --- */

bool report_is_alike(const struct pagedet_finding *x,
		     const struct pagedet_finding *y)
{
	return x->rule == y->rule && x->confidence == y->confidence &&
	       x->likely_confidence == y->likely_confidence &&
	       x->lets_run == y->lets_run && !strcmp(x->cause, y->cause) &&
	       !strcmp(x->likely, y->likely) && !strcmp(x->advice, y->advice);
}

unsigned report_rules(const struct agent *a, struct report_rule *rules,
		      unsigned max)
{
	unsigned n = 0, k;
	uint64_t i;

	for (i = 0; i < a->n_differences; i++) {
		const struct pagedet_finding *f = a->differences[i].finding;

		if (!f)
			continue;
		for (k = 0; k < n; k++)
			if (report_is_alike(rules[k].finding, f))
				break;
		if (k == max)
			continue;
		if (k == n)
			rules[n++] = (struct report_rule){ f, 0 };
		rules[k].n++;
	}
	return n;
}

uint64_t report_others(const struct agent *a, const struct report_rule *rules,
		       unsigned n)
{
	uint64_t others = 0, i;

	for (i = 0; i < a->n_differences; i++)
		others += a->differences[i].finding != NULL;
	while (n--)
		others -= rules[n].n;
	return others;
}

const char *report_look(const struct pagedet_seen *s)
{
	switch (s->state) {
	case PAGEDET_SEEN_ABSENT:
		return "absent";
	case PAGEDET_SEEN_ZERO:
		return "zero";
	case PAGEDET_SEEN_DATA:
		return s->bits & PAGEDET_SEEN_SWAPPED ? "swapped out" : "data";
	case PAGEDET_SEEN_LOST:
		return "not readable";
	default:
		return "not looked at";
	}
}

const char *report_fact_side(const struct pagedet_fact *fact)
{
	return fact->side == PAGEDET_SIDE_HERE ? "source" :
	       fact->side == PAGEDET_SIDE_PEER ? "destination" : "both";
}

void report_place(const struct agent *a, uint64_t page, char *text, size_t size)
{
	const struct block *b = join_block(a, page);
	uint64_t gpa;
	bool rom;

	if (join_gpa(a, page, &gpa, &rom))
		snprintf(text, size, "guest 0x%" PRIx64 " (%s + 0x%" PRIx64
			 "%s)", gpa, b->name, (page - b->first) * PAGE_BYTES,
			 rom ? ", read-only" : "");
	else
		snprintf(text, size, "%s + 0x%" PRIx64 " (hidden from the "
			 "guest)", b->name, (page - b->first) * PAGE_BYTES);
}

void report_pattern(const struct agent *a, const struct pagedet_pattern *p,
		    char *text, size_t size)
{
	char first[400], last[400];
	int n;

	n = pagedet_pattern_text(p, PAGE_BYTES, "source", "destination", text,
				 size);
	if (n < 0 || (size_t)n >= size)
		return;
	report_place(a, p->first, first, sizeof(first));
	report_place(a, p->last, last, sizeof(last));
	snprintf(text + n, size - (size_t)n, "; the first is %s%s%s", first,
		 p->pages == 1 ? "" : ", the last ",
		 p->pages == 1 ? "" : last);
}

void report_time(uint64_t ns, char *text, size_t size)
{
	const time_t t = (time_t)(ns / 1000000000u);
	struct tm tm;
	char seconds[32];

	gmtime_r(&t, &tm);
	strftime(seconds, sizeof(seconds), "%H:%M:%S", &tm);
	snprintf(text, size, "%s.%03u", seconds,
		 (unsigned)(ns / 1000000 % 1000));
}

/* The library has times as numbers: shows them as time of day. */
void report_fact(const struct pagedet_fact *fact, char *text, size_t size)
{
	const size_t len = strlen(fact->field);
	char at[40];

	if (len > 3 && !strcmp(fact->field + len - 3, "_ns"))
		report_time(fact->value, text, size);
	else
		snprintf(text, size, "%s", fact->text);
	if (!fact->time_ns)
		return;
	report_time(fact->time_ns, at, sizeof(at));
	snprintf(text + strlen(text), size - strlen(text), " at %s", at);
}

struct pagedet_versions_info report_versions(const struct agent *a)
{
	struct pagedet_versions_info info = { .size = sizeof(info) };

	pagedet_versions_info(a->versions, &info);
	return info;
}

void report_sent(const struct agent *a, uint64_t page, char *text, size_t size)
{
	struct pagedet_version_of of = { .size = sizeof(of) };
	char at[40];

	pagedet_versions_of(a->versions, page, &of);
	if (of.sent == PAGEDET_SENT_DUNNO) {
		snprintf(text, size, "not known");
	} else if (of.sent == PAGEDET_SENT_NEVER) {
		snprintf(text, size, "never");
	} else if (a->o.blocks) {
		snprintf(text, size, "at a time that is not known");
	} else {
		report_time(of.sent_ns, at, sizeof(at));
		snprintf(text, size, "%llu time%s, last at %s%s%s",
			 (unsigned long long)of.times,
			 of.times == 1 ? "" : "s", at,
			 of.sent == PAGEDET_SENT_PACKED ? ", packed" : "",
			 of.dropped ? ", then given back" : "");
	}
}

uint64_t report_pfn(const uint64_t *words)
{
	struct pagedet_page row;

	memcpy(&row, words, sizeof(row));
	return PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PFN]) ==
	       PAGEDET_HAVE ? row.pfn : UINT64_MAX;
}

/* --- files --- */

static int write_json(const struct agent *a, FILE *f)
{
	json_t *report = report_json(a);
	const int r = report ? json_dumpf(report, f, JSON_INDENT(1) |
					  JSON_PRESERVE_ORDER) : -1;

	if (r && !ferror(f))
		errno = ENOMEM;
	if (!r)
		fputc('\n', f);
	json_decref(report);
	return r;
}

/*
 * Reports contain bytes of the guest, and others may be able to write to the
 * directory. The file is created without following existing links, and only
 * root may read it.
 */
static FILE *create(const char *path)
{
	FILE *f = NULL;
	int fd;

	if (unlink(path) && errno != ENOENT)
		return NULL;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

/* A report becomes visible only when it is complete. */
static int write_one(const struct agent *a, const char *name,
		     int (*write)(const struct agent *a, FILE *f))
{
	char path[4096], partial[4096 + 16];
	FILE *f;
	int bad;

	snprintf(path, sizeof(path), "%s/%s", a->o.report, name);
	snprintf(partial, sizeof(partial), "%s.partial", path);
	f = create(partial);
	if (!f)
		return agent_fail_errno(AGENT_IO, "cannot write %s", path);
	bad = write(a, f) || fflush(f) || ferror(f);
	if (bad)
		agent_fail_errno(AGENT_IO, "cannot write %s", path);
	if (fclose(f) && !bad)
		bad = agent_fail_errno(AGENT_IO, "cannot write %s", path);
	if (!bad && rename(partial, path))
		bad = agent_fail_errno(AGENT_IO, "cannot write %s", path);
	if (bad)
		unlink(partial);
	return bad ? AGENT_IO : 0;
}

int report_write(struct agent *a)
{
	int status = write_one(a, "report.txt", report_text);

	if (!status)
		status = write_one(a, "report.json", write_json);
	if (!status)
		status = write_one(a, "report.html", report_html);
	if ((report_text(a, stdout) || fflush(stdout)) && !status)
		status = agent_fail_errno(AGENT_IO, "standard output");
	return status;
}
