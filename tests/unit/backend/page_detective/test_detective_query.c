/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests parsing of answers from page_detective's file "query" of real kernels.
 * Only what an answer proves becomes a cell, and damage gives nothing.
 */
#include <errno.h>
#include <limits.h>

#include "backend/page_detective/query.h"
#include "../../unit.h"

#define F(name) PAGEDET_FIELD_##name
#define PTE(name) PAGEDET_PTE(PAGEDET_PTE_##name)

/* Reads an answer without the lines that repeat the question. */
static char *read_answer(const char *name, size_t *len)
{
	const char *top = getenv("top_srcdir");
	char path[PATH_MAX], line[4096], *text = NULL;
	FILE *f, *to;

	snprintf(path, sizeof(path), "%s/tests/fixtures/page_detective/query/"
		 "%s", top ? top : ".", name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot read %s", path);
	to = open_memstream(&text, len);
	while (fgets(line, sizeof(line), f))
		if (*line != '#')
			fputs(line, to);
	fclose(f);
	fclose(to);
	return text;
}

static int parse(const char *text, size_t len,
		 struct page_detective_reply *ret)
{
	memset(ret, 0, sizeof(*ret));
	return page_detective_parse((struct pdet_scan){ text, text + len },
				    ret);
}

struct rows {
	struct page_detective_reply reply;
	struct pdet_batch b;
	struct pdet_fields want;
	struct pdet_kpf kpf;
	char *text;
};

static bool every_flag(const void *types, const char *name)
{
	(void)types;
	return strcmp(name, "PG_error") != 0;
}

static void rows_init(struct rows *r, const char *name)
{
	size_t len;
	unsigned f;

	memset(r, 0, sizeof(*r));
	r->text = read_answer(name, &len);
	ck_assert_int_eq(parse(r->text, len, &r->reply), 0);
	for (f = 0; f < PDET_FIELDS; f++)
		if (page_detective_tells(f))
			pdet_fields_add(&r->want, f);
	pdet_fields_add(&r->want, F(NODE));
	pdet_kpf_known(&r->kpf, every_flag, "");
	ck_assert(pdet_batch_init(&r->b, &r->want, 1, 1 << 16));
}

static struct page_detective_putting *
putting(struct rows *r, size_t page, struct page_detective_putting *o)
{
	*o = (struct page_detective_putting){
		.a = &r->reply, .p = &r->reply.pages.data[page], .b = &r->b,
		.want = &r->want, .kpf = &r->kpf, .memcg_is_there = true,
	};
	pdet_batch_clear(&r->b, 1);
	pdet_batch_grow(&r->b, 1);
	return o;
}

static void rows_free(struct rows *r)
{
	pdet_batch_free(&r->b);
	page_detective_reply_free(&r->reply);
	free(r->text);
}

static void has(const struct rows *r, unsigned field, uint64_t value)
{
	ck_assert_msg(pdet_batch_state(&r->b, 0, field) == PAGEDET_HAVE &&
		      r->b.value[field][0] == value,
		      "%s is %#llx in state %u, not %#llx",
		      pdet_field_info(field)->name,
		      (unsigned long long)r->b.value[field][0],
		      pdet_batch_state(&r->b, 0, field),
		      (unsigned long long)value);
}

static void is(const struct rows *r, unsigned field, unsigned state)
{
	ck_assert_msg(pdet_batch_state(&r->b, 0, field) == state,
		      "%s is in state %u, not %u",
		      pdet_field_info(field)->name,
		      pdet_batch_state(&r->b, 0, field), state);
}

static void says(const struct rows *r, unsigned field, const char *text)
{
	const char *got;
	size_t len;

	is(r, field, PAGEDET_HAVE);
	got = pdet_strtab_get(&r->b.strings, r->b.value[field][0], &len);
	ck_assert_ptr_nonnull(got);
	ck_assert_msg(len == strlen(text) && !memcmp(got, text, len),
		      "%s is '%.*s'", pdet_field_info(field)->name, (int)len,
		      got);
}

/* An anonymous page of both kernels, found by its address. */
START_TEST(anon)
{
	static const char *const names[] = { "anon.virt", "anon-6.1.virt" };
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, names[_i]);
	page_detective_put(putting(&r, 0, &o));
	has(&r, F(PFN), o.p->pfn);
	has(&r, F(HEAD_PFN), o.p->pfn);
	has(&r, F(KIND), PAGEDET_KIND_ANON);
	has(&r, F(ORDER), 0);
	has(&r, F(REFCOUNT), 1);
	has(&r, F(MAPCOUNT), 1);
	has(&r, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT);
	has(&r, F(PINCOUNT), 0);
	ck_assert(r.b.value[F(FLAGS)][0] & KPF(ANON_EXCLUSIVE));
	ck_assert(r.b.value[F(FLAGS_KNOWN)][0] & KPF(KSM));
	ck_assert(!(r.b.value[F(FLAGS)][0] & KPF(KSM)));
	has(&r, F(USER_MAPS), 1);
	has(&r, F(MEMCG_INO), o.p->memcg_ino);
	says(&r, F(MEMCG_PATH), _i ? "/testcg/pagedet-plant.127" :
				     "/testcg/pagedet-plant.171");
	says(&r, F(MEMCG_NAME), _i ? "pagedet-plant.127" :
				     "pagedet-plant.171");
	/*
	 * Fields that were not asked, and whether it is text, have no answer.
	 */
	is(&r, F(CONTENT), PAGEDET_UNSUPPORTED);
	is(&r, F(NODE), PAGEDET_UNSUPPORTED);
	is(&r, F(INODE), PAGEDET_NONE);
	is(&r, F(INDEX), PAGEDET_NONE);
	has(&r, F(PID), o.p->pid);
	has(&r, F(PTE_LEVEL), PAGEDET_LEVEL_PTE);
	ck_assert_uint_eq(r.b.value[F(PTE)][0], PTE(PRESENT) | PTE(EXCLUSIVE) |
			  PTE(YOUNG) | PTE(DIRTY) | PTE(WRITE));
	ck_assert(!(r.b.value[F(PTE_KNOWN)][0] & PTE(SOFT_DIRTY)));
	has(&r, F(KERNEL_MAPS), 2);
	rows_free(&r);
}
END_TEST

