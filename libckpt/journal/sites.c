/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.c - diverts the system calls of libc to the journal.
 */
#include "journal/sites.h"

#include "base/invariant.h"
#include "base/text.h"
#include "journal/call.h"
#include "sys/cpu.h"
#include "sys/syscall.h"
#include "process/diverted.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define MOVE_SIZE     5u  /* mov: b8 and 32 bits; jmp: e9 and 32 bits */
#define CALL_SIZE     2u  /* syscall: 0f 05 */
#define BETWEEN_SIZE  16u /* maximum bytes between these two instructions */
#define STUB_SIZE     48u
#define SITE_CAPACITY 256u
#define PAGE_SIZE     4096ul
#define STEP          (1ul << 20)
#define REACH         (1ul << 30) /* range of a jump, with a margin */
#define VECTOR_STATES 0xe7u       /* x87, SSE, AVX, AVX-512: the state that C code may use */
#define OSXSAVE       (1u << 27)
_Static_assert(BETWEEN_SIZE + 24 <= STUB_SIZE, "a stub has room for its instructions");

/* enter.S */
extern const unsigned char ckpt_journal_tail[], ckpt_journal_tail_end[];
void ckpt_journal_enter(void);

uint64_t ckpt_journal_generation;
uint64_t ckpt_journal_vector_size; /* bytes of the XSAVE area, with its alignment */
uint32_t ckpt_journal_vector_mask;

static struct {
    struct ckpt_journal_site site[SITE_CAPACITY];
    size_t count;
    unsigned char *stubs;           /* [SITE_CAPACITY * STUB_SIZE], near libc */
    uintptr_t text_start, text_end; /* of libc */
} sites;

static int measure_vectors(struct ckpt_failure *failure)
{
    uint32_t eax, ebx, ecx, edx, low, high;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & OSXSAVE) == 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CPU, -ENOTSUP,
                           "the processor has no XSAVE");
    }
    __asm__ volatile("xgetbv"
                     : "=a"(low), "=d"(high)
                     : "c"(0));
    ckpt_journal_vector_mask = low & VECTOR_STATES;
    __cpuid_count(0xd, 0, eax, ebx, ecx, edx);
    ckpt_journal_vector_size = ((uint64_t)ebx + 127) & ~UINT64_C(63);
    return 0;
}

static int find_segment(struct dl_phdr_info *info, size_t size, void *argument)
{
    const uintptr_t inside = (uintptr_t)argument;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_LOAD && (header->p_flags & PF_X) != 0 &&
            inside >= start && inside < start + header->p_memsz) {
            sites.text_start = start;
            sites.text_end = start + header->p_memsz;
            return 1;
        }
    }
    return 0;
}

/* Finds the code of this half's libc, to which this code is linked. */
int ckpt_journal_sites_find(struct ckpt_failure *failure)
{
    if (sites.text_start != 0) {
        return 0;
    }
    if (dl_iterate_phdr(find_segment, (void *)(uintptr_t)gnu_get_libc_version) ==
        0) {
        return ckpt_fail(failure, -ENOENT, "the code of libc was not found");
    }
    return 0;
}

/* Returns the bytes of an operand with a ModRM byte; 0 if the operand depends on the address of
 * the code. Intel SDM, volume 2, section 2.1. */
static size_t operand_size(const unsigned char *modrm)
{
    static const size_t displacement[] = {0, 1, 4, 0};
    const unsigned mode = modrm[0] >> 6, base = modrm[0] & 7;

    if (mode == 3) {
        return 1;
    }
    if (mode == 0 && (base == 5 || (base == 4 && (modrm[1] & 7) == 5))) {
        return 0;
    }
    return 1 + (base == 4) + displacement[mode];
}

/* Returns the bytes of the instruction at `code` if it moves an argument of a system call into
 * its register; 0 for another instruction, or if it changes %eax. */
