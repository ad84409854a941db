/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The only file that includes zstd. */
#include "config.h"

#include "base/codec.h"

#if HAVE_ZSTD

#include <errno.h>
#include <zstd.h>

#include "base/library.h"

struct zstd {
	struct pdet_codec codec;
	struct pdet_library lib;
	__typeof__(&ZSTD_createDCtx) create;
	__typeof__(&ZSTD_decompressDCtx) run;
	__typeof__(&ZSTD_freeDCtx) free;
	ZSTD_DCtx *context;
};

static const char *zstd_open(struct pdet_codec *c)
{
	struct zstd *z = (struct zstd *)c;

	if (!pdet_library_open(&z->lib, "libzstd.so.1"))
		return z->lib.why;
	z->create = PDET_FUNCTION(&z->lib, ZSTD_createDCtx);
	z->run = PDET_FUNCTION(&z->lib, ZSTD_decompressDCtx);
	z->free = PDET_FUNCTION(&z->lib, ZSTD_freeDCtx);
	if (*z->lib.why)
		return z->lib.why;
	z->context = z->create();
	return z->context ? NULL : "";
}

static void zstd_close(struct pdet_codec *c)
{
	struct zstd *z = (struct zstd *)c;

	if (z->context)
		z->free(z->context);
	pdet_library_close(&z->lib);
}

static int zstd_run(struct pdet_codec *c, const void *in, size_t n, void *out,
		    size_t size)
{
	struct zstd *z = (struct zstd *)c;

	/* Failures are numbers far above any size. */
	return z->run(z->context, out, size, in, n) == size ? 0 : -EBADMSG;
}

const struct pdet_codec_ops pdet_codec_zstd = {
	.size = sizeof(struct zstd),
	.open = zstd_open,
	.close = zstd_close,
	.run = zstd_run,
};

#else

const struct pdet_codec_ops pdet_codec_zstd = { .size = 0 };

#endif
