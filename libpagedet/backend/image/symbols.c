/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds addresses by name. Kernels without CONFIG_KALLSYMS_ALL (arm64 in Debian
 * 12) name only functions; a vmlinux names everything. Without a vmlinux, data
 * exported to modules is found in the image.
 */
#include <errno.h>
#include <string.h>

#include "backend/image/image.h"
#include "backend/image/kernel.h"
#include "symbol/exports.h"
#include "symbol/modules.h"

/* Exported data symbols that this room needs. */
static const char *const exported[PDET_IMAGE_EXPORTS] = {
	"empty_zero_page", "init_task", "node_data",
};

static bool has_data(const struct pdet_kallsyms *k)
{
	struct pdet_symbol init = { .name = "init_task" };

	pdet_kallsyms_find(k, &init, 1);
	return init.found;
}

/* Use the symbols of the vmlinux if it has more. */
static int complete(struct image *im, struct pdet_env *env, int error)
{
	struct pdet_kallsyms all;

	if (!im->options->vmlinux || (error == 0 && has_data(&im->kallsyms)) ||
	    !pdet_image_vmlinux_symbols(im, env, &all))
		return error;
	pdet_kallsyms_free(&im->kallsyms);
	im->kallsyms = all;
	pdet_clear(env);
	return 0;
}

int pdet_image_symbols(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->symbols.tried)
		return im->symbols.error;
	im->symbols.tried = true;
	if (pdet_image_base(im, env) < 0)
		return pdet_image_note_like(&im->symbols, &im->base);
	r = pdet_kallsyms_read(&im->kallsyms, env, &im->space, &im->info);
	r = complete(im, env, r);
	return r < 0 ? pdet_image_note(&im->symbols, env, r) : 0;
}

/*
 * The addresses of exported symbols, in the order of the list above. One search
 * finds all of them.
 */
static const struct pdet_symbol *exports(struct image *im)
{
	size_t i;

	if (im->exports_tried)
		return im->exports;
	im->exports_tried = true;
	for (i = 0; i < PDET_IMAGE_EXPORTS; i++)
		im->exports[i].name = exported[i];
	pdet_exports_find(&im->space, &im->info, im->exports,
			  PDET_IMAGE_EXPORTS);
	return im->exports;
}

static void find_export(struct image *im, struct pdet_symbol *symbol)
{
	size_t i;

	for (i = 0; i < PDET_IMAGE_EXPORTS; i++)
		if (!strcmp(exported[i], symbol->name))
			*symbol = exports(im)[i];
}

/* With BPF there are faster ways. */
static void find_exports(struct image *im, struct pdet_symbol *symbols,
			 size_t n)
{
	size_t i;

	for (i = 0; i < n && !im->memory->ops->current_task; i++)
		if (!symbols[i].found)
			find_export(im, &symbols[i]);
}

void pdet_image_find(struct image *im, struct pdet_env *env,
		     struct pdet_symbol *symbols, size_t n)
{
	if (pdet_image_symbols(im, env) == 0)
		pdet_kallsyms_find(&im->kallsyms, symbols, n);
	find_exports(im, symbols, n);
}

/* --- one symbol, for the caller --- */

/* Whether the kernel has modules, as far as its functions tell. */
static bool may_have_modules(const struct image *im)
{
	struct pdet_symbol s = { .name = "__symbol_get" };

	pdet_kallsyms_find(&im->kallsyms, &s, 1);
	return s.found;
}

/* Returns 0, -ENOENT if no module has it, or -ENODATA if that is not known. */
static int find_in_modules(struct image *im, struct pdet_env *env,
			   const char *name, uint64_t *ret)
{
	int r = -ENODATA;

	if (!may_have_modules(im))
		return -ENOENT;
	if (pdet_image_types(im, env) == 0)
		pdet_image_kernel_names(im, env);
	pdet_clear(env);
	if (im->kernel.has_modules)
		r = pdet_module_named(&im->space, &im->kernel.modules, name,
				      ret);
	return r < 0 && r != -ENOENT ? -ENODATA : r;
}

static void find_one_export(struct image *im, struct pdet_symbol *symbol)
{
	/* With BPF, that would read the whole image by system calls. */
	if (!im->memory->ops->current_task)
		pdet_exports_find(&im->space, &im->info, symbol, 1);
}

/* VMCOREINFO has some data symbols that kallsyms may lack. */
static void find_data(struct image *im, struct pdet_symbol *s)
{
	if (pdet_vmcoreinfo_symbol(&im->info, s->name, &s->address))
		s->found = true;
	else if (!im->symbols.error && !has_data(&im->kallsyms))
		find_one_export(im, s);
}

/* Neither a definite no nor an answer. */
static int cannot_tell(struct pdet_env *env, const char *name, bool data,
		       bool modules)
{
	pdet_fail(env, ENODATA, "cannot tell whether there is a symbol '%s': "
		  "the kernel's own table has only %s%s", name, data ?
		  "its own symbols" : "functions",
		  modules ? "" : ", and the symbols of its modules cannot be "
		  "read here");
	if (!data)
		pdet_advise(env, "the kernel was built without "
			    "CONFIG_KALLSYMS_ALL; its vmlinux names all of its "
			    "data, also the list of modules");
	return -ENODATA;
}

int pdet_image_symbol_at(struct pdet_backend *b, struct pdet_env *env,
		      const char *name, uint64_t *ret)
{
	struct pdet_symbol s = { .name = name };
	struct image *im = image_of(b);
	bool data;
	int r;

	if (strlen(name) < PDET_SYMBOL_NAME &&
	    pdet_image_symbols(im, env) == 0)
		pdet_kallsyms_find(&im->kallsyms, &s, 1);
	if (!s.found)
		find_data(im, &s);
	if (s.found) {
		*ret = s.address;
		return 0;
	}
	if (im->symbols.error)
		return pdet_image_fail(env, &im->symbols);
	r = find_in_modules(im, env, name, ret);
	if (r == 0)
		return 0;
	data = has_data(&im->kallsyms);
	if (!data || r != -ENOENT)
		return cannot_tell(env, name, data, r == -ENOENT);
	return pdet_fail(env, ENOENT, "the kernel has no symbol '%s', and "
			 "neither has any of its modules", name);
}

void pdet_image_pick(struct image *im, struct pdet_env *env,
		     struct pdet_symbol *symbols, size_t n)
{
	/* Tables that must be searched for are kept. */
	if (im->symbols.tried || im->options->vmlinux ||
	    pdet_image_base(im, env) < 0 ||
	    pdet_kallsyms_pick(&im->space, &im->info, symbols, n) == -ENODATA)
		pdet_image_find(im, env, symbols, n);
	else
		find_exports(im, symbols, n);
}
