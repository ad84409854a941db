/* SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause */
/*
 * The guest that migration_agent boots unless told otherwise: it gives every
 * page from 2 MiB on its own contents, says so, and then goes on writing into
 * some of them for ever. What guest.c carries is made of this:
 *
 *	gcc -m32 -c guest.S && ld -m elf_i386 --oformat binary -Ttext 0x100000
 */
	.code32
	.text
	.globl _start
start:
	/* Multiboot, with addresses, so that no ELF is needed around it. */
	.long 0x1badb002
	.long 0x00010003
	.long -(0x1badb002 + 0x00010003)
	.long start, start, end, end, _start
_start:
	cli
	movl 8(%ebx), %ebp		/* KiB above 1 MiB */
	shll $10, %ebp
	addl $0x100000, %ebp		/* ebp: the end of memory */
	movl $0x12345678, %eax		/* eax: xorshift32 */

	/* Each page: where it is, then words without a pattern. */
	movl $0x200000, %edi
1:	leal 4096(%edi), %esi
	cmpl %ebp, %esi
	ja 3f
	movl %edi, (%edi)
	movl $0, 4(%edi)
	leal 8(%edi), %ecx
2:	call next
	movl %eax, (%ecx)
	addl $4, %ecx
	cmpl %esi, %ecx
	jb 2b
	movl %esi, %edi
	jmp 1b
3:	movl %edi, %ebp

	/* From here on the agent may look: 0x1000 has what to look for. */
	movl $0x64657470, 0x1000	/* "pted": stamped */
	movl $0x1000000, %edi		/* from 16 MiB on it is written to */
	movl $0, %edx
	jmp 5f

	/* Rounds over a window of pages: each gets the round and a word more. */
4:	movl %edx, 4(%edi)
	call next
	movl %eax, %ecx
	andl $0xff8, %ecx
	orl $8, %ecx
	movl %eax, (%edi, %ecx)
	addl $0x1000, %edi
	cmpl $0x1800000, %edi		/* to 24 MiB */
	jb 4b
	movl $0x1000000, %edi
5:	incl %edx
	movl %edx, 0x1004
	movl $20000, %ecx		/* a breath */
6:	loop 6b
	jmp 4b

next:	movl %eax, %ebx
	shll $13, %ebx
	xorl %ebx, %eax
	movl %eax, %ebx
	shrl $17, %ebx
	xorl %ebx, %eax
	movl %eax, %ebx
	shll $5, %ebx
	xorl %ebx, %eax
	ret
end:
