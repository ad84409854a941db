/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes a captured tree in which one file has any contents: the first byte
 * chooses the file, the rest is its contents. Every kind of query goes through
 * the public API. Each must end, and no cell may lie about its state.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "pagedet.h"

#define MAX_ROWS 20000

/* Two pages of its own memory, and two of a file. */
#define PRESENT ((uint64_t)1 << 63)
#define FILE_PAGE (PRESENT | (uint64_t)1 << 61)
static const uint64_t entries[64] = {
	[0x10] = PRESENT | 5, [0x1f] = PRESENT | 6,
	[0x20] = FILE_PAGE | 7, [0x21] = FILE_PAGE | 8,
};

/*
 * A tree of 64 frames and two tasks: the files that stay while another one is
 * fuzzed.
 */
static const struct {
	const char *path;
	const void *data;	/* NULL: zeroes */
	size_t len;		/* 0: up to the NUL */
} files[] = {
	{ "proc/kpageflags", NULL, 512 },
	{ "proc/kpagecount", NULL, 512 },
	{ "proc/kpagecgroup", NULL, 512 },
	{ "proc/7/pagemap", entries, sizeof(entries) },
	{ "proc/7/maps",
	  "00010000-00020000 rw-p 00000000 00:00 0 \n"
	  "00020000-00022000 r-xp 00001000 fe:01 12   /tmp/a\\012b\n", 0 },
	{ "proc/7/comm", "task\n", 0 },
	{ "proc/7/stat",
	  "7 (task) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 99 0\n", 0 },
	{ "proc/7/status", "Name:\ttask\nTgid:\t7\nPid:\t7\n", 0 },
	{ "proc/iomem", "00000000-0003ffff : System RAM\n", 0 },
	{ "proc/zoneinfo",
	  "Node 0, zone DMA\n spanned 64\n start_pfn: 0\n", 0 },
	{ "proc/swaps", "Filename Type Size Used Priority\n", 0 },
	{ "proc/self/mountinfo",
	  "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 x rw\n"
	  "26 1 254:1 / / rw - ext4 x rw\n", 0 },
	{ "sys/fs/cgroup/cgroup.inodes", "1\t/\n45\t/a.slice\n", 0 },
	{ "sys/devices/system/memory/block_size_bytes", "20000\n", 0 },
	{ "sys/kernel/btf/vmlinux", NULL, 64 },
	{ "proc/8/pagemap", entries, sizeof(entries) },
	{ "proc/8/maps",
	  "00010000-00020000 rw-p 00000000 fe:01 13   /tmp/a\\012b (deleted)\n"
	  "00020000-00022000 r-xp 00002000 fe:01 12   /tmp/a\\012b\n", 0 },
};

#define N_FILES (sizeof(files) / sizeof(*files))

static char root[PATH_MAX];

static void put(const char *name, const void *data, size_t len)
{
	char path[PATH_MAX + 64], *at;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (at = path + strlen(root); (at = strchr(at + 1, '/'));) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd) < 0) {
		perror(path);
		exit(1);
	}
}

static void put_default(size_t i)
{
	static const char zeroes[512];

	put(files[i].path, files[i].data ? files[i].data : zeroes,
	    files[i].len ? files[i].len : strlen(files[i].data));
}

static void remove_tree(void)
{
	char path[PATH_MAX + 64], *at;
	size_t i;

	for (i = 0; i < N_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i].path);
		unlink(path);
		while ((at = strrchr(path, '/')) > path + strlen(root)) {
			*at = '\0';
			rmdir(path);
		}
	}
	rmdir(root);
}

static void make_tree(void)
{
	const char *tmp = getenv("TMPDIR");
	size_t i;

	snprintf(root, sizeof(root), "%s/pagedet-fuzz.XXXXXX",
		 tmp ? tmp : "/tmp");
	if (!mkdtemp(root)) {
		perror(root);
		exit(1);
	}
	atexit(remove_tree);
	for (i = 0; i < N_FILES; i++)
		put_default(i);
}

