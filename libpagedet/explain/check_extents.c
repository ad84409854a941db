/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What the disk has of a file: where FIEMAP says, read from the device itself.
 * What FIEMAP says is not believed where it cannot be: extents whose bytes are
 * not those of the file, or that lie outside of the device.
 */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "explain/check_disk.h"

/* Blocks of 1024 bytes and pages of 4096. */
#define MAX_EXTENTS 1026

static void set_unknown(struct pdet_disk *d, size_t i, unsigned cause,
			const char *why)
{
	d->page[i].state = PDET_DISK_UNKNOWN;
	d->page[i].cause = (uint8_t)cause;
	d->page[i].why = why;
}

/* NULL: it is plain data. */
static const char *odd(uint32_t flags, unsigned *cause)
{
	*cause = PAGEDET_CAUSE_ENCODED;
	if (flags & FIEMAP_EXTENT_DATA_ENCRYPTED)
		return "encrypted on the disk";
	if (flags & FIEMAP_EXTENT_DATA_INLINE)
		return "kept in the inode, not in a block";
	if (flags & (FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_TAIL |
		     FIEMAP_EXTENT_NOT_ALIGNED))
		return "compressed, or packed with other data";
	*cause = PAGEDET_CAUSE_UNWRITTEN;
	if (flags & FIEMAP_EXTENT_DELALLOC)
		return "no block of the disk was chosen for it yet";
	*cause = PAGEDET_CAUSE_FILESYSTEM;
	return flags & FIEMAP_EXTENT_UNKNOWN ?
		"the filesystem does not say where it is" : NULL;
}

/* [@from, @to) of the file; page @at is at @base. */
static void load_extent(struct pdet_disk *d, const struct fiemap_extent *e,
			uint64_t base, uint64_t from, uint64_t to, size_t at)
{
	const unsigned shift = d->c->shift;
	const size_t begin = (size_t)(from - base) + (at << shift);
	const uint64_t place = e->fe_physical + (from - e->fe_logical);
	const bool unwritten = e->fe_flags & FIEMAP_EXTENT_UNWRITTEN;
	const char *why;
	unsigned cause;
	size_t i;
	int r = 0;

	why = odd(e->fe_flags, &cause);
	if (!why && !unwritten) {
		r = pdet_device_read(&d->device, d->buf + begin,
				     (size_t)(to - from), place);
		cause = PAGEDET_CAUSE_IO;
		if (r == -EBUSY)
			why = "the cache of the device has it, too, and there "
			      "it is dirty";
		else if (r == -ERANGE)
			why = "the filesystem names a place that the device "
			      "does not have";
		else if (r < 0)
			why = "the device cannot be read there";
	}
	for (i = begin >> shift; i <= (begin + (to - from) - 1) >> shift; i++) {
		d->page[i].hole = false;
		d->page[i].unwritten |= unwritten;
		if (why)
			set_unknown(d, i, cause, why);
		else if (i << shift >= begin)
			d->page[i].place = unwritten ? 0 :
				place + ((i << shift) - begin);
		else if (unwritten || !d->page[i].place ||
			 d->page[i].place + (begin - (i << shift)) != place)
			d->page[i].scattered = true;
	}
}

/* A part of a file: bytes of it and of the disk. */
static struct fiemap_extent part(uint64_t at, uint64_t place, uint64_t bytes,
				 bool unwritten)
{
	return (struct fiemap_extent){
		.fe_logical = at, .fe_physical = place, .fe_length = bytes,
		.fe_flags = unwritten ? FIEMAP_EXTENT_UNWRITTEN : 0,
	};
}

static void load_part(struct pdet_disk *d, struct fiemap_extent e,
		      uint64_t base, uint64_t end, size_t at)
{
	const uint64_t from = PDET_MAX(e.fe_logical, base);
	const uint64_t to = PDET_MIN(e.fe_logical + e.fe_length, end);

	if (from < to)
		load_extent(d, &e, base, from, to, at);
}

/* As a replay of the log or journal would leave it. */
static void load_replayed(struct pdet_disk *d, uint64_t first, size_t n,
			  size_t at)
{
	const struct pdet_xfs_inode *xfs = &d->xfs.inode;
	const struct pdet_ext4_inode *ext4 = &d->journal.inode;
	const uint64_t size = d->xfs.open ? d->xfs.fs.block_size :
					    d->journal.fs.block_size;
	const uint64_t base = first << d->c->shift;
	const uint64_t end = base + (n << d->c->shift);
	const uint64_t bytes = pdet_disk_replayed_bytes(d);
	uint64_t from;
	size_t i;

	for (i = 0; i < xfs->runs.n; i++) {
		const struct pdet_xfs_run *r = &xfs->runs.data[i];

		load_part(d, part(r->at * size, r->place, r->n * size,
				  r->unwritten), base, end, at);
	}
	for (i = pdet_ext4_run_behind(ext4, base / size); i < ext4->runs.n &&
	     ext4->runs.data[i].at * size < end; i++) {
		const struct pdet_ext4_run *r = &ext4->runs.data[i];

		load_part(d, part(r->at * size, r->block * size, r->n * size,
				  r->unwritten), base, end, at);
	}
	if (bytes < end) {
		from = PDET_MAX(bytes, base) - base;
		memset(d->buf + (at << d->c->shift) + from, 0,
		       (size_t)(end - base - from));
	}
}

