// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not exported to modules. kallsyms_lookup_name() is found by a kprobe
 * and finds the others; what is not there switches off what needs it.
 *
 * Functions are called by static calls, which are direct jumps that the kernel
 * writes: with indirect branch tracking a processor refuses to jump by pointer
 * to functions that the kernel itself calls by name only. And these have the
 * type that the kernel's headers say they have.
 */
#define pr_fmt(fmt) "page_detective: " fmt

#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>

#include "detective.h"

struct pd_symbols pd_symbols;

DEFINE_STATIC_CALL_NULL(pd_stable_page_flags, stable_page_flags);
DEFINE_STATIC_CALL_NULL(pd_lru_add_drain_all, lru_add_drain_all);
DEFINE_STATIC_CALL_NULL(lookup, kallsyms_lookup_name);

static const struct {
	const char *name, *feature;
	size_t at;
} wanted[] = {
	{ "init_mm", "kernel_walk", offsetof(struct pd_symbols, init_mm) },
	{ "stable_page_flags", "kpageflags",
	  offsetof(struct pd_symbols, stable_page_flags) },
	{ "lru_add_drain_all", "new_file_pages",
	  offsetof(struct pd_symbols, lru_add_drain_all) },
	{ "mem_hotplug_lock", "hotplug_lock",
	  offsetof(struct pd_symbols, mem_hotplug_lock) },
	{ "kptr_restrict", "pointers",
	  offsetof(struct pd_symbols, kptr_restrict) },
};

static void **place(unsigned int i)
{
	return (void *)&pd_symbols + wanted[i].at;
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
	return addr;
}

int pd_symbols_find(void)
{
	const unsigned long addr = find_lookup();
	unsigned int i;

	if (!addr) {
		pr_err("not loaded: kallsyms_lookup_name cannot be found: KPROBES and KALLSYMS are needed, and kprobes must not be locked down\n");
		return -EOPNOTSUPP;
	}
	static_call_update(lookup, (void *)addr);
	for (i = 0; i < ARRAY_SIZE(wanted); i++)
		*place(i) = (void *)static_call(lookup)(wanted[i].name);
	static_call_update(pd_stable_page_flags,
			   (void *)pd_symbols.stable_page_flags);
	static_call_update(pd_lru_add_drain_all,
			   (void *)pd_symbols.lru_add_drain_all);
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
