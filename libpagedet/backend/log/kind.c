/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Recognises a kernel log: a text in which the parser finds a report about a
 * page, or of which most lines have the kernel's time. Words of a report alone
 * prove nothing, because source code, mails and traces of programs quote them.
 */
#include "backend/log/log.h"

/* Whether the kernel's log has put a time before the line. */
static bool is_stamped(struct pdet_scan line)
{
	struct pdet_log_line l;

	pdet_log_line(line, &l);
	return l.record || l.stamp.has_us;
}

static bool finds(struct pdet_log *log, struct pdet_scan text)
{
	size_t stamped = 0, lines = 0;
	struct pdet_scan line;

	while (pdet_scan_line(&text, &line)) {
		lines += line.at < line.end;
		stamped += is_stamped(line);
		if (pdet_log_feed(log, line) < 0)
			return false;
		if (pdet_log_take(log))
			return true;
	}
	if (stamped > lines / 2)
		return true;
	return pdet_log_end(log, false) == 0 && pdet_log_take(log);
}

bool pdet_log_is_log(const char *text, size_t len)
{
	struct pdet_log *log = pdet_log_new();
	bool is;

	if (!log)
		return false;
	is = finds(log, (struct pdet_scan){ text, text + len });
	pdet_log_free(log);
	return is;
}
