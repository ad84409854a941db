/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: recording a trace of allocations. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * Recording: the allocations of the running kernel, as a trace for
 * pagedet_allocs()
 */

/* For pagedet_record_options.flags. */
enum pagedet_record_flags {
	PAGEDET_RECORD_PAGES = 1, /* events of pages, too, not only of slab
				 * objects */
	PAGEDET_RECORD_NOT_CALLER = 2, /* what the thread that begins the
				 * recording allocates is left out, too. The
				 * thread that records always is. Totals then
				 * lack what interrupts of that thread
				 * allocate */
	PAGEDET_RECORD_STACKS = 4, /* the kernel's stack of each event; this
				 * makes every event several times as large and
				 * slow */
	PAGEDET_RECORD_TOTALS = 8, /* no events: BPF programs add up allocations
				 * in the kernel, for
				 * pagedet_recorder_allocs() */
	PAGEDET_RECORD_FREES = 16, /* with TOTALS: frees, too. The kernel finds
				 * the allocation that each ends in a table of
				 * live objects, so that freed, live and others
				 * are known. This costs several times as
				 * much */
	PAGEDET_RECORD_OBJECTS = 32 /* with FREES: pagedet_recorder_allocs()
				 * takes the addresses of live objects out of
				 * that table, for pagedet_allocs_verify(). It
				 * has not those of pages */
};

/* struct pagedet_record_options - start from PAGEDET_RECORD_OPTIONS_INIT. */
struct pagedet_record_options {
	uint64_t size;		/* sizeof(struct pagedet_record_options) */
	uint64_t buffer;	/* bytes of the kernel's buffer for each
				 * processor, rounded up to pages; 0: 8 MiB, or
				 * less if all of them had more than 1/32 of
				 * memory. With PAGEDET_RECORD_TOTALS: bytes of
				 * the sums, 64 for each, 112 with
				 * PAGEDET_RECORD_FREES, at most 64 MiB; 0:
				 * 1 MiB, or less likewise */
	const char *folder;	/* [nullable] directory for what is recorded
				 * until pagedet_recorder_write(), as files
				 * without names; NULL: /var/tmp */
	uint32_t flags;		/* PAGEDET_RECORD_* */
	uint32_t reserved;	/* must be 0 */
	const uint32_t *by;	/* [nullable] [len: n_by] PAGEDET_ALLOC_* that
				 * PAGEDET_RECORD_TOTALS adds up by; NULL adds
				 * up by site. Not COMM, LIFETIME and WINDOW */
	uint64_t n_by;
	uint64_t live;		/* with PAGEDET_RECORD_FREES: objects that the
				 * table of live ones has room for, at most
				 * 2^24; 0: 2^19, or less if it had more than
				 * 1/32 of memory. An object takes about 100
				 * bytes, and those of its keys */
};

#define PAGEDET_RECORD_OPTIONS_INIT \
	{ sizeof(struct pagedet_record_options), 0, NULL, 0, 0, NULL, 0, 0 }

/* What a recording has. Until it is stopped, events and lost are those of a
 * second ago, or so; bytes are now; and all counts of totals are 0. */
struct pagedet_record_total {
	uint64_t size;		/* sizeof(struct pagedet_record_total) */
	uint64_t events;	/* that were taken from the kernel; of totals:
				 * that are in the sums, when these were got */
	uint64_t lost;		/* that the kernel overwrote before they were
				 * taken; exact. Of totals: that are in no sum;
				 * struct pagedet_allocs_total says whether all
				 * of them are counted */
	uint64_t bytes;		/* of what was taken */
	uint64_t begin_ns;	/* by CLOCK_MONOTONIC, as the trace */
	uint64_t end_ns;	/* the same; now, while it is recording */
	uint64_t buffer;	/* bytes of each processor's buffer */
	uint64_t buffer_needed;	/* that would have lost nothing, by the rate
				 * that was seen; 0: nothing was lost, or it is
				 * not stopped. Of totals
				 * twice buffer, or the largest that there may
				 * be, if the table was full; 0: it was the
				 * largest */
	uint32_t cpus;		/* processors */
	uint32_t mapped;	/* whose buffer is mapped (Linux 6.10), not
				 * read */
	uint32_t error;		/* 0, or the errno that has ended it early */
	uint32_t reserved;	/* 0 */
	uint64_t live;		/* of totals with frees: objects that the table
				 * of live ones has room for */
};

/* A recording: a trace instance of its own, and a thread; or BPF programs. */
struct pagedet_recorder;

