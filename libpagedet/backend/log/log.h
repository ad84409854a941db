/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses a kernel log for statements about pages: Page Detective's answers,
 * blocks of dump_page(), and reports that name a page. Lines of several writers
 * may be interleaved. The parser does no I/O: the caller feeds it lines, and it
 * returns pages.
 *
 * PFNs and addresses are hex, with or without 0x. pids, counts, orders, times,
 * blocks, sectors and inodes of reports are decimal.
 */
#ifndef PDET_BACKEND_LOG_LOG_H
#define PDET_BACKEND_LOG_LOG_H

#include "base/env.h"
#include "base/text/text.h"
#include "base/text/texts.h"
#include "base/vec.h"
#include "schema/batch.h"

/* --- line.c: the prefix of a line --- */

/* Longest text of a line that is parsed: printk() has 1024 bytes, and a record
 * of /dev/kmsg may escape each as "\xNN". */
#define PDET_LOG_TEXT 4096

/* The time of a line, as far as the line has it. */
struct pdet_log_stamp {
	bool has_us, has_day;
	bool strange;		/* only this line's time goes back, so it may be
				 * of another machine */
	uint64_t us;		/* since boot */
	uint32_t day_s;		/* since midnight, in the log's time zone */
};

/* Facts about the boot that lines belong to. */
struct pdet_log_boot {
	bool has_id, has_banner, has_clock;
	bool marked;		/* the journal's line has come, the banner not
				 * yet */
	bool has_latest;
	uint32_t number;	/* of boots that begin in the log, so far ... */
	uint32_t certain;	/* ... and of those that a line proves: not
				 * kernel time that goes back, nor a banner
				 * without time */
	uint64_t latest_us;	/* the latest kernel time */
	char id[33];
	uint64_t banner;	/* hash of the banner line */
	int64_t booted_s;	/* seconds since 1970 */
	uint8_t page_shift;	/* log2 of the page size; 0: not said */
	uint32_t version;	/* of the kernel, as PDET_LOG_VERSION(); 0: not
				 * said */
};

/* pdet_log_boot.number of what a line with a strange time says. */
#define PDET_LOG_NO_BOOT UINT32_MAX

struct pdet_log_line {
	struct pdet_scan text;	/* without prefix, escapes and CR */
	bool record;		/* it has the head of a /dev/kmsg record */
	bool user;		/* a process wrote it */
	bool of_process;	/* its priority says so, which a relay may have
				 * changed */
	bool continues;		/* begins with a blank and has no prefix: among
				 * records it is a dictionary line, not text */
	bool indented;		/* a blank precedes the text */
	bool has_caller;
	uint64_t caller;	/* thread or processor */
	uint32_t writer;	/* if there is no caller */
	bool adopts;		/* the first line of a writer, and about a page
				 * that is open already */
	uint64_t seq;		/* sequence number of a record */
	struct pdet_log_stamp stamp;
	char unescaped[PDET_LOG_TEXT];
};

#define PDET_LOG_VERSION(major, minor) ((uint32_t)(major) << 16 | (minor))

/* boot.c: pdet_log_version - the version that @release begins with: "4.9.45";
 * 0 if it does not. */
uint32_t pdet_log_version(struct pdet_scan release);

/* What makes a line the first one of another boot. The last two do not prove
 * it. */
enum pdet_log_begins {
	PDET_LOG_BEGINS_NONE = 0,
	PDET_LOG_BANNER,	/* the kernel's first line, "Linux version " */
	PDET_LOG_MARKER,	/* the journal's */
	PDET_LOG_UNTIMED_BANNER, /* no time, or no kernel time as others have */
	PDET_LOG_GOES_BACK	/* kernel time is earlier */
};

/* boot.c: pdet_log_begins_boot - whether a line is the first one of another
 * boot than *@b, or may be. @follows: its record is the next one by number,
 * whatever its time is. */
enum pdet_log_begins pdet_log_begins_boot(const struct pdet_log_boot *b,
					  const struct pdet_log_line *l,
					  bool follows);

