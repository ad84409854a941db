/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "procfs": opening, closing, and what it can answer. The files it
 * reads are opened when a query first needs them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backend/procfs.h"
#include "base/io.h"

static int procfs_probe(struct pdet_env *env, const struct pdet_input *in)
{
	struct statfs fs;
	char path[4096];

	if (in->options && in->options->n_files)
		return 0;
	if (pdet_path(env, path, sizeof(path), "/proc") < 0)
		return 0;
	/* What is there and cannot be looked at is for open to explain. */
	if (statfs(path, &fs) < 0 && pdet_errno_closed(errno) == ENOENT)
		return 0;
	return 50;
}

static int procfs_open(struct pdet_backend *b, struct pdet_env *env,
		       const struct pdet_input *in)
{
	struct procfs *p = procfs_of(b);
	struct statfs fs;
	char path[4096];
	unsigned i;

	(void)in;
	for (i = 0; i < KPAGE_FILES; i++)
		p->kpage[i].fd = -1;
	p->idle.fd = -1;
	if (pdet_path(env, path, sizeof(path), "/proc") < 0)
		return pdet_fail(env, EINVAL, "root path is too long");
	if (statfs(path, &fs) < 0)
		return pdet_fail_errno(env, "cannot look at %s", path);
	p->live = fs.f_type == PROC_SUPER_MAGIC;
	b->no_cache = !p->live;
	p->page_shift = 12;
	if (p->live)
		p->page_shift = (uint32_t)__builtin_ctzl(
			(unsigned long)sysconf(_SC_PAGESIZE));
	if (pthread_mutex_init(&p->memory.lock, NULL))
		return pdet_fail(env, ENOMEM, "no memory");
	if (pthread_mutex_init(&p->cgroups.lock, NULL)) {
		pthread_mutex_destroy(&p->memory.lock);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	if (pthread_mutex_init(&p->mapcount_lock, NULL)) {
		pthread_mutex_destroy(&p->memory.lock);
		pthread_mutex_destroy(&p->cgroups.lock);
		return pdet_fail(env, ENOMEM, "no memory");
	}
	return 0;
}

static void procfs_close(struct pdet_backend *b)
{
	struct procfs *p = procfs_of(b);
	size_t i;

	for (i = 0; i < KPAGE_FILES; i++)
		if (p->kpage[i].fd >= 0)
			close(p->kpage[i].fd);
	if (p->idle.fd >= 0)
		close(p->idle.fd);
	for (i = 0; i < p->handed.n; i++)
		if (p->handed.data[i].fd >= 0)
			close(p->handed.data[i].fd);
	pdet_vec_free(&p->handed);
	procfs_memory_free(&p->memory);
	procfs_cgroups_free(&p->cgroups);
	pthread_mutex_destroy(&p->mapcount_lock);
}

static void read_line(struct pdet_env *env, const char *path, char *ret,
		      size_t size)
{
	struct pdet_text text;

	ret[0] = '\0';
	if (pdet_slurp(env, &text, 4096, "%s", path) < 0)
		return;
	snprintf(ret, size, "%.*s", (int)strcspn(text.data, "\n"), text.data);
	pdet_text_free(&text);
}

static void procfs_info(struct pdet_backend *b, struct pdet_env *env,
			struct pdet_kernel_info *ret)
{
	struct procfs *p = procfs_of(b);
	const uint16_t one = 1;
	struct utsname uts;

	ret->live = p->live;
	ret->page_size = (uint64_t)1 << p->page_shift;
	ret->big_endian = p->live && *(const uint8_t *)&one == 0;
	if (p->live && uname(&uts) == 0)
		snprintf(ret->arch, sizeof(ret->arch), "%s", uts.machine);
	read_line(env, "/proc/sys/kernel/osrelease", ret->release,
		  sizeof(ret->release));
	read_line(env, "/proc/sys/kernel/hostname", ret->host,
		  sizeof(ret->host));
	read_line(env, "/proc/sys/kernel/random/boot_id", ret->boot_id,
		  sizeof(ret->boot_id));
	if (procfs_memory_load(p, env) == 0) {
		size_t i;
		uint64_t nodes = 0;

		ret->max_pfn = p->memory.max_pfn;
		for (i = 0; i < p->memory.zones.n; i++)
			nodes |= (uint64_t)1 << (p->memory.zones.data[i].node &
						 63);
		ret->nodes = (uint64_t)__builtin_popcountll(nodes);
	}
}

static void cannot(struct pdet_ability *a, unsigned reason, const char *advice)
{
	a->reason = (uint8_t)reason;
	snprintf(a->advice, sizeof(a->advice), "%s", advice);
}

/* Whether one of the kpage files opens, in words. */
static void survey_kpage(struct procfs *p, struct pdet_env *env,
			 enum procfs_kpage which, struct pdet_ability *ret)
{
	int fd = procfs_kpage_fd(p, env, which);
	char text[160];

	if (fd >= 0)
		return;
	if (fd == -EACCES) {
		cannot(ret, PAGEDET_NO_ACCESS,
		       "needs root, or a descriptor handed in by root");
	} else if (fd == -ENOENT) {
		snprintf(text, sizeof(text), "needs a kernel with %s",
			 procfs_kpage_names[which].config);
		cannot(ret, PAGEDET_NO_KERNEL, text);
	} else {
		errno = -fd;
		snprintf(text, sizeof(text), "cannot open /proc/%s: %m",
			 procfs_kpage_names[which].name);
		cannot(ret, PAGEDET_IO, text);
	}
}

/* Whether addresses have page frame numbers for us. */
static void survey_numbers(struct procfs *p, struct pdet_ability *ret)
{
	switch (procfs_look_numbers(p)) {
	case -EACCES:
		cannot(ret, PAGEDET_NO_ACCESS,
		       "needs CAP_SYS_ADMIN, or a descriptor of pagemap opened with it");
		break;
	case -ENOENT:
		cannot(ret, PAGEDET_NO_KERNEL,
		       "needs a kernel with CONFIG_PROC_PAGE_MONITOR");
		break;
	}
}

/* Targets whose places are addresses of tasks. */
static bool of_task(uint32_t target)
{
	return target == PAGEDET_TARGET_VIRT || target == PAGEDET_TARGET_TASK ||
	       target == PAGEDET_TARGET_MAPPERS;
}

static bool of_file(uint32_t target)
{
	return target == PAGEDET_TARGET_FILE ||
	       target == PAGEDET_TARGET_TREE ||
	       target == PAGEDET_TARGET_MOUNT ||
	       target == PAGEDET_TARGET_BLOCK;
}

/* Targets whose places are page frame numbers. */
static bool by_number(uint32_t target)
{
	return target == PAGEDET_TARGET_PFN || target == PAGEDET_TARGET_PHYS ||
	       target == PAGEDET_TARGET_SCAN ||
	       target == PAGEDET_TARGET_CGROUP;
}

static void procfs_survey(struct pdet_backend *b, struct pdet_env *env,
			  uint32_t target, unsigned field, unsigned source,
			  struct pdet_ability *ret)
{
	struct procfs *p = procfs_of(b);

	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_HAVE;
	switch (field) {
	case PAGEDET_FIELD_VADDR:
	case PAGEDET_FIELD_PID:
	case PAGEDET_FIELD_PTE:
	case PAGEDET_FIELD_PTE_KNOWN:
		ret->cost = PAGEDET_COST_FREE;
		return;
	case PAGEDET_FIELD_PFN:
	case PAGEDET_FIELD_SWAP_TYPE:
	case PAGEDET_FIELD_SWAP_OFFSET:
	case PAGEDET_FIELD_MAP:
		ret->cost = PAGEDET_COST_FREE;
		if (!by_number(target))
			survey_numbers(p, ret);
		return;
	case PAGEDET_FIELD_KIND:
		/* Without flags, tasks and files still say something. */
		if (of_task(target) || of_file(target))
			return;
		survey_kpage(p, env, KPAGE_FLAGS, ret);
		return;
	case PAGEDET_FIELD_FLAGS:
	case PAGEDET_FIELD_FLAGS_KNOWN:
		survey_kpage(p, env, KPAGE_FLAGS, ret);
		return;
	case PAGEDET_FIELD_HEAD_PFN:
	case PAGEDET_FIELD_ORDER:
		ret->cost = PAGEDET_COST_READ;
		/* of free blocks it is not known */
		ret->partial = field == PAGEDET_FIELD_ORDER;
		survey_kpage(p, env, KPAGE_FLAGS, ret);
		return;
	case PAGEDET_FIELD_MAPCOUNT:
	case PAGEDET_FIELD_MAPCOUNT_KIND:
		ret->cost = PAGEDET_COST_READ;
		survey_kpage(p, env, KPAGE_COUNT, ret);
		return;
	case PAGEDET_FIELD_MEMCG_INO:
		ret->cost = PAGEDET_COST_READ;
		survey_kpage(p, env, KPAGE_CGROUP, ret);
		return;
	case PAGEDET_FIELD_MEMCG_PATH:
	case PAGEDET_FIELD_MEMCG_NAME:
		ret->cost = PAGEDET_COST_LOOKUP;
		survey_kpage(p, env, KPAGE_CGROUP, ret);
		return;
	case PAGEDET_FIELD_TGID:
	case PAGEDET_FIELD_COMM:
		ret->cost = PAGEDET_COST_LOOKUP;
		return;
	case PAGEDET_FIELD_VMA_START:
	case PAGEDET_FIELD_VMA_END:
	case PAGEDET_FIELD_VMA_PROT:
	case PAGEDET_FIELD_VMA_NAME:
		ret->cost = target == PAGEDET_TARGET_TASK ?
			PAGEDET_COST_FREE : PAGEDET_COST_READ;
		return;
	case PAGEDET_FIELD_PTE_LEVEL:
		ret->cost = PAGEDET_COST_READ;
		if (of_task(target) && !p->live)
			cannot(ret, PAGEDET_UNSUPPORTED, "");
		return;
	case PAGEDET_FIELD_NODE:
	case PAGEDET_FIELD_ZONE:
		ret->cost = PAGEDET_COST_LOOKUP;
		return;
	case PAGEDET_FIELD_INDEX:
	case PAGEDET_FIELD_DEV:
	case PAGEDET_FIELD_INODE:
	case PAGEDET_FIELD_PATH:
		if (of_file(target))
			return;
		ret->cost = PAGEDET_COST_READ;
		ret->partial = true;
		/* Of a page frame only its flags tell that there is nothing. */
		if (by_number(target))
			survey_kpage(p, env, KPAGE_FLAGS, ret);
		return;
	case PAGEDET_FIELD_CONTENT:
		ret->cost = PAGEDET_COST_INTRUSIVE;
		ret->partial = true;
		if (!of_task(target) || !p->live) {
			cannot(ret, PAGEDET_UNSUPPORTED,
			       "bytes of page frames are read by bpf, kcore or out of a dump");
			return;
		}
		survey_numbers(p, ret);
		/* A page must be seen not to be poisoned. */
		if (ret->reason == PAGEDET_HAVE)
			survey_kpage(p, env, KPAGE_FLAGS, ret);
		return;
	default:
		cannot(ret, PAGEDET_UNSUPPORTED, "");
		return;
	}
}

static bool wants_any(const struct pdet_wants *w, const uint8_t *list,
		      size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pdet_fields_has(&w->fields, list[i]))
			return true;
	return false;
}

