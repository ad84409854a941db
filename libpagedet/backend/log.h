/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What a kernel log says about pages: Page Detective's answers, the blocks of
 * dump_page() and reports that name a page, out of lines in any order of
 * writers. A pure parser: it is fed lines and hands out pages.
 *
 * Numbers of pages and addresses are hex, with 0x or without; pids, counts,
 * orders, times, blocks, sectors and inodes of reports are decimal.
 */
#ifndef PDET_BACKEND_LOG_H
#define PDET_BACKEND_LOG_H

#include "base/env.h"
#include "base/text.h"
#include "base/texts.h"
#include "base/vec.h"
#include "schema/batch.h"

/* --- log_line.c: what stands before the text of a line --- */

/* Longest text of a line that is looked at: printk() has 1024 bytes, and a
 * record of /dev/kmsg writes each as "\xNN" at worst. */
#define PDET_LOG_TEXT 4096

struct pdet_log_line {
	struct pdet_scan text;	/* without prefix, escapes and CR */
	bool record;		/* it has the head of a /dev/kmsg record */
	bool user;		/* and was written by a process */
	bool continues;		/* begins with a blank, with nothing before it:
				 * among records no text, but what one of them
				 * is about */
	bool indented;		/* a blank stood before the text */
	bool has_caller;
	uint64_t caller;	/* who wrote it: thread or processor */
	uint64_t seq;		/* of a record */
	char unescaped[PDET_LOG_TEXT];
};

/* pdet_log_line - take a line apart. ret->text is in @line or in *@ret. */
void pdet_log_line(struct pdet_scan line, struct pdet_log_line *ret);

/* --- pages --- */

/* Where the text of something stands in pdet_log_page.text. */
struct pdet_log_text {
	uint32_t at, len;
};

/* One mapping of a page, as Page Detective lists it. */
struct pdet_log_map {
	uint8_t map;		/* PAGEDET_MAP_* */
	uint8_t level;		/* PAGEDET_LEVEL_* */
	bool has_pid;		/* of a user's; else its task is gone */
	bool has_vma;
	uint32_t pid;
	uint64_t vaddr;
	uint64_t entry;		/* the entry itself */
	uint64_t vma_start, vma_end, vma_flags;
	struct pdet_log_text comm, vma_name;
};

struct pdet_log_maps {
	struct pdet_log_map *data;
	size_t n, cap;
};

/* Why Page Detective did not translate an address. */
enum pdet_log_refusal {
	PDET_LOG_REFUSED_NOT = 0,
	PDET_LOG_REFUSED_INPUT,	/* it did not understand the question */
	PDET_LOG_REFUSED_TASK,	/* there is no such task */
	PDET_LOG_REFUSED_KTHREAD, /* it has no address space */
	PDET_LOG_REFUSED_ADDRESS, /* it is no address of a process */
	PDET_LOG_REFUSED_ENTRY	/* the entry maps nothing */
};

enum pdet_log_kind {
	PDET_LOG_DETECTIVE = 1,	/* an answer of Page Detective */
	PDET_LOG_DUMP_PAGE,	/* a block, or a report with one */
	PDET_LOG_REPORT		/* a report without one */
};

