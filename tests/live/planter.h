/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the parts of the planter share. */
#ifndef TESTS_PLANTER_H
#define TESTS_PLANTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE ((size_t)4096)
#define HUGE ((size_t)2 << 20)
#define MAX_PLANTS 96
#define NO_NUMBER ((uint64_t)-1)

/* One page, or an address without one, and all that is true of it. What is
 * not known stays NULL or NO_NUMBER, and nobody may check it. Lists are
 * separated by commas. */
struct plant {
	const char *name;
	pid_t pid;		/* 0: only in the page cache */
	uintptr_t addr;
	uint64_t pfn;		/* where that is known without the entry */

	const char *kind;	/* "a|b" where the kernel may do either */
	const char *flags_set, *flags_clear;
	const char *flags_unknown; /* to who knows but kpageflags */
	const char *pte_set, *pte_clear, *pte_unknown;
	uint64_t mapcount;
	uint64_t refcount;	/* of the folio */
	uint64_t order;
	uint64_t level;		/* of the entry: 1 pte, 2 pmd */
	const char *vma_name;
	bool charged;		/* to the planter's own cgroup */
	bool no_file;		/* surely of no file */
	bool unread;		/* reading its bytes changes what it is */
	bool io;		/* no memory: the kernel shows no entry */
	const char *content;	/* class of its bytes */
	const char *path;	/* of the file whose page it is */
	uint64_t dev, inode, index;
	/* every mapping there is, or none if that is not known */
	struct {
		pid_t pid;
		uintptr_t addr;
	} mapper[2];
	unsigned n_mappers;
	/* makes it true again, before the words are read */
	void (*renew)(const struct plant *p);
};

struct field {
	pid_t pid;		/* of the planter */
	pid_t child;
	const char *dir;	/* for files; on a real filesystem */
	struct plant plant[MAX_PLANTS];
	unsigned n;
	bool soft_dirty;	/* the kernel has soft-dirty bits */
	bool ksm_lies;		/* KSM is set on every anonymous page */
	bool may_poison;	/* what is poisoned stays so */
	char cgroup[512];	/* path of the planter's own; "" none */
	uint64_t cgroup_ino;
};

/* --- planter.c --- */
/* A new plant, all unknown. */
struct plant *plant_new(struct field *f, const char *name, const void *addr);
/* Says that something cannot be made here. */
void plant_skip(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- planter_make.c, _huge.c, _mark.c, _file.c, _device.c --- */
/* What this kernel does with any page at all. */
void make_first(struct field *f);
/* Before everything else: it forks, and what exists then is shared. */
void make_shared_by_fork(struct field *f);
/* Before all others: it changes every entry that there is. */
void make_soft_clean(struct field *f);
void make_anonymous(struct field *f);
void make_special(struct field *f);
void make_device(struct field *f);
void make_huge(struct field *f);
void make_idle(struct field *f);
void make_pinned(struct field *f);
void make_poisoned(struct field *f);
void make_merged(struct field *f);
void make_swapped(struct field *f);
void make_write_protected(struct field *f);
void make_program(struct field *f);
void make_files(struct field *f);

/* --- planter_make.c: for all who make anonymous pages --- */
#define ELSE_CLEAR "slab,buddy,pgtable,nopage,offline,reserved,zero_page"
#define ANON_SET "anon,uptodate,swapbacked,mmap"
#define NOT_PRESENT_ELSE "swapped,guard,migration,hwpoison,device"

/* A mapping with a hole on both sides, so that the kernel joins it to no
 * other and its borders are known. */
char *plant_region(size_t pages);
/* Bytes that no other page has. */
void plant_fill(char *page, uint64_t seed);
/* A page of ours that nobody else has. */
struct plant *plant_anon(struct field *f, const char *name, const void *addr);
/* An address where there is no page. */
struct plant *plant_nothing(struct field *f, const char *name,
			    const void *addr, const char *kind);
/* One more mapping. */
void plant_mapped(struct plant *p, pid_t pid, const void *addr);

/* --- planter_words.c --- */
/* Words of our own pagemap and of the kpage files; NO_NUMBER if they cannot
 * be read. */
uint64_t word_pagemap(pid_t pid, uintptr_t addr);
uint64_t word_kpage(const char *name, uint64_t pfn);
uint64_t word_pfn(uint64_t pagemap); /* of a present page, or NO_NUMBER */
uint64_t word_node(const void *addr);
/* Head and order of the folio, from kpageflags. */
void word_folio(uint64_t pfn, uint64_t *head, uint64_t *order);
/* Everything about a plant as one JSON object a line. */
void word_print(const struct field *f, const struct plant *p);
void json_string(const char *text, size_t len);

/* --- planter_keep.c: what is changed on the machine, and put back --- */
int keep_read(const char *path, char *text, size_t size);
int keep_write(const char *path, const char *text);
/* Remembers what is about to be changed. @cgroup: a directory to make ours in,
 * NULL for where we are. */
void keep_begin(const char *cgroup);
/* Puts back what was changed; safe to call when nothing was. */
void keep_end(const char *dir);
/* A cgroup of our own; its path and inode, or "". */
void keep_cgroup(struct field *f);
/* A small swap area; false and why if there is none to be had. */
bool keep_swap(char *why, size_t size);
/* Grows the pool of 2 MB pages by @n. */
bool keep_hugetlb(unsigned n);
/* Large folios of 64 KB and huge pages of shared memory where asked for. */
void keep_large(void);

#endif
