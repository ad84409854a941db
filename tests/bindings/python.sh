#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the Python binding with a newer library, with the library just built,
# and its examples against those in C.
. "$top_srcdir/tests/tap.sh"

python=${PYTHON:-${PYTHON3:-python3}}
if ! command -v "$python" > /dev/null; then
	tap_skip "the Python binding" "there is no $python"
	tap_done
fi
if [ -n "${PDET_SANITIZE:-}" ]; then
	# The sanitizers must be linked into the program, which is Python.
	tap_skip "the Python binding" "the library is built with sanitizers"
	tap_done
fi
"$python" "$top_srcdir/tests/bindings/run.py" test_newer test_library \
	test_examples
