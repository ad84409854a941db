/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The sources whose answers are out of a kernel's own structures: opening,
 * closing, and what can be answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/image_owner.h"
#include "base/io.h"
#include "memory/machine.h"

#define LIVE \
	(PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF) | \
	 PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE))

/* Of pages that were decompressed, one thread's. */
#define CACHE_BYTES ((size_t)8 << 20)

static int open_file(struct pdet_env *env, const char *path)
{
	/* Named by the caller: not below the root. Nonblocking, because it
	 * may be a pipe that nobody writes to. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd >= 0 ? fd : pdet_fail_errno(env, "cannot open %s", path);
}

static void close_files(int *fds, size_t n)
{
	while (n)
		close(fds[--n]);
	free(fds);
}

static int open_files(struct pdet_env *env, const struct pdet_input *in,
		      int **ret)
{
	const size_t n = in->options->n_files;
	int *fds = calloc(n, sizeof(*fds));
	size_t i;

	if (!fds)
		return pdet_fail(env, ENOMEM, "no memory");
	for (i = 0; i < n; i++) {
		fds[i] = open_file(env, in->options->files[i]);
		if (fds[i] < 0) {
			const int r = fds[i];

			close_files(fds, i);
			return r;
		}
	}
	*ret = fds;
	return 0;
}

static int image_probe(struct pdet_env *env, const struct pdet_input *in)
{
	const struct pdet_memory_ops *const *ops;
	int fd, ours = 0;

	if (!in->options->n_files)
		return !*env->root && in->sources & LIVE ? 40 : 0;
	fd = open_file(env, in->options->files[0]);
	if (fd < 0)
		return fd;
	for (ops = pdet_memories; *ops && !ours; ops++)
		if ((*ops)->probe(env, &fd, 1))
			ours = 100;
	close(fd);
	return ours;
}

/* Dumps are read with memory alone. */
static int refuse_reader(struct pdet_env *env, int r)
{
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	errno = -r;
	return pdet_fail_errno(env, "cannot read the running kernel's memory");
}

/* What follows when its memory is open. */
static int set_up(struct image *im, struct pdet_env *env)
{
	int r;

	im->source = im->memory->ops->source;
	r = im->memory->ops->reader_new(im->memory, CACHE_BYTES, &im->reader);
	if (r == 0)
		return 0;
	pdet_memory_close(im->memory);
	im->memory = NULL;
	return refuse_reader(env, r);
}

/* What is noted is one text, and what would help is a part of it. */
static void keep_why(struct pdet_env *env)
{
	size_t len;

	pdet_context(env, "cannot read the running kernel's memory");
	len = strlen(env->error);
	if (*env->advice)
		snprintf(env->error + len, sizeof(env->error) - len, "; %s",
			 env->advice);
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
		r = set_up(im, env);
	return r < 0 ? pdet_image_note(&im->live, env, r) : 0;
}

static void image_close(struct pdet_backend *b)
{
	struct image *im = image_of(b);

	pdet_image_unload(im);
	if (!im->memory)
		return;
	im->memory->ops->reader_free(im->reader);
	pdet_memory_close(im->memory);
	close_files(im->fds, im->n_fds);
}

static int refuse_machine(struct image *im, struct pdet_env *env)
{
	char buf[PDET_MACHINE_WORDS];

	pdet_fail(env, ENOTSUP, "cannot read %s: it is a dump of a machine of "
		  "another kind (%s)", im->options->files[0],
		  pdet_machine_words(im->memory->machine, buf));
	pdet_advise(env, "dumps of x86_64 and aarch64 can be read");
	return -ENOTSUP;
}

static int image_open(struct pdet_backend *b, struct pdet_env *env,
		      const struct pdet_input *in)
{
	struct image *im = image_of(b);
	int r;

	im->options = in->options;
	if (!in->options->n_files) {
		b->sources &= LIVE;
		b->dear = true;
		return 0;
	}
	r = pdet_image_read_vmcoreinfo(im, env);
	if (r == 0)
		r = open_files(env, in, &im->fds);
	if (r < 0) {
		pdet_text_free(&im->vmcoreinfo_text);
		return r;
	}
	im->n_fds = in->options->n_files;
	r = pdet_memory_open_with(env, im->fds, im->n_fds,
				  im->vmcoreinfo_text.data,
				  im->vmcoreinfo_text.len, &im->memory);
	if (r < 0) {
		pdet_context(env, "cannot read %s", in->options->files[0]);
		pdet_text_free(&im->vmcoreinfo_text);
		close_files(im->fds, im->n_fds);
		return r;
	}
	b->sources &= PAGEDET_SOURCE_BIT(im->memory->ops->source);
	r = set_up(im, env);
	if (r < 0) {
		pdet_text_free(&im->vmcoreinfo_text);
		close_files(im->fds, im->n_fds);
		return r;
	}
	im->live.tried = true;
	if (!pdet_paging_knows(im->memory->machine)) {
		r = refuse_machine(im, env);
		image_close(b);
		return r;
	}
	/* Without VMCOREINFO there is little to say, and that is said then. */
	if (pdet_image_base(im, env) == 0)
		b->page_size = (uint64_t)1 << im->paging.page_shift;
	r = pdet_image_check_vmcoreinfo(im, env);
	if (r == 0)
		r = pdet_image_vmlinux(im, env);
	if (r < 0)
		image_close(b);
	return r;
}

static void image_info(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_kernel_info *ret)
{
	struct image *im = image_of(b);
	const struct pdet_ranges *r;
	const char *arch;

	/* A live one is asked only if there is nothing cheaper. */
	if (!im->live.tried && ret->page_size)
		return;
	if (pdet_image_base(im, env) < 0 && !im->memory)
		return;
	r = &im->memory->ranges;
	ret->live = im->memory->live;
	ret->big_endian = im->memory->big_endian;
	arch = pdet_machine_name(im->memory->machine);
	snprintf(ret->arch, sizeof(ret->arch), "%s", arch ? arch : "");
	snprintf(ret->release, sizeof(ret->release), "%s",
		 im->memory->release);
	if (im->base.error)
		return;
	ret->page_size = (uint64_t)1 << im->paging.page_shift;
	if (r->n)
		ret->max_pfn = (r->data[r->n - 1].last >>
				im->paging.page_shift) + 1;
}

/* --- what can be answered --- */

static void survey_part(struct pdet_ability *a, int error,
			const struct image_part *part)
{
	if (error == 0)
		return;
	a->reason = (uint8_t)(error == -EACCES ? PAGEDET_NO_ACCESS :
			      error == -ENOTSUP ? PAGEDET_NO_KERNEL :
			      error == -ENOMEM ? PAGEDET_NO_MEMORY :
			      error == -EIO ? PAGEDET_IO :
			      error == -EBADMSG ? PAGEDET_CORRUPT :
			      PAGEDET_NO_TYPES);
	snprintf(a->advice, sizeof(a->advice), "%.*s",
		 (int)sizeof(a->advice) - 1, part->advice);
}

static bool of_task(uint32_t target)
{
	return target == PAGEDET_TARGET_VIRT ||
	       target == PAGEDET_TARGET_TASK ||
	       target == PAGEDET_TARGET_MAPPERS;
}

/* Targets that are visited by page frame number. */
static bool by_number(uint32_t target)
{
	return target == PAGEDET_TARGET_PFN ||
	       target == PAGEDET_TARGET_PHYS ||
	       target == PAGEDET_TARGET_SCAN ||
	       target == PAGEDET_TARGET_NOTHING;
}

static bool of_file(uint32_t target)
{
	return target == PAGEDET_TARGET_FILE ||
	       target == PAGEDET_TARGET_TREE ||
	       target == PAGEDET_TARGET_MOUNT ||
	       target == PAGEDET_TARGET_BLOCK;
}

/* What is to be known for a field that no other file here knows. */
enum { NEEDS_OTHERS, NEEDS_FRAMES, NEEDS_PAGES, NEEDS_TABLES, NEEDS_TASKS,
       NEEDS_FILES, NEEDS_MEMCGS, NEEDS_ZONES, NEEDS_SLABS, NEEDS_BYTES,
       NEEDS };

static const uint8_t needs[PAGEDET_FIELDS_MAX] = {
	[PAGEDET_FIELD_PFN] = NEEDS_FRAMES,
	[PAGEDET_FIELD_KIND] = NEEDS_PAGES,
	[PAGEDET_FIELD_FLAGS] = NEEDS_PAGES,
	[PAGEDET_FIELD_FLAGS_KNOWN] = NEEDS_PAGES,
	[PAGEDET_FIELD_RAW_FLAGS] = NEEDS_PAGES,
	[PAGEDET_FIELD_REFCOUNT] = NEEDS_PAGES,
	[PAGEDET_FIELD_MAPCOUNT] = NEEDS_PAGES,
	[PAGEDET_FIELD_MAPCOUNT_KIND] = NEEDS_PAGES,
	[PAGEDET_FIELD_PINCOUNT] = NEEDS_PAGES,
	[PAGEDET_FIELD_HEAD_PFN] = NEEDS_PAGES,
	[PAGEDET_FIELD_ORDER] = NEEDS_PAGES,
	[PAGEDET_FIELD_KERNEL_MAPS] = NEEDS_TABLES,
	[PAGEDET_FIELD_VADDR] = NEEDS_TASKS,
	[PAGEDET_FIELD_PID] = NEEDS_TASKS,
	[PAGEDET_FIELD_TGID] = NEEDS_TASKS,
	[PAGEDET_FIELD_COMM] = NEEDS_TASKS,
	[PAGEDET_FIELD_PTE] = NEEDS_TASKS,
	[PAGEDET_FIELD_PTE_KNOWN] = NEEDS_TASKS,
	[PAGEDET_FIELD_PTE_LEVEL] = NEEDS_TASKS,
	[PAGEDET_FIELD_SWAP_TYPE] = NEEDS_TASKS,
	[PAGEDET_FIELD_SWAP_OFFSET] = NEEDS_TASKS,
	[PAGEDET_FIELD_VMA_START] = NEEDS_TASKS,
	[PAGEDET_FIELD_VMA_END] = NEEDS_TASKS,
	[PAGEDET_FIELD_VMA_PROT] = NEEDS_TASKS,
	[PAGEDET_FIELD_VMA_NAME] = NEEDS_TASKS,
	[PAGEDET_FIELD_MAP] = NEEDS_TASKS,
	[PAGEDET_FIELD_DEV] = NEEDS_FILES,
	[PAGEDET_FIELD_INODE] = NEEDS_FILES,
	[PAGEDET_FIELD_INDEX] = NEEDS_FILES,
	[PAGEDET_FIELD_PATH] = NEEDS_FILES,
	[PAGEDET_FIELD_MEMCG_INO] = NEEDS_MEMCGS,
	[PAGEDET_FIELD_MEMCG_PATH] = NEEDS_MEMCGS,
	[PAGEDET_FIELD_MEMCG_NAME] = NEEDS_MEMCGS,
	[PAGEDET_FIELD_NODE] = NEEDS_ZONES,
	[PAGEDET_FIELD_ZONE] = NEEDS_ZONES,
	[PAGEDET_FIELD_SLAB_CACHE] = NEEDS_SLABS,
	[PAGEDET_FIELD_CONTENT] = NEEDS_BYTES,
};

static const uint8_t costs[NEEDS] = {
	[NEEDS_TABLES] = PAGEDET_COST_SWEEP,
	[NEEDS_FILES] = PAGEDET_COST_LOOKUP,
	[NEEDS_MEMCGS] = PAGEDET_COST_LOOKUP,
	[NEEDS_ZONES] = PAGEDET_COST_LOOKUP,
	[NEEDS_SLABS] = PAGEDET_COST_LOOKUP,
	[NEEDS_BYTES] = PAGEDET_COST_CONTENT,
};

static void survey_field(struct pdet_backend *b, struct pdet_env *env,
			 uint32_t target, unsigned field, unsigned source,
			 struct pdet_ability *ret)
{
	struct image *im = image_of(b);
	const struct image_part *part;

	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_HAVE;
	/* One of the live ones is enough. */
	if (pdet_image_open_live(im, env) == 0 && source != im->source) {
		ret->reason = PAGEDET_UNSUPPORTED;
		snprintf(ret->advice, sizeof(ret->advice),
			 "not needed: %s is there",
			 pdet_source_name(im->source));
		return;
	}
	if (pdet_image_kernel_field(target, field, ret)) {
		survey_part(ret, pdet_image_kernel_areas(im, env),
			    &im->kernel_areas);
		return;
	}
	part = pdet_image_page_owner_part(im, env, field);
	if (part) {
		ret->cost = PAGEDET_COST_LOOKUP;
		survey_part(ret, part->error, part);
		return;
	}
	ret->cost = costs[needs[field]];
	switch (needs[field]) {
	case NEEDS_FRAMES:
		if (of_task(target))
			survey_part(ret, pdet_image_task_types(im, env),
				    &im->tasks);
		else if (of_file(target))
			survey_part(ret, pdet_image_lists(im, env),
				    &im->lists);
		else if (!by_number(target))
			ret->reason = PAGEDET_UNSUPPORTED;
		return;
	case NEEDS_TASKS:
		survey_part(ret, pdet_image_task_types(im, env), &im->tasks);
		return;
	case NEEDS_FILES:
		survey_part(ret, pdet_image_files(im, env), &im->files);
		return;
	case NEEDS_MEMCGS:
		survey_part(ret, pdet_image_memcgs(im, env), &im->memcgs);
		return;
	case NEEDS_ZONES:
		survey_part(ret, pdet_image_zones(im, env), &im->zones);
		return;
	case NEEDS_TABLES:
	case NEEDS_BYTES:
		survey_part(ret, pdet_image_base(im, env), &im->base);
		return;
	case NEEDS_SLABS:
		survey_part(ret, pdet_image_slabs(im, env), &im->slabs);
		return;
	case NEEDS_PAGES:
		survey_part(ret, pdet_image_pages(im, env), &im->pages);
		return;
	default:
		ret->reason = PAGEDET_UNSUPPORTED;
		return;
	}
}

/* What VMCOREINFO alone tells, if not all of it. */
static bool needs_no_types(unsigned field)
{
	return needs[field] == NEEDS_FRAMES || needs[field] == NEEDS_PAGES ||
	       needs[field] == NEEDS_TABLES || needs[field] == NEEDS_BYTES ||
	       field == PAGEDET_FIELD_OBJECT;
}

static void image_survey(struct pdet_backend *b, struct pdet_env *env,
			 uint32_t target, unsigned field, unsigned source,
			 struct pdet_ability *ret)
{
	struct image *im = image_of(b);

	survey_field(b, env, target, field, source, ret);
	if (im->memory && !im->memory->live &&
	    ret->reason != PAGEDET_UNSUPPORTED)
		ret->tier = needs_no_types(field) ? PAGEDET_TIER_VMCOREINFO :
						    PAGEDET_TIER_TYPES;
}

/* What flags mean is mostly said by types. */
static int image_prepare(struct pdet_backend *b, struct pdet_env *env,
			 const struct pdet_wants *wants)
{
	static const uint8_t typed[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN,
	};
	/* Of a page of one frame VMCOREINFO says all. */
	static const uint8_t of_large[] = {
		PAGEDET_FIELD_MAPCOUNT, PAGEDET_FIELD_MAPCOUNT_KIND,
		PAGEDET_FIELD_PINCOUNT, PAGEDET_FIELD_ORDER,
	};
	struct image *im = image_of(b);
	bool types = false, pages;
	size_t i;
	int r;

	for (i = 0; i < PDET_COUNT(typed); i++)
		types |= pdet_fields_has(&wants->fields, typed[i]);
	for (i = 0; i < PDET_COUNT(of_large) && !wants->alone; i++)
		types |= pdet_fields_has(&wants->fields, of_large[i]);
	/* Where they cannot be had, less is known, which each row says. */
	pages = pdet_image_pages(im, env) == 0;
	r = pages && types &&
	    !(wants->fold && pdet_image_kinds(im, env) == 0) ?
	    pdet_image_types(im, env) : 0;
	if (r < 0 && (im->options->btf || im->vmlinux_types ||
		      pdet_is_shortage(r)))
		return pdet_image_fail(env, &im->types);
	/* The types showed that nothing is known of them. */
	if (pages && im->pages.error)
		return pdet_image_fail(env, &im->pages);
	/* Mappings of the kernel's own are found without tasks. */
	if (wants->walks && of_task(wants->target) &&
	    wants->target != PAGEDET_TARGET_MAPPERS &&
	    pdet_image_task_types(im, env) < 0)
		return pdet_image_fail(env, &im->tasks);
	if (wants->walks && of_file(wants->target) &&
	    pdet_image_lists(im, env) < 0)
		return pdet_image_fail(env, &im->lists);
	pdet_image_page_owner_prepare(im, env, wants);
	if (pdet_image_bytes_prepare(im, env, wants) < 0)
		return -ENOMEM;
	return pdet_image_kernel_prepare(im, env, wants);
}

/* --- sessions --- */

static void image_session_free(struct pdet_session *base)
{
	struct image_session *s = (struct image_session *)base;

	if (!s)
		return;
	if (s->reader)
		s->image->memory->ops->reader_free(s->reader);
	if (s->owners)
		pdet_image_owners_clear(s->owners);
	free(s->owners);
	if (s->counts)
		pdet_kernel_counts_free(s->counts);
	free(s->counts);
	pdet_vec_free(&s->tasks);
	pdet_image_stacks_free(s->stacks);
	free(s->records);
	free(s->fold);
	free(s->column.flags);
	free(s->column.memory);
	free(s->pages);
	free(s);
}

static int image_session_new(struct pdet_backend *b, struct pdet_env *env,
			     const struct pdet_wants *wants,
			     struct pdet_session **ret)
{
	struct image *im = image_of(b);
	struct image_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->session.backend = b;
	s->session.env = *env;
	s->session.wants = wants;
	s->image = im;
	/* Nothing is asked of a live one that could not be opened. */
	r = im->memory ? im->memory->ops->reader_new(im->memory, CACHE_BYTES,
						     &s->reader) : 0;
	if (r < 0) {
		image_session_free(&s->session);
		return refuse_reader(env, r);
	}
	*ret = &s->session;
	return 0;
}

const struct pdet_backend_ops pdet_image_ops = {
	.name = "image",
	.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE) | LIVE,
	.size = sizeof(struct image),
	.probe = image_probe,
	.open = image_open,
	.close = image_close,
	.info = image_info,
	.survey = image_survey,
	.prepare = image_prepare,
	.session_new = image_session_new,
	.session_free = image_session_free,
	.fill = pdet_image_fill,
	.together = pdet_image_together,
	.memory = pdet_image_memory,
	.tasks = pdet_image_tasks,
	.task_open = pdet_image_task_open,
	.task_close = pdet_image_task_close,
	.task_name = pdet_image_task_name,
	.task_same = pdet_image_task_same,
	.vma_at = pdet_image_vma_at,
	.vma_first = pdet_image_vma_first,
	.vma_next = pdet_image_vma_next,
	.populated = pdet_image_populated,
	.entries = pdet_image_entries,
	.recheck = pdet_image_recheck,
	.cgroup = pdet_image_cgroup,
	.mappings = pdet_image_mappings,
	.threads = pdet_image_threads,
	.task_stack = pdet_image_task_stack,
	.kaddr = pdet_image_kaddr,
	.kaddr_recheck = pdet_image_kaddr_recheck,
	.kernel_mappings = pdet_image_kernel_mappings,
	.kernel_area = pdet_image_kernel_area,
	.stack = pdet_image_stack_text,
	.file_open = pdet_image_file_open,
	.file_close = pdet_image_file_close,
	.file_count = pdet_image_file_count,
	.file_pages = pdet_image_file_pages,
	.file_recheck = pdet_image_file_recheck,
	.tree_open = pdet_image_tree_open,
	.tree_next = pdet_image_tree_next,
	.tree_close = pdet_image_tree_close,
};
