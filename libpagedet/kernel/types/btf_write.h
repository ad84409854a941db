/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes BTF (Documentation/bpf/btf.rst). Types from another format are
 * converted to BTF, so that all lookups use one format.
 */
#ifndef PDET_KERNEL_TYPES_BTF_WRITE_H
#define PDET_KERNEL_TYPES_BTF_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pdet_btf_kind {
	PDET_BTF_INT = 1, PDET_BTF_PTR, PDET_BTF_ARRAY, PDET_BTF_STRUCT,
	PDET_BTF_UNION, PDET_BTF_ENUM, PDET_BTF_ENUM64 = 19
};

/* For struct and union: members may be bit-fields. For enum: values are
 * signed. */
#define PDET_BTF_FLAG 0x80000000u

/* A zeroed writer is empty. */
struct pdet_btf_writer {
	struct {
		uint32_t *data;
		size_t n, cap;
	} words;
	struct {
		char *data;
		size_t n, cap;
	} strings;
	uint32_t n;		/* number of types */
	bool failed;		/* memory was short; the writer is unusable */
};

void pdet_btf_writer_free(struct pdet_btf_writer *w);

/* pdet_btf_put_string - the offset of a name, or 0 for "" and NULL. */
uint32_t pdet_btf_put_string(struct pdet_btf_writer *w, const char *text);

/* pdet_btf_put - add a type that has @n words after its first three. Returns
 * its id. @info is the kind, and optionally PDET_BTF_FLAG. @vlen is the number
 * of members. */
uint32_t pdet_btf_put(struct pdet_btf_writer *w, const char *name,
		      uint32_t info, uint32_t vlen, uint32_t size,
		      const uint32_t *words, size_t n);

#endif
