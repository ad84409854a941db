/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The faults of a migrated page. Each is real: it changes the packet on its
 * way, the memory of a process, or its file.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "injector.h"
#include "planter.h"

/* Newer than the headers of the oldest supported build systems. */
#define MADV_COLD_ 20
#define MADV_PAGEOUT_ 21
#define MADV_HWPOISON_ 100
#define MADV_SOFT_OFFLINE_ 101

/* Longer than one tick of file times. */
#define TICK_MS 12

/* What the kernel said, as a reason, which is kept until the process ends. */
static const char *refused(const char *what, uint64_t error)
{
	char *why;

	if (asprintf(&why, "%s: %s", what, strerror((int)error)) < 0)
		die(what);
	return why;
}

/* --- on the way --- */

static void lose(struct move *m, struct order *packets, uint32_t page)
{
	(void)m;
	(void)packets;
	(void)page;
}

/* An earlier version arrives late. */
static void reorder(struct move *m, struct order *packets, uint32_t page)
{
	struct order old = m->came[page];

	deliver(m, packets, page);
	deliver(m, &old, page);
}

static void flip(struct move *m, struct order *packets, uint32_t page)
{
	unsigned n = 1 + (unsigned)(random_of(m->random) % 64);

	while (n--) {
		const uint64_t bit = random_of(m->random) % (PAGE * 8);

		packets->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	/* An even number of flips would cancel out. */
	packets->bytes[5] = (unsigned char)~m->came[page].bytes[5];
	packets->bytes[6] ^= 1;
	deliver(m, packets, page);
}

static void cut(struct move *m, struct order *packets, uint32_t page)
{
	const size_t from = random_of(m->random) % (PAGE - 64);

	memset(packets->bytes + from, 0, PAGE - from);
	deliver(m, packets, page);
}

static void zero(struct move *m, struct order *packets, uint32_t page)
{
	memset(packets->bytes, 0, PAGE);
	deliver(m, packets, page);
}

static void swap_places(struct move *m, struct order *packets, uint32_t page)
{
	deliver(m, &packets[0], page + 1);
	deliver(m, &packets[1], page);
}

static void shift(struct move *m, struct order *packets, uint32_t page)
{
	deliver(m, &packets[0], page + 1);
	deliver(m, &packets[1], page + 2);
	deliver(m, &packets[2], page);
}

/* --- other processes --- */

static void one_bit(const struct move *m, const struct side *s, uint32_t page)
{
	const size_t at = random_of(m->random) % PAGE;
	unsigned char bytes[PAGE];

	load(s, page, bytes);
	bytes[at] ^= (unsigned char)(1 << random_of(m->random) % 8);
	store(s, page, &bytes[at], 1, at);
}

static const char *flip_peer(struct move *m, uint32_t page)
{
	one_bit(m, &m->dst, page);
	return NULL;
}

static const char *store_peer(struct move *m, uint32_t page)
{
	unsigned char bytes[PAGE];

	fill(bytes, random_of(m->random));
	store(&m->dst, page, bytes, 1 + random_of(m->random) % PAGE, 0);
	return NULL;
}

static const char *store_source(struct move *m, uint32_t page)
{
	unsigned char bytes[PAGE];

	fill(bytes, random_of(m->random));
	store(&m->src, page, bytes, 1 + random_of(m->random) % PAGE, 0);
	return NULL;
}

static const char *zero_peer(struct move *m, uint32_t page)
{
	static const unsigned char zeroes[PAGE];

	store(&m->dst, page, zeroes, PAGE, 0);
	return NULL;
}

static void write_file(const struct side *s, uint32_t page)
{
	unsigned char bytes[PAGE];

	nap(TICK_MS);
	load(s, page, bytes);
	bytes[9] ^= 0xff;
	if (pwrite(s->ram, bytes, 512, (off_t)(page * PAGE)) != 512)
		die("pwrite");
}

static const char *write_source_file(struct move *m, uint32_t page)
{
	write_file(&m->src, page);
	return NULL;
}

static const char *write_peer_file(struct move *m, uint32_t page)
{
	write_file(&m->dst, page);
	return NULL;
}

static const char *map_and_store(struct move *m, uint32_t page)
{
	unsigned char *at;

	nap(TICK_MS);
	at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, m->src.ram,
		  (off_t)(page * PAGE));
	if (at == MAP_FAILED)
		die("mmap");
	at[100] ^= 0xff;
	m->mapped = at;
	return NULL;
}

