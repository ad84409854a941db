/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The command doctor: the kernel, this process's privileges, and what every
 * source can answer for every field.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* The column of values. */
#define VALUES 15

/* Capabilities that matter to this command. */
static const struct { unsigned bit; const char *name; } capabilities[] = {
	{ 1, "CAP_DAC_OVERRIDE" },
	{ 2, "CAP_DAC_READ_SEARCH" },
	{ 17, "CAP_SYS_RAWIO" },
	{ 19, "CAP_SYS_PTRACE" },
	{ 21, "CAP_SYS_ADMIN" },
	{ 34, "CAP_SYSLOG" },
	{ 38, "CAP_PERFMON" },
	{ 39, "CAP_BPF" },
	{ 40, "CAP_CHECKPOINT_RESTORE" },
};

/*
 * Whether capabilities apply to the whole machine. They do in the initial user
 * namespace, which always has this number, USER_NS_INIT_INO.
 */
static bool in_user_namespace(void)
{
	char name[64];
	ssize_t n = readlink("/proc/self/ns/user", name, sizeof(name) - 1);

	if (n < 0)
		return false;
	name[n] = '\0';
	return strcmp(name, "user:[4026531837]") != 0;
}

/*
 * Gets the effective capabilities. Returns false if they are not known. Those
 * of another user namespace do not count, because access to memory needs them
 * in the initial one.
 */
bool cli_capabilities(uint64_t *ret)
{
	char text[4096], word[20];
	const char *at;
	ssize_t n;
	int fd;

	fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, "\nCapEff:\t");
	if (!at || sscanf(at, " CapEff: %16[0-9a-f]", word) != 1)
		return false;
	if (cli_number(word, CLI_HEX, ret))
		return false;
	if (in_user_namespace())
		*ret = 0;
	return true;
}

void cli_tell_trace(const struct cli_job *job)
{
	static const unsigned sys_ptrace = 19, sys_admin = 21;
	/* Without the second one, frames are hidden. */
	const bool frames = job->command->target == PAGEDET_TARGET_MAPPERS &&
			    job->n_items;
	uint64_t caps;

	if (job->open.n_files || job->open.root || !cli_capabilities(&caps) ||
	    (caps >> sys_ptrace & 1 && (!frames || caps >> sys_admin & 1)))
		return;
	cli_say("hint: needs %s", frames ? "CAP_SYS_ADMIN and CAP_SYS_PTRACE" :
		"the tasks' owner or CAP_SYS_PTRACE");
}

static void print_user(FILE *f, uint32_t width)
{
	struct cli_wrap w = { f, width, VALUES, VALUES };
	uint64_t caps;
	size_t i, n = 0;

	w.at += (uint32_t)fprintf(f, "%-14s uid %ld,", "caller",
				  (long)geteuid()) - VALUES;
	if (!cli_capabilities(&caps)) {
		fprintf(f, " capabilities ?\n");
		return;
	}
	if (in_user_namespace()) {
		cli_wrap_words(&w, "in a user namespace: its capabilities do "
			       "not count here");
		fputc('\n', f);
		return;
	}
	for (i = 0; i < CLI_COUNT(capabilities); i++)
		n += caps >> capabilities[i].bit & 1;
	if (!n || n == CLI_COUNT(capabilities)) {
		fprintf(f, " %s capability that matters here\n",
			n ? "every" : "no");
		return;
	}
	for (i = 0; i < CLI_COUNT(capabilities); i++)
		if (caps >> capabilities[i].bit & 1)
			cli_wrap_item(&w, capabilities[i].name);
	fprintf(f, "\n");
}

static void print_sources(FILE *f, uint32_t sources)
{
	const char *name;
	uint32_t i;

	fprintf(f, "%-14s%s", "sources", sources ? "" : " none that answers");
	for (i = 1; i < 32; i++) {
		name = pagedet_source_name(i);
		if (name && (sources & PAGEDET_SOURCE_BIT(i)))
			fprintf(f, " %s", name);
	}
	fprintf(f, "\n");
}

/* Parts that are built and can be used; each is the name of a library or of
 * what it decodes. Returns a bit for each other one. */
