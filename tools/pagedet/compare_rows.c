/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the result of compare. Pages that differ in the same way form a run,
 * and each run is a row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

static const char *const sides[] = { "here", "peer" };

static bool has(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

static void row_of(const struct pagedet_evidence *e, unsigned side,
		   struct pagedet_page *row)
{
	memcpy(row, side == CLI_HERE ? e->here : e->peer, sizeof(*row));
}

static const char *content(const struct pagedet_seen *s)
{
	switch (s->state) {
	case PAGEDET_SEEN_NOTHING:
		return "not in the snapshot";
	case PAGEDET_SEEN_ABSENT:
		return "absent";
	case PAGEDET_SEEN_ZERO:
		return "zero";
	case PAGEDET_SEEN_DATA:
		return s->bits & PAGEDET_SEEN_SWAPPED ? "swapped" :
		       s->bits & PAGEDET_SEEN_FILE ? "in its file only" :
		       "data";
	default:
		return s->kind == PAGEDET_KIND_UNMAPPED ? "unmapped" :
		       "not readable";
	}
}

bool cli_is_nowhere(const struct cli_unlike *u)
{
	unsigned side;

	for (side = 0; side < CLI_SIDES; side++)
		if (u->seen[side].state != PAGEDET_SEEN_LOST ||
		    u->seen[side].kind != PAGEDET_KIND_UNMAPPED)
			return false;
	return true;
}

/* --- runs --- */

/* Reclaim sets and clears these all the time, so they do not end a run. */
#define PASSING (PAGEDET_PF(PAGEDET_PF_REFERENCED) | \
		 PAGEDET_PF(PAGEDET_PF_ACTIVE) | PAGEDET_PF(PAGEDET_PF_IDLE))

static bool same_side(const struct cli_comparing *c, uint64_t a, uint64_t b,
		      unsigned side)
{
	const struct pagedet_seen *x = &c->unlike[a].seen[side];
	const struct pagedet_seen *y = &c->unlike[b].seen[side];
	struct pagedet_page p, q;

	row_of(&c->evidence[a], side, &p);
	row_of(&c->evidence[b], side, &q);
	return x->state == y->state && x->bits == y->bits &&
	       x->why == y->why && x->kind == y->kind &&
	       has(&p, PAGEDET_FIELD_FLAGS) == has(&q, PAGEDET_FIELD_FLAGS) &&
	       (p.flags | PASSING) == (q.flags | PASSING) &&
	       has(&p, PAGEDET_FIELD_MAPCOUNT) ==
	       has(&q, PAGEDET_FIELD_MAPCOUNT) && p.mapcount == q.mapcount;
}

/* The id of the finding; 0: none. */
static uint64_t finding_of(const struct cli_unlike *u)
{
	return u->finding ? (uint64_t)u->finding->rule << 8 |
			    u->finding->confidence : 0;
}

static bool follows(const struct cli_comparing *c, uint64_t i)
{
	const struct cli_unlike *u = &c->unlike[i], *last = u - 1;
	const struct pagedet_evidence *e = &c->evidence[i];

	return u->page == last->page + 1 && u->unsure == last->unsure &&
	       u->pattern == last->pattern && u->how.shift == last->how.shift &&
	       finding_of(u) == finding_of(last) &&
	       same_side(c, i, i - 1, CLI_HERE) &&
	       same_side(c, i, i - 1, CLI_PEER) &&
	       e->mapper_pid == e[-1].mapper_pid &&
	       e->peer_mapper_pid == e[-1].peer_mapper_pid;
}

/* --- text --- */

static void text_flags(FILE *f, const struct pagedet_page *row)
{
	bool first = true;
	unsigned bit;

	for (bit = 0; bit < 64; bit++) {
		const char *name;

		if (!(row->flags >> bit & 1))
			continue;
		name = pagedet_value_name(PAGEDET_FIELD_FLAGS, bit);
		fprintf(f, "%s%s", first ? " " : "|", name ? name : "?");
		first = false;
	}
}

