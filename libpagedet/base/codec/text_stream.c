/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads text from a descriptor, through a decoder if it is compressed. It does
 * not interpret the text. Memory is bounded by the size that callers request at
 * a time, whatever the size of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/codec/decoder.h"
#include "base/codec/text_stream.h"

/* Size of one read of compressed data, and the longest line. */
#define RAW_SIZE ((size_t)1 << 17)
#define LINE_SIZE ((size_t)1 << 18)
/*
 * The largest page size of any kernel. A seq_file writes at most a page at
 * once.
 */
#define PIECE_SIZE ((size_t)1 << 16)
/* Size of one read of a block. */
#define BLOCK_SIZE ((size_t)1 << 17)
/* The largest pipe buffer without privilege. */
#define PIPE_SIZE (1 << 20)
/* Milliseconds between two calls of the watch. */
#define ASK_AGAIN_MS 100

struct pdet_text_stream {
	int fd;				/* -1: from memory */
	bool fd_is_ours;
	char *name;
	struct pdet_scan memory;
	bool started;
	struct pdet_decoder *decoder;	/* NULL: plain */
	bool in_middle;			/* inside a compressed stream */
	char *raw;			/* compressed bytes, RAW_SIZE */
	size_t raw_at, raw_n;
	bool raw_end;
	/* text that was read but not yet returned */
	char *kept;
	size_t kept_at, kept_n, kept_size;
	/* buffer of lines */
	char *lines;
	size_t line_at, line_n;
	bool skipping;			/* skip the rest of a cut line */
	bool ended;			/* nothing more can be read */
	struct pdet_text_watch watch;	/* check is NULL without a watch */
	bool called_off;
	size_t least;			/* smallest room for one read */
	uint64_t bytes;
	int failed;			/* a negative errno; stays set */
	char why[PDET_ERROR_SIZE];
	char advice[PDET_ERROR_SIZE];
};

static int make(struct pdet_env *env, const char *name,
		struct pdet_text_stream **ret)
{
	struct pdet_text_stream *s = calloc(1, sizeof(*s));

	if (s)
		s->name = strdup(name);
	if (!s || !s->name) {
		free(s);
		return pdet_fail(env, ENOMEM, "cannot read %s: no memory",
				 name);
	}
	s->fd = -1;
	*ret = s;
	return 0;
}

int pdet_text_stream_fd(struct pdet_env *env, int fd, const char *name,
			struct pdet_text_stream **ret)
{
	int r = make(env, name, ret);

	if (r == 0)
		(*ret)->fd = fd;
	return r;
}

int pdet_text_stream_memory(struct pdet_env *env, const char *text, size_t n,
			    const char *name, struct pdet_text_stream **ret)
{
	int r = make(env, name, ret);

	if (r == 0)
		(*ret)->memory = (struct pdet_scan){ text, text + n };
	return r;
}

static int open_file(struct pdet_env *env, const char *path, int flags,
		     struct pdet_text_stream **ret)
{
	int fd, r;

	if (!strcmp(path, "-"))
		return pdet_text_stream_fd(env, STDIN_FILENO,
					   "the standard input", ret);
	do {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
	} while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return pdet_fail_errno(env, "cannot open %s", path);
	r = pdet_text_stream_fd(env, fd, path, ret);
	if (r < 0)
		close(fd);
	else
		(*ret)->fd_is_ours = true;
	return r;
}

int pdet_text_stream_open(struct pdet_env *env, const char *path,
			  struct pdet_text_stream **ret)
{
	return open_file(env, path, 0, ret);
}

/* The FIFO is opened without blocking. poll() shows when a writer arrives. */
int pdet_text_stream_open_watched(struct pdet_env *env, const char *path,
				  const struct pdet_text_watch *watch,
				  struct pdet_text_stream **ret)
{
	int r = open_file(env, path, O_NONBLOCK, ret);

	if (r == 0)
		(*ret)->watch = *watch;
	return r;
}

