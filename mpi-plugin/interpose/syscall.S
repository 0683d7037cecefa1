/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * syscall.S - syscall() as in libc, but with the number on the stack, where the
 * handler of the checkpoint signal finds it (libckpt/task/interrupted.c). Calls
 * with sets of signals go first to signal_call.c. After a restart, calls with
 * times go to clock_call.c.
 *
 * long syscall(long number rdi, a1 rsi, a2 rdx, a3 rcx, a4 r8, a5 r9, a6 stack)
 */
        .text
        .globl  syscall
        .type   syscall, @function
syscall:
        .cfi_startproc
        cmpq    $511, %rdi
        ja      1f
        leaq    ckpt_signal_calls(%rip), %r11
        btl     %edi, (%r11)
        jc      ckpt_signal_call
1:      cmpl    $0, ckpt_clock_restart_count(%rip)
        jne     ckpt_clock_call
        .globl  ckpt_syscall_plain
        .hidden ckpt_syscall_plain
        .type   ckpt_syscall_plain, @function
ckpt_syscall_plain:
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        movq    %rdi, %rax
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        movq    %rcx, %rdx
        movq    %r8, %r10
        movq    %r9, %r8
        movq    16(%rsp), %r9
        syscall
        .globl  ckpt_syscall_return
        .hidden ckpt_syscall_return
ckpt_syscall_return:
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        cmpq    $-4095, %rax
        jae     1f
        ret
1:      negq    %rax
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        call    __errno_location@PLT
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        movl    %ecx, (%rax)
        movq    $-1, %rax
        ret
        .cfi_endproc
        .size   syscall, . - syscall
        .size   ckpt_syscall_plain, . - ckpt_syscall_plain
        .hidden ckpt_clock_restart_count
        .hidden ckpt_clock_call
        .hidden ckpt_signal_calls
        .hidden ckpt_signal_call

        .section .note.GNU-stack, "", @progbits
