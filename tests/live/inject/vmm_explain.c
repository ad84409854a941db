/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Combines the evidence that the library collects, the agent's own records and,
 * at the source, the destination's evidence.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "vmm.h"

#define MAPPERS_NS 300000000u
/* A continuous writer writes within this time. */
#define AGAIN_NS 10000000u

struct known {
	struct pagedet_evidence *evidence;
	unsigned char *bytes;	/* bytes of all pages */
	unsigned char *has;	/* whether the page's bytes are known */
	uint64_t key;
};

static void must(const struct vmm *v, int r)
{
	if (r >= 0)
		return;
	fprintf(stderr, "vmm: %s\n", pagedet_error(v->pd));
	exit(74);
}

static void *take(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		vmm_die("memory");
	return p;
}

static bool has_entry(const struct pagedet_evidence *e)
{
	struct pagedet_page row;

	memcpy(&row, e->here, sizeof(row));
	return PAGEDET_CELL_STATE(row.cell[PAGEDET_FIELD_PTE]) ==
	       PAGEDET_HAVE &&
	       row.pte & (PAGEDET_PTE(PAGEDET_PTE_PRESENT) |
			  PAGEDET_PTE(PAGEDET_PTE_SWAPPED));
}

/*
 * Adds hashes that the library did not read: it may lack the right, and it
 * leaves out a page that is changing. Also adds changes since its second read.
 */
static void add_hash(const struct vmm *v, const struct known *k, uint32_t i,
		     unsigned version)
{
	struct pagedet_content content = { .size = sizeof(content) };
	struct pagedet_evidence *e = &k->evidence[i];

	if (e->hash_state[version] == PAGEDET_HAVE && version == PAGEDET_AS_NOW)
		return;
	must(v, pagedet_content(v->pd, k->bytes + i * PAGE, PAGE, 0,
				&content));
	if (e->hash_state[version] == PAGEDET_HAVE &&
	    content.hash == e->hash[PAGEDET_AS_NOW])
		return;
	e->here_read = PAGEDET_READ_DONE;
	e->hash[version] = content.hash;
	e->hash_key[version] = k->key;
	e->hash_state[version] = PAGEDET_HAVE;
	e->zero[version] = strcmp(content.name, "zero") ? PAGEDET_NO :
							  PAGEDET_YES;
}

/*
 * Reads its own memory, and brings in swapped pages, but does not populate
 * absent ones.
 */
static void read_own(const struct vmm *v, struct known *k, uint32_t i,
		     unsigned version)
{
	struct pagedet_evidence *e = &k->evidence[i];
	struct iovec mine = { k->bytes + i * PAGE, PAGE };
	struct iovec at = { vmm_at(v, i), PAGE };

	if (!has_entry(e) && e->here_read != PAGEDET_READ_DONE) {
		/* a hole */
		k->has[i] = e->zero[PAGEDET_AS_NOW] == PAGEDET_YES;
		return;
	}
	k->has[i] = process_vm_readv(getpid(), &mine, 1, &at, 1, 0) ==
		    (ssize_t)PAGE;
	if (k->has[i])
		add_hash(v, k, i, version);
	else
		e->here_read = errno == EFAULT ? PAGEDET_READ_REFUSED :
						 PAGEDET_READ_OTHER;
}

static void set_more(struct pagedet_evidence *e, unsigned version,
		     uint64_t hash, bool zero, uint64_t key)
{
	const unsigned i = version - PAGEDET_AS_MORE;

	e->more_hash[i] = hash;
	e->more_key[i] = key;
	e->more_state[i] = PAGEDET_HAVE;
	e->more_zero[i] = zero ? PAGEDET_YES : PAGEDET_NO;
}

/*
 * Whether it has an entry, in memory or swap. Reading an absent page would
 * populate it.
 */
static bool is_there(int pagemap, const void *at)
{
	const uint64_t there = 3ull << 62;
	uint64_t word = 0;

	return pread(pagemap, &word, sizeof(word),
		     (off_t)((uintptr_t)at / PAGE * sizeof(word))) ==
	       sizeof(word) && word & there;
}

void vmm_look_stopped(struct vmm *v)
{
	struct pagedet_content content = { .size = sizeof(content) };
	const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint32_t i;

	for (i = 0; i < v->pages; i++) {
		struct stopped *s = &v->stopped[i];

		s->known = is_there(pagemap, vmm_at(v, i));
		if (!s->known)
			continue;
		must(v, pagedet_content(v->pd, vmm_at(v, i), PAGE, 0,
					&content));
		s->hash = content.hash;
		s->zero = !strcmp(content.name, "zero");
	}
	close(pagemap);
}

