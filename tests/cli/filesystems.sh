# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Filesystems in images, for tests of assertions; sourced after cli.sh.

PATH=$PATH:/sbin:/usr/sbin
loop=
mounted=
# unmount DIR: waits until a loop device has released its file and writeback its
# pages
unmount() {
	unmount_tries=0
	until umount "$1" 2> /dev/null; do
		unmount_tries=$((unmount_tries + 1))
		if [ "$unmount_tries" -gt 50 ]; then
			umount -l "$1"
			return
		fi
		sleep 0.1
	done
}
clean_up() {
	[ -z "$mounted" ] || unmount "$mounted" 2> /dev/null || :
	[ -z "$loop" ] || losetup -d "$loop" 2> /dev/null || :
	! command -v more_clean_up > /dev/null || more_clean_up
	chmod -R u+w "$tap_dir"
	rm -rf "$tap_dir"
}
trap clean_up EXIT

# whole: prints the verdict of the last line of JSON
whole() {
	if tail -n 1 "$tap_dir/stdout" | grep -qF -e "$2"; then
		tap_ok "$1"
	else
		echo "looked for: $2" >> "$tap_dir/stderr"
		tap_not_ok "$1" "$(why)"
	fi
}

# mount_image OPTIONS: mounts $tap_dir/img on $dir, through $loop
mount_image() {
	mkdir -p "$dir"
	loop=$(losetup -f --show "$tap_dir/img" 2> "$tap_dir/why") &&
		mount -o "$1" "$loop" "$dir" 2> "$tap_dir/why" &&
		mounted=$dir
}

unmount_image() {
	unmount "$dir" && mounted=
	losetup -d "$loop" && loop=
}

# fsync_file FILE
fsync_file() {
	"$PYTHON3" -c 'import os, sys
os.fsync(os.open(sys.argv[1], os.O_RDWR))' "$1" 2> "$tap_dir/why"
}

# write_out FILE: writes data, but not the journal or log
write_out() {
	"$PYTHON3" - "$1" << 'END'
import ctypes, os, sys
f = os.open(sys.argv[1], os.O_RDWR)
zero = ctypes.c_long(0)
sys.exit(ctypes.CDLL(None).sync_file_range(f, zero, zero, 7) and 1)
END
}

# lose FILE: changes its first bytes on $loop, behind the filesystem's back
lose() {
	"$PYTHON3" - "$1" "$loop" > "$tap_dir/why" 2>&1 << 'END'
import fcntl, os, struct, sys
f = os.open(sys.argv[1], os.O_RDONLY)
b = bytearray(struct.pack("=QQLLLL", 0, 4096, 0, 0, 1, 0) + bytes(56))
fcntl.ioctl(f, 0xC020660B, b)
where = struct.unpack_from("=QQQ", b, 32)[1]
d = os.open(sys.argv[2], os.O_RDWR | os.O_SYNC)
os.pwrite(d, b"lost", where)
os.fsync(d)
END
}

# is_verdict STATUS CAUSE ARGUMENTS...: whether this is what is answered
is_verdict() {
	verdict_status=$1
	verdict_cause=$2
	shift 2
	run check "$@" --json
	[ "$status" = "$verdict_status" ] && tail -n 1 "$tap_dir/stdout" |
		grep -q "\"cause\":\"$verdict_cause\""
}

# verdict NAME STATUS CAUSE ARGUMENTS...
verdict() {
	verdict_name=$1
	shift
	if is_verdict "$@"; then
		tap_ok "$verdict_name"
	else
		tap_not_ok "$verdict_name: $1, $2" "$(why)"
	fi
}

# fresh COMMAND NAME STATUS CAUSE ARGUMENTS...: a verdict of what COMMAND has
# just written. Anybody's sync(2) writes it out before it is asked: then it is
# written again, and asked again.
fresh() {
	fresh_command=$1
	fresh_name=$2
	shift 2
	for fresh_try in 1 2 3 4 5; do
		$fresh_command
		if is_verdict "$@"; then
			tap_ok "$fresh_name"
			return
		fi
		echo "# $fresh_name: not the time $fresh_try"
	done
	tap_not_ok "$fresh_name: $1, $2" "$(why)"
}

# new_file BYTES FILE: without a pattern, and with nothing of an older one
new_file() {
	rm -f "$2"
	head -c "$1" /dev/urandom > "$2"
}

# other_byte FILE OFFSET: x or z, each time the other one
byte=
other_byte() {
	case $byte in
	x) byte=z ;;
	*) byte=x ;;
	esac
	printf %s "$byte" | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null
}

