/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes ELF core files in the form of QEMU and makedumpfile -E. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dump_write.h"

struct segments {
	Elf64_Phdr *data;
	size_t n;
};

static Elf64_Phdr *add(struct segments *s, uint32_t type)
{
	Elf64_Phdr *bigger = realloc(s->data, (s->n + 1) * sizeof(*bigger));

	if (!bigger) {
		perror("dump");
		exit(1);
	}
	s->data = bigger;
	memset(&bigger[s->n], 0, sizeof(*bigger));
	bigger[s->n].p_type = type;
	return &bigger[s->n++];
}

/* Finds runs of blocks, with the excluded ones behind each. */
static void find_runs(struct segments *s, const struct dump_memory *m)
{
	enum dump_state before = DUMP_NOTHING, state;
	void *buf = malloc(m->block);
	Elf64_Phdr *p = NULL;
	uint64_t i;

	for (i = 0; i < m->frames; i++, before = state) {
		state = m->read(m->arg, i, buf);
		if (state == DUMP_NOTHING)
			continue;
		if (state > before) {
			p = add(s, PT_LOAD);
			p->p_paddr = i * m->block;
		}
		p->p_memsz += m->block;
		if (state == DUMP_BLOCK)
			p->p_filesz += m->block;
	}
	free(buf);
}

static void write_head(struct dump_sink *sink, const struct dump_elf *elf,
		       const struct segments *s, uint64_t phoff)
{
	Elf64_Shdr zero = { .sh_info = (uint32_t)s->n };
	Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = elf->machine,
		.e_version = EV_CURRENT, .e_phoff = phoff,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = elf->xnum ? PN_XNUM : (Elf64_Half)s->n,
	};

	if (elf->xnum) {
		h.e_shoff = sizeof(h);
		h.e_shnum = 1;
		h.e_shentsize = sizeof(zero);
		dump_sink_write(sink, &zero, sizeof(zero), h.e_shoff);
	}
	dump_sink_write(sink, &h, sizeof(h), 0);
	dump_sink_write(sink, s->data, s->n * sizeof(*s->data), phoff);
}

void dump_write_elf(struct dump_sink *sink, const struct dump_elf *elf,
		    const struct dump_memory *m)
{
	uint64_t phoff = elf->phoff, at, i;
	struct segments s = { NULL, 0 };
	void *buf = malloc(m->block);
	size_t k;

	if (elf->notes_len)
		add(&s, PT_NOTE)->p_filesz = elf->notes_len;
	find_runs(&s, m);
	if (!phoff)
		phoff = sizeof(Elf64_Ehdr) +
			(elf->xnum ? sizeof(Elf64_Shdr) : 0);
	at = phoff + s.n * sizeof(*s.data);
	for (k = 0; k < s.n; k++) {
		s.data[k].p_offset = at;
		at += s.data[k].p_filesz;
	}
	write_head(sink, elf, &s, phoff);
	for (k = 0; k < s.n; k++) {
		if (s.data[k].p_type == PT_NOTE) {
			dump_sink_write(sink, elf->notes, elf->notes_len,
					s.data[k].p_offset);
			continue;
		}
		for (i = 0; i < s.data[k].p_filesz; i += m->block) {
			m->read(m->arg, (s.data[k].p_paddr + i) / m->block,
				buf);
			dump_sink_write(sink, buf, m->block,
					s.data[k].p_offset + i);
		}
	}
	free(buf);
	free(s.data);
}

size_t dump_note(void *buf, size_t len, const char *name, uint32_t type,
		 const void *desc, size_t n)
{
	Elf64_Nhdr h = { (uint32_t)strlen(name) + 1, (uint32_t)n, type };
	char *p = buf;

	memset(p + len, 0, sizeof(h) + h.n_namesz + n + 8);
	memcpy(p + len, &h, sizeof(h));
	len += sizeof(h);
	memcpy(p + len, name, h.n_namesz);
	len += (h.n_namesz + 3) & ~(size_t)3;
	memcpy(p + len, desc, n);
	return len + ((n + 3) & ~(size_t)3);
}
