/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * fields - a field must have the same answer alone and beside others
 *
 *   fields [-r ROOT] [-f FILE] [-b SOURCE]... [-s SEED] [-n ROUNDS]
 *          kinds | own | own-virt | own-file | scan | task PID |
 *          log PATH | text PATH
 *
 * Asks for every field of a target alone, and then for sets of fields that SEED
 * chooses: with a filter that is always true or without, with all cheap fields
 * or without, and with a number of threads. "kinds" is a few pages of every
 * kind in memory, alone and together. "own" is stable pages of this program, by
 * their frames, together with kernel pages that no one touches. "log" is the
 * pages of a kernel log, and "text" is what the log alone says of them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pagedet.h>

/* Pages per kind, and in all; pages of this program. */
#define EACH 4
#define MOST 96
#define OWN 8
/*
 * A page at rest gives the same answer again. A page whose count another
 * process changes does not.
 */
#define AGAIN 5
/* This many differences are enough to see what they have in common. */
#define ENOUGH 12

/* The value of a text is its hash. */
struct answer {
	uint64_t value;
	unsigned state;
};

typedef struct answer answers[PAGEDET_FIELDS_MAX];

static struct pagedet *pd;
static struct pagedet_query target = PAGEDET_QUERY_INIT;
static struct pagedet_item items[MOST];
static uint64_t rows;
static answers *alone, *beside;
static uint64_t seed = 1;
static unsigned differences;

static void fail(const char *what)
{
	fprintf(stderr, "fields: %s: %s\n", what, pagedet_error(pd));
	exit(1);
}

/* xorshift64*: the same on every machine. */
static uint64_t draw(uint64_t below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (seed * 0x2545f4914f6cdd1dull >> 32) % below;
}

/* Fields about the query, the time, and the row as a whole. */
static int of_question(unsigned field)
{
	return field == PAGEDET_FIELD_ASK || field == PAGEDET_FIELD_TIME_NS ||
	       field == PAGEDET_FIELD_NOTES;
}

static void add(struct pagedet_query *q, unsigned field)
{
	q->fields[field / 64] |= 1ull << field % 64;
}

static int has(const struct pagedet_query *q, unsigned field)
{
	return q->fields[field / 64] >> field % 64 & 1;
}

/* --- answers --- */

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

static struct answer take(const struct pagedet_iter *it,
			  const struct pagedet_page *row, unsigned field)
{
	const struct pagedet_field_info *info = pagedet_field(field);
	const char *at = (const char *)row + info->offset;
	struct answer a = { 0, PAGEDET_CELL_STATE(row->cell[field]) };
	uint32_t narrow;

	if (a.state != PAGEDET_HAVE)
		return a;
	memcpy(&narrow, at, sizeof(narrow));
	a.value = narrow;
	if (info->width == sizeof(a.value))
		memcpy(&a.value, at, sizeof(a.value));
	if (info->type == PAGEDET_TYPE_STRING ||
	    info->type == PAGEDET_TYPE_LIST)
		a.value = hash_of(pagedet_string(it, a.value, NULL));
	return a;
}

static int same(struct answer a, struct answer b)
{
	return a.state == b.state && a.value == b.value;
}

/* Returns the number of rows, and the answers of at most @max of them. */
static uint64_t ask(const struct pagedet_query *q, answers *ret, uint64_t max)
{
	struct pagedet_page row;
	struct pagedet_iter *it;
	uint64_t n = 0;
	unsigned f;
	int r;

	if (pagedet_query(pd, q, &it) < 0)
		fail("query");
	while ((r = pagedet_next(it, &row, 1)) > 0) {
		for (f = 0; n < max && pagedet_field(f); f++)
			if (has(q, f))
				ret[n][f] = take(it, &row, f);
		n++;
	}
	if (r < 0)
		fail("rows");
	pagedet_iter_free(it);
	return n;
}

static void ask_alone(unsigned field, answers *ret)
{
	struct pagedet_query q = target;

	add(&q, field);
	if (ask(&q, ret, rows) != rows)
		fail("other rows");
}

/* --- comparison --- */

static void say_set(const struct pagedet_query *q)
{
	const char *comma = "";
	unsigned f;

	printf("# %" PRIu64 " items, options %#x, %u threads, --where '%s' "
	       "--fields ", q->n_items, q->options, q->threads,
	       q->where ? q->where : "");
	for (f = 0; pagedet_field(f); f++)
		if (has(q, f)) {
			printf("%s%s", comma, pagedet_field(f)->name);
			comma = ",";
		}
	printf("\n");
}

