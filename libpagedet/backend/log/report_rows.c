/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fills columns from a report: its kind, the task and address that it names,
 * and its text if no block of dump_page() has more.
 */
#include <stdio.h>
#include <string.h>

#include "backend/log/report.h"

#define F(name) PAGEDET_FIELD_##name

/* Bytes of a reason that is made of several lines. Evidence has room for it
 * besides names: PAGEDET_EVIDENCE_TEXT. */
#define MOST_REASON 384

/* Between two parts of a reason. */
#define BETWEEN "; "

/* Put tasks and addresses. maps.c handles the tasks and addresses of a query to
 * Page Detective. */
static void put_place(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	const unsigned shift = p->shift ? p->shift : 12;
	const unsigned unsaid = p->loses ? PAGEDET_IO : PAGEDET_UNSUPPORTED;
	size_t i;

	if (p->has_address || p->has_kaddr || p->hashed || p->may_be_hashed ||
	    p->task || p->comm.len) {
		for (i = 0; i < PDET_LOG_OF_ADDRESS; i++)
			pdet_log_cell_lost(o, pdet_log_of_address[i],
					   PAGEDET_UNSUPPORTED);
		pdet_log_cell_lost(o, F(TGID), PAGEDET_UNSUPPORTED);
		pdet_log_cell_lost(o, F(PID), unsaid);
		pdet_log_cell_lost(o, F(COMM), unsaid);
		if (p->report == PAGEDET_REPORT_BAD_PAGE_MAP) {
			pdet_log_cell_lost(o, F(VADDR), unsaid);
			pdet_log_cell_lost(o, F(VMA_PROT), unsaid);
		}
	}
	if (p->task)
		pdet_log_cell(o, F(PID), p->pid);
	if (p->comm.len)
		pdet_log_cell_text(o, F(COMM), pdet_log_page_text(p, p->comm));
	/* No page is smaller than 4 KiB. */
	if (p->has_address)
		pdet_log_cell(o, F(VADDR), p->virt >> shift << shift);
	else if (p->has_kaddr)
		pdet_log_cell(o, F(VADDR), p->kaddr);
	/* VM_READ, VM_WRITE, VM_EXEC, VM_SHARED */
	if (p->has_vm_flags)
		pdet_log_cell(o, F(VMA_PROT), p->vm_flags & 15);
}

/* Put the task that made a check of a page, if a block stands alone. The line
 * that names it may be lost, or is not printed. */
static void put_checker(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	const unsigned unsaid = p->task_lost ? PAGEDET_IO : PAGEDET_UNSUPPORTED;

	pdet_log_cell_lost(o, F(PID), unsaid);
	pdet_log_cell_lost(o, F(COMM), unsaid);
	if (!p->aops.len)
		pdet_log_cell_lost(o, F(OBJECT), PAGEDET_UNSUPPORTED);
	if (p->task)
		pdet_log_cell(o, F(PID), p->pid);
	if (p->comm.len)
		pdet_log_cell_text(o, F(COMM), pdet_log_page_text(p, p->comm));
}

static void put_file(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;

	if (p->report == PAGEDET_REPORT_IO_ERROR) {
		if (p->has_dev)
			pdet_log_cell(o, F(DEV), p->dev);
		if (p->has & PDET_LOG_INODE)
			pdet_log_cell(o, F(INODE), p->inode);
	}
	if (p->has_position && p->shift)
		pdet_log_cell(o, F(INDEX), p->position >> p->shift);
	/*
	 * The inode belongs to the file mapped at the address, not to the page.
	 */
	if (p->file_index &&
	    (!p->block || (p->has & PDET_LOG_INDEX && p->mapping &&
			   p->index == p->index_in_file)))
		pdet_log_cell(o, F(INDEX), p->index_in_file);
}

