/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * libpagedet - what is this page?
 *
 * One question, one answer shape. A query names pages of the running kernel,
 * of a dump or of a saved text; each page comes back as a row of fields, and
 * every field says whether it is answered, is definitely nothing, was lost, or
 * cannot be known here - and from which source.
 *
 *   struct pagedet *pd = pagedet_new();
 *   struct pagedet_query q = PAGEDET_QUERY_INIT;
 *   struct pagedet_item item = { 0x1234, 1, 0, 0 };
 *   struct pagedet_page row;
 *   struct pagedet_iter *it;
 *
 *   pagedet_open(pd, NULL);
 *   q.target = PAGEDET_TARGET_PFN;
 *   q.items = &item;
 *   q.n_items = 1;
 *   q.options = PAGEDET_Q_CHEAP;
 *   if (pagedet_query(pd, &q, &it) == 0 && pagedet_next(it, &row, 1) == 1)
 *           use(&row);
 *
 * Conventions
 *   - Functions that can fail return 0 or a count; below zero is a negative
 *     errno from this closed list: EINVAL E2BIG ENOMEM EACCES ENOENT ESRCH
 *     ENODATA EBADMSG EIO EOVERFLOW ENOTSUP ENOSYS EINTR EAGAIN ETIMEDOUT
 *     ECANCELED. The words are in pagedet_error(), what would help in
 *     pagedet_advice().
 *   - A question that nobody can answer is not an error: it is a cell with a
 *     reason.
 *   - Out-parameters are last and untouched on failure.
 *   - One handle, and everything made from it, is used by one thread at a
 *     time. Only pagedet_cancel() may be called from elsewhere.
 *   - Nothing is printed, no signal is touched, nothing is forked. Descriptors
 *     are close-on-exec. After fork() the child may only free the handle.
 *   - Integers have fixed width. Sizes are in bytes, addresses in bytes, page
 *     frame numbers (pfn) and page offsets in base pages, times in ns.
 *
 * Marks in the comments, read by scripts/gen-api for the bindings:
 *   [in] [out] [nullable] [len: PARAM] [borrowed: UNTIL] [owned: FREE_FUNCTION]
 */
#ifndef PAGEDET_H
#define PAGEDET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAGEDET_VERSION_MAJOR 0
#define PAGEDET_VERSION_MINOR 1
#define PAGEDET_VERSION_PATCH 0

/* ------------------------------------------------------------------------
 * Fields, cells
 */

/*
 * Field ids. Pinned: a number is never reused, new ones go last, all are below
 * PAGEDET_FIELDS_MAX. pagedet_field() describes each one at run time, and
 * pagedet-fields(7) in prose.
 */
enum pagedet_field_id {
	PAGEDET_FIELD_ASK = 0,
	PAGEDET_FIELD_PAGES = 1,
	PAGEDET_FIELD_TIME_NS = 2,
	PAGEDET_FIELD_NOTES = 3,
	PAGEDET_FIELD_PFN = 4,
	PAGEDET_FIELD_VADDR = 5,
	PAGEDET_FIELD_HEAD_PFN = 6,
	PAGEDET_FIELD_ORDER = 7,
	PAGEDET_FIELD_NODE = 8,
	PAGEDET_FIELD_ZONE = 9,
	PAGEDET_FIELD_KIND = 10,
	PAGEDET_FIELD_FLAGS = 11,
	PAGEDET_FIELD_FLAGS_KNOWN = 12,
	PAGEDET_FIELD_RAW_FLAGS = 13,
	PAGEDET_FIELD_REFCOUNT = 14,
	PAGEDET_FIELD_MAPCOUNT = 15,
	PAGEDET_FIELD_MAPCOUNT_KIND = 16,
	PAGEDET_FIELD_PINCOUNT = 17,
	PAGEDET_FIELD_PID = 18,
	PAGEDET_FIELD_TGID = 19,
	PAGEDET_FIELD_COMM = 20,
	PAGEDET_FIELD_PTE = 21,
	PAGEDET_FIELD_PTE_KNOWN = 22,
	PAGEDET_FIELD_PTE_LEVEL = 23,
	PAGEDET_FIELD_SWAP_TYPE = 24,
	PAGEDET_FIELD_SWAP_OFFSET = 25,
	PAGEDET_FIELD_VMA_START = 26,
	PAGEDET_FIELD_VMA_END = 27,
	PAGEDET_FIELD_VMA_PROT = 28,
	PAGEDET_FIELD_VMA_NAME = 29,
	PAGEDET_FIELD_USER_MAPS = 30,
	PAGEDET_FIELD_KERNEL_MAPS = 31,
	PAGEDET_FIELD_MEMCG_INO = 32,
	PAGEDET_FIELD_MEMCG_PATH = 33,
	PAGEDET_FIELD_MEMCG_NAME = 34,
	PAGEDET_FIELD_DEV = 35,
	PAGEDET_FIELD_INODE = 36,
	PAGEDET_FIELD_INDEX = 37,
	PAGEDET_FIELD_PATH = 38,
	PAGEDET_FIELD_SLAB_CACHE = 39,
	PAGEDET_FIELD_ALLOC_STACK = 40,
	PAGEDET_FIELD_FREE_STACK = 41,
	PAGEDET_FIELD_ALLOC_PID = 42,
	PAGEDET_FIELD_ALLOC_TGID = 43,
	PAGEDET_FIELD_ALLOC_COMM = 44,
	PAGEDET_FIELD_GFP_MASK = 45,
	PAGEDET_FIELD_GFP = 46,
	PAGEDET_FIELD_ALLOC_ORDER = 47,
	PAGEDET_FIELD_MIGRATETYPE = 48,
	PAGEDET_FIELD_ALLOCATOR = 49,
	PAGEDET_FIELD_ALLOC_NS = 50,
	PAGEDET_FIELD_FREE_NS = 51,
	PAGEDET_FIELD_MIGRATE_REASON = 52,
	PAGEDET_FIELD_CONTENT = 53,
	PAGEDET_FIELD_HASH = 54,
	PAGEDET_FIELD_MAP = 55,
	PAGEDET_FIELD_AT = 56,
	PAGEDET_FIELD_OBJECT = 57,
	PAGEDET_FIELD_REPORT = 58,
	PAGEDET_FIELD_ENTROPY = 59
};

#define PAGEDET_FIELDS_MAX 128

/*
 * A cell is 16 bits beside each value: the state in the low byte, the source
 * in the high byte. A value is meaningful only where the state is HAVE.
 */
#define PAGEDET_CELL_STATE(cell) ((unsigned)(cell) & 0xffu)
#define PAGEDET_CELL_SOURCE(cell) ((unsigned)(cell) >> 8)

enum pagedet_state {
	PAGEDET_NOT_ASKED = 0,	/* the query did not want this field */
	PAGEDET_HAVE = 1,	/* answered */
	PAGEDET_NONE = 2,	/* definitely nothing there: an anonymous
				 * page has no inode */
	/* the rest are reasons why there is no answer */
	PAGEDET_UNSUPPORTED = 16, /* no source here knows this field */
	PAGEDET_NOT_BUILT = 17,	/* the library was built without a part */
	PAGEDET_NO_KERNEL = 18,	/* the kernel lacks the feature or has it off */
	PAGEDET_NO_ACCESS = 19,	/* a privilege is missing */
	PAGEDET_NO_TYPES = 20,	/* needs BTF or debug information */
	PAGEDET_OLD_ROW = 21,	/* the caller's row ends before this field */
	PAGEDET_TOO_COSTLY = 22, /* would take work that was not allowed */
	PAGEDET_EXCLUDED = 23,	/* the dump or text lacks this page */
	PAGEDET_RACED = 24,	/* changed while it was read */
	PAGEDET_CORRUPT = 25,	/* the kernel's own structures disagree */
	PAGEDET_IO = 26,	/* reading failed */
	PAGEDET_NO_MEMORY = 27,	/* this process had no memory for it */
	PAGEDET_DENIED = 28,	/* this task or file refused */
	PAGEDET_UNSAFE = 29,	/* asking could harm the kernel or the caller */
	PAGEDET_TIMEOUT = 30	/* the deadline came first */
};

/* Where an answer comes from; also the names that --backend takes. */
enum pagedet_source {
	PAGEDET_SOURCE_NOBODY = 0,
	PAGEDET_SOURCE_PROCFS = 1,
	PAGEDET_SOURCE_PAGE_DETECTIVE = 2,
	PAGEDET_SOURCE_PAGE_OWNER = 3,
	PAGEDET_SOURCE_BPF = 4,
	PAGEDET_SOURCE_KCORE = 5,
	PAGEDET_SOURCE_VMCORE = 6,
	PAGEDET_SOURCE_SNAPSHOT = 7,
	PAGEDET_SOURCE_LOG = 8,
	PAGEDET_SOURCE_DERIVED = 9
};

#define PAGEDET_SOURCE_BIT(source) (1u << (source))

/* ------------------------------------------------------------------------
 * Values of the fields
 */

/* PAGEDET_FIELD_KIND */
enum pagedet_kind {
	PAGEDET_KIND_UNKNOWN = 0, /* has memory, says nothing of its use */
	PAGEDET_KIND_FREE = 1,
	PAGEDET_KIND_ANON = 2,
	PAGEDET_KIND_FILE = 3,
	PAGEDET_KIND_SHMEM = 4,
	PAGEDET_KIND_HUGETLB = 5,
	PAGEDET_KIND_SLAB = 6,
	PAGEDET_KIND_PGTABLE = 7,
	PAGEDET_KIND_ZERO = 8,
	PAGEDET_KIND_RESERVED = 9,
	PAGEDET_KIND_OFFLINE = 10,
	PAGEDET_KIND_ZSMALLOC = 11,
	PAGEDET_KIND_DEVICE = 12,
	PAGEDET_KIND_KERNEL = 13,
	PAGEDET_KIND_HOLE = 14,	/* a pfn without memory */
	PAGEDET_KIND_UNINIT = 15, /* struct page never initialised */
	PAGEDET_KIND_UNTOUCHED = 16, /* an address with a VMA, without entry */
	PAGEDET_KIND_UNMAPPED = 17 /* an address without a VMA */
};

/*
 * Bits of PAGEDET_FIELD_FLAGS and PAGEDET_FIELD_FLAGS_KNOWN, as bit numbers.
 * Numbers below 60 are those of include/uapi/linux/kernel-page-flags.h (Linux
 * 6.12), so a bit that a newer kernel adds keeps its number and prints as
 * bitNN. 60 and up are ours, for meanings that the kernel moved.
 */
enum pagedet_page_flag {
	PAGEDET_PF_LOCKED = 0,
	PAGEDET_PF_ERROR = 1,
	PAGEDET_PF_REFERENCED = 2,
	PAGEDET_PF_UPTODATE = 3,
	PAGEDET_PF_DIRTY = 4,
	PAGEDET_PF_LRU = 5,
	PAGEDET_PF_ACTIVE = 6,
	PAGEDET_PF_SLAB = 7,
	PAGEDET_PF_WRITEBACK = 8,
	PAGEDET_PF_RECLAIM = 9,
	PAGEDET_PF_BUDDY = 10,
	PAGEDET_PF_MMAP = 11,
	PAGEDET_PF_ANON = 12,
	PAGEDET_PF_SWAPCACHE = 13,
	PAGEDET_PF_SWAPBACKED = 14,
	PAGEDET_PF_COMPOUND_HEAD = 15,
	PAGEDET_PF_COMPOUND_TAIL = 16,
	PAGEDET_PF_HUGE = 17,
	PAGEDET_PF_UNEVICTABLE = 18,
	PAGEDET_PF_HWPOISON = 19,
	PAGEDET_PF_NOPAGE = 20,
	PAGEDET_PF_KSM = 21,
	PAGEDET_PF_THP = 22,
	PAGEDET_PF_OFFLINE = 23,
	PAGEDET_PF_ZERO_PAGE = 24,
	PAGEDET_PF_IDLE = 25,
	PAGEDET_PF_PGTABLE = 26,
	PAGEDET_PF_RESERVED = 32,
	PAGEDET_PF_MLOCKED = 33,
	PAGEDET_PF_OWNER_2 = 34,
	PAGEDET_PF_PRIVATE = 35,
	PAGEDET_PF_PRIVATE_2 = 36,
	PAGEDET_PF_OWNER_PRIVATE = 37,
	PAGEDET_PF_ARCH = 38,
	PAGEDET_PF_UNCACHED = 39,
	PAGEDET_PF_ARCH_2 = 41,
	PAGEDET_PF_ARCH_3 = 42,
	PAGEDET_PF_MAPPEDTODISK = 60, /* KPF bit 34 before Linux 6.12 */
	PAGEDET_PF_ANON_EXCLUSIVE = 61 /* the same bit on anonymous pages */
};

#define PAGEDET_PF(bit) ((uint64_t)1 << (bit))

/* Bits of PAGEDET_FIELD_PTE and PAGEDET_FIELD_PTE_KNOWN, as bit numbers. */
enum pagedet_pte_flag {
	PAGEDET_PTE_PRESENT = 0,
	PAGEDET_PTE_SWAPPED = 1,
	PAGEDET_PTE_GUARD = 2,	/* MADV_GUARD_INSTALL marker */
	PAGEDET_PTE_MIGRATION = 3,
	PAGEDET_PTE_HWPOISON = 4,
	PAGEDET_PTE_DEVICE = 5,	/* device-private or -exclusive entry */
	PAGEDET_PTE_FILE = 6,	/* file page or shared anonymous */
	PAGEDET_PTE_ZERO = 7,	/* maps the zero page */
	PAGEDET_PTE_EXCLUSIVE = 8, /* mapped here and nowhere else */
	PAGEDET_PTE_SOFT_DIRTY = 9,
	PAGEDET_PTE_UFFD_WP = 10,
	PAGEDET_PTE_WRITTEN = 11, /* since write tracking was armed */
	PAGEDET_PTE_YOUNG = 12,
	PAGEDET_PTE_DIRTY = 13,
	PAGEDET_PTE_WRITE = 14,
	PAGEDET_PTE_EXEC = 15
};

#define PAGEDET_PTE(bit) ((uint32_t)1 << (bit))

/* Bits of PAGEDET_FIELD_NOTES, as bit numbers: what to know about the row. */
enum pagedet_note {
	PAGEDET_NOTE_TORN = 0,	/* the page moved while the row was read */
	PAGEDET_NOTE_PERTURBED = 1, /* looking changed something */
	PAGEDET_NOTE_ESTIMATED = 2, /* a count is computed, not read */
	PAGEDET_NOTE_PARTIAL = 3, /* part of the answer did not arrive */
	PAGEDET_NOTE_STALE = 4,	/* the pfn is what an entry remembers */
	PAGEDET_NOTE_UNDECIDED = 5, /* the filter is neither true nor false */
	PAGEDET_NOTE_UNCHECKED = 6, /* the translation was not re-read */
	PAGEDET_NOTE_CHANGED = 7 /* not what the log says it was */
};

#define PAGEDET_NOTE(bit) ((uint32_t)1 << (bit))

/* PAGEDET_FIELD_MAPCOUNT_KIND */
enum pagedet_mapcount_kind {
	PAGEDET_MAPCOUNT_EXACT = 1, /* of this page */
	PAGEDET_MAPCOUNT_AVERAGE = 2 /* of the folio, per page */
};

/* PAGEDET_FIELD_ZONE */
enum pagedet_zone {
	PAGEDET_ZONE_DMA = 0,
	PAGEDET_ZONE_DMA32 = 1,
	PAGEDET_ZONE_NORMAL = 2,
	PAGEDET_ZONE_HIGHMEM = 3,
	PAGEDET_ZONE_MOVABLE = 4,
	PAGEDET_ZONE_DEVICE = 5
};

