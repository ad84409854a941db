/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Lines "ADDRESS TYPE NAME", of modules with a tab and "[MODULE]" behind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "base/vec.h"
#include "trace/names.h"

/* False: this is not a line of kallsyms. */
static bool take(struct pdet_scan line, const char *text, char *type,
		 struct pdet_trace_function *f)
{
	struct pdet_scan word;

	if (!pdet_scan_hex(&line, &f->address) || !pdet_scan_char(&line, ' ') ||
	    line.end - line.at < 3 || line.at[1] != ' ')
		return false;
	*type = *line.at;
	line.at += 2;
	word = pdet_scan_token(&line);
	if (word.at == word.end || word.end - word.at > UINT16_MAX)
		return false;
	f->name = (uint32_t)(word.at - text);
	f->name_len = (uint16_t)(word.end - word.at);
	f->module = f->module_len = 0;
	pdet_scan_blanks(&line);
	word = pdet_scan_token(&line);
	if (word.end - word.at > 2 && word.end - word.at < UINT16_MAX &&
	    *word.at == '[' && word.end[-1] == ']') {
		f->module = (uint32_t)(word.at + 1 - text);
		f->module_len = (uint16_t)(word.end - word.at - 2);
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct pdet_trace_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The first of several names, as the file has them. */
	return x->name < y->name ? -1 : x->name > y->name;
}

/* --- borders --- */

const char *const pdet_trace_mark[PDET_MARKS] = {
	[PDET_MARK_TEXT] = "_text", [PDET_MARK_STEXT] = "_stext",
	[PDET_MARK_ETEXT] = "_etext", [PDET_MARK_END] = "_end",
	[PDET_MARK_INIT] = "_sinittext", [PDET_MARK_INIT_END] = "_einittext",
	/* no other machine has it */
	[PDET_MARK_X86] = "entry_SYSCALL_64",
};

static void note_mark(struct pdet_trace_marks *m, const char *name, size_t len,
		      uint64_t address)
{
	unsigned i;

	if (!len || (*name != '_' && *name != 'e'))
		return;
	for (i = 0; i < PDET_MARKS; i++)
		if (!m->at[i] && strlen(pdet_trace_mark[i]) == len &&
		    !memcmp(pdet_trace_mark[i], name, len))
			m->at[i] = address;
}

static bool is_between(uint64_t address, uint64_t first, uint64_t end)
{
	return first && address >= first && address < end;
}

bool pdet_trace_marks_allow(const struct pdet_trace_marks *m, uint64_t site,
			    uint64_t function)
{
	const uint64_t *at = m->at;
	const uint64_t first = at[PDET_MARK_TEXT] ? at[PDET_MARK_TEXT] :
						    at[PDET_MARK_STEXT];

	/* What returns is not the last instruction of a function. */
	if (site == function)
		return false;
	if (is_between(site, first, at[PDET_MARK_ETEXT]))
		return function;
	if (is_between(site, at[PDET_MARK_INIT], at[PDET_MARK_INIT_END]))
		return true;
	/* Data. */
	if (at[PDET_MARK_INIT_END] && at[PDET_MARK_ETEXT] &&
	    is_between(site, at[PDET_MARK_ETEXT], at[PDET_MARK_END]))
		return false;
	return !at[PDET_MARK_X86] || !first || !at[PDET_MARK_END] ||
	       is_between(site, first, at[PDET_MARK_END]) ||
	       !is_between(site, PDET_X86_IMAGE, PDET_X86_IMAGE_END);
}

/* --- reading --- */

static int read_lines(struct pdet_trace_names *n, size_t len)
{
	struct pdet_scan all = { n->text, n->text + len }, line;
	struct pdet_trace_function f;
	bool is_shown = false;
	char type;

	while (pdet_scan_line(&all, &line)) {
		if (!take(line, n->text, &type, &f))
			return -EBADMSG;
		is_shown |= f.address != 0;
		if (!f.module)
			note_mark(&n->marks, n->text + f.name, f.name_len,
				  f.address);
		if (strchr("tTwW", type) && !pdet_vec_push(&n->functions, f))
			return -ENOMEM;
	}
	return is_shown ? 0 : n->functions.n ? -EACCES : -EBADMSG;
}

int pdet_trace_names_read(struct pdet_trace_names *n, char *text, size_t len)
{
	int r;

	memset(n, 0, sizeof(*n));
	n->text = text;
	r = len > UINT32_MAX ? -EBADMSG : read_lines(n, len);
	if (r < 0)
		pdet_trace_names_free(n);
	else if (n->functions.n)
		qsort(n->functions.data, n->functions.n,
		      sizeof(*n->functions.data), by_address);
	return r;
}

/* All names one after the other. */
static bool take_symbol(struct pdet_trace_names *n,
			const struct pdet_kallsyms *symbols, uint32_t i,
			size_t *len)
{
	struct pdet_trace_function f = { .address = symbols->address[i],
					 .name = (uint32_t)*len };
	char name[PDET_SYMBOL_NAME], type;

	f.name_len = (uint16_t)pdet_kallsyms_name(symbols, i, name, &type);
	note_mark(&n->marks, name, f.name_len, f.address);
	if (!strchr("tTwW", type))
		return true;
	memcpy(n->text + *len, name, f.name_len);
	*len += f.name_len;
	return pdet_vec_push(&n->functions, f);
}

int pdet_trace_names_take(struct pdet_trace_names *n,
			  const struct pdet_kallsyms *symbols)
{
	char name[PDET_SYMBOL_NAME];
	size_t len = 0, most = 0;
	uint32_t i;
	int r = 0;

	memset(n, 0, sizeof(*n));
	for (i = 0; i < symbols->n; i++)
		most += pdet_kallsyms_name(symbols, i, name, NULL);
	n->text = malloc(most + 1);
	if (!n->text || most > UINT32_MAX)
		r = -ENOMEM;
	for (i = 0; i < symbols->n && r == 0; i++)
		if (!take_symbol(n, symbols, i, &len))
			r = -ENOMEM;
	/* They are in the order of the kernel's own. */
	if (r < 0)
		pdet_trace_names_free(n);
	return r;
}

const struct pdet_trace_function *
pdet_trace_names_find(const struct pdet_trace_names *n, uint64_t address)
{
	size_t low = 0, high = n->functions.n, middle;
	const struct pdet_trace_function *f = n->functions.data;

	/* The first one behind it. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (f[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Nothing says where the last one ends. */
	if (!low || low == n->functions.n)
		return NULL;
	low--;
	while (low && f[low - 1].address == f[low].address)
		low--;
	return &f[low];
}

bool pdet_trace_names_symbol(const struct pdet_trace_names *n, const char *name,
			     uint64_t *ret)
{
	const size_t len = strlen(name);
	size_t i;

	for (i = 0; i < n->functions.n; i++) {
		const struct pdet_trace_function *f = &n->functions.data[i];

		if (!f->module && f->name_len == len &&
		    !memcmp(n->text + f->name, name, len)) {
			*ret = f->address;
			return true;
		}
	}
	return false;
}

bool pdet_trace_names_fit(const struct pdet_trace_names *n,
			  const struct pdet_trace_kernel *k)
{
	uint64_t address;

	if (!*k->symbol)
		return true;
	if (pdet_trace_names_symbol(n, k->symbol, &address) &&
	    address != k->address)
		return false;
	/* perf takes the end of the code, or something behind it. */
	return !pdet_trace_names_symbol(n, "_etext", &address) ||
	       k->end >= address;
}

void pdet_trace_names_free(struct pdet_trace_names *n)
{
	free(n->text);
	n->text = NULL;
	pdet_vec_free(&n->functions);
}
