/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Sections begin with a header then (gABI, "Section Compression"). */
#include <errno.h>
#include <string.h>

#include "base/codec/codec.h"
#include "unwind/elf_packed.h"

/* <elf.h> of older systems lacks it. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Debug sections of browsers have more, but not those that are read here. */
#define MOST_PACKED ((uint64_t)64 << 20)

static int read_head(struct pdet_elf_packed *p, bool narrow)
{
	const size_t size = narrow ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	Elf32_Chdr n;
	Elf64_Chdr h;

	if (p->len < size)
		return -ENOENT;
	if (narrow) {
		memcpy(&n, p->bytes, size);
		h = (Elf64_Chdr){ .ch_type = n.ch_type, .ch_size = n.ch_size };
	} else {
		memcpy(&h, p->bytes, size);
	}
	p->codec = h.ch_type == ELFCOMPRESS_ZLIB ? PDET_CODEC_ZLIB :
		   h.ch_type == ELFCOMPRESS_ZSTD ? PDET_CODEC_ZSTD : -1;
	if (p->codec < 0)
		return -ENOENT;
	p->bytes += size;
	p->len -= size;
	p->size = h.ch_size;
	return 0;
}

int pdet_elf_packed(const struct pdet_elf_sections *in, const char *name,
		    struct pdet_elf_packed *ret)
{
	Elf64_Shdr s;
	char *bytes;
	int r;

	if (!pdet_elf_find(in, name, 0, &s))
		return -ENOENT;
	r = pdet_elf_bytes(in, s.sh_offset, s.sh_size, MOST_PACKED, &bytes);
	if (r < 0)
		return r;
	*ret = (struct pdet_elf_packed){ bytes, s.sh_size, s.sh_size, -1 };
	return s.sh_flags & SHF_COMPRESSED ? read_head(ret, in->narrow) :
					    0;
}

int pdet_elf_unpack(const struct pdet_elf_packed *p, void *to)
{
	struct pdet_codec *codec;
	int r;

	if (p->codec < 0) {
		memcpy(to, p->bytes, p->size);
		return 0;
	}
	r = pdet_codec_open((enum pdet_codec_id)p->codec, NULL, &codec);
	if (r < 0)
		return r;
	r = pdet_codec_run(codec, p->bytes, p->len, to, p->size);
	pdet_codec_close(codec);
	return r;
}