void pdet_text_stream_close(struct pdet_text_stream *s)
{
	if (!s)
		return;
	if (s->fd_is_ours)
		close(s->fd);
	pdet_decoder_close(s->decoder);
	free(s->raw);
	free(s->kept);
	free(s->lines);
	free(s->name);
	free(s);
}

const char *pdet_text_stream_name(const struct pdet_text_stream *s)
{
	return s->name;
}

const char *pdet_text_stream_packed(const struct pdet_text_stream *s)
{
	return s->decoder ? s->decoder->name : NULL;
}

uint64_t pdet_text_stream_bytes(const struct pdet_text_stream *s)
{
	return s->bytes;
}

/* Keep the first failure. All later reads return it. */
static int remember(struct pdet_text_stream *s, const struct pdet_env *env,
		    int r)
{
	s->failed = r;
	memcpy(s->why, env->error, sizeof(s->why));
	memcpy(s->advice, env->advice, sizeof(s->advice));
	return r;
}

static int fail(struct pdet_text_stream *s, struct pdet_env *env, int code,
		const char *why)
{
	return remember(s, env, pdet_fail(env, code, "cannot read %s: %s",
					  s->name, why));
}

/* Wait until the descriptor has data or all writers have closed it; then return
 * 0. Return the watch's errno if it stops the wait. The descriptor may be
 * non-blocking and shared with another program. A cancel from another thread
 * does not end poll(), nor does a signal that comes just before it. The watch
 * is therefore called again after a short time. */
static int wait_for(struct pdet_text_stream *s, struct pdet_env *env)
{
	struct pollfd poll_fd = { .fd = s->fd, .events = POLLIN };
	int ms = -1, r;

	for (;;) {
		r = s->watch.check ? s->watch.check(s->watch.arg, &ms) : 0;
		if (r) {
			s->called_off = true;
			return fail(s, env, r, strerror(r));
		}
		if (s->watch.check && (ms < 0 || ms > ASK_AGAIN_MS))
			ms = ASK_AGAIN_MS;
		r = poll(&poll_fd, 1, ms);
		if (r > 0 || (r < 0 && errno != EINTR))
			return 0;
	}
}

/* Read raw bytes of the file once. Returns 0 at its end. */
static ssize_t read_raw(struct pdet_text_stream *s, struct pdet_env *env,
			char *buf, size_t size)
{
	ssize_t n;
	int r;

	if (s->fd < 0) {
		size = PDET_MIN(size, (size_t)(s->memory.end - s->memory.at));
		memcpy(buf, s->memory.at, size);
		s->memory.at += size;
		return (ssize_t)size;
	}
	for (;;) {
		r = s->watch.check ? wait_for(s, env) : 0;
		if (r < 0)
			return r;
		n = read(s->fd, buf, size);
		if (n >= 0)
			return n;
		if (errno == EAGAIN)
			r = wait_for(s, env);
		else if (errno != EINTR)
			break;
		if (r < 0)
			return r;
	}
	return remember(s, env, pdet_fail_errno(env, "cannot read %s",
						s->name));
}

static bool make_room(struct pdet_text_stream *s, size_t size)
{
	char *bigger;

	if (size <= s->kept_size)
		return true;
	bigger = realloc(s->kept, size);
	if (!bigger)
		return false;
	s->kept = bigger;
	s->kept_size = size;
	return true;
}

/*
 * Read debugfs files in large pieces, as all other programs do. Small reads may
 * crash a kernel (page_owner_stacks/show_stacks of 6.12, 6 bytes at a time).
 */
static void look_at_kind(struct pdet_text_stream *s)
{
	struct statfs fs;

	/* Enlarge the pipe: with 64 KB, writer and reader wake each other all
	 * the time. It does not matter if this fails, or if it is not a
	 * pipe. */
	if (s->fd >= 0)
		(void)fcntl(s->fd, F_SETPIPE_SZ, PIPE_SIZE);
	if (s->fd < 0 || fstatfs(s->fd, &fs) < 0 ||
	    (uint32_t)fs.f_type != DEBUGFS_MAGIC)
		return;
	s->least = PIECE_SIZE;
}

