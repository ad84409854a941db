#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that the public header compiles without warnings in every common C and
# C++ standard, with every compiler here, and for 32 bits, and that its
# functions are documented.
. "$top_srcdir/tests/tap.sh"

warnings="-pedantic -Wall -Wextra -Werror"

cat > "$tap_dir/client.c" <<'EOT'
#include <pagedet.h>
#include <pagedet.h>

int client(void);

int client(void)
{
	struct pagedet_options options = PAGEDET_OPTIONS_INIT;
	struct pagedet_query query = PAGEDET_QUERY_INIT;
	struct pagedet_emit_options emit = PAGEDET_EMIT_OPTIONS_INIT;

	return options.size == sizeof(options) && query.size == sizeof(query) &&
	       query.row_size == sizeof(struct pagedet_page) &&
	       emit.size == sizeof(emit) && emit.fd == -1 &&
	       PAGEDET_CELL_STATE(PAGEDET_HAVE) == PAGEDET_HAVE &&
	       (PAGEDET_PF(PAGEDET_PF_DIRTY) & PAGEDET_PTE(PAGEDET_PTE_DIRTY) &
		PAGEDET_NOTE(PAGEDET_NOTE_TORN) &
		PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS)) == 0;
}
EOT

# matrix LANGUAGE COMPILER STANDARD...: compile the header in each STANDARD.
matrix() {
	language=$1
	compiler=$2
	shift 2
	for standard in "$@"; do
		name="pagedet.h as $standard with $compiler"
		if ! command -v "$compiler" > /dev/null; then
			tap_skip "$name" "no $compiler"
			continue
		fi
		tap_run "$name" "$compiler" -x "$language" -std="$standard" \
			$warnings -I"$top_srcdir/include" -fsyntax-only \
			"$tap_dir/client.c"
	done
}

for compiler in gcc clang i686-linux-gnu-gcc; do
	matrix c "$compiler" c99 c11 c17
done
for compiler in g++ clang++; do
	matrix c++ "$compiler" c++98 c++11 c++14 c++17 c++20
done

# The field table proves at compile time that it agrees with the header.
for file in schema batch; do
	name="schema/$file.c on 32 bits"
	if ! command -v i686-linux-gnu-gcc > /dev/null; then
		tap_skip "$name" "no i686-linux-gnu-gcc"
		continue
	fi
	tap_run "$name" i686-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE \
		-D_FILE_OFFSET_BITS=64 -Wall -Wextra -Werror -fsyntax-only \
		-I"$top_srcdir/libpagedet" -I"$top_srcdir/include" \
		"$top_srcdir/libpagedet/schema/$file.c"
done

version=$(awk '/^#define PAGEDET_VERSION_(MAJOR|MINOR|PATCH) / {
	printf "%s%s", dot, $3
	dot = "."
}' "$top_srcdir/include/pagedet.h")
tap_run "pagedet.h and configure.ac have the same version" \
	grep -q "AC_INIT(\[libpagedet\], \[$version\])" \
	"$top_srcdir/configure.ac"

sed -n 's,^#include "pagedet/\(.*\)"$,\1,p' "$top_srcdir/include/pagedet.h" |
	LC_ALL=C sort > "$tap_dir/included"
(cd "$top_srcdir/include/pagedet" && ls) | LC_ALL=C sort > "$tap_dir/parts"
tap_run "pagedet.h includes each of its parts once" \
	diff "$tap_dir/parts" "$tap_dir/included"
echo '#include <pagedet/query.h>' > "$tap_dir/part.c"
tap_fails "a part alone is refused" $CC -I"$top_srcdir/include" -fsyntax-only \
	"$tap_dir/part.c"

"$top_srcdir/scripts/whole-header" "$top_srcdir/include/pagedet.h" \
	> "$tap_dir/whole.h"
tap_run "each function is described in full" \
	"$top_srcdir/scripts/check-docs" "$tap_dir/whole.h"

tap_done
