# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Reports from public trackers, retold: their relevant lines, with the
original prefix. Each has its expected rows, and what explain may say about a
page: None is "cannot tell"; a word must be in the cause.
"""

S = "unsupported"

# What explain calls likely for a page that was reported as bad, by a part of
# the name below. For the others nothing is.
LIKELY = {
    "a count below zero": "dropped more often than taken",
    "a slab that is freed": "the slab allocator has it",
    "struct page overwritten": "written over its struct page",
    "PF_RING": "has references to it",
    "32 bits: still charged": "a cgroup is charged",
    "a page with a mapping": "its mapping is set",
    "page_pool": "a page_pool (",
    "on an LRU list": "it is on an LRU list",
}

REPORTS = [
    ("multipath-tcp/mptcp 259: 4.14, a count below zero", """\
[407819.286867] BUG: Bad page state in process zabbix_agentd  pfn:46c479
[407819.288361] page:ffffea000f7afa78 count:-2 mapcount:0 mapping:          (null) index:0x0
[407819.289875] flags: 0x2ffff8000000000()
[407819.291350] raw: 02ffff8000000000 0000000000000000 0000000000000000 fffffffeffffffff
[407819.294388] page dumped because: nonzero _count
""", [{"report": "bad_page_state", "pfn": 0x46c479, "comm": "zabbix_agentd",
       "reason": "nonzero _count", "refcount": -2, "mapcount": 0}], None),
    ("dentproject/dentOS 155: 5.15, a slab that is freed", """\
[ 26.301368] BUG: Bad page state in process swapper/0 pfn:104300
[ 26.307505] page:00000000ce81ba6f refcount:0 mapcount:0 mapping:0000000000000000 index:0x0 pfn:0x104300
[ 26.317045] head:00000000ce81ba6f order:8 compound_mapcount:0 compound_pincount:0
[ 26.324622] flags: 0x2ffff00000010200(slab|head|node=0|zone=2|lastcpupid=0xffff)
[ 26.332119] raw: 2ffff00000010200 fffffc0004108008 fffffc0004110008 ffff000100000c00
[ 26.339953] raw: 0000000000000000 ffff000104300000 0000000000000001 0000000000000000
[ 26.347777] page dumped because: PAGE_FLAGS_CHECK_AT_FREE flag(s) set
[ 26.357402] CPU: 0 PID: 0 Comm: swapper/0 Not tainted 5.15.0-75757-g09fce596f9cb #468
""", [{"report": "bad_page_state", "pfn": 0x104300, "refcount": 0, "order": 8,
       "comm": "swapper/0", "pid": 0,
       "reason": "PAGE_FLAGS_CHECK_AT_FREE flag(s) set"}], None),
    ("raspberrypi/firmware 865: 4.9 on 32 bits, struct page overwritten", """\
[93839.922189] BUG: Bad page state in process tvh:mtimer  pfn:02e44
[93839.932911] page:ba409190 count:-117901064 mapcount:0 mapping:f8f8f8f8 index:0x1 compound_mapcount: 67372037
[93839.952150] flags: 0x78787878(uptodate|dirty|lru|active|private|private_2|writeback|head|unevictable|mlocked)
[93839.971231] page dumped because: page still charged to cgroup
[93839.981545] page->mem_cgroup:e3e3e3e3
""", [{"report": "bad_page_state", "pfn": 0x2e44, "comm": "tvh:mtimer",
       "refcount": "corrupt", "flags": "corrupt",
       "reason": "page still charged to cgroup; struct page overwritten with "
       "the bytes 0x78 and 0xf8"}], None),
    ("openzfs/zfs 3309: grepped, heads alone", """\
