/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Files that the caller names: extra information, which no source may need but
 * which is there if it is named; files instead of the running kernel that no
 * source took: what they are, and so what is missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "api_check.h"
#include "backend/text_kind.h"
#include "base/io.h"
#include "kernel/vmlinux.h"
#include "memory/dump_kind.h"
#include "schema/snapshot_read.h"

static int unknown(struct pdet_env *env, const char *name, const char *why)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: %s", name, why);
}

/* A directory, or what only ends when somebody else says so. */
static int refuse_kind(struct pdet_env *env, const char *name,
		       const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return unknown(env, name, "it is a directory");
	if (!S_ISFIFO(st->st_mode) && !S_ISSOCK(st->st_mode))
		return 0;
	pdet_fail(env, ENOTSUP, "cannot read %s: it is a pipe", name);
	pdet_advise(env, "save it to a file first");
	return -ENOTSUP;
}

/* A NULL in *ret: it is of no known kind. */
static int kind_of(struct pdet_env *env, int fd, const char *name,
		   const char **ret)
{
	size_t size = PDET_DUMP_HEAD;
	char *head = malloc(PDET_TEXT_HEAD);
	ssize_t n;

	if (!head)
		return pdet_fail(env, ENOMEM, "no memory");
	n = pdet_pread(fd, head, size, 0);
	*ret = n > 0 ? pdet_dump_kind(head, (size_t)n) : NULL;
	if (n > 0 && pdet_is_snapshot(head, (size_t)n))
		*ret = "a snapshot";
	if (n > 0 && !*ret) {
		n = pdet_pread(fd, head, PDET_TEXT_HEAD, 0);
		*ret = n > 0 ? pdet_text_kind(head, (size_t)n) : NULL;
	}
	free(head);
	if (n < 0) {
		errno = (int)-n;
		return pdet_fail_errno(env, "cannot read %s", name);
	}
	return n ? 0 : unknown(env, name, "it is empty");
}

static int refuse(struct pdet_env *env, const char *name, int fd)
{
	const char *kind = NULL;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return pdet_fail_errno(env, "cannot read %s", name);
	r = refuse_kind(env, name, &st);
	if (r == 0)
		r = kind_of(env, fd, name, &kind);
	if (r < 0)
		return r;
	if (!kind)
		return unknown(env, name, "it is no dump, snapshot, kernel "
					  "log or page_owner text");
	return pdet_fail(env, ENOSYS, "cannot read %s: it is %s, and no "
			 "reader for that is built in", name, kind);
}

int pdet_check_files(struct pdet_env *env,
		     const struct pagedet_options *options)
{
	struct statfs fs;
	uint64_t i;

	for (i = 0; i < options->n_files; i++) {
		if (statfs(options->files[i], &fs) < 0 ||
		    fs.f_type != DEBUGFS_MAGIC)
			continue;
		pdet_fail(env, ENOTSUP, "cannot read %s: it is no file but "
			  "the running kernel's debugfs, and reading it in "
			  "small pieces can crash a kernel",
			  options->files[i]);
		pdet_advise(env, "ask the running kernel, or read a copy");
		return -ENOTSUP;
	}
	return 0;
}

int pdet_refuse_files(struct pdet_env *env,
		      const struct pagedet_options *options)
{
	int r = 0, fd;
	uint64_t i;

	for (i = 0; i < options->n_files; i++) {
		/* Named by the caller: not below the root. */
		fd = open(options->files[i],
			  O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			return pdet_fail_errno(env, "cannot open %s",
					       options->files[i]);
		r = refuse(env, options->files[i], fd);
		close(fd);
		/* What is damaged matters more than what is not built. */
		if (r != -ENOSYS)
			return r;
	}
	return r;
}

/* What it is; and whose, if that is the running kernel, which is known without
 * looking into its memory. */
static int check_vmlinux(struct pdet_env *env,
			 const struct pagedet_options *options)
{
	struct pdet_build_id running;
	struct pdet_vmlinux v;
	int r;

	r = pdet_vmlinux_open(&v, env, options->vmlinux);
	if (r < 0)
		return r;
	if (!options->n_files) {
		pdet_build_id_running(&running, env);
		r = pdet_vmlinux_check(&v, env, options->vmlinux, 0, &running);
	}
	pdet_vmlinux_close(&v);
	return r;
}

int pdet_check_extras(struct pdet_env *env,
		      const struct pagedet_options *options)
{
	const char *const names[] = { options->btf, options->vmcoreinfo };
	struct stat st;
	size_t i;
	int r;

	for (i = 0; i < PDET_COUNT(names); i++) {
		if (!names[i])
			continue;
		if (access(names[i], R_OK) < 0 || stat(names[i], &st) < 0)
			return pdet_fail_errno(env, "cannot open %s",
					       names[i]);
		r = refuse_kind(env, names[i], &st);
		if (r < 0)
			return r;
	}
	return options->vmlinux ? check_vmlinux(env, options) : 0;
}
