#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests commands in the advice of "explain page": they use the same source as
# the query, not the running kernel, and they work.
. "$top_srcdir/tests/cli/cli.sh"

# Paths that a shell would interpret.
root="$tap_dir/a machine's"
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-machine.scenario" "$root"

# commands OPTION FILE: prints the commands for all pages, each once
commands() {
	for why in free migrate pinned reclaim leak; do
		"$PAGEDET" "$1" "$2" --json --fields pfn,kind scan |
			sed -n 's/{"pfn":\([0-9]*\),.*/\1/p' |
			xargs "$PAGEDET" "$1" "$2" --why $why explain page \
			2> /dev/null || :
	done | grep -o "'pagedet .*' [ls]\|(pagedet [^)]*)" |
		sed "s/^.\(.*\)' [ls]\$/\1/; s/^(\(.*\))\$/\1/" | sort -u
}

# works COMMAND: finding nothing is an answer, too
works() {
	works_status=0
	sh -c "\"\$PAGEDET\" ${1#pagedet }" || works_status=$?
	case $works_status-$1 in
	[01]-*)
		return 0 ;;
	69-*' stack '*)	# advised where page_owner is on
		return 0 ;;
	esac
	return 1
}

export PAGEDET
commands --root "$root" > "$tap_dir/commands"
tap_run 'a captured tree: there is advice' test -s "$tap_dir/commands"
tap_fails 'a captured tree: no command is about the running kernel' \
	grep -v "^pagedet --root '.*a machine'\\\\''s' " "$tap_dir/commands"
while read -r command; do
	tap_run "a captured tree: ${command##*/}" works "$command"
done < "$tap_dir/commands"
tap_done
