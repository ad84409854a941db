/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Lists the backends. Only this file names them. */
#include "backend/backend.h"
#include "config.h"

#ifdef WITH_BACKEND_IMAGE
extern const struct pdet_backend_ops pdet_image_ops;
#endif
#ifdef WITH_BACKEND_LOG
extern const struct pdet_backend_ops pdet_log_ops;
#endif
#ifdef WITH_BACKEND_PAGE_DETECTIVE
extern const struct pdet_backend_ops pdet_page_detective_ops;
#endif
#ifdef WITH_BACKEND_PAGE_OWNER
extern const struct pdet_backend_ops pdet_ownertext_ops;
#endif
#ifdef WITH_BACKEND_PROCFS
extern const struct pdet_backend_ops pdet_procfs_ops;
#endif
#ifdef WITH_BACKEND_SNAPSHOT
extern const struct pdet_backend_ops pdet_snapshot_ops;
#endif

const struct pdet_backend_ops *const pdet_backends[] = {
#ifdef WITH_BACKEND_PROCFS
	&pdet_procfs_ops,
#endif
#ifdef WITH_BACKEND_PAGE_OWNER
	&pdet_ownertext_ops,
#endif
#ifdef WITH_BACKEND_IMAGE
	&pdet_image_ops,
#endif
#ifdef WITH_BACKEND_LOG
	&pdet_log_ops,
#endif
#ifdef WITH_BACKEND_PAGE_DETECTIVE
	&pdet_page_detective_ops,
#endif
#ifdef WITH_BACKEND_SNAPSHOT
	&pdet_snapshot_ops,
#endif
	NULL
};
