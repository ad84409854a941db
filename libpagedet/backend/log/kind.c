/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises a kernel log: a text in which the parser finds a report, also one
 * that names no page, or of which most lines have the kernel's time. Words of a
 * report alone prove nothing, because source code, manuals and traces of
 * programs quote them. What such a text quotes is not read (quoted.c). In a
 * manual a report must have the kernel's time or tag, or be most of the text,
 * as on a bug tracker's page.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/log/quoted.h"

/* Lines without an empty one between them, or a literal block. */
struct block {
	uint64_t first;		/* number of its first line */
	size_t lines;		/* that are not empty */
	bool reports;
	bool tagged;		/* a line has the kernel's tag */
};

struct kind {
	struct pdet_log *log;
	struct pdet_log_quoting quoting;
	struct pdet_log_line line;
	struct {
		struct block *data;
		size_t n, cap;
	} blocks;
	bool fenced;
	size_t stamped, fed;	/* lines */
	bool found, timed;	/* a report, and one with its time or tag */
	size_t reported;	/* lines of blocks with reports, unless timed */
};

/* Whether the kernel's log has put a time before the line. */
static bool is_stamped(const struct pdet_log_line *l)
{
	return l->record || l->stamp.has_us;
}

/* "kernel: ", which syslog and the journal put before the text. */
static bool is_tagged(struct pdet_scan line, const char *text)
{
	static const char tag[] = "kernel:";

	return text > line.at && text <= line.end &&
	       memmem(line.at, (size_t)(text - line.at), tag, strlen(tag));
}

/* Count a line in its block. */
static bool count(struct kind *k, struct pdet_scan line, bool tagged)
{
	const bool fence = pdet_log_fence(line);
	struct block *b = k->blocks.n ? &k->blocks.data[k->blocks.n - 1] :
					NULL;

	if (!b || fence || (!k->fenced && pdet_log_parts(line))) {
		if (!pdet_vec_push(&k->blocks,
				   (struct block){ k->fed + 1, 0,
						   false, false }))
			return false;
		b = &k->blocks.data[k->blocks.n - 1];
	}
	k->fenced ^= fence;
	b->lines += line.at < line.end;
	b->tagged |= tagged;
	return true;
}

/* The block with a line that was fed. */
static struct block *block_of(const struct kind *k, uint64_t line)
{
	size_t low = 0, high = k->blocks.n;

	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (k->blocks.data[mid].first <= line)
			low = mid;
		else
			high = mid;
	}
	return &k->blocks.data[low];
}

static void take(struct kind *k)
{
	const struct pdet_log_page *p;
	struct block *b;

	while ((p = pdet_log_take(k->log))) {
		k->found = true;
		if (k->timed)
			continue;
		b = block_of(k, p->line);
		k->timed = p->stamp.has_us || p->stamp.has_day || b->tagged;
		if (!b->reports)
			k->reported += b->lines;
		b->reports = true;
	}
}

/* Whether it is a log, after all its lines. */
static bool judge(const struct kind *k)
{
	const struct pdet_log_quoting *q = &k->quoting;

	if (q->source)
		return false;
	if (k->stamped > q->lines / 2)
		return true;
	if (pdet_log_is_program(q))
		return false;
	if (pdet_log_is_manual(q) && !k->timed)
		return k->reported >= q->lines / 2 && k->found;
	return k->found;
}

static int read_lines(struct kind *k, struct pdet_scan text)
{
	struct pdet_scan line;
	bool stamped, tagged;

	while (!k->quoting.source && pdet_scan_line(&text, &line)) {
		pdet_log_line(line, &k->line);
		stamped = is_stamped(&k->line);
		tagged = is_tagged(line, k->line.text.at);
		if (pdet_log_is_quoted(&k->quoting, line, k->line.text.at,
				       stamped || tagged, text))
			continue;
		k->stamped += stamped;
		k->found |= pdet_log_is_rest(k->line.text);
		if (!count(k, line, tagged) ||
		    pdet_log_feed(k->log, line) < 0)
			return -ENOMEM;
		k->fed++;
		take(k);
	}
	return pdet_log_end(k->log, false);
}

int pdet_log_is_log(const char *text, size_t len)
{
	struct kind *k = calloc(1, sizeof(*k));
	int r = -ENOMEM;

	if (!k)
		return -ENOMEM;
	k->log = pdet_log_new();
	if (k->log) {
		pdet_log_all(k->log);
		r = read_lines(k, (struct pdet_scan){ text, text + len });
	}
	if (r == 0) {
		take(k);
		r = judge(k);
	}
	pdet_log_free(k->log);
	pdet_vec_free(&k->blocks);
	free(k);
	return r;
}
