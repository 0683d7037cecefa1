/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.cpp - memory files that outlive the ranks.
 */
#include "agent/ranks/shared_memory.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <cstddef>
#include <utility>

namespace ckpt
{

namespace
{

/* A window and a log for each rank, several times. The agent may have more descriptors than
 * that. */
constexpr std::size_t most_files = 512;

} // namespace

void SharedMemory::add(const ckpt_message &message, Fd file, int rank_count)
{
    struct stat status;

    if (!file || fstat(file.get(), &status) < 0 || !S_ISREG(status.st_mode) ||
        message.as.shared.kind > CKPT_SHARED_LOG) {
        reject(Rejection::malformed, "SHARED of kind {} without a memory file ({})",
               message.as.shared.kind, message.text);
    }
    const std::pair key(status.st_dev, status.st_ino);
    if (files_.contains(key)) {
        return;
    }
    if (files_.size() >= most_files) {
        is_full_ = true;
        return;
    }
    if (message.as.shared.kind == CKPT_SHARED_PAGE) {
        page_.emplace(Fd(fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), rank_count);
        files_.erase(key_of_page_); /* of a former world */
        key_of_page_ = key;
    }
    files_.emplace(key, std::move(file));
    CKPT_INVARIANT(files_.size() <= most_files);
}

std::optional<IndependentState> SharedMemory::independent() const
{
    return page_ ? page_->read() : std::nullopt;
}

std::string SharedMemory::obstacle() const
{
    if (is_full_) {
        return fmt::format("the ranks share more than {} memory files", most_files);
    }
    return page_ ? "" : "no rank has shared the page of independent checkpoints";
}

} // namespace ckpt
