/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads the first part of a kernel's BTF. Types are in the order in which the
 * compiler met them, and memory management's come first. Strings have the same
 * order, but a type may use any string. Strings are therefore read up to the
 * last one used.
 *
 * bench: bpf
 */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "kernel/types/btf.h"
#include "kernel/types/btf_part.h"

/* No kernel has more bytes. */
#define MOST (64u << 20)

static bool fetch(const struct pdet_btf_reader *reader, char *buf, size_t n,
		  uint64_t offset)
{
	ssize_t r;

	for (; n; n -= (size_t)r, buf += r, offset += (uint64_t)r) {
		r = reader->read(reader->arg, buf, n, offset);
		if (r <= 0 || (size_t)r > n)
			return false;
	}
	return true;
}

/* The end of the strings to read: after the string at @last. */
static uint32_t strings_end(uint32_t last, uint32_t len)
{
	/* No name in a kernel is longer. */
	const uint32_t longest = 4096;

	return len - last > longest ? last + longest : len;
}

void *pdet_btf_part(const struct pdet_btf_reader *reader, uint32_t bytes,
		    size_t *len)
{
	struct pdet_btf_header h;
	uint64_t strings;
	uint32_t last;
	char *data, *more;

	if (!fetch(reader, (char *)&h, sizeof(h), 0) ||
	    !pdet_btf_length(&h, sizeof(h)) || h.str_off > MOST ||
	    h.str_len > MOST || h.hdr_len > MOST)
		return NULL;
	strings = (uint64_t)h.hdr_len + h.str_off;
	bytes = PDET_MIN(bytes & ~(uint32_t)3, h.type_len);
	data = malloc(sizeof(h) + bytes);
	if (!data)
		return NULL;
	if (!fetch(reader, data + sizeof(h), bytes,
		   (uint64_t)h.hdr_len + h.type_off)) {
		free(data);
		return NULL;
	}
	last = pdet_btf_last_string(data + sizeof(h), bytes, h.str_len - 1);
	h.hdr_len = sizeof(h);
	h.type_off = 0;
	h.type_len = bytes;
	h.str_off = bytes;
	h.str_len = strings_end(last, h.str_len);
	more = realloc(data, sizeof(h) + bytes + h.str_len);
	if (!more || !fetch(reader, more + sizeof(h) + bytes, h.str_len,
			    strings)) {
		free(more ? more : data);
		return NULL;
	}
	memcpy(more, &h, sizeof(h));
	/* The last string may be cut. */
	more[sizeof(h) + bytes + h.str_len - 1] = '\0';
	*len = sizeof(h) + bytes + h.str_len;
	return more;
}
