#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what --verify asks and does not ask. The captures are of other boots, so
# that nothing of them may be called in use or free; tests/live/kmem verifies
# traces of this boot.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
trace=$traces/raw-6.18-x86_64

run kmem report "$trace" --json
tap_run 'without it' test "$status" = 0
tap_run 'without it there are no such numbers' \
	test "$(grep -c verif "$tap_dir/stdout")" = 0
tap_run 'but advice' grep -q 'may be less: --verify asks' "$tap_dir/stderr"

run kmem report "$trace" --verify --json
if [ "$status" -gt 2 ]; then
	tap_run 'no source: it says why' grep -q 'needs CAP\|cannot read' \
		"$tap_dir/stderr"
else
	tap_run 'another boot: the reason' \
		grep -q 'what its objects are now is not shown' "$tap_dir/stderr"
	tap_run 'another boot: nothing is known' python3 - "$tap_dir/stdout" <<'PY'
import json
import sys

with open(sys.argv[1]) as f:
    rows = [json.loads(line) for line in f]
rows[-1] = rows[-1]["total"]
assert rows[-1]["live"]
for r in rows:
    assert r["unverified"] == r["live"], r
    assert not r["verified_live"] and not r["verified_live_bytes"], r
    assert not r["verified_free"], r
PY
	tap_run 'another boot: of how many' \
		grep -qE '0 of [0-9]+ live objects and .* are in use, .*; 0 are free' \
		"$tap_dir/stderr"
	run kmem report "$trace" --verify --json --where 'unverified=0'
	live=$(sed -n 's/.*"total".*"live":\([0-9]*\).*/\1/p' "$tap_dir/stdout")
	tap_run 'another boot: a filter knows that' test "$live" = 0
	run kmem report "$trace" --verify --json --where \
		'verified_live=0 and unverified>0'
	tap_run 'another boot: and what it does not know' grep -q \
		'"total".*"groups":0,.*"undecided":[1-9]' "$tap_dir/stdout"
	run kmem report "$trace" --verify --sort -unverified --limit 2
	tap_run 'the table has the numbers' grep -q \
		'verified_live verified_live_bytes verified_free unverified' \
		"$tap_dir/stdout"
	run kmem report "$traces/raw-6.18-x86_64/trace.txt.zst" --verify --now
	[ "$status" = 69 ] || tap_run 'hashed addresses are never asked' \
		grep -q 'its addresses are hashed' "$tap_dir/stderr"
	run kmem live "$trace" --verify --json
	expect 'live: what is not known is counted' 2 \
		'undecided: whether it is in use is not known'
	tap_fails 'live: no --where was given' grep -e --where "$tap_dir/stderr"
	run kmem live "$trace" --verify --where 'alloc_bytes>0'
	expect 'live: either filter' 2 \
		'whether it is in use, or a value that --where tests'
	tap_run 'live: and it is not listed' \
		test "$(grep -c alloc_site "$tap_dir/stdout")" = 0
	run kmem report "$trace" --verify --deadline 0.000000001
	expect 'a deadline' 2 'the deadline passed'
fi

# --- what has no meaning ---

run kmem live "$trace" --verify --text-only
expect 'asks no kernel' 64 '--text-only does not'
run kmem diff "$trace" "$trace" --verify
expect 'diff' 64 '--before OLD --verify'
run kmem record --verify
expect 'record' 64 'verifies only the live objects of --totals'
run kmem report "$trace" --now
expect '--now alone' 64 '--now has no meaning'
run scan --verify
expect 'another command' 64 '--verify'
tap_done
