/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Maps the contents of a dump file, to know what damage hits. It does not use
 * the library. It reads whole dumps of QEMU, makedumpfile or dump_write.h.
 */
#ifndef TESTS_DUMPS_DUMP_MAP_H
#define TESTS_DUMPS_DUMP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_MAP_PARTS 8

/*
 * Places refer to the dump. A flattened dump has them in chunks, of which the
 * last one is valid.
 */
struct dump_map {
	int fd;
	uint64_t size;		/* of the file */
	const char *form;
	size_t block;
	/* Headers, notes, bitmaps, descriptors. */
	struct dump_part {
		const char *what;
		uint64_t at, len;
	} part[DUMP_MAP_PARTS];
	unsigned n_parts;
	/*
	 * The place of each frame's block; len 0: none. Several may share a
	 * place.
	 */
	struct dump_frame {
		uint64_t at;
		uint64_t len;
	} *frame;
	uint64_t n_frames;
	/*
	 * For a flattened dump: @at is the place of the chunk's header in the
	 * file.
	 */
	struct dump_chunk {
		uint64_t offset, len, at;
	} *chunk;
	size_t n_chunks;
	/* Begins and ends of parts and chunks in the file. */
	uint64_t *border;
	size_t n_borders;
};

#define DUMP_CHUNK_HEAD 16

/* Ends the program if it does not understand the file. */
void dump_map_read(struct dump_map *map, int fd);
void dump_map_free(struct dump_map *map);

/* dump_map_place - the place in the file of a byte of the dump. */
uint64_t dump_map_place(const struct dump_map *map, uint64_t at);

/*
 * dump_map_dump - the byte of the dump at @place in the file, and how many of
 * *n are contiguous from there. Returns false if it is part of a chunk's
 * header.
 */
bool dump_map_dump(const struct dump_map *map, uint64_t place, uint64_t *n,
		   uint64_t *at);

/* dump_map_hits - whether any of @n bytes of the dump belong to @frame. */
bool dump_map_hits(const struct dump_map *map, uint64_t at, uint64_t n,
		   uint64_t frame);

/* dump_map_frame - the frame of the byte at @place in the file, or NULL. */
const struct dump_frame *dump_map_frame(const struct dump_map *map,
					uint64_t place);

#endif
