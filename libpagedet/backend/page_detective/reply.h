/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses answers of the file "query" of page_detective (kmod/README.md). A line
 * is one record, with a word and KEY=VALUE pairs; the last line is "end". The
 * parser does no I/O. Unknown records and keys are skipped. A value is unknown
 * if its key is missing or its word is unknown.
 */
#ifndef PDET_BACKEND_PAGE_DETECTIVE_REPLY_H
#define PDET_BACKEND_PAGE_DETECTIVE_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

/* Limits of the driver: frames in an answer, and mappings of one frame. */
#define PAGE_DETECTIVE_FRAMES 65536
#define PAGE_DETECTIVE_MAPS 65536

/* Position of a text in page_detective_reply.text. */
struct page_detective_text {
	uint32_t at, len;
};

enum page_detective_state {
	PAGE_DETECTIVE_STRANGE,	/* an unknown word; the whole page is unknown */
	PAGE_DETECTIVE_HAVE,
	PAGE_DETECTIVE_UNREFERENCED, /* it has no reference: less is known */
	PAGE_DETECTIVE_NOPAGE,	/* no memory, or offline */
	PAGE_DETECTIVE_NOTPRESENT /* the address has no page */
};

enum page_detective_file {
	PAGE_DETECTIVE_FILE_HAVE = 1,
	PAGE_DETECTIVE_FILE_NONE,
	PAGE_DETECTIVE_FILE_BUSY /* it is locked by another task */
};

enum page_detective_content {
	PAGE_DETECTIVE_ZERO = 1,
	PAGE_DETECTIVE_DATA,	/* not all zeroes */
	PAGE_DETECTIVE_POISONED, /* not read */
	PAGE_DETECTIVE_UNREADABLE
};

/* Keys, as bits of "has" in a record. */
enum page_detective_key {
	PAGE_DETECTIVE_PID = 1 << 0,
	PAGE_DETECTIVE_VIRT = 1 << 1,
	PAGE_DETECTIVE_LEVEL = 1 << 2,
	PAGE_DETECTIVE_ENTRY = 1 << 3,
	PAGE_DETECTIVE_PHYS = 1 << 4,
	PAGE_DETECTIVE_PFN = 1 << 5,
	PAGE_DETECTIVE_STATE = 1 << 6,
	PAGE_DETECTIVE_HEAD = 1 << 7,
	PAGE_DETECTIVE_ORDER = 1 << 8,
	PAGE_DETECTIVE_REFCOUNT = 1 << 9,
	PAGE_DETECTIVE_MAPCOUNT = 1 << 10,
	PAGE_DETECTIVE_PINCOUNT = 1 << 11,
	PAGE_DETECTIVE_FLAGS = 1 << 12,
	PAGE_DETECTIVE_PAGE_FLAGS = 1 << 13,
	PAGE_DETECTIVE_KPAGEFLAGS = 1 << 14,
	PAGE_DETECTIVE_ANON = 1 << 15,
	PAGE_DETECTIVE_MEMCG_INO = 1 << 16,
	PAGE_DETECTIVE_MEMCG = 1 << 17,
	PAGE_DETECTIVE_FILE = 1 << 18,
	PAGE_DETECTIVE_DEV = 1 << 19,
	PAGE_DETECTIVE_INO = 1 << 20,
	PAGE_DETECTIVE_INDEX = 1 << 21,
	PAGE_DETECTIVE_CONTENT = 1 << 22,
	/* of mappings */
	PAGE_DETECTIVE_KIND = 1 << 23,
	PAGE_DETECTIVE_ADDR = 1 << 24,
	PAGE_DETECTIVE_COMM = 1 << 25,
	PAGE_DETECTIVE_VMA_START = 1 << 26,
	PAGE_DETECTIVE_VMA_END = 1 << 27,
	PAGE_DETECTIVE_VMA_FLAGS = 1 << 28,
	PAGE_DETECTIVE_VMA_NAME = 1 << 29,
	/*
	 * bits of the sum of mappings, which has a pfn and uses the bits again
	 */
	PAGE_DETECTIVE_KERNEL = 1 << 0,
	PAGE_DETECTIVE_USER = 1 << 1,
	PAGE_DETECTIVE_COMPLETE = 1 << 2
};

/* One mapping of a page. */
struct page_detective_map {
	uint32_t has;
	uint32_t strange;	/* keys with an unknown word */
	uint64_t kind;		/* PAGEDET_MAP_* */
	uint64_t level;		/* PAGEDET_LEVEL_* */
	uint64_t entry;
	uint64_t pid;		/* of its process, if visible */
	uint64_t addr;
	uint64_t vma_start, vma_end, vma_flags;
	struct page_detective_text comm, vma_name;
};

/* The sum of all mappings. */
struct page_detective_sum {
	uint32_t has;		/* _PFN, _KERNEL ... */
	uint64_t pfn;
	uint64_t kernel, user;
	uint64_t complete;	/* 1: none was omitted */
};

struct page_detective_page {
	uint32_t has;
	uint32_t strange;	/* as in mappings */
	uint64_t state;
	uint64_t pid, virt, level, entry, phys;
	uint64_t pfn, head, order;
	int64_t refcount;	/* of the folio */
	int64_t mapcount;	/* of the page */
	int64_t pincount;	/* of a large folio */
	uint64_t flags;		/* of the folio, in the kernel's encoding */
	uint64_t page_flags;	/* of a page that is not the head */
	uint64_t kpageflags;
	uint64_t anon;
	uint64_t memcg_ino;	/* 0: not charged as a whole */
	uint64_t file, dev, ino, index, content;
	struct page_detective_text memcg;
	bool walked;		/* its mappings were searched */
	bool partial;		/* some mappings are of an unknown kind */
	size_t first, n;	/* its mappings */
	struct page_detective_sum sum; /* valid if walked */
};

/* A zeroed struct is empty. */
struct page_detective_reply {
	struct { struct page_detective_page *data; size_t n, cap; } pages;
	struct { struct page_detective_map *data; size_t n, cap; } maps;
	struct { char *data; size_t n, cap; } text;
};

/*
 * page_detective_parse - parse a complete answer into an empty @ret. Returns 0,
 * -EIO if it is cut off, -EBADMSG if it has another form, or -ENOMEM. The
 * caller frees @ret in any case.
 */
int page_detective_parse(struct pdet_scan text,
			 struct page_detective_reply *ret);

void page_detective_reply_free(struct page_detective_reply *a);

static inline struct pdet_scan
page_detective_words(const struct page_detective_reply *a,
		     struct page_detective_text t)
{
	struct pdet_scan s = { NULL, NULL };

	if (t.len) {
		s.at = a->text.data + t.at;
		s.end = s.at + t.len;
	}
	return s;
}

/*
 * page_detective_feature_off - find the next feature that is off in the file
 * "features". Copies it to @buf with the missing symbol ("kpageflags
 * (stable_page_flags)"), cut to @size. Returns false at the end. Other lines
 * are skipped.
 */
bool page_detective_feature_off(struct pdet_scan *text, char *buf,
				size_t size);

/*
 * page_detective_version - copy the version of the format in the file
 * "features" to @buf, cut to @size. Returns false if there is none.
 */
bool page_detective_version(struct pdet_scan text, char *buf, size_t size);

#endif
