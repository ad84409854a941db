/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: a page as a row: fields, cells, values, flags. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

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
