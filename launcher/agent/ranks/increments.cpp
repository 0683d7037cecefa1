/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * increments.cpp - pieces on top of each other.
 */
#include "agent/ranks/increments.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"
#include "image/store/store.hpp"

#include <spdlog/spdlog.h>

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

/* Returns a tracker that uses the kernel's notes. If the kernel cannot provide these, returns a
 * tracker that compares the pages' content. */
std::shared_ptr<ChangeTracker> make_tracker(pid_t pid, Fd descriptor, int error)
{
    std::string why_not = PageWatch::obstacle(pid);
    if (error != 0) {
        why_not = fmt::format("it has no userfaultfd ({})", std::strerror(error));
    }
    if (why_not.empty()) {
        try {
            return std::make_shared<WatchedChanges>(
                pid, PageWatch(pid, std::move(descriptor)));
        } catch (const Error &problem) {
            why_not = problem.what();
        }
    }
    spdlog::info("changes of process {} are found by comparing contents: {}", pid,
                 why_not);
    return std::make_shared<ContentChanges>(online_cpus());
}

std::uint64_t make_identity()
{
    std::uint64_t identity = 0;
    while (identity == 0) {
        if (::getrandom(&identity, sizeof identity, 0) != sizeof identity) {
            fail_errno(errno, "no random number");
        }
    }
    return identity;
}

} // namespace

void Increments::add(int rank, pid_t pid, Fd descriptor, int error)
{
    trackers_[rank] = make_tracker(pid, std::move(descriptor), error);
}

std::shared_ptr<ChangeTracker> Increments::changes_of(int rank) const
{
    auto found = trackers_.find(rank);
    return found == trackers_.end() ? nullptr : found->second;
}

void Increments::prepare(WriterOptions &options) const
{
    if (limit_ == 0) {
        return;
    }
    options.identity = make_identity();
    if (!chain_.empty() && chain_.size() <= limit_) {
        options.base = chain_.back().file;
        options.base_directory = chain_.back().directory;
    }
}

void Increments::written(const Piece &piece, const fs::path &directory)
{
    if (limit_ > 0) {
        written_ = {{0, piece.identity}, directory, piece.base == 0};
    }
}

/* Logs each obstacle once. */
void Increments::tell_obstacle(int rank, const std::string &obstacle)
{
    if (obstacle != std::exchange(told_[rank], obstacle) && !obstacle.empty()) {
        spdlog::warn("all of rank {} is saved each time: {}", rank, obstacle);
    }
}

std::vector<std::shared_ptr<ChangeTracker>> Increments::committed(std::uint64_t number)
{
    std::vector<std::shared_ptr<ChangeTracker>> trackers;
    if (written_.directory.filename() != checkpoint_directory_name(number)) {
        return trackers;
    }
    written_.file.checkpoint = number;
    if (written_.has_all) {
        chain_.clear();
    }
    CKPT_INVARIANT(chain_.empty() || chain_.back().file.checkpoint < number);
    chain_.push_back(std::exchange(written_, {}));
    CKPT_INVARIANT(chain_.size() <= limit_ + 1);
    for (auto &[rank, tracker] : trackers_) {
        trackers.push_back(tracker);
        tell_obstacle(rank, tracker->obstacle());
    }
    return trackers;
}

std::optional<Increments::ToFold> Increments::begin_folding()
{
    if (is_folding_ || chain_.size() <= std::max(1u, limit_ / 2)) {
        return std::nullopt;
    }
    is_folding_ = true;
    const Link &top = chain_.back();
    return ToFold{top.file.checkpoint, top.file.identity, top.directory};
}

void Increments::end_folding(std::uint64_t checkpoint, bool is_folded)
{
    CKPT_EXPECT(is_folding_);
    auto top = std::ranges::find(chain_, checkpoint,
                                 [](const Link &link) { return link.file.checkpoint; });
    if (is_folded && top != chain_.end()) {
        chain_.erase(chain_.begin(), top);
    }
    is_folding_ = false;
}

} // namespace ckpt
