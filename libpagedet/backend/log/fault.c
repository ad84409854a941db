/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses reports of programs with invalid accesses (Linux arch/x86/mm/fault.c,
 * show_signal_msg(), arch/x86/kernel/traps.c, show_signal(), arch/arm64/kernel/
 * traps.c, arm64_show_signal(); arch/riscv/kernel/traps.c, arch/powerpc/kernel/
 * traps.c, arch/mips/mm/fault.c, arch/s390/mm/fault.c, arch/sparc/mm/fault_*.c,
 * arch/arm/mm/fault.c, arch/nios2/mm/fault.c; 4.4 to 6.18):
 *
 *   prog[412]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30 error 4 in
 *       prog[55d0c2a9b000+1000] likely on CPU 3 (core 3, socket 0)
 *   Code: 48 89 e5 b8 00 00 00 00 <8b> 00 5d c3 ...
 *   prog[412]: segfault at 0000000000000010 rip 0000000000400754 rsp
 *       00007ffc0a1b2c30 error 4             (before 2.6.26)
 *   traps: prog[412] general protection fault ip:7f.. sp:7f.. error:0 in
 *       libc.so.6[7f3a10028000+195000]
 *   prog[412]: unhandled exception: DABT (lower EL), ESR 0x92000006, level 2
 *       translation fault in prog[aaaac0e70000+1000]
 *   prog[412]: unhandled level 2 translation fault (11) at 0x10, esr
 *       0x92000006, in prog[400000+1000]      (arm64 before 4.17)
 *   CPU: 0 PID: 412 Comm: prog Not tainted ...
 *   pc : 0000aaaac0e70754                     (arm64)
 *   pc : [<0000000000400754>] lr : [<0000007f9b6d9a00>] pstate: 60000000
 *                                             (arm64 before 4.16)
 *
 *   prog[412]: unhandled signal 11 code 0x1 at 0x0000000000000010 in
 *       prog[2adb4000+1000]                   (riscv)
 *   prog[412]: segfault (11) at 10 nip 11fd3a920 lr 11fd3a91c code 1 in
 *       prog[11fcd0000+100000]                (powerpc; before 4.20 "unhandled
 *                                             signal 11", without the file)
 *   do_page_fault(): sending SIGSEGV to prog for invalid read access from
 *       00000010                              (mips)
 *   epc = 77db6928 in prog[77d92000+b2000]
 *   User process fault: interruption code 0010 ilc:2 in prog[80000+1000]
 *   Failing address: 000003ff90fff000 TEID: 000003ff90fff800	(s390)
 *   CPU: 0 PID: 412 Comm: prog Not tainted ...
 *   prog[412]: segfault at 10 ip 000000010000074c (rpc 0000000100000738) sp
 *       000007feffa0e9c1 error 1 in prog[100000000+2000]	(sparc)
 *   prog: unhandled page fault (11) at 0x00000010, code 0x805	(arm; nios2
 *                                                      has "cause 14")
 *   CPU: 0 PID: 412 Comm: prog Not tainted ...
 *
 * Newer kernels also print the offset of the instruction in the file: "prog[
 * 113d,55d0c2a9b000+1000]". A file appears only with the last component of its
 * name.
 */
#include <stdio.h>
#include <string.h>

#include "backend/log/report.h"

/* TASK_COMM_LEN, two brackets and the largest pid. */
#define MOST_HEAD 32
/* TASK_COMM_LEN without its NUL. */
#define COMM_MAX 15
/* Longest text: a line, and the program's bytes after it. */
#define MOST_WORDS 1200

/* --- the number after "error" (arch/x86/include/asm/trap_pf.h) */

enum x86_error {
	X86_PRESENT = 1 << 0, X86_WRITE = 1 << 1, X86_USER = 1 << 2,
	X86_RESERVED = 1 << 3, X86_FETCH = 1 << 4, X86_KEY = 1 << 5,
	X86_SHADOW = 1 << 6, X86_SGX = 1 << 15
};

