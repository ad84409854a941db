/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Shared by the parts of the planter. */
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
#define PM_PRESENT ((uint64_t)1 << 63)

/*
 * One page, or an address without one, and all that is true of it. Unknown
 * values are NULL or NO_NUMBER, and tests must not check them. Lists are
 * separated by commas.
 */
struct plant {
	const char *name;
	pid_t pid;		/* 0: only in the page cache */
	uintptr_t addr;
	uint64_t pfn;		/* if known without the entry */

	const char *kind;	/* "a|b" if the kernel may do either */
	const char *flags_set, *flags_clear;
	const char *flags_unknown; /* to sources that know only kpageflags */
	const char *pte_set, *pte_clear, *pte_unknown;
	uint64_t mapcount;
	uint64_t refcount;	/* of the folio */
	uint64_t order;
	uint64_t level;		/* level of the entry: 1 pte, 2 pmd */
	const char *vma_name;
	bool charged;		/* charged to the planter's own cgroup */
	bool no_file;		/* certainly of no file */
	bool unread;		/* reading its bytes would change it */
	bool io;		/* not memory: the kernel shows no entry */
	const char *content;	/* class of its bytes */
	const char *path;	/* of the page's file */
	uint64_t dev, inode, index;
	/* Every mapping that exists, or none if that is not known. */
	struct {
		pid_t pid;
		uintptr_t addr;
	} mapper[2];
	unsigned n_mappers;
	/* Makes it true again, before words are read: what the kernel may
	 * undo, beside taking its page. */
	void (*renew)(struct plant *p);
};

struct field {
	pid_t pid;		/* of the planter */
	pid_t child;
	const char *dir;	/* for files, on a real filesystem */
	struct plant plant[MAX_PLANTS];
	unsigned n;
	bool soft_dirty;	/* the kernel has soft-dirty bits */
	bool ksm_lies;		/* every anonymous page has the flag KSM */
	/* Where the child sleeps: return addresses, innermost first. */
	uintptr_t chain[2];
	bool may_poison;	/* -p: poisoned pages stay so */
	char cgroup[512];	/* path of the planter's cgroup; "": none */
	uint64_t cgroup_ino;
};

/* --- planter.c --- */
/* Adds a plant with unknown values. */
struct plant *plant_new(struct field *f, const char *name, const void *addr);
/* Reports that a plant cannot be made here. */
void plant_skip(const char *name, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * New pages wait in a list of the CPU before they are on the LRU and show their
 * final state. This process is bound to one CPU, so it is enough to make the
 * kernel empty that CPU's list.
 */
void plant_drain(void);

/* --- planter_make.c, _huge.c, _mark.c, _file.c, _device.c --- */
/* Plants that every kernel supports. */
void make_first(struct field *f);
/* First of all: it forks, and shares what exists then. */
void make_shared_by_fork(struct field *f);
/* Before all others: it changes every entry. */
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

/* --- planter_make.c: shared by makers of anonymous pages --- */
#define ELSE_CLEAR "slab,buddy,pgtable,nopage,offline,reserved,zero_page"
#define ANON_SET "anon,uptodate,swapbacked,mmap"
#define NOT_PRESENT_ELSE "swapped,guard,migration,hwpoison,device"

/*
 * A mapping with a gap on both sides, so that the kernel merges it with no
 * other one and its borders are known.
 */
char *plant_region(size_t pages);
/* Fills a page with unique bytes. */
void plant_fill(char *page, uint64_t seed);
/* Adds a page that only this process has. */
struct plant *plant_anon(struct field *f, const char *name, const void *addr);
/* Adds an address without a page. */
struct plant *plant_nothing(struct field *f, const char *name,
			    const void *addr, const char *kind);
/* Adds one more mapping. */
void plant_mapped(struct plant *p, pid_t pid, const void *addr);

/* --- planter_words.c --- */
/*
 * Words of this process's pagemap and of the kpage files; NO_NUMBER if they
 * cannot be read.
 */
uint64_t word_pagemap(pid_t pid, uintptr_t addr);
uint64_t word_kpage(const char *name, uint64_t pfn);
uint64_t word_pfn(uint64_t pagemap); /* of a present page, or NO_NUMBER */
uint64_t word_node(const void *addr);
/* Head and order of the folio, from kpageflags. */
void word_folio(uint64_t pfn, uint64_t *head, uint64_t *order);
/* Prints a plant as one line of JSON. */
void word_print(const struct field *f, struct plant *p);
void json_string(const char *text, size_t len);

/*
 * --- planter_keep.c: settings of the machine that are changed and restored ---
 */
int keep_read(const char *path, char *text, size_t size);
int keep_write(const char *path, const char *text);
/*
 * Waits until no other test of this machine has settings changed, and saves
 * those that will be changed. @cgroup: parent directory of the new cgroup; NULL
 * is the current one. Call it once, before anything is made that is to be
 * removed: a signal may end the wait, and the process.
 */
void keep_begin(const char *cgroup);
/* Restores the settings. Safe to call if nothing was changed. */
void keep_end(const char *dir);
/* Makes a cgroup; sets its path and inode, or "". */
void keep_cgroup(struct field *f);
/* Makes a small swap area; returns false and why if that is not possible. */
bool keep_swap(char *why, size_t size);
/* Has KSM scan memory until two pages @are_one; NULL, or why they are not. */
const char *keep_merge(bool (*are_one)(void *user), void *user);
/* Grows the pool of 2 MB pages by @n. */
bool keep_hugetlb(unsigned n);
/* Enables large folios of 64 KB, and huge pages of shared memory on advice. */
void keep_large(void);

#endif
