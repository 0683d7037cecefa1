/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vdso_group.h - this kernel's vDSO with its data pages, which must keep their distances.
 */
#ifndef CKPT_VDSO_GROUP_H
#define CKPT_VDSO_GROUP_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"
#include "memory/maps.h"

#include <stddef.h>

struct ckpt_vdso_group {
    struct ckpt_range image;    /* [vdso] */
    struct ckpt_range parts[8]; /* all mappings, ordered by address */
    size_t part_count;          /* 0: this kernel provides no vDSO */
    int is_sealed;              /* it can neither be moved nor be removed (mseal) */
};

/* Adds the mapping if it is a part of the group. The mappings come by rising address. Context:
 * any. */
void ckpt_vdso_group_add(struct ckpt_vdso_group *group, const struct ckpt_mapping *mapping);

/* Returns the group's range, from the first part to the last. Context: any. */
struct ckpt_range ckpt_vdso_group_range(const struct ckpt_vdso_group *group);

/*
 * Makes the vDSO of this process what a restart in its place would make it: at `saved` (of struct
 * ckpt_process_layout) is memory with redirected functions, before it are zero pages, and the
 * kernel's vDSO is elsewhere. It may be there already from an earlier restart.
 * vdso_p: receives the address of the kernel's vDSO; 0: there is none.
 * Returns 0 or -errno with the reason; then the process has its vDSO as before, or redirected.
 * Context: quiesced, with one thread.
 */
int ckpt_vdso_group_leave(const struct ckpt_vdso_group *group, struct ckpt_range saved,
                          uint64_t *vdso_p, struct ckpt_failure *failure);

#endif
