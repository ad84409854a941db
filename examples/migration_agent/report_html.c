/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the report as one HTML page. It loads nothing, runs no script, and
 * follows the colours of the reader's system. Texts of machines and kernels are
 * escaped.
 */
#include <inttypes.h>
#include <string.h>

#include "agent.h"

#define LISTED 200		/* pages in detail; report.json has all */

static void text(FILE *f, const char *s)
{
	for (; *s; s++)
		switch (*s) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			if ((unsigned char)*s >= 0x20)
				fputc(*s, f);
		}
}

static void tagged(FILE *f, const char *open, const char *s, const char *close)
{
	fputs(open, f);
	text(f, s);
	fputs(close, f);
}

static const char style[] =
"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
"<meta name=\"viewport\" content=\"width=device-width\">\n"
"<title>Migration report</title>\n<style>\n"
":root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--dim:#60666d;\n"
"--line:#d9dce0;--card:#f6f7f8;--good:#18794e;--bad:#c62a2f;--ask:#946800;\n"
"--none:#eceef0;--zero:#cfd4d9;--anon:#5b9bd5;--shmem:#57ab7f;\n"
"--file:#b08bd0;--swap:#e0a33c;--rest:#8b9299;--hit:#e5191f}\n"
"@media(prefers-color-scheme:dark){:root{--bg:#15181b;--fg:#e6e8ea;\n"
"--dim:#9aa1a8;--line:#363c42;--card:#1e2226;--good:#4cc38a;--bad:#ff8589;\n"
"--ask:#f0c000;--none:#23282d;--zero:#3d444b;--anon:#3d74ad;\n"
"--shmem:#3a8560;--file:#7d5ba0;--swap:#b37d1f;--rest:#6b7279;\n"
"--hit:#ff4d53}}\n"
"body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,\n"
"sans-serif;max-width:72rem;margin:0 auto;padding:1.5rem}\n"
"h1{font-size:1.4rem;margin:0 0 .3rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}\n"
".verdict{border-left:.4rem solid;padding:.6rem 1rem;background:var(--card)}\n"
".s0{border-color:var(--good)}.s1{border-color:var(--bad)}\n"
".s2{border-color:var(--ask)}.verdict p{margin:.2rem 0}.big{font-size:1.15rem;\n"
"font-weight:600}table{border-collapse:collapse;width:100%}\n"
"td,th{text-align:left;vertical-align:top;padding:.25rem .8rem .25rem 0;\n"
"border-bottom:1px solid var(--line)}th{font-weight:600;white-space:nowrap}\n"
".dim{color:var(--dim)}code,pre{font:13px/1.45 ui-monospace,monospace}\n"
"pre{overflow-x:auto;margin:.3rem 0}b.x{color:var(--hit)}\n"
".maps{display:flex;flex-wrap:wrap;gap:1.5rem}.maps figure{margin:0;flex:1 1 \n"
"22rem}figcaption{font-weight:600}svg{width:100%;height:auto;\n"
"border:1px solid var(--line);background:var(--none)}\n"
".l{display:inline-block;margin-right:1.2rem}.l i{display:inline-block;\n"
"width:.9em;height:.9em;margin-right:.4em;vertical-align:-.1em;\n"
"border:1px solid var(--line)}\n"
".card{background:var(--card);border:1px solid var(--line);padding:.6rem 1rem;\n"
"margin:.8rem 0}.card h3{font-size:1rem;margin:0}summary{cursor:pointer}\n"
".none{fill:var(--none);background:var(--none)}\n"
".zero{fill:var(--zero);background:var(--zero)}\n"
".anon{fill:var(--anon);background:var(--anon)}\n"
".shmem{fill:var(--shmem);background:var(--shmem)}\n"
".file{fill:var(--file);background:var(--file)}\n"
".swap{fill:var(--swap);background:var(--swap)}\n"
".rest{fill:var(--rest);background:var(--rest)}\n"
".again{fill:#0007;background:#0007}\n"
".hit{fill:var(--hit);background:var(--hit)}\n"
"</style>\n</head>\n<body>\n<h1>Migration report</h1>\n";

