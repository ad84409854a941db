/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The size of an object, and the names that the kernel has merged: links to the
 * same directory.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "breakpoint/caches.h"
#include "kernel/object/slab.h"

#define SLABS "/sys/kernel/slab"
#define PATH_BYTES 512

static int not_read(struct pdet_env *env, const char *what, int error)
{
	int r = pdet_fail(env, error == EACCES || error == ENOMEM ? error : EIO,
			  "cannot read " SLABS "%s%s: %s", *what ? "/" : "",
			  what, strerror(error));

	if (error == EACCES)
		pdet_advise(env, "needs root");
	return r;
}

/* --- names --- */

static bool is_name(const char *name)
{
	return *name && *name != '.' && !strpbrk(name, "/\"") &&
	       strlen(name) < PDET_SLAB_NAME;
}

/* What a name stands for: 1, 0 if there is none, or a negative errno without
 * an error text. */
static int find_real(const struct pdet_env *env, const char *name, char *ret)
{
	char path[PATH_BYTES];
	ssize_t n;

	if (!is_name(name) ||
	    pdet_path(env, path, sizeof(path), SLABS "/%s", name) < 0)
		return 0;
	n = readlink(path, ret, PDET_SLAB_NAME - 1);
	if (n >= 0) {
		ret[n] = 0;
		return 1;
	}
	/* It is a directory. */
	if (errno == EINVAL)
		strcpy(ret, name);
	return errno == EINVAL ? 1 : errno == ENOENT ? 0 : -errno;
}

struct names {
	char **data;
	size_t n, cap;
};

static void free_names(struct names *all)
{
	while (all->n)
		free(all->data[--all->n]);
	pdet_vec_free(all);
}

static int list_names(struct pdet_env *env, struct names *ret)
{
	char path[PATH_BYTES];
	struct dirent *e;
	DIR *d;
	int r = pdet_path(env, path, sizeof(path), SLABS);

	if (r < 0)
		return not_read(env, "", -r);
	d = opendir(path);
	if (!d && errno == ENOENT)
		return pdet_fail(env, ENOTSUP, "cannot find the cache: this "
				 "kernel has no " SLABS);
	if (!d)
		return not_read(env, "", errno);
	while (r == 0 && (e = readdir(d))) {
		char *copy = *e->d_name == '.' ? NULL : strdup(e->d_name);

		if (*e->d_name == '.' || (copy && pdet_vec_push(ret, copy)))
			continue;
		free(copy);
		r = pdet_fail(env, ENOMEM, "no memory");
	}
	closedir(d);
	return r;
}

static int not_found(struct pdet_env *env, const char *name,
		     const struct names *all)
{
	const int near = pdet_nearest(name, strlen(name),
				      (const char *const *)all->data, all->n);

	pdet_fail(env, ENOENT, "there is no slab cache '%s'", name);
	if (near >= 0)
		pdet_advise(env, "did you mean '%s'?", all->data[near]);
	else
		pdet_advise(env, "their names are those in " SLABS);
	return -ENOENT;
}

static int write_filter(struct pdet_env *env, const char *name,
			const struct names *all, struct pdet_bp_cache *ret)
{
	char real[PDET_SLAB_NAME], other[PDET_SLAB_NAME];
	size_t i, len = 0;
	int r = find_real(env, name, real);

	if (r <= 0)
		return r < 0 ? not_read(env, name, -r) :
			       not_found(env, name, all);
	for (i = 0; i < all->n; i++) {
		if (find_real(env, all->data[i], other) != 1 ||
		    strcmp(other, real))
			continue;
		if (len >= PDET_BP_FILTER - 2 * PDET_SLAB_NAME)
			return pdet_fail(env, ENOTSUP, "cannot find the slabs "
					 "of '%s': too many caches share them",
					 name);
		ret->names += *all->data[i] != ':';
		len += (size_t)snprintf(ret->filter + len, PDET_BP_FILTER - len,
					"%sslab_cache = \"%s\"",
					len ? " or " : "", all->data[i]);
	}
	return 0;
}

/* --- numbers --- */

/* Returns 0, or a negative errno with an error text. */
static int number_of(struct pdet_env *env, const char *name, const char *file,
		     uint64_t *ret)
{
	char what[2 * PDET_SLAB_NAME];
	struct pdet_text text;
	struct pdet_scan s;
	bool ok;
	int r;

	snprintf(what, sizeof(what), "%s/%s", name, file);
	r = pdet_slurp(env, &text, 4096, SLABS "/%s", what);
	if (r < 0 && r != -ENOENT)
		return not_read(env, what, -r);
	s = r < 0 ? (struct pdet_scan){ "", "" } :
		    (struct pdet_scan){ text.data, text.data + text.len };
	ok = pdet_scan_dec(&s, ret);
	if (r >= 0)
		pdet_text_free(&text);
	return ok ? 0 :
	       pdet_fail(env, ENOTSUP, "cannot tell how the objects of '%s' "
			 "are kept: " SLABS "/%s does not say it", name, what);
}

int pdet_bp_cache_find(struct pdet_env *env, const char *name,
		       struct pdet_bp_cache *ret)
{
	struct names all = { NULL, 0, 0 };
	uint64_t reused = 0;
	int r = list_names(env, &all);

	memset(ret, 0, sizeof(*ret));
	if (r == 0)
		r = write_filter(env, name, &all, ret);
	if (r == 0)
		r = number_of(env, name, "object_size", &ret->bytes);
	if (r == 0)
		r = number_of(env, name, "slab_size", &ret->stride);
	if (r == 0)
		r = number_of(env, name, "destroy_by_rcu", &reused);
	free_names(&all);
	ret->reused = reused;
	if (r == 0 && (!ret->bytes || ret->stride < ret->bytes))
		r = pdet_fail(env, ENOTSUP, "cannot tell how large the objects "
			      "of '%s' are: " SLABS " does not say it", name);
	return r;
}
