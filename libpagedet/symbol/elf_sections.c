/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Only this file of this room includes libelf. libelf reads only the parts that
 * are needed. Parts that cannot exist are refused first, so that libelf
 * allocates no memory for them. It never maps the file, which may shrink.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/library.h"
#include "symbol/elf_sections.h"

#define FUNCTIONS(X) \
	X(elf_version) X(elf_begin) X(elf_memory) X(elf_end) X(elf_getscn) \
	X(elf_getdata_rawchunk) X(gelf_getehdr) X(gelf_getphdr) \
	X(gelf_getshdr)

struct pdet_libelf {
	struct pdet_library lib;
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
};

int pdet_libelf_new(struct pdet_libelf **ret, struct pdet_env *env,
		    const char *path)
{
	struct pdet_libelf *l = calloc(1, sizeof(*l));

	if (!l)
		return pdet_fail(env, ENOMEM, "no memory");
	if (pdet_library_open(&l->lib, "libelf.so.1")) {
#define X(name) l->name = PDET_FUNCTION(&l->lib, name);
		FUNCTIONS(X)
#undef X
	}
	if (!*l->lib.why) {
		l->elf_version(EV_CURRENT);
		*ret = l;
		return 0;
	}
	pdet_fail(env, ENOSYS, "cannot read %s: %s", path, l->lib.why);
	pdet_advise(env, "needs libelf installed (on Debian: libelf1)");
	pdet_libelf_free(l);
	return -ENOSYS;
}

void pdet_libelf_free(struct pdet_libelf *l)
{
	if (l)
		pdet_library_close(&l->lib);
	free(l);
}

/* --- headers --- */

static int load(const struct pdet_elf_input *in, uint64_t offset, uint64_t n)
{
	return in->load ? in->load(in->arg, offset, n) : 0;
}

static int read_head(const struct pdet_elf_input *in, Elf64_Ehdr *ret)
{
	ssize_t got = (ssize_t)PDET_MIN(in->size, sizeof(*ret));
	int r = load(in, 0, (uint64_t)got);

	if (r < 0)
		return r;
	if (in->bytes)
		memcpy(ret, in->bytes, (size_t)got);
	else
		got = pdet_pread(in->fd, ret, sizeof(*ret), 0);
	return got < 0 ? (int)got : (size_t)got < sizeof(*ret) ? -EBADMSG : 0;
}

/* Programs of x32 have such files, too, but those are of x86-64. */
static bool is_narrow(const Elf64_Ehdr *h)
{
	return h->e_ident[EI_CLASS] == ELFCLASS32 && h->e_machine == EM_386;
}

/* Both have the machine at the same place. */
static void widen(Elf64_Ehdr *h)
{
	Elf32_Ehdr n;

	memcpy(&n, h, sizeof(n));
	h->e_phoff = n.e_phoff;
	h->e_shoff = n.e_shoff;
	h->e_phentsize = n.e_phentsize;
	h->e_phnum = n.e_phnum;
	h->e_shentsize = n.e_shentsize;
	h->e_shnum = n.e_shnum;
	h->e_shstrndx = n.e_shstrndx;
}

/* In a file without a number of sections, libelf would believe section 0 that
 * there are billions. */
static bool is_good(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) &&
	       (h->e_ident[EI_CLASS] == ELFCLASS64 || is_narrow(h)) &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB &&
	       (h->e_shnum || !h->e_shoff);
}

/* A part that is not inside is not used. */
static int load_inside(const struct pdet_elf_sections *e, uint64_t offset,
		       uint64_t n)
{
	return pdet_elf_is_inside(e, offset, n) ? load(&e->in, offset, n) : 0;
}

static size_t segment_size(const struct pdet_elf_sections *e)
{
	return e->narrow ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr);
}

static size_t section_size(const struct pdet_elf_sections *e)
{
	return e->narrow ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr);
}

int pdet_elf_sections_open(struct pdet_elf_sections *e,
			   const struct pdet_libelf *lib,
			   const struct pdet_elf_input *in)
{
	bool lost;
	int r;

	*e = (struct pdet_elf_sections){ .lib = lib, .in = *in };
	r = read_head(in, &e->head);
	if (r < 0)
		return r;
	e->narrow = is_narrow(&e->head);
	if (e->narrow)
		widen(&e->head);
	if (!is_good(&e->head))
		return -EBADMSG;
	r = load_inside(e, e->head.e_phoff,
			e->head.e_phnum * segment_size(e));
	if (r < 0)
		return r;
	lost = load_inside(e, e->head.e_shoff,
			   e->head.e_shnum * section_size(e)) < 0;
	errno = 0;
	e->elf = in->bytes ? lib->elf_memory(in->bytes, in->size) :
		 lib->elf_begin(in->fd, ELF_C_READ, NULL);
	if (!e->elf)
		return errno ? -errno : -EBADMSG;
	if (!lib->gelf_getehdr(e->elf, &e->head) || !is_good(&e->head) ||
	    is_narrow(&e->head) != e->narrow)
		return -EBADMSG;
	e->n = e->head.e_shentsize == section_size(e) && !lost ?
	       e->head.e_shnum : 0;
	return 0;
}

void pdet_elf_sections_close(struct pdet_elf_sections *e)
{
	if (e->elf)
		e->lib->elf_end(e->elf);
	e->elf = NULL;
	e->n = 0;
}

bool pdet_elf_section(const struct pdet_elf_sections *e, size_t i,
		      Elf64_Shdr *ret)
{
	return i < e->n &&
	       e->lib->gelf_getshdr(e->lib->elf_getscn(e->elf, i), ret);
}

bool pdet_elf_segment(const struct pdet_elf_sections *e, size_t i,
		      Elf64_Phdr *ret)
{
	return i < e->head.e_phnum &&
	       e->head.e_phentsize == segment_size(e) &&
	       e->lib->gelf_getphdr(e->elf, (int)i, ret);
}

/* --- bytes --- */

bool pdet_elf_is_inside(const struct pdet_elf_sections *e, uint64_t offset,
			uint64_t n)
{
	return offset <= e->in.size && n <= e->in.size - offset;
}

int pdet_elf_bytes(const struct pdet_elf_sections *e, uint64_t offset,
		   uint64_t n, uint64_t most, char **ret)
{
	const Elf_Data *data;

	if (!n || n > most || !pdet_elf_is_inside(e, offset, n) ||
	    load(&e->in, offset, n) < 0)
		return -ENOENT;
	errno = 0;
	data = e->lib->elf_getdata_rawchunk(e->elf, (int64_t)offset, n,
					    ELF_T_BYTE);
	if (!data)
		return errno ? -errno : -EBADMSG;
	*ret = data->d_buf;
	return 0;
}

bool pdet_elf_find(const struct pdet_elf_sections *e, const char *name,
		   uint32_t type, Elf64_Shdr *ret)
{
	const size_t n = name ? strlen(name) + 1 : 0;
	char *names = NULL;
	Elf64_Shdr in;
	size_t i;

	if (name && (!pdet_elf_section(e, e->head.e_shstrndx, &in) ||
		     in.sh_type != SHT_STRTAB ||
		     pdet_elf_bytes(e, in.sh_offset, in.sh_size,
				    PDET_ELF_NAMES, &names) < 0))
		return false;
	for (i = 1; i < e->n; i++) {
		if (!pdet_elf_section(e, i, ret) || ret->sh_type == SHT_NOBITS)
			continue;
		if (!name ? ret->sh_type == type :
		    ret->sh_name < in.sh_size && n <= in.sh_size -
		    ret->sh_name && !memcmp(names + ret->sh_name, name, n))
			return true;
	}
	return false;
}
