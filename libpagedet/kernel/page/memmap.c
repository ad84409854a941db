/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the sections of sparse memory: an array of pointers to pages of struct
 * mem_section. Its first word is an address with state bits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/page/memmap.h"

/* State bits. */
#define PRESENT 1
#define HAS_MEM_MAP 2
#define ONLINE 4
#define SHARED 16	/* shared with a device, if the kernel has devices */

/* A kernel of 4 PiB with sections of 128 MiB has 32 million. */
#define MOST_SECTIONS ((uint64_t)1 << 25)
/* The largest section of any kernel has 1 GiB. */
#define MOST_BITS 34
/* A section has a bit for each 2 MiB. */
#define PART_SHIFT 21
/* Number of pointers that are read at once, and the smallest such number. */
#define POINTERS 8192
#define POINTERS_OF_PAGE 512

static bool is_power(uint64_t v)
{
	return v && !(v & (v - 1));
}

static bool find_array(const struct pdet_vmcoreinfo *info, unsigned page_shift,
		       struct pdet_memmap *m)
{
	const uint64_t page = (uint64_t)1 << page_shift;
	uint64_t bits;

	if (!pdet_vmcoreinfo_symbol(info, "mem_section", &m->array.addr) ||
	    !pdet_vmcoreinfo_length(info, "mem_section", &m->array.n) ||
	    !pdet_vmcoreinfo_size(info, "mem_section", &m->array.size) ||
	    !pdet_vmcoreinfo_offset(info, "mem_section.section_mem_map",
				    &m->array.map_offset) ||
	    !pdet_vmcoreinfo_number(info, "SECTION_SIZE_BITS", &bits) ||
	    !pdet_vmcoreinfo_size(info, "page", &m->page_size))
		return false;
	if (bits <= page_shift || bits > MOST_BITS ||
	    !is_power(m->array.size) || m->array.size < 8 ||
	    m->array.size > page ||
	    m->array.map_offset > m->array.size - 8 || m->page_size < 40 ||
	    m->page_size > PDET_PAGE_BYTES)
		return false;
	m->section_shift = (unsigned)bits - page_shift;
	m->part_shift = bits > PART_SHIFT && page_shift < PART_SHIFT ?
			PART_SHIFT - page_shift : m->section_shift;
	m->root_shift = (unsigned)__builtin_ctzll(page / m->array.size);
	/* With a virtual memory map all sections have one base, which newer
	 * kernels export. */
	(void)pdet_vmcoreinfo_symbol(info, "vmemmap", &m->array.base);
	return m->array.n && m->array.n <= MOST_SECTIONS >> m->root_shift;
}

/* --- the array --- */

struct visit {
	/* If the sections cannot be read, @sections is NULL and @error is the
	 * reason. The call may then be for several roots. If the function
	 * returns another value than 0, the walk ends. */
	int (*root)(struct visit *v, uint64_t root, uint64_t n,
		    const char *sections, int error);
	struct pdet_memmap *m;
	struct pdet_space *space;
	const struct pdet_layout *layout;
	char *sections;		/* buffer for one root */
	uint64_t pointer[POINTERS];
};

static int visit_pointers(struct visit *v, uint64_t first, uint64_t n)
{
	const uint64_t bytes = v->m->array.size << v->m->root_shift;
	uint64_t i;
	int r = pdet_space_read(v->space, v->m->array.addr + first * 8,
				v->pointer, n * 8);

	if (r == -ENOMEM)
		return r;
	if (r < 0 && n > POINTERS_OF_PAGE) {
		r = visit_pointers(v, first, n / 2);
		return r ? r : visit_pointers(v, first + n / 2, n - n / 2);
	}
	if (r < 0)
		return v->root(v, first, n, NULL, r);
	for (i = 0; i < n; i++) {
		if (!v->pointer[i])
			continue;
		r = pdet_space_read(v->space, v->pointer[i], v->sections,
				    bytes);
		if (r == -ENOMEM)
			return r;
		r = v->root(v, first + i, 1, r < 0 ? NULL : v->sections, r);
		if (r)
			return r;
	}
	return 0;
}

static int visit_array(struct pdet_memmap *m, struct pdet_space *space,
		       const struct pdet_layout *layout,
		       int (*root)(struct visit *v, uint64_t root, uint64_t n,
				   const char *sections, int error))
{
	struct visit *v = malloc(sizeof(*v));
	uint64_t i;
	int r = -ENOMEM;

	if (!v)
		return r;
	v->root = root;
	v->m = m;
	v->space = space;
	v->layout = layout;
	v->sections = malloc(m->array.size << m->root_shift);
	for (i = 0; v->sections && i < m->array.n; i += POINTERS) {
		r = visit_pointers(v, i, PDET_MIN(m->array.n - i, POINTERS));
		if (r)
			break;
	}
	free(v->sections);
	free(v);
	return r;
}

