/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: building blocks for agents that watch a VM's migration. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Migration: contents of pages, their versions, their places, and the stream
 *
 * An agent that compares both ends of a migration numbers the guest's pages
 * from 0. struct pagedet_blocks says where each page is in the memory of both
 * processes. pagedet_look() reads its current contents. struct
 * pagedet_versions remembers its earlier contents, and what was sent of it.
 * struct pagedet_stream parses the bytes on their way, if the agent can read
 * them. All results become evidence for pagedet_explain().
 *
 * A function here without a handle prints nothing and reads only its
 * arguments.
 */

/* --- contents of pages --- */

/* pagedet_seen.state: what a look at a page found */
enum pagedet_seen_state {
	PAGEDET_SEEN_NOTHING = 0, /* not examined */
	PAGEDET_SEEN_ABSENT = 1, /* no page exists: it reads as zeroes */
	PAGEDET_SEEN_ZERO = 2,	/* all its bytes are zero */
	PAGEDET_SEEN_DATA = 3,	/* the hash tells the contents */
	PAGEDET_SEEN_LOST = 4	/* it cannot be read; why has the reason */
};

/* pagedet_seen.bits */
enum pagedet_seen_bit {
	PAGEDET_SEEN_SWAPPED = 1, /* it was in swap */
	PAGEDET_SEEN_HUGE = 2,	/* part of a huge page */
	PAGEDET_SEEN_FILE = 4,	/* read from the file: no entry of the process
				 * maps it */
	PAGEDET_SEEN_BYTES = 8	/* the caller received its bytes */
};

/*
 * The contents of one page at one time. Used as an array element, so it will
 * never grow.
 */
struct pagedet_seen {
	uint64_t hash;		/* as the field hash, if DATA or ZERO; otherwise
				 * 0 */
	uint64_t time_ns;	/* CLOCK_REALTIME of the read */
	uint32_t state;		/* PAGEDET_SEEN_* */
	uint32_t kind;		/* PAGEDET_KIND_* */
	uint32_t bits;		/* PAGEDET_SEEN_* */
	uint32_t why;		/* LOST: the reason, PAGEDET_UNSUPPORTED ... */
};

/* pagedet_look_options.options */
enum pagedet_look_option {
	PAGEDET_LOOK_FILE = 1,	/* open and read the file behind a page that no
				 * entry maps; a hole counts as absent and is
				 * not filled */
	PAGEDET_LOOK_BRING_IN = 2 /* read pages that are in swap, or untouched
				 * pages of a private file mapping; this brings
				 * them in */
};

/* How to read pages. Start from PAGEDET_LOOK_OPTIONS_INIT. */
struct pagedet_look_options {
	uint64_t size;		/* sizeof(struct pagedet_look_options) */
	uint64_t deadline_ns;	/* from the call; 0 no deadline */
	void *bytes;		/* [nullable] [len: bytes_size] receives the
				 * bytes of the pages, one after the other;
				 * zeroes if nothing can be read */
	uint64_t bytes_size;	/* one page for each page of the items */
	uint32_t options;	/* PAGEDET_LOOK_* */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 as the handle's */
};

#define PAGEDET_LOOK_OPTIONS_INIT \
	{ sizeof(struct pagedet_look_options), 0, NULL, 0, \
	  PAGEDET_LOOK_FILE | PAGEDET_LOOK_BRING_IN, 0 }

