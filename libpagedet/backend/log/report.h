/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Reports of the kernel that name a page: shared by the files of the forms,
 * report.c and log.c.
 */
#ifndef PDET_BACKEND_LOG_REPORT_H
#define PDET_BACKEND_LOG_REPORT_H

#include "backend/log/rows.h"

/* x86 has no other base pages. */
#define PDET_LOG_X86_SHIFT 12

/* --- report.c --- */

/* pdet_log_hex - a hex number, with 0x or without. */
bool pdet_log_hex(struct pdet_scan *s, uint64_t *ret);

/* pdet_log_before - cut @s before the last @word in it. */
bool pdet_log_before(struct pdet_scan *s, const char *word);

/* pdet_log_task - parse "COMM:PID" or "COMM/PID", which is the whole of @s. The
 * name may contain @c. If the text has another form, the function returns false
 * and stores nothing. */
bool pdet_log_task(struct pdet_log_page *p, struct pdet_scan s, char c,
		   bool *memory);

/* pdet_log_name - store a task's name if it is plausible and none is known. */
void pdet_log_name(struct pdet_log_page *p, struct pdet_scan s, bool *memory);

/* pdet_log_cpu - parse "CPU: 1 [UID: 0] PID: 58 Comm: modprobe Not tainted
 * 6.1.0 #1", or, of old kernels, "Pid: 58, comm: modprobe ...". The pid is used
 * if the name matches the known one, or if no name is known. */
bool pdet_log_cpu(struct pdet_log_page *p, struct pdet_scan text,
		  bool *memory);

/* pdet_log_says - store the report's text. Only the first text is kept. */
void pdet_log_says(struct pdet_log_page *p, struct pdet_scan s, bool *memory);

/* pdet_log_kernel_address - store an address printed with "%px". */
void pdet_log_kernel_address(struct pdet_log_page *p, uint64_t addr);

/*
 * A pointer printed with "%p". Since 4.15 it is usually a hash of 32 bits
 * (Documentation/core-api/printk-formats.rst), also on 32-bit machines. The
 * machine prints 8 or 16 digits, which do not tell.
 */
struct pdet_log_pointer {
	uint64_t value;		/* 0: no object */
	unsigned digits;	/* 0: "(null)", or a word instead of a hash */
};

/* pdet_log_pointer - parse one, with 0x or without. */
bool pdet_log_pointer(struct pdet_scan *s, struct pdet_log_pointer *ret);

/* pdet_log_is_real - whether it is certainly the address of an object of a
 * 64-bit kernel. pdet_log_is_hash - whether it certainly is not. */
bool pdet_log_is_real(struct pdet_log_pointer is);
bool pdet_log_is_hash(struct pdet_log_pointer is);

/* --- pointer.c: pointers of 8 digits, which may be hashes on a 32-bit machine.
 * --- */

/* pdet_log_see_pointer - compare it with others of the report. It must not be a
 * pointer to something that is elsewhere. */
void pdet_log_see_pointer(struct pdet_log_page *p, struct pdet_log_pointer is);

/* pdet_log_place_pointer - the same, with its offset in its slab. */
void pdet_log_place_pointer(struct pdet_log_page *p,
			    struct pdet_log_pointer is, uint64_t offset);

/* pdet_log_take_pointer - store the address of the report, or remember it until
 * pdet_log_judge_pointers(). A later one replaces it. */
void pdet_log_take_pointer(struct pdet_log_page *p,
			   struct pdet_log_pointer is);

/* --- owner.c: stacks of an allocation and a free. --- */

/* pdet_log_stack_begins - the lines after this one may be frames. A line that
 * only comes after them ends it: pdet_log_stack_ends(). */
void pdet_log_stack_begins(struct pdet_log_stack *stack);
void pdet_log_stack_ends(struct pdet_log_stack *stack);

/* pdet_log_stack_frame - add a frame to the stack that has begun last. If the
 * line is not one, the function returns false, and no frame may follow. */
bool pdet_log_stack_frame(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory);

/* --- the forms. The first function of each says whether a report begins here,
 * and parses it into *p, which is empty if not. The second one says whether
 * this is another line of the report. --- */

bool pdet_log_bad_page_begins(struct pdet_log_page *p, struct pdet_scan s,
			      bool *memory);
bool pdet_log_bad_page(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory);
bool pdet_log_before_entry(struct pdet_scan *s, uint64_t *ret);
/* Compare the number of the page in the block with the entry of the report: if
 * the entry contradicts it, a part is missing, and it is not believed if it is
 * the beginning of the entry's. */
void pdet_log_bad_page_compare(struct pdet_log_page *p);
bool pdet_log_poison_begins(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory);
bool pdet_log_machine_check_begins(struct pdet_log_page *p, struct pdet_scan s,
				   bool *memory);
bool pdet_log_machine_check(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory);
bool pdet_log_slab_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory);
bool pdet_log_slab(struct pdet_log_page *p, struct pdet_scan s, bool *memory);
enum pdet_log_fit pdet_log_slab_fits(const struct pdet_log_page *p,
				     struct pdet_scan s);
bool pdet_log_kasan_begins(struct pdet_log_page *p, struct pdet_scan s,
			   bool *memory);
bool pdet_log_kasan(struct pdet_log_page *p, struct pdet_scan s,
		    bool *memory);
bool pdet_log_kfence_begins(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory);
bool pdet_log_kfence(struct pdet_log_page *p, struct pdet_scan s,
		     bool *memory);
enum pdet_log_fit pdet_log_kfence_fits(const struct pdet_log_page *p,
				       struct pdet_scan s);
bool pdet_log_io_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory);
bool pdet_log_move_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory);
bool pdet_log_fault_begins(struct pdet_log_page *p, struct pdet_scan s,
			   bool *memory);
bool pdet_log_fault(struct pdet_log_page *p, struct pdet_scan s,
		    bool *memory);
bool pdet_log_hung_begins(struct pdet_log_page *p, struct pdet_scan s,
			  bool *memory);
bool pdet_log_hung(struct pdet_log_page *p, struct pdet_scan s, bool *memory);

#endif
