/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * trace.dat of trace-cmd, versions 6 and 7 (trace-cmd.dat.v6(5), .v7(5)).
 * Version 6 is one thing after the other; version 7 has sections, compressed or
 * not, and options that say where they are. The pages of the ring buffer are
 * the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/text.h"
#include "trace/headers.h"

#define MAGIC "\x17\x08\x44tracing"
#define MOST_CPUS 65536u
/* A hostile file may lead in circles. */
#define MOST_SECTIONS 1000u
#define MOST_SECTION ((uint64_t)128 << 20)
/* Bytes of all sections together. */
#define MOST_UNPACKED ((uint64_t)256 << 20)
#define LEAST_PAGE 4096
/* The tags of version 6 have ten bytes. */
#define TAG 10

enum { OPTION_DONE = 0, OPTION_STATS = 2, OPTION_BUFFER = 3, OPTION_CLOCK = 4,
       OPTION_UNAME = 5,
       OPTION_WRITER = 9, OPTION_HEADERS = 16, OPTION_FTRACE = 17,
       OPTION_FORMATS = 18, OPTION_NAMES = 19, OPTION_THREADS = 21,
       OPTION_BUFFER_TEXT = 22 };
#define ID "0123456789abcdef-"
#define ID_BYTES 36
#define COMPRESSED 1u

struct dat {
	struct pdet_env *env;
	struct pdet_trace *t;
	const char *name;
	int fd;
	uint64_t size;
	bool big_endian;
	struct pdet_codec *codec; /* NULL: none is needed */
	enum pdet_codec_id codec_id;
	uint64_t unpacked;	/* bytes of sections so far */
	uint64_t pages;		/* bytes of the pages of all processors */
	uint32_t have;		/* bits of options that were read */
	bool others;		/* other instances have events */
	bool text;		/* it has the text of a latency tracer */
	bool has_cpu[MOST_CPUS];
	char *stats[MOST_CPUS];	/* by processor; NULL: none */
};

static struct pdet_cursor in_file(const struct dat *d, uint64_t offset)
{
	return (struct pdet_cursor){ .env = d->env, .fd = d->fd, .at = offset,
				     .end = d->size,
				     .big_endian = d->big_endian };
}

static int damaged(const struct dat *d, const char *what)
{
	return pdet_fail(d->env, EBADMSG, "cannot read %s: its %s is damaged, "
			 "or it was cut", d->name, what);
}

/* --- the parts, which both versions have --- */

/* "CPU: N", and the file stats of that processor. */
static int stats(struct dat *d, const struct pdet_text *t)
{
	struct pdet_scan s = { t->data, t->data + t->len };
	uint64_t cpu;

	/* Those behind this title are of another instance. */
	if (pdet_scan_word(&s, "\nBuffer:"))
		d->others = true;
	if (d->others)
		return 0;
	if (!pdet_scan_word(&s, "CPU: ") || !pdet_scan_dec(&s, &cpu) ||
	    cpu >= MOST_CPUS || d->stats[cpu])
		return 0;
	d->stats[cpu] = strdup(t->data);
	return d->stats[cpu] ? 0 : pdet_fail(d->env, ENOMEM, "no memory");
}

/* Some clocks count cycles, or events. */
static void take_clock(struct dat *d, const char *name)
{
	static const char *const no_ns[] = { "x86-tsc", "ppc-tb", "counter" };
	size_t i;

	for (i = 0; i < PDET_COUNT(no_ns); i++)
		if (!strcmp(name, no_ns[i]))
			d->t->no_ns = true;
}

/* Names of all clocks, with brackets around the one that was used. */
static void take_clocks(struct dat *d, const struct pdet_text *t)
{
	char *begin = memchr(t->data, '[', t->len), *end;

	if (!begin)
		return;
	end = strchr(begin, ']');
	if (!end)
		return;
	*end = '\0';
	take_clock(d, begin + 1);
}

