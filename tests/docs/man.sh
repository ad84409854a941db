#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that every exported function has a comment at its declaration and a
# manual page, and that man can format the pages.
. "$top_srcdir/tests/tap.sh"

header=$tap_dir/pagedet.h
"$top_srcdir/scripts/whole-header" "$top_srcdir/include/pagedet.h" > "$header"

tap_run "every exported function is described, and in a man page" \
	"$top_srcdir/scripts/check-docs" "$header" \
	"$top_srcdir"/man/*.3

# man and apropos find a page by the names in its NAME section.
for name in $("$top_srcdir/scripts/list-header" functions \
	"$header"); do
	grep -q "^\.Nm $name\( ,\)\{0,1\}\$" "$top_srcdir"/man/*.3 ||
		echo "$name: in no NAME section"
done > "$tap_dir/why"
# The library exports each function that a NAME section lists.
sed -n 's/^\.Nm \(pagedet_[a-z_]*\).*/\1/p' "$top_srcdir"/man/*.3 |
	sort -u > "$tap_dir/named"
"$top_srcdir/scripts/list-header" functions "$header" |
	sort > "$tap_dir/functions"
comm -23 "$tap_dir/named" "$tap_dir/functions" |
	sed 's/$/: in a NAME section, and not exported/' >> "$tap_dir/why"
if [ -s "$tap_dir/why" ]; then
	tap_not_ok "NAME sections have the exported functions" "$tap_dir/why"
else
	tap_ok "NAME sections have the exported functions"
fi

# The header defines each constant that a page names.
"$top_srcdir/scripts/list-header" constants "$header" |
	sort > "$tap_dir/constants"
sed -n 's/^#[ \t]*define \(PAGEDET_[A-Z_]*\).*/\1/p' \
	"$header" | sort >> "$tap_dir/constants"
cat "$top_srcdir"/man/*.[137] | grep -v '^\.Dt ' |
	grep -o 'PAGEDET_[A-Z_]*[A-Z]' | sort -u |
	while read -r name; do
		grep -qx "$name" "$tap_dir/constants" ||
			# A prefix of constants, like PAGEDET_FIELD_.
			grep -q "^${name}_" "$tap_dir/constants" ||
			echo "$name: not in pagedet.h"
	done > "$tap_dir/why"
if [ -s "$tap_dir/why" ]; then
	tap_not_ok "constants are those of pagedet.h" "$tap_dir/why"
else
	tap_ok "constants are those of pagedet.h"
fi

# Both programs that render the pages, each with its own kind of errors.
for page in "$top_srcdir"/man/*.[137]; do
	name="mandoc -Tlint $(basename "$page")"
	if command -v mandoc > /dev/null; then
		tap_run "$name" mandoc -Tlint -Werror "$page"
	else
		tap_skip "$name" "mandoc is not installed"
	fi
	name="groff -mdoc $(basename "$page")"
	if ! command -v groff > /dev/null; then
		tap_skip "$name" "groff is not installed"
		continue
	fi
	# groff since 1.23 warns if it cannot adjust a SYNOPSIS line with one
	# long argument. The page is not at fault.
	groff -mdoc -ww -W break -b -Tutf8 "$page" 2> "$tap_dir/why" \
		> "$tap_dir/page" || echo "it failed" >> "$tap_dir/why"
	if [ -s "$tap_dir/why" ] || [ ! -s "$tap_dir/page" ]; then
		tap_not_ok "$name" "$tap_dir/why"
	else
		tap_ok "$name"
	fi
done

tap_done
