/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the compressed dumps of diskdump and kdump (makedumpfile,
 * diskdump_mod.h; QEMU, include/sysemu/dump.h). The file has a header, a sub
 * header, and two bitmaps with a bit for each block: it exists, it is in the
 * dump. Then follow a descriptor for each block in the dump, and their data.
 *
 * A dump calls its blocks pages. On some machines the kernel's pages are
 * smaller.
 */
#ifndef PDET_MEMORY_KDUMP_H
#define PDET_MEMORY_KDUMP_H

#include "base/codec/codec.h"
#include "memory/dump_file.h"
#include "memory/memory.h"

#define KDUMP_BLOCK_MIN 4096
#define KDUMP_BLOCK_MAX 65536

/* Flags of descriptors. They are also used for the compressions of a dump. */
#define KDUMP_ZLIB 0x01
#define KDUMP_LZO 0x02
#define KDUMP_SNAPPY 0x04
#define KDUMP_INCOMPLETE 0x08
#define KDUMP_ZSTD 0x20
#define KDUMP_COMPRESSED (KDUMP_ZLIB | KDUMP_LZO | KDUMP_SNAPPY | KDUMP_ZSTD)

/* The contents of one file's headers. */
struct kdump_head {
	unsigned version;
	size_t block;
	uint64_t bitmap;	/* offset of the bitmaps in the file */
	uint64_t bitmap_bytes;	/* size of both, or of the only one */
	uint64_t frames;	/* number of blocks in the physical address
				 * space */
	uint32_t status;	/* KDUMP_* */
	bool split;		/* part of a split dump: frames first .. end -
				 * 1 */
	uint64_t first;
	uint64_t end;
	uint64_t vmcoreinfo;	/* offset and size; 0: none */
	uint64_t vmcoreinfo_len;
	uint64_t notes;
	uint64_t notes_len;
	uint16_t machine;	/* EM_*; 0: unknown */
	char release[65];
};

int pdet_kdump_head_read(struct kdump_head *ret, struct pdet_env *env,
			 const struct pdet_dump_file *file);

/*
 * The bitmaps of one part. They stay in the file. For every window of a bitmap,
 * the number of dumped blocks before it is in memory.
 */
struct kdump_bitmap {
	const struct pdet_dump_file *file;
	uint64_t exists;	/* offset */
	uint64_t dumped;
	bool both;		/* false: only "dumped" exists */
	uint64_t first;		/* valid frames: first .. end - 1 */
	uint64_t end;
	size_t window;		/* bytes of a window: frames / 8 */
	uint64_t *rank;		/* for each window from that of @first on */
	uint64_t blocks;	/* total number in the dump */
};

/* One reader's copy of a window. */
struct kdump_window {
	const struct kdump_bitmap *of;
	uint64_t number;	/* frame divided by the frames of a window */
	bool has_exists;
	uint64_t *dumped;
	uint64_t *exists;
	uint32_t *before;	/* dumped blocks before each word */
};

int pdet_kdump_bitmap_open(struct kdump_bitmap *b, struct pdet_env *env,
			   const struct pdet_dump_file *file,
			   const struct kdump_head *head);
void pdet_kdump_bitmap_close(struct kdump_bitmap *b);

/* pdet_kdump_bitmap_ranges - add all existing memory to @m. */
int pdet_kdump_bitmap_ranges(const struct kdump_bitmap *b, struct pdet_env *env,
			     struct pdet_memory *m, size_t block);

/* pdet_kdump_bitmap_next - skip windows without a dumped block, from @frame on.
 * Returns a frame before which no block is in the dump, or b->end if there is
 * no more. */
uint64_t pdet_kdump_bitmap_next(const struct kdump_bitmap *b, uint64_t frame);

/* pdet_kdump_window_load - load the window of @frame. */
int pdet_kdump_window_load(struct kdump_window *w, const struct kdump_bitmap *b,
			   struct pdet_dump_cursor *cursor, uint64_t frame);

/* pdet_kdump_window_rank - the number of dumped blocks before @frame in this
 * part. If the frame is not in the dump, returns -ENODATA, -ENOENT, or a
 * failure. */
int pdet_kdump_window_rank(struct kdump_window *w,
			   struct pdet_dump_cursor *cursor, uint64_t frame,
			   uint64_t *ret);

/* pdet_kdump_window_next - the first dumped frame of the window from @frame on.
 * UINT64_MAX if there is none. */
uint64_t pdet_kdump_window_next(const struct kdump_window *w, uint64_t frame);

/* One file of a dump. */
struct kdump_part {
	struct kdump_bitmap bitmap;
	uint64_t descriptors;	/* offset of the descriptors */
	const struct pdet_dump_file *file;
	bool absent;		/* the file is missing */
};

struct kdump_descriptor {
	uint64_t offset;
	uint32_t size;
	uint32_t flags;
	uint64_t page_flags;	/* of diskdump, unused */
};

struct kdump {
	struct pdet_memory m;
	size_t block;
	unsigned shift;		/* 1 << shift is block */
	uint64_t frames;
	struct pdet_dump_file *file;
	size_t n_files;
	struct kdump_part *part; /* sorted, without gaps */
	size_t n_parts;
	/* One codec for each format that the header lists. */
	struct pdet_codec *codec[PDET_N_CODECS];
};

/* pdet_kdump_codec - find the codec for the flags of a descriptor. It is
 * PDET_N_CODECS if the flags name none. Returns false if they name several. */
bool pdet_kdump_codec(uint32_t flags, enum pdet_codec_id *ret);

/* pdet_kdump_descriptor_check - returns 0, -EIO if the descriptor was never
 * written, or -EBADMSG if there cannot be a block at its place. */
int pdet_kdump_descriptor_check(const struct kdump_descriptor *d,
				const struct kdump_part *part, size_t block);

/*
 * pdet_kdump_part_agrees - false if the bitmap has a bit too many or too few.
 * Every later frame would then get another frame's block. The place where the
 * descriptors end shows this.
 */
bool pdet_kdump_part_agrees(const struct kdump_part *part, size_t block);

/* pdet_kdump_count_missing - count the memory that the files lack. */
int pdet_kdump_count_missing(struct kdump *k);

int pdet_kdump_reader_new(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret);
void pdet_kdump_reader_free(struct pdet_reader *r);
int pdet_kdump_read_phys(struct pdet_reader *reader, uint64_t addr, void *buf,
			 size_t n);
uint64_t pdet_kdump_next_phys(struct pdet_reader *reader, uint64_t addr);

#endif
