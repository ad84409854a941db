/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the keys of --sort for lists that the command makes and sorts itself,
 * and compares by them. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

#define NAMES 32

static int no_key(const char *word, size_t len, const char *what,
		  const struct cli_key_name *names)
{
	const char *texts[NAMES];
	char copy[64], list[512];
	size_t n;
	int near;

	for (n = 0; n < NAMES && names[n].name; n++)
		texts[n] = names[n].name;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
	near = len ? pagedet_nearest(copy, texts, n) : -1;
	if (near >= 0)
		return cli_usage("--sort: %s has no '%s'; did you mean '%s'?",
				 what, copy, texts[near]);
	cli_list_names(texts, n, list, sizeof(list));
	return cli_usage("--sort: %s has %s, not '%s'", what, list, copy);
}

int cli_keys_parse(const char *list, const char *what,
		   const struct cli_key_name *names, struct cli_keys *ret)
{
	const struct cli_key_name *name;
	size_t len;

	ret->n = 0;
	for (; list; list = list[len] ? list + len + 1 : NULL) {
		const bool reverse = *list == '-';

		list += reverse;
		len = strcspn(list, ",");
		for (name = names; name->name; name++)
			if (strlen(name->name) == len &&
			    !memcmp(name->name, list, len))
				break;
		if (!name->name)
			return no_key(list, len, what, names);
		if (ret->n == CLI_KEYS)
			return cli_usage("--sort: there are more than %d keys",
					 CLI_KEYS);
		ret->key[ret->n] = name->key;
		ret->reverse[ret->n++] = reverse;
	}
	return CLI_ANSWERED;
}

int cli_keys_compare(const struct cli_keys *keys, const void *a, const void *b,
		     cli_compare_fn *compare)
{
	int order = 0;
	size_t i;

	for (i = 0; i < keys->n && !order; i++)
		order = compare(a, b, keys->key[i], keys->reverse[i]);
	return order;
}
