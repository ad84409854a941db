// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files "virt" and "phys", as Page Detective was first posted: a question
 * is written, and its answer is in the kernel log when write(2) is back. One
 * is answered at a time, so that no two answers are mixed.
 */
#define pr_fmt(fmt) "Page Detective: " fmt

#include <linux/ctype.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "detective.h"

/* No question is longer. */
#define MOST_TEXT 128
/* Mappings of one kind that are listed; all are counted. */
#define MOST_LINES 1024

static DEFINE_MUTEX(one_at_a_time);

static const char *cancelled(int r)
{
	return r == -EINTR ? "Received a cancel signal from user, while scanning" :
			     "No memory to traverse though";
}

/* What another program chose must not look like lines of ours. */
static void tame(char *text)
{
	for (; *text; text++)
		if (iscntrl(*text))
			*text = '?';
}

static int kernel_found(struct pd_maps *m, const struct pd_map *map)
{
	static const char * const how[] = {
		[PD_DIRECT] = "direct mapped",
		[PD_VMALLOC] = "mapped in vmalloc",
		[PD_KERNEL] = "mapped into kernel",
	};

	if (m->counts[map->where] > MOST_LINES)
		return 0;
	pr_info("The page is %s addr[%p] %s entry[%llx]\n", how[map->where],
		(void *)map->addr, pd_level_name(map->level), map->entry);
	return 1;
}

