/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Does harm of every kind, for tests: a time and a way, and what becomes of the
 * bytes. As with fault.c, the report must find it out.
 */
#include <string.h>

#include "fault.h"

enum moment {
	SENT,			/* between memory and the tap */
	WIRE,			/* behind the tap */
	RUNNING,		/* at the source, after it was sent */
	BETWEEN,		/* at the source, which has stopped, before it
				 * was read */
	STOPPED,		/* at the source, after that */
	STORED			/* at the destination */
};

enum way { BY_MEM, BY_FILE, BY_MAPPING };

static const struct {
	const char *name;
	enum moment moment;
	enum way way;
} times[] = {
	{ "sent", SENT, BY_MEM },
	{ "wire", WIRE, BY_MEM },
	{ "running", RUNNING, BY_MEM },
	{ "running-file", RUNNING, BY_FILE },
	{ "running-mapping", RUNNING, BY_MAPPING },
	{ "between", BETWEEN, BY_MEM },
	{ "between-file", BETWEEN, BY_FILE },
	{ "stopped", STOPPED, BY_MEM },
	{ "stopped-file", STOPPED, BY_FILE },
	{ "stopped-mapping", STOPPED, BY_MAPPING },
	{ "stored", STORED, BY_MEM },
	{ "stored-file", STORED, BY_FILE },
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* --- what becomes of the bytes --- */

typedef void means_fn(unsigned char *x, uint64_t n, const unsigned char *other);

static void noise(unsigned char *x, size_t len, uint64_t n)
{
	size_t i;

	for (i = 0; i < len; i++) {
		n = n * 6364136223846793005u + 1442695040888963407u;
		x[i] = (unsigned char)(n >> 56);
	}
}

static void a_bit(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)other;
	x[n % PAGE_BYTES] ^= (unsigned char)(1u << (n >> 32) % 8);
}

static void a_byte(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)other;
	x[n % PAGE_BYTES] ^= 0xa5;
}

static void a_word(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)other;
	noise(x + n % (PAGE_BYTES / 8) * 8, 8, n);
}

static void a_sector(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)other;
	noise(x + n % (PAGE_BYTES / 512) * 512, 512, n);
}

static void a_half(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)other;
	memset(x + n % 2 * (PAGE_BYTES / 2), 0, PAGE_BYTES / 2);
}

static void to_ones(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)n;
	(void)other;
	memset(x, 0xff, PAGE_BYTES);
}

static void to_zero(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)n;
	(void)other;
	memset(x, 0, PAGE_BYTES);
}

static void to_noise(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)other;
	noise(x, PAGE_BYTES, n);
}

static void to_other(unsigned char *x, uint64_t n, const unsigned char *other)
{
	(void)n;
	memcpy(x, other, PAGE_BYTES);
}

static void turn(unsigned char *x, uint64_t n, const unsigned char *other)
{
	const unsigned char first = x[0];

	(void)n;
	(void)other;
	memmove(x, x + 1, PAGE_BYTES - 1);
	x[PAGE_BYTES - 1] = first;
}

static const struct {
	const char *name, *what;
	means_fn *act;
} means[] = {
	{ "bit", "a bit flips", a_bit },
	{ "byte", "a byte changes", a_byte },
	{ "word", "8 bytes change", a_word },
	{ "sector", "512 bytes change", a_sector },
	{ "half", "a half becomes zero", a_half },
	{ "ones", "all bytes become 0xff", to_ones },
	{ "zero", "all bytes become zero", to_zero },
	{ "noise", "all bytes change", to_noise },
	{ "other", "another page's bytes are there", to_other },
	{ "turned", "all bytes move by one", turn },
};

/* --- one harm --- */

struct harm {
	size_t time, means;
	char name[32];
	uint64_t page;		/* PAGEDET_NO_PAGE: not chosen yet */
	uint64_t from, seed;
	bool is_over, is_told;
	unsigned char other[PAGE_BYTES]; /* of another page that has passed */
};

static struct harm harms[8];
static size_t n_harms;

/* Whether the bytes have changed. */
static bool change(const struct harm *h, unsigned char *bytes,
		   const unsigned char *other)
{
	unsigned char was[PAGE_BYTES];

	memcpy(was, bytes, PAGE_BYTES);
	means[h->means].act(bytes, h->seed, other);
	return memcmp(was, bytes, PAGE_BYTES);
}

/* To a file it writes what has changed, and no more. */
static bool write_page(struct agent *a, const struct harm *h, int side,
		       const unsigned char *was, unsigned char *bytes)
{
	const enum way way = times[h->time].way;
	size_t from = 0, to = PAGE_BYTES;

	if (way == BY_MEM)
		return !fault_transfer(a, side, h->page, bytes, true);
	while (was[from] == bytes[from])
		from++;
	while (was[to - 1] == bytes[to - 1])
		to--;
	return !fault_write_file(a, side, h->page, way == BY_MAPPING, from,
				 bytes + from, to - from);
}

