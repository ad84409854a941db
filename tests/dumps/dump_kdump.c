/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes compressed dumps of kdump and diskdump in the layout of makedumpfile
 * and QEMU. Descriptors and data grow at the same time, each through a buffer,
 * and all zero blocks share the data of one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump_write.h"

#define HEADER_LEN 464
#define SUB_HEADER_LEN 104

/* Flags of descriptors. */
static const uint32_t flags[DUMP_N_CODECS] = {
	[DUMP_RAW] = 0,
	[DUMP_ZLIB] = 1,
	[DUMP_LZO] = 2,
	[DUMP_SNAPPY] = 4,
	[DUMP_ZSTD] = 32,
};

struct buffer {
	struct dump_sink *sink;
	char *data;
	size_t n, size;
	uint64_t at;		/* place of its beginning in the dump */
};

struct writer {
	struct dump_sink *sink;
	const struct dump_kdump *kdump;
	const struct dump_memory *memory;
	size_t block;
	uint64_t bitmap;	/* place of the first bitmap */
	uint64_t bitmap_len;	/* length of one bitmap */
	unsigned bitmaps;
	uint64_t vmcoreinfo;
	uint64_t notes;
	uint32_t sub_blocks;
	struct buffer descriptors;
	struct buffer data;
	uint64_t zeroes;	/* place of the data of zero blocks; 0: none
				 * yet */
};

static void *grab(size_t n)
{
	void *p = calloc(1, n);

	if (p)
		return p;
	perror("dump");
	exit(1);
}

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

static void flush(struct buffer *b)
{
	if (b->n)
		dump_sink_write(b->sink, b->data, b->n, b->at);
	b->at += b->n;
	b->n = 0;
}

static void append(struct buffer *b, const void *data, size_t n)
{
	if (b->n + n > b->size)
		flush(b);
	if (n > b->size) {
		dump_sink_write(b->sink, data, n, b->at);
		b->at += n;
		return;
	}
	memcpy(b->data + b->n, data, n);
	b->n += n;
}

static void start(struct buffer *b, struct dump_sink *sink, size_t size,
		  uint64_t at)
{
	*b = (struct buffer){ sink, grab(size), 0, size, at };
}

static void put32(char *at, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(at, &v, sizeof(v));
}