/* Put the flags implied by the text, if there is no block. */
static void put_flags(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;

	if (p->has & PDET_LOG_FLAGS || !p->flags_known)
		return;
	pdet_log_cell(o, F(FLAGS), p->flags & p->flags_known);
	pdet_log_cell(o, F(FLAGS_KNOWN), p->flags_known);
	if (p->flags & PAGEDET_PF(PAGEDET_PF_BUDDY))
		pdet_log_cell(o, F(KIND), PAGEDET_KIND_FREE);
	else if (p->flags & PAGEDET_PF(PAGEDET_PF_HUGE))
		pdet_log_cell(o, F(KIND), PAGEDET_KIND_HUGETLB);
}

struct pdet_scan pdet_log_reason(const struct pdet_log_page *p)
{
	return pdet_log_page_text(p, p->reason.len ? p->reason :
				     p->says.len ? p->says : p->why);
}

/* Cut a part off a reason. */
static struct pdet_scan next_part(struct pdet_scan *s)
{
	struct pdet_scan part = *s, rest = { s->end, s->end };

	if (pdet_log_behind(*s, BETWEEN, &rest))
		part.end = rest.at - strlen(BETWEEN);
	s->at = rest.at;
	return part;
}

static bool has_part(struct pdet_scan s, struct pdet_scan part)
{
	const size_t len = (size_t)(part.end - part.at);

	while (s.at < s.end) {
		const struct pdet_scan is = next_part(&s);

		if ((size_t)(is.end - is.at) == len &&
		    !memcmp(is.at, part.at, len))
			return true;
	}
	return false;
}

/* Append "; TEXT" to *@len bytes. */
static void append(char *to, size_t size, size_t *len, struct pdet_scan text)
{
	size_t n = (size_t)(text.end - text.at);

	if (*len && size - *len > 2) {
		memcpy(to + *len, BETWEEN, 2);
		*len += 2;
	}
	n = PDET_MIN(n, size - *len);
	memcpy(to + *len, text.at, n);
	*len += n;
}

/* Copy @then without the parts that @first or itself has already. @keep: its
 * first part stays, which is the outcome of an earlier event. */
static struct pdet_scan without_same(char to[PDET_LOG_TEXT],
				     struct pdet_scan first,
				     struct pdet_scan then, bool keep)
{
	size_t len = 0;

	while (then.at < then.end) {
		const struct pdet_scan part = next_part(&then);

		if (keep || (!has_part(first, part) &&
			     !has_part((struct pdet_scan){ to, to + len },
				       part)))
			append(to, PDET_LOG_TEXT, &len, part);
		keep = false;
	}
	return (struct pdet_scan){ to, to + len };
}

bool pdet_log_join_reasons(struct pdet_log_page *p, struct pdet_scan first,
			   const char *words, struct pdet_scan then)
{
	char text[MOST_REASON], rest[PDET_LOG_TEXT];
	const size_t between = strlen(words);
	size_t len, wants;

	then = without_same(rest, first, then, strcmp(words, BETWEEN) != 0);
	wants = then.at < then.end ? between + (size_t)(then.end - then.at) : 0;
	len = pdet_shortened(text, sizeof(text) -
			     PDET_MIN(wants, sizeof(text) / 2), first);
	if (wants) {
		memcpy(text + len, words, between);
		len += between;
		len += pdet_shortened(text + len, sizeof(text) - len, then);
	}
	return pdet_log_keep(p, (struct pdet_scan){ text, text + len },
			     &p->reason);
}

/* The mark of a page_pool, in the second word of struct page (include/linux/
 * poison.h, PP_SIGNATURE). Not all kernels have a reason for it. */
static bool is_pooled(const struct pdet_log_page *p)
{
	return p->report == PAGEDET_REPORT_BAD_PAGE_STATE && p->n_words > 1 &&
	       p->word_bytes == 8 &&
	       (p->words[1] & ~(uint64_t)3) == 0xdead000000000040;
}

