/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares rows by their contents. Each answer must equal that about the whole
 * dump, or be reported as lost. A row may be missing only if the answer says
 * that it is incomplete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "asked.h"

const struct question questions[] = {
	{ "pages", ABOUT_PAGES, PAGEDET_TARGET_SCAN,
	  "pfn,kind,flags,refcount,mapcount,order,memcg_ino", NULL,
	  { "pfn" }, 0, false },
	{ "owners", ABOUT_PAGES | ABOUT_FILES | ABOUT_CGROUPS,
	  PAGEDET_TARGET_PFN, "pfn,kind,path,index,memcg_path,slab_cache",
	  NULL, { "pfn" }, 0, false },
	{ "files", ABOUT_FILES, PAGEDET_TARGET_TREE, "path,index,pfn", "/",
	  { "path", "index" }, 0, false },
	{ "files, counted", ABOUT_FILES, PAGEDET_TARGET_TREE, "path", "/",
	  { "path" }, PAGEDET_Q_GROUP, true },
	{ "filesystem, counted", ABOUT_FILES, PAGEDET_TARGET_MOUNT, "kind",
	  "/", { "kind" }, PAGEDET_Q_GROUP, true },
	{ "tasks' pages", ABOUT_ENTRIES, PAGEDET_TARGET_TASK,
	  "pid,vaddr,pfn,pte,vma_start,vma_end,vma_name", NULL,
	  { "pid", "vaddr" }, 0, false },
	{ "mappers", ABOUT_ENTRIES, PAGEDET_TARGET_MAPPERS,
	  "pfn,pid,vaddr,map", NULL, { "pfn", "pid", "vaddr", "map" }, 0,
	  false },
	{ "how often mapped", ABOUT_ENTRIES, PAGEDET_TARGET_PFN,
	  "pfn,user_maps,notes", NULL, { "pfn" }, 0, false },
	{ "zones", ABOUT_ZONES, PAGEDET_TARGET_PFN, "pfn,node,zone", NULL,
	  { "pfn" }, 0, false },
	{ "vmalloc", ABOUT_VMALLOC, PAGEDET_TARGET_KADDR,
	  "ask,pfn,map,vma_name", NULL, { "ask" }, 0, false },
	{ "who allocated", ABOUT_OWNERS, PAGEDET_TARGET_PFN,
	  "pfn,alloc_pid,alloc_comm,alloc_order,alloc_ns,free_ns,gfp,"
	  "migratetype,alloc_stack,free_stack,allocator", NULL, { "pfn" }, 0,
	  false },
	{ "cgroup", ABOUT_CGROUPS | ABOUT_PAGES, PAGEDET_TARGET_CGROUP,
	  "pfn,kind", "/", { "pfn" }, 0, false },
	{ "stacks", ABOUT_STACKS | ABOUT_ENTRIES, PAGEDET_TARGET_TASK,
	  "pid,vaddr", NULL, { "pid", "tid", "vaddr" },
	  PAGEDET_Q_TASK_STACKS, false },
	{ "tasks", ABOUT_TASKS, 0, NULL, NULL, { "pid" }, 0, false },
	{ "log", ABOUT_LOG, 1000, NULL, NULL, { "seq" }, 0, false },
};
const unsigned n_questions = PDET_COUNT(questions);

/* CPU time of this process, because others may be running. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- lines of JSON --- */

/* Skips a value: a text, a list, an object, a number. */
static const char *skip(const char *at)
{
	unsigned depth = 0;
	bool text = false;

	for (; *at; at++) {
		if (text) {
			if (*at == '\\')
				at++;
			else if (*at == '"')
				text = false;
			continue;
		}
		if (*at == '"')
			text = true;
		else if (*at == '{' || *at == '[')
			depth++;
		else if ((*at == '}' || *at == ']') && !depth--)
			break;
		else if (*at == ',' && !depth)
			break;
	}
	return at;
}

/* Gets the next member from *at on; false if there is none. */
static bool member(const char **at, const char **name, size_t *name_len,
		   const char **value, size_t *value_len)
{
	const char *end;

	if (**at != '{' && **at != ',')
		return false;
	*name = *at + 2;
	end = strchr(*name, '"');
	if (!end)
		return false;
	*name_len = (size_t)(end - *name);
	*value = end + 2;
	*at = skip(*value);
	*value_len = (size_t)(*at - *value);
	return true;
}

static const char *find(const char *row, const char *wanted, size_t wanted_len,
			size_t *len)
{
	const char *at = row, *name, *value;
	size_t n;

	while (member(&at, &name, &n, &value, len))
		if (n == wanted_len && !memcmp(name, wanted, n))
			return value;
	return NULL;
}

static const char *get(const char *row, const char *name, size_t *len)
{
	return find(row, name, strlen(name), len);
}

