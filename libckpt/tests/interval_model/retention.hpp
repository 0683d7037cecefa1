/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * retention.hpp - checkpoints, and which checkpoints and logs are retained.
 */
#pragma once

#include "system.hpp"

namespace model
{

/* Takes a checkpoint of `process`, discards old ones, and trims its logs. */
void save(System &system, Process &process);

/* Ends the interval first, as each checkpoint except the initial state does. */
void take_checkpoint(System &system, Process &process);

/* Lazy log trimming, at any time. */
void trim(System &system, Process &process);

/* Decides whether a message from one process to another carries control data.
 * If so, the receiver learns it. */
void may_tell(System &system, int from, int to);

} // namespace model
