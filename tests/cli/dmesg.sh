#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests how many records of the kernel's log are listed.
. "$top_srcdir/tests/cli/cli.sh"

run dmesg --json
[ "$status" = 0 ] && [ "$(wc -l < "$tap_dir/stdout")" -gt 3 ] || {
	tap_skip 'the log' 'it cannot be read here, or is short'
	tap_done
}
for bound in --limit --top; do
	run dmesg --json $bound 3
	expect "$bound" 0
	tap_run "$bound: so many" test "$(wc -l < "$tap_dir/stdout")" = 3
done
run dmesg --limit 1
expect 'as text' 0
run dmesg --sort text
expect 'the order is that of time' 64 "'dmesg' takes no --sort"
run dmesg --format csv
expect 'not as CSV' 64 '--format must be text or json'
tap_done
