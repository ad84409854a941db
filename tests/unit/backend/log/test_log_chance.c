/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests logs that are made of pieces of real ones: cut, interleaved, repeated
 * and damaged, with prefixes and line ends of every kind. The parser must not
 * crash, hang or keep much, and may not invent a number.
 *
 * Then whole reports that are interleaved: a number in a row must stand in a
 * line of that row's own report.
 *
 * CHANCE is the number of logs, CHANCE_FIRST the first batch. A batch follows
 * from its number.
 */
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "backend/log/log.h"
#include "base/env.h"
#include "../../unit.h"
#include "log_pieces.h"

/* A batch is one test, also for valgrind on a busy machine. */
#define BATCH 50
/* For one log; far more than any needs. */
#define SECONDS 20
/* What a process keeps, with the shadow and quarantine of a sanitizer. */
#define MOST_KB (1 << 20)
/* Shorter numbers in a text may be ours: "0x78". */
#define TELLING 3

#define F(name) PAGEDET_FIELD_##name

struct line {
	const char *at;
	size_t len;
};

/* The lines of all logs; a log's are adjacent. */
static struct {
	struct line *data;
	size_t n, cap;
} lines;

static struct {
	char *data;
	size_t n, cap;
} made;

static struct {
	uint64_t *data;
	size_t n, cap;
} numbers;

static uint64_t seed;

static size_t draw(size_t n)
{
	return (size_t)(unit_random(&seed) >> 11) % n;
}

static bool one_in(size_t n)
{
	return !draw(n);
}

/* --- pieces --- */

static void take_file(const char *path)
{
	FILE *f = fopen(path, "r");
	struct pdet_scan all, line;
	struct stat st;
	char *text;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	text = malloc((size_t)st.st_size + 1);
	ck_assert_ptr_nonnull(text);
	all.at = text;
	all.end = text + fread(text, 1, (size_t)st.st_size, f);
	fclose(f);
	while (pdet_scan_line(&all, &line))
		ck_assert(pdet_vec_push(&lines, (struct line){ line.at,
					(size_t)(line.end - line.at) }));
}

static void take_files(const char *home, const char *const *names, size_t n)
{
	char name[PATH_MAX], path[PATH_MAX];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", home, names[i]);
		take_file(unit_source(path, sizeof(path), name));
	}
}

static void take_pieces(void)
{
	take_files("tests/fuzz/corpus/log", corpus, PDET_COUNT(corpus));
	take_files("tests/fixtures/public-reports", reports,
		   PDET_COUNT(reports));
	take_files("tests/fixtures/dump_page", dumps, PDET_COUNT(dumps));
	ck_assert_uint_gt(lines.n, 1000);
}

/* --- logs --- */

/* ck_assert() would write to libcheck's pipe each time. */
static void need(bool memory)
{
	if (!memory)
		ck_abort_msg("no memory");
}

static void put(const char *text, size_t len)
{
	need(pdet_vec_reserve(&made, len + 1));
	memcpy(made.data + made.n, text, len);
	made.n += len;
}

static void put_prefix(size_t kind, size_t time)
{
	char text[96];
	const unsigned s = (unsigned)time, task = 70 + s % 3;

	switch (kind) {
	case 1:
		snprintf(text, sizeof(text), "[%5u.%06u] ", s, s * 7 % 1000000);
		break;
	case 2:
		snprintf(text, sizeof(text), "<6>[%5u.%06u][   T%u] ", s, s,
			 task);
		break;
	case 3:
		snprintf(text, sizeof(text), "6,%u,%u,-,caller=T%u;", s, s,
			 task);
		break;
	case 4:
		snprintf(text, sizeof(text), "Nov 22 12:03:%02u host kernel: ",
			 s % 60);
		break;
	case 5:
		snprintf(text, sizeof(text), "2026-11-22T12:03:%02u,123456"
			 "+00:00 ", s % 60);
		break;
	case 6:
		snprintf(text, sizeof(text), "kern  :info  : [%u.%06u] ", s, s);
		break;
	case 7:
		snprintf(text, sizeof(text), "06-18 22:41:10.507     0     0 "
			 "E ");
		break;
	case 8:
		snprintf(text, sizeof(text), "> | [%u.%06u] c1 %u (x) ", s, s,
			 task);
		break;
	case 9:
		snprintf(text, sizeof(text), "\033[32m[%u.%06u] \033[0m", s, s);
		break;
	case 10:
		snprintf(text, sizeof(text), "{\"MESSAGE\": \"");
		break;
	default:
		*text = '\0';
	}
	put(text, strlen(text));
}

