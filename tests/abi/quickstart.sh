#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests that quickstart prints why a test failed: the log of another machine is
# often all that there is.
. "$top_srcdir/tests/tap.sh"

if ! command -v bash > /dev/null; then
	tap_skip 'reasons' 'there is no bash'
	tap_done
fi
mkdir "$tap_dir/built"
cat > "$tap_dir/built/a.log" <<'END'
ok 1 - first
PASS: a 1 - first
# said before
not ok 2 - second
FAIL: a 2 - second
# said after
ok 3 - third
PASS: a 3 - third
# of nothing
END
echo ':test-result: FAIL 2 - second' > "$tap_dir/built/a.trs"
cp "$tap_dir/built/a.log" "$tap_dir/built/b.log"
echo ':test-result: PASS 1 - first' > "$tap_dir/built/b.trs"
cat > "$tap_dir/expected" <<'END'
  a.trs:
    # said before
    not ok 2 - second
    # said after
    its last line: # of nothing
END
sed -n '/^say_reasons()/,/^}/p' "$top_srcdir/quickstart" > "$tap_dir/function"
bash -c '. "$1"; build=$2 reasons=8; say_reasons' - "$tap_dir/function" \
	"$tap_dir/built" > "$tap_dir/said" 2>&1 || :
tap_run 'the reasons of a failed test are printed' \
	diff "$tap_dir/expected" "$tap_dir/said"
tap_done
