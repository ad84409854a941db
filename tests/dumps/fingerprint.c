/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Prints fingerprints of pages in a dump: one line per page with its frame and
 * the FNV-1a of its bytes, followed by "zero" if all are zero; or why there are
 * no bytes: "excluded", "none" (not memory), "io".
 *
 *   fingerprint DUMP PFN...
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/open.h"

#define PAGE 4096

static void die(const char *what, const char *why)
{
	fprintf(stderr, "fingerprint: %s: %s\n", what, why);
	exit(1);
}

static const char *why(int r)
{
	switch (r) {
	case -ENODATA: return "excluded";
	case -ENOENT: return "none";
	default: return "io";
	}
}

static void print(uint64_t frame, const unsigned char *page)
{
	uint64_t hash = 0xcbf29ce484222325;
	unsigned char any = 0;
	size_t i;

	for (i = 0; i < PAGE; i++) {
		hash = (hash ^ page[i]) * 0x100000001b3;
		any |= page[i];
	}
	printf("%#" PRIx64 " %016" PRIx64 "%s\n", frame, hash,
	       any ? "" : " zero");
}

int main(int argc, char **argv)
{
	struct pdet_env env = { .root = (char []){ "" } };
	unsigned char page[PAGE];
	struct pdet_reader *r;
	struct pdet_memory *m;
	uint64_t frame;
	int i, n, fd;

	if (argc < 3)
		die("usage", "fingerprint DUMP PFN...");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(argv[1], strerror(errno));
	if (pdet_memory_open(&env, &fd, 1, NULL, 0, &m) < 0)
		die(argv[1], env.error);
	if (m->ops->reader_new(m, 1 << 20, &r) < 0)
		die(argv[1], "no memory");
	for (i = 2; i < argc; i++) {
		frame = strtoull(argv[i], NULL, 0);
		n = m->ops->read_phys(r, frame * PAGE, page, PAGE);
		if (n < 0)
			printf("%#" PRIx64 " %s\n", frame, why(n));
		else
			print(frame, page);
	}
	m->ops->reader_free(r);
	pdet_memory_close(m);
	return 0;
}