static int procfs_prepare(struct pdet_backend *b, struct pdet_env *env,
			  const struct pdet_wants *wants)
{
	static const uint8_t place[] = {
		PAGEDET_FIELD_NODE, PAGEDET_FIELD_ZONE,
	};
	struct procfs *p = procfs_of(b);
	int r;

	r = procfs_look(p, env, wants);
	if (r < 0)
		return r;
	if (wants_any(wants, place, PDET_COUNT(place)))
		return procfs_memory_load(p, env);
	return 0;
}

static void procfs_session_free(struct pdet_session *base)
{
	struct procfs_session *s = procfs_session_of(base);

	if (!s)
		return;
	free(s->words);
	free(s->look);
	free(s->folded);
	procfs_bytes_free(s->bytes);
	pdet_vec_free(&s->mounts.list);
	free(s->word[KPAGE_FLAGS]);
	free(s);
}

static int procfs_session_new(struct pdet_backend *b, struct pdet_env *env,
			      const struct pdet_wants *wants,
			      struct pdet_session **ret)
{
	struct procfs_session *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->session.backend = b;
	s->session.env = *env;
	s->session.wants = wants;
	s->p = procfs_of(b);
	s->kpf = s->p->kpf;
	s->pagemap = s->p->pagemap;
	s->words = malloc(PROCFS_WORDS * sizeof(*s->words));
	if (!s->words) {
		procfs_session_free(&s->session);
		return -ENOMEM;
	}
	*ret = &s->session;
	return 0;
}

