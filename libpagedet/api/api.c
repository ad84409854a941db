/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The border of the library: checks the caller's arguments, translates them and
 * passes them on. It has the handle, the iterator and the index. names.c has
 * names, emit.c emitters, rows.c rows, input.c files to open.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/arguments.h"
#include "api/handle.h"
#include "base/clock.h"
#include "base/io.h"
#include "heat/rows.h"
#include "query/filter.h"
#include "query/mapindex.h"

struct pagedet *pagedet_new(void)
{
	struct pagedet *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return NULL;
	pd->env.root = strdup("");
	if (!pd->env.root) {
		free(pd);
		return NULL;
	}
	return pd;
}

static void free_opened(struct pdet_opened *o)
{
	uint64_t i;

	for (i = 0; o->from && i < o->options.n_files; i++)
		free(o->from[i]);
	free(o->from);
	free(o->root);
	free(o->vmlinux);
	free(o->btf);
	free(o->vmcoreinfo);
	free(o->hash_key);
	free(o->libexec_dir);
	memset(o, 0, sizeof(*o));
}

static void close_backends(struct pagedet *pd)
{
	size_t i;

	for (i = 0; i < pd->n_backends; i++) {
		pd->backends[i]->ops->close(pd->backends[i]);
		free(pd->backends[i]);
	}
	pd->n_backends = 0;
	pd->sources = 0;
	pd->open = false;
}

void pagedet_free(struct pagedet *pd)
{
	if (!pd)
		return;
	close_backends(pd);
	free_opened(&pd->opened);
	free(pd->env.root);
	pdet_key_forget(&pd->key);
	free(pd);
}

void pagedet_options_init(struct pagedet_options *options, uint64_t size)
{
	memset(options, 0, size);
	options->size = size;
}

static bool copy_string(const char *from, char **to, const char **seen)
{
	if (!from)
		return true;
	*to = strdup(from);
	*seen = *to;
	return *to != NULL;
}

static int copy_options(struct pagedet *pd, const struct pagedet_options *from)
{
	struct pdet_opened *o = &pd->opened;
	uint64_t i;

	o->options = *from;
	o->options.files = NULL;
	if (from->n_files) {
		o->from = calloc(from->n_files, sizeof(*o->from));
		if (!o->from)
			return -ENOMEM;
		for (i = 0; i < from->n_files; i++) {
			o->from[i] = strdup(from->files[i]);
			if (!o->from[i])
				return -ENOMEM;
		}
		o->options.files = (const char *const *)o->from;
	}
	if (!copy_string(from->root, &o->root, &o->options.root) ||
	    !copy_string(from->vmlinux, &o->vmlinux, &o->options.vmlinux) ||
	    !copy_string(from->btf, &o->btf, &o->options.btf) ||
	    !copy_string(from->vmcoreinfo, &o->vmcoreinfo,
			 &o->options.vmcoreinfo) ||
	    !copy_string(from->hash_key, &o->hash_key,
			 &o->options.hash_key) ||
	    !copy_string(from->libexec_dir, &o->libexec_dir,
			 &o->options.libexec_dir))
		return -ENOMEM;
	return 0;
}

/* "/" and "/host/" become "" and "/host". */
static int set_root(struct pagedet *pd, const char *root)
{
	size_t len = root ? strlen(root) : 0;
	char path[PATH_MAX], *copy;

	while (len && root[len - 1] == '/')
		len--;
	copy = strndup(root ? root : "", len);
	if (!copy)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	free(pd->env.root);
	pd->env.root = copy;
	if (!root)
		return 0;
	/* Checks that it is a directory that can be searched. */
	errno = ENAMETOOLONG;
	if (pdet_path(&pd->env, path, sizeof(path), "/.") < 0)
		return pdet_fail_errno(&pd->env, "cannot look below a root");
	errno = ENOENT;
	if (!*root || access(path, F_OK) < 0)
		return pdet_fail_errno(&pd->env, "cannot look below '%s'",
				       root);
	return 0;
}

