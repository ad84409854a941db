/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds lines that quote the kernel in a text that is not a log: comments and
 * strings of programs, here-documents of scripts, hunks of patches. Counts what
 * programs and documentation have, so that the rest can be judged. A mail or a
 * bug tracker's page that quotes a report is like a log: its other lines count
 * as text.
 */
#include <ctype.h>
#include <string.h>

#include "backend/log/quoted.h"

/* Most ends of quotations that are sought in vain: each costs a pass. */
#define MOST_SOUGHT 64

/* Lines in which a file says that it is source code, or a mail who wrote it. */
#define HEAD_LINES 4
#define MAIL_LINES 64

/* So many lines of any text may look like those of a program. */
#define FEW_LINES 2

static bool has(struct pdet_scan s, const char *word)
{
	return s.at < s.end &&
	       memmem(s.at, (size_t)(s.end - s.at), word, strlen(word));
}

static bool begins_with(struct pdet_scan s, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (pdet_scan_word(&s, words[i]))
			return true;
	return false;
}

#define BEGINS_WITH(s, words) begins_with(s, words, PDET_COUNT(words))

static struct pdet_scan trimmed(struct pdet_scan s)
{
	pdet_scan_blanks(&s);
	while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t' ||
				s.end[-1] == '\r'))
		s.end--;
	return s;
}

/* --- patches --- */

static bool count_of_hunk(struct pdet_scan *s, uint64_t *ret)
{
	uint64_t first;

	*ret = 1;
	return pdet_scan_dec(s, &first) &&
	       (!pdet_scan_char(s, ',') || pdet_scan_dec(s, ret));
}

/* "@@ -12,7 +12,9 @@ function": as many lines of both files follow. */
static bool hunk_begins(struct pdet_log_quoting *q, struct pdet_scan s)
{
	uint64_t old, new;

	if (!pdet_scan_word(&s, "@@ -") || !count_of_hunk(&s, &old) ||
	    !pdet_scan_word(&s, " +") || !count_of_hunk(&s, &new) ||
	    !pdet_scan_word(&s, " @@"))
		return false;
	q->old = old;
	q->new = new;
	return true;
}

static bool is_of_hunk(struct pdet_log_quoting *q, struct pdet_scan s)
{
	const char c = s.at < s.end ? *s.at : ' ';

	if (!q->old && !q->new)
		return false;
	/* "\ No newline at end of file" */
	if (c == '\\')
		return true;
	/* A mail may leave out the rest. */
	if (c != ' ' && c != '+' && c != '-') {
		q->old = q->new = 0;
		return false;
	}
	q->old -= q->old && c != '+';
	q->new -= q->new && c != '-';
	return true;
}

/* --- quotations of several lines --- */

/* The end of a here-document is the whole of a line, after tabs. */
static bool is_end(const struct pdet_log_quoting *q, struct pdet_scan line)
{
	const size_t len = (size_t)(q->until.end - q->until.at);

	if (!q->whole)
		return line.at < line.end &&
		       memmem(line.at, (size_t)(line.end - line.at),
			      q->until.at, len);
	line = trimmed(line);
	return (size_t)(line.end - line.at) == len &&
	       !memcmp(line.at, q->until.at, len);
}

/* Without its end it is not a quotation. */
static bool begin(struct pdet_log_quoting *q, struct pdet_scan word,
		  bool whole, struct pdet_scan rest)
{
	struct pdet_scan line;

	if (q->sought == MOST_SOUGHT)
		return false;
	q->until = word;
	q->whole = whole;
	while (pdet_scan_line(&rest, &line))
		if (is_end(q, line))
			return true;
	q->sought++;
	q->until.at = q->until.end = NULL;
	return false;
}

/* "cat > file <<'EOF'" */
static bool here_document(struct pdet_log_quoting *q, struct pdet_scan s,
			  struct pdet_scan rest)
{
	struct pdet_scan word;

	s.at = s.at < s.end ? memmem(s.at, (size_t)(s.end - s.at), "<<", 2) :
			      NULL;
	if (!s.at)
		return false;
	s.at += 2;
	pdet_scan_char(&s, '-');
	pdet_scan_blanks(&s);
	pdet_scan_char(&s, '\\');
	if (!pdet_scan_char(&s, '\''))
		pdet_scan_char(&s, '"');
	for (word.at = s.at; s.at < s.end && (isalnum((unsigned char)*s.at) ||
					      *s.at == '_');)
		s.at++;
	word.end = s.at;
	return word.at < word.end && begin(q, word, true, rest);
}

/* A comment or a string that ends on a later line: the words of both ends. */
static bool long_quotation(struct pdet_log_quoting *q, struct pdet_scan s,
			   struct pdet_scan rest)
{
	static const struct {
		const char *begin, *end;
		bool first;	/* it is at the beginning of its line */
	} pairs[] = {
		{ "/*", "*/", true }, { "\"\"\"", "\"\"\"", false },
		{ "'''", "'''", false }, { "<!--", "-->", true },
	};
	struct pdet_scan behind;
	size_t i;