static uint64_t print_parts(FILE *f, struct pagedet *pd, uint32_t width)
{
	struct cli_wrap w = { f, width, VALUES, VALUES };
	const struct pagedet_part *part;
	uint64_t lost = 0;
	uint32_t n;

	fprintf(f, "%-14s ", "parts");
	for (n = 0; (part = pagedet_part(n)); n++) {
		if (pagedet_part_test(pd, n))
			lost |= 1ull << n;
		else
			cli_wrap_item(&w, part->name);
	}
	fprintf(f, "\n");
	return lost;
}

/* Prints the others, and what would help. */
static void print_lost_parts(FILE *f, struct pagedet *pd, uint64_t lost)
{
	const struct pagedet_part *part;
	uint32_t n;

	for (n = 0; (part = pagedet_part(n)); n++)
		if (lost >> n & 1 && pagedet_part_test(pd, n)) {
			fprintf(f, "%-5s%-27s%s\n       %s\n", "no", part->name,
				part->purpose, pagedet_error(pd));
			if (*pagedet_advice(pd))
				fprintf(f, "       %s\n", pagedet_advice(pd));
		}
}

/* @sources: those that can answer something. Returns as print_parts(). */
static uint64_t print_head(FILE *f, struct pagedet *pd,
			   const struct pagedet_info *info, uint32_t sources,
			   uint32_t width)
{
	uint64_t lost;

	fprintf(f, "%-14s %s%s%s, %s\n", "kernel",
		*info->release ? info->release : "release ?",
		*info->arch ? " " : "", info->arch,
		info->live ? "running" : "saved");
	if (info->page_size)
		fprintf(f, "%-14s %llu bytes\n", "page size",
			(unsigned long long)info->page_size);
	if (info->max_pfn)
		fprintf(f, "%-14s pfn 0 .. %llu (0x%llx)\n", "memory",
			(unsigned long long)info->max_pfn - 1,
			(unsigned long long)info->max_pfn - 1);
	if (info->nodes)
		fprintf(f, "%-14s %llu\n", "NUMA nodes",
			(unsigned long long)info->nodes);
	print_sources(f, sources);
	lost = print_parts(f, pd, width);
	print_user(f, width);
	fprintf(f, "\n");
	return lost;
}

/*
 * The answers of all sources for all fields. 0 means that the source can answer
 * the field, and any other number is a note.
 */
struct survey {
	uint8_t cell[PAGEDET_FIELDS_MAX][32];
	char *note[64];		/* [1 ..]: why not, and what would help */
	unsigned n_notes;
	unsigned never;		/* the note for what a source never knows */
	unsigned label[64];	/* number of the note in the output */
	unsigned n_labels;
	uint32_t sources;	/* existing sources, as bits */
	uint32_t columns;	/* those whose answers differ by field */
	uint8_t whole[32];	/* the note of each other source */
	char *way[32];		/* condition under which a source is asked */
	struct cli_tiers tiers;
};

/* Gets the number of the note. Returns -1 without memory. */
static int note_of(struct survey *s, const struct pagedet_ability *a)
{
	const char *between = *a->advice ? "; " : "";
	unsigned i, last = CLI_COUNT(s->note) - 1;
	char *text;

	if (a->can)
		return 0;
	if (asprintf(&text, "%s%s%s", a->why, between, a->advice) < 0)
		return -1;
	for (i = 1; i <= s->n_notes && strcmp(s->note[i], text); i++)
		;
	if (i > last)
		i = last;
	if (i <= s->n_notes) {
		free(text);
		return (int)i;
	}
	s->n_notes = i;
	s->note[i] = text;
	return (int)i;
}

