/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Answers fields from struct pages. It decides which of them are read together,
 * and how failures are reported. Values are decoded directly into the batch's
 * columns. Cells are written for runs of equal rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "backend/image/owner.h"
#include "backend/image/page_owner.h"
#include "base/clock.h"
#include "kernel/page/fold.h"
#include "kernel/page/kpf.h"

/* A dump has all bytes of a block of this size, or none of them. */
#define BLOCK 4096
/* Reading fewer runs than this with one call saves nothing. */
#define FEW 4
/* As long the paths of directories of a running kernel are used. */
#define DIRECTORIES_NS 100000000u

struct filling {
	struct image_session *s;
	struct pdet_batch *b;
	const struct pdet_fields *want;
	unsigned source;
	struct image_owner_wants owners;
	bool any_owner;
	bool fold;		/* fold equal rows */
	bool kinds;		/* only kinds are requested */
};

/*
 * Decoded fields, with the PDET_HAS_ and PDET_BAD_ bits that give their state.
 */
static const struct {
	uint8_t field;
	uint16_t has;		/* 0: always */
	uint16_t bad;
} decoded[] = {
	{ PAGEDET_FIELD_KIND, 0, 0 },
	{ PAGEDET_FIELD_FLAGS, 0, 0 },
	{ PAGEDET_FIELD_FLAGS_KNOWN, 0, 0 },
	{ PAGEDET_FIELD_RAW_FLAGS, 0, 0 },
	{ PAGEDET_FIELD_REFCOUNT, PDET_HAS_REFCOUNT, 0 },
	{ PAGEDET_FIELD_MAPCOUNT, PDET_HAS_MAPCOUNT, PDET_BAD_MAPCOUNT },
	{ PAGEDET_FIELD_MAPCOUNT_KIND, PDET_HAS_MAPCOUNT,
	  PDET_BAD_MAPCOUNT },
	{ PAGEDET_FIELD_PINCOUNT, PDET_HAS_PINCOUNT, PDET_BAD_PINCOUNT },
	{ PAGEDET_FIELD_HEAD_PFN, 0, PDET_BAD_FOLIO },
	{ PAGEDET_FIELD_ORDER, PDET_HAS_ORDER, PDET_BAD_ORDER },
};

static bool grow(struct image_columns *c, uint32_t rows, bool owners)
{
	const size_t small = 3 * sizeof(uint16_t) + 4;
	uint64_t *m;

	m = malloc(rows * (owners ? 5 * sizeof(*m) + small : small));
	if (!m)
		return false;
	free(c->memory);
	free(c->flags);
	c->flags = NULL;
	c->memory = m;
	c->cap = rows;
	c->has_owners = owners;
	if (owners) {
		c->mapping = m;
		c->index = c->mapping + rows;
		c->head = c->index + rows;
		c->memcg = c->head + rows;
		c->cache = c->memcg + rows;
		m = c->cache + rows;
	}
	c->has = (uint16_t *)m;
	c->bad = c->has + rows;
	c->error = (int16_t *)(c->bad + rows);
	c->is = (uint8_t *)(c->error + rows);
	c->kind = c->is + rows;
	c->mapcount_kind = c->kind + rows;
	c->order = c->mapcount_kind + rows;
	return true;
}

/*
 * A directory above may have another name, or another mount may hide it: the
 * directory itself does not show that.
 */
static void forget_directories(struct image_session *s)
{
	const uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);

	if (now - s->dirs_ns < DIRECTORIES_NS)
		return;
	pdet_directories_free(&s->dirs);
	s->dirs_ns = now;
}

static int session_room(struct image_session *s, uint32_t rows, bool owners)
{
	struct image_columns *c = &s->column;

	if (!s->pages)
		s->pages = malloc((size_t)IMAGE_CHUNK * PDET_PAGE_BYTES);
	if (owners && !s->owners)
		s->owners = calloc(1, sizeof(*s->owners));
	if (!s->pages || (owners && !s->owners))
		return -ENOMEM;
	if (owners && s->image->memory->live) {
		pdet_image_owners_clear(s->owners);
		s->super.addr = 0;
		forget_directories(s);
	}
	return (rows <= c->cap && (c->has_owners || !owners)) ||
	       grow(c, PDET_MAX(rows, c->cap), owners) ? 0 : -ENOMEM;
}

