/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests which stack is of which event: ftrace writes it behind, and interrupts
 * may come between.
 */
#include <unistd.h>

#include "trace/trace.h"
#include "../unit.h"

#define PAGE 512u
#define HEAD 16u
#define NORMAL 0
#define SOFTIRQ 0x10
#define HARDIRQ 0x08
#define NMI 0x48

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:496;\tsigned:1;\n";
#define COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
static const char kfree[] = "name: kfree\nID: 600\nformat:\n" COMMON
	"\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;\n";
static const char kernel_stack[] = "name: kernel_stack\nID: 4\nformat:\n" COMMON
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n";

static struct pdet_trace *t;
static unsigned char page[PAGE];
static FILE *file;

static void begin(void)
{
	t = calloc(1, sizeof(*t));
	t->known = calloc(1, sizeof(*t->known));
	file = tmpfile();
	ck_assert(t && t->known && file);
	ck_assert_int_eq(pdet_ring_layout_parse(header_page,
						strlen(header_page), false,
						&t->layout), 0);
	ck_assert_int_eq(pdet_trace_learn(t, kfree, strlen(kfree),
					  PDET_TRACE_KMEM), 0);
	ck_assert_int_eq(pdet_trace_learn(t, kernel_stack, strlen(kernel_stack),
					  PDET_TRACE_FTRACE), 0);
}

static uint64_t length(void)
{
	uint64_t n;

	memcpy(&n, page + 8, 8);
	return n & 0xfffff;
}

static void add(const void *record, uint32_t n)
{
	const uint64_t at = length(), len = at + 4 + n;
	const uint32_t head = n / 4 | 1u << 5;

	ck_assert_uint_le(HEAD + len, PAGE);
	memcpy(page + HEAD + at, &head, 4);
	memcpy(page + HEAD + at + 4, record, n);
	memcpy(page + 8, &len, 8);
}

struct common {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
};

static void event(uint8_t flags, uint64_t object)
{
	const struct {
		struct common c;
		uint64_t site, object;
	} e = { { 600, flags, 0, 1 }, 0xffffffff81000010, object };

	add(&e, sizeof(e));
}

/* @n calls, from @first on. */
static void stack(uint8_t flags, uint64_t first, int32_t n)
{
	struct {
		struct common c;
		int32_t n, pad;
		uint64_t frame[8];
	} e = { { 4, flags, 0, 1 }, n, 0, { 0 } };
	int32_t i;

	for (i = 0; i < n && i < 8; i++)
		e.frame[i] = first + (uint64_t)i;
	add(&e, 16 + 8 * (uint32_t)(n < 8 ? n : 8));
}

static void next_page(void)
{
	ck_assert_uint_eq(fwrite(page, 1, PAGE, file), PAGE);
	memset(page, 0, PAGE);
}

/* Events were lost right before this page. */
static void lost_before(void)
{
	page[8 + 3] |= 0x80;
}

static struct pdet_env env = { .root = (char *)"" };

static struct pdet_trace_pages *read_file(void)
{
	struct pdet_trace_pages *p = calloc(1, sizeof(*p));

	next_page();
	fflush(file);
	ck_assert_ptr_nonnull(p);
	pdet_trace_pages_begin(p, &env, 0, &t->layout, t->known, fileno(file),
			       0, (uint64_t)ftell(file));
	t->pages = p;
	t->n_pages = 1;
	return p;
}

static void end(struct pdet_trace_pages *p)
{
	pdet_trace_pages_end(p);
	pdet_trace_stacks_free(&t->stacks);
	free(p);
	free(t->known);
	free(t);
	fclose(file);
}

/* The events, as "OBJECT:FIRST*N ", or "OBJECT:- " without a stack. */
static void judge(const char *want)
{
	struct pdet_trace_pages *p = read_file();
	char have[4096] = "";
	const uint64_t *frames;
	size_t i, n, len = 0;
	int r;

	pdet_trace_want_stacks(t);
	for (; (r = p->s.more(&p->s)) > 0; p->s.piece.n = 0)
		for (i = 0; i < p->s.piece.n; i++) {
			const struct pdet_kmem_event *e = p->s.piece.data[i];

			len += (size_t)sprintf(have + len, "%llx:",
					(unsigned long long)e->object);
			if (!e->stack) {
				len += (size_t)sprintf(have + len, "- ");
				continue;
			}
			frames = pdet_trace_stacks_get(&t->stacks, e->stack,
						       &n);
			len += (size_t)sprintf(have + len, "%llx*%zu ",
					(unsigned long long)frames[0], n);
		}
	ck_assert_int_eq(r, 0);
	ck_assert_str_eq(have, want);
	ck_assert_uint_eq(p->s.loss.damaged + p->s.loss.strange +
			  p->s.loss.other, 0);
	end(p);
}

