/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Maps the BTF file of sysfs. It maps no other file: a copy might be truncated
 * while it is mapped.
 */
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/env.h"
#include "kernel/types/btf_file.h"

const void *pdet_btf_file_map(int fd, size_t most, size_t *ret)
{
	struct statfs fs;
	struct stat st;
	void *at;

	if (fstatfs(fd, &fs) < 0 || fs.f_type != SYSFS_MAGIC ||
	    fstat(fd, &st) < 0 || st.st_size <= 0)
		return NULL;
	*ret = PDET_MIN(most, (size_t)st.st_size);
	at = mmap(NULL, *ret, PROT_READ, MAP_PRIVATE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}
