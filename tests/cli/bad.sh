#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests wrong, odd, missing, truncated and hostile input. Each has its exit
# status and message, and nothing is invented.
. "$top_srcdir/tests/cli/cli.sh"

mkproc=$top_builddir/tests/fixtures/mkproc
machine=$top_srcdir/tests/golden/cli-machine.scenario

# machine_with NAME [LINES]: makes the small machine, with changes, below
# $tap_dir/NAME
machine_with() {
	{
		cat "$machine"
		printf '%s\n' "${2:-}"
	} > "$tap_dir/scenario"
	"$mkproc" "$tap_dir/scenario" "$tap_dir/$1"
}

# ask ROOT ARGUMENTS...: with JSON output
ask() {
	ask_root=$tap_dir/$1
	shift
	run --root "$ask_root" --json "$@"
}

# answers NAME TEXT ROOT ARGUMENTS...: status 0, output TEXT, no message
answers() {
	answers_name=$1
	answers_text=$2
	shift 2
	ask "$@"
	expect "$answers_name: status" 0
	stdout_is "$answers_name" "$answers_text"
}

machine_with small

# --- processes that have ended, or of another user ---

ask small task 99
expect 'a task that is gone' 1 'no such task'
ask small task 12 99 --fields pid --by pid
expect 'fields and counting' 64 'not both'
ask small task 12 99 --by pid
expect 'one of two tasks is gone' 0 '1 task ended meanwhile'
stdout_has 'the other one is answered' '{"pid":12,"pages":5,'
ask small task 98 99
expect 'all tasks are gone' 1 '2 tasks ended meanwhile'
ask small virt 99 0
expect 'an address of a task that is gone' 1 'no such task'

# zombie PID THREADS: a task that has ended, and that nobody has waited for
zombie() {
	mkdir -p "$tap_dir/small/proc/$1"
	printf '%s (a) Z) Z 1 %s 0 0 -1 4227148 0 0 0 0 0 0 0 0 20 0 %s 0 9 %s' \
		"$1" "$1" "$2" "0 0" > "$tap_dir/small/proc/$1/stat"
}

zombie 98 1
ask small task 98
expect 'a zombie' 1 'cannot read task 98: it is a zombie: it has ended'
tap_fails 'a zombie is there' grep 'no such task' "$tap_dir/stderr"
ask small virt 98 0
expect 'an address of a zombie' 1 'it is a zombie'
zombie 98 3
ask small task 98
expect 'a process without its main thread' 1 \
	'its main thread has ended; its other threads still have its memory'
printf '98 (a) X 1' > "$tap_dir/small/proc/98/stat"
ask small task 98
expect 'a task that is being removed' 1 'no such task'
rm -r "$tap_dir/small/proc/98"

# Root may read everything, so this runs as nobody.
not_ours=1
if [ "$(id -u)" -ne 0 ]; then
	unprivileged() {
		"$@"
	}
elif command -v setpriv > /dev/null; then
	unprivileged() {
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	}
	cp "$PAGEDET" "$tap_dir/pagedet"
	chmod 755 "$tap_dir" "$tap_dir/pagedet"
	PAGEDET=$tap_dir/pagedet
else
	tap_skip "another user's task" 'needs setpriv'
	not_ours=
