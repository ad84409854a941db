/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The source "procfs": opens and closes it, and surveys its fields. The files
 * it reads are opened when a query first needs them.
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

#include "backend/procfs/procfs.h"
#include "base/io.h"

static int procfs_probe(struct pdet_env *env, const struct pdet_input *in)
{
	struct statfs fs;
	char path[4096];

	if (in->options && in->options->n_files)
		return 0;
	if (pdet_path(env, path, sizeof(path), "/proc") < 0)
		return 0;
	/* open explains why an existing /proc cannot be accessed. */
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
		return pdet_fail(env, EINVAL, "the path of the root directory "
					      "is too long");
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
	if (pthread_mutex_init(&p->look_lock, NULL)) {
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
	pthread_mutex_destroy(&p->look_lock);
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
	pdet_read_line(env, "/proc/sys/kernel/osrelease", ret->release,
		       sizeof(ret->release));
	pdet_read_line(env, "/proc/sys/kernel/hostname", ret->host,
		       sizeof(ret->host));
	pdet_read_line(env, "/proc/sys/kernel/random/boot_id", ret->boot_id,
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

/* Report whether a kpage file can be opened, with advice. */
static void survey_kpage(struct procfs *p, struct pdet_env *env,
			 enum procfs_kpage which, struct pdet_ability *ret)
{
	int fd = procfs_kpage_fd(p, env, which);
	char text[160];

	if (fd >= 0)
		return;
	if (fd == -EACCES) {
		cannot(ret, PAGEDET_NO_ACCESS,
		       "needs root, or a descriptor that root opened");
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

/* Report whether pagemap shows page frame numbers to us. */
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

/* --- what can be answered --- */

#define F(name) ((uint64_t)1 << PAGEDET_FIELD_##name)
#define T(name) (1u << PAGEDET_TARGET_##name)

/* Sets of targets. Places of OF_TASK are addresses, of BY_NUMBER frames. */
#define OF_TASK (T(VIRT) | T(TASK) | T(MAPPERS))
#define OF_FILE (T(FILE) | T(TREE) | T(MOUNT) | T(BLOCK))
#define BY_NUMBER (T(PFN) | T(PHYS) | T(SCAN) | T(CGROUP))
#define ANY UINT32_MAX

/* What an answer takes. */
enum {
	NOTHING = 0,
	FLAGS = 1 << KPAGE_FLAGS,
	COUNT = 1 << KPAGE_COUNT,
	CGROUP = 1 << KPAGE_CGROUP,
	NUMBERS = 1 << KPAGE_FILES,	/* addresses have frames for us */
	LIVE = NUMBERS << 1,		/* files that are not copies */
	ANOTHER = NUMBERS << 2		/* another source */
};

static const char no_bytes[] =
	"only bpf, kcore and dumps read the bytes of page frames";

/* The first row with this field and this target applies. If there is no such
 * row, the field cannot be answered. */
static const struct answer {
	uint64_t fields;
	uint32_t targets;
	uint8_t cost;		/* PAGEDET_COST_* */
	uint8_t needs;
	enum { WHOLE, PARTIAL, VAGUE } is; /* as in struct pdet_ability */
	const char *advice;	/* where LIVE or ANOTHER is missing */
} answers[] = {
	{ F(VADDR) | F(PID) | F(PTE) | F(PTE_KNOWN),
	  ANY, PAGEDET_COST_FREE, NOTHING, WHOLE, "" },
	{ F(PFN) | F(SWAP_TYPE) | F(SWAP_OFFSET) | F(MAP),
	  BY_NUMBER, PAGEDET_COST_FREE, NOTHING, WHOLE, "" },
	{ F(PFN) | F(SWAP_TYPE) | F(SWAP_OFFSET) | F(MAP),
	  ANY, PAGEDET_COST_FREE, NUMBERS, WHOLE, "" },
	/* The owner of a page without a type is unknown. If flags are missing,
	 * tasks and files still say something. */
	{ F(KIND), T(VIRT), PAGEDET_COST_FREE, NOTHING, VAGUE, "" },
	{ F(KIND), OF_TASK | OF_FILE, PAGEDET_COST_FREE, NOTHING, WHOLE, "" },
	{ F(KIND), BY_NUMBER, PAGEDET_COST_FREE, FLAGS, VAGUE, "" },
	{ F(KIND) | F(FLAGS) | F(FLAGS_KNOWN),
	  ANY, PAGEDET_COST_FREE, FLAGS, WHOLE, "" },
	{ F(HEAD_PFN), ANY, PAGEDET_COST_READ, FLAGS, WHOLE, "" },
	/* Of free blocks it is not known. */
	{ F(ORDER), ANY, PAGEDET_COST_READ, FLAGS, PARTIAL, "" },
	{ F(MAPCOUNT) | F(MAPCOUNT_KIND),
	  ANY, PAGEDET_COST_READ, COUNT, WHOLE, "" },
	{ F(MEMCG_INO), ANY, PAGEDET_COST_READ, CGROUP, WHOLE, "" },
	{ F(MEMCG_PATH) | F(MEMCG_NAME),
	  ANY, PAGEDET_COST_LOOKUP, CGROUP, WHOLE, "" },
	{ F(TGID) | F(COMM) | F(NODE) | F(ZONE),
	  ANY, PAGEDET_COST_LOOKUP, NOTHING, WHOLE, "" },
	{ F(VMA_START) | F(VMA_END) | F(VMA_PROT) | F(VMA_NAME),
	  T(TASK), PAGEDET_COST_FREE, NOTHING, WHOLE, "" },
	{ F(VMA_START) | F(VMA_END) | F(VMA_PROT) | F(VMA_NAME),
	  ANY, PAGEDET_COST_READ, NOTHING, WHOLE, "" },
	{ F(PTE_LEVEL), OF_TASK, PAGEDET_COST_READ, LIVE, WHOLE, "" },
	{ F(PTE_LEVEL), ANY, PAGEDET_COST_READ, NOTHING, WHOLE, "" },
	{ F(DEV) | F(INODE) | F(INDEX) | F(PATH),
	  OF_FILE, PAGEDET_COST_FREE, NOTHING, WHOLE, "" },
	/* For a page frame, only the flags show that there is no file. */
	{ F(DEV) | F(INODE) | F(INDEX) | F(PATH),
	  BY_NUMBER, PAGEDET_COST_READ, FLAGS, PARTIAL, "" },
	{ F(DEV) | F(INODE) | F(INDEX) | F(PATH),
	  ANY, PAGEDET_COST_READ, NOTHING, PARTIAL, "" },
	/* A page is read only if its flags show no poison. */
	{ F(CONTENT), OF_TASK, PAGEDET_COST_INTRUSIVE, LIVE | NUMBERS | FLAGS,
	  PARTIAL, no_bytes },
	{ F(CONTENT), ANY, PAGEDET_COST_INTRUSIVE, ANOTHER,
	  PARTIAL, no_bytes },
};

static const struct answer *find_answer(unsigned field, uint32_t target)
{
	size_t i;

	for (i = 0; i < PDET_COUNT(answers); i++)
		if (pdet_answers(answers[i].fields, answers[i].targets, field,
				 target))
			return &answers[i];
	return NULL;
}

static void procfs_survey(struct pdet_backend *b, struct pdet_env *env,
			  uint32_t target, unsigned field, unsigned source,
			  struct pdet_ability *ret)
{
	const struct answer *a = find_answer(field, target);
	struct procfs *p = procfs_of(b);
	unsigned i;

	(void)source;
	memset(ret, 0, sizeof(*ret));
	ret->reason = PAGEDET_HAVE;
	if (!a) {
		cannot(ret, PAGEDET_UNSUPPORTED, "");
		return;
	}
	ret->cost = a->cost;
	ret->partial = a->is == PARTIAL;
	ret->vague = a->is == VAGUE;
	if (a->needs & ANOTHER || (a->needs & LIVE && !p->live)) {
		cannot(ret, PAGEDET_UNSUPPORTED, a->advice);
		return;
	}
	if (a->needs & NUMBERS)
		survey_numbers(p, ret);
	for (i = 0; i < KPAGE_FILES && ret->reason == PAGEDET_HAVE; i++)
		if (a->needs >> i & 1)
			survey_kpage(p, env, i, ret);
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
	.frames_end = procfs_frames_end,
	.tasks = procfs_tasks,
	.list_tasks = procfs_list_tasks,
	.kernel_log = procfs_kernel_log,
	.usage = procfs_usage,
	.threads = procfs_threads,
	.task_stack = procfs_task_stack,
	.stops_threads = true,
	.user_regs = procfs_user_regs,
	.user_page = procfs_user_page,
	.task_size = procfs_task_size,
	.task_open = procfs_task_open,
	.task_close = procfs_task_close,
	.has_memory = procfs_has_memory,
	.space_key = procfs_space_key,
	.space_order = procfs_space_order,
	.task_name = procfs_task_name,
	.task_same = procfs_task_same,
	.vma_at = procfs_vma_at,
	.vma_first = procfs_vma_first,
	.vma_next = procfs_vma_next,
	.space = procfs_space,
	.populated = procfs_populated,
	.entries = procfs_entries,
	.glance = procfs_glance,
	.recheck = procfs_recheck,
	.mappings = procfs_mappings,
	.blind = procfs_blind,
	.file_open = procfs_file_open,
	.file_size = procfs_file_size,
	.file_fd = procfs_file_fd,
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