static size_t argument_size(const unsigned char *code)
{
    const size_t prefix = (code[0] & 0xf0) == 0x40;
    const unsigned rex = prefix != 0 ? code[0] : 0x40;
    const unsigned char *operation = code + prefix;
    const unsigned mode = operation[1] >> 6, reg = operation[1] >> 3 & 7,
                   base = operation[1] & 7;
    size_t size;

    if ((operation[0] & 0xf8) == 0xb8) { /* mov $IMMEDIATE, REGISTER */
        return (rex & 8) != 0 || ((operation[0] & 7) == 0 && (rex & 1) == 0)
                   ? 0
                   : prefix + 5;
    }
    size = operand_size(operation + 1);
    if (size == 0) {
        return 0;
    }
    if (operation[0] == 0x89 || operation[0] == 0x31) { /* mov, xor between registers */
        return mode == 3 && !(base == 0 && (rex & 1) == 0) ? prefix + 1 + size : 0;
    }
    if (operation[0] == 0x8b || operation[0] == 0x8d) { /* mov, lea into a register */
        return !(reg == 0 && (rex & 4) == 0) ? prefix + 1 + size : 0;
    }
    return 0;
}

/* Returns 1 if the journal wants the call whose number the instruction at `code` loads. Fills
 * in the site. */
static int find_site(const unsigned char *code, const unsigned char *end,
                     struct ckpt_journal_site *site)
{
    const unsigned char *next = code + MOVE_SIZE;
    int32_t number;

    if (code[0] != 0xb8 || code[3] != 0 || code[4] != 0) {
        return 0;
    }
    memcpy(&number, code + 1, sizeof(number));
    if (!ckpt_journal_wants(number)) {
        return 0;
    }
    while (next + CALL_SIZE <= end && !(next[0] == 0x0f && next[1] == 0x05)) {
        const size_t size = argument_size(next);

        next += size;
        if (size == 0 || next > code + MOVE_SIZE + BETWEEN_SIZE) {
            return 0;
        }
    }
    if (next + CALL_SIZE > end) {
        return 0;
    }
    *site = (struct ckpt_journal_site){.number = (uint64_t)number,
                                       .back = (uint64_t)(uintptr_t)next,
                                       .start = (uint64_t)(uintptr_t)code};
    return 1;
}

static int find_sites(struct ckpt_failure *failure)
{
    const unsigned char *code = (const unsigned char *)sites.text_start;
    const unsigned char *end = (const unsigned char *)sites.text_end;
    uint64_t found[8] = {0}; /* bit i: call i was found */
    struct ckpt_journal_site site;

    for (; code + MOVE_SIZE + CALL_SIZE <= end; code++) {
        if (!find_site(code, end, &site)) {
            continue;
        }
        if (sites.count == SITE_CAPACITY) {
            return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -E2BIG,
                               "libc has too many system calls");
        }
        CKPT_INVARIANT(site.number / 64 < sizeof(found) / sizeof(found[0]));
        found[site.number / 64] |= UINT64_C(1) << site.number % 64;
        sites.site[sites.count++] = site;
    }
    for (long number = 0; number < 512; number++) {
        if (ckpt_journal_needs(number) &&
            (found[number / 64] >> number % 64 & 1) == 0) {
            return ckpt_refuse(failure, CKPT_REFUSAL_UNSUITABLE_PROGRAM, -ENOTSUP,
                               "system call %l was not found in this libc (%s)",
                               number, gnu_get_libc_version());
        }
    }
    return 0;
}

