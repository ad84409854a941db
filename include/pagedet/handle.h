/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the handle, and names and versions at run time. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Library, version, names
 */

struct pagedet;
struct pagedet_iter;
struct pagedet_index;
struct pagedet_allocs;
struct pagedet_kmap;
struct pagedet_kmap_calls;
struct pagedet_emitter;

/* A part of the library that a build may leave out. */
struct pagedet_part {
	uint64_t size;		/* this struct's size in the running library */
	const char *name;	/* "json" */
	const char *purpose;	/* what it is for, as a text */
	uint32_t built;		/* 1 if this library contains it */
	uint32_t reserved;
};

/**
 * pagedet_version - version of the running library as text
 * Return: "MAJOR.MINOR.PATCH"; never NULL [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_version(void);

/**
 * pagedet_version_number - version of the running library as a number
 * Return: MAJOR * 1000000 + MINOR * 1000 + PATCH.
 * Errors: none.
 * Since: 0.1
 */
uint32_t pagedet_version_number(void);

/**
 * pagedet_part - describe an optional part, whether it was built or not
 * @n: [in] 0, 1, 2 ...
 * Return: part @n, or NULL past the last [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const struct pagedet_part *pagedet_part(uint32_t n);

/**
 * pagedet_part_test - try whether a part can be used now
 * A part may need a library that libpagedet loads only when a call needs it.
 * @pd: [in] takes the error text and the advice, also if it is not open
 * @n: [in] number of the part, as for pagedet_part()
 * Return: 0, or a negative errno.
 * Errors: EINVAL there is no part @n; ENOSYS it was not built, or its library
 *         cannot be loaded: pagedet_error() says why, and pagedet_advice() what
 *         to install; ENOMEM.
 * Since: 0.1
 */
int pagedet_part_test(struct pagedet *pd, uint32_t n);

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
 * @name: [in] the name in JSON, for example "memcg_path", or an alias, for
 *        example "cgroup" (see pagedet-fields(7))
 * Return: PAGEDET_FIELD_*, or a negative errno.
 * Errors: ENOENT there is no such field.
 * Since: 0.1
 */
int pagedet_field_by_name(const char *name);

/**
 * pagedet_nearest - find the name that a mistyped word was meant to be
 * A name is near if few letters of the word are wrong, missing, added or
 * swapped, or if the name begins with the word.
 * @word: [in] the mistyped word
 * @names: [in] [len: n] the valid names
 * @n: [in] number of @names
 * Return: the index of the nearest name, or a negative errno.
 * Errors: ENOENT no name is near.
 * Since: 0.1
 */
int pagedet_nearest(const char *word, const char *const *names, uint64_t n);

/**
 * pagedet_quoted - write a word as a shell takes it
 * For commands that a user pastes: the names of files, tasks and cgroups may be
 * anything, and must not become something else.
 * @word: [in] the word
 * @instead: [in,nullable] what to return if @word cannot be written
 * @ret: [out] [len: size] the word, quoted if that is necessary
 * @size: [in] size of @ret in bytes
 * Return: @ret, or @instead if the word does not fit, or has control
 *         characters, which no terminal shows as they are
 *         [nullable] [borrowed: as long as these].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_quoted(const char *word, const char *instead, char *ret,
			   uint64_t size);

/**
 * pagedet_value_name - name a value of a field
 * @field: [in] PAGEDET_FIELD_* of type PAGEDET_TYPE_ENUM or PAGEDET_TYPE_MASK
 * @value: [in] the value of an enum, or the bit number of a mask
 * Return: the name, or NULL if it has none [nullable] [borrowed: forever]. Text
 *         and JSON call a page flag without a name bitNN.
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_value_name(uint32_t field, uint64_t value);

/**
 * pagedet_state_name - name the state of a cell
 * @state: [in] PAGEDET_NOT_ASKED ... PAGEDET_TIMEOUT
 * Return: "have", "none", "no_access" ..., or NULL if the number is not a state
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_state_name(uint32_t state);

/**
 * pagedet_state_text - explain the state of a cell
 * @state: [in] PAGEDET_NOT_ASKED ... PAGEDET_TIMEOUT
 * Return: one line, or NULL if the number is not a state [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_state_text(uint32_t state);

/**
 * pagedet_source_name - name a source
 * @source: [in] PAGEDET_SOURCE_*
 * Return: "procfs" ..., or NULL if the number is not a source [nullable]
 *         [borrowed: forever].
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
 * pagedet_options_init(): both set size and zero the rest.
 */
