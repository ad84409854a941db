#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that programs built against the header of every release run with today's
# library, and programs built against today's header with struct members removed
# or added at the end.
. "$top_srcdir/tests/tap.sh"

header=$tap_dir/whole.h
root=$tap_dir/root
built=$top_builddir/abi-client.$$
trap 'rm -rf "$tap_dir" "$built" "$built.o"' EXIT

if ! grep -q WITH_BACKEND_PROCFS "$top_builddir/config.h" ||
   grep -q 'undef WITH_BACKEND_PROCFS' "$top_builddir/config.h"; then
	tap_skip "clients of other releases" "the source procfs is not built"
	tap_done
fi

"$top_srcdir/scripts/whole-header" "$top_srcdir/include/pagedet.h" > "$header"

cat > "$tap_dir/scenario" <<'EOT'
pages 16
zone node=0 name=DMA start=0 spanned=16 present=16
iomem 0 00000000-0000ffff System RAM
page 0+8 flags=uptodate,lru,anon,swapbacked,mmap count=1
page 8+8 flags=buddy
EOT
"$top_builddir/tests/fixtures/mkproc" "$tap_dir/scenario" "$root"

# client NAME FOLDER-OF-THE-HEADER [FLAGS...]: build and run one client.
client() {
	client_name=$1
	folder=$2
	shift 2
	rm -f "$tap_dir/client" "$tap_dir/client.o"
	# libtool splits a path at a blank, so compile without it. Link from the
	# library's folder.
	{
		$CC -std=gnu11 -Wall -Wextra -Werror "$@" -I"$folder" \
			-c -o "$tap_dir/client.o" \
			"$top_srcdir/tests/abi/client.c" &&
		cp "$tap_dir/client.o" "$built.o" &&
		(cd "$top_builddir" &&
			./libtool --quiet --tag=CC --mode=link $CC -no-install \
			$PDET_CLIENT_FLAGS -o "${built##*/}" "${built##*/}.o" \
			libpagedet.la) &&
		mv "$built" "$tap_dir/client"
	} > "$tap_dir/out" 2>&1 || {
		tap_not_ok "$client_name: builds" "$tap_dir/out"
		return
	}
	tap_ok "$client_name: builds"
	status=0
	LD_LIBRARY_PATH=$top_builddir/.libs "$tap_dir/client" "$root" \
		> "$tap_dir/out" 2>&1 || status=$?
	if ! grep -q '^1\.\.' "$tap_dir/out"; then
		echo "not ok - ends early, status $status" >> "$tap_dir/out"
	fi
	while IFS= read -r line; do
		case $line in
		"ok "*) tap_ok "$client_name: ${line#* - }" ;;
		"not ok"*) tap_not_ok "$client_name: ${line#* - }" ;;
		1..*) ;;
		*) echo "# $line" ;;
		esac
	done < "$tap_dir/out"
}

# edit FOLDER AWK-PROGRAM: change a copy of today's header. The program gets the
# lines of struct "name". The struct's last members begin on the lines "before"
# and "last".
edit() {
	mkdir "$tap_dir/$1"
	awk '
	FNR == 1 { file++ }
	{ ended = "" }
	/^struct pagedet_[a-z]+ \{/ { name = $2 }
	file == 1 && name != "" && /^\t[a-z].*;/ {
		before[name] = last[name]
		last[name] = FNR
	}
	/^};/ { ended = name; name = "" }
	file == 2 '"$2" "$header" "$header" > "$tap_dir/$1/pagedet.h"
	if cmp -s "$header" "$tap_dir/$1/pagedet.h"; then
		tap_not_ok "the header of the release $1 is another"
	fi
}

client "today's header" "$top_srcdir/include"

edit before '{
	# Remove two members, so that a pair of 32 bits leaves no padding.
	if ((name == "pagedet_page" || name == "pagedet_query") &&
	    FNR >= before[name])
		next
	print
}'
client "an older header" "$tap_dir/before"

edit later '{
	if (ended ~ /^pagedet_(page|query|options|info)$/)
		print "\tuint64_t later;"
	print
}'
client "a newer header" "$tap_dir/later" -DLATER

if [ -d "$top_srcdir/tests/abi/headers" ]; then
	for kept in "$top_srcdir"/tests/abi/headers/*; do
		client "release $(basename "$kept")" "$kept"
	done
fi

tap_done