/* --- the map --- */

enum state {
	ABSENT, ZERO, ANON, SHMEM, FILE_PAGE, SWAPPED, OTHER, AGAIN, STATES
};

static const struct {
	const char *class, *text;
} states[STATES] = {
	{ "none", "no page: reads as zero" },
	{ "zero", "zero" },
	{ "anon", "anonymous memory" },
	{ "shmem", "shared memory, tmpfs" },
	{ "file", "a file's page" },
	{ "swap", "swapped out" },
	{ "rest", "other, or not readable" },
	{ "again", "sent more than once" },
};

/* Cells per row, and the smallest visible height of a cell. */
#define COLUMNS 256u
#define MAX_CELLS 65536u

static enum state state_of(const struct pagedet_seen *s)
{
	if (s->state == PAGEDET_SEEN_ABSENT)
		return ABSENT;
	if (s->state == PAGEDET_SEEN_ZERO)
		return ZERO;
	if (s->state != PAGEDET_SEEN_DATA)
		return OTHER;
	if (s->bits & PAGEDET_SEEN_SWAPPED)
		return SWAPPED;
	return s->kind == PAGEDET_KIND_ANON ? ANON :
	       s->kind == PAGEDET_KIND_SHMEM ? SHMEM :
	       s->kind == PAGEDET_KIND_FILE ? FILE_PAGE : OTHER;
}

/* The most important state among the pages of a cell. */
static enum state cell_state(const struct agent *a, int side, uint64_t cell,
			     uint64_t per_cell)
{
	enum state most = ABSENT;
	uint64_t i;

	for (i = 0; i < per_cell && cell * per_cell + i < a->pages; i++) {
		const enum state s = state_of(&a->now[side][cell * per_cell +
							    i]);

		if (s > most)
			most = s;
	}
	return most;
}

static uint64_t times_of(const struct agent *a, uint64_t page)
{
	struct pagedet_version_of of = { .size = sizeof(of) };

	pagedet_versions_of(a->versions, page, &of);
	return of.times;
}

/* Whether any page of a cell was sent more than once. */
static bool cell_again(const struct agent *a, uint64_t cell, uint64_t per_cell)
{
	uint64_t i;

	for (i = cell * per_cell; i < (cell + 1) * per_cell; i++)
		if (i < a->pages && times_of(a, i) > 1)
			return true;
	return false;
}

/* Whether a cell has @state; AGAIN is drawn above the others. */
static bool cell_is(const struct agent *a, int side, uint64_t cell,
		    uint64_t per_cell, enum state state)
{
	return state == AGAIN ? cell_again(a, cell, per_cell) :
	       cell_state(a, side, cell, per_cell) == state;
}

static void draw_state(const struct agent *a, int side, enum state state,
		       uint64_t per_cell, FILE *f)
{
	const uint64_t n = (a->pages + per_cell - 1) / per_cell;
	uint64_t i, run;

	fprintf(f, "<path class=\"%s\" d=\"", states[state].class);
	for (i = 0; i < n; i += run) {
		const bool is = cell_is(a, side, i, per_cell, state);

		for (run = 1; i + run < n && (i + run) % COLUMNS; run++)
			if (cell_is(a, side, i + run, per_cell, state) != is)
				break;
		if (is)
			fprintf(f, "M%u %uh%uv1h-%uz", (unsigned)(i % COLUMNS),
				(unsigned)(i / COLUMNS), (unsigned)run,
				(unsigned)run);
	}
	fputs("\"/>\n", f);
}

/*
 * Draws each differing page larger than its size, because it is one of
 * thousands. Its tooltip gives its place.
 */
static void draw_hits(const struct agent *a, uint64_t per_cell, FILE *f)
{
	char place[400];
	uint64_t i;

	for (i = 0; i < a->n_differences; i++) {
		const uint64_t cell = a->differences[i].page / per_cell;

		report_place(a, a->differences[i].page, place, sizeof(place));
		fprintf(f, "<rect class=\"hit\" x=\"%.1f\" y=\"%.1f\" width=\"3"
			"\" height=\"3\"><title>",
			(double)(cell % COLUMNS) - 1.0,
			(double)(cell / COLUMNS) - 1.0);
		text(f, place);
		fputs("</title></rect>\n", f);
	}
}

