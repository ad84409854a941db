/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Decompresses snappy. Only this file includes snappy. */
#include "config.h"

#include "base/codec/codec.h"
#include "base/library.h"

/* snappy is written in C++. Its runtime library cannot be linked everywhere. */
#if defined(HAVE_SNAPPY) && \
	(defined(HAVE_SNAPPY_LINKED) || !defined(PDET_LINKED))

#include <errno.h>
#include <snappy-c.h>

struct snappy {
	struct pdet_codec codec;
	struct pdet_library lib;
	__typeof__(&snappy_uncompress) run;
};

static const char *snappy_open(struct pdet_codec *c)
{
	struct snappy *s = (struct snappy *)c;

	if (!pdet_library_open(&s->lib, "libsnappy.so.1"))
		return s->lib.why;
	s->run = PDET_FUNCTION(&s->lib, snappy_uncompress);
	return *s->lib.why ? s->lib.why : NULL;
}

static void snappy_close(struct pdet_codec *c)
{
	pdet_library_close(&((struct snappy *)c)->lib);
}

static int snappy_run(struct pdet_codec *c, const void *in, size_t n,
		      void *out, size_t size)
{
	struct snappy *s = (struct snappy *)c;
	size_t got = size;

	return s->run(in, n, out, &got) == SNAPPY_OK && got == size
		? 0 : -EBADMSG;
}

const struct pdet_codec_ops pdet_codec_snappy = {
	.package = "libsnappy1v5",
	.size = sizeof(struct snappy),
	.open = snappy_open,
	.close = snappy_close,
	.run = snappy_run,
};

#elif defined(HAVE_SNAPPY)

const struct pdet_codec_ops pdet_codec_snappy = {
	.help = "the pagedet that is not static loads it; a static one has it "
		"if libstdc++ was there when libpagedet was configured (on "
		"Debian: g++)",
};

#else

const struct pdet_codec_ops pdet_codec_snappy = { .size = 0 };

#endif
