/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tracks writes with userfaultfd. Pages are write-protected, and a write
 * removes the protection without a fault handler (UFFD_FEATURE_WP_ASYNC).
 * PAGEMAP_SCAN finds unprotected pages and protects them again atomically
 * (Linux mm/userfaultfd.c, fs/proc/task_mmu.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/object/uapi.h"
#include "track/track.h"

#define FEATURES \
	(PDET_UFFD_PAGEFAULT_WP | PDET_UFFD_WP_HUGETLBFS_SHMEM | \
	 PDET_UFFD_WP_UNPOPULATED | PDET_UFFD_WP_ASYNC)

/* Most ranges in one scan. */
#define AT_ONCE 4096

/* The kernel writes ranges directly into the caller's array. Most architectures
 * need no conversion. */
_Static_assert(sizeof(struct pagedet_track_range) ==
	       sizeof(struct pdet_pm_region), "as uapi/linux/fs.h");
_Static_assert(PDET_PM_SCAN_WRITTEN == PAGEDET_TRACK_WRITTEN, "the same");

static void take_regions(struct pagedet_track_range *ranges, uint32_t n)
{
	uint32_t i;

	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return;
	for (i = 0; i < n; i++) {
		ranges[i].state = PAGEDET_TRACK_WRITTEN;
		ranges[i].why = 0;
	}
}

/* Faults are never passed to a handler. The privilege to handle faults of the
 * kernel is therefore not needed. */
static int open_uffd(void)
{
	const int flags = O_CLOEXEC | O_NONBLOCK | PDET_UFFD_USER_MODE_ONLY;
	int fd = (int)syscall(SYS_userfaultfd, flags), dev, code;

	if (fd >= 0 || pdet_is_shortage(-errno))
		return fd >= 0 ? fd : -errno;
	code = errno;
	/* The device may be allowed if the call is forbidden (6.1). */
	dev = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -code;
	fd = ioctl(dev, PDET_UFFD_NEW, flags);
	if (fd < 0)
		fd = -errno;
	close(dev);
	return fd;
}

/* Test both operations on an empty range: EINVAL means unsupported. */
static bool can_scan(struct pdet_track *t)
{
	struct pdet_pm_scan arg;

	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.flags = PDET_PM_SCAN_CHECK_WPASYNC;
	arg.category_mask = PDET_PM_SCAN_WRITTEN | PDET_PM_SCAN_WPALLOWED;
	arg.return_mask = arg.category_mask;
	return ioctl(t->pagemap, PDET_PM_SCAN, &arg) >= 0;
}

static int uffd_open(struct pdet_track *t, struct pdet_env *env)
{
	struct pdet_uffd_api api = {
		.api = PDET_UFFD_API_VERSION, .features = FEATURES
	};

	if (!can_scan(t)) {
		pdet_fail(env, ENOTSUP,
			  "cannot track writes: this kernel's pagemap cannot be scanned for them");
		pdet_advise(env,
			    "needs PAGEMAP_SCAN, which came with Linux 6.7");
		return -ENOTSUP;
	}
	t->uffd = open_uffd();
	if (t->uffd == -EPERM || t->uffd == -EACCES) {
		pdet_fail(env, EACCES,
			  "cannot track writes: this process may not use userfaultfd");
		pdet_advise(env,
			    "a seccomp filter or security module forbids userfaultfd(2): allow it, or /dev/userfaultfd");
		return -EACCES;
	}
	if (t->uffd == -ENOSYS || t->uffd == -EINVAL)
		return pdet_fail(env, ENOTSUP,
				 "cannot track writes: this kernel has no userfaultfd");
	if (t->uffd < 0) {
		errno = -t->uffd;
		return pdet_fail_errno(env,
				       "cannot track writes: cannot make a userfaultfd");
	}
	if (ioctl(t->uffd, PDET_UFFD_API, &api) == 0)
		return 0;
	if (errno != EINVAL)
		return pdet_fail_errno(env,
				       "cannot track writes: UFFDIO_API failed");
	pdet_fail(env, ENOTSUP,
		  "cannot track writes: this kernel's userfaultfd does not write-protect asynchronously");
	pdet_advise(env,
		    "needs UFFD_FEATURE_WP_ASYNC, which came with Linux 6.7, and PTE_MARKER_UFFD_WP in its configuration");
	return -ENOTSUP;
}

/* Device memory can be registered, but a scan skips it. */
static bool is_shown(struct pdet_track *t, const struct pdet_track_area *area)
{
	struct pdet_pm_region region;
	struct pdet_pm_scan arg;

	memset(&arg, 0, sizeof(arg));
	memset(&region, 0, sizeof(region));
	arg.size = sizeof(arg);
	arg.start = area->start;
	arg.end = area->start + t->page_size;
	arg.vec = (uintptr_t)&region;
	arg.vec_len = 1;
	arg.category_mask = PDET_PM_SCAN_WPALLOWED;
	arg.return_mask = PDET_PM_SCAN_WPALLOWED;
	return ioctl(t->pagemap, PDET_PM_SCAN, &arg) == 1;
}

/* Why the kernel refused to register an area. */
static uint32_t why_not(const struct pdet_track_area *area, int code)
{
	const uint64_t cut = area->page_size ?
		(area->start | area->end) % area->page_size : 0;

	switch (code) {
	case EBUSY:
		return PAGEDET_TRACK_TAKEN;
	case EPERM:
		return PAGEDET_TRACK_READ_ONLY;
	case ENOENT:
		return PAGEDET_TRACK_UNMAPPED;
	default:
		return cut ? PAGEDET_TRACK_CUT : PAGEDET_TRACK_KIND;
	}
}

static int shortage(struct pdet_env *env, int code)
{
	return pdet_fail(env, code, "cannot track writes: no memory");
}

/* An area that cannot be armed gets its reason. */
static int arm_area(struct pdet_track *t, struct pdet_env *env,
		    struct pdet_track_area *area)
{
	const struct pdet_uffd_range range = {
		area->start, area->end - area->start
	};
	struct pdet_uffd_register reg = {
		range.start, range.len, PDET_UFFD_REGISTER_WP, 0
	};
	struct pdet_uffd_protect protect = {
		range.start, range.len, PDET_UFFD_PROTECT_WP
	};

	if (ioctl(t->uffd, PDET_UFFD_REGISTER, &reg) < 0) {
		area->why = why_not(area, errno);
		return errno == ENOMEM ? shortage(env, ENOMEM) : 0;
	}
	if (!is_shown(t, area)) {
		area->why = PAGEDET_TRACK_KIND;
		ioctl(t->uffd, PDET_UFFD_UNREGISTER, &range);
		return 0;
	}
	while (ioctl(t->uffd, PDET_UFFD_PROTECT, &protect) < 0) {
		if (errno == EAGAIN || errno == EINTR)
			continue;
		area->why = errno == ENOENT ? PAGEDET_TRACK_UNMAPPED :
					      PAGEDET_TRACK_FAILED;
		return errno == ENOMEM ? shortage(env, ENOMEM) : 0;
	}
	return 0;
}

/*
 * Count pages in huge entries. Returns false if this kernel does not show them.
 */
static bool count_huge(struct pdet_track *t, uint64_t *ret)
{
	struct pdet_pm_region regions[64];
	struct pdet_pm_scan arg;
	int i, n;

	*ret = 0;
	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.start = t->start;
	arg.end = t->end;
	arg.vec = (uintptr_t)regions;
	arg.vec_len = PDET_COUNT(regions);
	arg.category_mask = PDET_PM_SCAN_HUGE | PDET_PM_SCAN_PRESENT;
	arg.return_mask = PDET_PM_SCAN_HUGE;
	while (arg.start < t->end) {
		n = ioctl(t->pagemap, PDET_PM_SCAN, &arg);
		if (n < 0 || arg.walk_end <= arg.start)
			return false;
		for (i = 0; i < n; i++)
			*ret += (regions[i].end - regions[i].start) /
				t->page_size;
		arg.start = arg.walk_end;
	}
	return true;
}

static int uffd_arm(struct pdet_track *t, struct pdet_env *env)
{
	bool counted;
	size_t i;
	int r = 0;

	counted = t->count_huge && count_huge(t, &t->huge_before);
	for (i = 0; r == 0 && i < t->areas.n; i++)
		if (!t->areas.data[i].why)
			r = arm_area(t, env, &t->areas.data[i]);
	if (r < 0 || !t->count_huge)
		return r;
	counted = counted && count_huge(t, &t->huge_after);
	t->huge_state = counted ? PAGEDET_HAVE : PAGEDET_NO_KERNEL;
	return 0;
}

static int uffd_read(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		     uint64_t end, bool rearm, struct pdet_track_out *out)
{
	struct pdet_pm_scan arg;
	uint32_t why;
	int n;

	(void)env;
	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	arg.flags = PDET_PM_SCAN_CHECK_WPASYNC |
		    (rearm ? PDET_PM_SCAN_WP_MATCHING : 0);
	arg.end = end;
	arg.category_mask = PDET_PM_SCAN_WRITTEN;
	arg.return_mask = PDET_PM_SCAN_WRITTEN;
	while (*at < end && out->n < out->max) {
		arg.start = *at;
		arg.vec = (uintptr_t)(out->ranges + out->n);
		arg.vec_len = PDET_MIN(out->max - out->n, (uint32_t)AT_ONCE);
		n = ioctl(t->pagemap, PDET_PM_SCAN, &arg);
		if (n < 0 || arg.walk_end <= *at) {
			/* Pages found and armed again before the failure are
			 * not reported one by one. Report the whole part as
			 * unknown; there is room for that. */
			why = n < 0 && errno == EPERM ?
				PAGEDET_TRACK_REMAPPED : PAGEDET_TRACK_FAILED;
			pdet_track_put(out, *at, end, PAGEDET_TRACK_UNKNOWN,
				       why);
			*at = end;
			return 0;
		}
		take_regions(out->ranges + out->n, (uint32_t)n);
		out->n += (uint32_t)n;
		*at = arg.walk_end;
	}
	return 0;
}

#define SEES(writer) (1u << PAGEDET_WRITER_##writer)

const struct pdet_track_how pdet_track_uffd = {
	.method = PAGEDET_TRACK_UFFD,
	.rearms = true,
	.sees = SEES(STORE) | SEES(KERNEL) | SEES(MEM_FILE) | SEES(GIVE_BACK) |
		SEES(VCPU),
	.blind = SEES(OTHER_MAPPING) | SEES(OTHER_PROCESS) | SEES(FILE) |
		 SEES(PUNCH) | SEES(DEVICE),
	.open = uffd_open,
	.arm = uffd_arm,
	.read = uffd_read,
};