/* --- cells --- */

/* Put the same state in all fields where there is no struct page. */
static void put_state(const struct filling *f, uint32_t row, uint32_t n,
		      unsigned state)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(decoded); i++)
		if (pdet_fields_has(f->want, decoded[i].field))
			pdet_put_cells(f->b, row, n, decoded[i].field, 0,
				       PDET_CELL(state, f->source));
	if (f->any_owner)
		pdet_image_owner_states(f->b, f->want, f->source, row, n,
					state);
}

static void put_wanted(const struct filling *f, uint32_t row, uint32_t n,
		       unsigned field, uint64_t value)
{
	if (pdet_fields_has(f->want, field))
		pdet_put_cells(f->b, row, n, field, value,
			       PDET_CELL(PAGEDET_HAVE, f->source));
}

/* Put rows of single frames. */
static void put_frames(const struct filling *f, uint32_t row, uint64_t pfn,
		       uint32_t n)
{
	uint32_t i;

	for (i = 0; f->fold && i < n; i++) {
		f->b->value[PAGEDET_FIELD_PAGES][row + i] = 1;
		f->b->value[PAGEDET_FIELD_PFN][row + i] = pfn + i;
	}
}

/* Put frames that cannot be read. Returns the number of rows. */
static uint32_t put_lost(const struct filling *f, uint32_t row, uint64_t pfn,
			 uint32_t n, int error)
{
	put_frames(f, row, pfn, n);
	put_state(f, row, n, pdet_image_reason(error));
	return n;
}

/* Flags that are known to be clear if the frame has no page. */
static const uint64_t of_no_hole =
	KPF(NOPAGE) | KPF(BUDDY) | KPF(ANON) | KPF(MMAP) | KPF(PGTABLE) |
	KPF(OFFLINE) | KPF(SLAB) | KPF(KSM) | KPF(HUGE) | KPF(THP) |
	KPF(COMPOUND_HEAD) | KPF(COMPOUND_TAIL) | KPF(ZERO_PAGE);

/* Put frames without memory. */
static uint32_t put_hole(const struct filling *f, uint32_t row, uint64_t pfn,
			 uint32_t n)
{
	if (f->fold) {
		f->b->value[PAGEDET_FIELD_PAGES][row] = n;
		f->b->value[PAGEDET_FIELD_PFN][row] = pfn;
		n = 1;
	}
	put_state(f, row, n, PAGEDET_NONE);
	put_wanted(f, row, n, PAGEDET_FIELD_KIND, PAGEDET_KIND_HOLE);
	put_wanted(f, row, n, PAGEDET_FIELD_FLAGS, KPF(NOPAGE));
	put_wanted(f, row, n, PAGEDET_FIELD_FLAGS_KNOWN,
		   f->s->image->layout.flags.known | of_no_hole);
	return n;
}

/* The state of field @i, according to @has and @bad. */
static unsigned state_of(const struct filling *f, size_t i, unsigned has,
			 unsigned bad, int error)
{
	const bool missing = decoded[i].has && !(has & decoded[i].has);

	if (decoded[i].bad & bad)
		return PAGEDET_CORRUPT;
	if (!missing)
		return PAGEDET_HAVE;
	if (error)
		return pdet_image_reason(error);
	if (f->s->image->layout.flags_named)
		return PAGEDET_UNSUPPORTED;
	f->s->lacks_types = true;
	return PAGEDET_NO_TYPES;
}

