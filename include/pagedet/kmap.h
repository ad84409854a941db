/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: objects of the kernel, and which code accessed them. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * KMAP: what Memorizer, a kernel for research, has counted for each object
 */

/* The forms of the text. The first line of an object decides. */
enum pagedet_kmap_dialect {
	PAGEDET_KMAP_EMPTY = 0,	/* there is no object */
	PAGEDET_KMAP_LINUXKIT = 1, /* 8 columns, the command is the last */
	PAGEDET_KMAP_TYPED = 2,	/* 9: with the type of the allocation */
	PAGEDET_KMAP_SLAB = 3,	/* 10: and with the slab cache */
	PAGEDET_KMAP_INDEXED = 4 /* 11: and with the type of what took its
				 * place. Its index is a serial number or
				 * jiffies, which the text does not say */
};

/* What the place of an allocation is. */
enum pagedet_kmap_origin {
	PAGEDET_KMAP_CALL = 0,	/* the return address of a call */
	PAGEDET_KMAP_UNTOLD = 1, /* not known: it is hidden or hashed, as of
				 * what pagedet_kmap_watch() writes, or 0 in a
				 * text without types or of a global */
	PAGEDET_KMAP_PREALLOCATED = 2, /* 0xfeedbeef: the cache has it ready,
				 * and nobody asked for it yet */
	PAGEDET_KMAP_CATCH_ALL = 3 /* not an allocation: accesses of a type
				 * that belong to no object that is known */
};

/* What became of an object. */
enum pagedet_kmap_end {
	PAGEDET_KMAP_LIVE = 0,	/* it has no time of a free */
	PAGEDET_KMAP_FREED = 1,
	PAGEDET_KMAP_MISSED = 2, /* its address was allocated again, and nobody
				 * saw the free */
	PAGEDET_KMAP_UNKNOWN = 3 /* it has a time of a free, but not who freed
				 * it, or the reverse */
};

/*
 * The keys that objects and accesses are grouped by. They are part of the ABI.
 * A value is a number or, if the comment says "text", an id for
 * pagedet_kmap_text().
 */
enum pagedet_kmap_key {
	PAGEDET_KMAP_SITE = 0,	/* text: the place of the allocation,
				 * "load_msg+0x45", or its address if no name is
				 * known */
	PAGEDET_KMAP_FUNCTION = 1, /* text: the function of the place */
	PAGEDET_KMAP_MODULE = 2, /* text: its module, or "(kernel)"; nothing: it
				 * is not a call */
	PAGEDET_KMAP_TYPE = 3,	/* text: "KMALLOC", "ALLOC_PAGES" ... */
	PAGEDET_KMAP_CACHE = 4,	/* text: the slab cache; nothing: no slab */
	PAGEDET_KMAP_PID = 5,	/* thread that was current at the allocation;
				 * nothing: an interrupt; not known: it was
				 * watched */
	PAGEDET_KMAP_COMMAND = 6, /* text: its name, "hardirq" or "softirq" */
	PAGEDET_KMAP_LIFETIME = 7, /* until its free, rounded down to a power of
				 * two: ns if query->hz says how long a jiffy
				 * is, otherwise jiffies. Nothing: it is live;
				 * not known: its free was missed, or the index
				 * may be a serial number */
	PAGEDET_KMAP_END = 8,	/* text: "live", "freed", "missed" or
				 * "unknown"; nothing: it is not an
				 * allocation */
	PAGEDET_KMAP_ACCESS_SITE = 9, /* text: the instruction that accessed it;
				 * nothing: nobody did. The same for the next
				 * ones */
	PAGEDET_KMAP_ACCESS_FUNCTION = 10, /* text */
	PAGEDET_KMAP_ACCESS_MODULE = 11, /* text, or "(kernel)" */
	PAGEDET_KMAP_ACCESS_PID = 12 /* not known: the text does not tell it */
};

/* Largest number of keys of one query. */
#define PAGEDET_KMAP_KEYS 8

/* Which objects are wanted, by the modules of the code that accessed them. */
enum pagedet_kmap_only {
	PAGEDET_KMAP_ALL = 0,
	PAGEDET_KMAP_OWN = 1,	/* only the module that allocated it has */
	PAGEDET_KMAP_FOREIGN = 2 /* another module has */
};

