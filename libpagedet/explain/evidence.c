/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Serialises evidence: a head, then one record per page, and nothing else. All
 * numbers are little-endian.
 *
 *   head     8 "PDETEVID"   2 version   2 zero   4 records
 *            8 bytes behind the head    8 XXH3-64 of the 24 bytes before it
 *                                         and the XXH3-64 of the records
 *   record   4 bytes behind this number, then parts
 *   part     2 tag   2 bytes behind this number, then its value
 *
 * Tags never change their meaning, and a part that is all zero is not written.
 * A row is a list of cells: 1 field, 2 cell, 1 width of the value (0, 4, 8),
 * the value. Readers skip unknown tags and fields.
 */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "base/text/text.h"
#include "explain/evidence.h"
#include "schema/schema.h"

#define VERSION 1

/* Room in which the beginning of a sentence may tell something. */
#define LEAST_PROSE 32

static const char magic[8] = "PDETEVID";

enum kind {
	NUMBERS32,
	NUMBERS64,
	ROW,
	TEXTS
};

struct part {
	uint16_t tag;
	uint16_t count;		/* how many numbers */
	uint32_t at;
	uint32_t kind;
};

#define AT(member) offsetof(struct pagedet_evidence, member)
#define COUNT(member, type) \
	(sizeof(((struct pagedet_evidence *)0)->member) / sizeof(type))
#define N32(tag, member) \
	{ tag, COUNT(member, uint32_t), AT(member), NUMBERS32 }
#define N64(tag, member) \
	{ tag, COUNT(member, uint64_t), AT(member), NUMBERS64 }

static const struct part parts[] = {
	N64(1, id),
	{ 2, 0, AT(here), ROW },
	{ 3, 0, AT(peer), ROW },
	{ 4, 0, AT(texts), TEXTS },
	N64(5, hash), N64(6, hash_key), N64(7, hash_ns), N32(8, hash_state),
	N32(9, zero), N32(10, questions), N32(11, one_host),
	N32(12, here_frozen), N32(13, peer_frozen), N32(14, here_read),
	N32(15, peer_read), N32(16, track), N32(17, compared), N64(18, bits),
	N64(19, bytes), N32(20, shape), N32(21, file_written),
	N64(22, file_ns), N64(23, mappers), N64(24, mapper_comm),
	N32(25, mapper_pid), N32(26, extra_mappers), N32(27, counters_here),
	N32(28, counters_peer), N32(29, same_as_other), N32(30, unique),
	N64(31, same_as), N32(32, earlier), N32(33, mode),
	N32(34, peer_complete), N32(35, peer_discarded), N64(36, pass_sent),
	N64(37, earlier_pass), N32(38, alloc_task), N32(39, no_swap),
	N64(40, alloc_frame), N32(41, here_hole), N32(42, peer_hole),
	N64(43, more_hash), N64(44, more_key), N64(45, more_ns),
	N32(46, more_state), N32(47, more_zero), N32(48, here_missing),
	N32(49, peer_missing), N32(50, here_discarded), N32(51, sent_stopped),
	N32(52, here_ran), N32(53, peer_ran), N32(54, here_other_maps),
	N32(55, peer_other_maps), N32(56, peer_mapper_pid),
	N64(57, differences), N64(58, folio_mapcount), N32(59, folio_counted),
	N32(60, stopped_drained),
};

void pdet_evidence_get(struct pagedet_evidence *e, const void *from,
		       uint64_t size)
{
	memset(e, 0, sizeof(*e));
	memcpy(e, from, PDET_MIN(size, sizeof(*e)));
}

/* Where there is room for another text. */
static size_t end_of_texts(const struct pagedet_evidence *e)
{
	size_t last = sizeof(e->texts) - 1;

	while (last && !e->texts[last])
		last--;
	return last ? last + 2 : 1;
}

uint64_t pdet_evidence_text(struct pagedet_evidence *e, const char *text)
{
	const size_t len = strlen(text) + 1;
	const size_t end = end_of_texts(e);

	if (len == 1 || end + len > sizeof(e->texts))
		return 0;
	memcpy(e->texts + end, text, len);
	return end;
}

