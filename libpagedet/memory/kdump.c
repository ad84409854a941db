/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Opens a compressed dump: one file, or the parts of a split dump in any order.
 * The blocks of a missing part are unreadable.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory/kdump.h"
#include "memory/note.h"
#include "pagedet.h"

#define VMCOREINFO_MAX ((uint64_t)1 << 20)

static bool kdump_probe(struct pdet_env *env, const int *fds, size_t n)
{
	enum pdet_dump_form form;

	(void)env;
	if (!n)
		return false;
	form = pdet_dump_file_form(fds[0]);
	return form == PDET_DUMP_KDUMP || form == PDET_DUMP_DISKDUMP ||
		form == PDET_DUMP_FLAT;
}

static int no_memory(struct pdet_env *env)
{
	return pdet_fail(env, ENOMEM, "no memory");
}

static int open_files(struct kdump *k, struct pdet_env *env, const int *fds,
		      size_t n, struct kdump_head *heads)
{
	char magic[PDET_DUMP_HEAD];
	enum pdet_dump_form form;
	size_t i;
	int r;

	k->file = calloc(n, sizeof(*k->file));
	if (!k->file)
		return no_memory(env);
	for (i = 0; i < n; i++) {
		struct pdet_dump_file *file = &k->file[i];

		r = pdet_dump_file_open(file, env, fds[i]);
		if (r < 0)
			return r;
		k->n_files++;
		form = PDET_DUMP_NONE;
		if (pdet_dump_file_read(file, NULL, magic, sizeof(magic),
					0) == 0)
			form = pdet_dump_form(magic, sizeof(magic));
		if (form != PDET_DUMP_KDUMP && form != PDET_DUMP_DISKDUMP)
			return pdet_fail(env, EBADMSG, "it does not begin as a "
					 "dump does%s", file->flattened ?
					 ", as a flattened one should" : "");
		r = pdet_kdump_head_read(&heads[i], env, file);
		if (r < 0)
			return r;
		if (n > 1 && !heads[i].split)
			return pdet_fail(env, EINVAL, "it is a complete dump, "
					 "not one part of %zu", n);
	}
	return 0;
}

/* Check that the files belong to one dump. */
static int check_parts(struct pdet_env *env, const struct kdump_head *heads,
		       size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (heads[i].block != heads->block ||
		    heads[i].frames != heads->frames ||
		    heads[i].machine != heads->machine ||
		    strcmp(heads[i].release, heads->release) != 0)
			return pdet_fail(env, EINVAL,
					 "the files are of different dumps");
	return 0;
}

static int add_part(struct kdump *k, struct pdet_env *env,
		    const struct pdet_dump_file *file,
		    const struct kdump_head *head, bool absent)
{
	struct kdump_part *part = &k->part[k->n_parts++];

	part->file = file;
	part->absent = absent;
	part->descriptors = head->bitmap + head->bitmap_bytes;
	return pdet_kdump_bitmap_open(&part->bitmap, env, file, head);
}

/*
 * Add frames whose part is missing. The bitmaps of every part show which frames
 * exist.
 */
static int add_absent(struct kdump *k, struct pdet_env *env,
		      const struct kdump_head *head, uint64_t first,
		      uint64_t end)
{
	struct kdump_head hole = *head;

	if (first >= end)
		return 0;
	pdet_log(env, PAGEDET_LOG_WARNING, "the part of the dump with frames "
		 "%#llx-%#llx is missing", (unsigned long long)first,
		 (unsigned long long)end - 1);
	hole.first = first;
	hole.end = end;
	return add_part(k, env, &k->file[0], &hole, true);
}

static bool is_empty(const struct kdump_head *head)
{
	return head->first == head->end;
}

/* The part with the next frame from @at on, or n_files if there is none. */
static size_t next_part(const struct kdump *k, const struct kdump_head *heads,
			uint64_t at)
{
	size_t i, next = k->n_files;

	for (i = 0; i < k->n_files; i++)
		if (!is_empty(&heads[i]) && heads[i].first >= at &&
		    (next == k->n_files || heads[i].first < heads[next].first))
			next = i;
	return next;
}

static int add_parts(struct kdump *k, struct pdet_env *env,
		     const struct kdump_head *heads)
{
	size_t i, next, left = 0;
	uint64_t at = 0;
	int r;

	k->part = calloc(2 * k->n_files + 1, sizeof(*k->part));
	if (!k->part)
		return no_memory(env);
	for (i = 0; i < k->n_files; i++)
		left += !is_empty(&heads[i]);
	while ((next = next_part(k, heads, at)) < k->n_files) {
		r = add_absent(k, env, heads, at, heads[next].first);
		if (r == 0)
			r = add_part(k, env, &k->file[next], &heads[next],
				     false);
		if (r < 0)
			return r;
		at = heads[next].end;
		left--;
	}
	if (left)
		return pdet_fail(env, EINVAL, "two of the files have the same "
				 "part of the dump");
	return add_absent(k, env, heads, at, k->frames);
}

/* Copy up to @max bytes from the file. Returns NULL if it cannot be read, or if
 * memory is short; *@r is then the reason. */
static char *copy(const struct pdet_dump_file *file, uint64_t at, uint64_t len,
		  uint64_t max, int *r)
{
	char *data;

	if (!len || len > max)
		return NULL;
	data = malloc((size_t)len);
	if (!data) {
		*r = -ENOMEM;
		return NULL;
	}
	if (pdet_dump_file_read(file, NULL, data, (size_t)len, at) == 0)
		return data;
	free(data);
	return NULL;
}

