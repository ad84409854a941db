/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds a kernel's types: from the caller, the running kernel's file, a
 * vmlinux, or the kernel's memory. Debug information comes last, because it
 * takes a second. Types and VMCOREINFO must agree. Values on which they differ
 * are discarded, because it is unknown which one is damaged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/image/image.h"
#include "kernel/types/btf_file.h"
#include "kernel/types/dwarf.h"
#include "kernel/types/same_kernel.h"
#include "symbol/find_btf.h"

#define MOST_BTF ((size_t)64 << 20)

void pdet_image_drop_types(struct image *im)
{
	pdet_btf_free(im->btf);
	free(im->btf_data);
	if (im->btf_mapped)
		munmap((void *)im->btf_mapped, im->btf_len);
	im->btf = NULL;
	im->btf_data = NULL;
	im->btf_mapped = NULL;
}

/* --- using types --- */

/*
 * Use types that were read into im->btf_data, or that are mapped. @what names
 * them in messages.
 */
static int take(struct image *im, struct pdet_env *env, size_t len,
		const char *what)
{
	bool damaged;

	im->btf = pdet_btf_new(im->btf_mapped ? im->btf_mapped : im->btf_data,
			       len, &damaged);
	if (im->btf)
		return 0;
	return damaged ? pdet_fail(env, EBADMSG, "cannot read %s: they are not "
				   "BTF, or are damaged", what) :
			 pdet_fail(env, ENOMEM, "no memory");
}

/* Check the types against what is already known. */
static int check(struct image *im, struct pdet_env *env, const char *what)
{
	struct pdet_types_difference d;

	if (!pdet_types_agree(&im->info, im->btf, &d))
		return pdet_fail(env, EBADMSG, "cannot use %s: they are those "
				 "of another kernel, or damaged: for %s, "
				 "VMCOREINFO says %lld, and they say %lld",
				 what,
				 d.name, (long long)d.info,
				 (long long)d.types);
	if (!pdet_layout_add_types(&im->layout, im->btf))
		return pdet_fail(env, EBADMSG, "cannot use %s: they are those "
				 "of another kernel, or damaged", what);
	return 0;
}

static int use(struct image *im, struct pdet_env *env, size_t len,
	       const char *what)
{
	int r = take(im, env, len, what);

	if (r == 0)
		r = check(im, env, what);
	if (r < 0)
		pdet_image_drop_types(im);
	return r;
}

/* --- sources of types --- */

static int from_file(struct image *im, struct pdet_env *env, const char *path,
		     const char *what)
{
	struct pdet_env here = { .root = (char *)"" };
	struct pdet_text text;
	int r = pdet_slurp(&here, &text, MOST_BTF, "%s", path);

	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read %s", path);
	}
	im->btf_data = text.data;
	return use(im, env, text.len, what);
}

/* The running kernel's types, without a copy if possible. */
static int from_kernel(struct image *im, struct pdet_env *env)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	static const char what[] = "the kernel's types (BTF)";
	struct pdet_env here = { .root = (char *)"" };
	const int fd = pdet_open(&here, path);

	if (fd >= 0) {
		im->btf_mapped = pdet_btf_file_map(fd, MOST_BTF, &im->btf_len);
		close(fd);
	}
	return im->btf_mapped ? use(im, env, im->btf_len, what) :
				from_file(im, env, path, what);
}

/* Returns 1 if there are none. */
static int from_vmlinux(struct image *im, struct pdet_env *env)
{
	size_t len;
	int r;

	if (!im->options->vmlinux)
		return 1;
	r = pdet_image_vmlinux(im, env);
	if (r < 0)
		return r;
	r = pdet_vmlinux_btf(&im->vmlinux, &im->btf_data, &len);
	if (r == -ENOENT)
		return 1;
	im->vmlinux_types = true;
	if (r < 0)
		return pdet_fail(env, -r, "cannot read the types (BTF) in %s",
				 im->options->vmlinux);
	return use(im, env, len, "the types (BTF) in vmlinux");
}

static int from_debug_info(struct image *im, struct pdet_env *env)
{
	int r;

	im->vmlinux_types = true;
	r = pdet_vmlinux_dwarf(&im->vmlinux, env);
	if (r == 0)
		r = pdet_dwarf_types(env, im->vmlinux.fd, &im->btf);
	if (r == 0)
		r = check(im, env, "the types in vmlinux");
	else
		pdet_context(env, "cannot read the types in %s",
			     im->options->vmlinux);
	if (r < 0)
		pdet_image_drop_types(im);
	return r;
}

static int find_own(struct image *im, struct pdet_env *env, size_t *len)
{
	int r = pdet_image_symbols(im, env);

	r = pdet_find_btf(&im->space, &im->info, r == 0 ? &im->kallsyms : NULL,
			  &im->btf_data, len);
	if (r == -ENOENT)
		return pdet_fail(env, ENODATA, "cannot find the kernel's "
				 "types (BTF) in its memory: give them with "
				 "--btf or --vmlinux");
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read the kernel's types");
	}
	return 0;
}

/* It is unknown which of the two is right. */
static void doubt(struct image *im, struct pdet_env *env)
{
	pdet_layout_doubt(&im->layout, im->btf);
	pdet_log(env, PAGEDET_LOG_WARNING, "%s; values that depend on the "
		 "difference are unknown, and the types are not used",
		 env->error);
	if (im->layout.pages)
		return;
	pdet_context(env, "cannot read struct page");
	im->pages.error = -EBADMSG;
	snprintf(im->pages.advice, sizeof(im->pages.advice), "%.*s",
		 (int)sizeof(im->pages.advice) - 1, env->error);
}

static int from_memory(struct image *im, struct pdet_env *env, bool last)
{
	const char *const what = "the kernel's types (BTF)";
	size_t len;
	int r;

	r = find_own(im, env, &len);
	if (r < 0)
		return r;
	r = take(im, env, len, what);
	if (r == 0) {
		r = check(im, env, what);
		if (r < 0 && last)
			doubt(im, env);
	}
	if (r < 0)
		pdet_image_drop_types(im);
	return r;
}

int pdet_image_find_types(struct image *im, struct pdet_env *env)
{
	bool debug_info;
	int r;

	if (im->options->btf)
		return from_file(im, env, im->options->btf,
				 "these types (BTF)");
	if (im->memory->live && from_kernel(im, env) == 0)
		return 0;
	r = from_vmlinux(im, env);
	if (r <= 0)
		return r;
	debug_info = im->options->vmlinux &&
		     pdet_vmlinux_dwarf(&im->vmlinux, env) != -ENOENT;
	r = from_memory(im, env, !debug_info);
	if (r == 0 || !debug_info)
		return r;
	return from_debug_info(im, env);
}
