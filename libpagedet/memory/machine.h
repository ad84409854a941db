/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Machine types, as numbered in ELF files. */
#ifndef PDET_MEMORY_MACHINE_H
#define PDET_MEMORY_MACHINE_H

#include <stdint.h>

/* pdet_machine_name - the name of EM_*, as uname -m prints it. NULL for a rare
 * machine. */
const char *pdet_machine_name(uint16_t machine);

/* Room for "ELF machine 65535". */
#define PDET_MACHINE_WORDS 32

/* pdet_machine_words - the name or the number, for messages. */
const char *pdet_machine_words(uint16_t machine,
			       char buf[PDET_MACHINE_WORDS]);

#endif
