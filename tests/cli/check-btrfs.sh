#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests "check disk" on btrfs: data is found by its chunks, except data in the
# tree or on several devices. Also tests which files failed writes belong to.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

if [ "$(id -u)" != 0 ]; then
	tap_skip 'btrfs' 'needs root'
	tap_done
fi
if ! command -v mkfs.btrfs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'btrfs' 'needs mkfs.btrfs and losetup'
	tap_done
fi

second=
more_clean_up() {
	! grep -q " $tap_dir/full " /proc/mounts ||
		unmount "$tap_dir/full" 2> /dev/null || :
	[ -z "$second" ] || losetup -d "$second" 2> /dev/null || :
}
dir=$tap_dir/btrfs

# new_f: makes $f anew, without the bytes that are written later
new_f() {
	rm -f "$f"
	head -c 100001 /dev/urandom | LC_ALL=C tr xz y > "$f"
}

dirty_f() {
	other_byte "$f" 50000
}

# lose_f: makes $f anew, and changes a page of it behind the filesystem's back:
# wherever the image has these bytes, or only the copy number $lost. The kernel
# may take the page away before it is asked.
lost=all
lose_f() {
	new_f
	fsync_file "$f"
	"$PYTHON3" - "$f" "$tap_dir/img" $lost << 'END' > "$tap_dir/copies"
import sys
data = open(sys.argv[1], "rb").read()[81920:86016]
image = open(sys.argv[2], "r+b")
whole = image.read()
at, n = whole.find(data), 0
while at >= 0:
    if sys.argv[3] in ("all", str(n)):
        image.seek(at)
        image.write(b"lost")
    n += 1
    at = whole.find(data, at + 1)
print(n)
END
}

# changed_below: has a part of the device in its cache, and changes the disk
# past that
changed_below() {
	head -c 134217728 "$loop" > /dev/null
	new_f
	fsync_file "$f"
}

# other_name: the device that has the name of the filesystem's device by now is
# another one
other_name() {
	truncate -s 400M "$tap_dir/other"
	second=$(losetup -f --show "$tap_dir/other")
	if ! unshare -m mount --bind "$second" "$loop" 2> "$tap_dir/why"; then
		tap_skip 'a device with another name' 'needs namespaces'
	else
		status=0
		unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && "$@"' \
			sh "$second" "$loop" "$PAGEDET" check disk "$f" \
			--json > "$tap_dir/stdout" 2> "$tap_dir/stderr" ||
			status=$?
		[ "$status" = 2 ] && whole 'another device has its name now' \
			'"cause":"io"' ||
			tap_not_ok 'another device has its name now' "$(why)"
	fi
	losetup -d "$second" && second=
}

# make OPTION...: runs mkfs.btrfs
make_btrfs() {
	rm -f "$tap_dir/img"
	truncate -s 400M "$tap_dir/img"
	mkfs.btrfs -q "$@" "$tap_dir/img" > "$tap_dir/why" 2>&1
}

