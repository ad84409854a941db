// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether a page has anything but zeroes. It is read only while it is held, and
 * only if it is memory, not a device's or the firmware's; and in a way that
 * survives a page without a mapping in the kernel, as those of memfd_secret(2),
 * and memory that fails, where the processor can tell.
 */
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/cpufeature.h>

#include "detective.h"

#define PART 256

/* copy_mc_to_kernel() is a plain copy on a processor without fast strings. And
 * KASAN looks at what it reads: it knows nothing of what the firmware has, and
 * objects to slabs that are read as a whole.
 */
static bool has_mc(void)
{
	return IS_ENABLED(CONFIG_ARCH_HAS_COPY_MC) &&
	       IS_ENABLED(CONFIG_X86_MCE) &&
	       !IS_ENABLED(CONFIG_KASAN) && boot_cpu_has(X86_FEATURE_ERMS);
}

const char *pd_content_how(void)
{
	return has_mc() ? "machine_check_safe" : "fault_safe";
}

/* A mapping that is missing is told as memory that fails is: a look before the
 * copy, if only at one byte, would end the machine where that byte fails.
 */
static bool copy(void *to, const void *from, size_t size)
{
#ifdef CONFIG_ARCH_HAS_COPY_MC
	if (has_mc())
		return copy_mc_to_kernel(to, from, size) == 0;
#endif
	return copy_from_kernel_nofault(to, from, size) == 0;
}

enum pd_content pd_content(const struct pd_page *p)
{
	const char *from;
	char part[PART];
	size_t at;

	if (!p->held || p->offline)
		return PD_CONTENT_UNKNOWN;
	/* Given to a hypervisor since. */
	if (p->referenced && PageOffline(p->page))
		return PD_CONTENT_UNKNOWN;
	/* Frames between memory have a struct page, too. */
	if (p->reserved && !page_is_ram(p->pfn))
		return PD_CONTENT_UNKNOWN;
	if (p->poisoned)
		return PD_CONTENT_POISONED;
	from = __va(PFN_PHYS(p->pfn));
	for (at = 0; at < PAGE_SIZE; at += PART) {
		if (!copy(part, from + at, PART))
			return PD_CONTENT_UNREADABLE;
		if (memchr_inv(part, 0, PART))
			return PD_CONTENT_DATA;
	}
	return PD_CONTENT_ZERO;
}
