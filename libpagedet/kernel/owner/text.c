/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses page_owner's text. The text has gigabytes, so each byte is examined
 * once: numbers and words by hand, the stack 16 bytes at a time.
 *
 * Only a task's name may come from a hostile program. It may imitate the text
 * that follows it, and may hold newlines, but has at most 15 bytes. The parser
 * therefore takes the last position within reach where the following text can
 * begin.
 */
#include <string.h>

#include "base/env.h"
#include "kernel/owner/text.h"

#define COMM_MAX 15

/* Most decimal digits that always fit into 64 bits. */
#define DIGITS 19

typedef unsigned char vec16 __attribute__((vector_size(16)));

static const char begins[] = "Page allocated via order ";

/* Skips a literal. */
#define WORD(s, word) \
	((size_t)((s)->end - (s)->at) >= sizeof(word) - 1 && \
	 !memcmp((s)->at, (word), sizeof(word) - 1) && \
	 ((s)->at += sizeof(word) - 1, true))

static inline bool decimal(struct pdet_scan *s, uint64_t *ret)
{
	const char *at = s->at;
	uint64_t value = 0;
	unsigned digit;

	for (; at < s->end && (digit = (unsigned)(*at - '0')) < 10; at++) {
		/* rare; keeps the test of each digit cheap */
		if (at - s->at >= DIGITS)
			return pdet_scan_dec(s, ret);
		value = value * 10 + digit;
	}
	if (at == s->at)
		return false;
	s->at = at;
	*ret = value;
	return true;
}

static inline bool decimal32(struct pdet_scan *s, uint32_t *ret)
{
	struct pdet_scan at = *s;
	uint64_t value;

	if (!decimal(&at, &value) || value > UINT32_MAX)
		return false;
	*s = at;
	*ret = (uint32_t)value;
	return true;
}

static inline unsigned hex_digit(char c)
{
	const unsigned digit = (unsigned)(c - '0');
	const unsigned letter = (unsigned)(c - 'a');

	return digit < 10 ? digit : letter < 6 ? letter + 10 : 16;
}

/* "0x10", or "0", as %#x prints it. */
static inline bool hex(struct pdet_scan *s, uint64_t *ret)
{
	uint64_t value = 0;
	const char *at;
	unsigned digit;

	if (!WORD(s, "0x")) {
		*ret = 0;
		return WORD(s, "0");
	}
	for (at = s->at; at < s->end && (digit = hex_digit(*at)) < 16; at++)
		value = value << 4 | digit;
	if (at == s->at || at - s->at > 16)
		return false;
	s->at = at;
	*ret = value;
	return true;
}

/* The text up to @c, which must be on the same line. */
static inline bool until(struct pdet_scan *s, char c, struct pdet_scan *ret)
{
	const char *at = s->at;

	while (at < s->end && *at != c && *at != '\n')
		at++;
	if (at == s->end || *at != c)
		return false;
	*ret = (struct pdet_scan){ s->at, at };
	s->at = at + 1;
	return true;
}

/* The same for a distant @c. The text expected after @c is missing if @c is on
 * another line. */
static inline bool until_far(struct pdet_scan *s, char c,
			     struct pdet_scan *ret)
{
	const char *at = memchr(s->at, c, (size_t)(s->end - s->at));

	if (!at)
		return false;
	*ret = (struct pdet_scan){ s->at, at };
	s->at = at + 1;
	return true;
}

/* ", ts 5 ns, free_ts 7 ns", the end of the first line. */
static bool times(struct pdet_scan *s, struct pdet_owner_record *r)
{
	struct pdet_scan at = *s;
	unsigned has = PDET_OWNER_NS;

	if (!WORD(&at, ", ts ") || !decimal(&at, &r->ns) || !WORD(&at, " ns"))
		return false;
	if (WORD(&at, ", free_ts ")) {
		if (!decimal(&at, &r->free_ns) || !WORD(&at, " ns"))
			return false;
		has |= PDET_OWNER_FREE_NS;
	}
	if (!WORD(&at, "\n"))
		return false;
	r->has |= has;
	*s = at;
	return true;
}

static bool name_and_times(struct pdet_scan *s, struct pdet_owner_record *r)
{
	const char *last = s->at + PDET_MIN(s->end - s->at, COMM_MAX + 1);
	struct pdet_scan at = *s, found = *s;
	const char *p;
	bool any = false;

	for (p = s->at; p < last; p++) {
		if (*p != ')')
			continue;
		at.at = p + 1;
		if (!times(&at, r))
			continue;
		r->comm = (struct pdet_scan){ s->at, p };
		found = at;
		any = true;
	}
	if (any)
		s->at = found.at;
	return any;
}

static bool mask(struct pdet_scan *s, unsigned skip,
		 struct pdet_owner_record *r)
{
	struct pdet_scan all;

