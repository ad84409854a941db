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
 *   [Hardware Error]: CPU:2 (17:71:0) MC17_STATUS[Over|CE|...]: 0xdc20...
 *   [Hardware Error]: Error Addr: 0x3ffe9d1c0	(drivers/edac/mce_amd.c)
 *   [Hardware Error]: cache level: L3/GEN, tx: GEN, mem-tx: RD
 *   CPU 4 BANK 8 TSC 3a6f6c0a2		(mcelog)
 *   MISC 21403c3c86 ADDR 7c4a2d040
 *   STATUS 8c00004000010091 MCGSTATUS 0
 *   CPUID Vendor Intel Family 6 Model 44
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

/* MCi_STATUS (arch/x86/include/asm/mce.h). DEFERRED and POISON are of AMD, S
 * and AR of Intel. */
#define UC ((uint64_t)1 << 61)
#define ADDRV ((uint64_t)1 << 58)
#define PCC ((uint64_t)1 << 57)
#define S ((uint64_t)1 << 56)
#define AR ((uint64_t)1 << 55)
#define DEFERRED ((uint64_t)1 << 44)
#define POISON ((uint64_t)1 << 43)
/* Its lower half: errors of a memory controller, also of memory that caches
 * other memory (Intel SDM volume 3, compound error codes). */
#define IS_CONTROLLER(status) (((status) & 0xed80) == 0x80)
/* AMD, the extended code of bank 4 before SMCA: ECC of DRAM. */
#define OF_DRAM(status) (((status) >> 16 & 0x1f) == 8)
#define NORTHBRIDGE 4
/* The first family of AMD with SMCA. */
#define SMCA 0x17

/* ADDR is a memory address only if bits 6 to 8 of MISC are 2, "physical". Bits
 * 0 to 5 of MISC give the number of low bits of ADDR that are not valid (Intel
 * SDM volume 3, IA32_MCi_MISC). */
#define MISC_PHYSICAL 2
#define MISC_MODE(misc) ((misc) >> 6 & 7)
#define MISC_LSB(misc) ((misc) & 0x3f)

/* AMD's MISC has it where it counts errors; its low 24 bits are reserved. */
#define MISC_COUNTS ((uint64_t)1 << 63)

/* Bits of a physical address of x86 and arm64. */
#define MOST_BITS 52

/* Vendors in "PROCESSOR 2:a20f10" (arch/x86/include/asm/processor.h). */
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
	p->has_phys = !(addr >> MOST_BITS);
	p->phys = addr;
}

/* Add a line to the reason. */
static void add(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan had = pdet_log_page_text(p, p->reason);
	char text[MOST_REASON];
	size_t len;
	int n;

	while (s.end > s.at && s.end[-1] == ' ')
		s.end--;
	n = snprintf(text, sizeof(text), "%.*s%s%.*s",
		     (int)(had.end - had.at), had.at ? had.at : "",
		     had.at ? "; " : "", (int)(s.end - s.at), s.at);
	len = PDET_MIN((size_t)n, sizeof(text) - 1);
	*memory &= pdet_log_keep(p, (struct pdet_scan){ text, text + len },
				 &p->reason);
}

/* arch/x86/kernel/cpu/mce/amd.c, amd_mce_usable_address(). Other addresses are
 * internal to the memory controller or a cache. */
static bool is_physical_of_amd(const struct pdet_log_mce *m)
{
	if (!m->has_status)
		return false;
	/* Where the family is not said, IPID says SMCA, or the kernel (before
	 * 3.17) or mcelog is too old for it. */
	if (!m->smca && m->bank == NORTHBRIDGE)
		return OF_DRAM(m->status);
	return m->status & POISON;
}

/*
 * Whether ADDR is the address of the page. Without MISC Intel does not say what
 * it is, but memory controllers have physical addresses only. If the lines that
 * name the vendor are missing, it may be AMD, whose controllers have addresses
 * of their own; but then MISC does not say "physical".
 */
static bool is_physical(const struct pdet_log_mce *m)
{
	if (!m->has_addr || (m->has_status && !(m->status & ADDRV)))
		return false;
	if (m->amd || m->smca)
		return is_physical_of_amd(m);
	if (!m->has_vendor && (!m->has_misc || m->misc & MISC_COUNTS))
		return false;
	if (m->has_misc)
		return MISC_MODE(m->misc) == MISC_PHYSICAL &&
		       MISC_LSB(m->misc) <= PDET_LOG_X86_SHIFT;
	return m->has_status && IS_CONTROLLER(m->status);
}

