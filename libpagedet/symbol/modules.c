/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds modules and their symbols. Since 6.4 (ac3b43283923) a module's memory
 * is split by use. Before, it had a core part, and an init part that is freed
 * after start. Its symbols are an ELF symbol table.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/container/list.h"
#include "symbol/modules.h"

#define MOST_MODULES 65536
#define MOST_SYMBOLS ((uint64_t)1 << 20)
#define MOST_PARTS 16
/* Symbols read at once. */
#define CHUNK 512

enum { MODULE_LIST, MODULE_NAME, MODULE_MEM, MODULE_CORE, MODULE_INIT,
       MODULE_KALLSYMS, MODULE_FIELDS };
static const pdet_field_names module_names[MODULE_FIELDS] = {
	[MODULE_LIST] = { "module.list" },
	[MODULE_NAME] = { "module.name" },
	[MODULE_MEM] = { "module.mem" },
	[MODULE_CORE] = { "module.core_layout" },
	[MODULE_INIT] = { "module.init_layout" },
	[MODULE_KALLSYMS] = { "module.kallsyms" },
};

enum { MEMORY_BASE, MEMORY_SIZE, MEMORY_FIELDS };
static const pdet_field_names memory_names[MEMORY_FIELDS] = {
	[MEMORY_BASE] = { "module_memory.base", "module_layout.base" },
	[MEMORY_SIZE] = { "module_memory.size", "module_layout.size" },
};

enum { SYMBOLS_TABLE, SYMBOLS_N, SYMBOLS_NAMES, SYMBOLS_FIELDS };
static const pdet_field_names symbols_names[SYMBOLS_FIELDS] = {
	[SYMBOLS_TABLE] = { "mod_kallsyms.symtab" },
	[SYMBOLS_N] = { "mod_kallsyms.num_symtab" },
	[SYMBOLS_NAMES] = { "mod_kallsyms.strtab" },
};

bool pdet_modules_init(struct pdet_modules *m, const struct pdet_btf *btf,
		       uint64_t list)
{
	memset(m, 0, sizeof(*m));
	m->list = list;
	pdet_struct_find(&m->module, btf, module_names, MODULE_FIELDS);
	pdet_struct_find(&m->memory, btf, memory_names, MEMORY_FIELDS);
	pdet_struct_find(&m->symbols, btf, symbols_names, SYMBOLS_FIELDS);
	if (!pdet_btf_struct_size(btf, "module_memory", &m->memory_size))
		(void)pdet_btf_struct_size(btf, "module_layout",
					   &m->memory_size);
	return list && pdet_struct_has(&m->module, MODULE_LIST) &&
	       pdet_struct_has(&m->module, MODULE_NAME) &&
	       (pdet_struct_has(&m->module, MODULE_MEM) ||
		pdet_struct_has(&m->module, MODULE_CORE)) &&
	       pdet_struct_has(&m->memory, MEMORY_BASE) &&
	       pdet_struct_has(&m->memory, MEMORY_SIZE) &&
	       m->memory_size >= m->memory.first + m->memory.bytes;
}

struct search {
	struct pdet_space *space;
	const struct pdet_modules *m;
	uint64_t va;
	struct pdet_module *ret;
};

/* True if one of the parts at field @i contains the address. */
static bool is_in(const struct search *s, const char *buf, unsigned i)
{
	const struct pdet_field *f = &s->m->module.field[i];
	const char *part = pdet_struct_bytes(&s->m->module, buf, i);
	uint64_t n, k, base, size;

	if (!part)
		return false;
	n = PDET_MIN(f->size / s->m->memory_size, (uint64_t)MOST_PARTS);
	for (k = 0; k < n; k++, part += s->m->memory_size) {
		base = pdet_field_of(&s->m->memory.field[MEMORY_BASE], part +
				     s->m->memory.field[MEMORY_BASE].at);
		size = pdet_field_of(&s->m->memory.field[MEMORY_SIZE], part +
				     s->m->memory.field[MEMORY_SIZE].at);
		if (s->va - base >= size)
			continue;
		s->ret->start = base;
		s->ret->end = base + size;
		return true;
	}
	return false;
}

