/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decompresses and compresses with zstd. Only this file includes zstd. */
#include "config.h"

#include "base/codec/decoder.h"
#include "base/codec/packer.h"

#ifdef HAVE_ZSTD

#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

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

	/* Error codes are numbers far above any size. */
	return z->run(z->context, out, size, in, n) == size ? 0 : -EBADMSG;
}

const struct pdet_codec_ops pdet_codec_zstd = {
	.package = "libzstd1",
	.size = sizeof(struct zstd),
	.open = zstd_open,
	.close = zstd_close,
	.run = zstd_run,
};

struct zstd_decoder {
	struct pdet_decoder decoder;
	struct pdet_library lib;
	__typeof__(&ZSTD_createDCtx) create;
	__typeof__(&ZSTD_decompressStream) run;
	__typeof__(&ZSTD_getErrorCode) code;
	__typeof__(&ZSTD_isError) is_error;
	__typeof__(&ZSTD_freeDCtx) free;
	ZSTD_DCtx *context;
};

static const char *decoder_open(struct pdet_decoder *d)
{
	struct zstd_decoder *z = (struct zstd_decoder *)d;

	if (!pdet_library_open(&z->lib, "libzstd.so.1"))
		return z->lib.why;
	z->create = PDET_FUNCTION(&z->lib, ZSTD_createDCtx);
	z->run = PDET_FUNCTION(&z->lib, ZSTD_decompressStream);
	z->code = PDET_FUNCTION(&z->lib, ZSTD_getErrorCode);
	z->is_error = PDET_FUNCTION(&z->lib, ZSTD_isError);
	z->free = PDET_FUNCTION(&z->lib, ZSTD_freeDCtx);
	if (*z->lib.why)
		return z->lib.why;
	z->context = z->create();
	return z->context ? NULL : "";
}

static void decoder_close(struct pdet_decoder *d)
{
	struct zstd_decoder *z = (struct zstd_decoder *)d;

	if (z->context)
		z->free(z->context);
	pdet_library_close(&z->lib);
}

/* zstd itself refuses windows over 128 MB. */
static int decoder_run(struct pdet_decoder *d, struct pdet_decoding *io)
{
	struct zstd_decoder *z = (struct zstd_decoder *)d;
	ZSTD_inBuffer in = { io->in, io->in_n, 0 };
	ZSTD_outBuffer out = { io->out, io->out_n, 0 };
	size_t r = z->run(z->context, &out, &in);

	io->in += in.pos;
	io->in_n -= in.pos;
	io->out += out.pos;
	io->out_n -= out.pos;
	if (!z->is_error(r))
		return r == 0;
	switch (z->code(r)) {
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	case ZSTD_error_frameParameter_windowTooLarge:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

const struct pdet_decoder_ops pdet_decoder_zstd = {
	.package = "libzstd1",
	.size = sizeof(struct zstd_decoder),
	.open = decoder_open,
	.close = decoder_close,
	.run = decoder_run,
};

struct zstd_packer {
	struct pdet_packer packer;
	struct pdet_library lib;
	__typeof__(&ZSTD_createCCtx) create;
	__typeof__(&ZSTD_compressCCtx) run;
	__typeof__(&ZSTD_isError) is_error;
	__typeof__(&ZSTD_freeCCtx) free;
	ZSTD_CCtx *context;
};

static const char *packer_open(struct pdet_packer *p)
{
	struct zstd_packer *z = (struct zstd_packer *)p;

	if (!pdet_library_open(&z->lib, "libzstd.so.1"))
		return z->lib.why;
	z->create = PDET_FUNCTION(&z->lib, ZSTD_createCCtx);
	z->run = PDET_FUNCTION(&z->lib, ZSTD_compressCCtx);
	z->is_error = PDET_FUNCTION(&z->lib, ZSTD_isError);
	z->free = PDET_FUNCTION(&z->lib, ZSTD_freeCCtx);
	if (*z->lib.why)
		return z->lib.why;
	z->context = z->create();
	return z->context ? NULL : "";
}

static void packer_close(struct pdet_packer *p)
{
	struct zstd_packer *z = (struct zstd_packer *)p;

	if (z->context)
		z->free(z->context);
	pdet_library_close(&z->lib);
}

static size_t packer_run(struct pdet_packer *p, const void *in, size_t n,
			 void *out, size_t size)
{
	struct zstd_packer *z = (struct zstd_packer *)p;
	size_t r = z->run(z->context, out, size, in, n, 1);

	return z->is_error(r) ? 0 : r;
}

const struct pdet_packer_ops pdet_packer_zstd = {
	.size = sizeof(struct zstd_packer),
	.id = PDET_CODEC_ZSTD,
	.open = packer_open,
	.close = packer_close,
	.run = packer_run,
};

#else

const struct pdet_packer_ops pdet_packer_zstd = { .size = 0 };

const struct pdet_decoder_ops pdet_decoder_zstd = { .size = 0 };

const struct pdet_codec_ops pdet_codec_zstd = { .size = 0 };

#endif
