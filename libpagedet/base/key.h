/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The secret under which contents are hashed, and the file that keeps it. */
#ifndef PDET_BASE_KEY_H
#define PDET_BASE_KEY_H

#include "base/env.h"
#include "base/hash.h"

struct pdet_key {
	bool known;
	unsigned char secret[PDET_SECRET];
};

/* pdet_key_random - one of its own, unless it is known already. */
int pdet_key_random(struct pdet_env *env, struct pdet_key *key);

/*
 * pdet_key_file - what @path holds, which is the secret and nothing else. Made
 * with random bytes and mode 0600 if it is missing: at once and whole, so that
 * of two who make it both get the same. -EACCES: others may read it, or it is
 * a symbolic link or no file; -EBADMSG: it is not a key.
 */
int pdet_key_file(struct pdet_env *env, struct pdet_key *key,
		  const char *path);

/* pdet_key_forget - nothing of it stays in memory. */
void pdet_key_forget(struct pdet_key *key);

#endif
