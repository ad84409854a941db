/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for evidence and findings. */
#include <errno.h>
#include <string.h>

#include "api/arguments.h"
#include "emit/emitter.h"
#include "emit/findings.h"
#include "explain/evidence.h"
#include "explain/explain.h"

_Static_assert(sizeof(struct pagedet_page) <=
	       sizeof(((struct pagedet_evidence *)0)->here),
	       "a row fits into the evidence");

static const struct {
	const char *name;
	uint32_t question;
} questions[] = {
	{ "mismatch", PAGEDET_ASK_MISMATCH },
	{ "free", PAGEDET_ASK_NOT_FREE },
	{ "migrate", PAGEDET_ASK_NOT_MIGRATABLE },
	{ "pinned", PAGEDET_ASK_PINNED },
	{ "reclaim", PAGEDET_ASK_UNRECLAIMABLE },
	{ "charge", PAGEDET_ASK_UNACCOUNTED },
	{ "poison", PAGEDET_ASK_POISONED },
	{ "leak", PAGEDET_ASK_LEAKED },
};

const struct pagedet_rule *pagedet_rule(uint32_t n)
{
	const struct pdet_rule *rule = pdet_rule(n);

	return rule ? &rule->info : NULL;
}

const char *pagedet_confidence_name(uint32_t confidence)
{
	static const char *const names[] = {
		"none", "low", "medium", "high", "certain",
	};

	return confidence < PDET_COUNT(names) ? names[confidence] : NULL;
}

int pagedet_question_by_name(const char *name)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(questions); i++)
		if (!strcmp(name, questions[i].name))
			return (int)questions[i].question;
	return -ENOENT;
}

int pagedet_explain(const struct pagedet_evidence *evidence, uint64_t n,
		    void *arena, uint64_t arena_len,
		    struct pagedet_finding *findings, uint64_t max)
{
	struct pdet_arena room = {
		.at = arena,
		.end = arena ? (char *)arena + arena_len : NULL,
		.none = !arena,
	};

	if (n && !evidence)
		return -EINVAL;
	return pdet_explain(evidence, n ? evidence->size :
					  sizeof(struct pagedet_evidence),
			    n, &room, findings,
			    max ? findings->size :
				  sizeof(struct pagedet_finding), max);
}

int pagedet_emit_findings(struct pagedet_emitter *emitter,
			  const struct pagedet_finding *findings, uint64_t n,
			  const struct pagedet_evidence *evidence)
{
	const uint64_t stride = n ? findings->size : 0;
	const uint64_t width = evidence ? evidence->size : 0;
	struct pagedet_finding f;
	uint64_t i;
	int r = pdet_emitter_lists(emitter, emitter->env, "findings");

	if (r < 0)
		return r;
	if ((n && stride < PDET_FINDING_FIRST) ||
	    (evidence && width < PDET_EVIDENCE_FIRST))
		return pdet_fail(emitter->env, EINVAL, "the size of the "
				 "findings or of the evidence is not valid");
	pdet_emit_finding_head(emitter);
	for (i = 0; i < n; i++) {
		memset(&f, 0, sizeof(f));
		memcpy(&f, (const char *)findings + i * stride,
		       PDET_MIN(stride, sizeof(f)));
		pdet_emit_finding(emitter, &f, evidence ? (const void *)
				  ((const char *)evidence +
				   f.evidence * width) : NULL);
	}
	return pdet_out_result(&emitter->out, emitter->env);
}

int pagedet_evidence_save(struct pagedet *pd,
			  const struct pagedet_evidence *evidence, uint64_t n,
			  void *bytes, uint64_t size, uint64_t *ret)
{
	pdet_clear(&pd->env);
	return pdet_evidence_save(&pd->env, evidence, n ? evidence->size : 0,
				  n, bytes, size, ret);
}

int pagedet_evidence_load(struct pagedet *pd, const void *bytes, uint64_t size,
			  struct pagedet_evidence *evidence, uint64_t max)
{
	pdet_clear(&pd->env);
	return pdet_evidence_load(&pd->env, bytes, size, evidence,
				  max ? evidence->size : 0, max);
}

int pagedet_evidence_join(struct pagedet_evidence *evidence, uint64_t n,
			  const struct pagedet_evidence *peer)
{
	struct pagedet_evidence to, from;
	uint64_t i;

	if (n && (evidence->size < PDET_EVIDENCE_FIRST ||
		  peer->size < PDET_EVIDENCE_FIRST ||
		  evidence->size % 8 || peer->size % 8))
		return -EINVAL;
	for (i = 0; i < n; i++) {
		char *at = (char *)evidence + i * evidence->size;

		pdet_evidence_get(&to, at, evidence->size);
		pdet_evidence_get(&from, (const char *)peer + i * peer->size,
				  peer->size);
		pdet_evidence_join(&to, &from);
		memcpy(at, &to, PDET_MIN(evidence->size, sizeof(to)));
	}
	return 0;
}
