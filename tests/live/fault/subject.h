/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* What the parts of subject share. */
#ifndef PAGEDET_TESTS_SUBJECT_H
#define PAGEDET_TESTS_SUBJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE ((size_t)4096)

/* subject_die - says what went wrong, and ends the process. */
void subject_die(const char *what) __attribute__((noreturn));

/* subject_pages - @n pages, each with a text of its own; @flags: MAP_*. */
char *subject_pages(size_t n, int flags);

/* subject_pfn - the frame that is mapped at @at here, 0: none. */
uint64_t subject_pfn(const void *at);

/* subject_join - goes to a cgroup, by its file of processes. */
void subject_join(const char *cgroup);

/* What a question may name: {pid} {vaddr} {pfn}. */
struct subject_words {
	pid_t pid;
	uint64_t vaddr, pfn;
};

/* subject_replace - replaces such names in the words of a command. */
void subject_replace(char **argv, const struct subject_words *w);

/* The commands, with the words after their name. */
int subject_dm(int argc, char **argv);
int subject_exits(int argc, char **argv);
int subject_pidns(int argc, char **argv);

#endif
