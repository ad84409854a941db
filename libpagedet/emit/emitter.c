/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The core of an emitter: its bounded buffer, its descriptor, and the columns
 * of a query in their order. The formats are in other files.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "emit/cell.h"
#include "emit/emitter.h"

#define OPTIONS ((uint32_t)(PAGEDET_EMIT_COLOUR | PAGEDET_EMIT_SOURCES | \
			    PAGEDET_EMIT_POINTERS | PAGEDET_EMIT_STACKS | \
			    PAGEDET_EMIT_LINEAR | PAGEDET_EMIT_TOTALS | \
			    PAGEDET_EMIT_ALTERNATIVES))

static const uint64_t nothing;

/* Writes all bytes up to @at to the descriptor and empties the buffer. */
static void drain(struct pdet_out *out)
{
	const char *from = out->buf;
	struct pollfd pfd = { .fd = out->fd, .events = POLLOUT };
	ssize_t n;

	while (from < out->at && !out->error) {
		n = write(out->fd, from, (size_t)(out->at - from));
		if (n > 0)
			from += n;
		else if (!n)
			out->error = EIO;
		else if (errno == EAGAIN)
			poll(&pfd, 1, -1);
		else if (errno != EINTR)
			out->error = errno;
	}
	out->at = out->buf;
}

static bool grow(struct pdet_out *out, size_t need)
{
	size_t used = (size_t)(out->at - out->buf);
	size_t cap = (size_t)(out->end - out->buf);
	char *buf;

	while (cap - used < need) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	buf = realloc(out->buf, cap);
	if (!buf)
		return false;
	out->buf = buf;
	out->at = buf + used;
	out->end = buf + cap;
	return true;
}

char *pdet_out_more(struct pdet_out *out, char *p, size_t need)
{
	out->at = p;
	if (out->error)
		out->at = out->buf;
	else if (out->fd >= 0) {
		drain(out);
		/* Without memory the buffer keeps its size. */
		if (out->end - out->buf < (ptrdiff_t)PDET_OUT_BYTES)
			grow(out, PDET_OUT_BYTES);
	} else if (!grow(out, need)) {
		out->error = ENOMEM;
		out->at = out->buf;
	}
	return out->at;
}

void pdet_out_put_long(struct pdet_out *out, const char *text, size_t len)
{
	size_t part;

	while (len) {
		part = PDET_MIN(len, PDET_OUT_ROOM);
		out->at = pdet_out_room(out, out->at, part);
		memcpy(out->at, text, part);
		out->at += part;
		text += part;
		len -= part;
	}
}

void pdet_out_str(struct pdet_out *out, const char *text)
{
	pdet_out_put(out, text, strlen(text));
}

void pdet_out_pad(struct pdet_out *out, size_t blanks)
{
	static const char pad[] = "                                ";
	size_t part;

	for (; blanks; blanks -= part) {
		part = PDET_MIN(blanks, sizeof(pad) - 1);
		pdet_out_put(out, pad, part);
	}
}

void pdet_out_right(struct pdet_out *out, size_t width, const char *text,
		    size_t len)
{
	pdet_out_pad(out, len < width ? width - len : 0);
	pdet_out_put(out, text, len);
	pdet_out_put(out, " ", 1);
}

void pdet_out_dec(struct pdet_out *out, uint64_t value)
{
	out->at = pdet_out_room(out, out->at, PDET_DIGITS);
	out->at = pdet_put_dec(out->at, value);
}

static int no_memory(struct pdet_env *env)
{
	return pdet_fail(env, ENOMEM, "cannot emit: no memory");
}

int pdet_out_result(const struct pdet_out *out, struct pdet_env *env)
{
	if (!out->error)
		return 0;
	if (out->error == ENOMEM)
		return no_memory(env);
	errno = out->error;
	pdet_fail_errno(env, "cannot write output");
	return -EIO;
}

static const struct pdet_emit_format *find_format(uint32_t format)
{
	switch (format) {
	case PAGEDET_FORMAT_TEXT:
		return &pdet_emit_text;
	case PAGEDET_FORMAT_JSON:
		return &pdet_emit_json;
	case PAGEDET_FORMAT_CSV:
		return &pdet_emit_csv;
	case PAGEDET_FORMAT_SVG:
		return &pdet_emit_svg;
	case PAGEDET_FORMAT_SNAPSHOT:
		return &pdet_emit_snapshot;
	default:
		return NULL;
	}
}

