/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Kernels since 2.6.36 free some objects without an event. */
#include <string.h>

#include "allocs/findings.h"
#include "allocs/verdict.h"
#include "base/text/text.h"
#include "trace/trace.h"

static const struct {
	const char *name, *why[PAGEDET_JUDGED_UNKNOWN + 1];
} kinds[] = {
	[PAGEDET_FOUND_DISORDER] = {
		"disorder", {
		[PAGEDET_JUDGED_WRONG] =
			"a time before that of the event in front" } },
	[PAGEDET_FOUND_KFREE] = {
		"family", {
		[PAGEDET_JUDGED_WRONG] =
			"kfree() of an object of a cache",
		[PAGEDET_JUDGED_ALLOWED] =
			"kfree() of an object of a cache: allowed since Linux "
			"6.4",
		[PAGEDET_JUDGED_UNKNOWN] =
			"kfree() of an object of a cache: allowed since Linux "
			"6.4, or the object's own free is not in the trace" } },
	[PAGEDET_FOUND_CACHE_FREE] = {
		"family", {
		[PAGEDET_JUDGED_WRONG] =
			"kmem_cache_free() of what kmalloc() gave",
		[PAGEDET_JUDGED_UNKNOWN] =
			"kmem_cache_free() of what kmalloc() gave, or the "
			"object's own free is not in the trace" } },
	[PAGEDET_FOUND_TOO_SMALL] = {
		"too_small", {
		[PAGEDET_JUDGED_WRONG] = "fewer bytes than requested" } },
	[PAGEDET_FOUND_LOST] = {
		"lost", {
		[PAGEDET_JUDGED_UNKNOWN] =
			"events that the trace does not have" } },
	[PAGEDET_FOUND_CUT] = {
		"cut", {
		[PAGEDET_JUDGED_UNKNOWN] =
			"places where the trace was cut, or is damaged" } },
	[PAGEDET_FOUND_FORMAT] = {
		"format", {
		[PAGEDET_JUDGED_UNKNOWN] =
			"events whose format the trace does not have" } },
};

const char *pdet_found_name(uint32_t found)
{
	return found < PDET_COUNT(kinds) ? kinds[found].name : NULL;
}

const char *pdet_found_verdict(uint32_t verdict)
{
	return verdict == PAGEDET_JUDGED_WRONG ? "wrong" :
	       verdict == PAGEDET_JUDGED_ALLOWED ? "allowed" : "unknown";
}

const char *pdet_found_why(const struct pagedet_alloc_finding *f)
{
	const char *why = kinds[f->found].why[f->verdict];

	return why ? why : "";
}

/* Whether kfree() takes objects of caches; *known: it can be told. */
static bool allows_kfree(const struct pdet_allocs *a, bool *known)
{
	const char *release = pdet_allocs_release(a);
	struct pdet_scan s = { release, release + strlen(release) };
	uint64_t major, minor;

	/* Linux 6.18 writes it, and 6.12 does not. */
	*known = pdet_allocs_names_caches(a);
	if (*known)
		return true;
	*known = pdet_scan_dec(&s, &major) && pdet_scan_char(&s, '.') &&
		 pdet_scan_dec(&s, &minor);
	return *known && (major > 6 || (major == 6 && minor >= 4));
}

static uint32_t judge(const struct pdet_allocs *a, uint32_t found)
{
	/* Every free of an object is there, and is one of this object: the
	 * kernels of kmemtrace had no free without an event. */
	const bool certain = !strcmp(pdet_allocs_release(a),
				     PDET_TRACE_OLD_RELEASE) &&
			     !pdet_allocs_hides(a) && pdet_allocs_is_whole(a);
	bool known;

	switch (found) {
	case PAGEDET_FOUND_DISORDER:
	case PAGEDET_FOUND_TOO_SMALL:
		return PAGEDET_JUDGED_WRONG;
	case PAGEDET_FOUND_KFREE:
		if (allows_kfree(a, &known))
			return PAGEDET_JUDGED_ALLOWED;
		return certain ? PAGEDET_JUDGED_WRONG :
				 PAGEDET_JUDGED_UNKNOWN;
	case PAGEDET_FOUND_CACHE_FREE:
		return certain ? PAGEDET_JUDGED_WRONG :
				 PAGEDET_JUDGED_UNKNOWN;
	default:
		return PAGEDET_JUDGED_UNKNOWN;
	}
}

bool pdet_allocs_finding(struct pdet_allocs *a, size_t i,
			 struct pagedet_alloc_finding *ret)
{
	const struct pdet_alloc_finding *f =
		pdet_findings_get(pdet_allocs_findings(a), i);
	unsigned k;

	if (!f)
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->size = sizeof(*ret);
	ret->found = f->kind;
	ret->verdict = judge(a, f->kind);
	ret->times = f->times;
	ret->times_state = f->uncounted ? PAGEDET_UNSUPPORTED : PAGEDET_HAVE;
	ret->first_ns = f->first_ns;
	ret->first_state = f->first_ns ? PAGEDET_HAVE : PAGEDET_UNSUPPORTED;
	ret->cpu = f->cpu;
	ret->cpu_state = !pdet_allocs_tells_cpu(a) ? PAGEDET_UNSUPPORTED :
			 f->has_cpu ? PAGEDET_HAVE : PAGEDET_NONE;
	for (k = 0; k < PAGEDET_ALLOC_KEYS; k++)
		ret->state[k] = PAGEDET_NONE;
	if (f->has_group)
		pdet_allocs_values(a, f->group, ret->value, ret->state);
	return true;
}
