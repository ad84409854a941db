/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decompresses and compresses with zlib. Only this file includes zlib. */
#include <errno.h>
#include <zlib.h>

#include "base/codec/decoder.h"
#include "base/codec/packer.h"
#include "base/library.h"

struct zlib {
	struct pdet_codec codec;
	struct pdet_library lib;
	__typeof__(&inflateInit_) init;
	__typeof__(&inflateReset) reset;
	__typeof__(&inflate) inflate;
	__typeof__(&inflateEnd) end;
	z_stream stream;
	bool started;
};

static const char *zlib_open(struct pdet_codec *c)
{
	struct zlib *z = (struct zlib *)c;
	int r;

	if (!pdet_library_open(&z->lib, "libz.so.1"))
		return z->lib.why;
	z->init = PDET_FUNCTION(&z->lib, inflateInit_);
	z->reset = PDET_FUNCTION(&z->lib, inflateReset);
	z->inflate = PDET_FUNCTION(&z->lib, inflate);
	z->end = PDET_FUNCTION(&z->lib, inflateEnd);
	if (*z->lib.why)
		return z->lib.why;
	r = z->init(&z->stream, ZLIB_VERSION, (int)sizeof(z->stream));
	if (r == Z_MEM_ERROR)
		return "";
	if (r != Z_OK)
		return "libz has another version";
	z->started = true;
	return NULL;
}

static void zlib_close(struct pdet_codec *c)
{
	struct zlib *z = (struct zlib *)c;

	if (z->started)
		z->end(&z->stream);
	pdet_library_close(&z->lib);
}

static int zlib_run(struct pdet_codec *c, const void *in, size_t n, void *out,
		    size_t size)
{
	struct zlib *z = (struct zlib *)c;
	int r;

	if (n > UINT32_MAX || size > UINT32_MAX ||
	    z->reset(&z->stream) != Z_OK)
		return -EBADMSG;
	/* zlib does not write to its input, but its API lacks const. */
	z->stream.next_in = (Bytef *)(uintptr_t)in;
	z->stream.avail_in = (uInt)n;
	z->stream.next_out = out;
	z->stream.avail_out = (uInt)size;
	r = z->inflate(&z->stream, Z_FINISH);
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	return r == Z_STREAM_END && !z->stream.avail_out ? 0 : -EBADMSG;
}

const struct pdet_codec_ops pdet_codec_zlib = {
	.package = "zlib1g",
	.size = sizeof(struct zlib),
	.open = zlib_open,
	.close = zlib_close,
	.run = zlib_run,
};

struct gzip {
	struct pdet_decoder decoder;
	struct pdet_library lib;
	__typeof__(&inflateInit2_) init;
	__typeof__(&inflateReset) reset;
	__typeof__(&inflate) inflate;
	__typeof__(&inflateEnd) end;
	z_stream stream;
	bool started, over;
};

static const char *gzip_open(struct pdet_decoder *d)
{
	struct gzip *g = (struct gzip *)d;
	int r;

	if (!pdet_library_open(&g->lib, "libz.so.1"))
		return g->lib.why;
	g->init = PDET_FUNCTION(&g->lib, inflateInit2_);
	g->reset = PDET_FUNCTION(&g->lib, inflateReset);
	g->inflate = PDET_FUNCTION(&g->lib, inflate);
	g->end = PDET_FUNCTION(&g->lib, inflateEnd);
	if (*g->lib.why)
		return g->lib.why;
	/* + 16: accept only the gzip format. */
	r = g->init(&g->stream, 16 + MAX_WBITS, ZLIB_VERSION,
		    (int)sizeof(g->stream));
	if (r == Z_MEM_ERROR)
		return "";
	if (r != Z_OK)
		return "libz has another version";
	g->started = true;
	return NULL;
}

static void gzip_close(struct pdet_decoder *d)
{
	struct gzip *g = (struct gzip *)d;

	if (g->started)
		g->end(&g->stream);
	pdet_library_close(&g->lib);
}

static int gzip_run(struct pdet_decoder *d, struct pdet_decoding *io)
{
	struct gzip *g = (struct gzip *)d;
	size_t in_n = PDET_MIN(io->in_n, UINT32_MAX);
	size_t out_n = PDET_MIN(io->out_n, UINT32_MAX);
	int r;

	if (g->over && g->reset(&g->stream) != Z_OK)
		return -EBADMSG;
	g->stream.next_in = (Bytef *)(uintptr_t)io->in;
	g->stream.avail_in = (uInt)in_n;
	g->stream.next_out = (Bytef *)io->out;
	g->stream.avail_out = (uInt)out_n;
	r = g->inflate(&g->stream, Z_NO_FLUSH);
	io->in += in_n - g->stream.avail_in;
	io->in_n -= in_n - g->stream.avail_in;
	io->out += out_n - g->stream.avail_out;
	io->out_n -= out_n - g->stream.avail_out;
	g->over = r == Z_STREAM_END;
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	if (r != Z_OK && r != Z_BUF_ERROR && r != Z_STREAM_END)
		return -EBADMSG;
	return g->over;
}

const struct pdet_decoder_ops pdet_decoder_gzip = {
	.package = "zlib1g",
	.size = sizeof(struct gzip),
	.open = gzip_open,
	.close = gzip_close,
	.run = gzip_run,
};

struct zlib_packer {
	struct pdet_packer packer;
	struct pdet_library lib;
	__typeof__(&deflateInit_) init;
	__typeof__(&deflateReset) reset;
	__typeof__(&deflate) deflate;
	__typeof__(&deflateEnd) end;
	z_stream stream;
	bool started;
};

static const char *packer_open(struct pdet_packer *p)
{
	struct zlib_packer *z = (struct zlib_packer *)p;
	int r;

	if (!pdet_library_open(&z->lib, "libz.so.1"))
		return z->lib.why;
	z->init = PDET_FUNCTION(&z->lib, deflateInit_);
	z->reset = PDET_FUNCTION(&z->lib, deflateReset);
	z->deflate = PDET_FUNCTION(&z->lib, deflate);
	z->end = PDET_FUNCTION(&z->lib, deflateEnd);
	if (*z->lib.why)
		return z->lib.why;
	r = z->init(&z->stream, Z_BEST_SPEED, ZLIB_VERSION,
		    (int)sizeof(z->stream));
	if (r == Z_MEM_ERROR)
		return "";
	if (r != Z_OK)
		return "libz has another version";
	z->started = true;
	return NULL;
}

static void packer_close(struct pdet_packer *p)
{
	struct zlib_packer *z = (struct zlib_packer *)p;

	if (z->started)
		z->end(&z->stream);
	pdet_library_close(&z->lib);
}

static size_t packer_run(struct pdet_packer *p, const void *in, size_t n,
			 void *out, size_t size)
{
	struct zlib_packer *z = (struct zlib_packer *)p;

	if (n > UINT32_MAX || size > UINT32_MAX ||
	    z->reset(&z->stream) != Z_OK)
		return 0;
	z->stream.next_in = (Bytef *)(uintptr_t)in;
	z->stream.avail_in = (uInt)n;
	z->stream.next_out = out;
	z->stream.avail_out = (uInt)size;
	if (z->deflate(&z->stream, Z_FINISH) != Z_STREAM_END)
		return 0;
	return size - z->stream.avail_out;
}

const struct pdet_packer_ops pdet_packer_zlib = {
	.size = sizeof(struct zlib_packer),
	.id = PDET_CODEC_ZLIB,
	.open = packer_open,
	.close = packer_close,
	.run = packer_run,
};
