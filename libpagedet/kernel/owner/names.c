/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads two tables of names from kernel memory. One has masks with names, and
 * ends with a NULL name. The other has a name for each value of an enum.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/owner/names.h"

/* struct trace_print_flags */
enum { FLAGS_MASK, FLAGS_NAME, FLAGS_FIELDS };
static const pdet_field_names flags_names[FLAGS_FIELDS] = {
	[FLAGS_MASK] = { "trace_print_flags.mask" },
	[FLAGS_NAME] = { "trace_print_flags.name" },
};

/* Read a string that is plausible in a list of names. */
static int read_name(struct pdet_space *space, uint64_t addr,
		     char name[PDET_OWNER_NAME])
{
	ssize_t len = pdet_is_address(addr) ?
		pdet_space_text(space, addr, name, PDET_OWNER_NAME) : -EBADMSG;
	ssize_t i;

	if (len < 0)
		return len == -ENOENT ? -EBADMSG : (int)len;
	for (i = 0; i < len; i++)
		if (name[i] <= ' ' || name[i] > '~' || name[i] == '|')
			return -EBADMSG;
	return len && len < PDET_OWNER_NAME - 1 ? 0 : -EBADMSG;
}

int pdet_gfp_names_read(struct pdet_gfp_names *ret, struct pdet_space *space,
			const struct pdet_btf *btf, uint64_t table)
{
	char buf[PDET_STRUCT_BYTES];
	struct pdet_struct s;
	uint64_t size, name;
	int r;

	pdet_struct_find(&s, btf, flags_names, FLAGS_FIELDS);
	if (!table || !pdet_struct_has(&s, FLAGS_MASK) ||
	    !pdet_struct_has(&s, FLAGS_NAME) ||
	    !pdet_btf_struct_size(btf, "trace_print_flags", &size))
		return -ENODATA;
	for (ret->n = 0; ret->n < PDET_GFP_NAMES; ret->n++, table += size) {
		r = pdet_struct_read(space, &s, table, buf);
		if (r < 0)
			return r;
		name = pdet_struct_get(&s, buf, FLAGS_NAME);
		if (!name)
			return ret->n ? 0 : -EBADMSG;
		ret->entry[ret->n].mask = pdet_struct_get(&s, buf, FLAGS_MASK);
		r = read_name(space, name, ret->entry[ret->n].name);
		if (r < 0)
			return r;
	}
	return -EBADMSG;
}

size_t pdet_gfp_text(const struct pdet_gfp_names *names, uint64_t gfp,
		     char buf[PDET_GFP_TEXT])
{
	size_t len = 0, n;
	unsigned i;

	for (i = 0; i < names->n && gfp; i++) {
		const uint64_t mask = names->entry[i].mask;

		if (!mask || (gfp & mask) != mask)
			continue;
		if (len)
			buf[len++] = '|';
		n = strlen(names->entry[i].name);
		memcpy(buf + len, names->entry[i].name, n);
		len += n;
		gfp &= ~mask;
	}
	if (gfp)
		len += (size_t)sprintf(buf + len, "%s%#llx", len ? "|" : "",
				       (unsigned long long)gfp);
	return len;
}

static uint64_t mask_of(const struct pdet_gfp_names *names, const char *name)
{
	unsigned i;

	for (i = 0; i < names->n; i++)
		if (!strcmp(names->entry[i].name, name))
			return names->entry[i].mask;
	return 0;
}

int pdet_gfp_mobility_read(struct pdet_gfp_mobility *ret,
			   struct pdet_space *space,
			   const struct pdet_gfp_names *names,
			   uint64_t disabled)
{
	uint32_t off = 0;
	int r;

	ret->movable = mask_of(names, "__GFP_MOVABLE");
	ret->reclaimable = mask_of(names, "__GFP_RECLAIMABLE");
	if (!ret->movable || !ret->reclaimable || !disabled)
		return -ENODATA;
	r = pdet_space_u32(space, disabled, &off);
	ret->off = off;
	return r == -ENOENT ? -EBADMSG : r;
}

/* The kernel shifts both bits to the number of a type, and warns if both are
 * set. */
const char *pdet_gfp_mobility(const struct pdet_gfp_mobility *m, uint64_t gfp)
{
	static const char *const types[] = {
		"Unmovable", "Movable", "Reclaimable", "HighAtomic",
	};

	if (m->off)
		return types[0];
	return types[!!(gfp & m->movable) + 2 * !!(gfp & m->reclaimable)];
}

int pdet_migrate_reasons_read(struct pdet_migrate_reasons *ret,
			      struct pdet_space *space,
			      const struct pdet_btf *btf, uint64_t table)
{
	uint64_t n, name;
	unsigned i;
	int r = 0;

	ret->n = 0;
	if (!table || !pdet_btf_enumerator(btf, "migrate_reason", "MR_TYPES",
					   &n))
		return -ENODATA;
	if (n > PDET_MIGRATE_REASONS)
		return -EBADMSG;
	for (i = 0; i < n && r == 0; i++) {
		r = pdet_space_u64(space, table + i * 8, &name);
		if (r == 0)
			r = read_name(space, name, ret->name[i]);
	}
	if (r == 0)
		ret->n = (unsigned)n;
	return r == -ENOENT ? -EBADMSG : r;
}
