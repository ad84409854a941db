/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Tests stacks in user code with this program's own: the truth is what
 * backtrace() says. The memory is read as that of another process.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <ucontext.h>
#include <unistd.h>

#include "../perf_map.h"
#include "../unit.h"
#include "unwind/local_file.h"
#include "unwind/user_stack.h"

#ifdef __x86_64__

#define FRAMES 64

/* For a function that stays as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

struct world {
	char root[1];		/* "" */
	struct pdet_env env;
	struct pdet_unwinder *unwinder;
	struct pdet_user_regs regs;
	struct pdet_user_stack stack;
	void *truth[FRAMES];
	int n_truth;
	int mem;
	/* What goes wrong. */
	bool only_writable;	/* other pages were never used */
	bool no_code;		/* nor can they be read */
	uint64_t lost_from;	/* pages from there on cannot be read */
	int lost;		/* why not */
	unsigned damage;	/* seed of wrong bytes; 0: none */
	/* As the process of a dump: its mappings, and what was cached. */
	bool dumped;
	const char *name;	/* that the program's file has there */
	FILE *maps;
	char line[4096];
	uint64_t space;		/* its number there */
	uint64_t cached_to;	/* pages of files up to there were cached */
	unsigned reads;		/* of pages */
	/* It is read again afterwards, while the frames live. NULL: once. */
	void (*between)(struct world *w);
	unsigned first_reads;	/* of the first time */
	uint64_t maps_number, next_number;
	uint64_t maps_grow;	/* by so much, each time somebody asks */
	bool perf_map;		/* the map file of a compiler is asked for */
	struct pdet_perf_file perf;
	int error;
};

/* Deterministic, so that a failure comes again. */
static unsigned dice(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 8;
}

static bool is_writable(uint64_t addr)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, end;
	bool found = false;
	char line[4096], prot[8];

	ck_assert_ptr_nonnull(f);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %7s", &start, &end, prot) == 3 &&
			addr >= start && addr < end && prot[1] == 'w';
	fclose(f);
	return found;
}

static int read_page(void *arg, uint64_t addr, void *buf)
{
	struct world *w = arg;
	unsigned char *bytes = buf;
	unsigned i;

	w->reads++;
	if ((w->only_writable || w->no_code) && !is_writable(addr))
		return w->no_code ? -EIO : -ENOENT;
	if (addr >= w->lost_from)
		return w->lost;
	/* It reads all that is mapped. */
	if (pread(w->mem, buf, PDET_USER_PAGE, (off_t)addr) != PDET_USER_PAGE)
		return -ENOENT;
	for (i = 0; w->damage && i < 40; i++)
		bytes[dice(&w->damage) % PDET_USER_PAGE] =
			(unsigned char)dice(&w->damage);
	return 0;
}

/* Files of a dump are found by a number: the inode. */
static int next_map(void *arg, struct pdet_vma *ret)
{
	struct world *w = arg;
	struct pdet_scan line = { w->line, NULL };
	struct stat st;

	if (!fgets(w->line, sizeof(w->line), w->maps))
		return 0;
	line.end = strchr(w->line, '\n');
	ck_assert(pdet_maps_line(line, ret));
	if (!ret->inode)
		return 1;
	ret->cache = 0xffff888000000000ull + ret->inode;
	w->line[line.end - w->line] = '\0';
	ck_assert_int_eq(stat(ret->name, &st), 0);
	ret->size = (uint64_t)st.st_size;
	if (w->name && strstr(ret->name, "test_user_stack")) {
		ret->name = w->name;
		ret->name_len = strlen(w->name);
	}
	return 1;
}

static int cached_page(void *arg, uint64_t cache, uint64_t index, void *buf)
{
	const struct world *w = arg;
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096], path[4096];
	unsigned long inode = 0;
	int fd;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %*s %*s %*s %lu %4095s", &inode, path) ==
			    2 && inode == cache - 0xffff888000000000ull)
			break;
	fclose(f);
	ck_assert_uint_eq(inode, cache - 0xffff888000000000ull);
	if (index >= w->cached_to)
		return -ENODATA;
	memset(buf, 0, PDET_CACHED_PAGE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(pread(fd, buf, PDET_CACHED_PAGE,
			       (off_t)(index * PDET_CACHED_PAGE)), 0);
	close(fd);
	return 0;
}

