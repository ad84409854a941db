#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests completion of command lines, by the command itself, and through bash,
# zsh and fish as they really call it.
. "$top_srcdir/tests/cli/cli.sh"

completion=$top_srcdir/tools/completion

# offers NAME CANDIDATE WORD...
offers() {
	offers_name=$1
	offers_what=$2
	shift 2
	run complete "$@"
	tap_run "$offers_name" sh -c 'cut -f 1 "$1" | grep -Fqx -e "$2"' sh \
		"$tap_dir/stdout" "$offers_what"
}
# offers_not NAME PATTERN WORD...
offers_not() {
	offers_name=$1
	offers_what=$2
	shift 2
	run complete "$@"
	tap_run "$offers_name: something else" test -s "$tap_dir/stdout"
	tap_fails "$offers_name" grep -q -e "$offers_what" "$tap_dir/stdout"
}

# exactly the commands and options of the help
run help
cp "$tap_dir/stdout" "$tap_dir/help"
sed -n '/^Commands/,/^Options/p' "$tap_dir/help" |
	awk '/^  [a-z]/ { if (name) print name; name = $1 }
	     / \*$/ { name = "" }
	     END { if (name) print name; print "help" }' | sort \
	> "$tap_dir/has"
run complete ''
cut -f 1 "$tap_dir/stdout" | sort > "$tap_dir/offered"
tap_run 'all commands that are in this version' \
	diff "$tap_dir/has" "$tap_dir/offered"
"$PAGEDET" help options |
	sed -n 's/^  \(-[a-zA-Z0], \)\{0,1\}\(--[a-z-]*\).*/\2/p' | sort \
	> "$tap_dir/has"
run complete --
cut -f 1 "$tap_dir/stdout" | sort > "$tap_dir/offered"
tap_run 'all options' diff "$tap_dir/has" "$tap_dir/offered"

offers 'a command that was begun' scan sc
offers 'an option of a command' --by scan --b
offers_not 'no option that the command has no use for' '^--by' doctor --
offers 'a field to count by' memcg_path scan --by mem
offers 'the last field of a list' kind,memcg_path scan --by kind,memcg_p
offers 'behind an equals sign' --by=kind scan --by=ki
offers 'a group of fields' owner scan --fields own
offers 'a kind' kind=anon scan --where kind=an
offers 'a flag' flags:dirty scan --where flags:di
offers 'a flag alone' dirty scan --where dir
offers 'within an expression' 'kind=anon and flags:dirty' scan --where \
	'kind=anon and flags:dir'
offers 'a format' json scan --format j
offers 'a source' procfs scan --backend pro
offers 'what to explain' free,leak explain --why free,l
offers 'a file' :files file ''
offers 'a directory' :dirs tree ''
offers 'where to read' live --from l
offers 'a file to read' :files --from /
offers 'where else to read' live compare --with l
offers 'a process to compare' self compare se
offers 'a page of help' where help wh
offers 'a part of check' clean check cl
offers 'ourselves' self task se
offers 'a process by number' $$ task "$$"
offers 'an area of a process' '[stack]' virt $$ '[st'
offers 'a part of kmem' timeline kmem ti
offers 'a trace' :files kmem report ''
offers 'a group of allocations' lifetime kmem report --by li
offers 'behind another one' site,module kmem report --by site,mo
offers 'a group of owners' page_mobility owners --by page_m
offers 'a group of objects' access_site kmap report --by access_s
offers 'an order of tasks' start_ns tasks --sort st
offers_not 'no field of pages for tasks' '^pfn' tasks --sort ''
offers 'an order of owners' oldest owners --sort ol
offers_not 'no field of pages for owners' '^pfn' owners --sort=''
offers 'an order of processes that map a file' copied mappers /bin/sh \
	--sort co
offers_not 'no field of pages for them' '^pfn' mappers /bin/sh --sort ''
offers 'an order of mappings' vaddr mappers 12 --sort va
offers 'an order of top' uss top --sort us
offers_not 'no field of pages for top' '^pfn' top --sort ''
offers 'an order of allocations' live_bytes kmem report x --sort live_
offers 'an order of pages' mapcount scan --sort mapc
offers 'pages of a process' virt explain vi
run complete scan --deadline ''
tap_fails 'nothing for a number' test -s "$tap_dir/stdout"
# where memory cgroups are mounted, which may be beside other hierarchies
cgroups=/sys/fs/cgroup
[ ! -e "$cgroups/memory/cgroup.procs" ] || cgroups=$cgroups/memory
some=$(find "$cgroups" -mindepth 1 -maxdepth 1 -type d ! -name '.*' \
	2> /dev/null | head -n 1)
if [ -n "$some" ] && [ -e "$cgroups/cgroup.procs" ]; then
	offers 'a cgroup' "/${some##*/}/" cgroup /
	offers 'a cgroup in a filter' "memcg_path=/${some##*/}" scan --where \
		memcg_path=/
	offers 'behind another test' "anon and cgroup=/${some##*/}" scan \
		--where 'anon and cgroup='
	offers_not 'no other hierarchy' '^/memory/' cgroup /
else
	tap_skip 'a cgroup' 'there is none here'
fi

# bash, with words split as it does
cat > "$tap_dir/ask.bash" << 'END'
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_pagedet "$1"
printf '%s\n' "${COMPREPLY[@]}"
END
# bash_offers NAME CANDIDATE WORD...
bash_offers() {
	bash_name=$1
	bash_what=$2
	shift 2
	bash "$tap_dir/ask.bash" "$completion/pagedet.bash" "$PAGEDET" "$@" \
		> "$tap_dir/offered"
	tap_run "$bash_name" grep -Fqx -e "$bash_what" "$tap_dir/offered"
}
if command -v bash > /dev/null; then
	bash_offers 'bash: a command' scan sc
	bash_offers 'bash: a field' kind scan --by ki
	bash_offers 'bash: behind an equals sign' kind scan --by = ki
	bash_offers 'bash: nothing behind it yet' kind scan --by =
	bash_offers 'bash: a flag behind a colon' dirty scan --where flags : di
	touch "$tap_dir/notes"
	bash_offers 'bash: a file' "$tap_dir/notes" file "$tap_dir/no"
	bash_offers 'bash: an option' --where scan --wh
else
	tap_skip 'bash' 'it is not installed'
fi

if command -v fish > /dev/null; then
	mkdir "$tap_dir/bin"
	ln -s "$PAGEDET" "$tap_dir/bin/pagedet"
	PATH=$tap_dir/bin:$PATH HOME=$tap_dir fish -c "
		source '$completion/pagedet.fish'
		complete -C 'pagedet scan --by memcg_p'" \
		> "$tap_dir/offered"
	tap_run 'fish: a field' grep -q '^memcg_path' "$tap_dir/offered"
else
	tap_skip 'fish' 'it is not installed'
fi

if command -v zsh > /dev/null; then
	tap_run 'zsh reads it' zsh -n "$completion/_pagedet"
	cat > "$tap_dir/ask.zsh" << 'END'
compadd() { print -l -- $names }
_files() { print files }
words=("${(@)argv[2,-1]}")
CURRENT=$#words
. $1
END
	zsh -f "$tap_dir/ask.zsh" "$completion/_pagedet" "$PAGEDET" scan --by \
		memcg_p > "$tap_dir/offered"
	tap_run 'zsh: a field' grep -qx memcg_path "$tap_dir/offered"
else
	tap_skip 'zsh' 'it is not installed'
fi

tap_done
