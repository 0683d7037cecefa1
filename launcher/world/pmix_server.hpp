/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_server.hpp - libpmix as the server of worlds.
 */
#pragma once

#include "world/world_message.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ckpt::world
{

class PmixServer
{
  public:
    /* Called in threads of libpmix. */
    using Happened = std::function<void(const RankEvent &event)>;
    /* All ranks of a fence that are on this node have come; the others are on other nodes. */
    using FenceBegun = std::function<void(FencePart part)>;

    /*
     * Opens `library`, which is the launcher's own, and starts the server; only one object may
     * exist in a process. directory: for temporary files of libpmix; it exists. Throws Error.
     */
    PmixServer(const std::string &library, const std::filesystem::path &directory,
               const std::string &host, Happened happened, FenceBegun fence_begun);
    ~PmixServer(); /* ranks that are still connected lose their server */
    PmixServer(const PmixServer &) = delete;
    PmixServer &operator=(const PmixServer &) = delete;

    /*
     * Makes the world known, and returns the variables with which each rank of this node finds
     * it, by rank. From then on ranks may connect. Throws Error; then the world is not known.
     */
    std::map<int, std::vector<std::string>> add(const World &world);
    /* Forgets a world. Throws Error if it is not known. */
    void remove(const std::string &name);

    /* A fence is over on all nodes, or has failed: its ranks go on. Throws Error if this node
     * has no rank in the fence. */
    void end_fence(const FenceResult &result);
    /* No fence gets a result any more: those that wait fail, and all that are begun. */
    void fail_fences();

    /* Name and version of the library. */
    std::string version() const;

  private:
    class Library;

    std::vector<std::string> environment_of(const World &world, int rank) const;

    std::unique_ptr<Library> library_;
    std::map<std::string, World> worlds_; /* by name */
};

} // namespace ckpt::world
