/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes received evidence, with the right checksum. Accepted evidence can be
 * explained, and saving it again gives the same.
 */
#include "explain/evidence.h"
#include "explain/explain.h"
#include "fuzz.h"

#define PAGES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pagedet_evidence e[PAGES], again[PAGES];
	static struct pagedet_finding findings[8 * PAGES];
	static char room[8 * PAGES * 4096 + PAGES * 32];
	static unsigned char bytes[65536];
	struct pdet_env env = { .root = (char *)"" };
	struct pdet_arena arena = { room, room + sizeof(room), false, false };
	uint64_t len;
	int n, i;

	if (size > sizeof(bytes))
		return 0;
	memcpy(bytes, data, size);
	pdet_evidence_seal(bytes, size);
	n = pdet_evidence_load(&env, bytes, size, e, sizeof(*e), PAGES);
	if (n < 0) {
		MUST(*env.error);
		return 0;
	}
	if (n > PAGES)
		n = PAGES;
	for (i = 0; i < n; i++)
		e[i].questions |= 0xff;
	MUST(pdet_explain(e, sizeof(*e), (uint64_t)n, &arena, findings,
			  sizeof(*findings), 8 * PAGES) == 8 * n);
	MUST(pdet_evidence_save(&env, e, sizeof(*e), (uint64_t)n, bytes,
				sizeof(bytes), &len) == 0);
	MUST(len <= sizeof(bytes));
	MUST(pdet_evidence_load(&env, bytes, len, again, sizeof(*again),
				PAGES) == n);
	MUST(pdet_evidence_save(&env, again, sizeof(*again), (uint64_t)n, room,
				sizeof(room), &len) == 0);
	MUST(!memcmp(room, bytes, len));
	return 0;
}
