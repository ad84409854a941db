/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the memory of the machine: the frames with a struct page, their node
 * and zone. It uses sysfs memory blocks, /proc/iomem and /proc/zoneinfo. Each
 * may be missing; less is then known, and more is read.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/procfs/procfs.h"
#include "base/io.h"
#include "base/text/text.h"
#include "kernel/text/iomem.h"
#include "kernel/text/zoneinfo.h"

/* Memory comes in sections. The largest known is 512 MiB (arm64 with 64K
 * pages). Without memory blocks, ranges are widened to whole sections: reading
 * too much is harmless, but skipping memory is not. */
#define SECTION_BYTES ((uint64_t)512 << 20)

static int compare_ranges(const void *a, const void *b)
{
	const struct pdet_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/* Sort the ranges, and merge those that touch. */
static void normalize(struct pdet_ranges *r)
{
	size_t i, out = 0;

	if (!r->n)
		return;
	qsort(r->data, r->n, sizeof(*r->data), compare_ranges);
	for (i = 1; i < r->n; i++) {
		struct pdet_range *last = &r->data[out];

		if (r->data[i].first <= last->last ||
		    r->data[i].first - last->last == 1)
			last->last = PDET_MAX(last->last, r->data[i].last);
		else
			r->data[++out] = r->data[i];
	}
	r->n = out + 1;
}

static bool in_ranges(const struct pdet_ranges *r, uint64_t pfn)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->data[mid].last < pfn)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->n && r->data[low].first <= pfn;
}

/* The number in a name such as "memory12"; false for other names. */
static bool numbered(const char *name, const char *word, uint64_t *ret)
{
	struct pdet_scan s = { name, name + strlen(name) };

	return pdet_scan_word(&s, word) && pdet_scan_dec(&s, ret) &&
	       s.at == s.end;
}

static int no_memory(struct pdet_env *env)
{
	return pdet_fail(env, ENOMEM, "no memory for the memory map");
}

/* Record why a part of the map is missing. A shortage of memory or descriptors
 * is the reason why the whole map fails. */
static int lost(struct pdet_env *env, int r, const char *path)
{
	errno = -r;
	if (pdet_is_shortage(r))
		return pdet_fail_errno(env, "cannot read %s%s", env->root,
				       path);
	return -pdet_errno_closed(-r);
}

/* Call @fn for every entry "WORDn" of a directory below the root. */
static int each_numbered(struct procfs *p, struct pdet_env *env,
			 const char *dir, const char *word,
			 int (*fn)(struct procfs *p, struct pdet_env *env,
				   uint64_t n, uint64_t arg), uint64_t arg)
{
	char path[4096];
	struct dirent *entry;
	uint64_t n;
	int r = 0;
	DIR *d;

	if (pdet_path(env, path, sizeof(path), "%s", dir) < 0)
		return -ENOENT;
	d = opendir(path);
	if (!d)
		return lost(env, -errno, dir);
	while (r >= 0 && (errno = 0, entry = readdir(d)))
		if (numbered(entry->d_name, word, &n))
			r = fn(p, env, n, arg);
	if (r >= 0 && errno)
		r = lost(env, -errno, dir);
	closedir(d);
	return r;
}

static int add_block(struct procfs *p, struct pdet_env *env, uint64_t n,
		     uint64_t pages)
{
	struct procfs_memory *m = &p->memory;
	struct pdet_range range;

	if (n > (UINT64_MAX >> p->page_shift) / pages - 1)
		return 0;
	range.first = n * pages;
	range.last = range.first + pages - 1;
	return pdet_vec_push(&m->present, range) ? 0 : no_memory(env);
}

static int add_node_block(struct procfs *p, struct pdet_env *env, uint64_t n,
			  uint64_t node)
{
	struct procfs_memory *m = &p->memory;
	struct procfs_block block;

	if (!m->block_pages ||
	    n > (UINT64_MAX >> p->page_shift) / m->block_pages - 1)
		return 0;
	block.range.first = n * m->block_pages;
	block.range.last = block.range.first + m->block_pages - 1;
	block.node = (uint32_t)node;
	return pdet_vec_push(&m->blocks, block) ? 0 : no_memory(env);
}

