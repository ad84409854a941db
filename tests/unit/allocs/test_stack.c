/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which frames of a stack are shown: not those of what recorded it. */
#include "allocs/keys.h"
#include "../unit.h"

/* The program is the last symbol, so that nothing says where it ends. */
#define PROGRAM 0xffffffffc000083cull
#define KALLSYMS                                                               \
	"ffffffff81000100 t bpf_trace_run5\n"                                  \
	"ffffffff81000200 t trace_event_raw_event_kmalloc\n"                   \
	"ffffffff81000300 t getname\n"                                         \
	"ffffffff81000400 t do_sys_open\n"                                     \
	"ffffffff81000500 t some\n"

static void is_shown(const char *more, const uint64_t *frames, size_t n,
		     const char *shown)
{
	struct pdet_env env = { 0 };
	struct pdet_alloc_keys keys = { .by = { PAGEDET_ALLOC_STACK },
					.groups = { .n_keys = 1 } };
	struct pdet_trace_stacks stacks = { 0 };
	char text[1024];
	struct pdet_text names = { 0 };
	const char *said;
	uint32_t number;
	uint64_t id;
	size_t len;
	bool many;

	snprintf(text, sizeof(text), "%s%s", KALLSYMS, more);
	names.data = strdup(text);
	names.len = strlen(text);
	ck_assert_int_eq(pdet_naming_beside(&keys.naming, &env, &names), 0);
	ck_assert(pdet_trace_stacks_add(&stacks, frames, n, &number));
	keys.stacks = &stacks;
	id = pdet_alloc_keys_stack(&keys, number, &many);
	ck_assert(!many);
	said = pdet_groups_text(&keys.groups, id, &len);
	ck_assert_uint_eq(len, strlen(shown));
	ck_assert_msg(!memcmp(said, shown, len), "%.*s", (int)len, said);
	pdet_alloc_keys_free(&keys);
	pdet_trace_stacks_free(&stacks);
}

#define IS_SHOWN(more, shown, ...)                                             \
	do {                                                                   \
		const uint64_t frames[] = { __VA_ARGS__ };                     \
		is_shown(more, frames, sizeof(frames) / sizeof(*frames),       \
			 shown);                                               \
	} while (0)

START_TEST(recorders)
{
	IS_SHOWN("", "do_sys_open+0x4;getname+0x8", 0xffffffff81000204,
		 0xffffffff81000308, 0xffffffff81000404);
	IS_SHOWN("ffffffffc000083c t bpf_prog_53407aeca21586ab_x\t[bpf]\n"
		 "ffffffffc0001000 t later\t[m]\n",
		 "do_sys_open+0x4;getname+0x8", PROGRAM + 0x30,
		 0xffffffff81000104, 0xffffffff81000308, 0xffffffff81000404);
}
END_TEST

START_TEST(program_is_last)
{
	IS_SHOWN("ffffffffc000083c t bpf_prog_53407aeca21586ab_x\t[bpf]\n",
		 "do_sys_open+0x4;getname+0x8", PROGRAM + 0x30,
		 0xffffffff81000104, 0xffffffff81000308, 0xffffffff81000404);
}
END_TEST

START_TEST(others)
{
	/* Who allocates may have no name. */
	IS_SHOWN("", "do_sys_open+0x4;getname+0x8;0xffffffffc0000900",
		 0xffffffffc0000900, 0xffffffff81000308, 0xffffffff81000404);
	IS_SHOWN("", "0xffffffffc0000900", 0xffffffffc0000900);
	/* A program of BPF that calls what allocates is not the recorder. */
	IS_SHOWN("", "bpf_trace_run5+0x4;0xffffffffc0000900;getname+0x8",
		 0xffffffff81000308, 0xffffffffc0000900, 0xffffffff81000104);
}
END_TEST

START_TEST(nothing_else)
{
	IS_SHOWN("", "", 0xffffffff81000104);
	IS_SHOWN("", "", 0xffffffffc0000900, 0xffffffff81000104);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stack");

	unit_test(s, recorders);
	unit_test(s, program_is_last);
	unit_test(s, others);
	unit_test(s, nothing_else);
	return unit_main(s);
}
