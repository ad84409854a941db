/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the columns of groups by fields, and their keys by names. */
#include <string.h>

#include "cli.h"

uint64_t cli_value_of(const struct pagedet_columns *c, uint64_t row,
		      uint32_t field, uint32_t *state)
{
	uint64_t i;

	*state = PAGEDET_NOT_ASKED;
	for (i = 0; i < c->n_columns; i++) {
		if (c->columns[i].field != field)
			continue;
		*state = c->columns[i].cell[row] & 0xff;
		return c->columns[i].value[row];
	}
	return 0;
}

int cli_by_keys(const struct cli_by *of, const char *list, uint32_t *keys,
		size_t most, uint64_t *n)
{
	const char *at = list;

	do {
		size_t len = strcspn(at, ",");
		char name[32] = "";
		int key = -1;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			key = of->find(name);
		}
		if (key < 0)
			return cli_no_key(of->what, at, len, of->name);
		if (*n == most)
			return cli_usage("--by: too many keys");
		keys[(*n)++] = (uint32_t)key;
		at += len;
	} while (*at++ == ',');
	return CLI_ANSWERED;
}
