/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Maps ELF dumps, compressed kdump files, and both of them flattened. */
#include <elf.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dump_map.h"

#define FLAT_HEAD 4096
#define HEADER 464
#define SUB_HEADER 104
/* Number of chunks whose borders are kept. */
#define MOST_CHUNKS ((size_t)1024)

struct descriptor {
	uint64_t offset;
	uint32_t size;
	uint32_t flags;
	uint64_t page_flags;
};

static void die(const char *why)
{
	fprintf(stderr, "cannot map the dump: %s\n", why);
	exit(1);
}

static void *grab(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		die("no memory");
	return p;
}

static void get(const struct dump_map *m, void *buf, size_t n, uint64_t place)
{
	if (pread(m->fd, buf, n, (off_t)place) != (ssize_t)n)
		die("it ends too early");
}

/* --- flattened --- */

static void read_chunks(struct dump_map *m)
{
	uint64_t head[2], at = FLAT_HEAD;
	size_t cap = 0;

	for (;; at += sizeof(head) + head[1]) {
		get(m, head, sizeof(head), at);
		head[0] = be64toh(head[0]);
		head[1] = be64toh(head[1]);
		if (head[0] == UINT64_MAX)
			return;
		if (m->n_chunks == cap) {
			cap = cap ? cap * 2 : 1024;
			m->chunk = realloc(m->chunk, cap * sizeof(*m->chunk));
			if (!m->chunk)
				die("no memory");
		}
		m->chunk[m->n_chunks++] =
			(struct dump_chunk){ head[0], head[1], at };
	}
}

/* The chunk with a byte of the dump; NULL: none, which reads as 0. */
static const struct dump_chunk *chunk_of(const struct dump_map *m, uint64_t at)
{
	size_t i;

	for (i = m->n_chunks; i-- > 0;)
		if (at - m->chunk[i].offset < m->chunk[i].len)
			return &m->chunk[i];
	return NULL;
}

uint64_t dump_map_place(const struct dump_map *m, uint64_t at)
{
	const struct dump_chunk *c;

	if (!m->n_chunks)
		return at;
	c = chunk_of(m, at);
	return c ? c->at + DUMP_CHUNK_HEAD + (at - c->offset) : 0;
}

/* Reads bytes of the dump. */
static void fetch(const struct dump_map *m, void *buf, size_t n, uint64_t at)
{
	const struct dump_chunk *c;
	char *to = buf;
	uint64_t len;

	if (!m->n_chunks) {
		get(m, buf, n, at);
		return;
	}
	for (; n; n -= len, at += len, to += len) {
		c = chunk_of(m, at);
		if (!c)
			die("there is a hole between its chunks");
		len = c->len - (at - c->offset);
		len = len < n ? len : n;
		get(m, to, len, c->at + DUMP_CHUNK_HEAD + (at - c->offset));
	}
}

/* --- parts --- */

static void add_part(struct dump_map *m, const char *what, uint64_t at,
		     uint64_t len)
{
	if (!len)
		return;
	if (m->n_parts == DUMP_MAP_PARTS)
		die("it has too many parts");
	m->part[m->n_parts++] = (struct dump_part){ what, at, len };
}

static void read_elf(struct dump_map *m)
{
	uint64_t i, first, last = 0;
	Elf64_Phdr *p;
	Elf64_Ehdr h;

	m->form = "ELF";
	m->block = 4096;
	fetch(m, &h, sizeof(h), 0);
	p = grab(h.e_phnum * sizeof(*p));
	fetch(m, p, h.e_phnum * sizeof(*p), h.e_phoff);
	add_part(m, "ELF header", 0, sizeof(h));
	add_part(m, "segments", h.e_phoff, h.e_phnum * sizeof(*p));
	for (i = 0; i < h.e_phnum; i++) {
		if (p[i].p_type == PT_NOTE)
			add_part(m, "notes", p[i].p_offset, p[i].p_filesz);
		last = p[i].p_paddr + p[i].p_memsz;
		if (last / m->block > m->n_frames)
			m->n_frames = last / m->block;
	}
	m->frame = grab(m->n_frames * sizeof(*m->frame));
	for (i = 0; i < h.e_phnum; i++) {
		if (p[i].p_type != PT_LOAD)
			continue;
		first = p[i].p_paddr / m->block;
		for (last = 0; last < p[i].p_filesz; last += m->block)
			m->frame[first + last / m->block] = (struct dump_frame){
				p[i].p_offset + last, m->block
			};
	}
	free(p);
}

static uint64_t word(const char *at, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, at, n);
	return v;
}

