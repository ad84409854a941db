/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stores a kernel's offsets, sizes and numbers by name: from VMCOREINFO, then
 * from its types. A value that neither has stays unknown. Kernel versions are
 * never compared.
 */
#ifndef PDET_KERNEL_TYPES_LAYOUT_H
#define PDET_KERNEL_TYPES_LAYOUT_H

#include "kernel/text/vmcoreinfo.h"
#include "kernel/types/btf.h"
#include "pagedet.h"

/* A struct page has 64 bytes, and more with debugging options. */
#define PDET_PAGE_BYTES 128

enum pdet_member {
#define PDET_MEMBER(id, ...) PDET_MEMBER_##id,
#include "kernel/types/layout.def"
	PDET_MEMBERS
};

enum pdet_size {
#define PDET_SIZE(id, name) PDET_SIZE_##id,
#include "kernel/types/layout.def"
	PDET_SIZES
};

enum pdet_second {
#define PDET_SECOND(id, name) PDET_SECOND_##id,
#include "kernel/types/layout.def"
	PDET_SECONDS
};

enum pdet_type {
#define PDET_TYPE(id, ...) PDET_TYPE_##id,
#include "kernel/types/layout.def"
	PDET_TYPES
};

/* How page_type encodes a type. */
enum pdet_type_form {
	PDET_TYPE_FORM_UNKNOWN,
	PDET_TYPE_FORM_BITS,	/* a clear bit below the bits of base */
	PDET_TYPE_FORM_BYTE	/* the highest byte, 0xf0 to 0xfe */
};

struct pdet_layout {
	/* Enough is known to read a struct page. All known members are within
	 * PDET_PAGE_BYTES and the struct. */
	bool pages;
	int32_t member[PDET_MEMBERS]; /* byte offset; -1 unknown */
	uint64_t size[PDET_SIZES]; /* 0: unknown */
	int8_t flag[64];	/* kernel bit number of PAGEDET_PF bit i; -1:
				 * the kernel does not have the flag, or it is
				 * unknown */
	int8_t second[PDET_SECONDS]; /* kernel bit number; -1 as above */
	bool flags_named;	/* types were read: a flag of -1 then means that
				 * the kernel lacks it */
	unsigned free_orders;	/* free blocks have orders 0 .. this - 1 */
	int16_t hugetlb_dtor;	/* SECOND_DTOR of hugetlb; -1 as above */
	struct {
		enum pdet_type_form form;
		uint32_t base, bits; /* FORM_BITS: all bits of base are set */
		uint32_t also;	/* FORM_BITS: may be clear beside a type's bit,
				 * and may be a type itself */
		uint8_t is[32];	/* type by bit number, or by the byte's lower
				 * half; PDET_TYPES: unknown */
		bool known[PDET_TYPES];
	} type;
	/* The inverse of flag[]: kernel bits to PAGEDET_PF bits, for the flags
	 * word of a folio. */
	struct {
		uint64_t known;	/* PAGEDET_PF bits, also of single pages */
		uint64_t numbers; /* kernel bits that have a meaning */
		uint64_t is[64]; /* PAGEDET_PF bits */
	} flags;
};

/* pdet_layout_at - the offset of a member of @n bytes in a struct page, or in
 * the second one of a folio. It is always within PDET_PAGE_BYTES: a caller that
 * did not check that the member is known gets a wrong value, but never an
 * access out of bounds. */
static inline unsigned pdet_layout_at(const struct pdet_layout *l,
				      enum pdet_member m, unsigned n)
{
	const uint32_t at = (uint32_t)l->member[m];

	return at <= PDET_PAGE_BYTES - n ? at : 0;
}

/* pdet_layout_init - set up from VMCOREINFO. */
void pdet_layout_init(struct pdet_layout *l,
		      const struct pdet_vmcoreinfo *info);

/* pdet_layout_add_types - add the facts of the types. This can be done at any
 * later time. Returns false, and takes nothing, if the types belong to another
 * kernel. */
bool pdet_layout_add_types(struct pdet_layout *l, const struct pdet_btf *btf);

/* pdet_layout_doubt - record that VMCOREINFO or the types are damaged, and that
 * it is unknown which. Every value on which they differ becomes unknown. */
void pdet_layout_doubt(struct pdet_layout *l, const struct pdet_btf *btf);

#endif
