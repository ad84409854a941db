/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border for watches of objects. A source finds the object; the thread of
 * the watch asks with a handle of its own whether it is still in use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "api/kmap/watch.h"
#include "breakpoint/ask.h"
#include "breakpoint/watch.h"

#define DEFAULT_RATE 1000u
#define DEFAULT_WINDOW_NS 20000000u

/* Who asks whether the object is in use. */
struct asker {
	struct pagedet *pd;	/* of its thread; NULL: nothing is asked */
	bool by_fd;		/* the object is in the struct file of: */
	uint32_t pid, fd;
	uint64_t offset;
};

struct pagedet_kmap_watch {
	struct pagedet *pd;
	struct asker asker;
	struct pdet_bp_watch *w;
	struct pdet_bp_object found; /* when it began */
	bool mapped;
};

/* --- the slab --- */

struct pdet_bp_sources pdet_kmap_sources(const struct pagedet *pd)
{
	return (struct pdet_bp_sources){
		pd->backends, pdet_asks_running(pd) ? pd->n_backends : 0
	};
}

/* --- the file behind a descriptor --- */

static int ask_file(struct pdet_backend *b, struct pdet_env *env,
		    const struct asker *a, struct pdet_bp_object *ret)
{
	struct pdet_wants wants = { .target = PAGEDET_TARGET_TASK,
				    .walks = true, .alone = true };
	struct pdet_session *s;
	int r;

	pdet_fields_add(&wants.fields, PAGEDET_FIELD_VMA_START);
	r = b->ops->prepare ? b->ops->prepare(b, env, &wants) : 0;
	if (r == 0)
		r = b->ops->session_new(b, env, &wants, &s);
	if (r < 0)
		return r;
	r = b->ops->file_object(s, a->pid, a->fd, &ret->address, &ret->bytes);
	if (r < 0)
		pdet_take_words(env, &s->env);
	b->ops->session_free(s);
	return r;
}

static int find_file(const struct asker *a, struct pdet_bp_object *ret)
{
	struct pagedet *pd = a->pd;
	int r = 0;
	size_t i;

	ret->address = 0;
	for (i = 0; i < pd->n_backends; i++) {
		if (!pd->backends[i]->ops->file_object)
			continue;
		r = ask_file(pd->backends[i], &pd->env, a, ret);
		if (r == 0 || r == -ENOENT || r == -ESRCH || r == -ENOMEM)
			break;
	}
	if (!ret->address && r == 0) {
		r = pdet_fail(&pd->env, ENOTSUP, "cannot find descriptor %u of "
			      "process %u: no open source reads kernel memory",
			      a->fd, a->pid);
		pdet_advise(&pd->env, "needs root, for the sources bpf or "
			    "kcore");
	}
	return r < 0 ? -pdet_errno_closed(-r) : 0;
}

/* What is to be watched of it. */
static int find_part(const struct asker *a,
		     const struct pagedet_kmap_watch_options *o,
		     struct pdet_bp_object *ret)
{
	struct pagedet *pd = a->pd;
	int r = find_file(a, ret);

	if (r < 0)
		return r;
	if (o->address >= ret->bytes || o->bytes > ret->bytes - o->address)
		return pdet_fail(&pd->env, EINVAL, "cannot watch %llu bytes "
				 "from %#llx on: a struct file has %llu",
				 (unsigned long long)o->bytes,
				 (unsigned long long)o->address,
				 (unsigned long long)ret->bytes);
	ret->address += o->address;
	ret->bytes = o->bytes ? o->bytes : ret->bytes - o->address;
	return 0;
}

/* --- whether it is in use --- */

/* A struct file is while a descriptor has it. */
static bool is_open(const struct asker *a, const struct pdet_bp_object *o)
{
	struct pdet_bp_object file;

	return a->by_fd && find_file(a, &file) == 0 &&
	       file.address + a->offset == o->address;
}

/* What cannot be told stays unknown, and is watched. If the descriptor has it,
 * the slab needs to be read only once, for its name. */
static void look(void *arg, struct pdet_bp_object *objects, size_t n)
{
	const struct asker *a = arg;
	const struct pdet_bp_sources sources = pdet_kmap_sources(a->pd);
	size_t i;

	for (i = 0; i < n; i++) {
		struct pdet_bp_object *o = &objects[i];
		const bool has_fd = is_open(a, o);

		if (has_fd && *o->cache)
			o->state = 0;
		else
			pdet_bp_object_look(&sources, &a->pd->env, o);
		if (o->state || !has_fd)
			continue;
		o->state = PAGEDET_OBJECT_USED;
		o->why = PAGEDET_HAVE;
	}
}

/* --- the border --- */

static int check(struct pagedet *pd, const struct pagedet_kmap_watch_options *o)
{
	const uint32_t known = PAGEDET_KMAP_WATCH_FD |
			       PAGEDET_KMAP_WATCH_WRITES;

	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	if (o->flags & ~known)
		return pdet_fail(&pd->env, EINVAL, "cannot watch: unknown "
				 "flag");
	if (!(o->flags & PAGEDET_KMAP_WATCH_FD) && (o->pid || o->fd))
		return pdet_fail(&pd->env, EINVAL, "cannot watch: a descriptor "
				 "needs PAGEDET_KMAP_WATCH_FD");
	return 0;
}

static int check_range(struct pagedet *pd, const struct pdet_bp_object *o)
{
	struct pdet_bp_plan plan = { .n = 0 };
	const int r = pdet_bp_plan_add(&plan, &pd->env, o->address, o->bytes,
				       0);

	pdet_bp_plan_free(&plan);
	return r;
}

