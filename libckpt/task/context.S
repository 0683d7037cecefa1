/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context.S - saves registers, restores them, and passes them to a new thread.
 *
 * Offsets are those of struct ckpt_context (threads.h).
 */
#include <sys/syscall.h>

        .text

/* int ckpt_context_capture(struct ckpt_context *rdi) */
        .globl  ckpt_context_capture
        .hidden ckpt_context_capture
        .type   ckpt_context_capture, @function
ckpt_context_capture:
        movq    %rbx, 0(%rdi)
        movq    %rbp, 8(%rdi)
        movq    %r12, 16(%rdi)
        movq    %r13, 24(%rdi)
        movq    %r14, 32(%rdi)
        movq    %r15, 40(%rdi)
        leaq    8(%rsp), %rax           /* its value after the return */
        movq    %rax, 48(%rdi)
        movq    (%rsp), %rax
        movq    %rax, 56(%rdi)
        stmxcsr 64(%rdi)
        fnstcw  68(%rdi)
        xorl    %eax, %eax
        ret
        .size   ckpt_context_capture, . - ckpt_context_capture

/*
 * void ckpt_context_call(void (*rdi)(void *), void *rsi, void *stack_top rdx)
 * Calls the function with rsi, on a stack that ends at rdx (16-byte aligned).
 */
        .globl  ckpt_context_call
        .hidden ckpt_context_call
        .type   ckpt_context_call, @function
ckpt_context_call:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        movq    %rdx, %rsp
        movq    %rdi, %rax
        movq    %rsi, %rdi
        call    *%rax
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   ckpt_context_call, . - ckpt_context_call

/* void ckpt_context_resume(const struct ckpt_context *rdi) */
        .globl  ckpt_context_resume
        .hidden ckpt_context_resume
        .type   ckpt_context_resume, @function
ckpt_context_resume:
        movq    0(%rdi), %rbx
        movq    8(%rdi), %rbp
        movq    16(%rdi), %r12
        movq    24(%rdi), %r13
        movq    32(%rdi), %r14
        movq    40(%rdi), %r15
        movq    48(%rdi), %rsp
        ldmxcsr 64(%rdi)
        fldcw   68(%rdi)
        movl    $1, %eax
        jmp     *56(%rdi)
        .size   ckpt_context_resume, . - ckpt_context_resume

/*
 * long ckpt_context_clone(unsigned long flags rdi, void *stack_top rsi,
 *                         void *child_tid rdx, void *thread_pointer rcx,
 *                         void (*entry)(const void *) r8, const void *arg r9)
 * The new thread calls entry(arg), which does not return; stack_top is 16-byte aligned. Returns
 * the result of clone() in the calling thread.
 */
        .globl  ckpt_context_clone
        .hidden ckpt_context_clone
        .type   ckpt_context_clone, @function
ckpt_context_clone:
        subq    $16, %rsi
        movq    %r8, 0(%rsi)
        movq    %r9, 8(%rsi)
        movq    %rdx, %r10
        movq    %rcx, %r8
        xorl    %edx, %edx
        movl    $SYS_clone, %eax
        syscall
        testq   %rax, %rax
        jz      1f
        ret
1:      xorl    %ebp, %ebp
        popq    %rax
        popq    %rdi
        call    *%rax
        ud2
        .size   ckpt_context_clone, . - ckpt_context_clone

/*
 * void ckpt_context_sigreturn(void *ucontext rdi): returns from the signal frame that contains
 * the ucontext to the interrupted code. Does not return.
 */
        .globl  ckpt_context_sigreturn
        .hidden ckpt_context_sigreturn
        .type   ckpt_context_sigreturn, @function
ckpt_context_sigreturn:
        movq    %rdi, %rsp
        .size   ckpt_context_sigreturn, . - ckpt_context_sigreturn
/* falls into */

/*
 * The sa_restorer of our handlers. Debuggers and unwinders recognise a signal frame by exactly
 * these two instructions, and by the lack of unwind information.
 */
        .globl  ckpt_context_restorer
        .hidden ckpt_context_restorer
        .type   ckpt_context_restorer, @function
ckpt_context_restorer:
        movq    $SYS_rt_sigreturn, %rax
        syscall
        ud2
        .size   ckpt_context_restorer, . - ckpt_context_restorer

/*
 * The return address of an application's handler that has ended a system call. The checkpoint
 * signal is blocked until here (ckpt_interrupted_defer). The stack holds the address at which
 * the program continues, and above it the red zone of its code. All registers and the flags
 * must stay unchanged.
 */
        .globl  ckpt_context_open_signal
        .hidden ckpt_context_open_signal
        .type   ckpt_context_open_signal, @function
ckpt_context_open_signal:
        .cfi_startproc
        .cfi_def_cfa rsp, 8 + 128
        .cfi_offset rip, -8 - 128
        pushfq
        pushq   %rax
        pushq   %rcx
        pushq   %rdx
        pushq   %rsi
        pushq   %rdi
        pushq   %r10
        pushq   %r11
        .cfi_adjust_cfa_offset 64
        movl    $SYS_rt_sigprocmask, %eax
        movl    $1, %edi                /* SIG_UNBLOCK */
        leaq    ckpt_signals_ours(%rip), %rsi
        xorl    %edx, %edx
        movl    $8, %r10d
        syscall
        popq    %r11
        popq    %r10
        popq    %rdi
        popq    %rsi
        popq    %rdx
        popq    %rcx
        popq    %rax
        popfq
        .cfi_adjust_cfa_offset -64
        ret     $128
        .cfi_endproc
        .size   ckpt_context_open_signal, . - ckpt_context_open_signal
        .hidden ckpt_signals_ours

        .section .note.GNU-stack, "", @progbits
