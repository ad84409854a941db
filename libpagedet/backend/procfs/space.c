/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares the address spaces of threads. kcmp(2) tells whether two are the
 * same. Where it is not allowed or not built in, texts that differ show that
 * they are not; equal ones prove nothing.
 */
#include <errno.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/io.h"
#include "base/namespace.h"

#define MAX_TEXT (64u << 20)

static bool is_equal(const struct pdet_text *a, const struct pdet_text *b)
{
	return a->len == b->len && !memcmp(a->data, b->data, a->len);
}

/*
 * Whether a file of the two differs. That of the one is read before and after
 * that of the other: if it has changed meanwhile, it shows nothing.
 */
static bool differs(const struct pdet_env *env, const char *name, uint32_t tid,
		    uint32_t other)
{
	struct pdet_text text[3] = { { NULL, 0 } };
	const uint32_t of[] = { tid, other, tid };
	bool differs;
	size_t i;

	for (i = 0; i < PDET_COUNT(of); i++)
		if (pdet_slurp(env, &text[i], MAX_TEXT, "/proc/%u/%s", of[i],
			       name) < 0)
			break;
	differs = i == PDET_COUNT(of) && is_equal(&text[0], &text[2]) &&
		  !is_equal(&text[0], &text[1]);
	while (i)
		pdet_text_free(&text[--i]);
	return differs;
}

static enum pdet_space_order by_text(const struct pdet_env *env, uint32_t tid,
				     uint32_t other)
{
	return differs(env, "statm", tid, other) ||
	       differs(env, "maps", tid, other) ? PDET_SPACE_OTHER :
						  PDET_SPACE_UNKNOWN;
}

enum pdet_space_order procfs_space_order(struct pdet_session *s, uint32_t tid,
					 uint32_t other)
{
	const bool ours = procfs_session_of(s)->p->live && !*s->env.root &&
			  pdet_proc_is_ours("");

	switch (ours ? syscall(SYS_kcmp, (long)tid, (long)other, (long)KCMP_VM,
			       0L, 0L) : -1) {
	case 0:
		/* Two that have ended have none. */
		return procfs_has_memory(s, tid) == 1 ? PDET_SPACE_SAME :
							PDET_SPACE_UNKNOWN;
	case 1:
		return PDET_SPACE_BEFORE;
	case 2:
		return PDET_SPACE_AFTER;
	case 3:
		return PDET_SPACE_OTHER;
	default:
		return by_text(&s->env, tid, other);
	}
}
