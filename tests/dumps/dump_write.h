/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes dumps in the forms that real writers have, and some that they could
 * have: for tests, and for mkdump, which makes one dump out of another. Knows
 * nothing of the library. Whatever fails ends the program.
 */
#ifndef TESTS_DUMPS_DUMP_WRITE_H
#define TESTS_DUMPS_DUMP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory that goes in, by block. */
enum dump_state {
	DUMP_NOTHING,
	DUMP_EXCLUDED,
	DUMP_BLOCK,
};

struct dump_memory {
	uint64_t frames;	/* blocks of address space */
	size_t block;
	/* The block is written to @buf if it is DUMP_BLOCK. */
	enum dump_state (*read)(void *arg, uint64_t frame, void *buf);
	void *arg;
};

/* Where it goes: places in a file, or chunks of a flattened one. */
struct dump_sink {
	int fd;
	bool flattened;
	uint64_t end;		/* of the stream */
};

void dump_sink_begin(struct dump_sink *s);
void dump_sink_write(struct dump_sink *s, const void *data, size_t n,
		     uint64_t offset);
void dump_sink_end(struct dump_sink *s);

enum dump_codec {
	DUMP_RAW,
	DUMP_ZLIB,
	DUMP_LZO,
	DUMP_SNAPPY,
	DUMP_ZSTD,
	DUMP_N_CODECS
};

const char *dump_codec_name(enum dump_codec codec);
/* Was it there when this was built? */
bool dump_codec_built(enum dump_codec codec);

/* dump_compress - at most @room bytes; 0: more would be needed. */
size_t dump_compress(enum dump_codec codec, const void *in, size_t n,
		     void *out, size_t room);

struct dump_kdump {
	unsigned version;	/* of the header */
	bool diskdump;		/* the older signature, one bitmap */
	enum dump_codec codec;
	const char *machine;
	const char *release;
	const char *vmcoreinfo;	/* NULL: none */
	const void *notes;
	size_t notes_len;
	bool split;		/* only the data of frames first .. end - 1 */
	uint64_t first;
	uint64_t end;
	size_t cache;		/* of descriptors, and of data; 0: 16 KB */
	bool shuffled;		/* a flattened one: the header comes last, and
				 * a wrong one before it */
};

void dump_write_kdump(struct dump_sink *s, const struct dump_kdump *kdump,
		      const struct dump_memory *memory);

/* An ELF dump has the blocks that are DUMP_BLOCK; each run of them is one
 * segment, which goes on in memory over the excluded ones behind it. */
struct dump_elf {
	uint16_t machine;
	const void *notes;	/* NULL: none */
	size_t notes_len;
	uint64_t phoff;		/* 0: behind the ELF header */
	bool xnum;		/* the number of segments is in section 0 */
};

void dump_write_elf(struct dump_sink *s, const struct dump_elf *elf,
		    const struct dump_memory *memory);

/* dump_note - adds a note to @buf of @len bytes; the new length. */
size_t dump_note(void *buf, size_t len, const char *name, uint32_t type,
		 const void *desc, size_t n);

#endif