/* What was said; pdet_log_page.has. */
enum pdet_log_has {
	PDET_LOG_PFN = 1 << 0,
	PDET_LOG_VIRT = 1 << 2,	/* the question has it, and pid */
	PDET_LOG_META = 1 << 3,	/* "metadata for" */
	PDET_LOG_PAGE = 1 << 4,	/* "page:" with what is in it */
	PDET_LOG_DUMPED_PFN = 1 << 5,
	PDET_LOG_INDEX = 1 << 6,
	PDET_LOG_HEAD = 1 << 7,	/* "head:" of a large folio, with order */
	PDET_LOG_ENTIRE = 1 << 8, /* and entire_mapcount */
	PDET_LOG_PINCOUNT = 1 << 9,
	PDET_LOG_MEMCG_DATA = 1 << 10,
	PDET_LOG_INODE = 1 << 11,
	PDET_LOG_FLAGS = 1 << 12,
	PDET_LOG_NODE = 1 << 13,
	PDET_LOG_TYPE = 1 << 14, /* "page_type:" */
	PDET_LOG_RAW = 1 << 15,	/* first line of "raw:" */
	PDET_LOG_CHAIN = 1 << 16, /* memcgs by name */
	PDET_LOG_KERNEL = 1 << 17, /* kernel mappings were counted */
	PDET_LOG_ZERO = 1 << 18, /* only zeroes */
	PDET_LOG_USERS = 1 << 20, /* user mappings were counted */
	PDET_LOG_FINISHED = 1 << 21,
	PDET_LOG_INVALID = 1 << 22, /* there is no such page */
	PDET_LOG_CMA = 1 << 23,	/* its block is one of CMA's */
};

/* A stack of page_owner's, line by line. */
enum pdet_log_stack_state {
	PDET_LOG_STACK_UNSAID = 0,
	PDET_LOG_STACK_NONE,	/* there is none */
	PDET_LOG_STACK_OPEN,	/* the next line may be a frame */
	PDET_LOG_STACK_LEFT,	/* somebody else's line came: the rest may, if
				 * there is one */
	PDET_LOG_STACK_WHOLE,
	PDET_LOG_STACK_BROKEN	/* a part of it is missing */
};

struct pdet_log_stack {
	enum pdet_log_stack_state state;
	unsigned frames;
	struct pdet_log_text text; /* each with a newline behind it */
};

/* What page_owner's lines behind a block say (log_owner.c). */
struct pdet_log_owner {
	bool kept;		/* there is a record of the page ... */
	bool never;		/* ... or none */
	bool said;		/* the line of the allocation, all of it */
	bool trace;		/* a backtrace of somebody's came later */
	bool last;		/* the last line was one of these, or would be
				 * if it goes on */
	bool reason_lost;
	unsigned has;		/* PDET_OWNER_* */
	uint32_t order, pid, tgid;
	uint64_t gfp_mask, ns, free_ns;
	struct pdet_log_text gfp, comm, reason;
	struct pdet_log_stack alloc, free;
};

struct pdet_log_page {
	enum pdet_log_kind kind;
	enum pdet_log_refusal refusal;
	uint32_t has;		/* PDET_LOG_* */
	uint64_t line;		/* number of its first line */
	uint64_t seq;		/* of the record, if it was one */
	bool partial;		/* a part of it was left out */
	bool old_form;		/* "page:ADDRESS refcount": before 6.9, where
				 * mapcount is the page's sum */
	bool large_rmappable, hugetlb; /* as Page Detective calls it */
	bool anon, ksm;
	bool has_mapping, has_type_word;

	uint64_t pfn;		/* asked about; or dumped, if nobody asked */
	uint64_t phys, virt;
	uint32_t pid;
	uint64_t dumped_pfn;	/* whose struct page is shown */
	uint32_t order;
	int64_t refcount, mapcount;
	uint64_t index;
	uint64_t mapping;	/* perhaps hashed; 0 is none */
	int64_t head_mapcount;	/* of the whole folio */
	int64_t entire, nr_mapped, pincount;
	uint32_t type_word;	/* _mapcount or page_type */
	uint64_t memcg_data, inode;
	uint64_t flags_word;
	uint64_t flags, flags_known; /* PAGEDET_PF bits */
	uint32_t node;
	uint64_t raw;		/* first word of struct page */
	uint64_t kernel_maps, user_maps; /* as it counted them */
	uint64_t bad_entry;	/* of PDET_LOG_REFUSED_ENTRY */
	uint8_t bad_level;
	struct pdet_log_text aops, dentry, page_type, memcg;
	struct pdet_log_owner owner;

