/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulated_job.cpp - random programs, and a model of the rank side.
 *
 * Programs are projections of one random order of operations, in which each message is received
 * after it was sent. They cannot deadlock, even if every collective synchronises.
 */
#include "tests/simulator/simulated_job.hpp"

#include "protocol/rank_message.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt::test
{

namespace
{

constexpr int max_turns = 400000;

CutProtocol::Options options()
{
    CutProtocol::Options options;
    options.timeout = std::chrono::hours(24);
    return options;
}

} // namespace

SimulatedJob::SimulatedJob(unsigned seed)
    : random_(seed), ranks_(2 + seed % 5),
      machine_(static_cast<int>(ranks_.size()), *this, options())
{
    invent_programs();
    for (std::size_t i = 0; i < ranks_.size(); i++) {
        ranks_[i].now.resize(ranks_.size());
        ranks_[i].page.resize(ranks_.size());
        for (std::size_t c = 0; c < members_.size(); c++) {
            bool in = member(static_cast<int>(c), static_cast<int>(i));
            ranks_[i].clock.push_back({in ? c + 1 : 0, 0, 0, 0, 0});
        }
        machine_.hello(static_cast<int>(i));
    }
    network_.assign(ranks_.size(), std::vector<int>(ranks_.size()));
}

bool SimulatedJob::member(int communicator, int rank) const
{
    const auto &members = members_[communicator];
    return std::find(members.begin(), members.end(), rank) != members.end();
}

void SimulatedJob::invent_programs()
{
    int n = static_cast<int>(ranks_.size());
    int steps = 20 + draw(120);
    int communicators = 1 + draw(4);
    bool many_collectives = draw(2) == 0;
    bool threads = draw(3) == 0;
    /* Receives that are not in the order yet: to, from. */
    std::vector<std::pair<int, int>> owed;
    /* Completions that are not in the order yet: rank, step that begins. */
    std::vector<std::pair<int, std::size_t>> incomplete;

    for (int c = 0; c < communicators; c++) {
        members_.emplace_back();
        for (int i = 0; i < n; i++) {
            if (c == 0 || draw(2) == 0) {
                members_.back().push_back(i);
            }
        }
    }
    auto receive_one = [&] {
        std::size_t which = draw(static_cast<int>(owed.size()));
        auto [to, from] = owed[which];
        owed.erase(owed.begin() + static_cast<long>(which));
        ranks_[to].program.push_back({.op = Op::receive, .peer = from});
    };
    auto complete_one = [&] {
        std::size_t which = draw(static_cast<int>(incomplete.size()));
        auto [rank, begun] = incomplete[which];
        incomplete.erase(incomplete.begin() + static_cast<long>(which));
        ranks_[rank].program.push_back({.op = Op::complete, .begun = begun});
    };
    for (int s = 0; s < steps; s++) {
        while (!incomplete.empty() && draw(2) == 0) {
            complete_one();
        }
        int what = threads && draw(3) == 0 ? 4 : draw(many_collectives ? 6 : 12);
        if (what < 4) {
            int c = draw(communicators);
            Step step{.op = Op::collective, .communicator = c};
            step.leaving = static_cast<Leaving>(draw(3));
            step.redo = draw(2) == 0;
            step.duration = draw(4) == 0 ? draw(60) : 0;
            if (members_[c].empty()) {
                continue;
            }
            step.peer = members_[c][draw(static_cast<int>(members_[c].size()))];
            if (draw(3) == 0) {
                step.op = Op::begin;
            }
            for (int i : members_[c]) {
                if (step.op == Op::begin) {
                    incomplete.emplace_back(i, ranks_[i].program.size());
                }
                ranks_[i].program.push_back(step);
            }
        } else if (what == 4 && n > 1 && draw(3) == 0) {
            int rank = draw(n), other = (rank + 1 + draw(n - 1)) % n;
            ranks_[rank].program.push_back({.op = Op::meet, .peer = other});
            ranks_[other].program.push_back({.op = Op::meet, .peer = rank});
        } else if (what == 4) {
            Op op = draw(4) < (threads ? 3 : 1) ? Op::unclocked : Op::compute;
            int rank = draw(n), to = draw(n);
            ranks_[rank].program.push_back(
                {.op = op, .peer = to, .duration = 1 + draw(200)});
            if (op == Op::unclocked) {
                owed.emplace_back(to, rank);
            }
        } else if (what % 2 == 1 || owed.empty()) {
            int from = draw(n), to = draw(n);
            ranks_[from].program.push_back({.op = Op::send, .peer = to});
            owed.emplace_back(to, from);
        } else {
            receive_one();
        }
    }
    while (!owed.empty()) {
        receive_one();
    }
    while (!incomplete.empty()) {
        complete_one();
    }
    for (int c = 1; c < communicators; c++) {
        for (int i : members_[c]) {
            ranks_[i].program.push_back({.op = Op::release, .communicator = c});
        }
    }
    /* All ranks finish together: a finished rank would end all checkpoints. */
    for (Rank &rank : ranks_) {
        rank.program.push_back({.op = Op::collective, .communicator = 0});
    }
}

/* ---- The pages ----------------------------------------------------------- */

std::vector<ckpt_clock> SimulatedJob::clocks(int rank) const
{
    return ranks_[rank].clock;
}

std::uint64_t SimulatedJob::sent(int from, int to) const
{
    return ranks_[from].page[to].sent;
}

std::uint64_t SimulatedJob::received(int to, int from) const
{
    return ranks_[to].page[from].received;
}

/* ---- One rank ------------------------------------------------------------ */

void SimulatedJob::tell(int rank, ckpt_message_type type, std::uint32_t place,
                        bool holds)
{
    Rank &r = ranks_[rank];
    ckpt_message message = make_message(type, r.epoch);
    ckpt_msg_report &report = message.as.report;
    const Step *step =
        r.next < r.program.size() ? &r.program[r.next] : nullptr;

    if (place != 0) {
        report.place = place;
        report.holds = holds ? 1 : 0;
    }
    if (place == CKPT_PLACE_GATE || place == CKPT_PLACE_INSIDE) {
        report.slot = static_cast<std::uint64_t>(step->communicator);
    }
    if (place == CKPT_PLACE_INSIDE && !is_unclocked(rank)) {
        report.inside = CKPT_INSIDE_CLOCKED |
                        (may_be_redone(rank) ? CKPT_INSIDE_REDO : 0);
    }
    r.told_inside = place == CKPT_PLACE_INSIDE;
    r.outbox.push_back(message);
}

/* Whether the rank is in a call that is not a collective. */
bool SimulatedJob::is_unclocked(int rank) const
{
    const Op op = ranks_[rank].program[ranks_[rank].next].op;

    return op == Op::unclocked || op == Op::meet;
}

/* A restart can enter the collective again, and no collective needs completion, which a rank inside
 * a call cannot do. */
bool SimulatedJob::may_be_redone(int rank) const
{
    const Rank &r = ranks_[rank];
    auto in_cut = [&](const auto &begun) {
        int c = r.program[begun.first].communicator;
        return begun.second <= r.clock[c].target;
    };

    return r.program[r.next].redo &&
           std::none_of(r.begun.begin(), r.begun.end(), in_cut);
}

/* Answers REQUEST or STOP. */
void SimulatedJob::tell_place(int rank, ckpt_message_type type)
{
    Rank &r = ranks_[rank];

    r.frozen = !r.inside;
    if (type == CKPT_MSG_STOPPED) {
        r.page = r.now;
    }
    tell(rank, type,
         r.inside    ? CKPT_PLACE_INSIDE
         : r.at_gate ? CKPT_PLACE_GATE
         : r.waiting ? CKPT_PLACE_WAIT
                     : CKPT_PLACE_FREE,
         r.frozen);
}

void SimulatedJob::handle(int rank, const ckpt_message &message)
{
    Rank &r = ranks_[rank];

    switch (message.type) {
    case CKPT_MSG_REQUEST:
        r.epoch = message.epoch;
        r.pending = true;
        if (refuse_ && rank == 0) {
            tell(rank, CKPT_MSG_REFUSED, 0, false);
            r.frozen = true;
            break;
        }
        tell_place(rank, CKPT_MSG_REPORT);
        break;
    case CKPT_MSG_RUN:
        r.frozen = r.at_gate = false; /* it looks at the gate again */
        r.told_wait = false;
        r.told_inside = r.inside;
        break;
    case CKPT_MSG_WHERE:
        if (r.inside && is_unclocked(rank)) {
            tell(rank, CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, false);
        }
        break;
    case CKPT_MSG_STOP:
        tell_place(rank, CKPT_MSG_STOPPED);
        break;
    case CKPT_MSG_DRAIN:
        if (r.inside) {
            error_ = fmt::format("rank {} shall drain inside a call", rank);
        }
        r.draining = true;
        break;
    case CKPT_MSG_SAVE:
        if (r.inside && !may_be_redone(rank)) {
            tell(rank, CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, false);
            break;
        }
        r.frozen = true;
        tell(rank, CKPT_MSG_READY, 0, true);
        r.told_inside = r.inside;
        break;
    case CKPT_MSG_RESUME:
        r.pending = r.frozen = r.at_gate = r.draining = false;
        r.told_inside = r.told_wait = false;
        break;
    default:
        error_ = "a rank got a message that is not for ranks";
    }
}

/* Enters the collective unless its gate is closed. */
bool SimulatedJob::enter(int rank)
{
    Rank &r = ranks_[rank];
    ckpt_clock &clock = r.clock[r.program[r.next].communicator];

    if (r.pending && clock.entered >= clock.target) {
        r.frozen = r.at_gate = true;
        tell(rank, CKPT_MSG_REPORT, CKPT_PLACE_GATE, true);
        return false;
    }
    clock.entered++;
    if (r.program[r.next].op == Op::begin) {
        r.begun[r.next] = ++clock.left;
        r.next++;
        return true;
    }
    r.inside = true;
    return true;
}

bool SimulatedJob::may_leave(int rank) const
{
    const Rank &r = ranks_[rank];
    const Step &step = r.program[r.next];

    if (step.op == Op::meet) {
        const auto &met = ranks_[step.peer].met;
        return met.count(rank) != 0 && met.at(rank) >= r.met.at(step.peer);
    }
    if (step.op == Op::unclocked || r.turns < step.duration) {
        return r.turns >= step.duration;
    }
    return all_needed_have_entered(rank, step,
                                   r.clock[step.communicator].entered);
}

bool SimulatedJob::all_needed_have_entered(int rank, const Step &step,
                                           std::uint64_t number) const
{
    auto entered = [&](int other) {
        return ranks_[other].clock[step.communicator].entered >= number;
    };
    const auto &members = members_[step.communicator];
    bool all = std::all_of(members.begin(), members.end(), entered);
    bool is_root = step.peer == rank;
    switch (step.leaving) {
    case Leaving::after_root:
        return is_root || entered(step.peer);
    case Leaving::before_root:
        return !is_root || all;
    default:
        return all;
    }
}

void SimulatedJob::leave(int rank)
{
    Rank &r = ranks_[rank];
    const Step &step = r.program[r.next];

    r.inside = false;
    r.turns = 0;
    if (!is_unclocked(rank)) {
        ckpt_clock &clock = r.clock[step.communicator];
        clock.settled = ++clock.left;
        if (step.op == Op::release) {
            clock.id = 0;
        }
    }
    r.next++;
    if (r.told_inside) {
        r.frozen = true;
        r.page = r.now;
        tell(rank, CKPT_MSG_REPORT, CKPT_PLACE_FREE, true);
    }
}

void SimulatedJob::receive_or_wait(int rank)
{
    Rank &r = ranks_[rank];
    int from = r.program[r.next].peer;

    if (network_[rank][from] > 0) {
        if (r.now[from].expected > 0) { /* logged before */
            r.now[from].expected--;
        } else {
            r.now[from].received++;
        }
        network_[rank][from]--;
        r.next++;
        wait(rank, true);
        return;
    }
    wait(rank, false);
}

/* Ends a wait, or makes one more unsuccessful poll. */
void SimulatedJob::wait(int rank, bool over)
{
    Rank &r = ranks_[rank];

    r.waiting = !over;
    if (over && r.told_wait) {
        r.told_wait = false;
        tell(rank, CKPT_MSG_REPORT, CKPT_PLACE_FREE, false);
    } else if (!over && r.pending && !r.told_wait && draw(8) == 0) {
        r.told_wait = true;
        tell(rank, CKPT_MSG_REPORT, CKPT_PLACE_WAIT, false);
    }
}

/* Completes the operation of the step `begun`, if possible. */
bool SimulatedJob::complete(int rank, std::size_t begun)
{
    Rank &r = ranks_[rank];
    const Step &step = r.program[begun];
    std::uint64_t number = r.begun.at(begun);

    if (!all_needed_have_entered(rank, step, number)) {
        return false;
    }
    if (step.leaving == Leaving::together || !step.redo) {
        ckpt_clock &clock = r.clock[step.communicator];
        clock.settled = std::max(clock.settled, number);
    }
    r.begun.erase(begun);
    return true;
}

void SimulatedJob::complete_or_wait(int rank)
{
    Rank &r = ranks_[rank];
    std::size_t begun = r.program[r.next].begun;
    bool over = r.begun.count(begun) == 0 || complete(rank, begun);

    r.next += over ? 1 : 0;
    wait(rank, over);
}

/* Completes one nonblocking collective that the cut requires to be complete; true if there is
 * none. */
bool SimulatedJob::drain_collectives(int rank)
{
    Rank &r = ranks_[rank];

    for (auto [begun, number] : r.begun) {
        int c = r.program[begun].communicator;
        if (number <= r.clock[c].target) {
            for (int other : members_[c]) {
                if (ranks_[other].clock[c].entered < number) {
                    error_ = fmt::format("rank {} cannot complete number {} of "
                                         "communicator {}, which rank {} has "
                                         "not begun",
                                         rank, number, c, other);
                }
            }
            complete(rank, begun);
            return false;
        }
    }
    return true;
}

/* Takes one message into the log. `expected` of the rank's own counters holds the number of logged
 * messages from a peer. */
void SimulatedJob::drain(int rank)
{
    Rank &r = ranks_[rank];

    for (std::size_t from = 0; from < ranks_.size(); from++) {
        if (r.now[from].received < r.page[from].expected) {
            int in_network = network_[rank][from] -
                             static_cast<int>(r.now[from].expected);
            if (in_network > 0) {
                r.now[from].received++;
                r.now[from].expected++;
            }
            return;
        }
    }
    if (!drain_collectives(rank)) {
        return;
    }
    r.draining = false;
    tell(rank, CKPT_MSG_DRAINED, 0, true);
}

void SimulatedJob::send(int rank, int to)
{
    ranks_[rank].now[to].sent++;
    network_[to][rank]++;
}

/* Runs other threads while one thread is in a call that the checkpoint has to wait for. Their
 * reports concern the threads, and not the rank. */
void SimulatedJob::run_other_threads(int rank)
{
    Rank &r = ranks_[rank];
    const Step &step = r.program[r.next];

    if (r.turns == (step.duration + 1) / 2) {
        send(rank, step.peer);
    }
    if (r.pending && draw(8) == 0) {
        const bool was_told_inside = r.told_inside;
        wait(rank, draw(2) == 0);
        r.told_inside = was_told_inside;
    }
}

void SimulatedJob::advance(int rank)
{
    Rank &r = ranks_[rank];

    const bool is_threaded =
        r.inside && r.program[r.next].op == Op::unclocked;
    if (!r.inbox.empty() &&
        (r.signalled || r.frozen || !r.inside || is_threaded)) {
        /* A frozen or signalled rank reads at once, others at some call. */
        if (r.frozen || r.signalled || draw(3) == 0) {
            ckpt_message message = r.inbox.front();
            r.inbox.pop_front();
            r.signalled = r.signalled && !r.inbox.empty();
            handle(rank, message);
            return;
        }
    }
    if (r.draining) {
        drain(rank);
        return;
    }
    if (r.frozen || r.next == r.program.size()) {
        return;
    }
    const Step &step = r.program[r.next];
    if (r.inside) {
        r.turns++;
        if (step.op == Op::unclocked) {
            run_other_threads(rank);
        }
        if (may_leave(rank)) {
            leave(rank);
        }
    } else if (step.op == Op::compute) {
        if (++r.turns >= step.duration) {
            r.turns = 0;
            r.next++;
        }
    } else if (step.op == Op::send) {
        send(rank, step.peer);
        r.next++;
    } else if (step.op == Op::receive) {
        receive_or_wait(rank);
    } else if (step.op == Op::complete) {
        complete_or_wait(rank);
    } else if (step.op == Op::meet) {
        r.inside = true;
        r.met[step.peer]++;
    } else if (step.op == Op::unclocked) {
        r.inside = true;
    } else {
        enter(rank);
    }
}

/* ---- The agent's side ---------------------------------------------------- */

/* Up to the target, all collectives have been left and are complete. Beyond it there are only
 * nonblocking collectives that a restart can begin again. */
void SimulatedJob::check_clock(int communicator, int rank)
{
    const Rank &r = ranks_[rank];
    const ckpt_clock &clock = r.clock[communicator];

    if (clock.id == 0) {
        return; /* freed, with all members: a release synchronises */
    }
    if (clock.left < clock.target || clock.settled > clock.target) {
        error_ = fmt::format("communicator {}: rank {} has left {} collectives, "
                             "{} for good, and should have left {}",
                             communicator, rank, clock.left, clock.settled,
                             clock.target);
    }
    for (auto [begun, number] : r.begun) {
        if (r.program[begun].communicator == communicator) {
            begun_again_++;
            if (number <= clock.target) {
                error_ = fmt::format("communicator {}: rank {} has not "
                                     "completed number {}",
                                     communicator, rank, number);
            }
        }
    }
}

/* All ranks are described and stand still: could the job have been in this state with nothing under
 * way? */
void SimulatedJob::check_cut()
{
    for (std::size_t c = 0; c < members_.size(); c++) {
        for (int i : members_[c]) {
            check_clock(static_cast<int>(c), i);
        }
    }
    for (std::size_t i = 0; i < ranks_.size(); i++) {
        const Rank &r = ranks_[i];
        if (!r.frozen) {
            error_ = fmt::format("rank {} runs while it is saved", i);
        }
        if (r.inside) {
            saved_inside_++;
            const Step &step = r.program[r.next];
            if (step.op != Op::collective || !step.redo) {
                error_ = fmt::format("rank {} saved inside a call", i);
            }
        }
        for (std::size_t from = 0; from < ranks_.size(); from++) {
            if (ranks_[from].now[i].sent != r.now[from].received) {
                error_ = fmt::format("{} to {}: {} sent, {} received", from, i,
                                     ranks_[from].now[i].sent,
                                     r.now[from].received);
            }
        }
    }
}

void SimulatedJob::do_actions()
{
    for (Action &next : machine_.take_actions()) {
        if (auto *set = std::get_if<action::SetTargets>(&next)) {
            for (std::size_t slot = 0; slot < set->targets.size(); slot++) {
                ranks_[set->rank].clock[slot].target = set->targets[slot];
            }
        } else if (auto *set = std::get_if<action::SetExpected>(&next)) {
            for (std::size_t peer = 0; peer < ranks_.size(); peer++) {
                ranks_[set->rank].page[peer].expected = set->expected[peer];
            }
        } else if (auto *send = std::get_if<action::Send>(&next)) {
            ranks_[send->rank].inbox.push_back(make_message(send->type, epoch_, send->body));
            ranks_[send->rank].signalled |= send->signal;
            runs_ordered_ += send->type == CKPT_MSG_RUN ? 1 : 0;
        } else if (std::holds_alternative<action::Capture>(next)) {
            check_cut();
            for (std::size_t i = 0; i < ranks_.size(); i++) {
                to_capture_.push_back(static_cast<int>(i));
            }
            std::shuffle(to_capture_.begin(), to_capture_.end(), random_);
        } else if (std::holds_alternative<action::Commit>(next)) {
            machine_.committed(now_);
            do_actions();
        } else if (std::holds_alternative<action::Undo>(next)) {
            to_capture_.clear();
            machine_.undone(now_);
            do_actions();
        } else if (auto *finish = std::get_if<action::Finish>(&next)) {
            committed_ += finish->committed ? 1 : 0;
            given_up_ += finish->committed ? 0 : 1;
        }
    }
}

void SimulatedJob::maybe_request()
{
    if (machine_.phase() != Phase::idle) {
        if (draw(3000) == 0) {
            machine_.failed({CKPT_REFUSAL_AGENT_LOST, "another node's agent was lost"}, now_);
            at_once_ = draw(2) == 0;
        }
    } else if (requests_left_ > 0 && (at_once_ || draw(400) == 0)) {
        at_once_ = false;
        requests_left_--;
        refuse_ = draw(8) == 0;
        machine_.request(++epoch_, now_);
    }
}

void SimulatedJob::turn()
{
    int rank = draw(static_cast<int>(ranks_.size()));

    now_ += std::chrono::microseconds(100);
    maybe_request();
    Rank &r = ranks_[rank];
    if (!r.outbox.empty() && draw(2) == 0) {
        ckpt_message message = r.outbox.front();
        r.outbox.pop_front();
        machine_.message(rank, message, now_);
    } else {
        advance(rank);
    }
    if (draw(10) == 0) {
        machine_.tick(now_);
    }
    do_actions();
    if (!to_capture_.empty() && draw(5) == 0) {
        machine_.captured(to_capture_.back(), now_);
        to_capture_.pop_back();
        if (draw(20) == 0) {
            machine_.failed({CKPT_REFUSAL_NO_SPACE, "no space left on device"}, now_);
        } else if (to_capture_.empty()) {
            machine_.written(now_);
        }
        do_actions();
    }
}

std::string SimulatedJob::run()
{
    auto finished = [this] {
        return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank &r) {
            return r.next == r.program.size();
        });
    };
    for (int t = 0; t < max_turns && error_.empty(); t++) {
        if (finished() && machine_.phase() == Phase::idle) {
            return {};
        }
        turn();
    }
    return error_.empty() ? fmt::format("no end in phase {}",
                                        phase_name(machine_.phase()))
                          : error_;
}

} // namespace ckpt::test