/* Adds what the agent read when its guest stopped, and whether it ran since. */
static void add_stopped(const struct vmm *v, const struct known *k, uint32_t i)
{
	const struct stopped *s = &v->stopped[i];
	struct pagedet_evidence *e = &k->evidence[i];

	if (v->keeps & KEEPS_STOPPED && s->known)
		set_more(e, PAGEDET_AS_STOPPED, s->hash, s->zero, k->key);
	/* Its guest has no devices. */
	e->stopped_drained = PAGEDET_YES;
	if (!(v->keeps & KEEPS_PAUSE))
		return;
	e->here_frozen = v->paused ? PAGEDET_YES : PAGEDET_NO;
	e->here_ran = v->ran || !v->paused ? PAGEDET_YES : PAGEDET_NO;
}

static void gather(const struct vmm *v, struct known *k)
{
	struct pagedet_collect_options o = PAGEDET_COLLECT_OPTIONS_INIT;
	struct pagedet_item *items = take(v->pages, sizeof(*items));
	const struct timespec again = { 0, AGAIN_NS };
	uint32_t i;

	k->evidence = take(v->pages, sizeof(*k->evidence));
	k->bytes = take(v->pages, PAGE);
	k->has = take(v->pages, 1);
	for (i = 0; i < v->pages; i++) {
		items[i].first = (uintptr_t)vmm_at(v, i);
		items[i].count = 1;
	}
	k->evidence->size = sizeof(*k->evidence);
	o.options = PAGEDET_COLLECT_CONTENT | PAGEDET_COLLECT_AGAIN |
		    PAGEDET_COLLECT_FILE;
	o.mappers_ns = MAPPERS_NS;
	o.again_ns = AGAIN_NS;
	o.questions = PAGEDET_ASK_MISMATCH;
	o.track = v->track;
	if (v->mark_len > 0 && (size_t)v->mark_len <= sizeof(v->mark)) {
		o.mark = v->mark;
		o.mark_size = (uint64_t)v->mark_len;
	}
	must(v, pagedet_collect(v->pd, items, v->pages, &o, k->evidence));
	must(v, pagedet_hash_key_id(v->pd, &k->key));
	for (i = 0; i < v->pages; i++)
		read_own(v, k, i, PAGEDET_AS_NOW);
	nanosleep(&again, NULL);
	for (i = 0; i < v->pages; i++) {
		read_own(v, k, i, PAGEDET_AS_AGAIN);
		add_stopped(v, k, i);
	}
	free(items);
}

static void let_go(struct known *k)
{
	free(k->evidence);
	free(k->bytes);
	free(k->has);
}

static void put(const void *data, size_t len, uint64_t at)
{
	if (pwrite(FD_PEER, data, len, (off_t)at) != (ssize_t)len)
		vmm_die("peer");
}

static void get(void *data, size_t len, uint64_t at)
{
	if (pread(FD_PEER, data, len, (off_t)at) != (ssize_t)len)
		vmm_die("peer");
}

uint64_t vmm_give(struct vmm *v)
{
	struct known k;
	uint64_t len = 0;
	void *saved;

	gather(v, &k);
	must(v, pagedet_evidence_save(v->pd, k.evidence, v->pages, NULL, 0,
				      &len));
	saved = take(len, 1);
	must(v, pagedet_evidence_save(v->pd, k.evidence, v->pages, saved, len,
				      &len));
	put(saved, len, 0);
	put(k.has, v->pages, len);
	put(k.bytes, v->pages * PAGE, len + v->pages);
	free(saved);
	let_go(&k);
	return len;
}

/* --- at the source --- */

static void load_peer(const struct vmm *v, struct known *k, uint64_t len)
{
	void *saved = take(len, 1);

	k->evidence = take(v->pages, sizeof(*k->evidence));
	k->bytes = take(v->pages, PAGE);
	k->has = take(v->pages, 1);
	get(saved, len, 0);
	get(k->has, v->pages, len);
	get(k->bytes, v->pages * PAGE, len + v->pages);
	k->evidence->size = sizeof(*k->evidence);
	must(v, pagedet_evidence_load(v->pd, saved, len, k->evidence,
				      v->pages));
	free(saved);
}

static void add_before(const struct sent *s, struct pagedet_evidence *e,
		       uint64_t key)
{
	if (s->last)
		set_more(e, PAGEDET_AS_BEFORE, s->before, s->zero_before, key);
}

