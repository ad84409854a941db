/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides whether a log is of the boot that is asked about its pages. The page
 * frame numbers of another boot name other pages.
 */
#ifndef PDET_QUERY_WALK_LOG_BOOT_H
#define PDET_QUERY_WALK_LOG_BOOT_H

#include "backend/backend.h"
#include "backend/log/log.h"
#include "base/pairs.h"

enum pdet_log_of {
	PDET_LOG_OF_UNKNOWN = 0,
	PDET_LOG_OF_THIS,
	PDET_LOG_OF_OTHER
};

struct pdet_running {
	bool live;		/* set by the caller: the running kernel is
				 * asked, not a dump or a captured tree */
	bool read;		/* the following members are set */
	bool has_banner;
	char id[33];		/* of the boot; "" unknown */
	uint64_t banner;	/* hash of the banner */
	int64_t booted_s;	/* live: time of boot, since 1970 */
	int64_t clock_us;	/* live: CLOCK_REALTIME minus the time of the
				 * log */
	struct pdet_pairs lines; /* lines of the kernel log, by hash */
};

/*
 * pdet_running_of - decide whether @p is of the boot that is asked. The first
 * call reads the data of its kernel.
 */
enum pdet_log_of pdet_running_of(struct pdet_running *running,
				 struct pdet_env *env,
				 struct pdet_backend *const *backends,
				 size_t n, const struct pdet_log_page *p);
void pdet_running_free(struct pdet_running *running);

#endif
