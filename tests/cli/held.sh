#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs image
# Tests "explain page" for pages that are held without being mapped, on the
# running kernel, through a source that has their references.
. "$top_srcdir/tests/cli/cli.sh"

mkfifo "$tap_dir/stop"
"$top_builddir/tests/cli/held" < "$tap_dir/stop" > "$tap_dir/held" &
exec 5> "$tap_dir/stop"
is_held_or_ended() {
	grep -q done "$tap_dir/held" || tap_ended "$!"
}
tap_wait is_held_or_ended

# page NAME: set $pfn to the frame of the page, or $reason if there is none.
page() {
	address=$(sed -n "s/^$1 //p" "$tap_dir/held")
	pfn=
	reason='this kernel has no such page, or not for us'
	case $address in
	-) return 0 ;;
	pfn*) pfn=${address#pfn } ;;
	*) run virt "$!" "$address" --json --fields pfn
		pfn=$(sed -n 's/{"pfn":\([0-9]*\)}/\1/p' "$tap_dir/stdout") ;;
	esac
	reason='the kernel does not say which page it is'
	[ -n "$pfn" ] || return 0
	run page "$pfn" --json --fields refcount
	grep -q '"refcount":[0-9]' "$tap_dir/stdout" || pfn=
	reason='no source here has references'
}

# New pages wait in a batch of their processor, which holds a reference. The
# kernel moves all of them to the LRU lists (mm/fadvise.c, lru_add_drain_all())
# if a cached page cannot be dropped, because it is mapped.
"$PYTHON3" - "$tap_dir/mapped" << 'END'
import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(fd, bytes(mmap.PAGESIZE))
os.fsync(fd)
with mmap.mmap(fd, mmap.PAGESIZE) as page:
    page[0]
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
END
# are_moved: whether these pages are on the lists
are_moved() {
	for name in pipe socket zerocopy message io_uring aio; do
		page "$name"
		[ -n "$pfn" ] || continue
		run page "$pfn" --json --fields flags
		! grep -q '"flags":\[' "$tap_dir/stdout" ||
			grep -q '"lru"' "$tap_dir/stdout" || return 1
	done
}
tap_wait are_moved || :

# says NAME WHY TEXT...: expect each TEXT in the explanation of the page.
says() {
	says_name=$1
	says_why=$2
	shift 2
	page "$says_name"
	if [ -z "$pfn" ]; then
		tap_skip "$says_name: $says_why" "$reason"
		return
	fi
	run explain page "$pfn" --why "$says_why" --json
	for says_text; do
		stdout_has "$says_name: $says_why: $says_text" "$says_text"
	done
	tap_fails "$says_name: $says_why: it is not said to pass" \
		grep -q 'this state should pass' "$tap_dir/stdout"
}

says secret migrate '"finding":"secret-stays"' 'memfd_secret' \
	'"field":"kernel_maps","value":0'
for name in pipe socket; do
	says $name migrate '"finding":"referenced"' \
		'"field":"references_unexplained","value":1' 'io_uring'
	says $name pinned '"finding":"held"' \
		'"field":"references_unexplained","value":1'
done
# Several packets may hold parts of the page.
says zerocopy migrate '"finding":"referenced"' \
	'"field":"references_unexplained","value":'
says zerocopy pinned '"finding":"held"' \
	'"field":"references_unexplained","value":'
# References and mappings are counted for the whole folio.
says huge pinned '"finding":"held"' '"field":"folio_mapcount","value":1,' \
	'"field":"references_expected","value":1,' \
	'"field":"references_unexplained","value":1,'
# The message holds the file, and the file holds its page. So every reference is
# explained, and the page stays as long as the message.
says message free '"finding":"page-cache"' 'until the file is removed'
says message migrate '"finding":"movable"' \
	'"field":"references_unexplained","value":0'
says io_uring migrate '"finding":"pinned-stays"' \
	'"field":"references_unexplained","value":1024'
says aio migrate '"finding":"referenced"' \
	'"field":"references_unexplained","value":1'
says packet migrate '"finding":"kernel-stays"' 'whether its driver can move it'
says packet pinned '"finding":"not-pinned"' \
	'"field":"references_expected","value":2'
says perf pinned '"finding":"not-pinned"'
says vdso migrate '"finding":"kernel-stays"'
exec 5>&-
tap_done
