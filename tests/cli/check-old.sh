#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests assertions on kernels that do not count cached pages, which have no
# cachestat(2): nothing is written out by a check, no page is violated wrongly,
# and none that is cached in part holds.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

if [ "$(id -u)" != 0 ]; then
	tap_skip 'kernels without cachestat' 'needs root'
	tap_done
fi
if ! command -v mke2fs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'kernels without cachestat' 'needs mke2fs and losetup'
	tap_done
fi
cat > "$tap_dir/pagedet-old" << END
#!/bin/sh
exec "$PYTHON3" "$top_srcdir/tests/cli/without.py" 451 "$PAGEDET" "\$@"
END
chmod +x "$tap_dir/pagedet-old"
new=$PAGEDET
PAGEDET=$tap_dir/pagedet-old
run check clean "$tap_dir/pagedet-old"
if [ "$status" = 77 ]; then
	tap_skip 'kernels without cachestat' 'no seccomp'
	tap_done
fi

# --- the cache of a device ---

more_clean_up() {
	exec 8>&-
}

# written: whether the disk has the bytes that only the cache had
written() {
	head -c 5 "$tap_dir/copy" | grep -q dirty
}

# device NAME STATUS CAUSE: a dirty page of $loop, which is open. Anybody's
# sync(2) writes it out.
device() {
	printf dirty | dd of="$loop" conv=notrunc 2> /dev/null
	if written; then
		tap_skip "$1" 'it was written out'
		return
	fi
	verdict "$1: dirty" "$2" "$3" disk "$loop"
	written && tap_not_ok "$1: nothing is written out" "$(why)" ||
		tap_ok "$1: nothing is written out"
	verdict "$1: other pages" 0 none disk "$loop" 8+8
}

truncate -s 1M "$tap_dir/img"
ln "$tap_dir/img" "$tap_dir/copy"
if loop=$(losetup -f --show "$tap_dir/img" 2> "$tap_dir/why"); then
	exec 8<> "$loop"
	cat "$loop" > /dev/null
	device 'the image is read' 1 different
	exec 8>&-
	losetup -d "$loop" && loop=
	: > "$tap_dir/img"
	truncate -s 1M "$tap_dir/img"
	loop=$(losetup -f --show "$tap_dir/img")
	rm "$tap_dir/img"
	exec 8<> "$loop"
	cat "$loop" > /dev/null
	device 'there is no image' 2 no_kernel
	exec 8>&-
	losetup -d "$loop" && loop=
else
	tap_skip 'the cache of a device' 'there is no loop device here'
	tap_done
fi

# --- files ---

dirty_f() {
	other_byte "$f" 50000
}

# part_f: makes a file of which a part of one page is cached, and dirty
part_f() {
	rm -f "$dir/part"
	truncate -s 65536 "$dir/part"
	head -c 1024 /dev/urandom |
		dd of="$dir/part" bs=1024 seek=5 conv=notrunc 2> /dev/null
}

for mode in ordered journal; do
	dir=$tap_dir/$mode
	truncate -s 48M "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 1024 "$tap_dir/img" > "$tap_dir/why" 2>&1
	if ! mount_image "data=$mode,commit=300"; then
		tap_skip "ext4 data=$mode" 'cannot be mounted here'
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		continue
	fi
	f=$dir/f
	new_file 98304 "$f"
	fsync_file "$f"
	verdict "$mode: clean" 0 none clean "$f"
	verdict "$mode: committed" 0 none committed "$f"
	if [ "$mode" = ordered ]; then
		verdict "$mode: on the disk" 0 none disk "$f"
		fresh dirty_f "$mode: a byte is not" 1 different disk "$f"
		whole "$mode: of one page" '"violations":1,'
	fi
	fresh dirty_f "$mode: a byte is not committed" 1 not_committed \
		committed "$f"
	fsync_file "$f"
	run check disk "$f" --json
	[ "$status" != 1 ] && tap_ok "$mode: the journal may have it" ||
		tap_not_ok "$mode: the journal may have it" "$(why)"
	part_f
	for kind in clean disk absent; do
		verdict "$mode: a page that is cached in part: $kind" 2 \
			no_kernel "$kind" "$dir/part"
	done
	PAGEDET=$new
	verdict "$mode: no other page was read in" 0 none \
		absent "$dir/part" 2+14
	PAGEDET=$tap_dir/pagedet-old
	unmount_image
	rm "$tap_dir/img"
done

# --- a filesystem whose blocks are smaller than statfs(2) says ---

if command -v mkfs.vfat > /dev/null; then
	truncate -s 64M "$tap_dir/img"
	mkfs.vfat -F 16 -S 512 -s 8 "$tap_dir/img" > "$tap_dir/why" 2>&1
	dir=$tap_dir/fat
	if mount_image defaults; then
		new_file 65536 "$dir/part"
		unmount "$dir" && mount "$loop" "$dir"
		head -c 512 /dev/urandom |
			dd of="$dir/part" bs=512 seek=11 conv=notrunc \
				2> /dev/null
		for kind in clean absent; do
			verdict "FAT: a page that is cached in part: $kind" 2 \
				no_kernel "$kind" "$dir/part"
		done
		unmount_image
	else
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		tap_skip 'FAT' 'cannot be mounted here'
	fi
	rm "$tap_dir/img"
else
	tap_skip 'FAT' 'needs mkfs.vfat'
fi

# --- data whose new place is told late ---

if command -v mkfs.btrfs > /dev/null; then
	truncate -s 400M "$tap_dir/img"
	mkfs.btrfs -q "$tap_dir/img" > "$tap_dir/why" 2>&1
	dir=$tap_dir/btrfs
	f=$dir/f
	if mount_image defaults; then
		truncate -s 1M "$dir/sparse"
		for kind in clean absent disk; do
			verdict "blocks as large as pages: $kind" 0 none \
				"$kind" "$dir/sparse"
		done
		new_file 100001 "$f"
		wrong=
		for try in 1 2 3 4 5 6 7 8 9 10; do
			dirty_f
			fsync_file "$f"
			run check disk "$f" --json
			[ "$status" != 1 ] || wrong=$(why)
		done
		[ -z "$wrong" ] && tap_ok 'btrfs: nothing is lost' ||
			tap_not_ok 'btrfs: nothing is lost' "$wrong"
		unmount_image
	else
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		tap_skip 'btrfs' 'cannot be mounted here'
	fi
else
	tap_skip 'btrfs' 'needs mkfs.btrfs'
fi

tap_done
