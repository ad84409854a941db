/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Loads the few types needed to count pages by kind, which are among the first
 * in BTF. On the running kernel it needs no symbols: it finds the zero page
 * with a page of our own that was never written. Loading all types and symbols
 * would take longer than the count.
 *
 * bench: bpf
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/image/image.h"
#include "kernel/types/btf_part.h"
#include "kernel/types/same_kernel.h"
#include "symbol/find_btf.h"

/* First part of the types to read, enough for 6.1 and 6.18. It is doubled,
 * which is enough for 6.12, up to the maximum. */
#define TYPE_BYTES ((uint32_t)256 << 10)
#define MOST_TYPE_BYTES ((uint32_t)1 << 20)

/*
 * Set the frames of the zero pages. PFN_NONE: a variable shows that there is no
 * such page.
 */
void pdet_image_set_zeros(struct image *im, const struct pdet_symbol *page,
			  const struct pdet_symbol *huge)
{
	struct pdet_page_zeros *z = &im->zeros;
	const unsigned shift = im->paging.page_shift;
	const uint64_t huge_pages = (uint64_t)1 << (shift - 3);
	uint64_t addr, len, pfn;

	if (!page->found ||
	    pdet_space_phys(&im->space, page->address, &addr, &len) < 0)
		return;
	z->maybe_huge = !huge->found ||
			pdet_space_u64(&im->space, huge->address, &pfn) < 0;
	if (z->maybe_huge)
		pfn = UINT64_MAX;
	z->known = true;
	z->pfn = addr >> shift;
	z->huge = pfn;
	z->n_huge = pfn == UINT64_MAX ? 0 : huge_pages;
	im->pagemap.zero_pfn = z->pfn;
	im->changes++;
}

static ssize_t read_file(void *arg, void *buf, size_t n, uint64_t offset)
{
	const int *fd = arg;

	return pdet_pread(*fd, buf, n, offset);
}

/* Types in a dump's memory. */
struct in_memory {
	struct pdet_space *space;
	uint64_t addr;
	size_t len;
};

static ssize_t read_memory(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct in_memory *t = arg;

	if (offset >= t->len)
		return 0;
	n = PDET_MIN(n, t->len - (size_t)offset);
	return pdet_space_read(t->space, t->addr + offset, buf, n) < 0 ? -1 :
	       (ssize_t)n;
}

static bool has_enum(const struct pdet_btf *btf, const char *name)
{
	const char *constant;
	uint64_t value;

	return pdet_btf_enum_at(btf, name, 0, &constant, &value);
}

/* A type missing in this part may be in the rest. */
static bool is_enough(const struct image *im, const struct pdet_btf *btf)
{
	static const char *const structs[] = {
		"page", "folio", "mem_section", "mem_section_usage",
	};
	const struct pdet_layout *l = &im->layout;
	size_t i;

	for (i = 0; i < PDET_COUNT(structs); i++)
		if (!pdet_btf_is_whole(btf, structs[i]))
			return false;
	/* Page types are an enum since 6.11. For older kernels VMCOREINFO shows
	 * the old form. */
	return has_enum(btf, "pageflags") &&
	       (has_enum(btf, "pagetype") ||
		(l->type.form == PDET_TYPE_FORM_BITS &&
		 l->type.base == 0xf0000000));
}

static bool knows_hugetlb(const struct pdet_layout *l)
{
	return l->type.known[PDET_TYPE_HUGETLB] || l->hugetlb_dtor >= 0 ||
	       l->second[PDET_SECOND_HUGETLB] >= 0;
}

static int add_part(struct image *im, struct pdet_env *env,
		    const struct pdet_btf *btf)
{
	struct pdet_types_difference d;

	if (!is_enough(im, btf) || !pdet_types_agree(&im->info, btf, &d) ||
	    !pdet_layout_add_types(&im->layout, btf) ||
	    !knows_hugetlb(&im->layout))
		return -ENODATA;
	im->changes++;
	return pdet_memmap_add_types(&im->memmap, env, &im->space,
				     &im->layout);
}

static int read_part(struct image *im, struct pdet_env *env,
		     const struct pdet_btf_reader *reader, uint32_t bytes)
{
	struct pdet_btf *btf = NULL;
	int r = -ENODATA;
	bool damaged;
	size_t len;
	void *data;

	data = pdet_btf_part(reader, bytes, &len);
	if (data)
		btf = pdet_btf_new(data, len, &damaged);
	if (btf)
		r = add_part(im, env, btf);
	pdet_btf_free(btf);
	free(data);
	return r;
}

static int read_parts(struct image *im, struct pdet_env *env,
		      const struct pdet_btf_reader *reader)
{
	uint32_t bytes;
	int r = -ENODATA;

	for (bytes = TYPE_BYTES; r == -ENODATA && bytes <= MOST_TYPE_BYTES;
	     bytes *= 2)
		r = read_part(im, env, reader, bytes);
	return r;
}

static int of_live(struct image *im, struct pdet_env *env)
{
	int fd = pdet_open(env, "/sys/kernel/btf/vmlinux"), r;
	const struct pdet_btf_reader reader = { read_file, &fd };

	if (fd < 0)
		return fd;
	r = read_parts(im, env, &reader);
	close(fd);
	if (r == 0)
		pdet_image_look_at_zero(im, env);
	return r;
}

static int of_dump(struct image *im, struct pdet_env *env)
{
	struct in_memory types = { .space = &im->space };
	const struct pdet_btf_reader reader = { read_memory, &types };
	struct pdet_symbol s[] = {
		{ .name = PDET_BTF_START }, { .name = PDET_BTF_STOP },
		{ .name = PDET_IMAGE_ZERO }, { .name = PDET_IMAGE_HUGE_ZERO },
	};
	int r;

	pdet_image_pick(im, env, s, PDET_COUNT(s));
	if (!pdet_btf_between(&s[0], &s[1], &types.len))
		return -ENODATA;
	types.addr = s[0].address;
	r = read_parts(im, env, &reader);
	if (r == 0)
		pdet_image_set_zeros(im, &s[2], &s[3]);
	return r;
}

void pdet_image_look_at_zero(struct image *im, struct pdet_env *env)
{
	const size_t size = (size_t)1 << im->paging.page_shift;
	struct pdet_page_zeros *z = &im->zeros;
	volatile char *page;
	uint64_t entry;
	int fd;

	fd = pdet_open(env, "/proc/self/pagemap");
	if (fd < 0)
		return;
	page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page != MAP_FAILED) {
		(void)page[0];
		if (pdet_pread(fd, &entry, sizeof(entry),
			       ((uintptr_t)page >> im->paging.page_shift) *
				       sizeof(entry)) == sizeof(entry) &&
		    entry & PDET_PM_PRESENT && entry & PDET_PM_PFN_MASK) {
			z->known = true;
			z->maybe_huge = true;
			z->pfn = entry & PDET_PM_PFN_MASK;
			im->changes++;
		}
		munmap((void *)page, size);
	}
	close(fd);
}

int pdet_image_kinds(struct image *im, struct pdet_env *env)
{
	if (im->types.tried)
		return im->types.error;
	if (im->kinds.tried)
		return im->kinds.error;
	im->kinds.tried = true;
	im->kinds.error = -ENODATA;
	/* Types that the caller gave are checked as a whole. */
	if (im->options->btf || im->options->vmlinux)
		return -ENODATA;
	im->kinds.error = im->memory->live ? of_live(im, env) :
					     of_dump(im, env);
	if (im->kinds.error < 0)
		pdet_clear(env);
	return im->kinds.error;
}
