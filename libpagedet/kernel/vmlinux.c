/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads ELF by itself: what is wanted of it are a table of sections and a few
 * of them, and all of it may be damaged or that of something else.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "kernel/vmlinux.h"
#include "memory/machine.h"
#include "pagedet.h"

#define MOST_NAMES ((uint64_t)16 << 20)
/* Of a kernel with everything: some 10 MB each. */
#define MOST_TABLE ((uint64_t)256 << 20)
#define MOST_BTF ((uint64_t)64 << 20)

static int is(struct pdet_env *env, const char *path, const char *what)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: it is %s", path, what);
}

/* @n bytes at @offset, to be freed. -ENOENT: they are not in the file. */
static int fetch(const struct pdet_vmlinux *v, uint64_t offset, uint64_t n,
		 void **ret)
{
	void *data;
	ssize_t got;

	if (offset > v->size || n > v->size - offset)
		return -ENOENT;
	data = malloc(n ? (size_t)n : 1);
	if (!data)
		return -ENOMEM;
	got = pdet_pread(v->fd, data, (size_t)n, offset);
	if (got != (ssize_t)n) {
		free(data);
		return got < 0 ? (int)got : -ENOENT;
	}
	*ret = data;
	return 0;
}

/* --- headers --- */

static int open_file(struct pdet_vmlinux *v, struct pdet_env *env,
		     const char *path)
{
	struct stat st;

	/* Named by the caller: not below the root. It may be a pipe that
	 * nobody writes to. */
	v->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (v->fd < 0)
		return pdet_fail_errno(env, "cannot open %s", path);
	if (fstat(v->fd, &st) < 0)
		return pdet_fail_errno(env, "cannot read %s", path);
	if (S_ISDIR(st.st_mode))
		return is(env, path, "a directory");
	if (!S_ISREG(st.st_mode)) {
		pdet_fail(env, ENOTSUP, "cannot read %s: it is %s", path,
			  S_ISFIFO(st.st_mode) ? "a pipe" :
			  "not a regular file");
		pdet_advise(env, "save it to a file first");
		return -ENOTSUP;
	}
	v->size = (uint64_t)st.st_size;
	return 0;
}

/* What is compressed is taken for vmlinux easily. */
static int refuse_other(struct pdet_env *env, const char *path,
			const char *head, size_t n)
{
	const char *what = "no ELF file";

	if (n >= 0x206 && !memcmp(head + 0x202, "HdrS", 4))
		what = "a compressed kernel (bzImage), and not its vmlinux";
	else if (n >= 60 && !memcmp(head + 56, "ARMd", 4))
		what = "an Image of arm64, and not its vmlinux";
	else if (!n)
		what = "empty";
	return is(env, path, what);
}

static int check_head(struct pdet_vmlinux *v, struct pdet_env *env,
		      const char *path, const Elf64_Ehdr *h)
{
	if (h->e_ident[EI_CLASS] != ELFCLASS64)
		return is(env, path, h->e_ident[EI_CLASS] == ELFCLASS32 ?
			  "a 32-bit ELF file" : "a damaged ELF file");
	if (h->e_ident[EI_DATA] != ELFDATA2LSB)
		return is(env, path, "a big-endian ELF file");
	if (h->e_type == ET_REL)
		return is(env, path, "an object file or module, and no kernel");
	if (h->e_type == ET_CORE)
		return is(env, path, "a core file, and no kernel");
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return is(env, path, "a damaged ELF file");
	v->machine = h->e_machine;
	return 0;
}

