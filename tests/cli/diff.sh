#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs snapshot
# Tests differences between machines with known contents, of a process that is
# changed, and of a truncated file.
. "$top_srcdir/tests/cli/cli.sh"

mkproc=$top_builddir/tests/fixtures/mkproc
trap 'exec 8>&-; wait; rm -rf "$tap_dir"' EXIT
cd "$tap_dir" || exit 1
case $PAGEDET$mkproc$top_srcdir in
/*/*) ;;
*) echo 'Bail out! paths must be absolute'; exit 1 ;;
esac

# --- machines ---

cat > a.scenario << 'END'
pages 0x200
page 0x100+2 flags=uptodate,lru,anon,mmap,swapbacked count=1
page 0x110+2 flags=uptodate,lru,mmap,dirty count=2
page 0x120+2 flags=buddy
page 0x130 flags=slab
page 0x140 flags=uptodate,lru,anon,mmap,swapbacked count=1
END
cat > b.scenario << 'END'
pages 0x200
page 0x100+2 flags=uptodate,lru,anon,mmap,swapbacked count=1
page 0x110 flags=uptodate,lru,mmap count=2
page 0x111 flags=uptodate,lru,mmap,dirty count=3
page 0x120 flags=buddy
page 0x121 flags=uptodate,lru,anon,mmap,swapbacked count=1
page 0x130 flags=uptodate,lru,mmap,dirty count=2
page 0x140 flags=buddy
END
"$mkproc" a.scenario a
"$mkproc" b.scenario b
cat > machine.txt << 'END'
change    pfn                       what
mapcount  273 (0x111)               mapcount 2 -> 3
appeared  289 (0x121)               kind free -> anon, mapcount 0 -> 1
reused    304 (0x130)               kind slab -> file, mapcount 0 -> 2
gone      320 (0x140)               kind anon -> free, mapcount 1 -> 0

appeared                     1     4.0 KiB
gone                         1     4.0 KiB
reused                       1     4.0 KiB
mapcount                     1     4.0 KiB
no change                    4    16.0 KiB
compared by frame
END
cat > machine.json << 'END'
{"change":"mapcount","pfn":273,"pages":1,"was":{"mapcount":2},"now":{"mapcount":3}}
{"change":"appeared","pfn":289,"pages":1,"was":{"kind":"free","mapcount":0},"now":{"kind":"anon","mapcount":1}}
{"change":"reused","also":["mapcount"],"pfn":304,"pages":1,"was":{"kind":"slab","mapcount":0},"now":{"kind":"file","mapcount":2}}
{"change":"gone","pfn":320,"pages":1,"was":{"kind":"anon","mapcount":1},"now":{"kind":"free","mapcount":0}}
{"total":{"pages":4,"bytes":16384,"changes":4,"compared":8,"same":4,"undecided":0,"unmatched":0,"unplaced":0,"ambiguous":0,"spilled":0,"missing":{}}}
END
cat > machine.csv << 'END'
change,pfn,field,was,now,pages
mapcount,273,mapcount,2,3,1
appeared,289,kind,free,anon,1
appeared,289,mapcount,0,1,1
reused,304,kind,slab,file,1
reused,304,mapcount,0,2,1
gone,320,kind,anon,free,1
gone,320,mapcount,1,0,1
END
END_SUMMARY='{"change":"appeared","pages":1,"bytes":4096,"all":1,"changes":1}
{"change":"gone","pages":1,"bytes":4096,"all":1,"changes":1}
{"change":"reused","pages":1,"bytes":4096,"all":1,"changes":1}
{"change":"mapcount","pages":1,"bytes":4096,"all":2,"changes":1}
{"total":{"pages":4,"bytes":16384,"changes":4,"compared":8,"same":4,"undecided":0,"unmatched":0,"unplaced":0,"ambiguous":0,"spilled":0,"missing":{}}}'

# keep_changes: leaves the total out of the last run's JSON
keep_changes() {
	sed -i '${/^{"total":/d;}' stdout
}

run snapshot a.snap --root a --fields pfn,kind,flags,mapcount -q
run snapshot b.snap --root b --fields pfn,kind,flags,mapcount -q
run diff a.snap a.snap -q
expect 'nothing changed' 0
run diff a.snap a.snap -q --json --fields kind
stdout_is 'nothing changed: JSON says what was compared' \
	'{"total":{"pages":0,"bytes":0,"changes":0,"compared":8,"same":8,"undecided":0,"unmatched":0,"unplaced":0,"ambiguous":0,"spilled":0,"missing":{}}}'
run diff a.snap b.snap -q --json --fields kind,order
stdout_has 'JSON says which field was not compared' \
	'"missing":{"order":"unsupported"}}}'
run diff a.snap b.snap
expect 'something changed' 1 'assumed to be the same'
stdout_has 'flags that came and went' \
	'flags     272 (0x110)               flags -dirty'
run diff a.snap b.snap --fields kind,mapcount -q
tap_run 'for people' diff machine.txt stdout
run diff a.snap b.snap --json --fields kind,mapcount -q
tap_run 'as JSON' diff machine.json stdout
run diff a.snap b.snap --format csv --fields kind,mapcount -q
tap_run 'as CSV' diff machine.csv stdout
run diff a.snap b.snap --json --fields kind,mapcount -q --summary
stdout_is 'only counted' "$END_SUMMARY"
for bound in --limit --top; do
	run diff a.snap b.snap --json --fields kind,mapcount -q $bound 2
	expect "$bound: the same status" 1
	sed '3,4d' machine.json > first
	tap_run "$bound: the first changes, with the total" diff first stdout
	run diff a.snap b.snap --fields kind,mapcount -q $bound 1
	sed '3,5d' machine.txt > first
	tap_run "$bound: for people, with all totals" diff first stdout
done
run diff a.snap b.snap --format csv --fields kind,mapcount -q --limit 9 --top 2
tap_run 'CSV of two changes' test "$(wc -l < stdout)" = 4
run diff a.snap live --root b --json --fields kind,mapcount -q
expect 'a snapshot and what is live' 1
tap_run 'a snapshot and what is live say the same' diff machine.json stdout
run diff live a.snap --root a --json
expect 'the same machine' 0 'assumed to be the same'
run diff a.snap b.snap --json --fields kind,mapcount -q --where kind=anon
keep_changes
stdout_is 'of some pages' '{"change":"appeared","pfn":289,"pages":1,"was":null,"now":{"kind":"anon","mapcount":1}}
{"change":"gone","pfn":320,"pages":1,"was":{"kind":"anon","mapcount":1},"now":null}'
run diff a.snap b.snap -o written -q
tap_run 'into a file' grep -q '^appeared' written
run diff a.snap b.snap --fields kind,order
expect 'a field that was not saved' 2 'order cannot be compared'
run diff a.snap b.snap --threads 2 --json --fields kind,mapcount -q
tap_run 'by two threads' diff machine.json stdout

# More items than a snapshot keeps: the query cannot be repeated.
for side in a b; do
	seq 0 5000 | "$PAGEDET" snapshot $side.many page - --root $side -q \
		--fields pfn,kind
done
run diff a.many b.many --json -q
expect 'two with many items' 1
keep_changes
stdout_is 'two with many items: what changed' '{"change":"appeared","pfn":289,"pages":1,"was":{"kind":"free"},"now":{"kind":"anon"}}
{"change":"reused","pfn":304,"pages":1,"was":{"kind":"slab"},"now":{"kind":"file"}}
{"change":"gone","pfn":320,"pages":1,"was":{"kind":"anon"},"now":{"kind":"free"}}'
run diff a.many live --root b
expect 'many items and what is live' 65 'only 4096 of 5001'
run diff live b.many --root a
expect 'what is live and many items' 65 'only 4096 of 5001'

# --- a huge page is split: one change ---

cat > e.scenario << 'END'
pages 0x600
page 0x200 flags=uptodate,lru,anon,mmap,swapbacked,thp,compound_head count=1
page 0x201+511 flags=thp,compound_tail count=1
END
cat > f.scenario << 'END'
pages 0x600
page 0x200+512 flags=uptodate,lru,anon,mmap,swapbacked count=1
END
"$mkproc" e.scenario e
"$mkproc" f.scenario f
for side in e f; do
	run snapshot $side.snap --root $side --fields pfn,kind,order,head_pfn -q
done
run diff e.snap f.snap -q
stdout_has 'a split: one row' \
	'split     512 (0x200)               512 pages: order 9 -> 0'
tap_run 'a split: no other row' test "$(grep -c pages: stdout)" = 1
stdout_has 'a split: the sum of pages and changes' \
	'split                      512     2.0 MiB  in 1 change'
run diff e.snap f.snap -q --json
stdout_has 'a split: JSON' '{"change":"split","pfn":512,"pages":512,"was":'
run diff e.snap f.snap -q --format csv
stdout_has 'a split: CSV' 'split,512,order,9,0,512'
run diff e.snap f.snap -q --json --summary
stdout_has 'a split: its sum' \
	'{"change":"split","pages":512,"bytes":2097152,"all":512,"changes":1}'
run diff e.snap f.snap -q --format csv --summary
stdout_has 'a split: its sum as CSV' 'split,512,2097152,1'
run map e.snap f.snap -q
tap_run 'a split: a picture has all its pages' \
	grep -q '>split</text>.*>512</text>' stdout

# --- the running kernel and a dump ---

if "$top_builddir/tests/dumps/mkkernel" elf > why 2>&1 &&
	"$PAGEDET" page 1 --from elf > why 2>&1; then
	cat > e.scenario << 'END'
pages 0x2000
page 0x1 flags=reserved
page 0x2 flags=uptodate,lru,anon,mmap,swapbacked count=1
END
	"$mkproc" e.scenario e
	run diff live elf --root e --fields kind,mapcount --json \
		--where 'pfn>=1 and pfn<3'
	expect 'what is live and a dump' 1 'assumed to be the same'
	keep_changes
	stdout_is 'what is live and a dump: the page that is another' \
		'{"change":"reused","also":["mapcount"],"pfn":2,"pages":1,"was":{"kind":"anon","mapcount":1},"now":{"kind":"reserved","mapcount":0}}'
else
	tap_skip 'what is live and a dump' 'dumps are not built, or no libcheck'
fi

# --- wrong use ---

run diff a.snap
expect 'one of two' 64 'lacks arguments'
run diff a.snap b.snap c.snap
expect 'three' 64 'one argument too many'
run diff a.snap b.snap --from a.snap
expect '--from' 64 'A and B name what to read'
run diff a.snap b.snap --by kind
expect '--by' 64 'takes no --by'
run diff a.snap b.snap --backend procfs
expect '--backend without what is live' 64 'is for the running kernel'
run diff a.snap nowhere
expect 'no such file' 66 'nowhere'
head -c 100 a.snap > cut.snap
run diff a.snap cut.snap
expect 'a snapshot that was cut' 65 'damaged'
run diff a.snap b.snap --format arrow -q
expect 'a format that is not built' 69 'Arrow'
run diff a.snap b.snap --fields nonsense
expect 'no such field' 64 'nonsense'

# --- a picture ---

run map a.snap b.snap -o map.svg -q
expect 'a picture' 1
for words in 'from a.snap to b.snap' '>appeared<' '>gone<' '>no change<' \
	'coloured as most of what changed there'; do
	tap_run "the picture says $words" grep -qF -e "$words" map.svg
done
if command -v python3 > /dev/null; then
	tap_run 'the picture is well-formed' python3 -c '
import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' map.svg
else
	tap_skip 'the picture is well-formed' 'no python3'
fi
run map a.snap
expect 'a picture of one' 64 'B is missing'
run map a.snap b.snap --by kind
expect 'a picture by a field' 64 'takes no --by'
run map a.snap b.snap --runs
expect 'a picture of runs' 64 'takes no --runs'
run map a.snap b.snap --summary
expect 'a picture of how many' 64 'takes no --summary'
run map a.snap b.snap --undecided
expect 'a picture of what is undecided' 64 'takes no --undecided'

# --- tasks ---

{
	cat a.scenario
	echo 'task 12 comm=old start=55'
	echo 'vma 12 7f0000000000-7f0000008000 rw-p 0 00:00 0'
	echo 'map 12 0x7f0000000000 pfn=0x100'
	echo 'map 12 0x7f0000001000 pfn=0x101'
	echo 'map 12 0x7f0000002000 pfn=0x140'
} > c.scenario
{
	cat a.scenario
	echo 'task 13 comm=new start=60'
	echo 'vma 13 7f0000000000-7f0000008000 rw-p 0 00:00 0'
	echo 'map 13 0x7f0000000000 pfn=0x100'
	echo 'map 13 0x7f0000001000 swap=0:33'
	echo 'map 13 0x7f0000004000 pfn=0x140'
} > d.scenario
"$mkproc" c.scenario c
"$mkproc" d.scenario d
run snapshot c.snap task 12 --root c --fields pid,vaddr,pfn,kind,pte -q
run snapshot d.snap task 13 --root d --fields pid,vaddr,pfn,kind,pte -q
run diff c.snap d.snap --json --fields pfn,kind -q
expect 'two tasks' 1
grep -o '"change":"[a-z]*"\|"vaddr":"0x[0-9a-f]*","pages"' stdout |
	sed 's/.*:"\(.*\)"$/\1/; s/","pages//' | paste -sd' ' - > said
echo 'gone 0x7f0000001000 moved 0x7f0000004000' > expected
tap_run 'two tasks: by address' diff expected said
cp written older
run diff c.snap live --root a -o written
expect 'a task that is gone' 1 'no such task'
tap_run 'a task that is gone: the file of before is still there' \
	cmp older written
run diff c.snap a.snap
expect 'a task and a machine' 64 'about different kinds of places'
run diff c.snap c.snap --format text -q
expect 'a task and itself' 0
run map c.snap d.snap -q
expect 'no picture of addresses' 64 'only frames have a place'

# --- a process that is changed ---

compile() {
	"${CC:-cc}" -O1 -o changes "$top_srcdir/tests/cli/changes.c" \
		> why.compile 2>&1
}
# begin: starts it; sets $pid and $address
begin() {
	mkfifo to from
	./changes < to > from &
	exec 8> to 9< from
	read -r pid address <&9
}
go() {
	echo >&8
	read -r done <&9
	[ "$done" = done ]
}
finish() {
	exec 8>&- 9<&-
	wait
	rm -f to from
}
# at N: prints the address of page N
at() {
	printf '0x%x' "$((0x$address + $1 * $(getconf PAGESIZE)))"
}
# changed: prints "PAGE CHANGE" for the process's pages in the last run
changed() {
	python3 -c '
import json, sys
base = int(sys.argv[1], 16)
size = int(sys.argv[2])
for line in open("stdout"):
    row = json.loads(line)
    if "total" in row:
        continue
    n = (int(row["vaddr"], 16) - base) // size
    if 0 <= n < 20:
        also = row.get("also", [])
        print(n, row["change"], *[a for a in also if a == "content"])' \
		"$address" "$(getconf PAGESIZE)" | sort -n
}

if ! compile; then
	tap_skip 'a process' 'no compiler'
elif ! command -v python3 > /dev/null; then
	tap_skip 'a process' 'no python3'
elif [ "$(id -u)" = 0 ] && dd if=/proc/kpageflags of=/dev/null bs=8 \
	count=1 2> /dev/null; then
	begin
	run snapshot p.snap task "$pid" -q \
		--fields pid,vaddr,pfn,kind,content,hash --hash-key key
	expect 'a process: saved' 0
	go
	run diff p.snap live -q --json --hash-key key
	expect 'a process: compared with what is live' 1
	changed > said
	cat > expected << 'END'
1 content
2 gone
4 gone
5 migrated content
6 appeared
16 moved
END
	tap_run 'what was done to it' diff expected said
	run diff p.snap live --json
	expect 'another key' 1 'made with different keys'
	finish
else
	begin
	run snapshot p.snap task "$pid" -q --fields pid,vaddr,kind,pte
	expect 'a process: saved' 0
	go
	run diff p.snap live -q --json
	changed > said
	# Without frames it is not known which page moved or was copied.
	cat > expected << 'END'
2 gone
3 gone
4 gone
6 appeared
16 appeared
END
	tap_run 'what was done to it' diff expected said
	finish
fi

# --- a truncated file ---

size=$(getconf PAGESIZE)
head -c $((4 * size)) /dev/zero > file
run snapshot f.snap file file -q --fields index,kind
if [ "$status" = 0 ]; then
	run diff f.snap live --json --fields kind
	expect 'a file: nothing changed' 0
	truncate -s $((2 * size)) file
	run diff f.snap live -q --json --fields kind
	grep -o '"change":"[a-z]*"\|"index":[0-9]*' stdout |
		sed 's/.*:"*\([a-z0-9]*\)"*/\1/' | paste -sd' ' - > said
	echo 'gone 2 gone 3' > expected
	tap_run 'a file that was cut' diff expected said
else
	tap_skip 'a file that was cut' 'pages of files cannot be seen here'
fi

tap_done
