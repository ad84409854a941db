/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Text that is read once from its beginning to its end, of any size: a file, a
 * pipe, a terminal; plain or compressed (gzip, zstd, xz: found by content).
 *
 * Either line by line, or in blocks of whole records of the caller's, whose
 * memory is his own: several threads may take blocks, one at a time, and work
 * on them at the same time.
 *
 * What is damaged or cut off is read as far as it is good; then comes the
 * error, again and again.
 */
#ifndef PDET_BASE_TEXT_STREAM_H
#define PDET_BASE_TEXT_STREAM_H

#include "base/env.h"
#include "base/text.h"

struct pdet_text_stream;

/* A line without its newline. */
struct pdet_text_line {
	struct pdet_scan text;	/* valid until the next call */
	bool cut;		/* it is longer: this is its beginning, and the
				 * rest was skipped */
	bool open;		/* the text ends without a newline */
};

/*
 * pdet_text_stream_open - @path as it is, not below the root; "-" is the
 * standard input. A FIFO is waited for. -ENOENT, -EACCES, -ENOMEM ..., with
 * "cannot open PATH: why" in @env.
 */
int pdet_text_stream_open(struct pdet_env *env, const char *path,
			  struct pdet_text_stream **ret);

/* pdet_text_stream_fd - from @fd on, where it is; it remains the caller's.
 * @name: what it is called in errors. -ENOMEM. */
int pdet_text_stream_fd(struct pdet_env *env, int fd, const char *name,
			struct pdet_text_stream **ret);

/* pdet_text_stream_memory - @n bytes at @text, which must remain. -ENOMEM. */
int pdet_text_stream_memory(struct pdet_env *env, const char *text, size_t n,
			    const char *name, struct pdet_text_stream **ret);

/* Who waits for text, and may stop waiting. */
struct pdet_text_watch {
	/* 0 to go on, after @ms at most the next question; or the errno to
	 * stop with. */
	int (*check)(void *arg, int *ms);
	void *arg;
};

/*
 * pdet_text_stream_open_watched - as pdet_text_stream_open(), but nothing is
 * waited for without asking @watch: not for who writes into a FIFO, and not for
 * what he writes. The stream ends with what @watch said; of blocks, what is
 * behind the last mark is not given then.
 */
int pdet_text_stream_open_watched(struct pdet_env *env, const char *path,
				  const struct pdet_text_watch *watch,
				  struct pdet_text_stream **ret);

void pdet_text_stream_close(struct pdet_text_stream *s);

/* pdet_text_stream_name - as it was opened. */
const char *pdet_text_stream_name(const struct pdet_text_stream *s);

/* pdet_text_stream_packed - "gzip", "zstd", "xz"; NULL for plain text, and
 * before anything was read. */
const char *pdet_text_stream_packed(const struct pdet_text_stream *s);

/*
 * pdet_text_stream_peek - the first bytes that come next, as many as there are
 * up to @size, without taking them. Valid until the next call. A failure
 * behind them is not told yet.
 */
int pdet_text_stream_peek(struct pdet_text_stream *s, struct pdet_env *env,
			  size_t size, struct pdet_scan *ret);

/*
 * pdet_text_stream_line - 1 with the next line, 0 at the end, or a negative
 * errno: -EBADMSG for compressed data that is damaged or cut off; -ENOSYS for
 * a compression that is not built in; -EIO ...
 */
int pdet_text_stream_line(struct pdet_text_stream *s, struct pdet_env *env,
			  struct pdet_text_line *line);

/* Where text may be cut: behind the first @keep bytes of @mark. */
struct pdet_text_mark {
	const char *mark;
	size_t keep;
};

/*
 * pdet_text_stream_block - some of what comes next, up to a @mark; the last
 * block ends where the text does. Returns bytes, 0 at the end, or a negative
 * errno as above. As much is read at a time as stays in a processor's cache;
 * more only as long as there is no @mark in it. Without one in @size bytes all
 * of them are given, cut wherever that is. Not to be mixed with lines.
 */
ssize_t pdet_text_stream_block(struct pdet_text_stream *s,
			       struct pdet_env *env, char *buf, size_t size,
			       struct pdet_text_mark mark);

/* pdet_text_stream_ended - all of it was handed out. */
bool pdet_text_stream_ended(const struct pdet_text_stream *s);

/* pdet_text_stream_whole - the same, and no failure ended it. */
bool pdet_text_stream_whole(const struct pdet_text_stream *s);

/* pdet_text_stream_bytes - of text handed out so far. */
uint64_t pdet_text_stream_bytes(const struct pdet_text_stream *s);

#endif
