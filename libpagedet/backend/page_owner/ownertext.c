/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source page_owner, from its text: opens it, surveys fields and fills
 * rows. A page without a record is free, or page_owner never saw it. Another
 * source may know more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backend/page_owner/ownertext.h"
#include "base/codec/text_stream.h"
#include "kernel/page/flag_names.h"
#include "memory/dump_kind.h"

/* The first record must be this close to the start. */
#define HEAD ((size_t)1 << 20)

/* --- opening --- */

static bool is_debugfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == DEBUGFS_MAGIC;
}

/* A file that is not a dump is examined as text, decompressed if necessary. */
static bool is_text(struct pdet_env *env, const char *path)
{
	struct pdet_text_stream *stream;
	struct pdet_scan head;
	char dump[PDET_DUMP_HEAD];
	struct stat st;
	bool ours = false;
	ssize_t n;
	int fd;

	/* Never probe a pipe: its data can be read only once. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	n = pdet_pread(fd, dump, sizeof(dump), 0);
	switch (n > 0 ? pdet_dump_form(dump, (size_t)n) : PDET_DUMP_ELF) {
	case PDET_DUMP_NONE:
	case PDET_DUMP_GZIP:
	case PDET_DUMP_ZSTD:
	case PDET_DUMP_XZ:
		break;
	default:
		close(fd);
		return false;
	}
	if (pdet_text_stream_fd(env, fd, path, &stream) == 0) {
		ours = pdet_text_stream_peek(stream, env, HEAD, &head) == 0 &&
		       pdet_owner_is_text(&head);
		pdet_text_stream_close(stream);
	}
	pdet_clear(env);
	close(fd);
	return ours;
}

static int ownertext_probe(struct pdet_env *env, const struct pdet_input *in)
{
	char path[4096];

	/* In a captured tree a missing file was not captured. */
	if (!in->options->n_files && *env->root)
		return !pdet_path(env, path, sizeof(path), OWNERTEXT_PATH) &&
		       !access(path, F_OK) ? 30 : 0;
	if (!in->options->n_files)
		return 30;
	return in->options->n_files == 1 &&
	       is_text(env, in->options->files[0]) ? 90 : 0;
}

/* Only one call, so that a missing file costs nothing until it is needed. */
static void open_live(struct ownertext *o, struct pdet_env *env)
{
	o->fd = pdet_open(env, OWNERTEXT_PATH);
	if (o->fd < 0) {
		o->error = o->fd;
		o->fd = -1;
		o->backend.dear = true;
	} else if (!is_debugfs(o->fd)) {
		/* A copy, which cannot be read by page. */
		close(o->fd);
		o->fd = -1;
		o->is_table = true;
	}
}

static int fail_closed(struct ownertext *o, struct pdet_env *env)
{
	pdet_ownertext_explain(o, env);
	pdet_fail(env, ENOTSUP, "cannot read page_owner's records: %s",
		  pdet_state_text(o->reason));
	pdet_advise(env, "%s", o->advice);
	return o->reason == PAGEDET_NO_ACCESS ? -EACCES : -ENOTSUP;
}

static int ownertext_open(struct pdet_backend *b, struct pdet_env *env,
			  const struct pdet_input *in)
{
	struct ownertext *o = ownertext_of(b);

	o->fd = -1;
	if (in->options->n_files) {
		o->file = in->options->files[0];
		o->is_table = true;
		b->no_cache = true;
	} else {
		open_live(o, env);
	}
	/* Otherwise report the reason when a field is asked for. */
	if (o->error && !(in->sources & ~b->sources))
		return fail_closed(o, env);
	if (pthread_mutex_init(&o->lock, NULL) == 0)
		return 0;
	if (o->fd >= 0)
		close(o->fd);
	return pdet_fail(env, ENOMEM, "no memory");
}

static void ownertext_close(struct pdet_backend *b)
{
	struct ownertext *o = ownertext_of(b);

	pdet_ownertext_unload(o);
	pdet_pairs_free(&o->stacks.by_text);
	pdet_vec_free(&o->stacks.list);
	pdet_vec_free(&o->stacks.frames);
	pdet_texts_free(&o->frames);
	if (o->fd >= 0)
		close(o->fd);
	pthread_mutex_destroy(&o->lock);
}

/* The text has no facts about the kernel as a whole. For this machine they are
 * known. */
static void ownertext_info(struct pdet_backend *b, struct pdet_env *env,
			   struct pdet_kernel_info *ret)
{
	struct utsname name;

