/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds areas whose entries pagemap does not show. The kernel steps over a VMA
 * with VM_PFNMAP (mm/pagewalk.c, walk_page_test): a driver has mapped frames
 * there by their numbers. Each of its words is 0, as if nothing was mapped.
 *
 * PAGEMAP_SCAN (6.7) steps over the same VMAs. Asked for pages of any kind, it
 * returns each address of every other VMA. Without it, smaps has the flags of
 * VMAs; the kernel counts all pages of the task for that text, so it is read
 * only if maps has a VMA that may be a driver's. Names tell that of many VMAs.
 * Those of files whose filesystem has no disk of its own do not (overlayfs,
 * btrfs, nfs): they are looked at where addresses are asked about, but a walk
 * of whole tasks takes them for what they nearly always are.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/codec/text_stream.h"
#include "base/io.h"
#include "base/stop.h"
#include "kernel/object/uapi.h"
#include "kernel/text/smaps.h"

static bool begins(const struct pdet_vma *vma, const char *with)
{
	const size_t n = strlen(with);

	return vma->name_len >= n && !memcmp(vma->name, with, n);
}

/* Data of the kernel, which every task can read. */
static bool is_kernels(const struct pdet_vma *vma)
{
	return !vma->inode && begins(vma, "[vvar");
}

/* Memory of tmpfs or hugetlbfs, whose pages pagemap always shows. */
static bool is_shmem(const struct pdet_vma *vma)
{
	return begins(vma, "/dev/shm/") || begins(vma, "/memfd:") ||
	       begins(vma, "/SYSV") || begins(vma, "/dev/zero") ||
	       begins(vma, "/dev/hugepages/");
}

/* Whether the name is of a device, or of no file in a filesystem. */
static bool is_named_so(const struct pdet_vma *vma)
{
	if (!vma->inode || is_shmem(vma))
		return false;
	return !vma->name_len || *vma->name != '/' || begins(vma, "/sys/") ||
	       begins(vma, "/proc/") ||
	       memmem(vma->name, vma->name_len, "/dev/", 5);
}

/*
 * Whether a driver may have mapped frames there. A filesystem on a disk, whose
 * device has a major number, has files of drivers only as devices.
 */
static bool may_be_drivers(const struct pdet_vma *vma)
{
	if (!vma->inode)
		return is_kernels(vma);
	return is_named_so(vma) || (!(vma->dev >> 32) && !is_shmem(vma));
}

static int no_memory(struct pdet_session *s)
{
	return pdet_fail(&s->env, ENOMEM, "no memory");
}

/* Adds [first, end), if there is such a range. */
static int add(struct pdet_session *s, struct pdet_ranges *to, uint64_t first,
	       uint64_t end)
{
	const struct pdet_range range = { first, end - 1 };

	return first < end && !pdet_vec_push(to, range) ? no_memory(s) : 0;
}

/*
 * Adds what the scan steps over: areas without entries to show, and addresses
 * outside of all areas. Returns 1, 0 if it cannot tell, or a negative errno.
 */
static int by_scan(struct pdet_session *s, const struct procfs_task *t,
		   uint64_t at, uint64_t end, struct pdet_ranges *ret)
{
	struct pdet_pm_region regions[64];
	struct pdet_pm_scan arg = {
		.size = sizeof(arg),
		.end = end,
		.vec = (uintptr_t)regions,
		.vec_len = PDET_COUNT(regions),
	};
	uint64_t to;
	int n, i, r;

	if (!t->p->scan_categories)
		return 0;
	for (; at < end; at = to) {
		arg.start = at;
		n = ioctl(t->pagemap, PDET_PM_SCAN, &arg);
		if (n < 0 || arg.walk_end <= at)
			return 0;
		for (i = 0; i < n; i++) {
			r = add(s, ret, at, regions[i].start);
			if (r < 0)
				return r;
			at = regions[i].end;
		}
		/* If there is no room, the scan ends behind the last one. */
		to = n == PDET_COUNT(regions) ? at :
						PDET_MIN(arg.walk_end, end);
		r = add(s, ret, at, to);
		if (r < 0)
			return r;
	}
	return 1;
}

/* The wanted part of an area. */
static int add_part(struct pdet_session *s, struct pdet_ranges *to,
		    const struct pdet_vma *vma, uint64_t start, uint64_t end)
{
	return add(s, to, PDET_MAX(vma->start, start),
		   PDET_MIN(vma->end, end));
}

