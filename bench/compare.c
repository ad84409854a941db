/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * compare - peer, raw bound and library side by side; bench/run calls it with
 * what each comparison needs, and makes tables of its lines.
 *
 *   compare scan                       whole memory, flags, summary
 *   compare lines FILE                 one record a page, written to FILE
 *   compare task NAME PID [FASTER [MOST]]  all pages of a task; MOST: columns
 *                                      to the raw calls
 *   compare lookup PID ADDR LEN        one address after the other
 *   compare page PFN                   one page, whole process
 *   compare mappers PFN PID...         who maps it; peers ask these processes
 *   compare index                      mappings of all processes
 *   compare file NAME PATH [FASTER [MOST]]  flags of cached pages
 *   compare count PATH                 number of cached pages
 *   compare check PATH                 whether its pages are clean
 *   compare rss NAME ARG...            memory used by "pagedet ARG..."
 *   compare bpf BARE_BPF BLOCKS        whole memory, read through BPF
 *   compare bpf-page PFN               one page through BPF
 *   compare dump-open NAME DUMP PFN MOST-MS MOST-MS-WITH-TYPES
 *   compare dump-page NAME DUMP PFN    one page of a dump, warm
 *   compare dump-mappers DUMP PFN MAPPED  who maps it
 *   compare dump-scan NAME DUMP THEIRS BLOCKS THREADS
 *                                      every struct page; BLOCKS names a file
 *                                      with what memmap_of says
 *   compare dump-sweep CODEC DUMP FASTER  all bytes, by read_dump
 *   compare dump-rss NAME ARG...       memory used, 64 MiB at most
 *   compare owners FILE N FASTER       page_owner's text, N threads
 *   compare owners-stack FILE N        the same by stack, and from a pipe
 *   compare owners-rss FILE KEYS       memory used, 64 MiB at most
 *   compare content NAME FILE MIB     class, hash, entropy of its pages in
 *                                      memory
 *   compare detective ROOT LIBEXEC ADDR  one question to Page Detective, played
 *                                      by fake_detective
 *   compare trace-iterate TRACE.DAT    a trace of allocations
 *   compare trace-report TRACE.DAT     the same, whole process
 *   compare trace-perf PERF.DATA       and one of perf
 *   compare track                      writes to 1 GiB: arm, read, read and arm
 *   compare explain                    a thousand mismatches: evidence, rules
 *   compare snapshot FILE              all memory into FILE and out of it
 *   compare map SOURCE                 a picture of memory
 *   compare log NAME FILE              pages in a kernel log
 *   compare kmap FILE MB OBJECTS       objects of a KMAP in groups
 *   compare diff FILE FILE             all memory twice, and what changed
 *   compare rows DIR N                 the N frames of "makeproc frames" as
 *                                      rows into a file and out of it: time,
 *                                      and memory, 64 MiB at most
 *   compare stacks PID THREADS         user stacks of a process
 *   compare version                    of the library
 *
 * PAGE_TYPES, FINCORE and PAGEDET name the programs; DUMP_CRASH, DUMP_DRGN and
 * DUMP_KDUMPFILE, TRACECMD_ITERATE, TRACE_CMD, PERF and EU_STACK those that
 * need not be there, NO_DUMP_CRASH ... why.
 */
#include <stdio.h>
#include <string.h>

#include "compare.h"

void compare_same(const char *what, uint64_t got, uint64_t want)
{
	uint64_t off = got > want ? got - want : want - got;

	if (off > want / 20)
		probe_die("%s: the library saw %llu, the raw calls %llu", what,
			  (unsigned long long)got, (unsigned long long)want);
}

static int print_version(int argc, char **argv)
{
	(void)argv;
	if (argc)
		return 64;
	printf("%s\n", pagedet_version());
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} command[] = {
		{ "scan", compare_scan }, { "lines", compare_lines },
		{ "task", compare_task }, { "lookup", compare_lookup },
		{ "page", compare_page }, { "mappers", compare_mappers },
		{ "index", compare_index }, { "top", compare_top },
		{ "file", compare_file },
		{ "count", compare_count }, { "rss", compare_rss },
		{ "check", compare_check },
		{ "bpf", compare_bpf }, { "bpf-page", compare_bpf_page },
		{ "dump-open", compare_dump_open },
		{ "dump-page", compare_dump_page },
		{ "dump-mappers", compare_dump_mappers },
		{ "dump-scan", compare_dump_scan },
		{ "dump-sweep", compare_dump_sweep },
		{ "dump-rss", compare_dump_rss },
		{ "owners", compare_owners },
		{ "owners-stack", compare_owners_stack },
		{ "owners-rss", compare_owners_rss },
		{ "content", compare_content },
		{ "detective", compare_detective },
		{ "trace-iterate", compare_trace_iterate },
		{ "trace-report", compare_trace_report },
		{ "trace-perf", compare_trace_perf },
		{ "track", compare_track },
		{ "map", compare_map }, { "log", compare_log },
		{ "kmap", compare_kmap },
		{ "explain", compare_explain },
		{ "snapshot", compare_snapshot },
		{ "diff", compare_diff },
		{ "rows", compare_rows },
		{ "stacks", compare_stacks },
		{ "version", print_version },
	};
	int status = 64;
	size_t i;

	for (i = 0; argc > 1 && i < PROBE_COUNT_OF(command); i++)
		if (!strcmp(argv[1], command[i].name))
			status = command[i].run(argc - 2, argv + 2);
	if (status == 64)
		fprintf(stderr, "compare: the comment at the top of"
			" bench/compare.c says how it is called\n");
	return status;
}