/* boot.c: pdet_log_has_time - whether the kernel gave the time of a line. */
bool pdet_log_has_time(const struct pdet_log_line *l);

/* boot.c: pdet_log_boot_line - add the facts of a line to *@b. */
void pdet_log_boot_line(struct pdet_log_boot *b, const struct pdet_log_line *l,
			enum pdet_log_begins begins);

/* pdet_log_behind - set *@ret to the text after the first @word in @line.
 * Returns false if @line does not have @word. */
bool pdet_log_behind(struct pdet_scan line, const char *word,
		     struct pdet_scan *ret);

/* pdet_log_quotation - step over "> " of a mail that quotes the rest of a
 * line. */
void pdet_log_quotation(struct pdet_scan *s);

/* pdet_log_line - split a line. ret->text points into @line or *@ret. */
void pdet_log_line(struct pdet_scan line, struct pdet_log_line *ret);

/* pdet_log_prefix - the length of what stands before the text of a line; 0 if
 * there is nothing, or not certainly a prefix. @scratch is overwritten. */
size_t pdet_log_prefix(struct pdet_scan line, struct pdet_log_line *scratch);

/* --- pages --- */

/* Position of a text in pdet_log_page.text. */
struct pdet_log_text {
	uint32_t at, len;
};

/* A mapping of a page in Page Detective's list. */
struct pdet_log_map {
	uint8_t map;		/* PAGEDET_MAP_* */
	uint8_t level;		/* PAGEDET_LEVEL_* */
	bool has_pid;		/* the task of a user mapping exists */
	bool has_vma;
	uint32_t pid;
	uint64_t vaddr;
	uint64_t entry;		/* raw entry */
	uint64_t vma_start, vma_end, vma_flags;
	struct pdet_log_text comm, vma_name;
};

struct pdet_log_maps {
	struct pdet_log_map *data;
	size_t n, cap;
};

/* The reason why Page Detective did not translate an address. */
enum pdet_log_refusal {
	PDET_LOG_REFUSED_NOT = 0,
	PDET_LOG_REFUSED_INPUT,	/* it did not understand the query */
	PDET_LOG_REFUSED_TASK,	/* no such task */
	PDET_LOG_REFUSED_KTHREAD, /* the task has no address space */
	PDET_LOG_REFUSED_ADDRESS, /* not a user address */
	PDET_LOG_REFUSED_ENTRY	/* the entry is not present */
};

enum pdet_log_kind {
	PDET_LOG_DETECTIVE = 1,	/* an answer of Page Detective */
	PDET_LOG_DUMP_PAGE,	/* a block, or a report with one */
	PDET_LOG_REPORT		/* a report without a block */
};

/* Bits of pdet_log_page.has: the parts that were printed. */
enum pdet_log_has {
	PDET_LOG_PFN = 1 << 0,
	PDET_LOG_VIRT = 1 << 2,	/* the query has it, and pid */
	PDET_LOG_META = 1 << 3,	/* "metadata for" */
	PDET_LOG_PAGE = 1 << 4,	/* "page:" with its values */
	PDET_LOG_DUMPED_PFN = 1 << 5,
	PDET_LOG_INDEX = 1 << 6,
	PDET_LOG_HEAD = 1 << 7,	/* "head:" of a large folio, with order */
	PDET_LOG_ENTIRE = 1 << 8, /* also entire_mapcount */
	PDET_LOG_PINCOUNT = 1 << 9,
	PDET_LOG_MEMCG_DATA = 1 << 10,
	PDET_LOG_INODE = 1 << 11,
	PDET_LOG_FLAGS = 1 << 12,
	PDET_LOG_NODE = 1 << 13,
	PDET_LOG_TYPE = 1 << 14, /* "page_type:" */
	PDET_LOG_RAW = 1 << 15,	/* first line of "raw:" */
	PDET_LOG_CHAIN = 1 << 16, /* memcgs by name */
	PDET_LOG_KERNEL = 1 << 17, /* kernel mappings were counted */
	PDET_LOG_ZERO = 1 << 18, /* all bytes are zero */
	PDET_LOG_USERS = 1 << 20, /* user mappings were counted */
	PDET_LOG_FINISHED = 1 << 21,
	PDET_LOG_INVALID = 1 << 22, /* the page does not exist */
	PDET_LOG_CMA = 1 << 23,	/* its pageblock belongs to CMA */
	PDET_LOG_FLAGS_WORD = 1 << 24, /* the flags as a number */
};

