/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* needs: procfs */
/*
 * Tests entropy against its definition, hashes against their library, and key
 * files. A row must give what pagedet_content() gives for the same bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pagedet.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"
#include "base/key.h"
#include "base/wide.h"
#include "content/content.h"
#include "content/entropy.h"
#include "content/entropy_avx512.h"
#include "../unit.h"

#define PAGE 4096
#define F(name) PAGEDET_FIELD_##name

static unsigned char some[1 << 20];

static void noise(unsigned char *p, size_t n, unsigned values)
{
	uint64_t x = 88172645463325252u;
	size_t i;

	for (i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (unsigned char)((x >> 32) % values);
	}
}

/* --- entropy --- */

static double slow_entropy(const unsigned char *p, size_t n)
{
	size_t count[256] = { 0 };
	double h = 0, share;
	size_t i;

	for (i = 0; i < n; i++)
		count[p[i]]++;
	for (i = 0; i < 256; i++) {
		share = (double)count[i] / (double)n;
		if (count[i])
			h -= share * log2(share);
	}
	return h * 1000;
}

static void near(const unsigned char *p, size_t n)
{
	const double want = slow_entropy(p, n);
	const uint32_t got = pdet_entropy(p, n);

	ck_assert_msg(fabs(got - want) <= 0.51, "%zu bytes: %u, not %f", n, got,
		      want);
}

START_TEST(entropy)
{
	unsigned values, i;
	size_t n;

	ck_assert_uint_eq(pdet_entropy(some, 0), 0);
	ck_assert_uint_eq(pdet_entropy(some, PAGE), 0);
	memset(some, 0x6b, sizeof(some));
	ck_assert_uint_eq(pdet_entropy(some, sizeof(some)), 0);
	for (i = 0; i < sizeof(some); i++)
		some[i] = (unsigned char)i;
	ck_assert_uint_eq(pdet_entropy(some, PAGE), PDET_ENTROPY_MOST);
	ck_assert_uint_eq(pdet_entropy(some, sizeof(some)),
			  PDET_ENTROPY_MOST);
	for (values = 1; values <= 256; values += 5) {
		noise(some, sizeof(some), values);
		near(some, PAGE);
		near(some, 16384);
		/* Fewer bytes than wide instructions count. */
		near(some, PAGE - 1);
	}
	for (n = 1; n < 300; n++)
		near(some + n, n);
	/* More bytes than small counters hold. */
	memset(some, 1, 70000);
	near(some, sizeof(some));
	near(some, 100001);
	/* one odd byte of a page */
	memset(some, 0, PAGE);
	some[100] = 1;
	near(some, PAGE);
}
END_TEST

/* Counts @n bytes; existing counts stay. */
static void counts_are_right(const unsigned char *p, size_t n)
{
	const size_t whole = pdet_has_avx512() ? n - n % PDET_COUNT_BYTES : 0;
	uint16_t want[256], counts[256];
	size_t i;

	for (i = 0; i < 256; i++)
		want[i] = counts[i] = (uint16_t)(i * 100);
	for (i = 0; i < whole; i++)
		want[p[i]]++;
	ck_assert_uint_eq(pdet_count_avx512(p, n, counts), whole);
	ck_assert_mem_eq(counts, want, sizeof(want));
}

START_TEST(wide_counts)
{
	unsigned values, i;

	for (values = 1; values <= 256; values++) {
		noise(some, sizeof(some), values);
		counts_are_right(some + values, 2 * PAGE + values);
	}
	/* Each value alone, and all equal but a few. */
	for (i = 0; i < 256; i++) {
		memset(some, (int)i, 32768);
		counts_are_right(some, 32768);
		counts_are_right(some + 1, PAGE - 1);
		some[i] = some[PAGE - 1] = (unsigned char)~i;
		counts_are_right(some, PAGE);
	}
}
END_TEST

/* --- hash --- */

