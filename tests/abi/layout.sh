#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that layouts of public structs and values of public constants equal
# those in layout-*.txt, and that the comparison detects incompatible changes.
. "$top_srcdir/tests/tap.sh"

header=$tap_dir/pagedet.h
check=$top_srcdir/scripts/check-layout

"$top_srcdir/scripts/whole-header" "$top_srcdir/include/pagedet.h" > "$header"

# layout MACHINE CC...
layout() {
	recorded=$top_srcdir/tests/abi/layout-$1.txt
	name="layout on $1"
	shift
	"$top_srcdir/scripts/abi-layout" "$header" "$@" > "$tap_dir/now"
	if ! "$check" "$recorded" "$tap_dir/now" > "$tap_dir/why"; then
		tap_not_ok "$name is compatible with what is recorded" \
			"$tap_dir/why"
		return
	fi
	tap_ok "$name is compatible with what is recorded"
	if diff "$recorded" "$tap_dir/now" > "$tap_dir/why"; then
		tap_ok "$name is recorded in full"
	else
		echo "run scripts/record-abi" >> "$tap_dir/why"
		tap_not_ok "$name is recorded in full" "$tap_dir/why"
	fi
}

# Choose the layout by the word length, not by the machine.
if $CC -x c -dM -E - < /dev/null | grep -q '__x86_64__\|__aarch64__'; then
	layout x86_64 $CC
else
	tap_skip "layout on x86_64" "$CC builds for another machine"
fi
if command -v i686-linux-gnu-gcc > /dev/null; then
	layout i686 i686-linux-gnu-gcc
else
	tap_skip "layout on i686" "no i686-linux-gnu-gcc"
fi

cat > "$tap_dir/old" <<'EOT'
struct s a 0 8
struct s b 8 4
size s 16
constant C 1
EOT

# change SED-SCRIPT: derive a newer layout from the old one.
change() {
	sed "$1" "$tap_dir/old" > "$tap_dir/new"
}

change ''
tap_run "the same layout is compatible" "$check" "$tap_dir/old" "$tap_dir/new"
change '/^size/i struct s c 12 4'
tap_run "a new last member is compatible" "$check" "$tap_dir/old" \
	"$tap_dir/new"
change '/ b /s/8 4/12 4/'
tap_fails "a member that moved is seen" "$check" "$tap_dir/old" "$tap_dir/new"
change '/ b /s/8 4/8 8/'
tap_fails "a member that grew is seen" "$check" "$tap_dir/old" "$tap_dir/new"
change 's/ a / t /; s/ b / a /; s/ t / b /'
tap_fails "swapped members are seen" "$check" "$tap_dir/old" "$tap_dir/new"
change '/ b /d'
tap_fails "a lost member is seen" "$check" "$tap_dir/old" "$tap_dir/new"
change 's/^size s 16/size s 12/'
tap_fails "a struct that shrank is seen" "$check" "$tap_dir/old" \
	"$tap_dir/new"
change '/ s /d'
tap_fails "a lost struct is seen" "$check" "$tap_dir/old" "$tap_dir/new"
change 's/C 1/C 2/'
tap_fails "a constant that changed is seen" "$check" "$tap_dir/old" \
	"$tap_dir/new"

tap_done
