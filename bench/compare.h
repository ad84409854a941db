/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the comparisons share; one function per command of bench/compare.c. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "pagedet.h"
#include "probe.h"
#include "trial.h"

/* --- drain.c: the library's side --- */

struct drain {
	struct pagedet *pd;
	struct pagedet_query query;
	/* results of the last run */
	uint64_t rows;
	uint64_t pages;		/* sum of the column, where there is one */
};

void drain_open(struct drain *d);
/* Of a dump, or NULL; and PAGEDET_SOURCE_BIT()s, or 0 for all. */
void drain_open_from(struct drain *d, const char *file, uint32_t sources);
void drain_close(struct drain *d);
void drain_want(struct drain *d, uint32_t field);
/* Asks, takes all columns, ends the query; the ns of all of it. @arg is the
 * drain. */
uint64_t drain_run(void *arg);
/* Dies with the library's words. */
void drain_die(const struct drain *d, const char *what)
	__attribute__((noreturn));

/* Dies if the two sides of a comparison did not see the same: @got must be
 * @want, give or take one in twenty for what changes meanwhile. */
void compare_same(const char *what, uint64_t got, uint64_t want);

/* --- plain_hash.c --- */

#define COMPARE_SECRET 192
/* The low half of a page's XXH3-128 under a secret of so many bytes. */
uint64_t compare_plain_hash(const void *page, size_t n, const void *secret);

/* --- one file each; argv begins after the name of the command --- */
int compare_scan(int argc, char **argv);
int compare_lines(int argc, char **argv);
int compare_task(int argc, char **argv);
int compare_lookup(int argc, char **argv);
int compare_page(int argc, char **argv);
int compare_map(int argc, char **argv);
int compare_log(int argc, char **argv);
int compare_kmap(int argc, char **argv);
int compare_top(int argc, char **argv);
int compare_mappers(int argc, char **argv);
int compare_index(int argc, char **argv);
int compare_file(int argc, char **argv);
int compare_count(int argc, char **argv);
int compare_check(int argc, char **argv);
int compare_rss(int argc, char **argv);
int compare_bpf(int argc, char **argv);
int compare_bpf_page(int argc, char **argv);
int compare_dump_open(int argc, char **argv);
int compare_dump_page(int argc, char **argv);
int compare_dump_mappers(int argc, char **argv);
int compare_dump_scan(int argc, char **argv);
int compare_dump_sweep(int argc, char **argv);
int compare_dump_rss(int argc, char **argv);
int compare_owners(int argc, char **argv);
int compare_owners_stack(int argc, char **argv);
int compare_owners_rss(int argc, char **argv);
int compare_content(int argc, char **argv);
int compare_detective(int argc, char **argv);
int compare_trace_iterate(int argc, char **argv);
int compare_trace_report(int argc, char **argv);
int compare_trace_perf(int argc, char **argv);
int compare_track(int argc, char **argv);
int compare_explain(int argc, char **argv);
int compare_snapshot(int argc, char **argv);
int compare_diff(int argc, char **argv);
int compare_rows(int argc, char **argv);
int compare_stacks(int argc, char **argv);

#endif
