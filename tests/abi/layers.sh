#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that no room of the library includes a higher one, that no files include
# each other, and that the check detects violations.
. "$top_srcdir/tests/tap.sh"

check=$top_srcdir/scripts/check-layers

tap_run "no room looks at a room above it, and files form no circle" "$check" \
	"$top_srcdir/libpagedet"

# beside FILE TEXT: add a file to the source tree "house".
beside() {
	mkdir -p "$tap_dir/house/$(dirname "$1")"
	printf '%s\n' "$2" > "$tap_dir/house/$1"
}

# house FILE TEXT: make "house" anew, with this one file.
house() {
	rm -rf "$tap_dir/house"
	beside "$@"
}

house query/a.c '#include "backend/backend.h"'
tap_run "an include may point down" "$check" "$tap_dir/house"
house api/api.c '#include "api/handle.h"'
tap_run "the room api includes handle.h" "$check" "$tap_dir/house"
house backend/procfs/a.c '#include "backend/procfs/procfs.h"'
tap_run "a backend includes its own header" "$check" "$tap_dir/house"
house query/a.c '/* #include "emit/emit.h" */'
tap_run "a comment is not an include" "$check" "$tap_dir/house"

house query/a.c '#include "query/a.h"'
beside query/a.h '#include "query/b.h"'
beside query/c.c '#include "query/b.h"'
beside query/b.h '#include "schema/schema.h"'
tap_run "files of a room may include one below them" "$check" "$tap_dir/house"

house query/a.h '#include "query/b.h"'
beside query/b.c '#include "query/a.h"'
tap_fails "files that include each other are seen" "$check" "$tap_dir/house"
cp "$tap_dir/out" "$tap_dir/said"
tap_run "and named" grep -q \
	'^query/b\.c:1: .*: query/a -> query/b -> query/a$' "$tap_dir/said"
house query/a.c '#include "query/b.h"'
beside query/b.c '#include "query/c.h"'
beside query/c.h '#include "query/a.h"'
tap_fails "a circle of three files is seen" "$check" "$tap_dir/house"
house backend/a.c '#include "query/query.h"'
tap_fails "an include that points up is seen" "$check" "$tap_dir/house"
house emit/a.c '#include "api/handle.h"'
tap_fails "a room that includes the handle is seen" "$check" "$tap_dir/house"
house query/a.c '#include "query/walk/walk.h"'
tap_fails "a room that looks at a room inside of it is seen" "$check" "$tap_dir/house"
house record/a.c 'int a(void) { return pagedet_field_by_name("b"); }'
tap_fails "a call of the public function above is seen" "$check" \
	"$tap_dir/house"
house record/a.c '/* as pagedet_open() */ const char *a = "pagedet_open()";'
tap_run "a name in a comment or a text is not a call" "$check" \
	"$tap_dir/house"
house base/a.c '#include "pagedet.h"'
tap_fails "base that knows of pages is seen" "$check" "$tap_dir/house"
house query/a.c '#include "backend/procfs/procfs.h"'
tap_fails "query that includes a backend is seen" "$check" "$tap_dir/house"
house query/a.c 'int a(void) { return procfs_a(); }'
tap_fails "query that calls a backend is seen" "$check" "$tap_dir/house"
house query/a.c '#include <xxhash.h>'
tap_fails "a second door of a library is seen" "$check" "$tap_dir/house"
house query/a.c '#include "plan.h"'
tap_fails "an include without its room is seen" "$check" "$tap_dir/house"
house attic/a.c ''
tap_fails "a room that is not in the plan is seen" "$check" "$tap_dir/house"

house query/a.c ''
for n in $(seq 36); do echo > "$tap_dir/house/query/$n.h"; done
tap_fails "a folder of 36 files is seen" "$check" "$tap_dir/house"

tap_run "the documents list these rooms" "$top_srcdir/scripts/gen-rooms" \
	--check "$top_srcdir"
tap_run "the picture of the house shows its includes" \
	"$top_srcdir/scripts/draw-rooms" --check "$top_srcdir"

tap_done
