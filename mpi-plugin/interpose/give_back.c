/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * give_back.c - when a program gives memory back, or moves it, while the agent still saves
 * it, the program waits until that memory has been saved.
 *
 * This covers calls from outside libc. When free() gives memory back, the agent notices
 * that afterwards, and takes that checkpoint in another way.
 *
 * Context of all functions: normal.
 */
#include "config.h"

#include "interpose/give_back.h"
#include "interpose/next.h"
#include "journal/journal.h"
#include "link/rank_page.h"
#include "memory/advice.h"
#include "memory/protection.h"
#include "sys/mremap.h"
#include "sys/syscall.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#define MOST_ERRNO 4095

void ckpt_before_giving_back(const void *start, size_t size)
{
    const struct ckpt_rank_page *page = ckpt_rank_page();

    if (page != NULL && __atomic_load_n(&page->is_protected, __ATOMIC_RELAXED)) {
        ckpt_protection_save(start, size);
    }
}

CKPT_INTERPOSE int munmap(void *start, size_t size)
{
    ckpt_before_giving_back(start, size);
    return CKPT_NEXT(munmap)(start, size);
}

CKPT_INTERPOSE void *mremap(void *start, size_t size, size_t new_size, int flags, ...)
{
    va_list arguments;
    void *place;

    va_start(arguments, flags);
    place = ckpt_mremap_place(flags, arguments);
    va_end(arguments);
    ckpt_before_giving_back(start, size);
    if ((flags & MREMAP_FIXED) != 0) {
        ckpt_before_giving_back(place, new_size);
    }
    return CKPT_NEXT(mremap)(start, size, new_size, flags, place);
}

/* MAP_FIXED replaces the old mapping. This makes the system call itself, as allocators call
 * mmap before symbols can be looked up. */
CKPT_INTERPOSE void *mmap(void *start, size_t size, int protection, int flags, int file,
                          off_t offset)
{
    long result;

    if ((flags & MAP_FIXED) != 0) {
        ckpt_before_giving_back(start, size);
    }
    ckpt_advice_mapping(flags);
    result = ckpt_sys_mmap(start, size, protection, flags, file, offset);
    if (result < 0 && result >= -MOST_ERRNO) {
        errno = (int)-result;
        return MAP_FAILED;
    }
    if ((flags & MAP_TYPE) != MAP_PRIVATE && (flags & MAP_ANONYMOUS) == 0) {
        ckpt_journal_mapped(file, (uint64_t)offset, size);
    }
    return (void *)result;
}

/* The same function, as off_t has 64 bits. */
_Static_assert(sizeof(off_t) == 8, "one function for both names");

CKPT_INTERPOSE extern __typeof__(mmap) mmap64 __attribute__((alias("mmap")));
