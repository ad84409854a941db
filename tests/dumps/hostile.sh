#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
# Damages kernel objects in a dump by their types: see hostile.c.
#
#   hostile.sh		a dump of tests/fixtures
#   hostile.sh DUMP	another one
#
# PDET_CASES  number of cases; PDET_SEED  another seed
. "$top_srcdir/tests/tap.sh"
command -v xz > /dev/null || {
	echo '1..0 # SKIP needs xz'
	exit 0
}

hostile=$top_builddir/tests/dumps/hostile
dump=${1:-}
if [ -z "$dump" ]; then
	dump=$tap_dir/dump
	xz -dc "$top_srcdir/tests/fixtures/vmcore/qemu.elf.xz" > "$dump"
fi
# What sanitizers take is not ours.
limit=-m104
[ -z "${PDET_SANITIZE:-}" ] || limit=-m0
if "$hostile" -n "${PDET_CASES:-300}" -s "${PDET_SEED:-1}" $limit \
	"$dump" > "$tap_dir/out" 2>&1; then
	sed -n '/^# [0-9s]/p' "$tap_dir/out"
	tap_ok 'damage by type'
else
	tap_not_ok 'damage by type' "$tap_dir/out"
fi
tap_done
