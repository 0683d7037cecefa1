/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_machine.hpp - the coordinator's state machine with three ranks. A test writes the ranks'
 * pages and makes up their messages.
 */
#pragma once

#include "protocol/cut/cut_protocol.hpp"
#include "protocol/rank_message.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace ckpt::test
{

using std::chrono::milliseconds;
using std::chrono::seconds;

class Machine : public testing::Test, public RankPages
{
  public:
    static constexpr int count = 3;
    static constexpr std::uint64_t world = 1;

    Machine()
        : machine(count, *this, options())
    {
        for (auto &page : page_clocks) {
            page = {{world, 5, 5, 0, 5}};
        }
        for (int i = 0; i < count; i++) {
            machine.hello(i);
        }
    }

    static CutProtocol::Options options()
    {
        CutProtocol::Options options;
        options.timeout = seconds(60);
        return options;
    }

    std::vector<ckpt_clock> clocks(int rank) const override
    {
        return page_clocks[rank];
    }
    std::uint64_t sent(int from, int to) const override
    {
        return sent_count[from][to];
    }
    std::uint64_t received(int to, int from) const override
    {
        return received_count[to][from];
    }

    /* Applies the actions to the pages; notes the others. */
    void settle()
    {
        for (Action &next : machine.take_actions()) {
            if (auto *set = std::get_if<action::SetTargets>(&next)) {
                for (std::size_t i = 0; i < set->targets.size(); i++) {
                    page_clocks[set->rank][i].target = set->targets[i];
                }
            } else if (auto *set = std::get_if<action::SetExpected>(&next)) {
                expected[set->rank] = set->expected;
            } else if (auto *send = std::get_if<action::Send>(&next)) {
                orders[send->rank].push_back(*send);
                if (send->type == CKPT_MSG_CUT) {
                    kind_of_cut = send->body.cut.kind;
                }
            } else if (auto *end = std::get_if<action::Finish>(&next)) {
                finish = *end;
            } else {
                others.push_back(next);
            }
        }
    }

    void request(bool kill = false, CutPlan plan = {})
    {
        plan.kill = kill;
        machine.request(++epoch, now, plan);
        settle();
    }

    void send(int rank, ckpt_message &message)
    {
        message.epoch = epoch;
        machine.message(rank, message, now);
        settle();
    }

    void say(int rank, std::uint32_t type, std::uint64_t place = 0,
             bool holds = false, std::uint64_t flags = 0)
    {
        ckpt_message message = make_message(type, epoch);
        message.as.report.place = place;
        message.as.report.inside = flags;
        message.as.report.holds = holds;
        send(rank, message);
    }

    /* Answers a REQUEST for which no rank needs to stand still. */
    void report_running(int rank, std::uint64_t flags = CKPT_REPORT_SENT,
                        std::uint64_t needs = 0)
    {
        ckpt_message message = make_message(CKPT_MSG_REPORT, epoch);
        message.as.report.place = CKPT_PLACE_FREE;
        message.as.report.needs = needs;
        message.as.report.traffic = flags;
        send(rank, message);
    }

    void report(int rank, std::uint64_t place = CKPT_PLACE_FREE)
    {
        bool inside = place == CKPT_PLACE_INSIDE;
        say(rank, CKPT_MSG_REPORT, place, !inside && place != CKPT_PLACE_WAIT);
    }

    void report_gate_of_thread(int rank, std::uint64_t slot,
                               std::uint64_t entered)
    {
        ckpt_message message = make_message(CKPT_MSG_REPORT, epoch);
        message.as.report.place = CKPT_PLACE_GATE;
        message.as.report.slot = slot;
        message.as.report.of_thread = 1;
        message.as.report.entered = entered;
        send(rank, message);
    }

    void report_gate(int rank, std::uint64_t slot)
    {
        ckpt_message message = make_message(CKPT_MSG_REPORT, epoch);
        message.as.report.place = CKPT_PLACE_GATE;
        message.as.report.slot = slot;
        message.as.report.holds = 1;
        send(rank, message);
    }

    void report_inside(int rank, std::uint64_t flags)
    {
        say(rank, CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, false, flags);
    }

    void stopped(int rank) { say(rank, CKPT_MSG_STOPPED, CKPT_PLACE_FREE, true); }

    void all(void (Machine::*step)(int))
    {
        for (int i = 0; i < count; i++) {
            (this->*step)(i);
        }
    }
    void report_free(int rank) { report(rank); }
    void drained(int rank)
    {
        ckpt_message message = make_message(CKPT_MSG_DRAINED, epoch);
        send(rank, message);
    }
    void ready(int rank) { ready_with(rank, 0); }
    void ready_with(int rank, std::uint64_t flags)
    {
        ckpt_message message = make_message(CKPT_MSG_READY, epoch);
        message.as.ready.snapshot = 0x1000u + static_cast<unsigned>(rank);
        message.as.ready.flags = flags;
        send(rank, message);
    }
    void ready_shared(int rank) { ready_with(rank, CKPT_READY_SHARED); }

    /* Goes on until all ranks are to be captured. */
    void to_write(bool kill = false)
    {
        request(kill);
        all(&Machine::report_free);
        all(&Machine::stopped);
        all(&Machine::drained);
        all(&Machine::ready);
        ASSERT_EQ(machine.phase(), Phase::write);
    }

    /* Types of the orders for a rank since the last call. */
    std::vector<int> take_orders(int rank)
    {
        std::vector<int> types;
        for (const action::Send &order : std::exchange(orders[rank], {})) {
            types.push_back(order.type);
        }
        return types;
    }
    using Types = std::vector<int>;
    void forget_orders(int rank) { take_orders(rank); }

    template <typename Kind>
    bool took()
    {
        bool found = !others.empty() && std::holds_alternative<Kind>(others[0]);
        if (found) {
            others.erase(others.begin());
        }
        return found;
    }

    /* All ranks are told to go on, and the reason. */
    void expect_given_up(ckpt_refusal identity, const std::string &detail)
    {
        ASSERT_TRUE(finish.has_value());
        EXPECT_FALSE(finish->committed);
        EXPECT_EQ(finish->reason.name(), ckpt_refusal_name(identity));
        EXPECT_EQ(finish->reason.detail(), detail);
        EXPECT_EQ(machine.phase(), Phase::idle);
    }

    std::vector<ckpt_clock> page_clocks[count];
    std::uint64_t sent_count[count][count] = {};
    std::uint64_t received_count[count][count] = {};
    std::vector<std::uint64_t> expected[count];
    std::vector<action::Send> orders[count];
    std::uint64_t kind_of_cut = CKPT_CUT_MARKERS; /* of the last CUT */
    std::vector<Action> others;
    std::optional<action::Finish> finish;
    CutProtocol::Time now{};
    std::uint64_t epoch = 0;
    CutProtocol machine;
};

inline constexpr std::uint64_t redo = CKPT_INSIDE_CLOCKED | CKPT_INSIDE_REDO;
inline constexpr std::uint64_t once = CKPT_INSIDE_CLOCKED;

} // namespace ckpt::test
