/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes lists and trees of a kernel endless. Copies an ELF dump and changes one
 * structure in the copy. The structure gets as many members as fit into the
 * kernel's free memory, or points back to itself.
 *
 *   endless		prints the structures that can be endless
 *   endless WHAT DUMP COPY
 *   endless -- COMMAND...	runs it, and writes to stderr how many KiB it
 *				took
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/image/image.h"
#include "dump_map.h"
#include "kernel/address/directmap.h"
#include "kernel/object/memcg_tree.h"
#include "objects.h"

#define PAGE 4096
#define XA_NODE 2		/* low bits of what leads to one */
#define MAPLE_LEAF (1 << 3 | 6)	/* the same of maple trees */
#define MAPLE_RANGE (2 << 3 | 6)
#define TABLE 0x67		/* of an entry of page tables */

static struct objects o;
static struct dump_map map;
static int fd;
static uint64_t direct;		/* of the direct map: added to an address */
static uint64_t room, room_end;	/* physical memory that is all zero */

static void die(const char *what)
{
	fprintf(stderr, "endless: %s\n", what);
	exit(1);
}

/* --- the copy --- */

static void write_phys(uint64_t addr, const void *buf, size_t n)
{
	const struct dump_frame *f = &map.frame[addr / PAGE];

	if (addr / PAGE >= map.n_frames || !f->len ||
	    pwrite(fd, buf, n, (off_t)(f->at + addr % PAGE)) != (ssize_t)n)
		die("memory that the dump does not have");
}

static void write_at(uint64_t va, uint64_t value)
{
	uint64_t phys, len;

	if (pdet_space_phys(&o.im->space, va, &phys, &len) < 0)
		die("an address that is not mapped");
	write_phys(phys, &value, sizeof(value));
}

static bool is_zero(uint64_t frame)
{
	char page[PAGE];
	size_t i;

	if (!map.frame[frame].len ||
	    pread(fd, page, PAGE, (off_t)map.frame[frame].at) != PAGE)
		return false;
	for (i = 0; i < PAGE; i++)
		if (page[i])
			return false;
	return true;
}

/* Finds the longest range of memory that is all zero. */
static void find_room(void)
{
	uint64_t first = 0, frame;

	for (frame = 0; frame <= map.n_frames; frame++) {
		if (frame < map.n_frames && is_zero(frame))
			continue;
		if (frame - first > (room_end - room) / PAGE) {
			room = first * PAGE;
			room_end = frame * PAGE;
		}
		first = frame + 1;
	}
	printf("%llu KiB of room\n",
	       (unsigned long long)(room_end - room) / 1024);
}

/* --- facts from the types --- */

static uint64_t field(const char *name, uint64_t addr)
{
	uint64_t at, bytes;

	if (!objects_field(&o, name, addr, &at, &bytes))
		die(name);
	return at;
}

static uint64_t size_of(const char *name)
{
	uint64_t at, bytes;

	if (!objects_field(&o, name, 0, &at, &bytes))
		die(name);
	return bytes;
}

static uint64_t first_of(enum object_kind kind)
{
	if (!o.of[kind].n)
		die("there is no such object");
	return o.of[kind].data->addr;
}

static uint64_t symbol(const char *name)
{
	uint64_t addr;

	if (pdet_image_symbol_at(&o.im->backend, &o.pd->env, name, &addr) < 0)
		die(name);
	return addr;
}

/* --- lists --- */

/*
 * Fills the room with nodes before the first member of the list at @head.
 * Writes @value at offset @back from each node, unless @back is 0.
 */
static void fill_list(uint64_t head, int64_t back, uint64_t value)
{
	const size_t stride = back ? 64 : 16;
	const uint64_t n = (room_end - room) / stride - 2;
	const uint64_t first = direct + room + stride;
	const uint64_t old = objects_read(&o, head);
	char *nodes = calloc(n + 2, stride);
	uint64_t i, at, link[2];

	for (i = 0; nodes && i < n; i++) {
		at = (i + 1) * stride;
		link[0] = i + 1 < n ? first + (i + 1) * stride : old;
		link[1] = i ? first + (i - 1) * stride : head;
		memcpy(nodes + at, link, sizeof(link));
		if (back)
			memcpy(nodes + ((at + (uint64_t)back) %
					((n + 2) * stride)), &value, 8);
	}
	if (!nodes)
		die("no memory");
	for (at = 0; at < (n + 2) * stride; at += PAGE)
		write_phys(room + at, nodes + at,
			   PDET_MIN((n + 2) * stride - at, (uint64_t)PAGE));
	free(nodes);
	write_at(head, first);
	write_at(old + 8, first + (n - 1) * stride);
}

static void tasks(void)
{
	fill_list(field("task_struct.tasks", o.im->task_types.init), 0, 0);
}

static void threads(void)
{
	const uint64_t signal = objects_read(&o,
		field("task_struct.signal", first_of(OBJECT_TASK)));

	fill_list(field("signal_struct.thread_head", signal), 0, 0);
}

