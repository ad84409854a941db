/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes the files of programs: segments, build ids and symbols. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "unwind/elf_file.h"

static int open_as(struct pdet_elf_file *e, uint64_t *spent,
		   const struct pdet_elf_input *in)
{
	static struct pdet_libelf *libelf;
	struct pdet_env env = { .root = NULL };

	if (!libelf && pdet_libelf_new(&libelf, &env, "ELF") < 0)
		return -ENOSYS;
	memset(e, 0, sizeof(*e));
	e->spent = spent;
	return pdet_elf_file_open(e, libelf, in);
}

/* A file is what its copy in memory is. */
static void compare_file(const struct pdet_elf_file *e, int was,
			 const uint8_t *data, size_t size, uint64_t spent)
{
	const struct pdet_elf_input in = {
		.fd = memfd_create("elf", MFD_CLOEXEC), .size = size
	};
	struct pdet_elf_file file;

	MUST(write(in.fd, data, size) == (ssize_t)size);
	MUST(open_as(&file, &spent, &in) == was);
	MUST(file.n_symbols == e->n_symbols);
	MUST(file.n_sections == e->n_sections);
	MUST(file.frames.n == e->frames.n);
	MUST(file.refused == e->refused);
	MUST(pdet_build_id_same(&file.build_id, &e->build_id) ||
	     (!file.build_id.n && !e->build_id.n));
	if (was == 0)
		pdet_elf_file_free(&file);
	close(in.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_elf_input in = { .fd = -1, .size = size };
	/* Some inputs have little left. */
	const uint64_t before = PDET_ELF_BYTES -
				(size % 2 ? size : PDET_ELF_BYTES);
	uint64_t address, offset, bytes, at, spent = before;
	struct pdet_elf_file e;
	const char *name;
	int r;

	in.bytes = malloc(size ? size : 1);
	MUST(in.bytes);
	memcpy(in.bytes, data, size);
	r = open_as(&e, &spent, &in);
	/* What was read stays without them. */
	free(in.bytes);
	compare_file(&e, r, data, size, before);
	for (at = 0; r == 0 && at < size; at += size / 16 + 1) {
		if (!pdet_elf_file_address(&e, at, &address))
			continue;
		name = pdet_elf_file_symbol(&e, address, &offset, &bytes);
		MUST(!name || strlen(name) < size);
		MUST(!name || !bytes || offset < bytes);
	}
	MUST(spent <= PDET_ELF_BYTES);
	if (r == 0)
		pdet_elf_file_free(&e);
	return 0;
}
