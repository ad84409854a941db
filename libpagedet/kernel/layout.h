/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Where a kernel has what: offsets, sizes and numbers by name, from VMCOREINFO
 * first and from its types then. What nobody says stays unknown; no version is
 * asked for.
 */
#ifndef PDET_KERNEL_LAYOUT_H
#define PDET_KERNEL_LAYOUT_H

#include "kernel/btf.h"
#include "kernel/vmcoreinfo.h"
#include "pagedet.h"

/* A struct page is 64 bytes, with debugging options more. */
#define PDET_PAGE_BYTES 128

enum pdet_member {
#define PDET_MEMBER(id, ...) PDET_MEMBER_##id,
#include "kernel/layout.def"
	PDET_MEMBERS
};

enum pdet_size {
#define PDET_SIZE(id, name) PDET_SIZE_##id,
#include "kernel/layout.def"
	PDET_SIZES
};

enum pdet_second {
#define PDET_SECOND(id, name) PDET_SECOND_##id,
#include "kernel/layout.def"
	PDET_SECONDS
};

enum pdet_type {
#define PDET_TYPE(id, ...) PDET_TYPE_##id,
#include "kernel/layout.def"
	PDET_TYPES
};

/* How page_type says a type. */
enum pdet_type_form {
	PDET_TYPE_FORM_UNKNOWN,
	PDET_TYPE_FORM_BITS,	/* one that is clear, below those of base */
	PDET_TYPE_FORM_BYTE	/* the highest, 0xf0 to 0xfe */
};

struct pdet_layout {
	/* Enough is known to read a struct page; all members that are known
	 * are within PDET_PAGE_BYTES and the struct. */
	bool pages;
	int32_t member[PDET_MEMBERS]; /* bytes; -1 unknown */
	uint64_t size[PDET_SIZES]; /* 0 unknown */
	int8_t flag[64];	/* number of the page flag that PAGEDET_PF bit
				 * i is; -1 there is none, or unknown */
	int8_t second[PDET_SECONDS]; /* number; -1 the same */
	bool flags_named;	/* the types were asked: what is -1 is not
				 * there */
	unsigned free_orders;	/* of free blocks: 0 .. this - 1 */
	int16_t hugetlb_dtor;	/* SECOND_DTOR of hugetlb; -1 the same */
	struct {
		enum pdet_type_form form;
		uint32_t base, bits; /* FORM_BITS: all of base are set */
		uint8_t is[32];	/* by number of the bit, by the byte's lower
				 * half; PDET_TYPES: we know none */
		bool known[PDET_TYPES];
	} type;
	/* The same as flag[], by number, for words of flags: those of a
	 * folio. */
	struct {
		uint64_t known;	/* PAGEDET_PF bits, those of a page too */
		uint64_t numbers; /* bits that mean something */
		uint64_t is[64]; /* PAGEDET_PF bits */
	} flags;
};

/* pdet_layout_init - start with VMCOREINFO. */
void pdet_layout_init(struct pdet_layout *l,
		      const struct pdet_vmcoreinfo *info);

/* pdet_layout_add_types - later, or never, comes what the types know. False:
 * they are those of another kernel, and nothing is taken from them. */
bool pdet_layout_add_types(struct pdet_layout *l, const struct pdet_btf *btf);

/* pdet_layout_doubt - one of VMCOREINFO and the types is damaged, and nobody
 * knows which: what both say, and not the same, becomes unknown. */
void pdet_layout_doubt(struct pdet_layout *l, const struct pdet_btf *btf);

#endif
