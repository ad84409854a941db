#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# What explain says of the small machine, of evidence that somebody sent, and
# of the running kernel; and its exit status.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"

# explains NAME STATUS FINDING CONFIDENCE ARGUMENTS...: its first finding
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
run --root "$root" explain page 304
stdout_has 'for people: the cause' \
	"pfn 304 (0x130): objects of the kernel's slab allocator are in it"
stdout_has 'for people: what to do' '  what to do: see /proc/slabinfo'
run --root "$root" --format csv explain page 288+2
expect 'a range' 1
stdout_has 'a range: CSV' '1,289,,,page-free,certain,the page is free,"",nothing,0'

# --- a mismatch ---

run --root "$root" --json explain mismatch 12 7f0000000000
expect 'nothing is known of the peer' 2
stdout_has 'nothing is known of the peer: said' '"finding":"mismatch-unknown"'
stdout_has 'nothing is known of the peer: so not even that' \
	'"cause":"cannot tell whether the contents differ"'
stdout_has 'nothing is known of the peer: named' '"the hash at the peer"'
run --root "$root" explain mismatch 12 7f0000000000+8192 --save "$tap_dir/peer"
expect 'evidence is written' 0
# the peer lacks what is there here
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
expect 'evidence of other pages' 65 'is about 2 pages, and here are 1'
head -c 100 "$tap_dir/peer" > "$tap_dir/cut"
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/cut"
expect 'evidence that is cut off' 65 'cannot read evidence: it is cut off'
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/less"
expect 'a file that is no evidence' 65 'cannot read evidence: it is none'
run --root "$root" explain mismatch 12 7f0000000000 --peer "$tap_dir/nowhere"
expect 'no such file' 66 'cannot read'

# --- what makes no sense ---

run explain
expect 'without words' 64 'lacks arguments'
run explain fun 1
expect 'something else' 64 "'fun' is not page or mismatch"
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
	run --json --backend procfs explain page "$pfn" --why pinned
	expect 'pins are not in /proc' 2
else
	tap_skip 'code of this shell' 'page frame numbers are hidden'
fi
tap_done
