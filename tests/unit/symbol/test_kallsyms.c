/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests kernel symbols in tables made as the kernel's build makes them. */
#include "../symbols.h"

#define TEXT SYMBOLS_STEXT

/* As on x86_64: per-CPU symbols have small addresses. */
static const struct symbols_entry some[] = {
	{ 0x0, 'A', "fixed_percpu_data" },
	{ 0x0, 'A', "__per_cpu_start" },
	{ 0x1000, 'A', "cpu_debug_store" },
	{ 0x7fffffff, 'A', "per_cpu_far" },
	{ TEXT, 'T', "startup_64" },
	{ TEXT, 'T', "_stext" },
	{ TEXT, 'T', "_text" },
	{ TEXT + 0x40, 'T', "secondary_startup_64" },
	{ TEXT + 0x100, 't', "foo" },
	{ TEXT + 0x110, 't', "foo" },
	{ TEXT + 0x120, 't', "fo" },
	{ TEXT + 0x130, 't', "fooo" },
	{ TEXT + 0x140, 't', "f" },
	{ TEXT + 0x1000, 'T', "__switch_to" },
	{ TEXT + 0x1000, 'T', "__sched_text_start" },
	{ TEXT + 0x2000, 'T', "__sched_text_end" },
	{ TEXT + 0x2000, 'T', "__lock_text_start" },
	{ TEXT + 0x3000, 'T', "_etext" },
	{ TEXT + 0x3000, 'd', "__func__.0" },
	{ TEXT + 0x3000, 'D', "__start_rodata" },
	{ TEXT + 0x3000, 'W', "weak_one" },
	{ TEXT + 0x200000, 'D', "init_task" },
	{ TEXT + 0x200040, 'b', "__bss_end_of_something" },
	{ TEXT + 0x30000000, 'T', "_sinittext" },
	{ TEXT + 0x30000000, 't', "__init_thing" },
	{ 0xffffffffbf000000, 'B', "_end" },
};
#define N (sizeof(some) / sizeof(*some))

/* The entries of @e that @coding can express. */
static const struct symbols_entry *begin(enum symbols_coding coding, size_t *n)
{
	const size_t first = coding == SYMBOLS_PERCPU ? 0 : 4;

	*n = N - first;
	return some + first;
}

static struct pdet_kallsyms read_good(struct symbols *s)
{
	struct pdet_kallsyms k;
	int r = symbols_read(s, &k);

	ck_assert_msg(r == 0, "%d: %s", r, s->env.error);
	return k;
}

static void ck_same(const struct pdet_kallsyms *k,
		    const struct symbols_entry *e, size_t n)
{
	char name[PDET_SYMBOL_NAME], type;
	uint32_t i;

	ck_assert_uint_eq(k->n, n);
	for (i = 0; i < n; i++) {
		const size_t len = pdet_kallsyms_name(k, i, name, &type);

		if (len != strlen(e[i].name) || strcmp(name, e[i].name) ||
		    type != e[i].type || k->address[i] != e[i].address)
			ck_abort_msg("%u: %llx %c %s, not %llx %c %s", i,
				     (unsigned long long)k->address[i], type,
				     name, (unsigned long long)e[i].address,
				     e[i].type, e[i].name);
	}
}

START_TEST(all_symbols)
{
	const struct symbols_entry *e;
	struct pdet_kallsyms k;
	struct symbols *s;
	size_t n;

	e = begin((enum symbols_coding)_i, &n);
	s = symbols_new(e, n, (enum symbols_coding)_i);
	k = read_good(s);
	ck_same(&k, e, n);
	ck_assert(k.ascending);
	pdet_kallsyms_free(&k);
	symbols_free(s, n);
}
END_TEST

/* --- many, and long ones --- */

#define MANY 2000

static struct symbols_entry *make_many(void)
{
	static const char *const parts[] = {
		"sys", "_", "read", "page", "__x64", "folio", "lru", "cpu",
		"init", "0", "vma", "get", "put", ".isra", ".cold", "Z",
	};
	struct symbols_entry *e = calloc(MANY, sizeof(*e));
	uint64_t seed = 0x123456789abcdef, address = TEXT;
	size_t i, j, n;
	char *name;

