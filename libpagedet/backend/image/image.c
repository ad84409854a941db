/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Helpers for all other files of the room: they open the memory and find its
 * page tables, store the reason why a part of the kernel is not known, and turn
 * failed reads into states of cells.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/image/image.h"
#include "base/io.h"
#include "memory/open.h"

/* One thread's cache of decompressed pages. */
#define CACHE_BYTES ((size_t)8 << 20)
/* --- why a part is not there --- */

/* Move the failure in @env to the part. After a cancel or timeout the next
 * query tries again. */
int pdet_image_note(struct image_part *part, struct pdet_env *env, int error)
{
	part->error = error;
	if (env->stop && env->stop(env->stop_arg))
		part->tried = false;
	snprintf(part->advice, sizeof(part->advice), "%.*s",
		 (int)sizeof(part->advice) - 1, env->error);
	pdet_clear(env);
	return error;
}

void pdet_image_say_cut(const struct image *im, struct pdet_env *env, int error)
{
	const struct pdet_memory *m = im->memory;
	const char *why = strerror(EIO);
	size_t len = strlen(env->error), tail = strlen(why) + 2;

	if (error != -EIO || !m || !m->ends_at)
		return;
	/* This is why, and no device failed. */
	if (len > tail && !strcmp(env->error + len - tail + 2, why))
		env->error[len - tail] = '\0';
	pdet_add_words(env, ": the file is cut: it ends at %llu ",
		       (unsigned long long)m->ends_at);
	if (m->whole)
		pdet_add_words(env, "of %llu ", (unsigned long long)m->whole);
	pdet_add_words(env, "bytes, and %llu KiB of memory are missing",
		       (unsigned long long)m->missing / 1024);
}

int pdet_image_fail(struct pdet_env *env, const struct image_part *part)
{
	return pdet_fail(env, -part->error, "%s", part->advice);
}

int pdet_image_note_like(struct image_part *part,
			 const struct image_part *needs)
{
	part->error = needs->error;
	part->tried = needs->tried;
	memcpy(part->advice, needs->advice, sizeof(part->advice));
	return part->error;
}

/* --- why a cell has no answer --- */

unsigned pdet_image_reason(int error)
{
	switch (error) {
	case -ENODATA:
		return PAGEDET_EXCLUDED;
	case -ENOENT:
		return PAGEDET_CORRUPT;
	default:
		return pdet_reason_of(error);
	}
}

unsigned pdet_image_kernel_reason(const struct image_session *s, int error)
{
	return pdet_live_reason(s->image->memory->live,
				pdet_image_reason(error));
}

/* --- the memory --- */

int pdet_image_reader_new(struct image *im, struct pdet_env *env,
			  struct pdet_reader **ret)
{
	int r = im->memory->ops->reader_new(im->memory, CACHE_BYTES, ret);

	if (r == 0)
		return 0;
	/* Creating a reader of a dump only fails if memory is short. */
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	errno = -r;
	return pdet_fail_errno(env, "cannot read the running kernel's memory");
}

static bool nobody_waits(void *arg)
{
	const struct image *im = arg;

	return im->env->stop && im->env->stop(im->env->stop_arg);
}

int pdet_image_opened(struct image *im, struct pdet_env *env)
{
	int r;

	im->source = im->memory->ops->source;
	r = pdet_image_reader_new(im, env, &im->reader);
	if (r < 0) {
		pdet_memory_close(im->memory);
		im->memory = NULL;
		return r;
	}
	im->reader->stop.ask = nobody_waits;
	im->reader->stop.arg = im;
	return 0;
}

/* Merge text and advice: a part stores one text. */
static void keep_why(struct pdet_env *env)
{
	pdet_context(env, "cannot read the running kernel's memory");
	if (*env->advice)
		pdet_add_words(env, "; %s", env->advice);
}

int pdet_image_open_live(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->live.tried)
		return im->live.error;
	im->live.tried = true;
	r = pdet_memory_open_live(env, im->backend.sources, &im->memory);
	if (r < 0)
		keep_why(env);
	else
		r = pdet_image_opened(im, env);
	return r < 0 ? pdet_image_note(&im->live, env, r) : 0;
}

/* --- VMCOREINFO and page tables --- */

static int read_base(struct image *im, struct pdet_env *env)
{
	const char *text = im->memory->vmcoreinfo;
	size_t len = im->memory->vmcoreinfo_len;
	int r;

	if (!text) {
		r = pdet_image_read_vmcoreinfo(im, env);
		if (r < 0)
			return r;
		text = im->vmcoreinfo_text.data;
		len = im->vmcoreinfo_text.len;
	}
	if (!text && im->memory->notes_lost) {
		errno = EIO;
		return pdet_fail_errno(env, "needs VMCOREINFO, but the notes "
				       "of the dump cannot be read");
	}
	if (!text)
		return pdet_fail(env, ENODATA, "needs VMCOREINFO, which the "
				 "dump does not have: give it with "
				 "--vmcoreinfo");
	if (!pdet_vmcoreinfo_parse(&im->info, text, len))
		return pdet_fail(env, ENOMEM, "no memory");
	if (!pdet_paging_set_up(&im->paging, env, im->memory->machine,
				&im->info))
		return -ENODATA;
	pdet_space_init(&im->space, im->reader, &im->paging);
	return 0;
}

int pdet_image_base(struct image *im, struct pdet_env *env)
{
	int r;

	if (im->base.tried)
		return im->base.error;
	im->base.tried = true;
	if (pdet_image_open_live(im, env) < 0)
		return pdet_image_note_like(&im->base, &im->live);
	r = read_base(im, env);
	pdet_image_say_cut(im, env, r);
	return r < 0 ? pdet_image_note(&im->base, env, r) : 0;
}
