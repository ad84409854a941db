/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * held - pages that are held without being mapped
 *
 * Makes each kind of held page. Prints "NAME ADDRESS" (hex), "NAME pfn NUMBER",
 * or "NAME -" if this kernel does not allow it. Prints "done" after the last
 * page, and holds the pages until its input ends.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <linux/if_packet.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t size;

static void say(const char *name, const void *at)
{
	if (at)
		printf("%s %lx\n", name, (unsigned long)(uintptr_t)at);
	else
		printf("%s -\n", name);
}

static void *map(int flags, int fd, size_t length)
{
	char *at = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* A written page that only this process has. */
static char *fresh(void)
{
	char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, size);

	if (at)
		memset(at, 'h', size);
	return at;
}

static void *secret(void)
{
	const int fd = (int)syscall(SYS_memfd_secret, 0);
	char *at;

	if (fd < 0 || ftruncate(fd, (off_t)size))
		return NULL;
	at = map(MAP_SHARED, fd, size);
	if (at)
		at[0] = 's';
	return at;
}

static void *in_pipe(void)
{
	char *at = fresh();
	struct iovec iov = { at, size };
	int fd[2];

	return at && !pipe(fd) &&
		       vmsplice(fd[1], &iov, 1, 0) == (ssize_t)size ? at : NULL;
}

/* The receiver never reads, so the sender's page stays in its queue. */
static void *in_socket(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t length = sizeof(to);
	char *at = fresh();
	int in = socket(AF_INET, SOCK_STREAM, 0);
	int out = socket(AF_INET, SOCK_STREAM, 0);
	int pipes[2];

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!at || bind(in, (void *)&to, sizeof(to)) || listen(in, 1) ||
	    getsockname(in, (void *)&to, &length) ||
	    connect(out, (void *)&to, sizeof(to)) || pipe(pipes))
		return NULL;
	/* splice passes the page itself, also on loopback. */
	if (vmsplice(pipes[1], &(struct iovec){ at, size }, 1, 0) !=
		    (ssize_t)size ||
	    splice(pipes[0], NULL, out, NULL, size, 0) != (ssize_t)size)
		return NULL;
	return at;
}

/*
 * The receiver does not read, and its window is full. So data sent without a
 * copy waits at the sender. On loopback it would be copied when it arrives.
 */
static void *in_zerocopy(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t length = sizeof(to);
	char *at = fresh(), *fill = fresh();
	int in = socket(AF_INET, SOCK_STREAM, 0);
	int out = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int small = 4096, large = 8 << 20, yes = 1, unsent = 0, i;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!at || !fill || setsockopt(in, SOL_SOCKET, SO_RCVBUF, &small,
				       sizeof(small)) ||
	    setsockopt(out, SOL_SOCKET, SO_SNDBUF, &large, sizeof(large)) ||
	    setsockopt(out, SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof(yes)) ||
	    bind(in, (void *)&to, sizeof(to)) || listen(in, 1) ||
	    getsockname(in, (void *)&to, &length) ||
	    (connect(out, (void *)&to, sizeof(to)) && errno != EINPROGRESS))
		return NULL;
	for (i = 0; i < 1000 && unsent < 4 * (int)size; i++) {
		if (send(out, fill, size, MSG_NOSIGNAL) < 0)
			usleep(1000);
		if (ioctl(out, SIOCOUTQNSD, &unsent))
			return NULL;
	}
	return send(out, at, size, MSG_ZEROCOPY | MSG_NOSIGNAL) ==
		       (ssize_t)size ? at : NULL;
}

/* Returns the page frame number, or 0 if the kernel does not reveal it. */
static unsigned long pfn_of(const void *at)
{
	const int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (fd < 0 || pread(fd, &entry, sizeof(entry),
			    (off_t)((uintptr_t)at / size * sizeof(entry))) !=
			      sizeof(entry))
		entry = 0;
	close(fd);
	return entry >> 63 ? (unsigned long)(entry & ((1ull << 55) - 1)) : 0;
}