for profile in single dup; do
	make_btrfs -d "$profile"
	if ! mount_image defaults; then
		tap_skip 'btrfs' 'cannot be mounted here'
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		tap_done
	fi
	f=$dir/f
	fresh new_f "$profile: written, and nowhere on the disk" 1 \
		not_written disk "$f"
	fsync_file "$f"
	verdict "$profile: on the disk" 0 none disk "$f"
	fresh dirty_f "$profile: a byte is not" 1 not_written disk "$f"
	head -n 1 "$tap_dir/stdout" | grep -q '"first":12,"pages":1,' &&
		tap_ok "$profile: of that page" ||
		tap_not_ok "$profile: of that page" "$(why)"
	fsync_file "$f"
	verdict "$profile: on the disk again, elsewhere" 0 none disk "$f"
	fresh lose_f "$profile: other bytes on the disk are a lost write" 1 \
		lost_write disk "$f"
	head -n 1 "$tap_dir/stdout" | grep -q '"first":20,"pages":1,' &&
		tap_ok "$profile: of that page" ||
		tap_not_ok "$profile: of that page" "$(why)"
	copies=1
	[ "$profile" = single ] || copies=2
	[ "$(cat "$tap_dir/copies")" = "$copies" ] &&
		tap_ok "$profile: copies in the image: $copies" ||
		tap_not_ok "$profile: copies in the image" "$tap_dir/copies"
	for lost in 0 1; do
		[ "$copies" = 2 ] || break
		fresh lose_f "$profile: copy $lost differs, the other does not" \
			1 different disk "$f"
		head -n 1 "$tap_dir/stdout" |
			grep -q '"first":20,"pages":1,.*"why":"the disk has it' &&
			tap_ok "$profile: copy $lost: of that page" ||
			tap_not_ok "$profile: copy $lost: of that page" "$(why)"
	done
	lost=all
	verdict "$profile: what a crash leaves is not followed" 2 filesystem \
		committed "$f"
	echo 'a few bytes' > "$dir/small"
	fsync_file "$dir/small"
	verdict "$profile: data in the tree" 2 encoded disk "$dir/small"
	fresh changed_below "$profile: written past the cache of the device" \
		1 different disk "$loop" 0+32768
	if [ "$profile" = single ]; then
		new_f
		fsync_file "$f"
		other_name
	fi
	unmount_image
done

truncate -s 200M "$tap_dir/other"
second=$(losetup -f --show "$tap_dir/other")
rm -f "$tap_dir/img"
truncate -s 200M "$tap_dir/img"
loop=$(losetup -f --show "$tap_dir/img")
if mkfs.btrfs -q -d raid0 "$loop" "$second" > "$tap_dir/why" 2>&1 &&
	mount -o "device=$second" "$loop" "$dir"; then
	mounted=$dir
	head -c 100000 /dev/urandom > "$dir/f"
	fsync_file "$dir/f"
	verdict 'two devices' 2 filesystem disk "$dir/f"
	unmount "$dir" && mounted=
else
	tap_skip 'two devices' 'cannot be made here'
fi
losetup -d "$loop" && loop=

# --- failed writes, which name an inode but no subvolume ---

tap_lock marks

# fails NAME: the verdict on a file whose writes fail, with $1 more subvolumes
fails() {
	rm -f "$tap_dir/img"
	mkdir -p "$tap_dir/full"
	mount -t tmpfs -o size=16M none "$tap_dir/full"
	truncate -s 400M "$tap_dir/full/img"
	mkfs.btrfs -q -m single -d single "$tap_dir/full/img" \
		> "$tap_dir/why" 2>&1
	ln -s full/img "$tap_dir/img"
	mount_image defaults
	[ "$1" = 0 ] || btrfs subvolume create "$dir/sub" > "$tap_dir/why"
	echo small > "$dir/small"
	fsync_file "$dir/small"
	run check mark "$tap_dir/mark"
	head -c 18000000 /dev/urandom > "$dir/f" 2> /dev/null || :
	fsync_file "$dir/f" && tap_not_ok "$2: fsync fails" ||
		tap_ok "$2: fsync fails"
	verdict "$2: it failed" "$3" "$4" errors --since "$tap_dir/mark" \
		"$dir/f"
	verdict "$2: another file did not" 0 none errors \
		--since "$tap_dir/mark" "$dir/small"
	run check unmark "$tap_dir/mark"
	unmount_image
	rm "$tap_dir/img"
	unmount "$tap_dir/full"
}
run check mark "$tap_dir/mark"
if grep -q '^watch pagedet-mark-' "$tap_dir/mark" &&
	command -v btrfs > /dev/null; then
	run check unmark "$tap_dir/mark"
	fails 0 'one subvolume' 1 error
	fails 1 'two subvolumes' 2 unknown
else
	tap_skip 'failed writes' 'the kernel has no such trace, or no btrfs'
fi

tap_done
