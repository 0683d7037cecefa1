/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_keeper.cpp - folds and copies pieces in the background.
 */
#include "agent/ranks/piece_keeper.hpp"

#include "common/background.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace ckpt
{

/* task: called with the work, on the thread. */
template <typename Work>
void PieceKeeper::run(std::unique_ptr<Work> given, auto task)
{
    std::shared_ptr<Work> work = std::move(given);

    if (!thread_) {
        thread_.emplace();
        thread_->run(step_back);
    } else if (thread_->idle()) {
        cancel_.clear();
    }
    cancel_.push_back([work] { work->cancel(); });
    thread_->run([work, task = std::move(task)] { task(*work); });
}

void PieceKeeper::fold(std::unique_ptr<PieceFold> fold,
                       std::function<void(const std::optional<Piece> &)> then)
{
    run(std::move(fold), [then = std::move(then)](PieceFold &fold) {
        std::optional<Piece> folded;
        try {
            folded = fold.run();
        } catch (const std::exception &error) {
            spdlog::info("not folded: {}", error.what());
        }
        then(folded);
    });
}

void PieceKeeper::copy(std::unique_ptr<PieceCopy> copy,
                       std::function<void(const std::string &)> then)
{
    run(std::move(copy), [then = std::move(then)](PieceCopy &copy) {
        std::string error;
        try {
            copy.run();
        } catch (const std::exception &problem) {
            error = problem.what();
        }
        then(error);
    });
}

void PieceKeeper::stop()
{
    for (const auto &cancel : cancel_) {
        cancel();
    }
    cancel_.clear();
    thread_.reset();
}

} // namespace ckpt
