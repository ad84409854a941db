/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Finds the mount of a file. */
#ifndef PDET_CHECK_MOUNT_H
#define PDET_CHECK_MOUNT_H

#include <sys/types.h>

#include "kernel/text/mountinfo.h"

struct pdet_check_mount {
	char *line;		/* the text that m points to */
	struct pdet_mount m;
};

/*
 * pdet_check_mount - get the mount. Returns 0, or -ENOENT if none is visible.
 */
int pdet_check_mount(int fd, struct pdet_check_mount *ret);
/*
 * pdet_check_mount_of - get the number of a superblock that is mounted from the
 * device. Returns false if none is visible.
 */
bool pdet_check_mount_of(dev_t device, uint64_t *ret);
void pdet_check_mount_free(struct pdet_check_mount *m);

#endif
