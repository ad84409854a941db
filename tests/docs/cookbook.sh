#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image page_owner log
# Tests that commands of pagedet-cookbook(7) print what the page shows on the
# fixtures, and that its live commands run on this machine.
. "$top_srcdir/tests/docs/manual.sh"

source=$top_srcdir/man/pagedet-cookbook.7.in

checked pagedet-cookbook.7
tap_run "it has thirty questions" \
	test "$(grep -c '^\.Ss ' "$source")" -eq 30
tap_run "each question has a command" \
	test "$(grep -c '^\.\\" @[rl]' "$source")" -eq 30

refused pagedet-cookbook.7 "another answer is seen" '0x2442c40' \
	's/phys 0x2441c40/phys 0x2442c40/'
refused pagedet-cookbook.7 "a wrong command is seen" 'status 64' \
	's/pagedet --from/pagedet --form/'
refused pagedet-cookbook.7 "a block without an end is seen" 'no end' '/@end/d'
refused pagedet-cookbook.7 "lines that are not there are seen" 'lines' \
	's/@run 1-4,12-/@run 99/'

tap_done