int pdet_emitter_new(struct pdet_env *env,
		     const struct pagedet_emit_options *options,
		     struct pagedet_emitter **ret)
{
	const struct pdet_emit_format *format = find_format(options->format);
	struct pagedet_emitter *e;

	if (options->format == PAGEDET_FORMAT_ARROW)
		return pdet_fail(env, ENOSYS,
				 "cannot emit Arrow: not built into this library");
	if (options->by >= PDET_FIELDS)
		return pdet_fail(env, EINVAL, "cannot emit: no field %u",
				 options->by);
	if (!format)
		return pdet_fail(env, EINVAL, "cannot emit: no format %u",
				 options->format);
	if (options->options & ~OPTIONS)
		return pdet_fail(env, EINVAL, "cannot emit: no option 0x%x",
				 options->options & ~OPTIONS);
	e = calloc(1, sizeof(*e));
	if (!e)
		return no_memory(env);
	e->env = env;
	e->format = format;
	e->options = options->options;
	e->width = options->width;
	e->limit = options->limit;
	e->by = options->by;
	if (options->title)
		e->title = strdup(options->title);
	e->own = calloc(1, format->size);
	e->out.buf = malloc(PDET_OUT_ROOM);
	if (!e->own || !e->out.buf || (options->title && !e->title)) {
		pdet_emitter_free(e);
		return no_memory(env);
	}
	e->out.at = e->out.buf;
	e->out.end = e->out.buf + PDET_OUT_ROOM;
	e->out.fd = options->fd < 0 ? -1 : options->fd;
	*ret = e;
	return 0;
}

void pdet_emitter_free(struct pagedet_emitter *e)
{
	if (!e)
		return;
	if (e->own && e->format->free)
		e->format->free(e);
	free(e->own);
	free(e->title);
	free(e->from);
	free(e->out.buf);
	free(e);
}

bool pdet_emitter_draws(const struct pagedet_emitter *e)
{
	return e->format == &pdet_emit_svg;
}

bool pdet_emitter_saves(const struct pagedet_emitter *e)
{
	return e->format == &pdet_emit_snapshot;
}

int pdet_emitter_lists(const struct pagedet_emitter *e, struct pdet_env *env,
		       const char *what)
{
	if (e->format == &pdet_emit_svg || e->format->rows_only)
		return pdet_fail(env, EINVAL, "%s can be written as text, JSON "
				 "or CSV only", what);
	return 0;
}

static void add_col(struct pagedet_emitter *e, unsigned field)
{
	const struct pagedet_field_info *info = pdet_field_info(field);
	struct pdet_emit_col *c = &e->col[e->n_col++];
	bool kernel = e->query.target == PAGEDET_TARGET_KADDR ||
		      e->query.target == PAGEDET_TARGET_OBJECTS ||
		      e->query.target == PAGEDET_TARGET_EVENTS ||
		      e->query.target == PAGEDET_TARGET_MAPPERS ||
		      e->query.target == PAGEDET_TARGET_LOG;

	memset(c, 0, sizeof(*c));
	c->name = info->name;
	c->field = field;
	c->type = info->type;
	c->known = PDET_FIELDS;
	if (!e->query.grouped && pdet_known_field(field) != field)
		c->known = pdet_known_field(field);
	c->named = pdet_mask_named(field);
	c->pointer = kernel && !(e->options & PAGEDET_EMIT_POINTERS) &&
		     (field == PAGEDET_FIELD_VADDR ||
		      field == PAGEDET_FIELD_VMA_START ||
		      field == PAGEDET_FIELD_VMA_END);
}

/* Columns of groups: the keys in order, each once, then the count. */
static void group_cols(struct pagedet_emitter *e, const uint32_t *keys,
		       size_t n)
{
	struct pdet_fields seen = { { 0, 0 } };
	size_t i;

	for (i = 0; i < n; i++) {
		if (keys[i] >= PDET_FIELDS || pdet_fields_has(&seen, keys[i]) ||
		    keys[i] == PAGEDET_FIELD_PAGES)
			continue;
		pdet_fields_add(&seen, keys[i]);
		e->keys[e->query.n_group_by++] = keys[i];
		add_col(e, keys[i]);
	}
	add_col(e, PAGEDET_FIELD_PAGES);
	/* Many objects share a page, and a block has several. */
	e->counted = e->query.target == PAGEDET_TARGET_OBJECTS ? "objects" :
		     e->query.target == PAGEDET_TARGET_EVENTS ? "events" :
								"pages";
	e->col[e->n_col - 1].name = e->counted;
}

