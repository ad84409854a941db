#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests explain and its exit status with the small machine, with evidence from
# another host, and with the running kernel.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"

# explains NAME STATUS FINDING CONFIDENCE ARGUMENTS...: checks its first finding
explains() {
	explains_name=$1
	explains_status=$2
	explains_finding=$3
	explains_confidence=$4
	shift 4
	run --root "$root" --json explain "$@"
	expect "$explains_name: status" "$explains_status"
	stdout_has "$explains_name" "{\"finding\":\"$explains_finding\","
	stdout_has "$explains_name: how sure" \
		"\"confidence\":\"$explains_confidence\""
}

# --- a page ---

explains 'a free page' 1 page-free certain page 288
explains 'a hole' 1 no-page certain page 287999
explains 'a mapped page' 0 mapped certain page 256
stdout_has 'a mapped page: by whom' '{"field":"mapper_pid","value":12,'
stdout_has 'a mapped page: its number' '"pfn":256}'
stdout_has 'a mapped page: the command has its number' \
	"\"advice\":\"'pagedet --root $root mappers 256' lists them\""
run --root "$root" explain 256
stdout_has 'for people: the command has its number' \
	"what to do: 'pagedet --root $root mappers 256' lists them"
run --root "$root" --format csv explain 256
stdout_has 'CSV: the command has its number' "'pagedet --root $root mappers 256' lists them"
explains 'a page of slab' 0 slab certain page 304
stdout_has 'a page of slab: its cache is unknown' '"unknown":["which cache'
explains 'a reserved page' 0 reserved certain page 0
explains 'pins, which /proc does not know' 2 pin-unknown none \
	page 256 --why pinned
stdout_has 'what would tell' '"unknown":["its references and pins'
explains 'a slab page cannot be moved' 0 kernel-stays certain \
	page 304 --why migrate
explains 'a page that is mapped is no leak' 1 has-a-user certain \
	page 256 --why leak
explains 'who is charged' 1 charged certain page 256 --why charge
run --root "$root" --json explain page 256 --why free,pinned,leak
stdout_has 'several questions: the first' '"finding":"mapped"'
stdout_has 'several questions: the second' '"finding":"pin-unknown"'
stdout_has 'several questions: the third' '"finding":"has-a-user"'
run --root "$root" --json explain page 256 --why free,pinned,leak
before=$status
for bound in --limit --top; do
	run --root "$root" --json explain page 256 --why free,pinned,leak \
		$bound 1
	expect "$bound: the same status" "$before"
	tap_run "$bound: so many findings" \
		test "$(wc -l < "$tap_dir/stdout")" = 1
	stdout_has "$bound: the first ones" '"finding":"mapped"'
done
run --root "$root" explain page 304
stdout_has 'for people: the cause' \
	"pfn 304 (0x130): it is for objects of the kernel's slab allocator"
stdout_has 'for people: what to do' '  what to do: see /proc/slabinfo'
run --root "$root" --format csv explain page 288+2
expect 'a range' 1
stdout_has 'a range: CSV' '1,289,,,page-free,certain,the page is free,"",nothing,0'

# --- a page that the kernel reported as bad ---

cat > "$tap_dir/bad.log" << 'END'
[    0.000000] Linux version 6.12.1 (a@b) (gcc) #1 SMP
[   12.000001] BUG: Bad page state in process modprobe  pfn:81a09
[   12.000002] page: refcount:0 mapcount:1 mapping:0000000000000000 index:0x7 pfn:0x81a09
[   12.000003] flags: 0xfff00000000014(referenced|dirty|node=0|zone=1|lastcpupid=0x7ff)
[   12.000004] raw: 00fff00000000014 dead000000000100 dead000000000122 0000000000000000
[   12.000005] raw: 0000000000000007 0000000000000000 0000000000000000 0000000000000000
[   12.000006] page dumped because: nonzero mapcount
[   12.000007] CPU: 1 PID: 99 Comm: modprobe Not tainted 6.12.1 #1
END
run --from "$tap_dir/bad.log" --json explain page 0x81a09
if [ "$status" = 66 ] || [ "$status" = 69 ]; then
	tap_skip 'a page that the kernel reported as bad' 'logs are not built'
else
	expect 'a page that the kernel reported as bad' 0
	stdout_has 'a bad page: why is said first' '{"finding":"bad-page","cause":"bad page state: nonzero mapcount; '
	stdout_has 'a bad page: when, and its flags' '"field":"event_ns"'
	stdout_has 'a bad page: its flags' '"value":["referenced","dirty"'
	run --from "$tap_dir/bad.log" explain page 0x81a09
	tap_run 'a bad page: why is in the first line' sh -c \
		"head -n 1 '$tap_dir/stdout' |
			grep -q '): bad page state: nonzero mapcount'"
fi
# No source has read a log of the small machine.
run --root "$root" --json explain page 304 --why leak
tap_fails 'no log: it is not said that there is no report' \
	grep -q 'no report' "$tap_dir/stdout"

# --- without privilege ---

