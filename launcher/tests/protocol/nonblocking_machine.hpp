/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_machine.hpp - the coordinator in Chandy-Lamport and network sweeping; the test
 * controls all answers of the ranks.
 */
#pragma once

#include "tests/protocol/cut_machine.hpp"

#include <cstring>

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
        ckpt_message message{};
        message.type = CKPT_MSG_READY;
        message.arg[0] = 0x1000;
        message.arg[2] = used;
        send(rank, message);
    }
    void refuse(int rank, const char *why, std::uint64_t used = 0,
                ckpt_refusal identity = CKPT_REFUSAL_NO_SPACE)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_REFUSED;
        message.arg[2] = used;
        message.arg[6] = identity;
        std::strcpy(message.text, why);
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
        ckpt_message message{};
        message.type = CKPT_MSG_COMPLETE;
        message.arg[0] = channels;
        send(rank, message);
    }
    void logged(int rank, std::uint64_t messages, std::uint64_t bytes)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_LOGGED;
        message.arg[0] = messages;
        message.arg[1] = bytes;
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
    std::uint64_t argument(int rank, ckpt_message_type type)
    {
        for (const action::Send &order : orders[rank]) {
            if (order.type == type) {
                return order.argument;
            }
        }
        return ~0ull;
    }
};

} // namespace ckpt::test