/* State of a page_owner stack, which is printed line by line. */
enum pdet_log_stack_state {
	PDET_LOG_STACK_UNSAID = 0,
	PDET_LOG_STACK_NONE,	/* there is no stack */
	PDET_LOG_STACK_OPEN,	/* the next line may be a frame */
	PDET_LOG_STACK_LEFT,	/* another writer's line came; more frames may
				 * follow */
	PDET_LOG_STACK_WHOLE,
	PDET_LOG_STACK_BROKEN	/* a part is missing */
};

struct pdet_log_stack {
	enum pdet_log_stack_state state;
	unsigned frames;
	struct pdet_log_text text; /* frames, each with a newline */
};

/* page_owner's lines after a block (owner.c). */
struct pdet_log_owner {
	bool kept;		/* the page has a record ... */
	bool never;		/* ... or none */
	bool said;		/* the complete line of the allocation */
	bool trace;		/* another backtrace came later */
	bool last;		/* the last line was one of these, or may be one
				 * when it is complete */
	bool reason_lost;
	unsigned has;		/* PDET_OWNER_* */
	uint32_t order, pid, tgid;
	uint64_t gfp_mask, ns, free_ns;
	struct pdet_log_text gfp, mobility, comm, reason;
	struct pdet_log_stack alloc, free;
};

/* Most pointers of a report that are compared. */
#define PDET_LOG_POINTERS 8

/* The pointers of 8 digits in a report, which may be hashes (pointer.c). */
struct pdet_log_pointers {
	uint32_t seen[PDET_LOG_POINTERS]; /* different ones */
	uint8_t n;
	bool has_slab;		/* a line has a pointer and its offset in the
				 * slab, which give where the slab begins */
	bool contradict;	/* two of these lines do not agree, or a slab
				 * would not begin at a page */
	uint32_t slab;
	uint32_t best;		/* the address of the report, if it is one; 0:
				 * none */
};

/* Most words of a struct page that are kept. */
#define PDET_LOG_WORDS 16

/* What a machine check says of its address. */
struct pdet_log_mce {
	uint64_t status, addr, misc;
	uint8_t bank;
	bool has_status, has_addr, has_misc;
	bool has_vendor;	/* amd, and smca with it, are known */
	bool amd, smca;
};

struct pdet_log_page {
	enum pdet_log_kind kind;
	enum pdet_log_refusal refusal;
	uint32_t has;		/* PDET_LOG_* */
	uint64_t line;		/* number of its first line */
	uint64_t seq;		/* of the record, if there are records */
	struct pdet_log_stamp stamp; /* of that line */
	uint64_t hash;		/* of its text */
	struct pdet_log_boot boot;
	bool past;		/* the log goes on with a later boot ... */
	bool past_unsure;	/* ... or with lines of an earlier time */
	bool partial;		/* a part is missing */
	bool ends_lost;		/* ends of lines are, so nothing follows from
				 * what it lacks */
	bool loses;		/* lines whose writer is not known may be its
				 * own */
	bool old_form;		/* "page:ADDRESS refcount": before 6.9; mapcount
				 * is then the page's total */
	bool bare;		/* Page Detective as a module: its block of
				 * dump_page() has no prefix */
	bool large_rmappable, hugetlb; /* as classified by Page Detective */
	bool anon, ksm;
	bool has_mapping, has_type_word;
	bool stray;		/* a tail that its head does not count: what is
				 * printed of its folio belongs to nobody */
	bool tail;		/* its own words say so */
	bool tail_unsure;	/* another page may be the stray one, which is
				 * printed at the same time; or these words are
				 * damaged */
	bool compound;		/* it has a compound_mapcount */
	bool uninitialized;	/* its struct page was never written */

