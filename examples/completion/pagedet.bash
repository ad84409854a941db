# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# shellcheck shell=bash
# Completion of pagedet's commands, options and arguments for bash. Field names
# are asked of the command itself, so that they are those of the library that
# is installed.

# What starts with $1, out of the words behind it.
_pagedet_words()
{
	local word=$1
	shift
	mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word")
}

# The last element of the LIST $1, out of the words behind it.
_pagedet_list()
{
	local word=$1 begin=''
	shift
	[[ $word == *,* ]] && begin=${word%,*},
	mapfile -t COMPREPLY < <(compgen -P "$begin" -W "$*" -- "${word##*,}")
	compopt -o nospace 2> /dev/null
}

_pagedet_files()
{
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
	compopt -o filenames 2> /dev/null
}

_pagedet_dirs()
{
	mapfile -t COMPREPLY < <(compgen -d -- "$1")
	compopt -o filenames 2> /dev/null
}

_pagedet_fields()
{
	"$1" help fields 2> /dev/null | awk 'NR > 1 { print $1 }'
}

_pagedet_groups()
{
	echo cheap all everything
	"$1" help fields 2> /dev/null | awk 'NR > 1 { print $2 }' | sort -u
}

_pagedet_pids()
{
	local dir
	for dir in /proc/[0-9]*; do
		echo "${dir#/proc/}"
	done
}

# The value of option $1, as far as $2. Fails if the option takes none.
_pagedet_value()
{
	case $1 in
	--backend)
		_pagedet_list "$2" procfs page_detective page_owner bpf kcore \
			vmcore snapshot log ;;
	--fields)
		_pagedet_list "$2" "$(_pagedet_fields "$3")" \
			"$(_pagedet_groups "$3")" ;;
	--by)
		_pagedet_list "$2" "$(_pagedet_fields "$3")" ;;
	--format)
		_pagedet_words "$2" text json csv arrow ;;
	--why)
		_pagedet_list "$2" free migrate pinned reclaim charge poison \
			leak ;;
	--layout)
		_pagedet_words "$2" hilbert linear ;;
	--as)
		_pagedet_words "$2" memory page folio ;;
	--root)
		_pagedet_dirs "$2" ;;
	--sort)
		_pagedet_words "$2" pages times oldest newest keys ;;
	-o | --output | --vmlinux | --btf | --vmcoreinfo | --hash-key | \
	--since | --before | --flame | --peer | --save)
		_pagedet_files "$2" ;;
	--from)
		_pagedet_files "$2"
		[[ live == "$2"* ]] && COMPREPLY+=(live) ;;
	--where | --threads | --deadline | --top | --window | --sent | --watch)
		COMPREPLY=() ;;
	*)
		return 1 ;;
	esac
}

# Does this option take the next word as its value?
_pagedet_takes_value()
{
	case $1 in
	--backend | --fields | --by | --format | --as | --root | -o | --output | \
	--vmlinux | --btf | --vmcoreinfo | --hash-key | --since | --from | \
	--where | --threads | --deadline | --sort | --top | --window | \
	--before | --flame | --layout | --why | --sent | --peer | --save | \
	--watch)
		return 0 ;;
	esac
	return 1
}

_pagedet()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	local commands='page phys virt task file tree mount block cgroup kaddr
		from-log scan mappers stack explain check snapshot diff owners
		kmem kmap map doctor help'
	local options='--from --backend --fields --format --json --output
		--where --by --summary --runs --undecided --threads --deadline
		--progress --no-progress --root --vmlinux --btf --vmcoreinfo
		--hash-key --pointers --as --stacks --sort --top --window
		--before --flame --folded --layout --why --sent --peer --save
		--tap --since --watch --text-only --quiet
		--verbose --help --version'
	local command='' i

	COMPREPLY=()
	# "--name=value" comes as three words.
	if [[ $word == '=' ]]; then
		word=''
	elif [[ $before == '=' ]] && ((COMP_CWORD > 2)); then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	_pagedet_value "$before" "$word" "$1" && return
	if [[ $word == -* ]]; then
		_pagedet_words "$word" "$options"
		return
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		if _pagedet_takes_value "${COMP_WORDS[i]}"; then
			[[ ${COMP_WORDS[i+1]} == '=' ]] && ((i++))
			((i++))
		elif [[ ${COMP_WORDS[i]} != -* ]]; then
			command=${COMP_WORDS[i]}
			break
		fi
	done
	case $command in
	'')
		_pagedet_words "$word" "$commands" ;;
	help)
		_pagedet_words "$word" "$commands" fields where ;;
	explain)
		if [[ $before == explain ]]; then
			_pagedet_words "$word" page mismatch
		fi ;;
	task | virt)
		_pagedet_words "$word" "$(_pagedet_pids)" ;;
	tree | cgroup)
		_pagedet_dirs "$word" ;;
	file | mount | block | from-log | snapshot | owners)
		_pagedet_files "$word" ;;
	diff | map)
		_pagedet_files "$word"
		[[ live == "$word"* ]] && COMPREPLY+=(live) ;;
	check)
		if [[ $before == check ]]; then
			_pagedet_words "$word" clean disk stable absent \
				committed mark errors
		else
			_pagedet_files "$word"
		fi ;;
	explain)
		[[ $before == explain ]] &&
			_pagedet_words "$word" page mismatch ;;
	kmem)
		_pagedet_words "$word" record report check ;;
	kmap)
		_pagedet_words "$word" report on off clear stats ;;
	esac
}

complete -F _pagedet pagedet
