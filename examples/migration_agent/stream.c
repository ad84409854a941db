/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The bytes of a QEMU migration, as they pass: which page of memory is sent,
 * and as what. Written from what QEMU's docs/devel/migration.rst says and from
 * streams of 7.2; everything is big endian. The main channel has sections, of
 * which only that of "ram" is understood and needed; a multifd channel has
 * packets, each with a list of offsets and then the pages.
 *
 * Takes any bytes in pieces of any size, keeps a few KB, and stops for good,
 * with the reason, where they are no longer what it knows. A turn is what both
 * kinds of channel count alike: how often QEMU has waited for all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define MAGIC_MAIN 0x5145564du	/* "QEVM" */
#define MAGIC_MULTIFD 0x11223344u
#define NAME 256
#define MAX_PACKET_PAGES 1024u
#define PACKET_HEADER 320u	/* 7.2 to 9: offsets follow */
#define MULTIFD_HELLO 64u	/* magic, version, uuid, id, unused */

enum section {
	S_EOF = 0, S_START = 1, S_PART = 2, S_END = 3, S_FULL = 4,
	S_SUBSECTION = 5, S_VMDESC = 6, S_CONFIGURATION = 7, S_COMMAND = 8,
	S_FOOTER = 0x7e
};

enum ram_flag {
	RAM_ZERO = 0x02, RAM_MEM_SIZE = 0x04, RAM_PAGE = 0x08, RAM_EOS = 0x10,
	RAM_CONTINUE = 0x20, RAM_XBZRLE = 0x40, RAM_COMPRESS = 0x100,
	RAM_MULTIFD_FLUSH = 0x200, RAM_FLAGS = 0xfff
};

enum command { CMD_RAM_DISCARD = 6, CMD_PACKAGED = 7 };

struct stream;
typedef void step_fn(struct stream *s);

struct stream {
	const struct stream_ops *ops;
	void *user;
	bool ignore_shared, main, over;
	const char *why;
	unsigned char *buf;
	size_t len, cap;
	size_t need;		/* of these bytes the next step */
	uint64_t skip;		/* bytes that nobody looks at, before it */
	step_fn *step;
	/* main */
	uint32_t ram_id;
	bool has_ram, in_ram, at_end;
	uint64_t blocks_left;	/* bytes of blocks still to be named */
	uint64_t offset, flags;
	char name[NAME];
	uint32_t capabilities;
	uint64_t turn, flushes;
	/* multifd */
	uint64_t offsets[MAX_PACKET_PAGES];
	uint32_t n_offsets, n_full, at;
	bool sync, plain;
	uint64_t packet_bytes;
};

static step_fn magic, section, packet;

static void next(struct stream *s, size_t need, step_fn *step)
{
	s->need = need;
	s->step = step;
}

static void end(struct stream *s, const char *why)
{
	s->over = true;
	s->why = why;
}

/* A number of the buffer. */
static uint64_t get(const struct stream *s, unsigned at, unsigned bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | s->buf[at++];
	return n;
}

static void page(struct stream *s, const unsigned char *bytes, unsigned fill,
		 uint64_t turn)
{
	s->ops->page(s->user, s->name, s->offset, bytes, fill, turn);
}

/* A name that may be used as one. */
static bool take_name(struct stream *s, const unsigned char *at, size_t len)
{
	if (!len || len >= NAME || memchr(at, 0, len))
		return false;
	memcpy(s->name, at, len);
	s->name[len] = 0;
	return true;
}

/* --- main: memory --- */

static step_fn ram, ram_name, block_length, block_name, block_sizes;

static void skip_data(struct stream *s)
{
	/* How it is packed is not known here, so what was sent is not. */
	s->skip = get(s, s->flags & RAM_XBZRLE ? 1 : 0,
		      s->flags & RAM_XBZRLE ? 2 : 4);
	page(s, NULL, STREAM_PACKED, s->turn);
	next(s, 8, ram);
}

static void fill_byte(struct stream *s)
{
	page(s, NULL, s->buf[0], s->turn);
	next(s, 8, ram);
}

static void page_bytes(struct stream *s)
{
	page(s, s->buf, 0, s->turn);
	next(s, 8, ram);
}

static void ram_data(struct stream *s)
{
	if (s->flags & RAM_ZERO)
		next(s, 1, fill_byte);
	else if (s->flags & RAM_PAGE)
		next(s, PAGE_BYTES, page_bytes);
	else if (s->flags & RAM_XBZRLE)
		next(s, 3, skip_data);
	else
		next(s, 4, skip_data);
}

static void ram_name_bytes(struct stream *s)
{
	if (take_name(s, s->buf, s->need))
		ram_data(s);
	else
		end(s, "a block without a name");
}

static void ram_name(struct stream *s)
{
	next(s, s->buf[0], ram_name_bytes);
}

