/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_policy.c - reads NUMA policies with get_mempolicy() and sets them again.
 */
#include "task/memory_policy.h"

#include "base/invariant.h"
#include "memory/maps.h"
#include "sys/syscall.h"
#include "task/parking.h"
#include "task/threads.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <sys/mman.h>

#define NODES      1024 /* the most that a kernel supports */
#define NODE_WORDS (NODES / 64)
#define UNKNOWN    (-1) /* this kernel does not support policies */

struct policy {
    int32_t mode; /* MPOL_* with its flags */
    int32_t reserved;
    uint64_t nodes[NODE_WORDS];
};

struct memory {
    struct memory *next;
    struct ckpt_range range;
    struct policy policy;
};

static struct policy *parked; /* [CKPT_PARKING_CAPACITY]; NULL until the program sets a policy */
static struct policy leader;
static struct memory *list;

void ckpt_memory_policy_given(void)
{
    const size_t size = CKPT_PARKING_CAPACITY * sizeof(*parked);
    struct policy *none = NULL;
    long memory;

    if (__atomic_load_n(&parked, __ATOMIC_ACQUIRE) != NULL) {
        return;
    }
    memory = ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ckpt_sys_failed(memory)) {
        return; /* the memory is exhausted for the program, too */
    }
    if (!__atomic_compare_exchange_n(&parked, &none, (struct policy *)memory, 0,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        (void)ckpt_sys_munmap((void *)memory, size);
    }
}

/* Reads the policy of an address; address 0: of the calling thread. */
static void read_policy(uint64_t address, struct policy *policy)
{
    int mode = MPOL_DEFAULT;

    *policy = (struct policy){0};
    if (ckpt_syscall6(SYS_get_mempolicy, (long)&mode, (long)policy->nodes, NODES + 1,
                      (long)address, address == 0 ? 0 : MPOL_F_ADDR, 0) != 0) {
        mode = UNKNOWN;
    }
    policy->mode = mode;
}

/* Sets the calling thread's policy. Returns 0 or -errno. */
static long set_policy(const struct policy *policy)
{
    return policy->mode == UNKNOWN
               ? 0
               : ckpt_syscall3(SYS_set_mempolicy, policy->mode,
                               policy->mode == MPOL_DEFAULT ? 0 : (long)policy->nodes, NODES + 1);
}

void ckpt_memory_policy_note(size_t place)
{
    struct policy *const table = __atomic_load_n(&parked, __ATOMIC_ACQUIRE);

    if (table != NULL) {
        CKPT_INVARIANT(place < CKPT_PARKING_CAPACITY);
        read_policy(0, &table[place]);
    }
}

static int is_excluded(const struct ckpt_mapping *mapping, const struct ckpt_range *excluded,
                       size_t excluded_count)
{
    for (size_t i = 0; i < excluded_count; i++) {
        if (excluded[i].start < mapping->end && mapping->start < excluded[i].end) {
            return 1;
        }
    }
    return 0;
}

int ckpt_memory_policy_save(struct ckpt_arena *arena, const struct ckpt_range *excluded,
                            size_t excluded_count, struct ckpt_failure *failure)
{
    struct ckpt_mapping mapping;
    char *text;
    size_t size;
    int error;

    list = NULL;
    if (parked == NULL) {
        return 0;
    }
    read_policy(0, &leader);
    error = ckpt_proc_read(arena, "/proc/self/maps", &text, &size, failure);
    while (error == 0 && ckpt_maps_next(&text, &mapping) > 0) {
        struct memory memory = {.next = list, .range = {mapping.start, mapping.end}};
        struct memory *kept;

        if (is_excluded(&mapping, excluded, excluded_count)) {
            continue;
        }
        read_policy(mapping.start, &memory.policy);
        if (memory.policy.mode == UNKNOWN || memory.policy.mode == MPOL_DEFAULT) {
            continue;
        }
        kept = ckpt_arena_alloc(arena, sizeof *kept);
        if (kept == NULL) {
            return ckpt_fail(failure, -ENOMEM, "no room for the policies of the memory");
        }
        *kept = memory;
        list = kept;
    }
    return error;
}

static void tell(void)
{
    static const char text[] = "ckpt: a NUMA policy of the program cannot be set on this host; "
                               "the memory that it is for may be on any node\n";

    (void)ckpt_sys_write(2, text, sizeof text - 1);
}

void ckpt_memory_policy_restore(void)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);
    int is_refused = 0;

    if (parked == NULL) {
        return;
    }
    CKPT_INVARIANT(count <= CKPT_PARKING_CAPACITY);
    for (const struct memory *memory = list; memory != NULL; memory = memory->next) {
        is_refused |= ckpt_syscall6(SYS_mbind, (long)memory->range.start,
                                    (long)(memory->range.end - memory->range.start),
                                    memory->policy.mode, (long)memory->policy.nodes, NODES + 1,
                                    MPOL_MF_MOVE) != 0;
    }
    for (size_t i = 0; i < count; i++) { /* only checks: the threads themselves cannot report
                                            errors */
        is_refused |= set_policy(&parked[i]) != 0;
    }
    is_refused |= set_policy(&leader) != 0;
    if (is_refused) {
        tell();
    }
}

void ckpt_memory_policy_write(size_t place)
{
    if (parked != NULL) {
        CKPT_INVARIANT(place < CKPT_PARKING_CAPACITY);
        (void)set_policy(&parked[place]);
    }
}
