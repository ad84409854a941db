/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Removes prefixes from lines of a kernel log: the head of a /dev/kmsg record
 * (Documentation/ABI/testing/dev-kmsg), time stamps and callers of consoles and
 * of dmesg(1), syslog's date, host and tag, and whatever stands before a time
 * stamp. Takes the message out of a line of JSON, of journalctl, dmesg or
 * containers, and of logcat. Another prefix counts as text. Blanks at the end
 * are not part of it.
 */
#include <string.h>

#include "backend/log/log.h"

/* Facility 0 is the kernel; others are processes. */
#define FACILITY 3

/* A longer "[...]" is not a time stamp. */
#define BRACKET 48

/* Longest prefix of syslog: date, host, tag. */
#define SYSLOG 192

/* TASK_COMM_LEN, and ") ". */
#define COMM 18

#define ESC '\033'

/* The byte that "\xNN" stands for, or -1 if it is not an escape. */
static int escaped_byte(const char *at, const char *end)
{
	int high, low;

	if (end - at < 4 || at[0] != '\\' || at[1] != 'x')
		return -1;
	high = pdet_hex_digit(at[2]);
	low = pdet_hex_digit(at[3]);
	return high < 16 && low < 16 ? high << 4 | low : -1;
}

/* Decode "\xNN"; text longer than the buffer is cut. */
static void unescape(struct pdet_log_line *l)
{
	const char *in = l->text.at;
	size_t n = 0;
	int byte;

	if (!memchr(in, '\\', (size_t)(l->text.end - in)))
		return;
	while (in < l->text.end && n < sizeof(l->unescaped)) {
		byte = escaped_byte(in, l->text.end);
		if (byte >= 0) {
			l->unescaped[n++] = (char)byte;
			in += 4;
		} else {
			l->unescaped[n++] = *in++;
		}
	}
	l->text.at = l->unescaped;
	l->text.end = l->unescaped + n;
}

/* --- what programs put around lines --- */

/* dmesg -L: "ESC [ 3 3 m" and the like. */
static bool skip_colour(const char **at, const char *end)
{
	const char *to = *at;

	if (end - to < 3 || to[0] != ESC || to[1] != '[')
		return false;
	for (to += 2; to < end && ((*to >= '0' && *to <= '9') || *to == ';');)
		to++;
	if (to == end || *to != 'm')
		return false;
	*at = to + 1;
	return true;
}

static void without_colour(struct pdet_scan *s, struct pdet_log_line *l)
{
	const char *in = s->at;
	size_t n = 0;

	if (s->at == s->end || !memchr(s->at, ESC, (size_t)(s->end - s->at)))
		return;
	while (in < s->end && n < sizeof(l->unescaped))
		if (!skip_colour(&in, s->end))
			l->unescaped[n++] = *in++;
	*s = (struct pdet_scan){ l->unescaped, l->unescaped + n };
}

/* The text behind "NAME" and a colon, which is a string, or a list of bytes. */
static bool member(struct pdet_scan s, const char *name,
		   struct pdet_scan *ret)
{
	const size_t len = strlen(name);

	while ((s.at = memmem(s.at, (size_t)(s.end - s.at), name, len))) {
		s.at += len;
		*ret = s;
		pdet_scan_blanks(ret);
		if (!pdet_scan_char(ret, ':'))
			continue;
		pdet_scan_blanks(ret);
		if (ret->at < ret->end && (*ret->at == '"' || *ret->at == '['))
			return true;
	}
	return false;
}

/* "[66,85,71]": the journal's form of a message with other bytes than text. */
static size_t bytes_of_json(struct pdet_scan s, struct pdet_log_line *l)
{
	uint64_t byte;
	size_t n = 0;

	do {
		s.at++;
		pdet_scan_blanks(&s);
		if (!pdet_scan_dec(&s, &byte) || byte > 255 || byte == '\n')
			break;
		l->unescaped[n++] = (char)byte;
		pdet_scan_blanks(&s);
	} while (s.at < s.end && *s.at == ',' && n < sizeof(l->unescaped));
	return n;
}

