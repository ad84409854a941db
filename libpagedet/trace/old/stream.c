/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files of kmemtrace as streams. Those of relay have no times: the sequence of
 * all processors together takes their place, and tells what is missing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/pairs.h"
#include "base/sort.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "trace/gaps.h"
#include "trace/old/holes.h"
#include "trace/old/old.h"
#include "trace/trace.h"

#define MOST_CPUS 65536u
#define BYTES ((size_t)256 << 10)
#define LEAST_RECORD 24u
/* Events in a row that may be missing. */
#define MOST_LOST ((int64_t)1 << 29)
/* So that sequences before the first one are not negative. */
#define BASE ((uint64_t)1 << 32)

/* The sequence of all processors. */
struct sequence {
	bool alone;		/* of a part of the processors: what is missing
				 * may be of others */
	unsigned streams;	/* that have it, and have not been closed */
	bool is_known;
	uint32_t at;		/* the one that BASE stands for */
	/* Not if it is alone. */
	struct pdet_env *env;
	struct pdet_trace *t;
	struct pdet_trace_stream *losses;
	struct pdet_old_holes *holes; /* that get the numbers; NULL: none do */
	unsigned unread;	/* streams after which all have come; 0: that
				 * is another's business */
};

struct old {
	struct pdet_trace_stream s;
	struct pdet_env *env;
	struct pdet_old_form form;
	struct sequence *sequence; /* NULL: not of relay */
	int fd;
	bool owns_fd;
	uint64_t ns;		/* of the last event */
	struct pdet_trace_gaps gaps; /* not of relay */
	unsigned char *bytes;	/* read, and not decoded */
	size_t n, cap;
	struct pdet_kmem_event *events; /* of the piece */
	size_t most;		/* of these, but for losses in front */
};

/* A sequence wraps. False: it jumps, which no kernel has done. */
static bool widen(struct old *o, uint32_t number)
{
	struct sequence *q = o->sequence;
	int64_t distance;

	if (!q->is_known) {
		q->is_known = true;
		q->at = number;
	}
	if (!o->ns)
		o->ns = BASE;
	distance = (int32_t)(number - q->at - (uint32_t)(o->ns - BASE));
	if (distance > MOST_LOST || distance < -MOST_LOST ||
	    (int64_t)o->ns + distance <= 0)
		return false;
	o->ns += (uint64_t)distance;
	return true;
}

static void give_gaps(struct old *o, uint64_t ns)
{
	pdet_trace_gaps_give(&o->gaps, ns, o->events, &o->s.piece);
}

/* What is behind it tells when a loss ended. */
static void take_lost(struct old *o, const struct pdet_kmem_event *e)
{
	struct pdet_trace_loss *l = &o->s.loss;

	if (o->gaps.n == PDET_TRACE_GAPS)
		give_gaps(o, PDET_KMEM_NO_NS);
	pdet_trace_gaps_add(&o->gaps, e->cpu, e->object);
	pdet_trace_lost_behind(l, o->ns);
	if (e->object == UINT64_MAX)
		l->unknown++;
	else
		l->lost += e->object;
}

/* 1; 0: it cannot be; -ENOMEM. */
static int set_time(struct old *o, struct pdet_kmem_event *e,
		    const struct pdet_old_record *record)
{
	if (o->sequence) {
		if (!widen(o, record->sequence))
			return 0;
		e->cpu = o->s.cpu;
		e->ns = o->ns;
		if (o->sequence->holes &&
		    !pdet_old_holes_add(o->sequence->holes, e->ns))
			return -ENOMEM;
	} else {
		give_gaps(o, e->ns);
		o->ns = e->ns;
		if (!pdet_trace_gaps_note(&o->gaps, e->cpu, e->ns))
			return -ENOMEM;
	}
	return 1;
}

