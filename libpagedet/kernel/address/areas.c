/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the area of a kernel address. A mapping belongs to the image or the
 * direct map if virtual minus physical address is the offset of that area.
 */
#include <elf.h>
#include <string.h>

#include "kernel/address/areas.h"
#include "kernel/address/directmap.h"
#include "pagedet.h"

#define TIB ((uint64_t)1 << 40)
/* No image is larger. It may lie inside the vmalloc area. */
#define IMAGE_REACH ((uint64_t)1 << 30)

/* fixed addresses of x86-64 (asm/pgtable_64_types.h) */
#define X86_IMAGE 0xffffffff80000000
#define X86_FIXMAP 0xffffffffff000000
#define X86_VSYSCALL 0xffffffffff600000
#define X86_CPU_ENTRY 0xfffffe0000000000
#define X86_ESPFIX 0xffffff0000000000
#define X86_EFI 0xffffffef00000000
#define X86_EFI_END 0xffffffff00000000

static const struct pdet_area user = { .name = "[user half]", .vague = true };
static const struct pdet_area not_canonical = {
	.name = "[not canonical]", .vague = true
};

/* An errno below zero as a pointer (include/linux/err.h, MAX_ERRNO). Nothing is
 * mapped there. */
const struct pdet_area pdet_area_errors = {
	.first = -(uint64_t)4095, .last = UINT64_MAX, .vague = true,
	.name = "[error pointer]",
};

/* @end 0 means the end of the address space. */
static struct pdet_area *add(struct pdet_areas *a, const char *name,
			     unsigned map, uint64_t first, uint64_t end)
{
	struct pdet_area *area = &a->area[a->n];

	if (!first || first > end - 1 || a->n == PDET_AREAS)
		return NULL;
	a->n++;
	*area = (struct pdet_area){
		.first = first, .last = end - 1, .name = name, .map = map,
	};
	return area;
}

static uint64_t number(const struct pdet_vmcoreinfo *info, const char *name)
{
	uint64_t v;

	return pdet_vmcoreinfo_number(info, name, &v) ? v : 0;
}

static void add_vmalloc(struct pdet_areas *a, uint64_t first, uint64_t end,
			bool vague)
{
	struct pdet_area *area = add(a, "[vmalloc]", PAGEDET_MAP_VMALLOC, first,
				     end);

	if (!area)
		return;
	area->pieces = true;
	area->vague = vague;
}

static void add_modules(struct pdet_areas *a, uint64_t first, uint64_t end)
{
	struct pdet_area *area = add(a, "[modules]", PAGEDET_MAP_OTHER, first,
				     end);

	if (area)
		area->pieces = true;
}

static void add_x86(struct pdet_areas *a, const struct pdet_vmcoreinfo *info,
		    const struct pdet_areas_facts *f)
{
	const uint64_t image = number(info, "KERNEL_IMAGE_SIZE");
	uint64_t vmalloc = number(info, "VMALLOC_START"), size;

	if (!vmalloc)
		vmalloc = f->vmalloc;
	size = (a->paging->levels == 5 ? 12800 : 32) * TIB;
	add_vmalloc(a, vmalloc, vmalloc + size, false);
	/* The area between the direct map and the memory map holds only
	 * vmalloc, wherever it begins. */
	if (!vmalloc && a->has_direct && a->direct + f->end < f->memmap)
		add_vmalloc(a, a->direct + f->end, f->memmap, true);
	add(a, "[cpu entry area]", PAGEDET_MAP_OTHER, X86_CPU_ENTRY,
	    X86_CPU_ENTRY + TIB / 2);
	add(a, "[espfix]", PAGEDET_MAP_OTHER, X86_ESPFIX, X86_ESPFIX + TIB / 2);
	add(a, "[EFI]", PAGEDET_MAP_OTHER, X86_EFI, X86_EFI_END);
	add(a, "[vsyscall]", PAGEDET_MAP_OTHER, X86_VSYSCALL,
	    X86_VSYSCALL + 4096);
	add(a, "[fixmap]", PAGEDET_MAP_OTHER, X86_FIXMAP,
	    pdet_area_errors.first);
	if (!image)
		return;
	a->image.first = X86_IMAGE;
	a->image.last = X86_IMAGE + image - 1;
	add_modules(a, X86_IMAGE + image, X86_FIXMAP);
}

