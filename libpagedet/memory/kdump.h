/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The compressed dumps of diskdump and kdump (makedumpfile, diskdump_mod.h;
 * QEMU, include/sysemu/dump.h): a header, a sub header, two bitmaps with a bit
 * a block of memory - it exists; it is in the dump -, then a descriptor for
 * each block that is in the dump, then their data.
 *
 * A block is what the dump calls a page; on some machines the kernel's pages
 * are smaller.
 */
#ifndef PDET_MEMORY_KDUMP_H
#define PDET_MEMORY_KDUMP_H

#include "base/codec.h"
#include "memory/dump_file.h"
#include "memory/memory.h"

#define KDUMP_BLOCK_MIN 4096
#define KDUMP_BLOCK_MAX 65536

/* Flags of descriptors, and of what a dump as a whole uses. */
#define KDUMP_ZLIB 0x01
#define KDUMP_LZO 0x02
#define KDUMP_SNAPPY 0x04
#define KDUMP_INCOMPLETE 0x08
#define KDUMP_ZSTD 0x20
#define KDUMP_COMPRESSED (KDUMP_ZLIB | KDUMP_LZO | KDUMP_SNAPPY | KDUMP_ZSTD)

/* What the headers of one file say. */
struct kdump_head {
	unsigned version;
	size_t block;
	uint64_t bitmap;	/* where they begin in the file */
	uint64_t bitmap_bytes;	/* of both, or of the only one */
	uint64_t frames;	/* blocks of physical address space */
	uint32_t status;	/* KDUMP_* */
	bool split;		/* part of a dump: frames first .. end - 1 */
	uint64_t first;
	uint64_t end;
	uint64_t vmcoreinfo;	/* where, and how much; 0: none */
	uint64_t vmcoreinfo_len;
	uint64_t notes;
	uint64_t notes_len;
	uint16_t machine;	/* EM_*; 0: not said */
	char release[65];
};

int pdet_kdump_head_read(struct kdump_head *ret, struct pdet_env *env,
			 const struct pdet_dump_file *file);

/*
 * The bitmaps of one part. They stay in the file: what is kept is, for every
 * window of it, how many blocks of the dump lie before.
 */
struct kdump_bitmap {
	const struct pdet_dump_file *file;
	uint64_t exists;	/* where it begins */
	uint64_t dumped;
	bool both;		/* false: "dumped" is all that there is */
	uint64_t first;		/* frames first .. end - 1 count */
	uint64_t end;
	size_t window;		/* bytes of one: frames / 8 */
	uint64_t *rank;		/* by window, from that of @first on */
	uint64_t blocks;	/* in the dump, together */
};

/* One reader's copy of a window. */
struct kdump_window {
	const struct kdump_bitmap *of;
	uint64_t number;	/* of the frame, divided by what one holds */
	bool has_exists;
	uint64_t *dumped;
	uint64_t *exists;
	uint32_t *before;	/* blocks in the dump before each word */
};

int pdet_kdump_bitmap_open(struct kdump_bitmap *b, struct pdet_env *env,
			   const struct pdet_dump_file *file,
			   const struct kdump_head *head);
void pdet_kdump_bitmap_close(struct kdump_bitmap *b);

/* pdet_kdump_bitmap_ranges - adds the memory that exists to @m. */
int pdet_kdump_bitmap_ranges(const struct kdump_bitmap *b, struct pdet_env *env,
			     struct pdet_memory *m, size_t block);

/* pdet_kdump_bitmap_next - from @frame on, a frame before which nothing is in
 * the dump: windows without blocks are passed over. b->end: there is none. */
uint64_t pdet_kdump_bitmap_next(const struct kdump_bitmap *b, uint64_t frame);

/* pdet_kdump_window_load - the one that holds @frame. */
int pdet_kdump_window_load(struct kdump_window *w, const struct kdump_bitmap *b,
			   struct pdet_dump_cursor *cursor, uint64_t frame);

/* pdet_kdump_window_rank - how many blocks of the part come before @frame in
 * the dump, if it is in there; else -ENODATA, -ENOENT, or a failure. */
int pdet_kdump_window_rank(struct kdump_window *w,
			   struct pdet_dump_cursor *cursor, uint64_t frame,
			   uint64_t *ret);

/* pdet_kdump_window_next - the first frame of the window from @frame on that
 * is in the dump; UINT64_MAX: none. */
uint64_t pdet_kdump_window_next(const struct kdump_window *w, uint64_t frame);

/* A file of a dump. */
struct kdump_part {
	struct kdump_bitmap bitmap;
	uint64_t descriptors;	/* where they begin */
	const struct pdet_dump_file *file;
	bool absent;		/* the file of these frames was not given */
};

struct kdump_descriptor {
	uint64_t offset;
	uint32_t size;
	uint32_t flags;
	uint64_t page_flags;	/* of diskdump, not used */
};

struct kdump {
	struct pdet_memory m;
	size_t block;
	unsigned shift;		/* 1 << shift is block */
	uint64_t frames;
	struct pdet_dump_file *file;
	size_t n_files;
	struct kdump_part *part; /* sorted, without holes */
	size_t n_parts;
	/* What its header names, so that they are loaded once. */
	struct pdet_codec *codec[PDET_N_CODECS];
};

/* pdet_kdump_codec - of the flags of a descriptor; PDET_N_CODECS: none. False:
 * more than one. */
bool pdet_kdump_codec(uint32_t flags, enum pdet_codec_id *ret);

/* pdet_kdump_descriptor_check - 0; -EIO: nothing was ever written; -EBADMSG:
 * that cannot be where a block is. */
int pdet_kdump_descriptor_check(const struct kdump_descriptor *d,
				const struct kdump_part *part, size_t block);

/*
 * pdet_kdump_part_agrees - a bit too many or too few in the bitmap gives every
 * frame behind it the block of another one. It shows in where descriptors end.
 */
bool pdet_kdump_part_agrees(const struct kdump_part *part, size_t block);

/* pdet_kdump_count_missing - what of its memory the files do not have. */
int pdet_kdump_count_missing(struct kdump *k);

int pdet_kdump_reader_new(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret);
void pdet_kdump_reader_free(struct pdet_reader *r);
int pdet_kdump_read_phys(struct pdet_reader *reader, uint64_t addr, void *buf,
			 size_t n);
uint64_t pdet_kdump_next_phys(struct pdet_reader *reader, uint64_t addr);

#endif
