#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that no file is missing from the lists of the build, and that all files
# follow the style of CONTRIBUTING.md.
. "$top_srcdir/tests/tap.sh"

tap_run "every file is in a list of the build" \
	"$top_srcdir/scripts/check-lists" "$top_srcdir"
tap_run "every file is in our style" \
	"$top_srcdir/scripts/check-style" "$top_srcdir"

# tree FILE TEXT: one with that file, and a benchmark with two rows
tree() {
	rm -rf "$tap_dir/tree"
	mkdir -p "$tap_dir/tree/bench" "$tap_dir/tree/$(dirname "$1")"
	echo 'rows_known="dump content"' > "$tap_dir/tree/bench/run"
	printf '%b' "$2" > "$tap_dir/tree/$1"
}

# seen NAME FILE TEXT: a tree with that file is found fault with
seen() {
	tree "$2" "$3"
	tap_fails "$1 is seen" "$top_srcdir/scripts/check-style" \
		"$tap_dir/tree"
}

spdx='/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */\n'
tree libpagedet/base/a.c "$spdx/* Knows it. */\nint a;\n"
tap_run "a file in our style is let pass" \
	"$top_srcdir/scripts/check-style" "$tap_dir/tree"
seen "a file without license" libpagedet/a.c '/* Knows it. */\nint a;\n'
seen "a file that does not say what it knows" libpagedet/a.c "${spdx}int a;\n"
seen "a blank at the end of a line" libpagedet/a.c \
	"$spdx/* Knows it. */\nint a; \n"
seen "a long line" libpagedet/a.c \
	"$spdx/* Knows it. */\nint a$(printf '%0100d' 0);\n"
seen "a comment that goes to the end of the line" libpagedet/a.c \
	"$spdx/* Knows it. */\nint a; // it\n"
seen "unfinished work" libpagedet/a.c \
	"$spdx/* Knows it. TO""DO: the rest */\nint a;\n"
seen "a second path for speed that nothing measures" libpagedet/a.c \
	"$spdx/*\n * Knows it.\n *\n * bench: nothing\n */\nint a;\n"
seen "one of which something else is measured" libpagedet/a.c \
	"$spdx/*\n * Knows it.\n *\n * bench: nothing content\n */\nint a;\n"
seen "one that says so in one line" libpagedet/a.c \
	"$spdx/* Knows it. */\n/* bench: nothing */\nint a;\n"
seen "one that names nothing" libpagedet/a.c \
	"$spdx/*\n * Knows it.\n *\n * bench:\n */\nint a;\n"
tree libpagedet/base/a.c \
	"$spdx/*\n * Knows it.\n *\n * bench: dump content\n */\nint a;\n"
tap_run "rows that measure it are known" \
	"$top_srcdir/scripts/check-style" "$tap_dir/tree"
seen "a script without license" scripts/a '#!/bin/sh\ntrue\n'

rm -rf "$tap_dir/tree"
mkdir -p "$tap_dir/tree/tests/unit"
touch "$tap_dir/tree/tests/unit/test_a.c"
echo 'check_PROGRAMS = tests/unit/test_a' > "$tap_dir/tree/Makefile.am"
tap_run "a program of one file needs no list" \
	"$top_srcdir/scripts/check-lists" "$tap_dir/tree"
echo '# tests/unit' > "$tap_dir/tree/Makefile.am"
tap_fails "a forgotten file is seen" "$top_srcdir/scripts/check-lists" \
	"$tap_dir/tree"

# found NAME TEST: expect the short name to select this test.
found() {
	tap_run "$1 is $2" test "$("$top_srcdir/scripts/find-test" "$1" \
		tests/unit/base/text/test_text tests/unit/diff/test_diff \
		tests/cli/diff.sh tests/log/test-real.py)" = "$2"
}
found text tests/unit/base/text/test_text
found unit/text tests/unit/base/text/test_text
found unit/diff tests/unit/diff/test_diff
found cli/diff tests/cli/diff.sh
found real tests/log/test-real.py
tap_fails "a name of two tests is refused" "$top_srcdir/scripts/find-test" \
	diff tests/unit/diff/test_diff tests/cli/diff.sh
tap_fails "a name of no test is refused" "$top_srcdir/scripts/find-test" \
	tex tests/unit/base/text/test_text

tap_done