/* "<br>" of a web page, and the quotation marks of CSV. */
static void without_markup(struct pdet_scan *s)
{
	static const char br[] = "<br>";
	const size_t len = strlen(br);

	if ((size_t)(s->end - s->at) > len && !memcmp(s->end - len, br, len))
		s->end -= len;
	else if (s->end - s->at > 1 && s->at[0] == '"' && s->end[-1] == '"')
		s->end--;
}

/* What the two bytes of an escape stand for; others do not matter here. */
static char json_byte(char escape)
{
	switch (escape) {
	case 'n':
	case 'r':
		return '\n';
	case 't':
		return '\t';
	default:
		return escape;
	}
}

static size_t string_of_json(struct pdet_scan s, struct pdet_log_line *l)
{
	size_t n = 0;

	for (s.at++; s.at < s.end && *s.at != '"' && n < sizeof(l->unescaped);
	     s.at++) {
		char c = *s.at;

		if (c == '\\' && s.end - s.at > 1)
			c = json_byte(*++s.at);
		if (c == '\n')
			break;
		l->unescaped[n++] = c;
	}
	return n;
}

/* {"MESSAGE": "BUG: ...", ...}: the line becomes its message, up to a newline.
 * dmesg --json has each member in a line of its own. */
static void message_of_json(struct pdet_scan *s, struct pdet_log_line *l)
{
	static const char *const names[] = {
		"\"MESSAGE\"", "\"msg\"", "\"log\"",
	};
	struct pdet_scan in = *s;
	size_t n, i;

	/* RFC 7464 */
	pdet_scan_char(&in, '\x1e');
	/* Server-sent events */
	pdet_scan_word(&in, "data: ");
	pdet_scan_blanks(&in);
	if (in.at == in.end || (*in.at != '{' && *in.at != '"'))
		return;
	for (i = 0; i < PDET_COUNT(names); i++)
		if (member(in, names[i], &in))
			break;
	if (i == PDET_COUNT(names))
		return;
	n = *in.at == '[' ? bytes_of_json(in, l) : string_of_json(in, l);
	*s = (struct pdet_scan){ l->unescaped, l->unescaped + n };
}

/* What of a line of "journalctl -o export", or "-o verbose", is text. */
static void field_of_journal(struct pdet_scan *s, struct pdet_log_line *l)
{
	struct pdet_scan name = *s, value;

	pdet_scan_blanks(&name);
	value = name;
	if (pdet_scan_word(&value, "MESSAGE=")) {
		*s = value;
		return;
	}
	while (value.at < value.end &&
	       ((*value.at >= 'A' && *value.at <= 'Z') || *value.at == '_' ||
		(*value.at >= '0' && *value.at <= '9')))
		value.at++;
	/* Another field is not of the kernel's log. */
	l->user |= value.at - name.at > 3 && pdet_scan_char(&value, '=');
}

/*
 * True if a text without a record head has escapes: every backslash begins the
 * escape of an unprintable byte. dmesg(1) has already decoded escaped
 * backslashes, so "\\x2d" may then be part of a name.
 */
static bool is_escaped(struct pdet_scan s)
{
	int byte;

	while ((s.at = memchr(s.at, '\\', (size_t)(s.end - s.at)))) {
		byte = escaped_byte(s.at, s.end);
		if (byte < 0)
			return false;
		if (byte >= ' ' && byte < 0x7f && byte != '\\')
			return false;
		s.at += 4;
	}
	return true;
}

/* "T72", "C1": a thread or a processor, after blanks. */
static bool caller(struct pdet_scan s, struct pdet_log_line *l)
{
	uint64_t id;
	bool cpu;

	pdet_scan_blanks(&s);
	cpu = pdet_scan_char(&s, 'C');
	if ((!cpu && !pdet_scan_char(&s, 'T')) || !pdet_scan_dec(&s, &id) ||
	    s.at != s.end)
		return false;
	l->has_caller = true;
	l->caller = id << 1 | cpu;
	return true;
}

