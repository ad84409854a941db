#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests pictures of memory: they agree with a scan, and are well-formed whatever
# memory contains.
. "$top_srcdir/tests/cli/cli.sh"

mkproc=$top_builddir/tests/fixtures/mkproc
root=$tap_dir/root
mkdir "$root"
cat > "$tap_dir/scenario" << 'END'
pages 0x8000
page 0x0+0x100 flags=reserved
page 0x100+0x700 flags=uptodate,lru,anon,mmap,swapbacked count=1 cgroup=45
page 0x900+0x200 flags=uptodate,lru,mmap,dirty count=2 cgroup=46
page 0x1000+0x400 flags=buddy
page 0x2345 flags=hwpoison,reserved
page 0x7fff flags=slab
cgroup 45 /a<b&c
cgroup 46 /a/b
mount 25 1 0:22 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw
zone node=0 name=DMA start=0 spanned=0x8000 present=0x8000
iomem 0 0-7ffffff System RAM
END
"$mkproc" "$tap_dir/scenario" "$root"

svg=$tap_dir/map.svg
well_formed() {
	if ! command -v python3 > /dev/null; then
		tap_skip "$1" 'no python3'
		return
	fi
	tap_run "$1" python3 -c '
import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$2"
}
# legend FILE: prints "NAME PAGES" of each line with both
legend() {
	grep -o '<text [^>]*>[^<]*</text>' "$1" | grep -v bold |
		sed 's/<text \([^>]*\)>\([^<]*\)<.*/\1|\2/' |
		awk -F'|' '/anchor="end"/ { if (name != "") print name, $2
				name = ""; next }
			{ name = $2 }' | sort
}
same() {
	"$PAGEDET" scan --root "$root" --by "$1" --format csv |
		sed '1d; s/,/ /g' | awk '{ print $1, $2 }' | sort \
		> "$tap_dir/counted"
	"$PAGEDET" map --root "$root" --by "$1" -o "$svg"
	legend "$svg" | grep -v '^total \|^hwpoison ' > "$tap_dir/drawn"
	tap_run "by $1: as a scan counts" \
		diff "$tap_dir/counted" "$tap_dir/drawn"
	well_formed "by $1: well-formed" "$svg"
}

run map --root "$root" -o "$svg"
expect 'by kind' 0
run map --root "$root"
expect 'to standard output' 0
for drawn in "$tap_dir/stdout" "$svg"; do
	sed 's/[0-9-]* [0-9:]* UTC//' "$drawn" > "$drawn.timeless"
done
tap_run 'the same twice' cmp "$tap_dir/stdout.timeless" "$svg.timeless"
stdout_has 'says where it is from' 'Memory of root by kind'
stdout_has 'poison is marked' '>hwpoison</text>'
tap_run 'has one mark in the picture, and one in the legend' \
	test "$(grep -o '<circle [^>]*#c00000' "$svg" | wc -l)" = 2
legend "$svg" > "$tap_dir/legend"
tap_run 'all of memory' grep -qx 'total 3586' "$tap_dir/legend"
same kind
same zone

run map --root "$root" --by memcg_path
stdout_has 'names are escaped' '/a&lt;b&amp;c'
well_formed 'and the picture is well-formed' "$tap_dir/stdout"
run map --root "$root" --layout linear
expect 'row by row' 0
stdout_has 'says so' 'row by row'
well_formed 'well-formed, too' "$tap_dir/stdout"

run map --root "$root" --where flags:dirty -o "$svg"
expect 'with a filter' 0
legend "$svg" > "$tap_dir/legend"
tap_run 'what matches' grep -qx 'file 512' "$tap_dir/legend"
tap_run 'what does not' grep -qx 'does not match 3074' "$tap_dir/legend"
well_formed 'well-formed with a filter' "$svg"
run map --root "$root" --where 'kind=pgtable' -o "$svg"
expect 'nothing matches' 1 'no page matched'
run map --root "$root" --where 'mapcount>1 and mapcount<1 or alloc_pid=3'
expect 'a filter that nobody can decide' 2 'undecided'
stdout_has 'is drawn as unknown' '? undecided'

