/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The mount that a file is on. */
#ifndef PDET_EXPLAIN_CHECK_MOUNT_H
#define PDET_EXPLAIN_CHECK_MOUNT_H

#include <sys/types.h>

#include "kernel/mountinfo.h"

struct pdet_check_mount {
	char *line;		/* that m points into */
	struct pdet_mount m;
};

/* pdet_check_mount - 0, or -ENOENT: it is nowhere to be seen. */
int pdet_check_mount(int fd, struct pdet_check_mount *ret);
/* pdet_check_mount_of - the number of a superblock that is mounted from the
 * device. False: none is to be seen. */
bool pdet_check_mount_of(dev_t device, uint64_t *ret);
void pdet_check_mount_free(struct pdet_check_mount *m);

#endif
