/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses what QEMU's human monitor prints about its memory: "info ramblock" and
 * "info mtree -f", as of 7.2. A block that is not understood would not be
 * compared, so the agent reports it. Views that are not understood are skipped.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "blocks.h"

/* The space before the unit of a block's page size, or NULL. */
static const char *find_unit(const char *line)
{
	static const char *const units[] = { " KiB ", " MiB ", " GiB " };
	const char *at = NULL;
	size_t i;

	for (i = 0; !at && i < sizeof(units) / sizeof(*units); i++)
		at = strstr(line, units[i]);
	return at;
}

/*
 * "pc.ram    4 KiB  0x.. 0x.. 0x..": everything before the page size is the
 * name.
 */
static bool parse_block(const char *line, struct block *b)
{
	uint64_t offset, used, total;
	const char *end = find_unit(line);
	size_t len;

	if (!end || sscanf(end + 4, " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64,
			   &offset, &used, &total) != 3)
		return false;
	while (end > line && isdigit((unsigned char)end[-1]))
		end--;
	while (end > line && end[-1] == ' ')
		end--;
	while (*line == ' ')
		line++;
	len = end > line ? (size_t)(end - line) : 0;
	if (!len || len >= sizeof(b->name) || used > total ||
	    total > 1ull << 46)
		return false;
	memcpy(b->name, line, len);
	b->name[len] = 0;
	b->used = used;
	b->total = total;
	return true;
}

/* Only the heading has no numbers. */
unsigned blocks_parse(char *text, struct block *blocks, const char **odd)
{
	struct block block;
	unsigned n = 0;
	char *save, *line;

	*odd = NULL;
	for (line = strtok_r(text, "\r\n", &save); line;
	     line = strtok_r(NULL, "\r\n", &save)) {
		block = (struct block){ .used = 0 };
		block.at[SOURCE].fd = block.at[DESTINATION].fd = -1;
		if (n < MAX_BLOCKS && parse_block(line, &block))
			blocks[n++] = block;
		else if (!*odd && strstr(line, " 0x"))
			*odd = line;
	}
	return n;
}

const struct block *blocks_missing(const struct block *blocks, unsigned n)
{
	const struct block *missing = NULL;
	uint64_t most = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		if (blocks[i].used > most)
			most = blocks[i].used;
	for (i = 0; !missing && i < n; i++)
		if (blocks[i].used == most && !blocks[i].pages)
			missing = &blocks[i];
	return missing;
}

/* A device's block has its path before the region's name. */
static bool is_region_of(const char *region, const char *block)
{
	const size_t len = strlen(block), n = strlen(region);

	return !strcmp(region, block) ||
	       (len > n && block[len - n - 1] == '/' &&
		!strcmp(block + len - n, region));
}

static void add_range(struct block *blocks, unsigned n, const char *region,
		      const struct range *range)
{
	struct block *found = NULL;
	unsigned i;

	for (i = 0; i < n; i++)
		if (is_region_of(region, blocks[i].name)) {
			if (found)
				return;	/* the block is ambiguous */
			found = &blocks[i];
		}
	if (found && found->n_ranges < MAX_RANGES &&
	    range->offset <= found->total &&
	    range->len <= found->total - range->offset)
		found->ranges[found->n_ranges++] = *range;
}

/* "0..-0.. (prio 0, ram): pc.ram @00..c3000 KVM" */
static void parse_range(char *line, struct block *blocks, unsigned n)
{
	struct range range = { .offset = 0 };
	uint64_t last;
	char *kind = strstr(line, "(prio "), *name, *at;

	if (!kind || sscanf(line, " %" SCNx64 "-%" SCNx64, &range.gpa,
			    &last) != 2 || last < range.gpa)
		return;
	range.len = last - range.gpa + 1;
	if (!range.len)
		return;
	name = strstr(kind, "): ");
	kind = strchr(kind, ',');
	if (!name || !kind || kind > name)
		return;
	range.rom = !strncmp(kind, ", rom)", 6);
	if (!range.rom && strncmp(kind, ", ram)", 6))
		return;
	name += 3;
	at = strstr(name, " @");
	if (at && sscanf(at + 2, "%" SCNx64, &range.offset) != 1)
		return;
	if (at)
		*at = 0;
	name[strcspn(name, " ")] = 0;
	add_range(blocks, n, name, &range);
}

/* Only the processors' view of memory counts. */
void blocks_parse_views(char *text, struct block *blocks, unsigned n)
{
	bool memory = false;
	char *save, *line;

	for (line = strtok_r(text, "\r\n", &save); line;
	     line = strtok_r(NULL, "\r\n", &save))
		if (!strncmp(line, "FlatView", 8))
			memory = false;
		else if (strstr(line, "AS \"memory\""))
			memory = true;
		else if (memory)
			parse_range(line, blocks, n);
}
