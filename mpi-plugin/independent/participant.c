/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * participant.c - what independent checkpoints have of their own in a checkpoint of the job.
 */
#include "independent/participant.h"

#include "independent/capture.h"
#include "independent/page.h"

static int owns_descriptor(int fd)
{
    return fd == ckpt_independent_descriptor() || ckpt_capture_owns_descriptor(fd);
}

const struct ckpt_participant ckpt_independent_participant = {
    .before_image = ckpt_capture_forget,
    .owns_descriptor = owns_descriptor,
    .shared_page = ckpt_independent_descriptor,
};
