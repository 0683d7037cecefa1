/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * quiet.c - read and write the words of the window's record.
 */
#include "independent/log/quiet.h"

int ckpt_quiet_break(struct ckpt_record *record, int origin, int target)
{
    if (__atomic_load_n(&ckpt_record_target(record, target)->asks, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    __atomic_store_n(&ckpt_record_pair(record, origin, target)->direct, 1, __ATOMIC_SEQ_CST);
    return 1;
}

void ckpt_quiet_restore(struct ckpt_record *record, int origin, int target)
{
    __atomic_store_n(&ckpt_record_pair(record, origin, target)->direct, 0, __ATOMIC_RELEASE);
}

int ckpt_quiet_is_broken(struct ckpt_record *record, int origin, int target)
{
    return __atomic_load_n(&ckpt_record_pair(record, origin, target)->direct,
                           __ATOMIC_ACQUIRE) != 0;
}

int ckpt_quiet_is_kept(struct ckpt_record *record, int target)
{
    for (int i = 0; i < (int)record->count; i++) {
        if (ckpt_quiet_is_broken(record, i, target)) {
            return 0;
        }
    }
    return 1;
}

void ckpt_quiet_ask(struct ckpt_record *record, int target, int asked)
{
    __atomic_store_n(&ckpt_record_target(record, target)->asks, (uint32_t)asked,
                     __ATOMIC_RELEASE);
}