	/* reports */
	uint32_t report;	/* PAGEDET_REPORT_* */
	uint8_t form;		/* of log_report.c's table */
	uint8_t shift;		/* bits of an address within a page */
	bool joins;		/* a further line may say the same page */
	bool expects;		/* the next block is of it ... */
	bool needs_block;	/* ... and is part of it */
	bool block;		/* and has come */
	bool over;		/* no line of it comes any more */
	bool found;		/* it says enough to be told */
	bool task;		/* pid is said */
	bool has_address;	/* virt is said */
	bool has_kaddr, hashed;
	bool has_phys;		/* phys is said, and pfn follows */
	bool has_vm_flags, file_index, is_slab, has_dev, has_position;
	uint32_t lines;
	uint64_t kaddr, vm_flags, index_in_file, dev;
	uint64_t position;	/* on that device, in bytes */
	struct pdet_log_text comm, says, cache, file;

	struct pdet_log_maps maps;
	struct { char *data; size_t n, cap; } text;
};

/* pdet_log_page_text - the bytes of @t; NULL and 0 if it was not said. */
static inline struct pdet_scan pdet_log_page_text(const struct pdet_log_page *p,
						  struct pdet_log_text t)
{
	struct pdet_scan s = { NULL, NULL };

	if (t.len) {
		s.at = p->text.data + t.at;
		s.end = s.at + t.len;
	}
	return s;
}

/* pdet_log_entry_present - whether an entry maps anything: bit 0 on all
 * architectures that Page Detective knows; on x86-64 bit 8 where nobody may
 * touch the page (arch/x86/include/asm/pgtable_types.h, _PAGE_PROTNONE). */
static inline bool pdet_log_entry_present(uint64_t entry, bool x86)
{
	return entry & (x86 ? 0x101 : 1);
}

/* --- log.c: lines become pages --- */

struct pdet_log;

struct pdet_log *pdet_log_new(void);

/* pdet_log_page_shift - physical addresses are of a kernel whose pages have
 * 2^@shift bytes; 12 if it is not called. */
void pdet_log_page_shift(struct pdet_log *log, unsigned shift);
void pdet_log_free(struct pdet_log *log);

/* pdet_log_feed - the next line; 0 or -ENOMEM. */
int pdet_log_feed(struct pdet_log *log, struct pdet_scan line);

/* pdet_log_end - there is no more: what is open is as whole as it gets. @cut:
 * the last line may go on. */
int pdet_log_end(struct pdet_log *log, bool cut);

/* pdet_log_take - the next page that is complete, or NULL. Valid until the
 * next call of any of these. */
const struct pdet_log_page *pdet_log_take(struct pdet_log *log);

/* pdet_log_steal - the page that was taken last, now the caller's. */
void pdet_log_steal(struct pdet_log *log, struct pdet_log_page *ret);

void pdet_log_page_free(struct pdet_log_page *p);

/* pdet_log_release - of the kernel that wrote this, if it said so: "6.12.117",
 * else "". */
const char *pdet_log_release(const struct pdet_log *log);

/* --- log_page_detective.c, log_dump_page.c: the grammars. False: @text is no
 * such line. *memory: there was none. --- */
bool pdet_log_detective(struct pdet_log_page *p, struct pdet_scan text,
			bool *memory);
bool pdet_log_dump_page(struct pdet_log_page *p, struct pdet_scan text,
			bool *memory);
/* Whether a line begins a block, and the question of an answer into *p. */
bool pdet_log_dump_page_begins(struct pdet_scan text);
/* Which page that line is about, if it says so. */
bool pdet_log_dump_page_pfn(struct pdet_scan text, uint64_t *ret);
/* "0x20028(uptodate|lru|node=0)": false if it is not that. */
bool pdet_log_flags(struct pdet_log_page *p, struct pdet_scan text);
bool pdet_log_detective_begins(struct pdet_scan text, struct pdet_log_page *p);
/* Why a question has no answer. */
bool pdet_log_detective_refuses(struct pdet_scan text, struct pdet_log_page *p);

