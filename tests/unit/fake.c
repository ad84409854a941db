/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Predictable answers, and losses and failures on request. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "kernel/page/kpf.h"

static struct fake *fake_of(struct pdet_backend *b)
{
	return PDET_CONTAINER(b, struct fake, backend);
}

uint64_t fake_value(uint64_t pfn, unsigned field)
{
	if (field == PAGEDET_FIELD_KIND)
		return pfn % 3 ? PAGEDET_KIND_ANON : PAGEDET_KIND_FILE;
	/* A page that is used must not be free as well. */
	if (field == PAGEDET_FIELD_FLAGS)
		return (pfn * 100 + field) & ~(KPF(BUDDY) | KPF(SLAB));
	return pfn * 100 + field;
}

static bool is_text(unsigned field)
{
	return pdet_field_info(field)->type == PAGEDET_TYPE_STRING;
}

static void fake_survey(struct pdet_backend *b, struct pdet_env *env,
			uint32_t target, unsigned field, unsigned source,
			struct pdet_ability *ret)
{
	struct fake *f = fake_of(b);

	(void)env;
	(void)target;
	(void)source;
	f->surveys++;
	memset(ret, 0, sizeof(*ret));
	ret->cost = (uint8_t)f->plan.cost;
	ret->reason = PAGEDET_HAVE;
	ret->partial = f->plan.partial;
	ret->vague = field == PAGEDET_FIELD_KIND && f->plan.unsure;
	if (f->plan.shut) {
		ret->reason = PAGEDET_NO_ACCESS;
		snprintf(ret->advice, sizeof(ret->advice), "needs CAP_FAKE");
		return;
	}
	if (pdet_fields_has(&f->plan.fields, field))
		return;
	ret->reason = PAGEDET_NO_KERNEL;
	snprintf(ret->advice, sizeof(ret->advice), "needs CONFIG_FAKE");
}

void fake_able(struct pdet_backend *b, struct pdet_env *env, uint32_t target,
	       unsigned field, unsigned source, struct pdet_ability *ret)
{
	(void)b;
	(void)env;
	(void)target;
	(void)field;
	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_HAVE;
	ret->cost = PAGEDET_COST_LOOKUP;
}

int fake_prepare(struct pdet_backend *b, struct pdet_env *env,
		 const struct pdet_wants *wants)
{
	(void)b;
	(void)env;
	(void)wants;
	return 0;
}

static int start(struct pdet_backend *b, struct pdet_env *env,
		 const struct pdet_wants *wants)
{
	struct fake *f = fake_of(b);

	(void)wants;
	f->starts++;
	return f->plan.no_start ?
	       pdet_fail(env, f->plan.no_start, "made not to start") : 0;
}

int fake_session_new(struct pdet_backend *b, struct pdet_env *env,
		     const struct pdet_wants *wants,
		     struct pdet_session **ret)
{
	struct pdet_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->backend = b;
	s->env = *env;
	s->wants = wants;
	*ret = s;
	return 0;
}

void fake_session_free(struct pdet_session *s)
{
	free(s);
}

static void put(struct fake *f, struct pdet_batch *b, uint32_t row,
		unsigned field, int call)
{
	uint64_t pfn = b->value[PAGEDET_FIELD_PFN][row];
	unsigned lost = f->plan.loses ? f->plan.loses(pfn, field) : 0;
	char text[32];

	if (lost == PAGEDET_NONE) {
		pdet_put_none(b, row, field, f->plan.source);
	} else if (lost) {
		pdet_put_lost(b, row, field, lost, f->plan.source);
	} else if (field == PAGEDET_FIELD_KIND && f->plan.unsure &&
		   f->plan.unsure(pfn)) {
		pdet_put(b, row, field, PAGEDET_KIND_UNKNOWN, f->plan.source);
	} else if (is_text(field)) {
		snprintf(text, sizeof(text), "%u of %llu", field,
			 (unsigned long long)pfn);
		pdet_put_text(b, row, field, text, strlen(text),
			      f->plan.source);
	} else {
		pdet_put(b, row, field,
			 f->plan.says ? f->plan.says(pfn, field, call) :
					fake_value(pfn, field),
			 f->plan.source);
	}
}

static int fake_fill(struct pdet_session *s, struct pdet_batch *b,
		     const struct pdet_fields *want, unsigned source)
{
	struct fake *f = fake_of(s->backend);
	int call = atomic_fetch_add(&f->fills, 1) + 1;
	uint64_t notes;
	uint32_t row;
	unsigned field;

	(void)source;
	atomic_fetch_add(&f->rows, (int)b->n);
	if (f->plan.fails_at && call >= f->plan.fails_at)
		return pdet_fail(&s->env, f->plan.error,
				 "cannot read frames: made to fail");
	if (f->plan.quiet_from && call >= f->plan.quiet_from)
		return 0;
	pdet_fields_for(field, want)
		for (row = 0; row < b->n; row++)
			put(f, b, row, field, call);
	for (row = 0; row < b->n; row++)
		for (notes = f->plan.notes; notes; notes &= notes - 1)
			pdet_put_note(b, row,
				      (unsigned)__builtin_ctzll(notes));
	return 0;
}

static void fake_together(const struct pdet_backend *b, struct pdet_fields *set)
{
	const struct fake *f = PDET_CONTAINER(b, const struct fake, backend);

	if (pdet_fields_meet(set, &f->plan.word))
		pdet_fields_join(set, &f->plan.word);
}

static int fake_memory(struct pdet_backend *b, struct pdet_env *env,
		       struct pdet_ranges *ret)
{
	struct pdet_range all = { 0, fake_of(b)->plan.frames - 1 };

	(void)env;
	return pdet_vec_push(ret, all) ? 0 : -ENOMEM;
}

static const struct pdet_backend_ops fake_ops = {
	.name = "fake",
	.size = sizeof(struct fake),
	.survey = fake_survey,
	.prepare = start,
	.session_new = fake_session_new,
	.session_free = fake_session_free,
	.fill = fake_fill,
	.together = fake_together,
	.memory = fake_memory,
};

void fake_init(struct fake *f, const struct fake_plan *plan)
{
	memset(f, 0, sizeof(*f));
	f->backend.ops = &fake_ops;
	f->backend.sources = PAGEDET_SOURCE_BIT(plan->source);
	f->backend.dear = plan->dear;
	f->backend.bulk = plan->bulk;
	f->plan = *plan;
}
