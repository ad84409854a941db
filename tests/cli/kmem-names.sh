#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests names of call sites from a vmlinux, and that names of another boot are
# refused. The vmlinux files are made: each has a call in front of each site.
. "$top_srcdir/tests/cli/cli.sh"

traces=$top_srcdir/tests/fixtures/traces
perfdata=$traces/perfdata/slabpage.data
trace=$tap_dir/trace

cp -r "$traces/raw-6.12-x86_64" "$trace"
chmod -R u+w "$trace"
mv "$trace/kallsyms" "$tap_dir/kallsyms"
run kmem report "$traces/raw-6.12-x86_64" --by site,function,module --json -q
mv "$tap_dir/stdout" "$tap_dir/truth"
run kmem report "$trace" --by site,function,module --json -q
mv "$tap_dir/stdout" "$tap_dir/sites"

# vmlinux NAME OFFSET [WORD...]
vmlinux() {
	name=$1
	offset=$2
	shift 2
	python3 "$top_srcdir/tests/cli/trace-vmlinux.py" "$tap_dir/kallsyms" \
		"$tap_dir/sites" "$offset" "$tap_dir/$name" "$@"
}

# alike NAME OUTPUT: the groups are those of the kallsyms.
alike() {
	grep -v '^{"total"' "$tap_dir/truth" > "$tap_dir/want"
	grep -v '^{"total"' "$2" > "$tap_dir/have"
	tap_run "$1" cmp "$tap_dir/want" "$tap_dir/have"
}

# --- an offset that the call sites prove ---

vmlinux moved 0x2e00000
run kmem report "$trace" --by site,function,module --json \
	--vmlinux "$tap_dir/moved"
if [ "$status" = 69 ]; then
	tap_skip 'names of a vmlinux' 'there is no libelf'
	tap_done
	exit
fi
expect 'names of a vmlinux' 0 'the kernel was moved by 0x2e00000'
alike 'the same as those of the kallsyms' "$tap_dir/stdout"
stdout_has 'the offset is told' '"kaslr_offset":48234496,'
vmlinux here 0
run kmem report "$trace" --by site,function,module --json \
	--vmlinux "$tap_dir/here"
expect 'a kernel that was not moved' 0 'the kernel was moved by 0 '
alike 'the same names' "$tap_dir/stdout"
vmlinux odd 0x2e10000
run kmem report "$trace" --vmlinux "$tap_dir/odd" --json
expect 'no kernel of x86_64 is moved so' 0 'odd names no call site: by how'
stdout_has 'then there are addresses' '"site":"0xffffffff815d11e5"'
stdout_has 'and no offset' '"kaslr_offset":null'
vmlinux arm 0x2e10000 arm64
run kmem report "$trace" --vmlinux "$tap_dir/arm" --json
expect 'addresses that no call of arm64 has' 0 'arm names no call site'
vmlinux debug 0x2e00000 debug
run kmem report "$trace" --vmlinux "$tap_dir/debug" --json
expect 'no code to compare with' 0 'the file has no code to compare'
python3 - "$tap_dir/moved" "$tap_dir/patched" <<'EOP'
import sys

with open(sys.argv[1], "rb") as f:
    data = f.read()
at = data.index(b"\xe8", 64)
with open(sys.argv[2], "wb") as f:
    f.write(data[:at] + b"\x90" + data[at + 1:])
EOP
run kmem report "$trace" --vmlinux "$tap_dir/patched" --json
expect 'one site that is not behind a call' 0 'the call sites fit nowhere'

# --- an offset that is told ---

