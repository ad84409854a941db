/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs a fuzzer without libFuzzer over the given files and directories, or over
 * tests/fuzz/corpus/NAME of the source tree. Each input is also truncated, and
 * single bits are flipped, so that "make check" tests more than the corpus.
 * Prints TAP.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define INPUT_SIZE (1 << 20)
/* For one input; far more than any needs. */
#define SECONDS 60
/* Damaged copies per input, so that large ones take no longer. */
#define COPIES 512

struct counts {
	unsigned inputs;
	unsigned runs;
};

/* Inputs have buffers of exact size, so that reads past them are detected. */
static void run(const uint8_t *data, size_t size, struct counts *c)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	/* An input that does not end is a failure, too. */
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	free(copy);
	c->runs++;
}

static void run_damaged(uint8_t *data, size_t size, struct counts *c)
{
	size_t step = size / COPIES + 1, at;

	for (at = 0; at < size; at += step) {
		uint8_t bit = (uint8_t)(1 << at % 8);

		run(data, at, c);
		data[at] ^= bit;
		run(data, size, c);
		data[at] ^= bit;
	}
}

static int run_file(const char *path, struct counts *c)
{
	FILE *f = fopen(path, "r");
	uint8_t *data;
	size_t size;

	if (!f) {
		printf("# cannot read %s: %s\n", path, strerror(errno));
		return -1;
	}
	data = malloc(INPUT_SIZE);
	if (!data)
		abort();
	size = fread(data, 1, INPUT_SIZE, f);
	fclose(f);
	/* Printed before the run, which may not return. */
	printf("# %s\n", path);
	fflush(stdout);
	run(data, size, c);
	run_damaged(data, size, c);
	free(data);
	c->inputs++;
	return 0;
}

static int run_path(const char *path, struct counts *c)
{
	char name[PATH_MAX];
	struct dirent **list;
	struct stat st;
	int i, n, r = 0;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return run_file(path, c);
	n = scandir(path, &list, NULL, alphasort);
	if (n < 0) {
		printf("# cannot read %s: %s\n", path, strerror(errno));
		return -1;
	}
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && run_path(name, c) < 0)
			r = -1;
		free(list[i]);
	}
	free(list);
	return r;
}

/* "/x/.libs/lt-fuzz_maps" fuzzes maps. */
static const char *subject(const char *program)
{
	const char *name = strstr(program, "fuzz_"), *next;

	if (!name)
		return program;
	while ((next = strstr(name + 1, "fuzz_")))
		name = next;
	return name + strlen("fuzz_");
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir"), *name = subject(argv[0]);
	struct counts c = { 0, 0 };
	char path[PATH_MAX];
	int i, r = 0;

	printf("1..1\n");
	fflush(stdout);
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s",
		 top && *top ? top : ".", name);
	if (argc < 2)
		r = run_path(path, &c);
	for (i = 1; i < argc; i++)
		if (run_path(argv[i], &c) < 0)
			r = -1;
	if (!c.inputs)
		printf("# there is no input\n");
	printf("%s 1 - %s: %u inputs, %u runs\n",
	       r == 0 && c.inputs ? "ok" : "not ok", name, c.inputs, c.runs);
	return r == 0 && c.inputs ? 0 : 1;
}
