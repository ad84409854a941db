/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads every struct page of the running kernel through BPF and does nothing
 * else with them: what a count of all memory cannot be faster than, if it looks
 * at each of them. Knows nothing of the library.
 *
 *   memmap_of --live > BLOCKS; bare_bpf THREADS BLOCKS
 *
 * BLOCKS has a line for each block of struct pages, of its address in the
 * kernel and its bytes. Each thread has a program that copies a window of them
 * into a map, which is mapped here.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe.h"

/* Larger ones leave the processor's cache, smaller ones are more calls. */
#define WINDOW ((uint64_t)128 << 10)
#define MOST_BLOCKS 4096
#define MOST_THREADS 64

struct block {
	uint64_t addr, bytes;
};

static struct block blocks[MOST_BLOCKS];
static size_t n_blocks;
static uint64_t n_windows;
static atomic_uint_fast64_t next_window;
static atomic_uint_fast64_t bytes_read;

/* What the program is told. */
struct request {
	uint64_t addr;
	uint64_t size;
};

static int sys_bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_map(void)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_ARRAY;
	a.key_size = 4;
	a.value_size = WINDOW;
	a.max_entries = 1;
	a.map_flags = BPF_F_MMAPABLE;
	return sys_bpf(BPF_MAP_CREATE, &a);
}

#define INSN(code, dst, src, off, imm) { (code), (dst), (src), (off), (imm) }

static int load_program(int map)
{
	/* r6 = addr, r7 = size, r0 = the value of the map's element */
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, 0, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 7, 1, 8, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6, 0),
		INSN(BPF_JMP | BPF_JGT | BPF_K, 7, 0, 5, WINDOW),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 7, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 3, 6, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SYSCALL;
	a.prog_flags = BPF_F_SLEEPABLE;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = PROBE_COUNT_OF(insns);
	a.license = (uintptr_t)"Dual BSD/GPL";
	return sys_bpf(BPF_PROG_LOAD, &a);
}

/* Where the @i-th window is. */
static struct request window_at(uint64_t i)
{
	struct request q = { 0, 0 };
	size_t b;

	for (b = 0; b < n_blocks; b++) {
		const uint64_t n = (blocks[b].bytes + WINDOW - 1) / WINDOW;

		if (i < n) {
			q.addr = blocks[b].addr + i * WINDOW;
			q.size = blocks[b].bytes - i * WINDOW;
			if (q.size > WINDOW)
				q.size = WINDOW;
			break;
		}
		i -= n;
	}
	return q;
}

static void *read_windows(void *arg)
{
	const int map = make_map();
	const int program = map < 0 ? -1 : load_program(map);
	uint64_t i, bytes = 0;
	void *value;

	if (program < 0)
		probe_die("bpf: %s", strerror(errno));
	value = mmap(NULL, WINDOW, PROT_READ, MAP_SHARED, map, 0);
	if (value == MAP_FAILED)
		probe_die("mmap: %s", strerror(errno));
	while ((i = atomic_fetch_add(&next_window, 1)) < n_windows) {
		struct request q = window_at(i);
		union bpf_attr a;

		memset(&a, 0, sizeof(a));
		a.test.prog_fd = (uint32_t)program;
		a.test.ctx_in = (uintptr_t)&q;
		a.test.ctx_size_in = sizeof(q);
		if (sys_bpf(BPF_PROG_TEST_RUN, &a) < 0)
			probe_die("bpf: %s", strerror(errno));
		if (!a.test.retval)
			bytes += q.size;
	}
	atomic_fetch_add(&bytes_read, bytes);
	munmap(value, WINDOW);
	close(program);
	close(map);
	return arg;
}

static void read_blocks(const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned long long addr, bytes;

	if (!f)
		probe_die("%s: %s", path, strerror(errno));
	while (n_blocks < MOST_BLOCKS &&
	       fscanf(f, "%llx %llu", &addr, &bytes) == 2) {
		blocks[n_blocks++] = (struct block){ addr, bytes };
		n_windows += (bytes + WINDOW - 1) / WINDOW;
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	pthread_t thread[MOST_THREADS];
	uint64_t wanted = 0;
	unsigned i, n;

	if (argc != 3)
		probe_die("usage: bare_bpf THREADS BLOCKS");
	n = (unsigned)atoi(argv[1]);
	if (!n || n > MOST_THREADS)
		probe_die("1 to %d threads", MOST_THREADS);
	read_blocks(argv[2]);
	for (i = 1; i < n; i++)
		if (pthread_create(&thread[i], NULL, read_windows, NULL))
			probe_die("pthread_create: %s", strerror(errno));
	read_windows(NULL);
	for (i = 1; i < n; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < n_blocks; i++)
		wanted += blocks[i].bytes;
	/* What could not be read was not read at all. */
	if (bytes_read < wanted - wanted / 20)
		probe_die("only %llu of %llu bytes can be read",
			  (unsigned long long)bytes_read,
			  (unsigned long long)wanted);
	printf("%llu\n", (unsigned long long)bytes_read);
	return 0;
}
