/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Asks bpf(2) (Documentation/bpf, kernel/bpf/syscall.c). */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <time.h>

#include "memory/memory.h"
#include "record/attached.h"

/* Of the table of stacks. Two that fall together are one too many. */
#define STACKS 32768u
/* If the kernel does not say when all programs have ended. */
#define MOMENT_NS 10000000
#define NAME "pagedet_kmem"

static int make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t n)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_type = type;
	a.key_size = key;
	a.value_size = value;
	a.max_entries = n;
	memcpy(a.map_name, NAME, sizeof(NAME));
	return (int)pdet_bpf(BPF_MAP_CREATE, &a, sizeof(a));
}

static int load(const struct bpf_insn *insns, uint32_t n)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.insns = (uintptr_t)insns;
	a.insn_cnt = n;
	a.license = (uintptr_t)PDET_BPF_LICENSE;
	memcpy(a.prog_name, NAME, sizeof(NAME));
	return (int)pdet_bpf(BPF_PROG_LOAD, &a, sizeof(a));
}

static int attach(const char *event, int program)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.raw_tracepoint.name = (uintptr_t)event;
	a.raw_tracepoint.prog_fd = (uint32_t)program;
	return (int)pdet_bpf(BPF_RAW_TRACEPOINT_OPEN, &a, sizeof(a));
}

/* --- errors --- */

static int refuse(struct pdet_env *env, const char *what)
{
	const int error = errno;

	if (pdet_is_locked(env) == 1)
		return pdet_fail(env, EACCES, "cannot sum up allocations: the "
				 "kernel is locked down for confidentiality");
	switch (error) {
	case EPERM:
		pdet_fail(env, EACCES, "cannot sum up allocations: BPF is not "
			  "allowed");
		pdet_advise(env, "needs CAP_BPF and CAP_PERFMON, and before "
			    "Linux 5.11 'ulimit -l unlimited'; 'kmem record' "
			    "without --totals needs no BPF");
		return -EACCES;
	case ENOMEM:
	case E2BIG:
		return pdet_fail(env, ENOMEM, "cannot sum up allocations: no "
				 "memory for %s", what);
	case EINVAL:
	case EACCES:
	case ENOENT:
	case ENOSYS:
	case ENOTSUP:
		pdet_fail(env, ENOTSUP, "cannot sum up allocations: this "
			  "kernel's BPF does not have %s", what);
		pdet_advise(env, "needs Linux 5.10, CONFIG_BPF_SYSCALL, "
			    "CONFIG_BPF_EVENTS; 'kmem record' without --totals "
			    "needs no BPF");
		return -ENOTSUP;
	default:
		return pdet_fail_errno(env, "cannot sum up allocations: %s",
				       what);
	}
}

/* --- who calls --- */

/* The kernel's number of this thread; that of its own namespace may differ. */
static int find_self(struct pdet_env *env, uint32_t *ret)
{
	const struct bpf_insn insns[] = {
		PDET_INSN_CALL(BPF_FUNC_get_current_pid_tgid),
		PDET_INSN_EXIT,
	};
	const int program = load(insns, PDET_COUNT(insns));
	union bpf_attr a;
	int r = 0;

	if (program < 0)
		return refuse(env, "programs on tracepoints");
	memset(&a, 0, sizeof(a));
	a.test.prog_fd = (uint32_t)program;
	if (pdet_bpf(BPF_PROG_TEST_RUN, &a, sizeof(a)) < 0)
		r = refuse(env, "runs of such programs");
	*ret = a.test.retval;
	close(program);
	return r;
}

/* --- opening --- */

void pdet_attached_none(struct pdet_attached *a)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(a->of); i++)
		a->of[i] = (struct pdet_attached_one){ -1, -1 };
	for (i = 0; i < PDET_COUNT(a->sums); i++)
		a->sums[i] = -1;
	a->stacks = a->live = a->counters = -1;
}

/* What their entries need is allocated here, and not later. */
static int make_maps(struct pdet_attached *a, struct pdet_env *env,
		     const struct pdet_attached_wants *w)
{
	const uint32_t key = pdet_program_key_bytes(w->key);
	unsigned i;

	a->counters = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, PDET_COUNTERS);
	if (a->counters < 0)
		return refuse(env, "maps");
	for (i = 0; i < w->known->n; i++) {
		a->sums[i] = make_map(BPF_MAP_TYPE_PERCPU_HASH, key,
				      pdet_program_sum_bytes(w->live),
				      w->entries);
		if (a->sums[i] < 0)
			return refuse(env, "tables of sums");
	}
	if (w->stacks) {
		a->stacks = make_map(BPF_MAP_TYPE_STACK_TRACE, 4,
				     8 * PDET_ATTACHED_FRAMES, STACKS);
		if (a->stacks < 0)
			return refuse(env, "tables of stacks, or "
				      "kernel.perf_event_max_stack is less "
				      "than 127");
	}
	if (w->live) {
		a->live = make_map(BPF_MAP_TYPE_HASH, 8,
				   sizeof(struct pdet_program_live) + key,
				   w->live + w->stay * w->cpus);
		if (a->live < 0)
			return refuse(env, "a table of live objects");
	}
	return 0;
}

