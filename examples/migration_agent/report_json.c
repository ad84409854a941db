/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes the report for programs: one object. Unknown values are null or
 * missing. Addresses and hashes are strings, because a double cannot hold them.
 */
#include <inttypes.h>
#include <string.h>

#include "agent.h"

static json_t *hex(uint64_t n)
{
	return json_sprintf("0x%" PRIx64, n);
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static void set(json_t *object, const char *key, json_t *value)
{
	/* Bytes that are not UTF-8 become null. */
	json_object_set_new(object, key, value ? value : json_null());
}

static json_t *known(uint32_t is)
{
	return is == PAGEDET_DUNNO ? json_null() :
				     json_boolean(is == PAGEDET_YES);
}

static json_t *machine(const struct vm *vm)
{
	json_t *o = json_object();

	set(o, "name", json_string(vm->name));
	set(o, "pid", number((uint64_t)vm->pid));
	set(o, "qemu", text_or_null(vm->version));
	set(o, "status", text_or_null(vm->status));
	set(o, "ended", json_boolean(vm->dead));
	set(o, "frozen", known((uint32_t)vm->frozen));
	return o;
}

static json_t *backing(const struct backing *b)
{
	json_t *o = json_object();

	set(o, "hva", b->hva ? hex(b->hva) : NULL);
	set(o, "path", text_or_null(b->path));
	set(o, "shared", b->hva ? json_boolean(b->shared) : NULL);
	set(o, "inode", b->inode ? number(b->inode) : NULL);
	if (b->why[0])
		set(o, "why", json_string(b->why));
	return o;
}

static json_t *block(const struct block *b)
{
	json_t *o = json_object(), *ranges = json_array();
	unsigned i;

	set(o, "name", json_string(b->name));
	set(o, "bytes", number(b->used));
	set(o, "compared", json_boolean(b->pages));
	for (i = 0; i < b->n_ranges; i++)
		json_array_append_new(ranges, json_pack(
			"{s:o, s:o, s:o, s:b}", "guest",
			hex(b->ranges[i].gpa), "offset",
			hex(b->ranges[i].offset), "bytes",
			number(b->ranges[i].len), "read_only",
			b->ranges[i].rom));
	set(o, "ranges", ranges);
	set(o, "file_written_ns", b->written_ns ? number(b->written_ns) : NULL);
	set(o, "source", backing(&b->at[SOURCE]));
	set(o, "destination", backing(&b->at[DESTINATION]));
	return o;
}

static json_t *facts(const struct pagedet_finding *f)
{
	json_t *list = json_array(), *o;
	uint32_t i;

	for (i = 0; i < f->n_facts; i++) {
		const struct pagedet_fact *fact = &f->facts[i];

		o = json_object();
		set(o, "field", json_string(fact->field));
		set(o, "value", json_string(fact->text));
		set(o, "side", json_string(report_fact_side(fact)));
		set(o, "source", json_string(fact->source));
		if (fact->time_ns)
			set(o, "time_ns", number(fact->time_ns));
		json_array_append_new(list, o);
	}
	return list;
}

static void add_finding(json_t *o, const struct agent *a,
			const struct pagedet_finding *f)
{
	const int lets_run = report_lets_run(a, f);
	json_t *unknown = json_array();
	uint32_t i;

	set(o, "finding", json_string(f->name));
	set(o, "rule", number(f->rule));
	set(o, "cause", json_string(f->cause));
	set(o, "confidence", json_string(
		f->verdict == PAGEDET_VERDICT_CANNOT_TELL ? "cannot tell" :
		pagedet_confidence_name(f->confidence)));
	set(o, "likely", text_or_null(f->likely));
	set(o, "likely_confidence", *f->likely ? json_string(
		pagedet_confidence_name(f->likely_confidence)) : NULL);
	set(o, "advice", json_string(report_advice_of(a, f)));
	set(o, "lets_run", lets_run == NEITHER ? NULL :
	    json_string(a->vm[lets_run].name));
	set(o, "here_intact", known(f->here_intact));
	set(o, "peer_intact", known(f->peer_intact));
	set(o, "evidence", facts(f));
	for (i = 0; i < f->n_unknown; i++)
		json_array_append_new(unknown, json_string(f->unknown[i]));
	set(o, "unknown", unknown);
}

static json_t *bytes(const unsigned char *at)
{
	char text[2 * HEX_BYTES + 1];
	unsigned i;

	for (i = 0; i < HEX_BYTES; i++)
		sprintf(text + 2 * i, "%02x", at[i]);
	return json_string(text);
}

static void add_side(json_t *o, const struct agent *a,
		     const struct difference *d, int side)
{
	const struct pagedet_evidence *e = &a->evidence[d - a->differences];
	const uint64_t pfn = report_pfn(side == SOURCE ? e->here : e->peer);
	const struct pagedet_seen *s = &a->now[side][d->page];
	json_t *x = json_object();

	set(x, "hva", hex(join_hva(a, d->page, side)));
	set(x, "pfn", pfn == UINT64_MAX ? NULL : number(pfn));
	set(x, "content", json_string(report_look(s)));
	set(x, "hash", s->state == PAGEDET_SEEN_DATA ||
	    s->state == PAGEDET_SEEN_ZERO ? hex(s->hash) : NULL);
	if (d->compared)
		set(x, "bytes", bytes(d->bytes[side]));
	set(o, a->vm[side].name, x);
}

static json_t *page(const struct agent *a, const struct difference *d)
{
	const struct block *b = join_block(a, d->page);
	struct pagedet_version_of of = { .size = sizeof(of) };
	json_t *o = json_object();
	uint64_t gpa;
	bool rom;

	set(o, "page", number(d->page));
	set(o, "block", json_string(b->name));
	set(o, "offset", hex((d->page - b->first) * PAGE_BYTES));
	set(o, "guest", join_gpa(a, d->page, &gpa, &rom) ? hex(gpa) : NULL);
	pagedet_versions_of(a->versions, d->page, &of);
	if (of.sent != PAGEDET_SENT_DUNNO) {
		/* A list of last versions has neither their number nor time. */
		set(o, "sent_times", a->o.blocks && of.times ? NULL :
		    number(of.times));
		set(o, "sent_hash", of.sent == PAGEDET_SENT_KNOWN ?
		    hex(of.hash) : NULL);
		set(o, "sent_ns", a->o.blocks || !of.times ? NULL :
		    number(of.sent_ns));
	}
	if (d->compared) {
		set(o, "bits", number(d->how.bits));
		set(o, "bytes", number(d->how.bytes));
		set(o, "first", number(d->how.first));
		set(o, "last", number(d->how.last));
		set(o, "shape", text_or_null(pagedet_shape_name(d->how.shape)));
		set(o, "bytes_from", number(d->from));
	}
	add_side(o, a, d, SOURCE);
	add_side(o, a, d, DESTINATION);
	if (d->finding)
		add_finding(o, a, d->finding);
	return o;
}

static json_t *migration(const struct agent *a)
{
	const struct pagedet_versions_info sent = report_versions(a);
	const bool tapped = a->tapped && !a->tap_why[0];
	json_t *o = json_object();

	set(o, "mode", json_string(a->o.mode_name));
	set(o, "started_ns", number(a->started_ns));
	set(o, "ended_ns", number(a->ended_ns));
	set(o, "source_looks", number(a->looks));
	set(o, "pages_sent", tapped ? number(sent.sent) : NULL);
	set(o, "pages_sent_again", tapped ? number(sent.sent_again) : NULL);
	set(o, "as_sent_unknown", tapped ? NULL : json_string(a->tapped ?
	    a->tap_why : "nothing stood between both"));
	set(o, "went_on", json_boolean(a->went_on));
	set(o, "waited_ms", a->went_on ? number(a->waited_ms) : NULL);
	set(o, "read_before_switch", a->went_on ? number(a->n_early) : NULL);
	set(o, "changed_since", a->went_on ? number(a->n_unproven) : NULL);
	set(o, "read_when_stopped", json_boolean(report_versions(a).stopped));
	set(o, "qemu_says", json_incref(a->info));
	return o;
}

static json_t *pattern(const struct agent *a, const struct pagedet_pattern *p)
{
	const bool is_from = p->kind == PAGEDET_PATTERN_SHIFTED ||
			     p->kind == PAGEDET_PATTERN_MOVED ||
			     p->kind == PAGEDET_PATTERN_EXCHANGED;
	json_t *o = json_object();
	char text[1200];

	report_pattern(a, p, text, sizeof(text));
	set(o, "pattern", json_string(pagedet_pattern_name(p->kind)));
	set(o, "text", json_string(text));
	set(o, "pages", number(p->pages));
	set(o, "first", number(p->first));
	set(o, "last", number(p->last));
	set(o, "equal_between", number(p->equal));
	set(o, "different_between", number(p->differ));
	set(o, "absent", number(p->absent));
	set(o, "swapped", number(p->swapped));
	set(o, "older", number(p->older));
	set(o, "shift", p->kind == PAGEDET_PATTERN_SHIFTED ?
	    json_integer(p->shift) : NULL);
	set(o, "from", is_from ? number(p->from) : NULL);
	set(o, "begins_range", json_boolean(p->borders & PAGEDET_BORDER_FIRST));
	set(o, "ends_range", json_boolean(p->borders & PAGEDET_BORDER_LAST));
	return o;
}

json_t *report_json(const struct agent *a)
{
	const struct report_advice advice = report_todo(a);
	json_t *o = json_object(), *blocks = json_array();
	json_t *pages = json_array(), *patterns = json_array(), *counts;
	char text[800];
	uint64_t i;

	report_verdict(a, text, sizeof(text));
	set(o, "status", number(report_status(a)));
	set(o, "verdict", json_string(text));
	set(o, "advice", json_string(advice.text));
	set(o, "lets_run", advice.lets_run == NEITHER ? NULL :
	    json_string(a->vm[advice.lets_run].name));
	set(o, "trouble", text_or_null(a->trouble));
	set(o, "machines", json_pack("[o, o]", machine(&a->vm[SOURCE]),
				     machine(&a->vm[DESTINATION])));
	set(o, "migration", a->o.blocks ? NULL : migration(a));
	for (i = 0; i < a->n_blocks; i++)
		json_array_append_new(blocks, block(&a->blocks[i]));
	set(o, "blocks", blocks);
	set(o, "memory_slots", text_or_null(a->memslots));
	counts = json_object();
	set(counts, "compared", number(a->pages));
	set(counts, "one_memory", number(join_one_pages(a)));
	set(counts, "equal", number(a->n_equal));
	set(counts, "different", number(a->n_different));
	set(counts, "not_readable", number(a->n_lost));
	set(counts, "explained", number(a->n_findings));
	set(counts, "unsteady", number(a->n_unsteady));
	set(o, "pages", counts);
	for (i = 0; i < a->n_patterns; i++)
		json_array_append_new(patterns, pattern(a, &a->patterns[i]));
	set(o, "patterns", patterns);
	for (i = 0; i < a->n_differences && a->evidence; i++)
		json_array_append_new(pages, page(a, &a->differences[i]));
	set(o, "differences", pages);
	return o;
}
