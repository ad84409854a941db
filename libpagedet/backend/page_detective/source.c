/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "page_detective": surveys its fields, and fills rows from its
 * answers. A driver that answers in a file has no side effect. Otherwise each
 * query prints about 20 lines to the kernel log. It is then used only if the
 * caller names it, only for single pages, and not for many.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/page_detective/query.h"
#include "base/clock.h"
#include "base/io.h"

#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_PAGE_DETECTIVE

#define PATIENCE_NS 5000000000

/* An answer may be reused for this time. */
#define KEPT_NS 1000000000

static int detective_probe(struct pdet_env *env, const struct pdet_input *in)
{
	if (in->options->n_files)
		return 0;
	/* A source with visible side effects only by name. */
	if (in->options->sources & PAGEDET_SOURCE_BIT(SOURCE))
		return 30;
	return page_detective_query_probe(env) ? 20 : 0;
}

static int detective_open(struct pdet_backend *b, struct pdet_env *env,
			  const struct pdet_input *in)
{
	struct page_detective *d = page_detective_of(b);

	d->libexec_dir = in->options->libexec_dir ? in->options->libexec_dir :
						    PAGEDET_LIBEXECDIR;
	d->dir = d->flags = d->kmsg.fd = -1;
	d->alone = in->options->sources == PAGEDET_SOURCE_BIT(SOURCE);
	d->patience_ns = PATIENCE_NS;
	b->no_cache = true;
	b->dear = true;
	if (pthread_mutex_init(&d->lock, NULL))
		return pdet_fail(env, ENOMEM, "no memory");
	return 0;
}

static void detective_close(struct pdet_backend *b)
{
	struct page_detective *d = page_detective_of(b);

	page_detective_helper_stop(&d->helper, true);
	page_detective_kmsg_close(&d->kmsg);
	if (d->dir >= 0)
		close(d->dir);
	if (d->flags >= 0)
		close(d->flags);
	pthread_mutex_destroy(&d->lock);
}

static void detective_info(struct pdet_backend *b, struct pdet_env *env,
			   struct pdet_kernel_info *ret)
{
	struct pdet_text text;

	(void)b;
	if (ret->page_size)
		return;
	ret->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	ret->live = !*env->root;
	if (pdet_slurp(env, &text, 4096, "/proc/sys/kernel/osrelease") == 0) {
		snprintf(ret->release, sizeof(ret->release), "%.*s",
			 (int)strcspn(text.data, "\n"), text.data);
		pdet_text_free(&text);
	}
}

/*
 * The cost with "query": extra searches beside the page, depending on the
 * target.
 */
static unsigned query_cost(const struct page_detective *d, unsigned field,
			   uint32_t target)
{
	switch (field) {
	case F(USER_MAPS):
	case F(KERNEL_MAPS):
		return PAGEDET_COST_SWEEP;
	case F(CONTENT):
		return PAGEDET_COST_CONTENT;
	case F(DEV):
	case F(INODE):
	case F(INDEX):
	case F(MEMCG_PATH):
	case F(MEMCG_NAME):
		return d->alone && target == PAGEDET_TARGET_VIRT ?
			PAGEDET_COST_FREE : PAGEDET_COST_READ;
	default:
		return d->alone && target != PAGEDET_TARGET_NOTHING ?
			PAGEDET_COST_FREE : PAGEDET_COST_READ;
	}
}

static unsigned log_cost(const struct page_detective *d, uint32_t target)
{
	/* One answer has all fields. */
	return d->alone && target != PAGEDET_TARGET_NOTHING ?
		PAGEDET_COST_FREE : PAGEDET_COST_INTRUSIVE;
}

static bool tells(const struct page_detective *d, unsigned field)
{
	const struct pdet_fields told = pdet_log_fields();

	if (d->query)
		return page_detective_tells(field);
	/* The driver does not print page_owner's lines. */
	return (pdet_fields_has(&told, field) || field == F(MAP)) &&
	       strcmp(pdet_field_info(field)->group, "owner") != 0;
}

