#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that header, export list, shared and static library agree on what is
# public.
. "$top_srcdir/tests/tap.sh"

shared=$top_builddir/.libs/libpagedet.so
static=$top_builddir/.libs/libpagedet.a
[ -e "$shared" ] || shared=-
[ -e "$static" ] || static=-
"$top_srcdir/scripts/check-exports" "$top_srcdir" "$shared" "$static"
