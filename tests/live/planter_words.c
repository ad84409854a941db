/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The planter's own view of its pages: raw words that it reads with pread, and
 * everything it knows as one JSON object per line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "planter.h"

#define KPF_COMPOUND_HEAD ((uint64_t)1 << 15)
#define KPF_COMPOUND_TAIL ((uint64_t)1 << 16)
#define LARGEST_FOLIO ((uint64_t)1 << 18)

static uint64_t read_word(const char *path, uint64_t at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t word;

	if (fd < 0)
		return NO_NUMBER;
	if (pread(fd, &word, 8, (off_t)(at * 8)) != 8)
		word = NO_NUMBER;
	close(fd);
	return word;
}

uint64_t word_pagemap(pid_t pid, uintptr_t addr)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	return read_word(path, addr / PAGE);
}

uint64_t word_kpage(const char *name, uint64_t pfn)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/kpage%s", name);
	return read_word(path, pfn);
}

uint64_t word_pfn(uint64_t pagemap)
{
	uint64_t pfn = pagemap & (((uint64_t)1 << 55) - 1);

	return pagemap != NO_NUMBER && pagemap >> 63 && pfn ? pfn : NO_NUMBER;
}

/* move_pages(2) without target nodes only reports where pages are. */
uint64_t word_node(const void *addr)
{
	void *pages[1] = { (void *)((uintptr_t)addr & ~(PAGE - 1)) };
	int status[1] = { -1 };

	if (syscall(SYS_move_pages, 0, 1L, pages, NULL, status, 0) < 0 ||
	    status[0] < 0)
		return NO_NUMBER;
	return (uint64_t)status[0];
}

/* Words of kpageflags, read together: a folio of 2 MB has 512. */
struct glance {
	uint64_t first;
	uint64_t words[512];
	int fd;
};

static uint64_t glance_at(struct glance *g, uint64_t pfn)
{
	const uint64_t n = sizeof(g->words) / sizeof(*g->words);

	if (pfn - g->first >= n) {
		g->first = pfn & ~(n - 1);
		memset(g->words, 0xff, sizeof(g->words));
		if (pread(g->fd, g->words, sizeof(g->words),
			  (off_t)(g->first * 8)) < 8)
			return NO_NUMBER;
	}
	return g->words[pfn - g->first];
}

/*
 * The number of pages of @pfn's folio, and how many of them are before it; 0 if
 * its pages are inconsistent.
 */
static uint64_t count_folio(struct glance *g, uint64_t pfn, uint64_t *back)
{
	uint64_t flags = glance_at(g, pfn), n;

	*back = 0;
	if (flags == NO_NUMBER)
		return 0;
	if (!(flags & (KPF_COMPOUND_HEAD | KPF_COMPOUND_TAIL)))
		return 1;
	while (flags & KPF_COMPOUND_TAIL) {
		if (*back >= LARGEST_FOLIO || *back >= pfn)
			return 0;
		flags = glance_at(g, pfn - ++*back);
		if (flags == NO_NUMBER)
			return 0;
	}
	if (!(flags & KPF_COMPOUND_HEAD))
		return 0;
	for (n = 1; n < LARGEST_FOLIO; n++) {
		flags = glance_at(g, pfn - *back + n);
		if (flags == NO_NUMBER || !(flags & KPF_COMPOUND_TAIL))
			break;
	}
	return n;
}

void word_folio(uint64_t pfn, uint64_t *head, uint64_t *order)
{
	struct glance g = { .first = NO_NUMBER };
	uint64_t back, n;

	*head = *order = NO_NUMBER;
	g.fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	if (g.fd < 0)
		return;
	n = count_folio(&g, pfn, &back);
	close(g.fd);
	if (!n || n & (n - 1))
		return;
	*head = pfn - back;
	*order = (uint64_t)__builtin_ctzll(n);
}

/* --- JSON --- */