	ck_assert_ptr_nonnull(e);
	for (i = 0; i < MANY; i++) {
		name = calloc(1, 600);
		ck_assert_ptr_nonnull(name);
		n = i % 25 == 7 ? 511 : 1 + unit_random(&seed) % 40;
		if (i == 0)
			strcpy(name, "_stext");
		/* Long names do not compress: their length has two bytes. */
		for (j = 0; i && strlen(name) < n; j++)
			if (i % 25 == 7)
				name[j] = (char)('A' + unit_random(&seed) %
						 57);
			else
				strcat(name, parts[unit_random(&seed) % 16]);
		e[i] = (struct symbols_entry){
			address, "tTdDbBrRwWVA"[unit_random(&seed) % 12], name
		};
		address += unit_random(&seed) % 5000;
	}
	return e;
}

static void free_many(struct symbols_entry *e)
{
	size_t i;

	for (i = 0; i < MANY; i++)
		free((char *)e[i].name);
	free(e);
}

START_TEST(many_symbols)
{
	struct symbols_entry *e = make_many();
	struct symbols *s = symbols_new(e, MANY, (enum symbols_coding)_i);
	struct pdet_kallsyms k = read_good(s);
	unsigned long_ones = 0;
	size_t i, j;

	ck_same(&k, e, MANY);
	for (i = 0; i < MANY; i++)
		long_ones += s->name[i].n > 127;
	ck_assert_uint_gt(long_ones, 40);
	/* Each of them is found, as the first one with its name. */
	for (i = 0; i < MANY; i += 250) {
		struct pdet_symbol want[250];

		for (j = 0; j < 250; j++)
			want[j] = (struct pdet_symbol){ .name = e[i + j].name };
		pdet_kallsyms_find(&k, want, 250);
		for (j = 0; j < 250; j++) {
			if (!want[j].found)
				ck_abort_msg("%s", want[j].name);
			if (want[j].i > i + j ||
			    want[j].address != e[want[j].i].address ||
			    strcmp(e[want[j].i].name, want[j].name))
				ck_abort_msg("%s is another", want[j].name);
		}
	}
	pdet_kallsyms_free(&k);
	symbols_free(s, MANY);
	free_many(e);
}
END_TEST

START_TEST(a_name_that_is_too_long_ends)
{
	char text[800], name[PDET_SYMBOL_NAME], type;
	struct symbols_entry e[] = {
		{ TEXT, 'T', "_stext" },
		{ TEXT + 1, 't', text },
		{ TEXT + 2, 't', "after" },
	};
	struct pdet_symbol find[] = { { .name = text }, { .name = "after" } };
	struct pdet_kallsyms k;
	struct symbols *s;
	unsigned i;

	for (i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char)('a' + i * i % 26);
	text[sizeof(text) - 1] = '\0';
	s = symbols_new(e, 3, SYMBOLS_BASE);
	k = read_good(s);
	ck_assert_uint_eq(pdet_kallsyms_name(&k, 1, name, &type),
			  PDET_SYMBOL_NAME - 1);
	ck_assert_int_eq(strncmp(name, text, PDET_SYMBOL_NAME - 1), 0);
	ck_assert_uint_eq(strlen(name), PDET_SYMBOL_NAME - 1);
	pdet_kallsyms_find(&k, find, 2);
	ck_assert(!find[0].found);
	ck_assert(find[1].found);
	ck_assert_uint_eq(find[1].address, TEXT + 2);
	pdet_kallsyms_free(&k);
	symbols_free(s, 3);
}
END_TEST

/* --- asking --- */

START_TEST(by_name)
{
	struct pdet_symbol find[] = {
		{ .name = "init_task" }, { .name = "init_tas" },
		{ .name = "nit_task" }, { .name = "" }, { .name = "foo" },
		{ .name = "fo" }, { .name = "fooo" }, { .name = "f" },
		{ .name = "Tstartup_64" }, { .name = "_end" },
		{ .name = "per_cpu_far" }, { .name = "init_task" },
		{ .name = "foooo", .found = true },
	};
	const uint64_t at[] = {
		TEXT + 0x200000, 0, 0, 0, TEXT + 0x100, TEXT + 0x120,
		TEXT + 0x130, TEXT + 0x140, 0, 0xffffffffbf000000, 0x7fffffff,
		TEXT + 0x200000, 0,
	};
	struct symbols *s = symbols_new(some, N, SYMBOLS_PERCPU);
	struct pdet_kallsyms k = read_good(s);
	unsigned i;

	pdet_kallsyms_find(&k, find, 13);
	for (i = 0; i < 13; i++) {
		ck_assert_msg(find[i].found == (at[i] != 0), "%s",
			      find[i].name);
		if (at[i])
			ck_assert_uint_eq(find[i].address, at[i]);
	}
	pdet_kallsyms_find(&k, find, 0);
	/* The same without the cache. */
	for (i = 0; i < 13; i++) {
		find[i].found = at[i] == 0;
		ck_assert_int_eq(pdet_kallsyms_pick(s->space, &s->info,
						    &find[i], 1), 0);
		ck_assert_msg(find[i].found == (at[i] != 0), "%s",
			      find[i].name);
		if (at[i])
			ck_assert_uint_eq(find[i].address, at[i]);
	}
	pdet_kallsyms_free(&k);
	symbols_free(s, N);
}
END_TEST

