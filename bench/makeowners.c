/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * makeowners - text as a kernel's page_owner writes it, to be measured and
 * compared: the same every time.
 *
 *   makeowners BYTES [SEED]
 *
 * Writes records as print_page_owner() of 6.12 does, until there are so many
 * bytes: 2000 stacks of 6 to 16 frames, of which a few stand for most records;
 * sizes, tasks, cgroups, slabs and migrations mixed as on a machine that works.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACKS 2000
#define MOST_FRAMES 16
#define TASKS 400
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char *const paths[] = {
	"get_page_from_freelist", "__alloc_pages_noprof",
	"alloc_pages_mpol_noprof", "folio_alloc_mpol_noprof",
	"folio_alloc_noprof", "vma_alloc_folio_noprof", "do_anonymous_page",
	"__handle_mm_fault", "handle_mm_fault", "do_user_addr_fault",
	"exc_page_fault", "asm_exc_page_fault", "filemap_alloc_folio_noprof",
	"page_cache_ra_unbounded", "filemap_get_pages", "filemap_read",
	"vfs_read", "ksys_read", "do_syscall_64",
	"entry_SYSCALL_64_after_hwframe", "allocate_slab", "___slab_alloc",
	"kmem_cache_alloc_noprof", "alloc_inode", "__d_alloc", "d_alloc",
	"path_openat", "do_filp_open", "pte_alloc_one", "__pte_alloc",
	"copy_process", "kernel_clone",
};
static const char *const prefixes[] = {
	"do", "__do", "ext", "xfs", "tcp", "udp", "sock", "blk", "bio", "nf",
	"kvm", "virtio", "mm", "vfs", "dev", "irq", "net", "skb", "page",
	"folio",
};
static const char *const verbs[] = {
	"alloc", "get", "read", "write", "map", "queue", "send", "recv",
	"init", "grow", "fill", "insert", "split", "merge", "submit", "handle",
};
static const char *const nouns[] = {
	"buffer", "entry", "node", "request", "inode", "dentry", "packet",
	"ring", "table", "cache", "extent", "block", "segment", "context",
	"object", "area",
};
static const struct {
	const char *mask, *type;
	int objcg;
} flags[] = {
	{ "0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP)", "Movable", 0 },
	{ "0x152c4a(GFP_NOFS|__GFP_HIGHMEM|__GFP_NOWARN|__GFP_NORETRY|"
	  "__GFP_COMP|__GFP_HARDWALL|__GFP_MOVABLE)", "Movable", 0 },
	{ "0xcc0(GFP_KERNEL)", "Unmovable", 0 },
	{ "0x400dc0(GFP_KERNEL_ACCOUNT|__GFP_ZERO)", "Unmovable", 1 },
	{ "0xd20c0(__GFP_IO|__GFP_FS|__GFP_NOWARN|__GFP_NORETRY|__GFP_COMP|"
	  "__GFP_NOMEMALLOC)", "Unmovable", 0 },
	{ "0xd2050(__GFP_IO|__GFP_RECLAIMABLE|__GFP_NOWARN|__GFP_NORETRY|"
	  "__GFP_COMP|__GFP_NOMEMALLOC)", "Reclaimable", 0 },
	{ "0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_ZERO|__GFP_COMP)", "Movable",
	  0 },
	{ "0x402cc2(GFP_KERNEL_ACCOUNT|__GFP_HIGHMEM|__GFP_NOWARN)",
	  "Unmovable", 1 },
};
static const char *const pages[] = {
	"0x17ffffc0020028(uptodate|lru|swapbacked|node=0|zone=2|"
	"lastcpupid=0x1fffff)",
	"0x17ffffc000002c(referenced|uptodate|lru|node=0|zone=2|"
	"lastcpupid=0x1fffff)",
	"0x17ffffc0000000(node=0|zone=2|lastcpupid=0x1fffff)",
	"0x17ffffc0000240(workingset|head|node=0|zone=2|lastcpupid=0x1fffff)",
	"0x17ffffc0000068(uptodate|lru|active|node=0|zone=2|"
	"lastcpupid=0x1fffff)",
	"0xfffffc0002000(reserved|node=0|zone=1|lastcpupid=0x1fffff)",
};
static const char *const names[] = {
	"systemd", "bash", "Web Content", "postgres", "kworker/0:1", "nginx",
	"java", "python3", "sshd", "containerd", "dockerd", "rsyslogd", "cron",
	"qemu-system-x86", "make", "cc1",
};
static const char *const cgroups[] = {
	"system.slice", "user-1000.slice", "postgresql.service", "docker-3f2a",
	"init.scope", "session-4.scope",
};
static const char *const reasons[] = {
	"compaction", "numa_misplaced", "mempolicy_mbind", "contig_range",
};

