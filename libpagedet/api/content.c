/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for bytes of the caller, and the key of their hashes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/content.h"
#include "content/difference.h"
#include "content/entropy.h"

#define WHOLE 4096
#define MOST ((uint64_t)1 << 30)
#define ALL \
	((uint32_t)PAGEDET_CONTENT_CLASS | (uint32_t)PAGEDET_CONTENT_HASH | \
	 (uint32_t)PAGEDET_CONTENT_ENTROPY)

static int ready(struct pagedet *pd)
{
	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	return 0;
}

/* Learns whose key the saved hashes have, if there are any. */
static int know(struct pagedet *pd)
{
	struct pagedet_info info = { .size = sizeof(info) };

	return pagedet_info(pd, &info);
}

/* A new hash is of use only beside others with its key. */
static int key_of_hashes(struct pagedet *pd)
{
	int r = know(pd);

	if (r < 0)
		return r;
	if (!pd->info.hash_key)
		return pdet_key_random(&pd->env, &pd->key);
	if (pd->key.known &&
	    pdet_hash_secret(pd->key.secret) == pd->info.hash_key)
		return 0;
	r = pdet_fail(&pd->env, ENODATA,
		      "the hashes of this snapshot have another key");
	pdet_advise(&pd->env, "open it with the file of that key (hash_key)");
	return r;
}

int pagedet_content(struct pagedet *pd, const void *bytes, uint64_t len,
		    uint32_t want, struct pagedet_content *ret)
{
	struct pagedet_content c;
	int r = ready(pd);

	if (r < 0)
		return r;
	if (!len || len % WHOLE || len > MOST)
		return pdet_fail(&pd->env, EINVAL,
				 "%llu bytes are not whole pages",
				 (unsigned long long)len);
	if (want & ~ALL)
		return pdet_fail(&pd->env, EINVAL,
				 "want has bits 0x%x that this library does "
				 "not know",
				 want & ~ALL);
	want = want ? want : ALL;
	memset(&c, 0, sizeof(c));
	c.size = ret->size;
	c.name = "";
	if (want & PAGEDET_CONTENT_CLASS)
		c.name = pdet_content_class(bytes, len, pd->content_name);
	if (want & PAGEDET_CONTENT_HASH) {
		r = key_of_hashes(pd);
		if (r < 0)
			return r;
		c.hash = pdet_hash_keyed(bytes, len, pd->key.secret);
	}
	if (want & PAGEDET_CONTENT_ENTROPY)
		c.entropy = pdet_entropy(bytes, len);
	return pdet_answer_struct(&pd->env, ret, &c, sizeof(c));
}

int pagedet_hash_key_id(struct pagedet *pd, uint64_t *ret)
{
	int r = ready(pd);

	if (r == 0)
		r = know(pd);
	/* Saved hashes have the key of their time. */
	if (r == 0 && pd->info.hash_key) {
		*ret = pd->info.hash_key;
		return 0;
	}
	if (r == 0)
		r = pdet_key_random(&pd->env, &pd->key);
	if (r == 0)
		*ret = pdet_hash_secret(pd->key.secret);
	return r;
}

int pdet_hash_of_zeroes(struct pagedet *pd, uint64_t *ret)
{
	struct pagedet_content c = { .size = sizeof(c) };
	void *zeroes;
	int r = know(pd);

	if (r < 0)
		return r;
	if (pd->info.hash_zero) {
		*ret = pd->info.hash_zero;
		return 0;
	}
	zeroes = calloc(1, pd->page_size);
	if (!zeroes)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	r = pagedet_content(pd, zeroes, pd->page_size, PAGEDET_CONTENT_HASH,
			    &c);
	free(zeroes);
	*ret = c.hash;
	return r;
}

int pagedet_compare_bytes(const void *a, const void *b, uint64_t len,
			  struct pagedet_difference *ret)
{
	struct pagedet_difference d;

	if (ret->size < 2 * sizeof(ret->size))
		return -EINVAL;
	pdet_compare_bytes(a, b, len, &d);
	d.size = ret->size;
	/* Copies the caller's prefix. Bytes past ours are zero already. */
	memcpy(ret, &d, PDET_MIN(sizeof(d), (size_t)d.size));
	if (d.size > sizeof(d))
		memset((char *)ret + sizeof(d), 0, d.size - sizeof(d));
	return 0;
}

const char *pagedet_shape_name(uint32_t shape)
{
	return pdet_shape_name(shape);
}
