/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Unwinds with ORC entries. An entry gives the caller's stack pointer as a
 * register plus an offset, and the place of the saved bp. The return address is
 * just below that stack pointer.
 */
#include <errno.h>
#include <string.h>

#include "base/env.h"
#include "symbol/orc.h"

/* The largest kernels have a few million. */
#define MOST_ENTRIES ((uint64_t)1 << 24)

/* Stacks that are not the task's: of interrupts, the entry, and six of
 * exceptions (arch/x86/include/asm/cpu_entry_area.h). */
#define STACKS 8

enum { ENTRY_SP_OFFSET, ENTRY_BP_OFFSET, ENTRY_SP_REG, ENTRY_BP_REG,
       ENTRY_TYPE, ENTRY_SIGNAL, ENTRY_END, ENTRY_FIELDS };
static const pdet_field_names entry_names[ENTRY_FIELDS] = {
	[ENTRY_SP_OFFSET] = { "orc_entry.sp_offset" },
	[ENTRY_BP_OFFSET] = { "orc_entry.bp_offset" },
	[ENTRY_SP_REG] = { "orc_entry.sp_reg" },
	[ENTRY_BP_REG] = { "orc_entry.bp_reg" },
	[ENTRY_TYPE] = { "orc_entry.type" },
	[ENTRY_SIGNAL] = { "orc_entry.signal" },
	/* before the end of the stack became a type in 6.4 (fb799447ae29) */
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

/* STRANGE: no number of a register that libpagedet can use. */
enum reg {
	STRANGE, UNDEFINED, PREV_SP, DX, DI, BP, SP, R10, R13, BP_INDIRECT,
	SP_INDIRECT
};
#define REGISTERS 16

/*
 * From arch/x86/include/asm/orc_types.h. Number 1 is AX since 7.1, and is not
 * used here.
 */
static const uint8_t registers[REGISTERS] = {
	UNDEFINED, PREV_SP, DX, DI, BP, SP, R10, R13, BP_INDIRECT, SP_INDIRECT
};
static const uint8_t registers_7_1[REGISTERS] = {
	UNDEFINED, STRANGE, DX, SP, BP, DI, R10, R13, PREV_SP, SP_INDIRECT,
	BP_INDIRECT
};

/* Seen in Debian's kernels 6.12 to 7.0, and 7.1 to 7.3. */
static const struct {
	uint8_t version[PDET_ORC_VERSION];
	const uint8_t *registers;
} known[] = {
	{ { 0 }, registers },
	{ { 0xfe, 0x5d, 0x32, 0xbf, 0x58, 0x1b, 0xd6, 0x3b, 0x2c, 0xa9,
	    0xa5, 0xc6, 0x5b, 0xa5, 0xa6, 0x25, 0xea, 0xb3, 0xfe, 0x24 },
	  registers },
	{ { 0x13, 0x7c, 0x36, 0xad, 0x76, 0x27, 0xc4, 0xdd, 0x55, 0x93,
	    0x21, 0x76, 0xbb, 0x0e, 0xcd, 0xbd, 0x50, 0x41, 0xfc, 0x82 },
	  registers_7_1 },
};

enum type { NOT_KNOWN, END_OF_STACK, CALL, REGS, REGS_PARTIAL };

struct entry {
	int16_t sp_offset, bp_offset;
	enum reg sp_reg, bp_reg;
	enum type type;
	bool signal;
};

static const uint8_t *registers_of(const struct pdet_orc_table *kernel)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(known); i++)
		if (!memcmp(kernel->version, known[i].version,
			    PDET_ORC_VERSION))
			return known[i].registers;
	return NULL;
}

bool pdet_orc_is_known(const struct pdet_orc_table *kernel)
{
	return registers_of(kernel);
}

bool pdet_orc_init(struct pdet_orc *o, const struct pdet_btf *btf,
		   const struct pdet_orc_table *kernel,
		   const struct pdet_modules *modules)
{
	unsigned i;

	memset(o, 0, sizeof(*o));
	o->kernel = *kernel;
	o->registers = registers_of(kernel);
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
	       kernel->n && kernel->n <= MOST_ENTRIES && o->registers;
}

/* --- entries --- */

static int ip_at(struct pdet_space *space, const struct pdet_orc_table *t,
		 uint64_t i, uint64_t *ret)
{
	const uint64_t at = t->ips + i * sizeof(uint32_t);
	uint32_t offset;
	int r = pdet_space_u32(space, at, &offset);

	/* relative to its own address */
	*ret = at + (uint64_t)(int64_t)(int32_t)offset;
	return r == -ENOENT ? -EBADMSG : r;
}

/* The last entry that begins at or before @ip. */
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
	/* The end of the last entry is unknown. */
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

static enum reg reg_of(const struct pdet_orc *o, uint64_t number)
{
	return number < REGISTERS ? (enum reg)o->registers[number] : STRANGE;
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
	ret->sp_reg = reg_of(o, pdet_struct_get(s, buf, ENTRY_SP_REG));
	ret->bp_reg = reg_of(o, pdet_struct_get(s, buf, ENTRY_BP_REG));
	ret->type = (enum type)pdet_struct_get(s, buf, ENTRY_TYPE);
	ret->signal = pdet_struct_get(s, buf, ENTRY_SIGNAL);
	if (o->old)
		ret->type = pdet_struct_get(s, buf, ENTRY_END) ?
			    END_OF_STACK : ret->sp_reg == UNDEFINED ?
			    NOT_KNOWN : (enum type)(ret->type + CALL);
	/* until 6.3 (ffb1b4a41016) it depended on the type */
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

/* A register from a saved pt_regs. */
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

/* Load the pt_regs of an interrupt, exception or system call. Returns 0 if it
 * came from user code, where the kernel's stack begins. */
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

/* Callers are higher on the stack, except where an exception switched stacks,
 * or the call of an interrupt's handler did, which left the old stack pointer
 * on the new stack. No stack is there twice. */
static bool leads_on(const struct entry *e, uint64_t from,
		     struct pdet_orc_state *s)
{
	return s->sp > from || ((e->type != CALL || e->sp_reg == SP_INDIRECT) &&
				s->left++ < STACKS);
}

int pdet_orc_next(struct pdet_space *space, const struct pdet_orc *o,
		  struct pdet_orc_state *s)
{
	const struct pdet_orc_state was = *s;
	struct entry e;
	uint64_t sp, bp;
	int r;

	/*
	 * Look up the call instruction itself, which may be the last one of its
	 * function.
	 */
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
		/* The hardware frame is the end of a pt_regs. */
		r = load_regs(space, o, sp - (uint64_t)
			      o->regs.field[REGS_IP].at, s);
		s->regs = 0;
		break;
	default:
		return -EBADMSG;
	}
	s->bp = bp;
	s->signal = e.signal;
	return r > 0 && (!leads_on(&e, was.sp, s) || !pdet_is_address(s->ip)) ?
	       -EBADMSG : r;
}