/**
 * pagedet_look - read pages of tasks, and hash each one
 * Works on the running kernel, a dump, or a snapshot of that memory with its
 * hashes. Reads present pages. Brings in other pages only if the options allow
 * it. Pages that the deadline prevented stay PAGEDET_SEEN_NOTHING.
 * @pd: [in] opened
 * @items: [in] [len: n] pid, address and bytes, in whole pages
 * @n: [in] number of @items
 * @options: [in,nullable] NULL is PAGEDET_LOOK_OPTIONS_INIT
 * @seen: [out] [len: max] the pages of the items, one after the other
 * @max: [in] size of @seen in elements, at least the number of pages
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, not whole pages, too many for seen or for bytes;
 *         E2BIG options has a non-zero byte or a bit that this library does not
 *         know; ENODATA a snapshot that has no hashes, or does not tell the
 *         hash of a page of zeroes (an older one) and was opened without the
 *         key of its hashes; ESRCH EACCES ENOTSUP EBADMSG ENOSYS as
 *         pagedet_query(); EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_look(struct pagedet *pd, const struct pagedet_item *items,
		 uint64_t n, const struct pagedet_look_options *options,
		 struct pagedet_seen *seen, uint64_t max);

/**
 * pagedet_seen_equal - ask whether two pages had the same contents
 * Both hashes must have the same key. An absent page equals a zero page.
 * @a: [in] from pagedet_look()
 * @b: [in] from pagedet_look()
 * Return: PAGEDET_YES, PAGEDET_NO, or PAGEDET_DUNNO if one is not known.
 * Errors: none.
 * Since: 0.1
 */
uint32_t pagedet_seen_equal(const struct pagedet_seen *a,
			    const struct pagedet_seen *b);

/*
 * The pages with certain contents. Used as an array element, so it will never
 * grow.
 */
struct pagedet_elsewhere {
	uint64_t hash;		/* the contents to search for */
	uint64_t n;		/* number of pages that have them */
	uint64_t last;		/* the last of these pages */
};

/**
 * pagedet_seen_find - find the pages that have certain contents
 * Reads @seen only once, for any number of searches. It does not find zero
 * pages, because they are everywhere.
 * @seen: [in] [len: n] from pagedet_look()
 * @n: [in] number of @seen
 * @found: [in,out] [len: n_found] the caller sets hash. The call sorts the
 *         array by hash; hashes may be equal
 * @n_found: [in] number of @found
 * Return: 0.
 * Errors: none.
 * Since: 0.1
 */
int pagedet_seen_find(const struct pagedet_seen *seen, uint64_t n,
		      struct pagedet_elsewhere *found, uint64_t n_found);

/* --- versions of pages --- */

/*
 * struct pagedet_versions - hashes of the versions that each page had, and in
 * which it was sent. Several threads may call its functions at once, except
 * pagedet_versions_free().
 */
struct pagedet_versions;

/* The size of the memory to track. Start from PAGEDET_VERSIONS_OPTIONS_INIT. */
struct pagedet_versions_options {
	uint64_t size;		/* sizeof(struct pagedet_versions_options) */
	uint64_t pages;		/* number of pages; page numbers are below it */
	uint64_t max_bytes;	/* memory for older versions, at 16 bytes each;
				 * 0 is 128 MiB. In addition each page takes 104
				 * bytes */
	uint64_t hash_key;	/* from pagedet_hash_key_id() */
	uint64_t hash_zero;	/* hash of a zero page under that key */
};

#define PAGEDET_VERSIONS_OPTIONS_INIT \
	{ sizeof(struct pagedet_versions_options), 0, 0, 0, 0 }

/* pagedet_version_of.sent */
enum pagedet_sent_state {
	PAGEDET_SENT_DUNNO = 0,	/* not known; some data was not observed */
	PAGEDET_SENT_NEVER = 1,
	PAGEDET_SENT_KNOWN = 2,	/* hash tells the contents */
	PAGEDET_SENT_PACKED = 3	/* in a form that cannot be hashed */
};

/* When the pages for pagedet_versions_look() were read. */
enum pagedet_look_when {
	PAGEDET_WHEN_RUNNING = 0,
	PAGEDET_WHEN_STOPPED = 1, /* this side had stopped; writes that devices
				 * had begun for the guest may not have ended:
				 * QEMU has sent the event STOP */
	PAGEDET_WHEN_DRAINED = 2 /* these had ended, too: QEMU has answered a
				 * command that it got after the event */
};