static void text_mappers(FILE *f, const struct pagedet_evidence *e,
			 unsigned side, const struct pagedet_page *row)
{
	const uint32_t pid = side == CLI_HERE ? e->mapper_pid :
						e->peer_mapper_pid;

	if (has(row, PAGEDET_FIELD_MAPCOUNT) && row->mapcount >> 63)
		fprintf(f, ", mapcount %" PRId64, (int64_t)row->mapcount);
	else if (has(row, PAGEDET_FIELD_MAPCOUNT))
		fprintf(f, ", mapped %" PRIu64 " time%s",
			(uint64_t)row->mapcount, cli_plural(row->mapcount));
	if (pid)
		fprintf(f, ", by pid %" PRIu32 " too", pid);
}

static void text_side(FILE *f, const struct cli_comparing *c, uint64_t i,
		      unsigned side)
{
	const struct cli_unlike *u = &c->unlike[i];
	const struct pagedet_seen *s = &u->seen[side];
	const char *kind = pagedet_value_name(PAGEDET_FIELD_KIND, s->kind);
	struct pagedet_page row;

	row_of(&c->evidence[i], side, &row);
	fprintf(f, "  %s 0x%" PRIx64 "  %s", sides[side],
		c->item[side].first + u->page * c->page_size, content(s));
	if (s->state == PAGEDET_SEEN_LOST && pagedet_state_text(s->why))
		fprintf(f, " (%s)", pagedet_state_text(s->why));
	if (has(&row, PAGEDET_FIELD_PFN))
		fprintf(f, ", pfn %" PRIu64, row.pfn);
	if (kind)
		fprintf(f, ", %s", kind);
	if (has(&row, PAGEDET_FIELD_FLAGS))
		text_flags(f, &row);
	text_mappers(f, &c->evidence[i], side, &row);
	fputc('\n', f);
}

static void text_finding(FILE *f, const struct cli_unlike *u)
{
	const struct pagedet_finding *x = u->finding;
	uint32_t i;

	if (!x)
		return;
	fprintf(f, "  %s: %s (%s)\n", x->name, x->cause,
		x->verdict == PAGEDET_VERDICT_CANNOT_TELL ? "cannot tell" :
		pagedet_confidence_name(x->confidence));
	for (i = 0; i < x->n_unknown; i++)
		fprintf(f, "%s%s%s", i ? "; " : "  not known: ", x->unknown[i],
			i + 1 == x->n_unknown ? "\n" : "");
	if (*x->advice)
		fprintf(f, "  %s\n", x->advice);
}

/* What is told of the whole, as far as it is about the page. */
static void text_pattern(FILE *f, const struct cli_comparing *c,
			 const struct cli_unlike *u, uint64_t n)
{
	if (u->elsewhere == PAGEDET_YES)
		fprintf(f, "  %s at the peer what is at page %" PRIu64
			" (0x%" PRIx64 ") here\n", n == 1 ? "it has" :
			"the first has", u->at,
			c->item[CLI_HERE].first + u->at * c->page_size);
	if (u->pattern && u->pattern->pages > n)
		fprintf(f, "  %s among the %" PRIu64 " pages that are told as "
			"%s above\n", n == 1 ? "it is" : "they are",
			u->pattern->pages,
			pagedet_pattern_name(u->pattern->kind));
}

/* How the bytes differ, in a sentence; "" if the numbers say it. */
static const char *shape(uint32_t shape)
{
	switch (shape) {
	case PAGEDET_SHAPE_WORD:
		return ", all in one word of 8 bytes";
	case PAGEDET_SHAPE_LINE:
		return ", all in one cache line of 64 bytes";
	case PAGEDET_SHAPE_SECTOR:
		return ", all in one sector of 512 bytes";
	case PAGEDET_SHAPE_ZEROED:
		return "; one side is all zero";
	case PAGEDET_SHAPE_POISONED:
		return "; one side repeats a byte with which kernels fill "
		       "memory that is not in use, or 0xff";
	case PAGEDET_SHAPE_SWAPPED:
		return "; the halves of the page are exchanged";
	case PAGEDET_SHAPE_SHIFTED:
		return "; the bytes are the same, but moved";
	case PAGEDET_SHAPE_TAIL:
		return "; all the rest of the page differs";
	default:
		return "";
	}
}

