/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes a vmlinux: its sections with libelf, and its debug information with
 * libdw. Both get the input as the file.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/env.h"
#include "base/library.h"
#include "fuzz.h"
#include "kernel/types/dwarf.h"
#include "symbol/vmlinux.h"

static const char *const members[] = {
	"sample.next", "sample.in.b", "sample.low", "sample.grid", "sample.how",
	"page.flags", "page.lru.next", "folio.page._refcount", "folio.rest",
	"other.first", "x.y",
};

static void ask_types(struct pdet_btf *btf)
{
	struct pdet_btf_member m;
	const char *name;
	uint64_t value;
	size_t i;

	for (i = 0; i < PDET_COUNT(members); i++)
		if (pdet_btf_member(btf, members[i], &m))
			pdet_btf_array_length(btf, m.type, &value);
	pdet_btf_struct_size(btf, "sample", &value);
	pdet_btf_struct_size(btf, "folio", &value);
	pdet_btf_enumerator(btf, "colour", "GREEN", &value);
	pdet_btf_enumerator(btf, "pageflags", "PG_lru", &value);
	if (pdet_btf_enum_at(btf, "colour", 1, &name, &value))
		MUST(strlen(name) < SIZE_MAX);
}

static void ask_symbols(struct pdet_vmlinux *v)
{
	struct pdet_symbol s[] = {
		{ .name = "_stext" }, { .name = "one" }, { .name = "page" },
	};
	const struct pdet_vmlinux_move move = { 0x200000, 0, 1 << 20 };
	char name[PDET_SYMBOL_NAME], type;
	struct pdet_kallsyms k;
	uint32_t i;

	pdet_vmlinux_find(v, s, PDET_COUNT(s));
	if (pdet_vmlinux_symbols(v, &move, &k) < 0)
		return;
	for (i = 0; i < k.n; i++) {
		MUST(!i || k.address[i - 1] <= k.address[i]);
		pdet_kallsyms_name(&k, i, name, &type);
	}
	pdet_kallsyms_free(&k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_env env = { .root = (char *)(uintptr_t)"" };
	static struct pdet_library kept;
	static int fd = -1;
	struct pdet_btf *btf = NULL;
	struct pdet_vmlinux v;
	void *bytes = NULL;
	char path[32];
	size_t len;
	int r;

	if (fd < 0) {
		/* Loaded once, not for each input. */
		pdet_library_open(&kept, "libdw.so.1");
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	}
	if (fd < 0 || ftruncate(fd, 0) < 0 ||
	    pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = pdet_vmlinux_open(&v, &env, path);
	if (r < 0) {
		MUST(*env.error);
		return 0;
	}
	ask_symbols(&v);
	if (pdet_vmlinux_btf(&v, &bytes, &len) == 0)
		free(bytes);
	r = pdet_vmlinux_dwarf(&v, &env);
	if (r == 0)
		r = pdet_dwarf_types(&env, v.fd, &btf);
	MUST(r >= 0 || *env.error);
	if (r == 0)
		ask_types(btf);
	pdet_btf_free(btf);
	pdet_vmlinux_close(&v);
	return 0;
}
