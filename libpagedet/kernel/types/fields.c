/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds members of structs in BTF and reads their values from bytes. */
#include <errno.h>
#include <string.h>

#include "kernel/types/fields.h"

static bool find(const struct pdet_btf *btf, const char *const *names,
		 struct pdet_field *ret)
{
	struct pdet_btf_member m;
	uint64_t size;
	unsigned i;

	for (i = 0; i < PDET_FIELD_NAMES && names[i]; i++)
		if (pdet_btf_member(btf, names[i], &m))
			break;
	if (i == PDET_FIELD_NAMES || !names[i] ||
	    !pdet_btf_type_size(btf, m.type, &size) || size > UINT32_MAX)
		return false;
	ret->at = (int32_t)(m.bit_offset / 8);
	ret->size = (uint32_t)size;
	if (!m.bit_size)
		return m.bit_offset % 8 == 0;
	/* Read from the byte that has the first bit. */
	if (m.bit_size + m.bit_offset % 8 > 64)
		return false;
	ret->bit = m.bit_offset % 8;
	ret->bits = (uint8_t)m.bit_size;
	ret->size = (m.bit_size + ret->bit + 7) / 8;
	return true;
}

void pdet_struct_find(struct pdet_struct *s, const struct pdet_btf *btf,
		      const pdet_field_names *names, unsigned n)
{
	uint64_t first = UINT32_MAX, end = 0, at;
	struct pdet_field f;
	unsigned i;

	memset(s, 0, sizeof(*s));
	s->n = PDET_MIN(n, (unsigned)PDET_STRUCT_FIELDS);
	for (i = 0; i < PDET_STRUCT_FIELDS; i++)
		s->field[i].at = -1;
	for (i = 0; i < s->n; i++) {
		memset(&f, 0, sizeof(f));
		if (!find(btf, names[i], &f))
			continue;
		at = (uint64_t)f.at;
		f.read = f.size && PDET_MAX(end, at + f.size) -
				   PDET_MIN(first, at) <= PDET_STRUCT_BYTES;
		s->field[i] = f;
		if (!f.read)
			continue;
		first = PDET_MIN(first, at);
		end = PDET_MAX(end, at + f.size);
	}
	if (!end)
		return;
	s->first = (uint32_t)first;
	s->bytes = (uint32_t)(end - first);
}

int pdet_struct_read(struct pdet_space *space, const struct pdet_struct *s,
		     uint64_t addr, char buf[PDET_STRUCT_BYTES])
{
	int r;

	if (!pdet_is_address(addr))
		return -EBADMSG;
	r = pdet_space_read(space, addr + s->first, buf, s->bytes);
	return r == -ENOENT ? -EBADMSG : r;
}

uint64_t pdet_field_of(const struct pdet_field *f, const char *bytes)
{
	uint64_t v = 0;

	/* the analysing machine and the kernel are both little-endian */
	memcpy(&v, bytes, PDET_MIN(f->size, sizeof(v)));
	if (f->bits)
		v = v >> f->bit & (UINT64_MAX >> (64 - f->bits));
	return v;
}

uint64_t pdet_struct_get(const struct pdet_struct *s, const char *buf,
			 unsigned i)
{
	return !s->field[i].read ? 0 :
	       pdet_field_of(&s->field[i], pdet_struct_bytes(s, buf, i));
}

int pdet_struct_value(struct pdet_space *space, const struct pdet_struct *s,
		      uint64_t addr, unsigned i, uint64_t *ret)
{
	char bytes[8];
	int r;

	if (s->field[i].at < 0 || !pdet_is_address(addr))
		return -EBADMSG;
	r = pdet_space_read(space, pdet_struct_addr(s, addr, i), bytes,
			    PDET_MIN(s->field[i].size, sizeof(bytes)));
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	*ret = pdet_field_of(&s->field[i], bytes);
	return 0;
}