/* A piece of a line, with what no kernel prints. */
static void put_damaged(const char *at, size_t len)
{
	static const char *const odd[] = {
		"\001", "\t", "\r", "\033[", "\\x0a", "\\x09", "\x7f", "\xff",
		"\\", "\"", " ", "[", "]", "0x", "-", "ffffffffffffffff",
		"99999999999999999999", ": ", " Comm: ", " Tainted: ",
	};
	const size_t cut = draw(len + 1);
	size_t i, n;

	put(at, cut);
	switch (draw(4)) {
	case 0:
		return;
	case 1:
		for (i = 0, n = draw(6000); i < n; i += 8)
			put("xxxxxxxx", 8);
		break;
	case 2:
		put("", 1);
		break;
	default:
		i = draw(PDET_COUNT(odd));
		put(odd[i], strlen(odd[i]));
	}
	put(at + cut, len - cut);
}

static void put_line(struct line l, size_t prefix, size_t time)
{
	static const char *const ends[] = { "\r\n", "\r", "\n\n", "", " \n" };
	static struct pdet_log_line parsed;

	if (prefix) {
		pdet_log_line((struct pdet_scan){ l.at, l.at + l.len },
			      &parsed);
		l.at = parsed.text.at;
		l.len = (size_t)(parsed.text.end - l.at);
		put_prefix(prefix, time);
	}
	if (one_in(40))
		put_damaged(l.at, l.len);
	else
		put(l.at, l.len);
	if (prefix == 10)
		put("\"}", 2);
	if (one_in(50)) {
		prefix = draw(PDET_COUNT(ends));
		put(ends[prefix], strlen(ends[prefix]));
	} else {
		put("\n", 1);
	}
}

/* Up to four pieces, one after the other or interleaved. */
static void make_log(void)
{
	size_t from[4], left[4], many = 1 + draw(4), time = draw(5000), i;
	const bool mixed = one_in(2), changes = one_in(4);
	size_t prefix = one_in(3) ? 0 : 1 + draw(11);

	made.n = 0;
	for (i = 0; i < many; i++) {
		from[i] = draw(lines.n);
		left[i] = 1 + draw(PDET_MIN((size_t)60, lines.n - from[i]));
	}
	for (i = 0; many;) {
		if (mixed && one_in(3))
			i = draw(many);
		if (changes && one_in(8))
			prefix = draw(12);
		if (!one_in(25))
			put_line(lines.data[from[i]], prefix, time);
		time += one_in(3);
		if (one_in(25))		/* the same line again */
			continue;
		from[i]++;
		if (!--left[i]) {
			many--;
			from[i] = from[many];
			left[i] = left[many];
			i = 0;
		}
	}
}

/* --- numbers --- */

static void note(uint64_t value)
{
	need(pdet_vec_push(&numbers, value));
}

