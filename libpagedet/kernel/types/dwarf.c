/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds types in DWARF and converts them to BTF. Only this file includes libdw.
 * A kernel's debug information repeats each type for every compiled file and
 * has no index. Compilation units are therefore read one by one until the type
 * is found.
 */
#include "config.h"

#include <errno.h>

#include "base/library.h"
#include "kernel/types/dwarf.h"

#if defined(HAVE_LIBDW) && (defined(HAVE_LIBDW_LINKED) || !defined(PDET_LINKED))

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/pairs.h"
#include "base/vec.h"

/*
 * Limits: the chain of const, volatile, typedef, ..., and structs within
 * structs.
 */
#define CHAIN 64
#define DEPTH 24
/* Most dimensions of an array. */
#define DIMENSIONS 8
/* BTF has 16 bits for the number of members. */
#define MOST_MEMBERS 65535
/* Limit of the bit offset in BTF for a struct with bit-fields. */
#define MOST_BITS ((uint64_t)1 << 24)
/* Entries examined for one name. Hostile entries contain themselves, or many
 * useless ones. */
#define BUDGET 200000
/* A name up to this length may be inline instead of in the string section. */
#define SHORT_NAME 3

#define FUNCTIONS(X) \
	X(attr) X(begin) X(child) X(dieoffset) X(end) X(errmsg) \
	X(formref_die) X(formsdata) X(formstring) X(formudata) X(get_units) \
	X(getstring) X(hasattr) X(next_unit) X(offdie) X(siblingof) X(tag) \
	X(whatform)

struct dwarf {
	struct pdet_btf_source source;
	struct pdet_library lib;
#define X(name) __typeof__(&dwarf_##name) name;
	FUNCTIONS(X)
#undef X
	Dwarf *dwarf;
	Dwarf_CU *unit;		/* last unit that was read */
	bool all;		/* all units were read */
	Dwarf_Off units_end;	/* 0: not determined yet */
	const char *strings;	/* the string section; NULL: unusable */
	size_t strings_len;
	unsigned budget;
	struct pdet_pairs named; /* name hash to offset of the definition */
	struct pdet_pairs written; /* offset to BTF id */
};

/* --- names --- */

static Dwarf_Off find_end(struct dwarf *d)
{
	Dwarf_Off next = 0, at;
	size_t header;

	do {
		at = next;
	} while (d->next_unit(d->dwarf, at, &next, &header, NULL, NULL, NULL,
			      NULL, NULL, NULL) == 0 && next > at);
	return at;
}

/* The name of an entry, or NULL. libdw does not check that an inline name ends
 * before the section does. */
static const char *name_of(struct dwarf *d, Dwarf_Die *die)
{
	const char *name, *end;
	Dwarf_Attribute a;

	if (!d->attr(die, DW_AT_name, &a))
		return NULL;
	name = d->formstring(&a);
	if (!name || d->whatform(&a) != DW_FORM_string)
		return name;
	if (!d->units_end)
		d->units_end = find_end(d);
	end = (const char *)die->addr - d->dieoffset(die) + d->units_end;
	return name < end && memchr(name, '\0', (size_t)(end - name)) ? name :
									NULL;
}

/* --- finding names --- */

static uint64_t key_of(const char *name, bool is_enum)
{
	const uint64_t h = pdet_hash(name, strlen(name));

	return h << 1 | is_enum;
}

/* True if the entry defines a type, and does not only declare it. */
static bool is_definition(struct dwarf *d, Dwarf_Die *die, bool *is_enum)
{
	switch (d->tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		*is_enum = false;
		break;
	case DW_TAG_enumeration_type:
		*is_enum = true;
		break;
	default:
		return false;
	}
	return !d->hasattr(die, DW_AT_declaration);
}

/*
 * If there are several definitions, the first one wins. Returns false if memory
 * is short.
 */
static bool add_name(struct dwarf *d, uint64_t key, Dwarf_Die *die)
{
	uint64_t offset;

	return pdet_pairs_get(&d->named, key, &offset) ||
	       pdet_pairs_set(&d->named, key, d->dieoffset(die));
}

/* Index the names of the next unit. Returns false after the last one, or if
 * memory is short. */
static bool next_unit(struct dwarf *d)
{
	Dwarf_Die unit, die;
	const char *name;
	bool is_enum;

	if (d->all || d->source.written.failed)
		return false;
	if (d->get_units(d->dwarf, d->unit, &d->unit, NULL, NULL, &unit,
			 NULL) != 0) {
		d->all = true;
		return false;
	}
	if (d->child(&unit, &die) != 0)
		return true;
	do {
		name = is_definition(d, &die, &is_enum) ? name_of(d, &die) :
							  NULL;
		if (name && !add_name(d, key_of(name, is_enum), &die))
			d->source.written.failed = true;
	} while (d->siblingof(&die, &die) == 0);
	return true;
}

