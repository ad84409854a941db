/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * perf.data, as perf record and perf kmem record write it to a file or, in
 * another form, to a pipe (tools/perf/Documentation/perf.data-file-format.txt).
 * The head says what samples look like; the records are one stream.
 */
#include <endian.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/pairs.h"
#include "base/vec.h"
#include "trace/headers.h"
#include "trace/perf/records.h"
#include "trace/perf/sample.h"
#include "trace/perf/sorter.h"

#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#define MAGIC_BYTES 8
/* The head of a pipe has nothing behind its size. */
#define PIPE_HEAD 16
#define FILE_HEAD 104
#define TRACING_MAGIC "\x17\x08\x44tracing"
#define FEATURE_TRACING_DATA 1
#define FEATURE_OSRELEASE 4
#define MOST_ATTRS 65536u
#define MOST_ATTR 4096u
/* An event of a processor, or of a thread, has one. */
#define MOST_IDS ((size_t)1 << 22)
/*
 * A file without rounds, or with very long ones, must not fill the memory. perf
 * itself keeps all. They are sorted in a file, or, where there is none, in
 * more memory. One record may add two events.
 */
#define MOST_EVENTS (((size_t)1 << 18) - 2)
#define MOST_ALONE (((size_t)1 << 22) - 2)
/* Records that are read before the caller is asked whether to go on. */
#define MOST_RECORDS 4096u

/* Records that perf itself writes. */
#define RECORD_ATTR 64
#define RECORD_TRACING_DATA 66
#define RECORD_FINISHED_ROUND 68
#define RECORD_AUXTRACE 71
#define RECORD_FEATURE 80
/* In misc of PERF_RECORD_LOST_SAMPLES: a filter left them out. */
#define MISC_FILTERED 0x8000

struct pdet_trace_perf {
	struct pdet_trace_stream s;
	struct pdet_env *env;
	struct pdet_trace *t;
	char *name;
	bool is_pipe;
	struct {
		struct pdet_sample_layout *data;
		size_t n, cap;
	} layouts;		/* of the attrs */
	bool differ;		/* not all of them are the same */
	struct pdet_pairs layout_of; /* by id */
	struct pdet_records records;
	struct pdet_sorter sorter;
	bool at_end;
	/* The kernel tells of losses in both ways, or in one of them. */
	uint64_t lost, lost_samples;
	/* A loss whose place is not final: that of a PERF_RECORD_LOST that was
	 * the last record. The kind is 0 if there is none. */
	struct pdet_kmem_event gap;
	/* The times of the last samples, by processor, but for the latest. Many
	 * in a row are of one processor. */
	struct pdet_pairs last_ns;
	uint64_t latest_ns;
	uint16_t latest_cpu;
	bool has_latest;
	uint64_t ids;		/* of all attrs; no more than the file has */
	uint64_t frames[PDET_SAMPLE_FRAMES]; /* of one sample */
};

bool pdet_perf_is(int fd)
{
	char magic[MAGIC_BYTES];

	return pdet_pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       (!memcmp(magic, MAGIC, sizeof(magic)) ||
		!memcmp(magic, MAGIC_SWAPPED, sizeof(magic)));
}

static int no_memory(struct pdet_trace_perf *p)
{
	return pdet_fail(p->env, ENOMEM, "no memory");
}

static int damaged(struct pdet_trace_perf *p, const char *what)
{
	return pdet_fail(p->env, EBADMSG, "cannot read %s: its %s is damaged, "
			 "or it was cut", p->name, what);
}

static uint64_t number(const struct pdet_trace_perf *p,
		       const unsigned char *at, unsigned size)
{
	return pdet_ring_number(at, size, p->records.big_endian);
}

static struct pdet_cursor in_file(const struct pdet_trace_perf *p,
				  uint64_t offset, uint64_t end)
{
	return (struct pdet_cursor){
		.env = p->env, .fd = p->records.fd,
		.at = PDET_MIN(offset, end), .end = end,
		.big_endian = p->records.big_endian
	};
}

/* --- what events there are --- */

/* Sums of some events would look as if they were of all. */
static int judge(struct pdet_trace_perf *p, const struct pdet_sample_layout *l)
{
	if (!l->is_tracepoint)
		return 0;
	if (!l->every)
		return pdet_fail(p->env, ENOTSUP, "cannot use %s: it has one "
				 "of many events only; record it with -c 1",
				 p->name);
	if (!l->ns || !l->cpu || !(l->has & PERF_SAMPLE_RAW))
		return pdet_fail(p->env, ENOTSUP, "cannot use %s: its events "
				 "lack their time, processor or data; record "
				 "it with --timestamp --sample-cpu -R",
				 p->name);
	return 0;
}

