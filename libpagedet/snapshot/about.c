/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes and reads the records at both ends of a snapshot; see
 * snapshot/format.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "snapshot/about.h"
#include "snapshot/format.h"

#define RECORD_SIZE 8
#define ITEM_SIZE 24
#define FIELD_SIZE 8

void pdet_snapshot_about_free(struct pdet_snapshot_about *a)
{
	free(a->items);
	free(a->path);
	free(a->where);
	a->items = NULL;
	a->path = a->where = NULL;
}

char *pdet_snapshot_put(struct pdet_snapshot_bytes *b, const void *data,
			size_t n)
{
	char *to;

	if (b->bad || !pdet_vec_reserve(b, n)) {
		b->bad = true;
		return NULL;
	}
	to = b->data + b->n;
	if (data && n)
		memcpy(to, data, n);
	b->n += n;
	return to;
}

/* --- writing --- */

/*
 * Adds a record and returns the room for its bytes. Returns NULL without
 * memory.
 */
static char *put_record(struct pdet_snapshot_bytes *b, unsigned key, size_t n)
{
	char *p = pdet_snapshot_put(b, NULL, RECORD_SIZE + n);

	if (!p)
		return NULL;
	p = pdet_put16(p, (uint16_t)key);
	p = pdet_put16(p, 0);
	return pdet_put32(p, (uint32_t)n);
}

static void put_text(struct pdet_snapshot_bytes *b, unsigned key,
		     const char *text)
{
	size_t n = text ? strlen(text) : 0;
	char *p;

	if (!n)
		return;
	p = put_record(b, key, n);
	if (p)
		memcpy(p, text, n);
}

static void put_number(struct pdet_snapshot_bytes *b, unsigned key,
		       uint64_t value)
{
	char *p = put_record(b, key, sizeof(value));

	if (p)
		pdet_put64(p, value);
}

static void put_items(struct pdet_snapshot_bytes *b,
		      const struct pdet_snapshot_about *a)
{
	char *p;
	size_t i;

	if (!a->n_kept)
		return;
	p = put_record(b, PDET_SNAPSHOT_ITEMS, a->n_kept * ITEM_SIZE);
	for (i = 0; p && i < a->n_kept; i++) {
		p = pdet_put64(p, a->items[i].first);
		p = pdet_put64(p, a->items[i].count);
		p = pdet_put32(p, a->items[i].pid);
		p = pdet_put32(p, a->items[i].flags);
	}
}

static void put_field(struct pdet_snapshot_bytes *b, unsigned f,
		      const struct pdet_snapshot_field *field)
{
	size_t advice = strlen(field->advice);
	char *p = put_record(b, PDET_SNAPSHOT_FIELD, FIELD_SIZE + advice);

	if (!p)
		return;
	p = pdet_put16(p, (uint16_t)f);
	*p++ = (char)pdet_field_info(f)->type;
	*p++ = (char)field->why;
	p = pdet_put32(p, field->sources);
	memcpy(p, field->advice, advice);
}

void pdet_snapshot_put_about(struct pdet_snapshot_bytes *b,
			     const struct pdet_snapshot_about *a)
{
	unsigned f;
	char *p;

	put_text(b, PDET_SNAPSHOT_HOST, a->host);
	put_text(b, PDET_SNAPSHOT_BOOT_ID, a->boot_id);
	put_text(b, PDET_SNAPSHOT_RELEASE, a->release);
	put_text(b, PDET_SNAPSHOT_ARCH, a->arch);
	p = put_record(b, PDET_SNAPSHOT_MACHINE, 32);
	if (p) {
		p = pdet_put64(p, a->page_size);
		p = pdet_put64(p, a->max_pfn);
		p = pdet_put64(p, a->nodes);
		p = pdet_put32(p, a->big_endian);
		pdet_put32(p, a->live);
	}
	put_number(b, PDET_SNAPSHOT_FIRST_NS, a->first_ns);
	put_number(b, PDET_SNAPSHOT_HASH_KEY, a->hash_key);
	if (a->hash_zero)
		put_number(b, PDET_SNAPSHOT_HASH_ZERO, a->hash_zero);
	p = put_record(b, PDET_SNAPSHOT_QUERY, 16);
	if (p) {
		p = pdet_put32(p, a->target);
		p = pdet_put32(p, a->options);
		pdet_put64(p, a->n_items);
	}
	put_items(b, a);
	put_text(b, PDET_SNAPSHOT_PATH, a->path);
	put_text(b, PDET_SNAPSHOT_WHERE, a->where);
	pdet_fields_for(f, &a->fields)
		put_field(b, f, &a->field[f]);
}

