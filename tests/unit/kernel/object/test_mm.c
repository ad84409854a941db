/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests VMAs and their names: a maple tree and a red-black tree give the same.
 */
#include "../../dentries.h"
#include "kernel/object/vma_name.h"
#include "../../maple.h"

enum { V_START = 0, V_END = 8, V_MM = 16, V_FLAGS = 32, V_NAME = 40,
       V_ANON = 120, V_OPS = 128, V_PGOFF = 136, V_FILE = 144, V_PRIVATE = 152,
       V_RB = 160, VMA_SIZE = 200,
       M_PGD = 72, M_COUNT = 80, M_START_BRK = 88, M_BRK = 96, M_STACK = 104,
       M_TREE = 112, M_RB = 144, M_CONTEXT = 160, C_VDSO = 8, C_IMAGE = 16,
       I_DATA = 0, I_SIZE = 8, MM_SIZE = 256 };

#define USER 0x7f0000000000ull
#define SPECIAL 0xffffffff82241fa0ull
#define SPECIAL_NAME 0xffffffff813f1a30ull
#define OPS_NAME 88

struct mm {
	struct kmem *k;
	struct structs s;
	struct pdet_mms m;
	struct pdet_paths paths;
	struct pdet_vma_names names;
	uint64_t mm;
	uint64_t vma[16];
	uint64_t start[64], lost[64];
	unsigned n, n_lost;
	int error;
};

static void add_types(struct structs *s, bool maple)
{
	static const struct structs_member vma[] = {
		{ "vm_start", V_START, 0, 0, 8 }, { "vm_end", V_END, 0, 0, 8 },
		{ "vm_mm", V_MM, 0, 0, 8 }, { "vm_flags", V_FLAGS, 0, 0, 8 },
		{ "anon_name", V_NAME, 0, 0, 8 },
		{ "anon_vma", V_ANON, 0, 0, 8 }, { "vm_ops", V_OPS, 0, 0, 8 },
		{ "vm_pgoff", V_PGOFF, 0, 0, 8 },
		{ "vm_file", V_FILE, 0, 0, 8 },
		{ "vm_private_data", V_PRIVATE, 0, 0, 8 },
		{ "vm_rb", V_RB, 0, 0, 24 },
		/* the place of the name until 6.1 */
		{ "shared", V_NAME, 0, 0, 32 },
	}, mm[] = {
		{ "pgd", M_PGD, 0, 0, 8 }, { "map_count", M_COUNT, 0, 0, 4 },
		{ "start_brk", M_START_BRK, 0, 0, 8 },
		{ "brk", M_BRK, 0, 0, 8 }, { "start_stack", M_STACK, 0, 0, 8 },
	}, rb_node[] = {
		{ "rb_right", 8, 0, 0, 8 }, { "rb_left", 16, 0, 0, 8 },
	}, rb_root[] = {
		{ "rb_node", 0, 0, 0, 8 },
	}, special[] = {
		{ "name", 0, 0, 0, 8 },
	}, ops[] = {
		{ "open", 0, 0, 0, 8 }, { "name", OPS_NAME, 0, 0, 8 },
	}, anon_name[] = {
		{ "name", 4, 0, 0, 80 },
	}, context[] = {
		{ "vdso", C_VDSO, 0, 0, 8 }, { "vdso_image", C_IMAGE, 0, 0, 8 },
	}, image[] = {
		{ "data", I_DATA, 0, 0, 8 }, { "size", I_SIZE, 0, 0, 8 },
	};
	uint32_t root, tree, in;
	unsigned i;

#define ADD(name, size, m) \
	structs_add(s, name, size, m, sizeof(m) / sizeof(*m))
	ADD("vm_area_struct", VMA_SIZE, vma);
	ADD("rb_node", 24, rb_node);
	ADD("vm_special_mapping", 8, special);
	ADD("vm_operations_struct", 128, ops);
	ADD("anon_vma_name", 84, anon_name);
	ADD("vdso_image", 16, image);
	in = ADD("mm_context", 24, context);
	root = ADD("rb_root", 8, rb_root);
	tree = ADD("maple_tree", 16, maple_tree_members);
#undef ADD
	maple_structs(s);
	blob_type(&s->blob, "mm_struct", BLOB_STRUCT, 7, MM_SIZE);
	for (i = 0; i < 5; i++)
		blob_member(&s->blob, mm[i].name, s->word, mm[i].offset * 8);
	blob_member(&s->blob, "context", in, M_CONTEXT * 8);
	if (maple)
		blob_member(&s->blob, "mm_mt", tree, M_TREE * 8);
	else
		blob_member(&s->blob, "mm_rb", root, M_RB * 8);
}