/* Write the cells of @n equal rows whose columns are decoded. */
static void put_alike(const struct filling *f, uint32_t row, uint32_t n)
{
	const struct image_columns *c = &f->s->column;
	const unsigned has = c->has[row], bad = c->bad[row];
	size_t i;

	if (c->is[row] == PDET_PAGE_UNINIT || c->is[row] == PDET_PAGE_DAMAGED) {
		put_state(f, row, n, c->is[row] == PDET_PAGE_UNINIT ?
			  PAGEDET_NONE : PAGEDET_CORRUPT);
		if (c->is[row] == PDET_PAGE_UNINIT)
			put_wanted(f, row, n, PAGEDET_FIELD_KIND,
				   PAGEDET_KIND_UNINIT);
		return;
	}
	if (f->any_owner)
		pdet_image_owner_put(f->s, f->b, f->want, f->source, row, n,
				f->b->value[PAGEDET_FIELD_PFN][row]);
	for (i = 0; i < PDET_COUNT(decoded); i++) {
		unsigned state;

		if (!pdet_fields_has(f->want, decoded[i].field))
			continue;
		state = state_of(f, i, has, bad, c->error[row]);
		pdet_put_cell(f->b, row, n, decoded[i].field,
			      PDET_CELL(state, f->source));
	}
	if (has & PDET_HAS_ESTIMATE &&
	    pdet_fields_has(f->want, PAGEDET_FIELD_PINCOUNT))
		for (i = row; i < row + n; i++)
			/* a page without references is certainly not pinned */
			if (f->b->value[PAGEDET_FIELD_PINCOUNT][i])
				pdet_put_note(f->b, (uint32_t)i,
					      PAGEDET_NOTE_ESTIMATED);
}

static void put_cells(const struct filling *f, uint32_t row, uint32_t n)
{
	const struct image_columns *c = &f->s->column;
	const uint32_t last = row + n;
	uint32_t end;

	for (; row < last; row = end) {
		for (end = row + 1; end < last; end++)
			if (c->has[end] != c->has[row] ||
			    c->bad[end] != c->bad[row] ||
			    c->is[end] != c->is[row] ||
			    c->error[end] != c->error[row])
				break;
		put_alike(f, row, end - row);
	}
}

/* --- columns --- */

static void widen(const struct filling *f, unsigned field, uint32_t row,
		  uint32_t n, const uint8_t *from)
{
	uint64_t *to;
	uint32_t i;

	if (!pdet_fields_has(f->want, field))
		return;
	to = f->b->value[field] + row;
	for (i = 0; i < n; i++)
		to[i] = from[i];
}

static void copy(const struct filling *f, unsigned field, uint32_t row,
		 uint32_t n, const uint64_t *from)
{
	if (pdet_fields_has(f->want, field))
		memcpy(f->b->value[field] + row, from, n * sizeof(*from));
}

static uint64_t *column(const struct filling *f, unsigned field, uint32_t row)
{
	return pdet_fields_has(f->want, field) ? f->b->value[field] + row :
						 NULL;
}

/* A column that is not requested is not decoded. */
static uint8_t *column8(const struct filling *f, unsigned field, uint8_t *to)
{
	return pdet_fields_has(f->want, field) ? to : NULL;
}

/* A free page belongs to no folio. */
static void free_heads(const struct filling *f, uint32_t row, uint32_t n)
{
	const uint8_t *kind = f->s->column.kind;
	uint32_t i;

	for (i = row; i < row + n; i++)
		if (kind[i] == PAGEDET_KIND_FREE)
			pdet_put_none(f->b, i, PAGEDET_FIELD_HEAD_PFN,
				      f->source);
}

/* The same for rows that count pages. @pages NULL: they are known to be in a
 * free block. */