/* True if the source is used for the target. A list query works for any number
 * of pages, if no other field is needed. Other sources count all mappings at
 * once, and read the bytes of pages; they are preferred. */
static bool takes_target(const struct page_detective *d, unsigned field,
			 uint32_t target)
{
	switch (target) {
	case PAGEDET_TARGET_NOTHING:
	case PAGEDET_TARGET_MAPPERS:
		return true;
	case PAGEDET_TARGET_PFN:
	case PAGEDET_TARGET_PHYS:
	case PAGEDET_TARGET_VIRT:
		return !d->query || d->alone ||
		       (field != F(USER_MAPS) && field != F(CONTENT));
	default:
		return d->query &&
		       (d->alone || !page_detective_asks_one(field)) &&
		       query_cost(d, field, target) < PAGEDET_COST_SWEEP;
	}
}

static void detective_survey(struct pdet_backend *b, struct pdet_env *env,
			     uint32_t target, unsigned field, unsigned source,
			     struct pdet_ability *ret)
{
	struct page_detective *d = page_detective_of(b);
	unsigned closed;

	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_UNSUPPORTED;
	page_detective_look(d, env);
	ret->cost = (uint8_t)(d->query ? query_cost(d, field, target) :
					 log_cost(d, target));
	ret->partial = true;
	if (!tells(d, field))
		return;
	closed = d->query ? page_detective_query_closed(d) : d->closed;
	ret->reason = closed ? (uint8_t)closed : d->reason;
	snprintf(ret->advice, sizeof(ret->advice), "%s", closed && d->query ?
		 "its last helper cannot be ended" : d->advice);
	if (ret->reason == PAGEDET_HAVE && d->query)
		ret->reason = (uint8_t)page_detective_lacks(d, field);
	if (ret->reason == PAGEDET_UNSAFE && d->no_helper && !closed)
		snprintf(ret->advice, sizeof(ret->advice),
			 "%.100s/%s asks which tasks map a page, and cannot be "
			 "run",
			 d->libexec_dir, PAGE_DETECTIVE_HELPER);
	if (ret->reason != PAGEDET_HAVE || takes_target(d, field, target))
		return;
	ret->reason = PAGEDET_TOO_COSTLY;
	snprintf(ret->advice, sizeof(ret->advice), "%s", d->query ?
		 "asked for this, page by page, only if no other source is "
		 "named" :
		 "each question writes to the kernel log, so it is for single "
		 "pages");
}

/* The reason why it is not open, for a list of sources. */
static void detective_absent(struct pdet_env *env, struct pdet_ability *ret)
{
	struct page_detective d = { .dir = -1, .flags = -1, .kmsg.fd = -1 };

	page_detective_look(&d, env);
	ret->reason = d.reason;
	snprintf(ret->advice, sizeof(ret->advice), "%s", d.advice);
	if (d.reason == PAGEDET_HAVE) {
		ret->reason = d.query ? PAGEDET_UNSUPPORTED :
					PAGEDET_TOO_COSTLY;
		snprintf(ret->advice, sizeof(ret->advice), "%s", d.query ?
			 "not open: allow it" :
			 "asked only if it is named, because it writes to the "
			 "kernel log");
	}
	page_detective_kmsg_close(&d.kmsg);
	if (d.dir >= 0)
		close(d.dir);
	if (d.flags >= 0)
		close(d.flags);
}

/* With other pids below the root, the driver would examine another task. */
static int refuse_pids(struct pdet_env *env)
{
	int r = pdet_fail(env, ENOTSUP, "cannot ask page_detective about a "
			  "task: it uses the pids of this process, and %s/proc "
			  "has those of another pid namespace", env->root);

	pdet_advise(env, "procfs knows the tasks of that pid namespace");
	return r;
}

