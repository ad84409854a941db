/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Errors since a mark. What counts them: errors_count and warning_count of each
 * ext4, error_stats of btrfs, ioerr_cnt of SCSI disks. A counter that rose is a
 * proof; that none did is none, for xfs has no such counter, and ext4 does not
 * count each failed write.
 *
 * A mark is text, so that people can look at it:
 *
 *	pagedet mark 1
 *	boot 8c6f...
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
#define MAX_MARK ((size_t)1 << 20)

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

/* malloc()ed; NULL without memory. */
static char *make(size_t *len)
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
	char *text = make(&len);

	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	if (mark && size >= len)
		memcpy(mark, text, len);
	free(text);
	return (int)len;
}

/* --- reading it --- */

bool pdet_mark_check(const void *mark, size_t size, struct pdet_scan *ret)
{
	const size_t head = strlen(HEAD), tail = 4 + 16 + 1;
	const char *text = mark;
	struct pdet_scan s;
	uint64_t sum;

	if (size < head + tail || size > MAX_MARK ||
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

static bool is_same(struct pdet_scan a, struct pdet_scan b)
{
	return a.end - a.at == b.end - b.at &&
	       !memcmp(a.at, b.at, (size_t)(a.end - a.at));
}

static bool find(struct pdet_scan text, const struct pdet_mark_line *like,
		 uint64_t *ret)
{
	struct pdet_mark_line line;

	while (pdet_mark_next(&text, &line)) {
		if (!is_same(line.kind, like->kind) ||
		    !is_same(line.name, like->name) ||
		    !is_same(line.counter, like->counter))
			continue;
		*ret = line.value;
		return true;
	}
	return false;
}

#define WORDS(s) (int)((s).end - (s).at), (s).at

static void compare(struct pdet_checked *c, struct pdet_scan before,
		    struct pdet_scan now)
{
	struct pdet_mark_line line;
	uint64_t count = 0;

	while (pdet_mark_next(&before, &line)) {
		if (pdet_scan_is(&line.kind, "boot")) {
			if (!find(now, &line, &count))
				pdet_check_add(c, PAGEDET_CANNOT_TELL,
					       PAGEDET_CAUSE_REPLACED, 0, 0,
					       "the mark is of another boot");
			continue;
		}
		c->whole.looked_at++;
		if (!find(now, &line, &count))
			pdet_check_add(c, PAGEDET_CANNOT_TELL,
				       PAGEDET_CAUSE_REPLACED, 0, 0,
				       "%.*s %.*s is gone since the mark",
				       WORDS(line.kind), WORDS(line.name));
		else if (count > line.value)
			pdet_check_add(c, PAGEDET_VIOLATED, PAGEDET_CAUSE_ERROR,
				       0, 0, "%.*s of %.*s %.*s rose from "
				       "%llu to %llu", WORDS(line.counter),
				       WORDS(line.kind), WORDS(line.name),
				       (unsigned long long)line.value,
				       (unsigned long long)count);
	}
}

int pdet_check_errors(struct pdet_checked *c)
{
	struct pdet_scan before, now;
	size_t len = 0;
	char *text;

	if (!c->check->mark || c->check->mark_size > MAX_MARK ||
	    !pdet_mark_check(c->check->mark, (size_t)c->check->mark_size,
			     &before))
		return pdet_fail(c->env, EBADMSG,
				 "cannot read the mark: it is none, or damaged");
	text = make(&len);
	if (!text)
		return pdet_fail(c->env, ENOMEM, "no memory");
	if (pdet_mark_check(text, len, &now))
		compare(c, before, now);
	free(text);
	if (c->whole.verdict == PAGEDET_HOLDS)
		pdet_check_add(c, PAGEDET_CANNOT_TELL, PAGEDET_CAUSE_KERNEL, 0,
			       0, "no counter rose, of %llu: but not each "
			       "failed write is counted",
			       (unsigned long long)c->whole.looked_at);
	return 0;
}