/* The known facts about one page. */
struct pagedet_version_of {
	uint64_t size;		/* sizeof(struct pagedet_version_of) */
	uint64_t hash;		/* the version last sent, if KNOWN; otherwise
				 * 0 */
	uint64_t sent_ns;	/* CLOCK_REALTIME; 0 never sent */
	uint64_t times;		/* how often it was sent */
	uint32_t sent;		/* PAGEDET_SENT_* */
	uint32_t dropped;	/* 1: the peer was then told to discard it */
	uint64_t before_hash;	/* the version last read before it was last
				 * sent */
	uint64_t before_ns;	/* CLOCK_REALTIME */
	uint64_t stopped_hash;	/* the version read after this side stopped */
	uint64_t stopped_ns;
	uint32_t before;	/* PAGEDET_SEEN_* */
	uint32_t stopped;	/* PAGEDET_SEEN_* */
};

struct pagedet_versions_info {
	uint64_t size;		/* sizeof(struct pagedet_versions_info) */
	uint64_t pages;
	uint64_t sent;		/* pages that were sent */
	uint64_t sent_zero;	/* pages that were sent as zeroes */
	uint64_t sent_again;	/* pages that were sent more than once */
	uint64_t looks;		/* calls of pagedet_versions_look() */
	uint64_t older;		/* older versions that are kept */
	uint64_t bytes;		/* memory in use */
	uint32_t full;		/* 1: some versions were not kept */
	uint32_t stopped;	/* 1: one look was after this side stopped */
};

/**
 * pagedet_versions_new - create an empty record of versions
 * @options: [in] see struct pagedet_versions_options
 * @ret: [out] [owned: pagedet_versions_free] the new record
 * Return: 0, or a negative errno.
 * Errors: EINVAL there are no pages, or more than 2^40; E2BIG options has a
 *         non-zero byte that this library does not know; ENOMEM.
 * Since: 0.1
 */
int pagedet_versions_new(const struct pagedet_versions_options *options,
			 struct pagedet_versions **ret);

/**
 * pagedet_versions_sent - record that a page is sent
 * The version sent before becomes an older version. The time of the call counts
 * as the time when the page was sent. What a proxy gets may have been sent
 * before that: see sent_stopped of the evidence.
 * @versions: [in] from pagedet_versions_new()
 * @page: [in] number of the page
 * @state: [in] PAGEDET_SENT_KNOWN or PAGEDET_SENT_PACKED
 * @hash: [in] if @state is PAGEDET_SENT_KNOWN
 * @turn: [in] increasing, as in struct pagedet_streamed_page; a late call with
 *        a smaller turn adds an older version
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such page, or another state.
 * Since: 0.1
 */
int pagedet_versions_sent(struct pagedet_versions *versions, uint64_t page,
			  uint32_t state, uint64_t hash, uint64_t turn);

/**
 * pagedet_versions_dropped - record that the peer is told to discard pages
 * @versions: [in] from pagedet_versions_new()
 * @first: [in] number of the first page
 * @n: [in] number of pages
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such pages.
 * Since: 0.1
 */
int pagedet_versions_dropped(struct pagedet_versions *versions, uint64_t first,
			     uint64_t n);

/**
 * pagedet_versions_complete - state that everything sent was observed
 * Until then, a page without a record may still have been sent.
 * @versions: [in] from pagedet_versions_new()
 * @complete: [in] 1; or 0 if some of the data was not understood
 * Return: 0.
 * Errors: none.
 * Since: 0.1
 */
int pagedet_versions_complete(struct pagedet_versions *versions,
			      uint32_t complete);

