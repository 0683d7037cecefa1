/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * salvage.cpp - a proxy that replaces a rank that has died.
 */
#include "agent/ranks/salvage.hpp"

#include "common/fault_injection.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/epoll.h>

#include <utility>

namespace ckpt
{

Salvage::Salvage(EventLoop &loop, bool is_wanted, Hooks hooks)
    : loop_(loop), is_wanted_(is_wanted), hooks_(std::move(hooks))
{
}

Salvage::~Salvage()
{
    for (const auto &[rank, gone] : ending_) {
        loop_.forget(gone.process.get());
    }
}

/* ---- Between failures ------------------------------------------------------- */

void Salvage::shared(RankSession &rank, const ckpt_message &message)
{
    Fd file = rank.take_passed();

    if (is_wanted_) {
        memory_.add(message, std::move(file), rank.rank_count());
    }
}

void Salvage::kept(RankSession &rank, const ckpt_message &message)
{
    Fd connection = rank.take_passed(); /* the copy ends when this is closed */

    if (is_wanted_) {
        copies_.keep(rank, message, std::move(connection));
        fault_kill("agent-at-kept");
    }
}

void Salvage::here(int rank)
{
    forget_end_of(rank);
    dead_.erase(rank);
    copies_.forget(rank); /* copies of another process, or of an earlier program */
    if (is_proxy(rank)) {
        over(0, refusal(CKPT_REFUSAL_NOT_REPLAYABLE, "another process says it is rank {}",
                        rank));
    }
}

/* ---- A rank dies -------------------------------------------------------------- */

void Salvage::gone(const RankSession &rank, bool is_finished)
{
    if (!is_wanted_ || is_stopped_ || is_finished) {
        copies_.forget(rank.rank());
        return;
    }
    Gone gone{Fd(fcntl(rank.process_descriptor(), F_DUPFD_CLOEXEC, 0)), rank.shared_page(),
              rank.cut()};
    if (!gone.process) {
        return;
    }
    const int number = rank.rank();
    if (copies_.find(number) == nullptr) { /* whether its process lives on or not */
        refuse_to_replay(number, {CKPT_REFUSAL_NOT_REPLAYABLE, obstacle(number, gone.cut)});
        return;
    }
    hooks_.news({SalvageEvent::Kind::begun, number, 0, 0, {}});
    loop_.watch(gone.process.get(), EPOLLIN, [this, number](std::uint32_t) { ended(number); });
    ending_[number] = std::move(gone);
}

void Salvage::forget_end_of(int rank)
{
    auto found = ending_.find(rank);

    if (found != ending_.end()) {
        loop_.forget(found->second.process.get());
        ending_.erase(found);
    }
}

void Salvage::refuse_to_replay(int rank, const Refusal &why)
{
    spdlog::warn("rank {} is not replayed: {}", rank, why.text());
    hooks_.news({SalvageEvent::Kind::failed, rank, 0, 0, why.text()});
}

/* Returns why the rank cannot be replayed, by everything that is known here. */
std::string Salvage::obstacle(int rank, const RankCut &cut) const
{
    const CowSnapshot *copy = copies_.find(rank);
    const auto state = memory_.independent();
    std::string why = memory_.obstacle();

    if (why.empty() && !state) {
        why = "the page of independent checkpoints is damaged";
    }
    if (why.empty()) {
        why = replay_obstacle(*state, rank, copy == nullptr ? 0 : copy->number);
    }
    if (why.empty() && !copy->process->is_alive()) {
        why = fmt::format("the copy of rank {} has ended", rank);
    }
    if (why.empty() && copy->epoch != cut.epoch) {
        why = fmt::format("the independent checkpoint of rank {} is older than the last "
                          "checkpoint of all",
                          rank);
    }
    for (int other : dead_) {
        if (why.empty() && other != rank) {
            why = fmt::format("rank {} has died, too", other);
        }
    }
    return why.empty() ? hooks_.obstacle(rank) : why;
}

/* The process has ended, so all its messages have been handled. */
void Salvage::ended(int rank)
{
    Gone gone = std::move(ending_.at(rank));

    loop_.forget(gone.process.get());
    ending_.erase(rank);
    dead_.insert(rank);
    const auto state = memory_.independent(); /* other processes may change it at any time */
    const std::string why = proxy_   ? fmt::format("rank {} has died, too", proxy_->rank)
                            : !state ? "the page of independent checkpoints is damaged"
                                     : obstacle(rank, gone.cut);
    if (!why.empty()) {
        refuse_to_replay(rank, {CKPT_REFUSAL_NOT_REPLAYABLE, why});
        return;
    }
    const CowSnapshot &copy = *copies_.find(rank);
    spdlog::info("rank {} has died; its independent checkpoint {} takes its place", rank,
                 copy.number);
    proxy_.emplace(InPlace{rank, copy, gone.page, state->ranks.at(rank).interval,
                           RankProxy(rank, copy.snapshot, gone.page->clocks(),
                                     copy.counts.received)});
    CKPT_INVARIANT(ending_.count(rank) == 0 && dead_.contains(rank));
    fault_kill("agent-at-salvage");
    hooks_.proxy(rank, gone.cut);
}

void Salvage::over(std::uint64_t number, const Refusal &why)
{
    if (!proxy_) {
        return;
    }
    const InPlace ended = *std::exchange(proxy_, std::nullopt);
    if (number == 0) {
        refuse_to_replay(ended.rank, why);
    } else {
        hooks_.news({SalvageEvent::Kind::done, ended.rank, number, ended.interval, {}});
    }
}

void Salvage::hand_over()
{
    CKPT_EXPECT(proxy_);
    proxy_.reset();
    copies_.forget_all();
}

/* ---- The proxy ------------------------------------------------------------------ */

void Salvage::say(const RankProxy::Answer &answer)
{
    if (answer) {
        CKPT_EXPECT(proxy_);
        hooks_.said(proxy_->rank, *answer);
    }
}

/* Checks again while all ranks are stopped, as the state may have changed since the rank died. */
std::string Salvage::still_obstacle() const
{
    const auto state = memory_.independent();

    if (!state) {
        return "the page of independent checkpoints is damaged";
    }
    if (!proxy_->copy.process->is_alive()) {
        return "its copy has ended";
    }
    return own_obstacle(*state, proxy_->rank, proxy_->copy.number);
}

void Salvage::send(const action::Send &order, std::uint64_t epoch)
{
    CKPT_EXPECT(proxy_ && proxy_->rank == order.rank);
    RankProxy::Answer answer = proxy_->answers.ordered(order.type, epoch);

    if (order.type == CKPT_MSG_SAVE) {
        fault_kill("agent-at-proxy-save");
        const std::string why = still_obstacle();
        if (!why.empty()) {
            answer = proxy_->answers.refusal(why);
        } else { /* the copy shares the page */
            proxy_->page->set_clocks(proxy_->answers.clocks());
        }
    }
    say(answer);
}

void Salvage::set_targets(const std::vector<std::uint64_t> &targets)
{
    CKPT_EXPECT(proxy_);
    say(proxy_->answers.set_targets(targets));
}

void Salvage::set_expected(const std::vector<std::uint64_t> &expected)
{
    CKPT_EXPECT(proxy_);
    proxy_->answers.set_expected(expected);
}

} // namespace ckpt
