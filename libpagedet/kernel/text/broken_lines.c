/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A line without the prefix that others have may be the rest of the line before
 * it, or be of somebody else. The widths near it tell: a terminal breaks lines
 * at exactly one width, and a mail client where the next word would not fit. If
 * these do not tell, and neither does the form of a report, the end of the line
 * may be missing. Lines without prefix are only joined as the form tells.
 *
 * At most 32 lines wait, and 16 KB are kept. Records of /dev/kmsg do not wait,
 * nor lines that are longer than those of terminals.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "kernel/text/broken_lines.h"
#include "kernel/text/report_form.h"

/* Lines that are compared: those before, and those that wait. */
#define BEFORE 32
#define WAITING 32
#define RING 64			/* a power of 2 */

/* A longer line is not broken, or not at a width. */
#define LONGEST 256

/* So many lines are looked at before one is judged. */
#define ENOUGH 16

/* Widths are at least that, without a word that did not fit. */
#define NARROWEST 50

/* So many lines of exactly one width are not a coincidence. */
#define ALIKE 3

/* Bytes at the beginning of a prefix that are compared. */
#define SIGN 10

enum kind {
	EMPTY,
	PREFIXED,
	PLAIN
};

struct piece {
	uint16_t len;		/* bytes */
	bool measured;		/* whether the next two are known */
	uint16_t width;		/* characters, ... */
	uint16_t inked;		/* ... without blanks at the end */
	uint16_t first;		/* characters of its first word */
	uint8_t kind;
	bool words;		/* it has more than one */
	bool begins;		/* as a line of a report does */
	bool opens;		/* as a report does */
	bool indented;		/* by a blank */
};

struct pdet_broken_lines {
	struct pdet_broken_ops ops;
	struct piece ring[RING];
	uint64_t next, end;	/* the first that waits, and behind the last */
	unsigned n_sign;
	uint8_t sign[SIGN];
	uint64_t first;		/* bytes of the last line with the sign */
	char text[RING][LONGEST];
	char line[WAITING * (LONGEST + 3) + 1];
};

struct pdet_broken_lines *
pdet_broken_lines_new(const struct pdet_broken_ops *ops)
{
	struct pdet_broken_lines *b = calloc(1, sizeof(*b));

	if (b)
		b->ops = *ops;
	return b;
}

void pdet_broken_lines_free(struct pdet_broken_lines *b)
{
	free(b);
}

/* --- one line --- */

/* What kind of character it is: digits are padded with blanks. */
static uint8_t class_of(char c)
{
	if ((c >= '0' && c <= '9') || c == ' ')
		return '0';
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c & 0x80)
		return 'a';
	return (uint8_t)c;
}

/* Whether a line begins as the last one with a prefix. */
static bool has_sign(const struct pdet_broken_lines *b, struct pdet_scan s)
{
	unsigned i;

	if (!b->n_sign || s.end - s.at < SIGN)
		return false;
	for (i = 0; i < b->n_sign; i++)
		if (class_of(s.at[i]) != b->sign[i])
			return false;
	return true;
}

static void keep_sign(struct pdet_broken_lines *b, struct pdet_scan s,
		      size_t prefix)
{
	unsigned i;

	b->n_sign = 0;
	if (prefix < 3 || s.end - s.at < SIGN)
		return;
	for (i = 0; i < SIGN && i < prefix; i++)
		b->sign[i] = class_of(s.at[i]);
	b->n_sign = i;
}

