#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that a field has the same answer alone and beside others, for each
# available source, with random sets of fields and one thread or two. PDET_SEED
# repeats a run.
. "$top_srcdir/tests/cli/cli.sh"

fields=$top_builddir/tests/cli/fields
seed=${PDET_SEED:-$(od -An -N 3 -t u4 /dev/urandom | tr -d ' ')}
echo "# PDET_SEED=$seed"

# alike NAME ARGUMENTS...: runs as many sets as a short time allows
alike() {
	alike_name=$1
	shift
	tap_run "$alike_name" "$fields" -s "$seed" -n "${PDET_ROUNDS:-15}" "$@"
}

# live SOURCE TARGET: queries the running kernel; SOURCE may be "all"
live() {
	live_source=
	[ "$1" = all ] || live_source="-b $1"
	# shellcheck disable=SC2086
	if "$fields" -n 0 $live_source own > "$tap_dir/why" 2>&1; then
		alike "live, $1: $2" $live_source "$2"
	else
		tap_skip "live, $1: $2" "$(tr '\n' ' ' < "$tap_dir/why")"
	fi
}

for machine in cli-machine cli-mapped; do
	"$top_builddir/tests/fixtures/mkproc" \
		"$top_srcdir/tests/golden/$machine.scenario" "$tap_dir/$machine"
	alike "$machine: kinds of pages" -r "$tap_dir/$machine" kinds
	alike "$machine: a scan" -r "$tap_dir/$machine" scan
done

# reports of kernels of several ages, alone and mixed
fixtures=$top_srcdir/tests/fixtures
logs="$fixtures/dump_page/6.12.117.log"
for report in 01-two-badmaps-interleaved 03-tail-that-fits-no-folio \
	05-negative-count 09-compound-of-5.4 11-why-was-it-dumped; do
	logs="$logs $fixtures/public-reports/$report/log.txt"
done
for log in $logs; do
	name=${log#"$fixtures"/}
	alike "$name: its text" -r "$tap_dir/cli-machine" text "$log"
	alike "$name: and a machine" -r "$tap_dir/cli-machine" log "$log"
done
gzip -dc "$fixtures/page_owner/6.12.117.txt.gz" | sed 2000q > "$tap_dir/owners"
alike 'a text of page_owner' -f "$tap_dir/owners" scan

dumps=$top_builddir/tests/dumps
if [ -x "$dumps/mkkernel" ]; then
	"$dumps/mkkernel" "$tap_dir/elf" > "$tap_dir/why"
	"$PAGEDET" --from "$tap_dir/elf" --fields all -q \
		snapshot "$tap_dir/saved"
	alike 'a dump: kinds of pages' -f "$tap_dir/elf" kinds
	PDET_ROUNDS=3 alike 'a dump: a scan' -f "$tap_dir/elf" scan
	alike 'a snapshot' -f "$tap_dir/saved" kinds
	alike 'a log and a dump' -f "$tap_dir/elf" log \
		"$fixtures/dump_page/6.12.117.log"
else
	tap_skip 'a dump' 'needs libcheck'
fi
for source in all procfs bpf kcore; do
	live $source own
	live $source own-virt
done
live all own-file
live procfs own-file
tap_done
