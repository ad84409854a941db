/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides whether a trace is of the kernel that is asked. The addresses of
 * another boot name other objects. A kernel that is relocated at boot is known
 * by the address of its code. One that is not has the same address in every
 * boot, and only the boot_id tells these apart, which pagedet records.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "allocs/sites.h"
#include "base/clock.h"
#include "base/io.h"
#include "query/query.h"
#include "query/walk/objects_boot.h"

enum of { OF_THIS, OF_OTHER, UNTOLD };

#define MB ((uint64_t)1 << 20)

/*
 * Whether an address of the code was drawn at boot. x86_64 relocates by 2 MB
 * (arch/x86/boot/compressed/kaslr.c), from 16 MB behind the begin of its area;
 * arm64 links to a multiple of 128 MB. False if that cannot be told.
 */
static bool is_drawn(uint64_t address)
{
	if (address >= 0xffffffff80000000 && address < 0xffffffffc0000000)
		return address % (2 * MB) == 0 &&
		       address != 0xffffffff81000000;
	return address >= 0xffff800000000000 && address < 0xffffffff80000000 &&
	       address % (128 * MB) != 0;
}

/* The address that the asked kernel has. */
static bool address_of(const struct pdet_asked *k, const char *name,
		       uint64_t *ret)
{
	bool found = false;
	size_t i;

	for (i = 0; i < k->n_backends && !found; i++) {
		struct pdet_backend *b = k->backends[i];

		found = b->ops->symbol &&
			b->ops->symbol(b, k->env, name, ret) == 0;
		pdet_clear(k->env);
	}
	return found;
}

static enum of compare(const struct pdet_allocs *a, const struct pdet_asked *k,
		       char *why, size_t size)
{
	static const char *const symbols[] = { "_stext", "_text" };
	uint64_t then, now;
	size_t i;

	for (i = 0; i < PDET_COUNT(symbols); i++) {
		if (!pdet_allocs_symbol(a, symbols[i], &then) ||
		    !address_of(k, symbols[i], &now))
			continue;
		if (then == now && is_drawn(now))
			return OF_THIS;
		if (then == now) {
			snprintf(why, size, "its kernel's code is at the same "
				 "address in every boot");
			return UNTOLD;
		}
		snprintf(why, size, "%s was at 0x%" PRIx64
			 ", and is at 0x%" PRIx64, symbols[i], then, now);
		return OF_OTHER;
	}
	snprintf(why, size, "the address of the kernel's code is not known of "
		 "both");
	return UNTOLD;
}

/* The trace ends later than this boot has lasted. */
static bool is_ahead(const struct pdet_allocs *a, const struct pdet_asked *k)
{
	return k->live && pdet_allocs_counts_ns(a) &&
	       pdet_allocs_end_ns(a) > pdet_clock_ns(CLOCK_BOOTTIME);
}

/* The boot that the trace says, and the one of the running kernel. */
static enum of compare_ids(const struct pdet_allocs *a,
			   const struct pdet_asked *k, char *why, size_t size)
{
	const char *then = pdet_allocs_boot(a);
	char now[40];

	if (!k->live || !*then)
		return UNTOLD;
	pdet_read_line(k->env, "/proc/sys/kernel/random/boot_id", now,
		       sizeof(now));
	if (!*now)
		return UNTOLD;
	if (!strcmp(now, then))
		return OF_THIS;
	snprintf(why, size, "its boot_id is %s", then);
	return OF_OTHER;
}

static bool are_not(char why[PDET_BOOT_WHY], const char *what,
		    const char *reason)
{
	snprintf(why, PDET_BOOT_WHY, "%s (%s)", what, reason);
	return false;
}

bool pdet_objects_are_of(const struct pdet_allocs *a,
			 const struct pdet_asked *k, bool any_boot,
			 char why[PDET_BOOT_WHY])
{
	char reason[160] = "";
	enum of is;

	if (pdet_allocs_hides(a))
		return are_not(why, "the trace does not tell where objects "
			       "are", "its addresses are hashed");
	if (any_boot)
		return true;
	if (is_ahead(a, k))
		return are_not(why, "the trace is of another boot",
			       "it ends later than now");
	is = compare_ids(a, k, reason, sizeof(reason));
	if (is == UNTOLD)
		is = compare(a, k, reason, sizeof(reason));
	return is == OF_THIS || are_not(why, is == OF_OTHER ?
		"the trace is of another boot or kernel" :
		"nothing says whether the trace is of this boot", reason);
}

/*
 * Before the first row it must be known what the last event says. False: it
 * cannot be. *r: 0, or a negative errno with an error text.
 */
static bool survey(struct pdet_iter *it, char why[PDET_BOOT_WHY], int *r)
{
	struct pdet_allocs *a = it->q.allocs;
	struct pdet_trace_survey s;

	*r = 0;
	if (!pdet_allocs_path(a))
		return are_not(why, "the kernel is asked only if the trace is "
			       "read twice",
			       "it can be read only once: save it to a file");
	*r = pdet_trace_survey(&s, it->env, pdet_allocs_path(a),
			       pdet_iter_must_stop, it);
	if (*r == 0)
		pdet_allocs_surveyed(a, &s);
	return *r == 0;
}

int pdet_objects_are_here(struct pdet_iter *it, bool *not_here)
{
	const struct pdet_asked k = { it->env, it->backends, it->n_backends,
				      it->live };
	const bool any_boot = it->q.options & PAGEDET_Q_ANY_BOOT;
	char why[PDET_BOOT_WHY];
	bool are = pdet_objects_are_of(it->q.allocs, &k, any_boot, why);
	int r = 0;

	if (are && pdet_allocs_streams(it->q.allocs))
		are = survey(it, why, &r) &&
		      pdet_objects_are_of(it->q.allocs, &k, any_boot, why);
	*not_here = !are;
	if (!are && r == 0)
		pdet_log(it->env, PAGEDET_LOG_WARNING, "%s: what its objects "
			 "are now is not shown", why);
	return r;
}
