/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes allocation traces. The first byte decides: the text of a format file,
 * the text of a kallsyms, a file, the files of relay, pages of the ring buffer
 * of either byte order, with formats like those of a real kernel, and with
 * stacks, or the order of events of perf.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocs/pairing.h"
#include "allocs/timeline.h"
#include "fuzz.h"
#include "trace/line.h"
#include "trace/names.h"
#include "trace/perf/sorter.h"
#include "trace/trace.h"

#define PAGE 4096
#define FIELD(what, at, size) \
	"field:" what ";offset:" at ";size:" size ";signed:0;\n"
#define COMMON FIELD("unsigned short common_type", "0", "2") \
	FIELD("int common_pid", "4", "4")

static const char *const formats[] = {
	"name: kmalloc\nID: 1\n" COMMON FIELD("unsigned long call_site", "8",
	"8") FIELD("const void * ptr", "16", "8") FIELD("size_t bytes_req",
	"24", "8") FIELD("size_t bytes_alloc", "32", "8")
	FIELD("unsigned long gfp_flags", "40", "8") FIELD("int node", "48",
	"4"),
	"name: kfree\nID: 2\n" COMMON FIELD("unsigned long call_site", "8", "8")
	FIELD("const void * ptr", "16", "8"),
	"name: kmem_cache_free\nID: 3\n" COMMON
	FIELD("const void * ptr", "8", "8")
	FIELD("__data_loc char[] name", "16", "4"),
	"name: mm_page_alloc\nID: 4\n" COMMON FIELD("unsigned long pfn", "8",
	"8") FIELD("unsigned int order", "16", "4"),
	"name: mm_page_free\nID: 5\n" COMMON FIELD("unsigned long pfn", "8",
	"8") FIELD("unsigned int order", "16", "4"),
	"name: sched_switch\nID: 6\n" COMMON,
};

static struct pdet_kmem_layouts layouts;

static void learn_all(void)
{
	struct pdet_trace_format f;
	size_t i;

	if (layouts.n)
		return;
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		MUST(!pdet_trace_format_parse(formats[i], strlen(formats[i]),
					      &f));
		MUST(!pdet_kmem_learn(&layouts, &f));
	}
}

static int64_t group(void *arg, const struct pdet_kmem_event *e)
{
	(void)arg;
	return (int64_t)e->kind;
}

static void check(const struct pdet_pairing *p)
{
	uint64_t live = 0;
	size_t i, part;

	for (i = 0; i < p->sums.n; i++) {
		/* A group is a kind; this one has sums without events. */
		if (i == PDET_KMEM_SUM)
			continue;
		for (part = 0; part < PDET_ALLOC_PARTS; part++) {
			const struct pdet_alloc_sum *s =
				&p->sums.data[i].of[part];

			MUST(s->times == s->freed + s->replaced + s->live);
			live += s->live;
		}
	}
	MUST(live == p->objects.n + p->pages.n);
}

/* The timeline of some frames, whose objects lie low. */
struct timing {
	struct pdet_timeline t;
	struct pdet_alloc_keys keys;
};

static void begin_timing(struct timing *to)
{
	memset(to, 0, sizeof(*to));
	to->keys.by[0] = PAGEDET_ALLOC_SITE;
	to->keys.by[1] = PAGEDET_ALLOC_CACHE;
	to->keys.groups.n_keys = 2;
	to->t.first = 1;
	to->t.frames = 300;
	to->t.most = 64;
	to->t.has_addresses = true;
	to->t.bytes = 300 * PAGE;
	MUST(!pdet_timeline_begin(&to->t));
}

static void end_timing(struct timing *to)
{
	struct pdet_timeline *t = &to->t;
	size_t i;

	MUST(!pdet_timeline_end(t, true));
	MUST(t->n <= t->most);
	MUST(t->n <= t->of_pages.events + t->of_objects.events + t->lost);
	for (i = 1; i < t->n; i++)
		MUST(t->rows[i].number > t->rows[i - 1].number);
	pdet_timeline_free(t);
	pdet_alloc_keys_free(&to->keys);
}