/* The registers of the fault, and what the line tells of the machine. */
struct x86_fault {
	uint64_t addr, ip, sp, error;
	bool of_64;		/* the kernel has 64 bits */
};

/* The end of the addresses of programs, in a kernel of 64 bits with page tables
 * of four levels and of five. */
#define END_4 0x00007ffffffff000
#define END_5 0x00fffffffffff000
/* The first address of a kernel of 64 bits, and the lowest that one of 32 bits
 * may have. The stack is below it. */
#define KERNEL_5 0xff00000000000000
#define KERNEL_32 0x40000000

/*
 * The kernel sets X86_PRESENT for each address that is not one of programs, so
 * as not to tell what is there (arch/x86/mm/fault.c, sanitize_error_code();
 * since 3.9).
 */
static const char *x86_present(const struct x86_fault *f)
{
	if (f->addr >= KERNEL_5)
		return "it is an address of the kernel";
	if (f->addr >= END_5)
		return "it is not an address of programs";
	if (f->addr >= END_4)
		return "it is not an address of programs, or its page is "
		       "present and forbids it";
	if (!f->of_64 && f->addr >= KERNEL_32 && f->addr > f->sp &&
	    !(f->addr >> 32) && !(f->ip >> 32))
		return "it is an address of the kernel, if that has 32 bits, "
		       "or its page is present and forbids it";
	return "its page is present and forbids it";
}

static const char *x86_why(const struct x86_fault *f)
{
	if (f->error & X86_SGX)
		return "SGX refuses it";
	if (f->error & X86_RESERVED)
		return "its page table entry has a reserved bit set";
	if (f->error & X86_KEY)
		return "its protection key forbids it";
	return f->error & X86_PRESENT ? x86_present(f) :
					"no page is present there";
}

/* A processor tells a fetch from a read only if it can forbid fetches. */
static const char *x86_access(const struct x86_fault *f)
{
	if (f->error & X86_FETCH)
		return "instruction fetch";
	if (f->error & X86_SHADOW)
		return "shadow stack access";
	if (f->error & X86_WRITE)
		return "write";
	return f->ip == f->addr ? "read or instruction fetch" : "read";
}

static int x86_words(char *buf, size_t size, const struct x86_fault *f)
{
	return snprintf(buf, size, "%s by %s, %s", x86_access(f),
			f->error & X86_USER ? "the program" : "the kernel",
			x86_why(f));
}

/* ESR_EL1 (Arm ARM, D17): bits 26 to 31 are the class. For a data abort, bit 6
 * means a write, and the low six bits are the kind of fault. */
static int arm64_words(char *buf, size_t size, uint64_t esr)
{
	static const char *const faults[16] = {
		[1] = "no page is present there",
		[2] = "its access flag is not set",
		[3] = "its page is present and forbids it",
	};
	const unsigned class = esr >> 26 & 0x3f, status = esr & 0x3f;
	const char *fault = faults[status >> 2];
	const bool fetch = class == 0x20;

	if ((class != 0x24 && !fetch) || !fault)
		return 0;
	return snprintf(buf, size, "%s by the program, %s",
			fetch ? "instruction fetch" :
			esr & 1 << 6 ? "write" : "read", fault);
}

/* The fault status register (Arm ARM for v7, B4.1.52): bit 11 means a write,
 * bit 9 the format of large addresses. Bit 31 is the kernel's, for the fetch of
 * an instruction (arch/arm/mm/fault.h). */
