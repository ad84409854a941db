#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that the description of the API, and the code generated from it, match
# the header, and that the generator rejects what bindings cannot express.
. "$top_srcdir/tests/tap.sh"

python=${PYTHON:-${PYTHON3:-python3}}
if ! command -v "$python" > /dev/null; then
	tap_skip "the description of the API" "there is no $python"
	tap_done
fi
"$python" "$top_srcdir/tests/bindings/run.py" test_gen_api test_layout