static void fuzz_pages(const uint8_t *data, size_t size, bool big_endian)
{
	struct pdet_ring_layout layout = { PAGE, 8, 8, 16, big_endian };
	struct pdet_pairing p = { .group = group, .page_size = PAGE };
	struct pdet_kmem_event e = { 0 };
	const struct pdet_kmem_event *const events = &e;
	struct timing timing;
	const unsigned char *record;
	struct pdet_ring ring;
	uint32_t len, n;
	size_t take;

	begin_timing(&timing);
	for (; size; data += take, size -= take) {
		unsigned char *page = calloc(1, PAGE);

		take = size < PAGE ? size : PAGE;
		memcpy(page, data, take);
		n = 0;
		if (!pdet_ring_begin(&ring, &layout, page))
			while (pdet_ring_next(&ring, &record, &len) > 0) {
				MUST(++n <= PAGE / 4);
				MUST(record >= page && len <= PAGE &&
				     record + len <= page + PAGE);
				e.ns = ring.ns;
				if (pdet_kmem_take(&layouts, record, len,
						   big_endian, &e))
					continue;
				MUST(e.kind < PDET_KMEM_KINDS);
				MUST(!e.cache || e.cache + e.cache_len <=
				     (char *)page + PAGE);
				if (!e.kind)
					continue;
				MUST(!pdet_pairing_add(&p, &events, 1));
				MUST(!pdet_timeline_add(&timing.t, &timing.keys,
							&events, 1));
			}
		free(page);
	}
	end_timing(&timing);
	check(&p);
	pdet_pairing_free(&p);
}

/* The same, with stacks behind events. */
static void fuzz_stacks(const uint8_t *data, size_t size, bool big_endian)
{
	const struct pdet_ring_layout layout = { PAGE, 8, 8, 16, big_endian };
	const int fd = memfd_create("pages", MFD_CLOEXEC);
	struct pdet_env env = { .root = (char *)"" };
	struct pdet_trace_stacks stacks = { 0 };
	struct pdet_kmem_layouts *l = malloc(sizeof(*l));
	struct pdet_trace_pages p;
	uint64_t events = 0;
	size_t i, n;

	MUST(l && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	MUST(!ftruncate(fd, (off_t)((size + PAGE - 1) / PAGE * PAGE)));
	*l = layouts;
	l->stack.is_known = true;
	l->stack.id = 7;
	l->stack.flags_at = 2;
	l->stack.count_at = 8;
	l->stack.frames_at = 16;
	pdet_trace_pages_begin(&p, &env, 0, &layout, l, fd, 0,
			       (size + PAGE - 1) / PAGE * PAGE);
	p.stacks = &stacks;
	for (; p.s.more(&p.s) > 0; p.s.piece.n = 0)
		for (i = 0; i < p.s.piece.n; i++, events++) {
			const struct pdet_kmem_event *e = p.s.piece.data[i];

			/* It can be read. */
			MUST(!e->cache || strnlen(e->cache, e->cache_len) <=
					  e->cache_len);
			MUST(e->stack == PDET_STACK_TOO_MANY ||
			     e->stack <= stacks.stacks.n);
			if (e->stack && e->stack != PDET_STACK_TOO_MANY)
				MUST(pdet_trace_stacks_get(&stacks, e->stack,
							   &n) && n);
		}
	MUST(events <= p.events);
	pdet_trace_pages_end(&p);
	pdet_trace_stacks_free(&stacks);
	free(l);
	close(fd);
}

static void read_events(struct pdet_trace *t, bool rows)
{
	struct pdet_pairing p = { .group = group, .page_size = PAGE };
	const struct pdet_kmem_event *const *e;
	struct pdet_trace_merge m = { 0 };
	struct timing timing;
	int n;

	t->wants_rows = rows;
	n = pdet_trace_merge_begin(&m, t->streams, t->n_streams);
	begin_timing(&timing);
	while (n >= 0 && (n = pdet_trace_merge_next(&m, &e)) > 0) {
		MUST(!pdet_pairing_add(&p, e, (size_t)n));
		MUST(!pdet_timeline_add(&timing.t, &timing.keys, e, (size_t)n));
	}
	end_timing(&timing);
	check(&p);
	pdet_trace_merge_end(&m);
	pdet_pairing_free(&p);
}

static void fuzz_dat(const uint8_t *data, size_t size)
{
	struct pdet_env env = { .root = (char *)"" };
	const int fd = memfd_create("trace", MFD_CLOEXEC);
	struct pdet_trace *t;
	char path[64];

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!pdet_trace_open(&env, path, &t)) {
		pdet_trace_want_stacks(t);
		read_events(t, true);
		pdet_trace_free(t);
	} else {
		MUST(*env.error);
	}
	close(fd);
}