/* Parse "14.720424", the whole of @s. */
static void since_boot(struct pdet_scan s, struct pdet_log_stamp *ret)
{
	uint64_t seconds, us;

	pdet_scan_blanks(&s);
	if (!pdet_scan_dec(&s, &seconds) || seconds >> 40 ||
	    !pdet_scan_char(&s, '.') || s.end - s.at != 6 ||
	    !pdet_scan_dec(&s, &us) || s.at != s.end)
		return;
	ret->has_us = true;
	ret->us = seconds * 1000000 + us;
}

/* Parse "12:03:02" at the start of @s. */
static void time_of_day(struct pdet_scan s, struct pdet_log_stamp *ret)
{
	uint64_t hour, minute, second;

	if (!pdet_scan_dec(&s, &hour) || !pdet_scan_char(&s, ':') ||
	    !pdet_scan_dec(&s, &minute) || !pdet_scan_char(&s, ':') ||
	    !pdet_scan_dec(&s, &second) || hour > 23 || minute > 59 ||
	    second > 60)
		return;
	ret->has_day = true;
	ret->day_s = (uint32_t)(hour * 3600 + minute * 60 + second);
}

/* Set the text to the rest of a line. Terminals fill lines with blanks. */
static void text(struct pdet_log_line *l, struct pdet_scan s)
{
	l->indented = s.at < s.end && *s.at == ' ';
	pdet_scan_blanks(&s);
	while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t'))
		s.end--;
	l->text = s;
}

/* "6.12.30,": netconsole puts the release before a record. */
static void skip_release(struct pdet_scan *s)
{
	const char *const comma = memchr(s->at, ',', (size_t)(s->end - s->at));
	struct pdet_scan try = *s;
	uint64_t n;

	if (comma && pdet_scan_dec(&try, &n) && pdet_scan_char(&try, '.') &&
	    pdet_scan_dec(&try, &n) && try.at <= comma &&
	    !memchr(try.at, ' ', (size_t)(comma - try.at)))
		s->at = comma + 1;
}

/* "6,363,12875760,-,caller=T72;text": the head of a record. */
static bool record(struct pdet_log_line *l)
{
	struct pdet_scan s = l->text;
	struct pdet_scan word;
	uint64_t prio, time;

	if (s.at == s.end || *s.at < '0' || *s.at > '9')
		return false;
	skip_release(&s);
	if (!pdet_scan_dec(&s, &prio) || !pdet_scan_char(&s, ',') ||
	    !pdet_scan_dec(&s, &l->seq) || !pdet_scan_char(&s, ',') ||
	    !pdet_scan_dec(&s, &time) || !pdet_scan_char(&s, ','))
		return false;
	for (word.at = s.at; s.at < s.end && *s.at != ';'; s.at++)
		;
	if (s.at == s.end)
		return false;
	word.end = s.at++;
	for (; word.at < word.end; word.at++)
		if (*word.at == ',' && pdet_scan_word(&word, ",caller=")) {
			caller(word, l);
			break;
		}
	l->record = true;
	l->stamp.has_us = true;
	l->stamp.us = time;
	l->user = prio >> FACILITY;
	text(l, s);
	unescape(l);
	return true;
}

/* "[   14.720424]", "[   T72]", "[Sun Nov 22 12:03:02 2026]" ... */
static bool bracket(struct pdet_scan *s, struct pdet_log_line *l)
{
	size_t max = PDET_MIN((size_t)(s->end - s->at), (size_t)BRACKET);
	struct pdet_scan in;
	const char *end, *c;
	bool number = false;

	if (!max || *s->at != '[')
		return false;
	end = memchr(s->at, ']', max);
	if (!end)
		return false;
	in = (struct pdet_scan){ s->at + 1, end };
	for (c = in.at; c < in.end; c++) {
		number |= *c >= '0' && *c <= '9';
		if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
		      (*c >= 'A' && *c <= 'Z') || strchr(" .:+<>,-", *c)))
			return false;
	}
	if (!number)
		return false;
	caller(in, l);
	since_boot(in, &l->stamp);
	s->at = end + 1;
	return true;
}

