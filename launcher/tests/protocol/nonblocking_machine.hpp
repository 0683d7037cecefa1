/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_machine.hpp - the coordinator in Chandy-Lamport and network sweeping; the test
 * controls all answers of the ranks.
 */
#pragma once

#include "tests/protocol/cut_machine.hpp"

namespace ckpt::test
{

constexpr std::uint64_t given_up = CKPT_GIVEN_UP; /* in RESUME and CLOSE */

class NonblockingCut : public Machine
{
  public:
    /* Goes on until the ranks have been sent CUT. quiet: no rank has sent a message. */
    void to_cut(Protocol protocol, Lanes lanes = {}, bool quiet = false)
    {
        request(false, {protocol, std::move(lanes)});
        for (int i = 0; i < count; i++) {
            report_running(i, !quiet && i == 1 ? CKPT_REPORT_SENT : 0);
        }
        ASSERT_EQ(machine.phase(), Phase::open);
        ASSERT_TRUE(took<action::OpenPieces>());
        forget_all();
        machine.opened(now);
        settle();
        ASSERT_EQ(machine.phase(), Phase::cut);
    }

    void report_waiting(int rank)
    {
        say(rank, CKPT_MSG_REPORT, CKPT_PLACE_WAIT, false);
    }

    /* Answers CUT; the rank has used `used` channels. */
    void answer_cut(int rank, std::uint64_t used)
    {
        ckpt_message message = make_message(CKPT_MSG_READY, epoch);
        message.as.ready.snapshot = 0x1000;
        message.as.ready.cut = cut_report(used);
        send(rank, message);
    }
    void refuse(int rank, const char *why, std::uint64_t used = 0,
                ckpt_refusal identity = CKPT_REFUSAL_NO_SPACE)
    {
        ckpt_message message = make_refusal(epoch, identity, why);
        message.as.refused.cut = cut_report(used);
        send(rank, message);
    }
    void captured(int rank)
    {
        machine.captured(rank, now);
        settle();
    }
    void cut_and_captured(int rank, std::uint64_t used)
    {
        answer_cut(rank, used);
        captured(rank);
    }
    void complete(int rank, std::uint64_t channels)
    {
        ckpt_message message = make_message(CKPT_MSG_COMPLETE, epoch);
        const bool by_markers = kind_of_cut == CKPT_CUT_MARKERS;
        message.as.complete = {kind_of_cut, by_markers ? channels : 0, by_markers ? 0 : channels};
        send(rank, message);
    }
    void logged(int rank, std::uint64_t messages, std::uint64_t bytes)
    {
        ckpt_message message =
            make_message(CKPT_MSG_LOGGED, epoch, {.total = {messages, bytes}});
        send(rank, message);
    }

    /* From LOG to the commit. */
    void to_commit()
    {
        for (int i = 0; i < count; i++) {
            EXPECT_EQ(take_orders(i).back(), CKPT_MSG_CLOSE);
            logged(i, 2, 100);
        }
        ASSERT_EQ(machine.phase(), Phase::write);
        machine.written(now);
        settle();
        ASSERT_EQ(machine.phase(), Phase::commit);
        machine.committed(now);
        settle();
    }

    void forget_all()
    {
        for (int i = 0; i < count; i++) {
            forget_orders(i);
        }
        others.clear();
    }
    int ordered(ckpt_message_type type)
    {
        int ranks = 0;
        for (const auto &list : orders) {
            ranks += std::any_of(list.begin(), list.end(), [&](auto &order) {
                return order.type == type;
            });
        }
        return ranks;
    }
    /* The fields of the first such order. */
    ckpt_message_body ordered(int rank, ckpt_message_type type)
    {
        for (const action::Send &order : orders[rank]) {
            if (order.type == type) {
                return order.body;
            }
        }
        ADD_FAILURE() << "no order " << type << " for rank " << rank;
        return {};
    }

  private:
    /* What a rank that has been cut says; `used` counts what COMPLETE has to reach. */
    ckpt_cut_report cut_report(std::uint64_t used) const
    {
        switch (kind_of_cut) {
        case CKPT_CUT_MARKERS:
            return {kind_of_cut, used, 0};
        case CKPT_CUT_QUIET:
            return {kind_of_cut, 0, used};
        default:
            return {used == 0 ? static_cast<std::uint64_t>(CKPT_CUT_NONE) : kind_of_cut, 0, 0};
        }
    }
};

} // namespace ckpt::test