static int open_backend(struct pagedet *pd, const struct pdet_backend_ops *ops,
			const struct pdet_input *in)
{
	struct pdet_backend *b;
	int r;

	if (pd->n_backends == PDET_BACKENDS)
		return pdet_fail(&pd->env, ENOMEM, "too many sources");
	b = calloc(1, ops->size);
	if (!b)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	b->ops = ops;
	b->sources = ops->sources & in->sources;
	r = ops->open(b, &pd->env, in);
	if (r < 0) {
		free(b);
		return r;
	}
	pd->backends[pd->n_backends++] = b;
	pd->sources |= b->sources;
	return 0;
}

static int open_all(struct pagedet *pd, const struct pagedet_options *options)
{
	struct pdet_input in = { options, ~(uint32_t)0 };
	const struct pdet_backend_ops *const *ops;
	int r;

	if (options->sources)
		in.sources = options->sources;
	r = pdet_check_files(&pd->env, options);
	if (r < 0)
		return r;
	for (ops = pdet_backends; *ops; ops++) {
		if (!((*ops)->sources & in.sources))
			continue;
		r = (*ops)->probe(&pd->env, &in);
		if (r > 0)
			r = open_backend(pd, *ops, &in);
		if (r < 0)
			return r;
	}
	if (pd->n_backends)
		return 0;
	if (options->n_files)
		return pdet_refuse_files(&pd->env, options);
	r = pdet_fail(&pd->env, ENOTSUP, "none of the %s exists %s%s",
		      options->sources ? "allowed sources" : "sources built in",
		      options->root ? "below " : "here",
		      options->root ? options->root : "");
	pdet_advise(&pd->env, options->sources ?
		    "open without a list of sources to see which ones exist" :
		    "needs /proc of the kernel that the query is about");
	return r;
}

int pagedet_open(struct pagedet *pd, const struct pagedet_options *options)
{
	static const struct pagedet_options defaults = PAGEDET_OPTIONS_INIT;
	struct pagedet_options o;
	int r;

	pdet_clear(&pd->env);
	if (pd->open)
		return pdet_fail(&pd->env, EINVAL,
				 "the handle is open already");
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_options");
	if (r < 0)
		return r;
	r = pdet_check_page_size(&pd->env, o.page_size);
	if (r == 0)
		r = set_root(pd, o.root);
	if (r == 0)
		r = pdet_check_extras(&pd->env, &o);
	if (r < 0)
		return r;
	r = copy_options(pd, &o);
	if (r < 0)
		r = pdet_fail(&pd->env, ENOMEM, "no memory");
	else
		r = open_all(pd, &pd->opened.options);
	/*
	 * This comes last, so that a failure does not leave a new file behind.
	 */
	if (r == 0 && pd->opened.hash_key)
		r = pdet_key_file(&pd->env, &pd->key, pd->opened.hash_key);
	if (r < 0) {
		close_backends(pd);
		free_opened(&pd->opened);
		return r;
	}
	pd->open = true;
	pd->page_size = pd->backends[0]->page_size;
	if (!pd->page_size)
		pd->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	pd->info_known = false;
	pd->first_ns = pd->last_ns = pdet_clock_ns(CLOCK_REALTIME);
	return 0;
}

int pagedet_dup(struct pagedet *pd, struct pagedet **ret)
{
	struct pagedet_options o;
	struct pagedet *copy;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	copy = pagedet_new();
	if (!copy)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	/* Use the key of the handle, because the file may have changed. */
	o = pd->opened.options;
	o.hash_key = NULL;
	r = pdet_key_random(&pd->env, &pd->key);
	if (r == 0) {
		r = pagedet_open(copy, &o);
		pdet_take_words(&pd->env, &copy->env);
	}
	if (r < 0) {
		pagedet_free(copy);
		return r;
	}
	copy->key = pd->key;
	*ret = copy;
	return 0;
}

void pagedet_set_log(struct pagedet *pd, pagedet_log_fn *fn, void *user,
		     int level)
{
	pd->env.log = fn;
	pd->env.log_user = user;
	pd->env.log_level = level;
}

static bool nobody_waits(void *arg)
{
	struct pagedet *pd = arg;

	pd->stopped = pd->stop(pd->stop_user);
	return pd->stopped;
}

