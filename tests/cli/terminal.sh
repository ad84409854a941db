#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what depends on a terminal: colour, and the width of tables. script(1)
# provides the terminal.
. "$top_srcdir/tests/cli/cli.sh"

if ! command -v script > /dev/null; then
	tap_skip 'on a terminal' 'needs script(1)'
	tap_done
fi
root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"
escape=$(printf '\033')

# on_terminal COLUMNS ARGUMENTS...: sets $status, $tap_dir/stdout
on_terminal() {
	{
		echo "stty rows 24 cols $1"
		shift
		printf "exec '%s'" "$PAGEDET"
		printf " '%s'" --root "$root" "$@"
		echo
	} > "$tap_dir/command"
	status=0
	script -qec "sh '$tap_dir/command'" /dev/null < /dev/null \
		> "$tap_dir/typed" || status=$?
	tr -d '\r' < "$tap_dir/typed" > "$tap_dir/stdout"
}
coloured() {
	grep -q "$escape" "$tap_dir/stdout"
}
# The longest line, without invisible characters.
longest() {
	sed "s/$escape\[[0-9]*m//g" "$tap_dir/stdout" |
		awk 'length($0) > n { n = length($0) } END { print n + 0 }'
}

TERM=xterm
export TERM
on_terminal 80 page 256
tap_run 'a terminal: status' test "$status" = 0
tap_run 'a terminal has colour' coloured
NO_COLOR=1
export NO_COLOR
on_terminal 80 page 256
tap_fails 'NO_COLOR: no colour' coloured
NO_COLOR=
on_terminal 80 page 256
tap_run 'NO_COLOR without a value: colour' coloured
unset NO_COLOR
TERM=dumb
on_terminal 80 page 256
tap_fails 'TERM=dumb: no colour' coloured
unset TERM
on_terminal 80 page 256
tap_fails 'no TERM: no colour' coloured
TERM=xterm
export TERM
run --root "$root" page 256
tap_fails 'a file has no colour' coloured
on_terminal 80 page 256 -o /dev/null
tap_run 'nothing is shown of what goes elsewhere' \
	test ! -s "$tap_dir/stdout"
on_terminal 80 page 256 --json
tap_fails 'JSON has no colour' coloured

# What names a finding, and the heads of top.
on_terminal 80 explain page 256 -q
tap_run 'explain: a terminal has colour' coloured
on_terminal 80 top kind -q
tap_run 'top: a terminal has colour' coloured
NO_COLOR=1
export NO_COLOR
for words in 'explain page 256' 'top kind'; do
	# shellcheck disable=SC2086
	on_terminal 80 $words -q
	tap_fails "NO_COLOR: $words" coloured
done
unset NO_COLOR
run --root "$root" explain page 256 -q
tap_fails 'explain: a file has no colour' coloured
run --root "$root" top kind -q
tap_fails 'top: a file has no colour' coloured

# Not millions of rows.
on_terminal 80 scan
stdout_has 'a scan: the sums by kind' 'total'
stdout_has 'a scan: how to list' '--all lists the pages, --where EXPR'
for words in --all '--where anon' '--fields pfn' '--limit 3'; do
	# shellcheck disable=SC2086
	on_terminal 80 scan $words
	tap_fails "scan $words lists" grep -q total "$tap_dir/stdout"
done

# What a limit hides is said, and counted where that is known.
on_terminal 80 page 256 257 258 --limit 1
stdout_has 'a limit: how many more' 'pagedet: 2 more rows'
on_terminal 80 page 256 257 --limit 1
counts_well 'a limit hides one row'
on_terminal 80 scan --where anon --limit 1
stdout_has 'a limit: not known how many more' 'there may be more rows'
on_terminal 80 scan --where anon --sort pfn --top 1
tap_run 'a limit of sorted rows: how many more' \
	grep -q 'pagedet: [0-9]* more row' "$tap_dir/stdout"
on_terminal 80 scan --by kind --limit 1
stdout_has 'a limit of groups' 'there may be more groups'
for words in 'page 256 --limit 2' 'page 256 257 --limit 2' \
	'page 256 257 --limit 1 -q' 'scan --by kind --limit 99'; do
	# shellcheck disable=SC2086
	on_terminal 80 $words
	tap_fails "nothing more: $words" grep -q ' more ' "$tap_dir/stdout"