static void ram(struct stream *s)
{
	const uint64_t word = get(s, 0, 8);
	const uint64_t kind = RAM_ZERO | RAM_PAGE | RAM_XBZRLE | RAM_COMPRESS;

	s->flags = word & RAM_FLAGS;
	s->offset = word & ~(uint64_t)RAM_FLAGS;
	if (s->flags & RAM_EOS) {
		s->turn++;
		s->in_ram = false;
		next(s, 1, section);
	} else if (s->flags & RAM_MULTIFD_FLUSH) {
		s->flushes++;
		next(s, 8, ram);
	} else if (s->flags & RAM_MEM_SIZE) {
		s->blocks_left = s->offset;
		next(s, s->blocks_left ? 1 : 8,
		     s->blocks_left ? block_length : ram);
	} else if (!(s->flags & kind)) {
		end(s, "a kind of page that is not known here");
	} else if (s->flags & RAM_CONTINUE) {
		ram_data(s);
	} else {
		next(s, 1, ram_name);
	}
}

/* The list of blocks, that the section begins with. */
static void block_sizes(struct stream *s)
{
	const uint64_t used = get(s, 0, 8);

	if (!used || used > s->blocks_left) {
		end(s, "a list of blocks that does not add up");
		return;
	}
	s->blocks_left -= used;
	next(s, s->blocks_left ? 1 : 8, s->blocks_left ? block_length : ram);
}

static void block_name(struct stream *s)
{
	next(s, s->ignore_shared ? 16 : 8, block_sizes);
}

static void block_length(struct stream *s)
{
	if (s->buf[0])
		next(s, s->buf[0], block_name);
	else
		end(s, "a block without a name");
}

/* --- main: sections --- */

/* RAM_DISCARD: a version, the block's name and a zero, pairs of numbers. */
static void discard(struct stream *s)
{
	const size_t len = s->need;
	size_t at;

	if (len < 3 || 2u + s->buf[1] + 1u > len ||
	    !take_name(s, s->buf + 2, s->buf[1]))
		return;
	for (at = 2u + s->buf[1] + 1u; len - at >= 16; at += 16)
		s->ops->dropped(s->user, s->name, get(s, (unsigned)at, 8),
				get(s, (unsigned)at + 8, 8));
}

static void discard_data(struct stream *s)
{
	discard(s);
	next(s, 1, section);
}

/* The state of devices, as one lump. */
static void command_data(struct stream *s)
{
	s->skip = get(s, 0, 4);
	next(s, 1, section);
}

static void command(struct stream *s)
{
	const uint64_t what = get(s, 0, 2), len = get(s, 2, 2);

	if (what == CMD_PACKAGED && len == 4) {
		next(s, 4, command_data);
	} else if (what == CMD_RAM_DISCARD && len) {
		next(s, len, discard_data);
	} else {
		s->skip = len;
		next(s, 1, section);
	}
}

static void capability_length(struct stream *s);

static void capability(struct stream *s)
{
	s->capabilities--;
	next(s, 1, s->capabilities ? capability_length : section);
}

static void capability_length(struct stream *s)
{
	next(s, s->buf[0] ? s->buf[0] : 1, capability);
	if (!s->buf[0])
		end(s, "a capability without a name");
}

static void capabilities(struct stream *s)
{
	/* behind the version */
	s->capabilities = (uint32_t)get(s, 4, 4);
	if (s->capabilities > 256)
		end(s, "too many capabilities");
	next(s, 1, s->capabilities ? capability_length : section);
}

static void subsection_name(struct stream *s)
{
	if (!take_name(s, s->buf, s->need) ||
	    strcmp(s->name, "configuration/capabilities"))
		end(s, "a configuration that is not known here");
	else
		next(s, 8, capabilities);
}

static void subsection(struct stream *s)
{
	next(s, s->buf[0] ? s->buf[0] : 1, subsection_name);
}

static void configuration(struct stream *s)
{
	s->skip = get(s, 0, 4);	/* the name of the machine */
	next(s, 1, section);
}

static void start_version(struct stream *s)
{
	if (get(s, 4, 4) != 4)
		end(s, "another version of memory sections");
	s->has_ram = s->in_ram = true;
	next(s, 8, ram);
}

static void start_name(struct stream *s)
{
	if (!take_name(s, s->buf, s->need) || strcmp(s->name, "ram"))
		end(s, "a section besides that of memory");
	else
		next(s, 8, start_version);
}

static void start(struct stream *s)
{
	s->ram_id = (uint32_t)get(s, 0, 4);
	next(s, s->buf[4] ? s->buf[4] : 1, start_name);
}

static void part(struct stream *s)
{
	if (!s->has_ram || get(s, 0, 4) != s->ram_id) {
		end(s, "a section that did not start");
		return;
	}
	s->in_ram = true;
	next(s, 8, ram);
}

static void footer(struct stream *s)
{
	if (s->at_end)
		end(s, NULL);	/* devices follow: all memory was sent */
	else
		next(s, 1, section);
}

