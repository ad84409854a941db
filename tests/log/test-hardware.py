#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: log procfs
"""Tests reports of broken hardware: whether their address is that of a page,
what explain says of the page, and the size of a page that only the user knows.
"""
import os
import shutil
import subprocess
import tempfile

from captures import Tap, ask, command

tap = Tap()
tmp = tempfile.mkdtemp()


def page_of(text, *options):
    """The reports of a text, and their page frame numbers."""
    status, rows, said = ask("from-log", "--text-only", *options,
                             stdin=text.encode())
    return [(r["report"], r.get("pfn")) for r in rows]


def explained(text, pfn, *options):
    """Status, answer and what was said beside it."""
    path = os.path.join(tmp, "log.txt")
    with open(path, "w") as f:
        f.write(text)
    r = subprocess.run([command, "--from", path, "explain", "page", pfn,
                        *options], capture_output=True, check=False)
    return r.returncode, r.stdout.decode(), r.stderr.decode()


# --- machine checks: which addresses are those of a page ---

def mce(status, rest="", processor="0:406f1", bank=5):
    return (f"mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank {bank}: "
            f"{status:016x}\n"
            f"mce: [Hardware Error]: TSC 91b3f0 ADDR 7c4a2d040 {rest}\n"
            f"mce: [Hardware Error]: PROCESSOR {processor} TIME 1690000000 "
            "SOCKET 0 APIC 6 microcode 2000065\n")


PFN = 0x7c4a2d
AMD, OLD_AMD = "2:a20f12", "2:600f12"
POISON = 1 << 43
for name, text, pfn in (
        ("memory controller of Intel without MISC",
         mce(0x8c00004000010091), PFN),
        ("the same, of memory that caches other memory",
         mce(0x8c00004000010280), PFN),
        ("a cache of Intel without MISC", mce(0x8400004000010135), None),
        ("a cache whose MISC says physical",
         mce(0x8c00004000010135, "MISC 86"), PFN),
        ("a linear address", mce(0x8c00004000010091, "MISC 46"), None),
        ("a status without ADDRV", mce(0x8800004000010091, "MISC 86"), None),
        ("AMD: the controller's own address",
         mce(0xdc2040000000011b, "SYND 5b IPID 9600150f00", AMD, 17), None),
        ("AMD: poison that a processor read",
         mce(0xbc00080000010136 | POISON, "SYND 5b IPID b000000000", AMD, 0),
         PFN),
        ("AMD: another address of a cache",
         mce(0x9c20000000010136, "", AMD, 0), None),
        ("AMD before SMCA: ECC of DRAM",
         mce(0xdc00400000080a13, "", OLD_AMD, 4), PFN),
        ("AMD before SMCA: another error of its northbridge",
         mce(0xdc00400000040a13, "", OLD_AMD, 4), None),
        ("AMD before SMCA: bit 43 of its northbridge is not poison",
         mce(0xdc00400000040a13 | POISON, "", OLD_AMD, 4), None)):
    tap.equal(name, page_of(text), [("machine_check", pfn)])

for status, words in ((0x8c00004000010091, "corrected error; "),
                      (0xbd80000000100134, "action required (SRAR); "),
                      (0xbd000000001000c0, "action optional (SRAO); "),
                      (0xbc000000001000c0, "no action required (UCNA); "),
                      (0xbf80000000100134, "error, fatal; ")):
    answer = explained(mce(status, "MISC 86"), hex(PFN))[1]
    tap.is_true("in words: " + words, words + "TSC 91b3f0" in answer, answer)