if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null &&
	tap_is_open "$top_builddir"; then
	chmod 755 "$tap_dir"
	chmod 0 "$root/proc/kpageflags" "$root/proc/kpagecount"
	status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" \
		--root "$root" explain 256 > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" < /dev/null || status=$?
	expect 'without privilege' 2
	stdout_has 'without privilege: what to do' 'what to do: run it as root'
	chmod 644 "$root/proc/kpageflags" "$root/proc/kpagecount"
	# A page of a file that is cached, but whose number is hidden.
	chmod 755 "$tap_dir"
	echo text > "$tap_dir/own"
	chown 65534 "$tap_dir/own"
	status=0
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" \
		explain "$tap_dir/own" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" < /dev/null || status=$?
	expect 'a hidden page frame number: what it needs' 77 CAP_SYS_ADMIN
	rm "$tap_dir/own"
	# A privilege does not help where the kernel has no page_owner.
	run stack 1000
	if grep -q 'built without' "$tap_dir/stderr"; then
		mv "$tap_dir/stderr" "$tap_dir/root-says"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" \
			stack 1000 2> "$tap_dir/stderr" < /dev/null || :
		tap_run 'no page_owner: a user is told what root is told' \
			cmp "$tap_dir/root-says" "$tap_dir/stderr"
	fi
else
	tap_skip 'without privilege' 'needs root, and setpriv'
fi

# --- a mismatch ---

run --root "$root" --json explain mismatch 12 7f0000000000
expect 'nothing is known of the peer' 2
stdout_has 'nothing is known of the peer: said' '"finding":"mismatch-unknown"'
stdout_has 'nothing is known of the peer: so not even that' \
	'"cause":"cannot tell whether the contents differ"'
stdout_has 'nothing is known of the peer: named' '"the hash at the peer"'
run --root "$root" explain mismatch 12 7f0000000000+8192 --save "$tap_dir/peer"
expect 'evidence is written' 0
# the peer lacks contents that are here
sed 's/^map 12 0x7f0000001000.*//' \
	"$top_srcdir/tests/golden/cli-machine.scenario" > "$tap_dir/less"
"$top_builddir/tests/fixtures/mkproc" "$tap_dir/less" "$tap_dir/other"
run --root "$tap_dir/other" explain mismatch 12 7f0000000000+8192 \
	--save "$tap_dir/lacks"
expect 'evidence of the peer is written' 0
run --root "$root" --json explain mismatch 12 7f0000000000+8192 \
	--peer "$tap_dir/lacks"
stdout_has 'a page that is missing at the peer' '"finding":"missing-at-peer"'
stdout_has 'where it is' '"vaddr":"0x7f0000001000"'
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/peer"
expect 'evidence of other pages' 65 'has evidence of 2 pages, not of 1'
head -c 100 "$tap_dir/peer" > "$tap_dir/cut"
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/cut"
expect 'evidence that is cut off' 65 'cannot read evidence: it is cut off'
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/less"
expect 'a file that is not evidence' 65 'cannot read evidence: it is not evidence'
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/nowhere"
expect 'no such file' 66 'cannot read'

run --root "$root" explain mismatch 12 7f0000000000+8192 --json \
	--peer "$tap_dir/lacks" --alternatives
stdout_has 'alternatives: what excludes one' \
	'so that nothing is missing","state":"not looked at","why":"whether'
run --root "$root" explain mismatch 12 7f0000000000+8192 \
	--peer "$tap_dir/lacks" --alternatives
stdout_has 'alternatives: in words' '    zero-here not looked at: whether'
run --root "$root" explain mismatch 12 7f0000000000+8192 --format csv \
	--peer "$tap_dir/lacks" --alternatives
expect 'alternatives: not as CSV' 64 'cannot be written as CSV'

# --- meaningless input ---

run explain
expect 'without words' 64 'lacks arguments'
run explain fun 1
expect 'something else' 64 "'fun' is not page, mismatch or crash, a page frame"
run explain page 1 --why fun
expect 'no such question' 64 "'fun' is not free"
run explain mismatch 12 0 --why free
expect 'a question of the other kind' 64 'option of'
run explain page 1 --peer x
expect 'a peer of a page' 64 'option of'
run explain mismatch 12 0 --sent 1
expect 'a hash under no key' 64 'needs --hash-key'
run page 1 --why free
expect 'an option of explain alone' 64 "option of 'explain'"

# --- the running kernel ---

if [ "$(id -u)" = 0 ] && dd if=/proc/kpageflags of=/dev/null bs=8 count=1 \
	2> /dev/null; then
	address=$(sed -n 's/^\([^-]*\)-.* r-xp .*/\1/p' "/proc/$$/maps" |
		head -n 1)
	pfn=$(run virt $$ "$address" --json --fields pfn
		sed 's/[^0-9]//g' "$tap_dir/stdout")
	run --json --backend procfs explain page "$pfn"
	expect 'code of this shell' 0
	stdout_has 'code of this shell is mapped' '"finding":"mapped"'
	run --backend procfs explain --file "$PAGEDET" --why pinned,reclaim
	stdout_has 'of a file: the same source for one page' \
		'for example: pagedet --backend procfs explain '
	stdout_has 'of a file: the same question' ' --why pinned,reclaim'
	run --json --backend procfs explain page "$pfn" --why pinned
	expect 'pins are not in /proc' 2
	shm=$(mktemp /dev/shm/pagedet-explain.XXXXXX 2> /dev/null) || shm=
	if [ "$shm" ] && [ "$(stat -f -c %T "$shm")" = tmpfs ]; then
		head -c 8192 /dev/zero > "$shm"
		run --backend procfs explain "$shm"
		expect 'a file on tmpfs' 0
		stdout_has 'a file on tmpfs: no disk has it' \
			'no disk has it, so it stays in memory or swap until'
	else
		tap_skip 'a file on tmpfs' '/dev/shm is not a tmpfs for us'
	fi
	rm -f "$shm"
else
	tap_skip 'code of this shell' 'page frame numbers are hidden'
fi
tap_done
