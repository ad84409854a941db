# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# shellcheck shell=bash
# Completion of pagedet for bash. "pagedet complete WORD..." says what there is
# to offer; here is only how bash wants it.

_pagedet()
{
	local -a words=('')
	local i word fixed line answer='' before=''

	# bash takes "--by=kind" and "flags:dirty" apart at these characters.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word == [=:]* ]] ||
			[[ ${COMP_WORDS[i-1]} == [=:] && $i -gt 2 ]]; then
			words[-1]+=$word
		elif ((i == 1)); then
			words=("$word")
		else
			words+=("$word")
		fi
	done
	((${#words[@]} > 1)) && before=${words[-2]}
	word=${words[-1]}
	fixed=''
	[[ $word == *[=:]* ]] && fixed=${word%"${word##*[=:]}"}

	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files | :dirs)
			answer=$line ;;
		*)
			line=${line%%$'\t'*}
			COMPREPLY+=("${line#"$fixed"}") ;;
		esac
	done < <("$1" complete "${words[@]}" 2> /dev/null)
	word=${word#"$fixed"}
	if [[ $answer ]]; then
		local -a files
		[[ $answer == :dirs ]] && i=-d || i=-f
		mapfile -t files < <(compgen "$i" -- "$word")
		COMPREPLY+=("${files[@]}")
		compopt -o filenames 2> /dev/null
	fi
	# More may follow in a list, in a filter, below a cgroup.
	if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == */ ||
		$fixed == --[fbsw]*= ||
		$before == --@(fields|by|sort|where|backend) ]]; then
		compopt -o nospace 2> /dev/null
	fi
}

complete -F _pagedet pagedet