[ 5411.262757] BUG: Bad page state in process z_wr_iss  pfn:84f35
[ 5411.320423] BUG: Bad page state in process z_wr_iss  pfn:84f36
[ 5417.148713] BUG: Bad page state in process kworker/u30:0  pfn:a85fc
""", [{"report": "bad_page_state", "pfn": 0x84f35, "kind": S,
       "notes": ["partial"]},
      {"report": "bad_page_state", "pfn": 0x84f36, "reason": S,
       "notes": ["partial"]},
      {"report": "bad_page_state", "pfn": 0xa85fc, "comm": "kworker/u30:0",
       "notes": ["partial"]}], None),
    ("ntop/PF_RING 707: 5.4, dmesg -T", """\
[Tue Apr 20 18:05:30 2021] BUG: Bad page state in process swapper/0  pfn:325392c
[Tue Apr 20 18:05:30 2021] page:ffffeb49c94e4b00 refcount:65533 mapcount:0 mapping:0000000000000000 index:0x0
[Tue Apr 20 18:05:30 2021] flags: 0x17ffffc0000000()
[Tue Apr 20 18:05:30 2021] raw: 0017ffffc0000000 dead000000000100 dead000000000122 0000000000000000
[Tue Apr 20 18:05:30 2021] raw: 0000000000000000 0000000000000000 0000fffdffffffff 0000000000000000
[Tue Apr 20 18:05:30 2021] page dumped because: nonzero _refcount
""", [{"report": "bad_page_state", "pfn": 0x325392c, "refcount": 65533,
       "reason": "nonzero _refcount", "event_ns": S}], None),
    ("openzfs/zfs 3075: 3.13, a tail page", """\
2015-11-15T19:28:13.300971-08:00 XXXX kernel: [   63.537440] BUG: Bad page state in process kworker/u8:0  pfn:2d3c14
2015-11-15T19:28:13.300981-08:00 XXXX kernel: [   63.537618] page:ffffea000b4f0500 count:0 mapcount:-1 mapping:          (null) index:0x0
2015-11-15T19:28:13.300983-08:00 XXXX kernel: [   63.537793] page flags: 0x2fffff00008000(tail)
2015-11-15T19:28:13.300983-08:00 XXXX kernel: [   63.538044] page dumped because: nonzero mapcount
""", [{"report": "bad_page_state", "pfn": 0x2d3c14, "refcount": 0,
       "mapcount": -1, "reason": "nonzero mapcount",
       "event_ns": 63537440000}], None),
    ("flatpak/flatpak 4609: a journal that begins in the middle", """\
Dec 02 00:08:18 localhost.localdomain kernel: raw: 000fffffc000000a dead000000000100 dead000000000122 0000000000000000
Dec 02 00:08:18 localhost.localdomain kernel: raw: 0000000000000001 0000000000000000 fffffffffffffffe 0000000000000000
Dec 02 00:08:18 localhost.localdomain kernel: page dumped because: nonzero _refcount
""", [], None),
    ("raspberrypi/linux 1118: 4.1 on 32 bits: still charged", """\
[330583.185394] BUG: Bad page state in process AutoDoom  pfn:14256
[330583.193725] page:db6d8418 count:0 mapcount:0 mapping:  (null) index:0x2
[330583.202097] flags: 0x0()
[330583.207817] page dumped because: page still charged to cgroup
[330583.215453] page->mem_cgroup:00010000
[330583.221079] CPU: 0 PID: 6114 Comm: AutoDoom Not tainted 4.1.6+ #810
""", [{"report": "bad_page_state", "pfn": 0x14256, "refcount": 0, "pid": 6114,
       "reason": "page still charged to cgroup"}], None),
    ("a page with a mapping that is freed, 3.10", """\
[ 1000.691858] BUG: Bad page state in process server.o  pfn:309d22
[ 1000.691859] page:ffffea000c274880 count:0 mapcount:0 mapping:ffff880279688308 index:0x0
[ 1000.691860] page flags: 0x2fffff00020000(mappedtodisk)
[ 1000.691862] page dumped because: non-NULL mapping
[ 1000.691908] CPU: 3 PID: 29178 Comm: server.o Tainted: G    B      OE  ------------   3.10.0+ #10
""", [{"report": "bad_page_state", "pfn": 0x309d22, "refcount": 0,
       "pid": 29178, "reason": "non-NULL mapping"}], None),
    ("tempesta-tech/tempesta 2507: 6.12, a page of a page_pool", """\
