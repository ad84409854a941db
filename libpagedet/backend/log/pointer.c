/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Judges whether addresses of a 32-bit kernel that were printed with "%p" are
 * hashes. Kernels before 4.14 do not hash, and some of 4.14 do. Since 5.13
 * kernels with slab_debug do not. A text seldom says so. But hashes are random,
 * and a report has several pointers into one slab:
 *
 *   0x81c7c480-0x81c7c483 @offset=1152. First byte 0x0 instead of 0xcc
 *   Slab 0x808f2160 objects=10 used=6 fp=0x81c7c380 flags=0x800(slab|zone=0)
 *   Object 0x81c7c500 @offset=1280 fp=0x00000000
 *   Redzone  81c7c480: cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc cc
 *
 * One hash in 4096 has the low bits of its offset, because slabs begin at a
 * page. One in 65536 is near a given other pointer. One such coincidence is not
 * enough; two of them happen in less than one of ten million reports.
 */
#include "backend/log/report.h"

/* The first version of which a kernel may hash. */
#define HASHES PDET_LOG_VERSION(4, 14)

/* Most slabs are smaller than this. */
#define NEAR 0x8000

#define IN_PAGE 0xfff

void pdet_log_see_pointer(struct pdet_log_page *p, struct pdet_log_pointer is)
{
	struct pdet_log_pointers *all = &p->pointers;
	unsigned i;

	if (is.digits != 8 || !is.value)
		return;
	for (i = 0; i < all->n; i++)
		if (all->seen[i] == is.value)
			return;
	if (all->n < PDET_LOG_POINTERS)
		all->seen[all->n++] = (uint32_t)is.value;
}

void pdet_log_place_pointer(struct pdet_log_page *p,
			    struct pdet_log_pointer is, uint64_t offset)
{
	struct pdet_log_pointers *all = &p->pointers;
	uint64_t slab;

	pdet_log_see_pointer(p, is);
	if (is.digits != 8 || !is.value)
		return;
	slab = is.value - offset;
	all->contradict |= offset >= is.value || slab & IN_PAGE ||
			   (all->has_slab && all->slab != slab);
	all->has_slab = true;
	all->slab = (uint32_t)slab;
}

void pdet_log_take_pointer(struct pdet_log_page *p, struct pdet_log_pointer is)
{
	if (pdet_log_is_real(is))
		pdet_log_kernel_address(p, is.value);
	else if (is.digits == 8)
		p->pointers.best = (uint32_t)is.value;
	else
		p->hashed |= is.value != 0;
}

/* The number of other pointers that are near the address. */
static unsigned near(const struct pdet_log_pointers *all)
{
	const uint32_t from = all->best;
	unsigned i, n = 0;

	for (i = 0; i < all->n; i++) {
		const uint32_t to = all->seen[i];

		n += to != from && (to < from ? from - to : to - from) < NEAR;
	}
	return n;
}

void pdet_log_judge_pointers(struct pdet_log_page *p)
{
	const struct pdet_log_pointers *all = &p->pointers;

	if (!all->best || p->has_kaddr)
		return;
	if (p->boot.version && p->boot.version < HASHES)
		pdet_log_kernel_address(p, all->best);
	else if (all->contradict)
		p->hashed = true;
	else if (near(all) + all->has_slab > 1)
		pdet_log_kernel_address(p, all->best);
	else
		p->may_be_hashed = true;
}
