/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the memory of a process whose main thread has ended. The kernel keeps
 * the number of that thread until all others have ended. Its files in /proc are
 * those of a zombie: maps is empty, pagemap cannot be opened. The other threads
 * still have the memory, and their files show it.
 */
#include <errno.h>
#include <stdlib.h>

#include "backend/procfs/task.h"
#include "kernel/text/stat.h"

bool procfs_main_ended(const struct pdet_env *env, uint32_t pid)
{
	uint64_t threads;

	return pdet_stat_life(env, pid, &threads) == 'Z' && threads > 1;
}

bool procfs_has_ended(const struct pdet_env *env, uint32_t tid)
{
	const char state = pdet_stat_state(env, tid);

	return !state || state == 'Z' || state == 'X';
}

uint32_t procfs_other_thread(struct pdet_env *env, uint32_t pid, uint32_t after)
{
	uint32_t *tids = NULL, found = 0;
	char path[4096];
	size_t n = 0, i;

	if (pdet_path(env, path, sizeof(path), "/proc/%u/task", pid) < 0)
		return 0;
	if (procfs_list_pids(env, path, &tids, &n) < 0)
		pdet_clear(env);
	for (i = 0; i < n && !found; i++)
		if (tids[i] > after && tids[i] != pid &&
		    !procfs_has_ended(env, tids[i]))
			found = tids[i];
	free(tids);
	return found;
}
