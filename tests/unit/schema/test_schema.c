/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests the tables of fields and names, on which users and scripts rely. */
#include <linux/kernel-page-flags.h>

#include "schema/schema.h"
#include "../unit.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int by_name(const char *name)
{
	return pdet_field_by_name(name, (unsigned)strlen(name));
}

static int value_by_name(unsigned field, const char *name)
{
	return pdet_value_by_name(field, name, (unsigned)strlen(name));
}

START_TEST(every_field_describes_itself)
{
	unsigned id = (unsigned)_i, other;
	const struct pagedet_field_info *f = pdet_field_info(id);

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(f->id, id);
	ck_assert_int_eq(by_name(f->name), (int)id);
	ck_assert(f->type >= PAGEDET_TYPE_NUMBER &&
		  f->type <= PAGEDET_TYPE_SIGNED);
	ck_assert(f->width == 4 || f->width == 8);
	ck_assert_uint_ge(f->offset, PAGEDET_FIELDS_MAX * sizeof(uint16_t));
	ck_assert_uint_le(f->offset + f->width, sizeof(struct pagedet_page));
	ck_assert_uint_eq(f->offset % f->width, 0);
	ck_assert_str_ne(f->text, "");
	ck_assert_str_ne(f->group, "");
	ck_assert_ptr_nonnull(f->unit);
	/* String and stack ids need more than 32 bits. */
	if (f->type == PAGEDET_TYPE_STRING || f->type == PAGEDET_TYPE_LIST ||
	    f->type == PAGEDET_TYPE_STACK)
		ck_assert_uint_eq(f->width, 8);
	for (other = 0; other < id; other++) {
		const struct pagedet_field_info *o = pdet_field_info(other);

		ck_assert_str_ne(o->name, f->name);
		ck_assert(o->offset + o->width <= f->offset ||
			  f->offset + f->width <= o->offset);
	}
}
END_TEST

START_TEST(other_numbers_and_names_are_no_field)
{
	ck_assert_ptr_null(pdet_field_info(PDET_FIELDS));
	ck_assert_ptr_null(pdet_field_info(UINT32_MAX));
	ck_assert_int_eq(by_name(""), -1);
	ck_assert_int_eq(by_name("pf"), -1);
	ck_assert_int_eq(by_name("pfn "), -1);
	ck_assert_int_eq(by_name("PFN"), -1);
	ck_assert_int_eq(pdet_field_by_name("pfnx", 3), PAGEDET_FIELD_PFN);
}
END_TEST

START_TEST(order_shows_every_field_once)
{
	unsigned char seen[PDET_FIELDS] = { 0 };
	unsigned i;

	for (i = 0; i < PDET_FIELDS; i++) {
		ck_assert_uint_lt(pdet_field_at(i), PDET_FIELDS);
		ck_assert_uint_eq(seen[pdet_field_at(i)]++, 0);
	}
	/* Each line of output begins with ask. */
	ck_assert_uint_eq(pdet_field_at(0), PAGEDET_FIELD_ASK);
}
END_TEST

START_TEST(sets)
{
	struct pdet_fields set = { { 0, 0 } };
	unsigned f, n = 0;

	ck_assert(pdet_fields_empty(&set));
	pdet_fields_for(f, &set)
		ck_abort_msg("a field of no set");
	pdet_fields_add(&set, 0);
	pdet_fields_add(&set, 56);
	ck_assert(pdet_fields_has(&set, 56));
	ck_assert(!pdet_fields_has(&set, 55));
	pdet_fields_for(f, &set)
		n += f + 1;
	ck_assert_uint_eq(n, 1 + 57);
	pdet_fields_remove(&set, 0);
	ck_assert(!pdet_fields_has(&set, 0));
	n = 0;
	set = pdet_fields_all();
	pdet_fields_for(f, &set)
		n++;
	ck_assert_uint_eq(n, PDET_FIELDS);
	/* Bit 64 is in the second word. */
	memset(&set, 0, sizeof(set));
	pdet_fields_add(&set, 64);
	ck_assert_uint_eq(set.bits[1], 1);
	/* Ascending, even if the set changes during the loop. */
	pdet_fields_add(&set, 2);
	n = 0;
	pdet_fields_for(f, &set) {
		ck_assert_uint_eq(f, n++ ? 64 : 2);
		pdet_fields_remove(&set, 64);
		pdet_fields_add(&set, 99);
	}
	ck_assert_uint_eq(n, 2);
}
END_TEST