	for (i = 0; i < PDET_COUNT(pairs); i++) {
		const char *end = pairs[i].end;

		behind = s;
		if (pairs[i].first ? !pdet_scan_word(&behind, pairs[i].begin) :
				     !pdet_log_behind(s, pairs[i].begin,
						      &behind))
			continue;
		return !has(behind, end) &&
		       begin(q, (struct pdet_scan){ end, end + strlen(end) },
			     false, rest);
	}
	return false;
}

/* --- quotations of one line --- */

/* What begins comments and strings in programs and manuals. */
static bool is_marked(struct pdet_scan s)
{
	static const char *const marks[] = {
		"*", "/*", "//", "\"", "'", "`", "#", ";", "%", "--", ".\\\"",
	};

	return BEGINS_WITH(s, marks);
}

/* Whether a quotation mark stands before the text, or an escaped newline and
 * one behind it. What has been decoded, such as JSON, is elsewhere. */
static bool is_string(struct pdet_scan line, const char *text)
{
	const char *at;

	if (text < line.at || text > line.end)
		return false;
	for (at = line.at; at < text; at++)
		if (strchr("\"'`", *at))
			return true;
	return is_marked(trimmed(line)) || has(line, "\\n\"");
}

/* --- what is counted --- */

static bool is_code(struct pdet_scan s)
{
	static const char *const words[] = {
		"#include", "#define", "#if", "#endif", "import ", "package ",
		"def ", "class ", "func ", "fn ", "use ", "return ", "let ",
		"const ", "local ", "assert", "//", "/*",
	};
	static const char *const lone[] = {
		"fi", "done", "then", "do", "else", "esac",
	};
	struct pdet_scan request = s;
	size_t i;

	if (s.at == s.end)
		return false;
	if (strchr(";{}", s.end[-1]) || BEGINS_WITH(s, words) ||
	    has(s, "\\n\""))
		return true;
	for (i = 0; i < PDET_COUNT(lone); i++)
		if (pdet_scan_is(&s, lone[i]))
			return true;
	/* of troff: ".PP", ".TH NAME" */
	return pdet_scan_char(&request, '.') && request.end - request.at > 1 &&
	       isupper((unsigned char)request.at[0]) &&
	       isupper((unsigned char)request.at[1]);
}

static bool is_fence(struct pdet_scan s)
{
	return pdet_scan_word(&s, "```") || pdet_scan_word(&s, "~~~");
}

/* "## Known problems" */
static bool is_heading(struct pdet_scan s)
{
	unsigned n;

	for (n = 0; pdet_scan_char(&s, '#'); n++)
		;
	return n && n < 7 && pdet_scan_char(&s, ' ');
}

/* "=====" below a line of that length. */
static bool is_underline(struct pdet_scan s, size_t above)
{
	const char *at;

	for (at = s.at; at < s.end && *at == *s.at; at++)
		;
	return at == s.end && above > 2 && (size_t)(s.end - s.at) == above &&
	       strchr("=-~^", *s.at);
}

static void count(struct pdet_log_quoting *q, struct pdet_scan line)
{
	static const char *const heads[] = {
		"From: ", "From ", "Date: ", "Subject: ", "To: ", "Author: ",
		"Message-ID: ", "Message-Id: ", "commit ",
	};
	const struct pdet_scan s = trimmed(line);

	/* JSON has a program's brackets; RFC 7464 begins with a separator. */
	q->json |= !q->lines && s.at < s.end && (*s.at == '{' ||
						 *s.at == '\x1e');
	if (q->at < MAIL_LINES)
		q->headers += BEGINS_WITH(line, heads);
	if (s.at < s.end) {
		q->lines++;
		q->code += is_code(s);
		q->markup += is_fence(s) || is_heading(line) ||
			     is_underline(line, q->above);
	}
	q->above = (size_t)(s.end - line.at);
}

/* --- */

static bool says_source(struct pdet_log_quoting *q, struct pdet_scan line)
{
	struct pdet_scan s = line;

	return (q->at == 0 && pdet_scan_word(&s, "#!")) ||
	       (q->at < HEAD_LINES && has(line, "SPDX-License-Identifier:"));
}

bool pdet_log_is_quoted(struct pdet_log_quoting *q, struct pdet_scan line,
			const char *text, bool of_log, struct pdet_scan rest)
{
	struct pdet_scan s = line;

	q->source |= says_source(q, line);
	pdet_log_quotation(&s);
	if (q->until.at) {
		if (is_end(q, line))
			q->until.at = NULL;
		q->at++;
		return true;
	}
	if (is_of_hunk(q, s) || hunk_begins(q, s)) {
		q->at++;
		return true;
	}
	count(q, line);
	q->at++;
	if (!of_log && (here_document(q, s, rest) ||
			long_quotation(q, trimmed(s), rest)))
		return true;
	return is_string(s, text);
}

bool pdet_log_is_program(const struct pdet_log_quoting *q)
{
	return q->headers < 2 && !q->json && q->code > FEW_LINES &&
	       q->code > q->lines / 5;
}

bool pdet_log_is_manual(const struct pdet_log_quoting *q)
{
	return q->headers < 2 && q->markup;
}

bool pdet_log_fence(struct pdet_scan line)
{
	return is_fence(trimmed(line));
}

bool pdet_log_parts(struct pdet_scan line)
{
	const struct pdet_scan s = trimmed(line);

	return s.at == s.end || is_heading(line);
}
