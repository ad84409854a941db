/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads memory by pages, unwinds, and names what was found. A page that the
 * task does not have in memory, because nobody used it yet, is read from the
 * file that is mapped there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/by_table.h"
#include "unwind/plain_code.h"
#include "unwind/signal_frame.h"
#include "unwind/user_stack.h"

/* A program in C needs 20 of them for its code and tables. */
#define PAGES 256

/* Threads that do the same work have the same instructions in their stacks. */
#define RULES 1024

/* The threads of a process have the same code and tables: pages of files that
 * cannot be written are kept from one stack to the next one, while the mappings
 * are the same. */
struct pdet_user_cache {
	const struct pdet_user_source *source;
	struct pdet_code *code;
	uint16_t machine;	/* EM_*: of the code that the thread runs */
	uint64_t mappings;	/* number of those that the pages are of; 0: it
				 * is not known */
	struct page {
		uint64_t addr;	/* 1: none */
		bool stays;
		int error;
	} page[PAGES];
	char bytes[PAGES][PDET_USER_PAGE];
	/* What is found in such pages. */
	struct rule {
		uint64_t ip;
		bool exact;
		bool has;
		uint64_t changes; /* as below when it was found */
		struct pdet_frame_rule rule;
	} rule[RULES];
	uint64_t changes;	/* of the mappings: one more each time */
	struct pdet_frame_pair pair;
};

/* Whether what is there does not change while the mappings are the same.
 * Nothing changes in a dump. */
static bool stays(const struct pdet_user_cache *c, uint64_t addr)
{
	const struct pdet_code_map *m = pdet_code_map_at(c->code, addr);

	return c->source->dump || (m && m->file && !m->write);
}

/* Of a stack that was read before. */
static void forget_pages(struct pdet_user_cache *c)
{
	const uint64_t mappings = c->source->dump ? c->code->space :
						    c->code->text_maps;
	const bool same = mappings && mappings == c->mappings;
	size_t i;

	for (i = 0; i < PAGES; i++)
		if (!same || !c->page[i].stays)
			c->page[i].addr = 1;
	c->changes += !same;
	c->mappings = mappings;
}

/* Returns the bytes of the page, or NULL and sets *error. */
static const char *get_page(struct pdet_user_cache *c, uint64_t addr,
			    int *error)
{
	const size_t i = addr / PDET_USER_PAGE % PAGES;
	struct page *p = &c->page[i];

	if (p->addr != addr) {
		p->addr = addr;
		p->error = c->source->page(c->source->arg, addr, c->bytes[i]);
		if (p->error == -ENOENT)
			p->error = pdet_code_file_read(c->code, addr,
						       c->bytes[i],
						       PDET_USER_PAGE);
		p->stays = stays(c, addr) && (!p->error || c->source->dump);
	}
	*error = p->error;
	return p->error ? NULL : c->bytes[i];
}

/* libunwind asks for words, two thousand a stack. A call for each takes a
 * quarter of the time. */
static void copy(char *to, const char *from, size_t n)
{
	if (n == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, n);
}

static int read_memory(void *arg, uint64_t addr, void *buf, size_t n)
{
	char *to = buf;

	while (n) {
		const size_t at = addr % PDET_USER_PAGE;
		const size_t part = PDET_MIN(n, PDET_USER_PAGE - at);
		int error;
		const char *page = get_page(arg, addr - at, &error);

		if (!page)
			return error;
		copy(to, page + at, part);
		addr += part;
		to += part;
		n -= part;
	}
	return 0;
}

static uint64_t number_of_maps(void *arg)
{
	const struct pdet_user_cache *c = arg;
	const struct pdet_user_source *s = c->source;

	return s->maps ? s->maps(s->arg) : 0;
}

/* Where the file of a mapping has the byte at an address of the process. */
static bool place_of(const struct pdet_code_map *m, uint64_t addr,
		     uint64_t *ret)
{
	return pdet_elf_file_address(&m->file->elf,
				     m->offset + (addr - m->start), ret);
}

