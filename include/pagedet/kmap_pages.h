/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the accesses that a KMAP has counted, by page. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * KMAP by page: how often the objects in a page were read and written, for the
 * fields PAGEDET_FIELD_READS and _WRITES of a query. Without
 * pagedet_query.kmap these are PAGEDET_TOO_COSTLY.
 */

/* What could be joined. */
struct pagedet_kmap_pages_info {
	uint64_t size;		/* sizeof(struct pagedet_kmap_pages_info) */
	uint64_t pages;		/* with an object */
	uint64_t objects;	/* of the KMAP that have an address; also those
				 * that were freed */
	uint64_t outside;	/* of these: their address is not mapped (any
				 * more), or they are too large to be true */
	uint64_t hidden;	/* objects more, whose address is not told, or
				 * only an offset */
	uint64_t codes;		/* different instructions that accessed them */
	uint64_t strange;	/* of these: the kernel has no code there */
};

/* The sums of a KMAP for each page. */
struct pagedet_kmap_pages;

/**
 * pagedet_kmap_pages - find the pages of a KMAP's objects
 * Reads the rest of the KMAP, object by object, and asks the sources that read
 * kernel memory where each object is. An object in several pages counts in each
 * of them, with all of its accesses: a KMAP does not tell which bytes were
 * accessed. A page has the sums of all objects that were in it, also of those
 * that were freed meanwhile, unless their address was mapped to another page
 * since, as that of vmalloc() may be. Accesses that belong to no object
 * (PAGEDET_KMAP_CATCH_ALL) count for no page.
 *
 * A KMAP does not say of which boot it is: that it is of the boot of the handle
 * is for the caller to know. One that contradicts it is refused: more than half
 * of the instructions that accessed its objects are not in the kernel's code,
 * or more than half of the objects are not in mapped memory and not all of
 * these instructions are in the code.
 *
 * What pagedet_kmap_total() says of lines that are not counted is true of these
 * sums, too.
 * @pd: [in] opened, with a source that reads kernel memory
 * @kmap: [in] from pagedet_kmap() of the same handle without query->by; at its
 *        end afterwards, and not needed any more
 * @ret: [out] [owned: pagedet_kmap_pages_free] the sums
 * Return: 0, or a negative errno.
 * Errors: EINVAL the handle is not open, the KMAP is of another one, or its
 *         objects are grouped; ENOTSUP no open source reads kernel memory;
 *         EBADMSG the KMAP is of another boot, it tells no address, or
 *         compressed data is damaged; ETIMEDOUT the deadline of the KMAP passed
 *         first; ENOSYS it is compressed in a form that this library was built
 *         without; ECANCELED the progress function of the KMAP
 *         returned non-zero; EACCES memory may not be read; EIO;
 *         ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap_pages(struct pagedet *pd, struct pagedet_kmap *kmap,
		       struct pagedet_kmap_pages **ret);

/**
 * pagedet_kmap_pages_info - say what could be joined
 * @pages: [in] from pagedet_kmap_pages()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_pages_info(const struct pagedet_kmap_pages *pages,
			    struct pagedet_kmap_pages_info *ret);

/**
 * pagedet_kmap_pages_free - forget it
 * @pages: [in,nullable] NULL does nothing; not used by a query any more
 * Errors: none.
 * Since: 0.1
 */
void pagedet_kmap_pages_free(struct pagedet_kmap_pages *pages);