static int survey_field(struct survey *s, struct pagedet *pd, uint32_t field)
{
	struct pagedet_ability a;
	uint32_t source;
	int error, note;

	for (source = 1; source < 32; source++) {
		if (!pagedet_source_name(source))
			continue;
		memset(&a, 0, sizeof(a));
		a.size = sizeof(a);
		error = pagedet_survey(pd, field, source, &a);
		if (error)
			return cli_fail(pd, error);
		cli_tiers_add(&s->tiers, field, &a);
		note = note_of(s, &a);
		if (a.can && *a.advice && !s->way[source])
			s->way[source] = strdup(a.advice);
		if (note < 0 || (a.can && *a.advice && !s->way[source]))
			return cli_fail_errno("doctor");
		if (a.reason == PAGEDET_UNSUPPORTED && !*a.advice)
			s->never = (unsigned)note;
		/*
		 * If a source has the same note for all fields, it does not
		 * need a column.
		 */
		if (!note || (s->sources & PAGEDET_SOURCE_BIT(source) &&
			      s->cell[PAGEDET_FIELD_ASK][source] != note))
			s->columns |= PAGEDET_SOURCE_BIT(source);
		s->cell[field][source] = (uint8_t)note;
		s->sources |= PAGEDET_SOURCE_BIT(source);
	}
	return CLI_ANSWERED;
}

static int survey_all(struct survey *s, struct pagedet *pd)
{
	uint32_t field;
	int status = CLI_ANSWERED;

	for (field = 0; !status && field < PAGEDET_FIELDS_MAX; field++)
		if (pagedet_field(field))
			status = survey_field(s, pd, field);
	return status;
}

static bool has(uint32_t set, uint32_t source)
{
	return set & PAGEDET_SOURCE_BIT(source);
}

/* Whether a source cannot answer anything. The only reason is then *@note. */
static bool is_shut(const struct survey *s, uint32_t source, uint8_t *note)
{
	uint32_t field;

	*note = 0;
	for (field = 0; field < PAGEDET_FIELDS_MAX; field++) {
		const uint8_t cell = s->cell[field][source];

		if (!pagedet_field(field) || (cell && cell == s->never))
			continue;
		if (!cell || (*note && cell != *note))
			return false;
		*note = cell;
	}
	return *note != 0;
}

static uint32_t answering(const struct survey *s)
{
	uint32_t source, field, set = 0;

	for (source = 1; source < 32; source++)
		for (field = 0; field < PAGEDET_FIELDS_MAX; field++)
			if (pagedet_field(field) && has(s->sources, source) &&
			    !s->cell[field][source])
				set |= PAGEDET_SOURCE_BIT(source);
	return set;
}

/* Removes the columns of these sources. */
static void take_shut(struct survey *s)
{
	uint32_t source;

	for (source = 1; source < 32; source++) {
		s->whole[source] = s->cell[PAGEDET_FIELD_ASK][source];
		if (has(s->columns, source) &&
		    is_shut(s, source, &s->whole[source]))
			s->columns &= ~PAGEDET_SOURCE_BIT(source);
	}
}

static void print_row(FILE *f, struct survey *s, uint32_t field)
{
	const char *name = pagedet_field(field)->name;
	int blanks = 16 - (int)strlen(name);
	uint32_t source;

	fprintf(f, "%s", name);
	for (source = 1; source < 32; source++) {
		unsigned note = s->cell[field][source];
		char mark[16] = "yes";

		if (!has(s->columns, source))
			continue;
		if (note && note == s->never)
			snprintf(mark, sizeof(mark), "-");
		else if (note && !s->label[note])
			s->label[note] = ++s->n_labels;
		if (note && note != s->never)
			snprintf(mark, sizeof(mark), "[%u]", s->label[note]);
		fprintf(f, "%*s%s", blanks, "", mark);
		blanks = (int)strlen(pagedet_source_name(source)) + 1 -
			 (int)strlen(mark);
	}
	fprintf(f, "\n");
}

static bool answered(const struct survey *s, uint32_t field)
{
	uint32_t source;

	for (source = 1; source < 32; source++)
		if (has(s->columns, source) && !s->cell[field][source])
			return true;
	return false;
}

static void print_rows(FILE *f, struct survey *s, bool can)
{
	uint32_t field;

	for (field = 0; field < PAGEDET_FIELDS_MAX; field++)
		if (pagedet_field(field) && answered(s, field) == can)
			print_row(f, s, field);
}

/* Lists sources without a column. Each has the same note for every field. */
static void print_others(FILE *f, const struct survey *s, unsigned note)
{
	uint32_t source, n = 0;

	for (source = 1; source < 32; source++) {
		if (!has(s->sources & ~s->columns, source) ||
		    s->whole[source] != note)
			continue;
		fprintf(f, "%s%s", n++ ? ", " : "",
			pagedet_source_name(source));
	}
	if (n)
		fprintf(f, ":\n    %s\n", s->note[note]);
}

