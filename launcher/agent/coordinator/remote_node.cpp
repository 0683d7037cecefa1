/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_node.cpp - the ranks of another node: sends orders, receives events.
 */
#include "agent/coordinator/remote_node.hpp"

#include "agent/messages/frames.hpp"
#include "common/error.hpp"
#include "protocol/rank_message.hpp"

#include <utility>

namespace ckpt
{

using nlohmann::json;

RemoteNode::RemoteNode(std::unique_ptr<FrameStream> stream, std::string host,
                       NodeEvents &events, std::function<void()> gone)
    : stream_(std::move(stream)), host_(std::move(host)), events_(events)
{
    stream_->handle(
        {[this](const json &frame) { on_frame(frame); }, std::move(gone)});
    compare_clocks();
}

void RemoteNode::join(Partners &partners)
{
    partners_ = &partners;
    connection_ = partners.add(host_, [this](const json &frame) { stream_->send(frame); });
}

void RemoteNode::leave()
{
    if (Partners *partners = std::exchange(partners_, nullptr)) {
        partners->remove(host_, connection_);
    }
}

/* Sets the message counts towards each peer. */
void RemoteNode::Page::set_counts(const json &frame)
{
    frame.at("sent").get_to(sent);
    frame.at("received").get_to(received);
    if (sent.size() != peers || received.size() != peers) {
        fail("a rank with {} peers counts messages of {} and {}", peers, sent.size(),
             received.size());
    }
}

/* Returns the rank in a frame, which must be on this node: an agent cannot speak for ranks of
 * other nodes. */
int RemoteNode::rank_of(const json &frame) const
{
    int rank = frame.at("rank");

    if (pages_.count(rank) == 0) {
        fail("rank {} is not on {}", rank, host_);
    }
    return rank;
}

void RemoteNode::on_frame(const json &frame)
{
    std::string type = frame.at("type");

    if (type == "node") {
        frame.at("address").get_to(address_);
        frame.at("blocks").get_to(blocks_);
        file_system_ = file_system_from(frame.at("file_system"));
    } else if (type == "here") {
        int rank = frame.at("rank");
        Page page;
        page.peers = frame.at("count");
        page.set_counts(frame);
        frame.at("memory").get_to(page.memory);
        pages_[rank] = std::move(page);
        events_.rank_here(
            *this, rank, frame.at("count"), frame.at("pid"),
            {frame.at("cut"), frame.at("open"), frame.at("in_doubt"),
             frame.at("asked")});
    } else if (type == "said") {
        rank_said(frame);
    } else if (type == "clocks") {
        pages_[rank_of(frame)].clocks = clocks_from(frame.at("clocks"));
    } else if (type == "finished") {
        events_.rank_finished(rank_of(frame));
    } else if (type == "gone") {
        int rank = rank_of(frame);
        events_.rank_gone(rank);
        pages_.erase(rank);
    } else if (type == "captured") {
        events_.captured(rank_of(frame));
    } else if (type == "saved") {
        frame.at("directory").get_to(saved_in_);
        frame.at("bytes").get_to(saved_);
    } else if (type == "written") {
        events_.written(*this, {piece_from(frame.at("piece")), frame.at("memory"),
                                frame.at("standing"), frame.at("faults")});
    } else if (type == "failed") {
        events_.failed(refusal_from(frame));
    } else if (type == "failed_once") {
        events_.failed_once(refusal_from(frame));
    } else if (type == "folded") {
        events_.folded(*this, frame.at("number"), piece_from(frame.at("piece")));
    } else if (type == "copied") {
        events_.copied(*this, frame.at("file"), frame.at("error"));
    } else if (type == "redundancy_written") {
        events_.redundancy_written(*this, frame.at("number"), frame.at("error"));
    } else if (type == "sweep_opened") {
        events_.sweep_opened(*this);
    } else if (type == "sweep_failed") {
        events_.sweep_failed(*this, frame.at("reason"));
    } else if (type == "clock") {
        const std::int64_t asked = frame.at("asked"), there = frame.at("there");
        const std::int64_t now = monotonic_nanoseconds();
        if (asked < 0 || asked > now || there < 0) {
            fail("{} tells no time of its clock", host_);
        }
        if (probe_.answered(asked, there, now)) {
            ask_for_clock();
        }
    } else if (type == "refused") {
        frame.at("counts").get_to(rejected_);
    } else if (type == "undone") {
        events_.undone(*this);
    } else if (partners_ != nullptr && is_of_recovery(type)) {
        partners_->received(host_, frame);
    } else {
        fail("a frame of type '{}' from {}", type, host_);
    }
}

void RemoteNode::rank_said(const json &frame)
{
    int rank = rank_of(frame);
    Page &page = pages_[rank];

    page.clocks = clocks_from(frame.at("clocks"));
    if (frame.contains("sent")) {
        page.set_counts(frame);
    }
    if (frame.contains("seen")) {
        page.seen = seen_from(frame.at("seen"));
    }
    events_.rank_said(rank, message_from(frame.at("message"), CKPT_FROM_RANK));
}

void RemoteNode::set_targets(int rank,
                             const std::vector<std::uint64_t> &targets)
{
    std::vector<ckpt_clock> &clocks = pages_[rank].clocks;

    for (std::size_t i = 0; i < std::min(clocks.size(), targets.size()); i++) {
        clocks[i].target = targets[i];
    }
    stream_->send({{"type", "targets"}, {"rank", rank}, {"targets", targets}});
}

void RemoteNode::set_expected(int rank,
                              const std::vector<std::uint64_t> &expected)
{
    stream_->send(
        {{"type", "expected"}, {"rank", rank}, {"expected", expected}});
}

void RemoteNode::send(const action::Send &order, std::uint64_t epoch)
{
    stream_->send({{"type", "send"},
                   {"rank", order.rank},
                   {"message",
                    to_frame(make_message(order.type, epoch, order.body, order.text))},
                   {"signal", order.signal}});
}

void RemoteNode::capture(const std::filesystem::path &directory,
                         const RankSnapshots &snapshots)
{
    stream_->send({{"type", "capture"},
                   {"directory", directory.string()},
                   {"snapshots", snapshots}});
}

void RemoteNode::open_piece(const std::filesystem::path &directory)
{
    stream_->send({{"type", "open_piece"}, {"directory", directory.string()}});
}

void RemoteNode::add_to_piece(int rank, std::uint64_t snapshot)
{
    stream_->send(
        {{"type", "add_to_piece"}, {"rank", rank}, {"snapshot", snapshot}});
}

void RemoteNode::close_piece(const std::vector<int> &ranks)
{
    stream_->send({{"type", "close_piece"}, {"ranks", ranks}});
}

std::uint64_t RemoteNode::saved(const std::filesystem::path &directory) const
{
    return saved_in_ == directory.string() ? saved_ : 0;
}

void RemoteNode::set_sweep_plan(const SweepPlan &plan)
{
    stream_->send({{"type", "sweep_plan"}, {"plan", to_frame(plan)}});
}

void RemoteNode::open_sweep(std::uint64_t epoch)
{
    stream_->send({{"type", "open_sweep"}, {"epoch", epoch}});
}

void RemoteNode::undo()
{
    stream_->send({{"type", "undo"}});
}

void RemoteNode::pause_protection(const std::string &reason)
{
    stream_->send({{"type", "pause_protection"}, {"reason", reason}});
}

void RemoteNode::committed(std::uint64_t number)
{
    stream_->send({{"type", "committed"}, {"number", number}});
}

void RemoteNode::copy_piece(const std::filesystem::path &from,
                            const std::filesystem::path &to, const Piece &piece)
{
    stream_->send({{"type", "copy_piece"},
                   {"from", from.string()},
                   {"to", to.string()},
                   {"piece", to_frame(piece)}});
}

void RemoteNode::write_redundancy(const RedundancyOrder &order)
{
    stream_->send(to_frame(order));
}

void RemoteNode::discard(const std::filesystem::path &job, std::uint64_t end,
                         const std::set<std::uint64_t> &stay)
{
    stream_->send(
        {{"type", "discard"}, {"job", job.string()}, {"end", end}, {"stay", stay}});
}

void RemoteNode::kill()
{
    stream_->send({{"type", "kill"}});
}

int RemoteNode::memory_of(int rank) const
{
    auto found = pages_.find(rank);
    return found == pages_.end() ? 0 : found->second.memory;
}

std::vector<ckpt_clock> RemoteNode::clocks(int rank) const
{
    auto found = pages_.find(rank);
    return found == pages_.end() ? std::vector<ckpt_clock>()
                                 : found->second.clocks;
}

std::uint64_t RemoteNode::sent(int rank, int peer) const
{
    auto found = pages_.find(rank);
    return found == pages_.end() ? 0 : found->second.sent.at(peer);
}

std::uint64_t RemoteNode::received(int rank, int peer) const
{
    auto found = pages_.find(rank);
    return found == pages_.end() ? 0 : found->second.received.at(peer);
}

RankSeen RemoteNode::seen(int rank, std::uint64_t) const
{
    auto found = pages_.find(rank);
    return found == pages_.end() ? RankSeen() : found->second.seen;
}

/* ---- Clocks ---------------------------------------------------------------- */

void RemoteNode::compare_clocks()
{
    probe_.begin();
    ask_for_clock();
}

void RemoteNode::ask_for_clock()
{
    stream_->send({{"type", "clock"}, {"asked", monotonic_nanoseconds()}});
}

} // namespace ckpt
