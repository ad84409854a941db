/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Creates a device-mapper device and loads tables, as dmsetup does, which
 * guests do not have.
 *
 *   subject dm create NAME SECTORS TARGET WORDS...
 *   subject dm load NAME SECTORS TARGET WORDS...
 *
 * create prints the device number of NAME. load replaces the table without
 * writing anything out before.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dm-ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "subject.h"

struct message {
	struct dm_ioctl head;
	struct dm_target_spec target;
	char words[512];
};

static void ask(int fd, unsigned long what, const char *name,
		struct message *m)
{
	m->head.version[0] = DM_VERSION_MAJOR;
	m->head.data_size = sizeof(*m);
	m->head.data_start = offsetof(struct message, target);
	snprintf(m->head.name, sizeof(m->head.name), "%s", name);
	if (ioctl(fd, what, m) < 0)
		subject_die(name);
}

static void join_words(char *to, size_t size, char **words)
{
	size_t n = 0;

	for (; *words; words++)
		n += (size_t)snprintf(to + n, size - n, "%s%s", n ? " " : "",
				      *words);
}

int subject_dm(int argc, char **argv)
{
	struct message state = { .words = "" };
	struct message table = { .words = "" };
	int fd = open("/dev/mapper/control", O_RDWR | O_CLOEXEC);
	const char *name = argc > 3 ? argv[1] : "";

	if (argc < 4)
		return 64;
	if (fd < 0)
		subject_die("/dev/mapper/control");
	if (!strcmp(argv[0], "create"))
		ask(fd, DM_DEV_CREATE, name, &state);
	table.head.target_count = 1;
	table.target.length = strtoull(argv[2], NULL, 10);
	snprintf(table.target.target_type, sizeof(table.target.target_type),
		 "%s", argv[3]);
	join_words(table.words, sizeof(table.words), argv + 4);
	ask(fd, DM_TABLE_LOAD, name, &table);
	/* Dirty data meets the new table. */
	state = (struct message){ .head.flags = DM_SUSPEND_FLAG |
					       DM_NOFLUSH_FLAG |
					       DM_SKIP_LOCKFS_FLAG };
	ask(fd, DM_DEV_SUSPEND, name, &state);
	state = (struct message){ .words = "" };
	ask(fd, DM_DEV_SUSPEND, name, &state);
	printf("/dev/dm-%u\n", minor(state.head.dev));
	return 0;
}