static void map(const struct agent *a, int side, uint64_t per_cell, FILE *f)
{
	const uint64_t n = (a->pages + per_cell - 1) / per_cell;
	int state;

	tagged(f, "<figure><figcaption>", a->vm[side].name,
	       "</figcaption>\n");
	fprintf(f, "<svg viewBox=\"0 0 %u %u\" role=\"img\" shape-rendering="
		"\"crispEdges\" aria-label=\"memory of the %s\">\n", COLUMNS,
		(unsigned)((n + COLUMNS - 1) / COLUMNS), a->vm[side].name);
	for (state = ZERO; state < AGAIN; state++)
		draw_state(a, side, (enum state)state, per_cell, f);
	if (side == SOURCE && a->tapped && !a->o.blocks)
		draw_state(a, side, AGAIN, per_cell, f);
	draw_hits(a, per_cell, f);
	fputs("</svg></figure>\n", f);
}

static uint64_t count(const struct agent *a, int side, int state)
{
	uint64_t i, n = 0;

	for (i = 0; i < a->pages; i++)
		n += (int)state_of(&a->now[side][i]) == state;
	return n;
}

static void maps(const struct agent *a, FILE *f)
{
	uint64_t per_cell = 1;
	int state;

	while (a->pages / per_cell > MAX_CELLS)
		per_cell *= 2;
	fprintf(f, "<h2>Guest memory on both sides</h2>\n<p class=\"dim\">From "
		"left to right and from top to bottom, %u KiB in a row, %"
		PRIu64 " page%s a dot.</p>\n<div class=\"maps\">\n",
		(unsigned)(COLUMNS * per_cell * PAGE_BYTES / 1024), per_cell,
		per_cell == 1 ? "" : "s");
	map(a, SOURCE, per_cell, f);
	map(a, DESTINATION, per_cell, f);
	fputs("</div>\n<p>", f);
	for (state = 0; state < AGAIN; state++) {
		const uint64_t s = count(a, SOURCE, state);
		const uint64_t d = count(a, DESTINATION, state);

		if (s || d)
			fprintf(f, "<span class=\"l\"><i class=\"%s\"></i>%s: %"
				PRIu64 " and %" PRIu64 "</span>\n",
				states[state].class, states[state].text, s, d);
	}
	if (a->tapped && !a->o.blocks)
		fprintf(f, "<span class=\"l\"><i class=\"again\"></i>%s</span>"
			"\n", states[AGAIN].text);
	if (a->n_differences)
		fprintf(f, "<span class=\"l\"><i class=\"hit\"></i>differs: %"
			PRIu64 "</span>\n", a->n_differences);
	fputs("</p>\n", f);
}

/* --- texts --- */

static void row(FILE *f, const char *name, const char *value)
{
	tagged(f, "<tr><th>", name, "</th><td>");
	tagged(f, "", value, "</td></tr>\n");
}

static void patterns(const struct agent *a, FILE *f)
{
	char line[1200];
	unsigned i;

	if (!a->n_patterns)
		return;
	fputs("<h2>The difference as a whole</h2>\n<ul>\n", f);
	for (i = 0; i < a->n_patterns; i++) {
		report_pattern(a, &a->patterns[i], line, sizeof(line));
		tagged(f, "<li>", line, "</li>\n");
	}
	fputs("</ul>\n", f);
}

static void migration(const struct agent *a, FILE *f)
{
	char line[900], from[40], to[40];

	report_time(a->started_ns, from, sizeof(from));
	report_time(a->ended_ns, to, sizeof(to));
	snprintf(line, sizeof(line), "%s, from %s to %s UTC", a->o.mode_name,
		 from, to);
	row(f, "migration", line);
	if (a->tapped && !a->tap_why[0])
		snprintf(line, sizeof(line), "%" PRIu64 " pages were hashed on "
			 "the way: %" PRIu64 " zero, %" PRIu64 " sent again",
			 report_versions(a).sent, report_versions(a).sent_zero,
			 report_versions(a).sent_again);
	else
		snprintf(line, sizeof(line), "not known: %s", a->tapped ?
			 a->tap_why : "nothing stood between both");
	row(f, "as sent", line);
}

