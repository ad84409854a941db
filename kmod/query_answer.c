// SPDX-License-Identifier: GPL-2.0-only
/*
 * An answer: a record a line, each a word and KEY=VALUE pairs. What has no key
 * is not known. "end" is the last, and nothing was left out if it is there and
 * says so.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "detective.h"

/* A line of a list, as a rule. */
#define LINE 192
/* Mappings of one page that are listed; all are counted. */
#define MOST_MAPS 65536
/* How often an address is looked up anew because it got another page. */
#define MOST_TRIES 8

struct answer {
	struct pd_query *query;
	struct pd_text *text;
	struct pd_maps maps;
	unsigned long listed;	/* mappings of a page */
	size_t answered;	/* frames of a list */
	char *name;		/* PATH_MAX */
};

static int found(struct pd_maps *m, const struct pd_map *map)
{
	static const char * const how[] = {
		[PD_DIRECT] = "direct", [PD_VMALLOC] = "vmalloc",
		[PD_KERNEL] = "kernel", [PD_USER] = "user",
	};
	struct answer *a = container_of(m, struct answer, maps);
	const struct vm_area_struct *vma = map->vma;
	struct pd_text *t = a->text;
	char comm[TASK_COMM_LEN];
	pid_t pid;

	if (a->listed == MOST_MAPS) {
		m->skipped = true;
		return 0;
	}
	a->listed++;
	pd_text_add(t, "map kind=%s level=%s entry=0x%llx", how[map->where],
		    pd_level_name(map->level), map->entry);
	if (map->where == PD_USER || a->query->pointers)
		pd_text_add(t, " addr=0x%lx", map->addr);
	if (map->where == PD_USER) {
		pid = task_tgid_vnr(map->task);
		if (pid)
			pd_text_add(t, " pid=%d", pid);
		get_task_comm(comm, map->task);
		pd_text_field(t, "comm", comm);
		pd_text_add(t, " vma_start=0x%lx vma_end=0x%lx vma_flags=0x%lx",
			    vma->vm_start, vma->vm_end,
			    (unsigned long)vma->vm_flags);
		pd_vma_name(vma, a->name, PATH_MAX);
		pd_text_field(t, "vma_name", a->name);
		if (a->query->pointers)
			pd_text_add(t, " mm=0x%lx", (unsigned long)map->mm);
	}
	pd_text_put(t, "\n");
	return t->error ? t->error : 1;
}

static void put_file(struct pd_text *t, const struct pd_page *p)
{
	switch (p->file) {
	case PD_FILE_HAVE:
		pd_text_add(t, " file=have dev=%u:%u ino=%lu index=0x%lx",
			    MAJOR(p->dev), MINOR(p->dev), p->ino, p->index);
		pd_text_field(t, "aops", p->aops);
		if (p->dentry[0])
			pd_text_field(t, "dentry", p->dentry);
		break;
	case PD_FILE_NONE:
		pd_text_add(t, " file=none");
		if (p->anon && !p->ksm)
			pd_text_add(t, " index=0x%lx", p->index);
		break;
	case PD_FILE_BUSY:
		pd_text_add(t, " file=busy");
		break;
	case PD_FILE_UNKNOWN:
		break;
	}
}

static void put_content(struct pd_text *t, const struct pd_page *p)
{
	static const char * const names[] = {
		[PD_CONTENT_ZERO] = "zero", [PD_CONTENT_DATA] = "data",
		[PD_CONTENT_POISONED] = "poisoned",
		[PD_CONTENT_UNREADABLE] = "unreadable",
	};
	const enum pd_content c = pd_content(p);

	if (c != PD_CONTENT_UNKNOWN)
		pd_text_add(t, " content=%s", names[c]);
}

/* What is sure only while it is held. */
static void put_held(struct pd_text *t, const struct pd_page *p)
{
	pd_text_dec(t, " order=", p->order);
	pd_text_dec(t, " mapcount=", p->mapcount);
	pd_text_dec(t, " anon=", p->anon);
	pd_text_dec(t, " ksm=", p->ksm);
	pd_text_dec(t, " hugetlb=", p->hugetlb);
	pd_text_dec(t, " thp=", p->rmappable);
	if (p->order) {
		pd_text_dec(t, " entire_mapcount=", p->entire_mapcount);
		pd_text_dec(t, " pincount=", p->pincount);
	}
	pd_text_dec(t, " memcg_ino=", p->memcg_ino);
	if (p->memcg_removed)
		pd_text_put(t, " memcg_removed=1");
	if (p->has_path)
		pd_text_field(t, "memcg", p->memcg);
}

static void put_facts(struct answer *a, const struct pd_page *p)
{
	struct pd_text *t = a->text;

	pd_text_hex(t, " pfn=0x", p->pfn);
	if (!p->exists) {
		pd_text_put(t, " state=nopage\n");
		return;
	}
	pd_text_put(t, p->held ? " state=have" : " state=unreferenced");
	pd_text_hex(t, " head=0x", p->head);
	pd_text_dec(t, " refcount=", p->refcount);
	pd_text_hex(t, " flags=0x", p->flags);
	if (p->pfn != p->head)
		pd_text_hex(t, " page_flags=0x", p->page_flags);
	if (pd_symbols.stable_page_flags)
		pd_text_hex(t, " kpageflags=0x", p->kpageflags);
	if (p->type) {
		pd_text_put(t, " type=");
		pd_text_put(t, p->type_name);
	}
	if (p->held)
		put_held(t, p);
	put_file(t, p);
	if (a->query->content)
		put_content(t, p);
	if (a->query->pointers)
		pd_text_add(t, " page=0x%lx mapping=0x%lx memcg_data=0x%lx",
			    (unsigned long)p->page, p->mapping, p->memcg_data);
	pd_text_put(t, "\n");
}

