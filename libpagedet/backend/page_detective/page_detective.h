/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The driver Page Detective as a source, in one of two ways. It answers in its
 * file "query" (query.h). Or, as it was posted, one query at a time is written
 * to a file of debugfs, and the answer is in the kernel log. Shared by the
 * files of this room.
 */
#ifndef PDET_BACKEND_PAGE_DETECTIVE_PAGE_DETECTIVE_H
#define PDET_BACKEND_PAGE_DETECTIVE_PAGE_DETECTIVE_H

#include <pthread.h>

#include "backend/backend.h"
#include "backend/log/log.h"
#include "backend/page_detective/reply.h"
#include "base/io.h"
#include "kernel/page/kpf.h"

#define PAGE_DETECTIVE_DIR "/sys/kernel/debug/page_detective"

/* A path with all bytes escaped, and a suffix. */
#define PAGE_DETECTIVE_NAME (4 * 4096 + 64)

/* The helper program that writes, in the directory of helpers. */
#define PAGE_DETECTIVE_HELPER "page-detective-write"

/* Longest query that the driver accepts. */
#define PAGE_DETECTIVE_LINE 120

/* The largest number of pages that one query of pagedet may ask the driver
 * about, or whose mappings it may search for; documented in pagedet(1). */
#define PAGE_DETECTIVE_MOST 256

/* --- kmsg.c: records of /dev/kmsg --- */

struct page_detective_kmsg {
	int fd;			/* -1: not open */
	char buf[16384];	/* a partial line from a pipe */
	size_t n;
	bool polls;		/* poll() works: it is not a file */
};

/*
 * Open it below the root. Returns a descriptor, or a negative errno without an
 * error text.
 */
int page_detective_kmsg_open(struct page_detective_kmsg *k,
			     const struct pdet_env *env);
void page_detective_kmsg_close(struct page_detective_kmsg *k);

/* Skip everything written so far. */
void page_detective_kmsg_skip(struct page_detective_kmsg *k);

enum page_detective_read {
	PAGE_DETECTIVE_LINES,	/* some mappings may be missing */
	PAGE_DETECTIVE_DRAINED,	/* there are no more at present */
	PAGE_DETECTIVE_OVERRUN,	/* some were overwritten before the read */
};

/* Feed available lines to @log. Negative errno: the read failed. */
int page_detective_kmsg_read(struct page_detective_kmsg *k,
			     struct pdet_log *log);

/* --- helper.c: the process that writes --- */

struct page_detective_helper {
	int pid;		/* 0: not started */
	int left;		/* pid of an earlier helper that has not ended;
				 * 0: there is none */
	int to, from;		/* pipes */
};

/* The result of one write. */
struct page_detective_report {
	int64_t result;		/* of write(2), or of open(2) if negative */
	int error;		/* its errno, or 0 */
	bool opened;
	char *text;		/* the text to read from the file, or NULL */
	size_t len;
};

/* True if the program exists and may be executed. */
bool page_detective_helper_is_there(const char *dir);
/* Send a query. Start the helper if it is not running. -ENOENT: the program
 * does not exist; -EBUSY: the previous helper has not ended; -EPIPE: it ended
 * at once; or another negative errno. Sets no error text. The helper holds
 * @lock while it lives, unless @lock is -1. @which is 'v', 'p' or 'q', for the
 * file. */
int page_detective_helper_ask(struct page_detective_helper *h,
			      const struct pdet_env *env, const char *dir,
			      int lock, char which, const char *text);
/*
 * Returns 1 and a report; 0 if there is none yet; -EPIPE if the helper has
 * ended; or -EBADMSG. Does not wait.
 */
int page_detective_helper_report(struct page_detective_helper *h,
				 struct page_detective_report *ret);
/*
 * End the helper. @wait: it is idle and will end by itself. Otherwise it is
 * left behind.
 */
void page_detective_helper_stop(struct page_detective_helper *h, bool wait);
/* Kill the helper during a query. Returns false if it does not end. */
bool page_detective_helper_kill(struct page_detective_helper *h);
/* True if the helpers that were left behind have ended. Waits at most @ms. */
bool page_detective_helper_is_alone(struct page_detective_helper *h, int ms);

/* --- the source --- */

struct page_detective {
	struct pdet_backend backend;
	const char *libexec_dir;
	pthread_mutex_t lock;	/* protects the members below */
	bool alone;		/* no other source is used */
	bool looked;
	bool real;		/* a real kernel, not a captured tree */
	bool query;		/* the driver has the file "query", which is
				 * used */
	bool no_helper;		/* the helper for slow queries is missing */
	bool no_kpageflags, no_kernel_walk; /* the driver lacks this */
	bool other_pids;	/* pids below the root differ from ours */
	bool has_kpf;		/* kpf is set */
	struct pdet_kpf kpf;
	uint8_t reason;		/* PAGEDET_HAVE, or why it cannot be used */
	char advice[160];	/* for the reason; otherwise which way is
				 * used */
	int dir;		/* the driver's directory, for locking; -1 if it
				 * is not open */
	int flags;		/* /proc/kpageflags; -1: not open */
	struct page_detective_kmsg kmsg;
	struct page_detective_helper helper;
	uint64_t patience_ns;	/* limit for one answer */
	uint64_t tokens_ns;	/* time from which the next query is allowed */
	atomic_uchar closed;	/* PAGEDET_UNSAFE: no more queries; with "query"
				 * until the stuck helper has ended */
};

