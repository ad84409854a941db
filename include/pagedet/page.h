/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: one page as a row: its fields, cells, values and flags. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Fields, cells
 */

/*
 * Field ids. They are part of the ABI: a number is never reused, and a new one
 * goes last and is below PAGEDET_FIELDS_MAX. pagedet_field() describes each
 * field at run time; pagedet-fields(7) explains them.
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
	PAGEDET_FIELD_ENTROPY = 59,
	PAGEDET_FIELD_REASON = 60,
	PAGEDET_FIELD_EVENT_NS = 61,
	PAGEDET_FIELD_OBJECT_STATE = 62,
	PAGEDET_FIELD_ALLOC_SITE = 63,
	PAGEDET_FIELD_ALLOC_REQUESTED = 64,
	PAGEDET_FIELD_ALLOC_BYTES = 65,
	PAGEDET_FIELD_ALLOC_CPU = 66,
	PAGEDET_FIELD_PAGE_MOBILITY = 67,
	PAGEDET_FIELD_EVENT = 68,
	PAGEDET_FIELD_EVENT_FAMILY = 69,
	PAGEDET_FIELD_EVENT_CPU = 70,
	PAGEDET_FIELD_EVENT_TID = 71,
	PAGEDET_FIELD_EVENT_COMM = 72,
	PAGEDET_FIELD_EVENT_SITE = 73,
	PAGEDET_FIELD_EVENT_CACHE = 74,
	PAGEDET_FIELD_EVENT_LOST = 75,
	PAGEDET_FIELD_HEAT = 76,
	PAGEDET_FIELD_HEAT_CHECKS = 77,
	PAGEDET_FIELD_HEAT_AGE = 78,
	PAGEDET_FIELD_HEAT_BYTES = 79,
	PAGEDET_FIELD_HEAT_NS = 80,
	PAGEDET_FIELD_READS = 81,
	PAGEDET_FIELD_WRITES = 82
};

#define PAGEDET_FIELDS_MAX 128

/*
 * Each value has a cell of 16 bits. Its low byte is the state, its high byte is
 * the source. A value has a meaning only if its state is PAGEDET_HAVE.
 */
#define PAGEDET_CELL_STATE(cell) ((unsigned)(cell) & 0xffu)
#define PAGEDET_CELL_SOURCE(cell) ((unsigned)(cell) >> 8)

enum pagedet_state {
	PAGEDET_NOT_ASKED = 0,	/* the query did not ask for this field */
	PAGEDET_HAVE = 1,	/* answered */
	PAGEDET_NONE = 2,	/* definitely nothing there: an anonymous page
				 * has no inode */
	/* All following states are reasons for a missing answer. */
	PAGEDET_UNSUPPORTED = 16, /* no source here knows this field */
	PAGEDET_NOT_BUILT = 17,	/* the library was built without a part */
	PAGEDET_NO_KERNEL = 18,	/* the kernel lacks the feature or has it off */
	PAGEDET_NO_ACCESS = 19,	/* a privilege is missing */
	PAGEDET_NO_TYPES = 20,	/* the value needs BTF or debug information */
	PAGEDET_OLD_ROW = 21,	/* the caller's row ends before this field */
	PAGEDET_TOO_COSTLY = 22, /* the query did not allow this much work */
	PAGEDET_EXCLUDED = 23,	/* the dump, text or DAMON leaves it
				 * out, or it is of an earlier boot */
	PAGEDET_RACED = 24,	/* it changed while libpagedet read it */
	PAGEDET_CORRUPT = 25,	/* the kernel's structures contradict each
				 * other */
	PAGEDET_IO = 26,	/* reading failed */
	PAGEDET_NO_MEMORY = 27,	/* this process had no memory for it */
	PAGEDET_DENIED = 28,	/* this task or file refused access */
	PAGEDET_UNSAFE = 29,	/* reading it could harm the kernel or the
				 * caller */
	PAGEDET_TIMEOUT = 30	/* the deadline passed first */
};

