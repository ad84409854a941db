/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Suggests what the user meant by an argument that the command rejects. It may
 * be a kernel address in place of a page frame number, or a range in the form
 * of another program.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* --- kernel addresses --- */

bool cli_is_kernel_address(uint64_t n)
{
	return n >> 63;
}

bool cli_is_no_frame(uint64_t pfn)
{
	return pfn >> 40;
}

void cli_tell_no_frame(struct cli_job *job, uint64_t pfn)
{
	if (job->quiet || job->told_frames || !cli_is_no_frame(pfn) ||
	    (job->command->target != PAGEDET_TARGET_PFN &&
	     job->command->target != PAGEDET_TARGET_MAPPERS))
		return;
	job->told_frames = true;
	cli_say("no machine has a page frame 0x%llx; if it is an address of a "
		"process, try: %s virt PID 0x%llx", (unsigned long long)pfn,
		job->again, (unsigned long long)pfn);
}

bool cli_names_pages(const struct cli_job *job)
{
	const uint32_t target = job->command->target;

	return target == PAGEDET_TARGET_PFN || target == PAGEDET_TARGET_PHYS ||
	       target == PAGEDET_TARGET_MAPPERS;
}

/*
 * With or without 0x, because nobody writes such a page frame number in
 * decimal.
 */
static bool is_kernel_word(const char *word, uint64_t *ret)
{
	const size_t len = strcspn(word, "+");
	char copy[24];

	if (strncmp(word, "ffff", 4) && strncmp(word, "0xff", 4))
		return false;
	if (len >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, word);
	return !cli_number(copy, CLI_HEX, ret) && cli_is_kernel_address(*ret);
}

int cli_no_page_number(const struct cli_job *job, const char *word, uint64_t n)
{
	const bool phys = job->command->target == PAGEDET_TARGET_PHYS;
	char instead[80];

	snprintf(instead, sizeof(instead), "kaddr 0x%llx",
		 (unsigned long long)n);
	return cli_instead(job, instead, "%s: '%s' is not a %s: it is a kernel "
			   "address", job->command->name, word,
			   phys ? "physical address" : "page frame number");
}

void cli_tell_kernel_address(const struct cli_job *job, const char *word,
			     uint64_t n)
{
	/* The page of vsyscall is the only one that a process has there. */
	if (!job->quiet && cli_is_kernel_address(n) &&
	    n >> 12 != 0xffffffffff600)
		cli_say("%s: '%s' is a kernel address, not one of a process; "
			"try: %s kaddr 0x%llx", job->command->name, word,
			job->again, (unsigned long long)n);
}

void cli_tell_user_address(const struct cli_job *job, const char *word,
			   uint64_t n)
{
	/* The first page is never mapped. What is behind 47 bits is not one of
	 * user space everywhere: digits may be missing. */
	if (!job->quiet && n >> 12 && !(n >> 47))
		cli_say("%s: '%s' is an address of user space, where each "
			"process has its own pages, and not one of the kernel; "
			"try: %s virt PID 0x%llx", job->command->name, word,
			job->again, (unsigned long long)n);
}

/* --- radix --- */

void cli_tell_radix(struct cli_job *job, const char *word)
{
	const size_t len = strspn(word, "0123456789");
	struct pagedet_item item;

	/* Nobody writes zeroes before a decimal number. */
	if (job->quiet || job->told_radix || len < 2 || *word == '0' ||
	    (word[len] && word[len] != '+') ||
	    cli_range(word, CLI_DECIMAL, &item))
		return;
	job->told_radix = true;
	cli_say("address '%s' was read as hex, 0x%s; the decimal number is "
		"written 0x%llx", word, word, (unsigned long long)item.first);
}

/* A log of the kernel has page frame numbers in hex. */
void cli_tell_decimal(struct cli_job *job, const char *word)
{
	const size_t len = strspn(word, "0123456789");

	if (job->quiet || job->told_radix || len < 5 || word[len] ||
	    !isatty(STDERR_FILENO))
		return;
	job->told_radix = true;
	cli_say("'%s' was read as decimal; a number of the kernel's log is "
		"written pfn:%s", word, word);
}

/* --- arguments of commands that take none, or fewer --- */

/* "top process 12": what would tell of @word, of which memory is ranked. */
static void in_ranking(const struct cli_job *job, const char *word,
		       char text[CLI_HINT])
{
	static const struct {
		const char *kind, *command;
	} commands[] = {
		{ "process", "task PID" }, { "cgroup", "cgroup PATH" },
		{ "file", "file PATH" },
		{ "slab", "scan --where slab_cache=NAME --summary" },
		{ "kind", "task all --where NAME --by comm" },
	};
	char *const words[] = { (char *)word };
	char near[512], command[128];
	size_t i;

	for (i = 0; i < CLI_COUNT(commands); i++) {
		if (strcmp(job->words[0], commands[i].kind))
			continue;
		snprintf(command, sizeof(command), "pagedet %s",
			 commands[i].command);
		if (!strcmp(commands[i].kind, "cgroup") &&
		    cli_cgroup_near(job, word, false, near, sizeof(near)))
			cli_fill(job, &(char *){ near }, 1, command, text);
		else
			cli_fill(job, words, 1, command, text);
	}
}

