#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests words that the command does not understand, and its help. Nothing here
# reads memory.
. "$top_srcdir/tests/cli/cli.sh"

# refused WORDS ARGUMENTS...: status 64, WORDS on stderr, nothing on stdout
refused() {
	words=$1
	shift
	run "$@"
	[ -s "$tap_dir/stdout" ] && status="$status, with output"
	expect "refuses: $*" 64 "$words"
}

refused 'which COMMAND'
refused "there is no command 'pages'" pages 1
refused 'there is no option --nonsense' scan --nonsense
refused 'there is no option -x' -x scan
refused '--fields lacks its LIST' scan --fields
refused '--output lacks its FILE' scan -qo
refused '--json takes no value' scan --json=yes
refused "'xml'" scan --format xml
refused "there is no source 'proc'" scan --backend procfs,proc
refused "there is no source ''" scan --backend procfs,
refused "'0' is not within" scan --threads 0
refused "'2x' is not a number" scan --threads 2x
refused "'0' leaves no time" scan --deadline 0
refused "'1s' is not a number of seconds" scan --deadline 1s
refused "'.' is not a number of seconds" scan --deadline .
refused 'live and a file' --from live --from vmcore scan
refused '--runs lists pages, --by counts them' scan --runs --by kind
refused '--fields lists pages, --by counts' scan --fields pfn --by kind
refused '--fields lists pages, --summary' scan --fields nonsense --summary
refused "--tap is an option of 'check'" scan --tap
refused "--page-size is an option of 'kmem', 'from-log', 'explain' and 'page'" scan --page-size 4k
refused "'doctor' takes no --where" doctor --where kind=anon
refused "there is no command 'nonsense'" help nonsense
refused "about 'mapcuont'; did you mean 'mapcount'?" help mapcuont
run help anon
expect 'help of a kind' 0
stdout_has 'help of a kind: explains it' '  anon '
run help writeback
expect 'help of a flag' 0
stdout_has 'help of a flag: explains it' 'writeback'
refused "about 'feilds'; did you mean 'fields'?" help feilds
refused "about 'mappres'; did you mean 'mappers'?" help mappres
refused "did you mean 'mismatch'?" explain msimatch
refused "did you mean 'watch'?" kmap wacth
refused "did you mean 'report'?" kmem reprot
refused "did you mean 'accesses'?" kmap on acesses
refused "did you mean 'stable'?" check stabel /
refused "did you mean 'pinned'?" explain 5 --why pined
refused "did you mean 'user'?" task self --stacks=uesr
refused "did you mean 'folio'?" kaddr ffff888000000000 --as foilo
refused "did you mean 'kind'?" map --by knid
refused "did you mean 'scan'?" snapshot /tmp/x scna
refused '--fd 1:3 names the object, and so does' \
	kmap watch --fd 1:3 ffff888000000000
refused "'x' is one argument too many" help page x

# page frame numbers
refused 'lacks arguments' page
refused "'' lacks a number" page ''
refused "'0x' lacks a number" page 0x
refused "'12z' is not a number" page 12z
refused "'1f' is not decimal" page 1f
refused "'+1' lacks a number" page +1
refused "'5+' lacks a number" page 5+
refused "'5+0' asks for nothing" page 5+0
refused "'5+1+1' is not a number" page 5+1+1
refused "' 5' is not a number" page ' 5'
refused "'18446744073709551616' does not fit" page 18446744073709551616
refused "'0x10000000000000000' does not fit" page 0x10000000000000000
refused 'goes past 2^64' page 2+0xffffffffffffffff
refused 'there is no option -5' page -5
refused "'-' reads all" page 1 -

