/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The table of commands: arguments, functions and help. */
#include <string.h>

#include "cli.h"

#define PFN_HELP \
	"A PFN (page frame number) is decimal, or hex with 0x; a leading\n" \
	"zero does not make it octal. PFN+COUNT is a range of pages.\n"

#define ADDRESS_HELP \
	"An address is hex, with or without 0x; a note says so if it could\n" \
	"be decimal. LEN is a number of bytes, decimal, or hex with 0x, or\n" \
	"of KiB, MiB or GiB: 64k, 1M, 2G. Every page that the bytes touch\n" \
	"is shown.\n"

#define PID_HELP \
	"PID is a process or thread id, or the name of a process as ps\n" \
	"shows it, or self, which is pagedet itself.\n"

#define FILE_RANGE_HELP \
	"FIRST is a page offset and COUNT a number of pages (4 KiB on most\n" \
	"machines), decimal, or hex with 0x. Without COUNT, one page is\n" \
	"shown; without FIRST, the whole file.\n"

#define CACHED_HELP \
	"Rows are the cached pages; nothing is read into the cache. The\n" \
	"pages of a file of 256 MiB or more are found in kernel memory, if\n" \
	"that can be read. Other files are mapped for a moment; then\n" \
	"'notes' says perturbed.\n"

#define SUMMARY_HELP \
	"A terminal gets a summary. --all, --fields, --where or a format\n" \
	"lists the pages. An output that is not a terminal gets the list.\n"

#define MAPPED_HELP \
	"A captured tree (--root) shows only pages that a task maps; the\n" \
	"status is then 2.\n"

#define LIST_HELP \
	"- reads a list from standard input: PATH [FIRST [COUNT]] on each\n" \
	"line, or with --null before each NUL byte. Numbers at the end are\n" \
	"a range, unless a file has the whole name; after a TAB they always\n" \
	"are. If a path cannot be opened, pagedet says so, answers for the\n" \
	"others, and exits with status 2. --summary counts by path.\n"

#define QUERY(id) \
	.target = PAGEDET_TARGET_##id, .run = cli_run_query, .rows = true
#define NOTHING(text) .nothing = (text)
#define WORDS(min, max) .min_words = (min), .max_words = (max)