struct pagedet_options {
	uint64_t size;		/* sizeof(struct pagedet_options) */
	const char *root;	/* [nullable] read /proc and /sys below this
				 * directory; NULL is "/" */
	const char *const *files; /* [nullable] [len: n_files] read these files
				 * instead of the running kernel; a split dump
				 * has several */
	uint64_t n_files;
	const char *vmlinux;	/* [nullable] ELF file of this kernel, matched
				 * by its build id: gives symbols and types
				 * where the kernel's own cannot be read; never
				 * required */
	const char *btf;	/* [nullable] type information to use instead of
				 * the kernel's own; checked against
				 * VMCOREINFO */
	const char *vmcoreinfo;	/* [nullable] VMCOREINFO text for a dump that
				 * lacks it; checked against the dump's
				 * memory */
	const char *hash_key;	/* [nullable] file with the key for hashes of
				 * contents, created if missing; NULL is a
				 * random key of this handle */
	const char *libexec_dir; /* [nullable] directory of the helper programs;
				 * NULL is the directory compiled in */
	uint32_t sources;	/* allowed PAGEDET_SOURCE_BIT()s; 0 is all */
	uint32_t reserved;
	uint64_t page_size;	/* of the machine that wrote the log in files,
				 * in bytes, for a log that does not say it; 0
				 * not known */
};

#define PAGEDET_OPTIONS_INIT \
	{ sizeof(struct pagedet_options), NULL, NULL, 0, NULL, NULL, NULL, \
	  NULL, NULL, 0, 0, 0 }

/* The kind of file that pagedet_add_fd() passes in. */
enum pagedet_fd_kind {
	PAGEDET_FD_KPAGEFLAGS = 1,
	PAGEDET_FD_KPAGECOUNT = 2,
	PAGEDET_FD_KPAGECGROUP = 3,
	PAGEDET_FD_PAGEMAP = 4,	/* of one pid */
	PAGEDET_FD_MAPS = 5	/* of one pid */
};

/* Facts about the opened kernel. */
struct pagedet_info {
	uint64_t size;		/* sizeof(struct pagedet_info) */
	uint64_t page_size;	/* bytes; 0 unknown, for example if only a log
				 * of the kernel exists */
	uint64_t max_pfn;	/* first pfn past the end; 0 unknown */
	uint64_t nodes;		/* NUMA nodes with memory; 0 unknown */
	uint64_t first_ns;	/* CLOCK_REALTIME of pagedet_open(); of a dump
				 * the time of the crash, of a snapshot that of
				 * its first row; 0 unknown */
	uint64_t last_ns;	/* of the last pagedet_query(); of a dump the
				 * time of the crash, of a snapshot that of its
				 * last row; 0 unknown */
	uint32_t live;		/* 1 for the running kernel */
	uint32_t big_endian;
	uint32_t sources;	/* open PAGEDET_SOURCE_BIT()s */
	uint32_t reserved;
	const char *arch;	/* "x86_64"; "" unknown */
	const char *release;	/* "6.12.115+deb12-cloud-amd64"; "" unknown */
	const char *boot_id;	/* 36 characters; "" unknown */
};

/*
 * Inputs that libpagedet needs to answer a field from a dump. Each tier
 * includes the one before.
 */
enum pagedet_tier {
	PAGEDET_TIER_VMCOREINFO = 1,
	PAGEDET_TIER_TYPES = 2,	/* also symbols and types: the kernel's own
				 * (kallsyms, BTF) */
	PAGEDET_TIER_VMLINUX = 3 /* also the kernel's vmlinux, which can replace
				 * both */
};