static int look(void *arg, uint64_t node)
{
	struct search *s = arg;
	const struct pdet_struct *t = &s->m->module;
	const uint64_t addr = node - (uint64_t)t->field[MODULE_LIST].at;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(s->space, t, addr, buf);
	size_t n;

	if (r < 0)
		return r;
	if (!is_in(s, buf, MODULE_MEM) && !is_in(s, buf, MODULE_CORE) &&
	    !is_in(s, buf, MODULE_INIT))
		return 0;
	n = PDET_MIN(t->field[MODULE_NAME].size, PDET_MODULE_NAME - 1u);
	memcpy(s->ret->name, pdet_struct_bytes(t, buf, MODULE_NAME), n);
	s->ret->name[n] = '\0';
	s->ret->addr = addr;
	return *s->ret->name ? 1 : -EBADMSG;
}

int pdet_module_find(struct pdet_space *space, const struct pdet_modules *m,
		     uint64_t va, struct pdet_module *ret)
{
	struct search s = { space, m, va, ret };
	int r = pdet_list_each(space, m->list, MOST_MODULES, look, &s);

	return r > 0 ? 0 : r < 0 ? r : -ENOENT;
}

/* --- symbols --- */

/*
 * True for a real name: it is not empty, and neither a local label nor an arm64
 * mapping symbol.
 */
static bool is_name(struct pdet_space *space, uint64_t addr)
{
	char c[2];

	if (pdet_space_read(space, addr, c, sizeof(c)) < 0)
		return false;
	return c[0] && c[0] != '$' && (c[0] != '.' || c[1] != 'L') &&
	       (c[0] != 'L' || c[1] != '0');
}

/* The best symbol of a table: the last one that begins at or before @va. If
 * several have one address, it is the first of these. */
static int find_symbol(struct pdet_space *space, uint64_t table, uint64_t n,
		       uint64_t names, const struct pdet_module *module,
		       uint64_t va, Elf64_Sym *ret, uint64_t *next)
{
	Elf64_Sym some[CHUNK];
	uint64_t i, k, take;
	bool found = false;
	int r;

	*next = module->end;
	for (i = 0; i < n; i += take) {
		take = PDET_MIN(n - i, (uint64_t)CHUNK);
		r = pdet_space_read(space, table + i * sizeof(*some), some,
				    take * sizeof(*some));
		if (r < 0)
			return r == -ENOENT ? -EBADMSG : r;
		for (k = 0; k < take; k++) {
			const Elf64_Sym *e = &some[k];

			if (e->st_shndx == SHN_UNDEF ||
			    e->st_value < module->start ||
			    e->st_value >= *next ||
			    (found && e->st_value <= ret->st_value) ||
			    !is_name(space, names + e->st_name))
				continue;
			if (e->st_value > va) {
				*next = e->st_value;
				continue;
			}
			*ret = *e;
			found = true;
		}
	}
	return found ? 0 : -ENOENT;
}

/* The symbol table of a module, and the names, in memory. */
struct symbols {
	uint64_t table, n, names;
};

/* Returns 0, -ENOENT if it has none, or a result of memory/memory.h. */
static int find_table(struct pdet_space *space, const struct pdet_modules *m,
		      uint64_t module, struct symbols *ret)
{
	char buf[PDET_STRUCT_BYTES];
	uint64_t at;
	int r;

	if (!pdet_struct_has(&m->symbols, SYMBOLS_NAMES))
		return -ENOENT;
	r = pdet_struct_value(space, &m->module, module, MODULE_KALLSYMS, &at);
	if (r == 0)
		r = pdet_struct_read(space, &m->symbols, at, buf);
	if (r < 0)
		return r;
	ret->table = pdet_struct_get(&m->symbols, buf, SYMBOLS_TABLE);
	ret->n = pdet_struct_get(&m->symbols, buf, SYMBOLS_N);
	ret->names = pdet_struct_get(&m->symbols, buf, SYMBOLS_NAMES);
	return pdet_is_address(ret->table) && pdet_is_address(ret->names) &&
	       ret->n <= MOST_SYMBOLS ? 0 : -EBADMSG;
}

int pdet_module_symbol(struct pdet_space *space, const struct pdet_modules *m,
		       const struct pdet_module *module, uint64_t va,
		       struct pdet_module_symbol *ret)
{
	Elf64_Sym symbol = { .st_name = 0 };
	struct symbols all;
	uint64_t next;
	ssize_t len;
	int r = find_table(space, m, module->addr, &all);

