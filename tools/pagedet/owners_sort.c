/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes groups of owners in the format of the kernel's
 * tools/mm/page_owner_sort.c with --cull, for scripts that parse it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct writing {
	struct pagedet_owners *owners;
	const struct pagedet_owner_group *group;
	const uint32_t *by;
	uint64_t n_by;
	FILE *f;
};

/* The index of a key that has an answer in the group, or -1. */
static int place_of(const struct writing *w, uint32_t key)
{
	uint64_t i;

	for (i = 0; i < w->n_by; i++)
		if (w->by[i] == key && w->group->state[i] == PAGEDET_HAVE)
			return (int)i;
	return -1;
}

static const char *text_of(const struct writing *w, uint32_t key)
{
	const int i = place_of(w, key);

	return i < 0 ? NULL :
	       pagedet_owners_text(w->owners, w->group->value[i], NULL);
}

static void put_number(const struct writing *w, uint32_t key, const char *name)
{
	const int i = place_of(w, key);

	if (i >= 0)
		fprintf(w->f, ", %s %llu", name,
			(unsigned long long)w->group->value[i]);
}

static void put_head(const struct writing *w)
{
	const char *comm = text_of(w, PAGEDET_OWNER_COMM);
	const char *allocator = text_of(w, PAGEDET_OWNER_ALLOCATOR);

	/* Files with stacks count only pages. */
	if (w->group->times || !w->group->pages)
		fprintf(w->f, "%llu times",
			(unsigned long long)w->group->times);
	else
		fprintf(w->f, "? times");
	fprintf(w->f, ", %llu pages", (unsigned long long)w->group->pages);
	put_number(w, PAGEDET_OWNER_PID, "PID");
	put_number(w, PAGEDET_OWNER_TGID, "TGID");
	if (comm)
		fprintf(w->f, ", task_comm_name: %s", comm);
	if (!allocator)
		return;
	fprintf(w->f, ", allocated by ");
	for (; *allocator; allocator++)
		fputc(toupper((unsigned char)*allocator), w->f);
	fputc(' ', w->f);
}

/*
 * "NAME (offline)" and "NAME (via objcg)", in the position where the kernel
 * writes them.
 */
static void put_memcg(const struct writing *w)
{
	static const char offline[] = " (offline)", objcg[] = " (via objcg)";
	const char *name = text_of(w, PAGEDET_OWNER_MEMCG_NAME);
	bool is_offline = false, via = false, again = true;
	size_t len = name ? strlen(name) : 0;

	while (len && again) {
		again = false;
		if (len > sizeof(offline) - 1 &&
		    !memcmp(name + len - (sizeof(offline) - 1), offline,
			    sizeof(offline) - 1)) {
			len -= sizeof(offline) - 1;
			is_offline = again = true;
		}
		if (len > sizeof(objcg) - 1 &&
		    !memcmp(name + len - (sizeof(objcg) - 1), objcg,
			    sizeof(objcg) - 1)) {
			len -= sizeof(objcg) - 1;
			via = again = true;
		}
	}
	if (len)
		fprintf(w->f, "Charged %sto %smemcg %.*s\n",
			via ? "(via objcg) " : "",
			is_offline ? "offline " : "", (int)len, name);
}

/* Returns 0, or negative errno. */
static int put_stack(const struct writing *w)
{
	const int stack = place_of(w, PAGEDET_OWNER_STACK);
	const int slab = place_of(w, PAGEDET_OWNER_SLAB);
	const char *reason = text_of(w, PAGEDET_OWNER_MIGRATE_REASON);
	const char *frames[256];
	int n, i;

	if (stack < 0)
		return 0;
	n = pagedet_owners_stack(w->owners, w->group->value[stack], frames,
				 CLI_COUNT(frames));
	if (n < 0)
		return n;
	fprintf(w->f, ":\n");
	for (i = 0; i < n && i < (int)CLI_COUNT(frames); i++)
		fprintf(w->f, " %s\n", frames[i]);
	if (reason)
		fprintf(w->f, "Page has been migrated, last migrate reason: "
			"%s\n", reason);
	if (slab >= 0 && w->group->value[slab])
		fprintf(w->f, "Slab cache page\n");
	put_memcg(w);
	return 0;
}

int cli_page_owner_sort(struct pagedet_owners *owners, const uint32_t *by,
			uint64_t n_by, uint64_t max, FILE *f)
{
	struct pagedet_owner_group group = { .size = sizeof(group) };
	const struct writing w = { owners, &group, by, n_by, f };

	for (; max && pagedet_owners_next(owners, &group) == 1; max--) {
		put_head(&w);
		errno = -put_stack(&w);
		if (errno)
			return cli_fail_errno("cannot tell a stack");
		fprintf(f, "\n");
	}
	return CLI_ANSWERED;
}
