/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compression, as fast as it goes: the way back of base/codec.h. In the same
 * files, one library a file.
 */
#ifndef PDET_BASE_PACKER_H
#define PDET_BASE_PACKER_H

#include "base/codec.h"

struct pdet_packer_ops;

/* One thread's. */
struct pdet_packer {
	const struct pdet_packer_ops *ops;
};

/* pdet_packer_open - the fastest that is here: zstd, else zlib. -ENOSYS there
 * is none, with words; -ENOMEM. */
int pdet_packer_open(struct pdet_env *env, struct pdet_packer **ret);
void pdet_packer_close(struct pdet_packer *p);

/* What the result must be given to: see pdet_codec_open(). */
enum pdet_codec_id pdet_packer_id(const struct pdet_packer *p);

/* pdet_packer_run - how many bytes of @out, which has room for @size, it took;
 * 0 if they were not enough. */
size_t pdet_packer_run(struct pdet_packer *p, const void *in, size_t n,
		       void *out, size_t size);

/* What a file about one library offers; it embeds struct pdet_packer first. */
struct pdet_packer_ops {
	size_t size;		/* 0: not built in */
	enum pdet_codec_id id;
	/* NULL, or why it cannot be used; "" is without memory. */
	const char *(*open)(struct pdet_packer *p);
	void (*close)(struct pdet_packer *p);
	size_t (*run)(struct pdet_packer *p, const void *in, size_t n,
		      void *out, size_t size);
};

extern const struct pdet_packer_ops pdet_packer_zlib;
extern const struct pdet_packer_ops pdet_packer_zstd;

#endif
