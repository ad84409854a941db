# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# shellcheck shell=bash
# Assertions about cached pages, in a test of xfstests or in any other script:
#
#   . pagedet-check.sh
#   _pagedet_require committed
#   _pagedet_check committed "$SCRATCH_MNT/file"
#
# PAGEDET_PROG     the command; without it, pagedet of $PATH
# PAGEDET_UNKNOWN  what an assertion does that cannot be told: "pass" (a note in
#                  $seqres.full, the default), "notrun" or "fail"
#
# What is violated is printed, so that the output is not the golden one, and all
# that was said goes to $seqres.full, or to standard error without $seqres.

: "${PAGEDET_PROG:=$(command -v pagedet || :)}"
: "${PAGEDET_UNKNOWN:=pass}"

__pagedet_note()
{
	if [ -n "${seqres:-}" ]; then
		printf '%s\n' "$*" >> "$seqres.full"
	else
		printf '%s\n' "$*" >&2
	fi
}

__pagedet_notrun()
{
	if command -v _notrun > /dev/null; then
		_notrun "$@"
	fi
	echo "not run: $*"
	exit 77
}

# _pagedet_require [CHECK...]: not run, if the command is not there, or does not
# know one of the assertions, or if that takes root
_pagedet_require()
{
	local check

	[ -n "$PAGEDET_PROG" ] && "$PAGEDET_PROG" --version > /dev/null 2>&1 ||
		__pagedet_notrun "this test requires pagedet"
	for check in "$@"; do
		# 64: it is not an assertion; 66: only the file is not there
		"$PAGEDET_PROG" check "$check" /pagedet-check/none \
			> /dev/null 2>&1
		[ $? -ne 64 ] || [ "$check" = errors ] ||
			__pagedet_notrun "pagedet has no check '$check'"
		case $check in
		disk | committed | errors)
			[ "$(id -u)" = 0 ] ||
				__pagedet_notrun "check $check requires root"
			;;
		esac
	done
}

# __pagedet_say WORDS...: the command's, to the log; leaves $pagedet_status,
# $pagedet_all, and $pagedet_said, its last line
__pagedet_say()
{
	pagedet_status=0
	pagedet_all=$("$PAGEDET_PROG" check "$@" 2>&1) || pagedet_status=$?
	__pagedet_note "$pagedet_all"
	pagedet_said=$(printf '%s\n' "$pagedet_all" | tail -n 1)
}

# _pagedet_check CHECK FILE [FIRST[+COUNT] or options]: 0 it holds; 1 it is
# violated, or was not answered; 2 it cannot be told
_pagedet_check()
{
	__pagedet_say "$@"
	case $pagedet_status in
	0)
		return 0
		;;
	1)
		# where, and why
		printf '%s\n' "$pagedet_all" | head -n 10
		return 1
		;;
	2)
		;;
	*)
		echo "pagedet check $*: status $pagedet_status: $pagedet_said"
		return 1
		;;
	esac
	case $PAGEDET_UNKNOWN in
	notrun)
		__pagedet_notrun "$pagedet_said"
		;;
	fail)
		echo "$pagedet_said"
		return 1
		;;
	esac
	return 2
}

# _pagedet_check_violated CHECK FILE [...]: the same, where the test has just
# made it untrue; 1, and said, if it holds
_pagedet_check_violated()
{
	__pagedet_say "$@"
	case $pagedet_status in
	1)
		return 0
		;;
	2)
		return 2
		;;
	*)
		echo "not violated: $pagedet_said"
		return 1
		;;
	esac
}

# _pagedet_mark: from here on, failed writeback is traced; _pagedet_unmark in
# the clean-up ends that
_pagedet_mark()
{
	pagedet_mark=${tmp:-${TMPDIR:-/tmp}/$$}.pagedet-mark
	"$PAGEDET_PROG" check mark "$pagedet_mark"
}

_pagedet_unmark()
{
	[ -n "${pagedet_mark:-}" ] && [ -e "$pagedet_mark" ] || return 0
	"$PAGEDET_PROG" check unmark "$pagedet_mark"
	rm -f "$pagedet_mark"
	pagedet_mark=
}

# _pagedet_check_errors [PATH]: none since _pagedet_mark, of a file, of the
# filesystem of a directory, or of anything
_pagedet_check_errors()
{
	_pagedet_check errors "$@" --since "$pagedet_mark"
}
