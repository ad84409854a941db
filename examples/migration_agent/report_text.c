/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes the report for a terminal. */
#include <inttypes.h>
#include <string.h>

#include "agent.h"

#define LISTED 20		/* pages listed per rule; the other reports list
				 * all */
#define WIDTH 78

/* Wraps words below a first line that is already written. */
static void wrap(FILE *f, const char *label, unsigned indent, const char *text)
{
	unsigned column = (unsigned)strlen(label);

	fputs(label, f);
	while (*text) {
		const unsigned len = (unsigned)strcspn(text, " ");

		if (column + len + 1 > WIDTH && column > indent) {
			fprintf(f, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent && column) {
			fputc(' ', f);
			column++;
		}
		fprintf(f, "%.*s", (int)len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', f);
}

static void machines(const struct agent *a, FILE *f)
{
	int side;

	fprintf(f, "\nMachines\n");
	for (side = 0; side < SIDES; side++) {
		const struct vm *vm = &a->vm[side];

		fprintf(f, "  %-12s pid %d, QEMU %s, %s%s%s\n", vm->name,
			(int)vm->pid, vm->version[0] ? vm->version : "?",
			vm->dead ? "ended" : vm->status[0] ? vm->status : "?",
			side && a->went_on ? ", was read and went on" :
			vm->frozen == PAGEDET_YES ? ", stood still" : "",
			vm->goes_on ? ", was stopped for that, and runs again" :
			vm->ran ? ", had run before it was stopped" : "");
	}
}

static void migration(const struct agent *a, FILE *f)
{
	const json_t *ram = json_object_get(a->info, "ram");
	const json_int_t syncs = json_integer_value(
		json_object_get(ram, "dirty-sync-count"));
	const json_int_t bytes = json_integer_value(
		json_object_get(ram, "transferred"));
	char from[40], to[40];

	if (a->o.blocks)
		return;
	report_time(a->started_ns, from, sizeof(from));
	report_time(a->ended_ns, to, sizeof(to));
	fprintf(f, "\nMigration\n  mode         %s, from %s to %s UTC\n",
		a->o.mode_name, from, to);
	if (ram)
		fprintf(f, "  sent         %lld MiB, the dirty log was read "
			"%lld times\n", (long long)bytes >> 20,
			(long long)syncs);
	if (a->tapped && !a->tap_why[0])
		fprintf(f, "  as sent      %" PRIu64 " pages were hashed on "
			"the way: %" PRIu64 " zero, %" PRIu64 " sent again\n",
			report_versions(a).sent, report_versions(a).sent_zero,
			report_versions(a).sent_again);
	else
		fprintf(f, "  as sent      not known: %s\n", a->tapped ?
			a->tap_why : "nothing stood between both");
	fprintf(f, "  history      the source was read %u times, %s\n",
		a->looks, report_versions(a).stopped ?
		a->went_on ? "the last time when the destination ran" :
		"the last time as soon as it had stopped" :
		"not when it had stopped");
	if (a->went_on)
		fprintf(f, "  went on      the destination waited %llu ms to "
			"be read, %llu of its pages had been before; %llu of "
			"these changed afterwards\n",
			(unsigned long long)a->waited_ms,
			(unsigned long long)a->n_early,
			(unsigned long long)a->n_unproven);
}

static void one_block(const struct block *b, FILE *f)
{
	const struct backing *s = &b->at[SOURCE], *d = &b->at[DESTINATION];

	if (!b->pages) {
		fprintf(f, "  %-22s %8" PRIu64 " KiB  not compared: %s\n",
			b->name, b->used >> 10, s->why[0] ? s->why : d->why);
		return;
	}
	fprintf(f, "  %-22s %8" PRIu64 " KiB  at 0x%" PRIx64 " and 0x%" PRIx64
		", %s%s\n", b->name, b->used >> 10, s->hva, d->hva,
		s->inode ? s->path : "anonymous",
		join_is_one(b) ? " (both map it: it is not compared)" : "");
}

static void memory(const struct agent *a, FILE *f)
{
	unsigned i;

	fprintf(f, "\nMemory\n");
	for (i = 0; i < a->n_blocks; i++)
		one_block(&a->blocks[i], f);
	if (a->memslots[0])
		fprintf(f, "  memory slots %s\n", a->memslots);
	fprintf(f, "  compared     %" PRIu64 " pages: %" PRIu64 " equal, %"
		PRIu64 " different, %" PRIu64 " not readable\n", a->pages,
		a->n_equal, a->n_different, a->n_lost);
	if (join_one_pages(a))
		fprintf(f, "  one memory   %" PRIu64 " of these, which both "
			"map: they are equal whatever was done to them\n",
			join_one_pages(a));
	if (a->n_differences < a->n_different + a->n_lost)
		fprintf(f, "  explained    the first %" PRIu64 " of %" PRIu64
			" that differ or cannot be read\n", a->n_differences,
			a->n_different + a->n_lost);
}

static void hex(FILE *f, const char *name, const unsigned char *bytes)
{
	unsigned i;

	fprintf(f, "      %-12s", name);
	for (i = 0; i < HEX_BYTES; i++)
		fprintf(f, "%s%02x", i % 4 ? "" : " ", bytes[i]);
	fputc('\n', f);
}

static void number(FILE *f, const char *name, uint64_t pfn)
{
	if (pfn != UINT64_MAX)
		fprintf(f, ", %s pfn 0x%" PRIx64, name, pfn);
}

static void one_page(const struct agent *a, const struct difference *d, FILE *f)
{
	const struct pagedet_evidence *e = &a->evidence[d - a->differences];
	char text[600];

	report_place(a, d->page, text, sizeof(text));
	fprintf(f, "    %s", text);
	number(f, "source", report_pfn(e->here));
	number(f, "destination", report_pfn(e->peer));
	report_sent(a, d->page, text, sizeof(text));
	fprintf(f, "\n      source %s, destination %s, sent %s\n",
		report_look(&a->now[SOURCE][d->page]),
		report_look(&a->now[DESTINATION][d->page]), text);
	if (!d->compared || !d->how.bits)
		return;
	fprintf(f, "      %" PRIu64 " bits in %" PRIu64 " bytes differ, from "
		"byte %" PRIu64 " to %" PRIu64 " (%s)\n", d->how.bits,
		d->how.bytes, d->how.first, d->how.last,
		pagedet_shape_name(d->how.shape));
	fprintf(f, "      from byte %u:\n", d->from);
	hex(f, "source", d->bytes[SOURCE]);
	hex(f, "destination", d->bytes[DESTINATION]);
}

static void facts(const struct pagedet_finding *x, FILE *f)
{
	char line[600], value[400];
	uint32_t i;

	fprintf(f, "  it rests, for the first of them, on\n");
	for (i = 0; i < x->n_facts; i++) {
		const struct pagedet_fact *fact = &x->facts[i];

		report_fact(fact, value, sizeof(value));
		snprintf(line, sizeof(line), "%s: %s (%s, says %s)",
			 fact->field, value, report_fact_side(fact),
			 fact->source);
		wrap(f, "    - ", 6, line);
	}
	if (x->n_unknown)
		fprintf(f, "  not known, and would tell more\n");
	for (i = 0; i < x->n_unknown; i++)
		wrap(f, "    - ", 6, x->unknown[i]);
}

static void one_rule(const struct agent *a, const struct report_rule *r,
		     FILE *f)
{
	const struct pagedet_finding *x = r->finding;
	char text[600];
	uint64_t i, n = 0;

	snprintf(text, sizeof(text), "%" PRIu64 " page%s: %s.", r->n,
		 r->n == 1 ? "" : "s", x->cause);
	fputc('\n', f);
	wrap(f, "* ", 2, text);
	fprintf(f, "  rule         %s (%u), confidence: %s\n", x->name, x->rule,
		x->verdict == PAGEDET_VERDICT_CANNOT_TELL ? "cannot tell" :
		pagedet_confidence_name(x->confidence));
	if (x->likely[0]) {
		snprintf(text, sizeof(text), "%s (confidence: %s)", x->likely,
			 pagedet_confidence_name(x->likely_confidence));
		wrap(f, "  likely       ", 15, text);
	}
	wrap(f, "  what to do   ", 15, report_advice_of(a, x));
	facts(x, f);
	fprintf(f, "  pages\n");
	for (i = 0; i < a->n_differences; i++) {
		const struct pagedet_finding *y = a->differences[i].finding;

		if (y && report_is_alike(x, y) && n++ < LISTED)
			one_page(a, &a->differences[i], f);
	}
	if (n > LISTED)
		fprintf(f, "    and %" PRIu64 " more: all are in report.json\n",
			n - LISTED);
}

int report_text(const struct agent *a, FILE *f)
{
	struct report_rule rules[REPORT_RULES];
	const unsigned n = report_rules(a, rules, REPORT_RULES);
	char text[1200];
	unsigned i;

	report_verdict(a, text, sizeof(text));
	wrap(f, "", 0, text);
	wrap(f, "", 0, report_todo(a).text);
	if (a->n_patterns)
		fprintf(f, "\nThe difference as a whole\n");
	for (i = 0; i < a->n_patterns; i++) {
		report_pattern(a, &a->patterns[i], text, sizeof(text));
		wrap(f, "  - ", 4, text);
	}
	machines(a, f);
	migration(a, f);
	memory(a, f);
	if (n)
		fprintf(f, "\nFindings\n");
	for (i = 0; i < n; i++)
		one_rule(a, &rules[i], f);
	if (report_others(a, rules, n))
		fprintf(f, "\nFindings of %" PRIu64 " more pages are in "
			"report.json\n", report_others(a, rules, n));
	return ferror(f) ? -1 : 0;
}
