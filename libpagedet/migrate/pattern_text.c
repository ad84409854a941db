/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Describes in a sentence what pages that differ have in common. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/env.h"
#include "base/text/plural.h"
#include "migrate/patterns.h"

struct out {
	char *text;
	size_t size, len;
};

static __attribute__((format(printf, 2, 3))) void put(struct out *o,
						      const char *fmt, ...)
{
	const size_t at = PDET_MIN(o->len, o->size);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->size ? o->text + at : NULL, o->size - at, fmt, ap);
	va_end(ap);
	o->len += n > 0 ? (size_t)n : 0;
}

static void put_swapped(struct out *o, const struct pagedet_pattern *p,
			const char *side)
{
	if (p->swapped == p->pages)
		put(o, ", in swap at the %s", side);
	else if (p->swapped)
		put(o, ", %" PRIu64 " of them in swap at the %s", p->swapped,
		    side);
}

static void put_empty(struct out *o, const struct pagedet_pattern *p,
		      const char *data, const char *empty)
{
	const char *be = pdet_is_or_are(p->pages);

	put(o, "%s data at the %s and %s %s at the %s",
	    p->pages == 1 ? "has" : "have", data, be,
	    p->absent == p->pages ? "absent" : p->absent ? "empty" : "zero",
	    empty);
	if (p->absent && p->absent != p->pages)
		put(o, " (%" PRIu64 " absent, %" PRIu64 " zero)", p->absent,
		    p->pages - p->absent);
	put_swapped(o, p, data);
	if (p->older && p->older == p->pages)
		put(o, ", and %s empty at the %s, too, earlier",
		    p->pages == 1 ? "was" : "were", data);
	else if (p->older)
		put(o, ", %" PRIu64 " of them empty at the %s, too, earlier",
		    p->older, data);
}

static void put_shift(struct out *o, const struct pagedet_pattern *p,
		      uint64_t page_size)
{
	const bool back = p->shift < 0;
	const uint64_t n = back ? 0 - (uint64_t)p->shift : (uint64_t)p->shift;

	put(o, "%" PRIu64 " page%s (0x%" PRIx64 " bytes) further %s", n,
	    n == 1 ? "" : "s", n * page_size, back ? "back" : "on");
}

static int put_kind(struct out *o, const struct pagedet_pattern *p,
		    uint64_t page_size, const char *here, const char *peer)
{
	const char *has = p->pages == 1 ? "has" : "have";

	switch (p->kind) {
	case PAGEDET_PATTERN_EMPTY_PEER:
		put_empty(o, p, here, peer);
		return 0;
	case PAGEDET_PATTERN_EMPTY_HERE:
		put_empty(o, p, peer, here);
		return 0;
	case PAGEDET_PATTERN_SHIFTED:
		put(o, "%s at the %s what the %s has ", has, peer, here);
		put_shift(o, p, page_size);
		return 0;
	case PAGEDET_PATTERN_OLDER:
		put(o, "%s at the %s what the %s had earlier", has, peer, here);
		return 0;
	case PAGEDET_PATTERN_MOVED:
		put(o, "%s at the %s what another page has at the %s", has,
		    peer, here);
		return 0;
	case PAGEDET_PATTERN_ALIKE:
		put(o, "%s one and the same contents at the %s", has, peer);
		return 0;
	case PAGEDET_PATTERN_EXCHANGED:
		put(o, "%s changed places%s at the %s", has,
		    p->pages > 2 ? " in pairs" : "", peer);
		return 0;
	case PAGEDET_PATTERN_OTHER:
		/* Their bytes were not looked at. */
		put(o, "%s in no pattern of whole pages",
		    pdet_is_or_are(p->pages));
		if (p->unsearched)
			put(o, ", %" PRIu64 " of them not searched for at "
			    "other places", p->unsearched);
		return 0;
	default:
		return -EINVAL;
	}
}

static void put_place(struct out *o, const struct pagedet_pattern *p)
{
	if (p->pages == 1) {
		put(o, ": page %" PRIu64, p->first);
	} else {
		put(o, ": pages %" PRIu64 " to %" PRIu64, p->first, p->last);
		if (p->last - p->first + 1 == p->pages)
			put(o, " without a gap");
		else if (p->equal)
			put(o, ", between which %" PRIu64 " %s equal",
			    p->equal, pdet_is_or_are(p->equal));
	}
	if (p->kind == PAGEDET_PATTERN_MOVED)
		put(o, "; %s what is at page %" PRIu64,
		    p->pages == 1 ? "it has" : "the first has", p->from);
	if (p->kind == PAGEDET_PATTERN_EXCHANGED && p->pages > 2)
		put(o, "; the first with page %" PRIu64, p->from);
	if (p->borders & PAGEDET_BORDER_FIRST)
		put(o, "; a range of guest memory begins with %s",
		    p->pages == 1 ? "it" : "the first");
	if (p->borders & PAGEDET_BORDER_LAST)
		put(o, "%s one ends with %s",
		    p->borders & PAGEDET_BORDER_FIRST ? ", and" : ";",
		    p->pages == 1 ? "it" : "the last");
}

int pdet_pattern_text(const struct pagedet_pattern *p, uint64_t page_size,
		      const char *here, const char *peer, char *text,
		      size_t size)
{
	struct out o = { text, text ? size : 0, 0 };

	put(&o, "%" PRIu64 " page%s ", p->pages, p->pages == 1 ? "" : "s");
	if (put_kind(&o, p, page_size, here, peer))
		return -EINVAL;
	put_place(&o, p);
	return (int)o.len;
}

const char *pdet_pattern_name(uint32_t kind)
{
	static const char *const names[] = {
		[PAGEDET_PATTERN_EMPTY_PEER] = "empty_peer",
		[PAGEDET_PATTERN_EMPTY_HERE] = "empty_here",
		[PAGEDET_PATTERN_SHIFTED] = "shifted",
		[PAGEDET_PATTERN_OLDER] = "older",
		[PAGEDET_PATTERN_MOVED] = "moved",
		[PAGEDET_PATTERN_ALIKE] = "alike",
		[PAGEDET_PATTERN_OTHER] = "other",
		[PAGEDET_PATTERN_EXCHANGED] = "exchanged",
	};

	return kind < PDET_COUNT(names) ? names[kind] : NULL;
}