/* A path that names another file here, or none. */
START_TEST(elsewhere)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "anon.virt");
	putting(&r, 0, &o)->memcg_is_there = false;
	page_detective_put(&o);
	has(&r, F(MEMCG_INO), 62);
	is(&r, F(MEMCG_PATH), PAGEDET_UNSUPPORTED);
	is(&r, F(MEMCG_NAME), PAGEDET_UNSUPPORTED);
	rows_free(&r);
}
END_TEST

/* The reason for a missing key, known before any question. */
START_TEST(lacks)
{
	const struct page_detective d = {
		.no_kpageflags = true, .no_kernel_walk = true,
		.no_helper = true, .other_pids = true,
	};
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "anon.virt");
	r.reply.pages.data[0].has &= ~(uint32_t)PAGE_DETECTIVE_KPAGEFLAGS;
	r.reply.pages.data[0].walked = false;
	putting(&r, 0, &o)->d = &d;
	page_detective_put(&o);
	is(&r, F(FLAGS), PAGEDET_NO_KERNEL);
	is(&r, F(KIND), PAGEDET_NO_KERNEL);
	is(&r, F(MEMCG_INO), PAGEDET_NO_KERNEL);
	is(&r, F(KERNEL_MAPS), PAGEDET_NO_KERNEL);
	is(&r, F(USER_MAPS), PAGEDET_UNSAFE);
	is(&r, F(CONTENT), PAGEDET_UNSUPPORTED);
	/* A pid of this namespace has no meaning in files of another one. */
	putting(&r, 0, &o)->d = &d;
	page_detective_put_map(&o, &r.reply.maps.data[2]);
	is(&r, F(PID), PAGEDET_UNSUPPORTED);
	is(&r, F(TGID), PAGEDET_UNSUPPORTED);
	is(&r, F(FLAGS), PAGEDET_NO_KERNEL);
	says(&r, F(COMM), "pl)an t\n(er \\x");
	rows_free(&r);
}
END_TEST

