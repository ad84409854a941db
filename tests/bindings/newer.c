/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Simulates the library of a later release for today's bindings. Rows have new
 * fields, there is a new source and a new reason that the header does not know,
 * and descriptions are longer. It counts objects that are freed in the wrong
 * order or used from two threads, and wipes what it frees, so that errors of a
 * binding become visible.
 *
 * The rows are invented. Pfn n is anonymous, with comm "task-n" for even n; for
 * odd n comm is lost for the new reason. Pfn 13 fails with -EIO, and pfn 40
 * shows the kernel's mappings. Of the two bits of the glow, only the second one
 * is known.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pagedet.h"

#define COLOUR 57
#define GLOW 58
#define SURE 59
#define NEW_STATE 31
#define NEW_SOURCE 10
#define ROW_SIZE (sizeof(struct pagedet_page) + 2 * sizeof(uint64_t))
#define KERNEL 0xffff888000000000
#define STEP 8
#define COLUMNS 7

struct pagedet {
	int opened;
	unsigned made;		/* living iterators, indexes, emitters */
	char error[80];
	const char *advice;
	pthread_t user;
	int inside;
	pagedet_log_fn *log;
	void *log_user;
	int level;
};

struct pagedet_iter {
	struct pagedet *pd;
	struct pagedet_index *index;
	uint64_t at, end;
	uint64_t rows;
	uint64_t limit;
	uint64_t string_base;
	uint64_t row_size;
	int cancelled;
	int timeout;
	pagedet_progress_fn *progress;
	void *progress_user;
	char text[STEP][16];
	uint64_t *value[COLUMNS];
	uint16_t *cell[COLUMNS];
	struct pagedet_column column[COLUMNS];
};

struct pagedet_index {
	struct pagedet *pd;
	unsigned users;
};

struct pagedet_emitter {
	struct pagedet *pd;
	char text[64];
};

/* Read and set by the test. */
unsigned newer_wrong;		/* broken rules */
unsigned newer_handles, newer_iters;
uint32_t newer_descriptor;
struct pagedet_index_options newer_index;
uint64_t newer_group_by;	/* with PAGEDET_Q_GROUP, fields plus one */

/* Descriptions with one more member. */
struct longer_info {
	struct pagedet_field_info info;
	const char *taste;
};

struct longer_part {
	struct pagedet_part part;
	const char *taste;
};

/* In the order of the columns; their position is another one. */
#define FIELD(id_, known_, position_, type_, offset_, width_, name_, unit_, \
	      since_)                                                     \
	{ { .size = sizeof(struct longer_info), .id = (id_),              \
	    .known = (known_), .position = (position_), .type = (type_),  \
	    .offset = (uint32_t)(offset_), .width = (width_),             \
	    .name = (name_), .unit = (unit_), .group = "page",            \
	    .since = (since_), .text = "a " name_ }, "sweet" }
#define OF(member) offsetof(struct pagedet_page, member)
#define END sizeof(struct pagedet_page)

static const struct longer_info fields[] = {
	FIELD(PAGEDET_FIELD_PFN, PAGEDET_FIELD_PFN, 0, PAGEDET_TYPE_NUMBER,
	      OF(pfn), 8, "pfn", "pfn", "0.1"),
	FIELD(PAGEDET_FIELD_VADDR, PAGEDET_FIELD_VADDR, 1, PAGEDET_TYPE_HEX,
	      OF(vaddr), 8, "vaddr", "bytes", "0.1"),
	FIELD(PAGEDET_FIELD_KIND, PAGEDET_FIELD_KIND, 6, PAGEDET_TYPE_ENUM,
	      OF(kind), 4, "kind", "", "0.1"),
	FIELD(PAGEDET_FIELD_COMM, PAGEDET_FIELD_COMM, 3, PAGEDET_TYPE_STRING,
	      OF(comm), 8, "comm", "", "0.1"),
	FIELD(COLOUR, COLOUR, 2, 99, END, 8, "colour", "nm", "9.0"),
	FIELD(GLOW, SURE, 4, PAGEDET_TYPE_MASK, END + 8, 4, "glow", "",
	      "9.0"),
	FIELD(SURE, SURE, 5, PAGEDET_TYPE_MASK, END + 12, 4, "sure", "",
	      "9.0"),
	/*
	 * No query wants this field. The name of the last field does not
	 * concern glow.
	 */
	FIELD(PAGEDET_FIELD_PTE, PAGEDET_FIELD_PTE, 7, PAGEDET_TYPE_MASK,
	      OF(pte), 4, "pte", "", "0.1"),
	FIELD(PAGEDET_FIELD_MAP, PAGEDET_FIELD_MAP, 8, PAGEDET_TYPE_ENUM,
	      OF(map), 4, "map", "", "0.1"),
	FIELD(60, 60, 9, PAGEDET_TYPE_MASK, OF(pte_known), 4, "glow_known",
	      "", "9.0"),
};

