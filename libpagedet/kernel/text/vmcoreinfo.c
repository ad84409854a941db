/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Looks up keys in VMCOREINFO, which has about a hundred lines. */
#include <string.h>

#include "base/vec.h"
#include "kernel/text/vmcoreinfo.h"

/* The kernel reserves one page or a few for all entries. */
#define MOST_ENTRIES 4096

bool pdet_vmcoreinfo_parse(struct pdet_vmcoreinfo *ret, const char *text,
			   size_t len)
{
	struct pdet_scan all = { text, text + len }, line;
	struct pdet_vmcoreinfo_entry e;
	const char *is;

	memset(ret, 0, sizeof(*ret));
	while (ret->n < MOST_ENTRIES && pdet_scan_line(&all, &line)) {
		is = memchr(line.at, '=', (size_t)(line.end - line.at));
		if (!is || is == line.at)
			continue;
		e.key = (struct pdet_scan){ line.at, is };
		e.value = (struct pdet_scan){ is + 1, line.end };
		if (!pdet_vec_push(ret, e)) {
			pdet_vec_free(ret);
			return false;
		}
	}
	return true;
}

void pdet_vmcoreinfo_free(struct pdet_vmcoreinfo *info)
{
	pdet_vec_free(info);
}

/* True if the key is KIND(name), or @name itself if @kind is NULL. */
static bool is_key(const struct pdet_scan *key, const char *kind,
		   const char *name)
{
	struct pdet_scan s = *key;

	if (!kind)
		return pdet_scan_is(key, name);
	return pdet_scan_word(&s, kind) && pdet_scan_char(&s, '(') &&
	       pdet_scan_word(&s, name) && pdet_scan_char(&s, ')') &&
	       s.at == s.end;
}

/* The last entry of a key wins, because modules may append lines. */
static bool find(const struct pdet_vmcoreinfo *info, const char *kind,
		 const char *name, struct pdet_scan *ret)
{
	size_t i;

	for (i = info->n; i-- > 0;)
		if (is_key(&info->data[i].key, kind, name)) {
			*ret = info->data[i].value;
			return true;
		}
	return false;
}

static bool at_end(const struct pdet_scan *s)
{
	return s->at == s->end;
}

static bool find_hex(const struct pdet_vmcoreinfo *info, const char *kind,
		     const char *name, uint64_t *ret)
{
	struct pdet_scan s;
	uint64_t value;

	if (!find(info, kind, name, &s) || !pdet_scan_hex(&s, &value) ||
	    !at_end(&s))
		return false;
	*ret = value;
	return true;
}

/* Decimal or 0x, with an optional sign. */
static bool find_number(const struct pdet_vmcoreinfo *info, const char *kind,
			const char *name, uint64_t *ret)
{
	struct pdet_scan s;
	uint64_t value;
	bool minus;

	if (!find(info, kind, name, &s))
		return false;
	minus = pdet_scan_char(&s, '-');
	if (!(pdet_scan_word(&s, "0x") ? pdet_scan_hex(&s, &value) :
					 pdet_scan_dec(&s, &value)) ||
	    !at_end(&s))
		return false;
	*ret = minus ? -value : value;
	return true;
}

bool pdet_vmcoreinfo_text(const struct pdet_vmcoreinfo *info, const char *key,
			  struct pdet_scan *ret)
{
	return find(info, NULL, key, ret);
}

bool pdet_vmcoreinfo_symbol(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret)
{
	return find_hex(info, "SYMBOL", name, ret);
}

bool pdet_vmcoreinfo_offset(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret)
{
	return find_number(info, "OFFSET", name, ret);
}

bool pdet_vmcoreinfo_size(const struct pdet_vmcoreinfo *info, const char *name,
			  uint64_t *ret)
{
	return find_number(info, "SIZE", name, ret);
}

bool pdet_vmcoreinfo_length(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret)
{
	return find_number(info, "LENGTH", name, ret);
}

bool pdet_vmcoreinfo_number(const struct pdet_vmcoreinfo *info,
			    const char *name, uint64_t *ret)
{
	return find_number(info, "NUMBER", name, ret);
}
