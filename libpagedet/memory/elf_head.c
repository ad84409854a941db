/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads ELF headers with libelf; no other file of this room includes libelf.
 * libelf gets a copy of the headers in one buffer, because the file may be
 * flattened, truncated, or as large as memory. The file is only read with
 * pread.
 */
#include "config.h"

#include <errno.h>
#include <gelf.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"
#include "base/vec.h"
#include "memory/elf_head.h"
#include "memory/note.h"

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTE_ORDER_HERE ELFDATA2MSB
#define BYTE_ORDER_OTHER "little-endian"
#else
#define BYTE_ORDER_HERE ELFDATA2LSB
#define BYTE_ORDER_OTHER "big-endian"
#endif

#if defined(HAVE_ELFUTILS_WITHOUT_TREES) && defined(PDET_LINKED)
/*
 * The static libelf and libdw of elfutils 0.192 call these functions of
 * elfutils, but do not include them (sourceware.org bug 32293; fixed in 0.193).
 * The root is the first member of their tree. Only a libelf built with
 * --enable-thread-safety has a lock after it.
 */
struct search_tree {
	void *root;
};

typedef int compare_fn(const void *, const void *);

void eu_search_tree_init(struct search_tree *tree);
void eu_search_tree_fini(struct search_tree *tree, void (*end)(void *));
void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *fn);
void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *fn);
void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *fn);
void eu_tdestroy(struct search_tree *tree, void (*end)(void *));

void eu_search_tree_init(struct search_tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct search_tree *tree, void (*end)(void *))
{
	tdestroy(tree->root, end);
	tree->root = NULL;
}

void *eu_tsearch(const void *key, struct search_tree *tree, compare_fn *fn)
{
	return tsearch(key, &tree->root, fn);
}

void *eu_tfind(const void *key, struct search_tree *tree, compare_fn *fn)
{
	return tfind(key, &tree->root, fn);
}

void *eu_tdelete(const void *key, struct search_tree *tree, compare_fn *fn)
{
	return tdelete(key, &tree->root, fn);
}

void eu_tdestroy(struct search_tree *tree, void (*end)(void *))
{
	eu_search_tree_fini(tree, end);
}
#endif

struct libelf {
	struct pdet_library lib;
	__typeof__(&elf_version) version;
	__typeof__(&elf_memory) memory;
	__typeof__(&elf_end) end;
	__typeof__(&elf_getphdrnum) getphdrnum;
	__typeof__(&gelf_getehdr) getehdr;
	__typeof__(&gelf_getphdr) getphdr;
};

static int load(struct libelf *l, struct pdet_env *env)
{
	if (pdet_library_open(&l->lib, "libelf.so.1")) {
		l->version = PDET_FUNCTION(&l->lib, elf_version);
		l->memory = PDET_FUNCTION(&l->lib, elf_memory);
		l->end = PDET_FUNCTION(&l->lib, elf_end);
		l->getphdrnum = PDET_FUNCTION(&l->lib, elf_getphdrnum);
		l->getehdr = PDET_FUNCTION(&l->lib, gelf_getehdr);
		l->getphdr = PDET_FUNCTION(&l->lib, gelf_getphdr);
	}
	if (!*l->lib.why)
		return 0;
	pdet_fail(env, ENOSYS, "cannot read ELF: %s", l->lib.why);
	pdet_advise(env, "needs libelf installed (on Debian: libelf1)");
	return -ENOSYS;
}

static int damaged(struct pdet_env *env, const char *why)
{
	return pdet_fail(env, EBADMSG, "it is a damaged ELF file: %s", why);
}

static int get(const struct pdet_dump_file *file, struct pdet_env *env,
	       void *buf, size_t n, uint64_t offset)
{
	errno = 0;
	if (pdet_dump_file_read(file, NULL, buf, n, offset) == 0)
		return 0;
	if (errno && errno != EINTR)
		return pdet_fail_errno(env, "its headers cannot be read");
	return pdet_fail(env, EIO, "it is an ELF file that is cut short in its "
			 "headers");
}

static int check(const Elf64_Ehdr *head, struct pdet_env *env)
{
	if (head->e_ident[EI_CLASS] == ELFCLASS32)
		return pdet_fail(env, ENOTSUP, "it is a 32-bit ELF file, and "
				 "32-bit kernels are not supported");
	if (head->e_ident[EI_CLASS] != ELFCLASS64)
		return damaged(env, "it is neither 32-bit nor 64-bit");
	if (head->e_ident[EI_DATA] == ELFDATANONE ||
	    head->e_ident[EI_DATA] > ELFDATA2MSB)
		return damaged(env, "it does not say its byte order");
	if (head->e_ident[EI_DATA] != BYTE_ORDER_HERE)
		return pdet_fail(env, ENOTSUP, "it is a " BYTE_ORDER_OTHER
				 " ELF file, and this machine is not");
	if (head->e_phentsize != sizeof(Elf64_Phdr))
		return damaged(env, "e_phentsize is of another format");
	return 0;
}

