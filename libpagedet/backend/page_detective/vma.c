/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the VMAs of addresses in /proc/PID/maps, because the driver gives VMAs
 * only with all mappings of a page. It reads maps once, after all addresses of
 * a batch were answered. It then queries each address again: the VMA belongs to
 * the page only if the page was there before and after.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "backend/page_detective/query.h"
#include "kernel/address/user_entry.h"

#define F(name) PAGEDET_FIELD_##name
#define SOURCE PAGEDET_SOURCE_PAGE_DETECTIVE

#define MOST_TEXT ((size_t)64 << 20)

/* Bits that change with every access. */
#define USED (PAGEDET_PTE(PAGEDET_PTE_YOUNG) | PAGEDET_PTE(PAGEDET_PTE_DIRTY))

/* --- maps --- */

/* The VMAs of a task, for one ascending pass. */
struct maps {
	struct pdet_text text;
	struct pdet_scan rest;
	struct pdet_vma vma;	/* the last one examined */
	int error;
};

static void maps_read(struct maps *m, const struct pdet_env *env, uint32_t pid)
{
	memset(m, 0, sizeof(*m));
	m->error = pdet_slurp(env, &m->text, MOST_TEXT, "/proc/%u/maps", pid);
	if (!m->error)
		m->rest = (struct pdet_scan){ m->text.data,
					      m->text.data + m->text.len };
}

/* As page_detective_vma(). */
static int maps_find(struct maps *m, uint64_t addr, struct pdet_vma *ret,
		     char *name)
{
	struct pdet_scan line;

	if (m->error)
		return m->error;
	while (addr >= m->vma.end && pdet_scan_line(&m->rest, &line))
		if (pdet_maps_line(line, ret))
			m->vma = *ret;
	if (addr < m->vma.start || addr >= m->vma.end)
		return 0;
	*ret = m->vma;
	ret->name_len = PDET_MIN(ret->name_len, (size_t)PAGE_DETECTIVE_NAME);
	memcpy(name, ret->name, ret->name_len);
	ret->name = name;
	ret->name_len = pdet_unescape_octal(name, ret->name_len);
	return 1;
}

int page_detective_vma(const struct pdet_env *env, uint32_t pid,
		       uint64_t addr, struct pdet_vma *ret, char *name)
{
	struct maps m;
	int r;

	maps_read(&m, env, pid);
	r = maps_find(&m, addr, ret, name);
	pdet_text_free(&m.text);
	return r;
}

/* --- rows of addresses --- */

int page_detective_keep_address(struct page_detective_session *s,
				uint64_t addr, uint32_t row,
				const struct page_detective_page *p)
{
	struct page_detective_address a = { .addr = addr, .row = row };

	if (p) {
		a.known = true;
		a.page = *p;
		a.again = p->walked;
	}
	return pdet_vec_push(&s->addresses, a) ? 0 :
		pdet_fail(&s->session.env, ENOMEM, "no memory");
}

static bool has_page(const struct page_detective_address *a)
{
	return a->known && a->page.state != PAGE_DETECTIVE_NOTPRESENT;
}

static bool wants_vma(const struct pdet_fields *want)
{
	return pdet_fields_has(want, F(VMA_START)) ||
	       pdet_fields_has(want, F(VMA_END)) ||
	       pdet_fields_has(want, F(VMA_PROT)) ||
	       pdet_fields_has(want, F(VMA_NAME)) ||
	       pdet_fields_has(want, F(PATH));
}

/* Complete the row of an address from the VMA that covers it. Without maps
 * nothing is known of an address without a page. */
static void put_around(struct page_detective_address *a, struct maps *m,
		       const struct page_detective_putting *o)
{
	char name[PAGE_DETECTIVE_NAME];
	struct pdet_vma vma;
	const int r = maps_find(m, a->addr, &vma, name);

	a->again = true;
	if (!has_page(a) && r == 0) {
		page_detective_put_unmapped(o);
		a->unmapped = true;
		return;
	}
	if (!a->known || (!has_page(a) && r < 0)) {
		page_detective_put_unknown(o);
		return;
	}
	if (!has_page(a))
		page_detective_put_nothing(o);
	if (r > 0)
		page_detective_put_vma(o, &vma);
}

void page_detective_put_vmas(struct page_detective_session *s, uint32_t pid,
			     struct pdet_batch *b)
{
	const struct pdet_fields want = page_detective_said(s);
	const bool all = wants_vma(&want);
	struct maps m;
	bool read = false;
	size_t i;

	for (i = 0; i < s->addresses.n; i++) {
		struct page_detective_address *a = &s->addresses.data[i];
		const struct page_detective_putting o = {
			.d = page_detective_of(s->session.backend),
			.p = &a->page, .b = b, .row = a->row, .want = &want,
		};

		if (!all && has_page(a))
			continue;
		if (!read)
			maps_read(&m, &s->session.env, pid);
		read = true;
		put_around(a, &m, &o);
		pdet_put(b, a->row, F(VADDR), a->addr, SOURCE);
	}
	if (read)
		pdet_text_free(&m.text);
}

/* --- rechecking pages --- */

static bool is_same(const struct page_detective_page *a,
		    const struct page_detective_page *b)
{
	const struct pdet_paging x86 = { .arch = &pdet_paging_x86_64 };

	if (a->state != b->state)
		return false;
	if (a->state == PAGE_DETECTIVE_NOTPRESENT)
		return a->entry == b->entry;
	return a->pfn == b->pfn && a->level == b->level &&
	       !((pdet_user_entry(&x86, a->entry).pte ^
		  pdet_user_entry(&x86, b->entry).pte) & ~(uint32_t)USED);
}

/* Note a change, or that the address cannot be queried. */
static void check(struct page_detective_session *s, uint32_t pid,
		  const struct page_detective_address *a,
		  struct pdet_batch *b, uint32_t row)
{
	char text[PAGE_DETECTIVE_LINE];
	struct page_detective_reply now;
	bool same = true;
	unsigned reason;
	int error;

	snprintf(text, sizeof(text), "virt %u 0x%llx nowalk nocontent", pid,
		 (unsigned long long)a->addr);
	reason = page_detective_query_ask(s, text, false, &now, &error);
	if (!reason && page_detective_answers(&now, pid, a->addr))
		same = a->known && is_same(&a->page, now.pages.data);
	else if (error == ERANGE || error == EINVAL)
		same = !a->known;
	else if (error == ESRCH || error == EAGAIN)
		same = false;
	else
		pdet_put_note(b, row, PAGEDET_NOTE_UNCHECKED);
	if (!same)
		pdet_put_note(b, row, PAGEDET_NOTE_TORN);
	page_detective_reply_free(&now);
}

void page_detective_query_recheck(struct page_detective_session *s,
				  uint32_t pid, struct pdet_batch *b,
				  uint32_t first, uint32_t n)
{
	const struct page_detective_address *a = s->addresses.data;
	const struct page_detective_address *end = a + s->addresses.n;
	const uint64_t *vaddr = b->value[F(VADDR)];
	uint32_t row;

	/* Rows may have been removed from the batch, but not reordered. */
	for (row = first; row < first + n; row++) {
		while (a < end && a->addr < vaddr[row])
			a++;
		if (a < end && a->addr == vaddr[row] && a->again)
			check(s, pid, a, b, row);
	}
}