static void text_shape(FILE *f, const struct pagedet_difference *how)
{
	const int64_t by = how->shift < 0 ? -how->shift : how->shift;

	fputs(shape(how->shape), f);
	if (how->shape == PAGEDET_SHAPE_SHIFTED)
		fprintf(f, " by %" PRId64 " byte%s within the page", by,
			cli_plural((uint64_t)by));
}

static void text_run(FILE *f, const struct cli_comparing *c, uint64_t i,
		     uint64_t n)
{
	const struct cli_unlike *u = &c->unlike[i];

	fprintf(f, "%" PRIu64 " page%s %s", n, cli_plural(n),
		cli_is_nowhere(u) ?
		"on neither side: no process has a mapping there" :
		u->unsure ? "not known to be the same" :
		n == 1 ? "differs" : "differ");
	if (u->compared) {
		fprintf(f, "%s%" PRIu64 " bit%s in %" PRIu64 " byte%s, from "
			"byte %" PRIu64 " on",
			n == 1 ? ": " : ", the first by ", u->how.bits,
			cli_plural(u->how.bits), u->how.bytes,
			cli_plural(u->how.bytes), u->how.first);
		text_shape(f, &u->how);
	}
	fputc('\n', f);
	text_side(f, c, i, CLI_HERE);
	text_side(f, c, i, CLI_PEER);
	text_pattern(f, c, u, n);
	text_finding(f, u);
}

/* Of one page there is nothing to say that its own lines do not say. */
static void text_patterns(FILE *f, const struct cli_comparing *c)
{
	char text[512];
	unsigned i;

	for (i = 0; c->different > 1 && i < c->n_patterns; i++) {
		pagedet_pattern_text(&c->patterns[i], c->page_size,
				     "process here", "peer", text,
				     sizeof(text));
		fprintf(f, "%s\n", text);
	}
}

static int64_t shift_of(const struct cli_unlike *u)
{
	return u->compared && u->how.shape == PAGEDET_SHAPE_SHIFTED ?
		       u->how.shift : 0;
}

/* Pages whose bytes have moved within the page, by the shift of page @i, which
 * is the first of them. */
static void text_within(FILE *f, const struct cli_comparing *c, uint64_t i)
{
	const int64_t by = shift_of(&c->unlike[i]);
	const uint64_t bytes = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
	uint64_t k, n = 0, last = i;

	for (k = i; k < c->n; k++)
		if (shift_of(&c->unlike[k]) == by) {
			last = k;
			n++;
		}
	fprintf(f, "%" PRIu64 " page%s at the peer the bytes of the page "
		"itself, %" PRIu64 " byte%s further %s: ", n,
		n == 1 ? " has" : "s have", bytes, cli_plural(bytes),
		by < 0 ? "back" : "on");
	if (n == 1)
		fprintf(f, "page %" PRIu64 "\n", c->unlike[i].page);
	else
		fprintf(f, "pages %" PRIu64 " to %" PRIu64 "%s\n",
			c->unlike[i].page, c->unlike[last].page,
			c->unlike[last].page - c->unlike[i].page + 1 == n ?
			" without a gap" : "");
}

/* Each shift once, and at most so many. */
static void text_shifts_within(FILE *f, const struct cli_comparing *c)
{
	int64_t told[8];
	unsigned k, n = 0;
	uint64_t i;

	for (i = 0; i < c->n && n < sizeof(told) / sizeof(*told); i++) {
		const int64_t by = shift_of(&c->unlike[i]);

		for (k = 0; k < n && told[k] != by; k++)
			;
		if (!by || k < n)
			continue;
		told[n++] = by;
		text_within(f, c, i);
	}
}

