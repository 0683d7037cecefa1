/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_keeper.hpp - looks after the pieces of a node in the background, one after the
 * other: ranks and checkpoints come first.
 */
#pragma once

#include "agent/worker_thread.hpp"
#include "image/piece_copy.hpp"
#include "image/piece_fold.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* To be used by one thread; each `then` is called on a thread of its own. */
class PieceKeeper
{
  public:
    ~PieceKeeper() { stop(); }

    /* then: what became of the piece; empty if it could not be folded. */
    void fold(std::unique_ptr<PieceFold> fold,
              std::function<void(const std::optional<Piece> &)> then);
    /* then: why not; empty if it has been copied. */
    void copy(std::unique_ptr<PieceCopy> copy,
              std::function<void(const std::string &)> then);
    /* Gives up what is under way or waits. */
    void stop();

  private:
    template <typename Work> void run(std::unique_ptr<Work> work, auto task);

    std::vector<std::function<void()>> cancel_; /* of all that may be under way */
    std::optional<WorkerThread> thread_;
};

} // namespace ckpt
