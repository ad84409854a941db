/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads both forms of the kernel's log. No number from memory is trusted: sizes
 * are bounded, and the walk visits no more records than fit in the buffer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/object/printk.h"

/* "log_buf_len=" is at most 2 GiB, with a descriptor for 32 bytes of it
 * (kernel/printk/printk.c, LOG_BUF_LEN_MAX, PRB_AVGBITS). */
#define MOST_BITS 31
#define MOST_COUNT_BITS 26
/* Stop after this many descriptors in a row without a record. */
#define MOST_IN_A_ROW 65536
#define MOST_TEXT 65536
#define MOST_STRUCT 4096

/* The last byte of a record's head is "u8 flags:5; u8 level:3" in both forms;
 * the byte before it is the facility. The order of bit-fields depends on the
 * byte order. Dumps of another byte order are refused at open. */
static void put_level(struct pdet_printk_record *record, const uint8_t *bytes)
{
	record->facility = bytes[0];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	record->level = bytes[1] & 7;
#else
	record->level = bytes[1] >> 5;
#endif
}

static uint64_t get_u64(const char *buf, uint64_t at)
{
	uint64_t v;

	memcpy(&v, buf + at, sizeof(v));
	return v;
}

static uint16_t get_u16(const char *buf, uint64_t at)
{
	uint16_t v;

	memcpy(&v, buf + at, sizeof(v));
	return v;
}

/* --- since 5.10: a ring of descriptors, and one of texts --- */

/* Offsets in the structs. */
struct form {
	uint64_t desc_ring, text_ring;
	uint64_t count_bits, descs, infos, head_id, tail_id;
	uint64_t size_bits, data;
	uint64_t desc_size, state, block, begin, next;
	uint64_t info_size, seq, time, text_len;
};

struct ring {
	struct pdet_space *space;
	struct form form;
	uint64_t count, descs, infos; /* number of descriptors; addresses */
	uint64_t head, tail;	/* ids */
	uint64_t size, data;	/* size and address of the text */
	char *text;
};

static bool find_form(struct form *f, const struct pdet_vmcoreinfo *info)
{
	const struct {
		const char *name;
		uint64_t *ret;
	} offsets[] = {
		{ "printk_ringbuffer.desc_ring", &f->desc_ring },
		{ "printk_ringbuffer.text_data_ring", &f->text_ring },
		{ "prb_desc_ring.count_bits", &f->count_bits },
		{ "prb_desc_ring.descs", &f->descs },
		{ "prb_desc_ring.infos", &f->infos },
		{ "prb_desc_ring.head_id", &f->head_id },
		{ "prb_desc_ring.tail_id", &f->tail_id },
		{ "prb_data_ring.size_bits", &f->size_bits },
		{ "prb_data_ring.data", &f->data },
		{ "prb_desc.state_var", &f->state },
		{ "prb_desc.text_blk_lpos", &f->block },
		{ "prb_data_blk_lpos.begin", &f->begin },
		{ "prb_data_blk_lpos.next", &f->next },
		{ "printk_info.seq", &f->seq },
		{ "printk_info.ts_nsec", &f->time },
		{ "printk_info.text_len", &f->text_len },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(offsets); i++)
		if (!pdet_vmcoreinfo_offset(info, offsets[i].name,
					    offsets[i].ret) ||
		    *offsets[i].ret > MOST_STRUCT)
			return false;
	if (!pdet_vmcoreinfo_size(info, "prb_desc", &f->desc_size) ||
	    !pdet_vmcoreinfo_size(info, "printk_info", &f->info_size) ||
	    f->desc_size > MOST_STRUCT || f->info_size > MOST_STRUCT)
		return false;
	/* All reads stay within each struct. */
	return f->state + 8 <= f->desc_size &&
	       f->block + f->begin + 8 <= f->desc_size &&
	       f->block + f->next + 8 <= f->desc_size &&
	       f->seq + 8 <= f->info_size && f->time + 8 <= f->info_size &&
	       f->text_len + 4 <= f->info_size;
}

static int open_ring(struct ring *ring, uint64_t prb)
{
	const struct form *f = &ring->form;
	struct pdet_space *space = ring->space;
	uint32_t count_bits, size_bits;
	uint64_t at;
	int r;

	r = pdet_space_u64(space, prb, &at);
	if (r == 0)
		r = pdet_space_u32(space, at + f->desc_ring + f->count_bits,
				   &count_bits);
	if (r == 0)
		r = pdet_space_u64(space, at + f->desc_ring + f->descs,
				   &ring->descs);
	if (r == 0)
		r = pdet_space_u64(space, at + f->desc_ring + f->infos,
				   &ring->infos);
	if (r == 0)
		r = pdet_space_u64(space, at + f->desc_ring + f->head_id,
				   &ring->head);
	if (r == 0)
		r = pdet_space_u64(space, at + f->desc_ring + f->tail_id,
				   &ring->tail);
	if (r == 0)
		r = pdet_space_u32(space, at + f->text_ring + f->size_bits,
				   &size_bits);
	if (r == 0)
		r = pdet_space_u64(space, at + f->text_ring + f->data,
				   &ring->data);
	if (r < 0)
		return r;
	if (count_bits > MOST_COUNT_BITS || size_bits > MOST_BITS ||
	    size_bits < 4)
		return -EBADMSG;
	ring->count = (uint64_t)1 << count_bits;
	ring->size = (uint64_t)1 << size_bits;
	return 0;
}