static int put(struct old *o, struct pdet_kmem_event *e,
	       const struct pdet_old_record *record)
{
	struct pdet_trace_piece *piece = &o->s.piece;
	int r;

	if (e->kind == PDET_KMEM_LOST) {
		take_lost(o, e);
		return 1;
	}
	r = set_time(o, e, record);
	if (r <= 0)
		return r;
	if (e->kind == PDET_KMEM_OTHER) {
		o->s.loss.other++;
		return 1;
	}
	o->events[piece->n] = *e;
	piece->data[piece->n] = &o->events[piece->n];
	piece->n++;
	return 1;
}

/*
 * The stream ends: its last part is not a record, or not a whole one. Returns 1
 * or -ENOMEM.
 */
static int end(struct old *o, int r, uint32_t size)
{
	struct sequence *q = o->sequence;

	if (r < 0)
		o->s.loss.damaged++;
	else if (o->n)
		o->s.loss.cut = size - o->n;
	o->s.offset = o->s.end;
	o->n = 0;
	if (q && q->alone)
		o->s.loss.uncounted = 1;
	if (q && q->unread && !--q->unread && !pdet_old_losses_end(q->losses))
		return -ENOMEM;
	return 1;
}

/* Decodes what there is. Returns 0, or 1 if that was the end; or -ENOMEM. */
static int decode(struct old *o)
{
	struct pdet_old_record record;
	struct pdet_kmem_event e;
	size_t at = 0;
	int r = 0;

	while (o->s.piece.n < o->most) {
		r = pdet_old_take(&o->form, o->bytes + at, o->n - at, &e,
				  &record);
		if (r > 0) {
			r = put(o, &e, &record);
			if (r == -ENOMEM)
				return r;
			if (r == 0)
				r = -EBADMSG;
		}
		if (r <= 0)
			break;
		at += record.size;
	}
	o->n -= at;
	memmove(o->bytes, o->bytes + at, o->n);
	if (r > 0 || (r == 0 && o->s.offset < o->s.end))
		return 0;
	return end(o, r, record.size);
}

/* What waits at the end. */
static int give_last(struct old *o)
{
	give_gaps(o, PDET_KMEM_NO_NS);
	return o->s.piece.n > 0;
}

static int more(struct pdet_trace_stream *s)
{
	struct old *o = PDET_CONTAINER(s, struct old, s);
	const size_t want = (size_t)PDET_MIN((uint64_t)(o->cap - o->n),
					     s->end - s->offset);
	ssize_t n;
	int r;

	if (!pdet_vec_reserve(&s->piece, o->most + PDET_TRACE_GAPS))
		return pdet_fail(o->env, ENOMEM, "no memory");
	if (s->offset == s->end && !o->n)
		return give_last(o);
	n = pdet_pread(o->fd, o->bytes + o->n, want, s->offset);
	if (n < 0) {
		errno = (int)-n;
		return pdet_fail_errno(o->env, "cannot read the trace");
	}
	o->n += (size_t)n;
	/* It was cut meanwhile. */
	s->offset = (size_t)n < want ? s->end : s->offset + (size_t)n;
	r = decode(o);
	if (r < 0)
		return pdet_fail(o->env, ENOMEM, "no memory");
	return r && !s->piece.n ? give_last(o) : 1;
}

static void close_old(struct pdet_trace_stream *s)
{
	struct old *o = PDET_CONTAINER(s, struct old, s);

	if (o->sequence && !--o->sequence->streams)
		free(o->sequence);
	if (o->owns_fd)
		close(o->fd);
	pdet_vec_free(&s->piece);
	pdet_trace_gaps_free(&o->gaps);
	free(o->bytes);
	free(o->events);
	free(o);
}

