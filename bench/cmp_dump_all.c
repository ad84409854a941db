/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Dumps as a whole: every struct page, and all bytes. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"

#define MOST_BLOCKS 4096
#define MOST_LOADS 64
#define STRUCT_PAGE 64
#define AT_MAPCOUNT 48
#define AT_REFCOUNT 52
#define BUCKETS 65536
#define SLOW_ROUNDS 3
/* Which part of the dump's memory is read from end to end: of 2 GiB one that is
 * in use. */
#define PART "1024-1536"

/* The least that must be read of an ELF dump, and counted. */
struct bare {
	int fd;
	struct {
		uint64_t addr, len;
	} block[MOST_BLOCKS];
	size_t blocks;
	Elf64_Phdr load[MOST_LOADS];
	size_t loads;
	uint64_t *buf;
	uint32_t count[BUCKETS];
	uint64_t pages;
};

static void bare_open(struct bare *b, const char *dump, const char *blocks)
{
	unsigned long long addr, len;
	FILE *f = fopen(blocks, "r");
	Elf64_Ehdr head;

	if (!f)
		probe_die("cannot open %s", blocks);
	while (b->blocks < MOST_BLOCKS &&
	       fscanf(f, "%llx %llu", &addr, &len) == 2) {
		b->block[b->blocks].addr = addr;
		b->block[b->blocks++].len = len;
	}
	fclose(f);
	b->fd = probe_open(dump);
	if (probe_read(b->fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_phnum > MOST_LOADS)
		probe_die("%s is no ELF dump", dump);
	b->loads = head.e_phnum;
	probe_read(b->fd, b->load, b->loads * sizeof(*b->load), head.e_phoff);
	b->buf = probe_map(1 << 16);
}

static uint64_t bare_offset(const struct bare *b, uint64_t addr)
{
	size_t i;

	for (i = 0; i < b->loads; i++)
		if (b->load[i].p_type == PT_LOAD &&
		    addr - b->load[i].p_paddr < b->load[i].p_filesz)
			return b->load[i].p_offset + addr -
				b->load[i].p_paddr;
	probe_die("%#llx is not in the dump", (unsigned long long)addr);
}

static void bare_count(struct bare *b, size_t n)
{
	const char *page = (const char *)b->buf, *end = page + n;
	uint32_t refcount, mapcount;
	uint64_t flags;

	for (; page < end; page += STRUCT_PAGE, b->pages++) {
		memcpy(&flags, page, sizeof(flags));
		memcpy(&mapcount, page + AT_MAPCOUNT, sizeof(mapcount));
		memcpy(&refcount, page + AT_REFCOUNT, sizeof(refcount));
		b->count[(flags ^ flags >> 21 ^ mapcount * 31 ^
			  refcount * 7) % BUCKETS]++;
	}
}

static uint64_t run_bare(void *arg)
{
	uint64_t start = probe_ns(), offset, at;
	struct bare *b = arg;
	size_t i, n;

	b->pages = 0;
	for (i = 0; i < b->blocks; i++) {
		offset = bare_offset(b, b->block[i].addr);
		for (at = 0; at < b->block[i].len; at += n) {
			n = b->block[i].len - at < 1 << 16 ?
				b->block[i].len - at : 1 << 16;
			if (probe_read(b->fd, b->buf, n, offset + at) != n)
				probe_die("the dump is cut short");
			bare_count(b, n);
		}
	}
	return probe_ns() - start;
}

/* Opened anew by each run, as the peers do it. */
struct summary {
	const char *dump;
	uint32_t flags;		/* the field: FLAGS or RAW_FLAGS */
	uint32_t threads;
	uint64_t pages;
};

static uint64_t run_summary(void *arg)
{
	struct summary *s = arg;
	const uint32_t by[] = {
		s->flags, PAGEDET_FIELD_REFCOUNT, PAGEDET_FIELD_MAPCOUNT
	};
	uint64_t start = probe_ns();
	struct drain d;

	drain_open_from(&d, s->dump, 0);
	drain_want(&d, s->flags);
	drain_want(&d, PAGEDET_FIELD_REFCOUNT);
	drain_want(&d, PAGEDET_FIELD_MAPCOUNT);
	drain_want(&d, PAGEDET_FIELD_PAGES);
	d.query.target = PAGEDET_TARGET_SCAN;
	d.query.group_by = by;
	d.query.n_group_by = PROBE_COUNT_OF(by);
	d.query.threads = s->threads;
	drain_run(&d);
	s->pages = d.pages;
	drain_close(&d);
	return probe_ns() - start;
}

static void scan_peers(const char *name, struct summary *lib, const char *dump)
{
	struct report drgn = { .command.argv = { "", "scan", dump } };
	struct command crash = { .argv = { "", "scan", dump } };
	char work[128];
	struct trial t = {
		.work = work, .rounds = SLOW_ROUNDS,
		.library = { "pagedet_open, pagedet_query", run_summary, lib }
	};

	snprintf(work, sizeof(work), "%s: the same, against crash with"
		 " kmem -p", name);
	crash.argv[0] = command_peer("DUMP_CRASH", &t.no_peer);
	if (crash.argv[0])
		t.peer = (struct trial_side){ "crash", command_run, &crash };
	t.faster = 300;
	trial_run(&t);
	snprintf(work, sizeof(work), "%s: the same, against drgn's loop over"
		 " pages", name);
	drgn.command.argv[0] = command_peer("DUMP_DRGN", &t.no_peer);
	t.peer = (struct trial_side){ NULL, NULL, NULL };
	if (drgn.command.argv[0])
		t.peer = (struct trial_side){ "drgn", report_run, &drgn };
	t.faster = 20;
	trial_run(&t);
	report_end(&drgn);
}

int compare_dump_scan(int argc, char **argv)
{
	struct report kdumpfile = { .command.argv = { "", "memmap" } };
	struct bare *bare = calloc(1, sizeof(*bare));
	struct summary lib = { .flags = PAGEDET_FIELD_RAW_FLAGS };
	char work[128];
	bool elf;
	struct trial t = {
		.work = work,
		.library = { "pagedet_open, pagedet_query", run_summary, &lib }
	};

	if (argc != 5 || !bare)
		return 64;
	lib.dump = argv[1];
	lib.threads = (uint32_t)atoi(argv[4]);
	elf = !strcmp(argv[0], "ELF");
	snprintf(work, sizeof(work), "%s: open, every page's raw flags,"
		 " refcount, mapcount, summary, %s thread(s)", argv[0],
		 argv[4]);
	if (elf) {
		bare_open(bare, argv[1], argv[3]);
		t.bound = (struct trial_side){ "bare reads of the memory map",
			run_bare, bare };
		t.bound_most = lib.threads == 1 ? 1.3 : 0;
	} else {
		kdumpfile.command.argv[2] = argv[2];
		kdumpfile.command.argv[3] = argv[3];
		t.peer_most = lib.threads == 1 ? 0.55 : 0.3;
		kdumpfile.command.argv[0] = command_peer("DUMP_KDUMPFILE",
							 &t.no_peer);
		if (kdumpfile.command.argv[0])
			t.peer = (struct trial_side){ "libkdumpfile",
				report_run, &kdumpfile };
	}
	trial_run(&t);
	if (elf)
		compare_same("pages", lib.pages, bare->pages);
	else if (kdumpfile.seen)
		compare_same("pages", lib.pages, kdumpfile.seen);
	if (elf && lib.threads == 1)
		scan_peers(argv[0], &lib, argv[1]);
	snprintf(work, sizeof(work), "%s: the same with flags by name, %s"
		 " thread(s)", argv[0], argv[4]);
	lib.flags = PAGEDET_FIELD_FLAGS;
	t = (struct trial){ .work = work, .library = t.library };
	trial_run(&t);
	report_end(&kdumpfile);
	free(bare);
	return 0;
}

int compare_dump_sweep(int argc, char **argv)
{
	static const char *const threads[] = { "1", "2" };
	struct report lib[2], peer = { .command.argv = { "", "sweep" } };
	char work[128];
	int i;

	if (argc != 3)
		return 64;
	peer.command.argv[3] = argv[1];
	peer.command.argv[4] = PART;
	for (i = 0; i < 2; i++) {
		struct trial t = {
			.work = work, .faster = atof(argv[2]),
			.rounds = SLOW_ROUNDS,
			.library = { "read_dump", report_run, &lib[i] }
		};

		lib[i] = (struct report){ .command.argv = {
			command_peer("READ_DUMP", &t.no_peer), "-s", PART,
			"-t", threads[i], argv[1] } };
		peer.command.argv[2] = threads[i];
		peer.command.argv[0] = command_peer("DUMP_KDUMPFILE",
						    &t.no_peer);
		if (peer.command.argv[0])
			t.peer = (struct trial_side){ "libkdumpfile",
				report_run, &peer };
		snprintf(work, sizeof(work), "%s: all bytes of 512 MiB,"
			 " %s thread(s)", argv[0], threads[i]);
		/* the second thread's worth is measured against our first */
		if (i) {
			t.bound = (struct trial_side){ "one thread",
				report_run, &lib[0] };
			t.bound_most = 1 / 1.9;
		}
		trial_run(&t);
		if (peer.seen)
			compare_same("bytes", lib[i].seen, peer.seen);
	}
	report_end(&lib[0]);
	report_end(&lib[1]);
	report_end(&peer);
	return 0;
}