/* What was lost, and whether that is all. */
struct lost {
	uint64_t lost, unknown, first_ns;
};

static struct lost read_relay(const char *dir, bool rows)
{
	struct pdet_env env = { .root = (char *)"" };
	struct lost ret = { 0 };
	struct pdet_trace *t;

	if (pdet_trace_open(&env, dir, &t) < 0) {
		MUST(*env.error);
		return ret;
	}
	read_events(t, rows);
	/* That of the sequence is the first one. */
	ret.lost = t->streams[0]->loss.lost;
	ret.unknown = t->streams[0]->loss.unknown;
	ret.first_ns = t->streams[0]->loss.lost_ns;
	pdet_trace_free(t);
	return ret;
}

/* Two processors of relay. Rows of losses do not change what was lost. */
static void fuzz_relay(const uint8_t *data, size_t size)
{
	static char dir[] = "/tmp/pagedet-fuzz.XXXXXX";
	const size_t half = size / 2 / 24 * 24;
	struct lost sums, rows;
	int fd, cpu, at;

	MUST(mkdtemp(dir) && (at = open(dir, O_RDONLY | O_DIRECTORY)) >= 0);
	for (cpu = 0; cpu < 2; cpu++) {
		fd = openat(at, cpu ? "cpu1.out" : "cpu0.out",
			    O_WRONLY | O_CREAT, 0600);
		MUST(fd >= 0 && write(fd, cpu ? data + half : data,
				      cpu ? size - half : half) >= 0);
		close(fd);
	}
	sums = read_relay(dir, false);
	rows = read_relay(dir, true);
	MUST(!memcmp(&sums, &rows, sizeof(sums)));
	unlinkat(at, "cpu0.out", 0);
	unlinkat(at, "cpu1.out", 0);
	close(at);
	rmdir(dir);
	memcpy(dir + sizeof(dir) - 7, "XXXXXX", 6);
}

/* Takes those until @ns, in order. Returns how many. */
static size_t take_sorted(struct pdet_sorter *s, uint64_t ns)
{
	static struct pdet_trace_piece piece;
	struct pdet_kmem_event last = { 0 };
	size_t i, n = 0;

	MUST(!pdet_sorter_take(s, ns, &piece));
	for (;;) {
		for (i = 0; i < piece.n; i++, n++) {
			const struct pdet_kmem_event *e = piece.data[i];

			MUST(e->ns <= ns && e->ns >= last.ns);
			MUST(e->ns > last.ns || e->cpu >= last.cpu);
			MUST(e->ns > last.ns || e->cpu > last.cpu ||
			     e->object > last.object);
			last = *e;
		}
		if (!s->is_giving)
			return n;
		MUST(!pdet_sorter_go_on(s, &piece));
	}
}

/* Few events are kept in memory. Three bytes are an event, or take some, or the
 * disk is full from now on, or no longer. */
