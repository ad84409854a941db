/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The table of commands: what each takes, what it does, how it explains
 * itself. A command whose work needs a part that this version lacks says so.
 */
#include <string.h>

#include "cli.h"

#define PFN_HELP \
	"A PFN (page frame number) is decimal, or hex with 0x; a leading\n" \
	"zero is decimal. FIRST+COUNT is a range of pages.\n"

#define ADDRESS_HELP \
	"An address is hex, with or without 0x. LEN is a number of bytes:\n" \
	"decimal, or hex with 0x; every page that it touches is answered.\n"

#define FILE_RANGE_HELP \
	"FIRST and COUNT are page offsets and a number of pages (4 KiB on\n" \
	"most machines): decimal, or hex with 0x; one page without COUNT,\n" \
	"everything without FIRST.\n"

#define CACHED_HELP \
	"Only pages that are cached are rows, and nothing is read into the\n" \
	"cache. Without a source that reads kernel memory they are mapped\n" \
	"for a moment to be seen: then 'notes' says perturbed.\n"

#define MAPPED_HELP \
	"Of a captured tree (--root) only pages that a task maps are seen;\n" \
	"the status is then 2.\n"

#define QUERY(id) .target = PAGEDET_TARGET_##id, .run = cli_run_query
#define NOTHING(text) .nothing = (text)
#define WORDS(min, max) .min_words = (min), .max_words = (max)

