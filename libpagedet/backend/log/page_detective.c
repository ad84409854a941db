/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses Page Detective's lines, except its block of dump_page(). Each line has
 * the prefix "Page Detective: ", which the caller has removed.
 *
 *   Investigating pid[72] virtual[7fed1a609123] physical[7bee000] pfn[7bee]
 *   metadata for Small Page pfn[7bee] folio[fffff873801efb80] order [0]
 *   memcg: [/lab.slice/pages-1.scope ] [/lab.slice ] [/ ]
 *   The page is direct mapped addr[ffff90a2c7bee000] pmd entry[80000...1e3]
 *   mapped by PID[72] cmd[a] mm[..] pgd[..] at addr[7fed1a609000] pte[84..]
 *   vma[..] start[7fed1a608000] end[..] flags[0000000048100073] name: [anon]
 *   Finished investigation of virtual[7fed1a609123]
 */
#include <string.h>

#include "backend/log/log.h"

/* Limit of stored mappings of one page. */
#define MAX_MAPS 65536

static const struct {
	const char *name;
	uint8_t level;
} levels[] = {
	{ "pgd", PAGEDET_LEVEL_PGD }, { "p4d", PAGEDET_LEVEL_P4D },
	{ "pud", PAGEDET_LEVEL_PUD }, { "pmd", PAGEDET_LEVEL_PMD },
	{ "pte", PAGEDET_LEVEL_PTE },
};

/* Parse "name[HEX]". */
static bool named_hex(struct pdet_scan *s, const char *name, uint64_t *ret)
{
	struct pdet_scan try = *s;

	if (!pdet_scan_word(&try, name) || !pdet_scan_char(&try, '[') ||
	    !pdet_scan_hex(&try, ret) || !pdet_scan_char(&try, ']'))
		return false;
	s->at = try.at;
	return true;
}

static bool level(struct pdet_scan *s, uint8_t *ret)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(levels); i++)
		if (pdet_scan_word(s, levels[i].name)) {
			*ret = levels[i].level;
			return true;
		}
	return false;
}

bool pdet_log_detective_begins(struct pdet_scan s, struct pdet_log_page *p)
{
	uint64_t pid;

	if (!pdet_scan_word(&s, "Investigating "))
		return false;
	if (pdet_scan_word(&s, "pid[")) {
		if (!pdet_scan_dec(&s, &pid) || pid > INT32_MAX ||
		    !pdet_scan_word(&s, "] ") ||
		    !named_hex(&s, "virtual", &p->virt) ||
		    !pdet_scan_char(&s, ' '))
			return false;
		p->pid = (uint32_t)pid;
		p->has |= PDET_LOG_VIRT;
	}
	if (!named_hex(&s, "physical", &p->phys) || !pdet_scan_char(&s, ' ') ||
	    !named_hex(&s, "pfn", &p->pfn))
		return false;
	p->has |= PDET_LOG_PFN;
	p->kind = PDET_LOG_DETECTIVE;
	return true;
}

/* "pid_virt_to_phys: pte[0] present[0]" and similar lines. */
static bool refused_walk(struct pdet_scan s, struct pdet_log_page *p)
{
	struct pdet_scan rest;
	uint64_t value;

	if (!pdet_scan_word(&s, "pid_virt_to_phys: "))
		return false;
	if (pdet_scan_word(&s, "Task not found for PID ")) {
		p->refusal = PDET_LOG_REFUSED_TASK;
		if (pdet_scan_dec(&s, &value) && value <= INT32_MAX)
			p->pid = (uint32_t)value;
		return true;
	}
	if (pdet_scan_word(&s, "PID ")) {
		p->refusal = PDET_LOG_REFUSED_KTHREAD;
		if (pdet_scan_dec(&s, &value) && value <= INT32_MAX)
			p->pid = (uint32_t)value;
		return true;
	}
	if (named_hex(&s, "virt_addr", &p->virt)) {
		p->refusal = PDET_LOG_REFUSED_ADDRESS;
		return true;
	}
	rest = s;
	if (!level(&rest, &p->bad_level) ||
	    !named_hex(&rest, "", &p->bad_entry))
		return false;
	p->refusal = PDET_LOG_REFUSED_ENTRY;
	return true;
}

bool pdet_log_detective_refuses(struct pdet_scan s, struct pdet_log_page *p)
{
	if (refused_walk(s, p))
		return true;
	if (pdet_scan_word(&s, "page_detective_virt_write: ")) {
		/* follows the reason */
		if (pdet_scan_word(&s, "Can't translate"))
			return false;
		p->refusal = PDET_LOG_REFUSED_INPUT;
		return true;
	}
	if (pdet_scan_word(&s, "page_detective_phys_write: ")) {
		p->refusal = PDET_LOG_REFUSED_INPUT;
		return true;
	}
	return false;
}

