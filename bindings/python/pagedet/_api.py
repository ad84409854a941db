# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The C API of libpagedet for ctypes: constants, structs, prototypes.

Written by scripts/gen-api from bindings/pagedet-api.json; do not edit.
"""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int,
                    c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64,
                    c_uint8, c_void_p)

API_VERSION = "0.1.0"

PAGEDET_VERSION_MAJOR = 0
PAGEDET_VERSION_MINOR = 1
PAGEDET_VERSION_PATCH = 0
PAGEDET_FIELDS_MAX = 128
PAGEDET_TO_END = 18446744073709551615
PAGEDET_ORDER_MAX = 65536
PAGEDET_SUMS = 16
PAGEDET_OWNER_KEYS = 16
PAGEDET_ALLOC_KEYS = 16
PAGEDET_KMAP_KEYS = 8
PAGEDET_MEMORIZER_CONTROLS = 15
PAGEDET_EVIDENCE_ROW = 160
PAGEDET_EVIDENCE_TEXT = 512
PAGEDET_CHANGE_MAX = 32
PAGEDET_TRACK_REARM = 1
PAGEDET_NO_PAGE = 18446744073709551615

# enum pagedet_field_id
PAGEDET_FIELD_ASK = 0
PAGEDET_FIELD_PAGES = 1
PAGEDET_FIELD_TIME_NS = 2
PAGEDET_FIELD_NOTES = 3
PAGEDET_FIELD_PFN = 4
PAGEDET_FIELD_VADDR = 5
PAGEDET_FIELD_HEAD_PFN = 6
PAGEDET_FIELD_ORDER = 7
PAGEDET_FIELD_NODE = 8
PAGEDET_FIELD_ZONE = 9
PAGEDET_FIELD_KIND = 10
PAGEDET_FIELD_FLAGS = 11
PAGEDET_FIELD_FLAGS_KNOWN = 12
PAGEDET_FIELD_RAW_FLAGS = 13
PAGEDET_FIELD_REFCOUNT = 14
PAGEDET_FIELD_MAPCOUNT = 15
PAGEDET_FIELD_MAPCOUNT_KIND = 16
PAGEDET_FIELD_PINCOUNT = 17
PAGEDET_FIELD_PID = 18
PAGEDET_FIELD_TGID = 19
PAGEDET_FIELD_COMM = 20
PAGEDET_FIELD_PTE = 21
PAGEDET_FIELD_PTE_KNOWN = 22
PAGEDET_FIELD_PTE_LEVEL = 23
PAGEDET_FIELD_SWAP_TYPE = 24
PAGEDET_FIELD_SWAP_OFFSET = 25
PAGEDET_FIELD_VMA_START = 26
PAGEDET_FIELD_VMA_END = 27
PAGEDET_FIELD_VMA_PROT = 28
PAGEDET_FIELD_VMA_NAME = 29
PAGEDET_FIELD_USER_MAPS = 30
PAGEDET_FIELD_KERNEL_MAPS = 31
PAGEDET_FIELD_MEMCG_INO = 32
PAGEDET_FIELD_MEMCG_PATH = 33
PAGEDET_FIELD_MEMCG_NAME = 34
PAGEDET_FIELD_DEV = 35
PAGEDET_FIELD_INODE = 36
PAGEDET_FIELD_INDEX = 37
PAGEDET_FIELD_PATH = 38
PAGEDET_FIELD_SLAB_CACHE = 39
PAGEDET_FIELD_ALLOC_STACK = 40
PAGEDET_FIELD_FREE_STACK = 41
PAGEDET_FIELD_ALLOC_PID = 42
PAGEDET_FIELD_ALLOC_TGID = 43
PAGEDET_FIELD_ALLOC_COMM = 44
PAGEDET_FIELD_GFP_MASK = 45
PAGEDET_FIELD_GFP = 46
PAGEDET_FIELD_ALLOC_ORDER = 47
PAGEDET_FIELD_MIGRATETYPE = 48
PAGEDET_FIELD_ALLOCATOR = 49
PAGEDET_FIELD_ALLOC_NS = 50
PAGEDET_FIELD_FREE_NS = 51
PAGEDET_FIELD_MIGRATE_REASON = 52
PAGEDET_FIELD_CONTENT = 53
PAGEDET_FIELD_HASH = 54
PAGEDET_FIELD_MAP = 55
PAGEDET_FIELD_AT = 56
PAGEDET_FIELD_OBJECT = 57
PAGEDET_FIELD_REPORT = 58
PAGEDET_FIELD_ENTROPY = 59
PAGEDET_FIELD_REASON = 60
PAGEDET_FIELD_EVENT_NS = 61
PAGEDET_FIELD_OBJECT_STATE = 62
PAGEDET_FIELD_ALLOC_SITE = 63
PAGEDET_FIELD_ALLOC_REQUESTED = 64
PAGEDET_FIELD_ALLOC_BYTES = 65
PAGEDET_FIELD_ALLOC_CPU = 66
PAGEDET_FIELD_PAGE_MOBILITY = 67
PAGEDET_FIELD_EVENT = 68
PAGEDET_FIELD_EVENT_FAMILY = 69
PAGEDET_FIELD_EVENT_CPU = 70
PAGEDET_FIELD_EVENT_TID = 71
PAGEDET_FIELD_EVENT_COMM = 72
PAGEDET_FIELD_EVENT_SITE = 73
PAGEDET_FIELD_EVENT_CACHE = 74
PAGEDET_FIELD_EVENT_LOST = 75
PAGEDET_FIELD_HEAT = 76
PAGEDET_FIELD_HEAT_CHECKS = 77
PAGEDET_FIELD_HEAT_AGE = 78
PAGEDET_FIELD_HEAT_BYTES = 79
PAGEDET_FIELD_HEAT_NS = 80
PAGEDET_FIELD_READS = 81
PAGEDET_FIELD_WRITES = 82

# enum pagedet_state
PAGEDET_NOT_ASKED = 0
PAGEDET_HAVE = 1
PAGEDET_NONE = 2
PAGEDET_UNSUPPORTED = 16
PAGEDET_NOT_BUILT = 17
PAGEDET_NO_KERNEL = 18
PAGEDET_NO_ACCESS = 19
PAGEDET_NO_TYPES = 20
PAGEDET_OLD_ROW = 21
PAGEDET_TOO_COSTLY = 22
PAGEDET_EXCLUDED = 23
PAGEDET_RACED = 24
PAGEDET_CORRUPT = 25
PAGEDET_IO = 26
PAGEDET_NO_MEMORY = 27
PAGEDET_DENIED = 28
PAGEDET_UNSAFE = 29
PAGEDET_TIMEOUT = 30

# enum pagedet_source
PAGEDET_SOURCE_NOBODY = 0
PAGEDET_SOURCE_PROCFS = 1
PAGEDET_SOURCE_PAGE_DETECTIVE = 2
PAGEDET_SOURCE_PAGE_OWNER = 3
PAGEDET_SOURCE_BPF = 4
PAGEDET_SOURCE_KCORE = 5
PAGEDET_SOURCE_VMCORE = 6
PAGEDET_SOURCE_SNAPSHOT = 7
PAGEDET_SOURCE_LOG = 8
PAGEDET_SOURCE_DERIVED = 9
PAGEDET_SOURCE_TRACE = 10

# enum pagedet_kind
PAGEDET_KIND_UNKNOWN = 0
PAGEDET_KIND_FREE = 1
PAGEDET_KIND_ANON = 2
PAGEDET_KIND_FILE = 3
PAGEDET_KIND_SHMEM = 4
PAGEDET_KIND_HUGETLB = 5
PAGEDET_KIND_SLAB = 6
PAGEDET_KIND_PGTABLE = 7
PAGEDET_KIND_ZERO = 8
PAGEDET_KIND_RESERVED = 9
PAGEDET_KIND_OFFLINE = 10
PAGEDET_KIND_ZSMALLOC = 11
PAGEDET_KIND_DEVICE = 12
PAGEDET_KIND_KERNEL = 13
PAGEDET_KIND_HOLE = 14
PAGEDET_KIND_UNINIT = 15
PAGEDET_KIND_UNTOUCHED = 16
PAGEDET_KIND_UNMAPPED = 17

# enum pagedet_page_flag
PAGEDET_PF_LOCKED = 0
PAGEDET_PF_ERROR = 1
PAGEDET_PF_REFERENCED = 2
PAGEDET_PF_UPTODATE = 3
PAGEDET_PF_DIRTY = 4
PAGEDET_PF_LRU = 5
PAGEDET_PF_ACTIVE = 6
PAGEDET_PF_SLAB = 7
PAGEDET_PF_WRITEBACK = 8
PAGEDET_PF_RECLAIM = 9
PAGEDET_PF_BUDDY = 10
PAGEDET_PF_MMAP = 11
PAGEDET_PF_ANON = 12
PAGEDET_PF_SWAPCACHE = 13
PAGEDET_PF_SWAPBACKED = 14
PAGEDET_PF_COMPOUND_HEAD = 15
PAGEDET_PF_COMPOUND_TAIL = 16
PAGEDET_PF_HUGE = 17
PAGEDET_PF_UNEVICTABLE = 18
PAGEDET_PF_HWPOISON = 19
PAGEDET_PF_NOPAGE = 20
PAGEDET_PF_KSM = 21
PAGEDET_PF_THP = 22
PAGEDET_PF_OFFLINE = 23
PAGEDET_PF_ZERO_PAGE = 24
PAGEDET_PF_IDLE = 25
PAGEDET_PF_PGTABLE = 26
PAGEDET_PF_RESERVED = 32
PAGEDET_PF_MLOCKED = 33
PAGEDET_PF_OWNER_2 = 34
PAGEDET_PF_PRIVATE = 35
PAGEDET_PF_PRIVATE_2 = 36
PAGEDET_PF_OWNER_PRIVATE = 37
PAGEDET_PF_ARCH = 38
PAGEDET_PF_UNCACHED = 39
PAGEDET_PF_ARCH_2 = 41
PAGEDET_PF_ARCH_3 = 42
PAGEDET_PF_MAPPEDTODISK = 60
PAGEDET_PF_ANON_EXCLUSIVE = 61

# enum pagedet_pte_flag
PAGEDET_PTE_PRESENT = 0
PAGEDET_PTE_SWAPPED = 1
PAGEDET_PTE_GUARD = 2
PAGEDET_PTE_MIGRATION = 3
PAGEDET_PTE_HWPOISON = 4
PAGEDET_PTE_DEVICE = 5
PAGEDET_PTE_FILE = 6
PAGEDET_PTE_ZERO = 7
PAGEDET_PTE_EXCLUSIVE = 8
PAGEDET_PTE_SOFT_DIRTY = 9
PAGEDET_PTE_UFFD_WP = 10
PAGEDET_PTE_WRITTEN = 11
PAGEDET_PTE_YOUNG = 12
PAGEDET_PTE_DIRTY = 13
PAGEDET_PTE_WRITE = 14
PAGEDET_PTE_EXEC = 15

# enum pagedet_note
PAGEDET_NOTE_TORN = 0
PAGEDET_NOTE_PERTURBED = 1
PAGEDET_NOTE_ESTIMATED = 2
PAGEDET_NOTE_PARTIAL = 3
PAGEDET_NOTE_STALE = 4
PAGEDET_NOTE_UNDECIDED = 5
PAGEDET_NOTE_UNCHECKED = 6
PAGEDET_NOTE_CHANGED = 7
PAGEDET_NOTE_EARLIER_BOOT = 8
PAGEDET_NOTE_TIME_WENT_BACK = 9
PAGEDET_NOTE_NEW_BOOT = 10

# enum pagedet_mapcount_kind
PAGEDET_MAPCOUNT_EXACT = 1
PAGEDET_MAPCOUNT_AVERAGE = 2

# enum pagedet_zone
PAGEDET_ZONE_DMA = 0
PAGEDET_ZONE_DMA32 = 1
PAGEDET_ZONE_NORMAL = 2
PAGEDET_ZONE_HIGHMEM = 3
PAGEDET_ZONE_MOVABLE = 4
PAGEDET_ZONE_DEVICE = 5

# enum pagedet_prot
PAGEDET_PROT_READ = 1
PAGEDET_PROT_WRITE = 2
PAGEDET_PROT_EXEC = 4
PAGEDET_PROT_SHARED = 8

# enum pagedet_pte_level
PAGEDET_LEVEL_PTE = 1
PAGEDET_LEVEL_PMD = 2
PAGEDET_LEVEL_PUD = 3
PAGEDET_LEVEL_P4D = 4
PAGEDET_LEVEL_PGD = 5

# enum pagedet_map
PAGEDET_MAP_USER = 1
PAGEDET_MAP_DIRECT = 2
PAGEDET_MAP_VMALLOC = 3
PAGEDET_MAP_OTHER = 4

# enum pagedet_event_family
PAGEDET_FAMILY_KMALLOC = 1
PAGEDET_FAMILY_CACHE = 2
PAGEDET_FAMILY_PAGE = 3

# enum pagedet_object_state
PAGEDET_OBJECT_USED = 1
PAGEDET_OBJECT_FREE = 2

# enum pagedet_at
PAGEDET_AT_LOG = 1
PAGEDET_AT_NOW = 2

# enum pagedet_report
PAGEDET_REPORT_PAGE_DETECTIVE = 1
PAGEDET_REPORT_DUMP_PAGE = 2
PAGEDET_REPORT_BAD_PAGE_STATE = 3
PAGEDET_REPORT_BAD_PAGE_MAP = 4
PAGEDET_REPORT_MEMORY_FAILURE = 5
PAGEDET_REPORT_SOFT_OFFLINE = 6
PAGEDET_REPORT_UNPOISON = 7
PAGEDET_REPORT_MACHINE_CHECK = 8
PAGEDET_REPORT_EDAC = 9
PAGEDET_REPORT_APEI = 10
PAGEDET_REPORT_SLAB = 11
PAGEDET_REPORT_KASAN = 12
PAGEDET_REPORT_LIST = 13
PAGEDET_REPORT_IO_ERROR = 14
PAGEDET_REPORT_HUNG_TASK = 15
PAGEDET_REPORT_MIGRATION = 16
PAGEDET_REPORT_FAULT = 17
PAGEDET_REPORT_KFENCE = 18
PAGEDET_REPORT_BAD_PAGE_CACHE = 19

# enum pagedet_type
PAGEDET_TYPE_NUMBER = 1
PAGEDET_TYPE_HEX = 2
PAGEDET_TYPE_ENUM = 3
PAGEDET_TYPE_MASK = 4
PAGEDET_TYPE_STRING = 5
PAGEDET_TYPE_LIST = 6
PAGEDET_TYPE_STACK = 7
PAGEDET_TYPE_DEV = 8
PAGEDET_TYPE_PROT = 9
PAGEDET_TYPE_SIGNED = 10

# enum pagedet_log_level
PAGEDET_LOG_ERROR = 0
PAGEDET_LOG_WARNING = 1
PAGEDET_LOG_INFO = 2
PAGEDET_LOG_DEBUG = 3

# enum pagedet_fd_kind
PAGEDET_FD_KPAGEFLAGS = 1
PAGEDET_FD_KPAGECOUNT = 2
PAGEDET_FD_KPAGECGROUP = 3
PAGEDET_FD_PAGEMAP = 4
PAGEDET_FD_MAPS = 5

# enum pagedet_tier
PAGEDET_TIER_VMCOREINFO = 1
PAGEDET_TIER_TYPES = 2
PAGEDET_TIER_VMLINUX = 3

# enum pagedet_cost
PAGEDET_COST_FREE = 0
PAGEDET_COST_READ = 1
PAGEDET_COST_LOOKUP = 2
PAGEDET_COST_SWEEP = 3
PAGEDET_COST_CONTENT = 4
PAGEDET_COST_INTRUSIVE = 5

# enum pagedet_target
PAGEDET_TARGET_NOTHING = 0
PAGEDET_TARGET_PFN = 1
PAGEDET_TARGET_PHYS = 2
PAGEDET_TARGET_VIRT = 3
PAGEDET_TARGET_TASK = 4
PAGEDET_TARGET_FILE = 5
PAGEDET_TARGET_TREE = 6
PAGEDET_TARGET_MOUNT = 7
PAGEDET_TARGET_BLOCK = 8
PAGEDET_TARGET_CGROUP = 9
PAGEDET_TARGET_KADDR = 10
PAGEDET_TARGET_LOG = 11
PAGEDET_TARGET_SCAN = 12
PAGEDET_TARGET_MAPPERS = 13
PAGEDET_TARGET_OBJECTS = 14
PAGEDET_TARGET_EVENTS = 15

# enum pagedet_kaddr
PAGEDET_KADDR_ANY = 0
PAGEDET_KADDR_MEMORY = 1
PAGEDET_KADDR_PAGE = 2
PAGEDET_KADDR_FOLIO = 3

# enum pagedet_query_option
PAGEDET_Q_CHEAP = 1
PAGEDET_Q_RUNS = 2
PAGEDET_Q_UNDECIDED = 4
PAGEDET_Q_SINGLE_SOURCE = 8
PAGEDET_Q_KEEP_STRINGS = 16
PAGEDET_Q_UNCHECKED = 32
PAGEDET_Q_HOLES = 64
PAGEDET_Q_GROUP = 128
PAGEDET_Q_TASK_STACKS = 256
PAGEDET_Q_ANY_BOOT = 512
PAGEDET_Q_USER_STACKS = 1024
PAGEDET_Q_POINTERS = 2048
PAGEDET_Q_STOP_THREADS = 4096
PAGEDET_Q_PERF_MAP = 8192

# enum pagedet_order
PAGEDET_ORDER_WALK = 0
PAGEDET_ORDER_ANY = 1
PAGEDET_ORDER_UP = 2
PAGEDET_ORDER_DOWN = 3

# enum pagedet_frame_type
PAGEDET_FRAME_UNKNOWN = 0
PAGEDET_FRAME_USER = 1
PAGEDET_FRAME_VDSO = 2
PAGEDET_FRAME_SIGNAL = 3
PAGEDET_FRAME_JIT = 4

# enum pagedet_content_want
PAGEDET_CONTENT_CLASS = 1
PAGEDET_CONTENT_HASH = 2
PAGEDET_CONTENT_ENTROPY = 4

# enum pagedet_shape
PAGEDET_SHAPE_SAME = 1
PAGEDET_SHAPE_BIT = 2
PAGEDET_SHAPE_BYTE = 3
PAGEDET_SHAPE_WORD = 4
PAGEDET_SHAPE_LINE = 5
PAGEDET_SHAPE_SECTOR = 6
PAGEDET_SHAPE_ZEROED = 7
PAGEDET_SHAPE_POISONED = 8
PAGEDET_SHAPE_SWAPPED = 9
PAGEDET_SHAPE_SHIFTED = 10
PAGEDET_SHAPE_TAIL = 11
PAGEDET_SHAPE_SCATTERED = 12

# enum pagedet_differs
PAGEDET_DIFFERS_NEITHER = 0
PAGEDET_DIFFERS_A = 1
PAGEDET_DIFFERS_B = 2

# enum pagedet_task_flag
PAGEDET_TASK_KTHREAD = 1
PAGEDET_TASK_HAS_PARENT = 2
PAGEDET_TASK_HAS_RSS = 4
PAGEDET_TASK_HAS_START = 8

# enum pagedet_tasks_option
PAGEDET_TASKS_PROCESSES = 1

# enum pagedet_sum
PAGEDET_SUM_RSS = 0
PAGEDET_SUM_PSS = 1
PAGEDET_SUM_USS = 2
PAGEDET_SUM_SHARED = 3
PAGEDET_SUM_DIRTY = 4
PAGEDET_SUM_SWAP = 5
PAGEDET_SUM_HUGETLB = 6

# enum pagedet_owner_key
PAGEDET_OWNER_STACK = 0
PAGEDET_OWNER_PID = 1
PAGEDET_OWNER_TGID = 2
PAGEDET_OWNER_COMM = 3
PAGEDET_OWNER_MEMCG_NAME = 4
PAGEDET_OWNER_ORDER = 5
PAGEDET_OWNER_GFP = 6
PAGEDET_OWNER_MIGRATETYPE = 7
PAGEDET_OWNER_ALLOCATOR = 8
PAGEDET_OWNER_MODULE = 9
PAGEDET_OWNER_SLAB = 10
PAGEDET_OWNER_MIGRATE_REASON = 11
PAGEDET_OWNER_WINDOW = 12
PAGEDET_OWNER_PAGE_MOBILITY = 13
PAGEDET_OWNER_BLOCK = 14
PAGEDET_OWNER_NODE = 15
PAGEDET_OWNER_ZONE = 16

# enum pagedet_owners_sort
PAGEDET_OWNERS_SORT_PAGES = 0
PAGEDET_OWNERS_SORT_TIMES = 1
PAGEDET_OWNERS_SORT_OLDEST = 2
PAGEDET_OWNERS_SORT_NEWEST = 3
PAGEDET_OWNERS_SORT_KEYS = 4
PAGEDET_OWNERS_SORT_BLOCKS = 5

# enum pagedet_owners_option
PAGEDET_OWNERS_REVERSE = 1
PAGEDET_OWNERS_MIXED = 2

# enum pagedet_alloc_key
PAGEDET_ALLOC_SITE = 0
PAGEDET_ALLOC_FUNCTION = 1
PAGEDET_ALLOC_MODULE = 2
PAGEDET_ALLOC_CACHE = 3
PAGEDET_ALLOC_FAMILY = 4
PAGEDET_ALLOC_CPU = 5
PAGEDET_ALLOC_NODE = 6
PAGEDET_ALLOC_TID = 7
PAGEDET_ALLOC_COMM = 8
PAGEDET_ALLOC_GFP = 9
PAGEDET_ALLOC_ORDER = 10
PAGEDET_ALLOC_MIGRATETYPE = 11
PAGEDET_ALLOC_BYTES_REQ = 12
PAGEDET_ALLOC_BYTES_ALLOC = 13
PAGEDET_ALLOC_LIFETIME = 14
PAGEDET_ALLOC_WINDOW = 15
PAGEDET_ALLOC_STACK = 16

# enum pagedet_found
PAGEDET_FOUND_DISORDER = 0
PAGEDET_FOUND_KFREE = 1
PAGEDET_FOUND_CACHE_FREE = 2
PAGEDET_FOUND_TOO_SMALL = 3
PAGEDET_FOUND_LOST = 4
PAGEDET_FOUND_CUT = 5
PAGEDET_FOUND_FORMAT = 6

# enum pagedet_judged
PAGEDET_JUDGED_WRONG = 1
PAGEDET_JUDGED_ALLOWED = 2
PAGEDET_JUDGED_UNKNOWN = 3

# enum pagedet_event
PAGEDET_EVENT_LOST = 0
PAGEDET_EVENT_KMALLOC = 1
PAGEDET_EVENT_CACHE_ALLOC = 2
PAGEDET_EVENT_KFREE = 3
PAGEDET_EVENT_CACHE_FREE = 4
PAGEDET_EVENT_PAGE_ALLOC = 5
PAGEDET_EVENT_PAGE_FREE = 6
PAGEDET_EVENT_PAGE_FREE_BATCHED = 7

# enum pagedet_effect
PAGEDET_EFFECT_LOST = 0
PAGEDET_EFFECT_ALLOCATED = 1
PAGEDET_EFFECT_ALLOCATED_AGAIN = 2
PAGEDET_EFFECT_FREED = 3
PAGEDET_EFFECT_FREED_UNKNOWN = 4
PAGEDET_EFFECT_OBJECT_ALLOCATED = 5
PAGEDET_EFFECT_OBJECT_AGAIN = 6
PAGEDET_EFFECT_OBJECT_FREED = 7
PAGEDET_EFFECT_OBJECT_UNKNOWN = 8

# enum pagedet_record_flags
PAGEDET_RECORD_PAGES = 1
PAGEDET_RECORD_NOT_CALLER = 2
PAGEDET_RECORD_STACKS = 4
PAGEDET_RECORD_TOTALS = 8
PAGEDET_RECORD_FREES = 16
PAGEDET_RECORD_OBJECTS = 32

# enum pagedet_kmap_dialect
PAGEDET_KMAP_EMPTY = 0
PAGEDET_KMAP_LINUXKIT = 1
PAGEDET_KMAP_TYPED = 2
PAGEDET_KMAP_SLAB = 3
PAGEDET_KMAP_INDEXED = 4

# enum pagedet_kmap_origin
PAGEDET_KMAP_CALL = 0
PAGEDET_KMAP_UNTOLD = 1
PAGEDET_KMAP_PREALLOCATED = 2
PAGEDET_KMAP_CATCH_ALL = 3

# enum pagedet_kmap_end
PAGEDET_KMAP_LIVE = 0
PAGEDET_KMAP_FREED = 1
PAGEDET_KMAP_MISSED = 2
PAGEDET_KMAP_UNKNOWN = 3

# enum pagedet_kmap_key
PAGEDET_KMAP_SITE = 0
PAGEDET_KMAP_FUNCTION = 1
PAGEDET_KMAP_MODULE = 2
PAGEDET_KMAP_TYPE = 3
PAGEDET_KMAP_CACHE = 4
PAGEDET_KMAP_PID = 5
PAGEDET_KMAP_COMMAND = 6
PAGEDET_KMAP_LIFETIME = 7
PAGEDET_KMAP_END = 8
PAGEDET_KMAP_ACCESS_SITE = 9
PAGEDET_KMAP_ACCESS_FUNCTION = 10
PAGEDET_KMAP_ACCESS_MODULE = 11
PAGEDET_KMAP_ACCESS_PID = 12

# enum pagedet_kmap_only
PAGEDET_KMAP_ALL = 0
PAGEDET_KMAP_OWN = 1
PAGEDET_KMAP_FOREIGN = 2

# enum pagedet_memorizer_control
PAGEDET_MEMORIZER_ENABLED = 0
PAGEDET_MEMORIZER_LOG_ACCESSES = 1
PAGEDET_MEMORIZER_LOG_LIVE = 2
PAGEDET_MEMORIZER_LOG_CALLS = 3
PAGEDET_MEMORIZER_LOG_FRAMES = 4
PAGEDET_MEMORIZER_CLEAR_DEAD = 5
PAGEDET_MEMORIZER_CLEAR_PRINTED = 6
PAGEDET_MEMORIZER_CLEAR_CALLS = 7
PAGEDET_MEMORIZER_KMAP = 8
PAGEDET_MEMORIZER_KMAP_STREAM = 9
PAGEDET_MEMORIZER_ALLOCATIONS = 10
PAGEDET_MEMORIZER_ACCESSES = 11
PAGEDET_MEMORIZER_CALLS = 12
PAGEDET_MEMORIZER_GLOBAL_TABLE = 13
PAGEDET_MEMORIZER_STATS = 14

# enum pagedet_kmap_watch_flags
PAGEDET_KMAP_WATCH_FD = 1
PAGEDET_KMAP_WATCH_WRITES = 2

# enum pagedet_question
PAGEDET_ASK_MISMATCH = 1
PAGEDET_ASK_NOT_FREE = 2
PAGEDET_ASK_NOT_MIGRATABLE = 4
PAGEDET_ASK_PINNED = 8
PAGEDET_ASK_UNRECLAIMABLE = 16
PAGEDET_ASK_UNACCOUNTED = 32
PAGEDET_ASK_POISONED = 64
PAGEDET_ASK_LEAKED = 128

# enum pagedet_known
PAGEDET_DUNNO = 0
PAGEDET_YES = 1
PAGEDET_NO = 2

# enum pagedet_version
PAGEDET_AS_SENT = 0
PAGEDET_AS_NOW = 1
PAGEDET_AS_AGAIN = 2
PAGEDET_AS_PEER = 3
PAGEDET_AS_MORE = 4
PAGEDET_AS_BEFORE = 4
PAGEDET_AS_STOPPED = 5
PAGEDET_AS_PEER_STOPPED = 6
PAGEDET_AS_PEER_AGAIN = 7

# enum pagedet_read
PAGEDET_READ_DUNNO = 0
PAGEDET_READ_DONE = 1
PAGEDET_READ_REFUSED = 2
PAGEDET_READ_OTHER = 3

# enum pagedet_writes
PAGEDET_WRITES_DUNNO = 0
PAGEDET_WRITES_NOT_ARMED = 1
PAGEDET_WRITES_SEEN = 2
PAGEDET_WRITES_NONE = 3

# enum pagedet_mode
PAGEDET_MODE_DUNNO = 0
PAGEDET_MODE_PRECOPY = 1
PAGEDET_MODE_MULTIFD = 2
PAGEDET_MODE_POSTCOPY = 3
PAGEDET_MODE_IGNORE_SHARED = 4
PAGEDET_MODE_SNAPSHOT = 5

# enum pagedet_finding_verdict
PAGEDET_VERDICT_CANNOT_TELL = 0
PAGEDET_VERDICT_CAUSE = 1
PAGEDET_VERDICT_FINE = 2

# enum pagedet_confidence
PAGEDET_CONFIDENCE_NONE = 0
PAGEDET_CONFIDENCE_LOW = 1
PAGEDET_CONFIDENCE_MEDIUM = 2
PAGEDET_CONFIDENCE_HIGH = 3
PAGEDET_CONFIDENCE_CERTAIN = 4

# enum pagedet_side
PAGEDET_SIDE_BOTH = 0
PAGEDET_SIDE_HERE = 1
PAGEDET_SIDE_PEER = 2

# enum pagedet_alternative_state
PAGEDET_ALTERNATIVE_POSSIBLE = 0
PAGEDET_ALTERNATIVE_EXCLUDED = 1
PAGEDET_ALTERNATIVE_NOT_LOOKED = 2

# enum pagedet_collect_option
PAGEDET_COLLECT_CONTENT = 1
PAGEDET_COLLECT_AGAIN = 2
PAGEDET_COLLECT_FILE = 4
PAGEDET_COLLECT_LOG = 8

# enum pagedet_check_kind
PAGEDET_CHECK_CLEAN = 1
PAGEDET_CHECK_DISK = 2
PAGEDET_CHECK_STABLE = 3
PAGEDET_CHECK_ABSENT = 4
PAGEDET_CHECK_COMMITTED = 5
PAGEDET_CHECK_ERRORS = 6

# enum pagedet_verdict_id
PAGEDET_HOLDS = 1
PAGEDET_VIOLATED = 2
PAGEDET_CANNOT_TELL = 3

# enum pagedet_cause
PAGEDET_CAUSE_NONE = 0
PAGEDET_CAUSE_DIRTY = 1
PAGEDET_CAUSE_WRITEBACK = 2
PAGEDET_CAUSE_NOT_WRITTEN = 3
PAGEDET_CAUSE_LOST_WRITE = 4
PAGEDET_CAUSE_DIFFERENT = 5
PAGEDET_CAUSE_CHANGED = 6
PAGEDET_CAUSE_CACHED = 7
PAGEDET_CAUSE_ERROR = 8
PAGEDET_CAUSE_NOT_COMMITTED = 9
PAGEDET_CAUSE_UNKNOWN = 32
PAGEDET_CAUSE_ACCESS = 33
PAGEDET_CAUSE_KERNEL = 34
PAGEDET_CAUSE_FILESYSTEM = 35
PAGEDET_CAUSE_NETWORK = 36
PAGEDET_CAUSE_ENCODED = 37
PAGEDET_CAUSE_UNWRITTEN = 38
PAGEDET_CAUSE_JOURNAL = 39
PAGEDET_CAUSE_UNREADABLE = 40
PAGEDET_CAUSE_RACED = 41
PAGEDET_CAUSE_REPLACED = 42
PAGEDET_CAUSE_IO = 43
PAGEDET_CAUSE_TIMEOUT = 44

# enum pagedet_change_id
PAGEDET_CHANGE_APPEARED = 1
PAGEDET_CHANGE_GONE = 2
PAGEDET_CHANGE_REUSED = 3
PAGEDET_CHANGE_MIGRATED = 4
PAGEDET_CHANGE_MOVED = 5
PAGEDET_CHANGE_SPLIT = 6
PAGEDET_CHANGE_MERGED = 7
PAGEDET_CHANGE_FLAGS = 8
PAGEDET_CHANGE_OWNER = 9
PAGEDET_CHANGE_MAPCOUNT = 10
PAGEDET_CHANGE_MEMCG = 11
PAGEDET_CHANGE_CONTENT = 12
PAGEDET_CHANGE_OTHER = 13

# enum pagedet_diff_by
PAGEDET_DIFF_BY_PFN = 1
PAGEDET_DIFF_BY_ADDRESS = 2
PAGEDET_DIFF_BY_FILE = 3

# enum pagedet_diff_note
PAGEDET_DIFF_OTHER_BOOT = 1
PAGEDET_DIFF_UNKNOWN_BOOT = 2
PAGEDET_DIFF_OTHER_KEY = 4
PAGEDET_DIFF_OTHER_PLACES = 8
PAGEDET_DIFF_PARTIAL = 16

# enum pagedet_format_id
PAGEDET_FORMAT_TEXT = 1
PAGEDET_FORMAT_JSON = 2
PAGEDET_FORMAT_CSV = 3
PAGEDET_FORMAT_ARROW = 4
PAGEDET_FORMAT_SVG = 5
PAGEDET_FORMAT_SNAPSHOT = 6

# enum pagedet_emit_option
PAGEDET_EMIT_COLOUR = 1
PAGEDET_EMIT_SOURCES = 2
PAGEDET_EMIT_POINTERS = 4
PAGEDET_EMIT_STACKS = 8
PAGEDET_EMIT_LINEAR = 16
PAGEDET_EMIT_TOTALS = 32
PAGEDET_EMIT_ALTERNATIVES = 64

# enum pagedet_track_method
PAGEDET_TRACK_UFFD = 1
PAGEDET_TRACK_SOFT_DIRTY = 2

# enum pagedet_track_writer
PAGEDET_WRITER_STORE = 0
PAGEDET_WRITER_KERNEL = 1
PAGEDET_WRITER_MEM_FILE = 2
PAGEDET_WRITER_GIVE_BACK = 3
PAGEDET_WRITER_OTHER_MAPPING = 4
PAGEDET_WRITER_OTHER_PROCESS = 5
PAGEDET_WRITER_FILE = 6
PAGEDET_WRITER_PUNCH = 7
PAGEDET_WRITER_DEVICE = 8
PAGEDET_WRITER_VCPU = 9

# enum pagedet_track_state
PAGEDET_TRACK_UNKNOWN = 1
PAGEDET_TRACK_WRITTEN = 2

# enum pagedet_track_why
PAGEDET_TRACK_NOT_ARMED = 1
PAGEDET_TRACK_UNMAPPED = 2
PAGEDET_TRACK_REMAPPED = 3
PAGEDET_TRACK_TAKEN = 4
PAGEDET_TRACK_KIND = 5
PAGEDET_TRACK_READ_ONLY = 6
PAGEDET_TRACK_CUT = 7
PAGEDET_TRACK_NO_ENTRY = 8
PAGEDET_TRACK_FAILED = 9

# enum pagedet_track_option
PAGEDET_TRACK_COUNT_HUGE = 1

# enum pagedet_seen_state
PAGEDET_SEEN_NOTHING = 0
PAGEDET_SEEN_ABSENT = 1
PAGEDET_SEEN_ZERO = 2
PAGEDET_SEEN_DATA = 3
PAGEDET_SEEN_LOST = 4

# enum pagedet_seen_bit
PAGEDET_SEEN_SWAPPED = 1
PAGEDET_SEEN_HUGE = 2
PAGEDET_SEEN_FILE = 4
PAGEDET_SEEN_BYTES = 8

# enum pagedet_look_option
PAGEDET_LOOK_FILE = 1
PAGEDET_LOOK_BRING_IN = 2

# enum pagedet_sent_state
PAGEDET_SENT_DUNNO = 0
PAGEDET_SENT_NEVER = 1
PAGEDET_SENT_KNOWN = 2
PAGEDET_SENT_PACKED = 3

# enum pagedet_look_when
PAGEDET_WHEN_RUNNING = 0
PAGEDET_WHEN_STOPPED = 1
PAGEDET_WHEN_DRAINED = 2

# enum pagedet_end
PAGEDET_END_SOURCE = 0
PAGEDET_END_DESTINATION = 1

# enum pagedet_pattern_kind
PAGEDET_PATTERN_EMPTY_PEER = 1
PAGEDET_PATTERN_EMPTY_HERE = 2
PAGEDET_PATTERN_SHIFTED = 3
PAGEDET_PATTERN_OLDER = 4
PAGEDET_PATTERN_MOVED = 5
PAGEDET_PATTERN_ALIKE = 6
PAGEDET_PATTERN_OTHER = 7
PAGEDET_PATTERN_EXCHANGED = 8

# enum pagedet_pattern_border
PAGEDET_BORDER_FIRST = 1
PAGEDET_BORDER_LAST = 2

# enum pagedet_stream_option
PAGEDET_STREAM_IGNORE_SHARED = 1

# enum pagedet_streamed
PAGEDET_STREAMED_BYTES = 1
PAGEDET_STREAMED_FILL = 2
PAGEDET_STREAMED_PACKED = 3
PAGEDET_STREAMED_DROP = 4


def PAGEDET_CELL_STATE(cell):
    return ((cell) & 0xff)


def PAGEDET_CELL_SOURCE(cell):
    return ((cell) >> 8)


def PAGEDET_SOURCE_BIT(source):
    return (1 << (source))


def PAGEDET_PF(bit):
    return (1 << (bit))


def PAGEDET_PTE(bit):
    return (1 << (bit))


def PAGEDET_NOTE(bit):
    return (1 << (bit))


def PAGEDET_TRACK_BIT(method):
    return (1 << (method))


class pagedet(Structure):
    """Opaque."""


class pagedet_iter(Structure):
    """Opaque."""


class pagedet_index(Structure):
    """Opaque."""


class pagedet_allocs(Structure):
    """Opaque."""


class pagedet_kmap(Structure):
    """Opaque."""


class pagedet_kmap_calls(Structure):
    """Opaque."""


class pagedet_emitter(Structure):
    """Opaque."""


class pagedet_usages(Structure):
    """Opaque."""


class pagedet_heat(Structure):
    """Opaque."""


class pagedet_owners(Structure):
    """Opaque."""


class pagedet_blame(Structure):
    """Opaque."""


class pagedet_timeline(Structure):
    """Opaque."""


class pagedet_recorder(Structure):
    """Opaque."""


class pagedet_kmap_pages(Structure):
    """Opaque."""


class pagedet_memorizer(Structure):
    """Opaque."""


class pagedet_kmap_recorder(Structure):
    """Opaque."""


class pagedet_kmap_watch(Structure):
    """Opaque."""


class pagedet_kmap_cache(Structure):
    """Opaque."""


class pagedet_track(Structure):
    """Opaque."""


class pagedet_checked(Structure):
    """Opaque."""


class pagedet_diff(Structure):
    """Opaque."""


class pagedet_versions(Structure):
    """Opaque."""


class pagedet_blocks(Structure):
    """Opaque."""


class pagedet_stream(Structure):
    """Opaque."""


class pagedet_page(Structure):
    _fields_ = [
        ("cell", c_uint16 * 128),
        ("ask", c_uint64),
        ("pages", c_uint64),
        ("time_ns", c_uint64),
        ("pfn", c_uint64),
        ("vaddr", c_uint64),
        ("head_pfn", c_uint64),
        ("flags", c_uint64),
        ("flags_known", c_uint64),
        ("raw_flags", c_uint64),
        ("refcount", c_uint64),
        ("mapcount", c_uint64),
        ("pincount", c_uint64),
        ("comm", c_uint64),
        ("swap_offset", c_uint64),
        ("vma_start", c_uint64),
        ("vma_end", c_uint64),
        ("vma_name", c_uint64),
        ("user_maps", c_uint64),
        ("kernel_maps", c_uint64),
        ("memcg_ino", c_uint64),
        ("memcg_path", c_uint64),
        ("memcg_name", c_uint64),
        ("dev", c_uint64),
        ("inode", c_uint64),
        ("index", c_uint64),
        ("path", c_uint64),
        ("slab_cache", c_uint64),
        ("alloc_stack", c_uint64),
        ("free_stack", c_uint64),
        ("alloc_comm", c_uint64),
        ("gfp_mask", c_uint64),
        ("gfp", c_uint64),
        ("migratetype", c_uint64),
        ("allocator", c_uint64),
        ("alloc_ns", c_uint64),
        ("free_ns", c_uint64),
        ("migrate_reason", c_uint64),
        ("content", c_uint64),
        ("hash", c_uint64),
        ("notes", c_uint32),
        ("order", c_uint32),
        ("node", c_uint32),
        ("zone", c_uint32),
        ("kind", c_uint32),
        ("mapcount_kind", c_uint32),
        ("pid", c_uint32),
        ("tgid", c_uint32),
        ("pte", c_uint32),
        ("pte_known", c_uint32),
        ("pte_level", c_uint32),
        ("swap_type", c_uint32),
        ("vma_prot", c_uint32),
        ("alloc_pid", c_uint32),
        ("alloc_tgid", c_uint32),
        ("alloc_order", c_uint32),
        ("map", c_uint32),
        ("at", c_uint32),
        ("object", c_uint64),
        ("report", c_uint64),
        ("entropy", c_uint64),
        ("reason", c_uint64),
        ("event_ns", c_uint64),
        ("alloc_site", c_uint64),
        ("alloc_requested", c_uint64),
        ("alloc_bytes", c_uint64),
        ("alloc_cpu", c_uint32),
        ("object_state", c_uint32),
        ("page_mobility", c_uint64),
        ("event_comm", c_uint64),
        ("event_site", c_uint64),
        ("event_cache", c_uint64),
        ("event_lost", c_uint64),
        ("event", c_uint32),
        ("event_family", c_uint32),
        ("event_cpu", c_uint32),
        ("event_tid", c_uint32),
        ("heat", c_uint64),
        ("heat_checks", c_uint64),
        ("heat_age", c_uint64),
        ("heat_bytes", c_uint64),
        ("heat_ns", c_uint64),
        ("reads", c_uint64),
        ("writes", c_uint64),
    ]


class pagedet_field_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("id", c_uint32),
        ("type", c_uint32),
        ("offset", c_uint32),
        ("width", c_uint32),
        ("position", c_uint32),
        ("known", c_uint32),
        ("name", c_char_p),
        ("unit", c_char_p),
        ("group", c_char_p),
        ("since", c_char_p),
        ("text", c_char_p),
    ]


class pagedet_part(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("name", c_char_p),
        ("purpose", c_char_p),
        ("built", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("root", c_char_p),
        ("files", POINTER(c_char_p)),
        ("n_files", c_uint64),
        ("vmlinux", c_char_p),
        ("btf", c_char_p),
        ("vmcoreinfo", c_char_p),
        ("hash_key", c_char_p),
        ("libexec_dir", c_char_p),
        ("sources", c_uint32),
        ("reserved", c_uint32),
        ("page_size", c_uint64),
    ]


class pagedet_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("page_size", c_uint64),
        ("max_pfn", c_uint64),
        ("nodes", c_uint64),
        ("first_ns", c_uint64),
        ("last_ns", c_uint64),
        ("live", c_uint32),
        ("big_endian", c_uint32),
        ("sources", c_uint32),
        ("reserved", c_uint32),
        ("arch", c_char_p),
        ("release", c_char_p),
        ("boot_id", c_char_p),
    ]


class pagedet_ability(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("can", c_uint32),
        ("reason", c_uint32),
        ("cost", c_uint32),
        ("tier", c_uint32),
        ("why", c_char_p),
        ("advice", c_char_p),
    ]


class pagedet_item(Structure):
    _fields_ = [
        ("first", c_uint64),
        ("count", c_uint64),
        ("pid", c_uint32),
        ("flags", c_uint32),
    ]


class pagedet_progress(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("done", c_uint64),
        ("total", c_uint64),
        ("rows", c_uint64),
        ("elapsed_ns", c_uint64),
    ]


class pagedet_place(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("path", c_char_p),
        ("first", c_uint64),
        ("count", c_uint64),
    ]


pagedet_progress_fn = CFUNCTYPE(c_int, c_void_p, POINTER(pagedet_progress))


pagedet_place_fn = CFUNCTYPE(c_int, c_void_p, c_int, c_char_p, POINTER(pagedet_place))


class pagedet_query(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("row_size", c_uint64),
        ("fields", c_uint64 * 2),
        ("items", POINTER(pagedet_item)),
        ("n_items", c_uint64),
        ("path", c_char_p),
        ("where", c_char_p),
        ("group_by", POINTER(c_uint32)),
        ("n_group_by", c_uint64),
        ("index", POINTER(pagedet_index)),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("deadline_ns", c_uint64),
        ("limit", c_uint64),
        ("string_bytes", c_uint64),
        ("target", c_uint32),
        ("options", c_uint32),
        ("order", c_uint32),
        ("threads", c_uint32),
        ("sources", c_uint32),
        ("order_by", c_uint32),
        ("next_place", pagedet_place_fn),
        ("next_place_user", c_void_p),
        ("allocs", POINTER(pagedet_allocs)),
        ("heat", POINTER(pagedet_heat)),
        ("page_size", c_uint64),
        ("kmap", POINTER(pagedet_kmap_pages)),
    ]


class pagedet_column(Structure):
    _fields_ = [
        ("field", c_uint32),
        ("reserved", c_uint32),
        ("value", POINTER(c_uint64)),
        ("cell", POINTER(c_uint16)),
    ]


class pagedet_columns(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("rows", c_uint64),
        ("n_columns", c_uint64),
        ("columns", POINTER(pagedet_column)),
    ]


class pagedet_coverage(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("wanted", c_uint64),
        ("visited", c_uint64),
        ("skipped", c_uint64),
        ("rows", c_uint64),
        ("undecided", c_uint64),
        ("torn", c_uint64),
        ("spilled", c_uint64),
        ("tasks", c_uint64),
        ("tasks_gone", c_uint64),
        ("tasks_denied", c_uint64),
        ("files", c_uint64),
        ("files_gone", c_uint64),
        ("files_denied", c_uint64),
        ("lost", c_uint64 * 32),
        ("answered", c_uint64 * 2),
        ("resume", c_uint64),
        ("complete", c_uint32),
        ("stopped", c_uint32),
        ("tasks_damaged", c_uint64),
        ("matched", c_uint64),
        ("tasks_again", c_uint64),
        ("tasks_merged", c_uint64),
    ]


class pagedet_mappers(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("pfn", c_uint64),
        ("found", c_uint64),
        ("expected", c_uint64),
        ("n_unread", c_uint64),
        ("unread", POINTER(c_uint32)),
        ("expected_state", c_uint32),
        ("mapcount_kind", c_uint32),
        ("found_state", c_uint32),
        ("shared", c_uint32),
        ("more", c_uint64),
    ]


class pagedet_frame(Structure):
    _fields_ = [
        ("address", c_uint64),
        ("offset", c_uint64),
        ("bytes", c_uint64),
        ("file_address", c_uint64),
        ("function", c_char_p),
        ("module", c_char_p),
        ("build_id", c_char_p),
        ("why", c_char_p),
        ("type", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_content(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("hash", c_uint64),
        ("entropy", c_uint64),
        ("name", c_char_p),
    ]


class pagedet_difference(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("bits", c_uint64),
        ("bytes", c_uint64),
        ("first", c_uint64),
        ("last", c_uint64),
        ("shift", c_int64),
        ("shape", c_uint32),
        ("side", c_uint32),
        ("pattern", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_mapping(Structure):
    _fields_ = [
        ("pfn", c_uint64),
        ("vaddr", c_uint64),
        ("pid", c_uint32),
        ("pte", c_uint32),
    ]


class pagedet_index_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("mappings", c_uint64),
        ("bytes", c_uint64),
        ("tasks", c_uint64),
        ("tasks_gone", c_uint64),
        ("tasks_denied", c_uint64),
        ("first_ns", c_uint64),
        ("last_ns", c_uint64),
        ("n_unread", c_uint64),
        ("unread", POINTER(c_uint32)),
        ("tasks_damaged", c_uint64),
    ]


class pagedet_index_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("threads", c_uint32),
        ("sources", c_uint32),
    ]


class pagedet_task(Structure):
    _fields_ = [
        ("pid", c_uint32),
        ("tgid", c_uint32),
        ("ppid", c_uint32),
        ("flags", c_uint32),
        ("state", c_uint32),
        ("reserved", c_uint32),
        ("rss", c_uint64),
        ("start_ns", c_uint64),
        ("comm", c_char * 64),
    ]


class pagedet_area(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("start", c_uint64),
        ("end", c_uint64),
        ("offset", c_uint64),
        ("dev", c_uint64),
        ("inode", c_uint64),
        ("len", c_uint64),
        ("name", c_char_p),
        ("prot", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_log_record(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("seq", c_uint64),
        ("time_ns", c_uint64),
        ("level", c_uint32),
        ("facility", c_uint32),
        ("len", c_uint64),
        ("text", c_char_p),
    ]


class pagedet_usage(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
        ("estimated", c_uint32),
        ("pid", c_uint32),
        ("source", c_uint32),
        ("same_as", c_uint32),
        ("comm", c_char_p),
        ("same_as_state", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_usage_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("processes", c_uint64),
        ("without_memory", c_uint64),
        ("gone", c_uint64),
        ("denied", c_uint64),
        ("damaged", c_uint64),
        ("complete", c_uint32),
        ("stopped", c_uint32),
    ]


class pagedet_usage_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("pids", POINTER(c_uint32)),
        ("n_pids", c_uint64),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("threads", c_uint32),
        ("sources", c_uint32),
    ]


class pagedet_heat_options(Structure):
    _fields_ = [("size", c_uint64), ("wait_ns", c_uint64)]


class pagedet_heat_monitor(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("regions", c_uint64),
        ("bytes", c_uint64),
        ("checks", c_uint64),
        ("interval_ns", c_uint64),
        ("end_ns", c_uint64),
        ("thread", c_uint32),
        ("pid", c_uint32),
        ("known", c_uint32),
        ("complete", c_uint32),
    ]


class pagedet_heat_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("monitors", c_uint64),
        ("threads", c_uint64),
        ("lost", c_uint64),
        ("advice", c_char_p),
        ("state", c_uint32),
        ("complete", c_uint32),
    ]


class pagedet_owners_query(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("path", c_char_p),
        ("where", c_char_p),
        ("by", POINTER(c_uint32)),
        ("n_by", c_uint64),
        ("window_ns", c_uint64),
        ("sort", c_uint32),
        ("options", c_uint32),
        ("threads", c_uint32),
        ("reserved", c_uint32),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
    ]


class pagedet_owner_group(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("times", c_uint64),
        ("pages", c_uint64),
        ("bytes", c_uint64),
        ("oldest_ns", c_uint64),
        ("newest_ns", c_uint64),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
        ("times_before", c_uint64),
        ("pages_before", c_uint64),
        ("blocks", c_uint64),
    ]


class pagedet_owners_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("groups", c_uint64),
        ("times", c_uint64),
        ("pages", c_uint64),
        ("bytes", c_uint64),
        ("oldest_ns", c_uint64),
        ("newest_ns", c_uint64),
        ("filtered", c_uint64),
        ("undecided", c_uint64),
        ("damaged", c_uint64),
        ("unprinted", c_uint64),
        ("text_bytes", c_uint64),
        ("complete", c_uint32),
        ("stopped", c_uint32),
        ("blocks", c_uint64),
    ]


class pagedet_allocs_query(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("path", c_char_p),
        ("kallsyms", c_char_p),
        ("by", POINTER(c_uint32)),
        ("n_by", c_uint64),
        ("page_size", c_uint64),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("window_ns", c_uint64),
        ("vmlinux", c_char_p),
        ("instance", c_char_p),
        ("open_names", c_uint32),
        ("threads", c_uint32),
        ("events", c_uint32),
    ]


class pagedet_alloc_group(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("times", c_uint64),
        ("requested", c_uint64),
        ("allocated", c_uint64),
        ("unsized", c_uint64),
        ("freed", c_uint64),
        ("replaced", c_uint64),
        ("live", c_uint64),
        ("live_bytes", c_uint64),
        ("failed", c_uint64),
        ("cross_cpu", c_uint64),
        ("mismatched", c_uint64),
        ("less", c_uint64),
        ("lifetime_ns", c_uint64),
        ("verified_live", c_uint64),
        ("verified_live_bytes", c_uint64),
        ("verified_free", c_uint64),
        ("unverified", c_uint64),
        ("times_before", c_uint64),
        ("requested_before", c_uint64),
        ("allocated_before", c_uint64),
        ("unsized_before", c_uint64),
        ("live_before", c_uint64),
        ("live_bytes_before", c_uint64),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
        ("untracked", c_uint64),
        ("lifetime_unknown", c_uint64),
        ("page_times", c_uint64),
        ("page_allocated", c_uint64),
        ("page_freed", c_uint64),
        ("page_replaced", c_uint64),
        ("page_live", c_uint64),
        ("page_live_bytes", c_uint64),
        ("page_failed", c_uint64),
        ("page_cross_cpu", c_uint64),
        ("page_lifetime_ns", c_uint64),
        ("page_lifetime_unknown", c_uint64),
        ("page_untracked", c_uint64),
        ("page_verified_live", c_uint64),
        ("page_verified_live_bytes", c_uint64),
        ("page_verified_free", c_uint64),
        ("page_unverified", c_uint64),
        ("page_times_before", c_uint64),
        ("page_allocated_before", c_uint64),
        ("page_live_before", c_uint64),
        ("page_live_bytes_before", c_uint64),
    ]


class pagedet_allocs_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("groups", c_uint64),
        ("times", c_uint64),
        ("requested", c_uint64),
        ("allocated", c_uint64),
        ("unsized", c_uint64),
        ("freed", c_uint64),
        ("replaced", c_uint64),
        ("live", c_uint64),
        ("live_bytes", c_uint64),
        ("failed", c_uint64),
        ("cross_cpu", c_uint64),
        ("mismatched", c_uint64),
        ("less", c_uint64),
        ("lifetime_ns", c_uint64),
        ("verified_live", c_uint64),
        ("verified_live_bytes", c_uint64),
        ("verified_free", c_uint64),
        ("unverified", c_uint64),
        ("times_before", c_uint64),
        ("requested_before", c_uint64),
        ("allocated_before", c_uint64),
        ("unsized_before", c_uint64),
        ("live_before", c_uint64),
        ("live_bytes_before", c_uint64),
        ("events", c_uint64),
        ("other", c_uint64),
        ("freed_unknown", c_uint64),
        ("pages_unknown", c_uint64),
        ("freed_nothing", c_uint64),
        ("early", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("lost", c_uint64),
        ("gaps", c_uint64),
        ("uncounted", c_uint64),
        ("missing", c_uint64),
        ("cut_bytes", c_uint64),
        ("damaged", c_uint64),
        ("strange", c_uint64),
        ("disorder", c_uint64),
        ("sites", c_uint64),
        ("unnamed", c_uint64),
        ("untold", c_uint64),
        ("complete", c_uint32),
        ("stopped", c_uint32),
        ("no_ns", c_uint32),
        ("hashed", c_uint32),
        ("kaslr_offset", c_uint64),
        ("begin_before_ns", c_uint64),
        ("end_before_ns", c_uint64),
        ("unmatched", c_uint64),
        ("kaslr", c_uint32),
        ("compared", c_uint32),
        ("verified", c_uint32),
        ("no_cpu", c_uint32),
        ("no_frees", c_uint32),
        ("only_live", c_uint32),
        ("inexact", c_uint64),
        ("changed", c_uint64),
        ("untracked", c_uint64),
        ("no_events", c_uint64),
        ("page_events", c_uint64),
        ("filtered", c_uint64),
        ("undecided", c_uint64),
        ("lifetime_unknown", c_uint64),
        ("page_times", c_uint64),
        ("page_allocated", c_uint64),
        ("page_freed", c_uint64),
        ("page_replaced", c_uint64),
        ("page_live", c_uint64),
        ("page_live_bytes", c_uint64),
        ("page_failed", c_uint64),
        ("page_cross_cpu", c_uint64),
        ("page_lifetime_ns", c_uint64),
        ("page_lifetime_unknown", c_uint64),
        ("page_untracked", c_uint64),
        ("page_verified_live", c_uint64),
        ("page_verified_live_bytes", c_uint64),
        ("page_verified_free", c_uint64),
        ("page_unverified", c_uint64),
        ("page_times_before", c_uint64),
        ("page_allocated_before", c_uint64),
        ("page_live_before", c_uint64),
        ("page_live_bytes_before", c_uint64),
        ("other_instances", c_uint64),
    ]


class pagedet_verify_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("any_boot", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_alloc_finding(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("found", c_uint32),
        ("verdict", c_uint32),
        ("times", c_uint64),
        ("first_ns", c_uint64),
        ("cpu", c_uint64),
        ("times_state", c_uint32),
        ("first_state", c_uint32),
        ("cpu_state", c_uint32),
        ("reserved", c_uint32),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
    ]


class pagedet_blame_query(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("first_pfn", c_uint64),
        ("pages", c_uint64),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("any_boot", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_blame_block(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("first_pfn", c_uint64),
        ("free", c_uint64),
        ("movable", c_uint64),
        ("perhaps_free", c_uint64),
        ("held", c_uint64),
        ("explained", c_uint64),
        ("holders", c_uint64),
        ("holder_pages", c_uint64),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
    ]


class pagedet_blame_holder(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("blocks", c_uint64),
        ("blocks_alone", c_uint64),
        ("pages", c_uint64),
        ("pages_alone", c_uint64),
        ("objects", c_uint64),
        ("bytes", c_uint64),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
    ]


class pagedet_blame_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("block_pages", c_uint64),
        ("blocks", c_uint64),
        ("blocks_held", c_uint64),
        ("blocks_explained", c_uint64),
        ("free", c_uint64),
        ("movable", c_uint64),
        ("perhaps_free", c_uint64),
        ("held", c_uint64),
        ("explained", c_uint64),
        ("used", c_uint64),
        ("unverified", c_uint64),
        ("holders", c_uint64),
    ]


class pagedet_timeline_query(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("trace", POINTER(pagedet_allocs_query)),
        ("first_pfn", c_uint64),
        ("pages", c_uint64),
        ("max_events", c_uint64),
        ("first", c_uint32),
        ("any_boot", c_uint32),
        ("pages_only", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_timeline_event(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("ns", c_uint64),
        ("pfn", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("lifetime_ns", c_uint64),
        ("lost", c_uint64),
        ("kind", c_uint32),
        ("effect", c_uint32),
        ("order", c_uint32),
        ("bytes_state", c_uint32),
        ("lifetime_state", c_uint32),
        ("reserved", c_uint32),
        ("value", c_uint64 * 16),
        ("state", c_uint32 * 16),
    ]


class pagedet_timeline_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("events", c_uint64),
        ("page_events", c_uint64),
        ("object_events", c_uint64),
        ("losses", c_uint64),
        ("rows", c_uint64),
        ("left_out", c_uint64),
        ("unplaced", c_uint64),
        ("objects", c_uint32),
        ("no_ns", c_uint32),
        ("no_pages", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_record_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("buffer", c_uint64),
        ("folder", c_char_p),
        ("flags", c_uint32),
        ("reserved", c_uint32),
        ("by", POINTER(c_uint32)),
        ("n_by", c_uint64),
        ("live", c_uint64),
    ]


class pagedet_record_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("events", c_uint64),
        ("lost", c_uint64),
        ("bytes", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("buffer", c_uint64),
        ("buffer_needed", c_uint64),
        ("cpus", c_uint32),
        ("mapped", c_uint32),
        ("error", c_uint32),
        ("reserved", c_uint32),
        ("live", c_uint64),
    ]


class pagedet_kmap_query(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("path", c_char_p),
        ("kallsyms", c_char_p),
        ("by", POINTER(c_uint32)),
        ("n_by", c_uint64),
        ("hz", c_uint64),
        ("deadline_ns", c_uint64),
        ("progress", pagedet_progress_fn),
        ("progress_user", c_void_p),
        ("progress_ns", c_uint64),
        ("vmlinux", c_char_p),
        ("only", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_kmap_object(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("site", c_uint64),
        ("free_site", c_uint64),
        ("alloc_index", c_uint64),
        ("free_index", c_uint64),
        ("reads", c_uint64),
        ("writes", c_uint64),
        ("accesses", c_uint64),
        ("site_name", c_char_p),
        ("free_site_name", c_char_p),
        ("type", c_char_p),
        ("cache", c_char_p),
        ("command", c_char_p),
        ("replaced_by", c_char_p),
        ("pid", c_int64),
        ("origin", c_uint32),
        ("end", c_uint32),
        ("nested", c_uint32),
        ("hidden", c_uint32),
    ]


class pagedet_kmap_access(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("site", c_uint64),
        ("reads", c_uint64),
        ("writes", c_uint64),
        ("pid", c_int64),
        ("site_name", c_char_p),
    ]


class pagedet_kmap_group(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("objects", c_uint64),
        ("bytes", c_uint64),
        ("nested", c_uint64),
        ("catch_all", c_uint64),
        ("live", c_uint64),
        ("live_bytes", c_uint64),
        ("freed", c_uint64),
        ("missed", c_uint64),
        ("unknown", c_uint64),
        ("accesses", c_uint64),
        ("reads", c_uint64),
        ("writes", c_uint64),
        ("objects_before", c_uint64),
        ("bytes_before", c_uint64),
        ("live_before", c_uint64),
        ("live_bytes_before", c_uint64),
        ("reads_before", c_uint64),
        ("writes_before", c_uint64),
        ("value", c_uint64 * 8),
        ("state", c_uint32 * 8),
    ]


class pagedet_kmap_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("groups", c_uint64),
        ("objects", c_uint64),
        ("bytes", c_uint64),
        ("nested", c_uint64),
        ("catch_all", c_uint64),
        ("live", c_uint64),
        ("live_bytes", c_uint64),
        ("freed", c_uint64),
        ("missed", c_uint64),
        ("unknown", c_uint64),
        ("accesses", c_uint64),
        ("reads", c_uint64),
        ("writes", c_uint64),
        ("objects_before", c_uint64),
        ("bytes_before", c_uint64),
        ("live_before", c_uint64),
        ("live_bytes_before", c_uint64),
        ("reads_before", c_uint64),
        ("writes_before", c_uint64),
        ("nested_bytes", c_uint64),
        ("preallocated", c_uint64),
        ("lines", c_uint64),
        ("strange", c_uint64),
        ("strange_line", c_uint64),
        ("orphans", c_uint64),
        ("orphan_line", c_uint64),
        ("dropped", c_uint64),
        ("hashed", c_uint64),
        ("unnamed", c_uint64),
        ("untold", c_uint64),
        ("filtered", c_uint64),
        ("undecided", c_uint64),
        ("kaslr_offset", c_uint64),
        ("kaslr", c_uint32),
        ("reserved", c_uint32),
        ("dialect", c_uint32),
        ("cut", c_uint32),
        ("saturated", c_uint32),
        ("complete", c_uint32),
        ("stopped", c_uint32),
        ("compared", c_uint32),
    ]


class pagedet_kmap_call(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("from", c_uint64),
        ("to", c_uint64),
        ("count", c_uint64),
        ("from_name", c_char_p),
        ("to_name", c_char_p),
        ("from_function", c_char_p),
        ("to_function", c_char_p),
    ]


class pagedet_kmap_calls_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("calls", c_uint64),
        ("count", c_uint64),
        ("lines", c_uint64),
        ("strange", c_uint64),
        ("strange_line", c_uint64),
        ("unnamed", c_uint64),
        ("dropped", c_uint64),
        ("cut", c_uint32),
        ("saturated", c_uint32),
        ("complete", c_uint32),
        ("stopped", c_uint32),
    ]


class pagedet_kmap_pages_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("pages", c_uint64),
        ("objects", c_uint64),
        ("outside", c_uint64),
        ("hidden", c_uint64),
        ("codes", c_uint64),
        ("strange", c_uint64),
    ]


class pagedet_memorizer_file(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("name", c_char_p),
        ("path", c_char_p),
        ("value", c_uint64),
        ("pid", c_int64),
        ("state", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_kmap_record_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("folder", c_char_p),
        ("drain_ns", c_uint64),
        ("pid", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_kmap_record_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("objects", c_uint64),
        ("live", c_uint64),
        ("accesses", c_uint64),
        ("bytes", c_uint64),
        ("drains", c_uint64),
        ("repeated", c_uint64),
        ("vanished", c_uint64),
        ("strange", c_uint64),
        ("gaps", c_uint64),
        ("gap_ns", c_uint64),
        ("uncleared", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("lacks", c_uint32),
        ("streamed", c_uint32),
        ("disturbed", c_uint32),
        ("was_on", c_uint32),
        ("cut", c_uint32),
        ("error", c_uint32),
    ]


class pagedet_kmap_watch_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("rate", c_uint64),
        ("window_ns", c_uint64),
        ("flags", c_uint32),
        ("pid", c_uint32),
        ("fd", c_uint32),
        ("tid", c_uint32),
    ]


class pagedet_kmap_word(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint64),
        ("object", c_uint64),
        ("windows", c_uint64),
        ("ns", c_uint64),
        ("limited", c_uint64),
    ]


class pagedet_kmap_watch_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("begin_ns", c_uint64),
        ("end_ns", c_uint64),
        ("objects", c_uint64),
        ("words", c_uint64),
        ("turns", c_uint64),
        ("windows", c_uint64),
        ("window_ns", c_uint64),
        ("rate", c_uint64),
        ("reads", c_uint64),
        ("writes", c_uint64),
        ("lost", c_uint64),
        ("own", c_uint64),
        ("limited", c_uint64),
        ("looks", c_uint64),
        ("freed", c_uint64),
        ("unknown", c_uint64),
        ("slots", c_uint32),
        ("cpus", c_uint32),
        ("cpus_missed", c_uint32),
        ("estimated", c_uint32),
        ("error", c_uint32),
        ("unsaid", c_uint32),
        ("unknown_why", c_uint32),
        ("mapped", c_uint32),
    ]


class pagedet_kmap_drawn(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("address", c_uint64),
        ("bytes", c_uint64),
    ]


class pagedet_kmap_cache_total(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("pages", c_uint64),
        ("room", c_uint64),
        ("bytes", c_uint64),
        ("sharing", c_uint64),
        ("drawn", c_uint64),
        ("free", c_uint64),
        ("unknown", c_uint64),
        ("elsewhere", c_uint64),
        ("reused", c_uint32),
        ("kept", c_uint32),
        ("dropped", c_uint64),
    ]


class pagedet_evidence(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("id", c_uint64),
        ("here", c_uint64 * 160),
        ("peer", c_uint64 * 160),
        ("texts", c_char * 512),
        ("hash", c_uint64 * 4),
        ("hash_key", c_uint64 * 4),
        ("hash_ns", c_uint64 * 4),
        ("hash_state", c_uint32 * 4),
        ("zero", c_uint32 * 4),
        ("questions", c_uint32),
        ("one_host", c_uint32),
        ("here_frozen", c_uint32),
        ("peer_frozen", c_uint32),
        ("here_read", c_uint32),
        ("peer_read", c_uint32),
        ("track", c_uint32),
        ("compared", c_uint32),
        ("bits", c_uint64),
        ("bytes", c_uint64),
        ("shape", c_uint32),
        ("file_written", c_uint32),
        ("file_ns", c_uint64),
        ("mappers", c_uint64),
        ("mapper_comm", c_uint64),
        ("mapper_pid", c_uint32),
        ("extra_mappers", c_uint32),
        ("counters_here", c_uint32),
        ("counters_peer", c_uint32),
        ("same_as_other", c_uint32),
        ("unique", c_uint32),
        ("same_as", c_uint64),
        ("earlier", c_uint32),
        ("mode", c_uint32),
        ("peer_complete", c_uint32),
        ("peer_discarded", c_uint32),
        ("pass_sent", c_uint64),
        ("earlier_pass", c_uint64),
        ("alloc_task", c_uint32),
        ("no_swap", c_uint32),
        ("alloc_frame", c_uint64),
        ("here_hole", c_uint32),
        ("peer_hole", c_uint32),
        ("more_hash", c_uint64 * 4),
        ("more_key", c_uint64 * 4),
        ("more_ns", c_uint64 * 4),
        ("more_state", c_uint32 * 4),
        ("more_zero", c_uint32 * 4),
        ("here_missing", c_uint32),
        ("peer_missing", c_uint32),
        ("here_discarded", c_uint32),
        ("sent_stopped", c_uint32),
        ("here_ran", c_uint32),
        ("peer_ran", c_uint32),
        ("here_other_maps", c_uint32),
        ("peer_other_maps", c_uint32),
        ("peer_mapper_pid", c_uint32),
        ("reserved", c_uint32),
        ("differences", c_uint64),
        ("folio_mapcount", c_uint64),
        ("folio_counted", c_uint32),
        ("reserved2", c_uint32),
        ("stopped_drained", c_uint32),
        ("reserved3", c_uint32),
    ]


class pagedet_fact(Structure):
    _fields_ = [
        ("value", c_uint64),
        ("time_ns", c_uint64),
        ("field", c_char_p),
        ("text", c_char_p),
        ("source", c_char_p),
        ("type", c_uint32),
        ("side", c_uint32),
    ]


class pagedet_alternative(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("cause", c_char_p),
        ("why", c_char_p),
        ("state", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_finding(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("evidence", c_uint64),
        ("id", c_uint64),
        ("name", c_char_p),
        ("cause", c_char_p),
        ("likely", c_char_p),
        ("advice", c_char_p),
        ("facts", POINTER(pagedet_fact)),
        ("unknown", POINTER(c_char_p)),
        ("n_facts", c_uint32),
        ("n_unknown", c_uint32),
        ("rule", c_uint32),
        ("question", c_uint32),
        ("verdict", c_uint32),
        ("confidence", c_uint32),
        ("likely_confidence", c_uint32),
        ("reserved", c_uint32),
        ("alternatives", POINTER(pagedet_alternative)),
        ("n_alternatives", c_uint32),
        ("lets_run", c_uint32),
        ("here_intact", c_uint32),
        ("peer_intact", c_uint32),
    ]


class pagedet_rule(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("name", c_char_p),
        ("cause", c_char_p),
        ("advice", c_char_p),
        ("id", c_uint32),
        ("question", c_uint32),
        ("verdict", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_collect_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("deadline_ns", c_uint64),
        ("mappers_ns", c_uint64),
        ("known_mappers", c_uint64),
        ("target", c_uint32),
        ("options", c_uint32),
        ("questions", c_uint32),
        ("sources", c_uint32),
        ("track", POINTER(pagedet_track)),
        ("mark", c_void_p),
        ("mark_size", c_uint64),
        ("again_ns", c_uint64),
    ]


class pagedet_check(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("path", c_char_p),
        ("first", c_uint64),
        ("pages", c_uint64),
        ("deadline_ns", c_uint64),
        ("watch_ns", c_uint64),
        ("mark", c_void_p),
        ("mark_size", c_uint64),
        ("kind", c_uint32),
        ("fd", c_int32),
    ]


class pagedet_verdict(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("first", c_uint64),
        ("pages", c_uint64),
        ("looked_at", c_uint64),
        ("violations", c_uint64),
        ("why", c_uint64),
        ("verdict", c_uint32),
        ("cause", c_uint32),
    ]


class pagedet_change(Structure):
    _fields_ = [
        ("change", c_uint32),
        ("changes", c_uint32),
        ("fields", c_uint64 * 2),
        ("undecided", c_uint64 * 2),
        ("pages", c_uint64),
    ]


class pagedet_diff_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("row_size", c_uint64),
        ("candidates", c_uint64),
        ("max_rows", c_uint64),
    ]


class pagedet_diff_totals(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("rows", c_uint64 * 2),
        ("compared", c_uint64),
        ("same", c_uint64),
        ("undecided", c_uint64),
        ("unmatched", c_uint64),
        ("unplaced", c_uint64),
        ("ambiguous", c_uint64),
        ("spilled", c_uint64),
        ("first", c_uint64 * 32),
        ("changes", c_uint64 * 32),
        ("fields", c_uint64 * 2),
        ("decided", c_uint64 * 2),
        ("undecided_in", c_uint64 * 128),
        ("why", c_uint32 * 128),
        ("by", c_uint32),
        ("notes", c_uint32),
        ("complete", c_uint32),
        ("reserved", c_uint32),
        ("events", c_uint64 * 32),
    ]


class pagedet_emit_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("format", c_uint32),
        ("options", c_uint32),
        ("fd", c_int32),
        ("width", c_uint32),
        ("by", c_uint32),
        ("limit", c_uint32),
        ("title", c_char_p),
    ]


class pagedet_track_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("methods", c_uint32),
        ("options", c_uint32),
    ]


class pagedet_track_range(Structure):
    _fields_ = [
        ("start", c_uint64),
        ("end", c_uint64),
        ("state", c_uint32),
        ("why", c_uint32),
    ]


class pagedet_track_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("addr", c_uint64),
        ("len", c_uint64),
        ("page_size", c_uint64),
        ("pages", c_uint64),
        ("armed", c_uint64),
        ("arms", c_uint64),
        ("first_ns", c_uint64),
        ("last_ns", c_uint64),
        ("huge_before", c_uint64),
        ("huge_after", c_uint64),
        ("huge_state", c_uint32),
        ("method", c_uint32),
        ("sees", c_uint32),
        ("blind", c_uint32),
        ("rearms", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_seen(Structure):
    _fields_ = [
        ("hash", c_uint64),
        ("time_ns", c_uint64),
        ("state", c_uint32),
        ("kind", c_uint32),
        ("bits", c_uint32),
        ("why", c_uint32),
    ]


class pagedet_look_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("deadline_ns", c_uint64),
        ("bytes", c_void_p),
        ("bytes_size", c_uint64),
        ("options", c_uint32),
        ("sources", c_uint32),
    ]


class pagedet_elsewhere(Structure):
    _fields_ = [("hash", c_uint64), ("n", c_uint64), ("last", c_uint64)]


class pagedet_versions_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("pages", c_uint64),
        ("max_bytes", c_uint64),
        ("hash_key", c_uint64),
        ("hash_zero", c_uint64),
    ]


class pagedet_version_of(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("hash", c_uint64),
        ("sent_ns", c_uint64),
        ("times", c_uint64),
        ("sent", c_uint32),
        ("dropped", c_uint32),
        ("before_hash", c_uint64),
        ("before_ns", c_uint64),
        ("stopped_hash", c_uint64),
        ("stopped_ns", c_uint64),
        ("before", c_uint32),
        ("stopped", c_uint32),
    ]


class pagedet_versions_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("pages", c_uint64),
        ("sent", c_uint64),
        ("sent_zero", c_uint64),
        ("sent_again", c_uint64),
        ("looks", c_uint64),
        ("older", c_uint64),
        ("bytes", c_uint64),
        ("full", c_uint32),
        ("stopped", c_uint32),
    ]


class pagedet_block(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("name", c_char_p),
        ("bytes", c_uint64),
        ("addr", c_uint64 * 2),
    ]


class pagedet_page_at(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("name", c_char_p),
        ("block", c_uint64),
        ("offset", c_uint64),
        ("addr", c_uint64 * 2),
        ("guest", c_uint64),
        ("has_guest", c_uint32),
        ("read_only", c_uint32),
    ]


class pagedet_pattern(Structure):
    _fields_ = [
        ("pages", c_uint64),
        ("first", c_uint64),
        ("last", c_uint64),
        ("equal", c_uint64),
        ("differ", c_uint64),
        ("absent", c_uint64),
        ("swapped", c_uint64),
        ("older", c_uint64),
        ("shift", c_int64),
        ("from", c_uint64),
        ("unsearched", c_uint64),
        ("kind", c_uint32),
        ("borders", c_uint32),
    ]


class pagedet_stream_options(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("page_size", c_uint64),
        ("packet_bytes", c_uint64),
        ("options", c_uint32),
        ("reserved", c_uint32),
    ]


class pagedet_streamed_page(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("block", c_char_p),
        ("offset", c_uint64),
        ("len", c_uint64),
        ("bytes", c_void_p),
        ("turn", c_uint64),
        ("kind", c_uint32),
        ("fill", c_uint32),
    ]


class pagedet_stream_info(Structure):
    _fields_ = [
        ("size", c_uint64),
        ("why", c_char_p),
        ("turns", c_uint64),
        ("is_main", c_uint32),
        ("over", c_uint32),
    ]


pagedet_log_fn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


pagedet_stop_fn = CFUNCTYPE(c_int, c_void_p)


pagedet_area_fn = CFUNCTYPE(c_int, c_void_p, POINTER(pagedet_area))


pagedet_log_record_fn = CFUNCTYPE(c_int, c_void_p, POINTER(pagedet_log_record))


# name: (result, arguments, since)
FUNCTIONS = {
    "pagedet_version": (
        c_char_p,
        [],
        "0.1"),
    "pagedet_version_number": (
        c_uint32,
        [],
        "0.1"),
    "pagedet_part": (
        POINTER(pagedet_part),
        [c_uint32],
        "0.1"),
    "pagedet_part_test": (
        c_int,
        [POINTER(pagedet), c_uint32],
        "0.1"),
    "pagedet_field": (
        POINTER(pagedet_field_info),
        [c_uint32],
        "0.1"),
    "pagedet_field_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_nearest": (
        c_int,
        [c_char_p, POINTER(c_char_p), c_uint64],
        "0.1"),
    "pagedet_quoted": (
        c_char_p,
        [c_char_p, c_char_p, c_char_p, c_uint64],
        "0.1"),
    "pagedet_value_name": (
        c_char_p,
        [c_uint32, c_uint64],
        "0.1"),
    "pagedet_state_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_state_text": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_source_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_source_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_new": (
        POINTER(pagedet),
        [],
        "0.1"),
    "pagedet_free": (
        None,
        [POINTER(pagedet)],
        "0.1"),
    "pagedet_options_init": (
        None,
        [POINTER(pagedet_options), c_uint64],
        "0.1"),
    "pagedet_open": (
        c_int,
        [POINTER(pagedet), POINTER(pagedet_options)],
        "0.1"),
    "pagedet_dup": (
        c_int,
        [POINTER(pagedet), POINTER(POINTER(pagedet))],
        "0.1"),
    "pagedet_set_log": (
        None,
        [POINTER(pagedet), pagedet_log_fn, c_void_p, c_int],
        "0.1"),
    "pagedet_set_stop": (
        None,
        [POINTER(pagedet), pagedet_stop_fn, c_void_p],
        "0.1"),
    "pagedet_error": (
        c_char_p,
        [POINTER(pagedet)],
        "0.1"),
    "pagedet_advice": (
        c_char_p,
        [POINTER(pagedet)],
        "0.1"),
    "pagedet_add_fd": (
        c_int,
        [POINTER(pagedet), c_uint32, c_uint32, c_int],
        "0.1"),
    "pagedet_info": (
        c_int,
        [POINTER(pagedet), POINTER(pagedet_info)],
        "0.1"),
    "pagedet_survey": (
        c_int,
        [POINTER(pagedet), c_uint32, c_uint32, POINTER(pagedet_ability)],
        "0.1"),
    "pagedet_query_init": (
        None,
        [POINTER(pagedet_query), c_uint64, c_uint64],
        "0.1"),
    "pagedet_fields_parse": (
        c_int,
        [POINTER(pagedet), c_char_p, POINTER(pagedet_query)],
        "0.1"),
    "pagedet_filter_fields": (
        c_int,
        [POINTER(pagedet), c_char_p, POINTER(c_uint64)],
        "0.1"),
    "pagedet_target_fields": (
        None,
        [c_uint32, POINTER(c_uint64)],
        "0.1"),
    "pagedet_query": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_query),
            POINTER(POINTER(pagedet_iter)),
        ],
        "0.1"),
    "pagedet_next": (
        c_int,
        [POINTER(pagedet_iter), POINTER(pagedet_page), c_uint32],
        "0.1"),
    "pagedet_next_columns": (
        c_int,
        [POINTER(pagedet_iter), POINTER(pagedet_columns)],
        "0.1"),
    "pagedet_iter_retarget": (
        c_int,
        [POINTER(pagedet_iter), POINTER(pagedet_item), c_uint64],
        "0.1"),
    "pagedet_cancel": (
        None,
        [POINTER(pagedet_iter)],
        "0.1"),
    "pagedet_iter_free": (
        None,
        [POINTER(pagedet_iter)],
        "0.1"),
    "pagedet_iter_fields": (
        None,
        [POINTER(pagedet_iter), POINTER(c_uint64)],
        "0.1"),
    "pagedet_why": (
        c_uint32,
        [POINTER(pagedet_iter), c_uint32],
        "0.1"),
    "pagedet_why_advice": (
        c_char_p,
        [POINTER(pagedet_iter), c_uint32],
        "0.1"),
    "pagedet_coverage": (
        c_int,
        [POINTER(pagedet_iter), POINTER(pagedet_coverage)],
        "0.1"),
    "pagedet_mappers": (
        c_int,
        [POINTER(pagedet_iter), c_uint64, POINTER(pagedet_mappers)],
        "0.1"),
    "pagedet_string": (
        c_void_p,
        [POINTER(pagedet_iter), c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_stack": (
        c_int,
        [POINTER(pagedet_iter), c_uint64, POINTER(c_char_p), c_uint32],
        "0.1"),
    "pagedet_threads": (
        c_int,
        [POINTER(pagedet_iter), c_uint32, POINTER(c_uint32), c_uint32],
        "0.1"),
    "pagedet_task_stack": (
        c_int,
        [POINTER(pagedet_iter), c_uint32, POINTER(c_char_p), c_uint32],
        "0.1"),
    "pagedet_user_stack": (
        c_int,
        [POINTER(pagedet_iter), c_uint32, POINTER(pagedet_frame), c_uint32],
        "0.1"),
    "pagedet_page_bytes": (
        c_void_p,
        [POINTER(pagedet_iter), c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_content": (
        c_int,
        [
            POINTER(pagedet),
            c_void_p,
            c_uint64,
            c_uint32,
            POINTER(pagedet_content),
        ],
        "0.1"),
    "pagedet_hash_key_id": (
        c_int,
        [POINTER(pagedet), POINTER(c_uint64)],
        "0.1"),
    "pagedet_compare_bytes": (
        c_int,
        [c_void_p, c_void_p, c_uint64, POINTER(pagedet_difference)],
        "0.1"),
    "pagedet_shape_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_format": (
        c_int,
        [
            POINTER(pagedet_iter),
            POINTER(pagedet_page),
            c_uint32,
            c_char_p,
            c_size_t,
        ],
        "0.1"),
    "pagedet_index_new": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_index_options),
            POINTER(POINTER(pagedet_index)),
        ],
        "0.1"),
    "pagedet_index_find": (
        c_uint64,
        [POINTER(pagedet_index), c_uint64, POINTER(pagedet_mapping), c_uint64],
        "0.1"),
    "pagedet_index_info": (
        c_int,
        [POINTER(pagedet_index), POINTER(pagedet_index_info)],
        "0.1"),
    "pagedet_index_free": (
        None,
        [POINTER(pagedet_index)],
        "0.1"),
    "pagedet_tasks": (
        c_int,
        [
            POINTER(pagedet),
            c_uint32,
            POINTER(pagedet_task),
            c_uint64,
            POINTER(c_uint64),
        ],
        "0.1"),
    "pagedet_areas": (
        c_int,
        [POINTER(pagedet), c_uint32, pagedet_area_fn, c_void_p],
        "0.1"),
    "pagedet_symbol": (
        c_int,
        [POINTER(pagedet), c_char_p, POINTER(c_uint64)],
        "0.1"),
    "pagedet_kernel_log": (
        c_int,
        [POINTER(pagedet), pagedet_log_record_fn, c_void_p, POINTER(c_uint64)],
        "0.1"),
    "pagedet_usage": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_usage_options),
            POINTER(POINTER(pagedet_usages)),
        ],
        "0.1"),
    "pagedet_usage_next": (
        c_int,
        [POINTER(pagedet_usages), POINTER(pagedet_usage)],
        "0.1"),
    "pagedet_usage_info": (
        c_int,
        [POINTER(pagedet_usages), POINTER(pagedet_usage_info)],
        "0.1"),
    "pagedet_usage_free": (
        None,
        [POINTER(pagedet_usages)],
        "0.1"),
    "pagedet_heat": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_heat_options),
            POINTER(POINTER(pagedet_heat)),
        ],
        "0.1"),
    "pagedet_heat_info": (
        c_int,
        [POINTER(pagedet_heat), POINTER(pagedet_heat_info)],
        "0.1"),
    "pagedet_heat_monitor": (
        c_int,
        [POINTER(pagedet_heat), c_uint64, POINTER(pagedet_heat_monitor)],
        "0.1"),
    "pagedet_heat_free": (
        None,
        [POINTER(pagedet_heat)],
        "0.1"),
    "pagedet_owner_key_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_owner_key_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_owners": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_owners_query),
            POINTER(POINTER(pagedet_owners)),
        ],
        "0.1"),
    "pagedet_owners_compare": (
        c_int,
        [POINTER(pagedet_owners), POINTER(pagedet_owners)],
        "0.1"),
    "pagedet_owners_order": (
        c_int,
        [POINTER(pagedet_owners), c_char_p, c_uint64],
        "0.1"),
    "pagedet_owners_next": (
        c_int,
        [POINTER(pagedet_owners), POINTER(pagedet_owner_group)],
        "0.1"),
    "pagedet_owners_text": (
        c_void_p,
        [POINTER(pagedet_owners), c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_owners_stack": (
        c_int,
        [POINTER(pagedet_owners), c_uint64, POINTER(c_char_p), c_uint32],
        "0.1"),
    "pagedet_owners_total": (
        c_int,
        [POINTER(pagedet_owners), POINTER(pagedet_owners_total)],
        "0.1"),
    "pagedet_owners_free": (
        None,
        [POINTER(pagedet_owners)],
        "0.1"),
    "pagedet_alloc_key_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_alloc_key_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_allocs": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_allocs_query),
            POINTER(POINTER(pagedet_allocs)),
        ],
        "0.1"),
    "pagedet_allocs_compare": (
        c_int,
        [POINTER(pagedet_allocs), POINTER(pagedet_allocs)],
        "0.1"),
    "pagedet_allocs_verify": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_allocs),
            POINTER(pagedet_verify_options),
        ],
        "0.1"),
    "pagedet_allocs_order": (
        c_int,
        [POINTER(pagedet_allocs), c_char_p],
        "0.1"),
    "pagedet_allocs_where": (
        c_int,
        [POINTER(pagedet_allocs), c_char_p],
        "0.1"),
    "pagedet_allocs_next": (
        c_int,
        [POINTER(pagedet_allocs), POINTER(pagedet_alloc_group)],
        "0.1"),
    "pagedet_allocs_text": (
        c_void_p,
        [POINTER(pagedet_allocs), c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_allocs_gfp": (
        c_char_p,
        [POINTER(pagedet_allocs), c_uint64],
        "0.1"),
    "pagedet_allocs_total": (
        c_int,
        [POINTER(pagedet_allocs), POINTER(pagedet_allocs_total)],
        "0.1"),
    "pagedet_allocs_free": (
        None,
        [POINTER(pagedet_allocs)],
        "0.1"),
    "pagedet_found_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_allocs_next_finding": (
        c_int,
        [POINTER(pagedet_allocs), POINTER(pagedet_alloc_finding)],
        "0.1"),
    "pagedet_allocs_release": (
        c_char_p,
        [POINTER(pagedet_allocs)],
        "0.1"),
    "pagedet_allocs_blame": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_allocs),
            POINTER(pagedet_blame_query),
            POINTER(POINTER(pagedet_blame)),
        ],
        "0.1"),
    "pagedet_blame_next_holder": (
        c_int,
        [POINTER(pagedet_blame), POINTER(pagedet_blame_holder)],
        "0.1"),
    "pagedet_blame_next_block": (
        c_int,
        [POINTER(pagedet_blame), POINTER(pagedet_blame_block)],
        "0.1"),
    "pagedet_blame_total": (
        c_int,
        [POINTER(pagedet_blame), POINTER(pagedet_blame_total)],
        "0.1"),
    "pagedet_blame_free": (
        None,
        [POINTER(pagedet_blame)],
        "0.1"),
    "pagedet_allocs_timeline": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_timeline_query),
            POINTER(POINTER(pagedet_timeline)),
        ],
        "0.1"),
    "pagedet_timeline_next": (
        c_int,
        [POINTER(pagedet_timeline), POINTER(pagedet_timeline_event)],
        "0.1"),
    "pagedet_timeline_text": (
        c_void_p,
        [POINTER(pagedet_timeline), c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_timeline_gfp": (
        c_char_p,
        [POINTER(pagedet_timeline), c_uint64],
        "0.1"),
    "pagedet_timeline_why": (
        c_char_p,
        [POINTER(pagedet_timeline)],
        "0.1"),
    "pagedet_timeline_total": (
        c_int,
        [POINTER(pagedet_timeline), POINTER(pagedet_timeline_total)],
        "0.1"),
    "pagedet_timeline_trace": (
        c_int,
        [POINTER(pagedet_timeline), POINTER(pagedet_allocs_total)],
        "0.1"),
    "pagedet_timeline_free": (
        None,
        [POINTER(pagedet_timeline)],
        "0.1"),
    "pagedet_allocs_record": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_record_options),
            POINTER(POINTER(pagedet_recorder)),
        ],
        "0.1"),
    "pagedet_recorder_stop": (
        c_int,
        [POINTER(pagedet_recorder)],
        "0.1"),
    "pagedet_recorder_write": (
        c_int,
        [POINTER(pagedet_recorder), c_int],
        "0.1"),
    "pagedet_recorder_allocs": (
        c_int,
        [POINTER(pagedet_recorder), POINTER(POINTER(pagedet_allocs))],
        "0.1"),
    "pagedet_recorder_total": (
        c_int,
        [POINTER(pagedet_recorder), POINTER(pagedet_record_total)],
        "0.1"),
    "pagedet_recorder_free": (
        None,
        [POINTER(pagedet_recorder)],
        "0.1"),
    "pagedet_recorder_stray": (
        c_int,
        [POINTER(pagedet), c_uint32, c_char_p, c_size_t],
        "0.1"),
    "pagedet_kmap_key_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_kmap_key_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_kmap": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_kmap_query),
            POINTER(POINTER(pagedet_kmap)),
        ],
        "0.1"),
    "pagedet_kmap_next": (
        c_int,
        [POINTER(pagedet_kmap), POINTER(pagedet_kmap_object)],
        "0.1"),
    "pagedet_kmap_next_access": (
        c_int,
        [POINTER(pagedet_kmap), POINTER(pagedet_kmap_access)],
        "0.1"),
    "pagedet_kmap_compare": (
        c_int,
        [POINTER(pagedet_kmap), POINTER(pagedet_kmap)],
        "0.1"),
    "pagedet_kmap_order": (
        c_int,
        [POINTER(pagedet_kmap), c_char_p],
        "0.1"),
    "pagedet_kmap_next_group": (
        c_int,
        [POINTER(pagedet_kmap), POINTER(pagedet_kmap_group)],
        "0.1"),
    "pagedet_kmap_text": (
        c_void_p,
        [POINTER(pagedet_kmap), c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_kmap_total": (
        c_int,
        [POINTER(pagedet_kmap), POINTER(pagedet_kmap_total)],
        "0.1"),
    "pagedet_kmap_free": (
        None,
        [POINTER(pagedet_kmap)],
        "0.1"),
    "pagedet_kmap_calls": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_kmap_query),
            POINTER(POINTER(pagedet_kmap_calls)),
        ],
        "0.1"),
    "pagedet_kmap_next_call": (
        c_int,
        [POINTER(pagedet_kmap_calls), POINTER(pagedet_kmap_call)],
        "0.1"),
    "pagedet_kmap_calls_total": (
        c_int,
        [POINTER(pagedet_kmap_calls), POINTER(pagedet_kmap_calls_total)],
        "0.1"),
    "pagedet_kmap_calls_free": (
        None,
        [POINTER(pagedet_kmap_calls)],
        "0.1"),
    "pagedet_kmap_pages": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_kmap),
            POINTER(POINTER(pagedet_kmap_pages)),
        ],
        "0.1"),
    "pagedet_kmap_pages_info": (
        c_int,
        [POINTER(pagedet_kmap_pages), POINTER(pagedet_kmap_pages_info)],
        "0.1"),
    "pagedet_kmap_pages_free": (
        None,
        [POINTER(pagedet_kmap_pages)],
        "0.1"),
    "pagedet_memorizer": (
        c_int,
        [POINTER(pagedet), POINTER(POINTER(pagedet_memorizer))],
        "0.1"),
    "pagedet_memorizer_file": (
        c_int,
        [
            POINTER(pagedet_memorizer),
            c_uint32,
            POINTER(pagedet_memorizer_file),
        ],
        "0.1"),
    "pagedet_memorizer_set": (
        c_int,
        [POINTER(pagedet_memorizer), c_uint32, c_uint64],
        "0.1"),
    "pagedet_memorizer_stats": (
        c_int,
        [POINTER(pagedet_memorizer), POINTER(c_char_p), POINTER(c_uint64)],
        "0.1"),
    "pagedet_memorizer_free": (
        None,
        [POINTER(pagedet_memorizer)],
        "0.1"),
    "pagedet_kmap_record": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_kmap_record_options),
            POINTER(POINTER(pagedet_kmap_recorder)),
        ],
        "0.1"),
    "pagedet_kmap_recorder_stop": (
        c_int,
        [POINTER(pagedet_kmap_recorder)],
        "0.1"),
    "pagedet_kmap_recorder_write": (
        c_int,
        [POINTER(pagedet_kmap_recorder), c_int],
        "0.1"),
    "pagedet_kmap_recorder_total": (
        c_int,
        [POINTER(pagedet_kmap_recorder), POINTER(pagedet_kmap_record_total)],
        "0.1"),
    "pagedet_kmap_recorder_free": (
        None,
        [POINTER(pagedet_kmap_recorder)],
        "0.1"),
    "pagedet_kmap_watch": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_kmap_watch_options),
            POINTER(POINTER(pagedet_kmap_watch)),
        ],
        "0.1"),
    "pagedet_kmap_watch_stop": (
        c_int,
        [POINTER(pagedet_kmap_watch)],
        "0.1"),
    "pagedet_kmap_watch_write": (
        c_int,
        [POINTER(pagedet_kmap_watch), c_int],
        "0.1"),
    "pagedet_kmap_watch_word": (
        c_int,
        [POINTER(pagedet_kmap_watch), c_uint64, POINTER(pagedet_kmap_word)],
        "0.1"),
    "pagedet_kmap_watch_total": (
        c_int,
        [POINTER(pagedet_kmap_watch), POINTER(pagedet_kmap_watch_total)],
        "0.1"),
    "pagedet_kmap_watch_free": (
        None,
        [POINTER(pagedet_kmap_watch)],
        "0.1"),
    "pagedet_kmap_cache": (
        c_int,
        [
            POINTER(pagedet),
            c_char_p,
            c_uint64,
            POINTER(POINTER(pagedet_kmap_cache)),
        ],
        "0.1"),
    "pagedet_kmap_cache_draw": (
        c_int,
        [POINTER(pagedet_kmap_cache), POINTER(pagedet_kmap_drawn)],
        "0.1"),
    "pagedet_kmap_cache_has": (
        c_int,
        [POINTER(pagedet_kmap_cache), POINTER(pagedet_kmap_watch)],
        "0.1"),
    "pagedet_kmap_cache_add": (
        c_int,
        [POINTER(pagedet_kmap_cache), POINTER(pagedet_kmap_watch), c_uint64],
        "0.1"),
    "pagedet_kmap_cache_write": (
        c_int,
        [POINTER(pagedet_kmap_cache), c_int],
        "0.1"),
    "pagedet_kmap_cache_name": (
        c_char_p,
        [POINTER(pagedet_kmap_cache)],
        "0.1"),
    "pagedet_kmap_cache_total": (
        c_int,
        [POINTER(pagedet_kmap_cache), POINTER(pagedet_kmap_cache_total)],
        "0.1"),
    "pagedet_kmap_cache_free": (
        None,
        [POINTER(pagedet_kmap_cache)],
        "0.1"),
    "pagedet_rule": (
        POINTER(pagedet_rule),
        [c_uint32],
        "0.1"),
    "pagedet_confidence_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_question_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_explain": (
        c_int,
        [
            POINTER(pagedet_evidence),
            c_uint64,
            c_void_p,
            c_uint64,
            POINTER(pagedet_finding),
            c_uint64,
        ],
        "0.1"),
    "pagedet_collect": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_item),
            c_uint64,
            POINTER(pagedet_collect_options),
            POINTER(pagedet_evidence),
        ],
        "0.1"),
    "pagedet_evidence_save": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_evidence),
            c_uint64,
            c_void_p,
            c_uint64,
            POINTER(c_uint64),
        ],
        "0.1"),
    "pagedet_evidence_load": (
        c_int,
        [
            POINTER(pagedet),
            c_void_p,
            c_uint64,
            POINTER(pagedet_evidence),
            c_uint64,
        ],
        "0.1"),
    "pagedet_evidence_join": (
        c_int,
        [POINTER(pagedet_evidence), c_uint64, POINTER(pagedet_evidence)],
        "0.1"),
    "pagedet_check_by_name": (
        c_int,
        [c_char_p],
        "0.1"),
    "pagedet_check_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_verdict_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_cause_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_check": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_check),
            POINTER(POINTER(pagedet_checked)),
        ],
        "0.1"),
    "pagedet_checked_next": (
        c_int,
        [POINTER(pagedet_checked), POINTER(pagedet_verdict)],
        "0.1"),
    "pagedet_checked_whole": (
        c_int,
        [POINTER(pagedet_checked), POINTER(pagedet_verdict)],
        "0.1"),
    "pagedet_checked_text": (
        c_char_p,
        [POINTER(pagedet_checked), c_uint64],
        "0.1"),
    "pagedet_checked_free": (
        None,
        [POINTER(pagedet_checked)],
        "0.1"),
    "pagedet_mark": (
        c_int,
        [POINTER(pagedet), c_void_p, c_size_t],
        "0.1"),
    "pagedet_mark_watch": (
        c_int,
        [POINTER(pagedet), c_void_p, c_size_t],
        "0.1"),
    "pagedet_mark_end": (
        c_int,
        [POINTER(pagedet), c_void_p, c_size_t],
        "0.1"),
    "pagedet_change_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_saved_query": (
        c_int,
        [POINTER(pagedet), POINTER(pagedet_query)],
        "0.1"),
    "pagedet_diff": (
        c_int,
        [
            POINTER(pagedet_iter),
            POINTER(pagedet_iter),
            POINTER(pagedet_diff_options),
            POINTER(POINTER(pagedet_diff)),
        ],
        "0.1"),
    "pagedet_diff_next": (
        c_int,
        [
            POINTER(pagedet_diff),
            POINTER(pagedet_change),
            POINTER(pagedet_page),
            POINTER(pagedet_page),
            c_uint32,
        ],
        "0.1"),
    "pagedet_diff_string": (
        c_void_p,
        [POINTER(pagedet_diff), c_uint32, c_uint64, POINTER(c_size_t)],
        "0.1"),
    "pagedet_diff_totals": (
        c_int,
        [POINTER(pagedet_diff), POINTER(pagedet_diff_totals)],
        "0.1"),
    "pagedet_diff_free": (
        None,
        [POINTER(pagedet_diff)],
        "0.1"),
    "pagedet_emitter_new": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_emit_options),
            POINTER(POINTER(pagedet_emitter)),
        ],
        "0.1"),
    "pagedet_emit_all": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_iter)],
        "0.1"),
    "pagedet_emit_survey": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet)],
        "0.1"),
    "pagedet_emit_owners": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_owners), c_uint64],
        "0.1"),
    "pagedet_emit_allocs": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_allocs), c_uint64],
        "0.1"),
    "pagedet_emit_alloc_findings": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_allocs)],
        "0.1"),
    "pagedet_emit_blame": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_blame), c_int, c_uint64],
        "0.1"),
    "pagedet_emit_timeline": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_timeline), c_uint64],
        "0.1"),
    "pagedet_emit_kmap": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_kmap), c_int, c_uint64],
        "0.1"),
    "pagedet_emit_kmap_calls": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_kmap_calls), c_uint64],
        "0.1"),
    "pagedet_emit_findings": (
        c_int,
        [
            POINTER(pagedet_emitter),
            POINTER(pagedet_finding),
            c_uint64,
            POINTER(pagedet_evidence),
        ],
        "0.1"),
    "pagedet_emit_checked": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_checked)],
        "0.1"),
    "pagedet_emit_diff": (
        c_int,
        [POINTER(pagedet_emitter), POINTER(pagedet_diff)],
        "0.1"),
    "pagedet_emitter_finish": (
        c_int,
        [POINTER(pagedet_emitter)],
        "0.1"),
    "pagedet_emitter_text": (
        c_void_p,
        [POINTER(pagedet_emitter), POINTER(c_size_t)],
        "0.1"),
    "pagedet_emitter_free": (
        None,
        [POINTER(pagedet_emitter)],
        "0.1"),
    "pagedet_track_new": (
        c_int,
        [
            POINTER(pagedet),
            c_uint64,
            c_uint64,
            POINTER(pagedet_track_options),
            POINTER(POINTER(pagedet_track)),
        ],
        "0.1"),
    "pagedet_track_arm": (
        c_int,
        [POINTER(pagedet_track)],
        "0.1"),
    "pagedet_track_read": (
        c_int,
        [
            POINTER(pagedet_track),
            POINTER(c_uint64),
            c_uint32,
            POINTER(pagedet_track_range),
            c_uint32,
        ],
        "0.1"),
    "pagedet_track_why": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_track_info": (
        c_int,
        [POINTER(pagedet_track), POINTER(pagedet_track_info)],
        "0.1"),
    "pagedet_track_free": (
        None,
        [POINTER(pagedet_track)],
        "0.1"),
    "pagedet_look": (
        c_int,
        [
            POINTER(pagedet),
            POINTER(pagedet_item),
            c_uint64,
            POINTER(pagedet_look_options),
            POINTER(pagedet_seen),
            c_uint64,
        ],
        "0.1"),
    "pagedet_seen_equal": (
        c_uint32,
        [POINTER(pagedet_seen), POINTER(pagedet_seen)],
        "0.1"),
    "pagedet_seen_find": (
        c_int,
        [
            POINTER(pagedet_seen),
            c_uint64,
            POINTER(pagedet_elsewhere),
            c_uint64,
        ],
        "0.1"),
    "pagedet_versions_new": (
        c_int,
        [
            POINTER(pagedet_versions_options),
            POINTER(POINTER(pagedet_versions)),
        ],
        "0.1"),
    "pagedet_versions_sent": (
        c_int,
        [POINTER(pagedet_versions), c_uint64, c_uint32, c_uint64, c_uint64],
        "0.1"),
    "pagedet_versions_dropped": (
        c_int,
        [POINTER(pagedet_versions), c_uint64, c_uint64],
        "0.1"),
    "pagedet_versions_complete": (
        c_int,
        [POINTER(pagedet_versions), c_uint32],
        "0.1"),
    "pagedet_versions_look": (
        c_int,
        [POINTER(pagedet_versions), POINTER(pagedet_seen), c_uint64, c_uint32],
        "0.1"),
    "pagedet_versions_had": (
        c_int,
        [POINTER(pagedet_versions), c_uint64, c_uint64],
        "0.1"),
    "pagedet_versions_of": (
        c_int,
        [POINTER(pagedet_versions), c_uint64, POINTER(pagedet_version_of)],
        "0.1"),
    "pagedet_versions_info": (
        c_int,
        [POINTER(pagedet_versions), POINTER(pagedet_versions_info)],
        "0.1"),
    "pagedet_versions_evidence": (
        c_int,
        [POINTER(pagedet_versions), c_uint64, POINTER(pagedet_evidence)],
        "0.1"),
    "pagedet_seen_evidence": (
        c_int,
        [POINTER(pagedet_seen), c_uint32, c_uint64, POINTER(pagedet_evidence)],
        "0.1"),
    "pagedet_versions_free": (
        None,
        [POINTER(pagedet_versions)],
        "0.1"),
    "pagedet_blocks_new": (
        c_int,
        [c_uint64, POINTER(POINTER(pagedet_blocks))],
        "0.1"),
    "pagedet_blocks_add": (
        c_int,
        [POINTER(pagedet_blocks), POINTER(pagedet_block)],
        "0.1"),
    "pagedet_blocks_add_range": (
        c_int,
        [
            POINTER(pagedet_blocks),
            c_char_p,
            c_uint64,
            c_uint64,
            c_uint64,
            c_uint32,
        ],
        "0.1"),
    "pagedet_blocks_load": (
        c_int,
        [POINTER(pagedet_blocks), c_char_p, c_uint64, POINTER(c_uint64)],
        "0.1"),
    "pagedet_blocks_count": (
        c_uint64,
        [POINTER(pagedet_blocks)],
        "0.1"),
    "pagedet_blocks_page": (
        c_uint64,
        [POINTER(pagedet_blocks), c_char_p, c_uint64],
        "0.1"),
    "pagedet_blocks_guest": (
        c_uint64,
        [POINTER(pagedet_blocks), c_uint64],
        "0.1"),
    "pagedet_blocks_at": (
        c_int,
        [POINTER(pagedet_blocks), c_uint64, POINTER(pagedet_page_at)],
        "0.1"),
    "pagedet_blocks_items": (
        c_int,
        [
            POINTER(pagedet_blocks),
            c_uint32,
            c_uint32,
            POINTER(pagedet_item),
            c_uint64,
        ],
        "0.1"),
    "pagedet_blocks_free": (
        None,
        [POINTER(pagedet_blocks)],
        "0.1"),
    "pagedet_patterns": (
        c_int,
        [
            POINTER(pagedet_seen),
            POINTER(pagedet_seen),
            c_uint64,
            POINTER(pagedet_blocks),
            POINTER(pagedet_versions),
            POINTER(pagedet_pattern),
            c_uint64,
            POINTER(c_uint8),
        ],
        "0.1"),
    "pagedet_pattern_text": (
        c_int,
        [
            POINTER(pagedet_pattern),
            c_uint64,
            c_char_p,
            c_char_p,
            c_char_p,
            c_uint64,
        ],
        "0.1"),
    "pagedet_pattern_name": (
        c_char_p,
        [c_uint32],
        "0.1"),
    "pagedet_stream_new": (
        c_int,
        [POINTER(pagedet_stream_options), POINTER(POINTER(pagedet_stream))],
        "0.1"),
    "pagedet_stream_take": (
        c_int,
        [
            POINTER(pagedet_stream),
            c_void_p,
            c_uint64,
            POINTER(c_uint64),
            POINTER(pagedet_streamed_page),
        ],
        "0.1"),
    "pagedet_stream_info": (
        c_int,
        [POINTER(pagedet_stream), POINTER(pagedet_stream_info)],
        "0.1"),
    "pagedet_stream_free": (
        None,
        [POINTER(pagedet_stream)],
        "0.1"),
}