static int add_node(struct procfs *p, struct pdet_env *env, uint64_t node,
		    uint64_t arg)
{
	char dir[64];

	(void)arg;
	if (node > UINT32_MAX)
		return 0;
	snprintf(dir, sizeof(dir), "/sys/devices/system/node/node%u",
		 (unsigned)node);
	return each_numbered(p, env, dir, "memory", add_node_block, node);
}

static int compare_blocks(const void *a, const void *b)
{
	const struct procfs_block *x = a, *y = b;

	return compare_ranges(&x->range, &y->range);
}

static int load_block_size(struct procfs *p, struct pdet_env *env)
{
	static const char path[] =
		"/sys/devices/system/memory/block_size_bytes";
	struct pdet_text text;
	struct pdet_scan s;
	uint64_t bytes;
	int r;

	r = pdet_slurp(env, &text, 64, "%s", path);
	if (r < 0)
		return lost(env, r, path);
	s.at = text.data;
	s.end = text.data + text.len;
	if (pdet_scan_hex(&s, &bytes))
		p->memory.block_pages = bytes >> p->page_shift;
	pdet_text_free(&text);
	return p->memory.block_pages ? 0 : -ENOENT;
}

/* An incomplete list is discarded: a missing block would be indistinguishable
 * from a hole. */
static int load_blocks(struct procfs *p, struct pdet_env *env)
{
	struct procfs_memory *m = &p->memory;
	int r;

	r = load_block_size(p, env);
	if (r == 0)
		r = each_numbered(p, env, "/sys/devices/system/memory",
				  "memory", add_block, m->block_pages);
	if (r < 0) {
		m->present.n = 0;
		m->present_why = r == -ENOENT ? 0 : pdet_reason_of(r);
	}
	if (r == 0)
		r = each_numbered(p, env, "/sys/devices/system/node", "node",
				  add_node, 0);
	if (pdet_is_shortage(r))
		return r;
	if (r < 0) {
		m->blocks.n = 0;
		m->node_why = r == -ENOENT ? 0 : pdet_reason_of(r);
	}
	if (m->blocks.n)
		qsort(m->blocks.data, m->blocks.n, sizeof(*m->blocks.data),
		      compare_blocks);
	return 0;
}

static int load_iomem(struct procfs *p, struct pdet_env *env)
{
	struct procfs_memory *m = &p->memory;
	struct pdet_scan all, line;
	struct pdet_iomem entry;
	struct pdet_text text;
	bool blocks = m->present.n;
	int r;

	r = pdet_slurp(env, &text, 8 << 20, "/proc/iomem");
	if (pdet_is_shortage(r))
		return lost(env, r, "/proc/iomem");
	if (r < 0) {
		m->device_why = r == -ENOENT ? 0 : pdet_reason_of(r);
		if (!blocks && m->device_why)
			m->present_why = m->device_why;
		return 0;
	}
	all.at = text.data;
	all.end = text.data + text.len;
	while (pdet_scan_line(&all, &line)) {
		struct pdet_ranges *to = NULL;
		struct pdet_range range;

		if (!pdet_iomem_line(line, &entry))
			continue;
		switch (pdet_iomem_use(&entry)) {
		case PDET_IOMEM_RAM:
			if (blocks)
				continue;
			entry.first &= ~(SECTION_BYTES - 1);
			entry.last |= SECTION_BYTES - 1;
			to = &m->present;
			break;
		case PDET_IOMEM_DEVICE:
			to = &m->device;
			break;
		case PDET_IOMEM_OTHER:
			continue;
		}
		range.first = entry.first >> p->page_shift;
		range.last = entry.last >> p->page_shift;
		if (!pdet_vec_push(to, range)) {
			pdet_text_free(&text);
			return no_memory(env);
		}
	}
	pdet_text_free(&text);
	return 0;
}