/* Whether one source can answer one field. */
struct pagedet_ability {
	uint64_t size;		/* sizeof(struct pagedet_ability) */
	uint32_t can;		/* 1 if it can, here and now */
	uint32_t reason;	/* PAGEDET_UNSUPPORTED ... if it cannot */
	uint32_t cost;		/* PAGEDET_COST_* if it can */
	uint32_t tier;		/* PAGEDET_TIER_* that a dump needs; 0 if no
				 * dump has the field */
	const char *why;	/* explains the reason; "" if it can */
	const char *advice;	/* what would make an answer possible, or under
				 * which condition it is; may be "" */
};

enum pagedet_cost {
	PAGEDET_COST_FREE = 0,	/* part of data that is read anyway */
	PAGEDET_COST_READ = 1,	/* one more read per page */
	PAGEDET_COST_LOOKUP = 2, /* names and paths: cached searches of text */
	PAGEDET_COST_SWEEP = 3,	/* a walk of all tasks */
	PAGEDET_COST_CONTENT = 4, /* a read of the page's bytes */
	PAGEDET_COST_INTRUSIVE = 5 /* a request that others notice */
};

/**
 * pagedet_new - make a handle
 * Opens nothing and needs only memory, so that a failed pagedet_open() can
 * report its error through the handle.
 * Return: the handle, or NULL without memory [nullable] [owned: pagedet_free].
 * Errors: none.
 * Since: 0.1
 */
struct pagedet *pagedet_new(void);

/**
 * pagedet_free - free a handle
 * The caller must first free everything that was made from the handle:
 * iterators, indexes, emitters, owners, usages, checks and trackers.
 * @pd: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_free(struct pagedet *pd);

/**
 * pagedet_options_init - set size and zero the rest
 * @options: [out] the struct to set
 * @size: [in] sizeof(struct pagedet_options) of the caller
 * Errors: none.
 * Since: 0.1
 */
void pagedet_options_init(struct pagedet_options *options, uint64_t size);

/**
 * pagedet_open - open the running kernel, a dump, a snapshot or a text
 * The call is cheap: libpagedet parses nothing before a query needs it.
 * @pd: [in] from pagedet_new(), not opened yet
 * @options: [in,nullable] NULL is the running kernel with all sources
 * Return: 0, or a negative errno. After a failure the caller may try again.
 * Errors: EINVAL already open, size is not set, root is too long, a page_size
 *         that no machine has, or several files that are not the parts of one
 *         dump; E2BIG options has a non-zero byte that this library does not
 *         know; ENOENT root or a file does not exist; EACCES it may not be
 *         read; EBADMSG a file is damaged, of an unknown kind, compressed as a
 *         whole, or of another kernel; EIO reading failed; ENOSYS a part that
 *         is needed was not built; ENOTSUP none of the allowed sources exists,
 *         is there or reads that file, several files where the first one is a
 *         snapshot, a log or a text of page_owner, or a file is one of debugfs;
 *         ECANCELED pagedet_set_stop(); ENOMEM.
 *         For hash_key: EACCES others may read it, or it is not a regular file;
 *         EBADMSG it is not a key; ENOENT its directory does not exist; EAGAIN
 *         others make and remove it again and again.
 * Since: 0.1
 */
int pagedet_open(struct pagedet *pd, const struct pagedet_options *options);

/**
 * pagedet_dup - create a second handle on the same kernel, for another thread
 * Opens the same again, with the same options and the same key of hashes. Each
 * handle has its own errors and iterators. The callbacks of pagedet_set_log()
 * and pagedet_set_stop() and the descriptors of pagedet_add_fd() are not taken
 * over.
 * @pd: [in] opened
 * @ret: [out] [owned: pagedet_free] the new handle
 * Return: 0, or a negative errno.
 * Errors: EINVAL @pd is not open; others as pagedet_open().
 * Since: 0.1
 */
int pagedet_dup(struct pagedet *pd, struct pagedet **ret);

