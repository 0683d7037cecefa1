/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.h - write a program's initial stack, as the kernel does.
 */
#ifndef CKPT_PROGRAM_H
#define CKPT_PROGRAM_H

#include "ckpt/failure.h"

#include <stddef.h>
#include <stdint.h>

struct ckpt_program {
    const char *const *arguments; /* NULL-terminated */
    char *const *environment;     /* the application's, NULL-terminated */
    uint64_t headers;             /* address of the program headers */
    uint64_t header_count;
    uint64_t entry;
    uint64_t vdso;
};

/* Returns the bytes that ckpt_program_write() needs. Context: any. */
size_t ckpt_program_measure(const struct ckpt_program *program);

/*
 * Writes argc, argv, envp, the auxiliary vector and all their strings below
 * `top`. It copies the given strings, and adapts `environment` for the lower
 * half.
 * stack_p: the stack pointer at the program's entry.
 * Returns 0 or -errno with a reason. Context: quiesced.
 */
int ckpt_program_write(const struct ckpt_program *program, char *top,
                       uint64_t *stack_p, struct ckpt_failure *failure);

#endif
