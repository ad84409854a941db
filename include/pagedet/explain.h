/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: evidence and findings: why is this page as it is? */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

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
