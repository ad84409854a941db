/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Answers fields from page_owner's records and from pageblock bits. The records
 * of many pages are read together. An impossible number in a record is reported
 * as corrupt; the other fields are still answered.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/image/kernel.h"
#include "backend/image/page_owner.h"

/* Most bytes of records in one read. */
#define RECORD_BYTES ((size_t)64 << 10)
/* PID_MAX_LIMIT */
#define MOST_PID ((uint32_t)4 << 20)

#define BIT(name) ((uint64_t)1 << PAGEDET_FIELD_##name)

/* All fields about the allocation. */
static const struct pdet_fields of_allocation = { {
	BIT(ALLOC_STACK) | BIT(FREE_STACK) | BIT(ALLOC_PID) | BIT(ALLOC_TGID) |
	BIT(ALLOC_COMM) | BIT(GFP_MASK) | BIT(GFP) | BIT(ALLOC_ORDER) |
	BIT(ALLOCATOR) | BIT(ALLOC_NS) | BIT(FREE_NS) | BIT(MIGRATE_REASON),
	(uint64_t)1 << (PAGEDET_FIELD_PAGE_MOBILITY - 64)
} };

/* --- loading --- */

static int fail_off(struct image_part *part, struct pdet_env *env,
		    const char *why)
{
	pdet_fail(env, ENOTSUP, "%s", why);
	return pdet_image_note(part, env, -ENOTSUP);
}

static int fail_read(struct image_part *part, struct pdet_env *env, int error)
{
	if (error == -ENODATA)
		pdet_fail(env, ENODATA, "cannot find page_owner's records: the "
			  "symbols, the types (BTF) or the dump lack what is "
			  "needed");
	else
		pdet_fail(env, -error, "cannot read page_owner's records: %s",
			  error == -EBADMSG ? "they are damaged" :
					      strerror(-error));
	return pdet_image_note(part, env, error);
}

enum { EXT_SIZE, OWNER_OPS, POOLS, SLABS, GFP_NAMES, REASONS, UNGROUPED,
       SYMBOLS };

static uint64_t address_of(const struct pdet_symbol *s)
{
	return s->found ? s->address : 0;
}

/* If the tables of names are missing, numbers are shown. */
static void load_names(struct image *im, const struct pdet_symbol s[SYMBOLS])
{
	struct image_page_owner *o = &im->page_owner;

	o->has_depot = pdet_stackdepot_init(&o->depot, im->btf,
			address_of(&s[s[POOLS].found ? POOLS : SLABS]));
	if (pdet_gfp_names_read(&o->gfp, &im->space, im->btf,
				address_of(&s[GFP_NAMES])) < 0)
		o->gfp.n = 0;
	o->has_mobility = !pdet_gfp_mobility_read(&o->mobility, &im->space,
			&o->gfp, address_of(&s[UNGROUPED]));
	if (pdet_migrate_reasons_read(&o->reasons, &im->space, im->btf,
				      address_of(&s[REASONS])) < 0)
		o->reasons.n = 0;
}

static int load(struct image *im, struct pdet_env *env)
{
	struct pdet_symbol s[SYMBOLS] = {
		[EXT_SIZE] = { .name = "page_ext_size" },
		[OWNER_OPS] = { .name = "page_owner_ops" },
		[POOLS] = { .name = "stack_pools" },
		[SLABS] = { .name = "stack_slabs" },	/* until 6.2 */
		[GFP_NAMES] = { .name = "gfpflag_names" },
		[REASONS] = { .name = "migrate_reason_names" },
		[UNGROUPED] = { .name = "page_group_by_mobility_disabled" },
	};
	struct image_page_owner *o = &im->page_owner;
	struct pdet_page_owner_symbols at;
	uint64_t size;
	int r;

	if (!pdet_btf_struct_size(im->btf, "page_owner", &size))
		return fail_off(&im->page_owners, env,
				"the kernel was built without "
				"CONFIG_PAGE_OWNER: needs a kernel with it, "
				"started with page_owner=on");
	if (pdet_image_symbols(im, env) < 0)
		return pdet_image_note_like(&im->page_owners, &im->symbols);
	pdet_image_find(im, env, s, SYMBOLS);
	at.page_ext_size = address_of(&s[EXT_SIZE]);
	at.page_owner_ops = address_of(&s[OWNER_OPS]);
	r = pdet_page_owners_init(&o->records, &im->space, im->btf, &at);
	if (r == -ENOTSUP)
		return fail_off(&im->page_owners, env, "page_owner is off: "
				"start the kernel with page_owner=on");
	if (r == 0 && !o->has_lock && pthread_mutex_init(&o->lock, NULL))
		r = -ENOMEM;
	if (r < 0)
		return fail_read(&im->page_owners, env, r);
	o->has_lock = true;
	load_names(im, s);
	return 0;
}

