/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fence_gathering.hpp - the fences of worlds on several nodes: gathers the parts of the nodes, and
 * tells when a fence is complete. Without I/O.
 *
 * An MPI library exchanges the addresses of its ranks in a fence. One agent of the job has this
 * object; the others send it the parts of their nodes.
 */
#pragma once

#include "world/world_message.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt::world
{

class FenceGathering
{
  public:
    /* A result, and the waiting nodes (indices in World::nodes). */
    struct Answer {
        FenceResult result;
        std::vector<std::size_t> nodes;
    };

    /* most_bytes: of the data of one fence. */
    explicit FenceGathering(std::size_t most_bytes = longest_fence)
        : most_bytes_(most_bytes) {}

    /* Parts of fences in this world may come. Throws Error if it is known. */
    void add(const World &world);
    /* The world is over, with its fences. An unknown world is ignored. */
    void forget(const std::string &name);

    /*
     * Takes the part of a node. Returns an answer if the fence is complete, if it never will be (a
     * node of it is lost), or if its data is too long. Throws Error for a part that cannot be
     * right: an unknown world, ranks that are not in it, a node without any of them or that has
     * sent its part before; then nothing has changed.
     */
    std::optional<Answer> take(std::size_t node, FencePart part);
    /* This node of the world is lost. Returns the answers to all of its fences. */
    std::vector<Answer> lose(const std::string &name, std::size_t node);

    /* Number of fences that are not complete. */
    std::size_t waiting() const;

  private:
    struct Fence {
        std::set<std::size_t> nodes;              /* that take part */
        std::map<std::size_t, std::string> parts; /* by node */
        std::size_t bytes = 0;
        bool has_failed = false; /* the nodes that have sent their parts know; others will */
    };
    struct Known {
        World world;
        std::set<std::size_t> lost;
        std::map<FenceId, Fence> fences;
    };

    static std::set<std::size_t> nodes_of(const World &world, const std::vector<int> &ranks);
    Answer fail_fence(const FenceId &id, Fence &fence) const;

    std::size_t most_bytes_;
    std::map<std::string, Known> worlds_; /* by name */
};

} // namespace ckpt::world