/* Whether a page is merged is known only if it could be held. */
START_TEST(not_held)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "anon.virt");
	r.reply.pages.data[0].state = PAGE_DETECTIVE_UNREFERENCED;
	page_detective_put(putting(&r, 0, &o));
	ck_assert(r.b.value[F(FLAGS)][0] & KPF(ANON));
	ck_assert(!(r.b.value[F(FLAGS_KNOWN)][0] & KPF(KSM)));
	ck_assert(r.b.value[F(FLAGS_KNOWN)][0] & KPF(LRU));
	rows_free(&r);
}
END_TEST

/* For a huge page of a file, one entry may belong to several processes. */
START_TEST(exclusive)
{
	struct page_detective_page *p;
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "hugetlb_tail.virt");
	p = r.reply.pages.data;
	page_detective_put(putting(&r, 0, &o));
	ck_assert(r.b.value[F(PTE)][0] & PTE(EXCLUSIVE));
	p->anon = 0;
	page_detective_put(putting(&r, 0, &o));
	ck_assert(!(r.b.value[F(PTE)][0] & PTE(EXCLUSIVE)));
	ck_assert(!(r.b.value[F(PTE_KNOWN)][0] & PTE(EXCLUSIVE)));
	page_detective_put_map(putting(&r, 0, &o), &r.reply.maps.data[1]);
	ck_assert(!(r.b.value[F(PTE_KNOWN)][0] & PTE(EXCLUSIVE)));
	p->mapcount = 2;
	page_detective_put(putting(&r, 0, &o));
	ck_assert(!(r.b.value[F(PTE)][0] & PTE(EXCLUSIVE)));
	ck_assert(r.b.value[F(PTE_KNOWN)][0] & PTE(EXCLUSIVE));
	p->mapcount = 1;
	p->kpageflags &= ~KPF(HUGE);
	page_detective_put(putting(&r, 0, &o));
	ck_assert(r.b.value[F(PTE)][0] & PTE(EXCLUSIVE));
	rows_free(&r);
}
END_TEST

START_TEST(file)
{
	static const char name[] = "/disk/pagedet-plant.VXrLYF/"
				   "dirty\nfile name";
	struct pdet_vma vma = {
		.start = 0x7fe8d0ddb000, .end = 0x7fe8d0ddf000, .prot = 3,
		.dev = (uint64_t)254 << 32, .inode = 14,
		.name = name, .name_len = sizeof(name) - 1,
	};
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "file_dirty.virt");
	page_detective_put(putting(&r, 0, &o));
	has(&r, F(KIND), PAGEDET_KIND_FILE);
	has(&r, F(DEV), (uint64_t)254 << 32);
	has(&r, F(INODE), 14);
	has(&r, F(INDEX), 3);
	is(&r, F(PATH), PAGEDET_UNSUPPORTED);
	ck_assert(r.b.value[F(FLAGS)][0] & KPF(DIRTY));
	ck_assert(r.b.value[F(PTE)][0] & PTE(FILE));
	/* The path is that of the page's own file. */
	page_detective_put_vma(&o, &vma);
	says(&r, F(VMA_NAME), name);
	says(&r, F(PATH), name);
	vma.inode = 15;
	page_detective_put(putting(&r, 0, &o));
	page_detective_put_vma(&o, &vma);
	says(&r, F(VMA_NAME), name);
	is(&r, F(PATH), PAGEDET_UNSUPPORTED);
	rows_free(&r);
}
END_TEST

START_TEST(mapping)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "file_dirty.virt");
	ck_assert_uint_eq(r.reply.maps.n, 3);
	page_detective_put_map(putting(&r, 0, &o), &r.reply.maps.data[0]);
	has(&r, F(MAP), PAGEDET_MAP_DIRECT);
	says(&r, F(VMA_NAME), "[direct map]");
	has(&r, F(INODE), 14);
	is(&r, F(VADDR), PAGEDET_UNSUPPORTED);
	is(&r, F(PID), PAGEDET_NONE);
	page_detective_put_map(putting(&r, 0, &o), &r.reply.maps.data[2]);
	has(&r, F(MAP), PAGEDET_MAP_USER);
	has(&r, F(VADDR), 0x7fe8d0dde000);
	has(&r, F(PID), 172);
	has(&r, F(TGID), 172);
	has(&r, F(DEV), (uint64_t)254 << 32);
	has(&r, F(INODE), 14);
	has(&r, F(INDEX), 3);
	says(&r, F(COMM), "pl)an t\n(er \\x");
	has(&r, F(VMA_START), 0x7fe8d0ddb000);
	has(&r, F(VMA_PROT), 3 | PAGEDET_PROT_SHARED);
	says(&r, F(VMA_NAME),
	     "/disk/pagedet-plant.VXrLYF/dirty\nfile name");
	rows_free(&r);
}
END_TEST