void pagedet_set_stop(struct pagedet *pd, pagedet_stop_fn *fn, void *user)
{
	pd->stop = fn;
	pd->stop_user = user;
	pd->env.stop = fn ? nobody_waits : NULL;
	pd->env.stop_arg = pd;
}

const char *pagedet_error(const struct pagedet *pd)
{
	return pd->env.error;
}

const char *pagedet_advice(const struct pagedet *pd)
{
	return pd->env.advice;
}

int pagedet_add_fd(struct pagedet *pd, uint32_t kind, uint32_t pid, int fd)
{
	bool of_task = kind == PAGEDET_FD_PAGEMAP || kind == PAGEDET_FD_MAPS;
	size_t i;
	int mode;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	if (kind < PAGEDET_FD_KPAGEFLAGS || kind > PAGEDET_FD_MAPS)
		return pdet_fail(&pd->env, EINVAL,
				 "%u is not a kind of descriptor", kind);
	if (of_task != (pid != 0))
		return pdet_fail(&pd->env, EINVAL, of_task ?
				 "a descriptor of a task needs its pid" :
				 "a descriptor of the whole system has no pid");
	mode = fcntl(fd, F_GETFL);
	if (mode < 0)
		return pdet_fail(&pd->env, EINVAL, "%d is not an open "
						   "descriptor",
				 fd);
	if ((mode & O_ACCMODE) == O_WRONLY)
		return pdet_fail(&pd->env, EACCES,
				 "descriptor %d is not open for reading", fd);
	for (i = 0; i < pd->n_backends; i++)
		if (pd->backends[i]->ops->add_fd)
			return pd->backends[i]->ops->add_fd(pd->backends[i],
							    &pd->env, kind,
							    pid, fd);
	return pdet_fail(&pd->env, ENOTSUP,
			 "no source here reads descriptors of the caller");
}

/*
 * Copies the prefix of a struct that the caller knows. The caller may be older
 * or newer than this library.
 */
#define ANSWER(pd, ret, value) \
	pdet_answer_struct(&(pd)->env, (ret), &(value), sizeof(value))

int pagedet_info(struct pagedet *pd, struct pagedet_info *ret)
{
	struct pagedet_info info;
	size_t i;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	if (!pd->info_known) {
		memset(&pd->info, 0, sizeof(pd->info));
		for (i = 0; i < pd->n_backends; i++)
			pd->backends[i]->ops->info(pd->backends[i], &pd->env,
						   &pd->info);
		pd->info_known = true;
	}
	memset(&info, 0, sizeof(info));
	info.size = ret->size;
	info.page_size = pd->info.page_size;
	info.max_pfn = pd->info.max_pfn;
	info.nodes = pd->info.nodes;
	info.first_ns = pd->info.first_ns;
	info.last_ns = pd->info.last_ns;
	if (pd->info.live && !info.last_ns) {
		info.first_ns = pd->first_ns;
		info.last_ns = pd->last_ns;
	}
	info.live = pd->info.live;
	info.big_endian = pd->info.big_endian;
	info.sources = pd->sources;
	info.arch = pd->info.arch;
	info.release = pd->info.release;
	info.boot_id = pd->info.boot_id;
	return ANSWER(pd, ret, info);
}

int pagedet_survey(struct pagedet *pd, uint32_t field, uint32_t source,
		   struct pagedet_ability *ret)
{
	struct pagedet_ability a;
	size_t i;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	if (field >= PDET_FIELDS)
		return pdet_fail(&pd->env, ENOENT, "there is no field %u",
				 field);
	if (!pdet_source_name(source))
		return pdet_fail(&pd->env, ENOENT, "there is no source %u",
				 source);
	memset(&pd->ability, 0, sizeof(pd->ability));
	pd->ability.reason = PAGEDET_UNSUPPORTED;
	pdet_survey_absent(pd, source, &pd->ability);
	for (i = 0; i < pd->n_backends; i++)
		if (pd->backends[i]->sources >> source & 1)
			pd->backends[i]->ops->survey(pd->backends[i], &pd->env,
						     PAGEDET_TARGET_NOTHING,
						     field, source,
						     &pd->ability);
	if (source == PAGEDET_SOURCE_DERIVED)
		pdet_survey_derived(pd, field, &pd->ability);
	if (source == PAGEDET_SOURCE_TRACE && pdet_heat_is(field))
		pdet_survey_heat(pd, &pd->ability);
	if (source == PAGEDET_SOURCE_TRACE && pdet_kmap_pages_is(field))
		pd->ability = (struct pdet_ability){
			.reason = PAGEDET_TOO_COSTLY,
			.advice = PDET_KMAP_PAGES_NEED };
	memset(&a, 0, sizeof(a));
	a.size = ret->size;
	a.can = pd->ability.reason == PAGEDET_HAVE;
	a.reason = a.can ? 0 : pd->ability.reason;
	a.cost = a.can ? pd->ability.cost : 0;
	a.tier = pd->ability.tier;
	a.why = a.can ? "" : pdet_state_text(pd->ability.reason);
	a.advice = pd->ability.advice;
	return ANSWER(pd, ret, a);
}