static uint32_t fold(const struct filling *f, const char *pages, uint32_t row,
		     uint64_t pfn, uint32_t n, uint64_t addr)
{
	struct image_session *s = f->s;
	struct image_columns *c = &s->column;
	const struct pdet_page_columns to = {
		.is = c->is, .has = c->has, .bad = c->bad, .error = c->error,
		.kind = c->kind, .flags = c->flags, .known = c->known,
		.raw_flags = column(f, PAGEDET_FIELD_RAW_FLAGS, 0),
		.refcount = column(f, PAGEDET_FIELD_REFCOUNT, 0),
		.mapcount = column(f, PAGEDET_FIELD_MAPCOUNT, 0),
	};
	uint64_t *count = f->b->value[PAGEDET_FIELD_PAGES];
	uint64_t *first = f->b->value[PAGEDET_FIELD_PFN];

	n = (pages ? pdet_page_fold(s->fold, &s->run, pages, addr, pfn, n, &to,
				    row, count, first) :
	     pdet_page_fold_free(s->fold, &s->run, addr, pfn, n, &to, row,
				 count, first)) - row;
	copy(f, PAGEDET_FIELD_FLAGS, row, n, c->flags + row);
	copy(f, PAGEDET_FIELD_FLAGS_KNOWN, row, n, c->known + row);
	widen(f, PAGEDET_FIELD_KIND, row, n, c->kind + row);
	put_cells(f, row, n);
	return n;
}

/* Decode @n struct pages read from @addr. Returns the number of rows. @pages
 * may be NULL only if rows are folded. */
static uint32_t decode(const struct filling *f, const char *pages, uint32_t row,
		       uint64_t pfn, uint32_t n, uint64_t addr)
{
	struct image_columns *c = &f->s->column;
	const bool heads = pdet_fields_has(f->want, PAGEDET_FIELD_HEAD_PFN);
	const struct pdet_page_columns to = {
		.is = c->is + row,
		.has = c->has + row,
		.bad = c->bad + row,
		.error = c->error + row,
		.kind = heads || f->any_owner ? c->kind + row :
			column8(f, PAGEDET_FIELD_KIND, c->kind + row),
		.mapcount_kind = column8(f, PAGEDET_FIELD_MAPCOUNT_KIND,
					 c->mapcount_kind + row),
		.order = f->owners.file ? c->order + row :
			column8(f, PAGEDET_FIELD_ORDER, c->order + row),
		.raw_flags = column(f, PAGEDET_FIELD_RAW_FLAGS, row),
		.flags = column(f, PAGEDET_FIELD_FLAGS, row),
		.known = column(f, PAGEDET_FIELD_FLAGS_KNOWN, row),
		.refcount = column(f, PAGEDET_FIELD_REFCOUNT, row),
		.mapcount = column(f, PAGEDET_FIELD_MAPCOUNT, row),
		.pincount = column(f, PAGEDET_FIELD_PINCOUNT, row),
		.head_pfn = f->owners.file ? c->head + row :
			column(f, PAGEDET_FIELD_HEAD_PFN, row),
		.mapping = f->owners.file ? c->mapping + row : NULL,
		.index = f->owners.file ? c->index + row : NULL,
		.memcg_data = f->owners.memcg ? c->memcg + row : NULL,
		.slab_cache = f->owners.cache ? c->cache + row : NULL,
	};

	if (f->fold)
		return fold(f, pages, row, pfn, n, addr);
	pdet_page_run(&f->s->run, pages, addr, pfn, n, &to);
	widen(f, PAGEDET_FIELD_KIND, row, n, c->kind + row);
	widen(f, PAGEDET_FIELD_MAPCOUNT_KIND, row, n, c->mapcount_kind + row);
	widen(f, PAGEDET_FIELD_ORDER, row, n, c->order + row);
	if (heads && f->owners.file)
		memcpy(f->b->value[PAGEDET_FIELD_HEAD_PFN] + row,
		       c->head + row, n * sizeof(*c->head));
	put_cells(f, row, n);
	if (heads)
		free_heads(f, row, n);
	return n;
}

/* --- reading --- */

/* Take the next piece that was read ahead, if it has this address and size. */
static const char *from_ahead(struct image_ahead *a, uint64_t addr,
			      uint64_t size)
{
	const struct pdet_gather *p = &a->piece[a->at];
	const char *bytes = a->bytes;

	if (a->at == a->n || p->addr != addr || p->size != size)
		return NULL;
	a->at++;
	a->bytes += size;
	return p->error < 0 ? NULL : bytes;
}

