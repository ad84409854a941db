/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Checks the effective capabilities of this thread. They must hold in the
 * initial user namespace, because capabilities in another namespace open no
 * task outside of it.
 */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/namespace.h"
#include "base/privilege.h"

static bool may_trace(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &head, data) == 0 &&
	       data[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective &
		       CAP_TO_MASK(CAP_SYS_PTRACE) &&
	       pdet_first_namespace("", PDET_NAMESPACE_USER) > 0;
}

void pdet_advise_trace(struct pdet_env *env, const char *needs)
{
	pdet_advise(env, "%s", may_trace() ?
		    "this process has CAP_SYS_PTRACE, so something else "
		    "refuses: a security module, seccomp, or hidepid of /proc" :
		    needs);
}
