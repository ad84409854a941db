/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares each fact of VMCOREINFO, about a hundred, with the types. A name
 * that the types lack is not a difference.
 */
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "kernel/types/same_kernel.h"

#define NAME 96

static bool size_of(const struct pdet_btf *btf, const char *name,
		    uint64_t *ret)
{
	return pdet_btf_struct_size(btf, name, ret);
}

static bool offset_of(const struct pdet_btf *btf, const char *name,
		      uint64_t *ret)
{
	struct pdet_btf_member m;

	if (!pdet_btf_member(btf, name, &m))
		return false;
	*ret = m.bit_offset / 8;
	return true;
}

static bool length_of(const struct pdet_btf *btf, const char *name,
		      uint64_t *ret)
{
	struct pdet_btf_member m;

	return pdet_btf_member(btf, name, &m) &&
	       pdet_btf_array_length(btf, m.type, ret);
}

/* A NUMBER may be any constant, so only page flags, with their own prefix, are
 * compared. */
static bool number_of(const struct pdet_btf *btf, const char *name,
		      uint64_t *ret)
{
	return !strncmp(name, "PG_", 3) &&
	       pdet_btf_enumerator(btf, "pageflags", name, ret);
}

static const struct {
	const char *key;
	bool (*info)(const struct pdet_vmcoreinfo *info, const char *name,
		     uint64_t *ret);
	bool (*types)(const struct pdet_btf *btf, const char *name,
		      uint64_t *ret);
} kinds[] = {
	{ "SIZE(", pdet_vmcoreinfo_size, size_of },
	{ "OFFSET(", pdet_vmcoreinfo_offset, offset_of },
	{ "LENGTH(", pdet_vmcoreinfo_length, length_of },
	{ "NUMBER(", pdet_vmcoreinfo_number, number_of },
};

static void compare(const struct pdet_vmcoreinfo *info,
		    const struct pdet_btf *btf, const struct pdet_scan *key,
		    struct pdet_types_difference *ret)
{
	struct pdet_scan s = *key;
	uint64_t mine, its;
	char name[NAME];
	size_t i, len;

	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (pdet_scan_word(&s, kinds[i].key))
			break;
	len = (size_t)(s.end - s.at);
	if (i == PDET_COUNT(kinds) || len < 2 || len > NAME ||
	    s.end[-1] != ')')
		return;
	memcpy(name, s.at, len - 1);
	name[len - 1] = '\0';
	if (!kinds[i].info(info, name, &mine) ||
	    !kinds[i].types(btf, name, &its) || mine == its || ret->n++)
		return;
	snprintf(ret->name, sizeof(ret->name), "%s%s)", kinds[i].key, name);
	ret->info = mine;
	ret->types = its;
}

bool pdet_types_agree(const struct pdet_vmcoreinfo *info,
		      const struct pdet_btf *btf,
		      struct pdet_types_difference *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < info->n; i++)
		compare(info, btf, &info->data[i].key, ret);
	return !ret->n;
}