{
	echo 'ffffffff81000000 T _text'
	cat "$tap_dir/kallsyms"
} > "$tap_dir/with-text"
first=$(python3 -c 'import sys
with open(sys.argv[1]) as f:
	print("%x" % (min(int(l.split()[0], 16) for l in f) & ~0xffff))
' "$tap_dir/kallsyms")
sed "s/^ffffffff81000000/$first/" "$tap_dir/with-text" > "$tap_dir/beside"
run kmem report "$trace" --by site,function,module --json -q \
	--vmlinux "$tap_dir/debug" --kallsyms "$tap_dir/beside"
alike 'a kallsyms says where the kernel was' "$tap_dir/stdout"
run kmem report "$trace" --vmlinux "$tap_dir/moved" \
	--kallsyms "$tap_dir/with-text"
expect 'it was somewhere else' 65 'is not behind a call in it'
sed 's/^ffffffff81000000/ffffffff81000123/' "$tap_dir/with-text" \
	> "$tap_dir/askew"
run kmem report "$trace" --vmlinux "$tap_dir/debug" \
	--kallsyms "$tap_dir/askew"
expect 'no kernel was there' 65 'moved by such a number of bytes'

run kmem report "$perfdata" --json -q
mv "$tap_dir/stdout" "$tap_dir/sites"
cat > "$tap_dir/kallsyms" <<'EOP'
ffffffff81000040 T first_function
ffffffff81a65540 T load_msg
ffffffff81a65600 T store_msg
ffffffff821ea000 T last_function
EOP
vmlinux perf 0x1000000
run kmem report "$perfdata" --vmlinux "$tap_dir/perf" --json
expect 'a perf.data says it' 0 'the kernel was moved by 0x1000000'
stdout_has 'and its sites have names' '"site":"load_msg+0x41","times":288'
sed -i 's/81a655/81a656/' "$tap_dir/kallsyms"
echo '{"site":"0xffffffff81a65540"}' > "$tap_dir/sites"
vmlinux wrong 0x1000000
run kmem report "$perfdata" --vmlinux "$tap_dir/wrong"
expect 'the vmlinux of another kernel' 65 'is not behind a call in it'

# --- names of another boot ---

kallsyms=$traces/raw-6.12-x86_64/kallsyms
{
	echo 'ffffffff81000000 T _text'
	cat "$kallsyms"
	echo 'ffffffff82800000 T _etext'
	echo 'ffffffff83000000 T _sinittext'
	echo 'ffffffff83100000 T _einittext'
	echo 'ffffffff83800000 B _end'
	echo 'ffffffff81000080 T entry_SYSCALL_64'
} > "$tap_dir/whole"
run kmem report "$trace" --kallsyms "$tap_dir/whole" --json -q
expect 'borders of the kernel' 0
stdout_has 'its functions are inside' '"site":"load_msg+0x45"'
# shift NAME BYTES
shift_names() {
	python3 -c 'import sys
with open(sys.argv[1]) as f:
	for l in f:
		print("%x %s" % (int(l.split()[0], 16) + int(sys.argv[2], 0),
			l.split(None, 1)[1]), end="")
' "$tap_dir/whole" "$2" > "$tap_dir/$1"
}
shift_names far 0x8000000
run kmem report "$trace" --kallsyms "$tap_dir/far"
expect 'a kernel that was far away' 65 'the names are of another boot'
shift_names near -0x1800000
run kmem report "$trace" --kallsyms "$tap_dir/near"
expect 'a call from its data' 65 'the names are of another boot'
sed 's/.* load_msg$/ffffffff815d11e5 T load_msg/' "$kallsyms" \
	> "$tap_dir/begins"
run kmem report "$trace" --kallsyms "$tap_dir/begins"
expect 'a call in front of a function' 65 'has a call from 0xffffffff815d11e5'
cp "$tap_dir/far" "$trace/kallsyms"
run kmem report "$trace"
expect 'also of the trace itself' 65 'the names are of another boot'
run kmem report "$trace" --by family --json -q
expect 'if names are not needed they are not judged' 0
rm "$trace/kallsyms"

# --- bad files ---

run kmem report "$trace" --vmlinux "$tap_dir/not-there"
expect 'no such file' 66 'cannot open'
run kmem report "$trace" --vmlinux /etc/passwd
expect 'a file that is not a vmlinux' 65 'not an ELF file'
run kmem report "$trace" --vmlinux /bin/sh
expect 'a program' 65 'no symbols of a kernel'
head -c 5000 "$tap_dir/moved" > "$tap_dir/short"
run kmem report "$trace" --vmlinux "$tap_dir/short"
expect 'a file that was cut' 65 'cut short'
{
	echo '# tracer: nop'
	echo 'x-1 [000] 1.5: kfree: call_site=g ptr=000000004cf16a05'
} > "$tap_dir/text"
"$PAGEDET" kmem report - --vmlinux "$tap_dir/moved" < "$tap_dir/text" \
	2> "$tap_dir/once" || true
tap_run 'standard input cannot be read twice' grep -q 'can be read only once' \
	"$tap_dir/once"
run kmem report "$trace" --from live
expect 'the running kernel has a kallsyms' 64 'has names'
run kmem report "$trace" --from /etc/passwd
expect 'a dump that is none' 65 'passwd'
tap_done
