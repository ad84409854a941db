#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests files for which assertions cannot tell, each with its reason: remote
# filesystems or ones without a disk, encoded data, external journals, files
# that change during the check, and a deadline.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

journal_loop=
server=
more_clean_up() {
	exec 8>&-
	[ -z "${hider:-}" ] || unmount "$hider" 2> /dev/null || :
	[ -z "$journal_loop" ] || losetup -d "$journal_loop" 2> /dev/null || :
	[ -z "$server" ] || kill "$server" 2> /dev/null || :
}

chmod 755 "$tap_dir"

new_f() {
	new_file 50000 "$dir/f"
}

# --- files that change during the check, as any user ---

# it_looks: whether it has opened the file, and the memory for its copies
it_looks() {
	find "/proc/$looking/fd" -lname '/memfd:pagedet-check*' | grep -q .
}
it_looks_or_ended() {
	it_looks || tap_ended "$looking"
}
# meanwhile NAME COMMAND...: runs it while "check stable" watches. If that had
# ended before the command did, both are tried again, for longer.
meanwhile() {
	name=$1
	shift
	for seconds in 1.5 6 60; do
		head -c 100000 /dev/zero > "$tap_dir/f"
		head -c 100000 /dev/zero > "$tap_dir/other"
		"$PAGEDET" check stable "$tap_dir/f" --watch $seconds --json \
			> "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null &
		looking=$!
		tap_wait it_looks_or_ended
		"$@"
		looked=no
		! it_looks || looked=yes
		status=0
		wait "$looking" || status=$?
		[ $looked = no ] || break
	done
	[ "$status" = 2 ] && grep -q '"cause":"replaced"' "$tap_dir/stdout" &&
		tap_ok "$name" || tap_not_ok "$name" "$(why)"
}
shorten() {
	"$PYTHON3" -c 'import os, sys
os.truncate(sys.argv[1], 10000)' "$tap_dir/f"
}

run check stable /dev/null
expect 'not of a device that has no blocks' 64 'neither a regular file'
meanwhile 'a file that is replaced' mv "$tap_dir/other" "$tap_dir/f"
meanwhile 'a file that is removed' rm "$tap_dir/f"
meanwhile 'a file that is cut short' shorten
head -c 4000000 /dev/zero > "$tap_dir/f"
run check stable "$tap_dir/f" --watch 5 --deadline 0.1 --json
[ "$status" = 2 ] && grep -q '"cause":"timeout"' "$tap_dir/stdout" &&
	tap_ok 'a deadline that comes first' ||
	tap_not_ok 'a deadline that comes first' "$(why)"

# --- files that the kernel makes up: what is not there is not on a disk ---

# made_up FILE
made_up() {
	for kind in disk clean committed stable; do
		verdict "$1: $kind" 2 filesystem $kind "$1"
	done
	run check disk "$1"
	sed -i '/^  unknown  .*the filesystem has no disk$/d' \
		"$tap_dir/stdout"
	stdout_is "$1: the words" "disk $1: unknown: the filesystem has no disk"
	run check absent "$1"
	expect "$1: absent" 0
}

made_up /proc/meminfo
made_up /proc/self/ns/pid
if [ -r /sys/kernel/mm/transparent_hugepage/enabled ]; then
	made_up /sys/kernel/mm/transparent_hugepage/enabled
else
	tap_skip 'sysfs' 'it has no such file here'
fi

# with_library NAME: builds $tap_dir/NAME.c, and puts that library before the
# others of $PAGEDET. The command without it is $plain then. Returns false if
# that cannot be done.
with_library() {
	[ -z "${PDET_VALGRIND:-}" ] && ${CC:-cc} -shared -fPIC \
		-o "$tap_dir/$1.so" "$tap_dir/$1.c" -ldl \
		> "$tap_dir/why" 2>&1 &&
		LD_PRELOAD=$tap_dir/$1.so "$PAGEDET" --version \
			> "$tap_dir/why" 2>&1 || return 1
	cat > "$tap_dir/pagedet-$1" << END
#!/bin/sh
LD_PRELOAD=$tap_dir/$1.so exec "$PAGEDET" "\$@"
END
	chmod +x "$tap_dir/pagedet-$1"
	plain=$PAGEDET
	PAGEDET=$tap_dir/pagedet-$1
}

# --- files that are memory of their device: a library says that they are ---

