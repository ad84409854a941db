/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Fuzzes code without a table: the length of a function up to where the thread
 * is, in two bytes, and its first and last bytes.
 */
#include "fuzz.h"
#include "unwind/plain_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pdet_frame_pair pair;
	struct pdet_plain_code c = { .n = fuzz_number(&data, &size, 2) + 1 };
	const size_t head = size < sizeof(c.head) ? size : sizeof(c.head);
	enum pdet_plain is;

	memcpy(c.head, data, head);
	data += head;
	size -= head;
	memcpy(c.tail, data, size < sizeof(c.tail) ? size : sizeof(c.tail));
	pair.n = pair.fde = 0;
	is = pdet_plain_pair(&c, 0x7f0000001234, &pair);
	MUST(is != PDET_PLAIN_PROVED || c.n <= sizeof(c.head) + 1);
	MUST((is == PDET_PLAIN_NOT) == !pair.n);
	MUST(pair.n < 128 && pair.fde <= pair.n);
	return 0;
}
