/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writing BTF (Documentation/bpf/btf.rst): the form in which types of any other
 * origin are looked up, so that nobody need care where they are from.
 */
#ifndef PDET_KERNEL_BTF_WRITE_H
#define PDET_KERNEL_BTF_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdet_btf_kind {
	PDET_BTF_INT = 1, PDET_BTF_PTR, PDET_BTF_ARRAY, PDET_BTF_STRUCT,
	PDET_BTF_UNION, PDET_BTF_ENUM, PDET_BTF_ENUM64 = 19
};

/* Of struct and union: members may be bit-fields; of enum: values have a
 * sign. */
#define PDET_BTF_FLAG 0x80000000u

/* Zero is empty. */
struct pdet_btf_writer {
	struct {
		uint32_t *data;
		size_t n, cap;
	} words;
	struct {
		char *data;
		size_t n, cap;
	} strings;
	uint32_t n;		/* types */
	bool failed;		/* there was no memory: it is good for nothing
				 * any more */
};

void pdet_btf_writer_free(struct pdet_btf_writer *w);

/* pdet_btf_put_string - the offset of a name; 0 of "" and NULL. */
uint32_t pdet_btf_put_string(struct pdet_btf_writer *w, const char *text);

/* pdet_btf_put - a type with @n words behind its first three: its id. @info is
 * a kind, and PDET_BTF_FLAG; @vlen how many members. */
uint32_t pdet_btf_put(struct pdet_btf_writer *w, const char *name,
		      uint32_t info, uint32_t vlen, uint32_t size,
		      const uint32_t *words, size_t n);

#endif
