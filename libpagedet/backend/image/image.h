/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Declarations shared by the files of the backend that reads a kernel's own
 * structures. The bytes come from any source of its memory: a dump, /proc/kcore
 * or BPF. memory/ knows these sources, and kernel/ knows what the bytes mean.
 */
#ifndef PDET_BACKEND_IMAGE_IMAGE_H
#define PDET_BACKEND_IMAGE_IMAGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/backend.h"
#include "base/io.h"
#include "base/pairs.h"
#include "kernel/address/areas.h"
#include "kernel/address/kernel_maps.h"
#include "kernel/address/paging.h"
#include "kernel/address/paging_places.h"
#include "kernel/address/percpu.h"
#include "kernel/address/space.h"
#include "kernel/object/file.h"
#include "kernel/object/memcg.h"
#include "kernel/object/open_file.h"
#include "kernel/object/slab.h"
#include "kernel/object/swap.h"
#include "kernel/object/tasks.h"
#include "kernel/object/vma_name.h"
#include "kernel/object/vmap.h"
#include "kernel/owner/names.h"
#include "kernel/owner/page_owner.h"
#include "kernel/owner/stackdepot.h"
#include "kernel/page/memmap.h"
#include "kernel/page/pageblock.h"
#include "kernel/page/pagemap.h"
#include "kernel/page/run.h"
#include "kernel/page/zone.h"
#include "kernel/text/vmcoreinfo.h"
#include "kernel/types/layout.h"
#include "memory/memory.h"
#include "symbol/kallsyms.h"
#include "symbol/modules.h"
#include "symbol/task_stack.h"
#include "symbol/vmlinux.h"

/* A part that is loaded when it is first needed. */
struct image_part {
	bool tried;
	int error;		/* why it is missing: negative errno */
	char advice[PDET_ERROR_SIZE / 2]; /* the reason as text */
};

/* Number of symbols that are searched for among the exported ones. */
#define PDET_IMAGE_EXPORTS 3

#define IMAGE_SECTIONS 5

/* Facts of one kernel; loaded by prepare(). */
struct image_kernel {
	struct pdet_areas areas;
	/* vmalloc areas, modules and symbols; each may be missing. */
	bool has_vmaps, has_modules;
	struct pdet_vmaps vmaps;
	/* For a dump, whether all of them can be read: 0 until a session has
	 * looked, VMAPS_INTACT, or an error of memory/memory.h. */
	_Atomic int vmaps_state;
#define VMAPS_INTACT 1
	struct pdet_modules modules;
	/* The image and its sections, if symbols include its data; otherwise
	 * last is 0. */
	struct pdet_range named;
	struct image_section {
		const char *name;
		struct pdet_range range;
	} section[IMAGE_SECTIONS];
	struct pdet_percpu percpu;
	uint32_t nodes;		/* number of NUMA nodes; 0 if unknown */
	struct pdet_range percpu_symbols; /* per-CPU addresses without the
					   * offset of a processor */
	bool has_stacks;
	bool strange_orc;	/* libpagedet does not know this version */
	struct pdet_task_stacks stacks;
	struct pdet_task_stacks user; /* for registers alone */
};

/* Facts of one kernel; loaded by survey(). */
struct image_page_owner {
	struct pdet_page_owners records;
	/* Each of these may be missing. */
	bool has_depot;
	struct pdet_stackdepot depot;
	struct pdet_gfp_names gfp;
	bool has_mobility;
	struct pdet_gfp_mobility mobility;
	struct pdet_migrate_reasons reasons;
	struct pdet_pageblocks blocks;
	/* Shared by all sessions: the depot handle for each stack id. */
	bool has_lock;
	pthread_mutex_t lock;
	struct pdet_pairs number_of;
};

/* One kernel. Only prepare() changes what sessions read, and increments
 * `changes`. */