static int detective_prepare(struct pdet_backend *b, struct pdet_env *env,
			     const struct pdet_wants *wants)
{
	struct page_detective *d = page_detective_of(b);

	page_detective_look(d, env);
	/* Load it now, because sessions are not synchronised. */
	if (d->reason == PAGEDET_HAVE && d->query && !d->has_kpf) {
		pdet_kpf_from_btf(&d->kpf, env);
		d->has_kpf = true;
	}
	if (d->reason == PAGEDET_HAVE && d->other_pids && wants->walks &&
	    wants->target == PAGEDET_TARGET_VIRT)
		return refuse_pids(env);
	if (d->reason == PAGEDET_HAVE ||
	    (!d->alone && (!wants->walks ||
			   wants->target != PAGEDET_TARGET_VIRT)))
		return 0;
	pdet_fail(env, d->reason == PAGEDET_NO_ACCESS ? EACCES : ENOTSUP,
		  "cannot ask page_detective: %s",
		  pdet_state_text(d->reason));
	pdet_advise(env, "%s", d->advice);
	return d->reason == PAGEDET_NO_ACCESS ? -EACCES : -ENOTSUP;
}

static int detective_session_new(struct pdet_backend *b,
				 struct pdet_env *env,
				 const struct pdet_wants *wants,
				 struct pdet_session **ret)
{
	struct page_detective_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->session.backend = b;
	s->session.env = *env;
	s->session.wants = wants;
	*ret = &s->session;
	return 0;
}

static void detective_session_free(struct pdet_session *base)
{
	struct page_detective_session *s;
	size_t i;

	if (!base)
		return;
	s = page_detective_session_of(base);
	for (i = 0; i < s->kept.n; i++)
		pdet_log_page_free(&s->kept.data[i].page);
	pdet_vec_free(&s->kept);
	page_detective_reply_free(&s->told.reply);
	pdet_vec_free(&s->addresses);
	page_detective_holes_forget(s);
	free(s);
}

/* --- queries --- */

static unsigned refuse(struct page_detective_session *s, uint64_t pfn,
		       enum page_detective_verdict verdict, const char *why)
{
	struct pdet_env *env = &s->session.env;

	if (verdict == PAGE_DETECTIVE_BLIND)
		why = "its flags cannot be read first";
	if (pfn)
		pdet_log(env, PAGEDET_LOG_WARNING,
			 "page_detective is not asked about pfn %llu (0x%llx): "
			 "%s; procfs, bpf and kcore are asked instead",
			 (unsigned long long)pfn, (unsigned long long)pfn, why);
	else
		pdet_log(env, PAGEDET_LOG_WARNING,
			 "page_detective is not asked: %s; procfs, bpf and "
			 "kcore are asked instead",
			 why);
	return PAGEDET_UNSAFE;
}

/*
 * Returns 0 and an answer, or a reason; *torn: the page changed before the
 * answer.
 */
static unsigned ask(struct page_detective_session *s,
		    const struct page_detective_question *q,
		    struct pdet_log_page *ret, bool *torn)
{
	struct page_detective *d = page_detective_of(s->session.backend);
	struct pdet_env *env = &s->session.env;
	enum page_detective_verdict verdict;
	const char *why = NULL;
	uint64_t flags = 0, pfn = q->pfn;
	unsigned reason;

	*torn = false;
	reason = d->closed;
	if (!reason)
		reason = d->reason;
	if (reason != PAGEDET_HAVE)
		return reason;
	if (page_detective_must_stop(s))
		return PAGEDET_TIMEOUT;
	if (!page_detective_spend(s))
		return PAGEDET_TOO_COSTLY;
	verdict = q->virt ?
		page_detective_may_ask_virt(d, env, q, &pfn, &flags, &why) :
		page_detective_may_ask(d, pfn, &flags, &why);
	if (verdict == PAGE_DETECTIVE_REFUSED ||
	    (verdict == PAGE_DETECTIVE_BLIND && d->real))
		return refuse(s, pfn, verdict, why);
	reason = page_detective_ask(s, q, ret);
	if (reason)
		return reason;
	if (verdict == PAGE_DETECTIVE_SAFE && pfn)
		*torn = page_detective_has_changed(d, pfn, flags) ||
			(q->virt && ret->has & PDET_LOG_PFN &&
			 ret->pfn != pfn);
	return 0;
}