/* "Linux HOST RELEASE ..." */
static void take_uname(struct dat *d, const struct pdet_text *t)
{
	struct pdet_scan s = { t->data, t->data + t->len }, word = s;
	unsigned i;

	for (i = 0; i < 3; i++) {
		word = pdet_scan_token(&s);
		pdet_scan_blanks(&s);
	}
	pdet_trace_release(d->t, word.at, (size_t)(word.end - word.at));
}

static int add_cpu(struct dat *d, uint64_t cpu, uint64_t offset, uint64_t size,
		   bool compressed)
{
	const uint64_t begin = PDET_MIN(offset, d->size);
	const uint64_t n = PDET_MIN(size, d->size - begin);
	struct pdet_trace_pages *p;

	/* No byte is of two processors, and no processor is there twice. */
	if (cpu >= MOST_CPUS || n > d->size - d->pages || d->has_cpu[cpu])
		return -EBADMSG;
	d->has_cpu[cpu] = true;
	d->pages += n;
	p = &d->t->pages[d->t->n_pages++];
	pdet_trace_pages_begin(p, d->env, (uint16_t)cpu, &d->t->layout,
			       d->t->known, d->fd, begin, begin + n);
	p->s.loss.cut = size - n;
	if (d->stats[cpu])
		pdet_trace_stats(p, d->stats[cpu], strlen(d->stats[cpu]));
	/* Somebody may have read others before. */
	p->wanted = 0;
	return compressed ? pdet_codec_open(d->codec_id, d->env,
					    &p->input.chunks.codec) : 0;
}

static int room_for_cpus(struct dat *d, uint64_t n)
{
	if (!n || n > MOST_CPUS || d->t->pages)
		return -EBADMSG;
	d->t->pages = calloc(n, sizeof(*d->t->pages));
	return d->t->pages ? 0 : pdet_fail(d->env, ENOMEM, "no memory");
}

/* --- version 6 --- */

static int options6(struct dat *d, struct pdet_cursor *c)
{
	struct pdet_text one = { 0 };
	uint64_t id, size;
	int r = 0;

	while (r == 0) {
		if (!pdet_cursor_number(c, 2, &id))
			return -EBADMSG;
		if (!id)
			return 0;
		if (!pdet_cursor_number(c, 4, &size))
			return -EBADMSG;
		r = pdet_cursor_text(c, size, PDET_TRACE_MOST_TEXT, &one);
		if (r == 0 && id == OPTION_STATS)
			r = stats(d, &one);
		else if (r == 0 && id == OPTION_CLOCK)
			take_clocks(d, &one);
		else if (r == 0 && id == OPTION_UNAME)
			take_uname(d, &one);
		/* Its place, and its name. */
		else if (r == 0 && id == OPTION_BUFFER)
			d->t->has_others |= one.len > 8 && one.data[8];
		pdet_text_free(&one);
	}
	return r;
}

static int cpus6(struct dat *d, struct pdet_cursor *c)
{
	uint64_t n, cpu, offset, size;
	char tag[TAG];
	int r;

	if (!pdet_cursor_number(c, 4, &n) || !pdet_cursor_get(c, tag, TAG))
		return -EBADMSG;
	r = room_for_cpus(d, n);
	if (r == 0 && !memcmp(tag, "options  ", TAG)) {
		r = options6(d, c);
		if (r == 0 && !pdet_cursor_get(c, tag, TAG))
			r = -EBADMSG;
	}
	if (r < 0)
		return r;
	if (!memcmp(tag, "latency  ", TAG)) {
		d->text = true;
		d->t->n_pages = 0;
		return 0;
	}
	if (memcmp(tag, "flyrecord", TAG))
		return -EBADMSG;
	for (cpu = 0; cpu < n && r == 0; cpu++)
		r = pdet_cursor_number(c, 8, &offset) &&
		    pdet_cursor_number(c, 8, &size) ?
			    add_cpu(d, cpu, offset, size, false) :
			    -EBADMSG;
	/* The top one has processors, and no events. */
	if (d->others && !d->pages)
		d->t->n_pages = 0;
	return r;
}

