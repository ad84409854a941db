/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The opaque types of pagedet.h. Only api/ includes this. */
#ifndef PDET_API_HANDLE_H
#define PDET_API_HANDLE_H

#include "allocs/allocs.h"
#include "backend/backend.h"
#include "base/key.h"
#include "content/content.h"
#include "heat/heat.h"
#include "kmap/pages.h"
#include "query/query.h"

/* The arguments of pagedet_open(), for pagedet_dup(). */
struct pdet_opened {
	struct pagedet_options options;
	char **from;
	char *root, *vmlinux, *btf, *vmcoreinfo, *hash_key, *libexec_dir;
};

struct pagedet {
	struct pdet_env env;
	bool open;
	pagedet_stop_fn *stop;	/* of the caller; NULL: there is none */
	void *stop_user;
	bool stopped;		/* it said so during this call */
	struct pdet_opened opened;
	struct pdet_backend *backends[PDET_BACKENDS];
	size_t n_backends;
	uint32_t sources;	/* of all backends */
	struct pdet_kernel_info info;
	bool info_known;
	uint64_t page_size;
	uint64_t first_ns, last_ns; /* CLOCK_REALTIME of first and last query */
	struct pdet_ability ability; /* of the last survey */
	struct pdet_key key;	/* of hashes of contents */
	char content_name[PDET_CONTENT_NAME]; /* of the last content */
};

struct pagedet_index {
	struct pagedet *pd;
	struct pdet_mapindex *ix;
};

struct pagedet_allocs {
	struct pagedet *pd;
	struct pdet_allocs *a;
	char gfp[PDET_GFP_TEXT + 1]; /* of the last flags */
	size_t at;		/* of the findings */
};

struct pagedet_kmap {
	struct pagedet *pd;
	struct pdet_kmap *k;
};

struct pagedet_kmap_pages {
	struct pagedet *pd;
	struct pdet_kmap_pages k;
	struct pagedet_kmap_pages_info info;
};

struct pagedet_heat {
	struct pagedet *pd;
	struct pdet_heat h;
};

struct pagedet_iter {
	struct pagedet *pd;
	struct pdet_iter *it;
	uint64_t row_size;
	/* The places of shown columns in a row. */
	struct pdet_shown {
		uint8_t field;
		bool narrow;	/* 32 bits wide */
		bool old;	/* past the end of the caller's row */
		uint32_t offset;
	} shown[PDET_FIELDS];
	size_t n_shown;
	bool old_rows;		/* some columns are old */
	struct pdet_batch *batch; /* of the current step */
	uint32_t cursor;	/* delivered rows of it */
	uint32_t step;		/* the first row of the current step */
	struct pagedet_column columns[PDET_FIELDS];
	struct pagedet_mappers *summaries; /* for the emitter */
};

/* Whether the running kernel is asked: not a file, nor what is below a root,
 * which may be a copy, of another time or machine. */
static inline bool pdet_asks_running(const struct pagedet *pd)
{
	return !pd->opened.options.n_files && !*pd->env.root;
}

/* Adds a field to a query. */
static inline void pdet_want(struct pagedet_query *q, uint32_t field)
{
	q->fields[field / 64] |= (uint64_t)1 << field % 64;
}

/* rows.c: assigns a place to each column when the plan has been made. */
void pdet_show_columns(struct pagedet_iter *it);

#endif
