/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fits an advice to where the evidence is from. What a rule advises is for the
 * running kernel. A dump, a log or saved rows are about a machine that is
 * elsewhere, or about another time: nothing here can be asked again or changed.
 */
#include <stdio.h>

#include "explain/explain.h"

/* What says nothing of a running kernel. */
static const char *const anywhere[] = {
	"nothing", "find ", "look for ", "compare ",
	"read the kernel log", "the kernel log says",
};

/* A command finds pages in a dump or saved rows, and not in a log. */
static bool is_for_files(const struct pdet_case *c, const char *text)
{
	static const uint32_t pages =
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE) |
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT);
	static const char command[] = "'pagedet ";
	size_t i;

	if (strstr(text, command) && !(pdet_row_sources(&c->here) & pages))
		return false;
	if (!strncmp(text, command, strlen(command)))
		return true;
	for (i = 0; i < PDET_COUNT(anywhere); i++)
		if (!strncmp(text, anywhere[i], strlen(anywhere[i])))
			return true;
	return false;
}

/* A file gives the same answer again. */
static const char *not_again(struct pdet_case *c, const char *text)
{
	static const char again[] = "ask again", last[] = "; ask again";
	const char *at = strstr(text, last);

	if (!strncmp(text, again, strlen(again)))
		return "nothing";
	return at ? pdet_keep(c, text, (size_t)(at - text)) : text;
}

const char *pdet_fit_advice(struct pdet_case *c, const char *text)
{
	char buf[512];

	if (!pdet_row_is_past(&c->here) || c->arena->none)
		return text;
	text = not_again(c, text);
	if (is_for_files(c, text))
		return text;
	snprintf(buf, sizeof(buf), PDET_ELSEWHERE "%s", text);
	return pdet_keep(c, buf, strlen(buf));
}
