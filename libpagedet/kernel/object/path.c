/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Builds paths from the last name to the first, so it fills the buffer from its
 * end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/container/list.h"
#include "kernel/object/path.h"

/* This is the limit for each of these: names in a path, mounts on the way,
 * names of an inode, mounts of one filesystem. */
#define MOST 4096
#define NAME_BYTES 256
#define SHORT_BYTES 40
#define DELETED " (deleted)"

enum { FILE_PATH_MNT, FILE_PATH_DENTRY, FILE_FIELDS };
static const pdet_field_names file_names[FILE_FIELDS] = {
	[FILE_PATH_MNT] = { "file.f_path.mnt" },
	[FILE_PATH_DENTRY] = { "file.f_path.dentry" },
};

enum { DENTRY_NAME, DENTRY_LEN, DENTRY_HASH, DENTRY_SHORT, DENTRY_PARENT,
       DENTRY_INODE, DENTRY_PPREV, DENTRY_OPS, DENTRY_SB, DENTRY_ALIAS,
       DENTRY_FIELDS };
static const pdet_field_names dentry_names[DENTRY_FIELDS] = {
	[DENTRY_NAME] = { "dentry.d_name.name", "dentry.__d_name.name" },
	[DENTRY_LEN] = { "dentry.d_name.len", "dentry.__d_name.len" },
	[DENTRY_HASH] = { "dentry.d_name.hash", "dentry.__d_name.hash" },
	[DENTRY_SHORT] = { "dentry.d_shortname", "dentry.d_iname" },
	[DENTRY_PARENT] = { "dentry.d_parent" },
	[DENTRY_INODE] = { "dentry.d_inode" },
	[DENTRY_PPREV] = { "dentry.d_hash.pprev" },
	[DENTRY_OPS] = { "dentry.d_op", "dentry.__d_op" },
	[DENTRY_SB] = { "dentry.d_sb" },
	[DENTRY_ALIAS] = { "dentry.d_u.d_alias", "dentry.d_alias" },
};

enum { VFSMOUNT_ROOT, VFSMOUNT_FIELDS };
static const pdet_field_names vfsmount_names[VFSMOUNT_FIELDS] = {
	[VFSMOUNT_ROOT] = { "vfsmount.mnt_root" },
};

enum { MOUNT_PARENT, MOUNT_POINT, MOUNT_MNT, MOUNT_INSTANCE, MOUNT_NS,
       MOUNT_NEXT, MOUNT_FIELDS };
static const pdet_field_names mount_names[MOUNT_FIELDS] = {
	[MOUNT_PARENT] = { "mount.mnt_parent" },
	[MOUNT_POINT] = { "mount.mnt_mountpoint" },
	[MOUNT_MNT] = { "mount.mnt" },
	[MOUNT_INSTANCE] = { "mount.mnt_instance" }, /* until 6.17 */
	[MOUNT_NS] = { "mount.mnt_ns" },
	[MOUNT_NEXT] = { "mount.mnt_next_for_sb" }, /* 6.18 */
};

static const pdet_field_names inode_names[] = { { "inode.i_ino" } };

enum { SUPER_TYPE, SUPER_MOUNTS, SUPER_FIELDS };
static const pdet_field_names super_names[SUPER_FIELDS] = {
	[SUPER_TYPE] = { "super_block.s_type" },
	[SUPER_MOUNTS] = { "super_block.s_mounts" },
};

static const pdet_field_names ops_names[] = {
	{ "dentry_operations.d_dname" },
};

/* 5.11 put the struct device into struct block_device. */
enum { BDEV_INODE, BDEV_NAME, BDEV_FIELDS };
static const pdet_field_names bdev_names[BDEV_FIELDS] = {
	[BDEV_INODE] = { "bdev_inode.vfs_inode" },
	[BDEV_NAME] = { "bdev_inode.bdev.bd_device.kobj.name" },
};

