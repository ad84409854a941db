// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers "what is this page?" in debugfs, on kernels as distributions ship
 * them. README.md names what can go wrong.
 */
#define pr_fmt(fmt) "page_detective: " fmt

#include <linux/capability.h>
#include <linux/cc_platform.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <asm/cpufeature.h>

#include "detective.h"

#if !defined(CONFIG_X86_64) || !defined(CONFIG_MEMCG)
#error "an x86_64 kernel with CONFIG_MEMCG is needed"
#endif

static struct dentry *dir;

int pd_may_open(void)
{
	return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
}

static int features_show(struct seq_file *s, void *unused)
{
	char line[80];
	unsigned int i;

	seq_puts(s, "feature=query version=1 state=on\n");
	for (i = 0; pd_symbols_line(i, line, sizeof(line)); i++)
		seq_puts(s, line);
	seq_printf(s, "feature=reference state=%s\n",
		   pd_page_may_hold() ? "on" : "off");
	seq_printf(s, "feature=content how=%s state=on\n", pd_content_how());
	return 0;
}

static int features_open(struct inode *inode, struct file *file)
{
	const int r = pd_may_open();

	return r ? r : single_open(file, features_show, NULL);
}

static const struct file_operations features_fops = {
	.owner = THIS_MODULE,
	.open = features_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Where reading memory, or a page table, is not what this module thinks. */
static const char *why_unsafe(void)
{
	if (IS_ENABLED(CONFIG_CFI_CLANG))
		return "functions found by name cannot be called in a kernel with CFI";
	if (cpu_feature_enabled(X86_FEATURE_XENPV))
		return "page tables of Xen PV guests are not read";
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		return "pages that a confidential guest has not accepted must not be touched";
	return NULL;
}

static int __init detective_init(void)
{
	const char *why = why_unsafe();
	int r;

	if (why) {
		pr_err("not loaded: %s\n", why);
		return -EOPNOTSUPP;
	}
	r = pd_symbols_find();
	if (r)
		return r;
	dir = debugfs_create_dir("page_detective", NULL);
	if (IS_ERR(dir)) {
		pr_err("not loaded: cannot make page_detective in debugfs (error %ld): is another driver of that name there?\n",
		       PTR_ERR(dir));
		return PTR_ERR(dir);
	}
	debugfs_create_file("virt", 0200, dir, NULL, &pd_virt_fops);
	debugfs_create_file("phys", 0200, dir, NULL, &pd_phys_fops);
	debugfs_create_file("query", 0600, dir, NULL, &pd_query_fops);
	debugfs_create_file("features", 0400, dir, NULL, &features_fops);
	return 0;
}

static void __exit detective_exit(void)
{
	debugfs_remove(dir);
}

module_init(detective_init);
module_exit(detective_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What is this page? Answers in debugfs");
MODULE_VERSION("1.0");