static void read_frames(struct dump_map *m, uint64_t bitmap, uint64_t at)
{
	struct descriptor d;
	unsigned char byte = 0;
	uint64_t i;

	m->frame = grab(m->n_frames * sizeof(*m->frame));
	for (i = 0; i < m->n_frames; i++) {
		if (i % 8 == 0)
			fetch(m, &byte, 1, bitmap + i / 8);
		if (!(byte >> i % 8 & 1))
			continue;
		fetch(m, &d, sizeof(d), at);
		at += sizeof(d);
		m->frame[i] = (struct dump_frame){ d.offset, d.size };
	}
}

static void read_kdump(struct dump_map *m)
{
	char h[HEADER], s[SUB_HEADER];
	uint64_t bitmap, half, descriptors, n = 0, i;

	m->form = "kdump";
	fetch(m, h, sizeof(h), 0);
	m->block = word(h + 428, 4);
	fetch(m, s, sizeof(s), m->block);
	bitmap = (1 + word(h + 432, 4)) * m->block;
	half = word(h + 436, 4) * m->block / 2;
	descriptors = bitmap + 2 * half;
	m->n_frames = word(h + 8, 4) >= 6 ? word(s + 96, 8) : word(h + 440, 4);
	read_frames(m, bitmap + half, descriptors);
	for (i = 0; i < m->n_frames; i++)
		n += m->frame[i].len > 0;
	add_part(m, "header", 0, sizeof(h));
	add_part(m, "sub header", m->block, sizeof(s));
	add_part(m, "VMCOREINFO", word(s + 32, 8), word(s + 40, 8));
	add_part(m, "notes", word(s + 48, 8), word(s + 56, 8));
	add_part(m, "first bitmap", bitmap, (m->n_frames + 7) / 8);
	add_part(m, "second bitmap", bitmap + half, (m->n_frames + 7) / 8);
	add_part(m, "descriptors", descriptors, n * sizeof(struct descriptor));
}

/* --- borders --- */

static void add_border(struct dump_map *m, uint64_t place)
{
	if (place <= m->size)
		m->border[m->n_borders++] = place;
}

static void add_borders(struct dump_map *m)
{
	const size_t few = 1 + m->n_chunks / MOST_CHUNKS;
	size_t i;

	m->border = grab((2 * DUMP_MAP_PARTS + 2 * MOST_CHUNKS + 1) *
			 sizeof(*m->border));
	for (i = 0; i < m->n_parts; i++) {
		const struct dump_part *p = &m->part[i];

		add_border(m, dump_map_place(m, p->at));
		add_border(m, dump_map_place(m, p->at + p->len - 1) + 1);
	}
	for (i = 0; i < m->n_chunks; i += few) {
		add_border(m, m->chunk[i].at);
		add_border(m, m->chunk[i].at + DUMP_CHUNK_HEAD);
	}
	add_border(m, m->size);
}

/* --- all --- */

void dump_map_read(struct dump_map *m, int fd)
{
	struct stat st;
	char magic[12];
	uint64_t i;

	memset(m, 0, sizeof(*m));
	m->fd = fd;
	if (fstat(fd, &st) < 0)
		die("its size cannot be had");
	m->size = (uint64_t)st.st_size;
	get(m, magic, sizeof(magic), 0);
	if (!memcmp(magic, "makedumpfile", 12)) {
		read_chunks(m);
		fetch(m, magic, sizeof(magic), 0);
	}
	if (!memcmp(magic, ELFMAG, SELFMAG))
		read_elf(m);
	else if (!memcmp(magic, "KDUMP   ", 8))
		read_kdump(m);
	else
		die("of this form it is not known");
	for (i = 0; i < m->n_frames && !m->frame[i].len; i++)
		;
	if (i == m->n_frames)
		die("it has no memory");
	add_borders(m);
}

void dump_map_free(struct dump_map *m)
{
	free(m->frame);
	free(m->chunk);
	free(m->border);
}

bool dump_map_dump(const struct dump_map *m, uint64_t place, uint64_t *n,
		   uint64_t *at)
{
	size_t i;

	if (!m->n_chunks) {
		*at = place;
		return true;
	}
	for (i = 0; i < m->n_chunks; i++) {
		const struct dump_chunk *c = &m->chunk[i];
		const uint64_t data = c->at + DUMP_CHUNK_HEAD;

		if (place < data || place - data >= c->len)
			continue;
		*at = c->offset + (place - data);
		if (*n > c->len - (place - data))
			*n = c->len - (place - data);
		return true;
	}
	return false;
}

bool dump_map_hits(const struct dump_map *m, uint64_t at, uint64_t n,
		   uint64_t frame)
{
	const struct dump_frame *f = &m->frame[frame];

	return f->len && at < f->at + f->len && f->at < at + n;
}

const struct dump_frame *dump_map_frame(const struct dump_map *m,
					uint64_t place)
{
	uint64_t n = 1, at, i;

	if (!dump_map_dump(m, place, &n, &at))
		return NULL;
	for (i = 0; i < m->n_frames; i++)
		if (dump_map_hits(m, at, 1, i))
			return &m->frame[i];
	return NULL;
}
