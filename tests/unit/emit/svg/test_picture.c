/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests pictures of memory: the curve, the cells, the covered area of paths,
 * and a whole picture against a recorded one.
 *
 * UPDATE_GOLDEN rewrites the recorded picture.
 */
#include <errno.h>

#include "emit/cell.h"
#include "emit/emit.h"
#include "emit/svg/svg.h"
#include "../../unit.h"

#define PROCFS PAGEDET_SOURCE_PROCFS

/* --- the curve --- */

START_TEST(curve_is_whole)
{
	const struct pdet_curve c = { 3 + (unsigned)_i % 6, _i >= 6 };
	const uint32_t side = 1u << c.bits;
	uint32_t i, x, y, was_x = 0, was_y = 0;
	uint8_t *seen = calloc(side, side);

	ck_assert_ptr_nonnull(seen);
	for (i = 0; i < side * side; i++) {
		pdet_curve_place(&c, i, &x, &y);
		ck_assert_uint_lt(x, side);
		ck_assert_uint_lt(y, side);
		ck_assert(!seen[y * side + x]++);
		if (i && !c.linear)
			ck_assert_int_eq(abs((int)x - (int)was_x) +
					 abs((int)y - (int)was_y), 1);
		was_x = x;
		was_y = y;
	}
	free(seen);
}
END_TEST

/* An aligned sixteenth of the curve is a square, identified by its corner. */
START_TEST(curve_keeps_squares)
{
	const struct pdet_curve c = { 8, false };
	uint32_t i, x, y, first_x, first_y;

	for (i = 0; i < 65536; i++) {
		pdet_curve_place(&c, i & ~4095u, &first_x, &first_y);
		pdet_curve_place(&c, i, &x, &y);
		ck_assert_uint_eq(x / 64, first_x / 64);
		ck_assert_uint_eq(y / 64, first_y / 64);
	}
}
END_TEST

START_TEST(curve_fits)
{
	ck_assert_uint_eq(pdet_curve_fit(0, false).bits, 3);
	ck_assert_uint_eq(pdet_curve_fit(64, false).bits, 3);
	ck_assert_uint_eq(pdet_curve_fit(65, false).bits, 4);
	ck_assert_uint_eq(pdet_curve_fit(65536, true).bits, 8);
	ck_assert(pdet_curve_fit(1, true).linear);
}
END_TEST

/* --- cells --- */

static int category(struct pdet_picture *p, uint64_t key, const char *name)
{
	int c = pdet_picture_find(p, key);

	if (c < 0) {
		c = pdet_picture_new(p, key);
		ck_assert_int_ge(c, 0);
		p->categories.data[c].state = PAGEDET_HAVE;
		snprintf(p->categories.data[c].name, PDET_PICTURE_NAME, "%s",
			 name);
	}
	return c;
}

START_TEST(cell_is_what_most_of_it_is)
{
	struct pdet_picture p;
	unsigned a, b;

	ck_assert(pdet_picture_init(&p, 65536 * 4));
	ck_assert_uint_eq(p.order, 2);
	a = (unsigned)category(&p, 1, "a");
	b = (unsigned)category(&p, 2, "b");
	pdet_picture_add(&p, 0, 1, a, 0);
	pdet_picture_add(&p, 1, 2, b, 1 << PDET_MARK_HWPOISON);
	pdet_picture_add(&p, 3, 6, a, 0);
	ck_assert(pdet_picture_rank(&p));
	ck_assert_uint_eq(p.pages, 9);
	ck_assert_uint_eq(p.end, 9);
	ck_assert_uint_eq(p.categories.data[a].pages, 7);
	ck_assert_uint_eq(p.categories.data[a].rank, 0);
	ck_assert_uint_eq(p.categories.data[b].rank, 1);
	/* Two pages of each: the first category wins. */
	ck_assert_uint_eq(p.cell[0].category, a + 1);
	ck_assert_uint_eq(p.cell[0].marks, 1 << PDET_MARK_HWPOISON);
	ck_assert_uint_eq(p.cell[1].category, a + 1);
	ck_assert_uint_eq(p.cell[1].marks, 0);
	ck_assert_uint_eq(p.cell[2].pages, 1);
	ck_assert_uint_eq(p.cell[3].category, 0);
	ck_assert_uint_eq(pdet_picture_cells(&p), 3);
	ck_assert_uint_eq(p.marked[PDET_MARK_HWPOISON], 2);
	pdet_picture_free(&p);
}
END_TEST