	if (ownertext_of(b)->file || *env->root || ret->page_size ||
	    uname(&name) < 0)
		return;
	ret->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	ret->live = true;
	snprintf(ret->release, sizeof(ret->release), "%s", name.release);
	snprintf(ret->arch, sizeof(ret->arch), "%s", name.machine);
}

static void ownertext_survey(struct pdet_backend *b, struct pdet_env *env,
			     uint32_t target, unsigned field, unsigned source,
			     struct pdet_ability *ret)
{
	const struct pdet_fields ours = pdet_owner_fields();
	struct ownertext *o = ownertext_of(b);

	(void)source;
	memset(ret, 0, sizeof(*ret));
	if (field == PAGEDET_FIELD_PFN && o->file &&
	    (target == PAGEDET_TARGET_PFN || target == PAGEDET_TARGET_PHYS ||
	     target == PAGEDET_TARGET_SCAN ||
	     target == PAGEDET_TARGET_NOTHING)) {
		ret->reason = PAGEDET_HAVE;
		return;
	}
	/* Where there is a kernel, other sources know them now. */
	if (o->file && (field == PAGEDET_FIELD_FLAGS ||
			field == PAGEDET_FIELD_FLAGS_KNOWN)) {
		ret->reason = PAGEDET_HAVE;
		ret->cost = PAGEDET_COST_FREE;
		ret->partial = true;
		return;
	}
	if (!pdet_fields_has(&ours, field)) {
		ret->reason = PAGEDET_UNSUPPORTED;
		return;
	}
	ret->reason = PAGEDET_HAVE;
	ret->cost = o->file ? PAGEDET_COST_FREE : PAGEDET_COST_LOOKUP;
	/* Charged pages of some kinds have a record without that line, and a
	 * page may have no record. */
	ret->partial = field == PAGEDET_FIELD_MEMCG_NAME;
	if (!o->error)
		return;
	pdet_ownertext_explain(o, env);
	ret->reason = o->reason;
	ret->final = o->off;
	memcpy(ret->advice, o->advice, sizeof(ret->advice));
}

static int ownertext_prepare(struct pdet_backend *b, struct pdet_env *env,
			     const struct pdet_wants *wants)
{
	struct ownertext *o = ownertext_of(b);

	(void)wants;
	return o->is_table ? pdet_ownertext_load(o, env) : 0;
}

/* --- sessions --- */

static void ownertext_session_free(struct pdet_session *base)
{
	struct ownertext_session *s = (struct ownertext_session *)base;

	if (!s)
		return;
	if (s->fd >= 0 && s->fd != s->o->fd)
		close(s->fd);
	pdet_pairs_free(&s->stacks.by_text);
	pdet_vec_free(&s->stacks.list);
	pdet_vec_free(&s->stacks.frames);
	free(s->buf);
	free(s->cover_buf);
	free(s);
}

static int ownertext_session_new(struct pdet_backend *b,
				 struct pdet_env *env,
				 const struct pdet_wants *wants,
				 struct pdet_session **ret)
{
	struct ownertext_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->session.backend = b;
	s->session.env = *env;
	s->session.wants = wants;
	s->o = ownertext_of(b);
	/* Reads use offsets, so all sessions share the descriptor. */
	s->fd = s->o->fd;
	*ret = &s->session;
	return 0;
}

/* --- rows --- */

static void put_state(struct pdet_batch *b, uint32_t row,
		      const struct pdet_fields *want, unsigned source,
		      unsigned state)
{
	const struct pdet_fields ours = pdet_owner_fields();
	unsigned f;

	pdet_fields_for(f, &ours)
		if (pdet_fields_has(want, f))
			pdet_put_lost(b, row, f, state, source);
}

static unsigned state_of(int error)
{
	/* free, or page_owner never saw it */
	return error ? pdet_reason_of(error) : PAGEDET_EXCLUDED;
}

/* The flags of the first page of an allocation. Before 4.9, and in a text that
 * page_owner_sort has written, they have another form or are missing. */
