/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kernel itself keeps the rate: PERF_EVENT_IOC_REFRESH turns an event off
 * after so many hits, however late this process looks.
 */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "breakpoint/slots.h"

#define RING_PAGES 64u

static int open_event(struct perf_event_attr *a, uint32_t tid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, a, tid ? (pid_t)tid : -1, cpu,
			    -1, PERF_FLAG_FD_CLOEXEC);
}

static void describe(const struct pdet_bp_slots *s,
		     const struct pdet_bp_piece *piece, enum pdet_bp_kind kind,
		     struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(*ret),
		.bp_type = kind == PDET_BP_WRITE ? HW_BREAKPOINT_W :
			   s->reads_alone ? HW_BREAKPOINT_R : HW_BREAKPOINT_RW,
		.bp_addr = piece->address, .bp_len = piece->bytes,
		.sample_period = 1, .disabled = 1, .wakeup_events = 1u << 30,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			       PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

/* --- opening --- */

static int refused(struct pdet_env *env, const struct pdet_bp_piece *piece,
		   uint32_t tid)
{
	const unsigned long long at = piece->address;
	int r;

	switch (errno) {
	case EPERM:
	case EACCES:
		r = pdet_fail(env, EACCES, "cannot watch %#llx: the kernel "
			      "does not allow it", at);
		pdet_advise(env, "breakpoints on kernel addresses need root "
			    "(CAP_SYS_ADMIN), and a kernel that is not locked "
			    "down");
		return r;
	case ENOSPC:
		r = pdet_fail(env, EAGAIN, "cannot watch %#llx: all "
			      "breakpoints of a processor are in use", at);
		pdet_advise(env, "a debugger or perf has them; 'pagedet kmap "
			    "watch --writes' needs one, otherwise two are "
			    "needed");
		return r;
	case EINVAL:
		return pdet_fail(env, EINVAL, "cannot watch %#llx: this kernel "
				 "takes no breakpoint there", at);
	case ESRCH:
		return pdet_fail(env, ESRCH, "cannot watch %#llx: there is no "
				 "thread %u", at, tid);
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return pdet_fail_errno(env, "cannot watch %#llx", at);
	default:
		return pdet_fail(env, ENOTSUP, "cannot watch %#llx: this "
				 "machine or kernel has no such breakpoints: "
				 "%s", at, strerror(errno));
	}
}

static bool map_ring(struct pdet_bp_place *p)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	p->map = mmap(NULL, (RING_PAGES + 1) * page, PROT_READ | PROT_WRITE,
		      MAP_SHARED, p->slot[0].fd, 0);
	if (p->map == MAP_FAILED)
		p->map = NULL;
	return p->map;
}

/* Also with its samples in the ring of the place. */
static bool finish(struct pdet_bp_place *p, size_t i)
{
	return ioctl(p->slot[i].fd, PERF_EVENT_IOC_ID, &p->slot[i].id) == 0 &&
	       (i ? ioctl(p->slot[i].fd, PERF_EVENT_IOC_SET_OUTPUT,
			  p->slot[0].fd) == 0 : map_ring(p));
}

/* Takes up to @most; *n: how many there were. */
static int fill(struct pdet_bp_slots *s, struct pdet_env *env,
		const struct pdet_bp_piece *piece, struct pdet_bp_place *p,
		uint32_t tid, size_t most, size_t *n)
{
	struct perf_event_attr a;

	for (*n = 0; *n < most; ++*n) {
		describe(s, piece, pdet_bp_slots_kind(s, *n), &a);
		p->slot[*n].fd = open_event(&a, tid, p->cpu);
		if (p->slot[*n].fd < 0)
			return *n >= s->per_piece && errno == ENOSPC ? 0 :
			       refused(env, piece, tid);
		if (!finish(p, *n)) {
			++*n;
			return pdet_fail_errno(env, "cannot watch: the ring of "
					       "processor %d", p->cpu);
		}
	}
	return 0;
}

/* Some processors can tell reads alone. */
static void ask_reads(struct pdet_bp_slots *s,
		      const struct pdet_bp_piece *piece, uint32_t tid)
{
	struct perf_event_attr a;
	int fd;

	s->reads_alone = true;
	describe(s, piece, PDET_BP_ANY, &a);
	fd = open_event(&a, tid, tid ? -1 : 0);
	s->reads_alone = fd >= 0;
	if (fd >= 0)
		close(fd);
}

