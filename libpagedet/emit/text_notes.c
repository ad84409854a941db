/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the footer of a text: the values that could not be known, with the
 * reasons, what the table left out, and sums. If there is nothing to report,
 * the footer is empty.
 */
#include "emit/text.h"

/* This many unreadable tasks are named. */
#define NAMED_TASKS 8

struct note {
	struct pagedet_emitter *e;
	bool any;		/* a line was written after the gap */
	char text[4096];
	struct pdet_cut cut;
};

static void start(struct note *note, const char *text)
{
	note->cut.to = note->text;
	note->cut.size = sizeof(note->text);
	note->cut.len = 0;
	pdet_cut_str(&note->cut, text);
}

static void say(struct note *note, const char *text)
{
	pdet_cut_str(&note->cut, text);
}

static void say_number(struct note *note, uint64_t n)
{
	char text[PDET_DIGITS];

	pdet_cut_put(&note->cut, text, (size_t)(pdet_put_dec(text, n) - text));
}

static void finish(struct note *note)
{
	struct pdet_text *t = note->e->own;

	if (!note->any && t->begun)
		pdet_out_str(&note->e->out, "\n");
	note->any = t->begun = true;
	pdet_text_words(note->e, note->text,
			PDET_MIN(note->cut.len, sizeof(note->text)), 0, 2);
	pdet_out_str(&note->e->out, "\n");
}

static const char *advice(const struct pagedet_emitter *e, unsigned col,
			  unsigned state)
{
	const struct pdet_emit_query *q = &e->query;
	unsigned f = e->col[col].field;
	const char *text = NULL;

	/* Rows whose page frame number is hidden lack what follows from it. */
	if (q->why && state == PAGEDET_NO_ACCESS &&
	    q->why(q->user, f) == PAGEDET_HAVE &&
	    q->why(q->user, PAGEDET_FIELD_PFN) == state)
		f = PAGEDET_FIELD_PFN;
	/*
	 * The advice belongs to the reason of the whole query, or to pages for
	 * which the open sources do not know the field, or may not tell it.
	 */
	if (q->advice && (!q->why || q->why(q->user, f) == state ||
			  (q->why(q->user, f) == PAGEDET_HAVE &&
			   (state == PAGEDET_UNSUPPORTED ||
			    state == PAGEDET_NO_ACCESS))))
		text = q->advice(q->user, f);
	return text ? text : "";
}

/* Whether the field would be known if the query named it. */
static bool is_not_looked_for(const char *help)
{
	return !strncmp(help, PDET_NOT_LOOKED_FOR,
			strlen(PDET_NOT_LOOKED_FOR));
}

static bool is_same_help(const char *a, const char *b)
{
	return !strcmp(a, b) || (is_not_looked_for(a) && is_not_looked_for(b));
}

static void say_reason(struct note *note, unsigned state, const char *help)
{
	const char *text = pdet_state_text(state);

	say(note, ": ");
	if (is_not_looked_for(help)) {
		say(note, help);
		return;
	}
	say(note, pdet_reason_name(state));
	if (text) {
		say(note, " - ");
		say(note, text);
	}
	if (*help) {
		say(note, "; ");
		say(note, help);
	}
}

static void say_how_often(struct note *note, uint64_t n, bool each)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;

	/* A group is many rows: its count would mislead. */
	if (n == t->rows || e->query.grouped)
		return;
	say(note, each ? " each in " : " in ");
	say_number(note, n);
	say(note, " of ");
	say_number(note, t->rows);
	say(note, " rows");
}

/*
 * Fields that are lost as often, for the same reason, share a line: not always
 * in the same rows.
 */
static void put_lost(struct note *note, bool *done, unsigned col,
		     unsigned state)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	const uint64_t n = t->seen[col].lost[state];
	const char *help = advice(e, col, state);
	bool these[PDET_FIELDS] = { false };
	unsigned i, fields = 0;

	start(note, "?");
	for (i = col; i < e->n_col; i++) {
		const uint64_t lost = t->seen[i].lost[state];

		if (done[i] || !lost || (lost != n && !e->query.grouped) ||
		    !is_same_help(advice(e, i, state), help))
			continue;
		say(note, i == col ? " " : ", ");
		say(note, e->col[i].name);
		these[i] = done[i] = true;
		fields++;
	}
	say_how_often(note, n, fields > 1);
	say_reason(note, state, help);
	/* The list already has its first field. */
	for (i = col + 1; i < e->n_col && is_not_looked_for(help); i++) {
		if (!these[i])
			continue;
		say(note, ",");
		say(note, e->col[i].name);
	}
	finish(note);
}

