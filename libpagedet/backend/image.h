/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Between the files of the backend that reads a kernel's own structures, out
 * of whatever shows its memory: a dump, /proc/kcore, BPF. What a source of
 * bytes is, is memory/'s business; what the bytes mean is kernel/'s.
 */
#ifndef PDET_BACKEND_IMAGE_H
#define PDET_BACKEND_IMAGE_H

#include "backend/image_kernel.h"
#include "backend/image_page_owner.h"
#include "base/io.h"
#include "kernel/file.h"
#include "kernel/kallsyms.h"
#include "kernel/layout.h"
#include "kernel/memcg.h"
#include "kernel/memmap.h"
#include "kernel/page_run.h"
#include "kernel/pagemap.h"
#include "kernel/paging.h"
#include "kernel/slab.h"
#include "kernel/space.h"
#include "kernel/swap.h"
#include "kernel/tasks.h"
#include "kernel/vma_name.h"
#include "kernel/vmcoreinfo.h"
#include "kernel/vmlinux.h"
#include "kernel/zone.h"
#include "memory/memory.h"

/* Something that is loaded when it is first needed. */
struct image_part {
	bool tried;
	int error;		/* why it is not there: negative errno */
	char advice[PDET_ERROR_SIZE / 2]; /* for people: why */
};

/* Symbols that are looked for among exported ones. */
#define PDET_IMAGE_EXPORTS 3

/* One kernel. What sessions read is only changed by prepare(), which counts
 * `changes` up. */
struct image {
	struct pdet_backend backend;
	const struct pagedet_options *options; /* the handle's */
	struct pdet_memory *memory; /* NULL: a live one that nobody needed */
	int *fds;
	size_t n_fds;
	struct image_part live;	/* opening it */
	unsigned source;	/* PAGEDET_SOURCE_* of all answers */
	uint64_t changes;

	struct pdet_text vmcoreinfo_text; /* given by hand */
	struct pdet_vmcoreinfo info;
	struct pdet_paging paging;
	struct pdet_reader *reader;	/* the caller's thread's */
	struct pdet_space space;

	/* Each needs the one before. */
	struct image_part base;	/* VMCOREINFO and page tables */
	struct image_part pages; /* layout and memory map */
	struct image_part vmlinux_open; /* if one is given */
	struct pdet_vmlinux vmlinux;
	bool vmlinux_types;	/* it has some, and they were needed */
	struct image_part symbols;
	struct pdet_symbol exports[PDET_IMAGE_EXPORTS];
	bool exports_tried;
	struct image_part kinds; /* of the types, what kinds need */
	struct image_part types;
	struct pdet_layout layout;
	struct pdet_memmap memmap;
	struct pdet_kallsyms kallsyms;
	void *btf_data;
	struct pdet_btf *btf;
	struct pdet_page_zeros zeros;

	bool huge_index;	/* hugetlb counts the index in huge pages */
	struct image_part memcgs;
	struct pdet_memcgs memcg_types;
	struct image_part slabs;
	struct pdet_slabs slab_types;
	struct image_part files;
	struct pdet_files file_types;
	struct pdet_paths path_types;
	struct image_part lists; /* of filesystems and inodes */
	uint64_t super_blocks;	/* address of the first */
	uint64_t mnt_ns;	/* of the first process; 0: unknown */
	struct image_part tasks;
	bool other_pids;	/* the caller's are not those of the list */
	struct pdet_tasks task_types;
	struct pdet_mms mm_types;
	struct pdet_vma_names name_types;
	struct pdet_pagemap pagemap;
	struct pdet_swap_form swap_form;
	struct image_part zones;
	struct pdet_zones zone_list;
	struct image_part kernel_areas; /* of the kernel's half of addresses */
	struct image_part kernel_names; /* of what is there */
	struct image_kernel kernel;
	struct image_part page_owners, pageblocks;
	struct image_page_owner page_owner;
	struct image_bytes {	/* of a running kernel */
		struct pdet_ranges ram;	/* bytes; none: not known */
		bool unaccepted; /* there is memory that must not be read */
		uint64_t direct; /* mapping of /proc/kcore, or why not */
		int direct_error;
	} bytes;
};

struct image_owners;
struct pdet_page_fold;

