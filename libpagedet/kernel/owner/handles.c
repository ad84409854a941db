/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Parses the list of page_owner's stacks with their numbers. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/vec.h"
#include "kernel/owner/handles.h"

/* Thousands of stacks have some megabytes. */
#define MOST ((size_t)256 << 20)

static bool add(struct pdet_owner_handles *h, uint64_t handle,
		struct pdet_scan stack)
{
	return pdet_vec_push(&h->list, stack) &&
	       pdet_pairs_set(&h->by, handle, h->list.n - 1);
}

/* Lines of a stack begin with a blank. What follows it must be its number. */
int pdet_owner_handles_parse(struct pdet_owner_handles *h)
{
	struct pdet_scan text = { h->text.data, h->text.data + h->text.len };
	struct pdet_scan line, stack = { NULL, NULL };
	uint64_t handle;

	while (pdet_scan_line(&text, &line)) {
		if (line.at == line.end)
			continue;
		if (*line.at == ' ') {
			if (!stack.at)
				stack.at = line.at;
			stack.end = text.at;
			continue;
		}
		if (!stack.at || !pdet_scan_word(&line, "handle: ") ||
		    !pdet_scan_dec(&line, &handle) || line.at != line.end)
			return -EBADMSG;
		if (!add(h, handle, stack))
			return -ENOMEM;
		stack.at = NULL;
	}
	return stack.at || !h->list.n ? -EBADMSG : 0;
}

int pdet_owner_handles_load(struct pdet_owner_handles *h, const char *path)
{
	int r = pdet_slurp_at(AT_FDCWD, path, &h->text, MOST);

	if (r == 0)
		r = pdet_owner_handles_parse(h);
	if (r < 0)
		pdet_owner_handles_free(h);
	return r;
}

void pdet_owner_handles_free(struct pdet_owner_handles *h)
{
	pdet_text_free(&h->text);
	pdet_pairs_free(&h->by);
	pdet_vec_free(&h->list);
}

bool pdet_owner_handles_find(const struct pdet_owner_handles *h,
			     uint64_t handle, struct pdet_scan *ret)
{
	uint64_t i;

	if (!pdet_pairs_get(&h->by, handle, &i))
		return false;
	*ret = h->list.data[i];
	return true;
}
