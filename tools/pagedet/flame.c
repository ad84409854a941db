/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes stacks as lines for flame graph tools, or as a picture. In the picture
 * the outermost functions are at the bottom. The width of a box shows the value
 * of the stacks that go through it, and its tooltip the number. Boxes that are
 * too narrow to see are left out.
 */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define WIDTH 1200.0
#define MARGIN 10.0
#define ROW 17
#define NARROW 0.3		/* pixels */
#define LETTER 7.0
#define DEPTH_MAX 1000		/* deepest row that is drawn */

struct stack {
	char **frame;		/* outermost first */
	uint32_t n;
	uint64_t value;
};

struct stacks {
	struct stack *data;
	size_t n, max;
};

/* Leaves out the parts of a name that differ between builds of the kernel. */
static size_t name_length(const char *frame)
{
	return strcspn(frame, "+");
}

/* ';', blanks and ends of lines have a meaning there, and the name of a process
 * or of a file may have any letter. */
static void put_letters(FILE *f, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		putc(text[i] == ';' || (unsigned char)text[i] <= ' ' ||
		     text[i] == 127 ? '_' : text[i], f);
}

static void put_name(FILE *f, const char *frame)
{
	const size_t len = name_length(frame);
	const char *module = strchr(frame + len, '[');

	put_letters(f, frame, len);
	if (!module)
		return;
	putc('_', f);
	put_letters(f, module, strcspn(module, " ]"));
	putc(']', f);
}

int cli_flame_check(const struct cli_job *job, bool has_stacks)
{
	const char *name = job->flame ? "flame" : "folded";
	const int status = cli_png_check(job->flame);

	if (status || (!job->flame && !job->folded))
		return status;
	if (!has_stacks)
		return cli_usage("--%s needs --by stack", name);
	if (job->flame && job->output)
		return cli_usage("--flame FILE is the output: -o cannot be "
				 "used");
	if (job->flame && job->folded)
		return cli_usage("--flame cannot be combined with --folded");
	if (job->before)
		return cli_usage("--%s cannot be combined with --before", name);
	return CLI_ANSWERED;
}

int cli_folded(struct cli_stacks *s, FILE *f)
{
	uint32_t i;
	int r;

	while ((r = s->next(s)) == 1) {
		if (!s->n)
			fputs("unknown", f);
		for (i = s->n; i > 0; i--) {
			put_name(f, s->frame[i - 1]);
			if (i > 1)
				putc(';', f);
		}
		fprintf(f, " %llu\n", (unsigned long long)s->value);
	}
	return r < 0 ? cli_fail_errno("cannot write stacks") : CLI_ANSWERED;
}

/* --- the picture --- */

static void stacks_free(struct stacks *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		for (k = 0; k < s->data[i].n; k++)
			free(s->data[i].frame[k]);
		free(s->data[i].frame);
	}
	free(s->data);
}

static bool add(struct stacks *s, const struct cli_stacks *from)
{
	struct stack *more = s->data, *to;
	uint32_t i;

	if (s->n == s->max) {
		s->max = s->max ? 2 * s->max : 64;
		more = realloc(s->data, s->max * sizeof(*more));
		if (!more)
			return false;
		s->data = more;
	}
	to = &s->data[s->n++];
	*to = (struct stack){ .value = from->value };
	to->frame = calloc(from->n + 1, sizeof(*to->frame));
	for (i = 0; to->frame && i < from->n; i++, to->n++) {
		const char *name = from->frame[from->n - 1 - i];

		to->frame[i] = strndup(name, name_length(name));
		if (!to->frame[i])
			break;
	}
	return to->frame && to->n == from->n;
}

static int compare(const void *pa, const void *pb)
{
	const struct stack *a = pa, *b = pb;
	uint32_t i;
	int r;

	for (i = 0; i < a->n && i < b->n; i++) {
		r = strcmp(a->frame[i], b->frame[i]);
		if (r)
			return r;
	}
	return (a->n > b->n) - (a->n < b->n);
}

void cli_xml_text(FILE *f, const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len && text[i]; i++) {
		switch (text[i]) {
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '&':
			fputs("&amp;", f);
			break;
		default:
			putc(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?',
			     f);
		}
	}
}

