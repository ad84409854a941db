#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests what 'kmap watch --cache' refuses, and on a kernel that allows
# breakpoints that N calls of lseek on each of many files are N accesses to each
# object that was drawn, and what is said of freed objects.
. "$top_srcdir/tests/cli/cli.sh"

file=$tap_dir/watched.kmap

# --- refused before anything is watched ---

for option in '--at 8' --sample '--slice 1' '--seed 1'; do
	# The word is an option and its value.
	# shellcheck disable=SC2086
	run kmap watch ffff888000000000 $option --for 0.1
	expect "${option%% *} without a cache" 64 'needs --cache'
	# shellcheck disable=SC2086
	run kmap report x $option
	expect "kmap report: no ${option%% *}" 64 "'kmap watch'"
done
run kmap report x --cache filp
expect 'kmap report: no --cache' 64 "'kmap watch'"
run kmap watch --cache filp --fd 1:1 --for 0.1
expect 'a cache and a descriptor' 64 'exclude each other'
run kmap watch --cache filp --slice 1 --for 0.1
expect 'a slice without --sample' 64 'needs --sample'
for slice in 0 0.01 x; do
	run kmap watch --cache filp --sample --slice "$slice" --for 0.1
	expect "not a slice: $slice" 64 "--slice: '$slice'"
done
run kmap watch --cache filp --seed -1 --for 0.1
expect 'not a seed' 64 "--seed: '-1'"
for part in x 8+ 8+0 +8 0x10+x 11111111111111111111111111; do
	run kmap watch --cache filp --at "$part" --for 0.1
	expect "not a part: $part" 64 "--at: '$part'"
done
run kmap watch --cache filp --from /dev/null --for 0.1
expect 'not of a file' 64 '--from has no meaning'

# --- who watches ---

. "$top_srcdir/tests/cli/seeker.sh"
cat > "$tap_dir/seek.py" << 'END'
import os, resource, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
n = 5000 if most == resource.RLIM_INFINITY else min(most - 100, 5000)
resource.setrlimit(resource.RLIMIT_NOFILE, (n + 50, most))
name = sys.argv[1] + "/seeked"
def open_all():
    return [os.open(name, os.O_RDWR | os.O_CREAT) for i in range(n)]
# Before the others: these are objects of the cache, too.
ask = os.fdopen(os.open(sys.argv[1] + "/ask", os.O_RDWR), "rb", 0)
answer = os.open(sys.argv[1] + "/answer", os.O_RDWR)
fds = open_all()
with open(sys.argv[1] + "/seeker", "w") as f:
    f.write(f"{os.getpid()}:{fds[0]}:{n}\n")
while True:
    what = ask.readline().strip().decode()
    if what == "close":
        for fd in fds:
            os.close(fd)
    elif what == "open":
        fds = open_all()
    else:
        # Each call changes the position.
        for i in range(int(what)):
            for fd in fds:
                os.lseek(fd, i + 1, os.SEEK_SET)
    os.write(answer, b"done\n")
END
start_seeker
n_files=${object##*:}
object=${object%:*}

# A processor has few breakpoints, and one of these tests takes all of them.
tap_lock breakpoints

run kmap watch --cache filp --for 0.1 -o "$file"
case $status in
0 | 2) ;;
69 | 77)
	tap_skip 'objects of a cache are watched' "not possible here: \
$(head -n 1 "$tap_dir/stderr")"
	tap_run 'no file is left' [ ! -e "$file" ]
	finish
	;;
66)
	# Processors keep free objects, and some kernels do not tell where.
	expect 'objects of a cache are watched' 66 'known to be in use'
	tap_skip 'more of them' 'it is not known here which are in use'
	finish
	;;
*)
	tap_not_ok 'objects of a cache are watched' "$(why)"
	finish
	;;
