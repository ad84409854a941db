#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests assertions that hold, are violated, or cannot be told, on this
# directory's filesystem, and as root on filesystems made for it.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

more_clean_up() {
	! grep -q " $tap_dir/full " /proc/mounts ||
		unmount "$tap_dir/full" 2> /dev/null || :
}

# --- arguments ---

chmod 755 "$tap_dir"
file=$tap_dir/file
head -c 40000 /dev/urandom > "$file"
run check
expect 'check: what?' 64 'check lacks arguments'
run check tidy "$file"
expect 'check: no such assertion' 64 "'tidy' is not clean, disk"
run check clean
expect 'check clean: of what?' 64 'needs a PATH'
run check clean "$file" 1+0
expect 'check: an empty range' 64 'asks for nothing'
run check clean "$file" --since "$file"
expect 'check: --since is not for all' 64 "--since is for 'check errors'"
run check clean "$file" --watch 1
expect 'check: --watch is not for all' 64 "--watch is for 'check stable'"
run check clean "$file" --tap --json
expect 'check: one format' 64 '--tap is a format of its own'
run check clean "$tap_dir/none"
expect 'check: no such file' 66 'No such file'
run check clean "$tap_dir"
expect 'check: a directory' 64 'neither a regular file nor a block device'
mkfifo "$tap_dir/fifo"
run check clean "$tap_dir/fifo"
expect 'check: a FIFO is not opened' 64 'neither a regular file'
run check clean "$file" --root "$tap_dir"
case $status in
64 | 66 | 69) tap_ok 'check: not of a captured tree' ;;
*) tap_not_ok 'check: not of a captured tree' "$(why)" ;;
esac

# --- here, as any user ---

kind=$(stat -f -c %T "$tap_dir")
run check clean "$file" --json
if grep -q no_kernel "$tap_dir/stdout"; then
	tap_skip 'what is cached' 'the kernel has no cachestat'
	tap_done
fi
case $kind in
tmpfs | overlayfs | ramfs)
	whole "clean: $kind cannot tell" '"cause":"filesystem"'
	run check disk "$file" --json
	whole "disk: $kind cannot tell" '"cause":"filesystem"'
	;;
*)
	sync "$file"
	run check clean "$file"
	expect 'clean: after a sync' 0
	stdout_is 'clean: in words' "clean $file: holds"
	printf x | dd of="$file" bs=1 seek=9000 conv=notrunc 2> /dev/null
	run check clean "$file" --json
	if [ "$status" = 1 ]; then
		tap_ok 'clean: a byte was written'
		# of the folio, which may be larger than the page
		whole 'clean: by how many' '"verdict":"violated","first":0'
	else
		tap_skip 'clean: a byte was written' 'it was written out'
	fi
	sync "$file"
	run check clean "$file" 2+1 --tap
	expect 'clean: TAP' 0
	stdout_has 'clean: TAP says ok' "ok 1 - clean $file"
	;;
esac
run check absent "$file" --tap
[ "$kind" = overlayfs ] || {
	[ "$status" = 1 ] && tap_ok 'absent: it was just written' ||
		tap_not_ok 'absent: it was just written' "$(why)"
	stdout_has 'absent: TAP says not ok' "not ok 1 - absent $file"
}
# Ranges that are not neighbours.
truncate -s 64M "$tap_dir/sparse"
for at in 0 16 32 48; do
	printf x | dd of="$tap_dir/sparse" bs=1M seek=$at conv=notrunc \
		2> /dev/null
done
run check absent "$tap_dir/sparse" --json
if [ "$(wc -l < "$tap_dir/stdout")" -gt 3 ]; then
	sed '2,${$!d;}' "$tap_dir/stdout" > "$tap_dir/one"
	run check absent "$tap_dir/sparse" --json --limit 1
	expect 'a limit: the same status' 1
	tap_run 'a limit: one range, and the whole' cmp "$tap_dir/one" \
		"$tap_dir/stdout"
	run check absent "$tap_dir/sparse" --tap --limit 1
	tap_run 'a limit: TAP' test "$(grep -c '^# violated ' \
		"$tap_dir/stdout")" = 1
else
	tap_skip 'a limit' "what is cached of $kind is not known"
fi
run check mark "$tap_dir/mark" --limit 1
expect 'a limit: a mark has no ranges' 64 'takes no options of its own'
run check absent "$file" 100+1 --json
[ "$kind" = overlayfs ] ||
	whole 'absent: behind the end' '"verdict":"holds"'