START_TEST(hash)
{
	unsigned char secret[PDET_SECRET];
	size_t n;

	noise(secret, sizeof(secret), 256);
	noise(some, sizeof(some), 251);
	for (n = 0; n < 3000; n++) {
		const uint64_t want = XXH3_128bits_withSecret(
			some + n, n, secret, sizeof(secret)).low64;

		ck_assert_uint_eq(pdet_hash_keyed(some + n, n, secret), want);
	}
	ck_assert_uint_eq(pdet_hash_keyed(some, sizeof(some), secret),
			  XXH3_128bits_withSecret(some, sizeof(some), secret,
						  sizeof(secret)).low64);
	ck_assert_uint_eq(pdet_hash_secret(secret),
			  XXH3_64bits_withSeed(secret, sizeof(secret),
					       0x7061676564657400));
	/* each bit of the key */
	for (n = 0; n < 8 * sizeof(secret); n++) {
		const uint64_t id = pdet_hash_secret(secret);

		secret[n / 8] ^= 1 << n % 8;
		ck_assert_uint_ne(pdet_hash_secret(secret), id);
		secret[n / 8] ^= 1 << n % 8;
	}
}
END_TEST

/* --- key files --- */

static char dir[32];
static char path[64], other[64];

static void begin(void)
{
	/* Each test has its own, even if all run in one process. */
	snprintf(dir, sizeof(dir), "/tmp/pagedet-key-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/key", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
}

static void end(void)
{
	unlink(path);
	unlink(other);
	/* Nothing else is left there. */
	ck_assert_int_eq(rmdir(dir), 0);
}

static int open_with(const char *key, struct pagedet **ret)
{
	struct pagedet_options o = PAGEDET_OPTIONS_INIT;

	o.hash_key = key;
	*ret = pagedet_new();
	return pagedet_open(*ret, &o);
}

static uint64_t id_of(const char *key)
{
	struct pagedet *pd;
	uint64_t id;

	ck_assert_msg(open_with(key, &pd) == 0, "%s", pagedet_error(pd));
	ck_assert_int_eq(pagedet_hash_key_id(pd, &id), 0);
	pagedet_free(pd);
	return id;
}

static void refused(const char *key, int error, const char *why)
{
	struct pagedet *pd;
	uint64_t id = 5;

	ck_assert_int_eq(open_with(key, &pd), -error);
	ck_assert_msg(strstr(pagedet_error(pd), why), "%s",
		      pagedet_error(pd));
	ck_assert_int_eq(pagedet_hash_key_id(pd, &id), -EINVAL);
	ck_assert_uint_eq(id, 5);
	pagedet_free(pd);
}

static void write_key(const char *to, const void *bytes, size_t n, int mode)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	ck_assert_int_eq(fchmod(fd, (mode_t)mode), 0);
	close(fd);
}

START_TEST(key_files)
{
	unsigned char key[PDET_SECRET + 1];
	struct stat st;
	uint64_t id;

	begin();
	/* Created for the owner only, whatever the umask. */
	umask(0);
	id = id_of(path);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
	ck_assert_int_eq(st.st_size, PDET_SECRET);
	ck_assert_int_eq(st.st_nlink, 1);
	/* The same key has the same id, and another key another one. */
	ck_assert_uint_eq(id_of(path), id);
	ck_assert_uint_ne(id_of(other), id);
	ck_assert_uint_ne(id_of(NULL), id);
	ck_assert_uint_ne(id_of(NULL), id_of(NULL));
	umask(022);

	chmod(path, 0640);
	refused(path, EACCES, "others may read");
	chmod(path, 0602);
	refused(path, EACCES, "others may read");
	chmod(path, 0400);
	ck_assert_uint_eq(id_of(path), id);

	noise(key, sizeof(key), 256);
	unlink(path);
	write_key(path, key, PDET_SECRET, 0600);
	ck_assert_uint_eq(id_of(path), pdet_hash_secret(key));
	write_key(path, key, PDET_SECRET - 1, 0600);
	refused(path, EBADMSG, "it has 191 bytes");
	write_key(path, key, PDET_SECRET + 1, 0600);
	refused(path, EBADMSG, "it has 193 bytes");
	write_key(path, key, 0, 0600);
	refused(path, EBADMSG, "it has 0 bytes");
	/* text, such as a key in base64 */
	noise(key, sizeof(key), 64);
	write_key(path, key, PDET_SECRET, 0600);
	refused(path, EBADMSG, "not random");

	unlink(path);
	ck_assert_int_eq(symlink(other, path), 0);
	refused(path, EACCES, "symbolic link");
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refused(path, EACCES, "not a regular file");
	refused(dir, EACCES, "not a regular file");
	unlink(path);
	refused("/nowhere/key", ENOENT, "/nowhere/key");
	end();
}
END_TEST

