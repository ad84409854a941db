/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Names of fields, by kernel; where a kernel has them is learned. */
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "heat/event.h"
#include "trace/format.h"
#include "trace/ring.h"

static const struct {
	const char *name;
	bool must;
	size_t to;
} fields[] = {
#define TO(member) offsetof(struct pdet_heat_layout, member)
	{ "common_type", true, TO(type) },
	{ "common_pid", true, TO(thread) },
	{ "target_id", true, TO(target) },
	{ "context_id", false, TO(context) }, /* proposed for later kernels */
	{ "nr_regions", true, TO(regions) },
	{ "start", true, TO(start) },
	{ "end", true, TO(end) },
	{ "nr_accesses", true, TO(accesses) },
	{ "age", false, TO(age) }, /* since 5.17 */
#undef TO
};

static bool is_number(const struct pdet_trace_field *f)
{
	return f->size && f->size <= 8 && !(f->size & (f->size - 1)) &&
	       !f->is_array && !f->is_text;
}

int pdet_heat_layout_parse(const char *text, size_t len,
			   struct pdet_heat_layout *ret)
{
	struct pdet_trace_format f;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	if (pdet_trace_format_parse(text, len, &f) < 0)
		return -EBADMSG;
	ret->id = f.id;
	for (i = 0; i < PDET_COUNT(fields); i++) {
		struct pdet_heat_place *to =
			(void *)((char *)ret + fields[i].to);
		const struct pdet_trace_field *field =
			pdet_trace_field(&f, fields[i].name);

		if (!field && !fields[i].must)
			continue;
		if (!field || !is_number(field))
			return -EBADMSG;
		*to = (struct pdet_heat_place){ field->offset, field->size };
		ret->bytes = PDET_MAX(ret->bytes, field->offset + field->size);
	}
	return 0;
}

static uint64_t number(const unsigned char *record, struct pdet_heat_place p,
		       bool big_endian)
{
	return pdet_ring_number(record + p.at, p.size, big_endian);
}

int pdet_heat_take(const struct pdet_heat_layout *l,
		   const unsigned char *record, uint32_t len, bool big_endian,
		   struct pdet_heat_event *ret)
{
	if (len < l->type.at + l->type.size)
		return -EBADMSG;
	if (number(record, l->type, big_endian) != l->id)
		return 0;
	if (len < l->bytes)
		return -EBADMSG;
	if (l->context.size && number(record, l->context, big_endian))
		return 0;
	ret->thread = (uint32_t)number(record, l->thread, big_endian);
	ret->target = number(record, l->target, big_endian);
	ret->regions = (uint32_t)number(record, l->regions, big_endian);
	ret->start = number(record, l->start, big_endian);
	ret->end = number(record, l->end, big_endian);
	ret->accesses = (uint32_t)number(record, l->accesses, big_endian);
	ret->age = l->age.size ?
		   (uint32_t)number(record, l->age, big_endian) : 0;
	return ret->start < ret->end && ret->regions ? 1 : -EBADMSG;
}
