/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests writers of a VM's memory in a guest that has them: a KVM processor,
 * through its own page tables, and vhost, a kernel thread in the creator's mm.
 * Both access pages through the mapping. Both must therefore be detected, also
 * after tracking was armed again: nothing that they have cached may survive
 * that.
 */
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/vhost.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <linux/virtio_vsock.h>
#include <linux/vm_sockets.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tracking.h"

#define PAGES 8

static int opened(const char *path)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		unit_skip("%s: %s", path, strerror(errno));
	return fd;
}

static int must(int fd, unsigned long request, const void *arg)
{
	const int r = ioctl(fd, request, arg);

	ck_assert_msg(r >= 0, "ioctl %#lx: %s", request, strerror(errno));
	return r;
}

/* --- a KVM processor --- */

/* In real mode: writes pages 3, 4, 5; then 4; then 4 and 5. */
static const unsigned char code[] = {
	0xc6, 0x06, 0x00, 0x30, 1,	/* movb $1, 0x3000 */
	0xc6, 0x06, 0x00, 0x40, 1,
	0xc6, 0x06, 0x00, 0x50, 1,
	0xe6, 0x10,			/* out %al, $0x10 */
	0xc6, 0x06, 0x00, 0x40, 2,
	0xe6, 0x10,
	0xc6, 0x06, 0x00, 0x40, 3,
	0xc6, 0x06, 0x00, 0x50, 3,
	0xe6, 0x10,
	0xf4
};

static struct kvm_run *make_processor(int kvm, char *memory, int *cpu)
{
	struct kvm_userspace_memory_region slot = {
		.memory_size = PAGES * page,
		.userspace_addr = (uintptr_t)memory,
	};
	struct kvm_regs regs = { .rip = page, .rflags = 2 };
	struct kvm_sregs sregs;
	struct kvm_run *run;
	int vm;

	vm = must(kvm, KVM_CREATE_VM, NULL);
	must(vm, KVM_SET_USER_MEMORY_REGION, &slot);
	*cpu = must(vm, KVM_CREATE_VCPU, NULL);
	must(*cpu, KVM_GET_SREGS, &sregs);
	sregs.cs.base = sregs.cs.selector = 0;
	must(*cpu, KVM_SET_SREGS, &sregs);
	must(*cpu, KVM_SET_REGS, &regs);
	run = mmap(NULL, (size_t)must(kvm, KVM_GET_VCPU_MMAP_SIZE, NULL),
		   PROT_READ | PROT_WRITE, MAP_SHARED, *cpu, 0);
	ck_assert_ptr_ne(run, MAP_FAILED);
	return run;
}

/* Runs until it reports that it has written. */
static void run_on(struct kvm_run *run, int cpu)
{
	must(cpu, KVM_RUN, NULL);
	ck_assert_msg(run->exit_reason == KVM_EXIT_IO && run->io.port == 0x10,
		      "exit %u", run->exit_reason);
}

