#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what 'kmap watch' refuses, and on a kernel that allows breakpoints that N
# calls of lseek are N accesses, what a rate leaves out, and that nothing is left
# of a watch that was killed.
. "$top_srcdir/tests/cli/cli.sh"

file=$tap_dir/watched.kmap

# --- refused before anything is watched ---

for option in '--before x' '--kallsyms x' '--kallsyms-before x' --folded \
	'--hz 100' '--from x' '--root /' '--vmlinux x'; do
	name=${option%% *}
	# The word is an option and its value.
	# shellcheck disable=SC2086
	run kmap watch ffff888000000000 $option --for 0.1
	case $option in
	--folded) expect "no $name" 64 "$name is for 'kmap calls'" ;;
	--before*) expect "no $name" 64 "is an option of" ;;
	*) expect "no $name" 64 "$name has no meaning" ;;
	esac
done
run kmap watch ffff888000000000 -o "$file" --by site --for 0.1
expect 'a file is not grouped' 64 '--by has no meaning'
for option in '--where x' '--top 1' '--sort reads' '--by x' \
	'--by site --accesses' '--matrix m.csv --json' \
	'--matrix m.csv --by site'; do
	# shellcheck disable=SC2086
	run kmap report /dev/null --kallsyms /dev/null $option
	sed 's/kmap report/kmap watch/' "$tap_dir/stderr" > "$tap_dir/report"
	# shellcheck disable=SC2086
	run kmap watch ffff888000000000 $option --for 0.1
	expect "not with '$option'" 64 "$(head -n 1 "$tap_dir/report")"
done
run kmap watch ffff888000000000 --for 1 -- true
expect 'a time and a program' 64 'exclude each other'
run kmap watch --for 1
expect 'no object' 64 'lacks an object'
run kmap watch zzz --for 1
expect 'not an address' 64 "'zzz' is not"
run kmap watch ffff888000000000+0 --for 1
expect 'nothing of it' 64 'asks for nothing'
for fd in 1 1: :3 1:x -1:3 1:99999999999; do
	run kmap watch --fd "$fd" --for 1
	expect "not a descriptor: $fd" 64 'is not PID:FD'
done
for rate in 0 x 1000001; do
	run kmap watch ffff888000000000 --rate "$rate" --for 1
	expect "not a rate: $rate" 64 "--rate: '$rate'"
done
for option in '--fd 1:1' '--for 1' --writes '--rate 5' '--window 1'; do
	# shellcheck disable=SC2086
	run kmap report x $option
	expect "kmap report: no ${option%% *}" 64 "'kmap watch'"
done

# --- who watches ---

. "$top_srcdir/tests/cli/seeker.sh"
cat > "$tap_dir/seek.py" << 'END'
import os, sys
fd = os.open(sys.argv[1] + "/seeked", os.O_RDWR | os.O_CREAT)
ask = os.fdopen(os.open(sys.argv[1] + "/ask", os.O_RDWR), "rb", 0)
answer = os.open(sys.argv[1] + "/answer", os.O_RDWR)
with open(sys.argv[1] + "/seeker", "w") as f:
    f.write(f"{os.getpid()}:{fd}\n")
while True:
    n = int(ask.readline())
    for i in range(n):
        os.lseek(fd, i, os.SEEK_SET)
    os.write(answer, b"done\n")
END
start_seeker

# run_whole ARGUMENTS...: as run, but again if hits were lost: the machine may do
# so
run_whole() {
	for try in 1 2 3 4 5; do
		run "$@"
		loses || break
	done
}

# A processor has few breakpoints, and one of these tests takes all of them.
tap_lock breakpoints

run kmap watch 1000 --for 0.1
expect 'an address of a program' 64 'not an address of the kernel'
run kmap watch --fd "$object" -o "$file" --json -- sh -c 'exit 3'
case $status in
0 | 2) ;;
69 | 77)
	tap_skip 'an object is watched' "breakpoints on kernel memory are not \
possible here: $(head -n 1 "$tap_dir/stderr")"
	tap_run 'no file is left' [ ! -e "$file" ]
	finish
	;;
*)
	tap_not_ok 'an object is watched' "$(why)"
	finish
	;;
esac
tap_run 'the program has ended' grep -q \
	'^pagedet: the program ended with status 3$' "$tap_dir/stderr"
tap_run 'which only its owner may read' [ "$(stat -c %a "$file")" = 600 ]
# The watch itself may need more descriptors.
(ulimit -Sn 250 && "$PAGEDET" kmap watch --fd "$object" -q -o "$file" -- \
	sh -c "ulimit -Sn > '$tap_dir/limit'") 2> "$tap_dir/stderr" || :
tap_run 'the program has the limits of its caller' [ \
	"$(cat "$tap_dir/limit")" = 250 ]