DECODED = """[Hardware Error]: Uncorrected, software restartable error.
[Hardware Error]: CPU:5 (19:21:2) MC0_STATUS[-|UE|MiscV|AddrV|-|TCC|SyndV|UECC|-|Poison|-]: 0xbc80480000000135
[Hardware Error]: Error Addr: 0x00000007c4a2d040
[Hardware Error]: IPID: 0x000000b000000000, Syndrome: 0x000000002a000503
[Hardware Error]: Load Store Unit Ext. Error Code: 0, Load queue parity error.
[Hardware Error]: cache level: L1, tx: DATA, mem-tx: DRD
"""
CONTROLLER = DECODED.replace("0xbc80480000000135", "0xdc2040000000011b")
OLD = """[Hardware Error]: MC4 Error (node 0): DRAM ECC error detected on the NB.
[Hardware Error]: CPU:0 (15:2:0) MC4_STATUS[-|CE|MiscV|-|AddrV|-|-|CECC]: 0x9c00400000080a13
[Hardware Error]: MC4 Error Address: 0x00000007c4a2d040
[Hardware Error]: cache level: L3/GEN, mem/io: MEM, mem-tx: RD
"""
for name, text, pfn in (
        ("decoded by the kernel", DECODED, PFN),
        ("decoded, of the controller", CONTROLLER, None),
        ("decoded before SMCA", OLD, PFN),
        ("decoded, two of them", DECODED + DECODED, PFN)):
    tap.equal(name, page_of(text),
              [("machine_check", pfn)] * (2 if "two" in name else 1))
NORTHBRIDGE = """[Hardware Error]: MC4_STATUS[Over|CE|MiscV|-|AddrV]: 0x%x
[Hardware Error]: Northbridge Error (node 0): %s
[Hardware Error]: MC4_ADDR: 0x00000007c4a2d040
[Hardware Error]: cache level: L3/GEN, mem/io: MEM, mem-tx: RD
"""
tap.equal("decoded before 3.17: bit 43 of the northbridge is not poison",
          page_of(NORTHBRIDGE % (0xdc00080000010a13,
                                 "L3 ECC data cache error.")),
          [("machine_check", None)])
tap.equal("decoded before 3.17: ECC of DRAM",
          page_of(NORTHBRIDGE % (0xdc00400000080a13,
                                 "DRAM ECC error detected on the NB.")),
          [("machine_check", PFN)])
tap.equal("the same, of which the kernel does not know the family",
          page_of(mce(0x9c00080000010a13, "", "2:0", 4)),
          [("machine_check", None)])

tap.equal("decoded without an address", page_of(
    "".join(x + "\n" for x in DECODED.splitlines() if "Addr:" not in x)), [])
answer = explained(DECODED, hex(PFN))[1]
tap.is_true("decoded: the error in words", "uncorrected error; Load Store "
            "Unit Ext. Error Code: 0, Load queue parity error." in answer,
            answer)
tap.equal("poison that the kernel read", page_of(
    "mce: Kernel accessed poison in user space at 7c4a2d000\n"),
    [("machine_check", PFN)])
tap.equal("without 'mce:', as old kernels print it", page_of(
    mce(0x8c00004000010091).replace("mce: ", "")), [("machine_check", PFN)])

# --- reports that end otherwise, or are cut off ---

EVENT_AMD = """CPU 4 BANK 4 TSC 3a6f6c0a2
ADDR 7c4a2d040
STATUS 9c00400000040091 MCGSTATUS 0
CPUID Vendor AMD Family 16 Model 9 Step 1
"""
NOWHERE = "its address does not tell which page it is"


def words_of(text, *options):
    """The pages and reasons of the reports, and whether all is there."""
    status, found, said = ask("from-log", "--text-only", *options,
                              stdin=text.encode())
    return [(r.get("pfn"), r["reason"]) for r in found], status


INTERNAL = CONTROLLER.replace("cache level: L1, tx: DATA, mem-tx: DRD",
                              "internal: UU")
tap.equal("decoded, an internal error", words_of(INTERNAL), (
    [(None, "corrected error; Load Store Unit Ext. Error Code: 0, Load queue "
      "parity error.; " + NOWHERE)], 0))


def cut(text):
    """Without its last line."""
    return "".join(text.splitlines(keepends=True)[:-1])


def no_cpuid(text):
    return "".join(x for x in text.splitlines(keepends=True)
                   if "CPUID" not in x)


