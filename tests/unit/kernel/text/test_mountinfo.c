/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests parsing of lines of /proc/PID/mountinfo. */
#include "kernel/text/mountinfo.h"
#include "../../unit.h"

/* Copies the line to memory of exact size. */
static char *text;
static struct pdet_mount mount;

static bool parse(const char *line, size_t len)
{
	free(text);
	text = unit_exact(line, len);
	memset(&mount, 0xaa, sizeof(mount));
	return pdet_mountinfo_line((struct pdet_scan){ text, text + len },
				   &mount);
}

static const char *plain(struct pdet_scan field)
{
	static char buf[256];
	size_t len;

	ck_assert(pdet_mountinfo_text(field, buf, sizeof(buf), &len));
	ck_assert_uint_eq(strlen(buf), len);
	return buf;
}

static const struct {
	const char *line;
	uint64_t id, parent, major, minor;
	const char *root, *point, *options, *fstype, *source, *super;
} lines[] = {
	{ "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,e=c",
	  36, 35, 98, 0, "/mnt1", "/mnt2", "rw,noatime", "ext3", "/dev/root",
	  "rw,e=c" },
	{ "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
	  22, 1, 254, 0, "/", "/", "rw,relatime", "ext4", "/dev/vda", "rw" },
	{ "1 0 0:1 / / rw shared:1 master:2 propagate_from:3 unbindable - "
	  "rootfs rootfs rw",
	  1, 0, 0, 1, "/", "/", "rw", "rootfs", "rootfs", "rw" },
	/* Names with a blank, a tab, a newline and a backslash. */
	{ "4294967296 7 4095:1048575 /a\\040b /t\\011n\\012x\\134 ro - tmpfs "
	  "so\\040urce ro,size=1k",
	  4294967296, 7, 4095, 1048575, "/a b", "/t\tn\nx\\", "ro", "tmpfs",
	  "so urce", "ro,size=1k" },
	/* A mount without a source; bytes above 127. */
	{ "40 22 0:40 / /\303\244 rw -  tmpfs rw", 40, 22, 0, 40, "/",
	  "/\303\244", "rw", "", "tmpfs", "rw" },
	{ "40 22 0:40 / /x rw - tmpfs  rw", 40, 22, 0, 40, "/", "/x", "rw",
	  "tmpfs", "", "rw" },
	/* A mount point with the name of the separator. */
	{ "40 22 0:40 - - rw - tmpfs - rw", 40, 22, 0, 40, "-", "-", "rw",
	  "tmpfs", "-", "rw" },
	/* The source of a bind mount was removed. */
	{ "50 22 254:0 /gone//deleted /p rw - ext4 /dev/vda rw", 50, 22, 254,
	  0, "/gone//deleted", "/p", "rw", "ext4", "/dev/vda", "rw" },
};

START_TEST(lines_are_read)
{
	bool fits = *lines[_i].fstype;

	ck_assert(parse(lines[_i].line, strlen(lines[_i].line)) == fits);
	if (!fits)
		return;
	ck_assert_uint_eq(mount.id, lines[_i].id);
	ck_assert_uint_eq(mount.parent, lines[_i].parent);
	ck_assert_uint_eq(mount.dev, lines[_i].major << 32 | lines[_i].minor);
	ck_assert_str_eq(plain(mount.root), lines[_i].root);
	ck_assert_str_eq(plain(mount.point), lines[_i].point);
	ck_assert_str_eq(plain(mount.options), lines[_i].options);
	ck_assert_str_eq(plain(mount.fstype), lines[_i].fstype);
	ck_assert_str_eq(plain(mount.source), lines[_i].source);
	ck_assert_str_eq(plain(mount.super_options), lines[_i].super);
}
END_TEST

/* A line that is cut before its last field is rejected. */
START_TEST(cut_lines_are_refused)
{
	const char *line = lines[0].line;
	size_t len, last = (size_t)(strrchr(line, ' ') - line) + 1;

	for (len = 0; len <= last; len++)
		ck_assert_msg(!parse(line, len), "%.*s", (int)len, line);
	ck_assert(parse(line, last + 1));
}
END_TEST

static const char *const wrong[] = {
	"",
	" 36 35 98:0 / / rw - ext3 /dev/root rw",
	"36 35 98:0 / / rw master:1 ext3 /dev/root rw",
	"36 35 98 / / rw - ext3 /dev/root rw",
	"36 35 98:x / / rw - ext3 /dev/root rw",
	"36 35 4294967296:0 / / rw - ext3 /dev/root rw",
	"36 35 0:4294967296 / / rw - ext3 /dev/root rw",
	"18446744073709551616 35 0:0 / / rw - ext3 /dev/root rw",
	"-1 35 98:0 / / rw - ext3 /dev/root rw",
	"36 35 98:0  / rw - ext3 /dev/root rw",
	"36 35 98:0 /  rw - ext3 /dev/root rw",
	"36 35 98:0 / / rw -",
	"36 35 98:0 / / rw - ext3",
};

