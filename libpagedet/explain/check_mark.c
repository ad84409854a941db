/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What counts errors: errors_count and warning_count of each ext4, error_stats
 * of btrfs, ioerr_cnt of SCSI disks. A counter that rose is a proof; that none
 * did is none, for xfs has no such counter, and ext4 does not count each failed
 * write. So a mark may have a watch, too.
 *
 * A mark is text, so that people can look at it:
 *
 *	pagedet mark 1
 *	boot 8c6f...
 *	watch pagedet-mark-00000b2c... armed 1
 *	ext4 loop0 errors_count 0
 *	sum 0123456789abcdef
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "explain/check_mark.h"

#define HEAD "pagedet mark 1\n"
/* For the watch, and what is mounted meanwhile. */
#define MAX_MORE 4096

struct list {
	FILE *f;
};

static bool read_number(const char *path, uint64_t *ret)
{
	const struct pdet_env here = { .root = (char *)"" };
	struct pdet_text text;
	struct pdet_scan s;
	bool ok;

	if (pdet_slurp(&here, &text, 64, "%s", path) < 0)
		return false;
	s = (struct pdet_scan){ text.data, text.data + text.len };
	if (pdet_scan_word(&s, "0x"))
		ok = pdet_scan_hex(&s, ret);
	else
		ok = pdet_scan_dec(&s, ret);
	pdet_text_free(&text);
	return ok;
}

static void add(struct list *l, const char *kind, const char *name,
		const char *counter, uint64_t value)
{
	fprintf(l->f, "%s %s %s %" PRIu64 "\n", kind, name, counter, value);
}

/* Names that hold what would end a line are nobody's device. */
static bool is_name(const char *name)
{
	return *name != '.' && !strpbrk(name, " \n");
}

static void each(struct list *l, const char *dir,
		 void (*visit)(struct list *l, const char *name))
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_name(e->d_name))
			visit(l, e->d_name);
	closedir(d);
}

static void add_ext4(struct list *l, const char *name)
{
	static const char *const counters[] = { "errors_count",
						"warning_count" };
	char path[512];
	uint64_t n;
	size_t i;

	for (i = 0; i < PDET_COUNT(counters); i++) {
		snprintf(path, sizeof(path), "/sys/fs/ext4/%s/%s", name,
			 counters[i]);
		if (read_number(path, &n))
			add(l, "ext4", name, counters[i], n);
	}
}

static void add_disk(struct list *l, const char *name)
{
	char path[512];
	uint64_t n;

	snprintf(path, sizeof(path), "/sys/block/%s/device/ioerr_cnt", name);
	if (read_number(path, &n))
		add(l, "disk", name, "ioerr_cnt", n);
}

/* "write_errs 0" and so on, for each of its devices. */
static void add_btrfs_device(struct list *l, const char *uuid, const char *id)
{
	const struct pdet_env here = { .root = (char *)"" };
	struct pdet_scan all, line, word;
	struct pdet_text text;
	char name[128];
	uint64_t n;

	if (pdet_slurp(&here, &text, 4096, "/sys/fs/btrfs/%s/devinfo/%s/"
		       "error_stats", uuid, id) < 0)
		return;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (pdet_scan_line(&all, &line)) {
		word = pdet_scan_token(&line);
		pdet_scan_blanks(&line);
		if (!pdet_scan_dec(&line, &n) || word.end - word.at > 63)
			continue;
		snprintf(name, sizeof(name), "%.*s",
			 (int)(word.end - word.at), word.at);
		fprintf(l->f, "btrfs %s/%s %s %" PRIu64 "\n", uuid, id, name,
			n);
	}
	pdet_text_free(&text);
}

static void add_btrfs(struct list *l, const char *uuid)
{
	char path[512];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devinfo", uuid);
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_name(e->d_name))
			add_btrfs_device(l, uuid, e->d_name);
	closedir(d);
}

static void add_boot(struct list *l)
{
	const struct pdet_env here = { .root = (char *)"" };
	struct pdet_text text;

	if (pdet_slurp(&here, &text, 256, "/proc/sys/kernel/random/boot_id"))
		return;
	fprintf(l->f, "boot %.*s\n", (int)strcspn(text.data, " \n"), text.data);
	pdet_text_free(&text);
}

/* Without a watch stands why there is none. */
static void add_watch(struct list *l, const char *watch)
{
	if (!watch)
		return;
	if (pdet_watch_is_name(watch, strlen(watch)))
		add(l, "watch", watch, "armed", 1);
	else
		add(l, "watch", "none", watch, 0);
}

