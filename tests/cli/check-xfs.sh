#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests "check committed" on xfs, before and after fsync. A copy of the image
# must agree once its log was replayed.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

if [ "$(id -u)" != 0 ]; then
	tap_skip 'xfs' 'needs root'
	tap_done
fi
if ! command -v mkfs.xfs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'xfs' 'needs mkfs.xfs and losetup'
	tap_done
fi

copy_loop=
log_loop=
more_clean_up() {
	! grep -q " $tap_dir/copied " /proc/mounts ||
		unmount "$tap_dir/copied" 2> /dev/null || :
	for d in $copy_loop $log_loop; do
		losetup -d "$d" 2> /dev/null || :
	done
}
mkdir "$tap_dir/copied"

# crash: mounts a copy of the current image, after a log replay, on
# $tap_dir/copied
crash() {
	cp --sparse=always "$tap_dir/img" "$tap_dir/copy"
	copy_loop=$(losetup -f --show "$tap_dir/copy") &&
		mount -o nouuid "$copy_loop" "$tap_dir/copied" \
			2> "$tap_dir/why"
}
uncrash() {
	unmount "$tap_dir/copied"
	losetup -d "$copy_loop"
	copy_loop=
}

new_f() {
	new_file 300000 "$f"
}

dirty_f() {
	other_byte "$f" 5000
}

# append: appends to the committed part of $f, each time anew
append() {
	truncate -s 300000 "$f"
	fsync_file "$f"
	cat "$tap_dir/more" >> "$f"
}
append_out() {
	append
	write_out "$f"
}

# many_files: so many that some inodes are only in the log
many_files() {
	rm -f "$dir"/g*
	i=0
	while [ "$i" -lt 200 ]; do
		i=$((i + 1))
		echo "file $i" > "$dir/g$i"
	done
}

dir=$tap_dir/xfs
truncate -s 320M "$tap_dir/img"
mkfs.xfs -q "$tap_dir/img" > "$tap_dir/why" 2>&1
loop=$(losetup -f --show "$tap_dir/img" 2> "$tap_dir/why") || {
	tap_skip 'xfs' 'there is no loop device'
	tap_done
}
verdict 'a new xfs: its log is clean' 0 none committed "$loop"
whole 'a new xfs: by the record of an unmount' 'is of an unmount'
losetup -d "$loop"
if ! mount_image defaults; then
	tap_skip 'xfs' 'cannot be mounted here'
	tap_done
fi
f=$dir/f

# a file that is not in the log
fresh new_f 'a new file is not committed' 1 not_committed committed "$f"
fsync_file "$f"
verdict 'after fsync it is' 0 none committed "$f"
whole 'where a replay would begin' 'a replay of the log begins at '
crash && cmp "$f" "$tap_dir/copied/f" > "$tap_dir/why" 2>&1 &&
	tap_ok 'a crash now: the file is there' ||
	tap_not_ok 'a crash now: the file is there' "$tap_dir/why"
uncrash

# longer and written out, but the log was not
new_file 300000 "$tap_dir/more"
fresh append 'what was appended is not' 1 not_committed committed "$f"
if write_out "$f"; then
	verdict 'what was written out is on the disk' 0 none disk "$f"
	fresh append_out 'and still not committed' 1 not_committed \
		committed "$f"
	# the first page that a replay would cut; until nobody syncs while it
	# is written
	for try in 1 2 3 4 5; do
		! grep -q '"first":73,"pages":74,' "$tap_dir/stdout" || break
		echo "# what a replay would cut: not the time $try"
		fresh append_out 'and once more' 1 not_committed committed "$f"
	done
	grep -q '"first":73,"pages":74,' "$tap_dir/stdout" &&
		tap_ok 'from the page on that a replay would cut' ||
		tap_not_ok 'from the page on that a replay would cut' "$(why)"
	verdict 'what was there before is' 0 none committed "$f" 0+73
	# until nobody syncs meanwhile
	for try in 1 2 3 4 5; do
		crash
		size=$(stat -c %s "$tap_dir/copied/f")
		uncrash
		[ "$size" != 300000 ] || break
		append_out
	done
	[ "$size" = 300000 ] && tap_ok 'a crash now: so it is' ||
		tap_not_ok "a crash now: so it is, not $size bytes"
else
	tap_skip 'written out without the log' 'the kernel does not do it'
fi
fsync_file "$f"
verdict 'after fsync all of it is' 0 none committed "$f"
crash && cmp "$f" "$tap_dir/copied/f" > "$tap_dir/why" 2>&1 &&
	tap_ok 'a crash now: all of it is there' ||
	tap_not_ok 'a crash now: all of it is there' "$tap_dir/why"
uncrash

# written in place: the log has no part in it
fresh dirty_f 'a byte that is dirty is not' 1 not_committed committed "$f"
head -n 1 "$tap_dir/stdout" | grep -q '"first":1,"pages":1,' &&
	tap_ok 'and that is the page' ||
	tap_not_ok 'and that is the page' "$(why)"
fsync_file "$f"
verdict 'written, it is' 0 none committed "$f"
"$PYTHON3" - "$f" > "$tap_dir/why" 2>&1 << 'END'
import os, sys
f = os.open(sys.argv[1], os.O_RDWR)
for i in range(3):
    os.ftruncate(f, 100 * (i + 1))
    os.pwrite(f, b"again", 4096 * i)
    os.fsync(f)
END
verdict 'cut and written again: it is' 0 none committed "$f"

