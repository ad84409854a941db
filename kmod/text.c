// SPDX-License-Identifier: GPL-2.0-only
/* A text that grows; one that cannot is marked and stays as it is. */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "detective.h"

#define LEAST 4096
#define MOST (32u << 20)

void pd_text_free(struct pd_text *t)
{
	kvfree(t->data);
	memset(t, 0, sizeof(*t));
}

bool pd_text_reserve(struct pd_text *t, size_t more)
{
	size_t size = t->size ? t->size : LEAST;
	char *data;

	if (t->error)
		return false;
	if (t->size - t->n > more)
		return true;
	while (size - t->n <= more)
		size *= 2;
	data = size <= MOST ? kvmalloc(size, GFP_KERNEL_ACCOUNT) : NULL;
	if (!data) {
		t->error = size <= MOST ? -ENOMEM : -E2BIG;
		return false;
	}
	if (t->n)
		memcpy(data, t->data, t->n);
	kvfree(t->data);
	t->data = data;
	t->size = size;
	return true;
}

void pd_text_add(struct pd_text *t, const char *fmt, ...)
{
	va_list args;

	/* no line of ours is longer */
	if (!pd_text_reserve(t, 512))
		return;
	va_start(args, fmt);
	t->n += vscnprintf(t->data + t->n, t->size - t->n, fmt, args);
	va_end(args);
}

void pd_text_hex_digits(struct pd_text *t, u64 value)
{
	const size_t n = value ? DIV_ROUND_UP(fls64(value), 4) : 1;
	size_t i;

	if (!pd_text_reserve(t, n))
		return;
	for (i = n; i--; value >>= 4)
		t->data[t->n + i] = hex_asc_lo(value);
	t->n += n;
}

void pd_text_dec_digits(struct pd_text *t, s64 value)
{
	u64 left = abs(value);
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = '0' + left % 10;
		left /= 10;
	} while (left);
	if (value < 0)
		digits[--i] = '-';
	pd_text_bytes(t, digits + i, sizeof(digits) - i);
}

static bool is_plain(char c)
{
	return c > ' ' && c < 0x7f && c != '\\' && c != '=';
}

void pd_text_field(struct pd_text *t, const char *key, const char *value)
{
	pd_text_add(t, " %s=", key);
	if (!pd_text_reserve(t, 4 * strlen(value)))
		return;
	for (; *value; value++) {
		if (is_plain(*value)) {
			t->data[t->n++] = *value;
			continue;
		}
		t->data[t->n++] = '\\';
		t->data[t->n++] = 'x';
		t->data[t->n++] = hex_asc_hi(*value);
		t->data[t->n++] = hex_asc_lo(*value);
	}
}