static void arm_words(char *buf, size_t size, uint64_t fsr)
{
	static const char *const small[32] = {
		[0x03] = "its access flag is not set",
		[0x05] = "no page is present there",
		[0x06] = "its access flag is not set",
		[0x07] = "no page is present there",
		[0x0d] = "its page is present and forbids it",
		[0x0f] = "its page is present and forbids it",
	};
	static const char *const large[16] = {
		[1] = "no page is present there",
		[2] = "its access flag is not set",
		[3] = "its page is present and forbids it",
	};
	const char *fault = fsr & 1 << 9 ? large[fsr >> 2 & 15] :
			    small[(fsr & 15) | (fsr >> 6 & 16)];

	if (!fault)
		return;
	snprintf(buf, size, "%s by the program, %s",
		 fsr >> 31 & 1 ? "instruction fetch" :
		 fsr & 1 << 11 ? "write" : "read", fault);
}

/* --- lines --- */

/* Parse "prog[412]", which ends at @end. */
static bool program(struct pdet_log_page *p, struct pdet_scan s,
		    const char *end, bool *memory)
{
	const char *open;

	if (end - s.at < 4 || end[-1] != ']')
		return false;
	open = memrchr(s.at, '[', (size_t)(end - s.at));
	if (!open || open == s.at || open - s.at > 15)
		return false;
	p->file.len = 0;
	s.end = end - 1;
	return pdet_log_task(p, s, '[', memory);
}

/* Find @word after a program's name, which may contain @word itself. */
static bool head(struct pdet_log_page *p, struct pdet_scan *s,
		 const char *word, bool *memory)
{
	const size_t len = strlen(word);
	const size_t most = PDET_MIN((size_t)(s->end - s->at), MOST_HEAD + len);
	const char *at = memmem(s->at, most, word, len);

	if (!at || !program(p, *s, at + 1, memory))
		return false;
	s->at = at + len;
	return true;
}

/* Parse "prog[113d,55d0c2a9b000+1000]". The first number may be missing. */
static void mapped_at(struct pdet_log_page *p, struct pdet_scan name,
		      bool *memory)
{
	struct pdet_scan at = name;
	uint64_t offset, base, len;

	at.at = memchr(name.at, '[', (size_t)(name.end - name.at));
	if (!at.at || at.at == name.at)
		return;
	name.end = at.at++;
	*memory &= pdet_log_keep(p, name, &p->file);
	if (!pdet_scan_hex(&at, &offset) || !pdet_scan_char(&at, ',') ||
	    !pdet_scan_hex(&at, &base) || !pdet_scan_char(&at, '+') ||
	    !pdet_scan_hex(&at, &len) || !pdet_scan_char(&at, ']'))
		return;
	p->has_position = true;
	p->position = offset;
}

/* The same after " in ". */
static void mapped(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan name;

	if (pdet_log_behind(s, " in ", &name))
		mapped_at(p, name, memory);
}

/* Append the kernel's text to ours. */
static void append(struct pdet_log_page *p, const char *words,
		   struct pdet_scan said, bool *memory)
{
	char text[MOST_WORDS];
	int n = snprintf(text, sizeof(text), "%s%.*s", words,
			 (int)(said.end - said.at), said.at);

	if (n > 0)
		*memory &= pdet_log_keep(p, (struct pdet_scan){ text, text +
			PDET_MIN((size_t)n, sizeof(text) - 1) }, &p->why);
}

/* "WORDS: SAID". */
static void say(struct pdet_log_page *p, const char *words,
		struct pdet_scan said, bool *memory)
{
	char text[MOST_WORDS];

	snprintf(text, sizeof(text), "%s%s", words, *words ? ": " : "");
	append(p, text, said, memory);
}

static void address(struct pdet_log_page *p, uint64_t addr)
{
	p->has_address = true;
	p->virt = addr;
}

/* SIGSEGV and SIGBUS have the address of the access, others that of the
 * instruction. */
#define SEGV 11
#define BUS 7

/* The lowest bits of si_code (include/uapi/asm-generic/siginfo.h); powerpc
 * once printed more. */