const struct cli_command cli_commands[] = {
	{ "page", "PFN[+COUNT]... | -", "pages by page frame number",
	  PFN_HELP
	  "- reads the numbers from standard input, separated by blanks or\n"
	  "newlines. A table begins when the list has ended. JSON and CSV of a\n"
	  "list longer than 65536 come in steps, and have the field 'ask' only\n"
	  "if it is asked for by name.\n",
	  .parse = cli_parse_pfns_or_stdin, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(PFN) },
	{ "phys", "ADDR[+LEN]...", "pages by physical address",
	  ADDRESS_HELP
	  "For the ADDR of a machine check, or an EDAC page plus offset.\n",
	  .parse = cli_parse_phys, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(PHYS) },
	{ "virt", "PID ADDR[+LEN]...", "pages by virtual address of a task",
	  ADDRESS_HELP
	  "Addresses without a page get a row too: kind 'untouched' within a\n"
	  "mapping, 'unmapped' outside.\n",
	  .parse = cli_parse_virt, WORDS(2, -1),
	  NOTHING("there is no such page"), QUERY(VIRT) },
	{ "task", "PID...", "every page of a task",
	  "A row for every address that has an entry in the page tables:\n"
	  "present, swapped, guarded, migrating or poisoned.\n",
	  .parse = cli_parse_tasks, WORDS(1, -1),
	  NOTHING("the page tables have no entry"), QUERY(TASK), .wide = true },
	{ "file", "PATH [FIRST[+COUNT]]...", "cached pages of a file",
	  FILE_RANGE_HELP CACHED_HELP MAPPED_HELP,
	  .parse = cli_parse_file, WORDS(1, -1),
	  NOTHING("no page of it is cached"), QUERY(FILE), .wide = true },
	{ "tree", "DIR", "cached pages of all files below DIR",
	  CACHED_HELP
	  "Stays on the filesystem of DIR and follows no links.\n"
	  MAPPED_HELP,
	  .parse = cli_parse_path, WORDS(1, 1),
	  NOTHING("no page of it is cached"), QUERY(TREE), .wide = true },
	{ "mount", "PATH", "cached pages of a whole filesystem",
	  CACHED_HELP
	  "PATH is where it is mounted, or any file on it.\n"
	  MAPPED_HELP,
	  .parse = cli_parse_path, WORDS(1, 1),
	  NOTHING("no page of it is cached"), QUERY(MOUNT), .wide = true },
	{ "block", "DEV FIRST[+COUNT]...", "cached pages of a block device",
	  FILE_RANGE_HELP CACHED_HELP,
	  .parse = cli_parse_file, WORDS(1, -1),
	  NOTHING("no page of it is cached"), QUERY(BLOCK), .wide = true },
	{ "cgroup", "PATH", "pages charged to a cgroup",
	  "PATH is the cgroup's directory, below /sys/fs/cgroup or as the\n"
	  "kernel names it. Pages of cgroups below it count too.\n",
	  .parse = cli_parse_path, WORDS(1, 1),
	  NOTHING("no page is charged to it"), QUERY(CGROUP), .wide = true },
	{ "kaddr", "ADDR...", "pages by kernel address",
	  "ADDR is hex, with or without 0x. In a struct page it means the page\n"
	  "that it describes, else the page that it is mapped to; --as says\n"
	  "what it is: memory, a page (struct page) or a folio, which means the\n"
	  "first page of it. 'object' says what is at the address, 'vma_name' in\n"
	  "which area it is. Needs a dump, or a source that can read the running\n"
	  "kernel's memory.\n",
	  .parse = cli_parse_kaddrs, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(KADDR),
	  .fields = "cheap,map,vma_name,slab_cache,object" },
	{ "from-log", "[FILE]", "page references in kernel log text",
	  "Answers of Page Detective, blocks of dump_page(), and reports: bad\n"
	  "pages, memory failures, machine checks, EDAC, SLUB, KASAN, lists, I/O\n"
	  "errors ('report' says which), in the output of dmesg, a console's or\n"
	  "syslog's log, or records of /dev/kmsg; plain or compressed. Reads\n"
	  "standard input if no FILE is named. Each reference gives a row with\n"
	  "what the text says (at: log) and one with what the kernel or dump says\n"
	  "now (at: now, noted 'changed' if it is another page by now);\n"
	  "--text-only leaves the second out. Numbers of pages and addresses in\n"
	  "the log are read as hex, as the kernel writes them there.\n",
	  .parse = cli_parse_log, WORDS(0, 1),
	  NOTHING("no page is mentioned"), QUERY(LOG) },
	{ "scan", "", "every page of memory",
	  "PFNs without memory are skipped. Most useful with --where,\n"
	  "--summary or --by.\n",
	  .parse = cli_parse_nothing, WORDS(0, 0),
	  NOTHING("there is no memory to see"), QUERY(SCAN), .wide = true },
	{ "mappers", "PFN[+COUNT]...", "who maps a page",
	  PFN_HELP
	  "A row for each mapping, then for each PFN how many were found, how\n"
	  "many the kernel counts, and which tasks could not be read. Mappings\n"
	  "of the kernel's own are rows in a dump; of the running kernel, if\n"
	  "kernel_maps is among the fields.\n",
	  .parse = cli_parse_pfns, WORDS(1, -1),
	  NOTHING("nobody maps it"), QUERY(MAPPERS), .wide = true,
	  .fields = "pfn,map,pid,tgid,comm,vaddr,pte,vma" },
	{ "stack", "PFN[+COUNT]...", "who allocated and freed a page",
	  PFN_HELP
	  "The last allocation and the last free, each with the functions that\n"
	  "led to it. Kernels know that if they were built with\n"
	  "CONFIG_PAGE_OWNER and started with page_owner=on. Needs a dump, or a\n"
	  "source that can read the running kernel's memory.\n",
	  .parse = cli_parse_pfns, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(PFN), .stacks = true,
	  .fields = "pfn,kind,alloc_stack,alloc_pid,alloc_tgid,alloc_comm,"
		    "alloc_ns,gfp_mask,gfp,alloc_order,allocator,"
		    "migrate_reason,free_stack,free_ns" },
	{ "explain", "page PFN... | mismatch PID ADDR...",
	  "why a page is as it is",
	  "page says why a page is not free, or what --why asks: free, migrate,\n"
	  "pinned, reclaim, charge, poison, leak, or several of them. mismatch\n"
	  "says why contents differ from those that a migration left at its\n"
	  "peer: run it there with --save FILE, and here with --peer FILE, under\n"
	  "one --hash-key. Both sides must be frozen. Exits 0 if there is a\n"
	  "cause, 1 if there is nothing to explain, 2 if it cannot tell.\n",
	  .parse = cli_parse_explain, WORDS(2, -1),
	  .run = cli_run_explain },
	{ "check", "WHAT PATH [FIRST[+COUNT]]", "filesystem assertions",
	  "WHAT is what is asserted of the cached pages of a file or of a block\n"
	  "device:\n"
	  "  clean      none is dirty or under writeback\n"
	  "  absent     none is cached\n"
	  "  disk       they are what is on the disk; one that is not and is\n"
	  "             clean is a lost write\n"
	  "  committed  they are what a crash now and a replay of the journal\n"
	  "             would leave there (ext4, xfs)\n"
	  "  stable     none changes while it is written out (--watch SECONDS)\n"
	  "'check mark FILE' notes what counts errors, and has the kernel trace\n"
	  "failed writeback; 'check errors --since FILE [PATH]' says whether any\n"
	  "failed: of a file, of a directory's filesystem, of a device's, or at\n"
	  "all. 'check unmark FILE' ends the trace. Nothing is read in or written\n"
	  "out. The status is 0 if it holds, 1 if it is violated, 2 if that\n"
	  "cannot be told.\n"
	  FILE_RANGE_HELP,
	  .parse = cli_parse_check, WORDS(1, 3), .run = cli_run_check },
	{ "snapshot", "FILE [COMMAND ...]", "save the rows of a query",
	  "Saves every row of COMMAND (default scan), with the options that it\n"
	  "takes, to be looked at later: --from FILE scan lists them, with\n"
	  "--where, --by and all the rest; of a saved scan page and phys find\n"
	  "single pages. What was not saved cannot be asked: --fields says what\n"
	  "is. FILE gets its name when it is complete; - is standard output.\n",
	  .wrap = cli_wrap_snapshot },
	{ "diff", "A B", "what changed from one to the other",
	  "A and B are snapshots, dumps, or live. What a snapshot was the answer\n"
	  "to is asked of the other, too; otherwise all of memory is compared.\n"
	  "Pages belong together by frame; those of tasks by address, those of\n"
	  "files by their place in it, also from one host to another. A change is\n"
	  "appeared, gone, reused (another page in its place), migrated or moved\n"
	  "(in another place now), split, merged, flags, owner, mapcount, memcg,\n"
	  "content or other. What a side does not know is no change. --summary\n"
	  "only counts. The status is 0 if nothing changed, 1 if something did,\n"
	  "2 if that cannot be told.\n",
	  .parse = cli_parse_diff, WORDS(2, 2), .run = cli_run_diff,
	  .wide = true, .compares = true },
	{ "owners", "[FILE]", "page_owner's records, grouped",
	  "FILE is text of /sys/kernel/debug/page_owner or of the files in\n"
	  "page_owner_stacks, plain or compressed by gzip, zstd or xz; - is\n"
	  "standard input. Without it the running kernel is asked, or the dump\n"
	  "of --from. Groups --by stack (default), pid, tgid, comm, memcg_name,\n"
	  "order, gfp, migratetype, allocator, module, slab, migrate_reason or\n"
	  "window, or several of them; each says how many times pages were\n"
	  "allocated, how many are in use, and when the oldest and the newest\n"
	  "were, in time since boot. --before FILE says what has grown.\n",
	  .parse = cli_parse_owners, WORDS(0, 1),
	  NOTHING("no record matched"), .run = cli_run_owners, .wide = true,
	  .groups = true },
	{ "kmem", "record | report | check", "allocation traces",
	  "", .needs = "the reader of allocation trace points" },
	{ "kmap", "report | on | off | clear | stats", "allocation maps",
	  "", .needs = "the reader of the Memorizer's allocation maps" },
	{ "map", "[A B]", "a picture of physical memory",
	  "Writes SVG, to standard output or with -o. Every cell has the colour\n"
	  "of what most of its pages are: their kind, or another field --by,\n"
	  "such as flags, memcg_path, zone or alloc_comm. The cells follow\n"
	  "Hilbert's curve, which keeps neighbours together, or --layout linear.\n"
	  "Poisoned and offline pages are marked, also a single one. With --where\n"
	  "only what matches has a colour; the rest is pale. With A and B, as of\n"
	  "diff, the colours say what changed.\n",
	  .parse = cli_parse_map, WORDS(0, 2),
	  NOTHING("there is no memory to see"), QUERY(SCAN), .wide = true,
	  .picture = true },
	{ "doctor", "", "what can be answered here, and what not",
	  "For each field and each source: whether it can be answered, why\n"
	  "not, and what would make it possible.\n",
	  .parse = cli_parse_nothing, WORDS(0, 0), .run = cli_run_doctor },
	{ NULL, NULL, NULL, NULL, .max_words = 0 },
};

const struct cli_command *cli_command_find(const char *name)
{
	const struct cli_command *c;

	for (c = cli_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
