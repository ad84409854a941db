/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * makeproc - processes and files with a known shape, to be measured.
 *
 *   makeproc anon1g          1 GiB touched, base pages only
 *   makeproc thp1g           1 GiB touched, huge pages
 *   makeproc sparse          1 TiB reserved, 10,000 pages touched evenly
 *   makeproc vmas            30,000 one-page areas, one-page gaps of PROT_NONE
 *   makeproc many [N [MIB]]  N processes (100), each MIB (40) of base pages
 *
 * Prints one line when the memory is there,
 *   pid PID addr 0xADDR len BYTES touched PAGES huge_kib KIB [pids PID...]
 * waits for the end of its input, and is gone with all its children. The
 * address of "many" is the same in each of them.
 *
 *   makeproc file PATH       4 GiB, every page written, on disk and cached
 *   makeproc sparsefile PATH the same with every 64th page only
 *
 *   makeproc frames DIR N    a machine of N page frames, to be asked by --root:
 *                            its files of /proc, 16 bytes a frame
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define GIB ((size_t)1 << 30)
#define HUGE_PAGE ((size_t)2 << 20)
#define SPARSE_PAGES 10000
#define VMAS 30000
#define MOST_CHILDREN 1000

struct shape {
	char *addr;
	size_t len;
	size_t touched;		/* pages */
	pid_t child[MOST_CHILDREN];
	unsigned children;
};

static char *reserve(size_t len, int prot)
{
	void *mem = mmap(NULL, len, prot,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mem == MAP_FAILED)
		probe_die("cannot map %zu bytes: %s", len, strerror(errno));
	return mem;
}

static void touch(struct shape *s, size_t step)
{
	size_t at;

	for (at = 0; at < s->len; at += step) {
		s->addr[at] = 1;
		s->touched++;
	}
}

static void make_small(struct shape *s, size_t len)
{
	s->len = len;
	s->addr = reserve(len, PROT_READ | PROT_WRITE);
	/* a kernel without huge pages does not know the advice: as well */
	madvise(s->addr, len, MADV_NOHUGEPAGE);
	touch(s, 4096);
}

static void make_huge(struct shape *s, size_t len)
{
	uintptr_t at;

	s->len = len;
	s->addr = reserve(len + HUGE_PAGE, PROT_READ | PROT_WRITE);
	at = (uintptr_t)s->addr;
	s->addr += (HUGE_PAGE - at % HUGE_PAGE) % HUGE_PAGE;
	madvise(s->addr, len, MADV_HUGEPAGE);
	touch(s, 4096);
}

static void make_sparse(struct shape *s)
{
	s->len = 1024 * GIB;
	s->addr = reserve(s->len, PROT_READ | PROT_WRITE);
	madvise(s->addr, s->len, MADV_NOHUGEPAGE);
	s->len = s->len / SPARSE_PAGES / 4096 * 4096 * SPARSE_PAGES;
	touch(s, s->len / SPARSE_PAGES);
}

static void make_vmas(struct shape *s)
{
	size_t i;

	s->len = 2 * VMAS * (size_t)4096;
	s->addr = reserve(s->len, PROT_NONE);
	for (i = 0; i < VMAS; i++)
		if (mprotect(s->addr + 2 * i * 4096, 4096,
			     PROT_READ | PROT_WRITE))
			probe_die("area %zu: %s (vm.max_map_count?)", i,
				  strerror(errno));
	touch(s, 2 * 4096);
}

/* A child says over the pipe where its memory is, once it is there. */
static void be_child(size_t len, int ready)
{
	struct shape s = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make_small(&s, len);
	if (write(ready, &s.addr, sizeof(s.addr)) != sizeof(s.addr))
		_exit(1);
	close(ready);
	for (;;)
		pause();
}

static void make_many(struct shape *s, unsigned n, size_t len)
{
	int ready[2];
	unsigned i;

	if (n < 1 || n > MOST_CHILDREN)
		probe_die("1 to %d processes", MOST_CHILDREN);
	if (pipe(ready))
		probe_die("pipe: %s", strerror(errno));
	for (i = 0; i < n; i++) {
		s->child[i] = fork();
		if (s->child[i] < 0)
			probe_die("fork: %s", strerror(errno));
		if (!s->child[i])
			be_child(len, ready[1]);
		s->children++;
	}
	close(ready[1]);
	for (i = 0; i < n; i++)
		if (read(ready[0], &s->addr, sizeof(s->addr)) !=
		    sizeof(s->addr))
			probe_die("a child has died");
	close(ready[0]);
	s->len = len;
	s->touched = n * (len / 4096);
}

