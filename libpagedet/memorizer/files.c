/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Memorizer has had several names for the same file, and never told which
 * generation it is, so that each file is looked for. The generations are named
 * here by the kernel that had them:
 *
 * linuxkit   Linux 4.10 with the patches of linuxkit: bool switches; one clears
 *            by clear_object_list. The first ones had no clear_printed_list
 *            and no print_live_obj.
 * slab       Linux 4.10 to 5: clear_dead_objs, the log of calls, the table of
 *            globals. Memory of cleared objects is not used again.
 * 6.6.3      memorizer-23 and 24: memorizer_enabled is a number from 0 to 3, of
 *            which 2 and 3 follow the process that writes them; kmap_stream.
 * 6.6.30     memorizer-25 and later: most names are others, a process can be
 *            named by its number, and who opens kmap turns Memorizer off.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text/text.h"
#include "memorizer/files.h"

#define DEBUGFS "/sys/kernel/debug"
#define MOST_NAMES 3
/* Bytes of a switch; the kernel writes less than 128. */
#define MOST_TEXT 256
/* Smaller numbers are modes. */
#define FIRST_PID 4

static const struct control {
	const char *name;
	const char *lacks;	/* what cannot be done without it */
	const char *file[MOST_NAMES]; /* the newest name first */
	bool is_switch;
} controls[PAGEDET_MEMORIZER_CONTROLS] = {
	[PAGEDET_MEMORIZER_ENABLED] = { "enabled", "no switch",
		{ "memorizer_enabled" }, true },
	[PAGEDET_MEMORIZER_LOG_ACCESSES] = { "log_accesses",
		"no switch for accesses",
		{ "log_accesses_enabled", "memorizer_log_access" }, true },
	[PAGEDET_MEMORIZER_LOG_LIVE] = { "log_live",
		"no switch for live objects",
		{ "log_live_enabled", "print_live_obj" }, true },
	[PAGEDET_MEMORIZER_LOG_CALLS] = { "log_calls", "no log of calls",
		{ "log_calls_enabled", "cfg_log_on" }, true },
	[PAGEDET_MEMORIZER_LOG_FRAMES] = { "log_frames", "no log of frames",
		{ "log_frames_enabled", "stack_trace_on" }, true },
	[PAGEDET_MEMORIZER_CLEAR_DEAD] = { "clear_dead",
		"no way to clear freed objects",
		{ "clear_dead_objects", "clear_dead_objs",
		  "clear_object_list" }, false },
	[PAGEDET_MEMORIZER_CLEAR_PRINTED] = { "clear_printed",
		"no way to clear printed objects",
		{ "clear_printed_objects", "clear_printed_list" }, false },
	/* cfgmap is cleared by a write, and read for its calls. */
	[PAGEDET_MEMORIZER_CLEAR_CALLS] = { "clear_calls",
		"no way to clear calls",
		{ "clear_function_calls", "cfgmap" }, false },
	[PAGEDET_MEMORIZER_KMAP] = { "kmap", "no file kmap", { "kmap" },
		false },
	[PAGEDET_MEMORIZER_KMAP_STREAM] = { "kmap_stream",
		"no file kmap_stream", { "kmap_stream" }, false },
	[PAGEDET_MEMORIZER_ALLOCATIONS] = { "allocations",
		"no file allocations", { "allocations", "allocs" }, false },
	[PAGEDET_MEMORIZER_ACCESSES] = { "accesses", "no file accesses",
		{ "accesses" }, false },
	[PAGEDET_MEMORIZER_CALLS] = { "calls", "no log of calls",
		{ "function_calls", "cfgmap" }, false },
	[PAGEDET_MEMORIZER_GLOBAL_TABLE] = { "global_table",
		"no table of globals", { "global_table" }, false },
	[PAGEDET_MEMORIZER_STATS] = { "stats", "no statistics",
		{ "stats", "show_stats" }, false },
};

const char *pdet_memorizer_name(uint32_t control)
{
	return control < PAGEDET_MEMORIZER_CONTROLS ? controls[control].name :
						      NULL;
}

bool pdet_memorizer_is_switch(uint32_t control)
{
	return controls[control].is_switch;
}

int pdet_memorizer_lacks(struct pdet_env *env, uint32_t control)
{
	return pdet_fail(env, ENOTSUP, "this kernel's Memorizer has %s",
			 controls[control].lacks);
}

/* --- finding them --- */

