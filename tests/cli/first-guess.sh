#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what users type who do not know the command: each input is answered, or
# one line leads to the answer, without a manual.
#
# A line of the table has the right exit statuses, a pattern in the answer, and
# the input. "@" in front of it queries a small captured machine, so that the
# answer is the same everywhere. Queries of the running kernel may also end with
# 2, 69 or 77, and then say why.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
{
	cat "$top_srcdir/tests/golden/cli-machine.scenario"
	echo 'task 2 comm=kthreadd kthread'
	echo 'task 289 comm=sleepy start=70'
} > "$tap_dir/scenario"
"$top_builddir/tests/fixtures/mkproc" "$tap_dir/scenario" "$root"
# PF_KTHREAD
sed -i 's/ S 1 0 0 0 0 0 / S 1 0 0 0 0 2097152 /' "$root/proc/2/stat" \
	"$root/proc/2/task/2/stat"
echo '0::/a' > "$root/proc/12/cgroup"
printf '3:memory:/a/b\n0::/\n' > "$root/proc/13/cgroup"
cd "$tap_dir"
echo 'a file' > notes.txt
cat notes.txt > /dev/null
echo 'a log' > bad.log
echo 'BUG: Bad page state in process x  pfn:81a09' > oops.txt
printf 'PERFILE2and more' > perf.data
"$PAGEDET" --root "$root" snapshot memory.snap -q || :
echo 'a file' > "it's \`id\`.txt"
cp memory.snap 'a`id`.snap'
# the unit of a service, as service managers name its cgroup; anyone may name one
mkdir -p "$root/sys/fs/cgroup/a/web.service" \
	"$root/sys/fs/cgroup/a/odd;id.service"
for dir in "$root/sys/fs/cgroup" "$root/sys/fs/cgroup/a" \
	"$root/sys/fs/cgroup/a/"*.service; do
	: > "$dir/cgroup.procs"
done

# answered NAME STATUSES PATTERN: checks the last run
answered() {
	case " $2 " in
	*" $status "*) ;;
	*)
		tap_not_ok "$1: exit status is one of $2" "$(why)"
		return ;;
	esac
	cat "$tap_dir/stdout" "$tap_dir/stderr" > "$tap_dir/said"
	if grep -Eq -e "$3" "$tap_dir/said"; then
		tap_ok "$1"
	elif [ "$status" -eq 69 ] || [ "$status" -eq 77 ]; then
		tap_run "$1: says why not" test -s "$tap_dir/stderr"
	else
		echo "looked for: $3" >> "$tap_dir/stderr"
		tap_not_ok "$1" "$(why)"
	fi
	# One line about the mistake, and one that leads on.
	[ "$status" -ne 64 ] || tap_run "$1: one hint" \
		test "$(grep -c '^pagedet: hint: ' "$tap_dir/stderr")" -eq 1
}

run
answered 'pagedet' 64 "'pagedet help'"
n=1
# nothing is suggested but a page of help, or a name that is near
none="hint: (did you mean '[a-z_]*'\? )?'pagedet help where' explains it"
while IFS='	' read -r statuses pattern words; do
	[ "$pattern" != NONE ] || pattern=$none
	case $statuses in
	'' | '#'*)
		continue ;;
	esac
	n=$((n + 1))
	name="pagedet $words"
	case $words in
	@*)
		eval "set -- --root '$root' ${words#@}"
		# what is suggested asks this machine, too
		pattern=$(printf '%s\n' "$pattern" |
			sed "/top alloc\|pagedet help/!s#pagedet #pagedet --root $root #g")
		name="pagedet ${words#@}" ;;
	*)
		eval "set -- $words" ;;
	esac
	status=0
	timeout 60 "$PAGEDET" "$@" > "$tap_dir/stdout" 2> "$tap_dir/stderr" \
		< /dev/null || status=$?
	answered "$name" "$statuses" "$pattern"
