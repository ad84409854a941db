// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file "query": a question is written, and its answer is read from the same
 * open file, from its beginning. Each open file has its own; the kernel log is
 * not used.
 */
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "detective.h"

/* 65536 frames of up to 18 characters. */
#define MOST_TEXT (2u << 20)

struct asker {
	struct mutex lock;	/* of the answer, among threads */
	struct pd_text answer;
};

static int query_open(struct inode *inode, struct file *file)
{
	struct asker *a;
	int r;

	r = pd_may_open();
	if (r)
		return r;
	a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);
	if (!a)
		return -ENOMEM;
	mutex_init(&a->lock);
	file->private_data = a;
	return 0;
}

static int query_release(struct inode *inode, struct file *file)
{
	struct asker *a = file->private_data;

	pd_text_free(&a->answer);
	kfree(a);
	return 0;
}

/* As printk() has it of %pK. */
static bool may_see_pointers(const struct file *file)
{
	return pd_symbols.kptr_restrict &&
	       READ_ONCE(*pd_symbols.kptr_restrict) < 2 &&
	       file_ns_capable(file, &init_user_ns, CAP_SYSLOG);
}

static int ask(const struct file *file, struct asker *a, char *text)
{
	struct pd_query q = { 0 };
	int r;

	pd_text_free(&a->answer);
	r = pd_query_parse(&q, text);
	if (!r && q.pointers && !may_see_pointers(file))
		r = -EPERM;
	if (!r)
		r = pd_query_answer(&q, &a->answer);
	pd_query_free(&q);
	/* half an answer is none */
	if (r)
		pd_text_free(&a->answer);
	return r;
}

static ssize_t query_write(struct file *file, const char __user *from,
			   size_t size, loff_t *at)
{
	struct asker *a = file->private_data;
	char *text;
	int r;

	if (size > MOST_TEXT)
		return -E2BIG;
	text = kvmalloc(size + 1, GFP_KERNEL_ACCOUNT);
	if (!text)
		return -ENOMEM;
	if (copy_from_user(text, from, size)) {
		kvfree(text);
		return -EFAULT;
	}
	text[size] = '\0';
	r = mutex_lock_killable(&a->lock);
	if (!r) {
		r = ask(file, a, text);
		*at = 0;
		mutex_unlock(&a->lock);
	}
	kvfree(text);
	return r ? r : size;
}

static ssize_t query_read(struct file *file, char __user *to, size_t size,
			  loff_t *at)
{
	struct asker *a = file->private_data;
	ssize_t r;

	r = mutex_lock_killable(&a->lock);
	if (r)
		return r;
	r = simple_read_from_buffer(to, size, at, a->answer.data, a->answer.n);
	mutex_unlock(&a->lock);
	return r;
}

const struct file_operations pd_query_fops = {
	.owner = THIS_MODULE,
	.open = query_open,
	.release = query_release,
	.write = query_write,
	.read = query_read,
	.llseek = default_llseek,
};
