/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vdso.c - redirects the functions of a saved vDSO to this kernel's.
 *
 * A vDSO is a small shared library without relocations. Its dynamic section leads to a symbol
 * table whose values are offsets from the load address.
 */
#include "process/vdso.h"

#include "base/invariant.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

/* An ELF image in memory, with the tables that are needed to look up functions. */
struct image {
    const unsigned char *bytes;
    size_t size;
    uint64_t base; /* virtual address of the first byte */
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *strings;
    size_t strings_size;
};

/* Returns the bytes at [address, address + size), or NULL if the image ends before. */
static const void *at_address(const struct image *image, uint64_t address,
                              uint64_t size)
{
    uint64_t offset = address - image->base;

    if (offset > image->size || size > image->size - offset) {
        return NULL;
    }
    return image->bytes + offset;
}

/* Returns the number of symbols according to the System V hash table: one chain entry each. */
static size_t count_by_hash(const struct image *image, uint64_t address)
{
    const uint32_t *header = at_address(image, address, 8);

    return header == NULL ? 0 : header[1];
}

/* Returns the number of symbols according to the GNU hash table: the end of the last chain. */
static size_t count_by_gnu_hash(const struct image *image, uint64_t address)
{
    const uint32_t *header = at_address(image, address, 16);
    const uint32_t *buckets;
    const uint32_t *link;
    uint64_t chains;
    uint32_t last = 0;

    if (header == NULL) {
        return 0;
    }
    address += 16 + (uint64_t)header[2] * 8;
    buckets = at_address(image, address, (uint64_t)header[0] * 4);
    if (buckets == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < header[0]; i++) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    if (last < header[1]) {
        return header[1];
    }
    chains = address + (uint64_t)header[0] * 4;
    do {
        link = at_address(image, chains + (uint64_t)(last - header[1]) * 4, 4);
        last++;
    } while (link != NULL && (*link & 1u) == 0);
    return link == NULL ? 0 : last;
}

/* Finds the dynamic section and the load address. Returns NULL if the image is not a vDSO. */
static const Elf64_Dyn *find_dynamic(struct image *image, size_t *count_p)
{
    const Elf64_Ehdr *header = at_address(image, 0, sizeof *header);
    const Elf64_Phdr *dynamic = NULL;
    const Elf64_Phdr *segments;

    if (header == NULL || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64) {
        return NULL;
    }
    segments = at_address(image, header->e_phoff,
                          (uint64_t)header->e_phnum * sizeof *segments);
    if (segments == NULL) {
        return NULL;
    }
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0) {
            image->base = segments[i].p_vaddr;
        } else if (segments[i].p_type == PT_DYNAMIC) {
            dynamic = &segments[i];
        }
    }
    if (dynamic == NULL) {
        return NULL;
    }
    *count_p = dynamic->p_memsz / sizeof(Elf64_Dyn);
    return at_address(image, dynamic->p_vaddr, dynamic->p_memsz);
}

static int open_image(struct image *image, const unsigned char *bytes,
                      size_t size)
{
    uint64_t symbols = 0;
    uint64_t strings = 0;
    size_t count = 0;
    const Elf64_Dyn *dynamic;

    *image = (struct image){.bytes = bytes, .size = size};
    dynamic = find_dynamic(image, &count);
    if (dynamic == NULL) {
        return -EINVAL;
    }
    for (size_t i = 0; i < count && dynamic[i].d_tag != DT_NULL; i++) {
        uint64_t value = dynamic[i].d_un.d_val;

        if (dynamic[i].d_tag == DT_SYMTAB) {
            symbols = value;
        } else if (dynamic[i].d_tag == DT_STRTAB) {
            strings = value;
        } else if (dynamic[i].d_tag == DT_STRSZ) {
            image->strings_size = value;
        } else if (dynamic[i].d_tag == DT_HASH) {
            image->symbol_count = count_by_hash(image, value);
        } else if (dynamic[i].d_tag == DT_GNU_HASH &&
                   image->symbol_count == 0) {
            image->symbol_count = count_by_gnu_hash(image, value);
        }
    }
    image->symbols =
        at_address(image, symbols, image->symbol_count * sizeof(Elf64_Sym));
    image->strings = at_address(image, strings, image->strings_size);
    if (image->symbols == NULL || image->strings == NULL ||
        image->symbol_count == 0 || image->strings_size == 0 ||
        image->strings[image->strings_size - 1] != '\0') {
        return -EINVAL;
    }
    return 0;
}

/* Returns the name of a function that the image defines, or NULL for other symbols. */
static const char *function_name(const struct image *image,
                                 const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= image->strings_size) {
        return NULL;
    }
    return image->strings + symbol->st_name;
}

/* Returns the function's offset from the start of the image, or 0 if it does not exist. */
static uint64_t find_function(const struct image *image, const char *wanted)
{
    for (size_t i = 0; i < image->symbol_count; i++) {
        const char *name = function_name(image, &image->symbols[i]);

        if (name != NULL && strcmp(name, wanted) == 0) {
            return image->symbols[i].st_value - image->base;
        }
    }
    return 0;
}

