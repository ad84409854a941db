/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads ELF dumps: those of QEMU, copies of /proc/vmcore, and those of
 * makedumpfile -E. The memory of a segment beyond its file size was excluded
 * from the dump. Where segments overlap, the one with bytes in the file is
 * used.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "memory/block_cache.h"
#include "memory/elf_head.h"
#include "memory/memory.h"
#include "memory/note.h"
#include "pagedet.h"

/* Reads smaller than half a block use the cache. */
#define BLOCK ((size_t)4096)

/* No machine has longer physical addresses. */
#define PHYS_BITS 56

struct elf {
	struct pdet_memory m;
	struct pdet_dump_file file;
	struct pdet_overlay pieces; /* index into parts */
	struct {
		struct elf_part {
			uint64_t first;	/* physical */
			uint64_t offset;
			int result;	/* result of a read, if not 0 */
		} *data;
		size_t n, cap;
	} parts;
};

struct elf_reader {
	struct pdet_reader reader;
	const struct pdet_piece *last;	/* the last piece read */
	struct pdet_dump_cursor cursor;
	struct pdet_block_cache cache;
};

static bool elf_probe(struct pdet_env *env, const int *fds, size_t n)
{
	(void)env;
	return n && pdet_dump_file_form(fds[0]) == PDET_DUMP_ELF;
}

struct layers {
	struct pdet_layer *data;
	size_t n, cap;
};

/*
 * Add @n bytes of a segment. A part that is easier to read gets a greater
 * height.
 */
static bool add_part(struct elf *e, struct layers *l, uint64_t first,
		     uint64_t n, uint64_t offset, int result)
{
	uint64_t height = result == 0 ? 2 : result == -EIO;

	if (!n)
		return true;
	/* the first of several equal parts wins */
	height = height << 32 | (UINT32_MAX - e->parts.n);
	return pdet_vec_push(l, (struct pdet_layer){
			first, first + n - 1, height,
			(uint32_t)e->parts.n }) &&
	       pdet_vec_push(&e->parts, (struct elf_part){
			first, offset, result });
}

static bool add_segment(struct elf *e, struct layers *l, struct pdet_env *env,
			const struct pdet_elf_segment *s)
{
	uint64_t there = PDET_MIN(s->filesz, s->memsz), left;

	/* Its physical addresses are impossible. */
	if (s->paddr >> PHYS_BITS || s->memsz >> PHYS_BITS ||
	    (s->paddr + s->memsz) >> PHYS_BITS) {
		if (s->paddr != UINT64_MAX)
			pdet_log(env, PAGEDET_LOG_WARNING, "a segment without "
				 "a physical address was left out");
		return true;
	}
	left = s->offset < e->file.size ? e->file.size - s->offset : 0;
	left = PDET_MIN(left, there);
	if (left < there) {
		e->m.ends_at = e->file.bytes;
		e->m.whole = e->file.flattened ? 0 :
			     PDET_MAX(e->m.whole, s->offset + there);
	}
	return add_part(e, l, s->paddr, left, s->offset, 0) &&
	       add_part(e, l, s->paddr + left, there - left, 0, -EIO) &&
	       add_part(e, l, s->paddr + there, s->memsz - there, 0, -ENODATA);
}

/*
 * A core dump of a process has the same invalid physical address in all
 * segments.
 */
static bool is_process(const struct pdet_elf_head *head)
{
	size_t i, loads = 0;

	for (i = 0; i < head->n; i++) {
		if (head->data[i].type != PT_LOAD)
			continue;
		if (head->data[i].paddr)
			return false;
		loads++;
	}
	return loads > 1;
}

static int take_memory(struct elf *e, struct pdet_env *env,
		       const struct pdet_elf_head *head)
{
	struct layers layers = { NULL, 0, 0 };
	int r = -ENOMEM;
	size_t i;

	for (i = 0; i < head->n; i++)
		if (head->data[i].type == PT_LOAD &&
		    !add_segment(e, &layers, env, &head->data[i]))
			break;
	if (i == head->n)
		r = pdet_overlay_make(&e->pieces, layers.data, layers.n);
	pdet_vec_free(&layers);
	for (i = 0; r == 0 && i < e->pieces.n; i++) {
		const struct pdet_piece *p = &e->pieces.data[i];

		if (e->parts.data[p->what].result == -EIO)
			e->m.missing += p->last - p->first + 1;
		r = pdet_memory_add_range(&e->m, p->first, p->last);
	}
	if (r < 0)
		return pdet_fail(env, -r, "no memory");
	if (!e->pieces.n)
		return pdet_fail(env, EBADMSG, "it is an ELF file without "
				 "memory");
	return 0;
}

