/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes findings: one JSON object per line, one CSV line each, or text for
 * people with the cause first, then the advice, then the facts.
 */
#include <stdio.h>

#include "emit/cell.h"
#include "emit/emitter.h"
#include "emit/findings.h"
#include "emit/text.h"
#include "explain/explain.h"

static const char *const confidences[] = {
	"none", "low", "medium", "high", "certain",
};

static const char *confidence(uint32_t n)
{
	return n < PDET_COUNT(confidences) ? confidences[n] : "none";
}

static void str(struct pagedet_emitter *e, const char *text)
{
	pdet_out_str(&e->out, text);
}

static void hex(struct pagedet_emitter *e, uint64_t value)
{
	struct pdet_out *out = &e->out;

	out->at = pdet_out_room(out, out->at, PDET_DIGITS);
	out->at = pdet_put_hex(out->at, value);
}

/* Copies what the row says about its page. */
static void row_of(const struct pagedet_evidence *evidence,
		   struct pagedet_page *row)
{
	memset(row, 0, sizeof(*row));
	if (evidence)
		memcpy(row, evidence->here, sizeof(*row));
}

static bool has(const struct pagedet_page *row, unsigned field)
{
	return PAGEDET_CELL_STATE(row->cell[field]) == PAGEDET_HAVE;
}

/*
 * Users paste commands from the text: let them name this page and the opened
 * files, which another machine does not have.
 */
#define WITH_PAGE 4096
static const char *with_page(const struct pagedet_emitter *e, const char *text,
			     const struct pagedet_page *row,
			     char buf[WITH_PAGE])
{
	static const char command[] = "pagedet ";
	const char *at = strstr(text, command);
	const bool here = strncmp(text, PDET_ELSEWHERE, strlen(PDET_ELSEWHERE));
	const char *from = at && here && e->from ? e->from : "";
	const char *rest = at ? at + strlen(command) : text;
	const char *end = rest + strcspn(rest, "'");
	const char *pfn = has(row, PAGEDET_FIELD_PFN) ? strstr(rest, "PFN") :
							NULL;
	/*
	 * Quotes in quotes would end them. A shell also takes a command in
	 * parentheses.
	 */
	const bool nested = at > text && at[-1] == '\'' && *end &&
			    strchr(from, '\'');
	char number[24] = "", page[1024];
	int n;

	if (!*from && !pfn)
		return text;
	if (pfn)
		snprintf(number, sizeof(number), "%llu",
			 (unsigned long long)row->pfn);
	else
		pfn = rest + strlen(rest);
	n = snprintf(page, sizeof(page), "%.*s%s%s", (int)(pfn - rest), rest,
		     number, *number ? pfn + strlen("PFN") : "");
	if (n >= (int)sizeof(page))
		return text;
	end = page + strcspn(page, "'");
	n = nested ? snprintf(buf, WITH_PAGE, "%.*s(pagedet %s%.*s)%s",
			      (int)(at - text) - 1, text, from,
			      (int)(end - page), page, end + 1) :
		     snprintf(buf, WITH_PAGE, "%.*s%s%s", (int)(rest - text),
			      text, from, page);
	/* A part of a word could be another one. */
	return n < WITH_PAGE ? buf : text;
}

static const char *side_name(uint32_t side)
{
	return side == PAGEDET_SIDE_HERE ? "here" :
	       side == PAGEDET_SIDE_PEER ? "peer" : NULL;
}

/* --- JSON --- */

static void json_text(struct pagedet_emitter *e, const char *text, size_t len)
{
	bool bad;

	e->out.at = pdet_json_text(&e->out, e->out.at, text, len, 0, &bad);
}

static void json_member(struct pagedet_emitter *e, const char *name,
			const char *text)
{
	str(e, name);
	json_text(e, text, strlen(text));
}

