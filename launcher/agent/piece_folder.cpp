/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_folder.cpp - folds pieces in the background.
 */
#include "agent/piece_folder.hpp"

#include <spdlog/spdlog.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <exception>
#include <utility>

namespace ckpt
{

namespace
{

/* Of this thread, and those that it starts; from linux/ioprio.h. */
void step_back()
{
    constexpr int who_process = 1, class_idle = 3 << 13;

    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
    (void)::syscall(SYS_ioprio_set, who_process, 0, class_idle);
}

} // namespace

void PieceFolder::fold(std::unique_ptr<PieceFold> fold, Then then)
{
    current_ = std::move(fold);
    if (!thread_) {
        thread_.emplace();
        thread_->run(step_back);
    }
    thread_->run([fold = current_, then = std::move(then)] {
        std::optional<Piece> folded;
        try {
            folded = fold->run();
        } catch (const std::exception &error) {
            spdlog::info("not folded: {}", error.what());
        }
        then(folded);
    });
}

void PieceFolder::stop()
{
    if (current_) {
        current_->cancel();
    }
    thread_.reset();
}

} // namespace ckpt
