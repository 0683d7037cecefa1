/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * knowledge.hpp - the core's knowledge of peers as a value that checkpoints
 * save.
 */
#pragma once

extern "C" {
#include "interval/peer_knowledge.h"
}

#include <cstdint>
#include <vector>

namespace model
{

using Vector = std::vector<std::uint64_t>; // a vector time or version

class Knowledge
{
  public:
    Knowledge(int processes, int self)
        : processes(static_cast<std::uint32_t>(processes)),
          self(static_cast<std::uint32_t>(self)),
          numbers(ckpt_peer_knowledge_words(this->processes))
    {
    }

    /* The result is valid until this object moves. */
    ckpt_peer_knowledge core() const
    {
        ckpt_peer_knowledge core;

        ckpt_peer_knowledge_attach(&core, processes, self, numbers.data());
        return core;
    }

    Vector minimum() const
    {
        ckpt_peer_knowledge knowledge = core();
        Vector minimum(processes);

        ckpt_peer_minimum(&knowledge, minimum.data());
        return minimum;
    }

  private:
    std::uint32_t processes, self;
    mutable Vector numbers;
};

} // namespace model