static void json_names(struct pagedet_emitter *e, const char *text)
{
	size_t len;

	str(e, "[");
	while (*text) {
		len = strcspn(text, "|");
		json_text(e, text, len);
		text += len;
		if (*text) {
			str(e, ",");
			text++;
		}
	}
	str(e, "]");
}

static void json_value(struct pagedet_emitter *e, const struct pagedet_fact *f)
{
	if (!f->value && !strcmp(f->text, "none"))
		str(e, "null");
	else if (f->type == PAGEDET_TYPE_NUMBER)
		pdet_out_dec(&e->out, f->value);
	else if (f->type == PAGEDET_TYPE_SIGNED)
		str(e, f->text);
	else if (f->type == PAGEDET_TYPE_MASK || f->type == PAGEDET_TYPE_LIST)
		json_names(e, f->text);
	else
		json_text(e, f->text, strlen(f->text));
}

static void json_fact(struct pagedet_emitter *e, const struct pagedet_fact *f)
{
	json_member(e, "{\"field\":", f->field);
	str(e, ",\"value\":");
	json_value(e, f);
	json_member(e, ",\"source\":", f->source);
	if (side_name(f->side))
		json_member(e, ",\"side\":", side_name(f->side));
	if (f->time_ns) {
		str(e, ",\"time_ns\":");
		pdet_out_dec(&e->out, f->time_ns);
	}
	str(e, "}");
}

static void json_page(struct pagedet_emitter *e, const struct pagedet_page *row)
{
	if (has(row, PAGEDET_FIELD_PFN)) {
		str(e, ",\"pfn\":");
		pdet_out_dec(&e->out, row->pfn);
	}
	if (has(row, PAGEDET_FIELD_PID)) {
		str(e, ",\"pid\":");
		pdet_out_dec(&e->out, row->pid);
	}
	if (has(row, PAGEDET_FIELD_VADDR)) {
		str(e, ",\"vaddr\":\"");
		hex(e, row->vaddr);
		str(e, "\"");
	}
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		"possible", "excluded", "not looked at",
	};

	return state < PDET_COUNT(names) ? names[state] : "possible";
}

static bool with_alternatives(const struct pagedet_emitter *e)
{
	return e->options & PAGEDET_EMIT_ALTERNATIVES;
}

static void json_alternatives(struct pagedet_emitter *e,
			      const struct pagedet_finding *f,
			      const struct pagedet_page *row)
{
	char buf[WITH_PAGE];
	uint32_t i;

	str(e, ",\"alternatives\":[");
	for (i = 0; i < f->n_alternatives; i++) {
		const struct pagedet_alternative *a = &f->alternatives[i];

		if (i)
			str(e, ",");
		json_member(e, "{\"name\":", a->name);
		json_member(e, ",\"cause\":", a->cause);
		json_member(e, ",\"state\":", state_name(a->state));
		json_member(e, ",\"why\":", with_page(e, a->why, row, buf));
		str(e, "}");
	}
	str(e, "]");
}

static void json(struct pagedet_emitter *e, const struct pagedet_finding *f,
		 const struct pagedet_page *row)
{
	char buf[WITH_PAGE];
	uint32_t i;

	json_member(e, "{\"finding\":", f->name);
	json_member(e, ",\"cause\":", f->cause);
	json_member(e, ",\"confidence\":", confidence(f->confidence));
	str(e, ",\"evidence\":[");
	for (i = 0; i < f->n_facts; i++) {
		if (i)
			str(e, ",");
		json_fact(e, &f->facts[i]);
	}
	str(e, "],\"unknown\":[");
	for (i = 0; i < f->n_unknown; i++) {
		if (i)
			str(e, ",");
		json_member(e, "", with_page(e, f->unknown[i], row, buf));
	}
	json_member(e, "],\"advice\":", with_page(e, f->advice, row, buf));
	if (*f->likely) {
		json_member(e, ",\"likely\":", f->likely);
		json_member(e, ",\"likely_confidence\":",
			    confidence(f->likely_confidence));
	}
	if (with_alternatives(e))
		json_alternatives(e, f, row);
	str(e, ",\"rule\":");
	pdet_out_dec(&e->out, f->rule);
	str(e, ",\"id\":");
	pdet_out_dec(&e->out, f->id);
	json_page(e, row);
	str(e, "}\n");
}

