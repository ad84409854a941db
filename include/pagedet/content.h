/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: contents that a program has itself. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Contents that a program has itself
 */

/* What pagedet_content() is asked for. */
enum pagedet_content_want {
	PAGEDET_CONTENT_CLASS = 1,
	PAGEDET_CONTENT_HASH = 2,
	PAGEDET_CONTENT_ENTROPY = 4 /* takes several times as long */
};

/* What is said of some bytes. */
struct pagedet_content {
	uint64_t size;		/* sizeof(struct pagedet_content) */
	uint64_t hash;		/* as the field; 0 if not wanted */
	uint64_t entropy;	/* as the field; 0 if not wanted */
	const char *name;	/* class, as the field content; "" if not
				 * wanted */
};

/**
 * pagedet_content - what the fields content, hash and entropy would say
 * Of bytes that the caller has in its own memory, such as a page that it has
 * sent or got, as the same fields would say it of a page with these bytes: by
 * the same rules, and under the same key. Nothing but these bytes is looked at.
 * @pd: [in] opened
 * @bytes: [in] [len: len]
 * @len: [in] bytes: a multiple of 4096, 1 GiB at most
 * @want: [in] PAGEDET_CONTENT_* bits; 0 is all
 * @ret: [out] size filled in; name is borrowed until the next call
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such length, an unknown bit, or ret has no size;
 *         EIO the kernel gave no random bytes for a key.
 * Since: 0.1
 */
int pagedet_content(struct pagedet *pd, const void *bytes, uint64_t len,
		    uint32_t want, struct pagedet_content *ret);

/**
 * pagedet_hash_key_id - which key hashes of this handle are made under
 * Hashes say something only about hashes of the same key: this is the same for
 * handles whose key is the same, in any run and on any host. The key cannot be
 * told from it. It is XXH3-64 of the key's 192 bytes, with the seed
 * 0x7061676564657400. Of a snapshot with hashes it is that of the key which
 * they were made under.
 * @pd: [in] opened
 * @ret: [out] the id
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; EIO the kernel gave no random bytes for a key.
 * Since: 0.1
 */
int pagedet_hash_key_id(struct pagedet *pd, uint64_t *ret);

/* How two contents differ: the first of these that holds. */
enum pagedet_shape {
	PAGEDET_SHAPE_SAME = 1,	/* they do not */
	PAGEDET_SHAPE_BIT = 2,	/* one bit */
	PAGEDET_SHAPE_BYTE = 3,	/* bits of one byte */
	PAGEDET_SHAPE_WORD = 4,	/* bytes of one aligned word of 8 bytes */
	PAGEDET_SHAPE_LINE = 5,	/* of one aligned cache line of 64 bytes */
	PAGEDET_SHAPE_SECTOR = 6, /* of one aligned sector of 512 bytes */
	PAGEDET_SHAPE_ZEROED = 7, /* one side is zero */
	PAGEDET_SHAPE_POISONED = 8, /* one side is all a byte that kernels
				 * poison memory with, or 0xff */
	PAGEDET_SHAPE_SWAPPED = 9, /* the halves have changed places */
	PAGEDET_SHAPE_SHIFTED = 10, /* moved by some bytes, by half of it at
				 * most */
	PAGEDET_SHAPE_TAIL = 11, /* from an offset on, 64 at least, to the
				 * end */
	PAGEDET_SHAPE_SCATTERED = 12 /* anything else */
};

/* Which side a shape is about. */
enum pagedet_differs {
	PAGEDET_DIFFERS_NEITHER = 0, /* both alike */
	PAGEDET_DIFFERS_A = 1,
	PAGEDET_DIFFERS_B = 2
};

/* The difference of two contents. */
struct pagedet_difference {
	uint64_t size;		/* sizeof(struct pagedet_difference) */
	uint64_t bits;		/* that differ; 0: they are the same */
	uint64_t bytes;
	uint64_t first;		/* offset of the first byte that differs */
	uint64_t last;		/* and of the last one; both 0 if none does */
	int64_t shift;		/* shifted: byte i of a is i + shift of b */
	uint32_t shape;		/* PAGEDET_SHAPE_* */
	uint32_t side;		/* zeroed, poisoned: PAGEDET_DIFFERS_* */
	uint32_t pattern;	/* poisoned: the byte */
	uint32_t reserved;
};

/**
 * pagedet_compare_bytes - how two contents of the same length differ
 * Looks at nothing else, needs no memory, and takes time in proportion to the
 * length, whatever the bytes are. Words, lines and sectors are counted from
 * where the bytes begin.
 * @a: [in] [len: len]
 * @b: [in] [len: len]
 * @len: [in] bytes; 0 is the same
 * @ret: [out] size filled in
 * Return: 0, or a negative errno.
 * Errors: EINVAL ret has no size.
 * Since: 0.1
 */
int pagedet_compare_bytes(const void *a, const void *b, uint64_t len,
			  struct pagedet_difference *ret);

/**
 * pagedet_shape_name - the name of a PAGEDET_SHAPE_*
 * @shape: [in]
 * Return: such as "one_bit", or NULL if there is no such shape
 *         [nullable] [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_shape_name(uint32_t shape);

/**
 * pagedet_format - one field of a row as text
 * @it: [in]
 * @row: [in] from pagedet_next(), this step
 * @field: [in] PAGEDET_FIELD_*
 * @text: [out] [len: size] NUL-terminated, cut to fit; "-" is nothing there,
 *        "?" not known
 * @size: [in] bytes
 * Return: the length that the whole text has, or a negative errno.
 * Errors: ENOENT no such field, or beyond the caller's row.
 * Since: 0.1
 */
int pagedet_format(const struct pagedet_iter *it,
		   const struct pagedet_page *row, uint32_t field, char *text,
		   size_t size);
