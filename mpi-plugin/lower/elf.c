/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elf.c - read an ELF program's headers and map it, as the kernel would.
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/elf.h"

#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul

static uint64_t page_down(uint64_t address)
{
    return address & ~(PAGE - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + PAGE - 1);
}

static int is_our_kind(const Elf64_Ehdr *header)
{
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_machine == EM_X86_64 && header->e_type == ET_DYN &&
           header->e_phentsize == sizeof(Elf64_Phdr) &&
           header->e_phnum <= CKPT_ELF_SEGMENTS;
}

int ckpt_elf_open(const char *path, struct ckpt_elf *elf,
                  struct ckpt_failure *failure)
{
    size_t size;
    long result;

    elf->path = path;
    result = ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (result < 0) {
        return ckpt_fail(failure, (int)result, "cannot open %s: error %d", path,
                         (int)-result);
    }
    elf->fd = (int)result;

    result = ckpt_sys_pread(elf->fd, &elf->header, sizeof(elf->header), 0);
    if (result != sizeof(elf->header) || !is_our_kind(&elf->header)) {
        ckpt_elf_close(elf);
        return ckpt_fail(failure, -ENOEXEC,
                         "%s is not a position-independent x86-64 program",
                         path);
    }
    size = elf->header.e_phnum * sizeof(Elf64_Phdr);
    result = ckpt_sys_pread(elf->fd, elf->segment, size,
                            (int64_t)elf->header.e_phoff);
    if (result != (long)size) {
        ckpt_elf_close(elf);
        return ckpt_fail(failure, -ENOEXEC, "%s is truncated", path);
    }
    return 0;
}

void ckpt_elf_close(struct ckpt_elf *elf)
{
    ckpt_sys_close(elf->fd);
    elf->fd = -1;
}

int ckpt_elf_interpreter(const struct ckpt_elf *elf, char *path, size_t size,
                         struct ckpt_failure *failure)
{
    const Elf64_Phdr *segment;
    long result;

    for (int i = 0; i < elf->header.e_phnum; i++) {
        segment = &elf->segment[i];
        if (segment->p_type != PT_INTERP) {
            continue;
        }
        if (segment->p_filesz == 0 || segment->p_filesz > size) {
            break;
        }
        result = ckpt_sys_pread(elf->fd, path, segment->p_filesz,
                                (int64_t)segment->p_offset);
        if (result != (long)segment->p_filesz ||
            path[segment->p_filesz - 1] != '\0') {
            break;
        }
        return 0;
    }
    return ckpt_fail(failure, -ENOEXEC, "%s names no dynamic linker",
                     elf->path);
}

static int protection_of(const Elf64_Phdr *segment)
{
    int protection = PROT_NONE;

    if (segment->p_flags & PF_R) {
        protection |= PROT_READ;
    }
    if (segment->p_flags & PF_W) {
        protection |= PROT_WRITE;
    }
    if (segment->p_flags & PF_X) {
        protection |= PROT_EXEC;
    }
    return protection;
}

/* Returns the page-aligned range from the file's first to its last loadable
 * byte. */
static struct ckpt_range span_of(const struct ckpt_elf *elf)
{
    struct ckpt_range span = {UINT64_MAX, 0};
    const Elf64_Phdr *segment;
    uint64_t end;

    for (int i = 0; i < elf->header.e_phnum; i++) {
        segment = &elf->segment[i];
        if (segment->p_type != PT_LOAD) {
            continue;
        }
        end = page_up(segment->p_vaddr + segment->p_memsz);
        if (page_down(segment->p_vaddr) < span.start) {
            span.start = page_down(segment->p_vaddr);
        }
        if (end > span.end) {
            span.end = end;
        }
    }
    return span;
}

/* Zeroes the rest of the last page that the file fills, and maps zero pages
 * after it. */
static long map_zeros(const Elf64_Phdr *segment, uint64_t bias)
{
    uint64_t file_end = bias + segment->p_vaddr + segment->p_filesz;
    uint64_t memory_end = page_up(bias + segment->p_vaddr + segment->p_memsz);
    uint64_t zeros = page_up(file_end);

    if (segment->p_memsz == segment->p_filesz) {
        return 0;
    }
    memset((void *)file_end, 0, zeros - file_end);
    if (memory_end <= zeros) {
        return 0;
    }
    return ckpt_sys_mmap((void *)zeros, memory_end - zeros,
                         protection_of(segment),
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static long map_segment(const struct ckpt_elf *elf, const Elf64_Phdr *segment,
                        uint64_t bias)
{
    uint64_t start = page_down(segment->p_vaddr);
    uint64_t end = segment->p_vaddr + segment->p_filesz;
    long result;

    result = ckpt_sys_mmap((void *)(bias + start), end - start,
                           protection_of(segment), MAP_PRIVATE | MAP_FIXED,
                           elf->fd, (int64_t)page_down(segment->p_offset));
    if (ckpt_sys_failed(result)) {
        return result;
    }
    return map_zeros(segment, bias);
}

int ckpt_elf_map(const struct ckpt_elf *elf, struct ckpt_range *span_p,
                 uint64_t *bias_p, struct ckpt_failure *failure)
{
    struct ckpt_range span = span_of(elf);
    size_t size = span.end - span.start;
    uint64_t bias;
    long base, result;

    if (span.end <= span.start) {
        return ckpt_fail(failure, -ENOEXEC, "%s has nothing to load",
                         elf->path);
    }
    /* Reserve the whole span first, so that no other mapping gets in
     * between. */
    base = ckpt_sys_mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                         0);
    if (ckpt_sys_failed(base)) {
        return ckpt_fail(failure, (int)base, "no room to map %s: error %d",
                         elf->path, (int)-base);
    }
    bias = (uint64_t)base - span.start;

    CKPT_INVARIANT(bias % PAGE == 0);
    for (int i = 0; i < elf->header.e_phnum; i++) {
        if (elf->segment[i].p_type != PT_LOAD) {
            continue;
        }
        result = map_segment(elf, &elf->segment[i], bias);
        if (ckpt_sys_failed(result)) {
            ckpt_sys_munmap((void *)base, size);
            return ckpt_fail(failure, (int)result, "cannot map %s: error %d",
                             elf->path, (int)-result);
        }
    }
    *span_p = (struct ckpt_range){(uint64_t)base, (uint64_t)base + size};
    *bias_p = bias;
    return 0;
}