static uint64_t new_vma(struct mm *m, unsigned i)
{
	const uint64_t v = kmem_object(m->k, VMA_SIZE);

	kmem_u64(m->k, v + V_START, USER + i * 0x3000);
	kmem_u64(m->k, v + V_END, USER + i * 0x3000 + 0x2000);
	kmem_u64(m->k, v + V_MM, m->mm);
	kmem_u64(m->k, v + V_FLAGS, 0x73);
	kmem_u64(m->k, v + V_PGOFF, 100 + i);
	return v;
}

/* Builds a balanced tree of first .. last - 1. */
static uint64_t plant_rb(struct mm *m, unsigned first, unsigned last)
{
	const unsigned middle = first + (last - first) / 2;
	const uint64_t node = m->vma[middle] + V_RB;

	if (first == last)
		return 0;
	kmem_u64(m->k, node + 16, plant_rb(m, first, middle));
	kmem_u64(m->k, node + 8, plant_rb(m, middle + 1, last));
	return node;
}

static void plant_maple(struct mm *m)
{
	struct maple_slot slots[16], up[6];
	unsigned i, j, n;
	uint64_t at = 0;

	for (i = 0; i < 3; i++) {
		for (n = 0, j = i * 4; j < i * 4 + 4; j++) {
			slots[n++] = (struct maple_slot){
				USER + j * 0x3000 - 1, 0 };
			at = USER + j * 0x3000 + 0x1fff;
			slots[n++] = (struct maple_slot){ at, m->vma[j] };
		}
		if (i == 2)
			slots[n++] = (struct maple_slot){ UINT64_MAX, 0 };
		up[i].last = i == 2 ? UINT64_MAX : at;
		up[i].entry = maple_node(m->k, MAPLE_LEAF, slots, n);
	}
	maple_root(m->k, m->mm + M_TREE,
		   maple_node(m->k, MAPLE_ARANGE, up, 3));
}

static struct mm *start(bool maple)
{
	struct mm *m = calloc(1, sizeof(*m));
	unsigned i;

	ck_assert_ptr_nonnull(m);
	m->k = kmem_new();
	structs_init(&m->s);
	add_types(&m->s, maple);
	dentries_structs(&m->s);
	ck_assert(pdet_mms_init(&m->m, structs_btf(&m->s)));
	ck_assert(pdet_paths_init(&m->paths, m->s.btf));
	pdet_vma_names_init(&m->names, m->s.btf, SPECIAL, 0);
	ck_assert(m->m.has_maple == maple);
	m->mm = kmem_object(m->k, MM_SIZE);
	kmem_u64(m->k, m->mm + M_PGD, 0xffff888000200000);
	kmem_u32(m->k, m->mm + M_COUNT, 12);
	for (i = 0; i < 12; i++)
		m->vma[i] = new_vma(m, i);
	if (maple)
		plant_maple(m);
	else
		kmem_u64(m->k, m->mm + M_RB, plant_rb(m, 0, 12));
	return m;
}

static void end(struct mm *m)
{
	structs_free(&m->s);
	kmem_free(m->k);
	free(m);
}

static int see(void *arg, const struct pdet_vm_area *vma)
{
	struct mm *m = arg;

	ck_assert_uint_eq(vma->end, vma->start + 0x2000);
	ck_assert_uint_eq(vma->flags, 0x73);
	ck_assert_uint_eq(vma->pgoff, 100 + (vma->start - USER) / 0x3000);
	m->start[m->n++] = vma->start;
	return 0;
}

static int lose(void *arg, uint64_t from, uint64_t to, int error)
{
	struct mm *m = arg;

	(void)to;
	m->lost[m->n_lost++] = from;
	m->error = error;
	return 0;
}

static void look(struct mm *m, uint64_t from, uint64_t last)
{
	const struct pdet_vma_visit visit = { see, lose, m };

	m->n = m->n_lost = 0;
	ck_assert_int_eq(pdet_vma_each(&m->k->space, &m->m, m->mm, from, last,
				       &visit), 0);
}