static int open_one(struct pdet_attached *a, struct pdet_env *env,
		    const struct pdet_attached_wants *w, unsigned i,
		    uint32_t without)
{
	struct pdet_program_wants wants = {
		.known = w->known, .signature = &w->known->data[i],
		.key = w->key, .stacks = a->stacks, .counters = a->counters,
		.live = a->live, .stay = w->stay, .without = without,
		.nests = !w->known->counts_misses };
	struct pdet_attached_one *one = &a->of[i];
	struct pdet_program program;

	memcpy(wants.sums, a->sums, sizeof(wants.sums));
	pdet_program_assemble(&wants, &program);
	one->program = load(program.insn, program.n);
	return one->program < 0 ? refuse(env, "what the program needs") : 0;
}

/*
 * After all are loaded: what that allocates is not in the sums. Frees first:
 * what is allocated from now on must not seem live because its free came too
 * early.
 */
static int attach_all(struct pdet_attached *a, struct pdet_env *env,
		      const struct pdet_attached_wants *w)
{
	unsigned i;

	for (i = w->known->n_all; i-- > 0;) {
		struct pdet_attached_one *one = &a->of[i];

		one->link = attach(w->known->data[i].event, one->program);
		if (one->link < 0)
			return refuse(env, "one of the events of kmem");
	}
	return 0;
}

int pdet_attached_open(struct pdet_attached *a, struct pdet_env *env,
		       const struct pdet_attached_wants *w)
{
	uint32_t self = 0;
	unsigned i;
	int r = 0;

	if (w->without_caller)
		r = find_self(env, &self);
	if (r < 0)
		return r;
	r = make_maps(a, env, w);
	for (i = 0; i < w->known->n_all && r == 0; i++)
		r = open_one(a, env, w, i, self);
	return r < 0 ? r : attach_all(a, env, w);
}

/* --- the end --- */

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void pdet_attached_end(struct pdet_attached *a)
{
	const struct timespec moment = { .tv_nsec = MOMENT_NS };
	size_t i;

	/* Those of frees are the last ones: see attach_all(). */
	for (i = 0; i < PDET_COUNT(a->of); i++)
		shut(&a->of[i].link);
	/* It waits for those that run on other processors. */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&moment, NULL);
}

static bool misses_of(int program, uint64_t *ret)
{
	struct bpf_prog_info info;
	union bpf_attr a;

	memset(&info, 0, sizeof(info));
	memset(&a, 0, sizeof(a));
	a.info.bpf_fd = (uint32_t)program;
	a.info.info_len = sizeof(info);
	a.info.info = (uintptr_t)&info;
	*ret = 0;
	if (pdet_bpf(BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a)) < 0 ||
	    a.info.info_len < offsetof(struct bpf_prog_info,
				       recursion_misses) +
			      sizeof(info.recursion_misses))
		return false;
	*ret = info.recursion_misses;
	return true;
}

bool pdet_attached_misses(const struct pdet_attached *a, uint64_t *ret)
{
	uint64_t one;
	size_t i;

	*ret = 0;
	for (i = 0; i < PDET_COUNT(a->of); i++) {
		if (a->of[i].program < 0)
			continue;
		if (!misses_of(a->of[i].program, &one))
			return false;
		*ret += one;
	}
	return true;
}

void pdet_attached_close(struct pdet_attached *a)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(a->of); i++) {
		shut(&a->of[i].link);
		shut(&a->of[i].program);
	}
	for (i = 0; i < PDET_COUNT(a->sums); i++)
		shut(&a->sums[i]);
	shut(&a->stacks);
	shut(&a->live);
	shut(&a->counters);
}

/* --- maps --- */

/* The next key stands where the value does. */
static bool ask_map(unsigned command, int map, const void *key, void *ret)
{
	union bpf_attr a;

	memset(&a, 0, sizeof(a));
	a.map_fd = (uint32_t)map;
	a.key = (uintptr_t)key;
	a.value = (uintptr_t)ret;
	return pdet_bpf((int)command, &a, sizeof(a)) == 0;
}

bool pdet_map_next(int map, const void *key, void *ret)
{
	return ask_map(BPF_MAP_GET_NEXT_KEY, map, key, ret);
}

bool pdet_map_get(int map, const void *key, void *value)
{
	return ask_map(BPF_MAP_LOOKUP_ELEM, map, key, value);
}
