#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests an area where a driver has mapped frames by their numbers: the ring
# buffer of a performance counter. /proc does not show its entries since the
# kernel maps it so (6.13); a source that reads page tables does.
. "$top_srcdir/tests/cli/cli.sh"

mkfifo "$tap_dir/stop"
"$PYTHON3" - "$tap_dir/ring" 5< "$tap_dir/stop" << 'END' &
import ctypes, mmap, os, platform, struct, sys
number = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
page = mmap.PAGESIZE
with open(sys.argv[1] + ".new", "w") as out:
    try:
        # A software counter that counts nothing, of this thread.
        attr = struct.pack("<IIQ", 1, 112, 9) + bytes(96)
        libc = ctypes.CDLL(None, use_errno=True)
        fd = libc.syscall(number, attr, 0, -1, -1, 0) if number else -1
        if fd < 0:
            raise OSError(ctypes.get_errno(), "perf_event_open")
        ring = mmap.mmap(fd, 3 * page)
        empty = mmap.mmap(-1, 3 * page, mmap.MAP_PRIVATE)
        ring[0], ring[page], ring[2 * page]
        empty[page] = 1
        at = ctypes.addressof
        print(os.getpid(),
              "%#x" % at(ctypes.c_char.from_buffer(ring)),
              "%#x" % at(ctypes.c_char.from_buffer(empty)), page, file=out)
    except OSError as error:
        print("-", error, file=out)
os.rename(sys.argv[1] + ".new", sys.argv[1])
os.read(5, 1)
END
exec 6> "$tap_dir/stop"
tap_wait test -e "$tap_dir/ring"
read -r pid ring empty size < "$tap_dir/ring"
# skip WHY: nothing more can be tested
skip() {
	tap_skip 'an area that a driver has mapped' "$1"
	exec 6>&-
	tap_done
	exit
}
[ "$pid" != - ] ||
	skip "a performance counter cannot be mapped: $ring $empty $size"
awk -v at="${ring#0x}" 'index($1, at "-") == 1 { is = 1 }
	is && /^VmFlags:/ { print; exit }' "/proc/$pid/smaps" |
	grep -q ' pf ' || skip 'this kernel shows the entries of a ring buffer'

# --- /proc ---

fields=kind,pte,pfn,pte_level
run --backend procfs virt "$pid" "$ring+$((3 * size))" --json --fields $fields
expect '/proc: it cannot know the entries' 2 'kind: not answered in any row'
stdout_has '/proc: nor the kind' \
	'"missing":{"pfn":"unsupported","kind":"unsupported","pte":"unsupported"'
tap_fails '/proc: it does not say that nobody has touched them' \
	grep -q untouched "$tap_dir/stdout"
run --backend procfs virt "$pid" "$ring" --where kind=untouched --json
expect '/proc: a filter is undecided' 2 '1 page undecided'
run --backend procfs virt "$pid" "$empty+$((2 * size))" --json --fields kind
expect '/proc: other areas are as before' 0
stdout_has '/proc: an untouched page' '{"kind":"untouched"}'
run --backend procfs task "$pid" --by kind
expect '/proc: the list of pages is not the whole' 2 \
	'not everything could be read'

# --- a source that reads page tables ---

run --backend bpf virt "$pid" "$ring" --json --fields pfn,pte
case $status in
69 | 77) skip 'bpf may not be used here' ;;
esac
expect 'bpf: it is asked' 0
pfn=$(sed -n 's/{"pfn":\([0-9]*\),"pte":\["present".*/\1/p' "$tap_dir/stdout")
tap_run 'bpf: the page is there' test -n "$pfn"
run --backend bpf mappers "$pfn" -q --json --fields pfn,map,pid,vaddr
expect 'bpf: who maps it' 0
stdout_has 'bpf: its mapping' "\"pid\":$pid,\"vaddr\":\"$ring\""
stdout_has 'bpf: it is found' '"found":1,'
run --backend bpf task "$pid" --json --fields pfn
stdout_has 'bpf: it is a page of the task' "{\"pfn\":$pfn}"
run --backend procfs mappers "$pfn" --json
expect '/proc: it cannot tell who maps it' 2 'a driver may have mapped'
stdout_has '/proc: the number is missing' '"missing":{"found":"unsupported"'
tap_fails '/proc: it does not say that nobody maps it' \
	grep -q nobody "$tap_dir/stderr"
run --backend procfs page "$pfn" --json --fields user_maps
expect '/proc: nor how many do' 2 'user_maps'
run --backend procfs explain "$pfn"
tap_fails '/proc: nor is that an explanation' \
	grep -qE 'nobody|no task|no process' "$tap_dir/stdout"

# --- both ---

run virt "$pid" "$ring" --json --fields pfn,pte,notes -v
stdout_has 'an entry that /proc does not show is read from the table' \
	"{\"pfn\":$pfn,\"pte\":[\"present\""
stdout_has 'it is not torn' '"notes":[]'
run virt "$pid" "$ring" --json --fields pfn,refcount
stdout_has 'whatever else is asked' "{\"pfn\":$pfn,\"refcount\":"
run virt "$pid" "$empty" "$ring" --json --fields pfn --where 'refcount>=1'
stdout_has 'also of several places, with a filter' "{\"pfn\":$pfn}"
run virt "$pid" "$empty+$((2 * size))" --json --fields kind,pte -v
stdout_has 'an entry that it shows is not' '"source":{"kind":"procfs"'
run mappers "$pfn" -q --json --fields pfn,map,pid,vaddr
expect 'who maps it' 0
stdout_has 'who maps it: its mapping' "\"pid\":$pid,\"vaddr\":\"$ring\""
exec 6>&-
tap_done
