/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What groups may be made by. */
#include <stddef.h>

#include "base/env.h"
#include "owners/keys.h"
#include "pagedet.h"

static const struct {
	const char *name;
	bool text;
} keys[] = {
	[PAGEDET_OWNER_STACK] = { "stack", false },
	[PAGEDET_OWNER_PID] = { "pid", false },
	[PAGEDET_OWNER_TGID] = { "tgid", false },
	[PAGEDET_OWNER_COMM] = { "comm", true },
	[PAGEDET_OWNER_MEMCG_NAME] = { "memcg_name", true },
	[PAGEDET_OWNER_ORDER] = { "order", false },
	[PAGEDET_OWNER_GFP] = { "gfp", true },
	[PAGEDET_OWNER_MIGRATETYPE] = { "migratetype", true },
	[PAGEDET_OWNER_ALLOCATOR] = { "allocator", true },
	[PAGEDET_OWNER_MODULE] = { "module", true },
	[PAGEDET_OWNER_SLAB] = { "slab", false },
	[PAGEDET_OWNER_MIGRATE_REASON] = { "migrate_reason", true },
	[PAGEDET_OWNER_WINDOW] = { "window", false },
	[PAGEDET_OWNER_PAGE_MOBILITY] = { "page_mobility", true },
	[PAGEDET_OWNER_BLOCK] = { "block", false },
	[PAGEDET_OWNER_NODE] = { "node", false },
	[PAGEDET_OWNER_ZONE] = { "zone", true },
};

const char *pdet_owner_key_name(uint32_t key)
{
	return key < PDET_COUNT(keys) ? keys[key].name : NULL;
}

bool pdet_owner_key_is_text(uint32_t key)
{
	return keys[key].text;
}