static void print_survey(FILE *f, struct survey *s)
{
	uint32_t source;
	unsigned i, note;

	fprintf(f, "%-15s", "field");
	for (source = 1; source < 32; source++)
		if (has(s->columns, source))
			fprintf(f, " %s", pagedet_source_name(source));
	fprintf(f, "\n");
	/*
	 * Fields that no source can answer are grouped, so that users find
	 * them.
	 */
	print_rows(f, s, true);
	print_rows(f, s, false);
	fprintf(f, "\n");
	if (s->never)
		fprintf(f, "-   %s\n", s->note[s->never]);
	for (i = 1; i <= s->n_labels; i++)
		for (note = 1; note <= s->n_notes; note++)
			if (s->label[note] == i)
				fprintf(f, "[%u] %s\n", i, s->note[note]);
	for (note = 1; note <= s->n_notes; note++)
		print_others(f, s, note);
	for (source = 1; source < 32; source++)
		if (s->way[source])
			fprintf(f, "%s:\n    %s\n",
				pagedet_source_name(source), s->way[source]);
}

/* The command is not divided, so that it can be copied. */
static void print_more(FILE *f, const struct cli_job *job, uint32_t width)
{
	struct cli_wrap w = { f, width, 0, 0 };
	char command[1024];

	snprintf(command, sizeof(command), "%s doctor -v", job->again);
	cli_wrap_words(&w, "Every field and source, what it costs and needs:");
	cli_wrap_item(&w, command);
	fputc('\n', f);
}

static int print_text(FILE *f, const struct cli_job *job, struct pagedet *pd)
{
	struct pagedet_info info;
	struct survey s;
	int status, error;
	uint64_t lost;
	const uint32_t room = cli_answer_width(job);
	/* The list of parts is wrapped in a file, too. */
	const uint32_t width = room && room < 79 ? room : 79;
	unsigned i;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	error = pagedet_info(pd, &info);
	if (error)
		return cli_fail(pd, error);
	memset(&s, 0, sizeof(s));
	status = survey_all(&s, pd);
	if (!status) {
		take_shut(&s);
		lost = print_head(f, pd, &info, info.sources & answering(&s),
				  width);
		cli_tiers_print(f, &s.tiers, job->open.vmlinux != NULL);
		if (!job->open.n_files && info.live)
			cli_doctor_short(f, pd, job->open.root, job->verbose,
					 room);
		print_lost_parts(f, pd, lost);
		if (!job->open.n_files)
			cli_doctor_memorizer(f, pd);
		if (job->verbose)
			fprintf(f, "\n");
		if (job->verbose)
			print_survey(f, &s);
		else
			print_more(f, job, room);
	}
	for (i = 1; i <= s.n_notes; i++)
		free(s.note[i]);
	for (i = 0; i < CLI_COUNT(s.way); i++)
		free(s.way[i]);
	return status;
}

static int text(const struct cli_job *job, struct pagedet *pd, int fd)
{
	char *buf = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&buf, &len);
	int status;

	if (!f)
		return cli_fail_errno("doctor");
	status = print_text(f, job, pd);
	if (fclose(f) && !status)
		status = cli_fail_errno("doctor");
	if (!status)
		status = cli_output_write(fd, buf, len);
	free(buf);
	return status;
}

/*
 * For programs, writes the library's own lines: one for each field and source.
 */
static int lines(const struct cli_job *job, struct pagedet *pd, int fd)
{
	struct pagedet_emitter *e;
	int status, error;

	status = cli_emitter_new(job, pd, fd, fd, &e);
	if (status)
		return status;
	error = pagedet_emit_survey(e, pd);
	return cli_emitter_end(pd, e, error, fd);
}

int cli_run_doctor(struct cli_job *job, struct pagedet *pd)
{
	struct cli_output out;
	int status;

	status = cli_output_open(&out, job->output);
	if (!status && job->format == PAGEDET_FORMAT_TEXT)
		status = text(job, pd, out.fd);
	else if (!status)
		status = lines(job, pd, out.fd);
	return cli_output_close(&out, !status, status);
}
