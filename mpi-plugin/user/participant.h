/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * participant.h - requests of the program about checkpoints, for cut/.
 */
#ifndef CKPT_USER_PARTICIPANT_H
#define CKPT_USER_PARTICIPANT_H

#include "cut/participant.h"

extern const struct ckpt_participant ckpt_user_participant;

#endif
