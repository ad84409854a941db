/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decompression of a file of unknown size, piece by piece: gzip, zstd, xz. The
 * files that base/codec/codec.h uses also implement these decoders.
 */
#ifndef PDET_BASE_CODEC_DECODER_H
#define PDET_BASE_CODEC_DECODER_H

#include "base/env.h"

/* This many bytes at the start identify a format. */
#define PDET_DECODER_MAGIC 6

/* The input left to read and the output space left. Each call advances both. */
struct pdet_decoding {
	const char *in;
	size_t in_n;
	char *out;
	size_t out_n;
};

struct pdet_decoder_ops;

/* Used by one thread at a time. */
struct pdet_decoder {
	const struct pdet_decoder_ops *ops;
	const char *name;
};

/* pdet_decoder_name - the name of the format, such as "gzip", from the first @n
 * bytes of a file. NULL: it is none of these formats. */
const char *pdet_decoder_name(const char *head, size_t n);

/*
 * pdet_decoder_open - open a decoder for a file that begins with @head.
 * pdet_decoder_name() must know the format. -ENOSYS: it is not built in, or its
 * library cannot be loaded, with an error text in @env; -ENOMEM.
 */
int pdet_decoder_open(struct pdet_env *env, const char *head, size_t n,
		      struct pdet_decoder **ret);
void pdet_decoder_close(struct pdet_decoder *d);

/*
 * pdet_decoder_run - decompress until input or room is used up. Returns 1 at
 * the end of a compressed stream, which another stream may follow; 0 inside a
 * stream; -EBADMSG if the data is damaged; -E2BIG if it needs too much memory;
 * -ENOMEM.
 */
int pdet_decoder_run(struct pdet_decoder *d, struct pdet_decoding *io);

/*
 * The functions that the file of each library provides. Its own struct begins
 * with a struct pdet_decoder.
 */
struct pdet_decoder_ops {
	const char *package;	/* Debian's, if a library is loaded */
	size_t size;		/* 0: not built in */
	/*
	 * NULL, or the reason why it cannot be used; "" means that memory is
	 * short
	 */
	const char *(*open)(struct pdet_decoder *d);
	void (*close)(struct pdet_decoder *d);
	int (*run)(struct pdet_decoder *d, struct pdet_decoding *io);
};

extern const struct pdet_decoder_ops pdet_decoder_gzip;
extern const struct pdet_decoder_ops pdet_decoder_xz;
extern const struct pdet_decoder_ops pdet_decoder_zstd;

#endif