void json_string(const char *text, size_t len)
{
	size_t i;

	putchar('"');
	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void text(const char *key, const char *value)
{
	if (!value)
		return;
	printf(", \"%s\": ", key);
	json_string(value, strlen(value));
}

static void number(const char *key, uint64_t value)
{
	if (value != NO_NUMBER)
		printf(", \"%s\": %" PRIu64, key, value);
}

/* A word of the kernel, or null if there is none. */
static void word(const char *key, uint64_t value)
{
	if (value == NO_NUMBER)
		printf(", \"%s\": null", key);
	else
		printf(", \"%s\": \"0x%016" PRIx64 "\"", key, value);
}

static void list(const char *key, const char *names)
{
	const char *comma = "";
	size_t len;

	if (!names)
		return;
	printf(", \"%s\": [", key);
	while (*names) {
		len = strcspn(names, ",");
		fputs(comma, stdout);
		json_string(names, len);
		comma = ", ";
		names += len + (names[len] == ',');
	}
	putchar(']');
}

/* Finds the line of maps with the address. */
static bool find_vma(const struct plant *p, char *line, size_t size)
{
	unsigned long start, end;
	bool found = false;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", p->pid);
	f = fopen(path, "r");
	while (f && !found && fgets(line, (int)size, f)) {
		line[strcspn(line, "\n")] = '\0';
		found = sscanf(line, "%lx-%lx", &start, &end) == 2 &&
			p->addr >= start && p->addr < end;
	}
	if (f)
		fclose(f);
	return found;
}

/* 64-bit FNV-1a of a page's contents. */
static uint64_t fingerprint(const unsigned char *page)
{
	uint64_t sum = 0xcbf29ce484222325u;
	unsigned i;

	for (i = 0; i < PAGE; i++)
		sum = (sum ^ page[i]) * 0x100000001b3u;
	return sum;
}

/*
 * The read must not change the page: it uses an own address, because the kernel
 * counts any other way as an access.
 */
static void print_content(const struct field *f, const struct plant *p,
			  const char *vma)
{
	if (p->pid == f->pid && !p->unread && strchr(vma, ' ')[1] == 'r')
		word("fnv1a64",
		     fingerprint((unsigned char *)(p->addr & ~(PAGE - 1))));
}

static void print_vma(const struct field *f, const struct plant *p,
		      bool present)
{
	char line[4096];

	if (!find_vma(p, line, sizeof(line))) {
		printf(", \"vma\": null");
		return;
	}
	printf(", \"vma\": ");
	json_string(line, strlen(line));
	if (present)
		print_content(f, p, line);
}

static void print_words(const struct field *f, const struct plant *p)
{
	uint64_t pagemap = NO_NUMBER, pfn = p->pfn, head, order;

	if (p->pid) {
		pagemap = word_pagemap(p->pid, p->addr);
		if (pfn == NO_NUMBER)
			pfn = word_pfn(pagemap);
		printf(", \"pid\": %d, \"vaddr\": \"0x%" PRIxPTR "\"", p->pid,
		       p->addr);
		word("pagemap", pagemap);
	}
	if (pfn == NO_NUMBER) {
		printf(", \"pfn\": null, \"kpageflags\": null");
	} else {
		printf(", \"pfn\": \"0x%" PRIx64 "\"", pfn);
		word("kpageflags", word_kpage("flags", pfn));
		number("kpagecount", word_kpage("count", pfn));
		number("kpagecgroup", word_kpage("cgroup", pfn));
		word_folio(pfn, &head, &order);
		number("folio", head);
		if (head != pfn) {
			word("head_kpageflags", word_kpage("flags", head));
			number("head_kpagecgroup", word_kpage("cgroup", head));
		}
		number("folio_order", order);
	}
	if (p->pid == f->pid)
		number("node", word_node((void *)p->addr));
	if (p->pid)
		print_vma(f, p, word_pfn(pagemap) != NO_NUMBER);
}

static void print_expectations(const struct field *f, const struct plant *p)
{
	unsigned i;

	printf(", \"expect\": {\"kind\": ");
	json_string(p->kind, strlen(p->kind));
	list("flags_set", p->flags_set);
	list("flags_clear", p->flags_clear);
	list("flags_unknown", p->flags_unknown);
	list("pte_set", p->pte_set);
	list("pte_clear", p->pte_clear);
	list("pte_unknown", p->pte_unknown);
	number("pfn", p->pfn);
	number("mapcount", p->mapcount);
	number("refcount", p->refcount);
	number("order", p->order);
	number("pte_level", p->level);
	text("vma_name", p->vma_name);
	text("content", p->content);
	if (p->no_file)
		printf(", \"file\": null");
	if (p->io)
		printf(", \"io\": true");
	if (p->path) {
		printf(", \"file\": {\"dev\": \"%u:%u\"",
		       (unsigned)(p->dev >> 32), (unsigned)p->dev);
		number("inode", p->inode);
		number("index", p->index);
		text("path", p->path);
		putchar('}');
	}
	if (p->charged && *f->cgroup) {
		number("memcg_ino", f->cgroup_ino);
		text("memcg_path", f->cgroup);
	}
	for (i = 0; i < p->n_mappers; i++)
		printf("%s[%d, \"0x%" PRIxPTR "\"]%s",
		       i ? ", " : ", \"mappers\": [", p->mapper[i].pid,
		       p->mapper[i].addr, i + 1 == p->n_mappers ? "]" : "");
	putchar('}');
}

/*
 * Where memory is short the kernel takes mapped pages, too. A read by the file
 * of a task's memory brings one back, however it is protected.
 */
static void bring_back(const struct plant *p)
{
	char path[64], byte;
	int fd;

	if (!p->pid || p->unread || !p->pte_set ||
	    strncmp(p->pte_set, "present", 7) ||
	    word_pagemap(p->pid, p->addr) & PM_PRESENT)
		return;
	snprintf(path, sizeof(path), "/proc/%d/mem", p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (pread(fd, &byte, 1, (off_t)p->addr) == 1)
		plant_drain();
	close(fd);
}

void word_print(const struct field *f, struct plant *p)
{
	if (p->renew)
		p->renew(p);
	bring_back(p);
	printf("{\"name\": \"%s\"", p->name);
	print_words(f, p);
	print_expectations(f, p);
	printf("}\n");
}
