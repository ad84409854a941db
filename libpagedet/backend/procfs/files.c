/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Opens the system-wide files on first use, and manages descriptors that the
 * caller passed in.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "base/io.h"

const struct procfs_kpage_name procfs_kpage_names[KPAGE_FILES] = {
	[KPAGE_FLAGS] = { "kpageflags", PAGEDET_FD_KPAGEFLAGS,
			  "CONFIG_PROC_PAGE_MONITOR" },
	[KPAGE_COUNT] = { "kpagecount", PAGEDET_FD_KPAGECOUNT,
			  "CONFIG_PROC_PAGE_MONITOR" },
	[KPAGE_CGROUP] = { "kpagecgroup", PAGEDET_FD_KPAGECGROUP,
			   "CONFIG_MEMCG and CONFIG_PROC_PAGE_MONITOR" },
};

int procfs_handed_fd(const struct procfs *p, uint32_t kind, uint32_t pid)
{
	size_t i;

	/* The newest one: a pid may be used again. */
	for (i = p->handed.n; i-- > 0;)
		if (p->handed.data[i].kind == kind &&
		    p->handed.data[i].pid == pid)
			return p->handed.data[i].fd;
	return -1;
}

int procfs_kpage_fd(struct procfs *p, struct pdet_env *env,
		    enum procfs_kpage which)
{
	struct procfs_file *f = &p->kpage[which];
	int fd;

	if (f->fd >= 0)
		return f->fd;
	if (f->error)
		return f->error;
	fd = pdet_open(env, "/proc/%s", procfs_kpage_names[which].name);
	if (fd < 0)
		f->error = fd;
	else
		f->fd = fd;
	return fd;
}

/* Use this descriptor from now on. The one it replaces stays open, because a
 * thread may be reading it. */
static void use_handed(struct procfs *p, struct procfs_handed *handed)
{
	unsigned which;
	int old;

	for (which = 0; which < KPAGE_FILES; which++) {
		if (procfs_kpage_names[which].fd_kind != handed->kind)
			continue;
		old = p->kpage[which].fd;
		p->kpage[which].fd = handed->fd;
		handed->fd = old;
	}
}

int procfs_add_fd(struct pdet_backend *b, struct pdet_env *env,
			 uint32_t kind, uint32_t pid, int fd)
{
	struct procfs *p = procfs_of(b);
	struct procfs_handed handed = { kind, pid, -1 };

	handed.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (handed.fd < 0)
		return pdet_fail_errno(env, "cannot duplicate descriptor %d",
				       fd);
	if (!pdet_vec_push(&p->handed, handed)) {
		close(handed.fd);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	use_handed(p, &p->handed.data[p->handed.n - 1]);
	return 0;
}

int procfs_kpage_bare(struct procfs *p, struct pdet_env *env,
		      enum procfs_kpage which, uint64_t pfn, uint64_t *ret)
{
	int fd = procfs_kpage_fd(p, env, which);
	ssize_t n;

	if (fd < 0)
		return fd;
	if (pfn > INT64_MAX / 8)
		return 0;
	n = pdet_pread(fd, ret, 8, pfn * 8);
	return n < 0 ? (int)n : n == 8;
}

int procfs_kpage_one(struct procfs *p, struct pdet_env *env,
		     enum procfs_kpage which, uint64_t pfn, uint64_t *ret)
{
	int r = procfs_kpage_bare(p, env, which, pfn, ret);

	return r == 0 && procfs_memory_cut(p, env, pfn) ? -EIO : r;
}
