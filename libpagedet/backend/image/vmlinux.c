/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks the vmlinux that the caller gave, and finds how the kernel was
 * relocated at boot (KASLR). The image moves as a whole; per-CPU symbols do not
 * move.
 */
#include "backend/image/image.h"

/*
 * The kernel is at the addresses in the file, or is moved up by a multiple of
 * this.
 */
#define MOVED_BY ((uint64_t)4096)

enum { STEXT, ROOT, OLD_ROOT, TEXT, END, SYMBOLS };

static int open_vmlinux(struct image *im, struct pdet_env *env)
{
	const char *path = im->options->vmlinux;
	struct pdet_vmlinux *v = &im->vmlinux;
	struct pdet_build_id id = { .n = 0 };
	int r;

	r = pdet_vmlinux_open(v, env, path);
	/*
	 * For the running kernel, the vmlinux was checked when the caller named
	 * it.
	 */
	if (r < 0 || !im->memory || im->memory->live)
		return r;
	if (im->base.error == 0)
		pdet_build_id_info(&id, &im->info);
	r = pdet_vmlinux_check(v, env, path, im->memory->machine, &id);
	if (r < 0)
		pdet_vmlinux_close(v);
	return r;
}

int pdet_image_vmlinux(struct image *im, struct pdet_env *env)
{
	int r;

	if (!im->options->vmlinux)
		return 0;
	if (!im->vmlinux_open.tried) {
		im->vmlinux_open.tried = true;
		r = open_vmlinux(im, env);
		if (r < 0)
			(void)pdet_image_note(&im->vmlinux_open, env, r);
	}
	return im->vmlinux_open.error ?
	       pdet_image_fail(env, &im->vmlinux_open) : 0;
}

/* Two symbols from VMCOREINFO must give the same offset. */
static bool find_move(struct image *im, struct pdet_vmlinux_move *ret)
{
	struct pdet_symbol s[SYMBOLS] = {
		[STEXT] = { .name = "_stext" },
		/* swapper_pg_dir on x86-64 until 4.16, and on arm64 */
		[ROOT] = { .name = "init_top_pgt" },
		[OLD_ROOT] = { .name = "swapper_pg_dir" },
		[TEXT] = { .name = "_text" }, [END] = { .name = "_end" },
	};
	uint64_t addr;
	unsigned i, n = 0;

	pdet_vmlinux_find(&im->vmlinux, s, SYMBOLS);
	for (i = STEXT; i <= OLD_ROOT; i++) {
		if (!s[i].found || !pdet_vmcoreinfo_symbol(&im->info,
							   s[i].name, &addr))
			continue;
		if (n++ && addr - s[i].address != ret->by)
			return false;
		ret->by = addr - s[i].address;
	}
	ret->first = s[TEXT].address;
	ret->end = s[END].address;
	return n && ret->by % MOVED_BY == 0 && s[TEXT].found && s[END].found &&
	       ret->first < ret->end;
}

bool pdet_image_vmlinux_symbols(struct image *im, struct pdet_env *env,
				struct pdet_kallsyms *ret)
{
	struct pdet_vmlinux_move move = { .by = 0 };

	return pdet_image_vmlinux(im, env) == 0 && find_move(im, &move) &&
	       pdet_vmlinux_symbols(&im->vmlinux, &move, ret) == 0;
}

void pdet_image_vmlinux_close(struct image *im)
{
	if (im->vmlinux_open.tried && im->vmlinux_open.error == 0)
		pdet_vmlinux_close(&im->vmlinux);
}
