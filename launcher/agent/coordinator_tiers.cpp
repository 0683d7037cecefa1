/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_tiers.cpp - which checkpoints stay where: old ones go, and with two
 * directories the newest is brought from the fast one to the slow one.
 */
#include "agent/coordinator.hpp"

#include "image/node_record.hpp"
#include "image/piece_fold.hpp"
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
                const Node *node = agent_of(host);
                return node == nullptr ? std::string() : node->blocks();
            },
            [this](const std::string &host, const RedundancyOrder &order) {
                agent_of(host)->write_redundancy(order);
            },
            [this] { collect_garbage(); }};
}

/* Null: there is none. */
Node *Coordinator::agent_of(const std::string &host) const
{
    auto found = std::ranges::find(agents_, host, [](Node *node) { return node->host(); });

    return found == agents_.end() ? nullptr : *found;
}

/* What an earlier launch, or agents that have died, left in the fast directory only. */
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

/* On the worker's thread. By the nodes that have written it: those that have gone have
 * left nothing to be protected. */
void Coordinator::protect_leftover(const NodeRecord &newest)
{
    if (newest.protection.is_null()) {
        worker_.reply([this, manifest = newest.manifest] {
            const bool all_are_here = std::ranges::all_of(
                manifest.pieces,
                [this](const Piece &piece) { return agent_of(piece.host) != nullptr; });
            if (machine_.phase() != Phase::idle) { /* one may be there that will go */
                leftover_due_ = true;
            } else if (all_are_here) {
                node_level_->committed(manifest);
            }
        });
    }
}

/* By the node that has written it, also if there are no ranks any more; if it is no longer
 * with us, by any that sees it. */
std::string Coordinator::copy_piece(const TierCopy &copy, const Piece &piece)
{
    Node *node = agent_of(piece.host);

    if (node == nullptr && !agents_.empty()) {
        node = agents_.front();
    }
    if (node == nullptr) {
        return {};
    }
    node->copy_piece(copy.from, copy.to, piece);
    return node->host();
}

/* Its ranks stand still until it is where it lasts, as all else may be lost with the job. If
 * this only moves to other nodes it is enough that it survives the loss of some. */
void Coordinator::secure_before_kill()
{
    auto then = [this, number = attempt_.number](const std::string &error) {
        if (machine_.phase() != Phase::commit || attempt_.number != number) {
            return; /* given up meanwhile */
        }
        if (error.empty()) {
            machine_.committed(steady_clock::now());
            perform();
        } else {
            failed(fmt::format("not copied to {}: {}", settings_.slow_directory.string(),
                               error));
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

/* A file system that hangs does not keep them for ever. */
void Coordinator::tick_flush(Time now)
{
    if (machine_.phase() == Phase::commit && attempt_.flush_until &&
        now >= *attempt_.flush_until) {
        failed(fmt::format("not copied to {} in time", settings_.slow_directory.string()));
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

/* What it was made on top of may be of no use now. */
void Coordinator::folded(Node &node, std::uint64_t number, const Piece &piece)
{
    spdlog::info("{} has folded its piece of checkpoint {}", node.host(), number);
    if (flush_) {
        flush_->replace(number, piece);
        return;
    }
    if (!store_) { /* whoever began it was another agent */
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

/* Files can be rolled back to those checkpoints that are kept. On the remover's thread. */
void Coordinator::drop_old_records(const Store &store,
                                   const std::filesystem::path &journal) const
{
    const std::size_t newest = settings_.keep;
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

/* The remover's thread does this, as the kernel takes long to remove a large file. Meanwhile
 * the ranks may stand still for the next checkpoint. That one stays: it is the newest. */
void Coordinator::collect_garbage()
{
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
        worker_.reply([] {}); /* the loop looks whether all is over */
    });
}

/* A program that has come to its end, or is where it outlives its nodes, needs nothing that
 * lies on them any more. */
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
        for (Node *node : agents_) {
            node->discard(store_->directory() / job_, all, {});
        }
    } catch (const std::exception &error) {
        spdlog::warn("{}", error.what());
    }
}

/* On the remover's thread. Old ones are in the slow directory, if they are anywhere. */
void Coordinator::discard_flushed(const Store &store, const std::string &job)
{
    TierFlush::Needed needed = flush_->needed();

    needed.stay.merge(node_level_->needed());
    store.discard(job, needed.newest, needed.stay);
    NodeRecord::discard(settings_.slow_directory / job, needed.newest, needed.stay);
    worker_.reply([this, needed, directory = store.directory() / job] {
        for (Node *node : agents_) {
            if (apart_.contains(node->host())) {
                node->discard(directory, needed.newest, needed.stay);
            }
        }
    });
}

} // namespace ckpt
