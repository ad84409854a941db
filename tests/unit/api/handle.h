/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The handle of a test, and what a call that fails says by it. */
#ifndef TESTS_API_HANDLE_H
#define TESTS_API_HANDLE_H

#include <pagedet.h>

#include "../unit.h"

static struct pagedet *pd;

/* @r is the error @code, with @words in its text. */
static void refused(int r, int code, const char *words)
{
	ck_assert_msg(r == -code, "%d is not -%d: %s", r, code,
		      pagedet_error(pd));
	ck_assert_msg(strstr(pagedet_error(pd), words) != NULL,
		      "\"%s\" is not in \"%s\"", words, pagedet_error(pd));
}

#endif
