/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The contract for providers of kernel memory: dumps of several forms,
 * /proc/kcore, BPF. A provider does not translate addresses: kernel/ knows page
 * tables, and asks here for physical bytes.
 *
 * A memory is opened once and then only read, by any number of readers, one for
 * each thread. The caller formats error texts, because it knows the purpose of
 * a read. A read has one of these results:
 *
 *   0         all bytes were read
 *   -ENODATA  the page was excluded when the dump was made
 *   -ENOENT   there is no memory, or nothing is mapped there
 *   -EIO      it should exist but cannot be read: the file is truncated
 *   -EBADMSG  it is damaged: does not decompress, contradicts itself
 *   -ENOSYS   its compression is not built in
 *   -EACCES   the kernel denies access
 *   -ETIMEDOUT the caller no longer waits: stop of the reader
 *   -ENOMEM
 *
 * After a failure the contents of the buffer are undefined.
 */
#ifndef PDET_MEMORY_MEMORY_H
#define PDET_MEMORY_MEMORY_H

#include <errno.h>
#include <stdbool.h>

#include "base/env.h"
#include "base/range.h"
#include "base/stop.h"

struct pdet_memory;

/* One thread's state: buffers and decompressed pages. Providers embed it. */
struct pdet_reader {
	struct pdet_memory *memory;
	struct pdet_stop stop;
};

#define PDET_VIEW_BYTES ((size_t)256 << 10)

/* A few bytes at a kernel virtual address. */
struct pdet_gather {
	uint64_t addr;
	uint32_t size;		/* at most PDET_GATHER_BYTES */
	int32_t error;		/* negative: it cannot be read */
};

/* Most pieces of one call. */
#define PDET_GATHER 256
#define PDET_GATHER_BYTES 1024

struct pdet_memory_ops {
	const char *name;
	unsigned source;	/* PAGEDET_SOURCE_* of its values */
	size_t size;		/* of the struct that embeds pdet_memory */

	/* Returns true if the first bytes of the first file show that this
	 * provider may be able to read the files. A live provider is called
	 * without files. */
	bool (*probe)(struct pdet_env *env, const int *fds, size_t n);
	/* Reads and checks headers, notes and tables. The caller owns the
	 * descriptors, and closes them after the memory. Fails with an error
	 * text. */
	int (*open)(struct pdet_memory *m, struct pdet_env *env,
		    const int *fds, size_t n);
	void (*close)(struct pdet_memory *m);

	int (*reader_new)(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret);
	void (*reader_free)(struct pdet_reader *r);

	/* Reads physical addresses, also across pages. NULL: unsupported. */
	int (*read_phys)(struct pdet_reader *r, uint64_t addr, void *buf,
			 size_t n);
	/* The first address from @addr on that may be readable, or UINT64_MAX
	 * if there is none. Everything before it does not exist, was excluded,
	 * or is lost. NULL: unsupported. */
	uint64_t (*next_phys)(struct pdet_reader *r, uint64_t addr);
	/* Reads kernel virtual addresses. NULL: unsupported. */
	int (*read_kvirt)(struct pdet_reader *r, uint64_t addr, void *buf,
			  size_t n);
	/* The same without a copy, for at most PDET_VIEW_BYTES: *ret is valid
	 * until the next view. NULL: unsupported. */
	int (*view_kvirt)(struct pdet_reader *r, uint64_t addr, size_t n,
			  const char **ret);
	/* Reads at most PDET_GATHER pieces at any addresses. *ret has them one
	 * after the other, including unreadable ones. It is valid until the
	 * next call. NULL: unsupported. */
	int (*gather)(struct pdet_reader *r, struct pdet_gather *pieces,
		      size_t n, const char **ret);
	/* The address of the calling thread's task_struct. NULL:
	 * unsupported. */
	int (*current_task)(struct pdet_reader *r, uint64_t *ret);
};

/* Providers embed this as their first member. It has the facts of the headers;
 * 0 and NULL mean that a fact is unknown. */
struct pdet_memory {
	const struct pdet_memory_ops *ops;
	bool live;		/* changes while it is read */
	bool big_endian;
	uint16_t machine;	/* EM_X86_64, EM_AARCH64 ... */
	char format[64];	/* for display: "ELF", "kdump, zstd" */
	char release[65];	/* of the kernel */
	char *vmcoreinfo;	/* text of the note, NUL-terminated */
	size_t vmcoreinfo_len;
	bool vmcoreinfo_given;	/* from the caller, not from memory */
	char *notes;		/* ELF notes, for pdet_notes_next() */
	size_t notes_len;
	struct pdet_ranges ranges; /* physical addresses that exist or existed;
				    * sorted, without overlap */
	uint64_t hole;		/* if there are thousands of ranges, gaps up to
				 * this size are included */
	bool notes_lost;	/* some notes cannot be read */
	uint64_t missing;	/* bytes of memory lost by truncation, as far as
				 * the headers show */
	uint64_t ends_at;	/* bytes of the file that was cut; 0: none was,
				 * as far as the headers show */
	uint64_t whole;		/* its bytes before that; 0: not known */
};

/*
 * The members of the same names, for code that answers queries. They fail with
 * -ETIMEDOUT once the caller no longer waits. Higher rooms use only these.
 */
static inline int pdet_read_phys(struct pdet_reader *r, uint64_t addr,
				 void *buf, size_t n)
{
	return pdet_is_stopped(&r->stop) ? -ETIMEDOUT :
	       r->memory->ops->read_phys(r, addr, buf, n);
}

static inline int pdet_read_kvirt(struct pdet_reader *r, uint64_t addr,
				  void *buf, size_t n)
{
	return pdet_is_stopped(&r->stop) ? -ETIMEDOUT :
	       r->memory->ops->read_kvirt(r, addr, buf, n);
}

static inline int pdet_view_kvirt(struct pdet_reader *r, uint64_t addr,
				  size_t n, const char **ret)
{
	return pdet_is_stopped(&r->stop) ? -ETIMEDOUT :
	       r->memory->ops->view_kvirt(r, addr, n, ret);
}

static inline int pdet_gather(struct pdet_reader *r,
			      struct pdet_gather *pieces, size_t n,
			      const char **ret)
{
	return pdet_is_stopped(&r->stop) ? -ETIMEDOUT :
	       r->memory->ops->gather(r, pieces, n, ret);
}

extern const struct pdet_memory_ops pdet_memory_bpf;
extern const struct pdet_memory_ops pdet_memory_elf;
extern const struct pdet_memory_ops pdet_memory_kcore;
extern const struct pdet_memory_ops pdet_memory_kdump;

/* pdet_is_locked - true if the kernel is locked down for confidentiality. -1 if
 * this is unknown: most containers do not mount securityfs. */
int pdet_is_locked(struct pdet_env *env);

/*
 * pdet_memory_add_range - append a range that is above the others. Returns 0 or
 * -ENOMEM.
 */
int pdet_memory_add_range(struct pdet_memory *m, uint64_t first,
			  uint64_t last);

/* pdet_memory_is_vmcoreinfo - true for the kernel's format: lines of text, the
 * first of which is the release. */
bool pdet_memory_is_vmcoreinfo(const char *text, size_t len);

/* pdet_memory_take_vmcoreinfo - if @text has the kernel's format, copy it to
 * m->vmcoreinfo and set the release. Otherwise do nothing. Returns 0 or
 * -ENOMEM. */
int pdet_memory_take_vmcoreinfo(struct pdet_memory *m, const char *text,
				size_t len);

#endif
