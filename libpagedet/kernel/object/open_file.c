/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds an open file: task_struct.files leads to a table, and the table to an
 * array of files by descriptor.
 */
#include <errno.h>

#include "kernel/object/open_file.h"

static const pdet_field_names task_names[] = { { "task_struct.files" } };
static const pdet_field_names files_names[] = { { "files_struct.fdt" } };

enum { TABLE_SIZE, TABLE_ARRAY, TABLE_FIELDS };
static const pdet_field_names table_names[TABLE_FIELDS] = {
	[TABLE_SIZE] = { "fdtable.max_fds" },
	[TABLE_ARRAY] = { "fdtable.fd" },
};

bool pdet_open_files_init(struct pdet_open_files *o,
			  const struct pdet_btf *btf)
{
	pdet_struct_find(&o->task, btf, task_names, 1);
	pdet_struct_find(&o->files, btf, files_names, 1);
	pdet_struct_find(&o->table, btf, table_names, TABLE_FIELDS);
	return pdet_struct_has(&o->task, 0) && pdet_struct_has(&o->files, 0) &&
	       o->table.field[TABLE_SIZE].read &&
	       o->table.field[TABLE_ARRAY].read;
}

int pdet_open_file(struct pdet_space *space, const struct pdet_open_files *o,
		   uint64_t task, unsigned fd, uint64_t *ret)
{
	char buf[PDET_STRUCT_BYTES];
	uint64_t files, table;
	int r;

	r = pdet_struct_value(space, &o->task, task, 0, &files);
	if (r == 0)
		r = pdet_struct_value(space, &o->files, files, 0, &table);
	if (r == 0)
		r = pdet_struct_read(space, &o->table, table, buf);
	if (r < 0)
		return r;
	if (fd >= pdet_struct_get(&o->table, buf, TABLE_SIZE))
		return -ENOENT;
	r = pdet_space_u64(space, pdet_struct_get(&o->table, buf, TABLE_ARRAY) +
			   (uint64_t)fd * 8, ret);
	return r == 0 && !*ret ? -ENOENT : r;
}
