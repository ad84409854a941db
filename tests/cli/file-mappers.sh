#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests which processes map a file: the right one of two files with one name.
. "$top_srcdir/tests/cli/cli.sh"

chmod 755 "$tap_dir"
prog=$tap_dir/prog
cp "$(command -v sleep)" "$prog"
cp "$prog" "$tap_dir/other"
"$prog" 600 &
ours=$!
trap 'kill $ours $theirs 2> /dev/null || :; chmod -R u+w "$tap_dir"
	rm -rf "$tap_dir"' EXIT
theirs=

is_prog() {
	grep -qx prog "/proc/$1/comm" 2> /dev/null
}
is_prog_or_ended() {
	is_prog "$1" || tap_ended "$1"
}
# begun PID: waits until it has become the program; fails if it ended before
begun() {
	tap_wait is_prog_or_ended "$1" && is_prog "$1"
}

begun $ours
run mappers "$prog" --json
tap_run 'our process maps it' \
	grep -q "^{\"pid\":$ours,\"comm\":\"prog\"" "$tap_dir/stdout"

run mappers "$prog"
stdout_has 'how much is mapped is not how much is in memory' ' virtual '

# A container with another file of that name.
unshare -m sh -c "mount --bind '$tap_dir/other' '$prog' && exec '$prog' 600" \
	2> "$tap_dir/why" &
theirs=$!
if begun $theirs; then
	run mappers "$prog" --json
	tap_fails 'another file of that name is not it' \
		grep -q "^{\"pid\":$theirs," "$tap_dir/stdout"
	run mappers "$tap_dir/other" --json
	tap_run 'and is found by its own name' \
		grep -q "^{\"pid\":$theirs," "$tap_dir/stdout"
else
	tap_skip 'another file of that name' 'no mount namespace can be made'
fi

# An input that can be read only once is read once.
run file - --watch 1 < /dev/null
expect 'a list is not watched' 64 'standard input can be read only once'

tap_done
