/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Parses hardware memory errors (Linux arch/x86/kernel/cpu/mce/core.c,
 * drivers/edac/edac_mc.c, drivers/firmware/efi/cper.c and cper-arm.c; 5.10 to
 * 6.18):
 *
 *   mce: [Hardware Error]: CPU 0: Machine Check Exception: 5 Bank 10: fe00...
 *   mce: [Hardware Error]: TSC 15... ADDR 9562dc000 MISC 1229440404003e8c
 *   mce: [Hardware Error]: PROCESSOR 0:406f1 TIME 1745767392 SOCKET 0 ...
 *   mce: Uncorrected hardware memory error in user-access at 1850602400
 *   EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0
 *       (channel:1 slot:0 page:0x12345 offset:0x0 grain:32 syndrome:0x0)
 *   EDAC MC0: CE page 0x12345, offset 0x0, grain 8, syndrome 0x54, row 0,
 *       channel 1, label "DIMM_B": x38_edac CE	(before 3.5; 3.5 and 3.6
 *                                              have the new form without "1 ")
 *   {1}[Hardware Error]:  Error 0, type: recoverable
 *   {1}[Hardware Error]:   section_type: memory error
 *   {1}[Hardware Error]:   error_status: Storage error in DRAM memory (0x...)
 *   {1}[Hardware Error]:   physical_address: 0x0000000040fa6000
 *   {1}[Hardware Error]:   physical_address_mask: 0xfffffffffffff000
 *   {1}[Hardware Error]:   node:1 card:4 module:0 rank:0 bank:6 row:24237
 *   {1}[Hardware Error]:   error_type: 8, parity error
 *   {1}[Hardware Error]:   DIMM location: CPU 1 DIMM 5
 */
#include <stdio.h>
#include <string.h>

#include "backend/log/report.h"

/* Longest reason that is made of several lines. */
#define MOST_REASON 640

/* ADDR is a memory address only if bits 6 to 8 of MISC are 2, "physical". Bits
 * 0 to 5 of MISC give the number of low bits of ADDR that are not valid (Intel
 * SDM volume 3, IA32_MCi_MISC). */
#define MISC_PHYSICAL 2
#define MISC_MODE(misc) ((misc) >> 6 & 7)
#define MISC_LSB(misc) ((misc) & 0x3f)

/* Vendors in "PROCESSOR 2:a20f10" that lack these bits. Their addresses are
 * internal to the memory controller (arch/x86/include/asm/processor.h). */
#define VENDOR_AMD 2
#define VENDOR_HYGON 9

/* The value after " NAME ". */
static bool value(struct pdet_scan line, const char *name, uint64_t *ret)
{
	struct pdet_scan s;

	return pdet_log_behind(line, name, &s) && pdet_log_hex(&s, ret);
}

static void physical(struct pdet_log_page *p, uint64_t addr)
{
	p->has_phys = true;
	p->phys = addr;
}

/* "TSC 0 ADDR fef1ce40 MISC 86 ". */
static bool tsc(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan line = s;
	uint64_t addr, misc;

	if (!pdet_scan_word(&s, "TSC ") || !value(line, " ADDR ", &addr))
		return false;
	p->found = true;
	pdet_log_says(p, line, memory);
	if (value(line, " MISC ", &misc) &&
	    MISC_MODE(misc) == MISC_PHYSICAL && MISC_LSB(misc) <= 12)
		physical(p, addr);
	return true;
}

/* "PROCESSOR 0:306e4 TIME ...". */
static bool processor(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t vendor;

	if (!pdet_scan_word(&s, "PROCESSOR ") ||
	    !pdet_scan_dec(&s, &vendor))
		return false;
	if (vendor == VENDOR_AMD || vendor == VENDOR_HYGON)
		p->has_phys = false;
	p->over = true;
	return true;
}

static bool is_bank(struct pdet_scan s)
{
	uint64_t cpu;

	return pdet_scan_word(&s, "CPU ") && pdet_scan_dec(&s, &cpu) &&
	       pdet_scan_word(&s, ": Machine Check");
}

static bool mce_begins(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	struct pdet_scan words;
	uint64_t addr;

	if (!pdet_scan_word(&s, "mce: "))
		return false;
	words = s;
	if (pdet_scan_word(&s, "Uncorrected hardware memory error in "
			   "user-access at ")) {
		if (!pdet_log_hex(&s, &addr))
			return false;
		physical(p, addr);
		pdet_log_says(p, words, memory);
		p->over = true;
	} else if (!pdet_scan_word(&s, "[Hardware Error]: ") ||
		   (!is_bank(s) && !tsc(p, s, memory))) {
		return false;
	}
	p->report = PAGEDET_REPORT_MACHINE_CHECK;
	p->shift = PDET_LOG_X86_SHIFT;
	return true;
}

