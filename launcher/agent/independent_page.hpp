/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * independent_page.hpp - the page of ranks with independent checkpoints
 * (ckpt/independent.h), as the agent reads it. It is not mapped here: a rank could make the
 * file shorter, and a look at it would end the agent.
 */
#pragma once

#include "common/fd.hpp"
#include "protocol/replayability.hpp"

#include <optional>

namespace ckpt
{

class IndependentPage
{
  public:
    /* Throws Refused unless the file is such a page of a job with so many ranks. */
    IndependentPage(Fd file, int rank_count);

    /* As it is now; nothing if the file is no such page any more. */
    std::optional<IndependentState> read() const;

  private:
    Fd file_;
    int rank_count_;
};

} // namespace ckpt
