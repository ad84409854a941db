/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a log as fs/xfs/xfs_log_recover.c does. The first word of each sector
 * is the cycle in which it was written. The head is where that number drops.
 * The last record before it has the position of the tail. Record headers keep
 * the original first words of sectors.
 *
 * A record holds operations, each a piece of a region. Regions form items, and
 * items a transaction, which counts once it is committed. Headers are
 * big-endian; items have the machine's order, which must be little-endian.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/env.h"
#include "disk/xfs_log.h"

#define SECTOR 512u
#define MAGIC 0xfeedbabeu
#define HEAD_BYTES 328u		/* struct xlog_rec_header; on i386 it is */
#define HEAD_BYTES_32 324u	/* ... not padded */
#define EXT_BYTES 260u
#define HEADER_DATA 32768u	/* bytes of data for which one header sector
				 * holds the first words */
#define MAX_RECORD 262144u
#define MAX_HEADERS (MAX_RECORD / HEADER_DATA)
#define LITTLE_ENDIAN_LINUX 1
/* Records that may be in flight at once: 8 of the largest size. */
#define WINDOW (8u * MAX_RECORD / SECTOR)

#define OP_BYTES 12
enum { OP_START = 1, OP_COMMIT = 2, OP_CONTINUE = 4, OP_WAS_CONT = 8,
       OP_UNMOUNT = 32 };

enum { ITEM_INODE = 0x123b, ITEM_XMI = 0x1248 };
/* ilf_fields */
enum { LOG_CORE = 1, LOG_DEXT = 4 };
#define FORMAT_BYTES 56
#define MAX_REGION 2048		/* an inode's region is never larger */
#define MAX_OPEN 64		/* most open transactions at once */

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

static uint64_t be64(const uint8_t *p)
{
	return (uint64_t)be32(p) << 32 | be32(p + 4);
}

