/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * credentials.h - the rights of the program: ids, groups, capabilities, filters of system
 * calls.
 *
 * A program that has given up rights never gets them back by a restart, whoever starts that:
 * its rights are set again, or the restart is refused. What cannot be set again (filters)
 * refuses the checkpoint, unless the launcher had set it: then it is the new launcher's.
 */
#ifndef CKPT_CREDENTIALS_H
#define CKPT_CREDENTIALS_H

#include "ckpt/failure.h"

#include <stdint.h>

#define CKPT_GROUPS 1024

struct ckpt_credentials {
    uint32_t user[4];  /* real, effective, saved, of the file system */
    uint32_t group[4]; /* the same */
    uint32_t group_count;
    uint32_t groups[CKPT_GROUPS];
    uint64_t inheritable, permitted, effective, bounding, ambient; /* bit: capability */
    uint32_t seccomp; /* its mode */
    uint32_t filters; /* how many */
};

/* Of a thread of this process, tid 0: the calling one. 0 or -errno; -E2BIG: too many
 * groups. Context: normal or quiesced, one thread at a time. */
int ckpt_credentials_read(int tid, struct ckpt_credentials *credentials);

/* Remembers those that the process was started with. Context: normal. */
void ckpt_credentials_open(void);

/* Notes those of the leader. 0, or -errno with a reason: they cannot come back. Context:
 * quiesced. */
int ckpt_credentials_save(struct ckpt_failure *failure);

/*
 * What is to be in force after a restart, which begins with `here`: the ids that the program
 * had, and no right that it had not. is_own: it has changed them itself, so all must be
 * as they were. Context: any.
 */
struct ckpt_credentials ckpt_credentials_wanted(const struct ckpt_credentials *saved,
                                                const struct ckpt_credentials *here,
                                                int is_own);

/* 1 if the program has changed them itself, as ckpt_credentials_save() found. Context: any. */
int ckpt_credentials_are_own(void);

/* After a restart, before there are other threads: sets them again. 0, or -errno with a
 * reason. Context: quiesced. */
int ckpt_credentials_restore(struct ckpt_failure *failure);

#endif