/* Maps memory within the range of a jump from libc. Returns 0 or -errno with the reason. */
static int map_stubs(struct ckpt_failure *failure)
{
    const size_t size = SITE_CAPACITY * STUB_SIZE;
    const uintptr_t libc = sites.text_start & ~(STEP - 1);

    for (uintptr_t off = STEP; off < REACH; off += STEP) {
        for (int side = 0; side < 2; side++) {
            const uintptr_t hint = side == 0 ? libc - off : libc + off;
            const long at = ckpt_sys_mmap(
                (void *)hint, size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

            if (at == (long)hint) {
                sites.stubs = (unsigned char *)at;
                return 0;
            }
            if (!ckpt_sys_failed(at)) {
                ckpt_sys_munmap((void *)at, size);
            }
        }
    }
    return ckpt_fail(failure, -ENOMEM, "no memory is free near libc");
}

/* Returns the bytes of libc between the load of the number and the `syscall`. */
static size_t between_size(const struct ckpt_journal_site *site)
{
    return site->back - site->start - MOVE_SIZE;
}

/* Writes the stub: the instructions between; movabs $SITE, %r11; jmp *0(%rip); the address of
 * ckpt_journal_enter. */
static void write_stub(unsigned char *stub, struct ckpt_journal_site *site)
{
    static const unsigned char load[] = {0x49, 0xbb}, jump[] = {0xff, 0x25};
    const uint64_t enter = (uint64_t)(uintptr_t)ckpt_journal_enter;
    const uint64_t address = (uint64_t)(uintptr_t)site;

    CKPT_INVARIANT(between_size(site) <= BETWEEN_SIZE);
    memcpy(stub, (const void *)(uintptr_t)(site->start + MOVE_SIZE),
           between_size(site));
    stub += between_size(site);
    site->again = (uint64_t)(uintptr_t)stub;
    memcpy(stub, load, 2);
    memcpy(stub + 2, &address, 8);
    memcpy(stub + 10, jump, 2);
    memset(stub + 12, 0, 4);
    memcpy(stub + 16, &enter, 8);
}

static void write_jump(const struct ckpt_journal_site *site,
                       const unsigned char *stub)
{
    unsigned char *at = (unsigned char *)(uintptr_t)site->start;
    const int32_t distance = (int32_t)(stub - (at + MOVE_SIZE));

    CKPT_INVARIANT(distance == stub - (at + MOVE_SIZE)); /* within the reach of a jump */
    memcpy(at + 1, &distance, sizeof(distance));
    at[0] = 0xe9;
}

static int divert(struct ckpt_failure *failure)
{
    void *start = (void *)(sites.text_start & ~(PAGE_SIZE - 1));
    const size_t size = ((sites.text_end + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1)) -
                        (uintptr_t)start;
    long error;

    for (size_t i = 0; i < sites.count; i++) {
        write_stub(sites.stubs + i * STUB_SIZE, &sites.site[i]);
    }
    error = ckpt_sys_mprotect(sites.stubs, SITE_CAPACITY * STUB_SIZE,
                              PROT_READ | PROT_EXEC);
    if (error == 0) {
        error = ckpt_sys_mprotect(start, size,
                                  PROT_READ | PROT_WRITE | PROT_EXEC);
    }
    if (error != 0) {
        return ckpt_fail(failure, (int)error,
                         "the code of libc cannot be changed (error %l)", -error);
    }
    for (size_t i = 0; i < sites.count; i++) {
        write_jump(&sites.site[i], sites.stubs + i * STUB_SIZE);
    }
    error = ckpt_sys_mprotect(start, size, PROT_READ | PROT_EXEC);
    return error == 0 ? 0
                      : ckpt_fail(failure, (int)error,
                                  "the code of libc cannot be protected again");
}

static const struct ckpt_journal_site *site_of(uintptr_t address)
{
    if (address < sites.text_start || address >= sites.text_end) {
        return NULL;
    }
    for (size_t i = 0; i < sites.count; i++) {
        if (sites.site[i].back == address) {
            return &sites.site[i];
        }
    }
    return NULL;
}

static long number_at(const void *address)
{
    const struct ckpt_journal_site *site = site_of((uintptr_t)address);

    return site == NULL ? -1 : (long)site->number;
}

static void rewind_call(ucontext_t *context)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const uintptr_t at = (uintptr_t)registers[REG_RIP];

    if (at >= (uintptr_t)ckpt_journal_tail &&
        at < (uintptr_t)ckpt_journal_tail_end) {
        registers[REG_RIP] = (greg_t)(uintptr_t)ckpt_journal_enter;
    } else if (site_of(at) != NULL) {
        registers[REG_RIP] = (greg_t)site_of(at)->again;
    }
}

int ckpt_journal_sites_open(struct ckpt_failure *failure)
{
    static int opened;
    static int result;

    if (opened) {
        return result;
    }
    opened = 1;
    result = measure_vectors(failure);
    if (result == 0 && sites.text_start == 0) {
        result = ckpt_fail(failure, -ENOENT, "the code of libc was not found");
    }
    if (result == 0) {
        result = find_sites(failure);
    }
    if (result == 0) {
        result = map_stubs(failure);
    }
    if (result == 0) {
        ckpt_diverted_by(number_at, rewind_call);
        result = divert(failure);
    }
    return result;
}