static uint64_t le(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

/* --- sectors --- */

static int read_sectors(const struct pdet_xfs_log *log, uint32_t at, uint32_t n,
			uint8_t *to)
{
	ssize_t got;
	uint32_t part;

	while (n) {
		part = PDET_MIN(n, log->sectors - at);
		got = log->read_at(log->arg, to, (size_t)part * SECTOR,
				   (uint64_t)at * SECTOR);
		if (got != (ssize_t)part * SECTOR)
			return got < 0 ? (int)got : -EBADMSG;
		to += (size_t)part * SECTOR;
		n -= part;
		at = 0;
	}
	return 0;
}

static uint32_t cycle_of(const uint8_t *sector)
{
	const uint32_t word = be32(sector);

	return word == MAGIC ? be32(sector + 4) : word;
}

static int read_cycle(const struct pdet_xfs_log *log, uint32_t at,
		      uint32_t *ret)
{
	uint8_t s[SECTOR];
	const int r = read_sectors(log, at, 1, s);

	if (r == 0)
		*ret = cycle_of(s);
	return r;
}

/* Read sectors from @from to @to. The log wraps. */
static uint32_t distance(const struct pdet_xfs_log *log, uint32_t from,
			 uint32_t to)
{
	return to >= from ? to - from : log->sectors - from + to;
}

/* --- records --- */

struct record {
	uint8_t *head;		/* header sectors, followed by the data */
	uint32_t headers;	/* number of header sectors */
	uint32_t at;
	uint32_t len;		/* bytes of data */
	uint32_t ops;
	uint64_t lsn, tail_lsn;
};

static uint8_t *data_of(const struct record *r)
{
	return r->head + (size_t)r->headers * SECTOR;
}

static uint32_t sectors_of(const struct record *r)
{
	return r->headers + (r->len + SECTOR - 1) / SECTOR;
}

/*
 * Read only the header of a record, which may be of any cycle. Returns 1 if it
 * is a header.
 */
static int read_header(const struct pdet_xfs_log *log, uint32_t at,
		       struct record *r)
{
	const uint8_t *h = r->head;
	const int error = read_sectors(log, at, 1, r->head);
	uint32_t version, size;

	if (error < 0)
		return error;
	version = be32(h + 8);
	size = be32(h + 320);
	r->at = at;
	r->len = be32(h + 12);
	r->lsn = be64(h + 16);
	r->tail_lsn = be64(h + 24);
	r->ops = be32(h + 40);
	r->headers = version == 2 && size > HEADER_DATA ?
		(size + HEADER_DATA - 1) / HEADER_DATA : 1;
	return be32(h) == MAGIC && (version == 1 || version == 2) &&
	       r->len && r->len <= MAX_RECORD && size <= MAX_RECORD &&
	       (uint32_t)r->lsn == at && r->lsn >> 32 == be32(h + 4) &&
	       (uint32_t)r->tail_lsn < log->sectors &&
	       sectors_of(r) <= log->sectors &&
	       be32(h + 300) == LITTLE_ENDIAN_LINUX &&
	       !memcmp(h + 304, log->fs->uuid, sizeof(log->fs->uuid));
}

static bool sum_is_right(const struct record *r, size_t head_bytes)
{
	static const uint8_t zero[4] = { 0, 0, 0, 0 };
	uint32_t crc = pdet_crc32c(~(uint32_t)0, r->head, 32), i;

	crc = pdet_crc32c(crc, zero, 4);
	crc = pdet_crc32c(crc, r->head + 36, head_bytes - 36);
	for (i = 1; i < r->headers && i * HEADER_DATA < r->len; i++)
		crc = pdet_crc32c(crc, r->head + (size_t)i * SECTOR, EXT_BYTES);
	crc = pdet_crc32c(crc, data_of(r), r->len);
	return ~crc == (uint32_t)le(r->head + 32, 4);
}

/*
 * Read the whole record, and restore the first words of its sectors. Returns 1
 * if it is complete.
 */
static int read_record(const struct pdet_xfs_log *log, uint32_t at,
		       struct record *r)
{
	int ret = read_header(log, at, r);
	uint32_t i, from;

	if (ret <= 0)
		return ret;
	ret = read_sectors(log, at, sectors_of(r), r->head);
	if (ret < 0)
		return ret;
	if (!sum_is_right(r, HEAD_BYTES) && !sum_is_right(r, HEAD_BYTES_32))
		return 0;
	for (i = 0; i < (r->len + SECTOR - 1) / SECTOR; i++) {
		from = i / 64;
		if (from < r->headers)
			memcpy(data_of(r) + (size_t)i * SECTOR, r->head +
			       (size_t)from * SECTOR + (from ? 4 : 44) +
			       (size_t)(i % 64) * 4, 4);
	}
	return 1;
}

static bool new_record(struct record *r)
{
	r->head = malloc((size_t)MAX_HEADERS * SECTOR + MAX_RECORD);
	return r->head;
}

/* --- ends of the log --- */

/*
 * The first sector of [@from, @to) with another cycle, or @to if there is none.
 */
static int find_other(const struct pdet_xfs_log *log, uint32_t from,
		      uint32_t to, uint32_t cycle, uint32_t *ret)
{
	uint8_t buf[32 * SECTOR];
	uint32_t n, i;
	int r;

	for (; from < to; from += n) {
		n = PDET_MIN(to - from, 32);
		r = read_sectors(log, from, n, buf);
		if (r < 0)
			return r;
		for (i = 0; i < n; i++)
			if (cycle_of(buf + (size_t)i * SECTOR) != cycle) {
				*ret = from + i;
				return 0;
			}
	}
	*ret = to;
	return 0;
}

/* Writes complete out of order, so there may be holes before the head. */
static int skip_holes(struct pdet_xfs_log *log, uint32_t first, uint32_t last)
{
	const uint32_t before = PDET_MIN(log->head, WINDOW);
	uint32_t at, rest, found;
	int r;

	at = log->head;
	rest = PDET_MIN(WINDOW - before, log->sectors - log->head);
	if (last && rest) {
		r = find_other(log, log->sectors - rest, log->sectors, last,
			       &found);
		if (r < 0)
			return r;
		if (found < log->sectors) {
			log->head = found;
			return 0;
		}
	}
	r = find_other(log, at - before, at, first, &found);
	if (r == 0)
		log->head = found;
	return r;
}

static int find_head(struct pdet_xfs_log *log)
{
	uint32_t first, last, low = 0, high = log->sectors - 1, mid, cycle;
	int r;

	r = read_cycle(log, 0, &first);
	if (r == 0)
		r = read_cycle(log, high, &last);
	if (r < 0)
		return r;
	log->empty = !first;
	if (log->empty)
		return 0;
	if (first == last) {
		log->head = log->sectors;
		r = skip_holes(log, first, 0);
		log->head %= log->sectors;
		return r;
	}
	if (last && last != first - 1)
		return -EBADMSG;
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		r = read_cycle(log, mid, &cycle);
		if (r < 0)
			return r;
		if (cycle == first)
			low = mid;
		else
			high = mid;
	}
	log->head = high;
	return skip_holes(log, first, last);
}

/* Find the last complete record before the head. A torn record ends the log. */
static int find_last(struct pdet_xfs_log *log, struct record *rec)
{
	const uint32_t most = PDET_MIN(2 * WINDOW, log->sectors);
	uint32_t at = log->head, end = log->head, n;
	int r;

	for (n = 0; n < most; n++) {
		at = at ? at - 1 : log->sectors - 1;
		r = read_header(log, at, rec);
		if (r < 0)
			return r;
		if (!r || sectors_of(rec) > distance(log, at, end))
			continue;
		/* The record of mkfs has no checksum. */
		if (rec->ops != 1 || le(rec->head + 32, 4)) {
			r = read_record(log, at, rec);
			if (r < 0)
				return r;
			if (!r) {
				end = at;
				continue;
			}
		}
		log->head = end;
		return 0;
	}
	return -EBADMSG;
}