esac
tap_run 'which only its owner may read' [ "$(stat -c %a "$file")" = 600 ]
run kmap watch --cache flip --for 0.1
expect 'no such cache' 66 "did you mean 'filp'?"
run kmap watch --cache ../slab/filp --for 0.1
expect 'not a name' 66 'no slab cache'
run kmap watch --cache filp --at 100000 --for 0.1
expect 'outside of the object' 64 'is outside of an object'
size=$(cat /sys/kernel/slab/filp/object_size)
run kmap watch --cache filp --at "$((size - 4))" --for 0.1
expect 'the last 4 bytes' 64 "has $size bytes: 4 from $((size - 4)) on, not 8"

# The word that lseek(2) writes, which is up to the kernel.
run kmap watch --fd "$object" --for 0.1 -o "$file" -q --json
cp "$tap_dir/stdout" "$tap_dir/one"
# Also of words that had no turn.
words=$(grep -o '"address":"0x[0-9a-f]*","bytes":8' "$tap_dir/one" |
	sed 's/.*0x//; s/".*//')
base=${words%%[!0-9a-f]*}
# is_written ADDRESS: also in a try after one that lost hits
is_written() {
	for try in 1 2 3 4 5; do
		run kmap watch "$1" --writes -o "$tap_dir/word" -- \
			sh -c "$(asks 20)"
		grep -q ",20,0,${object%:*}\$" "$tap_dir/word" && return 0
		loses || return 1
	done
	return 1
}
at=
for address in $words; do
	if is_written "$address"; then
		at=$((0x$address - 0x$base))
		break
	fi
done
if [ -z "$at" ] && grep -q '"estimated":true' "$tap_dir/one"; then
	tap_skip 'lseek writes a word' 'counts are estimated on this machine'
	finish
fi
tap_run 'lseek writes a word' [ -n "$at" ]
[ -n "$at" ] || finish

# All words of an object take turns.
run kmap watch --cache filp --window 0.2 --for 0.1
expect 'words that had no turn' 2 'never had a turn: they have no row'
tap_run 'an offset is not live' grep -q '^total: .* 0 live' "$tap_dir/stdout"

# --- N are N, of each object ---

cat > "$tap_dir/check.py" << 'END'
import json, sys
said, name, pid, at, seed = sys.argv[1:]
with open(said) as f:
    row, = map(json.loads, f)
assert row["seed"] == int(seed), row
objects = row["objects"]
assert 1 <= len(objects) <= row["at_once"] <= 16, row
# One that failed has no row.
assert row["at_once"] <= len(objects) + row["failed"], row
lines = []
with open(name) as f:
    for line in f:
        if line[0] == "(":
            lines.append((line.split(","), []))
        else:
            lines[-1][1].append(line.split(","))
assert len(lines) == len(objects), (lines, row)
for o, (line, accesses) in zip(objects, lines):
    # Two clocks.
    assert o["words"] == o["turns"] == 1, o
    assert o["ns"] * 1.1 >= o["word_ns"] >= 0, o
    assert int(line[2], 16) == int(o["address"], 16) + int(at), (line, o)
    assert "filp" in line, line
    assert o["reads"] == sum(int(a[2]) for a in accesses)
    assert o["writes"] == sum(int(a[1]) for a in accesses)
    # Others look at a file of the seeker, too, but do not seek it.
    mine = [int(a[2]) + int(a[1]) for a in accesses if a[3].strip() == pid]
    if o["freed"] is not False or o["limited"]:
        continue
    missed = o["lost"] + o["unsaid"]
    most = 22 if row["estimated"] else 20
    assert all(20 - missed <= n <= most for n in mine), (mine, row)
    if mine and not missed:
        print(o["address"], mine)
kept = [o for o in objects if not o["freed"]]
assert row["reads"] == sum(o["reads"] for o in kept), row
assert row["writes"] == sum(o["writes"] for o in kept), row
assert row["freed"] == len(objects) - len(kept), row
END
: > "$tap_dir/wrong"
# Ten times, and again until one of ours is among them, and was watched whole.
drawn=
for seed in $(seq 40); do
	[ "$seed" -le 10 ] || [ -z "$drawn" ] || break
	run kmap watch --cache filp --at "$at" --seed "$seed" --json \
		-o "$tap_dir/drawn" -- sh -c "$(asks 20)"
	cp "$tap_dir/stderr" "$tap_dir/told.$seed"
	status=0
	"$PYTHON3" "$tap_dir/check.py" "$tap_dir/stdout" "$tap_dir/drawn" \
		"${object%:*}" "$at" "$seed" > "$tap_dir/checked" \
		2>> "$tap_dir/wrong" || status=$?
	[ "$status" = 0 ] || echo "seed $seed" >> "$tap_dir/wrong"
	[ ! -s "$tap_dir/checked" ] || drawn=yes