static void section(struct stream *s)
{
	switch (s->buf[0]) {
	case S_START:
		next(s, 5, start);
		break;
	case S_END:
		s->at_end = true;
		next(s, 4, part);
		break;
	case S_PART:
		next(s, 4, part);
		break;
	case S_CONFIGURATION:
		next(s, 4, configuration);
		break;
	case S_SUBSECTION:
		next(s, 1, subsection);
		break;
	case S_COMMAND:
		next(s, 4, command);
		break;
	case S_FOOTER:
		next(s, 4, footer);
		break;
	default:
		end(s, "a section that is not known here");
	}
}

/* --- multifd --- */

static void packet_page(struct stream *s)
{
	s->offset = s->offsets[s->at++];
	page(s, s->buf, 0, s->turn);
	if (s->at < s->n_full) {
		next(s, PAGE_BYTES, packet_page);
		return;
	}
	s->turn += s->sync;
	next(s, PACKET_HEADER, packet);
}

/* Pages of which only that they are zero is said (9.0 and later). */
static void zero_pages(struct stream *s, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		s->offset = s->offsets[s->n_full + i];
		page(s, NULL, 0, s->turn);
	}
}

static void packet_pages(struct stream *s)
{
	const uint32_t n_zero = s->n_offsets - s->n_full;
	uint32_t i;

	for (i = 0; i < s->n_offsets; i++)
		s->offsets[i] = get(s, 8 * i, 8);
	zero_pages(s, n_zero);
	s->at = 0;
	if (s->plain && s->n_full &&
	    s->packet_bytes == (uint64_t)s->n_full * PAGE_BYTES) {
		next(s, PAGE_BYTES, packet_page);
		return;
	}
	for (; s->at < s->n_full; s->at++) {
		s->offset = s->offsets[s->at];
		page(s, NULL, STREAM_PACKED, s->turn);
	}
	s->skip = s->packet_bytes;
	s->turn += s->sync;
	next(s, PACKET_HEADER, packet);
}

/* magic, version, flags, room, pages, bytes that follow; number; zero pages */
static void packet(struct stream *s)
{
	const uint64_t flags = get(s, 8, 4), room = get(s, 12, 4);
	const uint64_t full = get(s, 16, 4), zero = get(s, 32, 4);
	const unsigned char *name = s->buf + 64;
	const unsigned char *stop = memchr(name, 0, NAME);

	if (get(s, 0, 4) != MAGIC_MULTIFD || get(s, 4, 4) != 1 ||
	    room > MAX_PACKET_PAGES || full > room || zero > room - full ||
	    !stop) {
		end(s, "a packet that is not known here");
		return;
	}
	if ((full || zero) && !take_name(s, name, (size_t)(stop - name))) {
		end(s, "a packet without a block");
		return;
	}
	s->n_full = (uint32_t)full;
	s->n_offsets = (uint32_t)(full + zero);
	s->sync = flags & 1;
	s->plain = !(flags & 0xe);
	/* Without pages nothing follows, whatever it says. */
	s->packet_bytes = full ? get(s, 20, 4) : 0;
	if (room)
		next(s, 8 * room, packet_pages);
	else
		packet_pages(s);
}

/* --- both --- */

static void hello(struct stream *s)
{
	next(s, PACKET_HEADER, packet);
}

static void magic(struct stream *s)
{
	const uint64_t is = get(s, 0, 4), version = get(s, 4, 4);

	s->main = is == MAGIC_MAIN;
	if (is == MAGIC_MAIN && version == 3)
		next(s, 1, section);
	else if (is == MAGIC_MULTIFD && version == 1)
		next(s, MULTIFD_HELLO - 8, hello);
	else
		end(s, "neither a migration nor one of its channels");
}

struct stream *stream_new(const struct stream_ops *ops, void *user,
			  bool ignore_shared)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->cap = 65536;
	s->buf = malloc(s->cap);
	if (!s->buf) {
		free(s);
		return NULL;
	}
	s->ops = ops;
	s->user = user;
	s->ignore_shared = ignore_shared;
	next(s, 8, magic);
	return s;
}

/* What a step needs is in one piece before it runs; none needs more than an
 * u16 can say. */
void stream_take(struct stream *s, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	while (!s->over && len) {
		size_t n = len;

		if (s->skip) {
			if (n > s->skip)
				n = (size_t)s->skip;
			s->skip -= n;
		} else {
			if (n > s->need - s->len)
				n = s->need - s->len;
			memcpy(s->buf + s->len, at, n);
			s->len += n;
		}
		at += n;
		len -= n;
		if (!s->skip && s->len == s->need) {
			s->len = 0;
			s->step(s);
		}
	}
}

const char *stream_why(const struct stream *s)
{
	if (s->over)
		return s->why;
	return s->main && !s->at_end ? "it ended before all was sent" : NULL;
}

bool stream_is_main(const struct stream *s)
{
	return s->main;
}

uint64_t stream_turns(const struct stream *s)
{
	return s->main && s->flushes ? s->flushes : s->turn;
}

void stream_free(struct stream *s)
{
	if (s)
		free(s->buf);
	free(s);
}