static const char *code_words(uint64_t sig, uint64_t code)
{
	if (sig != SEGV)
		return "";
	switch (code & 0xffff) {
	case 1:
		return "access by the program, nothing is mapped there";
	case 2:
		return "access by the program, its mapping forbids it";
	default:
		return "";
	}
}

/* A register, "           (null)" if it is 0 (before 4.15). */
static bool pointer(struct pdet_scan *s, uint64_t *ret)
{
	struct pdet_log_pointer is;

	if (!pdet_log_pointer(s, &is))
		return false;
	*ret = is.value;
	return true;
}

/* " ip " and " sp "; before 2.6.26 " rip " and " rsp ", " eip " and " esp ",
 * which tell how many bits the kernel has. */
static bool reg(struct pdet_scan *s, char name, bool *of_64)
{
	const char plain[] = { ' ', name, 'p', ' ', '\0' };
	const char wide[] = { ' ', 'r', name, 'p', ' ', '\0' };
	const char narrow[] = { ' ', 'e', name, 'p', ' ', '\0' };

	if (pdet_scan_word(s, wide)) {
		*of_64 = true;
		return true;
	}
	return pdet_scan_word(s, plain) || pdet_scan_word(s, narrow);
}

/* "segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30 error 4"; sparc prints also
 * "(rpc ...)". */
static bool segfault(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct x86_fault f = { .of_64 = false };
	struct pdet_scan said;
	char words[160];
	bool sparc;

	if (!head(p, &s, "]: segfault at ", memory))
		return false;
	said = (struct pdet_scan){ s.at - strlen("segfault at "), s.end };
	if (!pdet_log_hex(&s, &f.addr) || !reg(&s, 'i', &f.of_64) ||
	    !pointer(&s, &f.ip))
		return false;
	sparc = pdet_scan_word(&s, " (rpc ");
	if (sparc && (!pdet_log_hex(&s, &f.ip) || !pdet_scan_char(&s, ')')))
		return false;
	if (!reg(&s, 's', &f.of_64) || !pointer(&s, &f.sp) ||
	    !pdet_scan_word(&s, " error ") || !pdet_log_hex(&s, &f.error))
		return false;
	address(p, f.addr);
	if (sparc) {
		/* si_code. The signal is not printed: 2 has two meanings. */
		snprintf(words, sizeof(words), "%s",
			 f.error == 1 ? code_words(SEGV, f.error) : "");
	} else {
		p->shift = PDET_LOG_X86_SHIFT;
		x86_words(words, sizeof(words), &f);
	}
	mapped(p, s, memory);
	say(p, words, said, memory);
	return true;
}

/* "traps: prog[412] general protection fault ip:7f.. sp:7f.. error:0", which
 * has no address. */
static bool trap(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan ip, said;
	uint64_t value;

	/* Before 3.9 without "traps: ". */
	pdet_scan_word(&s, "traps: ");
	if (!head(p, &s, "] ", memory))
		return false;
	said = s;
	if (!pdet_log_behind(s, " ip:", &ip) || !pdet_log_hex(&ip, &value) ||
	    !pdet_scan_word(&ip, " sp:") || !pdet_log_hex(&ip, &value) ||
	    !pdet_scan_word(&ip, " error:") || !pdet_log_hex(&ip, &value))
		return false;
	p->shift = PDET_LOG_X86_SHIFT;
	mapped(p, ip, memory);
	say(p, "", said, memory);
	return true;
}

static bool arm64(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan esr, at, said;
	uint64_t value, addr;
	char words[128] = "";

	if (!head(p, &s, "]: unhandled ", memory))
		return false;
	said = s;
	if (!pdet_log_behind(s, ", ESR ", &esr) &&
	    !pdet_log_behind(s, ", esr ", &esr))
		return false;
	if (!pdet_log_hex(&esr, &value))
		return false;
	p->wants_pc = true;
	if (pdet_log_behind(s, ") at ", &at) && at.at < esr.at &&
	    pdet_log_hex(&at, &addr))
		address(p, addr);
	arm64_words(words, sizeof(words), value);
	mapped(p, esr, memory);
	say(p, words, said, memory);
	return true;
}