/* Opens @fd, which the stream then owns if it is of relay. */
static int add(struct pdet_env *env, struct pdet_trace *t, int fd,
	       const struct pdet_old_form *form, struct sequence *sequence,
	       uint16_t cpu)
{
	struct old *o = calloc(1, sizeof(*o));
	struct stat st;

	if (!o || fstat(fd, &st) < 0) {
		free(o);
		if (sequence)
			close(fd);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	o->s.more = more;
	o->s.close = close_old;
	o->s.end = (uint64_t)st.st_size;
	o->s.cpu = cpu;
	o->env = env;
	o->form = *form;
	o->fd = fd;
	o->owns_fd = sequence;
	o->sequence = sequence;
	if (sequence)
		sequence->streams++;
	/* Many processors may have small files. */
	o->cap = (size_t)PDET_MIN(o->s.end, (uint64_t)BYTES);
	o->most = o->cap / LEAST_RECORD + 1;
	o->bytes = malloc(o->cap);
	o->events = calloc(o->most + PDET_TRACE_GAPS, sizeof(*o->events));
	if (o->bytes && o->events && pdet_vec_push(&t->own, &o->s))
		return 0;
	/* The caller has it. */
	o->sequence = NULL;
	if (sequence)
		sequence->streams--;
	close_old(&o->s);
	return pdet_fail(env, ENOMEM, "no memory");
}

static bool find_form(int fd, bool relay, struct pdet_old_form *ret)
{
	unsigned char bytes[PDET_OLD_PEEK];
	const ssize_t n = pdet_pread(fd, bytes, sizeof(bytes), 0);

	return n > 0 && pdet_old_form(bytes, (size_t)n, relay, ret);
}

/* --- a file of the tracer --- */

bool pdet_old_is(int fd)
{
	struct pdet_old_form form;

	return find_form(fd, false, &form) || find_form(fd, true, &form);
}

/* The file of one processor, without those of the others. */
static int add_alone(struct pdet_env *env, int fd, struct pdet_trace *t,
		     const struct pdet_old_form *form)
{
	struct sequence *q = calloc(1, sizeof(*q));
	const int own = q ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	int r;

	if (own < 0) {
		r = q ? pdet_fail_errno(env, "cannot read the trace") :
			pdet_fail(env, ENOMEM, "no memory");
		free(q);
		return r;
	}
	q->streams = 1;
	q->alone = true;
	r = add(env, t, own, form, q, 0);
	if (!--q->streams)
		free(q);
	t->no_ns = t->no_cpu = true;
	return r;
}

int pdet_trace_old(struct pdet_env *env, int fd, struct pdet_trace *t)
{
	struct pdet_old_form form;
	int r;

	pdet_trace_release(t, PDET_TRACE_OLD_RELEASE,
			   strlen(PDET_TRACE_OLD_RELEASE));
	if (!find_form(fd, false, &form))
		return find_form(fd, true, &form) ?
			       add_alone(env, fd, t, &form) :
			       pdet_fail(env, EBADMSG, "it is not a trace of "
					 "kmemtrace");
	r = add(env, t, fd, &form, NULL, 0);
	/* Linux 2.6.35 says where events were lost; others do not. */
	if (r == 0)
		t->own.data[0]->loss.uncounted = 1;
	return r;
}

/* --- a directory of relay --- */

static int open_cpu(struct pdet_env *env, int dir, const char *name,
		    struct pdet_trace *t, struct sequence *sequence,
		    unsigned cpu)
{
	struct pdet_old_form form;
	char file[32];
	struct stat st;
	int fd;

	snprintf(file, sizeof(file), "cpu%u.out", cpu);
	fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return pdet_fail_errno(env, "cannot open %s/%s", name, file);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_size && !find_form(fd, true, &form))) {
		close(fd);
		return pdet_fail(env, EBADMSG, "%s/%s has no records of "
				 "kmemtrace", name, file);
	}
	if (!st.st_size) {
		/* A processor without events. */
		close(fd);
		return 0;
	}
	return add(env, t, fd, &form, sequence, (uint16_t)cpu);
}

struct cpus {
	unsigned *data;
	size_t n, cap;
};