static void say(uint64_t row, unsigned field, struct answer a, struct answer b)
{
	printf("# row %" PRIu64 ", %s: alone %s %#" PRIx64 ", beside others "
	       "%s %#" PRIx64 "\n", row, pagedet_field(field)->name,
	       pagedet_state_name(a.state), a.value,
	       pagedet_state_name(b.state), b.value);
}

/* Whether two answers to one question show that others change the page. */
static int moves(struct answer before, struct answer now)
{
	return before.state == PAGEDET_HAVE && now.state == PAGEDET_HAVE &&
	       before.value != now.value;
}

/*
 * Asks both again, in case the page has changed between. One that changes all
 * the time, as the mappings of a library do while programs start and end, tells
 * nothing. Only the answer that is asked for alone shows that it does: the
 * other one may be what is wrong.
 */
static int stays_apart(const struct pagedet_query *q, uint64_t row,
		       uint64_t page, unsigned field)
{
	const struct answer first = alone[page][field];
	int i, moved = 0;

	for (i = 0; i < AGAIN; i++) {
		ask_alone(field, alone);
		if (same(alone[page][field], beside[row][field]))
			return 0;
		moved |= moves(first, alone[page][field]);
		ask(q, beside, rows);
		if (same(alone[page][field], beside[row][field]))
			return 0;
	}
	return !moved;
}

static void compare(const struct pagedet_query *q, const unsigned *which)
{
	const uint64_t n = ask(q, beside, rows);
	uint64_t row, page;
	unsigned f;

	if (n != (which ? q->n_items : rows))
		fail("rows beside others");
	for (f = 0; pagedet_field(f); f++)
		for (row = 0; has(q, f) && !of_question(f) && row < n; row++) {
			page = which ? which[row] : row;
			if (same(alone[page][f], beside[row][f]) ||
			    !stays_apart(q, row, page, f))
				continue;
			say(row, f, alone[page][f], beside[row][f]);
			say_set(q);
			if (++differences >= ENOUGH)
				return;
			/* Enough of this field. */
			break;
		}
}

/* Chooses some pages of a list. */
static void some_items(struct pagedet_query *q, struct pagedet_item *some,
		       unsigned *which)
{
	uint64_t i;

	q->items = some;
	q->n_items = draw(2) ? 1 + draw(rows) : 1;
	for (i = 0; i < q->n_items; i++) {
		which[i] = (unsigned)draw(rows);
		some[i] = items[which[i]];
	}
}

static void try_set(int is_list)
{
	static const char *const where[] = {
		NULL, NULL, NULL, "ask>=0 or kind=anon",
		"ask>=0 or refcount>1", "ask>=0 or flags:lru",
		"ask>=0 or memcg_path~x and mapcount>0",
	};
	const uint64_t few = 1 + draw(8);
	struct pagedet_query q = target;
	struct pagedet_item some[MOST];
	unsigned which[MOST], f;

	for (f = 0; pagedet_field(f); f++)
		if (draw(few) == 0)
			add(&q, f);
	add(&q, (unsigned)draw(f));
	q.where = where[draw(sizeof(where) / sizeof(*where))];
	q.options |= draw(4) ? 0 : PAGEDET_Q_CHEAP;
	if (is_list)
		some_items(&q, some, which);
	compare(&q, is_list ? which : NULL);
}

/* --- targets --- */

/* Takes the first page of each kind, and later some more. */
static void take_kinds(uint64_t kinds)
{
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	unsigned seen[64] = { 0 }, kind;
	struct pagedet_page row;
	struct pagedet_iter *it;

	q.target = PAGEDET_TARGET_SCAN;
	add(&q, PAGEDET_FIELD_PFN);
	add(&q, PAGEDET_FIELD_KIND);
	if (pagedet_query(pd, &q, &it) < 0)
		fail("scan");
	while (target.n_items < MOST && pagedet_next(it, &row, 1) > 0) {
		kind = row.kind % 64;
		if (!(kinds >> kind & 1) || seen[kind] == EACH ||
		    draw(seen[kind] ? 16 : 1))
			continue;
		seen[kind]++;
		items[target.n_items].first = row.pfn;
		items[target.n_items++].count = 1;
	}
	pagedet_iter_free(it);
	target.target = PAGEDET_TARGET_PFN;
}

/*
 * Takes memory of a file that only this process uses: written, locked and never
 * touched again. Its last page is zero and was only read.
 */
