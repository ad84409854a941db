// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not exported to modules. kallsyms_lookup_name() is found by a kprobe
 * and finds the others; each is looked at before it is used, and what is not
 * there, or must not be called, switches off what needs it.
 */
#define pr_fmt(fmt) "page_detective: " fmt

#include <linux/kprobes.h>
#include <linux/uaccess.h>
#include <asm/cpufeature.h>
#include <asm/ibt.h>

#include "detective.h"

struct pd_symbols pd_symbols;

static const struct {
	const char *name, *feature;
	size_t at;
	bool function;
} wanted[] = {
	{ "init_mm", "kernel_walk",
	  offsetof(struct pd_symbols, init_mm), false },
	{ "stable_page_flags", "kpageflags",
	  offsetof(struct pd_symbols, stable_page_flags), true },
	{ "get_online_mems", "hotplug_lock",
	  offsetof(struct pd_symbols, get_online_mems), true },
	{ "put_online_mems", "hotplug_lock",
	  offsetof(struct pd_symbols, put_online_mems), true },
};

/* Its complement: the instruction itself must not be among our bytes. */
#define NOT_ENDBR64 0x05e1f00cU

static void **place(unsigned int i)
{
	return (void *)&pd_symbols + wanted[i].at;
}

/* With indirect branch tracking the processor refuses to jump to a function
 * whose first instruction does not allow it, and the kernel takes that away
 * from functions that it never calls by pointer.
 */
static bool may_call(unsigned long addr)
{
	u32 first;

	if (copy_from_kernel_nofault(&first, (void *)addr, sizeof(first)))
		return false;
	return !cpu_feature_enabled(X86_FEATURE_IBT) || ~first == NOT_ENDBR64;
}

static unsigned long find_lookup(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long addr;
	u32 before;

	if (register_kprobe(&probe))
		return 0;
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	/* A probe sits behind the instruction that allows the jump, or what
	 * the kernel has put in its place.
	 */
	if (!copy_from_kernel_nofault(&before, (void *)(addr - 4), 4) &&
	    is_endbr(before))
		addr -= 4;
	return may_call(addr) ? addr : 0;
}

int pd_symbols_find(void)
{
	unsigned long (*lookup)(const char *name);
	unsigned long addr;
	unsigned int i;

	lookup = (void *)find_lookup();
	if (!lookup) {
		pr_err("not loaded: kallsyms_lookup_name cannot be found or called: a kernel with KPROBES and KALLSYMS is needed\n");
		return -EOPNOTSUPP;
	}
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		addr = lookup(wanted[i].name);
		if (addr && (!wanted[i].function || may_call(addr)))
			*place(i) = (void *)addr;
	}
	/* One without the other is of no use. */
	if (!pd_symbols.get_online_mems || !pd_symbols.put_online_mems) {
		pd_symbols.get_online_mems = NULL;
		pd_symbols.put_online_mems = NULL;
	}
	return 0;
}

bool pd_symbols_line(unsigned int i, char *buf, size_t size)
{
	if (i >= ARRAY_SIZE(wanted))
		return false;
	scnprintf(buf, size, "feature=%s needs=%s state=%s\n",
		  wanted[i].feature, wanted[i].name,
		  *place(i) ? "on" : "off");
	return true;
}
