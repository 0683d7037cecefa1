/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_rank.hpp - definitions for fake_rank and the test that runs it.
 */
#pragma once

#include <cstdint>

namespace ckpt::test
{

/* State at the start and at the end of the memory of a fake rank, which updates it all the time. */
struct FakeRankState {
    std::uint64_t rank;
    std::uint64_t collectives; /* number of collectives left */
    std::uint64_t received;    /* messages from the previous rank */
    std::uint64_t steps;       /* steps without communication */
};

/* Messages that rank `rank` has sent to the next one. One less has been received until DRAIN. */
constexpr std::uint64_t fake_messages(int rank)
{
    return 10 + static_cast<std::uint64_t>(rank);
}

constexpr std::uint64_t fake_clock_id = 77;

} // namespace ckpt::test