/* The source of an answer. --backend takes the same names. */
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
	PAGEDET_SOURCE_DERIVED = 9,
	PAGEDET_SOURCE_TRACE = 10
};

#define PAGEDET_SOURCE_BIT(source) (1u << (source))

/* ------------------------------------------------------------------------
 * Values of the fields
 */

/* PAGEDET_FIELD_KIND */
enum pagedet_kind {
	PAGEDET_KIND_UNKNOWN = 0, /* memory whose use is unknown */
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
	PAGEDET_KIND_UNTOUCHED = 16, /* a VMA without a page table entry */
	PAGEDET_KIND_UNMAPPED = 17 /* an address without a VMA */
};

/*
 * Bits of PAGEDET_FIELD_FLAGS and PAGEDET_FIELD_FLAGS_KNOWN, as bit numbers.
 * Numbers below 60 are those of include/uapi/linux/kernel-page-flags.h (Linux
 * 6.12). A bit that a newer kernel adds therefore keeps its number and prints
 * as bitNN. Bits from 60 on belong to libpagedet: the kernel changed what their
 * own numbers mean.
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
	PAGEDET_PF_ANON_EXCLUSIVE = 61 /* the same kernel bit on anonymous
				 * pages */
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
	PAGEDET_PTE_FILE = 6,	/* file page or shared anonymous page */
	PAGEDET_PTE_ZERO = 7,	/* maps the zero page */
	PAGEDET_PTE_EXCLUSIVE = 8, /* no other mapping of the page exists */
	PAGEDET_PTE_SOFT_DIRTY = 9,
	PAGEDET_PTE_UFFD_WP = 10,
	PAGEDET_PTE_WRITTEN = 11, /* written since write tracking was armed */
	PAGEDET_PTE_YOUNG = 12,
	PAGEDET_PTE_DIRTY = 13,
	PAGEDET_PTE_WRITE = 14,
	PAGEDET_PTE_EXEC = 15
};

#define PAGEDET_PTE(bit) ((uint32_t)1 << (bit))

/* Bits of PAGEDET_FIELD_NOTES, as bit numbers: warnings about the row. */
enum pagedet_note {
	PAGEDET_NOTE_TORN = 0,	/* the page changed during the read */
	PAGEDET_NOTE_PERTURBED = 1, /* the read itself changed something */
	PAGEDET_NOTE_ESTIMATED = 2, /* a count is computed, not read */
	PAGEDET_NOTE_PARTIAL = 3, /* part of the answer is missing */
	PAGEDET_NOTE_STALE = 4,	/* the pfn is an old one that an entry kept */
	PAGEDET_NOTE_UNDECIDED = 5, /* the filter's result is unknown */
	PAGEDET_NOTE_UNCHECKED = 6, /* the translation was read only once */
	PAGEDET_NOTE_CHANGED = 7, /* differs from what the log says */
	PAGEDET_NOTE_EARLIER_BOOT = 8, /* the machine has restarted since */
	PAGEDET_NOTE_TIME_WENT_BACK = 9, /* perhaps it has: the log goes on with
				 * an earlier time, or a first line without */
	PAGEDET_NOTE_NEW_BOOT = 10 /* the report before it is of another boot,
				 * or may be */
};

#define PAGEDET_NOTE(bit) ((uint32_t)1 << (bit))