for name, text, pfn, said in (
        # Bit 63 of MISC says that it counts errors, as AMD's does.
        ("of AMD", cut(mce(0xdc2040000000011b, "MISC d01a000601000080", AMD)),
         None, "corrected error; TSC 91b3f0 ADDR 7c4a2d040 MISC "
         "d01a000601000080; " + NOWHERE),
        ("of an unknown vendor", cut(mce(0x8c00004000010091)), None,
         "corrected error; TSC 91b3f0 ADDR 7c4a2d040; " + NOWHERE),
        ("uncorrected, of an unknown vendor", cut(mce(0xbc00000000010091)),
         None, "uncorrected error; TSC 91b3f0 ADDR 7c4a2d040; " + NOWHERE),
        ("deferred, perhaps", cut(mce(0x8c00100000010091)), None,
         "corrected or deferred error; TSC 91b3f0 ADDR 7c4a2d040; " + NOWHERE),
        ("with an address that says physical",
         cut(mce(0xbe00000001010091, "MISC 86")), PFN,
         "uncorrected error, fatal; TSC 91b3f0 ADDR 7c4a2d040 MISC 86"),
        ("of mcelog", no_cpuid(EVENT_AMD), None,
         "corrected error; ADDR 7c4a2d040; " + NOWHERE)):
    tap.equal("cut off: " + name, words_of(text), ([(pfn, said)], 2))
tap.equal("cut off, and the next one", [r[0] for r in words_of(
    cut(mce(0x8c00004000010091)) + mce(0x8c00004000010091))[0]], [None, PFN])

# --- addresses that no machine has ---

for name, text in (
        ("a machine check", mce(0x8c00004000010135, "MISC 86").replace(
            "7c4a2d040", "ffffffff81000000")),
        ("mcelog", EVENT_AMD.replace("AMD", "Intel").replace(
            "7c4a2d040", "107c4a2d0400000")),
        ("EDAC", "EDAC MC0: 1 CE memory read error on DIMM#0 (channel:1 "
         "slot:0 page:0xffffffff81000 offset:0x0 grain:32 syndrome:0x0)\n")):
    tap.equal("no machine has the address: " + name,
              [r["pfn"] if "pfn" in r else None for r in
               ask("from-log", "--text-only", stdin=text.encode())[1]],
              [None])

# --- firmware, and the size of a page ---

FIRMWARE = """{2}[Hardware Error]: event severity: corrected
{2}[Hardware Error]:  Error 0, type: corrected
{2}[Hardware Error]:   section_type: memory error
{2}[Hardware Error]:   physical_address: 0x0000000211f3a040
{2}[Hardware Error]:   error_type: 2, single-bit ECC
"""
for size, pfn in (("4k", 0x211f3a), ("16k", 0x847ce), ("64k", 0x211f3)):
    said = explained(FIRMWARE, hex(pfn), "--page-size", size)[1]
    tap.is_true(f"explain with pages of {size}", "firmware" not in said and
                "the kernel reported: hardware error (APEI): " in said, said)
status, said, beside = explained(FIRMWARE, "0x211f3a")
tap.is_true("explain says which size is missing",
            "APEI" not in said and "--page-size" in beside and status == 2,
            said, beside)
status, said, beside = explained(FIRMWARE, "0x211f3a", "--page-size", "5000")
tap.is_true("a size that no machine has", status == 64 and
            "is not a size of pages" in beside, beside)
r = subprocess.run([command, "explain", "mismatch", "1", "0x1000",
                    "--page-size", "4k"], capture_output=True, check=False)
tap.is_true("explain mismatch has no use for it", r.returncode == 64, r.stderr)

# --- the words of programs, and of the kernel's counter of errors ---

EVENT = """Hardware event. This is not a software error.
MCE 0
CPU 4 BANK 8 TSC 3a6f6c0a2
MISC 21403c3c86 ADDR 7c4a2d040
TIME 1690000000 Sat Jul 22 04:26:40 2023
MCG status:
MCi status:
Corrected error
MCA: MEMORY CONTROLLER RD_CHANNEL1_ERR
Transaction: Memory read error
STATUS 8c00004000010091 MCGSTATUS 0
MCGCAP 1c09 APICID 20 SOCKETID 1
CPUID Vendor Intel Family 6 Model 44 Step 2
"""
for name, text, report, pfn in (
        ("mcelog", EVENT, "machine_check", PFN),
        ("mcelog: not physical", EVENT.replace("3c3c86", "3c3c46"),
         "machine_check", None),
        ("mcelog: an address that is not valid",
         EVENT.replace("STATUS 8c", "STATUS 88"), "machine_check", None),
        ("mcelog of AMD", EVENT.replace("Intel Family 6", "AMD Family 23"),
         "machine_check", None),
        ("mcelog's limit", "Corrected memory errors on page 7c4a2d000 exceed "
         "threshold 10 in 24h: 10 in 24h\n", "machine_check", PFN),
        ("mcelog's action", "Offlining page 7c4a2d000\n", "machine_check",
         PFN),
        ("the kernel's limit", "RAS: Soft-offlining pfn: 0x7c4a2d\n",
         "soft_offline", PFN)):
    tap.equal(name, page_of(text), [(report, pfn)])
