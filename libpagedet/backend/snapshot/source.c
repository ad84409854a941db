/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "snapshot": saved rows, opened instead of a kernel. A scan lists
 * the rows unchanged; a saved scan also answers for single frames. Nothing is
 * known of pages that were not saved.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/text/plural.h"
#include "snapshot/format.h"
#include "snapshot/read.h"

#define SNAPSHOT PAGEDET_SOURCE_SNAPSHOT

struct saved {
	struct pdet_backend backend;
	const char *name;
	int fd;
	struct pdet_snapshot *file;
};

struct session {
	struct pdet_session session;
	struct pdet_snapshot_block *block;
	struct pdet_fields fields; /* columns of the file */
};

static struct saved *saved_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct saved, backend);
}

static int open_file(const char *name)
{
	/* The caller named the file, so it is not below the root. */
	return open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static int saved_probe(struct pdet_env *env, const struct pdet_input *in)
{
	const char *name;
	char head[PDET_SNAPSHOT_MAGIC_LEN];
	struct stat st;
	ssize_t n;
	int fd;

	if (in->options->n_files != 1)
		return 0;
	name = in->options->files[0];
	if (stat(name, &st) < 0)
		return pdet_fail_errno(env, "cannot open %s", name);
	/* Do not open other files: opening some has side effects. */
	if (!S_ISREG(st.st_mode))
		return 0;
	fd = open_file(name);
	if (fd < 0)
		return pdet_fail_errno(env, "cannot open %s", name);
	n = pdet_pread(fd, head, sizeof(head), 0);
	close(fd);
	if (n < 0) {
		errno = (int)-n;
		return pdet_fail_errno(env, "cannot read %s", name);
	}
	return n == sizeof(head) && pdet_is_snapshot(head, sizeof(head)) ? 100 :
									  0;
}

static ssize_t read_at(void *arg, void *buf, size_t n, uint64_t offset)
{
	const struct saved *s = arg;

	return pdet_pread(s->fd, buf, n, offset);
}

/* Log details of the file. */
static void tell(const struct saved *s, struct pdet_env *env)
{
	const struct pdet_snapshot_about *a = pdet_snapshot_about(s->file);
	const struct pdet_snapshot_end *end = pdet_snapshot_end(s->file);
	time_t seconds = (time_t)(a->first_ns / 1000000000);
	char when[32] = "";
	struct tm tm;

	if (a->first_ns && gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), " at %Y-%m-%d %H:%M:%S UTC", &tm);
	pdet_log(env, PAGEDET_LOG_INFO, "%s: %llu row%s saved%s of %s%sLinux "
		 "%s", s->name, (unsigned long long)end->rows,
		 pdet_plural(end->rows), when, a->host,
		 *a->host ? ", " : "", *a->release ? a->release : "?");
	if (!end->coverage.complete)
		pdet_log(env, PAGEDET_LOG_WARNING, "%s: the saved query was "
			 "answered only in part", s->name);
}

static int saved_open(struct pdet_backend *b, struct pdet_env *env,
		      const struct pdet_input *in)
{
	struct saved *s = saved_of(b);
	struct pdet_snapshot_file file = { .read_at = read_at, .arg = s };
	struct stat st;
	int r;

	s->name = file.name = in->options->files[0];
	s->fd = open_file(s->name);
	if (s->fd < 0 || fstat(s->fd, &st) < 0) {
		r = pdet_fail_errno(env, "cannot open %s", s->name);
	} else {
		file.size = (uint64_t)st.st_size;
		r = pdet_snapshot_open(env, &file, &s->file);
	}
	if (r < 0) {
		if (s->fd >= 0)
			close(s->fd);
		return r;
	}
	b->no_cache = true;
	b->page_size = pdet_snapshot_about(s->file)->page_size;
	tell(s, env);
	return 0;
}

static void saved_close(struct pdet_backend *b)
{
	struct saved *s = saved_of(b);

	pdet_snapshot_close(s->file);
	close(s->fd);
}

static void saved_info(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_kernel_info *ret)
{
	const struct pdet_snapshot *file = saved_of(b)->file;
	const struct pdet_snapshot_about *a = pdet_snapshot_about(file);

	(void)env;
	ret->page_size = a->page_size;
	ret->max_pfn = a->max_pfn;
	ret->nodes = a->nodes;
	ret->big_endian = a->big_endian;
	ret->first_ns = a->first_ns;
	ret->hash_key = a->hash_key;
	ret->hash_zero = a->hash_zero;
	ret->last_ns = pdet_snapshot_end(file)->last_ns;
	snprintf(ret->arch, sizeof(ret->arch), "%s", a->arch);
	snprintf(ret->release, sizeof(ret->release), "%s", a->release);
	snprintf(ret->boot_id, sizeof(ret->boot_id), "%s", a->boot_id);
	snprintf(ret->host, sizeof(ret->host), "%s", a->host);
}

static const struct pdet_snapshot *saved_file(struct pdet_backend *b)
{
	return saved_of(b)->file;
}

static void cannot(struct pdet_ability *a, unsigned reason, const char *advice)
{
	a->reason = (uint8_t)reason;
	snprintf(a->advice, sizeof(a->advice), "%s", advice);
}