/* Skip the search if the string section lacks the name. */
static bool may_exist(const struct dwarf *d, const char *name)
{
	const size_t len = strlen(name);

	return len <= SHORT_NAME || !d->strings ||
	       memmem(d->strings, d->strings_len, name, len + 1);
}

static bool find(struct dwarf *d, const char *name, bool is_enum,
		 Dwarf_Die *ret)
{
	const uint64_t key = key_of(name, is_enum);
	const char *is;
	uint64_t offset;

	if (!may_exist(d, name))
		return false;
	while (!pdet_pairs_get(&d->named, key, &offset))
		if (!next_unit(d))
			return false;
	if (!d->offdie(d->dwarf, offset, ret))
		return false;
	is = name_of(d, ret);
	return is && !strcmp(is, name);
}

/* The next sibling, while the budget lasts. */
static bool next_child(struct dwarf *d, Dwarf_Die *die)
{
	return d->budget && d->budget-- && d->siblingof(die, die) == 0;
}

/* --- writing types --- */

static uint32_t put_type(struct dwarf *d, Dwarf_Die *die, unsigned depth);

static bool number(struct dwarf *d, Dwarf_Die *die, unsigned name,
		   uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	if (!d->attr(die, name, &a) || d->formudata(&a, &value) != 0)
		return false;
	*ret = value;
	return true;
}

static bool bytes_of(struct dwarf *d, Dwarf_Die *die, uint32_t *ret)
{
	uint64_t bytes;

	if (!number(d, die, DW_AT_byte_size, &bytes) || bytes > UINT32_MAX / 8)
		return false;
	*ret = (uint32_t)bytes;
	return true;
}

/* The type that the entry refers to; false for void. */
static bool follow(struct dwarf *d, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute a;

	return d->attr(die, DW_AT_type, &a) && d->formref_die(&a, ret);
}

static uint32_t put_array(struct dwarf *d, Dwarf_Die *die, unsigned depth)
{
	uint64_t n[DIMENSIONS], bound;
	unsigned dimensions = 0;
	Dwarf_Die of, child;
	uint32_t id;

	if (!follow(d, die, &of) || d->child(die, &child) != 0)
		return 0;
	do {
		if (d->tag(&child) != DW_TAG_subrange_type)
			continue;
		if (dimensions == DIMENSIONS)
			return 0;
		/* An array without a length counts as empty. */
		if (!number(d, &child, DW_AT_count, &n[dimensions]))
			n[dimensions] = number(d, &child, DW_AT_upper_bound,
					       &bound) ? bound + 1 : 0;
		if (n[dimensions++] > UINT32_MAX)
			return 0;
	} while (next_child(d, &child));
	id = d->budget ? put_type(d, &of, depth) : 0;
	while (dimensions-- && id) {
		const uint32_t words[] = { id, id, (uint32_t)n[dimensions] };

		id = pdet_btf_put(&d->source.written, NULL, PDET_BTF_ARRAY, 0,
				  0, words, 3);
	}
	return id;
}

struct member {
	uint32_t name, type;
	uint64_t bit;		/* offset in the struct */
	uint32_t bits;		/* size of a bit-field; otherwise 0 */
};

struct members {
	struct member *data;
	size_t n, cap;
};

/* The first bit of a bit-field. Before DWARF 4 it was counted from the most
 * significant bit of its storage unit. */
static bool find_bits(struct dwarf *d, Dwarf_Die *die, uint64_t bytes,
		      struct member *ret)
{
	uint64_t bits, first, size;
	Dwarf_Die of;

	if (!number(d, die, DW_AT_bit_size, &bits))
		return true;
	if (!bits || bits > 64)
		return false;
	ret->bits = (uint32_t)bits;
	if (number(d, die, DW_AT_data_bit_offset, &first)) {
		ret->bit = first;
		return true;
	}
	if (!number(d, die, DW_AT_bit_offset, &first))
		return true;
	if (!number(d, die, DW_AT_byte_size, &size) &&
	    (!follow(d, die, &of) || !number(d, &of, DW_AT_byte_size, &size)))
		return false;
	if (size > 16 || first + bits > size * 8)
		return false;
	ret->bit = bytes * 8 + size * 8 - first - bits;
	return true;
}

static bool take_member(struct dwarf *d, Dwarf_Die *die, unsigned depth,
			struct members *all)
{
	struct member m = { .bits = 0 };
	Dwarf_Attribute a;
	uint64_t bytes = 0;
	Dwarf_Die of;

