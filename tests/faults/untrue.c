/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Decides whether an answer is still true. Every answered cell must equal that
 * without failures. A cell without an answer must have a reason, which is
 * counted. A missing row must be accounted for.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "asking.h"
#include "faults.h"

static const char *say(const char *what, const char *name, uint64_t all,
		       uint64_t now)
{
	static char words[256];

	snprintf(words, sizeof(words), "%s %s: %llx, and was %llx", what, name,
		 (unsigned long long)now, (unsigned long long)all);
	return words;
}

static unsigned state(const struct kept_row *row, unsigned f)
{
	return PAGEDET_CELL_STATE(row->page.cell[f]);
}

static bool is_reason(unsigned s)
{
	return s >= PAGEDET_UNSUPPORTED;
}

static uint64_t value(const struct kept_row *row, unsigned f)
{
	const struct pagedet_field_info *info = pagedet_field(f);
	uint64_t wide = 0;
	uint32_t narrow;

	if (info->width == 8) {
		memcpy(&wide, (const char *)&row->page + info->offset, 8);
		return wide;
	}
	memcpy(&narrow, (const char *)&row->page + info->offset, 4);
	return narrow;
}

static bool is_string(unsigned f)
{
	const struct pagedet_field_info *info = pagedet_field(f);

	return info && (info->type == PAGEDET_TYPE_STRING ||
			info->type == PAGEDET_TYPE_LIST);
}

/* The index of a string field among the kept strings, or -1. */
static int string_of(unsigned f)
{
	int n = 0;
	unsigned i;

	if (!is_string(f))
		return -1;
	for (i = 0; i < f; i++)
		n += is_string(i);
	return n;
}

/* Another source may replace it and know more. */
static bool has_others(const struct question *q)
{
	return q->sources & (q->sources - 1);
}

/* Bits known to both are equal, and no more bits are known than before. */
static bool same_mask(const struct question *q, const struct kept_row *all,
		      const struct kept_row *now, unsigned f)
{
	unsigned k = pagedet_field(f)->known;
	uint64_t know_all = ~(uint64_t)0, know_now = ~(uint64_t)0;

	if (k != f && state(now, k) == PAGEDET_HAVE)
		know_now = value(now, k);
	if (k != f && state(all, k) == PAGEDET_HAVE)
		know_all = value(all, k);
	return !((value(all, f) ^ value(now, f)) & know_all & know_now) &&
	       !(k != f && know_now & ~know_all && !has_others(q));
}

/*
 * Additional notes are true. Without a frame there are fewer notes. Whether a
 * page differs from the log is not noted if either is not known; the log's own
 * statement is in another row.
 */
static bool same_notes(const struct kept_row *all, const struct kept_row *now)
{
	const uint64_t gone = value(all, PAGEDET_FIELD_NOTES) &
			~value(now, PAGEDET_FIELD_NOTES) &
			~PAGEDET_NOTE(PAGEDET_NOTE_CHANGED);

	return !gone || is_reason(state(now, PAGEDET_FIELD_PFN));
}

static bool same_value(const struct question *q, const struct kept_row *all,
		       const struct kept_row *now, unsigned f)
{
	int string = string_of(f);

	if (f == PAGEDET_FIELD_NOTES)
		return same_notes(all, now);
	if (f == PAGEDET_FIELD_FLAGS_KNOWN || f == PAGEDET_FIELD_PTE_KNOWN)
		return has_others(q) || !(value(now, f) & ~value(all, f));
	if (f == PAGEDET_FIELD_USER_MAPS)	/* checked separately */
		return value(now, f) <= value(all, f);
	/* As it is without types. */
	if (f == PAGEDET_FIELD_KIND && q->at == DUMP &&
	    value(now, f) == PAGEDET_KIND_UNKNOWN)
		return true;
	if (pagedet_field(f)->type == PAGEDET_TYPE_MASK)
		return same_mask(q, all, now, f);
	if (string >= 0)
		return !strcmp(all->text[string], now->text[string]);
	return value(all, f) == value(now, f);
}