/* --- CSV --- */

static void csv_text(struct pagedet_emitter *e, const char *text)
{
	e->out.at = pdet_csv_text(&e->out, e->out.at, text, strlen(text), 0);
	str(e, ",");
}

static void csv(struct pagedet_emitter *e, const struct pagedet_finding *f,
		const struct pagedet_page *row)
{
	char buf[WITH_PAGE];

	pdet_out_dec(&e->out, f->id);
	str(e, ",");
	if (has(row, PAGEDET_FIELD_PFN))
		pdet_out_dec(&e->out, row->pfn);
	str(e, ",");
	if (has(row, PAGEDET_FIELD_PID))
		pdet_out_dec(&e->out, row->pid);
	str(e, ",");
	if (has(row, PAGEDET_FIELD_VADDR))
		hex(e, row->vaddr);
	str(e, ",");
	csv_text(e, f->name);
	csv_text(e, confidence(f->confidence));
	csv_text(e, f->cause);
	csv_text(e, f->likely);
	csv_text(e, with_page(e, f->advice, row, buf));
	pdet_out_dec(&e->out, f->n_unknown);
	str(e, "\n");
}

/* --- text --- */

/* The longest line. */
#define LINE (WITH_PAGE + 1024)

/*
 * The end of the word at @s, or of a command in quotes or parentheses, which is
 * pasted as a whole.
 */
static const char *item_end(const char *s)
{
	const char *end = *s == '\'' ? strchr(s + 1, '\'') :
			  !strncmp(s, "(pagedet ", 9) ? strchr(s, ')') : NULL;

	return strchrnul(end ? end : s, ' ');
}

