/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Simulates one page of a migration; see migration_model.h. */
#include <string.h>

#include "migration_model.h"

/* Contents are numbers: zero is a zero page, and one bit is one bit. */
#define OTHER_CONTENTS 999
#define ONE_BIT (1ull << 40)

static uint64_t seed, fresh;

void model_seed(uint64_t s)
{
	seed = s ? s : 1;
	fresh = 1000;
}

uint64_t model_some(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static uint64_t damaged(const struct world *w, enum what what, uint64_t was)
{
	switch (what) {
	case A_BIT:
		return was ^ ONE_BIT;
	case ZEROES:
	case GONE:
		return 0;
	case OLD_ONE:
		return w->has_old ? w->old : ++fresh;
	case AS_BEFORE:
		return w->before;
	case OTHER_PAGE:
		return OTHER_CONTENTS;
	default:
		return ++fresh;
	}
}

static uint64_t at(struct world *w, const struct kind *k, enum when when,
		   uint64_t value)
{
	unsigned i;

	for (i = 0; k && i < 2; i++)
		if (k->event[i].when == when)
			value = damaged(w, k->event[i].what, value);
	return value;
}

static bool has(const struct kind *k, enum when when, enum what what)
{
	unsigned i;

	for (i = 0; k && i < 2; i++)
		if (k->event[i].when == when && k->event[i].what == what)
			return true;
	return false;
}

/* --- what happens --- */

static void send(struct world *w, const struct kind *k, bool last)
{
	/* It may have been written since it was read, if the guest ran. */
	const bool written = last && !(w->flags & SENT_STOPPED) &&
			     (has(k, RUNNING, AS_BEFORE) || !model_some(4));

	w->before = w->flags & ZERO_BEFORE ? 0 : written ? ++fresh : w->src;
	w->sent = last ? at(w, k, BEFORE_TAP, w->src) : w->src;
	/* Nothing arrives: the old contents stay. */
	if (last && has(k, ON_WIRE, GONE))
		return;
	w->dst = last ? at(w, k, ON_WIRE, w->sent) : w->sent;
	w->dst_gone = false;
}

static void send_all(struct world *w, const struct kind *k)
{
	const unsigned n = w->flags & SENT_ONCE ? 1 :
			   2 + (unsigned)model_some(2);
	unsigned i;

	w->dst_gone = true;
	if (w->flags & NEVER_SENT)
		return;
	for (i = 0; i < n; i++) {
		if (i) {
			w->old = w->sent;
			w->has_old = true;
			w->src = ++fresh;
		}
		if ((i == n - 1 && w->flags & ZERO_SENT) ||
		    (i + 2 == n && w->flags & OLD_ZERO))
			w->src = 0;
		if (i == n - 1 && w->flags & SENT_STOPPED)
			w->stopped = w->src;
		if (i == n - 1 && w->flags & LANDED) {
			w->src = ++fresh;
			w->moved_stopped = true;
		}
		w->truth = w->src;
		send(w, k, i == n - 1);
	}
}

static void trace(struct world *w, const struct event *v, bool peer)
{
	switch (v->who) {
	case GUEST:
		/* It asks the VMM to give it back: that does not write. */
		if (v->what == GONE)
			break;
		w->tracked |= !peer;
		/* Stores change it on some filesystems. */
		w->mtime |= !peer && !model_some(3);
		break;
	case PROCESS:
		/* The writer may have ended. */
		*(peer ? &w->peer_mapped : &w->mapped) |= model_some(5) != 0;
		break;
	case BY_FILE:
		w->file |= !peer;
		break;
	case MEMORY:
		*(peer ? &w->peer_flipped : &w->flipped) = true;
		break;
	default:
		break;
	}
}

static void happen_here(struct world *w, const struct event *v)
{
	if (v->what == POISON) {
		w->src_poison = true;
		return;
	}
	w->src = damaged(w, v->what, w->src);
	w->src_gone = v->what == GONE;
	/*
	 * A write while the guest runs belongs to the guest if it or one of its
	 * devices makes it. All else is damage.
	 */
	if ((v->when == RUNNING || v->when == IN_FLIGHT) &&
	    (v->who == GUEST || v->who == DEVICE))
		w->truth = w->src;
	w->unwanted |= v->when == RUNNING && v->what == GONE &&
		       v->who == GUEST;
	w->moved_stopped |= v->when == IN_FLIGHT;
	trace(w, v, false);
}

static void happen_there(struct world *w, const struct event *v)
{
	if (v->what == POISON) {
		w->dst_poison = true;
		return;
	}
	w->dst = damaged(w, v->what, w->dst);
	w->dst_gone = v->what == GONE;
	trace(w, v, true);
}

static void happen(struct world *w, const struct kind *k, enum when when)
{
	unsigned i;

	for (i = 0; k && i < 2; i++) {
		if (k->event[i].when != when)
			continue;
		if (when == AT_PEER)
			happen_there(w, &k->event[i]);
		else
			happen_here(w, &k->event[i]);
	}
}

void model_run(struct world *w, const struct kind *k)
{
	memset(w, 0, sizeof(*w));
	w->flags = k ? k->flags : (uint32_t)model_some(2) * ZERO_SENT |
				  (uint32_t)model_some(2) * SENT_STOPPED |
				  (uint32_t)model_some(2) * SENT_ONCE;
	w->edac = model_some(2);
	w->mapped = !model_some(8);	/* and does not write */
	w->src = w->truth = ++fresh;
	send_all(w, k);
	happen(w, k, RUNNING);
	if (!(w->flags & SENT_STOPPED))
		w->stopped = w->src;
	w->peer_stopped = w->dst;
	happen(w, k, IN_FLIGHT);
	happen(w, k, AFTER_STOP);
	happen(w, k, AT_PEER);
	if (w->flags & SOURCE_RAN)
		w->src = ++fresh;
	if (w->flags & PEER_RAN)
		w->dst = ++fresh;
	w->again = w->flags & UNSTEADY ? ++fresh : w->src;
}

/* --- what an agent knows --- */

static uint32_t yes_no(bool yes)
{
	return yes ? PAGEDET_YES : PAGEDET_NO;
}

static void version(struct pagedet_evidence *e, unsigned v, uint64_t hash)
{
	const unsigned more = v - PAGEDET_AS_MORE;

	if (v < PAGEDET_AS_MORE) {
		e->hash[v] = hash;
		e->hash_state[v] = PAGEDET_HAVE;
		e->zero[v] = yes_no(!hash);
		return;
	}
	e->more_hash[more] = hash;
	e->more_state[more] = PAGEDET_HAVE;
	e->more_zero[more] = yes_no(!hash);
}

static void versions(const struct world *w, uint32_t looks,
		     struct pagedet_evidence *e)
{
	if (looks & LOOK_BEFORE && !(w->flags & NEVER_SENT))
		version(e, PAGEDET_AS_BEFORE, w->before);
	if (looks & LOOK_SENT && w->flags & NEVER_SENT)
		e->hash_state[PAGEDET_AS_SENT] = PAGEDET_NONE;
	else if (looks & LOOK_SENT)
		version(e, PAGEDET_AS_SENT, w->sent);
	if (looks & LOOK_STOPPED)
		version(e, PAGEDET_AS_STOPPED, w->stopped);
	if (!w->src_poison)
		version(e, PAGEDET_AS_NOW, w->src);
	if (looks & LOOK_AGAIN && !w->src_poison)
		version(e, PAGEDET_AS_AGAIN, w->again);
	if (looks & LOOK_PEER_STOPPED)
		version(e, PAGEDET_AS_PEER_STOPPED, w->peer_stopped);
	if (!w->dst_poison)
		version(e, PAGEDET_AS_PEER, w->dst);
}

static void poisoned(uint64_t *words)
{
	struct pagedet_page row;

	memset(&row, 0, sizeof(row));
	row.cell[PAGEDET_FIELD_FLAGS] = PAGEDET_HAVE |
					PAGEDET_SOURCE_PROCFS << 8;
	row.flags = PAGEDET_PF(PAGEDET_PF_HWPOISON);
	memcpy(words, &row, sizeof(row));
}

static void bytes(const struct world *w, uint32_t looks,
		  struct pagedet_evidence *e)
{
	e->here_read = w->src_poison ? PAGEDET_READ_REFUSED :
				       PAGEDET_READ_DONE;
	e->peer_read = w->dst_poison ? PAGEDET_READ_REFUSED :
				       PAGEDET_READ_DONE;
	if (w->src_poison)
		poisoned(e->here);
	if (w->dst_poison)
		poisoned(e->peer);
	if (!(looks & LOOK_COMPARE) || w->src_poison || w->dst_poison)
		return;
	e->compared = PAGEDET_YES;
	e->bits = w->src == w->dst ? 0 : (w->src ^ w->dst) == ONE_BIT ? 1 : 100;
	e->bytes = e->bits ? 1 + e->bits / 8 : 0;
}

static void writers(const struct world *w, uint32_t looks,
		    struct pagedet_evidence *e)
{
	if (looks & LOOK_TRACK)
		e->track = w->tracked ? PAGEDET_WRITES_SEEN :
					PAGEDET_WRITES_NONE;
	else
		e->track = PAGEDET_WRITES_NOT_ARMED;
	if (looks & LOOK_MAPPERS) {
		e->here_other_maps = yes_no(w->mapped);
		e->extra_mappers = yes_no(w->mapped);
		e->peer_other_maps = yes_no(w->peer_mapped);
	}
	if (looks & LOOK_FILE)
		e->file_written = yes_no(w->file || w->mtime);
	if (looks & LOOK_COUNTERS && w->edac) {
		e->counters_here = yes_no(w->flipped);
		e->counters_peer = yes_no(w->peer_flipped);
	}
}

static void states(const struct world *w, uint32_t looks,
		   struct pagedet_evidence *e)
{
	if (looks & LOOK_FROZEN) {
		e->here_frozen = yes_no(!(w->flags & (UNSTEADY | SOURCE_RAN)));
		e->peer_frozen = yes_no(!(w->flags & PEER_RAN));
	}
	if (looks & LOOK_RAN) {
		e->here_ran = yes_no(w->flags & SOURCE_RAN);
		e->peer_ran = yes_no(w->flags & PEER_RAN);
	}
	if (looks & LOOK_MISSING) {
		e->here_missing = yes_no(w->src_gone);
		e->peer_missing = yes_no(w->dst_gone);
	}
	if (looks & LOOK_SENT_STOPPED && !(w->flags & NEVER_SENT))
		e->sent_stopped = yes_no(w->flags & SENT_STOPPED);
	if (looks & LOOK_DRAINED && looks & LOOK_STOPPED)
		e->stopped_drained = yes_no(!w->moved_stopped);
	if (looks & LOOK_SENT && w->flags & SENT_ONCE)
		e->pass_sent = 1;
	if (looks & LOOK_EARLIER && looks & LOOK_SENT)
		e->earlier = yes_no(w->has_old && w->dst == w->old &&
				    w->dst != w->sent);
	if (looks & LOOK_PLACES && w->dst) {
		e->same_as_other = yes_no(w->dst == OTHER_CONTENTS);
		e->unique = e->same_as_other;
	}
	e->peer_complete = yes_no(!(w->flags & POSTCOPY));
}

void model_evidence(const struct world *w, uint32_t looks,
		    struct pagedet_evidence *e)
{
	memset(e, 0, sizeof(*e));
	e->size = sizeof(*e);
	e->questions = PAGEDET_ASK_MISMATCH;
	versions(w, looks, e);
	bytes(w, looks, e);
	writers(w, looks, e);
	states(w, looks, e);
}

/* --- what is true --- */

static bool is_named(const char *names, const char *name)
{
	const size_t len = strlen(name);
	const char *at = names;

	while ((at = strstr(at, name))) {
		if ((at == names || at[-1] == '|') &&
		    (at[len] == '|' || !at[len]))
			return true;
		at += len;
	}
	return false;
}

bool model_right(const struct world *w, const struct kind *k,
		 const struct pagedet_finding *f)
{
	if (!strcmp(f->name, "no-difference"))
		return w->src == w->dst && !w->src_poison && !w->dst_poison;
	if (!strcmp(f->name, "not-frozen"))
		return w->flags & (SOURCE_RAN | PEER_RAN | UNSTEADY);
	/* Nothing is wrong with it, which cannot be told from what is. */
	if (w->unwanted && f->confidence >= PAGEDET_CONFIDENCE_HIGH)
		return false;
	return k && is_named(k->right, f->name);
}