static int load_zones(struct procfs *p, struct pdet_env *env)
{
	struct procfs_memory *m = &p->memory;
	struct pdet_zoneinfo z;
	struct pdet_text text;
	struct pdet_scan s;
	int r;

	r = pdet_slurp(env, &text, 8 << 20, "/proc/zoneinfo");
	if (pdet_is_shortage(r))
		return lost(env, r, "/proc/zoneinfo");
	if (r < 0) {
		m->zone_why = r == -ENOENT ? 0 : pdet_reason_of(r);
		return 0;
	}
	s.at = text.data;
	s.end = text.data + text.len;
	while (pdet_zoneinfo_next(&s, &z)) {
		struct procfs_zone zone = {
			{ z.start_pfn, z.start_pfn + z.spanned - 1 },
			z.node, z.zone,
		};

		if (!pdet_vec_push(&m->zones, zone)) {
			pdet_text_free(&text);
			return no_memory(env);
		}
	}
	pdet_text_free(&text);
	return 0;
}

static uint64_t zones_end(const struct procfs_memory *m)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < m->zones.n; i++)
		end = PDET_MAX(end, m->zones.data[i].range.last + 1);
	return end;
}

/* The first frame that kpageflags does not have, or 0 if it is unknown. It is
 * found by reading: the file does not have a size, but a read past the end
 * returns nothing. */
