/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A proxy between both machines. It forwards every byte unchanged, and hashes
 * each page as it passes. Without this "hash as sent", a page lost at the
 * source and a page damaged at the destination look the same. It runs in a
 * thread with its own handle.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"

#define MAX_CHANNELS 20
#define PIECE 131072u

struct way {			/* one direction */
	unsigned char piece[PIECE];
	size_t at, len;		/* buffered bytes; 0: none */
	bool ended;		/* this side has closed */
};

struct channel {
	struct pagedet_stream *stream;
	int fd[SIDES];
	struct way way[SIDES];	/* from that side */
	uint64_t taken;		/* bytes from the source */
	bool marked;
	uint64_t mark;		/* the first of them that was certainly sent
				 * after the source had stopped */
};

struct tap {
	struct agent *a;
	struct pagedet *pd;
	pthread_t thread;
	int listener, stop[2];
	struct sockaddr_un to;
	struct channel *channel; /* MAX_CHANNELS elements */
	unsigned n;
	char why[200];
};

static void complain(struct tap *t, const char *why)
{
	if (!t->why[0])
		snprintf(t->why, sizeof(t->why), "%s", why);
}

/* --- results --- */

/* Gets the hash of a page, or that it is packed. */
static uint32_t hash(struct tap *t, const struct pagedet_streamed_page *p,
		     uint64_t *ret)
{
	struct pagedet_content c = { .size = sizeof(c) };
	unsigned char filled[PAGE_BYTES];
	const void *bytes = p->bytes;

	*ret = t->a->hash_zero;
	if (p->kind == PAGEDET_STREAMED_PACKED)
		return PAGEDET_SENT_PACKED;
	if (p->kind == PAGEDET_STREAMED_FILL && !p->fill)
		return PAGEDET_SENT_KNOWN;
	if (p->kind == PAGEDET_STREAMED_FILL)
		bytes = memset(filled, (int)p->fill, sizeof(filled));
	if (pagedet_content(t->pd, bytes, PAGE_BYTES, PAGEDET_CONTENT_HASH,
			    &c))
		return PAGEDET_SENT_PACKED;
	*ret = c.hash;
	return PAGEDET_SENT_KNOWN;
}

/*
 * Bytes wait in the socket, and more are on their way into it, which may have
 * been sent before the source stopped, although they come later.
 */
static void mark_stop(const struct tap *t, struct channel *c)
{
	int waiting;

	if (c->marked || !atomic_load(&t->a->halted) ||
	    ioctl(c->fd[SOURCE], FIONREAD, &waiting))
		return;
	c->mark = c->taken + (uint64_t)waiting + PIECE;
	c->marked = true;
}

/*
 * Whether a page that ends at @at of the piece was sent after the source had
 * stopped. That it is zero may have been found out before.
 */
static bool is_after_stop(const struct channel *c, uint64_t at,
			  const struct pagedet_streamed_page *p)
{
	const uint64_t end = c->taken - c->way[SOURCE].len + at;

	return c->marked && p->kind == PAGEDET_STREAMED_BYTES &&
	       end >= c->mark + PAGE_BYTES;
}

static void learn(struct tap *t, const struct pagedet_streamed_page *p,
		  bool after_stop)
{
	const uint64_t page = join_page(t->a, p->block, p->offset);
	uint64_t n = p->len / PAGE_BYTES, is;
	uint32_t state;

	if (page == PAGEDET_NO_PAGE)
		return;
	/* Postcopy: the destination's version is old and is discarded. */
	if (p->kind == PAGEDET_STREAMED_DROP) {
		n = n < t->a->pages - page ? n : t->a->pages - page;
		pagedet_versions_dropped(t->a->versions, page, n);
		early_sent(t->a, page, n);
		return;
	}
	state = hash(t, p, &is);
	pagedet_versions_sent(t->a->versions, page, state, is, p->turn);
	t->a->after_stop[page] = after_stop;
	early_sent(t->a, page, 1);
	if (p->bytes)
		fault_sent(t->a, page, p->bytes);
}

