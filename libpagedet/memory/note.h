/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses ELF notes of core files, of kdump's header and of /proc/kcore. Names
 * and contents are padded to 4 bytes. Numbers have this machine's byte order;
 * other dumps were refused before.
 */
#ifndef PDET_MEMORY_NOTE_H
#define PDET_MEMORY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of plausible size: a CPU takes a few hundred bytes. */
#define PDET_NOTES_MAX ((size_t)16 << 20)

struct pdet_note {
	const char *name;	/* length excludes a NUL */
	size_t name_len;
	uint32_t type;
	const char *desc;
	size_t desc_len;
};

struct pdet_notes {
	const char *data;
	size_t len;
};

/* pdet_notes_next - cut off the first note. Returns false at the end, or if the
 * rest does not fit. */
bool pdet_notes_next(struct pdet_notes *notes, struct pdet_note *ret);

/* pdet_note_is - true if name and type match. */
bool pdet_note_is(const struct pdet_note *note, const char *name,
		  uint32_t type);

/* pdet_notes_machine - EM_*, found by the size of a CPU's registers. 0 if there
 * is no such note. */
uint16_t pdet_notes_machine(struct pdet_notes notes);

/* The state of a processor when the dump was written. */
struct pdet_cpu {
	uint64_t ip, sp, fp;	/* fp: bp on x86-64 */
	uint64_t lr;		/* link register of arm64 */
	bool user;		/* in user mode */
	uint32_t pid;		/* pid of the thread; QEMU does not know it, and
				 * numbers the processors from 1 */
};

/* pdet_notes_cpu - get processor @n among those in the notes. Returns false if
 * there are fewer, or if their architecture is unknown. */
bool pdet_notes_cpu(struct pdet_notes notes, uint32_t n, struct pdet_cpu *ret);

/* Words of struct pt_regs of x86-64. */
enum { PDET_X86_WORDS = 21 };

/* pdet_notes_x86 - all registers of processor @n, in that order. Returns false
 * if there are none of x86-64. */
bool pdet_notes_x86(struct pdet_notes notes, uint32_t n,
		    uint64_t ret[PDET_X86_WORDS]);

/* Words of struct user_pt_regs of arm64. */
enum { PDET_ARM64_WORDS = 34 };

/* pdet_notes_arm64 - the same of arm64. */
bool pdet_notes_arm64(struct pdet_notes notes, uint32_t n,
		      uint64_t ret[PDET_ARM64_WORDS]);

/* pdet_notes_qemu_gs - where processor @n, which is in user mode, has its
 * per-CPU area. Only QEMU writes that. Returns false if it did not. */
bool pdet_notes_qemu_gs(struct pdet_notes notes, uint32_t n, uint64_t *ret);

/*
 * pdet_notes_vmcoreinfo - the text of VMCOREINFO. Returns false if there is
 * none.
 */
bool pdet_notes_vmcoreinfo(struct pdet_notes notes, const char **text,
			   size_t *len);

#endif
