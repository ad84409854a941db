/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decompresses lzo1x. Only this file includes lzo. It does not call lzo_init(),
 * which only tests the compiler; decompression keeps no state. */
#include "config.h"

#include "base/codec/codec.h"

#ifdef HAVE_LZO

#include <errno.h>
#include <lzo/lzo1x.h>

#include "base/library.h"

struct lzo {
	struct pdet_codec codec;
	struct pdet_library lib;
	__typeof__(&lzo1x_decompress_safe) run;
};

static const char *lzo_open(struct pdet_codec *c)
{
	struct lzo *l = (struct lzo *)c;

	if (!pdet_library_open(&l->lib, "liblzo2.so.2"))
		return l->lib.why;
	l->run = PDET_FUNCTION(&l->lib, lzo1x_decompress_safe);
	return *l->lib.why ? l->lib.why : NULL;
}

static void lzo_close(struct pdet_codec *c)
{
	pdet_library_close(&((struct lzo *)c)->lib);
}

static int lzo_run(struct pdet_codec *c, const void *in, size_t n, void *out,
		   size_t size)
{
	struct lzo *l = (struct lzo *)c;
	lzo_uint got = size;

	return l->run(in, n, out, &got, NULL) == LZO_E_OK && got == size
		? 0 : -EBADMSG;
}

const struct pdet_codec_ops pdet_codec_lzo = {
	.package = "liblzo2-2",
	.size = sizeof(struct lzo),
	.open = lzo_open,
	.close = lzo_close,
	.run = lzo_run,
};

#else

const struct pdet_codec_ops pdet_codec_lzo = { .size = 0 };

#endif
