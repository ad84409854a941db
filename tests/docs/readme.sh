#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# README.md says what is: its program is the example, its table is what the
# library answers, what it points to is there.
. "$top_srcdir/tests/cli/cli.sh"

readme=$top_srcdir/README.md

sed -n '/^```c$/,/^```$/{/^```/!p;}' "$readme" > "$tap_dir/program.c"
sed 1d "$top_srcdir/examples/quickstart.c" > "$tap_dir/example.c"
tap_run "the program is examples/quickstart.c" \
	diff -u "$tap_dir/program.c" "$tap_dir/example.c"

# Fields and sources: "unsupported" and "not built" are the same on every
# machine; a privilege or a kernel's feature that is missing is not.
run doctor --json
expect "doctor answers" 0
sed -n 's/^{"field":"\([a-z_]*\)","source":"\([a-z_]*\)","can":true,.*/\1 \2/p
	s/^{"field":"\([a-z_]*\)","source":"\([a-z_]*\)",.*"why":"\(a privilege is missing\|the kernel lacks [^"]*\)".*/\1 \2/p' \
	"$tap_dir/stdout" | sort > "$tap_dir/answered"
sed -n 's/^{"field":"\([a-z_]*\)".*/\1/p' "$tap_dir/stdout" | sort -u \
	> "$tap_dir/fields"
awk -F '|' '/^## What can be answered/ { on = 1 }
	/^## Build/ { on = 0 }
	on && $2 ~ /`/ {
		n = split($2, field, "`")
		gsub(/ /, "", $3)
		for (i = 2; i <= n; i += 2)
			print field[i], $3
	}' "$readme" | sort > "$tap_dir/table"
awk '{ n = split($2, source, ","); for (i = 1; i <= n; i++) print $1, source[i] }' \
	"$tap_dir/table" | sort > "$tap_dir/table-sources"
grep -E ' (procfs|derived)$' "$tap_dir/table-sources" \
	> "$tap_dir/table-answered" || :
grep -E ' (procfs|derived)$' "$tap_dir/answered" > "$tap_dir/answered-files" || :
tap_run "the table has the fields that sources answer" \
	diff -u "$tap_dir/table-answered" "$tap_dir/answered-files"
# Not every kernel shows its memory, and not all of what is in it.
sed -n 's/ memory$//p' "$tap_dir/table-sources" > "$tap_dir/table-memory"
sed -n 's/ \(bpf\|kcore\|vmcore\)$//p' "$tap_dir/answered" | sort -u |
	comm -23 - "$tap_dir/table-memory" > "$tap_dir/unsaid"
tap_run "and those that are in a kernel's memory" test ! -s "$tap_dir/unsaid"
cut -d ' ' -f 1 "$tap_dir/table" > "$tap_dir/table-fields"
tap_run "the table has every field once" \
	diff -u "$tap_dir/table-fields" "$tap_dir/fields"

# Commands in the table, and those that it says are missing, are all.
"$PAGEDET" help | sed -n '/^Commands$/,/^Options/s/^  \([a-z][a-z-]*\) .*/\1/p' |
	sort > "$tap_dir/commands"
{
	sed -n '/^## The command/,/^All but/s/^| \(`.*\) | .*/\1/p' "$readme" |
		grep -o '`[a-z][a-z-]*' | tr -d '`'
	sed -n '/^Not in this release/,/^$/p' "$readme" |
		grep -o '`[a-z][a-z-]*`' | tr -d '`'
} | sort > "$tap_dir/named"
tap_run "it names every command once" \
	diff -u "$tap_dir/named" "$tap_dir/commands"

"$PAGEDET" help | sed -n '/^Commands$/,/^Options/s/^  \([a-z][a-z-]*\) .* \*$/\1/p' \
	> "$tap_dir/waits"
sed -n '/^Not in this release/,/^$/p' "$readme" > "$tap_dir/missing"
while read -r name; do
	grep -q "\`$name\`" "$tap_dir/missing" || echo "$name"
done < "$tap_dir/waits" > "$tap_dir/why"
if [ -s "$tap_dir/why" ]; then
	tap_not_ok "what waits is said to wait" "$tap_dir/why"
else
	tap_ok "what waits is said to wait"
fi

# Files of the source tree that it names.
grep -o '`[A-Za-z./_-]*`' "$readme" | tr -d '`' | sort -u |
	while read -r path; do
		case $path in
		examples/* | man/* | bindings/* | bench/* | include/* | \
		COPYING* | CONTRIBUTING.md)
			[ -e "$top_srcdir/$path" ] || echo "$path: is not there"
			;;
		esac
	done > "$tap_dir/why"
if [ -s "$tap_dir/why" ]; then
	tap_not_ok "files that it names are there" "$tap_dir/why"
else
	tap_ok "files that it names are there"
fi

tap_done
