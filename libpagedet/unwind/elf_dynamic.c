/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * PT_DYNAMIC (gABI, "Dynamic Section") has the addresses of the tables, but not
 * the number of symbols. The hash table has it: DT_HASH has a chain for each
 * symbol, and in DT_GNU_HASH the last chain ends with the last symbol.
 */
#include <string.h>

#include "unwind/elf_dynamic.h"

#define MOST_DYNAMIC ((uint64_t)64 << 10)
#define MOST_BUCKETS ((uint64_t)4 << 20)

/* Symbols in one chain. Linkers make one bucket for a few. */
#define MOST_CHAIN 64

/* Finds where a file has the byte of an address. Returns false if no segment
 * has it. */
static bool offset_of(const Elf64_Phdr *segments, size_t n, uint64_t address,
		      uint64_t *ret)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const Elf64_Phdr *p = &segments[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
		    address - p->p_vaddr >= p->p_filesz)
			continue;
		*ret = p->p_offset + (address - p->p_vaddr);
		return true;
	}
	return false;
}

static bool read_at(const struct pdet_elf_sections *in, uint64_t offset,
		    uint64_t n, char **ret)
{
	return pdet_elf_bytes(in, offset, n, MOST_BUCKETS, ret) == 0;
}

static uint32_t word(const char *bytes, uint64_t i)
{
	uint32_t v;

	memcpy(&v, bytes + i * sizeof(v), sizeof(v));
	return v;
}

static bool count_hash(const struct pdet_elf_sections *in, uint64_t at,
		       uint64_t *n)
{
	char *head;

	if (!read_at(in, at, 8, &head))
		return false;
	*n = word(head, 1);
	return true;
}

/* The chain of the symbol with the highest number that begins one. */
static bool count_gnu_hash(const struct pdet_elf_sections *in, uint64_t at,
			   uint64_t *n)
{
	uint32_t buckets, first, last = 0, i;
	char *head, *bytes;
	uint64_t chains;

	if (!read_at(in, at, 16, &head))
		return false;
	buckets = word(head, 0);
	first = word(head, 1);
	at += 16 + (uint64_t)word(head, 2) * (in->narrow ? 4 : 8);
	chains = at + (uint64_t)buckets * 4;
	if (!read_at(in, at, (uint64_t)buckets * 4, &bytes))
		return false;
	for (i = 0; i < buckets; i++)
		last = PDET_MAX(last, word(bytes, i));
	*n = first;
	if (last < first)
		return !last;
	for (i = 0; i < MOST_CHAIN; i++, last++) {
		if (!read_at(in, chains + ((uint64_t)last - first) * 4, 4,
			     &bytes))
			return false;
		*n = (uint64_t)last + 1;
		if (word(bytes, 0) & 1)
			return true;
	}
	return false;
}

/* Addresses of what is needed; 0: there is none. */
struct found {
	uint64_t symbols, names, names_len, entry, hash, gnu_hash;
};

static void take(struct found *f, const Elf64_Dyn *d)
{
	switch (d->d_tag) {
	case DT_SYMTAB:
		f->symbols = d->d_un.d_ptr;
		break;
	case DT_STRTAB:
		f->names = d->d_un.d_ptr;
		break;
	case DT_STRSZ:
		f->names_len = d->d_un.d_val;
		break;
	case DT_SYMENT:
		f->entry = d->d_un.d_val;
		break;
	case DT_HASH:
		f->hash = d->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		f->gnu_hash = d->d_un.d_ptr;
		break;
	default:
		break;
	}
}

static Elf64_Dyn entry_at(const struct pdet_elf_sections *in,
			  const char *bytes)
{
	Elf64_Dyn d;
	Elf32_Dyn n;

	if (!in->narrow) {
		memcpy(&d, bytes, sizeof(d));
		return d;
	}
	memcpy(&n, bytes, sizeof(n));
	return (Elf64_Dyn){ n.d_tag, { n.d_un.d_val } };
}

static bool read_dynamic(const struct pdet_elf_sections *in,
			 const Elf64_Phdr *segments, size_t n,
			 struct found *ret)
{
	const size_t size = in->narrow ? sizeof(Elf32_Dyn) :
					 sizeof(Elf64_Dyn);
	Elf64_Dyn d;
	char *bytes;
	uint64_t at;
	size_t i;

	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < n && segments[i].p_type != PT_DYNAMIC; i++)
		;
	if (i == n || segments[i].p_filesz > MOST_DYNAMIC ||
	    !read_at(in, segments[i].p_offset, segments[i].p_filesz, &bytes))
		return false;
	for (at = 0; segments[i].p_filesz - at >= size; at += size) {
		d = entry_at(in, bytes + at);
		if (d.d_tag == DT_NULL)
			break;
		take(ret, &d);
	}
	return ret->symbols && ret->names &&
	       ret->entry == pdet_elf_symbol_size(in);
}

bool pdet_elf_dynamic(const struct pdet_elf_sections *in,
		      const Elf64_Phdr *segments, size_t n,
		      struct pdet_elf_tables *ret)
{
	struct found f;
	uint64_t at, count;

	if (!read_dynamic(in, segments, n, &f) ||
	    !offset_of(segments, n, f.symbols, &ret->symbols) ||
	    !offset_of(segments, n, f.names, &ret->names))
		return false;
	if (!(f.gnu_hash &&
	      offset_of(segments, n, f.gnu_hash, &at) &&
	      count_gnu_hash(in, at, &count)) &&
	    !(f.hash && offset_of(segments, n, f.hash, &at) &&
	      count_hash(in, at, &count)))
		return false;
	ret->symbols_len = count * pdet_elf_symbol_size(in);
	ret->names_len = f.names_len;
	return true;
}
