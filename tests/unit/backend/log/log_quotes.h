/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Texts that quote reports of the kernel: programs, scripts, manuals and
 * patches, which are not logs, and what people send to have a report looked at,
 * which is like one.
 */
#ifndef TESTS_LOG_QUOTES_H
#define TESTS_LOG_QUOTES_H

#define STATE "BUG: Bad page state in process cat  pfn:07bee\n"
#define SEGV "prog[412]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30 " \
	"error 4 in prog[55d0c2a9b000+1000]\n"
#define BLOCK \
	"page: refcount:0 mapcount:0 mapping:0 index:0x7 pfn:0x7bee\n" \
	"flags: 0xfffffc0000000(node=0|zone=1|lastcpupid=0x1fffff)\n" \
	"page dumped because: nonzero _refcount\n"
#define T "[   12.345678] "

static const char *const sources[] = {
	/* C: comments with stars and without, strings, calls */
	"/*\n * Parses reports of programs with invalid accesses:\n *\n"
	" *   " SEGV " *   Code: 48 89 e5 <8b> 00 5d c3\n *\n"
	" *   prog[412]: unhandled signal 11 code 0x1 at 0x10 in\n */\n"
	"#include <string.h>\n",
	"/* What the kernel prints:\n\n" T STATE BLOCK "\n*/\n"
	"int parse(void);\n",
	"static const char *const lines[] = {\n"
	"\t\"prog[123]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30 error 4"
	"\",\n\t\"" T "BUG: Bad page state in process cat  pfn:07bee\",\n};\n",
	"\tprintk(\"" T "Memory failure: 0x7bee: recovery action for free "
	"buddy page: Recovered\\n\");\n",
	"\tputs(\n\t    \"prog[1]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30"
	" error 4\\n\");\n",
	"// " T STATE "// " T "page:ffffea0000000000 count:0 mapcount:0 "
	"mapping:0 index:0x0\n",
	/* other languages */
	"    fn classifies_a_segfault() {\n        let e = entry(3, \""
	"firefox[12345]: segfault at 0 ip 00007f8a1c2b3d40 sp 00007ffd1a2b3c00 "
	"error 4 in libxul.so\", \"kernel\");\n    }\n",
	"import crash\n\nLOG = \"\"\"\n" T STATE T
	"page: refcount:0 mapcount:0 mapping:0 index:0x0 pfn:0x7bee\n\"\"\"\n\n"
	"def test_log():\n    assert crash.parse(LOG).pfn == 0x7bee\n",
	"package report\n\nimport \"testing\"\n\nconst text = `\n" STATE BLOCK
	"`\n\nfunc TestReport(t *testing.T) {\n\tif got := parse(text); got {\n"
	"\t\tt.Fatalf(\"%v\", got)\n\t}\n}\n",
	"  it(\"parses titles\", () => {\n    const bad = parseOops(\n"
	"      \"" T "BUG: Bad page state in process cat  pfn:07bee\\n\",\n"
	"    );\n",
	"# SPDX-License-Identifier: GPL-2.0\nlog_lines\n" STATE BLOCK,
	/* scripts */
	"#!/bin/sh\nset -e\ngrep -q Bad \"$1\" || exit 1\n" STATE,
	". ./tap.sh\n\ncat > \"$tmp/log\" <<'EOF'\n" T STATE T BLOCK "EOF\n"
	"is 'the page' 0x7bee \"$(ask \"$tmp/log\")\"\n",
	"\tcat <<- END | ask\n\t" STATE "\tEND\nok 'a report'\n",
	"plan 3\necho '" T "BUG: Bad page state in process cat  pfn:7' > a\n"
	"printf '%s\\n' \"BUG: Bad page map in process cat  pte:80 pmd:7b\"\n",
	"for i in 1 2; do\n\tprintf '\\0'\ndone > f\n# " T STATE,
	/* manuals */
	"# pagedet\n\nIt reads what the kernel printed about a page:\n\n```\n"
	STATE BLOCK "```\n\nThe process is `cat`. It says where to look next.\n"
	"\n## Build\n\nRun this:\n\n```\n./configure\nmake\n```\n\nThen install "
	"it, as root. It needs no other\nprogram. It reads nothing that you do "
	"not name.\n",
	"Error reports\n=============\n\nA typical report looks like this::\n\n"
	"    " STATE "    page: refcount:0 mapcount:0 mapping:0 index:0x7 "
	"pfn:0x7bee\n\nThe first line names the process, and the\nnumber of the "
	"page. It is the one that is freed.\n\nUsage\n-----\n\nConfigure the "
	"kernel with ``CONFIG_DEBUG_VM``.\nThen boot it, and look at its log.\n",
	".TH KLOG 1\n.SH NAME\nklog \\- reads reports\n.SH EXAMPLES\n.PP\n.nf\n"
	STATE BLOCK ".fi\n.PP\nIt names a page.\n.SH AUTHOR\nNobody\n",
	/* patches */
	"diff --git a/tests/log.txt b/tests/log.txt\nnew file mode 100644\n"
	"--- /dev/null\n+++ b/tests/log.txt\n@@ -0,0 +1,3 @@\n+" T STATE
	"+" T "page: refcount:0 mapcount:0 mapping:0 index:0x7 pfn:0x7bee\n"
	"+" T "page dumped because: nonzero _refcount\n",
	"From: a@b.example\nDate: Mon, 30 Nov 2026 10:00:00 +0000\n"
	"Subject: [PATCH] docs: print a newer report\n\nThe old one is of "
	"5.4.\n---\n docs/reports.rst | 2 +-\n\n@@ -7,3 +7,3 @@\n This is a "
	"report:\n-  " T STATE "+  " T "BUG: Bad page state in process dog  "
	"pfn:07bee\n \n-- \n2.47\n",
	"> @@ -1,2 +1,2 @@\n>  " STATE "> -" T STATE "> +" T STATE
	"> Please keep the old one.\n",
};