static bool is_key(const struct pagedet_emitter *e, uint32_t field)
{
	size_t i;

	for (i = 0; i < e->query.n_group_by; i++)
		if (e->keys[i] == field)
			return true;
	return false;
}

unsigned pdet_emit_bytes(const struct pagedet_emitter *e,
			 const struct pdet_batch *b, uint32_t row,
			 uint64_t *ret)
{
	const uint64_t n = pdet_batch_get(b, row, PAGEDET_FIELD_PAGES, 0);
	const unsigned f = PAGEDET_FIELD_ALLOC_BYTES;

	if (!pdet_emit_counts_others(e)) {
		*ret = n * e->query.page_size;
		return PAGEDET_HAVE;
	}
	*ret = pdet_batch_get(b, row, f, 0) * (is_key(e, f) ? n : 1);
	return pdet_batch_state(b, row, f);
}

/*
 * If the known mask of a field is a column, it is not shown beside the field.
 */
static void list_cols(struct pagedet_emitter *e)
{
	struct pdet_fields show = e->query.fields;
	unsigned i, f;

	if (e->query.runs)
		pdet_fields_add(&show, PAGEDET_FIELD_PAGES);
	for (f = 0; f < PDET_FIELDS; f++)
		if (pdet_fields_has(&show, f) && pdet_known_field(f) != f)
			pdet_fields_remove(&show, pdet_known_field(f));
	for (i = 0; i < PDET_FIELDS; i++)
		if (pdet_fields_has(&show, pdet_field_at(i)))
			add_col(e, pdet_field_at(i));
}

/* The iterator of the query may be freed already. */
static void give_up(struct pagedet_emitter *e)
{
	e->query.why = NULL;
	e->query.info = NULL;
	e->query.advice = NULL;
	e->query.stack = NULL;
	if (e->open && !e->out.error && e->format->give_up)
		e->format->give_up(e);
	e->open = false;
}

int pdet_emit_begin(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_emit_query *q)
{
	const char *why = NULL;
	int r = pdet_out_result(&e->out, env);

	if (r)
		return r;
	if (e->format->rows_only && (q->grouped || q->runs))
		return pdet_fail(env, EINVAL, "cannot save groups or runs: a "
				 "snapshot holds rows");
	if (e->format->rows_only && e->begun)
		return pdet_fail(env, EINVAL, "cannot save this: a snapshot "
				 "holds the rows of one query");
	e->begun = true;
	give_up(e);
	if (e->format->refuse)
		why = e->format->refuse(q);
	if (why)
		return pdet_fail(env, EINVAL, "cannot draw a picture: %s", why);
	e->query = *q;
	e->query.group_by = e->keys;
	e->query.n_group_by = 0;
	e->n_col = 0;
	if (q->grouped)
		group_cols(e, q->group_by, q->group_by ? q->n_group_by : 0);
	else
		list_cols(e);
	e->open = true;
	if (!e->format->begin(e))
		e->out.error = ENOMEM;
	return pdet_out_result(&e->out, env);
}

/* The cell of a wanted column that the batch does not have. */
static uint16_t absent_cell(const struct pagedet_emitter *e, unsigned field)
{
	uint32_t state = PAGEDET_NOT_ASKED;

	if (e->query.why)
		state = e->query.why(e->query.user, field);
	return pdet_is_reason(state) ? (uint16_t)(state & 0xff) :
				       PAGEDET_NOT_ASKED;
}

void pdet_emit_bind(struct pagedet_emitter *e, const struct pdet_batch *b)
{
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		struct pdet_emit_col *c = &e->col[i];

		if (pdet_batch_has(b, c->field)) {
			c->value = b->value[c->field];
			c->cell = b->cell[c->field];
			c->at = ~(uint32_t)0;
		} else {
			c->no_cell = absent_cell(e, c->field);
			c->value = &nothing;
			c->cell = &c->no_cell;
			c->at = 0;
		}
		if (c->known < PDET_FIELDS && pdet_batch_has(b, c->known)) {
			c->known_value = b->value[c->known];
			c->known_cell = b->cell[c->known];
			c->known_at = ~(uint32_t)0;
		} else {
			c->no_known_cell = PAGEDET_NOT_ASKED;
			c->known_value = &nothing;
			c->known_cell = &c->no_known_cell;
			c->known_at = 0;
		}
	}
}