/* "2091.301001] ", whose beginning was not copied. */
static bool rest_of_bracket(struct pdet_scan *s, struct pdet_log_line *l)
{
	const size_t max = PDET_MIN((size_t)(s->end - s->at), (size_t)BRACKET);
	const char *end = max ? memchr(s->at, ']', max) : NULL;
	struct pdet_log_stamp stamp = { .has_us = false };

	if (!end)
		return false;
	since_boot((struct pdet_scan){ s->at, end }, &stamp);
	if (!stamp.has_us)
		return false;
	l->stamp.has_us = true;
	l->stamp.us = stamp.us;
	s->at = end + 1;
	return true;
}

/* "<6>", as in the old syslog(2) and on some consoles. */
static bool priority(struct pdet_scan *s, struct pdet_log_line *l)
{
	struct pdet_scan try = *s;
	uint64_t prio;

	if (!pdet_scan_char(&try, '<') || !pdet_scan_dec(&try, &prio) ||
	    prio > 191 || !pdet_scan_char(&try, '>'))
		return false;
	l->of_process = prio >> FACILITY;
	s->at = try.at;
	return true;
}

/* "kern  :info  : ", from dmesg -x. */
static bool decoded(struct pdet_scan *s)
{
	struct pdet_scan try = *s;

	if (!pdet_scan_word(&try, "kern"))
		return false;
	pdet_scan_blanks(&try);
	if (!pdet_scan_char(&try, ':'))
		return false;
	while (try.at < try.end && *try.at >= 'a' && *try.at <= 'z')
		try.at++;
	pdet_scan_blanks(&try);
	if (!pdet_scan_char(&try, ':'))
		return false;
	s->at = try.at;
	return true;
}

/* "2026-11-22T12:03:02,123456+00:00 ", from dmesg --time-format=iso. */
static bool iso_time(struct pdet_scan *s, struct pdet_log_stamp *ret)
{
	static const char form[] = "0000-00-00T00:00:00";
	size_t i;

	if ((size_t)(s->end - s->at) < sizeof(form))
		return false;
	for (i = 0; form[i]; i++)
		if (form[i] == '0' ? pdet_hex_digit(s->at[i]) > 9 :
				     s->at[i] != form[i])
			return false;
	time_of_day((struct pdet_scan){ s->at + strlen("0000-00-00T"), s->end },
		    ret);
	while (s->at < s->end && *s->at != ' ')
		s->at++;
	return true;
}

/* "[2226]:" or ":", behind the name of mcelog. */
static bool of_program(struct pdet_scan *s)
{
	uint64_t pid;

	if (pdet_scan_char(s, '[') &&
	    (!pdet_scan_dec(s, &pid) || !pdet_scan_char(s, ']')))
		return false;
	return pdet_scan_char(s, ':');
}

/* Where " mcelog:" begins near the beginning, and what is behind it. That
 * program decodes what the kernel has only as numbers. */
static const char *find_mcelog(struct pdet_scan s, struct pdet_scan *behind)
{
	static const char name[] = " mcelog";
	const char *const end = s.at + PDET_MIN((size_t)(s.end - s.at),
						(size_t)SYSLOG);
	const char *at = memmem(s.at, (size_t)(end - s.at), name,
				sizeof(name) - 1);

	if (!at)
		return NULL;
	*behind = (struct pdet_scan){ at + sizeof(name) - 1, s.end };
	return of_program(behind) ? at : NULL;
}

