/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks files that the caller names. A file with optional extra information
 * must be readable if it is named. If no source accepts an input file, this
 * file finds out what kind of file it is, and therefore what is missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "api/arguments.h"
#include "backend/backend.h"
#include "backend/log/log.h"
#include "backend/text_kind.h"
#include "base/codec/text_stream.h"
#include "base/io.h"
#include "base/text/quote.h"
#include "memory/dump_kind.h"
#include "schema/schema.h"
#include "snapshot/read.h"
#include "symbol/vmlinux.h"

#define DUMP PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_VMCORE)
#define LOG PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_LOG)
#define PAGE_OWNER PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PAGE_OWNER)
#define SNAPSHOT PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_SNAPSHOT)

static const char nothing[] = "it is not a dump, snapshot, kernel log or "
			      "page_owner text";

static int unknown(struct pdet_env *env, const char *name, const char *why)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: %s", name, why);
}

/* Refuses a directory, and files that may never end. */
static int refuse_kind(struct pdet_env *env, const char *name,
		       const struct stat *st)
{
	if (S_ISDIR(st->st_mode)) {
		unknown(env, name, "it is a directory");
		pdet_advise(env, "--root DIR reads a copy of /proc and /sys");
		return -EBADMSG;
	}
	if (!S_ISFIFO(st->st_mode) && !S_ISSOCK(st->st_mode))
		return 0;
	pdet_fail(env, ENOTSUP, "cannot read %s: it is a pipe", name);
	pdet_advise(env, "save it to a file first");
	return -ENOTSUP;
}

/* A kind of file, and its reader. */
struct kind {
	const char *name;	/* NULL: an unknown kind */
	uint32_t reader;	/* PAGEDET_SOURCE_BIT() */
	bool packed;
	bool regular;		/* a file that can be read repeatedly */
};

static void name_dump(const char *head, size_t n, struct kind *ret)
{
	ret->name = pdet_dump_kind(head, n);
	ret->reader = DUMP;
	switch (pdet_dump_form(head, n)) {
	case PDET_DUMP_GZIP:
	case PDET_DUMP_ZSTD:
	case PDET_DUMP_XZ:
		ret->packed = true;
		break;
	default:
		break;
	}
}

static int name_text(struct pdet_env *env, const char *head, size_t n,
		     struct kind *ret)
{
	int r;

	if (pdet_text_is_owner(head, n)) {
		ret->name = "page_owner's text";
		ret->reader = PAGE_OWNER;
		return 0;
	}
	r = pdet_log_is_log(head, n);
	if (r < 0)
		return pdet_fail(env, ENOMEM, "no memory");
	ret->name = r ? "a kernel log" : NULL;
	ret->reader = LOG;
	return 0;
}

/* Pages of a dump are read in place, which compression prevents. */
static int refuse_packed_dump(struct pdet_env *env, const char *name,
			      const char *packed, const struct pdet_scan *head)
{
	static const struct {
		const char *name, *command;
	} tools[] = {
		{ "zstd", "zstd -d" }, { "xz", "xz -dk" },
		{ "gzip", "gunzip -k" },
	};
	const size_t n = PDET_MIN((size_t)(head->end - head->at),
				  (size_t)PDET_DUMP_HEAD);
	const char *kind = pdet_dump_kind(head->at, n);
	char quoted[PDET_QUOTED];
	size_t i;

	if (!kind)
		return 0;
	pdet_fail(env, EBADMSG, "cannot read %s: it is %s, and %s is in it: "
		  "decompress it first", name, packed, kind);
	for (i = 0; i < PDET_COUNT(tools); i++)
		if (strstr(packed, tools[i].name))
			/* It can be pasted into a shell. */
			pdet_advise(env, "%s %s", tools[i].command,
				    *name == '-' ? "FILE" :
				    pdet_quoted(name, "FILE", quoted,
						sizeof(quoted)));
	return -EBADMSG;
}

/* A compressed file can only be text. */
static int name_packed(struct pdet_env *env, const char *name,
		       struct kind *ret)
{
	const char *packed = ret->name;
	struct pdet_text_stream *s;
	struct pdet_text_line line;
	struct pdet_scan head;
	int r;

	r = pdet_text_stream_open(env, name, &s);
	if (r < 0)
		return r;
	r = pdet_text_stream_peek(s, env, PDET_TEXT_HEAD, &head);
	if (r == 0)
		r = name_text(env, head.at, (size_t)(head.end - head.at), ret);
	if (r == 0 && !ret->name)
		r = refuse_packed_dump(env, name, packed, &head);
	/* The decompression library is not built in, or the file is damaged. */
	if (r == 0 && !ret->name)
		r = pdet_text_stream_line(s, env, &line);
	pdet_text_stream_close(s);
	if (r < 0 || ret->name)
		return r;
	return pdet_fail(env, EBADMSG, "cannot read %s: it is %s, and has no "
			 "kernel log or page_owner text in it", name,
			 packed);
}

