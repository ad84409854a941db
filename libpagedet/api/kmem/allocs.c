/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for traces of allocations. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/kmem/reading.h"
#include "allocs/keys.h"
#include "emit/allocs.h"
#include "record/tracefs.h"

/* A dump that names call sites. */
struct dump {
	struct pdet_env *env;
	struct pdet_backend *backend;
	struct pdet_wants wants;
	struct pdet_session *session;
};

int pagedet_alloc_key_by_name(const char *name)
{
	const char *known;
	uint32_t key;

	for (key = 0; (known = pdet_alloc_key_name(key)); key++)
		if (!strcmp(name, known))
			return (int)key;
	return -ENOENT;
}

const char *pagedet_alloc_key_name(uint32_t key)
{
	return pdet_alloc_key_name(key);
}

/* --- names of a dump --- */

static size_t name(void *arg, uint64_t address, char text[], size_t size)
{
	const struct dump *d = arg;

	return d->backend->ops->code(d->session, address, text, size);
}

static bool symbol(void *arg, const char *wanted, uint64_t *ret)
{
	const struct dump *d = arg;
	const bool found = d->backend->ops->symbol(d->backend, d->env, wanted,
						   ret) == 0;

	pdet_clear(d->env);
	return found;
}

static int open_dump(struct pagedet *pd, struct dump *d)
{
	uint64_t text;
	size_t i;
	int r;

	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	for (i = 0; i < pd->n_backends && !d->backend; i++)
		if (pd->backends[i]->ops->code)
			d->backend = pd->backends[i];
	if (!d->backend)
		return pdet_fail(&pd->env, ENOTSUP, "no open source knows "
				 "the names of code");
	d->wants.stacks = true;
	d->wants.alone = true;
	r = d->backend->ops->symbol(d->backend, &pd->env, "_stext", &text);
	if (r == 0 && d->backend->ops->prepare)
		r = d->backend->ops->prepare(d->backend, &pd->env, &d->wants);
	return r < 0 ? r : d->backend->ops->session_new(d->backend, &pd->env,
							&d->wants, &d->session);
}

static int read_named(struct pagedet *pd, const struct pagedet_allocs_query *q,
		      const struct pdet_alloc_sink *sink,
		      struct pdet_allocs **ret)
{
	struct dump d = { .env = &pd->env };
	const struct pdet_namer namer = { name, symbol, &d };
	int r;

	if (!q->open_names)
		return pdet_allocs_new(&pd->env, q, NULL, sink, ret);
	r = open_dump(pd, &d);
	if (r < 0)
		return r;
	r = pdet_allocs_new(&pd->env, q, &namer, sink, ret);
	d.backend->ops->session_free(d.session);
	return r;
}

/* --- a trace instance --- */

static int open_instance(struct pdet_env *env, const char *name)
{
	const int instances = pdet_tracefs_open_instances();
	char path[320];
	int fd;

	errno = -instances;
	if (instances < 0)
		return pdet_fail_errno(env, "cannot read trace instances: "
				       "tracefs");
	snprintf(path, sizeof(path), "%s/trace", name);
	/* A name is not a path. */
	fd = *name && !strchr(name, '/') && strcmp(name, "..") ?
	     openat(instances, path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		fd = pdet_fail(env, ENOENT, "there is no trace instance '%s'",
			       name);
	close(instances);
	return fd;
}

static int read_instance(struct pagedet *pd, struct pagedet_allocs_query *q,
			 const struct pdet_alloc_sink *sink,
			 struct pdet_allocs **ret)
{
	char path[64];
	int fd, r;

	if (q->path)
		return pdet_fail(&pd->env, EINVAL, "there is both a path and "
				 "a trace instance");
	fd = open_instance(&pd->env, q->instance);
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	q->path = path;
	r = read_named(pd, q, sink, ret);
	close(fd);
	return r;
}

/* --- */

int pdet_read_allocs(struct pagedet *pd,
		     const struct pagedet_allocs_query *query,
		     const struct pdet_alloc_sink *sink,
		     struct pdet_allocs **ret)
{
	static const struct pagedet_allocs_query defaults =
		PAGEDET_ALLOCS_QUERY_INIT;
	struct pagedet_allocs_query q;
	int r = pdet_check_struct(&pd->env, &q, sizeof(q), query, &defaults,
				  "struct pagedet_allocs_query");

	if (r < 0)
		return r;
	return q.instance ? read_instance(pd, &q, sink, ret) :
			    read_named(pd, &q, sink, ret);
}

int pagedet_allocs(struct pagedet *pd, const struct pagedet_allocs_query *query,
		   struct pagedet_allocs **ret)
{
	struct pagedet_allocs *a;
	int r;

	pdet_clear(&pd->env);
	a = calloc(1, sizeof(*a));
	if (!a)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	a->pd = pd;
	r = pdet_read_allocs(pd, query, NULL, &a->a);
	if (r < 0) {
		free(a);
		return r;
	}
	*ret = a;
	return 0;
}

int pagedet_allocs_compare(struct pagedet_allocs *allocs,
			   const struct pagedet_allocs *before)
{
	pdet_clear(&allocs->pd->env);
	return pdet_allocs_compare(allocs->a, &allocs->pd->env, before->a);
}

int pagedet_allocs_order(struct pagedet_allocs *allocs, const char *keys)
{
	pdet_clear(&allocs->pd->env);
	return pdet_allocs_order(allocs->a, &allocs->pd->env, keys);
}

int pagedet_allocs_next(struct pagedet_allocs *allocs,
			struct pagedet_alloc_group *ret)
{
	struct pagedet_alloc_group group;
	int r = pdet_check_answer(&allocs->pd->env, ret);

	if (r < 0)
		return r;
	if (!pdet_allocs_next(allocs->a, &group))
		return 0;
	pdet_answer_struct(&allocs->pd->env, ret, &group, sizeof(group));
	return 1;
}

const char *pagedet_allocs_text(const struct pagedet_allocs *allocs,
				uint64_t id, size_t *len)
{
	size_t n;

	return pdet_allocs_text(allocs->a, id, len ? len : &n);
}

const char *pagedet_allocs_gfp(struct pagedet_allocs *allocs, uint64_t gfp)
{
	size_t len;

	if (!pdet_allocs_gfp(allocs->a, gfp, allocs->gfp, &len))
		return NULL;
	allocs->gfp[len] = '\0';
	return allocs->gfp;
}

int pagedet_allocs_total(const struct pagedet_allocs *allocs,
			 struct pagedet_allocs_total *ret)
{
	struct pagedet_allocs_total total;

	pdet_allocs_total(allocs->a, &total);
	return pdet_answer_struct(&allocs->pd->env, ret, &total,
				  sizeof(total));
}

void pagedet_allocs_free(struct pagedet_allocs *allocs)
{
	if (!allocs)
		return;
	pdet_allocs_free(allocs->a);
	free(allocs);
}

int pagedet_emit_allocs(struct pagedet_emitter *emitter,
			struct pagedet_allocs *allocs, uint64_t max)
{
	return pdet_emit_allocs(emitter, &allocs->pd->env, allocs->a, max);
}