	if (r == 0)
		r = find_symbol(space, all.table, all.n, all.names, module, va,
				&symbol, &next);
	if (r < 0)
		return r;
	len = pdet_space_text(space, all.names + symbol.st_name, ret->name,
			      sizeof(ret->name));
	if (len <= 0)
		return len == -ENOENT || !len ? -EBADMSG : (int)len;
	ret->address = symbol.st_value;
	/* it ends where the next one begins, as for the kernel itself */
	ret->size = next - symbol.st_value;
	return 0;
}

/* --- by name --- */

/* Names read at once: those of CHUNK symbols are mostly close together. */
#define NAMES 65536
/* Symbols of all modules together, so that a damaged list comes to an end. A
 * kernel with all its modules has fewer. */
#define MOST_OF_ALL ((uint64_t)1 << 22)

struct wanted {
	struct pdet_space *space;
	const struct pdet_modules *m;
	const char *name;
	size_t len;		/* with its NUL */
	char *names;		/* [len: NAMES] */
	uint64_t found, seen;
	int lost;		/* why some of a module could not be read, or
				 * 0 */
};

static void lose(struct wanted *w, int error)
{
	if (!w->lost)
		w->lost = error == -ENOENT ? -EBADMSG : error;
}

static bool is_defined(const Elf64_Sym *e)
{
	return e->st_shndx != SHN_UNDEF && e->st_value;
}

/* Whether the name at @at is the wanted one, by a read of its own. */
static bool is_it(struct wanted *w, uint64_t at)
{
	char buf[PDET_MODULE_SYMBOL + 1];
	/* A shorter name may be the last one before a hole. */
	const ssize_t n = pdet_space_text(w->space, at, buf, w->len + 1);

	if (n < 0)
		lose(w, (int)n);
	return n >= 0 && (size_t)n + 1 == w->len &&
	       !memcmp(buf, w->name, w->len);
}

/* Looks through @n symbols. Returns 1 if it is among them. */
static int look_at_names(struct wanted *w, uint64_t names, const Elf64_Sym *e,
			 uint64_t n)
{
	uint64_t low = UINT64_MAX, high = 0, i;
	bool all;

	for (i = 0; i < n; i++) {
		if (!is_defined(&e[i]))
			continue;
		low = PDET_MIN(low, (uint64_t)e[i].st_name);
		high = PDET_MAX(high, (uint64_t)e[i].st_name);
	}
	if (low > high)
		return 0;
	all = high - low + w->len <= NAMES &&
	      !pdet_space_read(w->space, names + low, w->names,
			       high - low + w->len);
	for (i = 0; i < n; i++) {
		if (!is_defined(&e[i]))
			continue;
		if (all ? memcmp(w->names + (e[i].st_name - low), w->name,
				 w->len) :
			  !is_it(w, names + e[i].st_name))
			continue;
		w->found = e[i].st_value;
		return 1;
	}
	return 0;
}

/* Returns 1 if the module has it, 0, or a result of memory/memory.h. */
static int look_at_module(struct wanted *w, uint64_t module)
{
	Elf64_Sym some[CHUNK];
	struct symbols all;
	uint64_t i, take;
	int r = find_table(w->space, w->m, module, &all);

	if (r == 0) {
		w->seen += all.n;
		r = w->seen > MOST_OF_ALL ? -EBADMSG : 0;
	}
	for (i = 0; r == 0 && i < all.n; i += take) {
		take = PDET_MIN(all.n - i, (uint64_t)CHUNK);
		r = pdet_space_read(w->space, all.table + i * sizeof(*some),
				    some, take * sizeof(*some));
		if (r == 0)
			r = look_at_names(w, all.names, some, take);
	}
	return r;
}

static int try_module(void *arg, uint64_t node)
{
	struct wanted *w = arg;
	const int r = look_at_module(w, node - (uint64_t)
				     w->m->module.field[MODULE_LIST].at);

	if (r < 0)
		lose(w, r);
	return r > 0;
}

int pdet_module_named(struct pdet_space *space, const struct pdet_modules *m,
		      const char *name, uint64_t *ret)
{
	struct wanted w = { .space = space, .m = m, .name = name,
			    .len = strlen(name) + 1 };
	int r;

	if (w.len > PDET_MODULE_SYMBOL)
		return -ENOENT;
	w.names = malloc(NAMES);
	if (!w.names)
		return -ENOMEM;
	r = pdet_list_each(space, m->list, MOST_MODULES, try_module, &w);
	free(w.names);
	if (r > 0) {
		*ret = w.found;
		return 0;
	}
	return r < 0 ? r : w.lost ? w.lost : -ENOENT;
}
