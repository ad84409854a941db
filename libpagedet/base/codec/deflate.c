/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decompresses the zlib format with libdeflate, twice as fast as zlib. Only
 * this file includes libdeflate.
 *
 * bench: dump
 */
#include "config.h"

#include "base/codec/codec.h"

#ifdef HAVE_LIBDEFLATE

#include <errno.h>
#include <libdeflate.h>

#include "base/library.h"

struct deflate {
	struct pdet_codec codec;
	struct pdet_library lib;
	__typeof__(&libdeflate_alloc_decompressor) alloc;
	__typeof__(&libdeflate_zlib_decompress) run;
	__typeof__(&libdeflate_free_decompressor) free;
	struct libdeflate_decompressor *context;
};

static const char *deflate_open(struct pdet_codec *c)
{
	struct deflate *d = (struct deflate *)c;

	if (!pdet_library_open(&d->lib, "libdeflate.so.0"))
		return d->lib.why;
	d->alloc = PDET_FUNCTION(&d->lib, libdeflate_alloc_decompressor);
	d->run = PDET_FUNCTION(&d->lib, libdeflate_zlib_decompress);
	d->free = PDET_FUNCTION(&d->lib, libdeflate_free_decompressor);
	if (*d->lib.why)
		return d->lib.why;
	d->context = d->alloc();
	return d->context ? NULL : "";
}

static void deflate_close(struct pdet_codec *c)
{
	struct deflate *d = (struct deflate *)c;

	if (d->context)
		d->free(d->context);
	pdet_library_close(&d->lib);
}

static int deflate_run(struct pdet_codec *c, const void *in, size_t n,
		       void *out, size_t size)
{
	struct deflate *d = (struct deflate *)c;

	/*
	 * NULL in place of the actual size: libdeflate then fails if the output
	 * is shorter.
	 */
	return d->run(d->context, in, n, out, size, NULL) == LIBDEFLATE_SUCCESS
		? 0 : -EBADMSG;
}

const struct pdet_codec_ops pdet_codec_deflate = {
	.package = "libdeflate0",
	.size = sizeof(struct deflate),
	.open = deflate_open,
	.close = deflate_close,
	.run = deflate_run,
};

#else

const struct pdet_codec_ops pdet_codec_deflate = { .size = 0 };

#endif