/* Bits of PAGEDET_FIELD_VMA_PROT; text is that of /proc/PID/maps: "rw-p". */
enum pagedet_prot {
	PAGEDET_PROT_READ = 1,
	PAGEDET_PROT_WRITE = 2,
	PAGEDET_PROT_EXEC = 4,
	PAGEDET_PROT_SHARED = 8
};

/* PAGEDET_FIELD_PTE_LEVEL: what kind of entry maps the page. */
enum pagedet_pte_level {
	PAGEDET_LEVEL_PTE = 1,
	PAGEDET_LEVEL_PMD = 2,
	PAGEDET_LEVEL_PUD = 3,
	PAGEDET_LEVEL_P4D = 4,
	PAGEDET_LEVEL_PGD = 5
};

/* PAGEDET_FIELD_MAP, in rows of PAGEDET_TARGET_MAPPERS and _KADDR */
enum pagedet_map {
	PAGEDET_MAP_USER = 1,
	PAGEDET_MAP_DIRECT = 2,
	PAGEDET_MAP_VMALLOC = 3,
	PAGEDET_MAP_OTHER = 4
};

/* PAGEDET_FIELD_AT, in rows of PAGEDET_TARGET_LOG */
enum pagedet_at {
	PAGEDET_AT_LOG = 1,	/* what the text says */
	PAGEDET_AT_NOW = 2	/* what the kernel or dump says */
};

/* PAGEDET_FIELD_REPORT, in rows of PAGEDET_TARGET_LOG: what said so */
enum pagedet_report {
	PAGEDET_REPORT_PAGE_DETECTIVE = 1,
	PAGEDET_REPORT_DUMP_PAGE = 2,
	PAGEDET_REPORT_BAD_PAGE_STATE = 3,
	PAGEDET_REPORT_BAD_PAGE_MAP = 4,
	PAGEDET_REPORT_MEMORY_FAILURE = 5,
	PAGEDET_REPORT_SOFT_OFFLINE = 6,
	PAGEDET_REPORT_UNPOISON = 7,
	PAGEDET_REPORT_MACHINE_CHECK = 8,
	PAGEDET_REPORT_EDAC = 9,
	PAGEDET_REPORT_APEI = 10, /* firmware: GHES, CPER */
	PAGEDET_REPORT_SLAB = 11,
	PAGEDET_REPORT_KASAN = 12,
	PAGEDET_REPORT_LIST = 13, /* a list_head that was written over */
	PAGEDET_REPORT_IO_ERROR = 14,
	PAGEDET_REPORT_HUNG_TASK = 15 /* it waits for a page that moves */
};

/* ------------------------------------------------------------------------
 * The row
 */

/*
 * struct pagedet_page - the answer about one page, or about one address
 * without a page, one mapping, one run, one group.
 *
 * Flat, fixed width, append only. The caller's size travels in
 * pagedet_query.row_size: a newer library fills only that prefix, an older one
 * zeroes the rest. Members of type u64 whose comment says "id" are looked up
 * with pagedet_string() or pagedet_stack() and live as long as the iterator's
 * current step.
 */
struct pagedet_page {
	uint16_t cell[PAGEDET_FIELDS_MAX]; /* by field id */

	uint64_t ask;		/* which item of the query this answers */
	uint64_t pages;		/* base pages that this row speaks for */
	uint64_t time_ns;	/* CLOCK_REALTIME when it was read */
	uint64_t pfn;
	uint64_t vaddr;		/* in the task, or of the kernel mapping */
	uint64_t head_pfn;	/* first page of the folio */
	uint64_t flags;		/* PAGEDET_PF_* bits */
	uint64_t flags_known;	/* which of them this source can tell */
	uint64_t raw_flags;	/* the frame's own page->flags word */
	uint64_t refcount;
	uint64_t mapcount;
	uint64_t pincount;
	uint64_t comm;		/* string id */
	uint64_t swap_offset;	/* in pages */
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_name;	/* string id */
	uint64_t user_maps;	/* mappings found by looking at every task */
	uint64_t kernel_maps;
	uint64_t memcg_ino;	/* inode of the memory cgroup's directory */
	uint64_t memcg_path;	/* string id */
	uint64_t memcg_name;	/* string id */
	uint64_t dev;		/* major << 32 | minor */
	uint64_t inode;
	uint64_t index;		/* page offset in the file, base pages */
	uint64_t path;		/* string id */
	uint64_t slab_cache;	/* string id */
	uint64_t alloc_stack;	/* stack id: hash of its frames by name, the
				 * same in every capture; pagedet_stack() */
	uint64_t free_stack;
	uint64_t alloc_comm;	/* string id */
	uint64_t gfp_mask;	/* the kernel's own word */
	uint64_t gfp;		/* string id: names joined by '|' */
	uint64_t migratetype;	/* string id */
	uint64_t allocator;	/* string id */
	uint64_t alloc_ns;	/* time since boot */
	uint64_t free_ns;
	uint64_t migrate_reason; /* string id */
	uint64_t content;	/* string id: class of the bytes, such as
				 * "zero"; pagedet-fields(7) lists them */
	uint64_t hash;		/* low 64 bits of the keyed XXH3-128 */
	uint32_t notes;		/* PAGEDET_NOTE_* bits */
	uint32_t order;
	uint32_t node;
	uint32_t zone;		/* PAGEDET_ZONE_* */
	uint32_t kind;		/* PAGEDET_KIND_* */
	uint32_t mapcount_kind;	/* PAGEDET_MAPCOUNT_* */
	uint32_t pid;
	uint32_t tgid;
	uint32_t pte;		/* PAGEDET_PTE_* bits */
	uint32_t pte_known;
	uint32_t pte_level;	/* PAGEDET_LEVEL_* */
	uint32_t swap_type;
	uint32_t vma_prot;	/* PAGEDET_PROT_* bits */
	uint32_t alloc_pid;
	uint32_t alloc_tgid;
	uint32_t alloc_order;
	uint32_t map;		/* PAGEDET_MAP_* */
	uint32_t at;		/* PAGEDET_AT_* */
	uint64_t object;	/* string id: what is at a kernel address */
	uint64_t report;	/* PAGEDET_REPORT_* */
	uint64_t entropy;	/* of the bytes: thousandths of a bit a byte */
};

/* How the value of a field is to be read and shown. */
enum pagedet_type {
	PAGEDET_TYPE_NUMBER = 1,
	PAGEDET_TYPE_HEX = 2,	/* number, shown as 0x... */
	PAGEDET_TYPE_ENUM = 3,	/* pagedet_value_name() names the value */
	PAGEDET_TYPE_MASK = 4,	/* pagedet_value_name() names each bit */
	PAGEDET_TYPE_STRING = 5, /* id for pagedet_string() */
	PAGEDET_TYPE_LIST = 6,	/* the same, names joined by '|' */
	PAGEDET_TYPE_STACK = 7,	/* id for pagedet_stack() */
	PAGEDET_TYPE_DEV = 8,	/* major << 32 | minor */
	PAGEDET_TYPE_PROT = 9	/* PAGEDET_PROT_* bits */
};

/*
 * struct pagedet_field_info - one field, as this library knows it.
 *
 * Fields at or past the caller's row_size cannot be in its rows: compare
 * offset + width with it.
 */
struct pagedet_field_info {
	uint64_t size;		/* of this struct in the library that runs */
	uint32_t id;
	uint32_t type;		/* PAGEDET_TYPE_* */
	uint32_t offset;	/* in struct pagedet_page, bytes */
	uint32_t width;		/* 4 or 8 bytes */
	uint32_t position;	/* where it stands in the output: 0, 1 ... */
	uint32_t known;		/* of a mask: the field that says which of its
				 * bits are known; else its own id */
	const char *name;	/* as in JSON, --fields and filters */
	const char *unit;	/* "pfn", "ns", "bytes", "pages", "millibits"
				 * or "" */
	const char *group;	/* --fields group it belongs to */
	const char *since;	/* release that added it */
	const char *text;	/* one line for people */
};

/* ------------------------------------------------------------------------
 * Library, version, names
 */

struct pagedet;
struct pagedet_iter;
struct pagedet_index;
struct pagedet_emitter;

/* One part of the library that may be left out when it is built. */
struct pagedet_part {
	uint64_t size;		/* of this struct in the library that runs */
	const char *name;	/* "zstd" */
	const char *purpose;	/* "zstd-compressed dumps and text" */
	uint32_t built;		/* 1 if this library has it */
	uint32_t reserved;
};

/**
 * pagedet_version - version of the library that is running
 * Return: "MAJOR.MINOR.PATCH"; never NULL [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_version(void);

/**
 * pagedet_version_number - version of the library that is running
 * Return: MAJOR * 1000000 + MINOR * 1000 + PATCH.
 * Errors: none.
 * Since: 0.1
 */
uint32_t pagedet_version_number(void);

/**
 * pagedet_part - the optional parts, built in or not
 * @n: [in] 0, 1, 2 ...
 * Return: part @n, or NULL past the last [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const struct pagedet_part *pagedet_part(uint32_t n);

/**
 * pagedet_field - describe one field
 * @field: [in] PAGEDET_FIELD_*
 * Return: the description, or NULL if this library has no such field
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const struct pagedet_field_info *pagedet_field(uint32_t field);

/**
 * pagedet_field_by_name - find a field
 * @name: [in] as in JSON, for example "memcg_path"
 * Return: PAGEDET_FIELD_*, or a negative errno.
 * Errors: ENOENT there is no such field.
 * Since: 0.1
 */
int pagedet_field_by_name(const char *name);

/**
 * pagedet_value_name - the name of a value
 * @field: [in] PAGEDET_FIELD_* of type PAGEDET_TYPE_ENUM or PAGEDET_TYPE_MASK
 * @value: [in] the value of an enum, the bit number of a mask
 * Return: the name, or NULL if it has none [nullable] [borrowed: forever].
 *         A page flag without a name is called bitNN in text and JSON.
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_value_name(uint32_t field, uint64_t value);

/**
 * pagedet_state_name - the name of a cell's state
 * @state: [in] PAGEDET_NOT_ASKED ... PAGEDET_TIMEOUT
 * Return: "have", "none", "no_access" ..., or NULL for a number that is no
 *         state [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_state_name(uint32_t state);

/**
 * pagedet_state_text - what a reason means, for people
 * @state: [in] PAGEDET_NOT_ASKED ... PAGEDET_TIMEOUT
 * Return: one line, or NULL for a number that is no state
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_state_text(uint32_t state);

/**
 * pagedet_source_name - the name of a source
 * @source: [in] PAGEDET_SOURCE_*
 * Return: "procfs" ..., or NULL for a number that is no source
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_source_name(uint32_t source);

/**
 * pagedet_source_by_name - find a source
 * @name: [in] "procfs", "vmcore" ...
 * Return: PAGEDET_SOURCE_*, or a negative errno.
 * Errors: ENOENT there is no such source.
 * Since: 0.1
 */
int pagedet_source_by_name(const char *name);

/* ------------------------------------------------------------------------
 * The handle
 */

enum pagedet_log_level {
	PAGEDET_LOG_ERROR = 0,
	PAGEDET_LOG_WARNING = 1,
	PAGEDET_LOG_INFO = 2,
	PAGEDET_LOG_DEBUG = 3
};

typedef void pagedet_log_fn(void *user, int level, const char *text);

/*
 * struct pagedet_options - what to open. Start from PAGEDET_OPTIONS_INIT or
 * pagedet_options_init(), so that size is right and the rest is zero.
 */
struct pagedet_options {
	uint64_t size;		/* sizeof(struct pagedet_options) */
	const char *root;	/* [nullable] read /proc, /sys below here;
				 * NULL is "/" */
	const char *const *files; /* [nullable] [len: n_files] read these
				 * instead of the running kernel; several for
				 * a split dump */
	uint64_t n_files;
	const char *vmlinux;	/* [nullable] ELF file of this kernel, by its
				 * build id: symbols and types where its own
				 * cannot be read; never required */
	const char *btf;	/* [nullable] type information of this kernel,
				 * instead of its own; checked against
				 * VMCOREINFO */
	const char *vmcoreinfo;	/* [nullable] VMCOREINFO text, where a dump
				 * lacks it; checked against its memory */
	const char *hash_key;	/* [nullable] file with the key that contents
				 * are hashed under, made if missing; NULL is a
				 * random one of this handle */
	const char *libexec_dir; /* [nullable] where helper programs are; NULL
				 * is the directory compiled in */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s allowed; 0 is all */
	uint32_t reserved;
};

#define PAGEDET_OPTIONS_INIT \
	{ sizeof(struct pagedet_options), NULL, NULL, 0, NULL, NULL, NULL, \
	  NULL, NULL, 0, 0 }

/* What pagedet_add_fd() hands in. */
enum pagedet_fd_kind {
	PAGEDET_FD_KPAGEFLAGS = 1,
	PAGEDET_FD_KPAGECOUNT = 2,
	PAGEDET_FD_KPAGECGROUP = 3,
	PAGEDET_FD_PAGEMAP = 4,	/* of one pid */
	PAGEDET_FD_MAPS = 5	/* of one pid */
};

/* What is known of the opened kernel. */
struct pagedet_info {
	uint64_t size;		/* sizeof(struct pagedet_info) */
	uint64_t page_size;	/* bytes */
	uint64_t max_pfn;	/* first pfn past the end; 0 unknown */
	uint64_t nodes;		/* NUMA nodes with memory; 0 unknown */
	uint64_t first_ns;	/* CLOCK_REALTIME of the oldest and newest */
	uint64_t last_ns;	/* thing read so far; of a dump its own */
	uint32_t live;		/* 1 for the running kernel */
	uint32_t big_endian;
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s that are open */
	uint32_t reserved;
	const char *arch;	/* "x86_64"; "" unknown */
	const char *release;	/* "6.12.115+deb12-cloud-amd64"; "" unknown */
	const char *boot_id;	/* 36 characters; "" unknown */
};

/* What it takes to know a field of a dump's kernel; each tier includes the one
 * before. */
enum pagedet_tier {
	PAGEDET_TIER_VMCOREINFO = 1,
	PAGEDET_TIER_TYPES = 2,	/* and symbols and types: the kernel's own
				 * (kallsyms, BTF) */
	PAGEDET_TIER_VMLINUX = 3 /* and the file that it was made from, which
				 * stands in for them, too */
};

/* Whether one source can answer one field. */
struct pagedet_ability {
	uint64_t size;		/* sizeof(struct pagedet_ability) */
	uint32_t can;		/* 1 it can, here and now */
	uint32_t reason;	/* PAGEDET_UNSUPPORTED ... if it cannot */
	uint32_t cost;		/* PAGEDET_COST_* if it can */
	uint32_t tier;		/* PAGEDET_TIER_* that it takes; 0: not of a
				 * dump */
	const char *why;	/* words for the reason; "" if it can */
	const char *advice;	/* what would make it possible; may be "" */
};

enum pagedet_cost {
	PAGEDET_COST_FREE = 0,	/* comes with what is read anyway */
	PAGEDET_COST_READ = 1,	/* one more read a page */
	PAGEDET_COST_LOOKUP = 2, /* names and paths: text to search, cached */
	PAGEDET_COST_SWEEP = 3,	/* looks at every task */
	PAGEDET_COST_CONTENT = 4, /* reads the page's bytes */
	PAGEDET_COST_INTRUSIVE = 5 /* asks in a way that others notice */
};

/**
 * pagedet_new - make a handle
 * Needs only memory, so that even a failed pagedet_open() has somewhere to
 * put its words.
 * Return: the handle, or NULL without memory
 *         [nullable] [owned: pagedet_free].
 * Errors: none.
 * Since: 0.1
 */
