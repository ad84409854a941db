/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * A plant that is not memory: a mapped address of a device. It is never read or
 * written, because that has effects on devices.
 */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "planter.h"

/* include/linux/ioport.h */
#define RESOURCE_MEMORY 0x200

/*
 * The first resource of a PCI device that is memory and at least a page: its
 * number, or -1.
 */
static int find_resource(const char *device, uint64_t *start)
{
	uint64_t end, flags;
	int number, found = -1;
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/resource", device);
	f = fopen(path, "r");
	for (number = 0; f && found < 0 && number < 6 &&
	     fscanf(f, "%" SCNx64 " %" SCNx64 " %" SCNx64, start, &end,
		    &flags) == 3; number++)
		if (flags & RESOURCE_MEMORY && !(*start % PAGE) &&
		    end - *start >= PAGE - 1)
			found = number;
	if (f)
		fclose(f);
	return found;
}

/* No one accesses a device without a driver. */
static bool has_driver(const char *device)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/driver", device);
	return access(path, F_OK) == 0;
}

static char *map_device(const char *device, uint64_t *start)
{
	char path[512], *at = MAP_FAILED;
	int number, fd;

	number = has_driver(device) ? -1 : find_resource(device, start);
	if (number < 0)
		return NULL;
	snprintf(path, sizeof(path), "%s/resource%d", device, number);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  0);
		close(fd);
	}
	return at == MAP_FAILED ? NULL : at;
}

void make_device(struct field *f)
{
	char *at = NULL;
	uint64_t start;
	struct plant *p;
	glob_t devices;
	size_t i;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &devices) == 0) {
		for (i = 0; i < devices.gl_pathc && !at; i++)
			at = map_device(devices.gl_pathv[i], &start);
		globfree(&devices);
	}
	if (!at) {
		plant_skip("device",
			   "no device without a driver can be mapped");
		return;
	}
	p = plant_new(f, "device", at);
	p->io = p->unread = p->no_file = true;
	p->pfn = start / PAGE;
	p->kind = "hole";	/* the address is not memory */
	p->flags_clear = "anon,slab,buddy,pgtable,mmap,lru,uptodate";
	p->pte_set = "present";
	p->pte_clear = "swapped,guard,migration,hwpoison,zero";
	p->level = 1;
}
