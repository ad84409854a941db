# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Shared by shell tests: prints TAP, and provides a temporary directory. A
# script sources this, calls the functions below, and ends with "tap_done".
#
# JSON with a key twice is refused by every Python (tests/strict).
#
# "make check" sets $top_srcdir and $top_builddir, both absolute.
set -eu

: "${top_srcdir:?is set by make check}" "${top_builddir:?is set by make check}"
LC_ALL=C
PYTHONPATH=$top_srcdir/tests/strict
export LC_ALL PYTHONPATH

tap_n=0
tap_failed=0

# tap_is_open DIR: whether everyone may enter it. Root runs some tests as
# nobody, who may not enter a tree in root's home.
tap_is_open() {
	[ "$(id -u)" != 0 ] || ! command -v setpriv > /dev/null ||
		setpriv --reuid=65534 --regid=65534 --clear-groups \
			test -x "$1" 2> /dev/null
}

# tap_has_loop: whether a loop device can be had. A chroot may lack its node.
tap_has_loop() {
	command -v losetup > /dev/null && [ -b "$(losetup -f 2> /dev/null)" ]
}

tap_base=${TMPDIR:-/tmp}
if ! tap_is_open "$tap_base" && tap_is_open /var/tmp; then
	tap_base=/var/tmp
fi
tap_dir=$(mktemp -d "$tap_base/pagedet-test.XXXXXX")
trap 'chmod -R u+w "$tap_dir"; rm -rf "$tap_dir"' EXIT
trap 'exit 1' HUP INT TERM

# tap_ok NAME
tap_ok() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s\n' "$tap_n" "$1"
}

# tap_not_ok NAME [FILE]: FILE, if given, explains it
tap_not_ok() {
	tap_n=$((tap_n + 1))
	tap_failed=1
	printf 'not ok %d - %s\n' "$tap_n" "$1"
	[ -z "${2:-}" ] || sed 's/^/# /' "$2"
}

# tap_skip NAME WHY
tap_skip() {
	tap_n=$((tap_n + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

# tap_run NAME COMMAND...: ok if it exits 0; otherwise shows its output
tap_run() {
	tap_name=$1
	shift
	if "$@" > "$tap_dir/out" 2>&1; then
		tap_ok "$tap_name"
	else
		tap_not_ok "$tap_name" "$tap_dir/out"
	fi
}

# tap_fails NAME COMMAND...: ok if it does not exit 0
tap_fails() {
	tap_name=$1
	shift
	if "$@" > "$tap_dir/out" 2>&1; then
		tap_not_ok "$tap_name" "$tap_dir/out"
	else
		tap_ok "$tap_name"
	fi
}

# tap_wait COMMAND...: until it exits with 0, for 60 s at least; fails if it did
# not. Instead of a sleep: how long something takes depends on the machine.
tap_wait() {
	tap_tries=0
	until "$@" > /dev/null 2>&1; do
		tap_tries=$((tap_tries + 1))
		if [ "$tap_tries" -gt 1200 ]; then
			echo "# 60 s were not enough for: $*"
			return 1
		fi
		sleep 0.05
	done
}

# tap_ended PID: whether a child has ended. The shell may have waited for it
# already, so that nothing is left of it.
tap_ended() {
	! grep -q '^State:.[^ZX]' "/proc/$1/status" 2> /dev/null
}

# tap_lock NAME: one test of the whole machine at a time goes on from here, until
# tap_unlock or its end: what it looks at all others share. Only root's tests
# do such things.
tap_lock() {
	[ "$(id -u)" = 0 ] && command -v flock > /dev/null || return 0
	mkdir -p /run/lock 2> /dev/null
	touch "/run/lock/pagedet-test-$1" 2> /dev/null || return 0
	exec 8> "/run/lock/pagedet-test-$1"
	flock -w 600 8 || echo "# another test has kept $1 for 600 s"
}
tap_unlock() {
	exec 8>&-
}

tap_done() {
	printf '1..%d\n' "$tap_n"
	exit "$tap_failed"
}
