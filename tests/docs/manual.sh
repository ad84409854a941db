# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# shellcheck shell=sh
# For tests of manual pages that scripts/gen-manual writes.
. "$top_srcdir/tests/tap.sh"

generate=$top_srcdir/scripts/gen-manual
: "${PYTHON3:=python3}"

if ! "$PYTHON3" -c 'import lzma, zlib' 2> /dev/null; then
	tap_skip "manual pages" "$PYTHON3 lacks lzma or zlib"
	tap_done
fi

# checked PAGE: expect PAGE to show the output of its commands.
checked() {
	"$PYTHON3" "$generate" --check "$1" "$top_srcdir" "$top_builddir" \
		> "$tap_dir/checked" 2>&1 || echo "it failed" >> "$tap_dir/checked"
	while read -r state name; do
		case $state in
		ok) tap_ok "${name#*- }" ;;
		not) tap_not_ok "${name#*- }" "$tap_dir/checked" ;;
		esac
	done < "$tap_dir/checked"
	tap_run "$1 was checked to its end" \
		grep -q '^1\.\.[1-9]' "$tap_dir/checked"
}

# refused PAGE NAME WORDS SED: expect WORDS after SED changed the page's source.
refused() {
	mkdir -p "$tap_dir/tree/man"
	for folder in bindings include tests; do
		ln -sfn "$top_srcdir/$folder" "$tap_dir/tree/$folder"
	done
	cp "$top_srcdir/man/$1" "$tap_dir/tree/man"
	sed "$4" "$top_srcdir/man/$1.in" > "$tap_dir/tree/man/$1.in"
	if "$PYTHON3" "$generate" --check "$1" "$tap_dir/tree" "$top_builddir" \
		> "$tap_dir/out" 2>&1; then
		echo "it was content" >> "$tap_dir/out"
	elif grep -qF -e "$3" "$tap_dir/out"; then
		tap_ok "$2"
		return
	fi
	tap_not_ok "$2" "$tap_dir/out"
}
