/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Runs the command in a process of its own, and parses its JSON lines as far as
 * needed: rows of pfn, kind, flags and counts.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *read_file(int fd, size_t *len)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) < 0)
		die("fstat");
	*len = (size_t)st.st_size;
	text = malloc(*len + 1);
	if (!text || pread(fd, text, *len, 0) != (ssize_t)*len)
		die("what the command said");
	text[*len] = '\0';
	return text;
}

static void run(char *const command[], unsigned seconds, int out, int err)
{
	/* How long it takes depends on what the machine does besides. */
	const struct rlimit limit = { seconds, seconds + 5 };
	int null = open("/dev/null", O_RDONLY);

	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(err, 2) < 0)
		_exit(127);
	signal(SIGALRM, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);
	setrlimit(RLIMIT_CPU, &limit);
	/* who waits for something takes no time */
	alarm(seconds * 10);
	execv(command[0], command);
	_exit(127);
}

static void find_rows(struct answer *a)
{
	static const char begin[] = "{\"pfn\":";
	const char *at = a->text, *end = a->text + a->len, *nl;
	size_t cap = 0;

	for (; at < end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(end - at));
		if (!nl || nl[-1] != '}' ||
		    strncmp(at, begin, sizeof(begin) - 1)) {
			a->broken = true;
			return;
		}
		if (a->n_rows == cap) {
			cap = cap ? cap * 2 : 4096;
			a->row = realloc(a->row, cap * sizeof(*a->row));
			if (!a->row)
				die("memory");
		}
		a->row[a->n_rows++] = (struct answer_row){
			strtoull(at + sizeof(begin) - 1, NULL, 10), at,
			(size_t)(nl - at)
		};
	}
}

void answer_ask(struct answer *ret, char *const command[], unsigned seconds)
{
	int out = memfd_create("out", MFD_CLOEXEC), status;
	int err = memfd_create("err", MFD_CLOEXEC);
	double start = now();
	struct rusage usage;
	ssize_t n;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	if (out < 0 || err < 0)
		die("memfd_create");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		run(command, seconds, out, err);
	if (wait4(pid, &status, 0, &usage) != pid)
		die("wait");
	ret->seconds = now() - start;
	ret->kilobytes = (uint64_t)usage.ru_maxrss;
	ret->status = WIFSIGNALED(status) ? -WTERMSIG(status) :
		WEXITSTATUS(status);
	ret->text = read_file(out, &ret->len);
	n = pread(err, ret->said, sizeof(ret->said) - 1, 0);
	ret->said[n < 0 ? 0 : n] = '\0';
	close(out);
	close(err);
	find_rows(ret);
}

void answer_free(struct answer *a)
{
	free(a->text);
	free(a->row);
	memset(a, 0, sizeof(*a));
}

/* --- fields --- */

struct span {
	const char *at;
	size_t len;
};

/*
 * The text from the value of a field on, or of what is missing. No text
 * contains quotes.
 */
static const char *find(const struct answer_row *row, const char *field)
{
	static const char missing[] = "\"missing\":";
	const char *at = memmem(row->at, row->len, missing,
				sizeof(missing) - 1);
	size_t len = at ? (size_t)(at - row->at) : row->len;
	char key[64];
	int n = snprintf(key, sizeof(key), "\"%s\":", field);

	if (!strcmp(field, "missing"))
		return at;
	at = memmem(row->at, len, key, (size_t)n);
	return at ? at + n : NULL;
}

/* A number, a text, or a list with its brackets. */
static bool value(const struct answer_row *row, const char *field,
		  struct span *ret)
{
	ret->at = find(row, field);
	if (!ret->at)
		return false;
	ret->len = *ret->at == '[' ? strcspn(ret->at, "]") + 1 :
		strcspn(ret->at, ",}");
	return true;
}

