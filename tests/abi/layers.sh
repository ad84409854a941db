#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# No room of the library looks up, and the check that says so can see it.
. "$top_srcdir/tests/tap.sh"

check=$top_srcdir/scripts/check-layers

tap_run "no room looks at a room above it" "$check" "$top_srcdir/libpagedet"

# house FILE TEXT: a house of its own with one file
house() {
	rm -rf "$tap_dir/house"
	mkdir -p "$tap_dir/house/$(dirname "$1")"
	printf '%s\n' "$2" > "$tap_dir/house/$1"
}

house query/a.c '#include "backend/backend.h"'
tap_run "an include may point down" "$check" "$tap_dir/house"
house api.c '#include "handle.h"'
tap_run "api.c includes handle.h" "$check" "$tap_dir/house"
house backend/procfs_a.c '#include "backend/procfs.h"'
tap_run "a backend includes its own header" "$check" "$tap_dir/house"
house query/a.c '/* #include "emit/emit.h" */'
tap_run "a comment is no include" "$check" "$tap_dir/house"

house backend/a.c '#include "query/query.h"'
tap_fails "an include that points up is seen" "$check" "$tap_dir/house"
house query/a.c '#include "handle.h"'
tap_fails "a room that includes the handle is seen" "$check" "$tap_dir/house"
house explain/a.c '#include "alloc/alloc.h"'
tap_fails "explain that looks at alloc is seen" "$check" "$tap_dir/house"
house base/a.c '#include "pagedet.h"'
tap_fails "base that knows of pages is seen" "$check" "$tap_dir/house"
house query/a.c '#include "backend/procfs.h"'
tap_fails "query that includes a backend is seen" "$check" "$tap_dir/house"
house query/a.c 'int a(void) { return procfs_a(); }'
tap_fails "query that calls a backend is seen" "$check" "$tap_dir/house"
house query/a.c '#include <xxhash.h>'
tap_fails "a second door of a library is seen" "$check" "$tap_dir/house"
house query/a.c '#include "plan.h"'
tap_fails "an include without its room is seen" "$check" "$tap_dir/house"
house attic/a.c ''
tap_fails "a room that is not in the plan is seen" "$check" "$tap_dir/house"

tap_done
