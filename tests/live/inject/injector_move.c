/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Runs one migration: two processes, with this one as the wire between them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "injector.h"

/* So long after the first reading there is a second one: vmm_explain.c. */
#define AGAIN_NS 10000000u
#define MOVING_TRIES 50

static int backing(const struct move *m, const struct where *w)
{
	char path[4096];
	int fd;

	if (m->ram == MEMFD) {
		fd = memfd_create("guest", MFD_CLOEXEC);
	} else {
		snprintf(path, sizeof(path), "%s/ram.XXXXXX", w->dir);
		fd = mkostemp(path, O_CLOEXEC);
		unlink(path);
	}
	if (fd < 0 || ftruncate(fd, (off_t)(m->pages * PAGE)) < 0)
		die("memory of a guest");
	return fd;
}

static void give_fd(int fd, int as)
{
	if (fd >= 0 && dup2(fd, as) < 0)
		die("dup2");
}

static void start(struct move *m, struct side *s, const struct where *w,
		  uint32_t keeps, uid_t uid)
{
	static const char *const ram[] = { [ANON] = "anon", [THP] = "thp",
					   [MEMFD] = "shared",
					   [ON_DISK] = "shared" };
	char pages[16], keeps_text[16], uid_text[16];
	const char *key = uid ? w->nobodys_key : w->key;
	int pair[2];
	uint32_t i;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		die("socketpair");
	s->ram = m->ram & (MEMFD | ON_DISK) ? backing(m, w) : -1;
	snprintf(pages, sizeof(pages), "%u", m->pages);
	snprintf(keeps_text, sizeof(keeps_text), "%u", keeps);
	snprintf(uid_text, sizeof(uid_text), "%u", (unsigned)uid);
	fflush(NULL);
	s->pid = fork();
	if (s->pid < 0)
		die("fork");
	if (s->pid == 0) {
		/*
		 * This process's descriptors have higher numbers, see
		 * injector.c.
		 */
		give_fd(pair[1], FD_ORDERS);
		give_fd(s->ram, FD_RAM);
		give_fd(m->peer, FD_PEER);
		give_fd(w->findings, FD_FINDINGS);
		execl(w->vmm, "vmm", ram[m->ram], pages, keeps_text, key,
		      uid_text, (char *)NULL);
		die(w->vmm);
	}
	close(pair[1]);
	s->orders = pair[0];
	for (i = 0; i < m->pages; i++)
		s->at[i] = tell(s, WHERE, i, 0);
}

void move_begin(struct move *m, const struct where *w, uint32_t keeps,
		uid_t uid)
{
	m->peer = memfd_create("peer", MFD_CLOEXEC);
	if (m->peer < 0)
		die("memfd_create");
	start(m, &m->src, w, keeps, uid);
	start(m, &m->dst, w, keeps, uid);
}

static void stop(struct side *s)
{
	int status;

	close(s->orders);
	if (s->ram >= 0)
		close(s->ram);
	if (waitpid(s->pid, &status, 0) < 0 || status)
		die("a guest's process failed");
}

void move_end(struct move *m)
{
	if (m->mapped)
		munmap(m->mapped, PAGE);
	stop(&m->src);
	stop(&m->dst);
	close(m->peer);
}

static void post(const struct side *s, const struct order *o)
{
	if (send(s->orders, o, sizeof(*o), MSG_NOSIGNAL) != sizeof(*o))
		die("a guest's process is gone");
}

static void answer(const struct side *s, struct order *o)
{
	if (recv(s->orders, o, sizeof(*o), 0) != (ssize_t)sizeof(*o))
		die("a guest's process is gone");
}

uint64_t tell(struct side *s, enum what what, uint32_t page, uint64_t arg)
{
	struct order o = { .what = what, .page = page, .arg = arg };

	post(s, &o);
	answer(s, &o);
	return o.arg;
}

void send_page(struct move *m, uint32_t page, struct order *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->what = SEND;
	packet->page = page;
	post(&m->src, packet);
	answer(&m->src, packet);
	packet->what = TAKE;
}

void deliver(struct move *m, struct order *packet, uint32_t page)
{
	struct order o = *packet;

	o.page = page;
	m->came[page] = o;
	post(&m->dst, &o);
	answer(&m->dst, &o);
}

static int open_of(const struct side *s, const char *name, int flags)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", s->pid, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		die(path);
	return fd;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Stores continuously until the answer comes, each time another value.
 * @pause_ns: the longest time in which there may have been no store
 */
static uint64_t tell_and_store(const struct side *s, int mem, uint64_t at,
			       uint64_t *word, struct order o,
			       uint64_t *pause_ns)
{
	struct pollfd p = { .fd = s->orders, .events = POLLIN };
	uint64_t last = 0, begin, pause;
	bool came = false;

	*pause_ns = 0;
	while (!came) {
		begin = now_ns();
		++*word;
		if (pwrite(mem, word, sizeof(*word), (off_t)at) !=
		    (ssize_t)sizeof(*word))
			die("/proc/PID/mem");
		if (!last)
			post(s, &o);
		came = poll(&p, 1, 0) != 0;
		pause = now_ns() - (last ? last : begin);
		if (pause > *pause_ns)
			*pause_ns = pause;
		last = begin;
	}
	answer(s, &o);
	return o.arg;
}

/*
 * A store must fall between two readings. Where that is not sure, because the
 * machine did something else, the order is given again.
 */
static uint64_t tell_while_moving(struct move *m, struct side *s,
				  enum what what, uint64_t arg)
{
	const struct order o = { .what = what, .arg = arg };
	const int nice = getpriority(PRIO_PROCESS, 0);
	uint64_t word = random_of(m->random), r, pause_ns;
	unsigned tries = MOVING_TRIES;
	int mem;

	if (m->moving != s)
		return tell(s, what, 0, arg);
	mem = open_of(s, "mem", O_WRONLY);
	/* A page under constant stores must not wait for other pages. */
	setpriority(PRIO_PROCESS, 0, -10);
	do
		r = tell_and_store(s, mem, s->at[m->moving_page], &word, o,
				   &pause_ns);
	while (pause_ns >= AGAIN_NS && --tries);
	setpriority(PRIO_PROCESS, 0, nice);
	close(mem);
	return r;
}

void explain(struct move *m)
{
	const uint64_t len = tell_while_moving(m, &m->dst, GIVE, 0);

	tell_while_moving(m, &m->src, EXPLAIN, len);
}

void store(const struct side *s, uint32_t page, const void *bytes, size_t len,
	   size_t offset)
{
	const int fd = open_of(s, "mem", O_WRONLY);

	if (pwrite(fd, bytes, len, (off_t)(s->at[page] + offset)) !=
	    (ssize_t)len)
		die("/proc/PID/mem");
	close(fd);
}

void load(const struct side *s, uint32_t page, void *bytes)
{
	const int fd = open_of(s, "mem", O_RDONLY);

	if (pread(fd, bytes, PAGE, (off_t)s->at[page]) != (ssize_t)PAGE)
		die("/proc/PID/mem");
	close(fd);
}

uint64_t pagemap(const struct side *s, uint32_t page)
{
	const int fd = open_of(s, "pagemap", O_RDONLY);
	uint64_t word = 0;

	if (pread(fd, &word, sizeof(word),
		  (off_t)(s->at[page] / PAGE * sizeof(word))) != sizeof(word))
		die("/proc/PID/pagemap");
	close(fd);
	return word;
}