START_TEST(trees)
{
	struct mm *m = start(_i);
	struct pdet_vm_area vma;
	struct pdet_mm mm;
	unsigned i;

	ck_assert_int_eq(pdet_mm_read(&m->k->space, &m->m, m->mm, &mm), 0);
	look(m, 0, UINT64_MAX);
	ck_assert_uint_eq(m->n, mm.map_count);
	ck_assert_uint_eq(m->n_lost, 0);
	for (i = 0; i < 12; i++) {
		ck_assert_uint_eq(m->start[i], USER + i * 0x3000);
		ck_assert_int_eq(pdet_vma_next(&m->k->space, &m->m, m->mm,
					       USER + i * 0x3000 + 0x1fff,
					       &vma), 1);
		ck_assert_uint_eq(vma.addr, m->vma[i]);
		/* Between two, the next one is found. */
		ck_assert_int_eq(pdet_vma_next(&m->k->space, &m->m, m->mm,
					       USER + i * 0x3000 + 0x2000,
					       &vma), i < 11);
		ck_assert_uint_eq(vma.addr, m->vma[PDET_MIN(i + 1, 11u)]);
	}
	look(m, USER + 0x3000, USER + 0x8fff);
	ck_assert_uint_eq(m->n, 2);
	/* One with another start, or of another process. */
	kmem_u64(m->k, m->vma[7] + (_i ? V_MM : V_START), 0xffff888000000000);
	look(m, 0, UINT64_MAX);
	ck_assert_uint_ge(m->n_lost, 1);
	ck_assert_int_eq(m->error, -EBADMSG);
	ck_assert_uint_ge(m->n, 10);
	ck_assert_int_eq(pdet_vma_next(&m->k->space, &m->m, m->mm,
				       USER + 7 * 0x3000, &vma), -EBADMSG);
	end(m);
}
END_TEST

START_TEST(rb_circle)
{
	struct mm *m = start(false);
	uint64_t root;

	/*
	 * The lowest one's left child is the root, and the highest one's right
	 * child is itself.
	 */
	ck_assert_int_eq(pdet_space_u64(&m->k->space, m->mm + M_RB, &root), 0);
	kmem_u64(m->k, m->vma[0] + V_RB + 16, root);
	kmem_u64(m->k, m->vma[11] + V_RB + 8, m->vma[11] + V_RB);
	look(m, 0, UINT64_MAX);
	ck_assert_uint_eq(m->n, 12);
	ck_assert_uint_eq(m->n_lost, 2);
	ck_assert_int_eq(m->error, -EBADMSG);
	end(m);
}
END_TEST

static const char *name(struct mm *m, unsigned i)
{
	static char buf[PDET_PATH];
	struct pdet_vm_area vma;
	struct pdet_mm mm;

	ck_assert_int_eq(pdet_mm_read(&m->k->space, &m->m, m->mm, &mm), 0);
	ck_assert_int_eq(pdet_vma_next(&m->k->space, &m->m, m->mm,
				       USER + i * 0x3000, &vma), 1);
	if (pdet_vma_name(&m->k->space, &m->names, &m->paths, &mm, &vma,
			  buf) < 0)
		return NULL;
	return buf;
}

START_TEST(names)
{
	struct mm *m = start(true);
	struct kmem *k = m->k;
	uint64_t root, mnt, file, text, ops, mapping;

	ck_assert_str_eq(name(m, 0), "");
	kmem_u64(k, m->mm + M_START_BRK, USER + 0x1000);
	kmem_u64(k, m->mm + M_BRK, USER + 0x1800);
	kmem_u64(k, m->mm + M_STACK, USER + 11 * 0x3000 + 0x1ff0);
	ck_assert_str_eq(name(m, 0), "[heap]");
	ck_assert_str_eq(name(m, 1), "");
	ck_assert_str_eq(name(m, 11), "[stack]");
	root = dentries_new(k, 0, "/");
	mnt = dentries_mount(k, root, 0, 0);
	file = dentries_file(k, mnt, dentries_new(k, root, "bin"));
	kmem_u64(k, m->vma[2] + V_FILE, file);
	/* The VMA has a file, so the pointer is not a name. */
	kmem_u64(k, m->vma[2] + V_NAME, 0x1234);
	ck_assert_str_eq(name(m, 2), "/bin");
	text = kmem_object(k, 84);
	kmem_text(k, text + 4, "my area");
	kmem_u64(k, m->vma[3] + V_NAME, text);
	ck_assert_str_eq(name(m, 3), "[anon:my area]");
	kmem_text(k, text + 4, "[vdso]");
	mapping = kmem_object(k, 8);
	kmem_u64(k, mapping, text + 4);
	kmem_u64(k, m->vma[4] + V_OPS, SPECIAL);
	kmem_u64(k, m->vma[4] + V_PRIVATE, mapping);
	ck_assert_str_eq(name(m, 4), "[vdso]");
	/* If only functions have names. */
	ops = kmem_object(k, 128);
	kmem_u64(k, ops + OPS_NAME, SPECIAL_NAME);
	kmem_u64(k, m->vma[4] + V_OPS, ops);
	ck_assert_str_eq(name(m, 4), "");
	pdet_vma_names_init(&m->names, m->s.btf, 0, SPECIAL_NAME);
	ck_assert_str_eq(name(m, 4), "[vdso]");
	kmem_u64(k, ops + OPS_NAME, SPECIAL_NAME + 1);
	ck_assert_str_eq(name(m, 4), "");
	kmem_u64(k, ops + OPS_NAME, SPECIAL_NAME);
	kmem_u64(k, m->vma[4] + V_PRIVATE, 0x1000);
	ck_assert_ptr_null(name(m, 4));
	end(m);
}
END_TEST