START_TEST(more_frames_than_expected)
{
	struct pdet_picture p;
	unsigned a, b;

	ck_assert(pdet_picture_init(&p, 0));
	ck_assert_uint_eq(p.order, 0);
	a = (unsigned)category(&p, 1, "a");
	b = (unsigned)category(&p, 2, "b");
	pdet_picture_add(&p, 0, 3, a, 0);
	pdet_picture_add(&p, 3, 1, b, 1 << PDET_MARK_OFFLINE);
	pdet_picture_add(&p, 65536 * 4 - 1, 1, b, 0);
	ck_assert_uint_eq(p.order, 2);
	ck_assert(pdet_picture_rank(&p));
	ck_assert_uint_eq(p.cell[0].category, a + 1);
	ck_assert_uint_eq(p.cell[0].pages, 3);
	ck_assert_uint_eq(p.cell[0].marks, 1 << PDET_MARK_OFFLINE);
	ck_assert_uint_eq(p.cell[1].category, 0);
	ck_assert_uint_eq(p.cell[65535].category, b + 1);
	ck_assert_uint_eq(p.pages, 5);
	/* An impossible frame is not counted, and takes no time. */
	pdet_picture_add(&p, UINT64_MAX - 5, 3, a, 0);
	pdet_picture_add(&p, 5, UINT64_MAX, a, 0);
	pdet_picture_add(&p, (uint64_t)1 << 51, (uint64_t)1 << 51, a, 0);
	ck_assert_uint_eq(p.pages, 5 + ((uint64_t)1 << 51));
	pdet_picture_free(&p);
}
END_TEST

START_TEST(ground_is_pale)
{
	struct pdet_picture p;
	unsigned a;

	ck_assert(pdet_picture_init(&p, 64));
	a = (unsigned)category(&p, 1, "a");
	pdet_picture_add(&p, 0, 10, a, 1);
	pdet_picture_fade(&p);
	ck_assert_int_eq(pdet_picture_find(&p, 1), -1);
	a = (unsigned)category(&p, 7, "b");
	pdet_picture_add(&p, 4, 2, a, 0);
	ck_assert(pdet_picture_rank(&p));
	ck_assert_uint_eq(p.pale, 10);
	ck_assert_uint_eq(p.pages, 2);
	ck_assert_uint_eq(p.marked[0], 0);
	ck_assert(p.cell[3].pale && !p.cell[3].category);
	ck_assert_uint_eq(p.cell[4].category, a + 1);
	ck_assert(!p.cell[10].pale);
	pdet_picture_free(&p);
}
END_TEST

START_TEST(too_many_categories)
{
	struct pdet_picture p;
	uint32_t i;
	int c;

	ck_assert(pdet_picture_init(&p, 1 << 20));
	for (i = 0; i < PDET_PICTURE_CATEGORIES + 100; i++) {
		c = pdet_picture_find(&p, i);
		ck_assert_int_eq(c, -1);
		c = pdet_picture_new(&p, i);
		ck_assert_int_eq(c, i + 1 < PDET_PICTURE_CATEGORIES ?
				 (int)i + 1 : 0);
		pdet_picture_add(&p, i, 1, (unsigned)c, 0);
	}
	ck_assert(pdet_picture_rank(&p));
	ck_assert_uint_eq(p.categories.data[0].pages, 101);
	ck_assert_uint_eq(p.pages, PDET_PICTURE_CATEGORIES + 100);
	pdet_picture_free(&p);
}
END_TEST