	uint64_t pfn;		/* the query's, or the dumped page's */
	uint64_t phys, virt;
	uint32_t pid;
	uint64_t dumped_pfn;	/* the page whose struct page is shown */
	uint32_t order;
	int64_t refcount, mapcount;
	uint64_t index;
	uint64_t mapping;	/* may be hashed; 0: none */
	int64_t head_mapcount;	/* of the whole folio */
	int64_t entire, nr_mapped, pincount;
	uint32_t type_word;	/* _mapcount or page_type */
	uint64_t memcg_data, inode;
	uint64_t flags_word;
	uint64_t flags, flags_known; /* PAGEDET_PF bits */
	uint32_t node;
	uint64_t raw;		/* first word of struct page */
	uint64_t words[PDET_LOG_WORDS];
	uint8_t n_words, word_bytes;
	uint64_t kernel_maps, user_maps; /* counted by Page Detective */
	uint64_t bad_entry;	/* for PDET_LOG_REFUSED_ENTRY */
	uint8_t bad_level;
	struct pdet_log_text aops, dentry, page_type, memcg;
	struct pdet_log_owner owner;

	/* reports */
	uint32_t report;	/* PAGEDET_REPORT_* */
	uint8_t form;		/* index in report.c's table */
	uint8_t shift;		/* log2 of the page size; 0: not known */
	bool joins;		/* a later line may be about the same page */
	bool expects;		/* the next block belongs to it ... */
	bool needs_block;	/* ... and is required */
	bool block;		/* the block has come */
	bool over;		/* it is complete */
	bool found;		/* enough is known for a row */
	bool task;		/* pid is known */
	bool has_address;	/* virt is known */
	bool has_kaddr, hashed;
	bool may_be_hashed;	/* nothing tells whether an address is a hash */
	bool has_phys;		/* phys is known; pfn follows from it */
	struct pdet_log_mce mce;
	bool mcelog;		/* it is in the words of that program */
	bool wants_pc;		/* registers follow, with the address of the
				 * instruction */
	bool has_levels;	/* entries has all levels */
	bool has_vm_flags, file_index, is_slab, has_dev, has_position;
	uint32_t lines;
	bool sectioned;		/* the type of its section has come */
	bool typed;		/* the type of its error has come */
	bool injected;		/* a memory error that a test has asked for */
	bool again;		/* a memory error that was reported before */
	bool pageless;		/* its memory has no struct page */
	bool marked;		/* a line says that its struct page was marked,
				 * not only who was killed */
	uint32_t found_by;	/* PAGEDET_REPORT_* of hardware or firmware that
				 * reported the page in this boot; 0: none */
	struct pdet_log_text hardware[3]; /* the same in their words: machine
				 * check, EDAC, APEI */
	bool remembers;		/* the reason ends with what was said before of
				 * a memory error */
	uint64_t kaddr, vm_flags, index_in_file, dev;
	struct pdet_log_pointers pointers;
	uint64_t serial;	/* tells its lines from those of another report:
				 * the number of KFENCE or of the firmware, or
				 * where the slab begins */
	bool has_serial;
	bool accessed;		/* KFENCE: the line of the access has come */
	bool object;		/* the line of the object has come */
	bool wants_object;	/* the line of its object is to come */
	bool crowded;		/* others are printed at the same time */
	bool mixed;		/* frames of others may come */
	bool erred;		/* its own "kernel BUG at" or WARNING came */
	bool task_lost;		/* the line of its task may have come */
	bool others;		/* another error is printed */
	uint64_t position;	/* position on that device, in bytes */
	struct pdet_log_text comm, says, cache, file;
	struct pdet_log_text why; /* "page dumped because:" and similar */
	struct pdet_log_text reason; /* instead of these two */
	struct pdet_log_text exact; /* the same with addresses of the kernel */
	struct pdet_log_text entries; /* of page tables, in words */

	struct pdet_log_maps maps;
	struct { char *data; size_t n, cap; } text;
};