/* "unhandled signal 11 code 0x1 at 0x10 in ..." and "unhandled signal 11 at
 * 10 nip ... lr ... code 30001". */
static bool signalled(struct pdet_log_page *p, struct pdet_scan s,
		      bool *memory)
{
	uint64_t sig, code = 0, addr;
	struct pdet_scan said, behind;
	bool coded;

	if (head(p, &s, "]: unhandled signal ", memory)) {
		said.at = s.at - strlen("unhandled signal ");
	} else {
		if (!head(p, &s, "]: segfault (", memory))
			return false;
		said.at = s.at - strlen("segfault (");
	}
	said.end = s.end;
	if (!pdet_scan_dec(&s, &sig))
		return false;
	pdet_scan_char(&s, ')');
	coded = pdet_scan_word(&s, " code ") && pdet_log_hex(&s, &code);
	if (!pdet_scan_word(&s, " at ") || !pdet_log_hex(&s, &addr))
		return false;
	if (!coded && (!pdet_log_behind(s, " code ", &behind) ||
		       !pdet_log_hex(&behind, &code)))
		return false;
	if (sig == SEGV || sig == BUS)
		address(p, addr);
	mapped(p, s, memory);
	say(p, code_words(sig, code), said, memory);
	p->over = true;
	return true;
}

/* "prog: unhandled page fault (11) at 0x00000010, code 0x805" */
static bool arm(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	static const char word[] = ": unhandled page fault (";
	const size_t most = PDET_MIN((size_t)(s.end - s.at),
				     COMM_MAX + sizeof(word) - 1);
	const char *at = memmem(s.at, most, word, sizeof(word) - 1);
	const struct pdet_scan name = { s.at, at };
	struct pdet_scan said = s;
	char words[128] = "";
	uint64_t sig, addr, code;

	if (!at || at == s.at)
		return false;
	said.at = at + strlen(": ");
	s.at = at + sizeof(word) - 1;
	if (!pdet_scan_dec(&s, &sig) || !pdet_scan_word(&s, ") at 0x") ||
	    !pdet_scan_hex(&s, &addr))
		return false;
	if (pdet_scan_word(&s, ", code 0x") && pdet_scan_hex(&s, &code))
		arm_words(words, sizeof(words), code);
	else if (!pdet_scan_word(&s, ", cause "))
		return false;
	pdet_log_name(p, name, memory);
	if (sig == SEGV || sig == BUS)
		address(p, addr);
	say(p, words, said, memory);
	return true;
}

static bool mips(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan task, said;
	const char *words;
	uint64_t addr;

	if (!pdet_scan_word(&s, "do_page_fault(): "))
		return false;
	said = task = s;
	if (!pdet_scan_word(&task, "sending SIGSEGV to ") ||
	    !pdet_log_before(&task, " for invalid ") ||
	    !pdet_log_behind(s, " access from ", &s) ||
	    !pdet_log_hex(&s, &addr))
		return false;
	words = pdet_log_behind(said, " for invalid write ", &s) ?
		"write by the program" : "read by the program";
	pdet_log_name(p, task, memory);
	address(p, addr);
	say(p, words, said, memory);
	return true;
}

static bool s390(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan said = s;
	uint64_t code;

	if (!pdet_scan_word(&s, "User process fault: interruption code ") ||
	    !pdet_log_hex(&s, &code))
		return false;
	mapped(p, s, memory);
	say(p, "", said, memory);
	return true;
}

/* The first lines of those that have no task at their beginning. */
static bool taskless(struct pdet_log_page *p, struct pdet_scan s,
		     bool *memory)
{
	if (s.at == s.end || (*s.at != 'd' && *s.at != 'U'))
		return false;
	return mips(p, s, memory) || s390(p, s, memory);
}