struct image {
	struct pdet_backend backend;
	const struct pagedet_options *options; /* of the handle */
	struct pdet_memory *memory; /* NULL: this live source has not been
				     * needed yet */
	int *fds;
	size_t n_fds;
	struct image_part live;	/* opening a live source */
	unsigned source;	/* PAGEDET_SOURCE_* of all answers */
	uint64_t changes;

	struct pdet_text vmcoreinfo_text; /* from the caller */
	struct pdet_vmcoreinfo info;
	struct pdet_paging paging;
	struct pdet_env *env;		/* of the handle */
	struct pdet_reader *reader;	/* of the caller's thread */
	struct pdet_space space;

	/* Each part needs the one before. */
	struct image_part base;	/* VMCOREINFO and page tables */
	struct image_part pages; /* layout and memory map */
	struct image_part vmlinux_open; /* the vmlinux, if one was given */
	struct pdet_vmlinux vmlinux;
	bool vmlinux_types;	/* its types exist and were needed */
	struct image_part symbols;
	struct pdet_symbol exports[PDET_IMAGE_EXPORTS];
	bool exports_tried;
	struct image_part kinds; /* the types that kinds need */
	struct image_part types;
	struct pdet_layout layout;
	struct pdet_memmap memmap;
	struct pdet_kallsyms kallsyms;
	void *btf_data;
	const void *btf_mapped;	/* mapped types of the running kernel; or
				 * NULL */
	size_t btf_len;		/* size of the mapping */
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
	struct image_part lists; /* lists of filesystems and inodes */
	uint64_t super_blocks;	/* address of the list head */
	uint64_t mnt_ns;	/* of process 1; 0: unknown */
	struct image_part open_files; /* of this process */
	struct pdet_open_files open_types;
	struct image_part tasks;
	bool other_pids;	/* the list of tasks has pids of another
				 * namespace than the caller's */
	struct pdet_tasks task_types;
	struct pdet_mms mm_types;
	struct pdet_vma_names name_types;
	struct pdet_pagemap pagemap;
	struct pdet_swap_form swap_form;
	struct image_part zones;
	struct pdet_zones zone_list;
	struct image_part kernel_areas; /* areas of the kernel's address
					 * space */
	struct image_part kernel_names; /* names of addresses in them */
	struct image_kernel kernel;
	struct image_part page_owners, pageblocks;
	struct image_page_owner page_owner;
	struct image_bytes {	/* for a running kernel */
		struct pdet_ranges ram;	/* bytes; empty: unknown */
		bool unaccepted; /* some memory must not be read */
		uint64_t direct; /* direct map for /proc/kcore, or the reason
				  * why it is unknown */
		int direct_error;
	} bytes;
};

struct image_owners;
struct pdet_page_fold;

/* Number of struct pages in one read. */
#define IMAGE_CHUNK 4096

/* One thread's. */
struct image_session {
	struct pdet_session session;
	struct image *image;
	uint64_t changes;	/* of the image at set-up */
	struct pdet_reader *reader;
	struct pdet_space space;
	struct pdet_page_run run;
	char *pages;		/* IMAGE_CHUNK struct pages */
	/* Runs of struct pages that were read ahead. */
	struct image_ahead {
		struct pdet_gather piece[PDET_GATHER];
		size_t n, at;
		const char *bytes;	/* of the pieces from @at on */
	} ahead;
	/* decoded columns of a run */
	struct image_columns {
		uint8_t *is, *kind, *mapcount_kind, *order;
		uint16_t *has, *bad;
		int16_t *error;
		uint64_t *flags, *known; /* of folded rows */
		/* of owners, if requested */
		uint64_t *mapping, *index, *head, *memcg, *cache;
		void *memory;
		uint32_t cap;
		bool has_owners;
	} column;
	struct pdet_page_fold *fold;
	struct image_owners *owners;
	struct pdet_directories dirs;
	uint64_t dirs_ns;	/* of a running kernel: since when */
	struct pdet_super super; /* the last one; address 0: none */
	/* The last slab of the batch: its objects follow each other. */
	struct image_slab {
		bool is_read;
		uint64_t head;	/* its first page */
		int error;	/* 0, or why it cannot be read */
		int more;	/* 0, or why other objects may be free, too */
		struct pdet_slab slab;
		struct pdet_slab_cache cache;
		struct pdet_slab_set free;
	} slab;
	struct pdet_paging_places places; /* only for a dump */
	/*
	 * The list of tasks, ascending by pid; filled when a second task is
	 * opened.
	 */
	struct {
		struct image_known_task {
			uint32_t pid;
			uint64_t addr;
		} *data;
		size_t n, cap;
	} tasks;
	unsigned finds;
	bool lacks_types;	/* more could be answered if the types were
				 * known */
	struct pdet_kernel_counts *counts;
	struct image_stacks *stacks;
	char *records;		/* buffer of page_owner records */
};

