/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * Support for functions that are compiled twice: for any processor, and for
 * AVX2 or AVX-512. The choice is made at run time. It needs no ifunc resolver,
 * which static programs and other C libraries may lack.
 */
#ifndef PDET_BASE_WIDE_H
#define PDET_BASE_WIDE_H

#include <stdbool.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define PDET_WITH_AVX2 1
#else
#define PDET_WITH_AVX2 0
#endif

/*
 * The AVX-512 subset that Ice Lake and Zen 4 share. Older compilers do not know
 * all of it.
 */
#if PDET_WITH_AVX2 && (defined(__clang__) || __GNUC__ >= 9)
#define PDET_WITH_AVX512 1
#else
#define PDET_WITH_AVX512 0
#endif

/* Use the C library's record of the processor. The compiler's builtin runs
 * CPUID again in each program, which is slow in a virtual machine. */
#if PDET_WITH_AVX2 && defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif
#ifdef CPU_FEATURE_ACTIVE
#define PDET_CPU_HAS(name, compilers) CPU_FEATURE_ACTIVE(name)
#else
#define PDET_CPU_HAS(name, compilers) __builtin_cpu_supports(compilers)
#endif

static inline bool pdet_has_avx2(void)
{
#if PDET_WITH_AVX2
	return PDET_CPU_HAS(AVX2, "avx2");
#else
	return false;
#endif
}

static inline bool pdet_has_avx512(void)
{
#if PDET_WITH_AVX512
	return PDET_CPU_HAS(AVX512BW, "avx512bw") &&
	       PDET_CPU_HAS(AVX512_VBMI, "avx512vbmi") &&
	       PDET_CPU_HAS(AVX512_VBMI2, "avx512vbmi2") &&
	       PDET_CPU_HAS(AVX512_BITALG, "avx512bitalg") &&
	       PDET_CPU_HAS(GFNI, "gfni") &&
	       PDET_CPU_HAS(POPCNT, "popcnt");
#else
	return false;
#endif
}

#endif