static int fail(struct pagedet *pd, int code, const char *text,
		const char *advice)
{
	snprintf(pd->error, sizeof(pd->error), "%s", text);
	pd->advice = advice;
	return -code;
}

static void enter(struct pagedet *pd)
{
	if (__atomic_exchange_n(&pd->inside, 1, __ATOMIC_SEQ_CST))
		newer_wrong++;
}

static void leave(struct pagedet *pd)
{
	__atomic_store_n(&pd->inside, 0, __ATOMIC_SEQ_CST);
}

static void snooze(void)
{
	struct timespec ms = { 0, 1000000 };

	nanosleep(&ms, NULL);
}

const char *pagedet_version(void)
{
	return "9.0.0";
}

uint32_t pagedet_version_number(void)
{
	return 9000000;
}

const struct pagedet_part *pagedet_part(uint32_t n)
{
	static const struct longer_part parts[] = {
		{ { sizeof(*parts), "zstd", "dumps", 1, 0 }, "salty" },
		{ { sizeof(*parts), "moon", "light", 0, 0 }, "sour" },
	};

	return n < 2 ? &parts[n].part : NULL;
}

const struct pagedet_field_info *pagedet_field(uint32_t field)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (fields[i].info.id == field)
			return &fields[i].info;
	return NULL;
}

const char *pagedet_value_name(uint32_t field, uint64_t value)
{
	if (field == PAGEDET_FIELD_KIND && value == PAGEDET_KIND_ANON)
		return "anon";
	if (field == GLOW && value < 2)
		return value ? "bright" : "dim";
	return NULL;
}

const char *pagedet_state_name(uint32_t state)
{
	switch (state) {
	case PAGEDET_NOT_ASKED:
		return "not_asked";
	case PAGEDET_HAVE:
		return "have";
	case PAGEDET_NONE:
		return "none";
	case NEW_STATE:
		return "moonlit";
	default:
		return NULL;
	}
}

const char *pagedet_source_name(uint32_t source)
{
	return source == PAGEDET_SOURCE_PROCFS ? "procfs" :
	       source == NEW_SOURCE ? "moon" : NULL;
}

struct pagedet *pagedet_new(void)
{
	newer_handles++;
	return calloc(1, sizeof(struct pagedet));
}

void pagedet_free(struct pagedet *pd)
{
	if (!pd)
		return;
	if (pd->made || pd->inside)
		newer_wrong++;
	memset(pd, 0xdd, sizeof(*pd));
	free(pd);
	newer_handles--;
}

void pagedet_options_init(struct pagedet_options *options, uint64_t size)
{
	memset(options, 0, size);
	options->size = size;
}

int pagedet_open(struct pagedet *pd, const struct pagedet_options *options)
{
	if (options->root && !strcmp(options->root, "/closed"))
		return fail(pd, EACCES,
			    "cannot read /closed: permission denied",
			    "needs CAP_SYS_ADMIN");
	if (options->n_files == 2)
		return fail(pd, EBADMSG, options->files[1], "");
	pd->opened = 1;
	return 0;
}

const char *pagedet_error(const struct pagedet *pd)
{
	return pd->error;
}

const char *pagedet_advice(const struct pagedet *pd)
{
	return pd->advice ? pd->advice : "";
}

void pagedet_set_log(struct pagedet *pd, pagedet_log_fn *fn, void *user,
		     int level)
{
	pd->log = fn;
	pd->log_user = user;
	pd->level = level;
}

int pagedet_add_fd(struct pagedet *pd, uint32_t kind, uint32_t pid, int fd)
{
	(void)pd;
	newer_descriptor = kind << 16 | pid << 8 | (uint32_t)fd;
	return 0;
}

int pagedet_info(struct pagedet *pd, struct pagedet_info *ret)
{
	(void)pd;
	ret->page_size = 4096;
	ret->live = 1;
	ret->sources = PAGEDET_SOURCE_BIT(NEW_SOURCE);
	ret->arch = "x86_64";
	ret->release = "";
	ret->boot_id = "";
	return 0;
}

void pagedet_query_init(struct pagedet_query *query, uint64_t size,
			uint64_t row_size)
{
	memset(query, 0, size);
	query->size = size;
	query->row_size = row_size;
}

int pagedet_fields_parse(struct pagedet *pd, const char *list,
			 struct pagedet_query *query)
{
	if (strstr(list, "nonsense"))
		return fail(pd, ENOENT, "no field 'nonsense'", "");
	query->fields[0] |= 1;
	return 0;
}

