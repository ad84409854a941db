/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the notes of dumps, and checks their sizes. */
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
	/* the last note may lack padding */
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

/* struct elf_prstatus has them after a part common to all machines, as struct
 * user_regs_struct (arch/x86/include/asm/user_64.h) or user_pt_regs
 * (arch/arm64/include/uapi/asm/ptrace.h). */
static bool read_cpu(const struct pdet_note *note, struct pdet_cpu *ret)
{
	enum { PID = 32, REGS = 112 };
	enum { X86_LEN = 336, X86_BP = 4, X86_IP = 16, X86_CS, X86_SP = 19 };
	enum { ARM64_LEN = 392, ARM64_FP = 29, ARM64_LR, ARM64_SP,
	       ARM64_PC, ARM64_PSTATE };
	uint64_t regs[34];

	if (note->desc_len != X86_LEN && note->desc_len != ARM64_LEN)
		return false;
	memcpy(regs, note->desc + REGS, note->desc_len == X86_LEN ?
	       27 * sizeof(*regs) : sizeof(regs));
	if (note->desc_len == X86_LEN)
		*ret = (struct pdet_cpu){
			.ip = regs[X86_IP], .sp = regs[X86_SP],
			.fp = regs[X86_BP], .user = regs[X86_CS] & 3,
		};
	else
		/* exception level 0 */
		*ret = (struct pdet_cpu){
			.ip = regs[ARM64_PC], .sp = regs[ARM64_SP],
			.fp = regs[ARM64_FP], .lr = regs[ARM64_LR],
			.user = !(regs[ARM64_PSTATE] & 0xc),
		};
	memcpy(&ret->pid, note->desc + PID, sizeof(ret->pid));
	return true;
}

bool pdet_notes_cpu(struct pdet_notes notes, uint32_t n, struct pdet_cpu *ret)
{
	struct pdet_note note;

	while (pdet_notes_next(&notes, &note))
		if (pdet_note_is(&note, "CORE", NT_PRSTATUS) && !n--)
			return read_cpu(&note, ret);
	return false;
}

/* @len: of a note of that machine, which has @size bytes of registers. */
static bool registers(struct pdet_notes notes, uint32_t n, size_t len,
		      size_t size, uint64_t *ret)
{
	enum { REGS = 112 };
	struct pdet_note note;

	while (pdet_notes_next(&notes, &note)) {
		if (!pdet_note_is(&note, "CORE", NT_PRSTATUS) || n--)
			continue;
		if (note.desc_len != len)
			return false;
		memcpy(ret, note.desc + REGS, size);
		return true;
	}
	return false;
}

bool pdet_notes_x86(struct pdet_notes notes, uint32_t n,
		    uint64_t ret[PDET_X86_WORDS])
{
	return registers(notes, n, 336, PDET_X86_WORDS * sizeof(*ret), ret);
}

bool pdet_notes_arm64(struct pdet_notes notes, uint32_t n,
		      uint64_t ret[PDET_ARM64_WORDS])
{
	return registers(notes, n, 392, PDET_ARM64_WORDS * sizeof(*ret), ret);
}

/* QEMUCPUState (QEMU, target/i386/arch_dump.c) has it at its end. In user mode
 * the register has the kernel's base, for the next entry. */
bool pdet_notes_qemu_gs(struct pdet_notes notes, uint32_t n, uint64_t *ret)
{
	enum { AT = 432, LEN = 440 };
	struct pdet_note note;

	while (pdet_notes_next(&notes, &note)) {
		if (!pdet_note_is(&note, "QEMU", 0) || n--)
			continue;
		if (note.desc_len < LEN)
			return false;
		memcpy(ret, note.desc + AT, sizeof(*ret));
		return true;
	}
	return false;
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