static int add_attr(struct pdet_trace_perf *p, const unsigned char *attr,
		    size_t n)
{
	struct pdet_sample_layout l;
	int r = pdet_sample_learn(&l, attr, n, p->records.big_endian);

	if (r < 0)
		return damaged(p, "list of events");
	r = judge(p, &l);
	if (r == 0 && !pdet_vec_push(&p->layouts, l))
		r = no_memory(p);
	/* It has no gaps between its members. */
	if (r == 0 && memcmp(p->layouts.data, &l, sizeof(l)))
		p->differ = true;
	return r;
}

/* The ids belong to the attr that was added last. */
static int add_id(struct pdet_trace_perf *p, uint64_t id)
{
	if (p->layout_of.n >= MOST_IDS)
		return damaged(p, "list of events");
	return pdet_pairs_set(&p->layout_of, id, p->layouts.n - 1) ?
		       0 : no_memory(p);
}

static int read_attr(struct pdet_trace_perf *p, struct pdet_cursor *c,
		     uint64_t size)
{
	unsigned char attr[MOST_ATTR];
	struct pdet_cursor ids;
	uint64_t at, n, id;
	int r;

	if (!pdet_cursor_get(c, attr, size) || !pdet_cursor_number(c, 8, &at) ||
	    !pdet_cursor_number(c, 8, &n))
		return damaged(p, "list of events");
	r = add_attr(p, attr, size);
	ids = in_file(p, at, p->s.end);
	p->ids += n;
	if (n > ids.end - ids.at || p->ids > p->s.end)
		return r < 0 ? r : damaged(p, "list of events");
	for (; n >= 8 && r == 0; n -= 8)
		r = pdet_cursor_number(&ids, 8, &id) ?
			    add_id(p, id) : damaged(p, "list of events");
	return r;
}

static int read_attrs(struct pdet_trace_perf *p, uint64_t each, uint64_t at,
		      uint64_t size)
{
	struct pdet_cursor c = in_file(p, at, p->s.end);
	uint64_t n;
	int r = 0;

	if (each < 16 || each - 16 > MOST_ATTR || size / each > MOST_ATTRS)
		return damaged(p, "head");
	for (n = size / each; n && r == 0; n--)
		r = read_attr(p, &c, each - 16);
	return r;
}

/* Copies of files of tracefs, as trace-cmd writes them. */
static int read_tracing(struct pdet_trace_perf *p, struct pdet_cursor *c)
{
	char version[PDET_CURSOR_WORD];
	unsigned char bytes[2];
	uint64_t page;
	int r;

	if (!pdet_cursor_is_next(c, TRACING_MAGIC, sizeof(TRACING_MAGIC) - 1) ||
	    !pdet_cursor_word(c, version) || !pdet_cursor_get(c, bytes, 2))
		return damaged(p, "description of events");
	c->big_endian = bytes[0];
	if (!pdet_cursor_number(c, 4, &page))
		return damaged(p, "description of events");
	if (page >= 4096 && page <= 1u << 20 && !(page & (page - 1)))
		p->t->page_size = page;
	/* The names of threads came with version 0.6. */
	r = pdet_trace_headers(c, p->t, strcmp(version, "0.6") >= 0);
	return r == -EBADMSG ? damaged(p, "description of events") : r;
}

/* u32 length, and what uname -r prints. It may be missing. */
static void take_release(struct pdet_trace_perf *p, struct pdet_cursor *c)
{
	char release[sizeof(p->t->release)];
	uint64_t n;

	if (pdet_cursor_number(c, 4, &n) && n <= sizeof(release) &&
	    pdet_cursor_get(c, release, n))
		pdet_trace_release(p->t, release, n);
}

