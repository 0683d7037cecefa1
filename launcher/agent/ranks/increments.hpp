/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * increments.hpp - the base of this node's next piece, and the trackers that know which pages of
 * its ranks have changed since.
 */
#pragma once

#include "common/fd.hpp"
#include "image/memory/change_tracker.hpp"
#include "image/store/manifest.hpp"
#include "image/write/node_file_writer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

class Increments
{
  public:
    /* limit: number of increments on top of one full piece; 0: each piece is full. */
    explicit Increments(unsigned limit)
        : limit_(limit) {}

    /* ---- Ranks ---- */

    /* Whether the agent has to ask the rank for a userfaultfd (WATCH). */
    bool lacks(int rank) const { return limit_ > 0 && trackers_.count(rank) == 0; }
    /* Takes the rank's userfaultfd, or the error number that says why it has none. */
    void add(int rank, pid_t pid, Fd descriptor, int error);
    void forget(int rank) { trackers_.erase(rank); }
    /* Returns null if the rank has to be saved in full each time. Only one thread may use it. */
    std::shared_ptr<ChangeTracker> changes_of(int rank) const;

    /* ---- Pieces ---- */

    /* Completes the options of the next piece. */
    void prepare(WriterOptions &options) const;
    /* The piece is on disk. */
    void written(const Piece &piece, const std::filesystem::path &directory);
    /* The checkpoint is committed. If its piece was the last one written, the next piece is an
     * increment on it. Returns the trackers that have to be told. */
    std::vector<std::shared_ptr<ChangeTracker>> committed(std::uint64_t number);

    /* ---- Folding ---- */

    /* The piece to fold now, if any. Half of the increments that may be on top of each other are
     * folded, so that the other half leaves time for the work. */
    struct ToFold {
        std::uint64_t checkpoint;
        std::uint64_t identity;
        std::filesystem::path directory;
    };
    std::optional<ToFold> begin_folding();
    /* is_folded: the piece is full now; otherwise nothing has changed. */
    void end_folding(std::uint64_t checkpoint, bool is_folded);

  private:
    struct Link {
        BaseFile file;
        std::filesystem::path directory;
        bool has_all = true;
    };

    void tell_obstacle(int rank, const std::string &obstacle);

    const unsigned limit_;
    std::map<int, std::shared_ptr<ChangeTracker>> trackers_; /* by rank */
    std::map<int, std::string> told_;                        /* obstacles that are logged, by
                                                                rank */
    /* not yet committed, and still without number */
    Link written_;
    std::vector<Link> chain_; /* from a full piece up to the base of the next piece */
    bool is_folding_ = false;
};

} // namespace ckpt
