/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decompresses xz. Only this file includes liblzma. */
#include "config.h"

#include "base/codec/decoder.h"

#ifdef HAVE_LZMA

#include <errno.h>
#include <lzma.h>

#include "base/library.h"

/* xz -9 needs 65 MB; a text file needs no more. */
#define MEMORY_MAX ((uint64_t)128 << 20)

struct xz {
	struct pdet_decoder decoder;
	struct pdet_library lib;
	__typeof__(&lzma_stream_decoder) init;
	__typeof__(&lzma_code) code;
	__typeof__(&lzma_end) end;
	lzma_stream stream;
	bool over;
};

static const char *xz_open(struct pdet_decoder *d)
{
	struct xz *x = (struct xz *)d;

	if (!pdet_library_open(&x->lib, "liblzma.so.5"))
		return x->lib.why;
	x->init = PDET_FUNCTION(&x->lib, lzma_stream_decoder);
	x->code = PDET_FUNCTION(&x->lib, lzma_code);
	x->end = PDET_FUNCTION(&x->lib, lzma_end);
	if (*x->lib.why)
		return x->lib.why;
	x->over = true;
	return NULL;
}

static void xz_close(struct pdet_decoder *d)
{
	struct xz *x = (struct xz *)d;

	if (x->end)
		x->end(&x->stream);
	pdet_library_close(&x->lib);
}

static int xz_run(struct pdet_decoder *d, struct pdet_decoding *io)
{
	struct xz *x = (struct xz *)d;
	lzma_ret r;

	if (x->over && x->init(&x->stream, MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	x->over = false;
	x->stream.next_in = (const uint8_t *)io->in;
	x->stream.avail_in = io->in_n;
	x->stream.next_out = (uint8_t *)io->out;
	x->stream.avail_out = io->out_n;
	r = x->code(&x->stream, LZMA_RUN);
	io->in = (const char *)x->stream.next_in;
	io->in_n = x->stream.avail_in;
	io->out = (char *)x->stream.next_out;
	io->out_n = x->stream.avail_out;
	switch (r) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return 0;
	case LZMA_STREAM_END:
		x->over = true;
		return 1;
	case LZMA_MEM_ERROR:
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

const struct pdet_decoder_ops pdet_decoder_xz = {
	.package = "liblzma5",
	.size = sizeof(struct xz),
	.open = xz_open,
	.close = xz_close,
	.run = xz_run,
};

#else

const struct pdet_decoder_ops pdet_decoder_xz = { .size = 0 };

#endif