static const char *severity(const struct pdet_log_mce *m)
{
	const bool amd = m->amd || m->smca;

	if (!(m->status & UC))
		return !(m->status & DEFERRED) || (m->has_vendor && !amd) ?
			       "corrected error" :
		       amd ? "deferred error" :
			     "corrected or deferred error";
	if (m->status & PCC)
		return "uncorrected error, fatal";
	if (amd || !m->has_vendor)
		return "uncorrected error";
	return !(m->status & S) ?
		"uncorrected error, no action required (UCNA)" :
	       m->status & AR ? "uncorrected error, action required (SRAR)" :
				"uncorrected error, action optional (SRAO)";
}

bool pdet_log_machine_check_ends(struct pdet_log_page *p)
{
	const struct pdet_log_mce *m = &p->mce;
	const struct pdet_scan had = pdet_log_page_text(p, p->reason);
	const char *what = m->has_status ? severity(m) : "";
	const char *where = "";
	char text[MOST_REASON];
	size_t len;
	int n;

	if (is_physical(m))
		physical(p, m->addr);
	if (m->has_addr && !p->has_phys)
		where = "; its address does not tell which page it is";
	p->partial |= !p->over || (m->has_addr && !m->has_vendor);
	if (!*what && !*where)
		return true;
	n = snprintf(text, sizeof(text), "%s%s%.*s%s", what,
		     *what && had.at ? "; " : "",
		     (int)(had.end - had.at), had.at ? had.at : "", where);
	len = PDET_MIN((size_t)n, sizeof(text) - 1);
	return pdet_log_keep(p, (struct pdet_scan){ text, text + len },
			     &p->reason);
}

static void status(struct pdet_log_page *p, uint64_t bits)
{
	p->mce.has_status = true;
	p->mce.status = bits;
}

/* "TSC 0 ADDR fef1ce40 MISC 86 ". */
static bool tsc(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan line = s;
	uint64_t ipid;

	if (!pdet_scan_word(&s, "TSC ") ||
	    !value(line, " ADDR ", &p->mce.addr))
		return false;
	p->found = p->mce.has_addr = true;
	p->mce.has_misc = value(line, " MISC ", &p->mce.misc);
	p->mce.smca |= value(line, " IPID ", &ipid);
	add(p, line, memory);
	return true;
}

/* The vendor is known. @family: of AMD; 0: not known. */
static void of_vendor(struct pdet_log_page *p, bool amd, uint64_t family)
{
	p->mce.has_vendor = true;
	p->mce.amd = amd;
	p->mce.smca |= amd && family >= SMCA;
}

/* The family of AMD in CPUID. */
static uint64_t family_of(uint64_t id)
{
	return (id >> 8 & 0xf) + (id >> 20 & 0xff);
}

/* "PROCESSOR 0:306e4 TIME ...", the last line: the vendor, and the family in
 * CPUID. */
static bool processor(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t vendor, id = 0;

	if (!pdet_scan_word(&s, "PROCESSOR ") ||
	    !pdet_scan_dec(&s, &vendor))
		return false;
	if (pdet_scan_char(&s, ':'))
		pdet_scan_hex(&s, &id);
	of_vendor(p, vendor == VENDOR_AMD || vendor == VENDOR_HYGON,
		  family_of(id));
	p->over = true;
	return true;
}

/* "CPU 0: Machine Check Exception: 5 Bank 10: fe002984001000c1". */
static bool is_bank(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t number, bank, bits;

	if (!pdet_scan_word(&s, "CPU ") || !pdet_scan_dec(&s, &number) ||
	    !pdet_scan_word(&s, ": Machine Check"))
		return false;
	if (p && pdet_log_behind(s, " Bank ", &s) &&
	    pdet_scan_dec(&s, &bank) && pdet_scan_word(&s, ": ") &&
	    pdet_scan_hex(&s, &bits)) {
		p->mce.bank = (uint8_t)bank;
		status(p, bits);
	}
	return true;
}

/* Skip "[Hardware Error]: ", before which old kernels have nothing. */
static bool of_processor(struct pdet_scan *s)
{
	pdet_scan_word(s, "mce: ");
	return pdet_scan_word(s, "[Hardware Error]: ");
}

/* What memory_failure() is called for. */
static bool mce_page(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	static const char *const words[] = {
		"Uncorrected hardware memory error in user-access at ",
		"Kernel accessed poison in user space at ",
	};
	const struct pdet_scan line = s;
	uint64_t addr;
	size_t i;

	for (i = 0; i < PDET_COUNT(words); i++) {
		if (!pdet_scan_word(&s, words[i]) || !pdet_log_hex(&s, &addr))
			continue;
		physical(p, addr);
		pdet_log_says(p, line, memory);
		p->over = true;
		return true;
	}
	return false;
}

/* "CPU:2 (17:71:0) MC17_STATUS[Over|CE|MiscV|AddrV|-]: 0xdc2040000400011b";
 * before 3.17 without the family, in brackets. */
