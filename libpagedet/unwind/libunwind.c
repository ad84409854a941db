/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds with libunwind's remote accessors. Only this file includes libunwind.
 * It follows tables alone: where there is none, libunwind would guess by frame
 * pointers, and that guess is not used. Tables are foreign bytes, and a damaged
 * one may loop, so the number of reads is limited.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "unwind/dwarf/cfi.h"
#include "unwind/libunwind.h"
#include "unwind/signal_frame.h"
#include "unwind/unwind_end.h"

#if defined(HAVE_LIBUNWIND) && defined(__x86_64__) && \
	!defined(PDET_LINKED)

#include <libunwind.h>

/* A frame of real programs takes fewer than 200 reads. */
#define MOST_READS 100000

/* A handler that is interrupted itself. More are not plausible. */
#define MOST_SIGNALS 16

/* libunwind exports it, but no header declares it. */
extern int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space,
					      unw_word_t ip, unw_dyn_info_t *di,
					      unw_proc_info_t *pi, int need,
					      void *arg);

#define FUNCTIONS(X) \
	X(_Ux86_64_create_addr_space) X(_Ux86_64_destroy_addr_space) \
	X(_Ux86_64_init_remote) X(_Ux86_64_step) X(_Ux86_64_get_reg) \
	X(_Ux86_64_dwarf_search_unwind_table)

struct pdet_unwinder {
	struct pdet_library lib;
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
};

/* One stack. libunwind passes it to the accessors. */
struct unwinding {
	const struct pdet_unwinder *lib;
	const struct pdet_unwind_target *target;
	const struct pdet_user_regs *regs;
	const struct pdet_frame_pair *pair; /* at PAIR_AT */
	struct pdet_frame_pair *own;	    /* of a table; n is 0: none */
	uint64_t cie, fde;		    /* where the process has it */
	struct pdet_eh_entry entry;	    /* at ENTRY_AT */
	bool guessed;		/* the last step was by such a pair */
	unsigned reads;
	const char *why;	/* the first failure; NULL: none */
};

/* --- what libunwind asks for --- */

static int refuse(struct unwinding *u, const char *why)
{
	if (!u->why)
		u->why = why;
	return -UNW_EINVAL;
}

/* The frame of a caller was written, so it is not where no memory is. */
static bool is_no_frame(int error)
{
	return error == -ENOENT || error == -EFAULT;
}

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	struct unwinding *u = arg;
	int r;

	if (u->reads++ >= MOST_READS)
		return refuse(u, PDET_UNWIND_DAMAGED_TABLE);
	r = u->target->read(u->target->arg, addr, buf, n);
	if (r == 0)
		return 0;
	return refuse(u, u->guessed && is_no_frame(r) ? PDET_UNWIND_ASTRAY :
		      pdet_unwind_unread(r));
}

/* No process has memory there: libunwind sees a pair, and before it an index
 * that has only the record which was found. */
#define PAIR_AT ((uint64_t)0xf1 << 56)
#define ENTRY_AT (PAIR_AT - sizeof(struct pdet_eh_entry))

static bool read_part(const void *part, uint64_t start, size_t n, uint64_t addr,
		      unw_word_t *word)
{
	const uint64_t at = addr - start;

	if (addr < start || at >= n || at % 8)
		return false;
	*word = 0;
	memcpy(word, (const char *)part + at, PDET_MIN(sizeof(*word), n - at));
	return true;
}

static bool read_index(const struct unwinding *u, uint64_t addr,
		       unw_word_t *word)
{
	if (addr < ENTRY_AT)
		return false;
	return read_part(&u->entry, ENTRY_AT, sizeof(u->entry), addr, word) ||
	       (u->pair && read_part(u->pair->bytes, PAIR_AT, u->pair->n, addr,
				     word));
}

/* Bytes of a record at @start, as far as they are in the word. */
static void put_copy(const uint8_t *record, uint64_t start, size_t n,
		     uint64_t addr, unw_word_t *word)
{
	uint64_t i;

	if (addr + sizeof(*word) - 1 - start >= n + sizeof(*word) - 1)
		return;
	for (i = 0; i < sizeof(*word); i++)
		if (addr + i - start < n)
			((uint8_t *)word)[i] = record[addr + i - start];
}

/* A process that runs may write into a record after it was checked. */
static int read_process(struct unwinding *u, uint64_t addr, unw_word_t *word)
{
	const struct pdet_frame_pair *p = u->own;
	int r = read_bytes(u, addr, word, sizeof(*word));

	if (r == 0 && p->n) {
		put_copy(p->bytes, u->cie, p->fde, addr, word);
		put_copy(p->bytes + p->fde, u->fde, p->n - p->fde, addr, word);
	}
	return r;
}