int pdet_image_pageblocks(struct image *im, struct pdet_env *env)
{
	if (im->pageblocks.tried)
		return im->pageblocks.error;
	im->pageblocks.tried = true;
	if (pdet_image_types(im, env) < 0)
		return pdet_image_note_like(&im->pageblocks, &im->types);
	if (pdet_pageblocks_init(&im->page_owner.blocks, im->btf, &im->paging,
				 &im->layout))
		return 0;
	pdet_fail(env, ENODATA, "cannot read page blocks: the types (BTF) do "
		  "not say enough");
	return pdet_image_note(&im->pageblocks, env, -ENODATA);
}

int pdet_image_block_order(struct pdet_backend *b, struct pdet_env *env)
{
	struct image *im = image_of(b);
	const int r = pdet_image_pageblocks(im, env);

	return r < 0 ? r : (int)im->page_owner.blocks.shift;
}

int pdet_image_page_owners(struct image *im, struct pdet_env *env)
{
	if (im->page_owners.tried)
		return im->page_owners.error;
	im->page_owners.tried = true;
	if (pdet_image_types(im, env) < 0)
		return pdet_image_note_like(&im->page_owners, &im->types);
	return load(im, env);
}

void pdet_image_page_owner_prepare(struct image *im, struct pdet_env *env,
				   const struct pdet_wants *wants)
{
	static const uint8_t named[] = {
		PAGEDET_FIELD_ALLOC_STACK, PAGEDET_FIELD_FREE_STACK,
		PAGEDET_FIELD_ALLOCATOR,
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(named); i++)
		if (pdet_fields_has(&wants->fields, named[i]) &&
		    im->page_owner.has_depot)
			pdet_image_kernel_names(im, env);
}

void pdet_image_page_owner_unload(struct image *im)
{
	struct image_page_owner *o = &im->page_owner;

	pdet_pairs_free(&o->number_of);
	if (o->has_lock)
		pthread_mutex_destroy(&o->lock);
}

/* --- rows --- */

struct putting {
	struct image_session *s;
	struct pdet_batch *b;
	const struct pdet_fields *want;
	unsigned source;
	char *records;
	char *again;		/* on a running kernel: second copy of the same
				 * records */
};

static bool wants(const struct putting *p, unsigned field)
{
	return pdet_fields_has(p->want, field);
}

static void put(const struct putting *p, uint32_t row, unsigned field,
		uint64_t value)
{
	if (wants(p, field))
		pdet_put(p->b, row, field, value, p->source);
}

static void put_state(const struct putting *p, uint32_t row, unsigned field,
		      unsigned state)
{
	if (wants(p, field))
		pdet_put_lost(p->b, row, field, state, p->source);
}

static void put_text(const struct putting *p, uint32_t row, unsigned field,
		     const char *text, size_t len)
{
	if (wants(p, field))
		pdet_put_text(p->b, row, field, text, len, p->source);
}

static void put_states(const struct putting *p, uint32_t row, uint32_t n,
		       unsigned state)
{
	unsigned f;

	pdet_fields_for(f, &of_allocation)
		if (wants(p, f))
			pdet_put_lost_run(p->b, row, n, f, state, p->source);
}

