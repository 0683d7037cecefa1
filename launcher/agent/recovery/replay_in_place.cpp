/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_in_place.cpp - the steps from stopped survivors to the moment at which all ranks compute
 * again.
 */
#include "agent/recovery/replay_in_place.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

namespace
{

/* From `recovering` to the answer. */
constexpr auto longest_answer = std::chrono::seconds(5);
/* For the copy to live: the others stand still meanwhile. */
constexpr auto longest_thaw = std::chrono::seconds(10);
/* For all ranks to meet: MPI_Init waits for ever. */
constexpr auto longest_change = std::chrono::seconds(60);

/* Returns a memory file with the settings, a NUL after each. Throws Error. */
Fd file_of(const std::vector<std::string> &settings)
{
    std::string text;

    for (const std::string &setting : settings) {
        text.append(setting).push_back('\0');
    }
    Fd file(::memfd_create("ckpt-world", MFD_CLOEXEC));
    if (!file || ::write(file.get(), text.data(), text.size()) !=
                     static_cast<ssize_t>(text.size())) {
        fail_errno(errno, "the variables of a world cannot be written to a memory file");
    }
    return file;
}

} // namespace

ReplayInPlace::ReplayInPlace(EventLoop &loop, LocalNode &local, WorldService &worlds, Hooks hooks)
    : loop_(loop), local_(local), worlds_(worlds), hooks_(std::move(hooks)), timer_(loop, [this] {
          trouble_ = phase_ == Phase::asking    ? "ckpt run does not answer"
                     : phase_ == Phase::thawing ? "the copy of the rank does not come to life"
                                                : "the ranks do not meet in another world";
      })
{
}

/* ---- Nothing is changed yet -------------------------------------------------------- */

/* Returns why the rank cannot come back beside the others; "": it can. */
std::string ReplayInPlace::obstacle(int rank) const
{
    if (is_stopped_) {
        return "the end of the job was requested";
    }
    if (!hooks_.is_supervised()) {
        return "ckpt run has gone";
    }
    if (local_.ranks().empty()) {
        return "no other rank lives";
    }
    if (hooks_.streams(rank) == nullptr) {
        return "the standard streams of the rank cannot be had";
    }
    return worlds_.obstacle();
}

bool ReplayInPlace::begin(int rank)
{
    CKPT_EXPECT(phase_ == Phase::idle && local_.salvage().is_proxy(rank));
    const std::string why = obstacle(rank);

    if (!why.empty()) {
        spdlog::warn("rank {} is not replayed in place: {}", rank, why);
        return false;
    }
    rank_ = rank;
    phase_ = Phase::asking;
    timer_.start(longest_answer);
    hooks_.news({SalvageEvent::Kind::recovering, rank, 0, 0, {}});
    return true;
}

void ReplayInPlace::answered(bool is_allowed)
{
    if (phase_ != Phase::asking) {
        return;
    }
    timer_.stop();
    if (!is_allowed) {
        trouble_ = "the end of the job was requested";
        return;
    }
    try {
        thaw();
    } catch (const std::exception &problem) {
        trouble_ = problem.what();
    }
}

void ReplayInPlace::thaw()
{
    const CowSnapshot &saved = local_.salvage().copy();

    phase_ = Phase::thawing;
    fault_kill("agent-at-thaw");
    auto [own, theirs] = connected_pair(SOCK_SEQPACKET,
                                        fmt::format("no connection to rank {}", rank_));
    world_ = worlds_.enter();
    timer_.start(longest_thaw);
    copy_.emplace(loop_,
                  Thawing::Order{rank_, KeptCopy{saved.process, saved.snapshot},
                                 fmt::format("independent checkpoint {}", saved.number),
                                 std::move(world_.environments.at(rank_)), *hooks_.streams(rank_),
                                 std::move(theirs), false, true},
                  Thawing::Hooks{[this](const std::string &why) {
                                     trouble_ = trouble_.empty() ? why : trouble_;
                                 },
                                 [this] { lives_ = true; }});
    local_.accept(std::move(own), copy_->pid());
    worlds_.process_of(world_.name, rank_, copy_->pid());
}

