/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Code that the providers share when they open a memory: for its ranges, its
 * VMCOREINFO, and for the question whether the kernel is locked down. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text/text.h"
#include "base/vec.h"
#include "memory/memory.h"

#define MOST_RANGES 4096
#define SMALLEST_HOLE 4096

/* Merge ranges with gaps of at most m->hole bytes. */
static void join(struct pdet_memory *m)
{
	struct pdet_ranges *r = &m->ranges;
	size_t i, n = 0;

	for (i = 1; i < r->n; i++) {
		if (r->data[i].first - r->data[n].last - 1 <= m->hole)
			r->data[n].last = r->data[i].last;
		else
			r->data[++n] = r->data[i];
	}
	r->n = n + 1;
}

int pdet_memory_add_range(struct pdet_memory *m, uint64_t first, uint64_t last)
{
	struct pdet_ranges *r = &m->ranges;

	if (r->n && first - r->data[r->n - 1].last - 1 <= m->hole) {
		r->data[r->n - 1].last = last;
		return 0;
	}
	while (r->n >= MOST_RANGES) {
		m->hole = m->hole ? m->hole * 2 : SMALLEST_HOLE;
		join(m);
	}
	return pdet_vec_push(r, (struct pdet_range){ first, last }) ? 0 :
		-ENOMEM;
}

bool pdet_memory_is_vmcoreinfo(const char *text, size_t len)
{
	struct pdet_scan s = { text, text + len };
	size_t i;

	if (!pdet_scan_word(&s, "OSRELEASE="))
		return false;
	for (i = 0; i < len; i++)
		if ((text[i] < ' ' || text[i] > '~') && text[i] != '\n' &&
		    text[i] != '\t')
			return false;
	return true;
}

int pdet_memory_take_vmcoreinfo(struct pdet_memory *m, const char *text,
				size_t len)
{
	struct pdet_scan line, all;
	size_t n;

	len = strnlen(text, len);
	if (!pdet_memory_is_vmcoreinfo(text, len))
		return 0;
	free(m->vmcoreinfo);
	m->vmcoreinfo = malloc(len + 1);
	if (!m->vmcoreinfo)
		return -ENOMEM;
	memcpy(m->vmcoreinfo, text, len);
	m->vmcoreinfo[len] = '\0';
	m->vmcoreinfo_len = len;
	all = (struct pdet_scan){ text, text + len };
	pdet_scan_line(&all, &line);
	pdet_scan_word(&line, "OSRELEASE=");
	n = PDET_MIN((size_t)(line.end - line.at), sizeof(m->release) - 1);
	memcpy(m->release, line.at, n);
	m->release[n] = '\0';
	return 0;
}

int pdet_is_locked(struct pdet_env *env)
{
	struct pdet_text text;
	int locked;

	if (pdet_slurp(env, &text, 4096, "/sys/kernel/security/lockdown") < 0)
		return -1;
	locked = strstr(text.data, "[confidentiality]") != NULL;
	pdet_text_free(&text);
	return locked;
}
