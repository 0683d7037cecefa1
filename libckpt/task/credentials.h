/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * credentials.h - the program's credentials: ids, groups, capabilities, system call filters.
 *
 * A restart never returns rights that the program has given up, whoever starts it: it sets the
 * saved credentials, or fails. Filters cannot be set again. So they refuse the checkpoint,
 * unless the launcher has set them; then the new launcher's filters apply.
 */
#ifndef CKPT_CREDENTIALS_H
#define CKPT_CREDENTIALS_H

#include "ckpt/failure.h"

#include <stdint.h>

#define CKPT_GROUPS 1024

struct ckpt_credentials {
    uint32_t user[4];  /* real, effective, saved, file system */
    uint32_t group[4]; /* in the same order */
    uint32_t group_count;
    uint32_t groups[CKPT_GROUPS];
    /* no padding: credentials are compared byte by byte */
    uint32_t zero;
    uint64_t inheritable, permitted, effective, bounding, ambient; /* bit i: capability i */
    uint32_t seccomp;                                              /* mode */
    uint32_t filters;                                              /* number of filters */
};

/* Reads the credentials of a thread of this process; tid 0: the calling thread. Returns 0 or
 * -errno; -E2BIG: too many groups. Context: normal or quiesced, one thread at a time. */
int ckpt_credentials_read(int tid, struct ckpt_credentials *credentials);

/* Records the credentials at the start of the process. Context: normal. */
void ckpt_credentials_open(void);

/* Records the leader's credentials. Returns 0, or -errno with the reason if a restart could not
 * restore them. Context: quiesced. */
int ckpt_credentials_save(struct ckpt_failure *failure);

/*
 * Returns the credentials to set after a restart that begins with `here`: the ids of the
 * program, and no right that it did not have. is_own: the program has changed its credentials,
 * so all of them must be as saved. Context: any.
 */
struct ckpt_credentials ckpt_credentials_wanted(const struct ckpt_credentials *saved,
                                                const struct ckpt_credentials *here,
                                                int is_own);

/* Returns 1 if ckpt_credentials_save() found that the program has changed them. Context: any. */
int ckpt_credentials_are_own(void);

/* After a restart, before other threads exist: sets the credentials again. Returns 0, or -errno
 * with the reason. Context: quiesced. */
int ckpt_credentials_restore(struct ckpt_failure *failure);

#endif
