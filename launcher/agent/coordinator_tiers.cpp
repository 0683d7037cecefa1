/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_tiers.cpp - which checkpoints stay where: old ones go, and with two
 * directories the newest is brought from the fast one to the slow one.
 */
#include "agent/coordinator.hpp"

#include "image/piece_fold.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>

namespace ckpt
{

using std::chrono::steady_clock;

/* The slow directory must be there when the job begins, so that no number is used twice. */
void Coordinator::open_slow_store()
{
    if (settings_.slow_directory.empty()) {
        return;
    }
    Store slow = Store::create(settings_.slow_directory);
    least_number_ = slow.next_number(job_);
    flush_ = std::make_unique<TierFlush>(
        worker_, store_->directory() / job_, std::move(slow), job_, settings_.keep,
        TierFlush::Hooks{[this](const auto &copy, const auto &piece) {
                             return copy_piece(copy, piece);
                         },
                         [this] { collect_garbage(); }});
}

/* What an earlier launch has left in the fast directory only. */
void Coordinator::flush_leftover()
{
    if (!flush_) {
        return;
    }
    worker_.run([this, store = *store_, job = job_] {
        try {
            if (auto newest = store.newest_committed(job)) {
                worker_.reply([this, number = newest->number] { flush_->committed(number); });
            }
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
    });
}

/* By the node that has written it, also if there are no ranks any more; if it is no longer
 * with us, by any that sees it. */
std::string Coordinator::copy_piece(const TierCopy &copy, const Piece &piece)
{
    auto found =
        std::ranges::find(agents_, piece.host, [](Node *node) { return node->host(); });

    if (found == agents_.end()) {
        found = agents_.begin();
    }
    if (found == agents_.end()) {
        return {};
    }
    (*found)->copy_piece(copy.from, copy.to, piece);
    return (*found)->host();
}

/* Its ranks stand still until it is where it lasts, as all else may be lost with the job. */
void Coordinator::flush_before_kill()
{
    attempt_.flush_until = steady_clock::now() + settings_.timeout;
    flush_->want(attempt_.number, [this, number = attempt_.number](const std::string &error) {
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

/* What it was made on top of may be of no use now. */
void Coordinator::folded(Node &node, std::uint64_t number, const Piece &piece)
{
    spdlog::info("{} has folded its piece of checkpoint {}", node.host(), number);
    if (flush_) {
        flush_->replace(number, piece);
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

/* Beside all else: the kernel takes long to remove a large file, and the ranks may stand
 * still already for the next checkpoint, which is no garbage as long as it is the
 * newest. */
void Coordinator::collect_garbage()
{
    remover_.run([this, store = *store_, job = job_, keep = settings_.keep] {
        try {
            if (flush_) {
                discard_flushed(store, job);
            } else {
                store.collect_garbage(keep, job);
            }
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
        worker_.reply([] {}); /* the loop looks whether all is over */
    });
}

/* On the remover's thread. Old ones are in the slow directory, if they are anywhere. */
void Coordinator::discard_flushed(const Store &store, const std::string &job)
{
    const TierFlush::Needed needed = flush_->needed();

    store.discard(job, needed.newest, needed.stay);
    worker_.reply([this, needed, directory = store.directory() / job] {
        for (Node *node : agents_) {
            if (apart_.contains(node->host())) {
                node->discard(directory, needed.newest, needed.stay);
            }
        }
    });
}

} // namespace ckpt
