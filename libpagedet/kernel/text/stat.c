/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The name in field 2 may hold anything, so fields are counted from the last
 * parenthesis (Documentation/filesystems/proc.rst).
 */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "base/text/text.h"
#include "kernel/text/stat.h"

/* Sets @ret to what begins with the field, which is empty if there is none. */
static int read_from(const struct pdet_env *env, uint32_t pid, unsigned wanted,
		     struct pdet_text *text, struct pdet_scan *ret)
{
	const char *close;
	unsigned field;
	int r;

	r = pdet_slurp(env, text, 8192, "/proc/%u/stat", pid);
	if (r < 0)
		return r;
	close = memrchr(text->data, ')', text->len);
	ret->end = text->data + text->len;
	ret->at = close ? close + 1 : ret->end;
	for (field = 3; field < wanted; field++)
		pdet_scan_token(ret);
	pdet_scan_blanks(ret);
	return 0;
}

int pdet_stat_number(const struct pdet_env *env, uint32_t pid, unsigned wanted,
		     uint64_t *ret)
{
	struct pdet_text text;
	struct pdet_scan s;
	int r;

	*ret = 0;
	r = read_from(env, pid, wanted, &text, &s);
	if (r < 0)
		return r;
	r = pdet_scan_dec(&s, ret) ? 0 : -EBADMSG;
	pdet_text_free(&text);
	return r;
}

int pdet_stat_numbers(const struct pdet_env *env, uint32_t pid,
		      const unsigned *wanted, size_t n, uint64_t *ret)
{
	struct pdet_text text;
	struct pdet_scan s, number;
	unsigned field = wanted[0];
	size_t i;
	int r;

	r = read_from(env, pid, field, &text, &s);
	if (r < 0)
		return r;
	for (i = 0; i < n; i++) {
		for (; field < wanted[i]; field++)
			pdet_scan_token(&s);
		pdet_scan_blanks(&s);
		number = s;
		ret[i] = 0;
		(void)pdet_scan_dec(&number, &ret[i]);
	}
	pdet_text_free(&text);
	return 0;
}

char pdet_stat_life(const struct pdet_env *env, uint32_t pid,
		    uint64_t *threads)
{
	struct pdet_text text;
	struct pdet_scan s;
	unsigned field;
	char state;

	*threads = 0;
	if (read_from(env, pid, 3, &text, &s) < 0)
		return 0;
	state = s.at < s.end ? *s.at : 0;
	for (field = 3; field < PDET_STAT_THREADS; field++)
		pdet_scan_token(&s);
	pdet_scan_blanks(&s);
	(void)pdet_scan_dec(&s, threads);
	pdet_text_free(&text);
	return state;
}

char pdet_stat_state(const struct pdet_env *env, uint32_t pid)
{
	uint64_t threads;

	return pdet_stat_life(env, pid, &threads);
}
