/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: names and versions at run time, the handle. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

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
	uint64_t page_size;	/* bytes; 0 unknown, as of a kernel of which
				 * there is only a log */
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
	const char *advice;	/* what would make it possible, or in which way
				 * it is possible; may be "" */
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
