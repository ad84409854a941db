/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests recognising files: dumps by their first bytes, page_owner's text by
 * a line that only it has. Every beginning is also cut at every length.
 */
#include "backend/text_kind.h"
#include "memory/dump_kind.h"
#include "../unit.h"

#define TEXT(text) (text), sizeof(text) - 1

static const struct {
	const char *head;
	size_t len;		/* enough bytes to recognise it */
	const char *word;	/* a word of its description */
} dumps[] = {
	{ TEXT("KDUMP   "), "kdump" },
	{ TEXT("DISKDUMP"), "diskdump" },
	{ TEXT("makedumpfile\0\0\0"), "flattened" },
	{ TEXT("\x1f\x8b"), "gzip" },
	{ TEXT("\x28\xb5\x2f\xfd"), "zstd" },
	{ TEXT("\xfd" "7zXZ\0"), "xz" },
	{ TEXT("\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0"), "ELF" },
	{ TEXT("\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\4\0"), "ELF" },
	{ TEXT("\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\0\4"), "ELF" },
};

#define DUMPS ((int)(sizeof(dumps) / sizeof(*dumps)))

START_TEST(dump)
{
	size_t len;

	for (len = 0; len <= dumps[_i].len; len++) {
		char *head = unit_exact(dumps[_i].head, len);
		const char *kind = pdet_dump_kind(head, len);

		if (len < dumps[_i].len)
			ck_assert_ptr_null(kind);
		else
			ck_assert_msg(kind && strstr(kind, dumps[_i].word),
				      "%s is %s", dumps[_i].word, kind);
		free(head);
	}
}
END_TEST

/*
 * Programs, libraries, objects, and those of the other byte order are ELF, too.
 */
START_TEST(no_dump)
{
	static const char other[][18] = {
		"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2",
		"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3",
		"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1",
		"\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\0\4",
		"\177ELF\2\2\1\0\0\0\0\0\0\0\0\0\4\0",
		"KDUMP\0\0\0", "makedumpfile ", "#!/bin/sh\n",
	};
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(*other); i++)
		ck_assert_ptr_null(pdet_dump_kind(other[i], 18));
}
END_TEST

static const struct {
	const char *text;
	bool owner;
} texts[] = {
	{ "Page allocated via order 0, mask 0x0(), pid 1", true },
	{ " register_early_stack+0x23\nnr_base_pages: 7\n", true },
	{ "page_owner tracks the page as allocated", false },
	{ "BUG: Bad page state in process cat  pfn:07bee", false },
	{ "page allocated via order 0", false },
	{ "", false },
};

#define TEXTS ((int)(sizeof(texts) / sizeof(*texts)))

/* With other lines around it, and any bytes in them. */
START_TEST(text)
{
	char all[512], *copy;
	size_t len;

	memset(all, 0, sizeof(all));
	len = (size_t)snprintf(all + 64, sizeof(all) - 64,
			       "\377 before\n%s\nafter", texts[_i].text) + 64;
	copy = unit_exact(all, len);
	ck_assert_int_eq(pdet_text_is_owner(copy, len), texts[_i].owner);
	free(copy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kinds");

	unit_loop(s, dump, DUMPS);
	unit_test(s, no_dump);
	unit_loop(s, text, TEXTS);
	return unit_main(s);
}
