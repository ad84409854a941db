/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Part of pagedet.h: tasks, areas, symbols and the log of the kernel. */
#ifndef PAGEDET_H
#error "include pagedet.h"
#endif

/* ------------------------------------------------------------------------
 * The kernel as a whole: its tasks, symbols and log
 */

/* pagedet_task.flags */
enum pagedet_task_flag {
	PAGEDET_TASK_KTHREAD = 1, /* a kernel thread */
	PAGEDET_TASK_HAS_PARENT = 2, /* ppid is known */
	PAGEDET_TASK_HAS_RSS = 4, /* rss is known */
	PAGEDET_TASK_HAS_START = 8 /* start_ns is known */
};

/* One task. Used as an array element, so it will never grow. */
struct pagedet_task {
	uint32_t pid;		/* thread id */
	uint32_t tgid;		/* process of the thread */
	uint32_t ppid;		/* parent process; 0: it has none */
	uint32_t flags;		/* PAGEDET_TASK_* */
	uint32_t state;		/* letter that ps(1) shows: R S D T t X Z P I; 0
				 * not known */
	uint32_t reserved;
	uint64_t rss;		/* base pages, as the kernel counts them */
	uint64_t start_ns;	/* since boot */
	char comm[64];		/* name; may hold any byte but NUL */
};

/* pagedet_tasks.options */
enum pagedet_tasks_option {
	PAGEDET_TASKS_PROCESSES = 1 /* only processes, not their other
				 * threads */
};

/**
 * pagedet_tasks - list the tasks of the running kernel or of a dump
 * The tasks are in ascending order of tgid, then pid. On the running kernel the
 * list has only the tasks that this process may see. It never has idle tasks.
 * @pd: [in] opened
 * @options: [in] PAGEDET_TASKS_* or 0
 * @tasks: [out,nullable] [len: n] receives the tasks
 * @n: [in] size of @tasks, in elements
 * @lost: [out,nullable] number of tasks, or parts of the list, that could not
 *        be read; the kernel may have more tasks
 * Return: how many there are, or a negative errno.
 * Errors: EINVAL not open; E2BIG options has a bit that this library does not
 *         know; ENOTSUP no source that is open here knows tasks, or they
 *         are those of another pid namespace;
 *         ENODATA the kernel's types or symbols are not known; EACCES EBADMSG
 *         EIO the list cannot be read; ECANCELED pagedet_set_stop(); ENOMEM.
 * Since: 0.1
 */
int pagedet_tasks(struct pagedet *pd, uint32_t options,
		  struct pagedet_task *tasks, uint64_t n, uint64_t *lost);

/* A virtual memory area (VMA) of a process: a line of /proc/PID/maps. */
struct pagedet_area {
	uint64_t size;		/* sizeof(struct pagedet_area) */
	uint64_t start;
	uint64_t end;		/* address behind the last byte */
	uint64_t offset;	/* bytes in the file */
	uint64_t dev;		/* major << 32 | minor, as in /proc/PID/maps; 0
				 * if inode is 0 */
	uint64_t inode;		/* 0: the area maps no file, or its inode is not
				 * known */
	uint64_t len;		/* bytes of name */
	const char *name;	/* [len: len] a path, or the kernel's name in
				 * brackets; without a NUL; valid only during
				 * the call */
	uint32_t prot;		/* PAGEDET_PROT_* */
	uint32_t reserved;
};

/* Return: 0 to continue; any other value ends the listing. */
typedef int pagedet_area_fn(void *user, const struct pagedet_area *area);

/**
 * pagedet_areas - list the virtual memory areas of a process
 * Includes areas without any page.
 * @pd: [in] opened
 * @pid: [in] the process
 * @fn: [in] called for each area, in ascending order, on the calling thread
 * @user: [in,nullable] passed to @fn
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP no source that is open here knows tasks;
 *         ESRCH there is no such task; EACCES it may not be read; ENODATA the
 *         kernel's types or symbols are not known; EBADMSG it is damaged;
 *         ECANCELED @fn returned non-zero, or pagedet_set_stop(); EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_areas(struct pagedet *pd, uint32_t pid, pagedet_area_fn *fn,
		  void *user);

/**
 * pagedet_symbol - look up the address of a kernel symbol
 * @pd: [in] opened
 * @name: [in] as in /proc/kallsyms: a function, or data if the kernel
 *        (CONFIG_KALLSYMS_ALL), VMCOREINFO or the given vmlinux has its name,
 *        or the kernel of a dump exports it; of the kernel itself, or of a
 *        module
 * @ret: [out] the address
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; ENOENT neither the kernel nor a module has such a
 *         symbol; ENOTSUP no source that is open here knows symbols; ENODATA
 *         they cannot be found, or not all: the kernel does not name its data,
 *         or those of its modules cannot be read, and no other one has this
 *         name; EACCES EBADMSG EIO they cannot be read; ECANCELED
 *         pagedet_set_stop(); ENOMEM.
 * Since: 0.1
 */
int pagedet_symbol(struct pagedet *pd, const char *name, uint64_t *ret);

/* One record of the kernel log. */
struct pagedet_log_record {
	uint64_t size;		/* sizeof(struct pagedet_log_record) */
	uint64_t seq;		/* sequence number since boot; also 0 if records
				 * have no numbers */
	uint64_t time_ns;	/* since boot */
	uint32_t level;		/* 0 emergency .. 7 debug */
	uint32_t facility;	/* 0 kernel, 1 user ... as in syslog(3) */
	uint64_t len;		/* bytes of text */
	const char *text;	/* [len: len] any bytes, newlines included;
				 * without a NUL; valid only during the call */
};

/* Return: 0 to continue; any other value ends the listing. */
typedef int pagedet_log_record_fn(void *user,
				  const struct pagedet_log_record *record);

/**
 * pagedet_kernel_log - read the log of the running kernel or of a dump
 * Gives the records that dmesg(1) shows. libpagedet reads the running kernel's
 * log from /dev/kmsg and a dump's log from its memory (Linux kernel/printk). If
 * /dev/kmsg is missing or unreadable, an open source that can read the running
 * kernel's memory takes its place. If that fails too, the error is the one of
 * /dev/kmsg.
 * @pd: [in] opened
 * @fn: [in] called for each record, oldest first, on the calling thread
 * @user: [in,nullable] passed to @fn
 * @lost: [out,nullable] number of records that could not be read, or that the
 *        kernel overwrote during the call; set even on failure
 * Return: 0, or a negative errno.
 * Errors: EINVAL not open; ENOTSUP no source that is open here knows the log:
 *         there is no /dev/kmsg, as in a captured tree; ENODATA the kernel's
 *         types or symbols are not known; EACCES the log may not be read;
 *         EBADMSG it is damaged; ECANCELED @fn returned non-zero, or
 *         pagedet_set_stop(); EIO; ENOMEM.
 * Since: 0.1
 */
int pagedet_kernel_log(struct pagedet *pd, pagedet_log_record_fn *fn,
		       void *user, uint64_t *lost);
