/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * What is compiled twice, for any processor and for one with AVX2 or AVX-512,
 * and chosen when it is called: no resolver of symbols is needed, which static
 * programs and other C libraries may lack.
 */
#ifndef PDET_BASE_WIDE_H
#define PDET_BASE_WIDE_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PDET_WITH_AVX2 1
#else
#define PDET_WITH_AVX2 0
#endif

/* With what Ice Lake and Zen 4 have of it; older compilers do not know that. */
#if PDET_WITH_AVX2 && (defined(__clang__) || __GNUC__ >= 9)
#define PDET_WITH_AVX512 1
#else
#define PDET_WITH_AVX512 0
#endif

static inline bool pdet_has_avx2(void)
{
#if PDET_WITH_AVX2
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

static inline bool pdet_has_avx512(void)
{
#if PDET_WITH_AVX512
	return __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vbmi") &&
	       __builtin_cpu_supports("avx512vbmi2") &&
	       __builtin_cpu_supports("avx512bitalg") &&
	       __builtin_cpu_supports("gfni") &&
	       __builtin_cpu_supports("popcnt");
#else
	return false;
#endif
}

#endif
