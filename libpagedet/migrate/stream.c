/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses the bytes of a QEMU migration: which page is sent, and with which
 * contents. It is written from QEMU's docs/devel/migration.rst and from streams
 * of 7.2. All numbers are big endian. The main channel has sections, of which
 * only that of "ram" is parsed. A multifd channel has packets, each with a list
 * of offsets followed by pages.
 *
 * The parser accepts any bytes in pieces of any size, and buffers 64 KB. It
 * stops for good, with a reason, at bytes that it does not know. A turn counts
 * how often QEMU has synchronised all channels; both kinds of channel count it
 * alike. A step reports at most one thing. A step with more to report consumes
 * no bytes, and runs again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "migrate/stream.h"

#define MAGIC_MAIN 0x5145564du	/* "QEVM" */
#define MAGIC_MULTIFD 0x11223344u
#define NAME 256
#define MOST_PACKET_PAGES 8192u
#define PACKET_HEADER 320u	/* 7.2 to 10: offsets follow */
/*
 * QEMU sends packets of 512 KiB (MULTIFD_PACKET_SIZE in its
 * migration/multifd.h), with room for that many offsets. Since 9.2, a packet
 * that only synchronises claims to have room for none, but has it.
 */
#define PACKET_BYTES (512u << 10)
#define BUFFER 65536u		/* more than any step needs: a length in an u16,
				 * or a page */
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

struct pdet_stream;
typedef void step_fn(struct pdet_stream *s);

struct pdet_stream {
	struct pagedet_stream_options o;
	struct pagedet_streamed_page *said; /* receives a step's report */
	bool has_said;
	bool main, over;
	const char *why;
	size_t len;		/* bytes in buf */
	size_t need;		/* of them, those that the next step needs */
	uint64_t skip;		/* bytes to ignore before it */
	step_fn *step;
	/* The main channel. */
	uint32_t ram_id;
	bool has_ram, in_ram, at_end;
	uint64_t blocks_left;	/* bytes of blocks that have no name yet */
	uint64_t offset, flags;
	char name[NAME];
	uint32_t capabilities;
	uint64_t turn, flushes;
	size_t drop_at, drop_end; /* offsets in buf */
	/* A multifd channel. */
	uint64_t offsets[MOST_PACKET_PAGES];
	uint32_t n_offsets, n_full, at;
	bool sync, plain;
	uint64_t packet_bytes;
	uint64_t rest;		/* bytes of unused offsets */
	unsigned char buf[BUFFER];
};

static step_fn magic, section, packet;

static void next(struct pdet_stream *s, size_t need, step_fn *step)
{
	s->need = need;
	s->step = step;
}

static void end(struct pdet_stream *s, const char *why)
{
	s->over = true;
	s->why = why;
}

/* Reads a number from the buffer. */
static uint64_t get(const struct pdet_stream *s, unsigned at, unsigned bytes)
{
	uint64_t n = 0;

	while (bytes--)
		n = n << 8 | s->buf[at++];
	return n;
}

static void say(struct pdet_stream *s, uint32_t kind, const void *bytes,
		uint32_t fill)
{
	*s->said = (struct pagedet_streamed_page){
		.size = s->said->size, .block = s->name, .offset = s->offset,
		.len = s->o.page_size, .bytes = bytes, .turn = s->turn,
		.kind = kind, .fill = fill,
	};
	s->has_said = true;
}

/* Copies a valid name. */
static bool take_name(struct pdet_stream *s, const unsigned char *at,
		      size_t len)
{
	if (!len || len >= NAME || memchr(at, 0, len))
		return false;
	memcpy(s->name, at, len);
	s->name[len] = 0;
	return true;
}

/* --- main channel: memory --- */

static step_fn ram, ram_name, block_length, block_name, block_sizes;

static void skip_data(struct pdet_stream *s)
{
	/*
	 * This file does not know the packed form, so the contents are not
	 * known.
	 */
	s->skip = get(s, s->flags & RAM_XBZRLE ? 1 : 0,
		      s->flags & RAM_XBZRLE ? 2 : 4);
	say(s, PAGEDET_STREAMED_PACKED, NULL, 0);
	next(s, 8, ram);
}

static void fill_byte(struct pdet_stream *s)
{
	say(s, PAGEDET_STREAMED_FILL, NULL, s->buf[0]);
	next(s, 8, ram);
}

static void page_bytes(struct pdet_stream *s)
{
	say(s, PAGEDET_STREAMED_BYTES, s->buf, 0);
	next(s, 8, ram);
}

static void ram_data(struct pdet_stream *s)
{
	if (s->flags & RAM_ZERO)
		next(s, 1, fill_byte);
	else if (s->flags & RAM_PAGE)
		next(s, s->o.page_size, page_bytes);
	else if (s->flags & RAM_XBZRLE)
		next(s, 3, skip_data);
	else
		next(s, 4, skip_data);
}

