/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is compiled twice, for any processor and for one with AVX2, and chosen
 * when it is called: no resolver of symbols is needed, which static programs
 * and other C libraries may lack.
 */
#ifndef PDET_BASE_WIDE_H
#define PDET_BASE_WIDE_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PDET_WITH_AVX2 1
#else
#define PDET_WITH_AVX2 0
#endif

static inline bool pdet_has_avx2(void)
{
#if PDET_WITH_AVX2
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

#endif