/* Behind the data there are the places of features, one for each bit. */
static int read_features(struct pdet_trace_perf *p, uint64_t bits, uint64_t at)
{
	struct pdet_cursor c = in_file(p, at, p->s.end), part;
	uint64_t offset, size;
	unsigned i;
	int r = 0;

	if (!(bits >> FEATURE_TRACING_DATA & 1))
		return pdet_fail(p->env, EBADMSG, "cannot use %s: it does not "
				 "say what its events are; either perf was "
				 "killed, or they are not tracepoints",
				 p->name);
	for (i = 0; i <= FEATURE_OSRELEASE && r == 0; i++) {
		if (!(bits >> i & 1))
			continue;
		if (!pdet_cursor_number(&c, 8, &offset) ||
		    !pdet_cursor_number(&c, 8, &size))
			return i > FEATURE_TRACING_DATA ? 0 :
			       damaged(p, "description of events");
		part = in_file(p, offset, p->s.end);
		part.end = PDET_MIN(part.end, part.at +
				    PDET_MIN(size, part.end));
		if (i == FEATURE_TRACING_DATA)
			r = read_tracing(p, &part);
		else if (i == FEATURE_OSRELEASE)
			take_release(p, &part);
	}
	return r;
}

static int read_head(struct pdet_trace_perf *p)
{
	struct pdet_cursor c = in_file(p, MAGIC_BYTES, p->s.end);
	uint64_t size, each, attrs, n_attrs, data, n_data, skip, bits;
	int r;

	if (!pdet_cursor_number(&c, 8, &size))
		return damaged(p, "head");
	p->is_pipe = size == PIPE_HEAD;
	if (p->is_pipe) {
		p->s.offset = PIPE_HEAD;
		return 0;
	}
	if (size < FILE_HEAD || !pdet_cursor_number(&c, 8, &each) ||
	    !pdet_cursor_number(&c, 8, &attrs) ||
	    !pdet_cursor_number(&c, 8, &n_attrs) ||
	    !pdet_cursor_number(&c, 8, &data) ||
	    !pdet_cursor_number(&c, 8, &n_data) ||
	    !pdet_cursor_number(&c, 8, &skip) ||
	    !pdet_cursor_number(&c, 8, &skip) ||
	    !pdet_cursor_number(&c, 8, &bits) ||
	    n_data > UINT64_MAX - data)
		return damaged(p, "head");
	r = read_attrs(p, each, attrs, n_attrs);
	if (r == 0)
		r = read_features(p, bits, data + n_data);
	p->s.loss.cut = data + n_data - PDET_MIN(data + n_data, p->s.end);
	p->s.offset = PDET_MIN(data, p->s.end);
	p->s.end = PDET_MIN(data + n_data, p->s.end);
	return r;
}

/* --- records --- */

/*
 * Where all are alike, none has to be looked up; where they are not, the id is
 * at the same place in all, or perf could not read them either.
 */
static const struct pdet_sample_layout *
layout_of(const struct pdet_trace_perf *p, const unsigned char *record,
	  uint32_t size)
{
	const struct pdet_sample_layout *first = p->layouts.data;
	uint64_t at;

	if (!p->differ)
		return first;
	if (first->id && size >= first->id + 8u &&
	    pdet_pairs_get(&p->layout_of, number(p, record + first->id, 8),
			   &at))
		return &p->layouts.data[at];
	return first->id ? NULL : first;
}

/* False without memory. */
static bool take_stack(struct pdet_trace_perf *p,
		       const struct pdet_sample *sample,
		       struct pdet_kmem_event *e)
{
	const size_t n = pdet_sample_frames(sample, p->records.big_endian,
					    p->frames);

	return pdet_trace_stacks_add(&p->t->stacks, p->frames, n, &e->stack);
}

/* False without memory. */
static bool note_time(struct pdet_trace_perf *p,
		      const struct pdet_kmem_event *e)
{
	if (p->has_latest && p->latest_cpu != e->cpu &&
	    !pdet_pairs_set(&p->last_ns, p->latest_cpu, p->latest_ns))
		return false;
	p->has_latest = true;
	p->latest_cpu = e->cpu;
	p->latest_ns = e->ns;
	return true;
}

static int take_sample(struct pdet_trace_perf *p, const unsigned char *record,
		       uint32_t size)
{
	const bool big = p->records.big_endian;
	const struct pdet_sample_layout *l = layout_of(p, record, size);
	struct pdet_kmem_event *e;
	struct pdet_sample sample;
	int r;

	if (!p->t->known->id_size)
		return pdet_fail(p->env, EBADMSG, "cannot use %s: it does not "
				 "say what its events are", p->name);
	if (!l || pdet_sample_read(l, record, size, big, &sample) < 0) {
		p->s.loss.damaged++;
		return 0;
	}
	if (!l->is_tracepoint || !sample.raw) {
		p->s.loss.other++;
		return 0;
	}
	e = pdet_sorter_room(&p->sorter);
	if (!e)
		return no_memory(p);
	r = pdet_kmem_take(p->t->known, sample.raw, sample.raw_len, big, e);
	if (r < 0) {
		if (r == -ENOENT) {
			p->s.loss.strange++;
			pdet_trace_strange(&p->s.loss, (uint32_t)e->object);
		} else {
			p->s.loss.damaged++;
		}
		return 0;
	}
	if (e->kind == PDET_KMEM_OTHER) {
		p->s.loss.other++;
		return 0;
	}
	e->ns = sample.ns;
	e->cpu = sample.cpu;
	if (!note_time(p, e))
		return no_memory(p);
	/* Other records number threads as perf saw them, in its namespace. */
	if (l->tid)
		e->pid = sample.tid;
	if (p->t->wants_stacks && !take_stack(p, &sample, e))
		return no_memory(p);
	return pdet_sorter_add(&p->sorter) ? 0 : no_memory(p);
}