/* Lists the numbers of the coverage. Returns their number. */
#define COVERAGE_NUMBERS (13 + 2 + 1 + 32)

static void coverage_numbers(struct pagedet_coverage *c,
			     uint64_t *ret[COVERAGE_NUMBERS])
{
	uint64_t *const first[] = {
		&c->wanted, &c->visited, &c->skipped, &c->rows, &c->undecided,
		&c->torn, &c->spilled, &c->tasks, &c->tasks_gone,
		&c->tasks_denied, &c->files, &c->files_gone, &c->files_denied,
		&c->answered[0], &c->answered[1], &c->resume,
	};
	size_t i;

	memcpy(ret, first, sizeof(first));
	for (i = 0; i < 32; i++)
		ret[COVERAGE_NUMBERS - 32 + i] = &c->lost[i];
}

static void put_coverage(struct pdet_snapshot_bytes *b,
			 const struct pagedet_coverage *coverage)
{
	struct pagedet_coverage c = *coverage;
	uint64_t *number[COVERAGE_NUMBERS];
	char *p = put_record(b, PDET_SNAPSHOT_COVERAGE,
			     8 * COVERAGE_NUMBERS + 16);
	size_t i;

	if (!p)
		return;
	coverage_numbers(&c, number);
	for (i = 0; i < COVERAGE_NUMBERS; i++)
		p = pdet_put64(p, *number[i]);
	p = pdet_put32(p, c.complete);
	p = pdet_put32(p, c.stopped);
	pdet_put64(p, c.tasks_damaged);
}

void pdet_snapshot_put_end(struct pdet_snapshot_bytes *b,
			   const struct pdet_snapshot_end *e,
			   const struct pdet_snapshot_places *places)
{
	size_t i;
	char *p;

	put_coverage(b, &e->coverage);
	put_number(b, PDET_SNAPSHOT_LAST_NS, e->last_ns);
	p = put_record(b, PDET_SNAPSHOT_ROWS, 12);
	if (p)
		pdet_put32(pdet_put64(p, e->rows), e->flags);
	p = put_record(b, PDET_SNAPSHOT_BLOCKS,
		       places->n * PDET_SNAPSHOT_BLOCK_ENTRY);
	for (i = 0; p && i < places->n; i++) {
		const struct pdet_snapshot_place *place = &places->data[i];

		p = pdet_put64(p, place->at);
		p = pdet_put64(p, place->first);
		p = pdet_put64(p, place->last);
		p = pdet_put32(p, place->bytes);
		p = pdet_put32(p, place->rows);
	}
}

/* --- reading --- */

struct record {
	unsigned key;
	const char *p;
	size_t n;
};

/* Gets the next record. Returns 1, 0 at the end, or -EBADMSG. */
static int get_record(const char **p, const char *end, struct record *ret)
{
	if (*p == end)
		return 0;
	if (end - *p < RECORD_SIZE)
		return -EBADMSG;
	ret->key = pdet_get16(*p);
	ret->n = pdet_get32(*p + 4);
	ret->p = *p + RECORD_SIZE;
	if (ret->n > (size_t)(end - ret->p))
		return -EBADMSG;
	*p = ret->p + ret->n;
	return 1;
}

/* A longer text is cut. */
static int get_text(const struct record *r, char *to, size_t size)
{
	size_t n = r->n < size ? r->n : size - 1;

	if (memchr(r->p, '\0', r->n))
		return -EBADMSG;
	memcpy(to, r->p, n);
	to[n] = '\0';
	return 0;
}

