/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Notes of dumps: what is in them, and where one ends. */
#include <elf.h>
#include <string.h>

#include "base/env.h"
#include "memory/note.h"

#define ALIGN4(n) (((uint64_t)(n) + 3) & ~(uint64_t)3)

bool pdet_notes_next(struct pdet_notes *notes, struct pdet_note *ret)
{
	Elf64_Nhdr head;
	uint64_t name, desc;

	if (notes->len < sizeof(head))
		return false;
	memcpy(&head, notes->data, sizeof(head));
	name = sizeof(head);
	desc = name + ALIGN4(head.n_namesz);
	/* a last one is not always padded */
	if (desc + head.n_descsz > notes->len)
		return false;
	ret->name = notes->data + name;
	ret->name_len = head.n_namesz;
	if (ret->name_len && !ret->name[ret->name_len - 1])
		ret->name_len--;
	ret->type = head.n_type;
	ret->desc = notes->data + desc;
	ret->desc_len = head.n_descsz;
	desc = PDET_MIN(desc + ALIGN4(head.n_descsz), notes->len);
	notes->data += desc;
	notes->len -= desc;
	return true;
}

bool pdet_note_is(const struct pdet_note *note, const char *name,
		  uint32_t type)
{
	return note->type == type && note->name_len == strlen(name) &&
		!memcmp(note->name, name, note->name_len);
}

uint16_t pdet_notes_machine(struct pdet_notes notes)
{
	/* struct elf_prstatus, include/linux/elfcore.h */
	static const struct {
		size_t len;
		uint16_t machine;
	} sizes[] = {
		{ 336, EM_X86_64 },
		{ 376, EM_RISCV },
		{ 392, EM_AARCH64 },
		{ 504, EM_PPC64 },
	};
	struct pdet_note note;
	size_t i;

	while (pdet_notes_next(&notes, &note)) {
		if (!pdet_note_is(&note, "CORE", NT_PRSTATUS))
			continue;
		for (i = 0; i < PDET_COUNT(sizes); i++)
			if (sizes[i].len == note.desc_len)
				return sizes[i].machine;
	}
	return 0;
}

bool pdet_notes_vmcoreinfo(struct pdet_notes notes, const char **text,
			   size_t *len)
{
	struct pdet_note note;

	while (pdet_notes_next(&notes, &note)) {
		if (!pdet_note_is(&note, "VMCOREINFO", 0))
			continue;
		*text = note.desc;
		*len = note.desc_len;
		return true;
	}
	return false;
}
