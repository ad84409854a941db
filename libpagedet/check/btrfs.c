/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Maps btrfs addresses to places on its device. It asks the kernel for the
 * chunk tree, which needs root. It supports only data that lies on one device
 * unchanged: a filesystem of one device, and chunks without stripes, stored
 * once or twice. The kernel's list of its devices in /sys names that device by
 * its number: the path that the kernel also gives may name another one by now.
 */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include <pagedet.h>

#include "base/io.h"
#include "base/vec.h"
#include "check/btrfs.h"

/* Each one is usually a gigabyte. */
#define MAX_CHUNKS ((size_t)1 << 20)
/* Device ids are never reused. */
#define MAX_DEVICE 4096

/* With stripes or parity. */
#define STRIPED (BTRFS_BLOCK_GROUP_RAID0 | BTRFS_BLOCK_GROUP_RAID10 | \
		 BTRFS_BLOCK_GROUP_RAID5 | BTRFS_BLOCK_GROUP_RAID6)

static int refuse(struct pdet_btrfs *b, unsigned cause, const char *why)
{
	b->cause = cause;
	b->why = why;
	return 1;
}

static void format_id(const uint8_t *fsid, char id[PDET_BTRFS_ID])
{
	size_t i, at = 0;

	for (i = 0; i < BTRFS_FSID_SIZE; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			id[at++] = '-';
		at += (size_t)sprintf(id + at, "%02x", fsid[i]);
	}
}

/* Reads "7:0". */
static bool read_dev(const char *dir, const char *name, dev_t *ret)
{
	const struct pdet_env here = { .root = (char *)"" };
	unsigned number[2];
	char path[400], line[32];

	snprintf(path, sizeof(path), "%s/%s/dev", dir, name);
	pdet_read_line(&here, path, line, sizeof(line));
	if (sscanf(line, "%u:%u", &number[0], &number[1]) != 2)
		return false;
	*ret = makedev(number[0], number[1]);
	return true;
}

/* Counts the devices of the filesystem. Sets *@ret to the last one. */
static int list_devices(const uint8_t *fsid, dev_t *ret)
{
	char id[PDET_BTRFS_ID], path[80];
	struct dirent *e;
	int n = 0;
	DIR *dir;

	format_id(fsid, id);
	snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devices", id);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((e = readdir(dir)))
		n += *e->d_name != '.' && read_dev(path, e->d_name, ret);
	closedir(dir);
	return n;
}

static int find_device(struct pdet_btrfs *b, int fd, uint64_t *id)
{
	struct btrfs_ioctl_fs_info_args fs = { .max_id = 0 };
	struct btrfs_ioctl_dev_info_args dev;
	int n;

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &fs))
		return refuse(b, PAGEDET_CAUSE_KERNEL, "the kernel does not "
			      "say which devices the btrfs has");
	n = list_devices(fs.fsid, &b->dev);
	if (fs.num_devices != 1 || n > 1)
		return refuse(b, PAGEDET_CAUSE_FILESYSTEM, "the btrfs has more "
			      "than one device");
	for (*id = 1; n && *id <= fs.max_id && *id <= MAX_DEVICE; ++*id) {
		memset(&dev, 0, sizeof(dev));
		dev.devid = *id;
		if (ioctl(fd, BTRFS_IOC_DEV_INFO, &dev) == 0)
			return 0;
	}
	return refuse(b, PAGEDET_CAUSE_IO, "the device of the btrfs cannot be "
		      "found");
}

/*
 * Reads where each copy is. A chunk with a copy elsewhere, or more of them than
 * are known, has no place.
 */
static void add_places(struct pdet_btrfs_chunk *new, const char *item,
		       size_t n, uint64_t device)
{
	struct btrfs_chunk chunk;
	struct btrfs_stripe stripe;
	unsigned i, copies;

	memcpy(&chunk, item, sizeof(chunk));
	copies = le16toh(chunk.num_stripes);
	if (le64toh(chunk.type) & STRIPED || !copies ||
	    copies > PDET_BTRFS_COPIES ||
	    n < sizeof(chunk) + (copies - 1) * sizeof(stripe))
		return;
	for (i = 0; i < copies; i++) {
		memcpy(&stripe, item + offsetof(struct btrfs_chunk, stripe) +
		       i * sizeof(stripe), sizeof(stripe));
		if (le64toh(stripe.devid) != device)
			return;
		new->place[i] = le64toh(stripe.offset);
	}
	new->copies = copies;
}

/* Adds an item of the tree, of @n bytes. */
static int add_chunk(struct pdet_btrfs *b, uint64_t at, const char *item,
		     size_t n, uint64_t device)
{
	struct pdet_btrfs_chunk new = { .at = at };
	struct btrfs_chunk chunk;

	if (n < sizeof(chunk) || b->chunks.n == MAX_CHUNKS)
		return -EBADMSG;
	memcpy(&chunk, item, sizeof(chunk));
	new.bytes = le64toh(chunk.length);
	if (new.bytes > UINT64_MAX - at)
		return -EBADMSG;
	add_places(&new, item, n, device);
	if (le64toh(chunk.type) & BTRFS_BLOCK_GROUP_DATA)
		b->copies = PDET_MAX(b->copies, new.copies);
	return pdet_vec_push(&b->chunks, new) ? 0 : -ENOMEM;
}

/*
 * Adds the chunks of one answer, and advances *at to the next one. Returns 1 if
 * there are no more.
 */
