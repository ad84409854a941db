// SPDX-License-Identifier: GPL-2.0-only
/*
 * A question:
 *
 *   phys ADDRESS [OPTION...]
 *   virt PID ADDRESS [OPTION...]
 *   pfn N|FIRST+COUNT... [OPTION...]
 *
 * Words are separated by blanks, commas or newlines; numbers are as in C.
 * Options: walk, nowalk (who maps it; default: walk for one address, nowalk
 * for a list), content, nocontent (the same), pointers.
 */
#include <linux/ctype.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "detective.h"

static char *next_word(char **at)
{
	char *word;

	do
		word = strsep(at, " \t\n,");
	while (word && !*word);
	return word;
}

static int parse_number(char **at, unsigned long *ret)
{
	const char *word = next_word(at);

	return word ? kstrtoul(word, 0, ret) : -EINVAL;
}

static bool is_option(struct pd_query *q, const char *word)
{
	if (!strcmp(word, "walk"))
		q->walk = true;
	else if (!strcmp(word, "nowalk"))
		q->walk = false;
	else if (!strcmp(word, "content"))
		q->content = true;
	else if (!strcmp(word, "nocontent"))
		q->content = false;
	else if (!strcmp(word, "pointers"))
		q->pointers = true;
	else
		return false;
	return true;
}

/* "N" or "FIRST+COUNT" */
static int add_frames(struct pd_query *q, char *word)
{
	char *plus = strchr(word, '+');
	unsigned long first, count = 1;
	int r;

	if (plus)
		*plus++ = '\0';
	r = kstrtoul(word, 0, &first);
	if (!r && plus)
		r = kstrtoul(plus, 0, &count);
	if (r)
		return r;
	if (!count || first + count - 1 < first)
		return -EINVAL;
	if (count > PD_MOST_FRAMES - q->n_frames)
		return -E2BIG;
	q->n_frames += count;
	q->ranges[q->n_ranges].first = first;
	q->ranges[q->n_ranges++].count = count;
	return 0;
}

static int parse_frames(struct pd_query *q, char *text)
{
	char *word;
	int r;

	/* a letter and a blank */
	q->ranges = kvmalloc_array(strlen(text ? text : "") / 2 + 1,
				   sizeof(*q->ranges), GFP_KERNEL_ACCOUNT);
	if (!q->ranges)
		return -ENOMEM;
	while ((word = next_word(&text))) {
		/* a list has many numbers, and few words */
		if (!isdigit(*word) && is_option(q, word))
			continue;
		r = add_frames(q, word);
		if (r)
			return r;
	}
	return q->n_frames ? 0 : -EINVAL;
}

static int parse_options(struct pd_query *q, char *text)
{
	char *word;

	while ((word = next_word(&text)))
		if (!is_option(q, word))
			return -EINVAL;
	return 0;
}

static int parse_virt(struct pd_query *q, char **text)
{
	unsigned long pid;
	int r;

	r = parse_number(text, &pid);
	if (!r)
		r = parse_number(text, &q->virt.addr);
	if (!r && pid > INT_MAX)
		r = -ERANGE;
	if (!r)
		q->virt.pid = pid;
	return r;
}

int pd_query_parse(struct pd_query *q, char *text)
{
	const char *verb = next_word(&text);
	unsigned long addr;
	int r;

	if (!verb)
		return -EINVAL;
	q->walk = true;
	q->content = true;
	if (!strcmp(verb, "phys")) {
		q->verb = PD_ASK_PHYS;
		r = parse_number(&text, &addr);
		q->phys = addr;
	} else if (!strcmp(verb, "virt")) {
		q->verb = PD_ASK_VIRT;
		r = parse_virt(q, &text);
	} else if (!strcmp(verb, "pfn")) {
		q->verb = PD_ASK_PFN;
		q->walk = false;
		q->content = false;
		return parse_frames(q, text);
	} else {
		return -EINVAL;
	}
	return r ? r : parse_options(q, text);
}

void pd_query_free(struct pd_query *q)
{
	kvfree(q->ranges);
	q->ranges = NULL;
}