done
run --root "$root" page 256 257 258 --limit 1
expect 'a limit: programs are told nothing' 0

# The kernel's count of a cgroup includes more than its pages.
echo 123456789 > "$root/sys/fs/cgroup/a/memory.current"
on_terminal 80 cgroup /a
stdout_has 'a cgroup: its pages' 'charged    12.0 KiB in pages'
stdout_has "a cgroup: the kernel's count" '117.7 MiB  (the kernel'
stdout_has 'a cgroup: what is not counted' 'slab objects are charged one by one'
on_terminal 80 cgroup /a/b
tap_fails "a cgroup: the kernel's count is not known" \
	grep -q "the kernel's count" "$tap_dir/stdout"

# Sums of a part do not pass for those of the whole.
on_terminal 80 cgroup /a --deadline 0.000000001
stdout_has 'no time for a cgroup: its pages' 'charged    at least 0 in pages'
stdout_has 'no time for a cgroup: its kinds' 'by kind    ?'
stdout_has 'no time for a cgroup: what was visited' 'visited    0 of '
on_terminal 80 task 12 --deadline 0.000000001
tap_fails 'no time for a task: it may have memory' \
	grep -q 'no memory' "$tap_dir/stdout"

for columns in 50 72 100; do
	on_terminal $columns task 12 --fields vaddr,pfn,kind,flags,pte,comm
	tap_run "$columns columns are enough" test "$(longest)" -le $columns
	tap_run "$columns columns: all rows" \
		test "$(grep -c '0x7f000000\|0x400000' "$tap_dir/stdout")" = 5
done
COLUMNS=60
export COLUMNS
on_terminal 120 task 12 --fields vaddr,pfn,kind,flags,pte,comm
tap_run 'COLUMNS says how wide' test "$(longest)" -le 60
unset COLUMNS
run --root "$root" task 12 --fields vaddr,pfn,kind,flags,pte,comm
tap_run 'a file is as wide as the table needs' test "$(longest)" -gt 60

# What is said fits, too, but nothing that is pasted is broken.
long=$tap_dir/$(printf '%050d' 7)
on_terminal 60 virt 0x7f00 --vmlinux "$long"
tap_run 'messages: broken at the width' \
	test "$(grep -v "$long" "$tap_dir/stdout" | awk 'length > 60' |
		wc -l)" = 0
tap_run 'messages: in words' grep -qx '  first' "$tap_dir/stdout"
stdout_has 'messages: a command is not broken' \
	"pagedet --root $root --vmlinux $long virt PID 0x7f00;"
run --root "$root" virt 0x7f00 --vmlinux "$long"
tap_run 'messages: to programs they are one line' \
	test "$(wc -l < "$tap_dir/stderr")" = 2

# A finding fits, too; its command is one piece.
on_terminal 50 explain page 256 -q
tap_run 'explain: broken at the width' \
	test "$(grep -v 'pagedet --root' "$tap_dir/stdout" |
		awk 'length > 50' | wc -l)" = 0
stdout_has 'explain: a command is not broken' \
	"'pagedet --root $root mappers 256'"
run --root "$root" explain page 256 -q
tap_run 'explain: to programs a cause is one line' \
	grep -q '^pfn 256 (0x100): .*[^ ]$' "$tap_dir/stdout"
tap_fails 'explain: no other line begins a part' \
	grep -vq '^$\|^pfn\|^  [^ ]\|^    [^ ]' "$tap_dir/stdout"

# fits COLUMNS NAME ARGUMENTS...: no line of the answer is longer. What is said
# on stderr are not lines of it.
fits() {
	fits_in=$1 fits_name=$2
	shift 2
	on_terminal "$fits_in" "$@" -q
	tap_run "$fits_name: $fits_in columns" test "$(longest)" -gt 0 -a \
		"$(longest)" -le "$fits_in"
}

# Sums of a summary, and names.
for columns in 50 60; do
	fits $columns 'a cgroup' cgroup /a
	tap_run 'a cgroup: a sentence goes on below its words' \
		grep -q '^             [a-z ]*counted as pages$' \
		"$tap_dir/stdout"
	fits $columns 'a cgroup, without time' cgroup /a \
		--deadline 0.000000001
