#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that every manual page of the library begins with an example: a whole
# program that compiles without warnings and links with the library.
. "$top_srcdir/tests/tap.sh"

built=$top_builddir/man-example.$$
trap 'rm -rf "$tap_dir" "$built" "$built.o"' EXIT

# The text of the literal blocks of EXAMPLES, without the escapes of mdoc.
program() {
	awk '/^\.Sh / { on = /^\.Sh EXAMPLES/ }
	/^\.Ed/ { literal = 0 }
	on && literal { print }
	/^\.Bd -literal/ { literal = 1 }' "$1" |
		sed -e 's/\\&//g' -e 's/\\(dq/"/g' -e 's/\\-/-/g' \
			-e 's/\\e/\\/g'
}

compile() {
	$CC -std=gnu11 -Wall -Wextra -Werror -I"$top_srcdir/include" \
		-c -o "$tap_dir/example.o" "$tap_dir/example.c" &&
		cp "$tap_dir/example.o" "$built.o" &&
		(cd "$top_builddir" &&
			# shellcheck disable=SC2086 # several words each
			./libtool --quiet --tag=CC --mode=link $CC -no-install \
			$PDET_CLIENT_FLAGS -o "${built##*/}" "${built##*/}.o" \
			libpagedet.la)
}

for page in "$top_srcdir"/man/*.3; do
	name=$(basename "$page")
	tap_run "$name: the examples stand before the description" \
		awk '/^\.Sh DESCRIPTION/ { exit !examples }
		/^\.Sh EXAMPLES/ { examples = 1 }' "$page"
	program "$page" > "$tap_dir/example.c"
	tap_run "$name: the example is a whole program" \
		grep -q '^int main(' "$tap_dir/example.c"
	tap_run "$name: the example compiles" compile
done

tap_done
