/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Letters say what comes with a CIE. One that is not known may change what all
 * the rest means.
 */
#include "unwind/dwarf/cie.h"

/* Each function may have a CIE of its own, so its length is limited. */
#define MOST_LETTERS 8

/* libunwind looks at no more. */
#define PLAIN_LETTERS 4

/* Parts of a form. */
enum { WORD = 0, U2 = 2, U4 = 3, U8 = 4, SIGNED = 0x08, BASE = 0x70,
       ABSOLUTE = 0, PC = 0x10, ALIGNED = 0x50, INDIRECT = 0x80 };

uint64_t pdet_cie_address(struct pdet_frame_rest *r, unsigned form,
			  unsigned word, uint64_t at)
{
	const unsigned base = form & BASE;
	uint64_t v = 0;

	r->bad = r->bad || form & INDIRECT || (base != ABSOLUTE && base != PC);
	switch (form & PDET_FORM_SIZE) {
	case WORD:
		v = word == 8 ? pdet_frame_u64(r) : pdet_frame_u32(r);
		break;
	case U2:
		v = pdet_frame_u16(r);
		v = form & SIGNED ? (uint64_t)(int16_t)v : v;
		break;
	case U4:
		v = pdet_frame_u32(r);
		v = form & SIGNED ? (uint64_t)(int32_t)v : v;
		break;
	case U8:
		v = pdet_frame_u64(r);
		break;
	default:
		r->bad = true;
	}
	return base == PC ? v + at : v;
}

static bool take_letter(struct pdet_frame_rest *r, unsigned letter,
			unsigned word, struct pdet_cie *ret)
{
	unsigned form;

	switch (letter) {
	case 'R':
		ret->form = pdet_frame_u8(r);
		return true;
	case 'P':
		/* The address of a function, which is not needed. */
		form = pdet_frame_u8(r);
		r->bad = r->bad || (form & BASE) == ALIGNED;
		pdet_cie_address(r, form & PDET_FORM_SIZE, word, 0);
		return true;
	case 'L':
		pdet_frame_u8(r);
		return true;
	case 'S':
		ret->signal = true;
		return true;
	default:
		/* Keys of arm64. */
		return letter == 'B';
	}
}

/*
 * libunwind (1.6 to 1.8) does not need to know all letters of a CIE that says
 * how long their data is, but takes what follows the data that it read for the
 * instructions. Since 1.7 it reads two sizes more in version 4, which belong
 * into .debug_frame.
 */
static bool is_plain(const uint8_t *letters, unsigned version,
		     const struct pdet_frame_rest *more)
{
	const size_t n = strlen((const char *)letters);

	return (version == 1 || version == 3) && n <= PLAIN_LETTERS &&
	       !memchr(letters, 'B', n) && more->at == more->end;
}

bool pdet_cie_read(struct pdet_frame_rest r, unsigned word,
		   struct pdet_cie *ret)
{
	struct pdet_frame_rest more;
	uint8_t letters[MOST_LETTERS + 1] = { 0 };
	unsigned version, i = 0;

	*ret = (struct pdet_cie){ .form = 0 };
	if (pdet_frame_u32(&r))
		return false;
	version = pdet_frame_u8(&r);
	while (i < sizeof(letters) && (letters[i] = (uint8_t)pdet_frame_u8(&r)))
		i++;
	if (i == sizeof(letters) || (letters[0] && letters[0] != 'z'))
		return false;
	ret->code = pdet_frame_uleb(&r);
	ret->data = pdet_frame_sleb(&r);
	ret->ra = version == 1 ? pdet_frame_u8(&r) : pdet_frame_uleb(&r);
	ret->sized = letters[0];
	more = pdet_frame_part(&r, ret->sized ? pdet_frame_uleb(&r) : 0);
	for (i = 1; ret->sized && letters[i]; i++)
		if (!take_letter(&more, letters[i], word, ret))
			return false;
	ret->plain = is_plain(letters, version, &more);
	ret->instructions = r;
	return !r.bad && !more.bad;
}