static void check_cell(struct pagedet_iter *it,
		       const struct pagedet_column *c, uint64_t row)
{
	const struct pagedet_field_info *field = pagedet_field(c->field);
	unsigned state = PAGEDET_CELL_STATE(c->cell[row]);
	unsigned source = PAGEDET_CELL_SOURCE(c->cell[row]);
	size_t len;
	const char *text;

	MUST(field && pagedet_state_name(state));
	MUST(!source || pagedet_source_name(source));
	MUST(state == PAGEDET_HAVE || !c->value[row]);
	if (state != PAGEDET_HAVE)
		return;
	if (field->width == 4)
		MUST(c->value[row] <= UINT32_MAX);
	switch (field->type) {
	case PAGEDET_TYPE_ENUM:
		MUST(pagedet_value_name(c->field, c->value[row]));
		break;
	case PAGEDET_TYPE_STRING:
	case PAGEDET_TYPE_LIST:
		text = pagedet_string(it, c->value[row], &len);
		MUST(text && strlen(text) == len);
		break;
	}
}

/* Set bits must be known. */
static void check_known(const struct pagedet_columns *columns, uint64_t row,
			uint32_t mask, uint32_t known)
{
	uint64_t bits = 0, known_bits = 0, i;

	for (i = 0; i < columns->n_columns; i++) {
		if (columns->columns[i].field == mask)
			bits = columns->columns[i].value[row];
		if (columns->columns[i].field == known)
			known_bits = columns->columns[i].value[row];
	}
	MUST(!(bits & ~known_bits));
}

static void drain(struct pagedet_iter *it)
{
	struct pagedet_columns columns = { .size = sizeof(columns) };
	uint64_t rows = 0, row, i;
	int n;

	while ((n = pagedet_next_columns(it, &columns)) > 0) {
		MUST(columns.rows == (uint64_t)n);
		for (row = 0; row < columns.rows; row++) {
			for (i = 0; i < columns.n_columns; i++)
				check_cell(it, &columns.columns[i], row);
			check_known(&columns, row, PAGEDET_FIELD_FLAGS,
				    PAGEDET_FIELD_FLAGS_KNOWN);
			check_known(&columns, row, PAGEDET_FIELD_PTE,
				    PAGEDET_FIELD_PTE_KNOWN);
		}
		rows += (uint64_t)n;
		MUST(rows <= MAX_ROWS);
	}
}

static void ask(struct pagedet *pd, uint32_t target, const char *path,
		const struct pagedet_item *item)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	int r;

	q.target = target;
	q.path = path;
	q.items = item;
	q.n_items = item ? 1 : 0;
	q.limit = MAX_ROWS;
	q.string_bytes = 1 << 16;
	q.deadline_ns = 5000000000u;
	MUST(pagedet_fields_parse(pd, "all", &q) == 0);
	r = pagedet_query(pd, &q, &it);
	if (r < 0) {
		MUST(pagedet_error(pd)[0]);
		return;
	}
	drain(it);
	pagedet_iter_free(it);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct pagedet_item frames = { 0, 80, 0, 0 };
	static const struct pagedet_item range = { 0xf000, 0x14000, 7, 0 };
	static const struct pagedet_item task = { 0, PAGEDET_TO_END, 7, 0 };
	static const struct pagedet_item pages = { 2, 3, 0, 0 };
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;
	struct pagedet *pd;
	size_t which;

	if (!root[0])
		make_tree();
	if (!size)
		return 0;
	which = data[0] % N_FILES;
	put(files[which].path, data + 1, size - 1);
	pd = pagedet_new();
	options.root = root;
	if (!pd)
		abort();
	if (pagedet_open(pd, &options) == 0) {
		ask(pd, PAGEDET_TARGET_PFN, NULL, &frames);
		ask(pd, PAGEDET_TARGET_VIRT, NULL, &range);
		ask(pd, PAGEDET_TARGET_TASK, NULL, &task);
		ask(pd, PAGEDET_TARGET_CGROUP, "/a.slice", NULL);
		ask(pd, PAGEDET_TARGET_SCAN, NULL, NULL);
		ask(pd, PAGEDET_TARGET_MAPPERS, NULL, &frames);
		ask(pd, PAGEDET_TARGET_FILE, "/tmp/a\nb", NULL);
		ask(pd, PAGEDET_TARGET_FILE, "./tmp//a\nb/", &pages);
		ask(pd, PAGEDET_TARGET_TREE, "/", NULL);
		ask(pd, PAGEDET_TARGET_MOUNT, "/tmp", NULL);
		ask(pd, PAGEDET_TARGET_BLOCK, "/dev/sda", &pages);
	} else {
		MUST(pagedet_error(pd)[0]);
	}
	pagedet_free(pd);
	put_default(which);
	return 0;
}