static const char *say_field(unsigned f, const struct kept_row *all,
			     const struct kept_row *now)
{
	static char words[256];

	snprintf(words, sizeof(words), "%s is %s %llx, and was %s %llx",
		 pagedet_field(f)->name, pagedet_state_name(state(now, f)),
		 (unsigned long long)value(now, f),
		 pagedet_state_name(state(all, f)),
		 (unsigned long long)value(all, f));
	return words;
}

/* The field in which two rows contradict each other, or -1. */
static int contradicts(const struct question *q, const struct kept_row *all,
		       const struct kept_row *now)
{
	unsigned f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		unsigned was = state(all, f), is = state(now, f);

		if (!pagedet_field(f) || (is == was && is != PAGEDET_HAVE))
			continue;
		/* The set of cheap fields may differ. */
		if (is == PAGEDET_NOT_ASKED &&
		    q->options & PAGEDET_Q_CHEAP)
			continue;
		if (q->root && is == PAGEDET_RACED)
			return (int)f;
		if (is_reason(is) && was != PAGEDET_NOT_ASKED)
			continue;
		if (is != was || !same_value(q, all, now, f))
			return (int)f;
	}
	return -1;
}

static const char *cannot_be(const struct question *q,
			     const struct kept_row *all,
			     const struct kept_row *now)
{
	const int f = contradicts(q, all, now);

	return f < 0 ? NULL : say_field((unsigned)f, all, now);
}

/* A new reason in a row must be counted in the coverage. */
static const char *not_counted(const struct answer *a,
			     const struct kept_row *all,
			     const struct kept_row *now)
{
	unsigned f;

	for (f = 0; a->has_cover && f < PAGEDET_FIELDS_MAX; f++) {
		unsigned is = state(now, f);

		if (pagedet_field(f) && is_reason(is) &&
		    is != state(all, f) && !a->cover.lost[is % 32])
			return say_field(f, all, now);
	}
	return NULL;
}

/* Missing mappings must belong to tasks that were left out. */
static const char *not_found(const struct answer *all,
			     const struct answer *now,
			     const struct kept_row *was,
			     const struct kept_row *is)
{
	const unsigned f = PAGEDET_FIELD_USER_MAPS;

	if (state(is, f) != PAGEDET_HAVE || value(is, f) == value(was, f) ||
	    value(is, PAGEDET_FIELD_NOTES) &
		    PAGEDET_NOTE(PAGEDET_NOTE_PARTIAL) ||
	    now->cover.tasks_denied > all->cover.tasks_denied ||
	    now->cover.tasks_damaged > all->cover.tasks_damaged ||
	    now->cover.tasks_gone > all->cover.tasks_gone ||
	    now->unread > all->unread)
		return NULL;
	return say_field(f, was, is);
}

/* Whether the answer says that rows are missing. */
static bool accounted(const struct answer *all, const struct answer *now)
{
	const struct pagedet_coverage *c = &now->cover, *was = &all->cover;
	unsigned i;

	for (i = 0; i < 32; i++)
		if (c->lost[i] > was->lost[i])
			return true;
	return now->result || !now->has_cover || c->complete < was->complete ||
	       c->stopped ||
	       c->tasks_gone > was->tasks_gone ||
	       c->tasks_denied > was->tasks_denied ||
	       c->tasks_damaged > was->tasks_damaged ||
	       c->files_gone > was->files_gone ||
	       c->files_denied > was->files_denied ||
	       c->undecided > was->undecided || c->spilled > was->spilled ||
	       now->unread > all->unread;
}

static const char *say_row(const char *what, unsigned row)
{
	static char words[512];

	snprintf(words, sizeof(words), "row %u: %s", row, what);
	return words;
}

static bool same_place(const struct kept_row *a, const struct kept_row *b)
{
	if (a->page.pid != b->page.pid || a->page.vaddr != b->page.vaddr ||
	    a->page.index != b->page.index)
		return false;
	return a->page.vaddr || a->page.pfn == b->page.pfn;
}