static void inodes(void)
{
	fill_list(field("super_block.s_inodes",
			objects_read(&o, field("inode.i_sb",
					       first_of(OBJECT_INODE)))), 0, 0);
}

static void filesystems(void)
{
	fill_list(o.im->super_blocks, 0, 0);
}

static void mounts(void)
{
	fill_list(field("super_block.s_mounts",
			objects_read(&o, field("inode.i_sb",
					       first_of(OBJECT_INODE)))), 0, 0);
}

static void modules(void)
{
	fill_list(symbol("modules"), 0, 0);
}

static void cgroups(void)
{
	const uint64_t parent = field("cgroup_subsys_state.parent", 0);
	const uint64_t sibling = field("cgroup_subsys_state.sibling", 0);
	struct pdet_memcg_tree tree;
	struct pdet_task_struct init;
	uint64_t root;

	if (pdet_image_memcgs(o.im, &o.pd->env) < 0 ||
	    !pdet_memcg_tree_init(&tree, o.im->btf) ||
	    pdet_tasks_find(&o.im->space, &o.im->task_types, 1, &init) < 0 ||
	    pdet_memcg_root(&o.im->space, &o.im->memcg_types, &tree,
			    init.cgroups, &root) < 0)
		die("there are no cgroups");
	root = field("mem_cgroup.css", root);
	fill_list(field("cgroup_subsys_state.children", root),
		  (int64_t)(parent - sibling), root);
}

/* --- trees --- */

/*
 * Makes a tree of VMAs in which all pointers to nodes are valid. All entries of
 * its leaves are the same VMA.
 */
static void vmas(void)
{
	const uint64_t mm = first_of(OBJECT_MM), vma = first_of(OBJECT_VMA);
	const uint64_t pivot = field("maple_range_64.pivot", 0) / 8;
	const uint64_t slot = field("maple_range_64.slot", 0) / 8;
	const uint64_t slots = size_of("maple_range_64.slot") / 8;
	const uint64_t parent = field("maple_node.parent", 0) / 8;
	const uint64_t first = direct + room, most = (room_end - room) / 256;
	uint64_t node[32], n, i, next, leaves = 1;

	/*
	 * The nodes behind the first @leaves nodes have no room for children.
	 */
	while (leaves * slots + slots < most)
		leaves++;
	for (n = 0; n < leaves * slots + 1; n++) {
		memset(node, 0, sizeof(node));
		node[parent] = n ? (first + (n - 1) / slots * 256) | 2 :
				   field("mm_struct.mm_mt", mm) | 1;
		for (i = 0; i + 1 < slots; i++)
			node[pivot + i] = (i + 1) * PAGE - 1;
		for (i = 0; i < slots; i++) {
			next = n * slots + 1 + i;
			node[slot + i] = n >= leaves ? vma :
				(first + next * 256) |
				(next < leaves ? MAPLE_RANGE : MAPLE_LEAF);
		}
		write_phys(room + n * 256, node, sizeof(node));
	}
	write_at(field("mm_struct.mm_mt.ma_root", mm), first | MAPLE_RANGE);
}

/* Makes a file whose single page is at 2^54 places. */
static void cached_pages(void)
{
	const uint64_t mapping = first_of(OBJECT_MAPPING);
	const uint64_t slots = field("xa_node.slots", 0);
	const uint64_t n = size_of("xa_node.slots") / 8;
	const uint64_t node = direct + room;
	uint64_t i, page = objects_read(&o, slots + first_of(OBJECT_XNODE));

	if (!pdet_is_address(page) || page & 3)
		page = o.of[OBJECT_PAGE].data->addr;
	write_at(field("xa_node.shift", node) & ~(uint64_t)7,
		 (uint64_t)48 << field("xa_node.shift", 0) % 8 * 8);
	for (i = 0; i < n; i++)
		write_at(slots + node + i * 8, page);
	write_at(field("address_space.i_pages.xa_head", mapping),
		 node | XA_NODE);
	write_at(field("address_space.nrpages", mapping), (uint64_t)1 << 54);
}

/* Links the first free object of each slab to itself. */
static void slab_lists(void)
{
	size_t i;

	if (pdet_image_slabs(o.im, &o.pd->env) < 0)
		die("there are no slabs");
	for (i = 0; i < o.of[OBJECT_PAGE].n; i++) {
		struct pdet_slab_cache c;
		struct pdet_slab s;
		uint64_t at;

		if (pdet_slab_read(&o.im->space, &o.im->slab_types,
				   o.of[OBJECT_PAGE].data[i].addr, &s) < 0 ||
		    pdet_slab_cache_read(&o.im->space, &o.im->slab_types,
					 s.cache, &c) < 0 || !s.freelist)
			continue;
		at = s.freelist + c.offset;
		if (objects_read(&o, at))
			write_at(at, c.hides ? s.freelist ^ c.random ^
				     __builtin_bswap64(at) : s.freelist);
	}
}