/*
 * The folio's flags are in the head page; on 6.1 a tail page's word lacks them.
 */
START_TEST(tail)
{
	static const char *const names[] = { "thp_tail.phys",
					     "thp_tail-6.1.phys" };
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, names[_i]);
	page_detective_put(putting(&r, 0, &o));
	is(&r, F(FLAGS), PAGEDET_RACED);
	is(&r, F(KIND), PAGEDET_RACED);
	has(&r, F(HEAD_PFN), o.p->pfn & ~(uint64_t)511);
	has(&r, F(ORDER), 9);
	has(&r, F(RAW_FLAGS), o.p->page_flags);
	has(&r, F(PINCOUNT), 0);
	says(&r, F(CONTENT), "zero");
	is(&r, F(PTE), PAGEDET_UNSUPPORTED);
	putting(&r, 0, &o);
	o.has_head_word = true;
	o.head_word = 0x40040d828;
	page_detective_put(&o);
	has(&r, F(KIND), PAGEDET_KIND_ANON);
	ck_assert(r.b.value[F(FLAGS)][0] & KPF(LRU));
	ck_assert(r.b.value[F(FLAGS)][0] & KPF(COMPOUND_TAIL));
	ck_assert(!(r.b.value[F(FLAGS)][0] & KPF(COMPOUND_HEAD)));
	/* A page's own flag is only in its own word. */
	ck_assert_int_eq(!(r.b.value[F(FLAGS_KNOWN)][0] &
			   KPF(ANON_EXCLUSIVE)), _i == 0);
	rows_free(&r);
}
END_TEST

/* Pages that must not be read, and missing pages. */
START_TEST(unreadable)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "secretmem.phys");
	page_detective_put(putting(&r, 0, &o));
	is(&r, F(CONTENT), PAGEDET_UNSAFE);
	has(&r, F(KERNEL_MAPS), 0);
	rows_free(&r);
	rows_init(&r, "poisoned.phys");
	page_detective_put(putting(&r, 0, &o));
	is(&r, F(CONTENT), PAGEDET_UNSAFE);
	ck_assert(r.b.value[F(FLAGS)][0] & KPF(HWPOISON));
	has(&r, F(USER_MAPS), 0);
	rows_free(&r);
	rows_init(&r, "zero.phys");
	r.reply.pages.data[0].has &= ~(uint32_t)PAGE_DETECTIVE_CONTENT;
	page_detective_put(putting(&r, 0, &o));
	is(&r, F(CONTENT), PAGEDET_UNSAFE);
	r.reply.pages.data[0].kpageflags &= ~KPF(RESERVED);
	page_detective_put(putting(&r, 0, &o));
	is(&r, F(CONTENT), PAGEDET_UNSUPPORTED);
	rows_free(&r);
	rows_init(&r, "device.virt");
	putting(&r, 0, &o)->hole_kind = PAGEDET_KIND_HOLE;
	page_detective_put(&o);
	has(&r, F(FLAGS), KPF(NOPAGE));
	has(&r, F(KIND), PAGEDET_KIND_HOLE);
	is(&r, F(CONTENT), PAGEDET_UNSAFE);
	is(&r, F(REFCOUNT), PAGEDET_UNSUPPORTED);
	putting(&r, 0, &o)->hole_why = PAGEDET_NO_ACCESS;
	page_detective_put(&o);
	is(&r, F(KIND), PAGEDET_NO_ACCESS);
	rows_free(&r);
}
END_TEST

START_TEST(zero_page)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "zero.phys");
	page_detective_put(putting(&r, 0, &o));
	has(&r, F(KIND), PAGEDET_KIND_ZERO);
	says(&r, F(CONTENT), "zero");
	is(&r, F(MEMCG_INO), PAGEDET_NONE);
	is(&r, F(INODE), PAGEDET_NONE);
	rows_free(&r);
}
END_TEST