static bool is_found_by_pfn(const struct saved *s)
{
	const uint32_t flags = pdet_snapshot_end(s->file)->flags;

	return flags & PDET_SNAPSHOT_ALL_PFN && flags & PDET_SNAPSHOT_SORTED;
}

static void saved_survey(struct pdet_backend *b, struct pdet_env *env,
			 uint32_t target, unsigned field, unsigned source,
			 struct pdet_ability *ret)
{
	const struct saved *s = saved_of(b);
	const struct pdet_snapshot_about *a = pdet_snapshot_about(s->file);

	(void)env;
	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->cost = PAGEDET_COST_FREE;
	ret->partial = true;
	if (!pdet_fields_has(&a->fields, field))
		cannot(ret, PAGEDET_UNSUPPORTED,
		       "it was not saved: name it when you make the snapshot");
	else if (a->field[field].why != PAGEDET_HAVE)
		cannot(ret, a->field[field].why, a->field[field].advice);
	else if (target == PAGEDET_TARGET_SCAN ||
		 target == PAGEDET_TARGET_NOTHING || is_found_by_pfn(s))
		ret->reason = PAGEDET_HAVE;
	else
		cannot(ret, PAGEDET_UNSUPPORTED, "the saved rows are not in "
		       "the order of frames: scan --where pfn=N finds one");
}

static int saved_prepare(struct pdet_backend *b, struct pdet_env *env,
			 const struct pdet_wants *wants)
{
	(void)b;
	(void)env;
	(void)wants;
	return 0;
}

static int saved_session_new(struct pdet_backend *b, struct pdet_env *env,
			     const struct pdet_wants *wants,
			     struct pdet_session **ret)
{
	const struct pdet_fields *there =
		&pdet_snapshot_about(saved_of(b)->file)->fields;
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->session.backend = b;
	s->session.env = *env;
	s->session.wants = wants;
	s->fields = wants->fields;
	pdet_fields_add(&s->fields, PAGEDET_FIELD_PFN);
	s->fields.bits[0] &= there->bits[0];
	s->fields.bits[1] &= there->bits[1];
	*ret = &s->session;
	return 0;
}

static void saved_session_free(struct pdet_session *session)
{
	struct session *s = PDET_CONTAINER(session, struct session, session);

	pdet_snapshot_block_free(s->block);
	free(s);
}

/* Load the block that contains a frame. Returns 0 if there is none. */
static int load_block_of(struct session *s, uint64_t pfn)
{
	const struct pdet_snapshot *file = saved_of(s->session.backend)->file;
	const struct pdet_snapshot_places *places = pdet_snapshot_places(file);
	size_t low = 0, high = places->n;
	int r;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (places->data[mid].last < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == places->n || places->data[low].first > pfn)
		return 0;
	if (!s->block)
		s->block = pdet_snapshot_block_new();
	if (!s->block)
		return -ENOMEM;
	r = pdet_snapshot_load(file, &s->session.env, low, &s->fields,
			       s->block);
	return r < 0 ? r : 1;
}

/* Fill the row from a saved row of its frame, or as unknown. */
static int fill_row(struct session *s, struct pdet_batch *b, uint32_t row,
		    const struct pdet_fields *want, unsigned source)
{
	const uint64_t pfn = pdet_batch_get(b, row, PAGEDET_FIELD_PFN,
					    UINT64_MAX);
	int r = load_block_of(s, pfn);
	int64_t at = r > 0 ? pdet_snapshot_find(s->block, pfn) : -1;
	unsigned f;

	if (r < 0)
		return r;
	if (at >= 0) {
		pdet_snapshot_get(s->block, (uint32_t)at, 1, want, b, row,
				  source);
		return 0;
	}
	pdet_fields_for(f, want)
		pdet_put_lost(b, row, f, PAGEDET_EXCLUDED, source);
	return 0;
}

static int saved_fill(struct pdet_session *session, struct pdet_batch *b,
		      const struct pdet_fields *want, unsigned source)
{
	struct session *s = PDET_CONTAINER(session, struct session, session);
	struct pdet_fields these = *want;
	uint32_t row;
	int r = 0;

	/* A scan has already written all columns. */
	if (session->wants->target == PAGEDET_TARGET_SCAN)
		return 0;
	/* Only the snapshot knows the time, and the notes of that time. */
	if (session->wants->target != PAGEDET_TARGET_LOG) {
		pdet_fields_add(&these, PAGEDET_FIELD_TIME_NS);
		pdet_fields_add(&these, PAGEDET_FIELD_NOTES);
		these.bits[0] &= s->fields.bits[0];
		these.bits[1] &= s->fields.bits[1];
	}
	for (row = 0; row < b->n && r == 0; row++)
		r = fill_row(s, b, row, &these, source);
	return r;
}

const struct pdet_backend_ops pdet_snapshot_ops = {
	.name = "snapshot",
	.sources = PAGEDET_SOURCE_BIT(SNAPSHOT),
	.size = sizeof(struct saved),
	.probe = saved_probe,
	.open = saved_open,
	.close = saved_close,
	.info = saved_info,
	.survey = saved_survey,
	.prepare = saved_prepare,
	.session_new = saved_session_new,
	.session_free = saved_session_free,
	.fill = saved_fill,
	.saved = saved_file,
};