/* Names across several pieces, some cut at an end; none is lost there. */
START_TEST(a_few_of_many)
{
	struct symbols_entry *e = make_many();
	struct symbols *s = symbols_new(e, MANY, (enum symbols_coding)_i);
	struct pdet_kallsyms k = read_good(s);
	size_t i, j, n;

	ck_assert_uint_gt(s->names_len, 40000);
	for (i = 0; i < MANY; i += n) {
		struct pdet_symbol want[PDET_KALLSYMS_PICKED], kept;

		n = PDET_MIN(MANY - i, (size_t)PDET_KALLSYMS_PICKED);
		for (j = 0; j < n; j++)
			want[j] = (struct pdet_symbol){ .name = e[i + j].name };
		ck_assert_int_eq(pdet_kallsyms_pick(s->space, &s->info, want,
						    n), 0);
		for (j = 0; j < n; j++) {
			kept = want[j];
			pdet_kallsyms_find(&k, &kept, 1);
			ck_assert(want[j].found && kept.found);
			ck_assert_uint_eq(want[j].i, kept.i);
			ck_assert_uint_eq(want[j].address, kept.address);
		}
	}
	pdet_kallsyms_free(&k);
	symbols_free(s, MANY);
	free_many(e);
}
END_TEST

static const struct {
	uint64_t address;
	const char *name;	/* NULL: there is no symbol */
} named[] = {
	{ TEXT, "startup_64" },
	{ TEXT + 1, "startup_64" },
	{ TEXT + 0x3f, "startup_64" },
	{ TEXT + 0x40, "secondary_startup_64" },
	{ TEXT + 0x105, "foo" },
	{ TEXT + 0x1000, "__switch_to" },
	{ TEXT + 0x1fff, "__switch_to" },
	/* Only marks: the one that the kernel would name. */
	{ TEXT + 0x2000, "__sched_text_end" },
	{ TEXT + 0x2fff, "__sched_text_end" },
	{ TEXT + 0x3004, "__func__.0" },
	{ TEXT + 0x200000 - 1, "__func__.0" },
	{ TEXT + 0x200000, "init_task" },
	{ TEXT + 0x200040, "__bss_end_of_something" },
	{ TEXT + 0x30000000, "__init_thing" },
	{ 0xffffffffbf000000, "_end" },
	{ -1ull, "_end" },
	{ 0x0, "fixed_percpu_data" },
	{ 0xfff, "fixed_percpu_data" },
	{ 0x1000, "cpu_debug_store" },
};

START_TEST(by_address)
{
	struct symbols *s = symbols_new(some, N, SYMBOLS_PERCPU);
	struct pdet_kallsyms k = read_good(s);
	char name[PDET_SYMBOL_NAME];
	uint32_t i;

	ck_assert(pdet_kallsyms_at(&k, named[_i].address, &i));
	pdet_kallsyms_name(&k, i, name, NULL);
	ck_assert_str_eq(name, named[_i].name);
	ck_assert_uint_le(k.address[i], named[_i].address);
	pdet_kallsyms_free(&k);
	symbols_free(s, N);
}
END_TEST

START_TEST(before_the_first_is_nothing)
{
	struct symbols *s = symbols_new(some + 4, N - 4, SYMBOLS_BASE);
	struct pdet_kallsyms k = read_good(s);
	uint32_t i = 55;

	ck_assert(!pdet_kallsyms_at(&k, TEXT - 1, &i));
	ck_assert(!pdet_kallsyms_at(&k, 0, &i));
	ck_assert_uint_eq(i, 55);
	/* Without an order no address has a symbol. */
	k.ascending = false;
	ck_assert(!pdet_kallsyms_at(&k, TEXT, &i));
	pdet_kallsyms_free(&k);
	symbols_free(s, N - 4);
}
END_TEST

