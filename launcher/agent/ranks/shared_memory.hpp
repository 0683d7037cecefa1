/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.hpp - memory files of this node's ranks that have to outlive the ranks; the agent
 * keeps them open until it ends (SHARED, ckpt/wire.h).
 */
#pragma once

#include "agent/ranks/independent_page.hpp"

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
    /* A rank of a job with `rank_count` ranks has sent SHARED. A file that is here already is
     * kept once. If there are too many files, obstacle() reports that. Throws Rejected for an
     * invalid message. */
    void add(const ckpt_message &message, Fd file, int rank_count);

    /* Returns nothing if no rank has sent the page, or the page is no longer valid. */
    std::optional<IndependentState> independent() const;
    /* Returns why these files do not suffice to replay a rank; "": they do. */
    std::string obstacle() const;

  private:
    std::map<std::pair<dev_t, ino_t>, Fd> files_;
    std::pair<dev_t, ino_t> key_of_page_;
    std::optional<IndependentPage> page_;
    bool is_full_ = false;
};

} // namespace ckpt
