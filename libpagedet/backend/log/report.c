/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises the form of a report line, and parses numbers, tasks and addresses
 * that several forms share. Most lines of a log are not reports; the first
 * letter already excludes almost all of them.
 */
#include <string.h>

#include "backend/log/report.h"

/* TASK_COMM_LEN without its NUL. */
#define COMM_MAX 15

bool pdet_log_hex(struct pdet_scan *s, uint64_t *ret)
{
	struct pdet_scan try = *s;

	pdet_scan_word(&try, "0x");
	if (!pdet_scan_hex(&try, ret))
		return false;
	*s = try;
	return true;
}

bool pdet_log_behind(struct pdet_scan line, const char *word,
		     struct pdet_scan *ret)
{
	const size_t len = strlen(word);
	const char *at = memmem(line.at, (size_t)(line.end - line.at), word,
				len);

	if (!at)
		return false;
	*ret = (struct pdet_scan){ at + len, line.end };
	return true;
}

bool pdet_log_before(struct pdet_scan *s, const char *word)
{
	const size_t len = strlen(word);
	const char *at;

	if ((size_t)(s->end - s->at) < len)
		return false;
	for (at = s->end - len; at >= s->at; at--)
		if (!memcmp(at, word, len)) {
			s->end = at;
			return true;
		}
	return false;
}

void pdet_log_name(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	while (s.end > s.at && s.end[-1] == ' ')
		s.end--;
	if (!p->comm.len && s.at < s.end && s.end - s.at <= COMM_MAX)
		*memory &= pdet_log_keep(p, s, &p->comm);
}

bool pdet_log_task(struct pdet_log_page *p, struct pdet_scan s, char c,
		   bool *memory)
{
	const char *at = memrchr(s.at, c, (size_t)(s.end - s.at));
	struct pdet_scan number;
	uint64_t pid;

	if (!at)
		return false;
	number = (struct pdet_scan){ at + 1, s.end };
	if (!pdet_scan_dec(&number, &pid) || number.at != number.end ||
	    pid > INT32_MAX)
		return false;
	p->task = true;
	p->pid = (uint32_t)pid;
	pdet_log_name(p, (struct pdet_scan){ s.at, at }, memory);
	return true;
}

/* "CPU: 1 [UID: 0] PID: 58 Comm: "; before 3.10 "Pid: 58, comm: ". */
static bool task_of_cpu(struct pdet_scan *s, uint64_t *pid)
{
	uint64_t number;

	if (pdet_scan_word(s, "Pid: "))
		return pdet_scan_dec(s, pid) && *pid <= INT32_MAX &&
		       pdet_scan_word(s, ", comm: ");
	if (!pdet_scan_word(s, "CPU: ") || !pdet_scan_dec(s, &number) ||
	    !pdet_scan_char(s, ' '))
		return false;
	if (pdet_scan_word(s, "UID: ") &&
	    (!pdet_scan_dec(s, &number) || !pdet_scan_char(s, ' ')))
		return false;
	return pdet_scan_word(s, "PID: ") && pdet_scan_dec(s, pid) &&
	       *pid <= INT32_MAX && pdet_scan_word(s, " Comm: ");
}

/* "Tainted: G    B   4.9.45-v7+ #1031", after a name. */
static void release(struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan after, word;

	if (p->boot.version ||
	    (!pdet_log_behind(s, " Not tainted ", &after) &&
	     !pdet_log_behind(s, " Tainted: ", &after)))
		return;
	/* A name may have any byte, which ends the words. */
	do {
		pdet_scan_blanks(&after);
		word = pdet_scan_token(&after);
		p->boot.version = pdet_log_version(word);
	} while (!p->boot.version && word.at < word.end);
}

/* Whether the text begins with the name that is known, if one is. */
static bool is_named(const struct pdet_log_page *p, struct pdet_scan s)
{
	const struct pdet_scan known = pdet_log_page_text(p, p->comm);
	const size_t len = (size_t)(known.end - known.at);

	return !known.at ||
	       ((size_t)(s.end - s.at) >= len && !memcmp(s.at, known.at, len) &&
		(s.at + len == s.end || s.at[len] == ' '));
}