START_TEST(disorder_is_seen)
{
	const struct symbols_entry e[] = {
		{ TEXT, 'T', "_stext" },
		{ TEXT + 0x200, 't', "two" },
		{ TEXT + 0x100, 't', "one" },
	};
	struct symbols *s = symbols_new(e, 3, SYMBOLS_ITSELF);
	struct pdet_kallsyms k = read_good(s);
	uint32_t i;

	ck_same(&k, e, 3);
	ck_assert(!k.ascending);
	ck_assert(!pdet_kallsyms_at(&k, TEXT + 0x100, &i));
	pdet_kallsyms_free(&k);
	symbols_free(s, 3);
}
END_TEST

/* A hundred thousand marks or aliases at one address: the work is bounded. */
START_TEST(many_at_one_address)
{
	struct symbols_entry *e = calloc(MANY, sizeof(*e));
	struct pdet_kallsyms k;
	struct symbols *s;
	uint32_t i, at;

	ck_assert_ptr_nonnull(e);
	for (i = 0; i < MANY; i++)
		e[i] = (struct symbols_entry){ TEXT, 'T', i == 0 ? "_stext" :
			i == MANY - 1 ? "function" : "__mark_start" };
	s = symbols_new(e, MANY, SYMBOLS_BASE);
	k = read_good(s);
	for (i = 0; i < 100000; i++)
		if (!pdet_kallsyms_at(&k, TEXT + i, &at) || at)
			ck_abort_msg("%u", at);
	pdet_kallsyms_free(&k);
	symbols_free(s, MANY);
	free(e);
}
END_TEST

/* --- damage --- */

/* Makes every look-up, whatever was read. */
static void ask_all(const struct pdet_kallsyms *k)
{
	struct pdet_symbol find[] = { { .name = "init_task" },
				      { .name = "none" }, { .name = "_end" } };
	char name[PDET_SYMBOL_NAME], type;
	uint32_t i, at;

	for (i = 0; i < k->n; i++) {
		if (pdet_kallsyms_name(k, i, name, &type) != strlen(name))
			ck_abort_msg("a name with a NUL in it");
		if (pdet_kallsyms_at(k, k->address[i], &at) &&
		    k->address[at] != k->address[i])
			ck_abort_msg("%u is not at its address", i);
	}
	pdet_kallsyms_find(k, find, 3);
	for (i = 0; i < 3; i++) {
		if (!find[i].found)
			continue;
		pdet_kallsyms_name(k, find[i].i, name, NULL);
		if (strcmp(name, find[i].name))
			ck_abort_msg("%s is no %s", name, find[i].name);
	}
}

START_TEST(every_byte_damaged)
{
	static const unsigned char masks[] = { 0x01, 0x80, 0xff, 0x7f };
	static const struct {
		uint64_t va;
		size_t n;
	} where[] = {
		{ SYMBOLS_NUM, 4 }, { SYMBOLS_NAMES, 0 },
		{ SYMBOLS_TOKENS, 1000 }, { SYMBOLS_INDEX, 512 },
		{ SYMBOLS_OFFSETS, N * 4 }, { SYMBOLS_BASE_AT, 8 },
	};
	struct symbols *s = symbols_new(some, N, SYMBOLS_PERCPU);
	const size_t n = where[_i].n ? where[_i].n : s->names_len;
	struct pdet_kallsyms k;
	unsigned m, bad = 0;
	size_t at;

	for (at = 0; at < n; at++)
		for (m = 0; m < sizeof(masks); m++) {
			char *byte = symbols_byte(s, where[_i].va + at);

			*byte ^= (char)masks[m];
			if (symbols_read(s, &k) == 0) {
				ask_all(&k);
				pdet_kallsyms_free(&k);
			} else {
				bad++;
				if (strncmp(s->env.error, "cannot read", 11))
					ck_abort_msg("%s", s->env.error);
			}
			*byte ^= (char)masks[m];
		}
	/* If this one has moved, the rest is not known. */
	if (where[_i].va == SYMBOLS_BASE_AT)
		ck_assert_uint_eq(bad, 8 * sizeof(masks));
	k = read_good(s);
	ck_same(&k, some, N);
	pdet_kallsyms_free(&k);
	symbols_free(s, N);
}
END_TEST

