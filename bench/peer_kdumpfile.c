/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * libkdumpfile's side: bench/run compiles it where the library is. It is told
 * where the memory map lies. Its last line is the ns that it took and what it
 * has seen: pages, or bytes.
 *
 *   peer_kdumpfile memmap DUMP BLOCKS
 *   peer_kdumpfile sweep THREADS DUMP MIB-MIB
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libkdumpfile/kdumpfile.h>

#define CHUNK 65536
#define SHARE ((uint64_t)4 << 20)
#define STRUCT_PAGE 64
#define BUCKETS 65536

static void die(const char *what, const char *why)
{
	fprintf(stderr, "peer_kdumpfile: %s: %s\n", what, why);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static kdump_ctx_t *open_dump(const char *path)
{
	kdump_ctx_t *ctx = kdump_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (!ctx || fd < 0)
		die(path, "cannot open");
	if (kdump_open_fd(ctx, fd) != KDUMP_OK)
		die(path, kdump_get_err(ctx));
	return ctx;
}

static int memmap(const char *path, const char *blocks)
{
	static uint32_t count[BUCKETS];
	static char buf[CHUNK];
	unsigned long long addr, len;
	uint64_t start, pages = 0, at, flags;
	uint32_t mapcount, refcount;
	FILE *f = fopen(blocks, "r");
	kdump_ctx_t *ctx;
	size_t n, i;

	if (!f)
		die(blocks, "cannot open");
	start = now_ns();
	ctx = open_dump(path);
	while (fscanf(f, "%llx %llu", &addr, &len) == 2) {
		for (at = 0; at < len; at += n) {
			n = len - at < CHUNK ? len - at : CHUNK;
			if (kdump_read(ctx, KDUMP_MACHPHYSADDR, addr + at, buf,
				       &n) != KDUMP_OK)
				die(path, kdump_get_err(ctx));
			for (i = 0; i < n; i += STRUCT_PAGE, pages++) {
				memcpy(&flags, buf + i, 8);
				memcpy(&mapcount, buf + i + 48, 4);
				memcpy(&refcount, buf + i + 52, 4);
				count[(flags ^ flags >> 21 ^ mapcount * 31 ^
				       refcount * 7) % BUCKETS]++;
			}
		}
	}
	kdump_free(ctx);
	printf("%llu %llu\n", (unsigned long long)(now_ns() - start),
	       (unsigned long long)pages);
	return 0;
}

struct sweep {
	const char *path;
	uint64_t first, end;	/* of memory */
	uint64_t next;		/* shares taken, by all */
	uint64_t bytes;
};

/* One context each: they may not be shared. */
static void *sweep_some(void *arg)
{
	struct sweep *s = arg;
	kdump_ctx_t *ctx = open_dump(s->path);
	char *buf = malloc(CHUNK);
	uint64_t at, end, bytes = 0;
	size_t n;

	for (;;) {
		at = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED);
		at = s->first + at * SHARE;
		if (at >= s->end)
			break;
		for (end = at + SHARE; at < end; at += n) {
			n = CHUNK;
			kdump_read(ctx, KDUMP_MACHPHYSADDR, at, buf, &n);
			bytes += n;
			n = CHUNK;
		}
	}
	__atomic_fetch_add(&s->bytes, bytes, __ATOMIC_RELAXED);
	free(buf);
	kdump_free(ctx);
	return NULL;
}

static int sweep(int threads, const char *path, const char *part)
{
	struct sweep s = { .path = path };
	pthread_t thread[64];
	uint64_t start;
	char *end;
	int i;

	s.first = strtoull(part, &end, 10) << 20;
	s.end = strtoull(*end ? end + 1 : end, NULL, 10) << 20;
	start = now_ns();
	for (i = 1; i < threads && i < 64; i++)
		if (pthread_create(&thread[i], NULL, sweep_some, &s))
			die(path, "no thread");
	sweep_some(&s);
	for (i = 1; i < threads && i < 64; i++)
		pthread_join(thread[i], NULL);
	printf("%llu %llu\n", (unsigned long long)(now_ns() - start),
	       (unsigned long long)s.bytes);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "memmap"))
		return memmap(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "sweep"))
		return sweep(atoi(argv[2]), argv[3], argv[4]);
	fprintf(stderr, "usage: peer_kdumpfile memmap DUMP BLOCKS\n"
		"       peer_kdumpfile sweep THREADS DUMP MIB-MIB\n");
	return 64;
}