const struct pdet_backend_ops pdet_procfs_ops = {
	.name = "procfs",
	.sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS),
	.size = sizeof(struct procfs),
	.probe = procfs_probe,
	.open = procfs_open,
	.close = procfs_close,
	.info = procfs_info,
	.survey = procfs_survey,
	.add_fd = procfs_add_fd,
	.prepare = procfs_prepare,
	.session_new = procfs_session_new,
	.session_free = procfs_session_free,
	.fill = procfs_fill,
	.together = procfs_together,
	.memory = procfs_memory,
	.tasks = procfs_tasks,
	.threads = procfs_threads,
	.task_stack = procfs_task_stack,
	.task_open = procfs_task_open,
	.task_close = procfs_task_close,
	.task_name = procfs_task_name,
	.task_same = procfs_task_same,
	.vma_at = procfs_vma_at,
	.vma_first = procfs_vma_first,
	.vma_next = procfs_vma_next,
	.populated = procfs_populated,
	.entries = procfs_entries,
	.glance = procfs_glance,
	.recheck = procfs_recheck,
	.mappings = procfs_mappings,
	.file_open = procfs_file_open,
	.file_close = procfs_file_close,
	.file_count = procfs_file_count,
	.file_pages = procfs_file_pages,
	.file_recheck = procfs_file_recheck,
	.tree_open = procfs_tree_open,
	.tree_next = procfs_tree_next,
	.tree_close = procfs_tree_close,
	.mount_table = procfs_mount_table,
	.cgroup = procfs_cgroup,
	.cgroup_tasks = procfs_cgroup_tasks,
};
