/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Looks up types in BTF. One pass records where every type begins, and enters
 * types with members into a hash table by name. The rest is resolved on demand.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "kernel/types/btf.h"

/* Depth of anonymous members within anonymous members; kernels have three. */
#define DEPTH 16
/* Members examined for one name. Hostile types contain themselves. */
#define BUDGET 10000
/* The smallest size of a type. */
#define LEAST_WORDS 3
/* Longest name in bytes (KSYM_NAME_LEN). A longer one is damage. */
#define LONGEST_NAME 512
/* Longest chain of const, volatile, typedef, ... */
#define CHAIN 64

enum kind {
	INT = 1, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE,
	CONST, RESTRICT, FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG,
	TYPE_TAG, ENUM64
};

struct pdet_btf {
	const uint32_t *types;	/* words */
	size_t words;
	const char *strings;
	size_t strings_len;
	uint32_t *at;		/* first word of type i + 1 */
	uint32_t n;		/* number of types */
	uint32_t *slot;		/* ids of structs, unions and enums by name */
	size_t slots;		/* a power of 2 */
	struct pdet_btf_source *source; /* provides more types on demand; NULL
					 * if there is no such source */
};

static bool read_header(const void *data, size_t size,
			struct pdet_btf_header *ret)
{
	struct pdet_btf_header h;

	if (size < sizeof(h))
		return false;
	memcpy(&h, data, sizeof(h));
	if (h.magic != PDET_BTF_MAGIC || h.version != 1 ||
	    h.hdr_len < sizeof(h) || h.hdr_len % 4 ||
	    h.type_off % 4 || h.type_off > h.str_off ||
	    h.type_len > h.str_off - h.type_off || !h.str_len)
		return false;
	*ret = h;
	return true;
}

size_t pdet_btf_length(const void *data, size_t size)
{
	struct pdet_btf_header h;

	return read_header(data, size, &h) ?
		(size_t)h.hdr_len + h.str_off + h.str_len : 0;
}

/* --- types --- */

static unsigned kind_of(const uint32_t *type)
{
	return type[1] >> 24 & 31;
}

static uint32_t vlen_of(const uint32_t *type)
{
	return type[1] & 0xffff;
}

/* Size of a type in words; 0 if its kind is unknown. */
static size_t words_of(const uint32_t *type)
{
	static const struct {
		uint8_t all, each;
	} words[32] = {
		[INT] = { 4, 0 }, [PTR] = { 3, 0 }, [ARRAY] = { 6, 0 },
		[STRUCT] = { 3, 3 }, [UNION] = { 3, 3 }, [ENUM] = { 3, 2 },
		[FWD] = { 3, 0 }, [TYPEDEF] = { 3, 0 }, [VOLATILE] = { 3, 0 },
		[CONST] = { 3, 0 }, [RESTRICT] = { 3, 0 }, [FUNC] = { 3, 0 },
		[FUNC_PROTO] = { 3, 2 }, [VAR] = { 4, 0 },
		[DATASEC] = { 3, 3 }, [FLOAT] = { 3, 0 },
		[DECL_TAG] = { 4, 0 }, [TYPE_TAG] = { 3, 0 },
		[ENUM64] = { 3, 3 },
	};
	const unsigned kind = kind_of(type);

	return words[kind].all + words[kind].each * (size_t)vlen_of(type);
}

static const uint32_t *type_at(const struct pdet_btf *btf, uint32_t id)
{
	return id && id <= btf->n ? btf->types + btf->at[id - 1] : NULL;
}

/* Returns the string, which is never NULL. The string table ends with a NUL. */
static const char *string(const struct pdet_btf *btf, uint32_t offset)
{
	return offset < btf->strings_len ? btf->strings + offset : "";
}

static bool has_name(const struct pdet_btf *btf, const uint32_t *type)
{
	const unsigned kinds = 1u << STRUCT | 1u << UNION | 1u << ENUM |
			       1u << ENUM64;

	return kinds >> kind_of(type) & 1 && type[0] &&
	       strnlen(string(btf, type[0]), LONGEST_NAME) < LONGEST_NAME;
}

/* Index all types up to the first damaged one: the next type cannot be found
 * after it. Puts the ids of named types into @named and returns their
 * number. */
static uint32_t find_types(struct pdet_btf *btf, uint32_t *named)
{
	uint32_t with_name = 0;
	size_t i = 0, n;

	while (btf->words - i >= LEAST_WORDS) {
		n = words_of(btf->types + i);
		if (!n || n > btf->words - i)
			break;
		btf->at[btf->n++] = (uint32_t)i;
		if (has_name(btf, btf->types + i))
			named[with_name++] = btf->n;
		i += n;
	}
	return with_name;
}