static int take_sections(struct pdet_vmlinux *v, const Elf64_Shdr *table,
			 size_t n, const char *names, size_t names_len)
{
	size_t i, len;

	v->section = calloc(n, sizeof(*v->section));
	if (!v->section)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		struct pdet_elf_section *s = &v->section[i];

		*s = (struct pdet_elf_section){
			.type = table[i].sh_type, .link = table[i].sh_link,
			.flags = table[i].sh_flags,
			.offset = table[i].sh_offset, .size = table[i].sh_size,
		};
		if (table[i].sh_name < names_len) {
			len = strnlen(names + table[i].sh_name,
				      names_len - table[i].sh_name);
			len = PDET_MIN(len, sizeof(s->name) - 1);
			memcpy(s->name, names + table[i].sh_name, len);
		}
		/* What is cut off is no section of the file. */
		if (s->type != SHT_NOBITS &&
		    (s->offset > v->size || s->size > v->size - s->offset))
			return -ENOENT;
	}
	v->n = n;
	return 0;
}

static int read_sections(struct pdet_vmlinux *v, const Elf64_Ehdr *h)
{
	void *table, *names = NULL;
	const Elf64_Shdr *strings;
	int r;

	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return -EBADMSG;
	r = fetch(v, h->e_shoff, h->e_shnum * sizeof(Elf64_Shdr), &table);
	if (r < 0)
		return r;
	strings = (const Elf64_Shdr *)table + h->e_shstrndx;
	r = strings->sh_size > MOST_NAMES ? -EBADMSG :
	    fetch(v, strings->sh_offset, strings->sh_size, &names);
	if (r == 0)
		r = take_sections(v, table, h->e_shnum, names,
				  (size_t)strings->sh_size);
	free(names);
	free(table);
	return r;
}

static int read_notes(struct pdet_vmlinux *v)
{
	void *data;
	size_t i;
	int r;

	for (i = 0; i < v->n && !v->build_id.n; i++) {
		if (v->section[i].type != SHT_NOTE ||
		    v->section[i].size > PDET_NOTES_MAX)
			continue;
		r = fetch(v, v->section[i].offset, v->section[i].size, &data);
		if (r < 0)
			return r;
		pdet_build_id_note(&v->build_id, (struct pdet_notes){
			data, (size_t)v->section[i].size });
		free(data);
	}
	return 0;
}

static int read_head(struct pdet_vmlinux *v, struct pdet_env *env,
		     const char *path)
{
	char head[0x210] = { 0 };
	Elf64_Ehdr h;
	ssize_t got;
	int r;

	got = pdet_pread(v->fd, head, sizeof(head), 0);
	if (got < 0) {
		errno = (int)-got;
		return pdet_fail_errno(env, "cannot read %s", path);
	}
	if (got < EI_NIDENT || memcmp(head, ELFMAG, SELFMAG))
		return refuse_other(env, path, head, (size_t)got);
	if ((size_t)got < sizeof(h))
		return is(env, path, "an ELF file that is cut short");
	memcpy(&h, head, sizeof(h));
	r = check_head(v, env, path, &h);
	if (r < 0)
		return r;
	r = read_sections(v, &h);
	if (r == 0)
		r = read_notes(v);
	if (r == -ENOENT)
		return is(env, path, "an ELF file that is cut short");
	if (r == -EBADMSG)
		return is(env, path, "an ELF file without a table of sections, "
			  "or a damaged one");
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(env, "cannot read %s", path);
	}
	return 0;
}

int pdet_vmlinux_open(struct pdet_vmlinux *v, struct pdet_env *env,
		      const char *path)
{
	int r;

	memset(v, 0, sizeof(*v));
	r = open_file(v, env, path);
	if (r == 0)
		r = read_head(v, env, path);
	if (r < 0)
		pdet_vmlinux_close(v);
	return r;
}

void pdet_vmlinux_close(struct pdet_vmlinux *v)
{
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	free(v->section);
	free(v->symbols);
	free(v->names);
	v->section = NULL;
	v->symbols = v->names = NULL;
	v->n = 0;
}

/* --- whose it is --- */

