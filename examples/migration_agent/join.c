/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds guest memory. QEMU names its blocks (info ramblock), gives their guest
 * addresses (info mtree -f) and the addresses in its own memory (gpa2hva);
 * /proc/PID/maps must agree. A block without a guest address cannot be found in
 * this way. It is then not compared, and the agent reports that.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"

/* --- QEMU's data --- */

static int ask_hva(struct qmp *q, uint64_t gpa, uint64_t *ret)
{
	char line[40], *text, *is;
	int r = -1;

	snprintf(line, sizeof(line), "gpa2hva 0x%" PRIx64, gpa);
	text = qmp_human(q, line);
	is = text ? strstr(text, " is 0x") : NULL;
	if (is && sscanf(is, " is 0x%" SCNx64, ret) == 1)
		r = 0;
	free(text);
	return r;
}

/* All ranges must agree on the block's start. */
static void find_begin(struct qmp *q, const struct block *from, struct block *b,
		       int side)
{
	struct backing *at = &b->at[side];
	uint64_t hva;
	unsigned i;

	if (!from->n_ranges)
		strcpy(at->why, "the guest has no address for it, so QEMU "
		       "does not say where it is");
	for (i = 0; i < from->n_ranges; i++) {
		const struct range *range = &from->ranges[i];

		if (ask_hva(q, range->gpa, &hva) || hva < range->offset) {
			strcpy(at->why, "gpa2hva does not say where it is");
			at->hva = 0;
			return;
		}
		hva -= range->offset;
		if (i && hva != at->hva) {
			strcpy(at->why, "gpa2hva says two things of it");
			at->hva = 0;
			return;
		}
		at->hva = hva;
	}
}

/* --- the kernel's data --- */

struct map {
	uint64_t start, end, offset, dev, inode;
	char prot[5];
	const char *path;
};

static bool parse_map(char *line, struct map *m)
{
	unsigned major, minor;
	int n = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %"
		   SCNu64 " %n", &m->start, &m->end, m->prot, &m->offset,
		   &major, &minor, &m->inode, &n) != 7)
		return false;
	m->dev = (uint64_t)major << 32 | minor;
	m->path = line + n;
	return true;
}

static void take_map(struct backing *at, const struct map *m, uint64_t from)
{
	at->shared = m->prot[3] == 's';
	memcpy(at->prot, m->prot, sizeof(at->prot));
	at->dev = m->dev;
	at->inode = m->inode;
	at->file_offset = m->offset + (from - m->start);
	snprintf(at->path, sizeof(at->path), "%s", m->path);
}

void join_maps(struct vm *vm, struct block *b, int side)
{
	struct backing *at = &b->at[side];
	const uint64_t end = at->hva + b->used;
	uint64_t next = at->hva;
	struct map m = { .start = 0 };
	char path[64], line[4400];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)vm->pid);
	f = fopen(path, "re");
	while (f && next < end && fgets(line, sizeof(line), f)) {
		if (!parse_map(line, &m) || m.end <= next || m.start > next)
			continue;
		if (next == at->hva)
			take_map(at, &m, next);
		else if (m.inode != at->inode || m.dev != at->dev)
			break;
		next = m.end;
	}
	if (!f || next < end) {
		snprintf(at->why, sizeof(at->why), "/proc/%d/maps does not "
			 "have all of it where gpa2hva says", (int)vm->pid);
		at->hva = 0;
	}
	if (f)
		fclose(f);
	if (at->hva && at->shared && at->inode) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%"
			 PRIx64, (int)vm->pid, m.start, m.end);
		at->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOATIME);
	}
}

/* --- both --- */

static int ask_side(struct agent *a, int side, struct block *blocks,
		    unsigned *n)
{
	struct qmp *q = &a->vm[side].qmp;
	char *text = qmp_human(q, "info ramblock");
	const char *odd = NULL;

	*n = text ? blocks_parse(text, blocks, &odd) : 0;
	if (odd)
		agent_say("the %s names a block of memory that is not "
			  "understood: %s", a->vm[side].name, odd);
	free(text);
	if (odd)
		return AGENT_UNAVAILABLE;
	if (!*n)
		return agent_fail(AGENT_UNAVAILABLE, "the %s does not name its "
				  "blocks of memory: %s", a->vm[side].name,
				  q->error);
	text = qmp_human(q, "info mtree -f");
	if (text)
		blocks_parse_views(text, blocks, *n);
	free(text);
	return 0;
}

static struct block *find(struct block *blocks, unsigned n, const char *name)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(blocks[i].name, name))
			return &blocks[i];
	return NULL;
}

/* Numbers the block's pages from here on. */
static void add(struct agent *a, struct block *b)
{
	const struct pagedet_block block = {
		.size = sizeof(block), .name = b->name,
		.bytes = b->used / PAGE_BYTES * PAGE_BYTES,
		.addr = { b->at[SOURCE].hva, b->at[DESTINATION].hva },
	};
	unsigned i;

	if (pagedet_blocks_add(a->map, &block)) {
		strcpy(b->at[SOURCE].why, "it is not of whole pages");
		return;
	}
	b->first = a->pages;
	b->pages = block.bytes / PAGE_BYTES;
	a->pages = pagedet_blocks_count(a->map);
	for (i = 0; i < b->n_ranges; i++)
		pagedet_blocks_add_range(a->map, b->name, b->ranges[i].offset,
					 b->ranges[i].gpa, b->ranges[i].len,
					 b->ranges[i].rom);
}

