/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Pages of a trace buffer until the recording ends: a file without a name, so
 * that nothing of it stays if the recorder is killed.
 */
#ifndef PDET_RECORD_SPOOL_H
#define PDET_RECORD_SPOOL_H

#include <stdint.h>

struct pdet_spool {
	int fd;			/* -1: not open */
	uint32_t page;		/* bytes of a page */
	uint32_t staged;	/* pages that are not written yet */
	unsigned char *pages;	/* memory of those */
	uint64_t bytes;		/* that were written */
};

/* pdet_spool_open - begin one below the directory @folder. Negative errno. */
int pdet_spool_open(struct pdet_spool *s, const char *folder, uint32_t page);
void pdet_spool_close(struct pdet_spool *s);

/* pdet_spool_slot - memory for the next page, which is not in it yet. */
unsigned char *pdet_spool_slot(const struct pdet_spool *s);

/* pdet_spool_keep - the page in the slot is complete. Negative errno. */
int pdet_spool_keep(struct pdet_spool *s);

/* pdet_spool_flush - write all pages. Negative errno. */
int pdet_spool_flush(struct pdet_spool *s);

/* pdet_spool_bytes - how many are written, while another thread writes, too. */
uint64_t pdet_spool_bytes(const struct pdet_spool *s);

#endif
