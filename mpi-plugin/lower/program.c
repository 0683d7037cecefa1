/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.c - write a program's initial stack, as the kernel does.
 *
 *   stack pointer -> argc, argv[], NULL, envp[], NULL, auxv pairs, AT_NULL
 *                    (room), strings and random bytes, top
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/program.h"

#include "base/text.h"
#include "lower/environment.h"
#include "sys/syscall.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define AUXV_ENTRIES 64
#define RANDOM_SIZE  16

static const char platform[] = "x86_64";

/* Addresses in the new stack that the auxiliary vector points to. */
struct pointed {
    uint64_t random;
    uint64_t platform;
    uint64_t file_name;
};

static size_t measure_strings(const struct ckpt_program *program)
{
    size_t count;
    size_t size = ckpt_environment_measure(program->environment, &count);

    for (size_t i = 0; program->arguments[i] != NULL; i++) {
        size += ckpt_text_length(program->arguments[i]) + 1;
    }
    return size + RANDOM_SIZE + sizeof(platform);
}

static size_t measure_words(const struct ckpt_program *program)
{
    size_t count, arguments = 0;

    ckpt_environment_measure(program->environment, &count);
    while (program->arguments[arguments] != NULL) {
        arguments++;
    }
    return (1 + arguments + 1 + count + 1) * sizeof(uint64_t) +
           AUXV_ENTRIES * sizeof(Elf64_auxv_t);
}

size_t ckpt_program_measure(const struct ckpt_program *program)
{
    return measure_strings(program) + measure_words(program) + 16;
}

/* Reads the process's auxiliary vector. Returns the number of entries, or
 * -errno. */
static long read_auxv(Elf64_auxv_t *auxv)
{
    long fd, size;

    fd = ckpt_sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    size = ckpt_sys_read((int)fd, auxv, AUXV_ENTRIES * sizeof(*auxv));
    ckpt_sys_close((int)fd);
    return size < 0 ? size : size / (long)sizeof(*auxv);
}

/* Sets the value that the kernel would have set when starting this program. */
static void adapt(const struct ckpt_program *program,
                  const struct pointed *pointed, Elf64_auxv_t *entry)
{
    uint64_t *value = &entry->a_un.a_val;

    switch (entry->a_type) {
    case AT_PHDR:
        *value = program->headers;
        break;
    case AT_PHNUM:
        *value = program->header_count;
        break;
    case AT_ENTRY:
        *value = program->entry;
        break;
    case AT_BASE:
        *value = 0;
        break; /* the program itself is the linker */
    case AT_SYSINFO_EHDR:
        *value = program->vdso;
        break;
    case AT_RANDOM:
        *value = pointed->random;
        break;
    case AT_PLATFORM:
        *value = pointed->platform;
        break;
    case AT_EXECFN:
        *value = pointed->file_name;
        break;
    default:
        break;
    }
}

static int write_auxv(const struct ckpt_program *program,
                      const struct pointed *pointed, uint64_t *words,
                      struct ckpt_failure *failure)
{
    Elf64_auxv_t *auxv = (Elf64_auxv_t *)words;
    long count = read_auxv(auxv);

    if (count <= 0 || auxv[count - 1].a_type != AT_NULL) {
        return ckpt_fail(failure, -EIO, "cannot read /proc/self/auxv: %d",
                         (int)-count);
    }
    for (long i = 0; i < count; i++) {
        adapt(program, pointed, &auxv[i]);
    }
    return 0;
}

int ckpt_program_write(const struct ckpt_program *program, char *top,
                       uint64_t *stack_p, struct ckpt_failure *failure)
{
    char *text = top - measure_strings(program);
    uint64_t stack = ((uint64_t)text - measure_words(program)) & ~UINT64_C(15);
    uint64_t *words = (uint64_t *)stack;
    uint64_t *word = words + 1;
    struct pointed pointed;
    size_t size, count;
    int status;

    for (size_t i = 0; program->arguments[i] != NULL; i++) {
        size = ckpt_text_length(program->arguments[i]) + 1;
        *word++ = (uint64_t)memcpy(text, program->arguments[i], size);
        text += size;
    }
    words[0] = (uint64_t)(word - words) - 1;
    *word++ = 0;

    pointed.file_name = words[1];
    pointed.platform = (uint64_t)memcpy(text, platform, sizeof(platform));
    text += sizeof(platform);
    pointed.random = (uint64_t)text;
    if (ckpt_syscall3(SYS_getrandom, (long)text, RANDOM_SIZE, 0) !=
        RANDOM_SIZE) {
        return ckpt_fail(failure, -EIO, "the kernel gives no random bytes");
    }
    text += RANDOM_SIZE;

    count = ckpt_environment_write(program->environment, text, word);
    word += count;
    *word++ = 0;

    CKPT_INVARIANT((uint64_t)word + AUXV_ENTRIES * sizeof(Elf64_auxv_t) <=
                   (uint64_t)top - measure_strings(program));
    status = write_auxv(program, &pointed, word, failure);
    CKPT_INVARIANT(stack % 16 == 0 && words[words[0] + 1] == 0);
    *stack_p = stack;
    return status;
}
