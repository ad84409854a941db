/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Breaks the lines of real reports at many widths, as terminals and mail
 * clients do. What is then said of a page is what the whole text says, or less;
 * and if nothing is said, it is told that there are lines of reports.
 */
#include <dirent.h>
#include <unistd.h>

#include "backend/log/log.h"
#include "base/vec.h"
#include "../../unit.h"

#define NARROW 60
#define WIDE 120

/* Most rows of a text. */
#define ROWS 64

struct text {
	char *data;
	size_t n, cap;
};

static const char *reports(void)
{
	static char path[4096];
	const char *top = getenv("top_srcdir");

	snprintf(path, sizeof(path), "%s/tests/fixtures/public-reports",
		 top ? top : ".");
	return path;
}

static void append(struct text *to, const char *at, size_t len)
{
	ck_assert(pdet_vec_reserve(to, len + 1));
	memcpy(to->data + to->n, at, len);
	to->n += len;
	to->data[to->n] = '\0';
}

static void read_text(const char *folder, const char *name, struct text *to)
{
	char path[8192], line[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", reports(), folder, name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f))
		append(to, line, strlen(line));
	fclose(f);
}

/* --- how lines are broken --- */

/* The bytes of the next @width characters. */
static size_t bytes_of(struct pdet_scan s, size_t width)
{
	const char *at = s.at;

	for (; at < s.end; at++)
		if ((*at & 0xc0) != 0x80 && !width--)
			break;
	return (size_t)(at - s.at);
}

static void cut(struct text *to, struct pdet_scan s, size_t width)
{
	do {
		const size_t n = bytes_of(s, width);

		append(to, s.at, n);
		append(to, "\n", 1);
		s.at += n;
	} while (s.at < s.end);
}

/* Between words. @keep: the blank stays at the end of the line. */
static void fold(struct text *to, struct pdet_scan s, size_t width, bool keep)
{
	const char *at;
	size_t n;

	while ((n = bytes_of(s, width)) < (size_t)(s.end - s.at)) {
		for (at = s.at + n; at > s.at && *at != ' '; at--)
			;
		while (at > s.at && at[-1] == ' ')
			at--;
		if (at == s.at)
			at = memchr(s.at + n, ' ', (size_t)(s.end - s.at) - n);
		if (!at)
			break;
		append(to, s.at, (size_t)(at - s.at) + keep);
		append(to, "\n", 1);
		for (s.at = at; s.at < s.end && *s.at == ' '; s.at++)
			;
	}
	append(to, s.at, (size_t)(s.end - s.at));
	append(to, "\n", 1);
}

enum way { CUT, FOLD, FLOW, WAYS };

static void broken(struct text *to, const struct text *from, enum way way,
		   size_t width)
{
	struct pdet_scan text = { from->data, from->data + from->n }, line;

	to->n = 0;
	while (pdet_scan_line(&text, &line)) {
		if (way == CUT)
			cut(to, line, width);
		else
			fold(to, line, width, way == FLOW);
	}
}

/* --- what is said --- */

static uint64_t read_log(const struct text *text, struct pdet_batch *b)
{
	const struct pdet_fields want = pdet_log_said_fields();
	struct pdet_scan s = { text->data, text->data + text->n }, line;
	struct pdet_log *log = pdet_log_new();
	const struct pdet_log_page *p;
	uint64_t unread;

	ck_assert_ptr_nonnull(log);
	while (pdet_scan_line(&s, &line))
		ck_assert_int_eq(pdet_log_feed(log, line), 0);
	ck_assert_int_eq(pdet_log_end(log, false), 0);
	while ((p = pdet_log_take(log))) {
		const int64_t row = pdet_batch_grow(b, 1);

		ck_assert_int_ge(row, 0);
		pdet_log_put(p, b, (uint32_t)row, &want, PAGEDET_SOURCE_LOG);
	}
	unread = pdet_log_unread(log);
	pdet_log_free(log);
	return unread;
}

/* Whether they are texts that differ in blanks: of several between words one
 * is left. */
static bool is_same_text(const struct pdet_batch *b, uint64_t x, uint64_t y)
{
	size_t n;
	const char *t = pdet_strtab_get(&b->strings, x, &n);
	const char *u = pdet_strtab_get(&b->strings, y, &n);

	if (!t || !u)
		return false;
	while (*t && *t == *u) {
		t++;
		u++;
		if (t[-1] == ' ') {
			t += strspn(t, " ");
			u += strspn(u, " ");
		}
	}
	return *t == *u;
}

/* Whether each part of a reason is in that of the whole text. */
static bool is_part(const struct pdet_batch *b, uint64_t x, uint64_t y)
{
	size_t n;
	const char *t = pdet_strtab_get(&b->strings, x, &n);
	const char *u = pdet_strtab_get(&b->strings, y, &n);
	char part[1024];

	while (t && u && *t) {
		n = (size_t)(strstr(t, "; ") ? strstr(t, "; ") - t :
					       (ptrdiff_t)strlen(t));
		snprintf(part, sizeof(part), "%.*s", (int)n, t);
		if (!strstr(u, part))
			return false;
		t += n;
		t += strspn(t, "; ");
	}
	return t && u;
}

/* Whether a field says something else than that of the whole text. Returns its
 * name, or NULL. */
static const char *other(const struct pdet_batch *b, uint32_t row,
			 uint32_t whole)
{
	const struct pdet_fields want = pdet_log_said_fields();
	const uint64_t known = pdet_batch_get(b, row, PAGEDET_FIELD_FLAGS_KNOWN,
					      0);
	const uint64_t had = pdet_batch_get(b, whole, PAGEDET_FIELD_FLAGS_KNOWN,
					    0);
	uint64_t x, y;
	unsigned f;

	pdet_fields_for(f, &want) {
		if (pdet_batch_state(b, row, f) == PAGEDET_NONE &&
		    pdet_batch_state(b, whole, f) == PAGEDET_HAVE)
			return pdet_field_info(f)->name;
		if (pdet_batch_state(b, row, f) != PAGEDET_HAVE)
			continue;
		x = pdet_batch_get(b, row, f, 0);
		y = pdet_batch_get(b, whole, f, ~x);
		if (f == PAGEDET_FIELD_FLAGS) {
			x &= known;
			y &= known;
		}
		if (f == PAGEDET_FIELD_REASON && is_part(b, x, y) &&
		    pdet_batch_get(b, row, PAGEDET_FIELD_NOTES, 0) &
		    PAGEDET_NOTE(PAGEDET_NOTE_PARTIAL))
			continue;
		if (f == PAGEDET_FIELD_FLAGS_KNOWN && !(x & ~had))
			continue;
		if (x != y && !is_same_text(b, x, y))
			return pdet_field_info(f)->name;
	}
	return NULL;
}

/* Returns the number of wrong answers. */
static unsigned compare(const char *folder, const struct text *whole,
		    const struct text *text, enum way way, size_t width,
		    unsigned *same)
{
	static const char *const ways[] = { "cut", "folded", "flowed" };
	struct pdet_fields columns = pdet_log_said_fields();
	const char *what = NULL, *best;
	uint32_t row, i, n;
	struct pdet_batch b;
	unsigned wrong = 0;
	uint64_t unread;

	pdet_fields_add(&columns, PAGEDET_FIELD_NOTES);
	ck_assert(pdet_batch_init(&b, &columns, 2 * ROWS, 1 << 20));
	pdet_batch_clear(&b, 1);
	read_log(whole, &b);
	n = b.n;
	unread = read_log(text, &b);
	if (n && b.n == n && !unread && !wrong++)
		printf("# %s %s at %zu: nothing is said\n", folder, ways[way],
		       width);
	for (row = n; row < b.n; row++) {
		best = "no such row";
		for (i = 0; i < n && best; i++) {
			what = other(&b, row, i);
			if (!what || strcmp(what, "pfn"))
				best = what;
		}
		if (best && !wrong++)
			printf("# %s %s at %zu: another %s in row %u\n",
			       folder, ways[way], width, best, row - n);
	}
	*same += b.n == 2 * n;
	pdet_batch_free(&b);
	return wrong;
}

/* _i: the way */
START_TEST(real)
{
	DIR *d = opendir(reports());
	struct text whole = { NULL, 0, 0 }, text = { NULL, 0, 0 };
	struct dirent *e;
	unsigned same = 0, all = 0, wrong = 0;
	size_t width;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d))) {
		char path[8192];

		snprintf(path, sizeof(path), "%s/%s/log.txt", reports(),
			 e->d_name);
		if (*e->d_name == '.' || access(path, R_OK))
			continue;
		whole.n = 0;
		read_text(e->d_name, "log.txt", &whole);
		for (width = NARROW; width <= WIDE; width++, all++) {
			broken(&text, &whole, (enum way)_i, width);
			wrong += compare(e->d_name, &whole, &text,
					 (enum way)_i, width, &same);
		}
	}
	closedir(d);
	pdet_vec_free(&whole);
	pdet_vec_free(&text);
	printf("# way %d: all rows in %u of %u\n", _i, same, all);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(all, 1000);
	ck_assert_uint_gt(same, all / 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("log_broken");

	unit_loop(s, real, WAYS);
	return unit_main(s);
}