/* Keeps a copy of a text with the page. */
bool pdet_log_keep(struct pdet_log_page *p, struct pdet_scan text,
		   struct pdet_log_text *ret);

/* --- log_report.c: reports that name a page --- */

/* Does a line begin one, into *p, which is empty? Is it a further one of @p? */
bool pdet_log_report_begins(struct pdet_log_page *p, struct pdet_scan text,
			    bool *memory);
bool pdet_log_report_takes(struct pdet_log_page *p, struct pdet_scan text,
			   bool *memory);
/* log_poison.c: what a further line said of the same page, @q, into what is
 * known, @p; false if it cannot be the same report. */
bool pdet_log_poison_joins(struct pdet_log_page *p,
			   const struct pdet_log_page *q, bool *memory);
/* How many lines of others may stand in between. */
unsigned pdet_log_patience(const struct pdet_log_page *p);
/* Whether what was said makes a row. */
bool pdet_log_names_something(const struct pdet_log_page *p);

/* --- log_owner.c: page_owner's lines behind a block, and its fields --- */

/* As above. @indented: a blank stood before @text. */
bool pdet_log_owner(struct pdet_log_page *p, struct pdet_scan text,
		    bool indented, bool *memory);
/* The line is another's. */
void pdet_log_owner_other(struct pdet_log_page *p, struct pdet_scan text);
/* Some lines are lost. */
void pdet_log_owner_hole(struct pdet_log_page *p);
/* No line comes any more; @cut: the last one may go on. */
void pdet_log_owner_end(struct pdet_log_page *p, bool cut);

/* pdet_log_stacks - the stacks of @p into @ret, by the ids that rows have.
 * False without memory. */
bool pdet_log_stacks(const struct pdet_log_page *p, struct pdet_texts *ret);

/* --- log_rows.c: pages become rows --- */

/* The fields that a text can tell of a page, and those with what only reports
 * have. */
struct pdet_fields pdet_log_fields(void);
struct pdet_fields pdet_log_said_fields(void);

/* pdet_log_put - all columns of @b that can be told from @p, into @row; of
 * @want only. @source: who says so. */
void pdet_log_put(const struct pdet_log_page *p, struct pdet_batch *b,
		  uint32_t row, const struct pdet_fields *want,
		  unsigned source);

/* What a row of the text claims, so that one of the kernel can be held against
 * it. */
struct pdet_log_claim {
	bool has_kind, has_inode, has_refcount;
	unsigned kind;
	uint64_t inode, refcount;
	uint64_t flags, flags_known;
};

void pdet_log_claims(const struct pdet_log_page *p,
		     struct pdet_log_claim *ret);

/* --- log_maps.c: so do their mappings --- */

/* What is about an address of a task, not about the page there. */
#define PDET_LOG_OF_ADDRESS 12
extern const uint8_t pdet_log_of_address[PDET_LOG_OF_ADDRESS];

/* pdet_log_put_map - columns of one mapping of it, like those of an address of
 * a task. */
void pdet_log_put_map(const struct pdet_log_page *p,
		      const struct pdet_log_map *m, struct pdet_batch *b,
		      uint32_t row, const struct pdet_fields *want,
		      unsigned source);

/* pdet_log_put_maps - a row for each that maps something, as ops->told(). */
int pdet_log_put_maps(const struct pdet_log_page *p, size_t *at,
		      struct pdet_batch *b, const struct pdet_fields *want,
		      unsigned source);

/* pdet_log_is_x86 - whether its entries are known to be those of x86-64. */
bool pdet_log_is_x86(const struct pdet_log_page *p);

/* pdet_log_map_name - the name of its VMA, if it can be relied on. */
bool pdet_log_map_name(const struct pdet_log_page *p,
		       const struct pdet_log_map *m, struct pdet_scan *ret);

/* pdet_log_map_of - the mapping that a question about an address of a task is
 * about, if it is listed; else NULL. */
const struct pdet_log_map *pdet_log_map_of(const struct pdet_log_page *p);

#endif
