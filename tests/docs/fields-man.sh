#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that pagedet-fields(7) matches the library's tables, and that its
# generator detects omissions.
. "$top_srcdir/tests/tap.sh"

generate=$top_srcdir/scripts/gen-fields-man
: "${PYTHON3:=python3}"

if ! "$PYTHON3" -c '' 2> /dev/null; then
	tap_skip "man/pagedet-fields.7" "$PYTHON3 is not installed"
	tap_done
fi
tap_run "man/pagedet-fields.7 is what scripts/gen-fields-man writes" \
	"$PYTHON3" "$generate" --check "$top_srcdir"

# tree: copy the files that the script reads, so that a test can spoil them.
tree() {
	rm -rf "$tap_dir/tree"
	for file in libpagedet/schema/page.def libpagedet/schema/names.def \
		include/pagedet/page.h include/pagedet/timeline.h \
		tools/pagedet/notes.def \
		man/pagedet-fields.7 man/pagedet-fields.7.in
	do
		mkdir -p "$tap_dir/tree/$(dirname "$file")"
		sed "$(spoil "$file")" "$top_srcdir/$file" \
			> "$tap_dir/tree/$file"
	done
}

# refused NAME WORDS FILE SED: expect failure with WORDS after SED changed FILE.
refused() {
	spoilt=$3
	edit=$4
	spoil() {
		[ "$1" != "$spoilt" ] || echo "$edit"
	}
	tree
	if "$PYTHON3" "$generate" --check "$tap_dir/tree" \
		> "$tap_dir/out" 2>&1; then
		echo "it was content" >> "$tap_dir/out"
	elif grep -qF -e "$2" "$tap_dir/out"; then
		tap_ok "$1"
		return
	fi
	tap_not_ok "$1" "$tap_dir/out"
}

refused "a changed text" '-Frobnicated.' \
	man/pagedet-fields.7 's/^NUMA node\.$/Frobnicated./'
refused "a new value without prose" '@values kind@ lacks guest' \
	libpagedet/schema/names.def 's/"offline")/"guest")/'
refused "a note without a meaning" '@values notes@ lacks torn' \
	tools/pagedet/notes.def 's/"torn"/"worn"/'
refused "prose for a field that is gone" 'there is no zone' \
	libpagedet/schema/page.def 's/(ZONE, zone,/(ZONES, zones,/'
refused "a group that no heading covers" 'nothing is said of fields numa' \
	libpagedet/schema/page.def '/^PDET_FIELD(SLAB_CACHE/s/"struct"/"numa"/'
refused "a field that cannot be read" 'cannot read every PDET_FIELD' \
	libpagedet/schema/page.def '/^PDET_FIELD(NODE/s/"page"/GROUP/'

tap_done
