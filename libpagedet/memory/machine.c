/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Names of machines; most of them are not supported otherwise. */
#include <elf.h>
#include <stdio.h>

#include "base/env.h"
#include "memory/machine.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

const char *pdet_machine_name(uint16_t machine)
{
	static const struct {
		uint16_t machine;
		const char *name;
	} names[] = {
		{ EM_X86_64, "x86_64" }, { EM_AARCH64, "aarch64" },
		{ EM_386, "i386" }, { EM_ARM, "arm" },
		{ EM_LOONGARCH, "loongarch" }, { EM_MIPS, "mips" },
		{ EM_PPC, "ppc" }, { EM_PPC64, "ppc64" },
		{ EM_RISCV, "riscv" }, { EM_S390, "s390x" },
		{ EM_SPARCV9, "sparc64" },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return NULL;
}

const char *pdet_machine_words(uint16_t machine, char buf[PDET_MACHINE_WORDS])
{
	const char *name = pdet_machine_name(machine);

	if (name)
		return name;
	snprintf(buf, PDET_MACHINE_WORDS, "ELF machine %u", machine);
	return buf;
}