void pagedet_query_init(struct pagedet_query *query, uint64_t size,
			uint64_t row_size)
{
	memset(query, 0, size);
	query->size = size;
	query->row_size = row_size;
}

static int no_field(struct pagedet *pd, const char *name, unsigned len)
{
	struct pdet_meant meant = { .n = 0 };
	const char *near;
	int r = pdet_fail(&pd->env, ENOENT,
			  "there is no field or group \"%.*s\"", (int)len,
			  name);

	pdet_meant_fields(&meant);
	pdet_meant_groups(&meant);
	near = pdet_meant(&meant, name, len);
	if (near)
		pdet_advise(&pd->env, "did you mean '%s'?", near);
	return r;
}

int pagedet_fields_parse(struct pagedet *pd, const char *list,
			 struct pagedet_query *query)
{
	struct pdet_fields fields = { { 0, 0 } }, group;
	uint32_t options = 0;
	const char *end;
	unsigned len;
	int field;

	pdet_clear(&pd->env);
	for (;; list = end + 1) {
		end = strchrnul(list, ',');
		len = (unsigned)(end - list);
		field = pdet_field_by_name(list, len);
		if (field >= 0) {
			pdet_fields_add(&fields, (unsigned)field);
		} else if (len == 5 && !memcmp(list, "cheap", 5)) {
			options |= PAGEDET_Q_CHEAP;
		} else if (pdet_group_fields(list, len, &group)) {
			fields.bits[0] |= group.bits[0];
			fields.bits[1] |= group.bits[1];
		} else if (!len) {
			return pdet_fail(&pd->env, EINVAL,
					 "a field is missing in the list");
		} else {
			field = pdet_field_by_any_name(list, len);
			if (field < 0)
				return no_field(pd, list, len);
			pdet_fields_add(&fields, (unsigned)field);
		}
		if (!*end)
			break;
	}
	query->fields[0] |= fields.bits[0];
	query->fields[1] |= fields.bits[1];
	query->options |= options;
	return 0;
}

int pagedet_filter_fields(struct pagedet *pd, const char *where, uint64_t *ret)
{
	struct pdet_fields fields;
	struct pdet_filter *f;
	int r;

	pdet_clear(&pd->env);
	r = pdet_filter_new(&pd->env, where, &f);
	if (r < 0)
		return r;
	fields = pdet_filter_fields(f);
	pdet_filter_free(f);
	ret[0] = fields.bits[0];
	ret[1] = fields.bits[1];
	return 0;
}

int pagedet_query(struct pagedet *pd, const struct pagedet_query *query,
		  struct pagedet_iter **ret)
{
	return pdet_query(pd, query, false, ret);
}

