/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * enter.S - switch to another stack and come back (see enter.h).
 *
 * The old stack keeps the registers that a callee must preserve for its caller.
 */
    .text
    .globl ckpt_stack_enter
    .hidden ckpt_stack_enter
    .type ckpt_stack_enter, @function
ckpt_stack_enter:               /* rdi entry, rsi stack, rdx saved_p */
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdx)
    movq %rsi, %rsp
    xorl %edx, %edx             /* no function to register with atexit */
    xorl %ebp, %ebp             /* outermost frame */
    jmp *%rdi
    .size ckpt_stack_enter, . - ckpt_stack_enter

    .globl ckpt_stack_leave
    .hidden ckpt_stack_leave
    .type ckpt_stack_leave, @function
ckpt_stack_leave:               /* rdi saved */
    movq %rdi, %rsp
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size ckpt_stack_leave, . - ckpt_stack_leave

    .section .note.GNU-stack, "", @progbits