/* A hole that is not known as such has a row that says so. */
static bool may_be_hole(const struct answer *all, const struct kept_row *row)
{
	unsigned i;

	if (state(row, PAGEDET_FIELD_PFN) != PAGEDET_HAVE ||
	    row->page.vaddr || !is_reason(state(row, PAGEDET_FIELD_KIND)))
		return false;
	for (i = 0; i < all->n; i++)
		if (all->row[i].page.pfn == row->page.pfn)
			return false;
	return true;
}

/* Compares a row with that for the same place. */
static const char *find_fault(const struct question *q,
			      const struct answer *all,
			      const struct kept_row *now, unsigned i)
{
	unsigned k;

	for (k = 0; k < all->n; k++) {
		const char *why = cannot_be(q, &all->row[k], now);

		if (why && same_place(&all->row[k], now))
			return say_row(why, i);
		if (!why)
			return say_row("comes out of order", i);
	}
	return say("a row about another place: pfn, vaddr", "",
		   now->page.vaddr, now->page.pfn);
}

/* The rows must be some of the original ones, in the same order. */
static const char *untrue_rows(const struct question *q,
			       const struct answer *all,
			       const struct answer *now)
{
	unsigned i, at = 0, next;
	const char *why;

	for (i = 0; i < now->n; i++, at = next + 1) {
		next = at;
		while (next < all->n && contradicts(q, &all->row[next],
						    &now->row[i]) >= 0)
			next++;
		if (next == all->n && may_be_hole(all, &now->row[i])) {
			next = at - 1;
			continue;
		}
		if (next == all->n)
			return find_fault(q, all, &now->row[i], i);
		why = not_counted(now, &all->row[next], &now->row[i]);
		if (!why)
			why = not_found(all, now, &all->row[next],
					&now->row[i]);
		if (why)
			return say_row(why, i);
	}
	if (now->n != all->n && !accounted(all, now))
		return say("rows are missing", "", all->n, now->n);
	return NULL;
}

/* --- runs --- */

/* The run that contains this frame. */
static const struct kept_row *run_of(const struct answer *a, uint64_t pfn)
{
	unsigned i;

	for (i = 0; i < a->n; i++)
		if (pfn - value(&a->row[i], PAGEDET_FIELD_PFN) <
		    value(&a->row[i], PAGEDET_FIELD_PAGES))
			return &a->row[i];
	return NULL;
}

static bool is_no_page(const struct kept_row *row)
{
	const uint64_t kind = value(row, PAGEDET_FIELD_KIND);

	return state(row, PAGEDET_FIELD_KIND) != PAGEDET_HAVE ||
	       kind == PAGEDET_KIND_HOLE || kind == PAGEDET_KIND_DEVICE;
}

/* Every page of a run must fit the original run. */
static const char *untrue_runs(const struct question *q,
			       const struct answer *all,
			       const struct answer *now)
{
	uint64_t sum_all = 0, sum_now = 0, first, pages, n;
	struct kept_row row;
	const char *why;
	unsigned i;

	for (i = 0; i < all->n; i++)
		sum_all += value(&all->row[i], PAGEDET_FIELD_PAGES);
	for (i = 0; i < now->n; i++) {
		row = now->row[i];
		first = row.page.pfn;
		pages = row.page.pages;
		sum_now += pages;
		for (n = 0; n < pages; n++) {
			const struct kept_row *was = run_of(all, first + n);

			if (!was && is_no_page(&row))
				continue;
			if (!was)
				return say_row("is none of those", i);
			row.page.pfn = was->page.pfn;
			row.page.pages = was->page.pages;
			why = cannot_be(q, was, &row);
			if (!why)
				why = not_counted(now, was, &row);
			if (why)
				return say_row(why, i);
		}
	}
	if (sum_now != sum_all && !accounted(all, now))
		return say("all runs", "", sum_all, sum_now);
	return NULL;
}

/* --- groups --- */