/* The processors that have a file, in order. */
static int list_cpus(int dir, struct cpus *ret)
{
	const int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool ok = true;

	if (!d) {
		const int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	while (ok && (e = readdir(d))) {
		struct pdet_scan s = { e->d_name, e->d_name +
						  strlen(e->d_name) };
		uint64_t cpu;

		if (pdet_scan_word(&s, "cpu") && pdet_scan_dec(&s, &cpu) &&
		    cpu < MOST_CPUS && pdet_scan_is(&s, ".out"))
			ok = pdet_vec_push(ret, (unsigned)cpu);
	}
	closedir(d);
	pdet_sort_u32(ret->data, ret->n);
	return ok ? 0 : -ENOMEM;
}

/* Goes back to the begin. */
static void rewind_stream(struct pdet_trace_stream *s)
{
	struct old *o = PDET_CONTAINER(s, struct old, s);

	s->piece.n = s->piece.next = 0;
	memset(&s->loss, 0, sizeof(s->loss));
	s->offset = s->last_ns = 0;
	o->ns = 0;
	o->n = 0;
}

/* 1 at its end; 0 if that was stopped; or a negative errno. */
static int read_all(struct pdet_trace_stream *s, const struct pdet_env *env)
{
	int r;

	while ((r = s->more(s)) > 0) {
		if (env->stop && env->stop(env->stop_arg))
			return 0;
		s->piece.n = 0;
	}
	return r < 0 ? r : 1;
}

/* Rows of losses come between those of events, so that all are read twice. */
static int find_holes(void *arg, struct pdet_old_holes *holes)
{
	struct sequence *q = arg;
	struct pdet_trace *t = q->t;
	size_t i;
	int r = 1;

	q->holes = holes;
	if (!t->wants_rows) {
		q->unread = q->streams;
		return 0;
	}
	for (i = 1; i < t->own.n && r > 0; i++)
		r = read_all(t->own.data[i], q->env);
	for (i = 1; i < t->own.n; i++)
		rewind_stream(t->own.data[i]);
	q->holes = NULL;
	holes->unknown |= r == 0;
	return r < 0 ? r : 1;
}

/* In front of all others, so that it is read first. */
static int begin_losses(struct pdet_env *env, struct pdet_trace *t,
			struct sequence *q)
{
	q->env = env;
	q->t = t;
	q->losses = pdet_old_losses(find_holes, q);
	if (q->losses && pdet_vec_push(&t->own, q->losses))
		return 0;
	if (q->losses)
		q->losses->close(q->losses);
	return pdet_fail(env, ENOMEM, "no memory");
}

bool pdet_relay_is(int dir)
{
	return faccessat(dir, "cpu0.out", R_OK, 0) == 0 &&
	       faccessat(dir, "header_page", F_OK, 0) < 0;
}

int pdet_trace_relay(struct pdet_env *env, int dir, const char *name,
		     struct pdet_trace *t)
{
	struct sequence *q = calloc(1, sizeof(*q));
	struct cpus cpus = { 0 };
	size_t i;
	int r = q ? list_cpus(dir, &cpus) : -ENOMEM;

	if (r < 0) {
		pdet_vec_free(&cpus);
		free(q);
		errno = -r;
		return pdet_fail_errno(env, "cannot read %s", name);
	}
	/* It stays until all have come. */
	q->streams = 1;
	r = begin_losses(env, t, q);
	for (i = 0; i < cpus.n && r == 0; i++)
		/* "cpu00.out" is another name of a number. */
		if (!i || cpus.data[i] != cpus.data[i - 1])
			r = open_cpu(env, dir, name, t, q, cpus.data[i]);
	pdet_vec_free(&cpus);
	if (r == 0 && t->own.n == 1)
		r = pdet_fail(env, ENODATA, "%s has no events", name);
	t->no_ns = true;
	pdet_trace_release(t, PDET_TRACE_OLD_RELEASE,
			   strlen(PDET_TRACE_OLD_RELEASE));
	for (i = 1; i < t->own.n; i++)
		t->own.data[i]->has_cpu = true;
	if (!--q->streams)
		free(q);
	return r;
}