static int get_string(const struct record *r, char **to)
{
	if (memchr(r->p, '\0', r->n))
		return -EBADMSG;
	free(*to);
	*to = strndup(r->p, r->n);
	return *to ? 0 : -ENOMEM;
}

static int get_number(const struct record *r, uint64_t *to)
{
	if (r->n < sizeof(*to))
		return -EBADMSG;
	*to = pdet_get64(r->p);
	return 0;
}

static int get_machine(const struct record *r, struct pdet_snapshot_about *a)
{
	if (r->n < 32)
		return -EBADMSG;
	a->page_size = pdet_get64(r->p);
	a->max_pfn = pdet_get64(r->p + 8);
	a->nodes = pdet_get64(r->p + 16);
	a->big_endian = pdet_get32(r->p + 24);
	a->live = pdet_get32(r->p + 28);
	a->has_machine = true;
	/* It is not known for the kernel of a log. */
	if (!a->page_size)
		return 0;
	/* Addresses are divided by it. */
	return a->page_size < 512 || a->page_size >> 30 ||
	       a->page_size & (a->page_size - 1) ? -EBADMSG : 0;
}

static int get_query(const struct record *r, struct pdet_snapshot_about *a)
{
	if (r->n < 16)
		return -EBADMSG;
	a->target = pdet_get32(r->p);
	a->options = pdet_get32(r->p + 4);
	a->n_items = pdet_get64(r->p + 8);
	return 0;
}

static int get_items(const struct record *r, struct pdet_snapshot_about *a)
{
	const char *p = r->p;
	size_t i;

	if (a->items || r->n % ITEM_SIZE ||
	    r->n / ITEM_SIZE > PDET_SNAPSHOT_MAX_ITEMS)
		return -EBADMSG;
	a->n_kept = r->n / ITEM_SIZE;
	a->items = calloc(a->n_kept + 1, sizeof(*a->items));
	if (!a->items)
		return -ENOMEM;
	for (i = 0; i < a->n_kept; i++, p += ITEM_SIZE) {
		a->items[i].first = pdet_get64(p);
		a->items[i].count = pdet_get64(p + 8);
		a->items[i].pid = pdet_get32(p + 16);
		a->items[i].flags = pdet_get32(p + 20);
	}
	return 0;
}

/* A count that was written before counts were signed has the same bytes. */
static bool is_type(unsigned f, unsigned stored)
{
	const unsigned type = pdet_field_info(f)->type;

	return stored == type || (stored == PAGEDET_TYPE_NUMBER &&
				  type == PAGEDET_TYPE_SIGNED);
}

/* Skips fields of later versions, and fields whose type has changed. */
static int get_field(const struct record *r, struct pdet_snapshot_about *a)
{
	struct pdet_snapshot_field *field;
	struct record advice;
	unsigned f, why;

	if (r->n < FIELD_SIZE)
		return -EBADMSG;
	f = pdet_get16(r->p);
	why = (unsigned char)r->p[3];
	if (f >= PDET_FIELDS || !is_type(f, (unsigned char)r->p[2]))
		return 0;
	pdet_fields_add(&a->fields, f);
	field = &a->field[f];
	field->why = why == PAGEDET_HAVE ||
		     (pdet_is_reason(why) && pdet_state_name(why)) ?
			     (uint8_t)why : PAGEDET_UNSUPPORTED;
	field->sources = pdet_get32(r->p + 4);
	advice.p = r->p + FIELD_SIZE;
	advice.n = r->n - FIELD_SIZE;
	return get_text(&advice, field->advice, sizeof(field->advice));
}

