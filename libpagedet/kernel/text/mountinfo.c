/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses mountinfo. Exactly one blank separates fields: a source may be empty,
 * and blanks inside a field are escaped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "kernel/text/mountinfo.h"

/* The text up to the next blank or the end. It may be empty. */
static struct pdet_scan field(struct pdet_scan *line)
{
	const char *blank = NULL;
	struct pdet_scan ret;

	ret.at = line->at;
	if (line->at < line->end)
		blank = memchr(line->at, ' ', (size_t)(line->end - line->at));
	ret.end = blank ? blank : line->end;
	line->at = blank ? blank + 1 : line->end;
	return ret;
}

/* Skip the optional fields, such as "master:1", up to and including the "-". */
static bool skip_tags(struct pdet_scan *line)
{
	struct pdet_scan tag;

	while (line->at < line->end) {
		tag = field(line);
		if (pdet_scan_is(&tag, "-"))
			return true;
	}
	return false;
}

bool pdet_mountinfo_line(struct pdet_scan line, struct pdet_mount *ret)
{
	struct pdet_mount m;
	uint64_t major, minor;

	if (!pdet_scan_dec(&line, &m.id) || !pdet_scan_char(&line, ' ') ||
	    !pdet_scan_dec(&line, &m.parent) || !pdet_scan_char(&line, ' ') ||
	    !pdet_scan_dec(&line, &major) || !pdet_scan_char(&line, ':') ||
	    !pdet_scan_dec(&line, &minor) || !pdet_scan_char(&line, ' ') ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	m.dev = major << 32 | minor;
	m.root = field(&line);
	m.point = field(&line);
	m.options = field(&line);
	if (m.root.at == m.root.end || m.point.at == m.point.end ||
	    !skip_tags(&line))
		return false;
	m.fstype = field(&line);
	m.source = field(&line);
	m.super_options = field(&line);
	if (m.fstype.at == m.fstype.end ||
	    m.super_options.at == m.super_options.end)
		return false;
	*ret = m;
	return true;
}

bool pdet_mount_has(struct pdet_scan options, const char *name)
{
	struct pdet_scan option = options;
	const char *comma;

	while (option.at < options.end) {
		comma = memchr(option.at, ',',
			       (size_t)(options.end - option.at));
		option.end = comma ? comma : options.end;
		if (pdet_scan_is(&option, name))
			return true;
		option.at = comma ? comma + 1 : options.end;
	}
	return false;
}

/* True for "fuse", "fuseblk", and subtypes such as "fuse.sshfs". */
static bool is_fuse(struct pdet_scan type)
{
	if (!pdet_scan_word(&type, "fuse"))
		return false;
	pdet_scan_word(&type, "blk");
	return type.at == type.end || *type.at == '.';
}

bool pdet_mount_shows_owner(const struct pdet_mount *m)
{
	/* overlayfs and fuse map a file of another filesystem, which maps does
	 * not show since 6.8 (file_user_inode()). coda does the same. So do
	 * aufs and shiftfs, which distributions build. btrfs is not listed:
	 * maps and mountinfo both show the device of its superblock. Only stat
	 * shows the device of a subvolume. */
	static const char *const others[] = {
		"overlay", "coda", "aufs", "shiftfs", "devtmpfs",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (pdet_scan_is(&m->fstype, others[i]))
			return false;
	/* Files with equal contents share the pages of an anonymous inode
	 * (fs/erofs/ishare.c). */
	if (pdet_scan_is(&m->fstype, "erofs") &&
	    pdet_mount_has(m->super_options, "inode_share"))
		return false;
	/* A container has its device nodes on a tmpfs. */
	return !is_fuse(m->fstype) && !pdet_scan_is(&m->point, "/dev");
}

bool pdet_mountinfo_text(struct pdet_scan text, char *buf, size_t size,
			 size_t *len)
{
	size_t n = (size_t)(text.end - text.at);

	if (n >= size)
		return false;
	memcpy(buf, text.at, n);
	n = pdet_unescape_octal(buf, n);
	buf[n] = '\0';
	*len = n;
	return true;
}

int pdet_mount_id(int fd, uint64_t *ret)
{
	struct pdet_scan all, line;
	struct pdet_text text;
	bool found = false;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	r = pdet_slurp_at(AT_FDCWD, path, &text, 65536);
	if (r < 0)
		return r;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (!found && pdet_scan_line(&all, &line)) {
		if (!pdet_scan_word(&line, "mnt_id:"))
			continue;
		pdet_scan_blanks(&line);
		found = pdet_scan_dec(&line, ret);
	}
	pdet_text_free(&text);
	return found ? 0 : -ENODATA;
}
