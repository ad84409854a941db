/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Formats one value by its type alone: numbers, names of bits, and strings that
 * an attacker may have chosen.
 */
#include "emit/cell.h"
#include "emit/emit.h"

const char pdet_digit_pairs[201] =
	"00010203040506070809" "10111213141516171819"
	"20212223242526272829" "30313233343536373839"
	"40414243444546474849" "50515253545556575859"
	"60616263646566676869" "70717273747576777879"
	"80818283848586878889" "90919293949596979899";

const uint64_t pdet_powers[20] = {
	0, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
	1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000,
	100000000000000, 1000000000000000, 10000000000000000,
	100000000000000000, 1000000000000000000, 10000000000000000000u
};

static const char hex_digits[] = "0123456789abcdef";

char *pdet_put_hex(char *p, uint64_t v)
{
	int shift = v ? (63 - __builtin_clzll(v)) & ~3 : 0;

	*p++ = '0';
	*p++ = 'x';
	for (; shift >= 0; shift -= 4)
		*p++ = hex_digits[v >> shift & 15];
	return p;
}

char *pdet_put_dev(char *p, uint64_t dev)
{
	p = pdet_put_dec(p, dev >> 32);
	*p++ = ':';
	return pdet_put_dec(p, dev & 0xffffffff);
}

char *pdet_put_seconds(char *p, uint64_t ns)
{
	const uint64_t second = 1000000000, left = ns % second;
	uint64_t digit;

	p = pdet_put_dec(p, ns / second);
	*p++ = '.';
	for (digit = second / 10; digit; digit /= 10)
		*p++ = (char)('0' + left / digit % 10);
	return p;
}

char *pdet_put_prot(char *p, uint64_t prot)
{
	*p++ = prot & PAGEDET_PROT_READ ? 'r' : '-';
	*p++ = prot & PAGEDET_PROT_WRITE ? 'w' : '-';
	*p++ = prot & PAGEDET_PROT_EXEC ? 'x' : '-';
	*p++ = prot & PAGEDET_PROT_SHARED ? 's' : 'p';
	return p;
}

char *pdet_put_size(char *p, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	unsigned unit = 0, shift = 10;
	uint64_t whole, tenths;

	if (bytes < 1024) {
		p = pdet_put_dec(p, bytes);
		memcpy(p, " B", 2);
		return p + 2;
	}
	while (unit < 5 && bytes >> shift >= 1024) {
		unit++;
		shift += 10;
	}
	whole = bytes >> shift;
	tenths = ((bytes & (((uint64_t)1 << shift) - 1)) * 10 +
		  ((uint64_t)1 << (shift - 1))) >> shift;
	if (tenths == 10) {
		whole++;
		tenths = 0;
	}
	p = pdet_put_dec(p, whole);
	*p++ = '.';
	*p++ = (char)('0' + tenths);
	*p++ = ' ';
	*p++ = units[unit];
	memcpy(p, "iB", 2);
	return p + 2;
}

char *pdet_put_share(char *p, uint64_t part, uint64_t total)
{
	uint64_t mille = total ? (part * 1000 + total / 2) / total : 0;

	if (mille >= 1000 && part < total)
		mille = 999;
	if (!mille && part) {
		*p++ = '<';
		mille = 1;
	}
	p = pdet_put_dec(p, mille / 10);
	*p++ = '.';
	*p++ = (char)('0' + mille % 10);
	*p++ = '%';
	return p;
}

static char *put_str(char *p, const char *text)
{
	size_t len = strlen(text);

	memcpy(p, text, len);
	return p + len;
}

char *pdet_put_mask(char *p, unsigned field, uint64_t bits, const char *quote,
		    char between)
{
	const char *name;
	unsigned bit;
	bool first = true;

	for (; bits; bits &= bits - 1) {
		bit = (unsigned)__builtin_ctzll(bits);
		if (!first)
			*p++ = between;
		first = false;
		p = put_str(p, quote);
		name = pdet_value_name(field, bit);
		if (name)
			p = put_str(p, name);
		else
			p = pdet_put_dec(put_str(p, "bit"), bit);
		p = put_str(p, quote);
	}
	return p;
}

