/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads page_owner of the running kernel. A read at an offset that is a PFN
 * returns the first record from there on, which may be about a later page. The
 * other pages of an allocation have no record of their own. It also finds out
 * which requirement is missing if the file does not exist.
 */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backend/page_owner/ownertext.h"
#include "base/codec/text_stream.h"
#include "kernel/owner/live.h"

/* No allocation is larger than 16 GiB. */
#define ORDERS 24

/*
 * Returns 1 and the first record from @pfn on; 0 if there is none; or a
 * negative errno.
 */
static int read_at(struct ownertext_session *s, uint64_t pfn, char *buf,
		   struct pdet_owner_record *ret)
{
	struct pdet_scan text = { buf, buf };
	ssize_t n = pdet_owner_live_at(s->fd, pfn, buf, s->size);

	if (n <= 0)
		return (int)n;
	text.end = buf + n;
	if (pdet_owner_next(&text, true, 0, ret) != PDET_OWNER_RECORD ||
	    ret->pfn < pfn)
		return -EBADMSG;
	return 1;
}

static bool covers(const struct pdet_owner_record *r, uint64_t pfn)
{
	return pfn >= r->pfn && pfn - r->pfn < r->pages;
}

/* Find the allocation that contains @pfn but starts before it. It is aligned to
 * its size. An allocation that starts in between ends the search. */
static int find_cover(struct ownertext_session *s, uint64_t pfn)
{
	uint64_t at, before = pfn;
	unsigned order;
	int r;

	s->has_cover = false;
	for (order = 1; order < ORDERS; order++) {
		at = pfn & ~(((uint64_t)1 << order) - 1);
		if (at == before)
			continue;
		before = at;
		r = read_at(s, at, s->cover_buf, &s->cover);
		if (r < 0)
			return r;
		s->has_cover = r == 1 && covers(&s->cover, pfn);
		if (r == 1 && s->cover.pfn < pfn)
			return 0;
		if (!at)
			return 0;
	}
	return 0;
}

static bool make_buffers(struct ownertext_session *s)
{
	if (s->buf)
		return true;
	s->size = pdet_owner_live_size();
	s->buf = malloc(s->size);
	s->cover_buf = malloc(s->size);
	return s->buf && s->cover_buf;
}

/* Read the next record from @pfn on. */
static void look_from(struct ownertext_session *s, uint64_t pfn)
{
	const bool behind = s->read && !s->error && !s->at_end &&
			    pfn == s->record.pfn + s->record.pages;
	int r = read_at(s, pfn, s->buf, &s->record);

	s->read = true;
	s->from = pfn;
	s->error = r < 0 ? r : 0;
	s->at_end = r == 0;
	s->has_cover = false;
	/* @pfn starts a new allocation, or is in none. */
	if (r < 0 || behind || (r == 1 && s->record.pfn == pfn))
		return;
	r = find_cover(s, pfn);
	if (r < 0)
		s->error = r;
}

int pdet_ownertext_ask(struct ownertext_session *s, uint64_t pfn,
		       const struct pdet_owner_record **ret)
{
	if (!make_buffers(s))
		return -ENOMEM;
	if (!s->read || s->error || pfn < s->from ||
	    (!s->at_end && pfn >= s->record.pfn &&
	     !covers(&s->record, pfn)))
		look_from(s, pfn);
	if (s->error)
		return s->error;
	*ret = &s->record;
	if (!s->at_end && covers(&s->record, pfn))
		return 1;
	*ret = &s->cover;
	return s->has_cover && covers(&s->cover, pfn);
}

/* --- why the file is missing --- */

/* Returns 1 yes, 0 no, -1 unknown. */
static int is_configured(struct pdet_env *env, const char *path)
{
	struct pdet_text_stream *stream;
	struct pdet_text_line line;
	int found = 0, r;

	if (pdet_text_stream_open(env, path, &stream) < 0)
		return -1;
	while ((r = pdet_text_stream_line(stream, env, &line)) == 1)
		if (pdet_scan_is(&line.text, "CONFIG_PAGE_OWNER=y"))
			found = 1;
	pdet_text_stream_close(stream);
	return r < 0 && !found ? -1 : found;
}

