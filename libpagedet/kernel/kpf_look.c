/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Which page flags a running kernel has, by their names in its types. */
#include <unistd.h>

#include "base/io.h"
#include "kernel/btf_enum.h"
#include "kernel/kpf.h"

/* No kernel has fewer page flags; most enums have. */
#define LEAST_FLAGS 16

static bool enum_has(const void *types, const char *name)
{
	uint32_t value;

	return pdet_btf_enum_value(types, name, &value);
}

static ssize_t read_at(void *arg, void *buf, size_t n, uint64_t offset)
{
	const int *fd = arg;

	return pdet_pread(*fd, buf, n, offset);
}

void pdet_kpf_look(struct pdet_kpf *kpf, const struct pdet_env *env)
{
	int fd = pdet_open(env, "/sys/kernel/btf/vmlinux");
	const struct pdet_btf_reader reader = { read_at, &fd };
	struct pdet_btf_enum e;
	bool found;

	if (fd < 0) {
		pdet_kpf_known(kpf, NULL, NULL);
		return;
	}
	found = pdet_btf_enum_find(&reader, "pageflags", "PG_locked",
				   LEAST_FLAGS, &e);
	close(fd);
	pdet_kpf_known(kpf, found ? enum_has : NULL, &e);
}