static uint64_t number_of_maps(void *arg)
{
	struct world *w = arg;
	const uint64_t number = w->maps_number;

	w->maps_number += w->maps_grow;
	return number;
}

static int read_stack(struct world *w)
{
	struct pdet_code_dump dump = {
		.space = w->space, .next = next_map, .arg = w,
		.files = { cached_page, w },
	};
	const struct pdet_user_source source = {
		read_page, w, w->dumped ? &dump : NULL, number_of_maps,
		w->perf_map ? &w->perf : NULL
	};
	int r;

	w->maps = fopen("/proc/self/maps", "r");
	ck_assert_ptr_nonnull(w->maps);
	if (w->perf_map)
		pdet_perf_file_open(&w->perf, &w->env, (uint32_t)getpid());
	r = pdet_user_stack_read(&w->env, w->unwinder, (uint32_t)getpid(),
				 &w->regs, &source, &w->stack);
	fclose(w->maps);
	return r;
}

static void take_registers(struct world *w, const ucontext_t *u)
{
	static const int number[PDET_USER_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
		REG_R14, REG_R15, REG_RIP
	};
	unsigned i;

	for (i = 0; i < PDET_USER_REGS; i++)
		w->regs.reg[i] =
			(uint64_t)u->uc_mcontext.gregs[number[i]];
}

APART static int innermost(struct world *w)
{
	ucontext_t u;

	w->n_truth = backtrace(w->truth, FRAMES);
	ck_assert_int_eq(getcontext(&u), 0);
	take_registers(w, &u);
	w->error = read_stack(w);
	if (w->between && w->error == 0) {
		w->between(w);
		w->error = read_stack(w);
	}
	return w->n_truth;
}

APART static int middle(struct world *w)
{
	return innermost(w) + 1;
}

APART static int outermost(struct world *w)
{
	return middle(w) + 1;
}

static void start(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->env.root = w->root;
	w->lost_from = UINT64_MAX;
	w->space = 1;
	w->mem = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(w->mem, 0);
	ck_assert_int_eq(pdet_unwinder_new(&w->env, &w->unwinder), 0);
}

static void end(struct world *w)
{
	pdet_user_stack_free(&w->stack);
	pdet_perf_file_free(&w->perf);
	pdet_unwinder_free(w->unwinder);
	close(w->mem);
}

static void is_true(const struct world *w)
{
	const struct pagedet_frame *f = w->stack.frames;
	const size_t more = (size_t)w->n_truth - w->stack.n;
	size_t i;

	ck_assert_int_eq(w->error, 0);
	/* A sanitizer calls backtrace() from a function of its own. */
	ck_assert_uint_le(more, 1);
	ck_assert_str_eq(f[0].function, "innermost");
	for (i = 1; i < w->stack.n; i++)
		ck_assert_uint_eq(f[i].address,
				  (uint64_t)(uintptr_t)w->truth[i + more]);
	ck_assert_str_eq(f[1].function, "middle");
	ck_assert_str_eq(f[2].function, "outermost");
	ck_assert_uint_eq(f[1].type, PAGEDET_FRAME_USER);
	ck_assert_uint_eq(f[1].address - f[1].offset,
			  (uint64_t)(uintptr_t)middle);
	ck_assert_uint_lt(f[1].offset, f[1].bytes);
	ck_assert_ptr_nonnull(strstr(f[1].module, "test_user_stack"));
	ck_assert_ptr_nonnull(f[1].build_id);
}

START_TEST(as_backtrace)
{
	struct world w;

	start(&w);
	outermost(&w);
	is_true(&w);
	end(&w);
}
END_TEST

/* Code and tables come from the files then. */
START_TEST(unused_pages)
{
	struct world w;

	start(&w);
	w.only_writable = true;
	outermost(&w);
	is_true(&w);
	end(&w);
}
END_TEST

static const struct pagedet_frame *last(const struct world *w)
{
	ck_assert_int_eq(w->error, 0);
	ck_assert_uint_gt(w->stack.n, 0);
	return &w->stack.frames[w->stack.n - 1];
}

/* --- of a dump --- */

