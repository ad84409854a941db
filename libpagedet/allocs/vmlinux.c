/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Names from a vmlinux. Its addresses are those before the kernel was moved at
 * boot (KASLR), and by how much it was moved must be known.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "allocs/naming.h"
#include "symbol/calls.h"

/* The kernel's place is at least a multiple of this. */
#define MOVED_BY ((uint64_t)4096)

struct moving {
	struct pdet_env *env;
	const char *path;	/* of the vmlinux */
	struct pdet_vmlinux v;
	struct pdet_kallsyms symbols; /* as in the file */
	struct pdet_calls calls; /* no code: it cannot be looked at */
	uint64_t first, end;	/* of the image, in the file */
	const struct pdet_sites *sites;
};

static int other(const struct moving *m, const char *why)
{
	return pdet_fail(m->env, EBADMSG, "cannot use %s: it is of another "
			 "kernel, or boot: %s", m->path, why);
}

static int open_vmlinux(struct moving *m)
{
	const struct pdet_vmlinux_move none = { 0, 0, 0 };
	struct pdet_symbol s[] = {
		{ .name = "_text" }, { .name = "_end" }, { .name = "_stext" },
	};
	int r = pdet_vmlinux_open(&m->v, m->env, m->path);

	if (r < 0)
		return r;
	r = pdet_vmlinux_symbols(&m->v, &none, &m->symbols);
	if (r == -ENOMEM)
		return pdet_fail(m->env, ENOMEM, "no memory");
	pdet_vmlinux_find(&m->v, s, PDET_COUNT(s));
	if (r < 0 || !s[0].found || !s[1].found ||
	    s[0].address >= s[1].address)
		return pdet_fail(m->env, EBADMSG, "cannot use %s: it has no "
				 "symbols of a kernel", m->path);
	m->first = s[0].address;
	m->end = s[1].address;
	m->calls.machine = m->v.machine;
	m->calls.symbols = &m->symbols;
	pdet_vmlinux_code(&m->v, s[2].found ? s[2].address : m->first,
			  &m->calls.code);
	return 0;
}

static bool file_address(struct moving *m, const char *name, uint64_t *ret)
{
	struct pdet_symbol s = { .name = name };

	pdet_vmlinux_find(&m->v, &s, 1);
	*ret = s.address;
	return s.found;
}

/* 1 if the trace, or names of that boot, say where the kernel was. */
static int told(struct moving *m, const struct pdet_naming *n, uint64_t *ret)
{
	const struct pdet_trace_kernel *k = &m->sites->kernel;
	static const char *const names[] = { "_text", "_stext" };
	uint64_t at, now;
	unsigned i;

	if (*k->symbol && file_address(m, k->symbol, &at)) {
		*ret = k->address - at;
		return 1;
	}
	for (i = 0; i < PDET_COUNT(names) && n->has_names; i++)
		if (pdet_trace_names_symbol(&n->names, names[i], &now) &&
		    file_address(m, names[i], &at)) {
			*ret = now - at;
			return 1;
		}
	return 0;
}

/* What was told can be wrong, or the file can be of another build. */
static int check_told(const struct moving *m, uint64_t by)
{
	const struct pdet_sites *s = m->sites;
	size_t n;

	if (by % MOVED_BY)
		return other(m, "no kernel is moved by such a number of bytes");
	if (m->calls.code.bytes && pdet_calls_can(m->calls.machine) &&
	    !pdet_calls_fit(&m->calls, s->addresses.data, s->addresses.n, by,
			    &n))
		return other(m, "a call site of the trace is not behind a call "
				"in it");
	return 0;
}

/* Returns 1, or 0 and why nothing can be said. */
static int derive(const struct moving *m, uint64_t *ret, const char **why)
{
	const struct pdet_sites *s = m->sites;
	int r;

	if (!pdet_calls_can(m->calls.machine)) {
		*why = "calls of this machine are not known here";
	} else if (!m->calls.code.bytes) {
		*why = "the file has no code to compare the call sites with";
	} else if (s->addresses.n < PDET_CALLS_LEAST) {
		*why = "the trace has too few call sites";
	} else {
		r = pdet_calls_find(&m->calls, s->addresses.data,
				    s->addresses.n, ret);
		*why = r == -E2BIG ? "the call sites fit in several places" :
				     "the call sites fit nowhere, so it may be "
				     "of another kernel";
		return r == 0;
	}
	return 0;
}

static int find_offset(struct moving *m, const struct pdet_naming *n,
		       uint64_t *ret)
{
	const char *why;
	int r = told(m, n, ret);

	if (r > 0) {
		r = check_told(m, *ret);
		return r < 0 ? r : 1;
	}
	r = derive(m, ret, &why);
	if (r == 0)
		pdet_log(m->env, PAGEDET_LOG_WARNING, "%s names no call site: "
			 "by how much KASLR moved the kernel is not known: %s",
			 m->path, why);
	return r;
}

static int take_moved(struct moving *m, struct pdet_naming *n, uint64_t by)
{
	const struct pdet_vmlinux_move move = { by, m->first, m->end };
	struct pdet_kallsyms moved;
	int r = pdet_vmlinux_symbols(&m->v, &move, &moved);

	if (r == 0) {
		r = pdet_trace_names_take(&n->names, &moved);
		pdet_kallsyms_free(&moved);
	}
	if (r < 0)
		return pdet_fail(m->env, ENOMEM, "no memory");
	n->has_names = true;
	n->marks = n->names.marks;
	n->kaslr_offset = by;
	n->kaslr = PAGEDET_HAVE;
	return 0;
}

int pdet_naming_vmlinux(struct pdet_naming *n, struct pdet_env *env,
			const char *path, struct pdet_sites *sites)
{
	struct moving m = { .env = env, .path = path, .sites = sites,
			    .v = { .fd = -1 } };
	uint64_t by = 0;
	int r = open_vmlinux(&m);

	if (r == 0)
		r = find_offset(&m, n, &by);
	pdet_trace_names_free(&n->names);
	n->has_names = false;
	memset(&n->marks, 0, sizeof(n->marks));
	n->kaslr = PAGEDET_UNSUPPORTED;
	if (r > 0)
		r = take_moved(&m, n, by);
	pdet_kallsyms_free(&m.symbols);
	pdet_vmlinux_close(&m.v);
	return r;
}
