/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fast compression, the reverse of base/codec/codec.h. The same files implement
 * both, one for each library.
 */
#ifndef PDET_BASE_CODEC_PACKER_H
#define PDET_BASE_CODEC_PACKER_H

#include "base/codec/codec.h"

struct pdet_packer_ops;

/* Used by one thread. */
struct pdet_packer {
	const struct pdet_packer_ops *ops;
};

/* pdet_packer_open - open the fastest available library: zstd, otherwise zlib.
 * -ENOSYS: there is none, with an error text in @env; -ENOMEM. */
int pdet_packer_open(struct pdet_env *env, struct pdet_packer **ret);
void pdet_packer_close(struct pdet_packer *p);

/*
 * pdet_packer_id - the codec that decompresses the result; see
 * pdet_codec_open().
 */
enum pdet_codec_id pdet_packer_id(const struct pdet_packer *p);

/* pdet_packer_run - compress into @out, which has room for @size bytes. Returns
 * the bytes used, or 0 if the room is too small. */
size_t pdet_packer_run(struct pdet_packer *p, const void *in, size_t n,
		       void *out, size_t size);

/*
 * The functions that the file of each library provides. Its own struct begins
 * with a struct pdet_packer.
 */
struct pdet_packer_ops {
	size_t size;		/* 0: not built in */
	enum pdet_codec_id id;
	/*
	 * NULL, or the reason why it cannot be used; "" means that memory is
	 * short
	 */
	const char *(*open)(struct pdet_packer *p);
	void (*close)(struct pdet_packer *p);
	size_t (*run)(struct pdet_packer *p, const void *in, size_t n,
		      void *out, size_t size);
};

extern const struct pdet_packer_ops pdet_packer_zlib;
extern const struct pdet_packer_ops pdet_packer_zstd;

#endif