static const char *map_store_and_leave(struct move *m, uint32_t page)
{
	map_and_store(m, page);
	munmap(m->mapped, PAGE);
	m->mapped = NULL;
	return NULL;
}

static const char *punch(struct move *m, uint32_t page)
{
	if (fallocate(m->dst.ram, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)(page * PAGE), (off_t)PAGE) < 0)
		die("fallocate");
	return NULL;
}

/* --- the guest --- */

static const char *refill(struct move *m, uint32_t page)
{
	tell(&m->src, FILL, page, random_of(m->random));
	return NULL;
}

static const char *poke(struct move *m, uint32_t page)
{
	tell(&m->src, POKE, page, random_of(m->random));
	return NULL;
}

static const char *run_peer(struct move *m, uint32_t page)
{
	tell(&m->dst, PAUSE, 0, 0);
	tell(&m->dst, POKE, page, random_of(m->random));
	return NULL;
}

static const char *move_source(struct move *m, uint32_t page)
{
	m->moving = &m->src;
	m->moving_page = page;
	return poke(m, page);
}

static const char *move_peer(struct move *m, uint32_t page)
{
	m->moving = &m->dst;
	m->moving_page = page;
	return NULL;
}

/* --- the VMMs --- */

static const char *give_back(struct move *m, uint32_t page)
{
	const int advice = m->ram == ANON ? MADV_DONTNEED : MADV_REMOVE;
	const uint64_t error = tell(&m->dst, ADVISE, page, (uint64_t)advice);

	return error ? refused("madvise: cannot give back", error) : NULL;
}

static const char *give_back_source(struct move *m, uint32_t page)
{
	const int advice = m->ram == ANON ? MADV_DONTNEED : MADV_REMOVE;
	const uint64_t error = tell(&m->src, ADVISE, page, (uint64_t)advice);

	return error ? refused("madvise: cannot give back", error) : NULL;
}

/* Discards and restores the page: another page with the same contents. */
static const char *bring_again(struct move *m, uint32_t page)
{
	struct order again = m->came[page];
	const char *why = give_back(m, page);

	if (why)
		return why;
	deliver(m, &again, page);
	return NULL;
}

/*
 * New pages wait in a list of each CPU. MADV_COLD empties that of the current
 * CPU. Moves the process to the next CPU of @all after @cpu.
 */
static size_t run_on_next(const struct side *s, const cpu_set_t *all,
			  size_t cpu)
{
	cpu_set_t one;

	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	/* If that CPU is offline, it stays where it is. */
	sched_setaffinity(s->pid, sizeof(one), &one);
	return cpu;
}

static const char *swap_out(const struct move *m, struct side *s,
			    uint32_t page)
{
	size_t cpu = CPU_SETSIZE - 1;
	bool out = false;
	cpu_set_t all;
	int left;

	if (m->no_swap)
		return m->no_swap;
	if (sched_getaffinity(s->pid, sizeof(all), &all))
		return "sched_getaffinity failed";
	/* all of them, and again */
	for (left = CPU_COUNT(&all) + 50; left && !out; left--) {
		cpu = run_on_next(s, &all, cpu);
		tell(s, ADVISE, page, MADV_COLD_);
		tell(s, ADVISE, page, MADV_PAGEOUT_);
		out = pagemap(s, page) & PM_SWAP;
		if (!out)
			nap(20);
	}
	sched_setaffinity(s->pid, sizeof(all), &all);
	return out ? NULL : "MADV_PAGEOUT swapped nothing out";
}