START_TEST(processor)
{
	struct pagedet_track_info info = { .size = sizeof(info) };
	struct pagedet_track *t;
	struct kvm_run *run;
	int cpu, kvm;
	char *p;

	start();
	kvm = opened("/dev/kvm");
	p = filled(PAGES, SHARED(_i), 0);
	memcpy(p + page, code, sizeof(code));
	run = make_processor(kvm, p, &cpu);
	/* Now it has cached these pages as writable. */
	run_on(run, cpu);
	ck_assert_int_eq(p[5 * page], 1);
	t = track_by(METHOD(_i), p, PAGES * page, 0);
	arm(t, 0);
	expect(t, 0, "........");
	run_on(run, cpu);
	ck_assert_int_eq(p[4 * page], 2);
	if (METHOD(_i) == PAGEDET_TRACK_UFFD) {
		expect(t, PAGEDET_TRACK_REARM, "....W...");
	} else {
		expect(t, 0, "....W...");
		arm(t, 0);
	}
	run_on(run, cpu);
	ck_assert_int_eq(p[4 * page], 3);
	ck_assert_int_eq(p[5 * page], 3);
	expect(t, 0, "....WW..");
	ck_assert_int_eq(pagedet_track_info(t, &info), 0);
	ck_assert(info.sees & 1u << PAGEDET_WRITER_VCPU);
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

/* --- vhost --- */

#define CID 42
#define QUEUE 4			/* descriptors */
#define BUFFER 512
/* Pages of the queue that is written, and of received data. */
enum { TABLES = 0, USED = 2, RECEIVED = 4, OTHER = 6 };

/* The device uses only one queue, but needs two. */
static void add_queue(int fd, unsigned n, char *tables, char *used)
{
	struct vhost_vring_state state = { n, QUEUE };
	struct vhost_vring_addr addr = {
		.index = n,
		.desc_user_addr = (uintptr_t)tables,
		.avail_user_addr = (uintptr_t)tables + 1024,
		.used_user_addr = (uintptr_t)used,
	};
	struct vhost_vring_file event = { n, eventfd(0, EFD_CLOEXEC) };

	must(fd, VHOST_SET_VRING_NUM, &state);
	state.num = 0;
	must(fd, VHOST_SET_VRING_BASE, &state);
	must(fd, VHOST_SET_VRING_ADDR, &addr);
	must(fd, VHOST_SET_VRING_KICK, &event);
	event.fd = eventfd(0, EFD_CLOEXEC);
	must(fd, VHOST_SET_VRING_CALL, &event);
}

static int make_vsock(char *p)
{
	const uint64_t cid = CID, features = 1ull << VIRTIO_F_VERSION_1;
	struct {
		struct vhost_memory head;
		struct vhost_memory_region region;
	} memory = { { .nregions = 1 }, {
		.memory_size = PAGES * page,
		.userspace_addr = (uintptr_t)p,
	} };
	const int fd = opened("/dev/vhost-vsock"), on = 1;

	must(fd, VHOST_SET_OWNER, NULL);
	must(fd, VHOST_SET_FEATURES, &features);
	must(fd, VHOST_SET_MEM_TABLE, &memory);
	add_queue(fd, 0, p + TABLES * page, p + USED * page);
	add_queue(fd, 1, p + OTHER * page, p + (OTHER + 1) * page);
	must(fd, VHOST_VSOCK_SET_GUEST_CID, &cid);
	must(fd, VHOST_VSOCK_SET_RUNNING, &on);
	return fd;
}

/* Offers a buffer for received data. */
static void offer(char *p, uint16_t n)
{
	struct vring_desc *d = (void *)(p + TABLES * page);
	_Atomic uint16_t *avail = (void *)(p + TABLES * page + 1024);

	d[n].addr = RECEIVED * page + n * BUFFER;
	d[n].len = BUFFER;
	d[n].flags = VRING_DESC_F_WRITE;
	avail[2 + n] = n;
	avail[1] = n + 1;
}

/* Sends a packet to that machine. */
static void call(char *p, uint16_t nth)
{
	const struct sockaddr_vm to = {
		.svm_family = AF_VSOCK, .svm_cid = CID, .svm_port = 1,
	};
	_Atomic uint16_t *used = (void *)(p + USED * page);
	const int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_NONBLOCK, 0);
	int i;

	if (fd < 0)
		unit_skip("no vsock: %s", strerror(errno));
	ck_assert(connect(fd, (const void *)&to, sizeof(to)) == -1);
	ck_assert_int_eq(errno, EINPROGRESS);
	for (i = 0; i < 12000 && used[1] < nth; i++)
		usleep(5000);
	ck_assert_uint_eq(used[1], nth);
}

/*
 * The kernel thread still reports sometimes, in the used ring, that it needs no
 * calls.
 */
static void arm_at_rest(struct pagedet_track *t)
{
	unsigned states[PAGES];
	int i;

	for (i = 0; i < 100; i++) {
		arm(t, 0);
		usleep(20000);
		look(t, 0, 64, states);
		if (!states[USED])
			break;
	}
}

START_TEST(vhost)
{
	struct virtio_vsock_hdr *got;
	struct pagedet_track *t;
	char *p;

	start();
	p = filled(PAGES, SHARED(_i), 0);
	make_vsock(p);
	offer(p, 0);
	offer(p, 1);
	t = track_by(METHOD(_i), p, PAGES * page, 0);
	arm_at_rest(t);
	expect(t, 0, "........");
	call(p, 1);
	got = (void *)(p + RECEIVED * page);
	ck_assert_uint_eq(got->dst_cid, CID);
	expect(t, 0, "..W.W...");
	arm_at_rest(t);
	call(p, 2);
	expect(t, 0, "..W.W...");
	pagedet_track_free(t);
	pagedet_free(pd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writers");

	unit_loop(s, processor, 4);
	unit_loop(s, vhost, 4);
	return unit_main(s);
}
