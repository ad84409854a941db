/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The memory usage of each process, from the kernel's counts or from a walk. */
#ifndef PDET_QUERY_USAGE_H
#define PDET_QUERY_USAGE_H

#include "query/query.h"

struct pdet_usages {
	struct pdet_usage *rows; /* ascending by pid */
	size_t n;
	struct pagedet_usage_info info;
};

struct pdet_usages_args {
	struct pdet_env *env;
	struct pdet_backend *const *backends;
	size_t n_backends;
	uint32_t sources;	/* allowed sources */
	uint64_t page_size;
	const struct pagedet_usage_options *options;
};

int pdet_usages_new(const struct pdet_usages_args *args,
		    struct pdet_usages **ret);
void pdet_usages_free(struct pdet_usages *u);

#endif
