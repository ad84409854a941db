/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Makes and compares marks: the error counters of one moment.
 *
 * Counters of files are errors_count, warning_count and msg_count of each ext4,
 * error_stats of btrfs, and ioerr_cnt of SCSI disks. A counter that rose is a
 * proof. Unchanged counters are not, because xfs has no such counter and ext4
 * does not count each failed write. A mark may therefore have a watch as well.
 * If ext4 finds no block for data that was written before (delayed allocation),
 * it drops the data and only logs it: only msg_count rises (Linux
 * fs/ext4/inode.c, mpage_map_and_submit_extent(); ext4_msg()).
 *
 * Counters of memory are ce_count and ue_count of each EDAC memory controller
 * (Documentation/ABI/testing/sysfs-devices-edac), machine check exceptions in
 * /proc/interrupts, and total of memory_failure of each node
 * (Documentation/ABI/testing/sysfs-memory-page-offline). The latter also counts
 * pages that were injected or taken out of use by hand.
 *
 * A mark is text, so that users can read it:
 *
 *	pagedet mark 1
 *	boot 8c6f...
 *	watch pagedet-mark-00000b2c... armed 1
 *	log kernel next 5405
 *	ext4 loop0 errors_count 0
 *	sum 0123456789abcdef
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/vec.h"
#include "check/btrfs.h"
#include "check/kmsg.h"
#include "check/mark.h"
#include "kernel/text/mountinfo.h"

#define HEAD "pagedet mark 1\n"
/* Room for the watch, and for filesystems mounted between both calls. */
#define MAX_MORE 4096

#define EDAC_DIR "/sys/devices/system/edac/mc"

/* Kinds of lines about memory. */
#define EDAC "edac"
#define MCE "mce"
#define FAILURE "memory_failure"

struct list {
	FILE *f;
	const struct pdet_env *env;
};

static bool read_number(const struct list *l, const char *path, uint64_t *ret)
{
	struct pdet_text text;
	struct pdet_scan s;
	bool ok;

	if (pdet_slurp(l->env, &text, 64, "%s", path) < 0)
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

/* If a name contains the end of a line, it is not the name of a device. */
static bool is_name(const char *name)
{
	return *name != '.' && !strpbrk(name, " \n");
}

static void each(struct list *l, const char *dir,
		 void (*visit)(struct list *l, const char *name))
{
	struct dirent *e;
	char path[512];
	DIR *d = NULL;

	if (pdet_path(l->env, path, sizeof(path), "%s", dir) == 0)
		d = opendir(path);
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
						"warning_count", "msg_count" };
	char path[512];
	uint64_t n;
	size_t i;

	for (i = 0; i < PDET_COUNT(counters); i++) {
		snprintf(path, sizeof(path), "/sys/fs/ext4/%s/%s", name,
			 counters[i]);
		if (read_number(l, path, &n))
			add(l, "ext4", name, counters[i], n);
	}
}

static void add_disk(struct list *l, const char *name)
{
	char path[512];
	uint64_t n;

	snprintf(path, sizeof(path), "/sys/block/%s/device/ioerr_cnt", name);
	if (read_number(l, path, &n))
		add(l, "disk", name, "ioerr_cnt", n);
}

