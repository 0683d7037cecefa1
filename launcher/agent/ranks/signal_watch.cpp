/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_watch.cpp - detects ranks that do not get the request for a
 * checkpoint.
 */
#include "agent/ranks/signal_watch.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

namespace ckpt
{

namespace
{

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/* How long a thread may block the signal: run-time systems do so in critical sections, and this
 * library does so around handlers on small stacks. */
constexpr milliseconds timeout(900);
constexpr milliseconds later(100);

SignalOfThread signal_of(const RankSession &session)
{
    std::ifstream file(
        fmt::format("/proc/{}/task/{}/status", session.pid(), session.thread()));
    const std::string status{std::istreambuf_iterator<char>(file), {}};

    return read_signal_of_thread(status, session.signal_number());
}

/* Whether the signal is pending and blocked for the thread, and not by the library for a short
 * time. */
bool is_held_up(const RankSession &session)
{
    const SignalOfThread signal = signal_of(session);

    return signal.is_blocked && signal.is_waiting && !session.page().is_busy();
}

/* Returns why the rank does not get the request; "": it may get it. `taken`: signals that its
 * handler had seen before this one was sent. */
std::string obstacle(const RankSession &session, std::uint64_t taken)
{
    const SignalOfThread signal = signal_of(session); /* read first, as the signal may arrive now */

    if (session.page().is_busy() || session.page().signals_taken() != taken) {
        return {};
    }
    if (signal.is_blocked && signal.is_waiting) {
        return fmt::format("thread {} blocks signal {}, by which it is asked for a checkpoint",
                           session.thread(), session.signal_number());
    }
    if (!signal.is_blocked && !signal.is_waiting) {
        return fmt::format("signal {}, by which thread {} is asked for a checkpoint, is taken "
                           "by a handler of the program (CKPT_SIGNAL names another one)",
                           session.signal_number(), session.thread());
    }
    return {};
}

/* Signals the rank again if its handler has seen the signal but the rank has not read the
 * request. The thread may have begun to wait just after the handler. `taken`: as above. */
void remind(const RankSession &session, std::uint64_t taken)
{
    if (session.page().signals_taken() != taken && session.has_unread()) {
        session.signal();
    }
}

} // namespace

SignalOfThread read_signal_of_thread(const std::string &status, int signal)
{
    CKPT_EXPECT(signal >= 1 && signal <= 64);
    std::istringstream lines(status);
    std::string name;
    SignalOfThread result;

    while (lines >> name) {
        if (name == "SigPnd:" || name == "SigBlk:") {
            std::uint64_t set = 0;
            lines >> std::hex >> set;
            const bool is_there = (set >> (signal - 1) & 1) != 0;
            (name == "SigPnd:" ? result.is_waiting : result.is_blocked) = is_there;
        }
        std::string rest;
        std::getline(lines, rest);
    }
    return result;
}

SignalWatch::SignalWatch(EventLoop &loop, Deaf deaf)
    : deaf_(std::move(deaf)), timer_(loop, [this] { look(); })
{
}

void SignalWatch::ask(const RankSession &session, std::uint64_t epoch)
{
    CKPT_EXPECT(session.rank() >= 0);
    const bool is_known = known_.erase(session.rank()) > 0 && is_held_up(session);

    asked_[session.rank()] = {&session, epoch, session.page().signals_taken(),
                              steady_clock::now() + (is_known ? milliseconds(0) : timeout)};
    start_timer();
}

void SignalWatch::heard(int rank)
{
    asked_.erase(rank);
    known_.erase(rank);
}

void SignalWatch::look()
{
    const Time now = steady_clock::now();
    std::vector<std::pair<int, std::string>> deaf;

    for (auto &[rank, asked] : asked_) {
        if (asked.due > now) {
            continue;
        }
        std::string why = obstacle(*asked.session, asked.taken);
        if (why.empty()) {
            remind(*asked.session, asked.taken);
            asked.due = now + later;
        } else {
            deaf.emplace_back(rank, std::move(why));
        }
    }
    for (const auto &[rank, why] : deaf) {
        auto found = asked_.find(rank);
        if (found != asked_.end()) { /* an earlier call may have ended the checkpoint */
            const std::uint64_t epoch = found->second.epoch;
            asked_.erase(found);
            known_.insert(rank);
            deaf_(rank, epoch, why);
        }
    }
    start_timer();
}

void SignalWatch::start_timer()
{
    auto first = std::ranges::min_element(
        asked_, {}, [](const auto &entry) { return entry.second.due; });

    if (first == asked_.end()) {
        timer_.stop();
        return;
    }
    timer_.start(std::chrono::ceil<milliseconds>(first->second.due - steady_clock::now()));
}

} // namespace ckpt