/* Where " kernel:" begins near the beginning, and what is behind it. */
static const char *find_tag(struct pdet_scan s, struct pdet_scan *behind)
{
	static const char name[] = " kernel";
	const char *const end = s.at + PDET_MIN((size_t)(s.end - s.at),
						(size_t)SYSLOG);
	const char *at = s.at;

	while ((at = memmem(at, (size_t)(end - at), name, sizeof(name) - 1))) {
		*behind = (struct pdet_scan){ at + sizeof(name) - 1, s.end };
		/* The second one is of RFC 5424. */
		if (pdet_scan_char(behind, ':') ||
		    pdet_scan_word(behind, " - - - ") ||
		    pdet_scan_word(behind, "[0]:"))
			break;
		at++;
	}
	return at;
}

/* "Nov 22 12:03:02 host kernel: ": the kernel's text follows the tag. */
static void syslog(struct pdet_scan *s, struct pdet_log_stamp *ret)
{
	struct pdet_scan behind;
	const char *at = find_tag(*s, &behind), *colon;

	if (!at)
		at = find_mcelog(*s, &behind);
	if (!at)
		return;
	/* A date with a time of day precedes it. */
	colon = memchr(s->at, ':', (size_t)(at - s->at));
	if (!colon || colon + 1 == at || pdet_hex_digit(colon[1]) > 15)
		return;
	for (colon -= 2; colon > s->at && colon[-1] != ' ' && colon[-1] != 'T';)
		colon--;
	time_of_day((struct pdet_scan){ colon, at }, ret);
	s->at = behind.at;
}

/* Whatever stands before "[ 2091.301001] ": a relay's date, a file's name, a
 * container's, a prompt, a quotation's ">". */
static bool before_stamp(struct pdet_scan *s)
{
	const size_t max = PDET_MIN((size_t)(s->end - s->at), (size_t)SYSLOG);
	struct pdet_log_line l = { .record = false };
	struct pdet_scan at = *s;

	while ((at.at = memchr(at.at, '[', max - (size_t)(at.at - s->at)))) {
		struct pdet_scan try = at;

		if (bracket(&try, &l) && l.stamp.has_us) {
			s->at = at.at;
			return true;
		}
		at.at++;
	}
	return false;
}

/* Blanks may precede the prefix, or be part of the text. */
static bool prefix(struct pdet_scan *s, struct pdet_log_line *l)
{
	struct pdet_scan try = *s;

	pdet_scan_blanks(&try);
	if (!bracket(&try, l) && !rest_of_bracket(&try, l) &&
	    !priority(&try, l) && !decoded(&try) && !iso_time(&try, &l->stamp))
		return false;
	s->at = try.at;
	return true;
}

/* A console may print several. */
static void prefixes(struct pdet_scan *s, struct pdet_log_line *l)
{
	unsigned i;

	for (i = 0; i < 6 && prefix(s, l); i++)
		;
}

/* " host kernel:", from journalctl -o short-monotonic, or without the host. */
static void host(struct pdet_scan *s)
{
	struct pdet_scan try = *s, name;

	pdet_scan_blanks(&try);
	if (pdet_scan_word(&try, "kernel:")) {
		*s = try;
		return;
	}
	name = pdet_scan_token(&try);
	if (name.at < name.end &&
	    (pdet_scan_word(&try, " kernel:") ||
	     (pdet_scan_word(&try, " mcelog") && of_program(&try))))
		*s = try;
}

/* "1731233410.000000 host kernel:", from journalctl -o short-unix. */
static void since_epoch(struct pdet_scan *s)
{
	struct pdet_scan try = *s, was;
	uint64_t n;

	if (!pdet_scan_dec(&try, &n) || n < 1000000000 ||
	    !pdet_scan_char(&try, '.') || !pdet_scan_dec(&try, &n))
		return;
	was = try;
	host(&try);
	if (try.at != was.at)
		*s = try;
}

