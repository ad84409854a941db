/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for versions, parts, fields and names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api/handle.h"
#include "api/parts.h"
#include "base/text/nearest.h"
#include "base/text/quote.h"
#include "query/plan.h"
#include "schema/schema.h"

#define STRING(x) #x
#define VERSION(major, minor, patch) \
	STRING(major) "." STRING(minor) "." STRING(patch)

const char *pagedet_version(void)
{
	return VERSION(PAGEDET_VERSION_MAJOR, PAGEDET_VERSION_MINOR,
		       PAGEDET_VERSION_PATCH);
}

uint32_t pagedet_version_number(void)
{
	return PAGEDET_VERSION_MAJOR * 1000000u +
	       PAGEDET_VERSION_MINOR * 1000u + PAGEDET_VERSION_PATCH;
}

const struct pagedet_part *pagedet_part(uint32_t n)
{
	return pdet_part(n);
}

int pagedet_part_test(struct pagedet *pd, uint32_t n)
{
	pdet_clear(&pd->env);
	return pdet_part_test(&pd->env, n);
}

const struct pagedet_field_info *pagedet_field(uint32_t field)
{
	return pdet_field_info(field);
}

int pagedet_field_by_name(const char *name)
{
	int field = pdet_field_by_any_name(name, (unsigned)strlen(name));

	return field < 0 ? -ENOENT : field;
}

const char *pagedet_quoted(const char *word, const char *instead, char *ret,
			   uint64_t size)
{
	return pdet_quoted(word, instead, ret, size);
}

int pagedet_nearest(const char *word, const char *const *names, uint64_t n)
{
	int i = pdet_nearest(word, strlen(word), names, n);

	return i < 0 ? -ENOENT : i;
}

void pagedet_target_fields(uint32_t target, uint64_t *ret)
{
	const struct pdet_fields all = pdet_fields_all();
	const struct pdet_fields absent = pdet_plan_absent(target);

	ret[0] = all.bits[0] & ~absent.bits[0];
	ret[1] = all.bits[1] & ~absent.bits[1];
}

const char *pagedet_value_name(uint32_t field, uint64_t value)
{
	return pdet_value_name(field, value);
}

const char *pagedet_state_name(uint32_t state)
{
	return pdet_state_name(state);
}

const char *pagedet_state_text(uint32_t state)
{
	return pdet_state_text(state);
}

const char *pagedet_source_name(uint32_t source)
{
	return pdet_source_name(source);
}

int pagedet_source_by_name(const char *name)
{
	uint32_t source;

	for (source = 1; pdet_source_name(source); source++)
		if (!strcmp(pdet_source_name(source), name))
			return (int)source;
	return -ENOENT;
}