static int take_about(const struct record *r, struct pdet_snapshot_about *a)
{
	switch (r->key) {
	case PDET_SNAPSHOT_HOST:
		return get_text(r, a->host, sizeof(a->host));
	case PDET_SNAPSHOT_BOOT_ID:
		return get_text(r, a->boot_id, sizeof(a->boot_id));
	case PDET_SNAPSHOT_RELEASE:
		return get_text(r, a->release, sizeof(a->release));
	case PDET_SNAPSHOT_ARCH:
		return get_text(r, a->arch, sizeof(a->arch));
	case PDET_SNAPSHOT_MACHINE:
		return get_machine(r, a);
	case PDET_SNAPSHOT_FIRST_NS:
		return get_number(r, &a->first_ns);
	case PDET_SNAPSHOT_HASH_KEY:
		return get_number(r, &a->hash_key);
	case PDET_SNAPSHOT_HASH_ZERO:
		return get_number(r, &a->hash_zero);
	case PDET_SNAPSHOT_QUERY:
		return get_query(r, a);
	case PDET_SNAPSHOT_ITEMS:
		return get_items(r, a);
	case PDET_SNAPSHOT_PATH:
		return get_string(r, &a->path);
	case PDET_SNAPSHOT_WHERE:
		return get_string(r, &a->where);
	case PDET_SNAPSHOT_FIELD:
		return get_field(r, a);
	default:
		return 0;
	}
}

int pdet_snapshot_get_about(const char *p, size_t n,
			    struct pdet_snapshot_about *a)
{
	const char *end = p + n;
	struct record record;
	int r;

	memset(a, 0, sizeof(*a));
	while ((r = get_record(&p, end, &record)) > 0) {
		r = take_about(&record, a);
		if (r < 0)
			break;
	}
	return r < 0 ? r : a->has_machine ? 0 : -EBADMSG;
}

/* A later version may have appended numbers. */
static int get_coverage(const struct record *r, struct pagedet_coverage *c)
{
	uint64_t *number[COVERAGE_NUMBERS];
	const char *p = r->p;
	size_t i;

	if (r->n < 8 * COVERAGE_NUMBERS + 8)
		return -EBADMSG;
	coverage_numbers(c, number);
	for (i = 0; i < COVERAGE_NUMBERS; i++, p += 8)
		*number[i] = pdet_get64(p);
	c->complete = pdet_get32(p);
	c->stopped = pdet_get32(p + 4);
	if (r->n >= 8 * COVERAGE_NUMBERS + 16)
		c->tasks_damaged = pdet_get64(p + 8);
	return 0;
}

static int get_places(const struct record *r,
		      struct pdet_snapshot_places *places)
{
	size_t n = r->n / PDET_SNAPSHOT_BLOCK_ENTRY, i;
	const char *p = r->p;

	if (places->data || r->n % PDET_SNAPSHOT_BLOCK_ENTRY)
		return -EBADMSG;
	if (!pdet_vec_reserve(places, n + 1))
		return -ENOMEM;
	for (i = 0; i < n; i++, p += PDET_SNAPSHOT_BLOCK_ENTRY) {
		struct pdet_snapshot_place *place = &places->data[i];

		place->at = pdet_get64(p);
		place->first = pdet_get64(p + 8);
		place->last = pdet_get64(p + 16);
		place->bytes = pdet_get32(p + 24);
		place->rows = pdet_get32(p + 28);
	}
	places->n = n;
	return 0;
}

static int take_end(const struct record *r, struct pdet_snapshot_end *e,
		    struct pdet_snapshot_places *places)
{
	switch (r->key) {
	case PDET_SNAPSHOT_COVERAGE:
		return get_coverage(r, &e->coverage);
	case PDET_SNAPSHOT_LAST_NS:
		return get_number(r, &e->last_ns);
	case PDET_SNAPSHOT_ROWS:
		if (r->n < 12)
			return -EBADMSG;
		e->rows = pdet_get64(r->p);
		e->flags = pdet_get32(r->p + 8);
		return 0;
	case PDET_SNAPSHOT_BLOCKS:
		return get_places(r, places);
	default:
		return 0;
	}
}

int pdet_snapshot_get_end(const char *p, size_t n, struct pdet_snapshot_end *e,
			  struct pdet_snapshot_places *places)
{
	const char *end = p + n;
	struct record record;
	int r;

	memset(e, 0, sizeof(*e));
	memset(places, 0, sizeof(*places));
	while ((r = get_record(&p, end, &record)) > 0) {
		r = take_end(&record, e, places);
		if (r < 0)
			break;
	}
	return r;
}
