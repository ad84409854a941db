/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Reads files of tracefs, and /proc/kallsyms. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/text.h"
#include "base/vec.h"
#include "record/about.h"
#include "record/instance.h"
#include "record/tracefs.h"

#define MOST_FORMAT ((size_t)1 << 20)
#define MOST_NAMES ((size_t)512 << 20)

static int must(struct pdet_env *env, int dir, const char *name,
		struct pdet_text *ret)
{
	const int r = pdet_slurp_at(dir, name, ret, MOST_FORMAT);

	errno = -r;
	return r < 0 ? pdet_fail_errno(env, "cannot read %s of tracefs", name) :
		       0;
}

struct texts {
	struct pdet_text *data;
	size_t n, cap;
};

static bool keep(struct texts *all, struct pdet_text *one)
{
	if (pdet_vec_push(all, *one))
		return true;
	pdet_text_free(one);
	return false;
}

/* The formats of the events of ftrace itself, such as marks of users. */
static void of_ftrace(int fs, struct pdet_dat_parts *ret)
{
	DIR *d = pdet_tracefs_list(fs, "events/ftrace");
	struct texts all = { 0 };
	struct pdet_text one;
	struct dirent *e;
	char name[320];

	while (d && (e = readdir(d))) {
		snprintf(name, sizeof(name), "events/ftrace/%s/format",
			 e->d_name);
		if (*e->d_name == '.' ||
		    pdet_slurp_at(fs, name, &one, MOST_FORMAT) < 0)
			continue;
		if (!keep(&all, &one))
			break;
	}
	if (d)
		closedir(d);
	ret->ftrace = all.data;
	ret->n_ftrace = (uint32_t)all.n;
}

static int of_kmem(struct pdet_env *env, int fs, bool pages,
		   struct pdet_dat_parts *ret)
{
	struct texts all = { 0 };
	struct pdet_text one;
	const char *event;
	char name[80];
	unsigned n;
	int r = 0;

	for (n = 0; r == 0 && (event = pdet_instance_event(pages, n)); n++) {
		snprintf(name, sizeof(name), "events/kmem/%s/format", event);
		if (faccessat(fs, name, F_OK, 0))
			continue;
		r = must(env, fs, name, &one);
		if (r == 0 && !keep(&all, &one))
			r = pdet_fail(env, ENOMEM, "no memory");
	}
	ret->kmem = all.data;
	ret->n_kmem = (uint32_t)all.n;
	return r;
}

/*
 * Places of code, and the ends of it. "ffffffff81000000 T _text": data has
 * other letters.
 */
static bool is_code(struct pdet_scan line)
{
	struct pdet_scan name;
	uint64_t address;
	char letter;

	if (!pdet_scan_hex(&line, &address) || !pdet_scan_char(&line, ' ') ||
	    line.at == line.end)
		return false;
	letter = *line.at++;
	if (strchr("tTwW", letter))
		return true;
	pdet_scan_blanks(&line);
	name = pdet_scan_token(&line);
	return pdet_scan_is(&name, "_text") || pdet_scan_is(&name, "_stext") ||
	       pdet_scan_is(&name, "_etext");
}

/* If addresses are hidden, names of places are of no use. */
static bool is_shown(const struct pdet_text *t)
{
	struct pdet_scan all = { t->data, t->data + t->len }, line;
	uint64_t address;

	while (pdet_scan_line(&all, &line))
		if (pdet_scan_hex(&line, &address) && address)
			return true;
	return false;
}

void pdet_about_code(struct pdet_text *t)
{
	struct pdet_scan all, line;
	size_t n;
	char *to;

	if (pdet_slurp_at(AT_FDCWD, "/proc/kallsyms", t, MOST_NAMES) < 0)
		return;
	all = (struct pdet_scan){ t->data, t->data };
	if (is_shown(t))
		all.end += t->len;
	to = t->data;
	while (pdet_scan_line(&all, &line)) {
		if (!is_code(line))
			continue;
		n = (size_t)(line.end - line.at);
		memmove(to, line.at, n);
		to += n;
		*to++ = '\n';
	}
	t->len = (size_t)(to - t->data);
}

void pdet_about_threads(int fs, struct pdet_thread_names *names)
{
	struct pdet_text text;

	if (pdet_slurp_at(fs, "saved_cmdlines", &text, MOST_FORMAT) < 0)
		return;
	pdet_thread_names_add(names, text.data, text.len);
	pdet_text_free(&text);
}

int pdet_about_page(struct pdet_env *env, int fs, int instance,
		    struct pdet_text *ret)
{
	const char *page = "events/header_page";
	const bool own = faccessat(instance, page, F_OK, 0) == 0;

	return must(env, own ? instance : fs, page, ret);
}

int pdet_about(struct pdet_env *env, int fs, bool pages,
	       struct pdet_dat_parts *ret)
{
	int r = must(env, fs, "events/header_event", &ret->header_event);

	if (r == 0)
		r = of_kmem(env, fs, pages, ret);
	if (r < 0)
		return r;
	of_ftrace(fs, ret);
	pdet_about_code(&ret->kallsyms);
	pdet_slurp_at(fs, "printk_formats", &ret->printk, MOST_FORMAT);
	pdet_read_line(env, "/proc/sys/kernel/random/boot_id", ret->boot,
		       sizeof(ret->boot));
	return 0;
}

static void free_all(struct pdet_text *data, uint32_t n)
{
	while (n)
		pdet_text_free(&data[--n]);
	free(data);
}

void pdet_about_free(struct pdet_dat_parts *p)
{
	pdet_text_free(&p->header_page);
	pdet_text_free(&p->header_event);
	pdet_text_free(&p->kallsyms);
	pdet_text_free(&p->printk);
	free_all(p->ftrace, p->n_ftrace);
	free_all(p->kmem, p->n_kmem);
}
