/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Opens files as the process has mapped them: /proc/PID/map_files leads to the
 * file itself, even if another one has its name by now. Without the right to
 * use that, the file of this name must have the same device and inode.
 *
 * Of a dump, a file of this machine is used only if its build id is the one in
 * the pages that the dump has of it; otherwise these pages are.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/vec.h"
#include "kernel/text/mountinfo.h"
#include "pagedet.h"
#include "unwind/local_file.h"
#include "unwind/modules.h"

/* The kernel allows 65530 mappings, unless it was told otherwise. */
#define MOST_MAPS ((size_t)64 << 20)

/* Of processes of a dump. */
#define MOST_FILES 256

#define VDSO "[vdso]"
#define VDSO_BYTES 65536
#define VDSO_PAGE 4096

/* --- mappings --- */

static bool is_vdso(const struct pdet_vma *v)
{
	return !v->inode && v->name_len == strlen(VDSO) &&
	       !memcmp(v->name, VDSO, v->name_len);
}

static uint64_t key_of(const struct pdet_vma *v)
{
	const uint64_t words[] = {
		v->dev, v->inode, v->cache, pdet_hash(v->name, v->name_len)
	};

	return pdet_hash(words, sizeof(words));
}

static struct pdet_module_file *find_file(const struct pdet_code *c,
					  const struct pdet_vma *v)
{
	struct pdet_module_file *f;
	uint64_t at;

	if (!pdet_pairs_get(&c->known, key_of(v), &at))
		return NULL;
	f = c->files.data[at];
	return f->inode == v->inode && f->dev == v->dev &&
	       f->cache == v->cache ? f : NULL;
}

static struct pdet_module_file *add_file(struct pdet_code *c,
					 const struct pdet_vma *v)
{
	struct pdet_module_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fd = -1;
	f->dev = v->dev;
	f->inode = v->inode;
	f->cache = v->cache;
	f->size = v->size;
	f->start = v->start;
	f->end = v->end;
	f->vdso = is_vdso(v);
	f->path = strndup(v->name, v->name_len);
	if (!f->path || !pdet_pairs_set(&c->known, key_of(v), c->files.n) ||
	    !pdet_vec_push(&c->files, f)) {
		free(f->path);
		free(f);
		return NULL;
	}
	if (!c->dump)
		f->path[pdet_unescape_octal(f->path, v->name_len)] = '\0';
	return f;
}

static int add_map(struct pdet_code *c, const struct pdet_vma *v)
{
	struct pdet_code_map map = {
		.start = v->start, .end = v->end, .offset = v->offset,
		.exec = v->prot & PAGEDET_PROT_EXEC,
		.write = v->prot & PAGEDET_PROT_WRITE,
	};

	if (v->inode || v->owner_unproved || is_vdso(v)) {
		map.file = find_file(c, v);
		if (!map.file)
			map.file = add_file(c, v);
		if (!map.file)
			return -ENOMEM;
		/* In each process it is elsewhere. */
		map.file->start = v->start;
		map.file->end = v->end;
	}
	return pdet_vec_push(&c->maps, map) ? 0 : -ENOMEM;
}

static void free_file(struct pdet_module_file *f)
{
	pdet_elf_file_free(&f->elf);
	pdet_elf_file_free(&f->debug);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	free(f);
}

static void forget(struct pdet_code *c)
{
	size_t i;

	for (i = 0; i < c->files.n; i++)
		free_file(c->files.data[i]);
	pdet_vec_free(&c->files);
	pdet_vec_free(&c->maps);
	pdet_text_free(&c->text);
	pdet_pairs_free(&c->known);
	pdet_pairs_free(&c->remote);
	c->tried_mounts = false;
	c->text_maps = 0;
	c->spent = 0;
}

void pdet_code_free(struct pdet_code *c)
{
	forget(c);
	pdet_libelf_free(c->libelf);
	c->libelf = NULL;
}

/* Whether no memory of the process was lost: it may be read the next time. */
static bool is_well(const struct pdet_code *c)
{
	size_t i;

	for (i = 0; i < c->files.n; i++)
		if (c->files.data[i]->vdso && c->files.data[i]->error)
			return false;
	return true;
}