/* PAGEDET_FIELD_MAPCOUNT_KIND */
enum pagedet_mapcount_kind {
	PAGEDET_MAPCOUNT_EXACT = 1, /* the count of this page */
	PAGEDET_MAPCOUNT_AVERAGE = 2 /* the folio's count, per page */
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

/*
 * Bits of PAGEDET_FIELD_VMA_PROT. Text has the form of /proc/PID/maps: "rw-p".
 */
enum pagedet_prot {
	PAGEDET_PROT_READ = 1,
	PAGEDET_PROT_WRITE = 2,
	PAGEDET_PROT_EXEC = 4,
	PAGEDET_PROT_SHARED = 8
};

/* PAGEDET_FIELD_PTE_LEVEL: the level of the entry that maps the page. */
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

/* PAGEDET_FIELD_EVENT_FAMILY: which allocator an event is of */
enum pagedet_event_family {
	PAGEDET_FAMILY_KMALLOC = 1,
	PAGEDET_FAMILY_CACHE = 2, /* kmem_cache_alloc() and its frees */
	PAGEDET_FAMILY_PAGE = 3
};

/* PAGEDET_FIELD_OBJECT_STATE: what the slab of an object says about it; in rows
 * of PAGEDET_TARGET_OBJECTS also what its page says */
enum pagedet_object_state {
	PAGEDET_OBJECT_USED = 1,
	PAGEDET_OBJECT_FREE = 2
};

/* PAGEDET_FIELD_AT, in rows of PAGEDET_TARGET_LOG */
enum pagedet_at {
	PAGEDET_AT_LOG = 1,	/* the page as the log describes it */
	PAGEDET_AT_NOW = 2	/* the page as the kernel or dump has it */
};

/*
 * PAGEDET_FIELD_REPORT, in rows of PAGEDET_TARGET_LOG: the kind of log message
 */
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
	PAGEDET_REPORT_LIST = 13, /* an overwritten list_head */
	PAGEDET_REPORT_IO_ERROR = 14,
	PAGEDET_REPORT_HUNG_TASK = 15, /* a task waits for a migrating page */
	PAGEDET_REPORT_MIGRATION = 16, /* the kernel failed to migrate a page */
	PAGEDET_REPORT_FAULT = 17, /* a program's fault that raised a signal */
	PAGEDET_REPORT_KFENCE = 18, /* an access that KFENCE caught */
	PAGEDET_REPORT_BAD_PAGE_CACHE = 19 /* a page that is still mapped left
					    * the page cache */
};

/* ------------------------------------------------------------------------
 * The row
 */

/*
 * struct pagedet_page - the answer about one page. A row may instead describe
 * one address without a page, one mapping, one run or one group.
 *
 * Its members have a fixed width, and new ones are only appended.
 * pagedet_query.row_size holds the caller's size: a newer library fills only
 * that prefix, and an older one zeroes the rest. A comment "string id" or
 * "stack id" marks a u64 that pagedet_string() or pagedet_stack() looks up. An
 * id is valid until the iterator's next step.
 */
struct pagedet_page {
	uint16_t cell[PAGEDET_FIELDS_MAX]; /* by field id */

