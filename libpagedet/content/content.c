/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Classifies the content of a page: poison patterns of include/linux/poison.h,
 * magic numbers of formats, page table entries, instructions. The first bytes
 * usually decide. The whole page is examined only if they do not rule a class
 * out.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/wide.h"
#include "content/content.h"
#include "content/content_avx2.h"

/* Vectors of 16 bytes. Every machine supports this size. */
typedef uint64_t wide __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint32_t wide32 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int32_t mask32 __attribute__((vector_size(16)));
typedef uint8_t wide8 __attribute__((vector_size(16), aligned(1), may_alias));
typedef int8_t mask8 __attribute__((vector_size(16)));

static uint32_t le16(const unsigned char *p)
{
	return (uint32_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const unsigned char *p)
{
	return le16(p) | le16(p + 2) << 16;
}

static uint64_t le64(const unsigned char *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

/* --- one byte --- */

/* include/linux/poison.h of Linux has all but the first two. */
static const struct {
	uint8_t byte;
	const char *name;
} bytes[] = {
	{ 0x00, "zero" },
	{ 0xff, "ones" },
	{ 0xaa, "poison:page" },	/* PAGE_POISON: free, page_poison=1 */
	{ 0x6b, "poison:slab-free" },	/* POISON_FREE */
	{ 0x5a, "poison:slab-unused" },	/* POISON_INUSE: never allocated */
	{ 0xbb, "poison:slab-red" },	/* SLUB_RED_INACTIVE */
	{ 0xcc, "poison:init" },	/* POISON_FREE_INITMEM */
	{ 0x5b, "poison:jbd" },		/* JBD_POISON_FREE */
	{ 0x5c, "poison:jbd2" },	/* JBD2_POISON_FREE */
};

bool pdet_content_is_poison(unsigned char byte)
{
	size_t i;

	for (i = 1; i < PDET_COUNT(bytes); i++)
		if (bytes[i].byte == byte)
			return true;
	return false;
}

/* True if every byte equals the one before; runs at memory speed. */
static bool is_all_one(const unsigned char *p, size_t n)
{
	return !memcmp(p, p + 1, n - 1);
}

static const char *single_byte(const unsigned char *page, size_t n, char *buf)
{
	uint64_t word;
	size_t i;

	memcpy(&word, page, sizeof(word));
	if (word != (word << 8 | word >> 56) || !is_all_one(page, n))
		return NULL;
	for (i = 0; i < PDET_COUNT(bytes); i++)
		if (bytes[i].byte == page[0])
			return bytes[i].name;
	snprintf(buf, PDET_CONTENT_NAME, "byte:0x%02x", page[0]);
	return buf;
}

/* --- text --- */

/* A shorter text may be a counter or a name in a zeroed struct. */
#define LEAST_TEXT 8

/* Mask of the bytes that are printable or move the cursor. Takes a pointer,
 * because gcc 14 for arm64 crashes on an argument with less alignment than its
 * type. */
static mask8 is_ascii(const wide8 *at)
{
	const wide8 c = *at;

	return (c - 0x20 < 0x5f) | (c - '\b' < 6) | (c == 0x1b);
}

/* Length of the text, at most @n. */
static size_t text_length(const unsigned char *page, size_t n)
{
	size_t i = pdet_has_avx2() ? pdet_text_avx2(page, n) : 0;
	size_t j;

	for (; i < n; i += sizeof(wide8)) {
		const mask8 is = is_ascii((const wide8 *)(page + i));
		const wide not = ~(wide)is;

		for (j = 0; (not[0] | not[1]) && j < sizeof(wide8); j++)
			if (!is[j])
				return i + j;
	}
	return n;
}

static bool is_text(const unsigned char *page, size_t n)
{
	const size_t len = text_length(page, n);

	if (len < LEAST_TEXT)
		return false;
	return len == n || (!page[len] && (len + 1 == n ||
			    is_all_one(page + len, n - len)));
}

/* --- marks --- */

/* include/uapi/linux/elf.h: class, byte order, version. */
static bool is_elf(const unsigned char *p)
{
	return p[4] - 1u < 2 && p[5] - 1u < 2 && p[6] == 1;
}

/* include/uapi/linux/magic.h: a whole unsigned long at the end of a stack. */
static bool is_stack_end(const unsigned char *p)
{
	return !le32(p + 4);
}

/* fs/ext4/ext4.h, struct ext4_super_block: the magic has only 16 bits. */
static bool is_ext(const unsigned char *p)
{
	return le32(p + 24) <= 6 && le32(p + 40) && le16(p + 58) < 8 &&
	       le32(p + 76) <= 1;
}

/* fs/ext4/ext4_extents.h: as many entries as fit into a block. */
static bool is_extents(const unsigned char *p)
{
	const uint32_t most = le16(p + 4);

	return le16(p + 2) <= most && le16(p + 6) <= 5 &&
	       (most == 84 || most == 169 || most == 340 || most == 1364 ||
		most == 5460);
}

/* fs/ext4/xattr.h: h_blocks is always 1. */
static bool is_xattr(const unsigned char *p)
{
	return le32(p + 4) && le32(p + 8) == 1;
}

/* fs/xfs/libxfs/xfs_format.h, struct xfs_dinode: mode and version. */
static bool is_xfs_inode(const unsigned char *p)
{
	const unsigned type = p[2] >> 4;

	return p[4] - 1u < 3 && p[5] <= 5 &&
	       (type == 0 || type == 1 || type == 2 || type == 4 ||
		type == 6 || type == 8 || type == 10 || type == 12);
}

/* fs/xfs/libxfs/xfs_log_format.h, struct xlog_rec_header: version. */
static bool is_xfs_log(const unsigned char *p)
{
	return !p[8] && !p[9] && !p[10] && p[11] - 1u < 2;
}

/* include/uapi/linux/btrfs_tree.h: BTRFS_MAGIC. */
static bool is_btrfs(const unsigned char *p)
{
	return !memcmp(p, "_BHRfS_M", 8);
}

#define MARK(a, b, c, d) \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | \
	 (uint32_t)(d) << 24)
#define ANY 0xffffffffu
#define TWO 0x0000ffffu

static const struct mark {
	uint16_t at;		/* byte offset in the page */
	uint32_t bits;		/* bits of that word to compare */
	uint32_t word;
	bool (*check)(const unsigned char *p); /* further conditions, or NULL */
	uint16_t from;		/* offset of the bytes passed to it */
	const char *name;
} marks[] = {
	{ 0, ANY, MARK(0x7f, 'E', 'L', 'F'), is_elf, 0, "elf" },
	/* STACK_END_MAGIC */
	{ 0, ANY, 0x57ac6e9d, is_stack_end, 0, "stack-end" },
	{ 0, ANY, MARK('X', 'F', 'S', 'B'), NULL, 0, "fs:xfs-super" },
	{ 0, ANY, MARK('X', 'A', 'G', 'F'), NULL, 0, "fs:xfs-agf" },
	{ 0, ANY, MARK('X', 'A', 'G', 'I'), NULL, 0, "fs:xfs-agi" },
	{ 0, ANY, MARK('X', 'A', 'F', 'L'), NULL, 0, "fs:xfs-agfl" },
	{ 0, ANY, MARK('B', 'M', 'A', '3'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('A', 'B', '3', 'B'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('A', 'B', '3', 'C'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('I', 'A', 'B', '3'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('F', 'I', 'B', '3'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('R', 'M', 'B', '3'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('R', '3', 'F', 'C'), NULL, 0, "fs:xfs-btree" },
	{ 0, ANY, MARK('X', 'D', 'B', '3'), NULL, 0, "fs:xfs-dir" },
	{ 0, ANY, MARK('X', 'D', 'D', '3'), NULL, 0, "fs:xfs-dir" },
	{ 0, ANY, MARK('X', 'D', 'F', '3'), NULL, 0, "fs:xfs-dir" },
	{ 0, ANY, MARK(0xfe, 0xed, 0xba, 0xbe), is_xfs_log, 0, "fs:xfs-log" },
	{ 0, TWO, MARK('I', 'N', 0, 0), is_xfs_inode, 0, "fs:xfs-inodes" },
	{ 0, TWO, 0xf30a, is_extents, 0, "fs:ext4-extents" },
	{ 0, ANY, 0xea020000, is_xattr, 0, "fs:ext4-xattr" },
	/* SQUASHFS_MAGIC, EROFS_SUPER_MAGIC_V1, F2FS_SUPER_MAGIC;
	 * include/uapi/linux/magic.h has all of them */
	{ 0, ANY, MARK('h', 's', 'q', 's'), NULL, 0, "fs:squashfs-super" },
	{ 1024, ANY, 0xe0f5e1e2, NULL, 0, "fs:erofs-super" },
	{ 1024, ANY, 0xf2f52010, NULL, 0, "fs:f2fs-super" },
	{ 1024 + 56, TWO, 0xef53, is_ext, 1024, "fs:ext-super" },
	/* BTRFS_SUPER_INFO_OFFSET is the start of a page */
	{ 64, ANY, MARK('_', 'B', 'H', 'R'), is_btrfs, 64, "fs:btrfs-super" },
};

/* include/linux/jbd2.h, big-endian: JBD2_MAGIC_NUMBER, then the block type. */
static const char *journal(const unsigned char *p)
{
	static const char *const types[] = {
		"jbd2:descriptor", "jbd2:commit", "jbd2:superblock",
		"jbd2:superblock", "jbd2:revoke",
	};

	if (le32(p) != 0x98393bc0 || p[4] || p[5] || p[6] ||
	    p[7] - 1u >= PDET_COUNT(types))
		return NULL;
	return types[p[7] - 1];
}

static const char *marked(const unsigned char *page, size_t n)
{
	const char *name = journal(page);
	const struct mark *m;

	if (name)
		return name;
	for (m = marks; m < marks + PDET_COUNT(marks); m++)
		if ((le32(page + m->at) & m->bits) == m->word &&
		    (!m->check || m->check(page + m->from)))
			return m->name;
	/* include/linux/swap.h, union swap_header: at the end of the page */
	return memcmp(page + n - 10, "SWAPSPACE2", 10) ? NULL : "fs:swap";
}

/* --- page tables --- */

/* Fewer entries may match by chance. */
#define LEAST_ENTRIES 16

/*
 * arch/x86/include/asm/pgtable_types.h: every entry that is not empty has
 * PRESENT, usually ACCESSED, and an address below 64 TiB. Without protection
 * keys, only SAVED_DIRTY and NX of the bits above the address are used.
 */
static bool is_x86_entry(uint64_t e, unsigned *accessed)
{
	*accessed += e >> 5 & 1;
	return (e & 1) && !(e & 0x7bffc00000000000) &&
	       (e & 0x3ffffffff000);
}

/*
 * arch/arm64/include/asm/pgtable-hwdef.h: pages and blocks with AF, inner
 * shareable. Above the address are the contiguous bit, DBM, PXN, UXN and four
 * software bits.
 */
static bool is_arm64_entry(uint64_t e, unsigned *accessed)
{
	++*accessed;
	return (e & 1) && (e & 0x700) == 0x700 && !(e & 0xf807c00000000000) &&
	       (e & 0x3ffffffff000);
}

typedef bool is_entry_fn(uint64_t e, unsigned *accessed);

/*
 * Test some words from all over the page: most pages have one that is not an
 * entry.
 */
static bool may_be_entries(const unsigned char *page, size_t n,
			   is_entry_fn *is_entry)
{
	unsigned accessed;
	uint64_t e;
	size_t i;

	for (i = 0; i < n; i += n / 16 + 8) {
		e = le64(page + i);
		if (e && !is_entry(e, &accessed))
			return false;
	}
	return true;
}

static bool all_entries(const unsigned char *page, size_t n,
			is_entry_fn *is_entry)
{
	unsigned used = 0, accessed = 0, changes = 0;
	uint64_t e, first = 0;
	size_t i;

	if (!may_be_entries(page, n, is_entry))
		return false;
	for (i = 0; i < n; i += sizeof(e)) {
		e = le64(page + i);
		if (!e)
			continue;
		if (!is_entry(e, &accessed))
			return false;
		used++;
		changes += first && e >> 12 != first >> 12;
		first = e;
	}
	/* Frame numbers do not repeat as often. */
	return used >= LEAST_ENTRIES && accessed >= used / 2 &&
	       changes >= used / 2;
}

/* --- instructions --- */

#define SAMPLE 256
#define LEAST_IN_SAMPLE 3
#define LEAST_CODE 96		/* in 4096 bytes */

/* Count REX prefixes with W before mov, lea, add, sub, cmp, test and the like.
 * Every 64-bit function has some; a page of random data has about one. Stop
 * counting at @enough. */
static void count_code(const unsigned char *p, size_t n, unsigned enough,
		       struct pdet_code *c)
{
	size_t i, j;

	memset(c, 0, sizeof(*c));
	if (pdet_has_avx2()) {
		pdet_code_avx2(p, n, enough, c);
		return;
	}
	for (i = 0; i + sizeof(wide8) < n && c->found < enough;
	     i += sizeof(wide8)) {
		const wide8 rex = *(const wide8 *)(p + i);
		const wide8 op = *(const wide8 *)(p + i + 1);
		/* prefixes 48, 49, 4c, 4d */
		const mask8 is = ((rex & 0xfa) == 0x48) &
			/* operations 89, 8b, 8d; 83, 85; 39, 3b, 01, 29, c7 */
			(((op & 0xf9) == 0x89) | ((op & 0xf9) == 0x81) |
			 ((op & 0xfd) == 0x39) | (op == 0xc7));
		const wide any = (wide)is;

		if (!(any[0] | any[1]))
			continue;
		for (j = 0; j < sizeof(wide8); j++)
			if (is[j])
				pdet_code_count(c, op[j]);
	}
}

/* True if a sample looks like code. */
static bool has_code(const unsigned char *p)
{
	struct pdet_code c;

	if (pdet_has_avx2())
		return pdet_code_sample_avx2(p, SAMPLE) >= LEAST_IN_SAMPLE;
	count_code(p, SAMPLE, LEAST_IN_SAMPLE, &c);
	return c.found >= LEAST_IN_SAMPLE;
}

/* A table that repeats the same two bytes is not code. */
static bool has_kinds(const struct pdet_code *c)
{
	unsigned i, kinds = 0;

	for (i = 1; i < PDET_CODE_KINDS; i++)
		kinds += c->seen[i] >= 4;
	return kinds >= 3;
}

static bool is_code(const unsigned char *page, size_t n)
{
	const unsigned least = (unsigned)(LEAST_CODE * (n / 4096));
	struct pdet_code c;

	if (!has_code(page) && !has_code(page + n / 2))
		return false;
	count_code(page, n, least, &c);
	if (c.found < least || has_kinds(&c))
		return c.found >= least;
	/* Other kinds of instructions may come later in the page. */
	count_code(page, n, UINT_MAX, &c);
	return has_kinds(&c);
}

/* --- words anywhere in the page --- */

/* The upper halves, or both halves, of words that may be anywhere in a page. */
#define RED_INACTIVE 0xbbbbbbbb
#define RED_ACTIVE 0xcccccccc
#define OFF_LIST 0xdead0000

/* True if any of them occurs. */
static bool has_marks(const unsigned char *page, size_t n)
{
	mask32 has = { 0 };
	size_t i;

	if (pdet_has_avx2() && !pdet_marks_avx2(page, n))
		return false;
#pragma GCC unroll 4
	for (i = 0; i < n; i += sizeof(wide32)) {
		const wide32 some = *(const wide32 *)(page + i);

		has |= (some == RED_INACTIVE) | (some == RED_ACTIVE) |
		       (some == OFF_LIST);
	}
	return has[0] || has[1] || has[2] || has[3];
}

/* Decide which of two bytes may fill half of the page. A byte qualifies if at
 * least an eighth of a few samples have it. The samples have different offsets
 * in objects of any size. */
#define PIECES 16

static void find_often(const unsigned char *page, size_t n, uint8_t a,
		       uint8_t b, bool *often_a, bool *often_b)
{
	mask8 found_a = { 0 }, found_b = { 0 };
	unsigned i, sum_a = 0, sum_b = 0;

	for (i = 0; i < PIECES; i++) {
		const wide8 some = *(const wide8 *)(page +
						    i * (n / PIECES + 8));

		found_a -= some == a;
		found_b -= some == b;
	}
	for (i = 0; i < sizeof(wide8); i++) {
		sum_a += (unsigned)found_a[i];
		sum_b += (unsigned)found_b[i];
	}
	*often_a = sum_a >= PIECES * sizeof(wide8) / 8;
	*often_b = sum_b >= PIECES * sizeof(wide8) / 8;
}

#define POISON_END 0xa5

/* Search for objects as mm/slub.c, init_object(), fills them: with @byte,
 * except the last byte. Returns true if such objects fill half of the page. The
 * page may cut the first and the last object. */
static bool is_half(const unsigned char *page, size_t n, unsigned char byte)
{
	size_t i, run, covered = 0;

	for (i = 0; i < n; i += run ? run : 1) {
		for (run = 0; i + run < n && page[i + run] == byte; run++)
			;
		if (run >= 7 && (i + run == n ||
				 page[i + run] == POISON_END))
			covered += run + 1;
	}
	return covered >= n / 2;
}

#define MOST_ZONES 256
#define LEAST_OBJECTS 4

struct zones {
	unsigned n;
	uint16_t at[MOST_ZONES], len[MOST_ZONES]; /* in words */
};

/*
 * Find runs of words that are red zones. Returns false if there are too many to
 * be red zones.
 */
static bool find_zones(const unsigned char *page, size_t n, struct zones *z)
{
	bool inside = false;
	size_t i;

	z->n = 0;
	for (i = 0; i < n / 8; i++) {
		const uint64_t word = le64(page + i * 8);
		const bool red = word == 0xbbbbbbbbbbbbbbbb ||
				 word == 0xcccccccccccccccc;

		if (red && !inside) {
			if (z->n == MOST_ZONES)
				return false;
			z->at[z->n] = (uint16_t)i;
			z->len[z->n++] = 0;
		}
		if (red)
			z->len[z->n - 1]++;
		inside = red;
	}
	return true;
}

/*
 * True if each zone equals the one @k before it, except where the page cuts it
 * off.
 */
static bool repeats(const struct zones *z, unsigned k)
{
	unsigned i;

	for (i = 1; i + k < z->n; i++)
		if (z->at[i + k] - z->at[i] != z->at[1 + k] - z->at[1] ||
		    (i + k + 1 < z->n && z->len[i + k] != z->len[i]))
			return false;
	return true;
}

/* mm/slub.c, "Object layout": each object has one before and one after it, at
 * fixed distances. A single repeating zone is instead the padding between
 * functions. */
static bool has_red_zones(const unsigned char *page, size_t n)
{
	struct zones z;
	unsigned k;

	if (!find_zones(page, n, &z) || repeats(&z, 1))
		return false;
	for (k = 2; k <= 4 && z.n >= k * LEAST_OBJECTS; k++)
		if (repeats(&z, k))
			return true;
	return false;
}

#define LIST_POISON1 0xdead000000000100
#define LIST_POISON2 0xdead000000000122

/* include/linux/list.h, list_del() and hlist_del(): both poison pointers. */
static bool has_list_poison(const unsigned char *page, size_t n)
{
	size_t i;

	for (i = 0; i + 16 <= n; i += 8)
		if (le64(page + i) == LIST_POISON1 &&
		    le64(page + i + 8) == LIST_POISON2)
			return true;
	return false;
}

/* --- all --- */

const char *pdet_content_class(const void *data, size_t n,
			       char buf[PDET_CONTENT_NAME])
{
	const unsigned char *page = data;
	const char *name = single_byte(page, n, buf);
	bool often_free, often_unused;

	if (name)
		return name;
	if (is_text(page, n))
		return "text";
	name = marked(page, n);
	if (name)
		return name;
	find_often(page, n, 0x6b, 0x5a, &often_free, &often_unused);
	if (often_free && is_half(page, n, 0x6b))
		return "poison:slab-free";
	if (often_unused && is_half(page, n, 0x5a))
		return "poison:slab-unused";
	if (all_entries(page, n, is_x86_entry) ||
	    all_entries(page, n, is_arm64_entry))
		return "pgtable";
	if (is_code(page, n))
		return "code:x86";
	if (!has_marks(page, n))
		return "data";
	return has_red_zones(page, n) ? "slab-redzones" :
	       has_list_poison(page, n) ? "list-poison" : "data";
}
