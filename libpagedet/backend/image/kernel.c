/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Loads what is needed for the kernel's own addresses: its areas, from page
 * tables and VMCOREINFO, and names of what is in them. Names need symbols and
 * types, and may be missing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "kernel/address/directmap.h"
#include "kernel/address/kernel_entry.h"

/* --- areas --- */

/* The virtual memory map. It is large enough for all possible memory. On arm64
 * it may not begin with frame 0; then the kernel says where it ends. */
static void find_memmap(struct image *im, const uint64_t *direct,
			struct pdet_areas_facts *f)
{
	const struct pdet_memmap *m = &im->memmap;
	const unsigned shift = im->paging.page_shift;
	const uint64_t last = (m->n_sections - 1) << m->section_shift;
	uint64_t bits, base, addr, len;

	if (!pdet_memmap_base(m, &base))
		return;
	/*
	 * Without a virtual memory map, sections have separate maps anywhere.
	 */
	if (direct &&
	    pdet_space_phys(&im->space, pdet_memmap_page(m, last), &addr,
			    &len) == 0 &&
	    pdet_memmap_page(m, last) == addr + *direct)
		return;
	f->memmap_end = pdet_memmap_page(m, last) +
			(m->page_size << m->section_shift);
	if (im->paging.one_root) {
		f->memmap = base;
		if (pdet_vmcoreinfo_number(&im->info, "MAX_PHYSMEM_BITS",
					   &bits) && bits >= shift &&
		    bits <= 52)
			f->memmap_end = base + (m->page_size << (bits - shift));
		return;
	}
	f->memmap = pdet_memmap_page(m, pdet_memmap_first(m));
	if (pdet_vmcoreinfo_number(&im->info, "VMEMMAP_END", &addr) &&
	    addr > f->memmap_end)
		f->memmap_end = addr;
}

/* Find what the VMCOREINFO of this kernel does not have. */
static void find_facts(struct image *im, struct pdet_env *env,
		       const uint64_t *direct, struct pdet_areas_facts *f)
{
	const struct pdet_ranges *r = &im->memory->ranges;
	const struct pdet_memmap *m = &im->memmap;

	memset(f, 0, sizeof(*f));
	if (r->n)
		f->end = r->data[r->n - 1].last + 1;
	if (pdet_image_pages(im, env) < 0)
		return;
	f->end = PDET_MAX(f->end, (m->n_sections << m->section_shift) <<
				  im->paging.page_shift);
	find_memmap(im, direct, f);
}

int pdet_image_kernel_areas(struct image *im, struct pdet_env *env)
{
	struct pdet_areas_facts facts;
	uint64_t direct;
	bool found;

	if (im->kernel_areas.tried)
		return im->kernel_areas.error;
	im->kernel_areas.tried = true;
	if (pdet_image_base(im, env) < 0)
		return pdet_image_note_like(&im->kernel_areas, &im->base);
	/* If the direct map is not found, no mapping is attributed to it. */
	found = pdet_directmap_find(im->reader, &im->paging, &direct) == 0;
	find_facts(im, env, found ? &direct : NULL, &facts);
	pdet_areas_init(&im->kernel.areas, &im->paging, &im->info,
			found ? &direct : NULL, &facts);
	im->changes++;
	return 0;
}

int pdet_image_direct_map(struct pdet_backend *b, struct pdet_env *env,
			  uint64_t *ret)
{
	struct image *im = image_of(b);

	if (pdet_image_kernel_areas(im, env) < 0)
		return pdet_image_fail(env, &im->kernel_areas);
	if (!im->kernel.areas.has_direct)
		return pdet_fail(env, ENOTSUP, "cannot find where the kernel "
				 "maps all of memory");
	*ret = im->kernel.areas.direct;
	return 0;
}

/* --- names --- */

enum { TEXT, END, TEXT_END, RODATA, RODATA_END, DATA, DATA_END, BSS, BSS_END,
       INIT, INIT_END, NODES, N_NODES, ROOT, LIST, VMALLOC, MODULES, OFFSETS,
       CPU_IDS, CPU_START, CPU_END, NODE_IDS, ORC_IPS, ORC_IPS_END, ORC,
       ORC_VERSION, SYMBOLS };

