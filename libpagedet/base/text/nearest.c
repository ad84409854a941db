/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds similar names by edit distance: wrong, missing, added, or swapped
 * letters.
 */
#include <stdbool.h>
#include <string.h>

#include "base/env.h"
#include "base/text/nearest.h"

/* No longer word is a typing mistake. */
#define LONGEST 48
#define FAR LONGEST

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	return PDET_MIN(PDET_MIN(a, b), c);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c == '-' ? '_' : c;
}

/* Computes the usual table row by row. The row before the previous one is
 * needed for swapped letters. */
static unsigned distance(const char *a, size_t a_len, const char *b,
			 size_t b_len)
{
	unsigned rows[3][LONGEST + 1];
	unsigned *older = rows[0], *old = rows[1], *now = rows[2], *t;
	size_t i, k;

	if (a_len > LONGEST || b_len > LONGEST)
		return FAR;
	for (k = 0; k <= b_len; k++)
		old[k] = (unsigned)k;
	for (i = 1; i <= a_len; i++) {
		now[0] = (unsigned)i;
		for (k = 1; k <= b_len; k++) {
			bool same = lower(a[i - 1]) == lower(b[k - 1]);

			now[k] = least(old[k] + 1, now[k - 1] + 1,
				       old[k - 1] + !same);
			if (i > 1 && k > 1 && !same &&
			    lower(a[i - 1]) == lower(b[k - 2]) &&
			    lower(a[i - 2]) == lower(b[k - 1]))
				now[k] = PDET_MIN(now[k], older[k - 2] + 1);
		}
		t = older;
		older = old;
		old = now;
		now = t;
	}
	return old[b_len];
}

/*
 * A word that is the beginning of a name costs slightly more than one mistake,
 * so that "kin" means "kind".
 */
static unsigned cost(const char *word, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	unsigned d = 2 * distance(word, len, name, name_len);

	if (len >= 3 && name_len > len && !strncasecmp(word, name, len))
		return PDET_MIN(d, 3u);
	/*
	 * Allow one mistake in three letters, but never a completely different
	 * word.
	 */
	return d / 2 <= PDET_MAX(len / 3, (size_t)1) && d / 2 < len ?
		d : 2 * FAR;
}

int pdet_nearest(const char *word, size_t len, const char *const *names,
		 size_t n)
{
	unsigned best = 2 * FAR, c;
	int found = -1;
	size_t i;

	for (i = 0; i < n && len; i++) {
		c = cost(word, len, names[i]);
		if (c >= best)
			continue;
		best = c;
		found = (int)i;
	}
	return found;
}
