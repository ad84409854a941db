#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# What is committed to the journal of ext4: where the inode names it that a
# replay would leave, and as a copy of the image then has it.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

if [ "$(id -u)" != 0 ]; then
	tap_skip 'ext4' 'needs root'
	tap_done
fi
if ! command -v mke2fs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'ext4' 'needs mke2fs and losetup'
	tap_done
fi

copy_loop=
holder=
more_clean_up() {
	[ -z "$holder" ] || kill "$holder" 2> /dev/null || :
	! grep -q " $tap_dir/copied " /proc/mounts ||
		unmount "$tap_dir/copied" 2> /dev/null || :
	[ -z "$copy_loop" ] || losetup -d "$copy_loop" 2> /dev/null || :
}
mkdir "$tap_dir/copied"

# size_after_crash FILE: of a copy of the image as it is now, once its journal
# was replayed; none: it is not there
size_after_crash() {
	cp --sparse=always "$tap_dir/img" "$tap_dir/copy"
	copy_loop=$(losetup -f --show "$tap_dir/copy") &&
		mount "$copy_loop" "$tap_dir/copied" 2> "$tap_dir/why"
	size=$(stat -c %s "$tap_dir/copied/$1" 2> /dev/null || echo none)
	unmount "$tap_dir/copied"
	losetup -d "$copy_loop"
	copy_loop=
}

new_f() {
	new_file 100000 "$f"
}

dirty_many() {
	other_byte "$dir/many" 4096000
}

# with_form NAME OPTION...: of mke2fs
with_form() {
	name=$1
	shift
	dir=$tap_dir/$name
	rm -f "$tap_dir/img"
	truncate -s 64M "$tap_dir/img"
	mke2fs -q -F "$@" "$tap_dir/img" > "$tap_dir/why" 2>&1
	# no commit but those that are asked for
	if ! mount_image commit=300; then
		tap_skip "$name" 'cannot be mounted here'
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		return 0
	fi
	f=$dir/f
	fresh new_f "$name: a new file is not committed" 1 \
		not_committed committed "$f"
	if write_out "$f"; then
		verdict "$name: what was written out is on the disk" 0 none \
			disk "$f"
		run check committed "$f" --json
		said=$status
		cp "$tap_dir/stdout" "$tap_dir/said"
		size_after_crash f
		# the inode may have been committed: what a crash leaves says so
		if [ "$size" = none ] || [ "$size" -lt 100000 ]; then
			[ "$said" = 1 ] && grep -q '"not_committed"' \
				"$tap_dir/said" &&
				tap_ok "$name: a crash loses it, and so it is" ||
				tap_not_ok "$name: a crash loses it" \
					"$tap_dir/said"
		else
			tap_skip "$name: a crash loses it" 'it was committed'
		fi
	else
		tap_skip "$name: written out" 'the kernel does not do it'
	fi
	fsync_file "$f"
	verdict "$name: after fsync it is" 0 none committed "$f"
	size_after_crash f
	[ "$size" = 100000 ] && tap_ok "$name: a crash now leaves it" ||
		tap_not_ok "$name: a crash now leaves it: $size"

	# more of them than an inode holds
	"$PYTHON3" - "$dir/many" << 'END'
import os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for i in range(600):
    os.pwrite(f, os.urandom(4096), i * 8192)
os.fsync(f)
END
	verdict "$name: a file in many pieces" 0 none committed "$dir/many"
	fresh dirty_many "$name: one of them is dirty" 1 \
		not_committed committed "$dir/many"
	head -n 1 "$tap_dir/stdout" | grep -q '"first":1000,"pages":1,' &&
		tap_ok "$name: and that is the page" ||
		tap_not_ok "$name: and that is the page" "$(why)"

	# all of it is committed, but its name is not
	"$PYTHON3" - "$dir/nameless" << 'END' > "$tap_dir/ready" &
import os, sys, time
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.unlink(sys.argv[1])
os.write(f, os.urandom(50000))
os.fsync(f)
print("ready", flush=True)
time.sleep(60)
END
	holder=$!
	while [ ! -s "$tap_dir/ready" ] && kill -0 "$holder" 2> /dev/null; do
		sleep 0.1
	done
	fd=$(find "/proc/$holder/fd" -lname '*nameless*' | head -n 1)
	verdict "$name: a file without a name" 1 not_committed committed "$fd"
	kill "$holder"
	wait "$holder" 2> /dev/null || :
	holder=
	: > "$tap_dir/ready"
	unmount_image
}

with_form ext4 -t ext4 -b 4096
with_form ext3 -t ext3 -b 4096
with_form small -t ext4 -b 1024

tap_done
