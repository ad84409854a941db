/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The sources that read a kernel's own structures. Opens and closes them, and
 * says which fields they can answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/image/kernel.h"
#include "backend/image/owner.h"
#include "backend/image/page_owner.h"
#include "base/io.h"
#include "memory/machine.h"
#include "memory/open.h"

#define LIVE \
	(PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF) | \
	 PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_KCORE))

/* Targets for which many struct pages are read together. */
#define BULK \
	(1u << PAGEDET_TARGET_SCAN | 1u << PAGEDET_TARGET_CGROUP | \
	 1u << PAGEDET_TARGET_PFN | 1u << PAGEDET_TARGET_PHYS | \
	 1u << PAGEDET_TARGET_FILE | 1u << PAGEDET_TARGET_TASK)

/* Limit of a 64-bit clock in nanoseconds: the year 2554. */
#define MAX_SECONDS (UINT64_MAX / 1000000000)

static int open_file(struct pdet_env *env, const char *path)
{
	/* The caller named the file, so it is not below the root. It may be a
	 * pipe without a writer. */
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

static bool session_is_over(void *arg)
{
	const struct pdet_session *s = arg;

	return s->stop && s->stop(s->stop_arg);
}

static void image_close(struct pdet_backend *b)
{
	struct image *im = image_of(b);

	pdet_image_kernel_unload(im);
	pdet_image_page_owner_unload(im);
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

	pdet_fail(env, ENOTSUP, "cannot read %s: it is a dump of another kind "
		  "of machine (%s)", im->options->files[0],
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
	im->env = env;
	if (!in->options->n_files) {
		b->sources &= LIVE;
		b->dear = true;
		b->bulk = BULK;
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
	r = pdet_memory_open(env, im->fds, im->n_fds, im->vmcoreinfo_text.data,
			     im->vmcoreinfo_text.len, &im->memory);
	if (r < 0) {
		pdet_context(env, "cannot read %s", in->options->files[0]);
		pdet_text_free(&im->vmcoreinfo_text);
		close_files(im->fds, im->n_fds);
		return r;
	}
	b->sources &= PAGEDET_SOURCE_BIT(im->memory->ops->source);
	r = pdet_image_opened(im, env);
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
	/*
	 * Without VMCOREINFO few fields can be answered; each reports the
	 * reason later.
	 */
	if (pdet_image_base(im, env) == 0)
		b->page_size = (uint64_t)1 << im->paging.page_shift;
	r = pdet_image_check_vmcoreinfo(im, env);
	if (r == 0)
		r = pdet_image_vmlinux(im, env);
	if (r < 0)
		image_close(b);
	return r;
}

/* The time of the crash, as written by the kernel; 0 if it did not crash. */
static uint64_t crash_ns(const struct pdet_vmcoreinfo *info)
{
	struct pdet_scan text;
	uint64_t seconds;

	if (!pdet_vmcoreinfo_text(info, "CRASHTIME", &text) ||
	    !pdet_scan_dec(&text, &seconds) || seconds > MAX_SECONDS)
		return 0;
	return seconds * 1000000000;
}

static void image_info(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_kernel_info *ret)
{
	struct image *im = image_of(b);
	const struct pdet_ranges *r;
	const char *arch;

	/* Open a live source only if no cheaper one has the page size. */
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
	if (!ret->live)
		ret->first_ns = ret->last_ns = crash_ns(&im->info);
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
	a->reason = (uint8_t)pdet_setup_reason(error);
	snprintf(a->advice, sizeof(a->advice), "%.*s",
		 (int)sizeof(a->advice) - 1, part->advice);
}

#define F(name) ((uint64_t)1 << PAGEDET_FIELD_##name)
#define T(name) (1u << PAGEDET_TARGET_##name)

/* Sets of targets. Those of BY_NUMBER are visited by page frame number. */
#define OF_TASK (T(VIRT) | T(TASK) | T(MAPPERS))
#define OF_FILE (T(FILE) | T(TREE) | T(MOUNT) | T(BLOCK))
#define OF_KERNEL (T(KADDR) | T(OBJECTS))
#define BY_NUMBER (T(PFN) | T(PHYS) | T(SCAN) | T(NOTHING))
#define ANY UINT32_MAX

#define OF_ALLOCATION \
	(F(ALLOC_STACK) | F(FREE_STACK) | F(ALLOC_PID) | F(ALLOC_TGID) | \
	 F(ALLOC_COMM) | F(GFP_MASK) | F(GFP) | F(ALLOC_ORDER) | \
	 F(ALLOCATOR) | F(ALLOC_NS) | F(FREE_NS) | F(MIGRATE_REASON))

/* What an answer takes. */
enum { NEEDS_LIVE, NEEDS_BASE, NEEDS_PAGES, NEEDS_TASKS, NEEDS_FILES,
       NEEDS_LISTS, NEEDS_MEMCGS, NEEDS_ZONES, NEEDS_SLABS, NEEDS_AREAS,
       NEEDS_OWNERS, NEEDS_BLOCKS };

#define PART(name) offsetof(struct image, name)

/*
 * The function that loads the fields, and the part that stores the reason if it
 * fails.
 */
static const struct {
	int (*load)(struct image *im, struct pdet_env *env);
	size_t part;
} needs[] = {
	[NEEDS_LIVE] = { pdet_image_open_live, PART(live) },
	[NEEDS_BASE] = { pdet_image_base, PART(base) },
	[NEEDS_PAGES] = { pdet_image_pages, PART(pages) },
	[NEEDS_TASKS] = { pdet_image_task_types, PART(tasks) },
	[NEEDS_FILES] = { pdet_image_files, PART(files) },
	[NEEDS_LISTS] = { pdet_image_lists, PART(lists) },
	[NEEDS_MEMCGS] = { pdet_image_memcgs, PART(memcgs) },
	[NEEDS_ZONES] = { pdet_image_zones, PART(zones) },
	[NEEDS_SLABS] = { pdet_image_slabs, PART(slabs) },
	[NEEDS_AREAS] = { pdet_image_kernel_areas, PART(kernel_areas) },
	[NEEDS_OWNERS] = { pdet_image_page_owners, PART(page_owners) },
	[NEEDS_BLOCKS] = { pdet_image_pageblocks, PART(pageblocks) },
};

/* The first row with this field and this target applies. If there is no such
 * row, the field cannot be answered. */
static const struct answer {
	uint64_t fields;
	uint32_t targets;
	uint8_t cost;		/* PAGEDET_COST_* */
	uint8_t tier;		/* PAGEDET_TIER_*: VMCOREINFO alone is enough,
				 * at least for a part; or types are needed */
	uint8_t needs;
} answers[] = {
	{ F(OBJECT) | F(OBJECT_STATE), ANY, PAGEDET_COST_LOOKUP,
	  PAGEDET_TIER_VMCOREINFO, NEEDS_AREAS },
	{ F(PFN), OF_KERNEL, PAGEDET_COST_FREE, PAGEDET_TIER_VMCOREINFO,
	  NEEDS_AREAS },
	{ F(VADDR) | F(PTE) | F(PTE_KNOWN) | F(PTE_LEVEL) | F(MAP),
	  OF_KERNEL, PAGEDET_COST_FREE, PAGEDET_TIER_TYPES, NEEDS_AREAS },
	{ F(VMA_START) | F(VMA_END) | F(VMA_PROT) | F(VMA_NAME),
	  OF_KERNEL, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_AREAS },
	{ F(PFN), OF_TASK, PAGEDET_COST_FREE, PAGEDET_TIER_VMCOREINFO,
	  NEEDS_TASKS },
	{ F(PFN), OF_FILE, PAGEDET_COST_FREE, PAGEDET_TIER_VMCOREINFO,
	  NEEDS_LISTS },
	{ F(PFN), BY_NUMBER, PAGEDET_COST_FREE, PAGEDET_TIER_VMCOREINFO,
	  NEEDS_LIVE },
	{ F(KIND) | F(FLAGS) | F(FLAGS_KNOWN) | F(RAW_FLAGS) | F(REFCOUNT) |
	  F(MAPCOUNT) | F(MAPCOUNT_KIND) | F(PINCOUNT) | F(HEAD_PFN) |
	  F(ORDER),
	  ANY, PAGEDET_COST_FREE, PAGEDET_TIER_VMCOREINFO, NEEDS_PAGES },
	{ F(VADDR) | F(PID) | F(TGID) | F(COMM) | F(PTE) | F(PTE_KNOWN) |
	  F(PTE_LEVEL) | F(SWAP_TYPE) | F(SWAP_OFFSET) | F(VMA_START) |
	  F(VMA_END) | F(VMA_PROT) | F(VMA_NAME) | F(MAP),
	  ANY, PAGEDET_COST_FREE, PAGEDET_TIER_TYPES, NEEDS_TASKS },
	{ F(DEV) | F(INODE) | F(INDEX) | F(PATH),
	  ANY, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_FILES },
	{ F(MEMCG_INO) | F(MEMCG_PATH) | F(MEMCG_NAME),
	  ANY, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_MEMCGS },
	{ F(NODE) | F(ZONE),
	  ANY, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_ZONES },
	{ F(SLAB_CACHE),
	  ANY, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_SLABS },
	{ OF_ALLOCATION,
	  ANY, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_OWNERS },
	{ F(MIGRATETYPE),
	  ANY, PAGEDET_COST_LOOKUP, PAGEDET_TIER_TYPES, NEEDS_BLOCKS },
	{ F(KERNEL_MAPS),
	  ANY, PAGEDET_COST_SWEEP, PAGEDET_TIER_VMCOREINFO, NEEDS_BASE },
	{ F(CONTENT),
	  ANY, PAGEDET_COST_CONTENT, PAGEDET_TIER_VMCOREINFO, NEEDS_BASE },
};

static const struct answer *find_answer(unsigned field, uint32_t target)
{
	size_t i;

	/* It is what the flags of the allocation mean. */
	if (field == PAGEDET_FIELD_PAGE_MOBILITY)
		field = PAGEDET_FIELD_GFP_MASK;
	for (i = 0; i < PDET_COUNT(answers); i++)
		if (pdet_answers(answers[i].fields, answers[i].targets, field,
				 target))
			return &answers[i];
	return NULL;
}

static void image_survey(struct pdet_backend *b, struct pdet_env *env,
			 uint32_t target, unsigned field, unsigned source,
			 struct pdet_ability *ret)
{
	const struct answer *a = find_answer(field, target);
	struct image *im = image_of(b);

	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_UNSUPPORTED;
	/* One live source is enough. */
	if (pdet_image_open_live(im, env) == 0 && source != im->source) {
		snprintf(ret->advice, sizeof(ret->advice),
			 "not needed: %s is there",
			 pdet_source_name(im->source));
		return;
	}
	if (!a)
		return;
	ret->reason = PAGEDET_HAVE;
	ret->cost = a->cost;
	survey_part(ret, needs[a->needs].load(im, env),
		    (const void *)((const char *)im + needs[a->needs].part));
	if (im->memory && !im->memory->live)
		ret->tier = a->tier;
}

/* Types give most meanings of flags. */
static int image_prepare(struct pdet_backend *b, struct pdet_env *env,
			 const struct pdet_wants *wants)
{
	static const uint8_t typed[] = {
		PAGEDET_FIELD_KIND, PAGEDET_FIELD_FLAGS,
		PAGEDET_FIELD_FLAGS_KNOWN,
	};
	/* VMCOREINFO is enough for a page of one frame. */
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
	/* Without types less is known. The affected rows say so. */
	pages = pdet_image_pages(im, env) == 0;
	r = pages && types &&
	    !(wants->fold && pdet_image_kinds(im, env) == 0) ?
	    pdet_image_types(im, env) : 0;
	if (r < 0 && (im->options->btf || im->vmlinux_types ||
		      pdet_is_shortage(r)))
		return pdet_image_fail(env, &im->types);
	/* The types contradicted the layout. */
	if (pages && im->pages.error)
		return pdet_image_fail(env, &im->pages);
	/* Mappings by the kernel itself can be found without tasks. */
	if (wants->walks && OF_TASK >> wants->target & 1 &&
	    wants->target != PAGEDET_TARGET_MAPPERS &&
	    pdet_image_task_types(im, env) < 0)
		return pdet_image_fail(env, &im->tasks);
	if (wants->user_stacks && pdet_image_task_types(im, env) < 0)
		return pdet_image_fail(env, &im->tasks);
	/* Without them frames have no names, and say so. */
	if (wants->user_stacks && !im->memory->live)
		(void)pdet_image_files(im, env);
	if (wants->walks && OF_FILE >> wants->target & 1 &&
	    pdet_image_lists(im, env) < 0)
		return pdet_image_fail(env, &im->lists);
	/* If this fails, the source that walks reads the file itself. */
	if (!wants->walks && wants->target == PAGEDET_TARGET_FILE &&
	    im->memory && im->memory->live)
		(void)pdet_image_open_files(im, env);
	pdet_image_page_owner_prepare(im, env, wants);
	if (pdet_image_bytes_prepare(im, env, wants) < 0)
		return -ENOMEM;
	return pdet_image_kernel_prepare(im, env, wants);
}

/* --- names --- */

static size_t image_code(struct pdet_session *base, uint64_t addr, char *buf,
			 size_t size)
{
	char name[IMAGE_SYMBOL];
	size_t len = pdet_image_code(image_session_of(base), addr, name);

	len = PDET_MIN(len, PDET_MIN(sizeof(name), size) - 1);
	memcpy(buf, name, len);
	return len;
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
	pdet_directories_free(&s->dirs);
	if (s->counts)
		pdet_kernel_counts_free(s->counts);
	free(s->counts);
	pdet_vec_free(&s->tasks);
	pdet_paging_places_free(&s->places);
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
	/* A live source that was not opened has no reader. */
	r = im->memory ? pdet_image_reader_new(im, env, &s->reader) : 0;
	if (r < 0) {
		image_session_free(&s->session);
		return r;
	}
	if (s->reader) {
		s->reader->stop.ask = session_is_over;
		s->reader->stop.arg = &s->session;
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
	.folds = true,
	.reads_bytes = true,
	.fill = pdet_image_fill,
	.together = pdet_image_together,
	.memory = pdet_image_memory,
	.frames_end = pdet_image_frames_end,
	.tasks = pdet_image_tasks,
	.list_tasks = pdet_image_list_tasks,
	.folio_maps = pdet_image_folio_maps,
	.symbol = pdet_image_symbol_at,
	.code = image_code,
	.kernel_log = pdet_image_kernel_log,
	.damon = pdet_image_damon,
	.block_order = pdet_image_block_order,
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
	.direct_map = pdet_image_direct_map,
	.user_regs = pdet_image_user_regs,
	.user_page = pdet_image_user_page,
	.user_space = pdet_image_user_space,
	.user_maps = pdet_image_user_maps,
	.cached_page = pdet_image_cached_page,
	.kaddr = pdet_image_kaddr,
	.kind = pdet_image_kind,
	.slab_object = pdet_image_slab_object,
	.object_at = pdet_image_object_at,
	.kaddr_recheck = pdet_image_kaddr_recheck,
	.kernel_mappings = pdet_image_kernel_mappings,
	.kernel_area = pdet_image_kernel_area,
	.stack = pdet_image_stack_text,
	.file_open = pdet_image_file_open,
	.file_opened = pdet_image_file_opened,
	.file_object = pdet_image_file_object,
	.file_close = pdet_image_file_close,
	.file_count = pdet_image_file_count,
	.file_pages = pdet_image_file_pages,
	.file_recheck = pdet_image_file_recheck,
	.tree_open = pdet_image_tree_open,
	.tree_next = pdet_image_tree_next,
	.tree_close = pdet_image_tree_close,
};