static bool decoded(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t cpu, family = 0, bank, bits;

	if (pdet_scan_word(&s, "CPU:")) {
		if (!pdet_scan_dec(&s, &cpu))
			return false;
		pdet_scan_blanks(&s);
		if (pdet_scan_char(&s, '(') &&
		    (!pdet_scan_hex(&s, &family) ||
		     !pdet_log_behind(s, ") ", &s)))
			return false;
	}
	if (!pdet_scan_word(&s, "MC") || !pdet_scan_dec(&s, &bank) ||
	    !pdet_scan_word(&s, "_STATUS[") ||
	    !pdet_log_behind(s, "]: 0x", &s) || !pdet_scan_hex(&s, &bits))
		return false;
	of_vendor(p, true, family);
	p->mce.bank = (uint8_t)bank;
	status(p, bits);
	return true;
}

/* A line after it: the address, the error, and its kind, which is the last. */
static bool decoded_more(struct pdet_log_page *p, struct pdet_scan s,
			 bool *memory)
{
	struct pdet_scan after;

	pdet_scan_blanks(&s);
	if (pdet_scan_word(&s, "cache level: ") ||
	    pdet_scan_word(&s, "internal: ")) {
		p->over = true;
		return true;
	}
	if (pdet_log_behind(s, "Error Addr: 0x", &after) ||
	    pdet_log_behind(s, " Error Address: 0x", &after) ||
	    pdet_log_behind(s, "_ADDR: 0x", &after)) {
		if (!pdet_scan_hex(&after, &p->mce.addr))
			return false;
		p->found = p->mce.has_addr = true;
		return true;
	}
	if (pdet_log_behind(s, "IPID: 0x", &after)) {
		p->mce.smca = true;
		return true;
	}
	if (!pdet_log_behind(s, " Error Code: ", &after) &&
	    !pdet_log_behind(s, " Error: ", &after) &&
	    !pdet_log_behind(s, " Error (node ", &after))
		return false;
	add(p, s, memory);
	return true;
}

/* "CPU 4 BANK 8 TSC 3a6f6c0a2": the head of an event of mcelog. */
static bool is_event(struct pdet_log_page *p, struct pdet_scan s)
{
	uint64_t cpu, bank;

	if (!pdet_scan_word(&s, "CPU ") || !pdet_scan_dec(&s, &cpu) ||
	    !pdet_scan_word(&s, " BANK ") || !pdet_scan_dec(&s, &bank) ||
	    (s.at < s.end && *s.at != ' '))
		return false;
	p->mce.bank = (uint8_t)bank;
	p->mcelog = true;
	return true;
}

/* A line after it; the last one is of the processor. */
static bool event_more(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	const struct pdet_scan line = s;
	struct pdet_scan after;
	uint64_t bits;
	bool amd;

	if (pdet_scan_word(&s, "ADDR ") || pdet_scan_word(&s, "MISC ")) {
		if (!value(line, " ADDR ", &p->mce.addr) &&
		    (*line.at != 'A' || !pdet_log_hex(&s, &p->mce.addr)))
			return true;
		p->found = p->mce.has_addr = true;
		p->mce.has_misc = *line.at == 'M' &&
				  pdet_log_hex(&s, &p->mce.misc);
		add(p, line, memory);
	} else if (pdet_scan_word(&s, "MCA: ")) {
		add(p, s, memory);
	} else if (pdet_scan_word(&s, "STATUS ") && pdet_log_hex(&s, &bits)) {
		status(p, bits);
	} else if (pdet_scan_word(&s, "CPUID Vendor ")) {
		amd = pdet_scan_word(&s, "AMD ") ||
		      pdet_scan_word(&s, "Hygon ");
		if (!pdet_log_behind(s, "Family ", &after) ||
		    !pdet_scan_dec(&after, &bits))
			bits = 0;
		of_vendor(p, amd, bits);
		p->over = true;
	} else {
		return false;
	}
	return true;
}

/* "Corrected memory errors on page 7c4a2d000 exceed threshold 10 in 24h: ..."
 * and "Offlining page 7c4a2d000", also in the journal of mcelog. */
static bool threshold(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	const struct pdet_scan line = s;
	uint64_t addr;

	if (pdet_scan_word(&s, "Corrected memory errors on page ")) {
		if (!pdet_log_hex(&s, &addr) ||
		    !pdet_scan_word(&s, " exceed"))
			return false;
	} else {
		if (!pdet_scan_word(&s, "Offlining page ") ||
		    !pdet_log_hex(&s, &addr))
			return false;
		pdet_scan_blanks(&s);
		if (s.at < s.end)
			return false;
	}
	physical(p, addr);
	add(p, line, memory);
	p->over = true;
	return true;
}