static void start_dump(struct world *w, const char *name, uint64_t cached_to)
{
	start(w);
	w->dumped = true;
	w->name = name;
	w->cached_to = cached_to;
}

/* No file of this machine has the name: all is in the page cache. */
START_TEST(cached_files)
{
	struct world w;

	start_dump(&w, "/nowhere/test_user_stack", UINT64_MAX);
	w.only_writable = _i;
	outermost(&w);
	is_true(&w);
	end(&w);
}
END_TEST

/* The first page has the build id, and the file of this machine has it, too. */
START_TEST(same_file)
{
	char path[4096] = "";
	struct stat st;
	struct world w;
	int fd;

	start_dump(&w, NULL, 1);
	ck_assert_int_gt(readlink("/proc/self/exe", path, sizeof(path) - 1),
			 0);
	fd = pdet_open_named(&w.env, path, &st);
	if (fd < 0)
		unit_skip("files of this machine are not used: %s",
			  strerror(-fd));
	close(fd);
	w.only_writable = _i;
	outermost(&w);
	is_true(&w);
	end(&w);
}
END_TEST

static void find_libc(char path[4096])
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4096];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "/libc") &&
		    sscanf(line, "%*s %*s %*s %*s %*s %4095s", path) == 1)
			break;
	ck_assert(!feof(f));
	fclose(f);
}

/* A name proves nothing: a file of another build is not used. */
START_TEST(another_file)
{
	char path[4096];
	struct world w;

	find_libc(path);
	start_dump(&w, path, UINT64_MAX);
	outermost(&w);
	ck_assert_int_eq(w.error, 0);
	ck_assert_str_eq(w.stack.frames[0].module, path);
	ck_assert_str_eq(w.stack.frames[0].function, "innermost");
	ck_assert_str_eq(w.stack.frames[1].function, "middle");
	end(&w);
}
END_TEST

/* Frames have a module and no name, and say why. */
START_TEST(no_files)
{
	static const struct {
		uint64_t cached_to;
		const char *why;
	} cases[] = {
		{ 0, "the file is not in the dump" },
		{ 2, "the dump does not have all of the file" },
	};
	const struct pagedet_frame *f;
	struct world w;

	start_dump(&w, "/nowhere/test_user_stack", cases[_i].cached_to);
	outermost(&w);
	ck_assert_int_eq(w.error, 0);
	f = &w.stack.frames[0];
	ck_assert_uint_eq(f->address, w.regs.reg[PDET_USER_IP]);
	ck_assert_str_eq(f->module, "/nowhere/test_user_stack");
	ck_assert_ptr_null(f->function);
	ck_assert_str_eq(f->why, cases[_i].why);
	ck_assert(!f->file_address == !_i);
	end(&w);
}
END_TEST

