/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Writes text within JSON and tables. Process names and log lines may contain
 * any byte.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

/* The length of the UTF-8 character at @s, or 0 if there is none (RFC 3629). */
static size_t character(const unsigned char *s, size_t len)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		   s[0] >= 0xe0 && s[0] < 0xf0 ? 3 :
		   s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
	size_t i;

	if (!n || n > len)
		return 0;
	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong, surrogates, past the last one */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

/*
 * Excludes characters that control a terminal, including C1 and bidirectional
 * overrides.
 */
static bool is_plain(const unsigned char *s, size_t n)
{
	if (n == 1)
		return s[0] >= ' ' && s[0] != 0x7f && s[0] != '"' &&
		       s[0] != '\\';
	if (n == 2)
		return !(s[0] == 0xc2 && s[1] < 0xa0) &&
		       !(s[0] == 0xd8 && s[1] == 0x9c);
	return !(n == 3 && s[0] == 0xe2 && s[1] == 0x80 &&
		 ((s[2] >= 0xa8 && s[2] <= 0xae) || s[2] == 0x8e ||
		  s[2] == 0x8f)) &&
	       !(n == 3 && s[0] == 0xe2 && s[1] == 0x81 &&
		 s[2] >= 0xa6 && s[2] <= 0xa9);
}

static unsigned code_of(const unsigned char *s, size_t n)
{
	if (n == 1)
		return s[0];
	if (n == 2)
		return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
	return (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
}

bool cli_json_text(FILE *f, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	bool replaced = false;
	size_t i, n;

	fputc('"', f);
	for (i = 0; i < len; i += n ? n : 1) {
		n = character(s + i, len - i);
		replaced |= !n;
		if (!n)
			fputs("\xef\xbf\xbd", f);
		else if (is_plain(s + i, n))
			fwrite(s + i, 1, n, f);
		else
			fprintf(f, "\\u%04x", code_of(s + i, n));
	}
	fputc('"', f);
	return replaced;
}

void cli_json_member(FILE *f, const char *name, const char *text, size_t len)
{
	size_t i;

	fprintf(f, "\"%s\":", name);
	if (!cli_json_text(f, text, len))
		return;
	fprintf(f, ",\"%s_hex\":\"", name);
	for (i = 0; i < len; i++)
		fprintf(f, "%02x", (unsigned char)text[i]);
	fputc('"', f);
}

void cli_plain_text(FILE *f, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i, n;

	for (i = 0; i < len; i += n ? n : 1) {
		n = character(s + i, len - i);
		if (n && (is_plain(s + i, n) || s[i] == '"' || s[i] == '\\'))
			fwrite(s + i, 1, n, f);
		else
			fprintf(f, "\\x%02x", s[i]);
		if (n > 1 && !is_plain(s + i, n))
			n = 1;
	}
}

/* --- output that is written at once --- */

/*
 * If there is more than this, it is written before it is complete: a log may
 * have gigabytes.
 */
#define KEPT ((off_t)1 << 20)

static int keep(struct cli_report *r)
{
	r->text = NULL;
	r->len = 0;
	r->f = open_memstream(&r->text, &r->len);
	return r->f ? CLI_ANSWERED : cli_fail_errno("cannot write");
}

int cli_report_open(struct cli_report *r)
{
	r->begun = false;
	return keep(r);
}

/* Writes the text that was kept. r->f is already closed. */
static int write_kept(struct cli_report *r, const struct cli_job *job)
{
	int status = CLI_ANSWERED;

	if (fclose(r->f))
		status = cli_fail_errno("cannot write");
	if (!status && !r->begun) {
		status = cli_output_open(&r->out, job->output);
		r->begun = !status;
	}
	if (!status)
		status = cli_output_write(r->out.fd, r->text, r->len);
	free(r->text);
	return status;
}

int cli_report_spill(struct cli_report *r, const struct cli_job *job)
{
	int status, late;

	if (ftello(r->f) < KEPT)
		return CLI_ANSWERED;
	status = write_kept(r, job);
	late = keep(r);
	return status ? status : late;
}

int cli_report_close(struct cli_report *r, const struct cli_job *job,
		     int status)
{
	int late = CLI_ANSWERED;

	if (status <= CLI_UNSURE) {
		late = write_kept(r, job);
	} else if (r->f) {
		fclose(r->f);
		free(r->text);
	}
	if (r->begun)
		late = cli_output_close(&r->out, !late &&
					status <= CLI_UNSURE &&
					!cli_interrupted(), late);
	return late ? late : status;
}

int cli_check_format(const struct cli_job *job)
{
	if (job->format == PAGEDET_FORMAT_TEXT ||
	    job->format == PAGEDET_FORMAT_JSON)
		return CLI_ANSWERED;
	return cli_usage("%s: --format must be text or json",
			 job->command->name);
}