/* --- paths --- */

/* Counts the cells that a picture's paths cover, by following them. */
static uint32_t area(const char *path, uint8_t *covered, uint32_t width)
{
	int x = 0, y = 0, dx, dy, len, used, cells = 0, i;

	for (; *path == 'M' || *path == 'm'; path += used) {
		ck_assert_int_eq(sscanf(path + 1, "%d %dh%d%n", &dx, &dy,
					&len, &used), 3);
		used++;
		x += dx;
		y += dy;
		ck_assert_int_gt(len, 0);
		for (i = 0; i < len; i++, x++, cells++)
			ck_assert(!covered[(uint32_t)y * width +
					   (uint32_t)x]++);
	}
	return (uint32_t)cells;
}

START_TEST(paths_cover_cells)
{
	struct pdet_env env = { 0 };
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	static uint8_t grid[65536], covered[65536];
	uint32_t count[6] = { 0 }, i, seed = 1 + (uint32_t)_i;
	size_t all = 0, len;

	for (i = 0; i < 65536; i++) {
		seed = seed * 1103515245 + 12345;
		/* long runs, short ones, none */
		if (i && (seed >> 16) % 8 < (unsigned)_i * 2)
			grid[i] = grid[i - 1];
		else
			grid[i] = (seed >> 16) % 5;
		count[grid[i]]++;
	}
	/* Left by the last test, if all run in one process. */
	memset(covered, 0, sizeof(covered));
	for (i = 0; i < 6; i++) {
		struct pagedet_emitter *e;
		const char *text;

		ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), 0);
		pdet_svg_path(&e->out, grid, 256, 256, i);
		text = pdet_emitter_text(e, &len);
		all += len;
		ck_assert_uint_eq(area(text, covered, 256), count[i]);
		pdet_emitter_free(e);
	}
	for (i = 0; i < 65536; i++)
		ck_assert_uint_eq(covered[i], 1);
	ck_assert_uint_lt(all, 700 << 10);
}
END_TEST

/* --- whole pictures --- */

static struct pdet_env env;
static struct pdet_batch batch;
static struct pdet_emit_query query;
static struct pagedet_info info;

static void set_up(unsigned by)
{
	memset(&query, 0, sizeof(query));
	memset(&info, 0, sizeof(info));
	pdet_fields_add(&query.fields, PAGEDET_FIELD_PFN);
	pdet_fields_add(&query.fields, PAGEDET_FIELD_FLAGS);
	pdet_fields_add(&query.fields, by);
	query.target = PAGEDET_TARGET_SCAN;
	query.page_size = 4096;
	query.info = &info;
	info.release = "6.12.0-test";
	info.arch = "x86_64";
	info.boot_id = "";
	info.max_pfn = 0x1000;
	info.last_ns = (uint64_t)1700000000 * 1000000000;
	ck_assert(pdet_batch_init(&batch, &query.fields, 8192, 1 << 22));
}

static uint32_t add(uint64_t pfn, uint32_t n, uint64_t flags)
{
	const uint32_t row = (uint32_t)pdet_batch_grow(&batch, n);

	pdet_put_series(&batch, row, n, PAGEDET_FIELD_PFN, pfn, PROCFS);
	pdet_put_run(&batch, row, n, PAGEDET_FIELD_FLAGS, flags, PROCFS);
	return row;
}

static void add_kind(uint64_t pfn, uint32_t n, uint64_t flags, unsigned kind)
{
	pdet_put_run(&batch, add(pfn, n, flags), n, PAGEDET_FIELD_KIND, kind,
		     PROCFS);
}

