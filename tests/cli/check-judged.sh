#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Compares assertions about files with the truth, on filesystems made for it.
# Each filesystem runs once, with one seed; "make check-long" runs thousands.
. "$top_srcdir/tests/cli/cli.sh"

PATH=$PATH:/sbin:/usr/sbin
# Each scene has a mark, and others count them.
tap_lock marks
"$PYTHON3" "$top_srcdir/tests/live/assertions" --seed 11 \
	--rounds 1 --cases 500
