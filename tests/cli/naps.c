/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * naps - sleeps where a stack is hard to unwind
 *
 * usage: naps plain | deep | restorer | restorer-rt | stack | vfork | jit |
 *	      vdso | int80
 *
 * Prints a line and sleeps in pause(). tests/cli/user-programs.py and
 * user-compat.py compile it in several ways, and know the stacks.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

static volatile int word;

APART static void nap(void)
{
	(void)!write(STDOUT_FILENO, "\n", 1);
	pause();
	word++;
}

APART static int inner(int n)
{
	nap();
	return n + word;
}

APART static int middle(int n)
{
	return inner(n) + 1;
}

APART static int outer(int n)
{
	return middle(n) + 1;
}

APART static int deep(int n)
{
	word = n;
	if (n)
		n += deep(n - 1);
	else
		outer(n);
	word = n;
	return n;
}

/* The parent waits as long as the child sleeps. */
APART static int stay(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)!write(STDOUT_FILENO, "\n", 1);
		pause();
		_exit(0);
	}
	return word;
}

/* Calls pause() with a frame of 64 bytes, and without a table. */
APART static int jit(void)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x38,	/* sub $56,%rsp */
		0xff, 0xd7,		/* call *%rdi */
		0x48, 0x83, 0xc4, 0x38, 0xc3
	};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*f)(void));

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, code, sizeof(code));
	memcpy(&call, &at, sizeof(call));
	call(nap);
	return word;
}

#if defined(__x86_64__) || defined(__i386__)

static void handle(int number)
{
	word += outer(number);
}

APART static int raised(void)
{
	raise(SIGUSR1);
	return word;
}

/* Some C libraries have no table for them. */
void naps_restorer(void);
#ifdef __x86_64__
#define naps_restorer_rt naps_restorer
__asm__(".text\n.globl naps_restorer\n.type naps_restorer,@function\n"
	"nop\nnaps_restorer:\nmov $15,%rax\nsyscall\n"
	".size naps_restorer,.-naps_restorer\n");
#else
void naps_restorer_rt(void);
__asm__(".text\n.globl naps_restorer\n.type naps_restorer,@function\n"
	"nop\nnaps_restorer:\npop %eax\nmov $119,%eax\nint $0x80\n"
	".size naps_restorer,.-naps_restorer\n"
	".globl naps_restorer_rt\n.type naps_restorer_rt,@function\n"
	"nop\nnaps_restorer_rt:\nmov $173,%eax\nint $0x80\n"
	".size naps_restorer_rt,.-naps_restorer_rt\n");
#endif

/* 32-bit programs have another frame without SA_SIGINFO. */
APART static int restorer(unsigned long flags, void (*back)(void))
{
	const struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned char mask[8];
	} action = { handle, 0x04000000 | flags, back, { 0 } };

	if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8) < 0)
		return 1;
	return raised() + 1;
}

APART static int stack(void)
{
	const stack_t s = { .ss_sp = malloc(65536), .ss_size = 65536 };
	struct sigaction a = { .sa_flags = SA_ONSTACK };

	a.sa_handler = handle;
	if (!s.ss_sp || sigaltstack(&s, NULL) < 0 ||
	    sigaction(SIGUSR1, &a, NULL) < 0)
		return 1;
	return raised() + 1;
}

#else

static int restorer(unsigned long flags, void (*back)(void))
{
	(void)flags;
	(void)back;
	return 1;
}

static int stack(void)
{
	return 1;
}

#define naps_restorer NULL
#define naps_restorer_rt NULL

#endif

#ifdef __x86_64__

/* Sleeps if it has interrupted code of the vdso. */
static void handle_time(int number, siginfo_t *info, void *context)
{
	const ucontext_t *u = context;
	const uint64_t ip = (uint64_t)u->uc_mcontext.gregs[REG_RIP];

	(void)info;
	if (ip - getauxval(AT_SYSINFO_EHDR) < 4096)
		word += outer(number);
}

APART static int vdso(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	struct sigaction a = { .sa_flags = SA_SIGINFO };
	struct timespec t;
	long i;

	a.sa_sigaction = handle_time;
	if (sigaction(SIGALRM, &a, NULL) < 0 ||
	    setitimer(ITIMER_REAL, &often, NULL) < 0)
		return 1;
	for (i = 0; i < 100000000; i++)
		word += clock_gettime(CLOCK_MONOTONIC, &t);
	return word;
}

#else

static int vdso(void)
{
	return 1;
}

#endif

#ifdef __i386__

/* Not by the vdso. */
APART static int int80(void)
{
	int ret;

	(void)!write(STDOUT_FILENO, "\n", 1);
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(SYS_pause) : "memory");
	return ret + word;
}

#else

static int int80(void)
{
	return 1;
}

#endif

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "plain";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(how, "plain"))
		return outer(1) + 1;
	if (!strcmp(how, "deep"))
		return deep(10000) + 1;
	if (!strcmp(how, "restorer"))
		return restorer(0, naps_restorer) + 1;
	if (!strcmp(how, "restorer-rt"))
		return restorer(SA_SIGINFO, naps_restorer_rt) + 1;
	if (!strcmp(how, "stack"))
		return stack() + 1;
	if (!strcmp(how, "vfork"))
		return stay() + 1;
	if (!strcmp(how, "jit"))
		return jit() + 1;
	if (!strcmp(how, "vdso"))
		return vdso() + 1;
	if (!strcmp(how, "int80"))
		return int80() + 1;
	return 1;
}