/* Read consecutive struct pages; if they cannot be read together, block by
 * block. Returns the number of rows. */
static uint32_t read_run(const struct filling *f, uint32_t row, uint64_t pfn,
			 uint32_t n, uint64_t addr)
{
	const uint64_t size = f->s->image->layout.size[PDET_SIZE_PAGE];
	const uint32_t first = row;
	const char *pages;
	uint32_t some;
	int r;

	pages = from_ahead(&f->s->ahead, addr, n * size);
	r = pages ? 0 : pdet_space_view(&f->s->space, addr, f->s->pages,
					n * size, &pages);
	if (r == 0)
		return decode(f, pages, row, pfn, n, addr);
	if (n == 1)
		return put_lost(f, row, pfn, n, r);
	for (; n; n -= some, pfn += some, addr += some * size) {
		some = (uint32_t)((BLOCK - addr % BLOCK + size - 1) / size);
		some = PDET_MIN(some, n);
		r = pdet_space_view(&f->s->space, addr, f->s->pages,
				    some * size, &pages);
		row += r == 0 ? decode(f, pages, row, pfn, some, addr) :
				put_lost(f, row, pfn, some, r);
	}
	return row - first;
}

/* Search the frames pfn .. pfn + n for a free block of the largest size.
 * Returns the number of frames before it, and copies its first struct page to
 * @page. Returns @n if there is no such block. */
static uint32_t before_free(const struct filling *f, uint64_t pfn, uint32_t n,
			    uint64_t addr, char page[PDET_PAGE_BYTES])
{
	const struct pdet_layout *l = &f->s->image->layout;
	const uint64_t size = l->size[PDET_SIZE_PAGE], end = pfn + n;
	const uint64_t block = (uint64_t)1 << (l->free_orders - 1);
	uint64_t at;

	for (at = (pfn + block - 1) & -block; at < end; at += block)
		if (pdet_space_read(&f->s->space, addr + (at - pfn) * size,
				    page, (size_t)size) == 0 &&
		    pdet_page_block_end(l, page, at) == at + block)
			return (uint32_t)(at - pfn);
	return n;
}

/* True if the next block is likely a free block of the largest size, too,
 * because such blocks are often adjacent. Elsewhere the test costs more than it
 * saves. */
static bool may_be_free(const struct pdet_page_run *run, uint64_t pfn)
{
	return pfn != run->next || pfn == run->free_end;
}

/* The same if only kinds are requested. Most free memory is in free blocks of
 * the largest size. Of each block, only the first page is read. */
static uint32_t read_kinds(const struct filling *f, uint32_t row, uint64_t pfn,
			   uint32_t n, uint64_t addr)
{
	const uint64_t size = f->s->image->layout.size[PDET_SIZE_PAGE];
	const uint32_t block = (uint32_t)1 <<
			       (f->s->image->layout.free_orders - 1);
	const struct pdet_page_run *run = &f->s->run;
	const uint32_t first = row;
	char page[PDET_PAGE_BYTES];
	uint32_t some;

	for (; n; n -= some, pfn += some, addr += some * size) {
		if (pfn == run->next && pfn < run->free_end) {
			some = (uint32_t)PDET_MIN(run->free_end - pfn,
						  (uint64_t)n);
			row += decode(f, NULL, row, pfn, some, addr);
			continue;
		}
		some = n;
		if (may_be_free(run, pfn))
			some = before_free(f, pfn, PDET_MIN(n, block), addr,
					   page);
		if (some) {
			row += read_run(f, row, pfn, some, addr);
			continue;
		}
		some = 1;
		row += decode(f, page, row, pfn, some, addr);
	}
	return row - first;
}

