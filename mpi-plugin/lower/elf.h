/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf.h - reads an ELF program's headers and maps it, as the kernel would.
 */
#ifndef CKPT_ELF_H
#define CKPT_ELF_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <elf.h>
#include <stddef.h>

#define CKPT_ELF_SEGMENTS 32

struct ckpt_elf {
    int fd;
    const char *path; /* the caller's */
    Elf64_Ehdr header;
    Elf64_Phdr segment[CKPT_ELF_SEGMENTS];
};

/*
 * Opens a position-independent program for this kind of machine and reads its
 * headers. Returns 0, or -errno with the path and the reason in `failure`.
 * Context: quiesced.
 */
int ckpt_elf_open(const char *path, struct ckpt_elf *elf,
                  struct ckpt_failure *failure);

/* Closes the file; what is mapped stays. Context: quiesced. */
void ckpt_elf_close(struct ckpt_elf *elf);

/*
 * The path of the dynamic linker that the program asks for.
 * Returns 0, or -errno with a reason (a static program has none).
 * Context: quiesced.
 */
int ckpt_elf_interpreter(const struct ckpt_elf *elf, char *path, size_t size,
                         struct ckpt_failure *failure);

/*
 * Maps all loadable segments at an address of the kernel's choice.
 * span_p: the memory they take. bias_p: what to add to addresses in the file.
 * Returns 0, or -errno with a reason and nothing mapped. Context: quiesced.
 */
int ckpt_elf_map(const struct ckpt_elf *elf, struct ckpt_range *span_p,
                 uint64_t *bias_p, struct ckpt_failure *failure);

#endif