BUG: Bad page state in process swapper/6  pfn:145c6b
page: refcount:0 mapcount:0 mapping:0000000000000000 index:0x145c6b000 pfn:0x145c6b
flags: 0x17ffffc0000000(node=0|zone=2|lastcpupid=0x1fffff)
raw: 0017ffffc0000000 dead000000000040 ffff9c802eb59000 0000000000000000
raw: 0000000145c6b000 0000000000000001 00000000ffffffff 0000000000000000
page dumped because: page_pool leak
""", [{"report": "bad_page_state", "pfn": 0x145c6b, "comm": "swapper/6",
       "refcount": 0, "mapcount": 0,
       "reason": "page_pool leak; marked as a page of a page_pool"}], None),
    ("the same mark of a page_pool, on a kernel that does not look for it", """\
BUG: Bad page state in process swapper/6  pfn:145c6b
page:00000000a1b2c3d4 refcount:-1 mapcount:0 mapping:0000000000000000 index:0x0 pfn:0x145c6b
flags: 0x17ffffc0000000(node=0|zone=2|lastcpupid=0x1fffff)
raw: 0017ffffc0000000 dead000000000040 ffff9c802eb59000 0000000000000000
raw: 0000000000000000 0000000000000000 ffffffffffffffff 0000000000000000
page dumped because: nonzero _refcount
""", [{"report": "bad_page_state", "pfn": 0x145c6b, "refcount": -1,
       "reason": "nonzero _refcount; marked as a page of a page_pool"}],
     None),
    ("ssrg-vt/popcorn-kernel 75: 4.20, freed on an LRU list", """\
[   53.446720] BUG: Bad page state in process exim4  pfn:13baa4
[   53.446720] page:ffffea000450d3e0 count:1 mapcount:0 mapping:ffff88813b03e668 index:0x1
[   53.446720] flags: 0x8000000000020014(uptodate|lru|mappedtodisk)
[   53.446720] raw: 8000000000020014 dead000000000100 dead000000000200 ffff88813b03e668
[   53.446720] raw: 0000000000000131 0000000000000000 00000001ffffffff
[   53.446720] page dumped because: PAGE_FLAGS_CHECK_AT_FREE flag(s) set
[   53.446720] bad because of flags: 0x10(lru)
[   53.446720] CPU: 1 PID: 342 Comm: exim4 Tainted: G    B D W         4.20.0-rc7-popcorn9
""", [{"report": "bad_page_state", "pfn": 0x13baa4, "comm": "exim4",
       "pid": 342, "refcount": 1, "mapcount": 0,
       "reason": "PAGE_FLAGS_CHECK_AT_FREE flag(s) set"}], None),
    ("openbmc/linux 77: 4.3 on 32 bits", """\
BUG: Bad page map in process system_manager.  pte:4a44e100 pmd:4dfc8831
addr:b6a00000 vm_flags:00100077 anon_vma:cde093a0 mapping:  (null) index:b6a00
file:  (null) fault:  (null) mmap:  (null) readpage:  (null)
CPU: 0 PID: 1041 Comm: system_manager. Not tainted 4.3.6-openbmc-20160222-1 #1
""", [{"report": "bad_page_map", "pid": 1041, "vaddr": "0xb6a00000",
       "pfn": S}], None),
    ("celery/celery 4577: a bad swap entry", """\
