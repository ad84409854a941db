/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Stands between both machines: every byte is handed on unchanged, and the hash
 * of each page is kept as it passes. That is "the hash as sent", without which
 * a page that was lost at the source cannot be told from one that was broken at
 * the destination. Runs in a thread with a handle of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent.h"

#define MAX_CHANNELS 20
#define PIECE 131072u

struct way {			/* from one side to the other */
	unsigned char piece[PIECE];
	size_t at, len;		/* of it, not yet handed on; 0: nothing */
	bool ended;		/* nothing more comes from there */
};

struct channel {
	struct stream *stream;
	int fd[SIDES];
	struct way way[SIDES];	/* from that side */
};

struct tap {
	struct agent *a;
	struct pagedet *pd;
	pthread_t thread;
	int listener, stop[2];
	struct sockaddr_un to;
	struct channel *channel; /* MAX_CHANNELS of them */
	unsigned n;
	char why[200];
};

static void complain(struct tap *t, const char *why)
{
	if (!t->why[0])
		snprintf(t->why, sizeof(t->why), "%s", why);
}

/* --- what is learned --- */

static void on_page(void *user, const char *block, uint64_t offset,
		    const unsigned char *bytes, unsigned fill, uint64_t turn)
{
	struct tap *t = user;
	struct pagedet_content c = { .size = sizeof(c) };
	const uint64_t page = join_page(t->a, block, offset);
	unsigned char filled[PAGE_BYTES];
	bool known = bytes || fill != STREAM_PACKED;

	if (page == NO_PAGE)
		return;
	if (!bytes && fill && known) {
		memset(filled, (int)fill, sizeof(filled));
		bytes = filled;
	}
	c.hash = t->a->hash_zero;
	if (bytes && pagedet_content(t->pd, bytes, PAGE_BYTES,
				     PAGEDET_CONTENT_HASH, &c))
		known = false;
	versions_sent(&t->a->versions, page, c.hash, turn, known,
		      known && c.hash == t->a->hash_zero);
	if (bytes)
		fault_sent(t->a, page, bytes);
}

/* Postcopy: what the destination has of it is old, and is given back. */
static void on_dropped(void *user, const char *block, uint64_t offset,
		       uint64_t len)
{
	struct tap *t = user;
	uint64_t page = join_page(t->a, block, offset);

	for (; page < t->a->pages && len >= PAGE_BYTES; len -= PAGE_BYTES)
		versions_dropped(&t->a->versions, page++);
}

static const struct stream_ops ops = { on_page, on_dropped };

/* --- handing on --- */

/* Nothing here waits for one channel alone: the destination may read another
 * one first. */
static void take(struct channel *c, int from)
{
	struct way *w = &c->way[from];
	const ssize_t n = recv(c->fd[from], w->piece, PIECE, MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		w->ended = true;
		shutdown(c->fd[!from], SHUT_WR);
		return;
	}
	w->at = 0;
	w->len = (size_t)n;
	if (from == SOURCE)
		stream_take(c->stream, w->piece, w->len);
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
	const int fd = accept4(t->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	c->fd[SOURCE] = fd;
	c->fd[DESTINATION] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	c->stream = stream_new(&ops, t, t->a->o.mode ==
			       PAGEDET_MODE_IGNORE_SHARED);
	if (t->n < MAX_CHANNELS - 1 && c->stream && c->fd[DESTINATION] >= 0 &&
	    !connect(c->fd[DESTINATION], (struct sockaddr *)&t->to,
		     sizeof(t->to))) {
		t->n++;
		return;
	}
	complain(t, "the destination could not be reached");
	stream_free(c->stream);
	close(fd);
	if (c->fd[DESTINATION] >= 0)
		close(c->fd[DESTINATION]);
}

/* What is awaited of the socket on @side. */
static short events(const struct channel *c, int side)
{
	const struct way *in = &c->way[side], *out = &c->way[!side];

	return (short)((!in->ended && !in->len ? POLLIN : 0) |
		       (out->len ? POLLOUT : 0));
}

static void serve(struct channel *c, int side, short ready)
{
	if (c->way[!side].len && ready & (POLLOUT | POLLERR | POLLHUP))
		give(c, !side);
	if (!c->way[side].len && !c->way[side].ended &&
	    ready & (POLLIN | POLLERR | POLLHUP))
		take(c, side);
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
				serve(&t->channel[i / 2], (int)(i % 2),
				      p[2 + i].revents);
		if (p[1].revents)
			add_channel(t);
	}
	return NULL;
}

/* --- begin and end --- */

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

	if (t)
		t->channel = calloc(MAX_CHANNELS, sizeof(*t->channel));
	if (!t || !t->channel) {
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

/* All channels must have been understood, and have waited equally often: else
 * which of two versions came later is not known. */
static void judge(struct tap *t)
{
	uint64_t turns = 0;
	unsigned i, n_main = 0;

	for (i = 0; i < t->n; i++) {
		const struct stream *s = t->channel[i].stream;

		if (stream_why(s))
			complain(t, stream_why(s));
		n_main += stream_is_main(s);
		if (stream_is_main(s))
			turns = stream_turns(s);
	}
	if (n_main != 1)
		complain(t, n_main ? "there were two migrations" :
			 "nothing was sent through it");
	for (i = 0; i < t->n; i++)
		if (!stream_is_main(t->channel[i].stream) &&
		    stream_turns(t->channel[i].stream) != turns)
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
	for (i = 0; i < t->n; i++) {
		close(t->channel[i].fd[SOURCE]);
		close(t->channel[i].fd[DESTINATION]);
		stream_free(t->channel[i].stream);
	}
	close(t->listener);
	close(t->stop[0]);
	close(t->stop[1]);
	pagedet_free(t->pd);
	free(t->channel);
	free(t);
}