static int add(struct pdet_trace_perf *p, const struct pdet_kmem_event *e)
{
	struct pdet_kmem_event *to = pdet_sorter_room(&p->sorter);

	if (!to)
		return no_memory(p);
	*to = *e;
	return pdet_sorter_add(&p->sorter) ? 0 : no_memory(p);
}

/* What the end of a record has that is not a sample; NULL: nothing. */
static const struct pdet_sample_layout *
end_of(const struct pdet_trace_perf *p, const unsigned char *record,
       uint32_t size)
{
	const struct pdet_sample_layout *l = p->layouts.data;
	uint64_t at;

	if (!p->layouts.n)
		return NULL;
	if (l->end_id && size >= l->end_id &&
	    pdet_pairs_get(&p->layout_of,
			   number(p, record + size - l->end_id, 8), &at))
		l = &p->layouts.data[at];
	return l;
}

/* The time of a record that is not a sample. */
static uint64_t time_of(const struct pdet_trace_perf *p,
			const unsigned char *record, uint32_t size)
{
	const struct pdet_sample_layout *l = end_of(p, record, size);

	return l && l->end_ns &&
	       size >= PDET_RECORD_HEAD + (uint32_t)l->end_ns ?
		       number(p, record + size - l->end_ns, 8) : 0;
}

/* u32 pid, tid; char comm[]. */
static int take_comm(struct pdet_trace_perf *p, const unsigned char *record,
		     uint32_t size)
{
	struct pdet_kmem_event e = { .kind = PDET_KMEM_NAME };

	if (size < 16)
		return 0;
	e.ns = time_of(p, record, size);
	e.pid = (int32_t)number(p, record + 12, 4);
	e.cache = (const char *)record + 16;
	e.cache_len = (uint32_t)strnlen(e.cache, size - 16);
	return add(p, &e);
}

/* u32 pid, ppid, tid, ptid: a new thread has the name of its parent. */
static int take_fork(struct pdet_trace_perf *p, const unsigned char *record,
		     uint32_t size)
{
	struct pdet_kmem_event e = { .kind = PDET_KMEM_NAME };

	if (size < 24)
		return 0;
	e.ns = time_of(p, record, size);
	e.pid = (int32_t)number(p, record + 16, 4);
	e.object = number(p, record + 20, 4);
	return add(p, &e);
}

static int take_attr(struct pdet_trace_perf *p, const unsigned char *record,
		     uint32_t size)
{
	const unsigned char *attr = record + PDET_RECORD_HEAD;
	uint32_t at, n = size - PDET_RECORD_HEAD, own;
	int r;

	if (n < 8 || p->layouts.n >= MOST_ATTRS)
		return damaged(p, "list of events");
	/* It has its own length. */
	own = (uint32_t)number(p, attr + 4, 4);
	if (own > n)
		return damaged(p, "list of events");
	r = add_attr(p, attr, own);
	for (at = own; at + 8 <= n && r == 0; at += 8)
		r = add_id(p, number(p, attr + at, 8));
	return r;
}

/* What stands behind the record is not a record. */
static int take_tracing(struct pdet_trace_perf *p, const unsigned char *record,
			uint32_t size)
{
	const uint64_t here = pdet_records_here(&p->records);
	uint64_t n;
	struct pdet_cursor c;

	if (size < 12)
		return damaged(p, "description of events");
	n = number(p, record + 8, 4);
	c = in_file(p, here, PDET_MIN(here + n, p->s.end));
	pdet_records_seek(&p->records, c.end);
	return p->t->known->id_size ? 0 : read_tracing(p, &c);
}

