/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Members of a kernel's structs, looked up once by name and then read with the
 * struct that they are in. Of several names the first that exists holds, newest
 * form first.
 */
#ifndef PDET_KERNEL_FIELDS_H
#define PDET_KERNEL_FIELDS_H

#include "kernel/btf.h"
#include "kernel/space.h"

#define PDET_FIELD_NAMES 4
#define PDET_STRUCT_FIELDS 24
/* Between the first and the last field that is read of one struct. */
#define PDET_STRUCT_BYTES 8192

struct pdet_field {
	int32_t at;		/* bytes from where the struct begins; -1: the
				 * kernel has none, or it is unknown */
	uint32_t size;		/* bytes; of an array all; of one without a
				 * length 0 */
	uint8_t bit, bits;	/* of a bit-field; bits 0: it is none */
	bool read;		/* with the struct; else only where it is is
				 * known */
};

struct pdet_struct {
	unsigned n;
	uint32_t first, bytes;	/* that are read of it; bytes 0: nothing is
				 * known of it */
	struct pdet_field field[PDET_STRUCT_FIELDS];
};

/* Some names of one field, as pdet_btf_member() takes them. */
typedef const char *pdet_field_names[PDET_FIELD_NAMES];

/* pdet_struct_find - all fields of one struct. What @n names do not find stays
 * unknown; what is too large, or too far from the first ones, is not read. */
void pdet_struct_find(struct pdet_struct *s, const struct pdet_btf *btf,
		      const pdet_field_names *names, unsigned n);

static inline bool pdet_struct_has(const struct pdet_struct *s, unsigned i)
{
	return s->field[i].at >= 0;
}

/* pdet_struct_read - of one at @addr what is asked for later. Results are those
 * of memory/memory.h; -ENOENT of an address that somebody gave is damage, and
 * called -EBADMSG. */
int pdet_struct_read(struct pdet_space *space, const struct pdet_struct *s,
		     uint64_t addr, char buf[PDET_STRUCT_BYTES]);

/* pdet_struct_get - a number out of it; 0 if it has no such field, or it is not
 * read. */
uint64_t pdet_struct_get(const struct pdet_struct *s, const char *buf,
			 unsigned i);

/* pdet_struct_bytes - where a field's bytes are; NULL if they are not. */
static inline const char *pdet_struct_bytes(const struct pdet_struct *s,
					    const char *buf, unsigned i)
{
	return !s->field[i].read ? NULL :
	       buf + ((uint32_t)s->field[i].at - s->first);
}

/* pdet_struct_addr - where a field is of a struct at @addr. */
static inline uint64_t pdet_struct_addr(const struct pdet_struct *s,
					uint64_t addr, unsigned i)
{
	return addr + (uint64_t)s->field[i].at;
}

/* pdet_struct_value - of a struct at @addr one number, which is there. */
int pdet_struct_value(struct pdet_space *space, const struct pdet_struct *s,
		      uint64_t addr, unsigned i, uint64_t *ret);

/* pdet_field_of - out of bytes that begin where the field is. */
uint64_t pdet_field_of(const struct pdet_field *f, const char *bytes);

/* Whether a kernel has such addresses: on x86-64 the upper byte is all ones,
 * on arm64, where that may be a tag, the four bits below. */
static inline bool pdet_is_address(uint64_t v)
{
	return v >> 56 == 0xff || (v >> 52 & 0xf) == 0xf;
}

#endif