static void note_lost(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	bool done[PDET_COUNT(t->seen->lost)][PDET_FIELDS] = { { false } };
	unsigned i, state;

	for (i = 0; i < e->n_col; i++)
		for (state = 0; state < PDET_COUNT(t->seen->lost); state++)
			if (t->seen[i].lost[state] && !done[state][i])
				put_lost(note, done[state], i, state);
}

/* Notes which fields the log does not have, for all pages or for some. */
static void note_unsaid(struct note *note, bool always)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	uint64_t rows = 0;
	bool any = false;
	unsigned i;

	for (i = 0; i < e->n_col; i++)
		rows = PDET_MAX(rows, t->seen[i].unsaid);
	for (i = 0; i < e->n_col; i++) {
		if (!t->seen[i].unsaid ||
		    (t->seen[i].unsaid == rows) != always)
			continue;
		if (any)
			say(note, ", ");
		else
			start(note, always ? "the text does not say: " :
					     "it does not always say: ");
		say(note, e->col[i].name);
		any = true;
	}
	if (any)
		finish(note);
}

static void note_left_out(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	bool any = false;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (!t->out_of_table[i] || !pdet_text_says_nothing(t, i))
			continue;
		if (any)
			say(note, ", ");
		else
			start(note, "- nothing there: ");
		say(note, e->col[i].name);
		any = true;
	}
	if (any)
		finish(note);
}

/* Explains the letters of a narrow table. */
static void note_letters(struct note *note, unsigned col)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	const unsigned field = e->col[col].field;
	uint64_t bits = t->seen[col].ever;
	char text[] = " ?=";

	start(note, e->col[col].name);
	say(note, ":");
	for (; bits; bits &= bits - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(bits);

		text[1] = pdet_text_letter(field, bit);
		if (!text[1])
			continue;
		say(note, text);
		say(note, pdet_value_name(field, bit));
	}
	finish(note);
}

/* Explains kinds whose names do not tell the user of the memory. */
static void note_kinds(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (e->col[i].field != PAGEDET_FIELD_KIND ||
		    !(t->seen[i].ever >> PAGEDET_KIND_UNINIT & 1))
			continue;
		start(note, "uninit: free memory that the kernel has not set "
			    "up yet");
		finish(note);
	}
}

/* Lists what the terminal had no room for. */
static void note_narrow(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	bool any = false;
	unsigned i;

	for (i = 0; i < e->n_col; i++)
		if (t->letters[i])
			note_letters(note, i);
	for (i = 0; i < e->n_col; i++) {
		if (!t->no_room[i])
			continue;
		if (any)
			say(note, ", ");
		else
			start(note, "no room here: ");
		say(note, e->col[i].name);
		any = true;
	}
	if (!any)
		return;
	say(note, " (a wider terminal, --json or --format csv have them)");
	finish(note);
}

static void note_bits(struct note *note, unsigned col, uint64_t bits,
		      const char *where)
{
	char text[PDET_MASK_TEXT], *p;

	if (!bits)
		return;
	p = pdet_put_mask(text, note->e->col[col].field, bits, "", ' ');
	start(note, "? ");
	say(note, note->e->col[col].name);
	say(note, where);
	pdet_cut_put(&note->cut, text, (size_t)(p - text));
	finish(note);
}

static void note_unknown_bits(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		const struct pdet_seen *seen = &t->seen[i];
		uint64_t always = seen->judged ? seen->unknown_always : 0;

		note_bits(note, i, always, ": cannot be known: ");
		note_bits(note, i, seen->unknown_ever & ~always,
			  ": could not be known in some rows: ");
	}
}

static void note_sources(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	unsigned i, s;

	for (s = 1; s < 32; s++) {
		bool any = false;

		for (i = 0; i < e->n_col; i++) {
			if (!(t->seen[i].sources & PAGEDET_SOURCE_BIT(s)) ||
			    !pdet_source_name(s))
				continue;
			if (!any) {
				start(note, "from ");
				say(note, pdet_source_name(s));
				say(note, ":");
			}
			say(note, any ? ", " : " ");
			say(note, e->col[i].name);
			any = true;
		}
		if (any)
			finish(note);
	}
}