/* Whether the address of a log is of the kernel, where it may have 32 bits. */
static bool is_of_kernel(const struct pdet_batch *b, uint32_t row,
			 uint64_t value)
{
	const unsigned f = PAGEDET_FIELD_REPORT;
	const unsigned state = pdet_batch_state(b, row, f);

	if (value >> 63)
		return true;
	/* A group may be of several reports. */
	if (state != PAGEDET_HAVE)
		return state == PAGEDET_NOT_ASKED && value >> 31 == 1;
	/* KASAN reports accesses to memory of programs, too. */
	return b->value[f][row] == PAGEDET_REPORT_SLAB ||
	       b->value[f][row] == PAGEDET_REPORT_LIST ||
	       b->value[f][row] == PAGEDET_REPORT_KFENCE ||
	       (b->value[f][row] == PAGEDET_REPORT_KASAN && value >> 30 &&
		!(value >> 32));
}

bool pdet_emit_hidden(const struct pagedet_emitter *e,
		      const struct pdet_batch *b,
		      const struct pdet_emit_col *c, uint32_t row)
{
	if (!c->pointer)
		return false;
	/* Who asks for one of the lower half has it from a process. */
	if (e->query.target == PAGEDET_TARGET_KADDR)
		return pdet_col_value(c, row) >> 63;
	if (e->query.target == PAGEDET_TARGET_OBJECTS ||
	    e->query.target == PAGEDET_TARGET_EVENTS)
		return true;
	if (pdet_batch_state(b, row, PAGEDET_FIELD_MAP) == PAGEDET_HAVE)
		return b->value[PAGEDET_FIELD_MAP][row] != PAGEDET_MAP_USER;
	if (e->query.target == PAGEDET_TARGET_LOG)
		return is_of_kernel(b, row, pdet_col_value(c, row));
	/*
	 * If the kind of mapping is not known, the half of the address space
	 * decides.
	 */
	return pdet_col_value(c, row) >> 63;
}

int pdet_emit_batch(struct pagedet_emitter *e, struct pdet_env *env,
		    const struct pdet_batch *b)
{
	if (!e->out.error) {
		pdet_emit_bind(e, b);
		e->format->batch(e, b);
	}
	return pdet_out_result(&e->out, env);
}

int pdet_emit_end(struct pagedet_emitter *e, struct pdet_env *env,
		  const struct pdet_emit_end *end)
{
	if (!e->out.error)
		e->format->end(e, end);
	e->open = false;
	return pdet_out_result(&e->out, env);
}

int pdet_emit_thread(struct pagedet_emitter *e, struct pdet_env *env,
		     const struct pdet_emit_thread *t)
{
	if (!e->out.error && e->format->thread)
		e->format->thread(e, t);
	return pdet_out_result(&e->out, env);
}

int pdet_emit_ability(struct pagedet_emitter *e, struct pdet_env *env,
		      unsigned field, unsigned source,
		      const struct pagedet_ability *a)
{
	const struct pagedet_field_info *info = pdet_field_info(field);
	const char *source_name = pdet_source_name(source);

	if (!info || !source_name)
		return pdet_fail(env, EINVAL,
				 "cannot emit: no field %u or source %u",
				 field, source);
	if (!e->format->ability)
		return pdet_fail(env, EINVAL, "cannot write what can be "
					      "answered: this format can only "
					      "have pages");
	if (!e->out.error)
		e->format->ability(e, info->name, source_name, a);
	return pdet_out_result(&e->out, env);
}

int pdet_emitter_finish(struct pagedet_emitter *e)
{
	give_up(e);
	if (!e->out.error && e->format->finish)
		e->format->finish(e);
	if (e->out.fd >= 0)
		drain(&e->out);
	return pdet_out_result(&e->out, e->env);
}

const char *pdet_emitter_text(struct pagedet_emitter *e, size_t *len)
{
	*len = 0;
	if (e->out.fd >= 0 || e->out.error)
		return "";
	e->out.at = pdet_out_room(&e->out, e->out.at, 1);
	if (e->out.error)
		return "";
	*e->out.at = '\0';
	*len = (size_t)(e->out.at - e->out.buf);
	return e->out.buf;
}
