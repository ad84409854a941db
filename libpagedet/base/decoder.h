/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decompression of a file of unknown size, piece by piece: gzip, zstd, xz. The
 * same files as base/codec.h's know the libraries.
 */
#ifndef PDET_BASE_DECODER_H
#define PDET_BASE_DECODER_H

#include "base/env.h"

/* What a file begins with is known from this many bytes. */
#define PDET_DECODER_MAGIC 6

/* What is to be read and where to; both ends move towards each other. */
struct pdet_decoding {
	const char *in;
	size_t in_n;
	char *out;
	size_t out_n;
};

struct pdet_decoder_ops;

/* One thread's at a time. */
struct pdet_decoder {
	const struct pdet_decoder_ops *ops;
	const char *name;
};

/* pdet_decoder_name - "gzip" ... by the first @n bytes of a file; NULL for
 * what is none of them. */
const char *pdet_decoder_name(const char *head, size_t n);

/*
 * pdet_decoder_open - for a file that begins with @head, for which
 * pdet_decoder_name() has a name. -ENOSYS: not built in, or its library cannot
 * be loaded, with the words in @env; -ENOMEM.
 */
int pdet_decoder_open(struct pdet_env *env, const char *head, size_t n,
		      struct pdet_decoder **ret);
void pdet_decoder_close(struct pdet_decoder *d);

/*
 * pdet_decoder_run - as much as there are bytes and room. Returns 1 at the end
 * of what one compression wrote, behind which another may begin; 0 in the
 * middle of it; -EBADMSG for what is none; -E2BIG for what asks for too much
 * memory; -ENOMEM.
 */
int pdet_decoder_run(struct pdet_decoder *d, struct pdet_decoding *io);

/* What a file about one library offers; it embeds struct pdet_decoder first. */
struct pdet_decoder_ops {
	size_t size;		/* 0: not built in */
	/* NULL, or why it cannot be used; "" is without memory. */
	const char *(*open)(struct pdet_decoder *d);
	void (*close)(struct pdet_decoder *d);
	int (*run)(struct pdet_decoder *d, struct pdet_decoding *io);
};

extern const struct pdet_decoder_ops pdet_decoder_gzip;
extern const struct pdet_decoder_ops pdet_decoder_xz;
extern const struct pdet_decoder_ops pdet_decoder_zstd;

#endif