static void text_whole(FILE *f, const struct cli_comparing *c)
{
	text_patterns(f, c);
	if (c->different > 1)
		text_shifts_within(f, c);
}

static void text_total(FILE *f, const struct cli_comparing *c)
{
	fprintf(f, "%" PRIu64 " page%s: %" PRIu64 " the same, %" PRIu64
		" different, %" PRIu64 " not known\n", c->pages,
		cli_plural(c->pages), c->equal, c->different, c->unknown);
	if (c->n < c->different + c->unknown)
		fprintf(f, "the first %" PRIu64 " of %" PRIu64
			" pages that differ are explained\n", c->n,
			c->different + c->unknown);
}

/* --- JSON --- */

static void json_text(FILE *f, const char *name, const char *text)
{
	fprintf(f, ",\"%s\":", name);
	cli_json_text(f, text, strlen(text));
}

static void json_flags(FILE *f, const struct pagedet_page *row)
{
	bool first = true;
	unsigned bit;

	fprintf(f, ",\"flags\":[");
	for (bit = 0; bit < 64; bit++) {
		const char *name;

		if (!(row->flags >> bit & 1))
			continue;
		name = pagedet_value_name(PAGEDET_FIELD_FLAGS, bit);
		if (name)
			fprintf(f, "%s\"%s\"", first ? "" : ",", name);
		else
			fprintf(f, "%s\"bit%u\"", first ? "" : ",", bit);
		first = false;
	}
	fputc(']', f);
}

static void json_side(FILE *f, const struct cli_comparing *c, uint64_t i,
		      unsigned side)
{
	const struct cli_unlike *u = &c->unlike[i];
	const struct pagedet_seen *s = &u->seen[side];
	const struct pagedet_evidence *e = &c->evidence[i];
	const char *kind = pagedet_value_name(PAGEDET_FIELD_KIND, s->kind);
	const uint32_t pid = side == CLI_HERE ? e->mapper_pid :
						e->peer_mapper_pid;
	struct pagedet_page row;

	row_of(e, side, &row);
	fprintf(f, ",\"%s\":{\"pid\":%" PRIu32 ",\"vaddr\":\"0x%" PRIx64 "\"",
		sides[side], c->item[side].pid,
		c->item[side].first + u->page * c->page_size);
	json_text(f, "content", content(s));
	if (s->state == PAGEDET_SEEN_LOST && pagedet_state_name(s->why))
		json_text(f, "why", pagedet_state_name(s->why));
	if (kind)
		json_text(f, "kind", kind);
	if (has(&row, PAGEDET_FIELD_PFN))
		fprintf(f, ",\"pfn\":%" PRIu64, row.pfn);
	if (has(&row, PAGEDET_FIELD_FLAGS))
		json_flags(f, &row);
	if (has(&row, PAGEDET_FIELD_MAPCOUNT))
		fprintf(f, ",\"mapcount\":%" PRId64, (int64_t)row.mapcount);
	if (pid)
		fprintf(f, ",\"mapper_pid\":%" PRIu32, pid);
	fputc('}', f);
}

static void json_finding(FILE *f, const struct pagedet_finding *x)
{
	uint32_t i;

	json_text(f, "finding", x->name);
	json_text(f, "cause", x->cause);
	json_text(f, "confidence", pagedet_confidence_name(x->confidence));
	fprintf(f, ",\"unknown\":[");
	for (i = 0; i < x->n_unknown; i++) {
		fputs(i ? "," : "", f);
		cli_json_text(f, x->unknown[i], strlen(x->unknown[i]));
	}
	fputc(']', f);
	json_text(f, "advice", x->advice);
}

