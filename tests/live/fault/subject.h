/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Shared by the parts of subject. */
#ifndef PAGEDET_TESTS_SUBJECT_H
#define PAGEDET_TESTS_SUBJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE ((size_t)4096)

/* subject_die - print an error and end the process. */
void subject_die(const char *what) __attribute__((noreturn));

/* subject_pages - allocate @n pages, each with its own text; @flags: MAP_*. */
char *subject_pages(size_t n, int flags);

/* subject_pfn - the frame mapped at @at in this process, 0 if there is none. */
uint64_t subject_pfn(const void *at);

/* subject_join - move to a cgroup, given its file of processes. */
void subject_join(const char *cgroup);

/* Values for {pid} {vaddr} {pfn} in a command. */
struct subject_words {
	pid_t pid;
	uint64_t vaddr, pfn;
};

/* subject_replace - replace these names in the words of a command. */
void subject_replace(char **argv, const struct subject_words *w);

/* The commands; arguments are the words behind their names. */
int subject_dm(int argc, char **argv);
int subject_exits(int argc, char **argv);
int subject_pidns(int argc, char **argv);

#endif