/* Whether the peer's contents are in no page here. */
static void add_place(const struct vmm *v, const struct known *k, uint32_t at)
{
	const unsigned now = PAGEDET_AS_NOW, peer = PAGEDET_AS_PEER;
	struct pagedet_evidence *e = &k->evidence[at];
	uint32_t i;

	if (e->hash_state[peer] != PAGEDET_HAVE)
		return;
	for (i = 0; i < v->pages; i++)
		if (i != at && (k->evidence[i].hash_state[now] !=
				PAGEDET_HAVE ||
				k->evidence[i].hash[now] == e->hash[peer]))
			return;
	e->same_as_other = PAGEDET_NO;
}

static void add_sent(const struct sent *s, struct pagedet_evidence *e,
		     uint64_t key)
{
	const unsigned sent = PAGEDET_AS_SENT;

	if (!s->last) {
		e->hash_state[sent] = PAGEDET_NONE;
		return;
	}
	e->pass_sent = s->last;
	e->sent_stopped = PAGEDET_NO;
	e->hash[sent] = s->hash[s->last];
	e->hash_key[sent] = key;
	e->hash_ns[sent] = s->last_ns;
	e->hash_state[sent] = PAGEDET_HAVE;
	e->zero[sent] = s->zero ? PAGEDET_YES : PAGEDET_NO;
}

static void add_history(const struct sent *s, struct pagedet_evidence *e)
{
	const unsigned peer = PAGEDET_AS_PEER;
	unsigned p;

	if (e->hash_state[peer] != PAGEDET_HAVE)
		return;
	e->earlier = PAGEDET_NO;
	for (p = 1; p < s->last; p++)
		if (s->in[p] && s->hash[p] == e->hash[peer]) {
			e->earlier = PAGEDET_YES;
			e->earlier_pass = p;
		}
}

static void add_track(const struct vmm *v, const struct sent *s,
		      struct pagedet_evidence *e)
{
	if (!v->track)
		e->track = PAGEDET_WRITES_NOT_ARMED;
	else if (e->track == PAGEDET_WRITES_NONE && s->written)
		e->track = PAGEDET_WRITES_SEEN;
}

static void compare(const struct known *here, const struct known *peer,
		    uint32_t i)
{
	struct pagedet_difference d = { .size = sizeof(d) };
	struct pagedet_evidence *e = &here->evidence[i];

	if (!here->has[i] || !peer->has[i])
		return;
	pagedet_compare_bytes(here->bytes + i * PAGE, peer->bytes + i * PAGE,
			      PAGE, &d);
	e->compared = PAGEDET_YES;
	e->bits = d.bits;
	e->bytes = d.bytes;
	e->shape = d.shape;
}

static void add_kept(const struct vmm *v, const struct known *here,
		     const struct known *peer, uint32_t i)
{
	struct pagedet_evidence *e = &here->evidence[i];
	const struct sent *s = &v->sent[i];

	e->mode = PAGEDET_MODE_PRECOPY;
	e->one_host = PAGEDET_YES;
	e->peer_complete = PAGEDET_YES;
	if (v->keeps & KEEPS_HASHES)
		add_sent(s, e, here->key);
	if (v->keeps & KEEPS_HISTORY)
		add_history(s, e);
	if (v->keeps & KEEPS_BEFORE)
		add_before(s, e, here->key);
	add_place(v, here, i);
	add_track(v, s, e);
	if (v->keeps & KEEPS_BYTES)
		compare(here, peer, i);
}

static void say(const struct vmm *v, const struct known *k)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	const uint64_t room = v->pages * (4096 + 32);
	struct pagedet_finding *f = take(v->pages, sizeof(*f));
	struct pagedet_emitter *emitter;
	void *arena = take(room, 1);
	int n;

	f->size = sizeof(*f);
	n = pagedet_explain(k->evidence, v->pages, arena, room, f, v->pages);
	if (n < 0) {
		errno = -n;
		vmm_die("pagedet_explain");
	}
	o.fd = FD_FINDINGS;
	must(v, pagedet_emitter_new(v->pd, &o, &emitter));
	must(v, pagedet_emit_findings(emitter, f, (uint64_t)n, k->evidence));
	must(v, pagedet_emitter_finish(emitter));
	pagedet_emitter_free(emitter);
	free(f);
	free(arena);
}

void vmm_explain(struct vmm *v, uint64_t peer_len)
{
	struct known here, peer;
	uint32_t i;

	gather(v, &here);
	load_peer(v, &peer, peer_len);
	pagedet_evidence_join(here.evidence, v->pages, peer.evidence);
	for (i = 0; i < v->pages; i++)
		add_kept(v, &here, &peer, i);
	say(v, &here);
	let_go(&here);
	let_go(&peer);
}