/*
 * struct pagedet_kmap_query - start from PAGEDET_KMAP_QUERY_INIT.
 * pagedet_kmap() only reads what it points to, and keeps none of it.
 */
struct pagedet_kmap_query {
	uint64_t size;		/* sizeof(struct pagedet_kmap_query) */
	const char *path;	/* a copy of the file kmap of Memorizer, plain
				 * or compressed (gzip, zstd, xz); "-" is the
				 * standard input */
	const char *kallsyms;	/* [nullable] copy of /proc/kallsyms of the same
				 * boot: names of functions and modules */
	const uint32_t *by;	/* [nullable] [len: n_by] PAGEDET_KMAP_*; NULL
				 * groups nothing: objects are read one by one
				 * with pagedet_kmap_next() */
	uint64_t n_by;
	uint64_t hz;		/* jiffies in a second, if the index counts
				 * jiffies; 0: not known */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	pagedet_progress_fn *progress; /* [nullable] called on the calling
				 * thread; places are bytes of the text */
	void *progress_user;	/* [nullable] */
	uint64_t progress_ns;	/* shortest interval; 0 is 200 ms */
	const char *vmlinux;	/* [nullable] of the same kernel, with symbols:
				 * names instead of kallsyms, which then only
				 * says where the kernel was. The path is then
				 * read twice */
	uint32_t only;		/* PAGEDET_KMAP_ALL, or another one, which needs
				 * kallsyms */
	uint32_t reserved;	/* 0 */
};

#define PAGEDET_KMAP_QUERY_INIT \
	{ sizeof(struct pagedet_kmap_query), NULL, NULL, NULL, 0, 0, 0, NULL, \
	  NULL, 0, NULL, 0, 0 }

/* An object. Texts are valid until the next call. */
struct pagedet_kmap_object {
	uint64_t size;		/* sizeof(struct pagedet_kmap_object) */
	uint64_t address;	/* of its memory; 0 if it is hidden */
	uint64_t bytes;
	uint64_t site;		/* address after the call that allocated it, if
				 * origin is PAGEDET_KMAP_CALL */
	uint64_t free_site;	/* of the call that freed it, if end is
				 * PAGEDET_KMAP_FREED */
	uint64_t alloc_index;	/* jiffies or, if the dialect is
				 * PAGEDET_KMAP_INDEXED, perhaps a serial
				 * number */
	uint64_t free_index;	/* the same; 0: it is live */
	uint64_t reads;		/* of all accesses */
	uint64_t writes;
	uint64_t accesses;	/* number of these: instructions, or pairs of an
				 * instruction and a thread */
	const char *site_name;	/* "load_msg+0x45", an address or its hash,
				 * "(preallocated)" or "(catch-all)"; "" not
				 * known */
	const char *free_site_name; /* the same; "" not freed, or not known */
	const char *type;	/* "KMALLOC"; "" the dialect has no types */
	const char *cache;	/* "" it is not of a slab, or not known */
	const char *command;	/* may contain any byte */
	const char *replaced_by; /* type of the object that took its place; ""
				 * none, or not known */
	int64_t pid;		/* thread that was current; -1: an interrupt or,
				 * if command is "", not known */
	uint32_t origin;	/* PAGEDET_KMAP_* */
	uint32_t end;		/* PAGEDET_KMAP_LIVE to UNKNOWN; no meaning if
				 * origin is PAGEDET_KMAP_CATCH_ALL */
	uint32_t nested;	/* 1: what another allocator made of it is an
				 * object of its own, and has its bytes too. Not
				 * known if the place of the free is hashed;
				 * then end is PAGEDET_KMAP_UNKNOWN */
	uint32_t hidden;	/* 1: the text does not tell the address, or
				 * only a hash of it */
};

/* One kind of access to an object. */
struct pagedet_kmap_access {
	uint64_t size;		/* sizeof(struct pagedet_kmap_access) */
	uint64_t site;		/* the instruction; 0: only its hash is told */
	uint64_t reads;
	uint64_t writes;
	int64_t pid;		/* -1: the text does not tell it */
	const char *site_name;	/* as in struct pagedet_kmap_object */
};

