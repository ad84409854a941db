/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * As little as page_owner's text can be grouped with: mapped, cut at empty
 * lines, five numbers of each record by hand, its stack hashed and counted. It
 * trusts the text, keeps none of it, and has room for so many stacks.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

#define SLOTS 65536
#define MAX_THREADS 16

struct group {
	const char *stack;	/* NULL: a free slot */
	size_t len;
	uint64_t hash, records, pages, oldest;
};

struct share {
	const char *at, *end;
	struct group *group;
	uint64_t records, pid, tgid, pfn; /* sums, so that they are read */
	pthread_t thread;
};

static uint64_t number(const char **at)
{
	uint64_t value = 0;

	while ((unsigned)(**at - '0') < 10)
		value = value * 10 + (uint64_t)(*(*at)++ - '0');
	return value;
}

static uint64_t hex(const char **at)
{
	uint64_t value = 0;

	for (;; ++*at) {
		unsigned c = (unsigned char)**at;

		if (c - '0' < 10)
			value = value << 4 | (c - '0');
		else if (c - 'a' < 6)
			value = value << 4 | (c - 'a' + 10);
		else
			return value;
	}
}

#define ONES 0x0101010101010101u

/* The bytes of a word that are newlines, as their highest bits. */
static uint64_t newlines(uint64_t word)
{
	word ^= ONES * '\n';
	return (word - ONES) & ~word & ONES * 0x80;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

/* Hashes lines that begin with a blank; where they end. */
static const char *hash_stack(const char *at, const char *end, uint64_t *ret)
{
	uint64_t hash = 0, word, hit;
	const char *line;

	for (; end - at > 8; at += 8) {
		memcpy(&word, at, 8);
		for (hit = newlines(word); hit; hit &= hit - 1) {
			line = at + __builtin_ctzll(hit) / 8 + 1;
			if (*line == ' ')
				continue;
			word &= ~(uint64_t)0 >> (8 - (line - at)) * 8;
			*ret = mix(hash, word);
			return line;
		}
		hash = mix(hash, word);
	}
	*ret = hash;
	return end;
}

static void count(struct share *s, const char *stack, size_t len,
		  uint64_t hash, uint64_t pages, uint64_t ns)
{
	size_t at = hash % SLOTS;
	struct group *g;

	for (;; at = (at + 1) % SLOTS) {
		g = &s->group[at];
		if (!g->stack)
			*g = (struct group){ stack, len, hash, 0, 0, ns };
		if (g->hash == hash && g->len == len &&
		    !memcmp(g->stack, stack, len))
			break;
	}
	g->records++;
	g->pages += pages;
	g->oldest = ns < g->oldest ? ns : g->oldest;
}

/* Behind the next @c, and so many bytes more. */
static const char *behind(const char *at, const char *end, char c,
			  size_t more)
{
	at = memchr(at, c, (size_t)(end - at));
	return at && (size_t)(end - at) > more + 1 ? at + more + 1 : end;
}

/* "Page allocated via order 0, mask 0x..(..), pid 1, tgid 1 (sh), ts 5 ns\n"
 * "PFN 0x1 type ...\n", the stack, perhaps more lines, an empty one. */
static void *work(void *arg)
{
	struct share *s = arg;
	const char *at = s->at, *stack;
	uint64_t order, ns, hash;

	while (s->end - at > 100) {
		at += sizeof("Page allocated via order ") - 1;
		order = number(&at);
		at = behind(at, s->end, ')', sizeof(", pid ") - 1);
		s->pid += number(&at);
		at += sizeof(", tgid ") - 1;
		s->tgid += number(&at);
		at = behind(at, s->end, ')', sizeof(", ts ") - 1);
		ns = number(&at);
		at += sizeof(" ns\nPFN 0x") - 1;
		s->pfn += hex(&at);
		stack = behind(at, s->end, '\n', 0);
		at = hash_stack(stack, s->end, &hash);
		count(s, stack, (size_t)(at - stack), hash,
		      (uint64_t)1 << order, ns);
		s->records++;
		while (at < s->end && *at != '\n')
			at = behind(at, s->end, '\n', 0);
		at++;
	}
	return NULL;
}

static const char *record_behind(const char *at, const char *end)
{
	at = memmem(at, (size_t)(end - at), "\n\n", 2);
	return at ? at + 2 : end;
}

void probe_owners(struct probe_owners *p)
{
	static struct share share[MAX_THREADS];
	const char *text, *end;
	struct stat st;
	unsigned i, n = p->threads;
	size_t slot;
	int fd = probe_open(p->path);

	if (n > MAX_THREADS || fstat(fd, &st) < 0)
		probe_die("%s: cannot be shared out", p->path);
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		probe_die("cannot map %s", p->path);
	close(fd);
	end = text + st.st_size;
	for (i = 0; i < n; i++) {
		share[i] = (struct share){ .at = i ? share[i - 1].end : text };
		share[i].end = i + 1 == n ? end :
			record_behind(text + (size_t)st.st_size / n * (i + 1),
				      end);
		share[i].group = calloc(SLOTS, sizeof(*share[i].group));
		if (!share[i].group)
			probe_die("no memory");
		if (i && pthread_create(&share[i].thread, NULL, work,
					&share[i]))
			probe_die("no thread");
	}
	work(&share[0]);
	p->records = share[0].records;
	for (i = 1; i < n; i++) {
		pthread_join(share[i].thread, NULL);
		p->records += share[i].records;
	}
	/* their sums are not put together: that takes no time */
	p->groups = 0;
	for (slot = 0; slot < SLOTS; slot++)
		p->groups += share[0].group[slot].stack != NULL;
	for (i = 0; i < n; i++)
		free(share[i].group);
	munmap((void *)(uintptr_t)text, (size_t)st.st_size);
}