/* With a directory of their own, and without it. */
static const char *const places[] = { DEBUGFS "/memorizer", DEBUGFS };

/* Sets *@ret to the path of a file that is there. 0, or a negative errno. */
static int look(struct pdet_env *env, const char *place, const char *file,
		char **ret)
{
	char path[4096];
	struct stat st;
	int r = pdet_path(env, path, sizeof(path), "%s/%s", place, file);

	if (r == 0 && stat(path, &st))
		r = -errno;
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	*ret = strdup(path);
	return *ret ? 0 : -ENOMEM;
}

static int look_for(struct pdet_env *env, const char *place,
		    const struct control *c, char **ret)
{
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && !*ret && i < MOST_NAMES && c->file[i]; i++)
		r = look(env, place, c->file[i], ret);
	return r;
}

static int look_for_all(struct pdet_env *env, const char *place,
			struct pdet_memorizer *m)
{
	char path[4096];
	int r = 0;
	size_t i;

	for (i = 0; r == 0 && i < PAGEDET_MEMORIZER_CONTROLS; i++)
		r = look_for(env, place, &controls[i], &m->path[i]);
	if (r == 0)
		r = pdet_path(env, path, sizeof(path), "%s", place);
	if (r < 0)
		return r;
	m->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return m->dir < 0 ? -errno : 0;
}

static bool is_mounted(void)
{
	struct statfs fs;

	return statfs(DEBUGFS, &fs) == 0 && fs.f_type == DEBUGFS_MAGIC;
}

static int cannot_find(struct pdet_env *env, int r)
{
	if (r == -ENOMEM)
		return pdet_fail(env, ENOMEM, "no memory");
	errno = -r;
	if (r != 0) {
		r = pdet_fail_errno(env, "cannot look for Memorizer in "
				    DEBUGFS);
		pdet_advise(env, "it needs root");
		return r;
	}
	if (*env->root || is_mounted())
		return pdet_fail(env, ENOTSUP, "this kernel does not have "
				 "Memorizer: there is no memorizer_enabled in "
				 DEBUGFS);
	r = pdet_fail(env, ENOTSUP, "cannot tell whether this kernel has "
		      "Memorizer: debugfs is not mounted");
	pdet_advise(env, "as root: mount -t debugfs none " DEBUGFS);
	return r;
}

/*
 * Names like "stats" are anybody's where Memorizer does not have a directory of
 * its own, but then its switch is there, too.
 */
int pdet_memorizer_find(struct pdet_env *env, struct pdet_memorizer *ret)
{
	char *there = NULL;
	int r = 0;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	ret->dir = -1;
	ret->root = strdup(env->root);
	for (i = 0; ret->root && r == 0 && !there && i < PDET_COUNT(places);
	     i++) {
		r = look_for(env, places[i],
			     &controls[PAGEDET_MEMORIZER_ENABLED], &there);
		if (r == 0 && there)
			r = look_for_all(env, places[i], ret);
	}
	if (r < 0 || !there || !ret->root) {
		r = cannot_find(env, ret->root ? r : -ENOMEM);
		pdet_memorizer_forget(ret);
	}
	free(there);
	return r;
}

void pdet_memorizer_forget(struct pdet_memorizer *m)
{
	size_t i;

	for (i = 0; i < PAGEDET_MEMORIZER_CONTROLS; i++)
		free(m->path[i]);
	free(m->root);
	if (m->dir >= 0)
		close(m->dir);
	memset(m, 0, sizeof(*m));
	m->dir = -1;
}

/* --- what they are --- */

/*
 * "Y" or "N" of a bool of debugfs; "0 - memorizer disabled", "1 - memorizer
 * enabled, all processes", "2 - memorizer enabled, proc root = 77" of 6.6.3;
 * or a number alone.
 */
bool pdet_memorizer_parse(const char *text, size_t len,
			  struct pdet_memorizer_value *ret)
{
	struct pdet_scan s = { text, text + len };
	uint64_t pid;
	const char *at;

	*ret = (struct pdet_memorizer_value){ .pid = -1 };
	if (pdet_scan_char(&s, 'Y') || pdet_scan_char(&s, 'N')) {
		ret->value = text[0] == 'Y';
		ret->is_bool = true;
		return s.at == s.end || *s.at == '\n';
	}
	if (!pdet_scan_dec(&s, &ret->value))
		return false;
	at = memchr(s.at, '=', (size_t)(s.end - s.at));
	if (at) {
		s.at = at + 1;
		pdet_scan_blanks(&s);
		if (pdet_scan_dec(&s, &pid) && pid <= INT32_MAX)
			ret->pid = (int64_t)pid;
		return true;
	}
	return s.at == s.end || *s.at == '\n' || *s.at == ' ';
}

