/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * An entry says where the caller's stack pointer is, as a register and an
 * offset, and where bp was saved; the return address is below the former.
 */
#include <errno.h>
#include <string.h>

#include "kernel/orc.h"

/* The largest kernels have some millions. */
#define MOST_ENTRIES ((uint64_t)1 << 24)

enum { ENTRY_SP_OFFSET, ENTRY_BP_OFFSET, ENTRY_SP_REG, ENTRY_BP_REG,
       ENTRY_TYPE, ENTRY_SIGNAL, ENTRY_END, ENTRY_FIELDS };
static const pdet_field_names entry_names[ENTRY_FIELDS] = {
	[ENTRY_SP_OFFSET] = { "orc_entry.sp_offset" },
	[ENTRY_BP_OFFSET] = { "orc_entry.bp_offset" },
	[ENTRY_SP_REG] = { "orc_entry.sp_reg" },
	[ENTRY_BP_REG] = { "orc_entry.bp_reg" },
	[ENTRY_TYPE] = { "orc_entry.type" },
	[ENTRY_SIGNAL] = { "orc_entry.signal" },
	/* until a type of its own came for it: fb799447ae29, 6.4 */
	[ENTRY_END] = { "orc_entry.end" },
};

enum { MODULE_IPS, MODULE_ENTRIES, MODULE_N, MODULE_FIELDS };
static const pdet_field_names module_names[MODULE_FIELDS] = {
	[MODULE_IPS] = { "module.arch.orc_unwind_ip" },
	[MODULE_ENTRIES] = { "module.arch.orc_unwind" },
	[MODULE_N] = { "module.arch.num_orcs" },
};

enum { REGS_IP, REGS_SP, REGS_BP, REGS_CS, REGS_R10, REGS_R13, REGS_DI,
       REGS_DX, REGS_FIELDS };
static const pdet_field_names regs_names[REGS_FIELDS] = {
	[REGS_IP] = { "pt_regs.ip" }, [REGS_SP] = { "pt_regs.sp" },
	[REGS_BP] = { "pt_regs.bp" }, [REGS_CS] = { "pt_regs.cs" },
	[REGS_R10] = { "pt_regs.r10" }, [REGS_R13] = { "pt_regs.r13" },
	[REGS_DI] = { "pt_regs.di" }, [REGS_DX] = { "pt_regs.dx" },
};

enum reg {
	UNDEFINED, PREV_SP, DX, DI, BP, SP, R10, R13, BP_INDIRECT, SP_INDIRECT
};

enum type { NOT_KNOWN, END_OF_STACK, CALL, REGS, REGS_PARTIAL };

struct entry {
	int16_t sp_offset, bp_offset;
	enum reg sp_reg, bp_reg;
	enum type type;
	bool signal;
};

bool pdet_orc_init(struct pdet_orc *o, const struct pdet_btf *btf,
		   const struct pdet_orc_table *kernel,
		   const struct pdet_modules *modules)
{
	unsigned i;

	memset(o, 0, sizeof(*o));
	o->kernel = *kernel;
	pdet_struct_find(&o->entry, btf, entry_names, ENTRY_FIELDS);
	pdet_struct_find(&o->regs, btf, regs_names, REGS_FIELDS);
	pdet_struct_find(&o->module, btf, module_names, MODULE_FIELDS);
	o->old = pdet_struct_has(&o->entry, ENTRY_END);
	for (i = 0; modules && i < MODULE_FIELDS; i++)
		if (!pdet_struct_has(&o->module, i))
			modules = NULL;
	o->modules = modules;
	for (i = ENTRY_SP_OFFSET; i <= ENTRY_TYPE; i++)
		if (!pdet_struct_has(&o->entry, i))
			return false;
	for (i = 0; i < REGS_FIELDS; i++)
		if (!pdet_struct_has(&o->regs, i))
			return false;
	return pdet_btf_struct_size(btf, "orc_entry", &o->size) &&
	       o->size >= o->entry.first + o->entry.bytes &&
	       kernel->n && kernel->n <= MOST_ENTRIES;
}

/* --- entries --- */