/* One thread's. */
struct image_session {
	struct pdet_session session;
	struct image *image;
	uint64_t changes;	/* of the image, when it was set up */
	struct pdet_reader *reader;
	struct pdet_space space;
	struct pdet_page_run run;
	char *pages;		/* struct pages */
	/* of pages of a run, as they are decoded */
	struct image_columns {
		uint8_t *is, *kind, *mapcount_kind, *order;
		uint16_t *has, *bad;
		int16_t *error;
		uint64_t *flags, *known; /* of rows that are folded */
		/* of owners, where they are wanted */
		uint64_t *mapping, *index, *head, *memcg, *cache;
		void *memory;
		uint32_t cap;
		bool has_owners;
	} column;
	struct pdet_page_fold *fold;
	struct image_owners *owners;
	/* Of a dump, ascending: filled when a second one is asked for. */
	struct {
		struct image_known_task {
			uint32_t pid;
			uint64_t addr;
		} *data;
		size_t n, cap;
	} tasks;
	unsigned finds;
	bool lacks_types;	/* something that was asked for would be known
				 * with them */
	struct pdet_kernel_counts *counts;
	struct image_stacks *stacks;
	char *records;		/* of page owners, as they are read */
};

static inline struct image *image_of(struct pdet_backend *b)
{
	return (struct image *)b;
}

/* With all that was learned of the kernel since it was asked last: a task that
 * one session has opened may be walked with another. */
static inline struct image_session *image_session_of(struct pdet_session *base)
{
	struct image_session *s = (struct image_session *)base;
	struct image *im = s->image;

	if (s->changes != im->changes) {
		pdet_space_init(&s->space, s->reader, &im->paging);
		pdet_page_run_init(&s->run, &im->layout, &s->space);
		s->run.zeros = im->zeros;
		s->changes = im->changes;
	}
	return s;
}

/* --- image.c: opens a live source when it is needed --- */
int pdet_image_open_live(struct image *im, struct pdet_env *env);

/* --- image_load.c: what is known of the kernel, as it is needed. 0, or
 * negative errno with why in the part; no words. Caller's thread --- */
int pdet_image_base(struct image *im, struct pdet_env *env);
int pdet_image_pages(struct image *im, struct pdet_env *env);
int pdet_image_types(struct image *im, struct pdet_env *env);
int pdet_image_memcgs(struct image *im, struct pdet_env *env);
int pdet_image_slabs(struct image *im, struct pdet_env *env);
int pdet_image_zones(struct image *im, struct pdet_env *env);
/* Inodes and their paths. */
int pdet_image_files(struct image *im, struct pdet_env *env);
/* Lists of inodes; of a kernel that stands still only. */
int pdet_image_lists(struct image *im, struct pdet_env *env);
/* All that is needed for tasks, their areas and page tables. */
int pdet_image_task_types(struct image *im, struct pdet_env *env);
/* image_symbols.c: addresses of functions and, of a dump whose kernel does not
 * name its data, of what it exports. */
int pdet_image_symbols(struct image *im, struct pdet_env *env);
void pdet_image_find(struct image *im, struct pdet_env *env,
		     struct pdet_symbol *symbols, size_t n);
/* The same without keeping all, for who will need no more than these. */
void pdet_image_pick(struct image *im, struct pdet_env *env,
		     struct pdet_symbol *symbols, size_t n);
/* image_vmcoreinfo.c: what the caller gave: read, as it is needed to open a
 * dump; and compared with what the dump has. 0, also without; negative errno
 * with words. */
int pdet_image_read_vmcoreinfo(struct image *im, struct pdet_env *env);
int pdet_image_check_vmcoreinfo(struct image *im, struct pdet_env *env);
/* image_vmlinux.c: the file that the caller gave is that of this kernel: 0,
 * also without one; negative errno with words. */
int pdet_image_vmlinux(struct image *im, struct pdet_env *env);
/* Its symbols, where the kernel has them in memory. False: it has none, or
 * where they are cannot be told. */
bool pdet_image_vmlinux_symbols(struct image *im, struct pdet_env *env,
				struct pdet_kallsyms *ret);
void pdet_image_vmlinux_close(struct image *im);
/* image_types.c: im->btf, out of the first place that has it, and the layout.
 * 0, or negative errno with words. */
int pdet_image_find_types(struct image *im, struct pdet_env *env);
void pdet_image_drop_types(struct image *im);
/* image_kinds.c: enough for kinds and flags, as soon as possible; only where
 * the huge zero page is may stay unknown. */
int pdet_image_kinds(struct image *im, struct pdet_env *env);
/* Of the running kernel: a page that is only read is the zero page. */
void pdet_image_look_at_zero(struct image *im, struct pdet_env *env);
/* --- image_load.c: the same by symbols --- */
#define PDET_IMAGE_ZERO "empty_zero_page"
#define PDET_IMAGE_HUGE_ZERO "huge_zero_pfn"
void pdet_image_set_zeros(struct image *im, const struct pdet_symbol *page,
			  const struct pdet_symbol *huge);
