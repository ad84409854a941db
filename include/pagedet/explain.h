/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Part of pagedet.h: evidence about pages, and findings: why is a page as it
 * is?
 */
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
	PAGEDET_ASK_UNACCOUNTED = 32, /* not charged to any memory cgroup */
	PAGEDET_ASK_POISONED = 64,
	PAGEDET_ASK_LEAKED = 128 /* allocated, but apparently unused */
};

/* The answer to a question that may have no answer. */
enum pagedet_known {
	PAGEDET_DUNNO = 0,	/* not known, or not asked */
	PAGEDET_YES = 1,
	PAGEDET_NO = 2
};

/* Index of the hashes in struct pagedet_evidence. */
enum pagedet_version {
	PAGEDET_AS_SENT = 0,	/* when it was last sent */
	PAGEDET_AS_NOW = 1,	/* here */
	PAGEDET_AS_AGAIN = 2,	/* here, from a second, later read */
	PAGEDET_AS_PEER = 3,	/* at the peer */
	PAGEDET_AS_MORE = 4,	/* the first version below: version v is at
				 * index v - PAGEDET_AS_MORE of more_hash and of
				 * the arrays beside it */
	PAGEDET_AS_BEFORE = 4,	/* here, read from memory just before or while
				 * it was last sent */
	PAGEDET_AS_STOPPED = 5,	/* here, read as soon as this side had stopped;
				 * see stopped_drained */
	PAGEDET_AS_PEER_STOPPED = 6, /* at the peer, read after all of it had
				 * arrived, before anything ran there */
	PAGEDET_AS_PEER_AGAIN = 7 /* at the peer, from a second, later read */
};

/* pagedet_evidence.here_read, peer_read: the result of reading its bytes */
enum pagedet_read {
	PAGEDET_READ_DUNNO = 0,	/* not tried */
	PAGEDET_READ_DONE = 1,
	PAGEDET_READ_REFUSED = 2, /* EIO, EFAULT or SIGBUS, as for poisoned
				 * memory */
	PAGEDET_READ_OTHER = 3	/* failed otherwise */
};

/*
 * pagedet_evidence.track: writes through the tracked mapping since the page was
 * sent
 */
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
	PAGEDET_MODE_SNAPSHOT = 5 /* saved and loaded instead of migrated */
};

/*
 * Number of words of a row in struct pagedet_evidence. struct pagedet_page with
 * all possible fields never exceeds this.
 */
#define PAGEDET_EVIDENCE_ROW 160
#define PAGEDET_EVIDENCE_TEXT 512

/*
 * struct pagedet_evidence - what is known about one page, for
 * pagedet_explain().
 *
 * It is flat, of fixed width and without pointers, and new members are only
 * appended. A program may send it as it is to another machine of the same kind;
 * pagedet_evidence_save() serves all other machines. If everything but size is
 * zero, nothing is known. String ids in the rows, and members whose comment
 * says "text", are offsets in texts of a zero-terminated string; offset 0 is
 * "". The struct has grown since its first release. Functions accept the size
 * of an older client and treat the missing members as not known.
 */
