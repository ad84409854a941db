#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests the functions for filesystem tests, and the test of examples/xfstests/
# with the part of xfstests' common/preamble that it needs.
. "$top_srcdir/tests/cli/cli.sh"
. "$top_srcdir/tests/cli/filesystems.sh"

functions=$top_srcdir/examples/pagedet-check.sh
export PAGEDET_PROG="$PAGEDET"
file=$tap_dir/file
head -c 40000 /dev/zero > "$file"

# says NAME STATUS WORDS COMMANDS: runs a script that has sourced the functions
says() {
	status=0
	sh -c ". '$functions'; $4" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" < /dev/null || status=$?
	if [ "$status" = "$2" ] && grep -qF -e "$3" "$tap_dir/stdout"; then
		tap_ok "$1"
	else
		tap_not_ok "$1: $2, $3" "$(why)"
	fi
}

says 'require: what there is' 0 'goes on' \
	'_pagedet_require clean stable; echo goes on'
says 'require: an assertion that there is not' 77 "no check 'tidy'" \
	'_pagedet_require tidy; echo goes on'
says 'require: no command' 77 'requires pagedet' \
	'PAGEDET_PROG=/none/pagedet; _pagedet_require; echo goes on'
says 'require: as _notrun says' 3 'mine: this test requires pagedet' \
	'_notrun() { echo "mine: $*"; exit 3; }
	PAGEDET_PROG= ; _pagedet_require; echo goes on'
says 'what holds says nothing' 0 'silent' \
	"[ -z \"\$(_pagedet_check absent '$file' 100+1)\" ] && echo silent"
says 'what cannot be told is 2' 0 'status 2' \
	"_pagedet_check stable '$file' --watch 0.05; echo status \$?"
grep -q 'no change was seen in' "$tap_dir/stderr" && tap_ok 'and is noted' ||
	tap_not_ok 'and is noted' "$(why)"
says 'or ends the test' 77 'not run: stable' \
	"PAGEDET_UNKNOWN=notrun; _pagedet_check stable '$file' --watch 0.05"
says 'or fails' 1 'unknown' \
	"PAGEDET_UNKNOWN=fail; _pagedet_check stable '$file' --watch 0.05"
says 'what is not a question fails' 1 'status 66' \
	"_pagedet_check clean '$tap_dir/none'"
says 'violated was expected' 1 'not violated: ' \
	"_pagedet_check_violated absent '$file' 100+1"

if [ "$(id -u)" != 0 ]; then
	tap_skip 'xfstests' 'needs root'
	tap_done
fi
if ! command -v xfs_io > /dev/null || ! command -v losetup > /dev/null; then
	tap_skip 'xfstests' 'needs xfs_io and losetup'
	tap_done
fi
if ! tap_has_loop; then
	tap_skip 'xfstests' 'there is no loop device'
	tap_done
fi

# It makes marks, which others count.
tap_lock marks

# The needed part of common/preamble and common/rc, for one test.
here=$tap_dir/xfstests
dir=$tap_dir/scratch
mkdir -p "$here/common" "$dir"
cp "$functions" "$here/common/pagedet"
cp "$top_srcdir/examples/xfstests/001" "$here/001"
cat > "$here/common/preamble" << 'END'
_begin_fstest()
{
	seq=$(basename "$0")
	seqres=$PWD/$seq
	tmp=$seqres.tmp
	status=1
	trap '_cleanup; exit $status' 0 1 2 3 15
	echo "QA output created by $seq"
}
_notrun()
{
	echo "$*" > "$seqres.notrun"
	echo "$seq not run: $*"
	status=0
	exit
}
_require_scratch() { [ -b "$SCRATCH_DEV" ] || _notrun "no scratch device"; }
_scratch_mkfs() { "mkfs.$FSTYP" "$MKFS_FORCE" -q "$SCRATCH_DEV"; }
_scratch_mount() { mount "$SCRATCH_DEV" "$SCRATCH_MNT"; }
END

# run_001 FSTYP FORCE SIZE XFS_IO: runs it on an image that is new; sets $status,
# and leaves in $tap_dir/why how its output differs
run_001() {
	rm -f "$tap_dir/img"
	truncate -s "$3" "$tap_dir/img"
	loop=$(losetup -f --show "$tap_dir/img")
	mounted=$dir
	status=0
	(
		cd "$here"
		rm -f 001.full 001.notrun
		FSTYP=$1 MKFS_FORCE=$2 SCRATCH_DEV=$loop SCRATCH_MNT=$dir \
			XFS_IO_PROG=$4 bash ./001
	) > "$tap_dir/out" 2>&1 || status=$?
	diff "$top_srcdir/examples/xfstests/001.out" "$tap_dir/out" \
		> "$tap_dir/why" 2>&1 || :
}

# was_written_out: whether it differs in this alone, that what it had just
# written was committed: anybody's sync(2) does that
was_written_out() {
	grep '^[<>]' "$tap_dir/why" > "$tap_dir/lines" &&
		! grep -qv '^> not violated: ' "$tap_dir/lines"
}

# on FSTYP FORCE: the option that makes its mkfs overwrite a filesystem
on() {
	if ! command -v "mkfs.$1" > /dev/null; then
		tap_skip "xfstests: $1" "needs mkfs.$1"
		return 0
	fi
	# until nobody syncs meanwhile
	for try in 1 2 3 4 5; do
		run_001 "$1" "$2" 320M xfs_io
		was_written_out && [ "$try" != 5 ] || break
		echo "# xfstests: $1: not the time $try"
		unmount_image
	done
	[ ! -s "$tap_dir/why" ] && [ "$status" = 0 ] &&
		tap_ok "xfstests: $1" || tap_not_ok "xfstests: $1" \
		"$tap_dir/why"
	grep -q 'committed .*: violated' "$here/001.full" &&
		grep -q 'committed .*: holds' "$here/001.full" &&
		tap_ok "xfstests: $1: what was said is in 001.full" ||
		tap_not_ok "xfstests: $1: what was said is in 001.full" \
			"$here/001.full"
	! grep -q 'committed .*: unknown' "$here/001.full" &&
		tap_ok "xfstests: $1: all of it was told" ||
		tap_not_ok "xfstests: $1: all of it was told" "$here/001.full"
	unmount_image
}
on ext4 -F
on xfs -f

# A filesystem that loses synced data fails the test: fsync does nothing here.
mkdir "$tap_dir/bin"
printf '#!/bin/sh\ncase $* in *fsync*) ;; *) exec %s "$@" ;; esac\n' \
	"$(command -v xfs_io)" > "$tap_dir/bin/xfs_io"
chmod 755 "$tap_dir/bin/xfs_io"
# until nobody syncs instead
for try in 1 2 3 4 5; do
	run_001 ext4 -F 64M "$tap_dir/bin/xfs_io"
	! grep -q 'in no commit of the journal' "$tap_dir/why" &&
		[ "$try" != 5 ] || break
	echo "# xfstests: fsync does nothing: not the time $try"
	unmount_image
done
[ -s "$tap_dir/why" ] &&
	tap_ok 'xfstests: fsync does nothing, and it fails' ||
	tap_not_ok 'xfstests: fsync does nothing'
grep -q 'in no commit of the journal' "$tap_dir/why" &&
	tap_ok 'xfstests: and says why' ||
	tap_not_ok 'xfstests: and says why' "$tap_dir/why"
unmount_image

tap_done
