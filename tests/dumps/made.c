/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Computes every block from its number and the seed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made.h"

const char made_vmcoreinfo[] =
	"OSRELEASE=6.12.0-made\n"
	"BUILD-ID=0123456789abcdef0123456789abcdef01234567\n"
	"PAGESIZE=4096\n"
	"SYMBOL(init_uts_ns)=ffffffff82a1c040\n"
	"SYMBOL(init_top_pgt)=ffffffff82a12000\n"
	"NUMBER(phys_base)=-16777216\n";

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ x >> 33;
}

static uint64_t number(const struct made *m, uint64_t frame, uint64_t i)
{
	return mix(m->seed * 1000003 + frame * 4099 + i + 1);
}

static uint64_t vmcoreinfo_frame(const struct made *m)
{
	return m->frames * 2 / 3 | 1;
}

/* There are two holes, and every fifth page is excluded. */
enum dump_state made_state(const struct made *m, uint64_t frame)
{
	uint64_t part = frame * 16 / m->frames;

	if (frame >= m->frames)
		return DUMP_NOTHING;
	if (m->vmcoreinfo && frame == vmcoreinfo_frame(m))
		return DUMP_BLOCK;
	if (part == 5 || part == 11)
		return DUMP_NOTHING;
	return !m->all && number(m, frame, 0) % 5 == 0 ? DUMP_EXCLUDED :
		DUMP_BLOCK;
}

/* A line has 32 bytes, some of which are equal in all lines. */
static void fill_text(const struct made *m, uint64_t frame, char *buf)
{
	char line[] = "frame ........ is here: ......\n";
	uint64_t value;
	size_t at, i;

	for (i = 0; i < 8; i++)
		line[6 + i] = "0123456789abcdef"[frame >> (28 - 4 * i) & 15];
	for (at = 0; at < m->block; at += 32) {
		value = number(m, frame, at);
		for (i = 0; i < 3; i++)
			line[24 + i] = (char)('a' + (value >> 4 * i & 15));
		memcpy(buf + at, line, 32);
	}
}

static void fill_noise(const struct made *m, uint64_t frame, char *buf)
{
	uint64_t value;
	size_t at;

	for (at = 0; at < m->block; at += sizeof(value)) {
		value = number(m, frame, at);
		memcpy(buf + at, &value, sizeof(value));
	}
}

static enum dump_state read_block(void *arg, uint64_t frame, void *buf)
{
	const struct made *m = arg;
	enum dump_state state = made_state(m, frame);

	if (m->kept && frame < m->frames) {
		memcpy(buf, m->kept + frame * m->block, m->block);
		return state;
	}
	memset(buf, 0, m->block);
	if (state != DUMP_BLOCK)
		return state;
	if (m->vmcoreinfo && frame == vmcoreinfo_frame(m)) {
		dump_note(buf, 0, "VMCOREINFO", 0, made_vmcoreinfo,
			  strlen(made_vmcoreinfo));
		return state;
	}
	switch (number(m, frame, 1) % 4) {
	case 0:
		break;
	case 1:
		fill_noise(m, frame, buf);
		break;
	default:
		fill_text(m, frame, buf);
		break;
	}
	return state;
}

void made_keep(struct made *m)
{
	char *all = malloc(m->frames * m->block);
	uint64_t i;

	for (i = 0; i < m->frames; i++)
		read_block(m, i, all + i * m->block);
	m->kept = all;
}

void made_forget(struct made *m)
{
	free(m->kept);
	m->kept = NULL;
}

static struct dump_memory memory_of(struct made *m)
{
	return (struct dump_memory){
		.frames = m->frames, .block = m->block, .read = read_block,
		.arg = m
	};
}

static int file(void)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);

	if (fd >= 0)
		return fd;
	perror("memfd_create");
	exit(1);
}

int made_kdump(struct made *m, const struct dump_kdump *kdump, bool flattened)
{
	struct dump_sink sink = { .fd = file(), .flattened = flattened };
	struct dump_memory memory = memory_of(m);

	dump_sink_begin(&sink);
	dump_write_kdump(&sink, kdump, &memory);
	dump_sink_end(&sink);
	return sink.fd;
}

