/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Selects the words of a struct page that affect the decoded result. Comparing
 * them costs less than a tenth of decoding.
 *
 * bench: dump
 */
#include "base/env.h"
#include "kernel/page/alike.h"
#include "kernel/page/count.h"

/* The address bits that pdet_page_pointer_sort() uses. */
#define ADDRESS (~(uint64_t)0 << 52 | 7)

#define USUAL_WORDS 8

static void add_bytes(struct pdet_page_mask *mask, const struct pdet_layout *l,
		      enum pdet_member m, size_t n)
{
	if (pdet_page_has(l, m))
		memset((char *)mask->word + pdet_layout_at(l, m, (unsigned)n),
		       0xff, n);
}

static unsigned word_at(const struct pdet_layout *l, enum pdet_member m)
{
	return pdet_layout_at(l, m, 8) / 8;
}

static void add_word(struct pdet_page_mask *mask, const struct pdet_layout *l,
		     enum pdet_member m)
{
	if (pdet_page_has(l, m))
		mask->word[word_at(l, m)] = UINT64_MAX;
}

/* Add only the half of the word that has the member. */
static void add_half(struct pdet_page_mask *mask, const struct pdet_layout *l,
		     enum pdet_member m)
{
	add_bytes(mask, l, m, 4);
}

static void add_second(struct pdet_page_mask *mask, const struct pdet_layout *l)
{
	static const struct {
		enum pdet_member m;
		uint8_t bytes;
	} members[] = {
		{ PDET_MEMBER_SECOND_ORDER, 1 },
		{ PDET_MEMBER_SECOND_FLAGS_1, 1 },
		{ PDET_MEMBER_SECOND_NR_PAGES, 4 },
		{ PDET_MEMBER_SECOND_DTOR, 1 },
		{ PDET_MEMBER_SECOND_ENTIRE_MAPCOUNT, 4 },
		{ PDET_MEMBER_SECOND_LARGE_MAPCOUNT, 4 },
		{ PDET_MEMBER_SECOND_NR_PAGES_MAPPED, 4 },
		{ PDET_MEMBER_SECOND_PINCOUNT, 4 },
		{ PDET_MEMBER_PAGE_FLAGS, 8 },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(members); i++)
		add_bytes(mask, l, members[i].m, members[i].bytes);
}

void pdet_page_alike_init(struct pdet_page_alike *ret,
			  const struct pdet_layout *l,
			  struct pdet_page_alike_wants wants)
{
	const unsigned head = word_at(l, PDET_MEMBER_PAGE_COMPOUND_HEAD);
	const bool memcg = pdet_page_has(l, PDET_MEMBER_PAGE_MEMCG_DATA);

	memset(ret, 0, sizeof(*ret));
	ret->words = l->size[PDET_SIZE_PAGE] / 8;
	memset(&ret->all, 0xff, sizeof(ret->all));
	/* A tail's pointer to its head, and members that a tail has itself. */
	add_word(&ret->tail, l, PDET_MEMBER_PAGE_FLAGS);
	add_word(&ret->tail, l, PDET_MEMBER_PAGE_COMPOUND_HEAD);
	add_half(&ret->tail, l, PDET_MEMBER_PAGE_MAPCOUNT);
	add_word(&ret->small, l, PDET_MEMBER_PAGE_FLAGS);
	add_half(&ret->small, l, PDET_MEMBER_PAGE_MAPCOUNT);
	add_half(&ret->small, l, PDET_MEMBER_PAGE_REFCOUNT);
	add_word(&ret->small, l, PDET_MEMBER_PAGE_MAPPING);
	add_word(&ret->small, l, PDET_MEMBER_PAGE_MEMCG_DATA);
	ret->head = ret->small;
	add_second(&ret->second, l);
	ret->second.word[head] |= 1;
	if (wants.index)
		add_word(&ret->small, l, PDET_MEMBER_PAGE_INDEX);
	if (wants.private)
		add_word(&ret->small, l, PDET_MEMBER_PAGE_PRIVATE);
	ret->small.word[head] |= 1;
	ret->flags = word_at(l, PDET_MEMBER_PAGE_FLAGS);
	ret->mapping = word_at(l, PDET_MEMBER_PAGE_MAPPING);
	ret->memcg = memcg ? (int)word_at(l, PDET_MEMBER_PAGE_MEMCG_DATA) : -1;
	ret->mapping_mask = wants.mapping ? UINT64_MAX : ADDRESS;
	ret->memcg_mask = wants.memcg ? UINT64_MAX : ADDRESS;
}

static uint64_t word_of(const char *page, size_t i)
{
	uint64_t v;

	memcpy(&v, page + i * 8, sizeof(v));
	return v;
}

/* An uninitialised struct page must not match another page that has the same
 * bytes in the compared words. */