static int parse_maps(struct pdet_code *c)
{
	struct pdet_scan all = { c->text.data, c->text.data + c->text.len };
	struct pdet_scan line;
	struct pdet_vma v;
	int r = 0;

	while (r == 0 && pdet_scan_line(&all, &line))
		r = pdet_maps_line(line, &v) ? add_map(c, &v) : -EBADMSG;
	return r;
}

static uint64_t number_of_maps(const struct pdet_code *c)
{
	return c->memory.maps ? c->memory.maps(c->memory.arg) : 0;
}

/* The maps of a process of /proc. They may change while they are read. */
static int open_live(struct pdet_code *c)
{
	uint64_t maps = number_of_maps(c);
	struct pdet_text text;
	int r;

	if (maps && maps == c->text_maps && is_well(c))
		return 0;
	r = pdet_slurp(c->env, &text, MOST_MAPS, "/proc/%u/maps", c->pid);
	if (r < 0) {
		errno = -r;
		return pdet_fail_errno(c->env, "cannot read /proc/%u/maps",
				       c->pid);
	}
	if (maps != number_of_maps(c))
		maps = 0;
	if (text.len && text.len == c->text.len && is_well(c) &&
	    !memcmp(text.data, c->text.data, text.len)) {
		pdet_text_free(&text);
		c->text_maps = maps;
		return 0;
	}
	forget(c);
	c->text = text;
	c->text_maps = maps;
	r = parse_maps(c);
	if (r == -ENOMEM)
		r = pdet_fail(c->env, ENOMEM, "no memory");
	else if (r < 0)
		r = pdet_fail(c->env, EBADMSG, "cannot read /proc/%u/maps: a "
			      "line has another form", c->pid);
	if (r < 0)
		forget(c);
	return r;
}

/* Files that one process of a dump has read serve the next one. */
static void forget_maps(struct pdet_code *c)
{
	if (c->spent > PDET_ELF_BYTES / 2 || c->files.n > MOST_FILES)
		forget(c);
	c->maps.n = 0;
	c->space = 0;
}

/* What a damaged dump lacks is not mapped: no frame there has a name. */
static int open_dump(struct pdet_code *c)
{
	const struct pdet_code_dump *d = c->dump;
	struct pdet_vma v;
	int r, added = 0;

	if (d->space == c->space)
		return 0;
	forget_maps(c);
	while (added == 0 && (r = d->next(d->arg, &v)) > 0)
		added = add_map(c, &v);
	if (added < 0) {
		forget(c);
		return pdet_fail(c->env, ENOMEM, "no memory");
	}
	if (r < 0 && (r != -EBADMSG || !c->maps.n))
		return r;
	pdet_clear(c->env);
	c->space = d->space;
	return 0;
}

int pdet_code_open(struct pdet_code *c)
{
	return c->dump ? open_dump(c) : open_live(c);
}

const struct pdet_code_map *pdet_code_map_at(const struct pdet_code *c,
					     uint64_t addr)
{
	size_t low = 0, high = c->maps.n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (c->maps.data[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < c->maps.n && c->maps.data[low].start <= addr ?
	       &c->maps.data[low] : NULL;
}

/* --- files --- */

static int read_mounts(struct pdet_code *c)
{
	struct pdet_scan all, line;
	struct pdet_mount m;
	struct pdet_text text;
	int r = pdet_slurp(c->env, &text, PDET_MOUNTS_BYTES,
			   "/proc/%u/mountinfo", c->pid);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	all = (struct pdet_scan){ text.data, text.data + text.len };
	while (r == 0 && pdet_scan_line(&all, &line))
		if (pdet_mountinfo_line(line, &m) && pdet_may_hang(m.fstype) &&
		    !pdet_pairs_set(&c->remote, m.dev, 1))
			r = -ENOMEM;
	pdet_text_free(&text);
	return r;
}

/* Returns -EREMOTE if the file may not be touched. */
static int check_mount(struct pdet_code *c, const struct pdet_module_file *f)
{
	uint64_t ignored;
	int r = c->tried_mounts ? 0 : read_mounts(c);

	c->tried_mounts = true;
	if (r < 0)
		return r;
	return pdet_pairs_get(&c->remote, f->dev, &ignored) ? -EREMOTE : 0;
}

static bool is_same(const struct pdet_module_file *f, const struct stat *st)
{
	return st->st_ino == f->inode &&
	       ((uint64_t)major(st->st_dev) << 32 | minor(st->st_dev)) ==
		       f->dev;
}

static int open_mapped(const struct pdet_code *c,
		       const struct pdet_module_file *f, struct stat *st)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", c->pid,
		 (unsigned long long)f->start, (unsigned long long)f->end);
	fd = pdet_open_regular(c->env, path, st);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/root%s", c->pid, f->path);
	fd = pdet_open_regular(c->env, path, st);
	if (fd < 0 || is_same(f, st))
		return fd;
	close(fd);
	/* A filesystem may show stat() another device than the mapping has. */
	return st->st_ino == f->inode ? -EXDEV : -ESTALE;
}