/* The two highest bits of a descriptor's state word are its state; the rest is
 * its id. */
#define ID_MASK (UINT64_MAX >> 2)
enum { RESERVED = 0, COMMITTED = 1, FINALIZED = 2, REUSABLE = 3 };

/*
 * Read the text between two logical positions, which only increase. A block
 * that does not fit at the end of the buffer begins at its start. A block
 * starts with the id of its descriptor. Bit 0 of a position means that there is
 * no block: the text was empty (3), or there was no room (1).
 */
static int read_text(struct ring *ring, uint64_t id, uint64_t begin,
		     uint64_t next, size_t *len)
{
	const uint64_t mask = ring->size - 1;
	uint64_t at = begin & mask, bytes, owner;
	int r;

	if (begin & 1) {
		*len = 0;
		return begin == 3 && next == 3 ? 0 : -ENODATA;
	}
	if ((begin ^ (next - 1)) & ~mask) {
		at = 0;
		bytes = next & mask;
	} else {
		bytes = next - begin;
	}
	if (bytes < 8 || bytes > ring->size - at)
		return -EBADMSG;
	r = pdet_space_u64(ring->space, ring->data + at, &owner);
	if (r == 0 && (owner & ID_MASK) != id)
		r = -EBADMSG;
	*len = PDET_MIN(*len, PDET_MIN(bytes - 8, (uint64_t)MOST_TEXT));
	return r == 0 && *len ? pdet_space_read(ring->space,
						ring->data + at + 8,
						ring->text, *len) : r;
}

/* Returns 0, 1 if there is no record, or the reason why it cannot be read. */
static int read_record(struct ring *ring, uint64_t id,
		       struct pdet_printk_record *ret)
{
	const struct form *f = &ring->form;
	const uint64_t i = id & (ring->count - 1);
	char desc[MOST_STRUCT], info[MOST_STRUCT];
	uint64_t state, again;
	int r;

	r = pdet_space_read(ring->space, ring->descs + i * f->desc_size, desc,
			    f->desc_size);
	if (r == 0)
		r = pdet_space_read(ring->space, ring->infos + i * f->info_size,
				    info, f->info_size);
	if (r < 0)
		return r;
	state = get_u64(desc, f->state);
	/*
	 * Until the ring is full, the descriptor at its tail has not been used.
	 */
	if (state >> 62 == REUSABLE)
		return 1;
	if ((state & ID_MASK) != id || state >> 62 == RESERVED)
		return -EBADMSG;
	ret->seq = get_u64(info, f->seq);
	ret->time_ns = get_u64(info, f->time);
	ret->len = get_u16(info, f->text_len);
	put_level(ret, (const uint8_t *)info + f->text_len + 2);
	ret->text = ring->text;
	r = read_text(ring, id, get_u64(desc, f->block + f->begin),
		      get_u64(desc, f->block + f->next), &ret->len);
	/* A running kernel may have overwritten the record during the read. */
	if (r == 0)
		r = pdet_space_u64(ring->space, ring->descs +
				   i * f->desc_size + f->state, &again);
	return r == 0 && again != state ? -EBADMSG : r;
}

static int each_of_ring(struct ring *ring, struct pdet_printk_visit *visit)
{
	struct pdet_printk_record record;
	uint64_t id, n, without = 0;
	int r;

	for (n = 0, id = ring->tail & ID_MASK;
	     n < ring->count && without < MOST_IN_A_ROW;
	     n++, id = (id + 1) & ID_MASK) {
		r = read_record(ring, id, &record);
		if (r == -ENOMEM || r == -ETIMEDOUT)
			return r;
		without = r ? without + 1 : 0;
		visit->lost += r < 0;
		r = r == 0 ? visit->record(visit->arg, &record) : 0;
		if (r || id == (ring->head & ID_MASK))
			return r;
	}
	/*
	 * There may be other records before the head, which the walk did not
	 * reach.
	 */
	visit->lost++;
	return 0;
}

static int each_by_ring(struct pdet_space *space,
			const struct pdet_vmcoreinfo *info, uint64_t prb,
			struct pdet_printk_visit *visit)
{
	struct ring ring = { .space = space };
	int r;

	if (!find_form(&ring.form, info))
		return -ENODATA;
	r = open_ring(&ring, prb);
	if (r < 0)
		return r;
	ring.text = malloc(MOST_TEXT);
	if (!ring.text)
		return -ENOMEM;
	r = each_of_ring(&ring, visit);
	free(ring.text);
	return r;
}

