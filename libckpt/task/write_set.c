/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_set.c - traps stores, lets them through one by one, and compares the memory afterwards.
 *
 * The handlers use no libc, since they may interrupt code with a thread pointer of the other
 * half.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "task/write_set.h"

#include "base/invariant.h"
#include "sys/syscall.h"
#include "task/parking.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define PAGE      UINT64_C(4096)
#define TRAP_FLAG 0x100

/* Maximum number of pages to which one instruction stores at once. */
enum {
    MOST_OPEN = 32
};

static struct {
    struct ckpt_write_set *first;
    struct ckpt_sigaction fault_before, trap_before;
    int is_on;
    int has_missed;

    /* The store that is being let through, of one thread at a time. */
    int thread; /* tid; 0: none */
    char *page[MOST_OPEN];
    int page_count;
    uint64_t mask; /* the thread's signal mask */
    greg_t instruction;
} trace;

static long protect(char *start, size_t size, int protection)
{
    return ckpt_sys_mprotect(start, size, protection);
}

static struct ckpt_write_set *part_of(const char *address)
{
    struct ckpt_write_set *part = trace.first;

    while (part != NULL &&
           (address < part->start || address >= part->start + part->size)) {
        part = part->next;
    }
    return part;
}

/* ---- What a store has changed ------------------------------------------------------ */

static uint64_t word_at(const char *memory)
{
    uint64_t word;

    memcpy(&word, memory, sizeof(word));
    return word;
}

static void note_word(struct ckpt_write_set *part, size_t from)
{
    for (size_t i = from; i < from + sizeof(uint64_t); i++) {
        if (part->start[i] != part->seen[i]) {
            part->seen[i] = part->start[i];
            part->changed[i] = 1;
        }
    }
}

static void note_page(const char *page)
{
    struct ckpt_write_set *part = part_of(page);
    size_t from;

    if (!CKPT_INVARIANT(part != NULL)) { /* the page was opened as one of the set */
        return;
    }
    from = (size_t)(page - part->start);
    for (size_t i = from; i < from + PAGE; i += sizeof(uint64_t)) {
        if (word_at(part->start + i) != word_at(part->seen + i)) {
            note_word(part, i);
        }
    }
}

static void close_pages(void)
{
    CKPT_INVARIANT(trace.page_count >= 0 && trace.page_count <= MOST_OPEN);
    for (int i = 0; i < trace.page_count; i++) {
        note_page(trace.page[i]);
        if (trace.is_on) {
            (void)protect(trace.page[i], PAGE, PROT_READ);
        }
    }
    trace.page_count = 0;
}

/* ---- Signals -------------------------------------------------------------------------- */