/* Of a pipe; in a file the features stand behind the data. */
static void take_feature(struct pdet_trace_perf *p,
			 const unsigned char *record, uint32_t size)
{
	struct pdet_cursor c = { .memory = record, .at = PDET_RECORD_HEAD,
				 .end = size,
				 .big_endian = p->records.big_endian };
	uint64_t id;

	if (pdet_cursor_number(&c, 8, &id) && id == FEATURE_OSRELEASE)
		take_release(p, &c);
}

static void skip_auxtrace(struct pdet_trace_perf *p,
			  const unsigned char *record, uint32_t size)
{
	const uint64_t here = pdet_records_here(&p->records);

	if (size >= 16)
		pdet_records_seek(&p->records, here +
				  PDET_MIN(number(p, record + 8, 8),
					   p->s.end - here));
}

/* The end of its record says of which processor it is. */
static void begin_gap(struct pdet_trace_perf *p, const unsigned char *record,
		      uint32_t size)
{
	const struct pdet_sample_layout *l = end_of(p, record, size);

	if (!l || !l->end_ns || !l->end_cpu ||
	    size < 24 + (uint32_t)PDET_MAX(l->end_ns, l->end_cpu))
		return;
	p->gap = (struct pdet_kmem_event){
		.kind = PDET_KMEM_LOST,
		.object = number(p, record + 16, 8),
		.ns = number(p, record + size - l->end_ns, 8),
		.cpu = (uint16_t)number(p, record + size - l->end_cpu, 4),
	};
	if (p->has_latest && p->latest_cpu == p->gap.cpu)
		p->gap.requested = p->latest_ns;
	else
		pdet_pairs_get(&p->last_ns, p->gap.cpu, &p->gap.requested);
}

/*
 * The kernel writes it when there is room again, for a sample that it has timed
 * before. So a loss is not later than the next record, if it is such a sample.
 * False without memory.
 */
static bool end_gap(struct pdet_trace_perf *p, const unsigned char *record,
		    uint32_t size)
{
	const struct pdet_sample_layout *l = NULL;
	struct pdet_sample next;

	if (record && number(p, record, 4) == PERF_RECORD_SAMPLE)
		l = layout_of(p, record, size);
	if (l && pdet_sample_read(l, record, size, p->records.big_endian,
				  &next) == 0 && next.cpu == p->gap.cpu)
		p->gap.ns = PDET_MIN(p->gap.ns, next.ns);
	if (add(p, &p->gap) < 0)
		return false;
	p->gap.kind = PDET_KMEM_OTHER;
	return true;
}

static void note_lost(struct pdet_trace_perf *p, const unsigned char *record,
		      uint32_t size, uint32_t type)
{
	if (type == PERF_RECORD_LOST && size >= 24) {
		p->lost += number(p, record + 16, 8);
		begin_gap(p, record, size);
	} else if (type == PERF_RECORD_LOST_SAMPLES && size >= 16 &&
		   !(number(p, record + 4, 2) & MISC_FILTERED)) {
		p->lost_samples += number(p, record + 8, 8);
	}
	p->s.loss.lost = PDET_MAX(p->lost, p->lost_samples);
}

/*
 * u32 pid, tid; u64 address, length, offset; char name[]. Of the kernel, the
 * offset is the address of a symbol, whose name is behind the brackets.
 */
static void take_mmap(struct pdet_trace_perf *p, const unsigned char *record,
		      uint32_t size)
{
	static const char kernel[] = "[kernel.kallsyms]";
	struct pdet_trace_kernel *k = &p->t->kernel;
	const char *name = (const char *)record + 40;
	const size_t skip = sizeof(kernel) - 1;
	size_t len;

	if (size < 40 + skip || memcmp(name, kernel, skip) || *k->symbol)
		return;
	len = strnlen(name + skip, size - 40 - skip);
	if (!len || len >= sizeof(k->symbol))
		return;
	memcpy(k->symbol, name + skip, len);
	k->address = number(p, record + 32, 8);
	k->end = number(p, record + 16, 8) + number(p, record + 24, 8);
}

/* What the sorter says: 1 for 0. */
static int sorted(struct pdet_trace_perf *p, int r)
{
	if (r == 0)
		return 1;
	if (r == -ENOMEM)
		return no_memory(p);
	errno = -r;
	if (r == -PDET_SPILL_FULL)
		pdet_fail(p->env, EIO, "cannot sort %s: its events would take "
			  "more than half of what is free in %s", p->name,
			  pdet_spill_folder());
	else
		pdet_fail_errno(p->env, "cannot sort %s: cannot use a "
				"temporary file in %s", p->name,
				pdet_spill_folder());
	pdet_advise(p->env, "set TMPDIR to a directory with enough space");
	return -EIO;
}

