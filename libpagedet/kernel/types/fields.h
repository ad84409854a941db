/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Describes members of a kernel's structs. They are looked up once by name, and
 * then read together with their struct. A field lists several names, newest
 * first, and the first one that exists is used.
 */
#ifndef PDET_KERNEL_TYPES_FIELDS_H
#define PDET_KERNEL_TYPES_FIELDS_H

#include "kernel/address/space.h"
#include "kernel/types/btf.h"

#define PDET_FIELD_NAMES 4
#define PDET_STRUCT_FIELDS 24
/*
 * The largest number of bytes that are read of one struct, from the first to
 * the last field.
 */
#define PDET_STRUCT_BYTES 8192

struct pdet_field {
	int32_t at;		/* byte offset in the struct; -1: the kernel
				 * lacks it, or it is unknown */
	uint32_t size;		/* size in bytes; for an array its total, or 0
				 * if it has no length */
	uint8_t bit, bits;	/* of a bit-field; otherwise bits is 0 */
	bool read;		/* it is read with the struct; otherwise only
				 * its offset is known */
};

struct pdet_struct {
	unsigned n;
	uint32_t first, bytes;	/* the part that is read; if bytes is 0, the
				 * struct is unknown */
	struct pdet_field field[PDET_STRUCT_FIELDS];
};

/* The names of one field, for pdet_btf_member(). */
typedef const char *pdet_field_names[PDET_FIELD_NAMES];

/* pdet_struct_find - find all fields of one struct. If the types have none of
 * the names of a field, it stays unknown. A field that is too large, or too far
 * from the first, is not read. */
void pdet_struct_find(struct pdet_struct *s, const struct pdet_btf *btf,
		      const pdet_field_names *names, unsigned n);

static inline bool pdet_struct_has(const struct pdet_struct *s, unsigned i)
{
	return s->field[i].at >= 0;
}

/* pdet_struct_read - read the struct at @addr for later pdet_struct_get().
 * Results are those of memory/memory.h, except that -ENOENT becomes -EBADMSG:
 * the address came from a pointer, so the pointer is damaged. */
int pdet_struct_read(struct pdet_space *space, const struct pdet_struct *s,
		     uint64_t addr, char buf[PDET_STRUCT_BYTES]);

/* pdet_struct_get - a field's value; 0 if the struct lacks it or it is not
 * read. */
uint64_t pdet_struct_get(const struct pdet_struct *s, const char *buf,
			 unsigned i);

/* pdet_struct_bytes - a field's bytes; NULL if they were not read. */
static inline const char *pdet_struct_bytes(const struct pdet_struct *s,
					    const char *buf, unsigned i)
{
	return !s->field[i].read ? NULL :
	       buf + ((uint32_t)s->field[i].at - s->first);
}

/* pdet_struct_addr - the address of a field of the struct at @addr. */
static inline uint64_t pdet_struct_addr(const struct pdet_struct *s,
					uint64_t addr, unsigned i)
{
	return addr + (uint64_t)s->field[i].at;
}

/*
 * pdet_struct_value - read one field, which must exist, of the struct at @addr.
 */
int pdet_struct_value(struct pdet_space *space, const struct pdet_struct *s,
		      uint64_t addr, unsigned i, uint64_t *ret);

/* pdet_field_of - the value from bytes that begin at the field. */
uint64_t pdet_field_of(const struct pdet_field *f, const char *bytes);

/* True if it may be a kernel address. On x86-64 the upper byte is all ones; on
 * arm64 it may be a tag, and the next four bits are all ones. */
static inline bool pdet_is_address(uint64_t v)
{
	return v >> 56 == 0xff || (v >> 52 & 0xf) == 0xf;
}

#endif
