/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is where in the file of a dump: for who damages it and wants to know
 * what was hit. Read without the library, out of dumps that are whole: of QEMU,
 * makedumpfile or dump_write.h.
 */
#ifndef TESTS_DUMPS_DUMP_MAP_H
#define TESTS_DUMPS_DUMP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DUMP_MAP_PARTS 8

/* Places are those of the dump; in a flattened one they are in chunks, of which
 * the last one holds. */
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
	/* Where the block of each frame is; len 0: nowhere. Some may share a
	 * place. */
	struct dump_frame {
		uint64_t at;
		uint64_t len;
	} *frame;
	uint64_t n_frames;
	/* Of a flattened one: @at is where the chunk's head is in the file. */
	struct dump_chunk {
		uint64_t offset, len, at;
	} *chunk;
	size_t n_chunks;
	/* Where parts and chunks begin or end in the file. */
	uint64_t *border;
	size_t n_borders;
};

#define DUMP_CHUNK_HEAD 16

/* What cannot be understood ends the program. */
void dump_map_read(struct dump_map *map, int fd);
void dump_map_free(struct dump_map *map);

/* dump_map_place - where a byte of the dump is in the file. */
uint64_t dump_map_place(const struct dump_map *map, uint64_t at);

/* dump_map_dump - which byte of the dump is at @place in the file, and how many
 * of *n go on from there; false: it is none, but of a chunk's head. */
bool dump_map_dump(const struct dump_map *map, uint64_t place, uint64_t *n,
		   uint64_t *at);

/* dump_map_hits - whether any of @n bytes of the dump is of @frame. */
bool dump_map_hits(const struct dump_map *map, uint64_t at, uint64_t n,
		   uint64_t frame);

/* dump_map_frame - the one that has the byte at @place in the file; NULL. */
const struct dump_frame *dump_map_frame(const struct dump_map *map,
					uint64_t place);

#endif
