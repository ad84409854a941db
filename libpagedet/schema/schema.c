/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Turns the tables page.def and names.def into data, and proves at compile time
 * that they agree with the public struct. It does not know the sources of
 * values.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/env.h"
#include "base/text/nearest.h"
#include "schema/schema.h"

/* Every member is in the table with its correct width ... */
#define PDET_FIELD(id, member, width, ...)                                \
	_Static_assert(sizeof(((struct pagedet_page *)0)->member) * 8 ==  \
		       (width), "page.def: width of " #member);           \
	_Static_assert(PAGEDET_FIELD_##id < PDET_FIELDS,                  \
		       "schema.h: PDET_FIELDS is too small for " #id);
#include "schema/page.def"
#undef PDET_FIELD

/* ... and nothing else is in the struct: no padding, no forgotten member. */
#define PDET_FIELD(id, member, width, ...) + (width) / 8
_Static_assert(sizeof(struct pagedet_page) ==
	       PAGEDET_FIELDS_MAX * sizeof(uint16_t)
#include "schema/page.def"
	       , "page.def and struct pagedet_page differ");
#undef PDET_FIELD

#define PDET_FIELD(...) + 1
_Static_assert(PDET_FIELDS == 0
#include "schema/page.def"
	       , "schema.h: PDET_FIELDS is not the number of fields");
#undef PDET_FIELD

/* The position of each field in the table. */
#define PDET_FIELD(id, ...) POSITION_##id,
enum {
#include "schema/page.def"
};
#undef PDET_FIELD

/* Known bits of a mask are a separate field. */
#define KNOWN_FIELD(field)                                                \
	((field) == PAGEDET_FIELD_FLAGS ? PAGEDET_FIELD_FLAGS_KNOWN :     \
	 (field) == PAGEDET_FIELD_PTE ? PAGEDET_FIELD_PTE_KNOWN : (field))

#define PDET_FIELD(id_, member, width_, type_, unit_, group_, since_, text_) \
	[PAGEDET_FIELD_##id_] = {                                         \
		.size = sizeof(struct pagedet_field_info),                \
		.position = POSITION_##id_,                               \
		.known = KNOWN_FIELD(PAGEDET_FIELD_##id_),                \
		.id = PAGEDET_FIELD_##id_,                                \
		.type = PAGEDET_TYPE_##type_,                             \
		.offset = offsetof(struct pagedet_page, member),          \
		.width = (width_) / 8,                                    \
		.name = #member,                                          \
		.unit = unit_,                                            \
		.group = group_,                                          \
		.since = since_,                                          \
		.text = text_,                                            \
	},
static const struct pagedet_field_info field_table[PDET_FIELDS] = {
#include "schema/page.def"
};
#undef PDET_FIELD

#define PDET_FIELD(id, ...) PAGEDET_FIELD_##id,
static const uint8_t field_order[PDET_FIELDS] = {
#include "schema/page.def"
};
#undef PDET_FIELD

struct value_name {
	uint16_t field;
	uint16_t value;
	const char *name;
};

#define PDET_NAME(field, value, name) { PAGEDET_FIELD_##field, value, name },
static const struct value_name value_names[] = {
#include "schema/names.def"
};
#undef PDET_NAME

struct state_name {
	const char *name;
	const char *text;
};

#define PDET_STATE(state, name, text) [state] = { name, text },
static const struct state_name state_names[] = {
#include "schema/names.def"
};
#undef PDET_STATE

#define PDET_SOURCE(source, name) [source] = name,
static const char *const source_names[] = {
#include "schema/names.def"
};
#undef PDET_SOURCE

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct pdet_fields pdet_fields_all(void)
{
	struct pdet_fields all = { { 0, 0 } };
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++)
		pdet_fields_add(&all, f);
	return all;
}

unsigned pdet_field_at(unsigned position)
{
	return field_order[position];
}

const struct pagedet_field_info *pdet_field_info(unsigned field)
{
	return field < PDET_FIELDS ? &field_table[field] : NULL;
}

static bool same(const char *name, const char *text, unsigned len)
{
	return strlen(name) == len && !memcmp(name, text, len);
}

int pdet_field_by_name(const char *name, unsigned len)
{
	unsigned f;

	for (f = 0; f < PDET_FIELDS; f++)
		if (same(field_table[f].name, name, len))
			return (int)f;
	return -1;
}

/* Aliases that users type for a field; pagedet-fields(7) lists them too. */
static const struct {
	const char *name;
	uint8_t field;
} aliases[] = {
	{ "addr", PAGEDET_FIELD_VADDR },
	{ "address", PAGEDET_FIELD_VADDR },
	{ "cgroup", PAGEDET_FIELD_MEMCG_PATH },
	{ "cmd", PAGEDET_FIELD_COMM },
	{ "command", PAGEDET_FIELD_COMM },
	{ "device", PAGEDET_FIELD_DEV },
	{ "file", PAGEDET_FIELD_PATH },
	{ "filename", PAGEDET_FIELD_PATH },
	{ "ino", PAGEDET_FIELD_INODE },
	{ "memcg", PAGEDET_FIELD_MEMCG_PATH },
	{ "name", PAGEDET_FIELD_COMM },
	{ "numa", PAGEDET_FIELD_NODE },
	{ "offset", PAGEDET_FIELD_INDEX },
	{ "process", PAGEDET_FIELD_COMM },
	{ "prot", PAGEDET_FIELD_VMA_PROT },
	{ "slab", PAGEDET_FIELD_SLAB_CACHE },
	{ "task", PAGEDET_FIELD_PID },
	{ "tid", PAGEDET_FIELD_PID },
	{ "type", PAGEDET_FIELD_KIND },
	{ "vma", PAGEDET_FIELD_VMA_NAME },
};

int pdet_field_by_any_name(const char *name, unsigned len)
{
	int field = pdet_field_by_name(name, len);
	size_t i;

	for (i = 0; i < COUNT(aliases) && field < 0; i++)
		if (same(aliases[i].name, name, len))
			field = aliases[i].field;
	return field;
}

static void add_meant(struct pdet_meant *m, const char *name)
{
	if (m->n < PDET_MEANT)
		m->name[m->n++] = name;
}

void pdet_meant_fields(struct pdet_meant *m)
{
	size_t i;

	for (i = 0; i < PDET_FIELDS; i++)
		add_meant(m, field_table[i].name);
	for (i = 0; i < COUNT(aliases); i++)
		add_meant(m, aliases[i].name);
}

void pdet_meant_groups(struct pdet_meant *m)
{
	unsigned f;

	add_meant(m, "cheap");
	add_meant(m, "all");
	add_meant(m, "everything");
	for (f = 0; f < PDET_FIELDS; f++)
		add_meant(m, field_table[f].group);
}

void pdet_meant_values(struct pdet_meant *m, unsigned field)
{
	size_t i;

	for (i = 0; i < COUNT(value_names); i++)
		if (value_names[i].field == field)
			add_meant(m, value_names[i].name);
}

const char *pdet_meant(const struct pdet_meant *m, const char *word,
		       size_t len)
{
	int i = pdet_nearest(word, len, m->name, m->n);

	return i < 0 ? NULL : m->name[i];
}

bool pdet_group_fields(const char *name, unsigned len, struct pdet_fields *ret)
{
	bool all = same("all", name, len);
	bool everything = same("everything", name, len);
	bool found = false;
	unsigned f;

	memset(ret, 0, sizeof(*ret));
	for (f = 0; f < PDET_FIELDS; f++) {
		const char *group = field_table[f].group;

		if (everything || same(group, name, len) ||
		    (all && strcmp(group, "content") &&
		     strcmp(group, "maps") && strcmp(group, "damon") &&
		     strcmp(group, "kmap"))) {
			pdet_fields_add(ret, f);
			found = true;
		}
	}
	return found;
}

/* The known mask of a field uses the names of that field. */
static unsigned named_field(unsigned field)
{
	switch (field) {
	case PAGEDET_FIELD_FLAGS_KNOWN:
		return PAGEDET_FIELD_FLAGS;
	case PAGEDET_FIELD_PTE_KNOWN:
		return PAGEDET_FIELD_PTE;
	default:
		return field;
	}
}

const char *pdet_value_name(unsigned field, uint64_t value)
{
	size_t i;

	field = named_field(field);
	for (i = 0; i < COUNT(value_names); i++)
		if (value_names[i].field == field &&
		    value_names[i].value == value)
			return value_names[i].name;
	return NULL;
}

uint64_t pdet_named_bits(unsigned field)
{
	uint64_t named = 0;
	size_t i;

	field = named_field(field);
	for (i = 0; i < COUNT(value_names); i++)
		if (value_names[i].field == field)
			named |= (uint64_t)1 << value_names[i].value;
	return named;
}

int pdet_value_by_name(unsigned field, const char *name, unsigned len)
{
	size_t i;

	field = named_field(field);
	for (i = 0; i < COUNT(value_names); i++)
		if (value_names[i].field == field &&
		    same(value_names[i].name, name, len))
			return value_names[i].value;
	return -1;
}

const char *pdet_state_name(unsigned state)
{
	return state < COUNT(state_names) ? state_names[state].name : NULL;
}

const char *pdet_state_text(unsigned state)
{
	return state < COUNT(state_names) ? state_names[state].text : NULL;
}

const char *pdet_source_name(unsigned source)
{
	return source < COUNT(source_names) ? source_names[source] : NULL;
}

unsigned pdet_reason_of(int error)
{
	if (pdet_is_shortage(error))
		return PAGEDET_NO_MEMORY;
	switch (error) {
	case -EACCES:
		return PAGEDET_NO_ACCESS;
	case -EBADMSG:
		return PAGEDET_CORRUPT;
	case -ENOENT:
		return PAGEDET_NO_KERNEL;
	case -ENOSYS:
		return PAGEDET_NOT_BUILT;
	case -ENOTSUP:
		return PAGEDET_UNSUPPORTED;
	case -EAGAIN:
	case -ESRCH:
		return PAGEDET_RACED;
	case -ETIMEDOUT:
		return PAGEDET_TIMEOUT;
	default:
		return PAGEDET_IO;
	}
}

unsigned pdet_setup_reason(int error)
{
	switch (error) {
	case -ENOTSUP:
		return PAGEDET_NO_KERNEL;
	case -EACCES:
	case -EBADMSG:
	case -EIO:
	case -ENOMEM:
		return pdet_reason_of(error);
	default:
		return PAGEDET_NO_TYPES;
	}
}
