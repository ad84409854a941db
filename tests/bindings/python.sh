#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# The Python binding: on a library that is newer than it, on the library that
# was just built, and its examples beside their twins in C.
. "$top_srcdir/tests/tap.sh"

python=${PYTHON:-${PYTHON3:-python3}}
if ! command -v "$python" > /dev/null; then
	tap_skip "the Python binding" "there is no $python"
	tap_done
fi
if [ -n "${PDET_SANITIZE:-}" ]; then
	# The sanitizers want to be in the program, which is python.
	tap_skip "the Python binding" "the library is built with sanitizers"
	tap_done
fi
"$python" "$top_srcdir/tests/bindings/run.py" test_newer test_library \
	test_examples
