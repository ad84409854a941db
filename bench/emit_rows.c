/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * How fast columns become text, without reading any: a million made-up pages
 * (pfn, kind, flags with what is known of them, mapcount, memcg_ino), written
 * to /dev/null. Prints the best of five passes per format.
 *
 *   emit_rows [PASSES]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "emit/emit.h"

#define BATCH 4096
#define BATCHES 16
#define ROWS 1000000

static const uint64_t common_flags[] = {
	0x400, 0x868, 0x86c, 0x828, 0x87c, 0x5868, 0x585c, 0x405828, 0x40d868,
	0x80, 0x100000000, 0x4000000, 0x1800000868, 0x0, 0x2c, 0x1000010868,
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	/* Of this process alone: other work on the machine does not count. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "emit_rows: %s: %s\n", what, why);
	exit(1);
}

/* Pages stand in runs of like pages, as in real memory. */
static void fill(struct pdet_batch *b, uint64_t first, uint64_t *random)
{
	const unsigned procfs = PAGEDET_SOURCE_PROCFS;
	uint64_t flags = 0;
	uint32_t row, left = 0;

	pdet_batch_grow(b, BATCH);
	pdet_put_series(b, 0, BATCH, PAGEDET_FIELD_PFN, first, procfs);
	for (row = 0; row < BATCH; row++) {
		if (!left) {
			*random ^= *random << 13;
			*random ^= *random >> 7;
			*random ^= *random << 17;
			left = 1 + *random % 24;
			flags = common_flags[*random / 64 %
					     PDET_COUNT(common_flags)];
		}
		left--;
		pdet_put(b, row, PAGEDET_FIELD_KIND, flags % 14, procfs);
		pdet_put(b, row, PAGEDET_FIELD_FLAGS, flags, procfs);
		pdet_put(b, row, PAGEDET_FIELD_FLAGS_KNOWN,
			 ~(uint64_t)0x02000002 & ~(flags & 0x1000), procfs);
		pdet_put(b, row, PAGEDET_FIELD_MAPCOUNT,
			 flags & 0x800 ? 1 + *random % 40 : 0, procfs);
		if (flags & 0x60)
			pdet_put(b, row, PAGEDET_FIELD_MEMCG_INO,
				 1 + *random % 5000, procfs);
		else
			pdet_put_none(b, row, PAGEDET_FIELD_MEMCG_INO, procfs);
	}
}

/* All rows once; returns the bytes if the text is kept, else 0. */
static size_t pass(struct pdet_env *env, const struct pdet_batch *batches,
		   const struct pdet_emit_query *q, uint32_t format, int fd)
{
	struct pagedet_emit_options options = PAGEDET_EMIT_OPTIONS_INIT;
	static const struct pdet_emit_end end;
	struct pagedet_emitter *e;
	size_t rows, bytes = 0;

	options.format = format;
	options.fd = fd;
	if (pdet_emitter_new(env, &options, &e) ||
	    pdet_emit_begin(e, env, q))
		die("cannot begin", env->error);
	for (rows = 0; rows < ROWS; rows += BATCH)
		if (pdet_emit_batch(e, env, &batches[rows / BATCH % BATCHES]))
			die("cannot emit", env->error);
	if (pdet_emit_end(e, env, &end) || pdet_emitter_finish(e))
		die("cannot end", env->error);
	if (fd < 0)
		pdet_emitter_text(e, &bytes);
	pdet_emitter_free(e);
	return bytes;
}

static void measure(struct pdet_env *env, const struct pdet_batch *batches,
		    const struct pdet_emit_query *q, uint32_t format,
		    const char *name, int passes)
{
	size_t rows = (ROWS + BATCH - 1) / BATCH * BATCH;
	size_t bytes = pass(env, batches, q, format, -1);
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	uint64_t best = UINT64_MAX, start, took;

	if (fd < 0)
		die("/dev/null", "cannot open");
	while (passes--) {
		start = now_ns();
		pass(env, batches, q, format, fd);
		took = now_ns() - start;
		best = PDET_MIN(best, took);
	}
	close(fd);
	printf("%-5s %6.1f bytes/row %6.1f ns/row %6.1f M rows/s %5.2f GB/s\n",
	       name, (double)bytes / (double)rows,
	       (double)best / (double)rows,
	       (double)rows * 1e3 / (double)best,
	       (double)bytes / (double)best);
}

int main(int argc, char **argv)
{
	static struct pdet_batch batches[BATCHES];
	struct pdet_emit_query q = {
		.target = PAGEDET_TARGET_SCAN,
		.page_size = 4096,
	};
	struct pdet_env env = { 0 };
	int passes = argc > 1 ? atoi(argv[1]) : 5;
	uint64_t random = 88172645463325252u;
	unsigned i;

	pdet_fields_add(&q.fields, PAGEDET_FIELD_PFN);
	pdet_fields_add(&q.fields, PAGEDET_FIELD_KIND);
	pdet_fields_add(&q.fields, PAGEDET_FIELD_FLAGS);
	pdet_fields_add(&q.fields, PAGEDET_FIELD_FLAGS_KNOWN);
	pdet_fields_add(&q.fields, PAGEDET_FIELD_MAPCOUNT);
	pdet_fields_add(&q.fields, PAGEDET_FIELD_MEMCG_INO);
	for (i = 0; i < BATCHES; i++) {
		if (!pdet_batch_init(&batches[i], &q.fields, BATCH, 4096))
			die("cannot begin", "no memory");
		fill(&batches[i], 1000000 + (uint64_t)i * BATCH, &random);
	}
	measure(&env, batches, &q, PAGEDET_FORMAT_JSON, "json", passes);
	measure(&env, batches, &q, PAGEDET_FORMAT_CSV, "csv", passes);
	measure(&env, batches, &q, PAGEDET_FORMAT_TEXT, "text", passes);
	for (i = 0; i < BATCHES; i++)
		pdet_batch_free(&batches[i]);
	return 0;
}
