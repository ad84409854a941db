/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Interned strings: a hash table by content, and an array by id. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text/strtab.h"
#include "base/vec.h"

struct pdet_strtab_entry {
	size_t offset;
	uint32_t len;
	uint32_t hash;
};

void pdet_strtab_init(struct pdet_strtab *tab, uint64_t base, size_t max)
{
	memset(tab, 0, sizeof(*tab));
	tab->base = base;
	tab->max = max;
}

void pdet_strtab_free(struct pdet_strtab *tab)
{
	free(tab->text);
	pdet_vec_free(&tab->entry);
	free(tab->slot);
	pdet_strtab_init(tab, tab->base, tab->max);
}

void pdet_strtab_clear(struct pdet_strtab *tab, uint64_t base)
{
	tab->base = base;
	if (!tab->entry.n)
		return;
	tab->entry.n = 0;
	tab->len = 0;
	memset(tab->slot, 0, tab->slots * sizeof(*tab->slot));
}

/* Keeps the table at most half full, so that probing ends soon. */
static bool grow_slots(struct pdet_strtab *tab)
{
	size_t slots = tab->slots ? tab->slots * 2 : 64, i, at;
	uint32_t *slot;

	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return false;
	for (i = 0; i < tab->entry.n; i++) {
		at = tab->entry.data[i].hash & (slots - 1);
		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = (uint32_t)i + 1;
	}
	free(tab->slot);
	tab->slot = slot;
	tab->slots = slots;
	return true;
}

static bool room_for_text(struct pdet_strtab *tab, size_t more)
{
	size_t cap = tab->cap ? tab->cap : 1024;
	char *text;

	while (cap < tab->len + more)
		cap *= 2;
	if (cap == tab->cap)
		return true;
	text = realloc(tab->text, cap);
	if (!text)
		return false;
	tab->text = text;
	tab->cap = cap;
	return true;
}

uint64_t pdet_strtab_add(struct pdet_strtab *tab, const char *text, size_t len)
{
	struct pdet_strtab_entry *e;
	uint32_t hash;
	size_t at;

	/* @text may be NULL if @len is 0 */
	text = len ? text : "";
	len = strnlen(text, len);
	hash = (uint32_t)pdet_hash(text, len);
	if (tab->slots) {
		at = hash & (tab->slots - 1);
		for (; tab->slot[at]; at = (at + 1) & (tab->slots - 1)) {
			e = &tab->entry.data[tab->slot[at] - 1];
			if (e->hash == hash && e->len == len &&
			    !memcmp(tab->text + e->offset, text, len))
				return tab->base + tab->slot[at] - 1;
		}
	}
	if (tab->len + len + 1 > tab->max || len > UINT32_MAX - 1 ||
	    tab->entry.n >= UINT32_MAX - 1)
		return 0;
	if (tab->entry.n * 2 >= tab->slots && !grow_slots(tab))
		return 0;
	if (!room_for_text(tab, len + 1) ||
	    !pdet_vec_reserve(&tab->entry, 1))
		return 0;
	e = &tab->entry.data[tab->entry.n];
	e->offset = tab->len;
	e->len = (uint32_t)len;
	e->hash = hash;
	memcpy(tab->text + tab->len, text, len);
	tab->text[tab->len + len] = '\0';
	tab->len += len + 1;
	at = hash & (tab->slots - 1);
	while (tab->slot[at])
		at = (at + 1) & (tab->slots - 1);
	tab->slot[at] = (uint32_t)++tab->entry.n;
	return tab->base + tab->entry.n - 1;
}

const char *pdet_strtab_get(const struct pdet_strtab *tab, uint64_t id,
			    size_t *len)
{
	if (id < tab->base || id - tab->base >= tab->entry.n)
		return NULL;
	if (len)
		*len = tab->entry.data[id - tab->base].len;
	return tab->text + tab->entry.data[id - tab->base].offset;
}

uint64_t pdet_strtab_next(const struct pdet_strtab *tab)
{
	return tab->base + tab->entry.n;
}