static int ip_at(struct pdet_space *space, const struct pdet_orc_table *t,
		 uint64_t i, uint64_t *ret)
{
	const uint64_t at = t->ips + i * sizeof(uint32_t);
	uint32_t offset;
	int r = pdet_space_u32(space, at, &offset);

	/* from where it stands itself */
	*ret = at + (uint64_t)(int64_t)(int32_t)offset;
	return r == -ENOENT ? -EBADMSG : r;
}

/* The last that begins at or before @ip. */
static int search(struct pdet_space *space, const struct pdet_orc_table *t,
		  uint64_t ip, uint64_t *ret)
{
	uint64_t low = 0, high = t->n, mid, at;
	int r;

	while (low < high) {
		mid = low + (high - low) / 2;
		r = ip_at(space, t, mid, &at);
		if (r < 0)
			return r;
		if (at <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	/* Where the last one ends is not known. */
	if (!low || low == t->n)
		return -ENOENT;
	*ret = low - 1;
	return 0;
}

static int module_table(struct pdet_space *space, const struct pdet_orc *o,
			uint64_t ip, struct pdet_orc_table *ret)
{
	struct pdet_module module;
	char buf[PDET_STRUCT_BYTES];
	int r = o->modules ?
		pdet_module_find(space, o->modules, ip, &module) : -ENOENT;

	if (r == 0)
		r = pdet_struct_read(space, &o->module, module.addr, buf);
	if (r < 0)
		return r;
	ret->ips = pdet_struct_get(&o->module, buf, MODULE_IPS);
	ret->entries = pdet_struct_get(&o->module, buf, MODULE_ENTRIES);
	ret->n = pdet_struct_get(&o->module, buf, MODULE_N);
	return !ret->n ? -ENOENT :
	       ret->n > MOST_ENTRIES || !pdet_is_address(ret->ips) ||
	       !pdet_is_address(ret->entries) ? -EBADMSG : 0;
}

static int read_entry(struct pdet_space *space, const struct pdet_orc *o,
		      uint64_t addr, struct entry *ret)
{
	const struct pdet_struct *s = &o->entry;
	char buf[PDET_STRUCT_BYTES];
	int r = pdet_struct_read(space, s, addr, buf);

	if (r < 0)
		return r;
	ret->sp_offset = (int16_t)pdet_struct_get(s, buf, ENTRY_SP_OFFSET);
	ret->bp_offset = (int16_t)pdet_struct_get(s, buf, ENTRY_BP_OFFSET);
	ret->sp_reg = (enum reg)pdet_struct_get(s, buf, ENTRY_SP_REG);
	ret->bp_reg = (enum reg)pdet_struct_get(s, buf, ENTRY_BP_REG);
	ret->type = (enum type)pdet_struct_get(s, buf, ENTRY_TYPE);
	ret->signal = pdet_struct_get(s, buf, ENTRY_SIGNAL);
	if (o->old)
		ret->type = pdet_struct_get(s, buf, ENTRY_END) ?
			    END_OF_STACK : ret->sp_reg == UNDEFINED ?
			    NOT_KNOWN : (enum type)(ret->type + CALL);
	/* until ffb1b4a41016, 6.3, the type told */
	if (!pdet_struct_has(s, ENTRY_SIGNAL))
		ret->signal = ret->type == REGS || ret->type == REGS_PARTIAL;
	return 0;
}

static int find_entry(struct pdet_space *space, const struct pdet_orc *o,
		      uint64_t ip, struct entry *ret)
{
	struct pdet_orc_table table = o->kernel;
	uint64_t i;
	int r = search(space, &table, ip, &i);

	if (r == -ENOENT) {
		r = module_table(space, o, ip, &table);
		if (r == 0)
			r = search(space, &table, ip, &i);
	}
	return r < 0 ? r :
	       read_entry(space, o, table.entries + i * o->size, ret);
}

/* --- steps --- */

static int read_word(struct pdet_space *space, uint64_t at, uint64_t *ret)
{
	int r = pdet_is_address(at) ? pdet_space_u64(space, at, ret) : -EBADMSG;

	return r == -ENOENT ? -EBADMSG : r;
}

/* One of the registers that an interrupt saved. */
static int saved(struct pdet_space *space, const struct pdet_orc *o,
		 const struct pdet_orc_state *s, unsigned i, uint64_t *ret)
{
	return s->regs ? pdet_struct_value(space, &o->regs, s->regs, i, ret) :
			 -EBADMSG;
}

static int find_sp(struct pdet_space *space, const struct pdet_orc *o,
		   const struct pdet_orc_state *s, const struct entry *e,
		   uint64_t *ret)
{
	const uint64_t offset = (uint64_t)(int64_t)e->sp_offset;
	uint64_t sp;
	int r = 0;

	switch (e->sp_reg) {
	case SP:
		*ret = s->sp + offset;
		return 0;
	case BP:
		*ret = s->bp + offset;
		return 0;
	case BP_INDIRECT:
		return read_word(space, s->bp + offset, ret);
	case SP_INDIRECT:
		r = read_word(space, s->sp, &sp);
		*ret = sp + offset;
		return r;
	case R10:
		return saved(space, o, s, REGS_R10, ret);
	case R13:
		return saved(space, o, s, REGS_R13, ret);
	case DI:
		return saved(space, o, s, REGS_DI, ret);
	case DX:
		return saved(space, o, s, REGS_DX, ret);
	default:
		return -EBADMSG;
	}
}

static int find_bp(struct pdet_space *space, const struct pdet_orc *o,
		   const struct pdet_orc_state *s, const struct entry *e,
		   uint64_t sp, uint64_t *ret)
{
	const uint64_t offset = (uint64_t)(int64_t)e->bp_offset;

	*ret = s->bp;
	switch (e->bp_reg) {
	case UNDEFINED:
		return s->regs ? saved(space, o, s, REGS_BP, ret) : 0;
	case PREV_SP:
		return read_word(space, sp + offset, ret);
	case BP:
		return read_word(space, s->bp + offset, ret);
	default:
		return -EBADMSG;
	}
}

/* What an interrupt, an exception or a system call left; 0 if it came from user
 * code, where the kernel's stack begins. */
static int load_regs(struct pdet_space *space, const struct pdet_orc *o,
		     uint64_t regs, struct pdet_orc_state *s)
{
	uint64_t cs;
	int r = pdet_struct_value(space, &o->regs, regs, REGS_CS, &cs);

	if (r == 0)
		r = pdet_struct_value(space, &o->regs, regs, REGS_IP, &s->ip);
	if (r == 0)
		r = pdet_struct_value(space, &o->regs, regs, REGS_SP, &s->sp);
	return r < 0 ? r : !(cs & 3);
}

static int call(struct pdet_space *space, uint64_t sp, struct pdet_orc_state *s)
{
	int r = read_word(space, sp - 8, &s->ip);

	s->sp = sp;
	s->regs = 0;
	return r < 0 ? r : 1;
}

int pdet_orc_next(struct pdet_space *space, const struct pdet_orc *o,
		  struct pdet_orc_state *s)
{
	const struct pdet_orc_state was = *s;
	struct entry e;
	uint64_t sp, bp;
	int r;

	/* A call may be the last of its function. */
	r = find_entry(space, o, s->signal ? s->ip : s->ip - 1, &e);
	if (r < 0)
		return r;
	if (e.type == END_OF_STACK)
		return 0;
	if (e.type == NOT_KNOWN)
		return -ENOENT;
	r = find_sp(space, o, &was, &e, &sp);
	if (r == 0)
		r = find_bp(space, o, &was, &e, sp, &bp);
	if (r < 0)
		return r;
	switch (e.type) {
	case CALL:
		r = call(space, sp, s);
		break;
	case REGS:
		r = load_regs(space, o, sp, s);
		s->regs = sp;
		break;
	case REGS_PARTIAL:
		/* What the processor pushes is the end of a pt_regs. */
		r = load_regs(space, o, sp - (uint64_t)
			      o->regs.field[REGS_IP].at, s);
		s->regs = 0;
		break;
	default:
		return -EBADMSG;
	}
	s->bp = bp;
	s->signal = e.signal;
	/* Callers are above, but where an interrupt came on a stack of its
	 * own. */
	return r > 0 && ((e.type == CALL && s->sp <= was.sp) ||
			 !pdet_is_address(s->ip)) ? -EBADMSG : r;
}
