#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests that the examples run on this machine, and that their results add up.
# They link the shared library, as other programs do.
. "$top_srcdir/tests/tap.sh"

examples=$top_builddir/examples

# says NAME PATTERN COMMAND...: exits 0 and prints a line like that
says() {
	name=$1
	pattern=$2
	shift 2
	status=0
	"$@" > "$tap_dir/out" 2>&1 || status=$?
	if [ "$status" -eq 0 ] && grep -q -e "$pattern" "$tap_dir/out"; then
		tap_ok "$name"
	else
		echo "exit status $status; looked for: $pattern" \
			>> "$tap_dir/out"
		tap_not_ok "$name" "$tap_dir/out"
	fi
}

says "quickstart: a variable of its own lies on its stack" \
	'"vma_name": *"\[stack\]"' "$examples/quickstart"

# A new file of three pages and a byte.
size=$(getconf PAGESIZE)
head -c $((3 * size + 1)) /dev/zero > "$tap_dir/file"
says "file-cache: a file that was just written is in memory" \
	'^4 of 4 pages are cached$' "$examples/file-cache" "$tap_dir/file"

if ! head -c 8 /proc/kpageflags > /dev/null 2>&1; then
	says "who-maps: says what it may not see" 'hint: ' \
		"$examples/who-maps" 1 0x1000
	says "memory-summary: says what it may not see" 'hint: ' \
		"$examples/memory-summary"
	tap_done
fi

end=$(sed -n 's/^[0-9a-f]*-\([0-9a-f]*\) .*\[stack\]$/\1/p' /proc/$$/maps)
# The last page of a stack is present, because it holds the environment.
address=$(printf '0x%x' $((0x$end - size)))
says "who-maps: finds this shell" "^user *$$ .*$address" \
	"$examples/who-maps" $$ "$address"
says "who-maps: finds as many as the kernel counts" \
	'^found \([0-9]*\), the kernel counts \1$' \
	"$examples/who-maps" $$ "$address"

says "memory-summary: there is anonymous memory" '^anon  *[1-9]' \
	"$examples/memory-summary"
awk '/^[a-z_]+ +[0-9]+ +[0-9.]+$/ { sum += $2 }
	/ pages looked at/ { total = $1 }
	END {
		print "sum of the kinds " sum ", pages looked at " total
		exit sum == 0 || sum != total
	}' "$tap_dir/out" > "$tap_dir/why" &&
	tap_ok "memory-summary: the kinds add up to all pages" ||
	tap_not_ok "memory-summary: the kinds add up to all pages" \
		"$tap_dir/why"

tap_done
