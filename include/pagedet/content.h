/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Part of pagedet.h: class, hash, entropy and difference of a caller's bytes.
 */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Contents that a program has itself
 */

/* The results that pagedet_content() can compute. */
enum pagedet_content_want {
	PAGEDET_CONTENT_CLASS = 1,
	PAGEDET_CONTENT_HASH = 2,
	PAGEDET_CONTENT_ENTROPY = 4 /* takes several times as long */
};

/* The result of pagedet_content(). */
struct pagedet_content {
	uint64_t size;		/* sizeof(struct pagedet_content) */
	uint64_t hash;		/* as the field hash; 0 if not wanted */
	uint64_t entropy;	/* as the field entropy; 0 if not wanted */
	const char *name;	/* the class, as the field content; "" if not
				 * wanted */
};

/**
 * pagedet_content - compute class, hash and entropy of the caller's bytes
 * The bytes are in the caller's memory, for example a page that it sent or
 * received. The result is what the fields content, hash and entropy give for a
 * page with these bytes: libpagedet applies the same rules and the same key. It
 * looks at nothing but these bytes. Of a snapshot with hashes it can compute
 * the hash only if the handle was opened with the key of these (hash_key).
 * @pd: [in] opened
 * @bytes: [in] [len: len] the bytes
 * @len: [in] bytes: a multiple of 4096, at most 1 GiB
 * @want: [in] PAGEDET_CONTENT_* bits; 0 is all
 * @ret: [in,out] the caller sets size; name is valid until the next call
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open, no such length, an unknown bit, or ret has no size;
 *         ENODATA the hash is wanted, and the hashes of the snapshot have
 *         another key; EIO the kernel gave no random bytes for a key.
 * Since: 0.1
 */
int pagedet_content(struct pagedet *pd, const void *bytes, uint64_t len,
		    uint32_t want, struct pagedet_content *ret);

/**
 * pagedet_hash_key_id - identify the key of this handle's hashes
 * Hashes can be compared only if they have the same key. Handles with the same
 * key have the same id, in any run and on any host. The id does not reveal the
 * key. It is XXH3-64 of the key's 192 bytes, with the seed 0x7061676564657400.
 * For a snapshot with hashes it is the id of the key that made them.
 * @pd: [in] opened
 * @ret: [out] the id
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; EIO the kernel gave no random bytes for a key.
 * Since: 0.1
 */
int pagedet_hash_key_id(struct pagedet *pd, uint64_t *ret);

/* How two contents differ. The first of these that applies is the answer. */
enum pagedet_shape {
	PAGEDET_SHAPE_SAME = 1,	/* they are equal */
	PAGEDET_SHAPE_BIT = 2,	/* one bit */
	PAGEDET_SHAPE_BYTE = 3,	/* bits of one byte */
	PAGEDET_SHAPE_WORD = 4,	/* one aligned word of 8 bytes */
	PAGEDET_SHAPE_LINE = 5,	/* one aligned cache line of 64 bytes */
	PAGEDET_SHAPE_SECTOR = 6, /* one aligned sector of 512 bytes */
	PAGEDET_SHAPE_ZEROED = 7, /* one side is all zero */
	PAGEDET_SHAPE_POISONED = 8, /* one side repeats a byte that kernels
				 * poison memory with, or 0xff */
	PAGEDET_SHAPE_SWAPPED = 9, /* the two halves are exchanged */
	PAGEDET_SHAPE_SHIFTED = 10, /* moved by some bytes, at most by half the
				 * length */
	PAGEDET_SHAPE_TAIL = 11, /* everything from an offset of at least 64 to
				 * the end */
	PAGEDET_SHAPE_SCATTERED = 12 /* anything else */
};

/* The side that a shape describes. */
enum pagedet_differs {
	PAGEDET_DIFFERS_NEITHER = 0, /* the shape describes both alike */
	PAGEDET_DIFFERS_A = 1,
	PAGEDET_DIFFERS_B = 2
};

/* The difference between two contents. */
struct pagedet_difference {
	uint64_t size;		/* sizeof(struct pagedet_difference) */
	uint64_t bits;		/* number that differ; 0: they are equal */
	uint64_t bytes;
	uint64_t first;		/* offset of the first byte that differs */
	uint64_t last;		/* offset of the last one; both 0 if none
				 * does */
	int64_t shift;		/* shifted: byte i of a is i + shift of b */
	uint32_t shape;		/* PAGEDET_SHAPE_* */
	uint32_t side;		/* zeroed, poisoned: PAGEDET_DIFFERS_* */
	uint32_t pattern;	/* poisoned: the byte */
	uint32_t reserved;
};

/**
 * pagedet_compare_bytes - find how two contents of equal length differ
 * Reads only its arguments and allocates nothing. The time is proportional to
 * the length for any bytes. Words, lines and sectors are aligned relative to
 * the first byte.
 * @a: [in] [len: len] the first bytes
 * @b: [in] [len: len] the second bytes
 * @len: [in] bytes; two contents of 0 bytes are equal
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL ret has no size.
 * Since: 0.1
 */
int pagedet_compare_bytes(const void *a, const void *b, uint64_t len,
			  struct pagedet_difference *ret);

/**
 * pagedet_shape_name - name a shape
 * @shape: [in] PAGEDET_SHAPE_*
 * Return: "one_bit" ..., or NULL if there is no such shape [nullable]
 *         [borrowed: forever].
 * Errors: none.
 * Since: 0.1
 */
const char *pagedet_shape_name(uint32_t shape);

/**
 * pagedet_format - write one field of a row as text
 * @it: [in] from pagedet_query()
 * @row: [in] from pagedet_next(), of this step
 * @field: [in] PAGEDET_FIELD_*
 * @text: [out] [len: size] NUL-terminated, cut to fit; "-" for definitely
 *        nothing, "?" for not known
 * @size: [in] bytes
 * Return: the length of the whole text, or a negative errno.
 * Errors: ENOENT no such field, or beyond the caller's row.
 * Since: 0.1
 */
int pagedet_format(const struct pagedet_iter *it,
		   const struct pagedet_page *row, uint32_t field, char *text,
		   size_t size);