/*
 * A machine that waits has not run its firmware, and may map memory at other
 * addresses. Each side is therefore asked with its own view.
 */
static void join_one(struct agent *a, struct block *b, struct block *peer)
{
	find_begin(&a->vm[SOURCE].qmp, b, b, SOURCE);
	if (!peer)
		strcpy(b->at[DESTINATION].why, "the destination has no block "
		       "of this name");
	else if (peer->total != b->total)
		strcpy(b->at[DESTINATION].why, "at the destination it is of "
		       "another size");
	else
		find_begin(&a->vm[DESTINATION].qmp, peer, b, DESTINATION);
	if (b->at[SOURCE].hva)
		join_maps(&a->vm[SOURCE], b, SOURCE);
	if (b->at[DESTINATION].hva)
		join_maps(&a->vm[DESTINATION], b, DESTINATION);
	if (!b->at[SOURCE].hva || !b->at[DESTINATION].hva)
		return;
	add(a, b);
}

bool join_is_one(const struct block *b)
{
	const struct backing *s = &b->at[SOURCE], *d = &b->at[DESTINATION];

	return s->shared && d->shared && s->inode && s->inode == d->inode &&
	       s->dev == d->dev && s->file_offset == d->file_offset;
}

uint64_t join_one_pages(const struct agent *a)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < a->n_blocks; i++)
		if (join_is_one(&a->blocks[i]))
			n += a->blocks[i].pages;
	return n;
}

/*
 * The result must not be "equal" if a part of the guest's memory is left out.
 */
static int check_compared(const struct agent *a)
{
	const struct block *b = blocks_missing(a->blocks, a->n_blocks);

	if (!b)
		return 0;
	return agent_fail(AGENT_UNAVAILABLE, "the memory %s cannot be "
			  "compared: %s", b->name, b->at[SOURCE].why[0] ?
			  b->at[SOURCE].why : b->at[DESTINATION].why);
}

int join_blocks(struct agent *a)
{
	struct block *peers = calloc(MAX_BLOCKS, sizeof(*peers));
	unsigned n_peers, i;
	int status;

	if (!peers || pagedet_blocks_new(PAGE_BYTES, &a->map)) {
		free(peers);
		return agent_fail_errno(AGENT_IO, "join");
	}
	status = ask_side(a, SOURCE, a->blocks, &a->n_blocks);
	if (!status)
		status = ask_side(a, DESTINATION, peers, &n_peers);
	for (i = 0; !status && i < a->n_blocks; i++)
		join_one(a, &a->blocks[i],
			 find(peers, n_peers, a->blocks[i].name));
	free(peers);
	return status ? status : check_compared(a);
}

/*
 * KVM has a directory per machine, named by pid and descriptor. None of its
 * files has the memory slots (guest physical to host virtual). They have
 * counters, and a histogram of how often pages are mapped (Linux
 * virt/kvm/kvm_main.c, kvm_create_vm_debugfs(); arch/x86/kvm/debugfs.c). fdinfo
 * of the machine has nothing of KVM. Observed on 6.1 and 6.12.
 */
void join_memslots(struct agent *a)
{
	static const char where[] = "/sys/kernel/debug/kvm";
	char pid[24];
	struct dirent *e;
	DIR *d = opendir(where);
	bool found = false;
	size_t len;

	len = (size_t)snprintf(pid, sizeof(pid), "%d-",
			       (int)a->vm[SOURCE].pid);
	while (d && !found && (e = readdir(d)))
		found = !strncmp(e->d_name, pid, len);
	if (found)
		snprintf(a->memslots, sizeof(a->memslots), "KVM runs the "
			 "source; its counters are in %s/%s*, its memory slots "
			 "are shown nowhere", where, pid);
	else if (d)
		strcpy(a->memslots, "none: KVM does not run the source");
	else
		snprintf(a->memslots, sizeof(a->memslots), "none known: %s: %s",
			 where, strerror(errno));
	if (d)
		closedir(d);
}

const struct block *join_block(const struct agent *a, uint64_t page)
{
	unsigned i;

	for (i = 0; i < a->n_blocks; i++)
		if (page - a->blocks[i].first < a->blocks[i].pages)
			return &a->blocks[i];
	return NULL;
}

static struct pagedet_page_at page_at(const struct agent *a, uint64_t page)
{
	struct pagedet_page_at at = { .size = sizeof(at) };

	pagedet_blocks_at(a->map, page, &at);
	return at;
}

uint64_t join_hva(const struct agent *a, uint64_t page, int side)
{
	return page_at(a, page).addr[side];
}

bool join_gpa(const struct agent *a, uint64_t page, uint64_t *gpa, bool *rom)
{
	const struct pagedet_page_at at = page_at(a, page);

	*gpa = at.guest;
	*rom = at.read_only;
	return at.has_guest;
}

uint64_t join_page(const struct agent *a, const char *name, uint64_t offset)
{
	return pagedet_blocks_page(a->map, name, offset);
}

void join_free(struct agent *a)
{
	unsigned i, side;

	pagedet_blocks_free(a->map);
	for (i = 0; i < a->n_blocks; i++)
		for (side = 0; side < SIDES; side++)
			if (a->blocks[i].at[side].fd >= 0)
				close(a->blocks[i].at[side].fd);
}