static void ram_name_bytes(struct pdet_stream *s)
{
	if (take_name(s, s->buf, s->need))
		ram_data(s);
	else
		end(s, "a block without a name");
}

static void ram_name(struct pdet_stream *s)
{
	next(s, s->buf[0], ram_name_bytes);
}

static void ram(struct pdet_stream *s)
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
		end(s, "an unknown kind of page");
	} else if (s->flags & RAM_CONTINUE) {
		ram_data(s);
	} else {
		next(s, 1, ram_name);
	}
}

/* The list of blocks at the start of the section. */
static void block_sizes(struct pdet_stream *s)
{
	const uint64_t used = get(s, 0, 8);

	if (!used || used > s->blocks_left) {
		end(s, "a list of blocks with a wrong sum");
		return;
	}
	s->blocks_left -= used;
	next(s, s->blocks_left ? 1 : 8, s->blocks_left ? block_length : ram);
}

static void block_name(struct pdet_stream *s)
{
	next(s, s->o.options & PAGEDET_STREAM_IGNORE_SHARED ? 16 : 8,
	     block_sizes);
}

static void block_length(struct pdet_stream *s)
{
	if (s->buf[0])
		next(s, s->buf[0], block_name);
	else
		end(s, "a block without a name");
}

/* --- main channel: sections --- */

/* Reports one discard from the buffer. */
static void one_drop(struct pdet_stream *s)
{
	if (s->drop_end - s->drop_at < 16) {
		next(s, 1, section);
		return;
	}
	s->offset = get(s, (unsigned)s->drop_at, 8);
	say(s, PAGEDET_STREAMED_DROP, NULL, 0);
	s->said->len = get(s, (unsigned)s->drop_at + 8, 8);
	s->drop_at += 16;
	next(s, 0, one_drop);
}

/* RAM_DISCARD: a version, the block's name and a NUL, pairs of numbers. */
static void discard_data(struct pdet_stream *s)
{
	const size_t len = s->need;

	if (len < 3 || 2u + s->buf[1] + 1u > len ||
	    !take_name(s, s->buf + 2, s->buf[1])) {
		next(s, 1, section);
		return;
	}
	s->drop_at = 2u + s->buf[1] + 1u;
	s->drop_end = len;
	next(s, 0, one_drop);
}

/* The state of devices, as a whole. */
static void command_data(struct pdet_stream *s)
{
	s->skip = get(s, 0, 4);
	next(s, 1, section);
}

static void command(struct pdet_stream *s)
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

static void capability_length(struct pdet_stream *s);

static void capability(struct pdet_stream *s)
{
	s->capabilities--;
	next(s, 1, s->capabilities ? capability_length : section);
}

static void capability_length(struct pdet_stream *s)
{
	next(s, s->buf[0] ? s->buf[0] : 1, capability);
	if (!s->buf[0])
		end(s, "a capability without a name");
}

static void capabilities(struct pdet_stream *s)
{
	/* Behind the version. */
	s->capabilities = (uint32_t)get(s, 4, 4);
	if (s->capabilities > 256)
		end(s, "too many capabilities");
	next(s, 1, s->capabilities ? capability_length : section);
}

static void subsection_name(struct pdet_stream *s)
{
	if (!take_name(s, s->buf, s->need) ||
	    strcmp(s->name, "configuration/capabilities"))
		end(s, "an unknown configuration");
	else
		next(s, 8, capabilities);
}

static void subsection(struct pdet_stream *s)
{
	next(s, s->buf[0] ? s->buf[0] : 1, subsection_name);
}

static void configuration(struct pdet_stream *s)
{
	s->skip = get(s, 0, 4);	/* the machine's name */
	next(s, 1, section);
}

static void start_version(struct pdet_stream *s)
{
	if (get(s, 4, 4) != 4)
		end(s, "another version of memory sections");
	s->has_ram = s->in_ram = true;
	next(s, 8, ram);
}

static void start_name(struct pdet_stream *s)
{
	if (!take_name(s, s->buf, s->need) || strcmp(s->name, "ram"))
		end(s, "a section other than that of memory");
	else
		next(s, 8, start_version);
}

static void start(struct pdet_stream *s)
{
	s->ram_id = (uint32_t)get(s, 0, 4);
	next(s, s->buf[4] ? s->buf[4] : 1, start_name);
}

static void part(struct pdet_stream *s)
{
	if (!s->has_ram || get(s, 0, 4) != s->ram_id) {
		end(s, "a section without a start");
		return;
	}
	s->in_ram = true;
	next(s, 8, ram);
}

static void footer(struct pdet_stream *s)
{
	if (s->at_end)
		end(s, NULL);	/* devices follow, so all memory was sent */
	else
		next(s, 1, section);
}

static void section(struct pdet_stream *s)
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
		end(s, "an unknown section");
	}
}

/* --- multifd channels --- */

static void packet_end(struct pdet_stream *s)
{
	s->turn += s->sync;
	next(s, PACKET_HEADER, packet);
}

