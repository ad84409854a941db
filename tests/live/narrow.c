/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * narrow - a 32-bit program of x86-64 that sleeps in the handler of a signal
 *
 * It needs no C library, for there may be none of 32 bits. All its system calls
 * go through the vdso, and its handler returns to there. The functions of its
 * stack, innermost first, are those that truth/narrow.py expects.
 */
/* Without a C library of 32 bits there are no such headers of the kernel. */
enum { NR_GETPID = 20, NR_PAUSE = 29, NR_KILL = 37, NR_RT_SIGACTION = 174 };
enum { AT_NULL = 0, AT_SYSINFO = 32 };
#define SIGUSR1 10

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline, used))
#else
#define APART __attribute__((noipa, used))
#endif

/* As the kernel has it: without SA_RESTORER it returns to the vdso. */
struct action {
	void (*handler)(int number);
	unsigned long flags;
	void (*restorer)(void);
	unsigned char mask[8];
};

static unsigned long entry;	/* of the vdso */
static volatile int word;

APART static long call(long number, long a, const void *b, const void *c,
		       long d)
{
	long ret;

	__asm__ volatile("call *%1" : "=a"(ret) : "m"(entry), "a"(number),
			 "b"(a), "c"(b), "d"(c), "S"(d) : "memory");
	return ret;
}

APART static void nap(void)
{
	call(NR_PAUSE, 0, 0, 0, 0);
	word++;
}

APART static int inner(int n)
{
	nap();
	return n + word;
}

APART static void handle(int number)
{
	word += inner(number);
}

APART static long raised(void)
{
	const long pid = call(NR_GETPID, 0, 0, 0, 0);

	return call(NR_KILL, pid, (const void *)SIGUSR1, 0, 0) + word;
}

APART static long outer(void)
{
	const struct action a = { .handler = handle };

	call(NR_RT_SIGACTION, SIGUSR1, &a, 0, sizeof(a.mask));
	return raised() + word;
}

/* @sp: the number of words, the words, the environment, and pairs of numbers,
 * with a zero behind each. */
APART static int begin(const unsigned long *sp)
{
	const unsigned long *at = sp + 1 + sp[0] + 1;

	while (*at++)
		;
	for (; at[0] != AT_NULL; at += 2)
		if (at[0] == AT_SYSINFO)
			entry = at[1];
	while (entry)
		word += (int)outer();
	return word;
}

__asm__(".text\n"
	".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined eip\n"
	"mov %esp, %eax\n"
	"and $-16, %esp\n"
	"sub $12, %esp\n"
	"push %eax\n"
	"call begin\n"
	"hlt\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
