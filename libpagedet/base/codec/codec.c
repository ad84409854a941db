/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Selects the library that decompresses a format. It includes no library. */
#include <errno.h>
#include <stdlib.h>

#include "base/codec/codec.h"

/* The faster library comes first if two can decompress a format. */
static const struct {
	const char *name;
	const struct pdet_codec_ops *ops[2];
} codecs[PDET_N_CODECS] = {
	[PDET_CODEC_ZLIB] = {
		"zlib", { &pdet_codec_deflate, &pdet_codec_zlib }
	},
	[PDET_CODEC_LZO] = { "lzo", { &pdet_codec_lzo } },
	[PDET_CODEC_SNAPPY] = { "snappy", { &pdet_codec_snappy } },
	[PDET_CODEC_ZSTD] = { "zstd", { &pdet_codec_zstd } },
};

const char *pdet_codec_name(enum pdet_codec_id id)
{
	return codecs[id].name;
}

static void advise(struct pdet_env *env, const char *name,
		   const struct pdet_codec_ops *ops)
{
	if (ops->size)
		pdet_advise(env, "install its library (on Debian: %s)",
			    ops->package);
	else if (ops->help)
		pdet_advise(env, "%s", ops->help);
	else
		pdet_advise(env, "needs libpagedet configured with --with-%s",
			    name);
}

static int fail(struct pdet_env *env, const char *name,
		const struct pdet_codec_ops *ops, const char *why)
{
	int code = *why ? ENOSYS : ENOMEM;

	if (!env)
		return -code;
	pdet_fail(env, code, "cannot decompress %s: %s", name,
		  *why ? why : "no memory");
	if (*why)
		advise(env, name, ops);
	return -code;
}

static int try(const struct pdet_codec_ops *ops, const char *name,
	       struct pdet_env *env, struct pdet_codec **ret)
{
	struct pdet_codec *c;
	const char *why;
	int r;

	if (!ops->size)
		return fail(env, name, ops, "not built in");
	c = calloc(1, ops->size);
	if (!c)
		return fail(env, name, ops, "");
	c->ops = ops;
	why = ops->open(c);
	if (!why) {
		*ret = c;
		return 0;
	}
	r = fail(env, name, ops, why);
	pdet_codec_close(c);
	return r;
}

int pdet_codec_open(enum pdet_codec_id id, struct pdet_env *env,
		    struct pdet_codec **ret)
{
	int r = -ENOSYS;
	size_t i;

	for (i = 0; i < PDET_COUNT(codecs[id].ops); i++) {
		if (!codecs[id].ops[i])
			break;
		r = try(codecs[id].ops[i], codecs[id].name, env, ret);
		if (r)
			continue;
		if (env && i)
			pdet_clear(env);
		break;
	}
	return r;
}

int pdet_codec_test(const struct pdet_codec_ops *ops, const char *name,
		    struct pdet_env *env)
{
	struct pdet_codec *c;
	int r = try(ops, name, env, &c);

	if (r == 0)
		pdet_codec_close(c);
	return r;
}

void pdet_codec_close(struct pdet_codec *c)
{
	if (!c)
		return;
	c->ops->close(c);
	free(c);
}

int pdet_codec_run(struct pdet_codec *c, const void *in, size_t n, void *out,
		   size_t size)
{
	return c->ops->run(c, in, n, out, size);
}
