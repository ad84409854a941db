/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Direct calls must lead to the beginning of a function. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "symbol/calls.h"

/* What the kernel's place is a multiple of. */
#define X86_STEP ((uint64_t)2 << 20)
#define ARM64_STEP ((uint64_t)64 << 10)

#define CALL 0xe8
#define CALL_BYTES 5u
#define INDIRECT 0xff
#define LONGEST_INDIRECT 7u

bool pdet_calls_can(uint16_t machine)
{
	return machine == EM_X86_64 || machine == EM_AARCH64;
}

static uint32_t word_at(const unsigned char *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

static bool is_function(const struct pdet_calls *c, uint64_t address,
			const char *prefix)
{
	char name[PDET_SYMBOL_NAME], type;
	uint32_t i;

	if (!pdet_kallsyms_at(c->symbols, address, &i) ||
	    c->symbols->address[i] != address)
		return false;
	pdet_kallsyms_name(c->symbols, i, name, &type);
	return (type == 't' || type == 'T') &&
	       !strncmp(name, prefix, strlen(prefix));
}

/* --- x86_64 --- */

/* Whether there is a call of a function with this prefix at @at. */
static bool is_call(const struct pdet_calls *c, size_t at, const char *prefix)
{
	uint64_t to;

	if (c->code.n - at < CALL_BYTES || c->code.bytes[at] != CALL)
		return false;
	to = (uint64_t)(int32_t)word_at(&c->code.bytes[at + 1]);
	return is_function(c, c->code.first + at + CALL_BYTES + to, prefix);
}

/* The length of "call *operand". */
static unsigned indirect_length(const unsigned char *code)
{
	const unsigned mode = code[1] >> 6, base = code[1] & 7;
	unsigned n = 2;

	if ((code[1] >> 3 & 7) != 2)
		return 0;
	if (mode == 3)
		return n;
	if (base == 4) {
		n++;
		if (!mode && (code[2] & 7) == 5)
			n += 4;
	}
	return n + (mode == 1 ? 1 : mode == 2 || (!mode && base == 5) ? 4 : 0);
}

static bool is_behind_x86(const struct pdet_calls *c, size_t at)
{
	unsigned n;

	if (at >= CALL_BYTES && is_call(c, at - CALL_BYTES, ""))
		return true;
	for (n = 2; n <= LONGEST_INDIRECT && n <= at; n++)
		if (c->code.bytes[at - n] == INDIRECT &&
		    indirect_length(&c->code.bytes[at - n]) == n)
			return true;
	/* At boot, a shorter call replaces that of a thunk. */
	for (n = 1; n < CALL_BYTES && n <= at; n++)
		if (is_call(c, at - n, "__x86_indirect_thunk"))
			return true;
	return false;
}

/* --- arm64 --- */

static bool is_behind_arm64(const struct pdet_calls *c, size_t at)
{
	uint32_t word;

	if (at < 4 || at % 4)
		return false;
	word = word_at(&c->code.bytes[at - 4]);
	/* blr, also with a check of the pointer */
	if ((word & 0xfefff000) == 0xd63f0000)
		return true;
	/* bl: 26 bits, in words */
	return word >> 26 == 0x25 &&
	       is_function(c, c->code.first + at - 4 +
			      (uint64_t)((int64_t)((uint64_t)word << 38) >> 36),
			   "");
}

/* --- */

static bool is_behind_call(const struct pdet_calls *c, size_t at)
{
	return c->machine == EM_X86_64 ? is_behind_x86(c, at) :
					 is_behind_arm64(c, at);
}

bool pdet_calls_fit(const struct pdet_calls *c, const uint64_t *site,
		    size_t n_sites, uint64_t by, size_t *n)
{
	size_t i;

	for (*n = 0, i = 0; i < n_sites; i++) {
		const uint64_t at = site[i] - by - c->code.first;

		if (at < c->code.n) {
			if (!is_behind_call(c, at))
				return false;
			++*n;
		} else if (c->machine == EM_X86_64 &&
			   site[i] >= PDET_X86_IMAGE &&
			   site[i] < PDET_X86_IMAGE_END) {
			return false;
		}
	}
	return true;
}

/* Tries all places where this one would be behind a call. */
static int try_from(const struct pdet_calls *c, const uint64_t *site,
		    size_t n_sites, size_t i, bool *has, uint64_t *ret)
{
	const uint64_t step = c->machine == EM_X86_64 ? X86_STEP : ARM64_STEP;
	uint64_t at = (site[i] - c->code.first) % step, by;
	size_t n;

	for (; at < c->code.n; at += step) {
		by = site[i] - c->code.first - at;
		if ((*has && by == *ret) || !is_behind_call(c, at) ||
		    !pdet_calls_fit(c, site, n_sites, by, &n) ||
		    n < PDET_CALLS_LEAST)
			continue;
		if (*has)
			return -E2BIG;
		*has = true;
		*ret = by;
	}
	return 0;
}

int pdet_calls_find(const struct pdet_calls *c, const uint64_t *site,
		    size_t n_sites, uint64_t *ret)
{
	bool has = false;
	size_t i;
	int r = 0;

	for (i = 0; i < n_sites && r == 0; i++)
		r = try_from(c, site, n_sites, i, &has, ret);
	return r < 0 ? r : has ? 0 : -ENOENT;
}