/* "metadata for Small Page pfn[7bee] folio[..] order [0]". */
struct metadata {
	bool large_rmappable, hugetlb;
	uint64_t pfn, order;
};

static bool parse_metadata(struct pdet_scan s, struct metadata *ret)
{
	uint64_t folio;

	*ret = (struct metadata){ .pfn = 0 };
	if (!pdet_scan_word(&s, "metadata for "))
		return false;
	if (pdet_scan_word(&s, "Transparent Huge Page "))
		ret->large_rmappable = true;
	else if (pdet_scan_word(&s, "HugeTLB "))
		ret->hugetlb = true;
	else if (!pdet_scan_word(&s, "Small Page "))
		return false;
	return named_hex(&s, "pfn", &ret->pfn) && pdet_scan_char(&s, ' ') &&
	       named_hex(&s, "folio", &folio) &&
	       pdet_scan_word(&s, " order [") &&
	       pdet_scan_dec(&s, &ret->order) && ret->order <= 63;
}

bool pdet_log_detective_resumes(struct pdet_scan s, struct pdet_log_page *p)
{
	struct metadata m;

	if (!parse_metadata(s, &m))
		return false;
	p->kind = PDET_LOG_DETECTIVE;
	p->partial = true;
	p->pfn = m.pfn;
	p->has |= PDET_LOG_PFN;
	return true;
}

static bool metadata(struct pdet_log_page *p, struct pdet_scan s)
{
	struct metadata m;

	/* "... not found" */
	if (pdet_scan_word(&s, "metadata for pfn["))
		return true;
	if (!parse_metadata(s, &m))
		return false;
	/* a line of another answer: the lines in between are lost */
	if (m.pfn != p->pfn) {
		p->partial = true;
		return true;
	}
	p->large_rmappable = m.large_rmappable;
	p->hugetlb = m.hugetlb;
	p->order = (uint32_t)m.order;
	p->has |= PDET_LOG_META;
	return true;
}

/*
 * Parse "[/a/b ] [/a ] [/ ]", from the page's cgroup to the root. A name may
 * contain "] [", so it ends where the name of its own parent follows.
 */
bool pdet_log_chain(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan path;
	const char *end, *up;

	if (!pdet_scan_word(&s, "memcg: [") || s.at == s.end || *s.at != '/')
		return false;
	if (pdet_scan_is(&s, "/ ]") || pdet_scan_is(&s, "/ ] ")) {
		path = (struct pdet_scan){ s.at, s.at + 1 };
		p->has |= PDET_LOG_CHAIN;
		*memory &= pdet_log_keep(p, path, &p->memcg);
		return true;
	}
	for (end = s.at; (end = memmem(end, (size_t)(s.end - end), " ] [", 4));
	     end++) {
		size_t len;

		path = (struct pdet_scan){ s.at, end };
		up = memrchr(s.at, '/', (size_t)(end - s.at));
		len = up == s.at ? 1 : (size_t)(up - s.at);
		if ((size_t)(s.end - end) < len + 6 ||
		    memcmp(end + 4, s.at, len) ||
		    memcmp(end + 4 + len, " ]", 2))
			continue;
		p->has |= PDET_LOG_CHAIN;
		*memory &= pdet_log_keep(p, path, &p->memcg);
		return true;
	}
	/* the line was cut */
	p->partial = true;
	return true;
}

static struct pdet_log_map *add_map(struct pdet_log_page *p, bool *memory)
{
	struct pdet_log_map *m;

	if (p->maps.n == MAX_MAPS) {
		p->partial = true;
		return NULL;
	}
	if (!pdet_vec_reserve(&p->maps, 1)) {
		*memory = false;
		return NULL;
	}
	m = &p->maps.data[p->maps.n++];
	memset(m, 0, sizeof(*m));
	return m;
}

static bool kernel_map(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	struct pdet_log_map *m, found = { 0 };

	if (pdet_scan_word(&s, "The page is direct mapped "))
		found.map = PAGEDET_MAP_DIRECT;
	else if (pdet_scan_word(&s, "The page is mapped in vmalloc "))
		found.map = PAGEDET_MAP_VMALLOC;
	else if (pdet_scan_word(&s, "The page is mapped into kernel "))
		found.map = PAGEDET_MAP_OTHER;
	else
		return false;
	if (!named_hex(&s, "addr", &found.vaddr) || !pdet_scan_char(&s, ' ') ||
	    !level(&s, &found.level) ||
	    !named_hex(&s, " entry", &found.entry))
		return false;
	m = add_map(p, memory);
	if (m)
		memcpy(m, &found, sizeof(found));
	return true;
}

/*
 * The name in "cmd[" may contain anything, even "]". It ends where the
 * following text begins.
 */
