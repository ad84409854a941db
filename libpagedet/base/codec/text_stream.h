/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads text of any size once, from beginning to end: from a file, a pipe or a
 * terminal. The text is plain or compressed (gzip, zstd, xz: detected by
 * content).
 *
 * The caller reads lines, or blocks of complete records into its own memory.
 * Several threads may process blocks at the same time, but only one may read at
 * a time.
 *
 * Damaged or truncated data is read up to the damage. All later calls return
 * the error.
 */
#ifndef PDET_BASE_CODEC_TEXT_STREAM_H
#define PDET_BASE_CODEC_TEXT_STREAM_H

#include "base/env.h"
#include "base/text/text.h"

struct pdet_text_stream;

/* A line without its newline. */
struct pdet_text_line {
	struct pdet_scan text;	/* valid until the next call */
	bool cut;		/* the line was longer: text is its beginning,
				 * and the rest was skipped */
	bool open;		/* the text ends without a newline */
};

/*
 * pdet_text_stream_open - open @path, which is not below the root; "-" is the
 * standard input. Opening a FIFO waits for a writer. Returns -ENOENT, -EACCES,
 * -ENOMEM or another errno, with "cannot open PATH: why" in @env.
 */
int pdet_text_stream_open(struct pdet_env *env, const char *path,
			  struct pdet_text_stream **ret);

/* pdet_text_stream_fd - read from the current offset of @fd, which the caller
 * keeps. @name: its name in error texts. -ENOMEM. */
int pdet_text_stream_fd(struct pdet_env *env, int fd, const char *name,
			struct pdet_text_stream **ret);

/*
 * pdet_text_stream_memory - read @n bytes at @text, which must stay valid.
 * -ENOMEM.
 */
int pdet_text_stream_memory(struct pdet_env *env, const char *text, size_t n,
			    const char *name, struct pdet_text_stream **ret);

/* Lets the caller stop a wait for text. */
struct pdet_text_watch {
	/* Returns 0 to continue, and sets *@ms to the time until the next call;
	 * or returns the errno that ends the stream. */
	int (*check)(void *arg, int *ms);
	void *arg;
};

/*
 * pdet_text_stream_open_watched - as pdet_text_stream_open(), but every wait
 * calls @watch: for a writer of a FIFO and for its data. The stream ends with
 * the errno from @watch. A block then leaves out the text after the last mark.
 */
int pdet_text_stream_open_watched(struct pdet_env *env, const char *path,
				  const struct pdet_text_watch *watch,
				  struct pdet_text_stream **ret);

void pdet_text_stream_close(struct pdet_text_stream *s);

/* pdet_text_stream_name - the name given at open. */
const char *pdet_text_stream_name(const struct pdet_text_stream *s);

/* pdet_text_stream_packed - "gzip", "zstd" or "xz"; NULL for plain text, and
 * before the first read. */
const char *pdet_text_stream_packed(const struct pdet_text_stream *s);

/*
 * pdet_text_stream_peek - look at the next bytes, up to @size, without taking
 * them. Valid until the next call. A failure after them is not reported yet.
 */
int pdet_text_stream_peek(struct pdet_text_stream *s, struct pdet_env *env,
			  size_t size, struct pdet_scan *ret);

/*
 * pdet_text_stream_line - returns 1 with the next line, 0 at the end, or a
 * negative errno: -EBADMSG if compressed data is damaged or truncated; -ENOSYS
 * if the compression is not built in; -EIO and others.
 */
int pdet_text_stream_line(struct pdet_text_stream *s, struct pdet_env *env,
			  struct pdet_text_line *line);

/* Text may be cut after the first @keep bytes of @mark. */
struct pdet_text_mark {
	const char *mark;
	size_t keep;
};

/*
 * pdet_text_stream_block - read the next text up to a @mark; the last block
 * ends at the end of the text. Returns bytes, 0 at the end, or a negative errno
 * as above. A block fits a processor's cache, and grows only until it contains
 * a @mark. The block is cut at @size if it contains no mark. Do not mix with
 * lines.
 */
ssize_t pdet_text_stream_block(struct pdet_text_stream *s,
			       struct pdet_env *env, char *buf, size_t size,
			       struct pdet_text_mark mark);

/* pdet_text_stream_ended - all text was returned. */
bool pdet_text_stream_ended(const struct pdet_text_stream *s);

/* pdet_text_stream_whole - all text was returned, and no failure ended it. */
bool pdet_text_stream_whole(const struct pdet_text_stream *s);

/* pdet_text_stream_bytes - bytes of text returned so far. */
uint64_t pdet_text_stream_bytes(const struct pdet_text_stream *s);

#endif
