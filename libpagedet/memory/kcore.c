/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads /proc/kcore: the running kernel as a core file without an end (Linux
 * fs/proc/kcore.c). Its segments are the kernel's mappings: all memory, the
 * image, modules, the memory map. The kernel writes zeroes for unmapped
 * addresses in a segment. They cannot be distinguished from real zeroes.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"
#include "base/vec.h"
#include "memory/elf_head.h"
#include "memory/memory.h"
#include "memory/note.h"
#include "pagedet.h"

struct segment {
	uint64_t first, last;	/* addresses, virtual or physical */
	uint64_t offset;	/* in the file, of first */
};

struct segments {
	struct segment *data;
	size_t n, cap;
};

struct kcore {
	struct pdet_memory m;
	int fd;
	struct segments virt, phys;	/* sorted */
	pthread_mutex_t lock;	/* for readers without an own fd */
};

/*
 * The kernel copies reads through one page for each open file. Two threads on
 * the same open file would get each other's bytes. Every reader therefore opens
 * the file again.
 */
struct kcore_reader {
	struct pdet_reader reader;
	int fd;			/* -1: uses the shared one */
};

static bool kcore_probe(struct pdet_env *env, const int *fds, size_t n)
{
	struct statfs fs;
	char path[64];

	if (!n)
		return !*env->root &&
		       pdet_path(env, path, sizeof(path), "/proc/kcore") >= 0 &&
		       access(path, F_OK) == 0;
	return fstatfs(fds[0], &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int by_first(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Sort the segments and remove overlaps: the image is also within memory. */
static void tidy(struct segments *s)
{
	size_t i, n = 0;

	if (!s->n)
		return;
	qsort(s->data, s->n, sizeof(*s->data), by_first);
	for (i = 1; i < s->n; i++) {
		struct segment next = s->data[i];
		const struct segment *last = &s->data[n];

		if (next.last <= last->last)
			continue;
		if (next.first <= last->last) {
			next.offset += last->last + 1 - next.first;
			next.first = last->last + 1;
		}
		s->data[++n] = next;
	}
	s->n = n + 1;
}

static int take_segments(struct kcore *k, const struct pdet_elf_head *head)
{
	size_t i;

	for (i = 0; i < head->n; i++) {
		const struct pdet_elf_segment *s = &head->data[i];
		const uint64_t last = s->memsz - 1;

		if (s->type != PT_LOAD || !s->memsz ||
		    s->vaddr + last < s->vaddr || s->offset + last < s->offset)
			continue;
		if (!pdet_vec_push(&k->virt, (struct segment){
				s->vaddr, s->vaddr + last, s->offset }))
			return -ENOMEM;
		if (s->paddr == UINT64_MAX || s->paddr + last < s->paddr)
			continue;
		if (!pdet_vec_push(&k->phys, (struct segment){
				s->paddr, s->paddr + last, s->offset }))
			return -ENOMEM;
	}
	tidy(&k->virt);
	tidy(&k->phys);
	for (i = 0; i < k->phys.n; i++)
		if (pdet_memory_add_range(&k->m, k->phys.data[i].first,
					  k->phys.data[i].last) < 0)
			return -ENOMEM;
	return 0;
}

static int take_head(struct kcore *k, struct pdet_env *env)
{
	const struct pdet_dump_file file = { .fd = k->fd, .size = UINT64_MAX };
	struct pdet_elf_head head;
	struct pdet_notes notes;
	const char *text;
	size_t len;
	int r;

	r = pdet_elf_head_read(&head, env, &file);
	if (r < 0)
		return r;
	k->m.machine = head.machine;
	r = pdet_elf_notes_read(&head, &file, &k->m.notes, &k->m.notes_len);
	k->m.notes_lost = r > 0;
	r = PDET_MIN(r, 0);
	notes = (struct pdet_notes){ k->m.notes, k->m.notes_len };
	if (r == 0 && pdet_notes_vmcoreinfo(notes, &text, &len))
		r = pdet_memory_take_vmcoreinfo(&k->m, text, len);
	if (r == 0)
		r = take_segments(k, &head);
	pdet_elf_head_free(&head);
	return r < 0 ? pdet_fail(env, ENOMEM, "no memory") : 0;
}

static int kcore_open(struct pdet_memory *m, struct pdet_env *env,
		      const int *fds, size_t n)
{
	struct kcore *k = (struct kcore *)m;

	k->fd = -1;
	pthread_mutex_init(&k->lock, NULL);
	if (n > 1)
		return pdet_fail(env, EINVAL, "it is /proc/kcore, which is one "
				 "file, but %zu files are named", n);
	m->live = true;
	snprintf(m->format, sizeof(m->format), "kcore");
	k->fd = n ? fcntl(fds[0], F_DUPFD_CLOEXEC, 0) :
		    pdet_open(env, "/proc/kcore");
	if (k->fd >= 0)
		return take_head(k, env);
	if (!n)
		errno = -k->fd;
	if (!n && (errno == EACCES || errno == EPERM)) {
		const int error = errno;

		if (pdet_is_locked(env) == 1)
			return pdet_fail(env, EACCES, "it is locked down for "
					 "confidentiality");
		errno = error;
	}
	pdet_fail_errno(env, "cannot open /proc/kcore");
	if (errno == EACCES || errno == EPERM)
		pdet_advise(env, "needs root with CAP_SYS_RAWIO, and no "
			    "lockdown for confidentiality");
	return -pdet_errno_closed(errno);
}

static void kcore_close(struct pdet_memory *m)
{
	struct kcore *k = (struct kcore *)m;

	if (k->fd >= 0)
		close(k->fd);
	pthread_mutex_destroy(&k->lock);
	pdet_vec_free(&k->virt);
	pdet_vec_free(&k->phys);
}

static int kcore_reader_new(struct pdet_memory *m, size_t cache_bytes,
			    struct pdet_reader **ret)
{
	struct kcore_reader *r = calloc(1, sizeof(*r));
	char path[64];

	(void)cache_bytes;
	if (!r)
		return -ENOMEM;
	/*
	 * A process that was passed the descriptor may not be allowed to open
	 * the file.
	 */
	snprintf(path, sizeof(path), "/proc/self/fd/%d",
		 ((const struct kcore *)m)->fd);
	r->fd = open(path, O_RDONLY | O_CLOEXEC);
	r->reader.memory = m;
	*ret = &r->reader;
	return 0;
}

static void kcore_reader_free(struct pdet_reader *base)
{
	struct kcore_reader *r = (struct kcore_reader *)base;

	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

static ssize_t read_file(struct pdet_reader *base, void *buf, size_t n,
			 uint64_t offset)
{
	struct kcore *k = (struct kcore *)base->memory;
	const int fd = ((const struct kcore_reader *)base)->fd;
	ssize_t got;

	if (fd >= 0)
		return pdet_pread(fd, buf, n, offset);
	pthread_mutex_lock(&k->lock);
	got = pdet_pread(k->fd, buf, n, offset);
	pthread_mutex_unlock(&k->lock);
	return got;
}

/* The segment that contains @addr, or NULL if there is none. */
static const struct segment *find(const struct segments *s, uint64_t addr)
{
	size_t first = 0, n = s->n;

	while (n) {
		const struct segment *mid = &s->data[first + n / 2];

		if (addr < mid->first) {
			n /= 2;
		} else if (addr > mid->last) {
			first += n / 2 + 1;
			n -= n / 2 + 1;
		} else {
			return mid;
		}
	}
	return NULL;
}

static int read_from(struct pdet_reader *r, const struct segments *segments,
		     uint64_t addr, void *buf, size_t n)
{
	char *to = buf;
	size_t some;
	ssize_t got;

	for (; n; n -= some, addr += some, to += some) {
		const struct segment *s = find(segments, addr);

		if (!s)
			return -ENOENT;
		some = s->last - addr < n ? (size_t)(s->last - addr) + 1 : n;
		got = read_file(r, to, some, s->offset + (addr - s->first));
		if (got < 0)
			return got == -EACCES ? -EACCES :
			       got == -EFAULT ? -ENOENT : -EIO;
		if ((size_t)got < some)
			return -EIO;
	}
	return 0;
}

static int kcore_read_phys(struct pdet_reader *r, uint64_t addr, void *buf,
			   size_t n)
{
	return read_from(r, &((const struct kcore *)r->memory)->phys, addr,
			 buf, n);
}

static int kcore_read_kvirt(struct pdet_reader *r, uint64_t addr, void *buf,
			    size_t n)
{
	return read_from(r, &((const struct kcore *)r->memory)->virt, addr,
			 buf, n);
}

const struct pdet_memory_ops pdet_memory_kcore = {
	.name = "kcore",
	.source = PAGEDET_SOURCE_KCORE,
	.size = sizeof(struct kcore),
	.probe = kcore_probe,
	.open = kcore_open,
	.close = kcore_close,
	.reader_new = kcore_reader_new,
	.reader_free = kcore_reader_free,
	.read_phys = kcore_read_phys,
	.read_kvirt = kcore_read_kvirt,
};
