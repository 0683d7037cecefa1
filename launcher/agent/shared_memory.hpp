/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.hpp - memory files of the ranks of this node that are to outlive them, until
 * the agent ends (SHARED, ckpt/wire.h).
 */
#pragma once

#include "agent/independent_page.hpp"

#include "ckpt/wire.h"

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace ckpt
{

class SharedMemory
{
  public:
    /* SHARED has come from a rank of a job with so many. A file that is here already is kept
     * once; of more than can be kept obstacle() tells. Throws Refused for what is no such
     * message. */
    void add(const ckpt_message &message, Fd file, int rank_count);

    /* Nothing: no rank has brought the page, or it is none any more. */
    std::optional<IndependentState> independent() const;
    /* Why no rank can be replayed with what is here; empty: one can. */
    std::string obstacle() const;

  private:
    std::map<std::pair<dev_t, ino_t>, Fd> files_;
    std::optional<IndependentPage> page_;
    bool is_full_ = false;
};

} // namespace ckpt