struct pagedet *pagedet_new(void);

/**
 * pagedet_free - free a handle
 * Iterators, indexes and emitters made from it must be freed before.
 * @pd: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_free(struct pagedet *pd);

/**
 * pagedet_options_init - fill in size, zero the rest
 * @options: [out]
 * @size: [in] sizeof(struct pagedet_options) of the caller
 * Errors: none.
 * Since: 0.1
 */
void pagedet_options_init(struct pagedet_options *options, uint64_t size);

/**
 * pagedet_open - open the running kernel, a dump, a snapshot or a text
 * Cheap: nothing is parsed before a query needs it.
 * @pd: [in] from pagedet_new(), not opened yet
 * @options: [in,nullable] NULL is the running kernel with all sources
 * Return: 0, or a negative errno; after a failure it may be called again.
 * Errors: EINVAL already open, or the sources named do not exist;
 *         E2BIG options has a non-zero byte that this library does not know;
 *         ENOENT root or a file is not there; EACCES it may not be read;
 *         EBADMSG a file is of no known kind or damaged, or that of another
 *         kernel; EIO reading failed;
 *         ENOSYS a part that is needed was not built; ENOTSUP none of the
 *         allowed sources exists here or reads that file, several files where
 *         one is opened alone, or a file is one of debugfs; ENOMEM.
 *         For hash_key: EACCES others may read it, or it is no regular file;
 *         EBADMSG it is not a key; ENOENT its directory is not there.
 * Since: 0.1
 */
int pagedet_open(struct pagedet *pd, const struct pagedet_options *options);

/**
 * pagedet_dup - a second handle on the same kernel, for another thread
 * Shares what never changes, and the key of hashes; has its own errors and
 * iterators.
 * @pd: [in] opened
 * @ret: [out] [owned: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL @pd is not open; ENOMEM; EACCES EIO as pagedet_open().
 * Since: 0.1
 */
int pagedet_dup(struct pagedet *pd, struct pagedet **ret);

/**
 * pagedet_set_log - where the library may talk to
 * @pd: [in]
 * @fn: [in,nullable] called on the thread that calls the library; NULL is
 *      silence, which is the default
 * @user: [in,nullable] handed to @fn
 * @level: [in] PAGEDET_LOG_*: nothing above it is said
 * Errors: none.
 * Since: 0.1
 */
void pagedet_set_log(struct pagedet *pd, pagedet_log_fn *fn, void *user,
		     int level);

/**
 * pagedet_error - what went wrong in the last call that failed
 * @pd: [in]
 * Return: "cannot read task 1234: ...", "" if nothing failed; never NULL
 *         [borrowed: the next call on the handle].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_error(const struct pagedet *pd);

/**
 * pagedet_advice - what would help
 * @pd: [in]
 * Return: "needs CAP_SYS_ADMIN", or "" if there is nothing to say; never NULL
 *         [borrowed: the next call on the handle].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_advice(const struct pagedet *pd);

/**
 * pagedet_add_fd - hand in a file opened by somebody with more privilege
 * What pagemap shows follows its opener, so a small privileged process can
 * open and pass descriptors to one without (Linux fs/proc/task_mmu.c,
 * pagemap_read). Must come after pagedet_open() and before the query.
 * @pd: [in] opened
 * @kind: [in] PAGEDET_FD_*
 * @pid: [in] for PAGEDET_FD_PAGEMAP and PAGEDET_FD_MAPS, else 0
 * @fd: [in] open for reading; duplicated, the caller keeps its own
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such kind, or a pid where none belongs or the reverse;
 *         EACCES @fd is not open for reading; ENOTSUP the handle has no
 *         procfs source; ENOMEM; EIO duplicating failed.
 * Since: 0.1
 */
int pagedet_add_fd(struct pagedet *pd, uint32_t kind, uint32_t pid, int fd);

/**
 * pagedet_info - what is known of the opened kernel
 * @pd: [in] opened
 * @ret: [in,out] size is set by the caller; strings [borrowed: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or size is too small.
 * Since: 0.1
 */
int pagedet_info(struct pagedet *pd, struct pagedet_info *ret);

/**
 * pagedet_survey - can this source answer this field?
 * @pd: [in] opened
 * @field: [in] PAGEDET_FIELD_*
 * @source: [in] PAGEDET_SOURCE_*
 * @ret: [in,out] size is set by the caller; strings [borrowed: the next call]
 * Return: 0, or a negative errno. "Cannot" is an answer, not an error.
 * Errors: EINVAL not open, size too small; ENOENT no such field or source.
 * Since: 0.1
 */
int pagedet_survey(struct pagedet *pd, uint32_t field, uint32_t source,
		   struct pagedet_ability *ret);

/* ------------------------------------------------------------------------
 * The query
 */

/*
 * What pages are asked for. "item" is struct pagedet_item; its count is at
 * least 1, or PAGEDET_TO_END. The answer to item i carries ask = i.
 */
enum pagedet_target {
	PAGEDET_TARGET_NOTHING = 0,
	PAGEDET_TARGET_PFN = 1,	/* items: first pfn, count pages */
	PAGEDET_TARGET_PHYS = 2, /* items: first byte address, count bytes */
	PAGEDET_TARGET_VIRT = 3, /* items: pid, first byte address, count
				 * bytes; a row for every page of it */
	PAGEDET_TARGET_TASK = 4, /* items: pid, address range in bytes (0,
				 * PAGEDET_TO_END for all); a row for every
				 * entry in the page tables */
	PAGEDET_TARGET_FILE = 5, /* path; items: first page offset, count
				 * pages; no items is the whole file. Cached
				 * pages, or, in a captured tree, those of them
				 * that tasks map; TREE and MOUNT likewise */
	PAGEDET_TARGET_TREE = 6, /* path of a directory: all files below it
				 * on its filesystem */
	PAGEDET_TARGET_MOUNT = 7, /* path of a mount point, or any file on it:
				 * the whole filesystem */
	PAGEDET_TARGET_BLOCK = 8, /* path of a block device; items as FILE */
	PAGEDET_TARGET_CGROUP = 9, /* path of a cgroup: pages charged to it */
	PAGEDET_TARGET_KADDR = 10, /* items: first kernel address, count 1;
				 * flags PAGEDET_KADDR_*. vaddr, pte, map, vma
				 * and object are about the address */
	PAGEDET_TARGET_LOG = 11, /* path of a kernel log text, "-" is standard
				 * input: for each page that it mentions a row
				 * of what it says and one of what is there
				 * now, with the same ask; only the former if
				 * the query's sources are PAGEDET_SOURCE_LOG */
	PAGEDET_TARGET_SCAN = 12, /* every page of memory */
	PAGEDET_TARGET_MAPPERS = 13 /* items: as PFN; a row for each mapping */
};

#define PAGEDET_TO_END ((uint64_t)-1)

/* pagedet_item.flags for PAGEDET_TARGET_KADDR */
enum pagedet_kaddr {
	PAGEDET_KADDR_ANY = 0,	/* PAGE for what is in a struct page, else
				 * MEMORY */
	PAGEDET_KADDR_MEMORY = 1, /* the page that the address lies in */
	PAGEDET_KADDR_PAGE = 2,	/* the page that this struct page describes */
	PAGEDET_KADDR_FOLIO = 3	/* the first page of its folio */
};

/* An element of arrays: it will not grow. */
struct pagedet_item {
	uint64_t first;
	uint64_t count;
	uint32_t pid;		/* thread or process id where one is needed */
	uint32_t flags;
};

/* pagedet_query.options */
enum pagedet_query_option {
	PAGEDET_Q_CHEAP = 1,	/* also every field that costs nothing here */
	PAGEDET_Q_RUNS = 2,	/* fold neighbours with equal answers */
	PAGEDET_Q_UNDECIDED = 4, /* list rows whose filter is unknown, too */
	PAGEDET_Q_SINGLE_SOURCE = 8, /* ask only the first source of a chain */
	PAGEDET_Q_KEEP_STRINGS = 16, /* ids stay valid to the iterator's end */
	PAGEDET_Q_UNCHECKED = 32, /* do not read a translation twice: rows
				 * carry PAGEDET_NOTE_UNCHECKED */
	PAGEDET_Q_HOLES = 64,	/* PAGEDET_TARGET_SCAN: rows for pfns without
				 * a page, too */
	PAGEDET_Q_GROUP = 128,	/* count pages per distinct answer of group_by
				 * instead of listing; without group_by all
				 * pages are one group */
	PAGEDET_Q_TASK_STACKS = 256 /* pagedet_task_stack() will be asked */
};

/* pagedet_query.order */
enum pagedet_order {
	PAGEDET_ORDER_WALK = 0,	/* as the target is walked: always the same */
	PAGEDET_ORDER_ANY = 1	/* as rows become ready: fastest with threads */
};

/* Told to the progress callback. */
struct pagedet_progress {
	uint64_t size;		/* sizeof(struct pagedet_progress) */
	uint64_t done;		/* places visited */
	uint64_t total;		/* places expected; 0 not known yet */
	uint64_t rows;
	uint64_t elapsed_ns;
};

/* Return: 0 to go on, anything else cancels. */
typedef int pagedet_progress_fn(void *user, const struct pagedet_progress *p);

/*
 * struct pagedet_query - one question. Start from PAGEDET_QUERY_INIT or
 * pagedet_query_init(). Everything it points to is copied by pagedet_query().
 */
struct pagedet_query {
	uint64_t size;		/* sizeof(struct pagedet_query) */
	uint64_t row_size;	/* sizeof(struct pagedet_page) */
	uint64_t fields[2];	/* wanted: bit (id % 64) of word (id / 64) */
	const struct pagedet_item *items; /* [nullable] [len: n_items] */
	uint64_t n_items;
	const char *path;	/* [nullable] for targets that take one */
	const char *where;	/* [nullable] filter, see pagedet(1); NULL
				 * takes all */
	const uint32_t *group_by; /* [nullable] [len: n_group_by] field ids, for
				 * PAGEDET_Q_GROUP, which they imply */
	uint64_t n_group_by;
	struct pagedet_index *index; /* [nullable] for mappers and user_maps;
				 * NULL makes one pass over the tasks instead */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* at most this often; 0 is 200 ms */
	uint64_t deadline_ns;	/* from the call of pagedet_query(); 0 none */
	uint64_t limit;		/* rows; 0 none */
	uint64_t string_bytes;	/* bound for interned text; 0 is 8 MiB */
	uint32_t target;	/* PAGEDET_TARGET_* */
	uint32_t options;	/* PAGEDET_Q_* */
	uint32_t order;		/* PAGEDET_ORDER_* */
	uint32_t threads;	/* the caller's included; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 is the handle's */
	uint32_t reserved;
};

#define PAGEDET_QUERY_INIT \
	{ sizeof(struct pagedet_query), sizeof(struct pagedet_page), \
	  { 0, 0 }, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, 0, \
	  0, 0, 0, 0, 0, 0, 0 }

/**
 * pagedet_query_init - fill in the sizes, zero the rest
 * @query: [out]
 * @size: [in] sizeof(struct pagedet_query) of the caller
 * @row_size: [in] sizeof(struct pagedet_page) of the caller
 * Errors: none.
 * Since: 0.1
 */
void pagedet_query_init(struct pagedet_query *query, uint64_t size,
			uint64_t row_size);

/**
 * pagedet_fields_parse - turn "pfn,flags,owner" into wanted fields
 * @pd: [in] for the error text
 * @list: [in] field names and groups, separated by commas. Groups: "cheap"
 *        (adds PAGEDET_Q_CHEAP), "all" (every field that reads no content and
 *        looks at no other task), "everything", and the group names that
 *        pagedet_field() gives
 * @query: [in,out] fields and options are added to
 * Return: 0, or a negative errno.
 * Errors: ENOENT a name is neither field nor group; EINVAL the list is empty.
 * Since: 0.1
 */
int pagedet_fields_parse(struct pagedet *pd, const char *list,
			 struct pagedet_query *query);

/**
 * pagedet_query - ask
 * Checks the question and makes the plan; pages are read by pagedet_next().
 * @pd: [in] opened
 * @query: [in]
 * @ret: [out] [owned: pagedet_iter_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open, no such target, an item is empty or
 *         wraps, a filter or field list is wrong, the path is of the wrong
 *         kind, as a directory where a file is meant; E2BIG query has a
 *         non-zero byte that this library does not know; ENOENT no such file,
 *         cgroup; ENODATA nothing can be known of the file: in a captured tree
 *         no task maps it, or tasks map several of its name; ESRCH no such
 *         task; EACCES the target itself may not be looked at; ENOTSUP no
 *         source here can walk this target (pagedet_error() says what it would
 *         need); EBADMSG types that were given are those of another kernel, or
 *         damaged, or what a dump says of its kernel contradicts itself;
 *         ENOSYS a part that is needed was not built; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_query(struct pagedet *pd, const struct pagedet_query *query,
		  struct pagedet_iter **ret);

/* ------------------------------------------------------------------------
 * The iterator
 */

/* One field of a batch. An element of arrays: it will not grow. */
struct pagedet_column {
	uint32_t field;		/* PAGEDET_FIELD_* */
	uint32_t reserved;
	const uint64_t *value;	/* one per row, 0 where not answered */
	const uint16_t *cell;	/* one per row */
};

/* A batch as columns. */
struct pagedet_columns {
	uint64_t size;		/* sizeof(struct pagedet_columns) */
	uint64_t rows;
	uint64_t n_columns;
	const struct pagedet_column *columns; /* [len: n_columns] */
};

/* How much of the question was looked at, and what got lost. */
struct pagedet_coverage {
	uint64_t size;		/* sizeof(struct pagedet_coverage) */
	uint64_t wanted;	/* places to look at; 0 not known */
	uint64_t visited;	/* places looked at */
	uint64_t skipped;	/* places known to be empty, not looked at */
	uint64_t rows;		/* rows handed out, or grouped */
	uint64_t undecided;	/* places whose filter is unknown */
	uint64_t torn;		/* rows whose page moved while being read */
	uint64_t spilled;	/* pages put into the group "other" */
	uint64_t tasks;		/* tasks looked at */
	uint64_t tasks_gone;	/* that ended meanwhile */
	uint64_t tasks_denied;	/* that exist and may not be read */
	uint64_t files;		/* files looked at */
	uint64_t files_gone;	/* that vanished or shrank meanwhile */
	uint64_t files_denied;	/* that exist and may not be read */
	uint64_t lost[32];	/* cells without answer, by PAGEDET_* reason */
	uint64_t answered[2];	/* fields with an answer in some row */
	uint64_t resume;	/* first place not visited; 0 if complete */
	uint32_t complete;	/* 1: everything wanted was visited */
	uint32_t stopped;	/* ETIMEDOUT, ECANCELED, EIO ...: why not; 0
				 * with complete 0: the walk ended, but there
				 * may be more than can be seen here, which the
				 * log says */
};

/* What PAGEDET_TARGET_MAPPERS found for one pfn. */
struct pagedet_mappers {
	uint64_t size;		/* sizeof(struct pagedet_mappers) */
	uint64_t pfn;
	uint64_t found;		/* user mappings found; see found_state */
	uint64_t expected;	/* what the kernel counts; where fewer were
				 * found, it was counted again after the walk,
				 * and this is the lesser of both */
	uint64_t n_unread;	/* tasks that could not be looked at */
	const uint32_t *unread;	/* their pids [len: n_unread] */
	uint32_t expected_state; /* PAGEDET_HAVE, or why it is not known */
	uint32_t mapcount_kind;	/* PAGEDET_MAPCOUNT_* of expected */
	uint32_t found_state;	/* PAGEDET_HAVE, or why nobody could look for
				 * user mappings: found is no number then */
	uint32_t reserved;
};

