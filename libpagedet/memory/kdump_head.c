/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads header and sub header of a compressed dump, versions 1 to 6. Only dumps
 * of a 64-bit kernel of this byte order are supported; others are refused by
 * name.
 */
#include <byteswap.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "memory/kdump.h"
#include "pagedet.h"

/* No machine has longer physical addresses. */
#define PHYS_BITS 56

/* Older C libraries lack the constant. */
#define MACHINE_LOONGARCH 258

struct header {
	char signature[8];
	uint32_t version;
	char sysname[65];
	char nodename[65];
	char release[65];
	char kernel_version[65];
	char machine[65];
	char domainname[65];
	char pad[6];
	char timestamp[16];
	uint32_t status;
	uint32_t block_size;
	uint32_t sub_hdr_size;	/* both in blocks */
	uint32_t bitmap_blocks;
	uint32_t max_mapnr;	/* version 6: see max_mapnr_64 */
	uint32_t total_ram_blocks;
	uint32_t device_blocks;
	uint32_t written_blocks;
	uint32_t current_cpu;
	uint32_t nr_cpus;
};

_Static_assert(sizeof(struct header) == 464, "as in diskdump_mod.h");

struct sub_header {
	uint64_t phys_base;
	uint32_t dump_level;
	uint32_t split;		/* version 2 */
	uint64_t start_pfn;
	uint64_t end_pfn;
	uint64_t offset_vmcoreinfo; /* version 3 */
	uint64_t size_vmcoreinfo;
	uint64_t offset_note;	/* version 4 */
	uint64_t size_note;
	uint64_t offset_eraseinfo; /* version 5 */
	uint64_t size_eraseinfo;
	uint64_t start_pfn_64;	/* version 6 */
	uint64_t end_pfn_64;
	uint64_t max_mapnr_64;
};

_Static_assert(sizeof(struct sub_header) == 104, "as in diskdump_mod.h");

/*
 * The offset of block_size if a 32-bit kernel wrote the header, because its
 * struct timeval is shorter.
 */
#define BLOCK_SIZE_32 416

static int damaged(struct pdet_env *env, const char *why)
{
	return pdet_fail(env, EBADMSG, "its header is damaged: %s", why);
}

static int narrow(struct pdet_env *env, const char *machine)
{
	return pdet_fail(env, ENOTSUP, "it is a dump of a 32-bit kernel%s%s%s,"
			 " and those are not supported",
			 *machine ? " (" : "", machine, *machine ? ")" : "");
}

static bool is_block_size(uint32_t size)
{
	return size >= KDUMP_BLOCK_MIN && size <= KDUMP_BLOCK_MAX &&
		!(size & (size - 1));
}

/* From the machine name of uname(2). */
static uint16_t machine_of(const char *name)
{
	static const struct {
		const char *name;
		uint16_t machine;
	} machines[] = {
		{ "aarch64", EM_AARCH64 },
		{ "loongarch64", MACHINE_LOONGARCH },
		{ "mips64", EM_MIPS },
		{ "ppc64", EM_PPC64 },
		{ "ppc64le", EM_PPC64 },
		{ "riscv64", EM_RISCV },
		{ "s390x", EM_S390 },
		{ "x86_64", EM_X86_64 },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(machines); i++)
		if (!strcmp(machines[i].name, name))
			return machines[i].machine;
	return 0;
}