int pagedet_query(struct pagedet *pd, const struct pagedet_query *query,
		  struct pagedet_iter **ret)
{
	struct pagedet_iter *it;
	int i;

	enter(pd);
	if (query->row_size != ROW_SIZE)
		newer_wrong++;
	if (!query->group_by != !query->n_group_by)
		newer_wrong++;
	newer_group_by = query->options & PAGEDET_Q_GROUP ?
		query->n_group_by + 1 : 0;
	if (pd->log && pd->level >= PAGEDET_LOG_INFO)
		pd->log(pd->log_user, PAGEDET_LOG_INFO, "planned");
	it = calloc(1, sizeof(*it));
	it->pd = pd;
	it->row_size = query->row_size;
	it->at = query->n_items ? query->items[0].first : 0;
	it->end = query->n_items ? it->at + query->items[0].count : 1000000;
	it->limit = query->limit;
	it->timeout = query->deadline_ns != 0;
	it->progress = query->progress;
	it->progress_user = query->progress_user;
	it->index = query->index;
	if (it->index)
		it->index->users++;
	for (i = 0; i < COLUMNS; i++) {
		it->value[i] = calloc(STEP, sizeof(uint64_t));
		it->cell[i] = calloc(STEP, sizeof(uint16_t));
		it->column[i].field = fields[i].info.id;
		it->column[i].value = it->value[i];
		it->column[i].cell = it->cell[i];
	}
	pd->made++;
	newer_iters++;
	*ret = it;
	leave(pd);
	return 0;
}

void pagedet_iter_free(struct pagedet_iter *it)
{
	int i;

	if (!it)
		return;
	enter(it->pd);
	leave(it->pd);
	it->pd->made--;
	newer_iters--;
	if (it->index)
		it->index->users--;
	for (i = 0; i < COLUMNS; i++) {
		memset(it->value[i], 0xdd, STEP * sizeof(uint64_t));
		memset(it->cell[i], 0xdd, STEP * sizeof(uint16_t));
		free(it->value[i]);
		free(it->cell[i]);
	}
	memset(it, 0xdd, sizeof(*it));
	free(it);
}

void pagedet_cancel(struct pagedet_iter *it)
{
	__atomic_store_n(&it->cancelled, 1, __ATOMIC_SEQ_CST);
}

static void set(struct pagedet_iter *it, int column, uint32_t row,
		uint64_t value, unsigned state)
{
	it->value[column][row] = value;
	it->cell[column][row] = (uint16_t)(NEW_SOURCE << 8 | state);
}

/* Makes the next rows as columns. Returns how many, or an error. */
static int step(struct pagedet_iter *it, uint32_t most)
{
	struct pagedet_progress told = { .size = sizeof(told) };
	uint32_t n = 0;

	if (it->timeout)
		return fail(it->pd, ETIMEDOUT, "the deadline passed", "");
	told.done = it->at;
	told.total = it->end;
	if (it->progress && it->progress(it->progress_user, &told))
		return fail(it->pd, ECANCELED, "cancelled", "");
	snooze();
	if (__atomic_load_n(&it->cancelled, __ATOMIC_SEQ_CST))
		return fail(it->pd, ECANCELED, "cancelled", "");
	it->string_base += STEP;
	while (n < most && n < STEP && it->at < it->end) {
		if (it->limit && it->rows == it->limit)
			break;
		if (it->at == 13)
			return fail(it->pd, EIO, "cannot read pfn 13", "");
		set(it, 0, n, it->at, PAGEDET_HAVE);
		set(it, 1, n, KERNEL + it->at * 4096,
		    it->at == 40 ? PAGEDET_HAVE : PAGEDET_NOT_ASKED);
		set(it, 2, n, PAGEDET_KIND_ANON, PAGEDET_HAVE);
		if (it->at % 2)
			set(it, 3, n, 0, NEW_STATE);
		else
			set(it, 3, n, it->string_base + n, PAGEDET_HAVE);
		snprintf(it->text[n], sizeof(it->text[n]), "task-%u",
			 (unsigned)it->at);
		set(it, 4, n, it->at * 3, PAGEDET_HAVE);
		set(it, 5, n, it->at % 4, PAGEDET_HAVE);
		set(it, 6, n, 2, PAGEDET_HAVE);
		n++;
		it->at++;
		it->rows++;
	}
	return (int)n;
}