/**
 * pagedet_versions_look - record the current pages of the source
 * If a page differs from the look before, the version of that look becomes an
 * older version. Of the looks at the stopped source the first one counts. A
 * later one with PAGEDET_WHEN_DRAINED says which pages have not changed since:
 * stopped_drained of the evidence.
 * @versions: [in] from pagedet_versions_new()
 * @seen: [in] [len: n] all pages, from pagedet_look()
 * @n: [in] the number of pages
 * @when: [in] PAGEDET_WHEN_*
 * Return: 0, or a negative errno.
 * Errors: EINVAL it is another number of pages, or no such @when; ENOMEM.
 * Since: 0.1
 */
int pagedet_versions_look(struct pagedet_versions *versions,
			  const struct pagedet_seen *seen, uint64_t n,
			  uint32_t when);

/**
 * pagedet_versions_had - ask whether a page had contents before it was last
 * sent
 * @versions: [in] from pagedet_versions_new()
 * @page: [in] number of the page
 * @hash: [in] of the contents
 * Return: PAGEDET_YES; PAGEDET_NO; PAGEDET_DUNNO if some versions were not
 *         kept, were sent as PAGEDET_SENT_PACKED, or if some of the data sent
 *         was not observed; or a negative errno.
 * Errors: EINVAL no such page.
 * Since: 0.1
 */
int pagedet_versions_had(struct pagedet_versions *versions, uint64_t page,
			 uint64_t hash);

/**
 * pagedet_versions_of - get what is known about one page
 * @versions: [in] from pagedet_versions_new()
 * @page: [in] number of the page
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such page, or size is too small.
 * Since: 0.1
 */
int pagedet_versions_of(struct pagedet_versions *versions, uint64_t page,
			struct pagedet_version_of *ret);

/**
 * pagedet_versions_info - get how much was sent and how much is known
 * @versions: [in] from pagedet_versions_new()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_versions_info(struct pagedet_versions *versions,
			  struct pagedet_versions_info *ret);

/**
 * pagedet_versions_evidence - add what is known about one page to evidence
 * Sets the version that was sent, the version when this side had stopped, and,
 * if the evidence has the peer's hash, whether this side had that version
 * earlier. It sets the version before sending only if the page had the same
 * version when it was sent or when this side had stopped. Otherwise a write may
 * have come after the look. Members that are not known stay unchanged.
 * @versions: [in] from pagedet_versions_new()
 * @page: [in] number of the page
 * @evidence: [in,out] of the side that these versions belong to
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such page, or the size of evidence is too small.
 * Since: 0.1
 */
int pagedet_versions_evidence(struct pagedet_versions *versions, uint64_t page,
			      struct pagedet_evidence *evidence);

/**
 * pagedet_seen_evidence - add a look at a page to evidence, as one version
 * @seen: [in] from pagedet_look()
 * @version: [in] PAGEDET_AS_*
 * @hash_key: [in] from pagedet_hash_key_id()
 * @evidence: [in,out] unchanged if the page was not examined
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such version, or the size of evidence is too small.
 * Since: 0.1
 */
int pagedet_seen_evidence(const struct pagedet_seen *seen, uint32_t version,
			  uint64_t hash_key, struct pagedet_evidence *evidence);

/**
 * pagedet_versions_free - free a record of versions
 * @versions: [in,nullable] must no longer be in use by any thread
 * Errors: none.
 * Since: 0.1
 */
void pagedet_versions_free(struct pagedet_versions *versions);

/* --- places of pages --- */

/*
 * struct pagedet_blocks - a map of a guest's memory: its addresses in the guest
 * and in the process at each end. The memory consists of blocks with names. The
 * pages of all blocks are numbered from 0, in the order in which blocks were
 * added. Only one thread at a time may use it while blocks are added;
 * afterwards any number may.
 */
struct pagedet_blocks;

#define PAGEDET_NO_PAGE ((uint64_t)-1)

/* Index of the two addresses of a block. */
enum pagedet_end {
	PAGEDET_END_SOURCE = 0,
	PAGEDET_END_DESTINATION = 1
};