/* The bytes of a page in the piece, if they are whole there. */
static unsigned char *in_piece(struct way *w, uint64_t end,
			       const struct pagedet_streamed_page *p)
{
	if (!p->bytes || end < PAGE_BYTES ||
	    memcmp(w->piece + end - PAGE_BYTES, p->bytes, PAGE_BYTES))
		return NULL;
	return w->piece + end - PAGE_BYTES;
}

/* Only for a try: what passes may be harmed, before it is hashed or then. */
static void learn_all(struct tap *t, struct channel *c)
{
	struct way *w = &c->way[SOURCE];
	struct pagedet_streamed_page page = { .size = sizeof(page) };
	uint64_t at = 0;

	while (pagedet_stream_take(c->stream, w->piece, w->len, &at, &page) ==
	       1) {
		const uint64_t number = page.kind == PAGEDET_STREAMED_DROP ?
			PAGEDET_NO_PAGE :
			join_page(t->a, page.block, page.offset);
		unsigned char *bytes = in_piece(w, at, &page);

		if (harm_passing(t->a, number, bytes, false))
			page.bytes = bytes;
		learn(t, &page, is_after_stop(c, at, &page));
		harm_passing(t->a, number, bytes, true);
	}
}

/* --- forwarding --- */

/*
 * Nothing here waits for one channel only: the destination may read another one
 * first.
 */
static void take(struct tap *t, struct channel *c, int from)
{
	struct way *w = &c->way[from];
	ssize_t n;

	if (from == SOURCE)
		mark_stop(t, c);
	n = recv(c->fd[from], w->piece, PIECE, MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		w->ended = true;
		shutdown(c->fd[!from], SHUT_WR);
		return;
	}
	w->at = 0;
	w->len = (size_t)n;
	if (from != SOURCE)
		return;
	c->taken += w->len;
	learn_all(t, c);
}

static void give(struct channel *c, int from)
{
	struct way *w = &c->way[from];
	const ssize_t n = send(c->fd[!from], w->piece + w->at, w->len - w->at,
			       MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		w->ended = true;
		shutdown(c->fd[from], SHUT_RD);
	}
	w->at += n < 0 ? 0 : (size_t)n;
	if (n < 0 || w->at == w->len)
		w->len = 0;
}

static void add_channel(struct tap *t)
{
	struct channel *c = &t->channel[t->n];
	struct pagedet_stream_options o = PAGEDET_STREAM_OPTIONS_INIT;
	const int fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	c->fd[SOURCE] = fd;
	c->fd[DESTINATION] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (t->a->o.mode == PAGEDET_MODE_IGNORE_SHARED)
		o.options = PAGEDET_STREAM_IGNORE_SHARED;
	if (t->n < MAX_CHANNELS - 1 && !pagedet_stream_new(&o, &c->stream) &&
	    c->fd[DESTINATION] >= 0 &&
	    !connect(c->fd[DESTINATION], (struct sockaddr *)&t->to,
		     sizeof(t->to))) {
		t->n++;
		return;
	}
	complain(t, "the destination could not be reached");
	pagedet_stream_free(c->stream);
	close(fd);
	if (c->fd[DESTINATION] >= 0)
		close(c->fd[DESTINATION]);
}

/* The poll events of the socket on @side. */
static short events(const struct channel *c, int side)
{
	const struct way *in = &c->way[side], *out = &c->way[!side];

	return (short)((!in->ended && !in->len ? POLLIN : 0) |
		       (out->len ? POLLOUT : 0));
}

static void serve(struct tap *t, struct channel *c, int side, short ready)
{
	if (c->way[!side].len && ready & (POLLOUT | POLLERR | POLLHUP))
		give(c, !side);
	if (!c->way[side].len && !c->way[side].ended &&
	    ready & (POLLIN | POLLERR | POLLHUP))
		take(t, c, side);
}