/* A group: the objects, or their accesses, with the same keys. */
struct pagedet_kmap_group {
	uint64_t size;		/* sizeof(struct pagedet_kmap_group) */
	uint64_t objects;	/* an object is in several groups if keys are of
				 * its accesses */
	uint64_t bytes;		/* of the objects, without those that are nested
				 * or not an allocation */
	uint64_t nested;	/* of the objects: their bytes are counted for
				 * another one */
	uint64_t catch_all;	/* of the objects: not an allocation, and in
				 * none of the next numbers up to unknown */
	uint64_t live;		/* of the objects */
	uint64_t live_bytes;	/* counted as bytes */
	uint64_t freed;		/* of the objects */
	uint64_t missed;	/* of the objects */
	uint64_t unknown;	/* of the objects */
	uint64_t accesses;	/* lines of these */
	uint64_t reads;
	uint64_t writes;
	uint64_t objects_before; /* as above, of the text before; set by
				 * pagedet_kmap_compare() */
	uint64_t bytes_before;
	uint64_t live_before;
	uint64_t live_bytes_before;
	uint64_t reads_before;
	uint64_t writes_before;
	uint64_t value[PAGEDET_KMAP_KEYS]; /* in the order of the query's by */
	uint32_t state[PAGEDET_KMAP_KEYS]; /* PAGEDET_HAVE, PAGEDET_NONE, or why
				 * the value is not known */
};

/* The sums of what was read so far, and what was not understood. */
struct pagedet_kmap_total {
	uint64_t size;		/* sizeof(struct pagedet_kmap_total) */
	uint64_t groups;
	uint64_t objects;	/* as in struct pagedet_kmap_group; each object
				 * counts once */
	uint64_t bytes;
	uint64_t nested;
	uint64_t catch_all;
	uint64_t live;
	uint64_t live_bytes;
	uint64_t freed;
	uint64_t missed;
	uint64_t unknown;
	uint64_t accesses;
	uint64_t reads;
	uint64_t writes;
	uint64_t objects_before;
	uint64_t bytes_before;
	uint64_t live_before;
	uint64_t live_bytes_before;
	uint64_t reads_before;
	uint64_t writes_before;
	uint64_t nested_bytes;	/* in no sum of bytes */
	uint64_t preallocated;	/* of the objects */
	uint64_t lines;		/* of the text */
	uint64_t strange;	/* lines that cannot be of the dialect */
	uint64_t strange_line;	/* the first of them, from 1; 0: none */
	uint64_t orphans;	/* accesses that come before any object, or
				 * behind a strange one */
	uint64_t orphan_line;	/* the first of them, from 1; 0: none */
	uint64_t dropped;	/* accesses that are in the sums, and that
				 * pagedet_kmap_next_access() does not give: an
				 * object had too many */
	uint64_t hashed;	/* places and codes that cannot be known,
				 * because only a hash of 32 bits is told */
	uint64_t unnamed;	/* other names that are not known */
	uint64_t untold;	/* bit 1 << PAGEDET_KMAP_*: some groups have no
				 * value of this key, because it is not known:
				 * the text does not tell it, or a place has no
				 * name */
	uint64_t filtered;	/* objects that are not wanted, and in no sum */
	uint64_t undecided;	/* objects of which it is not known whether they
				 * are wanted; in no sum */
	uint64_t kaslr_offset;	/* bytes from the addresses in the vmlinux to
				 * those of the boot */
	uint32_t kaslr;		/* PAGEDET_HAVE; PAGEDET_NONE: no vmlinux was
				 * given; PAGEDET_UNSUPPORTED: it cannot be
				 * told, and the log says why */
	uint32_t reserved;
	uint32_t dialect;	/* PAGEDET_KMAP_* */
	uint32_t cut;		/* 1: the last line is incomplete, and not
				 * counted */
	uint32_t saturated;	/* 1: a sum is at least 2^64 - 1 */
	uint32_t complete;	/* 1: all of the text was read */
	uint32_t stopped;	/* if not: ETIMEDOUT or ECANCELED; otherwise
				 * 0 */
	uint32_t compared;	/* 1: by pagedet_kmap_compare() */
};

