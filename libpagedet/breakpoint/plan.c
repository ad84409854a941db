/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A piece never has bytes of what is beside the range: accesses to these would
 * count for the range otherwise.
 */
#include <errno.h>

#include "base/vec.h"
#include "breakpoint/plan.h"

/* All kernel addresses of 64-bit processors have this bit. */
#define KERNEL ((uint64_t)1 << 63)

static uint32_t piece_of(uint64_t address, uint64_t left)
{
	uint32_t bytes = PDET_BP_WORD;

	while (address % bytes || bytes > left)
		bytes /= 2;
	return bytes;
}

int pdet_bp_plan_add(struct pdet_bp_plan *p, struct pdet_env *env,
		     uint64_t address, uint64_t bytes, uint32_t object)
{
	const size_t before = p->n;
	uint64_t had = 0, at = 0;

	while (at < p->n)
		had += p->data[at++].bytes;
	if (!(address & KERNEL))
		return pdet_fail(env, EINVAL, "cannot watch %#llx: it is not "
				 "an address of the kernel",
				 (unsigned long long)address);
	if (!bytes || bytes - 1 > UINT64_MAX - address)
		return pdet_fail(env, EINVAL, "cannot watch %llu bytes at "
				 "%#llx: there are no such addresses",
				 (unsigned long long)bytes,
				 (unsigned long long)address);
	if (bytes > PDET_BP_MOST_BYTES - had)
		return pdet_fail(env, EINVAL, "cannot watch %llu bytes: at "
				 "most %u", (unsigned long long)(bytes + had),
				 PDET_BP_MOST_BYTES);
	for (at = 0; at < bytes; at += p->data[p->n - 1].bytes) {
		const struct pdet_bp_piece piece = {
			address + at, piece_of(address + at, bytes - at), object
		};

		if (!pdet_vec_push(p, piece)) {
			p->n = before;
			return pdet_fail(env, ENOMEM, "no memory");
		}
	}
	return 0;
}

bool pdet_bp_plan_share(struct pdet_bp_plan *p, size_t slots, size_t each)
{
	p->together = PDET_MIN(slots / each, p->n);
	return p->together;
}

void pdet_bp_plan_free(struct pdet_bp_plan *p)
{
	pdet_vec_free(p);
}