START_TEST(groups)
{
	struct pdet_fields set, all, every;
	unsigned f;

	ck_assert(pdet_group_fields("owner", 5, &set));
	ck_assert(pdet_fields_has(&set, PAGEDET_FIELD_ALLOC_STACK));
	ck_assert(!pdet_fields_has(&set, PAGEDET_FIELD_PFN));
	ck_assert(pdet_group_fields("all", 3, &all));
	ck_assert(pdet_group_fields("everything", 10, &every));
	for (f = 0; f < PDET_FIELDS; f++) {
		const char *group = pdet_field_info(f)->group;

		ck_assert(pdet_fields_has(&every, f));
		/* "all" excludes contents, walks of other tasks, DAMON, and
		 * KMAPs. */
		ck_assert_int_eq(pdet_fields_has(&all, f),
				 strcmp(group, "content") &&
				 strcmp(group, "maps") &&
				 strcmp(group, "damon") &&
				 strcmp(group, "kmap"));
		/* A group's name finds it, and it has this field. */
		ck_assert(pdet_group_fields(group, (unsigned)strlen(group),
					    &set));
		ck_assert(pdet_fields_has(&set, f));
	}
	ck_assert(!pdet_group_fields("nonsense", 8, &set));
	ck_assert(!pdet_group_fields("", 0, &set));
	ck_assert(!pdet_group_fields("own", 3, &set));
}
END_TEST

/* Names that the command promises, complete for each field. */
static const char *const kinds[] = {
	"free", "anon", "file", "shmem", "hugetlb", "slab", "pgtable", "zero",
	"reserved", "offline", "zsmalloc", "device", "kernel", "hole",
	"uninit", "unknown", "untouched", "unmapped",
};
static const char *const pte_bits[] = {
	"present", "swapped", "guard", "migration", "hwpoison", "device",
	"file", "zero", "exclusive", "soft_dirty", "uffd_wp", "written",
	"young", "dirty", "write", "exec",
};
static const char *const notes[] = {
	"torn", "perturbed", "estimated", "partial", "stale",
};
static const char *const zones[] = {
	"DMA", "DMA32", "Normal", "HighMem", "Movable", "Device",
};

static const struct {
	unsigned field;
	const char *const *names;
	size_t n;
} contracts[] = {
	{ PAGEDET_FIELD_KIND, kinds, COUNT(kinds) },
	{ PAGEDET_FIELD_PTE, pte_bits, COUNT(pte_bits) },
	{ PAGEDET_FIELD_PTE_KNOWN, pte_bits, COUNT(pte_bits) },
	{ PAGEDET_FIELD_NOTES, notes, COUNT(notes) },
	{ PAGEDET_FIELD_ZONE, zones, COUNT(zones) },
};

START_TEST(contract_names_are_known)
{
	uint64_t seen = 0;
	size_t i;

	for (i = 0; i < contracts[_i].n; i++) {
		const char *name = contracts[_i].names[i];
		int value = value_by_name(contracts[_i].field, name);

		ck_assert_msg(value >= 0 && value < 64, "%s", name);
		ck_assert_str_eq(pdet_value_name(contracts[_i].field,
						 (uint64_t)value), name);
		ck_assert(!(seen >> value & 1));
		seen |= (uint64_t)1 << value;
	}
}
END_TEST

START_TEST(values_without_name_have_none)
{
	ck_assert_ptr_null(pdet_value_name(PAGEDET_FIELD_KIND, 18));
	ck_assert_ptr_null(pdet_value_name(PAGEDET_FIELD_KIND, UINT64_MAX));
	ck_assert_ptr_null(pdet_value_name(PAGEDET_FIELD_FLAGS, 27));
	ck_assert_ptr_null(pdet_value_name(PAGEDET_FIELD_PFN, 0));
	ck_assert_int_eq(value_by_name(PAGEDET_FIELD_KIND, "ano"), -1);
	ck_assert_int_eq(value_by_name(PAGEDET_FIELD_PFN, "anon"), -1);
}
END_TEST

