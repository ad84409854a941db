/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes the files of programs: segments, build ids and symbols. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "unwind/cached_file.h"
#include "unwind/elf_file.h"

static int open_as(struct pdet_elf_file *e, uint64_t *spent,
		   const struct pdet_elf_input *in)
{
	static struct pdet_libelf *libelf;
	struct pdet_env env = { .root = NULL };

	if (!libelf && pdet_libelf_new(&libelf, &env, "ELF") < 0)
		return -ENOSYS;
	memset(e, 0, sizeof(*e));
	e->spent = spent;
	return pdet_elf_file_open(e, libelf, in);
}

/* A file is what its copy in memory is. */
static void compare_file(const struct pdet_elf_file *e, int was,
			 const uint8_t *data, size_t size, uint64_t spent)
{
	const struct pdet_elf_input in = {
		.fd = memfd_create("elf", MFD_CLOEXEC), .size = size
	};
	struct pdet_elf_file file;

	MUST(write(in.fd, data, size) == (ssize_t)size);
	MUST(open_as(&file, &spent, &in) == was);
	MUST(file.n_symbols == e->n_symbols);
	MUST(file.n_sections == e->n_sections);
	MUST(file.frames.n == e->frames.n);
	MUST(file.debug_frame.n == e->debug_frame.n);
	MUST(file.refused == e->refused);
	MUST(pdet_build_id_same(&file.build_id, &e->build_id) ||
	     (!file.build_id.n && !e->build_id.n));
	if (was == 0)
		pdet_elf_file_free(&file);
	close(in.fd);
}

/* Pages of a dump. Some are lost: bits of @lost, from the last page on. */
struct pages {
	const uint8_t *data;
	size_t size;
	unsigned lost;
};

static int read_page(void *arg, uint64_t cache, uint64_t index, void *buf)
{
	const struct pages *p = arg;
	const uint64_t at = index * PDET_CACHED_PAGE;
	const uint64_t back = (p->size - 1) / PDET_CACHED_PAGE - index;

	MUST(cache == 1);
	MUST(at < p->size);
	if (p->lost >> (back < 31 ? back : 31) & 1)
		return -ENODATA;
	memset(buf, 0, PDET_CACHED_PAGE);
	memcpy(buf, p->data + at, p->size - at < PDET_CACHED_PAGE ?
	       p->size - at : PDET_CACHED_PAGE);
	return 0;
}

/* It is the same if no page is lost. Otherwise it may have fewer names, but
 * reads nothing that it did not load. */
static void compare_cached(const struct pdet_elf_file *e, int was,
			   struct pages pages)
{
	const struct pdet_cached_source source = { read_page, &pages };
	struct pdet_elf_file found;
	struct pdet_cached_file f;
	uint64_t spent = 0;
	int r;

	MUST(pdet_cached_file_open(&f, &source, 1, pages.size) == 0);
	r = open_as(&found, &spent, &f.in);
	MUST(!f.lost || pages.lost);
	MUST(f.lost || r == was);
	MUST(f.lost || r < 0 || (found.n_symbols == e->n_symbols &&
				 found.frames.n == e->frames.n));
	pdet_cached_file_close(&f);
	if (r == 0)
		pdet_elf_file_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_elf_input in = { .fd = -1, .size = size };
	/* Some inputs have little left. */
	const uint64_t before = PDET_ELF_BYTES -
				(size % 2 ? size : PDET_ELF_BYTES);
	uint64_t address, offset, bytes, at, spent = before;
	static struct pdet_frame_pair pair;
	struct pdet_elf_file e;
	const char *name;
	int r;

	in.bytes = malloc(size ? size : 1);
	MUST(in.bytes);
	memcpy(in.bytes, data, size);
	r = open_as(&e, &spent, &in);
	/* What was read stays without them. */
	free(in.bytes);
	compare_file(&e, r, data, size, before);
	if (size && !before) {
		compare_cached(&e, r, (struct pages){ data, size, 0 });
		compare_cached(&e, r, (struct pages){ data, size, 1 });
		compare_cached(&e, r, (struct pages){ data, size, 6 });
	}
	for (at = 0; r == 0 && at < size; at += size / 16 + 1) {
		if (!pdet_elf_file_address(&e, at, &address))
			continue;
		MUST(!pdet_debug_frame_get(&e.debug_frame, address, 0, &pair) ||
		     pair.fde < pair.n);
		name = pdet_elf_file_symbol(&e, address, &offset, &bytes);
		MUST(!name || strlen(name) < size);
		MUST(!name || !bytes || offset < bytes);
	}
	MUST(spent <= PDET_ELF_BYTES);
	if (r == 0)
		pdet_elf_file_free(&e);
	return 0;
}