int pagedet_next(struct pagedet_iter *it, struct pagedet_page *rows,
		 uint32_t n)
{
	int i, got, c;

	enter(it->pd);
	got = step(it, n);
	for (i = 0; i < got; i++) {
		char *row = (char *)rows + (size_t)i * it->row_size;

		memset(row, 0, it->row_size);
		for (c = 0; c < COLUMNS; c++) {
			const struct pagedet_field_info *f = &fields[c].info;

			((uint16_t *)row)[f->id] = it->cell[c][i];
			if (f->width == 8)
				memcpy(row + f->offset, &it->value[c][i], 8);
			else
				*(uint32_t *)(row + f->offset) =
					(uint32_t)it->value[c][i];
		}
	}
	leave(it->pd);
	return got;
}

int pagedet_next_columns(struct pagedet_iter *it, struct pagedet_columns *ret)
{
	int got;

	enter(it->pd);
	got = step(it, STEP);
	if (got >= 0) {
		ret->rows = (uint64_t)got;
		ret->n_columns = COLUMNS;
		ret->columns = it->column;
	}
	leave(it->pd);
	return got;
}

int pagedet_iter_retarget(struct pagedet_iter *it,
			  const struct pagedet_item *items, uint64_t n_items)
{
	if (n_items != 1 || !items->count)
		return fail(it->pd, EINVAL, "an item is empty", "");
	it->at = items->first;
	it->end = it->at + items->count;
	return 0;
}

void pagedet_iter_fields(const struct pagedet_iter *it, uint64_t *ret)
{
	(void)it;
	ret[0] = (uint64_t)1 << COLOUR | (uint64_t)1 << PAGEDET_FIELD_PFN;
	ret[1] = 0;
}

uint32_t pagedet_why(const struct pagedet_iter *it, uint32_t field)
{
	(void)it;
	return field == PAGEDET_FIELD_COMM ? NEW_STATE : PAGEDET_HAVE;
}

const char *pagedet_why_advice(const struct pagedet_iter *it, uint32_t field)
{
	(void)it;
	return field == PAGEDET_FIELD_COMM ? "wait for the moon" : "";
}

int pagedet_coverage(const struct pagedet_iter *it,
		     struct pagedet_coverage *ret)
{
	ret->rows = it->rows;
	ret->lost[NEW_STATE] = 3;
	ret->answered[0] = (uint64_t)1 << COLOUR;
	ret->stopped = it->cancelled ? ECANCELED : 0;
	ret->complete = it->at == it->end;
	return 0;
}

const char *pagedet_string(const struct pagedet_iter *it, uint64_t id,
			   size_t *len)
{
	if (id < it->string_base || id >= it->string_base + STEP)
		return NULL;
	if (len)
		*len = strlen(it->text[id - it->string_base]);
	return it->text[id - it->string_base];
}

int pagedet_index_new(struct pagedet *pd,
		      const struct pagedet_index_options *options,
		      struct pagedet_index **ret)
{
	struct pagedet_progress told = { .size = sizeof(told), .done = 2,
					 .total = 7 };

	if (options->size != sizeof(*options))
		newer_wrong++;
	newer_index = *options;
	if (options->progress &&
	    options->progress(options->progress_user, &told))
		return fail(pd, ECANCELED, "cancelled", "");
	if (options->deadline_ns == 1000000)
		return fail(pd, ETIMEDOUT, "the deadline passed", "");
	*ret = calloc(1, sizeof(**ret));
	(*ret)->pd = pd;
	pd->made++;
	return 0;
}

uint64_t pagedet_index_find(const struct pagedet_index *index, uint64_t pfn,
			    struct pagedet_mapping *mappings, uint64_t n)
{
	uint64_t i;

	(void)index;
	for (i = 0; i < n && i < 100; i++)
		mappings[i] = (struct pagedet_mapping){ pfn, i << 12,
							(uint32_t)i, 0 };
	return 100;
}

void pagedet_index_free(struct pagedet_index *index)
{
	if (!index)
		return;
	if (index->users)
		newer_wrong++;
	index->pd->made--;
	memset(index, 0xdd, sizeof(*index));
	free(index);
}

int pagedet_emitter_new(struct pagedet *pd,
			const struct pagedet_emit_options *options,
			struct pagedet_emitter **ret)
{
	(void)options;
	*ret = calloc(1, sizeof(**ret));
	(*ret)->pd = pd;
	pd->made++;
	return 0;
}

/*
 * Without pagedet_emit_all() and others: an older library lacks functions, and
 * this one is older and newer at once.
 */
const char *pagedet_emitter_text(struct pagedet_emitter *emitter, size_t *len)
{
	*len = 3;
	memcpy(emitter->text, "a\0b", 4);
	return emitter->text;
}

int pagedet_emitter_finish(struct pagedet_emitter *emitter)
{
	(void)emitter;
	return 0;
}

void pagedet_emitter_free(struct pagedet_emitter *emitter)
{
	if (!emitter)
		return;
	emitter->pd->made--;
	free(emitter);
}