uint64_t pdet_evidence_prose(struct pagedet_evidence *e, const char *text)
{
	const size_t len = strlen(text);
	const size_t end = end_of_texts(e);

	if (!len || end + PDET_MIN(len + 1, LEAST_PROSE) > sizeof(e->texts))
		return 0;
	pdet_shortened(e->texts + end, sizeof(e->texts) - end,
		       (struct pdet_scan){ text, text + len });
	return end;
}

struct pdet_version pdet_version(const struct pagedet_evidence *e, unsigned v)
{
	const unsigned more = v - PAGEDET_AS_MORE;

	if (v < PAGEDET_AS_MORE)
		return (struct pdet_version){ e->hash[v], e->hash_key[v],
					      e->hash_ns[v], e->hash_state[v],
					      e->zero[v] };
	return (struct pdet_version){ e->more_hash[more], e->more_key[more],
				      e->more_ns[more], e->more_state[more],
				      e->more_zero[more] };
}

bool pdet_evidence_is_known(const void *evidence, uint64_t size)
{
	uint64_t i;

	for (i = sizeof(struct pagedet_evidence); i < size; i++)
		if (((const char *)evidence)[i])
			return false;
	return true;
}

/* --- writing; the bytes are counted even if they do not fit --- */

struct out {
	unsigned char *at;	/* NULL: only count */
	uint64_t len;
};

static void put(struct out *o, const void *data, size_t len)
{
	if (o->at)
		memcpy(o->at + o->len, data, len);
	o->len += len;
}

static void put_number(struct out *o, uint64_t value, size_t width)
{
	const uint64_t le = htole64(value);

	put(o, &le, width);
}

/* Overwrites a place that was reserved. */
static void patch(struct out *o, uint64_t at, uint64_t value, size_t width)
{
	const uint64_t le = htole64(value);

	if (o->at)
		memcpy(o->at + at, &le, width);
}