/* --- what a program has itself --- */

START_TEST(of_a_buffer)
{
	struct pagedet_content c = { .size = sizeof(c) };
	struct pagedet *pd, *copy;
	unsigned char key[PDET_SECRET];
	uint64_t id, ids;
	int fd;

	begin();
	noise(some, sizeof(some), 255);
	ck_assert_int_eq(open_with(path, &pd), 0);
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(read(fd, key, sizeof(key)), sizeof(key));
	close(fd);
	ck_assert_int_eq(pagedet_content(pd, some, PAGE, 0, &c), 0);
	ck_assert_str_eq(c.name, "data");
	ck_assert_uint_eq(c.entropy, pdet_entropy(some, PAGE));
	ck_assert_uint_eq(c.hash, pdet_hash_keyed(some, PAGE, key));
	ck_assert_int_eq(pagedet_content(pd, some, 65536, 0, &c), 0);
	ck_assert_uint_eq(c.hash, pdet_hash_keyed(some, 65536, key));
	/* Only the wanted results. */
	ck_assert_int_eq(pagedet_content(pd, some, PAGE,
					 PAGEDET_CONTENT_CLASS, &c), 0);
	ck_assert(!strcmp(c.name, "data") && !c.hash && !c.entropy);
	ck_assert_int_eq(pagedet_content(pd, some, PAGE,
					 PAGEDET_CONTENT_ENTROPY, &c), 0);
	ck_assert(!strcmp(c.name, "") && !c.hash && c.entropy);
	ck_assert_int_eq(pagedet_content(pd, some, PAGE, 8, &c), -EINVAL);
	ck_assert_int_eq(pagedet_content(pd, some, 0, 0, &c), -EINVAL);
	ck_assert_int_eq(pagedet_content(pd, some, PAGE + 1, 0, &c), -EINVAL);
	ck_assert_int_eq(pagedet_content(pd, some, 1ull << 40, 0, &c),
			 -EINVAL);

	/* A copied handle has the same key, whatever the file contains now. */
	ck_assert_int_eq(pagedet_hash_key_id(pd, &id), 0);
	unlink(path);
	ck_assert_int_eq(pagedet_dup(pd, &copy), 0);
	ck_assert_int_eq(pagedet_hash_key_id(copy, &ids), 0);
	ck_assert_uint_eq(id, ids);
	pagedet_free(copy);
	pagedet_free(pd);
	/* The same for a handle with a random key. */
	ck_assert_int_eq(open_with(NULL, &pd), 0);
	ck_assert_int_eq(pagedet_dup(pd, &copy), 0);
	ck_assert_int_eq(pagedet_hash_key_id(copy, &ids), 0);
	ck_assert_int_eq(pagedet_hash_key_id(pd, &id), 0);
	ck_assert_uint_eq(id, ids);
	pagedet_free(copy);
	pagedet_free(pd);
	end();
}
END_TEST

/* --- rows --- */

#define OWN 4

static unsigned has(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]);
}