static int version6(struct dat *d, struct pdet_cursor *c)
{
	int r = pdet_trace_headers(c, d->t, true);

	return r < 0 ? r : cpus6(d, c);
}

/* --- version 7 --- */

static int compression(struct dat *d, struct pdet_cursor *c)
{
	char name[PDET_CURSOR_WORD], version[PDET_CURSOR_WORD];

	if (!pdet_cursor_word(c, name) || !pdet_cursor_word(c, version))
		return -EBADMSG;
	if (!strcmp(name, "none"))
		return 0;
	if (!strcmp(name, "zstd"))
		d->codec_id = PDET_CODEC_ZSTD;
	else if (!strcmp(name, "zlib"))
		d->codec_id = PDET_CODEC_ZLIB;
	else
		return pdet_fail(d->env, ENOSYS, "cannot read %s: it is "
				 "compressed by %s", d->name, name);
	return pdet_codec_open(d->codec_id, d->env, &d->codec);
}

/* The head of a section: what it is, and where its data is. */
static int head(struct dat *d, uint64_t offset, uint64_t *id, uint64_t *flags,
		struct pdet_cursor *ret)
{
	uint64_t description, size;

	*ret = in_file(d, offset);
	if (offset > d->size || !pdet_cursor_number(ret, 2, id) ||
	    !pdet_cursor_number(ret, 2, flags) ||
	    !pdet_cursor_number(ret, 4, &description) ||
	    !pdet_cursor_number(ret, 8, &size) ||
	    size > d->size - ret->at)
		return -EBADMSG;
	ret->end = ret->at + size;
	return *flags & COMPRESSED && !d->codec ? -EBADMSG : 0;
}

/* Opens a section; the caller frees *memory. */
static int section(struct dat *d, uint64_t offset, uint64_t wanted,
		   struct pdet_cursor *ret, unsigned char **memory)
{
	uint64_t id, flags, packed, size;
	struct pdet_text bytes = { 0 };
	int r = head(d, offset, &id, &flags, ret);

	*memory = NULL;
	if (r < 0)
		return r;
	if (id != wanted)
		return -EBADMSG;
	if (!(flags & COMPRESSED))
		return 0;
	if (!pdet_cursor_number(ret, 4, &packed) ||
	    !pdet_cursor_number(ret, 4, &size) ||
	    size > MOST_SECTION || size > MOST_UNPACKED - d->unpacked)
		return -EBADMSG;
	d->unpacked += size;
	r = pdet_cursor_text(ret, packed, MOST_SECTION, &bytes);
	if (r < 0)
		return r;
	*memory = malloc(size + 1);
	r = *memory ? pdet_codec_run(d->codec, bytes.data, bytes.len, *memory,
				     size) :
		      pdet_fail(d->env, ENOMEM, "no memory");
	pdet_text_free(&bytes);
	ret->memory = *memory;
	ret->at = 0;
	ret->end = size;
	return r;
}

/* A part that is a section of its own. */
static int part(struct dat *d, uint64_t id, uint64_t offset)
{
	unsigned char *memory;
	struct pdet_cursor c;
	int r = section(d, offset, id, &c, &memory);

	if (r == 0)
		switch (id) {
		case OPTION_HEADERS:
			r = pdet_trace_header_files(&c, d->t);
			break;
		case OPTION_FTRACE:
			r = pdet_trace_ftrace_formats(&c, d->t);
			break;
		case OPTION_FORMATS:
			r = pdet_trace_formats(&c, d->t);
			break;
		case OPTION_NAMES:
			r = pdet_trace_sized_text(&c, 4, PDET_TRACE_MOST_NAMES,
					    &d->t->kallsyms);
			break;
		default:
			r = pdet_trace_sized_text(&c, 8, PDET_TRACE_MOST_TEXT,
					    &d->t->cmdlines);
		}
	free(memory);
	return r;
}