/* A copy that may have begun to live must not be read: without it the checkpoint fails. */
void ReplayInPlace::save_instead(const std::string &why)
{
    if (copy_ && !is_refused_) {
        copy_->kill();
    }
    spdlog::warn("rank {} is not replayed in place: {}", rank_, why);
    hooks_.news({SalvageEvent::Kind::not_recovered, rank_, 0, 0, why});
    hooks_.news({SalvageEvent::Kind::begun, rank_, 0, 0, {}}); /* the salvage goes on */
    settle();
    hooks_.save_instead();
}

void ReplayInPlace::give_up()
{
    if (phase_ == Phase::asking || phase_ == Phase::thawing) {
        if (copy_) {
            copy_->kill();
        }
        settle();
    }
}

/* ---- The change of worlds ----------------------------------------------------------- */

/* The others find RESUME behind this order. So they go on as soon as all have met. */
void ReplayInPlace::change_others()
{
    phase_ = Phase::changing;
    fault_kill("agent-at-change");
    timer_.start(longest_change);
    awaited_ = {rank_};
    if (fault_strikes("survivor-at-change")) {
        local_.ranks().begin()->second->kill();
    }
    for (const auto &[rank, session] : local_.ranks()) {
        awaited_.insert(rank);
        worlds_.process_of(world_.name, rank, session->pid());
        if (!session->change_world(file_of(world_.variables.at(rank)))) {
            ckpt::fail("rank {} cannot be told to change worlds", rank);
        }
    }
    hooks_.goes_on();
}

bool ReplayInPlace::changed(int rank, const ckpt_message &answer)
{
    if (phase_ != Phase::changing || rank == rank_ || !awaited_.contains(rank)) {
        return false;
    }
    if (answer.type == CKPT_MSG_WORLD_READY) {
        awaited_.erase(rank);
    } else {
        trouble_ = fmt::format("rank {}: {}", rank, answer.text);
    }
    return true;
}

void ReplayInPlace::rank_here(int rank)
{
    if (phase_ == Phase::changing && rank == rank_) {
        copy_->connected();
        awaited_.erase(rank);
    }
}

void ReplayInPlace::rank_gone(int rank)
{
    if (phase_ == Phase::idle) {
        began_ = Clock::now();
    } else if (phase_ == Phase::changing && trouble_.empty()) {
        trouble_ = fmt::format("rank {} has died meanwhile", rank);
    }
}

void ReplayInPlace::refused(pid_t process, const std::string &why)
{
    if (copy_ && copy_->pid() == process) {
        trouble_ = why;
        is_refused_ = true;
    }
}

/* The ranks that live wait for the others for ever, or are in different worlds. */
void ReplayInPlace::fail(const std::string &why)
{
    spdlog::warn("rank {} is not replayed in place: {}", rank_, why);
    copy_->kill();
    for (const auto &[rank, session] : local_.ranks()) {
        session->kill();
    }
    hooks_.news({SalvageEvent::Kind::not_recovered, rank_, 0, 0, why});
    settle();
}

void ReplayInPlace::done()
{
    const std::chrono::duration<double> took = Clock::now() - began_;

    spdlog::info("rank {} is replayed in place; the others went on after {}", rank_,
                 format_seconds(took.count()));
    hooks_.news({SalvageEvent::Kind::replayed, rank_, 0, 0, {}, took.count()});
    worlds_.forget_former();
    settle();
}

void ReplayInPlace::look()
{
    if (phase_ == Phase::idle) {
        return;
    }
    if (phase_ == Phase::thawing && trouble_.empty() && lives_) {
        try {
            change_others();
        } catch (const std::exception &problem) {
            trouble_ = problem.what();
        }
    }
    if (trouble_.empty()) {
        if (phase_ == Phase::changing && awaited_.empty()) {
            done();
        }
    } else if (phase_ == Phase::changing) {
        fail(std::exchange(trouble_, {}));
    } else {
        save_instead(std::exchange(trouble_, {}));
    }
}

void ReplayInPlace::stop()
{
    is_stopped_ = true;
    if (phase_ == Phase::changing) {
        fail("the end of the job was requested");
    } else {
        give_up();
    }
}

void ReplayInPlace::settle()
{
    timer_.stop();
    copy_.reset();
    world_ = {};
    awaited_.clear();
    trouble_.clear();
    lives_ = is_refused_ = false;
    phase_ = Phase::idle;
    rank_ = -1;
}

} // namespace ckpt
