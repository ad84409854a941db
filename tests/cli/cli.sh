# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Shared by tests of the command: runs it, keeps its output, compares.
#
# PAGEDET  the command to test; default: the one that was built
. "$top_srcdir/tests/tap.sh"

: "${PAGEDET:=$top_builddir/tools/pagedet/pagedet}"
[ -x "$PAGEDET" ] || {
	echo "Bail out! there is no $PAGEDET"
	exit 1
}
# The caller's terminal must not affect these tests.
unset COLUMNS NO_COLOR
TERM=dumb
export TERM
# A build with --enable-coverage complains if it cannot write its counts.
GCOV_ERROR_FILE=/dev/null
export GCOV_ERROR_FILE

# run ARGUMENTS...: sets $status, $tap_dir/stdout, $tap_dir/stderr
run() {
	status=0
	"$PAGEDET" "$@" > "$tap_dir/stdout" 2> "$tap_dir/stderr" < /dev/null ||
		status=$?
}

# why: prints the data of the last run, for a failed test
why() {
	{
		echo "exit status $status"
		head -n 20 "$tap_dir/stdout" | sed 's/^/stdout: /'
		sed 's/^/stderr: /' "$tap_dir/stderr"
	} | cut -c 1-1000 > "$tap_dir/why"
	echo "$tap_dir/why"
}

# expect NAME STATUS [WORDS]: checks the last run's status, and WORDS on stderr
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

# stdout_is NAME TEXT: its output is TEXT and a newline
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

# children_of PID [PROC]: prints them. Not every kernel has
# /proc/PID/task/TID/children. Any process may end before its file is read:
# sed(1) would not read the others then.
children_of() {
	grep -hs "^[0-9]* (.*) [A-Za-z] $1 " "${2:-/proc}"/[0-9]*/stat |
		sed 's/ .*//'
}

# end_all PID...: kills these of our processes, and their children
end_all() {
	for end_pid; do
		end_children=$(children_of "$end_pid")
		# shellcheck disable=SC2086
		kill -KILL "$end_pid" $end_children 2> /dev/null || :
		wait "$end_pid" 2> /dev/null || :
	done
}

# counts_well NAME: after the number 1, no noun of its output is a plural
counts_well() {
	if cat "$tap_dir/stdout" "$tap_dir/stderr" | grep -E -e \
		'(^|[^0-9.:+xX-])1 (page|row|task|record|transaction|block|time|piece|byte|bit|file|name|process|checkpoint|event|read|change|mapping|group)(e?s)([^a-z]|$)' \
		> "$tap_dir/plurals"; then
		tap_not_ok "$1: a plural after 1" "$tap_dir/plurals"
	else
		tap_ok "$1: no plural after 1"
	fi
}

# --- dumps and similar files ---

# refused NAME STATUS WORDS OPTIONS...: queries page 1; must fail in time
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

# change FILE COPY OLD NEW...: makes a copy in which bytes are replaced by as
# many others
change() {
	change_copy=$2
	cp "$1" "$2"
	shift 2
	while [ $# -gt 0 ]; do
		LC_ALL=C sed -i "s/$1/$2/g" "$change_copy"
		shift 2
	done
}

# with FILE COPY OFFSET BYTES...: makes a copy with other bytes at that offset
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
