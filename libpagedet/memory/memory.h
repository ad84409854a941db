/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The contract for what reads a kernel's bytes: dumps of several forms,
 * /proc/kcore, BPF. None of them translates an address: what knows page tables
 * is kernel/, which asks here for physical bytes.
 *
 * A memory is opened once and then only read, by any number of readers, one a
 * thread. Words for failures are made by who knows what was wanted; here a
 * read has one of these results:
 *
 *   0         all bytes were read
 *   -ENODATA  left out when the dump was made: the page is excluded
 *   -ENOENT   there is no memory, or nothing is mapped there
 *   -EIO      it should be there and cannot be read: the file is cut short
 *   -EBADMSG  it is there, and damaged: does not decompress, contradicts itself
 *   -ENOSYS   compressed by something that is not built in
 *   -EACCES   the kernel does not let us
 *   -ENOMEM
 *
 * After a failure the buffer holds nothing that may be used.
 */
#ifndef PDET_MEMORY_MEMORY_H
#define PDET_MEMORY_MEMORY_H

#include <stdbool.h>

#include "base/env.h"
#include "base/range.h"

struct pdet_memory;

/* One thread's view of it: buffers, pages that were decompressed. Providers
 * embed it. */
struct pdet_reader {
	struct pdet_memory *memory;
};

#define PDET_VIEW_BYTES ((size_t)256 << 10)

struct pdet_memory_ops {
	const char *name;
	unsigned source;	/* PAGEDET_SOURCE_* of what is read here */
	size_t size;		/* of the struct that begins with pdet_memory */

	/* Could these be ours? Looks at how the first file begins; a live
	 * source is asked with no file. */
	bool (*probe)(struct pdet_env *env, const int *fds, size_t n);
	/* Reads and checks headers, notes and tables; the descriptors stay the
	 * caller's until it has closed the memory. Fails with words. */
	int (*open)(struct pdet_memory *m, struct pdet_env *env,
		    const int *fds, size_t n);
	void (*close)(struct pdet_memory *m);

	int (*reader_new)(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret);
	void (*reader_free)(struct pdet_reader *r);

	/* By physical address; NULL: cannot. May cross pages. */
	int (*read_phys)(struct pdet_reader *r, uint64_t addr, void *buf,
			 size_t n);
	/* From @addr on, the first address that is worth reading: what comes
	 * before it does not exist, was left out, or is lost. UINT64_MAX:
	 * there is none. NULL: that is not known. */
	uint64_t (*next_phys)(struct pdet_reader *r, uint64_t addr);
	/* By kernel virtual address; NULL: cannot. */
	int (*read_kvirt)(struct pdet_reader *r, uint64_t addr, void *buf,
			  size_t n);
	/* The same for at most PDET_VIEW_BYTES, which need not be copied:
	 * *ret is valid until the next view. NULL: cannot. */
	int (*view_kvirt)(struct pdet_reader *r, uint64_t addr, size_t n,
			  const char **ret);
	/* The address of a task_struct, that of the thread that asks. NULL:
	 * cannot. */
	int (*current_task)(struct pdet_reader *r, uint64_t *ret);
};

/* Providers begin with it. What the headers say; 0 and NULL are "they do
 * not". */
struct pdet_memory {
	const struct pdet_memory_ops *ops;
	bool live;		/* changes while it is read */
	bool big_endian;
	uint16_t machine;	/* EM_X86_64, EM_AARCH64 ... */
	char format[64];	/* for people: "ELF", "kdump, zstd" */
	char release[65];	/* of the kernel */
	char *vmcoreinfo;	/* text of the note, with a NUL behind */
	size_t vmcoreinfo_len;
	bool vmcoreinfo_given;	/* by the caller, and not found in it */
	char *notes;		/* ELF notes, for pdet_notes_next() */
	size_t notes_len;
	struct pdet_ranges ranges; /* physical addresses that it has or had;
				 * sorted, without overlap */
	uint64_t hole;		/* where there are thousands, holes of up to
				 * that many bytes are within ranges */
	bool notes_lost;	/* some are there and cannot be read */
	uint64_t missing;	/* bytes of memory that a truncation took, as
				 * far as the headers tell */
};

extern const struct pdet_memory_ops pdet_memory_bpf;
extern const struct pdet_memory_ops pdet_memory_elf;
extern const struct pdet_memory_ops pdet_memory_kcore;
extern const struct pdet_memory_ops pdet_memory_kdump;

/* memory.c: all that this library was built with, NULL at the end. */
extern const struct pdet_memory_ops *const pdet_memories[];

/*
 * pdet_memory_open - by the first provider that knows the files. VMCOREINFO is
 * looked for in memory where the headers have none; the machine is known
 * afterwards. Fails with words that go on after the name of what was opened:
 * "it is ...".
 */
int pdet_memory_open(struct pdet_env *env, const int *fds, size_t n,
		     struct pdet_memory **ret);

/* pdet_memory_open_with - the same; where the headers have no VMCOREINFO, this
 * text, if it is one, spares the search. */
int pdet_memory_open_with(struct pdet_env *env, const int *fds, size_t n,
			  const char *vmcoreinfo, size_t len,
			  struct pdet_memory **ret);
void pdet_memory_close(struct pdet_memory *m);

/* pdet_memory_open_live - the running kernel's, by the first provider that can,
 * out of @sources (PAGEDET_SOURCE_BIT()s). The words of a failure are the first
 * one's. */
int pdet_memory_open_live(struct pdet_env *env, uint32_t sources,
			  struct pdet_memory **ret);

/* pdet_is_locked - whether the kernel is locked down for confidentiality; -1:
 * that cannot be seen, securityfs is not mounted in most containers. */
int pdet_is_locked(struct pdet_env *env);

/* pdet_memory_add_range - behind those that are there; -ENOMEM. */
int pdet_memory_add_range(struct pdet_memory *m, uint64_t first,
			  uint64_t last);

/* pdet_memory_is_vmcoreinfo - as a kernel writes it: lines of text, the first
 * one says the release. */
bool pdet_memory_is_vmcoreinfo(const char *text, size_t len);

/* pdet_memory_take_vmcoreinfo - a copy of @text becomes m->vmcoreinfo and tells
 * the release, if it is what a kernel writes; else nothing. -ENOMEM. */
int pdet_memory_take_vmcoreinfo(struct pdet_memory *m, const char *text,
				size_t len);

#endif
