/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_window.c - which old checkpoints a home keeps, and which of them
 * a recovery starts from.
 */
#include "interval/checkpoint_window.h"

#include "interval/vector_time.h"

/* One behind the newest version that is within `limit`; 0: there is none. */
static size_t behind_newest_within(const uint64_t *versions, size_t count,
                                   const uint64_t *limit, uint32_t n)
{
    while (count > 0 &&
           !ckpt_vector_within(versions + (count - 1) * n, limit, n)) {
        count--;
    }
    return count;
}

size_t ckpt_window_start(const uint64_t *versions, size_t count,
                         const uint64_t *minimum, uint32_t n)
{
    size_t behind = behind_newest_within(versions, count, minimum, n);

    return behind == 0 ? 0 : behind - 1;
}

size_t ckpt_starting_copy(const uint64_t *versions, size_t count,
                          const uint64_t *restart, uint32_t n, bool at_home)
{
    size_t behind =
        at_home ? count : behind_newest_within(versions, count, restart, n);

    return behind == 0 ? count : behind - 1;
}