static void put_flags(struct pdet_batch *b, uint32_t row, uint64_t pfn,
		      const struct pdet_fields *want,
		      const struct pdet_owner_record *r, unsigned source)
{
	static const unsigned fields[] = {
		PAGEDET_FIELD_FLAGS, PAGEDET_FIELD_FLAGS_KNOWN,
	};
	uint64_t bits[2];
	const bool said = r && pfn == r->pfn &&
			  pdet_flags_named(r->flags, &bits[0], &bits[1]);
	size_t i;

	for (i = 0; i < PDET_COUNT(fields); i++) {
		if (!pdet_fields_has(want, fields[i]))
			continue;
		if (said)
			pdet_put(b, row, fields[i], bits[i], source);
		else
			pdet_put_lost(b, row, fields[i], PAGEDET_UNSUPPORTED,
				      source);
	}
}

static int put_from_table(struct ownertext_session *s, struct pdet_batch *b,
			  uint32_t row, uint64_t pfn,
			  const struct pdet_fields *want, unsigned source)
{
	const struct ownertext_entry *e = pdet_ownertext_find(s->o, pfn);
	struct pdet_owner_record r;

	if (!e) {
		if (s->o->file)
			put_flags(b, row, pfn, want, NULL, source);
		put_state(b, row, want, source,
			  pdet_ownertext_missing(s->o, pfn));
		return 0;
	}
	pdet_ownertext_record(s->o, e, &r);
	if (s->o->file)
		put_flags(b, row, pfn, want, &r, source);
	pdet_owner_put(b, row, want, &r, &s->o->stacks.list.data[e->stack],
		       source);
	return 0;
}

static int put_from_kernel(struct ownertext_session *s, struct pdet_batch *b,
			   uint32_t row, uint64_t pfn,
			   const struct pdet_fields *want, unsigned source)
{
	const struct pdet_owner_record *r;
	int64_t stack;
	int found = pdet_ownertext_ask(s, pfn, &r);

	if (found != 1) {
		put_state(b, row, want, source, state_of(found));
		return 0;
	}
	stack = pdet_ownertext_stack(s->o, &s->stacks, &r->stack);
	if (stack < 0)
		return -ENOMEM;
	pdet_owner_put(b, row, want, r, &s->stacks.list.data[stack], source);
	return 0;
}

static int ownertext_fill(struct pdet_session *base, struct pdet_batch *b,
			  const struct pdet_fields *want, unsigned source)
{
	struct ownertext_session *s = (struct ownertext_session *)base;
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	uint32_t row;
	int r = 0;

	/* A record read for an earlier batch may be outdated. */
	s->read = false;
	for (row = 0; row < b->n && r == 0; row++) {
		const uint16_t cell = b->cell[PAGEDET_FIELD_PFN][row];

		if (PAGEDET_CELL_STATE(cell) != PAGEDET_HAVE)
			put_state(b, row, want, source,
				  PAGEDET_CELL_STATE(cell));
		else if (s->o->is_table)
			r = put_from_table(s, b, row, pfn[row], want, source);
		else
			r = put_from_kernel(s, b, row, pfn[row], want, source);
	}
	return r;
}

static int ownertext_memory(struct pdet_backend *b, struct pdet_env *env,
			    struct pdet_ranges *ret)
{
	struct ownertext *o = ownertext_of(b);
	int r;

	if (!o->file)
		return pdet_fail(env, ENOTSUP, "page_owner does not say where "
				 "memory is");
	r = pdet_ownertext_load(o, env);
	if (r == 0 && pdet_ownertext_ranges(o, ret) < 0)
		r = pdet_fail(env, ENOMEM, "no memory");
	return r;
}

/* --- all records --- */

static int ownertext_owners(struct pdet_backend *b, struct pdet_env *env,
			    struct pdet_owners_text *ret)
{
	struct ownertext *o = ownertext_of(b);

	ret->fd = -1;
	if (o->file) {
		snprintf(ret->path, sizeof(ret->path), "%s", o->file);
		return 0;
	}
	if (o->error)
		return fail_closed(o, env);
	ret->fd = o->fd;
	return pdet_path(env, ret->path, sizeof(ret->path), OWNERTEXT_PATH);
}

const struct pdet_backend_ops pdet_ownertext_ops = {
	.name = "page_owner",
	.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_OWNER),
	.size = sizeof(struct ownertext),
	.probe = ownertext_probe,
	.open = ownertext_open,
	.close = ownertext_close,
	.info = ownertext_info,
	.survey = ownertext_survey,
	.prepare = ownertext_prepare,
	.session_new = ownertext_session_new,
	.session_free = ownertext_session_free,
	.fill = ownertext_fill,
	.memory = ownertext_memory,
	.stack = pdet_ownertext_stack_text,
	.owners = ownertext_owners,
};