static uint64_t number_at(const void *from, size_t width)
{
	uint64_t wide;
	uint32_t narrow;

	if (width == sizeof(narrow)) {
		memcpy(&narrow, from, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, from, sizeof(wide));
	return wide;
}

/* Addresses of the upper half belong to the kernel. */
static bool is_secret(unsigned field, uint64_t value)
{
	return value >> 63 && (field == PAGEDET_FIELD_VADDR ||
			       field == PAGEDET_FIELD_VMA_START ||
			       field == PAGEDET_FIELD_VMA_END);
}

static void put_row(struct out *o, const uint64_t *words)
{
	struct pagedet_page row;
	unsigned f;

	memcpy(&row, words, sizeof(row));
	for (f = 0; f < PDET_FIELDS; f++) {
		const struct pagedet_field_info *info = pdet_field_info(f);
		uint64_t value = number_at((char *)&row + info->offset,
					   info->width);
		uint16_t cell = row.cell[f];

		if (!cell)
			continue;
		if (is_secret(f, value))
			cell = (uint16_t)((cell & 0xff00u) | PAGEDET_DENIED);
		put_number(o, f, 1);
		put_number(o, cell, 2);
		if (PAGEDET_CELL_STATE(cell) != PAGEDET_HAVE) {
			put_number(o, 0, 1);
			continue;
		}
		put_number(o, info->width, 1);
		put_number(o, value, info->width);
	}
}

/* Omits the zeroes at the end. A reader leaves the last byte zero. */
static void put_texts(struct out *o, const char *texts)
{
	size_t len = PAGEDET_EVIDENCE_TEXT - 1;

	while (len && !texts[len - 1])
		len--;
	put(o, texts, len);
}

static void put_numbers(struct out *o, const char *from, const struct part *p)
{
	const size_t width = p->kind == NUMBERS32 ? 4 : 8;
	unsigned i, some = 0;

	for (i = 0; i < p->count; i++)
		some |= number_at(from + i * width, width) != 0;
	for (i = 0; some && i < p->count; i++)
		put_number(o, number_at(from + i * width, width), width);
}

static void put_value(struct out *o, const char *from, const struct part *p)
{
	if (p->kind == ROW)
		put_row(o, (const uint64_t *)(const void *)from);
	else if (p->kind == TEXTS)
		put_texts(o, from);
	else
		put_numbers(o, from, p);
}

static void put_part(struct out *o, const struct pagedet_evidence *e,
		     const struct part *p)
{
	const char *from = (const char *)e + p->at;
	struct out length = { NULL, 0 };

	put_value(&length, from, p);
	if (!length.len)
		return;
	put_number(o, p->tag, 2);
	put_number(o, length.len, 2);
	put_value(o, from, p);
}

static void put_record(struct out *o, const struct pagedet_evidence *e)
{
	const uint64_t start = o->len;
	size_t i;

	put_number(o, 0, 4);
	for (i = 0; i < PDET_COUNT(parts); i++)
		put_part(o, e, &parts[i]);
	patch(o, start, o->len - start - 4, 4);
}

static void put_all(struct out *o, const char *evidence, uint64_t stride,
		    uint64_t n)
{
	struct pagedet_evidence e;
	uint64_t i;

	put(o, magic, sizeof(magic));
	put_number(o, VERSION, 2);
	put_number(o, 0, 2);
	put_number(o, n, 4);
	put_number(o, 0, 8);
	put_number(o, 0, 8);
	for (i = 0; i < n; i++) {
		pdet_evidence_get(&e, evidence + i * stride, stride);
		put_record(o, &e);
	}
	patch(o, 16, o->len - PDET_EVIDENCE_HEAD, 8);
}

/*
 * The checksum of the head up to this place, and of the checksum of the
 * records.
 */
static uint64_t sum_of(const void *bytes, uint64_t size)
{
	unsigned char parts_of_it[32];
	uint64_t body;

	body = htole64(pdet_hash((const char *)bytes + PDET_EVIDENCE_HEAD,
				 size - PDET_EVIDENCE_HEAD));
	memcpy(parts_of_it, bytes, 24);
	memcpy(parts_of_it + 24, &body, 8);
	return pdet_hash(parts_of_it, sizeof(parts_of_it));
}

void pdet_evidence_seal(void *bytes, uint64_t size)
{
	uint64_t sum;

	if (size < PDET_EVIDENCE_HEAD)
		return;
	sum = htole64(sum_of(bytes, size));
	memcpy((char *)bytes + 24, &sum, 8);
}

int pdet_evidence_save(struct pdet_env *env, const void *evidence,
		       uint64_t stride, uint64_t n, void *bytes, uint64_t size,
		       uint64_t *ret)
{
	struct out o = { NULL, 0 };
	uint64_t i;

	if (n > INT_MAX)
		return pdet_fail(env, EOVERFLOW, "cannot save evidence: too "
				 "many pages");
	if (n && stride < PDET_EVIDENCE_FIRST)
		return pdet_fail(env, EINVAL, "this library does not know "
					      "evidence of this size");
	for (i = 0; i < n; i++)
		if (!pdet_evidence_is_known((const char *)evidence + i * stride,
					    stride))
			return pdet_fail(env, E2BIG, "the evidence has parts "
					 "that this library does not know");
	put_all(&o, evidence, stride, n);
	if (bytes && o.len <= size) {
		o.at = bytes;
		o.len = 0;
		put_all(&o, evidence, stride, n);
		pdet_evidence_seal(bytes, o.len);
	}
	*ret = o.len;
	return 0;
}

/* --- reading --- */

struct in {
	const unsigned char *at, *end;
};

static size_t left(const struct in *in)
{
	return (size_t)(in->end - in->at);
}

static bool get(struct in *in, size_t width, uint64_t *value)
{
	uint64_t le = 0;

	if (left(in) < width)
		return false;
	memcpy(&le, in->at, width);
	in->at += width;
	*value = le64toh(le);
	return true;
}

/* Takes the next @len bytes as a part. */
static bool split(struct in *in, uint64_t len, struct in *part)
{
	if (left(in) < len)
		return false;
	part->at = in->at;
	part->end = in->at + len;
	in->at += len;
	return true;
}

static void set_number(void *to, uint64_t value, size_t width)
{
	const uint32_t narrow = (uint32_t)value;

	if (width == sizeof(narrow))
		memcpy(to, &narrow, sizeof(narrow));
	else
		memcpy(to, &value, sizeof(value));
}

static bool get_cell(struct in *in, struct pagedet_page *row)
{
	uint64_t field, cell, width, value = 0;
	const struct pagedet_field_info *info;

	if (!get(in, 1, &field) || !get(in, 2, &cell) || !get(in, 1, &width) ||
	    (width && width != 4 && width != 8) ||
	    (width && !get(in, width, &value)))
		return false;
	/* There is a value if and only if the cell has an answer. */
	if ((PAGEDET_CELL_STATE(cell) == PAGEDET_HAVE) != (width != 0) ||
	    !cell || field >= PAGEDET_FIELDS_MAX)
		return false;
	if (field >= PDET_FIELDS)
		return true;	/* from a newer library */
	info = pdet_field_info((unsigned)field);
	if (row->cell[field] || (width && width != info->width))
		return false;
	row->cell[field] = (uint16_t)cell;
	if (width)
		set_number((char *)row + info->offset, value, width);
	return true;
}

static bool get_row(struct in *in, char *to)
{
	struct pagedet_page row;

	memset(&row, 0, sizeof(row));
	while (left(in))
		if (!get_cell(in, &row))
			return false;
	memcpy(to, &row, sizeof(row));
	return true;
}

static bool get_texts(struct in *in, char *to)
{
	/* The last byte stays zero. */
	if (left(in) >= PAGEDET_EVIDENCE_TEXT)
		return false;
	memcpy(to, in->at, left(in));
	return true;
}

static bool get_numbers(struct in *in, char *to, const struct part *p)
{
	const size_t width = p->kind == NUMBERS32 ? 4 : 8;
	uint64_t value = 0;
	unsigned i;

	if (left(in) != p->count * width)
		return false;
	for (i = 0; i < p->count; i++) {
		get(in, width, &value);
		set_number(to + i * width, value, width);
	}
	return true;
}

static bool get_part(struct in *record, struct pagedet_evidence *e,
		     uint64_t *before)
{
	uint64_t tag, len;
	const struct part *p;
	struct in in;
	char *to;

	if (!get(record, 2, &tag) || !get(record, 2, &len) ||
	    !split(record, len, &in) || tag <= *before)
		return false;
	*before = tag;		/* tags are ascending, each once */
	if (tag > PDET_COUNT(parts))
		return true;	/* from a newer library */
	p = &parts[tag - 1];
	to = (char *)e + p->at;
	if (p->kind == ROW)
		return get_row(&in, to);
	return p->kind == TEXTS ? get_texts(&in, to) : get_numbers(&in, to, p);
}

static bool get_record(struct in *body, struct pagedet_evidence *e)
{
	uint64_t len, before = 0;
	struct in record;

	memset(e, 0, sizeof(*e));
	if (!get(body, 4, &len) || !split(body, len, &record))
		return false;
	while (left(&record))
		if (!get_part(&record, e, &before))
			return false;
	return true;
}

static int refuse(struct pdet_env *env, const char *why)
{
	return pdet_fail(env, EBADMSG, "cannot read evidence: %s", why);
}

static int check_head(struct pdet_env *env, const void *bytes, uint64_t size,
		      struct in *body, uint64_t *n)
{
	unsigned char head[PDET_EVIDENCE_HEAD];
	uint64_t version, zero, len, sum;
	struct in in = { head + sizeof(magic), head + sizeof(head) };

	if (size < sizeof(head))
		return refuse(env, "it is cut off, or is not evidence");
	memcpy(head, bytes, sizeof(head));
	if (memcmp(head, magic, sizeof(magic)))
		return refuse(env, "it is not evidence");
	get(&in, 2, &version);
	get(&in, 2, &zero);
	get(&in, 4, n);
	get(&in, 8, &len);
	get(&in, 8, &sum);
	if (version != VERSION || zero)
		return pdet_fail(env, EBADMSG, "cannot read evidence: this "
				 "library does not know version %u",
				 (unsigned)version);
	if (len != size - sizeof(head))
		return refuse(env, "it is cut off, or more bytes follow it");
	/* A record has at least 4 bytes. */
	if (*n > len / 4 || *n > INT_MAX)
		return refuse(env, "it counts more pages than it has");
	if (sum != sum_of(bytes, size))
		return refuse(env, "it is damaged: its checksum is wrong");
	body->at = (const unsigned char *)bytes + sizeof(head);
	body->end = body->at + len;
	return 0;
}

int pdet_evidence_load(struct pdet_env *env, const void *bytes, uint64_t size,
		       void *evidence, uint64_t stride, uint64_t max)
{
	struct pagedet_evidence e;
	struct in body = { NULL, NULL };
	uint64_t n = 0, i;
	int pass, r;

	if (max && (stride < PDET_EVIDENCE_FIRST || stride % 8))
		return pdet_fail(env, EINVAL, "this library does not know "
					      "evidence of this size");
	r = check_head(env, bytes, size, &body, &n);
	if (r < 0)
		return r;
	/*
	 * The first pass checks all bytes. Only the second one writes results.
	 */
	for (pass = 0; pass < 2; pass++) {
		struct in in = body;

		for (i = 0; i < n; i++) {
			char *to = (char *)evidence + i * stride;

			if (!get_record(&in, &e))
				return refuse(env, "its records are damaged");
			if (!pass || i >= max)
				continue;
			e.size = stride;
			memset(to, 0, stride);
			memcpy(to, &e, PDET_MIN(stride, sizeof(e)));
		}
		if (left(&in))
			return refuse(env, "more bytes follow its records");
	}
	return (int)n;
}

/* --- two sides --- */

/*
 * Drops the texts of the peer, because there is only room for those of one
 * side.
 */
static void drop_texts(struct pagedet_page *row)
{
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++) {
		const uint32_t type = pdet_field_info(f)->type;

		if ((type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST ||
		     type == PAGEDET_TYPE_STACK) &&
		    PAGEDET_CELL_STATE(row->cell[f]) == PAGEDET_HAVE)
			row->cell[f] = (uint16_t)((row->cell[f] & 0xff00u) |
						  PAGEDET_NO_MEMORY);
	}
}