static void packet_page(struct pdet_stream *s)
{
	s->offset = s->offsets[s->at++];
	say(s, PAGEDET_STREAMED_BYTES, s->buf, 0);
	if (s->at < s->n_full)
		next(s, s->o.page_size, packet_page);
	else
		next(s, 0, packet_end);
}

/* The packed form is not known, so the bytes of all pages are ignored. */
static void packed_page(struct pdet_stream *s)
{
	if (s->at == s->n_full) {
		s->skip = s->packet_bytes;
		next(s, 0, packet_end);
		return;
	}
	s->offset = s->offsets[s->at++];
	say(s, PAGEDET_STREAMED_PACKED, NULL, 0);
	next(s, 0, packed_page);
}

/* Pages that are only reported as zero (9.0 and later). */
static void zero_page(struct pdet_stream *s)
{
	if (s->at < s->n_offsets) {
		s->offset = s->offsets[s->at++];
		say(s, PAGEDET_STREAMED_FILL, NULL, 0);
		next(s, 0, zero_page);
		return;
	}
	s->at = 0;
	if (s->plain && s->n_full &&
	    s->packet_bytes == s->n_full * s->o.page_size)
		next(s, s->o.page_size, packet_page);
	else
		next(s, 0, packed_page);
}

static void packet_offset(struct pdet_stream *s)
{
	s->offsets[s->at++] = get(s, 0, 8);
	if (s->at < s->n_offsets) {
		next(s, 8, packet_offset);
		return;
	}
	s->at = s->n_full;
	s->skip = s->rest;
	next(s, 0, zero_page);
}

/*
 * The fields are magic, version, flags, room, pages, bytes that follow, number,
 * and zero pages.
 */
static void packet(struct pdet_stream *s)
{
	const uint64_t flags = get(s, 8, 4), said = get(s, 12, 4);
	const uint64_t room = said ? said :
				     s->o.packet_bytes / s->o.page_size;
	const uint64_t full = get(s, 16, 4), zero = get(s, 32, 4);
	const unsigned char *name = s->buf + 64;
	const unsigned char *stop = memchr(name, 0, NAME);

	if (get(s, 0, 4) != MAGIC_MULTIFD || get(s, 4, 4) != 1 ||
	    room > MOST_PACKET_PAGES || full > room || zero > room - full ||
	    !stop) {
		end(s, "an unknown packet");
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
	/* If there are no pages, nothing follows, whatever the number says. */
	s->packet_bytes = full ? get(s, 20, 4) : 0;
	s->rest = 8 * (room - s->n_offsets);
	s->at = 0;
	if (s->n_offsets) {
		next(s, 8, packet_offset);
		return;
	}
	s->skip = s->rest;
	next(s, 0, packet_end);
}

/* --- both kinds --- */

static void hello(struct pdet_stream *s)
{
	next(s, PACKET_HEADER, packet);
}

static void magic(struct pdet_stream *s)
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

struct pdet_stream *pdet_stream_new(const struct pagedet_stream_options *o)
{
	struct pdet_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = *o;
	if (!s->o.packet_bytes)
		s->o.packet_bytes = PACKET_BYTES;
	next(s, 8, magic);
	return s;
}

/* Skips ignored bytes and fills the buffer, as far as the piece goes. */
static void fetch(struct pdet_stream *s, const unsigned char *bytes,
		  uint64_t len, uint64_t *at)
{
	uint64_t n = len - *at;

	if (s->skip) {
		n = PDET_MIN(n, s->skip);
		s->skip -= n;
	} else {
		n = PDET_MIN(n, s->need - s->len);
		memcpy(s->buf + s->len, bytes + *at, n);
		s->len += n;
	}
	*at += n;
}

/* A step runs once its bytes are contiguous in the buffer. */
bool pdet_stream_take(struct pdet_stream *s, const unsigned char *bytes,
		      uint64_t len, uint64_t *at,
		      struct pagedet_streamed_page *ret)
{
	s->said = ret;
	s->has_said = false;
	while (!s->over && !s->has_said) {
		if (!s->skip && s->len == s->need) {
			s->len = 0;
			s->step(s);
		} else if (*at < len) {
			fetch(s, bytes, len, at);
		} else {
			return false;
		}
	}
	if (!s->has_said)
		*at = len;
	return s->has_said;
}

static const char *why(const struct pdet_stream *s)
{
	if (s->over)
		return s->why;
	return s->main && !s->at_end ?
	       "it ended before everything was sent" : NULL;
}

void pdet_stream_info(const struct pdet_stream *s,
		      struct pagedet_stream_info *ret)
{
	*ret = (struct pagedet_stream_info){
		.size = ret->size, .why = why(s),
		.turns = s->main && s->flushes ? s->flushes : s->turn,
		.is_main = s->main, .over = s->over,
	};
}

void pdet_stream_free(struct pdet_stream *s)
{
	free(s);
}