static int walk(struct answer *a, const struct pd_page *p)
{
	bool kernel;
	int r;

	memset(&a->maps, 0, sizeof(a->maps));
	a->maps.pfn = p->pfn;
	a->maps.found = found;
	a->listed = 0;
	r = pd_kernel_maps(&a->maps);
	kernel = r != -EOPNOTSUPP;
	if (!r || !kernel)
		r = pd_user_maps(&a->maps);
	if (r)
		return r;
	pd_text_add(a->text, "maps pfn=0x%lx", p->pfn);
	if (kernel)
		pd_text_add(a->text, " kernel=%lu",
			    a->maps.counts[PD_DIRECT] +
			    a->maps.counts[PD_VMALLOC] +
			    a->maps.counts[PD_KERNEL]);
	pd_text_add(a->text, " user=%lu tables=%lu complete=%d\n",
		    a->maps.counts[PD_USER], a->maps.tables,
		    kernel && !a->maps.skipped);
	return 0;
}

/* Behind the words that name it. */
static int put_frame(struct answer *a, struct pd_page *p)
{
	int r = 0;

	/* In a list nobody waits for these, unless he does for the walk. */
	if (a->query->verb != PD_ASK_PFN || a->query->walk) {
		pd_page_cgroup(p, false);
		pd_page_file(p);
	}
	put_facts(a, p);
	if (p->exists && a->query->walk && p->pfn)
		r = walk(a, p);
	pd_page_put(p);
	return r;
}

/* The page that an address has, and still has when it is held. */
static int get_virt(struct pd_virt *v, struct pd_page *p)
{
	unsigned int i;
	int r;

	for (i = 0; i < MOST_TRIES; i++) {
		r = pd_virt(v);
		if (r)
			return r;
		r = pd_page_get(p, v->entry.pfn);
		if (r)
			return r;
		r = pd_virt(v);
		if (!r && v->entry.pfn == p->pfn)
			return 0;
		pd_page_put(p);
		if (r)
			return r;
		cond_resched();
	}
	return -EAGAIN;
}

static int answer_virt(struct answer *a, struct pd_page *p)
{
	struct pd_virt *v = &a->query->virt;
	int r;

	r = get_virt(v, p);
	if (r && r != -ENXIO)
		return r;
	pd_text_add(a->text, "page pid=%u virt=0x%lx level=%s entry=0x%llx",
		    v->pid, v->addr, pd_level_name(v->entry.level),
		    v->entry.value);
	if (r) {
		pd_text_add(a->text, " state=notpresent\n");
		return 0;
	}
	pd_text_add(a->text, " phys=0x%lx",
		    (p->pfn << PAGE_SHIFT) + offset_in_page(v->addr));
	return put_frame(a, p);
}

static int answer_range(struct answer *a, const struct pd_range *range,
			struct pd_page *p)
{
	unsigned long i;
	int r = 0;

	for (i = 0; i < range->count && !r; i++) {
		r = pd_page_get(p, range->first + i);
		if (r)
			break;
		pd_text_put(a->text, "page");
		r = put_frame(a, p);
		if (!r)
			r = a->text->error;
		if (++a->answered % PD_ENTRIES)
			continue;
		cond_resched();
		if (fatal_signal_pending(current))
			r = -EINTR;
	}
	return r;
}

static int answer_frames(struct answer *a, struct pd_page *p)
{
	const struct pd_query *q = a->query;
	size_t i;
	int r = 0;

	/* not grown step by step */
	pd_text_reserve(a->text, q->n_frames * LINE);
	for (i = 0; i < q->n_ranges && !r; i++)
		r = answer_range(a, &q->ranges[i], p);
	return r;
}

static int answer_phys(struct answer *a, struct pd_page *p)
{
	const int r = pd_page_get(p, a->query->phys >> PAGE_SHIFT);

	if (r)
		return r;
	pd_text_add(a->text, "page phys=0x%llx", a->query->phys);
	return put_frame(a, p);
}

int pd_query_answer(struct pd_query *q, struct pd_text *t)
{
	struct pd_page *p = kmalloc(sizeof(*p), GFP_KERNEL);
	struct answer *a = kzalloc(sizeof(*a), GFP_KERNEL);
	int r = -ENOMEM;

	if (a)
		a->name = kmalloc(PATH_MAX, GFP_KERNEL);
	if (p && a && a->name) {
		a->query = q;
		a->text = t;
		if (q->verb == PD_ASK_VIRT)
			r = answer_virt(a, p);
		else if (q->verb == PD_ASK_PFN)
			r = answer_frames(a, p);
		else
			r = answer_phys(a, p);
		pd_text_add(t, "end\n");
		if (!r)
			r = t->error;
	}
	if (a)
		kfree(a->name);
	kfree(a);
	kfree(p);
	return r;
}