START_TEST(behind_its_event)
{
	begin();
	event(NORMAL, 1);
	stack(NORMAL, 0x10, 3);
	event(NORMAL, 2);
	event(NORMAL, 3);
	stack(NORMAL, 0x30, 2);
	judge("1:10*3 2:- 3:30*2 ");
}
END_TEST

START_TEST(interrupts)
{
	begin();
	event(NORMAL, 1);
	event(SOFTIRQ, 2);
	event(HARDIRQ, 3);
	event(NMI, 4);
	stack(NMI, 0x40, 1);
	stack(HARDIRQ, 0x30, 1);
	stack(SOFTIRQ, 0x20, 1);
	event(SOFTIRQ, 5);
	stack(SOFTIRQ, 0x50, 1);
	stack(NORMAL, 0x10, 1);
	judge("1:10*1 2:20*1 3:30*1 4:40*1 5:50*1 ");
}
END_TEST

/* An event of an interrupt has none; the next interrupt's stack is not its. */
START_TEST(ended_interrupt)
{
	begin();
	event(SOFTIRQ, 1);
	event(NORMAL, 2);
	stack(SOFTIRQ, 0x90, 1);
	stack(NORMAL, 0x20, 1);
	judge("1:- 2:20*1 ");
}
END_TEST

START_TEST(in_the_next_page)
{
	begin();
	event(NORMAL, 1);
	stack(NORMAL, 0x10, 1);
	event(NORMAL, 2);
	event(HARDIRQ, 3);
	next_page();
	stack(HARDIRQ, 0x30, 1);
	stack(NORMAL, 0x20, 1);
	event(NORMAL, 4);
	next_page();
	event(NORMAL, 5);
	judge("1:10*1 2:20*1 3:30*1 4:- 5:- ");
}
END_TEST

/* The loss is told where it was, as an object of its own. */
START_TEST(lost_between)
{
	begin();
	event(NORMAL, 1);
	next_page();
	stack(NORMAL, 0x90, 1);
	event(NORMAL, 2);
	stack(NORMAL, 0x20, 1);
	lost_before();
	judge("1:- ffffffffffffffff:- 2:20*1 ");
}
END_TEST

/* Only some can wait for the next page; none is lost. */
START_TEST(many_wait)
{
	unsigned i;

	begin();
	event(NORMAL, 1);
	for (i = 2; i < 12; i++)
		event(HARDIRQ, i);
	next_page();
	stack(HARDIRQ, 0xb0, 1);
	stack(NORMAL, 0x10, 1);
	judge("1:- 2:- 3:- 4:- 5:- 6:- 7:- 8:- 9:- a:- b:b0*1 ");
}
END_TEST

/* A length that is not true, none, and marks that are not calls. */
START_TEST(odd_stacks)
{
	begin();
	event(NORMAL, 1);
	stack(NORMAL, 0x10, 1000);
	event(NORMAL, 2);
	stack(NORMAL, 0x20, 0);
	event(NORMAL, 3);
	stack(NORMAL, UINT64_MAX - 1, 3);
	event(NORMAL, 4);
	stack(NORMAL, INT32_MAX - 1, 3);
	judge("1:10*8 2:- 3:fffffffffffffffe*1 4:7ffffffe*2 ");
}
END_TEST

/* Without stacks, pages become one piece up to a loss, whose time is that of
 * what was merged before. */
START_TEST(pages_of_a_piece)
{
	struct pdet_trace_pages *p;
	uint64_t i;

	begin();
	for (i = 1; i <= 3; i++) {
		event(NORMAL, i);
		stack(NORMAL, 0x10, 3);
		next_page();
	}
	event(NORMAL, 4);
	lost_before();
	p = read_file();
	ck_assert_int_eq(p->s.more(&p->s), 1);
	ck_assert_uint_eq(p->s.piece.n, 3);
	for (i = 1; i <= 3; i++)
		ck_assert_uint_eq(p->s.piece.data[i - 1]->object, i);
	ck_assert_uint_eq(p->s.loss.unknown, 0);
	p->s.last_ns = 77;
	p->s.piece.n = 0;
	ck_assert_int_eq(p->s.more(&p->s), 1);
	ck_assert_uint_eq(p->s.piece.n, 2);
	ck_assert_uint_eq(p->s.piece.data[0]->kind, PDET_KMEM_LOST);
	ck_assert_uint_eq(p->s.piece.data[0]->requested, 77);
	ck_assert_uint_eq(p->s.piece.data[1]->object, 4);
	ck_assert_uint_eq(p->s.loss.unknown, 1);
	p->s.piece.n = 0;
	ck_assert_int_eq(p->s.more(&p->s), 0);
	end(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attach");

	unit_test(s, behind_its_event);
	unit_test(s, interrupts);
	unit_test(s, ended_interrupt);
	unit_test(s, in_the_next_page);
	unit_test(s, lost_between);
	unit_test(s, many_wait);
	unit_test(s, odd_stacks);
	unit_test(s, pages_of_a_piece);
	return unit_main(s);
}
