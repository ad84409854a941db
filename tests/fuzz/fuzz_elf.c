/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes ELF dumps: the input is the file. */
#include "dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz_file();

	fuzz_put(fd, data, size, 0);
	fuzz_dump(fd);
	return 0;
}
