/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Records the facts of a finding about a mismatch. */
#include "content/difference.h"
#include "explain/mismatch.h"

void pdet_facts_versions(struct pdet_case *c)
{
	if (pdet_never_sent(c))
		pdet_fact_word(c, "hash_sent", 0, "never sent",
			       PAGEDET_SIDE_HERE);
	else
		pdet_fact_hash(c, SENT);
	pdet_fact_hash(c, STOPPED);
	pdet_fact_hash(c, NOW);
	pdet_fact_hash(c, PEER);
}

void pdet_facts_both(struct pdet_case *c, unsigned field)
{
	pdet_fact_field(c, PAGEDET_SIDE_HERE, field);
	pdet_fact_field(c, PAGEDET_SIDE_PEER, field);
}

void pdet_facts_still(struct pdet_case *c)
{
	pdet_fact_known(c, "frozen", c->e.here_frozen, PAGEDET_SIDE_HERE);
	pdet_fact_known(c, "frozen", c->e.peer_frozen, PAGEDET_SIDE_PEER);
	pdet_fact_known(c, "ran", c->e.here_ran, PAGEDET_SIDE_HERE);
	pdet_fact_known(c, "ran", c->e.peer_ran, PAGEDET_SIDE_PEER);
}

void pdet_facts_difference(struct pdet_case *c)
{
	const char *shape = pdet_shape_name(c->e.shape);

	if (c->e.compared != PAGEDET_YES)
		return;
	pdet_fact_number(c, "bits", c->e.bits, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_BOTH, 0);
	pdet_fact_number(c, "bytes", c->e.bytes, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_BOTH, 0);
	if (shape)
		pdet_fact_word(c, "shape", c->e.shape, shape,
			       PAGEDET_SIDE_BOTH);
}

void pdet_facts_sending(struct pdet_case *c)
{
	static const char *const modes[] = {
		NULL, "precopy", "multifd", "postcopy", "ignore-shared",
		"snapshot",
	};

	if (c->e.mode && c->e.mode < PDET_COUNT(modes))
		pdet_fact_word(c, "mode", c->e.mode, modes[c->e.mode],
			       PAGEDET_SIDE_BOTH);
	if (c->e.pass_sent)
		pdet_fact_number(c, "pass_sent", c->e.pass_sent,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
}

void pdet_facts_track(struct pdet_case *c)
{
	static const char *const words[] = {
		NULL, "not armed", "written", "not written",
	};

	if (c->e.track && c->e.track < PDET_COUNT(words))
		pdet_fact_word(c, "track", c->e.track, words[c->e.track],
			       PAGEDET_SIDE_HERE);
}

void pdet_facts_writers(struct pdet_case *c)
{
	const char *comm = pdet_case_text(c, c->e.mapper_comm);

	pdet_fact_known(c, "file_written", c->e.file_written,
			PAGEDET_SIDE_HERE);
	if (c->e.file_ns &&
	    (c->e.file_written == PAGEDET_YES || pdet_file_moved(c)))
		pdet_fact_number(c, "file_ns", c->e.file_ns,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
	pdet_fact_known(c, "other_maps", c->e.here_other_maps,
			PAGEDET_SIDE_HERE);
	if (c->e.mapper_pid)
		pdet_fact_number(c, "mapper_pid", c->e.mapper_pid,
				 PAGEDET_TYPE_NUMBER, PAGEDET_SIDE_HERE, 0);
	if (*comm)
		pdet_fact_word(c, "mapper_comm", c->e.mapper_comm, comm,
			       PAGEDET_SIDE_HERE);
	if (c->e.extra_mappers != PAGEDET_YES) {
		pdet_fact_known(c, "extra_mappers", c->e.extra_mappers,
				PAGEDET_SIDE_HERE);
		return;
	}
	pdet_fact_number(c, "mappers", c->e.mappers, PAGEDET_TYPE_NUMBER,
			 PAGEDET_SIDE_HERE, 0);
}

void pdet_facts_counters(struct pdet_case *c)
{
	pdet_fact_known(c, "counters_moved", c->e.counters_here,
			PAGEDET_SIDE_HERE);
	pdet_fact_known(c, "counters_moved", c->e.counters_peer,
			PAGEDET_SIDE_PEER);
}

void pdet_counters_unknown(struct pdet_case *c)
{
	if (!pdet_counters_moved(c) && (c->e.counters_here != PAGEDET_NO ||
				   c->e.counters_peer != PAGEDET_NO))
		pdet_unknown(c, "whether counters of machine checks (MCE, "
			     "EDAC) moved on either host");
}

void pdet_sent_unknown(struct pdet_case *c)
{
	if (pdet_never_sent(c))
		return;
	if (pdet_compare(c, SENT, NOW) == OTHER_KEYS ||
	    pdet_compare(c, SENT, PEER) == OTHER_KEYS)
		pdet_unknown(c, "the hash as sent, made with the key of the "
			     "other hashes");
	else
		pdet_unknown(c, "the hash as sent");
}
