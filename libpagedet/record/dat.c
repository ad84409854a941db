/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A file is a head, sections, and options that say where these are. Sections
 * are built in memory; the pages are compressed piece by piece.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/codec/packer.h"
#include "base/vec.h"
#include "config.h"
#include "record/dat.h"
#include "trace/trace.h"

/* Bytes of pages that are compressed together. */
#define CHUNK (256u << 10)
#define COMPRESSED 1
/* Where the offset of the options is written when it is known. */
#define UNKNOWN 0

/* Sections and options. */
enum { OPTIONS = 0, STATS = 2, BUFFER = 3, CLOCK = 4, UNAME = 5, CPUS = 8,
       WRITER = 9, TRACE_ID = 11, HEADERS = 16, FTRACE = 17, FORMATS = 18,
       NAMES = 19, PRINTK = 20, THREADS = 21 };

struct bytes {
	unsigned char *data;
	size_t n, cap;
};

struct out {
	struct pdet_env *env;
	const struct pdet_dat_parts *parts;
	struct pdet_packer *packer;
	int fd;
	uint64_t at;
	struct bytes section, options; /* being built */
	bool short_of_memory;
	unsigned char *plain, *packed; /* a chunk */
	size_t packed_size;
};

/* --- bytes --- */

static void put(struct out *o, struct bytes *b, const void *data, size_t n)
{
	if (!pdet_vec_reserve(b, n)) {
		o->short_of_memory = true;
		return;
	}
	if (n)
		memcpy(b->data + b->n, data, n);
	b->n += n;
}

static void put16(struct out *o, struct bytes *b, uint16_t v)
{
	put(o, b, &v, sizeof(v));
}

static void put32(struct out *o, struct bytes *b, uint32_t v)
{
	put(o, b, &v, sizeof(v));
}

static void put64(struct out *o, struct bytes *b, uint64_t v)
{
	put(o, b, &v, sizeof(v));
}

/* With its NUL. */
static void put_word(struct out *o, struct bytes *b, const char *word)
{
	put(o, b, word, strlen(word) + 1);
}

static void put_file(struct out *o, struct bytes *b, const struct pdet_text *t)
{
	put64(o, b, t->len);
	put(o, b, t->data, t->len);
}

/* --- the file --- */