bool pdet_log_fault_begins(struct pdet_log_page *p, struct pdet_scan s,
			   bool *memory)
{
	const size_t most = PDET_MIN((size_t)(s.end - s.at), MOST_HEAD + 8);

	/* Very few log lines have a bracket there. */
	if (!taskless(p, s, memory) && !arm(p, s, memory) &&
	    (!memchr(s.at, '[', most) ||
	     (!segfault(p, s, memory) && !trap(p, s, memory) &&
	      !arm64(p, s, memory) && !signalled(p, s, memory)))) {
		p->has_address = p->has_position = p->task = false;
		p->wants_pc = false;
		p->shift = 0;
		p->comm.len = p->file.len = p->why.len = 0;
		p->text.n = 0;
		return false;
	}
	p->report = PAGEDET_REPORT_FAULT;
	p->found = true;
	return true;
}

/* Add to the text of the report: "; NAME: SAID". */
static void add(struct pdet_log_page *p, const char *name,
		struct pdet_scan said, bool *memory)
{
	const struct pdet_scan why = pdet_log_page_text(p, p->why);
	char text[MOST_WORDS];

	snprintf(text, sizeof(text), "%.*s; %s", (int)(why.end - why.at),
		 why.at, name);
	say(p, text, said, memory);
}

/* Take the number of "pc : [<0000000000400754>] func+0x14/0x30". If it is an
 * address of the kernel, the registers belong to something else. */
static bool take_pc(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan number;
	uint64_t pc;

	if (!p->wants_pc || !pdet_scan_word(&s, "pc : "))
		return false;
	pdet_scan_word(&s, "[<");
	number = s;
	if (!pdet_log_hex(&s, &pc) || pc >> 63)
		return false;
	number.end = s.at;
	add(p, "pc", number, memory);
	p->wants_pc = false;
	return true;
}

/* The other lines of mips and s390. */
static bool take_place(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	uint64_t addr;

	if (pdet_scan_word(&s, "epc = ")) {
		mapped(p, s, memory);
		add(p, "epc", s, memory);
		p->over = true;
		return true;
	}
	if (!p->has_address && pdet_scan_word(&s, "Failing address: ")) {
		if (pdet_log_hex(&s, &addr))
			address(p, addr);
		return true;
	}
	if (p->task || !pdet_log_cpu(p, s, memory))
		return false;
	p->over = true;
	return true;
}

/* " in prog[55d0c2a9b000+1000]" on a line of its own: Linux 4.9 breaks lines
 * that are printed in parts. */
static bool take_file(struct pdet_log_page *p, struct pdet_scan s,
		      bool *memory)
{
	const struct pdet_scan why = pdet_log_page_text(p, p->why), line = s;
	char text[MOST_WORDS];
	struct pdet_scan at;
	uint64_t base;

	if (p->file.len || p->wants_pc || !pdet_scan_word(&s, "in "))
		return false;
	at = s;
	at.at = memrchr(s.at, '[', (size_t)(s.end - s.at));
	if (!at.at || at.at == s.at || !pdet_scan_char(&at, '[') ||
	    !pdet_scan_hex(&at, &base) || !pdet_scan_char(&at, '+') ||
	    s.end[-1] != ']')
		return false;
	mapped_at(p, s, memory);
	snprintf(text, sizeof(text), "%.*s ", (int)(why.end - why.at), why.at);
	append(p, text, line, memory);
	return true;
}

/* "Code: 48 89 e5 <8b> 00": the program's bytes around the instruction,
 * optionally on the next line. */
bool pdet_log_fault(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	if (take_pc(p, s, memory) || take_place(p, s, memory) ||
	    take_file(p, s, memory))
		return true;
	if (!pdet_scan_word(&s, "Code: "))
		return false;
	add(p, "Code", s, memory);
	p->over = true;
	return true;
}
