/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks the effective capabilities of this thread. They must hold in the
 * initial user namespace, because capabilities in another namespace open no
 * task outside of it.
 */
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/privilege.h"

static bool in_first_namespace(void)
{
	char name[64];
	const ssize_t n = readlink("/proc/self/ns/user", name,
				   sizeof(name) - 1);

	if (n < 0)
		return false;
	name[n] = '\0';
	return !strcmp(name, "user:[4026531837]");
}

static bool may_trace(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective &
		       CAP_TO_MASK(CAP_SYS_PTRACE) &&
	       in_first_namespace();
}

void pdet_advise_trace(struct pdet_env *env, const char *needs)
{
	pdet_advise(env, "%s", may_trace() ?
		    "this process has CAP_SYS_PTRACE, so something else "
		    "refuses: a security module, seccomp, or hidepid of /proc" :
		    needs);
}