static int write_at(struct out *o, const void *data, size_t n, uint64_t at)
{
	const char *from = data;
	ssize_t done;

	while (n) {
		done = pwrite(o->fd, from, n, (off_t)at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return pdet_fail_errno(o->env, "cannot write a trace");
		from += done;
		at += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int append(struct out *o, const void *data, size_t n)
{
	const int r = write_at(o, data, n, o->at);

	o->at += n;
	return r;
}

static int begin(struct out *o)
{
	static const unsigned char magic[] = "\x17\x08\x44tracing7";
	const bool zstd = pdet_packer_id(o->packer) == PDET_CODEC_ZSTD;
	struct bytes *b = &o->section;
	const char one[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
			     sizeof(long) };
	int r;

	put(o, b, magic, sizeof(magic));
	put(o, b, one, sizeof(one));
	put32(o, b, o->parts->page);
	put_word(o, b, zstd ? "zstd" : "zlib");
	put_word(o, b, "1");
	put64(o, b, UNKNOWN);
	if (o->short_of_memory)
		return pdet_fail(o->env, ENOMEM, "no memory");
	r = append(o, b->data, b->n);
	b->n = 0;
	return r;
}

/* The head of a section whose size is @size. */
static int head(struct out *o, uint16_t id, uint16_t flags, uint64_t size,
		uint64_t at)
{
	unsigned char bytes[16] = { 0 };

	memcpy(bytes, &id, 2);
	memcpy(bytes + 2, &flags, 2);
	memcpy(bytes + 8, &size, 8);
	return write_at(o, bytes, sizeof(bytes), at);
}
#define HEAD 16

/* Writes what o->section has, and an option that says where. */
static int section(struct out *o, uint16_t id)
{
	const size_t size = o->section.n, room = size + size / 8 + 1024;
	unsigned char *packed = malloc(room);
	const uint64_t begin = o->at;
	uint32_t sizes[2];
	size_t n;
	int r;

	if (!packed || o->short_of_memory || size > UINT32_MAX / 2) {
		free(packed);
		return pdet_fail(o->env, ENOMEM, "no memory");
	}
	n = pdet_packer_run(o->packer, o->section.data, size, packed, room);
	sizes[0] = (uint32_t)n;
	sizes[1] = (uint32_t)size;
	r = n ? head(o, id, COMPRESSED, n + sizeof(sizes), begin) :
		pdet_fail(o->env, EIO, "cannot compress a trace");
	o->at += HEAD;
	if (r == 0)
		r = append(o, sizes, sizeof(sizes));
	if (r == 0)
		r = append(o, packed, n);
	free(packed);
	o->section.n = 0;
	put16(o, &o->options, id);
	put32(o, &o->options, 8);
	put64(o, &o->options, begin);
	return r;
}

/* --- the pages --- */

static int chunk(struct out *o, const struct pdet_dat_cpu *c, uint64_t at,
		 uint32_t n)
{
	const ssize_t got = pdet_pread(c->fd, o->plain, n, at);
	uint32_t sizes[2] = { 0, n };
	int r;

	if (o->env->stop && o->env->stop(o->env->stop_arg))
		return pdet_fail(o->env, ECANCELED, "the caller canceled");
	if (got != (ssize_t)n) {
		errno = got < 0 ? (int)-got : EIO;
		return pdet_fail_errno(o->env, "cannot read what was recorded");
	}
	sizes[0] = (uint32_t)pdet_packer_run(o->packer, o->plain, n, o->packed,
					     o->packed_size);
	if (!sizes[0])
		return pdet_fail(o->env, EIO, "cannot compress a trace");
	r = append(o, sizes, sizeof(sizes));
	return r < 0 ? r : append(o, o->packed, sizes[0]);
}

/*
 * A processor: the number of chunks, and these; o->section gets where. The size
 * that it gets is without the number.
 */
static int pages(struct out *o, const struct pdet_dat_cpu *c)
{
	const uint32_t page = o->parts->page;
	const uint32_t most = PDET_MAX(CHUNK / page, 1u) * page;
	const uint32_t chunks = (uint32_t)((c->bytes + most - 1) / most);
	uint64_t at, begin;
	int r;

	/* trace-cmd aligns it, too. */
	o->at = (o->at + page - 1) / page * page;
	begin = o->at;
	r = append(o, &chunks, sizeof(chunks));
	for (at = 0; at < c->bytes && r == 0; at += most)
		r = chunk(o, c, at, (uint32_t)PDET_MIN(most, c->bytes - at));
	put32(o, &o->section, c->cpu);
	put64(o, &o->section, begin);
	put64(o, &o->section, o->at - begin - sizeof(chunks));
	return r;
}

static int open_chunks(struct out *o)
{
	const size_t size = PDET_MAX(CHUNK, o->parts->page);

	o->packed_size = size + size / 8 + 1024;
	o->plain = malloc(size);
	o->packed = malloc(o->packed_size);
	return o->plain && o->packed ? 0 :
	       pdet_fail(o->env, ENOMEM, "no memory");
}

static int buffer(struct out *o)
{
	const struct pdet_dat_parts *p = o->parts;
	const uint64_t begin = o->at;
	uint32_t i, n = 0;
	int r = open_chunks(o);

	for (i = 0; i < p->n_cpus; i++)
		n += p->cpus[i].bytes > 0;
	put64(o, &o->section, begin);
	put_word(o, &o->section, "");
	put_word(o, &o->section, p->clock);
	put32(o, &o->section, p->page);
	put32(o, &o->section, n);
	o->at += HEAD;
	for (i = 0; i < p->n_cpus && r == 0; i++)
		if (p->cpus[i].bytes)
			r = pages(o, &p->cpus[i]);
	if (r == 0)
		r = head(o, BUFFER, COMPRESSED, o->at - begin - HEAD, begin);
	put16(o, &o->options, BUFFER);
	put32(o, &o->options, (uint32_t)o->section.n);
	put(o, &o->options, o->section.data, o->section.n);
	o->section.n = 0;
	return r;
}

/* --- what it says of them --- */

static int headers(struct out *o)
{
	put_word(o, &o->section, "header_page");
	put_file(o, &o->section, &o->parts->header_page);
	put_word(o, &o->section, "header_event");
	put_file(o, &o->section, &o->parts->header_event);
	return section(o, HEADERS);
}

static void put_files(struct out *o, const struct pdet_text *files, uint32_t n)
{
	uint32_t i;

	put32(o, &o->section, n);
	for (i = 0; i < n; i++)
		put_file(o, &o->section, &files[i]);
}

static int formats(struct out *o)
{
	int r;

	put_files(o, o->parts->ftrace, o->parts->n_ftrace);
	r = section(o, FTRACE);
	put32(o, &o->section, 1);
	put_word(o, &o->section, "kmem");
	put_files(o, o->parts->kmem, o->parts->n_kmem);
	return r < 0 ? r : section(o, FORMATS);
}

static int names(struct out *o)
{
	int r;

	put32(o, &o->section, (uint32_t)o->parts->kallsyms.len);
	put(o, &o->section, o->parts->kallsyms.data, o->parts->kallsyms.len);
	r = section(o, NAMES);
	put32(o, &o->section, (uint32_t)o->parts->printk.len);
	put(o, &o->section, o->parts->printk.data, o->parts->printk.len);
	if (r == 0)
		r = section(o, PRINTK);
	put_file(o, &o->section, &o->parts->threads);
	return r < 0 ? r : section(o, THREADS);
}

static void option(struct out *o, uint16_t id, const void *data, size_t n)
{
	put16(o, &o->options, id);
	put32(o, &o->options, (uint32_t)n);
	put(o, &o->options, data, n);
}

static void option_word(struct out *o, uint16_t id, const char *word)
{
	option(o, id, word, strlen(word) + 1);
}

static void put_options(struct out *o)
{
	const struct pdet_dat_parts *p = o->parts;
	const uint64_t trace_id = pdet_clock_ns(CLOCK_REALTIME);
	struct utsname u;
	char text[640];
	uint32_t i;

	for (i = 0; i < p->n_cpus; i++) {
		snprintf(text, sizeof(text), "CPU: %u\n%s", p->cpus[i].cpu,
			 p->cpus[i].stats);
		option_word(o, STATS, text);
	}
	snprintf(text, sizeof(text), "[%s]\n", p->clock);
	option_word(o, CLOCK, text);
	if (!uname(&u)) {
		snprintf(text, sizeof(text), "%s %s %s %s %s", u.sysname,
			 u.nodename, u.release, u.version, u.machine);
		option_word(o, UNAME, text);
	}
	option(o, CPUS, &p->n_cpus, sizeof(p->n_cpus));
	snprintf(text, sizeof(text), PACKAGE_STRING "%s%s", *p->boot ?
		 PDET_TRACE_BOOT : "", p->boot);
	option_word(o, WRITER, text);
	option(o, TRACE_ID, &trace_id, sizeof(trace_id));
	put16(o, &o->options, OPTIONS);
	put32(o, &o->options, 8);
	put64(o, &o->options, 0);
}

/* The options themselves, and the place where the file says where they are. */
static int end(struct out *o, uint64_t place)
{
	const uint64_t at = o->at;
	int r;

	put_options(o);
	if (o->short_of_memory)
		return pdet_fail(o->env, ENOMEM, "no memory");
	r = head(o, OPTIONS, 0, o->options.n, at);
	o->at += HEAD;
	if (r == 0)
		r = append(o, o->options.data, o->options.n);
	return r < 0 ? r : write_at(o, &at, sizeof(at), place);
}

static int write_all(struct out *o)
{
	uint64_t place;
	int r = begin(o);

	place = o->at - sizeof(place);
	if (r == 0)
		r = headers(o);
	if (r == 0)
		r = formats(o);
	if (r == 0)
		r = names(o);
	if (r == 0)
		r = buffer(o);
	return r < 0 ? r : end(o, place);
}

int pdet_dat_write(struct pdet_env *env, int fd,
		   const struct pdet_dat_parts *parts)
{
	struct out o = { .env = env, .fd = fd, .parts = parts };
	int r = pdet_packer_open(env, &o.packer);

	if (r < 0)
		return r;
	r = write_all(&o);
	pdet_packer_close(o.packer);
	pdet_vec_free(&o.section);
	pdet_vec_free(&o.options);
	free(o.plain);
	free(o.packed);
	return r;
}
