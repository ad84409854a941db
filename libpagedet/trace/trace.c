/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What is the same for all kinds of traces. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"
#include "base/vec.h"
#include "trace/trace.h"

/* Packed bytes whose unpacking takes longer than starting a thread. */
#define LEAST_AHEAD ((uint64_t)1 << 18)

int pdet_trace_learn(struct pdet_trace *t, const char *text, size_t len,
		     enum pdet_trace_system system)
{
	struct pdet_trace_format format;
	const int r = pdet_trace_format_parse(text, len, &format);

	if (r < 0)
		return r;
	/* Anybody may give their own events the names of these. */
	if (system == PDET_TRACE_FTRACE &&
	    !strcmp(format.name, "kernel_stack"))
		pdet_kmem_learn_stack(t->known, &format);
	if (system != PDET_TRACE_KMEM)
		*format.name = '\0';
	else if (!t->gfp.n)
		pdet_trace_flags((struct pdet_scan){ text, text + len },
				 "gfp_flags", &t->gfp);
	return pdet_kmem_learn(t->known, &format);
}

void pdet_trace_want_stacks(struct pdet_trace *t)
{
	size_t i;

	t->wants_stacks = true;
	for (i = 0; i < t->n_pages; i++)
		t->pages[i].stacks = &t->stacks;
}

bool pdet_trace_stat(const char *text, size_t len, const char *key,
		     uint64_t *ret)
{
	struct pdet_scan all = { text, text + len }, line;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_word(&line, key) && pdet_scan_dec(&line, ret))
			return true;
	return false;
}

/*
 * The kernel has counted what it lost; a page says only that there was a loss
 * if it has no room for a count.
 */
void pdet_trace_stats(struct pdet_trace_pages *p, const char *text, size_t len)
{
	uint64_t overrun, commit, dropped;

	if (!pdet_trace_stat(text, len, "overrun: ", &overrun) ||
	    !pdet_trace_stat(text, len, "commit overrun: ", &commit) ||
	    !pdet_trace_stat(text, len, "dropped events: ", &dropped))
		return;
	p->counted = true;
	p->lost = p->s.loss.lost = overrun + commit + dropped;
	pdet_trace_stat(text, len, "read events: ", &p->wanted);
}

static int open_file(struct pdet_env *env, const char *path,
		     struct pdet_trace *t)
{
	struct stat st;

	t->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (t->fd < 0)
		return pdet_fail_errno(env, "cannot open %s", path);
	if (fstat(t->fd, &st) < 0)
		return pdet_fail_errno(env, "cannot read %s", path);
	if (S_ISDIR(st.st_mode) && pdet_relay_is(t->fd))
		return pdet_trace_relay(env, t->fd, path, t);
	if (S_ISDIR(st.st_mode))
		return pdet_trace_directory(env, t->fd, path, t);
	if (S_ISREG(st.st_mode) && pdet_perf_is(t->fd))
		return pdet_trace_perf(env, t->fd, path, t);
	if (S_ISREG(st.st_mode) && pdet_dat_is(t->fd))
		return pdet_trace_dat(env, t->fd, path, t);
	if (S_ISREG(st.st_mode) && pdet_old_is(t->fd))
		return pdet_trace_old(env, t->fd, t);
	return pdet_trace_text(env, path, t);
}

void pdet_trace_read_ahead(struct pdet_trace *t)
{
	uint64_t packed = 0;
	size_t i;

	for (i = 0; i < t->n_pages; i++)
		if (t->pages[i].input.chunks.codec)
			packed += t->pages[i].s.end - t->pages[i].s.offset;
	if (packed < LEAST_AHEAD)
		return;
	t->ahead = pdet_ahead_begin();
	for (i = 0; i < t->n_pages; i++)
		if (t->pages[i].input.chunks.codec)
			t->pages[i].ahead = t->ahead;
}

void pdet_trace_release(struct pdet_trace *t, const char *text, size_t n)
{
	n = strnlen(text, n);
	if (n >= sizeof(t->release))
		return;
	memcpy(t->release, text, n);
	t->release[n] = '\0';
}

static int list_streams(struct pdet_env *env, struct pdet_trace *t)
{
	size_t i;

	t->streams = calloc(t->n_pages + t->own.n + 1,
			    sizeof(*t->streams));
	if (!t->streams)
		return pdet_fail(env, ENOMEM, "no memory");
	for (i = 0; i < t->n_pages; i++)
		t->streams[t->n_streams++] = &t->pages[i].s;
	for (i = 0; i < t->own.n; i++)
		t->streams[t->n_streams++] = t->own.data[i];
	return 0;
}

int pdet_trace_open(struct pdet_env *env, const char *path,
		    struct pdet_trace **ret)
{
	struct pdet_trace *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return pdet_fail(env, ENOMEM, "no memory");
	t->fd = -1;
	t->known = calloc(1, sizeof(*t->known));
	if (!t->known)
		r = pdet_fail(env, ENOMEM, "no memory");
	else if (!strcmp(path, "-"))
		r = pdet_trace_text(env, path, t);
	else
		r = open_file(env, path, t);
	if (r == 0)
		r = list_streams(env, t);
	if (r < 0)
		pdet_trace_free(t);
	else
		*ret = t;
	return r;
}

void pdet_trace_free(struct pdet_trace *t)
{
	size_t i;

	if (!t)
		return;
	pdet_ahead_end(t->ahead);
	for (i = 0; i < t->n_pages; i++) {
		if (t->pages[i].input.chunks.fd != t->fd)
			close(t->pages[i].input.chunks.fd);
		pdet_trace_pages_end(&t->pages[i]);
	}
	free(t->pages);
	for (i = 0; i < t->own.n; i++)
		t->own.data[i]->close(t->own.data[i]);
	pdet_vec_free(&t->own);
	free(t->streams);
	if (t->fd >= 0)
		close(t->fd);
	free(t->known);
	pdet_trace_stacks_free(&t->stacks);
	pdet_text_free(&t->kallsyms);
	pdet_text_free(&t->cmdlines);
	free(t);
}