/* Fill rows of consecutive frames. Returns the number of rows. */
static uint32_t fill_run(const struct filling *f, uint32_t row, uint64_t pfn,
			 uint32_t n)
{
	const uint32_t begin = row;
	uint32_t some;
	uint64_t addr;
	int error;

	for (; n; n -= some, pfn += some) {
		if (pdet_image_has_pages(f->s->image, pfn, n, &some, &addr,
					 &error))
			row += f->kinds ? read_kinds(f, row, pfn, some, addr) :
					  read_run(f, row, pfn, some, addr);
		else if (error)
			row += put_lost(f, row, pfn, some, error);
		else
			row += put_hole(f, row, pfn, some);
	}
	return row - begin;
}

/* --- all --- */

/* True if no source is asked for a field that differs between the pages of a
 * folded row. */
static bool may_fold(const struct image_session *s, const struct pdet_batch *b,
		     const struct pdet_fields *want)
{
	static const uint8_t same[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN, PAGEDET_FIELD_RAW_FLAGS,
		PAGEDET_FIELD_REFCOUNT, PAGEDET_FIELD_MAPCOUNT,
	};
	struct pdet_fields rest = s->session.wants->fields;
	size_t i;

	if (!s->session.wants->fold || !b->series)
		return false;
	pdet_fields_remove(&rest, PAGEDET_FIELD_PAGES);
	pdet_fields_remove(&rest, PAGEDET_FIELD_PFN);
	for (i = 0; i < PDET_COUNT(same); i++)
		if (pdet_fields_has(want, same[i]))
			pdet_fields_remove(&rest, same[i]);
	return pdet_fields_empty(&rest);
}

static bool fold_room(struct image_session *s)
{
	struct image_columns *c = &s->column;

	if (!s->fold)
		s->fold = calloc(1, sizeof(*s->fold));
	if (!c->flags)
		c->flags = malloc(c->cap * 2 * sizeof(*c->flags));
	c->known = c->flags + c->cap;
	return s->fold && c->flags;
}

/*
 * Fill the whole batch. The batch then has fewer rows, because rows are folded.
 */
static void fill_folded(const struct filling *f)
{
	struct pdet_batch *b = f->b;

	pdet_page_fold_begin(f->s->fold);
	pdet_batch_folded(b, fill_run(f, 0, b->value[PAGEDET_FIELD_PFN][0],
				      b->n), f->want, f->source);
}

/*
 * A row does not always have a frame. Then its fields get the state of its pfn.
 */
static void put_like_pfn(const struct filling *f, uint32_t row)
{
	const uint16_t cell = f->b->cell[PAGEDET_FIELD_PFN][row];
	size_t i;

	for (i = 0; i < PDET_COUNT(decoded); i++)
		if (pdet_fields_has(f->want, decoded[i].field) &&
		    /* the walk may have set the kind */
		    (decoded[i].field != PAGEDET_FIELD_KIND ||
		     !f->b->cell[PAGEDET_FIELD_KIND][row]))
			pdet_put_cells(f->b, row, 1, decoded[i].field, 0, cell);
	if (f->any_owner)
		pdet_image_owner_states(f->b, f->want,
					PAGEDET_CELL_SOURCE(cell), row, 1,
					PAGEDET_CELL_STATE(cell));
}

/* --- all rows --- */

/* The row after the consecutive frames that begin at @row. */
static uint32_t run_end(const struct pdet_batch *b, uint32_t row)
{
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint32_t end = row + 1;

	if (b->series)
		return b->n;
	while (end < b->n &&
	       pdet_batch_state(b, end, PAGEDET_FIELD_PFN) == PAGEDET_HAVE &&
	       pfn[end] == pfn[end - 1] + 1)
		end++;
	return end;
}

/* Read the struct pages of short runs from @row on with one call. If that
 * fails, each run is read separately later. */