int pdet_query(struct pagedet *pd, const struct pagedet_query *query,
	       bool verifies, struct pagedet_iter **ret)
{
	static const struct pagedet_query defaults = PAGEDET_QUERY_INIT;
	struct pdet_iter_args args;
	struct pagedet_iter *it;
	struct pagedet_query q;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &q, sizeof(q), query, &defaults,
			      "struct pagedet_query");
	if (r == 0)
		r = pdet_check_query(pd, &q);
	if (r < 0)
		return r;
	if (q.target == PAGEDET_TARGET_OBJECTS)
		r = verifies ?
			    pdet_allocs_need_objects(q.allocs->a, &pd->env) :
			    pdet_allocs_need_events(q.allocs->a, &pd->env);
	else if (q.target == PAGEDET_TARGET_EVENTS &&
		 !pdet_allocs_streams(q.allocs->a))
		r = pdet_fail(&pd->env, EINVAL, "the trace was not opened for "
			      "a query of its events");
	if (r < 0)
		return r;
	it = calloc(1, sizeof(*it));
	if (!it)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	memset(&args, 0, sizeof(args));
	args.env = &pd->env;
	args.backends = pd->backends;
	args.n_backends = pd->n_backends;
	args.sources = q.sources ? q.sources & pd->sources : pd->sources;
	args.query = &q;
	args.fields.bits[0] = q.fields[0];
	args.fields.bits[1] = q.fields[1];
	args.index = q.index ? q.index->ix : NULL;
	args.allocs = q.allocs ? q.allocs->a : NULL;
	args.heat = q.heat ? &q.heat->h : NULL;
	args.kmap = q.kmap ? &q.kmap->k : NULL;
	args.page_size = pd->page_size;
	args.live = pdet_asks_running(pd);
	it->pd = pd;
	it->row_size = q.row_size;
	r = pdet_iter_new(&args, &it->it);
	if (r < 0) {
		free(it);
		return -pdet_errno_closed(-r);
	}
	if (pdet_fields_has(&it->it->plan.columns, PAGEDET_FIELD_HASH)) {
		r = pdet_key_random(&pd->env, &pd->key);
		if (r < 0) {
			pagedet_iter_free(it);
			return r;
		}
	}
	it->it->secret = pd->key.secret;
	pdet_show_columns(it);
	pd->last_ns = pdet_clock_ns(CLOCK_REALTIME);
	*ret = it;
	return 0;
}

void pagedet_iter_free(struct pagedet_iter *it)
{
	if (!it)
		return;
	pdet_iter_free(it->it);
	free(it->summaries);
	free(it);
}

int pagedet_iter_retarget(struct pagedet_iter *it,
			  const struct pagedet_item *items, uint64_t n_items)
{
	int r;

	r = pdet_check_items(it->pd, it->it->q.target, items, n_items);
	if (r < 0)
		return r;
	it->batch = NULL;
	return pdet_iter_retarget(it->it, items, n_items);
}

void pagedet_cancel(struct pagedet_iter *it)
{
	pdet_iter_stop(it->it, ECANCELED, NULL);
}

void pagedet_iter_fields(const struct pagedet_iter *it, uint64_t *ret)
{
	ret[0] = it->it->plan.wanted.bits[0];
	ret[1] = it->it->plan.wanted.bits[1];
}

uint32_t pagedet_why(const struct pagedet_iter *it, uint32_t field)
{
	const struct pagedet_field_info *info = pdet_field_info(field);

	if (!info || !pdet_fields_has(&it->it->plan.wanted, field))
		return PAGEDET_NOT_ASKED;
	if (info->offset + info->width > it->row_size)
		return PAGEDET_OLD_ROW;
	return it->it->plan.why[field];
}

const char *pagedet_why_advice(const struct pagedet_iter *it, uint32_t field)
{
	if (field >= PDET_FIELDS || !it->it->plan.advice[field])
		return "";
	return it->it->plan.advice[field];
}

int pagedet_coverage(const struct pagedet_iter *it,
		     struct pagedet_coverage *ret)
{
	struct pdet_walk *walk = it->it->walk;
	struct pagedet_coverage c;
	struct pdet_cover cover;
	int stopped = atomic_load(&it->it->stopped);

