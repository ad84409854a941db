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

struct pagedet_kmap_watch {
	struct pagedet *pd;
	struct pagedet *own;	/* of the thread; NULL: nothing is asked */
	struct pdet_bp_watch *w;
	struct pdet_bp_object found; /* when it began */
};

/* --- the slab --- */

struct pdet_bp_sources pdet_kmap_sources(const struct pagedet *pd)
{
	return (struct pdet_bp_sources){
		pd->backends, pdet_asks_running(pd) ? pd->n_backends : 0
	};
}

/* What cannot be told stays unknown, and is watched. */
static void look(void *arg, struct pdet_bp_object *objects, size_t n)
{
	struct pagedet *pd = arg;
	const struct pdet_bp_sources sources = pdet_kmap_sources(pd);
	struct pdet_at at;
	size_t i;

	for (i = 0; i < n; i++) {
		pdet_clear(&pd->env);
		objects[i].state = 0;
		if (pdet_bp_ask(&sources, &pd->env, &objects[i].address, 1,
				&at) == 0)
			pdet_bp_object_take(&objects[i], &at);
	}
}

/* --- the file behind a descriptor --- */

static int ask_file(struct pdet_backend *b, struct pdet_env *env,
		    const struct pagedet_kmap_watch_options *o,
		    struct pdet_bp_object *ret)
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
	r = b->ops->file_object(s, o->pid, o->fd, &ret->address, &ret->bytes);
	if (r < 0)
		pdet_take_words(env, &s->env);
	b->ops->session_free(s);
	return r;
}

static int find_file(struct pagedet *pd,
		     const struct pagedet_kmap_watch_options *o,
		     struct pdet_bp_object *ret)
{
	int r = 0;
	size_t i;

	for (i = 0; i < pd->n_backends; i++) {
		if (!pd->backends[i]->ops->file_object)
			continue;
		r = ask_file(pd->backends[i], &pd->env, o, ret);
		if (r == 0 || r == -ENOENT || r == -ESRCH || r == -ENOMEM)
			break;
	}
	if (!ret->address && r == 0) {
		r = pdet_fail(&pd->env, ENOTSUP, "cannot find descriptor %u of "
			      "process %u: no open source reads kernel memory",
			      o->fd, o->pid);
		pdet_advise(&pd->env, "needs root, for the sources bpf or "
			    "kcore");
	}
	if (r < 0)
		return -pdet_errno_closed(-r);
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

static int find_object(struct pagedet *pd,
		       const struct pagedet_kmap_watch_options *o,
		       struct pdet_bp_object *ret)
{
	int r = 0;

	*ret = (struct pdet_bp_object){
		.address = o->flags & PAGEDET_KMAP_WATCH_FD ? 0 : o->address,
		.bytes = o->bytes ? o->bytes : PDET_BP_WORD };
	if (o->flags & PAGEDET_KMAP_WATCH_FD)
		r = find_file(pd, o, ret);
	if (r < 0)
		return r;
	look(pd, ret, 1);
	pdet_clear(&pd->env);
	return ret->state != PAGEDET_OBJECT_FREE ? 0 :
	       pdet_fail(&pd->env, ENOENT, "cannot watch %#llx: the object is "
			 "free", (unsigned long long)ret->address);
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

	/* Of other memory, too, nothing would ever be told. */
	if (watch->found.state && pagedet_dup(watch->pd, &watch->own) == 0) {
		wants.look = look;
		wants.arg = watch->own;
	}
	return pdet_bp_watch_new(&watch->pd->env, &wants, &watch->w);
}

int pagedet_kmap_watch(struct pagedet *pd,
		       const struct pagedet_kmap_watch_options *options,
		       struct pagedet_kmap_watch **ret)
{
	static const struct pagedet_kmap_watch_options defaults =
		PAGEDET_KMAP_WATCH_OPTIONS_INIT;
	struct pagedet_kmap_watch_options o;
	struct pagedet_kmap_watch *new;
	struct pdet_bp_object object;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_kmap_watch_options");
	if (r == 0)
		r = check(pd, &o);
	if (r == 0)
		r = find_object(pd, &o, &object);
	if (r < 0)
		return r;
	new = calloc(1, sizeof(*new));
	if (!new)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	new->pd = pd;
	new->found = object;
	r = begin(new, &o);
	if (r < 0) {
		pagedet_free(new->own);
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
	return pdet_answer_struct(&watch->pd->env, ret, &total, sizeof(total));
}

void pagedet_kmap_watch_free(struct pagedet_kmap_watch *watch)
{
	if (!watch)
		return;
	pdet_bp_watch_free(watch->w);
	pagedet_free(watch->own);
	free(watch);
}
