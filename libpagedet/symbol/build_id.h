/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The build id of a kernel. It is the same in its memory, in VMCOREINFO (since
 * 5.9, 0935288c6e00) and in its vmlinux. No other build has this id. */
#ifndef PDET_SYMBOL_BUILD_ID_H
#define PDET_SYMBOL_BUILD_ID_H

#include "base/env.h"
#include "kernel/text/vmcoreinfo.h"
#include "memory/note.h"

#define PDET_BUILD_ID_BYTES 64

struct pdet_build_id {
	size_t n;		/* bytes; 0: unknown */
	uint8_t bytes[PDET_BUILD_ID_BYTES];
};

/* As hexadecimal text, NUL-terminated. */
typedef char pdet_build_id_text[2 * PDET_BUILD_ID_BYTES + 1];

/* Read the build id from ELF notes, from VMCOREINFO, or from the running
 * kernel. n stays 0 if there is none. */
void pdet_build_id_note(struct pdet_build_id *ret, struct pdet_notes notes);
void pdet_build_id_info(struct pdet_build_id *ret,
			const struct pdet_vmcoreinfo *info);
void pdet_build_id_running(struct pdet_build_id *ret,
			   const struct pdet_env *env);

bool pdet_build_id_same(const struct pdet_build_id *a,
			const struct pdet_build_id *b);
const char *pdet_build_id_words(const struct pdet_build_id *id,
				pdet_build_id_text buf);

#endif
