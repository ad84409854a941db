/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The list of providers, and decisions that are the same for all of them: which
 * provider reads which files, where VMCOREINFO is if no header has it, and
 * which machine it is if no header names it.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "memory/dump_kind.h"
#include "memory/find_vmcoreinfo.h"
#include "memory/note.h"
#include "memory/open.h"
#include "pagedet.h"

const struct pdet_memory_ops *const pdet_memories[] = {
	&pdet_memory_bpf,
	&pdet_memory_kcore,
	&pdet_memory_elf,
	&pdet_memory_kdump,
	NULL
};

/* Derive the machine from a key that only one machine has. */
static uint16_t machine_of(const char *vmcoreinfo)
{
	static const struct {
		const char *key;
		uint16_t machine;
	} keys[] = {
		{ "\nNUMBER(phys_base)=", EM_X86_64 },
		{ "\nSYMBOL(init_top_pgt)=", EM_X86_64 },
		{ "\nSYMBOL(init_level4_pgt)=", EM_X86_64 },
		{ "\nNUMBER(kimage_voffset)=", EM_AARCH64 },
		{ "\nNUMBER(va_kernel_pa_offset)=", EM_RISCV },
	};
	size_t i;

	for (i = 0; i < PDET_COUNT(keys); i++)
		if (strstr(vmcoreinfo, keys[i].key))
			return keys[i].machine;
	return 0;
}

/* Use the caller's text, or search memory. */
static int find_vmcoreinfo(struct pdet_memory *m, struct pdet_env *env,
			   const char *given, size_t len)
{
	int r;

	if (m->vmcoreinfo || m->live)
		return 0;
	r = given ? pdet_memory_take_vmcoreinfo(m, given, len) : 0;
	m->vmcoreinfo_given = m->vmcoreinfo;
	if (r == 0 && !m->vmcoreinfo && m->ops->read_phys)
		r = pdet_find_vmcoreinfo(m, env);
	if (r == -ETIMEDOUT) {
		pdet_fail(env, ECANCELED, "the search of its memory for "
			  "VMCOREINFO was stopped");
		pdet_advise(env, "a file with it (--vmcoreinfo) avoids the "
			    "search");
		return -ECANCELED;
	}
	return r < 0 ? pdet_fail(env, ENOMEM, "no memory") : 0;
}

/* Fill in what the headers lacked. */
static int complete(struct pdet_memory *m, struct pdet_env *env,
		    const char *given, size_t len)
{
	struct pdet_notes notes = { m->notes, m->notes_len };
	int r;

	m->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	r = find_vmcoreinfo(m, env, given, len);
	if (r < 0)
		return r;
	if (!m->machine)
		m->machine = pdet_notes_machine(notes);
	if (!m->machine && m->vmcoreinfo)
		m->machine = machine_of(m->vmcoreinfo);
	if (!m->machine)
		return pdet_fail(env, ENOTSUP, "it is a dump that does not "
				 "name its kind of machine");
	return 0;
}

/* Nobody wants it. */
static int refuse(struct pdet_env *env, const int *fds)
{
	unsigned char head[PDET_DUMP_HEAD];
	const char *kind;
	ssize_t got;

	got = pdet_pread(fds[0], head, sizeof(head), 0);
	if (got < 0) {
		errno = (int)-got;
		return pdet_fail_errno(env, "it cannot be read");
	}
	kind = pdet_dump_kind(head, (size_t)got);
	if (!kind)
		return pdet_fail(env, EBADMSG, "it is not a dump");
	pdet_fail(env, ENOTSUP, "it is %s", kind);
	pdet_advise(env, "decompress it first");
	return -ENOTSUP;
}

static int open_by(const struct pdet_memory_ops *ops, struct pdet_env *env,
		   const int *fds, size_t n, const char *given, size_t len,
		   struct pdet_memory **ret)
{
	struct pdet_memory *m = calloc(1, ops->size);
	int r;

	if (!m)
		return pdet_fail(env, ENOMEM, "no memory");
	m->ops = ops;
	r = ops->open(m, env, fds, n);
	if (r == 0)
		r = complete(m, env, given, len);
	if (r < 0) {
		pdet_memory_close(m);
		return r;
	}
	*ret = m;
	return 0;
}

int pdet_memory_open(struct pdet_env *env, const int *fds, size_t n,
		     const char *vmcoreinfo, size_t len,
		     struct pdet_memory **ret)
{
	const struct pdet_memory_ops *const *ops;

	for (ops = pdet_memories; *ops; ops++)
		if ((*ops)->probe(env, fds, n))
			return open_by(*ops, env, fds, n, vmcoreinfo, len, ret);
	return refuse(env, fds);
}

int pdet_memory_open_live(struct pdet_env *env, uint32_t sources,
			  struct pdet_memory **ret)
{
	const struct pdet_memory_ops *const *ops;
	struct pdet_env first = { .root = NULL };
	int r = 0, e;

	for (ops = pdet_memories; *ops; ops++) {
		if (!(sources & PAGEDET_SOURCE_BIT((*ops)->source)) ||
		    !(*ops)->probe(env, NULL, 0))
			continue;
		e = open_by(*ops, env, NULL, 0, NULL, 0, ret);
		if (e == 0)
			return 0;
		if (r == 0) {
			r = e;
			first = *env;
		}
	}
	if (r == 0)
		return pdet_fail(env, ENOTSUP, "there is no %s",
				 sources >> PAGEDET_SOURCE_BPF & 1 ?
				 "BPF and no /proc/kcore" : "/proc/kcore");
	pdet_take_words(env, &first);
	return r;
}

void pdet_memory_close(struct pdet_memory *m)
{
	if (!m)
		return;
	m->ops->close(m);
	free(m->vmcoreinfo);
	free(m->notes);
	pdet_vec_free(&m->ranges);
	free(m);
}