/* How much of our memory is in huge pages: the kernel may have had none. */
static unsigned long huge_kib(void)
{
	unsigned long kib = 0;
	char line[128];
	FILE *file = fopen("/proc/self/smaps_rollup", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "AnonHugePages: %lu", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

static void end_children(struct shape *s)
{
	unsigned i;

	for (i = 0; i < s->children; i++)
		kill(s->child[i], SIGKILL);
	for (i = 0; i < s->children; i++)
		waitpid(s->child[i], NULL, 0);
}

/* Pieces of @chunk bytes, one every @step. */
static int make_file(const char *path, size_t chunk, size_t step)
{
	char *buf = reserve(chunk, PROT_READ | PROT_WRITE);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t at;

	if (fd < 0)
		probe_die("cannot create %s: %s", path, strerror(errno));
	memset(buf, 0x5a, chunk);
	for (at = 0; at < 4 * GIB; at += step)
		if (pwrite(fd, buf, chunk, (off_t)at) != (ssize_t)chunk)
			probe_die("cannot write %s: %s", path,
				  strerror(errno));
	if (ftruncate(fd, (off_t)(4 * GIB)) || fsync(fd))
		probe_die("cannot write %s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

/* --- a captured machine --- */

#define FRAMES_AT_ONCE 65536

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		probe_die("cannot create %s: %s", path, strerror(errno));
	return f;
}

static uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Runs of frames that are alike, short and long; some are mapped, each one
 * differently often. */
static void make_frames(uint64_t *flags, uint64_t *count, size_t n,
			uint64_t *state)
{
	static const uint64_t kinds[] = {
		1 << 10,			/* buddy */
		1 << 3 | 1 << 5 | 1 << 11 | 1 << 12, /* anon, mapped */
		1 << 3 | 1 << 5 | 1 << 11,	/* file, mapped */
		1 << 3 | 1 << 5,		/* file */
		1 << 3 | 1 << 4 | 1 << 5,	/* the same, dirty */
		1 << 7,				/* slab */
		1 << 26,			/* page table */
		0,
	};
	size_t at, run;

	for (at = 0; at < n; at += run) {
		const uint64_t r = random_of(state);
		const uint64_t kind = kinds[r % PROBE_COUNT_OF(kinds)];
		size_t i;

		run = 1 + (r >> 8) % (r >> 20 & 7 ? 8 : 512);
		if (run > n - at)
			run = n - at;
		for (i = at; i < at + run; i++) {
			flags[i] = kind;
			count[i] = kind >> 11 & 1 ?
				1 + random_of(state) % 3 : 0;
		}
	}
}

static int make_machine(const char *dir, uint64_t frames)
{
	static uint64_t flags[FRAMES_AT_ONCE], count[FRAMES_AT_ONCE];
	uint64_t state = 88172645463325252u, done;
	char path[4096];
	FILE *iomem, *f, *c;

	snprintf(path, sizeof(path), "%s/proc", dir);
	if ((mkdir(dir, 0700) && errno != EEXIST) || mkdir(path, 0700))
		probe_die("cannot create %s: %s", path, strerror(errno));
	iomem = create(dir, "iomem");
	f = create(dir, "kpageflags");
	c = create(dir, "kpagecount");
	fprintf(iomem, "00000000-%08llx : System RAM\n",
		(unsigned long long)(frames * 4096 - 1));
	for (done = 0; done < frames; done += FRAMES_AT_ONCE) {
		size_t n = frames - done < FRAMES_AT_ONCE ?
			(size_t)(frames - done) : FRAMES_AT_ONCE;

		make_frames(flags, count, n, &state);
		fwrite(flags, sizeof(*flags), n, f);
		fwrite(count, sizeof(*count), n, c);
	}
	if (fclose(iomem) | fclose(f) | fclose(c))
		probe_die("cannot write below %s: %s", path, strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct shape s = { 0 };
	char byte;
	unsigned i;

	if (!strcmp(mode, "file") && argc == 3)
		return make_file(argv[2], 1 << 20, 1 << 20);
	if (!strcmp(mode, "sparsefile") && argc == 3)
		return make_file(argv[2], 4096, 64 * 4096);
	if (!strcmp(mode, "frames") && argc == 4)
		return make_machine(argv[2], strtoull(argv[3], NULL, 10));
	if (!strcmp(mode, "anon1g"))
		make_small(&s, GIB);
	else if (!strcmp(mode, "thp1g"))
		make_huge(&s, GIB);
	else if (!strcmp(mode, "sparse"))
		make_sparse(&s);
	else if (!strcmp(mode, "vmas"))
		make_vmas(&s);
	else if (!strcmp(mode, "many"))
		make_many(&s, argc > 2 ? (unsigned)atoi(argv[2]) : 100,
			  (size_t)(argc > 3 ? atoi(argv[3]) : 40) << 20);
	else
		probe_die("usage: makeproc anon1g | thp1g | sparse | vmas |"
			  " many [N [MIB]] | file PATH | sparsefile PATH |"
			  " frames DIR N");
	printf("pid %d addr %p len %zu touched %zu huge_kib %lu", getpid(),
	       (void *)s.addr, s.len, s.touched, huge_kib());
	if (s.children)
		printf(" pids");
	for (i = 0; i < s.children; i++)
		printf(" %d", s.child[i]);
	printf("\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	end_children(&s);
	return 0;
}
