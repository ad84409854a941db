/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Kinds of machines, as ELF files number them. */
#ifndef PDET_MEMORY_MACHINE_H
#define PDET_MEMORY_MACHINE_H

#include <stdint.h>

/* pdet_machine_name - of EM_*, as uname -m says it; NULL: none that Linux
 * commonly runs on. */
const char *pdet_machine_name(uint16_t machine);

/* Room for "ELF machine 65535". */
#define PDET_MACHINE_WORDS 32

/* pdet_machine_words - for messages: the name, or the number. */
const char *pdet_machine_words(uint16_t machine,
			       char buf[PDET_MACHINE_WORDS]);

#endif