void pdet_log_quotation(struct pdet_scan *s)
{
	struct pdet_scan try = *s;

	while (pdet_scan_char(&try, '>') || pdet_scan_char(&try, '|')) {
		if (try.at < try.end && *try.at != ' ' && *try.at != '>' &&
		    *try.at != '|')
			return;
		pdet_scan_char(&try, ' ');
		*s = try;
	}
}

/* "c1 1322 (mediaserver) ", or "c1 ": the processor and the task, of some
 * makers of telephones. */
static void vendor(struct pdet_scan *s, struct pdet_log_line *l)
{
	struct pdet_scan try = *s;
	uint64_t cpu, pid;
	const char *end;

	pdet_scan_blanks(&try);
	if (!pdet_scan_char(&try, 'c') || !pdet_scan_dec(&try, &cpu) ||
	    !pdet_scan_char(&try, ' '))
		return;
	*s = try;
	if (!pdet_scan_dec(&try, &pid) || pid > INT32_MAX ||
	    !pdet_scan_word(&try, " ("))
		return;
	end = memmem(try.at, PDET_MIN((size_t)(try.end - try.at),
				      (size_t)COMM), ") ", 2);
	if (!end)
		return;
	s->at = end + 2;
	l->has_caller = true;
	l->caller = pid << 1;
}

/* ".(1)[6166:writer]", "I[1:      writer: 6166] ": the same of others. */
static void task_of_vendor(struct pdet_scan *s, struct pdet_log_line *l)
{
	struct pdet_scan try = *s, task;
	const char *end, *colon;
	uint64_t cpu, pid;
	bool first;

	pdet_scan_blanks(&try);
	if (try.at < try.end && (*try.at == '.' || *try.at == '-' ||
				 *try.at == 'I' || *try.at == 'W'))
		try.at++;
	first = pdet_scan_char(&try, '(');
	if (!first && !pdet_scan_char(&try, '['))
		return;
	if (!pdet_scan_dec(&try, &cpu) ||
	    !pdet_scan_word(&try, first ? ")[" : ":"))
		return;
	end = memchr(try.at, ']', PDET_MIN((size_t)(try.end - try.at),
					   (size_t)BRACKET));
	colon = end ? memrchr(try.at, ':', (size_t)(end - try.at)) : NULL;
	if (!colon)
		return;
	task = (struct pdet_scan){ first ? try.at : colon + 1, end };
	pdet_scan_blanks(&task);
	if (!pdet_scan_dec(&task, &pid) || pid > INT32_MAX ||
	    (first ? *task.at != ':' : task.at != end))
		return;
	s->at = end + 1;
	l->has_caller = true;
	l->caller = pid << 1;
}

/* "06-18 22:41:10.507     0     0 E ", of logcat. The kernel's lines are those
 * of process 0. */
static bool logcat_head(struct pdet_scan *s, struct pdet_log_stamp *ret)
{
	uint64_t n, pid, tid;

	if (!pdet_scan_dec(s, &n) || !pdet_scan_char(s, '-') ||
	    !pdet_scan_dec(s, &n) || !pdet_scan_char(s, ' '))
		return false;
	time_of_day(*s, ret);
	pdet_scan_token(s);
	pdet_scan_blanks(s);
	pdet_scan_word(s, "root ");
	pdet_scan_blanks(s);
	if (!ret->has_day || !pdet_scan_dec(s, &pid))
		return false;
	pdet_scan_blanks(s);
	if (!pdet_scan_dec(s, &tid) || pid || tid || !pdet_scan_char(s, ' ') ||
	    s->at == s->end || !strchr("VDIWEF", *s->at))
		return false;
	s->at++;
	return pdet_scan_char(s, ' ');
}

/* logcat cuts the word before the first colon out of the text, and blanks
 * behind it: "E page    : ffffffbf01187100 refcount:1". */
