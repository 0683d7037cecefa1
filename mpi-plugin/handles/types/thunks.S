/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thunks.S - entry points for user-defined operations.
 *
 * The lower half calls an operation with four arguments and no user data. So
 * each operation of the application gets its own entry point, which adds its
 * number as the fifth argument (r8d) and jumps to ckpt_op_call.
 */
        .text
        .globl  ckpt_op_thunks
        .hidden ckpt_op_thunks
        .type   ckpt_op_thunks, @function
        .balign 16
ckpt_op_thunks:
        .set    number, 0
        .rept   1024                    /* CKPT_OP_THUNKS in op.c */
        .balign 16
        movl    $number, %r8d
        jmp     ckpt_op_call
        .set    number, number + 1
        .endr
        .size   ckpt_op_thunks, . - ckpt_op_thunks
        .section .note.GNU-stack, "", @progbits
