/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads VMAs from either kind of tree. Each VMA also contains its own range,
 * which is checked. */
#include <errno.h>
#include <string.h>

#include "kernel/object/mm.h"

/*
 * A red-black tree with this many levels would have more VMAs than there are
 * addresses.
 */
#define LEVELS 96

enum mm_field {
	MM_PGD, MM_MAP_COUNT, MM_TOTAL_VM, MM_EXE_FILE, MM_START_CODE,
	MM_END_CODE, MM_START_BRK, MM_BRK, MM_START_STACK, MM_ARG_START,
	MM_ARG_END, MM_ENV_START, MM_ENV_END, MM_OWNER, MM_TREE,
	MM_VDSO, MM_VDSO_IMAGE, MM_SEQCOUNT, MM_LOCK_SEQ, MM_FIELDS
};

static const pdet_field_names mm_names[MM_FIELDS] = {
	[MM_PGD] = { "mm_struct.pgd" },
	[MM_MAP_COUNT] = { "mm_struct.map_count" },
	[MM_TOTAL_VM] = { "mm_struct.total_vm" },
	[MM_EXE_FILE] = { "mm_struct.exe_file" },
	[MM_START_CODE] = { "mm_struct.start_code" },
	[MM_END_CODE] = { "mm_struct.end_code" },
	[MM_START_BRK] = { "mm_struct.start_brk" },
	[MM_BRK] = { "mm_struct.brk" },
	[MM_START_STACK] = { "mm_struct.start_stack" },
	[MM_ARG_START] = { "mm_struct.arg_start" },
	[MM_ARG_END] = { "mm_struct.arg_end" },
	[MM_ENV_START] = { "mm_struct.env_start" },
	[MM_ENV_END] = { "mm_struct.env_end" },
	[MM_OWNER] = { "mm_struct.owner" },
	[MM_TREE] = { "mm_struct.mm_mt" },	/* 6.1 (d4af56c5c7c6) */
	[MM_VDSO] = { "mm_struct.context.vdso" },
	[MM_VDSO_IMAGE] = { "mm_struct.context.vdso_image" },
	[MM_SEQCOUNT] = { "mm_struct.mm_lock_seq.sequence" },
	[MM_LOCK_SEQ] = { "mm_struct.mm_lock_seq" },
};

/* arch/x86/include/asm/vdso.h */
enum { VDSO_DATA, VDSO_SIZE, VDSO_FIELDS };
static const pdet_field_names vdso_names[VDSO_FIELDS] = {
	[VDSO_DATA] = { "vdso_image.data" },
	[VDSO_SIZE] = { "vdso_image.size" },
};

enum vma_field {
	VMA_START, VMA_END, VMA_FLAGS, VMA_PGOFF, VMA_MM, VMA_FILE,
	VMA_ANON_VMA, VMA_ANON_NAME, VMA_SHARED, VMA_OPS, VMA_PRIVATE,
	VMA_FIELDS
};

static const pdet_field_names vma_names[VMA_FIELDS] = {
	[VMA_START] = { "vm_area_struct.vm_start" },
	[VMA_END] = { "vm_area_struct.vm_end" },
	[VMA_FLAGS] = { "vm_area_struct.vm_flags",
			"vm_area_struct.__vm_flags" },
	[VMA_PGOFF] = { "vm_area_struct.vm_pgoff" },
	[VMA_MM] = { "vm_area_struct.vm_mm" },
	[VMA_FILE] = { "vm_area_struct.vm_file" },
	[VMA_ANON_VMA] = { "vm_area_struct.anon_vma" },
	[VMA_ANON_NAME] = { "vm_area_struct.anon_name" }, /* 5.17 */
	[VMA_SHARED] = { "vm_area_struct.shared" },
	[VMA_OPS] = { "vm_area_struct.vm_ops" },
	[VMA_PRIVATE] = { "vm_area_struct.vm_private_data" },
};

/* until 6.0 (524e00b36e8c) */
enum { RB_ROOT, RB_NODE, RB_LEFT, RB_RIGHT, RB_FIELDS };
static const pdet_field_names rb_names[RB_FIELDS] = {
	[RB_ROOT] = { "mm_struct.mm_rb.rb_node" },
	[RB_NODE] = { "vm_area_struct.vm_rb" },
	[RB_LEFT] = { "rb_node.rb_left" },
	[RB_RIGHT] = { "rb_node.rb_right" },
};

