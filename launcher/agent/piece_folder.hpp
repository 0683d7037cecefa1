/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_folder.hpp - folds pieces in the background: ranks and checkpoints come first.
 */
#pragma once

#include "agent/worker_thread.hpp"
#include "image/piece_fold.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace ckpt
{

class PieceFolder
{
  public:
    /* What became of a piece: empty if it could not be folded. */
    using Then = std::function<void(const std::optional<Piece> &)>;

    ~PieceFolder() { stop(); }

    /* `then` is called on a thread of its own. */
    void fold(std::unique_ptr<PieceFold> fold, Then then);
    /* Gives up what is under way. */
    void stop();

  private:
    std::shared_ptr<PieceFold> current_;
    std::optional<WorkerThread> thread_;
};

} // namespace ckpt