bool pdet_paths_init(struct pdet_paths *p, const struct pdet_btf *btf)
{
	unsigned i;

	pdet_struct_find(&p->file, btf, file_names, FILE_FIELDS);
	pdet_struct_find(&p->dentry, btf, dentry_names, DENTRY_FIELDS);
	pdet_struct_find(&p->vfsmount, btf, vfsmount_names, VFSMOUNT_FIELDS);
	pdet_struct_find(&p->mount, btf, mount_names, MOUNT_FIELDS);
	pdet_struct_find(&p->inode, btf, inode_names, 1);
	pdet_struct_find(&p->super, btf, super_names, SUPER_FIELDS);
	pdet_struct_find(&p->ops, btf, ops_names, 1);
	pdet_struct_find(&p->bdev, btf, bdev_names, BDEV_FIELDS);
	p->mount_of_vfsmount = p->mount.field[MOUNT_MNT].at;
	p->alias = pdet_struct_has(&p->dentry, DENTRY_ALIAS) ?
		   (uint32_t)p->dentry.field[DENTRY_ALIAS].at : 0;
	for (i = DENTRY_NAME; i <= DENTRY_PPREV; i++)
		if (i != DENTRY_HASH && i != DENTRY_SHORT &&
		    !pdet_struct_has(&p->dentry, i))
			return false;
	return pdet_struct_has(&p->vfsmount, VFSMOUNT_ROOT) &&
	       pdet_struct_has(&p->mount, MOUNT_PARENT) &&
	       pdet_struct_has(&p->mount, MOUNT_POINT) &&
	       p->mount_of_vfsmount >= 0;
}

/* --- one dentry --- */

struct dentry {
	uint64_t addr, parent, inode, ops, sb;
	bool unhashed;
	uint64_t name;
	uint32_t len, hash;	/* of the name */
	/* The part of the dentry that is the name, if that is short. */
	uint64_t inside;
	uint32_t room;		/* 0: there is no such part */
	char text[SHORT_BYTES];
};

static int read_dentry(struct pdet_space *space, const struct pdet_paths *p,
		       uint64_t addr, struct dentry *ret)
{
	const struct pdet_struct *s = &p->dentry;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	ret->addr = addr;
	ret->parent = pdet_struct_get(s, buf, DENTRY_PARENT);
	ret->inode = pdet_struct_get(s, buf, DENTRY_INODE);
	ret->ops = pdet_struct_get(s, buf, DENTRY_OPS);
	ret->sb = pdet_struct_get(s, buf, DENTRY_SB);
	ret->unhashed = !pdet_struct_get(s, buf, DENTRY_PPREV);
	ret->name = pdet_struct_get(s, buf, DENTRY_NAME);
	ret->len = (uint32_t)pdet_struct_get(s, buf, DENTRY_LEN);
	ret->hash = (uint32_t)pdet_struct_get(s, buf, DENTRY_HASH);
	ret->inside = pdet_struct_addr(s, addr, DENTRY_SHORT);
	ret->room = 0;
	if (s->field[DENTRY_SHORT].read) {
		ret->room = PDET_MIN(s->field[DENTRY_SHORT].size, SHORT_BYTES);
		memcpy(ret->text, pdet_struct_bytes(s, buf, DENTRY_SHORT),
		       ret->room);
	}
	/* Only objects outside any tree have no name, as block devices. */
	return (ret->len || ret->parent == addr) && ret->len < NAME_BYTES ?
	       0 : -EBADMSG;
}

static int read_name(struct pdet_space *space, const struct dentry *d,
		     char name[NAME_BYTES])
{
	int r = 0;

	if (d->name == d->inside && d->len <= d->room)
		memcpy(name, d->text, d->len);
	else
		r = pdet_is_address(d->name) ?
			pdet_space_read(space, d->name, name, d->len) :
			-EBADMSG;
	if (r < 0)
		return r == -ENOENT ? -EBADMSG : r;
	/* During a rename, the length may belong to the other name. */
	if (memchr(name, '\0', d->len))
		return -EBADMSG;
	name[d->len] = '\0';
	return 0;
}

/* --- whole paths --- */

struct text {
	char *buf;
	size_t at;		/* it begins there */
};

static bool prepend(struct text *t, const char *bytes, size_t n)
{
	if (n > t->at)
		return false;
	t->at -= n;
	memcpy(t->buf + t->at, bytes, n);
	return true;
}

static int prepend_name(struct pdet_space *space, const struct dentry *d,
			struct text *t)
{
	char name[NAME_BYTES];
	int r = read_name(space, d, name);

	if (r < 0)
		return r;
	return prepend(t, name, d->len) && prepend(t, "/", 1) ? 0 : -EBADMSG;
}

/*
 * Go from a mount to the dentry on which it is mounted. *top: it is the root
 * mount.
 */
static int climb(struct pdet_space *space, const struct pdet_paths *p,
		 uint64_t *mount, uint64_t *dentry, bool *top)
{
	uint64_t parent;
	int r = pdet_struct_value(space, &p->mount, *mount, MOUNT_PARENT,
				  &parent);

	if (r < 0)
		return r;
	*top = parent == *mount;
	if (*top)
		return 0;
	r = pdet_struct_value(space, &p->mount, *mount, MOUNT_POINT, dentry);
	*mount = parent;
	return r;
}