const struct cli_command cli_commands[] = {
	{ "page", "PFN[+COUNT]... | -", "pages by page frame number",
	  PFN_HELP
	  "- reads the numbers from standard input, separated by blanks or\n"
	  "newlines. A table is printed after the end of the list. JSON and CSV\n"
	  "of more than 65536 numbers are written while the list is read, and\n"
	  "have the field 'ask' only if --fields names it.\n",
	  .parse = cli_parse_pfns_or_stdin, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(PFN) },
	{ "phys", "ADDR[+LEN]...", "pages by physical address",
	  ADDRESS_HELP
	  "For the ADDR of a machine check, or an EDAC page plus offset.\n",
	  .parse = cli_parse_phys, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(PHYS) },
	{ "virt", "PID [ADDR[+LEN] | AREA]...",
	  "pages by virtual address of a task",
	  PID_HELP ADDRESS_HELP
	  "AREA is the name of a line of /proc/PID/maps: heap, stack, '[vdso]', a\n"
	  "path, or the last part of a path, such as libc.so.6. Without an\n"
	  "address it is the same as task PID. PID:ADDR is PID ADDR.\n"
	  "An address without a page gets a row, too: kind 'untouched' inside a\n"
	  "mapping, 'unmapped' outside.\n",
	  .parse = cli_parse_virt, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(VIRT) },
	{ "task", "PID...", "every page of a task",
	  PID_HELP
	  "If several processes have the name, all of them are shown. 'all'\n"
	  "means every process.\n"
	  "There is a row for each address with an entry in the page tables:\n"
	  "present, swapped, guarded, migrating or poisoned.\n"
	  SUMMARY_HELP,
	  .parse = cli_parse_tasks, WORDS(1, -1),
	  NOTHING("the page tables have no entry"), QUERY(TASK), .wide = true },
	{ "file", "PATH [FIRST[+COUNT]]... | -", "cached pages of a file",
	  "You can name several files, each with its ranges.\n"
	  FILE_RANGE_HELP CACHED_HELP SUMMARY_HELP MAPPED_HELP LIST_HELP,
	  .parse = cli_parse_files, WORDS(1, -1),
	  NOTHING("no page of it is cached"), QUERY(FILE), .wide = true },
	{ "tree", "DIR | -", "cached pages of all files below DIR",
	  CACHED_HELP
	  "The command stays on the filesystem of DIR and follows no links.\n"
	  SUMMARY_HELP
	  MAPPED_HELP LIST_HELP,
	  .parse = cli_parse_paths, WORDS(1, 1),
	  NOTHING("no page of it is cached"), QUERY(TREE), .wide = true },
	{ "mount", "PATH", "cached pages of a whole filesystem",
	  CACHED_HELP
	  "PATH is the mount point, or any file on the filesystem.\n"
	  MAPPED_HELP,
	  .parse = cli_parse_path, WORDS(1, 1),
	  NOTHING("no page of it is cached"), QUERY(MOUNT), .wide = true },
	{ "block", "DEV [FIRST[+COUNT]]...", "cached pages of a block device",
	  FILE_RANGE_HELP CACHED_HELP,
	  .parse = cli_parse_file, WORDS(1, -1),
	  NOTHING("no page of it is cached"), QUERY(BLOCK), .wide = true },
	{ "cgroup", "PATH", "pages charged to a cgroup",
	  "PATH is the directory of the cgroup, below /sys/fs/cgroup, relative\n"
	  "such as '.', or as the kernel names it. Pages of cgroups below it\n"
	  "count, too. The kernel charges slab objects one by one, not as pages,\n"
	  "so they are not counted. The summary also shows the kernel's own\n"
	  "count, which includes them.\n"
	  SUMMARY_HELP,
	  .parse = cli_parse_cgroup, WORDS(1, 1),
	  NOTHING("no page is charged to it"), QUERY(CGROUP), .wide = true },
	{ "kaddr", "ADDR | SYMBOL[+OFFSET]...", "pages by kernel address",
	  "ADDR is hex, with or without 0x. SYMBOL is a name as in\n"
	  "/proc/kallsyms; a word that can be both is an address.\n"
	  "An address in a struct page means the page that it describes; any\n"
	  "other address means the page that it is mapped to. --as chooses:\n"
	  "memory, page (that struct page) or folio (the first page of its\n"
	  "folio). 'object' says what is at the address, and 'vma_name' which\n"
	  "area the address is in. This needs a dump, or a source that reads the\n"
	  "memory of the running kernel.\n",
	  .parse = cli_parse_kaddrs, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(KADDR),
	  .fields = "cheap,map,vma_name,slab_cache,object" },
	{ "from-log", "[FILE]", "page references in kernel log text",
	  "Each event is a line: when, what, why in the kernel's words, and\n"
	  "which page. FILE is the output of dmesg or journalctl, the log of a\n"
	  "console or of syslog, or records of /dev/kmsg, plain or compressed.\n"
	  "Without FILE it is standard input, or with --from DUMP the log in the\n"
	  "dump ('-' is then standard input). An event is an answer of Page\n"
	  "Detective, a block of dump_page(), or a report ('report' says which):\n"
	  "bad pages, memory failures, pages that cannot be migrated, machine\n"
	  "checks, EDAC, SLUB, KASAN, KFENCE, lists, I/O errors, hung tasks,\n"
	  "faults of programs.\n"
	  "--details and --json have all fields, in two rows for each page: what\n"
	  "the text says (at: log), and what the kernel or dump says now (at:\n"
	  "now; the note 'changed' means that it is another page by now). For the\n"
	  "running kernel the second row is shown only if the log is of this\n"
	  "boot; --now shows it always, --text-only never. Page frame numbers\n"
	  "and addresses in the log are read as hex, as the kernel writes them.\n",
	  .parse = cli_parse_log, WORDS(0, 1),
	  NOTHING("the log mentions no page"), .target = PAGEDET_TARGET_LOG,
	  .run = cli_run_log },
	{ "scan", "", "every page of memory",
	  "PFNs without memory are skipped. This is most useful with --where,\n"
	  "--summary or --by. A terminal gets a summary by kind; --all lists\n"
	  "the pages.\n",
	  .parse = cli_parse_nothing, WORDS(0, 0),
	  NOTHING("there is no memory to see"), QUERY(SCAN), .wide = true },
	{ "top", "[process | cgroup | file | slab | kind | alloc [TRACE]]",
	  "what uses most memory",
	  "For processes (the default) the columns are:\n"
	  "  pss      mapped pages; one that N mappings share counts as 1/N\n"
	  "  uss      mapped pages that no other process maps\n"
	  "  rss      all mapped pages\n"
	  "  shared   rss without uss\n"
	  "  dirty    the pages of rss that were written to, also anonymous ones\n"
	  "  swap     pages in swap\n"
	  "They are the kernel's own sums (/proc/PID/smaps_rollup); for a dump,\n"
	  "pages are counted. For a process that may not be read, rss and swap\n"
	  "are known only roughly (~), and the status is 2; rss gives its place.\n"
	  "A remark says if processes explain less than half of the memory in\n"
	  "use: 'pagedet top kind' shows all of it.\n"
	  "For cgroups, files, slab caches and kinds, 'bytes' is the size of all\n"
	  "their pages, and the other columns are the sums over all processes.\n"
	  "Here dirty is what must be written back to files, mapped or not: their\n"
	  "pages with flag 'dirty'. Anonymous memory, tmpfs and shared memory do\n"
	  "not count: they have no file to be written to.\n"
	  "For alloc it is 'kmem report' of TRACE, or of the counts of the running\n"
	  "kernel in /proc/allocinfo, by what is live.\n"
	  "--where counts only the pages for which it is true.\n"
	  "--sort takes a column, pid or comm. A terminal gets as many lines and\n"
	  "columns as fit; --all shows all lines, and --watch repeats them.\n",
	  .wrap = cli_wrap_top, .parse = cli_parse_top, WORDS(0, 1),
	  .run = cli_run_top,
	  NOTHING("no page belongs to one"), .wide = true,
	  .bounds = true },
	{ "mappers", "PFN[+COUNT]... | FILE", "who maps a page or a file",
	  PFN_HELP
	  "FILE is the name of a file that exists, a name with a / in it, or\n"
	  "follows --file; a number is a PFN.\n"
	  "For a file there is a line for each process that maps it: the pages\n"
	  "of the file that it maps now, its own ones in their place because it\n"
	  "wrote to them (copied), and how many pages the range of the mapping\n"
	  "has (virtual), in memory or not. --sort takes these columns, pid or\n"
	  "comm.\n"
	  "For a page there is a row for each mapping. Then a line for each PFN\n"
	  "says how many were found, how many the kernel counts, and which tasks\n"
	  "could not be read. Mappings in the kernel's own page tables are rows\n"
	  "for a dump, and for the running kernel if --fields has kernel_maps.\n",
	  .parse = cli_parse_mappers, WORDS(0, -1),
	  NOTHING("nobody maps it"), .target = PAGEDET_TARGET_MAPPERS,
	  .run = cli_run_mappers, .wide = true,
	  .fields = "pfn,map,pid,tgid,comm,vaddr,pte,vma" },
	{ "stack", "PFN[+COUNT]...", "who allocated and freed a page",
	  PFN_HELP
	  "Shows the last allocation and the last free, each with the functions\n"
	  "that led to it. The kernel must be built with CONFIG_PAGE_OWNER and\n"
	  "started with page_owner=on. This needs a dump, or a source that reads\n"
	  "the memory of the running kernel.\n",
	  .parse = cli_parse_pfns, WORDS(1, -1),
	  NOTHING("there is no such page"), QUERY(PFN), .stacks = true,
	  .fields = "pfn,kind,alloc_stack,alloc_pid,alloc_tgid,alloc_comm,"
		    "alloc_ns,gfp_mask,gfp,alloc_order,allocator,"
		    "migrate_reason,free_stack,free_ns" },
	{ "explain",
	  "[page] PFN... | FILE | virt|mismatch PID ADDR... | crash [LOG]",
	  "why a page is as it is",
	  "A number in the kernel's half (0xffff...) is a kernel address; any\n"
	  "other number is a page frame number. FILE means the same as for\n"
	  "mappers; each finding about its cached pages is printed once, with the\n"
	  "number of pages. A finding for several pages of a folio is printed\n"
	  "once, too.\n"
	  "page says why a page is not free, or answers what --why asks: free,\n"
	  "migrate, pinned, reclaim, charge, poison, leak, or several of them.\n"
	  "virt explains the pages at addresses of a process.\n"
	  "mismatch says why a page here and its copy on the other host, the peer,\n"
	  "differ after a migration: run it there with --save FILE, and here with\n"
	  "--peer FILE, with the same --hash-key. The process must be stopped on\n"
	  "both sides.\n"
	  "crash reads the faults of programs in a kernel log, and says whether\n"
	  "each program ran what its file has. It compares the bytes in the log,\n"
	  "the cached page and the disk; --file names the file.\n"
	  "The status is 0 if there is a cause, 1 if there is nothing to explain,\n"
	  "2 if pagedet cannot tell.\n"
	  "--alternatives lists what each answer could be confused with.\n",
	  .parse = cli_parse_explain, WORDS(0, -1),
	  .run = cli_run_explain },
	{ "check", "WHAT PATH [FIRST[+COUNT]]", "filesystem assertions",
	  "WHAT is an assertion about the cached pages of a file or of a block\n"
	  "device:\n"
	  "  clean      no page is dirty or under writeback\n"
	  "  absent     no page is cached\n"
	  "  disk       the cached bytes are those on the disk; a clean page that\n"
	  "             differs is a lost write\n"
	  "  committed  the cached bytes are what a crash now and a replay of the\n"
	  "             journal would leave (ext4, xfs)\n"
	  "  stable     no page changes while it is written out (--watch SECONDS)\n"
	  "'check mark FILE' saves the error counts and makes the kernel trace\n"
	  "failed writeback. 'check errors --since FILE [PATH]' says whether any\n"
	  "failed since: of a file, of the filesystem of a directory, of a device,\n"
	  "or of any. 'check unmark FILE' ends the trace. Nothing is read in or\n"
	  "written out. The status is 0 if the assertion holds, 1 if it is\n"
	  "violated, 2 if pagedet cannot tell.\n"
	  FILE_RANGE_HELP,
	  .parse = cli_parse_check, WORDS(1, 3), .run = cli_run_check },
	{ "snapshot", "FILE [COMMAND ...]", "save the rows of a query",
	  "Saves every row of COMMAND (default: scan) with its options.\n"
	  "--from FILE scan lists the rows later, with --where, --by and all other\n"
	  "options. page and phys find single pages of a saved scan. --fields\n"
	  "names the fields to save; others cannot be asked for later. FILE gets\n"
	  "its name when it is complete; - is standard output.\n",
	  .wrap = cli_wrap_snapshot },
	{ "diff", "A B", "what changed between A and B",
	  "A and B are snapshots, dumps, or live. If one is a snapshot, the other\n"
	  "is asked the question that the snapshot answers; otherwise all of\n"
	  "memory is compared. Pages are matched by frame, those of tasks by\n"
	  "address, and those of files by their place in the file, also between\n"
	  "two hosts. A change is appeared, gone, reused (another page in its\n"
	  "place), migrated or moved (in another place now), split, merged, flags,\n"
	  "owner, mapcount, memcg, content or other. A field that one side does\n"
	  "not know is not a change. --summary only counts. The status is 0 if\n"
	  "nothing changed, 1 if something did, 2 if pagedet cannot tell.\n",
	  .parse = cli_parse_diff, WORDS(2, 2), .run = cli_run_diff,
	  .wide = true, .compares = true },
	{ "compare", "PID ADDR[+LEN] PID ADDR",
	  "what differs in memory of two processes",
	  ADDRESS_HELP
	  "Reads as many pages of the second process as of the first. --from\n"
	  "says where the first process is, and --with where the second is: live,\n"
	  "a dump, or a snapshot of that memory with its hashes. Bytes are\n"
	  "compared; for a snapshot only hashes, made with one --hash-key. There\n"
	  "is a row for each run of pages that differ in the same way: by how\n"
	  "much, what the page is on either side, what else maps it, and what\n"
	  "explain mismatch says. If more than 4096 pages differ, the first ones\n"
	  "are explained. The processes are not stopped: what they write meanwhile\n"
	  "may differ. The status is 0 if all pages are the same, 1 if some differ,\n"
	  "2 if some could not be compared.\n",
	  .parse = cli_parse_compare, WORDS(4, 4), .run = cli_run_compare },
	{ "owners", "[FILE]", "records of page_owner, grouped",
	  "FILE is the text of /sys/kernel/debug/page_owner or of the files in\n"
	  "page_owner_stacks, plain or compressed by gzip, zstd or xz; - is\n"
	  "standard input. Without FILE the running kernel is asked, or the dump\n"
	  "of --from. --by takes stack (default), pid, tgid, comm, memcg_name,\n"
	  "order, gfp, migratetype, page_mobility, allocator, module, slab,\n"
	  "migrate_reason, window, node, zone or block (the first page of the\n"
	  "page block), or several of them. A group has the number of allocations\n"
	  "in use, the number of their pages, and the times since boot of the\n"
	  "oldest and the newest. --before FILE shows what has grown. --mixed\n"
	  "counts page blocks with pages that asked for another type of block.\n",
	  .parse = cli_parse_owners, WORDS(0, 1),
	  NOTHING("no record matched"), .run = cli_run_owners, .wide = true,
	  .groups = true },
	{ "kmem",
	  "record | report, live, events, blame, check, diff ... TRACE ...",
	  "who allocates what, from a trace",
	  "TRACE is a trace.dat (trace-cmd record -e kmem), a perf.data (perf\n"
	  "record -a -e 'kmem:*', perf kmem record), a text of ftrace or trace-cmd\n"
	  "report, - for a text from standard input, or a directory with copies of\n"
	  "tracefs: cpuN.raw (per_cpu/cpuN/trace_pipe_raw), header_page and\n"
	  "kmem.EVENT.format (from events/), and, where they are, cpuN.stats (taken\n"
	  "after reading), kallsyms and saved_cmdlines. It may be of another\n"
	  "machine. --by takes site (default), function, module, cache, family, cpu,\n"
	  "node, tid, comm, gfp, order, migratetype, bytes_req, bytes_alloc,\n"
	  "lifetime, window or stack, or several of them. A group has the number\n"
	  "of its allocations, the bytes that were requested and that were\n"
	  "allocated, waste (allocated less requested), and what no event of the\n"
	  "trace frees. Pages have no site.\n"
	  "--sort takes these, or a key of --by, and so does --where, for\n"
	  "example 'live>1000 and module=ext4'. --kallsyms, --vmlinux or --from\n"
	  "DUMP names functions. The status is 2 if events were lost. diff, or\n"
	  "report NEW --before OLD, compares two traces; --sort then also takes\n"
	  "live_bytes_grown (the default), live_bytes_before and so on.\n"
	  "live lists what is not freed, with what the kernel says of it now;\n"
	  "events lists all events by time; --where selects: event_ns>=N.\n"
	  "--verify counts, or lists, what is in use by the kernel's own lists.\n"
	  "blame TRACE [PFN] tells who holds blocks of 2 MB, which could be huge\n"
	  "pages otherwise; --by block lists the blocks.\n"
	  "timeline TRACE PFN lists what happened to a page, or to FIRST+COUNT.\n"
	  "check tells what is wrong with a trace, or missing: disorder, frees by\n"
	  "the other family, too few bytes, losses, cuts. The status is 1 if\n"
	  "something is wrong, 2 if something is missing or cannot be told.\n"
	  "record [-o FILE] [--pages] [--stacks] [--for SECONDS | -- PROGRAM]\n"
	  "records into FILE, or kmem.dat, until Ctrl-C or --max-size if nothing\n"
	  "else ends it. It records the allocations of all processes, also while\n"
	  "PROGRAM runs; 'report --by site,comm --where comm=NAME' shows those of\n"
	  "some. With --totals the kernel adds up, and there are groups as\n"
	  "of report, with what is freed and live only if --frees is there, too.\n",
	  .wrap = cli_wrap_kmem, .parse = cli_parse_kmem, WORDS(1, 3),
	  NOTHING("the trace has no allocation"), .run = cli_run_kmem,
	  .wide = true, .groups = true },
	{ "kmap",
	  "report, calls FILE | diff A B | watch ADDR | record | on ...",
	  "who accessed which object",
	  "FILE is a copy of /sys/kernel/debug/memorizer/kmap of a Memorizer\n"
	  "kernel, in any of its four dialects, plain or compressed by gzip, zstd\n"
	  "or xz; - is standard input. report lists the objects, with their reads\n"
	  "and writes; --accesses also lists which code made these. freed is live,\n"
	  "freed, missed (the address was allocated again) or unknown (freed by\n"
	  "what is not known). --by takes site, function, module, type, cache, pid,\n"
	  "command, lifetime, end, access_site, access_function, access_module or\n"
	  "access_pid, or several of them, and adds objects and accesses up; bytes\n"
	  "are not counted twice if one allocator takes memory of another.\n"
	  "diff compares two files, by site or --by; --sort then also takes\n"
	  "bytes_grown (the default), reads_before and so on. --kallsyms names\n"
	  "places. --hz says that an index counts jiffies, and how many a second\n"
	  "has. calls lists which call of function_calls, or cfgmap, was made how\n"
	  "often, the most frequent first; --format dot and --folded write graphs.\n"
	  "watch ADDR[+LEN], or watch --fd PID:FD, tells on any kernel who reads\n"
	  "and writes the words there, by hardware breakpoints: for --for SECONDS,\n"
	  "or while -- PROGRAM runs. -o FILE writes a KMAP. More words than there\n"
	  "are breakpoints take turns, and --rate limits their hits. It needs\n"
	  "root. --cache NAME draws objects of a slab cache at random, as many as\n"
	  "there are breakpoints for, and adds up by offset; --sample draws others\n"
	  "after each --slice SECONDS, --at OFFSET[+LEN] takes only these bytes,\n"
	  "and --seed N repeats a choice.\n"
	  "The status is 2 if a part of a file was not understood.\n"
	  "These ask a running Memorizer kernel, by its files in debugfs:\n"
	  "record -o FILE [--for SECONDS | -- PROGRAM] turns it on, takes what it\n"
	  "counts before its memory is full, and restores its switches at the end.\n"
	  "--follow PID, or program, records only that process and its children.\n"
	  "on [PID] [objects] [accesses] [live] [calls | frames] and off turn\n"
	  "switches on and off; without words, objects and accesses, or all. clear\n"
	  "[dead] [printed] [calls] forgets freed objects, those of them that were\n"
	  "read from kmap, and calls. stats shows the switches, and what the kernel\n"
	  "says of itself.\n",
	  .wrap = cli_wrap_kmap, .parse = cli_parse_kmap, WORDS(1, 3),
	  NOTHING("there is no object"), .run = cli_run_kmap, .groups = true },
	{ "map", "[A B]", "a picture of physical memory",
	  "Writes SVG, to standard output or to -o FILE; -o FILE.png writes PNG,\n"
	  "which needs rsvg-convert. The colour of a cell shows what most of its\n"
	  "pages are: their kind, or the field of --by, such as flags, memcg_path,\n"
	  "zone or alloc_comm. Memory is cut into squares that are drawn from left\n"
	  "to right; squares without memory are left out. Cells in a square follow\n"
	  "Hilbert's curve, which keeps neighbours together, or with --layout\n"
	  "linear they go row by row.\n"
	  "Poisoned and offline pages are marked, even a single one. With --where\n"
	  "only matching pages have a colour; the rest is pale. With A and B, as\n"
	  "for diff, the colours show what changed.\n",
	  .parse = cli_parse_map, WORDS(0, 2),
	  NOTHING("there is no memory to see"), QUERY(SCAN), .wide = true,
	  .picture = true },
	{ "tasks", "", "processes and threads, live or in a dump",
	  "Shows for each thread: pid, tgid (its process), ppid, state as ps shows\n"
	  "it, rss (memory as the kernel counts it; - for kernel threads) and\n"
	  "name. It is for the running kernel, or for the dump of --from.\n"
	  "--sort takes pid, tgid, ppid, state, rss, comm or start_ns, or several\n"
	  "of them: rss begins with the largest, the others with the smallest.\n",
	  .parse = cli_parse_task_list, WORDS(0, -1), .run = cli_run_tasks,
	  .bounds = true },
	{ "dmesg", "", "the kernel's log, live or in a dump",
	  "Prints every record, oldest first, with its time since boot. For the\n"
	  "running kernel it reads /dev/kmsg; with --from DUMP it reads the log in\n"
	  "the dump's memory. 'pagedet --from DUMP from-log' finds the pages that\n"
	  "the log mentions.\n",
	  .parse = cli_parse_nothing, WORDS(0, 0), .run = cli_run_dmesg },
	{ "doctor", "", "what can be answered here, and what cannot",
	  "Shows what works, what does not, and the commands that change that.\n"
	  "-v also shows what each ability costs and needs, and for each field and\n"
	  "source whether it can be answered, why not, and what would help.\n",
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