/* Adds "write_errs 0" and so on for each device. */
static void add_btrfs_device(struct list *l, const char *uuid, const char *id)
{
	struct pdet_scan all, line, word;
	struct pdet_text text;
	char name[128];
	uint64_t n;

	if (pdet_slurp(l->env, &text, 4096, "/sys/fs/btrfs/%s/devinfo/%s/"
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

	if (pdet_path(l->env, path, sizeof(path), "/sys/fs/btrfs/%s/devinfo",
		      uuid) < 0)
		return;
	d = opendir(path);
	if (!d)
		return;
	while ((e = readdir(d)))
		if (is_name(e->d_name))
			add_btrfs_device(l, uuid, e->d_name);
	closedir(d);
}

static void add_edac(struct list *l, const char *name)
{
	static const char *const counters[] = { "ce_count", "ue_count" };
	char path[512];
	uint64_t n;
	size_t i;

	for (i = 0; i < PDET_COUNT(counters); i++) {
		snprintf(path, sizeof(path), EDAC_DIR "/%s/%s", name,
			 counters[i]);
		if (read_number(l, path, &n))
			add(l, EDAC, name, counters[i], n);
	}
}

static void add_failures(struct list *l, const char *name)
{
	char path[512];
	uint64_t n;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/node/%s/memory_failure/total", name);
	if (read_number(l, path, &n))
		add(l, FAILURE, name, "total", n);
}

/* "MCE:" and a number per processor. */
static void add_machine_checks(struct list *l)
{
	struct pdet_scan all, line;
	struct pdet_text text;
	uint64_t n, sum = 0;

	if (pdet_slurp(l->env, &text, PDET_MAX_MARK, "/proc/interrupts") < 0)
		return;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (pdet_scan_line(&all, &line)) {
		pdet_scan_blanks(&line);
		if (!pdet_scan_word(&line, "MCE:"))
			continue;
		pdet_scan_blanks(&line);
		while (pdet_scan_dec(&line, &n)) {
			sum += n;
			pdet_scan_blanks(&line);
		}
		add(l, MCE, "cpus", "exceptions", sum);
		break;
	}
	pdet_text_free(&text);
}

static void add_boot(struct list *l)
{
	char id[40];

	pdet_read_line(l->env, "/proc/sys/kernel/random/boot_id", id,
		       sizeof(id));
	if (*id)
		fprintf(l->f, "boot %s\n", id);
}

/*
 * A failed write has a filesystem and an inode. Each subvolume may have an
 * inode of that number.
 */
static void add_subvolumes(struct list *l)
{
	char point[PATH_MAX], id[PDET_BTRFS_ID];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	struct pdet_mount m;
	char *text = NULL;
	size_t cap = 0, len;
	uint64_t count;
	ssize_t n;
	int fd;

	while (f && (n = getline(&text, &cap, f)) > 0) {
		const struct pdet_scan line = { text, text + n -
						      (text[n - 1] == '\n') };

		if (!pdet_mountinfo_line(line, &m) ||
		    !pdet_scan_is(&m.fstype, "btrfs") ||
		    !pdet_mountinfo_text(m.point, point, sizeof(point), &len))
			continue;
		fd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && pdet_btrfs_subvolumes(fd, id, &count))
			add(l, "btrfs", id, "subvolumes", count);
		if (fd >= 0)
			close(fd);
	}
	free(text);
	if (f)
		fclose(f);
}

/* Without a watch the line says why. */
static void add_watch(struct list *l, const char *watch)
{
	uint64_t next;

	if (!watch)
		return;
	if (pdet_watch_is_name(watch, strlen(watch)))
		add(l, "watch", watch, "armed", 1);
	else
		add(l, "watch", "none", watch, 0);
	if (pdet_kmsg_next(&next))
		add(l, "log", "kernel", "next", next);
}

char *pdet_mark_make(const struct pdet_env *env, const char *watch, size_t *len)
{
	struct list l = { NULL, env };
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
	add_subvolumes(&l);
	each(&l, "/sys/block", add_disk);
	each(&l, EDAC_DIR, add_edac);
	each(&l, "/sys/devices/system/node", add_failures);
	add_machine_checks(&l);
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
	char *text = pdet_mark_make(env, NULL, &len);

	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	if (mark && size >= len)
		memcpy(mark, text, len);
	free(text);
	return (int)len;
}

/*
 * Begin a trace only when it is certain that the mark fits into the buffer.
 * Otherwise nobody would know the name of the trace.
 */
int pdet_mark_watch(struct pdet_env *env, void *mark, size_t size)
{
	char name[PDET_WATCH_NAME], *text;
	const char *watch = name;
	size_t len = 0;
	int r;

	text = pdet_mark_make(env, NULL, &len);
	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	free(text);
	if (!mark || size < len + MAX_MORE)
		return (int)(len + MAX_MORE);
	r = pdet_watch_arm(name);
	if (r < 0)
		watch = pdet_cause_name(r == -EACCES ? PAGEDET_CAUSE_ACCESS :
					r == -ENOTSUP ? PAGEDET_CAUSE_KERNEL :
							PAGEDET_CAUSE_UNKNOWN);
	text = pdet_mark_make(env, watch, &len);
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
		return pdet_fail(env, -r, "cannot end the trace %s: %s", name,
				 strerror(-r));
	return 0;
}

/* --- reading a mark --- */

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

static bool is_same(struct pdet_scan a, struct pdet_scan b)
{
	return a.end - a.at == b.end - b.at &&
	       !memcmp(a.at, b.at, (size_t)(a.end - a.at));
}

bool pdet_mark_find(struct pdet_scan text, const struct pdet_mark_line *like,
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

bool pdet_mark_is_memory(const struct pdet_mark_line *line)
{
	return pdet_scan_is(&line->kind, EDAC) ||
	       pdet_scan_is(&line->kind, MCE) ||
	       pdet_scan_is(&line->kind, FAILURE);
}

/*
 * Corrected errors raise no exception: only EDAC can prove that there were
 * none.
 */
uint32_t pdet_mark_rose(struct pdet_scan before, struct pdet_scan now)
{
	bool edac = false, doubt = false;
	struct pdet_mark_line line;
	uint64_t count = 0;

	while (pdet_mark_next(&before, &line)) {
		const bool is_boot = pdet_scan_is(&line.kind, "boot");
		const bool found = pdet_mark_find(now, &line, &count);

		if (is_boot && !found)
			return PAGEDET_DUNNO;
		if (is_boot || !pdet_mark_is_memory(&line))
			continue;
		if (found && count > line.value &&
		    !pdet_scan_is(&line.kind, FAILURE))
			return PAGEDET_YES;
		edac = edac || pdet_scan_is(&line.kind, EDAC);
		doubt = doubt || !found || count != line.value;
	}
	return edac && !doubt ? PAGEDET_NO : PAGEDET_DUNNO;
}

int pdet_mark_memory(struct pdet_env *env, const void *mark, uint64_t size,
		     uint32_t *ret)
{
	struct pdet_scan before, now;
	size_t len = 0;
	char *text;

	if (size > PDET_MAX_MARK ||
	    !pdet_mark_check(mark, (size_t)size, &before))
		return pdet_fail(env, EBADMSG, PDET_BAD_MARK);
	text = pdet_mark_make(env, NULL, &len);
	if (!text)
		return pdet_fail(env, ENOMEM, "no memory");
	if (pdet_mark_check(text, len, &now))
		*ret = pdet_mark_rose(before, now);
	free(text);
	return 0;
}