/* An entry without access lacks the present bit, but maps the page. */
START_TEST(prot_none)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "prot_none.virt");
	page_detective_put(putting(&r, 0, &o));
	ck_assert(!(o.p->entry & 1));
	ck_assert(r.b.value[F(PTE)][0] & PTE(PRESENT));
	rows_free(&r);
}
END_TEST

START_TEST(nothing)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "anon_untouched.virt");
	page_detective_put_nothing(putting(&r, 0, &o));
	has(&r, F(KIND), PAGEDET_KIND_UNTOUCHED);
	has(&r, F(PTE), 0);
	ck_assert(r.b.value[F(PTE_KNOWN)][0] & PTE(SWAPPED));
	is(&r, F(PFN), PAGEDET_NONE);
	is(&r, F(REFCOUNT), PAGEDET_NONE);
	rows_free(&r);
	/*
	 * The answer does not tell the contents of an entry that maps nothing.
	 */
	rows_init(&r, "swapped.virt");
	page_detective_put_nothing(putting(&r, 0, &o));
	is(&r, F(KIND), PAGEDET_UNSUPPORTED);
	is(&r, F(PFN), PAGEDET_UNSUPPORTED);
	is(&r, F(SWAP_OFFSET), PAGEDET_UNSUPPORTED);
	has(&r, F(PTE), 0);
	has(&r, F(PTE_KNOWN), PTE(PRESENT));
	rows_free(&r);
}
END_TEST

START_TEST(list)
{
	static const char *const names[] = { "list.pfn", "list-6.1.pfn" };
	static const size_t pages[] = { 47, 42 };
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, names[_i]);
	ck_assert_uint_eq(r.reply.pages.n, pages[_i]);
	page_detective_put(putting(&r, 0, &o));
	has(&r, F(MAPCOUNT), 2);
	/* A list tells nothing about files, mappings and bytes. */
	is(&r, F(INODE), PAGEDET_UNSUPPORTED);
	is(&r, F(USER_MAPS), PAGEDET_UNSUPPORTED);
	is(&r, F(CONTENT), PAGEDET_UNSUPPORTED);
	is(&r, F(MEMCG_PATH), PAGEDET_UNSUPPORTED);
	rows_free(&r);
}
END_TEST

/* --- damage --- */

/* An answer that is cut anywhere is lost: a cut number is never used. */
START_TEST(cut)
{
	static const char *const names[] = { "anon.virt", "list.pfn",
					     "swapped.virt" };
	struct page_detective_reply a;
	size_t len, n;
	char *text = read_answer(names[_i], &len);

	for (n = 0; n < len; n++) {
		ck_assert_int_lt(parse(text, n, &a), 0);
		page_detective_reply_free(&a);
	}
	ck_assert_int_eq(parse(text, n, &a), 0);
	page_detective_reply_free(&a);
	free(text);
}
END_TEST

