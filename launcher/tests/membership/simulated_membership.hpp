/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulated_membership.hpp - the members of a job over a network that loses, repeats and delays
 * messages and can be partitioned, on nodes that stop, restart and freeze. A seed determines
 * everything. Each step checks what a membership must never do.
 */
#pragma once

#include "membership/membership_protocol.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ckpt::test
{

class SimulatedMembership
{
  public:
    using MemberId = membership::MemberId;
    using Life = membership::Life;
    using Time = membership::Protocol::Time;
    using Duration = membership::Protocol::Duration;

    struct Network {
        double loss = 0;
        double duplication = 0;
        Duration shortest = std::chrono::microseconds(100);
        Duration longest = std::chrono::milliseconds(2);
        /* Maximum delay of a tick, in a process that is not paused. */
        Duration scheduling = std::chrono::milliseconds(5);
    };
    struct Datagram {
        membership::Envelope envelope;
        MemberId to;
        membership::Message message;
    };
    /* Replaces a message on arrival, to break the protocol without a change of its code. */
    using Mutation = std::function<std::vector<Datagram>(const Datagram &)>;

    SimulatedMembership(unsigned seed, std::size_t members, Network network,
                        membership::Protocol::Options options = {});

    void set_network(Network network) { network_ = network; }
    void set_mutation(Mutation mutation) { mutation_ = std::move(mutation); }

    /* Faults: a process ends, and its node lives; a new process starts; a node dies. */
    void end_process(MemberId member);
    void restart_process(MemberId member);
    /* A new process with the number of the old one: never allowed. */
    void forget_everything(MemberId member);
    void kill_node(MemberId member);
    /* Kills the node of the next member that installs a view before all others, its coordinator,
     * before it can inform another member. */
    void kill_next_coordinator(bool on = true) { kill_next_coordinator_ = on; }
    void pause(MemberId member, Duration duration);
    void leave(MemberId member);
    void cut(MemberId one, MemberId other);
    /* Members of different groups do not hear each other. */
    void partition(const std::vector<std::set<MemberId>> &groups);
    void heal() { cut_.clear(); }

    void run(Duration duration);

    /* Observations. */
    Time now() const { return now_; }
    std::size_t size() const { return processes_.size(); }
    /* Whether it runs and has not learned that it is excluded. */
    bool is_active(MemberId member) const;
    bool is_running(MemberId member) const { return processes_[member].running; }
    Life life_of(MemberId member) const { return processes_[member].life; }
    const membership::Protocol &protocol(MemberId member) const
    {
        return *processes_[member].protocol;
    }
    bool are_connected(MemberId one, MemberId other) const;
    /* Views installed by any member; the number of the newest. */
    const std::map<std::uint64_t, membership::View> &views() const { return views_; }
    /* The newest view of an active member, and all that may turn out to follow it: the members that
     * knew of those may be dead. */
    std::vector<membership::View> possible_views() const;
    std::uint64_t newest() const { return views_.rbegin()->first; }
    /* The time at which a member first installed it. */
    Time installed_at(std::uint64_t number) const { return installed_at_.at(number); }
    const std::vector<std::string> &violations() const { return violations_; }
    const std::vector<membership::action::Install::Departure> &departures() const
    {
        return departures_;
    }
    std::size_t lost_majority() const { return lost_majority_; }
    std::size_t links_changed() const { return links_changed_; }
    std::uint64_t messages_sent() const { return sent_; }

    int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
    Duration draw(Duration shortest, Duration longest);

  private:
    struct Process {
        std::unique_ptr<membership::Protocol> protocol;
        Life life = membership::first_life;
        bool running = true;
        bool node_alive = true;
        Time paused_until{};
        std::vector<std::function<void()>> waiting; /* input of a paused process */
        std::uint64_t last_view = 0;
        std::uint64_t tick_token = 0;
    };
    struct Event {
        Time when;
        std::uint64_t order;
        std::function<void()> happen;
        bool operator>(const Event &other) const
        {
            return std::tie(when, order) > std::tie(other.when, other.order);
        }
    };

    void at(Time when, std::function<void()> happen);
    void start(MemberId member);
    /* Gives the input to the process, now or when it wakes. */
    void input(MemberId member, std::function<void(membership::Protocol &)> what);
    void wake(MemberId member);
    void tick(MemberId member, std::uint64_t token);
    void handle_actions(MemberId member);
    void transmit(const Datagram &datagram);
    void arrive(const Datagram &datagram);
    void check_send(MemberId from, const membership::action::Send &send);
    /* Returns true if the member is the first to have this view. */
    bool check_install(MemberId member, const membership::action::Install &install);
    void check_majority(const membership::View &view);
    void check_other(MemberId member, const membership::Action &action);
    void violation(const std::string &text) { violations_.push_back(text); }

    std::mt19937 random_;
    Network network_;
    membership::Protocol::Options options_;
    Mutation mutation_;
    std::vector<Process> processes_;
    std::set<std::pair<MemberId, MemberId>> cut_;
    /* A kernel limits the rate of refusals. */
    std::map<std::pair<MemberId, MemberId>, Time> refused_;
    /* Which member has heard which: a refusal is known to come from a node only after that. */
    std::set<std::pair<MemberId, MemberId>> seen_;
    bool kill_next_coordinator_ = false;
    Time now_;
    std::uint64_t order_ = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;

    std::map<std::uint64_t, membership::View> views_;
    std::map<std::uint64_t, Time> installed_at_;
    /* Which members accepted which view, by number of the view and ballot. */
    using Attempt = std::pair<std::uint64_t, membership::Ballot>;
    std::map<Attempt, membership::View> proposed_;
    std::map<Attempt, std::set<std::pair<MemberId, Life>>> accepted_;
    std::vector<membership::action::Install::Departure> departures_;
    std::vector<std::string> violations_;
    std::size_t lost_majority_ = 0;
    std::size_t links_changed_ = 0;
    std::uint64_t sent_ = 0;
};

} // namespace ckpt::test