	uint64_t ask;		/* index of the query's item that this
				 * answers */
	uint64_t pages;		/* number of base pages in this row */
	uint64_t time_ns;	/* CLOCK_REALTIME of the read */
	uint64_t pfn;
	uint64_t vaddr;		/* address in the task or in the kernel */
	uint64_t head_pfn;	/* first page of the folio */
	uint64_t flags;		/* PAGEDET_PF_* bits */
	uint64_t flags_known;	/* the flags that this source can report */
	uint64_t raw_flags;	/* page->flags of this page itself */
	uint64_t refcount;	/* as int64_t: a log may have one below zero */
	uint64_t mapcount;	/* the same */
	uint64_t pincount;
	uint64_t comm;		/* string id */
	uint64_t swap_offset;	/* in pages */
	uint64_t vma_start;
	uint64_t vma_end;
	uint64_t vma_name;	/* string id */
	uint64_t user_maps;	/* mappings found in a walk of all tasks */
	uint64_t kernel_maps;
	uint64_t memcg_ino;	/* inode of the memory cgroup's directory */
	uint64_t memcg_path;	/* string id */
	uint64_t memcg_name;	/* string id */
	uint64_t dev;		/* major << 32 | minor */
	uint64_t inode;
	uint64_t index;		/* offset in the file, in base pages */
	uint64_t path;		/* string id */
	uint64_t slab_cache;	/* string id */
	uint64_t alloc_stack;	/* stack id: a hash of the frames' names, the
				 * same in every capture; see pagedet_stack() */
	uint64_t free_stack;
	uint64_t alloc_comm;	/* string id */
	uint64_t gfp_mask;	/* the kernel's own value */
	uint64_t gfp;		/* string id: names joined by '|' */
	uint64_t migratetype;	/* string id */
	uint64_t allocator;	/* string id */
	uint64_t alloc_ns;	/* time since boot */
	uint64_t free_ns;
	uint64_t migrate_reason; /* string id */
	uint64_t content;	/* string id: the class of the bytes, for
				 * example "zero"; pagedet-fields(7) lists
				 * them */
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
	uint64_t object;	/* string id: the object at a kernel address */
	uint64_t report;	/* PAGEDET_REPORT_* */
	uint64_t entropy;	/* entropy of the bytes, in 1/1000 bit per
				 * byte */
	uint64_t reason;	/* string id: why the log mentions the page */
	uint64_t event_ns;	/* when the kernel logged it, since boot; or of
				 * an event, in the clock of its trace */
	uint64_t alloc_site;	/* string id: the call that allocated it */
	uint64_t alloc_requested; /* bytes that the call asked for */
	uint64_t alloc_bytes;	/* bytes that it got */
	uint32_t alloc_cpu;
	uint32_t object_state;	/* PAGEDET_OBJECT_* */
	uint64_t page_mobility;	/* string id */
	uint64_t event_comm;	/* string id: the thread's name */
	uint64_t event_site;	/* string id: the call */
	uint64_t event_cache;	/* string id: the cache, by the event */
	uint64_t event_lost;	/* events that were lost before this row */
	uint32_t event;		/* PAGEDET_EVENT_* */
	uint32_t event_family;	/* PAGEDET_FAMILY_* */
	uint32_t event_cpu;
	uint32_t event_tid;	/* thread that was current */
	uint64_t heat;		/* how often DAMON saw an access to the region
				 * of the page */
	uint64_t heat_checks;	/* how often it looked */
	uint64_t heat_age;	/* for so many intervals it has been much the
				 * same */
	uint64_t heat_bytes;	/* of the region */
	uint64_t heat_ns;	/* end of the interval, CLOCK_REALTIME */
	uint64_t reads;		/* of the objects in the page, by a KMAP */
	uint64_t writes;	/* the same */
};

/* How to interpret and show the value of a field. */
enum pagedet_type {
	PAGEDET_TYPE_NUMBER = 1,
	PAGEDET_TYPE_HEX = 2,	/* number, shown as 0x... */
	PAGEDET_TYPE_ENUM = 3,	/* pagedet_value_name() names the value */
	PAGEDET_TYPE_MASK = 4,	/* pagedet_value_name() names each bit */
	PAGEDET_TYPE_STRING = 5, /* id for pagedet_string() */
	PAGEDET_TYPE_LIST = 6,	/* string id of names joined by '|' */
	PAGEDET_TYPE_STACK = 7,	/* id for pagedet_stack() */
	PAGEDET_TYPE_DEV = 8,	/* major << 32 | minor */
	PAGEDET_TYPE_PROT = 9,	/* PAGEDET_PROT_* bits */
	PAGEDET_TYPE_SIGNED = 10 /* number in two's complement: (int64_t)value.
				  * A count below zero is damaged, or, for a
				  * mapcount, the type of the page */
};

/*
 * struct pagedet_field_info - one field, as this library knows it.
 *
 * A row of the caller holds a field only if offset + width is at most the
 * caller's row_size.
 */
struct pagedet_field_info {
	uint64_t size;		/* this struct's size in the running library */
	uint32_t id;
	uint32_t type;		/* PAGEDET_TYPE_* */
	uint32_t offset;	/* offset in struct pagedet_page, bytes */
	uint32_t width;		/* 4 or 8 bytes */
	uint32_t position;	/* position in the output: 0, 1 ... */
	uint32_t known;		/* for a mask, the field that says which bits
				 * are known; otherwise its own id */
	const char *name;	/* the name in JSON, --fields and filters */
	const char *unit;	/* "pfn", "ns", "bytes", "pages", "millibits"
				 * or "" */
	const char *group;	/* the --fields group of this field */
	const char *since;	/* the release that added it */
	const char *text;	/* a description in one line */
};
