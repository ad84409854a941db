#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests "check committed" on ext4: data is committed where a replayed inode
# names it. A copy of the image, mounted, must agree.
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

# size_after_crash FILE: prints its size in a copy of the current image, after a
# replay of the journal; "none" if it does not exist
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

dirty_scattered() {
	other_byte "$dir/scattered" 2048
}

# cut_f: makes $f anew, commits it, and cuts it
cut_f() {
	new_file 40960 "$f"
	fsync_file "$f"
	truncate -s 8192 "$f"
}

# longer_f: commits $f with two pages, and makes it longer
longer_f() {
	truncate -s 8192 "$f"
	fsync_file "$f"
	truncate -s 400000 "$f"
}

new_empty() {
	new_file 0 "$dir/empty"
}

# append_g: makes $dir/g anew, commits it, and appends a byte
append_g() {
	new_file 70000 "$dir/g"
	fsync_file "$dir/g"
	printf x >> "$dir/g"
}

dirty_stale() {
	other_byte "$dir/f" 9000
}

# is_ready_or_ended: whether the holder of a file without a name is
is_ready_or_ended() {
	[ -s "$tap_dir/ready" ] || tap_ended "$holder"
}

# with_form NAME OPTION...: runs mke2fs
with_form() {
	name=$1
	shift
	dir=$tap_dir/$name
	rm -f "$tap_dir/img"
	truncate -s 64M "$tap_dir/img"
	mke2fs -q -F "$@" "$tap_dir/img" > "$tap_dir/why" 2>&1
	# no commits except explicit ones
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
		# the inode may have been committed: the copy after a crash
		# tells; until nobody syncs meanwhile
		for try in 1 2 3 4 5; do
			run check committed "$f" --json
			said=$status
			cp "$tap_dir/stdout" "$tap_dir/said"
			size_after_crash f
			[ "$size" != none ] && [ "$size" -ge 100000 ] || break
			echo "# $name: a crash loses it: not the time $try"
			new_f
			write_out "$f"
		done
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

	# more extents than an inode holds
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

	# everything is committed, except its name
	"$PYTHON3" - "$dir/nameless" << 'END' > "$tap_dir/ready" &
import os, signal, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.unlink(sys.argv[1])
os.write(f, os.urandom(50000))
os.fsync(f)
print("ready", flush=True)
signal.pause()
END
	holder=$!
	tap_wait is_ready_or_ended
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

# Blocks smaller than a page: some blocks of a page belong to the file, and
# others behind them to another file. All data goes through the journal here, so
# the journal also has a copy of the other file's blocks.
with_neighbour() {
	dir=$tap_dir/neighbour
	rm -f "$tap_dir/img"
	truncate -s 8M "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 1024 "$tap_dir/img" > "$tap_dir/why" 2>&1
	if ! mount_image data=journal,commit=300; then
		tap_skip 'neighbour' 'cannot be mounted here'
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		return 0
	fi
	"$PYTHON3" - "$dir" << 'END' && taken=true || taken=false
import array, fcntl, os, struct, subprocess, sys
FIEMAP = 0xC020660B

# FIBMAP would write out the journal
def has(f, block):
    buf = array.array("B", struct.pack("=QQIIII", 0, 1 << 40, 0, 0, 200, 0) +
                      bytes(56 * 200))
    fcntl.ioctl(f, FIEMAP, buf)
    for i in range(struct.unpack_from("=I", buf, 20)[0]):
        at, n = struct.unpack_from("=QQ", buf, 32 + 56 * i + 8)
        if at <= block * 1024 < at + n:
            return True
    return False

room = os.open(sys.argv[1] + "/room", os.O_RDWR | os.O_CREAT)
os.write(room, os.urandom(262144))
f = os.open(sys.argv[1] + "/f", os.O_RDWR | os.O_CREAT)
os.write(f, os.urandom(4096))
os.fsync(f)
want = next(i for i in range(8192) if has(f, i)) + 1
subprocess.run(["fallocate", "-p", "-o", "1024", "-l", "3072",
                sys.argv[1] + "/f"], check=True)
os.fsync(f)
os.pread(f, 4096, 0)
g = os.open(sys.argv[1] + "/g", os.O_RDWR | os.O_CREAT)
while not has(g, want):
    try:
        os.write(g, os.urandom(65536))
    except OSError:
        # a commit frees blocks a little later
        os.ftruncate(g, 0)
    os.fsync(g)
os.unlink(sys.argv[1] + "/room")
os.fsync(g)
END
	tap_run 'neighbour: another file has the block behind' $taken
	cat "$dir/f" > "$tap_dir/there"
	verdict 'neighbour: what it wrote is not of this file' 0 none \
		committed "$dir/f"
	# blocks of a page that are not contiguous
	"$PYTHON3" - "$dir" << 'END'
import os, sys
f = os.open(sys.argv[1] + "/scattered", os.O_RDWR | os.O_CREAT)
g = os.open(sys.argv[1] + "/between", os.O_RDWR | os.O_CREAT)
for i in (3, 1, 2, 0):
    # without the bytes that are written below
    os.pwrite(f, os.urandom(1024).translate(None, b"xz").ljust(1024, b"y"),
              i * 1024)
    os.fsync(f)
    os.write(g, os.urandom(1024))
    os.fsync(g)
END
	verdict 'scattered: committed, each block at its place' 0 none \
		committed "$dir/scattered"
	fresh dirty_scattered 'scattered: a byte of one is not' 1 \
		not_committed committed "$dir/scattered"
	unmount_image
}
with_neighbour

# The size belongs to committed data, too. Uncached pages do not.
with_size() {
	dir=$tap_dir/size
	rm -f "$tap_dir/img"
	truncate -s 64M "$tap_dir/img"
	mke2fs -q -F -t ext4 "$tap_dir/img" > "$tap_dir/why" 2>&1
	mount_image commit=300 || return 0
	f=$dir/f
	fresh cut_f 'size: cut, and not committed' 1 not_committed committed \
		"$f"
	verdict 'size: of pages that stay no matter' 0 none committed "$f" 0+1
	fsync_file "$f"
	verdict 'size: cut, and committed' 0 none committed "$f"
	fresh longer_f 'size: longer, and not committed' 1 not_committed \
		committed "$f"
	whole 'size: longer, and no page of it is cached' '"violations":0,'
	fsync_file "$f"
	verdict 'size: longer, and committed' 0 none committed "$f"
	fresh new_empty 'size: an empty file is not there' 1 not_committed \
		committed "$dir/empty"
	fsync_file "$dir/empty"
	verdict 'size: an empty file is' 0 none committed "$dir/empty"
	unmount_image
}
with_size

# Changes that only a fast commit has.
with_fast_commits() {
	dir=$tap_dir/fast
	rm -f "$tap_dir/img"
	truncate -s 64M "$tap_dir/img"
	if ! mke2fs -q -F -t ext4 -O fast_commit "$tap_dir/img" \
		> "$tap_dir/why" 2>&1 || ! mount_image commit=300; then
		tap_skip 'fast commits' 'mke2fs or the kernel has none'
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		return 0
	fi
	f=$dir/f
	head -c 50000 /dev/urandom > "$f"
	# the first commit of a mount is never fast
	sync -f "$f"
	fsync_file "$f"
	fresh append_g 'fast: a byte is not committed' 1 not_committed \
		committed "$dir/g"
	fsync_file "$dir/g"
	verdict 'fast: committed' 0 none committed "$dir/g"
	# a sync of the filesystem is a commit that is not fast
	for try in 1 2 3 4 5; do
		! tail -n 1 "$tap_dir/stdout" | grep -q ' fast commits"' ||
			break
		echo "# fast: by such commits: not the time $try"
		append_g
		fsync_file "$dir/g"
		verdict "fast: committed, once more" 0 none committed "$dir/g"
	done
	whole 'fast: by such commits' ' fast commits"'
	size_after_crash g
	[ "$size" = 70001 ] && tap_ok 'fast: a crash now leaves it' ||
		tap_not_ok "fast: a crash now leaves it: $size"
	unmount_image
}
with_fast_commits

# Past the end of a truncated file nothing of a page is written, and the kernel
# keeps counting it as dirty.
with_stale_marks() {
	dir=$tap_dir/stale
	rm -f "$tap_dir/img"
	truncate -s 64M "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 1024 "$tap_dir/img" > "$tap_dir/why" 2>&1
	mount_image nodelalloc,commit=300 || return 0
	"$PYTHON3" - "$dir/f" << 'END'
import os, subprocess, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.pwrite(f, os.urandom(62429), 13312)
subprocess.run(["sync", "-f", sys.argv[1]], check=True)
os.pwrite(f, os.urandom(1012), 75741)
os.pwrite(f, os.urandom(551), 61268)
subprocess.run(["fallocate", "-z", "-o", "82944", "-l", "26660", sys.argv[1]],
               check=True)
os.ftruncate(f, 54802)
END
	write_out "$dir/f"
	verdict 'stale marks: all of it was written' 0 none clean "$dir/f"
	fresh dirty_stale 'stale marks: one byte was not' 1 dirty clean \
		"$dir/f"
	unmount_image
}
with_stale_marks

tap_done