run kmap watch --fd "$object" -o "$file" --json -- sh -c 'exit 3'
tap_run 'each word is told' "$PYTHON3" - "$tap_dir/stdout" "$file" << 'END'
import json, sys
with open(sys.argv[1]) as f:
    row, = map(json.loads, f)
with open(sys.argv[2]) as f:
    lines = [l.split(",") for l in f if l[0] == "("]
words = row["words"]
# The program may have ended before all had a turn.
assert [(int(w["address"], 16), w["bytes"]) for w in words if w["windows"]
        ] == [(int(l[2], 16), int(l[3])) for l in lines], words
assert all(w["ns"] for w in words if w["windows"]), words
assert sum(w["bytes"] for w in words) >= 128, words
assert row["turns"] == -(-len(words) * 2 // row["breakpoints"]), row
assert row["breakpoints"] >= 2 and row["cpus"] > 0, row
# No access is without a word.
with open(sys.argv[2]) as f:
    accesses = [l.split(",") for l in f if l[0] == " "]
assert sum(int(a[1]) for a in accesses) == row["writes"], (accesses, row)
assert sum(int(a[2]) for a in accesses) == row["reads"], (accesses, row)
END
all_words() {
	grep -o '"address":"0x[0-9a-f]*","bytes":8' "$tap_dir/stdout" |
		sed 's/.*0x//; s/".*//'
}
addresses=$(all_words)
without=$(grep -o '"windows":0' "$tap_dir/stdout" | wc -l)
if [ "$without" = 0 ]; then
	tap_skip 'words that had no turn' 'all of them had one'
else
	expect 'words that had no turn' 2 "$without word"
fi

# --- N are N ---

# Each word of the file, one after the other. Which ones lseek(2) accesses is up
# to the kernel, but each instruction does it once a call. The status of the
# judge is 3 if all is as it is told, but hits were lost.
cat > "$tap_dir/judge.py" << 'END'
import json, sys
with open(sys.argv[1]) as f:
    row = json.load(f)
most = 110 if row["estimated"] else 100
missed = row["lost"] + row["unsaid"]
assert row["turns"] == 1, row
word, = row["words"]
assert word["windows"] == 1 and word["ns"] > 0, row
reads = wrote = sites = writes = 0
with open(sys.argv[2]) as f:
    for line in f:
        if line[0] == "(":
            continue
        ip, w, r, pid = line.split(",")
        reads += int(r)
        wrote += int(w)
        # Others may look at it: interrupts, and programs that list /proc.
        if pid.strip() != sys.argv[3]:
            continue
        n = int(r) + int(w)
        assert n <= most, (line, row)
        assert n >= 100 - missed or row["limited"], (line, row)
        sites += 1
        writes += int(w) >= 100
assert (reads, wrote) == (row["reads"], row["writes"]), row
if missed or row["limited"]:
    sys.exit(3)
print(sites, writes, int(row["estimated"]))
END
# watch_word ADDRESS: sets $status to that of the judge, or of the watch
watch_word() {
	run kmap watch "$1" -o "$tap_dir/word.$1" --json -- \
		sh -c "$(asks 100)"
	cp "$tap_dir/stdout" "$tap_dir/said.$1"
	case $status in
	0 | 2)
		status=0
		"$PYTHON3" "$tap_dir/judge.py" "$tap_dir/said.$1" \
			"$tap_dir/word.$1" "${object%:*}" \
			>> "$tap_dir/judged" 2>> "$tap_dir/wrong" || status=$?
		;;
	*) cat "$tap_dir/stderr" >> "$tap_dir/wrong" ;;
	esac
}
: > "$tap_dir/wrong"
for address in $addresses; do
	for try in 1 2 3 4 5; do
		watch_word "$address"
		[ "$status" = 3 ] || break
	done
	[ "$status" != 3 ] ||
		echo "$address: hits were lost each time" >> "$tap_dir/wrong"
done
tap_run '100 calls are 100 accesses of an instruction' sh -c \
	"cat '$tap_dir/wrong'; [ ! -s '$tap_dir/wrong' ]"
tap_run 'on several places, which read and write' awk \
	'{ sites += $1; writes += $2 + $3 }
	END { print sites, writes; exit !(sites >= 3 && writes >= 1) }' \
	"$tap_dir/judged"
# A word that is only read, as often as it was asked: some percent more if counts
# are estimated.
most=100
! grep -q '"estimated":true' "$tap_dir"/said.* || most=110
busy=$(awk -F , -v pid="${object%:*}" -v most="$most" \
	'/^ / && $2 == 0 && $3 >= 100 && $3 <= most && $4 == pid {
		print FILENAME; exit }' "$tap_dir"/word.*)