fi
run_unprivileged() {
	status=0
	unprivileged "$PAGEDET" "$@" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" < /dev/null || status=$?
}
if [ -n "$not_ours" ]; then
	run_unprivileged task $not_ours
	expect "another user's task" 77 'cannot read task 1: cannot open'
	tap_run "another user's task: what it would take" \
		grep -q 'hint: needs' "$tap_dir/stderr"
	run_unprivileged virt $not_ours 1000
	expect "an address of another user's task" 77 'cannot read task 1'
	for words in 'page 1' 'phys 0x1000' 'page 1 --fields pfn,kind' \
		'page 1 --json'; do
		chmod 0 "$tap_dir/small/proc/kpageflags" \
			"$tap_dir/small/proc/kpagecount"
		# shellcheck disable=SC2086
		run_unprivileged $words --root "$tap_dir/small"
		expect "$words: its number alone is not an answer" 77 \
			'nothing could be answered: a privilege is missing'
		chmod 644 "$tap_dir/small/proc/kpageflags" \
			"$tap_dir/small/proc/kpagecount"
		# shellcheck disable=SC2086
		run_unprivileged $words --root "$tap_dir/small"
		expect "$words: an answer" 0
	done
	# The running kernel's memory, which may be hidden or missing.
	lacks=69
	[ ! -e /proc/kcore ] || lacks=77
	for words in 'page 1' 'phys 0x1000' 'page 1 --json' \
		'page 1 --fields owner'; do
		# shellcheck disable=SC2086
		run_unprivileged $words --backend kcore
		expect "$words: a source that cannot be read" $lacks \
			'nothing could be answered: '
		tap_run "$words: why" grep -q \
			"hint: cannot read the running kernel's memory" \
			"$tap_dir/stderr"
		# shellcheck disable=SC2086
		run_unprivileged $words --backend kcore -q
		expect "$words: the same in silence" $lacks
	done
	run_unprivileged stack 1 --backend kcore
	expect 'stack: a source that cannot be read' $lacks \
		'cannot tell who allocated a page: '
	chmod 0 "$tap_dir/small/proc/kpageflags"
	run_unprivileged page 256 --fields flags,mapcount \
		--root "$tap_dir/small"
	expect 'one of two fields is answered' 2 'flags: a privilege is missing'
	tap_fails 'one of two fields: that is something' \
		grep -q 'nothing could be' "$tap_dir/stderr"
	chmod 644 "$tap_dir/small/proc/kpageflags"
	run_unprivileged page 1 --fields owner --root "$tap_dir/small"
	expect 'a source that has none of the fields' 2 \
		'nothing could be answered: no open source knows it'
	run_unprivileged task $not_ours 99999999 --by pid
	expect "only others' tasks" 2 '1 task may not be read'
	chmod 0 "$tap_dir/small/proc/12/maps"
	run_unprivileged task 12 --root "$tap_dir/small" --fields vaddr
	expect 'a task whose file may not be read' 77 \
		"cannot open $tap_dir/small/proc/12/maps: Permission denied"
	run_unprivileged task 12 13 --root "$tap_dir/small" --json --by pid
	expect 'one of two tasks may not be read' 2 \
		'1 task may not be read'
	stdout_has 'the other one is answered, too' '{"pid":13,"pages":2,'
	chmod 644 "$tap_dir/small/proc/12/maps"
fi

# A user with the privilege is not told to get it.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	chmod 0 "$tap_dir/small/proc/12/maps"
	status=0
	setpriv --bounding-set=-dac_override,-dac_read_search "$PAGEDET" \
		task 12 --root "$tap_dir/small" --fields vaddr \
		> "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null ||
		status=$?
	expect 'a task that something else refuses' 77 'cannot read task 12'
	if [ $((0x$(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status) >> \
		19 & 1)) -eq 1 ] &&
		[ "$(readlink /proc/self/ns/user)" = 'user:[4026531837]' ]; then
		expect 'a task that something else refuses: hint' 77 \
			'hint: this process has CAP_SYS_PTRACE, so something else'
	else
		expect 'a task that may not be read: hint' 77 'hint: needs'
	fi
	chmod 644 "$tap_dir/small/proc/12/maps"
fi

# --- places at the end of the number range, odd lengths ---

for place in ffffffffffffffff 0xfffffffffffff001+0xfff \
	fffffffffffff000+4096; do
	answers "virt $place" \
		'{"vaddr":"0xfffffffffffff000","kind":"unmapped"}' \
		small virt 12 $place --fields vaddr,kind -q
