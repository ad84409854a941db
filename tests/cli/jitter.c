/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A compiler at run time: writes two functions into memory, lists them in
 * /tmp/perf-PID.map, and sleeps in what they call. Then stdout has a line with
 * their addresses. Only for x86-64.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

/* It calls its argument. Nothing but its first two instructions says what it
 * has on the stack. */
static const unsigned char with_frame[] = {
	0x55,			/* push %rbp */
	0x48, 0x89, 0xe5,	/* mov %rsp,%rbp */
	0x6a, 0x00, 0x6a, 0x00,	/* push $0, twice */
	0xff, 0xd7,		/* call *%rdi */
	0xc9, 0xc3		/* leave, ret */
};

/* The same, without a frame pointer. */
static const unsigned char without_frame[] = {
	0x48, 0x83, 0xec, 0x38,	/* sub $56,%rsp */
	0xff, 0xd7,		/* call *%rdi */
	0x48, 0x83, 0xc4, 0x38, 0xc3
};

typedef void callee(void);
typedef void caller(callee *call);

static caller *outer, *inner;
static volatile int word;

/* The compiler may not leave out what comes after a call. */
APART static void nap(void)
{
	printf("%p %p\n", (void *)outer, (void *)inner);
	fflush(stdout);
	pause();
	word++;
}

APART static void between(void)
{
	inner(nap);
	word++;
}

APART static void begin(void)
{
	outer(between);
	word++;
}

/* Old code was in the same place, and some lines are wrong. */
static int list(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f || fchmod(fileno(f), 0644))
		return -1;
	fprintf(f, "%lx 20 gone\n%lx 1000 gone, too\n", (unsigned long)inner,
		(unsigned long)inner);
	fprintf(f, "%lx %zx outer: a;b +1 [c]\n", (unsigned long)outer,
		sizeof(with_frame));
	fprintf(f, "0x%lx 0x%zx inner\n", (unsigned long)inner,
		sizeof(without_frame));
	fprintf(f, "%lx\nffffffffffffffff 2 wraps\nnothing\n%lx 20 cut",
		(unsigned long)inner, (unsigned long)inner);
	return fclose(f);
}

static void *put(char *at, const unsigned char *code, size_t n)
{
	memcpy(at, code, n);
	return at;
}

int main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (page == MAP_FAILED)
		return 1;
	at = put(page, with_frame, sizeof(with_frame));
	memcpy(&outer, &at, sizeof(at));
	at = put(page + 64, without_frame, sizeof(without_frame));
	memcpy(&inner, &at, sizeof(at));
	if (list())
		return 1;
	begin();
	return 0;
}

#else

int main(void)
{
	return 1;
}

#endif