/* Identify the format from the first bytes. Read a normal amount: files of the
 * kernel do not support small reads well. */
static int start(struct pdet_text_stream *s, struct pdet_env *env)
{
	ssize_t n;
	int r;

	s->started = true;
	look_at_kind(s);
	if (!make_room(s, RAW_SIZE))
		return fail(s, env, ENOMEM, "no memory");
	while (s->kept_n < PDET_DECODER_MAGIC) {
		n = read_raw(s, env, s->kept + s->kept_n,
			     RAW_SIZE - s->kept_n);
		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		s->kept_n += (size_t)n;
	}
	if (!pdet_decoder_name(s->kept, s->kept_n))
		return 0;
	/* It is compressed: move the bytes to the raw buffer. */
	s->raw = s->kept;
	s->raw_n = s->kept_n;
	s->kept = NULL;
	s->kept_n = s->kept_size = 0;
	r = pdet_decoder_open(env, s->raw, s->raw_n, &s->decoder);
	if (r == 0)
		return 0;
	pdet_context(env, "cannot read %s", s->name);
	return remember(s, env, r);
}

static int damaged(struct pdet_text_stream *s, struct pdet_env *env, int r)
{
	char why[80];

	if (r == -ENOMEM)
		return fail(s, env, ENOMEM, "no memory");
	snprintf(why, sizeof(why), r == -E2BIG ?
		 "its %s data needs more than 128 MB of memory" :
		 "its %s data is damaged", s->decoder->name);
	return fail(s, env, r == -E2BIG ? E2BIG : EBADMSG, why);
}

/* A tape or a block device may pad a compressed stream with zeroes. */
static void skip_padding(struct pdet_text_stream *s)
{
	while (s->raw_at < s->raw_n && !s->raw[s->raw_at])
		s->raw_at++;
}

/* Read more compressed bytes. Returns 1, or 0 at the end. */
static int refill(struct pdet_text_stream *s, struct pdet_env *env)
{
	char why[80];
	ssize_t n = 0;

	if (!s->raw_end)
		n = read_raw(s, env, s->raw, RAW_SIZE);
	if (n < 0)
		return (int)n;
	s->raw_at = 0;
	s->raw_n = (size_t)n;
	if (n > 0)
		return 1;
	s->raw_end = true;
	if (!s->in_middle)
		return 0;
	snprintf(why, sizeof(why), "its %s data is cut off",
		 s->decoder->name);
	return fail(s, env, EBADMSG, why);
}

/* One decoder step. Text before damaged data is still returned. */
static int decode_some(struct pdet_text_stream *s, struct pdet_env *env,
		       char *buf, size_t size, size_t *out)
{
	size_t in = s->raw_n - s->raw_at;
	struct pdet_decoding io = { s->raw + s->raw_at, in, buf, size };
	int r = pdet_decoder_run(s->decoder, &io);

	s->in_middle = r != 1;
	s->raw_at = s->raw_n - io.in_n;
	*out = size - io.out_n;
	if (r == 0 && in && io.in_n == in && !*out)
		r = -EBADMSG;
	return r < 0 ? damaged(s, env, r) : 0;
}

/* Decompress some text; 0 at the end. */
static ssize_t decode(struct pdet_text_stream *s, struct pdet_env *env,
		      char *buf, size_t size)
{
	for (;;) {
		size_t out;
		int r;

		if (!s->in_middle)
			skip_padding(s);
		/*
		 * The decoder may still hold text after it has taken all bytes.
		 */
		if (s->in_middle || s->raw_at < s->raw_n) {
			r = decode_some(s, env, buf, size, &out);
			if (out)
				return (ssize_t)out;
			if (r < 0)
				return r;
		}
		if (s->raw_at < s->raw_n)
			continue;
		r = refill(s, env);
		if (r <= 0)
			return r;
	}
}