/* A block for pagedet_blocks_add(). */
struct pagedet_block {
	uint64_t size;		/* sizeof(struct pagedet_block) */
	const char *name;	/* 1 to 255 bytes */
	uint64_t bytes;		/* a multiple of the page size */
	uint64_t addr[2];	/* by PAGEDET_END_* */
};

/* The place of one page. */
struct pagedet_page_at {
	uint64_t size;		/* sizeof(struct pagedet_page_at) */
	const char *name;	/* of the block; valid until
				 * pagedet_blocks_free() */
	uint64_t block;		/* number of the block, from 0 */
	uint64_t offset;	/* offset in the block, bytes */
	uint64_t addr[2];	/* by PAGEDET_END_* */
	uint64_t guest;		/* guest physical address */
	uint32_t has_guest;	/* 0: the guest has no address for the page */
	uint32_t read_only;	/* 1: the guest may only read it */
};

/**
 * pagedet_blocks_new - create a map without blocks
 * @page_size: [in] a power of two, 512 to 1 GiB
 * @ret: [out] [owned: pagedet_blocks_free] the new map
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such page size; ENOMEM.
 * Since: 0.1
 */
int pagedet_blocks_new(uint64_t page_size, struct pagedet_blocks **ret);

/**
 * pagedet_blocks_add - add a block
 * @blocks: [in] from pagedet_blocks_new()
 * @block: [in] its name, length and addresses
 * Return: 0, or a negative errno.
 * Errors: EINVAL no name, one of more than 255 bytes or that the map already
 *         has, no bytes, not whole pages, or an address that is not aligned or
 *         that wraps; E2BIG block has a non-zero byte
 *         that this library does not know; EOVERFLOW there are 4096 already, or
 *         more than 2^40 pages; ENOMEM.
 * Since: 0.1
 */
int pagedet_blocks_add(struct pagedet_blocks *blocks,
		       const struct pagedet_block *block);

/**
 * pagedet_blocks_add_range - map a part of a block to guest addresses
 * @blocks: [in] from pagedet_blocks_new()
 * @name: [in] of a block that was added
 * @offset: [in] in the block, bytes
 * @guest: [in] guest physical address
 * @bytes: [in] length, in whole pages
 * @read_only: [in] 1: the guest may only read it
 * Return: 0, or a negative errno.
 * Errors: EINVAL not within the block, or not whole pages; ENOENT there is no
 *         such block; EOVERFLOW there are 65536 already; ENOMEM.
 * Since: 0.1
 */
int pagedet_blocks_add_range(struct pagedet_blocks *blocks, const char *name,
			     uint64_t offset, uint64_t guest, uint64_t bytes,
			     uint32_t read_only);

/**
 * pagedet_blocks_load - add blocks and ranges from a text
 * Serves agents of virtual machines without a monitor to ask. The text has one
 * entry per line. Blanks separate words; numbers are decimal, or hex with 0x.
 * In names \040 is a blank, \043 a #, and \134 a backslash. A # starts a
 * comment:
 *
 *   block NAME BYTES SOURCE-ADDRESS DESTINATION-ADDRESS
 *   guest NAME OFFSET GUEST-ADDRESS BYTES [ro]
 *
 * @blocks: [in] after a failure it has the entries before the wrong line
 * @text: [in] [len: len] the text
 * @len: [in] bytes
 * @line: [out,nullable] set on failure: the number of the line, from 1
 * Return: 0, or a negative errno.
 * Errors: EBADMSG a line that is not one of these; EINVAL ENOENT EOVERFLOW
 *         ENOMEM as pagedet_blocks_add() and pagedet_blocks_add_range().
 * Since: 0.1
 */
int pagedet_blocks_load(struct pagedet_blocks *blocks, const char *text,
			uint64_t len, uint64_t *line);

/**
 * pagedet_blocks_count - count the pages of all blocks
 * @blocks: [in] from pagedet_blocks_new()
 * Return: the number of pages.
 * Errors: none.
 * Since: 0.1
 */
