/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: which code accesses a chosen object, as a KMAP. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Watching: who reads and writes a chosen object of the running kernel, by
 * hardware breakpoints, as a KMAP for pagedet_kmap()
 */

/* For pagedet_kmap_watch_options.flags. */
enum pagedet_kmap_watch_flags {
	PAGEDET_KMAP_WATCH_FD = 1, /* the struct file behind a descriptor */
	PAGEDET_KMAP_WATCH_WRITES = 2 /* only writes, which needs half as many
				 * breakpoints */
};

/* struct pagedet_kmap_watch_options - start from
 * PAGEDET_KMAP_WATCH_OPTIONS_INIT. */
struct pagedet_kmap_watch_options {
	uint64_t size;		/* sizeof(struct pagedet_kmap_watch_options) */
	uint64_t address;	/* of the kernel */
	uint64_t bytes;		/* from there on, at most 65536; 0: 8, or with
				 * PAGEDET_KMAP_WATCH_FD all of it */
	uint64_t rate;		/* hits a second that a breakpoint may have on a
				 * processor, up to so many at once; a hit takes
				 * 1 to 500 microseconds. 0: 1000 */
	uint64_t window_ns;	/* how long words are watched until others have
				 * their turn, at most 0.2 s. 0: 20 ms */
	uint32_t flags;		/* PAGEDET_KMAP_WATCH_* */
	uint32_t pid;		/* process of the descriptor */
	uint32_t fd;		/* the descriptor. address is then an offset in
				 * the struct file */
	uint32_t tid;		/* only what this thread accesses; 0: all
				 * threads and interrupts */
};

#define PAGEDET_KMAP_WATCH_OPTIONS_INIT \
	{ sizeof(struct pagedet_kmap_watch_options), 0, 0, 0, 0, 0, 0, 0, 0 }

/* What was watched of one word. */
struct pagedet_kmap_word {
	uint64_t size;		/* sizeof(struct pagedet_kmap_word) */
	uint64_t address;
	uint64_t bytes;		/* 8, or less at an end that is not aligned */
	uint64_t object;	/* 0 for the first one */
	uint64_t windows;	/* turns that it has had; 1 if all words were
				 * watched at once. 0: none, so that nothing is
				 * known of it, and the KMAP lacks it */
	uint64_t ns;		/* for so long all processors watched it; may be
				 * 0 although one of them had a hit.
				 * With tid, of the time that the thread ran */
	uint64_t limited;	/* how often the rate was used up, so that the
				 * rest of a window was not watched */
};

/* What a watch has. Counts are 0 until it is stopped. */
struct pagedet_kmap_watch_total {
	uint64_t size;		/* sizeof(struct pagedet_kmap_watch_total) */
	uint64_t begin_ns;	/* by CLOCK_MONOTONIC */
	uint64_t end_ns;	/* the same; now, while it is watching */
	uint64_t objects;
	uint64_t words;		/* of the objects */
	uint64_t turns;		/* groups of words that are watched one after
				 * the other; 1: all words at once */
	uint64_t windows;	/* that there were */
	uint64_t window_ns;	/* length of one */
	uint64_t rate;		/* hits a second */
	uint64_t reads;		/* of all words. An instruction that reads and
				 * writes counts as a write */
	uint64_t writes;
	uint64_t lost;		/* hits in neither of them: they came too fast,
				 * and had no room. A write may be two hits */
	uint64_t own;		/* hits of the watch itself when it asked
				 * whether the objects exist; not counted */
	uint64_t limited;	/* of all words */
	uint64_t looks;		/* how often it asked that, besides at the
				 * begin */
	uint64_t freed;		/* objects that had been freed by a look: what
				 * was counted before may be of the next user of
				 * the memory. One that was allocated again
				 * before a look seems to exist all the time */
	uint64_t unknown;	/* objects of which that cannot be told */
	uint32_t slots;		/* breakpoints that are used of a processor */
	uint32_t cpus;		/* processors; 0: a thread */
	uint32_t cpus_missed;	/* that came online meanwhile: unwatched */
	uint32_t estimated;	/* 1: on arm64 counts may be some percent too
				 * high; on an emulated x86 (QEMU without KVM)
				 * a write may be counted as a read */
	uint32_t error;		/* 0, or the errno that has ended it early.
				 * ENOENT: all objects were freed */
	uint32_t unsaid;	/* further hits in neither of reads and writes:
				 * the kernel counted them, and does not say by
				 * whom; UINT32_MAX: so many or more */
	uint32_t unknown_why;	/* the reason why unknown is not 0: an enum
				 * pagedet_state. PAGEDET_NONE: the memory is
				 * not of a slab. PAGEDET_RACED: the kernel
				 * changed the slab each time that it was read.
				 * PAGEDET_NO_KERNEL: a processor may keep the
				 * object as a free one, and a kernel without
				 * CONFIG_KALLSYMS_ALL does not tell where.
				 * PAGEDET_UNSUPPORTED: no source reads kernel
				 * memory, or the slab has no list of free
				 * objects, like one of KFENCE */
	uint32_t mapped;	/* 1: memory was mapped at all addresses at the
				 * begin. 0: that is not known, and if there was
				 * none, nothing can access it */
};