static inline struct image *image_of(struct pdet_backend *b)
{
	return (struct image *)b;
}

/* Brings the session up to date with the image, because one session may walk a
 * task that another has opened. */
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

/* The files of the room. A file calls only files above it in this list. Some
 * files have a header of their own. */

/* --- vmcoreinfo.c: the VMCOREINFO that the caller gave. The first function
 * reads it, because opening a dump needs it. The second one compares it with
 * the dump's own. Both return 0, also if the caller gave none, or a negative
 * errno with an error text. --- */
int pdet_image_read_vmcoreinfo(struct image *im, struct pdet_env *env);
int pdet_image_check_vmcoreinfo(struct image *im, struct pdet_env *env);

/* --- image.c: the memory, and the reason why something is not known --- */
/* Fail with the part's error and text. */
int pdet_image_fail(struct pdet_env *env, const struct image_part *part);
/* Move the failure in @env to the part. Returns its error. */
int pdet_image_note(struct image_part *part, struct pdet_env *env, int error);
/* If @error is -EIO and the dump was cut, add that to the error text. */
void pdet_image_say_cut(const struct image *im, struct pdet_env *env,
			int error);
int pdet_image_note_like(struct image_part *part,
			 const struct image_part *needs);
/*
 * PAGEDET_* for a result of memory/memory.h. The second function is for
 * structures that a running kernel may be changing.
 */
unsigned pdet_image_reason(int error);
unsigned pdet_image_kernel_reason(const struct image_session *s, int error);
/* Fails with words. */
int pdet_image_reader_new(struct image *im, struct pdet_env *env,
			  struct pdet_reader **ret);
/*
 * Finish opening the image once im->memory is open. Closes the memory on
 * failure, and sets an error text.
 */
int pdet_image_opened(struct image *im, struct pdet_env *env);
/* Open a live source when it is needed. Returns 0, or a negative errno with the
 * reason in the part and without an error text. This function and all load
 * functions below run on the caller's thread. */
int pdet_image_open_live(struct image *im, struct pdet_env *env);
int pdet_image_base(struct image *im, struct pdet_env *env);

/* --- vmlinux.c --- */
/* Check that the vmlinux that the caller gave is that of this kernel. Returns
 * 0, also if the caller gave none, or a negative errno with an error text. */
int pdet_image_vmlinux(struct image *im, struct pdet_env *env);
/* Its symbols, relocated to their addresses in memory. Returns false if it has
 * no symbols, or if the relocation is unknown. */
bool pdet_image_vmlinux_symbols(struct image *im, struct pdet_env *env,
				struct pdet_kallsyms *ret);
void pdet_image_vmlinux_close(struct image *im);

/* --- symbols.c: addresses of functions. If a dump's kernel does not name its
 * data, also addresses of exported data. --- */
int pdet_image_symbols(struct image *im, struct pdet_env *env);
void pdet_image_find(struct image *im, struct pdet_env *env,
		     struct pdet_symbol *symbols, size_t n);
/* The same without keeping the table. For callers that need no other symbol. */
void pdet_image_pick(struct image *im, struct pdet_env *env,
		     struct pdet_symbol *symbols, size_t n);
