/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf.h - read an ELF program's headers and map it, as the kernel would.
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
    const char *path; /* owned by the caller */
    Elf64_Ehdr header;
    Elf64_Phdr segment[CKPT_ELF_SEGMENTS];
};

/*
 * Opens a position-independent program for this machine type and reads its
 * headers. Returns 0, or -errno with the path and the reason in `failure`.
 * Context: quiesced.
 */
int ckpt_elf_open(const char *path, struct ckpt_elf *elf,
                  struct ckpt_failure *failure);

/* Closes the file; mappings stay. Context: quiesced. */
void ckpt_elf_close(struct ckpt_elf *elf);

/*
 * Writes the path of the dynamic linker that the program requests.
 * Returns 0, or -errno with a reason (a static program has no dynamic linker).
 * Context: quiesced.
 */
int ckpt_elf_interpreter(const struct ckpt_elf *elf, char *path, size_t size,
                         struct ckpt_failure *failure);

/*
 * Maps all loadable segments at an address that the kernel chooses. span_p:
 * receives their memory range. bias_p: receives the value to add to addresses
 * in the file. Returns 0, or -errno with a reason and nothing mapped. Context:
 * quiesced.
 */
int ckpt_elf_map(const struct ckpt_elf *elf, struct ckpt_range *span_p,
                 uint64_t *bias_p, struct ckpt_failure *failure);

#endif