cat > "$tap_dir/dax.c" << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
int statx(int dir, const char *path, int flags, unsigned mask, struct statx *st)
{
	int (*real)(int, const char *, int, unsigned, struct statx *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "statx");
	int r = real(dir, path, flags, mask, st);

	st->stx_attributes |= 0x200000;
	st->stx_attributes_mask |= 0x200000;
	return r;
}
END
echo x > "$tap_dir/f"
if with_library dax; then
	for kind in clean disk committed; do
		verdict "DAX: $kind" 2 filesystem "$kind" "$tap_dir/f"
	done
	# unless it is of a filesystem that has no disk anyway
	case $(stat -f -c %T "$tap_dir") in
	tmpfs | overlayfs | ramfs) ;;
	*) whole 'DAX: why' 'mapped from its device (DAX)' ;;
	esac
	PAGEDET=$plain
else
	tap_skip 'DAX' 'a library cannot be put before the command'
fi

if [ "$(id -u)" != 0 ]; then
	tap_skip 'filesystems of our own' 'needs root'
	tap_done
fi

# --- no disk ---

dir=$tap_dir/tmpfs
mkdir "$dir"
if mount -t tmpfs none "$dir" 2> "$tap_dir/why"; then
	mounted=$dir
	echo x > "$dir/f"
	verdict 'tmpfs: has no disk' 2 filesystem disk "$dir/f"
	verdict 'tmpfs: and no journal' 2 filesystem committed "$dir/f"
	: > "$dir/empty"
	for kind in disk clean committed; do
		verdict "tmpfs: an empty file: $kind" 2 filesystem $kind \
			"$dir/empty"
	done
	unmount "$dir"
	mounted=
else
	tap_skip 'tmpfs' 'cannot be mounted here'