static void put64(char *at, uint64_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void write_header(struct writer *w)
{
	const struct dump_kdump *k = w->kdump;
	uint64_t frames = w->memory->frames;
	char h[HEADER_LEN] = "";

	memcpy(h, k->diskdump ? "DISKDUMP" : "KDUMP   ", 8);
	put32(h + 8, k->version);
	strcpy(h + 12, "Linux");
	/* Other readers reject all of these names if one is empty. */
	strcpy(h + 12 + 65, "(none)");
	strcpy(h + 12 + 3 * 65, "(none)");
	strcpy(h + 12 + 5 * 65, "(none)");
	snprintf(h + 12 + 2 * 65, 65, "%s", k->release ? k->release : "");
	snprintf(h + 12 + 4 * 65, 65, "%s", k->machine ? k->machine : "");
	put32(h + 424, flags[k->codec]);
	put32(h + 428, w->block);
	put32(h + 432, w->sub_blocks);
	put32(h + 436, w->bitmap_len * w->bitmaps / w->block);
	put32(h + 440, k->version < 6 || frames <= UINT32_MAX ? frames : 0);
	put32(h + 460, 1);	/* nr_cpus */
	dump_sink_write(w->sink, h, sizeof(h), 0);
}

static void write_sub_header(struct writer *w)
{
	const struct dump_kdump *k = w->kdump;
	char s[SUB_HEADER_LEN] = "";

	put32(s + 8, 31);	/* dump_level */
	if (k->version >= 2 && k->split) {
		put32(s + 12, 1);
		put64(s + 16, k->version < 6 ? k->first : (uint32_t)k->first);
		put64(s + 24, k->version < 6 ? k->end : (uint32_t)k->end);
	}
	if (k->version >= 3 && k->vmcoreinfo) {
		put64(s + 32, w->vmcoreinfo);
		put64(s + 40, strlen(k->vmcoreinfo));
	}
	if (k->version >= 4 && k->notes_len) {
		put64(s + 48, w->notes);
		put64(s + 56, k->notes_len);
	}
	if (k->version >= 6) {
		if (k->split) {
			put64(s + 80, k->first);
			put64(s + 88, k->end);
		}
		put64(s + 96, w->memory->frames);
	}
	dump_sink_write(w->sink, s, sizeof(s), w->block);
}

static void write_bitmaps(struct writer *w)
{
	unsigned char *exists = grab(w->bitmap_len);
	unsigned char *dumped = grab(w->bitmap_len);
	const struct dump_memory *m = w->memory;
	void *buf = grab(w->block);
	enum dump_state state;
	uint64_t i;

	for (i = 0; i < m->frames; i++) {
		state = m->read(m->arg, i, buf);
		if (state != DUMP_NOTHING)
			exists[i / 8] |= (unsigned char)(1 << i % 8);
		if (state == DUMP_BLOCK)
			dumped[i / 8] |= (unsigned char)(1 << i % 8);
	}
	if (w->bitmaps == 2)
		dump_sink_write(w->sink, exists, w->bitmap_len, w->bitmap);
	dump_sink_write(w->sink, dumped, w->bitmap_len,
			w->bitmap + (w->bitmaps - 1) * w->bitmap_len);
	free(exists);
	free(dumped);
	free(buf);
}

static uint64_t count_blocks(struct writer *w, uint64_t first, uint64_t end)
{
	const struct dump_memory *m = w->memory;
	void *buf = grab(w->block);
	uint64_t i, n = 0;

	for (i = first; i < end; i++)
		n += m->read(m->arg, i, buf) == DUMP_BLOCK;
	free(buf);
	return n;
}

static void write_block(struct writer *w, const char *block, char *smaller)
{
	bool zero = !block[0] && !memcmp(block, block + 1, w->block - 1);
	enum dump_codec codec = w->kdump->codec;
	char d[24] = "";
	size_t len = 0;

	put64(d, w->data.at + w->data.n);
	if (zero && w->zeroes) {
		put64(d, w->zeroes);
		put32(d + 8, w->block);
		append(&w->descriptors, d, sizeof(d));
		return;
	}
	if (zero)
		w->zeroes = w->data.at + w->data.n;
	else
		len = dump_compress(codec, block, w->block, smaller,
				    w->block - 1);
	put32(d + 8, len ? len : w->block);
	put32(d + 12, len ? flags[codec] : 0);
	append(&w->descriptors, d, sizeof(d));
	if (len)
		append(&w->data, smaller, len);
	else
		append(&w->data, block, w->block);
}

static void write_blocks(struct writer *w, uint64_t first, uint64_t end)
{
	const struct dump_memory *m = w->memory;
	char *block = grab(w->block), *smaller = grab(w->block);
	size_t cache = w->kdump->cache ? w->kdump->cache : 16384;
	uint64_t at = w->bitmap + w->bitmap_len * w->bitmaps, i;

	start(&w->descriptors, w->sink, cache, at);
	start(&w->data, w->sink, cache, at + count_blocks(w, first, end) * 24);
	for (i = first; i < end; i++)
		if (m->read(m->arg, i, block) == DUMP_BLOCK)
			write_block(w, block, smaller);
	flush(&w->descriptors);
	flush(&w->data);
	free(w->descriptors.data);
	free(w->data.data);
	free(block);
	free(smaller);
}

/* Lays out what follows the sub header: notes, then VMCOREINFO. */
static void place(struct writer *w)
{
	const struct dump_kdump *k = w->kdump;
	uint64_t at = w->block + SUB_HEADER_LEN;

	w->notes = at;
	if (k->version >= 4)
		at += k->notes_len;
	w->vmcoreinfo = at;
	if (k->version >= 3 && k->vmcoreinfo)
		at += strlen(k->vmcoreinfo);
	w->sub_blocks = (uint32_t)(round_up(at, w->block) / w->block - 1);
	w->bitmap = round_up(at, w->block);
	w->bitmaps = k->diskdump ? 1 : 2;
	w->bitmap_len = round_up((w->memory->frames + 7) / 8, w->block);
}

void dump_write_kdump(struct dump_sink *s, const struct dump_kdump *k,
		      const struct dump_memory *memory)
{
	struct writer w = {
		.sink = s, .kdump = k, .memory = memory, .block = memory->block
	};
	char wrong[HEADER_LEN];

	place(&w);
	if (k->shuffled) {
		memset(wrong, 0xff, sizeof(wrong));
		dump_sink_write(s, wrong, sizeof(wrong), 0);
	} else {
		write_header(&w);
	}
	if (!k->diskdump)
		write_sub_header(&w);
	if (k->version >= 4 && k->notes_len)
		dump_sink_write(s, k->notes, k->notes_len, w.notes);
	if (k->version >= 3 && k->vmcoreinfo)
		dump_sink_write(s, k->vmcoreinfo, strlen(k->vmcoreinfo),
				w.vmcoreinfo);
	write_bitmaps(&w);
	write_blocks(&w, k->split ? k->first : 0,
		     k->split ? k->end : memory->frames);
	if (k->shuffled)
		write_header(&w);
}
