/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests writers other than a thread's stores. Each method detects the kernel's
 * writes through the mapping, for io_uring, O_DIRECT and another process.
 * Writes to pages pinned before arming are missed; only their contents show
 * them.
 */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "../tracking.h"

#define ENTRIES 4

/* --- io_uring, by its system calls --- */

struct uring {
	int fd;
	struct io_uring_params p;
	char *submit, *complete;
	struct io_uring_sqe *entries;
};

static char *map_uring(const struct uring *u, size_t len, off_t what)
{
	char *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_POPULATE, u->fd, what);

	ck_assert_msg(at != MAP_FAILED, "mmap: %s", strerror(errno));
	return at;
}

static void open_uring(struct uring *u)
{
	memset(u, 0, sizeof(*u));
	u->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &u->p);
	if (u->fd < 0)
		unit_skip("no io_uring: %s", strerror(errno));
	u->submit = map_uring(u, u->p.sq_off.array +
			      u->p.sq_entries * sizeof(uint32_t),
			      IORING_OFF_SQ_RING);
	u->complete = map_uring(u, u->p.cq_off.cqes + u->p.cq_entries *
				sizeof(struct io_uring_cqe),
				IORING_OFF_CQ_RING);
	u->entries = (void *)map_uring(u, u->p.sq_entries *
				       sizeof(struct io_uring_sqe),
				       IORING_OFF_SQES);
}

static _Atomic uint32_t *word(char *ring, uint32_t offset)
{
	return (_Atomic uint32_t *)(void *)(ring + offset);
}

/* Reads @len bytes from the begin of @fd to @to, and waits for the end. */
static void read_by(struct uring *u, unsigned how, int fd, char *to,
		    uint32_t len)
{
	const uint32_t tail = atomic_load(word(u->submit, u->p.sq_off.tail));
	const uint32_t slot = tail & (u->p.sq_entries - 1);
	const uint32_t head = atomic_load(word(u->complete,
					       u->p.cq_off.head));
	struct io_uring_sqe *e = &u->entries[slot];
	struct io_uring_cqe *done;

	memset(e, 0, sizeof(*e));
	e->opcode = (uint8_t)how;
	e->fd = fd;
	e->addr = (uintptr_t)to;
	e->len = len;
	atomic_store(word(u->submit, u->p.sq_off.array) + slot, slot);
	atomic_store(word(u->submit, u->p.sq_off.tail), tail + 1);
	ck_assert_int_eq(syscall(SYS_io_uring_enter, u->fd, 1, 1,
				 IORING_ENTER_GETEVENTS, NULL, 0), 1);
	done = (void *)(u->complete + u->p.cq_off.cqes);
	done += head & (u->p.cq_entries - 1);
	ck_assert_msg(done->res == (int)len, "%s", strerror(-done->res));
	atomic_store(word(u->complete, u->p.cq_off.head), head + 1);
}

static void pin(const struct uring *u, char *at, size_t len)
{
	const struct iovec all = { at, len };

	if (syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_BUFFERS,
		    &all, 1))
		unit_skip("buffers cannot be registered: %s", strerror(errno));
}

/* Makes a file of one page filled with @byte. */
static int file_of(char byte)
{
	int fd = memfd_create("writers", MFD_CLOEXEC);
	char *at;

	ck_assert_int_eq(ftruncate(fd, (off_t)page), 0);
	at = map(page, MAP_SHARED, fd);
	memset(at, byte, page);
	munmap(at, page);
	return fd;
}