START_TEST(other_lines_are_refused)
{
	ck_assert(!parse(wrong[_i], strlen(wrong[_i])));
}
END_TEST

START_TEST(texts_are_bounded)
{
	const char *line = lines[0].line;
	char buf[7] = "??????";
	size_t len = 77;

	ck_assert(parse(line, strlen(line)));
	ck_assert(!pdet_mountinfo_text(mount.point, buf, 5, &len));
	ck_assert_str_eq(buf, "??????");
	ck_assert_uint_eq(len, 77);
	ck_assert(!pdet_mountinfo_text(mount.point, buf, 0, &len));
	ck_assert(pdet_mountinfo_text(mount.point, buf, 6, &len));
	ck_assert_str_eq(buf, "/mnt2");
	ck_assert_uint_eq(len, 5);
}
END_TEST

static const struct {
	const char *options, *name;
	bool has;
} options[] = {
	{ "rw,memory", "memory", true },
	{ "memory", "memory", true },
	{ "memory,rw", "memory", true },
	{ "rw,name=memory", "memory", false },
	{ "rw,memory2", "memory", false },
	{ "rw,memor", "memory", false },
	{ "", "memory", false },
	{ ",,memory", "memory", true },
	{ "rw,", "memory", false },
};

START_TEST(options_are_found)
{
	size_t len = strlen(options[_i].options);
	char *list = unit_exact(options[_i].options, len);

	ck_assert(pdet_mount_has((struct pdet_scan){ list, list + len },
				 options[_i].name) == options[_i].has);
	free(list);
}
END_TEST

/* Facts that mountinfo tells about filesystems. */
static const struct {
	const char *line;
	bool shows;
} owners[] = {
	{ "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard", true },
	{ "46 27 7:1 / /x rw,relatime - xfs /dev/loop1 rw,noquota", true },
	{ "53 27 0:45 / /b rw - btrfs /dev/loop4 rw,subvolid=5,subvol=/",
	  true },
	{ "25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw,size=24684096k",
	  true },
	{ "61 27 0:50 / /h rw - hugetlbfs none rw,pagesize=2M", true },
	{ "55 27 0:48 / /o rw - overlay o rw,lowerdir=l,upperdir=u,workdir=w",
	  false },
	{ "24 27 0:6 / /dev rw - devtmpfs devtmpfs rw,size=12334524k",
	  false },
	/* A device node passed to a container, and its own /dev. */
	{ "77 70 0:6 /null /dev/null rw - devtmpfs devtmpfs rw", false },
	{ "71 70 0:52 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k", false },
	{ "72 70 0:53 / /devil rw,nosuid - tmpfs tmpfs rw", true },
	{ "80 27 0:60 / /s rw - fuse.sshfs host: rw,user_id=0", false },
	{ "81 27 8:1 / /n rw - fuseblk /dev/sda1 rw,user_id=0", false },
	{ "82 27 0:61 / /p rw - fuse /dev/fuse rw,user_id=0", false },
	{ "83 27 0:62 / /c rw - fusectl fusectl rw", true },
	{ "84 27 0:63 / /v rw - virtiofs share rw", true },
	{ "85 27 0:64 / /e ro - erofs image ro,user_xattr", true },
	{ "85 27 0:64 / /e ro - erofs image ro,inode_share", false },
	{ "86 27 0:65 / /a rw - aufs none rw,si=c2ee3cb0", false },
	{ "87 27 0:66 / /coda rw - coda none rw", false },
};

START_TEST(owners_are_shown_or_not)
{
	ck_assert(parse(owners[_i].line, strlen(owners[_i].line)));
	ck_assert_msg(pdet_mount_shows_owner(&mount) == owners[_i].shows,
		      "%s", owners[_i].line);
}
END_TEST

/* The kernel's text about this process. */
START_TEST(own_mounts_are_read)
{
	FILE *f = fopen("/proc/self/mountinfo", "r");
	char line[8192];
	int n = 0;

	if (!f)
		unit_skip("there is no /proc/self/mountinfo");
	while (fgets(line, sizeof(line), f)) {
		ck_assert_msg(parse(line, strcspn(line, "\n")), "%s", line);
		ck_assert_int_eq(*plain(mount.point), '/');
		n++;
	}
	fclose(f);
	ck_assert_int_gt(n, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mountinfo");

	unit_loop(s, lines_are_read, sizeof(lines) / sizeof(*lines));
	unit_test(s, cut_lines_are_refused);
	unit_loop(s, other_lines_are_refused, sizeof(wrong) / sizeof(*wrong));
	unit_test(s, texts_are_bounded);
	unit_loop(s, options_are_found, sizeof(options) / sizeof(*options));
	unit_loop(s, owners_are_shown_or_not,
		  sizeof(owners) / sizeof(*owners));
	unit_test(s, own_mounts_are_read);
	return unit_main(s);
}
