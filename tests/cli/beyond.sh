#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests who maps frames behind the end of memory: a long range is one question.
. "$top_srcdir/tests/cli/cli.sh"

# asked ARGUMENTS...: the same; frame by frame, it would take hours
asked() {
	status=0
	timeout 300 "$PAGEDET" mappers "$@" --json --fields pid \
		> "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null ||
		status=$?
}

first=$((0x200000000))
for backend in procfs bpf kcore; do
	if ! "$PAGEDET" task $$ --backend $backend -q > /dev/null 2>&1; then
		tap_skip "$backend" 'it cannot be read here'
		continue
	fi
	asked $first+0x40000000 --backend $backend
	if [ "$(id -u)" != 0 ] && [ "$status" = 77 ]; then
		tap_skip "$backend" 'tasks may not be read'
		continue
	fi
	tap_run "$backend: 4 TiB: not found, or unsure" \
		test "$status" = 1 -o "$status" = 2
	stdout_has "$backend: 4 TiB: one summary" \
		"{\"pfn\":$first,\"more\":1073741823,"
	tap_run "$backend: 4 TiB: no other" \
		test "$(wc -l < "$tap_dir/stdout")" = 1
	status=0
	timeout 300 "$PAGEDET" mappers $first+0x40000000 --backend $backend \
		> "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null ||
		status=$?
	tap_run "$backend: it is told that there is no memory" \
		grep -q 'there is no memory at this page frame' "$tap_dir/stderr"
	# Items that overlap, in any order.
	asked $((first + 5)) $((first + 0xfffff))+2 $first+0x100000 \
		--backend $backend
	stdout_has "$backend: items that overlap: the longest" \
		"{\"pfn\":$first,\"more\":1048575,"
	tap_run "$backend: items that overlap: what another one has more" \
		grep -q "^{\"pfn\":$((first + 0x100000)),\"[fe]" \
		"$tap_dir/stdout"
	tap_run "$backend: items that overlap: nothing is told twice" \
		test "$(grep -c '^{"pfn":' "$tap_dir/stdout")" = 2
	# A few are told one by one.
	asked $first+3 --backend $backend
	tap_run "$backend: a few frames" \
		test "$(grep -c '^{"pfn":' "$tap_dir/stdout")" = 3
done

# --- device memory behind what kpageflags has ---

cat > "$tap_dir/device" << END
pages 16
task 10
iomem 0 00000000-0000ffff System RAM
iomem 0 100000000-101ffffff Persistent Memory
END
"$top_builddir/tests/fixtures/mkproc" "$tap_dir/device" "$tap_dir/root"
run --root "$tap_dir/root" mappers 0x100000+0x2000 -q --json --fields pid
tap_run 'device memory: each frame is one' \
	test "$(grep -c '^{"pfn":' "$tap_dir/stdout")" = $((0x2000))
run --root "$tap_dir/root" mappers 0x100000+0x2000
tap_fails 'device memory: there is memory' \
	grep -q 'there is no memory at this page frame' "$tap_dir/stderr"
run --root "$tap_dir/root" mappers 0x102000+0x2000
tap_run 'behind device memory there is none' \
	grep -q 'there is no memory at this page frame' "$tap_dir/stderr"

tap_done