uint64_t pagedet_blocks_count(const struct pagedet_blocks *blocks);

/**
 * pagedet_blocks_page - find the page at an offset of a block
 * @blocks: [in] from pagedet_blocks_new()
 * @name: [in] of the block
 * @offset: [in] bytes
 * Return: its number, or PAGEDET_NO_PAGE.
 * Errors: none.
 * Since: 0.1
 */
uint64_t pagedet_blocks_page(const struct pagedet_blocks *blocks,
			     const char *name, uint64_t offset);

/**
 * pagedet_blocks_guest - find the page at a guest physical address
 * @blocks: [in] from pagedet_blocks_new()
 * @guest: [in] guest physical address
 * Return: its number, or PAGEDET_NO_PAGE.
 * Errors: none.
 * Since: 0.1
 */
uint64_t pagedet_blocks_guest(const struct pagedet_blocks *blocks,
			      uint64_t guest);

/**
 * pagedet_blocks_at - get the place of a page
 * @blocks: [in] from pagedet_blocks_new()
 * @page: [in] number of the page
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small; ENOENT there is no such page.
 * Since: 0.1
 */
int pagedet_blocks_at(const struct pagedet_blocks *blocks, uint64_t page,
		      struct pagedet_page_at *ret);

/**
 * pagedet_blocks_items - get the items to read all pages of one end
 * Gives one item per block, in the order of page numbers. pagedet_look() then
 * returns the pages in the same order.
 * @blocks: [in] from pagedet_blocks_new()
 * @end: [in] PAGEDET_END_*
 * @pid: [in] of the process at that end
 * @items: [out] [len: max] receives the items
 * @max: [in] size of @items, in elements
 * Return: how many there are; if more than @max, the rest did not fit. Or a
 *         negative errno.
 * Errors: EINVAL no such end.
 * Since: 0.1
 */
int pagedet_blocks_items(const struct pagedet_blocks *blocks, uint32_t end,
			 uint32_t pid, struct pagedet_item *items,
			 uint64_t max);

/**
 * pagedet_blocks_free - free the map
 * @blocks: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_blocks_free(struct pagedet_blocks *blocks);

/* --- the difference as a whole --- */

/* pagedet_pattern.kind: what pages that differ have in common */
enum pagedet_pattern_kind {
	PAGEDET_PATTERN_EMPTY_PEER = 1, /* data here; the peer has zeroes, or no
				 * page */
	PAGEDET_PATTERN_EMPTY_HERE = 2, /* the other way round */
	PAGEDET_PATTERN_SHIFTED = 3, /* the peer has the contents of the page
				 * here that is shift pages further on */
	PAGEDET_PATTERN_OLDER = 4, /* the peer has an earlier version */
	PAGEDET_PATTERN_MOVED = 5, /* the peer has the contents of some other
				 * page here */
	PAGEDET_PATTERN_ALIKE = 6, /* the peer has the same contents in all of
				 * them */
	PAGEDET_PATTERN_OTHER = 7, /* none of these */
	PAGEDET_PATTERN_EXCHANGED = 8 /* two and two pages have each other's
				 * contents at the peer */
};

/* pagedet_pattern.borders */
enum pagedet_pattern_border {
	PAGEDET_BORDER_FIRST = 1, /* a block, or a range of guest addresses,
				 * begins with the first page */
	PAGEDET_BORDER_LAST = 2	/* one ends with the last page */
};

/*
 * Pages that differ in the same way. Used as an array element, so it will never
 * grow.
 */