static char *key_of(const struct question *q, const char *row)
{
	char key[4 * 256], *end = key;
	size_t len;
	unsigned i;

	for (i = 0; i < 4 && q->keys[i]; i++) {
		const char *value = get(row, q->keys[i], &len);

		len = value ? PDET_MIN(len, 250ul) : 1;
		end = mempcpy(end, value ? value : "?", len);
		*end++ = ' ';
	}
	*end = '\0';
	return strdup(key);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct asked_row *)a)->key,
		      ((const struct asked_row *)b)->key);
}

static void find_rows(struct asked *a, const struct question *q)
{
	size_t cap = 0;
	char *at, *nl;

	for (at = a->text; at && *at; at = nl + 1) {
		nl = strchr(at, '\n');
		if (!nl)
			break;
		*nl = '\0';
		if (!strncmp(at, "{\"total\"", 8) || strstr(at, "\"found\":"))
			continue;
		if (a->n == cap) {
			cap = cap ? cap * 2 : 1024;
			a->row = realloc(a->row, cap * sizeof(*a->row));
		}
		a->row[a->n++] = (struct asked_row){ at, (size_t)(nl - at),
						     key_of(q, at) };
	}
	if (a->n)
		qsort(a->row, a->n, sizeof(*a->row), by_key);
}

/* --- asking --- */

static int add_record(void *arg, const struct pagedet_log_record *r)
{
	FILE *f = arg;
	size_t i;

	fprintf(f, "{\"seq\":%llu,\"text\":\"",
		(unsigned long long)r->seq);
	for (i = 0; i < r->len; i++)
		fprintf(f, "%02x", (unsigned char)r->text[i]);
	fprintf(f, "\"}\n");
	return 0;
}

static void ask_log(struct asked *ret, struct pagedet *pd)
{
	uint64_t lost = 0;
	size_t len;
	FILE *f = open_memstream(&ret->text, &len);

	ret->error = pagedet_kernel_log(pd, add_record, f, &lost);
	ret->partial = lost;
	fclose(f);
}

static void ask_tasks(struct asked *ret, struct pagedet *pd)
{
	static struct pagedet_task tasks[4096];
	uint64_t lost = 0;
	size_t len;
	FILE *f = open_memstream(&ret->text, &len);
	int i, n;

	n = pagedet_tasks(pd, 0, tasks, 4096, &lost);
	for (i = 0; i < n && i < 4096; i++)
		fprintf(f, "{\"pid\":%u,\"tgid\":%u}\n", tasks[i].pid,
			tasks[i].tgid);
	ret->error = n < 0 ? n : 0;
	ret->partial = lost;
	fclose(f);
}

/* Chooses some of the whole dump: pages of each kind, all processes, and the
 * zero page, whose mappings the kernel does not count. */
static unsigned choose_items(const struct question *q,
			     const struct objects *o, struct pagedet_item *item)
{
	unsigned n = 0;
	size_t i;

	if (q->target == PAGEDET_TARGET_TASK)
		for (i = 0; i < o->of[OBJECT_MM].n && n < 3; i++) {
			item[n].pid = (uint32_t)o->of[OBJECT_MM].data[i].id;
			item[n++].count = UINT64_MAX;
		}
	else if (q->target == PAGEDET_TARGET_KADDR)
		for (i = 0; i < o->of[OBJECT_VMAP].n && n < 64; i += 3) {
			item[n].first = o->of[OBJECT_VMAP].data[i].id;
			item[n++].count = 1;
		}
	else if (q->target == PAGEDET_TARGET_PFN ||
		 q->target == PAGEDET_TARGET_MAPPERS)
		for (i = 0; i < o->of[OBJECT_PAGE].n && n < 63; i += 5) {
			item[n].first = o->of[OBJECT_PAGE].data[i].id;
			item[n++].count = 1;
		}
	if (o->zero && (q->target == PAGEDET_TARGET_PFN ||
			q->target == PAGEDET_TARGET_MAPPERS)) {
		item[n].first = o->zero;
		item[n++].count = 1;
	}
	return n;
}

static int emit(struct asked *ret, struct pagedet *pd, struct pagedet_iter *it)
{
	struct pagedet_emit_options json = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *out;
	const char *text;
	size_t len;
	int r;

	r = pagedet_emitter_new(pd, &json, &out);
	if (r < 0)
		return r;
	r = pagedet_emit_all(out, it);
	pagedet_emitter_finish(out);
	text = pagedet_emitter_text(out, &len);
	ret->text = malloc(len + 1);
	memcpy(ret->text, text, len);
	ret->text[len] = '\0';
	pagedet_emitter_free(out);
	return r;
}