int pdet_image_symbol_at(struct pdet_backend *b, struct pdet_env *env,
			 const char *name, uint64_t *ret);

/* --- types.c: fills im->btf from the first place that has it, and the layout.
 * Returns 0, or a negative errno with an error text. --- */
int pdet_image_find_types(struct image *im, struct pdet_env *env);
void pdet_image_drop_types(struct image *im);

/* --- kinds.c: loads just enough for kinds and flags, as fast as possible. Only
 * the place of the huge zero page may stay unknown. --- */
int pdet_image_kinds(struct image *im, struct pdet_env *env);
/* Which frames are zero pages, by symbols. */
#define PDET_IMAGE_ZERO "empty_zero_page"
#define PDET_IMAGE_HUGE_ZERO "huge_zero_pfn"
void pdet_image_set_zeros(struct image *im, const struct pdet_symbol *page,
			  const struct pdet_symbol *huge);
/*
 * The same for the running kernel. A page that was only read shows the zero
 * page.
 */
void pdet_image_look_at_zero(struct image *im, struct pdet_env *env);

/* --- load.c: loads facts of the kernel when they are needed. Returns 0, or a
 * negative errno with the reason in the part and without an error text. --- */
int pdet_image_pages(struct image *im, struct pdet_env *env);
int pdet_image_types(struct image *im, struct pdet_env *env);
int pdet_image_memcgs(struct image *im, struct pdet_env *env);
int pdet_image_slabs(struct image *im, struct pdet_env *env);
int pdet_image_zones(struct image *im, struct pdet_env *env);
/* Inodes and their paths. */
int pdet_image_files(struct image *im, struct pdet_env *env);
/* Lists of inodes. Only for a kernel that is not running. */
int pdet_image_lists(struct image *im, struct pdet_env *env);
/* Everything that tasks, their VMAs and their page tables need. */
int pdet_image_task_types(struct image *im, struct pdet_env *env);
void pdet_image_unload(struct image *im);

/* --- memory.c: where there is memory --- */
uint64_t pdet_image_frames_end(struct pdet_backend *b, struct pdet_env *env);
int pdet_image_memory(struct pdet_backend *b, struct pdet_env *env,
		      struct pdet_ranges *ret);
/* Byte ranges of a running kernel's memory, sorted. They are empty if the
 * kernel hides them. Returns 0, or -ENOMEM without an error text. */
int pdet_image_ram(const struct image *im, struct pdet_env *env,
		   struct pdet_ranges *ret);
/* Fill NODE and ZONE of all rows. KIND must already be filled. */
void pdet_image_put_zones(const struct image_session *s, struct pdet_batch *b,
			  unsigned source);

/* --- page.c --- */
/* Count the page table entries that map the folio, or a page of it. */
int pdet_image_folio_maps(struct pdet_session *base, uint64_t head,
			  uint64_t *ret);
/* Returns true if the struct pages from @pfn on can be read: *ret is the number
 * of such frames, at most @n, and *addr is the first struct page. Otherwise
 * *ret is the number of frames without one, and *error is 0 if there is no
 * memory, or a result of memory/memory.h. */
bool pdet_image_has_pages(const struct image *im, uint64_t pfn, uint32_t n,
			  uint32_t *ret, uint64_t *addr, int *error);
/* What is known about one page. Returns a negative errno if its struct page
 * cannot be read. */
struct image_page {
	uint64_t flags, known, mapcount;
	bool has_mapcount;
};
int pdet_image_page(struct image_session *s, uint64_t pfn,
		    struct image_page *ret);
/* Find the head of a page's folio, and the kind of the page (PAGEDET_KIND_*).
 * Returns 0, or a result of memory/memory.h. */
int pdet_image_folio(struct image_session *s, uint64_t pfn, uint64_t *head,
		     unsigned *kind);