uint64_t pdet_mask_named(unsigned field)
{
	if (pdet_field_info(field)->type != PAGEDET_TYPE_MASK)
		return 0;
	return pdet_named_bits(field);
}

uint64_t pdet_mask_bit(unsigned field, const char *name)
{
	int bit;

	if (pdet_field_info(field)->type != PAGEDET_TYPE_MASK)
		return 0;
	bit = pdet_value_by_name(field, name, (unsigned)strlen(name));
	return bit < 0 ? 0 : (uint64_t)1 << bit;
}

int pdet_utf8(const char *s, const char *end, uint32_t *code)
{
	/*
	 * The second byte of some characters has a narrower range: no overlong
	 * forms, no surrogates, nothing past U+10FFFF (Unicode, table 3-7).
	 */
	const unsigned char *p = (const unsigned char *)s;
	unsigned low = 0x80, high = 0xbf;
	int more, i;

	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		more = 1;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		more = 2;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		more = 3;
	else
		return -1;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	*code = p[0] & (0x3f >> more);
	for (i = 1; i <= more; i++) {
		if (s + i == end || p[i] < low || p[i] > high)
			return -i;
		*code = *code << 6 | (p[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	return more + 1;
}

const char *pdet_reason_name(unsigned state)
{
	const char *name = state == PDET_STATE_HIDDEN ? "hidden" :
			   pdet_state_name(state);

	return name ? name : "unsupported";
}

const char *pdet_frame_type_name(unsigned type)
{
	static const char *const names[] = {
		[PAGEDET_FRAME_UNKNOWN] = "unknown",
		[PAGEDET_FRAME_USER] = "user",
		[PAGEDET_FRAME_VDSO] = "vdso",
		[PAGEDET_FRAME_SIGNAL] = "signal",
		[PAGEDET_FRAME_JIT] = "jit",
	};

	return type < PDET_COUNT(names) ? names[type] : names[0];
}

void pdet_cut_put(struct pdet_cut *cut, const char *text, size_t len)
{
	size_t room = cut->len < cut->size ? cut->size - cut->len : 0;

	if (room)
		memcpy(cut->to + cut->len, text, PDET_MIN(len, room));
	cut->len += len;
}

void pdet_cut_str(struct pdet_cut *cut, const char *text)
{
	pdet_cut_put(cut, text, strlen(text));
}

bool pdet_is_harmless(uint32_t code)
{
	return code >= 0x20 && (code < 0x7f || code > 0x9f) &&
	       code != 0x61c && code != 0x200e && code != 0x200f &&
	       (code < 0x2028 || code > 0x202e) &&
	       (code < 0x2066 || code > 0x2069);
}

void pdet_cut_plain(struct pdet_cut *cut, const char *text, size_t len)
{
	const char *end = text + len;
	char escape[4] = { '\\', 'x' };
	uint32_t code;
	int n;

	while (text < end) {
		n = pdet_utf8(text, end, &code);
		if (n > 0 && pdet_is_harmless(code)) {
			pdet_cut_put(cut, text, (size_t)n);
			text += n;
			continue;
		}
		for (n = n < 0 ? -n : n; n; n--, text++) {
			escape[2] = hex_digits[(unsigned char)*text >> 4];
			escape[3] = hex_digits[(unsigned char)*text & 15];
			pdet_cut_put(cut, escape, 4);
		}
	}
}

/* A string that looks like a missing answer gets quotes. */
static void cut_string(struct pdet_cut *cut, const struct pdet_view *v)
{
	bool quote = !v->len ||
		     (v->len == 1 && (*v->string == '-' || *v->string == '?'));

	if (quote)
		pdet_cut_put(cut, "\"", 1);
	pdet_cut_plain(cut, v->string, v->len);
	if (quote)
		pdet_cut_put(cut, "\"", 1);
}

static void cut_mask(struct pdet_cut *cut, const struct pdet_view *v,
		     enum pdet_cell_style style)
{
	char between = style == PDET_CELL_RECORD ? ' ' : ',';
	char text[PDET_MASK_TEXT];

	if (v->value)
		pdet_cut_put(cut, text,
			     (size_t)(pdet_put_mask(text, v->field, v->value,
						    "", between) - text));
	else
		pdet_cut_put(cut, "0", 1);
	if (!v->unknown || style == PDET_CELL_TABLE)
		return;
	pdet_cut_str(cut, " (unknown: ");
	pdet_cut_put(cut, text,
		     (size_t)(pdet_put_mask(text, v->field, v->unknown, "",
					    between) - text));
	pdet_cut_put(cut, ")", 1);
}

static void cut_number(struct pdet_cut *cut, const struct pdet_view *v,
		       enum pdet_cell_style style)
{
	char text[2 * PDET_DIGITS + 4], *p = pdet_put_dec(text, v->value);

	/* The kernel and its tools print page frame numbers in both radixes. */
	if (style != PDET_CELL_TABLE &&
	    !strcmp(pdet_field_info(v->field)->unit, "pfn")) {
		*p++ = ' ';
		*p++ = '(';
		p = pdet_put_hex(p, v->value);
		*p++ = ')';
	}
	pdet_cut_put(cut, text, (size_t)(p - text));
}

static void cut_value(struct pdet_cut *cut, const struct pdet_view *v,
		      enum pdet_cell_style style)
{
	char text[2 * PDET_DIGITS], *p = text;
	const char *name;

	switch (pdet_field_info(v->field)->type) {
	case PAGEDET_TYPE_STRING:
	case PAGEDET_TYPE_LIST:
		cut_string(cut, v);
		return;
	case PAGEDET_TYPE_MASK:
		cut_mask(cut, v, style);
		return;
	case PAGEDET_TYPE_ENUM:
		name = pdet_value_name(v->field, v->value);
		if (name)
			pdet_cut_str(cut, name);
		else
			cut_number(cut, v, style);
		return;
	case PAGEDET_TYPE_HEX:
	case PAGEDET_TYPE_STACK:
		p = pdet_put_hex(p, v->value);
		break;
	case PAGEDET_TYPE_DEV:
		p = pdet_put_dev(p, v->value);
		break;
	case PAGEDET_TYPE_PROT:
		p = pdet_put_prot(p, v->value);
		break;
	case PAGEDET_TYPE_SIGNED:
		p = pdet_put_signed(p, v->value);
		break;
	default:
		cut_number(cut, v, style);
		return;
	}
	pdet_cut_put(cut, text, (size_t)(p - text));
}

void pdet_cut_cell(struct pdet_cut *cut, const struct pdet_view *v,
		   enum pdet_cell_style style)
{
	switch (v->state) {
	case PAGEDET_HAVE:
		cut_value(cut, v, style);
		break;
	case PAGEDET_NONE:
		pdet_cut_put(cut, "-", 1);
		break;
	case PDET_STATE_HIDDEN:
		pdet_cut_str(cut, pdet_reason_name(PDET_STATE_HIDDEN));
		break;
	default:
		pdet_cut_put(cut, "?", 1);
	}
}

size_t pdet_format_cell(unsigned field, uint64_t value, uint16_t cell,
			uint64_t known, const char *string, size_t string_len,
			char *text, size_t size)
{
	struct pdet_cut cut = { text, size ? size - 1 : 0, 0 };
	struct pdet_view v = {
		.value = value,
		.unknown = pdet_mask_named(field) & ~known,
		.string = string,
		.len = string_len,
		.field = (uint8_t)field,
		.state = (uint8_t)PAGEDET_CELL_STATE(cell),
	};
	unsigned type = pdet_field_info(field)->type;

	/* A stale id: the text is gone. */
	if (!string && v.state == PAGEDET_HAVE &&
	    (type == PAGEDET_TYPE_STRING || type == PAGEDET_TYPE_LIST))
		v.state = PAGEDET_NO_MEMORY;
	if (pdet_known_field(field) == field)
		v.unknown = 0;
	pdet_cut_cell(&cut, &v, PDET_CELL_FORMAT);
	if (size)
		text[PDET_MIN(cut.len, size - 1)] = '\0';
	return cut.len;
}
