/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Finds the mount of a descriptor. stat(2) does not give the device of the
 * superblock, because each btrfs subvolume has its own number.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "check/mount.h"

int pdet_check_mount(int fd, struct pdet_check_mount *ret)
{
	struct pdet_scan line;
	size_t cap = 0;
	uint64_t id;
	ssize_t n;
	FILE *f;

	ret->line = NULL;
	f = pdet_mount_id(fd, &id) == 0 ? fopen("/proc/self/mountinfo", "re") :
					  NULL;
	if (!f)
		return -ENOENT;
	while ((n = getline(&ret->line, &cap, f)) > 0) {
		line = (struct pdet_scan){ ret->line, ret->line +
			n - (ret->line[n - 1] == '\n') };
		if (pdet_mountinfo_line(line, &ret->m) && ret->m.id == id)
			break;
	}
	fclose(f);
	if (n > 0)
		return 0;
	pdet_check_mount_free(ret);
	return -ENOENT;
}

/*
 * The superblock of a btrfs has its own number. Its source is the name of one
 * of its devices.
 */
static bool is_of(const struct pdet_mount *m, dev_t device)
{
	char source[PATH_MAX];
	struct stat st;
	size_t len;

	if (m->dev == ((uint64_t)major(device) << 32 | minor(device)))
		return true;
	return pdet_mountinfo_text(m->source, source, sizeof(source), &len) &&
	       *source == '/' && stat(source, &st) == 0 &&
	       S_ISBLK(st.st_mode) && st.st_rdev == device;
}

bool pdet_check_mount_of(dev_t device, uint64_t *ret)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	bool found = false;
	char *text = NULL;
	struct pdet_mount m;
	size_t cap = 0;
	ssize_t n;

	while (f && !found && (n = getline(&text, &cap, f)) > 0) {
		const struct pdet_scan line = { text, text + n -
						      (text[n - 1] == '\n') };

		found = pdet_mountinfo_line(line, &m) && is_of(&m, device);
	}
	if (found)
		*ret = m.dev;
	free(text);
	if (f)
		fclose(f);
	return found;
}

void pdet_check_mount_free(struct pdet_check_mount *m)
{
	free(m->line);
	m->line = NULL;
}