/* A watch: breakpoints, and a thread. */
struct pagedet_kmap_watch;

/**
 * pagedet_kmap_watch - begin to watch an object of the running kernel
 * Sets breakpoints on the addresses of all processors. A processor has few (4
 * on x86), and a word needs two, or one of writes: more words take turns.
 * A thread of the library, which blocks all signals, moves them. They are gone
 * when the watch is freed, or the process ends in any way; not, if the process
 * has forked, before the child has ended or executed another program.
 * @pd: [in] opened; what it can read of kernel memory tells whether the object
 *      is in use
 * @options: [in] what to watch
 * @ret: [out] [owned: pagedet_kmap_watch_free] the watch
 * Return: 0, or a negative errno.
 * Errors: E2BIG options has a non-zero byte that this library does not know;
 *         EINVAL the handle is not open, a flag that this library does not
 *         know, an address that is not of the kernel or that takes no
 *         breakpoint, or too many bytes; ENOENT the object is free or not
 *         mapped, or the descriptor is not open; ESRCH there is no such process
 *         or thread; EACCES the caller may not: it needs CAP_SYS_ADMIN, or the
 *         kernel is locked down; EAGAIN others use the breakpoints; ENOTSUP the
 *         machine or the kernel has none, or no source can find the descriptor;
 *         ENOMEM no memory, or no free descriptor: each breakpoint of each
 *         processor needs one; EIO; EBADMSG what a source read is damaged.
 * Since: 0.1
 */
int pagedet_kmap_watch(struct pagedet *pd,
		       const struct pagedet_kmap_watch_options *options,
		       struct pagedet_kmap_watch **ret);

/**
 * pagedet_kmap_watch_stop - end a watch
 * Removes the breakpoints. The second time, it does nothing and returns the
 * same.
 * @watch: [in] from pagedet_kmap_watch()
 * Return: 0, or a negative errno: what ended it, even if that was earlier. What
 *         was counted until then is kept.
 * Errors: ENOMEM; EIO a breakpoint could not be moved.
 * Since: 0.1
 */
int pagedet_kmap_watch_stop(struct pagedet_kmap_watch *watch);

/**
 * pagedet_kmap_watch_write - write what was watched as a KMAP
 * It has 11 columns, as Memorizer prints them, and each word that had a turn is
 * an object. Its allocation is not known. An object that was freed, or of which
 * that cannot be told, has an unknown end. On x86 the address of an access is
 * that behind the instruction. Stops the watch first.
 * @watch: [in] from pagedet_kmap_watch()
 * @fd: [in] open for writing
 * Return: 0, or a negative errno; then it is not a KMAP.
 * Errors: as pagedet_kmap_watch_stop(); EIO it cannot be written.
 * Since: 0.1
 */
int pagedet_kmap_watch_write(struct pagedet_kmap_watch *watch, int fd);

/**
 * pagedet_kmap_watch_word - get how a word was watched
 * @watch: [in] from pagedet_kmap_watch(), stopped
 * @index: [in] 0 for the first word, and so on
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 if there are not so many or it is not stopped, or a negative
 *         errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_watch_word(const struct pagedet_kmap_watch *watch,
			    uint64_t index, struct pagedet_kmap_word *ret);

/**
 * pagedet_kmap_watch_total - get what a watch has
 * @watch: [in] from pagedet_kmap_watch()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_watch_total(const struct pagedet_kmap_watch *watch,
			     struct pagedet_kmap_watch_total *ret);

/**
 * pagedet_kmap_watch_free - end a watch
 * @watch: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_kmap_watch_free(struct pagedet_kmap_watch *watch);

/* ------------------------------------------------------------------------
 * Drawing: live objects of a slab cache, for pagedet_kmap_watch()
 */

/* An object that was in use when it was drawn. */
struct pagedet_kmap_drawn {
	uint64_t size;		/* sizeof(struct pagedet_kmap_drawn) */
	uint64_t address;	/* where the part for its user begins */
	uint64_t bytes;		/* of that part */
};

/* What is known of a cache, and of what was drawn. */
struct pagedet_kmap_cache_total {
	uint64_t size;		/* sizeof(struct pagedet_kmap_cache_total) */
	uint64_t pages;		/* of its slabs, when they were listed */
	uint64_t room;		/* objects that these may have at most; some of
				 * them are free */
	uint64_t bytes;		/* of an object, for its user */
	uint64_t sharing;	/* other caches that the kernel has merged with
				 * this one: any object may be one of theirs */
	uint64_t drawn;		/* objects that were given */
	uint64_t free;		/* draws that met a free object */
	uint64_t unknown;	/* draws that met what may be free: it was not
				 * given. Objects of KFENCE are among these */
	uint64_t elsewhere;	/* draws that met no object, or a page that the
				 * cache no longer has */
	uint32_t reused;	/* 1: SLAB_TYPESAFE_BY_RCU: a reader may access
				 * an object that was freed and allocated again
				 * as if it were the one before */
	uint32_t kept;		/* 1: some of unknown may be free: a processor
				 * or node may keep them, in lists that are not
				 * found. Kernels without CONFIG_KALLSYMS_ALL do
				 * not tell where these are */
	uint64_t dropped;	/* accesses that are not in the sums: there were
				 * too many kinds */
};