static int user_found(struct pd_maps *m, const struct pd_map *map)
{
	const struct vm_area_struct *vma = map->vma;
	const pid_t pid = task_tgid_vnr(map->task);
	char comm[TASK_COMM_LEN];
	char *name;

	if (m->counts[PD_USER] > MOST_LINES)
		return 0;
	get_task_comm(comm, map->task);
	tame(comm);
	pr_info("%smapped by PID[%d] cmd[%s] mm[%p] pgd[%p] at addr[%lx] %s[%llx]\n",
		vma->vm_flags & VM_HUGETLB ? "hugetlb " : "", pid ? pid : -1,
		comm, map->mm, map->mm->pgd, map->addr,
		pd_level_name(map->level), map->entry);
	name = kmalloc(PATH_MAX, GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	pd_vma_name(vma, name, PATH_MAX);
	tame(name);
	pr_info("vma[%p] start[%lx] end[%lx] flags[%016lx] name: %s\n", vma,
		vma->vm_start, vma->vm_end, (unsigned long)vma->vm_flags,
		name);
	kfree(name);
	return 1;
}

static void took(const char *what, ktime_t start)
{
	u32 ns;
	const u64 s = div_u64_rem(ktime_to_ns(ktime_sub(ktime_get(), start)),
				  NSEC_PER_SEC, &ns);

	pr_info("Scanned %s in [%llu.%09us]\n", what, s, ns);
}

static void kernel_part(const struct pd_page *p)
{
	struct pd_maps m = { .pfn = p->pfn, .found = kernel_found };
	const ktime_t start = ktime_get();
	int r;

	r = pd_kernel_maps(&m);
	if (r == -EOPNOTSUPP)
		return;
	if (r) {
		pr_info("%s kernel mappings\n", cancelled(r));
		return;
	}
	if (!m.counts[PD_VMALLOC])
		pr_info("The page is not mapped into kernel vmalloc area\n");
	else if (m.counts[PD_VMALLOC] > 1)
		pr_info("The page is mapped into vmalloc area: %ld times\n",
			m.counts[PD_VMALLOC]);
	if (!m.counts[PD_DIRECT])
		pr_info("The page is not mapped into kernel direct map\n");
	pr_info("The page mapped into kernel page table: %ld times\n",
		m.counts[PD_DIRECT] + m.counts[PD_VMALLOC] +
		m.counts[PD_KERNEL]);
	took("kernel page table", start);
}

static void content_part(const struct pd_page *p)
{
	switch (pd_content(p)) {
	case PD_CONTENT_ZERO:
		pr_info("The page contains only zeroes\n");
		break;
	case PD_CONTENT_DATA:
		pr_info("The page contains some data\n");
		break;
	default:
		break;
	}
}

static void user_part(const struct pd_page *p)
{
	struct pd_maps m = { .pfn = p->pfn, .found = user_found };
	const ktime_t start = ktime_get();
	char what[48];
	int r;

	r = pd_user_maps(&m);
	if (m.skipped)
		pr_info("Number of processes increased while scanning, some will be skipped\n");
	if (r)
		pr_info("%s user mappings\n", cancelled(r));
	scnprintf(what, sizeof(what), "[%ld] user page tables", m.tables);
	took(what, start);
	pr_info("The page mapped into user page tables: %ld times\n",
		m.counts[PD_USER]);
}

static void investigate(unsigned long pfn)
{
	struct pd_page *p;
	int r;

	if (!pfn) {
		pr_info("Skipping look-up for pfn[0] mapped many times into kernel page table\n");
		return;
	}
	p = kmalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return;
	r = pd_page_get(p, pfn);
	if (!r)
		r = pd_page_words(p);
	if (!r && !p->exists) {
		pr_info("pfn[%lx] is invalid\n", pfn);
	} else if (!r) {
		pd_page_cgroup(p, true);
		pd_page_file(p);
		tame(p->dentry);
		tame(p->memcg);
		pd_classic_page(p);
		kernel_part(p);
		content_part(p);
		if (!fatal_signal_pending(current))
			user_part(p);
	}
	pd_page_put(p);
	kfree(p);
}

/* The text that was written, to be freed, or an error. */
static char *question(const char __user *from, size_t size)
{
	if (size > MOST_TEXT)
		return ERR_PTR(-EINVAL);
	return memdup_user_nul(from, size);
}

static void refused(const struct pd_virt *v, int r)
{
	const struct pd_entry *e = &v->entry;

	switch (r) {
	case -ESRCH:
		pr_err("pid_virt_to_phys: Task not found for PID %d\n",
		       v->pid);
		break;
	case -EINVAL:
		pr_err("pid_virt_to_phys: PID %d, can't get mm reference\n",
		       v->pid);
		break;
	case -ERANGE:
		pr_err("pid_virt_to_phys: virt_addr[%lx] is above TASK_SIZE[%lx]\n",
		       v->addr, v->task_size);
		break;
	case -ENXIO:
		pr_err("pid_virt_to_phys: %s[%llx] present[0]%s\n",
		       e->level == PD_P4D ? "p4d" : pd_level_name(e->level),
		       e->value, e->level >= PD_P4D ? " bad[0]" : "");
		break;
	}
	pr_err("page_detective_virt_write: Can't translate virtual to physical address\n");
}

/* "PID ADDRESS", with one blank between them. */
static int parse_virt(char *text, struct pd_virt *v)
{
	char *blank = text;
	int r;

	if (!*text) {
		pr_err("page_detective_virt_write: Failed to parse pid\n");
		return -EINVAL;
	}
	while (*blank && !isspace(*blank))
		blank++;
	if (!*blank || !blank[1]) {
		pr_err("page_detective_virt_write: Invalid virt file input, should be: '<pid> <virtual address>'\n");
		return -EINVAL;
	}
	*blank = '\0';
	r = kstrtouint(text, 0, &v->pid);
	if (r) {
		pr_err("page_detective_virt_write: Failed to parse pid\n");
		return r;
	}
	r = kstrtoul(blank + 1, 0, &v->addr);
	if (r)
		pr_err("page_detective_virt_write: Failed to parse virtual address\n");
	return r;
}

static int ask_virt(char *text)
{
	struct pd_virt v = { 0 };
	int r;

	r = parse_virt(text, &v);
	if (r)
		return r;
	r = pd_virt(&v);
	if (r == -EINTR)
		return r;
	if (r) {
		refused(&v, r);
		return -EINVAL;
	}
	pr_info("Investigating pid[%u] virtual[%lx] physical[%lx] pfn[%lx]\n",
		v.pid, v.addr,
		(v.entry.pfn << PAGE_SHIFT) + offset_in_page(v.addr),
		v.entry.pfn);
	investigate(v.entry.pfn);
	pr_info("Finished investigation of virtual[%lx]\n", v.addr);
	return 0;
}

static int ask_phys(char *text)
{
	unsigned long addr;
	int r;

	r = kstrtoul(text, 0, &addr);
	if (r) {
		pr_err("page_detective_phys_write: Failed to parse physical address\n");
		return r;
	}
	pr_info("Investigating physical[%lx] pfn[%lx]\n", addr,
		addr >> PAGE_SHIFT);
	investigate(addr >> PAGE_SHIFT);
	pr_info("Finished investigation of physical[%lx]\n", addr);
	return 0;
}

static ssize_t ask(const char __user *from, size_t size,
		   int (*answer)(char *text))
{
	char *text = question(from, size);
	int r;

	if (IS_ERR(text))
		return PTR_ERR(text);
	r = mutex_lock_killable(&one_at_a_time);
	if (!r) {
		r = answer(text);
		/* Who was killed does not read what this returns. */
		if (!r && fatal_signal_pending(current))
			r = -EINTR;
		mutex_unlock(&one_at_a_time);
	}
	kfree(text);
	return r ? r : size;
}

static ssize_t virt_write(struct file *file, const char __user *from,
			  size_t size, loff_t *at)
{
	return ask(from, size, ask_virt);
}

static ssize_t phys_write(struct file *file, const char __user *from,
			  size_t size, loff_t *at)
{
	return ask(from, size, ask_phys);
}

static int classic_open(struct inode *inode, struct file *file)
{
	return pd_may_open();
}

const struct file_operations pd_virt_fops = {
	.owner = THIS_MODULE,
	.open = classic_open,
	.write = virt_write,
	.llseek = noop_llseek,
};

const struct file_operations pd_phys_fops = {
	.owner = THIS_MODULE,
	.open = classic_open,
	.write = phys_write,
	.llseek = noop_llseek,
};
