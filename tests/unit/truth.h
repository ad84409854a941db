/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the ground truth of the fixtures: pages of known kinds that a program
 * made, and the kernel's words about them. ground-truth.jsonl says how each was
 * made. plants.jsonl, by tests/live/planter, says what must be reported.
 */
#ifndef TESTS_TRUTH_H
#define TESTS_TRUTH_H

#include <stdbool.h>

#include "schema/schema.h"
#include "unit.h"

struct truth_words {
	bool has_pagemap, has_flags;
	uint64_t pagemap;
	uint64_t flags;		/* kpageflags */
};

struct truth {
	char name[40];
	char kind[48];		/* how it was made */
	struct truth_words made; /* when it was made */
	struct truth_words dump; /* later, after a fork */
	/*
	 * From plants.jsonl, where kind is the kind that pagedet must report.
	 */
	uint64_t flags_set, flags_clear;
	uint64_t pte_set, pte_clear;
};

#define TRUTH_MAX 128

/*
 * Gets the text of "key" up to the next delimiter, without quotes. Returns
 * false if the key is missing or null.
 */
static inline bool truth_text(const char *json, const char *key, char *ret,
			      size_t size)
{
	char quoted[64];
	const char *at;
	size_t len;

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	at = strstr(json, quoted);
	if (!at)
		return false;
	at += strlen(quoted);
	at += *at == ' ';
	if (!strncmp(at, "null", 4))
		return false;
	at += *at == '"';
	len = strcspn(at, "\",}");
	ck_assert_uint_lt(len, size);
	memcpy(ret, at, len);
	ret[len] = '\0';
	return true;
}

static inline bool truth_word(const char *json, const char *key, uint64_t *ret)
{
	char text[64];

	if (!truth_text(json, key, text, sizeof(text)))
		return false;
	*ret = strtoull(text, NULL, 16);
	return true;
}

static inline void truth_words(const char *json, struct truth_words *ret)
{
	ret->has_pagemap = truth_word(json, "pagemap", &ret->pagemap);
	ret->has_flags = truth_word(json, "kpageflags", &ret->flags);
}

/* "key": ["a", "b"] as bits; 0 if there is no such list. */
static inline uint64_t truth_bits(const char *json, const char *key,
				  unsigned field)
{
	char quoted[64];
	uint64_t bits = 0;
	const char *at;
	size_t len;
	int bit;

	snprintf(quoted, sizeof(quoted), "\"%s\": [", key);
	at = strstr(json, quoted);
	if (!at)
		return 0;
	for (at += strlen(quoted); *at == '"'; at += *at == ',' ? 2 : 0) {
		len = strcspn(++at, "\"");
		bit = pdet_value_by_name(field, at, (unsigned)len);
		ck_assert_msg(bit >= 0, "no such name: %.20s", at);
		bits |= (uint64_t)1 << bit;
		at += len + 1;
	}
	return bits;
}

/* Returns how many there are. */
static inline unsigned truth_read(const char *fixture, struct truth *ret)
{
	char name[64], path[512], line[4096], *dump;
	unsigned n = 0;
	FILE *f;

	snprintf(name, sizeof(name), "tests/fixtures/%s", fixture);
	f = fopen(unit_source(path, sizeof(path), name), "r");
	ck_assert_msg(f, "cannot read %s", path);
	while (fgets(line, sizeof(line), f)) {
		struct truth *t = &ret[n++];

		ck_assert_uint_le(n, TRUTH_MAX);
		memset(t, 0, sizeof(*t));
		dump = strstr(line, "\"at_dump\":");
		if (dump)
			truth_words(dump, &t->dump);
		if (dump)
			*dump = '\0';
		ck_assert(truth_text(line, "name", t->name, sizeof(t->name)));
		ck_assert(truth_text(line, "kind", t->kind, sizeof(t->kind)));
		truth_words(line, &t->made);
		t->flags_set = truth_bits(line, "flags_set",
					  PAGEDET_FIELD_FLAGS);
		t->flags_clear = truth_bits(line, "flags_clear",
					    PAGEDET_FIELD_FLAGS);
		t->pte_set = truth_bits(line, "pte_set", PAGEDET_FIELD_PTE);
		t->pte_clear = truth_bits(line, "pte_clear",
					  PAGEDET_FIELD_PTE);
	}
	fclose(f);
	ck_assert_uint_gt(n, 0);
	return n;
}

#endif
