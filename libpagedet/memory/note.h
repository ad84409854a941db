/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * ELF notes: of core files, of kdump's header, of /proc/kcore. Names and
 * contents are padded to 4 bytes in all of them, and numbers are in the byte
 * order of this machine: others were refused before.
 */
#ifndef PDET_MEMORY_NOTE_H
#define PDET_MEMORY_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More than that is no notes: a CPU has some hundred bytes. */
#define PDET_NOTES_MAX ((size_t)16 << 20)

struct pdet_note {
	const char *name;	/* without a NUL that is counted */
	size_t name_len;
	uint32_t type;
	const char *desc;
	size_t desc_len;
};

struct pdet_notes {
	const char *data;
	size_t len;
};

/* pdet_notes_next - cuts the first note off; false at the end, and where what
 * follows does not fit. */
bool pdet_notes_next(struct pdet_notes *notes, struct pdet_note *ret);

/* pdet_note_is - by name and type. */
bool pdet_note_is(const struct pdet_note *note, const char *name,
		  uint32_t type);

/* pdet_notes_machine - EM_*, which the registers of a CPU tell by their size;
 * 0: no note of the kind. */
uint16_t pdet_notes_machine(struct pdet_notes notes);

/* Where a processor was when the dump was written. */
struct pdet_cpu {
	uint64_t ip, sp, fp;	/* fp: bp on x86-64 */
	bool user;		/* in user code */
	uint32_t pid;		/* of the thread; QEMU does not know it, and
				 * counts processors from 1 */
};

/* pdet_notes_cpu - the one with number @n among those that are there; false:
 * there are fewer, or they are of an architecture that is not known. */
bool pdet_notes_cpu(struct pdet_notes notes, uint32_t n, struct pdet_cpu *ret);

/* pdet_notes_vmcoreinfo - the text; false if there is none. */
bool pdet_notes_vmcoreinfo(struct pdet_notes notes, const char **text,
			   size_t *len);

#endif