static int take_head(struct elf *e, struct pdet_env *env,
		     const struct pdet_elf_head *head)
{
	struct pdet_notes notes;
	const char *text;
	size_t len;
	int r;

	r = pdet_elf_notes_read(head, &e->file, &e->m.notes, &e->m.notes_len);
	if (r < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	e->m.notes_lost = r;
	notes = (struct pdet_notes){ e->m.notes, e->m.notes_len };
	if (pdet_notes_vmcoreinfo(notes, &text, &len)) {
		r = pdet_memory_take_vmcoreinfo(&e->m, text, len);
		if (r < 0)
			return pdet_fail(env, ENOMEM, "no memory");
	}
	if (!e->m.vmcoreinfo && is_process(head))
		return pdet_fail(env, EBADMSG, "it is the core file of a "
				 "process, not of a kernel");
	e->m.machine = head->machine;
	snprintf(e->m.format, sizeof(e->m.format), "ELF%s",
		 e->file.flattened ? ", flattened" : "");
	return take_memory(e, env, head);
}

static int elf_open(struct pdet_memory *m, struct pdet_env *env,
		    const int *fds, size_t n)
{
	struct elf *e = (struct elf *)m;
	struct pdet_elf_head head;
	int r;

	if (n > 1)
		return pdet_fail(env, EINVAL, "it is an ELF dump, which is one "
				 "file, but %zu files are named", n);
	r = pdet_dump_file_open(&e->file, env, fds[0]);
	if (r < 0)
		return r;
	r = pdet_elf_head_read(&head, env, &e->file);
	if (r < 0)
		return r;
	r = take_head(e, env, &head);
	pdet_elf_head_free(&head);
	return r;
}

static void elf_close(struct pdet_memory *m)
{
	struct elf *e = (struct elf *)m;

	pdet_dump_file_close(&e->file);
	pdet_vec_free(&e->pieces);
	pdet_vec_free(&e->parts);
}

static void elf_reader_free(struct pdet_reader *r)
{
	pdet_block_cache_free(&((struct elf_reader *)r)->cache);
	free(r);
}

static int elf_reader_new(struct pdet_memory *m, size_t cache_bytes,
			  struct pdet_reader **ret)
{
	struct elf_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->reader.memory = m;
	r->cursor = (struct pdet_dump_cursor)PDET_DUMP_CURSOR;
	if (!pdet_block_cache_init(&r->cache, BLOCK, cache_bytes)) {
		elf_reader_free(&r->reader);
		return -ENOMEM;
	}
	*ret = &r->reader;
	return 0;
}

/* The piece that contains @addr. NULL: there is no memory. */
static const struct pdet_piece *find(struct elf_reader *r, uint64_t addr)
{
	const struct elf *e = (const struct elf *)r->reader.memory;
	const struct pdet_piece *p = r->last;

	if (p && addr >= p->first && addr <= p->last)
		return p;
	p = pdet_overlay_find(&e->pieces, addr);
	if (!p || addr < p->first)
		return NULL;
	r->last = p;
	return p;
}

static int read_part(struct elf_reader *r, const struct elf_part *part,
		     uint64_t addr, void *buf, size_t n)
{
	const struct elf *e = (const struct elf *)r->reader.memory;

	return pdet_dump_file_read(&e->file, &r->cursor, buf, n,
				   part->offset + (addr - part->first));
}

/* A small read within a block that is entirely in the file. */
static int read_block(struct elf_reader *r, const struct elf_part *part,
		      uint64_t addr, void *buf, size_t n)
{
	uint64_t number = addr / BLOCK;
	char *block = pdet_block_cache_add(&r->cache, number);
	int result = read_part(r, part, number * BLOCK, block, BLOCK);

	if (result < 0) {
		pdet_block_cache_drop(&r->cache, number);
		/* the error may be outside the requested bytes */
		return read_part(r, part, addr, buf, n);
	}
	memcpy(buf, block + addr % BLOCK, n);
	return 0;
}

static int elf_read_phys(struct pdet_reader *reader, uint64_t addr, void *buf,
			 size_t n)
{
	struct elf_reader *r = (struct elf_reader *)reader;
	const struct elf *e = (const struct elf *)reader->memory;
	bool small = n < BLOCK / 2 && addr % BLOCK + n <= BLOCK;
	uint64_t start = addr - addr % BLOCK;
	const struct elf_part *part;
	const struct pdet_piece *p;
	const char *block;
	char *out = buf;
	size_t len;
	int result;

	if (small) {
		block = pdet_block_cache_find(&r->cache, addr / BLOCK);
		if (block) {
			memcpy(buf, block + addr % BLOCK, n);
			return 0;
		}
	}
	for (; n; addr += len, out += len, n -= len) {
		p = find(r, addr);
		if (!p)
			return -ENOENT;
		part = &e->parts.data[p->what];
		if (part->result < 0)
			return part->result;
		len = p->last - addr < n ? (size_t)(p->last - addr) + 1 : n;
		if (small && p->first <= start && p->last >= start + BLOCK - 1)
			result = read_block(r, part, addr, out, len);
		else
			result = read_part(r, part, addr, out, len);
		if (result < 0)
			return result;
	}
	return 0;
}

static uint64_t elf_next_phys(struct pdet_reader *reader, uint64_t addr)
{
	const struct elf *e = (const struct elf *)reader->memory;
	const struct pdet_piece *p = pdet_overlay_find(&e->pieces, addr);
	const struct pdet_piece *end = e->pieces.data + e->pieces.n;

	for (; p && p < end; p++)
		if (e->parts.data[p->what].result == 0)
			return PDET_MAX(addr, p->first);
	return UINT64_MAX;
}

const struct pdet_memory_ops pdet_memory_elf = {
	.name = "elf",
	.source = PAGEDET_SOURCE_VMCORE,
	.size = sizeof(struct elf),
	.probe = elf_probe,
	.open = elf_open,
	.close = elf_close,
	.reader_new = elf_reader_new,
	.reader_free = elf_reader_free,
	.read_phys = elf_read_phys,
	.next_phys = elf_next_phys,
};