/* pdet_log_page_text - the bytes of @t; NULL and 0 if it was not printed. */
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

/* pdet_log_entry_present - true if an entry is present: bit 0 on all
 * architectures of Page Detective; on x86-64 also bit 8, for PROT_NONE
 * (arch/x86/include/asm/pgtable_types.h, _PAGE_PROTNONE). */
static inline bool pdet_log_entry_present(uint64_t entry, bool x86)
{
	return entry & (x86 ? 0x101 : 1);
}

/* --- log.c: assembles pages from lines --- */

struct pdet_log;

struct pdet_log *pdet_log_new(void);

/* pdet_log_page_shift - set the page size, 2^@shift bytes, of the machine that
 * wrote the log, for pages of which the log itself does not say it. Without it
 * a physical address is not a page. */
void pdet_log_page_shift(struct pdet_log *log, unsigned shift);
/* pdet_log_settle - the same for one page that lacks it, once its machine is
 * known. */
void pdet_log_settle(struct pdet_log_page *p, unsigned shift);
/* pdet_log_tell_sizeless - warn of a physical address that cannot become a page
 * frame number, once: *@told becomes true. @name: of the log. */
void pdet_log_tell_sizeless(struct pdet_env *env, const struct pdet_log_page *p,
			    const char *name, bool *told);
void pdet_log_free(struct pdet_log *log);

/* pdet_log_feed - process the next line; 0 or -ENOMEM. */
int pdet_log_feed(struct pdet_log *log, struct pdet_scan line);

/* pdet_log_end - end of the log: complete all open pages. @cut: the last line
 * may be incomplete. */
int pdet_log_end(struct pdet_log *log, bool cut);

/* pdet_log_in_order - return pages in the order of their first lines. A
 * complete page waits for earlier ones. */
void pdet_log_in_order(struct pdet_log *log);

/* pdet_log_take - the next complete page, or NULL. Valid until the next call of
 * one of these functions. */
struct pdet_log_page *pdet_log_take(struct pdet_log *log);

/* pdet_log_steal - move the page taken last to the caller. */
void pdet_log_steal(struct pdet_log *log, struct pdet_log_page *ret);

void pdet_log_page_free(struct pdet_log_page *p);

/* pdet_log_release - the release of the kernel that wrote the log, if known:
 * "6.12.117", else "". */
const char *pdet_log_release(const struct pdet_log *log);

/* pdet_log_boot - the boot that the last line belongs to. */
const struct pdet_log_boot *pdet_log_boot(const struct pdet_log *log);

/* pdet_log_unread - lines that look as if they began a report, and were not
 * understood. */
uint64_t pdet_log_unread(const struct pdet_log *log);

/* pdet_log_is_rest - whether a line is of a report or block whose first line is
 * lost, if none is open: the reason, the raw words, or the slab. */
bool pdet_log_is_rest(struct pdet_scan text);

/* pdet_log_all - also return reports that name no page, which are otherwise
 * dropped. */
void pdet_log_all(struct pdet_log *log);

/* kind.c: pdet_log_is_log - 1 if @text is a kernel log, 0 if not, or -ENOMEM.
 * Its beginning suffices. */
int pdet_log_is_log(const char *text, size_t len);

/* --- writers.c: finds the writers of lines without callers --- */

/* Most reports that are printed at the same time. */
#define PDET_LOG_WRITERS 4

/* pdet_log_line.writer: any open page may take the line, or none. Other numbers
 * are writers. */
#define PDET_LOG_ANYONE 0
#define PDET_LOG_NOBODY UINT32_MAX

struct pdet_log_writers;

struct pdet_log_writers *pdet_log_writers_new(void);
void pdet_log_writers_free(struct pdet_log_writers *w);

/*
 * pdet_log_writers_take - find the writer of @l, which has no caller.
 * @detective: it is the first line of a block of Page Detective. Returns 0 and
 * sets l->writer; 1 if the line is kept; -EAGAIN if those that are kept must be
 * replayed first; or -ENOMEM.
 */