bool pdet_log_cpu(struct pdet_log_page *p, struct pdet_scan text,
		  bool *memory)
{
	const struct pdet_scan known = pdet_log_page_text(p, p->comm);
	struct pdet_scan s = text;
	uint64_t pid;

	if (!task_of_cpu(&s, &pid))
		return false;
	if (!is_named(p, s))
		return true;	/* printed by a different task */
	if (!p->task) {
		p->task = true;
		p->pid = (uint32_t)pid;
	} else if (!known.at && p->pid != pid) {
		return true;
	}
	release(p, s);
	/* The name may contain blanks, so the text after it ends it. */
	s.end = s.at + PDET_MIN(s.end - s.at, COMM_MAX + 13);
	if (pdet_log_before(&s, " Not tainted") ||
	    pdet_log_before(&s, " Tainted: "))
		pdet_log_name(p, s, memory);
	return true;
}

void pdet_log_says(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	while (s.end > s.at && s.end[-1] == ' ')
		s.end--;
	if (!p->says.len && s.at < s.end)
		*memory &= pdet_log_keep(p, s, &p->says);
}

void pdet_log_kernel_address(struct pdet_log_page *p, uint64_t addr)
{
	p->has_kaddr = true;
	p->kaddr = addr;
}

bool pdet_log_pointer(struct pdet_scan *s, struct pdet_log_pointer *ret)
{
	struct pdet_scan try = *s;
	const char *at;

	*ret = (struct pdet_log_pointer){ 0, 0 };
	pdet_scan_blanks(&try);
	if (pdet_scan_word(&try, "(null)")) {
		*s = try;
		return true;
	}
	/* Early during boot the kernel cannot hash. */
	if (pdet_scan_word(&try, "(____ptrval____)") ||
	    pdet_scan_word(&try, "(ptrval)")) {
		ret->value = 1;
		*s = try;
		return true;
	}
	pdet_scan_word(&try, "0x");
	at = try.at;
	if (!pdet_scan_hex(&try, &ret->value))
		return false;
	ret->digits = (unsigned)(try.at - at);
	*s = try;
	return true;
}

bool pdet_log_is_real(struct pdet_log_pointer is)
{
	return is.value >> 32;
}

bool pdet_log_is_hash(struct pdet_log_pointer is)
{
	return is.value && !(is.value >> 32) && is.digits != 8;
}

/* --- forms --- */

typedef bool form_fn(struct pdet_log_page *p, struct pdet_scan s,
		     bool *memory);

enum form {
	BAD_PAGE, POISON, MACHINE_CHECK, SLAB, KASAN, KFENCE, IO, HUNG, MOVE,
	FAULT			/* may begin with any letter */
};

static const struct {
	form_fn *begins;
	form_fn *takes;		/* NULL: it has one line */
} forms[] = {
	[BAD_PAGE] = { pdet_log_bad_page_begins, pdet_log_bad_page },
	[POISON] = { pdet_log_poison_begins, NULL },
	[MACHINE_CHECK] = { pdet_log_machine_check_begins,
			    pdet_log_machine_check },
	[SLAB] = { pdet_log_slab_begins, pdet_log_slab },
	[KASAN] = { pdet_log_kasan_begins, pdet_log_kasan },
	[KFENCE] = { pdet_log_kfence_begins, pdet_log_kfence },
	[IO] = { pdet_log_io_begins, NULL },
	[HUNG] = { pdet_log_hung_begins, pdet_log_hung },
	[MOVE] = { pdet_log_move_begins, NULL },
	[FAULT] = { pdet_log_fault_begins, pdet_log_fault },
};

#define BIT(form) (1 << (form))