/* Words from one member name to the next; 0 if the type has no member names. */
static size_t names_of(const uint32_t *type)
{
	switch (kind_of(type)) {
	case STRUCT:
	case UNION:
	case ENUM64:
		return 3;
	case ENUM:
	case FUNC_PROTO:
		return 2;
	default:
		return 0;
	}
}

uint32_t pdet_btf_last_string(const void *types, size_t bytes, uint32_t most)
{
	const uint32_t *type = types;
	const uint32_t *const end = type + bytes / 4;
	uint32_t last = 0;
	size_t i, n, step;

	for (; end - type >= LEAST_WORDS; type += n) {
		n = words_of(type);
		if (!n || n > (size_t)(end - type))
			break;
		if (type[0] > last && type[0] <= most)
			last = type[0];
		step = names_of(type);
		for (i = 3; step && i < n; i += step)
			if (type[i] > last && type[i] <= most)
				last = type[i];
	}
	return last;
}

static bool is_enum(const uint32_t *type)
{
	return kind_of(type) == ENUM || kind_of(type) == ENUM64;
}

static uint32_t *slot_of(const struct pdet_btf *btf, const char *name,
			 bool wanted_enum)
{
	size_t i = pdet_hash(name, strlen(name)) & (btf->slots - 1);
	const uint32_t *type;

	for (; btf->slot[i]; i = (i + 1) & (btf->slots - 1)) {
		type = type_at(btf, btf->slot[i]);
		if (is_enum(type) == wanted_enum &&
		    !strcmp(string(btf, type[0]), name))
			break;
	}
	return &btf->slot[i];
}

/* If several types have one name, the first one wins. */
static bool index_names(struct pdet_btf *btf, const uint32_t *named,
			uint32_t n)
{
	const uint32_t *type;
	uint32_t i, *slot;

	for (btf->slots = 64; btf->slots < 2 * (size_t)n;)
		btf->slots *= 2;
	btf->slot = calloc(btf->slots, sizeof(*btf->slot));
	for (i = 0; btf->slot && i < n; i++) {
		type = type_at(btf, named[i]);
		slot = slot_of(btf, string(btf, type[0]), is_enum(type));
		if (!*slot)
			*slot = named[i];
	}
	return btf->slot;
}

static bool find_all(struct pdet_btf *btf)
{
	/* untouched pages of these arrays cost no memory */
	const size_t most = btf->words / LEAST_WORDS + 1;
	uint32_t *named = malloc(most * sizeof(*named));
	bool ok;

	btf->at = malloc(most * sizeof(*btf->at));
	ok = btf->at && named &&
	     index_names(btf, named, find_types(btf, named));
	free(named);
	return ok;
}

struct pdet_btf *pdet_btf_new(const void *data, size_t size, bool *damaged)
{
	const char *bytes = data;
	struct pdet_btf *btf;
	struct pdet_btf_header h;

	*damaged = !read_header(data, size, &h) ||
		   (size_t)h.hdr_len + h.str_off + h.str_len > size ||
		   bytes[h.hdr_len + h.str_off + h.str_len - 1];
	if (*damaged)
		return NULL;
	btf = calloc(1, sizeof(*btf));
	if (!btf)
		return NULL;
	btf->types = (const uint32_t *)(const void *)(bytes + h.hdr_len +
						      h.type_off);
	btf->words = h.type_len / 4;
	btf->strings = bytes + h.hdr_len + h.str_off;
	btf->strings_len = h.str_len;
	if (!find_all(btf)) {
		pdet_btf_free(btf);
		return NULL;
	}
	return btf;
}

void pdet_btf_free(struct pdet_btf *btf)
{
	if (!btf)
		return;
	free(btf->at);
	free(btf->slot);
	if (btf->source)
		btf->source->free(btf->source);
	free(btf);
}

/* Take over the types that the source has written so far. */
static bool take_written(struct pdet_btf *btf)
{
	const struct pdet_btf_writer *w = &btf->source->written;
	struct pdet_btf all = {
		.types = w->words.data, .words = w->words.n,
		.strings = w->strings.data, .strings_len = w->strings.n,
		.source = btf->source,
	};

	if (w->failed || !find_all(&all)) {
		free(all.at);
		return false;
	}
	free(btf->at);
	free(btf->slot);
	*btf = all;
	return true;
}

struct pdet_btf *pdet_btf_from(struct pdet_btf_source *source)
{
	struct pdet_btf *btf = calloc(1, sizeof(*btf));

