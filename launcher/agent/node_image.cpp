/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_image.cpp - writes this node's piece of a checkpoint.
 */
#include "agent/node_image.hpp"

#include "common/error.hpp"
#include "common/fault.hpp"
#include "image/message_log.hpp"

#include <system_error>
#include <utility>

namespace ckpt
{

namespace fs = std::filesystem;

NodeImage::NodeImage(std::string host, Codec codec, fs::path directory,
                     std::vector<int> logging, FileIdentities &identities)
    : host_(std::move(host)), codec_(codec), directory_(std::move(directory)),
      identities_(identities), logging_(std::move(logging))
{
}

void NodeImage::cancel()
{
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (writer_) {
        writer_->cancel();
    }
}

void NodeImage::give_up() noexcept
{
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    writer_.reset();
}

void NodeImage::abandon() noexcept
{
    give_up();
    for (int rank : std::exchange(logging_, {})) {
        std::error_code ignored; /* the directory will be removed, too */
        fs::remove(message_log_path(directory_, rank), ignored);
    }
}

void NodeImage::open()
{
    WriterOptions options;
    options.codec = codec_;
    options.identities = &identities_;
    auto writer = std::make_unique<NodeFileWriter>(directory_, host_, options);

    std::lock_guard lock(mutex_);
    if (cancelled_) {
        fail("the checkpoint was given up");
    }
    writer_ = std::move(writer);
}

void NodeImage::save(const StoppedRank &rank,
                     const std::function<void()> &captured)
{
    memory_ += writer_->capture(rank.pid, rank.snapshot, captured).bytes_mapped;
}

NodeImage::Outcome NodeImage::finish()
{
    Outcome outcome{writer_->commit(), memory_};
    std::lock_guard lock(mutex_);
    writer_.reset();
    return outcome;
}

NodeImage::Outcome NodeImage::write(const std::vector<StoppedRank> &ranks,
                                    const Captured &captured)
{
    open();
    for (const StoppedRank &rank : ranks) {
        writer_->survey(rank.pid, rank.snapshot);
    }
    for (const StoppedRank &rank : ranks) {
        fault_kill("agent-during-capture");
        save(rank, [&] {
            if (!writer_->shares(rank.rank)) {
                captured(rank.rank);
            }
        });
    }
    for (const StoppedRank &rank : ranks) {
        if (writer_->shares(rank.rank)) {
            captured(rank.rank);
        }
    }
    return finish();
}

void NodeImage::add(const StoppedRank &rank, const Captured &captured)
{
    writer_->survey(rank.pid, rank.snapshot);
    if (writer_->shares(rank.rank)) {
        fail("rank {} shares memory with another rank of this node: they can "
             "only be saved while all of them stand still",
             rank.rank);
    }
    fault_kill("agent-during-cut");
    save(rank, [&] { captured(rank.rank); });
}

NodeImage::Outcome NodeImage::close(const std::vector<int> &logged)
{
    for (int rank : logged) {
        fs::path log = message_log_path(directory_, rank);
        fault_kill("agent-during-log");
        writer_->add_message_log(rank, log);
        fs::remove(log);
    }
    logging_.clear();
    return finish();
}

} // namespace ckpt
