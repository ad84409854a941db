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

/* Steps over a hex number. */
static inline void skip_hex(struct pdet_scan *s)
{
	while (s->at < s->end && (*s->at == 'x' || hex_digit(*s->at) < 16))
		s->at++;
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
		skip_hex(s);
	else if (!hex(s, &r->gfp_mask))
		return false;
	if (WORD(s, "("))
		return until_far(s, ')', skip & PDET_OWNER_SKIP_GFP ?
				 &all : &r->gfp);
	r->has |= PDET_OWNER_OLD;
	return true;
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

/* " type Movable Block 7 type Unmovable ", or " Block 7 type 2 ". */
static bool types(struct pdet_scan *s, struct pdet_owner_record *r)
{
	struct pdet_scan number;

	if (WORD(s, " Block ")) {
		r->has |= PDET_OWNER_OLD;
		return decimal(s, &r->block) && WORD(s, " type ") &&
		       until(s, ' ', &number);
	}
	return WORD(s, " type ") && until(s, ' ', &r->type) &&
	       WORD(s, "Block ") && decimal(s, &r->block) &&
	       WORD(s, " type ") && until(s, ' ', &r->block_type);
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
	       hex(s, &r->pfn) : decimal(s, &r->pfn)) || !types(s, r)))
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

/* "handle: 5". False if it is another number. */
static bool handle_line(struct pdet_scan *s, struct pdet_owner_record *r)
{
	const char *at = s->at;

	if (!WORD(s, "handle: "))
		return true;
	if (!decimal(s, &r->handle) || !WORD(s, "\n"))
		return false;
	if (r->stack.at < r->stack.end)
		return true;
	r->has |= PDET_OWNER_HANDLE;
	r->stack = (struct pdet_scan){ at, s->at };
	return true;
}

static bool allocation(struct pdet_scan *s, bool last, unsigned leave,
		       struct pdet_owner_record *r)
{
	r->times = 1;
	if (!first_line(s, leave, r) || !pfn_line(s, leave, r))
		return false;
	stack_lines(s, r);
	return handle_line(s, r) && notes(s, r) && closed(s, last);
}

/* "3 times, 6 pages, PID 7:". *said: whether the number of pages is there. */
static bool sums(struct pdet_scan *s, struct pdet_owner_record *r, bool *said)
{
	const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));

	if (!end || end[-1] != ':' || !decimal(s, &r->times) ||
	    !WORD(s, " times"))
		return false;
	*said = WORD(s, ", ") && decimal(s, &r->pages) && WORD(s, " pages");
	if (!*said && !WORD(s, ":\n"))
		return false;
	s->at = end + 1;
	return true;
}

/*
 * A group of page_owner_sort. What differs among its records is not known: the
 * program may have compared only their stacks.
 */
static bool group(struct pdet_scan *s, bool last, struct pdet_owner_record *r)
{
	struct pdet_owner_record one = *r;
	bool said;

	if (!sums(s, r, &said))
		return false;
	if (WORD(s, "Page allocated via order ")) {
		if (!first_line(s, PDET_OWNER_SKIP_GFP, &one))
			return false;
		/* Newer versions drop this line. */
		if (s->end - s->at > 4 && !memcmp(s->at, "PFN ", 4) &&
		    !pfn_line(s, PDET_OWNER_SKIP_PAGE, &one))
			return false;
		if (!said && r->times > UINT64_MAX >> one.order)
			return false;
		if (!said)
			r->pages = r->times << one.order;
	} else if (!said) {
		return false;
	}
	stack_lines(s, r);
	r->has = PDET_OWNER_STACK_ONLY;
	if (!handle_line(s, r))
		return false;
	return notes(s, &one) && closed(s, last);
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
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

bool pdet_owner_is_sorted(const struct pdet_scan *head, bool *stacks)
{
	struct pdet_scan s = *head, line;
	uint64_t n;

	if (!pdet_scan_line(&s, &line))
		return false;
	/* Groups without stacks have their keys behind a colon. */
	if (line.end > line.at && line.end[-1] == '\r')
		line.end--;
	*stacks = line.end > line.at && line.end[-1] == ':';
	return pdet_scan_dec(&line, &n) && pdet_scan_word(&line, " times") &&
	       (pdet_scan_char(&line, ':') || pdet_scan_char(&line, ','));
}

bool pdet_owner_is_text(const struct pdet_scan *head)
{
	bool stacks;

	return pdet_owner_is_sorted(head, &stacks) ||
	       has_line(head, begins) || has_line(head, "nr_base_pages: ") ||
	       pdet_owner_half(head);
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
		whole = is_digit(*from) ? group(text, last, r) :
			(*from == ' ' || *from == 'h' || *from == 'n') &&
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

/*
 * Steps over "[<ffffffff8116147e>] " before the name of a function. Returns
 * false for the mark at the end of a stack, which is not a frame.
 */
static bool skip_address(const char **at, const char *end)
{
	static const char mark[] = "0xffffffffffffffff\n";
	struct pdet_scan s = { *at, end };

	if (!WORD(&s, "[<"))
		return true;
	skip_hex(&s);
	if (!WORD(&s, ">] ") || s.at == end || *s.at == '\n')
		return true;
	*at = s.at;
	return !WORD(&s, mark) || s.at != end;
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
		if (*at == '[' && !skip_address(&at, end))
			continue;
		memcpy(to, at, (size_t)(end - at));
		to += end - at;
	}
	return (size_t)(to - buf);
}