run check stable "$file" --watch 0.05 --json
whole 'stable: nothing seen is no proof' '"verdict":"unknown"'
run check stable "$file" --watch 0.05 --tap
expect 'stable: TAP: the status says that it cannot tell' 2
stdout_has 'stable: TAP skips what cannot be told' \
	"ok 1 - stable $file # SKIP unknown: "
tap_fails 'stable: which has not failed' grep -q '^not ok' "$tap_dir/stdout"

# --- as root, on new filesystems ---

if [ "$(id -u)" != 0 ]; then
	tap_skip 'filesystems of our own' 'needs root'
	tap_done
fi

dirty_f() {
	other_byte "$f" 50000
}

new_f() {
	new_file 8192 "$f"
}

# new_block: writes a page of $dir/g, on a block that was never written
new_block() {
	rm -f "$dir/g"
	fallocate -l 65536 "$dir/g"
	head -c 4096 /dev/urandom |
		dd of="$dir/g" conv=notrunc 2> /dev/null
}

# new_dir: makes one more directory in $dir, and commits it
new_dir() {
	n_dirs=$((n_dirs + 1))
	mkdir "$dir/new$n_dirs"
	"$PYTHON3" -c 'import os, sys
os.fsync(os.open(sys.argv[1], os.O_RDONLY))' "$dir/new$n_dirs"
}
n_dirs=0

# of_files NAME OPTIONS: tests that hold on every filesystem
of_files() {
	name=$1
	f=$dir/f
	# without the bytes that are written below
	head -c 100001 /dev/urandom | LC_ALL=C tr xz y > "$f"
	fsync_file "$f"
	verdict "$name: clean after fsync" 0 none clean "$f"
	verdict "$name: on the disk after fsync" 0 none disk "$f"
	fresh dirty_f "$name: a byte written is not clean" 1 \
		dirty clean "$f"
	fresh dirty_f "$name: nor on the disk" 1 not_written \
		disk "$f"
	fresh dirty_f "$name: nor is its page" 1 not_written \
		disk "$f" 12+1
	whole "$name: and that is the page" '"violations":1,'
	verdict "$name: another page is" 0 none disk "$f" 0+8
	fsync_file "$f"
	verdict "$name: on the disk again" 0 none disk "$f"
	verdict "$name: cached" 1 cached absent "$f"
	case $name in
	*journal*) ;;
	*) fresh new_block "$name: dirty, on a block never written" 1 \
		not_written disk "$dir/g" ;;
	esac
	# behind the filesystem's back
	lose "$f"
	case $name in
	*journal*) ;;
	*)
		verdict "$name: other bytes on the disk are a lost write" 1 \
			lost_write disk "$f"
		head -n 1 "$tap_dir/stdout" | grep -q '"first":0,"pages":1,' &&
			tap_ok "$name: of that page" ||
			tap_not_ok "$name: of that page" "$(why)"
		;;
	esac
	verdict "$name: stable cannot be told" 2 unknown stable "$f" \
		--watch 0.05
	setpriv --reuid=65534 --regid=65534 --clear-groups true \
		2> /dev/null && [ -z "${PDET_VALGRIND:-}" ] && {
		chmod 666 "$f"
		status=0
		setpriv --reuid=65534 --regid=65534 --clear-groups "$PAGEDET" \
			check disk "$f" --json > "$tap_dir/stdout" \
			2> "$tap_dir/stderr" || status=$?
		if [ "$status" = 126 ] || [ "$status" = 127 ] ||
			[ "$status" = 77 ]; then
			tap_skip "$name: the disk is root's" 'no way there'
		else
			whole "$name: the disk is root's" \
				'"verdict":"unknown"'
			tap_run "$name: and what would help" grep -q \
				'hint: run it as root' "$tap_dir/stderr"
		fi
	}
	unmount "$dir" && mount "$loop" "$dir" -o "$2"
	verdict "$name: absent after a new mount" 0 none absent "$f"
}

if ! command -v mke2fs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'ext4' 'needs mke2fs and losetup'
	tap_done
fi

for mode in ordered journal; do
	dir=$tap_dir/$mode
	truncate -s 48M "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 4096 "$tap_dir/img" > "$tap_dir/why" 2>&1
	if ! mount_image "data=$mode"; then
		tap_skip "ext4 data=$mode" "cannot be mounted here"
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		continue
	fi
	of_files "ext4 data=$mode" "data=$mode"
	f=$dir/h
	fresh new_f "$mode: nothing is committed before fsync" \
		1 not_committed committed "$f"
	fsync_file "$f"
	verdict "$mode: all is committed after it" 0 none committed "$f"
	run check committed "$f" --json
	whole "$mode: says what is in the journal" ' in the journal, '
	counts_well "$mode: what is in the journal"
	# metadata, in the cache of the device
	# the pages that the filesystem reads are complete only if the device is
	# read
	cat "$loop" > /dev/null
	mkdir "$dir/new"
	run check committed "$loop" --json
	[ "$status" = 1 ] && whole "$mode: a new directory is not committed" \
		'"cause":"not_committed"' ||
		tap_skip "$mode: a new directory" 'it was committed meanwhile'
	"$PYTHON3" -c 'import os, sys
