/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises a struct page that something else was written over. Its flags are
 * then names of random bits. A word of flags never consists of letters, nor of
 * one byte again and again: its highest bits are the numbers of a node, a zone
 * and a processor. Nor does it equal a pointer.
 */
#include <inttypes.h>
#include <stdio.h>

#include "backend/log/log.h"

/* Bytes with which the kernel fills memory (include/linux/poison.h). */
static const struct {
	uint8_t byte;
	const char *of;
} poisons[] = {
	{ 0x6b, "a freed slab object" },
	{ 0x5a, "a slab object before its use" },
	{ 0xa5, "the end of a slab object" },
	{ 0xaa, "a free page" },
	{ 0xbb, "the red zone of a free slab object" },
	{ 0xcc, "the red zone of a slab object" },
};

struct words {
	uint64_t word[PDET_LOG_WORDS];
	unsigned n, bytes;	/* words, and bytes of each */
};

static uint8_t byte_of(uint64_t word, unsigned i)
{
	return (uint8_t)(word >> (8 * i));
}

bool pdet_log_is_fill(uint64_t word, unsigned bytes)
{
	const uint8_t first = byte_of(word, 0);
	unsigned i;

	for (i = 1; i < bytes; i++)
		if (byte_of(word, i) != first)
			return false;
	return first && first != 0xff;
}

static bool is_letters(uint64_t word, unsigned bytes)
{
	unsigned i;

	for (i = 0; i < bytes; i++)
		if (byte_of(word, i) < ' ' || byte_of(word, i) > '~')
			return false;
	return true;
}

/* The words of the hex dump. Kernels before 4.12 have none: then the values of
 * 32 bits that they print. */
static void words_of(const struct pdet_log_page *p, struct words *ret)
{
	unsigned i;

	ret->n = p->n_words;
	ret->bytes = p->word_bytes;
	for (i = 0; i < ret->n; i++)
		ret->word[i] = p->words[i];
	if (ret->n || !(p->has & PDET_LOG_PAGE) || !p->has_mapping ||
	    (p->flags_word | p->mapping) >> 32)
		return;
	ret->bytes = 4;
	ret->word[ret->n++] = p->flags_word;
	ret->word[ret->n++] = (uint32_t)p->refcount;
	ret->word[ret->n++] = p->mapping;
}

/* The number of words from the first one on that @is holds for. */
static unsigned run(const struct words *w, unsigned from,
		    bool (*is)(uint64_t word, unsigned bytes))
{
	unsigned n = 0;

	while (from + n < w->n && is(w->word[from + n], w->bytes))
		n++;
	return n;
}

static unsigned repeats(const struct words *w)
{
	unsigned n = 0, i;

	for (i = 0; i < w->n; i++)
		n += w->word[i] == w->word[0];
	return w->n && w->word[0] && w->word[0] == w->word[1] ? n : 0;
}

static void put_letters(const struct words *w, unsigned from, unsigned n,
			const char *part, char *text, size_t size)
{
	char letters[8 * PDET_LOG_WORDS + 1];
	unsigned i, at = 0;

	for (i = 0; i < n * w->bytes; i++)
		letters[at++] = (char)byte_of(w->word[from + i / w->bytes],
					      i % w->bytes);
	letters[at] = '\0';
	snprintf(text, size, PDET_OVERWRITTEN "%s with the text '%s'",
		 part, letters);
}

/* Each of the words is one byte again and again, but the words may differ. */
static void put_fill(const struct words *w, unsigned from, unsigned n,
		     const char *part, char *text, size_t size)
{
	uint8_t bytes[PDET_LOG_WORDS] = { 0 };
	unsigned i, k, all = 0;
	const char *of = NULL;
	size_t len;

	for (i = 0; i < n; i++) {
		bytes[all] = byte_of(w->word[from + i], 0);
		for (k = 0; bytes[k] != bytes[all];)
			k++;
		all += k == all;
	}
	for (i = 0; i < PDET_COUNT(poisons) && all == 1; i++)
		if (poisons[i].byte == *bytes)
			of = poisons[i].of;
	len = (size_t)snprintf(text, size, PDET_OVERWRITTEN "%s with the "
			       "byte%s 0x%02x%s%s%s", part, all > 1 ? "s" : "",
			       *bytes, of ? " (" : "", of ? of : "",
			       of ? ")" : "");
	for (i = 1; i < all; i++)
		len += (size_t)snprintf(text + len, size - len, "%s0x%02x",
					i + 1 < all ? ", " : " and ", bytes[i]);
}

/* Letters may be poison, too. */
static bool put_what(const struct words *w, unsigned from, unsigned least,
		     char *text, size_t size)
{
	const char *part = from ? " in part" : "";
	const unsigned fills = run(w, from, pdet_log_is_fill);
	const unsigned letters = run(w, from, is_letters);

	if (fills * w->bytes >= least)
		put_fill(w, from, fills, part, text, size);
	else if (letters * w->bytes >= least)
		put_letters(w, from, letters, part, text, size);
	return *text;
}

bool pdet_log_overwritten(const struct pdet_log_page *p, char *text,
			  size_t size)
{
	struct words w;
	unsigned i, n;

	*text = '\0';
	if (p->kind != PDET_LOG_DUMP_PAGE || !(p->has & PDET_LOG_FLAGS))
		return false;
	words_of(p, &w);
	if (put_what(&w, 0, 8, text, size))
		return true;
	n = repeats(&w);
	if (n > 2) {
		snprintf(text, size, PDET_OVERWRITTEN " with 0x%" PRIx64
			 ", %u times", w.word[0], n);
		return true;
	}
	/* Its flags may be right. */
	for (i = 1; i < w.n && w.bytes == 8 && !*text; i++)
		put_what(&w, i, 16, text, size);
	return false;
}