said = explained(EVENT, hex(PFN))[1]
tap.is_true("mcelog: in words", "corrected error; MISC 21403c3c86 ADDR "
            "7c4a2d040; MEMORY CONTROLLER RD_CHANNEL1_ERR" in said, said)
tap.equal("two of mcelog", page_of(EVENT + EVENT.replace("7c4", "7c5")),
          [("machine_check", PFN), ("machine_check", PFN + 0x1000)])
OFFLINED = ("RAS: Soft-offlining pfn: 0x7c4a2d\n"
            "soft_offline: 0x7c4a2d: invalidated\n")
said = explained(OFFLINED, hex(PFN))[1]
tap.is_true("the limit, and what came of it", "invalidated" in said and
            "Soft-offlining" in said and "hwpoison" in said, said)
RECORD = ("1 2023-07-22 04:26:40 +0000 1 Corrected error(s): memory read "
          "error at CPU_SrcID#1_MC#0_Chan#1_DIMM#0 location: 1:0:0:-1, addr "
          "33361743936, grain 5, syndrome 0\n")
tap.equal("rasdaemon's records, whose page size nothing tells",
          page_of("Memory controller events:\n" + RECORD), [("edac", None)])
tap.equal("rasdaemon's records", page_of(RECORD, "--page-size", "4k"),
          [("edac", 33361743936 >> 12)])
tap.equal("none without an address", page_of(
    RECORD.replace("33361743936", "0"), "--page-size", "4k"),
    [("edac", None)])
CHECK = ("2 2023-07-22 04:26:40 +0000 error: Corrected error, no action "
         "required., CPU 2, bank Unified Memory Controller (bank=21), mcg "
         "mcgstatus=0, mci Error_overflow CECC, mcgcap=0x0000011d, "
         "status=0xdc2040000400011b, addr=0x7c4a2d040, "
         "misc=0xd01a000601000000, walltime=0x6506e4a4, cpuid=0x00a60f12, "
         "bank=0x00000015\n")
for name, text, pfn in (
        ("of AMD", CHECK, None),
        ("of Intel", CHECK.replace("a60f12", "606a6").replace(
            "0xd01a000601000000", "0x86"), PFN),
        ("of Intel, a status without ADDRV", CHECK.replace("a60f12", "606a6")
         .replace("0xd01a000601000000", "0x86").replace("0xdc2", "0xd82"),
         None)):
    tap.equal("rasdaemon's machine check " + name, page_of(text),
              [("machine_check", pfn)])
for text in ("3 x error: a, addr=0x7c4a2d040\n", "CPU 4 BANK\n", "CPU 4 is offline\n", "Offlining page x\n",
             "Offlining page 5 of chapter\n",
             "MISC 86 ADDR 7c4a2d040\n", "1 error(s): a, addr b, grain\n",
             "Corrected memory errors on page 7c4a2d000\n"):
    tap.equal("not a report: " + text.strip(), page_of(text), [])

# --- as people have shown them, with other numbers ---

def journal(text, tag):
    return "".join(f"Jul 22 04:26:40 db7 {tag}: {line}\n"
                   for line in text.splitlines())


