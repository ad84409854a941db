#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
# Tests user stacks of a small dump, which has the kernel stack of one thread
# and not the file that it runs: where it is, is known, and its callers are not.
. "$top_srcdir/tests/cli/cli.sh"

cd "$tap_dir" || exit 1
command -v xz > why || {
	echo "1..0 # SKIP needs xz"
	exit 0
}
xz -dc "$top_srcdir/tests/fixtures/vmcore/kdump-zstd.xz" > dump
# stacks PID: its threads, without rows.
stacks() {
	run --from dump task "$1" --stacks=user --json --fields pid \
		--where kind=reserved
}
stacks 79
if [ "$status" = 69 ] || grep -q '"not_built"' stdout; then
	echo "1..0 # SKIP dumps, zstd or libunwind are not built"
	exit 0
fi
stdout_has 'where the thread is' '"type":"user","address":"0x445610",'
stdout_has 'the program is not in the dump' \
	'"why":"the file is not in the dump"}'
stdout_has 'the stack ends, and says so' \
	'"why":"there is no table for unwinding this code"}]'
stacks 74
stdout_has 'a thread whose kernel stack is not in the dump' \
	'"missing":{"user_stack":"corrupt"}'
stacks 2
stdout_has 'a kernel thread' '"user_stack":[]'
run --from dump task 74 --stacks=user --fields pid --where kind=reserved
stdout_has 'why it has none' 'its kernel stack is damaged or not in the dump'
run --from dump task 79 --stacks=user --folded
stdout_is 'folded' 'mkpages-child;unknown;0x445610_[mkpages] 1'
run --from dump task 74 --stacks=user --folded
expect 'folded: why it has none' 2 'is damaged or not in the dump'
stdout_is 'folded: a thread without a stack' 'mkpages;unknown 1'
# Threads of a dump cannot be stopped: the same answers.
run --from dump task 79 --stacks=user --stop --fields pid --where kind=reserved
stdout_has 'memory answers' '    0x445610 [mkpages]'
tap_run 'and nothing was stopped' sh -c '! grep -q stopped "$1"' sh \
	"$tap_dir/stdout"
run --from dump task 74 --stacks=user --stop --fields pid --where kind=reserved
tap_run 'the same reason, and no other one' \
	grep -q 'its kernel stack is damaged or not in the dump$' "$tap_dir/stdout"
# A page that was cut from a dump, but for its bytes.
xz -dc "$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz" > zeros
run --from zeros task 1 --stacks=kernel --fields pid --where kind=reserved
stdout_has 'a kernel stack of zeros' \
	'thread 1 of 1: ? cannot read the stack of thread 1: it is damaged or not in the dump'
# The same without the page: its place is in none of the segments.
"$PYTHON3" - > without <<'END'
import struct
import sys
data = bytearray(open("zeros", "rb").read())
ram, = struct.unpack_from("<Q", data, 32)
ram += 56
offset, _, _, size = struct.unpack_from("<4Q", data, ram + 8)
page = 2069 * 4096
for at, start, end in (ram, 0, page), (ram + 56, page + 4096, size):
    struct.pack_into("<5Q", data, at + 8, offset + start, start, start,
                     end - start, end - start)
sys.stdout.buffer.write(data)
END
run --from without task 1 --stacks=both --fields pid --where kind=reserved
stdout_has 'the page of a kernel stack' \
	'thread 1 of 1: ? cannot read the stack of thread 1: the page where it begins is not in the dump'
stdout_has 'and of the registers' \
	'thread 1: the page of its kernel stack with its registers is not in the dump'
run --from without task 1 --stacks=both --json --fields pid \
	--where kind=reserved
stdout_has 'and as JSON' '"missing":{"kernel_stack":"io","user_stack":"io"}'
run --from dump task 79 --folded
expect 'folded without stacks' 64 '--folded needs --stacks'
run --from dump task 79 --stacks --folded --json
expect 'folded is a format' 64 '--folded is a format of its own, of all threads: it cannot be combined with another format'
run --from dump task 79 --stacks --flame "$tap_dir/x.svg" --by kind
expect 'a picture of all threads' 64 'it cannot be combined with --by'
tap_done