static void json_run(FILE *f, const struct cli_comparing *c, uint64_t i,
		     uint64_t n)
{
	const struct cli_unlike *u = &c->unlike[i];

	fprintf(f, "{\"differs\":%s,\"pages\":%" PRIu64,
		u->unsure ? "null" : "true", n);
	if (u->compared)
		fprintf(f, ",\"bits\":%" PRIu64 ",\"bytes\":%" PRIu64
			",\"first\":%" PRIu64 ",\"last\":%" PRIu64
			",\"shape\":\"%s\"", u->how.bits, u->how.bytes,
			u->how.first, u->how.last,
			pagedet_shape_name(u->how.shape));
	if (shift_of(u))
		fprintf(f, ",\"shift_bytes\":%" PRId64, shift_of(u));
	if (u->elsewhere == PAGEDET_YES)
		fprintf(f, ",\"same_as_page\":%" PRIu64, u->at);
	if (u->pattern)
		json_text(f, "part_of", pagedet_pattern_name(u->pattern->kind));
	json_side(f, c, i, CLI_HERE);
	json_side(f, c, i, CLI_PEER);
	if (u->finding)
		json_finding(f, u->finding);
	fputs("}\n", f);
}

static bool has_from(const struct pagedet_pattern *p)
{
	return p->kind == PAGEDET_PATTERN_SHIFTED ||
	       p->kind == PAGEDET_PATTERN_MOVED ||
	       p->kind == PAGEDET_PATTERN_EXCHANGED;
}

static void json_patterns(FILE *f, const struct cli_comparing *c)
{
	unsigned i;

	for (i = 0; i < c->n_patterns; i++) {
		const struct pagedet_pattern *p = &c->patterns[i];

		fprintf(f, "{\"pattern\":\"%s\",\"pages\":%" PRIu64
			",\"first_page\":%" PRIu64 ",\"last_page\":%" PRIu64
			",\"equal_between\":%" PRIu64
			",\"different_between\":%" PRIu64 ",\"absent\":%" PRIu64
			",\"swapped\":%" PRIu64 ",\"shift\":",
			pagedet_pattern_name(p->kind), p->pages, p->first,
			p->last, p->equal, p->differ, p->absent, p->swapped);
		if (p->kind == PAGEDET_PATTERN_SHIFTED)
			fprintf(f, "%" PRId64, p->shift);
		else
			fputs("null", f);
		if (has_from(p))
			fprintf(f, ",\"from_page\":%" PRIu64 "}\n", p->from);
		else
			fputs(",\"from_page\":null}\n", f);
	}
}

static void json_total(FILE *f, const struct cli_comparing *c)
{
	fprintf(f, "{\"total\":{\"pages\":%" PRIu64 ",\"same\":%" PRIu64
		",\"different\":%" PRIu64 ",\"unknown\":%" PRIu64
		",\"explained\":%" PRIu64 "}}\n", c->pages, c->equal,
		c->different, c->unknown, c->n);
}

/* --- both --- */

static void emit_runs(FILE *f, const struct cli_comparing *c)
{
	const bool json = c->job->format == PAGEDET_FORMAT_JSON;
	uint64_t i, n;

	if (json)
		json_patterns(f, c);
	else
		text_whole(f, c);
	for (i = 0; i < c->n; i += n) {
		for (n = 1; i + n < c->n && follows(c, i + n); n++)
			;
		if (json)
			json_run(f, c, i, n);
		else
			text_run(f, c, i, n);
	}
	if (json)
		json_total(f, c);
	else
		text_total(f, c);
}

int cli_compare_emit(const struct cli_comparing *c)
{
	struct cli_output out;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int status;

	if (!f)
		return cli_fail_errno("compare");
	emit_runs(f, c);
	if (fclose(f)) {
		free(text);
		return cli_fail_errno("compare");
	}
	status = cli_output_open(&out, c->job->output);
	if (!status)
		status = cli_output_write(out.fd, text, len);
	free(text);
	return cli_output_close(&out, !status && !cli_interrupted(), status);
}