/* "1 2023-07-22 04:26:40 +0000 1 Corrected error(s): memory read error at LABEL
 * location: 1:0:0:-1, addr 33330999360, grain 5, syndrome 0 ": rasdaemon's
 * record of what EDAC has found. */
static bool recorded(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_scan after, addr;
	uint64_t number;

	if (!pdet_scan_dec(&s, &number) || !pdet_scan_char(&s, ' ') ||
	    !pdet_log_behind(s, " error(s): ", &after) ||
	    !pdet_log_behind(after, ", addr ", &addr) ||
	    !pdet_scan_dec(&addr, &number) ||
	    !pdet_scan_word(&addr, ", grain "))
		return false;
	add(p, after, memory);
	p->report = PAGEDET_REPORT_EDAC;
	p->found = p->over = true;
	/* A driver that does not know it says 0. */
	if (number)
		physical(p, number);
	return true;
}

/* "1 2023-07-22 04:26:40 +0000 error: TEXT, CPU 2, ..., status=0x8c..., addr=
 * 0x7c4a2d040, misc=0x86, ..., cpuid=0x00a60f12, bank=0x00000015": the same of
 * a machine check. Of vendors, only AMD has the family 0xf today. */
static bool recorded_mce(struct pdet_log_page *p, struct pdet_scan s,
			 bool *memory)
{
	struct pdet_scan after;
	uint64_t number, bits, id = 0, bank = 0;

	if (!pdet_scan_dec(&s, &number) || !pdet_scan_char(&s, ' ') ||
	    !pdet_log_behind(s, " error: ", &after) ||
	    !value(after, ", status=", &bits) ||
	    !value(after, ", addr=", &p->mce.addr))
		return false;
	p->found = p->mce.has_addr = true;
	p->mce.has_misc = value(after, ", misc=", &p->mce.misc);
	value(after, ", cpuid=", &id);
	value(after, ", bank=", &bank);
	p->mce.bank = (uint8_t)bank;
	if (id)
		of_vendor(p, (id >> 8 & 0xf) == 0xf, family_of(id));
	status(p, bits);
	s = after;
	while (s.at < s.end && *s.at != ',')
		s.at++;
	after.end = s.at;
	add(p, after, memory);
	p->over = true;
	return true;
}

static bool mce_begins(struct pdet_log_page *p, struct pdet_scan s,
		       bool *memory)
{
	const struct pdet_scan line = s;

	if (recorded(p, s, memory))
		return true;
	if (is_event(p, s) || threshold(p, s, memory) ||
	    recorded_mce(p, s, memory)) {
		/* of a program */
	} else if (!of_processor(&s)) {
		s = line;
		if (!pdet_scan_word(&s, "mce: ") || !mce_page(p, s, memory))
			return false;
	} else if (!is_bank(p, s) && !tsc(p, s, memory) && !decoded(p, s)) {
		return false;
	}
	p->report = PAGEDET_REPORT_MACHINE_CHECK;
	p->shift = PDET_LOG_X86_SHIFT;
	return true;
}

static bool mce_more(struct pdet_log_page *p, struct pdet_scan s, bool *memory)
{
	struct pdet_log_page next = { 0 };

	if (p->mcelog)
		return event_more(p, s, memory);
	if (!of_processor(&s) || is_bank(NULL, s) || decoded(&next, s))
		return false;
	return (!p->found && tsc(p, s, memory)) || processor(p, s) ||
	       (p->mce.amd && decoded_more(p, s, memory));
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
	if ((pfn || offset) && !(pfn >> (MOST_BITS - PDET_LOG_X86_SHIFT)))
		p->has |= PDET_LOG_PFN;
	p->pfn = pfn;
	return true;
}

/* Skip "{7}[Hardware Error]:", and the prefixes that its lines may have. The
 * number is that of the report. */
static bool of_firmware(struct pdet_log_page *p, struct pdet_scan *s)
{
	uint64_t number;

	if (pdet_scan_char(s, '{')) {
		if (!pdet_scan_dec(s, &number) || !pdet_scan_char(s, '}') ||
		    (p->has_serial && p->serial != number))
			return false;
		p->serial = number;
		p->has_serial = true;
	} else if (p->has_serial) {
		return false;
	}
	pdet_scan_word(s, "BERT: ");
	if (!pdet_scan_word(s, "[Hardware Error]:"))
		return false;
	pdet_scan_blanks(s);
	return true;
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
	const struct pdet_scan line = s;
	bool is_error;

	if (of_firmware(p, &s) && is_head(s, &is_error)) {
		p->sectioned = !is_error;
		add(p, s, memory);
	} else if (s.at == line.at || !address(p, s, memory)) {
		p->has_serial = false;
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
		if (!of_firmware(p, &s))
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
	return mce_more(p, s, memory);
}
