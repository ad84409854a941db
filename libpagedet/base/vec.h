/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Growing arrays of one type. A zeroed array is empty:
 *
 *   struct { uint32_t *data; size_t n, cap; } pids = { 0 };
 *   if (!pdet_vec_push(&pids, pid)) return -ENOMEM;
 */
#ifndef PDET_BASE_VEC_H
#define PDET_BASE_VEC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Enlarges @data. Returns NULL if memory is short, and leaves @data unchanged.
 */
static inline void *pdet_vec_grow(void *data, size_t *cap, size_t width)
{
	size_t want = *cap ? *cap * 2 : 16;
	void *bigger;

	if (want > SIZE_MAX / 2 / width)
		return NULL;
	bigger = realloc(data, want * width);
	if (bigger)
		*cap = want;
	return bigger;
}

/* Makes room for @more elements. Returns false if memory is short. */
#define pdet_vec_reserve(vec, more) __extension__({                       \
	bool enough_ = true;                                              \
	while (enough_ && (vec)->cap - (vec)->n < (more)) {               \
		void *more_ = pdet_vec_grow((vec)->data, &(vec)->cap,     \
					    sizeof(*(vec)->data));        \
		if (more_)                                                \
			(vec)->data = more_;                              \
		else                                                      \
			enough_ = false;                                  \
	}                                                                 \
	enough_;                                                          \
})

#define pdet_vec_push(vec, ...)                                           \
	(pdet_vec_reserve(vec, 1) &&                                      \
	 ((vec)->data[(vec)->n++] = (__VA_ARGS__), true))

#define pdet_vec_free(vec)                                                \
	(free((vec)->data), (vec)->data = NULL, (vec)->n = (vec)->cap = 0)

#endif