/* 1: a piece is filled in. */
static int give(struct pdet_trace_perf *p, uint64_t until)
{
	return sorted(p, pdet_sorter_take(&p->sorter, until, &p->s.piece));
}

/* 1 if the piece is filled in. */
static int take(struct pdet_trace_perf *p, const unsigned char *record,
		uint32_t size)
{
	const uint32_t type = (uint32_t)number(p, record, 4);

	if (p->gap.kind && !end_gap(p, record, size))
		return no_memory(p);
	switch (type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(p, record, size);
	case PERF_RECORD_MMAP:
		take_mmap(p, record, size);
		return 0;
	case PERF_RECORD_COMM:
		return take_comm(p, record, size);
	case PERF_RECORD_FORK:
		return take_fork(p, record, size);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		note_lost(p, record, size, type);
		return 0;
	case PERF_RECORD_THROTTLE:
		p->s.loss.unknown++;
		return 0;
	case RECORD_FINISHED_ROUND:
		return give(p, pdet_sorter_round(&p->sorter));
	case RECORD_ATTR:
		return p->is_pipe ? take_attr(p, record, size) : 0;
	case RECORD_TRACING_DATA:
		return p->is_pipe ? take_tracing(p, record, size) : 0;
	case RECORD_FEATURE:
		take_feature(p, record, size);
		return 0;
	case RECORD_AUXTRACE:
		skip_auxtrace(p, record, size);
		return 0;
	default:
		return 0;
	}
}

static int more(struct pdet_trace_stream *s)
{
	struct pdet_trace_perf *p = PDET_CONTAINER(s, struct pdet_trace_perf,
						   s);
	const unsigned char *record;
	uint32_t size;
	unsigned n;
	int r = 0;

	if (p->sorter.is_giving)
		return sorted(p, pdet_sorter_go_on(&p->sorter, &s->piece));
	if (p->at_end)
		return 0;
	/* The caller may want to stop. */
	for (n = 0; n < MOST_RECORDS && r == 0; n++) {
		r = pdet_sorter_relieve(&p->sorter);
		if (r < 0)
			return sorted(p, r);
		r = pdet_records_next(&p->records, &record, &size);
		if (r < 0)
			return r;
		if (r == 0) {
			p->at_end = true;
			if (p->gap.kind && !end_gap(p, NULL, 0))
				return no_memory(p);
			return give(p, UINT64_MAX);
		}
		r = take(p, record, size);
	}
	return r < 0 ? r : 1;
}

static void close_perf(struct pdet_trace_stream *s)
{
	struct pdet_trace_perf *p = PDET_CONTAINER(s, struct pdet_trace_perf,
						   s);

	pdet_records_end(&p->records);
	pdet_sorter_free(&p->sorter);
	pdet_pairs_free(&p->layout_of);
	pdet_pairs_free(&p->last_ns);
	pdet_vec_free(&p->layouts);
	pdet_vec_free(&p->s.piece);
	free(p->name);
	free(p);
}

int pdet_trace_perf(struct pdet_env *env, int fd, const char *name,
		    struct pdet_trace *t)
{
	struct pdet_trace_perf *p = calloc(1, sizeof(*p));
	char magic[MAGIC_BYTES];
	struct stat st;
	int r;

	if (!p)
		return pdet_fail(env, ENOMEM, "no memory");
	if (!pdet_vec_push(&t->own, &p->s)) {
		free(p);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	p->env = env;
	p->t = t;
	p->sorter.most = MOST_EVENTS;
	p->sorter.most_alone = MOST_ALONE;
	p->s.more = more;
	p->s.close = close_perf;
	p->name = strdup(name);
	if (!p->name)
		return no_memory(p);
	if (fstat(fd, &st) < 0 ||
	    pdet_pread(fd, magic, sizeof(magic), 0) != sizeof(magic))
		return pdet_fail_errno(env, "cannot read %s", name);
	p->s.end = (uint64_t)st.st_size;
	p->records.env = env;
	p->records.s = &p->s;
	p->records.fd = fd;
	/* The magic is a number: its letters are in order if it is little. */
	p->records.big_endian = !memcmp(magic, MAGIC_SWAPPED, sizeof(magic));
	r = pdet_records_begin(&p->records);
	return r < 0 ? r : read_head(p);
}
