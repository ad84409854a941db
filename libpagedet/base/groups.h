/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Groups by the values of keys. A value is a number, or the hash of a text, so
 * that it means the same in every table. What is summed up for a group is kept
 * by the caller, by the group's number.
 */
#ifndef PDET_BASE_GROUPS_H
#define PDET_BASE_GROUPS_H

#include "base/env.h"
#include "base/pairs.h"
#include "base/vec.h"

/* Zeroed but for n_keys, it is empty. */
struct pdet_groups {
	unsigned n_keys;
	size_t n;
	struct {
		uint64_t *data;
		size_t n, cap;
	} values;		/* n_keys for each group */
	struct {
		uint8_t *data;
		size_t n, cap;
	} states;
	uint32_t *slot;		/* index of the group + 1 */
	size_t slots;
	uint64_t salt;		/* of the hash */
	/* Texts of values: their offsets, by hash. */
	struct pdet_pairs text_at;
	struct {
		char *data;
		size_t n, cap;
	} text;
};

void pdet_groups_free(struct pdet_groups *g);

/*
 * pdet_groups_check - whether a user can group by @n keys: from 1 to @most,
 * that exist and are there once. @name: of a key, NULL if there is none; @of:
 * of what they are. Returns 0, or -EINVAL with an error text.
 */
int pdet_groups_check(struct pdet_env *env, const uint32_t *by, uint64_t n,
		      unsigned most, const char *(*name)(uint32_t key),
		      const char *of);

/*
 * pdet_groups_find - get the number of a group. If there is none, it is added:
 * its number is the count of groups before. Returns -1 without memory. @value
 * and @state have n_keys elements.
 */
int64_t pdet_groups_find(struct pdet_groups *g, const uint64_t *value,
			 const uint8_t *state);

/* pdet_groups_get - the same, but nothing is added: -1 if there is none. */
int64_t pdet_groups_get(const struct pdet_groups *g, const uint64_t *value,
			const uint8_t *state);

/* pdet_groups_value - the values of a group, and the states of these. */
static inline const uint64_t *pdet_groups_value(const struct pdet_groups *g,
						size_t group)
{
	return g->values.data + group * g->n_keys;
}

static inline const uint8_t *pdet_groups_state(const struct pdet_groups *g,
					       size_t group)
{
	return g->states.data + group * g->n_keys;
}

/* pdet_groups_keep - store the text of @hash. Returns false without memory. */
bool pdet_groups_keep(struct pdet_groups *g, uint64_t hash, const char *text,
		      size_t n);

/* pdet_groups_text - get a text; NULL if there is none. */
const char *pdet_groups_text(const struct pdet_groups *g, uint64_t hash,
			     size_t *n);

/* pdet_groups_add_texts - store those of @from too. False without memory. */
bool pdet_groups_add_texts(struct pdet_groups *to,
			   const struct pdet_groups *from);

/*
 * pdet_groups_compare_key - compare two groups by a key: numbers by value,
 * texts by letters, unknown ones last.
 */
int pdet_groups_compare_key(const struct pdet_groups *g, uint32_t a,
			    uint32_t b, unsigned key);

/* pdet_groups_compare - compare by the first key that differs. */
int pdet_groups_compare(const struct pdet_groups *g, uint32_t a, uint32_t b);

#endif