/**
 * pagedet_next - the next rows
 * @it: [in]
 * @rows: [out] [len: n], each query.row_size bytes
 * @n: [in] how many fit, at least 1
 * Return: how many rows were written, 0 at the end, or a negative errno. Fewer
 *         than @n does not mean the end. After ETIMEDOUT and ECANCELED the
 *         rows so far are right, and pagedet_coverage() says what is missing.
 * Errors: EINVAL; ETIMEDOUT the deadline passed; ECANCELED pagedet_cancel()
 *         or the progress callback; EIO reading failed for the whole walk;
 *         ENOMEM; ESRCH the task asked for ended before anything was read.
 * Since: 0.1
 */
int pagedet_next(struct pagedet_iter *it, struct pagedet_page *rows,
		 uint32_t n);

/**
 * pagedet_next_columns - the next rows as columns
 * Faster than rows, and what arrays of other languages want.
 * @it: [in]
 * @ret: [in,out] size is set by the caller; arrays [borrowed: the next step].
 *       Their memory stays readable until pagedet_iter_free(), only what is in
 *       it changes.
 * Return: how many rows, 0 at the end, or a negative errno.
 * Errors: as pagedet_next().
 * Since: 0.1
 */
int pagedet_next_columns(struct pagedet_iter *it, struct pagedet_columns *ret);

/**
 * pagedet_iter_retarget - ask the same about other places
 * Keeps plan, buffers and descriptors: the fast way for one look-up after the
 * other. Targets PFN, PHYS, VIRT, TASK, MAPPERS, KADDR.
 * @it: [in]
 * @items: [in] [len: n_items]
 * @n_items: [in]
 * Return: 0, or a negative errno.
 * Errors: EINVAL the target takes no items, an item is empty or wraps, the
 *         query groups or has several threads; ESRCH no such task; EACCES the
 *         task may not be looked at; ENOMEM.
 * Since: 0.1
 */
int pagedet_iter_retarget(struct pagedet_iter *it,
			  const struct pagedet_item *items, uint64_t n_items);

/**
 * pagedet_cancel - make a running query stop soon
 * The only call that another thread or a signal handler may make.
 * @it: [in] not freed meanwhile
 * Errors: none.
 * Since: 0.1
 */
void pagedet_cancel(struct pagedet_iter *it);

/**
 * pagedet_iter_free - end a query
 * @it: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_iter_free(struct pagedet_iter *it);

/**
 * pagedet_iter_fields - which fields the rows of this iterator carry
 * @it: [in]
 * @ret: [out] [len: 2] two words, as pagedet_query.fields
 * Errors: none.
 * Since: 0.1
 */
void pagedet_iter_fields(const struct pagedet_iter *it, uint64_t *ret);

/**
 * pagedet_why - why nobody can answer a field in this query
 * Known before the first row.
 * @it: [in]
 * @field: [in] PAGEDET_FIELD_*
 * Return: PAGEDET_HAVE if some source can, PAGEDET_NOT_ASKED if it was not
 *         wanted, else the reason PAGEDET_UNSUPPORTED ...
 * Errors: none.
 * Since: 0.1
 */
uint32_t pagedet_why(const struct pagedet_iter *it, uint32_t field);

/**
 * pagedet_why_advice - what would make a field possible
 * @it: [in]
 * @field: [in] PAGEDET_FIELD_*
 * Return: "needs CAP_SYS_ADMIN", or "" ; never NULL
 *         [borrowed: pagedet_iter_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_why_advice(const struct pagedet_iter *it, uint32_t field);

/**
 * pagedet_coverage - how much was looked at so far
 * @it: [in]
 * @ret: [in,out] size is set by the caller
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_coverage(const struct pagedet_iter *it,
		     struct pagedet_coverage *ret);

/**
 * pagedet_mappers - what PAGEDET_TARGET_MAPPERS found for one pfn
 * Complete once pagedet_next() has answered 0.
 * @it: [in]
 * @n: [in] 0, 1, 2 ...: the pfns in the order of the query
 * @ret: [in,out] size is set by the caller; unread [borrowed: the next step]
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small, or the target is another; ENOENT @n is
 *         past the last pfn; EAGAIN the walk has not ended.
 * Since: 0.1
 */
int pagedet_mappers(const struct pagedet_iter *it, uint64_t n,
		    struct pagedet_mappers *ret);

/**
 * pagedet_string - the text behind an id
 * @it: [in]
 * @id: [in] value of a field of type STRING or LIST
 * @len: [out,nullable] bytes, without the terminating NUL; the text itself may
 *       hold any byte but NUL
 * Return: the text, or NULL if the id is no longer valid
 *         [nullable] [borrowed: the next step].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_string(const struct pagedet_iter *it, uint64_t id,
			   size_t *len);

/**
 * pagedet_stack - the frames behind a stack id
 * The id is XXH3-64 of the frames as they are here, each with a newline behind
 * it. Names and offsets do not change when the kernel starts elsewhere; a frame
 * that has no name, as of a module that was unloaded, is its address.
 * @it: [in] wanted a field of type STACK
 * @id: [in] value of a field of type STACK
 * @frames: [out] [len: n] text of each frame, innermost first:
 *          "name+0x10/0x40 [module]"
 *          [borrowed: the next step]
 * @n: [in] how many fit
 * Return: how many frames the stack has, or a negative errno.
 * Errors: ENOENT the id is no longer valid, or there are no frames for it;
 *         ENOMEM; EBADMSG EIO they cannot be read again.
 * Since: 0.1
 */
int pagedet_stack(const struct pagedet_iter *it, uint64_t id,
		  const char **frames, uint32_t n);

/**
 * pagedet_threads - the threads of a process
 * @it: [in] of a query with PAGEDET_Q_TASK_STACKS, whose target is VIRT, TASK
 *      or MAPPERS
 * @pid: [in] as in rows
 * @tids: [out] [len: n] thread ids, ascending
 * @n: [in] how many fit
 * Return: how many threads it has, or a negative errno.
 * Errors: EINVAL the query is none of these; ESRCH there is no such process;
 *         EACCES it may not be read; ENOTSUP no source that is open here knows
 *         tasks; EBADMSG EIO ENOMEM the list of tasks cannot be read.
 * Since: 0.1
 */
int pagedet_threads(const struct pagedet_iter *it, uint32_t pid, uint32_t *tids,
		    uint32_t n);

/**
 * pagedet_task_stack - where a thread is in the kernel
 * What /proc/PID/stack tells, of a dump as of a running kernel: by the kernel's
 * own ORC tables on x86-64, by frame pointers on arm64
 * (Documentation/arch/x86/orc-unwinder.rst, arch/arm64/kernel/stacktrace.c).
 * @it: [in] as for pagedet_threads()
 * @tid: [in] thread id
 * @frames: [out] [len: n] text of each frame, innermost first:
 *          "name+0x10/0x40 [module]"; an address where there is no name; as the
 *          last one "?" where what follows could not be read
 *          [borrowed: the next step, or the next call for any thread]
 * @n: [in] how many fit
 * Return: how many frames the stack has, 0 if it is in user code, or a negative
 *         errno.
 * Errors: EAGAIN it runs, so its stack is in the registers of a processor;
 *         ENOENT it ran when the dump was written, which has no registers;
 *         EINVAL, ESRCH, EACCES, ENOTSUP, EBADMSG, EIO, ENOMEM as for
 *         pagedet_threads(); ENOTSUP also if the kernel has nothing to unwind
 *         by; ENODATA its types or symbols are not known.
 * Since: 0.1
 */
int pagedet_task_stack(const struct pagedet_iter *it, uint32_t tid,
		       const char **frames, uint32_t n);

/**
 * pagedet_page_bytes - the bytes of a page of this step
 * Only when the query wanted a field of group "content", and only of rows
 * whose content is answered: a whole page, as it was when it was read. Rows of
 * runs and groups have none. Read by bpf, kcore and out of dumps, which changes
 * nothing; where none of these is open, pages of tasks that are present are
 * read through /proc/PID/mem, which marks them as used, and their rows as
 * perturbed. What is not present is not brought in, and what is poisoned is
 * not read.
 * @it: [in]
 * @row: [in] number of the row in this step
 * @len: [out] bytes
 * Return: the bytes, or NULL if they were not read
 *         [nullable] [borrowed: the next step].
 * Errors: none.
 * Since: 0.1
 */
const void *pagedet_page_bytes(const struct pagedet_iter *it, uint64_t row,
			       size_t *len);

/* ------------------------------------------------------------------------
 * Contents that a program has itself
 */

/* What pagedet_content() is asked for. */
enum pagedet_content_want {
	PAGEDET_CONTENT_CLASS = 1,
	PAGEDET_CONTENT_HASH = 2,
	PAGEDET_CONTENT_ENTROPY = 4 /* takes several times as long */
};

/* What is said of some bytes. */
struct pagedet_content {
	uint64_t size;		/* sizeof(struct pagedet_content) */
	uint64_t hash;		/* as the field; 0 if not wanted */
	uint64_t entropy;	/* as the field; 0 if not wanted */
	const char *name;	/* class, as the field content; "" if not
				 * wanted */
};

/**
 * pagedet_content - what the fields content, hash and entropy would say
 * Of bytes that the caller has in its own memory, such as a page that it has
 * sent or got, as the same fields would say it of a page with these bytes: by
 * the same rules, and under the same key. Nothing but these bytes is looked at.
 * @pd: [in] opened
 * @bytes: [in] [len: len]
 * @len: [in] bytes: a multiple of 4096, 1 GiB at most
 * @want: [in] PAGEDET_CONTENT_* bits; 0 is all
 * @ret: [out] size filled in; name is borrowed until the next call
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such length, an unknown bit, or ret has no size;
 *         EIO the kernel gave no random bytes for a key.
 * Since: 0.1
 */
int pagedet_content(struct pagedet *pd, const void *bytes, uint64_t len,
		    uint32_t want, struct pagedet_content *ret);

/**
 * pagedet_hash_key_id - which key hashes of this handle are made under
 * Hashes say something only about hashes of the same key: this is the same for
 * handles whose key is the same, in any run and on any host. The key cannot be
 * told from it. It is XXH3-64 of the key's 192 bytes, with the seed
 * 0x7061676564657400. Of a snapshot with hashes it is that of the key which
 * they were made under.
 * @pd: [in] opened
 * @ret: [out] the id
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; EIO the kernel gave no random bytes for a key.
 * Since: 0.1
 */
int pagedet_hash_key_id(struct pagedet *pd, uint64_t *ret);

/* How two contents differ: the first of these that holds. */
enum pagedet_shape {
	PAGEDET_SHAPE_SAME = 1,	/* they do not */
	PAGEDET_SHAPE_BIT = 2,	/* one bit */
	PAGEDET_SHAPE_BYTE = 3,	/* bits of one byte */
	PAGEDET_SHAPE_WORD = 4,	/* bytes of one aligned word of 8 bytes */
	PAGEDET_SHAPE_LINE = 5,	/* of one aligned cache line of 64 bytes */
	PAGEDET_SHAPE_SECTOR = 6, /* of one aligned sector of 512 bytes */
	PAGEDET_SHAPE_ZEROED = 7, /* one side is zero */
	PAGEDET_SHAPE_POISONED = 8, /* one side is all a byte that kernels
				 * poison memory with, or 0xff */
	PAGEDET_SHAPE_SWAPPED = 9, /* the halves have changed places */
	PAGEDET_SHAPE_SHIFTED = 10, /* moved by some bytes, by half of it at
				 * most */
	PAGEDET_SHAPE_TAIL = 11, /* from an offset on, 64 at least, to the
				 * end */
	PAGEDET_SHAPE_SCATTERED = 12 /* anything else */
};

/* Which side a shape is about. */
enum pagedet_differs {
	PAGEDET_DIFFERS_NEITHER = 0, /* both alike */
	PAGEDET_DIFFERS_A = 1,
	PAGEDET_DIFFERS_B = 2
};

/* The difference of two contents. */
struct pagedet_difference {
	uint64_t size;		/* sizeof(struct pagedet_difference) */
	uint64_t bits;		/* that differ; 0: they are the same */
	uint64_t bytes;
	uint64_t first;		/* offset of the first byte that differs */
	uint64_t last;		/* and of the last one; both 0 if none does */
	int64_t shift;		/* shifted: byte i of a is i + shift of b */
	uint32_t shape;		/* PAGEDET_SHAPE_* */
	uint32_t side;		/* zeroed, poisoned: PAGEDET_DIFFERS_* */
	uint32_t pattern;	/* poisoned: the byte */
	uint32_t reserved;
};

/**
 * pagedet_compare_bytes - how two contents of the same length differ
 * Looks at nothing else, needs no memory, and takes time in proportion to the
 * length, whatever the bytes are. Words, lines and sectors are counted from
 * where the bytes begin.
 * @a: [in] [len: len]
 * @b: [in] [len: len]
 * @len: [in] bytes; 0 is the same
 * @ret: [out] size filled in
 * Return: 0, or a negative errno.
 * Errors: EINVAL ret has no size.
 * Since: 0.1
 */
int pagedet_compare_bytes(const void *a, const void *b, uint64_t len,
			  struct pagedet_difference *ret);

/**
 * pagedet_shape_name - the name of a PAGEDET_SHAPE_*
 * @shape: [in]
 * Return: such as "one_bit", or NULL if there is no such shape
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_shape_name(uint32_t shape);

/**
 * pagedet_format - one field of a row as text
 * @it: [in]
 * @row: [in] from pagedet_next(), this step
 * @field: [in] PAGEDET_FIELD_*
 * @text: [out] [len: size] NUL-terminated, cut to fit; "-" is nothing there,
 *        "?" not known
 * @size: [in] bytes
 * Return: the length that the whole text has, or a negative errno.
 * Errors: ENOENT no such field, or beyond the caller's row.
 * Since: 0.1
 */
int pagedet_format(const struct pagedet_iter *it,
		   const struct pagedet_page *row, uint32_t field, char *text,
		   size_t size);

/* ------------------------------------------------------------------------
 * The mapping index: who maps a page, asked many times
 */

/* An element of arrays: it will not grow. */
struct pagedet_mapping {
	uint64_t pfn;
	uint64_t vaddr;
	uint32_t pid;
	uint32_t pte;		/* PAGEDET_PTE_* bits */
};

struct pagedet_index_info {
	uint64_t size;		/* sizeof(struct pagedet_index_info) */
	uint64_t mappings;
	uint64_t bytes;		/* of memory that it holds */
	uint64_t tasks;
	uint64_t tasks_gone;
	uint64_t tasks_denied;
	uint64_t first_ns;	/* CLOCK_REALTIME of the pass */
	uint64_t last_ns;
	uint64_t n_unread;
	const uint32_t *unread;	/* pids that could not be read */
};

/* How to make an index. Start from PAGEDET_INDEX_OPTIONS_INIT. */
struct pagedet_index_options {
	uint64_t size;		/* sizeof(struct pagedet_index_options) */
	uint64_t deadline_ns;	/* from the call; 0 none */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are tasks */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* at most this often; 0 is 200 ms */
	uint32_t threads;	/* the caller's included; 0 and 1 are one */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 is the handle's */
};

#define PAGEDET_INDEX_OPTIONS_INIT \
	{ sizeof(struct pagedet_index_options), 0, NULL, NULL, 0, 0, 0 }