static bool command(struct pdet_scan *s, struct pdet_scan *ret)
{
	static const char behind[] = "] mm[";
	const char *end;

	if (!pdet_scan_word(s, " cmd["))
		return false;
	end = memmem(s->at, (size_t)(s->end - s->at), behind,
		     sizeof(behind) - 1);
	if (!end)
		return false;
	/* the last match */
	for (;;) {
		const char *next = memmem(end + 1, (size_t)(s->end - end - 1),
					  behind, sizeof(behind) - 1);

		if (!next)
			break;
		end = next;
	}
	*ret = (struct pdet_scan){ s->at, end };
	s->at = end + 1;
	return true;
}

static bool user_map(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_map *m, found = { .map = PAGEDET_MAP_USER };
	struct pdet_scan comm;
	uint64_t pid = 0, mm, pgd;

	pdet_scan_word(&s, "hugetlb ");
	if (!pdet_scan_word(&s, "mapped by PID["))
		return false;
	/* its owner has exited */
	if (!pdet_scan_word(&s, "-1")) {
		if (!pdet_scan_dec(&s, &pid) || pid > INT32_MAX)
			return false;
		found.has_pid = true;
		found.pid = (uint32_t)pid;
	}
	if (!pdet_scan_char(&s, ']') || !command(&s, &comm) ||
	    !named_hex(&s, " mm", &mm) || !named_hex(&s, " pgd", &pgd) ||
	    !named_hex(&s, " at addr", &found.vaddr) ||
	    !pdet_scan_char(&s, ' ') || !level(&s, &found.level) ||
	    !named_hex(&s, "", &found.entry))
		return false;
	m = add_map(p, memory);
	if (!m)
		return true;
	memcpy(m, &found, sizeof(found));
	if (found.has_pid)
		*memory &= pdet_log_keep(p, comm, &m->comm);
	return true;
}

/* Belongs to the mapping before it. */
static bool vma(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_map *m = p->maps.n ?
		&p->maps.data[p->maps.n - 1] : NULL;
	uint64_t addr, start, end, flags;

	if (pdet_scan_is(&s, "vma not found for this mapping"))
		return true;
	if (!named_hex(&s, "vma", &addr) || !named_hex(&s, " start", &start) ||
	    !named_hex(&s, " end", &end) || !named_hex(&s, " flags", &flags) ||
	    !pdet_scan_word(&s, " name: "))
		return false;
	if (!m || m->map != PAGEDET_MAP_USER || m->has_vma ||
	    m->vaddr < start || m->vaddr >= end)
		return true;
	m->has_vma = true;
	m->vma_start = start;
	m->vma_end = end;
	m->vma_flags = flags;
	*memory &= pdet_log_keep(p, s, &m->vma_name);
	return true;
}

static bool count(struct pdet_scan s, const char *before, uint64_t *ret)
{
	return pdet_scan_word(&s, before) && pdet_scan_dec(&s, ret) &&
	       pdet_scan_word(&s, " times");
}

/* Parse totals, and numbers of omitted lines. */
static bool summary(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t n;

	if (count(s, "The page mapped into kernel page table: ",
		  &p->kernel_maps))
		p->has |= PDET_LOG_KERNEL;
	else if (count(s, "The page mapped into user page tables: ",
		       &p->user_maps))
		p->has |= PDET_LOG_USERS;
	else if (pdet_scan_word(&s, "The page contains only zeroes"))
		p->has |= PDET_LOG_ZERO;
	else if (pdet_scan_word(&s, "Received a cancel signal from user") ||
		 pdet_scan_word(&s, "Number of processes increased") ||
		 pdet_scan_word(&s, "No memory to traverse"))
		p->partial = true;
	else if (named_hex(&s, "pfn", &n) && pdet_scan_is(&s, " is invalid"))
		p->has |= PDET_LOG_INVALID;
	else if (!pdet_scan_word(&s, "Skipping look-up for pfn[") &&
		 !pdet_scan_word(&s, "The page contains some data") &&
		 !pdet_scan_word(&s, "The page is not mapped into kernel ") &&
		 !pdet_scan_word(&s, "The page is mapped into vmalloc area") &&
		 !pdet_scan_word(&s, "Scanned "))
		return false;
	return true;
}

static bool finished(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t asked;

	if (!pdet_scan_word(&s, "Finished investigation of "))
		return false;
	if (!named_hex(&s, "virtual", &asked) &&
	    !named_hex(&s, "physical", &asked))
		return false;
	/* the end of another answer with a lost start */
	if (asked != (p->has & PDET_LOG_VIRT ? p->virt : p->phys))
		p->partial = true;
	p->has |= PDET_LOG_FINISHED;
	return true;
}

bool pdet_log_detective(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	return metadata(p, s) || pdet_log_chain(p, s, memory) ||
	       kernel_map(p, s, memory) || user_map(p, s, memory) ||
	       vma(p, s, memory) || summary(p, s) || finished(p, s);
}