/* The forms whose first line begins with this letter. */
static const uint16_t of_letter[256] = {
	['B'] = BIT(BAD_PAGE) | BIT(SLAB) | BIT(KASAN) | BIT(KFENCE) |
		BIT(IO) | BIT(MACHINE_CHECK),
	['E'] = BIT(MACHINE_CHECK) | BIT(IO),
	['C'] = BIT(MACHINE_CHECK), ['O'] = BIT(MACHINE_CHECK),
	['R'] = BIT(POISON),
	['0'] = BIT(MACHINE_CHECK), ['1'] = BIT(MACHINE_CHECK),
	['2'] = BIT(MACHINE_CHECK), ['3'] = BIT(MACHINE_CHECK),
	['4'] = BIT(MACHINE_CHECK), ['5'] = BIT(MACHINE_CHECK),
	['6'] = BIT(MACHINE_CHECK), ['7'] = BIT(MACHINE_CHECK),
	['8'] = BIT(MACHINE_CHECK), ['9'] = BIT(MACHINE_CHECK),
	['I'] = BIT(POISON) | BIT(IO) | BIT(HUNG),
	['M'] = BIT(POISON),
	['S'] = BIT(POISON),
	['U'] = BIT(POISON),
	['X'] = BIT(IO),
	['['] = BIT(MACHINE_CHECK),
	['{'] = BIT(MACHINE_CHECK),
	['l'] = BIT(SLAB),
	['m'] = BIT(MACHINE_CHECK) | BIT(MOVE),
	['s'] = BIT(POISON),
	/*
	 * kinds of errors (block/blk-core.c, blk_errors[]), and functions that
	 * print them
	 */
	['_'] = BIT(MOVE) | BIT(POISON), ['g'] = BIT(POISON),
	['a'] = BIT(IO) | BIT(MOVE), ['f'] = BIT(MOVE),
	['b'] = BIT(IO), ['c'] = BIT(IO), ['d'] = BIT(IO),
	['i'] = BIT(IO), ['k'] = BIT(IO), ['n'] = BIT(IO), ['o'] = BIT(IO),
	['p'] = BIT(IO), ['r'] = BIT(IO), ['t'] = BIT(IO), ['z'] = BIT(IO),
};

bool pdet_log_report_begins(struct pdet_log_page *p, struct pdet_scan text,
			    bool *memory)
{
	unsigned which, i;

	which = text.at < text.end ?
		of_letter[(unsigned char)*text.at] | BIT(FAULT) : 0;
	for (i = 0; which >> i; i++) {
		if (!(which >> i & 1) || !forms[i].begins(p, text, memory))
			continue;
		p->form = (uint8_t)i;
		p->over |= !forms[i].takes && !p->joins && !p->expects;
		return true;
	}
	return false;
}

bool pdet_log_report_takes(struct pdet_log_page *p, struct pdet_scan text,
			   bool *memory)
{
	return p->report && forms[p->form].takes &&
	       forms[p->form].takes(p, text, memory);
}

unsigned pdet_log_patience(const struct pdet_log_page *p)
{
	switch (p->report) {
	case PAGEDET_REPORT_KASAN:
	case PAGEDET_REPORT_KFENCE:
	case PAGEDET_REPORT_SLAB:
	case PAGEDET_REPORT_HUNG_TASK:
		return PDET_LOG_PATIENCE_LONG;
	case PAGEDET_REPORT_APEI:
		/* Where the module is may follow the type of the error. */
		return !p->typed ? PDET_LOG_PATIENCE :
		       p->has_serial ? PDET_LOG_PATIENCE_SHORT : 1;
	case PAGEDET_REPORT_LIST:
		return PDET_LOG_PATIENCE_SHORT;
	case PAGEDET_REPORT_FAULT:
		return p->wants_pc ? PDET_LOG_PATIENCE :
				     PDET_LOG_PATIENCE_SHORT;
	default:
		return PDET_LOG_PATIENCE;
	}
}

/* The others are about a page only if they name one. */
bool pdet_log_is_about_memory(const struct pdet_log_page *p)
{
	return p->report != PAGEDET_REPORT_HUNG_TASK &&
	       p->report != PAGEDET_REPORT_APEI &&
	       p->report != PAGEDET_REPORT_MACHINE_CHECK;
}

