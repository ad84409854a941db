/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Writes a CIE and an FDE for code that is unwound without a table. */
#ifndef PDET_UNWIND_FRAME_PAIR_H
#define PDET_UNWIND_FRAME_PAIR_H

#include "unwind/debug_frame.h"

/* Of DWARF 4, section 7.23. */
enum { DW_CFA_undefined = 0x07, DW_CFA_def_cfa = 0x0c,
       DW_CFA_def_cfa_expression = 0x0f, DW_CFA_expression = 0x10,
       DW_CFA_offset = 0x80 };

/* pdet_pair_begin - begin the CIE; its instructions come next. */
void pdet_pair_begin(struct pdet_frame_pair *p, bool is_signal);

void pdet_pair_put(struct pdet_frame_pair *p, unsigned byte);
void pdet_pair_put_number(struct pdet_frame_pair *p, uint64_t n); /* ULEB128 */

/* pdet_pair_end - end the CIE, and write the FDE for the code at @ip. */
void pdet_pair_end(struct pdet_frame_pair *p, uint64_t ip);

#endif