	/* A union's members may omit their offset. An offset that needs a
	 * computation stays unknown. */
	if (d->attr(die, DW_AT_data_member_location, &a) &&
	    d->formudata(&a, &bytes) != 0)
		return true;
	if (bytes > UINT32_MAX / 8 || !follow(d, die, &of))
		return true;
	m.bit = bytes * 8;
	if (!find_bits(d, die, bytes, &m) || m.bit > UINT32_MAX)
		return true;
	m.type = put_type(d, &of, depth);
	m.name = pdet_btf_put_string(&d->source.written, name_of(d, die));
	return !m.type || all->n == MOST_MEMBERS || pdet_vec_push(all, m);
}

static uint32_t put_members(struct dwarf *d, Dwarf_Die *die, uint32_t info,
			    uint32_t bytes, const struct members *all)
{
	uint32_t *words = malloc((3 * all->n + 1) * sizeof(*words));
	size_t i, n = 0;
	uint32_t id;

	if (!words) {
		d->source.written.failed = true;
		return 0;
	}
	for (i = 0; i < all->n; i++)
		if (all->data[i].bits)
			info |= PDET_BTF_FLAG;
	for (i = 0; i < all->n; i++) {
		const struct member *m = &all->data[i];

		if (info & PDET_BTF_FLAG && m->bit >= MOST_BITS)
			continue;
		words[3 * n] = m->name;
		words[3 * n + 1] = m->type;
		words[3 * n++ + 2] = m->bits << 24 | (uint32_t)m->bit;
	}
	id = pdet_btf_put(&d->source.written, name_of(d, die), info,
			  (uint32_t)n, bytes, words, 3 * n);
	free(words);
	return id;
}

static uint32_t put_struct(struct dwarf *d, Dwarf_Die *die, unsigned depth)
{
	struct members all = { NULL, 0, 0 };
	Dwarf_Die child;
	uint32_t bytes, id;

	if (!depth || !bytes_of(d, die, &bytes))
		return 0;
	if (d->child(die, &child) == 0)
		do {
			if (d->tag(&child) == DW_TAG_member &&
			    !take_member(d, &child, depth - 1, &all))
				d->source.written.failed = true;
		} while (!d->source.written.failed && next_child(d, &child));
	/* Do not write an incomplete type. */
	id = !d->budget ? 0 :
	     put_members(d, die, d->tag(die) == DW_TAG_union_type ?
			 PDET_BTF_UNION : PDET_BTF_STRUCT, bytes, &all);
	pdet_vec_free(&all);
	return id;
}

/* The value as it was stored, signed or unsigned. */
static bool constant(struct dwarf *d, Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Sword value;

	if (!d->attr(die, DW_AT_const_value, &a))
		return false;
	if (d->whatform(&a) != DW_FORM_sdata &&
	    d->whatform(&a) != DW_FORM_implicit_const)
		return number(d, die, DW_AT_const_value, ret);
	if (d->formsdata(&a, &value) != 0)
		return false;
	*ret = (uint64_t)value;
	return true;
}

/* Write it with 64-bit values, which always suffice. */
static uint32_t put_enum(struct dwarf *d, Dwarf_Die *die)
{
	struct {
		uint32_t *data;
		size_t n, cap;
	} words = { NULL, 0, 0 };
	struct pdet_btf_writer *w = &d->source.written;
	Dwarf_Die child;
	uint32_t bytes, id;
	uint64_t value;

	if (!bytes_of(d, die, &bytes))
		return 0;
	if (d->child(die, &child) == 0)
		do {
			if (d->tag(&child) != DW_TAG_enumerator ||
			    words.n == 3 * MOST_MEMBERS ||
			    !constant(d, &child, &value))
				continue;
			w->failed |= !pdet_vec_reserve(&words, 3);
			if (w->failed)
				break;
			words.data[words.n++] =
				pdet_btf_put_string(w, name_of(d, &child));
			words.data[words.n++] = (uint32_t)value;
			words.data[words.n++] = (uint32_t)(value >> 32);
		} while (next_child(d, &child));
	id = w->failed || !d->budget ? 0 :
	     pdet_btf_put(w, name_of(d, die), PDET_BTF_ENUM64,
			  (uint32_t)(words.n / 3), bytes, words.data, words.n);
	pdet_vec_free(&words);
	return id;
}

/* Strip typedef, const and others; false for void and for invalid types. */
static bool resolve(struct dwarf *d, Dwarf_Die *die)
{
	unsigned i;

	for (i = 0; i < CHAIN; i++)
		switch (d->tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!follow(d, die, die))
				return false;
			break;
		default:
			return true;
		}
	return false;
}