/**
 * pagedet_index_new - one pass over the page tables of every task
 * @pd: [in] opened
 * @options: [in,nullable] NULL is one thread, no deadline
 * @ret: [out] [owned: pagedet_index_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; E2BIG options has a non-zero byte that this library
 *         does not know; ENOTSUP no source here shows who maps what; EACCES
 *         page frame numbers are hidden from this process; ETIMEDOUT;
 *         ECANCELED the progress callback said so; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_index_new(struct pagedet *pd,
		      const struct pagedet_index_options *options,
		      struct pagedet_index **ret);

/**
 * pagedet_index_find - the mappings of one page
 * @index: [in]
 * @pfn: [in]
 * @mappings: [out] [len: n] ordered by pid and address
 * @n: [in] how many fit
 * Return: how many there are; more than @n means that some did not fit.
 * Errors: none.
 * Since: 0.1
 */
uint64_t pagedet_index_find(const struct pagedet_index *index, uint64_t pfn,
			    struct pagedet_mapping *mappings, uint64_t n);

/**
 * pagedet_index_info - size and completeness of an index
 * @index: [in]
 * @ret: [in,out] size is set by the caller; unread
 *       [borrowed: pagedet_index_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_index_info(const struct pagedet_index *index,
		       struct pagedet_index_info *ret);

/**
 * pagedet_index_free - free an index
 * @index: [in,nullable] no query may use it any more
 * Errors: none.
 * Since: 0.1
 */
void pagedet_index_free(struct pagedet_index *index);

/* ------------------------------------------------------------------------
 * Owners: page_owner's records, grouped
 */

/*
 * What records are grouped by. Pinned, as field ids are. Values are numbers,
 * or ids of texts for pagedet_owners_text(); that of a stack is its id, the
 * same in every capture.
 */
enum pagedet_owner_key {
	PAGEDET_OWNER_STACK = 0, /* pagedet_owners_stack() */
	PAGEDET_OWNER_PID = 1,
	PAGEDET_OWNER_TGID = 2,
	PAGEDET_OWNER_COMM = 3,	/* text */
	PAGEDET_OWNER_MEMCG_NAME = 4, /* text: where it is charged now; with
				 * " (offline)" and " (via objcg)" behind it
				 * where page_owner says so */
	PAGEDET_OWNER_ORDER = 5,
	PAGEDET_OWNER_GFP = 6,	/* text: GFP_KERNEL|__GFP_ZERO */
	PAGEDET_OWNER_MIGRATETYPE = 7, /* text: of the page block */
	PAGEDET_OWNER_ALLOCATOR = 8, /* text */
	PAGEDET_OWNER_MODULE = 9, /* text: the innermost one in the stack */
	PAGEDET_OWNER_SLAB = 10, /* 1: of a slab cache */
	PAGEDET_OWNER_MIGRATE_REASON = 11, /* text */
	PAGEDET_OWNER_WINDOW = 12 /* ns since boot at which it begins */
};

/* At most so many keys at once. */
#define PAGEDET_OWNER_KEYS 16

/* pagedet_owners_query.sort; equal ones by pages, then by keys */
enum pagedet_owners_sort {
	PAGEDET_OWNERS_SORT_PAGES = 0, /* most pages first */
	PAGEDET_OWNERS_SORT_TIMES = 1, /* most records first */
	PAGEDET_OWNERS_SORT_OLDEST = 2, /* with the oldest record first */
	PAGEDET_OWNERS_SORT_NEWEST = 3, /* with the newest record first */
	PAGEDET_OWNERS_SORT_KEYS = 4 /* by keys, ascending */
};

/* pagedet_owners_query.options */
enum pagedet_owners_option {
	PAGEDET_OWNERS_REVERSE = 1 /* the other way round */
};

/* struct pagedet_owners_query - start from PAGEDET_OWNERS_QUERY_INIT. All that
 * it points to is only read by pagedet_owners(). */
struct pagedet_owners_query {
	uint64_t size;		/* sizeof(struct pagedet_owners_query) */
	const char *path;	/* [nullable] text of page_owner, plain or
				 * compressed, a file or a pipe, "-" is the
				 * standard input; NULL: what is opened */
	const char *where;	/* [nullable] filter, see pagedet(1) */
	const uint32_t *by;	/* [nullable] [len: n_by] PAGEDET_OWNER_*; NULL
				 * is by stack */
	uint64_t n_by;
	uint64_t window_ns;	/* length of PAGEDET_OWNER_WINDOW; 0 is a
				 * second */
	uint32_t sort;		/* PAGEDET_OWNERS_SORT_* */
	uint32_t options;	/* PAGEDET_OWNERS_* */
	uint32_t threads;	/* the caller's included; 0 and 1 are one */
	uint32_t reserved;
	uint64_t deadline_ns;	/* from the call; 0 none */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are bytes of text, or pages
				 * of a dump */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* at most this often; 0 is 200 ms */
};

#define PAGEDET_OWNERS_QUERY_INIT \
	{ sizeof(struct pagedet_owners_query), NULL, NULL, NULL, 0, 0, 0, 0, \
	  0, 0, 0, NULL, NULL, 0 }

struct pagedet_owners;

/* Allocations that have the same keys. */
struct pagedet_owner_group {
	uint64_t size;		/* sizeof(struct pagedet_owner_group) */
	uint64_t times;		/* records; 0: page_owner only counts pages */
	uint64_t pages;
	uint64_t bytes;
	uint64_t oldest_ns;	/* when allocated, since boot; UINT64_MAX and */
	uint64_t newest_ns;	/* 0: none of the records says when */
	uint64_t value[PAGEDET_OWNER_KEYS]; /* in the order of by */
	uint32_t state[PAGEDET_OWNER_KEYS]; /* PAGEDET_HAVE, PAGEDET_NONE or
				 * why it is not known */
	uint64_t times_before;	/* after pagedet_owners_compare() */
	uint64_t pages_before;
};

/* All groups together, and what is in none. */
struct pagedet_owners_total {
	uint64_t size;		/* sizeof(struct pagedet_owners_total) */
	uint64_t groups;
	uint64_t times;
	uint64_t pages;
	uint64_t bytes;
	uint64_t oldest_ns;	/* as in struct pagedet_owner_group */
	uint64_t newest_ns;
	uint64_t filtered;	/* records that the filter left out */
	uint64_t undecided;	/* for which it is unknown */
	uint64_t damaged;	/* pieces of text that are no whole record */
	uint64_t unprinted;	/* records that the kernel could not write */
	uint64_t text_bytes;	/* of text that was read; 0: it is no text */
	uint32_t complete;	/* 1: all of it was read */
	uint32_t stopped;	/* ETIMEDOUT, ECANCELED: who ended it before
				 * all of it was read; else 0 */
};

/**
 * pagedet_owner_key_by_name - find a key of owners
 * @name: [in] "stack", "pid", "tgid", "comm", "memcg_name" ...
 * Return: PAGEDET_OWNER_*, or -ENOENT.
 * Errors: ENOENT.
 * Since: 0.1
 */
int pagedet_owner_key_by_name(const char *name);

/**
 * pagedet_owner_key_name - the name of a key of owners
 * @key: [in] PAGEDET_OWNER_*
 * Return: the name, or NULL for a number that means nothing here
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_owner_key_name(uint32_t key);

/**
 * pagedet_owners - read page_owner's records and group them
 * Reads all of them, once. Text that is damaged or cut off is grouped as far
 * as it is good, and pagedet_owners_total() says so; the same is done with what
 * was read when the deadline comes or the progress callback cancels.
 * @pd: [in] opened; or, if the query names a path, only made
 * @query: [in]
 * @ret: [out] [owned: pagedet_owners_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such key, the filter is wrong; E2BIG query has a
 *         non-zero byte that this library does not know; ENOENT no such file;
 *         EACCES it may not be read; EBADMSG it is no text of page_owner;
 *         ENOTSUP no source here has such records (pagedet_advice() says what
 *         it would need); ENODATA what is needed to read them is not there;
 *         ENOSYS a part that is needed was not built; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners(struct pagedet *pd, const struct pagedet_owners_query *query,
		   struct pagedet_owners **ret);

/**
 * pagedet_owners_compare - what has grown
 * The groups begin anew, by how many pages more they have than before; those
 * that are gone are among them, with none.
 * @owners: [in]
 * @before: [in] grouped by the same keys; not changed, and not needed
 *          afterwards
 * Return: 0, or a negative errno.
 * Errors: EINVAL the keys are others; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_compare(struct pagedet_owners *owners,
			   const struct pagedet_owners *before);

/**
 * pagedet_owners_next - the next group
 * @owners: [in]
 * @ret: [in,out] size is the caller's
 * Return: 1, or 0 at the end.
 * Errors: E2BIG size is not that of any version.
 * Since: 0.1
 */
int pagedet_owners_next(struct pagedet_owners *owners,
			struct pagedet_owner_group *ret);

/**
 * pagedet_owners_text - the text behind a value
 * @owners: [in]
 * @id: [in] a value of a key that is a text
 * @len: [out,nullable] bytes; a text may hold any byte
 * Return: the text with a NUL behind it, or NULL: it is none
 *         [nullable] [borrowed: pagedet_owners_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_owners_text(const struct pagedet_owners *owners,
				uint64_t id, size_t *len);

/**
 * pagedet_owners_stack - the functions behind the id of a stack
 * @owners: [in]
 * @id: [in] a value of PAGEDET_OWNER_STACK
 * @frames: [out,nullable] [len: n] innermost first, as the kernel writes them
 *          [borrowed: the next call for a stack of these owners]
 * @n: [in]
 * Return: how many there are, or a negative errno.
 * Errors: ENOENT there is no such stack; ENOMEM.
 * Since: 0.1
 */
int pagedet_owners_stack(struct pagedet_owners *owners, uint64_t id,
			 const char **frames, uint32_t n);

/**
 * pagedet_owners_total - all groups together, and what is in none
 * @owners: [in]
 * @ret: [in,out] size is the caller's
 * Return: 0, or a negative errno.
 * Errors: E2BIG size is not that of any version.
 * Since: 0.1
 */
int pagedet_owners_total(const struct pagedet_owners *owners,
			 struct pagedet_owners_total *ret);

/**
 * pagedet_owners_free - free groups
 * @owners: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_owners_free(struct pagedet_owners *owners);

/* ------------------------------------------------------------------------
 * Evidence and findings: why is this page as it is?
 */

/* pagedet_evidence.questions, as bits */
enum pagedet_question {
	PAGEDET_ASK_MISMATCH = 1, /* contents here and at the peer differ */
	PAGEDET_ASK_NOT_FREE = 2,
	PAGEDET_ASK_NOT_MIGRATABLE = 4,
	PAGEDET_ASK_PINNED = 8,
	PAGEDET_ASK_UNRECLAIMABLE = 16,
	PAGEDET_ASK_UNACCOUNTED = 32, /* charged to no memory cgroup */
	PAGEDET_ASK_POISONED = 64,
	PAGEDET_ASK_LEAKED = 128 /* allocated, and nobody seems to use it */
};

/* Of what may not be known. */
enum pagedet_known {
	PAGEDET_DUNNO = 0,	/* nobody knows, or nobody asked */
	PAGEDET_YES = 1,
	PAGEDET_NO = 2
};

/* Index of the hashes in struct pagedet_evidence. */
enum pagedet_version {
	PAGEDET_AS_SENT = 0,	/* the last time that it was sent */
	PAGEDET_AS_NOW = 1,	/* here */
	PAGEDET_AS_AGAIN = 2,	/* here, read once more, later */
	PAGEDET_AS_PEER = 3	/* at the peer */
};

/* pagedet_evidence.here_read, peer_read: reading its bytes */
enum pagedet_read {
	PAGEDET_READ_DUNNO = 0,	/* not tried */
	PAGEDET_READ_DONE = 1,
	PAGEDET_READ_REFUSED = 2, /* EIO, EFAULT or SIGBUS, as of poisoned
				 * memory */
	PAGEDET_READ_OTHER = 3	/* failed otherwise */
};

/* pagedet_evidence.track: writes through the mapping that is tracked, since the
 * page was sent */
enum pagedet_writes {
	PAGEDET_WRITES_DUNNO = 0,
	PAGEDET_WRITES_NOT_ARMED = 1,
	PAGEDET_WRITES_SEEN = 2,
	PAGEDET_WRITES_NONE = 3
};

/* pagedet_evidence.mode */
enum pagedet_mode {
	PAGEDET_MODE_DUNNO = 0,
	PAGEDET_MODE_PRECOPY = 1,
	PAGEDET_MODE_MULTIFD = 2,
	PAGEDET_MODE_POSTCOPY = 3,
	PAGEDET_MODE_IGNORE_SHARED = 4,
	PAGEDET_MODE_SNAPSHOT = 5 /* saved and loaded, not migrated */
};

/* Words of a row in struct pagedet_evidence: so long may a struct pagedet_page
 * ever become, with all fields that there can be. */
#define PAGEDET_EVIDENCE_ROW 160
#define PAGEDET_EVIDENCE_TEXT 512

/*
 * struct pagedet_evidence - what is known of one page, to explain it.
 *
 * Flat, of fixed width, append only: it may be sent elsewhere, as it is among
 * machines that are alike, and by pagedet_evidence_save() otherwise. All zero
 * but for size means that nothing is known. Nothing points elsewhere: ids of
 * strings in the rows, and members whose comment says "text", are where in
 * texts the string begins, which ends with a zero; 0 is "".
 */
struct pagedet_evidence {
	uint64_t size;		/* sizeof(struct pagedet_evidence) */
	uint64_t id;		/* the caller's: findings carry it */
	uint64_t here[PAGEDET_EVIDENCE_ROW]; /* a struct pagedet_page, zeroes
				 * behind it */
	uint64_t peer[PAGEDET_EVIDENCE_ROW]; /* the same page at the peer */
	char texts[PAGEDET_EVIDENCE_TEXT]; /* the first is 0 */
	uint64_t hash[4];	/* by PAGEDET_AS_* */
	uint64_t hash_key[4];	/* which key and kind of hash: only hashes
				 * with the same number are compared */
	uint64_t hash_ns[4];	/* CLOCK_REALTIME; 0 not known */
	uint32_t hash_state[4];	/* PAGEDET_HAVE, or why it is not known;
				 * PAGEDET_NONE as sent: it never was */
	uint32_t zero[4];	/* PAGEDET_YES: all its bytes are zero, or would
				 * be read so: a hole in the file behind it */
	uint32_t questions;	/* PAGEDET_ASK_*; 0: what the evidence is
				 * about, and only what has a cause */
	uint32_t one_host;	/* YES: here and peer are one kernel */
	uint32_t here_frozen;	/* YES: nothing ran that may write it, from
				 * before it was read until after */
	uint32_t peer_frozen;
	uint32_t here_read;	/* PAGEDET_READ_* */
	uint32_t peer_read;
	uint32_t track;		/* PAGEDET_WRITES_* */
	uint32_t compared;	/* YES: the bytes of here and peer were; then
				 * bits and bytes count what differs */
	uint64_t bits;
	uint64_t bytes;
	uint32_t shape;		/* PAGEDET_SHAPE_* */
	uint32_t file_written;	/* YES: since the page was sent, by the file's
				 * mtime or by who was seen to write it */
	uint64_t file_ns;	/* its mtime; 0 not known. Stores through
				 * mappings may move it, too */
	uint64_t mappers;	/* mappings beyond those the caller knows */
	uint64_t mapper_comm;	/* text: who has one of them */
	uint32_t mapper_pid;	/* 0 not known */
	uint32_t extra_mappers;	/* YES: there are such mappings */
	uint32_t counters_here;	/* YES: counters of machine checks or EDAC
				 * moved since the page was sent */
	uint32_t counters_peer;
	uint32_t same_as_other;	/* YES: at the peer it is what another page is
				 * here; pagedet_explain() finds that among the
				 * evidence by itself */
	uint32_t unique;	/* YES: just one other page is; NO: many are */
	uint64_t same_as;	/* id of that page */
	uint32_t earlier;	/* YES: at the peer it is what it was here
				 * some time before it was sent last */
	uint32_t mode;		/* PAGEDET_MODE_* */
	uint32_t peer_complete;	/* NO: pages are still to come, as before
				 * postcopy ends */
	uint32_t peer_discarded; /* YES: the peer gave it back: a balloon, or a
				 * hole in its file */
	uint64_t pass_sent;	/* 1 is the first; 0 not known */
	uint64_t earlier_pass;	/* whose version it is; 0 not known */
	uint32_t alloc_task;	/* YES: who allocated it is still there */
	uint32_t no_swap;	/* YES: there is no space to swap to */
	uint64_t alloc_frame;	/* text: the function that wanted it */
	uint32_t here_hole;	/* YES: the file behind it has nothing there */
	uint32_t peer_hole;
};

