/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes dumps in the forms of real programs, and in possible other forms, for
 * tests and for mkdump, which converts a dump. It does not use the library. A
 * failure ends the program.
 */
#ifndef TESTS_DUMPS_DUMP_WRITE_H
#define TESTS_DUMPS_DUMP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory to write, by block. */
enum dump_state {
	DUMP_NOTHING,
	DUMP_EXCLUDED,
	DUMP_BLOCK,
};

struct dump_memory {
	uint64_t frames;	/* blocks of the address space */
	size_t block;
	/* Writes the block to @buf if it is DUMP_BLOCK. */
	enum dump_state (*read)(void *arg, uint64_t frame, void *buf);
	void *arg;
};

/* The output: places in a file, or chunks of a flattened dump. */
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
/* Whether the build found the library of this compression. */
bool dump_codec_built(enum dump_codec codec);

/* dump_compress - compress to at most @room bytes; 0: not enough room. */
size_t dump_compress(enum dump_codec codec, const void *in, size_t n,
		     void *out, size_t room);

struct dump_kdump {
	unsigned version;	/* of the header */
	bool diskdump;		/* the older signature, with one bitmap */
	enum dump_codec codec;
	const char *machine;
	const char *release;
	const char *vmcoreinfo;	/* NULL: none */
	const void *notes;
	size_t notes_len;
	bool split;		/* only data of frames first .. end - 1 */
	uint64_t first;
	uint64_t end;
	size_t cache;		/* of descriptors and data; 0: 16 KB */
	bool shuffled;		/* flattened: the header comes last, after a
				 * wrong one */
};

void dump_write_kdump(struct dump_sink *s, const struct dump_kdump *kdump,
		      const struct dump_memory *memory);

/*
 * An ELF dump has the blocks that are DUMP_BLOCK. Each run of them is one
 * segment, whose memory size includes the excluded blocks behind it.
 */
struct dump_elf {
	uint16_t machine;
	const void *notes;	/* NULL: none */
	size_t notes_len;
	uint64_t phoff;		/* 0: behind the ELF header */
	bool xnum;		/* section 0 has the number of segments */
};

void dump_write_elf(struct dump_sink *s, const struct dump_elf *elf,
		    const struct dump_memory *memory);

/*
 * dump_note - add a note to @buf, which has @len bytes. Returns the new length.
 */
size_t dump_note(void *buf, size_t len, const char *name, uint32_t type,
		 const void *desc, size_t n);

#endif
