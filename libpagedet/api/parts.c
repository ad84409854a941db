/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parts that a build may leave out: whether they are there, and whether the
 * library of each can be loaded. It includes none of them. It is compiled as
 * the files that do: what is linked statically has other parts.
 */
#include "config.h"

#include <errno.h>

#include "api/parts.h"
#include "base/codec/codec.h"
#include "base/codec/decoder.h"
#include "base/library.h"
#include "kernel/types/dwarf.h"
#include "symbol/elf_sections.h"
#include "unwind/libunwind.h"

static int test_libelf(struct pdet_env *env)
{
	struct pdet_libelf *lib;
	int r = pdet_libelf_new(&lib, env, "ELF files");

	if (r == 0)
		pdet_libelf_free(lib);
	return r;
}

static int test_zlib(struct pdet_env *env)
{
	return pdet_codec_test(&pdet_codec_zlib, "zlib", env);
}

static int test_libdeflate(struct pdet_env *env)
{
	return pdet_codec_test(&pdet_codec_deflate, "libdeflate", env);
}

static int test_lzo(struct pdet_env *env)
{
	return pdet_codec_test(&pdet_codec_lzo, "lzo", env);
}

static int test_snappy(struct pdet_env *env)
{
	return pdet_codec_test(&pdet_codec_snappy, "snappy", env);
}

static int test_zstd(struct pdet_env *env)
{
	return pdet_codec_test(&pdet_codec_zstd, "zstd", env);
}

static int test_xz(struct pdet_env *env)
{
	static const char head[PDET_DECODER_MAGIC] = "\xfd" "7zXZ";
	struct pdet_decoder *d;
	int r = pdet_decoder_open(env, head, sizeof(head), &d);

	if (r == 0)
		pdet_decoder_close(d);
	return r;
}

static int test_libunwind(struct pdet_env *env)
{
	struct pdet_unwinder *u;
	int r = pdet_unwinder_new(env, &u);

	if (r == 0)
		pdet_unwinder_free(u);
	return r;
}

#ifdef HAVE_LIBDEFLATE
#define LIBDEFLATE 1
#else
#define LIBDEFLATE 0
#endif
#if defined(HAVE_LIBDW) && (defined(HAVE_LIBDW_LINKED) || !defined(PDET_LINKED))
#define LIBDW 1
#else
#define LIBDW 0
#endif
#if defined(HAVE_LIBUNWIND) && defined(__x86_64__) && !defined(PDET_LINKED)
#define LIBUNWIND 1
#else
#define LIBUNWIND 0
#endif
#ifdef HAVE_LZO
#define LZO 1
#else
#define LZO 0
#endif
#if defined(HAVE_SNAPPY) && \
	(defined(HAVE_SNAPPY_LINKED) || !defined(PDET_LINKED))
#define SNAPPY 1
#else
#define SNAPPY 0
#endif
#ifdef HAVE_LZMA
#define XZ 1
#else
#define XZ 0
#endif
#ifdef HAVE_ZSTD
#define ZSTD 1
#else
#define ZSTD 0
#endif

#define PART(name, purpose, built) \
	{ sizeof(struct pagedet_part), name, purpose, built, 0 }

static const struct {
	struct pagedet_part part;
	int (*test)(struct pdet_env *env); /* NULL: it needs nothing */
} parts[] = {
	{ PART("text", "output for people", 1), NULL },
	{ PART("json", "output as JSON lines", 1), NULL },
	{ PART("csv", "output as CSV", 1), NULL },
	{ PART("libelf", "ELF dumps, symbols of a vmlinux", 1), test_libelf },
	{ PART("zlib", "dumps and texts compressed by zlib", 1), test_zlib },
	{ PART("libdeflate", "dumps compressed by zlib, faster", LIBDEFLATE),
	  test_libdeflate },
	{ PART("libdw", "types from the debug information of a vmlinux",
	       LIBDW), pdet_dwarf_test },
	{ PART("libunwind", "user stacks of threads", LIBUNWIND),
	  test_libunwind },
	{ PART("lzo", "dumps compressed by lzo", LZO), test_lzo },
	{ PART("snappy", "dumps compressed by snappy", SNAPPY), test_snappy },
	{ PART("xz", "texts compressed by xz", XZ), test_xz },
	{ PART("zstd", "dumps and texts compressed by zstd", ZSTD), test_zstd },
};

const struct pagedet_part *pdet_part(uint32_t n)
{
	return n < PDET_COUNT(parts) ? &parts[n].part : NULL;
}

int pdet_part_test(struct pdet_env *env, uint32_t n)
{
	if (n >= PDET_COUNT(parts))
		return pdet_fail(env, EINVAL, "there is no part %u", n);
	return parts[n].test ? parts[n].test(env) : 0;
}
