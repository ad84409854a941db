/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Damages bits, bytes, numbers and long ranges, in headers and memory, and
 * truncates files at borders and anywhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "damage.h"
#include "touched.h"

#define CHUNK ((size_t)1 << 20)

static void die(const char *what)
{
	perror(what);
	exit(1);
}

const char *damage_name(enum damage_kind kind)
{
	static const char *const names[DAMAGE_KINDS] = {
		[DAMAGE_HEAD] = "headers",
		[DAMAGE_BODY] = "memory",
		[DAMAGE_USED] = "memory that is used",
		[DAMAGE_CUT] = "cut",
	};

	return names[kind];
}

/* Restores everything from @at on. */
static void copy_from(struct damage *d, uint64_t at)
{
	char *buf = malloc(CHUNK);
	ssize_t n;

	if (!buf)
		die("memory");
	if (ftruncate(d->copy, (off_t)at) < 0)
		die("the copy");
	for (; (n = pread(d->whole, buf, CHUNK, (off_t)at)) > 0;
	     at += (uint64_t)n)
		if (pwrite(d->copy, buf, (size_t)n, (off_t)at) != n)
			die("the copy");
	if (n < 0)
		die("the dump");
	free(buf);
}

void damage_open(struct damage *d, const char *dump, const char *copy)
{
	d->whole = open(dump, O_RDONLY | O_CLOEXEC);
	if (d->whole < 0)
		die(dump);
	d->copy = open(copy, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (d->copy < 0)
		die(copy);
	copy_from(d, 0);
	dump_map_read(&d->map, d->whole);
}

void damage_close(struct damage *d)
{
	dump_map_free(&d->map);
	close(d->whole);
	close(d->copy);
}

/* --- a way --- */

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
	return n ? next(state) % n : 0;
}

/* Chooses a byte of the headers, or of a chunk's header. */
static void choose_head(struct damage *d, uint64_t *state)
{
	const struct dump_map *m = &d->map;
	const struct dump_part *p;

	if (m->n_chunks && next(state) % 4 == 0) {
		d->what = "head of a chunk";
		d->place = m->chunk[below(state, m->n_chunks)].at +
			below(state, DUMP_CHUNK_HEAD);
		return;
	}
	p = &m->part[below(state, m->n_parts)];
	d->what = p->what;
	d->place = dump_map_place(m, p->at + below(state, p->len));
}

static void choose_frame(struct damage *d, uint64_t frame, uint64_t *state)
{
	const struct dump_frame *f = &d->map.frame[frame];

	d->place = dump_map_place(&d->map, f->at + below(state, f->len));
}

static void choose_body(struct damage *d, uint64_t *state)
{
	d->what = "anywhere";
	do
		d->place = below(state, d->map.size);
	while (!dump_map_frame(&d->map, d->place));
}

static void choose_cut(struct damage *d, uint64_t *state)
{
	const struct dump_map *m = &d->map;
	const struct dump_frame *f;

	switch (next(state) % 5) {
	case 0:
		d->what = "anywhere";
		d->place = below(state, m->size);
		return;
	case 1:			/* the kernel's own memory is often there */
		d->what = "near the end";
		d->place = m->size - 1 - below(state, m->size / 256);
		return;
	case 2:
		d->what = "where something begins or ends";
		d->place = m->border[below(state, m->n_borders)];
		break;
	default:
		choose_body(d, state);
		d->what = "where a frame begins or ends";
		f = dump_map_frame(m, d->place);
		d->place = next(state) % 2 ? dump_map_place(m, f->at) :
			dump_map_place(m, f->at + f->len - 1) + 1;
	}
	d->place += below(state, 3);
	if (d->place)
		d->place--;
	if (d->place > m->size)
		d->place = m->size;
}

/* Chooses a number of @n bytes that readers may compute with. */
static uint64_t choose_number(uint64_t was, uint64_t *state)
{
	switch (next(state) % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return was + 1;
	case 3:
		return was - 1;
	case 4:
		return (uint64_t)1 << below(state, 64);
	case 5:
		return was << 1 | 1;
	case 6:
		return UINT64_MAX >> below(state, 64);
	default:
		return next(state);
	}
}

