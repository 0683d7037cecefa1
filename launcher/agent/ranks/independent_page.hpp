/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * independent_page.hpp - reads the page of ranks with independent checkpoints (ckpt/independent.h).
 * The agent does not map the file: a rank could truncate it, and an access would then end the
 * agent.
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
    /* Throws Rejected unless the file is a valid page of a job with `rank_count` ranks. */
    IndependentPage(Fd file, int rank_count);

    /* Returns the present state; nothing if the file is no longer valid. */
    std::optional<IndependentState> read() const;

  private:
    Fd file_;
    int rank_count_;
};

} // namespace ckpt
