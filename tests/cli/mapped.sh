#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
# Tests files of a captured tree: their pages are known only where tasks map
# them, and every answer says so.
. "$top_srcdir/tests/cli/cli.sh"

root=$tap_dir/root
"$top_builddir/tests/fixtures/mkproc" \
	"$top_srcdir/tests/golden/cli-mapped.scenario" "$root"

ask() {
	run --root "$root" --json "$@"
}

# shows NAME ROWS ARGUMENTS...: checks the rows, and that there may be more
shows() {
	shows_name=$1
	shows_rows=$2
	shift 2
	ask "$@"
	expect "$shows_name: it is said that there may be more" 2 \
		'shows only those that a task maps'
	stdout_is "$shows_name" "$shows_rows"
}

# cannot NAME STATUS WORDS ARGUMENTS...: checks a failure without rows
cannot() {
	cannot_name=$1
	cannot_status=$2
	cannot_words=$3
	shift 3
	ask "$@"
	expect "$cannot_name" "$cannot_status" "$cannot_words"
	stdout_is "$cannot_name: no row" ''
}

# --- the pages of a file ---

a='{"pfn":256,"index":0}
{"pfn":257,"index":1}
{"pfn":258,"index":2}
{"pfn":259,"index":3}
{"pfn":261,"index":5}
{"pfn":262,"index":6}
{"pfn":263,"index":7}
{"pfn":266,"index":10}'
shows 'each page once, in order, without copies' "$a" \
	file /lib/a --fields index,pfn
shows 'what is known of a page' \
	'{"pfn":256,"kind":"file","mapcount":2,"dev":"8:1","inode":100,"index":0,"path":"/lib/a","notes":[]}' \
	file /lib/a 0 --fields pfn,kind,mapcount,dev,inode,index,path,notes \
	--where 'flags:lru and !flags:anon'
for threads in 1 2 7; do
	ask file /lib/a --fields index,pfn --threads $threads
	stdout_is "with $threads threads" "$a"
done
for path in lib/a ./lib/a //lib/./a /lib/a/; do
	ask file "$path" --fields index,pfn
	stdout_is "the same as '$path'" "$a"
done
shows 'a range' '{"pfn":258,"index":2}
{"pfn":259,"index":3}' file /lib/a 2+3 --fields index,pfn
shows 'ranges, in the order asked' '{"ask":0,"pfn":263,"index":7}
{"ask":0,"pfn":266,"index":10}
{"ask":1,"pfn":257,"index":1}
{"ask":3,"pfn":257,"index":1}' \
	file /lib/a 7+9 1 4 1 --fields ask,index,pfn
shows 'to the last page there can be' '{"pfn":266,"index":10}' \
	file /lib/a 8+0xfffffffffffffff7 --fields index,pfn
shows 'counted' '{"kind":"file","path":"/lib/a","pages":8,"bytes":32768}
{"total":{"pages":8,"bytes":32768,"undecided":0,"complete":false,"visited":8,"wanted":null}}' \
	file /lib/a --by kind,path
shows 'folded' '{"index":0,"pages":4}
{"index":5,"pages":3}
{"index":10,"pages":1}' file /lib/a --runs --fields index
shows 'a name with blank and newline' '{"index":0,"path":"/tmp/with blank\nand newline"}
{"index":1,"path":"/tmp/with blank\nand newline"}' \
	file '/tmp/with blank
and newline' --fields index,path
cannot 'nothing of it is in memory' 2 'shows only those that a task maps' \
	file /lib/empty
cannot 'nobody maps it' 2 'no task that could be read maps it' file /lib/none
cannot 'nobody maps it: why that is all' 2 'hint: a captured tree' \
	file /lib/none
ask file /lib/a --fields index -q
expect 'quietly' 2
cannot 'the deadline' 2 'the deadline passed first' \
	file /lib/a --deadline 0.000001

# --- names ---

shows 'another name of it' "$a" file '/usr/hard link' --fields index,pfn
shows 'a deleted file' \
	'{"pfn":272,"index":0,"path":"/lib/old (deleted)"}' \
	file /lib/old --fields pfn,index,path
shows 'a deleted file, as maps shows it' \
	'{"pfn":272,"index":0,"path":"/lib/old (deleted)"}' \
	file '/lib/old (deleted)' --fields pfn,index,path
shows 'a file that has taken the place of a deleted one' \
	'{"pfn":274,"inode":112,"path":"/lib/both"}' \
	file /lib/both --fields pfn,inode,path
shows 'the deleted one' '{"pfn":273,"inode":111,"path":"/lib/both (deleted)"}' \
	file '/lib/both (deleted)' --fields pfn,inode,path
cannot 'the kernel has files of this name' 2 'only a file of that name elsew' \
	file /dev/zero
