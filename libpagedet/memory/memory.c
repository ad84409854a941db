/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The list of providers, and what all of them leave to one place: who takes
 * which files, VMCOREINFO that no header has, the machine that no header names.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text.h"
#include "base/vec.h"
#include "memory/dump_kind.h"
#include "memory/find_vmcoreinfo.h"
#include "memory/memory.h"
#include "memory/note.h"
#include "pagedet.h"

#define MOST_RANGES 4096
#define SMALLEST_HOLE 4096

const struct pdet_memory_ops *const pdet_memories[] = {
	&pdet_memory_bpf,
	&pdet_memory_kcore,
	&pdet_memory_elf,
	&pdet_memory_kdump,
	NULL
};

/* Joins what has holes of at most m->hole bytes. */
static void join(struct pdet_memory *m)
{
	struct pdet_ranges *r = &m->ranges;
	size_t i, n = 0;

	for (i = 1; i < r->n; i++) {
		if (r->data[i].first - r->data[n].last - 1 <= m->hole)
			r->data[n].last = r->data[i].last;
		else
			r->data[++n] = r->data[i];
	}
	r->n = n + 1;
}

int pdet_memory_add_range(struct pdet_memory *m, uint64_t first, uint64_t last)
{
	struct pdet_ranges *r = &m->ranges;

	if (r->n && first - r->data[r->n - 1].last - 1 <= m->hole) {
		r->data[r->n - 1].last = last;
		return 0;
	}
	while (r->n >= MOST_RANGES) {
		m->hole = m->hole ? m->hole * 2 : SMALLEST_HOLE;
		join(m);
	}
	return pdet_vec_push(r, (struct pdet_range){ first, last }) ? 0 :
		-ENOMEM;
}

bool pdet_memory_is_vmcoreinfo(const char *text, size_t len)
{
	struct pdet_scan s = { text, text + len };
	size_t i;

	if (!pdet_scan_word(&s, "OSRELEASE="))
		return false;
	for (i = 0; i < len; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n' &&
		    text[i] != '\t')
			return false;
	return true;
}

int pdet_memory_take_vmcoreinfo(struct pdet_memory *m, const char *text,
				size_t len)
{
	struct pdet_scan line, all;
	size_t n;

	len = strnlen(text, len);
	if (!pdet_memory_is_vmcoreinfo(text, len))
		return 0;
	free(m->vmcoreinfo);
	m->vmcoreinfo = malloc(len + 1);
	if (!m->vmcoreinfo)
		return -ENOMEM;
	memcpy(m->vmcoreinfo, text, len);
	m->vmcoreinfo[len] = '\0';
	m->vmcoreinfo_len = len;
	all = (struct pdet_scan){ text, text + len };
	pdet_scan_line(&all, &line);
	pdet_scan_word(&line, "OSRELEASE=");
	n = PDET_MIN((size_t)(line.end - line.at), sizeof(m->release) - 1);
	memcpy(m->release, line.at, n);
	m->release[n] = '\0';
	return 0;
}

/* What only one machine has to say. */
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

/* The caller's, or what is found in memory. */
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
	return r < 0 ? pdet_fail(env, ENOMEM, "no memory") : 0;
}

/* What the headers did not say. */
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
		return pdet_fail(env, ENOTSUP, "it is a dump that does not say "
				 "of which kind of machine");
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
		return pdet_fail(env, EBADMSG, "it is no dump");
	pdet_fail(env, ENOTSUP, "it is %s", kind);
	pdet_advise(env, "unpack it first");
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
		     struct pdet_memory **ret)
{
	return pdet_memory_open_with(env, fds, n, NULL, 0, ret);
}

int pdet_memory_open_with(struct pdet_env *env, const int *fds, size_t n,
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

int pdet_is_locked(struct pdet_env *env)
{
	struct pdet_text text;
	int locked;

	if (pdet_slurp(env, &text, 4096, "/sys/kernel/security/lockdown") < 0)
		return -1;
	locked = strstr(text.data, "[confidentiality]") != NULL;
	pdet_text_free(&text);
	return locked;
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
