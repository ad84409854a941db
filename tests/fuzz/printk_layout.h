/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Builds a kernel log in a small memory, for the unit test and the fuzzer, with
 * the layouts of 6.12 and 5.9 on x86-64 according to VMCOREINFO. Pointers to
 * the log are at the beginning.
 */
#ifndef TESTS_PRINTK_LAYOUT_H
#define TESTS_PRINTK_LAYOUT_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/object/printk.h"

#define LOG_BASE 0xffffffff80000000

static const char log_ring_info[] =
	"SYMBOL(prb)=ffffffff80000000\n"
	"OFFSET(printk_ringbuffer.desc_ring)=0\n"
	"OFFSET(printk_ringbuffer.text_data_ring)=48\n"
	"OFFSET(prb_desc_ring.count_bits)=0\n"
	"OFFSET(prb_desc_ring.descs)=8\n"
	"OFFSET(prb_desc_ring.infos)=16\n"
	"OFFSET(prb_desc_ring.head_id)=24\n"
	"OFFSET(prb_desc_ring.tail_id)=32\n"
	"SIZE(prb_desc)=24\n"
	"OFFSET(prb_desc.state_var)=0\n"
	"OFFSET(prb_desc.text_blk_lpos)=8\n"
	"OFFSET(prb_data_blk_lpos.begin)=0\n"
	"OFFSET(prb_data_blk_lpos.next)=8\n"
	"SIZE(printk_info)=88\n"
	"OFFSET(printk_info.seq)=0\n"
	"OFFSET(printk_info.ts_nsec)=8\n"
	"OFFSET(printk_info.text_len)=16\n"
	"OFFSET(prb_data_ring.size_bits)=0\n"
	"OFFSET(prb_data_ring.data)=8\n";

static const char log_buffer_info[] =
	"SYMBOL(log_buf)=ffffffff80000000\n"
	"SYMBOL(log_buf_len)=ffffffff80000008\n"
	"SYMBOL(log_first_idx)=ffffffff8000000c\n"
	"SYMBOL(log_next_idx)=ffffffff80000010\n"
	"SIZE(printk_log)=16\n"
	"OFFSET(printk_log.ts_nsec)=0\n"
	"OFFSET(printk_log.len)=8\n"
	"OFFSET(printk_log.text_len)=10\n"
	"OFFSET(printk_log.dict_len)=12\n";

struct log_kernel {
	struct pdet_memory memory;
	struct pdet_reader reader;
	const uint8_t *bytes;
	size_t size;
};

static int log_read_kvirt(struct pdet_reader *r, uint64_t addr, void *buf,
			  size_t n)
{
	const struct log_kernel *k = PDET_CONTAINER(r, struct log_kernel,
						    reader);
	const uint64_t at = addr - LOG_BASE;

	if (addr < LOG_BASE || at > k->size || n > k->size - at)
		return -ENOENT;
	memcpy(buf, k->bytes + at, n);
	return 0;
}

static const struct pdet_memory_ops log_memory_ops = {
	.name = "log",
	.read_kvirt = log_read_kvirt,
};

/* Reads the log of such a kernel; as pdet_printk_each(). */
static int log_each(const char *info_text, const uint8_t *bytes, size_t size,
		    struct pdet_printk_visit *visit)
{
	struct log_kernel k = { .memory = { .ops = &log_memory_ops },
				.bytes = bytes, .size = size };
	struct pdet_space *space = malloc(sizeof(*space));
	struct pdet_vmcoreinfo info;
	int r = -ENOMEM;

	k.reader.memory = &k.memory;
	if (space && pdet_vmcoreinfo_parse(&info, info_text,
					   strlen(info_text))) {
		pdet_space_init(space, &k.reader, NULL);
		r = pdet_printk_each(space, &info, visit);
		pdet_vmcoreinfo_free(&info);
	}
	free(space);
	return r;
}

#endif
