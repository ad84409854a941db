#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# Tests "make html": every link of every page leads to a file and an anchor,
# with mandoc and with groff.
. "$top_srcdir/tests/tap.sh"

make_html=$top_srcdir/scripts/make-html
links=$top_srcdir/tests/docs/links.py
: "${PYTHON3:=python3}"

if ! "$PYTHON3" -c '' 2> /dev/null; then
	tap_skip "make html" "$PYTHON3 is not installed"
	tap_done
fi
python=$("$PYTHON3" -c 'import sys; print(sys.executable)')

for program in mandoc groff; do
	if ! command -v $program > /dev/null; then
		tap_skip "make html with $program" "$program is not installed"
		continue
	fi
	html=$tap_dir/$program
	tap_run "$program: the pages are made" "$python" "$make_html" \
		--with $program "$top_srcdir" "$html"
	tap_run "$program: every link leads somewhere" "$python" "$links" "$html"
	for page in "$top_srcdir"/man/*.[137]; do
		grep -qF "man/${page##*/}.html" "$html/index.html" ||
			echo "${page##*/}: not in the index"
	done > "$tap_dir/why"
	tap_run "$program: the index has all manual pages" \
		test ! -s "$tap_dir/why"
	tap_run "$program: manual pages link to each other" \
		grep -q '<a .*href="pagedet-fields.7.html">pagedet-fields(7)</a>' \
		"$html/man/pagedet.1.html"
done

# fails NAME WORDS COMMAND...: expect COMMAND to fail and to print WORDS.
fails() {
	name=$1 words=$2
	shift 2
	if "$@" > "$tap_dir/out" 2>&1; then
		echo "it was content" >> "$tap_dir/out"
	elif grep -qF -e "$words" "$tap_dir/out"; then
		tap_ok "$name"
		return
	fi
	tap_not_ok "$name" "$tap_dir/out"
}
fails "without mandoc and groff it says so" 'neither mandoc nor groff' \
	env PATH="$tap_dir/none" "$python" "$make_html" "$top_srcdir" \
	"$tap_dir/never"

# Errors that the check of links reports.
page() {
	mkdir -p "$tap_dir/page"
	echo "<p>$1</p>" > "$tap_dir/page/index.html"
}
found() {
	page "$3"
	fails "$1 is found" "$2" "$python" "$links" "$tap_dir/page"
}
page '<b id="a">a</b> <a href="#a">a</a> <a href="index.html#a">a</a>'
tap_run "good links are let pass" "$python" "$links" "$tap_dir/page"
found "a missing file" 'no such file: b.html' '<a href="b.html">b</a>'
found "a missing anchor" 'no such anchor: #b' '<a href="#b">b</a>'
found "a picture from elsewhere" 'from outside' '<img src="https://a/b.png">'
found "an element without an end" 'does not end' '</p><p><b>a'

# Our document converter, with one line of each kind.
mkdir -p "$tap_dir/tree/docs" "$tap_dir/tree/man"
cat > "$tap_dir/tree/README.md" << 'END'
# A <title>

First line
with `code <b>`, **bold** and [words](docs/b.md#two-words).

- one
  more
- two

| a | b |
|---|---|
| `x \| y` | z |

```
code & more
```
END
: > "$tap_dir/tree/CONTRIBUTING.md"
printf '# B\n\n## Two `words`\n' > "$tap_dir/tree/docs/b.md"
mkdir "$tap_dir/bin"
printf '#!/bin/sh\n' > "$tap_dir/bin/mandoc"
chmod +x "$tap_dir/bin/mandoc"
tap_run "documents alone are made" env PATH="$tap_dir/bin" "$python" \
	"$make_html" "$tap_dir/tree" "$tap_dir/docs"
for line in '<h1 id="a-title">A &lt;title&gt;</h1>' \
	'with <code>code &lt;b&gt;</code>, <b>bold</b> and <a href="docs/b.html#two-words">words</a>.</p>' \
	'<li>one more</li>' '<tr><th>a</th><th>b</th></tr>' \
	'<tr><td><code>x | y</code></td><td>z</td></tr>' \
	'<pre>code &amp; more</pre>'; do
	tap_run "a document has $line" grep -qxF -e "$line" \
		"$tap_dir/docs/README.html"
done
tap_run "and its anchor is there" "$python" "$links" "$tap_dir/docs"
printf '[a](docs/none.md)\n' > "$tap_dir/tree/README.md"
fails "a link to a missing file is refused" 'there is no docs/none.md' \
	env PATH="$tap_dir/bin" "$python" "$make_html" "$tap_dir/tree" \
	"$tap_dir/docs"

tap_done