bool answer_is(const struct answer_row *row, const char *field,
	       const char *text)
{
	const char *at = find(row, field);
	size_t n = strlen(text);

	return at && at[0] == '"' && !strncmp(at + 1, text, n) &&
		at[1 + n] == '"';
}

/* Whether a name is in a list. */
static bool has(const struct span *list, const char *name, size_t len)
{
	const char *at = list->at, *end = list->at + list->len;

	while ((at = memmem(at, (size_t)(end - at), name, len))) {
		if (at[-1] == '"' && at[len] == '"')
			return true;
		at += len;
	}
	return false;
}

/* Whether each name of a list is in one of the others. */
static bool within(const struct span *list, const struct span *a,
		   const struct span *b)
{
	const char *at = list->at, *end = list->at + list->len, *to;

	while ((at = memchr(at, '"', (size_t)(end - at)))) {
		at++;
		to = memchr(at, '"', (size_t)(end - at));
		if (!has(a, at, (size_t)(to - at)) &&
		    !has(b, at, (size_t)(to - at)))
			return false;
		at = to + 1;
	}
	return true;
}

bool answer_tail(const struct answer_row *row)
{
	static const char name[] = "compound_tail";
	struct span flags;

	return value(row, "flags", &flags) &&
		has(&flags, name, sizeof(name) - 1);
}

static bool same_field(const struct answer_row *was,
		       const struct answer_row *is, const char *field)
{
	struct span a, b, missing;

	if (value(is, field, &b))
		return value(was, field, &a) && a.len == b.len &&
			!memcmp(a.at, b.at, a.len);
	/* Reported as lost, not just omitted. */
	missing.at = find(is, "missing");
	missing.len = missing.at ? (size_t)(is->at + is->len - missing.at) : 0;
	return missing.len && has(&missing, field, strlen(field));
}

/* Flags known to both are equal, and unknown ones are still unknown. */
static bool same_flags(const struct answer_row *was,
		       const struct answer_row *is)
{
	static const struct span none = { "[]", 2 };
	struct span a, b, unknown;

	if (!value(is, "flags", &b))
		return same_field(was, is, "flags");
	if (!value(was, "flags", &a))
		return false;
	if (!value(is, "flags_unknown", &unknown))
		unknown = none;
	return within(&a, &b, &unknown) && within(&b, &a, &none);
}

/*
 * An unknown kind claims nothing. It may be unknown whether a page is the zero
 * page.
 */
static bool same_kind(const struct answer_row *was,
		      const struct answer_row *is)
{
	static const char zero[] = "zero_page";
	struct span unknown;

	return answer_is(is, "kind", "unknown") ||
		same_field(was, is, "kind") ||
		(answer_is(was, "kind", "zero") &&
		 value(is, "flags_unknown", &unknown) &&
		 has(&unknown, zero, sizeof(zero) - 1));
}

enum answer_same answer_compare(const struct answer_row *was,
				const struct answer_row *is)
{
	if (was->len == is->len && !memcmp(was->at, is->at, is->len))
		return ANSWER_SAME;
	return was->pfn == is->pfn && same_flags(was, is) &&
		same_kind(was, is) &&
		same_field(was, is, "refcount") &&
		same_field(was, is, "mapcount") ? ANSWER_LESS : ANSWER_OTHER;
}

/* --- how it ended --- */

const char *answer_unclear(const struct answer *a)
{
	static const int known[] = { 0, 1, 2, 65, 69, 74, 77 };
	size_t i;

	if (a->status == -SIGALRM || a->status == -SIGXCPU)
		return "it did not come to an end";
	if (a->status < 0)
		return "it was ended by a signal";
	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (a->status == known[i])
			break;
	if (i == sizeof(known) / sizeof(*known))
		return "its exit status is none that fits";
	if (strstr(a->said, "(null)"))
		return "it speaks of (null)";
	if (a->status && strncmp(a->said, "pagedet: ", 9))
		return "it does not say why";
	return NULL;
}