Mar  6 10:13:53 h3class01 kernel: [8883126.929572] swap_free: Bad swap file entry 007e9058
Mar  6 10:13:53 h3class01 kernel: [8883126.929580] BUG: Bad page map: 31 messages suppressed
Mar  6 10:13:53 h3class01 kernel: [8883126.929583] BUG: Bad page map in process celery  pte:fd20b000 pmd:16d7b08067
Mar  6 10:13:53 h3class01 kernel: [8883126.929588] addr:00007fb3611a5000 vm_flags:08100073 anon_vma:ffff8801b4b13910 mapping:          (null) index:7fb3611a5
Mar  6 10:13:53 h3class01 kernel: [8883126.929599] CPU: 38 PID: 488 Comm: celery Tainted: G    B      OE   4.1.0-generic #1
""", [{"report": "bad_page_map", "pid": 488, "comm": "celery",
       "vaddr": "0x7fb3611a5000", "pfn": S}], None),
    ("oxidecomputer/propolis 427: a write to 0x10", """\
[    4.591020] systemd[1]: segfault at 10 ip 00007fc6465e0b41 sp 00007ffccd3249f0 error 6 in libc.so.6[7fc646565000+195000]
[    4.592577] Code: 00 48 39 ce 0f 84 07 06 00 00 4c 8b 61 18 4a 83 4c 29 08 01 4c 39 cb 74 05 48 83 49 08 04 4c 8b 34 24 4c 89 62 08 41 83 c2 01 <49> 89 74 24 10 4c 89 71 18
""", [{"report": "fault", "pid": 1, "comm": "systemd", "vaddr": "0x0",
       "object": "libc.so.6", "index": S, "starts": "write by the program, "
       "no page is present there"}], None),
    ("pop-os/cosmic-app-library 234: dmesg -xT in Spanish", """\
kern  :warn  : [lun may  5 18:11:41 2025] show_signal_msg: 32 callbacks suppressed
kern  :info  : [lun may  5 18:11:41 2025] tokio-runtime-w[3552]: segfault at 7f61f67fb990 ip 00007f623575ade4 sp 00007f6234c3b6d0 error 4 in libc.so.6[72de4,7f62356e8000+16f000] likely on CPU 4 (core 4, socket 0)
kern  :info  : [lun may  5 18:11:41 2025] Code: b1 55 f8 5d c3 90 f3 0f 1e fa 55 48 89 e5 41 57 31 c0 <8b> 87 d0 02 00 00 85 c0
""", [{"report": "fault", "pid": 3552, "comm": "tokio-runtime-w",
       "vaddr": "0x7f61f67fb000", "index": 0x72, "object": "libc.so.6"}],
     None),
    ("Spagett1/pineflash 78", """\
[  899.246083] pineflash[15246]: segfault at 1f ip 0000744df356f221 sp 00007fff090a0020 error 4 in libc.so.6[744df34ca000+15b000] likely on CPU 1 (core 0, socket 0)
[  899.246092] Code: 00 00 00 6a 00 6a 00 4c 8d 44 24 40 ff 90 50 03 00 00 48 8b 54 24 18 59 5e 48 85 d2 74 23 66 83 7a 06 f1 74 14 48 85 c0 74 0f <48> 8b 00 48 03 42 08
""", [{"report": "fault", "pid": 15246, "vaddr": "0x0",
       "event_ns": 899246083000, "starts": "read by the program"}], None),
    ("wmbusmeters/wmbusmeters 1039: dmesg -T in Polish", """\
[wto paz  3 10:14:07 2023] wmbusmeters[218851]: segfault at 0 ip 000055ed540ccfca sp 00007f26ae29b3c0 error 4 in wmbusmeters[55ed540aa000+ec000]
""", [{"report": "fault", "pid": 218851, "vaddr": "0x0",
       "object": "wmbusmeters"}], None),
    ("netdata/netdata 15802: names with brackets", """\