static const struct {
	const char *name;
	uint8_t first, end;
} sections[IMAGE_SECTIONS] = {
	/* valid until it is freed */
	{ "[kernel init]", INIT, INIT_END },
	{ "[kernel text]", TEXT, TEXT_END },
	{ "[kernel rodata]", RODATA, RODATA_END },
	{ "[kernel data]", DATA, DATA_END },
	{ "[kernel bss]", BSS, BSS_END },
};

/* Find all in one pass. */
static void find_symbols(struct image *im, struct pdet_symbol s[SYMBOLS])
{
	static const char *const names[SYMBOLS] = {
		[TEXT] = "_text", [END] = "_end", [TEXT_END] = "_etext",
		[RODATA] = "__start_rodata", [RODATA_END] = "__end_rodata",
		[DATA] = "_sdata", [DATA_END] = "_edata",
		[BSS] = "__bss_start", [BSS_END] = "__bss_stop",
		[INIT] = "__init_begin", [INIT_END] = "__init_end",
		[NODES] = "vmap_nodes", [N_NODES] = "nr_vmap_nodes",
		[ROOT] = "vmap_area_root", [LIST] = "vmap_area_list",
		[VMALLOC] = "vmalloc_base", [MODULES] = "modules",
		[OFFSETS] = "__per_cpu_offset", [CPU_IDS] = "nr_cpu_ids",
		[CPU_START] = "__per_cpu_start", [CPU_END] = "__per_cpu_end",
		[NODE_IDS] = "nr_node_ids",
		[ORC_IPS] = "__start_orc_unwind_ip",
		[ORC_IPS_END] = "__stop_orc_unwind_ip",
		[ORC] = "__start_orc_unwind",
		[ORC_VERSION] = "__start_orc_header",
	};
	size_t i;

	for (i = 0; i < SYMBOLS; i++)
		s[i] = (struct pdet_symbol){ .name = names[i] };
	if (im->symbols.error == 0)
		pdet_kallsyms_find(&im->kallsyms, s, SYMBOLS);
	if (!s[LIST].found)
		s[LIST].found = pdet_vmcoreinfo_symbol(&im->info, names[LIST],
						       &s[LIST].address);
}

static uint64_t address_of(const struct pdet_symbol *s)
{
	return s->found ? s->address : 0;
}

static void set_range(struct pdet_range *r, const struct pdet_symbol *first,
		      const struct pdet_symbol *end)
{
	if (!first->found || !end->found || end->address <= first->address)
		return;
	r->first = first->address;
	r->last = end->address - 1;
}

/*
 * Some kernels do not export the start of vmalloc, but have it in a variable.
 */
static void learn_areas(struct image *im, struct pdet_env *env,
			const struct pdet_symbol s[SYMBOLS])
{
	struct image_kernel *k = &im->kernel;
	struct pdet_areas_facts facts;
	uint64_t direct = k->areas.direct;
	const uint64_t *base = k->areas.has_direct ? &direct : NULL;

	find_facts(im, env, base, &facts);
	if (!s[VMALLOC].found ||
	    pdet_space_u64(&im->space, s[VMALLOC].address, &facts.vmalloc) < 0)
		facts.vmalloc = 0;
	pdet_areas_init(&k->areas, &im->paging, &im->info, base, &facts);
	/* on x86-64 the area exists, whatever the size of the image */
	if (!k->areas.image.first) {
		k->areas.image.first = k->named.first;
		k->areas.image.last = k->named.last;
	}
}

/* A kernel for one node has no variable with the number; 0: unknown. */
static uint32_t count_nodes(struct image *im,
			    const struct pdet_symbol s[SYMBOLS])
{
	uint32_t n;

	if (!s[NODE_IDS].found)
		return s[CPU_IDS].found ? 1 : 0;
	return pdet_space_u32(&im->space, s[NODE_IDS].address, &n) < 0 ? 0 : n;
}

static void find_processors(struct image *im, struct pdet_task_stacks *t)
{
	if (!im->memory->live)
		t->cpus = (struct pdet_notes){
			im->memory->notes, im->memory->notes_len
		};
	t->percpu = &im->kernel.percpu;
}