/* Nothing accesses an address without memory. */
static int check_map(struct pagedet_kmap_watch *watch)
{
	struct pagedet *pd = watch->pd;
	const struct pdet_bp_sources sources = pdet_kmap_sources(pd);
	uint64_t hole;
	const unsigned map = pdet_bp_object_map(&sources, &pd->env,
						&watch->found, pd->page_size,
						&hole);

	watch->mapped = map == PAGEDET_HAVE;
	pdet_clear(&pd->env);
	return map != PAGEDET_NONE ? 0 :
	       pdet_fail(&pd->env, ENOENT, "cannot watch %#llx: the kernel has "
			 "no memory mapped there", (unsigned long long)hole);
}

static int find_object(struct pagedet_kmap_watch *watch,
		       const struct pagedet_kmap_watch_options *o)
{
	const bool by_fd = o->flags & PAGEDET_KMAP_WATCH_FD;
	struct pdet_bp_object *found = &watch->found;
	struct pagedet *pd = watch->pd;
	struct asker *a = &watch->asker;
	int r = 0;

	*a = (struct asker){ pd, by_fd, o->pid, o->fd,
			     by_fd ? o->address : 0 };
	*found = (struct pdet_bp_object){
		.address = by_fd ? 0 : o->address,
		.bytes = o->bytes ? o->bytes : PDET_BP_WORD };
	if (by_fd)
		r = find_part(a, o, found);
	if (r == 0)
		r = check_range(pd, found);
	if (r == 0)
		r = check_map(watch);
	if (r == 0)
		look(a, found, 1);
	/* The thread has a handle of its own. */
	a->pd = NULL;
	if (r < 0)
		return r;
	pdet_clear(&pd->env);
	return found->state != PAGEDET_OBJECT_FREE ? 0 :
	       pdet_fail(&pd->env, ENOENT, "cannot watch %#llx: the object is "
			 "free", (unsigned long long)found->address);
}

/* Of other memory than slabs, nothing would ever be told. */
static bool may_be_told(const struct pdet_bp_object *o)
{
	return o->state || *o->cache || o->why == PAGEDET_RACED;
}

static int begin(struct pagedet_kmap_watch *watch,
		 const struct pagedet_kmap_watch_options *o)
{
	struct pdet_bp_wants wants = {
		.objects = &watch->found, .n = 1,
		.rate = o->rate ? o->rate : DEFAULT_RATE,
		.window_ns = o->window_ns ? o->window_ns : DEFAULT_WINDOW_NS,
		.tid = o->tid,
		.only_writes = o->flags & PAGEDET_KMAP_WATCH_WRITES,
	};
	int r = 0;

	if (may_be_told(&watch->found)) {
		r = pagedet_dup(watch->pd, &watch->asker.pd);
		wants.look = look;
		wants.arg = &watch->asker;
	}
	return r < 0 ? r :
	       pdet_bp_watch_new(&watch->pd->env, &wants, &watch->w);
}

int pagedet_kmap_watch(struct pagedet *pd,
		       const struct pagedet_kmap_watch_options *options,
		       struct pagedet_kmap_watch **ret)
{
	static const struct pagedet_kmap_watch_options defaults =
		PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct pagedet_kmap_watch_options o;
	struct pagedet_kmap_watch *new;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_kmap_watch_options");
	if (r == 0)
		r = check(pd, &o);
	if (r < 0)
		return r;
	new = calloc(1, sizeof(*new));
	if (!new)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	new->pd = pd;
	r = find_object(new, &o);
	if (r == 0)
		r = begin(new, &o);
	if (r < 0) {
		pagedet_free(new->asker.pd);
		free(new);
		return r;
	}
	*ret = new;
	return 0;
}

int pagedet_kmap_watch_stop(struct pagedet_kmap_watch *watch)
{
	pdet_clear(&watch->pd->env);
	return pdet_bp_watch_stop(watch->w, &watch->pd->env);
}

struct pdet_bp_text pdet_kmap_seen(const struct pagedet_kmap_watch *watch)
{
	return pdet_bp_watch_seen(watch->w);
}

const struct pdet_bp_object *
pdet_kmap_found(const struct pagedet_kmap_watch *watch)
{
	return &watch->found;
}

int pagedet_kmap_watch_write(struct pagedet_kmap_watch *watch, int fd)
{
	const int r = pagedet_kmap_watch_stop(watch);

	return r < 0 ? r :
	       pdet_bp_watch_write(watch->w, &watch->pd->env, fd);
}

int pagedet_kmap_watch_word(const struct pagedet_kmap_watch *watch,
			    uint64_t index, struct pagedet_kmap_word *ret)
{
	struct pagedet_kmap_word word;
	int r;

	if (!pdet_bp_watch_word(watch->w, index, &word))
		return 0;
	r = pdet_answer_struct(&watch->pd->env, ret, &word, sizeof(word));
	return r < 0 ? r : 1;
}

int pagedet_kmap_watch_total(const struct pagedet_kmap_watch *watch,
			     struct pagedet_kmap_watch_total *ret)
{
	struct pagedet_kmap_watch_total total;

	pdet_bp_watch_total(watch->w, &total);
	total.mapped = watch->mapped;
	return pdet_answer_struct(&watch->pd->env, ret, &total, sizeof(total));
}

void pagedet_kmap_watch_free(struct pagedet_kmap_watch *watch)
{
	if (!watch)
		return;
	pdet_bp_watch_free(watch->w);
	pagedet_free(watch->asker.pd);
	free(watch);
}
