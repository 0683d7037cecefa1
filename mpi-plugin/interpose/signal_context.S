/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_context.S - swapcontext() and setcontext() of libc, which set the mask
 * of a context by an internal system call: signal_mask.c changes the mask
 * before.
 *
 * swapcontext() saves its caller's context. So nothing of ours may be on the
 * stack then, and this code jumps to libc instead of calling it.
 *
 * int swapcontext(ucontext_t *from rdi, const ucontext_t *to rsi)
 * int setcontext(const ucontext_t *to rdi)
 */
        .text
        .globl  swapcontext
        .type   swapcontext, @function
swapcontext:
        .cfi_startproc
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    %rsi, %rdi
        call    ckpt_context_to_swap
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   swapcontext, . - swapcontext

        .globl  setcontext
        .type   setcontext, @function
setcontext:
        .cfi_startproc
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        call    ckpt_context_to_set
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   setcontext, . - setcontext
        .hidden ckpt_context_to_swap
        .hidden ckpt_context_to_set

        .section .note.GNU-stack, "", @progbits
