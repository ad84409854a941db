/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes the kernel log in any memory. The first byte chooses the format: 0 is
 * the ring of descriptors, 1 the older buffer.
 */
#include "fuzz.h"
#include "printk_layout.h"

struct seen {
	uint64_t n, sum;
};

static int see(void *arg, const struct pdet_printk_record *record)
{
	struct seen *s = arg;
	size_t i;

	MUST(record->len <= 65535);
	MUST(record->level <= 7 && record->facility <= 255);
	for (i = 0; i < record->len; i++)
		s->sum += (unsigned char)record->text[i];
	s->n++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint64_t old = fuzz_number(&data, &size, 1) & 1;
	struct seen s = { 0, 0 };
	struct pdet_printk_visit visit = { see, &s, 0 };
	int r = log_each(old ? log_buffer_info : log_ring_info, data, size,
			 &visit);

	MUST(r <= 0);
	/*
	 * A descriptor and its record may overlap others, but a record of the
	 * older buffer has its own room.
	 */
	MUST(!old || s.n <= size / 16 + 1);
	return 0;
}
