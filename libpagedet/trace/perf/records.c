/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Two windows: one of the file, and one of what its compressed records hold. A
 * record may begin in one compressed record and end in the next.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "trace/perf/records.h"
#include "trace/ring.h"

/* A record has 64 KB at most. */
#define WINDOW ((size_t)256 << 10)

/* Records that hold others, in a stream of zstd that goes through all. */
#define COMPRESSED 81
#define COMPRESSED_SIZED 83	/* with the length of its data in front */

static int no_memory(struct pdet_records *r)
{
	return pdet_fail(r->env, ENOMEM, "no memory");
}

int pdet_records_begin(struct pdet_records *r)
{
	r->file.bytes = malloc(WINDOW);
	r->unpacked.bytes = malloc(WINDOW);
	return r->file.bytes && r->unpacked.bytes ? 0 : no_memory(r);
}

void pdet_records_end(struct pdet_records *r)
{
	if (r->decoder)
		pdet_decoder_close(r->decoder);
	free(r->file.bytes);
	free(r->unpacked.bytes);
}

uint64_t pdet_records_here(const struct pdet_records *r)
{
	return r->s->offset - (r->file.n - r->file.at);
}

void pdet_records_seek(struct pdet_records *r, uint64_t offset)
{
	r->file.at = r->file.n = 0;
	r->s->offset = PDET_MIN(offset, r->s->end);
}

/* Nothing behind this place can be read. */
static int give_up(struct pdet_records *r)
{
	r->s->loss.damaged++;
	r->s->offset = r->s->end;
	r->file.at = r->file.n = 0;
	r->unpacked.at = r->unpacked.n = 0;
	r->n_packed = 0;
	r->more = false;
	return 0;
}

static void make_room(struct pdet_records_window *w)
{
	w->n -= w->at;
	memmove(w->bytes, w->bytes + w->at, w->n);
	w->at = 0;
}

/* Whether the window has a whole record. -EBADMSG: it is not one. */
static int take(const struct pdet_records *r, struct pdet_records_window *w,
		const unsigned char **record, uint32_t *size)
{
	const unsigned char *at = w->bytes + w->at;
	const size_t left = w->n - w->at;

	if (left < PDET_RECORD_HEAD)
		return 0;
	*size = (uint32_t)pdet_ring_number(at + 6, 2, r->big_endian);
	if (*size < PDET_RECORD_HEAD)
		return -EBADMSG;
	if (left < *size)
		return 0;
	*record = at;
	w->at += *size;
	return 1;
}

static int from_file(struct pdet_records *r, const unsigned char **record,
		     uint32_t *size)
{
	struct pdet_records_window *w = &r->file;
	ssize_t n;
	int found;

	while (!(found = take(r, w, record, size))) {
		make_room(w);
		n = pdet_pread(r->fd, w->bytes + w->n, (size_t)
			       PDET_MIN(WINDOW - w->n,
					r->s->end - r->s->offset),
			       r->s->offset);
		if (n < 0) {
			errno = (int)-n;
			return pdet_fail_errno(r->env, "cannot read the trace");
		}
		if (!n)
			return w->n || r->s->offset < r->s->end ? give_up(r) :
								  0;
		w->n += (size_t)n;
		r->s->offset += (uint64_t)n;
	}
	return found < 0 ? give_up(r) : 1;
}

static int unpack(struct pdet_records *r)
{
	static const char zstd[] = "\x28\xb5\x2f\xfd\0\0";
	struct pdet_records_window *w = &r->unpacked;
	struct pdet_decoding io;
	int n;

	if (!r->decoder) {
		n = pdet_decoder_open(r->env, zstd, sizeof(zstd) - 1,
				      &r->decoder);
		if (n < 0)
			return n;
	}
	make_room(w);
	io = (struct pdet_decoding){ (const char *)r->packed, r->n_packed,
				     (char *)w->bytes + w->n, WINDOW - w->n };
	n = pdet_decoder_run(r->decoder, &io);
	if (n == -ENOMEM)
		return no_memory(r);
	/* It must go on, or this would not end. */
	if (n < 0 || (r->n_packed && io.in_n == r->n_packed &&
		      io.out_n == WINDOW - w->n))
		return -EBADMSG;
	r->packed += r->n_packed - io.in_n;
	r->n_packed = io.in_n;
	w->n = WINDOW - io.out_n;
	r->more = !io.out_n;
	return 0;
}

static int from_unpacked(struct pdet_records *r, const unsigned char **record,
			 uint32_t *size)
{
	int found;

	while (!(found = take(r, &r->unpacked, record, size))) {
		if (!r->n_packed && !r->more)
			return 0;
		found = unpack(r);
		if (found < 0)
			return found;
	}
	return found;
}

static bool is_packed(struct pdet_records *r, const unsigned char *record,
		      uint32_t size)
{
	const uint64_t type = pdet_ring_number(record, 4, r->big_endian);
	uint64_t n;

	if (type == COMPRESSED) {
		r->packed = record + PDET_RECORD_HEAD;
		r->n_packed = size - PDET_RECORD_HEAD;
		return true;
	}
	if (type != COMPRESSED_SIZED || size < PDET_RECORD_HEAD + 8)
		return false;
	n = pdet_ring_number(record + PDET_RECORD_HEAD, 8, r->big_endian);
	r->packed = record + PDET_RECORD_HEAD + 8;
	r->n_packed = PDET_MIN(n, (uint64_t)size - PDET_RECORD_HEAD - 8);
	return true;
}

int pdet_records_next(struct pdet_records *r, const unsigned char **record,
		      uint32_t *size)
{
	int found;

	for (;;) {
		found = from_unpacked(r, record, size);
		if (found == -EBADMSG)
			return give_up(r);
		if (found)
			return found;
		found = from_file(r, record, size);
		if (!found && r->unpacked.n > r->unpacked.at)
			return give_up(r);
		if (found <= 0 || !is_packed(r, *record, *size))
			return found;
	}
}
