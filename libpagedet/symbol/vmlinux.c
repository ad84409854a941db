/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads a vmlinux. The file may be damaged or not a vmlinux. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "memory/machine.h"
#include "pagedet.h"
#include "symbol/vmlinux.h"

/* A full kernel has about 10 MB of each. */
#define MOST_TABLE ((uint64_t)256 << 20)
#define MOST_BTF ((uint64_t)64 << 20)
/* A compressed section: libdw decompresses it into memory completely. */
#define MOST_UNPACKED ((uint64_t)1 << 30)

static int is(struct pdet_env *env, const char *path, const char *what)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: it is %s", path, what);
}

/* --- headers --- */

static int open_file(struct pdet_vmlinux *v, struct pdet_env *env,
		     const char *path)
{
	struct stat st;

	/* The caller named the file, so it is not below the root. It may be a
	 * pipe without a writer. */
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

/* Users often confuse a compressed kernel with vmlinux. */
static int refuse_other(struct pdet_env *env, const char *path,
			const char *head, size_t n)
{
	const char *what = "not an ELF file";

	if (n >= 0x206 && !memcmp(head + 0x202, "HdrS", 4))
		what = "a compressed kernel (bzImage), not its vmlinux";
	else if (n >= 60 && !memcmp(head + 56, "ARMd", 4))
		what = "an Image of arm64, not its vmlinux";
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
		return is(env, path, "an object file or module, not a kernel");
	if (h->e_type == ET_CORE)
		return is(env, path, "a core file, not a kernel");
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return is(env, path, "a damaged ELF file");
	v->machine = h->e_machine;
	return 0;
}

/* Refuse a section that extends beyond the file. */
static int check_sections(const struct pdet_elf_sections *e)
{
	Elf64_Shdr h;
	size_t i;

	if (!pdet_elf_section(e, e->head.e_shstrndx, &h) ||
	    h.sh_size > PDET_ELF_NAMES)
		return -EBADMSG;
	for (i = 1; i < e->n; i++) {
		if (!pdet_elf_section(e, i, &h))
			return -EBADMSG;
		if (h.sh_type != SHT_NOBITS &&
		    !pdet_elf_is_inside(e, h.sh_offset, h.sh_size))
			return -ENOENT;
	}
	return 0;
}

static int open_sections(struct pdet_vmlinux *v, const Elf64_Ehdr *h)
{
	const struct pdet_elf_input in = { .fd = v->fd, .size = v->size };

	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return -EBADMSG;
	if (h->e_shoff > v->size ||
	    h->e_shnum * sizeof(Elf64_Shdr) > v->size - h->e_shoff)
		return -ENOENT;
	if (pdet_elf_sections_open(&v->elf, v->libelf, &in) < 0 ||
	    v->elf.narrow)
		return -EBADMSG;
	return check_sections(&v->elf);
}

static int bytes_of(const struct pdet_vmlinux *v, const Elf64_Shdr *h,
		    uint64_t most, char **ret)
{
	return h->sh_type == SHT_NOBITS ? -ENOENT :
	       pdet_elf_bytes(&v->elf, h->sh_offset, h->sh_size, most, ret);
}

static void read_build_id(struct pdet_vmlinux *v)
{
	Elf64_Shdr h;
	char *data;
	size_t i;

	for (i = 1; !v->build_id.n && pdet_elf_section(&v->elf, i, &h); i++)
		if (h.sh_type == SHT_NOTE &&
		    bytes_of(v, &h, PDET_NOTES_MAX, &data) == 0)
			pdet_build_id_note(&v->build_id, (struct pdet_notes){
					data, h.sh_size });
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
	r = pdet_libelf_new(&v->libelf, env, path);
	if (r < 0)
		return r;
	r = open_sections(v, &h);
	if (r == -ENOENT)
		return is(env, path, "an ELF file that is cut short");
	if (r < 0)
		return is(env, path, "an ELF file without a table of sections, "
			  "or a damaged one");
	read_build_id(v);
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
	pdet_elf_sections_close(&v->elf);
	pdet_libelf_free(v->libelf);
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	v->libelf = NULL;
	v->symbols = v->names = NULL;
	v->n_symbols = 0;
}

/* --- check --- */

int pdet_vmlinux_check(const struct pdet_vmlinux *v, struct pdet_env *env,
		       const char *path, uint16_t machine,
		       const struct pdet_build_id *kernel)
{
	char is_of[PDET_MACHINE_WORDS], kernel_of[PDET_MACHINE_WORDS];
	pdet_build_id_text mine, its;

	if (machine && v->machine != machine)
		return pdet_fail(env, EBADMSG, "cannot use %s: it is a kernel "
				 "of %s, not of %s", path,
				 pdet_machine_words(v->machine, is_of),
				 pdet_machine_words(machine, kernel_of));
	if (!kernel->n) {
		pdet_log(env, PAGEDET_LOG_WARNING, "cannot tell whether %s "
			 "belongs to this kernel: the kernel does not say its "
			 "build id (the file's: %s)", path,
			 pdet_build_id_words(&v->build_id, mine));
		return 0;
	}
	if (pdet_build_id_same(&v->build_id, kernel))
		return 0;
	return pdet_fail(env, EBADMSG, "cannot use %s: it belongs to another "
			 "kernel: its build id is %s, and the kernel's is %s",
			 path,
			 pdet_build_id_words(&v->build_id, mine),
			 pdet_build_id_words(kernel, its));
}

/* --- symbols --- */

static void read_symbols(struct pdet_vmlinux *v)
{
	Elf64_Shdr h, names;

	v->symbols_tried = true;
	if (!pdet_elf_find(&v->elf, NULL, SHT_SYMTAB, &h) ||
	    !pdet_elf_section(&v->elf, h.sh_link, &names) ||
	    names.sh_type != SHT_STRTAB ||
	    bytes_of(v, &h, MOST_TABLE, &v->symbols) < 0 ||
	    bytes_of(v, &names, MOST_TABLE, &v->names) < 0)
		return;
	v->names_len = names.sh_size;
	/* the last name is terminated */
	if (!v->names[v->names_len - 1])
		v->n_symbols = h.sh_size / sizeof(Elf64_Sym);
}

bool pdet_vmlinux_is_code(const struct pdet_vmlinux *v, uint16_t section)
{
	Elf64_Shdr h;

	return pdet_elf_section(&v->elf, section, &h) &&
	       h.sh_flags & SHF_EXECINSTR;
}

bool pdet_vmlinux_code(const struct pdet_vmlinux *v, uint64_t address,
		       struct pdet_vmlinux_code *ret)
{
	Elf64_Shdr h;
	char *bytes;
	size_t i;

	for (i = 1; pdet_elf_section(&v->elf, i, &h); i++) {
		if (h.sh_type == SHT_NOBITS || !(h.sh_flags & SHF_EXECINSTR) ||
		    address < h.sh_addr || address - h.sh_addr >= h.sh_size)
			continue;
		if (bytes_of(v, &h, MOST_TABLE, &bytes) < 0)
			bytes = NULL;
		ret->first = h.sh_addr;
		ret->n = h.sh_size;
		ret->bytes = (unsigned char *)bytes;
		return bytes;
	}
	return false;
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

int pdet_vmlinux_btf(const struct pdet_vmlinux *v, void **ret, size_t *len)
{
	Elf64_Shdr h;
	char *bytes;

	if (!pdet_elf_find(&v->elf, ".BTF", 0, &h) ||
	    bytes_of(v, &h, MOST_BTF, &bytes) < 0)
		return -ENOENT;
	*ret = malloc(h.sh_size);
	if (!*ret)
		return -ENOMEM;
	*len = h.sh_size;
	memcpy(*ret, bytes, *len);
	return 0;
}

/* The largest kernels have about 300 MB. */
static bool is_too_large(const struct pdet_vmlinux *v, const Elf64_Shdr *h)
{
	Elf64_Chdr packed;
	char *bytes;

	if (!(h->sh_flags & SHF_COMPRESSED) || h->sh_size < sizeof(packed) ||
	    pdet_elf_bytes(&v->elf, h->sh_offset, sizeof(packed),
			   sizeof(packed), &bytes) < 0)
		return false;
	memcpy(&packed, bytes, sizeof(packed));
	return packed.ch_size > MOST_UNPACKED;
}

int pdet_vmlinux_dwarf(const struct pdet_vmlinux *v, struct pdet_env *env)
{
	Elf64_Shdr h;
	size_t i;

	if (!pdet_elf_find(&v->elf, ".debug_info", 0, &h))
		return pdet_fail(env, ENOENT, "it has no debug information");
	for (i = 1; pdet_elf_section(&v->elf, i, &h); i++)
		if (is_too_large(v, &h))
			return pdet_fail(env, EBADMSG, "its debug information "
					 "is damaged: it claims an impossible "
					 "size");
	return 0;
}
