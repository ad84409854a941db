/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks that a query is safe. The driver as it was posted misreads the memcg
 * of a slab page, and reads pages that the kernel does not map. Either one
 * kills the calling task in the kernel with a mutex held. All later queries
 * then wait forever.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backend/page_detective/query.h"
#include "base/io.h"
#include "base/namespace.h"
#include "kernel/page/kpf.h"
#include "kernel/page/pagemap.h"
#include "kernel/text/status.h"

/* Flags that identify a page, rather than describe its current state. */
#define IDENTITY \
	(KPF(SLAB) | KPF(BUDDY) | KPF(ANON) | KPF(COMPOUND_HEAD) | \
	 KPF(COMPOUND_TAIL) | KPF(HUGE) | KPF(HWPOISON) | KPF(NOPAGE) | \
	 KPF(THP) | KPF(OFFLINE) | KPF(ZERO_PAGE) | KPF(PGTABLE) | \
	 KPF(RESERVED) | KPF(SWAPBACKED))

static void cannot(struct page_detective *d, unsigned reason,
		   const char *advice)
{
	d->reason = (uint8_t)reason;
	snprintf(d->advice, sizeof(d->advice), "%s", advice);
}

static void say_absent(struct page_detective *d, const struct pdet_env *env,
		       int error)
{
	struct statfs fs;
	char path[4096];

	if (pdet_errno_closed(error) == EACCES) {
		cannot(d, PAGEDET_NO_ACCESS, "needs root");
		return;
	}
	if (error == ENAMETOOLONG) {
		cannot(d, PAGEDET_IO, "the path of the root directory is too "
				      "long");
		return;
	}
	if (error != ENOENT && error != ENOTDIR) {
		cannot(d, PAGEDET_IO, "cannot look at " PAGE_DETECTIVE_DIR);
		return;
	}
	if (!*env->root && pdet_path(env, path, sizeof(path),
				     "/sys/kernel/debug") == 0 &&
	    statfs(path, &fs) == 0 && fs.f_type != DEBUGFS_MAGIC) {
		cannot(d, PAGEDET_NO_KERNEL,
		       "needs debugfs: mount -t debugfs none "
		       "/sys/kernel/debug; procfs, bpf and kcore answer "
		       "without it");
		return;
	}
	cannot(d, PAGEDET_NO_KERNEL,
	       "needs the module of kmod/ (insmod page_detective.ko), or the "
	       "driver in the kernel; procfs, bpf and kcore answer without it");
}

/* True if a line of this name in a status file has more than one number, or
 * none. Without such a line there is only one. */
static bool has_more(struct pdet_scan text, const char *key)
{
	uint64_t number;

	return pdet_status_has(text, key) &&
	       (pdet_status_number(text, key, 1, &number) ||
		!pdet_status_number(text, key, 0, &number));
}

/* "self" is the reader's pid in the namespace of those files. NSpid continues
 * with its pids in all nested namespaces, down to its own (proc(5)). */
bool page_detective_counts_otherwise(const struct pdet_env *env)
{
	struct pdet_text text;
	bool more;

	if (!pdet_proc_is_ours(env->root) ||
	    pdet_slurp(env, &text, PDET_STATUS_BYTES, "/proc/self/status") < 0)
		return true;
	more = has_more((struct pdet_scan){ text.data, text.data + text.len },
			"NSpid:");
	pdet_text_free(&text);
	return more;
}

