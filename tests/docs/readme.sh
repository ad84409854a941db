#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests that README.md is short, that its commands and files exist, and that the
# table of docs/sources.md matches the library's answers.
. "$top_srcdir/tests/cli/cli.sh"

readme=$top_srcdir/README.md

tap_run "README.md is read to its end: at most 8 KB" \
	test "$(wc -c < "$readme")" -le 8192

# Fields and sources. The states "unsupported" and "not built" are the same on
# every machine. A missing privilege or kernel feature depends on the machine.
run doctor --json
expect "doctor answers" 0
sed -n 's/^{"field":"\([a-z_]*\)","source":"\([a-z_]*\)","can":true,.*/\1 \2/p
	s/^{"field":"\([a-z_]*\)","source":"\([a-z_]*\)",.*"why":"\(a privilege is missing\|the kernel lacks [^"]*\)".*/\1 \2/p' \
	"$tap_dir/stdout" | sort > "$tap_dir/answered"
sed -n 's/^{"field":"\([a-z_]*\)".*/\1/p' "$tap_dir/stdout" | sort -u \
	> "$tap_dir/fields"
awk -F '|' '/^\| field / { on = 1 }
	on && $2 ~ /`/ {
		n = split($2, field, "`")
		gsub(/ /, "", $3)
		for (i = 2; i <= n; i += 2)
			print field[i], $3
	}' "$top_srcdir/docs/sources.md" | sort > "$tap_dir/table"
awk '{ n = split($2, source, ","); for (i = 1; i <= n; i++) print $1, source[i] }' \
	"$tap_dir/table" | sort > "$tap_dir/table-sources"
grep -E ' (procfs|derived)$' "$tap_dir/table-sources" \
	> "$tap_dir/table-answered" || :
grep -E ' (procfs|derived)$' "$tap_dir/answered" > "$tap_dir/answered-files" || :
tap_run "the table has the fields that sources answer" \
	diff -u "$tap_dir/table-answered" "$tap_dir/answered-files"
# Not every kernel gives access to its memory, or to all of it.
sed -n 's/ memory$//p' "$tap_dir/table-sources" > "$tap_dir/table-memory"
sed -n 's/ \(bpf\|kcore\|vmcore\)$//p' "$tap_dir/answered" | sort -u |
	comm -23 - "$tap_dir/table-memory" > "$tap_dir/unsaid"
tap_run "and those that are in a kernel's memory" test ! -s "$tap_dir/unsaid"
cut -d ' ' -f 1 "$tap_dir/table" > "$tap_dir/table-fields"
tap_run "the table has every field once" \
	diff -u "$tap_dir/table-fields" "$tap_dir/fields"

# The README shows only commands that exist.
"$PAGEDET" help | sed -n '/^Commands$/,/^Options/s/^  \([a-z][a-z-]*\) .*/\1/p' |
	sort > "$tap_dir/commands"
grep -o '[`;|] *\(sudo \)\{0,1\}pagedet \(--from [a-z]* \)\?[a-z][a-z-]*' "$readme" |
	sed 's/.* //' | sort -u > "$tap_dir/named"
{
	echo help
	cat "$tap_dir/commands"
} | sort | comm -23 "$tap_dir/named" - > "$tap_dir/why"
tap_run "it shows commands" test -s "$tap_dir/named"
if [ -s "$tap_dir/why" ]; then
	tap_not_ok "the commands that it shows exist" "$tap_dir/why"
else
	tap_ok "the commands that it shows exist"
fi

# pagedet accepts the commands with their options. None of them inspects
# anything, because the root is empty.
mkdir "$tap_dir/root" "$tap_dir/place"
grep -o '`\(sudo \)\{0,1\}pagedet [-a-z][^`]*`' "$readme" | tr -d '`' |
	sed 's/^sudo //' > "$tap_dir/examples"
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
		sleep() { :; }
		cd "$tap_dir/place"
		eval "$line"
	) > "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null || status=$?
	if [ "$status" -eq 64 ] || [ "$status" -ge 126 ]; then
		tap_not_ok "understood: $line" "$(why)"
	else
		tap_ok "understood: $line"
	fi
done < "$tap_dir/examples"

# The files that the documents link to exist in the source tree.
for document in README.md CONTRIBUTING.md docs/architecture.md docs/build.md \
	docs/sources.md; do
	folder=$(dirname "$document")
	sed 's/](/\n](/g' "$top_srcdir/$document" |
		sed -n 's/^](\([^):]*\)).*/\1/p' |
		while read -r path; do
			[ -e "$top_srcdir/$folder/$path" ] ||
				echo "$document: $path is not there"
		done
done > "$tap_dir/why"
if [ -s "$tap_dir/why" ]; then
	tap_not_ok "files that the documents point to are there" "$tap_dir/why"
else
	tap_ok "files that the documents point to are there"
fi

tap_done
