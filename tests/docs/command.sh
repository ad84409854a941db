#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that pagedet(1) has exactly the commands, options and exit statuses of
# the command.
. "$top_srcdir/tests/cli/cli.sh"

# The page as plain words: macros and their punctuation taken away.
plain() {
	sed -e 's/^\.\(It\|Op\|Nm\|Sh\|Ss\) //' -e 's/\\//g' \
		"$top_srcdir/man/pagedet.1"
}
section() {
	sed -n "/^\.Sh $1\$/,/^\.Sh /p" "$top_srcdir/man/pagedet.1"
}

# compare WHAT: expect $tap_dir/has (from the command) to equal $tap_dir/man.
compare() {
	sort -u -o "$tap_dir/has" "$tap_dir/has"
	sort -u -o "$tap_dir/man" "$tap_dir/man"
	{
		comm -23 "$tap_dir/has" "$tap_dir/man" |
			sed 's/$/: not in pagedet.1/'
		comm -13 "$tap_dir/has" "$tap_dir/man" |
			sed 's/$/: in pagedet.1, and not in the command/'
	} > "$tap_dir/why"
	if [ ! -s "$tap_dir/has" ]; then
		tap_not_ok "$1: the command tells none"
	elif [ -s "$tap_dir/why" ]; then
		tap_not_ok "$1" "$tap_dir/why"
	else
		tap_ok "$1"
	fi
}

run help
cp "$tap_dir/stdout" "$tap_dir/help"

sed -n '/^Commands$/,/^Options/s/^  \([a-z][a-z-]*\) .*/\1/p' "$tap_dir/help" \
	> "$tap_dir/has"
echo help >> "$tap_dir/has"
section COMMANDS | sed -n 's/^\.It Cm \([a-z-]*\).*/\1/p' > "$tap_dir/man"
compare "commands"

"$PAGEDET" help options | grep -o -e '^  .*' |
	sed -n 's/^  \(-[a-zA-Z0]\), \(--[a-z-]*\).*/\1 \2/p
		s/^  \(--[a-z-]*\).*/\1/p' | tr ' ' '\n' > "$tap_dir/has"
section OPTIONS | sed -n '/^\.It Fl/p' | grep -o 'Fl [a-zA-Z0-]*' |
	sed -e 's/Fl /-/' > "$tap_dir/man"
compare "options"

sed -n '/^Exit status/,$p' "$tap_dir/help" | grep -o '\(^\|  \) *[0-9][0-9]*  ' |
	tr -d ' ' > "$tap_dir/has"
section 'EXIT STATUS' | sed -n 's/^\.It \([0-9]*\)$/\1/p' > "$tap_dir/man"
compare "exit status"

# The words of formats, sources and reasons, in options and answers.
sed -n 's/^PDET_STATE([A-Z_]*, "\([a-z_]*\)".*/\1/p' \
	"$top_srcdir/libpagedet/schema/names.def" |
	grep -vx 'not_asked\|have\|none' > "$tap_dir/has"
section HONESTY | sed -n 's/^\.It Cm \([a-z_]*\)$/\1/p' > "$tap_dir/man"
compare "reasons"

# pagedet accepts the options, commands and filters of the examples, those of its
# help included. None of them inspects anything, because the root is empty; one that records does,
# while make finds nothing to do.
mkdir "$tap_dir/root"
{
	section EXAMPLES
	section 'EXAMPLES OF ALLOCATIONS'
} | sed -n '/^\.Bd/,/^\.Ed/s/^pagedet /pagedet /p' > "$tap_dir/examples"
sed -n '/^Examples/,/^$/s/^  \(sudo \)\{0,1\}\(pagedet .*[^ ]\)   .*/\2/p' \
	"$tap_dir/help" > "$tap_dir/shown"
tap_run "help shows five examples" test "$(wc -l < "$tap_dir/shown")" -eq 5
cat "$tap_dir/shown" >> "$tap_dir/examples"
[ -s "$tap_dir/examples" ] || tap_not_ok "there are examples"
while IFS= read -r line; do
	status=0
	(
		pagedet() {
			# Only the running kernel can be recorded. A recorder
			# removes what one that was killed has left, for which
			# other tests look.
			case "$1 $2" in
			'kmem record')
				tap_lock kmem
				"$PAGEDET" "$@" ;;
			*) "$PAGEDET" --root "$tap_dir/root" "$@" ;;
			esac
		}
		cd "$tap_dir"
		eval "$line"
	) > "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null || status=$?
	if [ "$status" -eq 64 ] || [ "$status" -ge 126 ]; then
		tap_not_ok "example: $line" "$(why)"
	else
		tap_ok "example: $line"
	fi
done < "$tap_dir/examples"

tap_done