# addresses, tasks, paths
refused "'7g' is not a hex number" phys 7g
refused "'10+1f' is not decimal" phys 10+1f
refused 'goes past 2^64' virt 1 ffffffffffffffff+2
refused "'1x' is not a number" virt 1x 1000
refused "'x' is not a hex number" virt 1 x
refused "'0' is not a process id" task 0
refused "'2147483648' is not a process id" task 2147483648
refused 'one argument too many' tree / /
refused 'one argument too many' scan 1
refused 'the path is empty' file ''
refused "'9x' is not a number" file /etc/passwd 9x
refused "'+1' lacks a number" file /etc/passwd +1

# standard input is data: wrong data is not a usage error
stdin() {
	status=0
	# shellcheck disable=SC2059
	printf "$1" | "$PAGEDET" page - > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" || status=$?
}
stdin '1\n2\nx\n'
expect 'a bad line of standard input' 65 "line 3: 'x' is not a number"
stdin '1\n2 3+\n'
expect 'a bad word within a line' 65 "line 2: '3+' lacks a number"
stdin '1\0002\n'
expect 'a NUL byte hides nothing' 65 "line 1: '1' is not a number"
stdin '%0100d\n'
expect 'an endless word' 65 'line 1:'
stdin '\033[2J\n'
expect 'bytes that would steer a terminal' 65 '\x1b[2J'
stdin '1\n0xffffea0004000000\n'
expect 'an address of the kernel' 65 'is a kernel address'
stdin ' \n\n'
expect 'an empty list' 1 'names no page'
status=0
"$PAGEDET" page - < / > "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
expect 'standard input that cannot be read' 74 'cannot read standard input'
status=0
"$PAGEDET" page - <&- > "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
expect 'closed standard input' 74 'cannot read standard input'

# help
run help
expect 'help' 0
run --help
expect '--help' 0
for command in page phys virt task file tree mount block cgroup kaddr \
	from-log scan mappers stack doctor; do
	run help "$command"
	stdout_has "help $command" "usage: pagedet [options] $command"
	cp "$tap_dir/stdout" "$tap_dir/help"
	run "$command" --help
	stdout_is "$command --help is the same" "$(cat "$tap_dir/help")"
done
run help kmem
stdout_has 'help kmem names each command' 'blame, timeline, check'
run help kmap
stdout_has 'help kmap: what on always turns on' 'always that of objects'
run help explain
stdout_has 'help explain: ranges' 'PFN+COUNT'
stdout_has 'help explain: the status of crash' 'For crash it is 0 if'
run help snapshot
stdout_has 'help snapshot: what it refuses' \
	'-o, --format, --by, --summary, --runs and --stacks are refused'
run help owners
stdout_has 'help owners: what --before shows' '+N, +0 or -N'
run help options
stdout_has 'help options: what --sort needs' 'Rows need --top or'
for topic in kmem kmap explain snapshot owners check virt options; do
	run help $topic
	tap_fails "help $topic: no line is too long for a terminal" sh -c \
		"grep -v '^usage: ' '$tap_dir/stdout' | grep '.\{80\}'"
done
run help where
cp "$tap_dir/stdout" "$tap_dir/all"
run help
cat "$tap_dir/stdout" >> "$tap_dir/all"
tap_fails 'no line of help ends in blanks' grep -n ' $' "$tap_dir/all"
tap_fails 'no line of help is too long for a terminal' \
	grep -n '.\{80\}' "$tap_dir/all"
run help fields
stdout_has 'help fields names them' 'memcg_path'
run help where
stdout_has 'help where' 'flags:dirty'
run help notes
stdout_has 'help notes says what they mean' 'A count was computed, not read'
run help perturbed
stdout_has 'help of a note' 'Reading changed something'
run help options
stdout_has 'help options has all options' '--kallsyms FILE'
run help
stdout_has 'help has those that are used most' '--fields LIST'
tap_fails 'and no others' grep -e '--kallsyms' "$tap_dir/stdout"
run --version
stdout_has '--version' 'pagedet '
stdout_has '--version lists the optional parts' 'optional parts'
status=0
"$PAGEDET" help > /dev/full 2> "$tap_dir/stderr" || status=$?
expect 'help to a full disk' 74 'cannot write'

tap_done
