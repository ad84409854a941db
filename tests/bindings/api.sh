#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# The description of the API for bindings, and what is generated from it, are
# those of the header; the generator refuses what bindings cannot follow.
. "$top_srcdir/tests/tap.sh"

python=${PYTHON:-${PYTHON3:-python3}}
if ! command -v "$python" > /dev/null; then
	tap_skip "the description of the API" "there is no $python"
	tap_done
fi
"$python" "$top_srcdir/tests/bindings/run.py" test_gen_api test_layout