/* Adds areas that may be a driver's. */
static int by_maps(struct pdet_session *s, struct procfs_task *t,
		   uint64_t start, uint64_t end, struct pdet_ranges *ret)
{
	struct pdet_vma vma;
	int r = procfs_vma_first(s, &t->task);

	while (r == 0 && (r = procfs_vma_next(s, &t->task, &vma)) > 0 &&
	       vma.start < end) {
		r = 0;
		if (vma.end > start && may_be_drivers(&vma))
			r = add_part(s, ret, &vma, start, end);
	}
	return PDET_MIN(r, 0);
}

static int take_flags(struct pdet_session *s, struct pdet_text_stream *text,
		      uint64_t start, uint64_t end, struct pdet_ranges *ret)
{
	struct pdet_stop stop = { .ask = s->stop, .arg = s->stop_arg };
	struct pdet_text_line line;
	struct pdet_vma vma = { .end = 0 }, next;
	bool hidden;
	int r;

	while ((r = pdet_text_stream_line(text, &s->env, &line)) > 0) {
		if (pdet_is_stopped(&stop))
			return -ECANCELED;
		if (pdet_maps_line(line.text, &next)) {
			vma = next;
			if (vma.start >= end)
				return 0;
		} else if (vma.end > start &&
			   pdet_smaps_flags(line.text, "pf", &hidden) &&
			   hidden) {
			r = add_part(s, ret, &vma, start, end);
			if (r < 0)
				return r;
		}
	}
	return r;
}

static int by_smaps(struct pdet_session *s, const struct procfs_task *t,
		    uint64_t start, uint64_t end, struct pdet_ranges *ret)
{
	struct pdet_text_stream *text;
	const int fd = pdet_open(&s->env, "/proc/%u/smaps",
				 t->task.thread);
	int r;

	if (fd < 0)
		return fd;
	r = pdet_text_stream_fd(&s->env, fd, "smaps", &text);
	if (r == 0) {
		r = take_flags(s, text, start, end, ret);
		pdet_text_stream_close(text);
	}
	close(fd);
	return r;
}

int procfs_unshown(struct pdet_session *s, struct procfs_task *t,
		   uint64_t start, uint64_t end, struct pdet_ranges *ret)
{
	struct pdet_ranges flagged = { NULL, 0, 0 };
	int r = by_scan(s, t, start, end, ret);

	if (r)
		return PDET_MIN(r, 0);
	ret->n = 0;
	r = by_maps(s, t, start, end, ret);
	if (r < 0 || !ret->n)
		return r;
	r = by_smaps(s, t, ret->data[0].first, ret->data[ret->n - 1].last + 1,
		     &flagged);
	if (r == -ENOMEM) {
		pdet_vec_free(&flagged);
		return no_memory(s);
	}
	/* Without the flags, any of these areas may be a driver's. */
	if (r < 0) {
		pdet_clear(&s->env);
		pdet_vec_free(&flagged);
		return 0;
	}
	pdet_vec_free(ret);
	*ret = flagged;
	return 0;
}

/*
 * Whether smaps calls an area a driver's. The text of a task is read once, for
 * all of its areas. If it cannot be read, any area may be a driver's.
 */
static bool is_flagged(struct pdet_session *s, struct procfs_task *t,
		       const struct pdet_vma *vma)
{
	const struct pdet_range *a;
	size_t low = 0, high, mid;

	if (!t->flags_read) {
		t->flags_read = true;
		t->flags_error = by_smaps(s, t, 0, UINT64_MAX, &t->flagged);
		if (t->flags_error < 0)
			pdet_clear(&s->env);
	}
	if (t->flags_error < 0)
		return true;
	a = t->flagged.data;
	/* the first one that does not end before the area */
	for (high = t->flagged.n; low < high;) {
		mid = low + (high - low) / 2;
		if (a[mid].last < vma->start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->flagged.n && a[low].first < vma->end;
}

unsigned procfs_blind(struct pdet_session *s, struct pdet_task *task,
		      const struct pdet_vma *vma, unsigned known)
{
	const unsigned bit = is_kernels(vma) ? PDET_BLIND_KERNEL :
					       PDET_BLIND_DRIVER;
	struct procfs_task *t = procfs_task_of(task);
	struct pdet_ranges unshown = { NULL, 0, 0 };
	bool blind;
	int r;

	if (known & bit || !may_be_drivers(vma))
		return 0;
	r = by_scan(s, t, vma->start,
		    vma->start + ((uint64_t)1 << t->p->page_shift), &unshown);
	/* Before 6.7 [vvar] is such an area. */
	if (r == 0 && is_kernels(vma))
		return bit;
	if (r < 0)
		pdet_clear(&s->env);
	blind = r ? r < 0 || unshown.n : is_named_so(vma) &&
					 is_flagged(s, t, vma);
	pdet_vec_free(&unshown);
	return blind ? bit : 0;
}
