/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The only file that includes zlib. */
#include <errno.h>
#include <zlib.h>

#include "base/codec.h"
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
		return "libz is of another version";
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
	/* zlib does not write there; its type is older than const. */
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
	.size = sizeof(struct zlib),
	.open = zlib_open,
	.close = zlib_close,
	.run = zlib_run,
};