int made_elf(struct made *m, const struct dump_elf *elf, bool flattened)
{
	struct dump_sink sink = { .fd = file(), .flattened = flattened };
	struct dump_memory memory = memory_of(m);

	dump_sink_begin(&sink);
	dump_write_elf(&sink, elf, &memory);
	dump_sink_end(&sink);
	return sink.fd;
}

uint64_t made_size(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

int made_copy(int fd, uint64_t n)
{
	char buf[65536];
	int copy = file();
	uint64_t at;
	ssize_t got;

	for (at = 0; at < n; at += (uint64_t)got) {
		size_t len = n - at < sizeof(buf) ? (size_t)(n - at) :
			sizeof(buf);

		got = pread(fd, buf, len, (off_t)at);
		if (got <= 0 || pwrite(copy, buf, (size_t)got, (off_t)at) !=
		    got) {
			perror("copy");
			exit(1);
		}
	}
	return copy;
}

static void count(struct made_counts *c, enum dump_state state, int result,
		  bool equal)
{
	switch (state) {
	case DUMP_NOTHING:
		c->nothing += result == -ENOENT;
		c->right += result == -ENOENT;
		break;
	case DUMP_EXCLUDED:
		c->excluded += result == -ENODATA;
		c->right += result == -ENODATA;
		break;
	case DUMP_BLOCK:
		c->right += result == 0 && equal;
		c->io += result == -EIO;
		c->bad += result == -EBADMSG;
		break;
	}
	/* A cut block may have been anything. */
	c->wrong += result == 0 && (state != DUMP_BLOCK || !equal);
}

/* A walk from block to block must not omit readable ones. */
static uint64_t left_out(const struct made *m, struct pdet_reader *r,
			 uint64_t *steps)
{
	const struct pdet_memory_ops *ops = r->memory->ops;
	uint64_t next, frame = 0, wrong = 0;
	char byte;

	for (*steps = 0;; ++*steps, frame++) {
		next = ops->next_phys(r, frame * m->block);
		for (; frame < m->frames && frame * m->block < next; frame++)
			wrong += !ops->read_phys(r, frame * m->block, &byte,
						 1);
		if (next == UINT64_MAX)
			return wrong;
	}
}

struct made_counts made_compare(const struct made *m, struct pdet_reader *r)
{
	struct made_counts c = { 0 };
	char *truth = malloc(m->block), *buf = malloc(m->block);
	uint64_t i;
	int result;

	for (i = 0; i < m->frames + 10; i++) {
		read_block((void *)(uintptr_t)m, i, truth);
		memset(buf, 0xa5, m->block);
		result = r->memory->ops->read_phys(r, i * m->block, buf,
						   m->block);
		count(&c, made_state(m, i), result,
		      !memcmp(buf, truth, m->block));
	}
	c.wrong += left_out(m, r, &c.steps);
	free(truth);
	free(buf);
	return c;
}

uint64_t made_compare_odd(const struct made *m, struct pdet_reader *r)
{
	size_t size = 4 * m->block, k;
	char *truth = malloc(size), *buf = malloc(size);
	enum dump_state state;
	uint64_t i, wrong = 0;
	int result, expected;

	for (i = 0; i + 4 <= m->frames; i++) {
		size_t at = number(m, i, 7) % (2 * m->block);
		size_t n = 1 + number(m, i, 8) % (size - at);

		expected = 0;
		for (k = 0; k < 4; k++) {
			state = read_block((void *)(uintptr_t)m, i + k,
					   truth + k * m->block);
			if (expected || (k + 1) * m->block <= at ||
			    k * m->block >= at + n)
				continue;
			expected = state == DUMP_NOTHING ? -ENOENT :
				state == DUMP_EXCLUDED ? -ENODATA : 0;
		}
		result = r->memory->ops->read_phys(r, i * m->block + at, buf,
						   n);
		wrong += result != expected ||
			(!result && memcmp(buf, truth + at, n));
	}
	free(truth);
	free(buf);
	return wrong;
}

struct pdet_memory *made_open(const int *fds, size_t n, char *error,
			      size_t size, int *result)
{
	struct pdet_env env = { .root = (char []){ "" } };
	struct pdet_memory *memory = NULL;
	int r = pdet_memory_open(&env, fds, n, NULL, 0, &memory);

	if (error)
		snprintf(error, size, "%s", env.error);
	if (result)
		*result = r;
	return memory;
}