/* Read some text, without s->kept. Returns 0 at the end. */
static ssize_t pull(struct pdet_text_stream *s, struct pdet_env *env,
		    char *buf, size_t size)
{
	ssize_t n;

	if (s->ended)
		return 0;
	if (s->decoder)
		n = decode(s, env, buf, size);
	else
		n = read_raw(s, env, buf, size);
	s->ended = n <= 0;
	return n;
}

/* Collect up to @size bytes: the kept text first, then new reads. A failure is
 * reported only after the text before it was taken. */
static size_t gather(struct pdet_text_stream *s, struct pdet_env *env,
		     char *buf, size_t size)
{
	size_t n = PDET_MIN(size, s->kept_n - s->kept_at);
	ssize_t more;

	if (n)
		memcpy(buf, s->kept + s->kept_at, n);
	s->kept_at += n;
	if (s->kept_at == s->kept_n)
		s->kept_at = s->kept_n = 0;
	while (size - n > s->least) {
		more = pull(s, env, buf + n, size - n);
		if (more <= 0)
			break;
		n += (size_t)more;
	}
	return n;
}

bool pdet_text_stream_ended(const struct pdet_text_stream *s)
{
	return s->ended && s->kept_at == s->kept_n;
}

bool pdet_text_stream_whole(const struct pdet_text_stream *s)
{
	return pdet_text_stream_ended(s) && !s->failed;
}

static void begin(struct pdet_text_stream *s, struct pdet_env *env)
{
	if (!s->started)
		s->ended = start(s, env) < 0;
}

/* Returns 0 at the end of the text, or the failure that ended it. */
static int over(const struct pdet_text_stream *s, struct pdet_env *env)
{
	if (!s->failed)
		return 0;
	memcpy(env->error, s->why, sizeof(env->error));
	memcpy(env->advice, s->advice, sizeof(env->advice));
	return s->failed;
}

int pdet_text_stream_peek(struct pdet_text_stream *s, struct pdet_env *env,
			  size_t size, struct pdet_scan *ret)
{
	ssize_t more;

	begin(s, env);
	if (s->kept_at) {
		memmove(s->kept, s->kept + s->kept_at, s->kept_n - s->kept_at);
		s->kept_n -= s->kept_at;
		s->kept_at = 0;
	}
	if (size && !make_room(s, size))
		return pdet_fail(env, ENOMEM, "cannot read %s: no memory",
				 s->name);
	while (s->kept_n + s->least < size) {
		more = pull(s, env, s->kept + s->kept_n, size - s->kept_n);
		if (more <= 0)
			break;
		s->kept_n += (size_t)more;
	}
	if (!s->kept_n && s->failed)
		return over(s, env);
	ret->at = s->kept ? s->kept : "";
	ret->end = ret->at + PDET_MIN(s->kept_n, size);
	return 0;
}

/* Offset of the cut at the last mark; 0 if there is none. */
static size_t last_cut(const char *text, size_t n, struct pdet_text_mark mark)
{
	size_t len = strlen(mark.mark);
	const char *at = text + n;

	if (n < len)
		return 0;
	at -= len - 1;
	while ((at = memrchr(text, *mark.mark, (size_t)(at - text)))) {
		if (!memcmp(at, mark.mark, len))
			return (size_t)(at - text) + mark.keep;
	}
	return 0;
}

/* Keep the text after the last mark for the next block. */
static bool keep(struct pdet_text_stream *s, const char *text, size_t n)
{
	size_t left = s->kept_n - s->kept_at;

	if (!n)
		return true;
	if (s->kept_at < n) {
		if (!make_room(s, n + left))
			return false;
		memmove(s->kept + n, s->kept + s->kept_at, left);
		s->kept_at = n;
		s->kept_n = n + left;
	}
	s->kept_at -= n;
	memcpy(s->kept + s->kept_at, text, n);
	return true;
}

