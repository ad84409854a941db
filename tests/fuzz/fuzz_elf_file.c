/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes the files of programs: segments, build ids and symbols. */
#include <errno.h>

#include "fuzz.h"
#include "unwind/elf_file.h"

static int read_bytes(void *arg, uint64_t offset, void *buf, size_t n)
{
	return fuzz_read_at(arg, buf, n, offset) == (ssize_t)n ? 0 : -EIO;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file in = { data, size };
	/* Some inputs have little left. */
	uint64_t spent = PDET_ELF_BYTES - (size % 2 ? size : PDET_ELF_BYTES);
	struct pdet_elf_file e = {
		.read = read_bytes, .arg = &in, .size = size, .spent = &spent
	};
	uint64_t address, offset, bytes, at;
	const char *name;

	if (pdet_elf_file_open(&e) < 0)
		return 0;
	for (at = 0; at < size; at += size / 16 + 1) {
		if (!pdet_elf_file_address(&e, at, &address))
			continue;
		name = pdet_elf_file_symbol(&e, address, &offset, &bytes);
		MUST(!name || strlen(name) < size);
		MUST(!name || !bytes || offset < bytes);
	}
	MUST(spent <= PDET_ELF_BYTES);
	pdet_elf_file_free(&e);
	return 0;
}
