/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * VMCOREINFO: facts that a kernel exports for readers of its memory, one
 * "KEY=value" a line (Linux kernel/vmcore_info.c,
 * Documentation/admin-guide/kdump/vmcoreinfo.rst). Any key may be missing.
 */
#ifndef PDET_KERNEL_TEXT_VMCOREINFO_H
#define PDET_KERNEL_TEXT_VMCOREINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/text.h"

struct pdet_vmcoreinfo {
	struct pdet_vmcoreinfo_entry {
		struct pdet_scan key;
		struct pdet_scan value;
	} *data;
	size_t n, cap;
};

/* pdet_vmcoreinfo_parse - @text must stay valid. Lines of another form are
 * ignored. Returns false if memory is short. */
bool pdet_vmcoreinfo_parse(struct pdet_vmcoreinfo *ret, const char *text,
			   size_t len);
void pdet_vmcoreinfo_free(struct pdet_vmcoreinfo *info);

/* The value of a key as text: "OSRELEASE", "BUILD-ID". Returns false if the key
 * is missing. */
bool pdet_vmcoreinfo_text(const struct pdet_vmcoreinfo *info, const char *key,
			  struct pdet_scan *ret);

/*
 * SYMBOL(name): an address. OFFSET(struct.member), SIZE(struct), LENGTH(array):
 * bytes and elements. NUMBER(name): a negative one is returned as its two's
 * complement. False if the key is missing or its value is not a number.
 */
bool pdet_vmcoreinfo_symbol(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret);
bool pdet_vmcoreinfo_offset(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret);
bool pdet_vmcoreinfo_size(const struct pdet_vmcoreinfo *info, const char *name,
			  uint64_t *ret);
bool pdet_vmcoreinfo_length(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret);
bool pdet_vmcoreinfo_number(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret);

#endif
