#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what is said of libraries that are loaded: of each of docs/build.md, if it
# is built in, doctor says whether it can be loaded, and which package has it.
. "$top_srcdir/tests/cli/cli.sh"

run doctor
expect 'doctor answers' 0
# parts: those of the last answer, a line each
parts() {
	sed -n '/^parts /,/^caller /{
		/^caller /d
		s/^parts//
		p
	}' "$tap_dir/stdout" | tr -s ' ' '\n' | sed '/^$/d'
}
parts > "$tap_dir/parts"
for part in text json csv libelf zlib; do
	tap_run "$part is there" grep -qx "$part" "$tap_dir/parts"
done

"$PAGEDET" --version > "$tap_dir/version"
can_load() {
	"$PYTHON3" -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" \
		2> "$tap_dir/why"
}

# without SONAME PACKAGE PART: an empty file comes before the library
without() {
	if grep -q "^  $3  *not built " "$tap_dir/version"; then
		tap_skip "without $1" "it is not built in"
		return
	elif ! can_load "$1"; then
		tap_skip "without $1" "it cannot be loaded here"
		return
	fi
	tap_run "$1 is loaded" grep -qx "$3" "$tap_dir/parts"
	mkdir "$tap_dir/$1"
	: > "$tap_dir/$1/$1"
	status=0
	LD_LIBRARY_PATH=$tap_dir/$1 "$PAGEDET" doctor > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" || status=$?
	parts > "$tap_dir/left"
	tap_fails "without $1: $3 is not a part" grep -qx "$3" "$tap_dir/left"
	tap_run "without $1: others are" grep -qx json "$tap_dir/left"
	sed -n "/^no   $3 /,/^[^ ]/p" "$tap_dir/stdout" | grep '^ ' \
		> "$tap_dir/lines" || :
	cp "$tap_dir/stdout" "$tap_dir/all"
	cp "$tap_dir/lines" "$tap_dir/stdout"
	stdout_has "without $1: why" "$tap_dir/$1/$1: file too short"
	stdout_has "without $1: what to install" "(on Debian: $2)"
}

without libelf.so.1 libelf1 libelf
without libz.so.1 zlib1g zlib
without libdeflate.so.0 libdeflate0 libdeflate
without libdw.so.1 libdw1 libdw
without liblzma.so.5 liblzma5 xz
without liblzo2.so.2 liblzo2-2 lzo
without libsnappy.so.1 libsnappy1v5 snappy
without libunwind-x86_64.so.8 libunwind8 libunwind
without libzstd.so.1 libzstd1 zstd

# The same ones as there.
sed -n 's/^without \(lib.*\) \(lib.*\|zlib1g\) .*/\1 \2/p' "$0" |
	LC_ALL=C sort > "$tap_dir/tested"
sed -n 's/^| `\(lib[^`]*\.so\.[0-9]*\)` | `\([^`]*\)` |.*/\1 \2/p' \
	"$top_srcdir/docs/build.md" | LC_ALL=C sort > "$tap_dir/listed"
tap_run 'all of docs/build.md' diff "$tap_dir/listed" "$tap_dir/tested"

tap_done