/* pagedet_finding.verdict */
enum pagedet_finding_verdict {
	PAGEDET_VERDICT_CANNOT_TELL = 0,
	PAGEDET_VERDICT_CAUSE = 1,
	PAGEDET_VERDICT_FINE = 2 /* there is nothing to explain, or what is
				 * asked is not so */
};

/* pagedet_finding.confidence */
enum pagedet_confidence {
	PAGEDET_CONFIDENCE_NONE = 0, /* of PAGEDET_VERDICT_CANNOT_TELL */
	PAGEDET_CONFIDENCE_LOW = 1,
	PAGEDET_CONFIDENCE_MEDIUM = 2,
	PAGEDET_CONFIDENCE_HIGH = 3,
	PAGEDET_CONFIDENCE_CERTAIN = 4
};

/* pagedet_fact.side */
enum pagedet_side {
	PAGEDET_SIDE_BOTH = 0,	/* of the two, or of neither */
	PAGEDET_SIDE_HERE = 1,
	PAGEDET_SIDE_PEER = 2
};

/* One thing that a finding rests on. An element of arrays: it will not grow. */
struct pagedet_fact {
	uint64_t value;
	uint64_t time_ns;	/* CLOCK_REALTIME; 0 not known */
	const char *field;	/* of the row, or a member of the evidence */
	const char *text;	/* the value in words; names of bits are joined
				 * by '|' */
	const char *source;	/* as pagedet_source_name(), or "evidence": a
				 * member of it, whoever put it there */
	uint32_t type;		/* PAGEDET_TYPE_* of value */
	uint32_t side;		/* PAGEDET_SIDE_* */
};

/* One answer. */
struct pagedet_finding {
	uint64_t size;		/* sizeof(struct pagedet_finding) */
	uint64_t evidence;	/* which one of the array */
	uint64_t id;		/* its id */
	const char *name;	/* of the rule: "dirty-log-lost" */
	const char *cause;	/* one sentence */
	const char *likely;	/* what may have led to it, where the cause
				 * leaves that open; "" */
	const char *advice;	/* what to do */
	const struct pagedet_fact *facts; /* [len: n_facts] */
	const char *const *unknown; /* [len: n_unknown] what was not known and
				 * would have decided, or told more */
	uint32_t n_facts;
	uint32_t n_unknown;
	uint32_t rule;		/* its number */
	uint32_t question;	/* PAGEDET_ASK_*, one of them */
	uint32_t verdict;	/* PAGEDET_VERDICT_* */
	uint32_t confidence;	/* PAGEDET_CONFIDENCE_* in the cause */
	uint32_t likely_confidence; /* in what led to it */
	uint32_t reserved;
};

/* One rule. */
struct pagedet_rule {
	uint64_t size;		/* of this struct in the library that runs */
	const char *name;
	const char *cause;
	const char *advice;
	uint32_t id;		/* pinned */
	uint32_t question;	/* PAGEDET_ASK_* */
	uint32_t verdict;	/* PAGEDET_VERDICT_* */
	uint32_t reserved;
};

/**
 * pagedet_rule - the rules that explain pages
 * Of those for one question the first that fits is taken, in this order.
 * @n: [in] 0, 1, 2 ...
 * Return: rule @n, or NULL past the last [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const struct pagedet_rule *pagedet_rule(uint32_t n);

/**
 * pagedet_confidence_name - the name of a confidence
 * @confidence: [in] PAGEDET_CONFIDENCE_*
 * Return: "none", "low", "medium", "high", "certain", or NULL
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_confidence_name(uint32_t confidence);

/**
 * pagedet_question_by_name - find a question
 * @name: [in] "mismatch", "free", "migrate", "pinned", "reclaim", "charge",
 *        "poison", "leak"
 * Return: PAGEDET_ASK_*, or a negative errno.
 * Errors: ENOENT there is no such question.
 * Since: 0.1
 */
int pagedet_question_by_name(const char *name);

/**
 * pagedet_explain - find the causes that the evidence speaks for
 * Pure: no input, no output, no handle, no memory but the arena; may run on any
 * machine, and in several threads at once. Never says more than the evidence
 * does: contents are called equal or different for certain only if their bytes
 * were compared, hardware is not blamed without its counters, and what cannot
 * be told is a finding that names what is missing.
 * @evidence: [in] [len: n] all of the size that the first one says
 * @n: [in]
 * @arena: [out,nullable] [len: arena_len] what findings point to is written
 *         here. NULL with 0: they have no facts, nothing unknown is named, and
 *         pages are not looked for at the place of others
 * @arena_len: [in] bytes; 4096 for each finding, and 32 for each of @evidence
 *             is enough
 * @findings: [in,out] [len: max] the first one's size is set by the caller, and
 *            is how far apart they are; what they point to [borrowed: arena]
 * @max: [in] how many fit; for each of @evidence one for each question that is
 *       asked is enough
 * Return: how many findings there are; more than @max: these did not fit. Or a
 *         negative errno.
 * Errors: EINVAL a size is too small, or no multiple of 8, or there is too much
 *         evidence; E2BIG evidence has a non-zero byte that this library does
 *         not know; ENOMEM the arena is too small.
 * Since: 0.1
 */
int pagedet_explain(const struct pagedet_evidence *evidence, uint64_t n,
		    void *arena, uint64_t arena_len,
		    struct pagedet_finding *findings, uint64_t max);

/* pagedet_collect_options.options */
enum pagedet_collect_option {
	PAGEDET_COLLECT_CONTENT = 1, /* bytes may be read: zero, and the hash of
				 * now. Where only /proc can read them that
				 * marks pages as used */
	PAGEDET_COLLECT_AGAIN = 2, /* with CONTENT: when all else is done they
				 * are read once more, PAGEDET_AS_AGAIN */
	PAGEDET_COLLECT_FILE = 4 /* the file behind shared memory of a task may
				 * be opened: file_ns, here_hole. Of a page that
				 * no entry maps a hole reads as zeroes; with
				 * CONTENT what the file has is read, which may
				 * bring it in */
};

struct pagedet_track;

/* What to gather. Start from PAGEDET_COLLECT_OPTIONS_INIT. */
struct pagedet_collect_options {
	uint64_t size;		/* sizeof(struct pagedet_collect_options) */
	uint64_t deadline_ns;	/* for all of it, from the call; 0 none */
	uint64_t mappers_ns;	/* to look who else maps a page that has more
				 * mappings than are known: so long; 0 do not
				 * look */
	uint64_t known_mappers;	/* mappings of each page that the caller knows
				 * of; 0 is one for addresses, none for page
				 * frame numbers */
	uint32_t target;	/* PAGEDET_TARGET_PFN or _VIRT */
	uint32_t options;	/* PAGEDET_COLLECT_* */
	uint32_t questions;	/* for questions of the evidence */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 is the handle's */
	struct pagedet_track *track; /* [nullable] armed when the pages were
				 * sent, and not since: for track of pages of
				 * this process. It is read, not armed anew */
	const void *mark;	/* [nullable] [len: mark_size] of pagedet_mark()
				 * when the pages were sent: for
				 * counters_here */
	uint64_t mark_size;	/* bytes */
	uint64_t again_ns;	/* AGAIN: after the first reading no sooner than
				 * that; what changes rarely is seen if it is
				 * long. Waits if need be, but not if that is
				 * past the deadline: then it is not read */
};

#define PAGEDET_COLLECT_OPTIONS_INIT \
	{ sizeof(struct pagedet_collect_options), 0, 0, 0, \
	  PAGEDET_TARGET_VIRT, 0, 0, 0, NULL, NULL, 0, 0 }

/**
 * pagedet_collect - gather evidence about pages
 * Fills in what this kernel knows: the rows here, who else maps them, swap,
 * whether who allocated them is still there, and, if allowed, what is in them,
 * and when the file behind them was written. With a tracker whether they were
 * written, with a mark whether EDAC or machine checks have counted errors:
 * NO only where there is EDAC, for nothing else counts those that were
 * corrected, and no other counter moved. What is poisoned is tried to be read
 * where the entry maps it no longer, so that nothing can be touched. What
 * happened to the pages - what was sent, what the peer has, who was frozen -
 * only the caller knows, and adds.
 * @pd: [in] opened
 * @items: [in] [len: n] one page each: a pfn, or a pid and an address in the
 *         page; pid 0 is the caller's own process
 * @n: [in]
 * @options: [in,nullable] NULL is addresses, and only what is cheap
 * @evidence: [in,out] [len: n] the first one's size is set by the caller, and
 *            is how far apart they are; number i is about item i, which is its
 *            id. After the deadline what is missing says timeout
 * Return: how many of them have a row, or a negative errno.
 * Errors: EINVAL not open, another target, an item is of more than a page, the
 *         size of evidence is too small, AGAIN without CONTENT; E2BIG options
 *         has a non-zero byte or a bit that this library does not know; ESRCH
 *         no such task; EACCES ENOTSUP ENODATA EBADMSG ENOSYS as
 *         pagedet_query(); EBADMSG mark is none, or damaged; ECANCELED; EIO;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_collect(struct pagedet *pd, const struct pagedet_item *items,
		    uint64_t n, const struct pagedet_collect_options *options,
		    struct pagedet_evidence *evidence);

/**
 * pagedet_evidence_save - evidence as bytes, to be explained elsewhere
 * The same on every machine. Kernel addresses are left out, and keys of hashes
 * are numbers only.
 * @pd: [in] need not be opened
 * @evidence: [in] [len: n]
 * @n: [in]
 * @bytes: [out,nullable] [len: size] untouched if they do not fit
 * @size: [in]
 * @ret: [out] how many bytes it takes; more than @size: they did not fit
 * Return: 0, or a negative errno.
 * Errors: EINVAL the size of evidence is too small; E2BIG evidence has a
 *         non-zero byte that this library does not know; EOVERFLOW it is too
 *         much.
 * Since: 0.1
 */
int pagedet_evidence_save(struct pagedet *pd,
			  const struct pagedet_evidence *evidence, uint64_t n,
			  void *bytes, uint64_t size, uint64_t *ret);

/**
 * pagedet_evidence_load - evidence out of bytes that somebody sent
 * Believes nothing: what is damaged or cut off is refused as a whole. What a
 * newer library knows beyond this one is left out. That it is true what it says
 * is for the caller to judge: a checksum is no signature.
 * @pd: [in] need not be opened; pagedet_error() says what is wrong with them
 * @bytes: [in] [len: size]
 * @size: [in]
 * @evidence: [in,out] [len: max] the first one's size is set by the caller, and
 *            is how far apart they are
 * @max: [in]
 * Return: how many there are; more than @max: these did not fit. Or a negative
 *         errno.
 * Errors: EBADMSG they are none, damaged, or of a version unknown here; EINVAL
 *         the size of evidence is too small.
 * Since: 0.1
 */
int pagedet_evidence_load(struct pagedet *pd, const void *bytes, uint64_t size,
			  struct pagedet_evidence *evidence, uint64_t max);

/**
 * pagedet_evidence_join - what the peer has gathered, as the peer's side
 * Its row, its contents of now, whether they could be read, whether it was
 * frozen - not, if it read them twice and they were not the same - and its
 * counters. Its texts are left out. What is not said of the peer is unknown
 * afterwards, whatever was there.
 * @evidence: [in,out] [len: n] of this side, all of the size that the first one
 *            says
 * @n: [in]
 * @peer: [in] [len: n] number i is about the same page; of pagedet_collect() on
 *        the other host, with what its caller has added
 * Return: 0, or a negative errno.
 * Errors: EINVAL a size is too small, or no multiple of 8.
 * Since: 0.1
 */
int pagedet_evidence_join(struct pagedet_evidence *evidence, uint64_t n,
			  const struct pagedet_evidence *peer);

/* ------------------------------------------------------------------------
 * Checks: assertions about the cached pages of a file
 */

/* What is asserted. Pinned, as field ids are. */
enum pagedet_check_kind {
	PAGEDET_CHECK_CLEAN = 1, /* no page is dirty or under writeback */
	PAGEDET_CHECK_DISK = 2,	/* what is cached is what is on the disk */
	PAGEDET_CHECK_STABLE = 3, /* no page changes while it is written out */
	PAGEDET_CHECK_ABSENT = 4, /* no page is cached */
	PAGEDET_CHECK_COMMITTED = 5, /* what is cached is what would be on the
				 * disk after a crash now and a replay of the
				 * journal (ext4, xfs) */
	PAGEDET_CHECK_ERRORS = 6 /* no writeback of cached pages failed since a
				 * mark: of a file, of the filesystem that a
				 * directory or device has, or of any */
};

enum pagedet_verdict_id {
	PAGEDET_HOLDS = 1,
	PAGEDET_VIOLATED = 2,
	PAGEDET_CANNOT_TELL = 3
};

/* Why an assertion is violated, or why that cannot be told. */
enum pagedet_cause {
	PAGEDET_CAUSE_NONE = 0,	/* it holds */
	/* violated */
	PAGEDET_CAUSE_DIRTY = 1,
	PAGEDET_CAUSE_WRITEBACK = 2,
	PAGEDET_CAUSE_NOT_WRITTEN = 3, /* differs from the disk, and is dirty */
	PAGEDET_CAUSE_LOST_WRITE = 4, /* differs from the disk, and is clean */
	PAGEDET_CAUSE_DIFFERENT = 5, /* differs; whether it is lost or held back
				 * is not known */
	PAGEDET_CAUSE_CHANGED = 6, /* while it was written out */
	PAGEDET_CAUSE_CACHED = 7,
	PAGEDET_CAUSE_ERROR = 8, /* it was traced, or a counter says so */
	PAGEDET_CAUSE_NOT_COMMITTED = 9, /* neither the disk nor a commit of
				 * the journal has it */
	/* cannot tell */
	PAGEDET_CAUSE_UNKNOWN = 32, /* as the words say */
	PAGEDET_CAUSE_ACCESS = 33, /* a privilege is missing */
	PAGEDET_CAUSE_KERNEL = 34, /* the kernel lacks what it takes */
	PAGEDET_CAUSE_FILESYSTEM = 35, /* it does not say where the data is */
	PAGEDET_CAUSE_NETWORK = 36, /* the disk is another machine's */
	PAGEDET_CAUSE_ENCODED = 37, /* encrypted, compressed, inline */
	PAGEDET_CAUSE_UNWRITTEN = 38, /* no data on the disk yet */
	PAGEDET_CAUSE_JOURNAL = 39, /* the journal has, or may have, a newer
				 * copy */
	PAGEDET_CAUSE_UNREADABLE = 40, /* in the cache, and not up to date */
	PAGEDET_CAUSE_RACED = 41, /* it changed while it was looked at */
	PAGEDET_CAUSE_REPLACED = 42, /* the path names another file now, or the
				 * file became shorter */
	PAGEDET_CAUSE_IO = 43,	/* the disk could not be read */
	PAGEDET_CAUSE_TIMEOUT = 44 /* the deadline came first */
};