SBRIDGE = """EDAC sbridge MC1: HANDLING MCE MEMORY ERROR
EDAC sbridge MC1: CPU 9: Machine Check Event: 0 Bank 11: 8c00004f000800c2
EDAC sbridge MC1: TSC 0
EDAC sbridge MC1: ADDR 7c4a2d000
EDAC sbridge MC1: MISC 900040004001e8c
EDAC sbridge MC1: PROCESSOR 0:306e4 TIME 1690000000 SOCKET 1 APIC 20
EDAC MC1: 1 CE memory scrubbing error on CPU_SrcID#1_Ha#0_Chan#0_DIMM#0 (channel:0 slot:0 page:0x7c4a2d offset:0x0 grain:32 syndrome:0x0 -  area:DRAM err_code:0008:00c2 socket:1 ha:0 channel_mask:1 rank:0)
"""
GHES = """{37}[Hardware Error]: Hardware error from APEI Generic Hardware Error Source: 162
{37}[Hardware Error]: It has been corrected by h/w and requires no further action
{37}[Hardware Error]: event severity: corrected
{37}[Hardware Error]:  Error 0, type: corrected
{37}[Hardware Error]:   section_type: memory error
{37}[Hardware Error]:   error_status: 0x0000000000000400
{37}[Hardware Error]:   physical_address: 0x00000007c4a2d040
{37}[Hardware Error]:   node: 1 card: 4 module: 0 rank: 0 bank: 1 device: 14 row: 58165 column: 816
{37}[Hardware Error]:   error_type: 2, single-bit ECC
{37}[Hardware Error]:   DIMM location: CPU 2 DIMM 30
"""
OF_FIRMWARE = ("mce: [Hardware Error]: CPU 12: Machine Check: 0 Bank 255: "
               "bc0000000000009f\n"
               "mce: [Hardware Error]: TSC 0 ADDR 7c4a2d040 MISC 8c\n"
               "mce: [Hardware Error]: PROCESSOR 0:606a6 TIME 1690000000 "
               "SOCKET 0 APIC 18 microcode d000375\n")
FATAL = ("mce: [Hardware Error]: CPU 5: Machine Check Exception: 5 Bank 7: "
         "be00000001010091\n"
         "mce: [Hardware Error]: RIP !INEXACT! 10:<ffffffff9a4d8f1b> "
         "{native_safe_halt+0xb/0x10}\n"
         "mce: [Hardware Error]: TSC 45ae5d7e4ccb44 ADDR 7c4a2d040 MISC "
         "200000c000801086 PPIN 8e1f3a5c2b\n"
         "mce: [Hardware Error]: PROCESSOR 0:50654 TIME 1690000000 SOCKET 0 "
         "APIC 8 microcode 2006d05\n"
         "mce: [Hardware Error]: Run the above through 'mcelog --ascii'\n"
         "mce: [Hardware Error]: Machine check: Processor context corrupt\n")
for name, text, wanted in (
        ("a driver that decodes by itself, and EDAC",
         journal(SBRIDGE, "kernel"), [("edac", PFN)]),
        ("mcelog in a journal", journal(EVENT, "mcelog[2226]"),
         [("machine_check", PFN)]),
        ("mcelog in a journal, beside the kernel",
         journal("mce: [Hardware Error]: Machine check events logged",
                 "kernel") + journal(EVENT, "mcelog"),
         [("machine_check", PFN)]),
        ("another program in a journal", journal(EVENT, "mcelog-x[2]"), []),
        ("mcelog's limit in a journal", journal(
            "Corrected memory errors on page 7c4a2d000 exceed threshold 10 in "
            "24h: 10 in 24h\nLocation SOCKET:1 CHANNEL:? DIMM:? []\n"
            "Offlining page 7c4a2d000", "mcelog[812]"),
         [("machine_check", PFN)] * 2),
        ("firmware as a machine check", OF_FIRMWARE, [("machine_check", PFN)]),
        ("a fatal one", FATAL, [("machine_check", PFN)]),
        ("no memory: heat", "mce: CPU3: Package temperature above threshold, "
         "cpu clock throttled (total events = 1)\n", []),
        ("no address", "mce: [Hardware Error]: CPU 1: Machine Check: 0 Bank "
         "0: 90000040000f0005\nmce: [Hardware Error]: TSC 0\n"
         "mce: [Hardware Error]: PROCESSOR 0:306c3 TIME 1690000000 SOCKET 0 "
         "APIC 2 microcode 28\n", []),
        ("corrected by firmware, without a mask", journal(GHES, "kernel"),
         [("apei", None)])):
    tap.equal("shown: " + name, page_of(text), wanted)
