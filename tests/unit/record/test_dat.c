/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests the trace.dat that is written: the library's reader finds the same
 * pages in it. trace-cmd reads one in tests/live/kmem.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/dat.h"
#include "trace/trace.h"
#include "../unit.h"

#define PAGE 4096u
#define EVENTS 20u

static char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static char kfree[] =
	"name: kfree\nID: 600\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"
	"\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n";
static char kallsyms[] = "ffffffff81000000 T _text\n";
static char threads[] = "7 sh\n";

/* One page: EVENTS frees. */
static void fill(unsigned char *page, uint64_t ns, uint64_t object)
{
	struct {
		uint32_t head;	/* 24 bytes, 1 ns later */
		uint16_t type;
		unsigned char flags, preempt;
		int32_t pid;
		uint64_t site, object;
	} __attribute__((packed)) e = { 1u << 5 | 6, 600, 0, 0, 7,
					0xffffffff81000010, 0 };
	const uint64_t commit = EVENTS * sizeof(e);
	unsigned i;

	memset(page, 0, PAGE);
	memcpy(page, &ns, 8);
	memcpy(page + 8, &commit, 8);
	for (i = 0; i < EVENTS; i++) {
		e.object = object + 8 * i;
		memcpy(page + 16 + i * sizeof(e), &e, sizeof(e));
	}
}

static int with_pages(unsigned n, uint64_t object)
{
	FILE *f = tmpfile();
	unsigned char page[PAGE];
	unsigned i;
	int fd;

	ck_assert_ptr_nonnull(f);
	for (i = 0; i < n; i++) {
		fill(page, 1000 + i * 100, object + i * EVENTS * 8);
		ck_assert_uint_eq(fwrite(page, 1, PAGE, f), PAGE);
	}
	fflush(f);
	fd = dup(fileno(f));
	fclose(f);
	return fd;
}

#define STATS "entries: 0\noverrun: %u\ncommit overrun: 0\nbytes: 0\n" \
	      "oldest event ts:     0.0\nnow ts:     9.9\n" \
	      "dropped events: 0\nread events: %u\n"

static struct pdet_text text_of(char *t)
{
	return (struct pdet_text){ t, strlen(t) };
}

/* Processors 0, 2 and 5, with 300, 0 and 1 pages; a file has at most @most
 * bytes. */
static int write_dat(struct pdet_env *env, int fd, rlim_t most)
{
	struct rlimit before, small;
	char stats[3][256];
	struct pdet_dat_cpu cpus[] = {
		{ 0, with_pages(300, 0x1000), 300 * PAGE, stats[0] },
		{ 2, with_pages(0, 0), 0, stats[1] },
		{ 5, with_pages(1, 0x900000), PAGE, stats[2] },
	};
	struct pdet_text event = text_of(kfree);
	const struct pdet_dat_parts parts = {
		.page = PAGE, .clock = "mono", .cpus = cpus, .n_cpus = 3,
		.header_page = text_of(header_page),
		.header_event = text_of(header_page),
		.kallsyms = text_of(kallsyms), .threads = text_of(threads),
		.kmem = &event, .n_kmem = 1,
	};
	int r;

	snprintf(stats[0], sizeof(stats[0]), STATS, 3, 300 * EVENTS);
	snprintf(stats[1], sizeof(stats[1]), STATS, 0, 0);
	snprintf(stats[2], sizeof(stats[2]), STATS, 0, EVENTS);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = most;
	setrlimit(RLIMIT_FSIZE, &small);
	r = pdet_dat_write(env, fd, &parts);
	setrlimit(RLIMIT_FSIZE, &before);
	close(cpus[0].fd);
	close(cpus[1].fd);
	close(cpus[2].fd);
	return r;
}

static void judge(struct pdet_trace *t, uint16_t cpu, uint64_t want,
		  uint64_t object, uint64_t lost)
{
	struct pdet_trace_stream *s = NULL;
	uint64_t n = 0;
	size_t i;
	int r;

	for (i = 0; i < t->n_streams; i++)
		if (t->streams[i]->cpu == cpu)
			s = t->streams[i];
	ck_assert_ptr_nonnull(s);
	for (; (r = s->more(s)) > 0; s->piece.n = 0)
		for (i = 0; i < s->piece.n; i++, n++) {
			ck_assert_uint_eq(s->piece.data[i]->object,
					  object + 8 * n);
			ck_assert_int_eq(s->piece.data[i]->pid, 7);
		}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_eq(n, want);
	ck_assert_uint_eq(s->loss.lost, lost);
	ck_assert_uint_eq(s->loss.missing + s->loss.damaged + s->loss.cut, 0);
	ck_assert_uint_eq(s->loss.uncounted, 0);
}

START_TEST(read_back)
{
	struct pdet_env env = { .root = (char *)"" };
	char name[] = "/tmp/pagedet-test-XXXXXX";
	struct pdet_trace *t;
	int fd = mkstemp(name);

	ck_assert_int_ge(fd, 0);
	if (write_dat(&env, fd, RLIM_INFINITY) == -ENOSYS) {
		unlink(name);
		unit_skip("no library compresses");
	}
	ck_assert_str_eq(env.error, "");
	close(fd);
	ck_assert_int_eq(pdet_trace_open(&env, name, &t), 0);
	unlink(name);
	ck_assert_uint_eq(t->page_size, PAGE);
	ck_assert(!t->no_ns);
	ck_assert_str_eq(t->kallsyms.data, kallsyms);
	ck_assert_str_eq(t->cmdlines.data, threads);
	judge(t, 0, 300 * EVENTS, 0x1000, 3);
	judge(t, 5, EVENTS, 0x900000, 0);
	pdet_trace_free(t);
}
END_TEST

START_TEST(no_room)
{
	struct pdet_env env = { .root = (char *)"" };
	FILE *f = tmpfile();
	int r;

	ck_assert_ptr_nonnull(f);
	signal(SIGXFSZ, SIG_IGN);
	/* The pages are larger. */
	r = write_dat(&env, fileno(f), 3 * PAGE);
	if (r == -ENOSYS)
		unit_skip("no library compresses");
	ck_assert_int_eq(r, -EIO);
	ck_assert_str_eq(env.error, "cannot write a trace: File too large");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dat");

	unit_test(s, read_back);
	unit_test(s, no_room);
	return unit_main(s);
}
