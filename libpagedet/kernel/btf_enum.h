/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * One enum out of a kernel's BTF, found without parsing the rest
 * (Documentation/bpf/btf.rst).
 */
#ifndef PDET_KERNEL_BTF_ENUM_H
#define PDET_KERNEL_BTF_ENUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pdet_btf_enum {
	const char *strings;	/* of the BTF, which must stay where it is */
	size_t strings_len;
	const uint32_t *members; /* pairs: offset of the name, value */
	uint32_t n;
};

/*
 * pdet_btf_enum_find - find enum @name whose first member is @first. Both are
 * needed: the member's name is what can be searched for fast. False if the
 * bytes are no BTF or have no such enum.
 */
bool pdet_btf_enum_find(const void *btf, size_t size, const char *name,
			const char *first, struct pdet_btf_enum *ret);

/* pdet_btf_enum_value - the value of a member; false if there is none. */
bool pdet_btf_enum_value(const struct pdet_btf_enum *e, const char *member,
			 uint32_t *ret);

#endif