/**
 * pagedet_allocs_record - begin to record allocations of the running kernel
 * The events kmem:kmalloc, kmem:kfree and their like of all threads and
 * interrupts, in a trace instance "pagedet-kmem-..." of tracefs with the clock
 * "mono"; other traces and settings stay as they are. A thread of the library,
 * which blocks all signals, empties the buffers. Instances of recorders that
 * were killed are removed first.
 * With PAGEDET_RECORD_TOTALS there is no instance, no thread and no file, but
 * BPF programs on the events of allocations, which add them up; nothing of them
 * is left if the process is killed.
 * @pd: [in] for errors; need not be opened
 * @options: [in,nullable] NULL means the defaults
 * @ret: [out] [owned: pagedet_recorder_free] the recorder
 * Return: 0, or a negative errno.
 * Errors: E2BIG options has a non-zero byte that this library does not know;
 *         EINVAL a flag that this library does not know, STACKS with TOTALS,
 *         by or FREES without TOTALS, live or OBJECTS without FREES, a key that
 *         cannot be added up by, or larger tables than there may be;
 *         EACCES the caller may not trace: it needs root, or the kernel is
 *         locked down; ENOTSUP the kernel has no tracefs or no such events, or
 *         for TOTALS no BTF or no such BPF programs;
 *         ENOMEM no memory, no free descriptor, or no memory for buffers of
 *         that size; ENOENT there is no such folder; EIO a file of tracefs, or
 *         one in the folder.
 * Since: 0.1
 */
int pagedet_allocs_record(struct pagedet *pd,
			  const struct pagedet_record_options *options,
			  struct pagedet_recorder **ret);

/**
 * pagedet_recorder_stop - end a recording
 * Takes what is left in the buffers, reads formats and names, and removes the
 * trace instance. The second time, it does nothing and
 * returns the same.
 * @recorder: [in] from pagedet_allocs_record()
 * Return: 0, or a negative errno: what ended it, even if that was earlier.
 * Errors: EIO what was recorded had no room in the folder, or files of tracefs
 *         cannot be read; EACCES; ENOMEM.
 * Since: 0.1
 */
int pagedet_recorder_stop(struct pagedet_recorder *recorder);

/**
 * pagedet_recorder_write - write what was recorded as a trace.dat
 * It is a trace.dat of version 7 with formats, the names of functions and
 * threads, and the counts of losses: pagedet_allocs() reads it on any machine,
 * and trace-cmd and KernelShark do. It is compressed by zstd, or by zlib where
 * libzstd is missing. Stops the recording first. The callback of
 * pagedet_set_stop() is called after each 256 KiB of what was recorded.
 * @recorder: [in] from pagedet_allocs_record()
 * @fd: [in] a regular file that is open for writing; written from its begin
 * Return: 0, or a negative errno; then the file is not a trace.
 * Errors: as pagedet_recorder_stop(); EINVAL fd is not a regular file, or
 *         totals are recorded; ECANCELED pagedet_set_stop();
 *         ENOSYS no library compresses; EIO it cannot be written.
 * Since: 0.1
 */
int pagedet_recorder_write(struct pagedet_recorder *recorder, int fd);

/**
 * pagedet_recorder_allocs - get the groups of a recording of totals
 * Stops the recording first. The groups are those that pagedet_allocs() would
 * make of a trace of the same time, but for what only events tell: see
 * no_events and, without PAGEDET_RECORD_FREES, no_frees of struct
 * pagedet_allocs_total. Its lost counts events that are in no sum: the table of
 * sums was full, or an interrupt came while the same program ran. Before Linux
 * 6.1 the kernel does not tell the latter, and uncounted is not 0. A free that
 * is lost leaves its object live. A stack that had no room is not known.
 * @recorder: [in] from pagedet_allocs_record() with PAGEDET_RECORD_TOTALS
 * @ret: [out] [owned: pagedet_allocs_free] the groups, in no need of the
 *       recorder
 * Return: 0, or a negative errno.
 * Errors: EINVAL events are recorded, not totals; EIO the kernel's sums cannot
 *         be read; ENOMEM.
 * Since: 0.1
 */
int pagedet_recorder_allocs(struct pagedet_recorder *recorder,
			    struct pagedet_allocs **ret);

/**
 * pagedet_recorder_total - get what a recording has
 * @recorder: [in] from pagedet_allocs_record()
 * @ret: [in,out] the caller sets size
 * Return: 0, or a negative errno.
 * Errors: EINVAL size is not that of any version.
 * Since: 0.1
 */
int pagedet_recorder_total(const struct pagedet_recorder *recorder,
			   struct pagedet_record_total *ret);

/**
 * pagedet_recorder_free - end a recording, and remove its trace instance
 * What was not written is lost.
 * @recorder: [in,nullable] NULL does nothing
 * Errors: none.
 * Since: 0.1
 */
void pagedet_recorder_free(struct pagedet_recorder *recorder);

/**
 * pagedet_recorder_stray - find a trace instance whose recorder was killed
 * It still records, which takes time and memory, until the next
 * pagedet_allocs_record(), or rmdir(1), removes it.
 * @pd: [in] need not be opened
 * @index: [in] 0 for the first one, and so on
 * @name: [out] its name in the directory instances of tracefs, cut to size
 * @size: [in] bytes of name; 48 are enough
 * Return: 1, or 0 if there are not so many, or the caller may not see them.
 * Errors: none.
 * Since: 0.1
 */
int pagedet_recorder_stray(struct pagedet *pd, uint32_t index, char *name,
			   size_t size);
