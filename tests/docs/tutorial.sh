#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests that the programs of pagedet-tutorial(7) compile, run, and print what
# the page shows.
. "$top_srcdir/tests/docs/manual.sh"

source=$top_srcdir/man/pagedet-tutorial.7.in

if [ -n "${PDET_SANITIZE:-}" ]; then
	# The sanitizers must be linked into the program, which is Python.
	tap_skip "the tutorial" "the library is built with sanitizers"
	tap_done
fi

checked pagedet-tutorial.7

# lines FILE: count the lines of a program in the page.
lines() {
	sed -n "/^\\.\\\\\" @file $1\$/,/@end\$/p" "$source" | grep -vc '@'
}
tap_run "the last program has 40 lines" test "$(lines memory.c)" -eq 40
tap_run "the page has programs in C" grep -q '@file .*\.c$' "$source"
tap_run "the page has programs in Python" grep -q '@file .*\.py$' "$source"

refused pagedet-tutorial.7 "another output is seen" '+pfn       9261' \
	's/virt 74 0x7f33a14af000/virt 74 0x7f33a14b0000/'
refused pagedet-tutorial.7 "a program that does not compile is seen" \
	'swapped: not found' 's/pagedet_query(pd, &q, &it)/pagedet_query(pd, \&q)/'

tap_done