START_TEST(memory_that_is_missing)
{
	static const int errors[] = { -EIO, -ENODATA, -EBADMSG, -EACCES };
	struct symbols_entry *e = make_many();
	struct symbols *s = symbols_new(e, MANY, SYMBOLS_BASE);
	struct pdet_kallsyms k;
	size_t i;
	int r;

	for (i = 0; i < s->m->n; i++) {
		const uint64_t addr = s->m->page[i].number << 12;

		/* Each page with a table or a page table. */
		s->m->page[i].error = errors[i % 4];
		r = symbols_read(s, &k);
		if (addr >= 0x10000000 + 0x2000000) {
			ck_assert_int_eq(r, errors[i % 4]);
			ck_assert_str_ne(s->env.error, "");
		}
		ck_assert_int_ne(r, 0);
		s->m->page[i].error = 0;
	}
	k = read_good(s);
	ck_same(&k, e, MANY);
	pdet_kallsyms_free(&k);
	symbols_free(s, MANY);
	free_many(e);
}
END_TEST

START_TEST(names_end_where_memory_ends)
{
	struct symbols_entry *e = make_many();
	size_t n = MANY, end;
	struct pdet_kallsyms k;
	struct symbols *s;
	uint32_t num;

	s = symbols_new(e, n, SYMBOLS_BASE);
	/* Only names up to a page border: the next page is not read. */
	for (num = 0, end = 0; num < n; num++) {
		const size_t more = s->name[num].n + 1 +
				    (s->name[num].n > 127);

		if (end + more > 4096 - (SYMBOLS_NAMES & 4095))
			break;
		end += more;
	}
	symbols_write(s, SYMBOLS_NUM, &num, sizeof(num));
	tables_map(s->m, &s->p, s->p.root, (SYMBOLS_NAMES & -4096ull) + 4096,
		   0, 0);
	k = read_good(s);
	ck_same(&k, e, num);
	pdet_kallsyms_free(&k);
	/* One more is too many. */
	num++;
	symbols_write(s, SYMBOLS_NUM, &num, sizeof(num));
	ck_assert_int_eq(symbols_read(s, &k), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(s->env.error, "nothing is mapped"));
	symbols_free(s, MANY);
	free_many(e);
}
END_TEST

START_TEST(numbers_that_are_none)
{
	/* The tokens are 2 MB behind the names, with nothing between. */
	static const uint32_t numbers[] = { 0, 0xffffffff, (4u << 20) + 1,
					    4u << 20, 2u << 20, 1u << 20 };
	struct symbols *s = symbols_new(some, N, SYMBOLS_PERCPU);
	struct pdet_kallsyms k;

	symbols_write(s, SYMBOLS_NUM, &numbers[_i], 4);
	ck_assert_int_eq(symbols_read(s, &k), -EBADMSG);
	ck_assert_int_eq(!!strstr(s->env.error, "nothing is mapped"), _i == 5);
	ck_assert_int_eq(strncmp(s->env.error, "cannot read", 11), 0);
	symbols_free(s, N);
}
END_TEST

/* Names of zero bytes without end: the search still ends. */
START_TEST(names_without_length)
{
	struct symbols *s = symbols_new(some, N, SYMBOLS_PERCPU);
	const uint32_t num = 500000;
	struct pdet_kallsyms k;
	char zero[4096];
	unsigned i;

	memset(zero, 0, sizeof(zero));
	symbols_write(s, SYMBOLS_NUM, &num, sizeof(num));
	for (i = 0; i < 127; i++)
		symbols_write(s, (SYMBOLS_NAMES & -4096ull) + 4096 * (1 + i),
			      zero, sizeof(zero));
	symbols_write(s, SYMBOLS_NAMES, zero, 4096 - (SYMBOLS_NAMES & 4095));
	/* _stext is not among them. */
	for (i = 0; i < 500; i++)
		symbols_write(s, SYMBOLS_OFFSETS + i * 4096, zero, 4096);
	ck_assert_int_eq(symbols_read(s, &k), -EBADMSG);
	symbols_free(s, N);
}
END_TEST

START_TEST(keys_that_are_missing)
{
	static const char *const keys[] = {
		"kallsyms_names", "kallsyms_num_syms", "kallsyms_token_table",
		"kallsyms_token_index", "kallsyms_offsets",
	};
	struct symbols *s = symbols_new(some, N, SYMBOLS_PERCPU);
	struct pdet_kallsyms k;
	char *key;

	key = strstr(s->info_text, keys[_i]);
	key[0] = 'K';
	ck_assert_int_eq(symbols_read(s, &k), -ENODATA);
	ck_assert_ptr_nonnull(strstr(s->env.error, "VMCOREINFO"));
	key[0] = 'k';
	/* Without a reference, any offset is possible. */
	key = strstr(s->info_text, "(_stext");
	key[1] = 'K';
	ck_assert_int_eq(symbols_read(s, &k), -EBADMSG);
	key[1] = '_';
	k = read_good(s);
	pdet_kallsyms_free(&k);
	symbols_free(s, N);
}
END_TEST