/* Of an instance that is not read, whether it has pages. */
static int other_buffer(struct dat *d, struct pdet_cursor *c, uint64_t n)
{
	uint64_t cpu, at, size;

	for (; n; n--) {
		if (!pdet_cursor_number(c, 4, &cpu) ||
		    !pdet_cursor_number(c, 8, &at) ||
		    !pdet_cursor_number(c, 8, &size))
			return -EBADMSG;
		d->t->has_others |= size > 0;
	}
	return 0;
}

/*
 * One instance of tracing. The top one has no name; what others recorded may be
 * the same events once more.
 */
static int buffer(struct dat *d, struct pdet_cursor *c)
{
	uint64_t offset, id, flags, page, n, cpu, at, size, more;
	char name[PDET_CURSOR_WORD], clock[PDET_CURSOR_WORD];
	struct pdet_cursor data;
	int r;

	if (!pdet_cursor_number(c, 8, &offset) || !pdet_cursor_word(c, name) ||
	    !pdet_cursor_word(c, clock) || !pdet_cursor_number(c, 4, &page) ||
	    !pdet_cursor_number(c, 4, &n))
		return -EBADMSG;
	if (*name)
		return other_buffer(d, c, n);
	if (!n)
		return 0;
	take_clock(d, clock);
	r = head(d, offset, &id, &flags, &data);
	if (r == 0)
		r = room_for_cpus(d, n);
	/* The size of compressed data is without the number of its chunks. */
	more = flags & COMPRESSED ? 4 : 0;
	for (; n && r == 0; n--)
		r = pdet_cursor_number(c, 4, &cpu) &&
		    pdet_cursor_number(c, 8, &at) &&
		    pdet_cursor_number(c, 8, &size) &&
		    size <= UINT64_MAX - more ?
			    add_cpu(d, cpu, at, size + more, more) : -EBADMSG;
	return r;
}

/* The program that wrote the file, which may say what boot it was in. */
static int writer(struct dat *d, struct pdet_cursor *c)
{
	struct pdet_text one = { 0 };
	const char *boot;
	int r = pdet_cursor_text(c, c->end - c->at, PDET_TRACE_MOST_TEXT, &one);

	boot = r == 0 ? strstr(one.data, PDET_TRACE_BOOT) : NULL;
	if (boot)
		boot += strlen(PDET_TRACE_BOOT);
	if (boot && strspn(boot, ID) == ID_BYTES)
		memcpy(d->t->boot, boot, ID_BYTES);
	pdet_text_free(&one);
	return r;
}

static int option(struct dat *d, uint64_t id, struct pdet_cursor *c)
{
	struct pdet_text one = { 0 };
	uint64_t offset;
	int r;

	switch (id) {
	case OPTION_STATS:
		r = pdet_cursor_text(c, c->end - c->at, PDET_TRACE_MOST_TEXT,
				     &one);
		if (r == 0)
			r = stats(d, &one);
		pdet_text_free(&one);
		return r;
	case OPTION_UNAME:
		r = pdet_cursor_text(c, c->end - c->at, PDET_TRACE_MOST_TEXT,
				     &one);
		if (r == 0)
			take_uname(d, &one);
		pdet_text_free(&one);
		return r;
	case OPTION_WRITER:
		return writer(d, c);
	case OPTION_BUFFER_TEXT:
		d->text = true;
		return 0;
	case OPTION_HEADERS:
	case OPTION_FTRACE:
	case OPTION_FORMATS:
	case OPTION_NAMES:
	case OPTION_THREADS:
		/* The first of several is enough. */
		if (d->have >> id & 1)
			return 0;
		d->have |= 1u << id;
		return pdet_cursor_number(c, 8, &offset) ?
			       part(d, id, offset) : -EBADMSG;
	default:
		return 0;
	}
}

/*
 * All options of one section. Buffers come last, because their pages need what
 * others say. Sets *next, 0 at the end.
 */