/* The kernel's numbers, from its header. */
static const struct {
	const char *name;
	int bit;
} uapi_flags[] = {
	{ "locked", KPF_LOCKED }, { "error", KPF_ERROR },
	{ "referenced", KPF_REFERENCED }, { "uptodate", KPF_UPTODATE },
	{ "dirty", KPF_DIRTY }, { "lru", KPF_LRU }, { "active", KPF_ACTIVE },
	{ "slab", KPF_SLAB }, { "writeback", KPF_WRITEBACK },
	{ "reclaim", KPF_RECLAIM }, { "buddy", KPF_BUDDY },
	{ "mmap", KPF_MMAP }, { "anon", KPF_ANON },
	{ "swapcache", KPF_SWAPCACHE }, { "swapbacked", KPF_SWAPBACKED },
	{ "compound_head", KPF_COMPOUND_HEAD },
	{ "compound_tail", KPF_COMPOUND_TAIL }, { "huge", KPF_HUGE },
	{ "unevictable", KPF_UNEVICTABLE }, { "hwpoison", KPF_HWPOISON },
	{ "nopage", KPF_NOPAGE }, { "ksm", KPF_KSM }, { "thp", KPF_THP },
	{ "offline", KPF_OFFLINE }, { "zero_page", KPF_ZERO_PAGE },
	{ "idle", KPF_IDLE }, { "pgtable", KPF_PGTABLE },
};

START_TEST(page_flags_are_the_kernels)
{
	ck_assert_int_eq(value_by_name(PAGEDET_FIELD_FLAGS,
				       uapi_flags[_i].name),
			 uapi_flags[_i].bit);
	ck_assert_int_eq(value_by_name(PAGEDET_FIELD_FLAGS_KNOWN,
				       uapi_flags[_i].name),
			 uapi_flags[_i].bit);
}
END_TEST

static const char *const reasons[] = {
	"unsupported", "not_built", "no_kernel", "no_access", "no_types",
	"old_row", "too_costly", "excluded", "raced", "corrupt", "io",
	"no_memory", "denied", "unsafe", "timeout",
};

START_TEST(states)
{
	unsigned state, seen = 0;
	size_t i;

	ck_assert_str_eq(pdet_state_name(PAGEDET_NOT_ASKED), "not_asked");
	ck_assert_str_eq(pdet_state_name(PAGEDET_HAVE), "have");
	ck_assert_str_eq(pdet_state_name(PAGEDET_NONE), "none");
	for (state = 0; state < 256; state++) {
		const char *name = pdet_state_name(state);

		ck_assert_int_eq(!name, !pdet_state_text(state));
		if (state < PAGEDET_UNSUPPORTED) {
			ck_assert(!pdet_is_reason(state));
			continue;
		}
		ck_assert(pdet_is_reason(state));
		for (i = 0; name && i < COUNT(reasons); i++)
			seen += !strcmp(reasons[i], name);
	}
	ck_assert_uint_eq(seen, COUNT(reasons));
	ck_assert_ptr_null(pdet_state_name(3));
	ck_assert_ptr_null(pdet_state_name(UINT32_MAX));
}
END_TEST

START_TEST(sources)
{
	static const char *const names[] = {
		"procfs", "page_detective", "page_owner", "bpf", "kcore",
		"vmcore", "snapshot", "log", "derived", "trace",
	};
	unsigned i;

	for (i = 0; i < COUNT(names); i++)
		ck_assert_str_eq(pdet_source_name(i + 1), names[i]);
	ck_assert_ptr_null(pdet_source_name(0));
	ck_assert_ptr_null(pdet_source_name(COUNT(names) + 1));
}
END_TEST

START_TEST(masks_know_their_known_field)
{
	ck_assert_uint_eq(pdet_known_field(PAGEDET_FIELD_FLAGS),
			  PAGEDET_FIELD_FLAGS_KNOWN);
	ck_assert_uint_eq(pdet_known_field(PAGEDET_FIELD_PTE),
			  PAGEDET_FIELD_PTE_KNOWN);
	ck_assert_uint_eq(pdet_known_field(PAGEDET_FIELD_PFN),
			  PAGEDET_FIELD_PFN);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("schema");

	unit_loop(s, every_field_describes_itself, PDET_FIELDS);
	unit_test(s, other_numbers_and_names_are_no_field);
	unit_test(s, order_shows_every_field_once);
	unit_test(s, sets);
	unit_test(s, groups);
	unit_loop(s, contract_names_are_known, COUNT(contracts));
	unit_test(s, values_without_name_have_none);
	unit_loop(s, page_flags_are_the_kernels, COUNT(uapi_flags));
	unit_test(s, states);
	unit_test(s, sources);
	unit_test(s, masks_know_their_known_field);
	return unit_main(s);
}