START_TEST(uring_read)
{
	struct pagedet_track *t;
	struct uring u;
	char *p;

	start();
	open_uring(&u);
	p = filled(4, SHARED(_i), 1);
	t = track_by(METHOD(_i), p, 4 * page, 0);
	arm(t, 0);
	read_by(&u, IORING_OP_READ, file_of(7), p + 2 * page, (uint32_t)page);
	ck_assert_int_eq(p[2 * page], 7);
	expect(t, 0, "..W.");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/*
 * Pinned before arming, as by VFIO: writes are not detected. Soft-dirty bits of
 * pinned private memory are not cleared (Linux fs/proc/task_mmu.c,
 * pte_is_pinned()), so it always counts as written.
 */
static bool stays_written(int i)
{
	return METHOD(i) == PAGEDET_TRACK_SOFT_DIRTY && !SHARED(i);
}

START_TEST(uring_pinned_before)
{
	struct pagedet_track_info info = { .size = sizeof(info) };
	struct pagedet_track *t;
	struct uring u;
	char *p;

	start();
	open_uring(&u);
	p = filled(4, SHARED(_i), 1);
	pin(&u, p, 4 * page);
	t = track_by(METHOD(_i), p, 4 * page, 0);
	arm(t, 0);
	read_by(&u, IORING_OP_READ_FIXED, file_of(7), p + page,
		(uint32_t)page);
	ck_assert_int_eq(p[page], 7);
	expect(t, 0, stays_written(_i) ? "WWWW" : "....");
	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	ck_assert(info.blind & 1u << PAGEDET_WRITER_DEVICE);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* Pinning counts as one write. Later writes are not detected after rearming. */
START_TEST(uring_pinned_after)
{
	struct pagedet_track *t;
	struct uring u;
	char *p;

	start();
	open_uring(&u);
	p = filled(4, SHARED(_i), 1);
	t = track_by(METHOD(_i), p, 4 * page, 0);
	arm(t, 0);
	pin(&u, p + page, 2 * page);
	expect(t, 0, ".WW.");
	arm(t, 0);
	read_by(&u, IORING_OP_READ_FIXED, file_of(7), p + page,
		(uint32_t)page);
	ck_assert_int_eq(p[page], 7);
	expect(t, 0, stays_written(_i) ? ".WW." : "....");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* --- a disk, into pages that are pinned for one read --- */

static int direct_file(void)
{
	char name[] = "writers-XXXXXX";
	int fd = mkstemp(name), direct;
	char *p = map_private(page);

	ck_assert_int_ge(fd, 0);
	memset(p, 7, page);
	ck_assert_int_eq(write(fd, p, page), (ssize_t)page);
	ck_assert_int_eq(fsync(fd), 0);
	direct = open(name, O_RDONLY | O_DIRECT | O_CLOEXEC);
	unlink(name);
	close(fd);
	if (direct < 0)
		unit_skip("O_DIRECT: %s", strerror(errno));
	return direct;
}

START_TEST(direct)
{
	struct pagedet_track *t;
	struct uring u;
	ssize_t n;
	char *p;
	int fd;

	start();
	fd = direct_file();
	p = filled(6, SHARED(_i), 1);
	t = track_by(METHOD(_i), p, 6 * page, 0);
	arm(t, 0);
	n = pread(fd, p + page, page, 0);
	if (n < 0)
		unit_skip("O_DIRECT: %s", strerror(errno));
	ck_assert_int_eq(n, (ssize_t)page);
	ck_assert_int_eq(p[page], 7);
	expect(t, 0, ".W....");
	open_uring(&u);
	read_by(&u, IORING_OP_READ, fd, p + 3 * page, (uint32_t)page);
	ck_assert_int_eq(p[3 * page], 7);
	expect(t, 0, ".W.W..");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* --- another process, by our addresses --- */

START_TEST(process_vm)
{
	struct pagedet_track *t;
	int status;
	pid_t us = getpid(), child;
	char *p;

	start();
	p = filled(3, SHARED(_i), 1);
	t = track_by(METHOD(_i), p, 3 * page, 0);
	arm(t, 0);
	child = fork();
	if (child == 0) {
		char seven = 7;
		const struct iovec from = { &seven, 1 };
		const struct iovec to = { p + page, 1 };

		_exit(process_vm_writev(us, &from, 1, &to, 1, 0) == 1 ? 0 :
		      errno);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	if (WEXITSTATUS(status))
		unit_skip("process_vm_writev: %s",
			  strerror(WEXITSTATUS(status)));
	ck_assert_int_eq(p[page], 7);
	expect(t, 0, ".W.");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writers");

	unit_loop(s, uring_read, 4);
	unit_loop(s, uring_pinned_before, 4);
	unit_loop(s, uring_pinned_after, 4);
	unit_loop(s, direct, 4);
	unit_loop(s, process_vm, 4);
	return unit_main(s);
}
