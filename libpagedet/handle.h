/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the opaque types of pagedet.h hold. Only api.c includes this. */
#ifndef PDET_HANDLE_H
#define PDET_HANDLE_H

#include "backend/backend.h"
#include "base/key.h"
#include "kernel/content.h"
#include "query/query.h"

/* What pagedet_open() was told, to be told again by pagedet_dup(). */
struct pdet_opened {
	struct pagedet_options options;
	char **from;
	char *root, *vmlinux, *btf, *vmcoreinfo, *hash_key, *libexec_dir;
};

struct pagedet {
	struct pdet_env env;
	bool open;
	struct pdet_opened opened;
	struct pdet_backend *backends[PDET_BACKENDS];
	size_t n_backends;
	uint32_t sources;	/* of all of them */
	struct pdet_kernel_info info;
	bool info_known;
	uint64_t page_size;
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME of first and last query */
	struct pdet_ability ability; /* of the last survey */
	struct pdet_key key;	/* that contents are hashed under */
	char content_name[PDET_CONTENT_NAME]; /* of the last content */
};

struct pagedet_index {
	struct pagedet *pd;
	struct pdet_mapindex *ix;
};

struct pagedet_iter {
	struct pagedet *pd;
	struct pdet_iter *it;
	uint64_t row_size;
	/* where the columns that are shown go in a row */
	struct pdet_shown {
		uint8_t field;
		bool narrow;	/* 32 bits */
		bool old;	/* behind the caller's row */
		uint32_t offset;
	} shown[PDET_FIELDS];
	size_t n_shown;
	bool old_rows;		/* some are */
	struct pdet_batch *batch; /* of this step */
	uint32_t cursor;	/* rows of it handed out */
	uint32_t step;		/* the first of them in this step */
	struct pagedet_column columns[PDET_FIELDS];
	struct pagedet_mappers *summaries; /* for the emitter */
};

/* api_rows.c: which columns go where, once the plan is made. */
void pdet_show_columns(struct pagedet_iter *it);

#endif
