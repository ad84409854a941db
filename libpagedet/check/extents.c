/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a file's data from the device, at the places that FIEMAP gives. It
 * rejects extents whose bytes are not those of the file, and extents outside of
 * the device.
 */
#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "check/disk.h"

/*
 * Enough for blocks of 1024 bytes and pages of 4096 bytes, and always for one
 * page.
 */
#define MAX_EXTENTS 1026
/* Without cachestat(2), for devices that must wait. */
#define MAYBE_DIRTY "the kernel does not say whether the cache of the " \
		    "device has it dirty: reading the disk might write it out"

static void set_unknown(struct pdet_disk *d, size_t i, unsigned cause,
			const char *why)
{
	d->page[i].state = PDET_DISK_UNKNOWN;
	d->page[i].cause = (uint8_t)cause;
	d->page[i].why = why;
}

/* Returns NULL for plain data. */
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
	*cause = PAGEDET_CAUSE_FILESYSTEM;
	return flags & FIEMAP_EXTENT_UNKNOWN ?
		"the filesystem does not say where it is" : NULL;
}

/*
 * Replaces blocks among the @n bytes of the device in @buf by those that a
 * replay of the ext4 journal would write. Returns the number of bytes, or
 * negative errno.
 */
static ssize_t commit(struct pdet_disk *d, char *buf, size_t n, uint64_t place)
{
	const uint32_t size = d->journal.fs.block_size;
	size_t at, len, within, covered = 0;
	int r;

	for (at = 0; at < n; at += len) {
		within = (size_t)((place + at) % size);
		len = PDET_MIN(size - within, n - at);
		r = pdet_journal_block(&d->journal, (place + at) / size,
				       d->block);
		if (r < 0)
			return r;
		if (!r)
			continue;
		memcpy(buf + at, d->block + within, len);
		covered += len;
	}
	return (ssize_t)covered;
}

/* @place is what FIEMAP calls physical. */
static int read_device(const struct pdet_disk *d, char *buf, size_t n,
		       uint64_t place)
{
	uint64_t at, follow = 0;
	size_t len;
	int r = 0;

	if (!d->is_btrfs)
		return pdet_device_read(&d->device, buf, n, place);
	for (; n && r == 0; buf += len, place += len, n -= len) {
		at = pdet_btrfs_place(&d->btrfs, place, d->copy, &follow);
		if (!at)
			return -ENOTSUP;
		len = (size_t)PDET_MIN(n, follow);
		r = pdet_device_read(&d->device, buf, len, at);
	}
	return r;
}

/*
 * Reads bytes of the device, and of the journal if wanted. Returns NULL, or the
 * reason why they cannot be known.
 */
static const char *read_bytes(struct pdet_disk *d, char *buf, size_t n,
			      uint64_t place, unsigned *cause)
{
	const int r = read_device(d, buf, n, place);
	const ssize_t covered = d->committed && !d->xfs.open ?
				commit(d, buf, n, place) : 0;

	*cause = PAGEDET_CAUSE_JOURNAL;
	if (covered < 0)
		return "its copy in the journal cannot be read";
	if (r == 0 || (size_t)covered == n)
		return NULL;
	if (covered)
		return "a part of it is in the journal, and reading the rest "
		       "would write it out";
	*cause = PAGEDET_CAUSE_IO;
	if (r == -EBUSY)
		return "the cache of the device has it, too, and there it is "
		       "dirty";
	if (r == -EAGAIN) {
		*cause = PAGEDET_CAUSE_KERNEL;
		return MAYBE_DIRTY;
	}
	if (r == -ENOTSUP)
		return "it is striped, on another device, or in a chunk that "
		       "is new";
	return r == -ERANGE ? "the filesystem names a place that the device "
			      "does not have" :
			      "the device cannot be read there";
}

