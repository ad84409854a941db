/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The keys of owners: PAGEDET_OWNER_*. */
#ifndef PDET_OWNERS_KEYS_H
#define PDET_OWNERS_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * pdet_owner_key_name - get the name of a key. Returns NULL if the key does not
 * exist.
 */
const char *pdet_owner_key_name(uint32_t key);

/* pdet_owner_key_is_text - whether the values of an existing key are texts. */
bool pdet_owner_key_is_text(uint32_t key);

#endif
