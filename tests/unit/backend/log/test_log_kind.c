/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Tests which texts are kernel logs, and which only quote their words. */
#include <errno.h>

#include "backend/log/log.h"
#include "../../unit.h"
#include "log_quotes.h"

static const char *const logs[] = {
	"page: refcount:2 mapcount:2 mapping:0 index:0x7 pfn:0x7bee",
	"page:00000000b2a3 refcount:1 mapcount:0 mapping:00000000d4 "
	"index:0x1 pfn:0x1046",
	"Page Detective: Investigating physical[1600000] pfn[1600]",
	"BUG: Bad page state in process cat  pfn:07bee",
	"BUG: Bad page map in process cat  pte:80 pmd:7b",
	"Memory failure: 0x7bee: recovery action for free buddy page: "
	"Recovered",
	"MCE 0x7bee: dirty LRU page recovery: Recovered",
	"Injecting memory failure for pfn 0x7bee at 0x7fa812345000",
	"MCE: Killing hw:137 due to hardware memory corruption fault at 7fa8",
	"Soft offlining pfn 0x7bee at process virtual address 0x7fa8",
	"soft_offline: 0x7bee: page already poisoned",
	"soft_offline_page: 0x18b6000: unknown page type: 3bfffc000000000 ()",
	"mce: Uncorrected hardware memory error in user-access at 1850602400",
	"EDAC MC0: 1 CE memory read error on CPU_0 (channel:1 slot:0 "
	"page:0x12345 offset:0x0 grain:32 syndrome:0x0)",
	"EDAC MC0: CE memory read error on CPU_0 (channel:1 slot:0 "
	"page:0x12345 offset:0x0 grain:32 syndrome:0x0)",
	"EDAC MC0: UE page 0x12345, offset 0x40, grain 128, row 0, labels "
	"\"DIMM_A\": i3200 UE",
	"EDAC MC1: CE page 0x12345, offset 0x0, grain 8, syndrome 0x54, row 0, "
	"channel 1, label \"DIMM_B\": x38_edac CE",
	"list_del corruption, ffff888012345678->next is LIST_POISON1 "
	"(dead000000000100)",
	"prog[123]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30 error 4",
	"prog[123]: segfault at 10 ip 000000010000074c (rpc 0000000100000738) "
	"sp 000007feffa0e9c1 error 1 in prog[100000000+2000]",
	"prog: unhandled page fault (11) at 0x00000010, code 0x805",
	/* They name no page. */
	"INFO: task khugepaged:35 blocked for more than 120 seconds.",
	"mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 5: be000000008004",
	"BUG kmalloc-64 (Not tainted): Poison overwritten",
	"Slab 0xffffea0000123400 objects=33 used=3 fp=0x0000000012345678 "
	"flags=0x200(slab|head)",
	"INFO: Slab 0xffffea0000123400 objects=33 used=3 fp=0x0000000012345678 "
	"flags=0x0000000000000200",
};

/* They have no report, but the kernel's times. */
static const char *const stamped[] = {
	"[    1.000000] usb 1-1: new device\n[    1.000001] usb 1-1: gone\n",
	"6,383,12,-;usb 1-1: new device\n SUBSYSTEM=usb\n6,384,13,-;x\n",
};

/* Each has words that a kernel also prints. */
static const char *const others[] = {
	"",
	"Dear diary, today I saw a page.\n",
	"\tpr_alert(\"BUG: Bad page state in process %s  pfn:%05lx\\n\",\n"
	"\t\t current->comm, page_to_pfn(page));\n",
	"\tpr_err(\"Memory failure: %#lx: recovery action for %s: %s\\n\",\n",
	"static const char head[] = \"Memory failure: 0x\";\n",
	"\tedac_mc_printk(mci, KERN_WARNING, \"CE page 0x%lx, offset 0x%lx\",\n",
	"\t{ \"EDAC MC\", log_text },\n\t{ \"[Hardware Error]: \", log_text },\n",
	"# pagedet\n\nIt reads `BUG: Bad page state in process cat` from a log,\n"
	"and \"page dumped because: nonzero mapcount\".\n",
	"Hi,\n\nmy machine says \"EDAC MC0: UE page 0x1\" and then hangs. The\n"
	"task was blocked for more than two hours, with I/O error on dev sda.\n",
	"> The message is list_del corruption, in mm/slub.c.\n> Slab 0x%p\n",
	"execve(\"/bin/prog\", [\"prog\"], 0x7ffc /* 9 vars */) = 0\n"
	"write(2, \"prog[123]: segfault at 10\\n\", 26) = 26\n"
	"write(2, \" mapcount:-1 page:ffff8880 pfn:0x7\\n\", 35) = 35\n"
	"--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR} ---\n",
	"prog: unhandled page fault, see the manual\n",
	"Slab 7 of the terrace is damaged. The task blocked for more than\n"
	"120 seconds is gone.\n",
	"[2026-11-22 12:03:02.123456] server: segfault (11) of a worker\n",
	"12:03:02.123456 mmap(NULL, 4096, PROT_READ) = 0x7f00\n",
};

/* The one that fails, counted down; 0: none. */
static long allocations;

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return allocations && !--allocations ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return allocations && !--allocations ? NULL : __real_realloc(p, size);
}

static bool is_log(const char *text)
{
	const size_t len = strlen(text);
	char *copy = malloc(len + 1);
	bool is;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	is = pdet_log_is_log(copy, len) > 0;
	free(copy);
	return is;
}

START_TEST(kernel)
{
	char text[512];

	ck_assert_msg(is_log(logs[_i]), "%s", logs[_i]);
	/* With other lines around it, and any bytes in them. */
	snprintf(text, sizeof(text), "\377 before\n%s\nafter\n", logs[_i]);
	ck_assert_msg(is_log(text), "%s", text);
}
END_TEST

START_TEST(times)
{
	ck_assert_msg(is_log(stamped[_i]), "%s", stamped[_i]);
}
END_TEST

START_TEST(quoted)
{
	ck_assert_msg(!is_log(others[_i]), "%s", others[_i]);
}
END_TEST

START_TEST(source)
{
	ck_assert_msg(!is_log(sources[_i]), "%s", sources[_i]);
}
END_TEST

START_TEST(sent)
{
	ck_assert_msg(is_log(quoting_logs[_i]), "%s", quoting_logs[_i]);
}
END_TEST

START_TEST(no_memory)
{
	const size_t len = strlen(logs[_i]);
	long n;
	int is;

	for (n = 1;; n++) {
		allocations = n;
		is = pdet_log_is_log(logs[_i], len);
		if (allocations > 0)
			break;
		ck_assert_int_eq(is, -ENOMEM);
	}
	allocations = 0;
	ck_assert_int_eq(is, 1);
	/* The handle, its writers and this text's lines at least. */
	ck_assert_int_ge(n, 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("log_kind");

	unit_loop(s, kernel, (int)(sizeof(logs) / sizeof(*logs)));
	unit_loop(s, times, (int)(sizeof(stamped) / sizeof(*stamped)));
	unit_loop(s, quoted, (int)(sizeof(others) / sizeof(*others)));
	unit_loop(s, no_memory, (int)(sizeof(logs) / sizeof(*logs)));
	unit_loop(s, source, (int)(sizeof(sources) / sizeof(*sources)));
	unit_loop(s, sent, (int)(sizeof(quoting_logs) /
				 sizeof(*quoting_logs)));
	return unit_main(s);
}
