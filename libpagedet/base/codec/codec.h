/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decompression into memory of known size. One file includes each library.
 * Opening a codec fails with the reason if its library is missing.
 */
#ifndef PDET_BASE_CODEC_CODEC_H
#define PDET_BASE_CODEC_CODEC_H

#include "base/env.h"

enum pdet_codec_id {
	PDET_CODEC_ZLIB,
	PDET_CODEC_LZO,		/* lzo1x */
	PDET_CODEC_SNAPPY,
	PDET_CODEC_ZSTD,
	PDET_N_CODECS
};

struct pdet_codec_ops;

/* Used by one thread. */
struct pdet_codec {
	const struct pdet_codec_ops *ops;
};

/* pdet_codec_name - "zlib" and so on. */
const char *pdet_codec_name(enum pdet_codec_id id);

/*
 * pdet_codec_open - open a codec. -ENOSYS: it is not built in, or its library
 * cannot be loaded; -ENOMEM. The error text goes to @env, which may be NULL.
 */
int pdet_codec_open(enum pdet_codec_id id, struct pdet_env *env,
		    struct pdet_codec **ret);
void pdet_codec_close(struct pdet_codec *c);
/* pdet_codec_test - whether this one could be opened. Returns as above. */
int pdet_codec_test(const struct pdet_codec_ops *ops, const char *name,
		    struct pdet_env *env);

/*
 * pdet_codec_run - decompress exactly @size bytes to @out. -EBADMSG: the data
 * has another size or is damaged; -ENOMEM.
 */
int pdet_codec_run(struct pdet_codec *c, const void *in, size_t n, void *out,
		   size_t size);

/*
 * The functions that the file of each library provides. Its own struct begins
 * with a struct pdet_codec.
 */
struct pdet_codec_ops {
	size_t size;		/* 0: not built in */
	const char *package;	/* Debian's, if a library is loaded */
	const char *help;	/* not built in: NULL, configure helps */
	/*
	 * NULL, or the reason why it cannot be used; "" means that memory is
	 * short
	 */
	const char *(*open)(struct pdet_codec *c);
	void (*close)(struct pdet_codec *c);
	int (*run)(struct pdet_codec *c, const void *in, size_t n, void *out,
		   size_t size);
};

extern const struct pdet_codec_ops pdet_codec_deflate;	/* zlib format */
extern const struct pdet_codec_ops pdet_codec_lzo;
extern const struct pdet_codec_ops pdet_codec_snappy;
extern const struct pdet_codec_ops pdet_codec_zlib;
extern const struct pdet_codec_ops pdet_codec_zstd;

#endif