static void *run(void *user)
{
	struct tap *t = user;
	struct pollfd p[2 + 2 * MAX_CHANNELS];
	unsigned i;

	for (;;) {
		const unsigned n = t->n;

		p[0] = (struct pollfd){ t->stop[0], POLLIN, 0 };
		p[1] = (struct pollfd){ t->listener, POLLIN, 0 };
		for (i = 0; i < 2 * n; i++) {
			const struct channel *c = &t->channel[i / 2];
			const short wanted = events(c, (int)(i % 2));

			p[2 + i] = (struct pollfd){
				wanted ? c->fd[i % 2] : -1, wanted, 0
			};
		}
		if (poll(p, 2 + 2 * n, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents)
			break;
		for (i = 0; i < 2 * n; i++)
			if (p[2 + i].fd >= 0 && p[2 + i].revents)
				serve(t, &t->channel[i / 2], (int)(i % 2),
				      p[2 + i].revents);
		if (p[1].revents)
			add_channel(t);
	}
	return NULL;
}

/* --- start and end --- */

static int listen_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) &&
	    !listen(fd, MAX_CHANNELS))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_handle(struct tap *t)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	o.hash_key = t->a->key_file;
	t->pd = pagedet_new();
	return !t->pd || pagedet_open(t->pd, &o) ? -1 : 0;
}

int tap_start(struct agent *a, const char *listen, const char *connect,
	      struct tap **ret)
{
	struct tap *t = calloc(1, sizeof(*t));

	a->after_stop = calloc(a->pages, sizeof(*a->after_stop));
	if (t)
		t->channel = calloc(MAX_CHANNELS, sizeof(*t->channel));
	if (!t || !t->channel || !a->after_stop) {
		free(t ? t->channel : NULL);
		free(t);
		return agent_fail_errno(AGENT_IO, "tap");
	}
	t->a = a;
	t->to.sun_family = AF_UNIX;
	snprintf(t->to.sun_path, sizeof(t->to.sun_path), "%s", connect);
	t->listener = listen_at(listen);
	if (t->listener < 0 || open_handle(t) ||
	    pipe2(t->stop, O_CLOEXEC)) {
		agent_say("cannot stand between both: %s", strerror(errno));
		pagedet_free(t->pd);
		if (t->listener >= 0)
			close(t->listener);
		free(t->channel);
		free(t);
		return AGENT_IO;
	}
	if (pthread_create(&t->thread, NULL, run, t)) {
		agent_say("cannot make a thread");
		return AGENT_IO;
	}
	*ret = t;
	return 0;
}

static struct pagedet_stream_info info_of(const struct tap *t, unsigned i)
{
	struct pagedet_stream_info info = { .size = sizeof(info) };

	pagedet_stream_info(t->channel[i].stream, &info);
	return info;
}

/*
 * All channels must have been understood, with the same number of turns.
 * Otherwise the order of two versions is not known.
 */
static void judge(struct tap *t)
{
	uint64_t turns = 0;
	unsigned i, n_main = 0;

	for (i = 0; i < t->n; i++) {
		const struct pagedet_stream_info s = info_of(t, i);

		if (s.why)
			complain(t, s.why);
		n_main += s.is_main;
		if (s.is_main)
			turns = s.turns;
	}
	if (n_main != 1)
		complain(t, n_main ? "there were two migrations" :
			 "nothing was sent through it");
	for (i = 0; i < t->n; i++)
		if (!info_of(t, i).is_main && info_of(t, i).turns != turns)
			complain(t, "channels that do not agree on what was "
				 "sent when");
}

void tap_stop(struct agent *a, struct tap *t)
{
	unsigned i;

	if (!t)
		return;
	if (write(t->stop[1], "", 1) != 1)
		pthread_cancel(t->thread);
	pthread_join(t->thread, NULL);
	judge(t);
	memcpy(a->tap_why, t->why, sizeof(a->tap_why));
	pagedet_versions_complete(a->versions, !t->why[0]);
	for (i = 0; i < t->n; i++) {
		close(t->channel[i].fd[SOURCE]);
		close(t->channel[i].fd[DESTINATION]);
		pagedet_stream_free(t->channel[i].stream);
	}
	close(t->listener);
	close(t->stop[0]);
	close(t->stop[1]);
	pagedet_free(t->pd);
	free(t->channel);
	free(t);
}
