/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * libtracecmd's side: bench/run compiles it where the library is. It goes
 * through all events in the order of their times, and does nothing with them.
 * Its last line is the ns that this took, with the opening, and how many events
 * there were.
 *
 *   peer_tracecmd TRACE.DAT
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <trace-cmd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int count(struct tracecmd_input *handle, struct tep_record *record,
		 int cpu, void *arg)
{
	(void)handle;
	(void)record;
	(void)cpu;
	++*(uint64_t *)arg;
	return 0;
}

int main(int argc, char **argv)
{
	struct tracecmd_input *in;
	const uint64_t start = now_ns();
	uint64_t n = 0;

	in = argc == 2 ? tracecmd_open(argv[1], 0) : NULL;
	if (!in) {
		fprintf(stderr, "peer_tracecmd: cannot open the trace\n");
		return 1;
	}
	if (tracecmd_iterate_events(in, NULL, 0, count, &n) < 0) {
		fprintf(stderr, "peer_tracecmd: cannot read the trace\n");
		return 1;
	}
	printf("%" PRIu64 " %" PRIu64 "\n", now_ns() - start, n);
	tracecmd_close(in);
	return 0;
}