[  157.339044] IPMI[sensors][7699]: segfault at 4 ip 000055f2ed932514 sp 00007fbcb9e0cde0 error 6 in freeipmi.plugin[55f2ed902000+63000] likely on CPU 1 (core 1, socket 0)
[  157.339054] Code: 8b 7f 38 74 25 8b 50 18 83 fa 01 0f 84 3a 03 00 00 48 89 48 78 <44> 89 60 04 48 89 88
[  878.518395] traps: IPMI[sel][7811] general protection fault ip:7f90aa200664 sp:7f90aa0697f8 error:0 in ld-musl-x86_64.so.1[7f90aa1ef000+4c000]
""", [{"report": "fault", "pid": 7699, "comm": "IPMI[sensors]"},
      {"report": "fault", "pid": 7811, "comm": "IPMI[sel]", "vaddr": S,
       "object": "ld-musl-x86_64.so.1"}], None),
    ("dlundquist/sniproxy 86: 3.2, without code", """\
[1423254.751712] sniproxy[7827]: segfault at 1000 ip 00007fbbeed70cba sp 00007fff7179ecc0 error 4 in libc-2.13.so[7fbbeed2b000+182000]
[1423281.360516] sniproxy[7864]: segfault at 1000 ip 00007f7f64763cba sp 00007fff39c5a9c0 error 4 in libc-2.13.so[7f7f6471e000+182000]
""", [{"report": "fault", "pid": 7827, "vaddr": "0x1000"},
      {"report": "fault", "pid": 7864, "vaddr": "0x1000"}], None),
    ("nccgroup/TriforceLinuxSyscallFuzzer 2: 4.4, injected", """\
[   18.875920] MCE 0x39c2: recovery action for dirty LRU page: Recovered
[   18.875920] Injecting memory failure for page 0x39c3 at 0x42601d
[   18.875920] MCE 0x39c3: recovery action for dirty LRU page: Recovered
""", [{"report": "memory_failure", "pfn": 0x39c2,
       "reason": "dirty LRU page: Recovered"},
      {"report": "memory_failure", "pfn": 0x39c3, "vaddr": "0x426000",
       "reason": "dirty LRU page: Recovered; injected for a test"}], "poison"),
    ("matrixorigin/matrixone 20374: firmware, two bits", """\
Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]: event severity: recoverable
Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:   section_type: memory error
Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:   physical_address: 0x000000276aeb0180
Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:   physical_address_mask: 0xffffffffffffffc0
Nov 26 09:36:22 mo-srv-128 kernel: {7}[Hardware Error]:   error_type: 3, multi-bit ECC
""", [{"report": "apei", "pfn": S,
       "object": S,
       "reason": "section_type: memory error; physical_address: "
       "0x000000276aeb0180; error_type: 3, multi-bit ECC"}], None),
    ("enarx/enarx 2263: pages that cannot be handled", """\
[  307.309488] Memory failure: 0x30a6a90: unhandlable page.
[  307.309541] Memory failure: 0x30a6a90: recovery action for unknown page: Ignored
[  307.309886] Memory failure: 0x30a6a91: unhandlable page.
""", [{"report": "memory_failure", "pfn": 0x30a6a90,
       "reason": "unknown page: Ignored; unhandlable page."},
      {"report": "memory_failure", "pfn": 0x30a6a91,
       "reason": "unhandlable page."}], "poison"),
    ("anholt/linux 76: CMA, 4.10", """\
[25820.033695] alloc_contig_range: [2f100, 2f20a) PFNs busy
[25820.033726] alloc_contig_range: [2f200, 2f30a) PFNs busy
[25820.034240] vc4-drm soc:gpu: failed to allocate buffer with size 1089536
""", [{"report": "migration", "pfn": S,
       "reason": "alloc_contig_range: [2f100, 2f20a) PFNs busy"},
      {"report": "migration", "pfn": S}], None),
    ("luxonis/rae-ros 48: dmesg -d", """\
[  +0.047311] alloc_contig_range: [a5a80, a5ade) PFNs busy
[  +3.610071] alloc_contig_range: 7 callbacks suppressed
""", [{"report": "migration", "pfn": S, "event_ns": S}], None),
    ("ThinkParQ/beegfs 108: KASAN with 5 levels, cut", """\
