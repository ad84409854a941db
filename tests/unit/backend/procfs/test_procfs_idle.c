/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests idle pages: an idle flag is stale until the bitmap was read, and that
 * read changes something. It uses a captured tree, and one that stands for a
 * running kernel with a bitmap, which few kernels have.
 */
#include "../../cache.h"

#define IDLE KPF(IDLE)

enum {
	HEAD = 0x40, TAIL = 0x42, /* of an idle folio with a bit */
	FRESH = 0x50,		/* idle, confirmed by the bitmap */
	STALE = 0x51,		/* idle, but not in the bitmap */
	USED = 0x52,
	PAGES = 0x80
};

static char root[64];

static void put(const char *name, const void *data, size_t len)
{
	char path[128], *slash;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (slash = path; (slash = strchr(slash + 1, '/')); *slash = '/') {
		*slash = '\0';
		mkdir(path, 0700);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void make_tree(bool with_bitmap)
{
	static const uint64_t bits[PAGES / 64] = {
		0, (uint64_t)1 << (HEAD % 64) | (uint64_t)1 << (FRESH % 64),
	};
	static const char iomem[] = "00000000-0007ffff : System RAM\n";
	const uint64_t used = KPF(LRU) | KPF(UPTODATE) | KPF(ANON) |
			      KPF(SWAPBACKED) | KPF(MMAP);
	uint64_t flags[PAGES] = { 0 };
	unsigned i;

	snprintf(root, sizeof(root), "/tmp/pagedet.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (i = 0; i < 4; i++)
		flags[HEAD + i] = used | IDLE | KPF(THP) |
			(i ? KPF(COMPOUND_TAIL) : KPF(COMPOUND_HEAD));
	flags[FRESH] = flags[STALE] = used | IDLE;
	flags[USED] = used;
	put("proc/kpageflags", flags, sizeof(flags));
	put("proc/iomem", iomem, sizeof(iomem) - 1);
	if (with_bitmap)
		put("sys/kernel/mm/page_idle/bitmap", bits, sizeof(bits));
}

/* --- a captured tree --- */

static struct pagedet_page ask(uint64_t pfn)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	struct pagedet_item item = { pfn, 1, 0, 0 };
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet *pd = pagedet_new();
	struct pagedet_page row;
	struct pagedet_iter *it;

	o.root = root;
	q.target = PAGEDET_TARGET_PFN;
	q.items = &item;
	q.n_items = 1;
	ck_assert_int_eq(pagedet_open(pd, &o), 0);
	ck_assert_int_eq(pagedet_fields_parse(pd, "flags,notes", &q), 0);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	ck_assert_int_eq(pagedet_next(it, &row, 1), 1);
	pagedet_iter_free(it);
	pagedet_free(pd);
	return row;
}

/* @known: whether idle is known to be set or clear. */
static void ck_idle(const struct pagedet_page *row, bool known, bool set)
{
	ck_assert(row->flags & KPF(LRU));
	ck_assert_int_eq(!!(row->flags_known & IDLE), known);
	ck_assert_int_eq(!!(row->flags & IDLE), set);
	ck_assert_uint_eq(row->notes, 0);
}

START_TEST(captured_with_a_bitmap)
{
	struct pagedet_page head, tail, fresh, stale, used;

	make_tree(true);
	head = ask(HEAD);
	tail = ask(TAIL);
	fresh = ask(FRESH);
	stale = ask(STALE);
	used = ask(USED);
	cache_remove(root);
	ck_idle(&head, true, true);
	ck_idle(&tail, true, true);
	ck_idle(&fresh, true, true);
	ck_idle(&stale, false, false);
	/* Whether its kernel has such a flag is not known here. */
	ck_idle(&used, false, false);
}
END_TEST

START_TEST(captured_without_one)
{
	struct pagedet_page head, fresh;

	make_tree(false);
	head = ask(HEAD);
	fresh = ask(FRESH);
	cache_remove(root);
	ck_idle(&head, false, false);
	ck_idle(&fresh, false, false);
}
END_TEST

/* --- a running kernel --- */

static const struct {
	uint64_t pfn;
	bool perturb;		/* the query may perturb */
	bool known, set, perturbed;
} looks[] = {
	{ FRESH, true, true, true, true },
	{ TAIL, true, true, true, true },
	{ STALE, true, false, false, true },
	{ USED, true, true, false, false },
	{ FRESH, false, false, false, false },
	{ TAIL, false, false, false, false },
	{ USED, false, true, false, false },
};

START_TEST(a_closer_look)
{
	struct pdet_wants wants = { .perturb = looks[_i].perturb };
	struct pdet_fields want = { { 0 } };
	struct pdet_session *s = cache_start();
	struct pdet_batch b;
	uint64_t notes;

	make_tree(true);
	s->env.root = root;
	s->wants = &wants;
	wants.target = PAGEDET_TARGET_PFN;
	pdet_fields_add(&want, PAGEDET_FIELD_FLAGS);
	pdet_fields_add(&want, PAGEDET_FIELD_FLAGS_KNOWN);
	cache_procfs.idle.fd = -1;
	memset(cache_procfs.kpage, 0xff, sizeof(cache_procfs.kpage));
	cache_procfs.kpage[KPAGE_FLAGS].error = 0;
	cache_session.kpf.known = IDLE | KPF(LRU);
	procfs_idle_open(&cache_procfs, &s->env);
	cache_batch(&b, 1, true);
	pdet_batch_clear(&b, 1);
	pdet_batch_grow(&b, 1);
	pdet_put(&b, 0, PAGEDET_FIELD_PFN, looks[_i].pfn, PROCFS);
	ck_assert_int_eq(procfs_fill(s, &b, &want, PROCFS), 0);
	cache_remove(root);
	ck_assert_int_eq(!!(cache_value(&b, 0, PAGEDET_FIELD_FLAGS_KNOWN) &
			    IDLE), looks[_i].known);
	ck_assert_int_eq(!!(cache_value(&b, 0, PAGEDET_FIELD_FLAGS) & IDLE),
			 looks[_i].set);
	notes = pdet_batch_get(&b, 0, PAGEDET_FIELD_NOTES, 0);
	ck_assert_uint_eq(notes, looks[_i].perturbed ?
			  PAGEDET_NOTE(PAGEDET_NOTE_PERTURBED) : 0);
	pdet_batch_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("procfs_idle");

	unit_test(s, captured_with_a_bitmap);
	unit_test(s, captured_without_one);
	unit_loop(s, a_closer_look, sizeof(looks) / sizeof(*looks));
	return unit_main(s);
}
