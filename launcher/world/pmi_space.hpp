/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi_space.hpp - the server's side of PMI-1, the protocol by which MPICH's ranks exchange their
 * addresses. Without I/O.
 *
 * A request is a line "cmd=NAME KEY=VALUE ..."; most get one line as their answer. Source: the
 * PMI-1 client of MPICH, and what its ranks send.
 */
#pragma once

#include "world/world_message.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt::world
{

class PmiSpace
{
  public:
    struct Answer {
        int rank;
        std::string line; /* with its newline */
    };
    struct Outcome {
        std::optional<RankEvent::Kind> event;
        int status = 0;              /* of RankEvent::Kind::aborted */
        std::vector<Answer> answers; /* in this order */
    };

    /* All ranks must be on one node. Throws Error. */
    explicit PmiSpace(const World &world);

    /* Obeys a line of a rank, without its newline. */
    Outcome obey(int rank, const std::string &line);

  private:
    using Words = std::map<std::string, std::string>;

    std::string answer_to(const std::string &command, const Words &words);
    std::string put(const Words &words);
    std::string get(const Words &words) const;
    Outcome enter_barrier(int rank);

    std::string name_;
    int size_;
    std::map<std::string, std::string> values_;
    std::set<int> waiting_; /* ranks in the barrier */
};

/* Returns the variables of a rank of MPICH, except PMI_FD, the number of its descriptor. */
std::vector<std::string> pmi_variables(const World &world, int rank);

} // namespace ckpt::world