bool pdet_log_names_something(const struct pdet_log_page *p)
{
	return p->kind != PDET_LOG_REPORT || p->has & PDET_LOG_PFN ||
	       p->has_address || p->has_kaddr || p->hashed ||
	       p->may_be_hashed || p->found;
}

/* --- whose a line is --- */

enum pdet_log_fit pdet_log_report_fits(struct pdet_log_page *p,
				       struct pdet_scan text, bool *tells,
				       bool *memory)
{
	enum pdet_log_fit fit = PDET_LOG_MAY_FIT;
	const size_t length = p->text.n;
	struct pdet_log_page was;
	bool taken;

	if (p->report == PAGEDET_REPORT_KFENCE)
		fit = pdet_log_kfence_fits(p, text);
	else if (p->report == PAGEDET_REPORT_SLAB ||
		 p->report == PAGEDET_REPORT_LIST)
		fit = pdet_log_slab_fits(p, text);
	if (!fit)
		return PDET_LOG_FITS_NOT;
	/* A report only adds to its text. */
	memcpy(&was, p, sizeof(was));
	taken = pdet_log_report_takes(p, text, memory);
	memcpy(&was.text, &p->text, sizeof(was.text));
	*tells = p->text.n != length || memcmp(&was, p, sizeof(was)) != 0;
	memcpy(p, &was, sizeof(was));
	p->text.n = length;
	return taken ? fit : PDET_LOG_FITS_NOT;
}

bool pdet_log_task_of(struct pdet_scan text, struct pdet_log_task *ret)
{
	uint64_t pid;

	if (text.at == text.end || (*text.at != 'C' && *text.at != 'P') ||
	    !task_of_cpu(&text, &pid))
		return false;
	ret->pid = (uint32_t)pid;
	ret->comm = text;
	return true;
}

bool pdet_log_is_check(const struct pdet_log_page *p)
{
	struct pdet_scan why = pdet_log_page_text(p, p->why);

	return p->report == PAGEDET_REPORT_DUMP_PAGE && why.at &&
	       pdet_scan_word(&why, "VM_");
}

/* Whether dump_page() is called for this reason without a backtrace next (Linux
 * mm/page_isolation.c, mm/page_alloc.c, mm/memory_hotplug.c,
 * mm/memory-failure.c). */
static bool is_taskless(const struct pdet_log_page *p)
{
	static const char *const reasons[] = {
		"unmovable page", "migration failure", "isolation failed",
		"hwpoison: ",
	};
	const struct pdet_scan why = pdet_log_page_text(p, p->why);
	size_t i;

	for (i = 0; i < PDET_COUNT(reasons) && why.at; i++) {
		struct pdet_scan s = why;

		if (pdet_scan_word(&s, reasons[i]))
			return true;
	}
	return false;
}

bool pdet_log_is_named(const struct pdet_log_page *p)
{
	return p->report == PAGEDET_REPORT_BAD_PAGE_STATE ||
	       p->report == PAGEDET_REPORT_BAD_PAGE_MAP ||
	       p->report == PAGEDET_REPORT_BAD_PAGE_CACHE;
}

enum pdet_log_fit pdet_log_task_fits(const struct pdet_log_page *p,
				     const struct pdet_log_task *task)
{
	switch (p->report) {
	case PAGEDET_REPORT_KFENCE:
		if (p->wants_object && !p->loses)
			return PDET_LOG_FITS_NOT;
		break;
	case PAGEDET_REPORT_FAULT: case PAGEDET_REPORT_KASAN:
	case PAGEDET_REPORT_SLAB: case PAGEDET_REPORT_LIST:
	case PAGEDET_REPORT_BAD_PAGE_STATE: case PAGEDET_REPORT_BAD_PAGE_MAP:
	case PAGEDET_REPORT_BAD_PAGE_CACHE:
		break;
	case PAGEDET_REPORT_DUMP_PAGE:
		if (is_taskless(p))
			return PDET_LOG_FITS_NOT;
		break;
	default:
		return PDET_LOG_FITS_NOT;
	}
	if (!is_named(p, task->comm))
		return PDET_LOG_FITS_NOT;
	if (!p->task)
		return PDET_LOG_MAY_FIT;
	return p->pid == task->pid ? PDET_LOG_FITS : PDET_LOG_FITS_NOT;
}

