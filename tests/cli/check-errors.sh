#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests marks and later errors on a full disk: errors of the file, of another
# file, and of any; and a watch that ended, was lost, or never began.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

other=
more_clean_up() {
	[ ! -d "$other" ] || rmdir "$other" || :
	# ends only watches of these marks
	for m in "$tap_dir"/m*; do
		[ ! -f "$m" ] || "$PAGEDET" check unmark "$m" 2> /dev/null || :
	done
	! grep -q " $tap_dir/full " /proc/mounts ||
		unmount "$tap_dir/full" 2> /dev/null || :
	! grep -q " $tap_dir/trace " /proc/mounts ||
		umount "$tap_dir/trace" || :
}

# of_each NAME STATUS CAUSE PATH...: errors since $mark
of_each() {
	each_name=$1
	each_status=$2
	each_cause=$3
	shift 3
	n=0
	for path; do
		n=$((n + 1))
		verdict "$each_name: $n" "$each_status" "$each_cause" \
			errors --since "$mark" "$path"
	done
}

tap_lock marks
chmod 755 "$tap_dir"
file=$tap_dir/file
echo something > "$file"
mark=$tap_dir/mark

# --- words ---

run check mark
expect 'mark: where?' 64 'check mark takes a FILE'
run check unmark
expect 'unmark: which?' 64 'check unmark takes a FILE'
run check mark "$mark" --tap
expect 'mark: has no options' 64 'no options of its own'
run check errors
expect 'errors: since when?' 64 'needs --since FILE'
run check errors a b --since "$mark"
expect 'errors: of one thing' 64 "'b' is one argument too many"
run check errors --since "$tap_dir/none"
expect 'errors: no mark' 66 'No such file'
run check unmark "$tap_dir/none"
expect 'unmark: no mark' 66 'No such file'

run check mark "$mark"
expect 'mark' 0
run check errors "$tap_dir/none" --since "$mark"
expect 'errors: of no file' 66 'No such file'
sed 's/^boot ./boot z/' "$mark" > "$tap_dir/other"
run check errors --since "$tap_dir/other"
expect 'errors: a mark that was changed' 65 'it is not a mark, or is damaged'
run check unmark "$tap_dir/other"
expect 'unmark: a mark that was changed' 65 'it is not a mark, or is damaged'
head -c 30 "$mark" > "$tap_dir/cut"
run check errors --since "$tap_dir/cut"
expect 'errors: a mark that was cut' 65 'it is not a mark, or is damaged'

# --- without the right to trace ---

if [ "$(id -u)" != 0 ]; then
	grep -q '^watch none no_' "$mark" && tap_ok 'mark: why nobody watches' ||
		tap_not_ok 'mark: why nobody watches' "$mark"
	run check errors --since "$mark" --json
	whole 'errors: nothing rose, and that is no proof' \
		'"verdict":"unknown"'
	[ "$status" = 2 ] && tap_ok 'errors: cannot tell is 2' ||
		tap_not_ok 'errors: cannot tell is 2' "$(why)"
	run check unmark "$mark"
	expect 'unmark: there is nothing to end' 0
	tap_skip 'errors that are made' 'needs root'
	tap_done
fi

if ! grep -q '^watch pagedet-mark-' "$mark"; then
	run check errors --since "$mark" --json
	whole 'errors: without a trace it cannot be told' '"verdict":"unknown"'
	tap_skip 'errors that are traced' 'the kernel has no such trace'
	tap_done
fi

# instances: lists this test's instances, through its own mount
mkdir "$tap_dir/trace"
if ! mount -t tracefs none "$tap_dir/trace" 2> "$tap_dir/why"; then
	tap_skip 'errors that are traced' 'tracefs cannot be mounted here'
	tap_done
fi
instances=$tap_dir/trace/instances
name_in() {
	sed -n 's/^watch \(pagedet-mark-[^ ]*\) armed 1$/\1/p' "$1"
}

watch=$(name_in "$mark")
[ -d "$instances/$watch" ] && tap_ok 'mark: an instance of its own' ||
	tap_not_ok 'mark: an instance of its own' "$mark"
run check mark "$mark"
expect 'mark: once more into the same file' 0
tap_fails 'mark: the older watch has ended' test -e "$instances/$watch"
watch=$(name_in "$mark")
run check mark "$tap_dir/none/mark"
expect 'mark: a file that cannot be written' 66 'cannot write'
[ "$(ls "$instances" | grep -c "^pagedet-mark-")" -ge 1 ] &&
	[ -d "$instances/$watch" ] && tap_ok 'mark: that ends no other' ||
	tap_not_ok 'mark: that ends no other' "$mark"