/* Copies the peer's own version @from to version @to of this side. */
static void join_version(struct pagedet_evidence *e, unsigned to,
			 const struct pagedet_evidence *peer, unsigned from)
{
	const struct pdet_version v = pdet_version(peer, from);

	if (to < PAGEDET_AS_MORE) {
		e->hash[to] = v.hash;
		e->hash_key[to] = v.key;
		e->hash_ns[to] = v.ns;
		e->hash_state[to] = v.state;
		e->zero[to] = v.zero;
		return;
	}
	to -= PAGEDET_AS_MORE;
	e->more_hash[to] = v.hash;
	e->more_key[to] = v.key;
	e->more_ns[to] = v.ns;
	e->more_state[to] = v.state;
	e->more_zero[to] = v.zero;
}

/*
 * Two reads gave different bytes, so the page was not frozen, whatever the
 * caller says.
 */
static bool has_moved(const struct pagedet_evidence *e)
{
	const unsigned now = PAGEDET_AS_NOW, again = PAGEDET_AS_AGAIN;

	return e->hash_state[now] == PAGEDET_HAVE &&
	       e->hash_state[again] == PAGEDET_HAVE &&
	       e->hash_key[now] == e->hash_key[again] &&
	       e->hash[now] != e->hash[again];
}

void pdet_evidence_join(struct pagedet_evidence *e,
			const struct pagedet_evidence *peer)
{
	struct pagedet_page row;

	memcpy(&row, peer->here, sizeof(row));
	drop_texts(&row);
	memcpy(e->peer, peer->here, sizeof(e->peer));
	memcpy(e->peer, &row, sizeof(row));
	join_version(e, PAGEDET_AS_PEER, peer, PAGEDET_AS_NOW);
	join_version(e, PAGEDET_AS_PEER_STOPPED, peer, PAGEDET_AS_STOPPED);
	join_version(e, PAGEDET_AS_PEER_AGAIN, peer, PAGEDET_AS_AGAIN);
	e->peer_read = peer->here_read;
	e->counters_peer = peer->counters_here;
	e->peer_hole = peer->here_hole;
	e->peer_missing = peer->here_missing;
	e->peer_ran = peer->here_ran;
	e->peer_other_maps = peer->here_other_maps;
	e->peer_mapper_pid = peer->mapper_pid;
	if (peer->here_discarded)
		e->peer_discarded = peer->here_discarded;
	e->peer_frozen = has_moved(peer) ? PAGEDET_NO : peer->here_frozen;
}