	if (!btf)
		return NULL;
	btf->source = source;
	if (take_written(btf))
		return btf;
	free(btf);
	return NULL;
}

static const uint32_t *find(const struct pdet_btf *btf, const char *name,
			    bool wanted_enum)
{
	const uint32_t *type;

	if (!*name)
		return NULL;
	type = type_at(btf, *slot_of(btf, name, wanted_enum));
	if (type || !btf->source ||
	    !btf->source->add(btf->source, name, wanted_enum))
		return type;
	/* Casting const away is safe: earlier types do not change. */
	if (!take_written((struct pdet_btf *)btf))
		return NULL;
	return type_at(btf, *slot_of(btf, name, wanted_enum));
}

/* Strip typedef, const and others; NULL for void and for invalid types. */
static const uint32_t *resolve(const struct pdet_btf *btf, uint32_t id)
{
	const uint32_t *type = type_at(btf, id);
	unsigned i;

	for (i = 0; type && i < CHAIN; i++)
		switch (kind_of(type)) {
		case TYPEDEF:
		case VOLATILE:
		case CONST:
		case RESTRICT:
		case TYPE_TAG:
			type = type_at(btf, type[2]);
			break;
		default:
			return type;
		}
	return NULL;
}

static bool is_struct(const uint32_t *type)
{
	return type && (kind_of(type) == STRUCT || kind_of(type) == UNION);
}

static bool is_whole(const struct pdet_btf *btf, const uint32_t *type,
		     unsigned depth, unsigned *budget)
{
	const uint32_t *m = type + 3;
	const uint32_t *end = m + 3 * (size_t)vlen_of(type);

	for (; m < end; m += 3) {
		const uint32_t *inner;

		if (!*budget)
			return false;
		--*budget;
		if (*string(btf, m[0]))
			continue;
		inner = resolve(btf, m[1]);
		/* an unnamed bit-field is padding */
		if (inner && !is_struct(inner))
			continue;
		if (!inner || !depth ||
		    !is_whole(btf, inner, depth - 1, budget))
			return false;
	}
	return true;
}

bool pdet_btf_is_whole(const struct pdet_btf *btf, const char *name)
{
	const uint32_t *type = find(btf, name, false);
	unsigned budget = BUDGET;

	return is_struct(type) && is_whole(btf, type, DEPTH, &budget);
}

/* --- members --- */

struct search {
	const struct pdet_btf *btf;
	const char *name;
	size_t len;
	unsigned budget;
};

static bool find_member(struct search *s, const uint32_t *type, unsigned depth,
			struct pdet_btf_member *ret)
{
	const bool bits = type[1] >> 31;
	const uint32_t *m = type + 3, *inner;
	const uint32_t *end = m + 3 * (size_t)vlen_of(type);
	uint64_t offset;

	for (; m < end && s->budget; m += 3) {
		const char *is = string(s->btf, m[0]);

		s->budget--;
		offset = bits ? m[2] & 0xffffff : m[2];
		if (!*is) {
			inner = resolve(s->btf, m[1]);
			if (!depth || !is_struct(inner) ||
			    !find_member(s, inner, depth - 1, ret))
				continue;
			offset += ret->bit_offset;
		} else if (strncmp(is, s->name, s->len) || is[s->len]) {
			continue;
		} else {
			ret->type = m[1];
			ret->bit_size = bits ? m[2] >> 24 : 0;
		}
		ret->bit_offset = (uint32_t)offset;
		/* a member beyond the end is damage */
		return offset <= (uint64_t)type[2] * 8 && offset <= UINT32_MAX;
	}
	return false;
}

/* Older BTF has no bit size in the member. The bit-field's type is then an int
 * that is smaller than its bytes. */
static void find_bits(const struct pdet_btf *btf, struct pdet_btf_member *m)
{
	const uint32_t *type = resolve(btf, m->type);

	if (!type || kind_of(type) != INT || m->bit_size ||
	    (type[3] & 0xff) >= (uint64_t)type[2] * 8)
		return;
	m->bit_size = type[3] & 0xff;
	m->bit_offset += type[3] >> 16 & 0xff;
}

bool pdet_btf_member(const struct pdet_btf *btf, const char *path,
		     struct pdet_btf_member *ret)
{
	struct search s = { btf, path, strcspn(path, "."), BUDGET };
	struct pdet_btf_member m, all = { 0, 0, 0 };
	const uint32_t *type;
	char name[64];