static int root_of(struct pdet_space *space, const struct pdet_paths *p,
		   uint64_t mount, uint64_t *ret)
{
	return pdet_struct_value(space, &p->vfsmount,
				 mount + (uint64_t)p->mount_of_vfsmount,
				 VFSMOUNT_ROOT, ret);
}

/* If @mount is 0, stop at the root of the filesystem. */
static int walk_up(struct pdet_space *space, const struct pdet_paths *p,
		   uint64_t mount, uint64_t dentry, struct text *t)
{
	struct dentry d;
	uint64_t root = 0;
	unsigned i;
	bool top;
	int r = mount ? root_of(space, p, mount, &root) : 0;

	for (i = 0; r >= 0 && i < MOST; i++) {
		if (mount && dentry == root) {
			r = climb(space, p, &mount, &dentry, &top);
			if (r >= 0 && top)
				return 0;
			if (r >= 0)
				r = root_of(space, p, mount, &root);
			continue;
		}
		r = read_dentry(space, p, dentry, &d);
		if (r < 0)
			return r;
		if (d.parent == d.addr)
			return 0;
		r = prepend_name(space, &d, t);
		dentry = d.parent;
	}
	return r < 0 ? r : -EBADMSG;
}

/*
 * Objects outside any tree, such as pipes and memfds, are named after their
 * filesystem.
 */
static int pseudo_name(struct pdet_space *space, const struct pdet_paths *p,
		       const struct dentry *d, struct text *t)
{
	char name[NAME_BYTES], fs[16] = "", text[NAME_BYTES + 32];
	uint64_t type = 0, fs_name, ino = 0;
	int r = read_name(space, d, name);

	if (r < 0)
		return r;
	if (pdet_struct_value(space, &p->super, d->sb, SUPER_TYPE, &type) ||
	    pdet_space_u64(space, type, &fs_name) ||
	    pdet_space_text(space, fs_name, fs, sizeof(fs)) < 0)
		return -EBADMSG;
	if (!strcmp(fs, "pipefs") || !strcmp(fs, "sockfs")) {
		r = pdet_struct_value(space, &p->inode, d->inode, 0, &ino);
		if (r < 0)
			return r;
		snprintf(text, sizeof(text), "%s:[%llu]",
			 *fs == 'p' ? "pipe" : "socket",
			 (unsigned long long)ino);
	} else if (!strcmp(fs, "anon_inodefs")) {
		snprintf(text, sizeof(text), "anon_inode:%s", name);
	} else {
		snprintf(text, sizeof(text), "/%s" DELETED, name);
	}
	return prepend(t, text, strlen(text)) ? 0 : -EBADMSG;
}

static bool is_pseudo(struct pdet_space *space, const struct pdet_paths *p,
		      const struct dentry *d, uint64_t root)
{
	uint64_t namer;

	return d->ops && (d->parent != d->addr || d->addr != root) &&
	       pdet_struct_has(&p->ops, 0) &&
	       !pdet_struct_value(space, &p->ops, d->ops, 0, &namer) && namer;
}

static ssize_t finish(struct text *t)
{
	const size_t n = PDET_PATH - 1 - t->at;

	if (!n) {
		memcpy(t->buf, "/", 2);
		return 1;
	}
	memmove(t->buf, t->buf + t->at, n + 1);
	return (ssize_t)n;
}

ssize_t pdet_path_of_dentry(struct pdet_space *space,
			    const struct pdet_paths *p, uint64_t vfsmount,
			    uint64_t dentry, char buf[PDET_PATH])
{
	const uint64_t mount = vfsmount ?
		vfsmount - (uint64_t)p->mount_of_vfsmount : 0;
	struct text t = { buf, PDET_PATH - 1 };
	uint64_t root = 0;
	struct dentry d;
	int r = read_dentry(space, p, dentry, &d);

	if (!r && mount)
		r = root_of(space, p, mount, &root);
	if (r < 0)
		return r;
	buf[t.at] = '\0';
	if (is_pseudo(space, p, &d, root)) {
		r = pseudo_name(space, p, &d, &t);
	} else if (!d.len) {
		r = -ENOENT;
	} else {
		if (d.unhashed && d.parent != d.addr)
			prepend(&t, DELETED, strlen(DELETED));
		r = walk_up(space, p, mount, dentry, &t);
	}
	return r < 0 ? r : finish(&t);
}

