/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* A damaged file may have any number of places, so only some are taken. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/pairs.h"
#include "kmap/object.h"
#include "kmap/places.h"
#include "kmap/reader.h"

#define MOST_PLACES ((size_t)1 << 16)

/* False without memory. */
static bool add(struct pdet_sites *s, struct pdet_pairs *seen,
		const struct pdet_kmap_line *l, unsigned dialect)
{
	const uint64_t at = l->site.address;
	uint64_t had;

	if (pdet_kmap_origin(l, dialect) != PAGEDET_KMAP_CALL ||
	    s->addresses.n == MOST_PLACES ||
	    pdet_pairs_get(seen, at, &had))
		return true;
	return pdet_pairs_set(seen, at, 1) && pdet_vec_push(&s->addresses, at);
}

static int read_places(struct pdet_sites *s, struct pdet_env *env,
		       const char *path, struct pdet_watch *watch)
{
	struct pdet_pairs seen = { 0 };
	struct pdet_kmap_reader r;
	int n = pdet_kmap_reader_open(&r, env, path, watch);

	while (n == 0 && (n = pdet_kmap_read(&r, env)) > 0)
		n = add(s, &seen, &r.object.line, r.dialect) ? 0 :
			pdet_fail(env, ENOMEM, "no memory");
	pdet_pairs_free(&seen);
	pdet_kmap_reader_close(&r);
	return n;
}

int pdet_kmap_vmlinux(struct pdet_naming *n, struct pdet_env *env,
		      const char *path, const char *vmlinux,
		      struct pdet_watch *watch)
{
	struct pdet_sites sites = { .kernel = { "", 0, 0 } };
	struct stat st;
	int r;

	if (!strcmp(path, "-") ||
	    (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
		return pdet_fail(env, EINVAL, "%s can be read only once, and a "
				 "vmlinux needs it twice: save it to a file "
				 "first", path);
	r = read_places(&sites, env, path, watch);
	if (r == 0)
		r = pdet_naming_vmlinux(n, env, vmlinux, &sites);
	pdet_sites_free(&sites);
	return r;
}