	if (s.len >= sizeof(name))
		return false;
	memcpy(name, path, s.len);
	name[s.len] = '\0';
	type = find(btf, name, false);
	while (s.name[s.len]) {
		s.name += s.len + 1;
		s.len = strcspn(s.name, ".");
		if (!is_struct(type) || !s.len ||
		    !find_member(&s, type, DEPTH, &m) ||
		    __builtin_add_overflow(all.bit_offset, m.bit_offset,
					   &all.bit_offset))
			return false;
		all.type = m.type;
		all.bit_size = m.bit_size;
		type = resolve(btf, m.type);
	}
	if (!all.type)
		return false;
	find_bits(btf, &all);
	*ret = all;
	return true;
}

bool pdet_btf_struct_size(const struct pdet_btf *btf, const char *name,
			  uint64_t *ret)
{
	const uint32_t *type = find(btf, name, false);

	if (!is_struct(type))
		return false;
	*ret = type[2];
	return true;
}

bool pdet_btf_array_length(const struct pdet_btf *btf, uint32_t id,
			   uint64_t *ret)
{
	const uint32_t *type = resolve(btf, id);

	if (!type || kind_of(type) != ARRAY)
		return false;
	*ret = type[5];
	return true;
}

bool pdet_btf_type_size(const struct pdet_btf *btf, uint32_t id, uint64_t *ret)
{
	const uint32_t *type = resolve(btf, id);
	uint64_t n = 1;
	unsigned i;

	for (i = 0; type && i < CHAIN; i++)
		switch (kind_of(type)) {
		case INT:
		case STRUCT:
		case UNION:
		case ENUM:
		case FLOAT:
		case ENUM64:
			return !__builtin_mul_overflow(n, (uint64_t)type[2],
						       ret);
		case PTR:
			return !__builtin_mul_overflow(n, (uint64_t)8, ret);
		case ARRAY:
			if (__builtin_mul_overflow(n, (uint64_t)type[5], &n))
				return false;
			type = resolve(btf, type[3]);
			break;
		default:
			return false;
		}
	return false;
}

/* --- enums --- */

/* The words of constant @i: first its name, then its value. */
static const uint32_t *constant_at(const uint32_t *type, uint32_t i,
				   uint64_t *value)
{
	const uint32_t *c;

	if (i >= vlen_of(type))
		return NULL;
	if (kind_of(type) == ENUM) {
		c = type + 3 + 2 * (size_t)i;
		/* the kind flag tells whether values are signed */
		*value = type[1] >> 31 ? (uint64_t)(int64_t)(int32_t)c[1] :
					 c[1];
		return c;
	}
	c = type + 3 + 3 * (size_t)i;
	*value = c[1] | (uint64_t)c[2] << 32;
	return c;
}

static bool find_constant(const struct pdet_btf *btf, const uint32_t *type,
			  const char *constant, uint64_t *ret)
{
	uint32_t i, n = vlen_of(type);
	uint64_t value;
	const uint32_t *c;

	for (i = 0; i < n; i++) {
		c = constant_at(type, i, &value);
		if (strcmp(string(btf, c[0]), constant))
			continue;
		*ret = value;
		return true;
	}
	return false;
}

bool pdet_btf_enumerator(const struct pdet_btf *btf, const char *name,
			 const char *constant, uint64_t *ret)
{
	const uint32_t *type;
	uint32_t id;

	if (name) {
		type = find(btf, name, true);
		return type && find_constant(btf, type, constant, ret);
	}
	for (id = 1; id <= btf->n; id++) {
		type = type_at(btf, id);
		if (is_enum(type) &&
		    find_constant(btf, type, constant, ret))
			return true;
	}
	return false;
}

bool pdet_btf_enum_at(const struct pdet_btf *btf, const char *name, uint32_t i,
		      const char **constant, uint64_t *value)
{
	const uint32_t *type = find(btf, name, true), *c;

	c = type ? constant_at(type, i, value) : NULL;
	if (!c)
		return false;
	*constant = string(btf, c[0]);
	return true;
}

/* --- functions --- */

uint32_t pdet_btf_function(const struct pdet_btf *btf, const char *name)
{
	const uint32_t *type;
	uint32_t id;

	for (id = 1; id <= btf->n; id++) {
		type = type_at(btf, id);
		if (kind_of(type) == FUNC &&
		    !strcmp(string(btf, type[0]), name))
			return id;
	}
	return 0;
}

const char *pdet_btf_parameter(const struct pdet_btf *btf, uint32_t function,
			       uint32_t i)
{
	const uint32_t *type = type_at(btf, function);

	if (!type || kind_of(type) != FUNC)
		return NULL;
	type = type_at(btf, type[2]);
	if (!type || kind_of(type) != FUNC_PROTO || i >= vlen_of(type))
		return NULL;
	return string(btf, type[3 + 2 * (size_t)i]);
}
