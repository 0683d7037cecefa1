/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_keeper.hpp - folds and copies the pieces of a node in the background, one after another and
 * with low priority: ranks and checkpoints come first.
 */
#pragma once

#include "agent/base/worker_thread.hpp"
#include "image/pieces/piece_copy.hpp"
#include "image/pieces/piece_fold.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* Only one thread may use it. Each `then` runs on the keeper's thread. */
class PieceKeeper
{
  public:
    ~PieceKeeper() { stop(); }

    /* then: gets the folded piece; nothing if the fold failed. */
    void fold(std::unique_ptr<PieceFold> fold,
              std::function<void(const std::optional<Piece> &)> then);
    /* then: gets the error; "" if the piece is copied. */
    void copy(std::unique_ptr<PieceCopy> copy,
              std::function<void(const std::string &)> then);
    /* Gives up the present and all waiting work. */
    void stop();

  private:
    template <typename Work>
    void run(std::unique_ptr<Work> work, auto task);

    std::vector<std::function<void()>> cancel_; /* cancels all work that may be under way */
    std::optional<WorkerThread> thread_;
};

} // namespace ckpt