fi
mkdir "$tap_dir/up" "$tap_dir/work" "$tap_dir/low" "$tap_dir/over"
head -c 10000 /dev/zero > "$tap_dir/low/f"
if mount -t overlay none "$tap_dir/over" -o \
	"lowerdir=$tap_dir/low,upperdir=$tap_dir/up,workdir=$tap_dir/work" \
	2> "$tap_dir/why"; then
	mounted=$tap_dir/over
	append_over() {
		printf x >> "$tap_dir/over/f"
	}
	# is_as_below KIND LAYER: whether both verdicts are the same
	is_as_below() {
		run check "$1" "$2" --json
		below=$(sed 's/"path":"[^"]*"//' "$tap_dir/stdout")
		run check "$1" "$tap_dir/over/f" --json
		[ "$(sed 's/"path":"[^"]*"//' "$tap_dir/stdout")" = "$below" ]
	}
	# as_below NAME LAYER [COMMAND]: the verdict is that of the file below.
	# If that is of what COMMAND writes, a sync(2) between both questions
	# changes it: then it is written again, and both are asked again.
	as_below() {
		cat "$tap_dir/over/f" > /dev/null
		for kind in clean absent disk committed; do
			same=false
			for try in 1 2 3 4 5; do
				! is_as_below "$kind" "$2" || same=true
				! $same && [ -n "${3:-}" ] || break
				echo "# $1: $kind: not the time $try"
				$3
			done
			$same && tap_ok "$1: $kind" ||
				tap_not_ok "$1: $kind: $below" "$(why)"
		done
	}
	sync "$tap_dir/low/f"
	as_below 'overlay: a file of the lower layer' "$tap_dir/low/f"
	append_over
	as_below 'overlay: a file that was copied up' "$tap_dir/up/f" \
		append_over
	for try in 1 2 3 4 5; do
		[ "$status" = 0 ] || break
		echo "# overlay: it is not committed: not the time $try"
		append_over
		run check committed "$tap_dir/over/f" --json
	done
	[ "$status" != 0 ] && tap_ok 'overlay: it is not committed' ||
		tap_not_ok 'overlay: it is not committed' "$(why)"
	# not visible here
	mount --bind "$tap_dir/low" "$tap_dir/up"
	for kind in clean absent disk committed; do
		verdict "overlay: a layer that is hidden: $kind" 2 filesystem \
			"$kind" "$tap_dir/over/f"
	done
	umount "$tap_dir/up"
	unmount "$tap_dir/over"
	mounted=
else
	tap_skip 'overlay' 'cannot be mounted here'
fi

# --- a server's disk ---

mkdir "$tap_dir/served"
"$PYTHON3" "$top_srcdir/tests/cli/fuse-file.py" "$tap_dir/served" \
	> "$tap_dir/why" 2>&1 &
server=$!
is_served_or_ended() {
	grep -q " $tap_dir/served fuse" /proc/mounts ||
		! kill -0 "$server"
}
tap_wait is_served_or_ended
if kill -0 "$server" 2> /dev/null; then
	mounted=$tap_dir/served
	cat "$tap_dir/served/f" > "$tap_dir/there"
	tap_run 'a server: the file is there' test -s "$tap_dir/there"
	for kind in disk committed; do
		verdict "a server: $kind" 2 network "$kind" "$tap_dir/served/f"
	done
	tap_lock marks
	run check mark "$tap_dir/mark"
	if grep -q '^watch pagedet-mark-' "$tap_dir/mark"; then
		verdict 'a server: errors' 2 network errors \
			--since "$tap_dir/mark" "$tap_dir/served/f"
	else
		tap_skip 'a server: errors' 'the kernel has no such trace'
	fi
	run check unmark "$tap_dir/mark"
	tap_unlock
	unmount "$tap_dir/served"
	mounted=
	wait "$server" || :
else
	tap_skip 'a server' "no FUSE: $(cat "$tap_dir/why")"
fi
server=

# --- an image that is no longer at its place ---

# dirty_loop: a page that only the cache of $loop has
dirty_loop() {
	printf dirty | dd of="$loop" conv=notrunc 2> /dev/null
}

# hidden_image: the image of $loop is hidden by another one, which has the same
# inode number, and these bytes
hidden_image() {
	mkdir "$tap_dir/hidden"
	mount -t tmpfs none "$tap_dir/hidden" 2> "$tap_dir/why" || return 1
	mounted=$tap_dir/hidden
	truncate -s 1M "$mounted/img"
	inode=$(stat -c %i "$mounted/img")
	loop=$(losetup -f --show "$mounted/img" 2> "$tap_dir/why") || return 1
	mount -t tmpfs none "$mounted" && hider=$mounted
	printf dirty > "$mounted/img"
	truncate -s 1M "$mounted/img"
	[ "$(stat -c %i "$mounted/img")" = "$inode" ]
}

hider=
if command -v losetup > /dev/null && hidden_image; then
	exec 8<> "$loop"
	cat "$loop" > /dev/null
	fresh dirty_loop 'a hidden image: another one is not read' 2 \
		unreadable disk "$loop" 0+1
	exec 8>&-
else
	tap_skip 'a hidden image' 'cannot be made here'
fi
[ -z "$hider" ] || unmount "$hider"
hider=
[ -z "$loop" ] || losetup -d "$loop"
loop=
[ -z "$mounted" ] || unmount "$mounted"
mounted=

# --- a device whose partitions are written to, past its cache ---

# A kernel may know no table of partitions, but it takes one that is named.
parted=
truncate -s 4M "$tap_dir/parts"
if command -v addpart > /dev/null && command -v losetup > /dev/null &&
	loop=$(losetup -f -P --show "$tap_dir/parts" 2> "$tap_dir/why"); then
	exec 8< "$loop"
	cat "$loop" > /dev/null
	if addpart "$loop" 1 2048 2048 2> "$tap_dir/why" &&
		[ -b "${loop}p1" ] && printf other |
		dd of="${loop}p1" conv=notrunc,fsync 2> "$tap_dir/why"; then
		parted=y
		verdict 'a partition was written: no lost write' 1 different \
			disk "$loop"
	fi
	exec 8<&-
	! [ -b "${loop}p1" ] || delpart "$loop" 1
	losetup -d "$loop"
fi
loop=
[ -n "$parted" ] || tap_skip 'a partition' 'cannot be made here'

# --- encoded data ---

if ! command -v mke2fs > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'ext4' 'needs mke2fs and losetup'
	tap_done
fi
truncate -s 160M "$tap_dir/img"
dir=$tap_dir/inline
mke2fs -q -F -t ext4 -b 4096 -I 256 -O inline_data,encrypt "$tap_dir/img" \
	> "$tap_dir/why" 2>&1
if mount_image defaults; then
	printf 'a few bytes' > "$dir/f"
	fsync_file "$dir/f"
	cat "$dir/f" > /dev/null
	verdict 'data in the inode' 2 encoded disk "$dir/f"
	mkdir "$dir/secret"
	if "$PYTHON3" - "$dir/secret" > "$tap_dir/why" 2>&1 << 'END'
import fcntl, os, struct, sys
d = os.open(sys.argv[1], os.O_RDONLY)
# struct fscrypt_add_key_arg, of 64 bytes; struct fscrypt_policy_v2
key = bytearray(struct.pack("=II32sI", 2, 0, bytes(32), 64) + bytes(36) +
                bytes(range(64)))
fcntl.ioctl(d, 0xC0506617, key)
fcntl.ioctl(d, 0x800C6613, struct.pack("=BBBBB3x16s", 2, 1, 4, 3, 0,
                                       bytes(key[8:24])))
f = os.open(sys.argv[1] + "/f", os.O_RDWR | os.O_CREAT)
os.write(f, bytes(range(256)) * 64)
os.fsync(f)
END
	then
		verdict 'a file that is encrypted' 2 encoded disk \
			"$dir/secret/f"
	else
		tap_skip 'a file that is encrypted' \
			'the kernel has no fscrypt here'
	fi
	unmount_image
else
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	tap_skip 'data in the inode' 'cannot be mounted here'
fi
if command -v mkfs.btrfs > /dev/null; then
	dir=$tap_dir/btrfs
	mkfs.btrfs -q -f "$tap_dir/img" > "$tap_dir/why" 2>&1
	if mount_image compress-force=zstd; then
		head -c 1000000 /dev/zero | tr '\0' c > "$dir/f"
		fsync_file "$dir/f"
		verdict 'btrfs, compressed' 2 encoded disk "$dir/f"
		verdict 'btrfs: no journal that we read' 2 filesystem \
			committed "$dir/f"
		verdict 'btrfs: but clean can be told' 0 none clean "$dir/f"
		unmount_image
	else
		[ -z "$loop" ] || losetup -d "$loop"
		loop=
		tap_skip 'btrfs' 'cannot be mounted here'
	fi
else
	tap_skip 'btrfs' 'needs mkfs.btrfs'
fi

# --- an external journal ---

dir=$tap_dir/external
truncate -s 32M "$tap_dir/journal"
journal_loop=$(losetup -f --show "$tap_dir/journal" 2> "$tap_dir/why") &&
	mke2fs -q -F -O journal_dev -b 4096 "$journal_loop" \
		> "$tap_dir/why" 2>&1 &&
	mke2fs -q -F -t ext4 -b 4096 -J "device=$journal_loop" \
		"$tap_dir/img" > "$tap_dir/why" 2>&1 || :
if [ -n "$journal_loop" ] && mount_image data=journal; then
	fresh new_f 'external journal: not committed' 1 \
		not_committed committed "$dir/f"
	fsync_file "$dir/f"
	verdict 'external journal: committed' 0 none committed "$dir/f"
	whole 'external journal: it was read' ' in the journal, '
	unmount "$dir" && mounted=
	# the journal of another filesystem is rejected
	mke2fs -q -F -O journal_dev -b 4096 "$journal_loop" \
		> "$tap_dir/why" 2>&1
	cat "$loop" > /dev/null
	verdict 'external journal: another one' 2 filesystem committed "$loop"
	whole 'external journal: says so' 'not on the device that the superblock'
	losetup -d "$loop" && loop=
else
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	tap_skip 'external journal' 'cannot be made here'
fi

# --- files that change while they are compared ---

# Truncation, holes, renames, writes and syncs without end: the verdict is never
# a lost write.
dir=$tap_dir/races
mke2fs -q -F -t ext4 -b 4096 "$tap_dir/img" > "$tap_dir/why" 2>&1
if mount_image defaults; then
	head -c 8000000 /dev/urandom > "$dir/long"
	fsync_file "$dir/long"
	for kind in disk committed; do
		verdict "$kind: a deadline that comes first" 2 timeout \
			"$kind" "$dir/long" --deadline 0.000001
	done
	"$PYTHON3" - "$dir" << 'END' &
import ctypes, os, random, sys, time
punch = ctypes.CDLL(None).fallocate
punch.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
os.chdir(sys.argv[1])
random.seed(1)
end = time.monotonic() + 8
while time.monotonic() < end or not os.path.exists("enough"):
    f = os.open("new", os.O_RDWR | os.O_CREAT)
    os.write(f, os.urandom(400000))
    os.rename("new", "f")
    for _ in range(20):
        at = random.randrange(100) * 4096
        what = random.randrange(5)
        if what == 0:
            os.ftruncate(f, at)
        elif what == 1:
            os.pwrite(f, os.urandom(5000), at)
        elif what == 2:
            os.fdatasync(f)
        elif what == 3:
            punch(f, 3, at, 40960)
        else:
            os.posix_fallocate(f, 0, 400000)
    os.close(f)
END
	racing=$!
	tap_wait test -e "$dir/f"
	n=0
	lost=0
	odd=0
	while kill -0 "$racing" 2> /dev/null; do
		n=$((n + 1))
		run check disk "$dir/f" --json
		[ "$status" -le 2 ] || odd=$status
		! grep -q lost_write "$tap_dir/stdout" || lost=$((lost + 1))
		[ "$n" -le 10 ] || : > "$dir/enough"
	done
	wait "$racing" || :
	echo "# $n times"
	[ "$n" -gt 10 ] && [ "$lost" = 0 ] &&
		tap_ok 'a file that changes: no write is called lost' ||
		tap_not_ok "a file that changes: $lost of $n"
	[ "$odd" = 0 ] && tap_ok 'a file that changes: always a verdict' ||
		tap_not_ok "a file that changes: exit status $odd"

	# nothing says how a filesystem is mounted that no mount shows
	head -c 50000 /dev/urandom > "$dir/hidden"
	fsync_file "$dir/hidden"
	lose "$dir/hidden"
	verdict 'a lost write' 1 lost_write disk "$dir/hidden"
	exec 8< "$dir/hidden"
	umount -l "$dir"
	verdict 'a file that no mount shows: the journal may have it' 2 \
		journal disk "/proc/$$/fd/8"
	exec 8<&-
	mount "$loop" "$dir"

	# the kernel may write to a swap area at any time, past the cache
	head -c 4000000 /dev/zero > "$dir/swap"
	chmod 600 "$dir/swap"
	fsync_file "$dir/swap"
	if mkswap "$dir/swap" > "$tap_dir/why" 2>&1 &&
		swapon "$dir/swap" 2> "$tap_dir/why"; then
		# It must end before the filesystem is unmounted.
		trap 'swapoff "$dir/swap" || :; clean_up' EXIT
		for kind in disk committed; do
			verdict "a file that is swapped to: $kind" 2 \
				filesystem "$kind" "$dir/swap"
		done
		swapoff "$dir/swap"
		trap clean_up EXIT
	else
		tap_skip 'a file that is swapped to' 'cannot be made here'
	fi

	# Whenever the command asks where the file is, a library writes to it,
	# and waits until that is on the disk: always after the cached bytes
	# were copied, and before the disk is read.
	cat > "$tap_dir/between.c" << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
int ioctl(int fd, unsigned long what, ...)
{
	int (*real)(int, unsigned long, void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "ioctl");
	static char byte;
	char path[40];
	va_list ap;
	void *arg;
	int f;

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((unsigned)what == (unsigned)FS_IOC_FIEMAP) {
		byte++;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		f = open(path, O_WRONLY);
		if (f < 0 || pwrite(f, &byte, 1, 0) != 1 || fdatasync(f))
			_exit(99);
		close(f);
	}
	return real(fd, what, arg);
}
END
	head -c 32768 /dev/zero > "$dir/between"
	fsync_file "$dir/between"
	if with_library between; then
		run check disk "$dir/between" --json
		PAGEDET=$plain
		if cmp -s -n 1 "$dir/between" /dev/zero; then
			tap_skip 'a page that is written between both reads' \
				'a library does not see the question'
		else
			[ "$status" = 2 ] && grep -q '"cause":"raced"' \
				"$tap_dir/stdout" &&
				tap_ok 'written between both reads: not lost' ||
				tap_not_ok 'written between both reads' "$(why)"
		fi
	else
		tap_skip 'a page that is written between both reads' \
			'a library cannot be put before the command'
	fi

	# A library lets a list have no more than 4 pieces.
	cat > "$tap_dir/few.c" << 'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdarg.h>
int ioctl(int fd, unsigned long what, ...)
{
	int (*real)(int, unsigned long, void *) =
		(__typeof__(real))dlsym(RTLD_NEXT, "ioctl");
	va_list ap;
	void *arg;

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((unsigned)what == (unsigned)FS_IOC_FIEMAP)
		((struct fiemap *)arg)->fm_extent_count = 4;
	return real(fd, what, arg);
}
END
	# pieces: a file of 16 pages and 16 holes, whose pages are zeroes that
	# are not on the disk
	pieces() {
		rm -f "$dir/pieces"
		"$PYTHON3" - "$dir/pieces" << 'END'
import os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
page = os.sysconf("SC_PAGESIZE")
for byte in b"x\0":
    for i in range(16):
        os.pwrite(f, bytes([byte]) * page, 2 * i * page)
    if byte:
        os.fsync(f)
END
	}
	if with_library few; then
		fresh pieces 'a file in many pieces' 1 not_written \
			disk "$dir/pieces"
		whole 'a file in many pieces: no page is left out' \
			'"violations":16,'
		PAGEDET=$plain
	else
		tap_skip 'a file in many pieces' \
			'a library cannot be put before the command'
	fi
	unmount_image
else
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	tap_skip 'a file that changes' 'cannot be mounted here'
fi

tap_done
