/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses KFENCE reports (Linux mm/kfence/report.c; 5.12 to 6.18), and fills the
 * fields of the object's allocation and free:
 *
 *   BUG: KFENCE: use-after-free read in f+0x20/0x60
 *
 *   Use-after-free read at 0xffff8c4f3e293f60 (in kfence-#24):
 *    [stack]
 *
 *   kfence-#24: 0xffff8c4f3e293f60-0xffff8c4f3e293f7f, size=32,
 *       cache=kmalloc-32
 *
 *   allocated by task 507 on cpu 1 at 38.117001s (0.000731s ago):
 *    [stack]
 *
 *   freed by task 508 on cpu 0 at 38.117500s (0.000232s ago):
 *    [stack]
 *
 *   CPU: 1 PID: 507 Comm: netd Not tainted 6.6.30 #1
 *   ==================================================================
 *
 * Other lines about the access:
 *
 *   Out-of-bounds read at 0xffffffffb672efff (1B left of kfence-#17):
 *   Corrupted memory at 0xffffffffb6797ff9 [ 0xac . . . ] (in kfence-#69):
 *   Invalid read at 0xffffffffb670b00a:	(of no object that is known)
 *   Invalid free of 0xffffffffb6741000 (in kfence-#26):
 *
 * 5.12 has one line for the object and its allocation:
 *
 *   kfence-#17 [0x...-0x..., size=32, cache=kmalloc-32] allocated by task 507:
 *
 * Later kernels print the processor and the time, and then how long ago it was.
 * Addresses are hashed, unless the kernel runs with no_hash_pointers.
 */
#include <string.h>

#include "backend/log/report.h"
#include "kernel/owner/columns.h"

#define F(name) PAGEDET_FIELD_##name

static struct pdet_scan of(const char *text)
{
	return (struct pdet_scan){ text, text + strlen(text) };
}

/* syslog may have kept a newline. */
static struct pdet_scan trimmed(struct pdet_scan s)
{
	while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\n'))
		s.end--;
	return s;
}

/* Add words to the reason. */
static void add(struct pdet_log_page *p, struct pdet_scan words, bool *memory)
{
	*memory &= pdet_log_join_reasons(p, pdet_log_reason(p), "; ", words);
}

bool pdet_log_kfence_begins(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory)
{
	if (!pdet_scan_word(&s, "BUG: KFENCE: "))
		return false;
	s = trimmed(s);
	if (s.at == s.end)
		return false;
	p->report = PAGEDET_REPORT_KFENCE;
	p->found = true;
	pdet_log_says(p, s, memory);
	return true;
}

/* " (in kfence-#24):", " [ 0xac . . ] (in kfence-#69):" or ":": where it is, in
 * words. A damaged line is not taken apart. */
static void place(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan in = { s.at, s.end };
	char text[256];
	size_t before, n;

	if (!pdet_log_before(&s, "):") || s.end + strlen("):") != in.end ||
	    !pdet_log_behind(s, " (", &in) || in.at == in.end ||
	    memchr(in.at, '(', (size_t)(in.end - in.at)) ||
	    memchr(s.at, ')', (size_t)(s.end - s.at)))
		return;
	pdet_scan_blanks(&s);
	before = in.at - s.at > 2 ? (size_t)(in.at - s.at) - 1 : 0;
	n = before + (size_t)(in.end - in.at);
	if (n > sizeof(text))
		return;
	memcpy(text, s.at, before);
	memcpy(text + before, in.at, n - before);
	add(p, (struct pdet_scan){ text, text + n }, memory);
}

/* Words of the line about the access, and of the first line. */
static const struct {
	const char *access, *first;
} kinds[] = {
	{ "Out-of-bounds read at ", "out-of-bounds read" },
	{ "Out-of-bounds write at ", "out-of-bounds write" },
	{ "Use-after-free read at ", "use-after-free read" },
	{ "Use-after-free write at ", "use-after-free write" },
	{ "Corrupted memory at ", "memory corruption" },
	{ "Invalid read at ", "invalid read" },
	{ "Invalid write at ", "invalid write" },
	{ "Invalid free of ", "invalid free" },
};

/* The kind of a line about an access; PDET_COUNT(kinds) if it is another. */
static size_t kind_of(struct pdet_scan *s)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(kinds); i++)
		if (pdet_scan_word(s, kinds[i].access))
			break;
	return i;
}

/* "Use-after-free read at 0x... (in kfence-#24):" */
static bool access(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_pointer is;

	if (kind_of(&s) == PDET_COUNT(kinds) || !pdet_log_pointer(&s, &is))
		return false;
	pdet_log_take_pointer(p, is);
	pdet_log_see_pointer(p, is);
	place(p, trimmed(s), memory);
	p->accessed = true;
	p->wants_object = pdet_log_behind(s, "kfence-#", &s);
	if (p->wants_object && pdet_scan_dec(&s, &p->serial))
		p->has_serial = true;
	return true;
}

/* " on cpu 1 at 38.117001s", which 5.12 does not have. */
static bool take_time(struct pdet_scan s, uint64_t *ns)
{
	uint64_t cpu, seconds, us;
	const char *at;

	if (!pdet_scan_word(&s, " on cpu ") || !pdet_scan_dec(&s, &cpu) ||
	    !pdet_scan_word(&s, " at ") || !pdet_scan_dec(&s, &seconds) ||
	    seconds > UINT32_MAX || !pdet_scan_char(&s, '.'))
		return false;
	at = s.at;
	if (!pdet_scan_dec(&s, &us) || s.at - at != 6 ||
	    !pdet_scan_char(&s, 's'))
		return false;
	*ns = seconds * 1000000000 + us * 1000;
	return true;
}

/* "allocated by task 507:", after which its stack comes. */
static bool allocated(struct pdet_log_page *p, struct pdet_scan s,
		      bool *memory)
{
	struct pdet_log_owner *o = &p->owner;
	struct pdet_scan words = s;
	uint64_t pid;

	if (!pdet_scan_word(&s, "allocated by task ") ||
	    !pdet_scan_dec(&s, &pid) || pid > INT32_MAX)
		return false;
	words.end = s.at;
	add(p, words, memory);
	o->pid = (uint32_t)pid;
	o->has = PDET_OWNER_PID;
	if (take_time(s, &o->ns))
		o->has |= PDET_OWNER_NS;
	pdet_log_stack_begins(&o->alloc);
	return true;
}

/* "freed by task 508 on cpu ...", or "rcu freeing by task ..." while a grace
 * period passes. */
static bool freed(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_owner *o = &p->owner;
	struct pdet_scan words = s;
	uint64_t pid;

	if ((!pdet_scan_word(&s, "freed by task ") &&
	     !pdet_scan_word(&s, "rcu freeing by task ")) ||
	    !pdet_scan_dec(&s, &pid))
		return false;
	words.end = s.at;
	add(p, words, memory);
	if (take_time(s, &o->free_ns))
		o->has |= PDET_OWNER_FREE_NS;
	pdet_log_stack_ends(&o->alloc);
	pdet_log_stack_begins(&o->free);
	return true;
}

/* "0x...-0x..., size=32, cache=kmalloc-32", and the bracket of 5.12. */
static bool object(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_pointer first, last;
	struct pdet_scan rest = { s.end, s.end }, size;
	uint64_t number;
	char text[64];
	bool old;

	if (!pdet_scan_word(&s, "kfence-#") || !pdet_scan_dec(&s, &number))
		return false;
	old = pdet_scan_word(&s, " [");
	if (!old && !pdet_scan_word(&s, ": "))
		return false;
	p->wants_object = false;
	p->object = true;
	if (!pdet_log_pointer(&s, &first) || !pdet_scan_char(&s, '-') ||
	    !pdet_log_pointer(&s, &last) || !pdet_scan_word(&s, ", size="))
		return false;
	size.at = s.at;
	if (!pdet_scan_dec(&s, &number))
		return false;
	size.end = s.at;
	if (!pdet_scan_word(&s, ", cache="))
		return false;
	if (old && pdet_log_behind(s, "] ", &rest))
		s.end = rest.at - strlen("] ");
	s = trimmed(s);
	pdet_log_see_pointer(p, first);
	pdet_log_see_pointer(p, last);
	number = (uint64_t)(size.end - size.at);
	if (number <= sizeof(text) - strlen("size ")) {
		memcpy(text, "size ", strlen("size "));
		memcpy(text + strlen("size "), size.at, number);
		add(p, (struct pdet_scan){ text, text + strlen("size ") +
					   number }, memory);
	}
	if (pdet_scan_is(&s, "<destroyed>"))
		add(p, of("the cache was destroyed"), memory);
	else if (!p->cache.len && s.at < s.end && s.end - s.at <= 128)
		*memory &= pdet_log_keep(p, s, &p->cache);
	allocated(p, rest, memory);
	return true;
}

static bool no_stack(struct pdet_log_page *p, struct pdet_scan s)
{
	if (pdet_scan_word(&s, "no allocation stack"))
		p->owner.alloc.state = PDET_LOG_STACK_NONE;
	else if (pdet_scan_word(&s, "no deallocation stack"))
		p->owner.free.state = PDET_LOG_STACK_NONE;
	else
		return false;
	return true;
}

void pdet_log_kfence_cut(struct pdet_log_page *p)
{
	p->partial = true;
	pdet_log_owner_hole(p);
}

void pdet_log_kfence_parts(struct pdet_log_page *p)
{
	pdet_log_owner_hole(p);
	p->task_lost = true;
}

/* The last line is of the task, which comes after the object. A line of signs
 * that comes before is of another report, or the task's is lost. */
static bool ends(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	if (pdet_scan_word(&s, PDET_LOG_SIGNS)) {
		pdet_log_kfence_parts(p);
		return true;
	}
	if (p->wants_object || !pdet_log_cpu(p, s, memory))
		return false;
	pdet_log_stack_ends(&p->owner.alloc);
	p->over = true;
	return true;
}

bool pdet_log_kfence(struct pdet_log_page *p, struct pdet_scan s,
		     bool *memory)
{
	uint32_t pid;
	bool has_pid;

	if (s.at == s.end)
		return false;
	if (access(p, s, memory) || object(p, s, memory) ||
	    allocated(p, s, memory) || freed(p, s, memory) ||
	    no_stack(p, s) || ends(p, s, memory)) {
		if (p->mixed)
			pdet_log_mix(p);
		return true;
	}
	/* "kernel BUG at mm/filemap.c:1234!" has the form of one, too. */
	if (pdet_log_is_error(s, &pid, &has_pid))
		s.end = s.at;
	return pdet_log_stack_frame(p, s, memory);
}

/* The line about the access follows the first one, which has the same words;
 * the object is numbered; what was done with it follows the object, unless that
 * line was lost. */
enum pdet_log_fit pdet_log_kfence_fits(const struct pdet_log_page *p,
				       struct pdet_scan s)
{
	struct pdet_scan says = pdet_log_page_text(p, p->says), line = s;
	const size_t kind = kind_of(&line);
	const bool allocated = p->owner.has & PDET_OWNER_PID;
	uint64_t serial;

	if (kind < PDET_COUNT(kinds))
		return !p->accessed && says.at &&
		       pdet_scan_word(&says, kinds[kind].first) ?
			PDET_LOG_MAY_FIT : PDET_LOG_FITS_NOT;
	if (pdet_scan_word(&s, "kfence-#")) {
		if (!pdet_scan_dec(&s, &serial) || p->object)
			return PDET_LOG_FITS_NOT;
		if (p->has_serial)
			return p->serial == serial ? PDET_LOG_FITS :
						     PDET_LOG_FITS_NOT;
		return p->accessed ? PDET_LOG_FITS_NOT : PDET_LOG_MAY_FIT;
	}
	if (pdet_scan_word(&s, "allocated by task "))
		return (p->object || p->loses) && !allocated ?
			PDET_LOG_MAY_FIT : PDET_LOG_FITS_NOT;
	if (pdet_scan_word(&s, "freed by task ") ||
	    pdet_scan_word(&s, "rcu freeing by task "))
		return (allocated || p->loses) && p->owner.free.state ==
			PDET_LOG_STACK_UNSAID ? PDET_LOG_MAY_FIT :
						PDET_LOG_FITS_NOT;
	return pdet_scan_word(&s, PDET_LOG_SIGNS) ? PDET_LOG_FITS_NOT :
						    PDET_LOG_MAY_FIT;
}

void pdet_log_put_kfence(const struct pdet_log_putting *o)
{
	const struct pdet_log_owner *is = &o->p->owner;

	if (is->has & PDET_OWNER_PID)
		pdet_log_cell(o, F(ALLOC_PID), is->pid);
	if (is->has & PDET_OWNER_NS)
		pdet_log_cell(o, F(ALLOC_NS), is->ns);
	if (is->has & PDET_OWNER_FREE_NS)
		pdet_log_cell(o, F(FREE_NS), is->free_ns);
	pdet_log_put_stack(o, F(ALLOC_STACK), &is->alloc);
	pdet_log_put_stack(o, F(FREE_STACK), &is->free);
}
