/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * xsave.c - the layout of register state, and permissions to use it.
 *
 * Some components (AMX tiles) need a permission. When a thread has used one, its signal frames
 * become longer. A new thread cannot return through such a frame before it has used the
 * component, too. So a thread that has used one cannot be saved.
 */
#include "process/xsave.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <cpuid.h>
#include <errno.h>
#include <stddef.h>
#include <ucontext.h>

/* Missing from older headers. */
#define GET_XCOMP_PERM 0x1022
#define REQ_XCOMP_PERM 0x1023

#define LEAF        13
#define FIRST       2    /* 0 and 1, x87 and SSE, have fixed places */
#define LEGACY_SIZE 512u /* bytes of those two */
#define HEADER_SIZE 64u
#define IS_DYNAMIC  (1u << 2) /* in ECX: can be disabled for a thread */
#define OSXSAVE     (1u << 27)

/* The kernel's data in a part of the legacy area that the processor does not use. */
struct frame_words {
    uint32_t magic;
    uint32_t extended_size;
    uint64_t features;
    uint32_t size;
};
#define FRAME_WORDS_OFFSET 464
_Static_assert(FRAME_WORDS_OFFSET + sizeof(struct frame_words) <= LEGACY_SIZE,
               "the kernel's words are in the legacy area");
_Static_assert(CKPT_XSAVE_COMPONENTS <= 32, "a component is a bit of a word");
#define FRAME_MAGIC 0x46505853u

static const char *name_of(unsigned component, char text[32])
{
    static const char *const names[] = {
        [2] = "avx-state",
        [3] = "mpx-bounds-state",
        [4] = "mpx-config-state",
        [5] = "avx512-mask-state",
        [6] = "avx512-upper-state",
        [7] = "avx512-zmm16-state",
        [9] = "pkru-state",
        [17] = "amx-config-state",
        [18] = "amx-tile-state",
        [19] = "apx-state",
    };

    CKPT_INVARIANT(component < CKPT_XSAVE_COMPONENTS);
    if (component < sizeof(names) / sizeof(names[0]) && names[component] != NULL) {
        return names[component];
    }
    ckpt_text_format(text, 32, "state-component-%u", component);
    return text;
}

static uint32_t enabled(void)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;

    __get_cpuid(1, &a, &b, &c, &d);
    if ((c & OSXSAVE) == 0) {
        return 0;
    }
    __asm__ volatile("xgetbv"
                     : "=a"(a), "=d"(d)
                     : "c"(0));
    return a;
}

void ckpt_xsave_read(struct ckpt_xsave *xsave)
{
    const uint32_t components = enabled();
    uint64_t permitted = 0;

    *xsave = (struct ckpt_xsave){0};
    for (unsigned i = FIRST; i < CKPT_XSAVE_COMPONENTS; i++) {
        uint32_t c = 0, d = 0;

        if ((components >> i & 1u) != 0) {
            __get_cpuid_count(LEAF, i, &xsave->size[i], &xsave->offset[i], &c, &d);
            xsave->dynamic |= (c & IS_DYNAMIC) != 0 ? 1u << i : 0;
        }
    }
    /* An older kernel has neither the call nor such components. */
    if (ckpt_sys_arch_prctl(GET_XCOMP_PERM, (unsigned long)&permitted) == 0) {
        xsave->permitted = (uint32_t)permitted & xsave->dynamic;
    }
}

uint32_t ckpt_xsave_frame_size(const struct ckpt_xsave *xsave)
{
    uint32_t end = LEGACY_SIZE + HEADER_SIZE;

    for (unsigned i = FIRST; i < CKPT_XSAVE_COMPONENTS; i++) {
        const uint32_t its = xsave->offset[i] + xsave->size[i];

        if ((xsave->dynamic >> i & 1u) == 0 && its > end) {
            end = its;
        }
    }
    return end;
}

int ckpt_xsave_check(const struct ckpt_xsave *recorded, const struct ckpt_xsave *here,
                     struct ckpt_failure *failure)
{
    const uint32_t size = ckpt_xsave_frame_size(recorded);
    char text[32];

    for (unsigned i = FIRST; i < CKPT_XSAVE_COMPONENTS; i++) {
        if (recorded->size[i] != 0 && (recorded->size[i] != here->size[i] ||
                                       recorded->offset[i] != here->offset[i])) {
            return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CPU, -ENOTSUP,
                               "this CPU keeps registers at other places in memory: %s was "
                               "%u bytes at %u, here it is %u at %u",
                               name_of(i, text), recorded->size[i], recorded->offset[i],
                               here->size[i], here->offset[i]);
        }
        if ((here->dynamic & ~recorded->dynamic & 1u << i) != 0 && recorded->size[i] != 0) {
            return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CPU, -ENOTSUP,
                               "this CPU has %s only with a permission",
                               name_of(i, text));
        }
    }
    return size <= ckpt_xsave_frame_size(here)
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CPU, -ENOTSUP,
                             "this CPU has no room for %u bytes of registers", size);
}

int ckpt_xsave_permit(const struct ckpt_xsave *recorded, long (*ask)(unsigned component),
                      struct ckpt_failure *failure)
{
    char text[32];

    for (unsigned i = FIRST; i < CKPT_XSAVE_COMPONENTS; i++) {
        const long error = (recorded->permitted >> i & 1u) != 0 ? ask(i) : 0;

        if (error != 0) {
            return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, (int)error,
                               "the program has the permission to use %s, which this host "
                               "does not give (error %d)",
                               name_of(i, text), (int)-error);
        }
    }
    return 0;
}

long ckpt_xsave_ask_kernel(unsigned component)
{
    return ckpt_sys_arch_prctl(REQ_XCOMP_PERM, component);
}

int ckpt_xsave_check_frame(const struct ckpt_xsave *xsave, uint32_t frame_size,
                           const char *thread, struct ckpt_failure *failure)
{
    unsigned component = FIRST;
    char text[32];

    if (frame_size <= ckpt_xsave_frame_size(xsave)) {
        return 0;
    }
    if (xsave->permitted == 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_REGISTERS, -ENOTSUP,
                           "thread %s has %u bytes of registers, this CPU is known to have %u",
                           thread, frame_size, ckpt_xsave_frame_size(xsave));
    }
    CKPT_INVARIANT(xsave->permitted >> FIRST != 0); /* the loop ends */
    while ((xsave->permitted >> component & 1u) == 0) {
        component++;
    }
    return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_REGISTERS, -ENOTSUP,
                       "thread %s has used %s, which cannot be saved", thread,
                       name_of(component, text));
}

uint32_t ckpt_xsave_size_in(const void *ucontext)
{
    const char *registers = (const char *)((const ucontext_t *)ucontext)->uc_mcontext.fpregs;
    const struct frame_words *words =
        (const struct frame_words *)(registers + FRAME_WORDS_OFFSET);

    return registers != NULL && words->magic == FRAME_MAGIC ? words->size : 0;
}
