/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Every way to ask, of machines that have something for it. */
#include "asking.h"

#define END PAGEDET_TO_END
/* All fields but time_ns, which differs every time. */
#define ALL \
	"ask,notes,page,struct,task,vma,maps,memcg,file,owner,content,entropy"
/* The same without the costly ones. */
#define MANY "ask,notes,page,struct,task,vma,memcg,file"

#define TARGET(name) .target = PAGEDET_TARGET_##name
#define ONE(...) .items = { { __VA_ARGS__ } }, .n_items = 1
#define TASK(pid) { 0, END, pid, 0 }
#define TASK_12 ONE(0, END, 12, 0)
#define BPF .at = LIVE, .sources = PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF)
#define BPF_TOO .at = LIVE, .sources = \
	PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_BPF) | \
	PAGEDET_SOURCE_BIT(PAGEDET_SOURCE_PROCFS)
#define TASK_12_13 .items = { TASK(12), TASK(13) }, .n_items = 2

const struct question questions[] = {
	{ .name = "pages", TARGET(PFN), .fields = ALL,
	  .items = { { 0x100, 0x22, 0, 0 }, { 0x150, 3, 0, 0 },
		     { 0x1ff, 3, 0, 0 }, { 0x7ff, 3, 0, 0 },
		     { 0xbff, 6, 0, 0 } }, .n_items = 5 },
	{ .name = "one page", TARGET(PFN), .options = PAGEDET_Q_CHEAP,
	  ONE(0x114, 1, 0, 0) },
	{ .name = "a page that is switched off", TARGET(PFN),
	  .fields = "pfn,kind,flags,mapcount,memcg_ino,node,zone",
	  ONE(0x800, 1, 0, 0) },
	{ .name = "physical addresses", TARGET(PHYS),
	  .options = PAGEDET_Q_CHEAP, ONE(0x100fff, 2, 0, 0) },
	{ .name = "addresses", TARGET(VIRT), .fields = MANY,
	  .items = { { 0x400000, 0x5000, 12, 0 },
		     { 0x7f0000000000, 0x20000, 12, 0 },
		     { 0x7f1100000000, 0x5000, 13, 0 } }, .n_items = 3 },
	{ .name = "tasks", TARGET(TASK), .fields = MANY, TASK_12_13 },
	{ .name = "tasks by two threads", TARGET(TASK), .fields = MANY,
	  .threads = 2, TASK_12_13 },
	{ .name = "scan", TARGET(SCAN), .fields = MANY },
	{ .name = "scan by three threads", TARGET(SCAN), .fields = MANY,
	  .threads = 3 },
	{ .name = "groups", TARGET(SCAN), .by = "kind,node,zone,memcg_path" },
	{ .name = "groups by two threads", TARGET(SCAN),
	  .by = "order,memcg_ino,mapcount", .threads = 2 },
	{ .name = "one group", TARGET(SCAN), .options = PAGEDET_Q_GROUP },
	{ .name = "filter", TARGET(SCAN),
	  .fields = "pfn,kind,flags,memcg_path", .where =
	  "memcg_path~^/a and (kind=anon or flags:dirty) and mapcount>0" },
	{ .name = "filter of names", TARGET(TASK),
	  .fields = "vaddr,pfn,vma", .where = "vma_name~'^/dev' or pte:guard",
	  TASK_12_13 },
	{ .name = "runs", TARGET(SCAN),
	  .fields = "pfn,kind,flags,memcg_path", .options = PAGEDET_Q_RUNS |
	  PAGEDET_Q_HOLES },
	{ .name = "mappers", TARGET(MAPPERS),
	  .fields = "pfn,map,pid,tgid,comm,vaddr,pte,vma",
	  .items = { { 0x108, 1, 0, 0 }, { 0x111, 2, 0, 0 } }, .n_items = 2 },
	{ .name = "mappers by two threads", TARGET(MAPPERS),
	  .fields = "pfn,pid,comm,vaddr", .threads = 2,
	  .items = { { 0x110, 1, 0, 0 }, { 0x400, 2, 0, 0 } }, .n_items = 2 },
	{ .name = "mappers by index", TARGET(MAPPERS),
	  .fields = "pfn,pid,comm,vaddr", .index = true,
	  .items = { { 0x108, 1, 0, 0 }, { 0x200, 1, 0, 0 } }, .n_items = 2 },
	{ .name = "counted mappings", TARGET(PFN),
	  .fields = "pfn,user_maps,notes", ONE(0x100, 0x20, 0, 0) },
	{ .name = "counted mappings by index", .index = true, .threads = 2,
	  TARGET(PFN), .fields = "pfn,user_maps,notes",
	  ONE(0x100, 0x20, 0, 0) },
	{ .name = "one page after the other", TARGET(PFN), .fields = MANY,
	  .again = true, ONE(0x101, 1, 0, 0) },
	{ .name = "one address after the other", .again = true, TARGET(VIRT),
	  .fields = MANY, ONE(0x7f0000008000, 1, 12, 0) },

	/* Cgroups: by what is charged to them, and by their tasks. */
	{ .name = "cgroup", TARGET(CGROUP), .path = "/a",
	  .fields = "pfn,kind,memcg_ino,memcg_path",
	  .other_without = "/proc/kpagecgroup" },
	{ .name = "groups of a cgroup", TARGET(CGROUP), .path = "/a",
	  .by = "kind,memcg_path", .other_without = "/proc/kpagecgroup" },
	{ .name = "cgroup by its tasks", TARGET(CGROUP), .path = "/a",
	  .fields = "pid,vaddr,pfn,kind", .without = "/proc/kpagecgroup" },
	{ .name = "cgroup among directories", .at = DIRECTORIES,
	  TARGET(CGROUP), .path = "/", .fields = "pfn,memcg_ino,memcg_path",
	  .other_without = "/proc/kpagecgroup" },
	{ .name = "paths of cgroups among directories",
	  .at = DIRECTORIES, TARGET(PFN), ONE(0x100, 0x22, 0, 0),
	  .fields = "pfn,memcg" },

	/* An older kernel. */
	{ .name = "tails with words of their own", .at = OLD,
	  TARGET(PFN), .fields = MANY,
	  .items = { { 0x205, 1, 0, 0 }, { 0x2fe, 2, 0, 0 } }, .n_items = 2 },
	{ .name = "one such tail after the other", .at = OLD,
	  TARGET(PFN), .fields = "pfn,flags,flags_known,kind", .again = true,
	  ONE(0x205, 1, 0, 0) },
	{ .name = "groups with such tails", .at = OLD, TARGET(SCAN),
	  .by = "kind,flags" },
	{ .name = "many swap areas", .at = OLD, TARGET(VIRT),
	  .fields = MANY, ONE(0x7f0000000000, 0x4000, 12, 0) },

	/* What tasks map of files. */
	{ .name = "a captured file", .at = MAPPED, TARGET(FILE),
	  .path = "/lib/a", .fields = MANY },
	{ .name = "pages of a captured file by two threads",
	  .at = MAPPED, TARGET(FILE), .path = "/lib/a", .threads = 2,
	  .fields = "index,pfn", .items = { { 5, 3, 0, 0 }, { 0, 4, 0, 0 } },
	  .n_items = 2 },
	{ .name = "groups of a captured file", .at = MAPPED,
	  TARGET(FILE), .path = "/lib/a", .by = "kind,path" },
	{ .name = "a captured file that was deleted", .at = MAPPED,
	  TARGET(FILE), .path = "/lib/old", .fields = "index,pfn,path" },
	{ .name = "a captured tree", .at = MAPPED, TARGET(TREE),
	  .path = "/lib", .fields = MANY },
	{ .name = "groups of a captured tree", .at = MAPPED,
	  TARGET(TREE), .path = "/", .by = "path" },
	{ .name = "a captured mount", .at = MAPPED, TARGET(MOUNT),
	  .path = "/", .fields = "path,index,pfn,dev,inode" },
	{ .name = "a captured mount of a kind that stacks",
	  .at = MAPPED, TARGET(MOUNT), .path = "/merged",
	  .fields = "path,index,pfn,dev,inode" },
	{ .name = "files behind addresses", .at = MAPPED, TARGET(TASK),
	  .fields = "vaddr,pfn,dev,inode,index,path,vma",
	  .items = { TASK(12), TASK(14) }, .n_items = 2 },

	/* As text. */
	{ .name = "JSON", TARGET(TASK), .fields = MANY,
	  .format = PAGEDET_FORMAT_JSON, TASK_12 },
	{ .name = "CSV", TARGET(TASK), .fields = MANY,
	  .format = PAGEDET_FORMAT_CSV, TASK_12 },
	{ .name = "text", TARGET(TASK), .fields = MANY,
	  .format = PAGEDET_FORMAT_TEXT, TASK_12 },
	{ .name = "a record as text", TARGET(PFN), .fields = ALL,
	  .format = PAGEDET_FORMAT_TEXT, ONE(0x114, 1, 0, 0) },
	{ .name = "groups as text", TARGET(SCAN), .by = "kind,memcg_path",
	  .format = PAGEDET_FORMAT_TEXT },
	{ .name = "mappers as JSON", TARGET(MAPPERS),
	  .fields = "pfn,pid,comm,vaddr", .format = PAGEDET_FORMAT_JSON,
	  ONE(0x108, 1, 0, 0) },
	{ .name = "JSON to a file", TARGET(TASK), .fields = MANY,
	  .format = PAGEDET_FORMAT_JSON, .writes = true, TASK_12_13 },
	{ .name = "text to a file", TARGET(SCAN), .fields = MANY,
	  .format = PAGEDET_FORMAT_TEXT, .writes = true },
	{ .name = "pages of a log", TARGET(LOG),
	  .path = "tests/fixtures/page_detective/queries/anon.virt.log",
	  .fields = "at,ask,pfn,kind,flags,refcount,mapcount,memcg_path,pid,"
		    "comm,vaddr,pte,vma,notes" },
	{ .name = "survey", .survey = true, .format = PAGEDET_FORMAT_JSON },
	{ .name = "survey as text", .survey = true,
	  .format = PAGEDET_FORMAT_TEXT },

	/* page_owner's records. */
	{ .name = "owners", .owners = true, .by = "stack,order",
	  .path = "tests/fuzz/corpus/page_owner/6.12" },
	{ .name = "owners by two threads", .owners = true, .by = "stack,order",
	  .path = "tests/fixtures/page_owner/6.1.192.txt.gz", .threads = 2,
	  .where = "alloc_order>0" },
	{ .name = "owners with a filter", .owners = true, .by = "stack",
	  .path = "tests/fixtures/page_owner/6.1.192.txt.gz",
	  .where = "alloc_order>0" },

	/* Of the running kernel: what stays as it is while we look. */
	{ .name = "live: a page of our own", .at = LIVE, TARGET(PFN),
	  .fields = "pfn,kind,mapcount", .n_items = 1 },
	{ .name = "live: addresses of our own", .at = LIVE,
	  TARGET(VIRT), .n_items = 1,
	  .fields = "vaddr,pfn,kind,pid,comm,mapcount,vma_prot,memcg_path" },
	{ .name = "live: entries of our own", .at = LIVE, TARGET(VIRT),
	  .fields = "vaddr,kind,pte,pte_known,pte_level,swap_type",
	  .entries = true },
	{ .name = "live: a part of our own task", .at = LIVE,
	  TARGET(TASK), .n_items = 1,
	  .fields = "vaddr,pfn,kind,vma_start,vma_end" },
	{ .name = "live: who maps a page of our own", .at = LIVE,
	  TARGET(MAPPERS), .fields = "pfn,pid,vaddr", .n_items = 1,
	  .others = true },
	{ .name = "live: by index", .at = LIVE, .index = true,
	  TARGET(MAPPERS), .fields = "pfn,pid,vaddr", .n_items = 1,
	  .others = true },
	{ .name = "live: a file", .at = LIVE, TARGET(FILE),
	  .fields = "index,path,kind,dev,inode" },
	{ .name = "live: pages of a file", .at = LIVE, TARGET(FILE),
	  .fields = "index,pfn,kind" },
	{ .name = "live: how many pages of a file", .at = LIVE,
	  TARGET(FILE), .options = PAGEDET_Q_GROUP },
	{ .name = "live: a tree", .at = LIVE, TARGET(TREE),
	  .by = "path" },
	{ .name = "live: pages of a tree", .at = LIVE, TARGET(TREE),
	  .fields = "path,index,kind" },
	{ .name = "live: survey", .at = LIVE, .survey = true,
	  .format = PAGEDET_FORMAT_JSON },

	/* The same by reading the kernel's memory, alone and with others. */
	{ .name = "BPF: a page of our own", BPF, TARGET(PFN),
	  .fields = "pfn,kind,flags,mapcount,node,zone", .n_items = 1 },
	{ .name = "BPF: what takes types", BPF, TARGET(PFN),
	  .fields = "pfn,kind,mapcount,memcg_path,node", .n_items = 1 },
	{ .name = "BPF: addresses of our own", BPF, TARGET(VIRT), .n_items = 1,
	  .fields = "vaddr,pfn,kind,pid,comm,mapcount,vma_prot" },
	{ .name = "BPF: survey", BPF, .survey = true,
	  .format = PAGEDET_FORMAT_JSON },
	{ .name = "BPF too: a page of our own", BPF_TOO, TARGET(PFN),
	  .fields = "pfn,kind,flags,mapcount,node,zone", .n_items = 1 },
	{ .name = "BPF too: addresses of our own", BPF_TOO, TARGET(VIRT),
	  .fields = "vaddr,pfn,kind,pid,comm,mapcount,node", .n_items = 1 },

	/* A dump: what the kernel says of itself is in its memory. */
	{ .name = "dump: pages", .at = DUMP, TARGET(PFN),
	  .fields = "pfn,kind,flags,refcount,mapcount",
	  .items = { { 0x258, 0x40, 0, 0 }, { 0x1258, 8, 0, 0 } },
	  .n_items = 2 },
	{ .name = "dump: what takes types", .at = DUMP, TARGET(PFN),
	  .fields = "pfn,kind,mapcount,pincount,slab_cache,memcg_path,zone",
	  .items = { { 0x258, 8, 0, 0 }, { 0x1258, 8, 0, 0 } },
	  .n_items = 2 },
	{ .name = "dump: groups by two threads", .at = DUMP, TARGET(SCAN),
	  .by = "kind,flags", .threads = 2 },
	{ .name = "dump: survey", .at = DUMP, .survey = true,
	  .format = PAGEDET_FORMAT_JSON },
};

const int n_questions = sizeof(questions) / sizeof(*questions);