/* The slot of the next answer. Mappings are requested after the counts: earlier
 * answers are then kept, up to a limit. Later answers share one more slot. NULL
 * if memory is short. */
static struct page_detective_answer *
place_of_answer(struct page_detective_session *s, bool again)
{
	const size_t stay = again ?
		PDET_MIN(s->kept.n, (size_t)PAGE_DETECTIVE_MOST) : 0;

	while (s->kept.n > stay)
		pdet_log_page_free(&s->kept.data[--s->kept.n].page);
	if (!pdet_vec_reserve(&s->kept, 1))
		return NULL;
	return &s->kept.data[s->kept.n];
}

/* Query a frame. An answer that will be needed again is kept for a moment. NULL
 * if memory is short. */
static struct page_detective_answer *
answer_of(struct page_detective_session *s, uint64_t pfn)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct page_detective_question q = {
		.pfn = pfn, .addr = pfn * page,
	};
	const bool again = s->session.wants->target ==
			   PAGEDET_TARGET_MAPPERS;
	const uint64_t now = pdet_clock_ns(CLOCK_MONOTONIC);
	struct page_detective_answer *a;
	size_t i;

	for (i = 0; i < s->kept.n && again; i++)
		if (s->kept.data[i].pfn == pfn &&
		    now - s->kept.data[i].ns < KEPT_NS)
			return &s->kept.data[i];
	a = place_of_answer(s, again);
	if (!a)
		return NULL;
	memset(a, 0, sizeof(*a));
	a->pfn = pfn;
	a->reason = PAGEDET_UNSUPPORTED;
	/* There is no frame beyond the largest address. */
	if (pfn <= UINT64_MAX / page)
		a->reason = ask(s, &q, &a->page, &a->torn);
	a->ns = pdet_clock_ns(CLOCK_MONOTONIC);
	s->kept.n++;
	return a;
}

static int detective_fill(struct pdet_session *base, struct pdet_batch *b,
			  const struct pdet_fields *want, unsigned source)
{
	struct page_detective_session *s = page_detective_session_of(base);
	const struct page_detective_answer *a;
	uint32_t row;

	/* Rows of addresses were filled when they were created. */
	if (base->wants->walks && base->wants->target == PAGEDET_TARGET_VIRT)
		return 0;
	if (page_detective_of(base->backend)->query) {
		page_detective_query_fill(s, b, want);
		return 0;
	}
	for (row = 0; row < b->n; row++) {
		a = answer_of(s, pdet_batch_get(b, row, F(PFN), UINT64_MAX));
		if (!a)
			return -ENOMEM;
		if (a->reason) {
			page_detective_put_reason(b, row, want, a->reason);
			continue;
		}
		pdet_log_put(&a->page, b, row, want, source);
		if (a->torn)
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	}
	return 0;
}

/* An answer is about all of a page. */
static void detective_together(const struct pdet_backend *b,
			       struct pdet_fields *set)
{
	(void)b;
	memset(set, 0xff, sizeof(*set));
}

static int detective_told(struct pdet_session *base, uint64_t pfn, size_t *at,
			  struct pdet_batch *b)
{
	struct page_detective_session *s = page_detective_session_of(base);
	const struct page_detective_answer *a;

	if (page_detective_of(base->backend)->query)
		return page_detective_query_told(s, pfn, at, b);
	a = answer_of(s, pfn);
	if (!a)
		return -ENOMEM;
	return a->reason ? (int)a->reason :
		pdet_log_put_maps(&a->page, at, b, &base->wants->fields,
				  SOURCE);
}

/* --- addresses of tasks --- */

struct detective_task {
	struct pdet_task task;
	struct { uint64_t *data; size_t n, cap; } unmapped; /* addresses */
};

static int detective_task_open(struct pdet_session *s, uint32_t pid,
			       struct pdet_task **ret)
{
	struct detective_task *t = calloc(1, sizeof(*t));

	if (!t)
		return pdet_fail(&s->env, ENOMEM, "no memory");
	t->task.backend = s->backend;
	t->task.pid = pid;
	t->task.tgid_why = t->task.comm_why = PAGEDET_UNSUPPORTED;
	*ret = &t->task;
	return 0;
}