static void add_arm64(struct pdet_areas *a, const struct pdet_vmcoreinfo *info)
{
	add_modules(a, number(info, "MODULES_VADDR"),
		    number(info, "MODULES_END"));
	add_vmalloc(a, number(info, "VMALLOC_START"),
		    number(info, "VMALLOC_END"), false);
}

/*
 * The direct map. On arm64 it is all that it can be; on x86-64 it ends with
 * physical memory.
 */
static void add_direct(struct pdet_areas *a, const struct pdet_areas_facts *f)
{
	uint64_t first = a->direct, end = a->direct + f->end;

	if (!a->paging->one_root) {
		first = -((uint64_t)1 << a->paging->va_bits);
		end = pdet_directmap_end(a->paging, a->direct);
	}
	if (a->has_direct)
		add(a, "[direct map]", PAGEDET_MAP_DIRECT, first, end);
}

void pdet_areas_init(struct pdet_areas *a, const struct pdet_paging *p,
		     const struct pdet_vmcoreinfo *info, const uint64_t *direct,
		     const struct pdet_areas_facts *facts)
{
	memset(a, 0, sizeof(*a));
	a->paging = p;
	a->has_direct = direct;
	if (direct)
		a->direct = *direct;
	a->image.name = "[kernel image]";
	a->image.map = PAGEDET_MAP_OTHER;
	(void)pdet_vmcoreinfo_symbol(info, "_stext", &a->text);
	add(a, "[vmemmap]", PAGEDET_MAP_OTHER, facts->memmap,
	    facts->memmap_end);
	add_direct(a, facts);
	if (p->arch->machine == EM_X86_64)
		add_x86(a, info, facts);
	else
		add_arm64(a, info);
}

uint64_t pdet_areas_canonical(const struct pdet_areas *a, uint64_t va)
{
	return a->paging->one_root ? va :
	       (uint64_t)((int64_t)(va << 8) >> 8);
}

bool pdet_areas_is_kernel(const struct pdet_areas *a, uint64_t va)
{
	const unsigned bits = a->paging->va_bits - a->paging->one_root;

	return va >= -((uint64_t)1 << bits);
}

/* A non-canonical address, or one of the other half. */
static const struct pdet_area *other_half(const struct pdet_areas *a,
					  uint64_t va)
{
	const unsigned bits = a->paging->va_bits - a->paging->one_root;

	return va >> bits ? &not_canonical : &user;
}

const struct pdet_area *pdet_areas_find(const struct pdet_areas *a,
					uint64_t va)
{
	unsigned i;

	if (!pdet_areas_is_kernel(a, va))
		return other_half(a, va);
	if (va >= pdet_area_errors.first)
		return &pdet_area_errors;
	if (a->image.first && va >= a->image.first && va <= a->image.last)
		return &a->image;
	for (i = 0; i < a->n; i++)
		if (va >= a->area[i].first && va <= a->area[i].last)
			return &a->area[i];
	return NULL;
}

static bool is_image(const struct pdet_areas *a, uint64_t va, uint64_t addr)
{
	return a->text && va - a->paging->kernel_offset == addr &&
	       va - a->text + IMAGE_REACH < 2 * IMAGE_REACH;
}

const struct pdet_area *pdet_areas_of(const struct pdet_areas *a, uint64_t va,
				      uint64_t addr)
{
	return is_image(a, va, addr) ? &a->image : pdet_areas_find(a, va);
}

unsigned pdet_areas_map(const struct pdet_areas *a, uint64_t va, uint64_t addr)
{
	const struct pdet_area *area = pdet_areas_of(a, va, addr);

	/*
	 * A mapping in the area of the direct map that does not belong to the
	 * direct map.
	 */
	if (area && area->map == PAGEDET_MAP_DIRECT)
		return va - a->direct == addr ? PAGEDET_MAP_DIRECT :
						PAGEDET_MAP_OTHER;
	if (area)
		return area->map;
	return a->has_direct ? PAGEDET_MAP_OTHER : 0;
}