os.fsync(os.open(sys.argv[1], os.O_RDONLY))' "$dir/new"
	# a partly new page may not be visible
	run check committed "$loop" --json
	tap_fails "$mode: now it is, and replay would write it" \
		grep -q '"violated"' "$tap_dir/stdout"
	fresh new_dir "$mode: home blocks are not written yet" 1 dirty \
		clean "$loop"
	unmount_image
	rm "$tap_dir/img"
done

if command -v mkfs.xfs > /dev/null; then
	dir=$tap_dir/xfs
	truncate -s 320M "$tap_dir/img"
	# An image from a failed mount may still exist.
	mkfs.xfs -q -f "$tap_dir/img" > "$tap_dir/why" 2>&1
	if mount_image defaults; then
		of_files xfs defaults
		unmount_image
	else
		tap_skip 'xfs' 'cannot be mounted here'
	fi
else
	tap_skip 'xfs' 'needs mkfs.xfs'
fi

# Stores to pages without end during their writeback. hammer STABLE: leaves the
# verdict, or status 77
hammer() {
	dir=$tap_dir/hammer$1
	truncate -s 48M "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 4096 "$tap_dir/img" > "$tap_dir/why" 2>&1
	status=77
	loop=$(losetup -f --show "$tap_dir/img" 2> "$tap_dir/why") || return 0
	mkdir "$dir"
	# the state when the filesystem is mounted
	{ echo "$1" > "/sys/block/${loop#/dev/}/queue/stable_writes"; } \
		2> "$tap_dir/why" && mount "$loop" "$dir" && mounted=$dir ||
		return 0
	"$PYTHON3" - "$dir/f" << 'END' &
import mmap, os, sys, threading, time
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.ftruncate(f, 8 * 4096)
m = mmap.mmap(f, 8 * 4096)
end = time.monotonic() + 4
def sync():
    while time.monotonic() < end:
        os.fdatasync(f)
threading.Thread(target=sync).start()
n = 0
while time.monotonic() < end:
    for page in range(8):
        n = (n + 1) % 256
        m[page * 4096 + n] = n ^ m[page * 4096 + n] | 1
        m[page * 4096 + 256 + n] = n
        m[page * 4096 + 256 + n] = 255 - n
END
	hammering=$!
	# it may end before it begins
	while [ ! -s "$dir/f" ] && kill -0 "$hammering" 2> /dev/null; do
		sleep 0.1
	done
	run check stable "$dir/f" --watch 2.5 --json
	wait "$hammering" || :
	unmount_image
	rm "$tap_dir/img"
}

hammer 1
case $status in
77) tap_skip 'stable: with stable writes' 'cannot be set here' ;;
*) whole 'stable: with stable writes none is seen' '"verdict":"unknown"' ;;
esac
[ -z "$loop" ] || losetup -d "$loop"
loop=
hammer 0
case $status in
1) whole 'stable: changed under writeback' '"cause":"changed"' ;;
*) tap_skip 'stable: changed under writeback' 'none was seen' ;;
esac
[ -z "$loop" ] || losetup -d "$loop"
loop=

# A full disk: fsync fails, and then every page is clean.
mkdir "$tap_dir/full"
dir=$tap_dir/onfull
if mount -t tmpfs -o size=12M none "$tap_dir/full" 2> "$tap_dir/why"; then
	truncate -s 64M "$tap_dir/full/img"
	ln -sf full/img "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 4096 -J size=4 "$tap_dir/img" \
		> "$tap_dir/why" 2>&1
	if mount_image defaults; then
		head -c 20000000 /dev/zero | tr '\0' x > "$dir/f" \
			2> /dev/null || :
		tap_fails 'full disk: fsync fails' "$PYTHON3" -c 'import os, sys
os.fsync(os.open(sys.argv[1], os.O_RDWR))' "$dir/f"
		sync "$dir/f" 2> /dev/null || :
		verdict 'full disk: and then all is clean' 0 none clean "$dir/f"
		verdict 'full disk: and a lost write' 1 lost_write disk "$dir/f"
		unmount_image
	else
		tap_skip 'a full disk' 'cannot be mounted here'
	fi
else
	tap_skip 'a full disk' 'tmpfs cannot be mounted here'
fi

tap_done