static void detective_task_close(struct pdet_task *t)
{
	struct detective_task *dt = PDET_CONTAINER(t, struct detective_task,
						   task);

	pdet_vec_free(&dt->unmapped);
	free(dt);
}

static void detective_task_name(struct pdet_session *s, struct pdet_task *t)
{
	(void)s;
	t->named = true;
}

/* Put the VMA around an address without a page. */
static void put_vma(struct pdet_batch *b, uint32_t row,
		    const struct pdet_vma *vma)
{
	pdet_put(b, row, F(VMA_START), vma->start, SOURCE);
	pdet_put(b, row, F(VMA_END), vma->end, SOURCE);
	pdet_put(b, row, F(VMA_PROT), vma->prot, SOURCE);
	if (vma->name_len)
		pdet_put_text(b, row, F(VMA_NAME), vma->name, vma->name_len,
			      SOURCE);
	else
		pdet_put_none(b, row, F(VMA_NAME), SOURCE);
}

/* Fill the row of an address that the driver did not translate. */
static int put_nothing(struct pdet_session *s, struct detective_task *t,
		       const struct pdet_log_page *p, uint64_t addr,
		       const struct pdet_fields *want, struct pdet_batch *b,
		       uint32_t row)
{
	const uint32_t present = PAGEDET_PTE(PAGEDET_PTE_PRESENT);
	char name[PAGE_DETECTIVE_NAME];
	struct pdet_vma vma;
	int r = 0;

	if (p->refusal == PDET_LOG_REFUSED_TASK)
		return pdet_fail(&s->env, ESRCH, "there is no task %u",
				 t->task.pid);
	page_detective_put_reason(b, row, want,
				  p->refusal == PDET_LOG_REFUSED_INPUT ?
				  PAGEDET_IO : PAGEDET_UNSUPPORTED);
	if (p->refusal == PDET_LOG_REFUSED_INPUT)
		return 0;
	pdet_put_none(b, row, F(PFN), SOURCE);
	if (p->refusal == PDET_LOG_REFUSED_ENTRY) {
		pdet_put(b, row, F(PTE), 0, SOURCE);
		pdet_put(b, row, F(PTE_KNOWN), present, SOURCE);
		r = page_detective_vma(&s->env, t->task.pid, addr, &vma, name);
		if (r < 0)
			return 0;
	}
	if (r == 0)
		return pdet_vec_push(&t->unmapped, addr) ? 0 :
			pdet_fail(&s->env, ENOMEM, "no memory");
	put_vma(b, row, &vma);
	/* An entry that is not present may be swapped out, or anything else. */
	if (!p->bad_entry)
		pdet_put(b, row, F(KIND), PAGEDET_KIND_UNTOUCHED, SOURCE);
	return 0;
}

static int put_address(struct page_detective_session *s,
		       struct detective_task *t, uint64_t addr,
		       struct pdet_batch *b)
{
	const struct page_detective_question q = {
		.virt = true, .pid = t->task.pid, .addr = addr,
	};
	const struct pdet_fields want = page_detective_said(s);
	const struct pdet_log_map *m;
	struct pdet_log_page answer;
	const uint32_t row = b->n;
	unsigned reason;
	bool torn;
	int r = 0;

	pdet_batch_grow(b, 1);
	reason = ask(s, &q, &answer, &torn);
	if (reason) {
		page_detective_put_reason(b, row, &want, reason);
	} else if (answer.refusal) {
		r = put_nothing(&s->session, t, &answer, addr, &want, b, row);
	} else {
		pdet_log_put(&answer, b, row, &want, SOURCE);
		if (torn)
			pdet_put_note(b, row, PAGEDET_NOTE_TORN);
		m = pdet_log_map_of(&answer);
		t->task.comm_len = m ? PDET_MIN((size_t)m->comm.len,
						sizeof(t->task.comm)) : 0;
		t->task.comm_why = t->task.comm_len ? 0 : PAGEDET_UNSUPPORTED;
		if (t->task.comm_len)
			memcpy(t->task.comm, answer.text.data + m->comm.at,
			       t->task.comm_len);
	}
	if (!reason)
		pdet_log_page_free(&answer);
	pdet_put(b, row, F(VADDR), addr, SOURCE);
	if (r < 0)
		pdet_batch_cut(b, row);
	return r;
}