/* Its id; 0 if its kind has no size. */
static uint32_t put_type(struct dwarf *d, Dwarf_Die *die, unsigned depth)
{
	struct pdet_btf_writer *w = &d->source.written;
	uint32_t id = 0, bytes, bits;
	uint64_t known;
	Dwarf_Off offset;

	if (w->failed || !d->budget || !resolve(d, die))
		return 0;
	d->budget--;
	offset = d->dieoffset(die);
	if (pdet_pairs_get(&d->written, offset, &known))
		return (uint32_t)known;
	switch (d->tag(die)) {
	case DW_TAG_base_type:
		if (!bytes_of(d, die, &bytes))
			return 0;
		bits = bytes * 8;
		id = pdet_btf_put(w, name_of(d, die), PDET_BTF_INT, 0, bytes,
				  &bits, 1);
		break;
	case DW_TAG_pointer_type:
		id = pdet_btf_put(w, NULL, PDET_BTF_PTR, 0, 0, NULL, 0);
		break;
	case DW_TAG_array_type:
		id = put_array(d, die, depth);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		id = put_struct(d, die, depth);
		break;
	case DW_TAG_enumeration_type:
		id = put_enum(d, die);
		break;
	default:
		return 0;
	}
	/*
	 * Do not record a failure: a type that was too deep here may not be too
	 * deep elsewhere.
	 */
	if (id && !pdet_pairs_set(&d->written, offset, id))
		w->failed = true;
	return id;
}

/* --- source --- */

static bool dwarf_add(struct pdet_btf_source *source, const char *name,
		      bool is_enum)
{
	struct dwarf *d = (struct dwarf *)source;
	Dwarf_Die die;

	d->budget = BUDGET;
	return find(d, name, is_enum, &die) && put_type(d, &die, DEPTH);
}

static void dwarf_free(struct pdet_btf_source *source)
{
	struct dwarf *d = (struct dwarf *)source;

	if (d->dwarf)
		d->end(d->dwarf);
	pdet_library_close(&d->lib);
	pdet_pairs_free(&d->named);
	pdet_pairs_free(&d->written);
	pdet_btf_writer_free(&source->written);
	free(d);
}

static int load(struct dwarf *d, struct pdet_env *env)
{
	if (pdet_library_open(&d->lib, "libdw.so.1")) {
#define X(name) d->name = PDET_FUNCTION(&d->lib, dwarf_##name);
		FUNCTIONS(X)
#undef X
	}
	if (!*d->lib.why)
		return 0;
	pdet_fail(env, ENOSYS, "%s", d->lib.why);
	pdet_advise(env, "needs libdw installed (on Debian: libdw1)");
	return -ENOSYS;
}

/* Find the start and end of the string section. */
static void find_strings(struct dwarf *d)
{
	size_t len;

	d->strings = d->getstring(d->dwarf, 0, &len);
	while (d->strings && d->getstring(d->dwarf, d->strings_len, &len))
		d->strings_len += len + 1;
}

static int open_types(struct dwarf *d, struct pdet_env *env, int fd)
{
	const int r = load(d, env);

	if (r < 0) {
		pdet_context(env, "its debug information cannot be read");
		return r;
	}
	d->dwarf = d->begin(fd, DWARF_C_READ);
	if (!d->dwarf)
		return pdet_fail(env, EBADMSG, "its debug information cannot "
				 "be read: %s", d->errmsg(-1));
	find_strings(d);
	return 0;
}

int pdet_dwarf_types(struct pdet_env *env, int fd, struct pdet_btf **ret)
{
	struct dwarf *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return pdet_fail(env, ENOMEM, "no memory");
	d->source.add = dwarf_add;
	d->source.free = dwarf_free;
	r = open_types(d, env, fd);
	if (r == 0) {
		*ret = pdet_btf_from(&d->source);
		if (*ret)
			return 0;
		r = pdet_fail(env, ENOMEM, "no memory");
	}
	dwarf_free(&d->source);
	return r;
}

int pdet_dwarf_test(struct pdet_env *env)
{
	struct dwarf *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return pdet_fail(env, ENOMEM, "no memory");
	r = load(d, env);
	if (r < 0)
		pdet_context(env, "cannot read debug information");
	pdet_library_close(&d->lib);
	free(d);
	return r;
}

#else

static int not_built(struct pdet_env *env, const char *what)
{
	pdet_fail(env, ENOSYS, "%s: libdw is not built in", what);
	pdet_advise(env, "build libpagedet with libdw, or give the types with "
			 "--btf");
	return -ENOSYS;
}

int pdet_dwarf_test(struct pdet_env *env)
{
	return not_built(env, "cannot read debug information");
}

int pdet_dwarf_types(struct pdet_env *env, int fd, struct pdet_btf **ret)
{
	(void)fd;
	(void)ret;
	return not_built(env, "its debug information cannot be read");
}

#endif
