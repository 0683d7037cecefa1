/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_image.cpp - writes this node's piece of a checkpoint.
 */
#include "agent/ranks/node_image.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/parallel.hpp"
#include "image/store/manifest.hpp"
#include "image/nodefile/message_log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace ckpt
{

namespace fs = std::filesystem;

NodeImage::NodeImage(std::string host, const WriterOptions &options,
                     fs::path directory, std::vector<int> logging)
    : host_(std::move(host)), options_(options), directory_(std::move(directory)),
      logging_(std::move(logging))
{
    options_.saved = &saved_;
}

void NodeImage::cancel()
{
    std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (writer_) {
        writer_->cancel();
    }
}

/* The event loop takes this lock. So it is not held while a file is closed, which may hang. */
void NodeImage::end_writer() noexcept
{
    std::unique_ptr<NodeFileWriter> writer;
    {
        std::lock_guard lock(mutex_);
        writer = std::move(writer_);
    }
}

void NodeImage::give_up() noexcept
{
    cancel();
    finishers_.clear();
    end_writer();
}

void NodeImage::abandon() noexcept
{
    give_up();
    for (int rank : std::exchange(logging_, {})) {
        std::error_code ignored; /* the directory is removed as well */
        fs::remove(message_log_path(directory_, rank), ignored);
    }
}

void NodeImage::open()
{
    if (!options_.base_directory.empty() &&
        !path_exists(options_.base_directory / manifest_name)) {
        options_.base = {}; /* the base was removed: all pages are saved */
    }
    auto writer = std::make_unique<NodeFileWriter>(directory_, host_, options_);

    std::lock_guard lock(mutex_);
    if (cancelled_) {
        fail("the checkpoint was given up");
    }
    CKPT_EXPECT(writer_ == nullptr);
    writer_ = std::move(writer);
}

/* Saves the rank up to the point at which it may go on. */
void NodeImage::begin(const StoppedRank &rank, const std::function<void()> &captured,
                      unsigned threads)
{
    CKPT_EXPECT(writer_ != nullptr);
    std::string remark;
    try {
        remark = writer_->begin(rank.process, captured, threads).remark;
    } catch (...) {
        rethrow_failure(); /* the failure that cancelled this rank */
        throw;
    }
    if (!remark.empty()) {
        std::lock_guard lock(finished_);
        standing_++;
        spdlog::warn("rank {} stood still while it was saved: {}", rank.rank, remark);
    }
}

void NodeImage::finish(int rank)
{
    try {
        CaptureStats saved = writer_->finish(rank);
        std::lock_guard lock(finished_);
        memory_ += saved.bytes_mapped;
        faults_.add(saved.faults);
    } catch (...) {
        std::lock_guard lock(finished_);
        if (failure_ == nullptr) {
            failure_ = std::current_exception();
            writer_->cancel(); /* the work for other ranks is useless now */
        }
    }
}

void NodeImage::finish_later(int rank)
{
    finishers_.emplace_back([this, rank] { finish(rank); });
}

void NodeImage::rethrow_failure()
{
    std::lock_guard lock(finished_);
    if (failure_ != nullptr) {
        std::rethrow_exception(std::exchange(failure_, nullptr));
    }
}

void NodeImage::finish_all()
{
    finishers_.clear(); /* joins the threads */
    rethrow_failure();
}

WrittenPiece NodeImage::commit()
{
    CKPT_EXPECT(writer_ != nullptr && finishers_.empty() && failure_ == nullptr);
    WrittenPiece written{writer_->commit(), memory_, standing_, summarize(faults_)};
    end_writer();
    return written;
}

/* Begins all ranks. Ranks that get write protection begin at the same time, as the kernel's work
 * on each page takes most of the time in every rank. Other ranks begin one after another with
 * all processors, so that the first one can go on as soon as it is read or copied. */
void NodeImage::begin_all(const std::vector<StoppedRank> &ranks, const Captured &captured)
{
    const unsigned all = options_.threads != 0 ? options_.threads : online_cpus();
    const bool together = options_.snapshot == SnapshotMethod::cll;
    const auto at_once = static_cast<unsigned>(std::min<std::size_t>(all, ranks.size()));

    parallel_for(ranks.size(), together ? at_once : 1, [&](std::size_t i) {
        const StoppedRank &rank = ranks[i];
        fault_kill("agent-during-capture");
        begin(
            rank,
            [&] {
                if (!writer_->shares(rank.rank)) {
                    captured(rank.rank);
                }
            },
            together ? std::max(1u, all / at_once) : 0);
    });
}

WrittenPiece NodeImage::write(const std::vector<StoppedRank> &ranks,
                              const Captured &captured)
{
    open();
    for (const StoppedRank &rank : ranks) {
        writer_->survey(rank.process);
    }
    begin_all(ranks, captured);
    for (const StoppedRank &rank : ranks) {
        if (writer_->shares(rank.rank)) {
            captured(rank.rank);
        }
    }
    for (const StoppedRank &rank : ranks) {
        finish_later(rank.rank);
    }
    finish_all();
    return commit();
}

void NodeImage::add(const StoppedRank &rank, const Captured &captured)
{
    if (rank.process.pid < 0) {
        refuse(CKPT_REFUSAL_RANK_DIED, "rank {} has gone", rank.rank);
    }
    writer_->survey(rank.process);
    if (writer_->shares(rank.rank)) {
        refuse(CKPT_REFUSAL_NEEDS_STOP,
               "rank {} shares memory with another rank of this node: they can "
               "only be saved while all of them stand still",
               rank.rank);
    }
    fault_kill("agent-during-cut");
    begin(rank, [&] { captured(rank.rank); });
    finish_later(rank.rank);
}

WrittenPiece NodeImage::close(const std::vector<int> &logged)
{
    CKPT_EXPECT(writer_ != nullptr);
    finish_all();
    for (int rank : logged) {
        fs::path log = message_log_path(directory_, rank);
        fault_kill("agent-during-log");
        writer_->add_message_log(rank, log);
        fs::remove(log);
    }
    logging_.clear();
    return commit();
}

} // namespace ckpt