[  146.752369] BUG: KASAN: slab-use-after-free in __mutex_lock+0x1ccd/0x25c0
[  146.753052] Read of size 4 at addr ff110001148d0034 by task venom-agent/1101
[  146.753693]
[  146.862911] CPU: 7 UID: 0 PID: 1101 Comm: venom-agent Tainted: G      D    O        6.19.0-g990dca9c3b7a-dirty #47 PREEMPT(lazy)
""", [{"report": "kasan", "pfn": S, "pid": 1101, "comm": "venom-agent",
       "reason": "slab-use-after-free in __mutex_lock+0x1ccd/0x25c0"}], None),
    ("dentproject/dentOS 11: KASAN on arm64, the idle task", """\
[   24.750967] BUG: KASAN: slab-out-of-bounds in __build_skb_around+0xc4/0x100
[   24.757998] Write of size 32 at addr ffff00013f305780 by task swapper/0/0
""", [{"report": "kasan", "pid": 0, "comm": "swapper/0", "pfn": S}], None),
    ("radiasoft/devops 134: EDAC, a DIMM", """\
Feb 23 03:28:16 kernel: mce: [Hardware Error]: Machine check events logged
Feb 23 03:28:16 kernel: EDAC sbridge MC1: ADDR ee30a0000
Feb 23 03:28:16 kernel: EDAC sbridge MC1: PROCESSOR 0:306e4 TIME 1519356496 SOCKET 1 APIC 20
Feb 23 03:28:16  kernel: EDAC MC1: 1 CE memory scrubbing error on CPU_SrcID#1_Ha#0_Chan#0_DIMM#0 (channel:0 slot:0 page:0xee30a0 offset:0x0 grain:32 syndrome:0x0 -  area:DRAM err_code:0008:00c2 socket:1 ha:0 channel_mask:1 rank:0)
""", [{"report": "edac", "pfn": 0xee30a0, "reason": "1 CE memory scrubbing "
       "error on CPU_SrcID#1_Ha#0_Chan#0_DIMM#0"}], None),
    ("andikleen/mcelog 74: EDAC, uncorrected", """\
EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 slot:0 page:0xe16677 offset:0x0 grain:32 -  err_code:0000:009f socket:0 imc:0 rank:0 bg:0 ba:3 row:dad3 col:3c0)
""", [{"report": "edac", "pfn": 0xe16677}], None),
    ("koverstreet/bcachefs 693: a list", """\
[47985.623784] list_add corruption. next->prev should be prev (ffff910309261548), but was ffff910487cb2d58. (next=ffff910487cb2d58).
""", [{"report": "list", "pfn": S,
       "object": "list_add corruption. next->prev",
       "reason": "list_add corruption. next->prev should be prev (ADDRESS), "
       "but was ADDRESS, that of next. (next=ADDRESS)."}], None),
    ("ClangBuiltLinux/linux 1125: an entry that was taken out", """\
list_del corruption, ffffcb01d14e6408->next is LIST_POISON1 (dead000000000100)
WARNING: CPU: 0 PID: 138 at lib/list_debug.c:47 __list_del_entry_valid+0x46/0xa0
""", [{"report": "list", "pfn": S, "object": "list_del corruption",
       "reason": "list_del corruption, ADDRESS->next is LIST_POISON1 "
       "(dead000000000100)"}], None),
    ("cloud-hypervisor 8284: a hung task, why is cut off", """\
[  984.641295] INFO: task khugepaged:170 blocked for more than 122 seconds.
2026-05-28T12:21:57.303297+00:00 vm kernel:  </TASK>
""", [], None),
    ("ssrg-vt/popcorn-compiler 22: arm64, 4.4", """\
[331956.720769] CG_A[7194]: unhandled level 2 translation fault (11) at 0x00000028, esr 0x92000006
[331956.720774] pgd = ffff810f19800000
[331956.732794] CPU: 10 PID: 7194 Comm: CG_A Tainted: G           OE   4.4.55+ #18
""", [{"report": "fault", "pid": 7194, "comm": "CG_A", "vaddr": "0x0",
       "starts": "read by the program, no page is present there"}], None),
    ("longsleep/linux-pine64 60: arm64, 3.10", """\