ssize_t pdet_path_of_file(struct pdet_space *space, const struct pdet_paths *p,
			  uint64_t file, char buf[PDET_PATH])
{
	uint64_t mnt, dentry;
	int r = pdet_struct_value(space, &p->file, file, FILE_PATH_MNT, &mnt);

	if (!r)
		r = pdet_struct_value(space, &p->file, file, FILE_PATH_DENTRY,
				      &dentry);
	return r < 0 ? r : pdet_path_of_dentry(space, p, mnt, dentry, buf);
}

/* --- mounts --- */

/* Whether a dentry is below another one. Returns 1, 0, or negative errno. */
static int is_below(struct pdet_space *space, const struct pdet_paths *p,
		    uint64_t dentry, uint64_t root)
{
	uint64_t parent;
	unsigned i;
	int r;

	for (i = 0; i < MOST; i++, dentry = parent) {
		if (dentry == root)
			return 1;
		r = pdet_struct_value(space, &p->dentry, dentry, DENTRY_PARENT,
				      &parent);
		if (r < 0 || parent == dentry)
			return r;
	}
	return -EBADMSG;
}

struct search {
	struct pdet_space *space;
	const struct pdet_paths *p;
	uint64_t mnt_ns, super, dentry;
	uint64_t mount;		/* found; 0: none */
	int error;		/* of a mount that cannot be read */
};

static bool fits(struct search *s, uint64_t mount)
{
	uint64_t ns, root;
	int r = pdet_struct_value(s->space, &s->p->mount, mount, MOUNT_NS,
				  &ns);

	if (r == 0 && ns != s->mnt_ns)
		return false;
	if (r == 0)
		r = root_of(s->space, s->p, mount, &root);
	if (r == 0 && !pdet_is_address(root))
		r = -EBADMSG;
	if (r == 0)
		r = is_below(s->space, s->p, s->dentry, root);
	if (r < 0)
		s->error = r;
	else if (r > 0)
		s->mount = mount;
	return r > 0;
}

static int try_mount(void *arg, uint64_t node)
{
	struct search *s = arg;

	return fits(s, node - (uint64_t)s->p->mount.field[MOUNT_INSTANCE].at);
}

/* Find a mount of the filesystem through which @dentry is seen. Returns a
 * failure only if it was a mount that could not be read. */
static int find_mount(struct search *s, uint64_t dentry)
{
	const struct pdet_paths *p = s->p;
	uint64_t at;
	unsigned i;
	int r;

	s->dentry = dentry;
	s->mount = 0;
	s->error = 0;
	if (!s->mnt_ns || !pdet_struct_has(&p->mount, MOUNT_NS) ||
	    !pdet_struct_has(&p->super, SUPER_MOUNTS))
		return 0;
	at = pdet_struct_addr(&p->super, s->super, SUPER_MOUNTS);
	if (pdet_struct_has(&p->mount, MOUNT_INSTANCE)) {
		r = pdet_list_each(s->space, at, MOST, try_mount, s);
		s->error = r < 0 ? r : s->error;
	} else if (pdet_struct_has(&p->mount, MOUNT_NEXT)) {
		r = pdet_space_u64(s->space, at, &at);
		for (i = 0; r == 0 && at && !fits(s, at); i++)
			r = i == MOST ? -EBADMSG :
				pdet_struct_value(s->space, &p->mount, at,
						  MOUNT_NEXT, &at);
		s->error = r < 0 ? r : s->error;
	}
	return s->mount || !s->error ? 0 :
	       s->error == -ENOENT ? -EBADMSG : s->error;
}

/* --- of directories --- */

struct pdet_directory {
	struct dentry is;	/* as it was then */
	bool mounted;
	size_t len;
	char path[];		/* empty for the root */
};

void pdet_directories_free(struct pdet_directories *d)
{
	unsigned i;

	for (i = 0; i < PDET_DIRECTORIES; i++)
		free(d->slot[i]);
	memset(d, 0, sizeof(*d));
}

/* On a running kernel, another directory may now be at the same address. */
static bool is_same(const struct dentry *a, const struct dentry *b)
{
	return a->addr == b->addr && a->parent == b->parent &&
	       a->inode == b->inode && a->name == b->name &&
	       a->len == b->len && a->hash == b->hash;
}

static int keep_directory(struct pdet_directory **slot, const struct dentry *is,
			  bool mounted, const struct text *t)
{
	const size_t len = PDET_PATH - 1 - t->at;
	struct pdet_directory *d = malloc(sizeof(*d) + len);

	if (!d)
		return -ENOMEM;
	*d = (struct pdet_directory){ *is, mounted, len };
	memcpy(d->path, t->buf + t->at, len);
	free(*slot);
	*slot = d;
	return 0;
}