	if (!WORD(s, ", mask "))
		return false;
	if (skip & PDET_OWNER_SKIP_GFP)
		return until_far(s, ')', &all);
	return hex(s, &r->gfp_mask) && WORD(s, "(") &&
	       until_far(s, ')', &r->gfp);
}

/* Parse the rest of the first line, after the order. */
static bool first_line(struct pdet_scan *s, unsigned skip,
		       struct pdet_owner_record *r)
{
	if (!decimal32(s, &r->order) || r->order > PDET_OWNER_MOST_ORDER ||
	    !mask(s, skip, r))
		return false;
	r->pages = (uint64_t)1 << r->order;
	if (!WORD(s, ", pid "))
		return WORD(s, "\n");
	r->has |= PDET_OWNER_PID;
	if (!decimal32(s, &r->pid))
		return false;
	if (!WORD(s, ", tgid "))
		return times(s, r);
	r->has |= PDET_OWNER_TGID;
	return decimal32(s, &r->tgid) && WORD(s, " (") &&
	       name_and_times(s, r);
}

static bool pfn_line(struct pdet_scan *s, unsigned skip,
		     struct pdet_owner_record *r)
{
	const char *end;

	if (!WORD(s, "PFN "))
		return false;
	/* hex since about 5.18, decimal before */
	if (!(skip & PDET_OWNER_SKIP_PAGE) &&
	    (!(s->end - s->at > 1 && s->at[1] == 'x' ?
	       hex(s, &r->pfn) : decimal(s, &r->pfn)) ||
	     !WORD(s, " type ") || !until(s, ' ', &r->type) ||
	     !WORD(s, "Block ") || !decimal(s, &r->block) ||
	     !WORD(s, " type ") || !until(s, ' ', &r->block_type)))
		return false;
	end = memchr(s->at, '\n', (size_t)(s->end - s->at));
	if (!end)
		return false;
	r->flags = (struct pdet_scan){ s->at, end };
	s->at = end + 1;
	return true;
}

/* True if one of these 16 bytes is a newline without a blank after it. */
static inline bool ends_within(const char *at)
{
	vec16 here, next, hit;
	uint64_t half[2];

	memcpy(&here, at, 16);
	memcpy(&next, at + 1, 16);
	hit = (vec16)(here == '\n') & ~(vec16)(next == ' ');
	memcpy(half, &hit, 16);
	return half[0] | half[1];
}

/* Skip the lines that begin with a blank. */
static void stack_lines(struct pdet_scan *s, struct pdet_owner_record *r)
{
	const char *at = s->at, *end;

	r->stack = (struct pdet_scan){ at, at };
	if (at == s->end || *at != ' ')
		return;
	while (s->end - at > 16 && !ends_within(at))
		at += 16;
	for (;;) {
		end = memchr(at, '\n', (size_t)(s->end - at));
		at = end ? end + 1 : s->end;
		if (at == s->end || *at != ' ')
			break;
	}
	r->stack.end = at;
	s->at = at;
}

static bool rest_of_line(struct pdet_scan *s, struct pdet_scan *ret)
{
	return until(s, '\n', ret);
}

/* False if a line belongs to no record. */
static bool notes(struct pdet_scan *s, struct pdet_owner_record *r)
{
	while (s->at < s->end && *s->at != '\n') {
		if (WORD(s, "Charged ")) {
			r->has |= PDET_OWNER_CHARGED;
			if (WORD(s, "(via objcg) "))
				r->has |= PDET_OWNER_OBJCG;
			if (!WORD(s, "to "))
				return false;
			if (WORD(s, "offline "))
				r->has |= PDET_OWNER_OFFLINE;
			if (!WORD(s, "memcg ") || !rest_of_line(s, &r->memcg))
				return false;
		} else if (WORD(s, "Slab cache page\n")) {
			r->has |= PDET_OWNER_SLAB;
		} else if (WORD(s, "Page has been migrated, "
				   "last migrate reason: ")) {
			r->has |= PDET_OWNER_MIGRATED;
			if (!rest_of_line(s, &r->reason))
				return false;
		} else {
			return false;
		}
	}
	return true;
}

/* True at the empty line, or at the end of a text that may end here. */
static bool closed(struct pdet_scan *s, bool last)
{
	if (s->at < s->end)
		return WORD(s, "\n");
	return last && s->at[-1] == '\n';
}

static bool allocation(struct pdet_scan *s, bool last, unsigned leave,
		       struct pdet_owner_record *r)
{
	if (!first_line(s, leave, r) || !pfn_line(s, leave, r))
		return false;
	stack_lines(s, r);
	return notes(s, r) && closed(s, last);
}

static bool stack_record(struct pdet_scan *s, bool last,
			 struct pdet_owner_record *r)
{
	uint64_t handle;