/* Characters of UTF-8. */
static size_t width_of(const char *at, size_t len)
{
	const uint64_t high = 0x8080808080808080;
	size_t n = len;
	uint64_t eight;

	for (; len >= 8; at += 8, len -= 8) {
		memcpy(&eight, at, 8);
		if (eight & high)
			n -= (size_t)__builtin_popcountll(eight & high &
							  ~(eight << 1));
	}
	for (; len; at++, len--)
		n -= (*at & 0xc0) == 0x80;
	return n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* What quotes a line in a mail. */
static struct pdet_scan without_quotation(struct pdet_scan s)
{
	while (pdet_scan_char(&s, '>'))
		pdet_scan_char(&s, ' ');
	return s;
}

/* What only matters without a prefix. */
static void look_at_words(struct pdet_scan s, struct piece *p)
{
	struct pdet_scan rest = without_quotation(s), word;

	word = pdet_scan_token(&rest);
	pdet_scan_blanks(&rest);
	p->first = (uint16_t)width_of(word.at, (size_t)(word.end - word.at));
	p->kind = word.at == word.end ? EMPTY : PLAIN;
	p->indented = s.at < s.end && is_blank(*s.at);
	/* "-- Boot 7f1c...", "-- Reboot --" of the journal */
	if (pdet_scan_is(&word, "--"))
		p->kind = EMPTY;
	p->words = rest.at < rest.end;
	rest = (struct pdet_scan){ word.at, s.end };
	p->begins = pdet_report_begins(rest);
	p->opens = pdet_report_opens(rest);
}

static struct pdet_scan text_of(const struct pdet_broken_lines *b, uint64_t i)
{
	const char *const at = b->text[i % RING];

	return (struct pdet_scan){ at, at + b->ring[i % RING].len };
}

static void measure(struct pdet_broken_lines *b, uint64_t i)
{
	const struct pdet_scan s = text_of(b, i);
	struct piece *const p = &b->ring[i % RING];
	const char *end = s.end;

	if (p->measured)
		return;
	p->measured = true;
	p->width = (uint16_t)width_of(s.at, p->len);
	while (end > s.at && is_blank(end[-1]))
		end--;
	p->inked = (uint16_t)(p->width - (s.end - end));
}

/* Keep a line with the sign of the last ones. */
static void keep(struct pdet_broken_lines *b, struct pdet_scan s)
{
	const size_t len = (size_t)(s.end - s.at);

	memcpy(b->text[b->end % RING], s.at, len);
	b->ring[b->end++ % RING] = (struct piece){
		.len = (uint16_t)len, .kind = PREFIXED, .words = true,
	};
}

static void add(struct pdet_broken_lines *b, struct pdet_scan s)
{
	struct piece *const p = &b->ring[b->end % RING];
	const bool sign = has_sign(b, s);
	size_t prefix;

	keep(b, s);
	if (!sign) {
		look_at_words(s, p);
		prefix = p->kind == EMPTY ? 0 :
			b->ops.prefix(b->ops.user, without_quotation(s));
		if (!prefix)
			return;
		p->kind = PREFIXED;
		p->words = true;
		keep_sign(b, s, prefix);
	}
	if (b->n_sign >= sizeof(b->first))
		memcpy(&b->first, s.at, sizeof(b->first));
}

/* --- the lines near it --- */

/* How lines were broken. */
struct habit {
	unsigned width, inked;	/* of the longest lines */
	unsigned exactly;	/* lines of that width, and a rest */
	unsigned fitting;	/* others whose rest would not have fitted */
	unsigned others;	/* lines before one that is not a rest */
};

static const struct piece *piece(const struct pdet_broken_lines *b, uint64_t i)
{
	return &b->ring[i % RING];
}

/* Whether @next may be the rest of @p, which could not have taken its first
 * word. */
static bool fits(const struct piece *p, const struct piece *next,
		 const struct habit *h)
{
	return p->width == h->width ||
	       (unsigned)p->inked + 1 + next->first > h->inked;
}

/* Compare lines as @kind begins them. */
static void learn(struct pdet_broken_lines *b, enum kind kind,
		  struct habit *ret)
{
	const uint64_t from = b->next > BEFORE ? b->next - BEFORE : 0;
	bool open = false;
	uint64_t i;

	*ret = (struct habit){ 0 };
	for (i = from; i < b->end; i++) {
		const struct piece *p = piece(b, i);

		measure(b, i);
		open = p->kind == kind || (open && p->kind == PLAIN);
		if (!open || !p->words)
			continue;
		ret->width = PDET_MAX(ret->width, p->width);
		ret->inked = PDET_MAX(ret->inked, p->inked);
	}
	open = false;
	for (i = from; i + 1 < b->end; i++) {
		const struct piece *p = piece(b, i), *next = piece(b, i + 1);

		open = p->kind == kind || (open && p->kind == PLAIN);
		if (!open || next->kind != PLAIN ||
		    (kind == PLAIN &&
		     (!p->begins || next->begins || next->indented)))
			continue;
		if (p->width == ret->width)
			ret->exactly++;
		else if (fits(p, next, ret))
			ret->fitting++;
		else
			ret->others++;
	}
}

enum verdict {
	WHOLE,
	WORD,			/* the next line is its rest: directly, */
	BLANK,			/* behind a blank, */
	PADDED,			/* or behind blanks up to the width */
	OPEN,			/* the end may be missing */
	WAIT			/* more lines may tell */
};

static enum verdict by_form(enum pdet_report_joint joint)
{
	switch (joint) {
	case PDET_REPORT_WHOLE:
		return WHOLE;
	case PDET_REPORT_WORD:
		return WORD;
	case PDET_REPORT_BLANK:
		return BLANK;
	default:
		return WAIT;
	}
}

/* @p and @next have the kinds PREFIXED or PLAIN, and PLAIN; @line, without
 * prefix, ends with @p. */
static enum verdict judge_prefixed(struct pdet_broken_lines *b,
				   const struct piece *p,
				   const struct piece *next,
				   enum pdet_report_joint joint,
				   unsigned *width)
{
	struct habit h;

	if (joint == PDET_REPORT_WHOLE)
		return WHOLE;
	learn(b, PREFIXED, &h);
	*width = h.width;
	if (h.width < NARROWEST)
		return WHOLE;
	if (h.exactly >= ALIKE && h.fitting * 4 <= h.exactly) {
		if (p->width == h.width)
			return WORD;
		return p->width < h.width && p->width + 2u >= h.width &&
		       p->width == p->inked ? PADDED : WHOLE;
	}
	/* Several blanks between words do not count as one. */
	if (h.fitting && h.fitting + h.exactly >= 2 &&
	    h.others * 3 <= h.fitting && fits(p, next, &h))
		return BLANK;
	if (joint)
		return by_form(joint);
	if (!fits(p, next, &h))
		return h.fitting >= 2 && h.others * 3 <= h.fitting ?
			OPEN : WHOLE;
	/* A line of the kernel that has lost its prefix is one of its own. */
	return h.others > h.fitting + h.exactly || next->opens ?
		WHOLE : WAIT;
}

/* Digits and what is between them, as where a number was broken. */
static bool is_fragment(struct pdet_scan s)
{
	const struct pdet_scan word = pdet_scan_token(&s);
	const char *at = word.at;

	while (at < word.end && (pdet_hex_digit(*at) < 16 ||
				 strchr("x:=+/|-)],.", *at)))
		at++;
	return at > word.at && at == word.end;
}

/* Without prefixes, where most lines begin with a blank that go on in another
 * way, as stacks. */
static enum verdict judge_plain(struct pdet_broken_lines *b,
				const struct piece *p,
				const struct piece *next,
				struct pdet_scan more,
				enum pdet_report_joint joint)
{
	unsigned pairs;
	struct habit h;

	if (!piece(b, b->next)->begins || joint == PDET_REPORT_WHOLE ||
	    (next->begins && joint != PDET_REPORT_BLANK))
		return WHOLE;
	learn(b, PLAIN, &h);
	if (h.width < NARROWEST)
		return WHOLE;
	if (joint)
		return by_form(joint);
	pairs = h.exactly + h.fitting;
	if (!fits(p, next, &h))
		return WHOLE;
	if (h.exactly >= ALIKE && p->width == h.width)
		return OPEN;
	if (next->indented)
		return WHOLE;
	return is_fragment(more) ||
	       (pairs >= ALIKE && h.others * 3 <= pairs) ? OPEN : WHOLE;
}

/* --- lines that wait --- */

/* Leave out the last word or number of a line, which may be incomplete. */
static size_t leave_open(char *line, size_t n)
{
	static const char before[] = " \t:=/(|,";

	while (n && is_blank(line[n - 1]))
		n--;
	while (n && !strchr(before, line[n - 1]))
		n--;
	line[n++] = PDET_BROKEN_END;
	return n;
}

static int give(struct pdet_broken_lines *b, struct pdet_scan line, unsigned n)
{
	b->next += n;
	return b->ops.take(b->ops.user, line, n);
}

static enum verdict judge(struct pdet_broken_lines *b, size_t len,
			  size_t prefix, unsigned n, unsigned *width)
{
	const struct piece *const first = piece(b, b->next);
	const struct piece *const p = piece(b, b->next + n - 1);
	const struct piece *const next = piece(b, b->next + n);
	const struct pdet_scan text = { b->line + prefix, b->line + len };
	const struct pdet_scan more = without_quotation(
		text_of(b, b->next + n));
	enum pdet_report_joint joint;

	if (next->kind != PLAIN || first->kind == EMPTY)
		return WHOLE;
	joint = pdet_report_joint(text, more);
	return first->kind == PREFIXED ?
		judge_prefixed(b, p, next, joint, width) :
		judge_plain(b, p, next, more, joint);
}

/* Append the rest that the verdict is about. */
static size_t join(struct pdet_broken_lines *b, size_t len, enum verdict v,
		   unsigned n, unsigned width)
{
	const struct piece *const p = piece(b, b->next + n - 1);
	struct pdet_scan more = text_of(b, b->next + n);
	unsigned pad = v == PADDED ? width - p->width : 0;

	if (b->line[0] == '>')
		more = without_quotation(more);
	if (v == BLANK && !is_blank(b->line[len - 1]) && !is_blank(*more.at))
		pad = 1;
	for (; pad; pad--)
		b->line[len++] = ' ';
	memcpy(b->line + len, more.at, (size_t)(more.end - more.at));
	return len + (size_t)(more.end - more.at);
}

/* Give the first line, with its rest. Returns 1, 0 if it waits, or a negative
 * errno. */
static int give_first(struct pdet_broken_lines *b, bool now)
{
	const struct piece *const first = piece(b, b->next);
	const struct pdet_scan text = text_of(b, b->next);
	size_t len = first->len, prefix = 0;
	unsigned n = 1, width = 0;
	enum verdict v = WHOLE;
	int r;

	/* The most frequent case */
	if (b->end - b->next > 1 &&
	    (first->kind == EMPTY || piece(b, b->next + 1)->kind != PLAIN)) {
		r = give(b, text, 1);
		return r < 0 ? r : 1;
	}
	if (!now && b->end < ENOUGH)
		return 0;
	memcpy(b->line, text.at, len);
	if (first->kind == PREFIXED && b->end - b->next > 1)
		prefix = b->ops.prefix(b->ops.user, text);
	for (; b->next + n < b->end; n++) {
		v = judge(b, len, PDET_MIN(prefix, len), n, &width);
		if (v == WHOLE || v >= OPEN)
			break;
		len = join(b, len, v, n, width);
		v = WHOLE;
	}
	if (!now && (b->next + n == b->end || v == WAIT))
		return 0;
	if (v >= OPEN)
		len = leave_open(b->line, len);
	r = give(b, (struct pdet_scan){ b->line, b->line + len }, n);
	return r < 0 ? r : 1;
}

/* Give lines until the first one waits. */
static int settle(struct pdet_broken_lines *b, bool now)
{
	int r = 1;

	while (r > 0 && b->next < b->end)
		r = give_first(b, now || b->end - b->next >= WAITING);
	return r < 0 ? r : 0;
}

/* "6,363,12875760,-;text", or a line that is complete for another reason. */
static bool is_record(struct pdet_scan s)
{
	uint64_t n;

	return s.at < s.end && *s.at <= '9' && pdet_scan_dec(&s, &n) &&
	       pdet_scan_char(&s, ',') && pdet_scan_dec(&s, &n) &&
	       pdet_scan_char(&s, ',');
}

/* Whether a line and the one that waits, if there is one, certainly have a
 * prefix: most lines, in little time. */
static bool is_plain_case(const struct pdet_broken_lines *b,
			  struct pdet_scan s)
{
	return b->n_sign >= sizeof(b->first) &&
	       s.end - s.at >= SIGN && s.end - s.at <= LONGEST &&
	       !memcmp(s.at, &b->first, sizeof(b->first)) &&
	       (b->end == b->next ||
		(b->end == b->next + 1 && piece(b, b->next)->kind == PREFIXED));
}

int pdet_broken_lines_feed(struct pdet_broken_lines *b, struct pdet_scan line)
{
	static const char detective[] = "Page Detective: ";
	struct pdet_scan s = line;
	int r;

	if (line.at < line.end && line.end[-1] == '\r')
		line.end--;
	if (is_plain_case(b, line)) {
		r = b->next < b->end ? give(b, text_of(b, b->next), 1) : 0;
		keep(b, line);
		return r;
	}
	if (line.end - line.at > LONGEST || is_record(line) ||
	    pdet_scan_word(&s, detective)) {
		r = settle(b, true);
		return r < 0 ? r : b->ops.take(b->ops.user, line, 1);
	}
	add(b, line);
	return settle(b, false);
}

int pdet_broken_lines_end(struct pdet_broken_lines *b)
{
	return settle(b, true);
}