bool pdet_log_task_take(struct pdet_log_page *p, struct pdet_scan text,
			bool *memory)
{
	return p->report == PAGEDET_REPORT_DUMP_PAGE ?
		pdet_log_cpu(p, text, memory) :
		pdet_log_report_takes(p, text, memory);
}

bool pdet_log_has_trace(const struct pdet_log_page *p)
{
	switch (p->report) {
	case PAGEDET_REPORT_SLAB:
		return !p->task;
	case PAGEDET_REPORT_KASAN: case PAGEDET_REPORT_KFENCE:
	case PAGEDET_REPORT_LIST: case PAGEDET_REPORT_HUNG_TASK:
	case PAGEDET_REPORT_BAD_PAGE_STATE: case PAGEDET_REPORT_BAD_PAGE_MAP:
	case PAGEDET_REPORT_BAD_PAGE_CACHE:
		return true;
	default:
		return false;
	}
}

bool pdet_log_has_stacks(const struct pdet_log_page *p)
{
	return p->report == PAGEDET_REPORT_KASAN ||
	       p->report == PAGEDET_REPORT_KFENCE ||
	       p->report == PAGEDET_REPORT_SLAB;
}

void pdet_log_mix(struct pdet_log_page *p)
{
	const bool was = pdet_log_stack_open(p);

	p->mixed = true;
	if (p->report != PAGEDET_REPORT_KFENCE || !was)
		return;
	pdet_log_owner_hole(p);
	p->partial = true;
}

bool pdet_log_is_error(struct pdet_scan s, uint32_t *pid, bool *has_pid)
{
	static const char *const words[] = {
		"BUG: ", "WARNING: ", "kernel BUG at ", "INFO: task ",
		"INFO: rcu", "rcu: INFO: ", "watchdog: ", "UBSAN: ",
		"Unable to handle kernel ", "Internal error: ",
		"Kernel panic - ", "NMI backtrace for cpu ",
		"general protection fault", "divide error: ", "stack segment: ",
	};
	/* A task's name precedes it. */
	static const char *const inside[] = {
		" invoked oom-killer: ", ": page allocation failure: ",
	};
	struct pdet_scan at = s;
	uint64_t cpu, number;
	size_t i;

	*has_pid = false;
	if (pdet_scan_word(&at, "WARNING: CPU: ") && pdet_scan_dec(&at, &cpu) &&
	    pdet_scan_word(&at, " PID: ") && pdet_scan_dec(&at, &number) &&
	    number <= INT32_MAX) {
		*pid = (uint32_t)number;
		return *has_pid = true;
	}
	/* Of x86, since 6.10. */
	pdet_scan_word(&s, "Oops: ");
	/* It follows "kernel BUG at", and is of the same task. */
	at = s;
	if (pdet_scan_word(&at, "Internal error: Oops - BUG"))
		return false;
	for (i = 0; i < PDET_COUNT(words); i++)
		if (pdet_scan_word(&s, words[i]))
			return true;
	for (i = 0; i < PDET_COUNT(inside); i++)
		if (pdet_log_behind(s, inside[i], &at))
			return true;
	return false;
}

bool pdet_log_owns_error(const struct pdet_log_page *p, struct pdet_scan s)
{
	struct pdet_scan at;

	if (pdet_log_is_check(p))
		return !p->erred && !p->task &&
		       (pdet_scan_word(&s, "kernel BUG at ") ||
			pdet_scan_word(&s, "WARNING: "));
	if (p->report == PAGEDET_REPORT_SLAB)
		return pdet_log_behind(s, "mm/slub.c:", &at);
	return p->report == PAGEDET_REPORT_LIST &&
	       pdet_log_behind(s, "lib/list_debug.c:", &at);
}
