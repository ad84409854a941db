/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds one enum in a kernel's BTF without reading all of it
 * (Documentation/bpf/btf.rst).
 */
#ifndef PDET_KERNEL_TYPES_BTF_ENUM_H
#define PDET_KERNEL_TYPES_BTF_ENUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PDET_BTF_MEMBERS 128

struct pdet_btf_enum {
	uint32_t n;
	struct {
		char name[32];	/* empty if it is longer than that */
		uint32_t value;
	} member[PDET_BTF_MEMBERS];
};

/* Reads the BTF. */
struct pdet_btf_reader {
	/*
	 * Read at most @n bytes at @offset. Returns 0 at the end, or a negative
	 * number.
	 */
	ssize_t (*read)(void *arg, void *buf, size_t n, uint64_t offset);
	void *arg;
};

/*
 * pdet_btf_enum_find - find enum @name. It must have at least @least members,
 * and the first must be @first. Returns false if the bytes are not BTF or have
 * no such enum.
 */
bool pdet_btf_enum_find(const struct pdet_btf_reader *reader, const char *name,
			const char *first, uint32_t least,
			struct pdet_btf_enum *ret);

/*
 * pdet_btf_enum_value - the value of a member. Returns false if there is none.
 */
bool pdet_btf_enum_value(const struct pdet_btf_enum *e, const char *member,
			 uint32_t *ret);

#endif