static inline struct page_detective *page_detective_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct page_detective, backend);
}

/* An answer that is kept until its mappings have become rows. */
struct page_detective_answer {
	uint64_t pfn;
	uint64_t ns;		/* time of the answer */
	unsigned reason;	/* reason why there is no answer */
	bool torn;
	struct pdet_log_page page;
};

/* An address of a row, with "query", until it is checked again. */
struct page_detective_address {
	uint64_t addr;
	uint32_t row;
	bool known;		/* page is valid; otherwise it is not a user
				 * address */
	bool unmapped;		/* it has no VMA */
	bool again;		/* more was read after the answer */
	struct page_detective_page page; /* without its texts and mappings */
};

struct page_detective_session {
	struct pdet_session session;
	struct {
		struct page_detective_answer *data;
		size_t n, cap;
	} kept;
	struct {		/* with "query": the last page whose mappings
				 * were searched; they become rows */
		bool valid;
		uint64_t pfn;
		unsigned reason;
		struct page_detective_reply reply;
	} told;
	struct {		/* those of a batch, ascending */
		struct page_detective_address *data;
		size_t n, cap;
	} addresses;
	struct {		/* mount point of cgroups */
		bool looked, found;
		char point[4096];
	} mount;
	bool has_iomem;		/* its text is loaded */
	struct pdet_text iomem;
};

static inline struct page_detective_session *
page_detective_session_of(struct pdet_session *s)
{
	return PDET_CONTAINER(s, struct page_detective_session, session);
}

/* True if the caller no longer waits. */
static inline bool
page_detective_must_stop(const struct page_detective_session *s)
{
	return s->session.stop && s->session.stop(s->session.stop_arg);
}

/*
 * Use up one of the PAGE_DETECTIVE_MOST queries. Returns false if none is left.
 */
static inline bool page_detective_spend(struct page_detective_session *s)
{
	atomic_uint *asked = s->session.asked;

	if (!asked || atomic_fetch_add(asked, 1) < PAGE_DETECTIVE_MOST)
		return true;
	atomic_fetch_sub(asked, 1);
	return false;
}

struct page_detective_question {
	bool virt;
	uint32_t pid;
	uint64_t addr;		/* virtual address of a query by address, else
				 * physical */
	uint64_t pfn;		/* of a physical one */
};

/* ask.c: get one answer. Returns 0, or a reason such as PAGEDET_UNSAFE. Error
 * texts go to the log. Free @ret with pdet_log_page_free(). */
unsigned page_detective_ask(struct page_detective_session *s,
			    const struct page_detective_question *q,
			    struct pdet_log_page *ret);
/* Take page_detective.lock, which other threads hold during a query. Returns
 * false if the caller no longer waits. */
bool page_detective_lock(struct page_detective_session *s);

/* --- look.c: checks before a query --- */

/* Check that the driver exists and can be used. */
void page_detective_look(struct page_detective *d, struct pdet_env *env);
/*
 * The driver's directory: a descriptor, or a negative errno without an error
 * text.
 */
int page_detective_open_dir(const struct pdet_env *env);

/* The reason for a positive errno of one of the driver's files. Without them,
 * the driver was unloaded. EAGAIN: the address got another page during each
 * attempt. */
static inline unsigned page_detective_reason(int error)
{
	return pdet_reason_of(-pdet_errno_closed(error));
}

enum page_detective_verdict {
	PAGE_DETECTIVE_SAFE,
	PAGE_DETECTIVE_BLIND,	/* flags cannot be read */
	PAGE_DETECTIVE_REFUSED	/* *why has the kind of page */
};

/* Read the flags of a frame, and decide whether the driver may examine it. */
enum page_detective_verdict
page_detective_may_ask(const struct page_detective *d, uint64_t pfn,
		       uint64_t *flags, const char **why);

/* The same for an address; *pfn is 0 if it has no page. */
enum page_detective_verdict
page_detective_may_ask_virt(const struct page_detective *d,
			    const struct pdet_env *env,
			    const struct page_detective_question *q,
			    uint64_t *pfn, uint64_t *flags, const char **why);

/* True if flags that identify the page have changed since. */
bool page_detective_has_changed(const struct page_detective *d, uint64_t pfn,
				uint64_t flags);

/* True if tasks have other pids in /proc below the root than for this process.
 * The driver uses the pids of the calling process. */
bool page_detective_counts_otherwise(const struct pdet_env *env);

/* --- vma.c: the VMA of an address --- */

/* Find the VMA that covers @addr. Returns 1, 0 if there is none, or a negative
 * errno without an error text. The buffer @name has PAGE_DETECTIVE_NAME
 * bytes. */
int page_detective_vma(const struct pdet_env *env, uint32_t pid,
		       uint64_t addr, struct pdet_vma *ret, char *name);

#endif