static int kind_of(struct pdet_env *env, int fd, const char *name,
		   struct kind *ret)
{
	size_t size = PDET_DUMP_HEAD;
	char *head = malloc(PDET_TEXT_HEAD);
	ssize_t n;
	int r = 0;

	if (!head)
		return pdet_fail(env, ENOMEM, "no memory");
	n = pdet_pread(fd, head, size, 0);
	if (n > 0)
		name_dump(head, (size_t)n, ret);
	if (n > 0 && pdet_is_snapshot(head, (size_t)n)) {
		ret->name = "a snapshot";
		ret->reader = SNAPSHOT;
	}
	if (n > 0 && !ret->name) {
		n = pdet_pread(fd, head, PDET_TEXT_HEAD, 0);
		if (n > 0)
			r = name_text(env, head, (size_t)n, ret);
	}
	free(head);
	if (r < 0)
		return r;
	if (n < 0) {
		errno = (int)-n;
		return pdet_fail_errno(env, "cannot read %s", name);
	}
	return n ? 0 : unknown(env, name, "it is empty");
}

/* Finds an error that concerns every reader. Returns 0 if there is none. */
static int find_fault(struct pdet_env *env, const char *name,
		      struct kind *ret)
{
	struct stat st;
	int r, fd;

	/* The caller names this file directly, so it is not below the root. */
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return pdet_fail_errno(env, "cannot open %s", name);
	if (fstat(fd, &st) < 0)
		r = pdet_fail_errno(env, "cannot read %s", name);
	else
		r = refuse_kind(env, name, &st);
	if (r == 0) {
		ret->regular = S_ISREG(st.st_mode);
		r = kind_of(env, fd, name, ret);
	}
	close(fd);
	if (r == 0 && ret->packed)
		return name_packed(env, name, ret);
	return r == 0 && !ret->name ? unknown(env, name, nothing) : r;
}

static bool is_built(uint32_t source)
{
	const struct pdet_backend_ops *const *ops;

	for (ops = pdet_backends; *ops && !((*ops)->sources & source); ops++)
		;
	return *ops;
}

static int refuse_source(struct pdet_env *env, const char *name,
			 const struct kind *kind)
{
	pdet_fail(env, ENOTSUP, "cannot read %s: it is %s, which no allowed "
		  "source reads", name, kind->name);
	pdet_advise(env, "allow %s",
		    pdet_source_name((unsigned)__builtin_ctz(kind->reader)));
	return -ENOTSUP;
}

/* The reason why no source accepts an intact file of a known kind. */
static int refuse(struct pdet_env *env, const struct pagedet_options *options,
		  const char *name, const struct kind *kind)
{
	if (!is_built(kind->reader))
		return pdet_fail(env, ENOSYS, "cannot read %s: it is %s, and "
				 "the reader for that is not built in", name,
				 kind->name);
	if (options->sources && !(kind->reader & options->sources))
		return refuse_source(env, name, kind);
	if (options->n_files > 1)
		return pdet_fail(env, ENOTSUP, "cannot read %s: it is %s, "
				 "which must be opened alone, but %llu files "
				 "are named", name, kind->name,
				 (unsigned long long)options->n_files);
	if (kind->regular)
		return unknown(env, name, nothing);
	return pdet_fail(env, ENOTSUP, "cannot read %s: it is %s, but not a "
			 "regular file", name, kind->name);
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
		pdet_fail(env, ENOTSUP, "cannot read %s: it is in the running "
			  "kernel's debugfs, and reading it in small pieces "
			  "can crash a kernel",
			  options->files[i]);
		pdet_advise(env, "ask the running kernel, or read a copy");
		return -ENOTSUP;
	}
	return 0;
}

int pdet_refuse_files(struct pdet_env *env,
		      const struct pagedet_options *options)
{
	struct kind first = { NULL, 0, false, false }, kind;
	uint64_t i;
	int r;

	/*
	 * A damaged file is reported first, whatever source reads the other
	 * files.
	 */
	for (i = 0; i < options->n_files; i++) {
		kind = (struct kind){ NULL, 0, false, false };
		r = find_fault(env, options->files[i], &kind);
		if (r < 0)
			return r;
		if (!i)
			first = kind;
	}
	return refuse(env, options, options->files[0], &first);
}

/*
 * Checks its kind. For the running kernel it also checks the build id, which is
 * known without reading kernel memory.
 */
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