static const char *swap_out_source(struct move *m, uint32_t page)
{
	return swap_out(m, &m->src, page);
}

static const char *swap_out_peer(struct move *m, uint32_t page)
{
	return swap_out(m, &m->dst, page);
}

struct two {
	const struct move *m;
	uint32_t page;
};

static bool are_one(void *user)
{
	const struct two *two = user;
	const uint64_t a = pagemap(&two->m->src, two->page) & PM_PFN;

	return a && a == (pagemap(&two->m->dst, two->page) & PM_PFN);
}

static const char *merge(struct move *m, uint32_t page)
{
	struct two two = { m, page };
	uint64_t error;

	error = tell(&m->src, ADVISE, page, MADV_MERGEABLE);
	if (!error)
		error = tell(&m->dst, ADVISE, page, MADV_MERGEABLE);
	if (error)
		return refused("MADV_MERGEABLE", error);
	return keep_merge(are_one, &two);
}

/* Merges pages, and then gives each its own copy again. */
static const char *merge_and_break(struct move *m, uint32_t page)
{
	const char *why = merge(m, page);
	struct order same;

	if (why)
		return why;
	same = m->came[page];
	deliver(m, &same, page);
	return (pagemap(&m->src, page) & PM_PFN) ==
	       (pagemap(&m->dst, page) & PM_PFN) ?
	       "a store did not break the merged page" : NULL;
}

static const char *split_huge(struct move *m, uint32_t page)
{
	const uint64_t error = tell(&m->dst, SPLIT, page, 0);

	return error ? refused("mprotect", error) : NULL;
}

/* --- hardware --- */

static const char *break_page(struct side *s, uint32_t page)
{
	const uint64_t error = tell(s, ADVISE, page, MADV_HWPOISON_);

	return error ? refused("MADV_HWPOISON", error) : NULL;
}

static const char *break_source(struct move *m, uint32_t page)
{
	return break_page(&m->src, page);
}

static const char *break_peer(struct move *m, uint32_t page)
{
	return break_page(&m->dst, page);
}

static const char *offline(struct move *m, uint32_t page)
{
	const uint64_t was = pagemap(&m->dst, page) & PM_PFN;
	const uint64_t error = tell(&m->dst, ADVISE, page, MADV_SOFT_OFFLINE_);

	if (error)
		return refused("MADV_SOFT_OFFLINE", error);
	return (pagemap(&m->dst, page) & PM_PFN) == was ?
	       "the page did not move" : NULL;
}

/* --- the table --- */

#define ANY (ANON | MEMFD | ON_DISK)
#define SHARED (MEMFD | ON_DISK)