static void note_hidden(struct note *note)
{
	const struct pagedet_emitter *e = note->e;
	const struct pdet_text *t = e->own;
	unsigned i;

	for (i = 0; i < e->n_col; i++) {
		if (!t->seen[i].hidden)
			continue;
		start(note, "hidden: kernel addresses are shown only with "
			    "--pointers");
		finish(note);
		return;
	}
}

/* Why there are more rows than mappings. */
static void note_shared(struct note *note, uint32_t shared)
{
	if (!shared)
		return;
	say(note, " (");
	say_number(note, shared);
	say(note, shared == 1 ? " is shown again: another process has the same "
				"address space)" :
				" are shown again: other processes have the "
				"same address space)");
}

static void note_mappers(struct note *note, const struct pagedet_mappers *m)
{
	const char *kind = pdet_value_name(PAGEDET_FIELD_MAPCOUNT_KIND,
					   m->mapcount_kind);
	char hex[PDET_DIGITS];
	uint64_t i, named;

	start(note, "pfn ");
	say_number(note, m->pfn);
	say(note, " (");
	pdet_cut_put(&note->cut, hex,
		     (size_t)(pdet_put_hex(hex, m->pfn) - hex));
	say(note, ")");
	if (m->more) {
		say(note, " and the ");
		say_number(note, m->more);
		say(note, " after it");
	}
	if (pdet_is_reason(m->found_state)) {
		say(note, ": user mappings ? (");
		say(note, pdet_reason_name(m->found_state));
		say(note, ")");
	} else {
		say(note, ": found ");
		say_number(note, m->found);
		say(note, m->found == 1 ? " user mapping" : " user mappings");
		note_shared(note, m->shared);
	}
	if (m->expected_state == PAGEDET_HAVE) {
		say(note, ", mapcount ");
		say_number(note, m->expected);
		if (kind) {
			say(note, " (");
			say(note, kind);
			say(note, ")");
		}
	} else if (pdet_is_reason(m->expected_state)) {
		const char *text = pdet_state_text(m->expected_state);

		say(note, ", mapcount ? (");
		say(note, pdet_reason_name(m->expected_state));
		if (text) {
			say(note, " - ");
			say(note, text);
		}
		say(note, ")");
	} else {
		say(note, ", mapcount -");
	}
	if (m->n_unread) {
		say(note, "; could not look at ");
		say_number(note, m->n_unread);
		say(note, m->n_unread == 1 ? " task:" : " tasks:");
	}
	/* An unprivileged user may meet hundreds of them; JSON has all. */
	named = m->n_unread > NAMED_TASKS + 1 ? NAMED_TASKS : m->n_unread;
	for (i = 0; i < named; i++) {
		say(note, " ");
		say_number(note, m->unread[i]);
	}
	if (named < m->n_unread) {
		say(note, " ... and ");
		say_number(note, m->n_unread - named);
		say(note, " more");
	}
	finish(note);
}

static void note_pages(struct note *note, const char *what, uint64_t pages,
		       const char *why)
{
	if (!pages)
		return;
	start(note, what);
	say_number(note, pages);
	say(note, pages == 1 ? " page " : " pages ");
	say(note, why);
	finish(note);
}

/* Sums of a part must not pass for those of the whole. */
static void note_part(struct note *note, const struct pdet_emit_end *end)
{
	if (end->complete)
		return;
	start(note, "at least: a part was not looked at; visited: ");
	say_number(note, end->visited);
	if (end->wanted) {
		say(note, " of ");
		say_number(note, end->wanted);
	}
	say(note, end->wanted == 1 ? " place" : " places");
	finish(note);
}

void pdet_text_notes(struct pagedet_emitter *e, const struct pdet_emit_end *end)
{
	const struct pdet_text *t = e->own;
	struct note note = { .e = e };
	size_t i;

	for (i = 0; i < end->n_mappers; i++)
		note_mappers(&note, &end->mappers[i]);
	if (!t->record) {
		note_narrow(&note);
		note_left_out(&note);
	}
	note_kinds(&note);
	if (t->rows)
		note_lost(&note);
	note_unsaid(&note, true);
	note_unsaid(&note, false);
	if (!t->record)
		note_unknown_bits(&note);
	note_hidden(&note);
	if (!t->record && e->options & PAGEDET_EMIT_SOURCES)
		note_sources(&note);
	if (!e->query.grouped)
		return;
	note_part(&note, end);
	note_pages(&note, "undecided: ", end->undecided,
		   "of which it is not known whether they match");
	note_pages(&note, "other: ", end->spilled,
		   "in groups for which there was no room");
}
