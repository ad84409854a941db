/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* They are in an array, of which a number says how many are in use. */
#include <errno.h>
#include <string.h>

#include "kernel/hugetlb.h"

/* No huge page is larger than memory. */
#define MOST_ORDER 40

enum { H_ORDER, H_PAGES, H_FREE, H_SURPLUS, H_RESERVED, H_NAME, H_FIELDS };
static const pdet_field_names names[H_FIELDS] = {
	[H_ORDER] = { "hstate.order" },
	[H_PAGES] = { "hstate.nr_huge_pages" },
	[H_FREE] = { "hstate.free_huge_pages" },
	[H_SURPLUS] = { "hstate.surplus_huge_pages" },
	[H_RESERVED] = { "hstate.resv_huge_pages" },
	[H_NAME] = { "hstate.name" },
};

static int read_one(struct pdet_space *space, const struct pdet_struct *s,
		    uint64_t addr, struct pdet_hstate *ret)
{
	uint64_t order;
	int r = pdet_struct_value(space, s, addr, H_ORDER, &order);

	if (!r)
		r = pdet_struct_value(space, s, addr, H_PAGES, &ret->pages);
	if (!r)
		r = pdet_struct_value(space, s, addr, H_FREE, &ret->free);
	if (!r)
		r = pdet_struct_value(space, s, addr, H_SURPLUS, &ret->surplus);
	if (!r)
		r = pdet_struct_value(space, s, addr, H_RESERVED,
				      &ret->reserved);
	if (!r && (order > MOST_ORDER || !order || ret->free > ret->pages))
		r = -EBADMSG;
	if (r < 0)
		return r;
	ret->order = (uint32_t)order;
	/* not needed to know one from another */
	if (pdet_struct_has(s, H_NAME) &&
	    pdet_space_text(space, pdet_struct_addr(s, addr, H_NAME),
			    ret->name, sizeof(ret->name)) < 0)
		*ret->name = '\0';
	return 0;
}

int pdet_hstates_read(struct pdet_hstates *ret, struct pdet_space *space,
		      const struct pdet_btf *btf, uint64_t hstates,
		      uint64_t max_hstate)
{
	struct pdet_struct s;
	uint64_t size;
	uint32_t n, i;
	int r;

	memset(ret, 0, sizeof(*ret));
	pdet_struct_find(&s, btf, names, H_FIELDS);
	for (i = H_ORDER; i < H_NAME; i++)
		if (!pdet_struct_has(&s, i))
			return -ENODATA;
	if (!hstates || !max_hstate ||
	    !pdet_btf_struct_size(btf, "hstate", &size))
		return -ENODATA;
	r = pdet_space_u32(space, max_hstate, &n);
	if (!r && n > PDET_HSTATES)
		r = -EBADMSG;
	for (i = 0; !r && i < n; i++)
		r = read_one(space, &s, hstates + i * size, &ret->hstate[i]);
	if (!r)
		ret->n = n;
	return r;
}

const struct pdet_hstate *pdet_hstate_find(const struct pdet_hstates *h,
					   uint32_t order)
{
	uint32_t i;

	for (i = 0; i < h->n; i++)
		if (h->hstate[i].order == order)
			return &h->hstate[i];
	return NULL;
}
