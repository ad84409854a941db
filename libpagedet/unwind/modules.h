/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The code that a process of this machine or of a dump has mapped: files, the
 * vdso, and memory that it wrote itself.
 */
#ifndef PDET_UNWIND_MODULES_H
#define PDET_UNWIND_MODULES_H

#include "base/io.h"
#include "base/pairs.h"
#include "kernel/text/maps.h"
#include "unwind/cached_file.h"
#include "unwind/elf_file.h"

/* A file that is mapped, or the vdso. */
struct pdet_module_file {
	char *path;		/* as /proc/PID/maps has it, or "[vdso]" */
	uint64_t dev, inode;
	uint64_t cache, size;	/* as those of struct pdet_vma */
	uint64_t start, end;	/* of one of its mappings in this process */
	bool vdso;
	bool tried;
	int error;		/* why it is not read; 0: it is. -ESTALE:
				 * another file has its name. -EXDEV: perhaps.
				 * -EREMOTE: its filesystem may not answer.
				 * -ENOSYS: libelf is not there. -ENODATA: the
				 * dump does not have it */
	int lost;		/* why the dump lacks a part; 0: it has all that
				 * was needed */
	int fd;			/* -1: none */
	struct pdet_elf_file elf;
	pdet_build_id_text build_id;
	/* The file of the same build that has all symbols. */
	struct pdet_elf_file debug;
};

struct pdet_code_map {
	uint64_t start, end, offset;
	bool exec, write;
	struct pdet_module_file *file;	/* NULL: memory without a file */
};

/* How the process's memory is read. */
struct pdet_code_memory {
	int (*read)(void *arg, uint64_t addr, void *buf, size_t n);
	/* A number of the mappings that a process of /proc has now: the same
	 * number, the same mappings. 0: it is not known. NULL: it never is. */
	uint64_t (*maps)(void *arg);
	void *arg;
};

/* The mappings and files of a process of a dump. */
struct pdet_code_dump {
	uint64_t space;		/* of its address space: with the same number,
				 * the mappings are the same. Not 0 */
	/* Passes the mappings one by one, ascending. Returns 1, 0 at the end,
	 * or a negative errno with an error text; -EBADMSG: some are lost. */
	int (*next)(void *arg, struct pdet_vma *ret);
	void *arg;
	struct pdet_cached_source files;
};

struct pdet_code {
	struct pdet_env *env;
	uint32_t pid;
	struct pdet_code_memory memory;
	const struct pdet_code_dump *dump; /* NULL: it is a process of /proc */
	struct pdet_text text;	/* of maps */
	uint64_t text_maps;	/* their number; 0: it is not known */
	uint64_t space;		/* of the dump, whose maps they are; 0: none */
	struct {
		struct pdet_code_map *data;
		size_t n, cap;
	} maps;
	struct {
		struct pdet_module_file **data;
		size_t n, cap;
	} files;
	struct pdet_pairs known; /* hash of a file -> its place in files */
	struct pdet_libelf *libelf; /* NULL: no file needed it yet */
	uint64_t spent;		/* bytes of their tables */
	bool tried_mounts;
	struct pdet_pairs remote; /* devices of filesystems that may not
				 * answer */
};

/*
 * pdet_code_open - list the mappings of a process. c->env, c->pid, c->memory
 * and c->dump are set, the rest is zero or of another thread: what was read for
 * it stays if the mappings are the same, and the files of a dump stay in any
 * case. Returns 0, or a negative errno with an error text.
 */
int pdet_code_open(struct pdet_code *c);
void pdet_code_free(struct pdet_code *c);

/* pdet_code_map_at - NULL: nothing is mapped there. */
const struct pdet_code_map *pdet_code_map_at(const struct pdet_code *c,
					     uint64_t addr);

/* pdet_code_file - read the headers and symbols of a mapping's file, once.
 * Returns 0 or a negative errno. */
int pdet_code_file(struct pdet_code *c, struct pdet_module_file *f);

/* pdet_code_file_read - bytes of the file of a mapping, at an address of the
 * process. Returns 0 or a negative errno. */
int pdet_code_file_read(struct pdet_code *c, uint64_t addr, void *buf,
			size_t n);

#endif