int cli_no_argument(const struct cli_job *job, const char *word)
{
	const char *name = job->command->name;
	char text[CLI_HINT], instead[sizeof(text) + 8];

	*text = '\0';
	if (job->command->target == PAGEDET_TARGET_SCAN &&
	    cli_is_kind_or_flag(word, text, sizeof(text)))
		snprintf(text, sizeof(text), "%s %s --where %s", job->again,
			 name, word);
	else if (job->command->target == PAGEDET_TARGET_SCAN &&
		 !cli_command_for_file(job, word, text))
		cli_command_for_number(job, word, text);
	else if (job->command->run == cli_run_top)
		in_ranking(job, word, text);
	else if (job->command->run == cli_run_doctor)
		snprintf(text, sizeof(text), "%s doctor -v", job->again);
	if (!*text)
		return cli_usage("%s: '%s' is one argument too many", name,
				 word);
	snprintf(instead, sizeof(instead), "try: %s;", text);
	return cli_refuse(instead, "%s: '%s' is one argument too many", name,
			  word);
}

int cli_no_directory(const struct cli_job *job, const char *path)
{
	char instead[CLI_HINT], quoted[CLI_QUOTED];

	snprintf(instead, sizeof(instead), "tree %s",
		 cli_argument(path, "DIR", quoted));
	return cli_instead(job, instead, "%s: '%s' is a directory",
			   job->command->name, path);
}

/* --- ranges --- */

/* "explain mismatch PID ADDR": addresses of a process, as in virt. */
static bool is_mismatch(const struct cli_job *job)
{
	return job->command->run == cli_run_explain && job->path;
}

/* The words before the number. */
static const char *words_before(const struct cli_job *job,
				char quoted[CLI_QUOTED])
{
	switch (job->command->target) {
	case PAGEDET_TARGET_VIRT:
		return cli_argument(job->words[0], "PID", quoted);
	case PAGEDET_TARGET_FILE:
	case PAGEDET_TARGET_BLOCK:
		return cli_argument(job->words[0], "PATH", quoted);
	default:
		return is_mismatch(job) ? "mismatch PID" : "";
	}
}

/*
 * FIRST-LAST and FIRST..LAST. The end of a process's area is the address after
 * its last byte, as in /proc/PID/maps.
 */
static bool is_range(const struct cli_job *job, const char *word,
		     enum cli_radix radix, struct pagedet_item *ret)
{
	const size_t len = strcspn(word, "-.");
	const bool maps = job->command->target == PAGEDET_TARGET_VIRT ||
			  is_mismatch(job);
	const char *last = word + len;
	char first[24];
	uint64_t end;

	if (!len || len >= sizeof(first) || !*last)
		return false;
	if (*last == '.' && last[1] != '.')
		return false;
	last += *last == '.' ? 2 : 1;
	snprintf(first, sizeof(first), "%.*s", (int)len, word);
	if (cli_number(first, radix, &ret->first) ||
	    cli_number(last, radix, &end) || end < ret->first ||
	    (maps && end == ret->first))
		return false;
	ret->count = end - ret->first + !maps;
	return ret->count != 0;
}

int cli_no_range(const struct cli_job *job, const char *word,
		 enum cli_radix radix, const char *wrong)
{
	const char *name = job->command->name;
	char quoted[CLI_QUOTED], instead[CLI_QUOTED + 128], path[CLI_HINT];
	const char *before = words_before(job, quoted);
	const bool hex = radix == CLI_HEX || !strncmp(word, "0x", 2);
	struct pagedet_item item = { 0, 0, 0, 0 };

	if (cli_names_pages(job) && is_kernel_word(word, &item.first))
		return cli_no_page_number(job, word, item.first);
	if (radix != CLI_HEX && *word != '-' &&
	    !cli_number(word, CLI_HEX, &item.first)) {
		snprintf(instead, sizeof(instead), "%s %s%s0x%llx", name,
			 before, *before ? " " : "",
			 (unsigned long long)item.first);
		return cli_instead(job, instead, "%s: '%s' %s", name, word,
				   wrong);
	}
	if (job->command->target == PAGEDET_TARGET_MAPPERS &&
	    strspn(word, "0123456789") == 0)
		return cli_refuse(cli_command_for_path(job, word, path) ? path :
				  "a file is named by its path, such as "
				  "/DIR/FILE or ./FILE;", "%s: '%s' %s", name,
				  word, wrong);
	if (strspn(word, "0123456789abcdefx,+") == strlen(word) &&
	    strchr(word, ','))
		return cli_refuse("write blanks between numbers, not commas;",
				  "%s: '%s' %s", name, word, wrong);
	if (radix == CLI_HEX && !cli_bytes(word, &item.first)) {
		snprintf(instead, sizeof(instead), "%s %s%s0x%llx", name,
			 before, *before ? " " : "",
			 (unsigned long long)item.first);
		return cli_instead(job, instead, "%s: '%s' %s", name, word,
				   wrong);
	}
	if (!is_range(job, word, radix, &item))
		return cli_usage("%s: '%s' %s", name, word, wrong);
	snprintf(instead, sizeof(instead), hex ?
		 "%s %s%s0x%llx+%llu" : "%s %s%s%llu+%llu", name, before,
		 *before ? " " : "", (unsigned long long)item.first,
		 (unsigned long long)item.count);
	return cli_instead(job, instead, "%s: '%s' is not a range: write "
			   "FIRST+COUNT", name, word);
}
