/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds a kernel's types by name in its BTF (Documentation/bpf/btf.rst). The
 * bytes are not trusted: every offset and number is checked.
 */
#ifndef PDET_KERNEL_TYPES_BTF_H
#define PDET_KERNEL_TYPES_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/types/btf_write.h"

/* The magic number at the start. */
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

/* pdet_btf_new - @data must stay valid, and be aligned to 4. Returns NULL if
 * memory is short or if it is not BTF; *@damaged tells which. */
struct pdet_btf *pdet_btf_new(const void *data, size_t size, bool *damaged);
void pdet_btf_free(struct pdet_btf *btf);

/*
 * A provider of types that are not stored as BTF. It writes each type as BTF
 * when it is looked up.
 */
struct pdet_btf_source {
	struct pdet_btf_writer written;
	/* Adds the struct, union or enum of that name, and all types of its
	 * members. Returns false if it does not exist, or if memory is
	 * short. */
	bool (*add)(struct pdet_btf_source *s, const char *name, bool is_enum);
	void (*free)(struct pdet_btf_source *s);
};

/* pdet_btf_from - the result owns the source, unless memory is short: then the
 * function returns NULL, and the caller still owns it. For one thread. */
struct pdet_btf *pdet_btf_from(struct pdet_btf_source *source);

/* The length of the BTF that begins with this header, or 0 if it is not BTF. */
size_t pdet_btf_length(const void *data, size_t size);

/* pdet_btf_last_string - the highest string offset, up to @most, that the types
 * in these bytes use. */
uint32_t pdet_btf_last_string(const void *types, size_t bytes, uint32_t most);

/* pdet_btf_is_whole - true if a struct and the types of all its anonymous
 * members are present. */
bool pdet_btf_is_whole(const struct pdet_btf *btf, const char *name);

struct pdet_btf_member {
	uint32_t type;		/* id */
	uint32_t bit_offset;	/* in the struct that was named */
	uint32_t bit_size;	/* of a bit-field; otherwise 0 */
};

/* The size of a struct or union in bytes. */
bool pdet_btf_struct_size(const struct pdet_btf *btf, const char *name,
			  uint64_t *ret);

/*
 * pdet_btf_member - find a member, such as "page.flags" or
 * "task_struct.thread.sp". The path leaves out anonymous members.
 */
bool pdet_btf_member(const struct pdet_btf *btf, const char *path,
		     struct pdet_btf_member *ret);

/*
 * The size of a type in bytes; for an array, its total size. The second
 * function gives the number of elements of an array.
 */
bool pdet_btf_type_size(const struct pdet_btf *btf, uint32_t type,
			uint64_t *ret);
bool pdet_btf_array_length(const struct pdet_btf *btf, uint32_t type,
			   uint64_t *ret);

/* pdet_btf_enumerator - the value of a constant in enum @name. If @name is
 * NULL, every enum is searched, including anonymous ones. If the BTF has a
 * source, only enums that were already looked up are searched. */
bool pdet_btf_enumerator(const struct pdet_btf *btf, const char *name,
			 const char *constant, uint64_t *ret);

/* The constants of an enum by index; i counts from 0. */
bool pdet_btf_enum_at(const struct pdet_btf *btf, const char *name,
		      uint32_t i, const char **constant, uint64_t *value);

/* pdet_btf_function - the id of a function, or 0. It looks at all types. */
uint32_t pdet_btf_function(const struct pdet_btf *btf, const char *name);

/* pdet_btf_parameter - the name of parameter @i of a function; "" if it has
 * none, NULL if there are not so many. */
const char *pdet_btf_parameter(const struct pdet_btf *btf, uint32_t function,
			       uint32_t i);

#endif
