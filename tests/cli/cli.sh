# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# shellcheck shell=sh
# For tests of the command: runs it, keeps what it said, compares.
#
# PAGEDET  the command to test; without it, the one that was built
. "$top_srcdir/tests/tap.sh"

: "${PAGEDET:=$top_builddir/examples/pagedet/pagedet}"
[ -x "$PAGEDET" ] || {
	echo "Bail out! there is no $PAGEDET"
	exit 1
}
# How the caller's terminal looks is no matter of these tests.
unset COLUMNS NO_COLOR
TERM=dumb
export TERM
# A build with --enable-coverage complains where it may not write its counts.
GCOV_ERROR_FILE=/dev/null
export GCOV_ERROR_FILE

# run ARGUMENTS...: leaves $status, $tap_dir/stdout, $tap_dir/stderr
run() {
	status=0
	"$PAGEDET" "$@" > "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null ||
		status=$?
}

# why: what is known of the last run, for a test that failed
why() {
	{
		echo "exit status $status"
		head -n 20 "$tap_dir/stdout" | sed 's/^/stdout: /'
		sed 's/^/stderr: /' "$tap_dir/stderr"
	} | cut -c 1-1000 > "$tap_dir/why"
	echo "$tap_dir/why"
}

# expect NAME STATUS [WORDS]: the last run ended so, and said WORDS on stderr
expect() {
	if [ "$status" -ne "$2" ]; then
		tap_not_ok "$1: exit status $2" "$(why)"
	elif [ -n "${3:-}" ] && ! grep -qF -e "$3" "$tap_dir/stderr"; then
		echo "looked for: $3" >> "$tap_dir/stderr"
		tap_not_ok "$1: says what is wrong" "$(why)"
	elif [ -z "${3:-}" ] && [ -s "$tap_dir/stderr" ]; then
		tap_not_ok "$1: says nothing" "$(why)"
	else
		tap_ok "$1"
	fi
}

# stdout_is NAME TEXT: what it wrote is TEXT and a newline
stdout_is() {
	if [ "$(cat "$tap_dir/stdout")" = "$2" ]; then
		tap_ok "$1"
	else
		echo "expected: $2" >> "$tap_dir/stderr"
		tap_not_ok "$1" "$(why)"
	fi
}

# stdout_has NAME TEXT
stdout_has() {
	if grep -qF -e "$2" "$tap_dir/stdout"; then
		tap_ok "$1"
	else
		echo "looked for: $2" >> "$tap_dir/stderr"
		tap_not_ok "$1" "$(why)"
	fi
}

# --- dumps and the like ---

# refused NAME STATUS WORDS OPTIONS...: page 1, and in time
refused() {
	refused_name=$1
	refused_status=$2
	refused_words=$3
	shift 3
	status=0
	timeout 60 "$PAGEDET" page 1 "$@" > "$tap_dir/stdout" \
		2> "$tap_dir/stderr" < /dev/null || status=$?
	expect "$refused_name" "$refused_status" "$refused_words"
	tap_fails "$refused_name: no answer" test -s "$tap_dir/stdout"
}

# change FILE COPY OLD NEW...: a copy in which bytes have become others, as many
change() {
	change_copy=$2
	cp "$1" "$2"
	shift 2
	while [ $# -gt 0 ]; do
		LC_ALL=C sed -i "s/$1/$2/g" "$change_copy"
		shift 2
	done
}

# with FILE COPY OFFSET BYTES...: a copy with other bytes there
with() {
	with_copy=$2
	cp "$1" "$2"
	shift 2
	while [ $# -gt 0 ]; do
		# shellcheck disable=SC2059
		printf "$2" | dd of="$with_copy" bs=1 seek="$1" \
			conv=notrunc 2> "$tap_dir/why"
		shift 2
	done
}
