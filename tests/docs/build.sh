#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests the table of docs/build.md: it has every library that is loaded, and
# every package that an error names.
. "$top_srcdir/tests/tap.sh"

row='^| `\(lib[^`]*\.so\.[0-9]*\)` | `\([^`]*\)` |.*'
page=$top_srcdir/docs/build.md
sed -n "s/$row/\1/p" "$page" | LC_ALL=C sort > "$tap_dir/sonames"
sed -n "s/$row/\2/p" "$page" | LC_ALL=C sort > "$tap_dir/packages"

sources() {
	find "$top_srcdir/libpagedet" -name '*.c' -exec cat {} +
}
sources | sed -n 's/.*pdet_library_open(.*"\(lib[^"]*\)").*/\1/p' |
	LC_ALL=C sort -u > "$tap_dir/loaded"
tap_run "the table has what the sources load" \
	diff "$tap_dir/sonames" "$tap_dir/loaded"
sources | sed -n -e 's/.*\.package = "\(.*\)",$/\1/p' \
	-e 's/.*installed (on Debian: \([^)]*\)).*/\1/p' |
	LC_ALL=C sort -u > "$tap_dir/named"
tap_run "and the packages that errors name" \
	diff "$tap_dir/packages" "$tap_dir/named"

# What a build left out is not in it.
library=$top_builddir/.libs/libpagedet.so
if [ -e "$library" ]; then
	tr -c '[:graph:]' '\n' < "$library" |
		grep -E '^lib[a-z0-9_-]+\.so\.[0-9]+$' |
		grep -v -e '^libc\.' -e '^libpagedet\.' | LC_ALL=C sort -u \
		> "$tap_dir/built"
	tap_run "and all that the shared library has" \
		test -z "$(comm -13 "$tap_dir/sonames" "$tap_dir/built")"
	tap_run "the soname that it states" grep -q \
		"The soname is \`$(readelf -d "$library" |
			sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')\`" "$page"
else
	tap_skip "the shared library has no other" "it is not built"
fi

tap_done