static int options(struct dat *d, uint64_t offset, bool buffers, uint64_t *next)
{
	unsigned char *memory;
	struct pdet_cursor c, one;
	uint64_t id, size;
	int r = section(d, offset, OPTION_DONE, &c, &memory);

	*next = 0;
	while (r == 0) {
		if (!pdet_cursor_number(&c, 2, &id) ||
		    !pdet_cursor_number(&c, 4, &size) ||
		    size > c.end - c.at) {
			r = -EBADMSG;
			break;
		}
		one = c;
		one.end = c.at + size;
		c.at = one.end;
		if (id == OPTION_DONE) {
			r = pdet_cursor_number(&one, 8, next) ? 0 : -EBADMSG;
			break;
		}
		if (buffers == (id == OPTION_BUFFER))
			r = buffers ? buffer(d, &one) : option(d, id, &one);
	}
	free(memory);
	return r;
}

static int version7(struct dat *d, struct pdet_cursor *c)
{
	uint64_t first, next;
	unsigned buffers, n;
	int r = compression(d, c);

	if (r < 0)
		return r;
	if (!pdet_cursor_number(c, 8, &first))
		return -EBADMSG;
	for (buffers = 0; buffers < 2 && r == 0; buffers++)
		for (n = 0, next = first; next && r == 0; n++)
			r = n < MOST_SECTIONS ?
			    options(d, next, buffers, &next) : -EBADMSG;
	return r;
}

/* --- both --- */

static int begin(struct dat *d, struct pdet_cursor *c,
		 char version[PDET_CURSOR_WORD])
{
	unsigned char bytes[2];
	uint64_t page;

	if (!pdet_cursor_skip(c, sizeof(MAGIC) - 1) ||
	    !pdet_cursor_word(c, version) || !pdet_cursor_get(c, bytes, 2) ||
	    bytes[0] > 1)
		return damaged(d, "beginning");
	d->big_endian = c->big_endian = bytes[0];
	if (!pdet_cursor_number(c, 4, &page))
		return damaged(d, "beginning");
	/*
	 * It is the size of a page of the ring buffer, which has one page of
	 * memory or more.
	 */
	if (page == LEAST_PAGE)
		d->t->page_size = page;
	return 0;
}

static int read_all(struct dat *d)
{
	struct pdet_cursor c = in_file(d, 0);
	char version[PDET_CURSOR_WORD];
	int r = begin(d, &c, version);

	if (r < 0)
		return r;
	if (!strcmp(version, "6"))
		r = version6(d, &c);
	else if (!strcmp(version, "7"))
		r = version7(d, &c);
	else
		return pdet_fail(d->env, ENOTSUP, "cannot read %s: version %s "
				 "of trace.dat is not known", d->name,
				 version);
	if (r == -EBADMSG)
		return damaged(d, "header");
	if (r == 0 && !d->t->n_pages && d->text)
		return pdet_fail(d->env, ENOTSUP, "cannot read %s: it has the "
				 "text of a latency tracer", d->name);
	if (r == 0 && (!d->t->n_pages || !d->t->layout.bytes))
		return pdet_fail(d->env, ENODATA, "%s has no events of the top "
				 "instance%s", d->name, d->t->has_others ?
				 "; those of others are not read" : "");
	return r;
}

bool pdet_dat_is(int fd)
{
	char magic[sizeof(MAGIC) - 1];

	return pdet_pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, MAGIC, sizeof(magic));
}

int pdet_trace_dat(struct pdet_env *env, int fd, const char *name,
		   struct pdet_trace *t)
{
	struct dat *d = calloc(1, sizeof(*d));
	struct stat st;
	unsigned i;
	int r;

	if (!d)
		return pdet_fail(env, ENOMEM, "no memory");
	d->env = env;
	d->t = t;
	d->name = name;
	d->fd = fd;
	if (fstat(fd, &st) < 0) {
		r = pdet_fail_errno(env, "cannot read %s", name);
	} else {
		d->size = (uint64_t)st.st_size;
		r = read_all(d);
	}
	if (d->codec)
		pdet_codec_close(d->codec);
	for (i = 0; i < MOST_CPUS; i++)
		free(d->stats[i]);
	free(d);
	return r;
}