static int kernel_has_it(struct pdet_env *env)
{
	struct utsname name;
	char path[4096];
	int known = -1;

	if (pdet_path(env, path, sizeof(path), "/proc/config.gz") == 0)
		known = is_configured(env, path);
	/* A captured tree comes from another kernel than uname shows. */
	if (known < 0 && !*env->root && uname(&name) == 0 &&
	    pdet_path(env, path, sizeof(path), "/boot/config-%s",
		      name.release) == 0)
		known = is_configured(env, path);
	return known;
}

/* True for the values that kstrtobool() accepts. */
static bool is_yes(const struct pdet_scan *word)
{
	const char *at = word->at;

	if (at < word->end && strchr("yYtT1", *at))
		return true;
	return word->end - at > 1 && strchr("oO", at[0]) && strchr("nN", at[1]);
}

/* The same for the last such option on the command line. */
static int is_told(struct pdet_env *env)
{
	struct pdet_scan line, word;
	struct pdet_text text;
	int told = 0;

	if (pdet_slurp(env, &text, 1 << 16, "/proc/cmdline") < 0)
		return -1;
	line = (struct pdet_scan){ text.data,
				   text.data + strcspn(text.data, "\n") };
	while (line.at < line.end) {
		word = pdet_scan_token(&line);
		if (pdet_scan_word(&word, "page_owner="))
			told = is_yes(&word);
		pdet_scan_blanks(&line);
	}
	pdet_text_free(&text);
	return told;
}

static bool is_mounted(struct pdet_env *env)
{
	struct statfs fs;
	char path[4096];

	if (pdet_path(env, path, sizeof(path), "/sys/kernel/debug") < 0 ||
	    statfs(path, &fs) < 0)
		return false;
	/* A captured tree has a copy. */
	return *env->root || (uint32_t)fs.f_type == DEBUGFS_MAGIC;
}

/* Advise how to enable page_owner if the kernel has it off. Privileges do not
 * matter here. Returns false if it may be on. */
static bool explain_off(struct ownertext *o, struct pdet_env *env)
{
	const int has = kernel_has_it(env);
	const int told = has ? is_told(env) : -1;

	o->reason = PAGEDET_NO_KERNEL;
	if (has == 0)
		snprintf(o->advice, sizeof(o->advice), "this kernel was built "
			 "without page_owner: needs one with CONFIG_PAGE_OWNER,"
			 " started with page_owner=on");
	else if (told == 0)
		snprintf(o->advice, sizeof(o->advice), "page_owner is off: "
			 "start the kernel with page_owner=on%s", has > 0 ? "" :
			 " (if it has CONFIG_PAGE_OWNER)");
	o->off = has == 0 || told == 0;
	return o->off;
}

static void explain_absent(struct ownertext *o, struct pdet_env *env)
{
	const bool mounted = is_mounted(env);
	size_t n;

	if (explain_off(o, env)) {
		n = strlen(o->advice);
		if (!mounted)
			snprintf(o->advice + n, sizeof(o->advice) - n,
				 "; and debugfs is not mounted");
		return;
	}
	if (!mounted) {
		o->reason = PAGEDET_NO_ACCESS;
		snprintf(o->advice, sizeof(o->advice), "debugfs is not "
			 "mounted: mount -t debugfs none /sys/kernel/debug");
		return;
	}
	snprintf(o->advice, sizeof(o->advice), "debugfs has no page_owner: "
		 "needs a kernel with CONFIG_PAGE_OWNER and page_owner=on");
}

void pdet_ownertext_explain(struct ownertext *o, struct pdet_env *env)
{
	if (o->explained)
		return;
	o->explained = true;
	switch (o->error) {
	case -EACCES:
		if (explain_off(o, env))
			break;
		o->reason = PAGEDET_NO_ACCESS;
		snprintf(o->advice, sizeof(o->advice), "%s%s needs root",
			 env->root, OWNERTEXT_PATH);
		break;
	case -ENOENT:
		explain_absent(o, env);
		break;
	default:
		o->reason = PAGEDET_IO;
		snprintf(o->advice, sizeof(o->advice), "cannot open %s%s: %s",
			 env->root, OWNERTEXT_PATH, strerror(-o->error));
	}
	pdet_clear(env);
}
