/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds columns of groups by their fields. */
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