int pdet_log_writers_take(struct pdet_log_writers *w, struct pdet_log_line *l,
			  uint64_t line, uint64_t heard, bool detective);

/* pdet_log_writers_decide - find the writers of the lines that are held, if all
 * their reports are complete, or @now. Returns 1 if they can be replayed, 0, or
 * -ENOMEM. */
int pdet_log_writers_decide(struct pdet_log_writers *w, uint64_t heard,
			    bool now);

/* pdet_log_writers_next - the next of these lines; false after the last one. */
bool pdet_log_writers_next(struct pdet_log_writers *w, struct pdet_log_line *l,
			   uint64_t *line, uint64_t *heard);

/* pdet_log_writers_forget - a new boot: no report goes on. */
void pdet_log_writers_forget(struct pdet_log_writers *w);

/* pdet_log_writers_lost - whether a line that may belong to the report @id is
 * lost. */
bool pdet_log_writers_lost(const struct pdet_log_writers *w, uint32_t id);
/* pdet_log_writers_traced - whether frames may come that are not those of the
 * report @id. */
bool pdet_log_writers_traced(const struct pdet_log_writers *w, uint32_t id);
/* pdet_log_writers_open - whether @id may print another line. */
bool pdet_log_writers_open(const struct pdet_log_writers *w, uint32_t id);

/* --- page_detective.c, dump_page.c: the grammars. Returns false if @text is
 * another kind of line. *memory becomes false if memory is short. --- */
bool pdet_log_detective(struct pdet_log_page *p, struct pdet_scan text,
			bool *memory);
bool pdet_log_dump_page(struct pdet_log_page *p, struct pdet_scan text,
			bool *memory);
/*
 * Whether a line begins a block. The second function also parses the query of
 * an answer into *p.
 */
bool pdet_log_dump_page_begins(struct pdet_scan text);
/* Whether the block that follows is about a tail without a folio. */
bool pdet_log_dump_page_strays(struct pdet_scan text);
/* The page that the line is about, if it has one. */
bool pdet_log_dump_page_pfn(struct pdet_scan text, uint64_t *ret);
/*
 * Parse "0x20028(uptodate|lru|node=0)". Returns false if it has another form.
 */
bool pdet_log_flags(struct pdet_log_page *p, struct pdet_scan text);
bool pdet_log_detective_begins(struct pdet_scan text, struct pdet_log_page *p);
/* The same for an answer whose query line is lost, from a line that identifies
 * the page. */
bool pdet_log_detective_resumes(struct pdet_scan text, struct pdet_log_page *p);
/* The cgroups of a page. A module may print them without prefix. */
bool pdet_log_chain(struct pdet_log_page *p, struct pdet_scan text,
		    bool *memory);
/* The reason why a query has no answer. */
bool pdet_log_detective_refuses(struct pdet_scan text, struct pdet_log_page *p);

/* pdet_log_event_reason - put the reason of a row into @text: that of the
 * report, what was written over the page, what is known of a memory error.
 * Returns its length, 0 if there is none. PDET_LOG_REASON bytes suffice. */
#define PDET_LOG_REASON (2 * PDET_LOG_TEXT + PDET_LOG_OVERWRITTEN)
size_t pdet_log_event_reason(const struct pdet_log_page *p, char *text,
			     size_t size);

/* Why the log mentions the page; empty if it does not say. */
struct pdet_scan pdet_log_reason(const struct pdet_log_page *p);

/* Make the reason of two texts, with @words between them: "; ", or that and
 * PDET_SAID_BEFORE. What @first says already is not repeated. If they are too
 * long, both are cut, @first only as far as @then needs half of the room. */
bool pdet_log_join_reasons(struct pdet_log_page *p, struct pdet_scan first,
			   const char *words, struct pdet_scan then);

/* overwritten.c: whether something else was written over the struct page, its
 * flags included. What it was goes to @text, also if only other words were. */
#define PDET_LOG_OVERWRITTEN 256
bool pdet_log_overwritten(const struct pdet_log_page *p, char *text,
			  size_t size);
