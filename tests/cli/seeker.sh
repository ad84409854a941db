# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# shellcheck shell=sh
# For tests of 'kmap watch': a program that seeks in files when it is told to.
# Sourced after cli.sh.

# What runs in the background, and must not stay.
seeker=
watch=
leave() {
	# shellcheck disable=SC2086
	end_all $watch $seeker
	chmod -R u+w "$tap_dir"
	rm -rf "$tap_dir"
}
trap leave EXIT

# start_seeker: starts $tap_dir/seek.py, which reads lines of "ask" and answers
# each in "answer", and writes "PID:FD..." to "seeker" first, which $object has
start_seeker() {
	mkfifo "$tap_dir/ask" "$tap_dir/answer"
	"$PYTHON3" "$tap_dir/seek.py" "$tap_dir" &
	seeker=$!
	tap_wait has_seeker
	object=$(cat "$tap_dir/seeker")
}

has_seeker() {
	[ -s "$tap_dir/seeker" ]
}

# asks WHAT: prints the program that lets the seeker do it, and waits
asks() {
	echo "timeout 60 sh -c 'echo $1 > \"$tap_dir/ask\"
		head -n 1 \"$tap_dir/answer\"' > '$tap_dir/answered'"
}

# loses: whether the last run says that hits were lost
loses() {
	grep -q 'came too fast\|does not say by whom' "$tap_dir/stderr"
}

# holds_breakpoints ARGUMENTS...: watches in the background until end_all $watch
holds_breakpoints() {
	rm -f "$tap_dir/holds"
	"$PAGEDET" kmap watch "$@" -q -- \
		sh -c "echo there > '$tap_dir/holds'; exec sleep 600" \
		> "$tap_dir/held" 2>&1 8>&- &
	watch=$!
	tap_wait is_held
}

is_held() {
	grep -q there "$tap_dir/holds" 2> "$tap_dir/why"
}

# finish: ends the seeker and the test
finish() {
	end_all "$seeker"
	seeker=
	tap_done
}