struct pagedet_evidence {
	uint64_t size;		/* sizeof(struct pagedet_evidence) */
	uint64_t id;		/* chosen by the caller; findings carry it */
	uint64_t here[PAGEDET_EVIDENCE_ROW]; /* a struct pagedet_page, padded
				 * with zeroes */
	uint64_t peer[PAGEDET_EVIDENCE_ROW]; /* the same page at the peer */
	char texts[PAGEDET_EVIDENCE_TEXT]; /* its first byte is 0 */
	uint64_t hash[4];	/* by PAGEDET_AS_* */
	uint64_t hash_key[4];	/* identifies key and kind of hash: only hashes
				 * with the same number are compared */
	uint64_t hash_ns[4];	/* CLOCK_REALTIME; 0 not known */
	uint32_t hash_state[4];	/* PAGEDET_HAVE, or why it is not known;
				 * PAGEDET_NONE for PAGEDET_AS_SENT: never
				 * sent */
	uint32_t zero[4];	/* PAGEDET_YES: all bytes are zero, or would
				 * read as zero: a hole in the file */
	uint32_t questions;	/* PAGEDET_ASK_*; 0: choose by the evidence, and
				 * report only what has a cause */
	uint32_t one_host;	/* YES: here and peer are one kernel */
	uint32_t here_frozen;	/* YES: nothing that may write the page ran
				 * during the whole read */
	uint32_t peer_frozen;
	uint32_t here_read;	/* PAGEDET_READ_* */
	uint32_t peer_read;
	uint32_t track;		/* PAGEDET_WRITES_* */
	uint32_t compared;	/* YES: the bytes of here and peer were
				 * compared; bits and bytes count the
				 * differences */
	uint64_t bits;
	uint64_t bytes;
	uint32_t shape;		/* PAGEDET_SHAPE_* */
	uint32_t file_written;	/* YES: since the page was sent, according to
				 * the file's mtime or an observed writer */
	uint64_t file_ns;	/* the file's mtime; 0 not known. Stores through
				 * mappings may change it, too */
	uint64_t mappers;	/* mappings that the caller does not know
				 * about */
	uint64_t mapper_comm;	/* text: the task of one of them */
	uint32_t mapper_pid;	/* 0 not known */
	uint32_t extra_mappers;	/* YES: there are such mappings */
	uint32_t counters_here;	/* YES: counters of machine checks or EDAC rose
				 * since the page was sent */
	uint32_t counters_peer;
	uint32_t same_as_other;	/* YES: the peer's page equals another page
				 * here; pagedet_explain() also searches the
				 * evidence for one */
	uint32_t unique;	/* YES: exactly one other page matches; NO:
				 * several do */
	uint64_t same_as;	/* id of that page */
	uint32_t earlier;	/* YES: the peer's page equals an older version
				 * here, from before it was last sent */
	uint32_t mode;		/* PAGEDET_MODE_* */
	uint32_t peer_complete;	/* NO: pages are still missing, as before
				 * postcopy ends */
	uint32_t peer_discarded; /* YES: the peer discarded it: a balloon, a
				 * hole in its file, or postcopy told it to */
	uint64_t pass_sent;	/* 1 is the first; 0 not known */
	uint64_t earlier_pass;	/* the pass of that version; 0 not known */
	uint32_t alloc_task;	/* YES: the task that allocated it exists */
	uint32_t no_swap;	/* YES: no swap space is left */
	uint64_t alloc_frame;	/* text: the function that allocated it */
	uint32_t here_hole;	/* YES: the file has a hole at this page */
	uint32_t peer_hole;

	/* Members from here on may be absent; size tells. */
	uint64_t more_hash[4];	/* as hash, by PAGEDET_AS_* - PAGEDET_AS_MORE */
	uint64_t more_key[4];	/* as hash_key */
	uint64_t more_ns[4];	/* as hash_ns */
	uint32_t more_state[4];	/* as hash_state */
	uint32_t more_zero[4];	/* as zero */
	uint32_t here_missing;	/* YES: the page has no contents here, or no
				 * longer has any: MADV_DONTNEED, a hole, a
				 * truncated file */
	uint32_t peer_missing;
	uint32_t here_discarded; /* YES: the page was discarded here, and this
				 * was observed */
	uint32_t sent_stopped;	/* YES: this side had already stopped, and
				 * PAGEDET_AS_STOPPED had been read, when the
				 * page was last sent */
	uint32_t here_ran;	/* YES: this side ran between the switch and the
				 * read; NO: it did not run */
	uint32_t peer_ran;
	uint32_t here_other_maps; /* YES: a process other than the owner of the
				 * memory maps the page */
	uint32_t peer_other_maps;
	uint32_t peer_mapper_pid; /* that process at the peer; 0 not known */
	uint32_t reserved;	/* 0 */
	uint64_t differences;	/* number of differing pages in all, including
				 * those outside this evidence; 0 not known */
	uint64_t folio_mapcount; /* how many entries map the large folio of the
				 * page here, or a page of it */
	uint32_t folio_counted;	/* YES: folio_mapcount is known */
	uint32_t reserved2;	/* 0 */
	uint32_t stopped_drained; /* YES: PAGEDET_AS_STOPPED is as the page was
				 * once all writes of the guest's devices had
				 * ended; NO: the page changed between the stop
				 * and that moment */
	uint32_t reserved3;	/* 0 */
};

/* pagedet_finding.verdict */
enum pagedet_finding_verdict {
	PAGEDET_VERDICT_CANNOT_TELL = 0,
	PAGEDET_VERDICT_CAUSE = 1,
	PAGEDET_VERDICT_FINE = 2 /* there is nothing to explain, or what the
				 * question assumes is not true */
};

