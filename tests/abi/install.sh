#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests that an example builds with the installed files and the flags of
# pagedet.pc, against the shared and the static library.
. "$top_srcdir/tests/tap.sh"

if [ -n "$PDET_SANITIZE" ]; then
	tap_skip "a client builds with pkg-config" \
		"a library with sanitizers needs their runtime"
	tap_done
fi

# Install below the build tree, where a build may write. libtool cannot install
# into a path with a blank, so use /tmp in that case.
case $top_builddir in
*[[:space:]]*) installed=$(mktemp -d /tmp/pagedet-test.XXXXXX) ;;
*) installed=$top_builddir/tests/abi/installed ;;
esac
rm -rf "$installed"
mkdir -p "$installed"
trap 'rm -rf "$tap_dir" "$installed"' EXIT

# Name every folder, because configure may have been given any of them.
make_there() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u DESTDIR \
	"$MAKE" -C "$top_builddir" "$1" \
	prefix="$installed" exec_prefix="$installed" \
	bindir="$installed/bin" libdir="$installed/lib" \
	libexecdir="$installed/libexec" \
	includedir="$installed/include" datarootdir="$installed/share" \
	datadir="$installed/share" mandir="$installed/share/man" \
	docdir="$installed/share/doc/libpagedet" \
	pkgconfigdir="$installed/lib/pkgconfig" \
	bashcompletiondir="$installed/share/bash-completion/completions"
}
tap_run "make install into another prefix" make_there install

pc() {
	PKG_CONFIG_PATH=$installed/lib/pkgconfig "$PKG_CONFIG" \
		--define-variable=prefix="$installed" \
		--define-variable=exec_prefix="$installed" \
		--define-variable=libdir="$installed/lib" \
		--define-variable=includedir="$installed/include" \
		"$@" pagedet
}

tap_run "pagedet.pc is there" pc --exists --print-errors
tap_run "its version is that of configure" \
	grep -q "AC_INIT(\[libpagedet\], \[$(pc --modversion)\])" \
	"$top_srcdir/configure.ac"
# Other modules of pkg-config are not visible here, as on a user's machine.
alone=$(PKG_CONFIG_LIBDIR=$installed/lib/pkgconfig pc --cflags --libs 2>&1 |
	sed 's/ *$//')
tap_run "no other module is needed, and no other flag comes along: $alone" \
	test "$alone" = "-I$installed/include -L$installed/lib -lpagedet"

find "$installed/include" -type f | sed "s,^$installed/include/,," \
	> "$tap_dir/headers"
(cd "$top_srcdir/include" && find . -name '*.h' | sed 's,^\./,,') \
	> "$tap_dir/ours"
LC_ALL=C sort -o "$tap_dir/headers" "$tap_dir/headers"
LC_ALL=C sort -o "$tap_dir/ours" "$tap_dir/ours"
tap_run "pagedet.h and its parts are the only headers" \
	diff "$tap_dir/ours" "$tap_dir/headers"
tap_run "the command is there and runs" \
	"$installed/bin/pagedet" --version

# A client needs this flag if the library counts executed lines.
counts=
case $PDET_CLIENT_FLAGS in
*--coverage*) counts=--coverage ;;
esac

# The program of the README.
sed -n '/^```c$/,/^```$/p' "$top_srcdir/README.md" | sed '1d;$d' \
	> "$tap_dir/page.c"

# build NAME FLAGS...: build the programs as a user would.
build() {
	name=$1
	shift
	for source in "$top_srcdir/examples/quickstart.c" "$tap_dir/page.c"; do
		program=$tap_dir/$(basename "$source" .c)
		(
			eval "set -- $* $counts $(pc $static --cflags)" \
				'"$source"' "$(pc $static --libs)"
			exec $CC -o "$program" "$@"
		) > "$tap_dir/why" 2>&1 &&
			tap_ok "${program##*/} builds, $name" ||
			tap_not_ok "${program##*/} builds, $name" "$tap_dir/why"
	done
}

# prints PROGRAM WORDS NAME: it runs, and prints the kind of the page
prints() {
	"$tap_dir/$1" > "$tap_dir/out" 2>&1 || echo "status $?" \
		>> "$tap_dir/out"
	if grep -q "$2" "$tap_dir/out" && ! grep -q status "$tap_dir/out"; then
		tap_ok "$1 runs, $3"
	else
		tap_not_ok "$1 runs, $3" "$tap_dir/out"
	fi
}

runs() {
	prints quickstart '"kind": *"[a-z]*"' "$1"
	if [ "$(id -u)" = 0 ]; then
		prints page '^kind: anon$' "$1"
	else
		prints page '^kind: ' "$1"
	fi
}

needs() {
	readelf -d "$tap_dir/page" 2> /dev/null |
		grep -q 'NEEDED.*libpagedet'
}

static=
if [ -e "$installed/lib/libpagedet.so" ]; then
	build shared
	LD_LIBRARY_PATH=$installed/lib runs shared
	tap_run "it loads the shared library" needs
else
	tap_skip "an example builds, shared" "no shared library was built"
fi

if [ -e "$installed/lib/libpagedet.a" ]; then
	static=--static
	rm -f "$installed"/lib/libpagedet.so*
	build "with the static library"
	runs "with the static library"
	tap_fails "it loads no shared library" needs
	build "static altogether" -static
	runs "static altogether"
else
	tap_skip "an example builds, static" "no static library was built"
fi

tap_run "make uninstall" make_there uninstall
find "$installed" -type f > "$tap_dir/left"
find "$installed" -type d -empty \( -name '*pagedet*' -o -name xfstests \) \
	>> "$tap_dir/left"
tap_run "it leaves no file, and no folder of its own" \
	diff /dev/null "$tap_dir/left"

tap_done