/* Whether a word of @bytes is one byte again and again, neither 0 nor 0xff. */
bool pdet_log_is_fill(uint64_t word, unsigned bytes);

/* Store a copy of a text in the page. */
bool pdet_log_keep(struct pdet_log_page *p, struct pdet_scan text,
		   struct pdet_log_text *ret);

/* --- report.c: reports that name a page --- */

/* Number of other lines after which a report ends. After the head of a KASAN or
 * SLUB report come the stacks of three tasks. */
#define PDET_LOG_PATIENCE 64
#define PDET_LOG_PATIENCE_LONG 512
/* A program's bytes are on the next line, and the task of a list is near. */
#define PDET_LOG_PATIENCE_SHORT 8

/*
 * The first function returns true if a line begins a report, and parses it into
 * *p, which must be empty. The second one returns true if it is another line of
 * @p.
 */
bool pdet_log_report_begins(struct pdet_log_page *p, struct pdet_scan text,
			    bool *memory);
bool pdet_log_report_takes(struct pdet_log_page *p, struct pdet_scan text,
			   bool *memory);
/* How a line fits an open report if nothing says who has printed it. */
enum pdet_log_fit { PDET_LOG_FITS_NOT, PDET_LOG_MAY_FIT, PDET_LOG_FITS };

/* Whether the report may have printed the line: what is in the line proves or
 * disproves it. *tells becomes true if the report would learn from it. */
enum pdet_log_fit pdet_log_report_fits(struct pdet_log_page *p,
				       struct pdet_scan text, bool *tells,
				       bool *memory);

/* "CPU: 1 PID: 58 Comm: modprobe Not tainted", the task of a report. */
struct pdet_log_task {
	uint32_t pid;
	struct pdet_scan comm;	/* and what is behind it */
};

bool pdet_log_task_of(struct pdet_scan text, struct pdet_log_task *ret);
/* Whether a report or block may have printed the line of this task. */
enum pdet_log_fit pdet_log_task_fits(const struct pdet_log_page *p,
				     const struct pdet_log_task *task);
/* Take that line. */
bool pdet_log_task_take(struct pdet_log_page *p, struct pdet_scan text,
			bool *memory);
/* Whether the kernel prints a block for a failed check, which it reports
 * next. */
bool pdet_log_is_check(const struct pdet_log_page *p);
/* Whether its first line names the task and its last one, too: writers.c tells
 * these apart. */
bool pdet_log_is_named(const struct pdet_log_page *p);
/* Whether a backtrace of the kernel belongs to the report. */
bool pdet_log_has_trace(const struct pdet_log_page *p);
/* Whether it also has stacks of allocations and frees. */
bool pdet_log_has_stacks(const struct pdet_log_page *p);
/* Frames of others may come from now on. */
void pdet_log_mix(struct pdet_log_page *p);
/* Whether a line is of an error that has a task, and if the line says it:
 * "WARNING: CPU: 2 PID: 3920 at mm/slub.c:29". */
bool pdet_log_is_error(struct pdet_scan text, uint32_t *pid, bool *has_pid);
/* Whether that error is the report's own. */
bool pdet_log_owns_error(const struct pdet_log_page *p, struct pdet_scan text);
/* poison.c: merge @q, another line about the same page, into @p. Returns false
 * if @q belongs to another report. */
bool pdet_log_poison_joins(struct pdet_log_page *p,
			   const struct pdet_log_page *q, bool *memory);
/* poison.c: @q has ended the handling of the error of @p. */
void pdet_log_poison_ends(struct pdet_log_page *p,
			  const struct pdet_log_page *q);
/* poison.c: no more lines come. */
void pdet_log_poison_cut(struct pdet_log_page *p);
/* Before and after reports of KASAN and KFENCE, and before those of SLUB. */
#define PDET_LOG_SIGNS "=========="
/* kfence.c: a line of signs, which is not the last one: the report was cut off,
 * or another one is printed, too. */