/* pagedet_finding.confidence */
enum pagedet_confidence {
	PAGEDET_CONFIDENCE_NONE = 0, /* for PAGEDET_VERDICT_CANNOT_TELL */
	PAGEDET_CONFIDENCE_LOW = 1,
	PAGEDET_CONFIDENCE_MEDIUM = 2,
	PAGEDET_CONFIDENCE_HIGH = 3,
	PAGEDET_CONFIDENCE_CERTAIN = 4
};

/* pagedet_fact.side */
enum pagedet_side {
	PAGEDET_SIDE_BOTH = 0,	/* of both, or of neither */
	PAGEDET_SIDE_HERE = 1,
	PAGEDET_SIDE_PEER = 2
};

/*
 * A fact that a finding rests on. Used as an array element, so it will never
 * grow.
 */
struct pagedet_fact {
	uint64_t value;
	uint64_t time_ns;	/* CLOCK_REALTIME; 0 not known */
	const char *field;	/* a field of the row, or a member of the
				 * evidence */
	const char *text;	/* the value in words; names of bits are joined
				 * by '|' */
	const char *source;	/* as pagedet_source_name(), or "evidence" for a
				 * member that the caller may have set */
	uint32_t type;		/* PAGEDET_TYPE_* of value */
	uint32_t side;		/* PAGEDET_SIDE_* */
};

/* pagedet_alternative.state */
enum pagedet_alternative_state {
	PAGEDET_ALTERNATIVE_POSSIBLE = 0, /* examined, but not excluded */
	PAGEDET_ALTERNATIVE_EXCLUDED = 1,
	PAGEDET_ALTERNATIVE_NOT_LOOKED = 2 /* not examined: data that could
				 * exclude it is missing */
};

/*
 * An alternative to a finding: another cause, or an error of the observation.
 * Used as an array element, so it will never grow.
 */
struct pagedet_alternative {
	const char *name;	/* of a rule, or of an error of observation */
	const char *cause;	/* the alternative explanation, in words */
	const char *why;	/* excluded: the reason; not examined: the data
				 * that would tell; possible: what supports
				 * it */
	uint32_t state;		/* PAGEDET_ALTERNATIVE_* */
	uint32_t reserved;
};

/* One finding: the answer to a question about one page. */
struct pagedet_finding {
	uint64_t size;		/* sizeof(struct pagedet_finding) */
	uint64_t evidence;	/* index of the evidence in the array */
	uint64_t id;		/* id of that evidence */
	const char *name;	/* of the rule: "dirty-log-lost" */
	const char *cause;	/* one sentence */
	const char *likely;	/* what may have led to the cause, if the cause
				 * leaves that open; "" */
	const char *advice;	/* what the user should do */
	const struct pagedet_fact *facts; /* [len: n_facts] */
	const char *const *unknown; /* [len: n_unknown] missing data that would
				 * have decided, or told more */
	uint32_t n_facts;
	uint32_t n_unknown;
	uint32_t rule;		/* number of the rule */
	uint32_t question;	/* PAGEDET_ASK_*, one of them */
	uint32_t verdict;	/* PAGEDET_VERDICT_* */
	uint32_t confidence;	/* PAGEDET_CONFIDENCE_* of cause */
	uint32_t likely_confidence; /* of likely */
	uint32_t reserved;

	/* Members from here on may be absent; size tells. */
	const struct pagedet_alternative *alternatives; /* [len: n_alternatives]
				 * the competing explanations */
	uint32_t n_alternatives;
	uint32_t lets_run;	/* PAGEDET_SIDE_HERE, _PEER: the advice lets
				 * this side continue; _BOTH: neither */
	uint32_t here_intact;	/* for a mismatch, YES: this side's contents are
				 * proven right; NO: proven wrong */
	uint32_t peer_intact;
};

/* One rule of pagedet_explain(). */
struct pagedet_rule {
	uint64_t size;		/* this struct's size in the running library */
	const char *name;
	const char *cause;
	const char *advice;
	uint32_t id;		/* part of the ABI: never reused */
	uint32_t question;	/* PAGEDET_ASK_* */
	uint32_t verdict;	/* PAGEDET_VERDICT_* */
	uint32_t reserved;
};