/* Use ORC if the kernel has it, otherwise frame pointers. */
static void find_unwinding(struct image *im,
			   const struct pdet_symbol s[SYMBOLS])
{
	struct image_kernel *k = &im->kernel;
	struct pdet_orc_table orc = { 0 };

	if (s[ORC_IPS].found && s[ORC_IPS_END].found && s[ORC].found) {
		orc.ips = s[ORC_IPS].address;
		orc.n = (s[ORC_IPS_END].address - orc.ips) / 4;
		orc.entries = s[ORC].address;
		/* If the version cannot be read, it counts as unknown. */
		if (s[ORC_VERSION].found &&
		    pdet_space_read(&im->space, s[ORC_VERSION].address,
				    orc.version, sizeof(orc.version)) < 0)
			memset(orc.version, 0xff, sizeof(orc.version));
		k->strange_orc = !pdet_orc_is_known(&orc);
	}
	k->has_stacks = pdet_task_stacks_init(&k->stacks, &im->paging, im->btf,
					      &orc, k->has_modules ?
					      &k->modules : NULL);
	find_processors(im, &k->stacks);
}

/* Registers of user code are at the end of a kernel stack, so that no name and
 * no table is needed to find them. */
static void find_registers(struct image *im)
{
	const struct pdet_orc_table none = { 0 };
	struct image_kernel *k = &im->kernel;

	if (k->user.paging || !im->btf)
		return;
	(void)pdet_task_stacks_init(&k->user, &im->paging, im->btf, &none,
				    NULL);
	find_processors(im, &k->user);
}

void pdet_image_kernel_names(struct image *im, struct pdet_env *env)
{
	struct image_kernel *k = &im->kernel;
	struct pdet_symbol s[SYMBOLS];
	struct pdet_vmap_symbols at;
	size_t i;

	if (im->kernel_names.tried || pdet_image_kernel_areas(im, env) < 0)
		return;
	im->kernel_names.tried = true;
	(void)pdet_image_symbols(im, env);
	(void)pdet_image_slabs(im, env);
	find_symbols(im, s);
	set_range(&k->named, &s[TEXT], &s[END]);
	set_range(&k->percpu_symbols, &s[CPU_START], &s[CPU_END]);
	for (i = 0; i < IMAGE_SECTIONS; i++) {
		k->section[i].name = sections[i].name;
		set_range(&k->section[i].range, &s[sections[i].first],
			  &s[sections[i].end]);
	}
	(void)pdet_percpu_read(&k->percpu, &im->space, address_of(&s[OFFSETS]),
			       address_of(&s[CPU_IDS]));
	k->nodes = count_nodes(im, s);
	learn_areas(im, env, s);
	if (!im->btf)
		return;
	at = (struct pdet_vmap_symbols){
		address_of(&s[NODES]), address_of(&s[N_NODES]),
		address_of(&s[ROOT]), address_of(&s[LIST]),
	};
	k->has_vmaps = pdet_vmaps_init(&k->vmaps, im->btf, &at);
	k->has_modules = pdet_modules_init(&k->modules, im->btf,
					   address_of(&s[MODULES]));
	find_unwinding(im, s);
}

void pdet_image_kernel_unload(struct image *im)
{
	pdet_percpu_free(&im->kernel.percpu);
}

/* --- symbols --- */

size_t pdet_image_symbol(const struct image *im, uint64_t va,
			 char buf[IMAGE_SYMBOL])
{
	const struct pdet_kallsyms *k = &im->kallsyms;
	char name[PDET_SYMBOL_NAME];
	uint64_t at, next;
	uint32_t i;

	if (im->symbols.error || !pdet_kallsyms_at(k, va, &i))
		return 0;
	pdet_kallsyms_name(k, i, name, NULL);
	at = k->address[i];
	while (i < k->n && k->address[i] == at)
		i++;
	next = i < k->n ? k->address[i] : va;
	return (size_t)snprintf(buf, IMAGE_SYMBOL, "%s+0x%llx/0x%llx", name,
				(unsigned long long)(va - at),
				(unsigned long long)(next - at));
}

/* True within the image, as far as its symbols reach. */
static bool is_named(const struct image *im, uint64_t va)
{
	const struct pdet_area *image = &im->kernel.areas.image;
	const struct pdet_kallsyms *k = &im->kallsyms;

	if (image->first)
		return va >= image->first && va <= image->last;
	return !im->kernel_areas.error && k->n &&
	       va >= im->kernel.areas.text && va < k->address[k->n - 1];
}

