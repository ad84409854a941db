#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests reports of traces as text. ftrace and trace-cmd wrote the texts of buffers
# whose pages are here too: both must give the same sums.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
keys=site,module,cache,family,cpu,node,tid,comm,order,migratetype,bytes_req

# same NAME TEXT PAGES: the same groups. A text has microseconds.
same() {
	run kmem report "$3" --by $keys --page-size 4096 --json -q
	mv "$tap_dir/stdout" "$tap_dir/pages"
	run kmem report "$2" --by $keys --page-size 4096 --json -q
	if [ "$status" = 69 ]; then
		tap_skip "$1" 'it is compressed, and the library is not there'
		return
	fi
	tap_run "$1" python3 - "$tap_dir/pages" "$tap_dir/stdout" <<'EOT'
import json
import sys


def read(path):
    with open(path) as f:
        rows = [json.loads(line) for line in f]
    total = rows.pop()["total"]
    for row in rows + [total]:
        del row["lifetime_ns"], row["page_lifetime_ns"]
    keep = ("times", "requested", "allocated", "freed", "live", "replaced",
            "freed_unknown", "pages_unknown", "freed_nothing", "events",
            "groups", "sites", "unnamed", "lost", "damaged", "disorder")
    return ({json.dumps(row, sort_keys=True) for row in rows},
            {key: total[key] for key in keep})


pages, text = read(sys.argv[1]), read(sys.argv[2])
assert len(pages[0]) > 40, len(pages[0])
assert pages[1] == text[1], (pages[1], text[1])
assert pages[0] == text[0], pages[0] ^ text[0]
EOT
}
same 'ftrace' "$traces/raw-6.18-x86_64/trace-nohash.txt.zst" \
	"$traces/raw-6.18-x86_64"
same 'ftrace, with hashed addresses' "$traces/raw-6.18-x86_64/trace.txt.zst" \
	"$traces/raw-6.18-x86_64"
same 'trace-cmd report' "$traces/tracedat/g612.report.txt.zst" \
	"$traces/tracedat/g612.v6.dat"

# --- what it says of them ---

cat > "$tap_dir/text" <<'EOT'
# tracer: nop
#
# entries-in-buffer/entries-written: 5/5   #P:2
#
     a-1 [000] x-7    [001] .....     1.000001: kmalloc: call_site=f+0x1/0x9 [mod] ptr=ffff888100000000 bytes_req=10 bytes_alloc=16 gfp_flags=GFP_KERNEL node=-1 accounted=false
           <...>-8    [000] d..2.     1.000002: kfree: call_site=g+0x2/0x9 ptr=ffff888100000000
              sh-9    (    77) [000] .....     1.000003: mm_page_alloc: page=ffffea0000000040 pfn=0x1 order=1 migratetype=0 gfp_flags=GFP_KERNEL
              sh-9    [000] .....     1.000004: sched_wakeup: comm=kmalloc: pid=3
              sh-9    [000] .....     1.000005: kmalloc: call_site=f+0x1/0x9 [mod] ptr=0000000000000000 bytes_req=7 bytes_alloc=0 gfp_flags=GFP_NOWAIT node=0 accounted=false
EOT
run kmem report "$tap_dir/text" --by site,module,comm --json -q
expect 'a text that is whole' 0
stdout_has 'a name of a thread that looks like a line' \
	'{"site":"f+0x1 [mod]","module":"mod","comm":"a-1 [000] x","times":1,"requested":10,"allocated":16'
stdout_has 'an allocation that failed' '"comm":"sh","times":0,"requested":0'
stdout_has 'other events' '"other":1'
"$PAGEDET" kmem report - --by family -q < "$tap_dir/text" > "$tap_dir/piped"
tap_run 'from standard input' grep -q 'total of 2 groups' "$tap_dir/piped"

run kmem report "$traces/raw-6.18-x86_64/trace.txt.zst" --limit 1
case $status in
69) tap_skip 'hashed addresses' 'the library is not there' ;;
*) expect 'hashed addresses' 0 'addresses are hashed' ;;
esac
sed 's,call_site=f+0x1/0x9 .mod.,call_site=f[,' "$tap_dir/text" > "$tap_dir/odd"
run kmem report "$tap_dir/odd" --by site,module,function --json -q
expect 'a name that ends with a bracket' 0
stdout_has 'it has no module' '"site":"f[","module":null,"function":"f["'
sed 's,: 5/5,: 5/105,' "$tap_dir/text" > "$tap_dir/lost"
run kmem report "$tap_dir/lost"
expect 'the kernel has counted what it lost' 2 '100 events lost by the kernel'
sed 's,^# entries.*,CPU:0 [LOST 12 EVENTS],' "$tap_dir/text" > "$tap_dir/lost"
run kmem report "$tap_dir/lost"
expect 'trace_pipe tells of losses' 2 '12 events lost by the kernel'
head -c 270 "$tap_dir/text" > "$tap_dir/cut"
run kmem report "$tap_dir/cut"
expect 'a line that was cut' 2 '1 piece of the trace: damaged'
sed 's/bytes_req=10/bytes_req=1x/' "$tap_dir/text" > "$tap_dir/wrong"
run kmem report "$tap_dir/wrong" --limit 1
expect 'a line that is damaged' 2 '1 piece of the trace: damaged'
echo hello > "$tap_dir/hello"
run kmem report "$tap_dir/hello"
expect 'a text that is not a trace' 65 'nor a text of ftrace'
tap_done
