/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of the module share. */
#ifndef PAGE_DETECTIVE_H
#define PAGE_DETECTIVE_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/page-flags.h>
#include <linux/percpu-rwsem.h>
#include <linux/sched.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/types.h>

/* Two lines of kernels are served. In 6.1 the type of a page is a set of bits,
 * and whatever else is not as in 6.12 goes with that.
 */
#ifdef PAGE_TYPE_BASE
#define PD_6_1 1
#else
#define PD_6_1 0
#endif

/* A lock of an address space is given back after so many entries. */
#define PD_ENTRIES 512

/* --- symbols.c: what the kernel has and does not export --- */

/* NULL: this kernel has it not. */
struct pd_symbols {
	struct mm_struct *init_mm;
	struct percpu_rw_semaphore *mem_hotplug_lock;
	const int *kptr_restrict;
	/* called by these names only */
	const void *stable_page_flags, *lru_add_drain_all;
};

extern struct pd_symbols pd_symbols;

DECLARE_STATIC_CALL(pd_stable_page_flags, stable_page_flags);
DECLARE_STATIC_CALL(pd_lru_add_drain_all, lru_add_drain_all);

int pd_symbols_find(void);
/* The next line of "features", or false behind the last. */
bool pd_symbols_line(unsigned int i, char *buf, size_t size);

/* --- tables.c: page tables, read so that a stale one does no harm --- */

enum pd_level { PD_PTE = 1, PD_PMD, PD_PUD, PD_P4D, PD_PGD };

/* The last entry on the way to an address. */
struct pd_entry {
	int level;
	u64 value;
	bool present, leaf;
	unsigned long pfn;	/* of the address, if it is a leaf */
	unsigned long table;	/* that it leads to, if it is none */
};

const char *pd_level_name(int level);
unsigned long pd_level_size(int level);

/* Down to the entry of @lowest, or the leaf or hole above it. */
int pd_descend(const struct mm_struct *mm, unsigned long addr, int lowest,
	       struct pd_entry *ret);

struct pd_walk {
	const struct mm_struct *mm;
	unsigned long pfn;	/* wanted */
	unsigned long addr;	/* goes up to @last, both included */
	unsigned long last;
	unsigned int seen;	/* entries, since the caller set it to 0: no
				 * step goes over PD_ENTRIES
				 */
	bool done;
	u64 table[PTRS_PER_PTE];
	/* 1: it took its time, and the step ends with it; or an error */
	int (*hit)(struct pd_walk *w, unsigned long addr,
		   const struct pd_entry *e);
};

/* Looks at one table, or at one entry of a higher one. */
int pd_walk_step(struct pd_walk *w);

/* --- kernel_maps.c, user_maps.c: who maps a frame --- */

enum pd_where { PD_DIRECT, PD_VMALLOC, PD_KERNEL, PD_USER };

struct pd_map {
	enum pd_where where;
	unsigned long addr;
	int level;
	u64 entry;
	/* of PD_USER: */
	struct task_struct *task;
	const struct mm_struct *mm;
	const struct vm_area_struct *vma;
};

struct pd_maps {
	unsigned long pfn;
	/* as pd_walk.hit */
	int (*found)(struct pd_maps *m, const struct pd_map *map);
	unsigned long counts[PD_USER + 1];
	unsigned long tables;	/* address spaces that were looked at */
	bool skipped;		/* not all of them */
};

/* 0, -EINTR, -ENOMEM, or what @found says. */
int pd_kernel_maps(struct pd_maps *m);
int pd_user_maps(struct pd_maps *m);

/* The address space of a process by any of its threads, the first of which may
 * have ended; and a thread that has it. Both to be put. NULL: there is none.
 */
struct mm_struct *pd_task_mm(struct task_struct *any,
			     struct task_struct **ret);

/* As /proc/PID/maps has it, in a buffer of PATH_MAX; with the lock of the
 * address space held.
 */
void pd_vma_name(const struct vm_area_struct *vma, char *buf, size_t size);

/* --- page.c, page_file.c, content.c: what a frame is --- */

#define PD_PATH 512
#define PD_NAME 64

enum pd_file { PD_FILE_NONE, PD_FILE_HAVE, PD_FILE_BUSY, PD_FILE_UNKNOWN };

struct pd_page {
	unsigned long pfn, head;
	/* There is a struct page that is in use for memory. */
	bool exists;
	/* It stays what it is: there is a reference of ours, or it is reserved.
	 * Else it may change at any time, and less is known.
	 */
	bool held, referenced;
	struct page *page;
	struct folio *folio;	/* if held */

