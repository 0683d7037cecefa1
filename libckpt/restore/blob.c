/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blob.c - the last code of the restart program: removes that program from
 * memory and turns the process into the saved one.
 *
 * It is compiled with its own flags and linked to a flat binary. It runs in a
 * hole of the address space, on its own stack. Context: freestanding.
 */
#include "restore/blob_args.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include "memory/lazy_pages.h"

#include <asm/ioctl.h>
#include <asm/prctl.h>
#include <linux/userfaultfd.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define BLOB_EXIT_STATUS 127
#define PAGE             4096u

static void write_text(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0') {
        length++;
    }
    ckpt_sys_write(2, text, length);
}

static void write_number(unsigned long value, unsigned int base)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;

    *at = '\0';
    do {
        *--at = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    write_text(at);
}

static void report(const char *what, uint64_t address, long result)
{
    write_text("ckpt-restart: ");
    write_text(what);
    write_text(" at 0x");
    write_number(address, 16);
    write_text(": error ");
    write_number((unsigned long)-result, 10);
    write_text("\n");
}

/* Ends the process, since the restart program no longer exists. */
static void __attribute__((noreturn)) fail(const char *what, uint64_t address,
                                           long result)
{
    report(what, address, result);
    ckpt_sys_exit_group(BLOB_EXIT_STATUS);
}

int ckpt_invariant_failed(const char *file, int line, const char *condition)
{
    write_text("ckpt-restart: internal error: ");
    write_text(file);
    write_text(":");
    write_number((unsigned long)line, 10);
    write_text(": ");
    write_text(condition);
    write_text("\n");
    ckpt_sys_exit_group(BLOB_EXIT_STATUS);
}

static void unmap(uint64_t start, uint64_t end)
{
    long result;

    if (start >= end) {
        return;
    }
    result = ckpt_sys_munmap((void *)start, end - start);
    if (result < 0) {
        fail("cannot remove the restart program's memory", start, result);
    }
}

static void remove_old_program(const struct ckpt_blob_args *args)
{
    uint64_t next = 0;

    CKPT_INVARIANT(args->kept_count > 0); /* this code is in one of them */
    for (uint64_t i = 0; i < args->kept_count; i++) {
        CKPT_INVARIANT(args->kept[i].start >= next && args->kept[i].start < args->kept[i].end);
        unmap(next, args->kept[i].start);
        next = args->kept[i].end;
        CKPT_INVARIANT(next <= args->address_limit);
    }
    unmap(next, args->address_limit);
}

static void move_memory(const struct ckpt_blob_move *move)
{
    long result;

    CKPT_INVARIANT(move->from % PAGE == 0 && move->to % PAGE == 0 && move->size % PAGE == 0);
    result = ckpt_sys_mremap((void *)move->from, move->size, move->size,
                             MREMAP_MAYMOVE | MREMAP_FIXED, (void *)move->to);
    if (result != (long)move->to) {
        fail("cannot move memory to its place", move->to, result);
    }
}

static void map_memory(const struct ckpt_blob_map *map)
{
    unsigned char *to = (unsigned char *)map->start;
    const unsigned char *from = (const unsigned char *)map->source;
    uint64_t count = map->size;
    long result;

    CKPT_INVARIANT(map->start % PAGE == 0 && map->size > 0);
    CKPT_INVARIANT(map->source == 0 || (map->protection & PROT_WRITE) != 0);
    result = ckpt_sys_mmap(to, map->size, (int)map->protection,
                           (int)map->flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (result != (long)map->start) {
        fail("cannot make memory", map->start, result);
    }
    if (map->source == 0) {
        return;
    }
    __asm__ volatile("rep movsb"
                     : "+D"(to), "+S"(from), "+c"(count)
                     :
                     : "memory");
    unmap(map->source, map->source + map->size);
}

static void protect_memory(const struct ckpt_blob_protection *protection)
{
    long result;

    result = ckpt_sys_mprotect((void *)protection->start, protection->size,
                               (int)protection->protection);
    if (result < 0) {
        fail("cannot protect memory", protection->start, result);
    }
}

/* From now on a thread that touches a missing page waits for the page server. */
static void begin_lazy_pages(const struct ckpt_blob_args *args)
{
    const char message = CKPT_LAZY_PAGES_REGISTERED;
    long result;

    for (uint64_t i = 0; i < args->lazy_count; i++) {
        const struct ckpt_range *range = &args->lazy[i];
        struct uffdio_register registration = {
            .range = {range->start, range->end - range->start},
            .mode = UFFDIO_REGISTER_MODE_MISSING,
        };

        CKPT_INVARIANT(range->start % PAGE == 0 && range->start < range->end);
        result = ckpt_sys_ioctl(args->info->lazy_faults, UFFDIO_REGISTER, &registration);
        if (result < 0) {
            fail("cannot leave memory to the page server", range->start, result);
        }
    }
    if (args->lazy_count == 0) {
        return;
    }
    result = ckpt_syscall6(SYS_sendto, args->info->page_server, (long)&message, 1, MSG_NOSIGNAL,
                           0, 0);
    if (result != 1) {
        fail("the page server is gone", args->lazy[0].start, result);
    }
}

static long set_layout(const struct prctl_mm_map *layout)
{
    return ckpt_sys_prctl(PR_SET_MM, PR_SET_MM_MAP, (unsigned long)layout,
                          sizeof *layout, 0);
}

/*
 * Sets the kernel's record of the program's memory layout. The executable's
 * name needs a privilege; the rest needs a kernel with CHECKPOINT_RESTORE.
 * Without that the program break remains the restart program's. Then a page
 * after it makes every later brk() fail, so that malloc uses mmap.
 */
static void set_process_layout(const struct ckpt_blob_args *args)
{
    struct prctl_mm_map layout = args->layout;
    long result = set_layout(&layout);

    if (result < 0 && layout.exe_fd != (uint32_t)-1) {
        layout.exe_fd = (uint32_t)-1;
        result = set_layout(&layout);
    }
    if (args->layout.exe_fd != (uint32_t)-1) {
        ckpt_sys_close((int)args->layout.exe_fd);
    }
    if (result < 0) {
        uint64_t here = (uint64_t)ckpt_sys_brk(NULL);
        uint64_t page = (here + 4095) & ~(uint64_t)4095;

        report("warning: this kernel does not set the program break, the "
               "program goes on without brk()",
               layout.brk, result);
        ckpt_sys_mmap((void *)page, 4096, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
}

static void __attribute__((noreturn)) enter(const struct ckpt_blob_args *args)
{
    long result = ckpt_sys_arch_prctl(ARCH_SET_FS, args->thread_pointer);

    CKPT_INVARIANT(args->resume_stack % 16 == 0);
    if (result < 0) {
        fail("cannot set the thread pointer", args->thread_pointer, result);
    }
    __asm__ volatile("mov %0, %%rsp\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "call *%1\n\t"
                     "ud2"
                     :
                     : "r"(args->resume_stack), "r"(args->resume_entry),
                       "D"(args->info)
                     : "memory");
    __builtin_unreachable();
}

void __attribute__((noreturn, section(".text.entry")))
ckpt_blob_entry(const struct ckpt_blob_args *args)
{
    remove_old_program(args);
    for (uint64_t i = 0; i < args->move_count; i++) {
        move_memory(&args->moves[i]);
    }
    for (uint64_t i = 0; i < args->map_count; i++) {
        map_memory(&args->maps[i]);
    }
    for (uint64_t i = 0; i < args->protection_count; i++) {
        protect_memory(&args->protections[i]);
    }
    begin_lazy_pages(args);
    set_process_layout(args);
    enter(args);
}