/* struct pagedet_check - start from PAGEDET_CHECK_INIT. All that it points to
 * is only read by pagedet_check(). */
struct pagedet_check {
	uint64_t size;		/* sizeof(struct pagedet_check) */
	const char *path;	/* [nullable] a regular file or a block device,
				 * of PAGEDET_CHECK_ERRORS also a directory;
				 * NULL: fd */
	uint64_t first;		/* page offset */
	uint64_t pages;		/* or PAGEDET_TO_END */
	uint64_t deadline_ns;	/* from the call; 0 none */
	uint64_t watch_ns;	/* PAGEDET_CHECK_STABLE: how long to look; 0 is
				 * a second */
	const void *mark;	/* [nullable] [len: mark_size]
				 * PAGEDET_CHECK_ERRORS: of pagedet_mark() or
				 * pagedet_mark_watch() */
	uint64_t mark_size;	/* bytes */
	uint32_t kind;		/* PAGEDET_CHECK_* */
	int32_t fd;		/* without path: open for reading, stays the
				 * caller's; -1 none: PAGEDET_CHECK_ERRORS of
				 * everything */
};

#define PAGEDET_CHECK_INIT \
	{ sizeof(struct pagedet_check), NULL, 0, PAGEDET_TO_END, 0, 0, NULL, \
	  0, 0, -1 }

struct pagedet_checked;

/* What is so in a range of pages: of a file whose folios are large, dirty and
 * writeback are those of the whole folio. */
struct pagedet_verdict {
	uint64_t size;		/* sizeof(struct pagedet_verdict) */
	uint64_t first;		/* page offset */
	uint64_t pages;
	uint64_t looked_at;	/* pages; of PAGEDET_CHECK_STABLE times that a
				 * page was looked at under writeback */
	uint64_t violations;	/* pages, or times; more may have gone unseen
				 * where not all could be looked at */
	uint64_t why;		/* text id for pagedet_checked_text() */
	uint32_t verdict;	/* PAGEDET_HOLDS ... */
	uint32_t cause;		/* PAGEDET_CAUSE_* */
};

/**
 * pagedet_check_by_name - find an assertion
 * @name: [in] "clean", "disk", "stable", "absent", "committed", "errors"
 * Return: PAGEDET_CHECK_*, or -ENOENT.
 * Errors: ENOENT.
 * Since: 0.1
 */
int pagedet_check_by_name(const char *name);

/**
 * pagedet_check_name - the name of an assertion
 * @kind: [in] PAGEDET_CHECK_*
 * Return: the name, or NULL for a number that means nothing here
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_check_name(uint32_t kind);

/**
 * pagedet_verdict_name - the name of a verdict
 * @verdict: [in] PAGEDET_HOLDS, PAGEDET_VIOLATED, PAGEDET_CANNOT_TELL
 * Return: "holds", "violated", "unknown", or NULL for another number
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_verdict_name(uint32_t verdict);

/**
 * pagedet_cause_name - the name of a cause
 * @cause: [in] PAGEDET_CAUSE_*
 * Return: "lost_write" ..., or NULL for a number that means nothing here
 *         [nullable] [borrowed: the library].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_cause_name(uint32_t cause);

/**
 * pagedet_check - check an assertion
 * Nothing is read into the cache, written out or marked. What cannot be told
 * is a verdict, not an error.
 * @pd: [in] opened: the running kernel
 * @check: [in]
 * @ret: [out] [owned: pagedet_checked_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such kind, neither path nor fd, an empty range,
 *         fd is not open for reading, what is named is neither a regular file
 *         nor a block device; E2BIG check has a non-zero byte that this library
 *         does not know; ENOENT no such file; EACCES it may not be read;
 *         EBADMSG mark is none, or damaged; ENOTSUP the handle is not of the
 *         running kernel; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_check(struct pagedet *pd, const struct pagedet_check *check,
		  struct pagedet_checked **ret);

/**
 * pagedet_checked_next - the next range that is not as asserted, or unknown
 * @checked: [in]
 * @ret: [in,out] size is the caller's
 * Return: 1, or 0 at the end.
 * Errors: EINVAL size is that of no version.
 * Since: 0.1
 */
int pagedet_checked_next(struct pagedet_checked *checked,
			 struct pagedet_verdict *ret);

/**
 * pagedet_checked_whole - the verdict on all that was asked
 * Violated if a range is; else unknown, if something could not be told.
 * @checked: [in]
 * @ret: [in,out] size is the caller's
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is that of no version.
 * Since: 0.1
 */
int pagedet_checked_whole(const struct pagedet_checked *checked,
			  struct pagedet_verdict *ret);

/**
 * pagedet_checked_text - the words behind a verdict
 * @checked: [in]
 * @id: [in] why of a verdict
 * Return: the words, or NULL: there are none
 *         [nullable] [borrowed: pagedet_checked_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_checked_text(const struct pagedet_checked *checked,
				 uint64_t id);

/**
 * pagedet_checked_free - free what was found
 * @checked: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_checked_free(struct pagedet_checked *checked);

/**
 * pagedet_mark - note how many errors there were, for PAGEDET_CHECK_ERRORS
 * What the kernel counts now: errors_count and warning_count of each ext4,
 * error_stats of each btrfs, ioerr_cnt of disks. And for pagedet_collect()
 * those of memory: ce_count and ue_count of each EDAC memory controller,
 * machine check exceptions, memory_failure of each node.
 * @pd: [in] opened: the running kernel
 * @mark: [out,nullable] [len: size]
 * @size: [in] bytes that fit; too few: nothing is written
 * Return: how many bytes it takes, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_mark(struct pagedet *pd, void *mark, size_t size);

/**
 * pagedet_mark_watch - the same, and trace failed writeback from now on
 * Not each failed write is counted, but the kernel notes each at its file.
 * Begins an instance of tracefs of its own, named in the mark, with at most 128
 * KiB of buffers for each processor, which stays until pagedet_mark_end(): also
 * when the process is gone. Of these there are never more than 8: the next one
 * ends the oldest. Where that cannot be, the mark says why, and has the
 * counters only.
 * Source: filemap_set_wb_err, file_check_and_advance_wb_err
 * (include/trace/events/filemap.h).
 * @pd: [in] opened: the running kernel
 * @mark: [out,nullable] [len: size]
 * @size: [in] bytes that fit; too few: nothing is written, and nothing begins
 * Return: how many bytes it takes, or takes at most if it was not written; or a
 *         negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel;
 *         ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_mark_watch(struct pagedet *pd, void *mark, size_t size);

/**
 * pagedet_mark_end - end the trace of a mark
 * Nothing is done for a mark that has none, or whose has ended. The mark stays
 * what it is; the best that it can show from then on is a counter that rose.
 * @pd: [in] opened: the running kernel
 * @mark: [in] [len: size]
 * @size: [in] bytes
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP the handle is not of the running kernel, or
 *         it has no tracefs; EBADMSG mark is none, or damaged; EACCES it takes
 *         root; EIO somebody reads the trace.
 * Since: 0.1
 */
int pagedet_mark_end(struct pagedet *pd, const void *mark, size_t size);

/* ------------------------------------------------------------------------
 * Differences: what changed between the rows of two questions
 */

/*
 * What happened at a place, from one question to the other. Pinned. Where
 * several did, the first of them by number is the one that it is called by. A
 * field that one side does not know is no change.
 */
enum pagedet_change_id {
	PAGEDET_CHANGE_APPEARED = 1, /* there was no page in use: no row, or one
				 * of a kind that is no page (free, hole,
				 * uninit, untouched, unmapped), or unknown and
				 * now something that this is not; by address,
				 * no present page. Now there is */
	PAGEDET_CHANGE_GONE = 2, /* the reverse */
	PAGEDET_CHANGE_REUSED = 3, /* another page at the same place: of another
				 * kind, of another file, of another place in
				 * it (by pfn, address), of another slab cache,
				 * or allocated at another time (by pfn) */
	PAGEDET_CHANGE_MIGRATED = 4, /* another frame for the same page. By pfn:
				 * the page of a file that is gone from one
				 * frame and appeared in another. By address or
				 * file: the pfn there is another one; copied
				 * on write is one way to that */
	PAGEDET_CHANGE_MOVED = 5, /* by pfn: what is gone from one frame and
				 * appeared in another, of no file and of the
				 * same kind, has the same hash, which no other
				 * page has on either side, and is not zero. By
				 * address: the frame that is gone from one
				 * address appeared at another, and is at no
				 * other on either side, as after mremap(2).
				 * Only if all was asked for and seen: scans or
				 * tasks, as a whole, without filter */
	PAGEDET_CHANGE_SPLIT = 6, /* order is less; or, without it, the page is
				 * no longer compound */
	PAGEDET_CHANGE_MERGED = 7, /* the reverse */
	PAGEDET_CHANGE_FLAGS = 8, /* bits of flags or pte that both sides know,
				 * or raw_flags */
	PAGEDET_CHANGE_OWNER = 9, /* who allocated or freed it, and how: fields
				 * of groups owner and file, tgid, comm,
				 * slab_cache, object */
	PAGEDET_CHANGE_MAPCOUNT = 10, /* mapcount, if both are exact or both
				 * averages, or, where mapcount_kind is not
				 * known, of one source of the same kernel; or
				 * user_maps */
	PAGEDET_CHANGE_MEMCG = 11, /* memcg_ino, memcg_path, memcg_name */
	PAGEDET_CHANGE_CONTENT = 12, /* content, entropy, or hash, if both are
				 * made under the same key */
	PAGEDET_CHANGE_OTHER = 13 /* any other field */
};

#define PAGEDET_CHANGE_MAX 32

/* By what rows of the two belong together. */
enum pagedet_diff_by {
	PAGEDET_DIFF_BY_PFN = 1, /* scan, cgroup, pfn, phys */
	PAGEDET_DIFF_BY_ADDRESS = 2, /* task, virt: pid and vaddr; vaddr alone
				 * if each side is about one task */
	PAGEDET_DIFF_BY_FILE = 3 /* file, block: index, whatever their names
				 * are; tree, mount: dev, inode and index */
};

/* What is to be known of a comparison, as bits. */
enum pagedet_diff_note {
	PAGEDET_DIFF_OTHER_BOOT = 1, /* of another boot or host: frames, inodes
				 * and other numbers of one mean nothing to the
				 * other, and are not compared */
	PAGEDET_DIFF_UNKNOWN_BOOT = 2, /* one does not say of which boot it is:
				 * taken for the same */
	PAGEDET_DIFF_OTHER_KEY = 4, /* hashes are of different keys */
	PAGEDET_DIFF_OTHER_PLACES = 8, /* the questions are not about the same
				 * places: what one side lacks was not asked
				 * for, and is neither gone nor new */
	PAGEDET_DIFF_PARTIAL = 16 /* a side was not answered as a whole, or its
				 * filter is unknown of some pages: the same */
};

/* One place. An element of arrays: it will not grow. */
struct pagedet_change {
	uint32_t change;	/* PAGEDET_CHANGE_*: the first of changes */
	uint32_t changes;	/* all of them: bits 1 << PAGEDET_CHANGE_* */
	uint64_t fields[2];	/* that differ; of a place that one side lacks
				 * none */
	uint64_t undecided[2];	/* that cannot be compared */
};

struct pagedet_diff_options {
	uint64_t size;		/* sizeof(struct pagedet_diff_options) */
	uint64_t row_size;	/* sizeof(struct pagedet_page) */
	uint64_t candidates;	/* pages held to the end because they may be
				 * somewhere else; 0 is 262144 */
	uint64_t max_rows;	/* of a side whose rows must be sorted, which
				 * are kept; 0 is 4194304. Rows of scan and
				 * cgroup need not be */
};

#define PAGEDET_DIFF_OPTIONS_INIT \
	{ sizeof(struct pagedet_diff_options), sizeof(struct pagedet_page), \
	  0, 0 }

/* All places together; what was so far. */
struct pagedet_diff_totals {
	uint64_t size;		/* sizeof(struct pagedet_diff_totals) */
	uint64_t rows[2];	/* of each side */
	uint64_t compared;	/* places that both sides have */
	uint64_t same;		/* places where all fields are the same, or
				 * that one side lacks and the other has no
				 * page at */
	uint64_t undecided;	/* places without a change of which something
				 * cannot be compared */
	uint64_t unmatched;	/* rows of one side, if it is not known whether
				 * the other has none or was not asked, or
				 * whether there is a page at all */
	uint64_t unplaced;	/* rows of no place, or a second one of it */
	uint64_t ambiguous;	/* gone or appeared, and more than one page may
				 * be the same */
	uint64_t spilled;	/* gone or appeared, and not looked for
				 * elsewhere: there were too many */
	uint64_t first[PAGEDET_CHANGE_MAX]; /* places, by change */
	uint64_t changes[PAGEDET_CHANGE_MAX]; /* places, by each of changes */
	uint64_t fields[2];	/* that both sides were asked for */
	uint64_t decided[2];	/* of them, compared at some place */
	uint64_t undecided_in[PAGEDET_FIELDS_MAX]; /* places, by field */
	uint32_t why[PAGEDET_FIELDS_MAX]; /* the first reason for that */
	uint32_t by;		/* PAGEDET_DIFF_BY_* */
	uint32_t notes;		/* PAGEDET_DIFF_* */
	uint32_t complete;	/* 1: both sides came to their end */
	uint32_t reserved;
};

struct pagedet_diff;

/**
 * pagedet_change_name - the name of a change
 * @change: [in] PAGEDET_CHANGE_*
 * Return: "appeared" ..., or NULL for a number that is none
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_change_name(uint32_t change);

/**
 * pagedet_saved_query - what a snapshot was the answer to
 * To ask the same of another kernel, or later: fields, target, items, path and
 * where are set, the rest is left as it is. With EOVERFLOW fields and target
 * are.
 * @pd: [in] opened: a snapshot
 * @query: [in,out] as for pagedet_query(); what it points to then
 *         [borrowed: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or size is that of no version; ENOENT it is no
 *         snapshot; EOVERFLOW there were more items than a snapshot keeps.
 * Since: 0.1
 */
int pagedet_saved_query(struct pagedet *pd, struct pagedet_query *query);

/**
 * pagedet_diff - what changed from one answer to another
 * Two iterators of one handle or of two, of which nothing was read yet: now and
 * before, a dump and what runs, two hosts. Rows belong together by place, see
 * PAGEDET_DIFF_BY_*; fields that both were asked for are compared, as far as
 * they mean the same on both sides. Rows of tasks and files are read here,
 * others by pagedet_diff_next().
 * @was: [in] lists rows: neither groups nor runs, PAGEDET_Q_KEEP_STRINGS has no
 *       effect; stays the caller's, is not to be used otherwise and to be freed
 *       after the difference
 * @now: [in] the same
 * @options: [in,nullable]
 * @ret: [out] [owned: pagedet_diff_free]
 * Return: 0, or a negative errno; the words are in the handle of @was.
 * Errors: EINVAL an iterator groups, folds runs or was read from, or the two
 *         are not about the same places, as a task and a file; ENODATA they
 *         cannot be compared: page size, architecture, frames of another boot,
 *         rows without what places are made of; EOVERFLOW more than max_rows;
 *         EBADMSG a snapshot's rows are not as it says; E2BIG options has a
 *         non-zero byte that this library does not know; ENOMEM; as
 *         pagedet_next().
 * Since: 0.1
 */
int pagedet_diff(struct pagedet_iter *was, struct pagedet_iter *now,
		 const struct pagedet_diff_options *options,
		 struct pagedet_diff **ret);