static void ask_query(struct asked *ret, struct pagedet *pd,
		      const struct question *q, const struct objects *o,
		      double deadline)
{
	struct pagedet_item items[64] = { { 0 } };
	struct pagedet_coverage c = { .size = sizeof(c) };
	struct pagedet_query query = PAGEDET_QUERY_INIT;
	uint32_t by;
	struct pagedet_iter *it;

	query.target = q->target;
	query.items = items;
	query.n_items = choose_items(q, o, items);
	query.path = q->path;
	query.options = q->options;
	query.deadline_ns = (uint64_t)(deadline * 1e9);
	if (q->options & PAGEDET_Q_GROUP) {
		by = !strcmp(q->fields, "path") ? PAGEDET_FIELD_PATH :
						  PAGEDET_FIELD_KIND;
		query.group_by = &by;
		query.n_group_by = 1;
	} else if (pagedet_fields_parse(pd, q->fields, &query)) {
		abort();
	}
	ret->error = pagedet_query(pd, &query, &it);
	if (ret->error < 0)
		return;
	ret->error = emit(ret, pd, it);
	if (pagedet_coverage(it, &c) == 0)
		ret->partial = !c.complete || c.stopped || c.tasks_denied ||
			       c.tasks_damaged || c.files_denied;
	pagedet_iter_free(it);
}

void asked_ask(struct asked *ret, struct pagedet *pd, const struct question *q,
	       const struct objects *o, double deadline)
{
	const double start = now();

	memset(ret, 0, sizeof(*ret));
	if (!q->target)
		ask_tasks(ret, pd);
	else if (q->target == 1000)
		ask_log(ret, pd);
	else
		ask_query(ret, pd, q, o, deadline);
	ret->seconds = now() - start;
	find_rows(ret, q);
}

void asked_free(struct asked *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		free(a->row[i].key);
	free(a->row);
	free(a->text);
	memset(a, 0, sizeof(*a));
}

/* --- comparing --- */

static bool is_said_apart(const char *name, size_t len)
{
	static const char *const names[] = {
		"missing", "notes", "flags_unknown", "pte_unknown", "pages",
		"bytes",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

static bool has_note(const char *row, const char *note)
{
	size_t len;
	const char *notes = get(row, "notes", &len);

	return notes && memmem(notes, len, note, strlen(note));
}

/* The name of a field that is answered differently, or NULL. */
static const char *differs(const char *was, const char *is, size_t *len)
{
	const char *at = is, *name, *value, *old;
	size_t n, value_len, old_len, ignored;

	while (member(&at, &name, &n, &value, &value_len)) {
		if (is_said_apart(name, n) ||
		    (!strncmp(name, "flags", n) &&
		     get(is, "flags_unknown", &ignored)) ||
		    (!strncmp(name, "pte", n) &&
		     get(is, "pte_unknown", &ignored)) ||
		    (!strncmp(name, "user_maps", n) &&
		     has_note(is, "partial")) ||
		    (!strncmp(name, "kind", n) &&
		     !strncmp(value, "\"unknown\"", value_len)))
			continue;
		old = find(was, name, n, &old_len);
		if (old && old_len == value_len &&
		    !memcmp(old, value, value_len))
			continue;
		*len = n;
		return name;
	}
	return NULL;
}

static uint64_t sum(const struct asked *a)
{
	uint64_t pages = 0;
	const char *value;
	size_t i, len;

	for (i = 0; i < a->n; i++) {
		value = get(a->row[i].at, "pages", &len);
		pages += value ? strtoull(value, NULL, 10) : 0;
	}
	return pages;
}

const char *asked_contradicts(const struct question *q,
			      const struct asked *was, const struct asked *is,
			      char *buf, size_t size)
{
	size_t i, found = 0, len;
	const char *what;

	if (is->error < 0)
		return NULL;
	for (i = 0; i < is->n; i++) {
		const struct asked_row *old = bsearch(
			&is->row[i], was->row, was->n, sizeof(*was->row),
			by_key);

		if (!old && (strstr(is->row[i].key, "?") ||
			     strstr(is->row[i].at, "\"missing\":")))
			continue;
		if (!old) {
			snprintf(buf, size, "this was not there: %.300s",
				 is->row[i].at);
			return buf;
		}
		found++;
		what = differs(old->at, is->row[i].at, &len);
		if (what) {
			snprintf(buf, size, "%.*s is another: %.300s, was "
				 "%.300s", (int)len, what, is->row[i].at,
				 old->at);
			return buf;
		}
	}
	if (q->counts && (is->partial ? sum(is) > sum(was) :
					sum(is) != sum(was))) {
		snprintf(buf, size, "%llu pages were %llu, and %s",
			 (unsigned long long)sum(is),
			 (unsigned long long)sum(was),
			 is->partial ? "it is a part" : "it is all");
		return buf;
	}
	if (found < was->n && !is->partial && !q->counts &&
	    is->n < was->n) {
		snprintf(buf, size, "%zu rows were %zu, and nothing says so",
			 is->n, was->n);
		return buf;
	}
	return NULL;
}