int pdet_vmlinux_check(const struct pdet_vmlinux *v, struct pdet_env *env,
		       const char *path, uint16_t machine,
		       const struct pdet_build_id *kernel)
{
	char is_of[PDET_MACHINE_WORDS], kernel_of[PDET_MACHINE_WORDS];
	pdet_build_id_text mine, its;

	if (machine && v->machine != machine)
		return pdet_fail(env, EBADMSG, "cannot use %s: it is a kernel "
				 "of %s, and not of %s", path,
				 pdet_machine_words(v->machine, is_of),
				 pdet_machine_words(machine, kernel_of));
	if (!kernel->n) {
		pdet_log(env, PAGEDET_LOG_WARNING, "cannot tell whether %s is "
			 "that of this kernel: the kernel does not say its "
			 "build id (its own: %s)", path,
			 pdet_build_id_words(&v->build_id, mine));
		return 0;
	}
	if (pdet_build_id_same(&v->build_id, kernel))
		return 0;
	return pdet_fail(env, EBADMSG, "cannot use %s: it is that of another "
			 "kernel: its build id is %s, the kernel's %s", path,
			 pdet_build_id_words(&v->build_id, mine),
			 pdet_build_id_words(kernel, its));
}

/* --- symbols --- */

static void read_symbols(struct pdet_vmlinux *v)
{
	const struct pdet_elf_section *s, *names;
	void *symbols, *strings;
	size_t i;

	v->symbols_tried = true;
	for (i = 0; i < v->n && v->section[i].type != SHT_SYMTAB; i++)
		;
	if (i == v->n || v->section[i].link >= v->n)
		return;
	s = &v->section[i];
	names = &v->section[s->link];
	if (s->size > MOST_TABLE || names->size > MOST_TABLE || !names->size ||
	    names->type != SHT_STRTAB ||
	    fetch(v, s->offset, s->size, &symbols) < 0)
		return;
	if (fetch(v, names->offset, names->size, &strings) < 0) {
		free(symbols);
		return;
	}
	v->symbols = symbols;
	v->n_symbols = (size_t)s->size / sizeof(Elf64_Sym);
	v->names = strings;
	v->names_len = (size_t)names->size;
	v->names[v->names_len - 1] = '\0';
}

void pdet_vmlinux_find(struct pdet_vmlinux *v, struct pdet_symbol *s, size_t n)
{
	size_t i, j, left = 0;
	const char *name;
	Elf64_Sym symbol;

	if (!v->symbols_tried)
		read_symbols(v);
	for (j = 0; j < n; j++)
		left += !s[j].found;
	for (i = 1; i < v->n_symbols && left; i++) {
		memcpy(&symbol, v->symbols + i * sizeof(symbol),
		       sizeof(symbol));
		if (symbol.st_name >= v->names_len ||
		    symbol.st_shndx == SHN_UNDEF ||
		    ELF64_ST_TYPE(symbol.st_info) == STT_FILE ||
		    ELF64_ST_TYPE(symbol.st_info) == STT_SECTION)
			continue;
		name = v->names + symbol.st_name;
		for (j = 0; j < n; j++) {
			if (s[j].found || *s[j].name != *name ||
			    strcmp(s[j].name, name))
				continue;
			s[j].found = true;
			s[j].address = symbol.st_value;
			left--;
		}
	}
}

/* --- types --- */

static const struct pdet_elf_section *
find_section(const struct pdet_vmlinux *v, const char *name)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (v->section[i].type != SHT_NOBITS &&
		    !strcmp(v->section[i].name, name))
			return &v->section[i];
	return NULL;
}

int pdet_vmlinux_btf(const struct pdet_vmlinux *v, void **ret, size_t *len)
{
	const struct pdet_elf_section *s = find_section(v, ".BTF");

	if (!s || !s->size || s->size > MOST_BTF)
		return -ENOENT;
	*len = (size_t)s->size;
	return fetch(v, s->offset, s->size, ret);
}

bool pdet_vmlinux_has_dwarf(const struct pdet_vmlinux *v)
{
	return find_section(v, ".debug_info");
}
