/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the commands of kmap have in common. */
#ifndef CLI_KMAP_H
#define CLI_KMAP_H

#include "cli.h"

/* How often they may be interrupted. */
#define CLI_KMAP_ASK_NS 100000000u

/* cli_kmap_refuse - options that have no meaning. Returns a status. */
int cli_kmap_refuse(const struct cli_job *job);

/* cli_kmap_check - what a report of objects or groups can show; takes the keys
 * of these. Returns a status. */
int cli_kmap_check(struct cli_job *job);

/* Say on stderr what a file lacks, if it lacks something. */
void cli_kmap_tell(uint64_t n, const char *what, const char *how);
void cli_kmap_tell_lines(uint64_t n, const char *what, uint64_t first);
void cli_kmap_tell_cut(bool cut, bool saturated);
/* What is in no sum of a KMAP. */
void cli_kmap_tell_lost(const struct pagedet_kmap_total *t);
void cli_kmap_tell_unnamed(const struct cli_job *job, uint64_t unnamed);
void cli_kmap_tell_stop(uint32_t stopped);

/* --- kmap_matrix.c --- */
/* Writes groups of two keys, @by, to job->matrix. Returns a status. */
int cli_kmap_matrix(const struct cli_job *job, struct pagedet_kmap *kmap,
		    uint64_t groups, const char *by);

/* --- kmap_record.c --- */
extern const struct cli_command cli_kmap_record;

/* --- kmap_switch.c: on, off, clear and stats --- */
extern const struct cli_command cli_kmap_switch;

/* cli_kmap_live - refuse options that ask a file. Returns a status. */
int cli_kmap_live(struct cli_job *job);

/* --- kmap_calls.c --- */
extern const struct cli_command cli_kmap_calls;

/* --- kmap_watch.c --- */
extern const struct cli_command cli_kmap_watching;

/* Shows a KMAP of what was watched, as 'kmap report'. Returns a status. */
int cli_kmap_show_watched(const struct cli_job *job, struct pagedet *pd,
			  int fd);

/* Say which hits are not counted, and what else is wrong with the counts. */
void cli_kmap_tell_hits(const struct cli_job *job,
			const struct pagedet_kmap_watch_total *t);

/* Why it is not known whether an object was freed. */
const char *cli_kmap_unknown_why(const struct pagedet_kmap_watch_total *t);

/* Say how many words were not watched. */
void cli_kmap_tell_turns(uint64_t unwatched);

/* --- kmap_watch_cache.c: objects of a slab cache. Returns a status. --- */
int cli_kmap_watch_cache(struct cli_job *job, struct pagedet *pd);

#endif
