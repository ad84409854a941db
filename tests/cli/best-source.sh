#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests which source answers if the user names none. For all memory it is the
# kernel's own memory, if readable. For one page it is /proc, and memory only
# for what /proc leaves open. If memory may not be read, one line says what
# would help.
. "$top_srcdir/tests/cli/cli.sh"

# blind ARGUMENTS...: as run, without the capabilities that give access to
# kernel memory
without_caps=-bpf,-perfmon,-sys_admin
blind() {
	status=0
	setpriv --bounding-set "$without_caps" --inh-caps "$without_caps" \
		"$PAGEDET" "$@" > "$tap_dir/stdout" 2> "$tap_dir/stderr" ||
		status=$?
}

# unknown: prints, in hundredths of a percent, the last run's pages of unknown
# kind. Free pages in the lists of processors are left out: the kernel counts
# but does not mark them, and a build may leave many.
unknown() {
	python3 -c '
import json, sys
kept = sum(int(line.split()[1]) for line in open("/proc/zoneinfo")
           if line.split()[0] == "count:")
rows = [json.loads(line) for line in open(sys.argv[1])]
pages = {row.get("kind"): row["pages"] for row in rows if "total" not in row}
print(max(pages.get("unknown", 0) - kept, 0) * 10000 // sum(pages.values()))' \
		"$tap_dir/stdout"
}

if [ "$(id -u)" != 0 ] || ! dd if=/proc/kpageflags of=/dev/null bs=8 count=1 \
	2> /dev/null; then
	tap_skip 'the best source' 'page frame numbers are hidden'
	tap_done
fi

# --- the kernel's memory can be read ---

run doctor --json
if grep -E '"field":"refcount","source":"(bpf|kcore)","can":true' \
	"$tap_dir/stdout" > /dev/null; then
	run scan --summary --json
	expect 'all of memory' 0
	tap_run 'less than 2 % of it is unknown' \
		test "$(unknown)" -lt 200
	run scan --json -v --fields kind,flags,mapcount --where 'pfn<65536'
	tap_run 'all that is said of a page is from its memory' awk '
		!/"kind":"(bpf|kcore)","flags":"(bpf|kcore)"/ { bad = 1 }
		END { exit bad || !NR }' \
		"$tap_dir/stdout"
	run map -o "$tap_dir/map.svg"
	expect 'a picture' 0
	# Who may not look into every process, but into memory, is not told
	# that a privilege is missing.
	run scan --where kind=reserved --limit 1 --json --fields pfn
	pfn=$(sed -n 's/^{"pfn":\([0-9]*\)}$/\1/p' "$tap_dir/stdout")
	without_caps=-sys_ptrace
	blind page "$pfn" --fields user_maps --json --backend procfs
	expect 'not all processes may be read: what would help' 2 CAP_SYS_PTRACE
	blind page "$pfn" --fields user_maps --json
	without_caps=-bpf,-perfmon,-sys_admin
	expect 'not all processes may be read: user_maps' 0
	stdout_is 'not all processes may be read: memory shows who maps it' \
		'{"user_maps":0}'
	# has_kind PFN: whether the page has still a kind that /proc does not know
	has_kind() {
		run scan --where "pfn=$1 and (kind=kernel or kind=uninit)" -q
		[ "$status" = 0 ]
	}
	# until it is not freed meanwhile
	stays=
	for try in 1 2 3 4 5; do
		run scan --where 'kind=kernel or kind=uninit' --json --fields pfn
		# The last one: memory is initialised and allocated from below.
		pfn=$(sed -n '$s/[^0-9]//gp' "$tap_dir/stdout")
		[ -n "$pfn" ] || break
		run page "$pfn" --json -v --backend procfs
		cp "$tap_dir/stdout" "$tap_dir/by_files"
		# Before and after, because it may come and go.
		if has_kind "$pfn"; then
			run page "$pfn" --json -v
			cp "$tap_dir/stdout" "$tap_dir/by_all"
			said=$status
			! has_kind "$pfn" || stays=1
		fi
		[ -z "$stays" ] || break
		echo "# page $pfn has become another one"
	done
	if [ "$stays" ]; then
		tap_run 'a page of which /proc knows no kind' \
			grep '"kind":"unknown"' "$tap_dir/by_files"
		tap_run 'such a page: status' test "$said" = 0
		sed 's/^/# /' "$tap_dir/by_all"
		tap_run 'memory says what it is' grep -E \
			'"kind":"(kernel|uninit)".*"kind":"(bpf|kcore)","flags":"(bpf|kcore)"' \
			"$tap_dir/by_all"
	else
		tap_skip 'memory says what it is' 'there is no such page that stays'
	fi
	# A stable page of this process: no source is open, and no other one is
	# asked.
	sleep 1000 &
	pid=$!
	trap 'kill "$pid" 2> /dev/null; rm -rf "$tap_dir"' EXIT
	tap_wait grep -qx sleep "/proc/$pid/comm"
	run task "$pid" --where 'vma_name=[stack]' --json --fields pfn
	pfn=$(sed -n '1s/[^0-9]//gp' "$tap_dir/stdout")
	run page "$pfn" --json -v
	stdout_has 'a page of a process' '"kind":"anon"'
	tap_run 'is known by /proc alone' sh -c \
		'! grep -E "\"(bpf|kcore)\"" "$1"' sh "$tap_dir/stdout"

	# --- a large file: its pages are found without an access ---
	large=$tap_dir/large
	truncate -s 1G "$large"
	for place in 0 1 2 63 64 4095 4096 70000 262143; do
		head -c 4096 /dev/urandom | dd of="$large" bs=4096 \
			seek="$place" conv=notrunc 2> /dev/null
	done
	run file "$large" --all --json -v
	if grep -q '"pfn":"bpf"' "$tap_dir/stdout"; then
		tap_run 'a large file: nothing was mapped to see it' sh -c \
			'! grep -q perturbed "$1"' sh "$tap_dir/stdout"
		# A page may move between both queries.
		for round in 1 2 3 4 5; do
			"$PAGEDET" file "$large" --json \
				--fields index,pfn,kind,path > "$tap_dir/memory"
			"$PAGEDET" file "$large" --json --backend procfs \
				--fields index,pfn,kind,path > "$tap_dir/files"
			! cmp -s "$tap_dir/memory" "$tap_dir/files" || break
		done
		tap_run "a large file: the same pages as by /proc (round $round)" \
			diff "$tap_dir/memory" "$tap_dir/files"
		tap_run 'a large file: all of its pages' test \
			"$(wc -l < "$tap_dir/memory")" -eq 9
		run file "$large" --where 'index>=64' --by flags --json
		tap_run 'a large file: a part of them' grep -q \
			'"total":{"pages":5,' "$tap_dir/stdout"
	else
		tap_skip 'a large file' 'its pages are not found in memory here'
	fi
	rm -f "$large"

	# --- a large process ---
	python3 -c '
import time
memory = bytearray(300 << 20)
print("ready", flush=True)
time.sleep(600)' > "$tap_dir/ready" &
	large=$!
	trap 'kill $pid $large 2> /dev/null || :; rm -rf "$tap_dir"' EXIT
	tap_wait test -s "$tap_dir/ready"
	run task "$large" --json -v --fields vaddr,pfn,flags
	tap_run 'a large process: what its pages are is from memory' grep -qE \
		'"flags":"(bpf|kcore)"' "$tap_dir/stdout"
	# anonymous NAME OPTION...: writes its pages into a file of that name,
	# without the idle flag, which DAMON sets at any time
	anonymous() {
		name=$1
		shift
		"$PAGEDET" task "$large" --json --fields vaddr,pfn,flags \
			--where flags:anon "$@" |
			sed 's/"idle",//; s/,"idle"//' > "$tap_dir/$name"
	}
	for round in 1 2 3 4 5; do
		anonymous memory
		anonymous files --backend procfs
		! cmp -s "$tap_dir/memory" "$tap_dir/files" || break
	done
	tap_run "a large process: the same pages as by /proc (round $round)" \
		sh -c 'test -s "$1" && diff "$1" "$2"' sh "$tap_dir/memory" \
		"$tap_dir/files"
	kill "$large"
	large=
else
	tap_skip 'less than 2 % of memory is unknown' \
		"the kernel's memory cannot be read here"
fi

# --- memory may not be read ---

if ! command -v setpriv > /dev/null ||
	! setpriv --bounding-set "$without_caps" true 2> /dev/null; then
	tap_skip 'what would help' 'capabilities cannot be dropped'
	tap_done
fi
blind doctor --json
if grep -E '"field":"refcount","source":"(bpf|kcore)","can":true' \
	"$tap_dir/stdout" > /dev/null; then
	tap_skip 'what would help' 'memory can be read without privilege'
	tap_done
fi
tap_run 'doctor answers him' grep -q '"field":"pfn","source":"bpf","can":false' \
	"$tap_dir/stdout"
tap_run 'doctor: who cannot read memory knows no numbers' sh -c \
	'! grep -E "\"field\":\"pfn\",\"source\":\"(bpf|kcore)\",\"can\":true" "$1"' \
	sh "$tap_dir/stdout"
blind scan --summary --json
if [ "$status" = 0 ]; then
	expect 'what would help' 0 "pages of kind 'unknown'"
	tap_run 'in one line' test "$(wc -l < "$tap_dir/stderr")" = 1
	blind scan --summary --json -q
	expect 'nothing with -q' 0
	blind scan --summary --json --backend procfs
	expect 'nothing where /proc was asked for' 0
else
	tap_skip 'what would help' 'the files of /proc are closed as well'
fi
tap_done