/* Bytes of the longest replacement below. */
#define CODE_SIZE 12

/* movabs $target, %rax; jmp *%rax */
static void write_jump(unsigned char code[CODE_SIZE], uint64_t target)
{
    code[0] = 0x48;
    code[1] = 0xb8;
    memcpy(code + 2, &target, sizeof target);
    code[10] = 0xff;
    code[11] = 0xe0;
}

/* mov $number, %eax; syscall; ret: the arguments are already in the kernel's registers. An
 * invalid number returns -ENOSYS. */
static void write_system_call(unsigned char code[CODE_SIZE], int32_t number)
{
    code[0] = 0xb8;
    memcpy(code + 1, &number, sizeof number);
    code[5] = 0x0f;
    code[6] = 0x05;
    code[7] = 0xc3;
}

/* Returns the system call for a vDSO function, or 0 if none is known. Older headers lack
 * getrandom (318). */
static int32_t system_call_of(const char *name)
{
    static const struct {
        const char *name;
        int32_t number;
    } calls[] = {
        {"clock_gettime", SYS_clock_gettime},
        {"clock_getres", SYS_clock_getres},
        {"gettimeofday", SYS_gettimeofday},
        {"time", SYS_time},
        {"getcpu", SYS_getcpu},
        {"getrandom", 318},
        {"sgx_enter_enclave", -1}, /* a process with an enclave is refused anyway, because of
                                      its memory */
    };

    if (strncmp(name, "__vdso_", 7) == 0) {
        name += 7;
    }
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strcmp(name, calls[i].name) == 0) {
            return calls[i].number;
        }
    }
    return 0;
}

static int redirect(unsigned char *saved, const struct image *image,
                    const Elf64_Sym *symbol, const struct image *kernel,
                    uint64_t kernel_address, struct ckpt_failure *failure)
{
    const char *name = function_name(image, symbol);
    uint64_t offset = symbol->st_value - image->base;
    uint64_t target;
    int32_t number;

    if (name == NULL) {
        return 0;
    }
    if (symbol->st_size < CODE_SIZE ||
        at_address(image, symbol->st_value, symbol->st_size) == NULL) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -ENOTSUP,
                           "function %s of the saved vDSO cannot be redirected",
                           name);
    }
    target = find_function(kernel, name);
    if (target != 0) {
        CKPT_INVARIANT(offset + CODE_SIZE <= image->size);
        write_jump(saved + offset, kernel_address + target);
        return 0;
    }
    number = system_call_of(name);
    if (number == 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -ENOTSUP,
                           "this kernel's vDSO lacks the function %s, which the "
                           "program may use",
                           name);
    }
    write_system_call(saved + offset, number);
    return 0;
}

int ckpt_vdso_redirect(unsigned char *saved, size_t saved_size,
                       const unsigned char *kernel, size_t kernel_size,
                       uint64_t kernel_address, struct ckpt_failure *failure)
{
    struct image kernel_image;
    struct image image;

    if (open_image(&image, saved, saved_size) != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_CHECKPOINT, -EINVAL,
                           "the saved vDSO is damaged");
    }
    if (open_image(&kernel_image, kernel, kernel_size) != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, -EINVAL,
                           "this kernel's vDSO is not understood");
    }
    for (size_t i = 0; i < image.symbol_count; i++) {
        int error = redirect(saved, &image, &image.symbols[i], &kernel_image,
                             kernel_address, failure);

        if (error != 0) {
            return error;
        }
    }
    return 0;
}

/* Returns the target of a jump by write_jump(), or 0 for other code. */
static uint64_t jump_target(const unsigned char code[CODE_SIZE])
{
    unsigned char same[CODE_SIZE];
    uint64_t target;

    memcpy(&target, code + 2, sizeof target);
    write_jump(same, target);
    return memcmp(code, same, CODE_SIZE) == 0 ? target : 0;
}

static int is_system_call(const unsigned char code[CODE_SIZE])
{
    unsigned char same[CODE_SIZE];
    int32_t number;

    memcpy(&number, code + 1, sizeof number);
    memcpy(same, code, CODE_SIZE);
    write_system_call(same, number);
    return memcmp(code, same, CODE_SIZE) == 0;
}

int ckpt_vdso_divert(unsigned char *saved, size_t size, const char *name,
                     uint64_t target, uint64_t *before_p)
{
    struct image image;
    uint64_t offset;

    if (open_image(&image, saved, size) != 0) {
        return -EINVAL;
    }
    offset = find_function(&image, name);
    if (offset == 0) {
        return -ENOENT;
    }
    if (at_address(&image, image.base + offset, CODE_SIZE) == NULL) {
        return -EINVAL;
    }
    *before_p = jump_target(saved + offset);
    if (*before_p == 0 && !is_system_call(saved + offset)) {
        return -EINVAL;
    }
    write_jump(saved + offset, target);
    return 0;
}