/**
 * pagedet_rule - get one of the rules that explain pages
 * pagedet_explain() applies the first rule of a question that fits, in this
 * order.
 * @n: [in] 0, 1, 2 ...
 * Return: rule @n, or NULL past the last [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const struct pagedet_rule *pagedet_rule(uint32_t n);

/**
 * pagedet_confidence_name - name a confidence
 * @confidence: [in] PAGEDET_CONFIDENCE_*
 * Return: "none", "low", "medium", "high", "certain", or NULL [nullable]
 *         [borrowed: forever].
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
 * pagedet_explain - find the causes that the evidence supports
 * A pure function: it performs no I/O, needs no handle and uses no memory
 * except the arena. It may run on any machine, and in several threads at once.
 * It never claims more than the evidence supports:
 * - Contents are certainly equal or different only if their bytes were
 *   compared.
 * - Hardware is blamed only if its counters are known.
 * - If it cannot tell, the finding names the missing data.
 * - A confidence is high or certain only if every alternative was examined and
 *   excluded.
 * - Advice lets a side of a migration continue only if that side is proven
 *   intact.
 * @evidence: [in] [len: n] all with the size that the first one states
 * @n: [in] number of @evidence
 * @arena: [out,nullable] [len: arena_len] memory for everything that findings
 *         point to. With NULL and 0, findings have no facts, no alternatives
 *         and no unknown data, and pages are not compared with each other's
 *         contents
 * @arena_len: [in] bytes; 4096 for each finding and 32 for each of @evidence is
 *             enough
 * @findings: [in,out] [len: max] the caller sets size of the first one, which
 *            is also the distance between them; the data that they point to
 *            [borrowed: arena]
 * @max: [in] size of @findings, in elements; one per question for each of
 *       @evidence is enough
 * Return: how many findings there are; if more than @max, the rest did not fit.
 *         Or a negative errno.
 * Errors: EINVAL a size is too small or not a multiple of 8, or there is too
 *         much evidence; E2BIG evidence has a non-zero byte that this library
 *         does not know; ENOMEM the arena is too small.
 * Since: 0.1
 */
int pagedet_explain(const struct pagedet_evidence *evidence, uint64_t n,
		    void *arena, uint64_t arena_len,
		    struct pagedet_finding *findings, uint64_t max);

/* pagedet_collect_options.options */
enum pagedet_collect_option {
	PAGEDET_COLLECT_CONTENT = 1, /* read the page's bytes: sets zero and the
				 * current hash. If only /proc can read them,
				 * this marks pages as accessed */
	PAGEDET_COLLECT_AGAIN = 2, /* with CONTENT: read them once more after
				 * everything else, for PAGEDET_AS_AGAIN */
	PAGEDET_COLLECT_FILE = 4, /* open the file behind shared memory of a
				 * task: sets file_ns, here_hole. In a page
				 * without an entry a hole reads as zeroes. With
				 * CONTENT this reads the file, which may bring
				 * the page in */
	PAGEDET_COLLECT_LOG = 8	/* read the kernel's log: sets report, reason
				 * and event_ns of the row by the last report of
				 * the page as bad. The running kernel's log is
				 * read only if /proc/sys/kernel/tainted says
				 * that there was such a report */
};

struct pagedet_track;

/* The evidence to collect. Start from PAGEDET_COLLECT_OPTIONS_INIT. */
struct pagedet_collect_options {
	uint64_t size;		/* sizeof(struct pagedet_collect_options) */
	uint64_t deadline_ns;	/* for the whole call, from its start; 0 no
				 * deadline */
	uint64_t mappers_ns;	/* time to search for the mappers of pages with
				 * more mappings than are known; 0 does not
				 * search */
	uint64_t known_mappers;	/* number of mappings of each page that the
				 * caller knows; 0 is one for addresses and none
				 * for page frame numbers */
	uint32_t target;	/* PAGEDET_TARGET_PFN or _VIRT */
	uint32_t options;	/* PAGEDET_COLLECT_* */
	uint32_t questions;	/* PAGEDET_ASK_* for questions of the
				 * evidence */
	uint32_t sources;	/* PAGEDET_SOURCE_BIT()s; 0 as the handle's */
	struct pagedet_track *track; /* [nullable] for track of pages of this
				 * process: armed when they were sent, and not
				 * since. It is read and not armed again */
	const void *mark;	/* [nullable] [len: mark_size] for
				 * counters_here: from pagedet_mark() when the
				 * pages were sent */
	uint64_t mark_size;	/* bytes */
	uint64_t again_ns;	/* AGAIN: shortest time between both reads; a
				 * long time shows rare changes. The call waits
				 * for it, unless the deadline comes first: then
				 * there is no second read */
};