done
tap_run '20 calls for each file are 20 accesses to each that was drawn' sh -c \
	"cat '$tap_dir/wrong'; [ ! -s '$tap_dir/wrong' ]"
# A limit of descriptors may leave the test few files.
n_open=$(cut -f 1 /proc/sys/fs/file-nr)
few=
[ "$((n_files * 8))" -ge "$n_open" ] ||
	few="others have most of the $n_open open files"
if [ -z "$drawn" ] && [ -n "$few" ]; then
	tap_skip 'files of the test were drawn' "$few"
else
	tap_run 'files of the test were drawn' [ -n "$drawn" ]
fi
tap_run 'the seed is told' grep -q 'drawn with --seed 3;' "$tap_dir/told.3"
tap_run 'and what cannot be known' grep -Eq \
	'between two looks|freed meanwhile|is not known' \
	"$tap_dir/told.3"

# --- other objects after each slice ---

# How many slices a second has depends on the machine.
cat > "$tap_dir/more.py" << 'END'
import json, sys
with open(sys.argv[1]) as f:
    row, = map(json.loads, f)
sys.exit(len({o["address"] for o in row["objects"]}) <= row["at_once"])
END
for seconds in 2 4 8 16 32; do
	run kmap watch --cache filp --at "$at" --sample --slice 0.1 --seed 5 \
		--for "$seconds" -o "$file" --json
	cp "$tap_dir/stdout" "$tap_dir/sampled"
	! "$PYTHON3" "$tap_dir/more.py" "$tap_dir/sampled" || break
done
run kmap report "$file" --json -q --pointers
tap_run 'a sample has a row for each slice' "$PYTHON3" - "$tap_dir/sampled" \
	"$tap_dir/stdout" << 'END'
import json, sys
with open(sys.argv[1]) as f:
    row, = map(json.loads, f)
with open(sys.argv[2]) as f:
    *rows, total = map(json.loads, f)
objects = row["objects"]
assert len(objects) > row["at_once"], row
assert len({o["address"] for o in objects}) > row["at_once"], row
assert len(rows) == len(objects), (rows, row)
total = total["total"]
assert total["reads"] == sum(o["reads"] for o in objects), (total, row)
assert total["writes"] == sum(o["writes"] for o in objects), (total, row)
assert [r["end"] if "end" in r else r["freed"] for r in rows] == [
    "live" if o["freed"] is False else "unknown" for o in objects], rows
END
# Without a row all were freed meanwhile.
for seconds in 1 2 4 8 16; do
	run kmap watch --cache filp --at "$at+16" --sample --slice 0.2 \
		--for "$seconds" --json
	[ "$(wc -l < "$tap_dir/stdout")" -le 1 ] || break
done
tap_run 'sums have a row for each word' "$PYTHON3" - "$tap_dir/stdout" "$at" \
	<< 'END'
import json, sys
with open(sys.argv[1]) as f:
    *rows, total = map(json.loads, f)
at = int(sys.argv[2])
assert [int(r["address"], 16) for r in rows] == [at, at + 8], rows
for r in rows:
    places = [(a["site"], a["pid"]) for a in r["accesses"]]
    assert len(places) == len(set(places)), r
    assert sum(a["reads"] for a in r["accesses"]) == r["reads"], r
    assert sum(a["writes"] for a in r["accesses"]) == r["writes"], r
total = total["total"]
assert total["reads"] == sum(r["reads"] for r in rows), rows
assert total["writes"] == sum(r["writes"] for r in rows), rows
END

# --- a slice that fails ---