/* The same with "query". Rows are completed after all addresses. */
static int put_answer(struct page_detective_session *s,
		      struct detective_task *t, uint64_t addr,
		      struct pdet_batch *b)
{
	const uint32_t row = b->n;
	int r = page_detective_query_address(s, t->task.pid, addr, b,
					     &t->task);

	if (r == 0)
		pdet_put(b, row, F(VADDR), addr, SOURCE);
	return r;
}

static void begin_answers(struct page_detective_session *s,
			  struct detective_task *t)
{
	page_detective_holes_forget(s);
	s->addresses.n = 0;
	/* The name may have changed since. */
	t->task.comm_why = PAGEDET_UNSUPPORTED;
}

static int end_answers(struct page_detective_session *s,
		       struct detective_task *t, struct pdet_batch *b)
{
	size_t i;

	page_detective_put_vmas(s, t->task.pid, b);
	for (i = 0; i < s->addresses.n; i++)
		if (s->addresses.data[i].unmapped &&
		    !pdet_vec_push(&t->unmapped, s->addresses.data[i].addr))
			return pdet_fail(&s->session.env, ENOMEM, "no memory");
	return 0;
}

static int detective_entries(struct pdet_session *base, struct pdet_task *task,
			     uint64_t *at, uint64_t end, bool all,
			     struct pdet_batch *b)
{
	struct page_detective_session *s = page_detective_session_of(base);
	struct detective_task *t = PDET_CONTAINER(task, struct detective_task,
						  task);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const bool query = page_detective_of(base->backend)->query;
	int r;

	/* Addresses are queried one by one. */
	(void)all;
	t->unmapped.n = 0;
	if (query)
		begin_answers(s, t);
	while (*at < end && b->n < b->cap) {
		r = query ? put_answer(s, t, *at, b) :
			    put_address(s, t, *at, b);
		if (r < 0)
			return r;
		*at += page;
		if (!*at)
			break;
	}
	return query ? end_answers(s, t, b) : 0;
}

/* Rows already have what is known. If there is no VMA, the next VMA is assumed
 * to begin at the next page. */
static int detective_vma_at(struct pdet_session *s, struct pdet_task *task,
			    uint64_t addr, struct pdet_vma *ret)
{
	struct detective_task *t = PDET_CONTAINER(task, struct detective_task,
						  task);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t i;

	(void)s;
	memset(ret, 0, sizeof(*ret));
	ret->start = addr;
	ret->end = addr + page;
	ret->said = true;
	for (i = 0; i < t->unmapped.n; i++)
		if (t->unmapped.data[i] == addr)
			ret->start = addr + page;
	return 1;
}

/* The driver translated the address itself, and its answer is complete. */
static int detective_recheck(struct pdet_session *base, struct pdet_task *t,
			     struct pdet_batch *b, uint32_t first, uint32_t n)
{
	if (page_detective_of(base->backend)->query)
		page_detective_query_recheck(page_detective_session_of(base),
					     t->pid, b, first, n);
	return 0;
}

const struct pdet_backend_ops pdet_page_detective_ops = {
	.name = "page_detective",
	.sources = PAGEDET_SOURCE_BIT(SOURCE),
	.size = sizeof(struct page_detective),
	.probe = detective_probe,
	.open = detective_open,
	.close = detective_close,
	.info = detective_info,
	.survey = detective_survey,
	.absent = detective_absent,
	.prepare = detective_prepare,
	.session_new = detective_session_new,
	.session_free = detective_session_free,
	.fill = detective_fill,
	.together = detective_together,
	.told = detective_told,
	.task_open = detective_task_open,
	.task_close = detective_task_close,
	.task_name = detective_task_name,
	.vma_at = detective_vma_at,
	.entries = detective_entries,
	.recheck = detective_recheck,
};