tap.equal("shown: corrected by firmware, with the page size",
          page_of(journal(GHES, "kernel"), "--page-size", "4k"),
          [("apei", PFN)])
said = explained(journal(GHES, "kernel"), hex(PFN), "--page-size", "4k")[1]
tap.is_true("shown: firmware names the module",
            "DIMM location: CPU 2 DIMM 30" in said, said)
said = explained(SBRIDGE, hex(PFN))[1]
tap.is_true("shown: EDAC names the module", "DIMM#0" in said, said)
UNHANDLED = ("RAS: Soft-offlining pfn: 0x7c4a2d\n"
             "Memory failure: 0x7c4a2d: unhandlable page.\n"
             "RAS: Soft-offlining pfn: 0x61f89\n")
tap.equal("shown: the limit, and a page that cannot be handled",
          sorted({pfn for _, pfn in page_of(UNHANDLED)}), [0x61f89, PFN])
said = explained(UNHANDLED, hex(PFN))[1]
tap.is_true("shown: it is still in use", "unhandlable page" in said and
            "does not use it any more" not in said, said)

# --- several reports of a page ---

EDAC = ("EDAC MC1: 1 CE memory read error on CPU_SrcID#1_MC#0_Chan#1_DIMM#0 "
        "(channel:1 slot:0 page:0x7c4a2d offset:0x40 grain:32 "
        "syndrome:0x0)\n")
MCE = mce(0x8c00004000010091, "MISC 86")
POISONED = ("Memory failure: 0x7c4a2d: recovery action for dirty LRU page: "
            "Recovered\n")
for name, text, words in (
        ("EDAC, then a machine check", EDAC + MCE, ("TSC 91b3f0", "DIMM#0")),
        ("a machine check, then EDAC", MCE + EDAC, ("TSC 91b3f0", "DIMM#0")),
        ("both, then the page is given up", MCE + EDAC + POISONED,
         ("TSC 91b3f0", "DIMM#0", "Recovered")),
        ("and the other way round", POISONED + MCE + EDAC,
         ("TSC 91b3f0", "DIMM#0", "Recovered")),
        ("two of EDAC", EDAC + EDAC.replace("DIMM#0", "DIMM#1") + MCE,
         ("TSC 91b3f0", "DIMM#1"))):
    said = explained(text, hex(PFN))[1]
    tap.is_true(name + ": each is in the answer",
                all(said.count(w) >= 1 for w in words), said)
said = explained(EDAC + MCE + MCE + EDAC, hex(PFN))[1]
reason = next(x for x in said.splitlines() if x.startswith("    reason "))
tap.equal("repeated ones are said once", reason.count("TSC 91b3f0"), 1)
said = explained(EDAC + "Linux version 6.1.0 (a@b) #1\n" + MCE, hex(PFN))[1]
tap.is_true("another boot is another error", "DIMM#0" not in said, said)
# The words of all are longer than what explain keeps of a reason.
GHES = "".join("{1}[Hardware Error]: " + line + "\n" for line in (
    "Error 0, type: recoverable", "  section_type: memory error",
    "  error_status: Storage error in DRAM memory (0x0000000000000400)",
    "  physical_address: 0x00000007c4a2d040",
    "  node:1 card:4 module:0 rank:0 bank:1 device:14 row:58165 column:816",
    "  error_type: 3, multi-bit ECC", "  DIMM location: CPU 2 DIMM 30"))
KILLED = ("Memory failure: 0x7c4a2d: Sending SIGBUS to %s:12345 due to "
          "hardware memory corruption\n")
said = explained(MCE + EDAC + GHES + KILLED % "postgres" + POISONED +
                 "Memory failure: 0x7c4a2d: already hardware poisoned\n" +
                 KILLED % "postmaster-work", hex(PFN), "--page-size", "4k")[1]
tap.is_true("many words: who found the error is known all the same",
            "likely: broken memory" in said and
            "what found the error" not in said, said)

shutil.rmtree(tmp)
tap.end()