# everything is committed, except a name
name_it() {
	"$PYTHON3" - "$dir" "$PAGEDET" << 'END' > "$tap_dir/there" 2>&1 || :
import os, subprocess, sys
dir = os.open(sys.argv[1], os.O_RDONLY)
f = os.open(sys.argv[1], os.O_RDWR | os.O_TMPFILE)
os.write(f, os.urandom(50000))
os.fsync(f)
path = "/proc/self/fd/%d" % f
def say():
    print(subprocess.run([sys.argv[2], "check", "committed", path],
                         pass_fds=[f]).returncode)
say()
# with a directory it follows links, as linkat(2) with its flag
os.link(path, "named", src_dir_fd=dir, dst_dir_fd=dir, follow_symlinks=True)
say()
os.fsync(f)
say()
END
}
is_named() {
	[ "$(grep '^[0-9]$' "$tap_dir/there" | tr -d '\n')" = 110 ]
}
# until nobody syncs meanwhile
for try in 1 2 3 4 5; do
	rm -f "$dir/named"
	name_it
	! is_named || break
done
is_named &&
	tap_ok 'a file without a name, named, and that committed' ||
	tap_not_ok 'a file without a name, named, and that committed' \
		"$tap_dir/there"

fresh many_files 'one of many, before' 1 not_committed committed "$dir/g100"
sync -f "$dir"
wrong=
for i in 1 50 100 150 200; do
	"$PAGEDET" check committed "$dir/g$i" > /dev/null || wrong="$wrong $i"
done
[ -z "$wrong" ] && tap_ok 'many, after' || tap_not_ok "many, after: $wrong"
crash
cat "$tap_dir/copied"/g1 "$tap_dir/copied"/g200 > "$tap_dir/there"
printf 'file 1\nfile 200\n' | cmp - "$tap_dir/there" &&
	tap_ok 'a crash now: they are there' ||
	tap_not_ok 'a crash now: they are there'
uncrash

# --- files that it cannot tell ---

"$PYTHON3" -c 'import os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
for i in range(200):
    os.pwrite(f, b"x" * 4096, i * 8192)
os.fsync(f)' "$dir/many"
verdict 'more extents than an inode holds' 2 filesystem committed "$dir/many"
verdict 'but what is on the disk can' 0 none disk "$dir/many"
if cp --reflink=always "$f" "$dir/shared" 2> /dev/null; then
	fsync_file "$dir/shared"
	cat "$dir/shared" > /dev/null
	verdict 'a file that shares blocks' 2 filesystem committed \
		"$dir/shared"
else
	tap_skip 'a file that shares blocks' 'cannot be made here'
fi
verdict 'the device: not applicable' 2 filesystem committed "$loop"
whole 'the device: why' 'not applicable'
crash && uncrash
cp --sparse=always "$tap_dir/img" "$tap_dir/copy"
copy_loop=$(losetup -f --show "$tap_dir/copy")
verdict 'what a crash leaves must be replayed' 2 filesystem committed \
	"$copy_loop"
losetup -d "$copy_loop"
copy_loop=
unmount "$dir" && mounted=
verdict 'unmounted: the log is clean' 0 none committed "$loop"
losetup -d "$loop" && loop=

# --- the log on another device ---

truncate -s 64M "$tap_dir/log"
log_loop=$(losetup -f --show "$tap_dir/log")
dir=$tap_dir/external
if mkfs.xfs -q -f -l "logdev=$log_loop,size=64m" "$tap_dir/img" \
	> "$tap_dir/why" 2>&1 && mount_image "logdev=$log_loop"; then
	f=$dir/f
	fresh new_f 'external log: a new file is not committed' 1 \
		not_committed committed "$f"
	fsync_file "$dir/f"
	verdict 'external log: after fsync it is' 0 none committed "$dir/f"
	whole 'external log: it was read' ' checkpoint'
	unmount "$dir" && mounted=
	verdict 'external log: only a mount names it' 2 filesystem \
		committed "$loop"
	losetup -d "$loop" && loop=
else
	tap_skip 'external log' 'cannot be mounted here'
fi

# --- a reused inode number ---

# same_number: makes $dir/new, with the number of a file that was committed, and
# sets $same; without that number there is no $dir/new
same_number() {
	rm -f "$dir/new"
	"$PYTHON3" - "$dir" << 'END' && same=true || same=false
import os, sys, time
os.chdir(sys.argv[1])
os.close(os.open("old", os.O_CREAT))
d = os.open(".", os.O_RDONLY)
os.fsync(d)
number = os.stat("old").st_ino
os.unlink("old")
# it becomes free some time later
for i in range(100):
    os.close(os.open("new", os.O_CREAT))
    if os.stat("new").st_ino == number:
        sys.exit(0)
    os.unlink("new")
    time.sleep(0.02)
sys.exit(1)
END
}

rm -f "$tap_dir/img"
truncate -s 320M "$tap_dir/img"
dir=$tap_dir/number
mkfs.xfs -q -f "$tap_dir/img" > "$tap_dir/why" 2>&1
if mount_image defaults; then
	same_number
	if $same; then
		fresh same_number 'a number that was another file'"'"'s' 1 \
			not_committed committed "$dir/new"
		fsync_file "$dir/new"
		verdict 'and then it is this one'"'"'s' 0 none committed \
			"$dir/new"
	else
		tap_skip 'a number that was another file'"'"'s' 'was not given'
	fi
	unmount_image
else
	tap_skip 'a number that was another file'"'"'s' 'cannot be mounted here'
fi

tap_done
