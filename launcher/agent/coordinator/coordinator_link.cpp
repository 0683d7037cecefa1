/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_link.cpp - connects this node's ranks with a coordinator on
 * another node.
 */
#include "agent/coordinator/coordinator_link.hpp"

#include "agent/messages/frames.hpp"
#include "agent/base/log.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <limits>

namespace ckpt
{

using nlohmann::json;

namespace
{

constexpr auto retry_after = std::chrono::seconds(1);
constexpr auto clock_tick = std::chrono::milliseconds(5);
/* For users that watch the progress of a checkpoint. */
constexpr auto saved_tick = std::chrono::milliseconds(250);

void add_counts(const RankSession &session, json &frame)
{
    for (int peer = 0; peer < session.rank_count(); peer++) {
        frame["sent"].push_back(session.page().sent(peer));
        frame["received"].push_back(session.page().received(peer));
    }
}

} // namespace

CoordinatorLink::CoordinatorLink(EventLoop &loop, WorkerThread &worker,
                                 LocalNode &local, const Settings &settings,
                                 PeerAddress address, RejectedFrames &rejected)
    : local_(local), settings_(settings), rejected_(rejected),
      peer_(loop, worker, settings.identity(), std::move(address), "agent", rejected,
            {[this] { begin(); },
             [this](const json &frame) { order(frame.at("type"), frame); },
             [this] { lost(); }, [this] { unreachable(); }})
{
    peer_.connect();
}

CoordinatorLink::~CoordinatorLink()
{
    local_.attach(nullptr);
}

void CoordinatorLink::join(Partners &partners)
{
    CKPT_EXPECT(!connected());
    partners.follow();
    partners_ = &partners;
}

/* ---- The connection -------------------------------------------------------- */

void CoordinatorLink::begin()
{
    told_clocks_.clear();
    told_rejected_ = 0;
    peer_.send({{"type", "node"},
                {"address", local_.address()},
                {"blocks", local_.blocks()},
                {"file_system", to_frame(local_.file_system())}});
    if (partners_ != nullptr) {
        partners_->connected([this](const json &frame) { peer_.send(frame); });
    }
    local_.attach(this);
}

void CoordinatorLink::unreachable()
{
    spdlog::warn("the coordinating agent cannot be reached");
    retry_at_ = std::chrono::steady_clock::now() + retry_after;
}

/* Gives up all that was under way: without the coordinator, only this agent tells the ranks to
 * go on. Ranks whose cut is in doubt, as other ranks may have been cut, wait for the next
 * coordinator. */
void CoordinatorLink::lost()
{
    spdlog::warn("the connection to the coordinating agent is lost");
    local_.attach(nullptr);
    if (partners_ != nullptr) {
        partners_->disconnected();
    }
    aligning_ = false;
    const std::string lost =
        Refusal(CKPT_REFUSAL_AGENT_LOST, "the coordinating agent was lost").text();
    for (auto &[rank, session] : local_.ranks()) {
        const ckpt_outcome outcome = session->cut().in_doubt ? CKPT_LEFT_OPEN : CKPT_GIVEN_UP;
        local_.send({rank, CKPT_MSG_RESUME, false, {.end = {outcome}}, lost},
                    epoch_);
        local_.send({rank, CKPT_MSG_HELD, false, {.held = {CKPT_HELD_OVER}}, {}}, epoch_);
        local_.send({rank, CKPT_MSG_ANSWER, true, {.answer = {CKPT_ANSWER_TO_ALL}}, lost},
                    epoch_);
    }
    local_.undo();
    saving_in_.clear();
    retry_at_ = std::chrono::steady_clock::now() + retry_after;
}

void CoordinatorLink::tick(Time now)
{
    if (now >= retry_at_) {
        peer_.connect();
    }
    if (connected() && aligning_) {
        send_clocks();
    }
    if (connected() && rejected_.total() != told_rejected_) {
        tell_rejected();
    }
    if (connected() && !saving_in_.empty() && now >= tell_saved_at_) {
        tell_saved_at_ = now + saved_tick;
        tell_saved();
    }
}

CoordinatorLink::Time CoordinatorLink::next_tick(Time now) const
{
    if (connected() && aligning_) {
        return now + clock_tick;
    }
    if (connected() && !saving_in_.empty()) {
        return std::max(now, tell_saved_at_);
    }
    return peer_.open() || peer_.connecting() ? now + std::chrono::hours(1)
                                              : retry_at_;
}

/* ---- Orders ----------------------------------------------------------------- */

void CoordinatorLink::order(const std::string &type, const json &frame)
{
    if (type == "targets") {
        local_.set_targets(frame.at("rank"), frame.at("targets"));
    } else if (type == "expected") {
        local_.set_expected(frame.at("rank"), frame.at("expected"));
    } else if (type == "send") {
        const ckpt_message order = message_from(frame.at("message"), CKPT_FROM_AGENT);
        const std::uint32_t message = order.type;
        epoch_ = order.epoch;
        cutting_ = message == CKPT_MSG_CUT ||
                   (cutting_ && message != CKPT_MSG_REQUEST);
        if (message == CKPT_MSG_REQUEST || message == CKPT_MSG_RUN ||
            message == CKPT_MSG_HELD) {
            aligning_ = true;
        } else if (message == CKPT_MSG_STOP || message == CKPT_MSG_CUT ||
                   message == CKPT_MSG_RESUME) {
            aligning_ = false;
        }
        local_.send({frame.at("rank"), static_cast<ckpt_message_type>(message),
                     frame.at("signal"), order.as, order.text},
                    epoch_);
    } else if (type == "clock") {
        peer_.send({{"type", "clock"},
                    {"asked", frame.at("asked")},
                    {"there", monotonic_nanoseconds()}});
    } else if (type == "capture") {
        begin_to_save(frame.at("directory"));
        local_.capture(frame.at("directory").get<std::string>(),
                       frame.at("snapshots").get<RankSnapshots>());
    } else if (type == "open_piece") {
        begin_to_save(frame.at("directory"));
        local_.open_piece(frame.at("directory").get<std::string>());
    } else if (type == "add_to_piece") {
        local_.add_to_piece(frame.at("rank"), frame.at("snapshot"));
    } else if (type == "close_piece") {
        local_.close_piece(frame.at("ranks"));
    } else if (type == "sweep_plan") {
        local_.set_sweep_plan(sweep_plan_from(frame.at("plan")));
    } else if (type == "open_sweep") {
        local_.open_sweep(frame.at("epoch"));
    } else if (type == "undo") {
        saving_in_.clear();
        local_.undo();
    } else if (type == "pause_protection") {
        local_.pause_protection(frame.at("reason"));
    } else if (type == "committed") {
        local_.committed(frame.at("number"));
    } else if (type == "copy_piece") {
        local_.copy_piece(frame.at("from").get<std::string>(),
                          frame.at("to").get<std::string>(), piece_from(frame.at("piece")));
    } else if (type == "write_redundancy") {
        local_.write_redundancy(redundancy_order_from(frame));
    } else if (type == "discard") {
        discard(frame.at("job").get<std::string>(), frame.at("end"),
                frame.at("stay").get<std::set<std::uint64_t>>());
    } else if (type == "kill") {
        local_.kill();
    } else if (partners_ != nullptr && is_of_recovery(type)) {
        partners_->received(frame);
    } else {
        fail("an order of type '{}'", type);
    }
}

/* If all checkpoints are removed, the job is over, and its log is removed as well. */
void CoordinatorLink::discard(const std::filesystem::path &job, std::uint64_t end,
                              const std::set<std::uint64_t> &stay)
{
    if (end == std::numeric_limits<std::uint64_t>::max()) {
        std::error_code error;
        std::filesystem::remove(log_path(job, settings_.host), error);
    }
    local_.discard(job, end, stay);
}

void CoordinatorLink::begin_to_save(const std::string &directory)
{
    CKPT_INVARIANT(!fault_strikes("invariant-in-order"));
    saving_in_ = directory;
    told_saved_ = 0;
}

/* Reports the rejected frames to the coordinator, which `ckpt status` asks. */
void CoordinatorLink::tell_rejected()
{
    told_rejected_ = rejected_.total();
    peer_.send({{"type", "refused"}, {"counts", rejected_.counts()}});
}

void CoordinatorLink::tell_saved()
{
    const std::uint64_t saved = local_.saved(saving_in_);

    if (saved != told_saved_) {
        told_saved_ = saved;
        peer_.send({{"type", "saved"}, {"directory", saving_in_}, {"bytes", saved}});
    }
}

/* ---- Events ------------------------------------------------------------------ */

/* Reports changed clocks, as the coordinator cannot read the pages of this node's ranks. */
void CoordinatorLink::send_clocks()
{
    for (auto &[rank, session] : local_.ranks()) {
        json clocks = to_frame(session->page().clocks());
        json &told = told_clocks_[rank];
        if (clocks != told) {
            peer_.send(
                {{"type", "clocks"}, {"rank", rank}, {"clocks", clocks}});
            told = std::move(clocks);
        }
    }
}

void CoordinatorLink::rank_here(Node &, int rank, int rank_count, pid_t pid,
                                const RankCut &cut)
{
    json frame = {{"type", "here"},
                  {"rank", rank},
                  {"count", rank_count},
                  {"pid", pid},
                  {"cut", cut.epoch},
                  {"open", cut.open},
                  {"in_doubt", cut.in_doubt},
                  {"asked", cut.asked},
                  {"memory", local_.memory_of(rank)}};

    add_counts(*local_.ranks().at(rank), frame);
    peer_.send(frame);
    json clocks = to_frame(local_.clocks(rank));
    peer_.send({{"type", "clocks"}, {"rank", rank}, {"clocks", clocks}});
}

void CoordinatorLink::rank_said(int rank, const ckpt_message &message)
{
    const RankSession &session = *local_.ranks().at(rank);
    json frame = {{"type", "said"},
                  {"rank", rank},
                  {"message", to_frame(message)},
                  {"clocks", to_frame(session.page().clocks())}};

    const bool has_left = message.type == CKPT_MSG_REPORT &&
                          message.as.report.place == CKPT_PLACE_FREE &&
                          message.as.report.holds != 0;
    const bool is_cut = cutting_ && (message.type == CKPT_MSG_READY ||
                                     message.type == CKPT_MSG_REFUSED);
    if (message.type == CKPT_MSG_STOPPED || has_left || is_cut) {
        add_counts(session, frame);
    }
    if (message.type == CKPT_MSG_LOGGED) {
        frame["seen"] = to_frame(local_.seen(rank, message.epoch));
    }
    peer_.send(frame);
}

void CoordinatorLink::rank_finished(int rank)
{
    peer_.send({{"type", "finished"}, {"rank", rank}});
}

void CoordinatorLink::rank_gone(int rank)
{
    peer_.send({{"type", "gone"}, {"rank", rank}});
}

void CoordinatorLink::captured(int rank)
{
    peer_.send({{"type", "captured"}, {"rank", rank}});
}

void CoordinatorLink::written(Node &, const WrittenPiece &written)
{
    tell_saved();
    saving_in_.clear();
    peer_.send({{"type", "written"},
                {"piece", to_frame(written.piece)},
                {"memory", written.memory},
                {"standing", written.standing},
                {"faults", written.faults}});
}

void CoordinatorLink::failed(const Refusal &reason)
{
    peer_.send(to_frame("failed", reason.after(settings_.host + ": ")));
}

void CoordinatorLink::failed_once(const Refusal &reason)
{
    peer_.send(to_frame("failed_once", reason.after(settings_.host + ": ")));
}

void CoordinatorLink::folded(Node &, std::uint64_t number, const Piece &piece)
{
    peer_.send({{"type", "folded"}, {"number", number}, {"piece", to_frame(piece)}});
}

void CoordinatorLink::copied(Node &, const std::string &file, const std::string &error)
{
    peer_.send({{"type", "copied"}, {"file", file}, {"error", error}});
}

void CoordinatorLink::redundancy_written(Node &, std::uint64_t number,
                                         const std::string &error)
{
    peer_.send({{"type", "redundancy_written"}, {"number", number}, {"error", error}});
}

void CoordinatorLink::sweep_opened(Node &)
{
    peer_.send({{"type", "sweep_opened"}});
}

void CoordinatorLink::sweep_failed(Node &, const std::string &reason)
{
    peer_.send({{"type", "sweep_failed"},
                {"reason", settings_.host + ": " + reason}});
}

void CoordinatorLink::undone(Node &)
{
    peer_.send({{"type", "undone"}});
}

} // namespace ckpt
