/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Interprets words of /proc/kpageflags (Linux fs/proc/page.c,
 * stable_page_flags), with what is known of the kernel.
 */
#ifndef PDET_KERNEL_PAGE_KPF_H
#define PDET_KERNEL_PAGE_KPF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/env.h"
#include "pagedet.h"

#define KPF(name) PAGEDET_PF(PAGEDET_PF_##name)

/* Set beside KPF_IDLE once the idle bitmap has confirmed it. No kernel sets
 * it. */
#define PDET_KPF_IDLE_SEEN ((uint64_t)1 << 63)

/* The meaning of bit 34: OWNER_2 since 6.12, MAPPEDTODISK before. */
enum pdet_kpf_34 {
	PDET_KPF_34_UNKNOWN,
	PDET_KPF_34_OWNER_2,
	PDET_KPF_34_MAPPEDTODISK
};

struct pdet_kpf {
	uint64_t known;		/* PAGEDET_PF bits that this kernel reports */
	enum pdet_kpf_34 bit34;
	bool ksm_lies;		/* KSM is, or may be, set on anonymous pages
				 * that are not merged */
	bool tails_own;		/* a tail shows its own word, not the folio's */
};

/*
 * pdet_kpf_known - set known and bit34 from enum pageflags of the kernel. @has
 * tells whether the enum has a name, such as "PG_hwpoison". Without types @has
 * is NULL; flags that depend on the configuration are then unknown.
 */
void pdet_kpf_known(struct pdet_kpf *kpf,
		    bool (*has)(const void *types, const char *name),
		    const void *types);

/* pdet_kpf_from_btf - the same from the running kernel's types, in
 * /sys/kernel/btf/vmlinux below the root. */
void pdet_kpf_from_btf(struct pdet_kpf *kpf, const struct pdet_env *env);

/*
 * pdet_kpf_flags - PAGEDET_PF bits of a word and, in *known, which of them are
 * reliable. For a tail, @head is the word of its head page if the caller has
 * read it, else 0.
 */
uint64_t pdet_kpf_flags(const struct pdet_kpf *kpf, uint64_t word,
			uint64_t head, uint64_t *known);

/* pdet_kpf_kind - the kind of the page according to its flags alone. */
unsigned pdet_kpf_kind(uint64_t flags);

/* pdet_kpf_is_odd - whether no page can have them all at one moment: they were
 * read while it became another one, or something is broken. */
bool pdet_kpf_is_odd(uint64_t flags);

#endif