static void do_harm(struct agent *a, struct harm *h, int side)
{
	unsigned char was[PAGE_BYTES], bytes[PAGE_BYTES], other[PAGE_BYTES];

	h->is_over = true;
	if (fault_transfer(a, side, h->page, was, false) ||
	    fault_transfer(a, side, h->page ^ 1, other, false))
		return;
	memcpy(bytes, was, PAGE_BYTES);
	if (!change(h, bytes, other))
		fault_not_done();
	else if (write_page(a, h, side, was, bytes) && side == SOURCE)
		fault_done_here(a, h->name, h->page);
	else if (side == DESTINATION)
		fault_done(h->name, h->page);
}

/* --- the times --- */

void harm_starting(struct agent *a)
{
	size_t i;

	for (i = 0; i < n_harms; i++) {
		harms[i].page = PAGEDET_NO_PAGE;
		harms[i].from = fault_choose(a, false);
		harms[i].seed = fault_random(a);
	}
}

void harm_sending(struct agent *a)
{
	size_t i;

	for (i = 0; i < n_harms; i++) {
		struct harm *h = &harms[i];

		if (times[h->time].moment != RUNNING || h->is_over)
			continue;
		if (h->page == PAGEDET_NO_PAGE)
			h->page = fault_choose_data(a, SOURCE);
		if (fault_was_sent(a, h->page))
			do_harm(a, h, SOURCE);
	}
}

bool harm_pending(void)
{
	size_t i;

	for (i = 0; i < n_harms; i++)
		if (times[harms[i].time].moment == RUNNING && !harms[i].is_over)
			return true;
	return false;
}

/* A page that is yet to be sent would be sent as it is then. */
void harm_stopped(struct agent *a)
{
	size_t i;

	for (i = 0; i < n_harms; i++) {
		struct harm *h = &harms[i];

		if (times[h->time].moment != BETWEEN || h->is_over)
			continue;
		if (fault_choose_sent(a, &h->page))
			do_harm(a, h, SOURCE);
		else
			h->is_over = fault_not_done();
	}
}

void harm_frozen(struct agent *a)
{
	size_t i;

	for (i = 0; i < n_harms; i++) {
		struct harm *h = &harms[i];
		const int side = times[h->time].moment == STOPPED ?
				 SOURCE : DESTINATION;

		if (times[h->time].moment < STOPPED || h->is_over)
			continue;
		h->page = fault_choose_data(a, side);
		do_harm(a, h, side);
	}
}

/*
 * A page that passes in the stream. What passes again is harmed again; where
 * that is not possible, the harm was undone.
 */
static bool pass(struct agent *a, struct harm *h, uint64_t page,
		 unsigned char *bytes)
{
	const struct block *b = &a->blocks[0];
	const bool is_left_alone = page >= h->from &&
				   page < b->first + b->pages;
	const bool is_it = h->page == PAGEDET_NO_PAGE ?
			   bytes && is_left_alone && !fault_is_zero(bytes) :
			   h->page == page;
	const bool is_done = is_it && bytes && change(h, bytes, h->other);

	if (is_done && !h->is_told)
		fault_done(h->name, page);
	else if (is_it && !is_done && h->is_told)
		fault_done("undone", page);
	else if (!is_it && bytes && h->page == PAGEDET_NO_PAGE)
		memcpy(h->other, bytes, PAGE_BYTES);
	if (is_it)
		h->is_told = is_done;
	if (is_done)
		h->page = page;
	return is_done;
}

bool harm_passing(struct agent *a, uint64_t page, unsigned char *bytes,
		  bool is_hashed)
{
	bool is_done = false;
	size_t i;

	for (i = 0; i < n_harms; i++)
		if (times[harms[i].time].moment == (is_hashed ? WIRE : SENT))
			is_done |= pass(a, &harms[i], page, bytes);
	return is_done;
}

/* --- names --- */

static bool parse(struct harm *h, const char *name, size_t len)
{
	for (h->time = 0; h->time < COUNT(times); h->time++) {
		const size_t n = strlen(times[h->time].name);

		if (n >= len || strncmp(times[h->time].name, name, n) ||
		    name[n] != '-')
			continue;
		for (h->means = 0; h->means < COUNT(means); h->means++)
			if (strlen(means[h->means].name) == len - n - 1 &&
			    !strncmp(means[h->means].name, name + n + 1,
				     len - n - 1))
				return true;
	}
	return false;
}

int harm_parse(const char *list)
{
	size_t len;

	for (n_harms = 0; n_harms < COUNT(harms); list += len + 1) {
		struct harm *h = &harms[n_harms];

		len = strcspn(list, ",");
		if (!parse(h, list, len))
			return -1;
		snprintf(h->name, sizeof(h->name), "%.*s", (int)len, list);
		n_harms++;
		if (!list[len])
			return 0;
	}
	return -1;
}

const char *harm_of_file(void)
{
	size_t i;

	for (i = 0; i < n_harms; i++)
		if (times[harms[i].time].way != BY_MEM)
			return harms[i].name;
	return NULL;
}

void harm_names(FILE *f)
{
	size_t i;

	fputs("  --harm LIST       TIME-MEANS, some of these; * as above:\n",
	      f);
	for (i = 0; i < COUNT(times); i++)
		fprintf(f, "  %c %s%s", times[i].way == BY_MEM ? ' ' : '*',
			times[i].name, i % 5 == 4 ? "\n" : " ");
	for (i = 0; i < COUNT(means); i++)
		fprintf(f, "\n    -%-16s %s", means[i].name, means[i].what);
	fputc('\n', f);
}
