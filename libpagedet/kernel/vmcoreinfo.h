/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * VMCOREINFO: what a kernel says of itself for those who read its memory, one
 * "KEY=value" a line (Linux kernel/vmcore_info.c, Documentation/admin-guide/
 * kdump/vmcoreinfo.rst). Keys are asked for, never assumed.
 */
#ifndef PDET_KERNEL_VMCOREINFO_H
#define PDET_KERNEL_VMCOREINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct pdet_vmcoreinfo {
	struct pdet_vmcoreinfo_entry {
		struct pdet_scan key;
		struct pdet_scan value;
	} *data;
	size_t n, cap;
};

/* pdet_vmcoreinfo_parse - @text must stay where it is. Lines that are no such
 * line are left out. False without memory. */
bool pdet_vmcoreinfo_parse(struct pdet_vmcoreinfo *ret, const char *text,
			   size_t len);
void pdet_vmcoreinfo_free(struct pdet_vmcoreinfo *info);

/* The value of a key as it is there: "OSRELEASE", "BUILD-ID". False: no such
 * key. */
bool pdet_vmcoreinfo_text(const struct pdet_vmcoreinfo *info, const char *key,
			  struct pdet_scan *ret);

/* pdet_vmcoreinfo_hex - of a key whose value is hexadecimal without a prefix:
 * "KERNELOFFSET". */
bool pdet_vmcoreinfo_hex(const struct pdet_vmcoreinfo *info, const char *key,
			 uint64_t *ret);

/*
 * SYMBOL(name): an address. OFFSET(struct.member), SIZE(struct),
 * LENGTH(array): bytes and elements. NUMBER(name): may be negative, which is
 * given as its two's complement. False: no such key, or no number.
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