static bool may_be_uniform(const struct pdet_page_alike *a, const char *page,
			   const struct pdet_page_mask *mask)
{
	const uint64_t v = word_of(page, a->flags);
	uint64_t differs = v ^ (v << 8 | v >> 56);
	size_t i;

	for (i = 0; i < a->words; i++)
		differs |= (word_of(page, i) ^ v) & mask->word[i];
	return !differs;
}

/* Compare a struct page of the usual size with a few wide instructions. */
typedef uint64_t wide __attribute__((vector_size(16), aligned(1), may_alias));
#define WIDE(at, i) (*(const wide *)((const char *)(at) + (i) * 16))

static size_t count_usual(const char *page, const struct pdet_page_mask *mask,
			  size_t most)
{
	const wide bits[] = { WIDE(mask->word, 0), WIDE(mask->word, 1),
			      WIDE(mask->word, 2), WIDE(mask->word, 3) };
	const wide same[] = {
		WIDE(page, 0) & bits[0], WIDE(page, 1) & bits[1],
		WIDE(page, 2) & bits[2], WIDE(page, 3) & bits[3],
	};
	wide differs;
	size_t n;

	for (n = 0; n < most; n++) {
		page += USUAL_WORDS * 8;
		differs = ((WIDE(page, 0) & bits[0]) ^ same[0]) |
			  ((WIDE(page, 1) & bits[1]) ^ same[1]) |
			  ((WIDE(page, 2) & bits[2]) ^ same[2]) |
			  ((WIDE(page, 3) & bits[3]) ^ same[3]);
		if (differs[0] | differs[1])
			break;
	}
	return n;
}

static size_t count_any(const char *page, const struct pdet_page_mask *mask,
			size_t words, size_t most)
{
	const char *other = page;
	uint64_t differs;
	size_t n, i;

	for (n = 0; n < most; n++) {
		other += words * 8;
		for (differs = 0, i = 0; i < words; i++)
			differs |= (word_of(other, i) ^ word_of(page, i)) &
				   mask->word[i];
		if (differs)
			break;
	}
	return n;
}

static size_t count_by(const struct pdet_page_alike *a, const char *page,
		       const struct pdet_page_mask *mask, size_t most)
{
	return a->words == USUAL_WORDS ?
	       count_usual(page, mask, most) :
	       count_any(page, mask, a->words, most);
}

static bool is_address_at(const char *page, unsigned word)
{
	return pdet_is_address(word_of(page, word));
}

/* Build the mask for a page with mapping and memcg. */
static void mask_pointers(const struct pdet_page_alike *a, const char *page,
			  struct pdet_page_mask *mask)
{
	if (is_address_at(page, a->mapping))
		mask->word[a->mapping] = a->mapping_mask;
	if (a->memcg >= 0 && is_address_at(page, (unsigned)a->memcg))
		mask->word[a->memcg] = a->memcg_mask;
}

uint64_t pdet_page_folio_key(const struct pdet_page_alike *a, const char *head,
			     const char *second,
			     struct pdet_page_folio_key *ret)
{
	struct pdet_page_mask mask = a->head;
	uint64_t hash = 0, v;
	size_t i;

	mask_pointers(a, head, &mask);
	for (i = 0; i < a->words; i++) {
		v = word_of(head, i) & mask.word[i];
		ret->word[2 * i] = v;
		hash = (hash ^ v) * 0x9e3779b97f4a7c15;
		v = word_of(second, i) & a->second.word[i];
		ret->word[2 * i + 1] = v;
		hash ^= hash >> 29 ^ v * 0xc2b2ae3d27d4eb4f;
	}
	return hash ^ hash >> 32;
}

bool pdet_page_has_folio_key(const struct pdet_page_alike *a, const char *head,
			     const char *second,
			     const struct pdet_page_folio_key *key)
{
	struct pdet_page_mask mask = a->head;
	uint64_t differs = 0;
	size_t i;

	mask_pointers(a, head, &mask);
	for (i = 0; i < a->words; i++) {
		differs |= (word_of(head, i) & mask.word[i]) ^
			   key->word[2 * i];
		differs |= (word_of(second, i) & a->second.word[i]) ^
			   key->word[2 * i + 1];
	}
	return !differs;
}

size_t pdet_page_count_alike(const struct pdet_page_alike *a, const char *page,
			     enum pdet_page_is is, size_t most)
{
	struct pdet_page_mask mask;

	if (!most)
		return 0;
	if (is == PDET_PAGE_UNINIT)
		return count_by(a, page, &a->all, most);
	if (is == PDET_PAGE_TAIL)
		return may_be_uniform(a, page, &a->tail) ? 0 :
		       count_by(a, page, &a->tail, most);
	mask = a->small;
	mask_pointers(a, page, &mask);
	return may_be_uniform(a, page, &mask) ? 0 :
	       count_by(a, page, &mask, most);
}