bool pdet_mms_init(struct pdet_mms *m, const struct pdet_btf *btf)
{
	struct pdet_struct rb;
	unsigned i;

	memset(m, 0, sizeof(*m));
	pdet_struct_find(&m->mm, btf, mm_names, MM_FIELDS);
	pdet_struct_find(&m->vma, btf, vma_names, VMA_FIELDS);
	pdet_struct_find(&m->vdso, btf, vdso_names, VDSO_FIELDS);
	pdet_struct_find(&rb, btf, rb_names, RB_FIELDS);
	m->rb_root = rb.field[RB_ROOT].at;
	m->rb_node = rb.field[RB_NODE].at;
	m->rb_left = rb.field[RB_LEFT].at;
	m->rb_right = rb.field[RB_RIGHT].at;
	m->has_maple = pdet_struct_has(&m->mm, MM_TREE) &&
		       pdet_maple_init(&m->maple, btf);
	for (i = VMA_START; i <= VMA_FILE; i++)
		if (!pdet_struct_has(&m->vma, i))
			return false;
	return pdet_struct_has(&m->mm, MM_PGD) &&
	       (m->has_maple || (m->rb_root >= 0 && m->rb_node >= 0 &&
				 m->rb_left >= 0 && m->rb_right >= 0));
}

/* Who changes VMAs has the lock for writing. Kernels with CONFIG_PER_VMA_LOCK
 * count when it is given back; those where it is a seqcount, also when it is
 * taken. */
static uint64_t changes_of(const struct pdet_struct *s, const char *buf)
{
	uint64_t n;

	if (pdet_struct_has(s, MM_SEQCOUNT)) {
		n = pdet_struct_get(s, buf, MM_SEQCOUNT);
		return n % 2 ? 0 : n + 1;
	}
	return pdet_struct_has(s, MM_LOCK_SEQ) ?
	       (pdet_struct_get(s, buf, MM_LOCK_SEQ) & UINT32_MAX) + 1 : 0;
}

int pdet_mm_read(struct pdet_space *space, const struct pdet_mms *m,
		 uint64_t addr, struct pdet_mm *ret)
{
	const struct pdet_struct *s = &m->mm;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	memset(ret, 0, sizeof(*ret));
	ret->addr = addr;
	ret->pgd = pdet_struct_get(s, buf, MM_PGD);
	ret->map_count = pdet_struct_get(s, buf, MM_MAP_COUNT);
	ret->total_vm = pdet_struct_get(s, buf, MM_TOTAL_VM);
	ret->exe_file = pdet_struct_get(s, buf, MM_EXE_FILE);
	ret->start_code = pdet_struct_get(s, buf, MM_START_CODE);
	ret->end_code = pdet_struct_get(s, buf, MM_END_CODE);
	ret->start_brk = pdet_struct_get(s, buf, MM_START_BRK);
	ret->brk = pdet_struct_get(s, buf, MM_BRK);
	ret->start_stack = pdet_struct_get(s, buf, MM_START_STACK);
	ret->arg_start = pdet_struct_get(s, buf, MM_ARG_START);
	ret->arg_end = pdet_struct_get(s, buf, MM_ARG_END);
	ret->env_start = pdet_struct_get(s, buf, MM_ENV_START);
	ret->env_end = pdet_struct_get(s, buf, MM_ENV_END);
	ret->owner = pdet_struct_get(s, buf, MM_OWNER);
	ret->vdso = pdet_struct_get(s, buf, MM_VDSO);
	ret->vdso_image = pdet_struct_get(s, buf, MM_VDSO_IMAGE);
	ret->changes = changes_of(s, buf);
	return pdet_is_address(ret->pgd) ? 0 : -EBADMSG;
}

int pdet_mm_vdso(struct pdet_space *space, const struct pdet_mms *m,
		 const struct pdet_mm *mm, uint64_t va, uint64_t *ret)
{
	char buf[PDET_STRUCT_BYTES];
	uint64_t data;
	int r;

	if (!pdet_is_address(mm->vdso_image) || va < mm->vdso ||
	    !pdet_struct_has(&m->vdso, VDSO_DATA) ||
	    !pdet_struct_has(&m->vdso, VDSO_SIZE))
		return -ENOENT;
	r = pdet_struct_read(space, &m->vdso, mm->vdso_image, buf);
	if (r < 0)
		return r;
	if (va - mm->vdso >= pdet_struct_get(&m->vdso, buf, VDSO_SIZE))
		return -ENOENT;
	data = pdet_struct_get(&m->vdso, buf, VDSO_DATA);
	*ret = data + (va - mm->vdso);
	return pdet_is_address(data) && *ret >= data ? 0 : -EBADMSG;
}

