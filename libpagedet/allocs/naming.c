/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Takes names from one of several sources, and finds them by address. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocs/naming.h"

/* --- sources --- */

/* Takes over @text. */
static int take(struct pdet_naming *n, struct pdet_env *env,
		struct pdet_text *text, const char *name, bool optional)
{
	const int r = pdet_trace_names_read(&n->names, text->data, text->len);

	*text = (struct pdet_text){ 0 };
	n->has_names = r == 0;
	if (r == 0)
		n->marks = n->names.marks;
	if (r == 0 || (r != -ENOMEM && optional))
		return 0;
	if (r == -EACCES)
		return pdet_fail(env, EACCES, "%s hides all addresses: it must "
				 "be copied as root", name);
	if (r == -EBADMSG)
		return pdet_fail(env, EBADMSG, "%s is not a copy of "
				 "/proc/kallsyms", name);
	return pdet_fail(env, ENOMEM, "no memory");
}

/* What is not a file cannot be read at an offset. */
static int why_not(int fd, int r)
{
	struct stat st;

	if (r != -EIO || fstat(fd, &st))
		return r;
	return S_ISDIR(st.st_mode) ? -EISDIR : S_ISFIFO(st.st_mode) ? -ESPIPE :
								     r;
}

int pdet_naming_kallsyms(struct pdet_naming *n, struct pdet_env *env,
			 const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pdet_text text;
	int r;

	if (fd < 0)
		return pdet_fail_errno(env, "cannot open %s", path);
	r = pdet_slurp_fd(fd, &text, PDET_TRACE_MOST_NAMES);
	if (r < 0)
		r = why_not(fd, r);
	close(fd);
	if (r == 0)
		return take(n, env, &text, path, false);
	errno = -r;
	return pdet_fail_errno(env, "cannot read %s", path);
}

int pdet_naming_beside(struct pdet_naming *n, struct pdet_env *env,
		       struct pdet_text *text)
{
	return text->data ? take(n, env, text, "the trace's kallsyms", true) :
			    0;
}

void pdet_naming_namer(struct pdet_naming *n, const struct pdet_namer *namer)
{
	unsigned i;

	n->namer = namer;
	for (i = 0; i < PDET_MARKS; i++)
		if (!namer->symbol(namer->arg, pdet_trace_mark[i],
				   &n->marks.at[i]))
			n->marks.at[i] = 0;
}

/* --- lookups --- */

/* "function+0x10/0x40 [module]" */
static bool ask(struct pdet_naming *n, uint64_t site, struct pdet_named *ret)
{
	const size_t len = n->namer->name(n->namer->arg, site, n->text,
					  sizeof(n->text));
	const char *end = n->text + len, *at;
	struct pdet_scan s;

	/* The kernel's names have no blanks, but may have other signs. */
	at = len ? memrchr(n->text, '+', len) : NULL;
	if (!at)
		return false;
	ret->function = n->text;
	ret->function_len = (size_t)(at - n->text);
	s = (struct pdet_scan){ at + 1, end };
	if (!pdet_scan_word(&s, "0x") || !pdet_scan_hex(&s, &ret->offset))
		return false;
	at = memchr(s.at, '[', (size_t)(end - s.at));
	if (at && end - at > 2) {
		ret->module = at + 1;
		ret->module_len = (size_t)(end - at) - 2;
	}
	return true;
}

static bool look_up(const struct pdet_naming *n, uint64_t site,
		    struct pdet_named *ret)
{
	const struct pdet_trace_function *f =
		pdet_trace_names_find(&n->names, site);

	if (!f)
		return false;
	ret->function = n->names.text + f->name;
	ret->function_len = f->name_len;
	ret->module = n->names.text + f->module;
	ret->module_len = f->module_len;
	ret->offset = site - f->address;
	return true;
}

/* Only the last function of the kernel could seem to be there. */
static bool is_outside(const struct pdet_naming *n, uint64_t site,
		       const struct pdet_named *named)
{
	const uint64_t *at = n->marks.at;
	const uint64_t end = at[PDET_MARK_INIT_END] ? at[PDET_MARK_INIT_END] :
						      at[PDET_MARK_END];

	return !named->module_len && end && site >= end &&
	       site - named->offset < end;
}

bool pdet_naming_find(struct pdet_naming *n, uint64_t site,
		      struct pdet_named *ret)
{
	bool found;

	memset(ret, 0, sizeof(*ret));
	if (!n->namer && !n->has_names)
		return false;
	found = n->namer ? ask(n, site, ret) : look_up(n, site, ret);
	if (found && is_outside(n, site, ret))
		found = false;
	if (!n->impossible &&
	    !pdet_trace_marks_allow(&n->marks, site,
				    found ? site - ret->offset : 0))
		n->impossible = site;
	return found;
}

size_t pdet_named_text(const struct pdet_named *f, char *text, size_t size)
{
	const int n = snprintf(text, size, "%.*s+%#" PRIx64 "%s%.*s%s",
			       (int)f->function_len, f->function, f->offset,
			       f->module_len ? " [" : "", (int)f->module_len,
			       f->module_len ? f->module : "",
			       f->module_len ? "]" : "");

	return PDET_MIN((size_t)n, size - 1);
}

/* --- checks --- */

static bool fits(const struct pdet_naming *n, const struct pdet_trace_kernel *k)
{
	uint64_t address;

	if (n->has_names)
		return pdet_trace_names_fit(&n->names, k);
	return !n->namer || !*k->symbol ||
	       !n->namer->symbol(n->namer->arg, k->symbol, &address) ||
	       address == k->address;
}

int pdet_naming_check(const struct pdet_naming *n, struct pdet_env *env,
		      const struct pdet_trace_kernel *k, const char *trace)
{
	if (!fits(n, k))
		return pdet_fail(env, EBADMSG, "the names are of another boot "
				 "or kernel: %s, or the end of the code, is at "
				 "another address in %s", k->symbol, trace);
	if (n->impossible)
		return pdet_fail(env, EBADMSG, "the names are of another boot "
				 "or kernel: %s has a call from %#" PRIx64
				 ", where these have no code that calls",
				 trace, n->impossible);
	return 0;
}

void pdet_naming_free(struct pdet_naming *n)
{
	pdet_trace_names_free(&n->names);
}
