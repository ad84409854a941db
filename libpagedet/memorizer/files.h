/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The files of Memorizer in debugfs, by whatever names a kernel has them. */
#ifndef PDET_MEMORIZER_FILES_H
#define PDET_MEMORIZER_FILES_H

#include "base/io.h"
#include "pagedet.h"

struct pdet_memorizer {
	char *root;
	char *path[PAGEDET_MEMORIZER_CONTROLS]; /* NULL: it is not there */
	int dir;		/* that has the switch of all; locked by a
				 * recording */
};

/* What a switch is. */
struct pdet_memorizer_value {
	uint64_t value;
	int64_t pid;		/* -1: not told */
	bool is_bool;		/* it is only on or off */
};

/*
 * pdet_memorizer_find - find the files below the root of @env. -ENOTSUP: there
 * is no Memorizer; -EACCES; -ENOMEM.
 */
int pdet_memorizer_find(struct pdet_env *env, struct pdet_memorizer *ret);
void pdet_memorizer_forget(struct pdet_memorizer *m);

/* pdet_memorizer_name - "log_accesses"; NULL: there is no such control. */
const char *pdet_memorizer_name(uint32_t control);

/* pdet_memorizer_is_switch - whether it has a value. */
bool pdet_memorizer_is_switch(uint32_t control);

/*
 * pdet_memorizer_lacks - the error that this kernel does not have it: what
 * cannot be done then. -ENOTSUP.
 */
int pdet_memorizer_lacks(struct pdet_env *env, uint32_t control);

/* pdet_memorizer_parse - the content of a switch. False: it is not one. */
bool pdet_memorizer_parse(const char *text, size_t len,
			  struct pdet_memorizer_value *ret);

/* pdet_memorizer_get - read a switch. 0, or a negative errno with a text. */
int pdet_memorizer_get(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control, struct pdet_memorizer_value *ret);

/* pdet_memorizer_write - write a number to a file. 0, or a negative errno. */
int pdet_memorizer_write(const char *path, uint64_t value);

/* pdet_memorizer_put - write a number to any of them. */
int pdet_memorizer_put(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control, uint64_t value);

/*
 * pdet_memorizer_set - as pdet_memorizer_put(), after a look whether the value
 * has a meaning. Errors as those of pagedet_memorizer_set().
 */
int pdet_memorizer_set(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control, uint64_t value);

#endif
