/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_membership_random.cpp - views of a job under thousands of random faults; and proof that a
 * broken protocol fails the same checks.
 */
#include "tests/membership/membership_views.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

namespace ckpt::membership
{

namespace
{

/* ---- Random faults ------------------------------------------------------- */

/* Faults for a few seconds, then quiet; the state that the members must have reached by then. */
class Chaos
{
  public:
    explicit Chaos(unsigned seed, Protocol::Options options = {.majority = 12s})
        : options_(options),
          job(seed, 3 + seed % 5, network_of(seed), options)
    {
    }

    void run()
    {
        const int faults = 1 + job.draw(5);
        job.run(1s);
        const auto begun = job.now();
        for (int i = 0; i < faults; i++) {
            fault();
            job.run(job.draw(0ms, job.draw(3) == 0 ? 2s : 300ms));
        }
        job.kill_next_coordinator(false);
        if (job.draw(3) != 0) {
            job.heal();
        }
        for (MemberId member = 0; member < job.size(); member++) {
            if (!job.is_running(member) && job.draw(2) == 0) {
                job.restart_process(member);
            }
        }
        /* A member without a majority for long enough ends in any case. */
        expected_ = job.now() - begun < options_.majority - 4s ? survivors() : Members{};
        /* First replacements do not come, then views change, then disconnected members give up. */
        job.run(options_.replacement + 3s + 30 * heartbeat + options_.majority);
    }

    bool has_survivors() const
    {
        for (MemberId member = 0; member < job.size(); member++) {
            if (job.is_active(member)) {
                return true;
            }
        }
        return false;
    }

    /* Returns the error; empty if all is right. */
    std::string judgement() const
    {
        if (!job.violations().empty()) {
            return job.violations().front();
        }
        if (!has_survivors()) {
            return expected_.empty() ? "" : "a majority has died out";
        }
        auto settled = is_settled(job);
        return settled ? "" : settled.message();
    }

  private:
    Protocol::Options options_;

    static SimulatedMembership::Network network_of(unsigned seed)
    {
        switch (seed % 3) {
        case 0:
            return good_network;
        case 1:
            return {.loss = 0.05, .duplication = 0.05, .longest = 30ms};
        default:
            return {.loss = 0.15, .duplication = 0.1, .longest = 60ms};
        }
    }

    void fault()
    {
        const int size = static_cast<int>(job.size());
        const auto one = static_cast<MemberId>(job.draw(size));
        const auto other = static_cast<MemberId>(job.draw(size));

        switch (job.draw(9)) {
        case 0:
        case 1:
            job.kill_node(one);
            break;
        case 2:
            job.end_process(one);
            break;
        case 3:
            job.restart_process(one);
            break;
        case 4:
            job.pause(one, job.draw(10ms, 3s));
            break;
        case 5:
            if (one != other) {
                job.cut(one, other);
            }
            break;
        case 6:
            job.partition({random_group()});
            break;
        case 7:
            job.kill_next_coordinator();
            job.kill_node(one);
            job.run(job.draw(100ms, 3s));
            break;
        default:
            job.heal();
        }
    }

    std::set<MemberId> random_group()
    {
        std::set<MemberId> group;
        for (MemberId member = 0; member < job.size(); member++) {
            if (job.draw(2) == 0) {
                group.insert(member);
            }
        }
        return group;
    }

    /* Members of which some must survive: they hear each other, and are a majority of the newest
     * view and of any that may turn out to follow it. */
    Members survivors() const
    {
        Members active;

        for (MemberId member = 0; member < job.size(); member++) {
            if (job.is_active(member)) {
                active.push_back(member);
            }
        }
        for (MemberId one : active) {
            for (MemberId other : active) {
                if (!job.are_connected(one, other)) {
                    return {};
                }
            }
        }
        for (const View &view : job.possible_views()) {
            const auto votes = std::ranges::count_if(active, [&](MemberId member) {
                return view.has(member, job.life_of(member));
            });
            if (!view.is_quorum(static_cast<std::size_t>(votes))) {
                return {};
            }
        }
        return active;
    }

    Members expected_;

