/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * participant.h - what independent checkpoints have of their own in a checkpoint of the job.
 */
#ifndef CKPT_INDEPENDENT_PARTICIPANT_H
#define CKPT_INDEPENDENT_PARTICIPANT_H

#include "cut/participant.h"

extern const struct ckpt_participant ckpt_independent_participant;

#endif