/**
 * pagedet_kmap_key_by_name - find a key of objects and accesses
 * @name: [in] "site", "cache", "access_module" ...
 * Return: PAGEDET_KMAP_*, or a negative errno.
 * Errors: ENOENT there is no such key.
 * Since: 0.1
 */
int pagedet_kmap_key_by_name(const char *name);

/**
 * pagedet_kmap_key_name - name a key of objects and accesses
 * @key: [in] PAGEDET_KMAP_*
 * Return: the name, or NULL if the number is not a key [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_kmap_key_name(uint32_t key);

/**
 * pagedet_kmap - open a KMAP, and group it if query->by is set
 * Needs nothing of this machine. The text is read once, in pieces, so that it
 * may be larger than memory. With query->by all of it is read now; a deadline
 * or a cancel keeps what was read so far. Lines that are not understood are
 * counted, and the rest still counts.
 * @pd: [in] need not be opened
 * @query: [in] the query
 * @ret: [out] [owned: pagedet_kmap_free] the KMAP
 * Return: 0, or a negative errno.
 * Errors: EINVAL there is no path, no such key, too many keys, one twice, no
 *         such filter, or one without kallsyms, or a vmlinux and a path that
 *         can be read only once; E2BIG query has a non-zero byte that this
 *         library does not know; ENOENT no such file; EACCES it may not be
 *         read, or kallsyms hides addresses; EBADMSG it is not a KMAP, its
 *         dialect cannot be told, compressed data is damaged, or kallsyms or
 *         vmlinux is not what it should be, or of another boot or kernel;
 *         ENOSYS it is compressed in a form that this library was built
 *         without, or libelf is missing; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap(struct pagedet *pd, const struct pagedet_kmap_query *query,
		 struct pagedet_kmap **ret);

/**
 * pagedet_kmap_next - get the next object
 * @kmap: [in] from pagedet_kmap() without query->by
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version, or the objects are grouped;
 *         EBADMSG compressed data is damaged, or the kallsyms is of another
 *         boot; ENOSYS; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap_next(struct pagedet_kmap *kmap,
		      struct pagedet_kmap_object *ret);

/**
 * pagedet_kmap_next_access - get the next access to the last object
 * @kmap: [in] pagedet_kmap_next() has returned 1
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_next_access(struct pagedet_kmap *kmap,
			     struct pagedet_kmap_access *ret);

/**
 * pagedet_kmap_compare - compare groups with those of another KMAP
 * Groups match if their keys have the same values. The place of a call without
 * a name is an address, which means the same only in boots of one kernel that
 * was not moved (nokaslr). Restarts the list of groups, ordered by how many
 * bytes they have gained. It includes groups that are only in the KMAP before,
 * with sums of 0.
 * @kmap: [in] from pagedet_kmap() with query->by
 * @before: [in] grouped by the same keys; unchanged, and not needed after the
 *          call
 * Return: 0, or a negative errno.
 * Errors: EINVAL the keys or query->hz are others, there are no keys, or only
 *         one KMAP has names of places and a key needs them; EBADMSG a key is
 *         of places, and a kernel has hashed their addresses; ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap_compare(struct pagedet_kmap *kmap,
			 const struct pagedet_kmap *before);

/**
 * pagedet_kmap_order - set the order of groups
 * Restarts the list of groups.
 * @kmap: [in] from pagedet_kmap() with query->by
 * @keys: [in,nullable] sort keys, the most important first, for example
 *        "writes,-pid": a number of struct pagedet_kmap_group, the largest
 *        first, or a key that they are grouped by, ascending. A - before a key
 *        reverses it. After a comparison a number can end with "_before", or
 *        with "_grown": what it has gained. NULL is "bytes", or then
 *        "bytes_grown"
 * Return: 0, or a negative errno; then nothing has changed.
 * Errors: EINVAL there is no such key, or they are not grouped by it; ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap_order(struct pagedet_kmap *kmap, const char *keys);

/**
 * pagedet_kmap_next_group - get the next group
 * @kmap: [in] from pagedet_kmap() with query->by
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_next_group(struct pagedet_kmap *kmap,
			    struct pagedet_kmap_group *ret);

/**
 * pagedet_kmap_text - get the text of a value of a group
 * @kmap: [in] from pagedet_kmap()
 * @id: [in] a value of a key that is a text
 * @len: [out,nullable] bytes; a text may contain any byte
 * Return: the text, followed by a NUL, or NULL if the id has no text [nullable]
 *         [borrowed: pagedet_kmap_free].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_kmap_text(const struct pagedet_kmap *kmap, uint64_t id,
			      size_t *len);

/**
 * pagedet_kmap_total - get the sums, and what is in none of them
 * While objects are read one by one, the sums are of those that were read.
 * @kmap: [in] from pagedet_kmap()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_total(const struct pagedet_kmap *kmap,
		       struct pagedet_kmap_total *ret);

/**
 * pagedet_kmap_free - close a KMAP
 * @kmap: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_kmap_free(struct pagedet_kmap *kmap);

/* --- the log of calls --- */