/* Links the highest page table of each process to itself. */
static void page_tables(void)
{
	size_t i;
	unsigned k;

	for (i = 0; i < o.of[OBJECT_PGD].n; i++)
		for (k = 0; k < 256; k++) {
			const uint64_t pgd = o.of[OBJECT_PGD].data[i].addr;
			const uint64_t entry = pgd | TABLE;

			write_phys(pgd + k * 8, &entry, sizeof(entry));
		}
}

/* Links the kernel's highest page table to itself. */
static void kernel_tables(void)
{
	const uint64_t entry = o.im->paging.root | TABLE;
	unsigned k;

	/* Keep the existing entries. */
	for (k = 256; k < 512; k++) {
		uint64_t is;

		if (pdet_read_phys(o.im->reader, o.im->paging.root + k * 8,
				   &is, sizeof(is)) == 0 && !is)
			write_phys(o.im->paging.root + k * 8, &entry,
				   sizeof(entry));
	}
}

/* --- the log --- */

static uint64_t offset(const char *name)
{
	uint64_t at;

	if (!pdet_vmcoreinfo_offset(&o.im->info, name, &at))
		die(name);
	return at;
}

/*
 * Fills the room with descriptors of 64 bytes. Each one has a text of 64 KiB,
 * and the texts overlap.
 */
static void log_ring(void)
{
	const uint64_t prb = first_of(OBJECT_PRB);
	const uint64_t ring = prb + offset("printk_ringbuffer.desc_ring");
	const uint64_t text = prb + offset("printk_ringbuffer.text_data_ring");
	const uint64_t block = offset("prb_desc.text_blk_lpos");
	uint64_t desc[8] = { 0 }, size, info_size;
	uint64_t n, i, descs, infos, data, bits;

	if (!pdet_vmcoreinfo_size(&o.im->info, "prb_desc", &size) ||
	    !pdet_vmcoreinfo_size(&o.im->info, "printk_info", &info_size))
		die("a log without sizes");
	for (bits = 8; (2ull << bits) * (size + 8) + (1 << 20) <
			       room_end - room; bits++)
		;
	n = 1ull << bits;
	descs = direct + room;
	data = descs + n * size;
	/* The contents of the infos do not matter. */
	infos = direct + room;
	for (i = 0; i < n; i++) {
		desc[offset("prb_desc.state_var") / 8] = (uint64_t)1 << 62 | i;
		desc[(block + offset("prb_data_blk_lpos.begin")) / 8] = i * 8;
		desc[(block + offset("prb_data_blk_lpos.next")) / 8] =
			i * 8 + 65544;
		write_phys(room + i * size, desc, size);
		write_phys(room + n * size + i * 8, &i, sizeof(i));
	}
	write_at((ring + offset("prb_desc_ring.count_bits")) & ~7ull, bits);
	write_at(ring + offset("prb_desc_ring.descs"), descs);
	write_at(ring + offset("prb_desc_ring.infos"), infos);
	write_at(ring + offset("prb_desc_ring.head_id"), n - 1);
	write_at(ring + offset("prb_desc_ring.tail_id"), 0);
	write_at((text + offset("prb_data_ring.size_bits")) & ~7ull, 31);
	write_at(text + offset("prb_data_ring.data"), data);
}

static const struct {
	const char *name;
	void (*make)(void);
} whats[] = {
	{ "tasks", tasks }, { "threads", threads }, { "VMAs", vmas },
	{ "page-tables", page_tables }, { "kernel-tables", kernel_tables },
	{ "cached-pages", cached_pages }, { "inodes", inodes },
	{ "filesystems", filesystems }, { "mounts", mounts },
	{ "cgroups", cgroups }, { "modules", modules },
	{ "slab-lists", slab_lists }, { "log", log_ring },
};

static void copy(const char *from, const char *to)
{
	static char buf[1 << 20];
	const int in = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	fd = open(to, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (in < 0 || fd < 0)
		die("the copy");
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(fd, buf, (size_t)n) != n)
			die("the copy");
	close(in);
}

/*
 * Runs the command in its own process, so that the memory figure is only about
 * it.
 */
static int run(char **command)
{
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(*command, command);
		die(*command);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		die("wait");
	fprintf(stderr, "\n%ld\n", usage.ru_maxrss);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc > 2 && !strcmp(argv[1], "--"))
		return run(argv + 2);
	for (i = 0; argc == 1 && i < PDET_COUNT(whats); i++)
		puts(whats[i].name);
	if (argc == 1)
		return 0;
	if (argc != 4)
		return 64;
	objects_find(&o, argv[2]);
	copy(argv[2], argv[3]);
	dump_map_read(&map, fd);
	find_room();
	if (pdet_directmap_find(o.im->reader, &o.im->paging, &direct) < 0)
		die("the direct map");
	for (i = 0; i < PDET_COUNT(whats); i++) {
		if (strcmp(whats[i].name, argv[1]))
			continue;
		whats[i].make();
		close(fd);
		dump_map_free(&map);
		objects_free(&o);
		return 0;
	}
	die(argv[1]);
}
