/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads the kernel's log from its memory. */
#include <errno.h>

#include "backend/image/image.h"
#include "kernel/object/printk.h"

struct handing {
	pagedet_log_record_fn *fn;
	void *user;
};

static int hand_on(void *arg, const struct pdet_printk_record *record)
{
	const struct pagedet_log_record r = {
		.size = sizeof(r), .seq = record->seq,
		.time_ns = record->time_ns, .level = record->level,
		.facility = record->facility, .len = record->len,
		.text = record->text,
	};
	const struct handing *h = arg;

	return h->fn(h->user, &r);
}

int pdet_image_kernel_log(struct pdet_backend *b, struct pdet_env *env,
			  pagedet_log_record_fn *fn, void *user, uint64_t *lost)
{
	struct handing h = { fn, user };
	struct pdet_printk_visit visit = { hand_on, &h, 0 };
	struct image *im = image_of(b);
	int r;

	if (pdet_image_base(im, env) < 0)
		return pdet_image_fail(env, &im->base);
	r = pdet_printk_each(&im->space, &im->info, &visit);
	*lost = visit.lost;
	if (r >= 0)
		return r;
	if (r == -ENODATA && !visit.lost)
		return pdet_fail(env, ENODATA, "cannot find the kernel's log: "
				 "VMCOREINFO does not say where it is, or the "
				 "dump lacks it");
	if (r == -ENOENT)
		r = -EBADMSG;
	errno = -r;
	return pdet_fail_errno(env, "cannot read the kernel's log");
}
