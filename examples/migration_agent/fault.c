/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Injects faults, for tests. No other file of this program uses what is done
 * here: the report must find it out.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"

#define HOLD_MS 10000		/* what is sent, at most */
#define TICK_MS 20		/* more than one tick with HZ=100 */

enum when { SENDING, FROZEN, EXPLAINING };

struct fault {
	const char *name;
	const char *what;
	enum when when;
	bool of_file;		/* memory must be a file: --ram memfd, file */
	/*
	 * Returns true once it is done. While pages are sent, it is tried
	 * again.
	 */
	bool (*act)(struct agent *a);
};

void fault_done(const char *name, uint64_t page)
{
	agent_say("fault %s: page %llu", name, (unsigned long long)page);
}

void fault_done_here(struct agent *a, const char *name, uint64_t page)
{
	struct vm *vm = &a->vm[SOURCE];
	const bool runs = !vm_status(vm) && vm->frozen == PAGEDET_NO;

	fault_done(name, page);
	if (!runs)
		agent_say("fault late: page %llu", (unsigned long long)page);
}

bool fault_not_done(void)
{
	agent_say("the fault could not be made");
	return true;
}

/* --- the page, and its bytes --- */

uint64_t fault_random(struct agent *a)
{
	uint64_t x = a->o.seed * 0x9e3779b97f4a7c15u + 1;

	x ^= x >> 31;
	x *= 0xbf58476d1ce4e5b9u;
	a->o.seed = x ^ x >> 27;
	return a->o.seed;
}

uint64_t fault_choose(struct agent *a, bool busy)
{
	const uint64_t from = busy ? GUEST_WRITES_FROM : GUEST_WRITES_TO;
	const uint64_t to = busy ? GUEST_WRITES_TO : a->blocks[0].used;
	const uint64_t n = (to - from) / PAGE_BYTES - 1;

	return a->blocks[0].first + from / PAGE_BYTES + fault_random(a) % n;
}

/*
 * The guest leaves some pages as they are: zero. Clearing one of them does not
 * change it, so that another page is chosen.
 */
#define TRIES 64

bool fault_is_zero(const unsigned char *bytes)
{
	static const unsigned char zero[PAGE_BYTES];

	return !memcmp(bytes, zero, PAGE_BYTES);
}

uint64_t fault_choose_data(struct agent *a, int side)
{
	unsigned char bytes[PAGE_BYTES];
	uint64_t page;
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		page = fault_choose(a, false);
		if (look_bytes(a, side, page, bytes) > 0 &&
		    !fault_is_zero(bytes))
			break;
	}
	return page;
}

int fault_transfer(struct agent *a, int side, uint64_t page, void *bytes,
		    bool write)
{
	const off_t at = (off_t)join_hva(a, page, side);
	char path[48];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)a->vm[side].pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		n = write ? pwrite(fd, bytes, PAGE_BYTES, at) :
			    pread(fd, bytes, PAGE_BYTES, at);
	if (n != PAGE_BYTES)
		fault_not_done();
	if (fd >= 0)
		close(fd);
	return n == PAGE_BYTES ? 0 : -1;
}

/* Opens the memory's file for writing; @at gets the page's offset in it. */
static int open_file(struct agent *a, int side, uint64_t page, off_t *at)
{
	const struct block *b = join_block(a, page);
	char path[48];
	int fd = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->at[side].fd);
	if (b->at[side].fd >= 0)
		fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		fault_not_done();
	*at = (off_t)(b->at[side].file_offset +
		      (page - b->first) * PAGE_BYTES);
	return fd;
}

/* The mapping stays. */
static bool write_mapped(int fd, off_t at, size_t from, const void *bytes,
			 size_t len)
{
	void *map = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, at);

	if (map == MAP_FAILED)
		return false;
	memcpy((char *)map + from, bytes, len);
	return true;
}

int fault_write_file(struct agent *a, int side, uint64_t page, bool mapped,
		     size_t from, const void *bytes, size_t len)
{
	bool is_done;
	off_t at;
	const int fd = open_file(a, side, page, &at);

	if (fd < 0)
		return -1;
	/*
	 * File times advance only once per tick. A write in the tick in which
	 * the page was sent looks older than that.
	 */
	agent_sleep(TICK_MS);
	is_done = mapped ? write_mapped(fd, at, from, bytes, len) :
			   pwrite(fd, bytes, len, at + (off_t)from) ==
				   (ssize_t)len;
	close(fd);
	if (!is_done)
		fault_not_done();
	return is_done ? 0 : -1;
}

bool fault_was_sent(struct agent *a, uint64_t page)
{
	struct pagedet_version_of of = { .size = sizeof(of) };

	if (!a->tapped)
		return a->looks > 8;
	return !pagedet_versions_of(a->versions, page, &of) && of.times;
}

bool fault_choose_sent(struct agent *a, uint64_t *page)
{
	unsigned i;

	for (i = 0; i < TRIES; i++) {
		*page = fault_choose_data(a, SOURCE);
		if (fault_was_sent(a, *page))
			return true;
	}
	return false;
}