/* A function has the same warm colour in every picture. */
static void put_colour(FILE *f, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	fprintf(f, "rgb(%u,%u,%u)", 205 + hash % 50, hash / 50 % 180,
		hash / 9000 % 55);
}

struct picture {
	FILE *f;
	const struct stacks *s;
	const struct cli_stacks *from;
	uint64_t total;
	int height;
};

static void put_box(const struct picture *p, const char *name, uint64_t at,
		    uint64_t value, uint32_t depth)
{
	const double scale = (WIDTH - 2 * MARGIN) / (double)p->total;
	const double x = MARGIN + (double)at * scale;
	const double width = (double)value * scale;
	const int y = p->height - 20 - (int)(depth + 1) * ROW;
	const double letters = (width - 4) / LETTER;

	if (width < NARROW)
		return;
	fprintf(p->f, "<g><title>");
	cli_xml_text(p->f, name, SIZE_MAX);
	fprintf(p->f, ": %llu %s, %.2f%%</title><rect x=\"%.1f\" "
		"y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"1\" fill=\"",
		(unsigned long long)value,
		value == 1 ? p->from->unit : p->from->units,
		100.0 * (double)value / (double)p->total, x, y, width,
		ROW - 1);
	put_colour(p->f, name);
	fputs("\"/>", p->f);
	if (letters >= 3) {
		fprintf(p->f, "<text x=\"%.1f\" y=\"%d\">", x + 2, y + 12);
		cli_xml_text(p->f, name, (size_t)letters);
		fputs("</text>", p->f);
	}
	fputs("</g>\n", p->f);
}

static uint64_t value_of(const struct picture *p, size_t first, size_t end)
{
	uint64_t value = 0;

	for (; first < end; first++)
		value += p->s->data[first].value;
	return value;
}

/*
 * Draws the boxes at @depth, from @at on, for stacks @first .. @end - 1, whose
 * frames below it are the same.
 */
static void put_boxes(const struct picture *p, size_t first, size_t end,
		      uint64_t at, uint32_t depth)
{
	const struct stack *s = p->s->data;
	size_t i;

	if (depth == DEPTH_MAX)
		return;
	for (; first < end; first = i) {
		uint64_t value;

		for (i = first + 1; i < end; i++)
			if (s[first].n <= depth || s[i].n <= depth ||
			    strcmp(s[i].frame[depth], s[first].frame[depth]))
				break;
		value = value_of(p, first, i);
		if (s[first].n > depth) {
			put_box(p, s[first].frame[depth], at, value,
				depth + 1);
			put_boxes(p, first, i, at, depth + 1);
		}
		at += value;
	}
}

static void put_picture(FILE *f, const struct stacks *s,
			const struct cli_stacks *from)
{
	struct picture p = { .f = f, .s = s, .from = from };
	uint32_t deepest = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		deepest = s->data[i].n > deepest ? s->data[i].n : deepest;
	if (deepest > DEPTH_MAX)
		deepest = DEPTH_MAX;
	p.total = value_of(&p, 0, s->n);
	p.height = (int)(deepest + 1) * ROW + 60;
	fprintf(f, "<?xml version=\"1.0\"?>\n<svg version=\"1.1\" "
		"xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%d\" viewBox=\"0 0 %.0f %d\" "
		"font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fffdf5\"/>\n"
		"<text x=\"%.0f\" y=\"20\" font-size=\"15\">%s</text>\n",
		WIDTH, p.height, WIDTH, p.height, MARGIN, from->title);
	if (p.total) {
		put_box(&p, "all", 0, p.total, 0);
		put_boxes(&p, 0, s->n, 0, 0);
	}
	fputs("</svg>\n", f);
}

int cli_flame(struct cli_stacks *from, FILE *f)
{
	struct stacks s = { NULL, 0, 0 };
	bool ok = true;
	int r;

	while ((r = from->next(from)) == 1 && ok)
		ok = add(&s, from);
	ok = ok && r == 0;
	if (ok) {
		qsort(s.data, s.n, sizeof(*s.data), compare);
		put_picture(f, &s, from);
	}
	stacks_free(&s);
	return ok ? CLI_ANSWERED : cli_fail_errno("cannot draw stacks");
}
