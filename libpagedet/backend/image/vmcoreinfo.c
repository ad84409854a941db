/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks the VMCOREINFO that the caller gave. It must agree with the dump's
 * own. The kernel's release is read at the address in the text if the dump has
 * none.
 */
#include <errno.h>
#include <string.h>

#include "backend/image/image.h"

#define MOST_VMCOREINFO ((size_t)1 << 20)
/* __NEW_UTS_LEN, and a NUL. */
#define RELEASE 65

int pdet_image_read_vmcoreinfo(struct image *im, struct pdet_env *env)
{
	const char *path = im->options->vmcoreinfo;
	struct pdet_env here = { .root = (char *)"" };
	int r;

	if (!path || im->vmcoreinfo_text.data)
		return 0;
	r = pdet_slurp(&here, &im->vmcoreinfo_text, MOST_VMCOREINFO, "%s",
		       path);
	if (r == -EOVERFLOW)
		return pdet_fail(env, EBADMSG, "cannot read %s: it is not "
				 "VMCOREINFO", path);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read %s", path);
	}
	if (pdet_memory_is_vmcoreinfo(im->vmcoreinfo_text.data,
				      im->vmcoreinfo_text.len))
		return 0;
	pdet_text_free(&im->vmcoreinfo_text);
	return pdet_fail(env, EBADMSG, "cannot read %s: it is not VMCOREINFO",
			 path);
}

static bool same(const struct pdet_scan *a, const struct pdet_scan *b)
{
	const size_t n = (size_t)(a->end - a->at);

	return n == (size_t)(b->end - b->at) && !memcmp(a->at, b->at, n);
}

/* The first line that differs from the VMCOREINFO in the dump. */
static const struct pdet_vmcoreinfo_entry *
find_difference(const struct image *im, const struct pdet_vmcoreinfo *given,
		struct pdet_scan *own)
{
	const struct pdet_vmcoreinfo_entry *e = given->data;
	char key[128];
	size_t len;

	for (; e < given->data + given->n; e++) {
		len = (size_t)(e->key.end - e->key.at);
		/* It is written at the time of the crash. */
		if (len >= sizeof(key) || pdet_scan_is(&e->key, "CRASHTIME"))
			continue;
		memcpy(key, e->key.at, len);
		key[len] = '\0';
		if (pdet_vmcoreinfo_text(&im->info, key, own) &&
		    !same(&e->value, own))
			return e;
	}
	return NULL;
}

static int compare(struct image *im, struct pdet_env *env)
{
	const struct pdet_vmcoreinfo_entry *e;
	struct pdet_vmcoreinfo given;
	struct pdet_scan own;
	int r = 0;

	if (!pdet_vmcoreinfo_parse(&given, im->vmcoreinfo_text.data,
				   im->vmcoreinfo_text.len))
		return pdet_fail(env, ENOMEM, "no memory");
	e = find_difference(im, &given, &own);
	if (e)
		r = pdet_fail(env, EBADMSG, "cannot use %s: it is of another "
			      "kernel: %.*s is %.*s, but it is %.*s in the "
			      "dump", im->options->vmcoreinfo,
			      (int)(e->key.end - e->key.at), e->key.at,
			      (int)(e->value.end - e->value.at), e->value.at,
			      (int)(own.end - own.at), own.at);
	pdet_vmcoreinfo_free(&given);
	return r;
}

/* True if the kernel in memory has the release of the text. */
static int look_for_name(struct image *im, struct pdet_env *env)
{
	uint64_t addr, name;
	char is[RELEASE];
	int r;

	if (!pdet_vmcoreinfo_symbol(&im->info, "init_uts_ns", &addr) ||
	    !pdet_vmcoreinfo_offset(&im->info, "uts_namespace.name", &name))
		return 0;
	/* the third member of struct new_utsname (include/uapi) */
	addr += name + 2 * RELEASE;
	r = pdet_space_read(&im->space, addr, is, sizeof(is));
	/* An excluded page proves nothing. */
	if (r == -ENODATA || r == -EIO || r == -ENOMEM || r == -ENOSYS ||
	    (r == 0 && !strncmp(is, im->memory->release, sizeof(is) - 1)))
		return 0;
	return pdet_fail(env, EBADMSG, "cannot use %s: it is of another "
			 "kernel: the dump does not have %s where it says that "
			 "the kernel's name is", im->options->vmcoreinfo,
			 im->memory->release);
}

int pdet_image_check_vmcoreinfo(struct image *im, struct pdet_env *env)
{
	if (!im->vmcoreinfo_text.data || im->base.error)
		return 0;
	return im->memory->vmcoreinfo_given ? look_for_name(im, env) :
					      compare(im, env);
}