struct pagedet_pattern {
	uint64_t pages;		/* number of them */
	uint64_t first;		/* the first of them */
	uint64_t last;		/* the last of them */
	uint64_t equal;		/* pages between these that are equal */
	uint64_t differ;	/* pages between them that differ otherwise */
	uint64_t absent;	/* EMPTY: pages that are absent on the empty
				 * side; the others are zero */
	uint64_t swapped;	/* pages that are in swap on the side that has
				 * data (EMPTY_HERE: the peer; otherwise this
				 * one) */
	uint64_t older;		/* EMPTY_PEER: pages that were empty here
				 * earlier */
	int64_t shift;		/* SHIFTED: in pages */
	uint64_t from;		/* SHIFTED, MOVED, EXCHANGED: the page here that
				 * has the contents of the peer's first */
	uint64_t unsearched;	/* OTHER: pages that were not searched for at
				 * other places, because there are too many */
	uint32_t kind;		/* PAGEDET_PATTERN_* */
	uint32_t borders;	/* PAGEDET_BORDER_* */
};

/**
 * pagedet_patterns - look at all pages that differ as a whole
 * Some harm shows in no single page: a block that was loaded at a wrong offset,
 * memory behind a boundary of two ranges, pages in swap that were sent as
 * empty. Each page that differs counts in one pattern. Pages that are not known
 * on one side count in none. A page counts as shifted only if several pages
 * with contents that exist once here have the same shift; as older only if
 * @versions says that it had these contents. More than 65536 pages are not
 * searched for at other places.
 * @here: [in] [len: n] the pages of this side, from pagedet_look()
 * @peer: [in] [len: n] the pages of the peer, with hashes of the same key
 * @n: [in] number of pages of each side
 * @blocks: [in,nullable] the same pages; it tells borders, and nothing is
 *          shifted from one block into another. NULL: all is one block
 * @versions: [in,nullable] of this side; NULL: no page is known to be older
 * @ret: [out] [len: max] the patterns, the one with the most pages first
 * @max: [in] size of @ret in elements
 * @of: [out,nullable] [len: n] for each page its pattern: an index in @ret,
 *      even if it did not fit, plus 1; 0: it has none
 * Return: how many there are; if more than @max, the rest did not fit. Or a
 *         negative errno.
 * Errors: EINVAL @blocks has another number of pages; ENOMEM.
 * Since: 0.1
 */
int pagedet_patterns(const struct pagedet_seen *here,
		     const struct pagedet_seen *peer, uint64_t n,
		     const struct pagedet_blocks *blocks,
		     struct pagedet_versions *versions,
		     struct pagedet_pattern *ret, uint64_t max, uint8_t *of);

/**
 * pagedet_pattern_text - describe a pattern in a sentence
 * The sentence calls the two sides by the given names.
 * @pattern: [in] from pagedet_patterns()
 * @page_size: [in] bytes
 * @here: [in] a name such as "source"
 * @peer: [in] a name such as "destination"
 * @text: [out,nullable] [len: size] receives the text with a final NUL, cut if
 *        it does not fit
 * @size: [in] bytes
 * Return: the length of the whole text, or a negative errno.
 * Errors: EINVAL no such kind.
 * Since: 0.1
 */
int pagedet_pattern_text(const struct pagedet_pattern *pattern,
			 uint64_t page_size, const char *here, const char *peer,
			 char *text, uint64_t size);

/**
 * pagedet_pattern_name - the name of a kind of pattern, as in JSON
 * @kind: [in] PAGEDET_PATTERN_*
 * Return: a name such as "shifted", or NULL if there is no such kind [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_pattern_name(uint32_t kind);

/* --- the stream --- */

/*
 * struct pagedet_stream - a parser for one channel of a QEMU migration. It
 * takes the bytes as they pass. Only one thread at a time may use it; several
 * threads may each use their own.
 */
struct pagedet_stream;

/* pagedet_stream_options.options */
enum pagedet_stream_option {
	PAGEDET_STREAM_IGNORE_SHARED = 1 /* the migration has this capability,
				 * which adds data to the list of blocks */
};