done
for place in 7fffffffffffffff 0x7ffffffffffff001+0xfff \
	7ffffffffffff000+4096; do
	answers "phys $place" '{"pfn":2251799813685247,"kind":"hole"}' \
		small phys $place --fields pfn,kind
done
ask small virt 12 fffffffffffff000+4097
expect 'a length past the last address' 64 'goes past 2^64'
answers 'a byte' '{"vaddr":"0x7f0000000000"}' \
	small virt 12 7f0000000001+1 --fields vaddr
answers 'two bytes of two pages' '{"vaddr":"0x7f0000000000"}
{"vaddr":"0x7f0000001000"}' small virt 12 7f0000000fff+2 --fields vaddr
answers 'a page and a byte' '{"vaddr":"0x7f0000000000"}
{"vaddr":"0x7f0000001000"}' small virt 12 7f0000000000+4097 --fields vaddr
answers 'a page from its middle on' '{"pfn":256}
{"pfn":257}' small phys 0x100800+4096 --fields pfn

answers 'the page past the last one' '{"pfn":512,"kind":"hole"}' \
	small page 512 --fields pfn,kind
answers 'nobody maps what is not there, not even none' \
	'{"pfn":511,"mapcount":null,"memcg_ino":null}
{"pfn":512,"mapcount":null,"memcg_ino":null}' \
	small page 511+2 --fields pfn,mapcount,memcg_ino
answers 'pages around the end' '{"pfn":511,"kind":"hole"}
{"pfn":512,"kind":"hole"}' small page 511+2 --fields pfn,kind
ask small mappers 512
expect 'who maps the page past the last one' 1 'nobody maps it'

# Offline memory has no pages, in any query.
machine_with off 'pages 0x600
blocksize 0x200000
block 0 node=0
block 1 node=0
block 2 node=0 offline'
answers 'a page that is switched off' \
	'{"pfn":1024,"kind":"offline","mapcount":null}' \
	off page 1024 --fields pfn,kind,mapcount
for fields in kind flags order,mapcount kind,flags memcg_ino; do
	ask off scan --by $fields
	stdout_has "it is not scanned: by $fields" \
		'{"total":{"pages":9,"bytes":36864,'
done

# --- invalid conditions ---

# nonsense EXPR WORDS
nonsense() {
	ask small scan --where "$1"
	expect "--where '$1'" 64 "$2"
	tap_fails "--where '$1': no answer" test -s "$tap_dir/stdout"
}
nonsense '' 'expected a field'
nonsense nonsense 'there is no such field'
nonsense 'nonsense=1' 'there is no such field'
nonsense 'kind=' 'expected a value'
nonsense 'kind=nonsense' 'no such name'
nonsense 'kind>3' 'values of this field have no order'
nonsense 'flags:nonsense' 'no such name'
nonsense 'pfn=abc' 'expected a number'
nonsense 'pfn<18446744073709551616' 'expected a number'
nonsense mapcount 'expected one of'
nonsense 'kind=anon and' 'expected a field'
nonsense 'kind=anon kind=file' 'expected "and" or "or"'
nonsense '(kind=anon' 'expected'
nonsense 'kind=anon)' 'expected "and" or "or"'
nonsense 'comm~[' 'it is not a regular expression'
nonsense "comm='x" 'the quote is not closed'

# --- hostile names ---

answers 'a comm with newline and parenthesis' \
	'{"pid":12,"tgid":12,"comm":"a)\n(b"}' \
	small virt 12 0x400000 --fields pid,tgid,comm
run --root "$tap_dir/small" task 12 --fields pid,comm,vaddr
tap_run 'such a comm breaks no line of text' \
	test "$(wc -l < "$tap_dir/stdout")" = 6
