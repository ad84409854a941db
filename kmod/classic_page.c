// SPDX-License-Identifier: GPL-2.0-only
/* The lines about the page itself, in the order of dump_page(). */
#define pr_fmt(fmt) "Page Detective: " fmt

#include <linux/printk.h>

#include "detective.h"

/* A word of struct page. Addresses are hashed. */
static void word(char *buf, size_t size, unsigned long value)
{
	if (value >> 56 == 0xff)
		scnprintf(buf, size, "%p", (void *)value);
	else
		scnprintf(buf, size, "%016lx", value);
}

static void words(const char *name, const unsigned long *w, size_t n)
{
	char text[4][20];
	size_t i, j;

	for (i = 0; i + 4 <= n; i += 4) {
		for (j = 0; j < 4; j++)
			word(text[j], sizeof(text[j]), w[i + j]);
		pr_info("%s: %s %s %s %s\n", name, text[0], text[1], text[2],
			text[3]);
	}
}

static const char *kind(const struct pd_page *p)
{
	if (p->hugetlb)
		return "HugeTLB";
	return p->rmappable ? "Transparent Huge Page" : "Small Page";
}

static void head_line(const struct pd_page *p)
{
	if (!p->order)
		return;
	if (p->nr_pages_mapped >= 0)
		pr_info("head: order:%u mapcount:%d entire_mapcount:%d nr_pages_mapped:%d pincount:%d\n",
			p->order, p->all_mapcount, p->entire_mapcount,
			p->nr_pages_mapped, p->pincount);
	else
		pr_info("head: order:%u entire_mapcount:%d pincount:%d\n",
			p->order, p->entire_mapcount, p->pincount);
}

/* Two bits say what kind of word it is, the others are an address. */
static void memcg_word(const struct pd_page *p)
{
	if (p->memcg_data)
		pr_info("memcg:%p\n", (void *)(p->memcg_data & ~3UL));
}

/* "[/a/b ] [/a ] [/ ]"; "[/ ]" if it is charged to none. */
static void memcg_path(const struct pd_page *p)
{
	/* one question at a time */
	static char line[900];
	size_t n = 0, left = strlen(p->memcg);

	if (!p->held || (p->memcg_ino && !p->has_path))
		return;
	while (left > 1) {
		n += scnprintf(line + n, sizeof(line) - n, "[%.*s ] ",
			       (int)left, p->memcg);
		while (left && p->memcg[--left] != '/')
			;
	}
	scnprintf(line + n, sizeof(line) - n, "[/ ]");
	pr_info("memcg: %s\n", line);
}

/* Of others there may be an address in its place. */
static unsigned long index_of(const struct pd_page *p)
{
	return p->held && (p->anon || p->hugetlb || p->file == PD_FILE_HAVE) ?
		p->index : 0;
}

void pd_classic_page(const struct pd_page *p)
{
	const char *what = p->ksm ? "ksm " : p->anon ? "anon " : "";

	pr_info("metadata for %s pfn[%lx] folio[%p] order [%u]\n", kind(p),
		p->pfn, pfn_to_page(p->head), p->order);
	pr_info("page: refcount:%d mapcount:%d mapping:%p index:%#lx pfn:%#lx\n",
		p->refcount, p->own_mapcount,
		p->file == PD_FILE_HAVE ? (void *)p->mapping : NULL,
		index_of(p), p->pfn);
	head_line(p);
	memcg_word(p);
	if (p->file == PD_FILE_HAVE && p->dentry[0])
		pr_info("aops:%s ino:%lx dentry name(?):\"%s\"\n", p->aops,
			p->ino, p->dentry);
	else if (p->file == PD_FILE_HAVE)
		pr_info("aops:%s ino:%lx\n", p->aops, p->ino);
	pr_info("%sflags: %pGp\n", what, &p->flags);
	if (p->type)
		pr_info("page_type: %x(%s)\n", p->type, p->type_name);
	words("raw", p->raw, ARRAY_SIZE(p->raw));
	if (p->order)
		words("head", p->raw_head, ARRAY_SIZE(p->raw_head));
	memcg_path(p);
}
