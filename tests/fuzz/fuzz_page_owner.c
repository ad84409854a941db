/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes page_owner's text, whole and cut, and checks the sums of its groups.
 * The first byte gives the cut.
 */
#include "fuzz.h"
#include "kernel/owner/blocks.h"
#include "kernel/owner/handles.h"
#include "owners/count.h"
#include "owners/mixed.h"
#include "pagedet.h"

static const struct pdet_owner_asked asked = {
	.by = { PAGEDET_OWNER_STACK, PAGEDET_OWNER_COMM, PAGEDET_OWNER_GFP,
		PAGEDET_OWNER_MEMCG_NAME, PAGEDET_OWNER_MODULE,
		PAGEDET_OWNER_WINDOW, PAGEDET_OWNER_MIGRATETYPE,
		PAGEDET_OWNER_PAGE_MOBILITY, PAGEDET_OWNER_BLOCK },
	.n_by = 9, .window_ns = 1000,
};

static const struct pdet_owner_asked mixed = {
	.by = { PAGEDET_OWNER_NODE, PAGEDET_OWNER_ZONE,
		PAGEDET_OWNER_MIGRATETYPE, PAGEDET_OWNER_BLOCK },
	.n_by = 4, .mixed = true,
};

static void check_inside(const struct pdet_scan *part, const char *text,
			 size_t n)
{
	MUST(part->at <= part->end);
	MUST(part->at == part->end ||
	     (part->at >= text && part->end <= text + n));
}

static uint64_t cut_records(const char *data, size_t n, bool last,
			    unsigned skip)
{
	struct pdet_scan text = { data, data + n };
	struct pdet_owner_record r;
	uint64_t records = 0;
	const char *before = text.at;
	enum pdet_owner_is is;

	while ((is = pdet_owner_next(&text, last, skip, &r)) !=
	       PDET_OWNER_END) {
		MUST(text.at > before && text.at <= text.end);
		before = text.at;
		if (is == PDET_OWNER_DAMAGED)
			continue;
		records = records + r.times < r.times ? UINT64_MAX :
						records + r.times;
		check_inside(&r.gfp, data, n);
		check_inside(&r.comm, data, n);
		check_inside(&r.type, data, n);
		check_inside(&r.block_type, data, n);
		check_inside(&r.flags, data, n);
		check_inside(&r.stack, data, n);
		check_inside(&r.reason, data, n);
		check_inside(&r.memcg, data, n);
		MUST(r.order < 64 && r.comm.end - r.comm.at <= 15);
		MUST(r.has & PDET_OWNER_STACK_ONLY ||
		     r.pages == (uint64_t)1 << r.order);
	}
	MUST(text.at == text.end);
	return records;
}

/*
 * A filter may drop records, so there are at least as many. A part of a record
 * that is skipped may be damaged.
 */
static void count(const char *data, size_t n)
{
	struct pdet_owner_count c;
	uint64_t records, times = 0;
	size_t i;

	MUST(pdet_owner_count_init(&c, &asked));
	records = cut_records(data, n, true, c.skip);
	MUST(pdet_owner_count_block(&c, data, n, true));
	for (i = 0; i < c.table.totals.n; i++) {
		const struct pdet_owner_total *t = &c.table.totals.data[i];

		times = times + t->times < times ? UINT64_MAX :
						  times + t->times;
		MUST(t->times || t->oldest > t->newest);
	}
	MUST(times <= records);
	MUST(c.left.text_bytes == n);
	pdet_owner_count_free(&c);
}

static void count_mixed(const char *data, size_t n)
{
	struct pdet_owner_count c;
	uint64_t records, blocks;
	size_t groups, i;

	MUST(pdet_owner_count_init(&c, &mixed));
	records = cut_records(data, n, true, c.skip);
	MUST(pdet_owner_count_block(&c, data, n, true));
	groups = c.table.totals.n;
	MUST(groups <= records);
	MUST(pdet_mixed_fold(&c.table, &blocks));
	MUST(blocks <= groups && !blocks == !groups);
	for (i = 0; i < c.table.totals.n; i++)
		groups -= c.table.totals.data[i].blocks;
	MUST(!groups);
	pdet_owner_count_free(&c);
}

/* Reads it as a file. Ends of lines may be those of another system. */
static void read_blocks(const char *data, size_t n)
{
	struct pdet_text_stream *stream;
	struct pdet_owner_blocks blocks;
	struct pdet_env env = { 0 };
	char *buf = malloc(PDET_OWNER_BLOCK);
	struct pdet_scan head;
	size_t plain;
	ssize_t size;

	MUST(pdet_text_stream_memory(&env, data, n, "text", &stream) == 0);
	if (pdet_owner_blocks_begin(&blocks, stream, &env, &head) == 0) {
		while ((size = pdet_owner_blocks_read(&blocks, &env, buf)) >
		       0) {
			plain = pdet_owner_blocks_plain(&blocks, buf,
							(size_t)size);
			MUST(plain <= (size_t)size);
			MUST(!blocks.crlf || !memmem(buf, plain, "\r\n", 2) ||
			     memmem(data, n, "\r\r\n", 3));
			cut_records(buf, plain, false, 0);
		}
	}
	pdet_text_stream_close(stream);
	free(buf);
}

static void list_stacks(const char *data, size_t n)
{
	struct pdet_owner_handles h = { .text = { malloc(n + 1), n } };
	struct pdet_scan stack;
	size_t i;

	memcpy(h.text.data, data, n);
	h.text.data = realloc(h.text.data, n ? n : 1);
	if (pdet_owner_handles_parse(&h) == 0)
		MUST(h.list.n);
	for (i = 0; i < h.list.n; i++) {
		check_inside(&h.list.data[i], h.text.data, n);
		MUST(*h.list.data[i].at == ' ');
	}
	if (pdet_owner_handles_find(&h, 5, &stack))
		check_inside(&stack, h.text.data, n);
	pdet_owner_handles_free(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	char *copy;
	size_t n;

	if (!size)
		return 0;
	n = (size - 1) * (data[0] + 1) / 256;
	/* A buffer of exact size. */
	copy = malloc(n + 1);
	memcpy(copy, text, n);
	copy = realloc(copy, n ? n : 1);
	cut_records(copy, n, false, 0);
	count(copy, n);
	count_mixed(copy, n);
	read_blocks(copy, n);
	list_stacks(copy, n);
	free(copy);
	return 0;
}