static const struct {
	const char *text;
	int result;
} forms[] = {
	{ "end\n", 0 },
	{ "", -EIO },
	{ "end", -EIO },
	{ "page pfn=1 state=nopage\n", -EIO },
	{ "page pfn=1 state=nopage\nend\n", 0 },
	/* words and keys of later versions */
	{ "page pfn=1 state=nopage color=red\nzone a=b\nend more=1\n", 0 },
	{ "news\nend\n", 0 },
	{ "page pfn=1 state=gone\nend\n", 0 },
	{ "page state=gone\nend\n", 0 },
	{ "page pfn=1 state=have content=text file=gone\nend\n", 0 },
	{ "page pid=1 virt=0 level=p3d entry=0 state=notpresent\nend\n", 0 },
	{ "page pfn=1 state=have\nmap kind=iommu\nmap kind=user level=p3d\n"
	  "maps pfn=1 user=1 kernel=1\nend\n", 0 },
	{ "page pfn=1 state=nopage\nend\nend\n", -EBADMSG },
	{ "page pfn=1 state=gone state=nopage\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage file=gone file=none\nend\n", -EBADMSG },
	{ "page pfn=1 state=gone refcount=x\nend\n", -EBADMSG },
	{ "page pfn=1\nend\n", -EBADMSG },
	{ "page state=have\nend\n", -EBADMSG },
	{ "page pfn=1 pfn=1 state=nopage\nend\n", -EBADMSG },
	{ "page pfn= state=nopage\nend\n", -EBADMSG },
	{ "page pfn=0x state=nopage\nend\n", -EBADMSG },
	{ "page pfn=1x state=nopage\nend\n", -EBADMSG },
	{ "page pfn=-1 state=nopage\nend\n", -EBADMSG },
	{ "page pfn=0x10000000000000000 state=nopage\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage order=41\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage anon=2\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage word\nend\n", -EBADMSG },
	{ "page pfn=1  state=nopage\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage memcg=\\x4\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage memcg=\\n\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage file=have\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage dev=8\nend\n", -EBADMSG },
	{ "page pid=1 virt=0x1000 level=pte state=notpresent\nend\n",
	  -EBADMSG },
	{ "page pid=2147483648 virt=0 level=pte entry=0 state=notpresent\n"
	  "end\n", -EBADMSG },
	{ "map kind=direct level=pte entry=0x1\nend\n", -EBADMSG },
	{ "maps pfn=1 user=0\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage\nmap kind=user level=pte entry=0x1\n"
	  "end\n", -EBADMSG },
	{ "page pfn=1 state=nopage\nmap kind=user level=pte entry=0x1 "
	  "addr=0x1000 vma_start=0x2000 vma_end=0x3000\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage\nmaps pfn=2 user=0\nend\n", -EBADMSG },
	{ "page pfn=1 state=nopage\nmaps pfn=1 user=0\n"
	  "maps pfn=1 user=0\nend\n", -EBADMSG },
	/* more entries than were counted */
	{ "page pfn=1 state=nopage\nmap kind=user level=pte entry=0x1 "
	  "addr=0x1000\nmaps pfn=1 user=0\nend\n", -EBADMSG },
};

START_TEST(form)
{
	struct page_detective_reply a;

	ck_assert_msg(parse(forms[_i].text, strlen(forms[_i].text), &a) ==
		      forms[_i].result, "%s", forms[_i].text);
	page_detective_reply_free(&a);
}
END_TEST

static void rows_take(struct rows *r, const char *text)
{
	page_detective_reply_free(&r->reply);
	ck_assert_int_eq(parse(text, strlen(text), &r->reply), 0);
}

/* Unknown words of a later driver have no meaning; the rest is used. */
START_TEST(strange)
{
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "anon.virt");
	rows_take(&r, "page pfn=1 state=have head=1 order=0 refcount=2 "
		  "kpageflags=0x28 file=other content=text\n"
		  "map kind=direct level=pte entry=0x1\n"
		  "map kind=iommu addr=0x5000\n"
		  "map kind=user level=p3d entry=0x1 addr=0x1000\n"
		  "maps pfn=1 kernel=2 user=1 complete=1\n"
		  "page pfn=2 state=mirrored refcount=2 kpageflags=0x28\n"
		  "page pid=1 virt=0x1000 level=p3d entry=0x1867 pfn=1 "
		  "state=have head=1 order=0 refcount=3\nend\n");
	page_detective_put(putting(&r, 0, &o));
	has(&r, F(PFN), 1);
	has(&r, F(REFCOUNT), 2);
	is(&r, F(INODE), PAGEDET_UNSUPPORTED);
	is(&r, F(CONTENT), PAGEDET_UNSUPPORTED);
	has(&r, F(KERNEL_MAPS), 2);
	has(&r, F(USER_MAPS), 1);
	ck_assert_uint_eq(r.reply.maps.n, 1);
	ck_assert_uint_eq(r.reply.pages.data[0].n, 1);
	ck_assert_uint_eq(r.reply.pages.data[0].sum.complete, 0);
	page_detective_put(putting(&r, 1, &o));
	is(&r, F(PFN), PAGEDET_UNSUPPORTED);
	is(&r, F(REFCOUNT), PAGEDET_UNSUPPORTED);
	is(&r, F(FLAGS), PAGEDET_UNSUPPORTED);
	page_detective_put(putting(&r, 2, &o));
	has(&r, F(REFCOUNT), 3);
	has(&r, F(PID), 1);
	is(&r, F(PTE_LEVEL), PAGEDET_UNSUPPORTED);
	is(&r, F(PTE), PAGEDET_UNSUPPORTED);
	rows_free(&r);
}
END_TEST

