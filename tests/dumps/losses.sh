#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
# Damages one object of a dump at a time: see losses.c.
. "$top_srcdir/tests/tap.sh"
command -v xz > /dev/null || {
	echo '1..0 # SKIP needs xz'
	exit 0
}

dump=$tap_dir/dump
xz -dc "$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz" > "$dump"
"$top_builddir/tests/dumps/losses" "$dump" /mnt/ext4/clean.bin