/* What is mapped after the end of the file is zero, to the end of the page. */
static int read_mapped(int fd, uint64_t offset, void *buf, size_t n)
{
	const ssize_t got = pdet_pread(fd, buf, n, offset);

	if (got <= 0)
		return got < 0 ? (int)got : -EBADMSG;
	memset((char *)buf + got, 0, n - (size_t)got);
	return 0;
}

static int load_libelf(struct pdet_code *c, const char *path)
{
	int r = c->libelf ? 0 : pdet_libelf_new(&c->libelf, c->env, path);

	/* The frames say why. */
	if (r < 0)
		pdet_clear(c->env);
	return r;
}

static int read_elf(struct pdet_code *c, const char *path,
		    const struct pdet_elf_input *in, struct pdet_elf_file *ret)
{
	int r = load_libelf(c, path);

	if (r < 0)
		return r;
	ret->spent = &c->spent;
	return pdet_elf_file_open(ret, c->libelf, in);
}

/* Debug files of distributions are named by the build id. */
static void open_debug(struct pdet_code *c, struct pdet_module_file *f)
{
	struct pdet_elf_input in = { .bytes = NULL };
	char path[PATH_MAX];
	struct stat st;

	if (f->elf.whole || f->elf.build_id.n < 2)
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug",
		 f->build_id, f->build_id + 2);
	in.fd = pdet_open_regular(c->env, path, &st);
	if (in.fd < 0)
		return;
	in.size = (uint64_t)st.st_size;
	if (read_elf(c, path, &in, &f->debug) == 0 &&
	    !pdet_build_id_same(&f->debug.build_id, &f->elf.build_id))
		pdet_elf_file_free(&f->debug);
	close(in.fd);
}

struct vdso {
	const struct pdet_code_memory *memory;
	struct pdet_module_file *file;
	char *bytes;
};

static int load_vdso(void *arg, uint64_t offset, uint64_t n)
{
	const struct vdso *v = arg;
	int r = v->memory->read(v->memory->arg, v->file->start + offset,
				v->bytes + offset, n);

	if (r < 0 && !v->file->lost)
		v->file->lost = r;
	return r;
}

/* The kernel maps the whole file of the vdso, but that of a 32-bit program is
 * not the one of this process, and nobody touches its list of sections. */
static int open_vdso(struct pdet_code *c, struct pdet_module_file *f)
{
	struct vdso v = { &c->memory, f, NULL };
	struct pdet_elf_input in = { .fd = -1, .load = load_vdso, .arg = &v };
	int r;

	in.size = PDET_MIN(f->end - f->start, VDSO_BYTES);
	in.bytes = v.bytes = calloc(1, in.size);
	if (!in.bytes)
		return -ENOMEM;
	r = read_elf(c, f->path, &in, &f->elf);
	free(in.bytes);
	return r;
}

static int open_file(struct pdet_code *c, struct pdet_module_file *f)
{
	struct pdet_elf_input in = { .bytes = NULL };
	struct stat st;
	int r = check_mount(c, f);

	if (r < 0)
		return r;
	f->fd = in.fd = open_mapped(c, f, &st);
	if (f->fd < 0)
		return f->fd;
	in.size = (uint64_t)st.st_size;
	return read_elf(c, f->path, &in, &f->elf);
}

