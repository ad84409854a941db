/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tracks writes with soft-dirty bits. Writing 4 to clear_refs clears them in
 * the whole process, a write sets them, and pagemap shows them as bit 55 (Linux
 * Documentation/admin-guide/mm/soft-dirty.rst). A freed page has no entry and
 * so no bit: without an entry the state is unknown.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "kernel/page/pagemap.h"
#include "track/track.h"

#define WORDS 1024

/* The pagemap entry of our probe page after a write, or 0. */
static uint64_t probe_word(struct pdet_track *t, bool write)
{
	uint64_t word = 0;

	if (write)
		t->probe[0] = 1;
	if (pdet_pread(t->pagemap, &word, sizeof(word),
		       (uintptr_t)t->probe / t->page_size * 8) != sizeof(word))
		return 0;
	return word & PDET_PM_PRESENT ? word : 0;
}

static int no_bits(struct pdet_env *env)
{
	pdet_fail(env, ENOTSUP,
		  "cannot track writes: this kernel has no soft-dirty bits");
	pdet_advise(env, "needs CONFIG_MEM_SOFT_DIRTY");
	return -ENOTSUP;
}

static int soft_open(struct pdet_track *t, struct pdet_env *env)
{
	void *page = mmap(NULL, t->page_size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return pdet_fail(env, ENOMEM, "no memory");
	t->probe = page;
	if (!(probe_word(t, true) & PDET_PM_SOFT_DIRTY))
		return no_bits(env);
	t->clear_refs = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	if (t->clear_refs < 0)
		return pdet_fail_errno(env,
				       "cannot track writes: cannot open /proc/self/clear_refs");
	return 0;
}

static int soft_arm(struct pdet_track *t, struct pdet_env *env)
{
	ssize_t n;

	if (t->count_huge)
		t->huge_state = PAGEDET_UNSUPPORTED;
	do {
		n = pwrite(t->clear_refs, "4", 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return pdet_fail_errno(env,
				       "cannot track writes: cannot write to /proc/self/clear_refs");
	/*
	 * The bit must be clear, and a write must set it. Otherwise this kernel
	 * does not maintain it.
	 */
	if (probe_word(t, false) & PDET_PM_SOFT_DIRTY ||
	    !(probe_word(t, true) & PDET_PM_SOFT_DIRTY))
		return no_bits(env);
	return 0;
}

/* The state of a page; 0: not written. */
static uint32_t judge(uint64_t word, uint32_t *why)
{
	*why = 0;
	if (word & PDET_PM_SOFT_DIRTY)
		return PAGEDET_TRACK_WRITTEN;
	if (word & (PDET_PM_PRESENT | PDET_PM_SWAP))
		return 0;
	*why = PAGEDET_TRACK_NO_ENTRY;
	return PAGEDET_TRACK_UNKNOWN;
}

static int soft_read(struct pdet_track *t, struct pdet_env *env, uint64_t *at,
		     uint64_t end, bool rearm, struct pdet_track_out *out)
{
	uint64_t words[WORDS];
	uint32_t state, why;
	ssize_t got, i;
	size_t n;

	(void)rearm;
	while (*at < end) {
		n = PDET_MIN((end - *at) / t->page_size, (uint64_t)WORDS);
		got = pdet_pread(t->pagemap, words, n * 8,
				 *at / t->page_size * 8);
		if (got < 8) {
			errno = got < 0 ? (int)-got : EIO;
			return pdet_fail_errno(env,
					       "cannot read pagemap at %#llx",
					       (unsigned long long)*at);
		}
		for (i = 0; i < got / 8; i++) {
			state = judge(words[i], &why);
			if (state && !pdet_track_put(out, *at,
						     *at + t->page_size, state,
						     why))
				return 0;
			*at += t->page_size;
		}
	}
	return 0;
}

#define SEES(writer) (1u << PAGEDET_WRITER_##writer)

const struct pdet_track_how pdet_track_soft = {
	.method = PAGEDET_TRACK_SOFT_DIRTY,
	.sees = SEES(STORE) | SEES(KERNEL) | SEES(MEM_FILE) | SEES(VCPU),
	.blind = SEES(GIVE_BACK) | SEES(OTHER_MAPPING) | SEES(OTHER_PROCESS) |
		 SEES(FILE) | SEES(PUNCH) | SEES(DEVICE),
	.open = soft_open,
	.arm = soft_arm,
	.read = soft_read,
};