size_t pdet_log_event_reason(const struct pdet_log_page *p, char *text,
			     size_t size)
{
	static const char injected[] = PDET_INJECTED;
	char what[PDET_LOG_OVERWRITTEN];
	char found[64];
	struct pdet_scan parts[8] = { { NULL, NULL } };
	size_t len = 0, i;

	if (!pdet_log_overwritten(p, what, sizeof(what)) && !*what &&
	    is_pooled(p))
		snprintf(what, sizeof(what), PDET_POOLED);
	parts[0] = pdet_log_reason(p);
	parts[1] = pdet_log_page_text(p, p->entries);
	parts[2] = (struct pdet_scan){ what, what + strlen(what) };
	if (p->injected)
		parts[3] = (struct pdet_scan){ injected, injected +
					       strlen(injected) };
	if (p->found_by && p->flags & PAGEDET_PF(PAGEDET_PF_HWPOISON)) {
		const int n = snprintf(found, sizeof(found), PDET_REPORTED_AS
				       "%s", pdet_value_name(F(REPORT),
							     p->found_by));

		parts[4] = (struct pdet_scan){ found, found + n };
	}
	/* These may be cut. */
	for (i = 0; i < PDET_COUNT(p->hardware); i++)
		parts[5 + i] = pdet_log_page_text(p, p->hardware[i]);
	for (i = 0; i < PDET_COUNT(parts); i++)
		if (parts[i].at < parts[i].end)
			append(text, size, &len, parts[i]);
	return len;
}

void pdet_log_put_event(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;
	char text[PDET_LOG_REASON];
	size_t len;

	pdet_log_cell(o, F(REPORT), p->report);
	if (p->stamp.has_us)
		pdet_log_cell(o, F(EVENT_NS), p->stamp.us * 1000);
	if (!pdet_fields_has(o->want, F(REASON)))
		return;
	len = pdet_log_event_reason(p, text, sizeof(text));
	if (len)
		pdet_log_cell_text(o, F(REASON),
				   (struct pdet_scan){ text, text + len });
}

void pdet_log_put_report(const struct pdet_log_putting *o)
{
	const struct pdet_log_page *p = o->p;

	pdet_log_put_event(o);
	if (p->report == PAGEDET_REPORT_DUMP_PAGE)
		put_checker(o);
	if (p->report == PAGEDET_REPORT_PAGE_DETECTIVE ||
	    p->report == PAGEDET_REPORT_DUMP_PAGE)
		return;
	put_place(o);
	put_file(o);
	put_flags(o);
	if (p->report == PAGEDET_REPORT_KFENCE)
		pdet_log_put_kfence(o);
	if (p->is_slab)
		pdet_log_cell(o, F(KIND), PAGEDET_KIND_SLAB);
	if (p->cache.len)
		pdet_log_cell_text(o, F(SLAB_CACHE),
				   pdet_log_page_text(p, p->cache));
	/* A block that names a file is more specific, but does not have the
	 * reason of the report. */
	if (p->report == PAGEDET_REPORT_BAD_PAGE_MAP && p->file.len &&
	    !p->aops.len)
		pdet_log_cell_text(o, F(OBJECT),
				   pdet_log_page_text(p, p->file));
	else if (p->report == PAGEDET_REPORT_BAD_PAGE_MAP && p->ends_lost)
		pdet_log_cell_lost(o, F(OBJECT), PAGEDET_IO);
	else if (p->says.len && (!p->aops.len ||
			    p->report == PAGEDET_REPORT_BAD_PAGE_STATE))
		pdet_log_cell_text(o, F(OBJECT),
				   pdet_log_page_text(p, p->says));
	else if (p->loses && !p->aops.len)
		pdet_log_cell_lost(o, F(OBJECT), PAGEDET_IO);
	else if (p->file.len && !p->aops.len)
		pdet_log_cell_text(o, F(OBJECT),
				   pdet_log_page_text(p, p->file));
}