/* Returns 0 if a file of this machine has that build id. */
static int open_same(struct pdet_code *c, struct pdet_module_file *f,
		     const struct pdet_build_id *id)
{
	struct pdet_elf_input in = { .bytes = NULL };
	struct stat st;
	int r = -ESTALE;

	in.fd = id->n ? pdet_open_named(c->env, f->path, &st) : -ENOENT;
	if (in.fd < 0)
		return in.fd;
	in.size = (uint64_t)st.st_size;
	if (read_elf(c, f->path, &in, &f->elf) == 0) {
		if (pdet_build_id_same(&f->elf.build_id, id))
			r = 0;
		else
			pdet_elf_file_free(&f->elf);
	}
	if (r == 0)
		f->fd = in.fd;
	else
		close(in.fd);
	return r;
}

/* Of a dump. */
static int open_cached(struct pdet_code *c, struct pdet_module_file *f)
{
	struct pdet_cached_file in;
	struct pdet_build_id id;
	int r = pdet_cached_file_open(&in, &c->dump->files, f->cache, f->size);

	if (r == 0)
		r = load_libelf(c, f->path);
	if (r == 0)
		r = pdet_elf_file_build_id(&id, c->libelf, &in.in);
	if (r == 0 && open_same(c, f, &id) < 0) {
		f->elf = (struct pdet_elf_file){ .spent = NULL };
		r = read_elf(c, f->path, &in.in, &f->elf);
		f->lost = in.lost;
	}
	pdet_cached_file_close(&in);
	return r;
}

int pdet_code_file(struct pdet_code *c, struct pdet_module_file *f)
{
	if (f->tried)
		return f->error;
	f->tried = true;
	f->error = f->vdso ? open_vdso(c, f) :
		   c->dump ? open_cached(c, f) : open_file(c, f);
	pdet_build_id_words(&f->elf.build_id, f->build_id);
	if (f->error == 0)
		open_debug(c, f);
	return f->error;
}

static uint64_t size_of_own_vdso(const char *own)
{
	Elf64_Ehdr h;

	memcpy(&h, own, sizeof(h));
	return (h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize +
		VDSO_PAGE - 1) & ~(uint64_t)(VDSO_PAGE - 1);
}

/* A process has not touched all pages of its vdso. The kernel maps the same one
 * into all programs; the first page, which all have read, shows that it is. */
static int read_own_vdso(const struct pdet_code *c,
			 const struct pdet_code_map *m, uint64_t addr,
			 void *buf, size_t n)
{
	const char *own = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const uint64_t size = own ? size_of_own_vdso(own) : 0;
	const uint64_t at = addr - m->start;
	char first[VDSO_PAGE];

	if (at < VDSO_PAGE || at > size || n > size - at ||
	    c->memory.read(c->memory.arg, m->start, first, sizeof(first)) < 0 ||
	    memcmp(first, own, sizeof(first)))
		return -ENOENT;
	memcpy(buf, own + at, n);
	return 0;
}

static int read_cached(const struct pdet_code *c, const struct pdet_code_map *m,
		       uint64_t addr, void *buf, size_t n)
{
	const uint64_t offset = m->offset + (addr - m->start);

	if (!m->file->cache || n != PDET_CACHED_PAGE || offset % n)
		return -ENODATA;
	return c->dump->files.page(c->dump->files.arg, m->file->cache,
				   offset / n, buf);
}

int pdet_code_file_read(struct pdet_code *c, uint64_t addr, void *buf, size_t n)
{
	const struct pdet_code_map *m = pdet_code_map_at(c, addr);

	if (!m || !m->file || n > m->end - addr)
		return -ENOENT;
	if (m->file->vdso)
		return c->dump ? -ENODATA :
		       read_own_vdso(c, m, addr, buf, n);
	(void)pdet_code_file(c, m->file);
	if (m->file->fd < 0)
		return c->dump ? read_cached(c, m, addr, buf, n) : -ENOENT;
	return read_mapped(m->file->fd, m->offset + (addr - m->start), buf, n);
}