Aug 17 16:49:07 localhost kernel: abrt-hook-ccpp[28134]: unhandled level 1 translation fault (11) at 0x00000000, esr 0x92000005
""", [{"report": "fault", "pid": 28134, "comm": "abrt-hook-ccpp"}], None),
    ("openebs/openebs 1433: a disk", """\
Apr 16 07:07:38 -worker-02 kernel: [33713.705845] blk_update_request: critical medium error, dev sdb, sector 5120
Apr 16 07:07:38 -worker-02 kernel: [33713.708530] Buffer I/O error on dev sdb, logical block 640, lost async page write
Apr 16 07:07:38 -worker-02 kernel: [33713.714314] sd 3:0:0:0: [sdb] tag#3 Sense Key : Medium Error [current]
""", [{"report": "io_error", "dev": "8:16", "index": S, "pfn": S},
      {"report": "io_error", "dev": "8:16", "index": S, "pfn": S}], None),
    ("Open-CAS/open-cas-linux 396: a device that no name tells", """\
[Sat Apr 11 06:08:59 2020] blk_update_request: I/O error, dev cas1-1, sector 23816447968
[Sat Apr 11 06:08:59 2020] buffer_io_error: 3055 callbacks suppressed
""", [{"report": "io_error", "dev": S, "index": S}], None),
    ("ptpt52/natflow 5: SLUB, hashed addresses", """\
[12878.789197] BUG kmalloc-256 (Not tainted): Poison overwritten
[12878.810196] INFO: 0x0000000072ae8987-0x00000000a2dc6058 @offset=24068. First byte 0x8 instead of 0x6b
[12878.819526] INFO: Allocated in natflow_session_init+0xb6/0x170 [natflow] age=6 cpu=26 pid=0
[12878.834072] INFO: Slab 0x00000000fea9b965 objects=42 used=42 fp=0x0000000000000000 flags=0x4500000010200
[12878.843657] INFO: Object 0x000000001efe537f @offset=24064 fp=0x000000009297e97f
""", [{"report": "slab", "slab_cache": "kmalloc-256", "vaddr": S, "pfn": S,
       "kind": "slab", "reason": "Poison overwritten"}], None),
    ("moby/moby 29879: a cache of a cgroup", """\