int pdet_memorizer_get(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control, struct pdet_memorizer_value *ret)
{
	struct pdet_text text;
	int r;

	if (!m->path[control])
		return pdet_memorizer_lacks(env, control);
	r = pdet_slurp_at(AT_FDCWD, m->path[control], &text, MOST_TEXT);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read %s",
				       m->path[control]);
	}
	if (!pdet_memorizer_parse(text.data, text.len, ret))
		r = pdet_fail(env, EIO, "cannot read %s: '%.32s' is not the "
			      "value of a switch", m->path[control], text.data);
	pdet_text_free(&text);
	return r;
}

/* --- writing them --- */

int pdet_memorizer_write(const char *path, uint64_t value)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK |
			    O_NOCTTY);
	char text[24];
	const int len = snprintf(text, sizeof(text), "%" PRIu64, value);
	int r = 0;

	if (fd < 0 || write(fd, text, (size_t)len) != len)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int pdet_memorizer_put(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control, uint64_t value)
{
	int r;

	if (!m->path[control])
		return pdet_memorizer_lacks(env, control);
	r = pdet_memorizer_write(m->path[control], value);
	if (r == 0)
		return 0;
	errno = -r;
	return pdet_fail_errno(env, "cannot write %" PRIu64 " to %s", value,
			       m->path[control]);
}

/* They share one table of calls. */
static int check_calls(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control)
{
	const uint32_t other = control == PAGEDET_MEMORIZER_LOG_CALLS ?
				       PAGEDET_MEMORIZER_LOG_FRAMES :
				       PAGEDET_MEMORIZER_LOG_CALLS;
	struct pdet_memorizer_value v;
	int r;

	if (!m->path[other])
		return 0;
	r = pdet_memorizer_get(m, env, other, &v);
	if (r < 0 || !v.value)
		return r;
	return pdet_fail(env, EINVAL, "cannot turn on %s: %s is on, and both "
			 "use one table", controls[control].name,
			 controls[other].name);
}

static int no_process(struct pdet_env *env)
{
	return pdet_fail(env, ENOTSUP, "this kernel's Memorizer has no way to "
			 "follow one process by its number");
}

/* A bool would take the first digit of a number. */
static int set_process(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint64_t pid)
{
	struct pdet_memorizer_value v;
	struct stat st;
	char path[4096];
	int r = pdet_memorizer_get(m, env, PAGEDET_MEMORIZER_ENABLED, &v);

	if (r < 0)
		return r;
	if (v.is_bool)
		return no_process(env);
	snprintf(path, sizeof(path), "%s/proc/%" PRIu64, m->root, pid);
	if (stat(path, &st))
		return pdet_fail(env, ESRCH, "there is no process %" PRIu64,
				 pid);
	r = pdet_memorizer_put(m, env, PAGEDET_MEMORIZER_ENABLED, pid);
	/* 6.6.3 takes 0 to 3. */
	return r == -EINVAL ? no_process(env) : r;
}

int pdet_memorizer_set(const struct pdet_memorizer *m, struct pdet_env *env,
		       uint32_t control, uint64_t value)
{
	const bool is_mode = control == PAGEDET_MEMORIZER_ENABLED;
	int r = 0;

	if (!m->path[control])
		return pdet_memorizer_lacks(env, control);
	if (is_mode && value >= FIRST_PID)
		return set_process(m, env, value);
	if (control > PAGEDET_MEMORIZER_CLEAR_CALLS)
		return pdet_fail(env, EINVAL, "cannot write %s: it is only "
				 "read", controls[control].name);
	/* 2 and 3 would follow the caller. */
	if (value > 1 || (!value && !controls[control].is_switch))
		return pdet_fail(env, EINVAL, "cannot set %s to %" PRIu64,
				 controls[control].name, value);
	if (value && (control == PAGEDET_MEMORIZER_LOG_CALLS ||
		      control == PAGEDET_MEMORIZER_LOG_FRAMES))
		r = check_calls(m, env, control);
	return r < 0 ? r : pdet_memorizer_put(m, env, control, value);
}