static const char *const quoting_logs[] = {
	/* mails */
	"On Mon, somebody wrote:\n> My machine says:\n>\n> " T STATE "> " T
	"page: refcount:0 mapcount:0 mapping:0 index:0x7 pfn:0x7bee\n>\n> What "
	"is that?\n\nWhich kernel is it?\n",
	"From: a@b.example\nDate: Mon, 30 Nov 2026 10:00:00 +0000\n"
	"Subject: [PATCH] mm: fix a count\n\nIt printed:\n\n " STATE " page: "
	"refcount:0 mapcount:0 mapping:0 index:0x7 pfn:0x7bee\n\n---\n"
	" mm/x.c | 2 +-\n\n@@ -7,3 +7,3 @@ static int f(void)\n {\n-\treturn "
	"0;\n+\treturn 1;\n }\n-- \n2.47\n",
	"From: a@b.example\nSubject: a page\n\nThis program:\n\n#include "
	"<stdio.h>\nint main(void)\n{\n\tint *p = 0;\n\tputs(\"x\");\n"
	"\t*p = 1;\n\treturn 0;\n}\n\nmakes the kernel print this:\n\n" SEGV,
	"commit 0123456789012345678901234567890123456789\nAuthor: A <a@b>\n"
	"Date:   Mon Nov 30 10:00:00 2026\n\n    mm: fix a count\n\n    " STATE
	"    page: refcount:0 mapcount:0 mapping:0 index:0x7 pfn:0x7bee\n",
	/* bug trackers and forums */
	"Description of problem:\nThe machine hangs.\n\nVersion:\n6.12\n\n"
	STATE BLOCK "\nAdditional info:\nIt happens every day.\n",
	"### What happened\n\nMy machine hangs. Its log has:\n\n```\n" T STATE
	T "page: refcount:0 mapcount:0 mapping:0 index:0x7 pfn:0x7bee\n```\n\n"
	"### What did you expect\n\nThat it does not.\n\n### Version\n\nThe "
	"newest one.\n\n### Machine\n\nOne with two processors.\nIt is new.\n",
	"## What happened\n\nIt crashed, and the journal has:\n\n```\nkernel: "
	STATE "```\n\nI have tried all.\nThe disk is new.\nSo is the memory."
	"\n\n## Machine\n\nOne with two processors.\n",
	"## Log\n\n```\n" STATE BLOCK "```\n\nWhat is it?\n",
	"---\ntitle: \"it crashes\"\n---\n\n### Post by somebody on 2014-10-08\n"
	"It dies all the time.\n\n" T SEGV "\nI have tried all.\nWhat now?\n",
	/* lines of a log that have quotation marks, too */
	T "prog: a=\"\"\"\n" T STATE T "prog: b=\"\"\"\n",
	"Nov 30 12:00:00 host kernel: audit: cat <<EOF\nNov 30 12:00:01 host kernel: "
	STATE "EOF\n",
	"kernel: prog: '''\nkernel: " STATE "kernel: prog: '''\n",
	/* what was typed, and copied with its answer */
	"root@host:~# dmesg | grep Bad\n" T STATE,
	"# dmesg | tail -2\n" T STATE T "usb 1-1: new device\n",
	"$ cat <<EOF\n" STATE BLOCK,
	/* a name that a program may also have */
	T "(sd-pam)[412]: segfault at 10 ip 55d0c2a9b13d sp 7ffc0a1b2c30 "
	"error 4\n",
	"{\"log\":\"" "BUG: Bad page state in process cat  pfn:07bee\\n\"}\n",
};

#undef STATE
#undef SEGV
#undef BLOCK
#undef T

#endif