/* The kernel has the pages of the vdso that a process has not used. */
START_TEST(vdso)
{
	const uint64_t data = 0xffffffff82001000, at = USER + 0x50000;
	struct mm *m = start(true);
	const uint64_t image = kmem_object(m->k, 16);
	struct pdet_mm mm;
	uint64_t found;

	kmem_u64(m->k, m->mm + M_CONTEXT + C_VDSO, at);
	kmem_u64(m->k, m->mm + M_CONTEXT + C_IMAGE, image);
	kmem_u64(m->k, image + I_DATA, data);
	kmem_u64(m->k, image + I_SIZE, 0x2000);
	ck_assert_int_eq(pdet_mm_read(&m->k->space, &m->m, m->mm, &mm), 0);
	ck_assert_int_eq(pdet_mm_vdso(&m->k->space, &m->m, &mm, at + 0x1234,
				      &found), 0);
	ck_assert_uint_eq(found, data + 0x1234);
	ck_assert_int_eq(pdet_mm_vdso(&m->k->space, &m->m, &mm, at - 1,
				      &found), -ENOENT);
	ck_assert_int_eq(pdet_mm_vdso(&m->k->space, &m->m, &mm, at + 0x2000,
				      &found), -ENOENT);
	kmem_u64(m->k, image + I_DATA, 0x1000);
	ck_assert_int_eq(pdet_mm_vdso(&m->k->space, &m->m, &mm, at, &found),
			 -EBADMSG);
	kmem_fail(m->k, image, -ENODATA);
	ck_assert_int_eq(pdet_mm_vdso(&m->k->space, &m->m, &mm, at, &found),
			 -ENODATA);
	mm.vdso_image = 0;
	ck_assert_int_eq(pdet_mm_vdso(&m->k->space, &m->m, &mm, at, &found),
			 -ENOENT);
	end(m);
}
END_TEST

/* Kernels have no count, a number, or a seqcount. */
START_TEST(changes)
{
	static const struct {
		uint32_t is;
		uint64_t number, seqcount;
	} cases[] = { { 0, 1, 1 }, { 6, 7, 7 }, { 7, 8, 0 },
		      { UINT32_MAX, 0x100000000, 0 } };
	const uint32_t is = cases[_i % 4].is;
	struct structs_member mm[] = {
		{ "pgd", 0, 0, 0, 8 }, { "mm_lock_seq", 8, 0, 0, 4 },
	};
	struct pdet_mms m;
	struct pdet_mm found;
	struct kmem *k = kmem_new();
	const uint64_t at = kmem_object(k, 64);
	struct structs s;

	structs_init(&s);
	if (_i / 4 == 2)
		mm[1].bytes = STRUCTS_IN(structs_add(&s, "seqcount", 4,
			&(struct structs_member){ "sequence", 0, 0, 0, 4 }, 1));
	structs_add(&s, "mm_struct", 64, mm, _i / 4 ? 2 : 1);
	pdet_mms_init(&m, structs_btf(&s));
	kmem_u64(k, at, at);
	kmem_u32(k, at + 8, is);
	ck_assert_int_eq(pdet_mm_read(&k->space, &m, at, &found), 0);
	ck_assert_uint_eq(found.changes, _i / 4 == 0 ? 0 : _i / 4 == 1 ?
			  cases[_i % 4].number : cases[_i % 4].seqcount);
	structs_free(&s);
	kmem_free(k);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mm");

	unit_loop(s, trees, 2);
	unit_test(s, rb_circle);
	unit_test(s, names);
	unit_test(s, vdso);
	unit_loop(s, changes, 12);
	return unit_main(s);
}