	r->has = PDET_OWNER_STACK_ONLY;
	stack_lines(s, r);
	if (WORD(s, "handle: ") && (!decimal(s, &handle) || !WORD(s, "\n")))
		return false;
	return WORD(s, "nr_base_pages: ") && decimal(s, &r->pages) &&
	       WORD(s, "\n") && closed(s, last);
}

/* Advance to a possible start of a record: after an empty line, or a line with
 * its first words. */
static void skip(struct pdet_scan *s, const char *from)
{
	const char *at = from, *end;

	for (;;) {
		end = memchr(at, '\n', (size_t)(s->end - at));
		if (!end || end + 1 == s->end) {
			s->at = s->end;
			return;
		}
		at = end + 1;
		if ((size_t)(s->end - at) >= sizeof(begins) - 1 &&
		    !memcmp(at, begins, sizeof(begins) - 1))
			break;
		if (*at == '\n') {
			at++;
			break;
		}
	}
	s->at = at;
}

static bool has_line(const struct pdet_scan *text, const char *word)
{
	const char *at = text->at;
	const size_t len = strlen(word);

	for (; (at = memmem(at, (size_t)(text->end - at), word, len)); at++)
		if (at == text->at || at[-1] == '\n')
			return true;
	return false;
}

const char *pdet_owner_half(const struct pdet_scan *head)
{
	if (head->at == head->end || has_line(head, begins) ||
	    !has_line(head, "handle: "))
		return NULL;
	if (*head->at == ' ' && !has_line(head, "nr_base_pages: "))
		return "counts";
	return *head->at == 'h' && !has_line(head, " ") ? "stacks" : NULL;
}

bool pdet_owner_is_sorted(const struct pdet_scan *head)
{
	struct pdet_scan s = *head;
	uint64_t n;

	return pdet_scan_dec(&s, &n) && pdet_scan_word(&s, " times") &&
	       (pdet_scan_char(&s, ':') || pdet_scan_char(&s, ','));
}

bool pdet_owner_is_text(const struct pdet_scan *head)
{
	return has_line(head, begins) || has_line(head, "nr_base_pages: ") ||
	       pdet_owner_half(head);
}

/* Choose the mark. A task's name may contain two newlines, but then has no room
 * for more words after them. Function names contain no newline. */
struct pdet_text_mark pdet_owner_mark(const struct pdet_scan *head)
{
	if (memmem(head->at, (size_t)(head->end - head->at), begins,
		   sizeof(begins) - 1))
		return (struct pdet_text_mark){ "\n\nPage allocated via ", 2 };
	return (struct pdet_text_mark){ "\n\n", 2 };
}

enum pdet_owner_is pdet_owner_next(struct pdet_scan *text, bool last,
				   unsigned leave,
				   struct pdet_owner_record *r)
{
	struct pdet_scan nothing;
	const char *from;
	bool whole;

	while (text->at < text->end && *text->at == '\n')
		text->at++;
	if (text->at == text->end)
		return PDET_OWNER_END;
	from = text->at;
	nothing = (struct pdet_scan){ from, from };
	*r = (struct pdet_owner_record){
		.gfp = nothing, .comm = nothing, .type = nothing,
		.block_type = nothing, .flags = nothing, .stack = nothing,
		.reason = nothing, .memcg = nothing,
	};
	if (WORD(text, "Page allocated via order "))
		whole = allocation(text, last, leave, r);
	else
		whole = (*from == ' ' || *from == 'h' || *from == 'n') &&
			stack_record(text, last, r);
	if (whole)
		return PDET_OWNER_RECORD;
	skip(text, from);
	return PDET_OWNER_DAMAGED;
}

bool pdet_owner_block(const struct pdet_owner_record *r, uint64_t *ret)
{
	unsigned shift;

	for (shift = 0; shift < 64; shift++) {
		if (r->pfn >> shift != r->block)
			continue;
		*ret = r->block << shift;
		return true;
	}
	return false;
}

bool pdet_owner_flag(const struct pdet_owner_record *r, const char *name,
		     struct pdet_scan *value)
{
	const size_t len = strlen(name);
	const char *at = r->flags.at, *end;

	for (; at < r->flags.end; at = end) {
		at++;
		for (end = at; end < r->flags.end && !strchr("(|)", *end);)
			end++;
		if ((size_t)(end - at) < len || memcmp(at, name, len) ||
		    (name[len - 1] != '=' && at + len != end))
			continue;
		*value = (struct pdet_scan){ at + len, end };
		return true;
	}
	return false;
}

size_t pdet_owner_frames(const struct pdet_scan *stack, char *buf)
{
	const char *at = stack->at, *end;
	char *to = buf;

	for (; at < stack->end; at = end) {
		while (at < stack->end && *at == ' ')
			at++;
		end = memchr(at, '\n', (size_t)(stack->end - at));
		end = end ? end + 1 : stack->end;
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
	}
	return (size_t)(to - buf);
}