run --root "$tap_dir/small" task 12 --fields comm --format csv
stdout_has 'such a comm is quoted in CSV' '"a)
(b"'
machine_with hostile 'vma 13 7f2000000000-7f2000001000 rw-p 0 fe:01 9 /a\012b c (deleted)
map 13 0x7f2000000000 pfn=0x101'
answers 'a mapping whose path has a newline' \
	'{"vma_name":"/a\nb c (deleted)"}' \
	hostile virt 13 7f2000000000 --fields vma_name

newline='
'
name="$tap_dir/a${newline}b"
run file "$name"
expect 'a path with a newline that is not there' 66 'a\x0ab'
head -c 4096 /dev/zero > "$name"
run file "$name" --json --fields path
expect 'a path with a newline: status' 0
stdout_has 'a path with a newline' 'a\nb"}'
run tree "$tap_dir/none${newline}"
expect 'a directory with a newline that is not there' 66 'none\x0a'
run page 1 --root "$tap_dir/none${newline}"
expect 'a root with a newline that is not there' 66 'none\x0a'

# --- files of the kernel that are truncated ---

machine_with cut 'truncate proc/kpageflags 2100
truncate proc/kpagecount 2100'
answers 'what stands before the end of kpageflags' \
	'{"pfn":257,"kind":"anon","mapcount":2}' \
	cut page 257 --fields pfn,kind,mapcount
# If zones have memory, its end is not that of the file.
ask cut page 272 --fields pfn,kind,mapcount,memcg_ino
expect 'what stands behind the end of kpageflags' 2 'kind: not answered'
stdout_is 'what stands behind the end of kpageflags is not made up' \
	'{"pfn":272,"memcg_ino":46,"missing":{"kind":"io","mapcount":"io"}}'
answers 'behind the end of memory there is nothing, all the same' \
	'{"pfn":512,"kind":"hole","mapcount":null}' \
	cut page 512 --fields pfn,kind,mapcount
ask cut scan --by kind
stdout_has 'a scan counts them as what is not known' \
	'{"kind":"?","pages":250,'
machine_with folio 'folio 0x180 order=5 flags=uptodate,lru,anon,compound_head tails=uptodate,lru,anon,compound_tail
truncate proc/kpageflags 3136'
ask folio page 385 --fields pfn,kind,order,head_pfn
stdout_is 'a folio of which a part is cut off' \
	'{"pfn":385,"kind":"anon","missing":{"head_pfn":"io","order":"io"}}'
machine_with tails 'folio 0x180 order=5 flags=uptodate,lru,anon,swapbacked,compound_head tails=anon,compound_tail count=1'
ask tails page 400 --fields pfn,flags
stdout_has 'a tail that has a word of its own is of its folio' \
	'"flags":["uptodate","lru","anon","swapbacked","compound_tail"]'
machine_with nothing 'remove proc/kpageflags'
ask nothing page 257 --fields pfn,kind,memcg_ino
expect 'without kpageflags' 2 'kind: '
stdout_is 'without kpageflags the rest is answered' \
	'{"pfn":257,"memcg_ino":45,"missing":{"kind":"no_kernel"}}'
ask nothing page 257 --fields pfn,mapcount,mapcount_kind
expect 'without kpageflags a count' 2 'mapcount_kind: '
stdout_is 'without kpageflags a count is none of a known kind' \
	'{"pfn":257,"mapcount":2,"missing":{"mapcount_kind":"no_kernel"}}'
ask nothing page 288 --fields pfn,mapcount
stdout_is 'without kpageflags no count may mean no page' \
	'{"pfn":288,"missing":{"mapcount":"no_kernel"}}'
ask nothing scan
tap_run 'a scan without kpageflags is no answer' test "$status" -ge 64
tap_run 'a scan without kpageflags says so' \
	grep -q kpageflags "$tap_dir/stderr"

# --- more mappings than a kernel allows by default ---

awk 'BEGIN {
	print "pages 0x20000"
	print "iomem 0 0-1fffffff System RAM"
	print "task 7 comm=many"
	for (i = 0; i < 60000; i++) {
		start = 268435456 + i * 8192
		printf "vma 7 %x-%x rw-p 0 00:00 0\n", start, start + 4096
		printf "map 7 0x%x pfn=%d\n", start, 256 + i
	}
	print "page 0x100+60000 flags=uptodate,lru,anon,mmap,swapbacked count=1"
}' > "$tap_dir/scenario"
"$mkproc" "$tap_dir/scenario" "$tap_dir/many"
ask many task 7 --fields pfn,vaddr,vma_start,vma_end
expect '60,000 mappings: status' 0
tap_run '60,000 mappings: each has its page' awk '
	function hex(n,   s) { s = sprintf("0x%x", n); return s }
	{
		start = 268435456 + (NR - 1) * 8192
		want = "{\"pfn\":" 255 + NR ",\"vaddr\":\"" hex(start) \
			"\",\"vma_start\":\"" hex(start) \
			"\",\"vma_end\":\"" hex(start + 4096) "\"}"
		if ($0 != want) {
			print $0, "is not", want
			exit 1
		}
	}
	END { exit NR != 60000 }' "$tap_dir/stdout"