static void summary(const struct agent *a, FILE *f)
{
	char line[900];
	int side;

	report_verdict(a, line, sizeof(line));
	fprintf(f, "<div class=\"verdict s%d\">", (int)report_status(a));
	tagged(f, "<p class=\"big\">", line, "</p>\n");
	tagged(f, "<p>", report_todo(a).text, "</p></div>\n");
	patterns(a, f);
	fputs("<h2>What was done</h2>\n<table>\n", f);
	for (side = 0; side < SIDES; side++) {
		const struct vm *vm = &a->vm[side];

		snprintf(line, sizeof(line), "pid %d, QEMU %s, %s%s",
			 (int)vm->pid, vm->version[0] ? vm->version : "?",
			 vm->dead ? "ended" : vm->status[0] ? vm->status : "?",
			 vm->frozen == PAGEDET_YES ? ", stood still" : "");
		row(f, vm->name, line);
	}
	if (a->o.blocks)
		row(f, "migration", "it was not seen");
	else
		migration(a, f);
	snprintf(line, sizeof(line), "%" PRIu64 " pages: %" PRIu64 " equal, %"
		 PRIu64 " different, %" PRIu64 " not readable", a->pages,
		 a->n_equal, a->n_different, a->n_lost);
	row(f, "compared", line);
	if (join_one_pages(a)) {
		snprintf(line, sizeof(line), "%" PRIu64 " of these, which "
			 "both map: they are equal whatever was done to them",
			 join_one_pages(a));
		row(f, "one memory", line);
	}
	row(f, "memory slots", a->memslots);
	fputs("</table>\n", f);
}

static void blocks(const struct agent *a, FILE *f)
{
	unsigned i;
	int side;

	fputs("<h2>Blocks of memory</h2>\n<table>\n<tr><th>block</th><th>KiB"
	      "</th><th>source</th><th>destination</th></tr>\n", f);
	for (i = 0; i < a->n_blocks; i++) {
		const struct block *b = &a->blocks[i];

		tagged(f, "<tr><td><code>", b->name, "</code></td>");
		fprintf(f, "<td>%" PRIu64 "</td>", b->used >> 10);
		for (side = 0; side < SIDES; side++) {
			const struct backing *at = &b->at[side];

			fputs("<td>", f);
			if (at->hva)
				fprintf(f, "<code>0x%" PRIx64 "</code> ",
					at->hva);
			text(f, !at->hva ? at->why : at->inode ? at->path :
			     "anonymous");
			fputs("</td>", f);
		}
		fputs("</tr>\n", f);
	}
	fputs("</table>\n", f);
}

static void hex(FILE *f, const char *name, const unsigned char *x,
		const unsigned char *y)
{
	unsigned i;

	fprintf(f, "%-12s", name);
	for (i = 0; i < HEX_BYTES; i++)
		fprintf(f, x[i] == y[i] ? "%s%02x" : "%s<b class=\"x\">%02x"
			"</b>", i % 4 ? "" : " ", x[i]);
	fputc('\n', f);
}