static int add_some(struct pdet_btrfs *b, int fd, uint64_t device,
		    uint64_t *at)
{
	struct btrfs_ioctl_search_args args = { .key = {
		.tree_id = BTRFS_CHUNK_TREE_OBJECTID,
		.min_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
		.max_objectid = BTRFS_FIRST_CHUNK_TREE_OBJECTID,
		.min_type = BTRFS_CHUNK_ITEM_KEY,
		.max_type = BTRFS_CHUNK_ITEM_KEY,
		.min_offset = *at, .max_offset = UINT64_MAX,
		.max_transid = UINT64_MAX, .nr_items = 4096,
	} };
	struct btrfs_ioctl_search_header h;
	size_t done = 0;
	uint32_t i;
	int r = 0;

	if (ioctl(fd, BTRFS_IOC_TREE_SEARCH, &args))
		return -errno;
	for (i = 0; i < args.key.nr_items && r == 0; i++) {
		if (done > sizeof(args.buf) - sizeof(h))
			return -EBADMSG;
		memcpy(&h, args.buf + done, sizeof(h));
		done += sizeof(h);
		if (h.len > sizeof(args.buf) - done || h.offset < *at ||
		    h.offset == UINT64_MAX)
			return -EBADMSG;
		r = add_chunk(b, h.offset, args.buf + done, h.len, device);
		done += h.len;
		*at = h.offset + 1;
	}
	return r < 0 ? r : !args.key.nr_items;
}

int pdet_btrfs_open(struct pdet_btrfs *b, int fd)
{
	uint64_t device, at = 0;
	int r;

	memset(b, 0, sizeof(*b));
	if (find_device(b, fd, &device))
		return 1;
	do
		r = add_some(b, fd, device, &at);
	while (r == 0);
	if (r == -ENOMEM)
		return r;
	if (r == -EPERM || r == -EACCES)
		return refuse(b, PAGEDET_CAUSE_ACCESS, "the kernel tells only "
			      "root where btrfs has its chunks");
	return r < 0 ? refuse(b, PAGEDET_CAUSE_IO, "the chunks of the btrfs "
			      "cannot be read") : 0;
}

/* --- subvolumes --- */

/*
 * Counts the roots of one answer, and advances @key to the next one. Returns 1
 * if there are no more.
 */
static int count_some(int fd, struct btrfs_ioctl_search_key *key,
		      uint64_t *count)
{
	struct btrfs_ioctl_search_args args = { .key = *key };
	struct btrfs_ioctl_search_header h = { .objectid = 0 };
	size_t done = 0;
	uint32_t i;

	if (ioctl(fd, BTRFS_IOC_TREE_SEARCH, &args))
		return -errno;
	for (i = 0; i < args.key.nr_items; i++) {
		if (done > sizeof(args.buf) - sizeof(h))
			return -EBADMSG;
		memcpy(&h, args.buf + done, sizeof(h));
		done += sizeof(h);
		if (h.len > sizeof(args.buf) - done)
			return -EBADMSG;
		done += h.len;
		*count += h.type == BTRFS_ROOT_ITEM_KEY;
	}
	if (!i || h.objectid >= key->max_objectid ||
	    h.objectid < key->min_objectid)
		return 1;
	/* A subvolume has one root. More of its items follow. */
	key->min_objectid = h.type < BTRFS_ROOT_ITEM_KEY ? h.objectid :
							   h.objectid + 1;
	key->min_type = h.type < BTRFS_ROOT_ITEM_KEY ? BTRFS_ROOT_ITEM_KEY : 0;
	return 0;
}

/* A deleted subvolume counts until the kernel has cleaned it up. */
bool pdet_btrfs_subvolumes(int fd, char id[PDET_BTRFS_ID], uint64_t *ret)
{
	struct btrfs_ioctl_fs_info_args fs = { .max_id = 0 };
	struct btrfs_ioctl_search_key key = {
		.tree_id = BTRFS_ROOT_TREE_OBJECTID,
		.min_objectid = BTRFS_FIRST_FREE_OBJECTID,
		.max_objectid = BTRFS_LAST_FREE_OBJECTID,
		.max_type = UINT32_MAX, .max_offset = UINT64_MAX,
		.max_transid = UINT64_MAX,
	};
	size_t i;
	int r = 0;

	if (ioctl(fd, BTRFS_IOC_FS_INFO, &fs))
		return false;
	format_id(fs.fsid, id);
	*ret = 1;	/* the one that every filesystem has */
	for (i = 0; i < MAX_CHUNKS && r == 0; i++) {
		key.nr_items = 4096;
		r = count_some(fd, &key, ret);
	}
	return r > 0;
}

void pdet_btrfs_close(struct pdet_btrfs *b)
{
	pdet_vec_free(&b->chunks);
}

uint64_t pdet_btrfs_place(const struct pdet_btrfs *b, uint64_t at,
			  unsigned copy, uint64_t *follow)
{
	size_t i;

	for (i = 0; i < b->chunks.n; i++) {
		const struct pdet_btrfs_chunk *c = &b->chunks.data[i];

		if (at < c->at || at - c->at >= c->bytes)
			continue;
		*follow = c->bytes - (at - c->at);
		return !c->copies ? 0 : at - c->at +
		       c->place[PDET_MIN(copy, c->copies - 1)];
	}
	return 0;
}