/* A driver that does not know the page prints page 0 and offset 0. */
static bool edac_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	struct pdet_scan words;
	uint64_t number, pfn, offset;

	if (!pdet_scan_word(&s, "EDAC MC") || !pdet_scan_dec(&s, &number) ||
	    !pdet_scan_word(&s, ": "))
		return false;
	words = s;
	if (pdet_scan_dec(&s, &number) && !pdet_scan_char(&s, ' '))
		return false;
	if (!pdet_scan_word(&s, "CE ") && !pdet_scan_word(&s, "UE "))
		return false;
	if (pdet_scan_word(&s, "page 0x")) {
		if (!pdet_scan_hex(&s, &pfn) ||
		    !pdet_scan_word(&s, ", offset 0x") ||
		    !pdet_scan_hex(&s, &offset))
			return false;
		pdet_log_says(p, words, memory);
	} else if (!value(s, "page:0x", &pfn) ||
		   !value(s, " offset:0x", &offset)) {
		return false;
	} else if (pdet_log_before(&words, " (")) {
		pdet_log_says(p, words, memory);
	}
	p->report = PAGEDET_REPORT_EDAC;
	p->found = p->over = true;
	if (pfn || offset)
		p->has |= PDET_LOG_PFN;
	p->pfn = pfn;
	return true;
}

/* Skip "[Hardware Error]:", and the prefixes that its lines may have. */
static bool of_firmware(struct pdet_scan *s)
{
	uint64_t number;

	if (pdet_scan_char(s, '{') && (!pdet_scan_dec(s, &number) ||
				       !pdet_scan_char(s, '}')))
		return false;
	pdet_scan_word(s, "BERT: ");
	if (!pdet_scan_word(s, "[Hardware Error]:"))
		return false;
	pdet_scan_blanks(s);
	return true;
}

/* Add a line to the reason. */
static void add(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan had = pdet_log_page_text(p, p->reason);
	char text[MOST_REASON];
	const int n = snprintf(text, sizeof(text), "%.*s%s%.*s",
			       (int)(had.end - had.at), had.at ? had.at : "",
			       had.at ? "; " : "", (int)(s.end - s.at), s.at);
	const size_t len = PDET_MIN((size_t)n, sizeof(text) - 1);

	*memory &= pdet_log_keep(p, (struct pdet_scan){ text, text + len },
				 &p->reason);
}

/* "Error 0, type: recoverable" and "section_type: memory error", one of which
 * precedes the other lines of a section. */
static bool is_head(struct pdet_scan s, bool *is_error)
{
	struct pdet_scan type;

	*is_error = pdet_scan_word(&s, "Error ") &&
		    pdet_log_behind(s, ", type: ", &type);
	return *is_error || pdet_scan_word(&s, "section_type: ");
}

static bool address(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan line = s;
	uint64_t addr;

	if (p->has_phys || (!pdet_scan_word(&s, "physical_address: ") &&
			    !pdet_scan_word(&s, "physical fault address: ")) ||
	    !pdet_log_hex(&s, &addr))
		return false;
	physical(p, addr);
	add(p, line, memory);
	return true;
}

/* Take a line that says what is broken. */
static bool detail(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	static const char *const words[] = {
		"fru_text: ", "error_status: ", "node:", "DIMM location: ",
	};
	const struct pdet_scan line = s;
	size_t i;

	if (pdet_scan_word(&s, "error_type: ")) {
		add(p, line, memory);
		p->typed = true;
		return true;
	}
	for (i = 0; i < PDET_COUNT(words); i++) {
		if (!pdet_scan_word(&s, words[i]))
			continue;
		add(p, line, memory);
		/* the last line of a section */
		p->over = *words[i] == 'D';
		return true;
	}
	return false;
}

/* Sections without an address give no row. */
static bool apei_begins(struct pdet_log_page *p, struct pdet_scan s,
			bool *memory)
{
	bool is_error;

	if (!of_firmware(&s))
		return false;
	if (is_head(s, &is_error)) {
		p->sectioned = !is_error;
		add(p, s, memory);
	} else if (!address(p, s, memory)) {
		return false;
	}
	p->report = PAGEDET_REPORT_APEI;
	return true;
}

bool pdet_log_machine_check_begins(struct pdet_log_page *p, struct pdet_scan s,
				   bool *memory)
{
	return mce_begins(p, s, memory) || edac_begins(p, s, memory) ||
	       apei_begins(p, s, memory);
}

/* The valid bits of the address. An empty mask is meaningless. */
static bool mask(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t bits;

	if (!pdet_scan_word(&s, "physical_address_mask: ") ||
	    !pdet_log_hex(&s, &bits))
		return false;
	if (bits && ~bits & ~(uint64_t)0xfff & 0xffffffffff)
		p->has_phys = false;
	p->found = true;
	return true;
}

bool pdet_log_machine_check(struct pdet_log_page *p, struct pdet_scan s,
			    bool *memory)
{
	bool is_error;

	if (p->report == PAGEDET_REPORT_APEI) {
		if (!of_firmware(&s))
			return false;
		if (!is_head(s, &is_error))
			return mask(p, s) || address(p, s, memory) ||
			       detail(p, s, memory);
		if (is_error || p->sectioned || p->has_phys)
			return false;	/* of the next section */
		p->sectioned = true;
		add(p, s, memory);
		return true;
	}
	if (!pdet_scan_word(&s, "mce: [Hardware Error]: "))
		return false;
	if (is_bank(s))
		return false;
	return (!p->found && tsc(p, s, memory)) || processor(p, s);
}