static size_t columns(const char *s, const char *end)
{
	size_t n = 0;

	for (; s < end; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* Breaks the line where the terminal ends, and indents what follows. */
static void wrapped(struct pagedet_emitter *e, const char *line, size_t indent)
{
	const char *s = line, *end;
	size_t at = 0, blanks, wide;

	for (; *s; s = end) {
		blanks = strspn(s, " ");
		s += blanks;
		end = item_end(s);
		wide = columns(s, end);
		if (at && e->width && at + blanks + wide > e->width) {
			str(e, "\n");
			pdet_out_pad(&e->out, indent);
			at = indent;
		} else {
			pdet_out_pad(&e->out, blanks);
			at += blanks;
		}
		pdet_out_put(&e->out, s, (size_t)(end - s));
		at += wide;
	}
	str(e, "\n");
}

/* A line of @head, @text as people may see it, and @tail. */
static void line(struct pagedet_emitter *e, const char *head, const char *text,
		 const char *tail, size_t indent)
{
	const size_t room = LINE - 1 - strlen(tail);
	char buf[LINE];
	struct pdet_cut cut = { buf, room, 0 };

	pdet_cut_str(&cut, head);
	pdet_cut_plain(&cut, text, strlen(text));
	strcpy(buf + PDET_MIN(cut.len, room), tail);
	wrapped(e, buf, indent);
}

/* "pfn 5 (0x5), pid 12 at 0x7f00: " */
static void name_page(const struct pagedet_page *row, uint64_t id,
		      char head[128])
{
	const bool pfn = has(row, PAGEDET_FIELD_PFN);
	const bool vaddr = has(row, PAGEDET_FIELD_VADDR);
	char task[32] = "";
	size_t n = 0;

	*head = '\0';
	if (pfn)
		n = (size_t)sprintf(head, "pfn %llu (0x%llx)",
				    (unsigned long long)row->pfn,
				    (unsigned long long)row->pfn);
	else if (!vaddr)
		n = (size_t)sprintf(head, "page %llu", (unsigned long long)id);
	if (vaddr && has(row, PAGEDET_FIELD_PID))
		snprintf(task, sizeof(task), "pid %lu at ",
			 (unsigned long)row->pid);
	if (vaddr)
		n += (size_t)sprintf(head + n, "%s%s0x%llx", pfn ? ", " : "",
				     task, (unsigned long long)row->vaddr);
	strcpy(head + n, ": ");
}

static void text_fact(struct pagedet_emitter *e, const struct pagedet_fact *f)
{
	const bool peer = f->side == PAGEDET_SIDE_PEER;
	char head[128], tail[128];

	snprintf(head, sizeof(head), "    %s ", f->field);
	snprintf(tail, sizeof(tail), "  (%s%s%s)", f->source, peer ? ", " : "",
		 peer ? side_name(f->side) : "");
	line(e, head, *f->text ? f->text : "-", tail, 6);
}

static void text_alternatives(struct pagedet_emitter *e,
			      const struct pagedet_finding *f,
			      const struct pagedet_page *row)
{
	char buf[WITH_PAGE], head[128], tail[1024];
	uint32_t i;

	if (f->n_alternatives)
		str(e, "  alternatives\n");
	for (i = 0; i < f->n_alternatives; i++) {
		const struct pagedet_alternative *a = &f->alternatives[i];
		struct pdet_cut cut = { tail, sizeof(tail) - 1, 0 };

		snprintf(head, sizeof(head), "    %s %s: ", a->name,
			 state_name(a->state));
		pdet_cut_str(&cut, "  (");
		pdet_cut_plain(&cut, a->cause, strlen(a->cause));
		pdet_cut_str(&cut, ")");
		tail[PDET_MIN(cut.len, sizeof(tail) - 1)] = '\0';
		line(e, head, with_page(e, a->why, row, buf), tail, 6);
	}
}

static void text(struct pagedet_emitter *e, const struct pagedet_finding *f,
		 const struct pagedet_page *row)
{
	char buf[WITH_PAGE], head[128], tail[64];
	uint32_t i;

	name_page(row, f->id, head);
	line(e, head, f->cause, "", 4);
	str(e, "  ");
	pdet_text_colour(e, PDET_BOLD);
	str(e, f->name);
	pdet_text_colour(e, PDET_RESET);
	if (f->confidence) {
		str(e, ", ");
		str(e, confidence(f->confidence));
	}
	str(e, "\n");
	if (*f->likely) {
		snprintf(tail, sizeof(tail), " (%s)",
			 confidence(f->likely_confidence));
		line(e, "  likely: ", f->likely, tail, 4);
	}
	if (strcmp(f->advice, "nothing"))
		line(e, "  what to do: ", with_page(e, f->advice, row, buf),
		     "", 4);
	if (f->n_facts)
		str(e, "  because of\n");
	for (i = 0; i < f->n_facts; i++)
		text_fact(e, &f->facts[i]);
	if (f->n_unknown)
		str(e, "  not known\n");
	for (i = 0; i < f->n_unknown; i++)
		line(e, "    ", with_page(e, f->unknown[i], row, buf), "", 6);
	if (with_alternatives(e))
		text_alternatives(e, f, row);
	str(e, "\n");
}

void pdet_emit_finding_head(struct pagedet_emitter *e)
{
	if (e->format == &pdet_emit_csv)
		str(e, "id,pfn,pid,vaddr,finding,confidence,cause,likely,"
		       "advice,unknown\n");
}

void pdet_emit_finding(struct pagedet_emitter *e,
		       const struct pagedet_finding *f,
		       const struct pagedet_evidence *evidence)
{
	struct pagedet_page row;

	row_of(evidence, &row);
	if (e->format == &pdet_emit_csv)
		csv(e, f, &row);
	else if (e->format == &pdet_emit_text)
		text(e, f, &row);
	else
		json(e, f, &row);
}