/* A clean unmount leaves a single unmount operation in the last record. */
static int find_unmount(struct pdet_xfs_log *log, struct record *rec)
{
	uint8_t s[SECTOR];
	int r;

	if (rec->ops != 1 || (rec->at + sectors_of(rec)) % log->sectors !=
	    log->head)
		return 0;
	r = read_sectors(log, (rec->at + rec->headers) % log->sectors, 1, s);
	if (r == 0)
		log->clean = s[9] & OP_UNMOUNT;
	return r;
}

int pdet_xfs_log_open(struct pdet_xfs_log *log)
{
	struct record rec;
	int r;

	log->sectors = (uint32_t)(log->fs->log_bytes / SECTOR);
	log->empty = log->clean = false;
	if (log->sectors < 2)
		return -EBADMSG;
	r = find_head(log);
	if (r < 0 || log->empty)
		return r;
	if (!new_record(&rec))
		return -ENOMEM;
	r = find_last(log, &rec);
	if (r == 0) {
		log->last_lsn = rec.lsn;
		log->tail_lsn = rec.tail_lsn;
		r = find_unmount(log, &rec);
	}
	free(rec.head);
	return r;
}

/* --- transactions --- */

struct region {
	uint8_t data[MAX_REGION];
	size_t n;		/* bytes, including those that did not fit */
};

struct trans {
	bool used;
	uint32_t tid;
	uint64_t lsn;		/* position of its start */
	bool begun;		/* its header was read */
	uint32_t left;		/* regions left of the current item */
	uint32_t at;		/* index of the current region */
	bool ours;
	bool split;		/* the region continues in the next operation */
	struct region region[3]; /* the item's format, core, and extents */
	struct pdet_xfs_inode inode; /* the resulting inode */
	bool has_core, has_extents;
};

struct walk {
	struct pdet_xfs_log *log;
	uint64_t ino;
	struct pdet_xfs_inode *inode;
	struct trans open[MAX_OPEN];
};

static void end_trans(struct trans *t)
{
	pdet_xfs_inode_free(&t->inode);
	t->used = false;
}

static struct trans *find_trans(struct walk *w, uint32_t tid)
{
	size_t i;

	for (i = 0; i < MAX_OPEN; i++)
		if (w->open[i].used && w->open[i].tid == tid)
			return &w->open[i];
	return NULL;
}

static struct trans *begin_trans(struct walk *w, uint32_t tid, uint64_t lsn)
{
	struct trans *t = find_trans(w, tid);
	size_t i;

	if (t)
		end_trans(t);
	for (i = 0; i < MAX_OPEN && !t; i++)
		if (!w->open[i].used)
			t = &w->open[i];
	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->used = true;
	t->tid = tid;
	t->lsn = lsn;
	return t;
}

/* Apply a complete item of our inode. */
static bool take_item(struct walk *w, struct trans *t)
{
	const uint8_t *form = t->region[0].data;
	const uint32_t fields = (uint32_t)le(form + 4, 4);

	if (t->region[0].n != FORMAT_BYTES)
		return false;
	if (fields & LOG_CORE) {
		if (t->region[1].n < PDET_XFS_CORE_BYTES ||
		    !pdet_xfs_take_core(&t->inode, t->region[1].data, true))
			return false;
		t->has_core = true;
	}
	if (!(fields & LOG_DEXT))
		return true;
	t->has_extents = t->has_core && t->region[2].n <= MAX_REGION &&
			 t->inode.extents <= t->region[2].n / 16 &&
			 pdet_xfs_take_extents(w->log->fs, &t->inode,
					       t->region[2].data,
					       (size_t)t->inode.extents);
	return t->has_extents;
}

/* Decode the first region of an item: its type and inode. */
static bool begin_item(struct walk *w, struct trans *t)
{
	const struct region *r = &t->region[0];
	uint32_t type;

	if (r->n < 4)
		return false;
	type = (uint32_t)le(r->data, 2);
	t->left = (uint32_t)le(r->data + 2, 2);
	if (type == ITEM_XMI)
		w->log->exchanges = true;
	t->ours = type == ITEM_INODE && r->n >= FORMAT_BYTES &&
		  le(r->data + 16, 8) == w->ino;
	/* the format of a 32-bit machine */
	if (type == ITEM_INODE && r->n < FORMAT_BYTES)
		return false;
	return t->left;
}

