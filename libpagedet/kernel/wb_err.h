/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Lines of a trace about failed writeback (include/trace/events/filemap.h):
 * filemap_set_wb_err, an error was noted at a file; file_check_and_advance_wb_
 * err, it was told to somebody who has the file open.
 */
#ifndef PDET_KERNEL_WB_ERR_H
#define PDET_KERNEL_WB_ERR_H

#include "base/text.h"

struct pdet_wb_err {
	uint64_t dev;		/* of the superblock, major << 32 | minor */
	uint64_t ino;
	bool told;		/* to a caller, and not: noted */
	uint32_t error;		/* errno, 0 none: that is told; or that was
				 * noted before this one, which is not said */
};

/* pdet_wb_err_line - false: the line is about something else. */
bool pdet_wb_err_line(struct pdet_scan line, struct pdet_wb_err *ret);

#endif
