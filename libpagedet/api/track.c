/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* The border for write tracking of this process. */
#include <errno.h>
#include <stdlib.h>

#include "api/arguments.h"
#include "track/track.h"

#define METHODS \
	(PAGEDET_TRACK_BIT(PAGEDET_TRACK_UFFD) | \
	 PAGEDET_TRACK_BIT(PAGEDET_TRACK_SOFT_DIRTY))

struct pagedet_track {
	struct pagedet *pd;
	struct pdet_track *t;
};

int pagedet_track_new(struct pagedet *pd, uint64_t addr, uint64_t len,
		      const struct pagedet_track_options *options,
		      struct pagedet_track **ret)
{
	static const struct pagedet_track_options defaults =
		PAGEDET_TRACK_OPTIONS_INIT;
	struct pagedet_track_options o;
	struct pagedet_track *track;
	int r;

	pdet_clear(&pd->env);
	r = pdet_check_struct(&pd->env, &o, sizeof(o), options, &defaults,
			      "struct pagedet_track_options");
	if (r < 0)
		return r;
	if (o.options & ~(uint32_t)PAGEDET_TRACK_COUNT_HUGE)
		return pdet_fail(&pd->env, E2BIG,
				 "the tracker has options that this library does not know");
	if (!o.methods)
		o.methods = PAGEDET_TRACK_BIT(PAGEDET_TRACK_UFFD);
	if (o.methods & ~METHODS)
		return pdet_fail(&pd->env, EINVAL,
				 "there are no methods %#x for tracking writes",
				 o.methods & ~METHODS);
	track = calloc(1, sizeof(*track));
	if (!track)
		return pdet_fail(&pd->env, ENOMEM, "no memory");
	track->pd = pd;
	r = pdet_track_new(&pd->env, addr, len, o.methods,
			   o.options & PAGEDET_TRACK_COUNT_HUGE, &track->t);
	if (r < 0) {
		free(track);
		return r;
	}
	*ret = track;
	return 0;
}

int pagedet_track_arm(struct pagedet_track *track)
{
	pdet_clear(&track->pd->env);
	return pdet_track_arm(track->t, &track->pd->env);
}

int pagedet_track_read(struct pagedet_track *track, uint64_t *at,
		       uint32_t options, struct pagedet_track_range *ranges,
		       uint32_t n)
{
	struct pdet_env *env = &track->pd->env;
	struct pdet_track_out out = { ranges, 0, PDET_MIN(n, 1u << 30) };

	pdet_clear(env);
	if (options & ~PAGEDET_TRACK_REARM)
		return pdet_fail(env, E2BIG,
				 "the options have bits %#x that this library "
				 "does not know",
				 options & ~PAGEDET_TRACK_REARM);
	if (!n)
		return pdet_fail(env, EINVAL, "there is no room for a range");
	return pdet_track_read(track->t, env, at,
			       options & PAGEDET_TRACK_REARM, &out);
}

const char *pagedet_track_why(uint32_t why)
{
	return pdet_track_why(why);
}

int pagedet_track_info(const struct pagedet_track *track,
		       struct pagedet_track_info *ret)
{
	struct pagedet_track_info info;

	pdet_track_info(track->t, &info);
	return pdet_answer_struct(&track->pd->env, ret, &info, sizeof(info));
}

struct pdet_track *pdet_track_of(struct pagedet_track *track)
{
	return track->t;
}

void pagedet_track_free(struct pagedet_track *track)
{
	if (!track)
		return;
	pdet_track_free(track->t);
	free(track);
}