/* Every number of a text, read as hex and as decimal. */
static void note_numbers(struct pdet_scan s)
{
	const char *const begin = s.at;
	uint64_t value;

	for (; s.at < s.end; s.at++) {
		struct pdet_scan at = s;
		const int before = at.at > begin ? pdet_hex_digit(at.at[-1]) :
						   16;

		if (before > 15 && pdet_scan_hex(&at, &value))
			note(value);
		at = s;
		if (before > 9 && pdet_scan_dec(&at, &value))
			note(value);
	}
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Each once. */
static void sort_numbers(void)
{
	size_t i, n = 0;

	if (numbers.n)
		qsort(numbers.data, numbers.n, sizeof(uint64_t), compare);
	for (i = 0; i < numbers.n; i++)
		if (!i || numbers.data[i] != numbers.data[n - 1])
			numbers.data[n++] = numbers.data[i];
	numbers.n = n;
}

static bool stands(uint64_t value)
{
	const uint64_t minus = -value;

	return bsearch(&value, numbers.data, numbers.n, sizeof(value),
		       compare) ||
	       bsearch(&minus, numbers.data, numbers.n, sizeof(value),
		       compare);
}

/* An address or position of which the page is @value. */
static bool stands_in_page(uint64_t value, bool shifted)
{
	unsigned shift;
	size_t i;

	if (stands(value))
		return true;
	for (shift = 12; shift <= 16; shift += 2)
		for (i = 0; i < numbers.n; i++)
			if (value == (shifted ? numbers.data[i] >> shift :
				      numbers.data[i] >> shift << shift))
				return true;
	return false;
}

/* --- rows --- */

/* "38.117001" */
static bool stands_as_seconds(uint64_t ns)
{
	return stands(ns / 1000000000) && stands(ns / 1000 % 1000000);
}

static bool is_stated(const struct pdet_log_page *p, unsigned field,
		      uint64_t v)
{
	switch (field) {
	case F(PFN):
		return stands_in_page(v, true);
	case F(VADDR):
		return stands_in_page(v, false);
	case F(INDEX):
		return stands_in_page(v, true) ||
		       stands(v - (p->pfn - p->dumped_pfn));
	case F(MAPCOUNT):
		return stands(v) || p->has & PDET_LOG_ENTIRE;
	case F(ORDER):
		return !v || stands(v);
	case F(EVENT_NS):
		return stands(v / 1000) || stands_as_seconds(v);
	case F(ALLOC_NS): case F(FREE_NS):
		return p->report == PAGEDET_REPORT_KFENCE ?
			stands_as_seconds(v) : stands(v);
	case F(REFCOUNT): case F(PINCOUNT): case F(NODE): case F(INODE):
	case F(RAW_FLAGS): case F(PID): case F(VMA_START): case F(VMA_END):
	case F(ALLOC_PID): case F(ALLOC_TGID): case F(ALLOC_ORDER):
	case F(GFP_MASK):
		return stands(v);
	default:
		return true;	/* it follows from words */
	}
}

/* A number that a text of the row has, but not the log. "access" and "ADDRESS"
 * are words, and longer ones than 64 bits are names. */
static bool invents(struct pdet_scan s)
{
	struct pdet_scan number;
	uint64_t value;
	bool digit;

	for (; s.at < s.end; s.at++) {
		number.at = s.at;
		for (digit = false; s.at < s.end &&
		     pdet_hex_digit(*s.at) < 16; s.at++)
			digit |= pdet_hex_digit(*s.at) < 10;
		number.end = s.at;
		if (digit && number.end - number.at >= TELLING &&
		    pdet_scan_hex(&number, &value) && !stands(value))
			return true;
		if (s.at == s.end)
			break;
	}
	return false;
}

static void check_text(const struct pdet_log_page *p, struct pdet_log_text t,
		       const char *what)
{
	const struct pdet_scan s = pdet_log_page_text(p, t);

	if (invents(s))
		ck_abort_msg("%s: %.*s", what, (int)(s.end - s.at), s.at);
}

static void check(const struct pdet_log_page *p, struct pdet_batch *b)
{
	const struct pdet_fields want = pdet_log_said_fields();
	unsigned f;

	ck_assert_uint_le(p->text.n, (1 << 18) + (1 << 16));
	pdet_batch_clear(b, 1);
	pdet_batch_grow(b, 1);
	pdet_log_put(p, b, 0, &want, PAGEDET_SOURCE_LOG);
	pdet_fields_for(f, &want)
		if (pdet_batch_state(b, 0, f) == PAGEDET_HAVE &&
		    !is_stated(p, f, pdet_batch_get(b, 0, f, 0)))
			ck_abort_msg("field %u is %#jx", f, (uintmax_t)
				     pdet_batch_get(b, 0, f, 0));
	check_text(p, p->says, "says");
	check_text(p, p->reason, "reason");
	check_text(p, p->why, "why");
	check_text(p, p->comm, "comm");
	check_text(p, p->cache, "cache");
	check_text(p, p->file, "file");
	check_text(p, p->memcg, "memcg");
	check_text(p, p->aops, "aops");
	check_text(p, p->dentry, "dentry");
	check_text(p, p->owner.comm, "owner");
}

static unsigned check_all(struct pdet_log *log, struct pdet_batch *b)
{
	const struct pdet_log_page *p;
	unsigned n = 0;

	for (; (p = pdet_log_take(log)); n++)
		check(p, b);
	return n;
}

static void read_log(struct pdet_batch *b)
{
	static struct pdet_log_line parsed;
	struct pdet_scan all = { made.data, made.data + made.n }, line;
	struct pdet_log *log = pdet_log_new();
	unsigned n = 0, heard = 0;

	ck_assert_ptr_nonnull(log);
	numbers.n = 0;
	note_numbers(all);
	while (pdet_scan_line(&all, &line)) {
		pdet_log_line(line, &parsed);
		note_numbers(parsed.text);
	}
	sort_numbers();
	if (one_in(2))
		pdet_log_in_order(log);
	all.at = made.data;
	while (pdet_scan_line(&all, &line)) {
		heard++;
		need(pdet_log_feed(log, line) == 0);
		n += check_all(log, b);
	}
	ck_assert_int_eq(pdet_log_end(log, made.n && made.data[made.n - 1] !=
				      '\n'), 0);
	n += check_all(log, b);
	ck_assert_uint_le(n, heard);
	pdet_log_free(log);
}

/* --- whole reports --- */

/* Lines of reports; "@" is a number that no other report of the log has. */
static const char kasan[] =
	"BUG: KASAN: use-after-free in k@+0xb0/0xd0\n"
	"Write of size 1 at addr ffff888@45008 by task t@/@\n"
	"CPU: 1 UID: 0 PID: @ Comm: t@ Not tainted 6.12.0 #1\n"
	"Call Trace:\n <TASK>\n u@+0x5/0x10\n </TASK>\n"
	"The buggy address belongs to the object at ffff888@45000\n"
	" which belongs to the cache c@ of size 16\n"
	"The buggy address belongs to the physical page:\n"
	"page: refcount:1 mapcount:0 mapping:0000000000000000 index:0x@ "
	"pfn:0x@45\n"
	"flags: 0x17ffffc0@0(node=0|zone=2)\n"
	"raw: 0017ffffc0@000 dead000000000100 dead000000000122 "
	"0000000000000000\n"
	"page dumped because: kasan: bad access detected\n"
	"Memory state around the buggy address:\n";
static const char kfence[] =
	"BUG: KFENCE: use-after-free read in g@+0xa6/0x234\n"
	"Use-after-free read at 0xffff8c3f@45008 (in kfence-#@):\n"
	" g@+0xa6/0x234\n"
	"kfence-#@: 0xffff8c3f@45000-0xffff8c3f@4501f, size=@, cache=f@\n"
	"allocated by task 5@ on cpu 1 at @.000@s (0.1s ago):\n"
	" a@+0x1/0x2\n b@+0x3/0x4\n"
	"freed by task 6@ on cpu 1 at @.111@s (0.1s ago):\n"
	" d@+0x1/0x2\n"
	"CPU: 1 UID: 0 PID: @ Comm: t@ Not tainted 6.12.0 #1\n";
static const char slab[] =
	"BUG s@ (Not tainted): Right Redzone overwritten\n"
	"0xffff888@45540-0xffff888@45547 @offset=1344. First byte 0x0 instead "
	"of 0xcc\n"
	"Slab 0xffffea@48d00 objects=21 used=21 fp=0x0000000000000000 "
	"flags=0x17ffffc0000200(slab|node=0|zone=2)\n"
	"Object 0xffff888@45500 @offset=1280 fp=0x0000000000000000\n"
	"CPU: 1 UID: 0 PID: @ Comm: t@ Not tainted 6.12.0 #1\n"
	"Call Trace:\n <TASK>\n u@+0x5/0x10\n </TASK>\n"
	"FIX s@: Restoring Right Redzone 0xffff888@45540\n";
static const char list[] =
	"list_del corruption. prev->next should be ffff888@45000, but was "
	"dead000000000100. (prev=ffff888@45508)\n"
	"------------[ cut here ]------------\n"
	"kernel BUG at lib/list_debug.c:56!\n"
	"CPU: 1 UID: 0 PID: @ Comm: t@ Not tainted 6.12.0 #1\n"
	"Call Trace:\n <TASK>\n u@+0x5/0x10\n </TASK>\n";
static const char fault[] =
	"t@[@]: segfault at 7f00@45010 ip 000055d0c2@b13d sp 00007ffc0@2c30 "
	"error 4 in q@[55d0c2@b000+1000]\n"
	"Code: 48 89 e5 b8 @ <8b>\n";
static const char hung[] =
	"INFO: task t@:@ blocked for more than 120 seconds.\n"
	"task:t@  state:D stack:0 pid:@\n"
	"Call Trace:\n <TASK>\n w@+0x5/0x10\n"
	" migration_entry_wait_on_locked+0x@/0x2c0\n </TASK>\n";
static const char apei[] =
	"{@}[Hardware Error]: Hardware error from APEI Generic Hardware Error "
	"Source: @\n"
	"{@}[Hardware Error]:  Error 0, type: recoverable\n"
	"{@}[Hardware Error]:   section_type: memory error\n"
	"{@}[Hardware Error]:   physical_address: 0x0000000@45180\n"
	"{@}[Hardware Error]:   node:@ card:1\n"
	"{@}[Hardware Error]:   error_type: 3, multi-bit ECC\n"
	"{@}[Hardware Error]:   DIMM location: CPU @ DIMM 5\n";
static const char failure[] =
	"Injecting memory failure for pfn 0x@45 at process virtual address "
	"0x7f00@45000\n"
	"Memory failure: 0x@45: Sending SIGBUS to t@:@ due to hardware memory "
	"corruption\n"
	"Memory failure: 0x@45: recovery action for dirty LRU page: "
	"Recovered\n";
static const char state[] =
	"BUG: Bad page state in process t@  pfn:@45\n"
	"page: refcount:@ mapcount:0 mapping:0000000000000000 index:0x@ "
	"pfn:0x@45\n"
	"flags: 0x17ffffc0@00c(referenced|uptodate|node=0|zone=2)\n"
	"raw: 0017ffffc0@00c dead000000000100 dead000000000122 "
	"0000000000000000\n"
	"page dumped because: nonzero _refcount\n"
	"CPU: 1 UID: 0 PID: @ Comm: t@ Not tainted 6.12.0 #1\n"
	"Call Trace:\n <TASK>\n u@+0x5/0x10\n </TASK>\n";

/* The kernel prints one of the first two at a time. */
static const char *const whole[] = {
	kasan, hung, kfence, slab, list, fault, apei, failure, state,
};

#define MOST_OWNERS 4

/* The index of the report that has printed each line. */
static struct {
	uint8_t *data;
	size_t n, cap;
} owners;

/* The next line of a report, with its number. Before "offset" stands a real
 * "@". */
static void put_whole_line(struct pdet_scan s, unsigned number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	for (; s.at < s.end; s.at++)
		if (*s.at == '@' && strncmp(s.at, "@offset", 7) != 0)
			put(text, strlen(text));
		else
			put(s.at, 1);
}

static void make_whole_log(void)
{
	static const size_t prefixes[] = { 0, 1, 4, 6, 9 };
	const size_t prefix = prefixes[draw(PDET_COUNT(prefixes))];
	const size_t many = 2 + draw(MOST_OWNERS - 1);
	struct pdet_scan left[MOST_OWNERS], line;
	unsigned number[MOST_OWNERS];
	size_t i, going = many, time = draw(5000), single = draw(4);

	made.n = owners.n = 0;
	for (i = 0; i < many; i++) {
		const char *text = whole[i || single > 1 ?
			2 + draw(PDET_COUNT(whole) - 2) : single];

		left[i] = (struct pdet_scan){ text, text + strlen(text) };
		number[i] = (unsigned)(100 + 200 * i + draw(200));
	}
	for (i = draw(many); going; ) {
		if (one_in(2) || left[i].at == left[i].end) {
			i = draw(many);
			continue;
		}
		pdet_scan_line(&left[i], &line);
		put_prefix(prefix, time);
		put_whole_line(line, number[i]);
		put(one_in(20) ? "\r\n" : "\n", 1);
		if (made.data[made.n - 1] == '\r')
			put("\n", 1);
		need(pdet_vec_push(&owners, (uint8_t)i));
		time += one_in(3);
		going -= left[i].at == left[i].end;
	}
}

/* The numbers of the lines of one report. */
static void note_owned(uint8_t owner)
{
	static struct pdet_log_line parsed;
	struct pdet_scan all = { made.data, made.data + made.n }, line;
	size_t i;

	numbers.n = 0;
	for (i = 0; pdet_scan_line(&all, &line); i++) {
		if (owners.data[i] != owner)
			continue;
		note_numbers(line);
		pdet_log_line(line, &parsed);
		note_numbers(parsed.text);
	}
	sort_numbers();
}

static unsigned check_owned(struct pdet_log *log, struct pdet_batch *b)
{
	const struct pdet_log_page *p;
	unsigned n = 0;

	for (; (p = pdet_log_take(log)); n++) {
		ck_assert_uint_gt(p->line, 0);
		ck_assert_uint_le(p->line, owners.n);
		note_owned(owners.data[p->line - 1]);
		check(p, b);
	}
	return n;
}

static void read_whole_log(struct pdet_batch *b)
{
	struct pdet_scan all = { made.data, made.data + made.n }, line;
	struct pdet_log *log = pdet_log_new();
	unsigned n = 0;

	ck_assert_ptr_nonnull(log);
	while (pdet_scan_line(&all, &line)) {
		need(pdet_log_feed(log, line) == 0);
		n += check_owned(log, b);
	}
	ck_assert_int_eq(pdet_log_end(log, false), 0);
	n += check_owned(log, b);
	ck_assert_uint_gt(n, 0);
	pdet_log_free(log);
}

static void keep_log(void)
{
	const char *path = getenv("CHANCE_KEEP");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fwrite(made.data, 1, made.n, f);
	fclose(f);
}

static unsigned from_env(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

START_TEST(batch)
{
	const struct pdet_fields columns = pdet_log_said_fields();
	const unsigned number = from_env("CHANCE_FIRST", 1) + (unsigned)_i;
	struct pdet_batch b;
	struct rusage used;
	clock_t begin;
	unsigned i;

	seed = 0x9e3779b97f4a7c15 * number;
	take_pieces();
	ck_assert(pdet_batch_init(&b, &columns, 1, 1 << 20));
	for (i = 0; i < BATCH; i++) {
		make_log();
		keep_log();
		begin = clock();
		read_log(&b);
		ck_assert_msg((clock() - begin) / CLOCKS_PER_SEC < SECONDS,
			      "log %u of batch %u takes long", i, number);
	}
	pdet_batch_free(&b);
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &used), 0);
	ck_assert_int_lt(used.ru_maxrss, MOST_KB);
}
END_TEST

START_TEST(owned)
{
	const struct pdet_fields columns = pdet_log_said_fields();
	const unsigned number = from_env("CHANCE_FIRST", 1) + (unsigned)_i;
	struct pdet_batch b;
	unsigned i;

	seed = 0x9e3779b97f4a7c15 * number + 1;
	ck_assert(pdet_batch_init(&b, &columns, 1, 1 << 20));
	for (i = 0; i < BATCH; i++) {
		make_whole_log();
		keep_log();
		read_whole_log(&b);
	}
	pdet_batch_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("log_chance");

	unit_loop(s, batch, (int)(from_env("CHANCE", 500) / BATCH));
	unit_loop(s, owned, (int)(from_env("CHANCE", 500) / BATCH));
	return unit_main(s);
}
