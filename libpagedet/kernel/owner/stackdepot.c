/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads stacks from the stack depot. A handle encodes a pool and an offset in
 * it. The record there contains the handle again, which confirms the address.
 */
#include <errno.h>
#include <string.h>

#include "kernel/owner/stackdepot.h"

/* DEPOT_STACK_ALIGN. With it, the offsets of a pool fit into the handle. */
#define ALIGN_SHIFT 4

/* slabindex until 6.2, pool_index until 6.8 */
enum { PART_POOL, PART_OFFSET, PART_EXTRA, PART_FIELDS };
static const pdet_field_names part_names[PART_FIELDS] = {
	[PART_POOL] = { "handle_parts.pool_index_plus_1",
			"handle_parts.pool_index", "handle_parts.slabindex" },
	[PART_OFFSET] = { "handle_parts.offset" },
	[PART_EXTRA] = { "handle_parts.extra" },
};

enum { RECORD_SIZE, RECORD_HANDLE, RECORD_ENTRIES, RECORD_FIELDS };
static const pdet_field_names record_names[RECORD_FIELDS] = {
	[RECORD_SIZE] = { "stack_record.size" },
	[RECORD_HANDLE] = { "stack_record.handle" },
	[RECORD_ENTRIES] = { "stack_record.entries" },
};

bool pdet_stackdepot_init(struct pdet_stackdepot *d, const struct pdet_btf *btf,
			  uint64_t stack_pools)
{
	struct pdet_btf_member m;

	pdet_struct_find(&d->parts, btf, part_names, PART_FIELDS);
	pdet_struct_find(&d->record, btf, record_names, RECORD_FIELDS);
	d->plus_1 = pdet_btf_member(btf, part_names[PART_POOL][0], &m);
	d->pools = stack_pools;
	return stack_pools && pdet_struct_has(&d->parts, PART_POOL) &&
	       pdet_struct_has(&d->parts, PART_OFFSET) &&
	       pdet_struct_has(&d->record, RECORD_SIZE) &&
	       pdet_struct_has(&d->record, RECORD_HANDLE) &&
	       pdet_struct_has(&d->record, RECORD_ENTRIES);
}

/* A bit-field of the handle; all are within its 4 bytes. */
static uint32_t part(const struct pdet_stackdepot *d, uint32_t handle,
		     unsigned i)
{
	const struct pdet_field *f = &d->parts.field[i];
	char bytes[16] = { 0 };

	if (f->at < 0 || f->at > 3)
		return 0;
	memcpy(bytes, &handle, sizeof(handle));
	return (uint32_t)pdet_field_of(f, bytes + f->at);
}

/* Clear the extra bits, which users store in their copies of a handle. */
static uint32_t without_extra(const struct pdet_stackdepot *d, uint32_t handle)
{
	const struct pdet_field *f = &d->parts.field[PART_EXTRA];

	if (f->at < 0 || f->at > 3 || !f->bits || f->bits > 31)
		return handle;
	return handle & ~(((1u << f->bits) - 1)
			  << ((unsigned)f->at * 8 + f->bit));
}

/* Find the record of @handle in a pool from @table. */
static int find_record(struct pdet_space *space,
		       const struct pdet_stackdepot *d, uint64_t table,
		       uint32_t handle, uint64_t *ret)
{
	const uint32_t i = part(d, handle, PART_POOL) - d->plus_1;
	uint64_t pool, is;
	int r = pdet_is_address(table) ?
		pdet_space_u64(space, table + (uint64_t)i * 8, &pool) :
		-EBADMSG;

	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	*ret = pool + ((uint64_t)part(d, handle, PART_OFFSET) << ALIGN_SHIFT);
	r = pdet_struct_value(space, &d->record, *ret, RECORD_HANDLE, &is);
	if (r < 0)
		return r;
	return without_extra(d, (uint32_t)is) == without_extra(d, handle) ?
		0 : -EBADMSG;
}

ssize_t pdet_stackdepot_read(struct pdet_space *space,
			     const struct pdet_stackdepot *d, uint32_t handle,
			     uint64_t frames[PDET_STACK_FRAMES])
{
	uint64_t record, n, table;
	int r;

	if (d->plus_1 && !part(d, handle, PART_POOL))
		return -EBADMSG;
	r = find_record(space, d, d->pools, handle, &record);
	/* stack_pools may be a pointer to a table allocated at boot (6.16). */
	if (r == -EBADMSG && !pdet_space_u64(space, d->pools, &table))
		r = find_record(space, d, table, handle, &record);
	if (!r)
		r = pdet_struct_value(space, &d->record, record, RECORD_SIZE,
				      &n);
	if (!r && (n & UINT32_MAX) > PDET_STACK_FRAMES)
		r = -EBADMSG;
	if (r < 0)
		return r;
	n &= UINT32_MAX;
	r = pdet_space_read(space, pdet_struct_addr(&d->record, record,
						    RECORD_ENTRIES),
			    frames, n * sizeof(*frames));
	return r == -ENOENT ? -EBADMSG : r < 0 ? r : (ssize_t)n;
}