int page_detective_open_dir(const struct pdet_env *env)
{
	char path[4096];
	int fd;

	if (pdet_path(env, path, sizeof(path), PAGE_DETECTIVE_DIR) < 0)
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void page_detective_look(struct page_detective *d, struct pdet_env *env)
{
	struct statfs fs;
	int r;

	if (d->looked)
		return;
	d->looked = true;
	d->reason = PAGEDET_HAVE;
	d->dir = page_detective_open_dir(env);
	if (d->dir < 0) {
		say_absent(d, env, -d->dir);
		d->dir = -1;
		return;
	}
	d->real = fstatfs(d->dir, &fs) < 0 || fs.f_type == DEBUGFS_MAGIC;
	d->other_pids = d->real && page_detective_counts_otherwise(env);
	if (page_detective_query_look(d, env))
		return;
	r = page_detective_kmsg_open(&d->kmsg, env);
	if (r < 0 && pdet_errno_closed(-r) == EACCES)
		cannot(d, PAGEDET_NO_ACCESS,
		       "its answers are in /dev/kmsg, which needs CAP_SYSLOG");
	d->flags = pdet_open(env, "/proc/kpageflags");
	if (d->flags < 0 && d->real)
		cannot(d, PAGEDET_UNSAFE,
		       "/proc/kpageflags must be read before the driver is "
		       "asked about a page, and it cannot be read");
}

/* The kind of a page that the driver must not examine, or NULL. */
static const char *danger(uint64_t flags)
{
	if (flags & KPF(SLAB))
		return "a slab page, whose cgroup it would misread";
	if (flags & KPF(BUDDY))
		return "a free page, which may be a slab page in a moment";
	if (flags & KPF(HWPOISON))
		return "a poisoned page, whose bytes it would read";
	if (flags & (KPF(OFFLINE) | KPF(NOPAGE)))
		return "the page is not online";
	/* Pages of memfd_secret(2) belong to a file that is never written back:
	 * unevictable, and before that on no list. */
	if (!(flags & (KPF(ANON) | KPF(HUGE) | KPF(SWAPBACKED) |
		       KPF(RESERVED) | KPF(PGTABLE))) &&
	    (flags & KPF(UNEVICTABLE) ||
	     (flags & KPF(UPTODATE) && !(flags & KPF(LRU)))))
		return "perhaps a page of memfd_secret, for which the kernel "
		       "has no mapping";
	return NULL;
}

/*
 * Returns 1 and the flags; 0 if the frame does not exist; or a negative errno.
 */
static int read_flags(const struct page_detective *d, uint64_t pfn,
		      uint64_t *ret)
{
	ssize_t n;

	if (d->flags < 0)
		return d->flags;
	if (pfn > INT64_MAX / 8)
		return 0;
	n = pdet_pread(d->flags, ret, sizeof(*ret), pfn * sizeof(*ret));
	if (n < 0)
		return (int)n;
	return n == (ssize_t)sizeof(*ret);
}

enum page_detective_verdict
page_detective_may_ask(const struct page_detective *d, uint64_t pfn,
		       uint64_t *flags, const char **why)
{
	int r;

	*flags = 0;
	r = read_flags(d, pfn, flags);
	if (r < 0)
		return PAGE_DETECTIVE_BLIND;
	/* The driver itself refuses frames beyond the last one. */
	*why = r ? danger(*flags) : NULL;
	return *why ? PAGE_DETECTIVE_REFUSED : PAGE_DETECTIVE_SAFE;
}

bool page_detective_has_changed(const struct page_detective *d, uint64_t pfn,
				uint64_t flags)
{
	uint64_t now = 0;

	return read_flags(d, pfn, &now) >= 0 && (now ^ flags) & IDENTITY;
}

static bool is_secret(const struct pdet_vma *vma)
{
	static const char name[] = "/secretmem";

	return vma->name_len >= sizeof(name) - 1 &&
	       !memcmp(vma->name, name, sizeof(name) - 1);
}

enum page_detective_verdict
page_detective_may_ask_virt(const struct page_detective *d,
			    const struct pdet_env *env,
			    const struct page_detective_question *q,
			    uint64_t *pfn, uint64_t *flags, const char **why)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry = 0;
	char name[PAGE_DETECTIVE_NAME];
	struct pdet_vma vma;
	ssize_t n;
	int fd, r;

	*pfn = *flags = 0;
	r = page_detective_vma(env, q->pid, q->addr, &vma, name);
	if (r > 0 && is_secret(&vma)) {
		*why = "memory of memfd_secret, for which the kernel has no "
		       "mapping";
		return PAGE_DETECTIVE_REFUSED;
	}
	fd = pdet_open(env, "/proc/%u/pagemap", q->pid);
	if (fd < 0)
		/* The driver will not find the task either. */
		return r == -ENOENT && d->flags >= 0 ? PAGE_DETECTIVE_SAFE :
						       PAGE_DETECTIVE_BLIND;
	n = pdet_pread(fd, &entry, sizeof(entry),
		       q->addr / page * sizeof(entry));
	close(fd);
	if (n < 0 || (entry & PDET_PM_PRESENT && !(entry & PDET_PM_PFN_MASK)))
		return PAGE_DETECTIVE_BLIND;
	if (n != (ssize_t)sizeof(entry) || !(entry & PDET_PM_PRESENT))
		return PAGE_DETECTIVE_SAFE;
	*pfn = entry & PDET_PM_PFN_MASK;
	return page_detective_may_ask(d, *pfn, flags, why);
}