static void logcat(struct pdet_scan *s, struct pdet_log_line *l)
{
	static const char *const unspaced[] = {
		"addr", "aops", "file", "memcg", "pgd",
	};
	struct pdet_log_stamp stamp = { .has_day = false };
	struct pdet_scan try = *s, tag, rest;
	char name[BRACKET];
	size_t n, len, i;
	bool space;

	if (!logcat_head(&try, &stamp) ||
	    !pdet_log_behind(try, ": ", &rest))
		return;
	tag = (struct pdet_scan){ try.at, rest.at - strlen(": ") };
	while (tag.end > tag.at && tag.end[-1] == ' ')
		tag.end--;
	l->stamp = stamp;
	n = (size_t)(tag.end - tag.at);
	*s = n ? try : rest;
	if (!n || n > sizeof(name))
		return;
	*s = rest;
	space = !pdet_scan_is(&tag, "page") ||
		pdet_scan_word(&rest, "refcount:");
	for (i = 0; i < PDET_COUNT(unspaced); i++)
		space &= !pdet_scan_is(&tag, unspaced[i]);
	len = PDET_MIN((size_t)(s->end - s->at),
		       sizeof(l->unescaped) - sizeof(name) - 2);
	/* The line may be in that buffer. */
	memcpy(name, tag.at, n);
	memmove(l->unescaped + n + 1 + space, s->at, len);
	memcpy(l->unescaped, name, n);
	memcpy(l->unescaped + n, ": ", 1 + space);
	*s = (struct pdet_scan){ l->unescaped,
				 l->unescaped + n + 1 + space + len };
}

void pdet_log_line(struct pdet_scan line, struct pdet_log_line *ret)
{
	struct pdet_scan s;

	memset(ret, 0, offsetof(struct pdet_log_line, unescaped));
	if (line.at < line.end && line.end[-1] == '\r')
		line.end--;
	/* UTF-8 with a byte order mark */
	pdet_scan_word(&line, "\xef\xbb\xbf");
	without_colour(&line, ret);
	message_of_json(&line, ret);
	field_of_journal(&line, ret);
	without_markup(&line);
	ret->text = line;
	if (record(ret))
		return;
	s = line;
	pdet_log_quotation(&s);
	logcat(&s, ret);
	syslog(&s, &ret->stamp);
	since_epoch(&s);
	pdet_scan_word(&s, "kernel:");
	prefixes(&s, ret);
	if (!ret->stamp.has_us && before_stamp(&s))
		prefixes(&s, ret);
	if (ret->stamp.has_us) {
		host(&s);
		vendor(&s, ret);
		task_of_vendor(&s, ret);
	}
	/* After a record, " SUBSYSTEM=pci" is its dictionary. In a log without
	 * record heads, such a line is a stack frame. */
	ret->continues = s.at == line.at && s.at < s.end && *s.at == ' ';
	if (s.at != line.at && s.at < s.end && *s.at == ' ')
		s.at++;
	text(ret, s);
	if (is_escaped(ret->text))
		unescape(ret);
}

size_t pdet_log_prefix(struct pdet_scan line, struct pdet_log_line *scratch)
{
	struct pdet_scan s = line;
	size_t len;

	pdet_log_line(line, scratch);
	/* A record, a message of JSON and the like are not in @line. */
	if (scratch->record || scratch->user || scratch->text.at < line.at ||
	    scratch->text.at > line.end)
		return 1;
	pdet_scan_blanks(&s);
	pdet_log_quotation(&s);
	pdet_scan_blanks(&s);
	if (scratch->text.at <= s.at)
		return 0;
	/* "libc.so" and "[7f3c9a000+5000]" may have been broken in between. */
	len = (size_t)(scratch->text.at - s.at);
	if (*s.at == '[' && !scratch->stamp.has_us && !scratch->has_caller &&
	    !memchr(s.at, ':', len) && !memchr(s.at, '.', len))
		return 0;
	return (size_t)(scratch->text.at - line.at);
}
