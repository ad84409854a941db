/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Detects the form of a memory dump by its first bytes: ELF core files (QEMU,
 * /proc/vmcore, /proc/kcore), diskdump and kdump, the flattened form of
 * makedumpfile, and compressed files of these.
 */
#include <elf.h>
#include <string.h>

#include "base/env.h"
#include "memory/dump_kind.h"

#define BEGINS(text) (text), sizeof(text) - 1

static const struct {
	const char *magic;
	size_t len;
	const char *kind;
} forms[] = {
	[PDET_DUMP_ELF] = { BEGINS(ELFMAG), "an ELF dump" },
	[PDET_DUMP_KDUMP] = {
		BEGINS("KDUMP   "), "a dump in kdump's compressed form"
	},
	[PDET_DUMP_DISKDUMP] = {
		BEGINS("DISKDUMP"), "a dump in diskdump's compressed form"
	},
	[PDET_DUMP_FLAT] = {
		BEGINS("makedumpfile\0\0\0"), "a flattened dump of makedumpfile"
	},
	[PDET_DUMP_GZIP] = { BEGINS("\x1f\x8b"), "compressed by gzip" },
	[PDET_DUMP_ZSTD] = { BEGINS("\x28\xb5\x2f\xfd"), "compressed by zstd" },
	[PDET_DUMP_XZ] = { BEGINS("\xfd" "7zXZ\0"), "compressed by xz" },
};

/* e_type has the same offset in 32 and 64 bits. Programs are ELF files too. */
static bool is_core(const unsigned char *head, size_t len)
{
	bool big;
	unsigned type;

	if (len < EI_NIDENT + 2)
		return false;
	big = head[EI_DATA] == ELFDATA2MSB;
	type = head[EI_NIDENT + big] | (unsigned)head[EI_NIDENT + !big] << 8;
	return type == ET_CORE;
}

enum pdet_dump_form pdet_dump_form(const void *head, size_t len)
{
	size_t i;

	for (i = PDET_DUMP_NONE + 1; i < PDET_COUNT(forms); i++)
		if (len >= forms[i].len &&
		    !memcmp(head, forms[i].magic, forms[i].len))
			break;
	if (i == PDET_COUNT(forms) ||
	    (i == PDET_DUMP_ELF && !is_core(head, len)))
		return PDET_DUMP_NONE;
	return (enum pdet_dump_form)i;
}

const char *pdet_dump_kind(const void *head, size_t len)
{
	return forms[pdet_dump_form(head, len)].kind;
}