static char *emit(unsigned by, uint32_t options, const char *title,
		  bool whole)
{
	const struct pdet_emit_end end = { .complete = whole, .wanted = 4096,
					   .visited = 100 };
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_emitter *e;
	const char *text;
	char *copy;
	size_t len;

	o.format = PAGEDET_FORMAT_SVG;
	o.options = options;
	o.by = by;
	o.title = title;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), 0);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), 0);
	ck_assert_int_eq(pdet_emit_batch(e, &env, &batch), 0);
	ck_assert_int_eq(pdet_emit_end(e, &env, &end), 0);
	ck_assert_int_eq(pdet_emitter_finish(e), 0);
	text = pdet_emitter_text(e, &len);
	copy = strdup(text);
	ck_assert_ptr_nonnull(copy);
	ck_assert_uint_eq(strlen(copy), len);
	pdet_emitter_free(e);
	pdet_batch_free(&batch);
	return copy;
}

static void ck_golden(const char *text, const char *file)
{
	char path[4096], *want = calloc(1, 1 << 20);
	size_t len;
	FILE *f;

	unit_source(path, sizeof(path), file);
	if (getenv("UPDATE_GOLDEN")) {
		f = fopen(path, "w");
		ck_assert_ptr_nonnull(f);
		ck_assert_int_ge(fputs(text, f), 0);
		ck_assert_int_eq(fclose(f), 0);
	}
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "cannot open %s", path);
	ck_assert_ptr_nonnull(want);
	len = fread(want, 1, (1 << 20) - 1, f);
	fclose(f);
	ck_assert_msg(len == strlen(text) && !memcmp(text, want, len),
		      "%s differs; it is now:\n%s", path, text);
	free(want);
}

static const char *const golden[] = {
	"tests/golden/emit-map.svg", "tests/golden/emit-map-linear.svg",
};

START_TEST(recorded)
{
	char *text;

	set_up(PAGEDET_FIELD_KIND);
	add_kind(0, 0x100, 0, PAGEDET_KIND_RESERVED);
	add_kind(0x100, 0x700, 0, PAGEDET_KIND_FREE);
	add_kind(0x800, 0x111, 0, PAGEDET_KIND_ANON);
	add_kind(0x911, 1, PAGEDET_PF(PAGEDET_PF_HWPOISON),
		 PAGEDET_KIND_ANON);
	add_kind(0x912, 0xee, 0, PAGEDET_KIND_FILE);
	/* A hole, reported in both ways. */
	add_kind(0xa00, 0x80, PAGEDET_PF(PAGEDET_PF_NOPAGE),
		 PAGEDET_KIND_UNKNOWN);
	add_kind(0xa80, 0x80, 0, PAGEDET_KIND_HOLE);
	pdet_put_lost_run(&batch, add(0xc00, 0x40, 0), 0x40,
			  PAGEDET_FIELD_KIND, PAGEDET_NO_ACCESS, PROCFS);
	text = emit(0, _i ? PAGEDET_EMIT_LINEAR : 0, NULL, true);
	ck_assert_ptr_null(strstr(text, "Partial"));
	ck_golden(text, golden[_i]);
	free(text);
}
END_TEST

/* No byte of a name can break the markup; other bytes are escaped. */
START_TEST(hostile_names)
{
	static const char *const names[] = {
		"</text><script>alert(1)</script>", "a&b \"c\" 'd' ]]>",
		"\x1b[31m\x01\x7f", "\xff\xfe\xc0\x80",
		"\xef\xbf\xbe\xef\xbf\xbf",
		"\xe2\x80\xae" "abc", "",
	};
	const size_t n = PDET_COUNT(names);
	char longest[600], *text, *at;
	uint32_t i;

	memset(longest, 'x', sizeof(longest) - 1);
	memcpy(longest + 100, "\xc3\xa9\xc3\xa9", 4);
	for (i = 126; i + 2 < sizeof(longest); i += 2)
		memcpy(longest + i - 1, "\xc3\xa9", 2);
	longest[sizeof(longest) - 1] = '\0';
	set_up(PAGEDET_FIELD_COMM);
	for (i = 0; i <= n; i++) {
		const char *name = i < n ? names[i] : longest;

		pdet_put_text(&batch, add(i * 8, 1, 0), PAGEDET_FIELD_COMM,
			      name, strlen(name), PROCFS);
	}
	text = emit(PAGEDET_FIELD_COMM, 0, "<&>\x01\xff\xef\xbf\xbf", false);
	ck_assert_ptr_null(strstr(text, "<script"));
	ck_assert_ptr_nonnull(strstr(text, "&lt;script&gt;"));
	ck_assert_ptr_nonnull(strstr(text, "&lt;&amp;&gt;???"));
	ck_assert_ptr_nonnull(strstr(text, "a&amp;b \"c\" 'd' ]]&gt;"));
	ck_assert_ptr_nonnull(strstr(text, "\\x1b[31m\\x01\\x7f"));
	ck_assert_ptr_nonnull(strstr(text, "Partial: 100 of 4096"));
	ck_assert_ptr_null(strstr(text, "\xef\xbf\xbe"));
	for (at = text; *at; ) {
		uint32_t code;
		int len = pdet_utf8(at, text + strlen(text), &code);

		ck_assert_int_gt(len, 0);
		ck_assert(code >= ' ' || code == '\n');
		at += len;
	}
	free(text);
}
END_TEST

