/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Handles two processes with a map of blocks. There is no monitor, and they
 * need not be QEMU. The sender may provide hashes as sent.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"

#define LONGEST (1u << 20)

static char *read_all(const char *path, size_t *len)
{
	char *text = malloc(LONGEST);
	FILE *f = fopen(path, "re");

	*len = f && text ? fread(text, 1, LONGEST, f) : 0;
	if (!f || !text || ferror(f) || *len == LONGEST) {
		if (*len == LONGEST)
			errno = EFBIG;
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static void take_block(struct agent *a, struct block *b,
		       const struct pagedet_item *items, unsigned i)
{
	struct pagedet_page_at at = { .size = sizeof(at) };
	int side;

	pagedet_blocks_at(a->map, a->pages, &at);
	snprintf(b->name, sizeof(b->name), "%s", at.name);
	b->first = a->pages;
	b->used = b->total = items[i].count;
	b->pages = b->used / PAGE_BYTES;
	a->pages += b->pages;
	for (side = 0; side < SIDES; side++) {
		b->at[side].fd = -1;
		b->at[side].hva = at.addr[side];
		join_maps(&a->vm[side], b, side);
	}
}

static int check_block(const struct block *b)
{
	int side;

	for (side = 0; side < SIDES; side++)
		if (!b->at[side].hva)
			return agent_fail(AGENT_UNAVAILABLE, "block %s: %s",
					  b->name, b->at[side].why);
	return 0;
}

static int take_map(struct agent *a)
{
	struct pagedet_item items[MAX_BLOCKS];
	const int n = pagedet_blocks_items(a->map, SOURCE, 0, items,
					   MAX_BLOCKS);
	int status = 0, i;

	if (n < 1 || n > (int)MAX_BLOCKS)
		return agent_fail(AGENT_MALFORMED, "%s: %d blocks, not 1 to %u",
				  a->o.blocks, n, MAX_BLOCKS);
	for (i = 0; !status && i < n; i++) {
		take_block(a, &a->blocks[i], items, (unsigned)i);
		a->n_blocks++;
		status = check_block(&a->blocks[i]);
	}
	return status;
}

int given_blocks(struct agent *a)
{
	uint64_t line = 0;
	size_t len;
	char *text = read_all(a->o.blocks, &len);
	int r;

	if (!text)
		return agent_fail_errno(AGENT_NO_INPUT, "cannot read %s",
					a->o.blocks);
	r = pagedet_blocks_new(PAGE_BYTES, &a->map);
	if (!r)
		r = pagedet_blocks_load(a->map, text, len, &line);
	free(text);
	if (r)
		return agent_fail(AGENT_MALFORMED, "%s: line %llu is not a "
				  "block or where the guest has one: %s",
				  a->o.blocks, (unsigned long long)line,
				  strerror(-r));
	return take_map(a);
}

/* "BLOCK OFFSET HASH": each page in the version that was last sent. */
int given_sent(struct agent *a)
{
	char name[256];
	uint64_t offset, hash, page, line = 0;
	FILE *f = fopen(a->o.sent, "re");
	int n, status = 0;

	if (!f)
		return agent_fail_errno(AGENT_NO_INPUT, "cannot read %s",
					a->o.sent);
	while (!status && (n = fscanf(f, "%255s %" SCNx64 " %" SCNx64, name,
				      &offset, &hash)) != EOF) {
		line++;
		page = n == 3 ? join_page(a, name, offset) : PAGEDET_NO_PAGE;
		if (page == PAGEDET_NO_PAGE)
			status = agent_fail(AGENT_MALFORMED, "%s: line %llu is "
					    "not a block, an offset in it and "
					    "a hash", a->o.sent,
					    (unsigned long long)line);
		else
			pagedet_versions_sent(a->versions, page,
					      PAGEDET_SENT_KNOWN, hash, 1);
	}
	fclose(f);
	a->tapped = !status;
	pagedet_versions_complete(a->versions, !status);
	return status;
}

/* The letter of a task's state, or 0: there is no such task. */
static char state_of(const char *path)
{
	char text[512];
	const char *state;
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = 0;
	state = strrchr(text, ')');
	return state && strlen(state) > 2 ? state[2] : 0;
}

static bool is_stopped(char state)
{
	return state == 'T' || state == 't';
}

/* A tracer may stop one thread alone. */
static bool all_stopped(pid_t pid)
{
	char path[80];
	bool stopped = true;
	unsigned n = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && stopped && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat",
			 (int)pid, e->d_name);
		stopped = is_stopped(state_of(path));
		n++;
	}
	if (d)
		closedir(d);
	return n && stopped;
}

/* Frozen: all of its threads are stopped, by a signal or a tracer. */
int given_status(struct vm *vm)
{
	char path[48], state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)vm->pid);
	state = state_of(path);
	vm->dead = !state || state == 'Z';
	vm->frozen = PAGEDET_DUNNO;
	if (vm->dead)
		return -1;
	if (all_stopped(vm->pid))
		vm->frozen = PAGEDET_YES;
	snprintf(vm->status, sizeof(vm->status), "%s",
		 vm->frozen == PAGEDET_YES ? "stopped" : "not stopped");
	return 0;
}