ssize_t pdet_text_stream_block(struct pdet_text_stream *s,
			       struct pdet_env *env, char *buf, size_t size,
			       struct pdet_text_mark mark)
{
	size_t n = 0, end = 0, room = 0;

	begin(s, env);
	while (!end && room < size && !pdet_text_stream_ended(s)) {
		room = PDET_MIN(size, room ? room * 2 : BLOCK_SIZE);
		n += gather(s, env, buf + n, room - n);
		end = pdet_text_stream_ended(s) && !s->called_off ?
			n : last_cut(buf, n, mark);
	}
	/* Drop a partial record. */
	if (!n || (!end && s->called_off))
		return over(s, env);
	if (!end)
		end = n;
	if (!keep(s, buf + end, n - end))
		return fail(s, env, ENOMEM, "no memory");
	s->bytes += end;
	return (ssize_t)end;
}

/* Move the rest of the buffer to its beginning and read more. Returns false at
 * the end. */
static bool more_lines(struct pdet_text_stream *s, struct pdet_env *env)
{
	size_t left = s->line_n - s->line_at;
	size_t n;
	ssize_t some;

	if (s->line_at && left)
		memmove(s->lines, s->lines + s->line_at, left);
	s->line_at = 0;
	s->line_n = left;
	n = PDET_MIN(LINE_SIZE - left, s->kept_n - s->kept_at);
	if (n) {
		memcpy(s->lines + left, s->kept + s->kept_at, n);
		s->kept_at += n;
		s->line_n += n;
		return true;
	}
	/* Read once only, so that a line from a pipe is returned at once. */
	some = pull(s, env, s->lines + left, LINE_SIZE - left);
	if (some <= 0)
		return false;
	s->line_n += (size_t)some;
	return true;
}

static void hand_out(struct pdet_text_stream *s, struct pdet_text_line *line,
		     size_t n, size_t with_newline)
{
	line->text.at = s->lines + s->line_at;
	line->text.end = line->text.at + n;
	s->line_at += with_newline;
	s->bytes += with_newline;
}

/* Returns true if it returned a line. @seen: bytes already searched for a
 * newline. */
static bool line_in_buffer(struct pdet_text_stream *s,
			   struct pdet_text_line *line, size_t *seen)
{
	char *at = s->lines + s->line_at + *seen;
	char *end = memchr(at, '\n', s->line_n - s->line_at - *seen);
	size_t n;

	while (end && s->skipping) {
		n = (size_t)(end + 1 - (s->lines + s->line_at));
		s->line_at += n;
		s->bytes += n;
		s->skipping = false;
		*seen = 0;
		at = end + 1;
		end = memchr(at, '\n', s->line_n - s->line_at);
	}
	if (end) {
		n = (size_t)(end - (s->lines + s->line_at));
		*line = (struct pdet_text_line){ .cut = false };
		hand_out(s, line, n, n + 1);
		return true;
	}
	*seen = s->line_n - s->line_at;
	if (s->skipping) {
		s->bytes += *seen;
		s->line_at = s->line_n;
		*seen = 0;
	}
	return false;
}

int pdet_text_stream_line(struct pdet_text_stream *s, struct pdet_env *env,
			  struct pdet_text_line *line)
{
	size_t seen = 0;

	begin(s, env);
	if (!s->lines) {
		s->lines = s->failed == -ENOMEM ? NULL : malloc(LINE_SIZE);
		if (!s->lines)
			return fail(s, env, ENOMEM, "no memory");
	}
	for (;;) {
		if (line_in_buffer(s, line, &seen))
			return 1;
		if (seen == LINE_SIZE) {
			*line = (struct pdet_text_line){ .cut = true };
			hand_out(s, line, seen, seen);
			s->skipping = true;
			return 1;
		}
		if (more_lines(s, env))
			continue;
		if (!seen)
			return over(s, env);
		*line = (struct pdet_text_line){ .open = true };
		hand_out(s, line, seen, seen);
		return 1;
	}
}