  public:
    SimulatedMembership job;
};

/* For longer runs, or single ones. */
unsigned number_from_environment(const char *name, unsigned otherwise)
{
    const char *text = std::getenv(name);
    return text != nullptr ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

TEST(RandomMembership, IsOneSequenceOfViewsWhateverHappens)
{
    const unsigned first = number_from_environment("CKPT_MEMBERSHIP_FIRST", 0);
    const unsigned seeds = number_from_environment("CKPT_MEMBERSHIP_SEEDS", 1500);
    unsigned changed = 0, survived = 0;

    for (unsigned seed = first; seed < first + seeds; seed++) {
        Chaos chaos(seed);
        chaos.run();
        EXPECT_EQ(chaos.judgement(), "") << "seed " << seed;
        changed += chaos.job.newest() > 1 ? 1 : 0;
        survived += chaos.has_survivors() ? 1 : 0;
    }
    if (seeds > 100) { /* something does happen */
        EXPECT_GT(changed, seeds / 2);
        EXPECT_GT(survived, seeds / 2);
    }
    RecordProperty("changed", static_cast<int>(changed));
    RecordProperty("survived", static_cast<int>(survived));
}

/* ---- Broken protocols are detected --------------------------------------- */

using Datagram = SimulatedMembership::Datagram;
using Break = std::function<SimulatedMembership::Mutation(SimulatedMembership &)>;

/* Counts the runs in which the checks found an error with a protocol broken in this way. */
int found(const Break &break_it)
{
    int found = 0;

    for (unsigned seed = 0; seed < 400; seed++) {
        Chaos chaos(seed);
        chaos.job.set_mutation(break_it(chaos.job));
        chaos.run();
        found += chaos.job.violations().empty() ? 0 : 1;
    }
    testing::Test::RecordProperty("found", found);
    return found;
}

/* A forged answer of a silent member. */
Datagram forged(const Datagram &datagram, std::size_t members)
{
    Datagram other = datagram;

    other.envelope.from = (other.envelope.from + 1) % static_cast<MemberId>(members);
    return other;
}

TEST(MembershipMutant, AMajorityTooSmallByOneIsFound)
{
    EXPECT_GT(found([](SimulatedMembership &job) {
                  return [&job](const Datagram &datagram) {
                      std::vector<Datagram> all{datagram};
                      if (std::holds_alternative<message::Acceptance>(
                              datagram.message) ||
                          std::holds_alternative<message::Promise>(datagram.message)) {
                          all.push_back(forged(datagram, job.size()));
                      }
                      return all;
                  };
              }),
              0);
}

/* Member 1 hears no proposal of member 0, so it depends on promises when that coordinator is
 * dead. */
SimulatedMembership::Mutation forgetting(bool also_promises)
{
    return [also_promises](Datagram datagram) {
        auto *promise = std::get_if<message::Promise>(&datagram.message);
        if (promise != nullptr && also_promises) {
            promise->accepted = {};
            promise->view.reset();
        }
        if (std::holds_alternative<message::Proposal>(datagram.message) &&
            datagram.envelope.from == 0 && datagram.to == 1) {
            return std::vector<Datagram>{};
        }
        return std::vector{datagram};
    };
}

TEST(MembershipMutant, APromiseThatForgetsWhatWasAcceptedIsFound)
{
    for (bool also_promises : {false, true}) {
        for (unsigned seed = 0; seed < 20; seed++) {
            SimulatedMembership job(seed, 5, good_network);
            job.set_mutation(forgetting(also_promises));
            job.run(1s + job.draw(0ms, heartbeat));
            job.kill_next_coordinator();
            job.kill_node(3);
            job.run(5s);
            EXPECT_EQ(job.violations().empty(), !also_promises) << "seed " << seed;
            EXPECT_EQ(bool(is_settled(job)), !also_promises) << "seed " << seed;
        }
    }
}

/* A member that promised a higher ballot still accepts a lower one. */
TEST(MembershipMutant, AForgottenPromiseIsFound)
{
    EXPECT_GT(found([](SimulatedMembership &) {
                  auto asked = std::make_shared<std::map<MemberId, Ballot>>();
                  return [asked](Datagram datagram) {
                      if (auto *proposal =
                              std::get_if<message::Proposal>(&datagram.message)) {
                          (*asked)[datagram.envelope.from] = proposal->ballot;
                      }
                      auto *denial = std::get_if<message::Denial>(&datagram.message);
                      if (denial != nullptr && asked->contains(datagram.to)) {
                          datagram.message = message::Acceptance{
                              denial->number, (*asked)[datagram.to]};
                      }
                      return std::vector{datagram};
                  };
              }),
              0);
}

/* A process that starts again under the number of the previous one. */
TEST(MembershipMutant, AProcessWithoutMemoryIsFound)
{
    int found = 0;

    for (unsigned seed = 0; seed < 100; seed++) {
        Chaos chaos(seed);
        chaos.job.run(1s);
        chaos.job.partition({{0, 1}});
        chaos.job.run(3s);
        for (MemberId member = 2; member < chaos.job.size(); member++) {
            chaos.job.forget_everything(member);
        }
        chaos.job.heal();
        chaos.run();
        found += chaos.job.violations().empty() ? 0 : 1;
    }
    RecordProperty("found", found);
    EXPECT_GT(found, 0);
}

} // namespace

} // namespace ckpt::membership