uint64_t pdet_disk_replayed_bytes(const struct pdet_disk *d)
{
	const struct pdet_xfs_inode *xfs = &d->xfs.inode;

	if (d->xfs.open)
		return xfs->links ? xfs->size : 0;
	return d->journal.inode.bytes;
}

static void clear(struct pdet_disk *d, size_t n, size_t at)
{
	size_t i;

	memset(d->buf + (at << d->c->shift), 0, n << d->c->shift);
	for (i = 0; i < n; i++)
		d->page[at + i] = (struct pdet_disk_page){ .hole = true };
}

static int load_file(struct pdet_disk *d, uint64_t first, size_t n, size_t at)
{
	const unsigned shift = d->c->shift;
	const uint64_t base = first << shift, end = base + (n << shift);
	struct fiemap *map = d->map;
	uint64_t from, to;
	uint32_t i;

	memset(map, 0, sizeof(*map));
	map->fm_start = base;
	map->fm_length = end - base;
	map->fm_extent_count = MAX_EXTENTS;
	if (ioctl(d->c->fd, FS_IOC_FIEMAP, map))
		return -errno;
	clear(d, n, at);
	for (i = 0; i < map->fm_mapped_extents && i < MAX_EXTENTS; i++) {
		const struct fiemap_extent *e = &map->fm_extents[i];

		if (!e->fe_length || e->fe_logical > UINT64_MAX - e->fe_length)
			return -EBADMSG;
		from = PDET_MAX(e->fe_logical, base);
		to = PDET_MIN(e->fe_logical + e->fe_length, end);
		if (from < to)
			load_extent(d, e, base, from, to, at);
	}
	return 0;
}

static bool is_dirty(const struct pdet_disk *d, uint64_t page)
{
	struct pdet_cachestat cs;

	return pdet_check_stat(d->c, page, 1, &cs) == 0 &&
	       (cs.dirty || cs.writeback);
}

/* Of the device itself, up to its end, which need not be that of a page. */
static int load_piece(struct pdet_disk *d, uint64_t page, size_t n, size_t at)
{
	const uint64_t place = page << d->c->shift;

	return pdet_device_read(&d->device, d->buf + (at << d->c->shift),
				(size_t)PDET_MIN((uint64_t)n << d->c->shift,
						 d->device.bytes - place),
				place);
}

/* All at once, or, if that cannot be, around pages that it would write out. */
static void load_device(struct pdet_disk *d, uint64_t first, size_t n,
			size_t at)
{
	size_t i;
	int r;

	for (i = 0; i < n; i++)
		d->page[at + i] = (struct pdet_disk_page){
			.place = (first + i) << d->c->shift };
	if (load_piece(d, first, n, at) == 0)
		return;
	for (i = 0; i < n; i++) {
		r = load_piece(d, first + i, 1, at + i);
		if (r == -EBUSY && is_dirty(d, first + i))
			d->page[at + i].state = PDET_DISK_DIRTY;
		else if (r < 0)
			set_unknown(d, at + i, PAGEDET_CAUSE_IO,
				    "the device cannot be read there");
	}
}

int pdet_disk_load(struct pdet_disk *d, uint64_t first, size_t n, size_t at)
{
	if (d->c->block) {
		load_device(d, first, n, at);
	} else if (d->committed) {
		clear(d, n, at);
		load_replayed(d, first, n, at);
	} else {
		return load_file(d, first, n, at);
	}
	return 0;
}

/* One page, block by block of the filesystem. */
static void commit_page(struct pdet_disk *d, size_t i, size_t bytes)
{
	const uint32_t size = d->journal.fs.block_size;
	struct pdet_disk_page *p = &d->page[i];
	char *to = d->buf + (i << d->c->shift);
	size_t at, len, within, covered = 0;
	int r;

	for (at = 0; at < bytes; at += len) {
		const uint64_t place = p->place + at;

		within = (size_t)(place % size);
		len = PDET_MIN(size - within, bytes - at);
		r = pdet_journal_block(&d->journal, place / size, d->block);
		if (r < 0) {
			set_unknown(d, i, PAGEDET_CAUSE_JOURNAL,
				    "its copy in the journal cannot be read");
			return;
		}
		if (!r)
			continue;
		memcpy(to + at, d->block + within, len);
		covered += len;
	}
	if (p->state != PDET_DISK_DIRTY || !covered)
		return;
	if (covered == bytes)
		p->state = PDET_DISK_DATA;
	else
		set_unknown(d, i, PAGEDET_CAUSE_JOURNAL,
			    "a part of it is in the journal, and the rest "
			    "cannot be read without writing it out");
}

void pdet_disk_commit(struct pdet_disk *d, uint64_t first, size_t n, size_t at)
{
	const uint64_t page = 1ull << d->c->shift;
	size_t i;

	for (i = 0; i < n; i++) {
		const uint64_t start = (first + i) << d->c->shift;

		if (d->page[at + i].scattered)
			set_unknown(d, at + i, PAGEDET_CAUSE_JOURNAL,
				    "its blocks are scattered: which of them "
				    "the journal has was not looked up");
		else if (d->page[at + i].state != PDET_DISK_UNKNOWN &&
		    d->page[at + i].place && start < d->c->bytes)
			commit_page(d, at + i, (size_t)PDET_MIN(page,
						d->c->bytes - start));
	}
}
