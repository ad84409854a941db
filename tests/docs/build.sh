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

# linked LIBRARY: what the program that starts it must find
linked() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		LC_ALL=C sort -u
}

# loads LIBRARY: the names of others in it that are not linked
loads() {
	linked "$1" > "$tap_dir/linked"
	tr -c '[:graph:]' '\n' < "$1" |
		grep -E '^lib[a-z0-9_-]+\.so\.[0-9]+$' |
		grep -v '^libpagedet\.' | LC_ALL=C sort -u |
		LC_ALL=C comm -13 "$tap_dir/linked" -
}

# What a build left out is not in it. None is without these two.
printf '%s\n' libelf.so.1 libz.so.1 > "$tap_dir/always"
library=$top_builddir/.libs/libpagedet.so
if [ -e "$library" ]; then
	loads "$library" > "$tap_dir/built"
	LC_ALL=C comm -13 "$tap_dir/sonames" "$tap_dir/built" > "$tap_dir/more"
	tap_run "and all that the shared library has" \
		diff /dev/null "$tap_dir/more"
	LC_ALL=C comm -12 "$tap_dir/always" "$tap_dir/built" > "$tap_dir/both"
	tap_run "which has what no build is without" \
		diff "$tap_dir/always" "$tap_dir/both"
	tap_run "the soname that it states" grep -q \
		"The soname is \`$(readelf -d "$library" |
			sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')\`" "$page"
	if [ -n "${PDET_SANITIZE:-}" ]; then
		tap_skip "only libc is linked" "sanitizers are linked, too"
	else
		# On some machines the stack's guard is the loader's.
		tap_run "only libc is linked" test libc.so.6 = \
			"$(grep -v '^ld-linux' "$tap_dir/linked")"
	fi
else
	tap_skip "the shared library has no other" "it is not built"
fi

tap_done