run map --root "$root" --by alloc_comm
expect 'a field that nobody knows' 2 'alloc_comm'
stdout_has 'is drawn as such, with the reason' '>? unsupported'
well_formed 'well-formed without an answer' "$tap_dir/stdout"

# --- PNG ---

png=$tap_dir/map.png
if command -v rsvg-convert > /dev/null; then
	run map --root "$root" -o "$png"
	expect 'PNG' 0
	tap_run 'it is one' sh -c 'head -c 8 "$1" | od -An -c | grep -q "211   P   N   G"' \
		sh "$png"
	run map --root "$root" --where nonsense -o "$tap_dir/none.png"
	expect 'PNG with a filter that is wrong' 64 'cannot understand filter'
else
	tap_skip 'PNG' 'no rsvg-convert'
fi
# An impossible format is reported before memory is read, and no SVG gets the
# name.
rm -f "$png"
status=0
PATH=/nonexistent "$PAGEDET" map --root "$root" -o "$png" \
	> "$tap_dir/stdout" 2> "$tap_dir/stderr" || status=$?
expect 'PNG without rsvg-convert' 69 'rsvg-convert'
tap_run 'no SVG is called PNG' test ! -e "$png"

# --- holes ---

cat > "$tap_dir/scenario" << 'END'
pages 0x40000
page 0x0+0x1000 flags=uptodate,lru,anon,mmap,swapbacked count=1
page 0x30000+0x1000 flags=buddy
zone node=0 name=DMA start=0 spanned=0x40000 present=0x2000
iomem 0 0-ffffff System RAM
iomem 0 30000000-30ffffff System RAM
END
mkdir "$tap_dir/holes"
"$mkproc" "$tap_dir/scenario" "$tap_dir/holes"
run map --root "$tap_dir/holes"
expect 'holes' 0
stdout_has 'a hole is left out, and said' 'left out: 16 MiB to 768 MiB'
stdout_has 'what is behind it has its address' '<title>0x30000000 to '

for format in --json '--format=csv' '--format=text' '--format=arrow'; do
	run map --root "$root" $format
	expect "map $format" 64 'map takes no --format'
	tap_fails "map $format writes nothing" test -s "$tap_dir/stdout"
done
run map --root "$root" --top 3
expect 'map --top' 64 'map takes no --top'
if command -v script > /dev/null; then
	status=0
	script -qec "stty cols 300; $PAGEDET map --root '$root'" /dev/null \
		< /dev/null > "$tap_dir/stdout" || status=$?
	tap_run 'no picture for a terminal: status' test "$status" = 64
	stdout_has 'no picture for a terminal' \
		"try: pagedet --root $root map -o map.svg;"
	script -qec "$PAGEDET map --root '$root' -o -" /dev/null < /dev/null \
		> "$tap_dir/stdout"
	stdout_has 'but if it is asked for' '<svg'
else
	tap_skip 'no picture for a terminal' 'needs script(1)'
fi
run map --root "$root" --by kind,flags
expect 'two fields' 64 'one field'
run map --root "$root" --by nonsense
expect 'no such field' 64 'nonsense'
run map --root "$root" --by pfn
expect 'a field without colours' 64 'pfn'
run map --root "$root" --layout spiral
expect 'no such layout' 64 'spiral'
run map --root "$root" --summary
expect 'it counts anyway' 64 'summary'
run map --root "$root" --where nonsense -o "$tap_dir/none.svg"
expect 'a filter that is wrong' 64 'cannot understand filter'
tap_run 'no file is left' test ! -e "$tap_dir/none.svg"
run scan --root "$root" --layout linear
expect 'only a map has a layout' 64 'layout'
run map --root "$root" --deadline 0.0000001
expect 'too late' 2 'deadline'
stdout_has 'the picture says so' '>Partial: '
tap_done