busy=${busy##*.}
tap_run 'one of them only reads' [ -n "$busy" ]
[ -n "$busy" ] || finish
# has_read: whether the table has 50 reads of our process
has_read() {
	awk -v pid="${object%:*}" -v most="$((most / 2))" \
		'$1 >= 50 && $1 <= most && $2 == 0 && $3 == pid { n++ }
		END { exit !n }' "$tap_dir/stdout"
}

# --- the reports are the same ---

run kmap report "$tap_dir/word.$busy" --json --accesses --pointers -q
tap_run 'the report has what was watched' "$PYTHON3" - "$tap_dir/stdout" \
	"$tap_dir/said.$busy" "$busy" << 'END'
import json, sys
with open(sys.argv[1]) as f:
    row, total = map(json.loads, f)
with open(sys.argv[2]) as f:
    said = json.load(f)
total = total["total"]
assert total["dialect"] == "indexed" and total["complete"], total
assert row["address"] == "0x" + sys.argv[3] and row["bytes"] == 8, row
assert row["reads"] == total["reads"] == said["reads"] >= 100, (row, said)
assert row["writes"] == total["writes"] == said["writes"], (row, said)
assert sum(a["reads"] for a in row["accesses"]) == row["reads"]
# Who allocated it, and when, is not known.
assert row["site"] is row["pid"] is row["command"] is None, row
assert row["missing"]["pid"] == "unsupported", row
END
run_whole kmap watch "$busy" -- sh -c "$(asks 50)"
tap_run 'a table has it at once' has_read
expect 'and says how it was watched' 0 '1 word watched for'
run kmap watch "$busy" --by access_pid --json -- sh -c "$(asks 50)"
tap_run 'also in groups' grep -q "\"access_pid\":${object%:*}[,}].*" \
	"$tap_dir/stdout"
run kmap watch "$busy" --writes -- sh -c "$(asks 50)"
tap_run 'only writes are watched with --writes' grep -q \
	'^pagedet: only writes were watched$' "$tap_dir/stderr"
tap_run 'and no read is counted' grep -q \
	'^total: 1 object 8 bytes .* 0 reads [0-9]* writes*$' "$tap_dir/stdout"

# --- the rate ---

run kmap watch "$busy" --rate 10 -o "$file" --json -- sh -c "$(asks 2000)"
expect 'a rate that is too low' 2 'the rate of 10 hits a second was used up'
tap_run 'leaves out the rest' "$PYTHON3" - "$tap_dir/stdout" << 'END'
import json, sys
with open(sys.argv[1]) as f:
    row = json.load(f)
most = row["breakpoints"] * row["cpus"] * 12 * (1 + row["ns"] / 1e9)
assert 0 < row["reads"] < most and row["limited"], (most, row)
word, = row["words"]
assert word["limited"] and word["ns"] < row["ns"], row
END

# --- others have the breakpoints ---

holds_breakpoints --fd "$object"
run_whole kmap watch "$busy" --for 0.1
if [ "$status" = 0 ]; then
	tap_skip 'no breakpoint is free' 'this machine has more of them'
else
	expect 'no breakpoint is free' "$status" 'of a processor are in use'
fi
end_all "$watch"
watch=
# The kernel frees them when it has taken down the process.
are_free() {
	run_whole kmap watch "$busy" --for 0.1
	[ "$status" = 0 ]
}
tap_wait are_free
tap_run 'nothing is left of a watch that was killed' [ "$status" = 0 ]

# --- what is known of an object ---

# A file that is open is not freed, whatever is read of its slab meanwhile.
: > "$tap_dir/unknown"
for try in 1 2 3 4 5 6 7 8; do
	run kmap watch --fd "$object" --for 0.1
	grep 'freed' "$tap_dir/stderr" >> "$tap_dir/unknown" || :
done
tap_run 'a file that is open is in use' sh -c \
	"cat '$tap_dir/unknown'; [ ! -s '$tap_dir/unknown' ]"
run kmap report "$tap_dir/word.$busy"
tap_fails 'a watch has no serial numbers' grep 'serial numbers' \
	"$tap_dir/stderr"
# Code of the kernel is not of a slab.
text=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)
run kmap watch "$text" --for 0.1 -o "$file" --json
stdout_has 'what is not of a slab' '"mapped":true,"missing":{"freed":"none"}'
# It has the bit of the kernel, but no processor has such an address.
run kmap watch 8000000000000000 --for 0.1
expect 'no memory is mapped' 66 'no memory mapped there'
run kmap watch 8000000000000000+70000 --for 0.1
expect 'too many bytes' 64 'at most'

# --- objects that do not exist ---

run kmap watch --fd "${object%:*}:9999" --for 0.1
expect 'no such descriptor' 66 'has no descriptor 9999'
for output in '' "-o $file" "--json -o $file"; do
	# shellcheck disable=SC2086
	run kmap watch --fd 4194305:0 --for 0.1 $output
	expect "no such process ${output%%"$file"}" 1 '4194305'
	tap_fails 'and nothing is said of a watch' \
		grep -E 'took turns|watched for' "$tap_dir/stderr"
done
finish
