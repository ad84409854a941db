/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes the scanners of base/text/text.h, and compares them with the C
 * library.
 */
#include <ctype.h>
#include <errno.h>

#include "base/text/text.h"
#include "fuzz.h"

static void check_number(const struct pdet_scan *token, int base)
{
	struct pdet_scan s = *token;
	size_t len = (size_t)(token->end - token->at), digits = 0;
	bool (*scan)(struct pdet_scan *, uint64_t *) =
		base == 16 ? pdet_scan_hex : pdet_scan_dec;
	uint64_t value = 4711, want;
	char *copy = malloc(len + 1);

	if (!copy)
		abort();
	memcpy(copy, token->at, len);
	while (digits < len && (base == 16 ?
				isxdigit((unsigned char)copy[digits]) :
				isdigit((unsigned char)copy[digits])))
		digits++;
	copy[digits] = '\0';
	errno = 0;
	want = strtoull(copy, NULL, base);
	if (!digits || errno == ERANGE) {
		MUST(!scan(&s, &value));
		MUST(s.at == token->at && value == 4711);
	} else {
		MUST(scan(&s, &value));
		MUST(value == want && s.at == token->at + digits);
	}
	free(copy);
}

static void check_line(struct pdet_scan line)
{
	struct pdet_scan token;

	MUST(!memchr(line.at, '\n', (size_t)(line.end - line.at)));
	for (;;) {
		token = pdet_scan_token(&line);
		if (token.at == token.end)
			break;
		MUST(!memchr(token.at, ' ', (size_t)(token.end - token.at)));
		check_number(&token, 10);
		check_number(&token, 16);
		MUST(!pdet_scan_is(&token, "pfn") ||
		     pdet_scan_word(&token, "pfn"));
	}
	MUST(line.at == line.end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	struct pdet_scan line;
	char *copy = malloc(size ? size : 1);
	size_t lines = 0, newlines = 0, i;

	while (pdet_scan_line(&text, &line)) {
		check_line(line);
		lines++;
	}
	for (i = 0; i < size; i++)
		newlines += data[i] == '\n';
	MUST(lines == newlines + (size && data[size - 1] != '\n'));
	if (!copy)
		abort();
	memcpy(copy, data, size);
	i = pdet_unescape_octal(copy, size);
	MUST(i <= size && size - i <= size / 4 * 3);
	MUST(i == size || memchr(data, '\\', size));
	free(copy);
	return 0;
}