static void fuzz_sorter(const uint8_t *data, size_t size)
{
	struct pdet_sorter s = { .most = 4, .most_alone = 64 };
	struct pdet_kmem_event *e;
	size_t put = 0, taken = 0;

	for (; size >= 3; data += 3, size -= 3) {
		if (data[0] & 0x80) {
			taken += take_sorted(&s, data[1]);
			continue;
		}
		if (data[0] & 0x40 && s.spill.is_open)
			s.spill.most = data[1] & 1 ? 0 : UINT64_MAX;
		if (pdet_sorter_relieve(&s) < 0) {
			MUST(s.spill.is_open && !s.spill.most);
			break;
		}
		e = pdet_sorter_room(&s);
		MUST(e);
		*e = (struct pdet_kmem_event){ .ns = data[1], .cpu = data[2],
					       .object = ++put };
		MUST(pdet_sorter_add(&s));
	}
	taken += take_sorted(&s, UINT64_MAX);
	MUST(put == taken);
	MUST(!s.spill.runs.n);
	pdet_sorter_free(&s);
}

static void fuzz_format(const uint8_t *data, size_t size)
{
	struct pdet_kmem_layouts *l = calloc(1, sizeof(*l));
	struct pdet_ring_layout layout;
	struct pdet_kmem_event e;
	struct pdet_trace_format f;
	unsigned char *record;
	struct pdet_gfp_names names;
	char text[PDET_GFP_TEXT];
	uint32_t len;

	pdet_trace_flags((struct pdet_scan){ (const char *)data,
					     (const char *)data + size },
			 "gfp_flags", &names);
	MUST(names.n <= PDET_GFP_NAMES);
	MUST(pdet_gfp_text(&names, UINT64_MAX, text) <= PDET_GFP_TEXT);
	if (!pdet_ring_layout_parse((const char *)data, size, false, &layout))
		MUST(layout.data_at < layout.bytes &&
		     !(layout.bytes & (layout.bytes - 1)));
	if (!pdet_trace_format_parse((const char *)data, size, &f) &&
	    !pdet_kmem_learn(l, &f))
		for (len = 0; len < 80; len++) {
			record = malloc(len ? len : 1);
			memset(record, 0, len ? len : 1);
			if (len > 1)
				memcpy(record, &(uint16_t){ (uint16_t)f.id },
				       2);
			pdet_kmem_take(l, record, len, false, &e);
			free(record);
		}
	free(l);
}

static void fuzz_names(const uint8_t *data, size_t size)
{
	const struct pdet_trace_function *f;
	struct pdet_trace_names n;
	char *text = malloc(size ? size : 1);
	size_t i;

	memcpy(text, data, size);
	if (pdet_trace_names_read(&n, text, size))
		return;
	for (i = 0; i < n.functions.n; i++) {
		f = pdet_trace_names_find(&n, n.functions.data[i].address);
		MUST(!f || f->address == n.functions.data[i].address);
	}
	pdet_trace_names_free(&n);
}

static void fuzz_lines(const uint8_t *data, size_t size)
{
	struct pdet_scan all, line;
	struct pdet_trace_line l;
	char *text = malloc(size ? size : 1);

	memcpy(text, data, size);
	all = (struct pdet_scan){ text, text + size };
	while (pdet_scan_line(&all, &line)) {
		if (pdet_trace_line(line, &l))
			continue;
		MUST(l.event.kind && l.event.kind < PDET_KMEM_NAME);
		MUST(l.comm.at >= line.at && l.comm.end <= line.end);
		MUST(l.site.end - l.site.at <= line.end - line.at);
		MUST(l.cache.end - l.cache.at <= line.end - line.at);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t which = (uint8_t)fuzz_number(&data, &size, 1);

	learn_all();
	if (which == 8) {
		fuzz_relay(data, size);
		return 0;
	}
	if (which == 9) {
		fuzz_sorter(data, size);
		return 0;
	}
	switch (which % 8) {
	case 0:
	case 1:
		fuzz_pages(data, size, which % 8);
		break;
	case 2:
		fuzz_format(data, size);
		break;
	case 3:
		fuzz_names(data, size);
		break;
	case 5:
		fuzz_lines(data, size);
		break;
	case 6:
	case 7:
		fuzz_stacks(data, size, which % 8 == 7);
		break;
	default:
		fuzz_dat(data, size);
	}
	return 0;
}
