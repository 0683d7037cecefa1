/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_tiers.cpp - decides which checkpoints stay where. It removes old ones. With two
 * directories it copies the newest from the fast one to the slow one.
 */
#include "agent/coordinator/coordinator.hpp"
#include "common/invariant.hpp"

#include "image/store/node_record.hpp"
#include "image/pieces/piece_fold.hpp"
#include "journal/drop.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace ckpt
{

using std::chrono::steady_clock;

void Coordinator::use_slow_store(Store slow, std::uint64_t redundant)
{
    CKPT_EXPECT(store_ && !flush_ && !node_level_);
    flush_ = std::make_unique<TierFlush>(worker_, store_->directory() / job_,
                                         std::move(slow), job_, settings_.keep,
                                         flush_hooks(), settings_.copy_interval);
    node_level_ = std::make_unique<NodeLevel>(worker_, store_->directory() / job_, records(),
                                              redundant, settings_.redundancy, settings_.domains,
                                              node_level_hooks());
    flush_->write_job_state(job_state("running"));
}

TierFlush::Hooks Coordinator::flush_hooks()
{
    return {[this](const auto &copy, const auto &piece) { return copy_piece(copy, piece); },
            [this] { collect_garbage(); }};
}

NodeLevel::Hooks Coordinator::node_level_hooks()
{
    return {[this](const std::string &host) {
                const Node *node = places_.agent_of(host);
                return node == nullptr ? std::string() : node->blocks();
            },
            [this](const std::string &host, const RedundancyOrder &order) {
                CKPT_INVARIANT(places_.agent_of(host) != nullptr); /* it has told its place */
                places_.agent_of(host)->write_redundancy(order);
            },
            [this] { collect_garbage(); }};
}

/* Copies checkpoints that an earlier launch, or agents that have died, left only in the fast
 * directory. */
void Coordinator::flush_leftover()
{
    if (!flush_) {
        return;
    }
    worker_.run([this, store = *store_, job = job_, records = records()] {
        try {
            if (auto newest = store.newest_committed(job)) {
                worker_.reply([this, number = newest->number] { flush_->committed(number); });
            }
            if (auto number = NodeRecord::numbers(records); !number.empty()) {
                protect_leftover(NodeRecord::load(records, number.back()));
            }
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
    });
}

/* Runs on the worker's thread. The nodes that have written a checkpoint protect it: the pieces
 * of nodes that are gone are lost and cannot be protected. */
void Coordinator::protect_leftover(const NodeRecord &newest)
{
    if (newest.protection.is_null()) {
        worker_.reply([this, manifest = newest.manifest] {
            const bool all_are_here = std::ranges::all_of(
                manifest.pieces,
                [this](const Piece &piece) { return places_.agent_of(piece.host) != nullptr; });
            if (machine_.phase() != Phase::idle) { /* a checkpoint is under way that will be
                                                      removed from there */
                leftover_due_ = true;
            } else if (all_are_here) {
                node_level_->committed(manifest);
            }
        });
    }
}

/* Orders a node that sees the piece to copy it, even if that node has no ranks any more. Returns
 * the host that copies, or "". */
std::string Coordinator::copy_piece(const TierCopy &copy, const Piece &piece)
{
    Node *node = places_.copier(piece.host, settings_.host);

    if (node == nullptr) {
        return "";
    }
    node->copy_piece(copy.from, copy.to, piece);
    return node->host();
}

/* The ranks stay stopped until the checkpoint is on durable storage, as everything else may be
 * lost with the job. For a job that only moves to other nodes, a checkpoint that survives the
 * loss of some nodes is enough. */
void Coordinator::secure_before_kill()
{
    CKPT_EXPECT(flush_ && node_level_ && attempt_.number > 0);
    auto then = [this, number = attempt_.number](const std::string &error) {
        if (machine_.phase() != Phase::commit || attempt_.number != number) {
            return; /* given up meanwhile */
        }
        if (error.empty()) {
            machine_.committed(steady_clock::now());
            perform();
        } else {
            failed(refusal(CKPT_REFUSAL_NOT_COPIED, "not copied to {}: {}",
                           settings_.slow_directory.string(), error));
        }
    };
    attempt_.flush_until = steady_clock::now() + settings_.timeout;
    if (attempt_.then != Then::move || !attempt_.on_nodes || !node_level_->protects()) {
        flush_->want(attempt_.number, then);
        return;
    }
    const Manifest manifest = *std::exchange(attempt_.on_nodes, std::nullopt);
    node_level_->committed(manifest, [this, then](const std::string &error) {
        if (error.empty()) {
            then(error);
        } else {
            flush_->want(attempt_.number, then);
        }
    });
}

/* A file system that hangs must not stop the ranks for ever. */
void Coordinator::tick_flush(Time now)
{
    if (machine_.phase() == Phase::commit && attempt_.flush_until &&
        now >= *attempt_.flush_until) {
        failed(refusal(CKPT_REFUSAL_NOT_COPIED, "not copied to {} in time",
                       settings_.slow_directory.string()));
    }
}

void Coordinator::copied(Node &node, const std::string &file, const std::string &error)
{
    if (flush_) {
        flush_->copied(node.host(), file, error);
    }
}

void Coordinator::redundancy_written(Node &node, std::uint64_t number,
                                     const std::string &error)
{
    if (node_level_) {
        node_level_->written(node.host(), number, error);
    }
}

/* The checkpoints below the folded piece may be unnecessary now. */
void Coordinator::folded(Node &node, std::uint64_t number, const Piece &piece)
{
    spdlog::info("{} has folded its piece of checkpoint {}", node.host(), number);
    if (flush_) {
        flush_->replace(number, piece);
        return;
    }
    if (!store_) { /* another agent began the folding */
        return;
    }
    worker_.run([this, directory = store_->directory_of(job_, number), piece] {
        try {
            replace_piece(directory, piece);
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
        worker_.reply([this] { collect_garbage(); });
    });
}

/* Drops records of the file journal that no kept checkpoint needs for a rollback of files. Runs
 * on the remover's thread. */
void Coordinator::drop_old_records(const Store &store,
                                   const std::filesystem::path &journal) const
{
    const std::size_t newest = settings_.keep;
    CKPT_EXPECT(settings_.keep > 0);
    std::vector<std::uint64_t> marks;

    for (const Checkpoint &checkpoint : store.checkpoints(job_)) {
        if (checkpoint.manifest && checkpoint.manifest->files_mark != 0) {
            marks.push_back(checkpoint.manifest->files_mark);
        }
    }
    std::ranges::sort(marks);
    if (!journal.empty() && marks.size() >= newest) {
        journal::drop_before(journal, marks[marks.size() - newest]);
    }
}

/* Runs on the remover's thread, as the kernel takes long to remove a large file. Meanwhile the
 * ranks may be stopped for the next checkpoint. That one is not removed, as it is the newest. */
void Coordinator::collect_garbage()
{
    CKPT_EXPECT(store_ && ownership_ != nullptr);
    remover_.run([this, store = *store_, job = job_, keep = settings_.keep,
                  ownership = ownership_, journal = file_journal_] {
        try {
            ownership->require_ours();
            if (flush_) {
                discard_flushed(store, job);
            } else {
                store.collect_garbage(keep, job);
            }
            drop_old_records(store, journal);
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
        worker_.reply([] {}); /* makes the loop check whether the agent has finished */
    });
}

/* Removes the job's checkpoints from its nodes. A program that has ended no longer needs them,
 * nor does one with a checkpoint on storage that outlives the nodes. */
void Coordinator::free_nodes()
{
    constexpr auto all = std::numeric_limits<std::uint64_t>::max();

    if (!node_level_ || ended_as_ != "ended" ||
        (killed_ && attempt_.then == Then::move)) {
        return;
    }
    try {
        if (NodeRecord::numbers(records()).empty()) {
            return;
        }
        NodeRecord::discard(records(), all, {});
        for (Node *node : places_.agents()) {
            node->discard(store_->directory() / job_, all, {});
        }
    } catch (const std::exception &error) {
        spdlog::warn("{}", error.what());
    }
}

/* Runs on the remover's thread. Older checkpoints are kept in the slow directory only. */
void Coordinator::discard_flushed(const Store &store, const std::string &job)
{
    CKPT_EXPECT(flush_ && node_level_);
    TierFlush::Needed needed = flush_->needed();

    needed.stay.merge(node_level_->needed());
    store.discard(job, needed.newest, needed.stay);
    NodeRecord::discard(settings_.slow_directory / job, needed.newest, needed.stay);
    worker_.reply([this, needed, directory = store.directory() / job] {
        for (Node *node : places_.agents_apart()) {
            node->discard(directory, needed.newest, needed.stay);
        }
    });
}

} // namespace ckpt
