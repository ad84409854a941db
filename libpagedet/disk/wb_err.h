/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses trace lines of failed writeback (include/trace/events/filemap.h).
 * filemap_set_wb_err: an error was recorded for a file.
 * file_check_and_advance_wb_err: it was reported to a process with the file
 * open.
 */
#ifndef PDET_DISK_WB_ERR_H
#define PDET_DISK_WB_ERR_H

#include "base/text/text.h"

struct pdet_wb_err {
	uint64_t dev;		/* superblock, major << 32 | minor */
	uint64_t ino;
	bool told;		/* true: reported to a caller; false:
				 * recorded */
	uint32_t error;		/* errno, or 0 if there is none. If told, it is
				 * the reported one. Otherwise it is the one
				 * recorded before, because the event omits the
				 * new one */
};

/* pdet_wb_err_line - parse a line. Returns false if it has another event. */
bool pdet_wb_err_line(struct pdet_scan line, struct pdet_wb_err *ret);

#endif