/* QEMU without KVM was seen to tell only one of two breakpoints of a write. */
static bool is_emulated(void)
{
#ifdef __x86_64__
	static const char tcg[] = "TCGTCGTCGTCG";
	unsigned int a, text[3];

	__cpuid(1, a, text[0], text[1], text[2]);
	if (!(text[1] >> 31))	/* there is no hypervisor */
		return false;
	__cpuid(0x40000000, a, text[0], text[1], text[2]);
	return !memcmp(text, tcg, sizeof(text));
#else
	return false;
#endif
}

/* The number of the last processor that there may be. */
static int last_cpu(const struct pdet_env *env)
{
	char line[256];
	const char *at;
	struct pdet_scan s;
	uint64_t v;

	pdet_read_line(env, "/sys/devices/system/cpu/possible", line,
		       sizeof(line));
	for (at = line + strlen(line);
	     at > line && at[-1] >= '0' && at[-1] <= '9'; at--)
		;
	s = (struct pdet_scan){ at, line + strlen(line) };
	return pdet_scan_dec(&s, &v) && v < 65536 ? (int)v :
	       (int)sysconf(_SC_NPROCESSORS_CONF) - 1;
}

static void drop(struct pdet_bp_place *p, size_t from)
{
	size_t i;

	for (i = from; i < PDET_BP_SLOTS; i++) {
		if (p->slot[i].fd >= 0)
			close(p->slot[i].fd);
		p->slot[i].fd = -1;
	}
}

static int add_place(struct pdet_bp_slots *s, struct pdet_env *env,
		     const struct pdet_bp_piece *piece, uint32_t tid, int cpu,
		     size_t *least)
{
	struct pdet_bp_place *p;
	size_t i, n;
	int r;

	if (!pdet_vec_push(s, (struct pdet_bp_place){ .cpu = cpu }))
		return pdet_fail(env, ENOMEM, "no memory");
	p = &s->data[s->n - 1];
	for (i = 0; i < PDET_BP_SLOTS; i++)
		p->slot[i].fd = -1;
	r = fill(s, env, piece, p, tid, *least, &n);
	if (r < 0 && !n && errno == ENODEV && !tid) {
		s->n--;		/* it is not online */
		return 0;
	}
	*least = PDET_MIN(*least, n);
	return r;
}

int pdet_bp_slots_open(struct pdet_bp_slots *s, struct pdet_env *env,
		       struct pdet_bp_plan *plan, uint32_t tid)
{
	size_t least = PDET_MIN(PDET_BP_SLOTS, plan->n * s->per_piece), i;
	const int last = tid ? 0 : last_cpu(env);
	int cpu, r = 0;

	ask_reads(s, &plan->data[0], tid);
	s->first_only = s->per_piece == 2 && is_emulated();
	for (cpu = 0; cpu <= last && r == 0; cpu++)
		r = add_place(s, env, &plan->data[0], tid, tid ? -1 : cpu,
			      &least);
	if (r == 0 && !s->n)
		r = pdet_fail(env, ENOTSUP, "cannot watch: this machine or "
			      "kernel has no such breakpoints");
	if (r == 0)
		pdet_clear(env);
	if (r < 0 || !pdet_bp_plan_share(plan, least, s->per_piece))
		return r;
	s->each = plan->together * s->per_piece;
	for (i = 0; i < s->n; i++)
		drop(&s->data[i], s->each);
	return 0;
}

void pdet_bp_slots_close(struct pdet_bp_slots *s)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t i;

	/* An event that is mapped goes on without its descriptor. */
	for (i = 0; i < s->n; i++) {
		if (s->data[i].map)
			munmap(s->data[i].map, (RING_PAGES + 1) * page);
		drop(&s->data[i], 0);
	}
	pdet_vec_free(s);
}

/* --- turns --- */

uint64_t pdet_bp_slots_grant(uint64_t rate, uint64_t left, uint64_t ns,
			     uint64_t *spare_ns)
{
	const unsigned __int128 all = (unsigned __int128)rate *
				      ((unsigned __int128)ns + *spare_ns);
	const uint64_t room = rate > left ? rate - left : 0;

	if (all / 1000000000 >= room) {
		*spare_ns = 0;
		return room;
	}
	*spare_ns = (uint64_t)(all % 1000000000 / rate);
	return (uint64_t)(all / 1000000000);
}

