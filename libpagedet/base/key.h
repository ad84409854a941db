/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The secret of keyed content hashes, and the file that stores it. */
#ifndef PDET_BASE_KEY_H
#define PDET_BASE_KEY_H

#include "base/env.h"
#include "base/hash.h"

struct pdet_key {
	bool known;
	unsigned char secret[PDET_SECRET];
};

/* pdet_key_random - set a random key unless @key is already known. */
int pdet_key_random(struct pdet_env *env, struct pdet_key *key);

/*
 * pdet_key_file - read the key from @path, which holds nothing else. A missing
 * file is created atomically with random bytes and mode 0600. Two processes
 * that create it at the same time get the same key. -EACCES: others may read
 * the file, or it is a symbolic link or not a regular file; -EBADMSG: it is not
 * a key.
 */
int pdet_key_file(struct pdet_env *env, struct pdet_key *key,
		  const char *path);

/* pdet_key_forget - erase the key from memory. */
void pdet_key_forget(struct pdet_key *key);

#endif