/* Returns the bytes of a huge page, or 0 if this kernel makes none. */
static size_t huge_size(void)
{
	FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
			"r");
	unsigned long bytes = 0;

	if (f && fscanf(f, "%lu", &bytes) != 1)
		bytes = 0;
	if (f)
		fclose(f);
	return bytes <= 64 << 20 ? bytes : 0;
}

/* A page in the middle of our own huge page, held by a pipe. */
static void *in_huge(void)
{
	const size_t huge = huge_size();
	char *at = huge ? map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 2 * huge) : NULL;
	struct iovec iov = { NULL, size };
	unsigned long first;
	int fd[2];

	if (!at)
		return NULL;
	at += -(uintptr_t)at % huge;
	if (madvise(at, huge, MADV_HUGEPAGE))
		return NULL;
	memset(at, 'H', huge);
	first = pfn_of(at);
	if (!first || first % (huge / size) ||
	    pfn_of(at + huge - size) != first + huge / size - 1)
		return NULL;
	iov.iov_base = at + 5 * size;
	return !pipe(fd) && vmsplice(fd[1], &iov, 1, 0) == (ssize_t)size ?
		       iov.iov_base : NULL;
}

/* Puts a descriptor into a message that nobody receives. */
static bool give_away(int fd)
{
	char control[CMSG_SPACE(sizeof(fd))], byte = 'm';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int pair[2];

	memset(control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return !socketpair(AF_UNIX, SOCK_STREAM, 0, pair) &&
	       sendmsg(pair[0], &m, 0) == 1;
}

/*
 * A page of a memfd that no task maps or has open. Only a message holds it.
 * Prints its page frame number, because the page has no address any more.
 */
static void in_message(void)
{
	const int fd = memfd_create("held", MFD_CLOEXEC);
	unsigned long pfn = 0;
	char *at;

	if (fd >= 0 && !ftruncate(fd, (off_t)size)) {
		at = map(MAP_SHARED, fd, size);
		if (at) {
			memset(at, 'm', size);
			pfn = pfn_of(at);
			munmap(at, size);
		}
	}
	if (pfn && give_away(fd))
		printf("message pfn %lu\n", pfn);
	else
		say("message", NULL);
	close(fd);
}

static void *of_io_uring(void)
{
	struct io_uring_params p;
	char *at = fresh();
	struct iovec iov = { at, size };
	int fd;

	memset(&p, 0, sizeof(p));
	fd = (int)syscall(SYS_io_uring_setup, 4, &p);
	return at && fd >= 0 &&
		       !syscall(SYS_io_uring_register, fd,
				IORING_REGISTER_BUFFERS, &iov, 1) ? at : NULL;
}

static void *aio_ring(void)
{
	aio_context_t context = 0;

	return syscall(SYS_io_setup, 8, &context) ?
		       NULL : (void *)(uintptr_t)context;
}

static void *perf_ring(void)
{
	struct perf_event_attr a;
	int fd;

	memset(&a, 0, sizeof(a));
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_DUMMY;
	a.size = sizeof(a);
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	return fd < 0 ? NULL : map(MAP_SHARED, fd, 2 * size);
}

static void *packet_ring(void)
{
	struct tpacket_req r = { (unsigned)size, 2, (unsigned)size, 2 };
	const int fd = socket(AF_PACKET, SOCK_RAW, 0);

	return fd < 0 || setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &r,
				    sizeof(r)) ?
		       NULL : map(MAP_SHARED, fd, 2 * size);
}

/* The mapping must have an entry; a ring gets entries by page faults. */
static void *touched(char *at)
{
	volatile char *byte = at;

	if (byte)
		(void)*byte;
	return at;
}

int main(void)
{
	char line[8];

	size = (size_t)sysconf(_SC_PAGESIZE);
	say("secret", secret());
	say("pipe", in_pipe());
	say("socket", in_socket());
	say("zerocopy", in_zerocopy());
	say("huge", in_huge());
	in_message();
	say("io_uring", of_io_uring());
	say("aio", touched(aio_ring()));
	say("perf", touched(perf_ring()));
	say("packet", touched(packet_ring()));
	say("vdso", touched((char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR)));
	say("done", NULL);
	fflush(stdout);
	return read(0, line, sizeof(line)) < 0;
}
