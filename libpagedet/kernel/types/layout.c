/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Looks up offsets and numbers by the names in layout.def. */
#include <string.h>

#include "base/env.h"
#include "kernel/types/layout.h"

#define NAMES 4

static const struct {
	uint8_t bytes;
	const char *name[NAMES];
} members[PDET_MEMBERS] = {
#define PDET_MEMBER(id, bytes, ...) \
	[PDET_MEMBER_##id] = { bytes, { __VA_ARGS__ } },
#include "kernel/types/layout.def"
};

static const char *const sizes[PDET_SIZES] = {
#define PDET_SIZE(id, name) [PDET_SIZE_##id] = name,
#include "kernel/types/layout.def"
};

#define PAGE true
#define FOLIO false

static const struct {
	const char *name;
	uint8_t bit;
	bool own;
} flags[] = {
#define PDET_FLAG(id, of, name) { name, PAGEDET_PF_##id, of },
#include "kernel/types/layout.def"
};

static const char *const seconds[PDET_SECONDS] = {
#define PDET_SECOND(id, name) [PDET_SECOND_##id] = name,
#include "kernel/types/layout.def"
};

static const struct {
	const char *info, *number, *bit;
	/* the bit, if neither VMCOREINFO nor types name it */
	uint32_t old, low, high;
} types[PDET_TYPES] = {
#define PDET_TYPE(id, info, number, bit, old, low, high) \
	[PDET_TYPE_##id] = { info, number, bit, old, low, high },
#include "kernel/types/layout.def"
};

/* Orders of free blocks; arm64 with large pages has more. */
#define USUAL_ORDERS 11
#define MOST_ORDERS 24

/*
 * If a kernel does not have these flags, it does not show the state at all:
 * they stay unknown, not clear.
 */
#define SILENT (PAGEDET_PF(PAGEDET_PF_ERROR) | \
		PAGEDET_PF(PAGEDET_PF_HWPOISON) | \
		PAGEDET_PF(PAGEDET_PF_IDLE))

/* --- members --- */

/* The offset as it is stored, or -1 if the member cannot be there. */
static int32_t place(const struct pdet_layout *l, enum pdet_member m,
		     const char *name, uint64_t offset)
{
	uint64_t size = l->size[PDET_SIZE_PAGE];

	if (!strncmp(name, "mem_section", 11))
		size = 4096;
	if (!strncmp(name, "folio.", 6)) {
		if (offset < size)
			return -1;
		offset -= size;
	}
	return offset < size && members[m].bytes <= size - offset ?
		(int32_t)offset : -1;
}

/* A flags word and the other members of one struct page are enough. */
static bool has_pages(const struct pdet_layout *l)
{
	return l->member[PDET_MEMBER_PAGE_FLAGS] >= 0 &&
	       l->member[PDET_MEMBER_PAGE_REFCOUNT] >= 0 &&
	       l->member[PDET_MEMBER_PAGE_MAPCOUNT] >= 0 &&
	       l->member[PDET_MEMBER_PAGE_MAPPING] >= 0 &&
	       l->member[PDET_MEMBER_PAGE_COMPOUND_HEAD] >= 0 &&
	       l->flag[PAGEDET_PF_COMPOUND_HEAD] >= 0;
}

static bool size_fits(uint64_t size)
{
	return size >= 40 && size <= PDET_PAGE_BYTES && size % 8 == 0;
}

/* --- types --- */

/*
 * VMCOREINFO has the mark of free pages. From it follows the form of all page
 * types.
 */
static void find_form(struct pdet_layout *l, uint32_t buddy)
{
	if (buddy == ~types[PDET_TYPE_BUDDY].low) {
		l->type.form = PDET_TYPE_FORM_BITS;
		l->type.base = 0xf0000000;
		l->type.bits = 0x0fffff80;
	} else if (buddy == ~types[PDET_TYPE_BUDDY].high) {
		l->type.form = PDET_TYPE_FORM_BITS;
		l->type.base = 0x80000000;
		l->type.bits = 0x7fff0000; /* the other bits are the owner's */
	} else if (buddy >> 28 == 0xf && !(buddy << 8)) {
		l->type.form = PDET_TYPE_FORM_BYTE;
	}
}

/* @value is the complete page_type word. */
static void add_type(struct pdet_layout *l, enum pdet_type type, uint32_t value)
{
	const uint32_t bit = ~value & l->type.bits;

	if (l->type.form == PDET_TYPE_FORM_BYTE && value >> 28 == 0xf)
		l->type.is[value >> 24 & 0xf] = (uint8_t)type;
	else if (l->type.form == PDET_TYPE_FORM_BITS && bit &&
		 !(bit & (bit - 1)))
		l->type.is[__builtin_ctz(bit)] = (uint8_t)type;
	else
		return;
	l->type.known[type] = true;
}

/* Which of the numbers of low bits a kernel has. */
enum low_bits { LOW_UNKNOWN, LOW_OLD, LOW_NEW };

/* Add bits that only this list has. A number that differs between kernels stays
 * unknown until it is known which kernel this is. */
static void add_bits(struct pdet_layout *l, enum low_bits low)
{
	const uint32_t also = types[PDET_TYPE_KMEMCG].old;
	uint32_t bit;
	unsigned i;

	if (l->type.form != PDET_TYPE_FORM_BITS)
		return;
	for (i = 0; i < PDET_TYPES; i++) {
		bit = l->type.base == 0x80000000 ? types[i].high :
		      low == LOW_OLD ? types[i].old :
		      low == LOW_NEW || types[i].low == types[i].old ?
				       types[i].low : 0;
		if (bit && !l->type.known[i])
			add_type(l, i, ~bit);
	}
	l->type.also = l->type.base == 0x80000000 || low == LOW_NEW ? 0 : also;
}

static void init_types(struct pdet_layout *l,
		       const struct pdet_vmcoreinfo *info)
{
	const char *buddy = types[PDET_TYPE_BUDDY].info;
	uint64_t value;
	unsigned i;

	memset(l->type.is, PDET_TYPES, sizeof(l->type.is));
	if (pdet_vmcoreinfo_number(info, buddy, &value))
		find_form(l, (uint32_t)value);
	for (i = 0; i < PDET_TYPES; i++)
		if (types[i].info &&
		    pdet_vmcoreinfo_number(info, types[i].info, &value))
			add_type(l, i, (uint32_t)value);
	/* VMCOREINFO has this symbol since 6.0 (5fd8fea935a1). */
	add_bits(l, pdet_vmcoreinfo_symbol(info, "kallsyms_names", &value) ?
		    LOW_NEW : LOW_UNKNOWN);
}

/* The bits changed together with the name of page.mem_cgroup, in 5.11. A kernel
 * without memcgs has neither name; struct folio came in 5.16. */
static enum low_bits low_bits(const struct pdet_btf *btf)
{
	struct pdet_btf_member at;
	uint64_t size;

	if (pdet_btf_member(btf, "page.memcg_data", &at) ||
	    pdet_btf_struct_size(btf, "folio", &size))
		return LOW_NEW;
	return pdet_btf_member(btf, "page.mem_cgroup", &at) ? LOW_OLD :
							      LOW_UNKNOWN;
}

static void add_types(struct pdet_layout *l, const struct pdet_btf *btf)
{
	const bool bits = l->type.form == PDET_TYPE_FORM_BITS;
	const enum low_bits low = low_bits(btf);
	const char *name;
	uint64_t value;
	unsigned i;

	if (low != LOW_UNKNOWN)
		add_bits(l, low);
	for (i = 0; i < PDET_TYPES; i++) {
		name = bits ? types[i].bit : types[i].number;
		if (!l->type.known[i] && name &&
		    pdet_btf_enumerator(btf, "pagetype", name, &value))
			add_type(l, i, bits ? ~(uint32_t)value :
					      (uint32_t)value << 24);
	}
}

/* --- flags --- */

static void settle_flags(struct pdet_layout *l)
{
	uint64_t bit;
	size_t i;
	int nr;

	memset(&l->flags, 0, sizeof(l->flags));
	for (i = 0; i < PDET_COUNT(flags); i++) {
		bit = (uint64_t)1 << flags[i].bit;
		nr = l->flag[flags[i].bit];
		/* A flag that the types lack is never set. */
		if (nr >= 0 || (l->flags_named && !(bit & SILENT)))
			l->flags.known |= bit;
		if (nr < 0 || flags[i].own)
			continue;
		l->flags.is[nr] |= bit;
		l->flags.numbers |= (uint64_t)1 << nr;
	}
	l->pages = has_pages(l);
}

/* --- all --- */

void pdet_layout_init(struct pdet_layout *l,
		      const struct pdet_vmcoreinfo *info)
{
	uint64_t value;
	unsigned i, n;

	memset(l, 0, sizeof(*l));
	memset(l->member, -1, sizeof(l->member));
	memset(l->flag, -1, sizeof(l->flag));
	memset(l->second, -1, sizeof(l->second));
	l->hugetlb_dtor = -1;
	for (i = 0; i < PDET_SIZES; i++)
		(void)pdet_vmcoreinfo_size(info, sizes[i], &l->size[i]);
	if (!size_fits(l->size[PDET_SIZE_PAGE]))
		l->size[PDET_SIZE_PAGE] = 0;
	for (i = 0; i < PDET_MEMBERS; i++)
		for (n = 0; l->member[i] < 0 && n < NAMES &&
			    members[i].name[n]; n++)
			if (pdet_vmcoreinfo_offset(info, members[i].name[n],
						   &value))
				l->member[i] = place(l, i, members[i].name[n],
						     value);
	for (i = 0; i < PDET_COUNT(flags); i++)
		if (pdet_vmcoreinfo_number(info, flags[i].name, &value) &&
		    value < 64)
			l->flag[flags[i].bit] = (int8_t)value;
	/* PG_head_mask is a mask, not a bit number. */
	if (pdet_vmcoreinfo_number(info, "PG_head_mask", &value) && value)
		l->flag[PAGEDET_PF_COMPOUND_HEAD] =
			(int8_t)__builtin_ctzll(value);
	for (i = 0; i < PDET_SECONDS; i++)
		if (pdet_vmcoreinfo_number(info, seconds[i], &value) &&
		    value < 64)
			l->second[i] = (int8_t)value;
	if (pdet_vmcoreinfo_number(info, "HUGETLB_PAGE_DTOR", &value) &&
	    value < 256)
		l->hugetlb_dtor = (int16_t)value;
	if (!pdet_vmcoreinfo_length(info, "zone.free_area", &value) ||
	    !value || value > MOST_ORDERS)
		value = USUAL_ORDERS;
	l->free_orders = (unsigned)value;
	init_types(l, info);
	settle_flags(l);
}

/* The offset of the first name that the types have. */
static int32_t typed_place(const struct pdet_layout *l,
			   const struct pdet_btf *btf, enum pdet_member m)
{
	struct pdet_btf_member at;
	unsigned n;

	for (n = 0; n < NAMES && members[m].name[n]; n++)
		if (pdet_btf_member(btf, members[m].name[n], &at))
			return place(l, m, members[m].name[n],
				     at.bit_offset / 8);
	return -1;
}

/* The enum must agree with VMCOREINFO on a page type. */
static bool is_same_type(const struct pdet_layout *l,
			 const struct pdet_btf *btf, unsigned i)
{
	const bool bits = l->type.form == PDET_TYPE_FORM_BITS;
	const char *name = bits ? types[i].bit : types[i].number;
	uint64_t value;

	if (!l->type.known[i] || !name ||
	    !pdet_btf_enumerator(btf, "pagetype", name, &value))
		return true;
	if (bits)
		return value && value <= UINT32_MAX &&
		       l->type.is[__builtin_ctz((uint32_t)value)] == i;
	return value >> 4 == 0xf && l->type.is[value & 0xf] == i;
}

static bool is_same_flag(const struct pdet_layout *l,
			 const struct pdet_btf *btf, size_t i)
{
	const int8_t nr = l->flag[flags[i].bit];
	uint64_t value;

	return nr < 0 || !pdet_btf_enumerator(btf, "pageflags", flags[i].name,
					      &value) ||
	       value == (uint64_t)nr;
}

void pdet_layout_doubt(struct pdet_layout *l, const struct pdet_btf *btf)
{
	bool same = true;
	uint64_t value;
	int32_t at;
	size_t i;

	for (i = 0; i < PDET_MEMBERS; i++) {
		at = typed_place(l, btf, i);
		if (at >= 0 && at != l->member[i])
			l->member[i] = -1;
	}
	/* With another size every struct page would be misread. */
	if (pdet_btf_struct_size(btf, sizes[PDET_SIZE_PAGE], &value) &&
	    value != l->size[PDET_SIZE_PAGE])
		l->member[PDET_MEMBER_PAGE_FLAGS] = -1;
	for (i = 0; i < PDET_COUNT(flags); i++)
		if (!is_same_flag(l, btf, i))
			l->flag[flags[i].bit] = -1;
	for (i = 0; i < PDET_TYPES; i++)
		same &= is_same_type(l, btf, i);
	if (!same) {
		memset(&l->type, 0, sizeof(l->type));
		memset(l->type.is, PDET_TYPES, sizeof(l->type.is));
	}
	settle_flags(l);
}

/* True if the types agree with VMCOREINFO. */
static bool is_same_kernel(const struct pdet_layout *l,
			   const struct pdet_btf *btf)
{
	uint64_t value;
	unsigned i;

	for (i = 0; i < PDET_MEMBERS; i++)
		if (l->member[i] >= 0 &&
		    typed_place(l, btf, i) != l->member[i])
			return false;
	for (i = 0; i < PDET_COUNT(flags); i++)
		if (l->flag[flags[i].bit] >= 0 &&
		    (!pdet_btf_enumerator(btf, "pageflags", flags[i].name,
					  &value) ||
		     (int8_t)value != l->flag[flags[i].bit]))
			return false;
	for (i = 0; i < PDET_TYPES; i++)
		if (!is_same_type(l, btf, i))
			return false;
	return true;
}

bool pdet_layout_add_types(struct pdet_layout *l, const struct pdet_btf *btf)
{
	uint64_t value;
	unsigned i;

	if (!pdet_btf_struct_size(btf, sizes[PDET_SIZE_PAGE], &value) ||
	    !size_fits(value))
		return false;
	if (l->size[PDET_SIZE_PAGE] && l->size[PDET_SIZE_PAGE] != value)
		return false;
	if (!is_same_kernel(l, btf))
		return false;
	l->size[PDET_SIZE_PAGE] = value;
	for (i = 0; i < PDET_MEMBERS; i++)
		if (l->member[i] < 0)
			l->member[i] = typed_place(l, btf, i);
	for (i = 0; i < PDET_COUNT(flags); i++)
		if (l->flag[flags[i].bit] < 0 &&
		    pdet_btf_enumerator(btf, "pageflags", flags[i].name,
					&value) && value < 64)
			l->flag[flags[i].bit] = (int8_t)value;
	for (i = 0; i < PDET_SECONDS; i++)
		if (l->second[i] < 0 &&
		    pdet_btf_enumerator(btf, "pageflags", seconds[i],
					&value) && value < 64)
			l->second[i] = (int8_t)value;
	if (l->hugetlb_dtor < 0 &&
	    pdet_btf_enumerator(btf, "compound_dtor_id", "HUGETLB_PAGE_DTOR",
				&value) && value < 256)
		l->hugetlb_dtor = (int16_t)value;
	l->flags_named = pdet_btf_enumerator(btf, "pageflags", "PG_locked",
					     &value);
	add_types(l, btf);
	settle_flags(l);
	return true;
}
