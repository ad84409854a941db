#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that the command and the examples use only the public API, although the
# command is linked with the whole library.
. "$top_srcdir/tests/tap.sh"

# Includes: their own headers, pagedet.h, the system's.
find "$top_srcdir/examples" "$top_srcdir/tools" -name '*.[ch]' | sort > "$tap_dir/files"
while IFS= read -r file; do
	own=$(dirname "$file")
	sed -n 's/^[ \t]*#[ \t]*include[ \t]*["<]\([^">]*\)[">].*/\1/p' \
		"$file" | while IFS= read -r name; do
		if [ -e "$top_srcdir/libpagedet/$name" ] &&
		   [ ! -e "$own/$name" ]; then
			echo "$file includes $name"
		fi
	done
	grep -n '[^A-Za-z0-9_]\(pdet\|procfs\)_[a-z]' "$file" |
		sed "s,^,$file:," || :
done < "$tap_dir/files" > "$tap_dir/why"
if [ ! -s "$tap_dir/files" ]; then
	tap_not_ok "sources name the public API only"
elif [ -s "$tap_dir/why" ]; then
	tap_not_ok "sources name the public API only" "$tap_dir/why"
else
	tap_ok "sources name the public API only"
fi

# The library exports each of its functions that the command's objects use.
awk '/^[ \t]*[a-z_0-9]+;/ { gsub(/[ \t;]/, ""); print }' \
	"$top_srcdir/libpagedet/libpagedet.map" | sort > "$tap_dir/exports"
$NM -u "$top_builddir"/tools/pagedet/pagedet-*.o |
	sed -n 's/^ *U \(\(pagedet\|pdet\|procfs\)_.*\)/\1/p' | sort -u \
	> "$tap_dir/used"
$NM -g --defined-only "$top_builddir"/tools/pagedet/pagedet-*.o |
	awk 'NF == 3 { print $3 }' | sort -u > "$tap_dir/own"
comm -23 "$tap_dir/used" "$tap_dir/own" | comm -23 - "$tap_dir/exports" \
	> "$tap_dir/why"
if [ ! -s "$tap_dir/used" ]; then
	tap_not_ok "the command's objects use exported functions only"
elif [ -s "$tap_dir/why" ]; then
	tap_not_ok "the command's objects use exported functions only" \
		"$tap_dir/why"
else
	tap_ok "the command's objects use exported functions only"
fi

tap_done
