/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output_revealer.cpp - reveals concealed outputs, in a thread and at the end of a job.
 */
#include "config.h"
#include "cli/files/output_revealer.hpp"

#include "cli/files/file_rollback.hpp"
#include "common/error.hpp"
#include "image/store/store.hpp"
#include "journal/concealed.hpp"
#include "journal/place.hpp"
#include "journal/reveal.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

namespace ckpt::cli
{

namespace
{

constexpr auto look_again = std::chrono::milliseconds(200);

std::filesystem::path journal_of(const TierDirectories &directories, const std::string &job)
{
    return journal::directory_in(directories.lasting() / job);
}

/* Returns the outputs that the newest checkpoint in the lasting directory commits. */
std::optional<journal::Revealing> newest(const TierDirectories &directories,
                                         const std::string &job)
{
    std::optional<journal::Revealing> wish;

    for (const Checkpoint &checkpoint : Store(directories.lasting()).checkpoints(job)) {
        if (checkpoint.state != Checkpoint::State::committed || checkpoint.is_on_nodes ||
            checkpoint.manifest->files_mark == 0 ||
            (wish && wish->checkpoint > checkpoint.manifest->files_mark)) {
            continue;
        }
        wish.emplace();
        wish->journal = journal_of(directories, job);
        wish->checkpoint = checkpoint.manifest->files_mark;
        wish->ranks = ranks_of(*checkpoint.manifest);
    }
    return wish;
}

/* Returns the greatest mark of the job's committed checkpoints. Returns 0 if the job has none, and,
 * with a message, if this process cannot read the directory. */
std::uint64_t newest_mark(const TierDirectories &directories, const std::string &job)
{
    try {
        const auto wish = newest(directories, job);
        return wish ? wish->checkpoint : 0;
    } catch (const std::exception &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
        return 0;
    }
}

void say_all(const std::vector<std::string> &warnings)
{
    for (const std::string &warning : warnings) {
        fmt::print(stderr, "ckpt: {}\n", warning);
    }
}

} // namespace

OutputRevealer::OutputRevealer(TierDirectories directories, std::string job,
                               std::uint64_t restarted_from)
    : directories_(std::move(directories)), job_(std::move(job)),
      revealed_(std::max(restarted_from, newest_mark(directories_, job_))),
      thread_([this] { run(); })
{
}

OutputRevealer::~OutputRevealer()
{
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wakes_.notify_one();
    thread_.join();
}

void OutputRevealer::run()
{
    std::unique_lock lock(mutex_);

    while (!wakes_.wait_for(lock, look_again, [this] { return ends_; })) {
        lock.unlock();
        try {
            reveal_newest();
        } catch (const std::exception &problem) { /* tries again at the next checkpoint */
            say(problem.what());
        }
        lock.lock();
    }
}

void OutputRevealer::reveal_newest()
{
    const auto wish = newest(directories_, job_);

    if (!wish || wish->checkpoint <= revealed_) {
        return;
    }
    revealed_ = wish->checkpoint;
    for (const std::string &warning : journal::reveal(*wish)) {
        say(warning);
    }
}

/* Prints each warning once, because it recurs at every checkpoint. */
void OutputRevealer::say(const std::string &warning)
{
    if (said_.insert(warning).second) {
        say_all({warning});
    }
}

void reveal_all_outputs(const TierDirectories &directories, const std::string &job)
{
    say_all(journal::reveal({.journal = journal_of(directories, job)}));
}

void reveal_committed_outputs(const TierDirectories &directories, const std::string &job)
{
    const auto wish = newest(directories, job);

    if (!wish) {
        return reveal_all_outputs(directories, job);
    }
    say_all(journal::reveal(*wish));
    for (const auto &place : journal::places_of(wish->journal)) {
        if (!journal::names_in_place(place).empty()) {
            fmt::print(stderr,
                       "ckpt: files that were written after the newest checkpoint stay concealed "
                       "in {}; ckpt run --resume goes on with the job\n",
                       place.string());
        }
    }
}

} // namespace ckpt::cli
