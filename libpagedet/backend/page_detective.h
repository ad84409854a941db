/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The driver Page Detective as a source, in one of two ways: it answers in its
 * file "query" (page_detective_query.h), or, as it was posted, one question at
 * a time is written to a file of debugfs, and the answer is read where the
 * kernel puts it, which is its log. Shared by page_detective*.c.
 */
#ifndef PDET_BACKEND_PAGE_DETECTIVE_H
#define PDET_BACKEND_PAGE_DETECTIVE_H

#include <pthread.h>

#include "backend/backend.h"
#include "backend/log.h"
#include "backend/page_detective_reply.h"
#include "base/io.h"
#include "kernel/kpf.h"

#define PAGE_DETECTIVE_DIR "/sys/kernel/debug/page_detective"

/* A path whose bytes are all escaped, and words behind it. */
#define PAGE_DETECTIVE_NAME (4 * 4096 + 64)

/* The program that writes; in the directory of helpers. */
#define PAGE_DETECTIVE_HELPER "page-detective-write"

/* Longest question that it takes. */
#define PAGE_DETECTIVE_LINE 120

/* Pages of one query that it is asked about, or whose mappings are looked for:
 * pagedet(1) says so. */
#define PAGE_DETECTIVE_MOST 256

/* --- page_detective_kmsg.c: records of /dev/kmsg --- */

struct page_detective_kmsg {
	int fd;			/* -1 not open */
	char buf[16384];	/* the beginning of a line, from a pipe */
	size_t n;
	bool polls;		/* it says when there is more: no file */
};

/* Opens it below the root; a descriptor, or a negative errno without words. */
int page_detective_kmsg_open(struct page_detective_kmsg *k,
			     const struct pdet_env *env);
void page_detective_kmsg_close(struct page_detective_kmsg *k);

/* Leaves all that was written until now behind. */
void page_detective_kmsg_skip(struct page_detective_kmsg *k);

enum page_detective_read {
	PAGE_DETECTIVE_LINES,	/* there may be more */
	PAGE_DETECTIVE_DRAINED,	/* there are no more now */
	PAGE_DETECTIVE_OVERRUN,	/* some were overwritten before we came */
};

/* Feeds what is there to @log. Negative errno: reading failed. */
int page_detective_kmsg_read(struct page_detective_kmsg *k,
			     struct pdet_log *log);

/* --- page_detective_helper.c: the process that writes --- */

struct page_detective_helper {
	int pid;		/* 0: none was started */
	int left;		/* one before it, that had not ended; 0 none */
	int to, from;		/* pipes */
};

/* What came of one write. */
struct page_detective_report {
	int64_t result;		/* of write(2), or of open(2) below zero */
	int error;		/* errno of it, 0 if there was none */
	bool opened;
	char *text;		/* that the file had to be read, or NULL */
	size_t len;
};

/* Whether there is such a program, and may be run. */
bool page_detective_helper_is_there(const char *dir);
/* Asks, and starts it if it does not run. -ENOENT there is no such program;
 * -EBUSY the one before has not ended; -EPIPE it ends at once; or another
 * negative errno. No words. @lock is held by it as long as it lives; -1 none.
 * @which: 'v', 'p' or 'q', for the files. */
int page_detective_helper_ask(struct page_detective_helper *h,
			      const struct pdet_env *env, const char *dir,
			      int lock, char which, const char *text);
/* 1 and a report, 0 not yet, -EPIPE it is gone, -EBADMSG. Does not wait. */
int page_detective_helper_report(struct page_detective_helper *h,
				 struct page_detective_report *ret);
/* @wait: it is idle and ends by itself; else it is left behind. */
void page_detective_helper_stop(struct page_detective_helper *h, bool wait);
/* Ends it in the middle of a question; false: it does not end. */
bool page_detective_helper_kill(struct page_detective_helper *h);
/* Whether those that were left behind have ended, in @ms at the latest. */
bool page_detective_helper_is_alone(struct page_detective_helper *h, int ms);

/* --- the source --- */

struct page_detective {
	struct pdet_backend backend;
	const char *libexec_dir;
	pthread_mutex_t lock;	/* of all below */
	bool alone;		/* nobody else is asked */
	bool looked;
	bool real;		/* it is a kernel's, not a captured tree */
	bool query;		/* it has the file "query", which is asked */
	bool no_helper;		/* that asks there what takes long */
	bool no_kpageflags, no_kernel_walk; /* the driver lacks that */
	bool other_pids;	/* tasks have other numbers below the root */
	bool has_kpf;		/* kpf is there */
	struct pdet_kpf kpf;
	uint8_t reason;		/* PAGEDET_HAVE, or why it cannot be asked */
	char advice[160];	/* or, if it can, in which way */
	int dir;		/* its directory, to lock; -1 not opened */
	int flags;		/* /proc/kpageflags, -1 none */
	struct page_detective_kmsg kmsg;
	struct page_detective_helper helper;
	uint64_t patience_ns;	/* for one answer */
	uint64_t tokens_ns;	/* when the next question may come */
	atomic_uchar closed;	/* PAGEDET_UNSAFE: nothing is asked any more, by
				 * "query" until who asked has ended */
};

