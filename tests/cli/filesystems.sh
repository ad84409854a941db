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

# marks_alone: waits until no other test of this build has marks, because the
# library ends the traces of older marks if there are too many
marks_alone() {
	exec 9< "$PAGEDET"
	flock 9
}

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

# verdict NAME STATUS CAUSE ARGUMENTS...
verdict() {
	verdict_name=$1
	verdict_status=$2
	verdict_cause=$3
	shift 3
	run check "$@" --json
	if [ "$status" = "$verdict_status" ] && tail -n 1 "$tap_dir/stdout" |
		grep -q "\"cause\":\"$verdict_cause\""; then
		tap_ok "$verdict_name"
	else
		tap_not_ok "$verdict_name: $verdict_status, $verdict_cause" \
			"$(why)"
	fi
}