Jan 04 09:53:54 db7.lan.psmm.pl kernel: BUG kmalloc-256(0:354604ddeb33593ebd6c7ed2292fb879ca3b42e80476397f3c9ce88ec4443b7a) (Tainted: GF           E  ------------  ): Objects remaining in kmalloc-256(0:354604ddeb33593ebd6c7ed2292fb879ca3b42e80476397f3c9ce88ec4443b7a
Jan 04 09:53:54 db7.lan.psmm.pl kernel: INFO: Slab 0xffffea0040768800 objects=64 used=33 fp=0xffff88101da23000 flags=0x2fffff00004080
""", [{"report": "slab", "slab_cache": "kmalloc-256(0:354604ddeb33593ebd6c7ed2"
       "292fb879ca3b42e80476397f3c9ce88ec4443b7a)", "pfn": S}], None),
    ("two bad page maps at a time, without callers: 6.x", """\
[ 7712.103311] BUG: Bad page map in process alpha  pte:80000001bd9e5227 pmd:1b0d4c067
[ 7712.103312] BUG: Bad page map in process beta  pte:80000001aa111227 pmd:1b0d5d067
[ 7712.103315] page: refcount:0 mapcount:-1 mapping:0000000000000000 index:0x1 pfn:0x1bd9e5
[ 7712.103316] page: refcount:0 mapcount:-2 mapping:0000000000000000 index:0x1 pfn:0x1aa111
[ 7712.103318] flags: 0x17ffffc0000004(referenced|node=0|zone=2|lastcpupid=0x1fffff)
[ 7712.103319] flags: 0x17ffffc0000010(dirty|node=0|zone=2|lastcpupid=0x1fffff)
[ 7712.103323] raw: 0017ffffc0000004 dead000000000100 dead000000000122 0000000000000000
[ 7712.103324] raw: 0017ffffc0000010 dead000000000100 dead000000000122 0000000000000000
[ 7712.103325] raw: 0000000000000001 0000000000000000 00000000fffffffe 0000000000000000
[ 7712.103326] raw: 0000000000000001 0000000000000000 00000000fffffffd 0000000000000000
[ 7712.103327] page dumped because: bad pte
[ 7712.103328] page dumped because: bad pte
[ 7712.103329] addr:00007f6bbd2a1000 vm_flags:08100073 anon_vma:ffff888101000000 mapping:0000000000000000 index:7f6bbd2a1
[ 7712.103330] addr:00007faaaa111000 vm_flags:08100073 anon_vma:ffff888102000000 mapping:0000000000000000 index:7faaaa111
[ 7712.103334] file:(null) fault:0x0 mmap:0x0 read_folio:0x0
[ 7712.103335] file:(null) fault:0x0 mmap:0x0 read_folio:0x0
[ 7712.103340] CPU: 2 PID: 4411 Comm: alpha Not tainted 6.6.9 #1
[ 7712.103341] CPU: 3 PID: 4412 Comm: beta Not tainted 6.6.9 #1
""", [{"report": "bad_page_map", "pfn": 0x1bd9e5, "comm": "alpha",
       "pid": 4411, "refcount": 0, "flags": S, "raw_flags": S, "vaddr": S,
       "object": S, "notes": ["partial"]},
      {"report": "bad_page_map", "pfn": 0x1aa111, "comm": "beta",
       "pid": 4412, "refcount": 0, "flags": S, "raw_flags": S, "vaddr": S,
       "object": S, "notes": ["partial"]}], None),
    ("two bad pages at a time, without callers: 5.15", """\
[10447.797624] BUG: Bad page state in process z_wr_iss  pfn:920a5
[10447.797630] BUG: Bad page state in process kworker/u30:0  pfn:a95fc
[10447.797640] page:00000000c1552aa9 refcount:0 mapcount:0 mapping:0000000000000000 index:0x1 pfn:0x920a5
[10447.797645] page:00000000a2130f65 refcount:0 mapcount:0 mapping:0000000000000000 index:0x2 pfn:0xa95fc
[10447.797650] flags: 0xfffffc0000800(arch_1|node=0|zone=1|lastcpupid=0x1fffff)
[10447.797655] flags: 0xfffffc0002000(private|node=0|zone=1|lastcpupid=0x1fffff)
[10447.797660] raw: 000fffffc0000800 dead000000000100 dead000000000122 0000000000000000
[10447.797665] raw: 000fffffc0002000 dead000000000100 dead000000000122 0000000000000000
[10447.797670] raw: 0000000000000001 0000000000000000 00000000ffffffff 0000000000000000
[10447.797675] raw: 0000000000000002 ffff888100a2c000 00000000ffffffff 0000000000000000
[10447.797680] page dumped because: PAGE_FLAGS_CHECK_AT_FREE flag(s) set
[10447.797685] page dumped because: nonzero _refcount
[10447.797690] CPU: 2 PID: 4411 Comm: z_wr_iss Tainted: P    B      OE     5.15.90 #1
[10447.797695] CPU: 3 PID: 88 Comm: kworker/u30:0 Tainted: P    B      OE     5.15.90 #1
""", [{"report": "bad_page_state", "pfn": 0x920a5, "comm": "z_wr_iss",
       "pid": 4411, "refcount": 0, "flags": S, "raw_flags": S, "reason": S,
       "object": S, "notes": ["partial"]},
      {"report": "bad_page_state", "pfn": 0xa95fc, "comm": "kworker/u30:0",
       "pid": 88, "refcount": 0, "flags": S, "raw_flags": S, "reason": S,
       "object": S, "notes": ["partial"]}], None),
]