/*
 * Copy the ELF header, section header 0 and the program headers into one
 * buffer.
 */
static int copy_headers(struct pdet_env *env,
			const struct pdet_dump_file *file, char **image,
			size_t *len)
{
	Elf64_Ehdr head;
	Elf64_Shdr zero;
	uint64_t phoff, n;
	char *p;
	int r;

	r = get(file, env, &head, sizeof(head), 0);
	if (r < 0)
		return r;
	r = check(&head, env);
	if (r < 0)
		return r;
	memset(&zero, 0, sizeof(zero));
	n = head.e_phnum;
	if (n == PN_XNUM) {
		if (!head.e_shoff)
			return damaged(env, "it does not say how many "
				       "segments it has");
		r = get(file, env, &zero, sizeof(zero), head.e_shoff);
		if (r < 0)
			return r;
		n = zero.sh_info;
		zero.sh_size = 0;
	}
	if (!n)
		return damaged(env, "it has no segments");
	if (n > PDET_ELF_SEGMENTS_MAX)
		return damaged(env, "it has too many segments");
	phoff = head.e_phoff;
	head.e_shnum = head.e_phnum == PN_XNUM;
	head.e_shoff = head.e_shnum ? sizeof(head) : 0;
	head.e_shentsize = sizeof(zero);
	head.e_shstrndx = SHN_UNDEF;
	head.e_phoff = sizeof(head) + sizeof(zero);
	*len = (size_t)head.e_phoff + (size_t)n * sizeof(Elf64_Phdr);
	p = malloc(*len);
	if (!p)
		return pdet_fail(env, ENOMEM, "no memory");
	memcpy(p, &head, sizeof(head));
	memcpy(p + sizeof(head), &zero, sizeof(zero));
	r = get(file, env, p + head.e_phoff, *len - (size_t)head.e_phoff,
		phoff);
	if (r < 0) {
		free(p);
		return r;
	}
	*image = p;
	return 0;
}

static int take_segments(struct pdet_elf_head *ret, struct pdet_env *env,
			 const struct libelf *l, Elf *elf)
{
	GElf_Ehdr head;
	GElf_Phdr p;
	size_t n, i;

	if (!l->getehdr(elf, &head) || l->getphdrnum(elf, &n) < 0)
		return damaged(env, "libelf cannot read its headers");
	ret->machine = head.e_machine;
	for (i = 0; i < n; i++) {
		if (!l->getphdr(elf, (int)i, &p))
			return damaged(env, "libelf cannot read its segments");
		if (p.p_type != PT_LOAD && p.p_type != PT_NOTE)
			continue;
		if (!pdet_vec_push(ret, (struct pdet_elf_segment){
				.type = p.p_type, .vaddr = p.p_vaddr,
				.paddr = p.p_paddr, .offset = p.p_offset,
				.filesz = p.p_filesz, .memsz = p.p_memsz }))
			return pdet_fail(env, ENOMEM, "no memory");
	}
	return 0;
}

int pdet_elf_head_read(struct pdet_elf_head *ret, struct pdet_env *env,
		       const struct pdet_dump_file *file)
{
	struct libelf l = { .version = NULL };
	char *image = NULL;
	size_t len = 0;
	Elf *elf = NULL;
	int r;

	memset(ret, 0, sizeof(*ret));
	r = copy_headers(env, file, &image, &len);
	if (r < 0)
		return r;
	r = load(&l, env);
	if (r == 0) {
		l.version(EV_CURRENT);
		elf = l.memory(image, len);
		r = elf ? take_segments(ret, env, &l, elf) :
			damaged(env, "libelf cannot read it");
	}
	if (elf)
		l.end(elf);
	pdet_library_close(&l.lib);
	free(image);
	if (r < 0)
		pdet_elf_head_free(ret);
	return r;
}

void pdet_elf_head_free(struct pdet_elf_head *head)
{
	pdet_vec_free(head);
}

int pdet_elf_notes_read(const struct pdet_elf_head *head,
			const struct pdet_dump_file *file, char **ret,
			size_t *len)
{
	size_t i, done = 0;
	char *data = NULL, *bigger;
	int lost = 0;

	for (i = 0; i < head->n; i++) {
		const struct pdet_elf_segment *s = &head->data[i];
		uint64_t n = s->filesz;

		if (s->type != PT_NOTE)
			continue;
		n = PDET_MIN(n, file->size - PDET_MIN(s->offset, file->size));
		lost |= n < s->filesz;
		n = PDET_MIN(n, PDET_NOTES_MAX - done);
		if (!n)
			continue;
		bigger = realloc(data, done + (size_t)n + 3);
		if (!bigger) {
			free(data);
			return -ENOMEM;
		}
		data = bigger;
		if (pdet_dump_file_read(file, NULL, data + done, (size_t)n,
					s->offset) < 0) {
			lost = 1;
			continue;
		}
		/* the next notes also begin at a multiple of 4 */
		memset(data + done + n, 0, 3);
		done += ((size_t)n + 3) & ~(size_t)3;
	}
	*ret = data;
	*len = done;
	return lost;
}
