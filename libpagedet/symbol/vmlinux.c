/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reads a vmlinux with libelf; no other file of this room includes libelf.
 * libelf reads only the parts that are needed. Sections that cannot exist are
 * refused first, so that libelf allocates no memory for them. The file may be
 * damaged or not a vmlinux.
 */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/library.h"
#include "memory/machine.h"
#include "pagedet.h"
#include "symbol/vmlinux.h"

#define MOST_NAMES ((uint64_t)16 << 20)
/* A full kernel has about 10 MB of each. */
#define MOST_TABLE ((uint64_t)256 << 20)
#define MOST_BTF ((uint64_t)64 << 20)
/* A compressed section: libdw decompresses it into memory completely. */
#define MOST_UNPACKED ((uint64_t)1 << 30)

#define FUNCTIONS(X) \
	X(elf_version) X(elf_begin) X(elf_end) X(elf_nextscn) X(elf_getscn) \
	X(elf_strptr) X(elf_rawdata) X(elf64_getshdr) \
	X(elf64_getchdr)

struct pdet_elf_sections {
	struct pdet_library lib;
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
	Elf *elf;
	size_t n, names;	/* number; section with their names */
};

static int is(struct pdet_env *env, const char *path, const char *what)
{
	return pdet_fail(env, EBADMSG, "cannot read %s: it is %s", path, what);
}

static int load(struct pdet_elf_sections *e, struct pdet_env *env,
		const char *path)
{
	if (pdet_library_open(&e->lib, "libelf.so.1")) {
#define X(name) e->name = PDET_FUNCTION(&e->lib, name);
		FUNCTIONS(X)
#undef X
	}
	if (!*e->lib.why)
		return 0;
	pdet_fail(env, ENOSYS, "cannot read %s: %s", path, e->lib.why);
	pdet_advise(env, "needs libelf installed");
	return -ENOSYS;
}

/* --- sections --- */

/* The first section of that name, or else the first one of that type. NULL if
 * no such section has bytes in the file. */
static Elf_Scn *find_section(const struct pdet_vmlinux *v, const char *name,
			     uint32_t type)
{
	const struct pdet_elf_sections *e = v->elf;
	Elf_Scn *s = NULL;
	Elf64_Shdr *h;
	const char *is;

	while ((s = e->elf_nextscn(e->elf, s))) {
		h = e->elf64_getshdr(s);
		if (!h || h->sh_type == SHT_NOBITS)
			continue;
		is = name ? e->elf_strptr(e->elf, e->names, h->sh_name) : NULL;
		if (name ? is && !strcmp(is, name) : h->sh_type == type)
			return s;
	}
	return NULL;
}

/*
 * The bytes of a section, which are valid as long as @v. NULL if there are
 * none, or more than @most.
 */