static void put_stack(const struct putting *p, uint32_t row, unsigned field,
		      uint32_t number, bool allocator)
{
	const bool named = allocator && wants(p, PAGEDET_FIELD_ALLOCATOR);
	struct image_stack stack = { .error = 0 };
	unsigned state = PAGEDET_NONE;

	if (!named && !wants(p, field))
		return;
	if (number && !p->s->image->page_owner.has_depot) {
		state = PAGEDET_NO_TYPES;
	} else if (number) {
		stack = pdet_image_stack(p->s, number);
		state = stack.error ? pdet_image_kernel_reason(p->s,
							       stack.error) :
				      PAGEDET_HAVE;
	}
	if (state == PAGEDET_HAVE)
		put(p, row, field, stack.id);
	else
		put_state(p, row, field, state);
	if (state == PAGEDET_HAVE && !stack.allocator)
		state = PAGEDET_UNSUPPORTED;
	if (named && state == PAGEDET_HAVE)
		put_text(p, row, PAGEDET_FIELD_ALLOCATOR, stack.allocator,
			 strlen(stack.allocator));
	else if (named)
		put_state(p, row, PAGEDET_FIELD_ALLOCATOR, state);
}

static void put_gfp(const struct putting *p, uint32_t row, uint32_t gfp)
{
	const struct pdet_gfp_names *names = &p->s->image->page_owner.gfp;
	char text[PDET_GFP_TEXT];

	put(p, row, PAGEDET_FIELD_GFP_MASK, gfp);
	if (!wants(p, PAGEDET_FIELD_GFP))
		return;
	if (names->n)
		put_text(p, row, PAGEDET_FIELD_GFP, text,
			 pdet_gfp_text(names, gfp, text));
	else
		put_state(p, row, PAGEDET_FIELD_GFP, PAGEDET_NO_TYPES);
}

static void put_mobility(const struct putting *p, uint32_t row, uint32_t gfp)
{
	const struct image_page_owner *o = &p->s->image->page_owner;
	const unsigned field = PAGEDET_FIELD_PAGE_MOBILITY;
	const char *type;

	if (!o->has_mobility) {
		put_state(p, row, field, PAGEDET_NO_TYPES);
		return;
	}
	type = pdet_gfp_mobility(&o->mobility, gfp);
	put_text(p, row, field, type, strlen(type));
}

static void put_pid(const struct putting *p, uint32_t row, unsigned field,
		    uint32_t pid, bool kept)
{
	if (!kept)
		put_state(p, row, field, PAGEDET_NO_KERNEL);
	else if (pid > MOST_PID)
		put_state(p, row, field, PAGEDET_CORRUPT);
	else
		put(p, row, field, pid);
}

static void put_reason(const struct putting *p, uint32_t row, int32_t reason)
{
	const struct pdet_migrate_reasons *names =
		&p->s->image->page_owner.reasons;
	const unsigned field = PAGEDET_FIELD_MIGRATE_REASON;

	if (reason == -1)
		put_state(p, row, field, PAGEDET_NONE);
	else if (!names->n)
		put_state(p, row, field, PAGEDET_NO_TYPES);
	else if (reason < 0 || (uint32_t)reason >= names->n)
		put_state(p, row, field, PAGEDET_CORRUPT);
	else
		put_text(p, row, field, names->name[reason],
			 strlen(names->name[reason]));
}

/* An allocation cannot be larger than memory. */
static bool is_order(const struct pdet_memmap *m, uint32_t order)
{
	return order < 64 &&
	       (uint64_t)1 << order <= m->n_sections << m->section_shift;
}