/**
 * pagedet_set_log - set the callback for log messages
 * @pd: [in] the handle, opened or not
 * @fn: [in,nullable] called on the thread that calls the library; NULL, the
 *      default, turns messages off
 * @user: [in,nullable] passed to @fn
 * @level: [in] PAGEDET_LOG_*: messages above this level are dropped
 * Errors: none.
 * Since: 0.1
 */
void pagedet_set_log(struct pagedet *pd, pagedet_log_fn *fn, void *user,
		     int level);

/* Return: 0 to continue; any other value stops the call. */
typedef int pagedet_stop_fn(void *user);

/**
 * pagedet_set_stop - set a callback that can stop calls without a deadline
 * These are pagedet_tasks(), pagedet_areas(), pagedet_symbol() and
 * pagedet_kernel_log() when they read memory: a dump may have lists that take
 * hours to walk. pagedet_open() is another: it searches a dump without
 * VMCOREINFO for it. pagedet_recorder_write() may compress many GB, and
 * pagedet_kmap_recorder_stop(), pagedet_kmap_recorder_write() and
 * pagedet_heat() may read much. Queries, indexes and other calls that have a
 * deadline or a progress function do not ask it. A stopped call fails with
 * ECANCELED. pagedet_tasks() returns the tasks that it has found, if there are
 * any.
 * @pd: [in] the handle, opened or not
 * @fn: [in,nullable] called now and then on the thread that calls the library,
 *      never from a signal handler; NULL, the default, lets every call complete
 * @user: [in,nullable] passed to @fn
 * Errors: none.
 * Since: 0.1
 */
void pagedet_set_stop(struct pagedet *pd, pagedet_stop_fn *fn, void *user);

/**
 * pagedet_error - explain the last call that failed
 * @pd: [in] the handle, opened or not
 * Return: "cannot read task 1234: ...", "" if no call failed; never NULL
 *         [borrowed: the next call on the handle].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_error(const struct pagedet *pd);

/**
 * pagedet_advice - say what would help after the last failure
 * @pd: [in] the handle, opened or not
 * Return: "needs CAP_SYS_ADMIN", or "" if there is no advice; never NULL
 *         [borrowed: the next call on the handle].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_advice(const struct pagedet *pd);

/**
 * pagedet_add_fd - add a file that a more privileged process opened
 * The privilege of the opener decides what pagemap shows. A small privileged
 * process can therefore open files and pass the descriptors to a process
 * without privilege (Linux fs/proc/task_mmu.c, pagemap_read). Call this after
 * pagedet_open() and before the query.
 * @pd: [in] opened
 * @kind: [in] PAGEDET_FD_*
 * @pid: [in] for PAGEDET_FD_PAGEMAP and PAGEDET_FD_MAPS, otherwise 0
 * @fd: [in] open for reading; libpagedet duplicates it, the caller keeps its
 *      own
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open, no such kind, a pid where none
 *         belongs or the reverse, or @fd is not a descriptor; EACCES @fd is not
 *         open for reading; ENOTSUP the handle has no procfs source; ENOMEM;
 *         EIO duplicating failed.
 * Since: 0.1
 */
int pagedet_add_fd(struct pagedet *pd, uint32_t kind, uint32_t pid, int fd);

/**
 * pagedet_info - describe the opened kernel
 * @pd: [in] opened
 * @ret: [in,out] the caller sets size; strings [borrowed: pagedet_free]
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, or size is too small.
 * Since: 0.1
 */
int pagedet_info(struct pagedet *pd, struct pagedet_info *ret);

/**
 * pagedet_survey - ask whether a source can answer a field
 * @pd: [in] opened
 * @field: [in] PAGEDET_FIELD_*
 * @source: [in] PAGEDET_SOURCE_*
 * @ret: [in,out] the caller sets size; strings [borrowed: the next call]
 * Return: 0, or a negative errno. "Cannot" is an answer, not an error.
 * Errors: EINVAL not open, size too small; ENOENT no such field or source.
 * Since: 0.1
 */
int pagedet_survey(struct pagedet *pd, uint32_t field, uint32_t source,
		   struct pagedet_ability *ret);