/* --- until 5.9: consecutive records --- */

struct buffer {
	struct pdet_space *space;
	uint64_t log_size, time, len, text_len, dict_len; /* offsets in a
							   * printk_log */
	uint64_t data;
	uint32_t size, first, next;
};

static bool find_old_form(struct buffer *b, const struct pdet_vmcoreinfo *info)
{
	return pdet_vmcoreinfo_size(info, "printk_log", &b->log_size) &&
	       pdet_vmcoreinfo_offset(info, "printk_log.ts_nsec", &b->time) &&
	       pdet_vmcoreinfo_offset(info, "printk_log.len", &b->len) &&
	       pdet_vmcoreinfo_offset(info, "printk_log.text_len",
				      &b->text_len) &&
	       pdet_vmcoreinfo_offset(info, "printk_log.dict_len",
				      &b->dict_len) &&
	       b->log_size <= MOST_STRUCT && b->time <= MOST_STRUCT &&
	       b->len <= MOST_STRUCT && b->text_len <= MOST_STRUCT &&
	       b->dict_len <= MOST_STRUCT && b->time + 8 <= b->log_size &&
	       b->len + 2 <= b->log_size && b->text_len + 2 <= b->log_size &&
	       b->dict_len + 4 <= b->log_size;
}

static int open_buffer(struct buffer *b, const struct pdet_vmcoreinfo *info,
		       uint64_t log_buf)
{
	uint64_t size, first, next;
	int r;

	if (!find_old_form(b, info) ||
	    !pdet_vmcoreinfo_symbol(info, "log_buf_len", &size) ||
	    !pdet_vmcoreinfo_symbol(info, "log_first_idx", &first) ||
	    !pdet_vmcoreinfo_symbol(info, "log_next_idx", &next))
		return -ENODATA;
	r = pdet_space_u64(b->space, log_buf, &b->data);
	if (r == 0)
		r = pdet_space_u32(b->space, size, &b->size);
	if (r == 0)
		r = pdet_space_u32(b->space, first, &b->first);
	if (r == 0)
		r = pdet_space_u32(b->space, next, &b->next);
	if (r == 0 && (b->size > (uint32_t)1 << MOST_BITS ||
		       b->first >= b->size || b->next > b->size))
		r = -EBADMSG;
	return r;
}

/*
 * Returns 1 if the rest of the buffer is unused; the next record is then at its
 * start.
 */
static int read_old(struct buffer *b, uint32_t at, char *text, uint32_t *len,
		    struct pdet_printk_record *ret)
{
	char head[MOST_STRUCT];
	int r;

	if (at + b->log_size > b->size)
		return 1;
	r = pdet_space_read(b->space, b->data + at, head, b->log_size);
	if (r < 0)
		return r;
	*len = get_u16(head, b->len);
	if (!*len)
		return 1;
	ret->len = get_u16(head, b->text_len);
	if (ret->len > MOST_TEXT || *len < b->log_size + ret->len ||
	    at + (uint64_t)*len > b->size)
		return -EBADMSG;
	ret->time_ns = get_u64(head, b->time);
	put_level(ret, (const uint8_t *)head + b->dict_len + 2);
	ret->text = text;
	return ret->len ? pdet_space_read(b->space, b->data + at + b->log_size,
					  text, ret->len) : 0;
}

static int each_by_buffer(struct buffer *b, struct pdet_printk_visit *visit)
{
	struct pdet_printk_record record = { .seq = 0 };
	bool wrapped = b->first < b->next;
	uint32_t at = b->first, len = 0;
	char *text = malloc(MOST_TEXT);
	int r = 0;

	if (!text)
		return -ENOMEM;
	while (r == 0 && at != b->next) {
		r = read_old(b, at, text, &len, &record);
		if (r == 1 && !wrapped) {
			wrapped = true;
			at = 0;
			r = 0;
			continue;
		}
		/* The start of the next record is now unknown. */
		if (r && r != -ENOMEM && r != -ETIMEDOUT) {
			visit->lost++;
			r = 0;
			break;
		}
		if (r == 0)
			r = visit->record(visit->arg, &record);
		at += len;
		if (wrapped && at > b->next) {
			visit->lost++;
			break;
		}
	}
	free(text);
	return r;
}

int pdet_printk_each(struct pdet_space *space,
		     const struct pdet_vmcoreinfo *info,
		     struct pdet_printk_visit *visit)
{
	struct buffer b = { .space = space };
	uint64_t at;
	int r;

	visit->lost = 0;
	if (pdet_vmcoreinfo_symbol(info, "prb", &at))
		return each_by_ring(space, info, at, visit);
	if (!pdet_vmcoreinfo_symbol(info, "log_buf", &at))
		return -ENODATA;
	r = open_buffer(&b, info, at);
	return r < 0 ? r : each_by_buffer(&b, visit);
}