static int access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *word,
		      int write, void *arg)
{
	(void)space;
	if (!write && read_index(arg, addr, word))
		return 0;
	return write ? -UNW_EREADONLYREG : read_process(arg, addr, word);
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg,
		      unw_word_t *word, int write, void *arg)
{
	const struct unwinding *u = arg;

	(void)space;
	if (reg < 0 || reg >= PDET_USER_REGS)
		return -UNW_EBADREG;
	if (write)
		return -UNW_EREADONLYREG;
	*word = u->regs->reg[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg,
			unw_fpreg_t *value, int write, void *arg)
{
	(void)space;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

/* An index of one record. libunwind searches by 32 bits of the distance. */
static void use_record(struct unwinding *u, uint64_t base, uint64_t ip,
		       uint64_t fde, unw_dyn_info_t *di)
{
	u->entry = (struct pdet_eh_entry){
		(int32_t)(ip - base), (int32_t)(fde - base)
	};
	/* It asserts that the table is one for this address. */
	di->start_ip = ip;
	di->end_ip = ip + 1;
	di->u.rti.segbase = base;
	di->u.rti.table_data = ENTRY_AT;
	di->u.rti.table_len = 1;
}

/* libunwind would look for a register that there is not behind the end of an
 * array. It may follow instructions that are not about the address, if a table
 * is hostile. @fde: where it is. */
static int check_records(const struct pdet_frame_pair *p, uint64_t fde)
{
	struct pdet_frame_rest first, rest;

	if (!pdet_frame_record(p->bytes, p->n, 0, &first) ||
	    !pdet_frame_record(p->bytes, p->n, p->fde, &rest))
		return -EBADMSG;
	return pdet_cfi_check(first, rest, fde + sizeof(uint32_t),
			      sizeof(uint64_t));
}

static int refuse_table(struct unwinding *u, int error)
{
	return refuse(u, error == -ENOTSUP ? PDET_UNWIND_UNKNOWN_FORM :
					     PDET_UNWIND_DAMAGED_TABLE);
}

/* Lets libunwind look at the record, and says whether it may follow it. */
static int search(struct unwinding *u, unw_addr_space_t space, uint64_t ip,
		  unw_dyn_info_t *di, const struct pdet_frame_pair *p,
		  uint64_t fde, unw_proc_info_t *pi, int need)
{
	int r;

	memset(pi, 0, sizeof(*pi));
	r = u->lib->_Ux86_64_dwarf_search_unwind_table(space, ip, di, pi, need,
						       u);
	if (r < 0)
		return r;
	r = check_records(p, fde);
	return r == 0 ? 0 : refuse_table(u, r);
}

/* Reads the records into u->own. */
static int take_records(struct unwinding *u, uint64_t fde)
{
	const struct pdet_eh_memory memory = { read_bytes, u };
	struct pdet_frame_pair *p = u->own;
	int r = pdet_eh_records(&memory, fde, p);

	u->fde = fde;
	u->cie = r == 0 ? pdet_eh_cie(p, fde) : 0;
	/* Each byte is in one of them. */
	if (r == 0 && (u->cie - fde < p->n - p->fde || fde - u->cie < p->fde))
		r = -EBADMSG;
	if (r < 0)
		p->n = 0;
	return r;
}

/* Where the table of the file has the record. Returns -ENOENT if it has
 * none. */
static int find_record(struct unwinding *u, const struct pdet_unwind_code *code,
		       uint64_t ip, uint64_t *base, uint64_t *fde)
{
	const struct pdet_eh_memory memory = { read_bytes, u };
	const struct pdet_eh_entry *e;

	*base = code->header ? code->header : code->base;
	if (code->header)
		return pdet_eh_search(&memory, code->header, ip, fde);
	e = pdet_eh_frame_before(code->frames, (int32_t)(ip - *base));
	*fde = *base + (uint64_t)(int64_t)(e ? e->fde : 0);
	return e ? 0 : -ENOENT;
}

/* By the table of the file. */
static int find_in_table(struct unwinding *u, unw_addr_space_t space,
			 uint64_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
			 int need)
{
	struct pdet_unwind_code code;
	uint64_t base, fde;
	int r;

	if (u->target->code(u->target->arg, ip, &code) < 0)
		return -UNW_ENOINFO;
	r = find_record(u, &code, ip, &base, &fde);
	if (r == -ENOENT)
		return -UNW_ENOINFO;
	if (r == 0)
		r = take_records(u, fde);
	if (r < 0)
		return refuse_table(u, r);
	use_record(u, base, ip, fde, di);
	return search(u, space, ip, di, u->own, fde, pi, need);
}

static int find_pair(struct unwinding *u, unw_addr_space_t space, uint64_t ip,
		     unw_dyn_info_t *di, unw_proc_info_t *pi, int need)
{
	u->pair = u->target->pair ? u->target->pair(u->target->arg, ip) : NULL;
	if (!u->pair)
		return -UNW_ENOINFO;
	u->guessed = u->pair->guessed;
	use_record(u, PAIR_AT, ip, PAIR_AT + u->pair->fde, di);
	return search(u, space, ip, di, u->pair, PAIR_AT + u->pair->fde, pi,
		      need);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip,
			  unw_proc_info_t *pi, int need, void *arg)
{
	unw_dyn_info_t di = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
	struct unwinding *u = arg;
	int r = find_in_table(u, space, ip, &di, pi, need);

	if (r < 0 && !u->why)
		r = find_pair(u, space, ip, &di, pi, need);
	if (r >= 0 || u->why)
		return r;
	return refuse(u, PDET_UNWIND_NO_TABLE);
}

/* libunwind frees what its own table search allocates. */
static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *pi,
			    void *arg)
{
	(void)space;
	(void)pi;
	(void)arg;
}

static int no_dyn_info(unw_addr_space_t space, unw_word_t *ret, void *arg)
{
	(void)space;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *c, void *arg)
{
	(void)space;
	(void)c;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name,
		   size_t size, unw_word_t *offset, void *arg)
{
	(void)space;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_EUNSPEC;
}

/* --- frames --- */

struct walk {
	struct pdet_unwind_step *steps;
	size_t n, most;
	unsigned signals;
	uint64_t sp;
};

/* The kernel lets a handler return to code that calls rt_sigreturn(). */
static bool is_signal(const struct unwinding *u, uint64_t ip)
{
	uint8_t code[PDET_SIGNAL_RETURN];

	return u->target->read(u->target->arg, ip, code, sizeof(code)) == 0 &&
	       pdet_is_signal_return(code);
}

static int damaged(struct unwinding *u)
{
	return refuse(u, u->guessed ? PDET_UNWIND_ASTRAY :
				      PDET_UNWIND_DAMAGED_STACK);
}

/* A stack does not end where a guess leads to address 0. */
static int end_whole(struct unwinding *u)
{
	return u->guessed ? damaged(u) : 1;
}

/* Returns 0, 1 at the end. */
static int add_frame(struct unwinding *u, struct walk *w, uint64_t ip,
		     uint64_t sp, bool signal)
{
	const bool after_signal = w->n && w->steps[w->n - 1].signal;
	struct pdet_unwind_step step = {
		.ip = ip, .signal = signal, .exact = !w->n || after_signal
	};

	if (!ip)
		return !w->n ? refuse(u, PDET_UNWIND_THREAD_AT_0) :
		       !after_signal ? end_whole(u) :
		       refuse(u, PDET_UNWIND_SIGNAL_AT_0);
	/* Callers are at higher addresses; a handler may have its own stack. A
	 * function that makes no call may have taken its return address
	 * away. */
	if (w->n && !after_signal &&
	    (w->steps[w->n - 1].exact ? sp < w->sp : sp <= w->sp))
		return damaged(u);
	w->signals += step.signal;
	if (w->n == w->most || w->signals > MOST_SIGNALS)
		return refuse(u, PDET_UNWIND_MORE);
	if (w->n)
		w->steps[w->n - 1].guessed = u->guessed;
	w->sp = sp;
	w->steps[w->n++] = step;
	return 0;
}

/* --- by rules --- */

/* Returns 0, 1 at the end, or a negative errno if rules do not lead on. */
static int step_by_rule(struct unwinding *u, struct walk *w,
			struct pdet_rule_frame *f, uint64_t *ip, uint64_t *sp)
{
	const struct pdet_unwind_target *t = u->target;
	const struct pdet_eh_memory memory = { t->read, t->arg };
	const uint64_t from = *ip, at = *sp;
	const struct pdet_frame_rule *rule;

	rule = from ? t->rule(t->arg, from, !w->n) : NULL;
	if (!rule || !pdet_frame_rule_apply(rule, &memory, f, ip, sp))
		return -ENOENT;
	return add_frame(u, w, from, at, false) ? -ENOENT : !*ip;
}

/* Without libunwind, up to the end or the most frames. False if rules are not
 * enough: nothing is known then. bench: stacks */
static bool walk_by_rules(struct unwinding *u, struct walk *w)
{
	uint64_t ip = u->regs->reg[PDET_USER_IP];
	uint64_t sp = u->regs->reg[PDET_USER_SP];
	struct pdet_rule_frame f = { .is = { PDET_RULE_SAME } };
	const struct walk start = *w;
	int r = u->target->rule ? 0 : -ENOENT;

	memcpy(f.value, u->regs->reg, sizeof(f.value));
	while (r == 0 && w->n < w->most)
		r = step_by_rule(u, w, &f, &ip, &sp);
	/* One more is refused. */
	if (r == 0)
		add_frame(u, w, ip, sp, false);
	if (r >= 0)
		return true;
	*w = start;
	u->why = NULL;
	return false;
}

/* --- by libunwind --- */

/* The address of the frame that the cursor is at. Returns 0, 1 at the end. */
static int take_frame(struct unwinding *u, unw_cursor_t *c, struct walk *w)
{
	unw_word_t sp, ip;

	if (u->lib->_Ux86_64_get_reg(c, UNW_REG_IP, &ip) < 0 ||
	    u->lib->_Ux86_64_get_reg(c, UNW_REG_SP, &sp) < 0)
		return damaged(u);
	return add_frame(u, w, ip, sp, ip && is_signal(u, ip));
}

static void walk(struct unwinding *u, unw_addr_space_t space, struct walk *w)
{
	unw_cursor_t c;
	int r;

	memset(&c, 0, sizeof(c));
	if (u->lib->_Ux86_64_init_remote(&c, space, u) < 0) {
		refuse(u, "the registers are damaged");
		return;
	}
	while (take_frame(u, &c, w) == 0) {
		u->guessed = false;
		r = u->lib->_Ux86_64_step(&c);
		if (r == -UNW_EBADREG)
			refuse(u, PDET_UNWIND_NO_REGISTER);
		else if (r < 0)
			damaged(u);
		else if (r == 0)
			end_whole(u);
		if (r <= 0 || u->why)
			return;
	}
}

int pdet_unwinder_new(struct pdet_env *env, struct pdet_unwinder **ret)
{
	struct pdet_unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return pdet_fail(env, ENOMEM, "no memory");
	if (pdet_library_open(&u->lib, "libunwind-x86_64.so.8")) {
#define X(name) u->name = PDET_FUNCTION(&u->lib, name);
		FUNCTIONS(X)
#undef X
	}
	if (!*u->lib.why) {
		*ret = u;
		return 0;
	}
	pdet_fail(env, ENOSYS, "cannot unwind: %s", u->lib.why);
	pdet_advise(env, "needs libunwind installed (on Debian: libunwind8)");
	pdet_unwinder_free(u);
	return -ENOSYS;
}

void pdet_unwinder_free(struct pdet_unwinder *u)
{
	if (u)
		pdet_library_close(&u->lib);
	free(u);
}

size_t pdet_unwind(const struct pdet_unwinder *lib,
		   const struct pdet_unwind_target *t,
		   const struct pdet_user_regs *regs,
		   struct pdet_unwind_step *steps, size_t n, const char **end)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dyn_info,
		.access_mem = access_mem, .access_reg = access_reg,
		.access_fpreg = access_fpreg, .resume = no_resume,
		.get_proc_name = no_name
	};
	struct unwinding u = { .lib = lib, .target = t, .regs = regs };
	struct walk w = { .steps = steps, .most = n };
	unw_addr_space_t space;

	if (walk_by_rules(&u, &w)) {
		*end = u.why;
		return w.n;
	}
	*end = PDET_UNWIND_NO_MEMORY;
	/* Too large for the stack of a caller's thread. */
	u.own = malloc(sizeof(*u.own));
	if (u.own)
		u.own->n = u.own->fde = 0;
	space = u.own ? lib->_Ux86_64_create_addr_space(&accessors, 0) : NULL;
	if (space) {
		walk(&u, space, &w);
		lib->_Ux86_64_destroy_addr_space(space);
		*end = u.why;
	}
	free(u.own);
	return w.n;
}

#else

#ifndef __x86_64__
#define WHY "that is supported only on x86-64"
#define HELP ""
#elif defined(PDET_LINKED)
#define WHY "a static program lacks libunwind"
#define HELP "the pagedet that is not static loads it"
#else
#define WHY "this build lacks libunwind"
#define HELP "needs libpagedet configured with --with-libunwind"
#endif

int pdet_unwinder_new(struct pdet_env *env, struct pdet_unwinder **ret)
{
	(void)ret;
	pdet_fail(env, ENOSYS, "cannot unwind: " WHY);
	pdet_advise(env, "%s", HELP);
	return -ENOSYS;
}

void pdet_unwinder_free(struct pdet_unwinder *u)
{
	(void)u;
}

size_t pdet_unwind(const struct pdet_unwinder *lib,
		   const struct pdet_unwind_target *t,
		   const struct pdet_user_regs *regs,
		   struct pdet_unwind_step *steps, size_t n, const char **end)
{
	(void)lib;
	(void)t;
	(void)regs;
	(void)steps;
	(void)n;
	*end = NULL;
	return 0;
}

#endif