static uint64_t find_max_pfn(struct procfs *p, struct pdet_env *env)
{
	uint64_t low = 0, high = 1, mid, word;
	int fd = procfs_kpage_fd(p, env, KPAGE_FLAGS), r = 1;
	struct stat st;

	if (fd < 0)
		return zones_end(&p->memory);
	/* A truncated copy does not mean that memory ends there. */
	if (!p->live && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return PDET_MAX((uint64_t)st.st_size / 8,
				zones_end(&p->memory));
	while (high < (uint64_t)1 << 52 &&
	       (r = procfs_kpage_bare(p, env, KPAGE_FLAGS, high - 1,
				      &word)) == 1) {
		low = high;
		high *= 2;
	}
	/* frame low - 1 exists, frame high - 1 does not */
	while (low + 1 < high && r >= 0) {
		mid = low + (high - low) / 2;
		r = procfs_kpage_bare(p, env, KPAGE_FLAGS, mid - 1, &word);
		if (r == 1)
			low = mid;
		else
			high = mid;
	}
	p->memory.max_error = PDET_MIN(r, 0);
	return r < 0 ? 0 : low;
}

static int load(struct procfs *p, struct pdet_env *env)
{
	struct procfs_memory *m = &p->memory;
	struct pdet_range all;
	int r;

	r = load_blocks(p, env);
	if (r == 0)
		r = load_iomem(p, env);
	if (r == 0)
		r = load_zones(p, env);
	if (r < 0)
		return r;
	m->max_pfn = find_max_pfn(p, env);
	normalize(&m->present);
	normalize(&m->device);
	if (!m->present.n && m->max_pfn) {
		all.first = 0;
		all.last = m->max_pfn - 1;
		if (!pdet_vec_push(&m->present, all))
			return no_memory(env);
	}
	while (m->present.n && m->max_pfn &&
	       m->present.data[m->present.n - 1].first >= m->max_pfn)
		m->present.n--;
	if (m->present.n && m->max_pfn &&
	    m->present.data[m->present.n - 1].last >= m->max_pfn)
		m->present.data[m->present.n - 1].last = m->max_pfn - 1;
	return 0;
}

static void forget(struct procfs_memory *m)
{
	pdet_vec_free(&m->present);
	pdet_vec_free(&m->device);
	pdet_vec_free(&m->blocks);
	pdet_vec_free(&m->zones);
	m->block_pages = 0;
	m->node_why = m->zone_why = m->present_why = m->device_why = 0;
}

int procfs_memory_load(struct procfs *p, struct pdet_env *env)
{
	struct procfs_memory *m = &p->memory;
	int r = 0;

	pthread_mutex_lock(&m->lock);
	if (!m->loaded) {
		r = load(p, env);
		if (r < 0)
			forget(m);
		else
			m->loaded = true;
	}
	pthread_mutex_unlock(&m->lock);
	return r;
}

void procfs_memory_free(struct procfs_memory *m)
{
	forget(m);
	pthread_mutex_destroy(&m->lock);
}

uint64_t procfs_frames_end(struct pdet_backend *b, struct pdet_env *env)
{
	const struct procfs_memory *m = &procfs_of(b)->memory;
	const struct pdet_ranges *device = &m->device;

	if (procfs_memory_load(procfs_of(b), env) < 0) {
		pdet_clear(env);
		return 0;
	}
	/* Without a privilege, all addresses in iomem are 0. */
	if (!m->max_pfn || m->device_why ||
	    (device->n && !device->data[0].last))
		return 0;
	if (!device->n)
		return m->max_pfn;
	return PDET_MAX(m->max_pfn, device->data[device->n - 1].last + 1);
}

int procfs_memory(struct pdet_backend *b, struct pdet_env *env,
		  struct pdet_ranges *ret)
{
	struct procfs *p = procfs_of(b);
	size_t i;
	int r;

	r = procfs_kpage_fd(p, env, KPAGE_FLAGS);
	if (r < 0) {
		errno = -r;
		r = pdet_fail_errno(env, "cannot open %s/proc/kpageflags",
				    env->root);
		if (r == -EACCES)
			pdet_advise(env,
				    "needs root, or a descriptor that root "
				    "opened");
		return r;
	}
	r = procfs_memory_load(p, env);
	if (r < 0)
		return r;
	if (!p->memory.present.n && p->memory.max_error) {
		errno = -p->memory.max_error;
		return pdet_fail_errno(env,
				       "cannot find where memory is: cannot "
				       "read %s/proc/kpageflags",
				       env->root);
	}
	if (!p->memory.present.n)
		return pdet_fail(env, EIO,
				 "cannot find where memory is: "
				 "%s/proc/kpageflags is empty, and there is no "
				 "map of memory",
				 env->root);
	for (i = 0; i < p->memory.present.n; i++)
		if (!pdet_vec_push(ret, p->memory.present.data[i]))
			return no_memory(env);
	return 0;
}

/* True if the memory block of @pfn exists but is offline. Caches the last
 * block, because queries usually ask for neighbours. */
static bool block_offline(struct procfs *p, struct pdet_env *env, uint64_t pfn,
			  unsigned *why)
{
	struct procfs_memory *m = &p->memory;
	struct pdet_text text;
	uint64_t block;
	bool offline;
	int r;

	*why = 0;
	if (!m->block_pages || !in_ranges(&m->present, pfn))
		return false;
	block = pfn / m->block_pages;
	pthread_mutex_lock(&m->lock);
	if (!m->state_known || m->state_block != block) {
		m->state_block = block;
		m->state_known = true;
		m->state_offline = false;
		r = pdet_slurp(env, &text, 64,
			       "/sys/devices/system/memory/memory%llu/state",
			       (unsigned long long)block);
		m->state_why = r < 0 && r != -ENOENT ? pdet_reason_of(r) : 0;
		if (r == 0) {
			m->state_offline = !strncmp(text.data, "offline", 7);
			pdet_text_free(&text);
		}
	}
	offline = m->state_offline;
	*why = m->state_why;
	pthread_mutex_unlock(&m->lock);
	return offline;
}

bool procfs_memory_present(struct procfs *p, struct pdet_env *env,
			   uint64_t pfn, unsigned *why)
{
	const struct procfs_memory *m = &p->memory;

	*why = PAGEDET_NO_MEMORY;
	if (procfs_memory_load(p, env) < 0)
		return true;
	*why = m->present_why;
	return !m->present.n || in_ranges(&m->present, pfn);
}

bool procfs_memory_cut(struct procfs *p, struct pdet_env *env, uint64_t pfn)
{
	const struct procfs_memory *m = &p->memory;
	size_t i;

	if (p->live)
		return false;
	if (procfs_memory_load(p, env) < 0)
		return true;
	for (i = 0; i < m->zones.n; i++)
		if (pfn >= m->zones.data[i].range.first &&
		    pfn <= m->zones.data[i].range.last)
			return true;
	return false;
}

unsigned procfs_memory_kind(struct procfs *p, struct pdet_env *env,
			    uint64_t pfn, unsigned *why)
{
	const struct procfs_memory *m = &p->memory;

	*why = PAGEDET_NO_MEMORY;
	if (procfs_memory_load(p, env) < 0)
		return PAGEDET_KIND_HOLE;
	*why = 0;
	if (in_ranges(&m->device, pfn))
		return PAGEDET_KIND_DEVICE;
	if (block_offline(p, env, pfn, why))
		return PAGEDET_KIND_OFFLINE;
	/*
	 * It may be device memory or a hole, because a list could not be read.
	 */
	if (!*why)
		*why = m->device_why ? m->device_why : m->present_why;
	return PAGEDET_KIND_HOLE;
}

/* Node and zone of a range of memory. */
struct place {
	struct pdet_range range; /* range with the same answer */
	unsigned node_state, zone_state;
	uint32_t node, zone;
};

/* Narrow @range so that it is entirely inside or outside @part. */
static void narrow(struct pdet_range *range, const struct pdet_range *part,
		   uint64_t pfn)
{
	if (pfn < part->first) {
		range->last = PDET_MIN(range->last, part->first - 1);
	} else if (pfn > part->last) {
		range->first = PDET_MAX(range->first, part->last + 1);
	} else {
		range->first = PDET_MAX(range->first, part->first);
		range->last = PDET_MIN(range->last, part->last);
	}
}

static void find_place(const struct procfs_memory *m, uint64_t pfn,
		       struct place *ret)
{
	unsigned in_zones = 0;
	size_t i;

	ret->range.first = 0;
	ret->range.last = UINT64_MAX;
	ret->zone_state = m->zone_why ? m->zone_why :
			  m->zones.n ? PAGEDET_NONE : PAGEDET_UNSUPPORTED;
	ret->node_state = m->node_why ? m->node_why :
			  m->zones.n || m->blocks.n ? PAGEDET_NONE :
						      PAGEDET_UNSUPPORTED;
	for (i = 0; i < m->zones.n; i++) {
		const struct procfs_zone *z = &m->zones.data[i];

		narrow(&ret->range, &z->range, pfn);
		if (pfn < z->range.first || pfn > z->range.last)
			continue;
		/* Spans overlap where zones or nodes interleave. The text does
		 * not tell which one a page is in. */
		ret->zone_state = in_zones ? PAGEDET_UNSUPPORTED :
					     PAGEDET_HAVE;
		if (!in_zones)
			ret->node_state = PAGEDET_HAVE;
		else if (ret->node != z->node)
			ret->node_state = PAGEDET_UNSUPPORTED;
		ret->zone = z->zone;
		ret->node = z->node;
		in_zones++;
	}
	for (i = 0; i < m->blocks.n; i++) {
		const struct procfs_block *b = &m->blocks.data[i];

		narrow(&ret->range, &b->range, pfn);
		if (pfn < b->range.first || pfn > b->range.last)
			continue;
		ret->node = b->node;
		ret->node_state = PAGEDET_HAVE;
	}
}

void procfs_fill_place(struct procfs_session *s, struct pdet_batch *b,
		       const struct pdet_fields *want)
{
	const struct procfs_memory *m = &s->p->memory;
	const unsigned pfn_field = PAGEDET_FIELD_PFN;
	struct place place = { .range = { 1, 0 } };
	uint32_t row;

	(void)want;
	for (row = 0; row < b->n; row++) {
		uint16_t cell = b->cell[pfn_field][row];
		uint64_t pfn = b->value[pfn_field][row];
		unsigned node = cell & 0xff, zone = cell & 0xff;

		if (node == PAGEDET_HAVE) {
			if (pfn < place.range.first || pfn > place.range.last)
				find_place(m, pfn, &place);
			node = place.node_state;
			zone = place.zone_state;
		}
		if (node == PAGEDET_HAVE)
			pdet_put(b, row, PAGEDET_FIELD_NODE, place.node,
				 PROCFS);
		else
			pdet_put_lost(b, row, PAGEDET_FIELD_NODE, node,
				      PROCFS);
		if (zone == PAGEDET_HAVE)
			pdet_put(b, row, PAGEDET_FIELD_ZONE, place.zone,
				 PROCFS);
		else
			pdet_put_lost(b, row, PAGEDET_FIELD_ZONE, zone,
				      PROCFS);
	}
}
