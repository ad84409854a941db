/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the records of .debug_frame (DWARF, "Call Frame Information"). They
 * have addresses of the file, and offsets in the section; those of .eh_frame
 * have addresses of the process, and distances. Only what compilers write for
 * x86 is known: 32-bit DWARF without augmentation.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "unwind/debug_frame.h"
#include "unwind/dwarf/frame_record.h"

#define CIE UINT32_MAX

static int ascending(const void *a, const void *b)
{
	const struct pdet_debug_entry *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return (x->fde > y->fde) - (x->fde < y->fde);
}

static uint64_t address(const struct pdet_debug_frame *f,
			struct pdet_frame_rest *r)
{
	return f->narrow ? pdet_frame_u32(r) : pdet_frame_u64(r);
}

int pdet_debug_frame_index(struct pdet_debug_frame *ret)
{
	struct { struct pdet_debug_entry *data; size_t n, cap; } found = {
		NULL, 0, 0
	};
	struct pdet_debug_entry e;
	struct pdet_frame_rest r;
	size_t at = 0, next;
	bool is_fde;

	while (at <= UINT32_MAX &&
	       pdet_frame_record(ret->bytes, ret->size, at, &r)) {
		next = (size_t)(r.end - ret->bytes);
		is_fde = pdet_frame_u32(&r) != CIE;
		e = (struct pdet_debug_entry){ address(ret, &r), (uint32_t)at };
		if (is_fde && !r.bad && !pdet_vec_push(&found, e)) {
			pdet_vec_free(&found);
			return -ENOMEM;
		}
		at = next;
	}
	if (found.n)
		qsort(found.data, found.n, sizeof(*found.data), ascending);
	ret->entries = found.data;
	ret->n = found.n;
	return 0;
}

void pdet_debug_frame_free(struct pdet_debug_frame *f)
{
	free(f->bytes);
	free(f->entries);
	*f = (struct pdet_debug_frame){ .bytes = NULL };
}

/* --- as .eh_frame has them --- */

static bool put(struct pdet_frame_pair *p, const void *from, size_t n)
{
	if (n > sizeof(p->bytes) - p->n)
		return false;
	memcpy(p->bytes + p->n, from, n);
	p->n += n;
	return true;
}

/* The rest of a record, whose length is before @start. */
static bool put_rest(struct pdet_frame_pair *p, size_t start,
		     const struct pdet_frame_rest *r)
{
	uint32_t length;

	if (r->bad || !put(p, r->at, (size_t)(r->end - r->at)))
		return false;
	length = (uint32_t)(p->n - start);
	memcpy(p->bytes + start - sizeof(length), &length, sizeof(length));
	return true;
}

/* Version 4 is version 3 with two sizes. */
static bool put_cie(struct pdet_frame_pair *p, struct pdet_frame_rest r,
		    size_t word)
{
	const uint32_t head[2] = { 0, 0 };
	uint8_t version, augmentation;

	if (pdet_frame_u32(&r) != CIE)
		return false;
	version = (uint8_t)pdet_frame_u8(&r);
	augmentation = (uint8_t)pdet_frame_u8(&r);
	if (augmentation || (version != 1 && version != 3 && version != 4))
		return false;
	if (version == 4) {
		if (pdet_frame_u8(&r) != word || pdet_frame_u8(&r) != 0)
			return false;
		version = 3;
	}
	return put(p, head, sizeof(head)) && put(p, &version, 1) &&
	       put(p, &augmentation, 1) && put_rest(p, 4, &r);
}

/* Its CIE is at the start of @p. */
static bool put_fde(struct pdet_frame_pair *p, size_t word, uint64_t ip,
		    uint64_t bytes, const struct pdet_frame_rest *r)
{
	const uint32_t head[2] = { 0, (uint32_t)p->n + 4 };

	p->fde = p->n;
	return put(p, head, sizeof(head)) && put(p, &ip, word) &&
	       put(p, &bytes, word) && put_rest(p, p->fde + 4, r);
}

static const struct pdet_debug_entry *entry_before(
	const struct pdet_debug_frame *f, uint64_t ip)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (f->entries[mid].ip <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &f->entries[low - 1] : NULL;
}

bool pdet_debug_frame_get(const struct pdet_debug_frame *f, uint64_t ip,
			  uint64_t base, struct pdet_frame_pair *ret)
{
	const struct pdet_debug_entry *e = entry_before(f, ip);
	const size_t word = f->narrow ? sizeof(uint32_t) : sizeof(uint64_t);
	struct pdet_frame_rest fde, cie;
	uint64_t start, bytes;
	uint32_t at;

	if (!e || !pdet_frame_record(f->bytes, f->size, e->fde, &fde))
		return false;
	at = pdet_frame_u32(&fde);
	start = address(f, &fde);
	bytes = address(f, &fde);
	ret->n = 0;
	return !fde.bad && ip - start < bytes &&
	       pdet_frame_record(f->bytes, f->size, at, &cie) &&
	       put_cie(ret, cie, word) &&
	       put_fde(ret, word, start + base, bytes, &fde);
}