#define PAGEDET_COLLECT_OPTIONS_INIT \
	{ sizeof(struct pagedet_collect_options), 0, 0, 0, \
	  PAGEDET_TARGET_VIRT, 0, 0, 0, NULL, NULL, 0, 0 }

/**
 * pagedet_collect - collect evidence about pages
 * Fills in what this kernel knows: the rows here, other mappings, swap, and
 * whether the allocating task still exists. If the options allow it, also the
 * contents and the time of the last write to the file. A tracker tells whether
 * pages were written. A mark tells whether EDAC or machine checks counted
 * errors. The answer is NO only if EDAC is present, because nothing else counts
 * corrected errors, and no other counter rose. libpagedet tries to read a
 * poisoned page only if its entry no longer maps it, so that the read cannot
 * touch the memory. Only the caller knows what happened to the pages: what was
 * sent, what the peer has, and which side was frozen. It adds these facts
 * itself.
 * @pd: [in] opened
 * @items: [in] [len: n] one page each: a pfn, or a pid and an address in the
 *         page; pid 0 is the caller's own process
 * @n: [in] number of @items
 * @options: [in,nullable] NULL is addresses, and only cheap data
 * @evidence: [in,out] [len: n] the caller sets size of the first one, which is
 *            also the distance between them; number i is about item i, and i is
 *            its id. Data that is missing after the deadline has the reason
 *            timeout
 * Return: how many of them have a row, or a negative errno.
 * Errors: EINVAL not open, another target, an item is of more than a page, the
 *         size of evidence is too small, AGAIN without CONTENT; E2BIG options
 *         has a non-zero byte or a bit that this library does not know; ESRCH
 *         no such task; EACCES ENOTSUP ENODATA EBADMSG ENOSYS as
 *         pagedet_query(); EBADMSG mark is not a mark, or damaged; EIO;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_collect(struct pagedet *pd, const struct pagedet_item *items,
		    uint64_t n, const struct pagedet_collect_options *options,
		    struct pagedet_evidence *evidence);

/**
 * pagedet_evidence_save - serialise evidence, to explain it elsewhere
 * The bytes have the same form on every machine. They contain no kernel
 * addresses, and only ids of hash keys.
 * @pd: [in] need not be opened
 * @evidence: [in] [len: n] the evidence
 * @n: [in] number of @evidence
 * @bytes: [out,nullable] [len: size] unchanged if the evidence does not fit
 * @size: [in] bytes
 * @ret: [out] how many bytes it takes; if more than @size, it did not fit
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
 * pagedet_evidence_load - read evidence from bytes that another machine sent
 * Trusts nothing: it rejects damaged or truncated bytes as a whole. It leaves
 * out members that only a newer library knows. The caller must judge whether
 * the evidence is true: a checksum is not a signature.
 * @pd: [in] need not be opened; pagedet_error() explains a failure
 * @bytes: [in] [len: size] from pagedet_evidence_save()
 * @size: [in] bytes
 * @evidence: [in,out] [len: max] the caller sets size of the first one, which
 *            is also the distance between them
 * @max: [in] size of @evidence, in elements
 * Return: how many there are; if more than @max, the rest did not fit. Or a
 *         negative errno.
 * Errors: EBADMSG they are not evidence, damaged, or of a version unknown here;
 *         EINVAL the size of evidence is too small.
 * Since: 0.1
 */
int pagedet_evidence_load(struct pagedet *pd, const void *bytes, uint64_t size,
			  struct pagedet_evidence *evidence, uint64_t max);

/**
 * pagedet_evidence_join - add the peer's evidence as the peer's side
 * Takes over the peer's row and whether its bytes were readable or are missing.
 * Takes over its contents: the current ones, those after it had stopped, and
 * those of the second read. Takes over whether the peer ran, who else maps the
 * page, and its counters. Takes over whether it was frozen, unless the peer
 * read different bytes twice. Does not take over its texts. Everything else
 * about the peer becomes unknown, whatever was there before, except
 * peer_discarded.
 * @evidence: [in,out] [len: n] of this side, all with the size that the first
 *            one states
 * @n: [in] number of @evidence
 * @peer: [in] [len: n] number i is about the same page; from pagedet_collect()
 *        on the other host, with the facts that its caller has added
 * Return: 0, or a negative errno.
 * Errors: EINVAL a size is too small or not a multiple of 8.
 * Since: 0.1
 */
int pagedet_evidence_join(struct pagedet_evidence *evidence, uint64_t n,
			  const struct pagedet_evidence *peer);