/* The slabs of a cache. */
struct pagedet_kmap_cache;

/**
 * pagedet_kmap_cache - find the slabs of a cache of the running kernel
 * Looks at all pages once. What the cache gets later is not drawn.
 * @pd: [in] opened, with a source of kernel memory; it stays open until
 *      pagedet_kmap_cache_free()
 * @name: [in] of the cache, as in /sys/kernel/slab; also one that the kernel
 *        has merged with another
 * @seed: [in] of the draws: the same one draws the same of the same slabs
 * @ret: [out] [owned: pagedet_kmap_cache_free] the slabs
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open; ENOENT there is no such cache, or it
 *         has no slab; ENOTSUP no source reads memory of the running kernel,
 *         or the kernel has no /sys/kernel/slab, or too many caches share its
 *         slabs; EACCES the caller may not; ENOMEM; EIO; EBADMSG what a
 *         source read is damaged.
 * Since: 0.1
 */
int pagedet_kmap_cache(struct pagedet *pd, const char *name, uint64_t seed,
		       struct pagedet_kmap_cache **ret);

/**
 * pagedet_kmap_cache_draw - draw an object that is in use
 * Each one has the same chance, also one that was drawn before.
 * @cache: [in] from pagedet_kmap_cache()
 * @ret: [in,out] the caller sets size
 * Return: 1, 0 if none of 1024 draws met an object that is in use, or a
 *         negative errno.
 * Errors: EINVAL size is not that of any version; ENOMEM; EIO; EBADMSG.
 * Since: 0.1
 */
int pagedet_kmap_cache_draw(struct pagedet_kmap_cache *cache,
			    struct pagedet_kmap_drawn *ret);

/**
 * pagedet_kmap_cache_has - tell whether a watch began with an object of a cache
 * One that was drawn may be freed before it is watched, and its memory may then
 * be an object of another cache: then draw again. What happens later is in
 * freed and unknown of pagedet_kmap_watch_total().
 * @cache: [in] from pagedet_kmap_cache()
 * @watch: [in] from pagedet_kmap_watch()
 * Return: 1: an object of the cache was there, in use. 0: it was not, or that
 *         cannot be told.
 * Errors: none.
 * Since: 0.1
 */
int pagedet_kmap_cache_has(const struct pagedet_kmap_cache *cache,
			   const struct pagedet_kmap_watch *watch);

/**
 * pagedet_kmap_cache_add - add what a watch has seen to the sums of a cache
 * Stops the watch. The sums are by the offset in the object, and need the
 * memory of different places and threads, however many watches are added. They
 * have 1048576 kinds of accesses at most.
 * @cache: [in] from pagedet_kmap_cache()
 * @watch: [in] of a part of an object, of the same part for all
 * @address: [in] where the object begins, as it was drawn
 * Return: 0, or a negative errno: then the sums lack it, or a part of it.
 * Errors: as pagedet_kmap_watch_stop(); EINVAL it is not a part of that object,
 *         or not the one of watches that were added before.
 * Since: 0.1
 */
int pagedet_kmap_cache_add(struct pagedet_kmap_cache *cache,
			   struct pagedet_kmap_watch *watch, uint64_t address);

/**
 * pagedet_kmap_cache_write - write the sums of a cache as a KMAP
 * It is like that of pagedet_kmap_watch_write(): the address of a word is its
 * offset in the object, and its end is unknown.
 * @cache: [in] from pagedet_kmap_cache()
 * @fd: [in] open for writing
 * Return: 0, or a negative errno; then it is not a KMAP.
 * Errors: ENOMEM; EIO it cannot be written.
 * Since: 0.1
 */
int pagedet_kmap_cache_write(struct pagedet_kmap_cache *cache, int fd);

/**
 * pagedet_kmap_cache_name - get the name that the kernel gives the cache
 * @cache: [in] from pagedet_kmap_cache()
 * Return: the name that its slabs have, never NULL [borrowed: until
 *         pagedet_kmap_cache_free()]. It is that of another cache if the kernel
 *         has merged both.
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_kmap_cache_name(const struct pagedet_kmap_cache *cache);

/**
 * pagedet_kmap_cache_total - get what is known of a cache
 * @cache: [in] from pagedet_kmap_cache()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_cache_total(const struct pagedet_kmap_cache *cache,
			     struct pagedet_kmap_cache_total *ret);

/**
 * pagedet_kmap_cache_free - free a cache
 * @cache: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_kmap_cache_free(struct pagedet_kmap_cache *cache);