/* The part's failure, in words: its error. */
int pdet_image_fail(struct pdet_env *env, const struct image_part *part);
/* The failure in @env becomes the part's: its error. */
int pdet_image_note(struct image_part *part, struct pdet_env *env, int error);
int pdet_image_note_like(struct image_part *part,
			 const struct image_part *needs);
void pdet_image_unload(struct image *im);

/* --- image_owner.c: the inode whose pages a struct address_space has; a result
 * of memory/memory.h --- */
struct image_inode {
	uint64_t addr, ino, dev;
};
int pdet_image_inode(struct image_session *s, uint64_t mapping,
		     struct image_inode *ret);

/* --- pdet_image_pages.c: what struct pages say --- */
int pdet_image_fill(struct pdet_session *base, struct pdet_batch *b,
		    const struct pdet_fields *want, unsigned source);
void pdet_image_together(const struct pdet_backend *b, struct pdet_fields *set);
/* One page, as far as it is known; negative errno: its struct page cannot be
 * read. */
struct image_page {
	uint64_t flags, known, mapcount;
	bool has_mapcount;
};
int pdet_image_page(struct image_session *s, uint64_t pfn,
		    struct image_page *ret);
/* PAGEDET_* for a result of memory/memory.h. */
unsigned pdet_image_reason(int error);

/* --- pdet_image_memory.c --- */
int pdet_image_memory(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_ranges *ret);
/* Bytes of memory that a running kernel has, sorted; none: that is hidden. 0,
 * or -ENOMEM without words. */
int pdet_image_ram(const struct image *im, struct pdet_env *env,
		   struct pdet_ranges *ret);

/* --- image_bytes.c: what pages hold --- */
int pdet_image_bytes_prepare(struct image *im, struct pdet_env *env,
			     const struct pdet_wants *wants);
int pdet_image_put_content(struct image_session *s, struct pdet_batch *b,
			   unsigned source);

/* --- image_task.c --- */
int pdet_image_tasks(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t **ret, size_t *n);
int pdet_image_task_open(struct pdet_session *s, uint32_t pid,
			 struct pdet_task **ret);
void pdet_image_task_close(struct pdet_task *t);
void pdet_image_task_name(struct pdet_session *s, struct pdet_task *t);
int pdet_image_task_same(struct pdet_session *s, struct pdet_task *t);

/* --- image_vma.c --- */
int pdet_image_vma_at(struct pdet_session *s, struct pdet_task *t,
		      uint64_t addr, struct pdet_vma *ret);
int pdet_image_vma_first(struct pdet_session *s, struct pdet_task *t);
int pdet_image_vma_next(struct pdet_session *s, struct pdet_task *t,
			struct pdet_vma *ret);

/* --- image_entry.c --- */
int pdet_image_populated(struct pdet_session *s, struct pdet_task *t,
			 uint64_t *at, uint64_t end, struct pdet_range *ret,
			 size_t max);
int pdet_image_entries(struct pdet_session *s, struct pdet_task *t,
		       uint64_t *at, uint64_t end, bool all,
		       struct pdet_batch *b);
int pdet_image_recheck(struct pdet_session *s, struct pdet_task *t,
		       struct pdet_batch *b, uint32_t first, uint32_t n);
int pdet_image_mappings(struct pdet_session *s, struct pdet_task *t,
			uint64_t start, uint64_t end,
			const struct pdet_pfnset *set,
			struct pdet_found_list *ret);

/* --- image_task_stack.c --- */
int pdet_image_threads(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		       size_t *n);
int pdet_image_task_stack(struct pdet_session *s, uint32_t tid,
			  struct pdet_text *ret);

/* --- image_cgroup.c --- */
int pdet_image_cgroup(struct pdet_backend *b, struct pdet_env *env,
		      const char *path, uint64_t **ret, size_t *n);

/* --- image_file.c --- */
int pdet_image_file_open(struct pdet_session *s, const char *path, bool block,
			 struct pdet_file **ret);
void pdet_image_file_close(struct pdet_file *f);
int pdet_image_file_count(struct pdet_session *s, struct pdet_file *f,
			  uint64_t first, uint64_t count, uint64_t *ret);
int pdet_image_file_pages(struct pdet_session *s, struct pdet_file *f,
			  uint64_t *at, uint64_t end, struct pdet_batch *b);
int pdet_image_file_recheck(struct pdet_session *s, struct pdet_file *f,
			    struct pdet_batch *b, uint32_t first, uint32_t n);
int pdet_image_tree_open(struct pdet_session *s, const char *path,
			 uint32_t target, struct pdet_tree **ret);
int pdet_image_tree_next(struct pdet_session *s, struct pdet_tree *t,
			 struct pdet_file **ret);
void pdet_image_tree_close(struct pdet_tree *t);

#endif