void pdet_log_kfence_parts(struct pdet_log_page *p);
/* kfence.c: the rest of a report of KFENCE is missing. */
void pdet_log_kfence_cut(struct pdet_log_page *p);
/* machine_check.c: no more lines come. Decides whether its address is that of
 * a page, and puts it in words. Returns false if memory is short. */
bool pdet_log_machine_check_ends(struct pdet_log_page *p);
/* The number of lines of others that may come in between. */
unsigned pdet_log_patience(const struct pdet_log_page *p);
/* True if there is enough for a row. */
bool pdet_log_names_something(const struct pdet_log_page *p);
/* Otherwise there is a row, too, if the report is always about memory. */
bool pdet_log_is_about_memory(const struct pdet_log_page *p);

/* pointer.c: decide at the end of a report whether its address is a hash. */
void pdet_log_judge_pointers(struct pdet_log_page *p);

/* --- owner.c: page_owner's lines after a block, and its fields --- */

/* The same for lines of page_owner. If @indented, a blank precedes @text. */
bool pdet_log_owner(struct pdet_log_page *p, struct pdet_scan text,
		    bool indented, bool *memory);
/* The line belongs to another writer. */
void pdet_log_owner_other(struct pdet_log_page *p, struct pdet_scan text);
/* Some lines are lost. */
void pdet_log_owner_hole(struct pdet_log_page *p);
/* The next frame may be added to a stack. */
bool pdet_log_stack_open(const struct pdet_log_page *p);
/* No more lines come. If @cut, the last one may be incomplete. */
void pdet_log_owner_end(struct pdet_log_page *p, bool cut);

/* pdet_log_stacks - put the stacks of @p into @ret, under the ids used in rows.
 * False if memory is short. */
bool pdet_log_stacks(const struct pdet_log_page *p, struct pdet_texts *ret);

/* --- rows.c: converts pages to rows --- */

/* The fields that a block can give for a page. The second function adds the
 * fields that only reports give. */
struct pdet_fields pdet_log_fields(void);
struct pdet_fields pdet_log_said_fields(void);

/* pdet_log_put - fill @row: the columns of @b that are in @want and that @p
 * knows. @source is recorded as the source. */
void pdet_log_put(const struct pdet_log_page *p, struct pdet_batch *b,
		  uint32_t row, const struct pdet_fields *want,
		  unsigned source);

/* Claims of the log about a page, to compare with a row of the kernel. */
struct pdet_log_claim {
	bool has_kind, has_inode, has_refcount;
	unsigned kind;
	uint64_t inode, refcount;
	uint64_t flags, flags_known;
};

void pdet_log_claims(const struct pdet_log_page *p,
		     struct pdet_log_claim *ret);

/* --- maps.c: converts mappings to rows --- */

/* Fields about the address of a task, not about the page there. */
#define PDET_LOG_OF_ADDRESS 12
extern const uint8_t pdet_log_of_address[PDET_LOG_OF_ADDRESS];

/* pdet_log_put_map - fill the columns of one mapping, like those of a task's
 * address. */
void pdet_log_put_map(const struct pdet_log_page *p,
		      const struct pdet_log_map *m, struct pdet_batch *b,
		      uint32_t row, const struct pdet_fields *want,
		      unsigned source);

/*
 * pdet_log_put_maps - put a row for each present mapping, as ops->told() does.
 */
int pdet_log_put_maps(const struct pdet_log_page *p, size_t *at,
		      struct pdet_batch *b, const struct pdet_fields *want,
		      unsigned source);

/*
 * pdet_log_is_x86 - true if the entries of the log are certainly from x86-64.
 */
bool pdet_log_is_x86(const struct pdet_log_page *p);

/* pdet_log_map_name - the name of the mapping's VMA, if it is reliable. */
bool pdet_log_map_name(const struct pdet_log_page *p,
		       const struct pdet_log_map *m, struct pdet_scan *ret);

/* pdet_log_map_of - the mapping of the query's address, or NULL if it is not
 * listed. */
const struct pdet_log_map *pdet_log_map_of(const struct pdet_log_page *p);

#endif
