#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what kmem blame refuses; tests/live/kmem plants what holds blocks.
. "$top_srcdir/tests/cli/cli.sh"

trace=$top_srcdir/tests/fixtures/traces/raw-6.18-x86_64
hashed=$trace/trace.txt.zst

run kmem blame "$trace"
if [ "$status" = 77 ] || [ "$status" = 69 ]; then
	tap_run 'no source: it says why' grep -q 'needs CAP\|cannot read' \
		"$tap_dir/stderr"
else
	expect 'another boot is not blamed' 65 'is not known to be of the kernel'
	tap_run 'another boot: how to ask all the same' grep -q \
		'^pagedet: hint: --now asks that kernel all the same' \
		"$tap_dir/stderr"
	tap_run 'nothing is written' test ! -s "$tap_dir/stdout"
	run kmem blame "$hashed" --now
	[ "$status" = 69 ] || {
		expect 'hashed addresses' 65 'does not tell'
		tap_fails 'hashed addresses: --now would not help' \
			grep -q 'hint: --now' "$tap_dir/stderr"
	}
	run kmem blame "$trace" --now --deadline 0.000000001
	expect 'a part of the trace blames nobody' 2 'the deadline passed'
	tap_run 'a part of the trace: nothing is written' \
		test ! -s "$tap_dir/stdout"
	run kmem blame "$trace" --now 0xffffffffffff
	expect 'a page that is not there' 64 'there is no page'
fi

run kmem blame
expect 'no trace' 64 'lacks a trace'
run kmem blame "$trace" 1 2
expect 'too many words' 64 'too many'
run kmem blame "$trace" nothing
expect 'not a page' 64 nothing
run kmem blame "$trace" --sort pages
expect 'it has its own order' 64 '--sort has no meaning'
run kmem blame "$trace" --by block,nothing
expect 'not a key' 64 nothing
run kmem blame "$trace" --by block --flame "$tap_dir/x.svg"
expect 'no picture' 64 '--flame has no meaning'
run kmem blame "$trace" --text-only
expect 'it asks' 64 '--text-only has no meaning'
run --from live kmem blame "$trace"
expect 'names of the running kernel' 64 '--from takes a dump'
run --from "$trace" kmem blame "$trace" --kallsyms "$trace/kallsyms"
expect 'names of both' 64 'from --from or from --kallsyms'
tap_done