/* How to parse a channel. Start from PAGEDET_STREAM_OPTIONS_INIT. */
struct pagedet_stream_options {
	uint64_t size;		/* sizeof(struct pagedet_stream_options) */
	uint64_t page_size;	/* of the guest, bytes: a power of two from
				 * 4096 to 65536 */
	uint64_t packet_bytes;	/* size of a multifd packet: a multiple of
				 * page_size, at most 32 MiB; 0 is QEMU's, 512
				 * KiB */
	uint32_t options;	/* PAGEDET_STREAM_* */
	uint32_t reserved;
};

#define PAGEDET_STREAM_OPTIONS_INIT \
	{ sizeof(struct pagedet_stream_options), 4096, 0, 0, 0 }

/* pagedet_streamed_page.kind */
enum pagedet_streamed {
	PAGEDET_STREAMED_BYTES = 1, /* a page, as bytes */
	PAGEDET_STREAMED_FILL = 2, /* a page filled with the byte fill */
	PAGEDET_STREAMED_PACKED = 3, /* a page in a form that is not known
				 * here */
	PAGEDET_STREAMED_DROP = 4 /* the destination is told to discard len
				 * bytes */
};

/* One statement of the stream about memory. */
struct pagedet_streamed_page {
	uint64_t size;		/* sizeof(struct pagedet_streamed_page) */
	const char *block;	/* name of the block; valid until the next
				 * call */
	uint64_t offset;	/* in the block, bytes */
	uint64_t len;		/* bytes */
	const void *bytes;	/* [nullable] [len: len] for
				 * PAGEDET_STREAMED_BYTES; valid until the next
				 * call */
	uint64_t turn;		/* how often all channels have synchronised; the
				 * same on all of them */
	uint32_t kind;		/* PAGEDET_STREAMED_* */
	uint32_t fill;		/* a byte */
};

struct pagedet_stream_info {
	uint64_t size;		/* sizeof(struct pagedet_stream_info) */
	const char *why;	/* [nullable] why the stream was not understood
				 * to its end; NULL if it was. Valid forever */
	uint64_t turns;
	uint32_t is_main;	/* 1: the main channel, or the only one */
	uint32_t over;		/* 1: the remaining bytes are ignored */
};

/**
 * pagedet_stream_new - create a parser for one channel
 * It parses QEMU 7.2 to 10: the main channel of a migration, with or without
 * postcopy, or a multifd channel. It trusts no byte. Its memory is limited to
 * little more than 64 KiB.
 * @options: [in,nullable] NULL is PAGEDET_STREAM_OPTIONS_INIT
 * @ret: [out] [owned: pagedet_stream_free] the new parser
 * Return: 0, or a negative errno.
 * Errors: EINVAL no such page size, or packet; E2BIG options has a non-zero
 *         byte or a bit that this library does not know; ENOMEM.
 * Since: 0.1
 */
int pagedet_stream_new(const struct pagedet_stream_options *options,
		       struct pagedet_stream **ret);

/**
 * pagedet_stream_take - parse the next bytes
 * Call it until it returns 0. Bytes that it does not understand end the
 * parsing: it ignores the rest, and pagedet_stream_info() says why.
 * @stream: [in] from pagedet_stream_new()
 * @bytes: [in] [len: len] a piece of any size
 * @len: [in] bytes
 * @at: [in,out] how many of them were taken; 0 begins a piece
 * @ret: [in,out] the caller sets size
 * Return: 1 and *@ret; 0 if all bytes of the piece were taken; or a negative
 *         errno.
 * Errors: EINVAL size is too small, or *@at is behind the end.
 * Since: 0.1
 */
int pagedet_stream_take(struct pagedet_stream *stream, const void *bytes,
			uint64_t len, uint64_t *at,
			struct pagedet_streamed_page *ret);

/**
 * pagedet_stream_info - ask whether the stream was understood
 * @stream: [in] from pagedet_stream_new()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is too small.
 * Since: 0.1
 */
int pagedet_stream_info(const struct pagedet_stream *stream,
			struct pagedet_stream_info *ret);

/**
 * pagedet_stream_free - free a parser
 * @stream: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_stream_free(struct pagedet_stream *stream);