/* --- tables that VMCOREINFO does not have --- */

#define OLD (TEXT + 0x100000)
#define OLD_N 600

/* Writes one table after the other, as until 5.19. Returns the end. */
static uint64_t add_table(struct symbols *s, uint64_t at, uint64_t from,
			  size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		symbols_write(s, at + i, symbols_byte(s, from + i), 1);
	return (at + n + 7) & -8ull;
}

static uint64_t add_markers(struct symbols *s, uint64_t at)
{
	uint32_t offset = 0;
	size_t i;

	for (i = 0; i < OLD_N; i++) {
		if (i % 256 == 0) {
			symbols_write(s, at, &offset, sizeof(offset));
			at += sizeof(offset);
		}
		offset += 1 + (uint32_t)s->name[i].n;
	}
	return (at + 7) & -8ull;
}

static struct symbols *old_tables(const struct symbols_entry *e)
{
	static const char zeros[4096];
	struct symbols *s = symbols_new(e, OLD_N, SYMBOLS_BASE);
	uint16_t index[256];
	uint64_t at;
	size_t i;

	for (i = 0; i < 24; i++)
		symbols_write(s, OLD + i * 4096, zeros, sizeof(zeros));
	at = add_table(s, OLD + 0x8000, SYMBOLS_OFFSETS, OLD_N * 4);
	at = add_table(s, at, SYMBOLS_BASE_AT, 8);
	at = add_table(s, at, SYMBOLS_NUM, 4);
	at = add_table(s, at, SYMBOLS_NAMES, s->names_len);
	at = add_markers(s, at);
	memcpy(index, symbols_byte(s, SYMBOLS_INDEX), sizeof(index));
	at = add_table(s, at, SYMBOLS_TOKENS, index[255] +
		       strlen(symbols_byte(s, SYMBOLS_TOKENS + index[255])) +
		       1);
	add_table(s, at, SYMBOLS_INDEX, sizeof(index));
	pdet_vmcoreinfo_free(&s->info);
	snprintf(s->info_text, sizeof(s->info_text), "SYMBOL(_stext)=%llx\n",
		 (unsigned long long)TEXT);
	ck_assert(pdet_vmcoreinfo_parse(&s->info, s->info_text,
					strlen(s->info_text)));
	return s;
}

START_TEST(found_in_the_image)
{
	static char names[OLD_N][32];
	static struct symbols_entry e[OLD_N];
	struct pdet_kallsyms k;
	struct symbols *s;
	unsigned i;

	for (i = 0; i < OLD_N; i++) {
		snprintf(names[i], sizeof(names[i]), "do_%u_of_9876543210",
			 i * 7);
		e[i] = (struct symbols_entry){ TEXT + i * 16, 't', names[i] };
	}
	e[0].name = "_stext";
	s = old_tables(e);
	k = read_good(s);
	ck_same(&k, e, OLD_N);
	pdet_kallsyms_free(&k);
	/* With another base, _stext has a wrong address. */
	*symbols_byte(s, OLD + 0x8000 + OLD_N * 4) ^= 0x55;
	ck_assert_int_lt(symbols_read(s, &k), 0);
	symbols_free(s, OLD_N);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kallsyms");

	unit_loop(s, all_symbols, SYMBOLS_CODINGS);
	unit_loop(s, many_symbols, SYMBOLS_CODINGS);
	unit_loop(s, a_few_of_many, SYMBOLS_CODINGS);
	unit_test(s, a_name_that_is_too_long_ends);
	unit_test(s, by_name);
	unit_loop(s, by_address, sizeof(named) / sizeof(*named));
	unit_test(s, before_the_first_is_nothing);
	unit_test(s, disorder_is_seen);
	unit_test(s, many_at_one_address);
	unit_loop(s, every_byte_damaged, 6);
	unit_test(s, memory_that_is_missing);
	unit_test(s, names_end_where_memory_ends);
	unit_loop(s, numbers_that_are_none, 6);
	unit_test(s, names_without_length);
	unit_loop(s, keys_that_are_missing, 5);
	unit_test(s, found_in_the_image);
	return unit_main(s);
}
