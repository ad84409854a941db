#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests answers about a kernel that changes while it is read: a row that
# contradicts itself says so, and a list that changes is not damaged.
. "$top_srcdir/tests/cli/cli.sh"

# --- an index that is older than the kernel's count ---

# outdated NAME WHAT TEXT
outdated() {
	if "$top_builddir/tests/cli/outdated" "$2" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr"; then
		stdout_is "$1" "$3"
	else
		tap_skip "$1" "$(tr '\n' ' ' < "$tap_dir/stderr")"
	fi
}
outdated 'a mapping ended since: the row is of two moments' ended \
	'user_maps 2 mapcount 1 torn'
outdated 'a mapping was made since: one is missing' made \
	'user_maps 1 mapcount 2 partial'

# --- programs are executed and end all the time ---

load() {
	while [ -e "$tap_dir/busy" ]; do
		sh -c true
	done
}
: > "$tap_dir/busy"
trap 'rm -f "$tap_dir/busy"; wait; rm -rf "$tap_dir"' EXIT
load &
load &

for backend in bpf kcore; do
	if ! "$PAGEDET" task self --backend $backend -q > /dev/null 2>&1; then
		tap_skip "$backend" 'it cannot be read here'
		continue
	fi
	: > "$tap_dir/damaged"
	for _ in 1 2 3 4 5; do
		for question in 'tasks' 'task all --summary' 'mappers 0'; do
			# Several words.
			# shellcheck disable=SC2086
			run $question --backend $backend
			grep damaged "$tap_dir/stderr" >> "$tap_dir/damaged" || :
		done
	done
	if [ -s "$tap_dir/damaged" ]; then
		tap_not_ok "$backend: a list that changes is not damaged" \
			"$tap_dir/damaged"
	else
		tap_ok "$backend: a list that changes is not damaged"
	fi
done

tap_done
