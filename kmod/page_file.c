// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file that a page is of. What is in the place of its mapping is one only
 * while the page is in the page cache, and the locked page keeps it there, and
 * with it the inode. Pages of other kinds use that place, and the lock bit,
 * for something else: those are not touched.
 */
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/page-flags.h>

#include "detective.h"

/* "ext4_aops [ext4]": the module is not part of the name. */
static void copy_aops(struct pd_page *p, const struct address_space *mapping)
{
	char *end;

	scnprintf(p->aops, sizeof(p->aops), "%ps", mapping->a_ops);
	end = strchr(p->aops, ' ');
	if (end)
		*end = '\0';
}

/* Names change; a file that was removed, or never had a place, has its last or
 * only one. Without a reference to the dentry: it would outlive a filesystem
 * that is unmounted now.
 */
static void copy_name(struct pd_page *p, struct inode *inode)
{
	struct dentry *d;

	spin_lock(&inode->i_lock);
	hlist_for_each_entry(d, &inode->i_dentry, d_u.d_alias) {
		bool hashed;

		spin_lock(&d->d_lock);
		hashed = !d_unhashed(d);
		if (hashed || !p->dentry[0])
			strscpy(p->dentry, d->d_name.name, sizeof(p->dentry));
		spin_unlock(&d->d_lock);
		if (hashed)
			break;
	}
	spin_unlock(&inode->i_lock);
}

static void look(struct pd_page *p)
{
	struct address_space *mapping = p->folio->mapping;
	struct inode *inode;

	if (!mapping || (unsigned long)mapping & PAGE_MAPPING_FLAGS) {
		p->file = PD_FILE_NONE;
		return;
	}
	inode = mapping->host;
	/* the swap cache */
	if (!inode) {
		p->file = PD_FILE_NONE;
		return;
	}
	p->file = PD_FILE_HAVE;
	p->ino = inode->i_ino;
	p->dev = inode->i_sb->s_dev;
	copy_aops(p, mapping);
	copy_name(p, inode);
}

static bool is_cached(const struct pd_page *p)
{
	return folio_test_lru(p->folio) || folio_test_hugetlb(p->folio);
}

/* A page that has just come to the page cache is not among the others before a
 * few more have come on the same processor; until then it looks like one of a
 * driver.
 */
static bool may_be_new(const struct pd_page *p)
{
	return p->mapping && !(p->mapping & PAGE_MAPPING_FLAGS) && !p->type &&
	       !folio_test_slab(p->folio);
}

void pd_page_file(struct pd_page *p)
{
	if (!p->held || !p->exists)
		return;
	if (p->anon || !p->mapping) {
		p->file = PD_FILE_NONE;
		return;
	}
	if (!p->referenced)
		return;
	if (!is_cached(p) && may_be_new(p) && pd_symbols.lru_add_drain_all)
		static_call(pd_lru_add_drain_all)();
	if (!is_cached(p)) {
		p->file = folio_test_slab(p->folio) ? PD_FILE_NONE :
						      PD_FILE_UNKNOWN;
		return;
	}
	if (!folio_trylock(p->folio)) {
		p->file = PD_FILE_BUSY;
		return;
	}
	look(p);
	folio_unlock(p->folio);
}
