/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares rules with libunwind: the functions of this program and its
 * libraries as callers of each other, on stacks of random words.
 */
#include <errno.h>
#include <link.h>
#include <stdlib.h>

#include "../unit.h"
#include "unwind/libunwind.h"
#include "unwind/signal_frame.h"

#ifdef __x86_64__

#define STACK 0x600000000000ull
#define WORDS 4096u
#define MODULES 32
#define FRAMES 24

struct world {
	struct module {
		uint64_t first, end;	/* of all of it */
		uint64_t code, code_end, header;
	} module[MODULES];
	unsigned n;
	uint64_t stack[WORDS];
	uint64_t state;		/* of the random numbers */
	uint64_t hits, misses;	/* of rules */
	struct pdet_frame_rule rule;
	struct pdet_frame_pair pair;
};

static uint64_t next_random(struct world *w)
{
	w->state ^= w->state << 13;
	w->state ^= w->state >> 7;
	w->state ^= w->state << 17;
	return w->state;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct world *w = arg;
	struct module *m = &w->module[w->n];
	unsigned i;

	(void)size;
	if (w->n == MODULES)
		return 1;
	*m = (struct module){ .first = UINT64_MAX };
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			m->header = at;
		if (p->p_type != PT_LOAD || !(p->p_flags & PF_R))
			continue;
		m->first = PDET_MIN(m->first, at);
		m->end = at + p->p_memsz;
		if (p->p_flags & PF_X) {
			m->code = at;
			m->code_end = at + p->p_memsz;
		}
	}
	w->n += m->header && m->code && *info->dlpi_name;
	return 0;
}

static int read_bytes(void *arg, uint64_t addr, void *buf, size_t n)
{
	struct world *w = arg;
	unsigned i;

	if (addr - STACK <= sizeof(w->stack) - n) {
		memcpy(buf, (char *)w->stack + (addr - STACK), n);
		return 0;
	}
	/* Of a library, what is between its segments is not touched. */
	for (i = 0; i < w->n; i++)
		if (addr - w->module[i].code < w->module[i].code_end -
					       w->module[i].code - n ||
		    (addr >= w->module[i].header &&
		     addr - w->module[i].header < 0x1000000 &&
		     addr + n < w->module[i].end)) {
			memcpy(buf, (const void *)(uintptr_t)addr, n);
			return 0;
		}
	return -EIO;
}

static int find_code(void *arg, uint64_t ip, struct pdet_unwind_code *ret)
{
	struct world *w = arg;
	unsigned i;

	for (i = 0; i < w->n; i++)
		if (ip >= w->module[i].code && ip < w->module[i].code_end) {
			*ret = (struct pdet_unwind_code){
				.first = w->module[i].code,
				.end = w->module[i].code_end,
				.header = w->module[i].header
			};
			return 0;
		}
	return -ENOENT;
}

static const struct pdet_frame_rule *find_rule(void *arg, uint64_t ip,
					       bool exact)
{
	struct world *w = arg;
	const struct pdet_eh_memory memory = { read_bytes, w };
	struct pdet_unwind_code code;
	uint8_t bytes[PDET_SIGNAL_RETURN];
	uint64_t fde;
	bool has = read_bytes(arg, ip, bytes, sizeof(bytes)) == 0 &&
		   !pdet_is_signal_return(bytes) &&
		   find_code(arg, ip - !exact, &code) == 0 &&
		   pdet_frame_rule_get(&memory, code.header, ip - !exact,
				       &w->pair, &w->rule, &fde);

	w->hits += has;
	w->misses += !has;
	return has ? &w->rule : NULL;
}

static uint64_t random_code(struct world *w)
{
	const struct module *m = &w->module[next_random(w) % w->n];

	return m->code + next_random(w) % (m->code_end - m->code);
}

/* Most words lead on. */
static void make_stack(struct world *w)
{
	unsigned i;

	for (i = 0; i < WORDS; i++)
		w->stack[i] = next_random(w) % 64 == 0 ? 0 :
			      next_random(w) % 3 ? random_code(w) :
			      STACK + next_random(w) % sizeof(w->stack) / 8 * 8;
}

START_TEST(rules_lead_where_libunwind_leads)
{
	struct world *w = calloc(1, sizeof(*w));
	struct pdet_unwind_step by_rule[FRAMES], by_lib[FRAMES];
	struct pdet_user_regs regs = { .stopped = false };
	struct pdet_unwinder *u;
	struct pdet_env env;
	unsigned i, j, frames = 0;

	ck_assert_ptr_nonnull(w);
	memset(&env, 0, sizeof(env));
	w->state = 88172645463325252u;
	dl_iterate_phdr(add_module, w);
	ck_assert_int_eq(pdet_unwinder_new(&env, &u), 0);
	ck_assert_uint_gt(w->n, 2);
	for (i = 0; i < 20000; i++) {
		const struct pdet_unwind_target with = {
			read_bytes, find_code, w, NULL, find_rule
		}, without = { read_bytes, find_code, w, NULL, NULL };
		const char *end, *other;
		size_t n, m;

		if (i % 100 == 0)
			make_stack(w);
		for (j = 0; j < PDET_USER_REGS; j++)
			regs.reg[j] = STACK + next_random(w) % 8192 * 4;
		regs.reg[PDET_USER_SP] = STACK + next_random(w) % 256 * 8;
		regs.reg[PDET_USER_IP] = random_code(w);
		n = pdet_unwind(u, &with, &regs, by_rule, FRAMES, &end);
		m = pdet_unwind(u, &without, &regs, by_lib, FRAMES, &other);
		ck_assert_uint_eq(n, m);
		ck_assert_ptr_eq(end, other);
		for (j = 0; j < n; j++) {
			ck_assert_uint_eq(by_rule[j].ip, by_lib[j].ip);
			ck_assert(by_rule[j].exact == by_lib[j].exact &&
				  by_rule[j].signal == by_lib[j].signal);
		}
		frames += n;
	}
	/* Most functions are ordinary. */
	ck_assert_uint_gt(frames, 40000);
	ck_assert_uint_gt(w->hits, w->misses);
	pdet_unwinder_free(u);
	free(w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("frame_rule");
	struct pdet_env env = { .root = NULL };
	struct pdet_unwinder *u;

	if (pdet_unwinder_new(&env, &u) < 0) {
		printf("1..0 # SKIP %s\n", env.error);
		return 0;
	}
	pdet_unwinder_free(u);
	unit_test(s, rules_lead_where_libunwind_leads);
	return unit_main(s);
}

#else

int main(void)
{
	printf("1..0 # SKIP only for x86-64\n");
	return 0;
}

#endif