/* Without a limit there would be no end. */
static void turn_on(struct pdet_bp_slot *slot, uint64_t grant)
{
	if (!slot->left && !grant)
		return;
	slot->on = ioctl(slot->fd, grant ? PERF_EVENT_IOC_REFRESH :
			 PERF_EVENT_IOC_ENABLE, grant) == 0;
	slot->left += slot->on ? grant : 0;
}

/* A write must not hit only the breakpoint of any access. */
static void allow_pair(struct pdet_bp_slots *s, struct pdet_bp_slot *write,
		       struct pdet_bp_slot *any, uint64_t ns)
{
	const uint64_t more = pdet_bp_slots_grant(s->rate, any->left, ns,
						  &any->spare_ns);
	uint64_t grant = pdet_bp_slots_grant(s->rate, write->left, ns,
					     &write->spare_ns);

	if (write->left + grant <= any->left + more)
		grant = any->left + more + 1 - write->left;
	turn_on(write, grant);
	turn_on(any, more);
}

void pdet_bp_slots_allow(struct pdet_bp_slots *s, uint64_t ns)
{
	struct pdet_bp_slot *slot;
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->used; k += s->per_piece) {
			slot = &s->data[i].slot[k];
			if (s->per_piece == 2)
				allow_pair(s, slot, slot + 1, ns);
			else
				turn_on(slot, pdet_bp_slots_grant(s->rate,
					slot->left, ns, &slot->spare_ns));
		}
}

int pdet_bp_slots_begin(struct pdet_bp_slots *s, struct pdet_env *env,
			const struct pdet_bp_plan *plan, size_t turn)
{
	const size_t first = turn * plan->together;
	const size_t n = PDET_MIN(plan->together, plan->n - first);
	struct perf_event_attr a;
	size_t i, k;

	s->used = n * s->per_piece;
	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->used; k++) {
			describe(s, &plan->data[first + k / s->per_piece],
				 pdet_bp_slots_kind(s, k), &a);
			if (ioctl(s->data[i].slot[k].fd,
				  PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a))
				return pdet_fail_errno(env, "cannot move a "
					"breakpoint to %#llx",
					(unsigned long long)a.bp_addr);
		}
	return 0;
}

void pdet_bp_slots_look(struct pdet_bp_slots *s)
{
	struct pdet_bp_slot *slot;
	uint64_t v[3];
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->used; k++) {
			slot = &s->data[i].slot[k];
			if (read(slot->fd, v, sizeof(v)) != sizeof(v))
				v[0] = slot->count, v[2] = slot->ns;
			slot->new_count = v[0] - slot->count;
			slot->new_ns = v[2] - slot->ns;
			slot->count = v[0];
			slot->ns = v[2];
			slot->left -= PDET_MIN(slot->left, slot->new_count);
			slot->limited = slot->on && !slot->left;
		}
}

void pdet_bp_slots_end(struct pdet_bp_slots *s)
{
	size_t i, k;

	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->used; k++)
			ioctl(s->data[i].slot[k].fd, PERF_EVENT_IOC_DISABLE, 0);
	pdet_bp_slots_look(s);
	for (i = 0; i < s->n; i++)
		for (k = 0; k < s->used; k++)
			s->data[i].slot[k].on = false;
}

/* --- hits --- */

struct taking {
	const struct pdet_bp_place *place;
	size_t each;
	void (*visit)(void *arg, size_t slot,
		      const struct pdet_bp_sample *sample);
	void *arg;
};

static void find_slot(void *arg, const struct pdet_bp_sample *sample)
{
	const struct taking *t = arg;
	size_t i;

	for (i = 0; i < t->each; i++)
		if (t->place->slot[i].id == sample->id) {
			t->visit(t->arg, i, sample);
			return;
		}
}

void pdet_bp_slots_take(struct pdet_bp_slots *s, size_t i,
			void (*visit)(void *arg, size_t slot,
				      const struct pdet_bp_sample *sample),
			void *arg)
{
	struct pdet_bp_place *p = &s->data[i];
	struct perf_event_mmap_page *page = (void *)p->map;
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct pdet_bp_ring ring = { p->map + size, RING_PAGES * size };
	const uint64_t head = __atomic_load_n(&page->data_head,
					      __ATOMIC_ACQUIRE);
	struct taking t = { p, s->used, visit, arg };

	pdet_bp_ring_take(&ring, page->data_tail, head, find_slot, &t,
			  &s->seen);
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}