/* --- the faults --- */

static bool flip_bit(struct agent *a)
{
	const uint64_t page = fault_choose_data(a, DESTINATION);
	const uint64_t at = fault_random(a);
	unsigned char bytes[PAGE_BYTES];

	if (fault_transfer(a, DESTINATION, page, bytes, false))
		return true;
	bytes[at % PAGE_BYTES] ^= (unsigned char)(1u << (at >> 32) % 8);
	if (!fault_transfer(a, DESTINATION, page, bytes, true))
		fault_done("flip-bit", page);
	return true;
}

static bool zero_page(struct agent *a)
{
	const uint64_t page = fault_choose_data(a, DESTINATION);
	unsigned char bytes[PAGE_BYTES] = { 0 };

	if (!fault_transfer(a, DESTINATION, page, bytes, true))
		fault_done("zero-page", page);
	return true;
}

static bool swap_pages(struct agent *a)
{
	const uint64_t p = fault_choose_data(a, DESTINATION), q = p ^ 1;
	unsigned char x[PAGE_BYTES], y[PAGE_BYTES];

	if (fault_transfer(a, DESTINATION, p, x, false) ||
	    fault_transfer(a, DESTINATION, q, y, false) ||
	    fault_transfer(a, DESTINATION, p, y, true) ||
	    fault_transfer(a, DESTINATION, q, x, true))
		return true;
	fault_done("swap-pages", p);
	fault_done("swap-pages", q);
	return true;
}

#define SHIFTED 32u		/* pages that come to lie at a wrong place */
#define SHIFT 8u

/* As if a file of memory was loaded at a wrong offset. */
static bool shift_pages(struct agent *a)
{
	static unsigned char x[SHIFTED + SHIFT][PAGE_BYTES];
	uint64_t page = fault_choose_data(a, DESTINATION);
	const struct block *b = join_block(a, page);
	unsigned i;

	if (b->pages < SHIFTED + SHIFT) {
		fault_not_done();
		return true;
	}
	if (page - b->first > b->pages - SHIFTED - SHIFT)
		page = b->first + b->pages - SHIFTED - SHIFT;
	for (i = 0; i < SHIFTED + SHIFT; i++)
		if (fault_transfer(a, DESTINATION, page + i, x[i], false))
			return true;
	for (i = 0; i < SHIFTED; i++)
		if (memcmp(x[i], x[i + SHIFT], PAGE_BYTES) &&
		    !fault_transfer(a, DESTINATION, page + i, x[i + SHIFT],
				    true))
			fault_done("shift-pages", page + i);
	return true;
}

static int punch(struct agent *a, int side, uint64_t page)
{
	off_t at;
	const int fd = open_file(a, side, page, &at);
	int r;

	if (fd < 0)
		return -1;
	r = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
		      PAGE_BYTES);
	close(fd);
	if (r)
		fault_not_done();
	return r;
}

static bool punch_hole(struct agent *a)
{
	const uint64_t page = fault_choose_data(a, DESTINATION);

	if (!punch(a, DESTINATION, page))
		fault_done("punch-hole", page);
	return true;
}

static bool source_hole(struct agent *a)
{
	const uint64_t page = fault_choose_data(a, SOURCE);

	if (!punch(a, SOURCE, page))
		fault_done("source-hole", page);
	return true;
}

static bool early_hole(struct agent *a)
{
	uint64_t page;

	if (!fault_choose_sent(a, &page))
		return false;
	if (!punch(a, SOURCE, page))
		fault_done_here(a, "early-hole", page);
	return true;
}

/* A page as it was first sent. It is put back at the end. */
struct kept {
	uint64_t page;
	bool taken;
	unsigned char bytes[PAGE_BYTES];
};

static struct kept kept = { .page = PAGEDET_NO_PAGE };

static bool is_kept(struct agent *a, int side)
{
	unsigned char bytes[PAGE_BYTES];

	return look_bytes(a, side, kept.page, bytes) >= 0 &&
	       !memcmp(bytes, kept.bytes, PAGE_BYTES);
}

/*
 * Nothing is forwarded until the guest has written the page once more, so that
 * it will be sent again: however slow the machine is, what is kept becomes old.
 */
static void keep_older(struct agent *a, const unsigned char *bytes)
{
	const uint64_t until = agent_clock() + HOLD_MS;

	memcpy(kept.bytes, bytes, PAGE_BYTES);
	kept.taken = true;
	while (is_kept(a, SOURCE) && agent_clock() < until)
		agent_sleep(1);
}

/* If the page still has these bytes, nothing would be harmed. */
static bool put_back_older(struct agent *a)
{
	if (!kept.taken)
		agent_say("fault older: not done: page %llu was not seen to be "
			  "sent", (unsigned long long)kept.page);
	else if (is_kept(a, SOURCE) || is_kept(a, DESTINATION))
		agent_say("fault older: not done: page %llu is as it was first "
			  "sent", (unsigned long long)kept.page);
	else if (!fault_transfer(a, DESTINATION, kept.page, kept.bytes, true))
		fault_done("older", kept.page);
	return true;
}