/**
 * pagedet_diff_next - the next places where something changed
 * In the order of places; those that appeared or are gone come last, if they
 * may be the same as others.
 * @diff: [in]
 * @changes: [out] [len: n]
 * @was: [out,nullable] [len: n], each options.row_size bytes; no cell is set of
 *       a place that this side lacks
 * @now: [out,nullable] [len: n] the same
 * @n: [in] how many fit, at least 1
 * Return: how many were written, 0 at the end, or a negative errno. Fewer than
 *         @n does not mean the end. After ETIMEDOUT and ECANCELED what was
 *         said so far is right.
 * Errors: EINVAL no room; EBADMSG a snapshot's rows are not as it says; as
 *         pagedet_next().
 * Since: 0.1
 */
int pagedet_diff_next(struct pagedet_diff *diff,
		      struct pagedet_change *changes, struct pagedet_page *was,
		      struct pagedet_page *now, uint32_t n);

/**
 * pagedet_diff_string - the text behind an id in was or now
 * @diff: [in]
 * @now: [in] 0 the row is of was, 1 of now
 * @id: [in] value of a field of type STRING or LIST
 * @len: [out,nullable] bytes, without the terminating NUL
 * Return: the text, or NULL if the id is no longer valid
 *         [nullable] [borrowed: the next call of pagedet_diff_next()].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_diff_string(const struct pagedet_diff *diff, uint32_t now,
				uint64_t id, size_t *len);

/**
 * pagedet_diff_totals - how many places changed, and what was not compared
 * @diff: [in]
 * @ret: [in,out] size is set by the caller
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is that of no version.
 * Since: 0.1
 */
int pagedet_diff_totals(const struct pagedet_diff *diff,
			struct pagedet_diff_totals *ret);

/**
 * pagedet_diff_free - end a comparison
 * @diff: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_diff_free(struct pagedet_diff *diff);

/* ------------------------------------------------------------------------
 * Emitters: rows become text
 */

enum pagedet_format_id {
	PAGEDET_FORMAT_TEXT = 1, /* for people */
	PAGEDET_FORMAT_JSON = 2, /* one object a line */
	PAGEDET_FORMAT_CSV = 3,	/* RFC 4180 but for line ends, which are LF;
				 * one header line */
	PAGEDET_FORMAT_ARROW = 4, /* IPC stream */
	PAGEDET_FORMAT_SVG = 5,	/* a picture of memory: cells in the colour of
				 * what most of their pages are. For
				 * PAGEDET_TARGET_SCAN and _CGROUP, with the
				 * pfn and the field "by" among the fields;
				 * with flags, poisoned and offline pages are
				 * marked. It is written when the emitter is
				 * finished, and shows the last query; pages
				 * that only queries before it had are pale,
				 * as what does not match a filter */
	PAGEDET_FORMAT_SNAPSHOT = 6 /* a file that pagedet_open() opens: rows of
				 * one query, no groups or runs */
};

enum pagedet_emit_option {
	PAGEDET_EMIT_COLOUR = 1,
	PAGEDET_EMIT_SOURCES = 2, /* say where each field came from */
	PAGEDET_EMIT_POINTERS = 4, /* show kernel addresses */
	PAGEDET_EMIT_STACKS = 8, /* rows are about who allocated and freed a
				 * page: text and JSON have the frames of each
				 * stack, JSON in objects "alloc" and "free" */
	PAGEDET_EMIT_LINEAR = 16, /* SVG: cells row by row instead of along
				 * Hilbert's curve */
	PAGEDET_EMIT_TOTALS = 32 /* differences: how many, not which */
};

struct pagedet_emit_options {
	uint64_t size;		/* sizeof(struct pagedet_emit_options) */
	uint32_t format;	/* PAGEDET_FORMAT_* */
	uint32_t options;	/* PAGEDET_EMIT_* */
	int32_t fd;		/* written to; -1 keeps the text in memory */
	uint32_t width;		/* terminal columns for text; 0 any */
	uint32_t by;		/* SVG: PAGEDET_FIELD_* of the colours; 0 is
				 * PAGEDET_FIELD_KIND */
	uint32_t reserved;
	const char *title;	/* [nullable] SVG: above the picture; NULL says
				 * what it shows */
};

#define PAGEDET_EMIT_OPTIONS_INIT \
	{ sizeof(struct pagedet_emit_options), PAGEDET_FORMAT_JSON, 0, -1, 0, \
	  0, 0, NULL }

/**
 * pagedet_emitter_new - make an emitter
 * @pd: [in]
 * @options: [in]
 * @ret: [out] [owned: pagedet_emitter_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such format or field; E2BIG options has a non-zero byte
 *         that this library does not know; ENOSYS the format was not built;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_emitter_new(struct pagedet *pd,
			const struct pagedet_emit_options *options,
			struct pagedet_emitter **ret);

/**
 * pagedet_emit_all - write everything that is left of an iterator
 * Makes no rows: the fast way out. Groups end with their total; mappers with a
 * summary per pfn. PAGEDET_FORMAT_SNAPSHOT takes the rows of one iterator; if
 * this fails, what was written is no whole file; but after a deadline or a
 * cancel it has the rows that came, and its coverage says that they are a part.
 * @emitter: [in]
 * @it: [in]
 * Return: 0, or a negative errno.
 * Errors: as pagedet_next(); EINVAL the format is SVG and the query cannot be
 *         drawn, or a snapshot, and there are groups, runs, or a second
 *         iterator; EIO writing failed.
 * Since: 0.1
 */
int pagedet_emit_all(struct pagedet_emitter *emitter, struct pagedet_iter *it);

/**
 * pagedet_emit_survey - write what every source can answer here
 * @emitter: [in]
 * @pd: [in] opened
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or the format is SVG; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_survey(struct pagedet_emitter *emitter, struct pagedet *pd);

/**
 * pagedet_emit_owners - write groups of owners, up to the end or a number
 * @emitter: [in]
 * @owners: [in] from the next group on
 * @max: [in] groups; UINT64_MAX is all
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is SVG; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_owners(struct pagedet_emitter *emitter,
			struct pagedet_owners *owners, uint64_t max);

/**
 * pagedet_emit_findings - write findings
 * @emitter: [in]
 * @findings: [in] [len: n] of pagedet_explain()
 * @n: [in]
 * @evidence: [in,nullable] that they were made of: then each one says of which
 *            page it is
 * Return: 0, or a negative errno.
 * Errors: EINVAL a size is not that of any version; EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_findings(struct pagedet_emitter *emitter,
			  const struct pagedet_finding *findings, uint64_t n,
			  const struct pagedet_evidence *evidence);

/**
 * pagedet_emit_checked - write what a check found, from the next range on
 * @emitter: [in]
 * @checked: [in]
 * Return: 0, or a negative errno.
 * Errors: EIO writing failed; ENOMEM.
 * Since: 0.1
 */
int pagedet_emit_checked(struct pagedet_emitter *emitter,
			 struct pagedet_checked *checked);

/**
 * pagedet_emit_diff - write what changed, up to the end
 * What was read by pagedet_diff_next() is not written again. SVG is a picture
 * of the frames of both: for PAGEDET_DIFF_BY_PFN, and if nothing was read yet.
 * @emitter: [in] that nothing else is written to
 * @diff: [in]
 * Return: 0, or a negative errno.
 * Errors: EINVAL the format is a snapshot, or SVG and this cannot be drawn;
 *         EIO writing failed; as pagedet_diff_next().
 * Since: 0.1
 */
int pagedet_emit_diff(struct pagedet_emitter *emitter,
		      struct pagedet_diff *diff);

/**
 * pagedet_emitter_finish - write what is held back
 * @emitter: [in]
 * Return: 0, or a negative errno.
 * Errors: EIO writing failed, for lack of space too.
 * Since: 0.1
 */
int pagedet_emitter_finish(struct pagedet_emitter *emitter);

/**
 * pagedet_emitter_text - what was written, for emitters without fd
 * @emitter: [in]
 * @len: [out] bytes
 * Return: the text; never NULL [borrowed: the next call on the emitter].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_emitter_text(struct pagedet_emitter *emitter, size_t *len);

/**
 * pagedet_emitter_free - free an emitter
 * What was not finished is not written.
 * @emitter: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_emitter_free(struct pagedet_emitter *emitter);

/* ------------------------------------------------------------------------
 * Write tracking: which pages of this process were written
 */

enum pagedet_track_method {
	PAGEDET_TRACK_UFFD = 1,	/* userfaultfd, asynchronous write-protection,
				 * and PAGEMAP_SCAN */
	PAGEDET_TRACK_SOFT_DIRTY = 2 /* clear_refs: clears the bits of the whole
				 * process, also for others who use them */
};

#define PAGEDET_TRACK_BIT(method) ((uint32_t)1 << (method))

/* Who can write a page, as a bit number. */
enum pagedet_track_writer {
	PAGEDET_WRITER_STORE = 0, /* of any thread, through the range */
	PAGEDET_WRITER_KERNEL = 1, /* for a system call, as read(2) into it */
	PAGEDET_WRITER_MEM_FILE = 2, /* /proc/PID/mem, ptrace */
	PAGEDET_WRITER_GIVE_BACK = 3, /* MADV_DONTNEED of private memory */
	PAGEDET_WRITER_OTHER_MAPPING = 4, /* the same memory mapped elsewhere */
	PAGEDET_WRITER_OTHER_PROCESS = 5,
	PAGEDET_WRITER_FILE = 6, /* write(2) to the file that is mapped */
	PAGEDET_WRITER_PUNCH = 7, /* a hole in it, or its end moved */
	PAGEDET_WRITER_DEVICE = 8 /* into pages pinned before */
};

enum pagedet_track_state {
	PAGEDET_TRACK_UNKNOWN = 1,
	PAGEDET_TRACK_WRITTEN = 2
};

/* Why it is not known whether pages were written. */
enum pagedet_track_why {
	PAGEDET_TRACK_NOT_ARMED = 1, /* pagedet_track_arm() was not called */
	PAGEDET_TRACK_UNMAPPED = 2,
	PAGEDET_TRACK_REMAPPED = 3, /* mapped after it was armed */
	PAGEDET_TRACK_TAKEN = 4, /* another userfaultfd is registered there */
	PAGEDET_TRACK_KIND = 5,	/* memory that the kernel does not track */
	PAGEDET_TRACK_READ_ONLY = 6, /* cannot be written by this mapping */
	PAGEDET_TRACK_CUT = 7,	/* the range ends within a huge page */
	PAGEDET_TRACK_NO_ENTRY = 8, /* no page there: never was, or given back,
				 * which soft-dirty bits do not show */
	PAGEDET_TRACK_FAILED = 9 /* the kernel failed to look */
};

enum pagedet_track_option {
	PAGEDET_TRACK_COUNT_HUGE = 1 /* at arming; two more looks at it all */
};

struct pagedet_track_options {
	uint64_t size;		/* sizeof(struct pagedet_track_options) */
	uint32_t methods;	/* PAGEDET_TRACK_BIT()s allowed; 0 is that of
				 * PAGEDET_TRACK_UFFD alone */
	uint32_t options;	/* PAGEDET_TRACK_COUNT_HUGE */
};

#define PAGEDET_TRACK_OPTIONS_INIT \
	{ sizeof(struct pagedet_track_options), 0, 0 }

/* An element of arrays: it will not grow. */
struct pagedet_track_range {
	uint64_t start;		/* address */
	uint64_t end;		/* address behind the last byte */
	uint32_t state;		/* PAGEDET_TRACK_WRITTEN or _UNKNOWN */
	uint32_t why;		/* PAGEDET_TRACK_*, if unknown */
};

struct pagedet_track_info {
	uint64_t size;		/* sizeof(struct pagedet_track_info) */
	uint64_t addr;
	uint64_t len;		/* bytes */
	uint64_t page_size;	/* bytes */
	uint64_t pages;		/* in the range */
	uint64_t armed;		/* pages of them, when last armed */
	uint64_t arms;		/* how often it was armed */
	uint64_t first_ns;	/* CLOCK_REALTIME when arming it last began */
	uint64_t last_ns;	/* and ended; 0 never */
	uint64_t huge_before;	/* pages mapped by huge entries before that */
	uint64_t huge_after;	/* and after it: what is less was split */
	uint32_t huge_state;	/* PAGEDET_HAVE, or why they are not known */
	uint32_t method;	/* PAGEDET_TRACK_* */
	uint32_t sees;		/* 1 << PAGEDET_WRITER_*: who is seen */
	uint32_t blind;		/* and who is not */
	uint32_t rearms;	/* 1: PAGEDET_TRACK_REARM can be had */
	uint32_t reserved;
};

/**
 * pagedet_track_new - prepare to track writes to memory of this process
 * Changes nothing yet. Only stores through this mapping are seen, and those
 * that info.sees names.
 * @pd: [in] for words; need not be open
 * @addr: [in] address, a multiple of the page size
 * @len: [in] bytes, a multiple of the page size
 * @options: [in,nullable]
 * @ret: [out] [owned: pagedet_track_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not whole pages, or none, or no such method; E2BIG options
 *         has a non-zero byte that this library does not know; ENOTSUP this
 *         kernel has no method that is allowed; EACCES the process may not use
 *         it; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_track_new(struct pagedet *pd, uint64_t addr, uint64_t len,
		      const struct pagedet_track_options *options,
		      struct pagedet_track **ret);

/**
 * pagedet_track_arm - from now on, pages count as not written
 * Kernel: UFFDIO_REGISTER, UFFDIO_WRITEPROTECT; or 4 into clear_refs. What is
 * written while it runs may count or not; called again, it forgets what was
 * not read.
 * @track: [in]
 * Return: 0; 1 some of the range is not armed, pagedet_track_read() says what
 *         and why; or a negative errno, and nothing is armed.
 * Errors: ENOTSUP nothing of it can be armed, in words; ESRCH after fork, in
 *         the child; EACCES ENOMEM EIO.
 * Since: 0.1
 */
int pagedet_track_arm(struct pagedet_track *track);

/* Options of pagedet_track_read(). */
#define PAGEDET_TRACK_REARM 1u	/* written pages count anew, without a gap */

/**
 * pagedet_track_read - which pages were written, or may have been
 * What is in no range was not written, from the old *@at to the new.
 * @track: [in]
 * @at: [in,out] 0 begins; then as it was left; 0 again at the end
 * @options: [in] PAGEDET_TRACK_REARM or 0
 * @ranges: [out] [len: n] ascending
 * @n: [in] how many fit, 1 or more
 * Return: how many there are, or a negative errno.
 * Errors: EINVAL *@at is not of this range, or there is no room; E2BIG unknown
 *         options; ENOTSUP this method cannot read and arm in one step; ESRCH
 *         after fork, in the child; ENOMEM; EIO.
 * Since: 0.1
 */
int pagedet_track_read(struct pagedet_track *track, uint64_t *at,
		       uint32_t options, struct pagedet_track_range *ranges,
		       uint32_t n);

/**
 * pagedet_track_why - words for why it is not known
 * @why: [in] PAGEDET_TRACK_NOT_ARMED ...
 * Return: the words, NULL if there is no such reason [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_track_why(uint32_t why);

/**
 * pagedet_track_info - how it is tracked, who is seen, how much
 * @track: [in]
 * @ret: [in,out] size is set by the caller
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_track_info(const struct pagedet_track *track,
		       struct pagedet_track_info *ret);

/**
 * pagedet_track_free - stop tracking
 * The range is as it was before, but for huge pages that were split.
 * @track: [in,nullable]
 * Errors: none.
 * Since: 0.1
 */
void pagedet_track_free(struct pagedet_track *track);

#ifdef __cplusplus
}
#endif

#endif /* PAGEDET_H */