static uint64_t word(const struct pdet_memmap *m, const char *sections,
		     uint64_t i, uint64_t offset)
{
	uint64_t v;

	memcpy(&v, sections + i * m->array.size + offset, sizeof(v));
	return v;
}

/* --- sections --- */

static bool lose(struct pdet_memmap *m, uint64_t first, uint64_t n, int error)
{
	struct pdet_memmap_lost *l = m->lost;

	/* A pointer led there, so it is damage. */
	if (error == -ENOENT)
		error = -EBADMSG;
	if (m->n_lost && l[m->n_lost - 1].error == error &&
	    l[m->n_lost - 1].last + 1 == first) {
		l[m->n_lost - 1].last += n;
		return true;
	}
	if (!m->n_lost || is_power(m->n_lost)) {
		l = realloc(l, PDET_MAX(m->n_lost * 2, 1u) * sizeof(*l));
		if (!l)
			return false;
		m->lost = l;
	}
	l[m->n_lost].first = first;
	l[m->n_lost].last = first + n - 1;
	l[m->n_lost++].error = error;
	return true;
}

static bool room(struct pdet_memmap *m, uint64_t root)
{
	const uint64_t n = (uint64_t)1 << m->root_shift;
	uint64_t **bigger, cap;

	if (root >= m->n_roots) {
		/* Doubling keeps the cost of many small extensions low. */
		cap = PDET_MIN(PDET_MAX(root + 1, m->n_roots * 2), m->array.n);
		bigger = realloc(m->root, cap * sizeof(*bigger));
		if (!bigger)
			return false;
		memset(bigger + m->n_roots, 0,
		       (cap - m->n_roots) * sizeof(*bigger));
		m->root = bigger;
		m->n_roots = cap;
	}
	if (!m->root[root])
		m->root[root] = calloc(n, sizeof(**m->root));
	return m->root[root];
}

/*
 * A memory map is in the kernel's half, and at the known base if there is one.
 */
static bool is_plausible(const struct pdet_memmap *m, uint64_t map)
{
	const uint64_t base = map & ~(uint64_t)PDET_MEMMAP_STATE;

	return m->array.base ? base == m->array.base : base >> 63;
}

static int add_root(struct visit *v, uint64_t root, uint64_t n,
		    const char *sections, int error)
{
	struct pdet_memmap *m = v->m;
	const uint64_t first = root << m->root_shift;
	uint64_t i, map;

	if (!sections)
		return lose(m, first, n << m->root_shift, error) ? 0 : -ENOMEM;
	for (i = 0; i < (uint64_t)1 << m->root_shift; i++) {
		map = word(m, sections, i, m->array.map_offset);
		if (!(map & PRESENT) || !(map & HAS_MEM_MAP))
			continue;
		if (!is_plausible(m, map)) {
			if (!lose(m, first + i, 1, -EBADMSG))
				return -ENOMEM;
			continue;
		}
		if (!room(m, root))
			return -ENOMEM;
		m->root[root][i] = map;
		m->n_sections = first + i + 1;
	}
	return 0;
}

int pdet_memmap_read(struct pdet_memmap *ret, struct pdet_env *env,
		     struct pdet_space *space,
		     const struct pdet_vmcoreinfo *info, unsigned page_shift)
{
	struct pdet_memmap m = { .root = NULL };
	int r;

	if (!find_array(info, page_shift, &m))
		return pdet_fail(env, ENODATA,
				 "cannot find the memory map: "
				 "VMCOREINFO does not say where it is");
	r = visit_array(&m, space, NULL, add_root);
	if (r == 0 && !m.n_sections)
		r = m.n_lost ? m.lost[0].error : -EBADMSG;
	if (r < 0) {
		pdet_memmap_free(&m);
		errno = -r;
		return pdet_fail_errno(env, "cannot read the memory map");
	}
	*ret = m;
	return 0;
}

/* --- parts of sections --- */

static unsigned part_words(const struct pdet_memmap *m)
{
	const unsigned shift = m->section_shift - m->part_shift;

	return (unsigned)((((uint64_t)1 << shift) + 63) / 64);
}

