/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests recognising files: dumps by their first bytes, texts by a line that
 * only they have. Every beginning is also cut at every length.
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
	const char *kind;	/* NULL: any text */
} texts[] = {
	{ "Page allocated via order 0, mask 0x0(), pid 1", "page_owner" },
	{ " register_early_stack+0x23\nnr_base_pages: 7\n", "page_owner" },
	{ "page: refcount:2 mapcount:2 mapping:0 index:0x7 pfn:0x7bee", "log" },
	{ "page:00000000b2a3 refcount:1 mapcount:0 mapping:00000000d4 "
	  "index:0x1 pfn:0x1046", "log" },
	{ "page_owner tracks the page as allocated", "log" },
	{ "6,383,12,-;Page Detective: Investigating physical[7b]", "log" },
	{ "BUG: Bad page state in process cat  pfn:07bee", "log" },
	{ "BUG: Bad page map in process cat  pte:80 pmd:7b", "log" },
	{ "Memory failure: 0x7bee: recovery action", "log" },
	{ "Soft offlining pfn 0x7bee at process virtual address", "log" },
	{ "soft_offline: 0x7bee: page already poisoned", "log" },
	{ "mce: [Hardware Error]: CPU 0: Machine Check", "log" },
	{ "EDAC MC0: 1 CE memory read error on CPU", "log" },
	{ "list_add corruption. prev->next should be next", "log" },
	{ "list_del corruption, ffff8880->next is LIST_POISON1", "log" },
	{ "Slab 0xffffea00 objects=16 used=16", "log" },
	{ "Dear diary, today I saw a page.", NULL },
	{ "page allocated via order 0", NULL },
	{ "", NULL },
};

#define TEXTS ((int)(sizeof(texts) / sizeof(*texts)))

/* With other lines around it, and any bytes in them. */
START_TEST(text)
{
	const char *wanted = texts[_i].kind;
	char all[512], *copy;
	const char *kind;
	size_t len;

	memset(all, 0, sizeof(all));
	len = (size_t)snprintf(all + 64, sizeof(all) - 64,
			       "\377 before\n%s\nafter", texts[_i].text) + 64;
	copy = unit_exact(all, len);
	kind = pdet_text_kind(copy, len);
	free(copy);
	if (wanted)
		ck_assert_msg(kind && strstr(kind, wanted), "%s is %s",
			      texts[_i].text, kind);
	else
		ck_assert_ptr_null(kind);
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
