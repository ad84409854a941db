/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the mappings in a tracked range: with PROCMAP_QUERY (6.11), which finds
 * one mapping at a time, or from the text of maps. Their kinds come from smaps.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/vec.h"
#include "kernel/object/uapi.h"
#include "kernel/text/maps.h"
#include "track/track.h"

/* vm.max_map_count is 65530 by default. A mapping takes about 100 bytes in maps
 * and 1000 in smaps. */
#define MAPS_MAX ((size_t)256 << 20)

static bool push(struct pdet_track_areas *to, uint64_t start, uint64_t end,
		 uint32_t why, uint64_t page_size)
{
	return pdet_vec_push(to, (struct pdet_track_area){
		start, end, why, (uint32_t)page_size
	});
}

static uint64_t no_memory(struct pdet_env *env)
{
	pdet_fail(env, ENOMEM, "no memory for mappings");
	return 0;
}

/*
 * Returns 1 if a mapping was found, 0 if there is none from there on, or a
 * negative errno.
 */
static int query(struct pdet_track *t, uint64_t addr, struct pdet_vma_query *q)
{
	memset(q, 0, sizeof(*q));
	q->size = sizeof(*q);
	q->query_flags = PDET_VMA_COVERING_OR_NEXT;
	q->query_addr = addr;
	if (ioctl(t->maps, PDET_VMA_QUERY, q) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

static uint64_t by_query(struct pdet_track *t, struct pdet_env *env,
			 uint64_t start, uint64_t end, size_t max,
			 struct pdet_track_areas *ret)
{
	struct pdet_vma_query q;
	uint64_t at = start;
	int r;

	while (at < end) {
		if (ret->n == max)
			return at;
		r = query(t, at, &q);
		if (r < 0) {
			t->no_query = true;
			return 0;
		}
		if (r == 0 || q.vma_start >= end)
			return end;
		if (!push(ret, PDET_MAX(q.vma_start, at),
			  PDET_MIN(q.vma_end, end), 0, q.vma_page_size))
			return no_memory(env);
		at = q.vma_end;
	}
	return end;
}

static uint64_t by_text(struct pdet_track *t, struct pdet_env *env,
			uint64_t start, uint64_t end, size_t max,
			struct pdet_track_areas *ret)
{
	struct pdet_scan text, line;
	struct pdet_text whole;
	struct pdet_vma vma;
	uint64_t reached = end;
	int r = pdet_slurp_fd(t->maps, &whole, MAPS_MAX);

	if (r < 0) {
		errno = -r;
		pdet_fail_errno(env, "cannot read /proc/self/maps");
		return 0;
	}
	text.at = whole.data;
	text.end = whole.data + whole.len;
	while (reached && pdet_scan_line(&text, &line)) {
		if (!pdet_maps_line(line, &vma) || vma.end <= start)
			continue;
		if (vma.start >= end)
			break;
		if (ret->n == max) {
			reached = PDET_MAX(vma.start, start);
			break;
		}
		if (!push(ret, PDET_MAX(vma.start, start),
			  PDET_MIN(vma.end, end), 0, 0))
			reached = no_memory(env);
	}
	pdet_text_free(&whole);
	return reached;
}

uint64_t pdet_track_mapped(struct pdet_track *t, struct pdet_env *env,
			   uint64_t start, uint64_t end, size_t max,
			   struct pdet_track_areas *ret)
{
	uint64_t reached = 0;

	if (!t->no_query)
		reached = by_query(t, env, start, end, max, ret);
	if (!t->no_query)
		return reached;
	ret->n = 0;
	return by_text(t, env, start, end, max, ret);
}

/* The reason why soft-dirty bits do not cover a mapping, from its VmFlags
 * (Linux fs/proc/task_mmu.c, show_smap_vma_flags). */
static uint32_t why_not(struct pdet_scan flags)
{
	uint32_t why = PAGEDET_TRACK_READ_ONLY;
	struct pdet_scan word;

	for (;;) {
		pdet_scan_blanks(&flags);
		word = pdet_scan_token(&flags);
		if (word.at == word.end)
			return why;
		if (pdet_scan_is(&word, "ht") || pdet_scan_is(&word, "pf"))
			return PAGEDET_TRACK_KIND;
		if (pdet_scan_is(&word, "mw"))
			why = 0;
	}
}

static int by_kind(struct pdet_track *t, struct pdet_env *env,
		   struct pdet_track_areas *ret)
{
	struct pdet_scan text, line;
	struct pdet_text whole;
	struct pdet_vma vma;
	bool here = false;
	int r, fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return pdet_fail_errno(env, "cannot open /proc/self/smaps");
	r = pdet_slurp_fd(fd, &whole, MAPS_MAX);
	close(fd);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read /proc/self/smaps");
	}
	text.at = whole.data;
	text.end = whole.data + whole.len;
	while (r == 0 && pdet_scan_line(&text, &line)) {
		if (here && pdet_scan_word(&line, "VmFlags:")) {
			ret->data[ret->n - 1].why = why_not(line);
		} else if (pdet_maps_line(line, &vma)) {
			here = vma.end > t->start && vma.start < t->end;
			/* untracked until its flags show otherwise */
			if (here && !push(ret, PDET_MAX(vma.start, t->start),
					  PDET_MIN(vma.end, t->end),
					  PAGEDET_TRACK_KIND, 0))
				r = pdet_fail(env, ENOMEM,
					      "no memory for mappings");
		}
	}
	pdet_text_free(&whole);
	return r;
}

int pdet_track_divide(struct pdet_track *t, struct pdet_env *env, bool kinds)
{
	struct pdet_track_areas mapped = { 0 };
	uint64_t at = t->start;
	bool enough = true;
	size_t i;
	int r = 0;

	if (kinds)
		r = by_kind(t, env, &mapped);
	else if (!pdet_track_mapped(t, env, t->start, t->end, SIZE_MAX,
				    &mapped))
		r = -EIO;
	for (i = 0; r == 0 && enough && i < mapped.n; i++) {
		const struct pdet_track_area *m = &mapped.data[i];

		if (at < m->start)
			enough = push(&t->areas, at, m->start,
				      PAGEDET_TRACK_UNMAPPED, 0);
		/* mappings are ascending; skip one that is not */
		if (m->end <= at)
			continue;
		enough = enough && push(&t->areas, PDET_MAX(at, m->start),
					m->end, m->why, m->page_size);
		at = m->end;
	}
	if (r == 0 && enough && at < t->end)
		enough = push(&t->areas, at, t->end, PAGEDET_TRACK_UNMAPPED, 0);
	pdet_vec_free(&mapped);
	if (!enough)
		return pdet_fail(env, ENOMEM, "no memory for mappings");
	return r;
}
