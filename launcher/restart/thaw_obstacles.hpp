/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw_obstacles.hpp - what a frozen copy of a rank could not bring back if it came to life.
 */
#pragma once

#include "image/model/rank_image.hpp"
#include "restart/saved_payloads.hpp"

#include <sys/types.h>

namespace ckpt::restart
{

/*
 * Throws Error, a refusal, if the copy `pid` cannot come to life as the rank that it describes:
 * memory that others have changed meanwhile, mapped files that have changed, descriptors that lead
 * out of the process. Changes nothing. What ranks share by descriptors is not seen here: the agent
 * knows it (docs/protocol.md, section 14).
 * is_replayed: the rank alone goes back, so it needs what it shares with others as that is now.
 */
void require_thawable(const RankImage &image, const SavedPayloads &payloads, pid_t pid,
                      bool is_replayed);

} // namespace ckpt::restart
