/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the page flags of the running kernel by their names in its BTF. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "kernel/page/kpf.h"
#include "kernel/types/btf_enum.h"
#include "kernel/types/btf_file.h"

/*
 * Every kernel has at least this many page flags; most other enums have fewer.
 */
#define LEAST_FLAGS 16
/* Bytes to map: the enum ends 21 to 130 KB after the start of the types, in 6.1
 * to 6.18. A mapped page costs 0.1 us, a page read costs 1. */
#define MAPPED ((size_t)1 << 18)

static bool enum_has(const void *types, const char *name)
{
	uint32_t value;

	return pdet_btf_enum_value(types, name, &value);
}

/* The file, and its mapped start. */
struct types {
	int fd;
	const char *mapped;
	size_t n;
};

static ssize_t read_at(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct types *t = arg;

	if (offset > t->n || n > t->n - offset)
		return pdet_pread(t->fd, buf, n, offset);
	memcpy(buf, t->mapped + offset, n);
	return (ssize_t)n;
}

void pdet_kpf_from_btf(struct pdet_kpf *kpf, const struct pdet_env *env)
{
	struct types types = { 0 };
	const struct pdet_btf_reader reader = { read_at, &types };
	struct pdet_btf_enum e;
	bool found;

	types.fd = pdet_open(env, "/sys/kernel/btf/vmlinux");
	if (types.fd < 0) {
		pdet_kpf_known(kpf, NULL, NULL);
		return;
	}
	types.mapped = pdet_btf_file_map(types.fd, MAPPED, &types.n);
	if (!types.mapped)
		types.n = 0;
	found = pdet_btf_enum_find(&reader, "pageflags", "PG_locked",
				   LEAST_FLAGS, &e);
	if (types.mapped)
		munmap((void *)types.mapped, types.n);
	close(types.fd);
	pdet_kpf_known(kpf, found ? enum_has : NULL, &e);
}