shows 'one of these, by its full name' \
	'{"pfn":384,"kind":"shmem","missing":{"dev":"unsupported"}}' \
	file '/dev/zero (deleted)' --fields pfn,kind,dev --where 'kind=shmem'
cannot 'several of one name' 2 'tasks map 2 files of that name' \
	file '/memfd:twice (deleted)'
cannot 'a file of a container' 2 'only a file of that name elsewhere' \
	file /lib/inside

# --- captures of different times, hidden data ---

shows 'what was copied at different times' \
	'{"pfn":304,"kind":"file","index":0,"notes":["torn"]}
{"pfn":305,"kind":"file","index":0,"notes":["torn"]}
{"pfn":512,"kind":"free","index":1,"notes":["torn"]}
{"pfn":513,"kind":"anon","index":2,"notes":["torn"]}' \
	file /var/moving --fields pfn,index,notes,kind
shows 'hidden numbers' \
	'{"index":0,"missing":{"pfn":"no_access"}}
{"pfn":306,"index":1}
{"index":2,"missing":{"pfn":"no_access"}}' \
	file /var/hidden --fields pfn,index
shows 'a pagemap that was cut' '{"pfn":308,"index":0}' \
	file /var/cut --fields pfn,index
cannot 'a maps that was cut' 2 'no task' file /var/lost
ask file /lib/a --fields index
expect 'tasks of which something is missing' 2 '2 tasks ended meanwhile'
cannot 'a task that could not be read' 2 'no task that could be read maps it' \
	file /var/unread

# --- directories, filesystems, block devices ---

shows 'a directory' '{"path":"/lib/a","pages":8,"bytes":32768}
{"path":"/lib/both","pages":1,"bytes":4096}
{"total":{"pages":9,"bytes":36864,"undecided":0,"complete":false,"visited":9,"wanted":null}}' tree /lib/ --by path
ask tree / --by path
stdout_is 'all: one filesystem, what has a name there' \
	'{"path":"/lib/a","pages":8,"bytes":32768}
{"path":"/var/moving","pages":4,"bytes":16384}
{"path":"/var/hidden","pages":3,"bytes":12288}
{"path":"/tmp/with blank\nand newline","pages":2,"bytes":8192}
{"path":"/lib/both","pages":1,"bytes":4096}
{"path":"/var/cut","pages":1,"bytes":4096}
{"total":{"pages":19,"bytes":77824,"undecided":0,"complete":false,"visited":19,"wanted":null}}'
shows 'files in order of their names' \
	'{"pfn":288,"index":0,"path":"/home/u/f"}
{"pfn":289,"index":1,"path":"/home/u/f"}' tree home --fields pfn,index,path
shows 'a directory that is mounted elsewhere, too' \
	'{"pfn":290,"path":"/srv/bound/f"}' tree /srv/bound --fields pfn,path
shows 'on overlayfs: whose pages they are is not known' \
	'{"pfn":291,"path":"/merged/real"}' tree /merged --fields pfn,path
shows 'subvolumes: the same inode is two files' \
	'{"pfn":293,"dev":"0:30","inode":5,"path":"/pool/sub1/f"}
{"pfn":294,"dev":"0:30","inode":5,"path":"/pool/sub2/f"}' \
	tree /pool --fields pfn,dev,inode,path
shows 'a file in a subvolume' '{"pfn":294}' file /pool/sub2/f --fields pfn
shows 'a mount with a blank in its name' \
	'{"pfn":295,"path":"/media/my disk/f"}' \
	mount '/media/my disk/any' --fields pfn,path
shows 'a mount, by a file on it' '{"pfn":388,"kind":"shmem"}' \
	mount /dev/shm/f --fields pfn,kind
shows 'a mount: what containers have of it' '{"inode":200,"pages":2,"bytes":8192}
{"inode":100,"pages":1,"bytes":4096}
{"inode":101,"pages":1,"bytes":4096}
{"total":{"pages":4,"bytes":16384,"undecided":0,"complete":false,"visited":4,"wanted":null}}' mount /home --by inode
cannot 'nobody maps a file there' 2 'no task that could be read maps a file' \
	tree /opt
cannot 'a block device' 69 'does not show the cached pages of a block device' \
	block /dev/sda 0+8
rm "$root/proc/self/mountinfo"
cannot 'without a table of mounts: a mount' 69 'needs /proc/self/mountinfo' \
	mount /home
cannot 'without a table of mounts: names of containers' 2 \
	'tasks map 2 files of that name' file /lib/a
shows 'without a table of mounts: one name' '{"pfn":274}' \
	file /lib/both --fields pfn
mkdir -p "$root/proc/1"
echo '20 1 8:1 / / rw - ext4 /dev/sda1 rw' > "$root/proc/1/mountinfo"
shows 'the table of mounts of task 1' '{"pfn":256}' file /lib/a 0 --fields pfn

tap_done
