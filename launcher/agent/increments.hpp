/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * increments.hpp - what the next piece of this node is made on top of, and who knows what
 * has changed in its ranks since then.
 */
#pragma once

#include "common/fd.hpp"
#include "image/change_tracker.hpp"
#include "image/manifest.hpp"
#include "image/node_file_writer.hpp"

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
    /* limit: pieces on top of one that has all; 0: each has all. */
    explicit Increments(unsigned limit) : limit_(limit) {}

    /* ---- Ranks ---- */

    /* Whether a rank is to be asked for a userfaultfd (WATCH). */
    bool lacks(int rank) const { return limit_ > 0 && trackers_.count(rank) == 0; }
    /* It has brought one, or has told with an error number why it cannot. */
    void add(int rank, pid_t pid, Fd descriptor, int error);
    void forget(int rank) { trackers_.erase(rank); }
    /* Null if all of the rank is to be saved each time. To be used by one thread. */
    std::shared_ptr<ChangeTracker> changes_of(int rank) const;

    /* ---- Pieces ---- */

    /* Completes the options of the next piece. */
    void prepare(WriterOptions &options) const;
    /* It is on disk. */
    void written(const Piece &piece, const std::filesystem::path &directory);
    /* A checkpoint exists. If its piece was written last the next is made on top of it:
     * the trackers that have to be told so. */
    std::vector<std::shared_ptr<ChangeTracker>> committed(std::uint64_t number);

    /* ---- Folding ---- */

    /* The piece that is to be folded now, if any: half of the pieces that may be on top of
     * each other are, and the other half leaves time for it. */
    struct ToFold {
        std::uint64_t checkpoint;
        std::uint64_t identity;
        std::filesystem::path directory;
    };
    std::optional<ToFold> begin_folding();
    /* It has all now; or, if that was not possible, nothing has changed. */
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
    std::map<int, std::string> told_;                        /* obstacles, by rank */
    Link written_;            /* not yet committed: has no number yet */
    std::vector<Link> chain_; /* from one with all up to the next one's base */
    bool is_folding_ = false;
};

} // namespace ckpt
