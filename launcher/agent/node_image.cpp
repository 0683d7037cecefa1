/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_image.cpp - writes this node's piece of a checkpoint.
 */
#include "agent/node_image.hpp"

#include "common/error.hpp"
#include "common/fault.hpp"

namespace ckpt
{

void NodeImage::prepare()
{
    std::lock_guard lock(mutex_);
    cancelled_ = false;
}

void NodeImage::cancel()
{
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (writer_) {
        writer_->cancel();
    }
}

void NodeImage::open(const std::filesystem::path &directory)
{
    WriterOptions options;
    options.codec = codec_;
    options.identities = &identities_;
    auto writer = std::make_unique<NodeFileWriter>(directory, host_, options);

    std::lock_guard lock(mutex_);
    if (cancelled_) {
        fail("the checkpoint was given up");
    }
    writer_ = std::move(writer);
}

/* Abandons the file unless it was committed. */
void NodeImage::close()
{
    std::lock_guard lock(mutex_);
    writer_.reset();
}

NodeImage::Outcome
NodeImage::write(const std::filesystem::path &directory,
                 const std::vector<StoppedRank> &ranks,
                 const std::function<void(int)> &captured)
{
    Outcome outcome;

    open(directory);
    try {
        for (const StoppedRank &rank : ranks) {
            writer_->survey(rank.pid, rank.snapshot);
        }
        for (const StoppedRank &rank : ranks) {
            fault_kill("agent-during-capture");
            auto read = [&] {
                if (!writer_->shares(rank.rank)) {
                    captured(rank.rank);
                }
            };
            CaptureStats stats =
                writer_->capture(rank.pid, rank.snapshot, read);
            outcome.memory += stats.bytes_mapped;
        }
        for (const StoppedRank &rank : ranks) {
            if (writer_->shares(rank.rank)) {
                captured(rank.rank);
            }
        }
        outcome.piece = writer_->commit();
    } catch (...) {
        close();
        throw;
    }
    close();
    return outcome;
}

} // namespace ckpt