static int find_code(void *arg, uint64_t ip, struct pdet_unwind_code *ret)
{
	struct pdet_user_cache *c = arg;
	const struct pdet_code_map *m = pdet_code_map_at(c->code, ip);
	uint64_t place;

	if (!m || !m->exec || !m->file ||
	    pdet_code_file(c->code, m->file) < 0 ||
	    m->file->elf.machine != c->machine || !place_of(m, ip, &place))
		return -ENOENT;
	*ret = (struct pdet_unwind_code){
		.first = m->start, .end = m->end, .base = ip - place,
		.frames = &m->file->elf.frames,
	};
	if (m->file->elf.header)
		ret->header = m->file->elf.header + ret->base;
	return ret->header || ret->frames->n ? 0 : -ENOENT;
}

/* Finds what libunwind would find in the table of the file. */
static bool make_rule(struct pdet_user_cache *c, struct rule *r)
{
	const struct pdet_eh_memory memory = { read_memory, c };
	const uint64_t ip = r->exact ? r->ip : r->ip - 1;
	uint8_t code[PDET_SIGNAL_RETURN];
	struct pdet_unwind_code table;
	uint64_t fde;

	return read_memory(c, r->ip, code, sizeof(code)) == 0 &&
	       !pdet_is_signal_return(code) &&
	       find_code(c, ip, &table) == 0 && table.header &&
	       pdet_frame_rule_get(&memory, table.header, ip, &c->pair,
				   &r->rule, &fde) &&
	       stays(c, r->ip) && stays(c, ip) && stays(c, table.header) &&
	       stays(c, fde) && stays(c, pdet_eh_cie(&c->pair, fde));
}

static const struct pdet_frame_rule *find_rule(void *arg, uint64_t ip,
					       bool exact)
{
	struct pdet_user_cache *c = arg;
	struct rule *r = &c->rule[(ip * 0x9e3779b97f4a7c15 >> 32) % RULES];

	if (r->changes != c->changes || r->ip != ip || r->exact != exact) {
		r->ip = ip;
		r->exact = exact;
		r->has = make_rule(c, r);
		r->changes = c->changes;
	}
	return r->has ? &r->rule : NULL;
}

/* A debug file of the same build has the same addresses. */
static bool find_debug_frame(struct pdet_user_cache *c, uint64_t ip)
{
	const struct pdet_code_map *m = pdet_code_map_at(c->code, ip);
	const struct pdet_module_file *f = m ? m->file : NULL;
	uint64_t place;

	if (!f || !m->exec || !f->tried || f->error ||
	    f->elf.machine != c->machine || !place_of(m, ip, &place))
		return false;
	return pdet_debug_frame_get(&f->elf.debug_frame, place, ip - place,
				    &c->pair) ||
	       pdet_debug_frame_get(&f->debug.debug_frame, place, ip - place,
				    &c->pair);
}

/* libunwind asks for the instruction before a return address. */
static bool find_signal(struct pdet_user_cache *c, uint64_t ip)
{
	uint8_t code[1 + PDET_SIGNAL_RETURN];

	if (read_memory(c, ip, code, sizeof(code)) < 0 ||
	    (!pdet_is_signal_return(code) && !pdet_is_signal_return(code + 1)))
		return false;
	pdet_signal_pair(ip, &c->pair);
	return true;
}

/* --- code that a compiler wrote at run time --- */