struct stack {
	char *text;
	size_t len;
	unsigned order, flags, slab, charged, page;
};

/* xorshift64* */
static uint64_t next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

static unsigned below(uint64_t *state, unsigned n)
{
	return (unsigned)((next(state) >> 32) * n >> 32);
}

#define ONE_OF(state, array) ((array)[below(state, COUNT(array))])

static void make_frame(uint64_t *state, char *to, int known)
{
	unsigned size = 0x20 + below(state, 0x900), part = below(state, 100);
	unsigned offset = below(state, size);

	if (known || below(state, 100) < 45)
		to += sprintf(to, " %s", ONE_OF(state, paths));
	else
		to += sprintf(to, " %s_%s_%s", ONE_OF(state, prefixes),
			      ONE_OF(state, verbs), ONE_OF(state, nouns));
	to += sprintf(to, "+0x%x/0x%x", offset, size);
	sprintf(to, "%s\n", part < 5 ? " [xfs]" :
		part < 8 ? " [virtio_net]" : "");
}

static struct stack make_stack(uint64_t *state)
{
	struct stack s = { malloc(MOST_FRAMES * 96), 0, 0, 0, 0, 0, 0 };
	unsigned n = 6 + below(state, 11), i;

	if (!s.text)
		abort();
	for (i = 0; i < n; i++) {
		make_frame(state, s.text + s.len, i < 2);
		s.len += strlen(s.text + s.len);
	}
	s.order = below(state, 100) < 85 ? 0 : below(state, 10);
	s.flags = below(state, COUNT(flags));
	s.slab = below(state, 100) < 25;
	s.charged = !s.slab && below(state, 100) < 60;
	s.page = below(state, COUNT(pages));
	return s;
}

static int put_record(uint64_t *state, char *to, const struct stack *s,
		      uint64_t pfn, uint64_t ns)
{
	const char *type = flags[s->flags].type;
	unsigned pid = 1 + below(state, TASKS), tgid = pid;
	char *at = to;

	if (below(state, 100) >= 75)
		tgid = 1 + below(state, pid);
	at += sprintf(at, "Page allocated via order %u, mask %s, pid %u, "
		      "tgid %u (%s), ts %" PRIu64 " ns\n", s->order,
		      flags[s->flags].mask, pid, tgid,
		      names[pid % COUNT(names)], ns);
	at += sprintf(at, "PFN 0x%" PRIx64 " type %s Block %" PRIu64
		      " type %s Flags %s\n", pfn, type, pfn >> 9,
		      below(state, 100) < 5 ? "HighAtomic" : type,
		      pages[s->page]);
	memcpy(at, s->text, s->len);
	at += s->len;
	if (below(state, 100) < 3)
		at += sprintf(at, "Page has been migrated, last migrate "
			      "reason: %s\n", ONE_OF(state, reasons));
	if (s->slab)
		at += sprintf(at, "Slab cache page\n");
	else if (s->charged)
		at += sprintf(at, "Charged %sto %smemcg %s\n",
			      flags[s->flags].objcg ? "(via objcg) " : "",
			      below(state, 100) < 2 ? "offline " : "",
			      ONE_OF(state, cgroups));
	*at++ = '\n';
	return (int)(at - to);
}

int main(int argc, char **argv)
{
	static struct stack stacks[STACKS];
	static char record[MOST_FRAMES * 96 + 2048];
	uint64_t state = 0x9e3779b97f4a7c15, pfn = 0x100, ns = 1000000;
	uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) : 0, done = 0;
	unsigned i;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: makeowners BYTES [SEED]\n");
		return 64;
	}
	for (i = 0; i < STACKS; i++)
		stacks[i] = make_stack(&state);
	/* The stacks are of the kernel, the rest is what it does. */
	if (argc > 2)
		state ^= strtoull(argv[2], NULL, 0) * 0x2545f4914f6cdd1d | 1;
	while (done < bytes) {
		double u = (double)(next(&state) >> 11) / 0x1p53;
		const struct stack *s = &stacks[(unsigned)(STACKS * u * u * u)];
		int n;

		/* As the buddy allocator gives them out. */
		pfn = (pfn + (1ull << s->order) - 1) & ~0ull << s->order;
		ns += below(&state, 2000000);
		n = put_record(&state, record, s, pfn, ns);
		if (fwrite(record, 1, (size_t)n, stdout) != (size_t)n)
			return 74;
		done += (uint64_t)n;
		pfn += 1ull << s->order;
		if (below(&state, 100) < 20)
			pfn += below(&state, 16);
	}
	return fflush(stdout) ? 74 : 0;
}