answers '60,000 mappings: an address in the last one' '{"pfn":60255}' \
	many virt 7 2d4be000 --fields pfn
ask many mappers 60255 --fields pid,vaddr
stdout_is '60,000 mappings: who maps a page of the last one' \
	'{"pid":7,"vaddr":"0x2d4be000"}
{"pfn":60255,"found":1,"expected":1,"mapcount_kind":"exact","unread":[]}'

# A process that is not visible maps it, as in another pid namespace.
cat > "$tap_dir/scenario" << 'EOF'
pages 0x1000
iomem 0 0-ffffff System RAM
task 7 comm=one
vma 7 10000000-10002000 rw-p 0 00:00 0
map 7 0x10000000 pfn=256
map 7 0x10001000 pfn=257
page 256 flags=uptodate,lru,anon,mmap,swapbacked count=3
page 257 flags=uptodate,lru,anon,mmap,swapbacked count=1
EOF
"$mkproc" "$tap_dir/scenario" "$tap_dir/some"
ask some mappers 256 257 --fields pfn,pid
expect 'more mappings than are found' 2 '2 mappings counted but not found'
stdout_is 'what was found' '{"pfn":256,"pid":7}
{"pfn":257,"pid":7}
{"pfn":256,"found":1,"expected":3,"mapcount_kind":"exact","unread":[]}
{"pfn":257,"found":1,"expected":1,"mapcount_kind":"exact","unread":[]}'
ask some mappers 257 --fields pfn,pid
expect 'all of the other are' 0

# --- files that change ---

# A reader that waits holds the command in the middle of the file. Its long path
# keeps the buffered part small.
long=$(printf '%0200d' 0)
mkdir "$tap_dir/$long"
file=$tap_dir/$long/$long
truncate -s 64M "$file"
cat "$file" > /dev/null
mkfifo "$tap_dir/fifo"
"$PAGEDET" file "$file" --json --fields index,path > "$tap_dir/fifo" \
	2> "$tap_dir/stderr" &
pid=$!
exec 3< "$tap_dir/fifo"
dd bs=1 count=1 <&3 > "$tap_dir/stdout" 2> "$tap_dir/why"
truncate -s 4096 "$file"
cat <&3 >> "$tap_dir/stdout"
exec 3<&-
status=0
wait "$pid" || status=$?
tap_run 'a file that shrinks: status' test "$status" = 0
tap_run 'a file that shrinks: what was seen, in its order' awk '
	{ sub(/^{"index":/, ""); sub(/,.*/, "") }
	$0 != NR - 1 { exit 1 }
	END { exit !(NR > 1 && NR < 16384) }' "$tap_dir/stdout"
run file "$file" 1+16383
expect 'behind its end there is nothing' 1 'no page of it is cached'

tap_done