static uint64_t ask(struct pagedet *pd, const unsigned char *own,
		    const char *where, struct pagedet_page *row)
{
	struct pagedet_item item = {
		(uintptr_t)own, OWN * PAGE, (uint32_t)getpid(), 0
	};
	struct pagedet_query q = PAGEDET_QUERY_INIT;
	struct pagedet_iter *it;
	int64_t n;

	q.target = PAGEDET_TARGET_VIRT;
	q.items = &item;
	q.n_items = 1;
	q.where = where;
	q.fields[0] = 1ull << F(VADDR) | 1ull << F(HASH) |
		      1ull << F(ENTROPY);
	ck_assert_msg(pagedet_query(pd, &q, &it) == 0, "%s",
		      pagedet_error(pd));
	n = pagedet_next(it, row, OWN);
	ck_assert_int_ge(n, 0);
	pagedet_iter_free(it);
	return (uint64_t)n;
}

START_TEST(of_this_process)
{
	struct pagedet_content c = { .size = sizeof(c) };
	struct pagedet_page row[OWN];
	struct pagedet *pd;
	unsigned char *own, vec[OWN];
	char where[64];
	int i;

	if (sysconf(_SC_PAGESIZE) != PAGE)
		unit_skip("pages of another size");
	own = mmap(NULL, OWN * PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(own, MAP_FAILED);
	madvise(own, OWN * PAGE, MADV_NOHUGEPAGE);
	noise(own, PAGE, 256);
	noise(own + PAGE, PAGE, 9);
	memcpy(own + 2 * PAGE, own, PAGE);
	ck_assert_int_eq(open_with(NULL, &pd), 0);
	ck_assert_uint_eq(ask(pd, own, NULL, row), OWN);
	if (has(row, F(HASH)) != PAGEDET_HAVE) {
		ck_assert_uint_eq(has(row, F(ENTROPY)), has(row, F(HASH)));
		pagedet_free(pd);
		unit_skip("nothing here may read it");
	}
	for (i = 0; i < OWN - 1; i++) {
		ck_assert_int_eq(pagedet_content(pd, own + i * PAGE, PAGE, 0,
						 &c), 0);
		ck_assert_uint_eq(has(row + i, F(HASH)), PAGEDET_HAVE);
		ck_assert_uint_eq(row[i].hash, c.hash);
		ck_assert_uint_eq(row[i].entropy, c.entropy);
		/* The class was needed, but not asked for. */
		ck_assert_uint_eq(has(row + i, F(CONTENT)),
				  PAGEDET_NOT_ASKED);
	}
	ck_assert_uint_eq(row[0].hash, row[2].hash);
	ck_assert_uint_ne(row[0].hash, row[1].hash);
	/* No task has ever touched this page. */
	ck_assert_uint_eq(has(row + 3, F(HASH)), PAGEDET_NONE);
	ck_assert_uint_eq(has(row + 3, F(ENTROPY)), PAGEDET_NONE);
	ck_assert_int_eq(mincore(own, OWN * PAGE, vec), 0);
	ck_assert_uint_eq(vec[3] & 1, 0);
	/* Searched by them. */
	snprintf(where, sizeof(where), "hash=0x%llx",
		 (unsigned long long)row[0].hash);
	ck_assert_uint_eq(ask(pd, own, where, row), 2);
	ck_assert_uint_eq(row[1].vaddr, (uintptr_t)own + 2 * PAGE);
	ck_assert_uint_eq(row[1].hash, row[0].hash);
	ck_assert_uint_eq(ask(pd, own, "entropy<5000", row), 1);
	ck_assert_uint_eq(row[0].vaddr, (uintptr_t)own + PAGE);
	pagedet_free(pd);
	munmap(own, OWN * PAGE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fingerprint");

	unit_test(s, entropy);
	unit_test(s, wide_counts);
	unit_test(s, hash);
	unit_test(s, key_files);
	unit_test(s, of_a_buffer);
	unit_test(s, of_this_process);
	return unit_main(s);
}