	int refcount;		/* of the folio, ours not counted */
	int mapcount;		/* as kpagecount has it */
	int own_mapcount;	/* of the page without its folio */
	unsigned int order;
	unsigned long flags;	/* of the folio */
	unsigned long page_flags;
	u64 kpageflags;
	unsigned long mapping, index, memcg_data;
	unsigned int type;	/* as it is in struct page; 0 none */
	const char *type_name;
	bool anon, ksm, hugetlb, rmappable, poisoned, offline, reserved;
	int all_mapcount, entire_mapcount, pincount;
	int nr_pages_mapped;	/* -1: this kernel does not count them */
	u64 memcg_ino;		/* 0: not charged, if it is held */
	bool memcg_removed;	/* that is of an ancestor of its own */
	bool has_path;		/* of its cgroup */
	enum pd_file file;
	dev_t dev;
	unsigned long ino;

	/* empty until pd_page_cgroup() and pd_page_file() */
	char memcg[PD_PATH];
	char aops[PD_NAME], dentry[NAME_MAX + 1];
	unsigned long raw[sizeof(struct page) / sizeof(long)];
	unsigned long raw_head[2 * sizeof(struct page) / sizeof(long)];
};

/* Whether this kernel, as it is set now, lets anybody take references. */
bool pd_page_may_hold(void);
/* Both: 0, or -EINTR, and then there is nothing to be put. */
int pd_page_get(struct pd_page *p, unsigned long pfn);
/* The words of struct page itself, after that. */
int pd_page_words(struct pd_page *p);
void pd_page_put(struct pd_page *p);
/* What takes longer: the path of its cgroup, or of that which memcg_ino is; the
 * file that it is of.
 */
void pd_page_cgroup(struct pd_page *p, bool own);
void pd_page_file(struct pd_page *p);

enum pd_content {
	PD_CONTENT_ZERO,
	PD_CONTENT_DATA,
	PD_CONTENT_POISONED,	/* not looked at */
	PD_CONTENT_UNREADABLE,	/* the kernel has no mapping, or memory failed */
	PD_CONTENT_UNKNOWN,	/* no reference to the page, or no memory */
};

enum pd_content pd_content(const struct pd_page *p);
const char *pd_content_how(void);

/* --- virt.c: an address of a task --- */

struct pd_virt {
	unsigned int pid;
	unsigned long addr;
	unsigned long task_size;	/* behind a failure with -ERANGE */
	struct pd_entry entry;		/* behind one with -ENXIO, too */
};

/* -ESRCH no task; -EINVAL it has no address space; -ERANGE not an address of
 * a program; -ENXIO nothing is there; -EINTR killed.
 */
int pd_virt(struct pd_virt *v);

/* --- text.c: an answer that grows --- */

struct pd_text {
	char *data;
	size_t n, size;
	int error;	/* -ENOMEM; -E2BIG: longer than an answer may be */
};

void pd_text_free(struct pd_text *t);
__printf(2, 3) void pd_text_add(struct pd_text *t, const char *fmt, ...);
/* Room for that, and a byte more. */
bool pd_text_reserve(struct pd_text *t, size_t more);

/* A list has many words and numbers, which vscnprintf() would take most of the
 * time of an answer for.
 */
static inline void pd_text_bytes(struct pd_text *t, const char *from, size_t n)
{
	if (t->size - t->n <= n && !pd_text_reserve(t, n))
		return;
	memcpy(t->data + t->n, from, n);
	t->n += n;
}

static __always_inline void pd_text_put(struct pd_text *t, const char *text)
{
	pd_text_bytes(t, text, strlen(text));
}

void pd_text_hex_digits(struct pd_text *t, u64 value);
void pd_text_dec_digits(struct pd_text *t, s64 value);

/* " KEY=0x" or " KEY=", and the number. */
static __always_inline void pd_text_hex(struct pd_text *t, const char *key,
					u64 value)
{
	pd_text_put(t, key);
	pd_text_hex_digits(t, value);
}

static __always_inline void pd_text_dec(struct pd_text *t, const char *key,
					s64 value)
{
	pd_text_put(t, key);
	pd_text_dec_digits(t, value);
}

/* " KEY=TEXT", with whatever is not a plain letter as \xHH. */
void pd_text_field(struct pd_text *t, const char *key, const char *value);

/* --- classic.c, classic_page.c: the files whose answers are in the log --- */

extern const struct file_operations pd_virt_fops, pd_phys_fops;

void pd_classic_page(const struct pd_page *p);

/* --- query*.c: the file that is asked and answers --- */

/* Frames of one query. */
#define PD_MOST_FRAMES 65536

enum pd_verb { PD_ASK_PHYS, PD_ASK_VIRT, PD_ASK_PFN };

struct pd_query {
	enum pd_verb verb;
	bool walk, content, pointers;
	struct pd_virt virt;
	u64 phys;
	struct pd_range {
		unsigned long first, count;
	} *ranges;
	size_t n_ranges, n_frames;
};

int pd_query_parse(struct pd_query *q, char *text);
void pd_query_free(struct pd_query *q);
int pd_query_answer(struct pd_query *q, struct pd_text *t);

extern const struct file_operations pd_query_fops;

/* For all files: only root of the first user namespace. */
int pd_may_open(void);

#endif
