/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A kernel's types by name, out of its BTF (Documentation/bpf/btf.rst). The
 * bytes may be anybody's: every offset and number is checked.
 */
#ifndef PDET_KERNEL_BTF_H
#define PDET_KERNEL_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/btf_write.h"

/* It begins with this. */
#define PDET_BTF_MAGIC 0xeb9f

struct pdet_btf_header {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t hdr_len;
	uint32_t type_off;
	uint32_t type_len;
	uint32_t str_off;
	uint32_t str_len;
};

struct pdet_btf;

/* pdet_btf_new - @data must stay where it is, aligned to 4. NULL without
 * memory, or if it is no BTF; then *damaged says which. */
struct pdet_btf *pdet_btf_new(const void *data, size_t size, bool *damaged);
void pdet_btf_free(struct pdet_btf *btf);

/* Types that are not there as BTF: they are written as they are asked for. */
struct pdet_btf_source {
	struct pdet_btf_writer written;
	/* Adds the struct or union, or the enum, of that name, with all types
	 * that its members are of. False: there is none, or no memory. */
	bool (*add)(struct pdet_btf_source *s, const char *name, bool is_enum);
	void (*free)(struct pdet_btf_source *s);
};

/* pdet_btf_from - the source is freed with it. NULL without memory; then it is
 * the caller's still. For one thread. */
struct pdet_btf *pdet_btf_from(struct pdet_btf_source *source);

/* How long the BTF is whose header these bytes are; 0: they are none. */
size_t pdet_btf_length(const void *data, size_t size);

/* pdet_btf_last_string - the highest offset of a name that the types in these
 * bytes use, up to @most. */
uint32_t pdet_btf_last_string(const void *types, size_t bytes, uint32_t most);

/* pdet_btf_is_whole - whether a struct is there, with all that its members
 * without name have. */
bool pdet_btf_is_whole(const struct pdet_btf *btf, const char *name);

struct pdet_btf_member {
	uint32_t type;		/* id */
	uint32_t bit_offset;	/* within the struct that was asked for */
	uint32_t bit_size;	/* of a bit-field; 0: it is none */
};

/* Bytes of a struct or union. */
bool pdet_btf_struct_size(const struct pdet_btf *btf, const char *name,
			  uint64_t *ret);

/*
 * pdet_btf_member - a member, as "page.flags" or "task_struct.thread.sp":
 * members of unnamed members are found without naming those.
 */
bool pdet_btf_member(const struct pdet_btf *btf, const char *path,
		     struct pdet_btf_member *ret);

/* Bytes of a type; of an array all of it. Elements of an array. */
bool pdet_btf_type_size(const struct pdet_btf *btf, uint32_t type,
			uint64_t *ret);
bool pdet_btf_array_length(const struct pdet_btf *btf, uint32_t type,
			   uint64_t *ret);

/* pdet_btf_enumerator - the value of a constant of enum @name; with NULL of
 * any enum, named or not; of a source only of those that were asked for. */
bool pdet_btf_enumerator(const struct pdet_btf *btf, const char *name,
			 const char *constant, uint64_t *ret);

/* The names of an enum's constants, one after the other: i counts from 0. */
bool pdet_btf_enum_at(const struct pdet_btf *btf, const char *name,
		      uint32_t i, const char **constant, uint64_t *value);

#endif
