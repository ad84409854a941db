/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Compares the address spaces of threads. Where a program, its data and its
 * stack begin is drawn by lot when it is executed, and stays. It is the same
 * after fork(2), and in all that share the address space: kcmp(2) tells these
 * apart, if it is allowed and built in.
 */
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/procfs/task.h"
#include "base/hash.h"
#include "base/namespace.h"
#include "kernel/text/stat.h"

uint64_t procfs_key_of(const struct pdet_env *env, uint32_t tid)
{
	static const unsigned fields[] = {
		PDET_STAT_START_CODE, PDET_STAT_START_STACK,
		PDET_STAT_START_DATA, PDET_STAT_START_BRK, PDET_STAT_ARG_START
	};
	uint64_t at[PDET_COUNT(fields)], key;

	if (pdet_stat_numbers(env, tid, fields, PDET_COUNT(fields),
			      at) < 0 || !at[1])
		return 0;
	key = pdet_hash(at, sizeof(at));
	return key ? key : 1;
}

uint64_t procfs_space_key(struct pdet_session *s, uint32_t tid)
{
	return procfs_key_of(&s->env, tid);
}

enum pdet_space_order procfs_space_order(struct pdet_session *s, uint32_t tid,
					 uint32_t other)
{
	if (!procfs_session_of(s)->p->live || *s->env.root ||
	    !pdet_proc_is_ours(""))
		return PDET_SPACE_UNKNOWN;
	switch (syscall(SYS_kcmp, (long)tid, (long)other, (long)KCMP_VM, 0L,
			0L)) {
	case 0:
		return PDET_SPACE_SAME;
	case 1:
		return PDET_SPACE_BEFORE;
	case 2:
		return PDET_SPACE_AFTER;
	default:
		return PDET_SPACE_UNKNOWN;
	}
}