static bool is_key(const struct kept_row *row, unsigned f)
{
	return f != PAGEDET_FIELD_PAGES && pagedet_field(f) &&
	       state(row, f) != PAGEDET_NOT_ASKED;
}

static bool same_key(const struct kept_row *a, const struct kept_row *b)
{
	unsigned f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++) {
		if (!is_key(a, f))
			continue;
		if (state(a, f) != state(b, f))
			return false;
		if (state(a, f) != PAGEDET_HAVE)
			continue;
		if (string_of(f) >= 0 ? strcmp(a->text[string_of(f)],
					       b->text[string_of(f)]) :
		    value(a, f) != value(b, f))
			return false;
	}
	return true;
}

static bool has_unknown_key(const struct kept_row *row)
{
	unsigned f;

	for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
		if (is_key(row, f) && is_reason(state(row, f)))
			return true;
	return false;
}

/* No group may have more pages than before; the rest must be in "unknown". */
static const char *untrue_groups(const struct question *q,
				 const struct answer *all,
				 const struct answer *now)
{
	uint64_t sum_all = 0, sum_now = 0, pages, was;
	unsigned i, k;

	for (k = 0; k < all->n; k++)
		sum_all += value(&all->row[k], PAGEDET_FIELD_PAGES);
	for (i = 0; i < now->n; i++) {
		const struct kept_row *row = &now->row[i];

		pages = value(row, PAGEDET_FIELD_PAGES);
		sum_now += pages;
		if (has_unknown_key(row) ||
		    (!q->by && accounted(all, now)))
			continue;
		for (was = 0, k = 0; k < all->n; k++)
			if (same_key(&all->row[k], row))
				was = value(&all->row[k], PAGEDET_FIELD_PAGES);
		if (pages > was)
			return say("a group has too much", "", was, pages);
	}
	if (sum_now != sum_all && !accounted(all, now))
		return say("all groups", "", sum_all, sum_now);
	return NULL;
}

/* --- text --- */

static bool has_line(const char *text, const char *line, size_t len)
{
	const char *end;

	for (; *text; text = end + 1) {
		end = strchrnul(text, '\n');
		if ((size_t)(end - text) == len && !memcmp(text, line, len))
			return true;
		if (!*end)
			break;
	}
	return false;
}

/* Every line of JSON is an original one, or reports something missing. */
static const char *untrue_text(const struct question *q,
			       const struct answer *all,
			       const struct answer *now)
{
	const char *line, *end;

	if (!now->result && !strcmp(all->emitted, now->emitted))
		return NULL;
	/* Accept the part that was written before the file was full. */
	if (q->writes && now->result &&
	    !strncmp(all->emitted, now->emitted, now->len))
		return NULL;
	/* Its first line has a '?'. */
	if (q->format == PAGEDET_FORMAT_SVG)
		return now->result || accounted(all, now) ? NULL :
		       "another picture, and no why";
	if (q->format != PAGEDET_FORMAT_JSON || q->survey)
		return now->result || strstr(now->emitted, "?") ||
		       accounted(all, now) ? NULL : "other text, and no why";
	for (line = now->emitted; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			return "half a line of JSON";
		if (!has_line(all->emitted, line, (size_t)(end - line)) &&
		    !memmem(line, (size_t)(end - line), "\"missing\"", 9) &&
		    !memmem(line, (size_t)(end - line), "\"unread\":[1", 11))
			return line;
	}
	return NULL;
}

static const char *untrue_summaries(const struct answer *all,
				    const struct answer *now)
{
	unsigned i;

	for (i = 0; i < now->n_summaries; i++) {
		const struct pagedet_mappers *a = &all->summary[i];
		const struct pagedet_mappers *m = &now->summary[i];

		if (m->found > a->found)
			return say("found", "", a->found, m->found);
		if (m->found < a->found && m->n_unread <= a->n_unread &&
		    !now->unread)
			return say("found, and nobody was left out", "",
				   a->found, m->found);
		if (m->expected_state != PAGEDET_HAVE)
			continue;
		if (a->expected_state != PAGEDET_HAVE ||
		    m->expected != a->expected)
			return say("expected", "", a->expected, m->expected);
		if (m->mapcount_kind && m->mapcount_kind != a->mapcount_kind)
			return say("kind of expected", "", a->mapcount_kind,
				   m->mapcount_kind);
	}
	return NULL;
}

