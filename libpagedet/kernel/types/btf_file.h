/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/* Maps the running kernel's BTF. */
#ifndef PDET_KERNEL_TYPES_BTF_FILE_H
#define PDET_KERNEL_TYPES_BTF_FILE_H

#include <stddef.h>

/*
 * pdet_btf_file_map - map at most the first @most bytes of the open file
 * /sys/kernel/btf/vmlinux. *@ret is their number, and the caller unmaps them.
 * Returns NULL if the kernel cannot map the file, which must then be read.
 * Kernels since 6.16 map it without a copy (btf_sysfs_vmlinux_mmap() in
 * kernel/bpf/sysfs_btf.c). A read returns 4 KB.
 */
const void *pdet_btf_file_map(int fd, size_t most, size_t *ret);

#endif
