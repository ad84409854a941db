/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Converts a dump to a form that the usual tools do not write: other
 * compressions, flattened, split, larger blocks, with blocks left out. It reads
 * with the library.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump_write.h"
#include "memory/open.h"

#define PAGE 4096

static const char usage[] =
	"usage: mkdump [OPTION...] DUMP... OUT\n"
	"       mkdump -p N [OPTION...] DUMP OUT-1 ... OUT-N\n"
	"  -f elf|kdump   what to write (default kdump)\n"
	"  -c CODEC       raw, zlib, lzo, snappy or zstd (default zlib)\n"
	"  -F             flattened\n"
	"  -b BYTES       of a block (default 4096)\n"
	"  -p N           in N parts\n"
	"  -x FILE        leave out the pages named in it: lines of PFN or\n"
	"                 FIRST-LAST\n"
	"  -v N           version of the header (default 6)\n"
	"  -n             without notes and VMCOREINFO\n"
	"  -m NAME        of the machine in the header (default: of the dump)\n";

struct options {
	bool elf;
	struct dump_kdump kdump;
	bool flattened;
	size_t block;
	unsigned parts;
	const char *exclude;
	bool bare;
};

struct source {
	struct pdet_memory *memory;
	struct pdet_reader *reader;
	size_t block;
	unsigned char *excluded; /* one byte per page */
	uint64_t pages;
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "mkdump: %s: %s\n", what, why);
	exit(1);
}

static enum dump_state read_block(void *arg, uint64_t frame, void *buf)
{
	struct source *s = arg;
	enum dump_state state = DUMP_NOTHING;
	uint64_t at = frame * s->block, i;

	memset(buf, 0, s->block);
	for (i = 0; i < s->block; i += PAGE) {
		uint64_t page = (at + i) / PAGE;
		int r = s->memory->ops->read_phys(s->reader, at + i,
						  (char *)buf + i, PAGE);

		if (r == -ENOENT)
			continue;
		if (r == -ENODATA || (page < s->pages && s->excluded[page]))
			return DUMP_EXCLUDED;
		if (r < 0)
			die("cannot read the dump", strerror(-r));
		state = DUMP_BLOCK;
	}
	return state;
}

static void read_excluded(struct source *s, const char *path)
{
	unsigned long first, last;
	char line[128], *end;
	FILE *f;

	s->excluded = calloc(s->pages, 1);
	f = path ? fopen(path, "r") : NULL;
	if (!s->excluded || (path && !f))
		die(path ? path : "memory", strerror(errno));
	while (f && fgets(line, sizeof(line), f)) {
		first = last = strtoul(line, &end, 0);
		if (*end == '-')
			last = strtoul(end + 1, &end, 0);
		for (; first <= last && first < s->pages; first++)
			s->excluded[first] = 1;
	}
	if (f)
		fclose(f);
}

static void open_source(struct source *s, char **paths, int n)
{
	struct pdet_env env = { .root = (char []){ "" } };
	int fds[64], i;

	if (n > 64)
		die("too many files", paths[64]);
	for (i = 0; i < n; i++) {
		fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
		if (fds[i] < 0)
			die(paths[i], strerror(errno));
	}
	if (pdet_memory_open(&env, fds, (size_t)n, NULL, 0, &s->memory) < 0)
		die(paths[0], env.error);
	if (s->memory->ops->reader_new(s->memory, 1 << 20, &s->reader) < 0)
		die(paths[0], "no memory");
	if (!s->memory->ranges.n)
		die(paths[0], "no memory in it");
	s->pages = s->memory->ranges.data[s->memory->ranges.n - 1].last /
		PAGE + 1;
}

static const char *machine_name(uint16_t machine)
{
	return machine == EM_X86_64 ? "x86_64" :
		machine == EM_AARCH64 ? "aarch64" : "";
}

static void write_one(const struct options *o, struct source *s,
		      const char *path, unsigned part)
{
	struct dump_memory memory = {
		.frames = (s->pages * PAGE + o->block - 1) / o->block,
		.block = o->block, .read = read_block, .arg = s
	};
	struct dump_sink sink = { .flattened = o->flattened };
	struct dump_kdump kdump = o->kdump;
	struct dump_elf elf = { .machine = s->memory->machine };

	sink.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (sink.fd < 0)
		die(path, strerror(errno));
	if (!kdump.machine)
		kdump.machine = machine_name(s->memory->machine);
	kdump.release = s->memory->release;
	if (!o->bare) {
		kdump.vmcoreinfo = s->memory->vmcoreinfo;
		elf.notes = kdump.notes = s->memory->notes;
		elf.notes_len = kdump.notes_len = s->memory->notes_len;
	}
	if (o->parts > 1) {
		kdump.split = true;
		kdump.first = memory.frames * part / o->parts;
		kdump.end = memory.frames * (part + 1) / o->parts;
	}
	dump_sink_begin(&sink);
	if (o->elf)
		dump_write_elf(&sink, &elf, &memory);
	else
		dump_write_kdump(&sink, &kdump, &memory);
	dump_sink_end(&sink);
	if (close(sink.fd) < 0)
		die(path, strerror(errno));
}

static enum dump_codec find_codec(const char *name)
{
	unsigned i;

	for (i = 0; i < DUMP_N_CODECS; i++)
		if (!strcmp(dump_codec_name((enum dump_codec)i), name)) {
			if (!dump_codec_built((enum dump_codec)i))
				die(name, "not built in");
			return (enum dump_codec)i;
		}
	die(name, "no such codec");
	return DUMP_RAW;
}

int main(int argc, char **argv)
{
	struct options o = {
		.kdump = { .version = 6, .codec = DUMP_ZLIB },
		.block = PAGE, .parts = 1
	};
	struct source s = { .memory = NULL };
	unsigned i;
	int c, in;

	while ((c = getopt(argc, argv, "f:c:Fb:p:x:v:nm:")) != -1) {
		switch (c) {
		case 'f': o.elf = !strcmp(optarg, "elf"); break;
		case 'c': o.kdump.codec = find_codec(optarg); break;
		case 'F': o.flattened = true; break;
		case 'b': o.block = strtoul(optarg, NULL, 0); break;
		case 'p': o.parts = (unsigned)strtoul(optarg, NULL, 0); break;
		case 'x': o.exclude = optarg; break;
		case 'v':
			o.kdump.version = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 'n': o.bare = true; break;
		case 'm': o.kdump.machine = optarg; break;
		default: fputs(usage, stderr); return 64;
		}
	}
	in = argc - optind - (int)o.parts;
	if (!o.parts || in < 1 || o.block < PAGE || o.block % PAGE) {
		fputs(usage, stderr);
		return 64;
	}
	open_source(&s, argv + optind, in);
	s.block = o.block;
	read_excluded(&s, o.exclude);
	for (i = 0; i < o.parts; i++)
		write_one(&o, &s, argv[optind + in + (int)i], i);
	free(s.excluded);
	s.memory->ops->reader_free(s.reader);
	pdet_memory_close(s.memory);
	return 0;
}