static char *bytes_of(const struct pdet_vmlinux *v, Elf_Scn *s, uint64_t most,
		      size_t *len)
{
	const struct pdet_elf_sections *e = v->elf;
	const Elf64_Shdr *h = e->elf64_getshdr(s);
	const Elf_Data *data;

	if (!h || !h->sh_size || h->sh_size > most)
		return NULL;
	data = e->elf_rawdata(s, NULL);
	if (!data || !data->d_buf || data->d_size != h->sh_size)
		return NULL;
	*len = data->d_size;
	return data->d_buf;
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
static int check_sections(struct pdet_vmlinux *v)
{
	const struct pdet_elf_sections *e = v->elf;
	Elf_Scn *s = NULL;
	const Elf64_Shdr *h;

	h = e->elf64_getshdr(e->elf_getscn(e->elf, e->names));
	if (!h || h->sh_size > MOST_NAMES)
		return -EBADMSG;
	while ((s = e->elf_nextscn(e->elf, s))) {
		h = e->elf64_getshdr(s);
		if (!h)
			return -EBADMSG;
		if (h->sh_type != SHT_NOBITS &&
		    (h->sh_offset > v->size ||
		     h->sh_size > v->size - h->sh_offset))
			return -ENOENT;
	}
	return 0;
}

static int open_sections(struct pdet_vmlinux *v, const Elf64_Ehdr *h)
{
	struct pdet_elf_sections *e = v->elf;

	if (h->e_shentsize != sizeof(Elf64_Shdr) || !h->e_shnum ||
	    h->e_shstrndx >= h->e_shnum)
		return -EBADMSG;
	if (h->e_shoff > v->size ||
	    h->e_shnum * sizeof(Elf64_Shdr) > v->size - h->e_shoff)
		return -ENOENT;
	e->n = h->e_shnum;
	e->names = h->e_shstrndx;
	e->elf_version(EV_CURRENT);
	e->elf = e->elf_begin(v->fd, ELF_C_READ, NULL);
	return e->elf ? check_sections(v) : -EBADMSG;
}

static void read_build_id(struct pdet_vmlinux *v)
{
	const struct pdet_elf_sections *e = v->elf;
	const Elf64_Shdr *h;
	Elf_Scn *s = NULL;
	const char *data;
	size_t len;

	while (!v->build_id.n && (s = e->elf_nextscn(e->elf, s))) {
		h = e->elf64_getshdr(s);
		if (!h || h->sh_type != SHT_NOTE)
			continue;
		data = bytes_of(v, s, PDET_NOTES_MAX, &len);
		if (data)
			pdet_build_id_note(&v->build_id,
					   (struct pdet_notes){ data, len });
	}
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
	v->elf = calloc(1, sizeof(*v->elf));
	if (!v->elf)
		return pdet_fail(env, ENOMEM, "no memory");
	r = load(v->elf, env, path);
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
	if (v->elf) {
		if (v->elf->elf)
			v->elf->elf_end(v->elf->elf);
		pdet_library_close(&v->elf->lib);
	}
	free(v->elf);
	if (v->fd >= 0)
		close(v->fd);
	v->fd = -1;
	v->elf = NULL;
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
	const struct pdet_elf_sections *e = v->elf;
	Elf_Scn *s = find_section(v, NULL, SHT_SYMTAB), *names;
	const Elf64_Shdr *h;
	size_t len;

	v->symbols_tried = true;
	if (!s)
		return;
	names = e->elf_getscn(e->elf, e->elf64_getshdr(s)->sh_link);
	h = names ? e->elf64_getshdr(names) : NULL;
	if (!h || h->sh_type != SHT_STRTAB)
		return;
	v->symbols = bytes_of(v, s, MOST_TABLE, &len);
	v->names = bytes_of(v, names, MOST_TABLE, &v->names_len);
	/* the last name is terminated */
	if (v->symbols && v->names && !v->names[v->names_len - 1])
		v->n_symbols = len / sizeof(Elf64_Sym);
}

bool pdet_vmlinux_is_code(const struct pdet_vmlinux *v, uint16_t section)
{
	const struct pdet_elf_sections *e = v->elf;
	Elf_Scn *s = section < e->n ? e->elf_getscn(e->elf, section) : NULL;
	const Elf64_Shdr *h = s ? e->elf64_getshdr(s) : NULL;

	return h && h->sh_flags & SHF_EXECINSTR;
}

bool pdet_vmlinux_code(const struct pdet_vmlinux *v, uint64_t address,
		       struct pdet_vmlinux_code *ret)
{
	const struct pdet_elf_sections *e = v->elf;
	const Elf64_Shdr *h;
	Elf_Scn *s = NULL;

	while ((s = e->elf_nextscn(e->elf, s))) {
		h = e->elf64_getshdr(s);
		if (!h || h->sh_type == SHT_NOBITS ||
		    !(h->sh_flags & SHF_EXECINSTR) || address < h->sh_addr ||
		    address - h->sh_addr >= h->sh_size)
			continue;
		ret->first = h->sh_addr;
		ret->bytes = (unsigned char *)bytes_of(v, s, MOST_TABLE,
						       &ret->n);
		return ret->bytes;
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
	Elf_Scn *s = find_section(v, ".BTF", 0);
	const char *bytes = s ? bytes_of(v, s, MOST_BTF, len) : NULL;

	if (!bytes)
		return -ENOENT;
	*ret = malloc(*len);
	if (!*ret)
		return -ENOMEM;
	memcpy(*ret, bytes, *len);
	return 0;
}

/* The largest kernels have about 300 MB. */
static bool is_too_large(const struct pdet_elf_sections *e, Elf_Scn *s,
			 const Elf64_Shdr *h)
{
	const Elf64_Chdr *packed = h->sh_flags & SHF_COMPRESSED ?
				   e->elf64_getchdr(s) : NULL;

	return packed && packed->ch_size > MOST_UNPACKED;
}

int pdet_vmlinux_dwarf(const struct pdet_vmlinux *v, struct pdet_env *env)
{
	const struct pdet_elf_sections *e = v->elf;
	const Elf64_Shdr *h;
	Elf_Scn *s = NULL;

	if (!find_section(v, ".debug_info", 0))
		return pdet_fail(env, ENOENT, "it has no debug information");
	while ((s = e->elf_nextscn(e->elf, s))) {
		h = e->elf64_getshdr(s);
		if (h && is_too_large(e, s, h))
			return pdet_fail(env, EBADMSG, "its debug information "
					 "is damaged: it claims an impossible "
					 "size");
	}
	return 0;
}