size_t pdet_image_code(struct image_session *s, uint64_t va,
		       char buf[IMAGE_SYMBOL])
{
	const struct image_kernel *k = &s->image->kernel;
	struct pdet_module_symbol symbol;
	struct pdet_module module;

	if (is_named(s->image, va))
		return pdet_image_symbol(s->image, va, buf);
	if (!k->has_modules ||
	    pdet_module_find(&s->space, &k->modules, va, &module) < 0 ||
	    pdet_module_symbol(&s->space, &k->modules, &module, va,
			       &symbol) < 0)
		return 0;
	return (size_t)snprintf(buf, IMAGE_SYMBOL, "%s+0x%llx/0x%llx [%s]",
				symbol.name,
				(unsigned long long)(va - symbol.address),
				(unsigned long long)symbol.size, module.name);
}

/* --- translating --- */

/* Translate an address in the direct map without page tables. */
static bool by_arithmetic(const struct pdet_areas *areas, uint64_t va,
			  uint64_t *ret)
{
	const struct pdet_area *area = pdet_areas_find(areas, va);

	if (!area || area->map != PAGEDET_MAP_DIRECT)
		return false;
	*ret = va - areas->direct;
	return true;
}

void pdet_image_address(struct image_session *s, uint64_t va,
			struct image_address *ret)
{
	const struct image *im = s->image;
	const struct pdet_areas *areas = &im->kernel.areas;
	const struct pdet_leaf *leaf = &ret->leaf;

	*ret = (struct image_address){ .va = pdet_areas_canonical(areas, va) };
	ret->is_kernel = pdet_areas_is_kernel(areas, ret->va);
	if (!ret->is_kernel)
		return;
	ret->error = pdet_paging_walk(s->reader, &im->paging, im->paging.root,
				      ret->va, &ret->leaf);
	if (ret->error) {
		ret->has_addr = by_arithmetic(areas, ret->va, &ret->addr);
		return;
	}
	if (leaf->is == PDET_PT_NONE)
		return;
	if (leaf->is == PDET_PT_PAGE) {
		ret->has_addr = true;
		ret->addr = leaf->addr + (ret->va - leaf->start);
		ret->mapped = pdet_kernel_entry(&im->paging, leaf->entry) &
			      PAGEDET_PTE(PAGEDET_PTE_PRESENT);
		return;
	}
	/* A page removed by set_direct_map_invalid_noflush() has an entry
	 * without a valid address. */
	ret->has_addr = by_arithmetic(areas, ret->va, &ret->addr);
}

/* --- what a query needs --- */

static bool needs_names(const struct pdet_fields *f)
{
	return pdet_fields_has(f, PAGEDET_FIELD_OBJECT) ||
	       pdet_fields_has(f, PAGEDET_FIELD_OBJECT_STATE) ||
	       pdet_fields_has(f, PAGEDET_FIELD_VMA_START) ||
	       pdet_fields_has(f, PAGEDET_FIELD_VMA_END) ||
	       pdet_fields_has(f, PAGEDET_FIELD_VMA_NAME);
}

int pdet_image_kernel_prepare(struct image *im, struct pdet_env *env,
			      const struct pdet_wants *wants)
{
	/* A dump names the processors of its threads. */
	const bool stacks = wants->stacks ||
			    (wants->user_stacks && !im->memory->live);
	const bool kaddr = wants->walks &&
			   (wants->target == PAGEDET_TARGET_KADDR ||
			    wants->target == PAGEDET_TARGET_OBJECTS ||
			    wants->target == PAGEDET_TARGET_EVENTS);
	/*
	 * needed if this source walks the tables, or if KERNEL_MAPS is
	 * requested
	 */
	const bool mappers = wants->target == PAGEDET_TARGET_MAPPERS &&
			     (wants->walks ||
			      pdet_fields_has(&wants->fields,
					      PAGEDET_FIELD_KERNEL_MAPS));

	if (wants->user_stacks)
		find_registers(im);
	if (!kaddr && !mappers && !stacks)
		return 0;
	if (pdet_image_kernel_areas(im, env) < 0)
		return pdet_image_fail(env, &im->kernel_areas);
	if (stacks || needs_names(&wants->fields))
		pdet_image_kernel_names(im, env);
	return 0;
}