static int add_parts(struct visit *v, uint64_t root, uint64_t n,
		     const char *sections, int error)
{
	const int32_t usage = v->layout->member[PDET_MEMBER_SECTION_USAGE];
	const int32_t bits = v->layout->member[PDET_MEMBER_USAGE_SUBSECTIONS];
	const struct pdet_memmap *m = v->m;
	const size_t bytes = part_words(m) * sizeof(**m->part);
	uint64_t i, at;

	(void)n;
	(void)error;
	if (!sections || root >= m->n_roots || !m->root[root])
		return 0;
	m->part[root] = malloc(bytes << m->root_shift);
	if (!m->part[root])
		return -ENOMEM;
	memset(m->part[root], 0xff, bytes << m->root_shift);
	for (i = 0; i < (uint64_t)1 << m->root_shift; i++) {
		uint64_t *part = m->part[root] + i * part_words(m);

		if (!m->root[root][i])
			continue;
		at = word(m, sections, i, (uint64_t)usage);
		if (pdet_space_read(v->space, at + (uint64_t)bits, part,
				    bytes) < 0)
			memset(part, 0xff, bytes);
	}
	return 0;
}

int pdet_memmap_add_types(struct pdet_memmap *m, struct pdet_env *env,
			  struct pdet_space *space,
			  const struct pdet_layout *layout)
{
	const int32_t usage = layout->member[PDET_MEMBER_SECTION_USAGE];

	if (m->part || usage < 0 || (uint64_t)usage > m->array.size - 8 ||
	    layout->member[PDET_MEMBER_USAGE_SUBSECTIONS] < 0)
		return 0;
	m->part = calloc(m->n_roots, sizeof(*m->part));
	if (!m->part || visit_array(m, space, layout, add_parts) < 0)
		return pdet_fail(env, ENOMEM,
				 "cannot read the memory map: no memory");
	return 0;
}

void pdet_memmap_free(struct pdet_memmap *m)
{
	uint64_t i;

	for (i = 0; i < m->n_roots; i++) {
		free(m->root[i]);
		if (m->part)
			free(m->part[i]);
	}
	free(m->root);
	free(m->part);
	free(m->lost);
	memset(m, 0, sizeof(*m));
}

/* --- lookups --- */

static bool is_part_used(const struct pdet_memmap *m, uint64_t pfn)
{
	const uint64_t i = pfn >> m->section_shift, r = i >> m->root_shift;
	const uint64_t n = i & (((uint64_t)1 << m->root_shift) - 1);
	const uint64_t bit = (pfn & (((uint64_t)1 << m->section_shift) - 1)) >>
			     m->part_shift;

	return !m->part || !m->part[r] ||
	       m->part[r][n * part_words(m) + bit / 64] >> bit % 64 & 1;
}

enum pdet_memmap_is pdet_memmap_is(const struct pdet_memmap *m, uint64_t pfn,
				   int *error)
{
	const uint64_t section = pdet_memmap_section(m, pfn);
	size_t first = 0, n = m->n_lost;

	if (section) {
		if (!(section & ONLINE) || !is_part_used(m, pfn))
			return PDET_MEMMAP_UNUSED;
		return section & SHARED ? PDET_MEMMAP_SHARED : PDET_MEMMAP_USED;
	}
	while (n) {
		const struct pdet_memmap_lost *l = m->lost + first + n / 2;

		if (pfn >> m->section_shift < l->first) {
			n /= 2;
		} else if (pfn >> m->section_shift > l->last) {
			first += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			*error = l->error;
			return PDET_MEMMAP_LOST;
		}
	}
	return PDET_MEMMAP_NONE;
}

/* The base of the next section that differs from @not. */
static bool next_base(const struct pdet_memmap *m, uint64_t *section,
		      uint64_t not, uint64_t *ret)
{
	const uint64_t of_root = (uint64_t)1 << m->root_shift;
	uint64_t map;

	for (; *section < m->n_sections; ++*section) {
		if (!m->root[*section >> m->root_shift]) {
			*section |= of_root - 1;
			continue;
		}
		map = pdet_memmap_section(m, *section << m->section_shift);
		*ret = map & ~(uint64_t)PDET_MEMMAP_STATE;
		if (map && *ret != not)
			return true;
	}
	return false;
}

bool pdet_memmap_find(const struct pdet_memmap *m, uint64_t addr,
		      uint64_t *ret, uint64_t *within)
{
	uint64_t section = 0, base = 0, pfn;

	while (next_base(m, &section, base, &base)) {
		pfn = (addr - base) / m->page_size;
		if (!pdet_memmap_page(m, pfn) ||
		    addr - pdet_memmap_page(m, pfn) >= m->page_size)
			continue;
		*ret = pfn;
		*within = addr - pdet_memmap_page(m, pfn);
		return true;
	}
	return false;
}

bool pdet_memmap_base(const struct pdet_memmap *m, uint64_t *ret)
{
	uint64_t section = 0, base = 0, other;

	if (!next_base(m, &section, 0, &base) ||
	    next_base(m, &section, base, &other))
		return false;
	*ret = base;
	return true;
}

uint64_t pdet_memmap_first(const struct pdet_memmap *m)
{
	uint64_t section = 0, base;

	return next_base(m, &section, 0, &base) ?
	       section << m->section_shift : 0;
}