/* Who called a function. Texts are valid until the next call. */
struct pagedet_kmap_call {
	uint64_t size;		/* sizeof(struct pagedet_kmap_call) */
	uint64_t from;		/* address after the call */
	uint64_t to;		/* of the function */
	uint64_t count;		/* how often */
	const char *from_name;	/* "do_sys_open+0x45", or its address */
	const char *to_name;	/* the same */
	const char *from_function; /* "do_sys_open", or the address */
	const char *to_function; /* the same */
};

/* The sums of all calls, and what was not understood. */
struct pagedet_kmap_calls_total {
	uint64_t size;		/* sizeof(struct pagedet_kmap_calls_total) */
	uint64_t calls;		/* pairs of a place and a function; lines of the
				 * same pair are added up */
	uint64_t count;		/* of all of them */
	uint64_t lines;		/* of the text */
	uint64_t strange;	/* lines that are not such a pair */
	uint64_t strange_line;	/* the first of them, from 1; 0: none */
	uint64_t unnamed;	/* names that were asked for and are not
				 * known */
	uint64_t dropped;	/* lines in no sum: of pairs beyond the first
				 * 4194304 */
	uint32_t cut;		/* 1: the last line is incomplete, and not
				 * counted */
	uint32_t saturated;	/* 1: the sum is at least 2^64 - 1 */
	uint32_t complete;	/* 1: all of the text was read */
	uint32_t stopped;	/* if not: ETIMEDOUT or ECANCELED; otherwise
				 * 0 */
};

/**
 * pagedet_kmap_calls - read Memorizer's log of calls
 * All of it is read now; a deadline or a cancel keeps what was read so far.
 * @pd: [in] need not be opened
 * @query: [in] path is a copy of the file function_calls, or cfgmap; by, hz,
 *         only and vmlinux are not set
 * @ret: [out] [owned: pagedet_kmap_calls_free] the calls
 * Return: 0, or a negative errno.
 * Errors: EINVAL there is no path, or by, hz, only or vmlinux is set; EBADMSG
 *         it is not such a log, compressed data is damaged, or kallsyms is not
 *         what it should be, or is of another boot; E2BIG, ENOENT, EACCES,
 *         ENOSYS, EIO, ENOMEM as pagedet_kmap().
 * Since: 0.1
 */
int pagedet_kmap_calls(struct pagedet *pd,
		       const struct pagedet_kmap_query *query,
		       struct pagedet_kmap_calls **ret);

/**
 * pagedet_kmap_next_call - get the next pair, the most frequent first
 * @calls: [in] from pagedet_kmap_calls()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 at the end, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_next_call(struct pagedet_kmap_calls *calls,
			   struct pagedet_kmap_call *ret);

/**
 * pagedet_kmap_calls_total - get the sums, and what is in none of them
 * @calls: [in] from pagedet_kmap_calls()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_calls_total(const struct pagedet_kmap_calls *calls,
			     struct pagedet_kmap_calls_total *ret);

/**
 * pagedet_kmap_calls_free - free calls
 * @calls: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_kmap_calls_free(struct pagedet_kmap_calls *calls);
