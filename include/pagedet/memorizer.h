/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: the controls of a Memorizer kernel, and recording. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Memorizer's files in debugfs: its switches, and a recording of its KMAP for
 * pagedet_kmap()
 */

/*
 * The files, whatever their names are in this kernel. The first five are
 * switches: their content is a value.
 */
enum pagedet_memorizer_control {
	PAGEDET_MEMORIZER_ENABLED = 0, /* 0 off, 1 on, 2 and 3 on for one
					* process and its children; 3 without
					* interrupts */
	PAGEDET_MEMORIZER_LOG_ACCESSES = 1, /* 1: reads and writes count */
	PAGEDET_MEMORIZER_LOG_LIVE = 2, /* 1: KMAP has live objects, too */
	PAGEDET_MEMORIZER_LOG_CALLS = 3, /* 1: calls count */
	PAGEDET_MEMORIZER_LOG_FRAMES = 4, /* 1: the same, with stack frames */
	PAGEDET_MEMORIZER_CLEAR_DEAD = 5, /* a write forgets freed objects */
	PAGEDET_MEMORIZER_CLEAR_PRINTED = 6, /* and one those of them that were
					      * read from KMAP */
	PAGEDET_MEMORIZER_CLEAR_CALLS = 7, /* and one the calls */
	PAGEDET_MEMORIZER_KMAP = 8, /* objects, and accesses to them */
	PAGEDET_MEMORIZER_KMAP_STREAM = 9, /* freed objects, each one once */
	PAGEDET_MEMORIZER_ALLOCATIONS = 10, /* of KMAP, the objects */
	PAGEDET_MEMORIZER_ACCESSES = 11, /* of KMAP, the accesses */
	PAGEDET_MEMORIZER_CALLS = 12, /* for pagedet_kmap_calls() */
	PAGEDET_MEMORIZER_GLOBAL_TABLE = 13, /* global variables */
	PAGEDET_MEMORIZER_STATS = 14 /* a text for people */
};

/* Their number. */
#define PAGEDET_MEMORIZER_CONTROLS 15

/* One of these files. */
struct pagedet_memorizer_file {
	uint64_t size;		/* sizeof(struct pagedet_memorizer_file) */
	const char *name;	/* "log_accesses", the same for all kernels;
				 * valid for ever */
	const char *path;	/* [nullable] NULL: this kernel does not have
				 * it; valid until pagedet_memorizer_free() */
	uint64_t value;		/* of a switch */
	int64_t pid;		/* whose tree of processes ENABLED is for; -1:
				 * the kernel does not tell one */
	uint32_t state;		/* of value: PAGEDET_HAVE; PAGEDET_NONE: it is
				 * not a switch; or why it is not known */
	uint32_t reserved;	/* 0 */
};

/* The files of one kernel. */
struct pagedet_memorizer;

/**
 * pagedet_memorizer - find the files of a Memorizer kernel
 * They are looked for below /sys/kernel/debug/memorizer and /sys/kernel/debug,
 * by each name that a generation of Memorizer gives them.
 * @pd: [in] its root is that of the files; need not be opened for the real one
 * @ret: [out] [owned: pagedet_memorizer_free] the files
 * Return: 0, or a negative errno.
 * Errors: ENOTSUP this kernel is without Memorizer; EACCES debugfs may not be
 *         seen; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_memorizer(struct pagedet *pd, struct pagedet_memorizer **ret);

/**
 * pagedet_memorizer_file - get one of the files, and what its switch is
 * @memorizer: [in] from pagedet_memorizer()
 * @control: [in] PAGEDET_MEMORIZER_*
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL there is no such control, or size is not that of any version.
 * Since: 0.1
 */
int pagedet_memorizer_file(struct pagedet_memorizer *memorizer,
			   uint32_t control,
			   struct pagedet_memorizer_file *ret);

/**
 * pagedet_memorizer_set - set a switch, or clear
 * A value of more than 3 for ENABLED is the number of a process: only this one
 * and the children that it begins later are followed.
 * @memorizer: [in] from pagedet_memorizer()
 * @control: [in] one of the switches, or a CLEAR_*
 * @value: [in] of the switch; of a CLEAR_*, 1
 * Return: 0, or a negative errno.
 * Errors: EINVAL it is not a switch, it has no such value, or LOG_CALLS and
 *         LOG_FRAMES would both be on, which share one table; ENOTSUP this
 *         kernel does not have it, or cannot follow one process; ESRCH there
 *         is no such process; EACCES; EAGAIN Memorizer is busy; EIO.
 * Since: 0.1
 */
int pagedet_memorizer_set(struct pagedet_memorizer *memorizer,
			  uint32_t control, uint64_t value);

/**
 * pagedet_memorizer_stats - read the kernel's own statistics
 * @memorizer: [in] from pagedet_memorizer()
 * @text: [out] [borrowed: pagedet_memorizer_stats] for people, in a form that
 *        no kernel promises; it ends with a NUL
 * @len: [out] bytes
 * Return: 0, or a negative errno.
 * Errors: ENOTSUP this kernel does not have it; EACCES; EOVERFLOW it is larger
 *         than 1 MiB; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_memorizer_stats(struct pagedet_memorizer *memorizer,
			    const char **text, uint64_t *len);

/**
 * pagedet_memorizer_free - forget the files
 * No switch changes.
 * @memorizer: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_memorizer_free(struct pagedet_memorizer *memorizer);

/* --- recording --- */

/*
 * struct pagedet_kmap_record_options - start from
 * PAGEDET_KMAP_RECORD_OPTIONS_INIT.
 */