static void take_own(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * OWN;
	volatile char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (at == MAP_FAILED || madvise((char *)at, size, MADV_NOHUGEPAGE))
		fail("mmap");
	for (i = 0; i < size - page; i += 7)
		at[i] = (char)draw(256);
	(void)at[size - page];
	if (mlock((char *)at, size))
		fail("mlock");
	target.target = PAGEDET_TARGET_VIRT;
	target.n_items = 1;
	items[0].pid = (uint32_t)getpid();
	items[0].first = (uint64_t)(uintptr_t)at;
	items[0].count = size;
}

static void take_own_file(void)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE) * OWN;
	static char path[64];
	const int fd = memfd_create("fields", 0);
	size_t i;

	for (i = 0; i < size / 8; i++) {
		const uint64_t word = draw(UINT32_MAX);

		if (fd < 0 || write(fd, &word, sizeof(word)) != sizeof(word))
			fail("memfd");
	}
	if (mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_LOCKED, fd, 0) ==
	    MAP_FAILED)
		fail("mmap");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	target.target = PAGEDET_TARGET_FILE;
	target.path = path;
}

/* Replaces the target by its frames. */
static void take_frames(void)
{
	struct pagedet_query q = target;
	answers found[OWN];
	unsigned i;

	add(&q, PAGEDET_FIELD_PFN);
	ask(&q, found, OWN);
	for (i = 0; i < OWN; i++) {
		if (found[i][PAGEDET_FIELD_PFN].state != PAGEDET_HAVE)
			fail("page frame numbers");
		items[i].first = found[i][PAGEDET_FIELD_PFN].value;
		items[i].count = 1;
		items[i].pid = 0;
	}
	target.n_items = OWN;
	take_kinds(1ull << PAGEDET_KIND_UNINIT | 1ull << PAGEDET_KIND_RESERVED);
}

static void take_target(const char *what, const char *which)
{
	target.items = items;
	if (!strcmp(what, "kinds")) {
		take_kinds(UINT64_MAX);
	} else if (!strcmp(what, "own")) {
		take_own();
		take_frames();
	} else if (!strcmp(what, "own-virt")) {
		take_own();
	} else if (!strcmp(what, "own-file")) {
		take_own_file();
	} else if (!strcmp(what, "scan")) {
		target.target = PAGEDET_TARGET_SCAN;
	} else if (!strcmp(what, "log") || !strcmp(what, "text")) {
		target.target = PAGEDET_TARGET_LOG;
		target.path = which;
		if (*what == 't')
			target.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG);
		target.options = PAGEDET_Q_ANY_BOOT;
	} else {
		target.target = PAGEDET_TARGET_TASK;
		target.n_items = 1;
		items[0].pid = (uint32_t)strtoul(which ? which : "0", NULL, 0);
		items[0].count = PAGEDET_TO_END;
	}
	if (!target.n_items)
		target.items = NULL;
}

static void run(unsigned rounds)
{
	const int is_list = target.target == PAGEDET_TARGET_PFN;
	struct pagedet_query q = target;
	unsigned f;

	/*
	 * A query with several threads avoids sources that take long to start.
	 */
	q.threads = target.threads = (uint32_t)draw(3);
	add(&q, PAGEDET_FIELD_PFN);
	rows = ask(&q, NULL, 0);
	alone = calloc(rows + 1, sizeof(*alone));
	beside = calloc(rows + 1, sizeof(*beside));
	if (!rows || !alone || !beside)
		fail("no rows");
	printf("# %" PRIu64 " rows\n", rows);
	for (f = 0; pagedet_field(f); f++)
		ask_alone(f, alone);
	for (; rounds && differences < ENOUGH; rounds--)
		try_set(is_list);
	free(alone);
	free(beside);
}

int main(int argc, char **argv)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;
	unsigned rounds = 100;
	const char *file = NULL;
	int c;

	while ((c = getopt(argc, argv, "r:f:b:s:n:")) != -1)
		switch (c) {
		case 'r':
			o.root = optarg;
			break;
		case 'f':
			file = optarg;
			break;
		case 'b':
			o.sources |= PAGEDET_SOURCE_BIT(
				pagedet_source_by_name(optarg));
			break;
		case 's':
			seed = strtoull(optarg, NULL, 0) * 2 + 1;
			break;
		case 'n':
			rounds = (unsigned)strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	pd = pagedet_new();
	if (!pd || optind == argc)
		return 2;
	if (file) {
		o.files = &file;
		o.n_files = 1;
	}
	if (pagedet_open(pd, &o) < 0)
		fail("open");
	take_target(argv[optind], argv[optind + 1]);
	run(rounds);
	pagedet_free(pd);
	return differences ? 3 : 0;
}
