/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_rank.hpp - what fake_rank and the test that runs it agree on.
 */
#pragma once

#include <cstdint>

namespace ckpt::test
{

/* At the start and at the end of the region that a fake rank works in; it writes
 * there all the time. */
struct FakeRankState {
    std::uint64_t rank;
    std::uint64_t collectives; /* left */
    std::uint64_t received;    /* messages from the rank before it */
    std::uint64_t steps;       /* that it has made, without communication */
};

/* What rank `rank` has sent to the next one, and that one less, not yet
 * received, until DRAIN. */
constexpr std::uint64_t fake_messages(int rank)
{
    return 10 + static_cast<std::uint64_t>(rank);
}

constexpr std::uint64_t fake_clock_id = 77;

} // namespace ckpt::test