/* Every part may have notes, or only the first. */
static int take_notes(struct kdump *k, const struct kdump_head *heads)
{
	struct pdet_memory *m = &k->m;
	struct pdet_notes notes;
	const char *found;
	size_t i, len;
	char *text;
	int r = 0;

	for (i = 0; i < k->n_files && r == 0 && !m->notes; i++) {
		m->notes = copy(&k->file[i], heads[i].notes,
				heads[i].notes_len, PDET_NOTES_MAX, &r);
		if (m->notes)
			m->notes_len = (size_t)heads[i].notes_len;
	}
	for (i = 0; i < k->n_files && r == 0 && !m->vmcoreinfo; i++) {
		text = copy(&k->file[i], heads[i].vmcoreinfo,
			    heads[i].vmcoreinfo_len, VMCOREINFO_MAX, &r);
		if (!text)
			continue;
		r = pdet_memory_take_vmcoreinfo(m, text,
				(size_t)heads[i].vmcoreinfo_len);
		free(text);
	}
	notes = (struct pdet_notes){ m->notes, m->notes_len };
	if (r == 0 && !m->vmcoreinfo &&
	    pdet_notes_vmcoreinfo(notes, &found, &len))
		r = pdet_memory_take_vmcoreinfo(m, found, len);
	return r;
}

PDET_PRINTF(2, 3)
static void say(struct pdet_memory *m, const char *fmt, ...)
{
	size_t at = strlen(m->format);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->format + at, sizeof(m->format) - at, fmt, ap);
	va_end(ap);
}

static void name_format(struct kdump *k, uint32_t status)
{
	size_t i;

	say(&k->m, "kdump");
	for (i = 0; i < PDET_N_CODECS; i++)
		if (k->codec[i])
			say(&k->m, ", %s",
			    pdet_codec_name((enum pdet_codec_id)i));
	if (k->file[0].flattened)
		say(&k->m, ", flattened");
	if (k->n_files > 1)
		say(&k->m, ", %zu parts", k->n_files);
	for (i = 0; i < k->n_parts && !k->part[i].absent; i++)
		;
	if (i < k->n_parts)
		say(&k->m, ", parts missing");
	if (status & KDUMP_INCOMPLETE)
		say(&k->m, ", incomplete");
}

static int load_codecs(struct kdump *k, struct pdet_env *env, uint32_t status)
{
	enum pdet_codec_id id;
	uint32_t bit;
	int r;

	for (bit = 1; bit <= KDUMP_COMPRESSED; bit <<= 1) {
		if (!pdet_kdump_codec(status & bit, &id) || id == PDET_N_CODECS)
			continue;
		r = pdet_codec_open(id, env, &k->codec[id]);
		if (r < 0)
			return r;
	}
	return 0;
}

static int open_all(struct kdump *k, struct pdet_env *env, const int *fds,
		    size_t n, struct kdump_head *heads)
{
	size_t i;
	int r;

	r = open_files(k, env, fds, n, heads);
	if (r < 0)
		return r;
	r = check_parts(env, heads, n);
	if (r < 0)
		return r;
	r = load_codecs(k, env, heads->status);
	if (r < 0)
		return r;
	k->block = heads->block;
	k->shift = (unsigned)__builtin_ctzll(k->block);
	k->frames = heads->frames;
	r = add_parts(k, env, heads);
	for (i = 0; r == 0 && i < k->n_parts; i++)
		if (!pdet_kdump_part_agrees(&k->part[i], k->block))
			r = pdet_fail(env, EBADMSG, "its bitmap and its "
				      "descriptors contradict each other");
	for (i = 0; r == 0 && i < k->n_parts; i++)
		r = pdet_kdump_bitmap_ranges(&k->part[i].bitmap, env, &k->m,
					k->block);
	if (r < 0)
		return r;
	k->m.machine = heads->machine;
	memcpy(k->m.release, heads->release, sizeof(k->m.release));
	name_format(k, heads->status);
	r = take_notes(k, heads);
	if (r == 0)
		r = pdet_kdump_count_missing(k);
	return r < 0 ? no_memory(env) : 0;
}

static int kdump_open(struct pdet_memory *m, struct pdet_env *env,
		      const int *fds, size_t n)
{
	struct kdump_head *heads = calloc(n, sizeof(*heads));
	int r;

	if (!heads)
		return no_memory(env);
	r = open_all((struct kdump *)m, env, fds, n, heads);
	free(heads);
	return r;
}

static void kdump_close(struct pdet_memory *m)
{
	struct kdump *k = (struct kdump *)m;
	size_t i;

	for (i = 0; i < PDET_N_CODECS; i++)
		pdet_codec_close(k->codec[i]);
	for (i = 0; i < k->n_parts; i++)
		pdet_kdump_bitmap_close(&k->part[i].bitmap);
	for (i = 0; i < k->n_files; i++)
		pdet_dump_file_close(&k->file[i]);
	free(k->part);
	free(k->file);
}

const struct pdet_memory_ops pdet_memory_kdump = {
	.name = "kdump",
	.source = PAGEDET_SOURCE_VMCORE,
	.size = sizeof(struct kdump),
	.probe = kdump_probe,
	.open = kdump_open,
	.close = kdump_close,
	.reader_new = pdet_kdump_reader_new,
	.reader_free = pdet_kdump_reader_free,
	.read_phys = pdet_kdump_read_phys,
	.next_phys = pdet_kdump_next_phys,
};
