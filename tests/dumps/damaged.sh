#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: image
# Damages dumps of every form in a thousand ways: see mutate.c. RESULTS.md has
# the results of ten thousand ways.
#
#   damaged.sh		a small simulated kernel
#   damaged.sh NAME...	dumps of the lab, by name
#
# PDET_WAYS  number of ways for each form of dump
# PDET_SEED  another seed
. "$top_srcdir/tests/tap.sh"

dumps=$top_builddir/tests/dumps
pagedet=$top_builddir/tools/pagedet/pagedet
seed=${PDET_SEED:-1}

# pagedet's caches may use 8 MiB. Sanitizers need more time and memory.
limits='-t 10 -m 72'
if [ -n "${PDET_SANITIZE:-}" ]; then
	limits='-t 60'
fi

# damaged NAME OPTIONS DUMP: run the mutations of one dump.
damaged() {
	# shellcheck disable=SC2086
	if "$dumps/mutate" -j 2 -n "$ways" -s "$seed" $limits $2 \
		-a 'page 4700 --fields all' -a 'scan --by kind,flags' \
		-a 'mappers 600' -a doctor -a 'kaddr ffffea0000040000' \
		-a 'task 1 --fields all' -a 'task 1 --stacks=both' \
		-a 'scan --by memcg_path,path' \
		-a 'tree / --by path' -a 'virt 1 400000+65536' \
		-a 'stack 4700+32' -a 'scan --by alloc_stack,gfp' \
		-a 'cgroup / --by kind' -a 'scan --by zone,order' \
		"$pagedet" "$3" "$tap_dir/copy" > "$tap_dir/out"; then
		sed -n 's/^# .*/&/p' "$tap_dir/out"
		tap_ok "$1"
	else
		tap_not_ok "$1" "$tap_dir/out"
	fi
	rm -f "$tap_dir"/copy.*
}

# form NAME OPTIONS WORDS...: damage the dump that mkdump makes from WORDS.
form() {
	form_name=$1
	form_options=$2
	shift 2
	if "$dumps/mkdump" "$@" "$tap_dir/elf" "$tap_dir/dump" \
		2> "$tap_dir/why"; then
		damaged "$form_name" "$form_options" "$tap_dir/dump"
	elif grep -q 'not built in' "$tap_dir/why"; then
		tap_skip "$form_name" 'not built in'
	else
		tap_not_ok "$form_name" "$tap_dir/why"
	fi
}

for name in "$@"; do
	ways=${PDET_WAYS:-64}
	dir=$("$top_srcdir/tests/live/boot/dump" "$name" | cut -f 2)
	for form in elf kdump; do
		damaged "$name, $form" '' "$dir/dump.$form"
	done
done
[ $# -eq 0 ] || tap_done

ways=${PDET_WAYS:-112}
if [ ! -x "$dumps/mkkernel" ]; then
	tap_skip 'damaged dumps' 'needs libcheck'
	tap_done
fi
"$dumps/mkkernel" "$tap_dir/elf" > "$tap_dir/why"
damaged ELF '' "$tap_dir/elf"
form 'ELF, flattened' '' -f elf -F
form 'kdump, zlib' -c -c zlib
form 'kdump, zlib, flattened' -c -c zlib -F
form 'kdump, zlib, blocks of 64 KiB' -c -c zlib -b 65536
form 'kdump, lzo' '' -c lzo
form 'kdump, snappy' '' -c snappy
form 'kdump, zstd' '' -c zstd
form 'kdump, raw' '' -c raw

tap_done