	pdet_iter_cover(it->it, &cover);
	memset(&c, 0, sizeof(c));
	c.size = ret->size;
	c.wanted = it->it->walk->total;
	c.visited = cover.visited;
	c.skipped = cover.skipped;
	c.rows = it->it->rows;
	c.undecided = cover.undecided;
	c.torn = cover.torn;
	c.spilled = cover.spilled;
	c.tasks = cover.tasks;
	c.tasks_gone = cover.tasks_gone;
	c.tasks_denied = cover.tasks_denied;
	c.tasks_damaged = cover.tasks_damaged;
	c.tasks_again = cover.tasks_again;
	c.tasks_merged = cover.tasks_merged;
	c.matched = cover.matched;
	c.files = cover.files;
	c.files_gone = cover.files_gone;
	c.files_denied = cover.files_denied;
	memcpy(c.lost, cover.lost, sizeof(c.lost));
	c.answered[0] = cover.answered.bits[0];
	c.answered[1] = cover.answered.bits[1];
	c.resume = it->it->resume;
	c.stopped = (uint32_t)stopped;
	c.complete = !stopped && it->it->walk_ended &&
		     !it->it->walk->partial && !cover.partial &&
		     !(walk->ops->is_unsure && walk->ops->is_unsure(walk));
	return ANSWER(it->pd, ret, c);
}

int pagedet_mappers(const struct pagedet_iter *it, uint64_t n,
		    struct pagedet_mappers *ret)
{
	struct pagedet_mappers m;
	int r;

	if (it->it->q.target != PAGEDET_TARGET_MAPPERS)
		return pdet_fail(&it->pd->env, EINVAL,
				 "the query is not about mappers");
	memset(&m, 0, sizeof(m));
	m.size = ret->size;
	r = pdet_walk_mappers_summary(it->it->walk, n, &m);
	return r < 0 ? r : ANSWER(it->pd, ret, m);
}

int pagedet_index_new(struct pagedet *pd,
		      const struct pagedet_index_options *options,
		      struct pagedet_index **ret)
{
	static const struct pagedet_index_options defaults =
		PAGEDET_INDEX_OPTIONS_INIT;
	struct pagedet_index_options o;
	struct pdet_mapindex_args args;
	struct pagedet_index *index;
	int r;

	pdet_clear(&pd->env);
	if (!pd->open)
		return pdet_fail(&pd->env, EINVAL, "the handle is not open");
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_index_options");
	if (r < 0)
		return r;
	memset(&args, 0, sizeof(args));
	args.env = &pd->env;
	args.page_size = pd->page_size;
	args.threads = PDET_MIN(o.threads, 1024u);
	args.deadline_ns = o.deadline_ns ?
		pdet_clock_ns(CLOCK_MONOTONIC) + o.deadline_ns : 0;
	args.progress = o.progress;
	args.progress_user = o.progress_user;
	args.progress_ns = o.progress_ns;
	args.backend = pdet_mapindex_backend(pd->backends, pd->n_backends,
					     o.sources ? o.sources :
					     ~(uint32_t)0);
	if (!args.backend)
		return pdet_fail(&pd->env, ENOTSUP,
				 "no source here shows mappings");
	index = calloc(1, sizeof(*index));
	if (!index)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	index->pd = pd;
	r = pdet_mapindex_new(&args, &index->ix);
	if (r < 0) {
		free(index);
		return -pdet_errno_closed(-r);
	}
	*ret = index;
	return 0;
}

uint64_t pagedet_index_find(const struct pagedet_index *index, uint64_t pfn,
			    struct pagedet_mapping *mappings, uint64_t n)
{
	return pdet_mapindex_find(index->ix, pfn, mappings, n);
}

int pagedet_index_info(const struct pagedet_index *index,
		       struct pagedet_index_info *ret)
{
	struct pagedet_index_info info;
	struct pdet_mapindex_info i;

	pdet_mapindex_info(index->ix, &i);
	memset(&info, 0, sizeof(info));
	info.size = ret->size;
	info.mappings = i.mappings;
	info.bytes = i.bytes;
	info.tasks = i.tasks;
	info.tasks_gone = i.tasks_gone;
	info.tasks_denied = i.tasks_denied;
	info.tasks_damaged = i.tasks_damaged;
	info.first_ns = i.first_ns;
	info.last_ns = i.last_ns;
	info.n_unread = i.n_unread;
	info.unread = i.unread;
	return ANSWER(index->pd, ret, info);
}

void pagedet_index_free(struct pagedet_index *index)
{
	if (!index)
		return;
	pdet_mapindex_free(index->ix);
	free(index);
}