/* Loads [@from, @to) of the file. The page with index @at is at @base. */
static void load_extent(struct pdet_disk *d, const struct fiemap_extent *e,
			uint64_t base, uint64_t from, uint64_t to, size_t at)
{
	const unsigned shift = d->c->shift;
	const size_t begin = (size_t)(from - base) + (at << shift);
	const uint64_t place = e->fe_physical + (from - e->fe_logical);
	const bool unwritten = e->fe_flags & FIEMAP_EXTENT_UNWRITTEN;
	const bool unplaced = e->fe_flags & FIEMAP_EXTENT_DELALLOC;
	const char *why;
	unsigned cause;
	size_t i;

	why = unplaced ? NULL : odd(e->fe_flags, &cause);
	if (!why && !unwritten && !unplaced)
		why = read_bytes(d, d->buf + begin, (size_t)(to - from), place,
				 &cause);
	for (i = begin >> shift; i <= (begin + (to - from) - 1) >> shift; i++) {
		d->page[i].hole = false;
		d->page[i].unwritten |= unwritten;
		d->page[i].unplaced |= unplaced;
		if (why)
			set_unknown(d, i, cause, why);
	}
}

/* Describes a part of a file: its bytes, and their place on the disk. */
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

/* Loads the state after a replay of the log or journal. */
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

bool pdet_disk_is_replayed(const struct pdet_disk *d)
{
	return d->xfs.open ? d->xfs.inode.links : d->journal.inode.links;
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
	uint64_t from, to = base, rest;
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
	/* There may be more, unless the list has room. */
	if (i < map->fm_extent_count)
		return 0;
	for (rest = (to - base) >> shift; rest < n; rest++)
		set_unknown(d, at + (size_t)rest, PAGEDET_CAUSE_FILESYSTEM,
			    "it is in too many pieces");
	return 0;
}

static bool is_dirty(const struct pdet_disk *d, uint64_t page)
{
	struct pdet_cachestat cs;

	return pdet_check_stat(d->c, page, 1, &cs) == 0 &&
	       (cs.dirty || cs.writeback);
}

/* Loads a piece of the device itself. Its end need not be the end of a page. */
static int load_piece(struct pdet_disk *d, uint64_t page, size_t n, size_t at)
{
	const uint64_t place = page << d->c->shift;

	return pdet_device_read(&d->device, d->buf + (at << d->c->shift),
				(size_t)PDET_MIN((uint64_t)n << d->c->shift,
						 d->device.bytes - place),
				place);
}

/*
 * Loads all pages at once. If that is not possible, leaves out pages that the
 * read would write out.
 */
static void load_device(struct pdet_disk *d, uint64_t first, size_t n,
			size_t at)
{
	size_t i;
	int r;

	for (i = 0; i < n; i++)
		d->page[at + i] = (struct pdet_disk_page){ .state = 0 };
	if (load_piece(d, first, n, at) == 0)
		return;
	for (i = 0; i < n; i++) {
		r = load_piece(d, first + i, 1, at + i);
		if (r == -EBUSY && is_dirty(d, first + i))
			d->page[at + i].state = PDET_DISK_DIRTY;
		else if (r == -EAGAIN)
			set_unknown(d, at + i, PAGEDET_CAUSE_KERNEL,
				    MAYBE_DIRTY);
		else if (r < 0)
			set_unknown(d, at + i, PAGEDET_CAUSE_IO,
				    "the device cannot be read there");
	}
}

/* Applies the journal to one page of the device. */
static void commit_page(struct pdet_disk *d, uint64_t page, size_t i)
{
	const uint64_t place = page << d->c->shift;
	const size_t bytes = (size_t)PDET_MIN(1ull << d->c->shift,
					      d->device.bytes - place);
	const ssize_t covered = commit(d, d->buf + (i << d->c->shift), bytes,
				       place);

	if (covered < 0)
		set_unknown(d, i, PAGEDET_CAUSE_JOURNAL,
			    "its copy in the journal cannot be read");
	else if (d->page[i].state == PDET_DISK_DIRTY &&
		 (size_t)covered == bytes)
		d->page[i].state = PDET_DISK_DATA;
	else if (d->page[i].state == PDET_DISK_DIRTY && covered)
		set_unknown(d, i, PAGEDET_CAUSE_JOURNAL,
			    "a part of it is in the journal, and reading the "
			    "rest would write it out");
}

int pdet_disk_load(struct pdet_disk *d, uint64_t first, size_t n, size_t at)
{
	size_t i;

	if (!d->c->block && !d->committed)
		return load_file(d, first, n, at);
	if (!d->c->block) {
		clear(d, n, at);
		load_replayed(d, first, n, at);
		return 0;
	}
	load_device(d, first, n, at);
	for (i = 0; i < n && d->committed && !d->xfs.open; i++)
		if (d->page[at + i].state != PDET_DISK_UNKNOWN)
			commit_page(d, first + i, at + i);
	return 0;
}