/* With the same number, the mappings are not read again. */
START_TEST(same_maps)
{
	struct world w;
	size_t n;
	void *more;

	start(&w);
	w.maps_number = 7;
	outermost(&w);
	is_true(&w);
	n = w.stack.code.maps.n;
	more = mmap(NULL, 4096, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(more != MAP_FAILED);
	outermost(&w);
	is_true(&w);
	ck_assert_uint_eq(w.stack.code.maps.n, n);
	w.maps_number = _i;
	outermost(&w);
	is_true(&w);
	ck_assert_uint_gt(w.stack.code.maps.n, n);
	munmap(more, 4096);
	end(&w);
}
END_TEST

static unsigned count_reads(struct world *w, uint64_t maps)
{
	w->reads = 0;
	w->maps_number = maps;
	outermost(w);
	is_true(w);
	return w->reads;
}

/* With the same mappings, only what can be written is read again. */
START_TEST(pages_that_stay)
{
	unsigned first, second;
	struct world w;

	start(&w);
	first = count_reads(&w, 7);
	second = count_reads(&w, 7);
	ck_assert_uint_gt(second, 0);
	ck_assert_uint_lt(second, first);
	ck_assert_uint_eq(count_reads(&w, 8), first);
	ck_assert_uint_eq(count_reads(&w, 0), first);
	ck_assert_uint_eq(count_reads(&w, 0), first);
	end(&w);
}
END_TEST

static void count_from_here(struct world *w)
{
	w->first_reads = w->reads;
	w->reads = 0;
}

/* Nothing changes in a dump. */
START_TEST(pages_of_a_dump)
{
	struct world w;

	start_dump(&w, NULL, UINT64_MAX);
	w.between = count_from_here;
	outermost(&w);
	is_true(&w);
	/* Two pages may have the same place. */
	ck_assert_uint_lt(w.reads, w.first_reads / 2);
	end(&w);
}
END_TEST

static void lose_code(struct world *w)
{
	is_true(w);
	w->no_code = true;
	w->maps_number = w->next_number;
	w->space = w->next_number;
}

/* What was found in code and tables is used for the same mappings alone. Of
 * others, nothing can be read here, and so no frame follows the first one. */
START_TEST(rules_of_other_maps)
{
	static const struct {
		uint64_t number;
		bool dumped, same;
	} cases[] = {
		{ 7, false, true }, { 8, false, false }, { 0, false, false },
		{ 7, true, true }, { 8, true, false },
	};
	struct world w;

	start(&w);
	w.dumped = cases[_i].dumped;
	w.cached_to = UINT64_MAX;
	w.maps_number = w.space = 7;
	w.next_number = cases[_i].number;
	w.between = lose_code;
	outermost(&w);
	if (cases[_i].same) {
		is_true(&w);
	} else {
		ck_assert_int_eq(w.error, 0);
		ck_assert_uint_eq(w.stack.n, 2);
		ck_assert_str_eq(last(&w)->why,
				 "memory that is needed cannot be read");
	}
	end(&w);
}
END_TEST

/* Mappings that change while they are read are not those of a number. */
START_TEST(maps_that_change)
{
	struct world w;
	size_t n;
	void *more;

	start(&w);
	w.maps_number = 7;
	w.maps_grow = 1;
	outermost(&w);
	is_true(&w);
	n = w.stack.code.maps.n;
	more = mmap(NULL, 4096, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(more != MAP_FAILED);
	w.maps_number = 7 + (uint64_t)_i;
	w.maps_grow = 0;
	outermost(&w);
	is_true(&w);
	ck_assert_uint_gt(w.stack.code.maps.n, n);
	munmap(more, 4096);
	end(&w);
}
END_TEST

/* Another process of the dump needs no file again. */
START_TEST(next_process)
{
	struct world w;

	start_dump(&w, "/nowhere/test_user_stack", UINT64_MAX);
	outermost(&w);
	is_true(&w);
	w.cached_to = 0;
	w.space = 2;
	outermost(&w);
	is_true(&w);
	end(&w);
}
END_TEST

static int next_damaged(void *arg, struct pdet_vma *ret)
{
	struct world *w = arg;

	(void)ret;
	return pdet_fail(&w->env, EBADMSG, "the areas are damaged");
}

/* Without any mapping there is nothing to unwind by. */
START_TEST(lost_maps)
{
	struct world w;
	struct pdet_code_dump dump = {
		.space = 1, .next = next_damaged, .arg = &w,
		.files = { cached_page, &w },
	};
	struct pdet_code c = { .env = &w.env, .dump = &dump };

	start(&w);
	ck_assert_int_eq(pdet_code_open(&c), -EBADMSG);
	ck_assert_str_eq(w.env.error, "the areas are damaged");
	pdet_code_free(&c);
	end(&w);
}
END_TEST

/* No frame is made up. */
START_TEST(lost_pages)
{
	static const struct {
		int error;
		const char *why;
	} cases[] = {
		{ -EIO, "memory that is needed cannot be read" },
		{ -ENXIO, "memory that is needed is not present: perhaps "
			  "swapped out" },
		{ -ENODATA, "memory that is needed is not in the dump" },
	};
	struct world w;

	start(&w);
	w.lost_from = 0;
	w.lost = cases[_i].error;
	outermost(&w);
	ck_assert_uint_eq(w.stack.n, 2);
	ck_assert_str_eq(w.stack.frames[0].function, "innermost");
	ck_assert_uint_eq(last(&w)->address, 0);
	ck_assert_str_eq(last(&w)->why, cases[_i].why);
	end(&w);
}
END_TEST

static int read_first(void *arg, uint64_t addr, void *buf, size_t n)
{
	struct pdet_code *c = arg;
	const uint64_t start = getauxval(AT_SYSINFO_EHDR);

	if (addr - start >= 4096)
		return pdet_code_file_read(c, addr, buf, n);
	memcpy(buf, (const char *)(uintptr_t)addr, n);
	return 0;
}

/* A process uses few pages of its vdso. */
START_TEST(vdso)
{
	const uint64_t start = getauxval(AT_SYSINFO_EHDR);
	struct pdet_code c = { .pid = (uint32_t)getpid() };
	char root[1] = "";
	struct pdet_env env = { .root = root };
	struct pdet_module_file *file;
	uint64_t offset, size;
	size_t i;

	if (!start)
		unit_skip("there is no vdso");
	c.env = &env;
	c.memory.read = read_first;
	c.memory.arg = &c;
	ck_assert_int_eq(pdet_code_open(&c), 0);
	ck_assert_ptr_nonnull(pdet_code_map_at(&c, start));
	file = pdet_code_map_at(&c, start)->file;
	ck_assert_ptr_nonnull(file);
	ck_assert(file->vdso);
	ck_assert_int_eq(pdet_code_file(&c, file), 0);
	ck_assert_uint_gt(file->elf.build_id.n, 0);
	for (i = 0; i < file->elf.n_symbols; i++)
		if (!strcmp(file->elf.names + file->elf.symbols[i].name,
			    "__vdso_getcpu"))
			break;
	ck_assert_uint_lt(i, file->elf.n_symbols);
	ck_assert_ptr_nonnull(pdet_elf_file_symbol(
		&file->elf, file->elf.symbols[i].value, &offset, &size));
	pdet_code_free(&c);
}
END_TEST

/* push %rbp; mov %rsp, %rbp; call *%rsi; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d,
				      0xc3 };

/* Code that a compiler wrote at run time has no table. It may be in memory that
 * has a name. */
START_TEST(jit)
{
	int (*run)(struct world *w, int (*inner)(struct world *w));
	struct world w;
	const int fd = _i == 1 ? memfd_create("jit", MFD_CLOEXEC) : -1;
	void *page;

	if (_i == 1 && (fd < 0 || ftruncate(fd, 4096) < 0))
		unit_skip("there is no memfd");
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		unit_skip("memory that is written and run is not allowed");
	memcpy(page, code, sizeof(code));
	memcpy(&run, &page, sizeof(run));
	if (_i == 2)
		start_dump(&w, NULL, UINT64_MAX);
	else
		start(&w);
	w.perf_map = _i == 2;
	run(&w, innermost);
	ck_assert_uint_eq(w.stack.n, 3);
	ck_assert_uint_eq(w.stack.frames[1].type, PAGEDET_FRAME_JIT);
	ck_assert_uint_eq(w.stack.frames[1].address,
			  (uint64_t)(uintptr_t)page + 6);
	ck_assert_ptr_null(w.stack.frames[1].module);
	ck_assert_ptr_null(w.stack.frames[1].function);
	ck_assert_ptr_nonnull(strstr(w.stack.frames[1].why, _i == 2 ?
				     "is not in the dump" : "--perf-map"));
	ck_assert_str_eq(last(&w)->why,
			 "there is no table for unwinding this code");
	munmap(page, 4096);
	if (fd >= 0)
		close(fd);
	end(&w);
}
END_TEST

/* Runs the code, which has a map file, and asks for the stack through it. */
static void run_mapped(struct world *w, const unsigned char *bytes, size_t n)
{
	int (*run)(struct world *w, int (*inner)(struct world *w));
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		unit_skip("memory that is written and run is not allowed");
	memcpy(page, bytes, n);
	memcpy(&run, &page, sizeof(run));
	make_map((uint64_t)(uintptr_t)page, n, "a function");
	start(w);
	w->perf_map = true;
	run(w, innermost);
	remove_map();
	if (!w->perf.has_map)
		unit_needs_mount(w->perf.why);
	ck_assert_int_eq(w->error, 0);
	ck_assert_uint_gt(w->stack.n, 2);
	ck_assert_uint_eq(w->stack.frames[1].offset,
			  w->stack.frames[1].address -
				  (uint64_t)(uintptr_t)page);
	munmap(page, 4096);
}

/* With its map file, the stack goes on. */
START_TEST(jit_map)
{
	const struct pagedet_frame *f;
	struct world w;

	run_mapped(&w, code, sizeof(code));
	f = w.stack.frames;
	ck_assert_msg(f[1].function, "%s", f[1].why);
	ck_assert_str_eq(f[1].function, "a function");
	ck_assert_uint_eq(f[1].offset, 6);
	ck_assert_uint_eq(f[1].bytes, sizeof(code));
	ck_assert_ptr_null(f[1].why);
	ck_assert_uint_eq(f[2].type, PAGEDET_FRAME_USER);
	ck_assert_ptr_nonnull(strstr(f[2].function, "run_mapped"));
	end(&w);
}
END_TEST

/*
 * Code that begins with a frame pointer, and uses the register for something
 * else afterwards:
 * push %rbp; mov %rsp,%rbp; push %rbp; sub $8,%rsp; ...; call *%rsi;
 * add $8,%rsp; pop %rbp; pop %rbp; ret
 */
#define WITHOUT(bytes) { 0x55, 0x48, 0x89, 0xe5, 0x55, 0x48, 0x83, 0xec, 8, \
	bytes, 0xff, 0xd6, 0x48, 0x83, 0xc4, 8, 0x5d, 0x5d, 0xc3 }
#define BYTES(...) __VA_ARGS__

START_TEST(jit_without_frame_pointer)
{
	static const unsigned char codes[][24] = {
		/* xor %ebp,%ebp; nop...: nothing can be read there */
		WITHOUT(BYTES(0x31, 0xed, 0x90, 0x90, 0x90)),
		/* lea -128(%rsp),%rbp: a caller is not below its callee */
		WITHOUT(BYTES(0x48, 0x8d, 0x6c, 0x24, 0x80)),
		/* mov %rsp,%rbp; nop; nop: the return address is not code */
		WITHOUT(BYTES(0x48, 0x89, 0xe5, 0x90, 0x90)),
	};
	const struct pagedet_frame *f;
	struct world w;

	run_mapped(&w, codes[_i], sizeof(codes[_i]));
	f = w.stack.frames;
	ck_assert_uint_eq(w.stack.n, 3);
	ck_assert_str_eq(f[1].function, "a function");
	ck_assert_ptr_null(f[1].why);
	ck_assert_str_eq(last(&w)->why, "the frame pointer of this code does "
			 "not lead to its caller");
	end(&w);
}
END_TEST

/* The rest of a file's last page is zero. */
START_TEST(last_page)
{
	struct pdet_code c = { .pid = (uint32_t)getpid() };
	char root[1] = "", page[PDET_USER_PAGE];
	struct pdet_env env = { .root = root };
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const off_t size = lseek(fd, 0, SEEK_END);
	const size_t part = (size_t)size % sizeof(page);
	char *map = mmap(NULL, sizeof(page), PROT_READ, MAP_PRIVATE, fd,
			 size - (off_t)part);

	ck_assert_uint_gt(part, 0);
	ck_assert(map != MAP_FAILED);
	c.env = &env;
	ck_assert_int_eq(pdet_code_open(&c), 0);
	ck_assert_int_eq(pdet_code_file_read(&c, (uint64_t)(uintptr_t)map, page,
					     sizeof(page)), 0);
	ck_assert_mem_eq(page, map, sizeof(page));
	pdet_code_free(&c);
	munmap(map, sizeof(page));
	close(fd);
}
END_TEST

/* --- files of another process, in a made-up tree --- */

static void put_file(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void make_root(char *root, size_t size, struct stat *st)
{
	static const char *const dirs[] = {
		"proc", "proc/7", "proc/7/root"
	};
	char path[256];
	size_t i;

	ck_assert_ptr_nonnull(mkdtemp(unit_temp(root, size)));
	for (i = 0; i < PDET_COUNT(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, dirs[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	put_file(path, "file", "not ELF");
	ck_assert_uint_lt(strlen(path) + sizeof("/file"), sizeof(path));
	ck_assert_int_eq(stat(strcat(path, "/file"), st), 0);
}

/* A file is read only if it is the mapped one, and if that surely ends. */
START_TEST(files)
{
	static const struct {
		const char *fstype;
		unsigned dev, inode;	/* what is added to those of the file */
		int error;
	} cases[] = {
		{ "ext4", 0, 0, -EBADMSG }, { "ext4", 1, 0, -EXDEV },
		{ "ext4", 0, 1, -ESTALE }, { "nfs4", 0, 0, -EREMOTE },
		{ "fuse.sshfs", 0, 0, -EREMOTE }, { "9p", 0, 0, -EREMOTE },
		{ "nfsd", 0, 0, -EBADMSG },
	};
	char root[128], text[256], command[160];
	struct pdet_env env = { .root = root };
	struct pdet_code c = { .env = &env, .pid = 7 };
	const struct pdet_code_map *m;
	struct stat st;

	make_root(root, sizeof(root), &st);
	snprintf(text, sizeof(text), "400000-401000 r-xp 00000000 %02x:%02x "
		 "%lu /file\n", major(st.st_dev),
		 minor(st.st_dev) + cases[_i].dev,
		 (unsigned long)st.st_ino + cases[_i].inode);
	put_file(root, "proc/7/maps", text);
	snprintf(text, sizeof(text), "30 1 %u:%u / / rw - %s source rw\n",
		 major(st.st_dev), minor(st.st_dev), cases[_i].fstype);
	put_file(root, "proc/7/mountinfo", text);
	ck_assert_int_eq(pdet_code_open(&c), 0);
	m = pdet_code_map_at(&c, 0x400123);
	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(pdet_code_file(&c, m->file), cases[_i].error);
	/* It is not tried again while the mappings are the same. */
	ck_assert_int_eq(pdet_code_open(&c), 0);
	ck_assert_ptr_eq(pdet_code_map_at(&c, 0x400123), m);
	ck_assert(m->file->tried);
	pdet_code_free(&c);
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

static void all_frames(const struct world *w)
{
	size_t i;

	for (i = 0; i < w->stack.n; i++) {
		const struct pagedet_frame *f = &w->stack.frames[i];

		if (!f->address)
			ck_assert(f->why && i + 1 == w->stack.n);
		if (!f->function)
			ck_assert_uint_eq(f->offset, 0);
		else if (f->bytes)
			ck_assert_uint_le(f->offset, f->bytes);
	}
}

/* Whatever the bytes are, each frame is in code or is the end with its reason,
 * and the first one is where the thread is. */
START_TEST(wrong_bytes)
{
	unsigned seed = (unsigned)_i * 7919 + 1, i;
	struct world w;

	start(&w);
	for (i = 0; i < 50; i++) {
		w.damage = seed + i;
		pdet_user_stack_free(&w.stack);
		outermost(&w);
		ck_assert_uint_gt(w.stack.n, 0);
		ck_assert_uint_le(w.stack.n, PDET_USER_FRAMES + 1);
		ck_assert_uint_eq(w.stack.frames[0].address,
				  w.regs.reg[PDET_USER_IP]);
		all_frames(&w);
	}
	end(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("user_stack");
	struct pdet_env env = { .root = NULL };
	struct pdet_unwinder *u;

	if (pdet_unwinder_new(&env, &u) < 0) {
		printf("1..0 # SKIP %s\n", env.error);
		return 0;
	}
	pdet_unwinder_free(u);
	unit_test(s, as_backtrace);
	unit_test(s, unused_pages);
	unit_loop(s, cached_files, 2);
	unit_loop(s, same_file, 2);
	unit_test(s, another_file);
	unit_loop(s, no_files, 2);
	unit_loop(s, same_maps, 2);
	unit_test(s, pages_that_stay);
	unit_test(s, pages_of_a_dump);
	unit_loop(s, rules_of_other_maps, 5);
	unit_loop(s, maps_that_change, 2);
	unit_test(s, next_process);
	unit_test(s, lost_maps);
	unit_loop(s, lost_pages, 3);
	unit_test(s, vdso);
	unit_loop(s, jit, 3);
	unit_test(s, jit_map);
	unit_loop(s, jit_without_frame_pointer, 3);
	unit_test(s, last_page);
	unit_loop(s, files, 7);
	unit_loop(s, wrong_bytes, 20);
	return unit_main(s);
}

#else

int main(void)
{
	printf("1..0 # SKIP only for x86-64\n");
	return 0;
}

#endif