struct pagedet_kmap_record_options {
	uint64_t size;		/* sizeof(struct
				 * pagedet_kmap_record_options) */
	const char *folder;	/* [nullable] directory for what is recorded
				 * until pagedet_kmap_recorder_write(), as a
				 * file without a name; NULL: /var/tmp */
	uint64_t drain_ns;	/* time between two drains; 0: a second if no
				 * drain stops Memorizer, and otherwise only
				 * when memory is short */
	uint32_t pid;		/* only this process and the children that it
				 * begins later; 0: all */
	uint32_t reserved;	/* must be 0 */
};

#define PAGEDET_KMAP_RECORD_OPTIONS_INIT \
	{ sizeof(struct pagedet_kmap_record_options), NULL, 0, 0, 0 }

/* What a recording has. */
struct pagedet_kmap_record_total {
	uint64_t size;		/* sizeof(struct pagedet_kmap_record_total) */
	uint64_t objects;	/* in what was recorded; live ones come at the
				 * end */
	uint64_t live;		/* of the objects */
	uint64_t accesses;	/* lines of these */
	uint64_t bytes;		/* of the text */
	uint64_t drains;	/* how often KMAP was read, the last one too */
	uint64_t repeated;	/* objects that came again, and are recorded
				 * once, as they were at last */
	uint64_t vanished;	/* live objects that were gone before their end
				 * was read; in no other number */
	uint64_t strange;	/* lines that are not understood, or without an
				 * address: whether they came again is not
				 * known. They are recorded, but for those
				 * longer than 64 KiB */
	uint64_t gaps;		/* drains while which Memorizer was off */
	uint64_t gap_ns;	/* how long, in all; what was allocated, freed
				 * or accessed then is not recorded */
	uint64_t uncleared;	/* drains after which the kernel did not clear
				 * what was read */
	uint64_t begin_ns;	/* by CLOCK_MONOTONIC */
	uint64_t end_ns;	/* the same; now, while it is recording */
	uint32_t lacks;		/* bit 1 << PAGEDET_MEMORIZER_*: this kernel
				 * does not have it, and the recording would
				 * have used it */
	uint32_t streamed;	/* 1: by KMAP_STREAM */
	uint32_t disturbed;	/* 1: someone else has switched Memorizer off */
	uint32_t was_on;	/* 1: it was on before, and is again */
	uint32_t cut;		/* 1: a text ended inside a line */
	uint32_t error;		/* 0, or the errno that has ended it early */
};

/* A recording: the files of Memorizer, and a thread. */
struct pagedet_kmap_recorder;

/**
 * pagedet_kmap_record - begin to record what Memorizer counts
 * Saves the switches, turns Memorizer off, clears freed objects and turns it
 * on. A thread of the library takes freed objects from KMAP_STREAM, or reads
 * KMAP and clears what it has read, so that the kernel's memory does not fill.
 * That thread blocks all signals, and the kernel may bind it to a processor.
 * What somebody else has counted so far of freed objects is lost.
 * @pd: [in] its root is that of the files
 * @options: [in,nullable] NULL means the defaults
 * @ret: [out] [owned: pagedet_kmap_recorder_free] the recorder
 * Return: 0, or a negative errno; then the switches are as before.
 * Errors: E2BIG options has a non-zero byte that this library does not know;
 *         EINVAL reserved is not 0, or a pid below 4; ENOTSUP this kernel is
 *         without Memorizer, lacks a file that a recording needs, or cannot
 *         follow one process; EACCES; ESRCH; EAGAIN another recording is
 *         running; ENOENT there is no such folder; EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap_record(struct pagedet *pd,
			const struct pagedet_kmap_record_options *options,
			struct pagedet_kmap_recorder **ret);

/**
 * pagedet_kmap_recorder_stop - end a recording, and restore the switches
 * Turns Memorizer off, reads what is left and the live objects, and clears what
 * it has read. The second time, it does nothing and returns the same. The
 * function of pagedet_set_stop() can end the reading early; the switches are
 * restored even then.
 * @recorder: [in] from pagedet_kmap_record()
 * Return: 0, or a negative errno: what ended it, even if that was earlier.
 * Errors: ECANCELED the reading was ended early; EIO a file of Memorizer cannot
 *         be read, the folder has no room, or a switch cannot be restored;
 *         EACCES; ENOMEM.
 * Since: 0.1
 */
int pagedet_kmap_recorder_stop(struct pagedet_kmap_recorder *recorder);

/**
 * pagedet_kmap_recorder_write - write what was recorded, as a KMAP
 * The lines are those of the kernel. Stops the recording first.
 * @recorder: [in] from pagedet_kmap_record()
 * @fd: [in] open for writing
 * Return: 0, or a negative errno; then the text is not complete.
 * Errors: as pagedet_kmap_recorder_stop(); EIO it cannot be written.
 * Since: 0.1
 */
int pagedet_kmap_recorder_write(struct pagedet_kmap_recorder *recorder,
				int fd);

/**
 * pagedet_kmap_recorder_total - get what a recording has
 * While it runs, only error, the times, lacks, streamed and was_on are set.
 * @recorder: [in] from pagedet_kmap_record()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_kmap_recorder_total(const struct pagedet_kmap_recorder *recorder,
				struct pagedet_kmap_record_total *ret);

/**
 * pagedet_kmap_recorder_free - end a recording, and restore the switches
 * What was not written is lost.
 * @recorder: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_kmap_recorder_free(struct pagedet_kmap_recorder *recorder);
