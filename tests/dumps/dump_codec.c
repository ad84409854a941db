/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compresses with the available libraries, each in the way of its usual
 * callers.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_LZO
#include <lzo/lzo1x.h>
#endif
#ifdef HAVE_SNAPPY
#include <snappy-c.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "dump_write.h"

static size_t by_zlib(const void *in, size_t n, void *out, size_t room)
{
	uLongf len = room;

	return compress2(out, &len, in, n, 1) == Z_OK ? len : 0;
}

#ifdef HAVE_LZO
static size_t by_lzo(const void *in, size_t n, void *out, size_t room)
{
	void *work = malloc(LZO1X_1_MEM_COMPRESS);
	unsigned char *big = malloc(n + n / 16 + 64 + 3);
	lzo_uint len = 0;

	if (!work || !big || lzo_init() != LZO_E_OK ||
	    lzo1x_1_compress(in, n, big, &len, work) != LZO_E_OK)
		abort();
	if (len > room)
		len = 0;
	memcpy(out, big, len);
	free(big);
	free(work);
	return len;
}
#else
#define by_lzo NULL
#endif

#ifdef HAVE_SNAPPY
static size_t by_snappy(const void *in, size_t n, void *out, size_t room)
{
	size_t len = snappy_max_compressed_length(n);
	char *big = malloc(len);

	if (!big || snappy_compress(in, n, big, &len) != SNAPPY_OK)
		abort();
	if (len > room)
		len = 0;
	memcpy(out, big, len);
	free(big);
	return len;
}
#else
#define by_snappy NULL
#endif

#ifdef HAVE_ZSTD
static size_t by_zstd(const void *in, size_t n, void *out, size_t room)
{
	size_t len = ZSTD_compress(out, room, in, n, 1);

	return ZSTD_isError(len) ? 0 : len;
}
#else
#define by_zstd NULL
#endif

static const struct {
	const char *name;
	size_t (*compress)(const void *in, size_t n, void *out, size_t room);
} codecs[DUMP_N_CODECS] = {
	[DUMP_RAW] = { "raw", NULL },
	[DUMP_ZLIB] = { "zlib", by_zlib },
	[DUMP_LZO] = { "lzo", by_lzo },
	[DUMP_SNAPPY] = { "snappy", by_snappy },
	[DUMP_ZSTD] = { "zstd", by_zstd },
};

const char *dump_codec_name(enum dump_codec codec)
{
	return codecs[codec].name;
}

bool dump_codec_built(enum dump_codec codec)
{
	return codec == DUMP_RAW || codecs[codec].compress;
}

size_t dump_compress(enum dump_codec codec, const void *in, size_t n,
		     void *out, size_t room)
{
	return codec == DUMP_RAW ? 0 :
		codecs[codec].compress(in, n, out, room);
}