/* The driver prints what is there. */
START_TEST(below_zero)
{
	static const char text[] =
		"page pfn=0x13 state=have head=0x13 order=0 refcount=-1 "
		"mapcount=-2 kpageflags=0x28\nend\n";
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "swapped.virt");
	rows_take(&r, text);
	page_detective_put(putting(&r, 0, &o));
	has(&r, F(REFCOUNT), (uint64_t)-1);
	has(&r, F(MAPCOUNT), (uint64_t)-2);
	has(&r, F(MAPCOUNT_KIND), PAGEDET_MAPCOUNT_EXACT);
	is(&r, F(PINCOUNT), PAGEDET_UNSUPPORTED);
	rows_free(&r);
}
END_TEST

/* A folio that does not fit has changed meanwhile. */
START_TEST(folio)
{
	static const char text[] =
		"page pfn=0x13 state=have head=0x11 order=1 refcount=-1 "
		"mapcount=-1\nend\n";
	struct page_detective_putting o;
	struct rows r;

	rows_init(&r, "swapped.virt");
	rows_take(&r, text);
	page_detective_put(putting(&r, 0, &o));
	is(&r, F(HEAD_PFN), PAGEDET_UNSUPPORTED);
	is(&r, F(ORDER), PAGEDET_UNSUPPORTED);
	has(&r, F(REFCOUNT), (uint64_t)-1);
	has(&r, F(MAPCOUNT), (uint64_t)-1);
	is(&r, F(FLAGS), PAGEDET_UNSUPPORTED);
	rows_free(&r);
}
END_TEST

START_TEST(features)
{
	static const char off[] =
		"feature=query version=1 state=on\n"
		"feature=kernel_walk needs=init_mm state=off\nrubbish\n"
		"feature=content how=fault_safe state=off\nstate=off\n";
	struct pdet_scan text = { off, off + sizeof(off) - 1 };
	char name[64], *all;
	size_t len;

	ck_assert(page_detective_feature_off(&text, name, sizeof(name)));
	ck_assert_str_eq(name, "kernel_walk (init_mm)");
	ck_assert(page_detective_feature_off(&text, name, sizeof(name)));
	ck_assert_str_eq(name, "content");
	ck_assert(!page_detective_feature_off(&text, name, sizeof(name)));
	all = read_answer("features", &len);
	text = (struct pdet_scan){ all, all + len };
	ck_assert(!page_detective_feature_off(&text, name, sizeof(name)));
	text = (struct pdet_scan){ all, all + len };
	ck_assert(page_detective_version(text, name, sizeof(name)));
	ck_assert_str_eq(name, "1");
	free(all);
}
END_TEST

static const struct {
	const char *text, *version;
} versions[] = {
	{ "feature=query version=1 state=on\n", "1" },
	{ "news\nfeature=content\nfeature=query state=on version=2.1", "2.1" },
	{ "feature=query version=1234567 state=on\n", "1234567" },
	{ "feature=query state=on\nfeature=other version=3\n", NULL },
	{ "", NULL },
};

START_TEST(version)
{
	const char *text = versions[_i].text;
	char name[8] = "";
	const bool said = page_detective_version((struct pdet_scan){
			text, text + strlen(text) }, name, sizeof(name));

	ck_assert_int_eq(said, versions[_i].version != NULL);
	ck_assert_str_eq(name, said ? versions[_i].version : "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("detective_query");

	unit_loop(s, anon, 2);
	unit_test(s, elsewhere);
	unit_test(s, lacks);
	unit_test(s, not_held);
	unit_test(s, exclusive);
	unit_test(s, file);
	unit_test(s, mapping);
	unit_loop(s, tail, 2);
	unit_test(s, unreadable);
	unit_test(s, zero_page);
	unit_test(s, prot_none);
	unit_test(s, nothing);
	unit_loop(s, list, 2);
	unit_loop(s, cut, 3);
	unit_loop(s, form, (int)PDET_COUNT(forms));
	unit_test(s, strange);
	unit_test(s, below_zero);
	unit_test(s, folio);
	unit_test(s, features);
	unit_loop(s, version, (int)PDET_COUNT(versions));
	return unit_main(s);
}