/* Find the path of a directory: by its parent directory, at most @above of
 * them, or else by its mount. */
static int find_directory(struct search *s, struct pdet_directories *dirs,
			  uint64_t dentry, unsigned above,
			  const struct pdet_directory **ret)
{
	struct pdet_directory **slot =
		&dirs->slot[dentry * 0x9e3779b97f4a7c15 >> 52];
	const struct pdet_directory *up = NULL;
	char buf[PDET_PATH];
	struct text t = { buf, PDET_PATH - 1 };
	struct dentry is;
	int r = read_dentry(s->space, s->p, dentry, &is);

	if (r == 0 && (!*slot || !is_same(&(*slot)->is, &is))) {
		if (is.parent != dentry && above)
			r = find_directory(s, dirs, is.parent, above - 1, &up);
		if (r == 0 && up && up->mounted) {
			r = prepend_name(s->space, &is, &t);
			if (r == 0 && !prepend(&t, up->path, up->len))
				r = -EBADMSG;
		} else if (r == 0) {
			r = find_mount(s, dentry);
			if (r == 0)
				r = walk_up(s->space, s->p, s->mount, dentry,
					    &t);
		}
		if (r == 0)
			r = keep_directory(slot, &is, s->mount ||
					   (up && up->mounted), &t);
	}
	*ret = *slot;
	return r;
}

/* --- of inodes --- */

/* How many directories are kept at once on the way up. Paths that are deeper
 * are rare. */
#define ABOVE 16

ssize_t pdet_path_of_inode(struct pdet_space *space,
			   const struct pdet_paths *p,
			   struct pdet_directories *dirs,
			   const struct pdet_inode *inode, uint64_t mnt_ns,
			   char buf[PDET_PATH], bool *mounted)
{
	struct search s = { .space = space, .p = p, .mnt_ns = mnt_ns,
			    .super = inode->super };
	const struct pdet_directory *dir = NULL;
	struct text t = { buf, PDET_PATH - 1 };
	struct dentry d;
	int r;

	*mounted = false;
	if (!inode->dentry || !pdet_struct_has(&p->dentry, DENTRY_ALIAS))
		return -ENOENT;
	r = read_dentry(space, p, inode->dentry - p->alias, &d);
	if (r == 0 && d.parent != d.addr && !is_pseudo(space, p, &d, 0))
		r = find_directory(&s, dirs, d.parent, ABOVE, &dir);
	if (r < 0)
		return r;
	if (dir && dir->mounted) {
		*mounted = true;
		buf[t.at] = '\0';
		if (d.unhashed)
			prepend(&t, DELETED, strlen(DELETED));
		r = prepend_name(space, &d, &t);
		if (r == 0 && !prepend(&t, dir->path, dir->len))
			r = -EBADMSG;
		return r < 0 ? r : finish(&t);
	}
	/* It may be mounted itself. */
	r = find_mount(&s, d.addr);
	if (r < 0)
		return r;
	*mounted = s.mount;
	return pdet_path_of_dentry(space, p, s.mount ? s.mount +
				   (uint64_t)p->mount_of_vfsmount : 0,
				   d.addr, buf);
}

/* --- of block devices --- */

ssize_t pdet_path_of_device(struct pdet_space *space,
			    const struct pdet_paths *p, uint64_t inode,
			    char buf[PDET_PATH])
{
	static const char dev[] = "/dev/";
	char *name = buf + strlen(dev), *c;
	uint64_t bdev, at;
	ssize_t n;
	int r;

	if (!pdet_struct_has(&p->bdev, BDEV_INODE) ||
	    !pdet_struct_has(&p->bdev, BDEV_NAME))
		return -ENOTSUP;
	bdev = inode - (uint64_t)p->bdev.field[BDEV_INODE].at;
	r = pdet_struct_value(space, &p->bdev, bdev, BDEV_NAME, &at);
	if (r < 0)
		return r;
	n = pdet_is_address(at) ?
		pdet_space_text(space, at, name, NAME_BYTES) : -EBADMSG;
	if (n <= 0)
		return n == -ENOENT || !n ? -EBADMSG : n;
	memcpy(buf, dev, strlen(dev));
	/* devtmpfs makes a directory where sysfs has this mark. */
	for (c = name; (c = strchr(c, '!'));)
		*c = '/';
	return (ssize_t)strlen(buf);
}
