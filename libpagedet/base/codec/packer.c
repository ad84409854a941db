/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Selects the library that compresses. It includes no library. */
#include <errno.h>
#include <stdlib.h>

#include "base/codec/packer.h"

/* The first available one is used. */
static const struct pdet_packer_ops *const packers[] = {
	&pdet_packer_zstd, &pdet_packer_zlib,
};

static int fail(struct pdet_env *env, const char *why)
{
	if (!*why)
		return pdet_fail(env, ENOMEM, "cannot compress: no memory");
	return pdet_fail(env, ENOSYS, "cannot compress: %s", why);
}

static int try(const struct pdet_packer_ops *ops, struct pdet_env *env,
	       struct pdet_packer **ret)
{
	struct pdet_packer *p;
	const char *why;
	int r;

	if (!ops->size)
		return fail(env, "not built in");
	p = calloc(1, ops->size);
	if (!p)
		return fail(env, "");
	p->ops = ops;
	why = ops->open(p);
	if (!why) {
		*ret = p;
		return 0;
	}
	r = fail(env, why);
	pdet_packer_close(p);
	return r;
}

int pdet_packer_open(struct pdet_env *env, struct pdet_packer **ret)
{
	int r = -ENOSYS;
	size_t i;

	for (i = 0; i < PDET_COUNT(packers) && r == -ENOSYS; i++)
		r = try(packers[i], env, ret);
	if (r == 0)
		pdet_clear(env);
	return r;
}

void pdet_packer_close(struct pdet_packer *p)
{
	if (!p)
		return;
	p->ops->close(p);
	free(p);
}

enum pdet_codec_id pdet_packer_id(const struct pdet_packer *p)
{
	return p->ops->id;
}

size_t pdet_packer_run(struct pdet_packer *p, const void *in, size_t n,
		       void *out, size_t size)
{
	return p->ops->run(p, in, n, out, size);
}