static void one_page(const struct agent *a, const struct difference *d,
		     FILE *f)
{
	const struct pagedet_evidence *e = &a->evidence[d - a->differences];
	const uint64_t s = report_pfn(e->here), p = report_pfn(e->peer);
	char line[600];

	report_place(a, d->page, line, sizeof(line));
	tagged(f, "<p><code>", line, "</code><br><span class=\"dim\">");
	if (s != UINT64_MAX)
		fprintf(f, "source pfn 0x%" PRIx64 ", ", s);
	if (p != UINT64_MAX)
		fprintf(f, "destination pfn 0x%" PRIx64 ", ", p);
	report_sent(a, d->page, line, sizeof(line));
	fprintf(f, "source %s, destination %s, sent %s",
		report_look(&a->now[SOURCE][d->page]),
		report_look(&a->now[DESTINATION][d->page]), line);
	if (d->compared && d->how.bits) {
		fprintf(f, "; %" PRIu64 " bits in %" PRIu64 " bytes differ, %"
			PRIu64 " to %" PRIu64 " (%s)</span></p>\n<pre>",
			d->how.bits, d->how.bytes, d->how.first, d->how.last,
			pagedet_shape_name(d->how.shape));
		fprintf(f, "from byte %u\n", d->from);
		hex(f, "source", d->bytes[SOURCE], d->bytes[DESTINATION]);
		hex(f, "destination", d->bytes[DESTINATION],
		    d->bytes[SOURCE]);
		fputs("</pre>\n", f);
	} else {
		fputs("</span></p>\n", f);
	}
}

static void rests_on(const struct pagedet_finding *x, FILE *f)
{
	char value[400];
	uint32_t i;

	fputs("<details><summary>What it rests on, for the first of them"
	      "</summary>\n<table>\n", f);
	for (i = 0; i < x->n_facts; i++) {
		const struct pagedet_fact *fact = &x->facts[i];

		tagged(f, "<tr><th>", fact->field, "</th><td><code>");
		report_fact(fact, value, sizeof(value));
		tagged(f, "", value, "</code></td><td class=\"dim\">");
		fprintf(f, "%s, says ", report_fact_side(fact));
		tagged(f, "", fact->source, "</td></tr>\n");
	}
	for (i = 0; i < x->n_unknown; i++)
		tagged(f, "<tr><th>not known</th><td colspan=\"2\">",
		       x->unknown[i], "</td></tr>\n");
	fputs("</table></details>\n", f);
}

static void one_rule(const struct agent *a, const struct report_rule *r,
		     FILE *f)
{
	const struct pagedet_finding *x = r->finding;
	const char *s = r->n == 1 ? "" : "s";
	uint64_t i, n = 0;

	fprintf(f, "<div class=\"card\"><h3>%" PRIu64 " page%s: ", r->n, s);
	tagged(f, "", x->cause, "</h3>\n<p>Confidence: ");
	tagged(f, "<b>", x->verdict == PAGEDET_VERDICT_CANNOT_TELL ?
	       "cannot tell" : pagedet_confidence_name(x->confidence), "</b>");
	tagged(f, " <span class=\"dim\">(rule ", x->name, ")</span>");
	if (x->likely[0]) {
		tagged(f, "<br>Likely: ", x->likely, " (confidence: ");
		fprintf(f, "%s)", pagedet_confidence_name(
				x->likely_confidence));
	}
	tagged(f, "<br>What to do: ", report_advice_of(a, x), "</p>\n");
	rests_on(x, f);
	fprintf(f, "<details%s><summary>The page%s</summary>\n",
		r->n <= 10 ? " open" : "", s);
	for (i = 0; i < a->n_differences; i++) {
		const struct pagedet_finding *y = a->differences[i].finding;

		if (y && report_is_alike(x, y) && n++ < LISTED)
			one_page(a, &a->differences[i], f);
	}
	if (n > LISTED)
		fprintf(f, "<p>And %" PRIu64 " more: all are in report.json."
			"</p>\n", n - LISTED);
	fputs("</details></div>\n", f);
}

int report_html(const struct agent *a, FILE *f)
{
	struct report_rule rules[REPORT_RULES];
	const unsigned n = report_rules(a, rules, REPORT_RULES);
	unsigned i;

	fputs(style, f);
	summary(a, f);
	if (a->n_equal + a->n_different + a->n_lost)
		maps(a, f);
	if (n)
		fputs("<h2>Findings</h2>\n", f);
	for (i = 0; i < n; i++)
		one_rule(a, &rules[i], f);
	if (report_others(a, rules, n))
		fprintf(f, "<p>Findings of %" PRIu64 " more pages are in "
			"report.json.</p>\n", report_others(a, rules, n));
	blocks(a, f);
	fputs("</body>\n</html>\n", f);
	return ferror(f) ? -1 : 0;
}
