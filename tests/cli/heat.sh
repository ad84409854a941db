#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the fields that DAMON tells, on this machine, whether or not DAMON runs.
# It is never started or changed. What its events mean is tested by
# tests/unit/heat.
. "$top_srcdir/tests/cli/cli.sh"

admin=/sys/kernel/mm/damon/admin/kdamonds
instances=/sys/kernel/tracing/instances

# Nothing where DAMON was never set up.
settings() {
	cat "$admin"/*/state "$admin"/*/pid "$admin"/*/contexts/*/operations \
		"$admin"/*/contexts/*/monitoring_attrs/intervals/*_us \
		2> /dev/null || :
}
ours() {
	ls "$instances" 2> /dev/null | grep "^pagedet-kmem-.*-$1\$"
}

# listens_or_ended PID
listens_or_ended() {
	ours "$(printf %08x "$1")" || tap_ended "$1"
}

for time in 0 x -1; do
	run virt self --heat-for $time
	expect "not for $time seconds" 64 '--heat-for: '
done

# Without the question nobody listens, which would take a second at least.
run virt self --fields all --limit 1 --json
tap_run 'not in "all"' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert rows
for row in rows:
    assert not [f for f in row if f.startswith("heat")], row
    assert "heat" not in row.get("missing", {}), row
EOT

"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$tap_dir/root"
run --root "$tap_dir/root" page 5 --fields pfn,heat --json
tap_run 'a captured tree has no DAMON' grep -q '"heat":"unsupported"' \
	"$tap_dir/stdout"

# What a recorder that is dead has left is removed by the next one.
tap_lock kmem

settings > "$tap_dir/before"
run task $$ --fields pfn,vaddr,flags,time_ns,damon --json
settings > "$tap_dir/after"
tap_run 'DAMON is as before' cmp "$tap_dir/before" "$tap_dir/after"

cat > "$tap_dir/rows.py" <<'EOT'
import json
import sys

rows = [json.loads(line) for line in open(sys.argv[1])]
why = {row.get("missing", {}).get("heat") for row in rows} - {None}
told = [row for row in rows if row.get("heat") is not None]
assert rows
for row in rows:
    assert ("heat" in row) != ("heat" in row.get("missing", {})), row
    # DAMON does not look at these pages.
    if row.get("pfn") is not None and "lru" not in row["flags"]:
        assert row.get("heat") is None, row
for row in told:
    checks = row.get("heat_checks")
    assert checks is None or row["heat"] <= checks, row
    assert row["heat_bytes"] >= 4096, row
    assert row["heat_ns"] <= row["time_ns"] + 10 ** 9, row
    assert row["heat_ns"] > row["time_ns"] - 300 * 10 ** 9, row
print("%d rows, %d told, else %s" % (len(rows), len(told), why))
if not told:
    print("reason " + " ".join(sorted(why)))
EOT
tap_run 'each row has an answer or a reason' sh -c \
	'python3 "$1" "$2" > "$3"' sh "$tap_dir/rows.py" "$tap_dir/stdout" \
	"$tap_dir/said"
reason=$(sed -n 's/^reason //p' "$tap_dir/said")

case $reason in
*no_kernel*)
	run page 1 --fields heat --json
	expect 'nobody can tell it' 2 'heat'
	run page 1 --fields heat
	tap_run 'says what is missing' grep -q 'needs DAMON' "$tap_dir/stdout" \
		"$tap_dir/stderr"
	tap_skip 'DAMON says it' "DAMON does not run here"
	;;
*no_access*)
	tap_skip 'DAMON says it' "the tracepoint needs root"
	;;
'')
	run scan --by heat --json
	tap_run 'groups of pages' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert len(rows) > 1 and "total" in rows[-1], rows
assert sum(row["pages"] for row in rows[:-1]) == rows[-1]["total"]["pages"]
EOT
	run scan --where 'kind=slab and heat>=0' --summary --json
	tap_run 'none of a slab' python3 - "$tap_dir/stdout" <<'EOT'
import json
import sys
total = json.loads(open(sys.argv[1]).read().splitlines()[-1])["total"]
assert total["pages"] == 0 and total["undecided"] > 0, total
EOT
	run page 1 --fields heat --deadline 0.1
	tap_run 'a deadline ends it' [ "$status" -eq 2 ]
	;;
*)
	tap_skip 'DAMON says it' "here: $reason"
	;;
esac

# What is killed leaves an instance, which the next one removes.
if [ -z "$reason" ]; then
	"$PAGEDET" page 1 --fields heat > /dev/null 2>&1 8>&- &
	child=$!
	wait $child || :
	tap_fails 'no instance is left' ours "$(printf %08x $child)"
	# It may end before it is seen.
	for _ in $(seq 50); do
		"$PAGEDET" page 1 --fields heat --heat-for 60 > /dev/null 2>&1 \
			8>&- &
		child=$!
		tap_wait listens_or_ended $child || :
		kill -9 $child 2> /dev/null || :
		wait $child 2> /dev/null || :
		! ours "$(printf %08x $child)" > /dev/null || break
	done
	tap_run 'one that is killed leaves an instance' ours \
		"$(printf %08x $child)"
	run page 1 --fields heat
	tap_fails 'nothing is left of one that was killed' ours \
		"$(printf %08x $child)"
fi
tap_done