/* See kind in backend.h. */
unsigned pdet_image_kind(struct pdet_session *base, uint64_t pfn,
			 unsigned *kind, bool *uncounted);

/* --- bytes.c: what pages hold --- */
int pdet_image_bytes_prepare(struct image *im, struct pdet_env *env,
			     const struct pdet_wants *wants);
int pdet_image_put_content(struct image_session *s, struct pdet_batch *b,
			   unsigned source);

/* --- pages.c: what struct pages say --- */
int pdet_image_fill(struct pdet_session *base, struct pdet_batch *b,
		    const struct pdet_fields *want, unsigned source);
void pdet_image_together(const struct pdet_backend *b, struct pdet_fields *set);

/* --- task.c --- */
int pdet_image_task_open(struct pdet_session *s, uint32_t pid,
			 struct pdet_task **ret);
void pdet_image_task_close(struct pdet_task *t);
void pdet_image_task_name(struct pdet_session *s, struct pdet_task *t);
int pdet_image_task_same(struct pdet_session *s, struct pdet_task *t);

/* --- tasks.c --- */
int pdet_image_tasks(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t **ret, size_t *n, uint64_t *lost);
int pdet_image_list_tasks(struct pdet_backend *b, struct pdet_env *env,
			  bool processes, struct pagedet_task **ret, size_t *n,
			  uint64_t *lost);
int pdet_image_damon(struct pdet_backend *b, struct pdet_env *env,
		     uint32_t thread, struct pdet_damon_context *ret);

/* --- log.c --- */
int pdet_image_kernel_log(struct pdet_backend *b, struct pdet_env *env,
			  pagedet_log_record_fn *fn, void *user,
			  uint64_t *lost);

/* --- vma.c --- */
int pdet_image_vma_at(struct pdet_session *s, struct pdet_task *t,
		      uint64_t addr, struct pdet_vma *ret);
int pdet_image_vma_first(struct pdet_session *s, struct pdet_task *t);
int pdet_image_vma_next(struct pdet_session *s, struct pdet_task *t,
			struct pdet_vma *ret);

/* --- entry.c --- */
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

/* --- task_stack.c --- */
int pdet_image_threads(struct pdet_session *s, uint32_t pid, uint32_t **ret,
		       size_t *n);
int pdet_image_task_stack(struct pdet_session *s, uint32_t tid,
			  struct pdet_text *ret);
int pdet_image_user_regs(struct pdet_session *s, struct pdet_task *t,
			 struct pdet_user_regs *ret);
int pdet_image_user_page(struct pdet_session *s, struct pdet_task *t,
			 uint64_t addr, void *buf);
uint64_t pdet_image_user_space(struct pdet_session *s, struct pdet_task *t);
uint64_t pdet_image_user_maps(struct pdet_session *s, struct pdet_task *t);

/* --- cgroup.c --- */
int pdet_image_cgroup(struct pdet_backend *b, struct pdet_env *env,
		      const char *path, uint64_t **ret, size_t *n);

/* --- open_file.c --- */
/* Load what pdet_image_file_opened() needs. Returns 0, or a negative errno with
 * the reason in the part and without an error text. Runs on the caller's
 * thread. */
int pdet_image_open_files(struct image *im, struct pdet_env *env);
int pdet_image_file_opened(struct pdet_session *s, int fd,
			   const struct pdet_file *as, struct pdet_file **ret);
int pdet_image_file_object(struct pdet_session *s, uint32_t pid, uint32_t fd,
			   uint64_t *addr, uint64_t *bytes);

/* --- file.c --- */
int pdet_image_cached_page(struct pdet_session *s, uint64_t cache,
			   uint64_t index, void *buf);
int pdet_image_file_open(struct pdet_session *s, const char *path, bool block,
			 struct pdet_file **ret);
void pdet_image_file_close(struct pdet_file *f);
int pdet_image_file_count(struct pdet_session *s, struct pdet_file *f,
			  uint64_t first, uint64_t count,
			  struct pdet_file_count *ret);
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