/* A certain finding must be true. A true one stays, or becomes unknown. */
static const char *untrue_reasons(const struct answer *all,
				  const struct answer *now)
{
	unsigned i, k;

	if (now->verdict && now->verdict != all->verdict &&
	    now->verdict != PAGEDET_CANNOT_TELL)
		return say("verdict", "", all->verdict, now->verdict);
	for (i = 0; i < now->n_findings; i++) {
		const struct found_cause *f = &now->finding[i];

		for (k = 0; k < all->n_findings; k++)
			if (all->finding[k].evidence == f->evidence &&
			    all->finding[k].question == f->question &&
			    all->finding[k].rule == f->rule)
				break;
		if (k == all->n_findings ?
		    f->confidence == PAGEDET_CONFIDENCE_CERTAIN :
		    f->confidence > all->finding[k].confidence)
			return say("confidence in rule", "", 0, f->rule);
	}
	return NULL;
}

/* The kernel's text about a failed BPF program is the same for most reasons. */
static bool is_bpf(const char *words)
{
	return strstr(words, "BPF is not allowed") ||
	       strstr(words, strerror(EIO));
}

const char *unclear(const struct question *q, const struct answer *now)
{
	/* Without a handle there is no error text. */
	if (!now->result || !*faults_what() ||
	    strstr(now->error, "no memory") || !strcmp(now->error, "new: "))
		return NULL;
	if (!strcasestr(now->error, strerror(faults_error())) &&
	    !(q->sources && is_bpf(now->error)))
		return "the reason is not given";
	/* A dump often fails in its memory, which has other names. */
	if (q->at != DUMP && !faults_named(now->error) &&
	    !(q->path && strstr(now->error, q->path)))
		return "what it was about is not said";
	return NULL;
}

const char *untrue(const struct question *q, const struct answer *all,
		   const struct answer *now)
{
	const char *why = NULL;

	if (*now->broken)
		return now->broken;
	/* The running system always has different ones. */
	if (q->root && now->mappings > all->mappings)
		return say("mappings", "", all->mappings, now->mappings);
	if (q->root && !now->result && now->mappings < all->mappings &&
	    now->unread == all->unread)
		return say("mappings, and no task was left out", "",
			   all->mappings, now->mappings);
	if (q->compares)
		why = untrue_changes(q, all, now);
	else if (q->format && q->format != PAGEDET_FORMAT_SNAPSHOT)
		why = untrue_text(q, all, now);
	else if (q->by || q->options & PAGEDET_Q_GROUP)
		why = untrue_groups(q, all, now);
	else if (q->options & PAGEDET_Q_RUNS)
		why = untrue_runs(q, all, now);
	else
		why = untrue_rows(q, all, now);
	if (!why)
		why = untrue_summaries(all, now);
	if (!why)
		why = untrue_evidence(all, now);
	return why ? why : untrue_reasons(all, now);
}

const char *differs(const struct question *q, const struct answer *all,
		    const struct answer *now)
{
	unsigned i, f;

	if (now->result)
		return now->error;
	if (strcmp(all->emitted, now->emitted) || all->n != now->n ||
	    all->verdict != now->verdict ||
	    all->n_findings != now->n_findings ||
	    all->n_changes != now->n_changes ||
	    (q->root && all->mappings != now->mappings))
		return "the answer is another one";
	for (i = 0; i < all->n; i++)
		for (f = 0; f < PAGEDET_FIELDS_MAX; f++)
			if (all->row[i].page.cell[f] !=
			    now->row[i].page.cell[f])
				return pagedet_field(f)->name;
	return untrue(q, all, now);
}