# Others go on, and it is counted: for a while there are no descriptors.
cat > "$tap_dir/starve.py" << 'END'
import json, os, resource, subprocess, sys, time
tests, pagedet, at, name = sys.argv[1:]
sys.path.insert(0, tests)
from wait import PATIENCE, wait_for
p = subprocess.Popen([pagedet, "kmap", "watch", "--cache", "filp", "--at", at,
                      "--sample", "--slice", "0.1", "--for", str(3 * PATIENCE),
                      "--json",
                      "-o", name], stdout=subprocess.PIPE,
                     stderr=subprocess.PIPE, text=True)
fds = f"/proc/{p.pid}/fd"
# A KMAP grows by each slice that is written. When it starts, it has larger files
# open for a moment.
def written():
    n = 0
    for fd in os.listdir(fds):
        try:
            if os.readlink(f"{fds}/{fd}").startswith(os.path.dirname(name)):
                n += os.stat(f"{fds}/{fd}").st_size
        except OSError:
            continue
    return n
def ended():
    return p.poll() is not None
def grows():
    size = written()
    return wait_for(lambda: ended() or written() > size) and not ended()
# A slice closes the breakpoints of the one before, and opens its own. It has
# failed if it has none.
def has_no_breakpoint():
    for fd in os.listdir(fds):
        try:
            if "perf_event" in os.readlink(f"{fds}/{fd}"):
                return False
        except OSError:
            continue
    return True
try:
    assert grows()
    most = resource.prlimit(p.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (4, most))
    # Between two slices there is none for a moment; this is as long as ten.
    assert wait_for(lambda: ended() or all(
        has_no_breakpoint() and not time.sleep(0.02) for i in range(50)))
    resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (most, most))
    went_on = grows()
finally:
    p.send_signal(2)
    out, err = p.communicate()
print(out, err)
row = json.loads(out)
assert went_on and p.returncode == 2, p.returncode
assert row["failed"] and "not watched: cannot" in err, row["failed"]
END
tap_run 'a slice that fails is counted, and others go on' "$PYTHON3" \
	"$tap_dir/starve.py" "$top_srcdir/tests" "$PAGEDET" "$at" \
	"$tap_dir/starved"

# --- what is told of a cache ---

# One whose slabs stay as they are.
cache=proc_dir_entry
addresses() {
	"$PAGEDET" kmap watch --cache $cache --at 0 --for 0.1 --seed "$1" \
		--json -q -o "$tap_dir/seeded" |
		grep -o '"address":"[^"]*"' > "$tap_dir/$2"
}
if addresses 5 first; then
	for try in 1 2 3 4 5 6 7 8 9 10; do
		addresses 5 first
		addresses 5 second
		! cmp -s "$tap_dir/first" "$tap_dir/second" || break
	done
	tap_run 'a seed repeats the draws' cmp "$tap_dir/first" \
		"$tap_dir/second"
	for seed in 6 7 8 9; do
		addresses $seed second
		cmp -s "$tap_dir/first" "$tap_dir/second" || break
	done
	tap_fails 'another seed draws others' cmp "$tap_dir/first" \
		"$tap_dir/second"
else
	tap_skip 'a seed repeats the draws' "no object of $cache was drawn"
fi
# The names of each cache, by the directory that they are links to.
shared=$(for link in /sys/kernel/slab/*; do
	[ ! -L "$link" ] || echo "$(readlink "$link") ${link##*/}"
done | awk '{ n[$1]++; name[$1] = $2 }
	END { for (c in n) if (n[c] > 1) print n[c] - 1, name[c] }' | sort -n)
told=
while read -r others cache; do
	[ -n "$others" ] || continue
	run kmap watch --cache "$cache" --at 0 --for 0.1 --json \
		-o "$tap_dir/shared"
	[ "$status" = 0 ] || [ "$status" = 2 ] || continue
	tap_run "$cache shares its slabs" grep -q "\"sharing\":$others," \
		"$tap_dir/stdout"
	tap_run 'and it is said' grep -q \
		"^pagedet: $others other cache.* the slabs of '$cache': " \
		"$tap_dir/stderr"
	told=yes
	break