/* More names than colours, each in the legend or counted as other. */
START_TEST(many_names)
{
	char name[32], *text;
	uint32_t i;

	set_up(PAGEDET_FIELD_COMM);
	for (i = 0; i < 40; i++) {
		const uint32_t row = add(i * 100, 100 - i, 0);

		snprintf(name, sizeof(name), "name-%u", i);
		pdet_put_text_run(&batch, row, 100 - i, PAGEDET_FIELD_COMM,
				  name, strlen(name), PROCFS);
	}
	text = emit(PAGEDET_FIELD_COMM, 0, NULL, true);
	ck_assert_ptr_nonnull(strstr(text, ">name-15</text>"));
	ck_assert_ptr_null(strstr(text, ">name-16</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">other (24)</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">1740</text>"));
	ck_assert_ptr_nonnull(strstr(text, ">3220</text>"));
	free(text);
}
END_TEST

START_TEST(refused)
{
	struct pagedet_emit_options o = PAGEDET_EMIT_OPTIONS_INIT;
	struct pagedet_ability a = { .size = sizeof(a) };
	struct pagedet_emitter *e;
	size_t len;

	o.format = PAGEDET_FORMAT_SVG;
	o.by = 127;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), -EINVAL);
	o.by = 0;
	ck_assert_int_eq(pdet_emitter_new(&env, &o, &e), 0);
	set_up(PAGEDET_FIELD_KIND);
	query.grouped = true;
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), -EINVAL);
	query.grouped = false;
	query.target = PAGEDET_TARGET_TASK;
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), -EINVAL);
	ck_assert_ptr_nonnull(strstr(env.error, "cannot draw a picture: only"));
	query.target = PAGEDET_TARGET_SCAN;
	pdet_fields_remove(&query.fields, PAGEDET_FIELD_PFN);
	ck_assert_int_eq(pdet_emit_begin(e, &env, &query), -EINVAL);
	ck_assert_int_eq(pdet_emit_ability(e, &env, PAGEDET_FIELD_PFN,
					   PROCFS, &a), -EINVAL);
	/* Without a query there is no picture. */
	ck_assert_int_eq(pdet_emitter_finish(e), 0);
	ck_assert_str_eq(pdet_emitter_text(e, &len), "");
	pdet_emitter_free(e);
	pdet_batch_free(&batch);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("picture");

	unit_loop(s, curve_is_whole, 12);
	unit_test(s, curve_keeps_squares);
	unit_test(s, curve_fits);
	unit_test(s, cell_is_what_most_of_it_is);
	unit_test(s, more_frames_than_expected);
	unit_test(s, ground_is_pale);
	unit_test(s, too_many_categories);
	unit_loop(s, paths_cover_cells, 4);
	unit_loop(s, recorded, 2);
	unit_test(s, hostile_names);
	unit_test(s, many_names);
	unit_test(s, refused);
	return unit_main(s);
}