static int read_vma(struct pdet_space *space, const struct pdet_mms *m,
		    uint64_t mm, uint64_t addr, struct pdet_vm_area *ret)
{
	const struct pdet_struct *s = &m->vma;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->start = pdet_struct_get(s, buf, VMA_START);
	ret->end = pdet_struct_get(s, buf, VMA_END);
	ret->flags = pdet_struct_get(s, buf, VMA_FLAGS);
	ret->pgoff = pdet_struct_get(s, buf, VMA_PGOFF);
	ret->mm = pdet_struct_get(s, buf, VMA_MM);
	ret->file = pdet_struct_get(s, buf, VMA_FILE);
	ret->anon_vma = pdet_struct_get(s, buf, VMA_ANON_VMA);
	ret->anon_name = pdet_struct_get(s, buf, VMA_ANON_NAME);
	ret->ops = pdet_struct_get(s, buf, VMA_OPS);
	ret->private_data = pdet_struct_get(s, buf, VMA_PRIVATE);
	/*
	 * Until 6.1 both fields share a union, and a file mapping has no name.
	 */
	if (ret->file &&
	    s->field[VMA_SHARED].at == s->field[VMA_ANON_NAME].at)
		ret->anon_name = 0;
	return ret->mm == mm && ret->start < ret->end ? 0 : -EBADMSG;
}

/* --- walks --- */

struct walk {
	struct pdet_space *space;
	const struct pdet_mms *m;
	const struct pdet_vma_visit *visit;
	uint64_t mm, start, last;
};

/* The VMA must have the same range as its tree entry. */
static int visit_entry(void *arg, uint64_t first, uint64_t last, uint64_t entry)
{
	const struct walk *w = arg;
	struct pdet_vm_area vma;
	int r = read_vma(w->space, w->m, w->mm, entry, &vma);

	if (!r && (vma.start != first || vma.end - 1 != last))
		r = -EBADMSG;
	return r < 0 ? w->visit->lost(w->visit->arg, first, last + 1, r) :
		       w->visit->vma(w->visit->arg, &vma);
}

static int visit_lost(void *arg, uint64_t first, uint64_t last, int error)
{
	const struct walk *w = arg;

	return w->visit->lost(w->visit->arg, PDET_MAX(first, w->start),
			      PDET_MIN(last, w->last) + 1, error);
}

/* Visit the VMAs in order, between @min and @max. A VMA outside that range is
 * damage. If a gap is smaller than a page, the recursion ends. */
static int walk_rb(struct walk *w, uint64_t node, uint64_t min,
		   uint64_t max, unsigned levels)
{
	struct pdet_vm_area vma;
	uint64_t child[2];
	int r;

	if (!node || max < w->start || min > w->last)
		return 0;
	r = levels ? read_vma(w->space, w->m, w->mm,
			      node - (uint64_t)w->m->rb_node, &vma) : -EBADMSG;
	if (!r && (vma.start < min || vma.end - 1 > max))
		r = -EBADMSG;
	if (!r)
		r = pdet_space_u64(w->space, node + (uint64_t)w->m->rb_left,
				   &child[0]);
	if (!r)
		r = pdet_space_u64(w->space, node + (uint64_t)w->m->rb_right,
				   &child[1]);
	if (r < 0)
		return visit_lost(w, min, max, r);
	if (vma.start > min) {
		r = walk_rb(w, child[0], min, vma.start - 1, levels - 1);
		if (r)
			return r;
	}
	if (vma.end - 1 >= w->start && vma.start <= w->last) {
		r = w->visit->vma(w->visit->arg, &vma);
		if (r)
			return r;
	}
	return vma.end <= max ? walk_rb(w, child[1], vma.end, max, levels - 1) :
				0;
}

int pdet_vma_each(struct pdet_space *space, const struct pdet_mms *m,
		  uint64_t mm, uint64_t start, uint64_t last,
		  const struct pdet_vma_visit *visit)
{
	struct walk w = { space, m, visit, mm, start, last };
	const struct pdet_maple_visit maple = { visit_entry, visit_lost, &w };
	uint64_t root;
	int r;

	if (m->has_maple)
		return pdet_maple_each(space, &m->maple,
				       pdet_struct_addr(&m->mm, mm, MM_TREE),
				       start, last, &maple);
	r = pdet_is_address(mm) ?
		pdet_space_u64(space, mm + (uint64_t)m->rb_root, &root) :
		-EBADMSG;
	return r < 0 ? visit_lost(&w, start, last, r) :
		       walk_rb(&w, root, 0, UINT64_MAX, LEVELS);
}

static int take(void *arg, const struct pdet_vm_area *vma)
{
	*(struct pdet_vm_area *)arg = *vma;
	return 1;
}

static int give_up(void *arg, uint64_t start, uint64_t end, int error)
{
	(void)arg;
	(void)start;
	(void)end;
	return error;
}

int pdet_vma_next(struct pdet_space *space, const struct pdet_mms *m,
		  uint64_t mm, uint64_t address, struct pdet_vm_area *ret)
{
	const struct pdet_vma_visit visit = { take, give_up, ret };

	return pdet_vma_each(space, m, mm, address, UINT64_MAX, &visit);
}
