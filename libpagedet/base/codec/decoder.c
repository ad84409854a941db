/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Knows the magic bytes of compressed files and selects the decoder. It
 * includes no library.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/codec/decoder.h"

static const struct kind {
	const char *name;	/* also the name of the command */
	const char *magic;
	size_t n;
	const struct pdet_decoder_ops *ops;
} kinds[] = {
	{ "gzip", "\x1f\x8b", 2, &pdet_decoder_gzip },
	{ "zstd", "\x28\xb5\x2f\xfd", 4, &pdet_decoder_zstd },
	{ "xz", "\xfd" "7zXZ", PDET_DECODER_MAGIC, &pdet_decoder_xz },
};

static const struct kind *find(const char *head, size_t n)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (n >= kinds[i].n &&
		    !memcmp(head, kinds[i].magic, kinds[i].n))
			return &kinds[i];
	return NULL;
}

const char *pdet_decoder_name(const char *head, size_t n)
{
	const struct kind *kind = find(head, n);

	return kind ? kind->name : NULL;
}

static int fail(struct pdet_env *env, const struct kind *kind, const char *why)
{
	const char *name = kind->name;

	if (!*why)
		return pdet_fail(env, ENOMEM, "cannot decompress %s: no memory",
				 name);
	pdet_fail(env, ENOSYS, "cannot decompress %s: %s", name, why);
	if (kind->ops->size)
		pdet_advise(env, "install its library (on Debian: %s), or "
			    "decompress it with %s -dc FILE",
			    kind->ops->package, name);
	else
		pdet_advise(env, "needs libpagedet configured with --with-%s; "
			    "or decompress it with %s -dc FILE", name, name);
	return -ENOSYS;
}

int pdet_decoder_open(struct pdet_env *env, const char *head, size_t n,
		      struct pdet_decoder **ret)
{
	const struct kind *kind = find(head, n);
	struct pdet_decoder *d;
	const char *why;
	int r;

	if (!kind->ops->size)
		return fail(env, kind, "not built in");
	d = calloc(1, kind->ops->size);
	if (!d)
		return fail(env, kind, "");
	d->ops = kind->ops;
	d->name = kind->name;
	why = d->ops->open(d);
	if (!why) {
		*ret = d;
		return 0;
	}
	r = fail(env, kind, why);
	pdet_decoder_close(d);
	return r;
}

void pdet_decoder_close(struct pdet_decoder *d)
{
	if (!d)
		return;
	d->ops->close(d);
	free(d);
}

int pdet_decoder_run(struct pdet_decoder *d, struct pdet_decoding *io)
{
	return d->ops->run(d, io);
}