/*
 * Writes into a page of the source that was already sent. Returns false if it
 * was not written.
 */
static bool write_sent(struct agent *a, uint64_t *page, bool mapped,
		       const char *name)
{
	static const char written[] = "written past the machine's own mapping";

	if (*page == PAGEDET_NO_PAGE)
		*page = fault_choose(a, false);
	if (!fault_was_sent(a, *page))
		return false;
	if (!fault_write_file(a, SOURCE, *page, mapped, 512, written,
			      sizeof(written)))
		fault_done_here(a, name, *page);
	return true;
}

static bool write_file(struct agent *a)
{
	static uint64_t page = PAGEDET_NO_PAGE;

	return write_sent(a, &page, false, "write-file");
}

static bool write_mapping(struct agent *a)
{
	static uint64_t page = PAGEDET_NO_PAGE;

	return write_sent(a, &page, true, "write-mapping");
}

static bool resume(struct agent *a)
{
	zero_page(a);
	qmp_do(&a->vm[DESTINATION].qmp, "cont", NULL);
	agent_sleep(50);
	return true;
}

static bool kill_side(struct agent *a, int side)
{
	kill(a->vm[side].pid, SIGKILL);
	agent_sleep(100);
	return true;
}

static bool kill_source(struct agent *a)
{
	return kill_side(a, SOURCE);
}

static bool kill_destination(struct agent *a)
{
	return kill_side(a, DESTINATION);
}

static const struct fault faults[] = {
	{ "flip-bit", "a bit of a page, at the destination", FROZEN,
	  false, flip_bit },
	{ "zero-page", "a page becomes zero, at the destination", FROZEN,
	  false, zero_page },
	{ "swap-pages", "two pages change places, at the destination", FROZEN,
	  false, swap_pages },
	{ "shift-pages", "pages have what is further on, at the destination",
	  FROZEN, false, shift_pages },
	{ "punch-hole", "a hole in the destination's file", FROZEN,
	  true, punch_hole },
	{ "source-hole", "a hole in the source's file, when it has stopped",
	  FROZEN, true, source_hole },
	{ "early-hole", "a hole in the source's file, while it is sent",
	  SENDING, true, early_hole },
	{ "older", "a page as it was before, at the destination", FROZEN,
	  false, put_back_older },
	{ "write-file", "write(2) to the source's file, while it is sent",
	  SENDING, true, write_file },
	{ "write-mapping", "another mapping of the source's file is written",
	  SENDING, true, write_mapping },
	{ "resume", "the destination goes on while it is looked at", FROZEN,
	  false, resume },
	{ "kill-early", "the destination dies while it is sent", SENDING,
	  false, kill_destination },
	{ "kill-source", "the source dies while it is looked at", EXPLAINING,
	  false, kill_source },
	{ "kill-destination", "the destination dies while it is looked at",
	  EXPLAINING, false, kill_destination },
};

/* Returns a bit for each name of a list; 0 if one is unknown. */
uint64_t fault_parse(const char *list)
{
	uint64_t bits = 0;
	size_t i, len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
			if (strlen(faults[i].name) == len &&
			    !memcmp(faults[i].name, list, len))
				break;
		if (i == sizeof(faults) / sizeof(*faults))
			return 0;
		bits |= 1ull << i;
		if (!list[len])
			return bits;
	}
}

const char *fault_of_file(uint64_t bits)
{
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (bits & 1ull << i && faults[i].of_file)
			return faults[i].name;
	return NULL;
}

void fault_names(FILE *f)
{
	size_t i;

	fputc('\n', f);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		fprintf(f, "  %c %-17s %s\n", faults[i].of_file ? '*' : ' ',
			faults[i].name, faults[i].what);
}

static void act(struct agent *a, enum when when)
{
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (a->o.faults & 1ull << i && faults[i].when == when &&
		    faults[i].act(a))
			a->o.faults &= ~(1ull << i);
}

/* The choice does not change while fault_sent() may be called. */
void fault_starting(struct agent *a)
{
	size_t i;

	harm_starting(a);
	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (a->o.faults & 1ull << i && faults[i].act == put_back_older)
			kept.page = fault_choose(a, true);
}

void fault_sent(struct agent *a, uint64_t page, const unsigned char *bytes)
{
	if (page == kept.page && !kept.taken)
		keep_older(a, bytes);
}

void fault_sending(struct agent *a)
{
	act(a, SENDING);
	harm_sending(a);
}

bool fault_pending(const struct agent *a)
{
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (a->o.faults & 1ull << i && faults[i].when == SENDING)
			return true;
	return harm_pending();
}

void fault_stopped(struct agent *a)
{
	harm_stopped(a);
}

void fault_frozen(struct agent *a)
{
	act(a, FROZEN);
	harm_frozen(a);
}

void fault_explaining(struct agent *a)
{
	act(a, EXPLAINING);
}
