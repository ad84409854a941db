/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Creates and reads the secret of keyed hashes: from the kernel's random
 * numbers, or from a file that only its owner may read. Anybody with the secret
 * can search for contents by their hashes. A file that others can read is
 * therefore refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/key.h"

/* 192 random bytes have about 135 different values, and never fewer than this
 * number. 192 characters of text, even of base64, have fewer. */
#define LEAST_VALUES 80

/* Retries if another process creates or removes the file at the same time. */
#define TRIES 8

static bool is_random(const unsigned char *secret)
{
	bool seen[256] = { false };
	unsigned i, n = 0;

	for (i = 0; i < PDET_SECRET; i++) {
		n += !seen[secret[i]];
		seen[secret[i]] = true;
	}
	return n >= LEAST_VALUES;
}

int pdet_key_random(struct pdet_env *env, struct pdet_key *key)
{
	size_t have = 0;
	ssize_t n;

	if (key->known)
		return 0;
	while (have < PDET_SECRET) {
		n = getrandom(key->secret + have, PDET_SECRET - have, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return pdet_fail_errno(env, "cannot get random bytes "
					       "for a key");
		have += (size_t)n;
	}
	key->known = true;
	return 0;
}

static int refuse(struct pdet_env *env, const char *path, int code,
		  const char *why)
{
	return pdet_fail(env, code, "cannot use key '%s': %s", path, why);
}

static int check_file(struct pdet_env *env, const char *path,
		      const struct stat *st)
{
	int r;

	if (!S_ISREG(st->st_mode))
		return refuse(env, path, EACCES, "not a regular file");
	if (st->st_mode & 077) {
		r = refuse(env, path, EACCES, "others may read or change it");
		pdet_advise(env, "chmod 600 it if nobody has read it, or name "
			    "a new file, which is then created");
		return r;
	}
	if (st->st_size != PDET_SECRET)
		return pdet_fail(env, EBADMSG, "cannot use key '%s': it has "
				 "%lld bytes, but a key has %d", path,
				 (long long)st->st_size, PDET_SECRET);
	return 0;
}

static int read_secret(struct pdet_env *env, int fd, const char *path,
		       unsigned char *secret)
{
	ssize_t n = pdet_pread(fd, secret, PDET_SECRET, 0);

	if (n < 0) {
		errno = (int)-n;
		return pdet_fail_errno(env, "cannot read key '%s'", path);
	}
	if (n != PDET_SECRET)
		return refuse(env, path, EBADMSG, "it was cut short meanwhile");
	if (!is_random(secret))
		return refuse(env, path, EBADMSG, "its bytes are not random");
	return 0;
}

/* Returns 1 if the file does not exist. */
static int read_file(struct pdet_env *env, const char *path,
		     unsigned char *secret)
{
	struct stat st;
	int fd, r;

	/* O_NONBLOCK: do not wait if it is a pipe. */
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
		  O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 && errno == ELOOP)
		return refuse(env, path, EACCES, "it is a symbolic link");
	if (fd < 0)
		return pdet_fail_errno(env, "cannot open key '%s'", path);
	if (fstat(fd, &st) < 0)
		r = pdet_fail_errno(env, "cannot look at key '%s'", path);
	else
		r = check_file(env, path, &st);
	if (r == 0)
		r = read_secret(env, fd, path, secret);
	close(fd);
	return r;
}

static bool write_secret(int fd, const unsigned char *secret)
{
	size_t at = 0;
	ssize_t n;

	/* independent of the umask */
	if (fchmod(fd, 0600) < 0)
		return false;
	while (at < PDET_SECRET) {
		n = write(fd, secret + at, PDET_SECRET - at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : EIO;
			return false;
		}
		at += (size_t)n;
	}
	return fsync(fd) == 0;
}

/*
 * Returns 1 if another process has created the file. The file gets its name
 * only when it is complete.
 */
static int make_file(struct pdet_env *env, const char *path,
		     const unsigned char *secret)
{
	char temp[PATH_MAX];
	int fd, len, error = 0;
	uint64_t nonce;
	bool linked;

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return pdet_fail_errno(env, "cannot make key '%s'", path);
	len = snprintf(temp, sizeof(temp), "%s.%016llx", path,
		       (unsigned long long)nonce);
	if (len < 0 || (size_t)len >= sizeof(temp)) {
		errno = ENAMETOOLONG;
		return pdet_fail_errno(env, "cannot make a key");
	}
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return pdet_fail_errno(env, "cannot make key '%s'", path);
	linked = write_secret(fd, secret) && link(temp, path) == 0;
	if (!linked)
		error = errno;
	close(fd);
	unlink(temp);
	if (linked)
		return 0;
	if (error == EEXIST)
		return 1;
	errno = error;
	return pdet_fail_errno(env, "cannot make key '%s'", path);
}

int pdet_key_file(struct pdet_env *env, struct pdet_key *key, const char *path)
{
	unsigned tries;
	int r = 1;

	pdet_key_forget(key);
	for (tries = 0; r == 1 && tries < TRIES; tries++) {
		r = read_file(env, path, key->secret);
		if (r != 1)
			break;
		r = pdet_key_random(env, key);
		if (r == 0)
			r = make_file(env, path, key->secret);
		key->known = false;
	}
	if (r == 1)
		r = refuse(env, path, EAGAIN, "it is created and removed again "
					      "and again");
	if (r == 0)
		key->known = true;
	else
		pdet_key_forget(key);
	return r;
}

void pdet_key_forget(struct pdet_key *key)
{
	explicit_bzero(key, sizeof(*key));
}