done << 'TABLE'
# someone on call: what uses the memory?
64	try: pagedet .*summary	mem
64	try: pagedet .*summary	memory
64	try: pagedet .*summary	summary
64	try: pagedet .*summary	free
64	try: pagedet .*summary	usage
64	try: pagedet .*summary	stat
64	try: pagedet .*summary	vmstat
64	try: pagedet .*summary	meminfo
64	try: pagedet top	ps
64	try: pagedet (top|tasks)	processes
64	try: pagedet doctor	info
64	try: pagedet scan	list
64	try: pagedet .*pid|task PID	pid
64	try: pagedet task PID	process
64	try: pagedet mappers	who
64	try: pagedet .*from-log	log
64	try: pagedet --from DUMP	dump
64	try: pagedet kaddr	symbols
64	try: pagedet cgroup	container
64	try: pagedet .*slab	slabtop
66	'/tmp' is not a cgroup	cgroup /tmp
66	is not a cgroup	cgroup ./
64	kmem record.*kmem live kmem.dat --verify.*pagedet owners	leak
64	kmem record.*kmem live kmem.dat --verify.*pagedet owners	leaks
64	kmem record.*kmem report kmem.dat	alloc
64	kmem record.*kmem report kmem.dat	allocs
64	try: pagedet kmem blame TRACE 4711;	blame 4711
64	try: pagedet kmem record	record
64	try: pagedet kmem timeline TRACE 4711;	timeline 4711
0 2 69 77	PSS|RSS	top
0 2 69 77	PSS|RSS	top process --limit 3
0 2 69 77	PSS|RSS	top --sort rss --top 2
0 2 69 77	PSS|RSS	top --sort swap --limit 1
64	did you mean 'file'	top files
69	kmem record --for 10, then: pagedet top alloc kmem.dat	@top alloc
64	did you mean 'alloc'	top allocs
64	try: pagedet top;	top memory
64	try: pagedet task all --where anon --by comm;	top anon
64	try: pagedet task all --where 'kind=anon' --by comm;	top --where kind=anon
64	try: pagedet task all --where 'a!b' --by comm;	top --where 'a!b'
64	try: pagedet task all --where anon --by comm;	scan --where anon --by comm
0	^other +1 	@task all --where anon --by comm
64	try: pagedet virt PID 0x7f00;	virt 0x7f00
0	18 \(0x12\)	@page pfn:12
0	18 \(0x12\)	@page pfn:0x12+1
64	'pfn:12g' is not a hex number	page pfn:12g
64	'pfn:' lacks a number	page pfn:
2	cannot open pfn:0	file oops.txt pfn:0
64	'pfn:0' is not a number	check disk oops.txt pfn:0
64	try: pagedet page pfn:12;	pfn:12
64	try: pagedet top;	top processes
64	try: pagedet top --sort rss;	top rss
64	try: pagedet top;	top -u root
64	try: pagedet top cgroup	top --by cgroup
64	try: pagedet top kind	top --by kind
64	try: pagedet task bash;	tasks bash
64	try: pagedet tasks --sort comm	tasks --where comm=bash
64	did you mean 'rss'	tasks --sort rs
64	try: pagedet top --top N	top 10
64	try: pagedet task 20041;	top 20041
64	try: pagedet scan --where flags:thp --summary	thp
64	try: pagedet virt 12 7f0000000000;	addr 12 7f0000000000
64	try: pagedet scan --where kind=shmem	shm
64	try: pagedet scan --where 'mapcount>1'	shared
64	try: pagedet scan --where 'flags:thp or kind=hugetlb'	huge
0 1	kind	@scan --where 'flags:thp or kind=hugetlb' --by kind --undecided
64	try: pagedet scan --by node	numa
64	try: pagedet block DEV	buffers
64	try: pagedet mappers FILE	lsof
64	pagedet explain PFN --why pinned	pinned
64	try: pagedet scan --where hwpoison	hwpoison
64	try: pagedet explain PFN --why migrate	compaction
# the words that were typed are in the command
64	try: pagedet explain 4711;	why 4711
64	try: pagedet mappers notes.txt;	who notes.txt
64	try: pagedet mappers 4711;	who 4711
64	try: pagedet file notes.txt;	fincore notes.txt
64	try: pagedet page 4711;	show 4711
64	try: pagedet page 4711;	lookup 4711
64	try: pagedet page 4711;	get 4711
64	try: pagedet task 4711;	pagemap 4711
64	try: pagedet task 4711;	rss 4711
64	try: pagedet task bash;	pss bash
64	try: pagedet scan --where 'mapcount>1 and dirty';	find 'mapcount>1 and dirty'
64	try: pagedet file 'a b';	cached 'a b'
64	try: pagedet task PID;	pid -- '-1'
64	try: pagedet task 12;	@pid 12
64	try: pagedet --from a.dump scan	dump a.dump
# synonyms
64	try: pagedet top cgroup;	docker
64	try: pagedet top;	biggest
64	task PID --where swapped	swapped
64	try: pagedet top file;	pagecache
64	try: pagedet task 4711 --fields vaddr,pte;	pte 4711
64	try: pagedet virt 4711 0x7f00;	pte 4711 0x7f00
64	try: pagedet kaddr	vmalloc
64	kind=unknown	unknown
64	pagedet explain 4711;	analyze 4711
64	heat	heat
64	try: pagedet task 4711;	top process 4711
64	try: pagedet cgroup /a/web.service;	@top cgroup web.service
64	try: pagedet file notes.txt;	top file notes.txt
64	try: pagedet scan --where slab_cache=dentry	top slab dentry
64	--sort -FIELD	top --reverse
64	--sort -FIELD	top --desc
64	try: pagedet top --sort rss;	top --rss
0	uss .*no other process	help uss
64	task PID --where 'vma_name~heap'	@scan --where heap
64	try: --where 'kind=anon';	@scan --where kind=anonymous
64	try: --where 'kind=file';	@scan --where kind=pagecache
64	--by order	@scan --by size
64	--by cgroup, or pagedet top	@scan --by owner
64	--by cgroup, or pagedet top	@scan --by user
64	try: pagedet check clean notes.txt;	check notes.txt
64	task 4711 --by vma_name, or: pagedet mappers 4711;	map 4711
64	try: pagedet doctor -v	doctor stack
66 69	--from DUMP scan	--backend vmcore scan
1	pagedet virt 12 x$	@task 12 X
1	pagedet tasks.* page 99999999$	@task 99999999
66	process 12 is in this cgroup: pagedet cgroup /a$	@cgroup 12
66	process 13 is in this cgroup: pagedet cgroup /a/b$	@cgroup other
# addresses
0	4 rows|pfn	@virt 12:7f0000000000
0	pfn	@virt 13:400000+4k
0	^anon +1 	@virt 13:heap --by kind
0	pages	@virt 12 7f0000000000+16k --summary
0	pages	@phys 0x100000+1M --summary
64	file bad.log, or: pagedet from-log bad.log;	bad.log
64	try: pagedet file notes.txt;	notes.txt
64	try: pagedet tree .	file .
64	try: pagedet file /proc/self/exe;	/proc/self/exe
64	try: pagedet tree /tmp;	/tmp
64	try: pagedet from-log oops.txt;	oops.txt
64	try: pagedet kmem report perf.data;	perf.data
64	try: pagedet --from memory.snap scan	memory.snap
64	try: pagedet --from VMCORE	vmcore
64	--where 'pincount>0'	@scan --where pinned
64	try: --where 'mapcount>1'	@scan --where 'shared and anon'
64	--by flags, or --where dirty	@scan --by dirty
64	--by kind, or --where anon	@scan --by anon
64	try: pagedet task PID	scan -p 12
64	try: pagedet task PID	scan --pid 12
64	try: --top N	top -n 5
64	try: pagedet cgroup PATH	scan --cgroup /a
64	try: pagedet top cgroup;	cgroup
64	try: pagedet scan --where anon;	scan anon
64	try: pagedet tree /tmp;	scan /tmp
64	try: pagedet page 0x100	scan 0x100
64	--where 'kind=VALUE'	scan --kind anon
64	try: pagedet --from memory.snap scan --summary;	--from memory.snap
64	try: pagedet virt 12 '.heap.'	task 12 heap
64	try: pagedet virt 12 '.heap.'	heap 12
64	try: pagedet explain 4711;	whatis 4711
64	try: pagedet scan --by node	numastat
64	try: pagedet top --sort rss	rss
64	try: --where dirty	scan --dirty
64	try: --format csv	scan --csv
64	--format csv	scan -f csv
64	--sort FIELD	top -s rss
64	is not a number of seconds	top --watch 10s
64	anon and kind=file	@scan --where kind=anon --where kind=file
64	SVG or PNG	@map -o memory.jpg
64	try: pagedet map -o map.svg	@map --json
64	try: pagedet map -o map.svg	@map --format csv
64	try: pagedet explain virt 12 0x56449259c000;	@explain 12 0x56449259c000
64	process.*cgroup.*file	top mysqld
0 2 69 77	"pss":	top --json --limit 1
0	free	@scan --summary
0	free	@scan --by type --sort size --top 1
0	pfn	@scan --limit 2
0	^anon +2	@scan --by type
0 2	/a/b	@scan --by cgroup
0 2	memcg_path	@scan --by memcg
0	anon	@scan --where anon
0 1	page	@scan --where dirty
0	pages	@scan --where mapped --summary
64	try: pagedet top	@scan --by pid
64	try: pagedet top	@scan --by process
64	try: pagedet task	@scan --by vma
64	try: pagedet task	@scan --where pid=12 --summary
64	try: pagedet task	@scan --where comm=bash
64	try: --where dirty;	@scan --where dirty=true
64	try: --where 'not dirty';	@scan --where dirty=no
64	try: --where 'anon and dirty';	@scan --where 'anon && dirty'
64	try: --where 'anon or file';	@scan --where 'anon||file'
64	try: --where 'anon and dirty';	@scan --where 'anon dirty'
64	try: --where 'dirty and lru';	@scan --where flags=dirty,lru
64	try: --where 'kind=anon or kind=file';	@scan --where 'kind in (anon,file)'
64	try: --where '\(kind=anon or kind=file\) and dirty';	@scan --where 'kind=anon,file and dirty'
64	try: --where 'path~.so';	@scan --where 'path like *.so'
64	try: --where 'path~/usr';	@scan --where /usr
64	try: --where 'order>=9';	@scan --where order=9+
64	try: --where 'pfn>=1 and pfn<=5';	@scan --where pfn=1..5
64	try: --where 'refcount>2000';	@scan --where 'refcount>2k'
64	try: --where 'kind='\\''anon'\\'' and dirty';	@scan --where "kind=='anon' && dirty"
64	try: --where 'order>=9'	@scan --where 'size>1M'
64	try: pagedet task PID --where swapped	@scan --where swap
64	where' explains it	@scan --where 'and and and'
64	where' explains it	@scan --where 'kind in (anon'
1 2	'\*' is a letter; path~TEXT	@scan --where 'path=*x'
64	try: pagedet mappers	file notes.txt --by comm
64	try: pagedet mappers	file notes.txt --by process
0	12	@tasks
0	anon	@task other
1	did you mean 'other'	@task othr
64	try: pagedet task other;	@other
64	did you mean other\? try: pagedet task other;	@othr
64	try: pagedet task 12 .*, or: pagedet page 12;	@12
64	try: pagedet page 99;	@99
64	try: pagedet cgroup /a/web.service;	@web.service
64	did you mean /a/web.service\? try: pagedet cgroup	@wbe.service
64	did you mean /a/web.service\? try: pagedet cgroup	@/a/wbe.service
66	did you mean /a/web.service	@cgroup web.service
66	did you mean /a/web.service	@cgroup /a/web.servce
66	pagedet top cgroup	@cgroup /xyzzy
1	pagedet cgroup /a/web.service	@task web.service
1	pagedet tasks	@task nginx
64	did you mean 'task'	tsak 1
64	did you mean 'scan'	scna
64	did you mean 'doctor'	docter
64	did you mean 'mappers'	mapers 1
64	did you mean --where	scan --wher dirty
64	did you mean --summary	scan --sumary
64	did you mean 'memcg_path'	@scan --by memcgpath
64	did you mean 'dirty'	@scan --where flags:dirtyy
64	did you mean 'anon'	@scan --where kind=anno
64	did you mean 'dirty'	@scan --where dirrty
64	did you mean 'mapcount'	@scan --where 'mapcont>1'
64	did you mean 'json'	scan --format jsn
64	did you mean 'procfs'	scan --backend procf
64	did you mean 'flags'	@scan --fields flgs
# a filter in another language: the same, or nothing is suggested
64	try: --where 'not dirty';	@scan --where 'dirty!=true'
64	try: --where dirty;	@scan --where 'dirty!=0'
64	try: --where dirty;	@scan --where 'dirty<>no'
64	try: --where 'not dirty';	@scan --where 'dirty is not true'
64	NONE	@scan --where 'dirty<1'
64	NONE	@scan --where 'dirty>0'
64	try: --where 'path!~.so and dirty';	@scan --where 'path!=*.so && dirty'
64	try: --where 'path~1k and dirty';	@scan --where 'path~1k && dirty'
64	try: --where 'path~\^/usr.\* and dirty';	@scan --where 'path~^/usr.* && dirty'
64	NONE	@scan --where 'order!=9+'
64	NONE	@scan --where 'order<9+'
64	NONE	@scan --where 'order<1,2'
64	NONE	@scan --where 'refcount>18446744073709551615k'
64	try: --where 'refcount>10000';	@scan --where 'refcount>010k'
64	try: --where 'dirty or lru';	@scan --where 'flags in (dirty,lru)'
64	try: --where '\(dirty or lru\) and anon';	@scan --where 'flags in (dirty,lru) && anon'
64	try: --where 'flags:anon and dirty';	@scan --where 'flags=anon && dirty'
64	NONE	@scan --where 'flags=!dirty'
64	try: --where 'comm!=bash';	@scan --where 'comm is not bash'
64	try: --where 'kind!=anon and kind!=file';	@scan --where 'kind is not anon,file'
64	try: --where 'not \(pfn>=1 and pfn<=5\)';	@scan --where 'not pfn=1..5'
64	try: --where '\(kind=anon or kind=file\) and dirty';	@scan --where 'kind=anon,file dirty'
64	try: --where 'path~shared and dirty';	@scan --where 'path~shared && dirty'
64	NONE	@scan --where 'path=(size) or x'
64	NONE	@scan --where 'not pinned'
64	NONE	@scan --where '!(anon or shared)'
64	NONE	@scan --where 'kind is not shared'
64	NONE	@scan --where 'shared!=1'
64	NONE	@scan --where 'size<4096'
# another case, or a part of the value
1 2	vma_name is '.heap.'; try: --where 'vma_name~heap'$	@task 13 --where vma_name=heap
1 2	try: --where 'anon and vma_name~heap'$	@task 13 --where 'anon and vma_name=Heap'
1 2	memcg_path is '/a/b'; try: --where 'cgroup=/a/b'$	@scan --where cgroup=/A/B
1 2	try: --where 'memcg_path~a/b'$	@scan --where memcg_path=a/b
1 2	no page matched|undecided	@task 13 --where vma_name=heap2
64	try: --where 'alloc_bytes>=N'	kmem events "$top_srcdir/tests/fixtures/traces/raw-6.18-x86_64" --where 'bytes>100000'
# what is suggested can be pasted, and runs nothing else
66	did you mean '/a/odd;id.service'\?	@cgroup '/a/odd;id.servce'
1	pagedet cgroup '/a/odd;id.service';	@task 'odd;id.service'
64	try: pagedet cgroup '/a/odd;id.service';	@'odd;id.service'
64	did you mean '/a/odd;id.service'\? try: pagedet cgroup '/a	@'odd;id.servce'
64	try: pagedet file 'it'\\''s `id`.txt';	"it's \`id\`.txt"
64	try: pagedet --from 'a`id`.snap' scan	'a`id`.snap'
64	try: pagedet --from 'a`id`.snap' scan	--from 'a`id`.snap'
64	try: pagedet task 'a!b`id`';	tasks 'a!b`id`'
64	try: pagedet virt 'a!b`id`' 0x400000\+4096;	virt 'a!b`id`' 400000-401000
64	try: --where 'comm=`id`';	@scan --where 'comm is `id`'
64	'path~`id` and path~'\\''x'\\'''	@scan --where 'path~`id`' --where "path~'x'"
64	try: pagedet task PID;	tasks "$(printf 'a\001b')"
# a database administrator: which process has this file in memory?
0 1 2	comm|nobody|no process|could not be read	mappers /proc/self/exe
0 1 2	comm|no process|could not be read	mappers --file notes.txt
0 1 2	comm|no process|could not be read	mappers notes.txt
0 1 2 69 77	pages?|hidden|cached	explain notes.txt
64	is not a number	mappers nothing.txt
0 2	notes.txt|file|pages	file notes.txt
0 2	notes.txt|file|pages	file notes.txt bad.log
0 2	notes.txt|file|pages	file *.txt bad.log --summary
2	nothing.txt: No such file	file notes.txt nothing.txt
0 1 2 69 77	pages?|hidden|cached	explain ./notes.txt
66	No such file	mappers ./nothing
64	try: pagedet file	notes/notes.txt
64	try: pagedet tree	ls
64	pagedet mappers /.*/libc.so.6;|its path, such as	mappers libc.so.6
66	pagedet file /.*/sh$	file sh
1	12 is also a process .*pagedet task 12	@mappers 12
0	289 is also a process .*pagedet task 289	@page 289
1	289 is also a process .*pagedet task 289	@explain 289
1	289 is also a process .*pagedet task 289	@explain page 289
# a kernel developer: this page, this address
0	kind	@page 256
0	free|nothing|anon	@explain 256
64	try: pagedet page 0x1a2b3;	page 1a2b3
64	try: pagedet mappers 0x1a2b3;	mappers 1a2b3
64	have no sign	page -1
64	echo TEXT \| pagedet from-log	from-log 'BUG: Bad page state in process x  pfn:81a09'
64	COMMAND --watch	watch
64	try: --where dirty;	@scan --where flags=dirty
64	try: --where 'path=none'	@scan --where 'not path'
64	try: --where 'path!=none'	@scan --where path
0	--fields notes	help notes
0	path of the file|--fields path	help path
64	try: pagedet check clean	check dirty notes.txt
64	try: pagedet check absent	check cached notes.txt
0 1 2 69 77	pagedet from-log ./bad.log|hidden	explain ./bad.log
0	try: pagedet kaddr 0xffff888000001000	@virt 12 0xffff888000001000
64	explains it	explain
64	help explain	explain foo
64	try: pagedet task 4711;	explain process 4711
64	try: pagedet task 4711;	explain pid 4711
64	try: pagedet task 4711;	explain task 4711
64	try: pagedet task other;	@explain other
64	try: pagedet task self;	explain self
64	try: pagedet kaddr init_task;	explain init_task
64	did you mean 'mismatch'	explain mismach
0 1 2 69 77	pages?|hidden|cached	explain file notes.txt
0	^pfn 256 .*tasks map it	@explain virt 12 7f0000000000
1	no page at 0x7f0000002000	@explain virt 12 7f0000002000
0	^pfn 256 	@explain page:256
64	help explain' explains it	@explain page:00000000d3a5b1c2
64	try: pagedet explain PFN --why leak;	explain leak
64	try: pagedet explain 256 --why leak;	explain leak 256
64	free.migrate.pinned.*leak	explain 256 --why
64	try: pagedet explain 256;	explain 256 --why-not-freed
64	pagedet page 4711;	4711
64	try: pagedet page 0x1a2b3, or: pagedet phys 0x1a2b3;	@0x1a2b3
64	try: pagedet virt PID 0x7f12345000	@0x7f12345000
64	try: pagedet kaddr 0xffff888000001000;	@0xffff888000001000
64	try: pagedet kaddr	ffff888000001000
0 1 2 69 77	a symbol|no symbol|pfn|addr	kaddr init_task
0 1 2 66 69 77	Linux|read|log	dmesg
0	pid	tasks
64	explain virt 12 7f0000000000;	explain 12 7f0000000000
# a kernel address is not a page frame number
64	try: pagedet kaddr 0xffffea0004000000;	@page 0xffffea0004000000
64	try: pagedet kaddr 0xffffea0004000000;	@page ffffea0004000000
64	try: pagedet kaddr 0xffffea0004000000;	@page 0xffffea0004000000+2
64	try: pagedet kaddr 0xffff888100000000;	@phys 0xffff888100000000
64	try: pagedet kaddr 0xffff888100000000;	@phys ffff888100000000
64	try: pagedet kaddr 0xffffea0004000000;	@mappers 0xffffea0004000000
64	try: pagedet kaddr 0xffffea0004000000;	@stack 0xffffea0004000000
64	try: pagedet kaddr 0xff11000100000000;	@page 0xff11000100000000
# ranges in the form of other programs
64	try: pagedet page 0x100\+17;	@page 0x100-0x110
64	try: pagedet page 0x100\+17;	@page 0x100..0x110
64	try: pagedet page 256\+2;	@page 256-257
64	try: pagedet phys 0x100000\+4096;	@phys 100000-100fff
64	try: pagedet file notes.txt 0\+4;	file notes.txt 0-3
64	try: pagedet virt 12 0x400000\+4096;	@virt 12 00400000-00401000
64	try: pagedet mappers 0x100\+17;	@mappers 0x100-0x110
64	try: pagedet explain 0x100\+17;	@explain 0x100-0x110
64	explain mismatch PID 0x7000\+4096;	@explain mismatch 12 7000-8000
64	try: pagedet stack	owner
64	try: pagedet mappers	rmap
64	try: pagedet virt	vtop
# a tester: does it exist, in a form for programs?
0	"pid":	tasks --json
0	"pages"	@scan --summary --json
0	pagedet [0-9]	-V
0	pagedet [0-9]	--version
0	pagedet [0-9]	version
0	usage	-h
0	usage	help
0	usage	help help
0	usage	help task
0	hwpoison	help where
0	free memory that the kernel has not set up	help kinds
0	dirty.*writeback	help flags
0	Here dirty is	help top
0	dirty	help where
0	memcg_path	help fields
0	--where	help options
64	try: pagedet task	help pmap
1	task 2 \(.*\) is a kernel thread	@task 2
# a packager: what was built in, what can it do here?
0 2 69 77	sources	doctor
64	try: pagedet help	man
# a student: my own memory
0 2 69 77	kind|pfn|vaddr	virt self
0 2	anon|untouched|pfn	virt self '[stack]' --by kind
1	area	virt self '[hep]'
0 2	anon|file|unknown|untouched	task self --summary
0 1 2	'.heap.'|pfn	virt self heap
0 2	pfn|vaddr	virt self stack
0 2	anon|untouched|pfn	virt self stack --by kind
0	^anon +1 	@virt 13 heap --by kind
64	try: pagedet task	maps
64	try: pagedet task	pmap
TABLE

# --- the name of the command itself, which no process has once it ends ---

ln -s "$PAGEDET" oddpagename
status=0
./oddpagename task oddpagename > stdout 2> stderr || status=$?
expect 'no process but this one has that name' 1 \
	"there is no process 'oddpagename'"
tap_fails 'it does not suggest itself' grep -q 'did you mean' stderr
rm oddpagename

# --- a dump, by what it is, and not by its name ---

dump=$top_srcdir/tests/fixtures/vmcore/kdump-zlib.xz
if command -v xz > /dev/null && xz -dc "$dump" > vmcore &&
	run --from vmcore page 1 && [ "$status" -ne 69 ]; then
	run vmcore
	answered 'pagedet vmcore' 64 'try: pagedet --from vmcore scan --summary;'
	run "$PWD/vmcore"
	answered 'pagedet /PATH/vmcore' 64 \
		'try: pagedet --from /.*/vmcore scan --summary;'
else
	tap_skip 'pagedet vmcore' 'needs xz and the sources of dumps'
fi
rm -f vmcore

# --- depending on the current directory ---

for dir in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	[ ! -e "$dir/memory.stat" ] || break
done
if [ -e "$dir/memory.stat" ]; then
	cd "$dir"
	run cgroup . --by kind
	answered 'cgroup .' '0 2 69 77' 'kind|charged'
	cd "$tap_dir"
else
	tap_skip 'cgroup .' 'there is no memory cgroup here'
fi
tap_run "$n first guesses are at least 60" test "$n" -ge 60

tap_done