char *pdet_mark_make(const char *watch, size_t *len)
{
	struct list l = { NULL };
	char *text = NULL;
	uint64_t sum;
	size_t n = 0;

	l.f = open_memstream(&text, &n);
	if (!l.f)
		return NULL;
	fputs(HEAD, l.f);
	add_boot(&l);
	add_watch(&l, watch);
	each(&l, "/sys/fs/ext4", add_ext4);
	each(&l, "/sys/fs/btrfs", add_btrfs);
	each(&l, "/sys/block", add_disk);
	if (fflush(l.f) == 0) {
		sum = pdet_hash(text, n);
		fprintf(l.f, "sum %016" PRIx64 "\n", sum);
	}
	if (fclose(l.f)) {
		free(text);
		return NULL;
	}
	*len = n;
	return text;
}

int pdet_mark(struct pdet_env *env, void *mark, size_t size)
{
	size_t len = 0;
	char *text = pdet_mark_make(NULL, &len);

	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	if (mark && size >= len)
		memcpy(mark, text, len);
	free(text);
	return (int)len;
}

/* A watch begins when the mark is sure to fit: nobody would know of it. */
int pdet_mark_watch(struct pdet_env *env, void *mark, size_t size)
{
	char name[PDET_WATCH_NAME], *text;
	const char *watch = name;
	size_t len = 0;
	int r;

	text = pdet_mark_make(NULL, &len);
	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	free(text);
	if (!mark || size < len + MAX_MORE)
		return (int)(len + MAX_MORE);
	r = pdet_watch_arm(name);
	if (r < 0)
		watch = pdet_cause_name(r == -EACCES ? PAGEDET_CAUSE_ACCESS :
						       PAGEDET_CAUSE_KERNEL);
	text = pdet_mark_make(watch, &len);
	if (text && size >= len)
		memcpy(mark, text, len);
	else if (r == 0)
		pdet_watch_end(name);
	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	free(text);
	return (int)len;
}

int pdet_mark_end(struct pdet_env *env, const void *mark, size_t size)
{
	char name[PDET_WATCH_NAME];
	struct pdet_scan text;
	int r = 0;

	if (!mark || !pdet_mark_check(mark, size, &text))
		return pdet_fail(env, EBADMSG, PDET_BAD_MARK);
	if (pdet_mark_watched(text, name))
		r = pdet_watch_end(name);
	if (r < 0)
		return pdet_fail(env, -r, "cannot end the watch %s: %s", name,
				 strerror(-r));
	return 0;
}

/* --- reading it --- */

bool pdet_mark_check(const void *mark, size_t size, struct pdet_scan *ret)
{
	const size_t head = strlen(HEAD), tail = 4 + 16 + 1;
	const char *text = mark;
	struct pdet_scan s;
	uint64_t sum;

	if (size < head + tail || size > PDET_MAX_MARK ||
	    memcmp(text, HEAD, head) || text[size - 1] != '\n' ||
	    memchr(text, '\0', size))
		return false;
	s = (struct pdet_scan){ text + size - tail, text + size - 1 };
	if (s.at[-1] != '\n' || !pdet_scan_word(&s, "sum ") ||
	    !pdet_scan_hex(&s, &sum) || s.at != s.end ||
	    sum != pdet_hash(text, size - tail))
		return false;
	*ret = (struct pdet_scan){ text + head, text + size - tail };
	return true;
}

static bool is_text(struct pdet_scan s)
{
	return s.at < s.end;
}

bool pdet_mark_next(struct pdet_scan *text, struct pdet_mark_line *ret)
{
	struct pdet_scan line;

	while (pdet_scan_line(text, &line)) {
		ret->kind = pdet_scan_token(&line);
		ret->name = pdet_scan_token(&line);
		ret->counter = pdet_scan_token(&line);
		ret->value = 0;
		pdet_scan_blanks(&line);
		if (pdet_scan_is(&ret->kind, "boot") && is_text(ret->name))
			return true;
		if (is_text(ret->counter) &&
		    pdet_scan_dec(&line, &ret->value) && line.at == line.end)
			return true;
	}
	return false;
}

bool pdet_mark_watched(struct pdet_scan text, char name[PDET_WATCH_NAME])
{
	struct pdet_mark_line line;

	while (pdet_mark_next(&text, &line)) {
		const size_t len = (size_t)(line.name.end - line.name.at);

		if (!pdet_scan_is(&line.kind, "watch") ||
		    !pdet_watch_is_name(line.name.at, len))
			continue;
		memcpy(name, line.name.at, len);
		name[len] = '\0';
		return true;
	}
	return false;
}