static void look_ahead(const struct filling *f, uint32_t row)
{
	const struct pdet_memmap *m = &f->s->image->memmap;
	const struct pdet_batch *b = f->b;
	struct image_ahead *a = &f->s->ahead;
	uint32_t end, n;
	int error;

	a->n = a->at = 0;
	for (; row < b->n && a->n < PDET_GATHER; row = end) {
		struct pdet_gather *p = &a->piece[a->n];

		end = run_end(b, row);
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
		    PAGEDET_HAVE)
			continue;
		if ((end - row) * m->page_size > PDET_GATHER_BYTES)
			break;
		if (!pdet_image_has_pages(f->s->image,
					  b->value[PAGEDET_FIELD_PFN][row],
					  end - row, &n, &p->addr, &error) ||
		    n < end - row)
			continue;
		p->size = (uint32_t)((end - row) * m->page_size);
		a->n++;
	}
	if (a->n < FEW || pdet_space_gather(&f->s->space, a->piece, a->n,
					    &a->bytes) < 0)
		a->n = 0;
}

static void fill_rows(const struct filling *f)
{
	const struct pdet_batch *b = f->b;
	struct image_ahead *a = &f->s->ahead;
	uint32_t row, end, looked = 0;

	a->n = a->at = 0;
	for (row = 0; row < b->n; row = end) {
		end = run_end(b, row);
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
		    PAGEDET_HAVE) {
			end = row + 1;
			put_like_pfn(f, row);
			continue;
		}
		if (a->at == a->n && row >= looked && !b->series) {
			look_ahead(f, row);
			looked = a->n ? row : row + PDET_GATHER;
		}
		fill_run(f, row, b->value[PAGEDET_FIELD_PFN][row], end - row);
	}
	a->n = a->at = 0;
}

/* Fill again, after loading types that some rows turned out to need. */
static int fill_lacking(const struct filling *f)
{
	struct image_session *s = f->s;
	int r;

	if (!s->lacks_types || !s->session.wants->alone ||
	    s->image->types.tried)
		return 0;
	r = pdet_image_types(s->image, &s->session.env);
	if (r < 0)
		return pdet_is_shortage(r) ? r : 0;
	(void)image_session_of(&s->session);
	fill_rows(f);
	return 0;
}

void pdet_image_together(const struct pdet_backend *b, struct pdet_fields *set)
{
	const struct image *im = PDET_CONTAINER(b, const struct image, backend);
	struct pdet_fields page = { { 0, 0 } };
	size_t i;

	if (!im->memory || !im->memory->live)
		return;
	for (i = 0; i < PDET_COUNT(decoded); i++)
		pdet_fields_add(&page, decoded[i].field);
	if (pdet_fields_meet(set, &page))
		pdet_fields_join(set, &page);
	/* Whose it is takes more to find out: for those rows only. */
	pdet_image_owners_together(set);
}

int pdet_image_fill(struct pdet_session *base, struct pdet_batch *b,
		    const struct pdet_fields *want, unsigned source)
{
	struct image_session *s = image_session_of(base);
	const struct image_owner_wants owners =
		pdet_image_owner_wants(want);
	const bool folds = may_fold(s, b, want);
	const struct filling f = {
		s, b, want, source, owners,
		owners.file || owners.memcg || owners.cache,
		folds, folds && base->wants->kinds &&
			s->image->layout.free_orders,
	};
	int r;

	if (session_room(s, b->cap, f.any_owner) < 0 ||
	    (f.fold && !fold_room(s)))
		return -ENOMEM;
	if (f.fold && b->n) {
		fill_folded(&f);
		return 0;
	}
	pdet_batch_write_out(b);
	s->lacks_types = false;
	fill_rows(&f);
	r = fill_lacking(&f);
	if (r < 0)
		return r;
	if (pdet_fields_has(want, PAGEDET_FIELD_NODE) ||
	    pdet_fields_has(want, PAGEDET_FIELD_ZONE))
		pdet_image_put_zones(s, b, source);
	r = pdet_image_put_page_owner(s, b, want, source);
	if (r == 0 && pdet_fields_has(want, PAGEDET_FIELD_CONTENT))
		r = pdet_image_put_content(s, b, source);
	if (r < 0)
		return r;
	return pdet_fields_has(want, PAGEDET_FIELD_KERNEL_MAPS) ?
	       pdet_image_put_kernel_maps(s, b, source) : 0;
}