/* Take a complete region. Returns false if it is damaged. */
static bool end_region(struct walk *w, struct trans *t)
{
	if (!t->begun) {
		t->begun = true;
		return true;
	}
	if (!t->at && !begin_item(w, t))
		return false;
	t->at++;
	if (--t->left)
		return true;
	t->at = 0;
	return !t->ours || take_item(w, t);
}

static bool add_bytes(struct walk *w, struct trans *t, const uint8_t *data,
		      size_t n, unsigned flags)
{
	struct region *r = t->at < 3 ? &t->region[t->at] : NULL;

	if (!n && !t->split)
		return true;
	if (r && !t->split) {
		r->n = 0;
		if (!t->at)
			t->region[1].n = t->region[2].n = 0;
	}
	if (r && r->n < MAX_REGION)
		memcpy(r->data + r->n, data, PDET_MIN(n, MAX_REGION - r->n));
	if (r)
		r->n += n;
	t->split = flags & OP_CONTINUE;
	return t->split || end_region(w, t);
}

/* Replace the inode's state by a committed one that is not older. */
static void commit(struct walk *w, struct trans *t)
{
	struct pdet_xfs_inode *to = w->inode;

	w->log->checkpoints++;
	if (!t->has_core || (to->known && to->lsn > t->lsn))
		return;
	to->size = t->inode.size;
	to->links = t->inode.links;
	to->generation = t->inode.generation;
	to->extents = t->inode.extents;
	to->format = t->inode.format;
	to->shares = t->inode.shares;
	to->lsn = t->lsn;
	if (t->has_extents || !to->extents) {
		free(to->runs.data);
		to->runs.data = t->inode.runs.data;
		to->runs.n = t->inode.runs.n;
		to->runs.cap = t->inode.runs.cap;
		memset(&t->inode.runs, 0, sizeof(t->inode.runs));
	}
	/* Without new extents, the old ones stay valid. */
	to->known = to->format != PDET_XFS_EXTENTS ||
		    to->runs.n == to->extents;
}

static bool do_op(struct walk *w, const struct record *rec, const uint8_t *op,
		  size_t n)
{
	const uint32_t tid = be32(op);
	const unsigned flags = op[9];
	struct trans *t = find_trans(w, tid);

	if (flags & OP_START)
		t = begin_trans(w, tid, rec->lsn);
	/* its start is before the tail */
	if (!t)
		return !(flags & OP_START);
	if (flags & OP_UNMOUNT || (flags & OP_COMMIT)) {
		if (flags & OP_COMMIT)
			commit(w, t);
		end_trans(t);
		return true;
	}
	if (!(flags & OP_WAS_CONT) && t->split)
		return false;
	return add_bytes(w, t, op + OP_BYTES, n, flags);
}

static bool do_record(struct walk *w, const struct record *rec)
{
	const uint8_t *at = data_of(rec), *end = at + rec->len;
	uint32_t i, n;

	for (i = 0; i < rec->ops; i++) {
		if (end - at < OP_BYTES)
			return false;
		n = be32(at + 4);
		if (n > (size_t)(end - at) - OP_BYTES ||
		    !do_op(w, rec, at, n))
			return false;
		at += OP_BYTES + n;
	}
	return true;
}

static int walk(struct walk *w, struct record *rec)
{
	struct pdet_xfs_log *log = w->log;
	uint32_t at = (uint32_t)log->tail_lsn, n;
	uint32_t left = distance(log, at, log->head);
	uint64_t cycle = log->tail_lsn >> 32;
	int r;

	for (left = left ? left : log->sectors; left; left -= n) {
		r = read_record(log, at, rec);
		if (r < 0)
			return r;
		n = sectors_of(rec);
		/* A crash may tear a record in flight. */
		if (!r || rec->lsn >> 32 != cycle || n > left)
			return left <= WINDOW ? 0 : -EBADMSG;
		if (!do_record(w, rec))
			return -EBADMSG;
		log->records++;
		at += n;
		if (at >= log->sectors) {
			at -= log->sectors;
			cycle++;
		}
	}
	return 0;
}

int pdet_xfs_log_find(struct pdet_xfs_log *log, uint64_t ino,
		      struct pdet_xfs_inode *inode)
{
	struct record rec;
	struct walk *w;
	int r = -ENOMEM;
	size_t i;

	log->records = log->checkpoints = 0;
	log->exchanges = false;
	if (log->empty || log->clean)
		return 0;
	w = calloc(1, sizeof(*w));
	if (w && new_record(&rec)) {
		w->log = log;
		w->ino = ino;
		w->inode = inode;
		r = walk(w, &rec);
		for (i = 0; i < MAX_OPEN; i++)
			end_trans(&w->open[i]);
		free(rec.head);
	}
	free(w);
	return r;
}