static bool is_narrow(const char *name)
{
	static const char *const names[] = {
		"i386", "i486", "i586", "i686", "mips", "parisc", "ppc",
		"riscv32", "s390", "sh4", "sparc",
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return !strncmp(name, "arm", 3) && strcmp(name, "arm64");
}

static int check(const struct header *h, struct pdet_env *env)
{
	char machine[sizeof(h->machine)];
	uint32_t block32;

	snprintf(machine, sizeof(machine), "%.*s", (int)sizeof(machine) - 1,
		 h->machine);
	if (h->version > UINT16_MAX && bswap_32(h->version) <= UINT16_MAX)
		return pdet_fail(env, ENOTSUP, "it is a dump of a machine with "
				 "the other byte order%s%s%s",
				 *machine ? " (" : "", machine,
				 *machine ? ")" : "");
	if (is_narrow(machine))
		return narrow(env, machine);
	if (!is_block_size(h->block_size)) {
		memcpy(&block32, (const char *)h + BLOCK_SIZE_32,
		       sizeof(block32));
		if (is_block_size(block32))
			return narrow(env, "");
		return damaged(env, "block_size is not the size of a page");
	}
	/* Later versions only append to version 6. */
	if (!h->version || h->version > UINT16_MAX)
		return damaged(env, "there is no such version");
	return 0;
}

static void take_sub_header(struct kdump_head *ret, struct pdet_env *env,
			    const struct sub_header *s)
{
	if (ret->version >= 2 && s->split) {
		ret->split = true;
		ret->first = ret->version >= 6 ? s->start_pfn_64 :
			s->start_pfn;
		ret->end = ret->version >= 6 ? s->end_pfn_64 : s->end_pfn;
	}
	if (ret->version >= 3) {
		ret->vmcoreinfo = s->offset_vmcoreinfo;
		ret->vmcoreinfo_len = s->size_vmcoreinfo;
	}
	if (ret->version >= 4) {
		ret->notes = s->offset_note;
		ret->notes_len = s->size_note;
	}
	if (ret->version >= 6 && s->max_mapnr_64)
		ret->frames = s->max_mapnr_64;
	if (ret->version > 6)
		pdet_log(env, PAGEDET_LOG_WARNING, "header version %u is read "
			 "as version 6", ret->version);
}

static int check_places(struct kdump_head *ret, struct pdet_env *env)
{
	uint64_t bytes = ret->frames / 8 + !!(ret->frames % 8);

	if (!ret->frames)
		return damaged(env, "max_mapnr is zero");
	if (ret->frames > ((uint64_t)1 << PHYS_BITS) / ret->block)
		return damaged(env, "max_mapnr is larger than any memory");
	if (bytes > ret->bitmap_bytes)
		return damaged(env, "max_mapnr is larger than the bitmap");
	if (!ret->split) {
		ret->first = 0;
		ret->end = ret->frames;
	}
	ret->end = PDET_MIN(ret->end, ret->frames);
	/* makedumpfile writes empty parts if there is little memory. */
	ret->first = PDET_MIN(ret->first, ret->end);
	return 0;
}

int pdet_kdump_head_read(struct kdump_head *ret, struct pdet_env *env,
			 const struct pdet_dump_file *file)
{
	struct sub_header sub;
	uint64_t sub_bytes;
	struct header h;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (pdet_dump_file_read(file, NULL, &h, sizeof(h), 0) < 0)
		return pdet_fail(env, EIO, "it is a dump that is cut short, "
				 "or cannot be read, in its header");
	r = check(&h, env);
	if (r < 0)
		return r;
	ret->version = h.version;
	ret->block = h.block_size;
	ret->status = h.status;
	ret->frames = h.max_mapnr;
	h.machine[sizeof(h.machine) - 1] = '\0';
	ret->machine = machine_of(h.machine);
	snprintf(ret->release, sizeof(ret->release), "%.*s",
		 (int)sizeof(h.release) - 1, h.release);
	sub_bytes = (uint64_t)h.sub_hdr_size * h.block_size;
	ret->bitmap = h.block_size + sub_bytes;
	ret->bitmap_bytes = (uint64_t)h.bitmap_blocks * h.block_size;
	/* The sub header of diskdump has another format. */
	if (h.signature[0] == 'K') {
		if (!sub_bytes)
			return damaged(env, "it has no sub header");
		if (pdet_dump_file_read(file, NULL, &sub, sizeof(sub),
					h.block_size) < 0)
			return pdet_fail(env, EIO, "it is a dump that is cut "
					 "short, or cannot be read, in its "
					 "sub header");
		take_sub_header(ret, env, &sub);
	}
	return check_places(ret, env);
}