static void put_allocation(const struct putting *p, uint32_t row,
			   const struct pdet_page_owner *o)
{
	put_stack(p, row, PAGEDET_FIELD_ALLOC_STACK, o->stack, true);
	put_pid(p, row, PAGEDET_FIELD_ALLOC_PID, o->pid, o->has_pid);
	put_pid(p, row, PAGEDET_FIELD_ALLOC_TGID, o->tgid, o->has_tgid);
	if (o->has_comm)
		put_text(p, row, PAGEDET_FIELD_ALLOC_COMM, o->comm,
			 strlen(o->comm));
	else
		put_state(p, row, PAGEDET_FIELD_ALLOC_COMM, PAGEDET_NO_KERNEL);
	put_gfp(p, row, o->gfp);
	put_mobility(p, row, o->gfp);
	if (is_order(&p->s->image->memmap, o->order))
		put(p, row, PAGEDET_FIELD_ALLOC_ORDER, o->order);
	else
		put_state(p, row, PAGEDET_FIELD_ALLOC_ORDER, PAGEDET_CORRUPT);
	if (o->has_ns)
		put(p, row, PAGEDET_FIELD_ALLOC_NS, o->ns);
	else
		put_state(p, row, PAGEDET_FIELD_ALLOC_NS, PAGEDET_NO_KERNEL);
	put_reason(p, row, o->migrate_reason);
}

static void put_record(const struct putting *p, uint32_t row,
		       const struct pdet_page_owner *o)
{
	if (o->known)
		put_allocation(p, row, o);
	else
		put_states(p, row, 1, PAGEDET_NONE);
	put_stack(p, row, PAGEDET_FIELD_FREE_STACK, o->free_stack, false);
	if (o->free_ns)
		put(p, row, PAGEDET_FIELD_FREE_NS, o->free_ns);
	else
		put_state(p, row, PAGEDET_FIELD_FREE_NS, o->has_free_ns ?
			  PAGEDET_NONE : PAGEDET_NO_KERNEL);
}

static void put_records(const struct putting *p, uint32_t row, uint32_t n)
{
	const struct pdet_page_owners *types =
		&p->s->image->page_owner.records;
	struct pdet_page_owner o;
	uint32_t i;

	for (i = 0; i < n; i++) {
		const size_t at = i * types->size;

		if (p->again && memcmp(p->records + at, p->again + at,
				       types->size))
			put_states(p, row + i, 1, PAGEDET_RACED);
		else if (pdet_page_owner_get(types, p->records + at, &o))
			put_record(p, row + i, &o);
		else
			put_states(p, row + i, 1, PAGEDET_NONE);
	}
}

/*
 * Read consecutive records together. If that fails, read them in smaller and
 * smaller parts.
 */
static void read_records(const struct putting *p, uint32_t row, uint32_t n,
			 uint64_t addr)
{
	const uint64_t size = p->s->image->page_owner.records.size;
	int r = pdet_space_read(&p->s->space, addr, p->records, n * size);

	if (r == 0 && p->again)
		r = pdet_space_read(&p->s->space, addr, p->again, n * size);
	if (r == 0) {
		put_records(p, row, n);
	} else if (n == 1) {
		put_states(p, row, 1, pdet_image_reason(r));
	} else {
		read_records(p, row, n / 2, addr);
		read_records(p, row + n / 2, n - n / 2, addr + n / 2 * size);
	}
}

/* Put rows of consecutive frames. */
static void put_owners(const struct putting *p, uint32_t row, uint64_t pfn,
		       uint32_t n)
{
	const struct image *im = p->s->image;
	const uint64_t section = (uint64_t)1 << im->memmap.section_shift;
	uint32_t some;
	uint64_t addr;
	int r;

	for (; n; n -= some, row += some, pfn += some) {
		some = (uint32_t)(RECORD_BYTES / im->page_owner.records.size);
		some = PDET_MIN(some, n);
		some = (uint32_t)PDET_MIN((uint64_t)some,
					  section - pfn % section);
		if (pdet_memmap_is(&im->memmap, pfn, &r) == PDET_MEMMAP_LOST) {
			put_states(p, row, some, pdet_image_reason(r));
			continue;
		}
		r = pdet_page_owner_at(&p->s->space, &im->page_owner.records,
				       &im->memmap, pfn, &addr);
		if (r == 0)
			read_records(p, row, some, addr);
		else
			put_states(p, row, some, r == -ENOENT ? PAGEDET_NONE :
				   pdet_image_reason(r));
	}
}

/*
 * Whether the kernel has set the bits of the block that begins at @pfn: 0;
 * -ENOENT: its struct page, and therefore the bits, are still uninitialised; or
 * why that is not known.
 */