static void choose_bytes(struct damage *d, uint64_t *state)
{
	static const unsigned char widths[] = { 1, 2, 4, 8 };
	uint64_t number = 0, i;

	switch (next(state) % 4) {
	case 0:			/* a bit */
		d->n = 1;
		break;
	case 1:			/* a range of bytes */
		d->n = 1 + below(state, DAMAGE_BYTES);
		break;
	default:		/* a number */
		d->n = widths[next(state) % 4];
		d->place -= d->place % d->n;
	}
	if (d->n > d->map.size - d->place)
		d->n = d->map.size - d->place;
	if (pread(d->whole, d->before, d->n, (off_t)d->place) != (ssize_t)d->n)
		die("the dump");
	memcpy(d->bytes, d->before, d->n);
	memcpy(&number, d->before, d->n < 8 ? d->n : 8);
	number = choose_number(number, state);
	if (d->n == 1)
		d->bytes[0] ^= (unsigned char)(1u << below(state, 8));
	else if (d->n <= 8)
		memcpy(d->bytes, &number, d->n);
	else
		for (i = 0; i < d->n; i++)
			d->bytes[i] = (unsigned char)next(state);
}

/*
 * Limits the damage to the chosen object: bytes behind it belong to another
 * one.
 */
static void clip(struct damage *d)
{
	uint64_t n = d->n, at, i;

	for (i = 0; i < d->map.n_chunks; i++) {
		uint64_t head = d->map.chunk[i].at;

		if (d->place >= head && d->place < head + DUMP_CHUNK_HEAD &&
		    n > head + DUMP_CHUNK_HEAD - d->place)
			n = head + DUMP_CHUNK_HEAD - d->place;
	}
	dump_map_dump(&d->map, d->place, &n, &at);
	d->n = n;
}

void damage_choose(struct damage *d, const struct touched *t, uint64_t seed,
		   unsigned i)
{
	uint64_t state = seed * 0x9e3779b97f4a7c15 | 1;

	next(&state);
	next(&state);
	d->kind = (enum damage_kind)(i % DAMAGE_KINDS);
	switch (d->kind) {
	case DAMAGE_CUT:
		d->n = 0;
		choose_cut(d, &state);
		return;
	case DAMAGE_HEAD:
		choose_head(d, &state);
		break;
	case DAMAGE_USED:
		d->what = "a frame that is used";
		choose_frame(d, touched_used(t, next(&state)), &state);
		break;
	default:
		choose_body(d, &state);
	}
	choose_bytes(d, &state);
	clip(d);
}

void damage_do(struct damage *d)
{
	if (d->kind == DAMAGE_CUT) {
		if (ftruncate(d->copy, (off_t)d->place) < 0)
			die("the copy");
		return;
	}
	if (pwrite(d->copy, d->bytes, d->n, (off_t)d->place) !=
	    (ssize_t)d->n)
		die("the copy");
}

void damage_undo(struct damage *d)
{
	if (d->kind == DAMAGE_CUT)
		copy_from(d, d->place);
	else if (pwrite(d->copy, d->before, d->n, (off_t)d->place) !=
		 (ssize_t)d->n)
		die("the copy");
}

void damage_say(const struct damage *d, char *buf, size_t size)
{
	size_t at, i;

	if (d->kind == DAMAGE_CUT) {
		snprintf(buf, size, "cut at %llu of %llu, %s",
			 (unsigned long long)d->place,
			 (unsigned long long)d->map.size, d->what);
		return;
	}
	at = (size_t)snprintf(buf, size, "%s, %s, %llu bytes at %llu:",
			      damage_name(d->kind), d->what,
			      (unsigned long long)d->n,
			      (unsigned long long)d->place);
	for (i = 0; i < d->n && i < 8 && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, " %02x>%02x",
				       d->before[i], d->bytes[i]);
}
