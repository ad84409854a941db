/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds page_owner's data in memory. Each memory section has, beside its struct
 * pages, a page_ext array with data for each page. */
#include <errno.h>
#include <string.h>

#include "kernel/owner/page_owner.h"

/* Marks a pointer to an array that is being freed. */
#define INVALID 1

enum { SECTION_EXT };
static const pdet_field_names section_names[] = {
	[SECTION_EXT] = { "mem_section.page_ext" },
};
static const pdet_field_names ext_names[] = { { "page_ext.flags" } };
static const pdet_field_names ops_names[] = {
	{ "page_ext_operations.offset" },
};

enum { OWNER_ORDER, OWNER_GFP, OWNER_STACK, OWNER_FREE_STACK, OWNER_NS,
       OWNER_FREE_NS, OWNER_COMM, OWNER_PID, OWNER_TGID, OWNER_REASON,
       OWNER_FIELDS };
static const pdet_field_names owner_names[OWNER_FIELDS] = {
	[OWNER_ORDER] = { "page_owner.order" },
	[OWNER_GFP] = { "page_owner.gfp_mask" },
	[OWNER_STACK] = { "page_owner.handle" },
	[OWNER_FREE_STACK] = { "page_owner.free_handle" },
	[OWNER_NS] = { "page_owner.ts_nsec" },		/* 5.11 */
	[OWNER_FREE_NS] = { "page_owner.free_ts_nsec" },
	[OWNER_COMM] = { "page_owner.comm" },		/* 5.18 */
	[OWNER_PID] = { "page_owner.pid" },		/* 5.11 */
	[OWNER_TGID] = { "page_owner.tgid" },		/* 5.18 */
	[OWNER_REASON] = { "page_owner.last_migrate_reason" },
};

static bool find_flags(struct pdet_page_owners *o, const struct pdet_btf *btf)
{
	uint64_t has, allocated;

	if (!pdet_btf_enumerator(btf, "page_ext_flags", "PAGE_EXT_OWNER",
				 &has) ||
	    !pdet_btf_enumerator(btf, "page_ext_flags",
				 "PAGE_EXT_OWNER_ALLOCATED", &allocated) ||
	    has > 63 || allocated > 63)
		return false;
	o->has = (uint64_t)1 << has;
	o->allocated = (uint64_t)1 << allocated;
	return true;
}

int pdet_page_owners_init(struct pdet_page_owners *o, struct pdet_space *space,
			  const struct pdet_btf *btf,
			  const struct pdet_page_owner_symbols *symbols)
{
	struct pdet_struct ops;
	uint64_t size;
	int r;

	memset(o, 0, sizeof(*o));
	pdet_struct_find(&o->section, btf, section_names, 1);
	pdet_struct_find(&o->ext, btf, ext_names, 1);
	pdet_struct_find(&o->owner, btf, owner_names, OWNER_FIELDS);
	pdet_struct_find(&ops, btf, ops_names, 1);
	if (!pdet_struct_has(&o->section, SECTION_EXT) ||
	    !pdet_btf_struct_size(btf, "page_owner", &size))
		return -ENOTSUP;
	if (!pdet_struct_has(&o->ext, 0) || !pdet_struct_has(&ops, 0) ||
	    !pdet_struct_has(&o->owner, OWNER_ORDER) ||
	    !pdet_struct_has(&o->owner, OWNER_STACK) || !find_flags(o, btf) ||
	    !symbols->page_ext_size || !symbols->page_owner_ops)
		return -ENODATA;
	r = pdet_space_u64(space, symbols->page_ext_size, &o->size);
	if (!r)
		r = pdet_struct_value(space, &ops, symbols->page_owner_ops, 0,
				      &o->offset);
	if (r < 0)
		return r;
	/* page_owner was not enabled, so it has no space in page_ext. */
	if (!o->size || !o->offset)
		return -ENOTSUP;
	size = PDET_MAX(size, (uint64_t)o->owner.first + o->owner.bytes);
	return o->size <= PDET_PAGE_EXT_BYTES && o->offset <= o->size &&
	       size <= o->size - o->offset &&
	       o->ext.first + o->ext.bytes <= o->size ? 0 : -EBADMSG;
}

int pdet_page_owner_at(struct pdet_space *space,
		       const struct pdet_page_owners *o,
		       const struct pdet_memmap *m, uint64_t pfn,
		       uint64_t *ret)
{
	const uint64_t i = pfn >> m->section_shift, root = i >> m->root_shift;
	const uint64_t in_root = i & (((uint64_t)1 << m->root_shift) - 1);
	uint64_t at, base;
	int r;

	if (!pdet_memmap_section(m, pfn))
		return -ENOENT;
	r = pdet_space_u64(space, m->array.addr + root * 8, &at);
	if (!r)
		r = pdet_struct_value(space, &o->section,
				      at + in_root * m->array.size, SECTION_EXT,
				      &base);
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	if (!base || base & INVALID)
		return -ENOENT;
	/* Like the memory map, the array's base is biased to frame 0. */
	*ret = base + o->size * pfn;
	return pdet_is_address(*ret) ? 0 : -EBADMSG;
}

bool pdet_page_owner_get(const struct pdet_page_owners *o, const char *ext,
			 struct pdet_page_owner *ret)
{
	const struct pdet_struct *s = &o->owner;
	const uint64_t flags = pdet_struct_get(&o->ext, ext + o->ext.first, 0);
	const char *buf = ext + o->offset + s->first;

	memset(ret, 0, sizeof(*ret));
	ret->known = flags & o->has;
	ret->allocated = flags & o->allocated;
	ret->order = (uint32_t)pdet_struct_get(s, buf, OWNER_ORDER);
	ret->gfp = (uint32_t)pdet_struct_get(s, buf, OWNER_GFP);
	ret->stack = (uint32_t)pdet_struct_get(s, buf, OWNER_STACK);
	ret->free_stack = (uint32_t)pdet_struct_get(s, buf, OWNER_FREE_STACK);
	ret->ns = pdet_struct_get(s, buf, OWNER_NS);
	ret->free_ns = pdet_struct_get(s, buf, OWNER_FREE_NS);
	ret->pid = (uint32_t)pdet_struct_get(s, buf, OWNER_PID);
	ret->tgid = (uint32_t)pdet_struct_get(s, buf, OWNER_TGID);
	ret->has_pid = pdet_struct_has(s, OWNER_PID);
	ret->has_ns = pdet_struct_has(s, OWNER_NS);
	ret->has_free_ns = pdet_struct_has(s, OWNER_FREE_NS);
	ret->has_tgid = pdet_struct_has(s, OWNER_TGID);
	ret->has_comm = pdet_struct_bytes(s, buf, OWNER_COMM);
	if (ret->has_comm)
		memcpy(ret->comm, pdet_struct_bytes(s, buf, OWNER_COMM),
		       PDET_MIN(s->field[OWNER_COMM].size, PDET_COMM - 1u));
	ret->migrate_reason = pdet_struct_has(s, OWNER_REASON) ?
		(int16_t)pdet_struct_get(s, buf, OWNER_REASON) : -1;
	return ret->known || ret->free_stack || ret->free_ns;
}