done << END
$shared
END
[ -n "$told" ] ||
	tap_skip 'a cache shares its slabs' 'no object of one can be watched'
# Processors may keep free objects where only some kernels tell.
run kmap watch --cache vm_area_struct --at 0 --for 0.1 -o "$tap_dir/kept"
if [ "$status" != 66 ] || [ ! -e /sys/kernel/slab/vm_area_struct ]; then
	tap_skip 'objects that may be free' 'it is known which are in use'
else
	expect 'objects that may be free' 66 'draws met'
	# It is by the symbols that they are found.
	if grep -q ' __per_cpu_offset$' /proc/kallsyms; then
		tap_skip 'and why' 'the symbols tell where they are'
	else
		expect 'and why' 66 'processors may keep objects'
	fi
fi
reused=$(cat /sys/kernel/slab/filp/destroy_by_rcu)
run kmap watch --cache filp --at "$at" --for 0.1 --json -o "$tap_dir/reused"
if [ "$reused" = 1 ]; then
	tap_run 'filp is reused' grep -q '"reused":true' "$tap_dir/stdout"
	tap_run 'and that is said' grep -q 'SLAB_TYPESAFE_BY_RCU' \
		"$tap_dir/stderr"
else
	tap_run 'filp is not reused' grep -q '"reused":false' "$tap_dir/stdout"
	tap_fails 'nor is it said' grep -q 'SLAB_TYPESAFE_BY_RCU' \
		"$tap_dir/stderr"
fi

# --- freed meanwhile ---

# Another process may take the memory at once, so that it is tried often.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	run kmap watch --cache filp --at "$at" --seed "$seed" \
		-o "$tap_dir/freed" --json -- \
		sh -c "$(asks 5); $(asks close)"
	sh -c "$(asks open)"
	grep -q '"freed":true' "$tap_dir/stdout" && break
done
if ! grep -q '"freed":true' "$tap_dir/stdout" && [ -n "$few" ]; then
	tap_skip 'objects that were freed' "$few"
else
	expect 'objects that were freed' 2 'freed meanwhile'
	run kmap report "$tap_dir/freed" --json -q
	tap_run 'have an unknown end' grep -q '"unknown"' "$tap_dir/stdout"
fi

# Without rows it still says what was watched.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	run kmap watch --cache filp --at "$at" --seed "$seed" -- \
		sh -c "$(asks close)"
	sh -c "$(asks open)"
	grep -q '^total: 0 objects' "$tap_dir/stdout" && break
done
if grep -q '^total: 0 objects' "$tap_dir/stdout"; then
	expect 'all objects were freed' 2 'no object is left to show'
	tap_run 'and it is said what was watched' \
		grep -q 'drawn with --seed' "$tap_dir/stderr"
else
	tap_skip 'all objects were freed' 'others took their memory each time'
fi

# --- nothing is left ---

watches() {
	"$PAGEDET" kmap watch --cache filp --at "$at" --for 0.1 -q --json \
		-o "$tap_dir/left" | sed -n 's/.*"at_once":\([0-9]*\),.*/\1/p'
}
most=$(watches)
tap_run 'it is told how many are watched at once' [ -n "$most" ]
cat > "$tap_dir/after.sh" << 'END'
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.2
	"$1" kmap watch --cache filp --at 0 --for 0.1 -q --json \
		-o "$2/left" > "$2/after" 2> "$2/why"
	! grep -q "\"at_once\":$3," "$2/after" || break
done
END
run kmap watch --cache filp --at "$at" --sample --slice 0.1 -o /dev/full -- \
	sh "$tap_dir/after.sh" "$PAGEDET" "$tap_dir" "$most"
expect 'it cannot be written' 74 'No space left on device'
tap_run 'and a program that still runs is not watched' \
	grep "\"at_once\":$most," "$tap_dir/after"
holds_breakpoints --cache filp --sample
end_all "$watch"
watch=
are_free() {
	[ -n "$most" ] && [ "$(watches)" = "$most" ]
}
tap_wait are_free
tap_run 'nothing is left of a watch that was killed' are_free
finish