done
named=$tap_dir/named
sed 's/comm=other/comm=name-of-15-char/' \
	"$top_srcdir/tests/golden/cli-machine.scenario" > "$tap_dir/scenario"
"$top_builddir/tests/fixtures/mkproc" "$tap_dir/scenario" "$named"
machine=$root root=$named
for columns in 50 60; do
	fits $columns 'mappers of a file' mappers /bin/x
done
for columns in 48 50 60; do
	fits $columns tasks tasks
done
stdout_has 'mappers of a file: 60 columns: the whole name' 'name-of-15-char'
on_terminal 80 tasks
stdout_has 'tasks: 80 columns: the whole name' 'name-of-15-char'
on_terminal 50 tasks -o "$tap_dir/listed"
tap_run 'tasks: a file has the whole name' \
	grep -q name-of-15-char "$tap_dir/listed"
root=$machine

for columns in 40 50; do
	( COLUMNS=$columns && export COLUMNS &&
		"$PAGEDET" top -q > "$tap_dir/stdout" ) || :
	tap_run "top: $columns columns: what has no room" \
		grep -q '^no room: ' "$tap_dir/stdout"
	tap_run "top: $columns columns" test "$(longest)" -le $columns
done

# Of doctor, commands that are to be copied stay whole; they are indented, or
# the last line.
setpriv=
[ "$(id -u)" != 0 ] || setpriv='setpriv --reuid 65534 --clear-groups'
for columns in 60 75; do
	( COLUMNS=$columns && export COLUMNS &&
		$setpriv "$PAGEDET" doctor > "$tap_dir/stdout" )
	tap_run "doctor: $columns columns" awk -v most=$columns '
		/^  *(sudo|scripts)/ { next }
		length > most { bad = 1; print } END { exit bad || NR < 9 }' \
		"$tap_dir/stdout"
done
tap_run 'doctor: what to copy is in one line' \
	grep -q '^[^ ].*doctor -v$' "$tap_dir/stdout"
tap_fails 'doctor: no blanks at the end' grep -q ' $' "$tap_dir/stdout"

# On a terminal, work that takes longer than a second shows its progress in one
# line that vanishes.
# is_quick: whether this is done in less than a second
is_quick() {
	begun=$(date +%s%N)
	on_terminal 80 scan --summary
	[ $(($(date +%s%N) - begun)) -lt 1000000000 ]
}
quick=
for try in 1 2 3 4 5; do
	! is_quick || quick=$try
	[ -z "$quick" ] || break
done
shows_progress() {
	grep -q 'scan: looked at [0-9]* of 4294967296, [0-9]*%' "$1"
}
if [ -n "$quick" ]; then
	tap_fails 'quick work shows no progress' grep -q 'looked at' \
		"$tap_dir/stdout"
else
	tap_skip 'quick work shows no progress' \
		'nothing is done in a second here'
fi
# 16 terabytes of frames without any flag, for one thread: several threads might
# be done within two seconds.
truncate -s 32G "$root/proc/kpageflags"
echo '00000000-fffffffffff : System RAM' > "$root/proc/iomem"
sed 's/spanned .*/spanned 4294967296/' "$root/proc/zoneinfo" > "$tap_dir/zones"
cp "$tap_dir/zones" "$root/proc/zoneinfo"
on_terminal 80 scan --summary --threads 1 --deadline 2
tap_run 'long work: the deadline' test "$status" = 2
tap_run 'long work shows progress' shows_progress "$tap_dir/stdout"
tap_run 'long work: the line is cleared' \
	grep -q "$escape\[K" "$tap_dir/stdout"
on_terminal 80 scan --summary --threads 1 --deadline 1.3 --no-progress
tap_fails '--no-progress' shows_progress "$tap_dir/stdout"
run --root "$root" scan --summary --threads 1 --deadline 1.3
tap_fails 'without a terminal: no progress' shows_progress "$tap_dir/stderr"
run --root "$root" scan --summary --threads 1 --deadline 2 --progress
tap_run '--progress without a terminal' shows_progress "$tap_dir/stderr"
tap_fails '--progress without a terminal: nothing is cleared' \
	grep -q "$escape" "$tap_dir/stderr"

tap_done