static int look_at_first(const struct putting *p, uint64_t pfn)
{
	const struct image *im = p->s->image;
	const uint64_t addr = pdet_memmap_page(&im->memmap, pfn);
	char page[PDET_PAGE_BYTES];
	uint64_t head;
	int r = pdet_space_read(&p->s->space, addr, page,
				im->memmap.page_size);

	/* A part of a block may have no struct pages. */
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return pdet_page_is(&im->layout, page, NULL, addr, &head) ==
	       PDET_PAGE_UNINIT ? -ENOENT : 0;
}

static void put_blocks(const struct putting *p, uint32_t row, uint64_t pfn,
		       uint32_t n)
{
	const unsigned field = PAGEDET_FIELD_MIGRATETYPE;
	const struct image *im = p->s->image;
	const struct pdet_pageblocks *blocks = &im->page_owner.blocks;
	const char *type = NULL;
	uint64_t block = UINT64_MAX;
	int error, r = 0;

	for (; n; n--, row++, pfn++) {
		const enum pdet_memmap_is is = pdet_memmap_is(&im->memmap, pfn,
							      &error);

		if (is == PDET_MEMMAP_LOST) {
			put_state(p, row, field, pdet_image_reason(error));
			continue;
		}
		if (is != PDET_MEMMAP_USED && is != PDET_MEMMAP_SHARED) {
			put_state(p, row, field, PAGEDET_NONE);
			continue;
		}
		if (pfn >> blocks->shift != block) {
			type = NULL;
			block = pfn >> blocks->shift;
			r = look_at_first(p, block << blocks->shift);
			if (r == 0)
				r = pdet_pageblock_type(&p->s->space, blocks,
							&im->memmap,
							&im->layout, pfn,
							&type);
		}
		if (type)
			put_text(p, row, field, type, strlen(type));
		else
			put_state(p, row, field, r == -ENOENT ? PAGEDET_NONE :
				  pdet_image_reason(r));
	}
}

/*
 * A row does not always have a frame. Then these fields get the state of its
 * pfn.
 */
static void put_like_pfn(const struct putting *p, uint32_t row)
{
	const uint16_t cell = p->b->cell[PAGEDET_FIELD_PFN][row];
	unsigned f;

	pdet_fields_for(f, &of_allocation)
		if (wants(p, f))
			pdet_put_cells(p->b, row, 1, f, 0, cell);
	if (wants(p, PAGEDET_FIELD_MIGRATETYPE))
		pdet_put_cells(p->b, row, 1, PAGEDET_FIELD_MIGRATETYPE, 0,
			       cell);
}

int pdet_image_put_page_owner(struct image_session *s, struct pdet_batch *b,
			      const struct pdet_fields *want, unsigned source)
{
	struct putting p = { .s = s, .b = b, .want = want, .source = source };
	const uint64_t *pfn = b->value[PAGEDET_FIELD_PFN];
	const bool owners = pdet_fields_meet(want, &of_allocation);
	const bool live = s->image->memory->live;
	uint32_t row, end;

	if (!owners && !wants(&p, PAGEDET_FIELD_MIGRATETYPE))
		return 0;
	if (owners && !s->records)
		s->records = malloc((live ? 2 : 1) * RECORD_BYTES);
	if (owners && !s->records)
		return -ENOMEM;
	p.records = s->records;
	p.again = owners && live ? p.records + RECORD_BYTES : NULL;
	for (row = 0; row < b->n; row = end) {
		end = row + 1;
		if (pdet_batch_state(b, row, PAGEDET_FIELD_PFN) !=
		    PAGEDET_HAVE) {
			put_like_pfn(&p, row);
			continue;
		}
		while (end < b->n &&
		       pdet_batch_state(b, end, PAGEDET_FIELD_PFN) ==
				PAGEDET_HAVE &&
		       pfn[end] == pfn[end - 1] + 1)
			end++;
		if (owners)
			put_owners(&p, row, pfn[row], end - row);
		if (wants(&p, PAGEDET_FIELD_MIGRATETYPE))
			put_blocks(&p, row, pfn[row], end - row);
	}
	return 0;
}
