/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Fuzzes /proc/PID/mountinfo: any text, line by line. */
#include "fuzz.h"
#include "kernel/text/mountinfo.h"

static void check_text(const struct pdet_scan *line, struct pdet_scan text)
{
	size_t n = (size_t)(text.end - text.at), len = 4711;
	char *buf = malloc(n + 1);

	if (!buf)
		abort();
	MUST(text.at >= line->at && text.end <= line->end &&
	     text.at <= text.end);
	MUST(!memchr(text.at, ' ', n));
	MUST(!pdet_mountinfo_text(text, buf, n, &len) && len == 4711);
	MUST(pdet_mountinfo_text(text, buf, n + 1, &len));
	MUST(len <= n && buf[len] == '\0');
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pdet_scan text = { (const char *)data,
				  (const char *)data + size };
	struct pdet_scan line;
	struct pdet_mount m;

	while (pdet_scan_line(&text, &line)) {
		if (!pdet_mountinfo_line(line, &m))
			continue;
		check_text(&line, m.root);
		check_text(&line, m.point);
		check_text(&line, m.options);
		check_text(&line, m.fstype);
		check_text(&line, m.source);
		check_text(&line, m.super_options);
		MUST(m.fstype.at < m.fstype.end);
		MUST(!pdet_mount_has(m.super_options, "a,b"));
		MUST(pdet_mount_has(m.super_options, "rw") <=
		     (m.super_options.end - m.super_options.at >= 2));
		/* A stacked filesystem never shows the owner of its pages. */
		if (pdet_scan_is(&m.fstype, "overlay"))
			MUST(!pdet_mount_shows_owner(&m));
	}
	return 0;
}