static void take_turn(void)
{
    const int self = (int)ckpt_sys_gettid();
    int nobody = 0;

    while (__atomic_load_n(&trace.thread, __ATOMIC_ACQUIRE) != self &&
           !__atomic_compare_exchange_n(&trace.thread, &nobody, self, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        nobody = 0;
        __builtin_ia32_pause();
    }
}

/* Makes all memory writable again and restores the program's handlers. */
static void stop(void)
{
    trace.is_on = 0;
    for (struct ckpt_write_set *part = trace.first; part != NULL; part = part->next) {
        (void)protect(part->start, part->size, PROT_READ | PROT_WRITE);
    }
    (void)ckpt_sys_sigaction(SIGSEGV, &trace.fault_before, NULL);
    (void)ckpt_sys_sigaction(SIGTRAP, &trace.trap_before, NULL);
}

/* A fault of the program itself happens again, and its own handler gets it. */
static void give_up(void)
{
    trace.has_missed = 1;
    stop();
}

static uint64_t *mask_of(ucontext_t *context)
{
    return (uint64_t *)(void *)&context->uc_sigmask;
}

static void on_fault(int signal, siginfo_t *info, void *interrupted)
{
    ucontext_t *context = interrupted;
    char *page = (char *)((uint64_t)(uintptr_t)info->si_addr & ~(PAGE - 1));

    (void)signal;
    if (info->si_code != SEGV_ACCERR || part_of(page) == NULL) {
        give_up();
        return;
    }
    take_turn();
    if (trace.page_count == 0) {
        trace.mask = *mask_of(context);
        trace.instruction = context->uc_mcontext.gregs[REG_RIP];
        *mask_of(context) =
            ~(CKPT_SIGNAL_BIT(SIGSEGV) | CKPT_SIGNAL_BIT(SIGTRAP));
        context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    }
    if (trace.page_count == MOST_OPEN) {
        close_pages();
    }
    trace.page[trace.page_count++] = page;
    (void)protect(page, PAGE, PROT_READ | PROT_WRITE);
}

/* An instruction with a repeat prefix takes one step per repetition. */
static void on_step(int signal, siginfo_t *info, void *interrupted)
{
    ucontext_t *context = interrupted;

    (void)signal;
    if (info->si_code != TRAP_TRACE || trace.page_count == 0) {
        give_up();
        return;
    }
    if (context->uc_mcontext.gregs[REG_RIP] == trace.instruction) {
        return;
    }
    close_pages();
    *mask_of(context) = trace.mask;
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    __atomic_store_n(&trace.thread, 0, __ATOMIC_RELEASE);
}

int ckpt_write_set_handles(const void *handler)
{
    return handler == (void *)on_step;
}

/* ---- The set ---------------------------------------------------------------------------- */

static void *new_pages(size_t size)
{
    const long memory = (long)ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return ckpt_sys_failed(memory) ? NULL : (void *)memory;
}

static void free_part(struct ckpt_write_set *part)
{
    if (part->seen != NULL) {
        (void)ckpt_sys_munmap(part->seen, part->size);
    }
    if (part->changed != NULL) {
        (void)ckpt_sys_munmap(part->changed, part->size);
    }
}

int ckpt_write_set_add(struct ckpt_write_set *part, char *start, size_t size)
{
    CKPT_INVARIANT((uintptr_t)start % PAGE == 0 && size % PAGE == 0 && !trace.is_on);
    *part = (struct ckpt_write_set){.start = start, .size = size};
    part->seen = new_pages(size);
    part->changed = new_pages(size);
    if (part->seen == NULL || part->changed == NULL) {
        free_part(part);
        return -ENOMEM;
    }
    memcpy(part->seen, start, size);
    part->next = trace.first;
    trace.first = part;
    return 0;
}

static int install(int signal, void (*handler)(int, siginfo_t *, void *),
                   struct ckpt_sigaction *before)
{
    const struct ckpt_sigaction action = {.handler = (void *)handler,
                                          .flags = SA_SIGINFO | SA_ONSTACK |
                                                   CKPT_SA_RESTORER,
                                          .restorer = (void *)ckpt_context_restorer,
                                          .mask = UINT64_MAX};

    return (int)ckpt_sys_sigaction(signal, &action, before);
}

int ckpt_write_set_begin(void)
{
    int error;

    CKPT_INVARIANT(!trace.is_on); /* a second begin would lose the program's handlers */
    error = install(SIGTRAP, on_step, &trace.trap_before);
    if (error == 0) {
        error = install(SIGSEGV, on_fault, &trace.fault_before);
    }
    trace.is_on = 1;
    trace.has_missed = 0;
    for (struct ckpt_write_set *part = trace.first; part != NULL && error == 0;
         part = part->next) {
        error = (int)protect(part->start, part->size, PROT_READ);
    }
    return error;
}

int ckpt_write_set_end(void)
{
    if (trace.is_on) {
        stop();
    }
    return trace.has_missed ? -EINTR : 0;
}

void ckpt_write_set_free(void)
{
    CKPT_INVARIANT(!trace.is_on);
    for (struct ckpt_write_set *part = trace.first; part != NULL; part = part->next) {
        free_part(part);
    }
    trace.first = NULL;
}
