/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_interval_policy.cpp - how far windows and logs grow, depending on how
 * much processes tell each other about their checkpoints.
 *
 * Eight processes, each of which takes a checkpoint when it has logged a
 * threshold of words; runs of three lengths. Prints the figures.
 */
#include "simulation.hpp"

#include <array>
#include <cstdio>
#include <gtest/gtest.h>

namespace model
{

namespace
{

constexpr int process_count = 8;
constexpr std::uint64_t threshold = 30; // words

struct Figures {
    double checkpoints; // of a process
    double window;      // W_max
    double log;         // the largest, in thresholds
};

/* The figures of a short, a middle and a long run. */
using Growth = std::array<Figures, 3>;

Growth growth_of(const char *title, Settings settings)
{
    Growth growth;
    std::size_t run_number = 0;

    settings.seed = 1;
    settings.processes = process_count;
    settings.pages = 16;
    settings.checkpoint_rate = 0;
    settings.crashes = false;
    settings.log_threshold = threshold;
    for (int phases : {50, 100, 190}) {
        settings.phases = phases;
        Statistics statistics = run(settings).statistics;
        // The initial states do not count as checkpoints.
        double taken =
            static_cast<double>(statistics.checkpoints) - process_count;
        Figures figures{taken / process_count,
                        static_cast<double>(statistics.longest_window),
                        static_cast<double>(statistics.largest_log) /
                            threshold};

        std::printf("%-28s %5.1f checkpoints: W_max %2.0f, log %4.1f x\n",
                    title, figures.checkpoints, figures.window, figures.log);
        growth[run_number++] = figures;
    }
    return growth;
}

/* The growth stops at the level of a short run. */
void expect_flat(const Growth &growth)
{
    EXPECT_LE(growth[2].window, growth[0].window + 1);
    EXPECT_LE(growth[2].log, 1.25 * growth[0].log);
    EXPECT_LE(growth[2].window, 6);
    EXPECT_LE(growth[2].log, growth[2].window); // W_max x threshold: 2.8
}

Settings told(double rate, BarrierControl barrier_control)
{
    Settings settings;

    settings.control_rate = rate;
    settings.barrier_control = barrier_control;
    return settings;
}

TEST(Policy, told_everything_windows_stay_short)
{
    expect_flat(growth_of("all messages", told(1, BarrierControl::everybody)));
}

TEST(Policy, one_peer_at_each_barrier_is_nearly_as_good)
{
    expect_flat(growth_of("one peer at each barrier",
                          told(1, BarrierControl::one_random_peer)));
}

TEST(Policy, told_seldom_windows_become_long)
{
    Growth all = growth_of("all messages", told(1, BarrierControl::everybody));
    Growth seldom =
        growth_of("10 % of messages", told(.1, BarrierControl::everybody));

    EXPECT_GT(seldom[1].window, seldom[0].window);
    EXPECT_GE(seldom[1].window, 1.5 * all[1].window);
    EXPECT_GE(seldom[1].log, 1.5 * all[1].log);
}

/* T_min stays where that process is, however much processes tell each other. */
TEST(Policy, one_that_takes_no_checkpoint_makes_all_logs_grow)
{
    Settings settings = told(1, BarrierControl::everybody);
    settings.without_checkpoints = process_count - 1;
    Growth growth = growth_of("one without checkpoints", settings);

    for (int longer : {1, 2}) {
        const Figures &before = growth[longer - 1], &now = growth[longer];
        double more = now.checkpoints / before.checkpoints;

        EXPECT_GT(now.window, .8 * more * before.window);
        EXPECT_GT(now.log, .8 * more * before.log);
    }
}

} // namespace

} // namespace model
