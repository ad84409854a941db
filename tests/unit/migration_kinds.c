/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The kinds of faults of a migrated page, and the findings that are then true.
 * They vary in time, side and cause, and include kinds that no rule expects,
 * and two faults at once.
 */
#include "migration_model.h"

#define LOST "dirty-log-lost"
#define ZERO_LOST "dirty-log-lost|zero-page-race"
#define PAST "write-untracked"
#define ZERO_PAST "write-untracked|zero-page-race"
#define HERE "changed-here-after-stop"
#define TAP "changed-before-tap"
#define THERE "changed-after-send"
#define FLIP "changed-after-send|bit-flip"
#define VANISHED "vanished-here|changed-here-after-stop"
#define TWO "two-faults"

const struct kind model_kinds[] = {
	/* After it was sent, while the guest ran. */
	{ "guest write lost", LOST, { { RUNNING, BYTES, GUEST } }, 0 },
	{ "guest write of a zero page lost", ZERO_LOST,
	  { { RUNNING, BYTES, GUEST } }, ZERO_SENT },
	{ "guest clears, lost", LOST, { { RUNNING, ZEROES, GUEST } }, 0 },
	{ "guest writes one bit, lost", LOST, { { RUNNING, A_BIT, GUEST } },
	  0 },
	{ "guest restores an old version, lost", LOST,
	  { { RUNNING, OLD_ONE, GUEST } }, 0 },
	{ "guest copies another page, lost", LOST,
	  { { RUNNING, OTHER_PAGE, GUEST } }, 0 },
	{ "guest write lost after one pass", LOST,
	  { { RUNNING, BYTES, GUEST } }, SENT_ONCE },
	{ "guest writes and restores, lost", LOST,
	  { { RUNNING, AS_BEFORE, GUEST } }, 0 },
	{ "guest writes and restores, lost after one pass", LOST,
	  { { RUNNING, AS_BEFORE, GUEST } }, SENT_ONCE },
	{ "process writes", PAST, { { RUNNING, BYTES, PROCESS } }, 0 },
	{ "process writes a zero page", ZERO_PAST,
	  { { RUNNING, BYTES, PROCESS } }, ZERO_SENT },
	{ "process clears", PAST, { { RUNNING, ZEROES, PROCESS } }, 0 },
	{ "file written", PAST, { { RUNNING, BYTES, BY_FILE } }, 0 },
	{ "device writes (vhost, VFIO)", PAST,
	  { { RUNNING, BYTES, DEVICE } }, 0 },
	{ "device writes one bit", PAST, { { RUNNING, A_BIT, DEVICE } }, 0 },
	{ "device writes a zero page", ZERO_PAST,
	  { { RUNNING, BYTES, DEVICE } }, ZERO_SENT },
	{ "bit of the source flips", "", { { RUNNING, A_BIT, MEMORY } }, 0 },
	{ "page of the source rots", "", { { RUNNING, BYTES, MEMORY } }, 0 },

	/* After the source had stopped. */
	{ "process writes the stopped source", HERE,
	  { { AFTER_STOP, BYTES, PROCESS } }, 0 },
	{ "file of the stopped source written", HERE,
	  { { AFTER_STOP, BYTES, BY_FILE } }, 0 },
	{ "device writes the stopped source", HERE,
	  { { AFTER_STOP, BYTES, DEVICE } }, 0 },
	{ "stopped source cleared", HERE,
	  { { AFTER_STOP, ZEROES, PROCESS } }, 0 },
	{ "stopped source gets an old version", HERE,
	  { { AFTER_STOP, OLD_ONE, BY_FILE } }, 0 },
	{ "stopped source gets another page", HERE,
	  { { AFTER_STOP, OTHER_PAGE, PROCESS } }, 0 },
	{ "bit of the stopped source flips", HERE,
	  { { AFTER_STOP, A_BIT, MEMORY } }, 0 },
	{ "stopped source written, zero page", HERE,
	  { { AFTER_STOP, BYTES, PROCESS } }, ZERO_SENT },
	{ "stopped source written, sent last then", HERE,
	  { { AFTER_STOP, BYTES, DEVICE } }, SENT_STOPPED },
	{ "stopped source given back", VANISHED,
	  { { AFTER_STOP, GONE, PROCESS } }, 0 },
	{ "stopped source cut off (hugetlb file)", VANISHED,
	  { { AFTER_STOP, GONE, BY_FILE } }, SENT_ONCE },
	{ "stopped source cannot be read", "memory-error",
	  { { AFTER_STOP, POISON, MEMORY } }, 0 },

	/* Between memory and the tap. */
	{ "sent other bytes", TAP, { { BEFORE_TAP, BYTES, VMM } }, 0 },
	{ "sent a flipped bit", TAP, { { BEFORE_TAP, A_BIT, VMM } }, 0 },
	{ "sent as zero, wrongly", TAP, { { BEFORE_TAP, ZEROES, VMM } }, 0 },
	{ "sent an old version (xbzrle cache)", TAP,
	  { { BEFORE_TAP, OLD_ONE, VMM } }, 0 },
	{ "sent another page", TAP, { { BEFORE_TAP, OTHER_PAGE, VMM } }, 0 },
	{ "sent other bytes, source stopped", TAP,
	  { { BEFORE_TAP, BYTES, VMM } }, SENT_STOPPED },
	{ "sent as zero, source stopped", TAP,
	  { { BEFORE_TAP, ZEROES, VMM } }, SENT_STOPPED },
	{ "compressed wrongly, once", TAP, { { BEFORE_TAP, BYTES, VMM } },
	  SENT_ONCE },

	/* Behind the tap. */
	{ "wire changes bytes", THERE, { { ON_WIRE, BYTES, VMM } }, 0 },
	{ "wire flips a bit", THERE, { { ON_WIRE, A_BIT, VMM } }, 0 },
	{ "wire flips a bit, sent once", THERE, { { ON_WIRE, A_BIT, VMM } },
	  SENT_ONCE },
	{ "unpacked wrongly (compress, xbzrle)", THERE,
	  { { ON_WIRE, BYTES, VMM } }, SENT_ONCE },
	{ "stored as zero", THERE, { { ON_WIRE, ZEROES, VMM } }, 0 },
	{ "stored as zero, zero before", THERE, { { ON_WIRE, ZEROES, VMM } },
	  OLD_ZERO },
	{ "zero page stored as bytes", THERE, { { ON_WIRE, BYTES, VMM } },
	  ZERO_SENT },
	{ "older packet stored last (multifd)", "stale-version|" THERE,
	  { { ON_WIRE, OLD_ONE, VMM } }, 0 },
	{ "last packet lost", "stale-version|" THERE,
	  { { ON_WIRE, GONE, VMM } }, 0 },
	{ "last packet lost, zero before", "stale-version|" THERE,
	  { { ON_WIRE, GONE, VMM } }, OLD_ZERO },
	{ "only packet lost", "missing-at-peer|" THERE,
	  { { ON_WIRE, GONE, VMM } }, SENT_ONCE },
	{ "stored in the wrong place", "misplaced|" THERE,
	  { { ON_WIRE, OTHER_PAGE, VMM } }, 0 },
	{ "never sent", "missing-at-peer", { { NEVER, BYTES, VMM } },
	  NEVER_SENT },
	{ "still to come (postcopy)", "missing-at-peer",
	  { { NEVER, BYTES, VMM } }, NEVER_SENT | POSTCOPY },

	/* At the peer. */
	{ "process writes the peer", THERE, { { AT_PEER, BYTES, PROCESS } },
	  0 },
	{ "device writes the peer", THERE, { { AT_PEER, BYTES, DEVICE } },
	  SENT_ONCE },
	{ "part of a huge page written at the peer", THERE,
	  { { AT_PEER, BYTES, BY_FILE } }, SENT_STOPPED },
	{ "bit of the peer flips", FLIP, { { AT_PEER, A_BIT, MEMORY } }, 0 },
	{ "page of the peer rots", THERE, { { AT_PEER, BYTES, MEMORY } },
	  SENT_ONCE },
	{ "peer gives it back", "missing-at-peer|" THERE,
	  { { AT_PEER, GONE, PROCESS } }, 0 },
	{ "peer cleared", THERE, { { AT_PEER, ZEROES, PROCESS } }, 0 },
	{ "peer cleared, zero before", THERE,
	  { { AT_PEER, ZEROES, PROCESS } }, OLD_ZERO },
	{ "peer gets an old version", "stale-version|" THERE,
	  { { AT_PEER, OLD_ONE, PROCESS } }, 0 },
	{ "peer gets another page", "misplaced|" THERE,
	  { { AT_PEER, OTHER_PAGE, PROCESS } }, 0 },
	{ "peer cannot be read", "memory-error",
	  { { AT_PEER, POISON, MEMORY } }, 0 },

	/* A side that runs. */
	{ "the peer ran", "", { { NEVER, BYTES, VMM } }, PEER_RAN },
	{ "the source ran", "", { { NEVER, BYTES, VMM } }, SOURCE_RAN },
	{ "both ran", "", { { NEVER, BYTES, VMM } }, SOURCE_RAN | PEER_RAN },
	{ "the source changes while it is read", "",
	  { { AFTER_STOP, BYTES, PROCESS } }, UNSTEADY },

	/* Two faults at once. */
	{ "wire, then the stopped source", TWO,
	  { { ON_WIRE, BYTES, VMM }, { AFTER_STOP, BYTES, PROCESS } }, 0 },
	{ "guest write lost, then the stopped source", TWO,
	  { { RUNNING, BYTES, GUEST }, { AFTER_STOP, BYTES, DEVICE } }, 0 },
	{ "guest write lost, then the peer", TWO,
	  { { RUNNING, BYTES, GUEST }, { AT_PEER, BYTES, PROCESS } }, 0 },
	{ "guest write lost, and a bit of the source flips", LOST,
	  { { RUNNING, BYTES, GUEST }, { RUNNING, A_BIT, MEMORY } }, 0 },
	{ "sent wrongly, then the wire", TWO,
	  { { BEFORE_TAP, BYTES, VMM }, { ON_WIRE, BYTES, VMM } }, 0 },
	{ "stopped source and peer written", TWO,
	  { { AFTER_STOP, BYTES, PROCESS }, { AT_PEER, BYTES, PROCESS } }, 0 },
	{ "process writes, then again the stopped source", TWO,
	  { { RUNNING, BYTES, PROCESS }, { AFTER_STOP, BYTES, PROCESS } }, 0 },
	{ "wire, then the source vanishes", TWO "|vanished-here",
	  { { ON_WIRE, BYTES, VMM }, { AFTER_STOP, GONE, PROCESS } }, 0 },
	{ "both sides given back", "",
	  { { AFTER_STOP, GONE, PROCESS }, { AT_PEER, GONE, PROCESS } }, 0 },
	{ .name = NULL },
};
