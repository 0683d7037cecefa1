/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulated_membership.cpp - the members of a job over a bad network on bad nodes.
 */
#include "tests/membership/simulated_membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <variant>

namespace ckpt::test
{

using namespace membership;

SimulatedMembership::SimulatedMembership(unsigned seed, std::size_t members,
                                         Network network, Protocol::Options options)
    : random_(seed), network_(network), options_(options), processes_(members),
      now_(std::chrono::hours(1))
{
    for (MemberId member = 0; member < members; member++) {
        start(member);
    }
}

SimulatedMembership::Duration SimulatedMembership::draw(Duration shortest,
                                                        Duration longest)
{
    return Duration(std::uniform_int_distribution<Duration::rep>(
        shortest.count(), longest.count())(random_));
}

/* ---- The machine --------------------------------------------------------- */

void SimulatedMembership::at(Time when, std::function<void()> happen)
{
    events_.push({when, order_++, std::move(happen)});
}

void SimulatedMembership::run(Duration duration)
{
    const Time end = now_ + duration;

    while (!events_.empty() && events_.top().when <= end) {
        auto happen = events_.top().happen;
        now_ = events_.top().when;
        events_.pop();
        happen();
    }
    now_ = end;
}

void SimulatedMembership::start(MemberId member)
{
    Process &process = processes_[member];

    process.protocol = std::make_unique<Protocol>(member, process.life,
                                                  processes_.size(), options_, now_);
    process.running = true;
    process.last_view = 0;
    process.paused_until = {};
    process.waiting.clear();
    handle_actions(member);
}

void SimulatedMembership::input(MemberId member, std::function<void(Protocol &)> what)
{
    Process &process = processes_[member];

    if (!process.running) {
        return;
    }
    if (now_ < process.paused_until) {
        process.waiting.push_back([this, member, what = std::move(what)] {
            what(*processes_[member].protocol);
        });
        return;
    }
    what(*process.protocol);
    process.protocol->tick(now_);
    handle_actions(member);
}

/* Reads everything that has arrived before time passes. */
void SimulatedMembership::wake(MemberId member)
{
    Process &process = processes_[member];

    if (!process.running || now_ < process.paused_until) {
        return;
    }
    for (auto &what : std::exchange(process.waiting, {})) {
        what();
    }
    process.protocol->tick(now_);
    handle_actions(member);
}

void SimulatedMembership::tick(MemberId member, std::uint64_t token)
{
    Process &process = processes_[member];

    if (process.tick_token == token && now_ >= process.paused_until) {
        input(member, [](Protocol &) {});
    }
}

void SimulatedMembership::handle_actions(MemberId member)
{
    Process &process = processes_[member];

    for (const Action &action : process.protocol->take_actions()) {
        if (auto *send = std::get_if<action::Send>(&action)) {
            check_send(member, *send);
            const Datagram datagram{
                {member, process.life, send->view}, send->to, send->message};
            for (const Datagram &one :
                 mutation_ ? mutation_(datagram) : std::vector{datagram}) {
                transmit(one);
            }
        } else if (auto *install = std::get_if<action::Install>(&action)) {
            if (check_install(member, *install) && kill_next_coordinator_ &&
                install->view.number > 1) {
                kill_next_coordinator_ = false;
                kill_node(member);
                return;
            }
        } else {
            check_other(member, action);
        }
    }
    const std::uint64_t token = ++process.tick_token;
    if (!process.protocol->has_ended()) {
        at(std::max(process.protocol->next_tick(), now_) +
               draw(Duration{}, network_.scheduling),
           [this, member, token] { tick(member, token); });
    }
}

/* ---- The network --------------------------------------------------------- */

bool SimulatedMembership::are_connected(MemberId one, MemberId other) const
{
    return !cut_.contains(std::minmax(one, other));
}

void SimulatedMembership::transmit(const Datagram &datagram)
{
    std::bernoulli_distribution lost(network_.loss), repeated(network_.duplication);

    sent_++;
    for (int copies = repeated(random_) ? 2 : 1; copies > 0; copies--) {
        if (!lost(random_)) {
            at(now_ + draw(network_.shortest, network_.longest),
               [this, datagram] { arrive(datagram); });
        }
    }
}

void SimulatedMembership::arrive(const Datagram &datagram)
{
    const MemberId from = datagram.envelope.from, to = datagram.to;

    if (!are_connected(from, to) || !processes_[to].node_alive) {
        return;
    }
    if (processes_[to].running) {
        seen_.insert({to, from});
        input(to, [this, datagram](Protocol &protocol) {
            protocol.receive(datagram.envelope, datagram.message, now_);
        });
        return;
    }
    Time &last = refused_.try_emplace({from, to}).first->second;
    if (now_ >= last + std::chrono::seconds(1) && seen_.contains({from, to})) {
        last = now_;
        at(now_ + draw(network_.shortest, network_.longest), [this, from, to] {
            input(from, [this, to](Protocol &protocol) { protocol.refused(to, now_); });
        });
    }
}

/* ---- Faults -------------------------------------------------------------- */

void SimulatedMembership::end_process(MemberId member)
{
    processes_[member].running = false;
}

void SimulatedMembership::restart_process(MemberId member)
{
    end_process(member);
    if (processes_[member].node_alive) {
        processes_[member].life++;
        start(member);
    }
}

void SimulatedMembership::forget_everything(MemberId member)
{
    if (processes_[member].node_alive) {
        start(member);
    }
}

void SimulatedMembership::kill_node(MemberId member)
{
    end_process(member);
    processes_[member].node_alive = false;
}

void SimulatedMembership::pause(MemberId member, Duration duration)
{
    processes_[member].paused_until =
        std::max(processes_[member].paused_until, now_ + duration);
    at(processes_[member].paused_until, [this, member] { wake(member); });
}

void SimulatedMembership::leave(MemberId member)
{
    input(member, [this](Protocol &protocol) { protocol.leave(now_); });
}

void SimulatedMembership::cut(MemberId one, MemberId other)
{
    cut_.insert(std::minmax(one, other));
}

void SimulatedMembership::partition(const std::vector<std::set<MemberId>> &groups)
{
    for (const auto &group : groups) {
        for (MemberId one : group) {
            for (MemberId other = 0; other < processes_.size(); other++) {
                if (!group.contains(other)) {
                    cut(one, other);
                }
            }
        }
    }
}

bool SimulatedMembership::is_active(MemberId member) const
{
    const Process &process = processes_[member];
    return process.running && !process.protocol->has_ended();
}

std::vector<View> SimulatedMembership::possible_views() const
{
    std::vector<View> views(1);

    for (MemberId member = 0; member < size(); member++) {
        if (is_active(member) && protocol(member).view().number > views[0].number) {
            views[0] = protocol(member).view();
        }
    }
    for (auto &[attempt, view] : proposed_) {
        if (attempt.first > views[0].number) {
            views.push_back(view);
        }
    }
    return views;
}

/* ---- Violations ---------------------------------------------------------- */

void SimulatedMembership::check_send(MemberId from, const action::Send &send)
{
    const std::pair who{from, processes_[from].life};

    if (auto *proposal = std::get_if<message::Proposal>(&send.message)) {
        const Attempt attempt{proposal->view.number, proposal->ballot};
        auto [known, is_new] = proposed_.emplace(attempt, proposal->view);
        if (!(known->second == proposal->view)) {
            violation(fmt::format("two proposals for view {} under one ballot",
                                  proposal->view.number));
        }
        accepted_[attempt].insert(who);
    } else if (auto *acceptance = std::get_if<message::Acceptance>(&send.message)) {
        accepted_[{acceptance->number, acceptance->ballot}].insert(who);
    }
}

bool SimulatedMembership::check_install(MemberId member, const action::Install &install)
{
    const View &view = install.view;
    Process &process = processes_[member];
    auto [known, is_new] = views_.emplace(view.number, view);

    if (!(known->second == view)) {
        violation(fmt::format("member {} has another view {}", member, view.number));
    }
    if (view.number <= process.last_view) {
        violation(fmt::format("member {} goes back to view {}", member, view.number));
    }
    process.last_view = view.number;
    if (!view.has(member, process.life)) {
        violation(fmt::format("member {} is not in its view {}", member, view.number));
    }
    if (is_new) {
        installed_at_[view.number] = now_;
        departures_.insert(departures_.end(), install.departed.begin(),
                           install.departed.end());
        check_majority(view);
    }
    return is_new;
}

/* A majority of the previous view accepted, under one ballot, each view that is installed; and no
 * member comes back. */
void SimulatedMembership::check_majority(const View &view)
{
    auto before = views_.find(view.number - 1);

    if (view.number == 1) {
        return;
    }
    if (before == views_.end()) {
        violation(fmt::format("view {} follows no installed one", view.number));
        return;
    }
    view.members.for_each([&](MemberId member) {
        if (!before->second.members.contains(member) ||
            before->second.life_of(member) > view.life_of(member)) {
            violation(fmt::format("member {} is back in view {}", member, view.number));
        }
    });
    for (const auto &[attempt, who] : accepted_) {
        auto proposal = proposed_.find(attempt);
        const auto voters = std::count_if(who.begin(), who.end(), [&](const auto &one) {
            return before->second.has(one.first, one.second);
        });
        if (attempt.first == view.number && proposal != proposed_.end() &&
            proposal->second == view &&
            2 * static_cast<std::size_t>(voters) > before->second.members.size()) {
            return;
        }
    }
    violation(fmt::format("no majority has accepted view {}", view.number));
}

void SimulatedMembership::check_other(MemberId member, const Action &action)
{
    if (std::holds_alternative<action::LostMajority>(action)) {
        lost_majority_++;
    } else if (std::holds_alternative<action::LinkChanged>(action)) {
        links_changed_++;
    }
    auto *excluded = std::get_if<action::Excluded>(&action);
    if (excluded == nullptr) {
        return;
    }
    auto view = views_.find(excluded->number);
    if (view != views_.end() && view->second.has(member, processes_[member].life) &&
        view->second.members.size() > 1) {
        violation(fmt::format("member {} is excluded by view {}, which has it", member,
                              excluded->number));
    }
}

} // namespace ckpt::test