# --- a full disk ---

if ! command -v mke2fs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'a full disk' 'needs mke2fs and losetup'
	tap_done
fi
mkdir "$tap_dir/full"
dir=$tap_dir/onfull
mount -t tmpfs -o size=12M none "$tap_dir/full" 2> "$tap_dir/why" || {
	tap_skip 'a full disk' 'tmpfs cannot be mounted here'
	tap_done
}
ln -s full/img "$tap_dir/img"

# make_disk: makes a filesystem that finds 12 MiB on its disk, with $dir/small
make_disk() {
	rm -f "$tap_dir/full/img"
	mount -o remount,size=12M "$tap_dir/full"
	truncate -s 64M "$tap_dir/full/img"
	mke2fs -q -F -t ext4 -b 4096 -J size=4 "$tap_dir/img" \
		> "$tap_dir/why" 2>&1
	mount_image defaults || return 1
	echo small > "$dir/small"
	fsync_file "$dir/small"
}

# fill_disk: writes more than that into $dir/f, and sets $synced to whether fsync
# says that it is there; then the disk is larger. Fails if the journal could not
# be written before: a commit writes it, and then the whole filesystem has failed.
fill_disk() {
	# so small that it overflows
	echo 4 > "$instances/$(name_in "$tap_dir/m2")/buffer_size_kb"
	head -c 20000000 /dev/zero | tr '\0' x > "$dir/f" 2> /dev/null || :
	synced=true
	fsync_file "$dir/f" || synced=false
	mount -o remount,size=32M "$tap_dir/full"
	[ "$(cat "/sys/fs/ext4/${loop##*/}/errors_count")" = 0 ]
}

if ! make_disk; then
	tap_skip 'a full disk' 'cannot be mounted here'
	tap_done
fi
run check mark "$mark"
expect 'mark: it is not full yet' 0
run check mark "$tap_dir/m2"
expect 'mark: and another one' 0
of_each 'errors: none yet' 0 none "$dir/small" "$dir" "$loop" "$file"
run check errors --since "$mark" "$dir/small" --tap
stdout_has 'errors: TAP says ok' "ok 1 - errors $dir/small"

# until nobody syncs meanwhile
for try in 1 2 3 4 5; do
	! fill_disk && [ "$try" != 5 ] || break
	echo "# full disk: not the time $try"
	unmount_image
	make_disk
	run check mark "$mark"
	run check mark "$tap_dir/m2"
done
tap_fails 'full disk: fsync fails' $synced
verdict 'errors: of the file' 1 error errors --since "$mark" "$dir/f"
grep -q "writeback of inode $(stat -c %i "$dir/f") .*failed: No space left" \
	"$tap_dir/stdout" && tap_ok 'errors: says which file, and why' ||
	tap_not_ok 'errors: says which file, and why' "$(why)"
grep -q 'told to callers [1-9]' "$tap_dir/stdout" &&
	tap_ok 'errors: says that a caller was told' ||
	tap_not_ok 'errors: says that a caller was told' "$(why)"
verdict 'errors: of the filesystem' 1 error errors --since "$mark" "$dir"
verdict 'errors: of the device' 1 error errors --since "$mark" "$loop"
verdict 'errors: of anything' 1 error errors --since "$mark"
verdict 'errors: another filesystem has none' 0 none \
	errors --since "$mark" "$file"
verdict 'errors: another file did not fail' 0 none \
	errors --since "$mark" "$dir/small"
run check errors --since "$tap_dir/m2" "$dir/f"
[ "$status" = 1 ] && tap_ok 'errors: another mark sees it, too' ||
	tap_not_ok 'errors: another mark sees it, too' "$(why)"
run check mark "$tap_dir/m3"
verdict 'errors: a mark of later has none' 0 none \
	errors --since "$tap_dir/m3" "$file"

# --- watches that miss events ---

# for a file on a healthy filesystem only the watch decides
watch=$(name_in "$tap_dir/m3")
echo 0 > "$instances/$watch/tracing_on"
verdict 'errors: a watch that is switched off' 2 replaced \
	errors --since "$tap_dir/m3" "$file"
echo 1 > "$instances/$watch/tracing_on"
echo 0 > "$instances/$watch/events/filemap/filemap_set_wb_err/enable"
verdict 'errors: one that is half switched off' 2 replaced \
	errors --since "$tap_dir/m3" "$file"
rmdir "$instances/$watch"
verdict 'errors: one that is gone' 2 replaced \
	errors --since "$tap_dir/m3" "$file"
# the one that was made too small
watch=$(name_in "$tap_dir/m2")
lost=$(cat "$instances/$watch"/per_cpu/cpu*/stats |
	awk '/^dropped events: / { n += $3 } END { print n + 0 }')
if [ "$lost" -gt 0 ]; then
	verdict 'errors: events were lost' 2 unknown \
		errors --since "$tap_dir/m2" "$file"
	grep -q "lost $lost events" "$tap_dir/stdout" &&
		tap_ok 'errors: how many' ||
		tap_not_ok 'errors: how many' "$(why)"
	verdict 'errors: what was not lost is a proof' 1 error \
		errors --since "$tap_dir/m2" "$dir/f"
else
	tap_skip 'errors: events were lost' 'none was'
fi
unmount "$dir" && mounted=
run check mark "$mark"
verdict 'errors: of a device that is not mounted' 2 filesystem \
	errors --since "$mark" "$loop"
losetup -d "$loop" && loop=

# --- lost data that only the kernel log reports ---

# Blocks are allocated at writeback. By then another file has all remaining
# ones, and a file in many pieces needs more than its data.

# fill: writes $dir/f, and lets $dir/all have all blocks that remain; fails if
# $dir/f has blocks by then
fill() {
	"$PYTHON3" - "$dir" << 'END'
import array, fcntl, os, struct, sys
FIEMAP = 0xC020660B
DELALLOC = 4

os.chdir(sys.argv[1])
f = os.open("f", os.O_RDWR | os.O_CREAT)
for n in range(3000):
    os.pwrite(f, b"x" * 1024, n * 2048)
g = os.open("all", os.O_RDWR | os.O_CREAT)
at, size = 0, 1 << 20
while size >= 1024:
    try:
        os.posix_fallocate(g, at, size)
        at += size
    except OSError:
        size //= 2
buf = array.array("B", struct.pack("=QQIIII", 0, 1 << 40, 0, 0, 3000, 0) +
                  bytes(56 * 3000))
fcntl.ioctl(f, FIEMAP, buf)
n = struct.unpack_from("=I", buf, 20)[0]
flags = [struct.unpack_from("=I", buf, 32 + 56 * i + 40)[0] for i in range(n)]
sys.exit(not all(flag & DELALLOC for flag in flags))
END
}

# make_small: makes a filesystem without a reserve, with $dir/small, and a mark
make_small() {
	rm -f "$tap_dir/img"
	truncate -s 16M "$tap_dir/img"
	mke2fs -q -F -t ext4 -b 1024 -m 0 "$tap_dir/img" > "$tap_dir/why" 2>&1
	mount_image commit=300 &&
		echo 0 > "/sys/fs/ext4/${loop##*/}/reserved_clusters" ||
		return 1
	echo small > "$dir/small"
	fsync_file "$dir/small"
	run check mark "$mark"
}

dir=$tap_dir/lost
if make_small; then
	verdict 'errors: nothing is lost yet' 0 none \
		errors --since "$mark" "$dir/small"
	# until nobody syncs meanwhile: that would allocate blocks. The kernel
	# logs only so much of one mount, so it is made anew.
	for try in 1 2 3 4 5; do
		! fill && [ "$try" != 5 ] || break
		echo "# errors: lost: not the time $try"
		unmount_image
		make_small
	done
	sync -f "$dir/small"
	run check errors --since "$mark" "$dir/f" --json
	said=$status
	cp "$tap_dir/stdout" "$tap_dir/said"
	of_each 'errors: lost, as the kernel log says' 1 error "$dir" "$loop"
	verdict 'errors: lost, and more than the log has' 2 unknown \
		errors --since "$mark" "$dir/small"
	unmount "$dir" && mounted=
	mount "$loop" "$dir" && mounted=$dir
	there=$(tr -cd x < "$dir/f" | wc -c)
	if [ "$there" -lt 3072000 ]; then
		[ "$said" = 1 ] && grep -q 'kernel log' "$tap_dir/said" &&
			tap_ok 'errors: lost, and told by the log' ||
			tap_not_ok 'errors: lost, and told by the log' \
				"$tap_dir/said"
	else
		tap_not_ok 'errors: nothing was lost, and that was the point' \
			"$tap_dir/said"
	fi
	unmount_image
else
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	tap_skip 'errors: lost, and not told' 'cannot be made here'
fi

# --- errors of one file, which the superblock names ---

# counted: whether the superblock has $1 errors
counted() {
	[ "$(cat "/sys/fs/ext4/${loop##*/}/errors_count")" = "$1" ]
}

# meet FILE ERRORS: reads a damaged inode
meet() {
	tap_fails "errors: $1 is damaged" stat "$dir/$1"
	tap_wait counted "$2"
}

dir=$tap_dir/counted
rm -f "$tap_dir/img"
truncate -s 16M "$tap_dir/img"
mke2fs -q -F -t ext4 -b 1024 -O ^metadata_csum "$tap_dir/img" \
	> "$tap_dir/why" 2>&1
if command -v debugfs > /dev/null && mount_image errors=continue; then
	for name in small bad1 bad2 bad3; do
		echo small > "$dir/$name"
	done
	unmount "$dir" && mounted=
	losetup -d "$loop" && loop=
	for name in bad1 bad2 bad3; do
		debugfs -w -R "sif $name block[0] 0" "$tap_dir/img" \
			> "$tap_dir/why" 2>&1
	done
	mount_image errors=continue
	run check mark "$mark"
	meet bad1 1
	verdict 'errors: one, of another file' 0 none \
		errors --since "$mark" "$dir/small"
	of_each 'errors: one, of the filesystem' 1 error "$dir" "$loop"
	run check mark "$tap_dir/m2"
	meet bad2 2
	verdict 'errors: both of other files' 0 none \
		errors --since "$mark" "$dir/small"
	verdict 'errors: the last one of another file' 0 none \
		errors --since "$tap_dir/m2" "$dir/small"
	run check mark "$tap_dir/m3"
	meet bad3 3
	verdict 'errors: three, of which two are known' 2 unknown \
		errors --since "$mark" "$dir/small"
	verdict 'errors: two later ones, of which one is known' 2 unknown \
		errors --since "$tap_dir/m2" "$dir/small"
	verdict 'errors: one later one' 0 none \
		errors --since "$tap_dir/m3" "$dir/small"
	if [ -w "/sys/fs/ext4/${loop##*/}/trigger_fs_error" ]; then
		run check mark "$mark"
		echo test > "/sys/fs/ext4/${loop##*/}/trigger_fs_error"
		tap_wait counted 4
		verdict 'errors: one of no inode' 2 unknown \
			errors --since "$mark" "$dir/small"
	fi
	unmount "$dir" && mounted=
	mount "$loop" "$dir" -o errors=remount-ro && mounted=$dir
	run check mark "$mark"
	errors=$(cat "/sys/fs/ext4/${loop##*/}/errors_count")
	meet bad1 "$((errors + 1))"
	verdict 'errors: and nothing is written any more' 2 unknown \
		errors --since "$mark" "$dir/small"
	unmount_image
else
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	tap_skip 'errors: of one file' 'cannot be made here'
fi

# --- a disk with partitions ---

rm -f "$tap_dir/img"
truncate -s 32M "$tap_dir/img"
dir=$tap_dir/part
mkdir "$dir"
if loop=$(losetup -f --show "$tap_dir/img" 2> "$tap_dir/why") &&
	addpart "$loop" 1 2048 40960 2> "$tap_dir/why" &&
	[ -b "${loop}p1" ] &&
	mke2fs -q -F -t ext4 "${loop}p1" > "$tap_dir/why" 2>&1 &&
	mount "${loop}p1" "$dir" 2> "$tap_dir/why"; then
	mounted=$dir
	echo small > "$dir/small"
	fsync_file "$dir/small"
	run check mark "$mark"
	of_each 'errors: of a partition' 0 none "$dir/small" "$dir" "${loop}p1"
	verdict 'errors: of the disk that it is a part of' 2 filesystem \
		errors --since "$mark" "$loop"
	unmount "$dir" && mounted=
	verdict 'errors: of a partition that is not mounted now' 2 replaced \
		errors --since "$mark" "${loop}p1"
	delpart "$loop" 1
	losetup -d "$loop" && loop=
else
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	tap_skip 'errors: of a partition' 'a loop device cannot have one here'
fi

# --- the older of two ends first ---

run check mark "$tap_dir/m2"
run check mark "$tap_dir/m3"
run check unmark "$tap_dir/m2"
expect 'unmark: the older of two' 0
verdict 'errors: the older has ended' 2 replaced \
	errors --since "$tap_dir/m2" "$file"
verdict 'errors: the newer has not' 0 none errors --since "$tap_dir/m3" "$file"
[ -d "$instances/$(name_in "$tap_dir/m3")" ] &&
	[ ! -e "$instances/$(name_in "$tap_dir/m2")" ] &&
	tap_ok 'unmark: that ends its own alone' ||
	tap_not_ok 'unmark: that ends its own alone'

# --- overlays have no pages: the file below does ---

mkdir "$tap_dir/up" "$tap_dir/work" "$tap_dir/low" "$tap_dir/over"
echo low > "$tap_dir/low/f"
if mount -t overlay none "$tap_dir/over" -o \
	"lowerdir=$tap_dir/low,upperdir=$tap_dir/up,workdir=$tap_dir/work" \
	2> "$tap_dir/why"; then
	mounted=$tap_dir/over
	run check mark "$mark"
	verdict 'errors: of the file below an overlay' 0 none \
		errors --since "$mark" "$tap_dir/over/f"
	verdict 'errors: of an overlay as a whole' 2 filesystem \
		errors --since "$mark" "$tap_dir/over"
	unmount "$tap_dir/over"
	mounted=
else
	tap_skip 'errors: of an overlay' 'cannot be mounted here'
fi

# --- creators that never come back ---

# An instance of who traces something else. Others come and go meanwhile.
other=$instances/pagedet-test-$$
mkdir "$other"
n=0
while [ "$n" -lt 12 ]; do
	n=$((n + 1))
	"$PAGEDET" check mark "$tap_dir/m-$n"
done
left=0
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	[ ! -d "$instances/$(name_in "$tap_dir/m-$n")" ] || left=$((left + 1))
done
[ "$left" -gt 4 ] && [ "$left" -le 8 ] &&
	tap_ok 'mark: no more than 8 watches stay' ||
	tap_not_ok "mark: no more than 8 watches stay: $left"
[ -d "$instances/$(name_in "$tap_dir/m-12")" ] &&
	[ ! -d "$instances/$(name_in "$tap_dir/m-1")" ] &&
	tap_ok 'mark: the oldest are ended' ||
	tap_not_ok 'mark: the oldest are ended'
rmdir "$other" && tap_ok 'mark: other instances are left alone' ||
	tap_not_ok 'mark: other instances are left alone'
# their creators still exist, and made them long ago
n=0
while [ "$n" -lt 12 ]; do
	n=$((n + 1))
	mkdir "$instances/pagedet-mark-$(printf '%016x-%08x' "$n" $$)"
done
first=$instances/pagedet-mark-$(printf '%016x-%08x' 1 $$)
exec 7< "$first/trace_pipe"
"$PAGEDET" check mark "$tap_dir/m-12"
left=$(ls "$instances" | grep -c '^pagedet-mark-')
[ "$left" -le 8 ] && tap_ok 'mark: also of who is still there' ||
	tap_not_ok "mark: also of who is still there: $left"
tap_run 'mark: but one that somebody reads' test -d "$first"
exec 7<&-
[ -d "$instances/$(name_in "$tap_dir/m-12")" ] &&
	[ -d "$instances/pagedet-mark-$(printf '%016x-%08x' 12 $$)" ] &&
	tap_ok 'mark: and of these the oldest' ||
	tap_not_ok 'mark: and of these the oldest'
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	rmdir "$instances/pagedet-mark-$(printf '%016x-%08x' "$n" $$)" \
		2> /dev/null || :
done
run check unmark "$tap_dir/m-12"
expect 'unmark' 0
tap_fails 'unmark: the watch has ended' \
	test -e "$instances/$(name_in "$tap_dir/m-12")"
run check unmark "$tap_dir/m-12"
expect 'unmark: twice is no harm' 0
verdict 'errors: nobody watches any more' 2 replaced \
	errors --since "$tap_dir/m-12" "$file"

# A mark is not trusted: its watch must be a watch, or it has none.
"$PYTHON3" - "$tap_dir/m-11" "$tap_dir/forged" << 'END'
import re, sys
text = open(sys.argv[1]).read()
open(sys.argv[2], "w").write(
    re.sub("(?m)^watch .*", "watch ../../../tmp armed 1", text))
END
run check unmark "$tap_dir/forged"
expect 'unmark: a forged mark is none' 65 'it is not a mark, or is damaged'

tap_done
