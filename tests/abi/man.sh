#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Every exported function is in a manual page, what is generated is what the
# tables say, and the pages are well formed.
. "$top_srcdir/tests/tap.sh"

if "$PYTHON3" -c '' 2> /dev/null; then
	tap_run "pagedet-fields(7) is what the tables say" \
		"$PYTHON3" "$top_srcdir/scripts/gen-fields-man" --check \
		"$top_srcdir"
else
	tap_skip "pagedet-fields(7) is what the tables say" "no $PYTHON3"
fi

tap_run "each function is described, and in a manual page" \
	"$top_srcdir/scripts/check-docs" "$top_srcdir/include/pagedet.h" \
	"$top_srcdir"/man/*.[1-9]

for page in "$top_srcdir"/man/*.[1-9]; do
	name="$(basename "$page") is well formed"
	if ! command -v groff > /dev/null; then
		tap_skip "$name" "no groff"
		continue
	fi
	groff -mdoc -ww -b -Tutf8 "$page" 2> "$tap_dir/why" > "$tap_dir/page" ||
		echo "groff ended with status $?" >> "$tap_dir/why"
	if [ -s "$tap_dir/why" ] || [ ! -s "$tap_dir/page" ]; then
		tap_not_ok "$name" "$tap_dir/why"
	else
		tap_ok "$name"
	fi
done

tap_done