static inline struct page_detective *page_detective_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct page_detective, backend);
}

/* An answer that is kept while its mappings become rows. */
struct page_detective_answer {
	uint64_t pfn;
	uint64_t ns;		/* when it was given */
	unsigned reason;	/* why it was not */
	bool torn;
	struct pdet_log_page page;
};

/* An address that a row is of, by "query", until it is asked about again. */
struct page_detective_address {
	uint64_t addr;
	uint32_t row;
	bool known;		/* page is; else it is no program's address */
	bool unmapped;		/* no VMA is there */
	bool again;		/* more was looked at after the answer */
	struct page_detective_page page; /* without its texts and mappings */
};

struct page_detective_session {
	struct pdet_session session;
	struct {
		struct page_detective_answer *data;
		size_t n, cap;
	} kept;
	struct {		/* the last page whose mappings were looked for,
				 * by "query": they become rows */
		bool valid;
		uint64_t pfn;
		unsigned reason;
		struct page_detective_reply reply;
	} told;
	struct {		/* those of a batch, ascending */
		struct page_detective_address *data;
		size_t n, cap;
	} addresses;
	struct {		/* where cgroups are */
		bool looked, found;
		char point[4096];
	} mount;
	bool has_iomem;		/* its text is there */
	struct pdet_text iomem;
};

static inline struct page_detective_session *
page_detective_session_of(struct pdet_session *s)
{
	return PDET_CONTAINER(s, struct page_detective_session, session);
}

/* Whether nobody waits any more. */
static inline bool
page_detective_must_stop(const struct page_detective_session *s)
{
	return s->session.stop && s->session.stop(s->session.stop_arg);
}

/* Whether one more of PAGE_DETECTIVE_MOST may be asked about. */
static inline bool page_detective_spend(struct page_detective_session *s)
{
	atomic_uint *asked = s->session.asked;

	if (!asked || atomic_fetch_add(asked, 1) < PAGE_DETECTIVE_MOST)
		return true;
	atomic_fetch_sub(asked, 1);
	return false;
}

/* What is wanted of a row, but for what the engine writes. */
struct pdet_fields
page_detective_said(const struct page_detective_session *s);

/* Nothing of a row is known, but what the walk says. */
void page_detective_put_reason(struct pdet_batch *b, uint32_t row,
			       const struct pdet_fields *want,
			       unsigned reason);

struct page_detective_question {
	bool virt;
	uint32_t pid;
	uint64_t addr;		/* of a virtual question, else physical */
	uint64_t pfn;		/* of a physical one */
};

/* page_detective_ask.c: one answer. 0, or why there is none, as
 * PAGEDET_UNSAFE ...; words are for the log. Free ret with
 * pdet_log_page_free(). */
unsigned page_detective_ask(struct page_detective_session *s,
			    const struct page_detective_question *q,
			    struct pdet_log_page *ret);
/* page_detective.lock, which others hold until they are answered; false: nobody
 * waits any more. */
bool page_detective_lock(struct page_detective_session *s);

/* --- page_detective_look.c: before a question --- */

/* Looks whether the driver is there and can be asked. */
void page_detective_look(struct page_detective *d, struct pdet_env *env);
/* The driver's directory: a descriptor, or a negative errno without words. */
int page_detective_open_dir(const struct pdet_env *env);

enum page_detective_verdict {
	PAGE_DETECTIVE_SAFE,
	PAGE_DETECTIVE_BLIND,	/* flags cannot be read */
	PAGE_DETECTIVE_REFUSED	/* *why says what it is */
};

/* The flags of a frame: whether the driver may look at it. */
enum page_detective_verdict
page_detective_may_ask(const struct page_detective *d, uint64_t pfn,
		       uint64_t *flags, const char **why);

/* The same for an address: what is there; *pfn is 0 if that is no page. */
enum page_detective_verdict
page_detective_may_ask_virt(const struct page_detective *d,
			    const struct pdet_env *env,
			    const struct page_detective_question *q,
			    uint64_t *pfn, uint64_t *flags, const char **why);

/* Flags that say what a page is: they were others before. */
bool page_detective_has_changed(const struct page_detective *d, uint64_t pfn,
				uint64_t flags);

/* Whether tasks have other numbers in /proc below the root than for us, and so
 * for the driver, which finds them by those of who asks. */
bool page_detective_counts_otherwise(const struct pdet_env *env);

/* --- page_detective_vma.c: what is around an address --- */

/* The VMA that covers @addr: 1, 0 none, or negative errno without words. Its
 * name is in @name, PAGE_DETECTIVE_NAME bytes. */
int page_detective_vma(const struct pdet_env *env, uint32_t pid,
		       uint64_t addr, struct pdet_vma *ret, char *name);

#endif