/* They also write into memory that has a name. */
static bool is_memory(const struct pdet_module_file *file)
{
	static const char *const names[] = { "/memfd:", "/dev/zero" };
	size_t i;

	for (i = 0; file->error == -EBADMSG && i < PDET_COUNT(names); i++)
		if (!strncmp(file->path, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool is_jit(struct pdet_code *c, const struct pdet_code_map *m)
{
	return m && m->exec &&
	       (!m->file || (pdet_code_file(c, m->file) < 0 &&
			     is_memory(m->file)));
}

/* Returns NULL, or the entry that has the code at @ip. */
static const struct pdet_perf_entry *find_entry(
	const struct pdet_user_cache *c, uint64_t ip)
{
	const struct pdet_perf_file *f = c->source->perf;

	return f && f->has_map && !c->source->dump ?
	       pdet_perf_map_find(&f->map, ip) : NULL;
}

static bool read_plain(struct pdet_user_cache *c, uint64_t start, uint64_t ip,
		       struct pdet_plain_code *ret)
{
	const uint64_t n = ip - start + 1;
	const size_t head = PDET_MIN(n, sizeof(ret->head));
	const size_t tail = PDET_MIN(n, sizeof(ret->tail));

	*ret = (struct pdet_plain_code){ .n = n };
	return read_memory(c, start, ret->head, head) == 0 &&
	       read_memory(c, ip + 1 - tail,
			   ret->tail + sizeof(ret->tail) - tail, tail) == 0;
}

/* Only with the map file it is known where a function starts. */
static bool find_plain(struct pdet_user_cache *c, uint64_t ip)
{
	const struct pdet_perf_entry *e;
	struct pdet_plain_code code;
	enum pdet_plain is;

	if (!is_jit(c->code, pdet_code_map_at(c->code, ip)))
		return false;
	e = find_entry(c, ip);
	if (!e || e->cut || !read_plain(c, e->start, ip, &code))
		return false;
	is = pdet_plain_pair(&code, ip, &c->pair);
	c->pair.guessed = is == PDET_PLAIN_LIKELY;
	return is != PDET_PLAIN_NOT;
}

static const struct pdet_frame_pair *find_pair(void *arg, uint64_t ip)
{
	struct pdet_user_cache *c = arg;

	c->pair.guessed = false;
	if (find_debug_frame(c, ip))
		return &c->pair;
	return c->machine == EM_X86_64 &&
	       (find_signal(c, ip) || find_plain(c, ip)) ?
	       &c->pair : NULL;
}

/* --- names --- */

static void name_jit(const struct pdet_user_cache *c,
		     const struct pdet_unwind_step *step,
		     struct pagedet_frame *f, uint64_t ip)
{
	const struct pdet_perf_file *perf = c->source->perf;
	const struct pdet_perf_entry *e = find_entry(c, ip);

	f->type = PAGEDET_FRAME_JIT;
	if (e && !e->cut) {
		f->function = perf->map.text.data + e->name;
		f->offset = f->address - e->start;
		f->bytes = e->end - e->start;
		f->why = !step->guessed ? NULL :
			 "the next frame is found by a frame pointer, which "
			 "no table proves";
		return;
	}
	f->why = c->source->dump ? "the map file of its compiler is not in the "
				   "dump" :
		 !perf ? "the map file of its compiler was not asked for: "
			 "option --perf-map" :
		 !perf->has_map ? perf->why : e ? perf->cut : perf->lacks;
}

static const char *why_unread(int error)
{
	switch (error) {
	case -ESTALE:
		return "the file was replaced";
	case -EXDEV:
		return "the file of this name cannot be told to be the "
		       "mapped one";
	case -EREMOTE:
		return "the file is not read: it is on a network filesystem "
		       "or FUSE";
	case -ENOSYS:
		return "needs libelf installed";
	case -ENODATA:
		return "the file is not in the dump";
	case -EFBIG:
		return "the file is too large";
	default:
		return "the file cannot be read";
	}
}

static void name_code(struct pagedet_frame *f, const struct pdet_code_map *m,
		      uint64_t ip)
{
	struct pdet_module_file *file = m->file;
	uint64_t place;

	f->module = file->path;
	if (file->error)
		f->why = why_unread(file->error);
	if (file->error || !place_of(m, ip, &place))
		return;
	f->file_address = place + (f->address - ip);
	f->build_id = file->elf.build_id.n ? file->build_id : NULL;
	if (file->debug.n_symbols)
		f->function = pdet_elf_file_symbol(&file->debug, place,
						   &f->offset, &f->bytes);
	if (!f->function)
		f->function = pdet_elf_file_symbol(&file->elf, place,
						   &f->offset, &f->bytes);
	if (f->function)
		f->offset += f->address - ip;
	else if (file->elf.refused || file->debug.refused)
		f->why = "the files of the process have too many symbols";
	else if (file->lost)
		f->why = file->lost == -ENODATA ?
			 "the dump does not have all of the file" :
			 "a part of the file cannot be read";
}

/* A return address may be that of the next function, if the call never returns:
 * the calling instruction is before it. */
static uint64_t code_of(const struct pdet_unwind_step *step)
{
	return step->exact || step->signal ? step->ip : step->ip - 1;
}

static void name_frame(struct pdet_user_cache *c,
		       const struct pdet_unwind_step *step,
		       struct pagedet_frame *f)
{
	const uint64_t ip = code_of(step);
	const struct pdet_code_map *m = pdet_code_map_at(c->code, ip);

	*f = (struct pagedet_frame){
		.address = step->ip, .type = PAGEDET_FRAME_UNKNOWN
	};
	if (!m || !m->exec)
		return;
	if (is_jit(c->code, m)) {
		name_jit(c, step, f, ip);
		return;
	}
	f->type = step->signal ? PAGEDET_FRAME_SIGNAL :
		  m->file->vdso ? PAGEDET_FRAME_VDSO : PAGEDET_FRAME_USER;
	name_code(f, m, ip);
}

static bool is_code(const struct pdet_user_cache *c,
		    const struct pdet_unwind_step *step)
{
	const struct pdet_code_map *m = pdet_code_map_at(c->code,
							 code_of(step));

	return m && m->exec;
}

/* The number of steps up to the first guess that does not lead to code. */
static size_t believed(const struct pdet_user_cache *c,
		       struct pdet_unwind_step *steps, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (steps[i - 1].guessed && !is_code(c, &steps[i])) {
			steps[i - 1].guessed = false;
			return i;
		}
	return n;
}

static void unwind(const struct pdet_unwinder *u,
		   const struct pdet_user_regs *regs, struct pdet_user_cache *c,
		   struct pdet_user_stack *ret)
{
	const struct pdet_unwind_target target = {
		read_memory, find_code, c, find_pair, find_rule
	};
	struct pdet_unwind_step steps[PDET_USER_FRAMES];
	const char *end;
	size_t i, n, found;

	c->machine = regs->compat ? EM_386 : regs->arm64 ? EM_AARCH64 :
		     EM_X86_64;
	found = c->machine != EM_X86_64 ?
		pdet_table_unwind(&target, regs, steps, PDET_COUNT(steps),
				   &end) :
		pdet_unwind(u, &target, regs, steps, PDET_COUNT(steps), &end);
	n = believed(c, steps, found);
	for (i = 0; i < n; i++)
		name_frame(c, &steps[i], &ret->frames[i]);
	ret->n = n;
	if (n < found)
		end = PDET_UNWIND_ASTRAY;
	if (end)
		ret->frames[ret->n++] = (struct pagedet_frame){
			.type = PAGEDET_FRAME_UNKNOWN, .why = end
		};
}

int pdet_user_stack_read(struct pdet_env *env, const struct pdet_unwinder *u,
			 uint32_t tid, const struct pdet_user_regs *regs,
			 const struct pdet_user_source *source,
			 struct pdet_user_stack *ret)
{
	struct pdet_user_cache *c;
	int r;

	ret->n = 0;
	if (!ret->cache)
		ret->cache = calloc(1, sizeof(*ret->cache));
	c = ret->cache;
	if (!c)
		return pdet_fail(env, ENOMEM, "no memory");
	c->source = source;
	c->code = &ret->code;
	ret->code.env = env;
	ret->code.pid = tid;
	ret->code.memory = (struct pdet_code_memory){
		read_memory, number_of_maps, c
	};
	ret->code.dump = source->dump;
	r = pdet_code_open(&ret->code);
	if (r < 0)
		return r;
	forget_pages(c);
	unwind(u, regs, c, ret);
	return 0;
}

void pdet_user_stack_free(struct pdet_user_stack *s)
{
	pdet_code_free(&s->code);
	free(s->cache);
	s->cache = NULL;
}
