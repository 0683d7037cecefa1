/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * enter.S - entry from the stubs of diverted system calls (journal/sites.c).
 *
 * On entry %r11 is the address of the site. The arguments are in the registers of the system
 * call. %rax, %rcx, %r11 and the flags are free, since the kernel would change them. All other
 * registers, vector registers too, stay unchanged: ckpt_journal_fast() uses general registers
 * only, and this code saves the vector registers around ckpt_journal_slow().
 *
 * The stack holds struct ckpt_journal_call: generation, is_done, site, r9, r8, r10, rdx, rsi,
 * rdi. If the journal has made the call, the first field is its result, and the program
 * continues after the `syscall` instruction, which has two bytes.
 */
        .macro  restore_arguments       /* also skips the red zone */
        popq    %r9
        popq    %r8
        popq    %r10
        popq    %rdx
        popq    %rsi
        popq    %rdi
        leaq    128(%rsp), %rsp
        .endm

        .text
        .globl  ckpt_journal_enter
        .hidden ckpt_journal_enter
        .type   ckpt_journal_enter, @function
ckpt_journal_enter:
        leaq    -128(%rsp), %rsp        /* skip the red zone of the function in libc */
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %r10
        pushq   %r8
        pushq   %r9
        pushq   %r11
        pushq   $0
        pushq   ckpt_journal_generation(%rip)
        pushq   %rbx
        movq    %rsp, %rbx
        leaq    8(%rbx), %rdi
        andq    $-16, %rsp
        call    ckpt_journal_fast
        testl   %eax, %eax
        jne     .Lslow
.Ldone:
        movq    %rbx, %rsp
        popq    %rbx
        popq    %rcx                    /* the generation at the start of the call */
        popq    %r11                    /* is_done: 0 */
        popq    %r11
        restore_arguments

        /* From here on a signal handler may restart the context at ckpt_journal_enter. */
        .globl  ckpt_journal_tail
        .hidden ckpt_journal_tail
ckpt_journal_tail:
        cmpq    ckpt_journal_generation(%rip), %rcx
        jne     ckpt_journal_enter
        movq    (%r11), %rax
        jmp     *8(%r11)
        .globl  ckpt_journal_tail_end
        .hidden ckpt_journal_tail_end
ckpt_journal_tail_end:

.Lslow:
        subq    ckpt_journal_vector_size(%rip), %rsp
        andq    $-64, %rsp
        xorl    %eax, %eax              /* zero the header of XSAVE, 64 bytes at offset 512 */
        movq    %rax, 512(%rsp)
        movq    %rax, 520(%rsp)
        movq    %rax, 528(%rsp)
        movq    %rax, 536(%rsp)
        movq    %rax, 544(%rsp)
        movq    %rax, 552(%rsp)
        movq    %rax, 560(%rsp)
        movq    %rax, 568(%rsp)
        movl    ckpt_journal_vector_mask(%rip), %eax
        xorl    %edx, %edx
        xsave64 (%rsp)
        leaq    8(%rbx), %rdi
        call    ckpt_journal_slow
        movl    ckpt_journal_vector_mask(%rip), %eax
        xorl    %edx, %edx
        xrstor64 (%rsp)
        cmpq    $0, 16(%rbx)
        je      .Ldone
        movq    %rbx, %rsp
        popq    %rbx
        popq    %rax                    /* the result */
        popq    %r11
        popq    %r11
        restore_arguments
        movq    8(%r11), %rcx
        addq    $2, %rcx
        jmp     *%rcx
        .size   ckpt_journal_enter, . - ckpt_journal_enter

        .section .note.GNU-stack, "", @progbits