const struct kind kinds[] = {
	{ .name = "peer runs", .rule = 1, .confidence = "certain", .ram = ANY,
	  .alone = true, .then = run_peer },
	{ .name = "source moves", .rule = 15, .confidence = "medium",
	  .ram = ANY, .alone = true, .then = move_source },
	{ .name = "peer moves", .rule = 1, .confidence = "certain", .ram = ANY,
	  .alone = true, .then = move_peer },
	{ .name = "source broke", .rule = 2, .confidence = "certain",
	  .ram = ANON | MEMFD, .in_guest = true, .then = break_source },
	{ .name = "peer broke", .rule = 2, .confidence = "certain",
	  .ram = ANON | MEMFD, .in_guest = true, .then = break_peer },
	{ .name = "never sent", .rule = 3, .confidence = "certain", .ram = ANY,
	  .absent = true },
	{ .name = "hole punched", .rule = 3, .confidence = "certain",
	  .ram = SHARED, .then = punch },
	{ .name = "given back", .rule = 3, .confidence = "certain",
	  .ram = ANON | MEMFD, .then = give_back },
	{ .name = "zero page raced", .rule = 4, .confidence = "high",
	  .ram = ANY, .zero = true, .then = refill, .running = true },
	{ .name = "file written", .rule = 5, .confidence = "medium",
	  .ram = SHARED, .then = write_source_file, .running = true },
	{ .name = "mapped and written", .rule = 5, .confidence = "medium",
	  .ram = SHARED, .then = map_and_store, .running = true },
	{ .name = "written by who left", .rule = 5, .confidence = "medium",
	  .ram = SHARED, .then = map_store_and_leave, .running = true },
	{ .name = "page not resent", .rule = 6, .confidence = "high",
	  .ram = ANY, .then = refill, .running = true },
	{ .name = "byte not resent", .rule = 6, .confidence = "high",
	  .ram = ANY, .then = poke, .running = true },
	{ .name = "stored at the stopped source", .rule = 15,
	  .confidence = "high", .ram = ANY, .then = store_source },
	{ .name = "file of the stopped source written", .rule = 15,
	  .confidence = "high", .ram = SHARED, .then = write_source_file },
	{ .name = "stopped source given back", .rule = 17,
	  .confidence = "high", .ram = ANON | MEMFD,
	  .then = give_back_source },
	{ .name = "bits flipped on the way", .rule = 7, .confidence = "high",
	  .ram = ANY, .deliver = flip },
	{ .name = "cut off on the way", .rule = 7, .confidence = "high",
	  .ram = ANY, .deliver = cut },
	{ .name = "zeroed on the way", .rule = 7, .confidence = "high",
	  .ram = ANY, .deliver = zero },
	{ .name = "bit flipped at the peer", .rule = 7, .confidence = "medium",
	  .ram = ANY, .then = flip_peer },
	{ .name = "stored at the peer", .rule = 7, .confidence = "high",
	  .ram = ANY, .then = store_peer },
	{ .name = "zeroed at the peer", .rule = 7, .confidence = "high",
	  .ram = ANY, .then = zero_peer },
	{ .name = "peer's file written", .rule = 7, .confidence = "high",
	  .ram = SHARED, .then = write_peer_file },
	{ .name = "two swapped", .rule = 9, .confidence = "high", .ram = ANY,
	  .pages = 2, .deliver = swap_places },
	{ .name = "three shifted", .rule = 9, .confidence = "high", .ram = ANY,
	  .pages = 3, .deliver = shift },
	{ .name = "resent and lost", .rule = 10, .confidence = "high",
	  .ram = ANY, .deliver = lose },
	{ .name = "old one came late", .rule = 10, .confidence = "high",
	  .ram = ANY, .deliver = reorder },
	{ .name = "merged", .rule = 11, .confidence = "certain", .ram = ANON,
	  .then = merge },
	{ .name = "merged and broken", .rule = 11, .confidence = "certain",
	  .ram = ANON, .then = merge_and_break },
	{ .name = "source swapped out", .rule = 11, .confidence = "certain",
	  .ram = ANON, .then = swap_out_source },
	{ .name = "peer swapped out", .rule = 11, .confidence = "certain",
	  .ram = ANON, .then = swap_out_peer },
	{ .name = "another page", .rule = 11, .confidence = "certain",
	  .ram = ANON | MEMFD, .then = bring_again },
	{ .name = "huge page split", .rule = 11, .confidence = "certain",
	  .ram = THP, .alone = true, .then = split_huge },
	{ .name = "huge page of zeroes", .rule = 11, .confidence = "certain",
	  .ram = THP, .alone = true, .zero = true, .same = true },
	{ .name = "taken offline", .rule = 11, .confidence = "certain",
	  .ram = ANON, .in_guest = true, .then = offline },
	{ .name = "lost, and flipped", .rule = 12, .confidence = "low",
	  .ram = ANY, .deliver = flip, .then = poke, .running = true },
	{ .name = "file written, and flipped", .rule = 12,
	  .confidence = "low", .ram = SHARED, .deliver = flip,
	  .then = write_source_file, .running = true },
};

const size_t n_kinds = sizeof(kinds) / sizeof(*kinds);
